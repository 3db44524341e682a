/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The renderer: headers, rows and footers of the three formats. Values are formatted by
 * render_json.c and render_csv.c, widths are render_width.c's.
 *
 * A bounded tableau keeps its cells as length-prefixed texts, one after the other, in blocks of an
 * arena that is charged to the account.
 */
#include "engine/render.h"

#include "format/json_text.h"
#include "type/text.h"

#include <inttypes.h>

#define WRITE_BYTES (64u << 10) /* text is handed on in pieces of about this size */

struct msi_renderer {
    msi_render_options options;
    ms_arena arena;
    ms_schema schema;
    ms_buf out;
    ms_buf scratch;
    uint64_t rows;
    bool has_header;
    uint32_t *widths;
    ms_str
        *kept; /* tableau of a bounded result: cells, row by row; the op first when there is one */
    size_t kept_count;
    size_t kept_capacity;
    uint64_t charged_bytes;
    ms_arena texts;
};

/*
 * A result may have two columns of one name; an object may not: a, a0, a1. "op" is one of a
 * changelog.
 */
static ms_str unique_name(msi_renderer *renderer, const ms_field *fields, uint32_t count,
                          ms_str name)
{
    ms_str candidate = name;
    uint32_t suffix = 0;
    if (renderer->options.changelog && ms_str_equals(name, ms_str_lit("op"))) {
        candidate = ms_arena_format(&renderer->arena, "op%u", suffix++);
    }
    for (uint32_t i = 0; i < count;) {
        if (ms_str_equals(fields[i].name, candidate)) {
            candidate = ms_arena_format(&renderer->arena, "%.*s%u", MS_STR_ARG(name), suffix++);
            i = 0;
        } else {
            i++;
        }
    }
    return candidate;
}

msi_renderer *msi_renderer_create(const msi_render_options *options, const ms_schema *schema)
{
    msi_renderer *renderer = ms_mem_calloc(1, sizeof *renderer);
    renderer->options = *options;
    ms_arena_init(&renderer->arena, 0);
    ms_arena_init(&renderer->texts, 0);
    ms_buf_init(&renderer->out, MSI_RENDER_LINE_MAX);
    ms_buf_init(&renderer->scratch, MSI_RENDER_LINE_MAX);
    ms_field *fields = ms_arena_array(&renderer->arena, ms_field, schema->column_count);
    for (uint32_t i = 0; i < schema->column_count; i++) {
        ms_str name = ms_arena_copy_str(&renderer->arena, schema->columns[i].name);
        fields[i].name = unique_name(renderer, fields, i, name);
        fields[i].type = schema->columns[i].type;
    }
    renderer->schema = (ms_schema){schema->column_count, fields};
    renderer->widths = ms_arena_array(&renderer->arena, uint32_t, schema->column_count + 1);
    return renderer;
}

void msi_renderer_destroy(msi_renderer *renderer)
{
    if (renderer == NULL) {
        return;
    }
    if (renderer->charged_bytes > 0) {
        ms_account_unreserve(renderer->options.account, renderer->charged_bytes);
    }
    ms_mem_free(renderer->kept);
    ms_buf_release(&renderer->out);
    ms_buf_release(&renderer->scratch);
    ms_arena_release(&renderer->texts);
    ms_arena_release(&renderer->arena);
    ms_mem_free(renderer);
}

const char *msi_row_kind_text(ms_row_kind kind)
{
    switch (kind) {
    case MS_ROW_INSERT:
        return "+I";
    case MS_ROW_UPDATE_BEFORE:
        return "-U";
    case MS_ROW_UPDATE_AFTER:
        return "+U";
    case MS_ROW_DELETE:
        return "-D";
    }
    return "+I";
}

static ms_rc flush(msi_renderer *renderer, ms_status *st)
{
    if (renderer->out.bytes == 0) {
        return MS_OK;
    }
    bool wrote = renderer->options.write(renderer->options.arg, ms_buf_view(&renderer->out));
    ms_buf_reset(&renderer->out);
    if (!wrote) {
        return ms_status_set(st, MS_CANCELED, ms_span_none, "the reader of the result has gone");
    }
    return MS_OK;
}

