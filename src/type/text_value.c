/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of whole values, of any type: what CAST AS STRING gives, what results show to people,
 * and what the print connector writes. The three differ in small things only, so that one walk
 * over the value serves them all; the tables at the top say where they differ.
 *
 *     value of ROW<i INT, a ARRAY<BYTES>>      CAST (1, [ab, NULL])
 *                                              DISPLAY (1, [x'6162', NULL])
 *                                              PRINT +I[1, [[97, 98], null]]
 */
#include "type/text.h"

/* What one walk carries along. */
typedef struct writer {
    ms_buf *buf;
    ms_text_style style;
    ms_zone_cursor cursor;
    ms_status *st;
} writer;

static writer writer_make(ms_buf *buf, ms_text_style style, const ms_zone *zone, ms_status *st)
{
    /* An interval without instants: the first use of the cursor seeks. */
    ms_zone_cursor cursor = {.zone = style == MS_TEXT_PRINT ? ms_zone_utc() : zone};
    return (writer){buf, style, cursor, st};
}

static bool is_print(const writer *w)
{
    return w->style == MS_TEXT_PRINT;
}

static ms_rc append(writer *w, ms_str text)
{
    return ms_buf_append(w->buf, text, w->st);
}

static ms_str null_text(const writer *w)
{
    return is_print(w) ? ms_str_lit("null") : ms_str_lit("NULL");
}

static ms_str bool_text(const writer *w, bool value)
{
    if (is_print(w)) {
        return value ? ms_str_lit("true") : ms_str_lit("false");
    }
    return value ? ms_str_lit("TRUE") : ms_str_lit("FALSE");
}

static ms_str opening(const writer *w, ms_type_kind kind)
{
    if (kind == MS_TYPE_ROW) {
        return is_print(w) ? ms_str_lit("+I[") : ms_str_lit("(");
    }
    return kind == MS_TYPE_ARRAY ? ms_str_lit("[") : ms_str_lit("{");
}

static ms_str closing(const writer *w, ms_type_kind kind)
{
    if (kind == MS_TYPE_ROW) {
        return is_print(w) ? ms_str_lit("]") : ms_str_lit(")");
    }
    return kind == MS_TYPE_ARRAY ? ms_str_lit("]") : ms_str_lit("}");
}

/* What stands before item i: entries of maps alternate between '=' and ','. */
static ms_str separator(ms_type_kind kind, uint32_t i)
{
    if (i == 0) {
        return ms_str_lit("");
    }
    bool value_of_entry = (kind == MS_TYPE_MAP || kind == MS_TYPE_MULTISET) && i % 2 == 1;
    return value_of_entry ? ms_str_lit("=") : ms_str_lit(", ");
}

/* Bytes. */

static ms_rc append_hex(writer *w, ms_str bytes)
{
    MS_TRY(ms_buf_reserve(w->buf, bytes.bytes * 2 + 3, w->st));
    MS_TRY(append(w, ms_str_lit("x'")));
    w->buf->bytes += ms_text_hex_encode(w->buf->ptr + w->buf->bytes, bytes, false);
    return append(w, ms_str_lit("'"));
}

/* As Java prints a byte[]: signed numbers. */
static ms_rc append_byte_list(writer *w, ms_str bytes)
{
    MS_TRY(append(w, ms_str_lit("[")));
    for (size_t i = 0; i < bytes.bytes; i++) {
        char number[MS_TEXT_I64_BYTES];
        size_t length = ms_text_i64(number, (signed char)bytes.ptr[i]);
        MS_TRY(append(w, i > 0 ? ms_str_lit(", ") : ms_str_lit("")));
        MS_TRY(append(w, ms_str_make(number, length)));
    }
    return append(w, ms_str_lit("]"));
}

static ms_rc append_string(writer *w, const ms_value *value)
{
    if (ms_type_is_binary(value->type)) {
        switch (w->style) {
        case MS_TEXT_DISPLAY:
            return append_hex(w, value->u.str);
        case MS_TEXT_PRINT:
            return append_byte_list(w, value->u.str);
        case MS_TEXT_CAST:
            break;
        }
    }
    return append(w, value->u.str);
}

/* Times. */

