/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Engines and sessions in a mode, and the statements of a record.
 */
#include "slt_gate.h"
#include "slt_run.h"

#include "engine/engine_test.h"

#include <stdio.h>
#include <string.h>

#define STATUS_BYTES (16u << 10)
#define WAIT_MS 60000

/* Engines. */

bool slt_set(slt_run *r, const char *key, const char *text)
{
    ms_status st = {0};
    if (ms_session_set(r->session, ms_str_cstr(key), ms_str_cstr(text), &st) != MS_OK) {
        fprintf(stderr, "%s\n", st.message);
        return false;
    }
    return true;
}

bool slt_set_number(slt_run *r, const char *key, uint32_t value)
{
    char text[16];
    snprintf(text, sizeof text, "%u", value);
    return slt_set(r, key, text);
}

static bool set_mode(slt_run *r)
{
    const slt_mode *mode = r->mode;
    uint32_t parallelism = r->file->compare_rows ? 1 : mode->parallelism;
    bool ok = slt_set_number(r, "millstream.batch.rows", mode->batch_rows);
    ok = ok && slt_set_number(r, "parallelism.default", parallelism);
    ok = ok && slt_set_number(r, "millstream.ring.slots", mode->ring_slots);
    ok = ok && slt_set_number(r, "millstream.exchange.batches", mode->exchange_batches);
    ok = ok && slt_set(r, "execution.runtime-mode", mode->is_batch ? "batch" : "streaming");
    ok = ok && slt_set(r, "millstream.optimizer.enabled", mode->optimizer ? "true" : "false");
    ok = ok && slt_set(r, "table.local-time-zone", "UTC");
    if (r->file->compare_rows) {
        ok = ok && slt_set(r, "table.exec.changelog.coalesce", "never");
    }
    if (r->backend[0] != '\0' && !r->file->stays_at_home) {
        ok = ok && slt_set(r, "bigtable.backend", r->backend);
    }
    if (mode->tear != SLT_TEAR_NONE) {
        /* Checkpoints are on; all of them but the last are taken on request. */
        ok = ok && slt_set(r, "execution.checkpointing.interval", "1 h");
        ms_session_set_resume(r->session, MS_RESUME_FRESH);
    }
    return ok;
}

bool slt_open(slt_run *r)
{
    ms_status st = {0};
    char data_dir[600];
    snprintf(data_dir, sizeof data_dir, "%s/data", r->tmp);
    ms_engine_options options = {.struct_bytes = sizeof options,
                                 .data_dir = data_dir,
                                 .workers = 2,
                                 .stdout_is_result = true};
    bool ok = ms_engine_open(&options, &r->engine, &st) == MS_OK;
    if (ok && r->mode->tear != SLT_TEAR_NONE) {
        slt_gate_install(r->engine);
    }
    ok = ok && ms_session_open(r->engine, &r->session, &st) == MS_OK &&
         ms_session_define(r->session, ms_str_lit("TMP"), ms_str_cstr(r->tmp), &st) == MS_OK;
    if (!ok) {
        fprintf(stderr, "%s\n", st.message);
    }
    return ok && set_mode(r);
}

void slt_close(slt_run *r)
{
    ms_script_close(r->script);
    ms_session_close(r->session);
    ms_engine_close(r->engine);
    r->script = NULL;
    r->session = NULL;
    r->engine = NULL;
}

/* Scripts. */

static ms_rc open_script(slt_run *r, const slt_record *record, ms_status *st)
{
    ms_script_close(r->script);
    r->script = NULL;
    ms_rc rc =
        ms_script_open(r->session, ms_str_lit("slt"), ms_str_trim(record->body), &r->script, st);
    return rc == MS_OK ? ms_script_parse(r->script, st) : rc;
}

static ms_rc replay_record(slt_run *r, const slt_record *record, uint32_t end, ms_status *st)
{
    ms_rc rc = open_script(r, record, st);
    uint32_t count = ms_script_statement_count(r->script);
    for (uint32_t i = 0; rc == MS_OK && i < count && i < end; i++) {
        ms_execution *execution = NULL;
        rc = ms_script_execute(r->script, i, true, &execution, st);
        ms_execution_close(execution);
    }
    return rc;
}

