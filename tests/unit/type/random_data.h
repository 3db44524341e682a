/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random types, values, vectors and batches for the tests of this folder. A vector comes with the
 * values that it is meant to hold, made independently of the code that reads vectors, in an arena
 * that outlives it. Vectors are as nasty as their contract allows: any encoding at any level, lists
 * in any order, garbage that must not be followed under every NULL.
 */
#ifndef MS_TESTS_UNIT_TYPE_RANDOM_DATA_H
#define MS_TESTS_UNIT_TYPE_RANDOM_DATA_H

#include "base/env.h"
#include "type/batch.h"
#include "type/value.h"

#include <math.h>

typedef struct rnd {
    ms_env_random random;
    ms_arena *values;  /* types and expected values */
    ms_arena *vectors; /* memory of vectors: released first */
    bool canonical;    /* no -0.0, no odd NaN: what keys and hashes do not tell apart */
} rnd;

static inline uint32_t rnd_below(rnd *r, uint32_t bound)
{
    return (uint32_t)ms_env_random_below(&r->random, bound);
}

static inline bool rnd_chance(rnd *r, uint32_t percent)
{
    return rnd_below(r, 100) < percent;
}

/* Integers of all sizes, often near the ends of a power of two. */
static inline int64_t rnd_i64(rnd *r)
{
    uint64_t bits = ms_env_random_next(&r->random) >> rnd_below(r, 64);
    return rnd_chance(r, 50) ? (int64_t)bits : (int64_t)(0 - bits);
}

static inline const ms_type *rnd_scalar_type(rnd *r, bool nullable)
{
    ms_arena *arena = r->values;
    static const ms_type_kind simple[] = {
        MS_TYPE_BOOLEAN, MS_TYPE_TINYINT, MS_TYPE_SMALLINT,       MS_TYPE_INT,
        MS_TYPE_BIGINT,  MS_TYPE_FLOAT,   MS_TYPE_DOUBLE,         MS_TYPE_DATE,
        MS_TYPE_DATE,    MS_TYPE_INT,     MS_TYPE_INTERVAL_MONTH, MS_TYPE_INTERVAL_SECOND};
    switch (rnd_below(r, 6)) {
    case 0:
        return ms_type_decimal(arena, 1 + (int32_t)rnd_below(r, 18), 0, nullable);
    case 1:
        return ms_type_decimal(arena, 19 + (int32_t)rnd_below(r, 20), (int32_t)rnd_below(r, 20),
                               nullable);
    case 2:
        return rnd_chance(r, 50) ? ms_type_string(arena, nullable) : ms_type_bytes(arena, nullable);
    case 3:
        return ms_type_temporal(arena,
                                rnd_chance(r, 50) ? MS_TYPE_TIMESTAMP : MS_TYPE_TIMESTAMP_LTZ,
                                (int32_t)rnd_below(r, 10), nullable);
    default:
        return ms_type_simple(arena, simple[rnd_below(r, sizeof(simple) / sizeof(simple[0]))],
                              nullable);
    }
}

static inline const ms_type *rnd_type(rnd *r, uint32_t depth)
{
    ms_arena *arena = r->values;
    bool nullable = rnd_chance(r, 70);
    if (depth == 0 || rnd_chance(r, 55)) {
        return rnd_scalar_type(r, nullable);
    }
    switch (rnd_below(r, 4)) {
    case 0:
        return ms_type_array(arena, rnd_type(r, depth - 1), nullable);
    case 1:
        return ms_type_map(arena, rnd_type(r, depth - 1), rnd_type(r, depth - 1), nullable);
    case 2:
        return ms_type_multiset(arena, rnd_type(r, depth - 1), nullable);
    default: {
        ms_field fields[4];
        uint32_t count = rnd_below(r, 5);
        for (uint32_t i = 0; i < count; i++) {
            fields[i] = (ms_field){ms_arena_format(arena, "f%u", i), rnd_type(r, depth - 1)};
        }
        return ms_type_row(arena, fields, count, nullable);
    }
    }
}

