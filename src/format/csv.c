/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The csv format's options and the decoder: text into fields, fields into columns. A record is
 * split whole before anything is converted, so that one cut off by the end of the input is left
 * alone.
 */
#include "format/csv.h"

#include "base/limits.h"
#include "format/format_priv.h"

#include <stdio.h>

#define NO_COLUMN UINT32_MAX

static const ms_option_desc csv_options[] = {
    {.key = "field-delimiter", .kind = MS_OPT_STRING, .fallback = ","},
    {.key = "disable-quote-character", .kind = MS_OPT_BOOL, .fallback = "false"},
    {.key = "quote-character", .kind = MS_OPT_STRING},
    {.key = "allow-comments", .kind = MS_OPT_BOOL, .fallback = "false"},
    {.key = "ignore-parse-errors", .kind = MS_OPT_BOOL, .fallback = "false"},
    {.key = "array-element-delimiter", .kind = MS_OPT_STRING, .unsupported = true},
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
    if (text.bytes != 1 || (unsigned char)text.ptr[0] >= 0x80) {
        return ms_status_set(st, MS_INVALID_OPTION, value.span,
                             "option \"csv.%s\" must be one ASCII character", key);
    }
    *char_out = text.ptr[0];
    return MS_OK;
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
    ms_option_value null_literal;
    MS_TRY(ms_option_get(list, csv_options, CSV_OPTION_COUNT, "null-literal", &null_literal, st));
    if (null_literal.has_value) {
        options->null_literal = ms_arena_copy_str(arena, null_literal.text);
    }
    return MS_OK;
}

/* The decoder. */

typedef struct csv_field {
    ms_str text;
    bool is_quoted;
} csv_field;

typedef struct csv_decoder {
    ms_decoder head;
    ms_arena arena;
    msi_csv_options options;
    uint32_t file_count; /* columns of a record */
    uint32_t *target;    /* of each: the column of the batch, or NO_COLUMN */
    msi_cell_fn *cells;  /* of each column of the batch */
    const ms_type **types;
    ms_str *names;
    csv_field *fields; /* of the record at hand; one more than file_count */
    uint32_t field_count;
    ms_buf unescaped;     /* texts of fields that had quotes or escapes inside */
    bool skip_line;       /* the first record of the file is still to come */
    bool at_start;        /* nothing of the file was consumed: a byte order mark may come */
    bool is_behind_quote; /* what could not be split is text behind a closing quote */
    uint64_t ordinal;     /* records seen in this file, from 1 */
} csv_decoder;

typedef enum csv_split {
    CSV_RECORD,
    CSV_INCOMPLETE, /* the input ends inside the record */
    CSV_MALFORMED
} csv_split;

typedef struct csv_cursor {
    ms_str input;
    size_t at;
    bool at_end;
} csv_cursor;

static bool is_record_end(char c)
{
    return c == '\n' || c == '\r';
}

/* Moves past \n, \r\n or \r. False when \r is the last byte and more may come. */
static bool skip_record_end(csv_cursor *cursor)
{
    char c = cursor->input.ptr[cursor->at];
    if (c == '\r' && cursor->at + 1 == cursor->input.bytes && !cursor->at_end) {
        return false;
    }
    cursor->at++;
    if (c == '\r' && cursor->at < cursor->input.bytes && cursor->input.ptr[cursor->at] == '\n') {
        cursor->at++;
    }
    return true;
}

/* Keeps a field; those beyond the columns of the table are counted, not kept. */
static void keep_field(csv_decoder *self, ms_str text, bool is_quoted)
{
    if (self->field_count < self->file_count + 1) {
        self->fields[self->field_count] = (csv_field){text, is_quoted};
    }
    self->field_count++;
}

/*
 * Copies what stands between a place and an escape or doubled quote at `at`, and the character
 * behind it, which is literal.
 */
