/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constructors and parts of nested values: ROW ARRAY MAP, ITEM (a[i], m[k]) and CARDINALITY.
 *
 * The result of a constructor is made anew for each batch in the batch's arena. A ROW borrows its
 * fields' vectors as they are; an ARRAY and a MAP copy their elements. Of equal keys in a MAP
 * constructor the last value counts, at the place of the first.
 */
/* tidy: no-unit-test: function_test.c of expr/ has its table */
#include "func/func_priv.h"
#include "func/scalar.h"

#include <stdlib.h>

/* Copies row `row` of a vector of any encoding to position `at` of a flat vector with room. */
static void copy_item(ms_arena *arena, ms_vec *dst, uint32_t at, uint32_t capacity,
                      const ms_vec *src, uint32_t row)
{
    if (ms_vec_is_null(src, row)) {
        ms_bit_clear(ms_vec_validity(dst), at);
        return;
    }
    if (ms_type_is_nested(src->type)) {
        ms_value value = ms_value_from_vec(arena, src, row);
        ms_value_to_vec(arena, &value, dst, at, capacity);
        return;
    }
    size_t bytes = ms_phys_bytes(src->phys);
    memcpy((char *)dst->data + at * bytes, (const char *)src->data + ms_vec_pos(src, row) * bytes,
           bytes);
}

/* ROW. */

static ms_rc infer_row(ms_fn_infer *in, ms_status *st)
{
    ms_arena *arena = msi_infer_arena(in);
    if (in->arg_count == 0 || msi_infer_has_null(in)) {
        return msi_infer_refuse(st);
    }
    ms_field *fields = ms_arena_array(arena, ms_field, in->arg_count);
    for (uint32_t i = 0; i < in->arg_count; i++) {
        fields[i].name = ms_arena_format(arena, "EXPR$%u", i);
        fields[i].type = in->arg_types[i];
    }
    in->result_type = ms_type_row(arena, fields, in->arg_count, false);
    return MS_OK;
}

static void eval_row(ms_fn_call *call)
{
    ms_vec *result = call->result;
    for (uint32_t i = 0; i < call->arg_count; i++) {
        const ms_type *type = result->children[i].type;
        result->children[i] = *call->args[i];
        result->children[i].type = type;
        result->children[i].owned = false;
    }
}

static ms_rc scalar_items(const ms_fn_scalar_call *call, ms_value *out, ms_status *st)
{
    ms_value *items = ms_arena_array(call->arena, ms_value, call->arg_count);
    (void)st;
    for (uint32_t i = 0; i < call->arg_count; i++) {
        items[i] = call->args[i];
    }
    out->item_count = call->arg_count;
    out->u.items = items;
    return MS_OK;
}

/* ARRAY. */

static ms_rc refuse_elements(const char *what, ms_status *st)
{
    return ms_status_set(st, MS_TYPE_MISMATCH, ms_span_none, "the %s have no common type", what);
}

static ms_rc infer_array(ms_fn_infer *in, ms_status *st)
{
    ms_arena *arena = msi_infer_arena(in);
    if (in->arg_count == 0) {
        return msi_infer_refuse(st);
    }
    const ms_type *common = ms_typing_common(arena, in->arg_types, in->arg_count);
    if (common == NULL || common->kind == MS_TYPE_NULL) {
        return refuse_elements("elements of ARRAY", st);
    }
    for (uint32_t i = 0; i < in->arg_count; i++) {
        bool nullable = in->arg_types[i]->nullable || in->arg_types[i]->kind == MS_TYPE_NULL;
        in->wanted[i] = ms_type_as_nullable(arena, common, nullable);
    }
    in->result_type = ms_type_array(arena, common, false);
    return MS_OK;
}

static void eval_array(ms_fn_call *call)
{
    ms_vec *result = call->result;
    ms_arena *arena = call->memory->arena;
    ms_list *lists = result->data;
    uint32_t count = call->arg_count;
    uint32_t live = ms_call_live(call);
    uint32_t at = ms_vec_list_reserve(result, live * count, arena);
    uint32_t end = at + live * count;
    MS_CALL_ROWS(call, row, {
        lists[row] = (ms_list){at, count};
        for (uint32_t i = 0; i < count; i++) {
            copy_item(arena, &result->children[0], at++, end, call->args[i], row);
        }
    });
}

