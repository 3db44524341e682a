/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copying rows of vectors. The one hot path is ms_batch_append(), which exchanges, sorts and sink
 * queues run for every row; so every step works on a whole column: values are copied by width,
 * bitmaps by words, and the bytes of a column's long strings take one allocation.
 *
 * What stands under a NULL may be garbage: fixed-width garbage is copied, garbage views and list
 * pairs are never followed and become empty, and so do the fields of a NULL row.
 */
#include "type/type_priv.h"

/* Positions computed at a time for an encoded vector: 4 KiB of stack for each level of nesting. */
#define CHUNK_ROWS 1024u

/* Values. */

#define GATHER(ctype)                                                                              \
    do {                                                                                           \
        ctype *out = dst;                                                                          \
        const ctype *in = src;                                                                     \
        for (uint32_t i = 0; i < rows.count; i++) {                                                \
            out[i] = in[rows.pos[i]];                                                              \
        }                                                                                          \
    } while (0)

/* 16 bytes as two words; the alias of decimals, timestamps, views. */
typedef struct wide {
    uint64_t word[2];
} __attribute__((may_alias)) wide;
typedef uint64_t __attribute__((may_alias)) word64;
typedef uint32_t __attribute__((may_alias)) word32;
typedef uint16_t __attribute__((may_alias)) word16;

void msi_copy_values(void *dst, const void *src, size_t width, msi_rows rows)
{
    if (rows.count == 0 || width == 0) {
        return;
    }
    if (rows.pos == NULL) {
        memcpy(dst, (const char *)src + rows.first * width, rows.count * width);
        return;
    }
    switch (width) {
    case 1:
        GATHER(char);
        break;
    case 2:
        GATHER(word16);
        break;
    case 4:
        GATHER(word32);
        break;
    case 8:
        GATHER(word64);
        break;
    case 16:
        GATHER(wide);
        break;
    default:
        MS_UNREACHABLE();
    }
}

/* Bits. */

/* The count <= 64 bits from bit `at` on, without touching words beyond the last of them. */
static uint64_t bits_read(const uint64_t *bits, uint32_t at, uint32_t count)
{
    uint32_t shift = at & 63u;
    uint64_t word = bits[at >> 6] >> shift;
    if (shift + count > 64) {
        word |= bits[(at >> 6) + 1] << (64 - shift);
    }
    return count == 64 ? word : word & ((UINT64_C(1) << count) - 1);
}

/* Replaces the count <= 64 bits from bit `at` on. */
static void bits_write(uint64_t *bits, uint32_t at, uint32_t count, uint64_t word)
{
    uint32_t shift = at & 63u;
    uint64_t mask = count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
    uint64_t *low = &bits[at >> 6];
    *low = (*low & ~(mask << shift)) | ((word & mask) << shift);
    if (shift + count > 64) {
        uint64_t *high = low + 1;
        *high = (*high & ~(mask >> (64 - shift))) | ((word & mask) >> (64 - shift));
    }
}

/* The bits of rows [from, from + count) of the list, count <= 64. */
static uint64_t bits_gather(const uint64_t *bits, msi_rows rows, uint32_t from, uint32_t count)
{
    if (rows.pos == NULL) {
        return bits_read(bits, rows.first + from, count);
    }
    uint64_t word = 0;
    for (uint32_t i = 0; i < count; i++) {
        word |= (uint64_t)ms_bit_get(bits, rows.pos[from + i]) << i;
    }
    return word;
}

static uint32_t step_of(uint32_t done, uint32_t count)
{
    return count - done < 64 ? count - done : 64;
}

bool msi_bits_are_set(const uint64_t *bits, msi_rows rows)
{
    for (uint32_t done = 0; done < rows.count; done += 64) {
        uint32_t step = step_of(done, rows.count);
        uint64_t all = step == 64 ? UINT64_MAX : (UINT64_C(1) << step) - 1;
        if (bits_gather(bits, rows, done, step) != all) {
            return false;
        }
    }
    return true;
}

void msi_bits_copy(uint64_t *dst, uint32_t at, const uint64_t *src, msi_rows rows)
{
    for (uint32_t done = 0; done < rows.count; done += 64) {
        uint32_t step = step_of(done, rows.count);
        bits_write(dst, at + done, step, bits_gather(src, rows, done, step));
    }
}

void msi_bits_set(uint64_t *bits, uint32_t at, uint32_t count)
{
    for (uint32_t done = 0; done < count; done += 64) {
        bits_write(bits, at + done, step_of(done, count), UINT64_MAX);
    }
}

/* Strings. */

/* Copies the views, empty where valid says NULL, and returns the bytes of the long ones. */
static size_t copy_views(ms_view *out, const ms_view *in, const uint64_t *valid, msi_rows rows)
{
    size_t long_bytes = 0;
    for (uint32_t i = 0; i < rows.count; i++) {
        uint32_t pos = msi_rows_at(rows, i);
        ms_view view = in[pos];
        if (valid != NULL && !ms_bit_get(valid, pos)) {
            view = (ms_view){0};
        }
        out[i] = view;
        long_bytes += view.bytes > MS_VIEW_INLINE ? view.bytes : 0;
    }
    return long_bytes;
}

static void append_strings(ms_view *out, const ms_vec *src, msi_rows rows, ms_heap *heap)
{
    size_t long_bytes = copy_views(out, src->data, src->valid, rows);
    if (long_bytes == 0) {
        return;
    }
    char *bytes = ms_heap_alloc(heap, long_bytes);
    for (uint32_t i = 0; i < rows.count; i++) {
        if (out[i].bytes > MS_VIEW_INLINE) {
            memcpy(bytes, out[i].u.ptr, out[i].bytes);
            out[i].u.ptr = bytes;
            bytes += out[i].bytes;
        }
    }
}

