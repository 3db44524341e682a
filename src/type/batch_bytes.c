/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How large batches are, in wide bytes: strings that do not stand inline, and elements of lists.
 * What a batch may take at most follows from its heaps and costs nothing; how much single rows take
 * is looked at only when that is too much, first over many rows at a time.
 */
#include "type/batch_priv.h"

/* Rows whose bytes are summed up before single ones are looked at. */
#define CHUNK_ROWS 64u

/* Elements. */

static uint64_t elements_bytes(const ms_vec *vec)
{
    uint64_t bytes = 0;
    for (uint32_t c = 0; c < vec->child_count; c++) {
        bytes += vec->phys == MS_PHYS_LIST
                     ? vec->child_rows * (uint64_t)ms_phys_bytes(vec->children[c].phys)
                     : 0;
        bytes += elements_bytes(&vec->children[c]);
    }
    return bytes;
}

static uint64_t all_elements_bytes(const ms_batch *batch)
{
    uint64_t bytes = 0;
    for (uint32_t c = 0; c < batch->column_count; c++) {
        bytes += elements_bytes(&batch->columns[c]);
    }
    return bytes;
}

uint64_t ms_batch_wide_bytes(const ms_batch *batch)
{
    MS_ASSERT(batch->pool != NULL);
    uint64_t bytes = ms_heap_used_bytes(batch->heaps[0]);
    return msi_pool_has_lists(batch->pool) ? bytes + all_elements_bytes(batch) : bytes;
}

bool ms_batch_is_full(const ms_batch *batch)
{
    /* Rows that were taken back may have left bytes behind: a batch takes at least one. */
    bool is_wide = batch->rows > 0 && ms_batch_wide_bytes(batch) >= MS_BATCH_BYTES_TARGET;
    return is_wide || batch->rows >= batch->capacity;
}

/* At most. */

/* A producer may have put vectors of another encoding into a pooled batch. */
static bool is_all_flat(const ms_batch *batch)
{
    for (uint32_t c = 0; c < batch->column_count; c++) {
        if (batch->columns[c].encoding != MS_ENC_FLAT) {
            return false;
        }
    }
    return true;
}

uint64_t ms_batch_wide_bytes_max(const ms_batch *batch)
{
    if (batch->pool == NULL) {
        return batch->wide_bytes_max != 0 ? batch->wide_bytes_max : MS_BATCH_WIDE_UNKNOWN;
    }
    if (!is_all_flat(batch)) {
        return MS_BATCH_WIDE_UNKNOWN;
    }
    uint64_t bytes = ms_batch_wide_bytes(batch);
    for (uint32_t h = 1; h < batch->heap_count; h++) {
        bytes += ms_heap_used_bytes(batch->heaps[h]);
    }
    return bytes;
}

/* Rows. */

static uint64_t value_bytes(const ms_vec *vec, uint32_t row);

static uint64_t list_bytes(const ms_vec *vec, ms_list list)
{
    uint64_t bytes = 0;
    for (uint32_t c = 0; c < vec->child_count; c++) {
        const ms_vec *child = &vec->children[c];
        bytes += list.length * (uint64_t)ms_phys_bytes(child->phys);
        bool has_more = child->phys == MS_PHYS_STR || child->child_count > 0;
        for (uint32_t i = 0; has_more && i < list.length; i++) {
            bytes += value_bytes(child, list.offset + i);
        }
    }
    return bytes;
}

/* Of one value, which may be NULL. */
static uint64_t value_bytes(const ms_vec *vec, uint32_t row)
{
    uint64_t bytes = 0;
    if (ms_vec_is_null(vec, row)) {
        return 0;
    }
    uint32_t pos = ms_vec_pos(vec, row);
    if (vec->phys == MS_PHYS_STR) {
        uint32_t length = MS_VEC_DATA(vec, const ms_view)[pos].bytes;
        return length > MS_VIEW_INLINE ? length : 0;
    }
    if (vec->phys == MS_PHYS_LIST) {
        return list_bytes(vec, MS_VEC_DATA(vec, const ms_list)[pos]);
    }
    for (uint32_t c = 0; c < vec->child_count; c++) {
        bytes += value_bytes(&vec->children[c], pos);
    }
    return bytes;
}

static uint64_t rows_bytes(const ms_batch *batch, uint32_t first, uint32_t count)
{
    uint64_t bytes = 0;
    for (uint32_t c = 0; c < batch->column_count; c++) {
        const ms_vec *vec = &batch->columns[c];
        if (vec->phys != MS_PHYS_STR && vec->child_count == 0) {
            continue;
        }
        for (uint32_t k = 0; k < count; k++) {
            bytes += value_bytes(vec, ms_batch_row(batch, first + k));
        }
    }
    return bytes;
}

/* The rows from first on, `step` at a time, that fit beside used_bytes. */
static uint32_t fit_steps(const ms_batch *batch, uint32_t first, uint32_t end, uint32_t step,
                          uint64_t *used_bytes)
{
    uint32_t at = first;
    while (at < end) {
        uint32_t count = end - at < step ? end - at : step;
        uint64_t bytes = rows_bytes(batch, at, count);
        if (*used_bytes + bytes > MS_BATCH_BYTES_TARGET) {
            break;
        }
        *used_bytes += bytes;
        at += count;
    }
    return at - first;
}

uint32_t ms_batch_fit(const ms_batch *batch, uint32_t first, uint64_t used_bytes)
{
    uint32_t end = ms_batch_live(batch);
    uint64_t most = ms_batch_wide_bytes_max(batch);
    MS_ASSERT(first <= end);
    if (most <= MS_BATCH_BYTES_TARGET && used_bytes <= MS_BATCH_BYTES_TARGET - most) {
        return end - first;
    }
    bool is_empty = used_bytes == 0;
    uint32_t rows = fit_steps(batch, first, end, CHUNK_ROWS, &used_bytes);
    rows += fit_steps(batch, first + rows, end, 1, &used_bytes);
    return rows == 0 && is_empty && first < end ? 1 : rows;
}
