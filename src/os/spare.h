/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that are over leave their memory to those that come. Calls, reads and scans begin on one
 * thread and end on another, which an allocator pays for dearly: a call on one row would spend more
 * time there than in the store. So their structs, with the buffers in them, go round.
 *
 *     typedef struct read {
 *         ms_spare spare;                      first
 *         ms_arena arena;                      what the next one uses
 *         ...
 *         int64_t limit;                       zero in a spare one, from here on
 *     } read;
 *
 *     ms_spare *spare = ms_spares_take(&spares);
 *     read *it = spare != NULL ? (read *)(void *)spare : create_read();
 *     ...
 *     clear_read(it);                          no more kept than small ones need
 *     if (!ms_spares_give(&spares, &it->spare)) {
 *         free_read(it);
 *     }
 *
 * Ownership: an object belongs to the list from give to take. Thread: any; the list has a lock,
 * which is the last that a thread takes. Where the address sanitizer looks, an object is out of
 * bounds while it is in the list.
 */
#ifndef MS_OS_SPARE_H
#define MS_OS_SPARE_H

#include "os/thread.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Part of the object, and first in it. */
typedef struct ms_spare {
    struct ms_spare *next;
} ms_spare;

/* Fields are private. */
typedef struct ms_spares {
    ms_mutex mutex;
    ms_spare *first;
    uint32_t count;
    uint32_t count_max;
    size_t object_bytes;
} ms_spares;

/* A list of at most count_max objects of so many bytes each. */
void ms_spares_init(ms_spares *spares, uint32_t count_max, size_t object_bytes);

/* Frees the objects that are there. Nobody takes or gives any more. */
void ms_spares_release(ms_spares *spares, void (*free_object)(ms_spare *spare));

/* The object that was given last; NULL when there is none. */
ms_spare *ms_spares_take(ms_spares *spares);

/* False: the list is full, and the object is still the caller's. */
bool ms_spares_give(ms_spares *spares, ms_spare *spare);

#endif
