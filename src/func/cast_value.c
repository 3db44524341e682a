/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Casts of single values: the reference for the vector forms, what folds constants, and where the
 * messages of failing casts are worded.
 */
/* tidy: no-unit-test: cast_test.c of expr/ has its table */
#include "func/cast.h"
#include "func/func_priv.h"
#include "func/utf8.h"
#include "type/text.h"

#include <math.h>

/* So much of a text at fault is shown. */
#define SHOWN_BYTES 80

typedef struct cast {
    ms_arena *arena;
    const ms_eval_config *config;
    const ms_value *in;
    const ms_type *to;
    ms_value *out;
    ms_status *st;
} cast;

static const ms_zone *zone_of(const cast *c)
{
    return c->config->zone != NULL ? c->config->zone : ms_zone_utc();
}

static ms_rc cast_value(const cast *c);

static ms_rc report_text(const cast *c, ms_text_result result)
{
    ms_str text = ms_str_slice(c->in->u.str, 0, SHOWN_BYTES);
    ms_str type = ms_type_text_bare(c->arena, c->to);
    if (result == MS_TEXT_RANGE) {
        return ms_status_set(c->st, MS_NUMERIC_OUT_OF_RANGE, ms_span_none,
                             "'%.*s' is out of the range of %.*s", MS_STR_ARG(text),
                             MS_STR_ARG(type));
    }
    ms_status_set(c->st, MS_INVALID_CAST, ms_span_none, "cannot cast '%.*s' to %.*s",
                  MS_STR_ARG(text), MS_STR_ARG(type));
    return ms_status_hint(c->st, "TRY_CAST gives NULL instead of failing.");
}

/* From text. */

static ms_rc from_text(const cast *c)
{
    ms_str text = c->in->u.str;
    ms_text_result result = MS_TEXT_MALFORMED;
    ms_i128 unscaled = 0;
    int64_t value = 0;
    float f32 = 0;
    double f64 = 0;
    bool truth = false;
    if (c->to->kind == MS_TYPE_DECIMAL) {
        result = ms_text_cast_decimal(text, c->to->precision, c->to->scale, &unscaled);
        msi_value_set_exact(c->out, unscaled);
    } else if (c->to->kind == MS_TYPE_DOUBLE) {
        result = ms_text_parse_f64(text, &f64) ? MS_TEXT_OK : MS_TEXT_MALFORMED;
        c->out->u.f = f64;
    } else if (c->to->kind == MS_TYPE_FLOAT) {
        result = ms_text_parse_f32(text, &f32) ? MS_TEXT_OK : MS_TEXT_MALFORMED;
        c->out->u.f = (double)f32;
    } else if (c->to->kind == MS_TYPE_BOOLEAN) {
        result = ms_text_cast_bool(text, &truth) ? MS_TEXT_OK : MS_TEXT_MALFORMED;
        c->out->u.i = truth;
    } else {
        result = ms_text_cast_i64(text, msi_int_min(c->to->phys), msi_int_max(c->to->phys), &value);
        c->out->u.i = value;
    }
    return result == MS_TEXT_OK ? MS_OK : report_text(c, result);
}

static ms_rc temporal_from_text(const cast *c)
{
    int32_t narrow = 0;
    ms_ts16 ts = {0, 0};
    bool ok = false;
    if (c->to->kind == MS_TYPE_DATE) {
        ok = ms_text_cast_date(c->in->u.str, &narrow);
        c->out->u.i = narrow;
    } else if (c->to->kind == MS_TYPE_TIME) {
        ok = ms_text_cast_time(c->in->u.str, &narrow);
        c->out->u.i = narrow;
    } else {
        ok = ms_text_cast_timestamp(c->in->u.str, &ts) && ms_time_us_from_ts(ts, &c->out->u.i);
    }
    if (!ok) {
        return report_text(c, MS_TEXT_MALFORMED);
    }
    if (ms_type_is_timestamp(c->to)) {
        c->out->u.i = ms_time_truncate_us(c->out->u.i, c->to->precision);
    }
    if (c->to->kind == MS_TYPE_TIMESTAMP_LTZ) {
        ms_zone_cursor cursor = ms_zone_cursor_make(zone_of(c));
        c->out->u.i = ms_zone_utc_from_local_us(&cursor, c->out->u.i);
    }
    return MS_OK;
}

/* To text. */

/* Cuts and pads one character at a time. */
static ms_str fit(const cast *c, ms_str text)
{
    bool is_text = ms_type_is_character(c->to);
    size_t wanted = (size_t)c->to->precision;
    size_t at = 0;
    size_t length = 0;
    while (at < text.bytes && length < wanted) {
        at = is_text ? ms_utf8_next(text, at) : at + 1;
        length++;
    }
    bool pads = c->to->kind == MS_TYPE_CHAR || c->to->kind == MS_TYPE_BINARY;
    if (!pads || length == wanted) {
        return ms_str_make(text.ptr, at);
    }
    char *space = ms_arena_alloc(c->arena, at + wanted - length, 1);
    if (at > 0) {
        memcpy(space, text.ptr, at);
    }
    memset(space + at, is_text ? ' ' : '\0', wanted - length);
    return ms_str_make(space, at + wanted - length);
}