static bool copy_literal(csv_decoder *self, csv_cursor *cursor, size_t at)
{
    ms_status ignored = {0};
    ms_str run = ms_str_slice(cursor->input, cursor->at, at);
    cursor->at = at + 2;
    return ms_buf_append(&self->unescaped, run, &ignored) == MS_OK &&
           ms_buf_append_byte(&self->unescaped, cursor->input.ptr[at + 1], &ignored) == MS_OK;
}

/* The text of a field from start to at: a view of the input, or of the copy when there is one. */
static bool field_text(csv_decoder *self, const csv_cursor *cursor, size_t at, size_t copied_at,
                       ms_str *text_out)
{
    *text_out = ms_str_slice(cursor->input, cursor->at, at);
    if (self->unescaped.bytes == copied_at) {
        return true;
    }
    ms_status ignored = {0};
    if (ms_buf_append(&self->unescaped, *text_out, &ignored) != MS_OK) {
        return false;
    }
    *text_out = ms_str_make(self->unescaped.ptr + copied_at, self->unescaped.bytes - copied_at);
    return true;
}

static bool is_escape(const csv_decoder *self, char c)
{
    return self->options.has_escape && c == self->options.escape;
}

/*
 * The inside of a quoted field, from behind the opening quote to behind the closing one. Text
 * without doubled quotes or escapes is a view of the input.
 */
static csv_split quoted_text(csv_decoder *self, csv_cursor *cursor, ms_str *text_out)
{
    const char *input = cursor->input.ptr;
    size_t bytes = cursor->input.bytes;
    size_t copied_at = self->unescaped.bytes;
    for (;;) {
        size_t at = cursor->at;
        while (at < bytes && input[at] != self->options.quote && !is_escape(self, input[at])) {
            at++;
        }
        bool is_last = at + 1 >= bytes; /* what follows decides what it is */
        if (is_last && !cursor->at_end) {
            return CSV_INCOMPLETE;
        }
        bool is_quote = at < bytes && input[at] == self->options.quote;
        if (is_last && !is_quote) {
            return CSV_MALFORMED;
        }
        if (is_quote && (is_last || input[at + 1] != self->options.quote)) {
            bool ok = field_text(self, cursor, at, copied_at, text_out);
            cursor->at = at + 1;
            return ok ? CSV_RECORD : CSV_MALFORMED;
        }
        if (!copy_literal(self, cursor, at)) {
            return CSV_MALFORMED;
        }
    }
}

/* A field that does not begin with a quote. */
static csv_split plain_text(csv_decoder *self, csv_cursor *cursor, ms_str *text_out)
{
    const char *input = cursor->input.ptr;
    size_t bytes = cursor->input.bytes;
    size_t copied_at = self->unescaped.bytes;
    char delimiter = self->options.delimiter;
    for (;;) {
        size_t at = cursor->at;
        while (at < bytes && input[at] != delimiter && !is_record_end(input[at]) &&
               !is_escape(self, input[at])) {
            at++;
        }
        if (at + 1 >= bytes && !cursor->at_end && (at == bytes || is_escape(self, input[at]))) {
            return CSV_INCOMPLETE;
        }
        if (at + 1 < bytes && is_escape(self, input[at])) {
            if (!copy_literal(self, cursor, at)) {
                return CSV_MALFORMED;
            }
            continue;
        }
        at += at < bytes && is_escape(self, input[at]) ? 1 : 0; /* nothing left to escape */
        bool ok = field_text(self, cursor, at, copied_at, text_out);
        cursor->at = at;
        *text_out = self->options.trim_spaces ? ms_str_trim(*text_out) : *text_out;
        return ok ? CSV_RECORD : CSV_MALFORMED;
    }
}

