/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ORDER BY to the end of the input, with an optional OFFSET and FETCH.
 *
 *     ORDER BY a DESC FETCH 2:    +I[1] +I[3] +I[2], END            ->   +I[3] +I[2]
 *     an updating input:          +I[1] +I[3] -U[1] +U[2], END      ->   +I[2] +I[3]
 *
 * Rows are held as keys and records (sorter.h) in memory of the job's account; a sort beyond its
 * budget fails with MS_NO_MEMORY. With a small limit over inserts only the rows that can still come
 * out are held. Equal keys keep the order of arrival, unless the input updates. Watermarks are held
 * back, since a row that comes out at the end would be late behind them; the maximum follows the
 * last row.
 *
 * The snapshot is the rows held.
 */
#include "exec/exec_priv.h"

#include "base/codec.h"
#include "exec/sorter.h"
#include "type/key.h"
#include "type/rowcodec.h"

#define SNAPSHOT_VERSION 1u

/* Steps of the sorter in one call, when few of them give a row: some hundred microseconds. */
#define STEPS_PER_CALL 4096u

typedef struct op_sort {
    ms_op op;
    msi_sorter sorter;
    ms_rowcodec *codec;
    ms_buf key;
    ms_buf row;

    bool is_sealed;
    bool is_done;
    uint64_t to_skip;
    uint64_t to_emit;
    ms_batch_pool *pool;
    ms_batch *out;
    ms_batch frame;
    uint64_t charged_bytes; /* of out */

    ms_buf cut; /* with a limit: the snapshot itself; else made by persist */
    uint64_t cut_records;
} op_sort;

static uint64_t rows_needed(const ms_pnode *node)
{
    uint64_t limit = node->u.sort.limit;
    uint64_t offset = node->u.sort.offset;
    return limit > UINT64_MAX - offset ? UINT64_MAX : limit + offset;
}

static ms_rc sort_open(ms_op *op, ms_op_ctx *ctx)
{
    op_sort *self = (op_sort *)op;
    const ms_pnode *node = op->node;
    const msi_sorter_options options = {.account = ctx->env->account,
                                        .rows_max = rows_needed(node),
                                        .folds = node->inputs[0]->changelog != MS_CHANGELOG_INSERT};
    msi_sorter_init(&self->sorter, &options);
    self->codec = ms_rowcodec_make(ctx->job_arena, &node->schema);
    self->pool = ms_batch_pool_create(&node->schema, ctx->env->batch_rows, 1);
    self->to_skip = node->u.sort.offset;
    self->to_emit = node->u.sort.limit;
    ms_buf_init(&self->key, MS_LIMIT_RECORD_BYTES);
    ms_buf_init(&self->row, MS_LIMIT_RECORD_BYTES);
    ms_buf_init(&self->cut, MS_LIMIT_SNAPSHOT_BYTES);
    return MS_OK;
}

/* Taking rows. */

static ms_rc make_key(op_sort *self, const ms_batch *batch, uint32_t row, ms_status *st)
{
    const ms_pnode *node = self->op.node;
    ms_buf_reset(&self->key);
    for (uint32_t i = 0; i < node->u.sort.key_count; i++) {
        const ms_sort_key *key = &node->u.sort.keys[i];
        /* By itself NULL, the smallest value, comes first ascending and last descending. */
        ms_key_order order = {.descending = key->descending,
                              .nulls_flipped = key->nulls_first == key->descending};
        MS_TRY(ms_key_append(&self->key, &batch->columns[key->column], row, order, st));
    }
    return MS_OK;
}

static ms_rc take_row(op_sort *self, const ms_batch *batch, uint32_t row, ms_status *st)
{
    ms_row_kind kind = ms_batch_kind(batch, row);
    bool takes_back = kind == MS_ROW_UPDATE_BEFORE || kind == MS_ROW_DELETE;
    MS_TRY(make_key(self, batch, row, st));
    ms_buf_reset(&self->row);
    MS_TRY(ms_rowcodec_encode(self->codec, batch, row, &self->row, st));
    return msi_sorter_add(&self->sorter, ms_buf_view(&self->key), ms_buf_view(&self->row),
                          takes_back, st);
}

static ms_step sort_batch(ms_op *op, uint32_t input, const ms_batch *batch)
{
    (void)input;
    op_sort *self = (op_sort *)op;
    uint32_t live = ms_batch_live(batch);
    if (rows_needed(op->node) == 0) {
        return MS_DONE;
    }
    for (uint32_t k = 0; k < live; k++) {
        if (take_row(self, batch, ms_batch_row(batch, k), op->ctx->st) != MS_OK) {
            ms_status_place(op->ctx->st, op->node->span);
            break;
        }
    }
    return MS_DONE;
}

static ms_step sort_watermark(ms_op *op, ms_time_ms watermark)
{
    (void)op;
    (void)watermark;
    return MS_DONE;
}

/* Giving rows out. */

