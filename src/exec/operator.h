/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operator class: the heart of the engine. An operator takes batches and control items on its
 * inputs and emits batches and control items on its outputs. A task is a small graph of operators
 * that one worker thread runs at a time; operators own no threads, take no locks and block on
 * nothing.
 *
 *                 +--------- task (subtask 1 of 2) ---------+
 *     ring ====>  |  [source]--frame-->[calc]--frame-->[exchange] ====> rings to the next stage
 *                 +-----------------------------------------+
 *
 * The contract of a handler. The driver calls it only when every output edge can take one batch.
 * One call emits at most one batch an edge and answers
 *
 *     MS_DONE     the item is finished; the driver may bring the next one
 *     MS_MORE     there is more to emit: call again with the same arguments; the cursor is in the
 *                 operator
 *     MS_BLOCKED  the batch was not accepted, or only rows in front of it: bring it again after a
 *                 wake; the cursor is in the operator. Only batch() may answer it, and never after
 *                 it has answered MORE for the batch.
 *
 * While an operator answers MORE, the driver calls only complete() in that task besides it. The
 * driver finishes what is downstream before it calls anything upstream, so a frame (type/batch.h)
 * emitted by an operator stays valid until the operator is called again. Emitting never blocks and
 * never fails.
 *
 * Failing: a handler sets ctx->st and answers DONE; the driver looks at the status after every call
 * and fails the job. Rows that come before the failing one in the batch are emitted first.
 *
 * Control items travel in line with the batches: watermarks (the driver keeps the minimum over the
 * inputs), barriers (the driver aligns them over the inputs), END and DRAIN (per input; the handler
 * flushes), STOP (a barrier, no flush). CANCEL does not travel: the driver closes the operators.
 *
 * A stateless operator defines open and batch:
 *
 *     static ms_step negate_batch(ms_op *op, uint32_t input, const ms_batch *batch)
 *     {
 *         negate *self = (negate *)op;
 *         ...
 *         ms_op_emit(op, 0, &self->frame);
 *         return MS_DONE;
 *     }
 *     static const ms_op_class negate_class = {
 *         .name = "Negate", .open = negate_open, .batch = negate_batch};
 *
 * Ownership: the operator struct lives in the job arena; what it opens it closes in close(), which
 * is always called, in any state. Thread: task, for every function here.
 */
#ifndef MS_EXEC_OPERATOR_H
#define MS_EXEC_OPERATOR_H

#include "catalog/connector.h"
#include "plan/physical.h"
#include "state/state.h"
#include "type/batch.h"

typedef struct ms_op ms_op;
typedef struct ms_op_ctx ms_op_ctx;

typedef enum ms_step { MS_DONE, MS_MORE, MS_BLOCKED } ms_step;

/* Milliseconds since the epoch, as every Flink rule for watermarks and timers is. Saturating. */
typedef int64_t ms_time_ms;
#define MS_WATERMARK_NONE INT64_MIN /* no watermark yet */
#define MS_WATERMARK_MAX INT64_MAX  /* event time is over */

typedef uint64_t ms_checkpoint_id;

/* How an input ended. */
typedef enum ms_ending {
    MS_END_INPUT, /* exhausted: the maximum watermark has come before */
    MS_END_DRAIN  /* END on request */
} ms_ending;

typedef struct ms_op_class {
    const char *name; /* as EXPLAIN and metrics show it */

    /* Binds programs, opens state tables, creates pools. Failure leaves a struct that close() can
     * take. */
    ms_rc (*open)(ms_op *op, ms_op_ctx *ctx);

    /* Takes a batch, borrowed for as long as the answer is MORE. */
    ms_step (*batch)(ms_op *op, uint32_t input, const ms_batch *batch);

    /* The minimum over the inputs has advanced. Default: ms_op_forward_watermark. */
    ms_step (*watermark)(ms_op *op, ms_time_ms watermark);

    /* A timer of a key is due; key is the encoded key. Default: none registered, never called. */
    ms_step (*timer)(ms_op *op, ms_time_ms at, ms_str key);

    /* An asynchronous call came back through the mailbox. Default: never called. */
    ms_step (*complete)(ms_op *op, ms_completion *done);

    /* An input has ended; after the last one the driver forwards the ending. Default: nothing to
     * flush. */
    ms_step (*end)(ms_op *op, uint32_t input, ms_ending ending);

    /* All barriers have come: may emit what must not stay behind. Default: nothing. */
    ms_step (*before_barrier)(ms_op *op, ms_checkpoint_id id);

    /* The cut: marks what belongs to the checkpoint, in microseconds, and emits nothing. Default:
     * nothing. */
    ms_rc (*barrier)(ms_op *op, ms_checkpoint_id id, bool is_final);

    /*
     * Makes the cut durable or hands its bytes over with host->snapshot; calls host->persisted(op,
     * id) when it is done, now or later. Default: calls it at once. State tables opened through ctx
     * are saved by the driver, not here. The next cut may come before this one is done, when its
     * checkpoint was given up.
     */
    void (*persist)(ms_op *op, ms_checkpoint_id id);

    /*
     * Called after open, before any item, when the job resumes: once for each snapshot that falls
     * to this subtask (after a change of parallelism several, or none). The snapshot of a SOURCE is
     * exactly its reader's (catalog/connector.h), so that the driver can hand the splits out anew;
     * it is called at most once.
     */
    ms_rc (*restore)(ms_op *op, ms_str snapshot);

    /*
     * Sources only (input_count 0): asked for the next batch. Emits at most one and answers DONE
     * (asked again later) or MORE; when there is nothing now, calls host->source_pending, when all
     * is read, host->source_end, and answers DONE.
     */
    ms_step (*poll)(ms_op *op);

    /* Sources only: the enumerator handed out a split (borrowed), or will hand out no more. */
    ms_rc (*add_split)(ms_op *op, ms_str split);
    void (*no_more_splits)(ms_op *op);

    void (*close)(ms_op *op);
} ms_op_class;

