/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Single values: copying, to and from vectors, equality and order. The order here is the one that
 * the bytes of type/key.h have and that the hash of type/hash.h agrees with.
 *
 * MAP and MULTISET are unordered: two are equal when they have the same entries. They are compared
 * as their entries sorted by key, which makes the order a total one.
 */
#include "type/value.h"

#include "base/memory.h"
#include "type/time.h"
#include "type/type_priv.h"

#include <math.h>
#include <stdlib.h>

ms_value ms_value_null(const ms_type *type)
{
    return (ms_value){.type = type, .is_null = true};
}

ms_value ms_value_int(const ms_type *type, int64_t i)
{
    return (ms_value){.type = type, .u.i = i};
}

ms_value ms_value_double(const ms_type *type, double f)
{
    return (ms_value){.type = type, .u.f = f};
}

ms_value ms_value_str(const ms_type *type, ms_str str)
{
    return (ms_value){.type = type, .u.str = str};
}

ms_value ms_value_copy(ms_arena *arena, const ms_value *value)
{
    ms_value copy = *value;
    if (value->is_null) {
        return copy;
    }
    if (value->type->phys == MS_PHYS_STR) {
        copy.u.str = ms_arena_copy_str(arena, value->u.str);
    } else if (ms_type_is_nested(value->type)) {
        ms_value *items = ms_arena_array(arena, ms_value, value->item_count);
        for (uint32_t i = 0; i < value->item_count; i++) {
            items[i] = ms_value_copy(arena, &value->u.items[i]);
        }
        copy.u.items = items;
    }
    return copy;
}

/* From vectors. */

/* The items of a list, child by child: key, value, key, value ... */
static void read_list(ms_arena *arena, const ms_vec *vec, uint32_t pos, ms_value *value)
{
    ms_list list = MS_VEC_DATA(vec, const ms_list)[pos];
    uint32_t width = vec->child_count;
    ms_value *items = ms_arena_array(arena, ms_value, (size_t)list.length * width);
    for (uint32_t i = 0; i < list.length; i++) {
        for (uint32_t c = 0; c < width; c++) {
            items[i * width + c] = ms_value_from_vec(arena, &vec->children[c], list.offset + i);
        }
    }
    value->item_count = list.length * width;
    value->u.items = items;
}

static void read_row(ms_arena *arena, const ms_vec *vec, uint32_t pos, ms_value *value)
{
    ms_value *items = ms_arena_array(arena, ms_value, vec->child_count);
    for (uint32_t c = 0; c < vec->child_count; c++) {
        items[c] = ms_value_from_vec(arena, &vec->children[c], pos);
    }
    value->item_count = vec->child_count;
    value->u.items = items;
}

ms_value ms_value_from_vec(ms_arena *arena, const ms_vec *vec, uint32_t row)
{
    ms_value value = {.type = vec->type};
    uint32_t pos = ms_vec_pos(vec, row);
    if (vec->phys == MS_PHYS_NONE || (vec->valid != NULL && !ms_bit_get(vec->valid, pos))) {
        value.is_null = true;
        return value;
    }
    switch (vec->phys) {
    case MS_PHYS_BOOL:
        value.u.i = MS_VEC_DATA(vec, const uint8_t)[pos];
        break;
    case MS_PHYS_I8:
        value.u.i = MS_VEC_DATA(vec, const int8_t)[pos];
        break;
    case MS_PHYS_I16:
        value.u.i = MS_VEC_DATA(vec, const int16_t)[pos];
        break;
    case MS_PHYS_I32:
        value.u.i = MS_VEC_DATA(vec, const int32_t)[pos];
        break;
    case MS_PHYS_I64:
        value.u.i = MS_VEC_DATA(vec, const int64_t)[pos];
        break;
    case MS_PHYS_I128:
        value.u.dec = MS_VEC_DATA(vec, const ms_i128)[pos];
        break;
    case MS_PHYS_F32:
        value.u.f = (double)MS_VEC_DATA(vec, const float)[pos];
        break;
    case MS_PHYS_F64:
        value.u.f = MS_VEC_DATA(vec, const double)[pos];
        break;
    case MS_PHYS_TS16:
        value.u.ts = MS_VEC_DATA(vec, const ms_ts16)[pos];
        break;
    case MS_PHYS_STR:
        value.u.str = ms_view_str(&MS_VEC_DATA(vec, const ms_view)[pos]);
        break;
    case MS_PHYS_LIST:
        read_list(arena, vec, pos, &value);
        break;
    case MS_PHYS_ROW:
        read_row(arena, vec, pos, &value);
        break;
    case MS_PHYS_NONE:
    case MS_PHYS_COUNT:
        MS_UNREACHABLE();
    }
    return value;
}

/* To vectors. */

static void write_list(ms_arena *arena, const ms_value *value, ms_vec *vec, uint32_t row)
{
    uint32_t width = vec->child_count;
    uint32_t length = value->item_count / width;
    uint32_t first = ms_vec_list_reserve(vec, length, arena);
    MS_VEC_DATA(vec, ms_list)[row] = (ms_list){first, length};
    for (uint32_t i = 0; i < value->item_count; i++) {
        ms_vec *child = &vec->children[i % width];
        ms_value_to_vec(arena, &value->u.items[i], child, first + i / width, child->capacity);
    }
}

