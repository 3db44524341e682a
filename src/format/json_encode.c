/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows as JSON lines, as Flink's encoder writes them: compact, in schema order, DECIMAL as a number
 * without trailing zeros, fractions of seconds with the fewest digits, TIMESTAMP_LTZ in UTC with Z.
 */
#include "format/json.h"

#include "base/limits.h"
#include "format/json_priv.h"
#include "format/json_text.h"

#include <math.h>

typedef struct json_encoder {
    ms_encoder head;
    ms_arena arena;
    msi_json_options options;
    ms_str *names;
} json_encoder;

static ms_rc append_value(const json_encoder *self, const ms_vec *vec, uint32_t row, ms_buf *out,
                          ms_status *st);

static ms_rc append_name(ms_buf *out, ms_str name, bool *first, ms_status *st)
{
    MS_TRY(*first ? MS_OK : ms_buf_append_byte(out, ',', st));
    *first = false;
    MS_TRY(ms_json_append_string(out, name, st));
    return ms_buf_append_byte(out, ':', st);
}

static ms_rc append_fields(const json_encoder *self, const ms_vec *columns, const ms_str *names,
                           uint32_t count, uint32_t row, ms_buf *out, ms_status *st)
{
    bool first = true;
    MS_TRY(ms_buf_append_byte(out, '{', st));
    for (uint32_t i = 0; i < count; i++) {
        if (self->options.ignore_null_fields && ms_vec_is_null(&columns[i], row)) {
            continue;
        }
        MS_TRY(append_name(out, names[i], &first, st));
        MS_TRY(append_value(self, &columns[i], row, out, st));
    }
    return ms_buf_append_byte(out, '}', st);
}

static ms_rc append_array(const json_encoder *self, const ms_vec *vec, ms_list list, ms_buf *out,
                          ms_status *st)
{
    MS_TRY(ms_buf_append_byte(out, '[', st));
    for (uint32_t i = 0; i < list.length; i++) {
        MS_TRY(i > 0 ? ms_buf_append_byte(out, ',', st) : MS_OK);
        MS_TRY(append_value(self, &vec->children[0], list.offset + i, out, st));
    }
    return ms_buf_append_byte(out, ']', st);
}

static ms_rc append_map(const json_encoder *self, const ms_vec *vec, ms_list list, ms_buf *out,
                        ms_status *st)
{
    const ms_vec *keys = &vec->children[0];
    bool first = true;
    MS_TRY(ms_buf_append_byte(out, '{', st));
    for (uint32_t i = list.offset; i < list.offset + list.length; i++) {
        ms_str key = self->options.null_key_literal;
        if (!ms_vec_is_null(keys, i)) {
            key = ms_view_str(&MS_VEC_DATA(keys, ms_view)[ms_vec_pos(keys, i)]);
        } else if (self->options.null_keys == MSI_JSON_NULL_KEY_DROP) {
            continue;
        } else if (self->options.null_keys == MSI_JSON_NULL_KEY_FAIL) {
            ms_status_set(st, MS_BAD_RECORD, ms_span_none, "a MAP with a NULL key cannot be JSON");
            ms_status_detail(st, "JSON format doesn't support to serialize map data with null "
                                 "keys.");
            return ms_status_hint(st, "Set 'json.map-null-key.mode' to DROP or LITERAL.");
        }
        MS_TRY(append_name(out, key, &first, st));
        MS_TRY(append_value(self, &vec->children[1], i, out, st));
    }
    return ms_buf_append_byte(out, '}', st);
}

static ms_rc append_float(const ms_vec *vec, uint32_t pos, ms_buf *out, ms_status *st)
{
    bool is_single = vec->phys == MS_PHYS_F32;
    double value = is_single ? (double)MS_VEC_DATA(vec, float)[pos] : MS_VEC_DATA(vec, double)[pos];
    char text[MS_TEXT_F64_BYTES];
    size_t bytes = is_single ? ms_text_f32(text, (float)value) : ms_text_f64(text, value);
    ms_str view = ms_str_make(text, bytes);
    return isfinite(value) ? ms_buf_append(out, view, st) : ms_json_append_string(out, view, st);
}

static ms_rc append_integer(const ms_vec *vec, uint32_t pos, ms_buf *out, ms_status *st)
{
    int64_t value = vec->phys == MS_PHYS_I8    ? MS_VEC_DATA(vec, int8_t)[pos]
                    : vec->phys == MS_PHYS_I16 ? MS_VEC_DATA(vec, int16_t)[pos]
                    : vec->phys == MS_PHYS_I32 ? MS_VEC_DATA(vec, int32_t)[pos]
                                               : MS_VEC_DATA(vec, int64_t)[pos];
    MS_TRY(ms_buf_reserve(out, MS_TEXT_I64_BYTES, st));
    out->bytes += ms_text_i64(out->ptr + out->bytes, value);
    return MS_OK;
}

