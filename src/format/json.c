/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The json format's options and decoder. Schemas of scalars go through the shim's flat walk, which
 * fills columns itself; a schema with ROW, ARRAY or MAP is read line by line as trees, whose values
 * reach the batch by the row codec.
 */
#include "format/json.h"

#include "base/limits.h"
#include "format/json_priv.h"
#include "format/lines.h"
#include "type/rowcodec.h"

#include <stdio.h>

static const ms_option_desc json_options[] = {
    {.key = "fail-on-missing-field", .kind = MS_OPT_BOOL, .fallback = "false"},
    {.key = "ignore-parse-errors", .kind = MS_OPT_BOOL, .fallback = "false"},
    {.key = "timestamp-format.standard",
     .kind = MS_OPT_ENUM,
     .values = "SQL|ISO-8601",
     .fallback = "SQL"},
    {.key = "map-null-key.mode",
     .kind = MS_OPT_ENUM,
     .values = "FAIL|DROP|LITERAL",
     .fallback = "FAIL"},
    {.key = "map-null-key.literal", .kind = MS_OPT_STRING, .fallback = "null"},
    {.key = "encode.decimal-as-plain-number", .kind = MS_OPT_BOOL, .fallback = "false"},
    {.key = "encode.ignore-null-fields", .kind = MS_OPT_BOOL, .fallback = "false"},
    {.key = "decode.json-parser.enabled",
     .kind = MS_OPT_BOOL,
     .unsupported = true,
     .hint = "There is one parser here; leave the option out."},
};
#define JSON_OPTION_COUNT ((uint32_t)(sizeof json_options / sizeof *json_options))

static ms_rc get(const ms_option_list *list, const char *key, ms_option_value *value, ms_status *st)
{
    return ms_option_get(list, json_options, JSON_OPTION_COUNT, key, value, st);
}

ms_rc msi_json_read_options(const ms_option_list *list, ms_arena *arena, msi_json_options *options,
                            ms_status *st)
{
    ms_option_value value;
    *options = (msi_json_options){.fail_on_missing_field = false};
    MS_TRY(
        ms_options_check(list, json_options, JSON_OPTION_COUNT, NULL, NULL, "format \"json\"", st));
    MS_TRY(get(list, "fail-on-missing-field", &value, st));
    options->fail_on_missing_field = value.i64 != 0;
    MS_TRY(get(list, "ignore-parse-errors", &value, st));
    options->ignore_parse_errors = value.i64 != 0;
    if (options->fail_on_missing_field && options->ignore_parse_errors) {
        return ms_status_set(st, MS_OPTION_CONFLICT, value.span,
                             "options \"json.fail-on-missing-field\" and "
                             "\"json.ignore-parse-errors\" exclude each other");
    }
    MS_TRY(get(list, "timestamp-format.standard", &value, st));
    options->timestamps = value.i64 == 0 ? MSI_JSON_TIMESTAMP_SQL : MSI_JSON_TIMESTAMP_ISO;
    MS_TRY(get(list, "map-null-key.mode", &value, st));
    options->null_keys = (msi_json_null_keys)value.i64;
    MS_TRY(get(list, "map-null-key.literal", &value, st));
    options->null_key_literal = ms_arena_copy_str(arena, value.text);
    MS_TRY(get(list, "encode.decimal-as-plain-number", &value, st));
    options->plain_decimals = value.i64 != 0;
    MS_TRY(get(list, "encode.ignore-null-fields", &value, st));
    options->ignore_null_fields = value.i64 != 0;
    return MS_OK;
}

ms_rc msi_json_check_type(const ms_field *field, const ms_type *type, ms_arena *arena,
                          ms_status *st)
{
    for (uint32_t i = 0; i < type->child_count; i++) {
        MS_TRY(msi_json_check_type(field, type->children[i], arena, st));
    }
    bool is_nested = type->kind == MS_TYPE_ROW || type->kind == MS_TYPE_ARRAY;
    bool is_map = type->kind == MS_TYPE_MAP && ms_type_is_character(type->children[0]);
    if (is_nested || is_map || msi_csv_cell(type) != NULL) {
        return MS_OK;
    }
    return ms_status_set(st, MS_NOT_SUPPORTED, ms_span_none,
                         "format \"json\" does not take column \"%.*s\" of type %s",
                         MS_STR_ARG(field->name), ms_type_text_bare(arena, type).ptr);
}

/* The decoder. */

typedef struct json_decoder {
    ms_decoder head;
    ms_arena arena;
    ms_arena scratch; /* of one row */
    msi_json_options options;
    ms_schema schema;
    msi_json_column *columns;
    msi_json_flat *flat;         /* schemas of scalars */
    msi_json_document *document; /* schemas with nested columns */
    ms_rowcodec *codec;
    ms_buf record;
    ms_value *values;
    ms_batch *batch; /* at hand */
    msi_lines lines;
    uint64_t ordinal;
} json_decoder;

