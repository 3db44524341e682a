/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of an INSERT: hands batches to the connector's writer, and at barriers its committables
 * to the job's committer.
 *
 *     batch   -> NOT NULL check -> write          BLOCKED: the driver brings the batch again
 *     barrier -> cut, then persist -> (mailbox) -> committable, snapshot -> host
 *
 * A NULL that reaches a column declared NOT NULL fails the job, after the rows before it were
 * written: Flink's table.exec.sink.not-null-enforcer = ERROR. Rows that are taken back are not
 * checked, since a deletion may carry only the key.
 *
 * Optional functions of a writer (cut, persist, committable, snapshot, restore) may be NULL: there
 * is nothing to be done then.
 */
#include "exec/exec_priv.h"

/* Cuts whose persist is under way: one, and one more for each checkpoint that was given up. */
#define PENDING_MAX 16u

typedef struct pending {
    ms_completion *token; /* NULL: free */
    ms_checkpoint_id id;
} pending;

typedef struct op_sink {
    ms_op op;
    ms_writer *writer;
    const uint16_t *identity;
    uint32_t *checked; /* the columns to be checked */
    uint32_t checked_count;
    ms_batch frame;
    uint32_t next;       /* the first live row of the batch at hand that was not written */
    bool is_before_null; /* the rows before a NULL were written; the next call reports it */
    uint32_t null_column;
    pending pending[PENDING_MAX];
    ms_buf bytes;
} op_sink;

static ms_rc sink_open(ms_op *op, ms_op_ctx *ctx)
{
    op_sink *self = (op_sink *)op;
    const ms_pnode *node = op->node;
    self->identity = msi_identity_make(ctx->job_arena);
    self->checked = ms_arena_array(ctx->job_arena, uint32_t, node->schema.column_count);
    for (uint32_t c = 0; c < node->schema.column_count; c++) {
        if (node->u.sink.not_null != NULL && node->u.sink.not_null[c]) {
            self->checked[self->checked_count++] = c;
        }
    }
    ms_buf_init(&self->bytes, MS_LIMIT_SNAPSHOT_BYTES);
    const ms_sink *sink = node->u.sink.sink;
    return sink->klass->writer_create(sink, ctx->env, &self->writer, ctx->st);
}

/* The index of the first live row before end with a NULL in the column; end when there is none. */
static uint32_t first_null(const ms_batch *batch, uint32_t column, uint32_t end)
{
    const ms_vec *vec = &batch->columns[column];
    if (vec->valid == NULL) {
        return end;
    }
    for (uint32_t k = 0; k < end; k++) {
        uint32_t row = ms_batch_row(batch, k);
        ms_row_kind kind = ms_batch_kind(batch, row);
        bool adds = kind == MS_ROW_INSERT || kind == MS_ROW_UPDATE_AFTER;
        if (adds && ms_vec_is_null(vec, row)) {
            return k;
        }
    }
    return end;
}

/* The number of live rows before the first that violates NOT NULL. */
static uint32_t check_rows(op_sink *self, const ms_batch *batch)
{
    uint32_t end = ms_batch_live(batch);
    for (uint32_t i = 0; i < self->checked_count; i++) {
        uint32_t at = first_null(batch, self->checked[i], end);
        if (at < end) {
            end = at;
            self->null_column = self->checked[i];
        }
    }
    return end;
}

static ms_step fail_null(op_sink *self)
{
    const ms_pnode *node = self->op.node;
    ms_str column = node->schema.columns[self->null_column].name;
    self->is_before_null = false;
    ms_op_fail(&self->op, MS_NOT_NULL_VIOLATION, node->span,
               "column \"%.*s\" of table \"%.*s\" is NOT NULL, but a row has NULL there",
               MS_STR_ARG(column), MS_STR_ARG(node->u.sink.table));
    ms_status_detail(self->op.ctx->st,
                     "Column '%.*s' is NOT NULL, however, a null value is being written into it.",
                     MS_STR_ARG(column));
    return MS_DONE;
}

/*
 * Hands rows up to `end` to the writer, as many at a time as a writer may have to copy. DONE when
 * all are written, or on failure.
 */
static ms_step write_rows(op_sink *self, const ms_batch *batch, uint32_t end)
{
    ms_op *op = &self->op;
    while (self->next < end) {
        uint32_t fit = ms_batch_fit(batch, self->next, 0);
        uint32_t count = fit < end - self->next ? fit : end - self->next;
        bool is_whole = count == ms_batch_live(batch);
        msi_slice(&self->frame, batch, self->next, self->next + count, self->identity);
        switch (self->writer->klass->write(self->writer, is_whole ? batch : &self->frame,
                                           op->ctx->st)) {
        case MS_WRITE_BLOCKED:
            return MS_BLOCKED;
        case MS_WRITE_FAILED:
            ms_status_place(op->ctx->st, op->node->span);
            return MS_DONE;
        case MS_WRITE_DONE:
            break;
        }
        self->next += count;
    }
    self->next = 0;
    return MS_DONE;
}

