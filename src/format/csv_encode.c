/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows as csv records, quoted as Flink's writer quotes: texts of more than 24 UTF-16 units, and
 * those with a character at or below the largest of delimiter, quote and line feed (with the
 * defaults: a blank, a quote, a comma and what lies below), or with the escape character, which is
 * a backslash here also when there is none. Numbers and booleans are never quoted, ROW and ARRAY
 * are as one text, NULL is the null literal or nothing.
 */
#include "format/csv.h"

#include "base/limits.h"
#include "format/csv_nested.h"

/* A longer text is quoted without a look at it: the writer Flink uses decides so. */
#define UNQUOTED_UNITS_MAX 24u

typedef struct csv_encoder {
    ms_encoder head;
    ms_arena arena;
    msi_csv_options options;
    ms_buf cell;
} csv_encoder;

static bool must_quote(const msi_csv_options *options, ms_str text)
{
    unsigned char safe = (unsigned char)options->delimiter;
    safe = (unsigned char)options->quote > safe ? (unsigned char)options->quote : safe;
    safe = '\n' > safe ? '\n' : safe;
    unsigned char escape = options->has_escape ? (unsigned char)options->escape : '\\';
    size_t units = 0;
    for (size_t i = 0; i < text.bytes; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        bool is_start = (c & 0xC0) != 0x80;
        units += is_start ? (c >= 0xF0 ? 2 : 1) : 0;
        if (c <= safe || c == escape) {
            return true;
        }
    }
    return units > UNQUOTED_UNITS_MAX;
}

static ms_rc append_text(const csv_encoder *self, ms_str text, ms_buf *out, ms_status *st)
{
    const msi_csv_options *options = &self->options;
    if (!options->has_quote || !must_quote(options, text)) {
        return ms_buf_append(out, text, st);
    }
    MS_TRY(ms_buf_append_byte(out, options->quote, st));
    for (size_t i = 0; i < text.bytes; i++) {
        char c = text.ptr[i];
        /* Both are doubled, as Flink writes them; the reader takes a quote escaped either way. */
        if (c == options->quote || (options->has_escape && c == options->escape)) {
            MS_TRY(ms_buf_append_byte(out, c, st));
        }
        MS_TRY(ms_buf_append_byte(out, c, st));
    }
    return ms_buf_append_byte(out, options->quote, st);
}

static ms_rc append_number(const csv_encoder *self, const ms_vec *vec, uint32_t pos, ms_buf *out,
                           ms_status *st)
{
    if (vec->type->kind == MS_TYPE_BOOLEAN) {
        bool truth = MS_VEC_DATA(vec, uint8_t)[pos] != 0;
        return ms_buf_append(out, truth ? ms_str_lit("true") : ms_str_lit("false"), st);
    }
    if (vec->type->kind == MS_TYPE_DECIMAL) {
        return msi_append_decimal(out, vec, pos, !self->options.scientific_decimals, st);
    }
    ms_vec flat = *vec;
    flat.encoding = MS_ENC_FLAT;
    return ms_text_vec(out, &flat, pos, MS_TEXT_CAST, ms_zone_utc(), st);
}

static bool is_number(const ms_type *type)
{
    return type->kind == MS_TYPE_BOOLEAN || ms_type_is_numeric(type);
}

/* Appends the text of a value that is not nested, without quotes. */
static ms_rc append_plain(const csv_encoder *self, const ms_vec *vec, uint32_t pos, ms_buf *out,
                          ms_status *st)
{
    if (is_number(vec->type)) {
        return append_number(self, vec, pos, out, st);
    }
    if (ms_type_is_character(vec->type)) {
        return ms_buf_append(out, ms_view_str(&MS_VEC_DATA(vec, ms_view)[pos]), st);
    }
    if (ms_type_is_binary(vec->type)) {
        ms_str bytes = ms_view_str(&MS_VEC_DATA(vec, ms_view)[pos]);
        MS_TRY(ms_buf_reserve(out, ms_text_base64_bytes(bytes.bytes), st));
        out->bytes += ms_text_base64_encode(out->ptr + out->bytes, bytes);
        return MS_OK;
    }
    return msi_append_temporal(out, vec, pos, ' ', st);
}