static inline ms_schema rnd_schema(rnd *r, uint32_t columns_max, uint32_t depth)
{
    uint32_t count = 1 + rnd_below(r, columns_max);
    ms_field *columns = ms_arena_array(r->values, ms_field, count);
    for (uint32_t i = 0; i < count; i++) {
        columns[i] = (ms_field){ms_arena_format(r->values, "c%u", i), rnd_type(r, depth)};
    }
    return (ms_schema){count, columns};
}

static inline ms_str rnd_str(rnd *r)
{
    static const char letters[] = "\0\0\1\377abAB\x7f";
    size_t bytes = rnd_chance(r, 60) ? rnd_below(r, 14) : rnd_below(r, 60);
    char *text = ms_arena_alloc(r->values, bytes, 1);
    for (size_t i = 0; i < bytes; i++) {
        text[i] = letters[rnd_below(r, sizeof(letters) - 1)];
    }
    return ms_str_make(text, bytes);
}

static inline double rnd_double(rnd *r)
{
    static const double special[] = {0.0, 1.0, -1.0, 1e300, -1e-300, INFINITY, -INFINITY, NAN};
    if (rnd_chance(r, 30)) {
        return special[rnd_below(r, sizeof(special) / sizeof(special[0]))];
    }
    if (!r->canonical && rnd_chance(r, 5)) {
        return -0.0;
    }
    return (double)rnd_i64(r) / (1 + rnd_below(r, 1000));
}

static inline ms_i128 rnd_i128(rnd *r)
{
    __extension__ unsigned __int128 bits = ms_env_random_next(&r->random);
    bits = bits << 62 | ms_env_random_next(&r->random) >> 2; /* below 2^126, above 10^37 */
    bits >>= rnd_below(r, 126);
    return rnd_chance(r, 50) ? (ms_i128)bits : -(ms_i128)bits;
}

/* A scalar that is not NULL. */
static inline ms_value rnd_scalar(rnd *r, const ms_type *type)
{
    ms_value value = {.type = type};
    switch ((int)type->phys) {
    case MS_PHYS_BOOL:
        value.u.i = rnd_chance(r, 50);
        break;
    case MS_PHYS_I8:
        value.u.i = (int8_t)rnd_i64(r);
        break;
    case MS_PHYS_I16:
        value.u.i = (int16_t)rnd_i64(r);
        break;
    case MS_PHYS_I32:
        value.u.i = (int32_t)rnd_i64(r);
        break;
    case MS_PHYS_I64:
        value.u.i = rnd_i64(r);
        break;
    case MS_PHYS_I128:
        value.u.dec = rnd_i128(r);
        break;
    case MS_PHYS_F32:
        value.u.f = (double)(float)rnd_double(r);
        break;
    case MS_PHYS_F64:
        value.u.f = rnd_double(r);
        break;
    case MS_PHYS_TS16:
        value.u.ts = (ms_ts16){rnd_i64(r), (int32_t)rnd_below(r, 1000000)};
        break;
    case MS_PHYS_STR:
        value.u.str = rnd_str(r);
        break;
    default:
        MS_UNREACHABLE();
    }
    return value;
}

static inline const ms_type *rnd_child_type(const ms_type *type, uint32_t child)
{
    static const ms_type count = {.kind = MS_TYPE_INT, .phys = MS_PHYS_I32};
    return child < type->child_count ? type->children[child] : &count;
}

static inline uint32_t rnd_width(const ms_type *type)
{
    return type->kind == MS_TYPE_MULTISET ? 2 : type->child_count;
}

/* Any value, without a vector. */
static inline ms_value rnd_value(rnd *r, const ms_type *type)
{
    if (type->nullable && rnd_chance(r, 20)) {
        return ms_value_null(type);
    }
    if (!ms_type_is_nested(type)) {
        return rnd_scalar(r, type);
    }
    uint32_t width = rnd_width(type);
    uint32_t items = type->kind == MS_TYPE_ROW ? width : rnd_below(r, 4) * width;
    ms_value *array = ms_arena_array(r->values, ms_value, items);
    for (uint32_t i = 0; i < items; i++) {
        array[i] = rnd_value(r, rnd_child_type(type, width == 0 ? 0 : i % width));
    }
    return (ms_value){.type = type, .item_count = items, .u.items = array};
}

