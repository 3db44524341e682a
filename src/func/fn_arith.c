/* SPDX-License-Identifier: Apache-2.0 */
/*
 * + - * / % MOD, unary + and -, and ABS over numbers. (Dates and intervals are in fn_interval.c,
 * which these hand over to.) Integers wrap, or fail where the session asks for it; division of
 * integers and decimals by zero fails; floats follow IEEE 754; a decimal that does not fit its type
 * becomes NULL.
 *
 * Decimals have three classes, chosen when the call is specialized: results of up to 18 digits in
 * 64 bits, of up to 38 in 128 bits, neither of which can overflow by the choice of the result type;
 * and results whose type was cut to 38 digits, which are computed in 256 bits and checked.
 */
/* tidy: no-unit-test: function_test.c of expr/ has its table */
#include "func/fn_arith.h"

#include "func/func_priv.h"
#include "func/kernels.h"

/* What eval needs to know. */
typedef struct arith_state {
    ms_arith op;
    ms_phys phys; /* of both operands, for integers and floats */
    ms_phys to;
    bool overflow_is_error;
    bool needs_check; /* integers: look for rows that wrapped */
    const msi_binary *kernel;
    const msi_unary *unary;
    msi_divisor divisor;
    /* Decimals. */
    ms_phys phys_a;
    ms_phys phys_b;
    int32_t scale_a;
    int32_t scale_b;
    int32_t precision;
    int32_t scale;
    msi_scaled scaled_a;
    msi_scaled scaled_b;
} arith_state;

/* Types. */

/*
 * What the kernels take: integers and floats in the common type; exact numbers beside a decimal as
 * they are, integers widened to BIGINT.
 */
static void want_operands(ms_fn_infer *in)
{
    ms_arena *arena = msi_infer_arena(in);
    const ms_type *a = in->arg_types[0];
    const ms_type *b = in->arg_types[1];
    bool has_decimal = a->kind == MS_TYPE_DECIMAL || b->kind == MS_TYPE_DECIMAL;
    const ms_type *common = ms_typing_common2(arena, a, b);
    for (uint32_t i = 0; i < 2; i++) {
        const ms_type *type = in->arg_types[i];
        if (!has_decimal || common->kind == MS_TYPE_DOUBLE) {
            in->wanted[i] = ms_type_as_nullable(arena, common, type->nullable);
        } else if (type->kind != MS_TYPE_DECIMAL) {
            in->wanted[i] = ms_type_simple(arena, MS_TYPE_BIGINT, type->nullable);
        }
    }
}

static ms_rc infer_arith(ms_fn_infer *in, ms_arith op, ms_status *st)
{
    const ms_type *result =
        ms_typing_arith(msi_infer_arena(in), op, in->arg_types[0], in->arg_types[1]);
    if (result == NULL) {
        return msi_infer_temporal(in, op, st);
    }
    in->result_type = result;
    want_operands(in);
    return MS_OK;
}

static ms_rc infer_add(ms_fn_infer *in, ms_status *st)
{
    if (in->arg_count == 1) {
        in->result_type = in->arg_types[0];
        return ms_type_is_numeric(in->arg_types[0]) || ms_type_is_interval(in->arg_types[0])
                   ? MS_OK
                   : msi_infer_refuse(st);
    }
    return in->arg_count == 2 ? infer_arith(in, MS_ARITH_ADD, st) : msi_infer_refuse(st);
}

static ms_rc infer_sub(ms_fn_infer *in, ms_status *st)
{
    return in->arg_count == 1   ? infer_add(in, st)
           : in->arg_count == 2 ? infer_arith(in, MS_ARITH_SUB, st)
                                : msi_infer_refuse(st);
}

static ms_rc infer_mul(ms_fn_infer *in, ms_status *st)
{
    return in->arg_count == 2 ? infer_arith(in, MS_ARITH_MUL, st) : msi_infer_refuse(st);
}

