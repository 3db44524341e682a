/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thin layer over millstream.h for programs that end at the first error.
 */
#include "sql.h"

#include "base/str.h"
#include "bench.h"

void sql_open(sql_host *host, uint32_t workers)
{
    ms_status st = {0};
    *host = (sql_host){NULL, NULL};
    ms_engine_options options = {.struct_bytes = sizeof options, .workers = workers};
    bench_must(ms_engine_open(&options, &host->engine, &st), &st);
}

void sql_close(sql_host *host)
{
    ms_session_close(host->session);
    ms_engine_close(host->engine);
}

static ms_script *parse(sql_host *host, const char *text)
{
    ms_status st = {0};
    ms_script *script = NULL;
    if (host->session == NULL) {
        bench_must(ms_session_open(host->engine, &host->session, &st), &st);
    }
    ms_str name = ms_str_lit("bench");
    bench_must(ms_script_open(host->session, name, ms_str_cstr(text), &script, &st), &st);
    bench_must(ms_script_parse(script, &st), &st);
    return script;
}

void sql_run(sql_host *host, const char *text)
{
    ms_status st = {0};
    ms_script *script = parse(host, text);
    for (uint32_t i = 0; i < ms_script_statement_count(script); i++) {
        ms_execution *execution = NULL;
        bench_must(ms_script_execute(script, i, false, &execution, &st), &st);
        if (ms_execution_is_job(execution)) {
            bench_must(ms_execution_wait(execution, -1, &st), &st);
        }
        ms_execution_close(execution);
    }
    ms_script_close(script);
}

void sql_query(sql_host *host, const char *text,
               void (*on_rows)(void *arg, ms_execution *execution, const ms_rows *rows), void *arg)
{
    ms_status st = {0};
    ms_script *script = parse(host, text);
    ms_execution *execution = NULL;
    bench_must(ms_script_execute(script, 0, false, &execution, &st), &st);
    ms_rows rows = {.struct_bytes = sizeof rows};
    do {
        bench_must(ms_execution_next(execution, -1, &rows, &st), &st);
        on_rows(arg, execution, &rows);
    } while (rows.count > 0);
    ms_execution_close(execution);
    ms_script_close(script);
}

void sql_start(sql_host *host, const char *text, sql_job *job_out)
{
    ms_status st = {0};
    job_out->script = parse(host, text);
    bench_must(ms_script_execute(job_out->script, 0, false, &job_out->execution, &st), &st);
}

void sql_cancel(sql_host *host, sql_job *job)
{
    ms_engine_cancel(host->engine);
    ms_execution_close(job->execution);
    ms_script_close(job->script);
}

static void report_error(void *arg, uint32_t statement, const ms_status *st)
{
    (void)arg;
    (void)statement;
    if (st->code != MS_OK) {
        bench_must(st->code, st);
    }
}

void sql_check(sql_host *host, const char *text)
{
    ms_script *script = parse(host, text);
    (void)ms_script_check(script, report_error, NULL);
    ms_script_close(script);
}
