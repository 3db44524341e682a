/* SPDX-License-Identifier: Apache-2.0 */
/*
 * String heaps: a chain of blocks, the newest first, filled from the front. A heap that is reset
 * keeps one block of the size of all it had, so that a batch that is recycled allocates nothing
 * once it has seen its largest content.
 */
#include "type/heap.h"

#include "base/memory.h"

#include <stdatomic.h>

#define FIRST_BLOCK_BYTES (16u << 10)
#define LARGEST_BLOCK_BYTES (4u << 20) /* doubling ends here: at most this much stays unused */

typedef struct heap_block {
    struct heap_block *next;
    size_t bytes; /* room for strings: the slack behind it is not counted */
} heap_block;

struct ms_heap {
    char *next;
    char *limit;
    heap_block *blocks;
    size_t used_bytes;
    size_t held_bytes;
    size_t next_block_bytes;
    _Atomic uint32_t refs;
};

ms_heap *ms_heap_create(size_t first_block_bytes)
{
    ms_heap *heap = ms_mem_alloc(sizeof(*heap));
    *heap = (ms_heap){0};
    heap->next_block_bytes = first_block_bytes != 0 ? first_block_bytes : FIRST_BLOCK_BYTES;
    atomic_init(&heap->refs, 1);
    return heap;
}

void ms_heap_retain(ms_heap *heap)
{
    /* Relaxed: who retains has a reference already, and so an order with the drop of all others. */
    uint32_t before = atomic_fetch_add_explicit(&heap->refs, 1, memory_order_relaxed);
    MS_ASSERT(before > 0 && before < UINT32_MAX);
}

static void free_blocks(ms_heap *heap)
{
    while (heap->blocks != NULL) {
        heap_block *next = heap->blocks->next;
        ms_mem_free(heap->blocks);
        heap->blocks = next;
    }
    heap->held_bytes = 0;
    heap->next = NULL;
    heap->limit = NULL;
}

void ms_heap_drop(ms_heap *heap)
{
    /* Release by every holder, acquire by the last: it frees what the others have read. */
    uint32_t before = atomic_fetch_sub_explicit(&heap->refs, 1, memory_order_acq_rel);
    MS_ASSERT(before > 0);
    if (before == 1) {
        free_blocks(heap);
        ms_mem_free(heap);
    }
}

bool ms_heap_is_unique(const ms_heap *heap)
{
    /* Acquire pairs with the release in ms_heap_drop of whoever held the other reference. */
    return atomic_load_explicit(&heap->refs, memory_order_acquire) == 1;
}

static char *block_start(heap_block *block)
{
    return (char *)(block + 1);
}

static void add_block(ms_heap *heap, size_t bytes)
{
    MS_ASSERT(bytes < SIZE_MAX / 4);
    heap_block *block = ms_mem_alloc(sizeof(*block) + bytes + MS_HEAP_SLACK);
    block->bytes = bytes;
    block->next = heap->blocks;
    /* Vector code reads the slack: it must be there and defined; what it holds does not matter. */
    memset(block_start(block) + bytes, 0, MS_HEAP_SLACK);
    heap->blocks = block;
    heap->held_bytes += bytes;
    heap->next = block_start(block);
    heap->limit = block_start(block) + bytes;
}

void ms_heap_reset(ms_heap *heap)
{
    MS_ASSERT(ms_heap_is_unique(heap));
    heap->used_bytes = 0;
    if (heap->blocks == NULL) {
        return;
    }
    if (heap->blocks->next != NULL) {
        size_t bytes = heap->held_bytes;
        free_blocks(heap);
        add_block(heap, bytes);
        heap->next_block_bytes = bytes;
    }
    heap->next = block_start(heap->blocks);
#ifdef MS_DEBUG
    memset(heap->next, 0xDB, heap->blocks->bytes);
#endif
}

char *ms_heap_alloc(ms_heap *heap, size_t bytes)
{
    if (heap->next == NULL || bytes > (size_t)(heap->limit - heap->next)) {
        add_block(heap, bytes > heap->next_block_bytes ? bytes : heap->next_block_bytes);
        if (heap->next_block_bytes < LARGEST_BLOCK_BYTES) {
            heap->next_block_bytes *= 2;
        }
    }
    char *ptr = heap->next;
    heap->next += bytes;
    heap->used_bytes += bytes;
    return ptr;
}

size_t ms_heap_used_bytes(const ms_heap *heap)
{
    return heap->used_bytes;
}

size_t ms_heap_held_bytes(const ms_heap *heap)
{
    return heap->held_bytes;
}