static msi_json_op op_of(const ms_type *type)
{
    static const msi_json_op ops[MS_TYPE_KIND_COUNT] = {
        [MS_TYPE_BOOLEAN] = MSI_JSON_BOOL, [MS_TYPE_INT] = MSI_JSON_I32,
        [MS_TYPE_BIGINT] = MSI_JSON_I64,   [MS_TYPE_DOUBLE] = MSI_JSON_F64,
        [MS_TYPE_CHAR] = MSI_JSON_STRING,  [MS_TYPE_VARCHAR] = MSI_JSON_STRING,
    };
    return ops[type->kind];
}

static void sink_null(void *arg, uint32_t column, uint32_t row)
{
    msi_cell_null(&((json_decoder *)arg)->batch->columns[column], row);
}

static void sink_valid(void *arg, uint32_t column, uint32_t row)
{
    uint64_t *valid = ((json_decoder *)arg)->batch->columns[column].valid;
    if (valid != NULL) {
        ms_bit_set(valid, row);
    }
}

static char *sink_heap(void *arg, size_t bytes, size_t *got_out)
{
    *got_out = bytes;
    return ms_heap_alloc(((json_decoder *)arg)->batch->heaps[0], bytes);
}

/* Rows are counted by the walk. */
static bool sink_is_full(void *arg)
{
    return ms_batch_wide_bytes(((json_decoder *)arg)->batch) >= MS_BATCH_BYTES_TARGET;
}

static bool sink_text(void *arg, uint32_t column, uint32_t row, const char *text, size_t bytes,
                      msi_json_token token)
{
    json_decoder *self = arg;
    const ms_type *type = self->schema.columns[column].type;
    ms_str view = ms_str_make(text, bytes);
    if (ms_type_is_binary(type)) {
        ms_vec *vec = &self->batch->columns[column];
        return token == MSI_JSON_TOKEN_STRING && msi_cell_base64(view, vec, self->batch, row);
    }
    if (ms_type_is_timestamp(type) && type->phys == MS_PHYS_I64) {
        int64_t *data = MS_VEC_DATA(&self->batch->columns[column], int64_t);
        return token == MSI_JSON_TOKEN_STRING &&
               msi_json_temporal(&self->options, type, view, &data[row]);
    }
    ms_value value;
    bool is_null = false;
    if (!msi_json_scalar(&self->options, type, view, token, &value, &is_null, &self->scratch)) {
        return false;
    }
    if (is_null) {
        msi_cell_null(&self->batch->columns[column], row);
        return true;
    }
    ms_value_to_vec(&self->scratch, &value, &self->batch->columns[column], row,
                    self->batch->capacity);
    return true;
}

#define SHOWN_LINE_BYTES 200u

static ms_rc bad_line(json_decoder *self, ms_str line, const char *why, ms_status *st)
{
    ms_status_set(st, MS_BAD_RECORD, ms_span_none, "json record %llu %s",
                  (unsigned long long)self->ordinal + 1, why);
    ms_str shown = ms_str_head(line, SHOWN_LINE_BYTES);
    ms_status_detail(st, "%.*s", MS_STR_ARG(shown));
    return ms_status_hint(st, "'json.ignore-parse-errors' = 'true' skips what cannot be read.");
}

static ms_str first_line(ms_str input)
{
    size_t feed = ms_str_find_byte(input, '\n', 0);
    return ms_str_slice(input, 0, feed);
}

/*
 * What is wrong with a line that is no JSON object, as far as its brackets and quotes tell. Only
 * failures pay for this look.
 */
static const char *why_malformed(ms_str line)
{
    ms_str text = ms_str_trim(line);
    if (text.bytes > 0 && text.ptr[0] == '[') {
        return "is an array, and only an object can be a row";
    }
    if (!ms_str_is_utf8(text)) {
        return "is not valid UTF-8";
    }
    bool in_string = false;
    uint32_t depth = 0;
    uint32_t deepest = 0;
    for (size_t i = 0; i < text.bytes; i++) {
        char c = text.ptr[i];
        i += in_string && c == '\\' ? 1 : 0;
        in_string = c == '"' ? !in_string : in_string;
        depth += !in_string && (c == '{' || c == '[') ? 1 : 0;
        depth -= !in_string && depth > 0 && (c == '}' || c == ']') ? 1 : 0;
        deepest = depth > deepest ? depth : deepest;
    }
    if (deepest > MSI_JSON_DEPTH_MAX) {
        return "nests deeper than 500 objects and arrays";
    }
    bool is_cut = text.bytes > 0 && text.ptr[0] == '{' && (in_string || depth > 0);
    return is_cut ? "ends before its object does" : "is no JSON object";
}