/* Splits the record at the cursor and moves behind it. */
static csv_split split_record(csv_decoder *self, csv_cursor *cursor)
{
    self->field_count = 0;
    self->is_behind_quote = false;
    ms_buf_reset(&self->unescaped);
    /* Unescaped text never exceeds its source, so reserving it keeps earlier views in place. */
    ms_status ignored = {0};
    size_t room = cursor->input.bytes - cursor->at;
    room = room < MS_LIMIT_RECORD_BYTES ? room : MS_LIMIT_RECORD_BYTES;
    if (ms_buf_reserve(&self->unescaped, room, &ignored) != MS_OK) {
        return CSV_MALFORMED;
    }
    for (;;) {
        ms_str text = {NULL, 0};
        bool is_quoted = self->options.has_quote && cursor->at < cursor->input.bytes &&
                         cursor->input.ptr[cursor->at] == self->options.quote;
        cursor->at += is_quoted ? 1 : 0;
        csv_split split =
            is_quoted ? quoted_text(self, cursor, &text) : plain_text(self, cursor, &text);
        if (split != CSV_RECORD) {
            return split;
        }
        keep_field(self, text, is_quoted);
        if (cursor->at == cursor->input.bytes) {
            return cursor->at_end ? CSV_RECORD : CSV_INCOMPLETE;
        }
        char c = cursor->input.ptr[cursor->at];
        if (is_record_end(c)) {
            return skip_record_end(cursor) ? CSV_RECORD : CSV_INCOMPLETE;
        }
        if (c != self->options.delimiter) {
            self->is_behind_quote = true;
            return CSV_MALFORMED;
        }
        cursor->at++;
    }
}

/* Moves behind the next line feed, for skipping what cannot be split. */
static bool skip_line(csv_cursor *cursor)
{
    while (cursor->at < cursor->input.bytes && !is_record_end(cursor->input.ptr[cursor->at])) {
        cursor->at++;
    }
    if (cursor->at == cursor->input.bytes) {
        return cursor->at_end;
    }
    return skip_record_end(cursor);
}

static ms_rc bad_record(const csv_decoder *self, ms_str record, const char *why, ms_status *st)
{
    ms_status_set(st, MS_BAD_RECORD, ms_span_none, "csv record %llu %s",
                  (unsigned long long)self->ordinal, why);
    size_t shown = 0;
    while (shown < record.bytes && shown < 200 && !is_record_end(record.ptr[shown])) {
        shown++;
    }
    ms_status_detail(st, "%.*s", (int)shown, record.ptr);
    return ms_status_hint(st, "'csv.ignore-parse-errors' = 'true' skips what cannot be read.");
}

static ms_rc check_arity(csv_decoder *self, ms_str record, bool *skip_out, ms_status *st)
{
    const msi_csv_options *options = &self->options;
    uint32_t count = self->field_count;
    bool trailing_comma = count == self->file_count + 1 && options->allow_trailing_comma &&
                          self->fields[count - 1].text.bytes == 0;
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

static bool is_null_field(const msi_csv_options *options, const csv_field *field)
{
    bool is_literal =
        options->null_literal.ptr != NULL && ms_str_equals(field->text, options->null_literal);
    return is_literal || (options->empty_string_as_null && field->text.bytes == 0);
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
        const csv_field *field = &self->fields[i];
        if (i >= self->field_count || is_null_field(&self->options, field)) {
            msi_cell_null(batch, column, row);
            continue;
        }
        if (self->cells[column](field->text, self->types[column], batch, column, row)) {
            continue;
        }
        if (!self->options.ignore_parse_errors) {
            char why[200];
            snprintf(why, sizeof why, "has no %s in column \"%.*s\": \"%.*s\"",
                     ms_type_text_bare(&self->arena, self->types[column]).ptr,
                     MS_STR_ARG(self->names[column]),
                     (int)(field->text.bytes < 60 ? field->text.bytes : 60), field->text.ptr);
            return bad_record(self, record, why, st);
        }
        msi_cell_null(batch, column, row);
    }
    batch->rows++;
    return MS_OK;
}

static bool is_blank(const csv_decoder *self)
{
    return self->field_count == 1 && self->fields[0].text.bytes == 0 && !self->fields[0].is_quoted;
}

