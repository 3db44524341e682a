/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Golden files: SQL in, rows out. A file is read once and run in every mode that its header does
 * not exempt it from.
 *
 *     # name: projections
 *     # description: columns, expressions and aliases
 *     # group: query
 *     # compare: fold                      or rows: exact sequence, parallelism 1, coalesce never
 *     # origin: reasoned                   of the rows: or flink-2.3.0, sqlite, reference
 *     # exempt batch: a reason             also streaming, parallel, rules (off), crash,
 *                                          modes (all but the first), grpc (where the store is
 *                                          behind a server)
 *     # exempt calls: a reason             no call need reach the server: it explains, for instance
 *     # restored: 3                        jobs that the crash modes interrupt and restore
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
 *     # origin: reasoned                   of the next record, where it is not the file's
 *     # exempt batch: a reason             the next record is left out; crash: its jobs are not
 *                                          interrupted
 *     query                                query csv, query tableau, query changelog
 *     SELECT a FROM t
 *     ----
 *     {"a":1}
 *
 *     restart                              a new engine and session on the same data directory, in
 *                                          some modes also a new server
 *     cat out                              the lines of the visible files of ${TMP}/out, sorted
 *     ----
 *     ...
 *
 * The header ends at the first blank line. Statements end at a blank line, or at ---- where
 * something is expected; so do expectations at a blank line. Lines that begin with # between
 * records are comments. Expected errors leave out the line with the place (its name and line number
 * are the runner's).
 *
 * Canaries, which prove that the runner can fail, say more in their header:
 *
 *     # failures: 2                        records that must be reported in every mode
 *     # failures crash: 1                  the same in the crash modes, where it is another number
 *     # failures grpc: 1                   so many more where the store is behind a server
 *     # sabotage: starts over              jobs that should go on from a checkpoint start anew
 *     # sabotage: stays at home            nobody is told of the server
 */
#ifndef MS_TESTS_SLT_SLT_H
#define MS_TESTS_SLT_SLT_H

#include "base/arena.h"
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

/* The modes that a file or a record does not run in. */
typedef struct slt_exempt {
    bool batch;
    bool streaming;
    bool parallel;
    bool rules; /* off */
    bool modes; /* all but the first */
    bool grpc;
    bool crash; /* of a record: its jobs are not interrupted */
    bool calls; /* of a file */
} slt_exempt;

typedef struct slt_record {
    slt_kind kind;
    uint32_t line;   /* of its first line, from 1 */
    ms_str arg;      /* the word behind the kind */
    ms_str body;     /* the SQL, or the contents of a file */
    ms_str expected; /* with a line feed behind every line */
    ms_str origin;   /* of what is expected */
    slt_exempt exempt;
    size_t expected_at; /* where in the file the expectation begins and ends, for updating */
    size_t expected_end;
} slt_record;

typedef struct slt_file {
    const char *path;
    ms_str text;
    ms_str origin;
    bool is_page; /* of docs/: no header */
    bool compare_rows;
    bool has_bigtable; /* a statement names the connector */
    slt_exempt exempt;
    bool starts_over;   /* sabotage */
    bool stays_at_home; /* likewise */
    uint32_t restored;
    uint32_t failures;
    uint32_t failures_crash;
    uint32_t failures_grpc;
    slt_record *records;
    uint32_t record_count;
} slt_file;

/* How a job is torn down in the middle of its input. */
typedef enum slt_tear {
    SLT_TEAR_NONE,
    SLT_TEAR_CANCEL, /* in this process */
    SLT_TEAR_KILL,   /* SIGKILL of a child process */
    SLT_TEAR_COMMIT  /* the same, when a checkpoint is complete and nothing of it committed */
} slt_tear;

/* Where the tables of Bigtable are. */
typedef enum slt_server {
    SLT_SERVER_NONE, /* in the data directory of the engine */
    SLT_SERVER_ONE,  /* behind a server, over gRPC, as long as the file runs */
    SLT_SERVER_MANY  /* behind another one after every restart and interruption */
} slt_server;

#define SLT_MODE_NAME_BYTES 128u

/* One way of running all files. */
typedef struct slt_mode {
    char name[SLT_MODE_NAME_BYTES];
    uint32_t batch_rows;
    uint32_t parallelism;
    uint32_t other_parallelism; /* of every second run of a job that is torn */
    uint32_t ring_slots;
    uint32_t exchange_batches;
    bool is_batch;
    bool optimizer;
    slt_tear tear;
    slt_server server;
    bool is_first; /* and with a server the first of those */
} slt_mode;

#define SLT_MODES_MAX 1024u

/* Fills modes[SLT_MODES_MAX] and returns how many there are: some that cover the pairs of settings,
 * or the full product; then all of them once more, with a server. */
uint32_t slt_modes(bool all, slt_mode *modes);

/* What the crash modes did, added up over files. */
typedef struct slt_crashes {
    uint64_t jobs;          /* interrupted, restored, and right in the end */
    uint64_t interruptions; /* of them */
    uint64_t rows_kept;     /* given out before an interruption and not read again */
    uint64_t rows_repeated; /* given out behind the last checkpoint, and once more */
    uint64_t positions;     /* of sources and other snapshots that came back */
    uint64_t entries;       /* of state tables that came back */
} slt_crashes;

/* What the modes with a server did, added up over files. */
typedef struct slt_calls {
    uint64_t runs;     /* of a file in a mode */
    uint64_t servers;  /* started for them */
    uint64_t received; /* calls that began at servers */
} slt_calls;

/* True when the mode is none that is exempt; crashes aside. */
bool slt_runs_in(const slt_exempt *exempt, const slt_mode *mode);

/* Reads a file; false after printing what is wrong with it. */
bool slt_parse(ms_arena *arena, const char *path, slt_file *file_out);

/*
 * Runs a file in a mode, which is number mode_index of slt_modes; returns the number of failed
 * records, which it has printed unless quiet, and adds to crashes and calls.
 */
uint32_t slt_run_file(const slt_file *file, const slt_mode *mode, uint32_t mode_index,
                      const char *tmp_root, bool quiet, slt_crashes *crashes, slt_calls *calls);

/* Runs a file in a mode and writes what it gave into the file, in place of what was expected. */
bool slt_update(const slt_file *file, const slt_mode *mode, const char *tmp_root);

/* The rest of the command line of a child that SLT_TEAR_KILL starts; does not return. */
_Noreturn void slt_child(int argc, char **argv);

#endif
