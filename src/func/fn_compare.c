/* SPDX-License-Identifier: Apache-2.0 */
/*
 * = <> < <= > >= and IS [NOT] DISTINCT FROM.
 *
 * Both sides are cast to a common type where that loses nothing; exact numbers are compared by
 * value instead, since a common decimal type may have to give up digits. Text beside a date or
 * timestamp is read as one (the builder makes that cast give NULL for text that is none).
 */
/* tidy: no-unit-test: function_test.c of expr/ has its table */
#include "func/func_priv.h"
#include "func/kernels.h"
#include "func/scalar.h"

typedef struct compare_state {
    msi_compare_op op;
    bool narrow;
    const msi_binary *kernel;
    msi_scaled scaled_a;
    msi_scaled scaled_b;
    int32_t scale_a;
    int32_t scale_b;
    ms_fn_eval inner; /* of IS DISTINCT FROM: the equality */
    bool is_total;
} compare_state;

/* Types. */

static bool is_exact_mix(const ms_type *a, const ms_type *b)
{
    return (a->kind == MS_TYPE_DECIMAL || ms_type_is_integer(a)) &&
           (b->kind == MS_TYPE_DECIMAL || ms_type_is_integer(b)) &&
           (a->kind == MS_TYPE_DECIMAL || b->kind == MS_TYPE_DECIMAL);
}

/* The type that both sides are cast to; NULL to leave them. */
static const ms_type *common_side(ms_arena *arena, const ms_type *a, const ms_type *b)
{
    if (a->kind == MS_TYPE_DATE && ms_type_is_timestamp(b)) {
        return b;
    }
    if (b->kind == MS_TYPE_DATE && ms_type_is_timestamp(a)) {
        return a;
    }
    if (ms_type_is_character(a) && !ms_type_is_character(b)) {
        return b;
    }
    if (ms_type_is_character(b) && !ms_type_is_character(a)) {
        return a;
    }
    bool is_bytes = ms_type_is_character(a) || ms_type_is_binary(a);
    bool is_stored_alike = a->kind == b->kind && a->phys == b->phys && !ms_type_is_nested(a);
    return is_bytes || is_stored_alike ? NULL : ms_typing_common2(arena, a, b);
}

static void want_sides(ms_fn_infer *in)
{
    ms_arena *arena = msi_infer_arena(in);
    const ms_type *a = in->arg_types[0];
    const ms_type *b = in->arg_types[1];
    if (a->kind == MS_TYPE_NULL && b->kind == MS_TYPE_NULL) {
        in->wanted[0] = in->wanted[1] = ms_type_simple(arena, MS_TYPE_BOOLEAN, true);
        return;
    }
    if (a->kind == MS_TYPE_NULL || b->kind == MS_TYPE_NULL) {
        uint32_t which = a->kind == MS_TYPE_NULL ? 0 : 1;
        in->wanted[which] = ms_type_as_nullable(arena, in->arg_types[1 - which], true);
        return;
    }
    const ms_type *common = is_exact_mix(a, b) ? NULL : common_side(arena, a, b);
    for (uint32_t i = 0; i < 2; i++) {
        const ms_type *type = in->arg_types[i];
        if (common != NULL && !ms_type_same_shape(common, type)) {
            bool reads_text = ms_type_is_character(type);
            in->wanted[i] = ms_type_as_nullable(arena, common, type->nullable || reads_text);
        } else if (common == NULL && is_exact_mix(a, b) && type->kind != MS_TYPE_DECIMAL) {
            in->wanted[i] = ms_type_simple(arena, MS_TYPE_BIGINT, type->nullable);
        }
    }
}

static ms_rc infer_compare(ms_fn_infer *in, ms_comparison comparison, ms_status *st)
{
    if (in->arg_count != 2 ||
        !ms_typing_is_comparable(in->arg_types[0], in->arg_types[1], comparison)) {
        return msi_infer_refuse(st);
    }
    want_sides(in);
    bool nullable = in->wanted[0]->nullable || in->wanted[1]->nullable;
    in->result_type = ms_type_simple(msi_infer_arena(in), MS_TYPE_BOOLEAN, nullable);
    return MS_OK;
}

static ms_rc infer_equality(ms_fn_infer *in, ms_status *st)
{
    return infer_compare(in, MS_COMPARE_EQUALITY, st);
}

