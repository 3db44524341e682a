/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NOT, the IS tests, and IN over constants. AND and OR are forms: they choose what runs
 * (fn_form.c).
 *
 * IN keeps its constants in a hash table made when the call is specialized; found is TRUE, a NULL
 * in the list makes everything else NULL. NaN is in no list, and -0.0 is where 0.0 is.
 */
/* tidy: no-unit-test: function_test.c of expr/ has its table */
#include "func/func_priv.h"
#include "func/kernels.h"
#include "func/scalar.h"
#include "type/hash.h"

/* NOT. */

static void eval_not(ms_fn_call *call)
{
    msi_run_unary(msi_kernel_not(), call);
}

static ms_rc specialize_not(ms_fn_plan *plan, ms_status *st)
{
    (void)st;
    plan->eval = eval_not;
    plan->can_fail = false;
    plan->is_total = true;
    return MS_OK;
}

static ms_rc scalar_not(const ms_fn_scalar_call *call, ms_value *out, ms_status *st)
{
    (void)st;
    if (!msi_scalar_is_null(call, out)) {
        out->u.i = !call->args[0].u.i;
    }
    return MS_OK;
}

/* IS tests: what they answer for NULL, FALSE and TRUE. */

typedef struct is_state {
    bool on_null;
    bool on_false;
    bool on_true;
    bool tests_value;
} is_state;

static void eval_is(ms_fn_call *call)
{
    const is_state *state = call->state;
    ms_arg a = ms_arg_of(call, 0);
    uint8_t *out = call->result->data;
    if (!state->tests_value && a.valid == NULL) {
        MS_CALL_ROWS(call, row, { out[row] = state->on_true; });
        return;
    }
    if (!state->tests_value) {
        MS_CALL_ROWS(call, row,
                     { out[row] = ms_arg_is_null(a, row) ? state->on_null : state->on_true; });
        return;
    }
    MS_CALL_ROWS(call, row, {
        bool value = !ms_arg_is_null(a, row) && *MS_ARG_AT(a, uint8_t, row) != 0;
        out[row] = ms_arg_is_null(a, row) ? state->on_null
                   : value                ? state->on_true
                                          : state->on_false;
    });
}

#define IS(topic, null_answer, false_answer, true_answer, value)                                   \
    static ms_rc specialize_##topic(ms_fn_plan *plan, ms_status *st)                               \
    {                                                                                              \
        static const is_state state = {null_answer, false_answer, true_answer, value};             \
        (void)st;                                                                                  \
        plan->state = &state;                                                                      \
        plan->can_fail = false;                                                                    \
        return MS_OK;                                                                              \
    }                                                                                              \
    static ms_rc scalar_##topic(const ms_fn_scalar_call *call, ms_value *out, ms_status *st)       \
    {                                                                                              \
        static const bool answers[] = {false_answer, true_answer, null_answer};                    \
        (void)st;                                                                                  \
        out->u.i = answers[truth_of(&call->args[0], value)];                                       \
        return MS_OK;                                                                              \
    }

/* 0 FALSE, 1 TRUE, 2 NULL; a test that does not look at the value takes it for TRUE. */
static int truth_of(const ms_value *value, bool looks)
{
    return value->is_null ? 2 : !looks || value->u.i != 0;
}

IS(is_null, true, false, false, false)
IS(is_not_null, false, true, true, false)
IS(is_true, false, false, true, true)
IS(is_not_true, true, true, false, true)
IS(is_false, false, true, false, true)
IS(is_not_false, true, false, true, true)

/* IN. */

typedef struct in_set {
    const ms_type *type;
    bool has_null;
    uint32_t mask;
    const uint32_t *slots; /* index of an item plus 1; 0 is free */
    const ms_value *items;
    uint32_t item_count;
} in_set;

/* The key that an item and a row are hashed by: equal values have equal keys. */
static uint64_t key_of_double(double f)
{
    uint64_t bits = 0;
    f += 0.0; /* -0.0 becomes 0.0 */
    memcpy(&bits, &f, sizeof(bits));
    return ms_hash_mix(bits);
}

