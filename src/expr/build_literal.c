/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Literals: numbers, texts, bytes, dates, times, timestamps and intervals from their text.
 */
#include "base/num.h"
#include "expr/expr_priv.h"
#include "func/typing.h"
#include "func/utf8.h"
#include "type/text.h"

/* Digits that are shown of a literal at fault. */
#define SHOWN_BYTES 60

static ms_rc bad_literal(ms_expr_builder *b, const char *what, ms_str text, ms_span span)
{
    return ms_status_set(b->st, MS_INVALID_LITERAL, span, "'%.*s' is not %s",
                         MS_STR_ARG(ms_str_slice(text, 0, SHOWN_BYTES)), what);
}

/* Plain values. */

const ms_expr *ms_build_null(ms_expr_builder *b, ms_span span)
{
    ms_value value = ms_value_null(ms_type_simple(b->arena, MS_TYPE_NULL, true));
    return ms_expr_const(b->arena, &value, span);
}

const ms_expr *ms_build_bool(ms_expr_builder *b, bool value, ms_span span)
{
    ms_value constant = ms_value_int(ms_type_simple(b->arena, MS_TYPE_BOOLEAN, false), value);
    return ms_expr_const(b->arena, &constant, span);
}

const ms_expr *ms_build_int(ms_expr_builder *b, int32_t value, ms_span span)
{
    ms_value constant = ms_value_int(ms_type_simple(b->arena, MS_TYPE_INT, false), value);
    return ms_expr_const(b->arena, &constant, span);
}

const ms_expr *ms_build_bigint(ms_expr_builder *b, int64_t value, ms_span span)
{
    ms_value constant = ms_value_int(ms_type_simple(b->arena, MS_TYPE_BIGINT, false), value);
    return ms_expr_const(b->arena, &constant, span);
}

const ms_expr *ms_build_text(ms_expr_builder *b, ms_str text, ms_span span)
{
    const ms_type *type =
        ms_type_sized(b->arena, MS_TYPE_CHAR, (int32_t)ms_utf8_length(text), false);
    ms_value constant = ms_value_str(type, text);
    return ms_expr_const(b->arena, &constant, span);
}

ms_rc ms_build_hex(ms_expr_builder *b, ms_str digits, ms_span span, const ms_expr **expr_out)
{
    char *bytes = ms_arena_alloc(b->arena, digits.bytes / 2 + 1, 1);
    size_t count = 0;
    *expr_out = NULL;
    if (!ms_text_hex_decode(digits, bytes, &count)) {
        return bad_literal(b, "an even number of hexadecimal digits", digits, span);
    }
    const ms_type *type = ms_type_sized(b->arena, MS_TYPE_BINARY, (int32_t)count, false);
    ms_value constant = ms_value_str(type, ms_str_make(bytes, count));
    *expr_out = ms_expr_const(b->arena, &constant, span);
    return MS_OK;
}

/* Numbers. */

static bool has_exponent(ms_str digits)
{
    return ms_str_find_byte(digits, 'e', 0) != SIZE_MAX ||
           ms_str_find_byte(digits, 'E', 0) != SIZE_MAX;
}

static ms_rc build_double(ms_expr_builder *b, ms_str digits, bool is_negative, ms_span span,
                          const ms_expr **expr_out)
{
    double value = 0;
    if (!ms_text_parse_f64(digits, &value) || __builtin_isinf(value)) {
        return bad_literal(b, "a DOUBLE", digits, span);
    }
    ms_value constant = ms_value_double(ms_type_simple(b->arena, MS_TYPE_DOUBLE, false),
                                        is_negative ? -value : value);
    *expr_out = ms_expr_const(b->arena, &constant, span);
    return MS_OK;
}