static ms_rc infer_div(ms_fn_infer *in, ms_status *st)
{
    return in->arg_count == 2 ? infer_arith(in, MS_ARITH_DIV, st) : msi_infer_refuse(st);
}

static ms_rc infer_mod(ms_fn_infer *in, ms_status *st)
{
    return in->arg_count == 2 ? infer_arith(in, MS_ARITH_MOD, st) : msi_infer_refuse(st);
}

static ms_rc infer_abs(ms_fn_infer *in, ms_status *st)
{
    return in->arg_count == 1 ? infer_add(in, st) : msi_infer_refuse(st);
}

/* Evaluating integers and floats. */

/* The exact result of an operation on two int64, or that it is none. */
static bool exact_int(ms_arith op, int64_t x, int64_t y, int64_t *out)
{
    switch (op) {
    case MS_ARITH_ADD:
        return !__builtin_add_overflow(x, y, out);
    case MS_ARITH_SUB:
        return !__builtin_sub_overflow(x, y, out);
    case MS_ARITH_MUL:
        return !__builtin_mul_overflow(x, y, out);
    case MS_ARITH_DIV:
        if (y == -1) {
            return !__builtin_sub_overflow(INT64_C(0), x, out);
        }
        *out = x / y;
        return true;
    case MS_ARITH_MOD:
        *out = y == -1 ? 0 : x % y;
        return true;
    }
    MS_UNREACHABLE();
}

static void report_overflow(ms_fn_call *call, const arith_state *state, uint32_t row)
{
    call->overflows++;
    if (state->overflow_is_error) {
        ms_call_fail(call, row, MS_NUMERIC_OUT_OF_RANGE);
    }
}

/* A kernel saw signs of overflow: finds the live rows that did. */
static void find_overflows(ms_fn_call *call, const arith_state *state)
{
    ms_arg a = ms_arg_of(call, 0);
    ms_arg b = ms_arg_of(call, 1);
    int64_t low = msi_int_min(state->phys);
    int64_t high = msi_int_max(state->phys);
    MS_CALL_ROWS(call, row, {
        int64_t exact = 0;
        bool fits = exact_int(state->op, msi_load_int(a, state->phys, row),
                              msi_load_int(b, state->phys, row), &exact);
        if (!fits || exact < low || exact > high) {
            report_overflow(call, state, row);
        }
    });
}

static void eval_binary(ms_fn_call *call)
{
    const arith_state *state = call->state;
    uint64_t seen = msi_run_binary(state->kernel, call);
    if (state->needs_check && seen != 0) {
        find_overflows(call, state);
    }
}

/* Division by what is not known: one row at a time. */
static void eval_divide_int(ms_fn_call *call)
{
    const arith_state *state = call->state;
    ms_arg a = ms_arg_of(call, 0);
    ms_arg b = ms_arg_of(call, 1);
    int64_t high = msi_int_max(state->phys);
    void *out = call->result->data;
    MS_CALL_ROWS(call, row, {
        int64_t x = msi_load_int(a, state->phys, row);
        int64_t y = msi_load_int(b, state->phys, row);
        if (y == 0) {
            ms_call_fail(call, row, MS_DIVISION_BY_ZERO);
            continue;
        }
        int64_t exact = 0;
        bool fits = exact_int(state->op, x, y, &exact);
        msi_store_int(out, state->to, row, fits ? exact : x);
        if (!fits || exact > high) {
            report_overflow(call, state, row);
        }
    });
}

/* The rows that a kernel gets: all positions, or the selected ones. */
static const uint16_t *kernel_rows(const ms_fn_call *call, uint32_t *count_out)
{
    bool is_dense = ms_call_is_dense(call);
    *count_out = is_dense ? call->rows : call->sel_count;
    return is_dense ? NULL : call->sel;
}