static ms_rc infer_order(ms_fn_infer *in, ms_status *st)
{
    return infer_compare(in, MS_COMPARE_ORDER, st);
}

static ms_rc infer_distinct(ms_fn_infer *in, ms_status *st)
{
    MS_TRY(infer_compare(in, MS_COMPARE_EQUALITY, st));
    in->result_type = ms_type_simple(msi_infer_arena(in), MS_TYPE_BOOLEAN, false);
    return MS_OK;
}

/* Evaluation. */

static bool holds(msi_compare_op op, ms_order order)
{
    switch (op) {
    case MSI_EQ:
        return order == MS_ORDER_EQUAL;
    case MSI_NE:
        return order != MS_ORDER_EQUAL;
    case MSI_LT:
        return order == MS_ORDER_LESS;
    case MSI_LE:
        return order == MS_ORDER_LESS || order == MS_ORDER_EQUAL;
    case MSI_GT:
        return order == MS_ORDER_GREATER;
    case MSI_GE:
        return order == MS_ORDER_GREATER || order == MS_ORDER_EQUAL;
    }
    MS_UNREACHABLE();
}

static bool holds_int(msi_compare_op op, int order)
{
    return holds(op, order < 0 ? MS_ORDER_LESS : order > 0 ? MS_ORDER_GREATER : MS_ORDER_EQUAL);
}

static void eval_kernel(ms_fn_call *call)
{
    const compare_state *state = call->state;
    msi_run_binary(state->kernel, call);
}

static void eval_decimal(ms_fn_call *call)
{
    const compare_state *state = call->state;
    bool is_dense = ms_call_is_dense(call);
    msi_kernel_compare_decimal(state->op, state->narrow, ms_arg_of(call, 0), state->scaled_a,
                               ms_arg_of(call, 1), state->scaled_b, call->result->data,
                               is_dense ? NULL : call->sel,
                               is_dense ? call->rows : call->sel_count);
}

/* Decimals whose common scale needs more than 128 bits. */
static void eval_decimal_far(ms_fn_call *call)
{
    const compare_state *state = call->state;
    ms_arg a = ms_arg_of(call, 0);
    ms_arg b = ms_arg_of(call, 1);
    uint8_t *out = call->result->data;
    MS_CALL_ROWS(call, row, {
        ms_decimal x = {msi_load_wide(a, state->scaled_a.phys, row), state->scale_a};
        ms_decimal y = {msi_load_wide(b, state->scaled_b.phys, row), state->scale_b};
        out[row] = holds_int(state->op, ms_decimal_compare(x, y));
    });
}

static void eval_string(ms_fn_call *call)
{
    const compare_state *state = call->state;
    ms_arg a = ms_arg_of(call, 0);
    ms_arg b = ms_arg_of(call, 1);
    uint8_t *out = call->result->data;
    if (state->op == MSI_EQ || state->op == MSI_NE) {
        bool wanted = state->op == MSI_EQ;
        MS_CALL_ROWS(call, row, {
            out[row] =
                ms_view_equals(MS_ARG_AT(a, ms_view, row), MS_ARG_AT(b, ms_view, row)) == wanted;
        });
        return;
    }
    MS_CALL_ROWS(call, row, {
        out[row] = holds_int(
            state->op, ms_view_compare(MS_ARG_AT(a, ms_view, row), MS_ARG_AT(b, ms_view, row)));
    });
}

/* Equality with one short string looks at the 16 bytes of the views only. */
static void eval_string_short(ms_fn_call *call)
{
    const compare_state *state = call->state;
    ms_arg a = ms_arg_of(call, 0);
    ms_arg b = ms_arg_of(call, 1);
    if (ms_arg_is_const(a)) {
        ms_arg exchanged = a;
        a = b;
        b = exchanged;
    }
    bool wanted = state->op == MSI_EQ;
    uint8_t *out = call->result->data;
    if (ms_call_is_dense(call) && !ms_arg_is_const(a)) {
        msi_kernel_view_equals_short(a.data, b.data, wanted, out, call->rows);
        return;
    }
    MS_CALL_ROWS(call, row, {
        out[row] = ms_view_equals(MS_ARG_AT(a, ms_view, row), MS_ARG_AT(b, ms_view, row)) == wanted;
    });
}