ms_rc ms_build_number(ms_expr_builder *b, ms_str digits, bool is_negative, ms_span span,
                      const ms_expr **expr_out)
{
    *expr_out = NULL;
    if (has_exponent(digits)) {
        return build_double(b, digits, is_negative, span, expr_out);
    }
    const ms_type *type = ms_typing_exact_literal(b->arena, digits);
    bool is_min = is_negative && ms_str_equals(digits, ms_str_lit("9223372036854775808"));
    if (is_min) {
        *expr_out = ms_build_bigint(b, INT64_MIN, span);
        return MS_OK;
    }
    if (type == NULL) {
        ms_status_set(b->st, MS_INVALID_LITERAL, span, "the number %.*s is out of range",
                      MS_STR_ARG(ms_str_slice(digits, 0, SHOWN_BYTES)));
        return ms_status_hint(b->st, "Write a longer number as CAST('...' AS DECIMAL(p, s)).");
    }
    ms_i128 unscaled = 0;
    int32_t scale = type->kind == MS_TYPE_DECIMAL ? type->scale : 0;
    ms_text_result result =
        ms_text_parse_decimal(digits, MS_TYPE_DECIMAL_PRECISION_MAX, scale, &unscaled);
    MS_ASSERT(result == MS_TEXT_OK);
    unscaled = is_negative ? -unscaled : unscaled;
    /* 2147483648 is a BIGINT, -2147483648 an INT. */
    if (type->kind == MS_TYPE_BIGINT && unscaled == INT32_MIN) {
        type = ms_type_simple(b->arena, MS_TYPE_INT, false);
    }
    ms_value constant = ms_value_int(type, (int64_t)unscaled);
    if (type->phys == MS_PHYS_I128) {
        constant.u.dec = unscaled;
    }
    *expr_out = ms_expr_const(b->arena, &constant, span);
    return MS_OK;
}

/* Dates and times. */

static int32_t fraction_digits(ms_str text)
{
    size_t point = ms_str_find_byte(text, '.', 0);
    return point == SIZE_MAX ? 0 : (int32_t)(text.bytes - point - 1);
}

static ms_rc build_timestamp(ms_expr_builder *b, ms_str text, ms_span span,
                             const ms_expr **expr_out)
{
    int32_t precision = fraction_digits(text);
    int64_t us = 0;
    if (precision > 6 && precision <= 9) {
        return ms_status_set(b->st, MS_NOT_SUPPORTED, span,
                             "timestamps of more than 6 fraction digits are not supported");
    }
    if (precision > 9 || !ms_text_parse_timestamp_us(text, MS_TEXT_LITERAL, precision, &us)) {
        bad_literal(b, "a timestamp", text, span);
        return ms_status_hint(b->st, "Write TIMESTAMP 'yyyy-MM-dd HH:mm:ss[.f]'.");
    }
    const ms_type *type = ms_type_temporal(b->arena, MS_TYPE_TIMESTAMP, precision, false);
    ms_value constant = ms_value_int(type, us);
    *expr_out = ms_expr_const(b->arena, &constant, span);
    return MS_OK;
}

ms_rc ms_build_temporal(ms_expr_builder *b, ms_type_kind kind, ms_str text, ms_span span,
                        const ms_expr **expr_out)
{
    int32_t number = 0;
    const ms_type *type = NULL;
    *expr_out = NULL;
    if (kind == MS_TYPE_TIMESTAMP) {
        return build_timestamp(b, text, span, expr_out);
    }
    if (kind == MS_TYPE_DATE) {
        if (!ms_text_parse_date(text, &number)) {
            bad_literal(b, "a date", text, span);
            return ms_status_hint(b->st, "Write DATE 'yyyy-MM-dd'.");
        }
        type = ms_type_simple(b->arena, MS_TYPE_DATE, false);
    } else {
        MS_ASSERT(kind == MS_TYPE_TIME);
        int32_t precision = fraction_digits(text);
        if (precision > 3 || !ms_text_parse_time(text, false, &number)) {
            bad_literal(b, "a time of at most 3 fraction digits", text, span);
            return ms_status_hint(b->st, "Write TIME 'HH:mm:ss[.f]'.");
        }
        type = ms_type_temporal(b->arena, MS_TYPE_TIME, precision, false);
    }
    ms_value constant = ms_value_int(type, number);
    *expr_out = ms_expr_const(b->arena, &constant, span);
    return MS_OK;
}