/* Appends a part of a ROW or an ARRAY, behind a delimiter unless it is the first. */
static ms_rc append_part(csv_encoder *self, const ms_vec *vec, uint32_t row, bool is_first,
                         ms_status *st)
{
    const msi_csv_options *options = &self->options;
    MS_TRY(is_first ? MS_OK : ms_buf_append_byte(&self->cell, options->element_delimiter, st));
    return ms_vec_is_null(vec, row)
               ? ms_buf_append(&self->cell, options->null_literal, st)
               : append_plain(self, vec, ms_vec_pos(vec, row), &self->cell, st);
}

static ms_rc append_parts(csv_encoder *self, const ms_vec *vec, uint32_t pos, ms_status *st)
{
    if (vec->type->kind == MS_TYPE_ROW) {
        for (uint32_t i = 0; i < vec->child_count; i++) {
            MS_TRY(append_part(self, &vec->children[i], pos, i == 0, st));
        }
        return MS_OK;
    }
    ms_list list = MS_VEC_DATA(vec, ms_list)[pos];
    for (uint32_t i = 0; i < list.length; i++) {
        MS_TRY(append_part(self, &vec->children[0], list.offset + i, i == 0, st));
    }
    return MS_OK;
}

static ms_rc append_cell(csv_encoder *self, const ms_vec *vec, uint32_t row, ms_buf *out,
                         ms_status *st)
{
    if (ms_vec_is_null(vec, row)) {
        return ms_buf_append(out, self->options.null_literal, st);
    }
    uint32_t pos = ms_vec_pos(vec, row);
    if (is_number(vec->type)) {
        return append_number(self, vec, pos, out, st);
    }
    if (ms_type_is_character(vec->type)) {
        return append_text(self, ms_view_str(&MS_VEC_DATA(vec, ms_view)[pos]), out, st);
    }
    ms_buf_reset(&self->cell);
    MS_TRY(ms_type_is_nested(vec->type) ? append_parts(self, vec, pos, st)
                                        : append_plain(self, vec, pos, &self->cell, st));
    return append_text(self, ms_buf_view(&self->cell), out, st);
}

static ms_rc csv_encode(ms_encoder *encoder, const ms_batch *batch, ms_buf *out, ms_status *st)
{
    csv_encoder *self = (csv_encoder *)encoder;
    for (uint32_t k = 0; k < ms_batch_live(batch); k++) {
        uint32_t row = ms_batch_row(batch, k);
        for (uint32_t c = 0; c < batch->column_count; c++) {
            MS_TRY(c > 0 ? ms_buf_append_byte(out, self->options.delimiter, st) : MS_OK);
            MS_TRY(append_cell(self, &batch->columns[c], row, out, st));
        }
        MS_TRY(ms_buf_append_byte(out, '\n', st));
    }
    return MS_OK;
}

static void csv_encoder_close(ms_encoder *encoder)
{
    csv_encoder *self = (csv_encoder *)encoder;
    ms_buf_release(&self->cell);
    ms_arena_release(&self->arena);
    ms_mem_free(self);
}

static const ms_encoder_class csv_encoder_class = {csv_encode, csv_encoder_close};

static ms_rc check_types(csv_encoder *self, const ms_schema *schema, ms_status *st)
{
    for (uint32_t i = 0; i < schema->column_count; i++) {
        const ms_field *field = &schema->columns[i];
        if (msi_csv_cell(field->type) == NULL && !msi_csv_is_nested(field->type)) {
            return ms_status_set(st, MS_NOT_SUPPORTED, ms_span_none,
                                 "format \"csv\" cannot write column \"%.*s\" of type %s",
                                 MS_STR_ARG(field->name),
                                 ms_type_text_bare(&self->arena, field->type).ptr);
        }
    }
    return MS_OK;
}

ms_rc msi_csv_encoder_create(const ms_schema *schema, const ms_option_list *options,
                             ms_str time_zone, ms_encoder **encoder_out, ms_status *st)
{
    (void)time_zone; /* TIMESTAMP_LTZ is written in UTC */
    csv_encoder *self = ms_mem_calloc(1, sizeof *self);
    self->head.klass = &csv_encoder_class;
    ms_arena_init(&self->arena, 0);
    ms_buf_init(&self->cell, MS_LIMIT_RECORD_BYTES);
    ms_rc rc = check_types(self, schema, st);
    rc = rc == MS_OK ? msi_csv_read_options(options, &self->arena, &self->options, st) : rc;
    if (rc != MS_OK) {
        csv_encoder_close(&self->head);
        return rc;
    }
    *encoder_out = &self->head;
    return MS_OK;
}
