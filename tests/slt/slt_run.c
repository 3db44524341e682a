/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running golden files: one engine and session a file and mode, in a directory of its own.
 */
#include "slt.h"

#include "os/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUTPUT_BYTES_MAX (64u << 20)
#define STATUS_BYTES (16u << 10)
#define LINES_MAX 100000u

typedef struct run {
    const slt_file *file;
    const slt_mode *mode;
    char tmp[512];
    ms_engine *engine;
    ms_session *session;
    ms_arena arena;
    ms_buf actual;
    uint32_t failures;
    ms_buf *updated; /* the file with what was given, or NULL */
    size_t copied;   /* of the file's text into updated */
} run;

static bool append_actual(void *arg, ms_str bytes)
{
    ms_status st = {0};
    return ms_buf_append(&((run *)arg)->actual, bytes, &st) == MS_OK;
}

static void fail(run *r, const slt_record *record, const char *what, ms_str expected)
{
    r->failures++;
    fprintf(stderr, "%s:%u: [%s] %s\n", r->file->path, record->line, r->mode->name, what);
    fprintf(stderr, "  expected:\n%.*s  got:\n%.*s", MS_STR_ARG(expected), (int)r->actual.bytes,
            r->actual.ptr != NULL ? r->actual.ptr : "");
}

/* Engines. */

static bool set(run *r, const char *key, const char *text)
{
    ms_status st = {0};
    if (ms_session_set(r->session, ms_str_cstr(key), ms_str_cstr(text), &st) != MS_OK) {
        fprintf(stderr, "%s\n", st.message);
        return false;
    }
    return true;
}

static bool set_number(run *r, const char *key, uint32_t value)
{
    char text[16];
    snprintf(text, sizeof text, "%u", value);
    return set(r, key, text);
}

static bool set_mode(run *r)
{
    const slt_mode *mode = r->mode;
    bool ok = set_number(r, "millstream.batch.rows", mode->batch_rows);
    ok = ok && set_number(r, "parallelism.default", r->file->compare_rows ? 1 : mode->parallelism);
    ok = ok && set_number(r, "millstream.ring.slots", mode->ring_slots);
    ok = ok && set_number(r, "millstream.exchange.batches", mode->exchange_batches);
    ok = ok && set(r, "execution.runtime-mode", mode->is_batch ? "batch" : "streaming");
    ok = ok && set(r, "millstream.optimizer.enabled", mode->optimizer ? "true" : "false");
    ok = ok && set(r, "table.local-time-zone", "UTC");
    if (r->file->compare_rows) {
        ok = ok && set(r, "table.exec.changelog.coalesce", "never");
    }
    return ok;
}

static bool open_engine(run *r)
{
    ms_status st = {0};
    char data_dir[600];
    snprintf(data_dir, sizeof data_dir, "%s/data", r->tmp);
    ms_engine_options options = {.struct_bytes = sizeof options,
                                 .data_dir = data_dir,
                                 .workers = 2,
                                 .stdout_is_result = true};
    bool ok = ms_engine_open(&options, &r->engine, &st) == MS_OK &&
              ms_session_open(r->engine, &r->session, &st) == MS_OK &&
              ms_session_define(r->session, ms_str_lit("TMP"), ms_str_cstr(r->tmp), &st) == MS_OK;
    if (!ok) {
        fprintf(stderr, "%s\n", st.message);
    }
    return ok && set_mode(r);
}

static void close_engine(run *r)
{
    ms_session_close(r->session);
    ms_engine_close(r->engine);
    r->session = NULL;
    r->engine = NULL;
}

/* Comparing. */

static int by_bytes(const void *a, const void *b)
{
    return ms_str_compare(*(const ms_str *)a, *(const ms_str *)b);
}

/* The lines of a text, sorted; the array is in the arena. */
static const ms_str *sorted_lines(ms_arena *arena, ms_str text, size_t *count_out)
{
    ms_str *lines = ms_arena_array(arena, ms_str, LINES_MAX);
    size_t count = 0;
    for (size_t at = 0; at < text.bytes && count < LINES_MAX;) {
        size_t end = ms_str_find_byte(text, '\n', at);
        end = end == SIZE_MAX ? text.bytes : end;
        lines[count++] = ms_str_slice(text, at, end);
        at = end + 1;
    }
    if (count > 1) {
        qsort(lines, count, sizeof *lines, by_bytes);
    }
    *count_out = count;
    return lines;
}