/* Lists. */

static void append_elements(ms_vec *dst, const ms_vec *src, uint32_t first, uint32_t count,
                            ms_heap *heap)
{
    if (count == 0) {
        return;
    }
    uint32_t at = ms_vec_list_reserve(dst, count, NULL);
    for (uint32_t c = 0; c < dst->child_count; c++) {
        msi_vec_append(&dst->children[c], at, &src->children[c], (msi_rows){NULL, first, count},
                       heap);
    }
}

/* Lists that follow each other in the source's elements are copied as one run. */
static void append_lists(ms_vec *dst, uint32_t at, const ms_vec *src, msi_rows rows, ms_heap *heap)
{
    ms_list *out = MS_VEC_DATA(dst, ms_list) + at;
    const ms_list *in = MS_VEC_DATA(src, const ms_list);
    uint32_t run_first = 0;
    uint32_t run_count = 0;
    for (uint32_t i = 0; i < rows.count; i++) {
        uint32_t pos = msi_rows_at(rows, i);
        bool is_null = src->valid != NULL && !ms_bit_get(src->valid, pos);
        ms_list list = is_null ? (ms_list){0, 0} : in[pos];
        if (list.length > 0 && list.offset != run_first + run_count) {
            append_elements(dst, src, run_first, run_count, heap);
            run_first = list.offset;
            run_count = 0;
        }
        out[i] = (ms_list){dst->child_rows + run_count, list.length};
        run_count += list.length;
    }
    append_elements(dst, src, run_first, run_count, heap);
}

/* Whole vectors. */

static void append_validity(ms_vec *dst, uint32_t at, const ms_vec *src, msi_rows rows)
{
    if (src->valid != NULL && !msi_bits_are_set(src->valid, rows)) {
        msi_bits_copy(ms_vec_validity(dst), at, src->valid, rows);
    } else if (dst->valid != NULL) {
        msi_bits_set(dst->valid, at, rows.count);
    }
}

static msi_rows slice(msi_rows rows, uint32_t from, uint32_t count)
{
    return (msi_rows){rows.pos != NULL ? rows.pos + from : NULL, rows.first + from, count};
}

static void append_children(ms_vec *dst, uint32_t at, const ms_vec *src, msi_rows rows,
                            ms_heap *heap)
{
    for (uint32_t c = 0; c < src->child_count; c++) {
        msi_vec_append(&dst->children[c], at, &src->children[c], rows, heap);
    }
}

/* Fields under a NULL may be garbage of any kind: they become NULL, run by run. */
static void append_fields(ms_vec *dst, uint32_t at, const ms_vec *src, msi_rows rows, ms_heap *heap)
{
    if (src->valid == NULL || msi_bits_are_set(src->valid, rows)) {
        append_children(dst, at, src, rows, heap);
        return;
    }
    uint32_t from = 0;
    while (from < rows.count) {
        bool is_valid = ms_bit_get(src->valid, msi_rows_at(rows, from));
        uint32_t end = from + 1;
        while (end < rows.count && ms_bit_get(src->valid, msi_rows_at(rows, end)) == is_valid) {
            end++;
        }
        if (is_valid) {
            append_children(dst, at + from, src, slice(rows, from, end - from), heap);
        } else {
            msi_vec_set_nulls(dst, at + from, end - from);
        }
        from = end;
    }
}

/* rows are positions in src->data. */
static void append_flat(ms_vec *dst, uint32_t at, const ms_vec *src, msi_rows rows, ms_heap *heap)
{
    append_validity(dst, at, src, rows);
    switch (src->phys) {
    case MS_PHYS_STR:
        append_strings(MS_VEC_DATA(dst, ms_view) + at, src, rows, heap);
        break;
    case MS_PHYS_LIST:
        append_lists(dst, at, src, rows, heap);
        break;
    case MS_PHYS_ROW:
        append_fields(dst, at, src, rows, heap);
        break;
    case MS_PHYS_NONE:
    case MS_PHYS_BOOL:
    case MS_PHYS_I8:
    case MS_PHYS_I16:
    case MS_PHYS_I32:
    case MS_PHYS_I64:
    case MS_PHYS_I128:
    case MS_PHYS_F32:
    case MS_PHYS_F64:
    case MS_PHYS_TS16: {
        size_t width = ms_phys_bytes(src->phys);
        msi_copy_values((char *)dst->data + at * width, src->data, width, rows);
        break;
    }
    case MS_PHYS_COUNT:
        MS_UNREACHABLE();
    }
}

void msi_vec_append(ms_vec *dst, uint32_t at, const ms_vec *src, msi_rows rows, ms_heap *heap)
{
    MS_ASSERT(dst->phys == src->phys && dst->child_count == src->child_count);
    if (src->encoding == MS_ENC_FLAT) {
        append_flat(dst, at, src, rows, heap);
        return;
    }
    uint32_t pos[CHUNK_ROWS];
    for (uint32_t done = 0; done < rows.count; done += CHUNK_ROWS) {
        uint32_t count = rows.count - done < CHUNK_ROWS ? rows.count - done : CHUNK_ROWS;
        for (uint32_t i = 0; i < count; i++) {
            pos[i] = ms_vec_pos(src, msi_rows_at(rows, done + i));
        }
        append_flat(dst, at + done, src, (msi_rows){pos, 0, count}, heap);
    }
}
