/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparing values. Maps are compared after sorting their entries by key, so that large ones stay
 * cheap; the order used for that is any total order.
 */
#include "func/scalar.h"

#include "func/func_priv.h"

#include <stdlib.h>

static ms_order order_of_int(ms_i128 a, ms_i128 b)
{
    return a < b ? MS_ORDER_LESS : a > b ? MS_ORDER_GREATER : MS_ORDER_EQUAL;
}

static ms_order order_of_double(double a, double b)
{
    return a < b    ? MS_ORDER_LESS
           : a > b  ? MS_ORDER_GREATER
           : a == b ? MS_ORDER_EQUAL
                    : MS_ORDER_NONE;
}

static bool is_float(const ms_value *value)
{
    return value->type->phys == MS_PHYS_F32 || value->type->phys == MS_PHYS_F64;
}

static double as_double(const ms_value *value)
{
    return is_float(value) ? value->u.f : ms_decimal_to_double(msi_value_decimal(value));
}

ms_order ms_scalar_order(const ms_value *a, const ms_value *b)
{
    if (is_float(a) || is_float(b)) {
        return order_of_double(as_double(a), as_double(b));
    }
    if (a->type->phys == MS_PHYS_STR) {
        return order_of_int(ms_str_compare(a->u.str, b->u.str), 0);
    }
    if (a->type->kind == MS_TYPE_DECIMAL || b->type->kind == MS_TYPE_DECIMAL) {
        return order_of_int(ms_decimal_compare(msi_value_decimal(a), msi_value_decimal(b)), 0);
    }
    return order_of_int(a->u.i, b->u.i);
}

/* An entry of a map for sorting. */
typedef struct entry {
    const ms_value *key;
    const ms_value *value;
} entry;

static int compare_keys(const void *a, const void *b)
{
    return ms_value_compare(((const entry *)a)->key, ((const entry *)b)->key);
}

static const entry *sorted_entries(ms_arena *scratch, const ms_value *map)
{
    uint32_t count = map->item_count / 2;
    entry *list = ms_arena_array(scratch, entry, count);
    for (uint32_t i = 0; i < count; i++) {
        list[i] = (entry){&map->u.items[(size_t)2 * i], &map->u.items[(size_t)2 * i + 1]};
    }
    if (count > 1) {
        qsort(list, count, sizeof(entry), compare_keys);
    }
    return list;
}

static bool items_equal(ms_arena *scratch, const ms_value *a, const ms_value *b)
{
    if (a->is_null || b->is_null) {
        return a->is_null && b->is_null;
    }
    return ms_scalar_equals(scratch, a, b);
}

static bool maps_equal(ms_arena *scratch, const ms_value *a, const ms_value *b)
{
    const entry *list_a = sorted_entries(scratch, a);
    const entry *list_b = sorted_entries(scratch, b);
    for (uint32_t i = 0; i < a->item_count / 2; i++) {
        if (!items_equal(scratch, list_a[i].key, list_b[i].key) ||
            !items_equal(scratch, list_a[i].value, list_b[i].value)) {
            return false;
        }
    }
    return true;
}

bool ms_scalar_equals(ms_arena *scratch, const ms_value *a, const ms_value *b)
{
    if (!ms_type_is_nested(a->type)) {
        return ms_scalar_order(a, b) == MS_ORDER_EQUAL;
    }
    if (a->item_count != b->item_count) {
        return false;
    }
    if (a->type->kind == MS_TYPE_MAP || a->type->kind == MS_TYPE_MULTISET) {
        return maps_equal(scratch, a, b);
    }
    for (uint32_t i = 0; i < a->item_count; i++) {
        if (!items_equal(scratch, &a->u.items[i], &b->u.items[i])) {
            return false;
        }
    }
    return true;
}
