/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Casts over vectors. Preparing chooses one loop for the pair of types; loops over numbers are
 * kernels, loops over text handle one row at a time. Nested values go through the scalar form row
 * by row: they are rare, and their parts can be of any type.
 */
/* tidy: no-unit-test: cast_test.c of expr/ has its table */
#include "func/cast.h"

#include "func/func_priv.h"
#include "func/kernels.h"
#include "func/utf8.h"
#include "type/text.h"

/* Room for the text of any value that is not nested and no string. */
#define TEXT_BYTES 80u

typedef struct cast_state {
    const ms_type *from;
    const ms_type *to;
    bool is_try;
    const ms_zone *zone;
    const ms_eval_config *config;
    const msi_unary *kernel;
    msi_scaled scaled;
    ms_i128 factor; /* a constant operand for the decimal kernel */
} cast_state;

_Static_assert(MS_TEXT_DECIMAL_BYTES <= TEXT_BYTES && MS_TEXT_TIMESTAMP_BYTES <= TEXT_BYTES,
               "every text fits");

static void fail_row(ms_fn_call *call, const cast_state *state, uint32_t row, ms_rc code)
{
    if (state->is_try) {
        ms_call_null(call, row);
    } else {
        ms_call_fail(call, row, code);
    }
}

/* Numbers. */

static void eval_same(ms_fn_call *call)
{
    ms_arg a = ms_arg_of(call, 0);
    size_t bytes = ms_phys_bytes(call->result->phys);
    char *out = call->result->data;
    MS_CALL_ROWS(call, row, {
        memcpy(out + row * bytes, (const char *)a.data + (row & a.mask) * bytes, bytes);
    });
}

static void eval_convert(ms_fn_call *call)
{
    const cast_state *state = call->state;
    msi_run_unary(state->kernel, call);
}

/* A decimal, or an integer, times a power of ten; nothing overflows. */
static void eval_scale_up(ms_fn_call *call)
{
    const cast_state *state = call->state;
    bool is_dense = ms_call_is_dense(call);
    int64_t narrow = (int64_t)state->factor;
    bool fits = state->factor == narrow;
    msi_scaled factor = {fits ? MS_PHYS_I64 : MS_PHYS_I128, 1};
    ms_arg b = {fits ? (const void *)&narrow : (const void *)&state->factor, NULL, 0};
    msi_kernel_decimal(MSI_MUL, state->to->phys, ms_arg_of(call, 0), state->scaled, b, factor,
                       call->result->data, is_dense ? NULL : call->sel,
                       is_dense ? call->rows : call->sel_count);
}

static void overflow_row(ms_fn_call *call, uint32_t row)
{
    call->overflows++;
    ms_call_null(call, row);
}

static void eval_exact_to_decimal(ms_fn_call *call)
{
    const cast_state *state = call->state;
    ms_arg a = ms_arg_of(call, 0);
    void *out = call->result->data;
    int32_t scale = msi_scale_of(state->from);
    MS_CALL_ROWS(call, row, {
        ms_decimal v = {msi_load_wide(a, state->from->phys, row), scale};
        ms_i128 unscaled = 0;
        v.unscaled = state->from->phys == MS_PHYS_BOOL ? v.unscaled != 0 : v.unscaled;
        if (ms_decimal_rescale(v, state->to->precision, state->to->scale, &unscaled)) {
            msi_store_wide(out, state->to->phys, row, unscaled);
        } else {
            overflow_row(call, row);
        }
    });
}

/*
 * A wide decimal into a narrow one of the same scale: only the range decides. Values that do not
 * count may be out of range too; the loop over those that count is the judge.
 */
static void eval_narrow_decimal(ms_fn_call *call)
{
    const cast_state *state = call->state;
    ms_arg a = ms_arg_of(call, 0);
    int64_t *out = call->result->data;
    ms_i128 limit = ms_decimal_pow10[state->to->precision];
    bool is_dense = !ms_arg_is_const(a) && ms_call_is_dense(call);
    if (is_dense && msi_kernel_narrow_decimal(a.data, (int64_t)limit, out, call->rows)) {
        return;
    }
    MS_CALL_ROWS(call, row, {
        ms_i128 value = *MS_ARG_AT(a, ms_i128, row);
        out[row] = (int64_t)value;
        if (value >= limit || value <= -limit) {
            overflow_row(call, row);
        }
    });
}

