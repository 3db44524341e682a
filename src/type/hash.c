/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frozen hash of rows (the definition is in hash.h). A column at a time: one loop for each
 * physical form over flat vectors without NULLs, and one for everything else, so that the usual
 * key, an integer or a string, costs a few multiplications a row.
 */
#include "type/hash.h"

#include "base/codec.h"

#include <math.h>

__extension__ typedef unsigned __int128 u128;

#define STEP UINT64_C(0x9E3779B97F4A7C15)
#define FOLD_FACTOR UINT64_C(0xD6E8FEB86659FD93)
#define NULL_WORD UINT64_C(0x6E756C6C6E756C6C)
#define NAN_WORD UINT64_C(0x7FF8000000000000)

static inline uint64_t combine(uint64_t hash, uint64_t word)
{
    return ms_hash_mix((hash + STEP) ^ word);
}

/* Words of values. */

static inline uint64_t double_word(double value)
{
    uint64_t word;
    value += 0.0; /* -0.0 becomes 0.0, nothing else changes */
    memcpy(&word, &value, sizeof(word));
    return isnan(value) ? NAN_WORD : word;
}

static inline uint64_t fold(uint64_t state, uint64_t word)
{
    u128 product = (u128)(state ^ word) * FOLD_FACTOR;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t bytes_word(const char *bytes, uint32_t count)
{
    uint64_t state = count * STEP;
    while (count >= 8) {
        state = fold(state, ms_codec_load_u64(bytes));
        bytes += 8;
        count -= 8;
    }
    if (count > 0) {
        char tail[8] = {0};
        memcpy(tail, bytes, count);
        state = fold(state, ms_codec_load_u64(tail));
    }
    return ms_hash_mix(state);
}

static inline uint64_t view_word(const ms_view *view)
{
    return bytes_word(ms_view_ptr(view), view->bytes);
}

static inline uint64_t ts_word(ms_ts16 ts)
{
    return (uint64_t)ts.ms * 1000000u + (uint64_t)ts.ns;
}

static inline uint64_t combine_decimal(uint64_t hash, ms_i128 value)
{
    hash = combine(hash, (uint64_t)value);
    if (value != (int64_t)value) {
        hash = combine(hash, (uint64_t)((u128)value >> 64));
    }
    return hash;
}

/* One row of any vector. */

static uint64_t combine_row(uint64_t hash, const ms_vec *vec, uint32_t row);

static uint64_t list_word(const ms_vec *vec, uint32_t pos)
{
    ms_list list = MS_VEC_DATA(vec, const ms_list)[pos];
    uint64_t array = MS_HASH_SEED;
    uint64_t map = 0;
    for (uint32_t i = 0; i < list.length; i++) {
        uint64_t entry = MS_HASH_SEED;
        if (vec->child_count == 1) {
            array = combine_row(array, &vec->children[0], list.offset + i);
            continue;
        }
        for (uint32_t c = 0; c < vec->child_count; c++) {
            entry = combine_row(entry, &vec->children[c], list.offset + i);
        }
        map += entry;
    }
    return (vec->child_count == 1 ? array : map) ^ list.length;
}

static uint64_t fields_word(const ms_vec *vec, uint32_t pos)
{
    uint64_t hash = MS_HASH_SEED;
    for (uint32_t c = 0; c < vec->child_count; c++) {
        hash = combine_row(hash, &vec->children[c], pos);
    }
    return hash ^ vec->child_count;
}

static uint64_t combine_pos(uint64_t hash, const ms_vec *vec, uint32_t pos)
{
    switch (vec->phys) {
    case MS_PHYS_NONE:
        return combine(hash, NULL_WORD);
    case MS_PHYS_BOOL:
        return combine(hash, MS_VEC_DATA(vec, const uint8_t)[pos]);
    case MS_PHYS_I8:
        return combine(hash, (uint64_t)(int64_t)MS_VEC_DATA(vec, const int8_t)[pos]);
    case MS_PHYS_I16:
        return combine(hash, (uint64_t)(int64_t)MS_VEC_DATA(vec, const int16_t)[pos]);
    case MS_PHYS_I32:
        return combine(hash, (uint64_t)(int64_t)MS_VEC_DATA(vec, const int32_t)[pos]);
    case MS_PHYS_I64:
        return combine(hash, (uint64_t)MS_VEC_DATA(vec, const int64_t)[pos]);
    case MS_PHYS_I128:
        return combine_decimal(hash, MS_VEC_DATA(vec, const ms_i128)[pos]);
    case MS_PHYS_F32:
        return combine(hash, double_word((double)MS_VEC_DATA(vec, const float)[pos]));
    case MS_PHYS_F64:
        return combine(hash, double_word(MS_VEC_DATA(vec, const double)[pos]));
    case MS_PHYS_TS16:
        return combine(hash, ts_word(MS_VEC_DATA(vec, const ms_ts16)[pos]));
    case MS_PHYS_STR:
        return combine(hash, view_word(&MS_VEC_DATA(vec, const ms_view)[pos]));
    case MS_PHYS_LIST:
        return combine(hash, list_word(vec, pos));
    case MS_PHYS_ROW:
        return combine(hash, fields_word(vec, pos));
    case MS_PHYS_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

static uint64_t combine_row(uint64_t hash, const ms_vec *vec, uint32_t row)
{
    uint32_t pos = ms_vec_pos(vec, row);
    if (vec->valid != NULL && !ms_bit_get(vec->valid, pos)) {
        return combine(hash, NULL_WORD);
    }
    return combine_pos(hash, vec, pos);
}

/* Columns. */

#define HASH_LOOP(ctype, word)                                                                     \
    do {                                                                                           \
        const ctype *data = vec->data;                                                             \
        if (sel == NULL) {                                                                         \
            for (uint32_t k = 0; k < rows; k++) {                                                  \
                ctype value = data[k];                                                             \
                hashes[k] = combine(hashes[k], word);                                              \
            }                                                                                      \
        } else {                                                                                   \
            for (uint32_t k = 0; k < rows; k++) {                                                  \
                ctype value = data[sel[k]];                                                        \
                hashes[k] = combine(hashes[k], word);                                              \
            }                                                                                      \
        }                                                                                          \
    } while (0)

static void combine_rows(const ms_vec *vec, const uint16_t *sel, uint32_t rows, uint64_t *hashes)
{
    for (uint32_t k = 0; k < rows; k++) {
        hashes[k] = combine_row(hashes[k], vec, sel != NULL ? sel[k] : k);
    }
}

static void combine_column(const ms_vec *vec, const uint16_t *sel, uint32_t rows, uint64_t *hashes)
{
    if (vec->encoding != MS_ENC_FLAT || vec->valid != NULL) {
        combine_rows(vec, sel, rows, hashes);
        return;
    }
    switch (vec->phys) {
    case MS_PHYS_I32:
        HASH_LOOP(int32_t, (uint64_t)(int64_t)value);
        break;
    case MS_PHYS_I64:
        HASH_LOOP(int64_t, (uint64_t)value);
        break;
    case MS_PHYS_F64:
        HASH_LOOP(double, double_word(value));
        break;
    case MS_PHYS_STR:
        HASH_LOOP(ms_view, view_word(&value));
        break;
    case MS_PHYS_NONE:
    case MS_PHYS_BOOL:
    case MS_PHYS_I8:
    case MS_PHYS_I16:
    case MS_PHYS_I128:
    case MS_PHYS_F32:
    case MS_PHYS_TS16:
    case MS_PHYS_LIST:
    case MS_PHYS_ROW:
        combine_rows(vec, sel, rows, hashes);
        break;
    case MS_PHYS_COUNT:
        MS_UNREACHABLE();
    }
}

void ms_hash_rows(const ms_vec *const *columns, uint32_t column_count, const uint16_t *sel,
                  uint32_t rows, uint64_t *hashes_out)
{
    for (uint32_t k = 0; k < rows; k++) {
        hashes_out[k] = MS_HASH_SEED;
    }
    for (uint32_t c = 0; c < column_count; c++) {
        combine_column(columns[c], sel, rows, hashes_out);
    }
}

/* Values. */

static uint64_t combine_value(uint64_t hash, const ms_value *value);

static uint64_t items_word(const ms_value *value)
{
    uint32_t count = value->item_count;
    ms_type_kind kind = value->type->kind;
    if (kind == MS_TYPE_MAP || kind == MS_TYPE_MULTISET) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i + 1 < count; i += 2) {
            sum += ms_hash_values(&value->u.items[i], 2);
        }
        return sum ^ count / 2;
    }
    return ms_hash_values(value->u.items, count) ^ count;
}

static uint64_t combine_value(uint64_t hash, const ms_value *value)
{
    if (value->is_null) {
        return combine(hash, NULL_WORD);
    }
    switch (value->type->phys) {
    case MS_PHYS_NONE:
        return combine(hash, NULL_WORD);
    case MS_PHYS_BOOL:
    case MS_PHYS_I8:
    case MS_PHYS_I16:
    case MS_PHYS_I32:
    case MS_PHYS_I64:
        return combine(hash, (uint64_t)value->u.i);
    case MS_PHYS_I128:
        return combine_decimal(hash, value->u.dec);
    case MS_PHYS_F32:
    case MS_PHYS_F64:
        return combine(hash, double_word(value->u.f));
    case MS_PHYS_TS16:
        return combine(hash, ts_word(value->u.ts));
    case MS_PHYS_STR:
        return combine(hash, bytes_word(value->u.str.ptr, (uint32_t)value->u.str.bytes));
    case MS_PHYS_LIST:
    case MS_PHYS_ROW:
        return combine(hash, items_word(value));
    case MS_PHYS_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

uint64_t ms_hash_values(const ms_value *values, uint32_t count)
{
    uint64_t hash = MS_HASH_SEED;
    for (uint32_t i = 0; i < count; i++) {
        hash = combine_value(hash, &values[i]);
    }
    return hash;
}

uint64_t ms_hash_bytes(ms_str bytes)
{
    MS_ASSERT(bytes.bytes <= UINT32_MAX);
    return combine(MS_HASH_SEED, bytes_word(bytes.ptr, (uint32_t)bytes.bytes));
}
