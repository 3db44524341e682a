/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pools of batches. The producer takes from a list of its own; whoever drops a batch last, on any
 * thread, pushes it on the list of returned batches, which the producer empties in one step when
 * its own list has run dry:
 *
 *     producer                                   any thread
 *     take: pop `ready` ; when empty,            drop: push on `returned`
 *           ready = exchange(returned, NULL)           (compare and swap of the head)
 *
 * Many push and one removes everything at once, so that the problem of a head that changed and
 * changed back (ABA) cannot arise: a push only needs the head to be what its next pointer says.
 * The push releases and the exchange acquires: what the last reader did with the batch, and the
 * reset, happen before the producer writes it again.
 *
 * Each batch keeps a pristine copy of its vectors, because a producer may replace those in
 * batch->columns while it writes.
 */
#include "base/memory.h"
#include "type/batch_priv.h"

typedef struct pooled {
    ms_batch batch; /* first: a batch of a pool is the start of its pooled */
    ms_vec *stores;
    struct pooled *next;     /* in ready or returned */
    struct pooled *next_all; /* of all that were made */
} pooled;

struct ms_batch_pool {
    const ms_type **types;
    uint32_t column_count;
    bool has_lists;
    uint32_t capacity;
    uint32_t batches_max;
    uint32_t made;
    uint32_t ready_count;
    pooled *ready;
    pooled *all;
    /* A line of its own: droppers write it while the producer reads the fields above. */
    _Alignas(64) _Atomic(pooled *) returned;
};

static bool has_lists(const ms_type *type)
{
    if (type->phys == MS_PHYS_LIST) {
        return true;
    }
    for (uint32_t i = 0; i < type->child_count; i++) {
        if (has_lists(type->children[i])) {
            return true;
        }
    }
    return false;
}

bool msi_pool_has_lists(const ms_batch_pool *pool)
{
    return pool->has_lists;
}

ms_batch_pool *ms_batch_pool_create(const ms_schema *schema, uint32_t capacity,
                                    uint32_t batches_max)
{
    MS_ASSERT(capacity > 0 && capacity <= MS_BATCH_ROWS_MAX && batches_max > 0);
    ms_batch_pool *pool = ms_mem_alloc_aligned(sizeof(*pool), _Alignof(ms_batch_pool));
    *pool = (ms_batch_pool){
        .column_count = schema->column_count,
        .capacity = capacity,
        .batches_max = batches_max,
    };
    atomic_init(&pool->returned, NULL);
    pool->types = ms_mem_calloc(schema->column_count, sizeof(*pool->types));
    for (uint32_t c = 0; c < schema->column_count; c++) {
        pool->types[c] = schema->columns[c].type;
        pool->has_lists = pool->has_lists || has_lists(pool->types[c]);
    }
    return pool;
}

/* Moves what came home to the producer's own list. */
static void collect(ms_batch_pool *pool)
{
    pooled *at = atomic_exchange_explicit(&pool->returned, NULL, memory_order_acquire);
    while (at != NULL) {
        pooled *next = at->next;
        at->next = pool->ready;
        pool->ready = at;
        pool->ready_count++;
        at = next;
    }
}

static void release_pooled(pooled *item)
{
    for (uint32_t c = 0; c < item->batch.column_count; c++) {
        msi_vec_release(&item->stores[c]);
    }
    if (item->batch.heaps[0] != NULL) {
        ms_heap_drop(item->batch.heaps[0]);
    }
    ms_mem_free(item->stores);
    ms_mem_free(item->batch.columns);
    ms_mem_free(item->batch.kind_store);
    ms_mem_free(item->batch.sel_store);
    ms_mem_free(item);
}

void ms_batch_pool_destroy(ms_batch_pool *pool)
{
    if (pool == NULL) {
        return;
    }
    collect(pool);
    MS_ASSERT(pool->ready_count == pool->made);
    while (pool->all != NULL) {
        pooled *next = pool->all->next_all;
        release_pooled(pool->all);
        pool->all = next;
    }
    ms_mem_free(pool->types);
    ms_mem_free(pool);
}

uint32_t ms_batch_pool_available(ms_batch_pool *pool)
{
    collect(pool);
    return pool->ready_count + (pool->batches_max - pool->made);
}

static pooled *make_pooled(ms_batch_pool *pool)
{
    pooled *item = ms_mem_calloc(1, sizeof(*item));
    ms_batch *batch = &item->batch;
    item->stores = ms_mem_calloc(pool->column_count, sizeof(ms_vec));
    for (uint32_t c = 0; c < pool->column_count; c++) {
        msi_vec_init(&item->stores[c], pool->types[c], pool->capacity, NULL);
    }
    batch->column_count = pool->column_count;
    batch->columns = ms_mem_calloc(pool->column_count, sizeof(ms_vec));
    batch->capacity = pool->capacity;
    batch->kind_store = ms_mem_alloc(pool->capacity);
    batch->sel_store = ms_mem_alloc(pool->capacity * sizeof(uint16_t));
    batch->pool = pool;
    item->next_all = pool->all;
    pool->all = item;
    pool->made++;
    return item;
}

ms_batch *ms_batch_pool_take(ms_batch_pool *pool)
{
    if (pool->ready == NULL) {
        collect(pool);
    }
    pooled *item = pool->ready;
    if (item != NULL) {
        pool->ready = item->next;
        pool->ready_count--;
    } else if (pool->made < pool->batches_max) {
        item = make_pooled(pool);
    } else {
        return NULL;
    }
    ms_batch *batch = &item->batch;
    if (batch->heaps[0] == NULL) {
        batch->heaps[0] = ms_heap_create(0);
    }
    batch->heap_count = 1;
    if (batch->column_count > 0) {
        memcpy(batch->columns, item->stores, batch->column_count * sizeof(ms_vec));
    }
    atomic_store_explicit(&batch->refs, 1, memory_order_relaxed);
    return batch;
}

/* The batch's own heap is reset for reuse, unless another batch still has views into it. */
static void drop_heaps(ms_batch *batch)
{
    for (uint32_t h = 1; h < batch->heap_count; h++) {
        ms_heap_drop(batch->heaps[h]);
        batch->heaps[h] = NULL;
    }
    if (ms_heap_is_unique(batch->heaps[0])) {
        ms_heap_reset(batch->heaps[0]);
    } else {
        ms_heap_drop(batch->heaps[0]);
        batch->heaps[0] = NULL;
    }
    batch->heap_count = 0;
}

void msi_pool_return(ms_batch *batch)
{
    pooled *item = (pooled *)batch;
    ms_batch_pool *pool = batch->pool;
    /* A reference that is used after this point meets a count of zero. */
    atomic_store_explicit(&batch->refs, 0, memory_order_relaxed);
    drop_heaps(batch);
    for (uint32_t c = 0; c < batch->column_count; c++) {
        /* Children may have moved while the producer wrote through batch->columns, but the arrays
         * of children are shared with the stores, so that these are up to date. */
        msi_vec_reset(&item->stores[c]);
        msi_vec_poison(&item->stores[c]);
    }
    batch->rows = 0;
    batch->sel = NULL;
    batch->sel_count = 0;
    batch->kinds = NULL;
    pooled *head = atomic_load_explicit(&pool->returned, memory_order_relaxed);
    do {
        item->next = head;
    } while (!atomic_compare_exchange_weak_explicit(&pool->returned, &head, item,
                                                    memory_order_release, memory_order_relaxed));
}