static size_t put_timestamp(writer *w, char *out, const ms_value *value)
{
    const ms_type *type = value->type;
    bool local = type->kind == MS_TYPE_TIMESTAMP_LTZ;
    ms_text_fraction fraction = is_print(w) ? MS_TEXT_JAVA : MS_TEXT_EXACT;
    char between = is_print(w) ? 'T' : ' ';
    size_t bytes = 0;
    bool whole_minute = false;
    if (type->phys == MS_PHYS_TS16) {
        ms_ts16 ts = value->u.ts;
        ts.ms = local ? ms_zone_local_from_utc_ms(&w->cursor, ts.ms) : ts.ms;
        whole_minute = ms_time_floor_mod(ts.ms, 60000) == 0 && ts.ns == 0;
        bytes = ms_text_timestamp_ts(out, ts, type->precision, fraction, between);
    } else {
        int64_t us = local ? ms_zone_local_from_utc_us(&w->cursor, value->u.i) : value->u.i;
        whole_minute = ms_time_floor_mod(us, 60000000) == 0;
        bytes = ms_text_timestamp_us(out, us, type->precision, fraction, between);
    }
    if (local && is_print(w)) {
        /* java.time.Instant, unlike LocalDateTime, always shows the seconds. */
        ms_str suffix = whole_minute ? ms_str_lit(":00Z") : ms_str_lit("Z");
        memcpy(out + bytes, suffix.ptr, suffix.bytes);
        bytes += suffix.bytes;
    }
    return bytes;
}

/* A part of a java.time.Period or Duration, left out when zero: "-3M". */
static char *put_part(char *out, int64_t value, char unit)
{
    if (value != 0) {
        out += ms_text_i64(out, value);
        *out++ = unit;
    }
    return out;
}

static size_t put_period(char *out, int32_t months)
{
    char *at = out;
    *at++ = 'P';
    at = put_part(put_part(at, months / 12, 'Y'), months % 12, 'M');
    if (months == 0) {
        *at++ = '0';
        *at++ = 'D';
    }
    return (size_t)(at - out);
}

static size_t put_duration(char *out, int64_t ms)
{
    char *at = out;
    *at++ = 'P';
    *at++ = 'T';
    at = put_part(put_part(at, ms / 3600000, 'H'), ms / 60000 % 60, 'M');
    int32_t rest = (int32_t)(ms % 60000);
    if (rest != 0 || ms == 0) {
        int32_t magnitude = rest < 0 ? -rest : rest;
        if (rest < 0) {
            *at++ = '-';
        }
        at += ms_text_i64(at, magnitude / 1000);
        int32_t fraction = magnitude % 1000;
        if (fraction != 0) {
            *at++ = '.';
            for (int32_t unit = 100; fraction > 0; unit /= 10) {
                *at++ = (char)('0' + fraction / unit);
                fraction %= unit;
            }
        }
        *at++ = 'S';
    }
    return (size_t)(at - out);
}

/* Numbers. */

static size_t put_decimal(const writer *w, char *out, const ms_value *value)
{
    const ms_type *type = value->type;
    ms_i128 unscaled = type->phys == MS_PHYS_I128 ? value->u.dec : (ms_i128)value->u.i;
    return is_print(w) ? ms_text_decimal_java(out, unscaled, type->scale)
                       : ms_text_decimal(out, unscaled, type->scale);
}