void ms_value_to_vec(ms_arena *arena, const ms_value *value, ms_vec *vec, uint32_t row,
                     uint32_t capacity)
{
    MS_ASSERT(vec->encoding == MS_ENC_FLAT && row < capacity && capacity <= vec->capacity);
    if (value->is_null) {
        msi_vec_set_nulls(vec, row, 1);
        return;
    }
    if (vec->valid != NULL) {
        ms_bit_set(vec->valid, row);
    }
    switch (vec->phys) {
    case MS_PHYS_BOOL:
        MS_VEC_DATA(vec, uint8_t)[row] = value->u.i != 0;
        break;
    case MS_PHYS_I8:
        MS_VEC_DATA(vec, int8_t)[row] = (int8_t)value->u.i;
        break;
    case MS_PHYS_I16:
        MS_VEC_DATA(vec, int16_t)[row] = (int16_t)value->u.i;
        break;
    case MS_PHYS_I32:
        MS_VEC_DATA(vec, int32_t)[row] = (int32_t)value->u.i;
        break;
    case MS_PHYS_I64:
        MS_VEC_DATA(vec, int64_t)[row] = value->u.i;
        break;
    case MS_PHYS_I128:
        MS_VEC_DATA(vec, ms_i128)[row] = value->u.dec;
        break;
    case MS_PHYS_F32:
        MS_VEC_DATA(vec, float)[row] = (float)value->u.f;
        break;
    case MS_PHYS_F64:
        MS_VEC_DATA(vec, double)[row] = value->u.f;
        break;
    case MS_PHYS_TS16:
        MS_VEC_DATA(vec, ms_ts16)[row] = value->u.ts;
        break;
    case MS_PHYS_STR:
        MS_VEC_DATA(vec, ms_view)
        [row] = ms_view_make(value->u.str.ptr, (uint32_t)value->u.str.bytes);
        break;
    case MS_PHYS_LIST:
        write_list(arena, value, vec, row);
        break;
    case MS_PHYS_ROW:
        for (uint32_t c = 0; c < vec->child_count; c++) {
            ms_value_to_vec(arena, &value->u.items[c], &vec->children[c], row, capacity);
        }
        break;
    case MS_PHYS_NONE:
    case MS_PHYS_COUNT:
        MS_UNREACHABLE();
    }
}

/* Order. */

static int compare_doubles(double a, double b)
{
    if (isnan(a) || isnan(b)) {
        return (isnan(a) != 0) - (isnan(b) != 0);
    }
    return (a > b) - (a < b);
}

/* Elements or fields in turn; a proper prefix sorts first. */
static int compare_items(const ms_value *a, uint32_t count_a, const ms_value *b, uint32_t count_b)
{
    for (uint32_t i = 0; i < count_a && i < count_b; i++) {
        int order = ms_value_compare(&a[i], &b[i]);
        if (order != 0) {
            return order;
        }
    }
    return (count_a > count_b) - (count_a < count_b);
}

static int compare_entries(const void *a, const void *b)
{
    return compare_items(a, 2, b, 2);
}

/* The entries of a map in the order of their keys; freed by the caller. */
static ms_value *sorted_entries(const ms_value *map)
{
    ms_value *entries = ms_mem_calloc(map->item_count, sizeof(*entries));
    if (map->item_count > 0) {
        memcpy(entries, map->u.items, map->item_count * sizeof(*entries));
        qsort(entries, map->item_count / 2, 2 * sizeof(*entries), compare_entries);
    }
    return entries;
}

static int compare_maps(const ms_value *a, const ms_value *b)
{
    ms_value *entries_a = sorted_entries(a);
    ms_value *entries_b = sorted_entries(b);
    int order = compare_items(entries_a, a->item_count, entries_b, b->item_count);
    ms_mem_free(entries_a);
    ms_mem_free(entries_b);
    return order;
}

int ms_value_compare(const ms_value *a, const ms_value *b)
{
    MS_ASSERT_SLOW(a->type->phys == b->type->phys);
    if (a->is_null || b->is_null) {
        return (int)b->is_null - (int)a->is_null;
    }
    switch (a->type->phys) {
    case MS_PHYS_BOOL:
    case MS_PHYS_I8:
    case MS_PHYS_I16:
    case MS_PHYS_I32:
    case MS_PHYS_I64:
        return (a->u.i > b->u.i) - (a->u.i < b->u.i);
    case MS_PHYS_I128:
        return (a->u.dec > b->u.dec) - (a->u.dec < b->u.dec);
    case MS_PHYS_F32:
    case MS_PHYS_F64:
        return compare_doubles(a->u.f, b->u.f);
    case MS_PHYS_TS16:
        return ms_time_compare_ts(a->u.ts, b->u.ts);
    case MS_PHYS_STR:
        return ms_str_compare(a->u.str, b->u.str);
    case MS_PHYS_ROW:
        return compare_items(a->u.items, a->item_count, b->u.items, b->item_count);
    case MS_PHYS_LIST:
        return a->type->kind == MS_TYPE_ARRAY
                   ? compare_items(a->u.items, a->item_count, b->u.items, b->item_count)
                   : compare_maps(a, b);
    case MS_PHYS_NONE:
        return 0;
    case MS_PHYS_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

bool ms_value_equals(const ms_value *a, const ms_value *b)
{
    return ms_value_compare(a, b) == 0;
}