/* Reports a bad line; MS_OK when the options allow to skip it. */
static ms_rc bad_outcome(json_decoder *self, ms_str line, msi_json_error error, uint32_t bad_column,
                         ms_status *st)
{
    if (error == MSI_JSON_MEMORY) {
        return ms_status_set(st, MS_NO_MEMORY, ms_span_none,
                             "json record %llu needs more memory than the system gives",
                             (unsigned long long)self->ordinal + 1);
    }
    if (self->options.ignore_parse_errors) {
        return MS_OK;
    }
    if (error == MSI_JSON_LIMIT) {
        char why[64];
        snprintf(why, sizeof why, "has more than %u values", MSI_JSON_VALUES_MAX);
        return bad_line(self, line, why, st);
    }
    if (error == MSI_JSON_MALFORMED) {
        return bad_line(self, line, why_malformed(line), st);
    }
    const char *what = error == MSI_JSON_MISSING ? "has no field" : "does not fit column";
    ms_str name = self->schema.columns[bad_column].name;
    ms_str why = ms_arena_format(&self->scratch, "%s \"%.*s\"", what, MS_STR_ARG(name));
    return bad_line(self, line, why.ptr, st);
}

static ms_rc decode_flat(json_decoder *self, ms_str input, ms_batch *batch, size_t *consumed_out,
                         ms_status *st)
{
    msi_json_sink sink = {self, sink_null, sink_valid, sink_text, sink_heap, sink_is_full};
    for (uint32_t c = 0; c < self->schema.column_count; c++) {
        self->columns[c].data = batch->columns[c].data;
    }
    msi_json_flat_begin(self->flat);
    size_t at = 0;
    while (at < input.bytes && !ms_batch_is_full(batch)) {
        msi_json_outcome outcome =
            msi_json_flat_decode(self->flat, self->columns, &sink, input.ptr + at, input.bytes - at,
                                 batch->rows, batch->capacity);
        self->ordinal += outcome.rows - batch->rows;
        batch->rows = outcome.rows;
        at += outcome.consumed;
        *consumed_out = at;
        if (outcome.error != MSI_JSON_OK) {
            ms_str line = first_line(ms_str_slice(input, at, input.bytes));
            MS_TRY(bad_outcome(self, line, outcome.error, outcome.column, st));
            self->ordinal++;
            at += line.bytes + (at + line.bytes < input.bytes ? 1 : 0);
            *consumed_out = at;
        }
        ms_arena_reset(&self->scratch);
    }
    return MS_OK;
}

/* The values of one line, from a tree. */
static msi_json_error tree_values(json_decoder *self, ms_str line, uint32_t *bad_column_out)
{
    msi_json_node root;
    msi_json_error error = msi_json_document_parse(self->document, line.ptr, line.bytes, &root);
    if (error != MSI_JSON_OK) {
        return error;
    }
    if (msi_json_node_kind(&root) != MSI_JSON_KIND_OBJECT) {
        return MSI_JSON_MALFORMED;
    }
    for (uint32_t c = 0; c < self->schema.column_count; c++) {
        const ms_field *field = &self->schema.columns[c];
        msi_json_node member;
        bool found = msi_json_node_member(&root, field->name.ptr, field->name.bytes, &member);
        *bad_column_out = c;
        if (!found && self->options.fail_on_missing_field) {
            return MSI_JSON_MISSING;
        }
        self->values[c] = ms_value_null(field->type);
        if (found && !msi_json_value_of(&self->options, field->type, &member, &self->scratch,
                                        &self->values[c])) {
            return MSI_JSON_VALUE;
        }
    }
    return MSI_JSON_OK;
}

static ms_rc decode_tree(json_decoder *self, ms_str line, ms_batch *batch, ms_status *st)
{
    uint32_t bad_column = 0;
    msi_json_error error = tree_values(self, line, &bad_column);
    if (error != MSI_JSON_OK) {
        return bad_outcome(self, line, error, bad_column, st);
    }
    ms_buf_reset(&self->record);
    MS_TRY(ms_rowcodec_encode_values(self->codec, self->values, &self->record, st));
    return ms_rowcodec_decode(self->codec, ms_buf_view(&self->record), batch, st);
}