static double load_float(const cast_state *state, ms_arg a, uint32_t row)
{
    return state->from->phys == MS_PHYS_F32 ? (double)*MS_ARG_AT(a, float, row)
                                            : *MS_ARG_AT(a, double, row);
}

static void eval_float_to_decimal(ms_fn_call *call)
{
    const cast_state *state = call->state;
    ms_arg a = ms_arg_of(call, 0);
    void *out = call->result->data;
    MS_CALL_ROWS(call, row, {
        ms_i128 unscaled = 0;
        if (ms_decimal_from_double(load_float(state, a, row), state->to->precision,
                                   state->to->scale, &unscaled)) {
            msi_store_wide(out, state->to->phys, row, unscaled);
        } else {
            overflow_row(call, row);
        }
    });
}

static void eval_decimal_to_number(ms_fn_call *call)
{
    const cast_state *state = call->state;
    ms_arg a = ms_arg_of(call, 0);
    void *out = call->result->data;
    MS_CALL_ROWS(call, row, {
        ms_decimal v = {msi_load_wide(a, state->from->phys, row), state->from->scale};
        if (state->to->phys == MS_PHYS_F64) {
            ((double *)out)[row] = ms_decimal_to_double(v);
        } else if (state->to->phys == MS_PHYS_F32) {
            ((float *)out)[row] = (float)ms_decimal_to_double(v);
        } else if (state->to->phys == MS_PHYS_BOOL) {
            ((uint8_t *)out)[row] = v.unscaled != 0;
        } else {
            msi_store_int(out, state->to->phys, row, ms_decimal_to_i64_wrapping(v));
        }
    });
}

/* Text to values. */

static ms_rc text_to_number(const cast_state *state, ms_str text, void *out, uint32_t row)
{
    ms_phys phys = state->to->phys;
    ms_text_result result = MS_TEXT_MALFORMED;
    if (state->to->kind == MS_TYPE_DECIMAL) {
        ms_i128 unscaled = 0;
        result = ms_text_cast_decimal(text, state->to->precision, state->to->scale, &unscaled);
        msi_store_wide(out, phys, row, unscaled);
    } else if (phys == MS_PHYS_F64) {
        double f = 0;
        result = ms_text_parse_f64(text, &f) ? MS_TEXT_OK : MS_TEXT_MALFORMED;
        ((double *)out)[row] = f;
    } else if (phys == MS_PHYS_F32) {
        float f = 0;
        result = ms_text_parse_f32(text, &f) ? MS_TEXT_OK : MS_TEXT_MALFORMED;
        ((float *)out)[row] = f;
    } else {
        int64_t value = 0;
        result = ms_text_cast_i64(text, msi_int_min(phys), msi_int_max(phys), &value);
        msi_store_int(out, phys, row, value);
    }
    return result == MS_TEXT_OK      ? MS_OK
           : result == MS_TEXT_RANGE ? MS_NUMERIC_OUT_OF_RANGE
                                     : MS_INVALID_CAST;
}

static bool text_to_temporal(const cast_state *state, ms_zone_cursor *cursor, ms_str text,
                             int64_t *out)
{
    int32_t narrow = 0;
    ms_ts16 ts;
    if (state->to->kind == MS_TYPE_DATE || state->to->kind == MS_TYPE_TIME) {
        bool ok = state->to->kind == MS_TYPE_DATE ? ms_text_cast_date(text, &narrow)
                                                  : ms_text_cast_time(text, &narrow);
        *out = narrow;
        return ok;
    }
    if (!ms_text_cast_timestamp(text, &ts) || !ms_time_us_from_ts(ts, out)) {
        return false;
    }
    *out = ms_time_truncate_us(*out, state->to->precision);
    if (state->to->kind == MS_TYPE_TIMESTAMP_LTZ) {
        *out = ms_zone_utc_from_local_us(cursor, *out);
    }
    return true;
}

