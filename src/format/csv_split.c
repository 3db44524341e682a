/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The splitter is a machine whose state is a place and three positions. All positions count from
 * the first byte of the record, since the input may stand elsewhere when it is continued:
 *
 *     a,"b""c and so on
 *            ^ run_at: the rest of the field's text, which is not copied
 *                  ^ bytes: looked at so far
 *     copies: ...b"
 *             ^ copied_at
 */
#include "format/csv_split.h"

#include "base/limits.h"

void msi_csv_splitter_init(msi_csv_splitter *splitter, const msi_csv_options *options,
                           msi_csv_field *fields, uint32_t fields_max)
{
    *splitter = (msi_csv_splitter){.options = options, .fields = fields, .fields_max = fields_max};
    ms_buf_init(&splitter->copies, MS_LIMIT_RECORD_BYTES);
}

void msi_csv_splitter_release(msi_csv_splitter *splitter)
{
    ms_buf_release(&splitter->copies);
}

void msi_csv_splitter_reset(msi_csv_splitter *splitter)
{
    splitter->place = MSI_CSV_AT_RECORD;
}

static bool is_record_end(char c)
{
    return c == '\n' || c == '\r';
}

static bool is_escape(const msi_csv_splitter *self, char c)
{
    return self->options->has_escape && c == self->options->escape;
}

static void begin_record(msi_csv_splitter *self)
{
    self->place = self->options->allow_comments ? MSI_CSV_IN_MARGIN : MSI_CSV_AT_FIELD;
    self->bytes = 0;
    self->field_count = 0;
    ms_buf_reset(&self->copies);
}

static void begin_field(msi_csv_splitter *self, bool is_quoted)
{
    self->bytes += is_quoted ? 1 : 0;
    self->place = is_quoted ? MSI_CSV_IN_QUOTED : MSI_CSV_IN_PLAIN;
    self->run_at = self->bytes;
    self->copied_at = self->copies.bytes;
}

/* Copies what of the field's text stands before a position. */
static bool copy_run(msi_csv_splitter *self, ms_str input, size_t at)
{
    ms_status ignored = {0};
    return ms_buf_append(&self->copies, ms_str_slice(input, self->run_at, at), &ignored) == MS_OK;
}

/* What the character behind an escape stands for: itself, but for these. */
static char unescaped(char c)
{
    switch (c) {
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case '0':
        return '\0';
    default:
        return c;
    }
}

/* Takes the character behind an escape or a doubled quote at a position. */
static bool take_literal(msi_csv_splitter *self, ms_str input, size_t at)
{
    ms_status ignored = {0};
    char c = input.ptr[at + 1];
    c = is_escape(self, input.ptr[at]) ? unescaped(c) : c;
    if (!copy_run(self, input, at) || ms_buf_append_byte(&self->copies, c, &ignored) != MS_OK) {
        return false;
    }
    self->run_at = at + 2;
    return true;
}

/*
 * The field ends before a position, and the next one begins where a delimiter follows. Fields
 * beyond those of the table are counted, not kept.
 */
static bool end_field(msi_csv_splitter *self, ms_str input, size_t at)
{
    bool is_quoted = self->place == MSI_CSV_IN_QUOTED;
    msi_csv_field field = {self->run_at, at - self->run_at, false, is_quoted};
    if (self->copies.bytes > self->copied_at) {
        if (!copy_run(self, input, at)) {
            return false;
        }
        field.at = self->copied_at;
        field.bytes = self->copies.bytes - self->copied_at;
        field.is_copied = true;
    }
    if (self->field_count < self->fields_max) {
        self->fields[self->field_count] = field;
    }
    self->field_count++;
    at += is_quoted ? 1 : 0;
    bool is_next = at < input.bytes && input.ptr[at] == self->options->delimiter;
    self->bytes = at + (is_next ? 1 : 0);
    self->place = is_next ? MSI_CSV_AT_FIELD : MSI_CSV_BEHIND_FIELD;
    return true;
}

static const char too_long[] = "is too long";

/* Skips the line that a position stands on: what was before it does not count. */
static msi_csv_split skip_line(msi_csv_splitter *self, size_t at, const char *why)
{
    self->bytes_looked += self->bytes > at ? self->bytes - at : 0;
    self->bytes = at;
    self->place = MSI_CSV_IN_REST;
    self->why = why;
    return MSI_CSV_RECORD;
}