static ms_rc flush_when_full(msi_renderer *renderer, ms_status *st)
{
    return renderer->out.bytes >= WRITE_BYTES ? flush(renderer, st) : MS_OK;
}

/* JSON. */

static ms_rc json_line(msi_renderer *renderer, const ms_batch *batch, uint32_t row, ms_status *st)
{
    ms_buf *out = &renderer->out;
    MS_TRY(ms_buf_append_byte(out, '{', st));
    if (renderer->options.changelog) {
        MS_TRY(ms_buf_format(out, st, "\"op\":\"%s\"%s",
                             msi_row_kind_text(ms_batch_kind(batch, row)),
                             renderer->schema.column_count > 0 ? "," : ""));
    }
    for (uint32_t c = 0; c < renderer->schema.column_count; c++) {
        MS_TRY(c > 0 ? ms_buf_append_byte(out, ',', st) : MS_OK);
        MS_TRY(ms_json_append_string(out, renderer->schema.columns[c].name, st));
        MS_TRY(ms_buf_append_byte(out, ':', st));
        MS_TRY(msi_json_value(out, &batch->columns[c], row, st));
    }
    return ms_buf_append(out, ms_str_lit("}\n"), st);
}

/* CSV. */

static ms_rc csv_header(msi_renderer *renderer, ms_status *st)
{
    ms_buf *out = &renderer->out;
    const char *between = "";
    if (renderer->options.changelog) {
        MS_TRY(ms_buf_append(out, ms_str_lit("op"), st));
        between = ",";
    }
    for (uint32_t c = 0; c < renderer->schema.column_count; c++) {
        MS_TRY(ms_buf_append(out, ms_str_cstr(between), st));
        MS_TRY(msi_csv_text(out, renderer->schema.columns[c].name, st));
        between = ",";
    }
    return ms_buf_append_byte(out, '\n', st);
}

static ms_rc csv_line(msi_renderer *renderer, const ms_batch *batch, uint32_t row, ms_status *st)
{
    ms_buf *out = &renderer->out;
    const char *between = "";
    if (renderer->options.changelog) {
        MS_TRY(ms_buf_append(out, ms_str_cstr(msi_row_kind_text(ms_batch_kind(batch, row))), st));
        between = ",";
    }
    for (uint32_t c = 0; c < renderer->schema.column_count; c++) {
        MS_TRY(ms_buf_append(out, ms_str_cstr(between), st));
        MS_TRY(msi_csv_value(out, &batch->columns[c], row, &renderer->scratch, st));
        between = ",";
    }
    return ms_buf_append_byte(out, '\n', st);
}

/* Tableau. Column 0 of widths and kept is the op, when there is one. */

static uint32_t tableau_columns(const msi_renderer *renderer)
{
    return renderer->schema.column_count + (renderer->options.changelog ? 1 : 0);
}

static ms_str tableau_title(const msi_renderer *renderer, uint32_t column)
{
    if (renderer->options.changelog) {
        if (column == 0) {
            return ms_str_lit("op");
        }
        column--;
    }
    return renderer->schema.columns[column].name;
}

/* The text of one cell, in scratch. */
static ms_rc tableau_cell(msi_renderer *renderer, const ms_batch *batch, uint32_t row,
                          uint32_t column, ms_str *text_out, ms_status *st)
{
    if (renderer->options.changelog) {
        if (column == 0) {
            *text_out = ms_str_cstr(msi_row_kind_text(ms_batch_kind(batch, row)));
            return MS_OK;
        }
        column--;
    }
    const ms_vec *vec = &batch->columns[column];
    if (ms_vec_is_null(vec, row)) {
        *text_out = renderer->options.is_listing ? ms_str_lit("") : ms_str_lit("<NULL>");
        return MS_OK;
    }
    ms_buf_reset(&renderer->scratch);
    MS_TRY(ms_text_vec(&renderer->scratch, vec, row, MS_TEXT_DISPLAY, renderer->options.zone, st));
    *text_out = ms_buf_view(&renderer->scratch);
    return MS_OK;
}

