/* SPDX-License-Identifier: Apache-2.0 */
/*
 * + - * / where an operand is an interval: dates, times and timestamps plus or minus intervals,
 * sums of intervals, multiples and parts of intervals.
 *
 * A month interval moves a date or timestamp by months and cuts the day to the end of the month; a
 * day interval moves a timestamp by milliseconds, a date by whole days, and wraps a time within its
 * day. What leaves the range of the type fails with NUMERIC_OUT_OF_RANGE: nothing wraps here. The
 * hot case, a timestamp and a constant number of milliseconds (every WATERMARK clause), is one
 * vector addition.
 */
/* tidy: no-unit-test: function_test.c of expr/ has its table */
#include "func/fn_arith.h"

#include "func/func_priv.h"
#include "func/kernels.h"
#include "type/time.h"

/* x is the date, time, timestamp or first interval, y the interval or number. */
typedef bool (*combine_fn)(int64_t x, int64_t y, int64_t *out);

typedef struct interval_state {
    combine_fn combine;
    bool exchanged; /* the datetime is the second argument */
    ms_phys phys_x;
    ms_phys phys_y;
    ms_phys to;
    int64_t micros; /* of a constant interval */
} interval_state;

static bool add_ms_to_timestamp(int64_t x, int64_t y, int64_t *out)
{
    int64_t micros = 0;
    return !__builtin_mul_overflow(y, INT64_C(1000), &micros) &&
           !__builtin_add_overflow(x, micros, out);
}

static bool subtract_ms_from_timestamp(int64_t x, int64_t y, int64_t *out)
{
    int64_t micros = 0;
    return !__builtin_mul_overflow(y, INT64_C(1000), &micros) &&
           !__builtin_sub_overflow(x, micros, out);
}

static bool add_months_to_timestamp(int64_t x, int64_t y, int64_t *out)
{
    return ms_time_add_months_us(x, (int32_t)y, out);
}

static bool subtract_months_from_timestamp(int64_t x, int64_t y, int64_t *out)
{
    return y != INT32_MIN && add_months_to_timestamp(x, -y, out);
}

static bool fits_i32(int64_t value, int64_t *out)
{
    *out = value;
    return value >= INT32_MIN && value <= INT32_MAX;
}

static bool add_ms_to_date(int64_t x, int64_t y, int64_t *out)
{
    return fits_i32(x + y / MS_TIME_MS_PER_DAY, out);
}

static bool subtract_ms_from_date(int64_t x, int64_t y, int64_t *out)
{
    return fits_i32(x - y / MS_TIME_MS_PER_DAY, out);
}

static bool add_months_to_date(int64_t x, int64_t y, int64_t *out)
{
    int32_t days = 0;
    bool ok = ms_time_add_months((int32_t)x, (int32_t)y, &days);
    *out = days;
    return ok;
}

static bool subtract_months_from_date(int64_t x, int64_t y, int64_t *out)
{
    return y != INT32_MIN && add_months_to_date(x, -y, out);
}

static bool add_ms_to_time(int64_t x, int64_t y, int64_t *out)
{
    *out = ms_time_floor_mod(x + y % MS_TIME_MS_PER_DAY, MS_TIME_MS_PER_DAY);
    return true;
}

static bool subtract_ms_from_time(int64_t x, int64_t y, int64_t *out)
{
    return add_ms_to_time(x, -(y % MS_TIME_MS_PER_DAY), out);
}

static bool add_intervals(int64_t x, int64_t y, int64_t *out)
{
    return !__builtin_add_overflow(x, y, out);
}

static bool subtract_intervals(int64_t x, int64_t y, int64_t *out)
{
    return !__builtin_sub_overflow(x, y, out);
}

static bool multiply_interval(int64_t x, int64_t y, int64_t *out)
{
    return !__builtin_mul_overflow(x, y, out);
}

/* y is not 0. */
static bool divide_interval(int64_t x, int64_t y, int64_t *out)
{
    if (y == -1) {
        return !__builtin_sub_overflow(INT64_C(0), x, out);
    }
    *out = x / y;
    return true;
}

