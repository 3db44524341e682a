/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table as a source of rows: polls the connector's reader and hands its batches on.
 *
 *     splits -> [reader] -> batches, until no split is left
 *
 * Splits come from the job's enumerator: whenever the reader has room for one, the operator asks,
 * once, and waits for add_split or no_more_splits. The snapshot is the reader's own: every split
 * that is not finished with the position behind the last row given out, so that restoring it
 * repeats nothing and loses nothing.
 */
#include "exec/exec_priv.h"

#include "base/codec.h"

typedef struct op_source {
    ms_op op;
    ms_reader *reader;
    bool is_split_requested;
    uint64_t charged_bytes; /* what the reader holds */
    ms_buf cut;             /* the reader's snapshot at the last barrier */
    ms_checkpoint_id cut_id;
} op_source;

static ms_rc source_open(ms_op *op, ms_op_ctx *ctx)
{
    op_source *self = (op_source *)op;
    const ms_scan *scan = op->node->u.source.scan;
    ms_buf_init(&self->cut, MS_LIMIT_SNAPSHOT_BYTES);
    return scan->klass->reader_create(scan, ctx->env, &self->reader, ctx->st);
}

static ms_step emit_read(ms_op *op, ms_batch *batch)
{
    if (ms_batch_live(batch) > 0) {
        ms_op_emit(op, 0, batch);
    } else if (batch->pool != NULL) {
        ms_batch_drop(batch);
    }
    return MS_DONE;
}

static ms_step source_poll(ms_op *op)
{
    op_source *self = (op_source *)op;
    const ms_reader_class *klass = self->reader->klass;
    ms_batch *batch = NULL;
    ms_read read = klass->poll(self->reader, &batch, op->ctx->st);
    if (!self->is_split_requested && klass->wants_split(self->reader)) {
        self->is_split_requested = true;
        op->host->request_split(op);
    }
    if (read != MS_READ_FAILED) {
        /* Refused, it fails the operator after the rows that are there. */
        (void)msi_charge(op, &self->charged_bytes, self->reader->bytes_held);
    }
    switch (read) {
    case MS_READ_BATCH:
        return emit_read(op, batch);
    case MS_READ_PENDING:
        op->host->source_pending(op);
        return MS_DONE;
    case MS_READ_END:
        op->host->source_end(op);
        return MS_DONE;
    case MS_READ_FAILED:
        ms_status_place(op->ctx->st, op->node->span);
        return MS_DONE;
    }
    MS_UNREACHABLE();
}

static ms_rc source_add_split(ms_op *op, ms_str split)
{
    op_source *self = (op_source *)op;
    self->is_split_requested = false;
    return self->reader->klass->add_split(self->reader, split, op->ctx->st);
}

static void source_no_more_splits(ms_op *op)
{
    /* The request stays pending for good: there is nobody left to ask. */
    op_source *self = (op_source *)op;
    self->is_split_requested = true;
    self->reader->klass->no_more_splits(self->reader);
}

static ms_rc source_barrier(ms_op *op, ms_checkpoint_id id, bool is_final)
{
    (void)is_final;
    op_source *self = (op_source *)op;
    ms_buf_reset(&self->cut);
    self->cut_id = id;
    return self->reader->klass->snapshot(self->reader, &self->cut, op->ctx->st);
}

static void source_persist(ms_op *op, ms_checkpoint_id id)
{
    op_source *self = (op_source *)op;
    MS_ASSERT(self->cut_id == id);
    op->host->snapshot(op, id, ms_buf_view(&self->cut));
    op->host->persisted(op, id);
}

static ms_rc source_restore(ms_op *op, ms_str snapshot)
{
    op_source *self = (op_source *)op;
    ms_codec_reader splits = ms_codec_reader_make(snapshot);
    uint32_t count = ms_codec_reader_u32(&splits);
    for (uint32_t i = 0; i < count && ms_codec_reader_is_ok(&splits); i++) {
        ms_str split = ms_codec_reader_str(&splits);
        if (ms_codec_reader_is_ok(&splits)) {
            MS_TRY(self->reader->klass->add_split(self->reader, split, op->ctx->st));
        }
    }
    return ms_codec_reader_finish(&splits, "the snapshot of a source", op->ctx->st);
}

static void source_close(ms_op *op)
{
    op_source *self = (op_source *)op;
    if (self->reader != NULL) {
        self->reader->klass->close(self->reader);
        self->reader = NULL;
        (void)msi_charge(op, &self->charged_bytes, 0);
    }
    ms_buf_release(&self->cut);
}

static const ms_op_class source_class = {
    .name = "Source",
    .open = source_open,
    .poll = source_poll,
    .add_split = source_add_split,
    .no_more_splits = source_no_more_splits,
    .barrier = source_barrier,
    .persist = source_persist,
    .restore = source_restore,
    .close = source_close,
};

ms_op *msi_op_source_create(const ms_pnode *node, ms_arena *job_arena)
{
    (void)node;
    op_source *self = ms_arena_new(job_arena, op_source);
    self->op.klass = &source_class;
    return &self->op;
}