static void eval_nested(ms_fn_call *call)
{
    const compare_state *state = call->state;
    ms_arena *arena = call->memory->arena;
    uint8_t *out = call->result->data;
    MS_CALL_ROWS(call, row, {
        ms_value x = ms_value_from_vec(arena, call->args[0], row);
        ms_value y = ms_value_from_vec(arena, call->args[1], row);
        out[row] = ms_scalar_equals(arena, &x, &y) == (state->op == MSI_EQ);
    });
}

/* Choosing. */

static ms_fn_eval choose_decimal(const ms_fn_plan *plan, compare_state *state)
{
    int32_t p1 = 0;
    int32_t p2 = 0;
    ms_typing_decimal_of(plan->arg_types[0], &p1, &state->scale_a);
    ms_typing_decimal_of(plan->arg_types[1], &p2, &state->scale_b);
    int32_t scale = state->scale_a > state->scale_b ? state->scale_a : state->scale_b;
    int32_t digits_a = p1 + scale - state->scale_a;
    int32_t digits_b = p2 + scale - state->scale_b;
    int32_t digits = digits_a > digits_b ? digits_a : digits_b;
    state->scaled_a.phys = plan->arg_types[0]->phys;
    state->scaled_b.phys = plan->arg_types[1]->phys;
    if (digits > MS_TYPE_DECIMAL_PRECISION_MAX) {
        return eval_decimal_far;
    }
    state->scaled_a.factor = ms_decimal_pow10[scale - state->scale_a];
    state->scaled_b.factor = ms_decimal_pow10[scale - state->scale_b];
    state->narrow = digits <= MS_TYPE_DECIMAL_I64_PRECISION;
    state->is_total = true;
    return eval_decimal;
}

static bool is_short_text(const ms_value *value)
{
    return value != NULL && !value->is_null && value->u.str.bytes <= MS_VIEW_INLINE;
}

static ms_fn_eval choose(const ms_fn_plan *plan, compare_state *state)
{
    const ms_type *a = plan->arg_types[0];
    const ms_type *b = plan->arg_types[1];
    bool is_equality = state->op == MSI_EQ || state->op == MSI_NE;
    if (ms_type_is_nested(a)) {
        return is_equality ? eval_nested : NULL;
    }
    if (a->phys == MS_PHYS_STR) {
        bool is_short = is_short_text(plan->constants[0]) || is_short_text(plan->constants[1]);
        state->is_total = is_equality && is_short;
        return state->is_total ? eval_string_short : eval_string;
    }
    if (a->kind == MS_TYPE_DECIMAL || b->kind == MS_TYPE_DECIMAL) {
        bool is_same = a->phys == b->phys && msi_scale_of(a) == msi_scale_of(b);
        if (!is_same) {
            return choose_decimal(plan, state);
        }
    }
    state->kernel = msi_kernel_compare(state->op, a->phys);
    state->is_total = true;
    return state->kernel != NULL && a->phys == b->phys ? eval_kernel : NULL;
}

static ms_rc specialize_compare(ms_fn_plan *plan, msi_compare_op op, ms_status *st)
{
    compare_state *state = MSI_PLAN_NEW(plan, compare_state);
    state->op = op;
    plan->eval = choose(plan, state);
    plan->state = state;
    plan->can_fail = false;
    plan->is_total = state->is_total;
    return plan->eval != NULL ? MS_OK : msi_plan_unsupported(plan, st);
}

/* IS [NOT] DISTINCT FROM: equality where both have values, then the rows where one is NULL. */
static void eval_distinct(ms_fn_call *call)
{
    const compare_state *state = call->state;
    uint8_t *out = call->result->data;
    if (ms_call_join_validity(call)) {
        state->inner(call);
    }
    call->result->valid = NULL;
    ms_arg a = ms_arg_of(call, 0);
    ms_arg b = ms_arg_of(call, 1);
    if (a.valid == NULL && b.valid == NULL) {
        return;
    }
    bool when_equal = state->op == MSI_EQ;
    MS_CALL_ROWS(call, row, {
        bool null_a = ms_arg_is_null(a, row);
        bool null_b = ms_arg_is_null(b, row);
        if (null_a || null_b) {
            out[row] = (null_a && null_b) == when_equal;
        }
    });
}