bool slt_replay(slt_run *r, uint32_t record, uint32_t statement, ms_status *st)
{
    ms_rc rc = MS_OK;
    for (uint32_t i = r->replay_from; rc == MS_OK && i < record; i++) {
        if (r->file->records[i].kind == SLT_STATEMENT) {
            rc = replay_record(r, &r->file->records[i], UINT32_MAX, st);
        }
    }
    return rc == MS_OK && replay_record(r, &r->file->records[record], statement, st) == MS_OK;
}

/* Statements. */

/* Appends a line with the run's directory as ${TMP}, so that expectations hold everywhere. */
static void append_masked(slt_run *r, ms_str line)
{
    size_t length = strlen(r->tmp);
    while (line.bytes > 0) {
        const char *found = memmem(line.ptr, line.bytes, r->tmp, length);
        size_t before = found == NULL ? line.bytes : (size_t)(found - line.ptr);
        slt_append(r, ms_str_slice(line, 0, before));
        if (found != NULL) {
            slt_append(r, ms_str_lit("${TMP}"));
            before += length;
        }
        line = ms_str_slice(line, before, line.bytes);
    }
}

/* Renders an error without the line that names file and line. */
static void render_error(slt_run *r, const ms_status *st)
{
    char text[STATUS_BYTES];
    size_t bytes = ms_status_render(st, r->script, 0, MS_ERROR_TEXT, text, sizeof text);
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

static ms_rc finish(slt_run *r, const slt_record *record, ms_execution *execution, ms_status *st)
{
    if (!ms_execution_has_rows(execution)) {
        return ms_execution_wait(execution, WAIT_MS, st);
    }
    ms_print_options options = {.struct_bytes = sizeof options, .write = slt_append, .arg = r};
    if (ms_str_equals(record->arg, ms_str_lit("csv"))) {
        options.format = MS_RESULT_CSV;
    } else if (ms_str_equals(record->arg, ms_str_lit("tableau"))) {
        options.format = MS_RESULT_TABLEAU;
    }
    return ms_execution_print(execution, &options, st);
}

static ms_rc run_statement(slt_run *r, const slt_record *record, uint32_t statement, ms_status *st)
{
    if (r->mode->tear != SLT_TEAR_NONE) {
        slt_gate_begin(SLT_GATE_OPEN);
    }
    ms_execution *execution = NULL;
    ms_rc rc = ms_script_execute(r->script, statement, false, &execution, st);
    rc = rc == MS_OK ? finish(r, record, execution, st) : rc;
    bool is_job = rc == MS_OK && ms_execution_is_job(execution);
    if (r->is_counting && is_job && !ms_execution_has_rows(execution) &&
        record->kind == SLT_STATEMENT) {
        r->job_rows[r->statement_no] = slt_gate_rows();
    }
    ms_execution_close(execution);
    return rc;
}

/* True when the statement is a job to be interrupted. */
static bool is_torn(const slt_run *r, const slt_record *record)
{
    if (r->mode->tear == SLT_TEAR_NONE || r->is_counting || record->kind != SLT_STATEMENT ||
        record->exempt.crash) {
        return false;
    }
    uint64_t rows = r->job_rows[r->statement_no];
    return rows != SLT_NO_JOB && rows > 0;
}

ms_rc slt_run_sql(slt_run *r, const slt_record *record)
{
    ms_status st = {0};
    ms_buf_reset(&r->actual);
    ms_session_set_changelog(r->session, ms_str_equals(record->arg, ms_str_lit("changelog")));
    ms_rc rc = open_script(r, record, &st);
    uint32_t count = ms_script_statement_count(r->script);
    for (uint32_t i = 0; rc == MS_OK && i < count; i++) {
        MS_ASSERT(r->statement_no < SLT_STATEMENTS_MAX);
        if (is_torn(r, record)) {
            rc = slt_crash_job(r, record, i, r->job_rows[r->statement_no], &st);
        } else {
            rc = run_statement(r, record, i, &st);
        }
        r->statement_no += record->kind == SLT_STATEMENT ? 1 : 0;
    }
    if (rc != MS_OK) {
        render_error(r, &st);
    }
    ms_script_close(r->script);
    r->script = NULL;
    return rc;
}
