/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading golden files.
 */
#include "slt.h"

#include "base/num.h"
#include "os/file.h"

#include <stdio.h>
#include <string.h>

#define FILE_BYTES_MAX (4u << 20)
#define RECORDS_MAX 2000u

typedef struct reader {
    slt_file *file;
    ms_arena *arena;
    size_t at;
    uint32_t line;
    bool is_in_header; /* up to the first blank line */
    /* Of the next record. */
    ms_str origin; /* when it has one of its own */
    slt_exempt exempt;
} reader;

/* The next line without its line feed; false at the end. */
static bool next_line(reader *r, ms_str *line_out)
{
    if (r->at >= r->file->text.bytes) {
        return false;
    }
    size_t end = ms_str_find_byte(r->file->text, '\n', r->at);
    end = end == SIZE_MAX ? r->file->text.bytes : end;
    *line_out = ms_str_slice(r->file->text, r->at, end);
    r->at = end + 1 > r->file->text.bytes ? r->file->text.bytes : end + 1;
    r->line++;
    return true;
}

static bool complain(const reader *r, const char *what)
{
    fprintf(stderr, "%s:%u: %s\n", r->file->path, r->line, what);
    return false;
}

static bool is_separator(ms_str line)
{
    return ms_str_equals(ms_str_trim(line), ms_str_lit("----"));
}

/* Lines up to a blank one or a separator; says which. */
static ms_str read_block(reader *r, bool blank_ends, bool *separated_out)
{
    size_t start = r->at;
    size_t end = start;
    ms_str line;
    *separated_out = false;
    while (next_line(r, &line)) {
        if (is_separator(line)) {
            *separated_out = true;
            break;
        }
        if (blank_ends && ms_str_trim(line).bytes == 0) {
            break;
        }
        end = r->at;
    }
    return ms_str_slice(r->file->text, start, end);
}

/* The rest of a text behind a prefix, trimmed. */
static bool take_prefix(ms_str text, const char *prefix, ms_str *rest_out)
{
    ms_str start = ms_str_cstr(prefix);
    if (!ms_str_starts_with(text, start)) {
        return false;
    }
    *rest_out = ms_str_trim(ms_str_slice(text, start.bytes, text.bytes));
    return true;
}

static bool take_number(ms_str text, uint32_t *number_out)
{
    int64_t value = 0;
    bool ok = ms_num_scan_i64(text, &value) && value >= 0 && value <= 1000000;
    *number_out = ok ? (uint32_t)value : 0;
    return ok;
}

/* An exemption has a reason. */
static bool take_exemption(slt_exempt *exempt, ms_str text)
{
    const struct {
        const char *word;
        bool *is_exempt;
    } exemptions[] = {
        {"batch:", &exempt->batch},       {"streaming:", &exempt->streaming},
        {"parallel:", &exempt->parallel}, {"rules:", &exempt->rules},
        {"modes:", &exempt->modes},       {"crash:", &exempt->crash},
        {"grpc:", &exempt->grpc},         {"calls:", &exempt->calls},
    };
    ms_str reason;
    for (size_t i = 0; i < sizeof exemptions / sizeof *exemptions; i++) {
        if (take_prefix(text, exemptions[i].word, &reason)) {
            *exemptions[i].is_exempt = true;
            return reason.bytes > 0;
        }
    }
    return false;
}

static bool is_version(ms_str text)
{
    unsigned parts[3];
    int end = 0;
    char copy[32];
    (void)snprintf(copy, sizeof copy, "%.*s", MS_STR_ARG(text));
    return sscanf(copy, "%u.%u.%u%n", &parts[0], &parts[1], &parts[2], &end) == 3 &&
           (size_t)end == text.bytes;
}

/* One of the known words, and whatever explains it behind a colon. */
static bool take_origin(ms_str text, ms_str *origin_out)
{
    static const char *const words[] = {"reasoned", "reference", "sqlite"};
    size_t colon = ms_str_find_byte(text, ':', 0);
    ms_str word = colon == SIZE_MAX ? text : ms_str_slice(text, 0, colon);
    *origin_out = word;
    ms_str version;
    if (take_prefix(word, "flink-", &version)) {
        return is_version(version);
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (ms_str_equals(word, ms_str_cstr(words[i]))) {
            return true;
        }
    }
    return false;
}

/* A line that begins with #; free text is fine, a known word with something wrong behind is not. */
static bool header_line(reader *r, ms_str line)
{
    slt_file *file = r->file;
    ms_str text = ms_str_trim(ms_str_slice(line, 1, line.bytes));
    ms_str rest;
    if (take_prefix(text, "origin:", &rest)) {
        return take_origin(rest, r->is_in_header ? &file->origin : &r->origin);
    }
    if (take_prefix(text, "exempt ", &rest)) {
        return take_exemption(r->is_in_header ? &file->exempt : &r->exempt, rest);
    }
    if (!r->is_in_header) {
        return true;
    }
    if (take_prefix(text, "compare:", &rest)) {
        file->compare_rows = ms_str_equals(rest, ms_str_lit("rows"));
        return file->compare_rows || ms_str_equals(rest, ms_str_lit("fold"));
    }
    if (take_prefix(text, "restored:", &rest)) {
        return take_number(rest, &file->restored);
    }
    if (take_prefix(text, "failures:", &rest)) {
        bool ok = take_number(rest, &file->failures);
        file->failures_crash = file->failures;
        return ok;
    }
    if (take_prefix(text, "failures crash:", &rest)) {
        return take_number(rest, &file->failures_crash);
    }
    if (take_prefix(text, "failures grpc:", &rest)) {
        return take_number(rest, &file->failures_grpc);
    }
    if (take_prefix(text, "sabotage:", &rest)) {
        file->starts_over = ms_str_equals(rest, ms_str_lit("starts over"));
        file->stays_at_home = ms_str_equals(rest, ms_str_lit("stays at home"));
        return file->starts_over || file->stays_at_home;
    }
    return true;
}