static ms_rc append_quoted(const json_encoder *self, const ms_vec *vec, uint32_t pos, ms_buf *out,
                           ms_status *st)
{
    MS_TRY(ms_buf_append_byte(out, '"', st));
    if (ms_type_is_binary(vec->type)) {
        ms_str bytes = ms_view_str(&MS_VEC_DATA(vec, ms_view)[pos]);
        MS_TRY(ms_buf_reserve(out, ms_text_base64_bytes(bytes.bytes), st));
        out->bytes += ms_text_base64_encode(out->ptr + out->bytes, bytes);
    } else {
        char separator = self->options.timestamps == MSI_JSON_TIMESTAMP_ISO ? 'T' : ' ';
        MS_TRY(msi_append_temporal(out, vec, pos, separator, st));
    }
    return ms_buf_append_byte(out, '"', st);
}

/* Zeros at the end stay when the number is to be plain. */
static ms_rc append_decimal(const json_encoder *self, const ms_vec *vec, uint32_t pos, ms_buf *out,
                            ms_status *st)
{
    if (!self->options.plain_decimals) {
        return msi_append_decimal(out, vec, pos, false, st);
    }
    ms_vec flat = *vec;
    flat.encoding = MS_ENC_FLAT;
    return ms_text_vec(out, &flat, pos, MS_TEXT_CAST, ms_zone_utc(), st);
}

static ms_rc append_scalar(const json_encoder *self, const ms_vec *vec, uint32_t pos, ms_buf *out,
                           ms_status *st)
{
    if (ms_type_is_character(vec->type)) {
        return ms_json_append_string(out, ms_view_str(&MS_VEC_DATA(vec, ms_view)[pos]), st);
    }
    if (vec->type->kind == MS_TYPE_DECIMAL) {
        return append_decimal(self, vec, pos, out, st);
    }
    if (vec->type->kind == MS_TYPE_BOOLEAN) {
        bool truth = MS_VEC_DATA(vec, uint8_t)[pos] != 0;
        return ms_buf_append(out, truth ? ms_str_lit("true") : ms_str_lit("false"), st);
    }
    if (vec->phys == MS_PHYS_F32 || vec->phys == MS_PHYS_F64) {
        return append_float(vec, pos, out, st);
    }
    return ms_type_is_integer(vec->type) ? append_integer(vec, pos, out, st)
                                         : append_quoted(self, vec, pos, out, st);
}

static ms_rc append_value(const json_encoder *self, const ms_vec *vec, uint32_t row, ms_buf *out,
                          ms_status *st)
{
    if (ms_vec_is_null(vec, row)) {
        return ms_buf_append(out, ms_str_lit("null"), st);
    }
    uint32_t pos = ms_vec_pos(vec, row);
    if (vec->phys == MS_PHYS_ROW) {
        return append_fields(self, vec->children, vec->type->names, vec->child_count, pos, out, st);
    }
    if (vec->phys == MS_PHYS_LIST) {
        ms_list list = MS_VEC_DATA(vec, ms_list)[pos];
        return vec->type->kind == MS_TYPE_ARRAY ? append_array(self, vec, list, out, st)
                                                : append_map(self, vec, list, out, st);
    }
    return append_scalar(self, vec, pos, out, st);
}

static ms_rc json_encode(ms_encoder *encoder, const ms_batch *batch, ms_buf *out, ms_status *st)
{
    json_encoder *self = (json_encoder *)encoder;
    ms_rc rc = MS_OK;
    for (uint32_t k = 0; rc == MS_OK && k < ms_batch_live(batch); k++) {
        rc = append_fields(self, batch->columns, self->names, batch->column_count,
                           ms_batch_row(batch, k), out, st);
        rc = rc == MS_OK ? ms_buf_append_byte(out, '\n', st) : rc;
    }
    return rc;
}

static void json_encoder_close(ms_encoder *encoder)
{
    json_encoder *self = (json_encoder *)encoder;
    ms_arena_release(&self->arena);
    ms_mem_free(self);
}

static const ms_encoder_class json_encoder_class = {json_encode, json_encoder_close};

static ms_rc bind_columns(json_encoder *self, const ms_schema *schema, ms_status *st)
{
    self->names = ms_arena_array(&self->arena, ms_str, schema->column_count);
    for (uint32_t i = 0; i < schema->column_count; i++) {
        self->names[i] = ms_arena_copy_str(&self->arena, schema->columns[i].name);
        MS_TRY(msi_json_check_type(&schema->columns[i], schema->columns[i].type, &self->arena, st));
    }
    return MS_OK;
}

ms_rc msi_json_encoder_create(const ms_schema *schema, const ms_option_list *options,
                              ms_str time_zone, ms_encoder **encoder_out, ms_status *st)
{
    (void)time_zone; /* TIMESTAMP_LTZ is written in UTC */
    json_encoder *self = ms_mem_calloc(1, sizeof *self);
    self->head.klass = &json_encoder_class;
    ms_arena_init(&self->arena, 0);
    ms_rc rc = msi_json_read_options(options, &self->arena, &self->options, st);
    rc = rc == MS_OK ? bind_columns(self, schema, st) : rc;
    if (rc != MS_OK) {
        json_encoder_close(&self->head);
        return rc;
    }
    *encoder_out = &self->head;
    return MS_OK;
}