static void eval_divide_const(ms_fn_call *call)
{
    const arith_state *state = call->state;
    uint32_t count = 0;
    const uint16_t *sel = kernel_rows(call, &count);
    void *out = call->result->data;
    ms_arg a = ms_arg_of(call, 0);
    bool done =
        state->op == MS_ARITH_DIV
            ? msi_kernel_divide_const(&state->divisor, state->phys, a, out, sel, count)
            : msi_kernel_modulo_const(&state->divisor, state->phys, state->to, a, out, sel, count);
    MS_ASSERT(done);
}

/* Evaluating decimals. */

static msi_arith_op kernel_op(ms_arith op)
{
    return op == MS_ARITH_ADD ? MSI_ADD : op == MS_ARITH_SUB ? MSI_SUB : MSI_MUL;
}

static void eval_decimal(ms_fn_call *call)
{
    const arith_state *state = call->state;
    uint32_t count = 0;
    const uint16_t *sel = kernel_rows(call, &count);
    msi_kernel_decimal(kernel_op(state->op), state->to, ms_arg_of(call, 0), state->scaled_a,
                       ms_arg_of(call, 1), state->scaled_b, call->result->data, sel, count);
}

typedef bool (*decimal_fn)(ms_decimal a, ms_decimal b, int32_t precision, int32_t scale,
                           ms_i128 *unscaled_out);

static decimal_fn decimal_fn_of(ms_arith op)
{
    static const decimal_fn table[] = {
        [MS_ARITH_ADD] = ms_decimal_add,      [MS_ARITH_SUB] = ms_decimal_subtract,
        [MS_ARITH_MUL] = ms_decimal_multiply, [MS_ARITH_DIV] = ms_decimal_divide,
        [MS_ARITH_MOD] = ms_decimal_modulo,
    };
    return table[op];
}

/* A decimal that does not fit. */
static void report_lost(ms_fn_call *call, const arith_state *state, uint32_t row)
{
    call->overflows++;
    if (state->overflow_is_error) {
        ms_call_fail(call, row, MS_NUMERIC_OUT_OF_RANGE);
    } else {
        ms_call_null(call, row);
    }
}

static void eval_decimal_checked(ms_fn_call *call)
{
    const arith_state *state = call->state;
    ms_arg a = ms_arg_of(call, 0);
    ms_arg b = ms_arg_of(call, 1);
    decimal_fn apply = decimal_fn_of(state->op);
    bool divides = state->op == MS_ARITH_DIV || state->op == MS_ARITH_MOD;
    void *out = call->result->data;
    MS_CALL_ROWS(call, row, {
        ms_decimal x = {msi_load_wide(a, state->phys_a, row), state->scale_a};
        ms_decimal y = {msi_load_wide(b, state->phys_b, row), state->scale_b};
        ms_i128 unscaled = 0;
        if (divides && y.unscaled == 0) {
            ms_call_fail(call, row, MS_DIVISION_BY_ZERO);
        } else if (apply(x, y, state->precision, state->scale, &unscaled)) {
            msi_store_wide(out, state->to, row, unscaled);
        } else {
            report_lost(call, state, row);
        }
    });
}

/*
 * Division of 64-bit decimals whose scaled dividend has 38 digits at most. Rounding once, here, and
 * rounding first to 38 significant digits, as ms_decimal_divide() does, could differ only if the
 * quotient were nearer to a half than 10^(its digits - 38) without being one; but it is at least 1
 * / (2 * divisor) away, and a divisor of 64 bits and a quotient of 19 digits leave room. Longer
 * quotients go the other way.
 */
static bool divide_narrow(const arith_state *state, int64_t x, int64_t y, ms_i128 *out)
{
    ms_i128 dividend = x * state->scaled_a.factor;
    ms_i128 quotient = dividend / y;
    ms_i128 rest = dividend % y;
    if (quotient >= ms_decimal_pow10[19] || quotient <= -ms_decimal_pow10[19]) {
        return false;
    }
    bool is_up = (rest < 0 ? -rest : rest) * 2 >= (y < 0 ? -(ms_i128)y : y);
    bool is_negative = (x < 0) != (y < 0);
    *out = quotient + (is_up ? (is_negative ? -1 : 1) : 0);
    return true;
}