static ms_step sink_batch(ms_op *op, uint32_t input, const ms_batch *batch)
{
    (void)input;
    op_sink *self = (op_sink *)op;
    if (self->is_before_null) {
        return fail_null(self);
    }
    uint32_t live = ms_batch_live(batch);
    uint32_t good = check_rows(self, batch);
    if (good == 0 && live > 0) {
        return fail_null(self);
    }
    if (write_rows(self, batch, good) == MS_BLOCKED) {
        return MS_BLOCKED;
    }
    self->is_before_null = good < live && ms_status_is_ok(op->ctx->st);
    return self->is_before_null ? MS_MORE : MS_DONE;
}

/* Nobody is behind a sink. */
static ms_step sink_watermark(ms_op *op, ms_time_ms watermark)
{
    (void)op;
    (void)watermark;
    return MS_DONE;
}

/* Checkpoints. */

static ms_rc sink_barrier(ms_op *op, ms_checkpoint_id id, bool is_final)
{
    op_sink *self = (op_sink *)op;
    const ms_writer_class *klass = self->writer->klass;
    return klass->cut == NULL ? MS_OK : klass->cut(self->writer, id, is_final, op->ctx->st);
}

/* The cut is durable: what the job needs to know of it goes to the coordinator. */
static void hand_over(op_sink *self, ms_checkpoint_id id)
{
    ms_op *op = &self->op;
    const ms_writer_class *klass = self->writer->klass;
    ms_buf_reset(&self->bytes);
    if (klass->committable != NULL) {
        if (klass->committable(self->writer, id, &self->bytes, op->ctx->st) != MS_OK) {
            return;
        }
        if (self->bytes.bytes > 0) {
            op->host->committable(op, id, ms_buf_view(&self->bytes));
        }
    }
    ms_buf_reset(&self->bytes);
    if (klass->snapshot != NULL) {
        if (klass->snapshot(self->writer, id, &self->bytes, op->ctx->st) != MS_OK) {
            return;
        }
        if (self->bytes.bytes > 0) {
            op->host->snapshot(op, id, ms_buf_view(&self->bytes));
        }
    }
    op->host->persisted(op, id);
}

static void sink_persist(ms_op *op, ms_checkpoint_id id)
{
    op_sink *self = (op_sink *)op;
    const ms_writer_class *klass = self->writer->klass;
    if (klass->persist == NULL) {
        hand_over(self, id);
        return;
    }
    for (uint32_t i = 0; i < PENDING_MAX; i++) {
        if (self->pending[i].token == NULL) {
            self->pending[i] = (pending){op->host->completion(op), id};
            klass->persist(self->writer, id, self->pending[i].token);
            return;
        }
    }
    ms_op_fail(op, MS_LIMIT, op->node->span,
               "%u checkpoints of table \"%.*s\" are under way and none comes to an end",
               PENDING_MAX, MS_STR_ARG(op->node->u.sink.table));
}

static ms_step sink_complete(ms_op *op, ms_completion *done)
{
    op_sink *self = (op_sink *)op;
    for (uint32_t i = 0; i < PENDING_MAX; i++) {
        if (self->pending[i].token == done) {
            ms_checkpoint_id id = self->pending[i].id;
            self->pending[i].token = NULL;
            const ms_status *outcome = op->host->completion_status(done);
            if (ms_status_is_ok(outcome)) {
                hand_over(self, id);
            } else {
                *op->ctx->st = *outcome;
                ms_status_place(op->ctx->st, op->node->span);
            }
            return MS_DONE;
        }
    }
    MS_UNREACHABLE();
}

static ms_rc sink_restore(ms_op *op, ms_str snapshot)
{
    op_sink *self = (op_sink *)op;
    const ms_writer_class *klass = self->writer->klass;
    return klass->restore == NULL ? MS_OK : klass->restore(self->writer, snapshot, op->ctx->st);
}

static void sink_close(ms_op *op)
{
    op_sink *self = (op_sink *)op;
    if (self->writer != NULL) {
        self->writer->klass->close(self->writer);
        self->writer = NULL;
    }
    ms_buf_release(&self->bytes);
}

static const ms_op_class sink_class = {
    .name = "Sink",
    .open = sink_open,
    .batch = sink_batch,
    .watermark = sink_watermark,
    .complete = sink_complete,
    .barrier = sink_barrier,
    .persist = sink_persist,
    .restore = sink_restore,
    .close = sink_close,
};

ms_op *msi_op_sink_create(const ms_pnode *node, ms_arena *job_arena)
{
    (void)node;
    op_sink *self = ms_arena_new(job_arena, op_sink);
    self->op.klass = &sink_class;
    return &self->op;
}