/* Behind the blanks and control characters from a position on that end neither field nor record. */
static size_t behind_blanks(const msi_csv_splitter *self, ms_str input, size_t at)
{
    char delimiter = self->options->delimiter;
    while (at < input.bytes && (unsigned char)input.ptr[at] <= ' ' && input.ptr[at] != delimiter &&
           !is_record_end(input.ptr[at])) {
        at++;
    }
    return at;
}

/* The parts below answer CUT, or RECORD when the next place goes on. */

static msi_csv_split split_plain(msi_csv_splitter *self, ms_str input, bool at_end)
{
    const char *text = input.ptr;
    size_t bytes = input.bytes;
    char delimiter = self->options->delimiter;
    size_t at = self->bytes;
    for (;;) {
        while (at < bytes && text[at] != delimiter && !is_record_end(text[at]) &&
               !is_escape(self, text[at])) {
            at++;
        }
        bool is_at_escape = at < bytes && text[at] != delimiter && is_escape(self, text[at]);
        bool is_last = at + 1 >= bytes;
        if (is_last && !at_end && (at == bytes || is_at_escape)) {
            self->bytes = at;
            return MSI_CSV_CUT;
        }
        if (!is_at_escape) {
            return end_field(self, input, at) ? MSI_CSV_RECORD : skip_line(self, at, too_long);
        }
        if (is_last) {
            return skip_line(self, at, "ends with an escape character");
        }
        if (!take_literal(self, input, at)) {
            return skip_line(self, at, too_long);
        }
        at += 2;
    }
}

static msi_csv_split split_quoted(msi_csv_splitter *self, ms_str input, bool at_end)
{
    const char *text = input.ptr;
    size_t bytes = input.bytes;
    char quote = self->options->quote;
    size_t at = self->bytes;
    for (;;) {
        while (at < bytes && text[at] != quote && !is_escape(self, text[at])) {
            at++;
        }
        bool is_last = at + 1 >= bytes; /* what follows decides what it is */
        if (is_last && !at_end) {
            self->bytes = at;
            return MSI_CSV_CUT;
        }
        bool is_quote = at < bytes && text[at] == quote;
        if (is_last && !is_quote) {
            return skip_line(self, 0, "has no closing quote");
        }
        if (is_quote && (is_last || text[at + 1] != quote)) {
            return end_field(self, input, at) ? MSI_CSV_RECORD : skip_line(self, at, too_long);
        }
        if (!take_literal(self, input, at)) {
            return skip_line(self, at, too_long);
        }
        at += 2;
    }
}

/* Moves past \n, \r\n or \r; CUT when \r is the last byte and more may come. */
static msi_csv_split end_record(msi_csv_splitter *self, ms_str input, bool at_end)
{
    size_t at = self->bytes;
    bool is_return = input.ptr[at] == '\r';
    if (is_return && at + 1 == input.bytes && !at_end) {
        return MSI_CSV_CUT;
    }
    at += is_return && at + 1 < input.bytes && input.ptr[at + 1] == '\n' ? 2 : 1;
    self->bytes = at;
    self->place = MSI_CSV_AT_RECORD;
    return MSI_CSV_RECORD;
}

/*
 * A delimiter, the end of the record, or what does not belong behind a closing quote. Blanks and
 * control characters there are passed over.
 */
static msi_csv_split split_behind_field(msi_csv_splitter *self, ms_str input, bool at_end)
{
    size_t at = behind_blanks(self, input, self->bytes);
    self->bytes = at;
    if (at == input.bytes) {
        self->place = at_end ? MSI_CSV_AT_RECORD : MSI_CSV_BEHIND_FIELD;
        return at_end ? MSI_CSV_RECORD : MSI_CSV_CUT;
    }
    if (is_record_end(input.ptr[at])) {
        return end_record(self, input, at_end);
    }
    if (input.ptr[at] != self->options->delimiter) {
        return skip_line(self, at, "has text behind a closing quote");
    }
    self->bytes = at + 1;
    self->place = MSI_CSV_AT_FIELD;
    return MSI_CSV_RECORD;
}

