/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches: sharing, writing, and the copying that makes a batch of any shape one that may be kept.
 * Where pooled batches come from and go to is in pool.c; the copying of columns is in append.c.
 */
#include "type/batch.h"

#include "type/batch_priv.h"

/* Positions taken from a selection at a time: shared by all columns, 4 KiB of stack. */
#define CHUNK_ROWS 1024u

/* Sharing. */

bool ms_batch_is_unique(const ms_batch *batch)
{
    /* Acquire pairs with the release in ms_batch_drop of whoever held another reference. */
    return atomic_load_explicit(&batch->refs, memory_order_acquire) == 1;
}

void ms_batch_retain(ms_batch *batch)
{
    MS_ASSERT(batch->pool != NULL);
    /* Relaxed: who retains has a reference already. */
    uint32_t before = atomic_fetch_add_explicit(&batch->refs, 1, memory_order_relaxed);
    MS_ASSERT(before > 0 && before < UINT32_MAX);
}

void ms_batch_drop(ms_batch *batch)
{
    if (batch == NULL) {
        return;
    }
    MS_ASSERT(batch->pool != NULL);
    /*
     * The last holder needs no locked instruction: nobody else can add a reference. Acquire here,
     * and acquire-release below, pair with the release of the other holders' drops, so that their
     * reads are over before the batch is written again.
     */
    if (ms_batch_is_unique(batch)) {
        msi_pool_return(batch);
        return;
    }
    uint32_t before = atomic_fetch_sub_explicit(&batch->refs, 1, memory_order_acq_rel);
    MS_ASSERT(before > 0);
    if (before == 1) {
        msi_pool_return(batch);
    }
}

ms_batch *ms_batch_own(const ms_batch *batch, ms_batch_pool *pool)
{
    if (batch->pool != NULL && (batch->sel == NULL || batch->sel_count == batch->rows)) {
        /* A reference count is not part of what const protects. */
        ms_batch *shared = (ms_batch *)(uintptr_t)batch;
        ms_batch_retain(shared);
        return shared;
    }
    ms_batch *copy = ms_batch_pool_take(pool);
    if (copy == NULL) {
        return NULL;
    }
    uint32_t live = ms_batch_live(batch);
    uint32_t appended = ms_batch_append(copy, batch, 0, live);
    MS_ASSERT(appended == live);
    return copy;
}

/* Inspection. */

static size_t frame_vec_bytes(const ms_vec *vec, uint32_t rows)
{
    uint32_t values = vec->encoding == MS_ENC_CONST ? 1 : rows;
    size_t bytes = ms_phys_bytes(vec->phys) * values;
    uint32_t child_rows = vec->phys == MS_PHYS_LIST ? vec->child_rows : values;
    for (uint32_t c = 0; c < vec->child_count; c++) {
        bytes += frame_vec_bytes(&vec->children[c], child_rows);
    }
    return bytes;
}

size_t ms_batch_bytes(const ms_batch *batch)
{
    size_t bytes = 0;
    for (uint32_t c = 0; c < batch->column_count; c++) {
        const ms_vec *vec = &batch->columns[c];
        bytes += batch->pool != NULL ? msi_vec_held_bytes(vec) : frame_vec_bytes(vec, batch->rows);
    }
    for (uint32_t h = 0; h < batch->heap_count; h++) {
        bytes += ms_heap_held_bytes(batch->heaps[h]);
    }
    return bytes;
}

/* Writing. */

uint64_t *ms_batch_validity(ms_batch *batch, uint32_t column)
{
    MS_ASSERT(column < batch->column_count);
    return ms_vec_validity(&batch->columns[column]);
}

uint8_t *ms_batch_kinds(ms_batch *batch)
{
    MS_ASSERT(batch->pool != NULL);
    if (batch->kinds == NULL) {
        memset(batch->kind_store, MS_ROW_INSERT, batch->capacity);
        batch->kinds = batch->kind_store;
    }
    return batch->kind_store;
}

ms_view ms_batch_put_str(ms_batch *batch, ms_str bytes)
{
    MS_ASSERT(bytes.bytes <= UINT32_MAX);
    if (bytes.bytes <= MS_VIEW_INLINE) {
        return ms_view_make(bytes.ptr, (uint32_t)bytes.bytes);
    }
    char *copy = ms_heap_alloc(batch->heaps[0], bytes.bytes);
    memcpy(copy, bytes.ptr, bytes.bytes);
    return ms_view_make(copy, (uint32_t)bytes.bytes);
}

/* Appends positions of src that all columns share. */
static void append_rows(ms_batch *dst, const ms_batch *src, msi_rows rows)
{
    uint32_t at = dst->rows;
    for (uint32_t c = 0; c < dst->column_count; c++) {
        msi_vec_append(&dst->columns[c], at, &src->columns[c], rows, dst->heaps[0]);
    }
    if (src->kinds != NULL) {
        msi_copy_values(ms_batch_kinds(dst) + at, src->kinds, 1, rows);
    } else if (dst->kinds != NULL) {
        memset(dst->kind_store + at, MS_ROW_INSERT, rows.count);
    }
    dst->rows = at + rows.count;
}

uint32_t ms_batch_append(ms_batch *dst, const ms_batch *src, uint32_t first, uint32_t count)
{
    MS_ASSERT(dst->pool != NULL && dst->sel == NULL && dst->column_count == src->column_count);
    MS_ASSERT(first <= ms_batch_live(src) && count <= ms_batch_live(src) - first);
    MS_ASSERT_SLOW(ms_batch_is_unique(dst));
    uint32_t room = dst->capacity - dst->rows;
    uint32_t total = count < room ? count : room;
    if (src->sel == NULL) {
        append_rows(dst, src, (msi_rows){NULL, first, total});
        return total;
    }
    uint32_t pos[CHUNK_ROWS];
    for (uint32_t done = 0; done < total; done += CHUNK_ROWS) {
        uint32_t step = total - done < CHUNK_ROWS ? total - done : CHUNK_ROWS;
        for (uint32_t i = 0; i < step; i++) {
            pos[i] = src->sel[first + done + i];
        }
        append_rows(dst, src, (msi_rows){pos, 0, step});
    }
    return total;
}

/* Frames. */

void ms_batch_frame(ms_batch *frame, const ms_batch *batch, ms_vec *columns, uint32_t column_count)
{
    bool is_same = columns == batch->columns && column_count == batch->column_count;
    uint64_t wide_bytes_max = is_same ? ms_batch_wide_bytes_max(batch) : MS_BATCH_WIDE_UNKNOWN;
    *frame = (ms_batch){
        .rows = batch->rows,
        .column_count = column_count,
        .columns = columns,
        .sel = batch->sel,
        .sel_count = batch->sel_count,
        .kinds = batch->kinds,
    };
    ms_batch_set_wide_bytes_max(frame, wide_bytes_max);
}