static void eval_divide_narrow(ms_fn_call *call)
{
    const arith_state *state = call->state;
    ms_arg a = ms_arg_of(call, 0);
    ms_arg b = ms_arg_of(call, 1);
    void *out = call->result->data;
    MS_CALL_ROWS(call, row, {
        int64_t x = *MS_ARG_AT(a, int64_t, row);
        int64_t y = *MS_ARG_AT(b, int64_t, row);
        ms_i128 unscaled = 0;
        if (y == 0) {
            ms_call_fail(call, row, MS_DIVISION_BY_ZERO);
            continue;
        }
        bool ok =
            (divide_narrow(state, x, y, &unscaled) &&
             ms_decimal_fits(unscaled, state->precision)) ||
            ms_decimal_divide((ms_decimal){x, state->scale_a}, (ms_decimal){y, state->scale_b},
                              state->precision, state->scale, &unscaled);
        if (ok) {
            msi_store_wide(out, state->to, row, unscaled);
        } else {
            report_lost(call, state, row);
        }
    });
}

/* Choosing. */

/* True when the result type is the operation's own, not cut to 38 digits. */
static bool is_uncut(const arith_state *state, const ms_fn_plan *plan)
{
    bool has_wide = state->phys_a == MS_PHYS_I128 || state->phys_b == MS_PHYS_I128;
    if (state->op == MS_ARITH_DIV || state->op == MS_ARITH_MOD ||
        (has_wide && state->to != MS_PHYS_I128)) {
        return false;
    }
    int32_t p1 = 0;
    int32_t s1 = 0;
    int32_t p2 = 0;
    int32_t s2 = 0;
    ms_typing_decimal_of(plan->arg_types[0], &p1, &s1);
    ms_typing_decimal_of(plan->arg_types[1], &p2, &s2);
    int32_t scale = state->op == MS_ARITH_MUL ? s1 + s2 : s1 > s2 ? s1 : s2;
    int32_t whole = p1 - s1 > p2 - s2 ? p1 - s1 : p2 - s2;
    int32_t precision = state->op == MS_ARITH_MUL ? p1 + p2 + 1 : whole + scale + 1;
    /* Integers were widened, so their digits may be overstated; a result below 38 was not cut. */
    return state->scale == scale && (state->precision < MS_TYPE_DECIMAL_PRECISION_MAX ||
                                     precision <= MS_TYPE_DECIMAL_PRECISION_MAX);
}

/* Both in 64 bits, and the dividend scaled for the result in 38 digits. */
static bool can_divide_narrow(arith_state *state, const ms_fn_plan *plan)
{
    int32_t precision = 0;
    int32_t scale = 0;
    ms_typing_decimal_of(plan->arg_types[0], &precision, &scale);
    int32_t up = state->scale - state->scale_a + state->scale_b;
    if (state->op != MS_ARITH_DIV || state->phys_a != MS_PHYS_I64 || state->phys_b != MS_PHYS_I64 ||
        up < 0 || precision + up > MS_TYPE_DECIMAL_PRECISION_MAX) {
        return false;
    }
    state->scaled_a = (msi_scaled){MS_PHYS_I64, ms_decimal_pow10[up]};
    return true;
}