static ms_rc tableau_border(msi_renderer *renderer, ms_status *st)
{
    MS_TRY(ms_buf_append_byte(&renderer->out, '+', st));
    for (uint32_t c = 0; c < tableau_columns(renderer); c++) {
        for (uint32_t i = 0; i < renderer->widths[c] + 2; i++) {
            MS_TRY(ms_buf_append_byte(&renderer->out, '-', st));
        }
        MS_TRY(ms_buf_append_byte(&renderer->out, '+', st));
    }
    return ms_buf_append_byte(&renderer->out, '\n', st);
}

static ms_rc tableau_field(msi_renderer *renderer, uint32_t column, ms_str text, ms_status *st)
{
    MS_TRY(ms_buf_append(&renderer->out, ms_str_lit(" "), st));
    MS_TRY(msi_text_fit(&renderer->out, text, renderer->widths[column], st));
    return ms_buf_append(&renderer->out, ms_str_lit(" |"), st);
}

static ms_rc tableau_header(msi_renderer *renderer, ms_status *st)
{
    MS_TRY(tableau_border(renderer, st));
    MS_TRY(ms_buf_append_byte(&renderer->out, '|', st));
    for (uint32_t c = 0; c < tableau_columns(renderer); c++) {
        MS_TRY(tableau_field(renderer, c, tableau_title(renderer, c), st));
    }
    MS_TRY(ms_buf_append_byte(&renderer->out, '\n', st));
    return tableau_border(renderer, st);
}

static void tableau_type_widths(msi_renderer *renderer)
{
    for (uint32_t c = 0; c < tableau_columns(renderer); c++) {
        bool is_op = renderer->options.changelog && c == 0;
        uint32_t title = msi_text_width(tableau_title(renderer, c));
        uint32_t column = c - (renderer->options.changelog ? 1 : 0);
        uint32_t width = is_op ? 2
                               : msi_tableau_type_width(renderer->schema.columns[column].type,
                                                        renderer->options.max_width);
        renderer->widths[c] = title > width ? title : width;
    }
}

static ms_rc tableau_line(msi_renderer *renderer, const ms_batch *batch, uint32_t row,
                          ms_status *st)
{
    MS_TRY(ms_buf_append_byte(&renderer->out, '|', st));
    for (uint32_t c = 0; c < tableau_columns(renderer); c++) {
        ms_str text;
        MS_TRY(tableau_cell(renderer, batch, row, c, &text, st));
        MS_TRY(tableau_field(renderer, c, text, st));
    }
    return ms_buf_append_byte(&renderer->out, '\n', st);
}

/* Room in the array of kept cells for one more; the array doubles and is charged. */
static ms_rc keep_room(msi_renderer *renderer, ms_status *st)
{
    if (renderer->kept_count < renderer->kept_capacity) {
        return MS_OK;
    }
    size_t capacity = renderer->kept_capacity == 0 ? 256 : renderer->kept_capacity * 2;
    uint64_t more = (capacity - renderer->kept_capacity) * sizeof(ms_str);
    MS_TRY(ms_account_reserve(renderer->options.account, more, st));
    renderer->charged_bytes += more;
    renderer->kept = ms_mem_realloc(renderer->kept, capacity * sizeof(ms_str));
    renderer->kept_capacity = capacity;
    return MS_OK;
}

