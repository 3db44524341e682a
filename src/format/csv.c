/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The csv format's options and the decoder: records (csv_split.h) into rows. A record is split
 * whole before anything is converted, so that one cut off by the end of the input is left alone.
 */
#include "format/csv.h"

#include "format/csv_nested.h"
#include "format/csv_split.h"

#include <stdio.h>

#define NO_COLUMN UINT32_MAX

static const ms_option_desc csv_options[] = {
    {.key = "field-delimiter", .kind = MS_OPT_STRING, .fallback = ","},
    {.key = "disable-quote-character", .kind = MS_OPT_BOOL, .fallback = "false"},
    {.key = "quote-character", .kind = MS_OPT_STRING},
    {.key = "allow-comments", .kind = MS_OPT_BOOL, .fallback = "false"},
    {.key = "ignore-parse-errors", .kind = MS_OPT_BOOL, .fallback = "false"},
    {.key = "array-element-delimiter", .kind = MS_OPT_STRING, .fallback = ";"},
    {.key = "escape-character", .kind = MS_OPT_STRING},
    {.key = "null-literal", .kind = MS_OPT_STRING},
    {.key = "write-bigdecimal-in-scientific-notation", .kind = MS_OPT_BOOL, .fallback = "true"},
    {.key = "trim-spaces", .kind = MS_OPT_BOOL, .fallback = "false"},
    {.key = "ignore-trailing-unmappable", .kind = MS_OPT_BOOL, .fallback = "false"},
    {.key = "allow-trailing-comma", .kind = MS_OPT_BOOL, .fallback = "true"},
    {.key = "fail-on-missing-columns", .kind = MS_OPT_BOOL, .fallback = "false"},
    {.key = "empty-string-as-null", .kind = MS_OPT_BOOL, .fallback = "false"},
    {.key = "ignore-first-line", .kind = MS_OPT_BOOL, .fallback = "false"},
};
#define CSV_OPTION_COUNT ((uint32_t)(sizeof csv_options / sizeof *csv_options))

/* Options. */

/* One character as it is written. */
static ms_rc take_char(const ms_option_value *value, const char *key, char *char_out, ms_status *st)
{
    ms_str text = value->text;
    if (text.bytes != 1 || (unsigned char)text.ptr[0] >= 0x80) {
        return ms_status_set(st, MS_INVALID_OPTION, value->span,
                             "option \"csv.%s\" must be one ASCII character", key);
    }
    *char_out = text.ptr[0];
    return MS_OK;
}

/* One character, Java escapes decoded: "\t", "\\". */
static ms_rc read_char(const ms_option_list *list, const char *key, char *char_out, bool *set_out,
                       ms_status *st)
{
    ms_option_value value;
    MS_TRY(ms_option_get(list, csv_options, CSV_OPTION_COUNT, key, &value, st));
    *set_out = value.has_value;
    if (!value.has_value) {
        return MS_OK;
    }
    static const char escapes[][2] = {{'t', '\t'}, {'n', '\n'}, {'r', '\r'}, {'\\', '\\'}};
    ms_str text = value.text;
    for (size_t i = 0; text.bytes == 2 && text.ptr[0] == '\\' && i < 4; i++) {
        if (text.ptr[1] == escapes[i][0]) {
            *char_out = escapes[i][1];
            return MS_OK;
        }
    }
    return take_char(&value, key, char_out, st);
}

/* Escapes are not decoded here, as Flink does not. */
static ms_rc read_element_delimiter(const ms_option_list *list, char *char_out, ms_status *st)
{
    static const char key[] = "array-element-delimiter";
    ms_option_value value;
    MS_TRY(ms_option_get(list, csv_options, CSV_OPTION_COUNT, key, &value, st));
    return take_char(&value, key, char_out, st);
}

static ms_rc read_flag(const ms_option_list *list, const char *key, bool *flag_out, ms_status *st)
{
    ms_option_value value;
    MS_TRY(ms_option_get(list, csv_options, CSV_OPTION_COUNT, key, &value, st));
    *flag_out = value.i64 != 0;
    return MS_OK;
}

