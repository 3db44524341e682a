/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running golden files: the records of one file in one mode, in a directory of its own, and what
 * they gave compared with what is expected.
 */
#include "slt_run.h"

#include "os/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OUTPUT_BYTES_MAX (64u << 20)
#define LINES_MAX 100000u

bool slt_append(void *arg, ms_str bytes)
{
    ms_status st = {0};
    return ms_buf_append(&((slt_run *)arg)->actual, bytes, &st) == MS_OK;
}

void slt_fail(slt_run *r, const slt_record *record, const char *what, ms_str expected)
{
    if (r->is_counting) {
        return;
    }
    r->failures++;
    if (!r->quiet) {
        fprintf(stderr, "%s:%u: [%s] %s\n", r->file->path, record->line, r->mode->name, what);
        fprintf(stderr, "  expected:\n%.*s  got:\n%.*s", MS_STR_ARG(expected), (int)r->actual.bytes,
                r->actual.ptr != NULL ? r->actual.ptr : "");
    }
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

static bool same(slt_run *r, ms_str expected, bool in_order)
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
static void check(slt_run *r, const slt_record *record, bool in_order, const char *what)
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
        slt_fail(r, record, what, record->expected);
    }
}

/* Records. */

static void make_file(slt_run *r, const slt_record *record)
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
        slt_fail(r, record, st.message, record->body);
    }
}

/* The lines of the visible files of a directory, or of one file, sorted. */
static void cat(slt_run *r, const slt_record *record)
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
        slt_fail(r, record, st.message, record->expected);
    } else {
        check(r, record, false, "the files differ");
    }
}

static void restart(slt_run *r, const slt_record *record)
{
    r->replay_from = (uint32_t)(record - r->file->records) + 1;
    slt_close(r);
    if (!slt_server_restart(r) || !slt_open(r)) {
        slt_fail(r, record, "the engine did not open again", ms_str_lit("success\n"));
    }
}

static void run_statement(slt_run *r, const slt_record *record)
{
    r->crash_fault = NULL;
    if (slt_run_sql(r, record) != MS_OK) {
        slt_fail(r, record, "the statement failed", ms_str_lit("success\n"));
    } else if (r->crash_fault != NULL) {
        slt_fail(r, record, r->crash_fault, ms_str_lit("a job that goes on where it was\n"));
    }
}

static void run_record(slt_run *r, const slt_record *record)
{
    if (!slt_runs_in(&record->exempt, r->mode)) {
        return;
    }
    bool is_table = ms_str_equals(record->arg, ms_str_lit("tableau"));
    switch (record->kind) {
    case SLT_FILE:
        make_file(r, record);
        return;
    case SLT_STATEMENT:
        run_statement(r, record);
        return;
    case SLT_ERROR:
        if (slt_run_sql(r, record) == MS_OK) {
            slt_fail(r, record, "the statement succeeded", record->expected);
        } else {
            check(r, record, true, "the error differs");
        }
        return;
    case SLT_QUERY:
        if (slt_run_sql(r, record) != MS_OK) {
            slt_fail(r, record, "the query failed", record->expected);
        } else {
            check(r, record, r->file->compare_rows || is_table, "the rows differ");
        }
        return;
    case SLT_RESTART:
        restart(r, record);
        return;
    case SLT_CAT:
        cat(r, record);
        return;
    }
}

/* Files. */

/* A file that has a server and a store of its own after all, or sends nothing, proves nothing. */
static void check_served(slt_run *r)
{
    if (r->mode->server == SLT_SERVER_NONE || r->is_counting) {
        return;
    }
    ms_status st = {0};
    char path[1024];
    snprintf(path, sizeof path, "%s/data/bigtable", r->tmp);
    ms_file_info info = {.kind = MS_FILE_KIND_NONE};
    bool is_embedded = ms_file_stat(path, &info, &st) != MS_OK || info.kind != MS_FILE_KIND_NONE;
    if (!is_embedded && (r->calls.received > 0 || r->file->exempt.calls)) {
        return;
    }
    r->failures++;
    if (!r->quiet) {
        fprintf(stderr, "%s: [%s] %s\n", r->file->path, r->mode->name,
                is_embedded ? "an embedded store was opened beside the server"
                            : "the server has received no call");
    }
}