/* MAP. */

static ms_rc infer_map(ms_fn_infer *in, ms_status *st)
{
    ms_arena *arena = msi_infer_arena(in);
    if (in->arg_count == 0 || in->arg_count % 2 != 0) {
        return msi_infer_refuse(st);
    }
    const ms_type **types = ms_arena_array(arena, const ms_type *, in->arg_count);
    uint32_t half = in->arg_count / 2;
    for (uint32_t i = 0; i < in->arg_count; i++) {
        types[(i % 2) * half + i / 2] = in->arg_types[i];
    }
    const ms_type *key = ms_typing_common(arena, types, half);
    const ms_type *value = ms_typing_common(arena, types + half, half);
    if (key == NULL || value == NULL || key->kind == MS_TYPE_NULL || value->kind == MS_TYPE_NULL) {
        return refuse_elements(
            key == NULL || key->kind == MS_TYPE_NULL ? "keys of MAP" : "values of MAP", st);
    }
    for (uint32_t i = 0; i < in->arg_count; i++) {
        bool nullable = in->arg_types[i]->nullable || in->arg_types[i]->kind == MS_TYPE_NULL;
        in->wanted[i] = ms_type_as_nullable(arena, i % 2 == 0 ? key : value, nullable);
    }
    in->result_type = ms_type_map(arena, key, value, false);
    return MS_OK;
}

/* A key of a MAP constructor: sorted to find equal ones. */
typedef struct map_key {
    ms_value key;
    uint32_t place; /* the entry's number */
    uint32_t last;  /* the number of the last entry with an equal key */
    bool is_first;
} map_key;

static int by_key(const void *a, const void *b)
{
    const map_key *x = a;
    const map_key *y = b;
    int order = ms_value_compare(&x->key, &y->key);
    return order != 0 ? order : (x->place > y->place) - (x->place < y->place);
}

static int by_place(const void *a, const void *b)
{
    const map_key *x = a;
    const map_key *y = b;
    return (x->place > y->place) - (x->place < y->place);
}

/* Says of each entry whether it stays and which value it gets. */
static void find_equal_keys(map_key *keys, uint32_t count)
{
    qsort(keys, count, sizeof(map_key), by_key);
    for (uint32_t i = 0; i < count;) {
        uint32_t end = i + 1;
        while (end < count && ms_value_compare(&keys[i].key, &keys[end].key) == 0) {
            end++;
        }
        for (uint32_t k = i; k < end; k++) {
            keys[k].is_first = k == i;
            keys[k].last = keys[end - 1].place;
        }
        i = end;
    }
    qsort(keys, count, sizeof(map_key), by_place);
}

static void eval_map(ms_fn_call *call)
{
    ms_vec *result = call->result;
    ms_arena *arena = call->memory->arena;
    ms_list *lists = result->data;
    uint32_t count = call->arg_count / 2;
    uint32_t live = ms_call_live(call);
    uint32_t at = ms_vec_list_reserve(result, live * count, arena);
    uint32_t end = at + live * count;
    map_key *keys = ms_arena_array(arena, map_key, count);
    MS_CALL_ROWS(call, row, {
        for (uint32_t i = 0; i < count; i++) {
            keys[i] = (map_key){.place = i};
            keys[i].key = ms_value_from_vec(arena, call->args[(size_t)2 * i], row);
        }
        find_equal_keys(keys, count);
        uint32_t start = at;
        for (uint32_t i = 0; i < count; i++) {
            if (keys[i].is_first) {
                copy_item(arena, &result->children[0], at, end, call->args[(size_t)2 * i], row);
                copy_item(arena, &result->children[1], at, end,
                          call->args[(size_t)2 * keys[i].last + 1], row);
                at++;
            }
        }
        lists[row] = (ms_list){start, at - start};
    });
}