static ms_rc read_flags(const ms_option_list *list, msi_csv_options *options, ms_status *st)
{
    const struct {
        const char *key;
        bool *flag;
    } flags[] = {
        {"allow-comments", &options->allow_comments},
        {"ignore-parse-errors", &options->ignore_parse_errors},
        {"ignore-first-line", &options->ignore_first_line},
        {"trim-spaces", &options->trim_spaces},
        {"ignore-trailing-unmappable", &options->ignore_trailing_unmappable},
        {"fail-on-missing-columns", &options->fail_on_missing_columns},
        {"allow-trailing-comma", &options->allow_trailing_comma},
        {"empty-string-as-null", &options->empty_string_as_null},
        {"write-bigdecimal-in-scientific-notation", &options->scientific_decimals},
    };
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        MS_TRY(read_flag(list, flags[i].key, flags[i].flag, st));
    }
    return MS_OK;
}

ms_rc msi_csv_read_options(const ms_option_list *list, ms_arena *arena, msi_csv_options *options,
                           ms_status *st)
{
    *options = (msi_csv_options){.quote = '"'};
    bool is_set = false;
    bool quote_set = false;
    bool no_quote = false;
    MS_TRY(ms_options_check(list, csv_options, CSV_OPTION_COUNT, NULL, NULL, "format \"csv\"", st));
    MS_TRY(read_flags(list, options, st));
    MS_TRY(read_char(list, "field-delimiter", &options->delimiter, &is_set, st));
    MS_TRY(read_char(list, "quote-character", &options->quote, &quote_set, st));
    MS_TRY(read_char(list, "escape-character", &options->escape, &options->has_escape, st));
    MS_TRY(read_flag(list, "disable-quote-character", &no_quote, st));
    options->has_quote = !no_quote;
    if (no_quote && quote_set) {
        return ms_status_set(st, MS_OPTION_CONFLICT, ms_span_none,
                             "options \"csv.quote-character\" and \"csv.disable-quote-character\" "
                             "exclude each other");
    }
    MS_TRY(read_element_delimiter(list, &options->element_delimiter, st));
    ms_option_value null_literal;
    MS_TRY(ms_option_get(list, csv_options, CSV_OPTION_COUNT, "null-literal", &null_literal, st));
    if (null_literal.has_value) {
        options->null_literal = ms_arena_copy_str(arena, null_literal.text);
    }
    return MS_OK;
}

/* The decoder. */

typedef struct csv_decoder {
    ms_decoder head;
    ms_arena arena;
    msi_csv_options options;
    uint32_t file_count; /* columns of a record */
    uint32_t *target;    /* of each: the column of the batch, or NO_COLUMN */
    msi_cell_fn *cells;  /* of each column of the batch; NULL: it is nested */
    const ms_type **types;
    ms_str *names;
    msi_csv_splitter splitter; /* of the record at hand; keeps one field more than file_count */
    bool skip_line;            /* the first record of the file is still to come */
    bool at_start;             /* nothing of the file was consumed: a byte order mark may come */
    size_t passed;             /* of the input: done with, but in front of the first position */
    uint64_t ordinal;          /* records seen in this file, from 1 */
} csv_decoder;

static bool is_record_end(char c)
{
    return c == '\n' || c == '\r';
}

/* Texts of the input in messages. */
#define SHOWN_RECORD_BYTES 200u
#define SHOWN_FIELD_BYTES 60u

static ms_rc bad_record(const csv_decoder *self, ms_str record, const char *why, ms_status *st)
{
    ms_status_set(st, MS_BAD_RECORD, ms_span_none, "csv record %llu %s",
                  (unsigned long long)self->ordinal, why);
    ms_str shown = ms_str_head(record, SHOWN_RECORD_BYTES);
    size_t end = 0;
    while (end < shown.bytes && !is_record_end(shown.ptr[end])) {
        end++;
    }
    ms_status_detail(st, "%.*s", (int)end, shown.ptr);
    return ms_status_hint(st, "'csv.ignore-parse-errors' = 'true' skips what cannot be read.");
}