/* Writes a scalar into a raw array, its string into memory of its own. */
static inline void rnd_store(rnd *r, ms_vec *vec, uint32_t i, const ms_value *value)
{
    char *at = (char *)vec->data + i * ms_phys_bytes(vec->phys);
    if (value->is_null) {
        memset(at, 0xEE, ms_phys_bytes(vec->phys)); /* garbage: a view of 4 GB at no address */
        return;
    }
    float f = (float)value->u.f;
    ms_view view = {0};
    switch ((int)vec->phys) {
    case MS_PHYS_F32:
        memcpy(at, &f, sizeof(f));
        break;
    case MS_PHYS_STR: {
        char *copy = ms_arena_alloc(r->vectors, value->u.str.bytes, 1);
        if (value->u.str.bytes > 0) {
            memcpy(copy, value->u.str.ptr, value->u.str.bytes);
        }
        view = ms_view_make(copy, (uint32_t)value->u.str.bytes);
        memcpy(at, &view, sizeof(view));
        break;
    }
    default: /* little-endian integers and plain structs */
        memcpy(at, &value->u, ms_phys_bytes(vec->phys));
        break;
    }
}

static inline ms_value *rnd_vec(rnd *r, ms_vec *vec, const ms_type *type, uint32_t rows);

static inline void rnd_children(rnd *r, ms_vec *vec, const ms_type *type, uint32_t rows,
                                ms_value **expected)
{
    vec->child_count = rnd_width(type);
    vec->children = ms_arena_array(r->vectors, ms_vec, vec->child_count);
    for (uint32_t c = 0; c < vec->child_count; c++) {
        expected[c] = rnd_vec(r, &vec->children[c], rnd_child_type(type, c), rows);
    }
}

/* Garbage in the fields of a NULL row, where they are flat. */
static inline void rnd_spoil_fields(ms_vec *vec, uint32_t i)
{
    for (uint32_t c = 0; c < vec->child_count && vec->phys == MS_PHYS_ROW; c++) {
        ms_vec *field = &vec->children[c];
        if (field->encoding == MS_ENC_FLAT) {
            size_t width = ms_phys_bytes(field->phys);
            memset((char *)field->data + i * width, 0xEE, width);
        }
    }
}

/* A flat vector of `rows` values, and the values. */
static inline ms_value *rnd_flat(rnd *r, ms_vec *vec, const ms_type *type, uint32_t rows)
{
    *vec = (ms_vec){.type = type, .phys = type->phys, .encoding = MS_ENC_FLAT};
    size_t width = ms_phys_bytes(type->phys);
    vec->data = ms_arena_alloc(r->vectors, width * rows + 1, 64);
    bool nulls = type->nullable && rnd_chance(r, 70);
    if (nulls) {
        vec->valid = ms_arena_array(r->vectors, uint64_t, MS_BITMAP_WORDS(rows));
        ms_bitmap_fill(vec->valid, rows);
    }
    ms_value *values = ms_arena_array(r->values, ms_value, rows);
    ms_value *children[4] = {NULL};
    uint32_t child_rows = type->phys == MS_PHYS_ROW ? rows : rnd_below(r, rows * 3 + 1);
    if (ms_type_is_nested(type)) {
        rnd_children(r, vec, type, child_rows, children);
        vec->child_rows = type->phys == MS_PHYS_ROW ? 0 : child_rows;
    }
    for (uint32_t i = 0; i < rows; i++) {
        values[i] = ms_value_null(type);
        if (nulls && rnd_chance(r, 20)) {
            ms_bit_clear(vec->valid, i);
            rnd_spoil_fields(vec, i);
        } else if (!ms_type_is_nested(type)) {
            values[i] = rnd_scalar(r, type);
        } else {
            uint32_t first = i;
            uint32_t length = 1;
            if (type->phys == MS_PHYS_LIST) {
                first = rnd_below(r, child_rows + 1);
                length = rnd_below(r, 5);
                length = length < child_rows - first ? length : child_rows - first;
                ((ms_list *)vec->data)[i] = (ms_list){first, length};
            }
            uint32_t items = length * vec->child_count;
            ms_value *array = ms_arena_array(r->values, ms_value, items);
            for (uint32_t k = 0; k < items; k++) {
                array[k] = children[k % vec->child_count][first + k / vec->child_count];
            }
            values[i].is_null = false;
            values[i].item_count = items;
            values[i].u.items = array;
        }
        if (values[i].is_null || !ms_type_is_nested(type)) {
            rnd_store(r, vec, i, &values[i]);
        }
    }
    return values;
}