static void eval_from_text(ms_fn_call *call)
{
    const cast_state *state = call->state;
    ms_arg a = ms_arg_of(call, 0);
    void *out = call->result->data;
    ms_zone_cursor cursor = ms_zone_cursor_make(state->zone);
    bool is_number = ms_type_is_numeric(state->to);
    MS_CALL_ROWS(call, row, {
        ms_str text = ms_view_str(MS_ARG_AT(a, ms_view, row));
        ms_rc rc = MS_INVALID_CAST;
        if (is_number) {
            rc = text_to_number(state, text, out, row);
        } else if (state->to->phys == MS_PHYS_BOOL) {
            bool value = false;
            rc = ms_text_cast_bool(text, &value) ? MS_OK : MS_INVALID_CAST;
            ((uint8_t *)out)[row] = value;
        } else {
            int64_t value = 0;
            rc = text_to_temporal(state, &cursor, text, &value) ? MS_OK : MS_INVALID_CAST;
            msi_store_int(out, state->to->phys, row, value);
        }
        if (rc != MS_OK) {
            fail_row(call, state, row, rc);
        }
    });
}

/* Values to text. */

/*
 * Writes a view of `text`, cut and padded to the target. Bytes must outlive the batch or be short.
 */
static void put_sized(ms_fn_call *call, const cast_state *state, uint32_t row, ms_str text,
                      bool is_borrowed)
{
    const ms_type *to = state->to;
    bool is_text = ms_type_is_character(to);
    size_t wanted = (size_t)to->precision;
    bool is_fixed = to->kind == MS_TYPE_CHAR || to->kind == MS_TYPE_BINARY;
    /* A text has no more characters than bytes, so most need no counting. */
    bool counts = is_text && (is_fixed || text.bytes > wanted);
    size_t length = counts ? ms_utf8_length(text) : text.bytes;
    bool pads = is_fixed && length < wanted;
    if (length > wanted) {
        text.bytes = is_text ? ms_utf8_offset(text, wanted) : wanted;
    }
    size_t bytes = text.bytes + (pads ? wanted - length : 0);
    ms_view *out = call->result->data;
    if (is_borrowed && !pads) {
        out[row] = ms_view_make(text.ptr, (uint32_t)bytes);
        return;
    }
    char inline_bytes[MS_VIEW_INLINE];
    char *space = bytes <= MS_VIEW_INLINE ? inline_bytes : ms_call_string(call, row, bytes);
    if (space == NULL) {
        return;
    }
    if (text.bytes > 0) {
        memcpy(space, text.ptr, text.bytes);
    }
    memset(space + text.bytes, is_text ? ' ' : '\0', bytes - text.bytes);
    out[row] = ms_view_make(space, (uint32_t)bytes);
}

static void eval_text_to_text(ms_fn_call *call)
{
    const cast_state *state = call->state;
    ms_arg a = ms_arg_of(call, 0);
    bool checks = ms_type_is_binary(state->from) && ms_type_is_character(state->to);
    MS_CALL_ROWS(call, row, {
        ms_str text = ms_view_str(MS_ARG_AT(a, ms_view, row));
        if (checks && !ms_str_is_utf8(text)) {
            fail_row(call, state, row, MS_INVALID_CAST);
            continue;
        }
        put_sized(call, state, row, text, true);
    });
}

static size_t print_number(const cast_state *state, ms_arg a, uint32_t row, char *out)
{
    if (state->from->kind == MS_TYPE_DECIMAL) {
        return ms_text_decimal(out, msi_load_wide(a, state->from->phys, row), state->from->scale);
    }
    if (state->from->phys == MS_PHYS_F32) {
        return ms_text_f32(out, *MS_ARG_AT(a, float, row));
    }
    if (state->from->phys == MS_PHYS_F64) {
        return ms_text_f64(out, *MS_ARG_AT(a, double, row));
    }
    return ms_text_i64(out, msi_load_int(a, state->from->phys, row));
}