/* The rest of a comment or of a line that is skipped. */
static msi_csv_split split_rest(msi_csv_splitter *self, ms_str input, bool at_end)
{
    size_t at = self->bytes;
    bool is_comment = self->place == MSI_CSV_IN_COMMENT;
    msi_csv_split outcome = is_comment ? MSI_CSV_NOTHING : MSI_CSV_MALFORMED;
    while (at < input.bytes && !is_record_end(input.ptr[at])) {
        at++;
    }
    self->bytes = at;
    if (at == input.bytes && !at_end) {
        return MSI_CSV_CUT;
    }
    if (at == input.bytes) {
        self->place = MSI_CSV_AT_RECORD;
        return outcome;
    }
    return end_record(self, input, at_end) == MSI_CSV_CUT ? MSI_CSV_CUT : outcome;
}

/* Where there are comments: blanks in front of a record, of a comment or on a line of their own. */
static msi_csv_split split_margin(msi_csv_splitter *self, ms_str input, bool at_end)
{
    size_t at = self->bytes;
    while (at < input.bytes && input.ptr[at] == ' ') {
        at++;
    }
    self->bytes = at;
    if (at == input.bytes) {
        self->place = at_end ? MSI_CSV_AT_RECORD : MSI_CSV_IN_MARGIN;
        return at_end ? MSI_CSV_NOTHING : MSI_CSV_CUT;
    }
    if (is_record_end(input.ptr[at])) {
        return end_record(self, input, at_end) == MSI_CSV_CUT ? MSI_CSV_CUT : MSI_CSV_NOTHING;
    }
    self->place = input.ptr[at] == '#' ? MSI_CSV_IN_COMMENT : MSI_CSV_AT_FIELD;
    return MSI_CSV_RECORD;
}

static msi_csv_split split_at_field(msi_csv_splitter *self, ms_str input, bool at_end)
{
    if (self->options->trim_spaces) {
        self->bytes = behind_blanks(self, input, self->bytes);
    }
    if (self->bytes == input.bytes && !at_end) {
        return MSI_CSV_CUT;
    }
    bool is_quoted = self->options->has_quote && self->bytes < input.bytes &&
                     input.ptr[self->bytes] == self->options->quote;
    begin_field(self, is_quoted);
    return is_quoted ? split_quoted(self, input, at_end) : split_plain(self, input, at_end);
}

static msi_csv_split split_next(msi_csv_splitter *self, ms_str input, bool at_end)
{
    switch (self->place) {
    case MSI_CSV_AT_RECORD:
        begin_record(self);
        return MSI_CSV_RECORD;
    case MSI_CSV_IN_MARGIN:
        return split_margin(self, input, at_end);
    case MSI_CSV_AT_FIELD:
        return split_at_field(self, input, at_end);
    case MSI_CSV_IN_PLAIN:
        return split_plain(self, input, at_end);
    case MSI_CSV_IN_QUOTED:
        return split_quoted(self, input, at_end);
    case MSI_CSV_BEHIND_FIELD:
        return split_behind_field(self, input, at_end);
    case MSI_CSV_IN_COMMENT:
    case MSI_CSV_IN_REST:
        return split_rest(self, input, at_end);
    }
    MS_UNREACHABLE();
}

msi_csv_split msi_csv_split_record(msi_csv_splitter *splitter, ms_str input, bool at_end)
{
    msi_csv_split split = MSI_CSV_RECORD;
    MS_ASSERT(splitter->place == MSI_CSV_AT_RECORD || input.bytes >= splitter->bytes);
    splitter->record = input.ptr;
    size_t from = splitter->place == MSI_CSV_AT_RECORD ? 0 : splitter->bytes;
    do {
        split = split_next(splitter, input, at_end);
    } while (split == MSI_CSV_RECORD && splitter->place != MSI_CSV_AT_RECORD);
    splitter->bytes_looked += splitter->bytes - from;
    return split;
}

ms_str msi_csv_field_text(const msi_csv_splitter *splitter, uint32_t index)
{
    const msi_csv_field *field = &splitter->fields[index];
    const char *base = field->is_copied ? splitter->copies.ptr : splitter->record;
    ms_str text = ms_str_make(base + field->at, field->bytes);
    bool is_trimmed = splitter->options->trim_spaces && !field->is_quoted;
    return is_trimmed ? msi_cell_trim(text) : text;
}