/* The combination for the operation and its ordered operand kinds; NULL when there is none. */
static combine_fn combine_of(ms_arith op, const ms_type *x, const ms_type *y)
{
    bool adds = op == MS_ARITH_ADD;
    if (ms_type_is_integer(y)) {
        return op == MS_ARITH_MUL ? multiply_interval : op == MS_ARITH_DIV ? divide_interval : NULL;
    }
    if (op != MS_ARITH_ADD && op != MS_ARITH_SUB) {
        return NULL;
    }
    if (ms_type_is_interval(x)) {
        return x->kind != y->kind ? NULL : adds ? add_intervals : subtract_intervals;
    }
    bool is_month = y->kind == MS_TYPE_INTERVAL_MONTH;
    if (ms_type_is_timestamp(x)) {
        return is_month ? (adds ? add_months_to_timestamp : subtract_months_from_timestamp)
                        : (adds ? add_ms_to_timestamp : subtract_ms_from_timestamp);
    }
    if (x->kind == MS_TYPE_DATE) {
        return is_month ? (adds ? add_months_to_date : subtract_months_from_date)
                        : (adds ? add_ms_to_date : subtract_ms_from_date);
    }
    return x->kind != MS_TYPE_TIME || is_month ? NULL
           : adds                              ? add_ms_to_time
                                               : subtract_ms_from_time;
}

static bool is_datetime(const ms_type *type)
{
    return ms_type_is_timestamp(type) || type->kind == MS_TYPE_DATE || type->kind == MS_TYPE_TIME;
}

/* True when the operands are interval + datetime or integer * interval. */
static bool are_exchanged(ms_arith op, const ms_type *a, const ms_type *b)
{
    return (op == MS_ARITH_ADD && ms_type_is_interval(a) && is_datetime(b)) ||
           (op == MS_ARITH_MUL && ms_type_is_integer(a) && ms_type_is_interval(b));
}

ms_rc msi_infer_temporal(ms_fn_infer *in, ms_arith op, ms_status *st)
{
    const ms_type *a = in->arg_types[0];
    const ms_type *b = in->arg_types[1];
    ms_arena *arena = msi_infer_arena(in);
    if (op == MS_ARITH_SUB && is_datetime(a) && is_datetime(b)) {
        ms_status_set(st, MS_NOT_SUPPORTED, ms_span_none,
                      "cannot subtract a date or timestamp from another");
        return ms_status_hint(st, "Use TIMESTAMPDIFF(unit, from, to).");
    }
    bool has_interval = ms_type_is_interval(a) || ms_type_is_interval(b);
    bool has_number = ms_type_is_numeric(a) || ms_type_is_numeric(b);
    if (has_interval && has_number && (op == MS_ARITH_MUL || op == MS_ARITH_DIV) &&
        !ms_type_is_integer(ms_type_is_interval(a) ? b : a)) {
        return ms_status_set(st, MS_NOT_SUPPORTED, ms_span_none,
                             "multiplying or dividing an interval by a fraction is not supported");
    }
    bool exchanged = are_exchanged(op, a, b);
    const ms_type *x = exchanged ? b : a;
    const ms_type *y = exchanged ? a : b;
    if ((!is_datetime(x) && !ms_type_is_interval(x)) ||
        (!ms_type_is_interval(y) && !(ms_type_is_interval(x) && ms_type_is_integer(y))) ||
        combine_of(op, x, y) == NULL) {
        return msi_infer_refuse(st);
    }
    if (ms_type_is_integer(y)) {
        in->wanted[exchanged ? 0 : 1] = ms_type_simple(arena, MS_TYPE_BIGINT, y->nullable);
    }
    in->result_type = ms_type_as_nullable(arena, x, a->nullable || b->nullable);
    return MS_OK;
}

static bool is_division(const interval_state *state)
{
    return state->combine == divide_interval;
}

static bool combine(const interval_state *state, int64_t x, int64_t y, int64_t *out)
{
    MS_ASSERT_SLOW(state->combine != NULL);
    return state->combine(x, y, out) &&
           (state->to == MS_PHYS_I64 || (*out >= INT32_MIN && *out <= INT32_MAX));
}