/* Compares every pair of keys. */
static ms_rc scalar_map(const ms_fn_scalar_call *call, ms_value *out, ms_status *st)
{
    ms_value *items = ms_arena_array(call->arena, ms_value, call->arg_count);
    uint32_t count = 0;
    (void)st;
    for (uint32_t i = 0; i < call->arg_count; i += 2) {
        uint32_t k = 0;
        while (k < count && ms_value_compare(&items[k], &call->args[i]) != 0) {
            k += 2;
        }
        items[k] = k < count ? items[k] : call->args[i];
        items[k + 1] = call->args[i + 1];
        count += k == count ? 2 : 0;
    }
    out->item_count = count;
    out->u.items = items;
    return MS_OK;
}

/* ITEM. */

static ms_rc infer_item(ms_fn_infer *in, ms_status *st)
{
    ms_arena *arena = msi_infer_arena(in);
    if (in->arg_count != 2 || in->arg_types[1]->kind == MS_TYPE_NULL) {
        return msi_infer_refuse(st);
    }
    const ms_type *type = in->arg_types[0];
    const ms_type *index = in->arg_types[1];
    if (type->kind == MS_TYPE_ARRAY && ms_type_is_integer(index)) {
        const ms_value *constant = in->constants[1];
        if (constant != NULL && !constant->is_null && constant->u.i < 1) {
            return ms_status_set(st, MS_INVALID_ARGUMENT, ms_span_none,
                                 "an array index starts at 1");
        }
        in->wanted[1] = ms_type_simple(arena, MS_TYPE_BIGINT, index->nullable);
        in->result_type = ms_type_as_nullable(arena, type->children[0], true);
        return MS_OK;
    }
    if (type->kind == MS_TYPE_MAP && !ms_type_is_nested(index) &&
        ms_typing_common2(arena, type->children[0], index) != NULL) {
        in->result_type = ms_type_as_nullable(arena, type->children[1], true);
        return MS_OK;
    }
    return msi_infer_refuse(st);
}

static void eval_array_item(ms_fn_call *call)
{
    const ms_vec *array = call->args[0];
    ms_arg index = ms_arg_of(call, 1);
    const ms_list *lists = array->data;
    MS_CALL_ROWS(call, row, {
        ms_list list = lists[ms_vec_pos(array, row)];
        int64_t i = *MS_ARG_AT(index, int64_t, row);
        if (i < 1 || i > list.length) {
            ms_call_null(call, row);
            continue;
        }
        copy_item(call->memory->arena, call->result, row, call->rows, &array->children[0],
                  list.offset + (uint32_t)i - 1);
    });
}

/* The position of the value of a key in the children; false when there is none. */
static bool find_entry(const ms_fn_call *call, ms_list list, uint32_t row, uint32_t *at_out)
{
    const ms_vec *keys = &call->args[0]->children[0];
    bool is_text = keys->phys == MS_PHYS_STR;
    ms_arg wanted = ms_arg_of(call, 1);
    ms_value key =
        is_text ? (ms_value){0} : ms_value_from_vec(call->memory->arena, call->args[1], row);
    for (uint32_t i = list.length; i-- > 0;) {
        uint32_t at = list.offset + i;
        if (ms_vec_is_null(keys, at)) {
            continue;
        }
        bool found = false;
        if (is_text) {
            const ms_view *views = keys->data;
            found = ms_view_equals(&views[ms_vec_pos(keys, at)], MS_ARG_AT(wanted, ms_view, row));
        } else {
            ms_value candidate = ms_value_from_vec(call->memory->arena, keys, at);
            found = ms_scalar_equals(call->memory->arena, &candidate, &key);
        }
        if (found) {
            *at_out = at;
            return true;
        }
    }
    return false;
}

static void eval_map_item(ms_fn_call *call)
{
    const ms_vec *map = call->args[0];
    const ms_list *lists = map->data;
    MS_CALL_ROWS(call, row, {
        uint32_t at = 0;
        if (!find_entry(call, lists[ms_vec_pos(map, row)], row, &at)) {
            ms_call_null(call, row);
            continue;
        }
        copy_item(call->memory->arena, call->result, row, call->rows, &map->children[1], at);
    });
}

