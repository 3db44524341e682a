/* SPDX-License-Identifier: Apache-2.0 */
/*
 * VALUES: constant rows as a source. Subtask 0 gives them out in order, a batch at a time; the
 * others end at once.
 *
 *     VALUES (1, 'a'), (2, NULL)   ->   +I[1, a] +I[2, NULL]
 *
 * The snapshot is the number of rows given out by this subtask.
 */
#include "exec/exec_priv.h"

#include "base/codec.h"

#define SNAPSHOT_VERSION 1u

typedef struct op_values {
    ms_op op;
    ms_batch frame;
    ms_vec *columns;
    uint64_t row; /* the next one */
    uint64_t cut_row;
} op_values;

static ms_rc values_open(ms_op *op, ms_op_ctx *ctx)
{
    op_values *self = (op_values *)op;
    self->columns = ms_arena_array(ctx->job_arena, ms_vec, op->node->schema.column_count);
    if (ctx->env->subtask > 0) {
        self->row = op->node->u.values.row_count;
    }
    return MS_OK;
}

/* The vectors live in scratch: a source's batch is the root batch, which scratch outlives. */
static void fill_columns(op_values *self, uint32_t rows)
{
    const ms_pnode *node = self->op.node;
    ms_arena *scratch = self->op.ctx->scratch;
    uint32_t width = node->schema.column_count;
    for (uint32_t c = 0; c < width; c++) {
        ms_vec_alloc(&self->columns[c], node->schema.columns[c].type, rows, scratch);
        for (uint32_t r = 0; r < rows; r++) {
            const ms_value *cell = &node->u.values.cells[(self->row + r) * width + c];
            ms_value_to_vec(scratch, cell, &self->columns[c], r, rows);
        }
    }
}

static ms_step values_poll(ms_op *op)
{
    op_values *self = (op_values *)op;
    uint64_t left = op->node->u.values.row_count - self->row;
    if (left == 0) {
        op->host->source_end(op);
        return MS_DONE;
    }
    uint32_t batch_rows = op->ctx->env->batch_rows;
    uint32_t rows = left < batch_rows ? (uint32_t)left : batch_rows;
    fill_columns(self, rows);
    self->row += rows;
    self->frame = (ms_batch){
        .rows = rows, .columns = self->columns, .column_count = op->node->schema.column_count};
    ms_op_emit(op, 0, &self->frame);
    return MS_DONE;
}

static ms_rc values_barrier(ms_op *op, ms_checkpoint_id id, bool is_final)
{
    (void)id;
    (void)is_final;
    op_values *self = (op_values *)op;
    self->cut_row = op->ctx->env->subtask > 0 ? 0 : self->row;
    return MS_OK;
}

static void values_persist(ms_op *op, ms_checkpoint_id id)
{
    op_values *self = (op_values *)op;
    char bytes[1 + MS_CODEC_VARINT_BYTES] = {SNAPSHOT_VERSION};
    size_t size = 1 + ms_codec_store_varint(self->cut_row, bytes + 1);
    op->host->snapshot(op, id, ms_str_make(bytes, size));
    op->host->persisted(op, id);
}

static ms_rc values_restore(ms_op *op, ms_str snapshot)
{
    op_values *self = (op_values *)op;
    ms_codec_reader reader = ms_codec_reader_make(snapshot);
    uint8_t version = ms_codec_reader_u8(&reader);
    uint64_t row = ms_codec_reader_varint(&reader);
    MS_TRY(ms_codec_reader_finish(&reader, "the snapshot of VALUES", op->ctx->st));
    if (version != SNAPSHOT_VERSION || row > op->node->u.values.row_count) {
        ms_op_fail(op, MS_CORRUPT_DATA, op->node->span, "the snapshot of VALUES is damaged");
        return op->ctx->st->code;
    }
    /* After a change of parallelism there may be several, of which those of idle subtasks say 0. */
    self->row = row > self->row ? row : self->row;
    return MS_OK;
}

static const ms_op_class values_class = {
    .name = "Values",
    .open = values_open,
    .poll = values_poll,
    .barrier = values_barrier,
    .persist = values_persist,
    .restore = values_restore,
    .close = msi_op_close_nothing,
};

ms_op *msi_op_values_create(const ms_pnode *node, ms_arena *job_arena)
{
    (void)node;
    op_values *self = ms_arena_new(job_arena, op_values);
    self->op.klass = &values_class;
    return &self->op;
}