static bool has_bad_utf8(const ms_value *value)
{
    if (value->is_null) {
        return false;
    }
    if (ms_type_is_binary(value->type)) {
        return !ms_str_is_utf8(value->u.str);
    }
    for (uint32_t i = 0; ms_type_is_nested(value->type) && i < value->item_count; i++) {
        if (has_bad_utf8(&value->u.items[i])) {
            return true;
        }
    }
    return false;
}

static ms_rc report_bytes(const cast *c)
{
    ms_status_set(c->st, MS_INVALID_CAST, ms_span_none,
                  "cannot cast bytes that are not UTF-8 to %.*s",
                  MS_STR_ARG(ms_type_text_bare(c->arena, c->to)));
    return ms_status_hint(c->st, "TRY_CAST gives NULL instead of failing.");
}

static ms_rc to_text(const cast *c)
{
    if (has_bad_utf8(c->in)) {
        return report_bytes(c);
    }
    if (c->to->kind == MS_TYPE_CHAR && c->to->precision > (int32_t)MS_LIMIT_STRING_BYTES) {
        return ms_status_set(c->st, MS_LIMIT, ms_span_none, "a text of more than %u bytes",
                             MS_LIMIT_STRING_BYTES);
    }
    ms_buf buf;
    ms_buf_init(&buf, MS_LIMIT_STRING_BYTES);
    ms_rc rc = ms_text_value_cast(&buf, c->in, zone_of(c), c->st);
    if (rc == MS_OK) {
        c->out->u.str = fit(c, ms_arena_copy_str(c->arena, ms_buf_view(&buf)));
    }
    ms_buf_release(&buf);
    return rc;
}

static ms_rc bytes_to_bytes(const cast *c)
{
    const ms_type *from = c->in->type;
    bool is_text = ms_type_is_character(c->to);
    if (is_text && ms_type_is_binary(from) && !ms_str_is_utf8(c->in->u.str)) {
        return report_bytes(c);
    }
    bool pads = c->to->kind == MS_TYPE_CHAR || c->to->kind == MS_TYPE_BINARY;
    bool is_same = from->kind == c->to->kind && from->precision == c->to->precision;
    bool grows =
        c->to->precision >= from->precision && !pads && ms_type_is_character(from) == is_text;
    if (pads && c->to->precision > (int32_t)MS_LIMIT_STRING_BYTES) {
        return ms_status_set(c->st, MS_LIMIT, ms_span_none, "a text of more than %u bytes",
                             MS_LIMIT_STRING_BYTES);
    }
    c->out->u.str = is_same || grows ? c->in->u.str : fit(c, c->in->u.str);
    return MS_OK;
}

/* Numbers. */

static bool is_float(const ms_type *type)
{
    return type->kind == MS_TYPE_FLOAT || type->kind == MS_TYPE_DOUBLE;
}

static ms_rc to_decimal(const cast *c)
{
    ms_i128 unscaled = 0;
    ms_decimal v = {0, 0};
    bool fits = false;
    if (is_float(c->in->type)) {
        fits = ms_decimal_from_double(c->in->u.f, c->to->precision, c->to->scale, &unscaled);
    } else {
        v = msi_value_decimal(c->in);
        fits = ms_decimal_rescale(v, c->to->precision, c->to->scale, &unscaled);
    }
    c->out->is_null = !fits;
    msi_value_set_exact(c->out, unscaled);
    return MS_OK;
}

static int64_t integer_of_float(double f, ms_phys phys)
{
    if (isnan(f)) {
        return 0;
    }
    double cut = trunc(f);
    if (phys == MS_PHYS_I64) {
        return cut >= 0x1p63 ? INT64_MAX : cut < -0x1p63 ? INT64_MIN : (int64_t)cut;
    }
    int64_t as_int = cut > (double)INT32_MAX   ? INT32_MAX
                     : cut < (double)INT32_MIN ? INT32_MIN
                                               : (int64_t)cut;
    return msi_int_wrap(phys, as_int);
}

static double float_of(const ms_value *value)
{
    if (is_float(value->type)) {
        return value->u.f;
    }
    return value->type->kind == MS_TYPE_DECIMAL ? ms_decimal_to_double(msi_value_decimal(value))
                                                : (double)value->u.i;
}