/* What an operator sees of its task. Fields are read freely; only st is written. */
struct ms_op_ctx {
    ms_status *st;
    ms_arena *job_arena; /* lives as long as the job */
    ms_arena *scratch;   /* reset when the root batch is done */
    const ms_task_env *env;
    const ms_plan *plan;
    ms_state *state; /* of this operator and subtask */
    bool coalesce;   /* table.exec.changelog.coalesce = auto */
    void *host;      /* the driver's; see ms_op_host */
};

/*
 * The head of every operator; its own struct begins with it. ms_op_create sets klass and node, the
 * driver the rest before open. edge_count is 1, or 0 when nobody consumes the output: one edge may
 * have several consumers, which see the same batch.
 */
struct ms_op {
    const ms_op_class *klass;
    ms_op_ctx *ctx;
    const ms_pnode *node;
    uint32_t input_count;
    uint32_t edge_count;
    const struct ms_op_host *host; /* where emissions go */
    void *host_op;                 /* the driver's record of this operator */
    uint64_t rows_in;
    uint64_t rows_out;
    uint64_t rows_late; /* dropped because the watermark had passed them */
};

/*
 * What the driver offers operators. A table of functions, so that exec/ includes nothing of
 * runtime/ and a unit test can drive an operator with a host of its own.
 */
typedef struct ms_op_host {
    /* A frame is borrowed until the operator is called again; of a pooled batch the caller's
     * reference passes to the driver. */
    void (*emit)(ms_op *op, uint32_t edge, ms_batch *batch);
    void (*emit_watermark)(ms_op *op, ms_time_ms watermark);
    void (*snapshot)(ms_op *op, ms_checkpoint_id id, ms_str bytes); /* copied */
    void (*persisted)(ms_op *op, ms_checkpoint_id id);
    void (*source_pending)(ms_op *op); /* poll found nothing: call again after a wake */
    void (*source_end)(ms_op *op);     /* no more rows will come */
    void (*request_split)(ms_op *op);  /* asks the job's enumerator of this source for a split */
    void (*committable)(ms_op *op, ms_checkpoint_id id,
                        ms_str bytes);       /* for the job's committer of this sink */
    ms_completion *(*completion)(ms_op *op); /* a token whose end calls klass->complete */
    /* Inside complete(): how the call ended. The token is gone when complete() returns. */
    const ms_status *(*completion_status)(const ms_completion *done);
    /* Copies live rows of a borrowed batch, from `first` on, to the statement's result, as many as
     * there is room for, and returns how many: when not all, answer BLOCKED and go on after a wake.
     */
    uint32_t (*collect)(ms_op *op, const ms_batch *batch, uint32_t first);
    /* The operator drops whatever comes from now on: a driver may end the sources that feed nobody
     * else. May be called again and again; NULL: not offered. */
    void (*satisfied)(ms_op *op);
} ms_op_host;

static inline void ms_op_emit(ms_op *op, uint32_t edge, ms_batch *batch)
{
    op->rows_out += ms_batch_live(batch);
    op->host->emit(op, edge, batch);
}

static inline void ms_op_emit_watermark(ms_op *op, ms_time_ms watermark)
{
    op->host->emit_watermark(op, watermark);
}

/* Records the first failure of the task at the place of the node, and answers DONE. */
ms_step ms_op_fail(ms_op *op, ms_rc code, ms_span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* What an operator without a watermark handler does: sends the watermark on. */
ms_step ms_op_forward_watermark(ms_op *op, ms_time_ms watermark);

/*
 * Makes the operator of a physical node for one subtask, in the job arena: one row of a table from
 * kind to factory (exec/factory.c). EXCHANGE has none: channels are the driver's (runtime/).
 */
ms_op *ms_op_create(const ms_pnode *node, ms_arena *job_arena);

#endif