static ms_rc check_arity(csv_decoder *self, ms_str record, bool *skip_out, ms_status *st)
{
    const msi_csv_options *options = &self->options;
    uint32_t count = self->splitter.field_count;
    bool trailing_comma = count == self->file_count + 1 && options->allow_trailing_comma &&
                          msi_cell_trim(msi_csv_field_text(&self->splitter, count - 1)).bytes == 0;
    bool too_many =
        count > self->file_count && !trailing_comma && !options->ignore_trailing_unmappable;
    bool too_few = count < self->file_count;
    *skip_out = too_many && options->ignore_parse_errors;
    bool fails = too_many ||
                 (too_few && (!options->ignore_parse_errors || options->fail_on_missing_columns));
    if (!fails || *skip_out) {
        return MS_OK;
    }
    char why[96];
    snprintf(why, sizeof why, "has %u fields where %u are expected", count, self->file_count);
    return bad_record(self, record, why, st);
}

/* Converts the fields of the record into the next row of the batch. */
static ms_rc convert(csv_decoder *self, ms_batch *batch, ms_str record, ms_status *st)
{
    uint32_t row = batch->rows;
    for (uint32_t i = 0; i < self->file_count; i++) {
        uint32_t column = self->target[i];
        if (column == NO_COLUMN) {
            continue;
        }
        ms_vec *vec = &batch->columns[column];
        bool is_nested = self->cells[column] == NULL;
        bool is_there = i < self->splitter.field_count;
        ms_str field = is_there ? msi_csv_field_text(&self->splitter, i) : ms_str_lit("");
        if (!is_there || (!is_nested && msi_csv_is_null(&self->options, field))) {
            msi_cell_null(vec, row);
            continue;
        }
        if (is_nested ? msi_csv_read_nested(&self->options, field, vec, batch, row)
                      : self->cells[column](field, vec, batch, row)) {
            continue;
        }
        if (!self->options.ignore_parse_errors) {
            ms_str type = ms_type_text_bare(&self->arena, self->types[column]);
            ms_str shown = ms_str_head(field, SHOWN_FIELD_BYTES);
            ms_str why = ms_arena_format(&self->arena, "has no %.*s in column \"%.*s\": \"%.*s\"",
                                         MS_STR_ARG(type), MS_STR_ARG(self->names[column]),
                                         MS_STR_ARG(shown));
            return bad_record(self, record, why.ptr, st);
        }
        msi_cell_null(vec, row);
    }
    batch->rows++;
    return MS_OK;
}

static bool is_blank(const csv_decoder *self)
{
    const msi_csv_splitter *splitter = &self->splitter;
    return splitter->field_count == 1 && msi_csv_field_text(splitter, 0).bytes == 0 &&
           !splitter->fields[0].is_quoted;
}

/* What a record that was split leads to. */
static ms_rc take_record(csv_decoder *self, msi_csv_split split, ms_str record, ms_batch *batch,
                         ms_status *st)
{
    self->ordinal++;
    if (self->skip_line) {
        self->skip_line = false;
        return MS_OK;
    }
    if (split == MSI_CSV_MALFORMED) {
        return self->options.ignore_parse_errors ? MS_OK
                                                 : bad_record(self, record, self->splitter.why, st);
    }
    bool skip = is_blank(self) && self->file_count > 1 && self->options.ignore_parse_errors;
    if (!skip) {
        MS_TRY(check_arity(self, record, &skip, st));
    }
    return skip ? MS_OK : convert(self, batch, record, st);
}