static ms_rc to_number(const cast *c)
{
    const ms_type *from = c->in->type;
    if (c->to->kind == MS_TYPE_DECIMAL) {
        return to_decimal(c);
    }
    if (c->to->kind == MS_TYPE_DOUBLE) {
        c->out->u.f = float_of(c->in);
    } else if (c->to->kind == MS_TYPE_FLOAT) {
        /* Integers become floats in one rounding, not by way of a double. */
        bool is_int = !is_float(from) && from->kind != MS_TYPE_DECIMAL;
        c->out->u.f = (double)(is_int ? (float)c->in->u.i : (float)float_of(c->in));
    } else if (c->to->kind == MS_TYPE_BOOLEAN) {
        c->out->u.i = is_float(from) ? c->in->u.f != 0 : msi_value_decimal(c->in).unscaled != 0;
    } else if (is_float(from)) {
        c->out->u.i = integer_of_float(c->in->u.f, c->to->phys);
    } else {
        bool is_decimal = from->kind == MS_TYPE_DECIMAL;
        int64_t whole =
            is_decimal ? ms_decimal_to_i64_wrapping(msi_value_decimal(c->in)) : c->in->u.i;
        c->out->u.i = msi_int_wrap(c->to->phys, whole);
    }
    return MS_OK;
}

/* Dates and times. */

static ms_rc to_temporal(const cast *c)
{
    const ms_type *from = c->in->type;
    ms_zone_cursor cursor = ms_zone_cursor_make(zone_of(c));
    ms_i128 local = c->in->u.i;
    if (from->kind == MS_TYPE_TIMESTAMP_LTZ && c->to->kind == MS_TYPE_TIMESTAMP_LTZ) {
        c->out->u.i = ms_time_truncate_us(c->in->u.i, c->to->precision);
        return MS_OK;
    }
    if (from->kind == MS_TYPE_DATE) {
        local *= MS_TIME_US_PER_DAY;
    } else if (from->kind == MS_TYPE_TIME) {
        local *= 1000;
    } else if (from->kind == MS_TYPE_TIMESTAMP_LTZ) {
        local = ms_zone_local_from_utc_us(&cursor, c->in->u.i);
    }
    int64_t us = local > INT64_MAX ? INT64_MAX : local < INT64_MIN ? INT64_MIN : (int64_t)local;
    if (c->to->kind == MS_TYPE_DATE) {
        c->out->u.i = from->kind == MS_TYPE_DATE ? c->in->u.i : ms_time_day_of_us(us);
    } else if (c->to->kind == MS_TYPE_TIME) {
        c->out->u.i = ms_time_us_of_day(us) / 1000;
    } else {
        us = ms_time_truncate_us(us, c->to->precision);
        c->out->u.i =
            c->to->kind == MS_TYPE_TIMESTAMP_LTZ ? ms_zone_utc_from_local_us(&cursor, us) : us;
    }
    return MS_OK;
}

/* Nested values: item by item. */
static ms_rc to_nested(const cast *c)
{
    ms_value *items = ms_arena_array(c->arena, ms_value, c->in->item_count);
    uint32_t kinds = c->to->child_count;
    for (uint32_t i = 0; i < c->in->item_count; i++) {
        uint32_t child = c->to->kind == MS_TYPE_ROW ? i : i % kinds;
        if (c->to->kind == MS_TYPE_MULTISET && i % 2 == 1) {
            items[i] = c->in->u.items[i];
            continue;
        }
        child = c->to->kind == MS_TYPE_MULTISET ? 0 : child;
        cast item = *c;
        item.in = &c->in->u.items[i];
        item.to = c->to->children[child];
        item.out = &items[i];
        MS_TRY(cast_value(&item));
        if (items[i].is_null && !item.to->nullable) {
            return ms_status_set(c->st, MS_INVALID_CAST, ms_span_none,
                                 "cannot cast NULL inside a %.*s to NOT NULL",
                                 MS_STR_ARG(ms_type_text_bare(c->arena, c->in->type)));
        }
    }
    c->out->item_count = c->in->item_count;
    c->out->u.items = items;
    return MS_OK;
}

static bool is_temporal(const ms_type *type)
{
    return type->kind == MS_TYPE_DATE || type->kind == MS_TYPE_TIME || ms_type_is_timestamp(type);
}

static ms_rc cast_value(const cast *c)
{
    const ms_type *from = c->in->type;
    *c->out = (ms_value){.type = c->to};
    if (c->in->is_null || from->kind == MS_TYPE_NULL) {
        c->out->is_null = true;
        return MS_OK;
    }
    if (ms_type_is_nested(c->to)) {
        return to_nested(c);
    }
    if (c->to->phys == MS_PHYS_STR) {
        return from->phys == MS_PHYS_STR ? bytes_to_bytes(c) : to_text(c);
    }
    if (from->phys == MS_PHYS_STR) {
        return is_temporal(c->to) ? temporal_from_text(c) : from_text(c);
    }
    return is_temporal(c->to) ? to_temporal(c) : to_number(c);
}

ms_rc ms_cast_value(ms_arena *arena, const ms_eval_config *config, const ms_value *value,
                    const ms_type *to, ms_value *value_out, ms_status *st)
{
    ms_eval_config resolved = *config;
    if (msi_type_has_zone(value->type) || msi_type_has_zone(to)) {
        MS_TRY(ms_eval_config_make(arena, config, &resolved, st));
    }
    cast c = {arena, &resolved, value, to, value_out, st};
    return cast_value(&c);
}
