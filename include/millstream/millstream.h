/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Millstream as a library: run Flink SQL in this process.
 *
 *     ms_status st = {0};
 *     ms_engine *engine = NULL;
 *     ms_session *session = NULL;
 *     ms_script *script = NULL;
 *     ms_engine_options options = {.struct_bytes = sizeof options, .data_dir = "millstream-data"};
 *     if (ms_engine_open(&options, &engine, &st) == MS_OK &&
 *         ms_session_open(engine, &session, &st) == MS_OK &&
 *         ms_script_open(session, name, text, &script, &st) == MS_OK &&
 *         ms_script_parse(script, &st) == MS_OK) {
 *         for (uint32_t i = 0; i < ms_script_statement_count(script); i++) {
 *             ms_execution *execution = NULL;
 *             if (ms_script_execute(script, i, false, &execution, &st) == MS_OK &&
 *                 ms_execution_has_rows(execution)) {
 *                 ms_rows rows = {.struct_bytes = sizeof rows};
 *                 while (ms_execution_next(execution, -1, &rows, &st) == MS_OK && rows.count > 0) {
 *                     ...
 *                 }
 *             }
 *             ms_execution_close(execution);
 *         }
 *     }
 *
 * An engine is shared by all threads; a session and what is opened from it belong to one thread at
 * a time, except where a function says otherwise. Every open has a close, which takes NULL. Close
 * the executions before their script, the scripts before their session, the sessions before the
 * engine.
 *
 * A function that returns ms_rc returns MS_OK, or the code of the status that it has filled. The
 * codes a function may return are listed with it; MS_INTERNAL and MS_NO_MEMORY are always possible.
 * A structure that the caller makes begins with struct_bytes, set to its size; bytes beyond it read
 * as zero.
 */
#ifndef MS_MILLSTREAM_MILLSTREAM_H
#define MS_MILLSTREAM_MILLSTREAM_H

#include "millstream/base.h"
#include "millstream/version.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ms_engine ms_engine;
typedef struct ms_session ms_session;
typedef struct ms_script ms_script;
typedef struct ms_execution ms_execution;

/* ---- The engine ---- */

typedef struct ms_engine_options {
    uint32_t struct_bytes;
    /*
     * Where the embedded store and checkpoints live; made at the first write. NULL: "millstream-
     * data".
     */
    const char *data_dir;
    /* Worker threads; 0: the number of processors. */
    uint32_t workers;
    /*
     * Called, from any thread, with notices for people, ready for ms_status_render: warnings, such
     * as of a setting without effect, which may have a place in the script that runs; and notes,
     * whose code is MS_OK, such as which Bigtable is used (essential: shown also when quiet).
     * NULL: none.
     */
    void (*notice)(void *arg, bool is_essential, const ms_status *notice);
    void *notice_arg;
    /*
     * True when rows go to standard output as json or csv, so that print tables go to standard
     * error.
     */
    bool stdout_is_result;
} ms_engine_options;

/*
 * Opens an engine. Starts no thread and touches no file before they are needed.
 * Ownership: the caller closes it. Thread: any. Errors: none but the general ones. Since: 0.1.
 */
MS_API ms_rc ms_engine_open(const ms_engine_options *options, ms_engine **engine_out,
                            ms_status *st);

/*
 * Gives all back; sessions, scripts and executions were closed before. Takes NULL. Thread: any.
 * Since: 0.1.
 */
MS_API void ms_engine_close(ms_engine *engine);

/*
 * Asks every running job to stop: final checkpoint where checkpoints are on, what is read is
 * written, nothing is flushed. Returns at once. Thread: any. Since: 0.1.
 */
MS_API void ms_engine_stop(ms_engine *engine);

/*
 * Makes every running job end at once; nothing more is emitted or committed. Thread: any. Since:
 * 0.1.
 */
MS_API void ms_engine_cancel(ms_engine *engine);

/* ---- Sessions ---- */

/*
 * Opens a session: an empty catalog and the default settings.
 * Ownership: the caller closes it. Thread: any; the session then belongs to one thread at a time.
 * Since: 0.1.
 */
MS_API ms_rc ms_session_open(ms_engine *engine, ms_session **session_out, ms_status *st);
MS_API void ms_session_close(ms_session *session);

/*
 * Sets a setting as a flag would: a SET of a script hides it.
 * Thread: the session's. Errors: MS_UNKNOWN_OPTION, MS_INVALID_OPTION. Since: 0.1.
 */
MS_API ms_rc ms_session_set(ms_session *session, ms_str key, ms_str value, ms_status *st);

/*
 * Gives ${name} a value in scripts opened later. Thread: the session's.
 * Errors: MS_INVALID_ARGUMENT when the name is no identifier, MS_LIMIT. Since: 0.1.
 */