static bool same(run *r, ms_str expected, bool in_order)
{
    ms_str actual = ms_buf_view(&r->actual);
    if (in_order) {
        return ms_str_equals(expected, actual);
    }
    size_t expected_count = 0;
    size_t actual_count = 0;
    const ms_str *a = sorted_lines(&r->arena, expected, &expected_count);
    const ms_str *b = sorted_lines(&r->arena, actual, &actual_count);
    bool equal = expected_count == actual_count;
    for (size_t i = 0; equal && i < expected_count; i++) {
        equal = ms_str_equals(a[i], b[i]);
    }
    ms_arena_reset(&r->arena);
    return equal;
}

/* Compares, or records what was given for the updated file. */
static void check(run *r, const slt_record *record, bool in_order, const char *what)
{
    if (r->updated != NULL) {
        ms_status st = {0};
        ms_str before = ms_str_slice(r->file->text, r->copied, record->expected_at);
        if (ms_buf_append(r->updated, before, &st) == MS_OK &&
            ms_buf_append(r->updated, ms_buf_view(&r->actual), &st) == MS_OK) {
            r->copied = record->expected_end;
        }
        return;
    }
    if (!same(r, record->expected, in_order)) {
        fail(r, record, what, record->expected);
    }
}

/* Records. */

/* Appends a line with the run's directory as ${TMP}, so that expectations hold everywhere. */
static void append_masked(run *r, ms_str line)
{
    size_t length = strlen(r->tmp);
    while (line.bytes > 0) {
        const char *found = memmem(line.ptr, line.bytes, r->tmp, length);
        size_t before = found == NULL ? line.bytes : (size_t)(found - line.ptr);
        append_actual(r, ms_str_slice(line, 0, before));
        if (found != NULL) {
            append_actual(r, ms_str_lit("${TMP}"));
            before += length;
        }
        line = ms_str_slice(line, before, line.bytes);
    }
}

/* Renders an error without the line that names file and line. */
static void render_error(run *r, const ms_status *st, const ms_script *script)
{
    char text[STATUS_BYTES];
    size_t bytes = ms_status_render(st, script, 0, MS_ERROR_TEXT, text, sizeof text);
    ms_str rest = ms_str_make(text, bytes);
    while (rest.bytes > 0) {
        size_t end = ms_str_find_byte(rest, '\n', 0);
        end = end == SIZE_MAX ? rest.bytes : end + 1;
        ms_str line = ms_str_slice(rest, 0, end);
        if (!ms_str_starts_with(line, ms_str_lit("slt:"))) {
            append_masked(r, line);
        }
        rest = ms_str_slice(rest, end, rest.bytes);
    }
}

static ms_rc finish(run *r, const slt_record *record, ms_execution *execution, ms_status *st)
{
    if (!ms_execution_has_rows(execution)) {
        return ms_execution_wait(execution, 60000, st);
    }
    ms_print_options options = {.struct_bytes = sizeof options, .write = append_actual, .arg = r};
    if (ms_str_equals(record->arg, ms_str_lit("csv"))) {
        options.format = MS_RESULT_CSV;
    } else if (ms_str_equals(record->arg, ms_str_lit("tableau"))) {
        options.format = MS_RESULT_TABLEAU;
    }
    return ms_execution_print(execution, &options, st);
}

/* Runs the SQL of a record; its rows, or its error, become the actual text. */
static ms_rc run_sql(run *r, const slt_record *record)
{
    ms_status st = {0};
    ms_script *script = NULL;
    ms_buf_reset(&r->actual);
    ms_session_set_changelog(r->session, ms_str_equals(record->arg, ms_str_lit("changelog")));
    ms_str sql = ms_str_trim(record->body);
    ms_rc rc = ms_script_open(r->session, ms_str_lit("slt"), sql, &script, &st);
    rc = rc == MS_OK ? ms_script_parse(script, &st) : rc;
    for (uint32_t i = 0; rc == MS_OK && i < ms_script_statement_count(script); i++) {
        ms_execution *execution = NULL;
        rc = ms_script_execute(script, i, false, &execution, &st);
        rc = rc == MS_OK ? finish(r, record, execution, &st) : rc;
        ms_execution_close(execution);
    }
    if (rc != MS_OK) {
        render_error(r, &st, script);
    }
    ms_script_close(script);
    return rc;
}

static void make_file(run *r, const slt_record *record)
{
    ms_status st = {0};
    char path[1024];
    snprintf(path, sizeof path, "%s/%.*s", r->tmp, MS_STR_ARG(record->arg));
    char *slash = strrchr(path, '/');
    *slash = '\0';
    ms_rc rc = ms_dir_create(path, &st);
    *slash = '/';
    ms_file *file = NULL;
    rc = rc == MS_OK ? ms_file_open(path, MS_FILE_TRUNCATE, &file, &st) : rc;
    rc = rc == MS_OK ? ms_file_write(file, record->body, &st) : rc;
    ms_file_close(file);
    if (rc != MS_OK) {
        fail(r, record, st.message, record->body);
    }
}