static void eval_rows(ms_fn_call *call)
{
    const interval_state *state = call->state;
    ms_arg x = ms_arg_of(call, state->exchanged ? 1 : 0);
    ms_arg y = ms_arg_of(call, state->exchanged ? 0 : 1);
    void *data = call->result->data;
    MS_CALL_ROWS(call, row, {
        int64_t operand = msi_load_int(y, state->phys_y, row);
        int64_t out = 0;
        if (is_division(state) && operand == 0) {
            ms_call_fail(call, row, MS_DIVISION_BY_ZERO);
        } else if (combine(state, msi_load_int(x, state->phys_x, row), operand, &out)) {
            msi_store_int(data, state->to, row, out);
        } else {
            ms_call_fail(call, row, MS_NUMERIC_OUT_OF_RANGE);
        }
    });
}

/* A timestamp plus a constant: the kernel wraps, and rows that did fail. */
static void eval_constant(ms_fn_call *call)
{
    const interval_state *state = call->state;
    const msi_binary *add = msi_kernel_arith(MSI_ADD, MS_PHYS_I64);
    ms_arg x = ms_arg_of(call, state->exchanged ? 1 : 0);
    ms_arg y = {&state->micros, NULL, 0};
    int64_t *out = call->result->data;
    if (ms_arg_is_const(x)) {
        eval_rows(call); /* a batch with a constant column */
        return;
    }
    uint64_t seen = ms_call_is_dense(call)
                        ? add->flat_const(x.data, &state->micros, out, call->rows)
                        : add->sparse(x, y, out, call->sel, call->sel_count);
    if (seen == 0) {
        return;
    }
    MS_CALL_ROWS(call, row, {
        int64_t sum = 0;
        if (__builtin_add_overflow(*MS_ARG_AT(x, int64_t, row), state->micros, &sum)) {
            ms_call_fail(call, row, MS_NUMERIC_OUT_OF_RANGE);
        }
    });
}

/* True when y is a constant number of milliseconds that fits in microseconds, either sign. */
static bool constant_micros(ms_arith op, const ms_value *y, int64_t *micros_out)
{
    if (y == NULL || y->is_null || y->type->kind != MS_TYPE_INTERVAL_SECOND ||
        y->u.i > INT64_MAX / 1000 || y->u.i < -(INT64_MAX / 1000)) {
        return false;
    }
    *micros_out = op == MS_ARITH_ADD ? y->u.i * 1000 : -y->u.i * 1000;
    return true;
}

ms_rc msi_specialize_temporal(ms_fn_plan *plan, ms_arith op, ms_status *st)
{
    interval_state *state = MSI_PLAN_NEW(plan, interval_state);
    state->exchanged = are_exchanged(op, plan->arg_types[0], plan->arg_types[1]);
    const ms_type *x = plan->arg_types[state->exchanged ? 1 : 0];
    const ms_type *y = plan->arg_types[state->exchanged ? 0 : 1];
    state->phys_x = x->phys;
    state->phys_y = y->phys;
    state->to = plan->result_type->phys;
    state->combine = combine_of(op, x, y);
    plan->state = state;
    plan->eval = eval_rows;
    if (state->combine == NULL) {
        return msi_plan_unsupported(plan, st);
    }
    const ms_value *constant = plan->constants[state->exchanged ? 0 : 1];
    if (ms_type_is_timestamp(x) && constant_micros(op, constant, &state->micros)) {
        plan->eval = eval_constant;
        plan->is_total = true;
    }
    return MS_OK;
}

ms_rc msi_scalar_temporal(const ms_fn_scalar_call *call, ms_arith op, ms_value *out, ms_status *st)
{
    bool exchanged = are_exchanged(op, call->args[0].type, call->args[1].type);
    const ms_value *x = &call->args[exchanged ? 1 : 0];
    const ms_value *y = &call->args[exchanged ? 0 : 1];
    interval_state state = {.combine = combine_of(op, x->type, y->type), .to = out->type->phys};
    if (is_division(&state) && y->u.i == 0) {
        return ms_status_set(st, MS_DIVISION_BY_ZERO, ms_span_none, "division by zero");
    }
    if (!combine(&state, x->u.i, y->u.i, &out->u.i)) {
        return ms_status_set(st, MS_NUMERIC_OUT_OF_RANGE, ms_span_none,
                             "the result is out of the range of %.*s",
                             MS_STR_ARG(ms_type_text_bare(call->arena, call->result_type)));
    }
    return MS_OK;
}