/* Intervals. */

/* Months, or milliseconds, in one unit. */
static const struct {
    const char *name;
    bool is_month;
    int64_t amount;
} units[] = {
    [MS_UNIT_YEAR] = {"YEAR", true, 12},
    [MS_UNIT_QUARTER] = {"QUARTER", true, 3},
    [MS_UNIT_MONTH] = {"MONTH", true, 1},
    [MS_UNIT_WEEK] = {"WEEK", false, 7 * MS_TIME_MS_PER_DAY},
    [MS_UNIT_DAY] = {"DAY", false, MS_TIME_MS_PER_DAY},
    [MS_UNIT_HOUR] = {"HOUR", false, 3600000},
    [MS_UNIT_MINUTE] = {"MINUTE", false, 60000},
    [MS_UNIT_SECOND] = {"SECOND", false, 1000},
};

static bool is_range(const ms_interval_qualifier *q)
{
    return q->from != q->to;
}

static bool is_valid(const ms_interval_qualifier *q)
{
    if (!is_range(q)) {
        return true;
    }
    bool is_months = q->from == MS_UNIT_YEAR && q->to == MS_UNIT_MONTH;
    bool is_days = q->from >= MS_UNIT_DAY && q->to > q->from;
    return is_months || is_days;
}

const ms_type *ms_build_interval_type(ms_arena *arena, const ms_interval_qualifier *qualifier,
                                      bool nullable)
{
    if (!is_valid(qualifier)) {
        return NULL;
    }
    return ms_type_simple(
        arena, units[qualifier->from].is_month ? MS_TYPE_INTERVAL_MONTH : MS_TYPE_INTERVAL_SECOND,
        nullable);
}

/* Reads digits; at least one, at most digits_max. */
static bool take_digits(ms_str text, size_t *at, size_t digits_max, int64_t *value_out)
{
    size_t digits = ms_num_count_digits(text, *at);
    *value_out = 0;
    for (size_t i = 0; i < digits && digits <= digits_max; i++) {
        *value_out = *value_out * 10 + (text.ptr[*at + i] - '0');
    }
    *at += digits;
    return digits > 0 && digits <= digits_max;
}

/* The mark between a field and the next. */
static char mark_before(ms_interval_unit unit)
{
    return unit == MS_UNIT_MONTH ? '-' : unit == MS_UNIT_HOUR ? ' ' : ':';
}

/* The largest value of a field that is not the first. */
static int64_t limit_of(ms_interval_unit unit)
{
    return unit == MS_UNIT_MONTH ? 11 : unit == MS_UNIT_HOUR ? 23 : 59;
}

/* The fields from coarse to fine, added up; false when the text does not follow the qualifier. */
static bool read_fields(ms_str text, size_t *at, const ms_interval_qualifier *q, int64_t *sum_out)
{
    int32_t precision = q->precision < 0 ? 2 : q->precision;
    int64_t field = 0;
    if (!take_digits(text, at, (size_t)precision, &field)) {
        return false;
    }
    *sum_out = field * units[q->from].amount;
    ms_interval_unit unit = q->from;
    while (unit != q->to) {
        unit = unit == MS_UNIT_YEAR ? MS_UNIT_MONTH : (ms_interval_unit)(unit + 1);
        if (*at >= text.bytes || text.ptr[*at] != mark_before(unit)) {
            return false;
        }
        (*at)++;
        if (!take_digits(text, at, 2, &field) || field > limit_of(unit)) {
            return false;
        }
        *sum_out += field * units[unit].amount;
    }
    return true;
}

/* ".f": milliseconds; what is below is cut. */
static bool read_fraction(ms_str text, size_t *at, const ms_interval_qualifier *q, int64_t *ms_out)
{
    *ms_out = 0;
    if (*at == text.bytes) {
        return true;
    }
    if (q->to != MS_UNIT_SECOND || text.ptr[*at] != '.') {
        return false;
    }
    (*at)++;
    size_t digits = ms_num_count_digits(text, *at);
    size_t allowed = (size_t)(q->fraction < 0 ? 6 : q->fraction);
    for (size_t i = 0; i < 3; i++) {
        *ms_out = *ms_out * 10 + (i < digits ? text.ptr[*at + i] - '0' : 0);
    }
    *at += digits;
    return digits > 0 && digits <= allowed;
}