static ms_rc specialize_decimal(ms_fn_plan *plan, arith_state *state)
{
    state->phys_a = plan->arg_types[0]->phys;
    state->phys_b = plan->arg_types[1]->phys;
    state->scale_a = msi_scale_of(plan->arg_types[0]);
    state->scale_b = msi_scale_of(plan->arg_types[1]);
    ms_typing_decimal_of(plan->result_type, &state->precision, &state->scale);
    if (!is_uncut(state, plan)) {
        bool divides = state->op == MS_ARITH_DIV || state->op == MS_ARITH_MOD;
        const ms_value *divisor = plan->constants[1];
        bool is_safe =
            divisor != NULL && !divisor->is_null && msi_value_decimal(divisor).unscaled != 0;
        plan->can_fail = state->overflow_is_error || (divides && !is_safe);
        plan->eval = can_divide_narrow(state, plan) ? eval_divide_narrow : eval_decimal_checked;
        return MS_OK;
    }
    bool scales = state->op != MS_ARITH_MUL;
    state->scaled_a =
        (msi_scaled){state->phys_a, ms_decimal_pow10[scales ? state->scale - state->scale_a : 0]};
    state->scaled_b =
        (msi_scaled){state->phys_b, ms_decimal_pow10[scales ? state->scale - state->scale_b : 0]};
    plan->eval = eval_decimal;
    plan->can_fail = false;
    plan->is_total = true;
    return MS_OK;
}

static ms_rc specialize_divide_int(ms_fn_plan *plan, arith_state *state)
{
    const ms_value *divisor = plan->constants[1];
    plan->eval = eval_divide_int;
    if (divisor == NULL || divisor->is_null || divisor->u.i == 0) {
        return MS_OK;
    }
    msi_divisor_make(&state->divisor, divisor->u.i, state->phys);
    plan->can_fail = state->overflow_is_error && divisor->u.i == -1;
    if (!state->divisor.is_unit) {
        plan->eval = eval_divide_const;
        plan->is_total = true;
    }
    return MS_OK;
}

static ms_rc specialize_arith(ms_fn_plan *plan, ms_arith op, ms_status *st)
{
    arith_state *state = MSI_PLAN_NEW(plan, arith_state);
    const ms_type *type = plan->arg_types[0];
    plan->state = state;
    state->op = op;
    state->phys = type->phys;
    state->to = plan->result_type->phys;
    state->overflow_is_error = plan->overflow_is_error;
    if (!ms_type_is_numeric(type) || !ms_type_is_numeric(plan->arg_types[1])) {
        return msi_specialize_temporal(plan, op, st);
    }
    if (type->kind == MS_TYPE_DECIMAL || plan->arg_types[1]->kind == MS_TYPE_DECIMAL) {
        return specialize_decimal(plan, state);
    }
    bool is_int = ms_type_is_integer(type);
    if (is_int && (op == MS_ARITH_DIV || op == MS_ARITH_MOD)) {
        return specialize_divide_int(plan, state);
    }
    state->kernel = op == MS_ARITH_DIV ? msi_kernel_divide_float(state->phys)
                                       : msi_kernel_arith(kernel_op(op), state->phys);
    state->needs_check = is_int;
    plan->can_fail = is_int && plan->overflow_is_error;
    plan->is_total = true;
    plan->eval = eval_binary;
    return state->kernel != NULL ? MS_OK : msi_plan_unsupported(plan, st);
}

/* Unary + leaves its argument alone. */
static void eval_copy(ms_fn_call *call)
{
    ms_arg a = ms_arg_of(call, 0);
    size_t bytes = ms_phys_bytes(call->result->phys);
    char *out = call->result->data;
    MS_CALL_ROWS(call, row, {
        memcpy(out + row * bytes, (const char *)a.data + (row & a.mask) * bytes, bytes);
    });
}

static void eval_unary(ms_fn_call *call)
{
    const arith_state *state = call->state;
    msi_run_unary(state->unary, call);
    if (!state->needs_check) {
        return;
    }
    ms_arg a = ms_arg_of(call, 0);
    int64_t low = msi_int_min(state->phys);
    MS_CALL_ROWS(call, row, {
        if (msi_load_int(a, state->phys, row) == low) {
            report_overflow(call, state, row);
        }
    });
}