MS_API ms_rc ms_session_define(ms_session *session, ms_str name, ms_str value, ms_status *st);

typedef enum ms_resume { MS_RESUME_ASK, MS_RESUME_YES, MS_RESUME_FRESH } ms_resume;

/*
 * What to do with an unfinished job that has a checkpoint: refuse (MS_RESUME_REQUIRED), resume, or
 * start anew. Thread: the session's. Since: 0.1.
 */
MS_API void ms_session_set_resume(ms_session *session, ms_resume resume);

/*
 * Makes queries give every change, with "op" first when printed, instead of their final rows. An
 * unbounded query always does. Thread: the session's. Since: 0.1.
 */
MS_API void ms_session_set_changelog(ms_session *session, bool changelog);

/* ---- Scripts ---- */

/*
 * Takes a script's name (for messages and job names) and text, both copied; replaces variables.
 * Ownership: the caller closes it. Thread: the session's. A script is returned also when the call
 * fails for a reason that has a place in the text, so that the status can be rendered. With its
 * first job it locks what earlier runs left of all its jobs (MS_JOB_RUNNING for others), until they
 * have ended or it is closed. Errors: MS_UNDEFINED_VARIABLE, MS_SYNTAX_ERROR,
 * MS_STATEMENT_TOO_LARGE. Since: 0.1.
 */
MS_API ms_rc ms_script_open(ms_session *session, ms_str name, ms_str text, ms_script **script_out,
                            ms_status *st);
MS_API void ms_script_close(ms_script *script);

/*
 * Parses the whole text. Nothing may be executed before. Thread: the session's.
 * Errors: MS_SYNTAX_ERROR, MS_INVALID_LITERAL, MS_NOT_SUPPORTED, MS_STATEMENT_TOO_LARGE. Since:
 * 0.1.
 */
MS_API ms_rc ms_script_parse(ms_script *script, ms_status *st);

/* The number of statements; 0 before ms_script_parse. Thread: the session's. Since: 0.1. */
MS_API uint32_t ms_script_statement_count(const ms_script *script);

/*
 * The place of a statement, for a status about all of it; {0, 0} for a number beyond the last.
 * Thread: the session's. Since: 0.1.
 */
MS_API ms_span ms_script_statement_span(const ms_script *script, uint32_t statement);

/*
 * Binds and plans every statement and runs none; DDL takes effect in the session. Calls report for
 * every error and every warning (ms_rc_is_warning) of a statement. Returns the number of errors.
 * Thread: the session's. Since: 0.1.
 */
MS_API uint32_t ms_script_check(ms_script *script,
                                void (*report)(void *arg, uint32_t statement, const ms_status *st),
                                void *arg);

/*
 * Executes one statement. DDL, SET and the like are done when it returns; a query or INSERT has
 * been started as a job. A bounded INSERT is waited for with ms_execution_wait. With explain_only,
 * a query, INSERT or STATEMENT SET yields its plan as rows instead, and other statements do as
 * always. Ownership: the caller closes the execution. Thread: the session's. Errors: any code of
 * errcode.def. Since: 0.1.
 */
MS_API ms_rc ms_script_execute(ms_script *script, uint32_t statement, bool explain_only,
                               ms_execution **execution_out, ms_status *st);

/* ---- Executions ---- */

/*
 * Ends the job if it still runs (as by cancel), and gives all back. Thread: the session's. Since:
 * 0.1.
 */
MS_API void ms_execution_close(ms_execution *execution);

/*
 * True when there are rows to read: queries, SHOW, DESCRIBE, EXPLAIN. Thread: the session's. Since:
 * 0.1.
 */
MS_API bool ms_execution_has_rows(const ms_execution *execution);

/* True when the job ends by itself; true without a job. Thread: the session's. Since: 0.1. */
MS_API bool ms_execution_is_bounded(const ms_execution *execution);

/* True when a job runs or ran. Thread: the session's. Since: 0.1. */
MS_API bool ms_execution_is_job(const ms_execution *execution);

/* The kinds of values that ms_rows gives out. */
typedef enum ms_value_kind {
    MS_VALUE_NULL,
    MS_VALUE_BOOL, /* i64: 0 or 1 */
    MS_VALUE_INT,  /* i64: integers, DATE as days, TIME as ms, TIMESTAMP(p <= 6) as microseconds */
    MS_VALUE_DOUBLE, /* f64: FLOAT and DOUBLE */
    MS_VALUE_BYTES   /* str: text and bytes; every other type as its text */
} ms_value_kind;

typedef struct ms_cell {
    ms_value_kind kind;
    int64_t i64;
    double f64;
    ms_str str;
} ms_cell;

