/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OFFSET and FETCH in order of arrival, over inserts.
 *
 *     OFFSET 1 FETCH 2:    +I[a] +I[b] +I[c] +I[d]    ->    +I[b] +I[c]
 *
 * Once all rows were given out, the rest is dropped, and the driver is told that no more input is
 * of use. The snapshot is what is still to be skipped and given out.
 */
#include "exec/exec_priv.h"

#include "base/codec.h"

#define SNAPSHOT_VERSION 1u

typedef struct op_limit {
    ms_op op;
    const uint16_t *identity;
    ms_batch frame;
    uint64_t to_skip;
    uint64_t to_emit;
    uint64_t cut_skip;
    uint64_t cut_emit;
} op_limit;

static ms_rc limit_open(ms_op *op, ms_op_ctx *ctx)
{
    op_limit *self = (op_limit *)op;
    if (op->node->inputs[0]->changelog != MS_CHANGELOG_INSERT) {
        return ms_status_set(ctx->st, MS_NOT_SUPPORTED, op->node->span,
                             "LIMIT without ORDER BY over an updating input is not supported");
    }
    self->identity = msi_identity_make(ctx->job_arena);
    self->to_skip = op->node->u.limit.offset;
    self->to_emit = op->node->u.limit.limit;
    return MS_OK;
}

/* Once nothing more will be given out, further input is of no use. */
static ms_step answer(op_limit *self)
{
    if (self->to_emit == 0 && self->op.host->satisfied != NULL) {
        self->op.host->satisfied(&self->op);
    }
    return MS_DONE;
}

static uint32_t smaller(uint64_t a, uint32_t b)
{
    return a < b ? (uint32_t)a : b;
}

static ms_step limit_batch(ms_op *op, uint32_t input, const ms_batch *batch)
{
    (void)input;
    op_limit *self = (op_limit *)op;
    uint32_t live = ms_batch_live(batch);
    uint32_t first = smaller(self->to_skip, live);
    uint32_t count = smaller(self->to_emit, live - first);
    self->to_skip -= first;
    if (count == 0) {
        return answer(self);
    }
    self->to_emit = self->to_emit == UINT64_MAX ? UINT64_MAX : self->to_emit - count;
    if (count == live) {
        msi_op_emit_through(op, batch, &self->frame);
    } else {
        msi_slice(&self->frame, batch, first, first + count, self->identity);
        ms_op_emit(op, 0, &self->frame);
    }
    return answer(self);
}

static ms_rc limit_barrier(ms_op *op, ms_checkpoint_id id, bool is_final)
{
    (void)id;
    (void)is_final;
    op_limit *self = (op_limit *)op;
    self->cut_skip = self->to_skip;
    self->cut_emit = self->to_emit;
    return MS_OK;
}

static void limit_persist(ms_op *op, ms_checkpoint_id id)
{
    op_limit *self = (op_limit *)op;
    char bytes[1 + 2 * MS_CODEC_VARINT_BYTES] = {SNAPSHOT_VERSION};
    size_t size = 1;
    size += ms_codec_store_varint(self->cut_skip, bytes + size);
    size += ms_codec_store_varint(self->cut_emit, bytes + size);
    op->host->snapshot(op, id, ms_str_make(bytes, size));
    op->host->persisted(op, id);
}

static ms_rc limit_restore(ms_op *op, ms_str snapshot)
{
    op_limit *self = (op_limit *)op;
    ms_codec_reader reader = ms_codec_reader_make(snapshot);
    uint8_t version = ms_codec_reader_u8(&reader);
    uint64_t skip = ms_codec_reader_varint(&reader);
    uint64_t emit = ms_codec_reader_varint(&reader);
    MS_TRY(ms_codec_reader_finish(&reader, "the snapshot of a limit", op->ctx->st));
    if (version != SNAPSHOT_VERSION || skip > op->node->u.limit.offset ||
        emit > op->node->u.limit.limit) {
        ms_op_fail(op, MS_CORRUPT_DATA, op->node->span, "the snapshot of a limit is damaged");
        return op->ctx->st->code;
    }
    self->to_skip = skip;
    self->to_emit = emit;
    return MS_OK;
}

static const ms_op_class limit_class = {
    .name = "Limit",
    .open = limit_open,
    .batch = limit_batch,
    .barrier = limit_barrier,
    .persist = limit_persist,
    .restore = limit_restore,
    .close = msi_op_close_nothing,
};

ms_op *msi_op_limit_create(const ms_pnode *node, ms_arena *job_arena)
{
    (void)node;
    op_limit *self = ms_arena_new(job_arena, op_limit);
    self->op.klass = &limit_class;
    return &self->op;
}