static ms_rc specialize_unary(ms_fn_plan *plan, const msi_unary *kernel, ms_status *st)
{
    arith_state *state = MSI_PLAN_NEW(plan, arith_state);
    const ms_type *type = plan->arg_types[0];
    state->phys = type->phys;
    state->unary = kernel;
    state->overflow_is_error = plan->overflow_is_error;
    state->needs_check = ms_type_is_integer(type);
    plan->state = state;
    plan->can_fail = state->needs_check && plan->overflow_is_error;
    plan->is_total = true;
    plan->eval = eval_unary;
    return kernel != NULL ? MS_OK : msi_plan_unsupported(plan, st);
}

static ms_rc specialize_add(ms_fn_plan *plan, ms_status *st)
{
    if (plan->arg_count == 1) {
        plan->can_fail = false;
        plan->eval = eval_copy;
        return MS_OK;
    }
    return specialize_arith(plan, MS_ARITH_ADD, st);
}

static ms_rc specialize_sub(ms_fn_plan *plan, ms_status *st)
{
    return plan->arg_count == 1
               ? specialize_unary(plan, msi_kernel_negate(plan->arg_types[0]->phys), st)
               : specialize_arith(plan, MS_ARITH_SUB, st);
}

static ms_rc specialize_mul(ms_fn_plan *plan, ms_status *st)
{
    return specialize_arith(plan, MS_ARITH_MUL, st);
}

static ms_rc specialize_div(ms_fn_plan *plan, ms_status *st)
{
    return specialize_arith(plan, MS_ARITH_DIV, st);
}

static ms_rc specialize_mod(ms_fn_plan *plan, ms_status *st)
{
    return specialize_arith(plan, MS_ARITH_MOD, st);
}

static ms_rc specialize_abs(ms_fn_plan *plan, ms_status *st)
{
    return specialize_unary(plan, msi_kernel_abs(plan->arg_types[0]->phys), st);
}

/* $DIVISIBLE(x, d): x % d = 0 for a constant d that is not 0. Programs put it in place of that. */

static void eval_divisible(ms_fn_call *call)
{
    const arith_state *state = call->state;
    uint32_t count = 0;
    const uint16_t *sel = kernel_rows(call, &count);
    bool done = msi_kernel_divisible(&state->divisor, state->phys, true, ms_arg_of(call, 0),
                                     call->result->data, sel, count);
    MS_ASSERT(done);
}

static ms_rc specialize_divisible(ms_fn_plan *plan, ms_status *st)
{
    const ms_value *divisor = plan->constants[1];
    ms_phys phys = plan->arg_types[0]->phys;
    if (divisor == NULL || divisor->is_null || divisor->u.i == 0 ||
        (phys != MS_PHYS_I32 && phys != MS_PHYS_I64)) {
        return msi_plan_unsupported(plan, st);
    }
    arith_state *state = MSI_PLAN_NEW(plan, arith_state);
    state->phys = phys;
    msi_divisor_make(&state->divisor, divisor->u.i, phys);
    plan->state = state;
    plan->eval = eval_divisible;
    plan->can_fail = false;
    plan->is_total = true;
    return MS_OK;
}

/* The scalar forms. */

static const char *const op_signs[] = {[MS_ARITH_ADD] = "+",
                                       [MS_ARITH_SUB] = "-",
                                       [MS_ARITH_MUL] = "*",
                                       [MS_ARITH_DIV] = "/",
                                       [MS_ARITH_MOD] = "%"};

static ms_rc scalar_overflow(const ms_fn_scalar_call *call, const char *text, ms_status *st)
{
    ms_status_set(st, MS_NUMERIC_OUT_OF_RANGE, ms_span_none, "the result of %s does not fit %.*s",
                  text, MS_STR_ARG(ms_type_text_bare(call->arena, call->result_type)));
    return ms_status_hint(st, "Cast an operand to a wider type, or set "
                              "millstream.arithmetic.overflow to wrap.");
}