static ms_rc decode_trees(json_decoder *self, ms_str input, ms_batch *batch, size_t *consumed_out,
                          ms_status *st)
{
    size_t at = 0;
    while (at < input.bytes && !ms_batch_is_full(batch)) {
        ms_str line = first_line(ms_str_slice(input, at, input.bytes));
        size_t next = at + line.bytes + (at + line.bytes < input.bytes ? 1 : 0);
        if (line.bytes > 0 && line.ptr[line.bytes - 1] == '\r') {
            line.bytes--;
        }
        if (ms_str_starts_with(line, ms_str_lit("\xEF\xBB\xBF"))) {
            line = ms_str_slice(line, 3, line.bytes);
        }
        if (line.bytes > 0) {
            MS_TRY(decode_tree(self, line, batch, st));
            ms_arena_reset(&self->scratch);
            self->ordinal++;
        }
        at = next;
        *consumed_out = at;
    }
    return MS_OK;
}

static ms_rc json_decode(ms_decoder *decoder, ms_str input, bool at_end, ms_batch *batch,
                         size_t *consumed_out, ms_status *st)
{
    json_decoder *self = (json_decoder *)decoder;
    *consumed_out = 0;
    input.bytes = at_end ? input.bytes : msi_lines_whole(&self->lines, input);
    self->batch = batch;
    ms_rc rc = self->flat != NULL ? decode_flat(self, input, batch, consumed_out, st)
                                  : decode_trees(self, input, batch, consumed_out, st);
    msi_lines_consume(&self->lines, *consumed_out);
    return rc;
}

static void json_reset(ms_decoder *decoder, bool at_start)
{
    json_decoder *self = (json_decoder *)decoder;
    (void)at_start; /* a byte order mark is skipped in front of any line */
    self->ordinal = 0;
    self->lines = (msi_lines){.whole = 0};
}

static void json_close(ms_decoder *decoder)
{
    json_decoder *self = (json_decoder *)decoder;
    msi_json_flat_destroy(self->flat);
    msi_json_document_destroy(self->document);
    ms_buf_release(&self->record);
    ms_arena_release(&self->scratch);
    ms_arena_release(&self->arena);
    ms_mem_free(self);
}

static const ms_decoder_class json_decoder_class = {json_decode, json_reset, json_close};

static ms_rc bind_columns(json_decoder *self, const ms_schema *schema, bool *nested_out,
                          ms_status *st)
{
    self->columns = ms_arena_array(&self->arena, msi_json_column, schema->column_count);
    self->values = ms_arena_array(&self->arena, ms_value, schema->column_count);
    ms_field *fields = ms_arena_array(&self->arena, ms_field, schema->column_count);
    *nested_out = false;
    for (uint32_t i = 0; i < schema->column_count; i++) {
        const ms_field *field = &schema->columns[i];
        MS_TRY(msi_json_check_type(field, field->type, &self->arena, st));
        fields[i] = (ms_field){ms_arena_copy_str(&self->arena, field->name), field->type};
        *nested_out |= ms_type_is_nested(field->type);
        self->columns[i] =
            (msi_json_column){fields[i].name.ptr, fields[i].name.bytes, op_of(field->type), NULL};
    }
    self->schema = (ms_schema){schema->column_count, fields};
    return MS_OK;
}

static ms_rc json_decoder_create(const ms_schema *file_schema, const uint32_t *wanted,
                                 const ms_schema *schema, const ms_option_list *options,
                                 ms_str time_zone, ms_decoder **decoder_out, ms_status *st)
{
    (void)file_schema; /* columns are found by name */
    (void)wanted;
    (void)time_zone; /* TIMESTAMP_LTZ is UTC here */
    json_decoder *self = ms_mem_calloc(1, sizeof *self);
    self->head.klass = &json_decoder_class;
    ms_arena_init(&self->arena, 0);
    ms_arena_init(&self->scratch, 0);
    ms_buf_init(&self->record, MS_LIMIT_RECORD_BYTES);
    bool is_nested = false;
    ms_rc rc = msi_json_read_options(options, &self->arena, &self->options, st);
    rc = rc == MS_OK ? bind_columns(self, schema, &is_nested, st) : rc;
    if (rc != MS_OK) {
        json_close(&self->head);
        return rc;
    }
    if (is_nested) {
        self->document = msi_json_document_create();
        self->codec = ms_rowcodec_make(&self->arena, &self->schema);
    } else {
        self->flat = msi_json_flat_create(self->columns, schema->column_count,
                                          self->options.fail_on_missing_field,
                                          self->options.ignore_parse_errors);
    }
    if (self->document == NULL && self->flat == NULL) {
        json_close(&self->head);
        return ms_status_set(st, MS_NO_MEMORY, ms_span_none,
                             "could not allocate the decoder of format \"json\"");
    }
    *decoder_out = &self->head;
    return MS_OK;
}

const ms_format ms_format_json = {
    .name = "json",
    .options = json_options,
    .option_count = JSON_OPTION_COUNT,
    .decoder_create = json_decoder_create,
    .encoder_create = msi_json_encoder_create,
};