static const struct {
    const char *word;
    slt_kind kind;
    bool has_body;
    bool has_expected;
} kinds[] = {
    {"file", SLT_FILE, true, false},
    {"statement ok", SLT_STATEMENT, true, false},
    {"statement error", SLT_ERROR, true, true},
    {"query", SLT_QUERY, true, true},
    {"restart", SLT_RESTART, false, false},
    {"cat", SLT_CAT, false, true},
};

static bool read_expected(reader *r, slt_record *record)
{
    record->expected_at = r->at;
    bool separated = false;
    record->expected = read_block(r, true, &separated);
    record->expected_end = record->expected_at + record->expected.bytes;
    return separated ? complain(r, "a second ---- in one record") : true;
}

static bool names_bigtable(const slt_record *record)
{
    static const char connector[] = "'bigtable'";
    return record->kind != SLT_FILE && record->body.bytes > 0 &&
           memmem(record->body.ptr, record->body.bytes, connector, sizeof connector - 1) != NULL;
}

static bool read_record(reader *r, ms_str line)
{
    slt_file *file = r->file;
    if (file->record_count == RECORDS_MAX) {
        return complain(r, "too many records");
    }
    slt_record *record = &file->records[file->record_count++];
    record->line = r->line;
    record->origin = r->origin.bytes > 0 ? r->origin : file->origin;
    record->exempt = r->exempt;
    r->origin = (ms_str){0};
    r->exempt = (slt_exempt){0};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        ms_str word = ms_str_cstr(kinds[i].word);
        if (!ms_str_starts_with(line, word)) {
            continue;
        }
        record->kind = kinds[i].kind;
        record->arg = ms_str_trim(ms_str_slice(line, word.bytes, line.bytes));
        bool separated = false;
        if (kinds[i].has_body) {
            record->body = read_block(r, record->kind != SLT_FILE, &separated);
        } else if (kinds[i].has_expected) {
            (void)read_block(r, true, &separated);
        }
        file->has_bigtable = file->has_bigtable || names_bigtable(record);
        bool wants = kinds[i].has_expected || record->kind == SLT_FILE;
        if (separated != wants) {
            return complain(r, wants ? "the record has no ----" : "the record has a ----");
        }
        return kinds[i].has_expected ? read_expected(r, record) : true;
    }
    return complain(r, "no record begins so");
}

/*
 * A page of docs/: everything outside blocks marked slt becomes blanks, so that places stay. Its
 * rows are compared as multisets.
 */
static void keep_examples(ms_arena *arena, slt_file *file)
{
    ms_str copy = ms_arena_copy_str(arena, file->text);
    char *bytes = ms_arena_alloc(arena, copy.bytes + 1, 1);
    bool inside = false;
    for (size_t at = 0; at < copy.bytes;) {
        size_t feed = ms_str_find_byte(copy, '\n', at);
        size_t end = feed == SIZE_MAX ? copy.bytes : feed + 1;
        ms_str line = ms_str_slice(copy, at, end);
        bool is_fence = ms_str_starts_with(line, ms_str_lit("```"));
        bool opens = ms_str_equals(ms_str_trim(line), ms_str_lit("```slt"));
        memcpy(bytes + at, line.ptr, line.bytes);
        if (is_fence || !inside) {
            memset(bytes + at, ' ', line.bytes - (feed == SIZE_MAX ? 0 : 1));
        }
        inside = is_fence ? opens : inside;
        at = end;
    }
    file->text = ms_str_make(bytes, copy.bytes);
}

bool slt_parse(ms_arena *arena, const char *path, slt_file *file_out)
{
    ms_status st = {0};
    ms_buf text;
    ms_buf_init(&text, FILE_BYTES_MAX);
    *file_out = (slt_file){.path = path};
    if (ms_file_read_all(path, &text, &st) != MS_OK) {
        fprintf(stderr, "%s: %s\n", path, st.message);
        ms_buf_release(&text);
        return false;
    }
    file_out->text = ms_arena_copy_str(arena, ms_buf_view(&text));
    ms_buf_release(&text);
    file_out->is_page = ms_str_ends_with(ms_str_cstr(path), ms_str_lit(".md"));
    if (file_out->is_page) {
        keep_examples(arena, file_out);
    }
    file_out->records = ms_arena_array(arena, slt_record, RECORDS_MAX);
    reader r = {.file = file_out, .arena = arena, .is_in_header = true};
    ms_str line;
    while (next_line(&r, &line)) {
        ms_str trimmed = ms_str_trim(line);
        if (trimmed.bytes == 0) {
            r.is_in_header = false;
            continue;
        }
        if (trimmed.ptr[0] == '#') {
            if (!header_line(&r, trimmed)) {
                return complain(&r, "the header has an unknown word");
            }
        } else if (!read_record(&r, trimmed)) {
            return false;
        }
    }
    if (file_out->origin.bytes == 0 && !file_out->is_page) {
        return complain(&r, "the header does not say where the expected rows are from (origin)");
    }
    return true;
}