/* Some rows of a result. Valid until the next call on its execution. */
typedef struct ms_rows {
    uint32_t struct_bytes;
    uint32_t count;
    uint32_t column_count;
    const void *batch; /* private */
} ms_rows;

/*
 * Waits for rows: timeout_ms < 0 without end, 0 not at all. count 0 with MS_OK means the end of the
 * result; a timeout is MS_CANCELED with retriable set. Rows of a bounded query whose result is
 * folded come when the query is done. Thread: the session's. Errors: those of the job. Since: 0.1.
 */
MS_API ms_rc ms_execution_next(ms_execution *execution, int64_t timeout_ms, ms_rows *rows_out,
                               ms_status *st);

/* The name of a result column. Borrowed from the execution. Thread: the session's. Since: 0.1. */
MS_API ms_str ms_execution_column_name(const ms_execution *execution, uint32_t column);

/*
 * One value; row < count, column < column_count. Texts are valid as long as rows. Thread: the
 * session's. Since: 0.1.
 */
MS_API ms_cell ms_rows_cell(ms_execution *execution, const ms_rows *rows, uint32_t row,
                            uint32_t column);

/* 0 +I, 1 -U, 2 +U, 3 -D. Thread: the session's. Since: 0.1. */
MS_API int ms_rows_kind(const ms_rows *rows, uint32_t row);

typedef enum ms_result_format {
    MS_RESULT_JSON,   /* one object a line */
    MS_RESULT_CSV,    /* RFC 4180 with a header */
    MS_RESULT_TABLEAU /* Flink's boxes */
} ms_result_format;

/* How results are printed. */
typedef struct ms_print_options {
    uint32_t struct_bytes;
    ms_result_format format;
    /* Takes printed bytes; false ends the printing quietly (a reader that went away). */
    bool (*write)(void *arg, ms_str bytes);
    void *arg;
} ms_print_options;

/*
 * Reads all rows and prints them. Returns when the result ends.
 * Thread: the session's. Errors: those of the job. Since: 0.1.
 */
MS_API ms_rc ms_execution_print(ms_execution *execution, const ms_print_options *options,
                                ms_status *st);

/*
 * Waits until the job has ended: timeout_ms < 0 without end. MS_CANCELED with retriable set when
 * the time ran out. Thread: the session's. Errors: those of the job; MS_CANCELED when it was
 * canceled. Since: 0.1.
 */
MS_API ms_rc ms_execution_wait(ms_execution *execution, int64_t timeout_ms, ms_status *st);

/*
 * True when ms_engine_stop ended the job before its input ended. Thread: the session's. Since: 0.1.
 */
MS_API bool ms_execution_was_stopped(const ms_execution *execution);

/*
 * True when running the script again with MS_RESUME_YES goes on behind this INSERT or in it: it has
 * left a checkpoint, or word of its end, and the script has a name by which they are found. Thread:
 * the session's. Since: 0.1.
 */
MS_API bool ms_execution_can_resume(const ms_execution *execution);

/* Counters of a job, for people and tests. */
typedef struct ms_job_stats {
    uint32_t struct_bytes;
    uint64_t rows_read;        /* by all sources, since this start */
    uint64_t rows_written;     /* to all sinks */
    uint64_t checkpoints;      /* completed since this start */
    uint64_t checkpoint_id;    /* the newest complete one, also of an earlier run */
    uint64_t restored_entries; /* state entries and splits that a checkpoint gave back */
    uint32_t subtasks_with_rows;
} ms_job_stats;

/* Thread: the session's. Since: 0.1. */
MS_API void ms_execution_stats(const ms_execution *execution, ms_job_stats *stats_out);

/* ---- Errors for people ---- */

typedef enum ms_error_format { MS_ERROR_TEXT, MS_ERROR_JSON } ms_error_format;

/*
 * Renders a status: "error[CODE]: message", or "warning[CODE]: ", or the bare message of a note,
 * whose code is MS_OK; then place, line and carets when it has a place in the script (NULL: none),
 * then "detail:" and "hint:" lines; or one JSON object on a line. The text ends in a line feed, is
 * cut to size - 1 bytes and ends in NUL. Returns the bytes written. Thread: the session's when
 * script is not NULL, else any. Since: 0.1.
 */
MS_API size_t ms_status_render(const ms_status *st, const ms_script *script, uint32_t statement,
                               ms_error_format format, char *out, size_t size);

/* ---- About ---- */

/*
 * Lines of "key value" about this build and process: version, compiler, libraries, zone. Returns
 * the bytes written, cut to size - 1, with a NUL. Thread: any. Since: 0.1.
 */
MS_API size_t ms_about(char *out, size_t size);

#ifdef __cplusplus
}
#endif

#endif
