/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running SQL from a benchmark through the public API.
 *
 *     sql_host host;
 *     sql_open(&host, 1);
 *     sql_run(&host, "CREATE TABLE ...; INSERT INTO ...");
 *     sql_close(&host);
 *
 * Any error ends the program. Thread: main.
 */
#ifndef MS_TESTS_BENCH_SQL_H
#define MS_TESTS_BENCH_SQL_H

#include "millstream/millstream.h"

typedef struct sql_host {
    ms_engine *engine;
    ms_session *session;
} sql_host;

/* An engine without session yet, so that connectors can be added. */
void sql_open(sql_host *host, uint32_t workers);
void sql_close(sql_host *host);

/* Executes every statement; jobs are waited for. */
void sql_run(sql_host *host, const char *text);

/* Executes a script of one query and calls on_rows for every group of rows. */
void sql_query(sql_host *host, const char *text,
               void (*on_rows)(void *arg, ms_execution *execution, const ms_rows *rows), void *arg);

/* A job that runs until it is canceled. */
typedef struct sql_job {
    ms_script *script;
    ms_execution *execution;
} sql_job;

/* Executes a script of one INSERT and does not wait; sql_cancel ends it. */
void sql_start(sql_host *host, const char *text, sql_job *job_out);
void sql_cancel(sql_host *host, sql_job *job);

/* Parses and plans the script; DDL takes effect. */
void sql_check(sql_host *host, const char *text);

#endif