static size_t print_other(const cast_state *state, ms_zone_cursor *cursor, int64_t value, char *out)
{
    const ms_type *from = state->from;
    if (from->kind == MS_TYPE_DATE) {
        return ms_text_date(out, (int32_t)value);
    }
    if (from->kind == MS_TYPE_TIME) {
        return ms_text_time(out, (int32_t)value, from->precision, MS_TEXT_TIME);
    }
    if (ms_type_is_timestamp(from)) {
        bool is_local = from->kind == MS_TYPE_TIMESTAMP_LTZ;
        int64_t local = is_local ? ms_zone_local_from_utc_us(cursor, value) : value;
        return ms_text_timestamp_us(out, local, from->precision, MS_TEXT_EXACT, ' ');
    }
    if (from->kind == MS_TYPE_INTERVAL_MONTH) {
        return ms_text_interval_months(out, (int32_t)value);
    }
    if (from->kind == MS_TYPE_INTERVAL_SECOND) {
        return ms_text_interval_ms(out, value);
    }
    MS_ASSERT(from->kind == MS_TYPE_BOOLEAN);
    memcpy(out, value != 0 ? "TRUE" : "FALSE", value != 0 ? 4 : 5);
    return value != 0 ? 4 : 5;
}

static void eval_to_text(ms_fn_call *call)
{
    const cast_state *state = call->state;
    ms_arg a = ms_arg_of(call, 0);
    ms_zone_cursor cursor = ms_zone_cursor_make(state->zone);
    bool is_number = ms_type_is_numeric(state->from);
    MS_CALL_ROWS(call, row, {
        char text[TEXT_BYTES];
        size_t bytes =
            is_number ? print_number(state, a, row, text)
                      : print_other(state, &cursor, msi_load_int(a, state->from->phys, row), text);
        put_sized(call, state, row, ms_str_make(text, bytes), false);
    });
}

/* Dates, times and timestamps. Local times of TIMESTAMP_LTZ are those of the zone. */

static int64_t saturated_us(int64_t days)
{
    int64_t us = 0;
    bool overflows = __builtin_mul_overflow(days, MS_TIME_US_PER_DAY, &us);
    return overflows ? (days < 0 ? INT64_MIN : INT64_MAX) : us;
}

static int64_t convert_temporal(const cast_state *state, ms_zone_cursor *cursor, int64_t value)
{
    const ms_type *from = state->from;
    const ms_type *to = state->to;
    bool is_instant = from->kind == MS_TYPE_TIMESTAMP_LTZ;
    if (is_instant && to->kind == MS_TYPE_TIMESTAMP_LTZ) {
        return ms_time_truncate_us(value, to->precision);
    }
    int64_t local = from->kind == MS_TYPE_DATE   ? saturated_us(value)
                    : from->kind == MS_TYPE_TIME ? value * 1000
                    : is_instant                 ? ms_zone_local_from_utc_us(cursor, value)
                                                 : value;
    if (to->kind == MS_TYPE_DATE) {
        return ms_time_day_of_us(local);
    }
    if (to->kind == MS_TYPE_TIME) {
        return ms_time_us_of_day(local) / 1000;
    }
    local = ms_time_truncate_us(local, to->precision);
    return to->kind == MS_TYPE_TIMESTAMP_LTZ ? ms_zone_utc_from_local_us(cursor, local) : local;
}

static void eval_temporal(ms_fn_call *call)
{
    const cast_state *state = call->state;
    ms_arg a = ms_arg_of(call, 0);
    void *out = call->result->data;
    ms_zone_cursor cursor = ms_zone_cursor_make(state->zone);
    MS_CALL_ROWS(call, row, {
        int64_t value = msi_load_int(a, state->from->phys, row);
        msi_store_int(out, state->to->phys, row, convert_temporal(state, &cursor, value));
    });
}

/* Anything nested. */

static void eval_nested(ms_fn_call *call)
{
    const cast_state *state = call->state;
    ms_arena *arena = call->memory->arena;
    size_t used = ms_arena_used_bytes(arena);
    MS_CALL_ROWS(call, row, {
        ms_status st = {0};
        if (!ms_call_has_room(call, row, ms_arena_used_bytes(arena) - used)) {
            continue;
        }
        ms_value value = ms_value_from_vec(arena, call->args[0], row);
        ms_value cast = {0};
        ms_rc rc = ms_cast_value(arena, state->config, &value, state->to, &cast, &st);
        if (rc != MS_OK) {
            fail_row(call, state, row, rc);
        } else {
            ms_value_to_vec(arena, &cast, call->result, row, call->rows);
        }
    });
}

/* Choosing. */

