/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The structs behind include/millstream/millstream.h and what the files of engine/ share.
 *
 *     ms_engine      process: accounts, I/O pool, workers, registry, data directory, Bigtable
 *       ms_session     catalog, settings, variables
 *         ms_script      text, source, syntax tree
 *           ms_execution   one statement under way: a job, or rows made at once
 *
 * Threads, pool and store are made when first needed, so that SELECT 1 pays for none of the store
 * and a syntax error pays for nothing.
 */
#ifndef MS_ENGINE_ENGINE_PRIV_H
#define MS_ENGINE_ENGINE_PRIV_H

#include "catalog/catalog.h"
#include "catalog/connector.h"
#include "catalog/session.h"
#include "connector/bigtable/service.h"
#include "connector/print/print.h"
#include "engine/render.h"
#include "millstream/millstream.h"
#include "os/file.h"
#include "os/thread.h"
#include "plan/logical.h"
#include "runtime/job.h"
#include "sql/parse.h"

#define MSI_DATA_DIR_DEFAULT "millstream-data"
#define MSI_PATH_BYTES 4096u

/* The Bigtables of a process: engine/bigtable.h. */
typedef struct msi_bigtable {
    ms_bigtable_service service; /* first: the connector sees this */
    ms_engine *engine;
    struct msi_backend *backends; /* opened; newest first */
    struct ms_loop *loop;         /* of all that is remote; NULL until there is one */
    ms_session *session;          /* whose settings choose; the one that plans now */
} msi_bigtable;

struct ms_engine {
    ms_engine_options options;
    char data_dir[MSI_PATH_BYTES];
    ms_account account;
    ms_iopool *iopool;
    ms_workers *workers;
    ms_registry registry;
    ms_lockfile *lock;
    char lock_endpoint[MS_LOCKFILE_NOTE_BYTES]; /* of the server that holds it; empty: none */
    msi_bigtable bigtable;
    ms_print_service print;
    struct ms_op *(*make_op)(const ms_pnode *node, ms_arena *arena); /* a test's; NULL: none */
    ms_mutex mutex;                                                  /* guards running */
    ms_execution *running;
    _Atomic bool stop_asked;
    _Atomic bool cancel_asked;
};

struct ms_session {
    ms_engine *engine;
    ms_catalog *catalog;
    ms_settings *settings;
    ms_arena arena; /* of variables */
    ms_variable *variables;
    uint32_t variable_count;
    uint64_t script_count; /* opened so far: the number of the newest */
    ms_resume resume;
    bool changelog;
};

/* Directories of jobs that a script has looked at: what it saw holds until they are started. */
typedef struct msi_job_lock msi_job_lock;
typedef struct msi_job_locks {
    ms_arena *arena; /* the script's */
    msi_job_lock *first;
} msi_job_locks;

struct ms_script {
    ms_session *session;
    uint64_t id; /* tables remember in which script they were defined */
    ms_arena arena;
    ms_source source;
    const ms_ast_script *ast;
    void (*report)(void *arg, uint32_t statement, const ms_status *st); /* while it is checked */
    void *report_arg;
    uint32_t job_count;   /* INSERTs and STATEMENT SETs */
    msi_job_locks *locks; /* shared with the copy that looks ahead */
    bool has_begun;       /* the first job looked at the checkpoints of all */
    bool has_history;     /* and earlier runs have left some, or completed a job */
};

/* Rows made at once: SHOW, DESCRIBE, EXPLAIN. STRING columns only. */
typedef struct msi_listing {
    ms_schema schema;
    ms_batch_pool *pool;
    ms_batch *batch;
    bool is_taken;
} msi_listing;

struct ms_execution {
    ms_script *script;
    uint32_t statement;
    ms_arena arena; /* of the job: plan and names */
    ms_arena cells; /* texts of ms_rows_cell */
    ms_schema schema;
    const ms_plan *plan;
    ms_job *job;
    ms_str job_name; /* of job, for the log */
    ms_execution *next_running;
    msi_listing listing;
    struct msi_fold *fold; /* when the final rows of changes are wanted */
    ms_batch *held;        /* the batch behind ms_rows */
    bool has_rows;
    bool is_listing;
    bool is_skipped; /* finished by an earlier run that is resumed */
    bool is_changelog;
};

/* Engine. */

/* Threads and pool, made on first call. */
ms_rc msi_engine_start(ms_engine *engine, ms_status *st) MS_MUST_USE;

/* Makes and locks the data directory on first call. */
ms_rc msi_engine_lock_data(ms_engine *engine, ms_status *st) MS_MUST_USE;