/* One pass over the records. */
static void run_pass(slt_run *r)
{
    ms_status st = {0};
    r->replay_from = 0;
    r->statement_no = 0;
    if (ms_dir_remove(r->tmp, &st) != MS_OK || ms_dir_create(r->tmp, &st) != MS_OK ||
        !slt_server_start(r) || !slt_open(r)) {
        fprintf(stderr, "%s: %s\n", r->file->path, st.message);
        r->failures++;
    }
    for (uint32_t i = 0; r->engine != NULL && i < r->file->record_count; i++) {
        run_record(r, &r->file->records[i]);
    }
    slt_close(r);
    slt_server_stop(r);
    check_served(r);
    if (ms_dir_remove(r->tmp, &st) != MS_OK) {
        fprintf(stderr, "%s\n", st.message);
    }
}

/* The header says how many jobs there are to restore, so that none gets away in silence. */
static void check_restored(slt_run *r)
{
    uint64_t jobs = r->crashes.jobs;
    if (r->failures == 0 && jobs != r->file->restored && !r->file->is_page) {
        r->failures++;
        if (!r->quiet) {
            fprintf(stderr, "%s: [%s] %" PRIu64 " jobs were restored; the header says %u\n",
                    r->file->path, r->mode->name, jobs, r->file->restored);
        }
    }
}

static uint32_t run_all(slt_run *r, const char *tmp_root)
{
    snprintf(r->tmp, sizeof r->tmp, "%s/work", tmp_root);
    ms_arena_init(&r->arena, 0);
    ms_buf_init(&r->actual, OUTPUT_BYTES_MAX);
    r->job_rows = malloc(SLT_STATEMENTS_MAX * sizeof *r->job_rows);
    MS_ASSERT(r->job_rows != NULL);
    for (uint32_t i = 0; i < SLT_STATEMENTS_MAX; i++) {
        r->job_rows[i] = SLT_NO_JOB;
    }
    if (r->mode->tear != SLT_TEAR_NONE) {
        r->is_counting = true;
        run_pass(r);
        r->is_counting = false;
    }
    run_pass(r);
    if (r->mode->tear != SLT_TEAR_NONE) {
        check_restored(r);
    }
    free(r->job_rows);
    ms_buf_release(&r->actual);
    ms_arena_release(&r->arena);
    return r->failures;
}

static void add_crashes(slt_crashes *sum, const slt_crashes *more)
{
    sum->jobs += more->jobs;
    sum->interruptions += more->interruptions;
    sum->rows_kept += more->rows_kept;
    sum->rows_repeated += more->rows_repeated;
    sum->positions += more->positions;
    sum->entries += more->entries;
}

uint32_t slt_run_file(const slt_file *file, const slt_mode *mode, uint32_t mode_index,
                      const char *tmp_root, bool quiet, slt_crashes *crashes, slt_calls *calls)
{
    slt_run r = {.file = file, .mode = mode, .mode_index = mode_index, .quiet = quiet};
    uint32_t failures = run_all(&r, tmp_root);
    add_crashes(crashes, &r.crashes);
    calls->runs += mode->server != SLT_SERVER_NONE ? 1 : 0;
    calls->servers += r.calls.servers;
    calls->received += r.calls.received;
    return failures;
}

bool slt_update(const slt_file *file, const slt_mode *mode, const char *tmp_root)
{
    ms_status st = {0};
    ms_buf updated;
    ms_buf_init(&updated, OUTPUT_BYTES_MAX);
    slt_run r = {.file = file, .mode = mode, .updated = &updated};
    bool ok = run_all(&r, tmp_root) == 0;
    ms_str rest = ms_str_slice(file->text, r.copied, file->text.bytes);
    ok = ms_buf_append(&updated, rest, &st) == MS_OK &&
         ms_file_replace(file->path, ms_buf_view(&updated), &st) == MS_OK && ok;
    ms_buf_release(&updated);
    return ok;
}