static ms_fn_eval choose_decimal(cast_state *state, ms_fn_prepared *out)
{
    const ms_type *from = state->from;
    if (from->phys == MS_PHYS_F32 || from->phys == MS_PHYS_F64) {
        return eval_float_to_decimal;
    }
    int32_t precision = 1;
    int32_t scale = 0;
    if (from->kind != MS_TYPE_BOOLEAN) {
        ms_typing_decimal_of(from, &precision, &scale);
    }
    int32_t up = state->to->scale - scale;
    bool is_wide = from->phys == MS_PHYS_I64 || from->phys == MS_PHYS_I128;
    bool fits = up >= 0 && state->to->precision - state->to->scale >= precision - scale;
    bool narrows = from->phys == MS_PHYS_I128 && state->to->phys == MS_PHYS_I64;
    if (narrows && up == 0) {
        return eval_narrow_decimal;
    }
    if (!is_wide || !fits || narrows) {
        return eval_exact_to_decimal;
    }
    state->scaled = (msi_scaled){from->phys, 1};
    state->factor = ms_decimal_pow10[up];
    out->is_total = true;
    return eval_scale_up;
}

static ms_fn_eval choose_text(const cast_state *state)
{
    const ms_type *from = state->from;
    const ms_type *to = state->to;
    if (from->phys != MS_PHYS_STR) {
        return eval_to_text;
    }
    bool pads = to->kind == MS_TYPE_CHAR || to->kind == MS_TYPE_BINARY;
    bool is_same = from->kind == to->kind && from->precision == to->precision;
    bool grows = to->precision >= from->precision && !pads &&
                 ms_type_is_character(from) == ms_type_is_character(to);
    /* A value longer than its own declared type is not cut again. */
    return is_same || grows ? eval_same : eval_text_to_text;
}

static bool is_temporal(const ms_type *type)
{
    return type->kind == MS_TYPE_DATE || type->kind == MS_TYPE_TIME || ms_type_is_timestamp(type);
}

static ms_fn_eval choose(cast_state *state, ms_fn_prepared *out)
{
    const ms_type *from = state->from;
    const ms_type *to = state->to;
    if (ms_type_is_nested(from) || from->kind == MS_TYPE_NULL) {
        return eval_nested;
    }
    if (to->phys == MS_PHYS_STR) {
        return choose_text(state);
    }
    if (from->phys == MS_PHYS_STR) {
        return eval_from_text;
    }
    if (to->kind == MS_TYPE_DECIMAL) {
        return choose_decimal(state, out);
    }
    if (from->kind == MS_TYPE_DECIMAL) {
        return eval_decimal_to_number;
    }
    if (is_temporal(from) && is_temporal(to)) {
        bool is_same = from->kind == to->kind && from->precision <= to->precision;
        return is_same ? eval_same : eval_temporal;
    }
    state->kernel = msi_kernel_convert(from->phys, to->phys);
    out->is_total = true;
    return state->kernel != NULL ? eval_convert : NULL;
}

ms_rc ms_cast_prepare(ms_arena *arena, const ms_type *from, const ms_type *to, bool is_try,
                      const ms_eval_config *config, ms_fn_prepared *prepared_out, ms_status *st)
{
    cast_state *state = ms_arena_new(arena, cast_state);
    ms_eval_config *kept = ms_arena_new(arena, ms_eval_config);
    *kept = *config;
    if (msi_type_has_zone(from) || msi_type_has_zone(to)) {
        MS_TRY(ms_eval_config_make(arena, config, kept, st));
    }
    *state = (cast_state){.from = from, .to = to, .is_try = is_try, .config = kept};
    state->zone = kept->zone != NULL ? kept->zone : ms_zone_utc();
    *prepared_out = (ms_fn_prepared){.state = state};
    ms_cast_class class = ms_typing_cast_class(from, to);
    prepared_out->eval = choose(state, prepared_out);
    bool makes_text = to->phys == MS_PHYS_STR && prepared_out->eval != eval_same;
    prepared_out->can_fail =
        (class == MS_CAST_FALLIBLE && !is_try) || makes_text || prepared_out->eval == eval_nested;
    if (prepared_out->eval == NULL || class == MS_CAST_NONE || class == MS_CAST_UNBUILT) {
        return ms_status_set(st, MS_INTERNAL, ms_span_none, "no cast from %.*s to %.*s",
                             MS_STR_ARG(ms_type_text_bare(arena, from)),
                             MS_STR_ARG(ms_type_text_bare(arena, to)));
    }
    return MS_OK;
}