/* A vector of `rows` rows in any encoding, and their values. */
static inline ms_value *rnd_vec(rnd *r, ms_vec *vec, const ms_type *type, uint32_t rows)
{
    uint32_t form = rnd_below(r, 10);
    if (form < 6 || rows == 0) {
        return rnd_flat(r, vec, type, rows);
    }
    uint32_t base_rows = form < 8 ? 1 : 1 + rnd_below(r, rows + 10);
    ms_value *base = rnd_flat(r, vec, type, base_rows);
    ms_value *values = ms_arena_array(r->values, ms_value, rows);
    uint16_t *index = ms_arena_array(r->vectors, uint16_t, rows);
    for (uint32_t i = 0; i < rows; i++) {
        index[i] = (uint16_t)rnd_below(r, base_rows);
        values[i] = base[index[i]];
    }
    vec->encoding = form < 8 ? MS_ENC_CONST : MS_ENC_INDEX;
    vec->index = form < 8 ? NULL : index;
    return values;
}

/* A frame of random columns, perhaps with a selection and kinds; values[c][row] are its values. */
static inline void rnd_frame(rnd *r, ms_batch *frame, const ms_schema *schema, uint32_t rows,
                             ms_value ***values_out)
{
    *frame = (ms_batch){.rows = rows, .column_count = schema->column_count};
    frame->columns = ms_arena_array(r->vectors, ms_vec, schema->column_count);
    *values_out = ms_arena_array(r->values, ms_value *, schema->column_count);
    for (uint32_t c = 0; c < schema->column_count; c++) {
        (*values_out)[c] = rnd_vec(r, &frame->columns[c], schema->columns[c].type, rows);
    }
    if (rnd_chance(r, 60)) {
        uint16_t *sel = ms_arena_array(r->vectors, uint16_t, rows + 1);
        for (uint32_t i = 0; i < rows; i++) {
            if (rnd_chance(r, 60)) {
                sel[frame->sel_count++] = (uint16_t)i;
            }
        }
        frame->sel = sel;
    }
    if (rnd_chance(r, 40)) {
        uint8_t *kinds = ms_arena_array(r->vectors, uint8_t, rows + 1);
        for (uint32_t i = 0; i < rows; i++) {
            kinds[i] = (uint8_t)rnd_below(r, 4);
        }
        frame->kinds = kinds;
    }
}

/* Equal in every bit of a float and in the order of maps, unlike ms_value_equals. */
static inline bool rnd_identical(const ms_value *a, const ms_value *b)
{
    if (a->is_null || b->is_null) {
        return a->is_null == b->is_null;
    }
    if (ms_type_is_nested(a->type)) {
        bool same = a->item_count == b->item_count;
        for (uint32_t i = 0; i < a->item_count && same; i++) {
            same = rnd_identical(&a->u.items[i], &b->u.items[i]);
        }
        return same;
    }
    if (a->type->phys == MS_PHYS_F32 || a->type->phys == MS_PHYS_F64) {
        return memcmp(&a->u.f, &b->u.f, sizeof(double)) == 0;
    }
    return ms_value_equals(a, b);
}

#endif
