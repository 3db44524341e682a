/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Golden files: SQL in, rows out. A file is read once and run in every mode that its header does
 * not exempt it from.
 *
 *     # name: projections
 *     # description: columns, expressions and aliases
 *     # group: query
 *     # compare: fold                      or rows: exact sequence, parallelism 1, coalesce never
 *     # origin: reasoned                   or flink-2.x (version), sqlite
 *     # exempt batch: a reason             also parallel, streaming, restart
 *
 *     file in.csv                          makes ${TMP}/in.csv; ends at ----
 *     1,a
 *     ----
 *
 *     statement ok
 *     CREATE TABLE t (a INT, b STRING) WITH (...)
 *
 *     statement error
 *     SELECT nmae FROM t
 *     ----
 *     error[UNDEFINED_COLUMN]: column "nmae" does not exist
 *       SELECT nmae FROM t
 *              ^^^^
 *
 *     query                                query csv, query tableau, query changelog
 *     SELECT a FROM t
 *     ----
 *     {"a":1}
 *
 *     restart                              a new engine and session on the same data directory
 *     cat out                              the lines of the visible files of ${TMP}/out, sorted
 *     ----
 *     ...
 *
 * Statements end at a blank line, or at ---- where something is expected; so do expectations at a
 * blank line. Lines that begin with # between records are comments. Expected errors leave out the
 * line with the place (its name and line number are the runner's).
 */
#ifndef MS_TESTS_SLT_SLT_H
#define MS_TESTS_SLT_SLT_H

#include "base/str.h"
#include "millstream/millstream.h"

typedef enum slt_kind {
    SLT_FILE,
    SLT_STATEMENT,
    SLT_ERROR,
    SLT_QUERY,
    SLT_RESTART,
    SLT_CAT
} slt_kind;

typedef struct slt_record {
    slt_kind kind;
    uint32_t line;      /* of its first line, from 1 */
    ms_str arg;         /* the word behind the kind */
    ms_str body;        /* the SQL, or the contents of a file */
    ms_str expected;    /* with a line feed behind every line */
    size_t expected_at; /* where in the file the expectation begins and ends, for updating */
    size_t expected_end;
} slt_record;

typedef struct slt_file {
    const char *path;
    ms_str text;
    bool compare_rows;
    bool exempt_batch;
    bool exempt_streaming;
    bool exempt_parallel;
    slt_record *records;
    uint32_t record_count;
} slt_file;

/* One way of running all files. */
typedef struct slt_mode {
    const char *name;
    uint32_t batch_rows;
    uint32_t parallelism;
    uint32_t ring_slots;
    uint32_t exchange_batches;
    bool is_batch;
    bool optimizer;
} slt_mode;

/* Reads a file; false after printing what is wrong with it. */
bool slt_parse(ms_arena *arena, const char *path, slt_file *file_out);

/* Runs a file in a mode; returns the number of failed records, which it has printed. */
uint32_t slt_run(const slt_file *file, const slt_mode *mode, const char *tmp_root);

/* Runs a file in a mode and writes what it gave into the file, in place of what was expected. */
bool slt_update(const slt_file *file, const slt_mode *mode, const char *tmp_root);

#endif