static ms_rc check_qualifier(ms_expr_builder *b, const ms_interval_qualifier *q, ms_span span)
{
    if (!is_valid(q)) {
        return ms_status_set(b->st, MS_INVALID_LITERAL, span, "an interval cannot go from %s to %s",
                             units[q->from].name, units[q->to].name);
    }
    if (q->precision > 10 || q->precision == 0 || q->fraction > 9) {
        return ms_status_set(b->st, MS_INVALID_LITERAL, span,
                             "the precision of an interval is 1 to 10 digits, and 0 to 9 of a "
                             "fraction");
    }
    if (q->to == MS_UNIT_SECOND && is_range(q) && q->precision > 3) {
        return ms_status_set(b->st, MS_NOT_SUPPORTED, span,
                             "an interval to SECOND with a leading precision above 3 is not "
                             "supported");
    }
    return MS_OK;
}

ms_rc ms_build_interval(ms_expr_builder *b, ms_str text, bool is_negative,
                        const ms_interval_qualifier *qualifier, ms_span span,
                        const ms_expr **expr_out)
{
    *expr_out = NULL;
    MS_TRY(check_qualifier(b, qualifier, span));
    size_t at = 0;
    int64_t sum = 0;
    int64_t fraction = 0;
    ms_str trimmed = ms_str_trim(text);
    if (trimmed.bytes > 0 && (trimmed.ptr[0] == '-' || trimmed.ptr[0] == '+')) {
        is_negative = is_negative != (trimmed.ptr[0] == '-');
        at = 1;
    }
    if (!read_fields(trimmed, &at, qualifier, &sum) ||
        !read_fraction(trimmed, &at, qualifier, &fraction) || at != trimmed.bytes) {
        ms_status_set(b->st, MS_INVALID_LITERAL, span, "'%.*s' is not an interval of %s%s%s",
                      MS_STR_ARG(ms_str_slice(text, 0, SHOWN_BYTES)), units[qualifier->from].name,
                      is_range(qualifier) ? " TO " : "",
                      is_range(qualifier) ? units[qualifier->to].name : "");
        return ms_status_hint(
            b->st, "The leading field has %d digits at most; write %s(p) for more.",
            qualifier->precision < 0 ? 2 : qualifier->precision, units[qualifier->from].name);
    }
    sum += fraction;
    const ms_type *type = ms_build_interval_type(b->arena, qualifier, false);
    if (type->kind == MS_TYPE_INTERVAL_MONTH && sum > INT32_MAX) {
        return ms_status_set(b->st, MS_NUMERIC_OUT_OF_RANGE, span, "the interval is too long");
    }
    ms_value constant = ms_value_int(type, is_negative ? -sum : sum);
    *expr_out = ms_expr_const(b->arena, &constant, span);
    return MS_OK;
}

ms_rc ms_build_interval_of(ms_expr_builder *b, const ms_expr *count, ms_interval_unit unit,
                           ms_span span, const ms_expr **expr_out)
{
    const ms_interval_qualifier qualifier = {unit, unit, -1, -1};
    const ms_type *type = ms_build_interval_type(b->arena, &qualifier, false);
    ms_value one = ms_value_int(type, units[unit].amount);
    *expr_out = NULL;
    if (!ms_type_is_integer(count->type)) {
        return ms_status_set(b->st, MS_NOT_SUPPORTED, count->span,
                             "an interval of a number of type %.*s is not supported",
                             MS_STR_ARG(ms_type_text_bare(b->arena, count->type)));
    }
    const ms_expr *unit_expr = ms_expr_const(b->arena, &one, span);
    MS_TRY(ms_build_binary(b, "*", count, unit_expr, span, expr_out));
    *expr_out = msi_build_fold(b, *expr_out);
    return MS_OK;
}