/* Fills the output batch; false when the sorter has no more, or on failure. */
static bool fill(op_sort *self)
{
    for (uint32_t steps = 0; steps < STEPS_PER_CALL; steps++) {
        if (self->to_emit == 0) {
            return false;
        }
        if (ms_batch_is_full(self->out)) {
            return true;
        }
        ms_str row;
        msi_sorted got = msi_sorter_step(&self->sorter, &row);
        if (got == MSI_SORTED_END) {
            return false;
        }
        if (got == MSI_SORTED_ROW && self->to_skip > 0) {
            self->to_skip--;
        } else if (got == MSI_SORTED_ROW) {
            if (ms_rowcodec_decode(self->codec, row, self->out, self->op.ctx->st) != MS_OK) {
                return false;
            }
            self->to_emit--;
        }
    }
    return true;
}

static ms_step sort_end(ms_op *op, uint32_t input, ms_ending ending)
{
    (void)input;
    (void)ending;
    op_sort *self = (op_sort *)op;
    if (self->is_done) {
        msi_sorter_release(&self->sorter);
        ms_op_emit_watermark(op, MS_WATERMARK_MAX);
        return MS_DONE;
    }
    if (!self->is_sealed) {
        self->is_sealed = true;
        if (msi_sorter_seal(&self->sorter, op->ctx->st) != MS_OK) {
            return MS_DONE;
        }
    }
    ms_batch_drop(self->out);
    self->out = ms_batch_pool_take(self->pool);
    self->is_done = !fill(self);
    if (op->ctx->st->code == MS_OK) {
        (void)msi_charge(op, &self->charged_bytes, ms_batch_bytes(self->out));
    }
    if (op->ctx->st->code == MS_OK && self->out->rows > 0) {
        ms_batch_frame(&self->frame, self->out, self->out->columns, self->out->column_count);
        ms_op_emit(op, 0, &self->frame);
    }
    return op->ctx->st->code == MS_OK ? MS_MORE : MS_DONE;
}

/* Snapshots. */

static ms_rc save(op_sort *self, uint64_t records, ms_status *st)
{
    ms_buf_reset(&self->cut);
    if (ms_codec_put_u8(&self->cut, SNAPSHOT_VERSION, st) == MS_OK &&
        msi_sorter_save(&self->sorter, records, &self->cut, st) == MS_OK) {
        return MS_OK;
    }
    ms_status_detail(st, "The rows that ORDER BY holds are part of every checkpoint.");
    ms_status_hint(st, "Give the query a smaller LIMIT, or run it without checkpoints.");
    return ms_status_place(st, self->op.node->span);
}

static ms_rc sort_barrier(ms_op *op, ms_checkpoint_id id, bool is_final)
{
    (void)id;
    (void)is_final;
    op_sort *self = (op_sort *)op;
    self->cut_records = msi_sorter_records(&self->sorter);
    /* Records are only appended, so that persist() still finds those of the cut; but with a limit
     * they move, and they are few. */
    return self->sorter.rows_max > 0 ? save(self, self->cut_records, op->ctx->st) : MS_OK;
}

static void sort_persist(ms_op *op, ms_checkpoint_id id)
{
    op_sort *self = (op_sort *)op;
    if (self->sorter.rows_max == 0 && save(self, self->cut_records, op->ctx->st) != MS_OK) {
        return;
    }
    op->host->snapshot(op, id, ms_buf_view(&self->cut));
    op->host->persisted(op, id);
    ms_buf_release(&self->cut);
}

static ms_rc sort_restore(ms_op *op, ms_str snapshot)
{
    op_sort *self = (op_sort *)op;
    if (snapshot.bytes == 0 || snapshot.ptr[0] != SNAPSHOT_VERSION) {
        ms_op_fail(op, MS_CORRUPT_DATA, op->node->span, "the snapshot of a sort is damaged");
        return op->ctx->st->code;
    }
    return msi_sorter_load(&self->sorter, ms_str_slice(snapshot, 1, snapshot.bytes), op->ctx->st);
}

static void sort_close(ms_op *op)
{
    op_sort *self = (op_sort *)op;
    if (self->pool == NULL) {
        return;
    }
    msi_sorter_release(&self->sorter);
    (void)msi_charge(op, &self->charged_bytes, 0);
    ms_batch_drop(self->out);
    ms_batch_pool_destroy(self->pool);
    self->pool = NULL;
    ms_buf_release(&self->key);
    ms_buf_release(&self->row);
    ms_buf_release(&self->cut);
}

static const ms_op_class sort_class = {
    .name = "Sort",
    .open = sort_open,
    .batch = sort_batch,
    .watermark = sort_watermark,
    .end = sort_end,
    .barrier = sort_barrier,
    .persist = sort_persist,
    .restore = sort_restore,
    .close = sort_close,
};

ms_op *msi_op_sort_create(const ms_pnode *node, ms_arena *job_arena)
{
    (void)node;
    op_sort *self = ms_arena_new(job_arena, op_sort);
    self->op.klass = &sort_class;
    return &self->op;
}