static ms_rc specialize_item(ms_fn_plan *plan, ms_status *st)
{
    (void)st;
    plan->eval = plan->arg_types[0]->kind == MS_TYPE_ARRAY ? eval_array_item : eval_map_item;
    plan->can_fail = false;
    return MS_OK;
}

static ms_rc scalar_item(const ms_fn_scalar_call *call, ms_value *out, ms_status *st)
{
    const ms_type *type = out->type;
    const ms_value *nested = &call->args[0];
    const ms_value *index = &call->args[1];
    const ms_value *found = NULL;
    (void)st;
    if (msi_scalar_is_null(call, out)) {
        return MS_OK;
    }
    if (nested->type->kind == MS_TYPE_ARRAY) {
        bool is_inside = index->u.i >= 1 && index->u.i <= nested->item_count;
        found = is_inside ? &nested->u.items[index->u.i - 1] : NULL;
    } else {
        for (uint32_t i = 0; i < nested->item_count; i += 2) {
            const ms_value *key = &nested->u.items[i];
            if (!key->is_null && ms_scalar_equals(call->arena, key, index)) {
                found = &nested->u.items[i + 1];
            }
        }
    }
    *out = found != NULL ? *found : ms_value_null(type);
    out->type = type;
    return MS_OK;
}

/* CARDINALITY. */

static void eval_cardinality(ms_fn_call *call)
{
    ms_arg a = ms_arg_of(call, 0);
    int32_t *out = call->result->data;
    MS_CALL_ROWS(call, row, { out[row] = (int32_t)MS_ARG_AT(a, ms_list, row)->length; });
}

static ms_rc scalar_cardinality(const ms_fn_scalar_call *call, ms_value *out, ms_status *st)
{
    (void)st;
    if (!msi_scalar_is_null(call, out)) {
        uint32_t per_item = call->args[0].type->kind == MS_TYPE_ARRAY ? 1 : 2;
        out->u.i = call->args[0].item_count / per_item;
    }
    return MS_OK;
}

static ms_rc specialize_safe(ms_fn_plan *plan, ms_status *st)
{
    (void)st;
    plan->can_fail = false;
    return MS_OK;
}

/* The table. */

static const ms_fn_signature signatures_any[] = {{"any...", ""}};
static const ms_fn_signature signatures_item[] = {{"array, integer", ""}, {"map, any", ""}};
static const ms_fn_signature signatures_cardinality[] = {
    {"array", "INT"}, {"map", "INT"}, {"multiset", "INT"}};

#define CONSTRUCTOR(fn_name, topic, scalar_fn)                                                     \
    {                                                                                              \
        .desc = &(const ms_fn_desc){MSI_SCALAR(fn_name),                                           \
                                    .flags = MSI_STEADY,                                           \
                                    MSI_SIGNATURES(signatures_any),                                \
                                    .infer = infer_##topic,                                        \
                                    .specialize = specialize_safe,                                 \
                                    .eval = eval_##topic},                                         \
        .scalar = (scalar_fn)                                                                      \
    }

const ms_fn msi_fns_nested[] = {
    CONSTRUCTOR("ROW", row, scalar_items),
    CONSTRUCTOR("ARRAY", array, scalar_items),
    CONSTRUCTOR("MAP", map, scalar_map),
    {.desc = &(const ms_fn_desc){MSI_SCALAR("ITEM"), .flags = MSI_STRICT,
                                 MSI_SIGNATURES(signatures_item), .infer = infer_item,
                                 .specialize = specialize_item},
     .scalar = scalar_item},
    {.desc = &(const ms_fn_desc){MSI_SCALAR("CARDINALITY"), .flags = MSI_STRICT,
                                 MSI_SIGNATURES(signatures_cardinality),
                                 .specialize = specialize_safe, .eval = eval_cardinality},
     .scalar = scalar_cardinality},
    {NULL, MS_FORM_NONE, NULL},
};