static ms_rc scalar_exact(const ms_fn_scalar_call *call, ms_arith op, ms_value *out, ms_status *st)
{
    ms_decimal x = msi_value_decimal(&call->args[0]);
    ms_decimal y = msi_value_decimal(&call->args[1]);
    int32_t precision = 0;
    int32_t scale = 0;
    ms_i128 unscaled = 0;
    ms_typing_decimal_of(call->result_type, &precision, &scale);
    if ((op == MS_ARITH_DIV || op == MS_ARITH_MOD) && y.unscaled == 0) {
        return ms_status_set(st, MS_DIVISION_BY_ZERO, ms_span_none, "division by zero");
    }
    if (decimal_fn_of(op)(x, y, precision, scale, &unscaled)) {
        msi_value_set_exact(out, unscaled);
        return MS_OK;
    }
    out->is_null = true;
    return call->config->overflow_is_error ? scalar_overflow(call, op_signs[op], st) : MS_OK;
}

static ms_rc scalar_int(const ms_fn_scalar_call *call, ms_arith op, ms_value *out, ms_status *st)
{
    ms_i128 x = call->args[0].u.i;
    ms_i128 y = call->args[1].u.i;
    if ((op == MS_ARITH_DIV || op == MS_ARITH_MOD) && y == 0) {
        return ms_status_set(st, MS_DIVISION_BY_ZERO, ms_span_none, "division by zero");
    }
    ms_i128 exact = op == MS_ARITH_ADD   ? x + y
                    : op == MS_ARITH_SUB ? x - y
                    : op == MS_ARITH_MUL ? x * y
                    : op == MS_ARITH_DIV ? x / y
                                         : x % y;
    out->u.i = msi_int_wrap(call->result_type->phys, exact);
    if (out->u.i != exact && call->config->overflow_is_error) {
        return scalar_overflow(call, op_signs[op], st);
    }
    return MS_OK;
}

static ms_rc scalar_float(const ms_fn_scalar_call *call, ms_arith op, ms_value *out)
{
    double x = call->args[0].u.f;
    double y = call->args[1].u.f;
    /*
     * A FLOAT result is the double result rounded once more, which is exact for these operations.
     */
    double f = op == MS_ARITH_ADD   ? x + y
               : op == MS_ARITH_SUB ? x - y
               : op == MS_ARITH_MUL ? x * y
                                    : x / y;
    out->u.f = call->result_type->kind == MS_TYPE_FLOAT ? (double)(float)f : f;
    return MS_OK;
}

static ms_rc scalar_arith(const ms_fn_scalar_call *call, ms_arith op, ms_value *out, ms_status *st)
{
    const ms_type *a = call->args[0].type;
    const ms_type *b = call->args[1].type;
    if (msi_scalar_is_null(call, out)) {
        return MS_OK;
    }
    if (!ms_type_is_numeric(a) || !ms_type_is_numeric(b)) {
        return msi_scalar_temporal(call, op, out, st);
    }
    if (a->kind == MS_TYPE_DECIMAL || b->kind == MS_TYPE_DECIMAL) {
        return scalar_exact(call, op, out, st);
    }
    return ms_type_is_integer(a) ? scalar_int(call, op, out, st) : scalar_float(call, op, out);
}

static ms_rc scalar_negate(const ms_fn_scalar_call *call, bool only_negative, ms_value *out,
                           ms_status *st)
{
    const ms_value *x = &call->args[0];
    if (msi_scalar_is_null(call, out)) {
        return MS_OK;
    }
    if (x->type->phys == MS_PHYS_F32 || x->type->phys == MS_PHYS_F64) {
        out->u.f = only_negative ? __builtin_fabs(x->u.f) : -x->u.f;
        return MS_OK;
    }
    ms_i128 v = x->type->phys == MS_PHYS_I128 ? x->u.dec : x->u.i;
    ms_i128 exact = only_negative && v >= 0 ? v : -v;
    if (x->type->phys == MS_PHYS_I128) {
        out->u.dec = exact;
        return MS_OK;
    }
    out->u.i = msi_int_wrap(x->type->phys, exact);
    if (out->u.i != exact && ms_type_is_integer(x->type) && call->config->overflow_is_error) {
        return scalar_overflow(call, only_negative ? "ABS" : "-", st);
    }
    return MS_OK;
}