/* The lines of the visible files of a directory, or of one file, sorted. */
static void cat(run *r, const slt_record *record)
{
    ms_status st = {0};
    char path[1024];
    snprintf(path, sizeof path, "%s/%.*s", r->tmp, MS_STR_ARG(record->arg));
    ms_buf_reset(&r->actual);
    ms_file_info info;
    ms_rc rc = ms_file_stat(path, &info, &st);
    if (rc == MS_OK && info.kind == MS_FILE_KIND_FILE) {
        rc = ms_file_read_all(path, &r->actual, &st);
    } else if (rc == MS_OK && info.kind == MS_FILE_KIND_DIR) {
        const ms_dir_entry *entries = NULL;
        size_t count = 0;
        rc = ms_dir_list(path, &r->arena, &entries, &count, &st);
        for (size_t i = 0; rc == MS_OK && i < count; i++) {
            char name[2048];
            snprintf(name, sizeof name, "%s/%s", path, entries[i].name.ptr);
            bool hidden = entries[i].name.ptr[0] == '.' || entries[i].name.ptr[0] == '_';
            rc = hidden ? MS_OK : ms_file_read_all(name, &r->actual, &st);
        }
    }
    if (rc != MS_OK) {
        fail(r, record, st.message, record->expected);
    }
    check(r, record, false, "the files differ");
}

static void run_record(run *r, const slt_record *record)
{
    bool in_order = r->file->compare_rows;
    switch (record->kind) {
    case SLT_FILE:
        make_file(r, record);
        return;
    case SLT_STATEMENT:
        if (run_sql(r, record) != MS_OK) {
            fail(r, record, "the statement failed", ms_str_lit("success\n"));
        }
        return;
    case SLT_ERROR:
        if (run_sql(r, record) == MS_OK) {
            fail(r, record, "the statement succeeded", record->expected);
        } else {
            check(r, record, true, "the error differs");
        }
        return;
    case SLT_QUERY:
        if (run_sql(r, record) != MS_OK) {
            fail(r, record, "the query failed", record->expected);
        } else {
            bool is_table = ms_str_equals(record->arg, ms_str_lit("tableau"));
            check(r, record, in_order || is_table, "the rows differ");
        }
        return;
    case SLT_RESTART:
        close_engine(r);
        if (!open_engine(r)) {
            fail(r, record, "the engine did not open again", ms_str_lit("success\n"));
        }
        return;
    case SLT_CAT:
        cat(r, record);
        return;
    }
}

static uint32_t run_all(run *r, const char *tmp_root)
{
    ms_status st = {0};
    snprintf(r->tmp, sizeof r->tmp, "%s/work", tmp_root);
    ms_arena_init(&r->arena, 0);
    ms_buf_init(&r->actual, OUTPUT_BYTES_MAX);
    if (ms_dir_remove(r->tmp, &st) != MS_OK || ms_dir_create(r->tmp, &st) != MS_OK ||
        !open_engine(r)) {
        fprintf(stderr, "%s: %s\n", r->file->path, st.message);
        r->failures++;
    }
    for (uint32_t i = 0; r->engine != NULL && i < r->file->record_count; i++) {
        run_record(r, &r->file->records[i]);
    }
    close_engine(r);
    ms_buf_release(&r->actual);
    ms_arena_release(&r->arena);
    if (ms_dir_remove(r->tmp, &st) != MS_OK) {
        fprintf(stderr, "%s\n", st.message);
    }
    return r->failures;
}

uint32_t slt_run(const slt_file *file, const slt_mode *mode, const char *tmp_root)
{
    run r = {.file = file, .mode = mode};
    return run_all(&r, tmp_root);
}

bool slt_update(const slt_file *file, const slt_mode *mode, const char *tmp_root)
{
    ms_status st = {0};
    ms_buf updated;
    ms_buf_init(&updated, OUTPUT_BYTES_MAX);
    run r = {.file = file, .mode = mode, .updated = &updated};
    bool ok = run_all(&r, tmp_root) == 0;
    ms_str rest = ms_str_slice(file->text, r.copied, file->text.bytes);
    ok = ms_buf_append(&updated, rest, &st) == MS_OK &&
         ms_file_replace(file->path, ms_buf_view(&updated), &st) == MS_OK && ok;
    ms_buf_release(&updated);
    return ok;
}
