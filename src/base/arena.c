/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of an arena are a list, newest first; only the newest is filled:
 *
 *     blocks --> [header | used ........ | free ... ] --> [header | used .... ] --> NULL
 *                                        ^ next     ^ limit
 *
 * An allocation larger than a quarter of a usual block gets a block of its own, put behind the
 * newest, so that it does not end a block that still has room.
 *
 * Reset keeps one block. When the arena had spilled into several, a block that would have held
 * everything is what the next round starts with; so a scratch arena settles after two rounds and
 * then allocates nothing, however much it needs per round.
 */
#include "base/arena.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_BLOCK_BYTES ((size_t)4 << 10)
#define DOUBLING_END_BYTES ((size_t)1 << 20)
/* Magic constant: 4096 rows of 200 temporary columns of 16 bytes fit; a one-off giant does not
 * stay. */
#define KEPT_BLOCK_BYTES_MAX ((size_t)16 << 20)
#define ALIGN_MAX ((size_t)64)
#define FREED_FILL 0xDB

typedef struct ms_arena_block {
    struct ms_arena_block *older;
    size_t bytes; /* behind the header */
} ms_arena_block;

typedef struct ms_arena_hook {
    struct ms_arena_hook *older;
    void (*fn)(void *arg);
    void *arg;
} ms_arena_hook;

static char *block_start(ms_arena_block *block)
{
    return (char *)(block + 1);
}

static void poison(char *start, size_t bytes)
{
#ifdef MS_DEBUG
    memset(start, FREED_FILL, bytes);
#else
    (void)start;
    (void)bytes;
#endif
}

static ms_arena_block *block_create(size_t bytes)
{
    ms_arena_block *block = ms_mem_alloc(sizeof(ms_arena_block) + bytes);
    block->older = NULL;
    block->bytes = bytes;
    return block;
}

static void block_destroy(ms_arena_block *block)
{
    poison(block_start(block), block->bytes);
    ms_mem_free(block);
}

static void blocks_destroy(ms_arena_block *block)
{
    while (block != NULL) {
        ms_arena_block *older = block->older;
        block_destroy(block);
        block = older;
    }
}

void ms_arena_init(ms_arena *arena, size_t first_block_bytes)
{
    *arena = (ms_arena){0};
    arena->next_block_bytes = first_block_bytes != 0 ? first_block_bytes : FIRST_BLOCK_BYTES;
}

/* A hook may register another one: the list is read anew each time. */
static void run_hooks(ms_arena *arena)
{
    while (arena->hooks != NULL) {
        ms_arena_hook *hook = arena->hooks;
        arena->hooks = hook->older;
        hook->fn(hook->arg);
    }
}

void ms_arena_release(ms_arena *arena)
{
    run_hooks(arena);
    blocks_destroy(arena->blocks);
    ms_arena_init(arena, 0);
}

/* The size of one block that would have held all of this round, or 0 when that is too much. */
static size_t block_for_round(size_t used_bytes)
{
    /* An eighth on top: padding falls differently in one block than in several. */
    size_t wanted = used_bytes + used_bytes / 8 + ALIGN_MAX;
    size_t bytes = FIRST_BLOCK_BYTES;
    while (bytes < wanted && bytes < KEPT_BLOCK_BYTES_MAX) {
        bytes *= 2;
    }
    return bytes >= wanted ? bytes : 0;
}

void ms_arena_reset(ms_arena *arena)
{
    run_hooks(arena);
    ms_arena_block *newest = arena->blocks;
    if (newest == NULL) {
        return;
    }
    size_t wanted_bytes = block_for_round(arena->used_bytes);
    bool spilled = newest->older != NULL;
    bool keep =
        newest->bytes <= KEPT_BLOCK_BYTES_MAX && (!spilled || newest->bytes >= wanted_bytes);
    blocks_destroy(newest->older);
    newest->older = NULL;
    arena->used_bytes = 0;
    if (keep) {
        arena->next = block_start(newest);
        arena->limit = arena->next + newest->bytes;
        poison(arena->next, newest->bytes);
        return;
    }
    block_destroy(newest);
    arena->blocks = NULL;
    arena->next = NULL;
    arena->limit = NULL;
    if (wanted_bytes > arena->next_block_bytes) {
        arena->next_block_bytes = wanted_bytes;
    }
}

void ms_arena_trim(ms_arena *arena, size_t bytes_max)
{
    if (arena->used_bytes > bytes_max) {
        ms_arena_release(arena);
    } else {
        ms_arena_reset(arena);
    }
}

static char *align_up(char *at, size_t align)
{
    uintptr_t past = (uintptr_t)at & (align - 1);
    return past == 0 ? at : at + (align - past);
}

/* A block for this allocation alone, behind the newest block. */
static void *alloc_alone(ms_arena *arena, size_t bytes, size_t align)
{
    ms_arena_block *block = block_create(bytes + align);
    block->older = arena->blocks->older;
    arena->blocks->older = block;
    arena->used_bytes += bytes;
    return align_up(block_start(block), align);
}

void *ms_arena_alloc_slow(ms_arena *arena, size_t bytes, size_t align)
{
    MS_ASSERT(align != 0 && (align & (align - 1)) == 0 && align <= ALIGN_MAX);
    if (bytes > SIZE_MAX / 2) {
        ms_mem_exhausted(bytes);
    }
    if (arena->blocks != NULL && bytes > arena->next_block_bytes / 4) {
        return alloc_alone(arena, bytes, align);
    }
    size_t block_bytes = arena->next_block_bytes;
    if (block_bytes < bytes + align) {
        block_bytes = bytes + align;
    }
    ms_arena_block *block = block_create(block_bytes);
    block->older = arena->blocks;
    arena->blocks = block;
    if (arena->next_block_bytes < DOUBLING_END_BYTES) {
        arena->next_block_bytes *= 2;
    }
    char *start = align_up(block_start(block), align);
    arena->next = start + bytes;
    arena->limit = block_start(block) + block_bytes;
    arena->used_bytes += bytes;
    return start;
}

void *ms_arena_calloc(ms_arena *arena, size_t count, size_t bytes, size_t align)
{
    size_t total = 0;
    if (__builtin_mul_overflow(count, bytes, &total)) {
        ms_mem_exhausted(SIZE_MAX);
    }
    void *ptr = ms_arena_alloc(arena, total, align);
    memset(ptr, 0, total);
    return ptr;
}

ms_str ms_arena_copy_str(ms_arena *arena, ms_str text)
{
    if (text.bytes == SIZE_MAX) {
        ms_mem_exhausted(text.bytes);
    }
    char *copy = ms_arena_alloc(arena, text.bytes + 1, 1);
    if (text.bytes != 0) {
        memcpy(copy, text.ptr, text.bytes);
    }
    copy[text.bytes] = '\0';
    return (ms_str){copy, text.bytes};
}

ms_str ms_arena_format(ms_arena *arena, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int bytes = vsnprintf(NULL, 0, format, args);
    va_end(args);
    MS_ASSERT(bytes >= 0);
    size_t room = (size_t)bytes + 1;
    char *text = ms_arena_alloc(arena, room, 1);
    va_start(args, format);
    vsnprintf(text, room, format, args);
    va_end(args);
    return (ms_str){text, (size_t)bytes};
}

void ms_arena_on_release(ms_arena *arena, void (*fn)(void *arg), void *arg)
{
    ms_arena_hook *hook = ms_arena_new(arena, ms_arena_hook);
    hook->older = arena->hooks;
    hook->fn = fn;
    hook->arg = arg;
    arena->hooks = hook;
}
