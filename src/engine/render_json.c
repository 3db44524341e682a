/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values as JSON, for results. This is not the json format of tables (format/json), which writes
 * what Flink's does: here nothing is lost (DECIMAL as string, precision of times as declared).
 */
#include "engine/render.h"

#include "format/json_text.h"
#include "type/text.h"

#include <math.h>

static ms_rc append_lit(ms_buf *out, const char *text, ms_status *st)
{
    return ms_buf_append(out, ms_str_cstr(text), st);
}

static ms_rc json_double(ms_buf *out, double value, bool is_float, ms_status *st)
{
    char text[MS_TEXT_F64_BYTES];
    size_t bytes = is_float ? ms_text_f32(text, (float)value) : ms_text_f64(text, value);
    if (isfinite(value)) {
        return ms_buf_append(out, ms_str_make(text, bytes), st);
    }
    return ms_json_append_string(out, ms_str_make(text, bytes), st);
}

static ms_rc json_base64(ms_buf *out, ms_str bytes, ms_status *st)
{
    size_t length = ms_text_base64_bytes(bytes.bytes);
    MS_TRY(ms_buf_append_byte(out, '"', st));
    MS_TRY(ms_buf_reserve(out, length, st));
    out->bytes += ms_text_base64_encode(out->ptr + out->bytes, bytes);
    return ms_buf_append_byte(out, '"', st);
}

/* DATE, TIME, TIMESTAMP, intervals: the text in quotes. */
static ms_rc json_temporal(ms_buf *out, const ms_vec *vec, uint32_t row, ms_status *st)
{
    MS_TRY(ms_buf_append_byte(out, '"', st));
    MS_TRY(ms_text_vec(out, vec, row, MS_TEXT_CAST, ms_zone_utc(), st));
    if (vec->type->kind == MS_TYPE_TIMESTAMP_LTZ) {
        MS_TRY(ms_buf_append_byte(out, 'Z', st));
    }
    return ms_buf_append_byte(out, '"', st);
}

static ms_rc json_scalar(ms_buf *out, const ms_vec *vec, uint32_t row, ms_status *st)
{
    uint32_t pos = ms_vec_pos(vec, row);
    switch (vec->type->kind) {
    case MS_TYPE_BOOLEAN:
        return append_lit(out, MS_VEC_DATA(vec, uint8_t)[pos] != 0 ? "true" : "false", st);
    case MS_TYPE_FLOAT:
        return json_double(out, (double)MS_VEC_DATA(vec, float)[pos], true, st);
    case MS_TYPE_DOUBLE:
        return json_double(out, MS_VEC_DATA(vec, double)[pos], false, st);
    case MS_TYPE_CHAR:
    case MS_TYPE_VARCHAR:
        return ms_json_append_string(out, ms_view_str(&MS_VEC_DATA(vec, ms_view)[pos]), st);
    case MS_TYPE_BINARY:
    case MS_TYPE_VARBINARY:
        return json_base64(out, ms_view_str(&MS_VEC_DATA(vec, ms_view)[pos]), st);
    case MS_TYPE_TINYINT:
    case MS_TYPE_SMALLINT:
    case MS_TYPE_INT:
    case MS_TYPE_BIGINT:
        return ms_text_vec(out, vec, row, MS_TEXT_CAST, ms_zone_utc(), st);
    case MS_TYPE_DECIMAL:
    case MS_TYPE_DATE:
    case MS_TYPE_TIME:
    case MS_TYPE_TIMESTAMP:
    case MS_TYPE_TIMESTAMP_LTZ:
    case MS_TYPE_INTERVAL_MONTH:
    case MS_TYPE_INTERVAL_SECOND:
        return json_temporal(out, vec, row, st);
    case MS_TYPE_NULL:
        return append_lit(out, "null", st);
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

static ms_rc json_row(ms_buf *out, const ms_vec *vec, uint32_t pos, ms_status *st)
{
    MS_TRY(ms_buf_append_byte(out, '{', st));
    for (uint32_t i = 0; i < vec->child_count; i++) {
        MS_TRY(i > 0 ? ms_buf_append_byte(out, ',', st) : MS_OK);
        MS_TRY(ms_json_append_string(out, vec->type->names[i], st));
        MS_TRY(ms_buf_append_byte(out, ':', st));
        MS_TRY(msi_json_value(out, &vec->children[i], pos, st));
    }
    return ms_buf_append_byte(out, '}', st);
}

/* One entry of a MAP or MULTISET: a member when keys are strings, else an object of two members. */
static ms_rc json_entry(ms_buf *out, const ms_vec *vec, uint32_t at, bool as_member,
                        const char *value_name, ms_status *st)
{
    if (!as_member) {
        MS_TRY(append_lit(out, "{\"key\":", st));
    }
    MS_TRY(msi_json_value(out, &vec->children[0], at, st));
    if (!as_member) {
        MS_TRY(ms_buf_format(out, st, ",\"%s\"", value_name));
    }
    MS_TRY(ms_buf_append_byte(out, ':', st));
    MS_TRY(msi_json_value(out, &vec->children[1], at, st));
    return as_member ? MS_OK : ms_buf_append_byte(out, '}', st);
}

/* True when every key of the map is a string that is not NULL, so that it can be an object. */
static bool has_string_keys(const ms_vec *vec, ms_list list)
{
    const ms_vec *keys = &vec->children[0];
    if (!ms_type_is_character(keys->type)) {
        return false;
    }
    for (uint32_t i = 0; i < list.length; i++) {
        if (ms_vec_is_null(keys, list.offset + i)) {
            return false;
        }
    }
    return true;
}

static ms_rc json_list(ms_buf *out, const ms_vec *vec, uint32_t pos, ms_status *st)
{
    ms_list list = MS_VEC_DATA(vec, ms_list)[pos];
    bool is_array = vec->type->kind == MS_TYPE_ARRAY;
    bool is_map = vec->type->kind == MS_TYPE_MAP;
    bool as_object = is_map && has_string_keys(vec, list);
    MS_TRY(ms_buf_append_byte(out, as_object ? '{' : '[', st));
    for (uint32_t i = 0; i < list.length; i++) {
        MS_TRY(i > 0 ? ms_buf_append_byte(out, ',', st) : MS_OK);
        if (is_array) {
            MS_TRY(msi_json_value(out, &vec->children[0], list.offset + i, st));
        } else {
            MS_TRY(
                json_entry(out, vec, list.offset + i, as_object, is_map ? "value" : "count", st));
        }
    }
    return ms_buf_append_byte(out, as_object ? '}' : ']', st);
}

ms_rc msi_json_value(ms_buf *out, const ms_vec *vec, uint32_t row, ms_status *st)
{
    if (ms_vec_is_null(vec, row)) {
        return append_lit(out, "null", st);
    }
    if (vec->phys == MS_PHYS_ROW) {
        return json_row(out, vec, ms_vec_pos(vec, row), st);
    }
    if (vec->phys == MS_PHYS_LIST) {
        return json_list(out, vec, ms_vec_pos(vec, row), st);
    }
    return json_scalar(out, vec, row, st);
}