static uint64_t key_of_value(const ms_value *value)
{
    switch (value->type->phys) {
    case MS_PHYS_STR:
        return ms_str_hash(value->u.str);
    case MS_PHYS_F32:
    case MS_PHYS_F64:
        return key_of_double(value->u.f);
    case MS_PHYS_I128:
        return ms_hash_mix((uint64_t)value->u.dec);
    case MS_PHYS_BOOL:
    case MS_PHYS_I8:
    case MS_PHYS_I16:
    case MS_PHYS_I32:
    case MS_PHYS_I64:
        return ms_hash_mix((uint64_t)value->u.i);
    case MS_PHYS_NONE:
    case MS_PHYS_TS16:
    case MS_PHYS_LIST:
    case MS_PHYS_ROW:
    case MS_PHYS_COUNT:
        break;
    }
    return 0; /* nested values are few; one bucket */
}

static bool set_has(const in_set *set, ms_arena *scratch, const ms_value *value)
{
    uint64_t key = key_of_value(value);
    for (uint32_t slot = (uint32_t)key & set->mask; set->slots[slot] != 0;
         slot = (slot + 1) & set->mask) {
        if (ms_scalar_equals(scratch, value, &set->items[set->slots[slot] - 1])) {
            return true;
        }
    }
    return false;
}

static void set_add(in_set *set, uint32_t *slots, const ms_value *value, uint32_t index)
{
    uint32_t slot = (uint32_t)key_of_value(value) & set->mask;
    while (slots[slot] != 0) {
        slot = (slot + 1) & set->mask;
    }
    slots[slot] = index + 1;
}

/* What row `row` of the argument is, without allocating unless it is nested. */
static ms_value value_at(const ms_fn_call *call, ms_arg arg, const ms_type *type, uint32_t row)
{
    switch (type->phys) {
    case MS_PHYS_STR:
        return ms_value_str(type, ms_view_str(MS_ARG_AT(arg, ms_view, row)));
    case MS_PHYS_F32:
        return ms_value_double(type, (double)*MS_ARG_AT(arg, float, row));
    case MS_PHYS_F64:
        return ms_value_double(type, *MS_ARG_AT(arg, double, row));
    case MS_PHYS_BOOL:
    case MS_PHYS_I8:
    case MS_PHYS_I16:
    case MS_PHYS_I32:
    case MS_PHYS_I64:
        return ms_value_int(type, msi_load_int(arg, type->phys, row));
    case MS_PHYS_NONE:
    case MS_PHYS_I128:
    case MS_PHYS_TS16:
    case MS_PHYS_LIST:
    case MS_PHYS_ROW:
    case MS_PHYS_COUNT:
        break;
    }
    return ms_value_from_vec(call->memory->arena, call->args[0], row);
}

static void eval_in(ms_fn_call *call)
{
    const in_set *set = call->state;
    ms_arg a = ms_arg_of(call, 0);
    uint8_t *out = call->result->data;
    MS_CALL_ROWS(call, row, {
        if (ms_arg_is_null(a, row)) {
            ms_call_null(call, row);
            continue;
        }
        ms_value value = value_at(call, a, set->type, row);
        out[row] = set_has(set, call->memory->arena, &value);
        if (!out[row] && set->has_null) {
            ms_call_null(call, row);
        }
    });
}

static ms_rc infer_in(ms_fn_infer *in, ms_status *st)
{
    ms_arena *arena = msi_infer_arena(in);
    if (in->arg_count < 2) {
        return msi_infer_refuse(st);
    }
    const ms_type *common = ms_typing_common(arena, in->arg_types, in->arg_count);
    if (common == NULL || common->kind == MS_TYPE_NULL) {
        return msi_infer_refuse(st);
    }
    for (uint32_t i = 0; i < in->arg_count; i++) {
        const ms_type *type = in->arg_types[i];
        bool nullable = type->nullable || type->kind == MS_TYPE_NULL;
        bool is_text = common->phys == MS_PHYS_STR && type->kind != MS_TYPE_NULL;
        in->wanted[i] = is_text ? type : ms_type_as_nullable(arena, common, nullable);
    }
    in->result_type = ms_type_simple(arena, MS_TYPE_BOOLEAN, common->nullable);
    return MS_OK;
}

