/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading batches for the sake of reading. Dense columns are folded as plain memory, eight bytes at
 * a time, which vectorizes; with a selection or an index each live value is folded by itself. The
 * elements of lists are read whole: they are those of the live rows and few others.
 */
#include "connector/blackhole/consume.h"

/* The words of bytes bytes; the last one is padded with zeros. */
static uint64_t fold_bytes(const void *data, size_t bytes)
{
    const char *at = data;
    uint64_t sum = 0;
    size_t words = bytes / sizeof(uint64_t);
    for (size_t i = 0; i < words; i++) {
        uint64_t word;
        memcpy(&word, at + i * sizeof(word), sizeof(word));
        sum ^= word;
    }
    uint64_t last = 0;
    memcpy(&last, at + words * sizeof(last), bytes % sizeof(last));
    return sum ^ last;
}

static uint64_t fold_value(const char *value, size_t width)
{
    uint64_t low = 0;
    uint64_t high = 0;
    switch (width) {
    case 1:
        memcpy(&low, value, 1);
        break;
    case 2:
        memcpy(&low, value, 2);
        break;
    case 4:
        memcpy(&low, value, 4);
        break;
    case 8:
        memcpy(&low, value, 8);
        break;
    case 16:
        memcpy(&low, value, 8);
        memcpy(&high, value + 8, 8);
        break;
    default:
        return fold_bytes(value, width);
    }
    return low ^ high;
}

/* The value of a row of any encoding; a ROW is its fields. */
static uint64_t fold_at(const ms_vec *vec, uint32_t row)
{
    uint32_t pos = ms_vec_pos(vec, row);
    if (vec->phys != MS_PHYS_ROW) {
        size_t width = ms_phys_bytes(vec->phys);
        return fold_value((const char *)vec->data + pos * width, width);
    }
    uint64_t sum = 0;
    for (uint32_t c = 0; c < vec->child_count; c++) {
        sum ^= fold_at(&vec->children[c], pos);
    }
    return sum;
}

/* The widths of most columns have loops of their own. */
static uint64_t fold_selected(const char *data, size_t width, const uint16_t *sel, uint32_t count)
{
    uint64_t sum = 0;
    if (width == 8) {
        for (uint32_t k = 0; k < count; k++) {
            sum ^= fold_value(data + sel[k] * (size_t)8, 8);
        }
    } else if (width == 16) {
        for (uint32_t k = 0; k < count; k++) {
            sum ^= fold_value(data + sel[k] * (size_t)16, 16);
        }
    } else {
        for (uint32_t k = 0; k < count; k++) {
            sum ^= fold_value(data + sel[k] * width, width);
        }
    }
    return sum;
}

static uint64_t fold_flat(const ms_vec *vec, const uint16_t *sel, uint32_t count)
{
    size_t width = ms_phys_bytes(vec->phys);
    const char *data = vec->data;
    uint64_t sum = 0;
    if (sel == NULL) {
        sum = fold_bytes(data, width * count);
        return vec->valid == NULL
                   ? sum
                   : sum ^ fold_bytes(vec->valid, MS_BITMAP_WORDS(count) * sizeof(uint64_t));
    }
    sum = fold_selected(data, width, sel, count);
    for (uint32_t k = 0; k < count && vec->valid != NULL; k++) {
        sum ^= ms_bit_get(vec->valid, sel[k]);
    }
    return sum;
}

/* The rows sel[0 .. count), or 0 .. count - 1 when sel is NULL. */
static uint64_t fold_vec(const ms_vec *vec, const uint16_t *sel, uint32_t count)
{
    uint64_t sum = 0;
    bool is_flat_row = vec->phys == MS_PHYS_ROW && vec->encoding == MS_ENC_FLAT;
    if (vec->encoding != MS_ENC_FLAT) {
        for (uint32_t k = 0; k < count; k++) {
            sum ^= fold_at(vec, sel != NULL ? sel[k] : k);
        }
    } else if (!is_flat_row) {
        sum = fold_flat(vec, sel, count);
    }
    for (uint32_t c = 0; c < vec->child_count; c++) {
        if (is_flat_row) {
            sum ^= fold_vec(&vec->children[c], sel, count);
        } else if (vec->phys == MS_PHYS_LIST) {
            sum ^= fold_vec(&vec->children[c], NULL, vec->child_rows);
        }
    }
    return sum;
}

uint64_t msi_blackhole_consume(const ms_batch *batch)
{
    uint64_t sum = 0;
    uint32_t live = ms_batch_live(batch);
    for (uint32_t c = 0; c < batch->column_count; c++) {
        sum ^= fold_vec(&batch->columns[c], batch->sel, live);
    }
    if (batch->kinds != NULL) {
        for (uint32_t k = 0; k < live; k++) {
            sum ^= batch->kinds[ms_batch_row(batch, k)];
        }
    }
    return sum;
}