/* The types whose texts are short and bounded. */
static size_t put_short(writer *w, char *out, const ms_value *value)
{
    const ms_type *type = value->type;
    switch (type->kind) {
    case MS_TYPE_TINYINT:
    case MS_TYPE_SMALLINT:
    case MS_TYPE_INT:
    case MS_TYPE_BIGINT:
        return ms_text_i64(out, value->u.i);
    case MS_TYPE_FLOAT:
        return ms_text_f32(out, (float)value->u.f);
    case MS_TYPE_DOUBLE:
        return ms_text_f64(out, value->u.f);
    case MS_TYPE_DECIMAL:
        return put_decimal(w, out, value);
    case MS_TYPE_DATE:
        return ms_text_date(out, (int32_t)value->u.i);
    case MS_TYPE_TIME: {
        int32_t digits = type->precision < 3 ? type->precision : 3;
        return ms_text_time(out, (int32_t)value->u.i, is_print(w) ? 3 : digits,
                            is_print(w) ? MS_TEXT_JAVA : MS_TEXT_TIME);
    }
    case MS_TYPE_TIMESTAMP:
    case MS_TYPE_TIMESTAMP_LTZ:
        return put_timestamp(w, out, value);
    case MS_TYPE_INTERVAL_MONTH:
        return is_print(w) ? put_period(out, (int32_t)value->u.i)
                           : ms_text_interval_months(out, (int32_t)value->u.i);
    case MS_TYPE_INTERVAL_SECOND:
        return is_print(w) ? put_duration(out, value->u.i) : ms_text_interval_ms(out, value->u.i);
    case MS_TYPE_NULL:
    case MS_TYPE_BOOLEAN:
    case MS_TYPE_CHAR:
    case MS_TYPE_VARCHAR:
    case MS_TYPE_BINARY:
    case MS_TYPE_VARBINARY:
    case MS_TYPE_ARRAY:
    case MS_TYPE_MAP:
    case MS_TYPE_MULTISET:
    case MS_TYPE_ROW:
    case MS_TYPE_RAW:
    case MS_TYPE_TIMESTAMP_TZ:
    case MS_TYPE_KIND_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

#define SHORT_BYTES MS_TEXT_DECIMAL_BYTES

/* Any value that is not nested and not NULL. */
static ms_rc append_scalar(writer *w, const ms_value *value)
{
    if (value->type->kind == MS_TYPE_BOOLEAN) {
        return append(w, bool_text(w, value->u.i != 0));
    }
    if (value->type->phys == MS_PHYS_STR) {
        return append_string(w, value);
    }
    MS_TRY(ms_buf_reserve(w->buf, SHORT_BYTES, w->st));
    w->buf->bytes += put_short(w, w->buf->ptr + w->buf->bytes, value);
    return MS_OK;
}

/* The walks. */

static ms_rc append_value(writer *w, const ms_value *value)
{
    ms_type_kind kind = value->type->kind;
    if (value->is_null) {
        return append(w, null_text(w));
    }
    if (!ms_type_is_nested(value->type)) {
        return append_scalar(w, value);
    }
    MS_TRY(append(w, opening(w, kind)));
    for (uint32_t i = 0; i < value->item_count; i++) {
        MS_TRY(append(w, separator(kind, i)));
        MS_TRY(append_value(w, &value->u.items[i]));
    }
    return append(w, closing(w, kind));
}

static ms_rc append_vec(writer *w, const ms_vec *vec, uint32_t row)
{
    ms_type_kind kind = vec->type->kind;
    uint32_t pos = ms_vec_pos(vec, row);
    if (!ms_type_is_nested(vec->type)) {
        ms_value value = ms_value_from_vec(NULL, vec, row);
        return append_value(w, &value);
    }
    if (vec->valid != NULL && !ms_bit_get(vec->valid, pos)) {
        return append(w, null_text(w));
    }
    uint32_t width = vec->child_count;
    bool is_row = kind == MS_TYPE_ROW;
    ms_list list = is_row ? (ms_list){pos, 0} : MS_VEC_DATA(vec, const ms_list)[pos];
    uint32_t items = is_row ? width : list.length * width;
    MS_TRY(append(w, opening(w, kind)));
    for (uint32_t i = 0; i < items; i++) {
        MS_TRY(append(w, separator(kind, i)));
        MS_TRY(append_vec(w, &vec->children[i % width], is_row ? pos : list.offset + i / width));
    }
    return append(w, closing(w, kind));
}

ms_rc ms_text_value(ms_buf *buf, const ms_value *value, ms_text_style style, const ms_zone *zone,
                    ms_status *st)
{
    writer w = writer_make(buf, style, zone, st);
    return append_value(&w, value);
}

ms_rc ms_text_vec(ms_buf *buf, const ms_vec *vec, uint32_t row, ms_text_style style,
                  const ms_zone *zone, ms_status *st)
{
    writer w = writer_make(buf, style, zone, st);
    return append_vec(&w, vec, row);
}