static ms_rc specialize_in(ms_fn_plan *plan, ms_status *st)
{
    ms_arena *arena = plan->memory->arena;
    in_set *set = MSI_PLAN_NEW(plan, in_set);
    uint32_t capacity = 4;
    while (capacity < plan->arg_count * 2) {
        capacity *= 2;
    }
    uint32_t *slots = ms_arena_array(arena, uint32_t, capacity);
    ms_value *items = ms_arena_array(arena, ms_value, plan->arg_count);
    set->type = plan->arg_types[0];
    set->mask = capacity - 1;
    set->slots = slots;
    set->items = items;
    for (uint32_t i = 1; i < plan->arg_count; i++) {
        if (plan->constants[i] == NULL) {
            return ms_status_set(st, MS_INTERNAL, ms_span_none, "IN over what is not constant");
        }
        if (plan->constants[i]->is_null) {
            set->has_null = true;
            continue;
        }
        if (!set_has(set, arena, plan->constants[i])) {
            items[set->item_count] = ms_value_copy(arena, plan->constants[i]);
            set_add(set, slots, plan->constants[i], set->item_count++);
        }
    }
    plan->state = set;
    plan->eval = eval_in;
    plan->can_fail = false;
    return MS_OK;
}

static ms_rc scalar_in(const ms_fn_scalar_call *call, ms_value *out, ms_status *st)
{
    bool has_null = false;
    (void)st;
    if (call->args[0].is_null) {
        out->is_null = true;
        return MS_OK;
    }
    for (uint32_t i = 1; i < call->arg_count; i++) {
        if (call->args[i].is_null) {
            has_null = true;
        } else if (ms_scalar_equals(call->arena, &call->args[0], &call->args[i])) {
            out->u.i = 1;
            return MS_OK;
        }
    }
    out->is_null = has_null;
    return MS_OK;
}

/* The table. */

static const ms_fn_signature signatures_boolean[] = {{"boolean", "BOOLEAN"}};
static const ms_fn_signature signatures_any[] = {{"any", "BOOLEAN"}};
static const ms_fn_signature signatures_in[] = {{"any, any...", ""}};

#define IS_TEST(fn_name, topic, list)                                                              \
    {                                                                                              \
        .desc = &(const ms_fn_desc){MSI_SCALAR(fn_name),                                           \
                                    .flags = MSI_STEADY,                                           \
                                    .nullability = MS_FN_NULLABLE_NEVER,                           \
                                    MSI_SIGNATURES(list),                                          \
                                    .specialize = specialize_##topic,                              \
                                    .eval = eval_is},                                              \
        .scalar = scalar_##topic                                                                   \
    }

const ms_fn msi_fns_logic[] = {
    {.desc = &(const ms_fn_desc){MSI_SCALAR("NOT"), .flags = MSI_STRICT,
                                 MSI_SIGNATURES(signatures_boolean), .specialize = specialize_not},
     .scalar = scalar_not},
    IS_TEST("IS NULL", is_null, signatures_any),
    IS_TEST("IS NOT NULL", is_not_null, signatures_any),
    IS_TEST("IS TRUE", is_true, signatures_boolean),
    IS_TEST("IS NOT TRUE", is_not_true, signatures_boolean),
    IS_TEST("IS FALSE", is_false, signatures_boolean),
    IS_TEST("IS NOT FALSE", is_not_false, signatures_boolean),
    IS_TEST("IS UNKNOWN", is_null, signatures_boolean),
    IS_TEST("IS NOT UNKNOWN", is_not_null, signatures_boolean),
    {.desc =
         &(const ms_fn_desc){MSI_SCALAR("IN"), .flags = MSI_STEADY, MSI_SIGNATURES(signatures_in),
                             .infer = infer_in, .specialize = specialize_in},
     .form = MS_FORM_IN,
     .scalar = scalar_in},
    {NULL, MS_FORM_NONE, NULL},
};