static ms_rc specialize_distinct(ms_fn_plan *plan, msi_compare_op op, ms_status *st)
{
    MS_TRY(specialize_compare(plan, op, st));
    /* The state was made a moment ago, by us. */
    compare_state *state = MSI_PLAN_NEW(plan, compare_state);
    *state = *(const compare_state *)plan->state;
    state->inner = plan->eval;
    plan->state = state;
    plan->eval = eval_distinct;
    plan->is_total = false;
    return MS_OK;
}

/* One set of hooks an operator. */

static ms_rc scalar_compare(const ms_fn_scalar_call *call, msi_compare_op op, ms_value *out)
{
    const ms_value *a = &call->args[0];
    const ms_value *b = &call->args[1];
    if (msi_scalar_is_null(call, out)) {
        return MS_OK;
    }
    if (ms_type_is_nested(a->type)) {
        out->u.i = ms_scalar_equals(call->arena, a, b) == (op == MSI_EQ);
    } else {
        out->u.i = holds(op, ms_scalar_order(a, b));
    }
    return MS_OK;
}

static ms_rc scalar_distinct(const ms_fn_scalar_call *call, bool when_equal, ms_value *out)
{
    const ms_value *a = &call->args[0];
    const ms_value *b = &call->args[1];
    bool are_equal =
        a->is_null || b->is_null ? a->is_null && b->is_null : ms_scalar_equals(call->arena, a, b);
    out->u.i = are_equal == when_equal;
    return MS_OK;
}

#define HOOKS(topic, op)                                                                           \
    static ms_rc specialize_##topic(ms_fn_plan *plan, ms_status *st)                               \
    {                                                                                              \
        return specialize_compare(plan, op, st);                                                   \
    }                                                                                              \
    static ms_rc scalar_##topic(const ms_fn_scalar_call *call, ms_value *out, ms_status *st)       \
    {                                                                                              \
        (void)st;                                                                                  \
        return scalar_compare(call, op, out);                                                      \
    }

#define HOOKS_DISTINCT(topic, op)                                                                  \
    static ms_rc specialize_##topic(ms_fn_plan *plan, ms_status *st)                               \
    {                                                                                              \
        return specialize_distinct(plan, op, st);                                                  \
    }                                                                                              \
    static ms_rc scalar_##topic(const ms_fn_scalar_call *call, ms_value *out, ms_status *st)       \
    {                                                                                              \
        (void)st;                                                                                  \
        return scalar_distinct(call, (op) == MSI_EQ, out);                                         \
    }

HOOKS(eq, MSI_EQ)
HOOKS(ne, MSI_NE)
HOOKS(lt, MSI_LT)
HOOKS(le, MSI_LE)
HOOKS(gt, MSI_GT)
HOOKS(ge, MSI_GE)
HOOKS_DISTINCT(is_distinct, MSI_NE)
HOOKS_DISTINCT(is_not_distinct, MSI_EQ)

static const ms_fn_signature signatures_equality[] = {
    {"numeric, numeric", ""},   {"character, character", ""},
    {"binary, binary", ""},     {"boolean, boolean", ""},
    {"date, timestamp", ""},    {"timestamp, character", ""},
    {"interval, interval", ""}, {"row, row", ""},
    {"array, array", ""}};

#define OPERATOR(fn_name, topic, infer_fn, fn_flags)                                               \
    {                                                                                              \
        .desc = &(const ms_fn_desc){MSI_SCALAR(fn_name), .flags = (fn_flags),                      \
                                    MSI_SIGNATURES(signatures_equality), .infer = (infer_fn),      \
                                    .specialize = specialize_##topic},                             \
        .scalar = scalar_##topic                                                                   \
    }

const ms_fn msi_fns_compare[] = {
    OPERATOR("=", eq, infer_equality, MSI_STRICT),
    OPERATOR("<>", ne, infer_equality, MSI_STRICT),
    OPERATOR("<", lt, infer_order, MSI_STRICT),
    OPERATOR("<=", le, infer_order, MSI_STRICT),
    OPERATOR(">", gt, infer_order, MSI_STRICT),
    OPERATOR(">=", ge, infer_order, MSI_STRICT),
    OPERATOR("IS DISTINCT FROM", is_distinct, infer_distinct, MSI_STEADY),
    OPERATOR("IS NOT DISTINCT FROM", is_not_distinct, infer_distinct, MSI_STEADY),
    {NULL, MS_FORM_NONE, NULL},
};