static ms_rc csv_decode(ms_decoder *decoder, ms_str input, bool at_end, ms_batch *batch,
                        size_t *consumed_out, ms_status *st)
{
    csv_decoder *self = (csv_decoder *)decoder;
    size_t at = self->passed;
    *consumed_out = 0;
    if (self->at_start && input.bytes < 3 && !at_end) {
        return MS_OK; /* a byte order mark may come */
    }
    if (self->at_start && at == 0 && ms_str_starts_with(input, ms_str_lit("\xEF\xBB\xBF"))) {
        at = 3;
    }
    while (at < input.bytes && !ms_batch_is_full(batch)) {
        ms_str record = ms_str_slice(input, at, input.bytes);
        msi_csv_split split = msi_csv_split_record(&self->splitter, record, at_end);
        if (split == MSI_CSV_CUT) {
            break;
        }
        uint64_t ordinal = self->ordinal;
        if (split != MSI_CSV_NOTHING && take_record(self, split, record, batch, st) != MS_OK) {
            self->ordinal = ordinal; /* the record is met again */
            return st->code;
        }
        at += self->splitter.bytes;
        /* A position behind the mark, but before the header, would make the header a row. */
        self->at_start = self->at_start && self->skip_line;
        *consumed_out = self->skip_line ? 0 : at;
        self->passed = at - *consumed_out;
    }
    if (at_end && at == input.bytes) {
        *consumed_out = at; /* a mark or comments alone */
    }
    self->passed = at - *consumed_out;
    return MS_OK;
}

static void csv_reset(ms_decoder *decoder, bool at_start)
{
    csv_decoder *self = (csv_decoder *)decoder;
    self->skip_line = at_start && self->options.ignore_first_line;
    self->at_start = at_start;
    self->passed = 0;
    self->ordinal = 0;
    msi_csv_splitter_reset(&self->splitter);
}

static void csv_close(ms_decoder *decoder)
{
    csv_decoder *self = (csv_decoder *)decoder;
    msi_csv_splitter_release(&self->splitter);
    ms_arena_release(&self->arena);
    ms_mem_free(self);
}

static const ms_decoder_class csv_decoder_class = {csv_decode, csv_reset, csv_close};

static ms_rc bind_columns(csv_decoder *self, const uint32_t *wanted, const ms_schema *schema,
                          ms_status *st)
{
    for (uint32_t i = 0; i < self->file_count; i++) {
        self->target[i] = NO_COLUMN;
    }
    for (uint32_t i = 0; i < schema->column_count; i++) {
        const ms_field *field = &schema->columns[i];
        self->target[wanted[i]] = i;
        self->types[i] = field->type;
        self->names[i] = field->name;
        self->cells[i] = msi_csv_cell(field->type);
        if (self->cells[i] == NULL && !msi_csv_is_nested(field->type)) {
            return ms_status_set(st, MS_NOT_SUPPORTED, ms_span_none,
                                 "format \"csv\" cannot read column \"%.*s\" of type %s",
                                 MS_STR_ARG(field->name),
                                 ms_type_text_bare(&self->arena, field->type).ptr);
        }
    }
    return MS_OK;
}

ms_rc msi_csv_decoder_create(const ms_schema *file_schema, const uint32_t *wanted,
                             const ms_schema *schema, const ms_option_list *options,
                             ms_str time_zone, ms_decoder **decoder_out, ms_status *st)
{
    (void)time_zone; /* TIMESTAMP_LTZ is UTC here */
    csv_decoder *self = ms_mem_calloc(1, sizeof *self);
    self->head.klass = &csv_decoder_class;
    ms_arena_init(&self->arena, 0);
    self->file_count = file_schema->column_count;
    self->target = ms_arena_array(&self->arena, uint32_t, self->file_count);
    msi_csv_splitter_init(&self->splitter, &self->options,
                          ms_arena_array(&self->arena, msi_csv_field, self->file_count + 1),
                          self->file_count + 1);
    self->cells = ms_arena_array(&self->arena, msi_cell_fn, schema->column_count);
    self->types = ms_arena_array(&self->arena, const ms_type *, schema->column_count);
    self->names = ms_arena_array(&self->arena, ms_str, schema->column_count);
    ms_rc rc = msi_csv_read_options(options, &self->arena, &self->options, st);
    rc = rc == MS_OK ? bind_columns(self, wanted, schema, st) : rc;
    if (rc != MS_OK) {
        csv_close(&self->head);
        return rc;
    }
    csv_reset(&self->head, true);
    *decoder_out = &self->head;
    return MS_OK;
}

const ms_format ms_format_csv = {
    .name = "csv",
    .options = csv_options,
    .option_count = CSV_OPTION_COUNT,
    .decoder_create = msi_csv_decoder_create,
    .encoder_create = msi_csv_encoder_create,
};
