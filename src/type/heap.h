/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A heap holds the bytes of long strings of a batch. It only grows, in blocks, and is reset when
 * its batch goes home; it is counted so that other batches can keep views into it. Every block has
 * MS_HEAP_SLACK readable bytes behind its end, so that vector code may read past a string.
 *
 * Ownership: retain and drop; the last drop frees it (or, for a pooled batch's own heap, resets
 * it). Thread: one writer until shared; the count is atomic.
 */
#ifndef MS_TYPE_HEAP_H
#define MS_TYPE_HEAP_H

#include "base/str.h"

#define MS_HEAP_SLACK 64u

typedef struct ms_heap ms_heap;

/* Creates an empty heap with one reference. Blocks start at first_block_bytes (0: 16 KiB) and
 * double. */
ms_heap *ms_heap_create(size_t first_block_bytes);
void ms_heap_retain(ms_heap *heap);
void ms_heap_drop(ms_heap *heap);

/* Forgets all strings and keeps one block as large as all before; only for a unique heap. */
void ms_heap_reset(ms_heap *heap);
bool ms_heap_is_unique(const ms_heap *heap);

/* Room for bytes, which stays where it is until reset or the last drop. */
char *ms_heap_alloc(ms_heap *heap, size_t bytes);

/* Bytes handed out, and bytes held. */
size_t ms_heap_used_bytes(const ms_heap *heap);
size_t ms_heap_held_bytes(const ms_heap *heap);

#endif