/* What a record that was split leads to. */
static ms_rc take_record(csv_decoder *self, csv_split split, ms_str record, ms_batch *batch,
                         ms_status *st)
{
    self->ordinal++;
    if (self->skip_line) {
        self->skip_line = false;
        return MS_OK;
    }
    if (split == CSV_MALFORMED) {
        return self->options.ignore_parse_errors
                   ? MS_OK
                   : bad_record(self, record, "has an unbalanced quote", st);
    }
    bool skip = is_blank(self) && self->file_count > 1 && self->options.ignore_parse_errors;
    if (!skip) {
        MS_TRY(check_arity(self, record, &skip, st));
    }
    return skip ? MS_OK : convert(self, batch, record, st);
}

/*
 * One record: split, checked, converted. False in *more_out when none is whole; the cursor has not
 * moved then. What cannot be split ends with the line at which that is seen: behind a closing quote
 * its own, without a closing quote the first.
 */
static ms_rc decode_record(csv_decoder *self, csv_cursor *cursor, ms_batch *batch, bool *more_out,
                           ms_status *st)
{
    csv_cursor before = *cursor;
    bool is_comment = self->options.allow_comments && cursor->input.ptr[cursor->at] == '#';
    csv_split split = is_comment ? CSV_MALFORMED : split_record(self, cursor);
    bool is_unclosed = split == CSV_MALFORMED && cursor->at_end && !self->is_behind_quote;
    cursor->at = is_unclosed ? before.at : cursor->at;
    *more_out = split == CSV_RECORD || (split == CSV_MALFORMED && skip_line(cursor));
    if (!*more_out) {
        *cursor = before;
        return MS_OK;
    }
    ms_str record = ms_str_slice(cursor->input, before.at, cursor->input.bytes);
    return is_comment ? MS_OK : take_record(self, split, record, batch, st);
}

static ms_rc csv_decode(ms_decoder *decoder, ms_str input, bool at_end, ms_batch *batch,
                        size_t *consumed_out, ms_status *st)
{
    csv_decoder *self = (csv_decoder *)decoder;
    csv_cursor cursor = {input, 0, at_end};
    *consumed_out = 0;
    if (self->at_start && input.bytes < 3 && !at_end) {
        return MS_OK; /* a byte order mark may come */
    }
    if (self->at_start && ms_str_starts_with(input, ms_str_lit("\xEF\xBB\xBF"))) {
        cursor.at = 3;
    }
    bool more = true;
    while (more && cursor.at < input.bytes && batch->rows < batch->capacity) {
        uint64_t ordinal = self->ordinal;
        ms_rc rc = decode_record(self, &cursor, batch, &more, st);
        if (rc != MS_OK) {
            self->ordinal = ordinal; /* the record is met again */
            return rc;
        }
        /* A position behind the mark, but before the header, would make the header a row. */
        bool is_begun = self->skip_line && !(at_end && cursor.at == input.bytes);
        self->at_start = self->at_start && is_begun;
        *consumed_out = is_begun ? 0 : cursor.at;
    }
    if (at_end && cursor.at == input.bytes) {
        *consumed_out = cursor.at; /* a mark alone */
    }
    return MS_OK;
}

static void csv_reset(ms_decoder *decoder, bool at_start)
{
    csv_decoder *self = (csv_decoder *)decoder;
    self->skip_line = at_start && self->options.ignore_first_line;
    self->at_start = at_start;
    self->ordinal = 0;
}

static void csv_close(ms_decoder *decoder)
{
    csv_decoder *self = (csv_decoder *)decoder;
    ms_buf_release(&self->unescaped);
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
        if (self->cells[i] == NULL) {
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
    ms_buf_init(&self->unescaped, MS_LIMIT_RECORD_BYTES);
    self->file_count = file_schema->column_count;
    self->target = ms_arena_array(&self->arena, uint32_t, self->file_count);
    self->fields = ms_arena_array(&self->arena, csv_field, self->file_count + 1);
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
