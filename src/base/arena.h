/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An arena hands out memory that is given back all at once. Memory in Millstream belongs to a
 * lifetime, not to a function, and the arena is that lifetime: the statement arena holds AST,
 * scopes and rewriting and is released when planning ends; the job arena holds the sealed plan and
 * the operators; scratch is reset when a root batch is done. Nothing in it is freed one by one.
 *
 *     ms_arena stmt_arena;
 *     ms_arena_init(&stmt_arena, 0);
 *     ms_node *node = ms_arena_new(&stmt_arena, ms_node);      zeroed, aligned for its type
 *     ms_arena_on_release(&stmt_arena, close_file, file);      runs at reset or release
 *     ms_arena_release(&stmt_arena);
 *
 * Allocation never returns NULL. Sizes follow from input whose length, node count and depth were
 * checked once, in the parser; true exhaustion ends the process through ms_mem_exhausted().
 * Memory that grows with data (state, buffers) is budgeted and lives elsewhere.
 *
 * Blocks double from 4 KiB to 1 MiB, so that a typical statement takes a handful of calls to
 * malloc; reset keeps a block, and makes it large enough for a round like the last one (up to
 * 16 MiB), so that scratch in steady state takes none. Debug builds
 * fill released and reset memory with 0xDB, so that a pointer kept too long shows.
 *
 * Ownership: the arena owns all it returned. Thread: one at a time; no locks inside.
 */
#ifndef MS_BASE_ARENA_H
#define MS_BASE_ARENA_H

#include "millstream/base.h"

struct ms_arena_block;
struct ms_arena_hook;

/* Fields are private. The struct is public so that it can be embedded. */
typedef struct ms_arena {
    char *next;
    char *limit;
    struct ms_arena_block *blocks;
    struct ms_arena_hook *hooks;
    size_t used_bytes;
    size_t next_block_bytes;
} ms_arena;

/* Life. */

/* Starts an empty arena; first_block_bytes 0 means the default. Allocates nothing yet. */
void ms_arena_init(ms_arena *arena, size_t first_block_bytes);

/* Runs the hooks, newest first, and gives all memory back. The arena may be used again as if just
 * made. */
void ms_arena_release(ms_arena *arena);

/* Runs the hooks and forgets all allocations, but keeps a block for reuse. */
void ms_arena_reset(ms_arena *arena);

/* Same for an arena that may not be used again for long: one in which more than bytes_max were used
 * gives all back. */
void ms_arena_trim(ms_arena *arena, size_t bytes_max);

/* Use. */

/* The uncommon path of ms_arena_alloc: starts a block. */
void *ms_arena_alloc_slow(ms_arena *arena, size_t bytes, size_t align);

/* Returns uninitialized memory; align is a power of two, at most 64. bytes may be 0. */
static inline void *ms_arena_alloc(ms_arena *arena, size_t bytes, size_t align)
{
    size_t padding = (size_t)(0 - (uintptr_t)arena->next) & (align - 1);
    size_t room = arena->next == NULL ? 0 : (size_t)(arena->limit - arena->next);
    if (__builtin_expect(arena->next == NULL || padding > room || bytes > room - padding, 0)) {
        return ms_arena_alloc_slow(arena, bytes, align);
    }
    char *start = arena->next + padding;
    arena->used_bytes += padding + bytes;
    arena->next = start + bytes;
    return start;
}

/* Returns zeroed memory for count objects; aborts when the product overflows. */
void *ms_arena_calloc(ms_arena *arena, size_t count, size_t bytes, size_t align);

#define ms_arena_new(arena, type)                                                                  \
    ((type *)ms_arena_calloc((arena), 1, sizeof(type), _Alignof(type)))
#define ms_arena_array(arena, type, count)                                                         \
    ((type *)ms_arena_calloc((arena), (count), sizeof(type), _Alignof(type)))

/* Copies text into the arena, with a NUL behind it that is not counted. */
ms_str ms_arena_copy_str(ms_arena *arena, ms_str text);

/* Formats into the arena; the result has a NUL behind it that is not counted. */
ms_str ms_arena_format(ms_arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Registers fn(arg) to run at reset or release. Hooks run newest first. */
void ms_arena_on_release(ms_arena *arena, void (*fn)(void *arg), void *arg);

/* Inspection. */

/* Bytes handed out since the last reset, padding included. */
static inline size_t ms_arena_used_bytes(const ms_arena *arena)
{
    return arena->used_bytes;
}

#endif