static ms_rc keep_line(msi_renderer *renderer, const ms_batch *batch, uint32_t row, ms_status *st)
{
    for (uint32_t c = 0; c < tableau_columns(renderer); c++) {
        ms_str text;
        MS_TRY(tableau_cell(renderer, batch, row, c, &text, st));
        MS_TRY(keep_room(renderer, st));
        MS_TRY(ms_account_reserve(renderer->options.account, text.bytes + 1, st));
        renderer->charged_bytes += text.bytes + 1;
        renderer->kept[renderer->kept_count++] = ms_arena_copy_str(&renderer->texts, text);
        uint32_t width = msi_text_width(text);
        uint32_t cap = renderer->options.is_listing ? UINT32_MAX : renderer->options.max_width;
        width = width > cap ? cap : width;
        renderer->widths[c] = width > renderer->widths[c] ? width : renderer->widths[c];
    }
    return MS_OK;
}

static ms_rc print_kept(msi_renderer *renderer, ms_status *st)
{
    uint32_t columns = tableau_columns(renderer);
    for (uint32_t c = 0; c < columns; c++) {
        uint32_t title = msi_text_width(tableau_title(renderer, c));
        renderer->widths[c] = title > renderer->widths[c] ? title : renderer->widths[c];
    }
    MS_TRY(tableau_header(renderer, st));
    for (size_t i = 0; i < renderer->kept_count; i++) {
        uint32_t column = (uint32_t)(i % columns);
        MS_TRY(column == 0 ? ms_buf_append_byte(&renderer->out, '|', st) : MS_OK);
        MS_TRY(tableau_field(renderer, column, renderer->kept[i], st));
        if (column + 1 == columns) {
            MS_TRY(ms_buf_append_byte(&renderer->out, '\n', st));
            MS_TRY(flush_when_full(renderer, st));
        }
    }
    return tableau_border(renderer, st);
}

static ms_rc tableau_end(msi_renderer *renderer, ms_status *st)
{
    const char *plural = renderer->rows > 1 ? "s" : "";
    if (renderer->options.is_unbounded) {
        MS_TRY(renderer->rows > 0 ? tableau_border(renderer, st) : MS_OK);
        return ms_buf_format(&renderer->out, st, "Received a total of %" PRIu64 " row%s\n",
                             renderer->rows, plural);
    }
    if (renderer->rows == 0) {
        return ms_buf_append(&renderer->out, ms_str_lit("Empty set\n"), st);
    }
    MS_TRY(print_kept(renderer, st));
    return ms_buf_format(&renderer->out, st, "%" PRIu64 " row%s in set\n", renderer->rows, plural);
}

/* All formats. */

static ms_rc header(msi_renderer *renderer, ms_status *st)
{
    if (renderer->has_header) {
        return MS_OK;
    }
    renderer->has_header = true;
    if (renderer->options.format == MS_RESULT_CSV) {
        return csv_header(renderer, st);
    }
    if (renderer->options.format == MS_RESULT_TABLEAU && renderer->options.is_unbounded) {
        tableau_type_widths(renderer);
        return tableau_header(renderer, st);
    }
    return MS_OK;
}

static ms_rc line(msi_renderer *renderer, const ms_batch *batch, uint32_t row, ms_status *st)
{
    switch (renderer->options.format) {
    case MS_RESULT_JSON:
        return json_line(renderer, batch, row, st);
    case MS_RESULT_CSV:
        return csv_line(renderer, batch, row, st);
    case MS_RESULT_TABLEAU:
        return renderer->options.is_unbounded ? tableau_line(renderer, batch, row, st)
                                              : keep_line(renderer, batch, row, st);
    }
    MS_UNREACHABLE();
}

ms_rc msi_renderer_batch(msi_renderer *renderer, const ms_batch *batch, ms_status *st)
{
    MS_TRY(header(renderer, st));
    for (uint32_t k = 0; k < ms_batch_live(batch); k++) {
        MS_TRY(line(renderer, batch, ms_batch_row(batch, k), st));
        renderer->rows++;
        MS_TRY(flush_when_full(renderer, st));
    }
    return flush(renderer, st);
}

ms_rc msi_renderer_end(msi_renderer *renderer, ms_status *st)
{
    MS_TRY(header(renderer, st));
    if (renderer->options.format == MS_RESULT_TABLEAU) {
        MS_TRY(tableau_end(renderer, st));
    }
    return flush(renderer, st);
}