static ms_rc scalar_add(const ms_fn_scalar_call *call, ms_value *out, ms_status *st)
{
    if (call->arg_count == 1) {
        const ms_type *type = out->type;
        *out = call->args[0];
        out->type = type;
        return MS_OK;
    }
    return scalar_arith(call, MS_ARITH_ADD, out, st);
}

static ms_rc scalar_sub(const ms_fn_scalar_call *call, ms_value *out, ms_status *st)
{
    return call->arg_count == 1 ? scalar_negate(call, false, out, st)
                                : scalar_arith(call, MS_ARITH_SUB, out, st);
}

static ms_rc scalar_mul(const ms_fn_scalar_call *call, ms_value *out, ms_status *st)
{
    return scalar_arith(call, MS_ARITH_MUL, out, st);
}

static ms_rc scalar_div(const ms_fn_scalar_call *call, ms_value *out, ms_status *st)
{
    return scalar_arith(call, MS_ARITH_DIV, out, st);
}

static ms_rc scalar_mod(const ms_fn_scalar_call *call, ms_value *out, ms_status *st)
{
    return scalar_arith(call, MS_ARITH_MOD, out, st);
}

static ms_rc scalar_abs(const ms_fn_scalar_call *call, ms_value *out, ms_status *st)
{
    return scalar_negate(call, true, out, st);
}

static ms_rc scalar_divisible(const ms_fn_scalar_call *call, ms_value *out, ms_status *st)
{
    (void)st;
    if (!msi_scalar_is_null(call, out)) {
        out->u.i = (ms_i128)call->args[0].u.i % call->args[1].u.i == 0;
    }
    return MS_OK;
}

/* The table. Signatures of functions that infer are for messages only. */

static const ms_fn_signature signatures_add[] = {
    {"numeric, numeric", ""}, {"interval, interval", ""}, {"timestamp, interval", ""},
    {"date, interval", ""},   {"time, interval", ""},     {"interval, timestamp", ""},
    {"numeric", ""},          {"interval", ""},
};
static const ms_fn_signature signatures_mul[] = {
    {"numeric, numeric", ""}, {"interval, integer", ""}, {"integer, interval", ""}};
static const ms_fn_signature signatures_div[] = {{"numeric, numeric", ""},
                                                 {"interval, integer", ""}};
static const ms_fn_signature signatures_mod[] = {{"exact, exact", ""}};
static const ms_fn_signature signatures_abs[] = {{"numeric", ""}, {"interval", ""}};
static const ms_fn_signature signatures_divisible[] = {{"integer, integer", "BOOLEAN"}};

#define ARITH(fn_name, topic, list)                                                                \
    {                                                                                              \
        .desc =                                                                                    \
            &(const ms_fn_desc){MSI_SCALAR(fn_name), .flags = MSI_STRICT, MSI_SIGNATURES(list),    \
                                .infer = infer_##topic, .specialize = specialize_##topic},         \
        .scalar = scalar_##topic                                                                   \
    }

const ms_fn msi_fns_arith[] = {
    ARITH("+", add, signatures_add),
    ARITH("-", sub, signatures_add),
    ARITH("*", mul, signatures_mul),
    ARITH("/", div, signatures_div),
    ARITH("%", mod, signatures_mod),
    ARITH("MOD", mod, signatures_mod),
    ARITH("ABS", abs, signatures_abs),
    {.desc = &(const ms_fn_desc){MSI_SCALAR("$DIVISIBLE"), .flags = MSI_STRICT,
                                 MSI_SIGNATURES(signatures_divisible),
                                 .specialize = specialize_divisible},
     .scalar = scalar_divisible},
    {NULL, MS_FORM_NONE, NULL},
};