/* Tells the notice callback: a warning that has no place in a script, or a plain note. */
void msi_engine_notice(ms_engine *engine, bool is_essential, const ms_status *notice);
void msi_engine_note(ms_engine *engine, bool is_essential, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Running jobs, so that stop and cancel reach them. */
void msi_engine_add_running(ms_engine *engine, ms_execution *execution);
void msi_engine_remove_running(ms_engine *engine, ms_execution *execution);

/* Bigtable. */
void msi_bigtable_init(msi_bigtable *bigtable, ms_engine *engine);
void msi_bigtable_close(msi_bigtable *bigtable);

/* Scripts. */
const ms_source *msi_script_source(const ms_script *script);

/* Tells of a warning at a statement: the report of a check, else the notice callback. */
void msi_script_warn(const ms_script *script, uint32_t statement, const ms_status *warning);

/* The warning that a setting of Flink's means nothing here, or that one is likely misspelt; false:
 * there is nothing to warn of. */
bool msi_setting_warning(ms_set_note note, ms_str key, ms_span span, ms_status *warning_out);

/* Jobs: names and directories. */

/* "script" and, with several INSERTs, "-ordinal"; pipeline.name instead of the script's name. */
ms_str msi_job_name(const ms_script *script, uint32_t statement, ms_arena *arena);

/* False for a script from standard input without pipeline.name: its jobs are never found again. */
bool msi_job_has_name(const ms_script *script);

/*
 * Where a job keeps its checkpoints; empty when they are off: the user does not ask for them, and
 * no unfinished run has left one. The lock of the directory is the caller's; NULL when the job is
 * to take it.
 */
ms_rc msi_job_dir(const ms_script *script, uint32_t statement, ms_arena *arena, ms_str *dir_out,
                  ms_lockfile **lock_out, ms_status *st) MS_MUST_USE;

/* Gives back the locks of jobs that were not started. */
void msi_job_locks_release(msi_job_locks *locks);

/*
 * Looks at the directories of the script's jobs before the first one, a statement, is executed:
 * MS_RESUME_REQUIRED for an unfinished one when the session asks; a plain run forgets what earlier
 * runs completed, a fresh one everything, so that a run that is resumed later finds nothing of the
 * runs before it. Forgotten are only jobs whose statements can be bound and planned, and that no
 * statement which cannot be stands before; nothing is when the run is refused. Files that are not a
 * job's are left alone.
 */
ms_rc msi_script_begin(ms_script *script, uint32_t statement, ms_status *st) MS_MUST_USE;

/* Forgets what a job has left, when the run is a fresh one. Its statement has been planned. */
ms_rc msi_job_begin(const ms_script *script, uint32_t statement, ms_status *st) MS_MUST_USE;

/*
 * True when a resumed script finished this statement in an earlier run. MS_MISSING_OPTION when its
 * job cannot be resumed: nothing is there of any job of the script and checkpoints are off, or
 * nothing names it.
 */
ms_rc msi_job_is_complete(const ms_script *script, uint32_t statement, bool *complete_out,
                          ms_status *st) MS_MUST_USE;

/* Statements. */

/*
 * Binds and plans a query, INSERT, STATEMENT SET or EXPLAIN into execution->plan; the logical plan
 * lives in stmt_arena.
 */
ms_rc msi_plan_statement(ms_script *script, const ms_ast_stmt *stmt, ms_arena *stmt_arena,
                         ms_execution *execution, const ms_lplan **logical_out,
                         ms_status *st) MS_MUST_USE;

/* Starts execution->plan as a job. */
ms_rc msi_execution_start(ms_execution *execution, ms_status *st) MS_MUST_USE;

/*
 * Binds and plans the statements from one on, in a session of their own that begins as the script's
 * is now, until one cannot be. Calls visit for every INSERT and STATEMENT SET among them, with a
 * script whose settings are those that it would have then; what visit fails with is returned.
 */
ms_rc msi_script_look_ahead(ms_script *script, uint32_t from,
                            ms_rc (*visit)(void *arg, const ms_script *ahead, uint32_t statement,
                                           ms_status *st),
                            void *arg, ms_status *st) MS_MUST_USE;

/* DDL, SET, SHOW and the like; rows go to execution->listing. */
ms_rc msi_execute_utility(ms_script *script, const ms_ast_stmt *stmt, ms_execution *execution,
                          ms_status *st) MS_MUST_USE;

/* EXPLAIN: the text of the plans as a row. */
ms_rc msi_execute_explain(ms_execution *execution, const ms_lplan *logical, bool changelog_mode,
                          ms_status *st) MS_MUST_USE;

/* True for statements that become jobs. */
bool msi_is_job(const ms_ast_stmt *stmt);
bool msi_is_insert(const ms_ast_stmt *stmt);

/* The zone of the session: table.local-time-zone, else the host's. */
ms_str msi_session_zone(const ms_session *session, ms_arena *arena);

/* Listings. */

/* Starts rows of STRING columns; at most rows_max of them. */
void msi_listing_init(msi_listing *listing, ms_arena *arena, const char *const *names,
                      uint32_t name_count, uint32_t rows_max);

/* Adds a row; a cell with ptr NULL is NULL. Rows beyond rows_max are a bug. */
void msi_listing_add(msi_listing *listing, const ms_str *cells);
void msi_listing_release(msi_listing *listing);

/* Folding. */

typedef struct msi_fold msi_fold;

/* Keeps rows by value: +I and +U add one, -U and -D remove an equal one. */
msi_fold *msi_fold_create(const ms_schema *schema, ms_account *account);
ms_rc msi_fold_add(msi_fold *fold, const ms_batch *batch, ms_status *st) MS_MUST_USE;

/* The next rows that are left, in the order in which they came; NULL: no more. Borrowed. */
ms_rc msi_fold_next(msi_fold *fold, ms_batch **batch_out, ms_status *st) MS_MUST_USE;
void msi_fold_destroy(msi_fold *fold);

#endif
