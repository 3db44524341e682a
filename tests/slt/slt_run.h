/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the runner share: a run of one file in one mode.
 *
 *     slt_run.c      records: runs them and compares
 *     slt_engine.c   engines, sessions and scripts; statements
 *     slt_crash.c    jobs that are interrupted and go on
 *     slt_server.c   the server that the tables of Bigtable are behind
 *
 * A crash mode runs a file twice. The first pass compares nothing: it counts the rows that the
 * sources of each job give out. The second one interrupts the jobs; it knows where the middle of an
 * input is, and how many rows a job has to read in all.
 */
#ifndef MS_TESTS_SLT_SLT_RUN_H
#define MS_TESTS_SLT_SLT_RUN_H

#include "slt.h"

#include "millstream/bigtable.h"

#define SLT_STATEMENTS_MAX 4096u
#define SLT_NO_JOB UINT64_MAX

typedef struct slt_run {
    const slt_file *file;
    const slt_mode *mode;
    uint32_t mode_index;
    char tmp[512];
    ms_engine *engine;
    ms_session *session;
    ms_script *script; /* the text of a record, while its statements run */
    ms_engine *server_engine;
    ms_bigtable_server *server;
    char backend[64]; /* where a server listens; empty: there is none */
    ms_arena arena;
    ms_buf actual;
    bool quiet;
    uint32_t failures;
    ms_buf *updated; /* the file with what was given, or NULL */
    size_t copied;   /* of the file's text into updated */

    bool is_counting;      /* the first pass of a crash mode */
    uint32_t replay_from;  /* the record behind the last restart */
    uint64_t *job_rows;    /* by number of the statement: of its sources, or SLT_NO_JOB */
    uint32_t statement_no; /* of "statement ok" records, from the first of the file on */
    slt_crashes crashes;   /* of this file */
    slt_calls calls;
    const char *crash_fault; /* what was wrong with the interruption of a job, or NULL */
    char crash_text[512];
} slt_run;

/* Reports a failed record. */
void slt_fail(slt_run *r, const slt_record *record, const char *what, ms_str expected);

/* Appends to what a record gave; an slt_run as arg, for ms_execution_print. */
bool slt_append(void *arg, ms_str bytes);

/* Engines. */

/* Opens an engine and a session in the run's mode. */
bool slt_open(slt_run *r);
void slt_close(slt_run *r);

/* Sets a setting of the session as a flag would. */
bool slt_set(slt_run *r, const char *key, const char *text);
bool slt_set_number(slt_run *r, const char *key, uint32_t value);

/*
 * Does again what the statements since the last restart did to the session, up to a statement of a
 * record, whose script stays open. Jobs are planned and not run.
 */
bool slt_replay(slt_run *r, uint32_t record, uint32_t statement, ms_status *st);

/* Servers: an engine of its own, with a data directory of its own, in this process. */

/* Starts one where the mode wants it. Sessions that are opened from now on go there. */
bool slt_server_start(slt_run *r);

/* Cancels the calls that it has and counts those that it had. */
void slt_server_stop(slt_run *r);

/* Another server over the same tables, at the same address, where the mode wants more than one. */
bool slt_server_restart(slt_run *r);

/* Runs the statements of a record; what they print, or the error, becomes the actual text. */
ms_rc slt_run_sql(slt_run *r, const slt_record *record);

/* Crashes. */

/*
 * Runs statement `statement` of a record, a job whose sources give out so many rows, with
 * interruptions. Engine, session and script are others afterwards. What is wrong with the
 * interruptions is in crash_fault; the status is that of the job.
 */
ms_rc slt_crash_job(slt_run *r, const slt_record *record, uint32_t statement, uint64_t rows,
                    ms_status *st);

#endif
