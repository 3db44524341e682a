/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A job runs one physical plan: it cuts the plan into tasks, spreads them over the workers, moves
 * batches between them, takes checkpoints, and ends in one of four ways.
 *
 *     FINISHED   every source ended (or DRAIN was asked for): all is flushed and committed
 *     STOPPED    STOP was asked for: a last checkpoint was taken, nothing was flushed
 *     CANCELED   CANCEL was asked for: nothing more was emitted or committed
 *     FAILED     an operator, connector or the coordinator failed; the first failure is kept
 *
 *     ms_job_options options = {.name = ms_str_lit("totals"), .checkpoint_dir = dir,
 *                               .checkpoint_interval_ms = 10000, .restore = MS_JOB_RESUME};
 *     ms_job *job = NULL;
 *     MS_TRY(ms_job_create(workers, plan, &options, &job, st));
 *     MS_TRY(ms_job_start(job, st));
 *     ms_batch *batch = NULL;
 *     while (ms_job_next(job, MS_JOB_FOREVER, &batch, st) == MS_OK && batch != NULL) {
 *         ... rows with kinds, when the plan's root is a collector ...
 *         ms_batch_drop(batch);
 *     }
 *     ms_rc rc = ms_job_wait(job, MS_JOB_FOREVER, st);           the job's failure, or MS_OK
 *     ms_job_destroy(job);
 *
 * Checkpoints. With a checkpoint directory the job holds a lock on it, restores from it as
 * `restore` says, and writes a checkpoint at every interval, at STOP and at the end; after END they
 * are removed and a small progress record stays. Without one, sinks commit once, at the end (and
 * an unbounded job's also at STOP). docs/internals/checkpoints.md has the protocol and the files.
 *
 * Ownership: the job owns everything it makes; plan and workers are borrowed and outlive it.
 * Thread: any for every function, unless stated; create, start and destroy by one thread.
 */
#ifndef MS_RUNTIME_JOB_H
#define MS_RUNTIME_JOB_H

#include "base/memory.h"
#include "plan/physical.h"
#include "runtime/workers.h"

typedef struct ms_job ms_job;

#define MS_JOB_FOREVER (-1)

/* What to do about a checkpoint that an unfinished job left behind. */
typedef enum ms_job_restore {
    MS_JOB_ASK,   /* fail with MS_RESUME_REQUIRED */
    MS_JOB_FRESH, /* remove it */
    MS_JOB_RESUME /* go on from it; start anew when there is none */
} ms_job_restore;

/* Zero means the default. Texts are copied. */
typedef struct ms_job_options {
    ms_str name;
    uint32_t parallelism;  /* of nodes whose own is 0; default 1 */
    uint32_t batch_rows;   /* MS_BATCH_ROWS_DEFAULT */
    uint32_t ring_slots;   /* batches in flight on one channel: default 8, at least 2 */
    uint64_t ring_bytes;   /* bytes in flight to one subtask beyond two batches a channel: 4 MiB */
    uint32_t pool_batches; /* the recycling set of an exchange; default: all its rings full, at
                              least 2 */
    ms_str checkpoint_dir; /* empty: checkpoints are off */
    /* Of ms_job_dir_lock, when the caller has looked at the directory before: the job's from now
     * on, also when it cannot be created. NULL: the job takes it. */
    struct ms_lockfile *checkpoint_lock;
    int64_t checkpoint_interval_ms;   /* 0: only at STOP and at the end */
    int64_t checkpoint_timeout_ms;    /* 10 minutes */
    uint32_t checkpoint_full_every;   /* every n-th write of state is a full one; default 8 */
    uint32_t checkpoint_failures_max; /* in a row, before the job fails: default 3 */
    ms_job_restore restore;
    uint64_t seed;             /* of the order in which inputs are polled */
    bool coalesce;             /* table.exec.changelog.coalesce = auto */
    ms_account *account;       /* parent of the job's accounts; NULL: none */
    uint64_t memory_bytes_max; /* of state, rings, operators, results; MS_ACCOUNT_UNLIMITED */
    uint64_t result_bytes_max; /* bytes of rows that wait for ms_job_next: default 16 MiB */
    /* Makes the operators; NULL: ms_op_create. For pipelines and tests with their own. */
    struct ms_op *(*make_op)(const ms_pnode *node, ms_arena *arena);
} ms_job_options;

typedef enum ms_job_state {
    MS_JOB_STATE_CREATED,
    MS_JOB_STATE_RUNNING,
    MS_JOB_STATE_FINISHED,
    MS_JOB_STATE_STOPPED,
    MS_JOB_STATE_CANCELED,
    MS_JOB_STATE_FAILED,
    MS_JOB_STATE_COUNT
} ms_job_state;

/* Life. */

/*
 * Builds the job and, with a checkpoint directory, locks and reads it. May block on files. Errors:
 * MS_JOB_RUNNING when another process or job holds the directory, MS_RESUME_REQUIRED,
 * MS_PLAN_MISMATCH when the checkpoint is of another plan, MS_CORRUPT_DATA, MS_IO_ERROR,
 * MS_NOT_SUPPORTED.
 */
ms_rc ms_job_create(ms_workers *workers, const ms_plan *plan, const ms_job_options *options,
                    ms_job **job_out, ms_status *st) MS_MUST_USE;

/* Hands the tasks to the workers; once. What goes wrong later is the job's failure. */
ms_rc ms_job_start(ms_job *job, ms_status *st) MS_MUST_USE;

/* Cancels the job where it still runs, waits for its tasks to close, and frees it. NULL is fine. */
void ms_job_destroy(ms_job *job);

/* Control. Requests: they return at once, and a later, stronger one overtakes an earlier one. */

/* Of a query it drops the rows that are not in the result yet, which nobody may be reading. */
void ms_job_stop(ms_job *job);
void ms_job_drain(ms_job *job);
void ms_job_cancel(ms_job *job);

/*
 * Takes a checkpoint now and waits for it. MS_CANCELED, retriable, at the timeout; MS_NOT_SUPPORTED
 * without a checkpoint directory; the reason when it was given up or the job ended before it.
 */
ms_rc ms_job_checkpoint(ms_job *job, int64_t timeout_ms, uint64_t *checkpoint_out,
                        ms_status *st) MS_MUST_USE;

/* The end. */

ms_job_state ms_job_state_now(ms_job *job);

/*
 * Waits for the end and reports the failure of a job that failed. MS_CANCELED at the timeout
 * (retriable) and for a job that was canceled. The rows of a collector must be taken by
 * ms_job_next at the same time, else a job with many rows does not end by itself.
 */
ms_rc ms_job_wait(ms_job *job, int64_t timeout_ms, ms_status *st) MS_MUST_USE;

/* The result of a plan whose root is a collector. */

/*
 * The next rows, as a pooled batch with row kinds that the caller drops, before its next call.
 * MS_OK with NULL is the end. A job that failed gives the rows before the failure first, then the
 * failure. MS_CANCELED at the timeout (retriable) and after CANCEL. Thread: one at a time.
 */
ms_rc ms_job_next(ms_job *job, int64_t timeout_ms, ms_batch **batch_out, ms_status *st) MS_MUST_USE;

/* Inspection: each number was true at some moment during the call. */

typedef struct ms_job_totals {
    uint64_t rows_read;             /* given out by all sources since this start */
    uint64_t rows_read_before;      /* the same in earlier runs, up to the restored checkpoint */
    uint64_t rows_written;          /* taken by sinks and collectors since this start */
    uint64_t rows_since_checkpoint; /* given out by sources behind the newest complete checkpoint */
    uint64_t rows_late;
    uint64_t checkpoints_completed; /* since this start */
    uint64_t checkpoints_aborted;   /* since this start */
    uint64_t checkpoint_id;         /* the newest complete one, also of an earlier run; 0: none */
    uint64_t restored_entries;      /* of state tables */
    uint64_t restored_splits;       /* of sources */
    uint64_t restored_snapshots;    /* of operators and enumerators */
    uint64_t rows_uncommitted;      /* taken by sinks that commit, and not committed */
    uint64_t turns;                 /* of tasks: an idle job takes none */
    uint32_t subtasks_with_rows;
} ms_job_totals;

void ms_job_totals_now(const ms_job *job, ms_job_totals *totals_out);

/* One operator in one subtask. */
typedef struct ms_op_stats {
    uint64_t node_id;
    ms_pnode_kind kind;
    uint32_t subtask;
    uint32_t parallelism;
    uint64_t rows_in;
    uint64_t rows_out;
    uint64_t rows_late;
    uint64_t restored_entries;
    uint64_t state_entries;
    uint64_t state_bytes;
    int64_t watermark_ms; /* the newest it has seen; INT64_MIN: none */
} ms_op_stats;

uint32_t ms_job_op_count(const ms_job *job);

/* index < ms_job_op_count(job); operators in plan order, subtasks of one in a row. */
void ms_job_op_stats(const ms_job *job, uint32_t index, ms_op_stats *stats_out);

/* Job directories. Each has a lock of its own, which its job holds while it runs; whoever decides
 * by what is in one holds it from before the look until then. */

typedef enum ms_job_dir_kind {
    MS_JOB_DIR_EMPTY,
    MS_JOB_DIR_UNFINISHED, /* has a checkpoint to resume from */
    MS_JOB_DIR_COMPLETE    /* the last run reached its end */
} ms_job_dir_kind;

typedef struct ms_job_dir_info {
    ms_job_dir_kind kind;
    uint64_t checkpoint_id; /* the newest */
    uint64_t rows_read;     /* COMPLETE: by all sources in all runs */
} ms_job_dir_info;

/* Looks at a directory without locking it; one that is missing is EMPTY. May block on files. */
ms_rc ms_job_dir_probe(ms_str dir, ms_job_dir_info *info_out, ms_status *st) MS_MUST_USE;

/* Makes a directory where there is none, and locks it; ms_lockfile_destroy gives the lock back.
 * May block on files. Errors: MS_JOB_RUNNING when a job, or somebody who is about to start one, has
 * it; MS_IO_ERROR. */
ms_rc ms_job_dir_lock(ms_str dir, struct ms_lockfile **lock_out, ms_status *st) MS_MUST_USE;

/*
 * Forgets what earlier runs left in a directory whose lock the caller holds: removes the files that
 * jobs write there, by their exact names, and nothing else; the directory and its lock file stay.
 * May block on files. Errors: MS_IO_ERROR.
 */
ms_rc ms_job_dir_clear(ms_str dir, ms_status *st) MS_MUST_USE;

#endif
