/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Flink's watermark assigner. It evaluates the watermark expression for every row, keeps the
 * maximum, and passes the row on; after a row that brings the maximum more than the interval ahead
 * of the last watermark sent, it sends the maximum. So the place of a watermark depends on the rows
 * alone, never on how they were cut into batches: the batch is cut behind that row.
 *
 *     ts - 5 s, interval 200 ms:    +I[00:10.0] +I[00:10.1] +I[00:10.4]
 *                              ->   +I[00:10.0] WM 00:05.0 +I[00:10.1] +I[00:10.4] WM 00:05.4
 *
 * As in Flink, the counter starts at 0, so that a watermark at or before 1970 is never sent; a row
 * without event time fails the job; a NULL or regressing watermark is ignored; watermarks from
 * upstream are swallowed, but for the maximum that ends event time. Unlike Flink there is no
 * periodic emission by the wall clock.
 *
 * The snapshot is the maximum and the last watermark sent. After a restore that one is sent again
 * before the first row, so that operators downstream judge late rows as before.
 */
#include "exec/eval.h"

#include "base/codec.h"
#include "type/time.h"

#define SNAPSHOT_VERSION 1u

typedef struct op_watermark {
    ms_op op;
    msi_eval eval;
    const uint16_t *identity;
    ms_batch slice;

    ms_time_ms current; /* the maximum so far */
    ms_time_ms sent;    /* the last watermark sent */
    bool is_restored;   /* `sent` is of a checkpoint and was not sent again yet */
    ms_time_ms cut_current;
    ms_time_ms cut_sent;

    /* The batch at hand, or the part of it that was evaluated last. */
    bool is_running;
    bool is_left;       /* there are more parts */
    ms_batch evaluated; /* one column: the watermarks of the rows before a failing one */
    ms_eval_error error;
    uint32_t next; /* index of the part's first live row that was not passed on */
} op_watermark;

static ms_rc watermark_open(ms_op *op, ms_op_ctx *ctx)
{
    op_watermark *self = (op_watermark *)op;
    const ms_expr *outputs[] = {op->node->u.watermark.expr};
    const ms_program_spec spec = {.outputs = outputs,
                                  .output_count = 1,
                                  .input = &op->node->inputs[0]->schema,
                                  .config = msi_eval_config(op)};
    self->identity = msi_identity_make(ctx->job_arena);
    return msi_eval_open(&self->eval, op, &spec);
}

/* Milliseconds of a timestamp of either form; the row is not NULL. */
static ms_time_ms time_at(const ms_vec *vec, uint32_t row)
{
    uint32_t pos = ms_vec_pos(vec, row);
    if (vec->phys == MS_PHYS_TS16) {
        return MS_VEC_DATA(vec, const ms_ts16)[pos].ms;
    }
    return ms_time_ms_from_us(MS_VEC_DATA(vec, const int64_t)[pos]);
}

static int64_t max_of(const int64_t *data, uint32_t rows)
{
    int64_t max = INT64_MIN;
    for (uint32_t i = 0; i < rows; i++) {
        max = data[i] > max ? data[i] : max;
    }
    return max;
}

static bool is_ahead(const op_watermark *self, ms_time_ms current)
{
    /* `sent` is at least 0: no overflow. */
    return current - self->sent > self->op.node->u.watermark.interval_ms;
}

/*
 * The usual batch: dense, without NULLs and failures, and its maximum does not go far enough for a
 * watermark. One vector loop decides that, and moves the maximum.
 */
static bool passes_whole(op_watermark *self, const ms_batch *batch)
{
    const ms_vec *marks = &self->evaluated.columns[0];
    const ms_vec *rowtime = &batch->columns[self->op.node->u.watermark.rowtime];
    bool is_plain = self->error.code == MS_OK && batch->sel == NULL && rowtime->valid == NULL &&
                    marks->valid == NULL && marks->encoding == MS_ENC_FLAT &&
                    marks->phys == MS_PHYS_I64 && batch->rows > 0;
    if (!is_plain) {
        return false;
    }
    ms_time_ms max = ms_time_ms_from_us(max_of(MS_VEC_DATA(marks, const int64_t), batch->rows));
    ms_time_ms current = max > self->current ? max : self->current;
    if (is_ahead(self, current)) {
        return false;
    }
    self->current = current;
    return true;
}

static void pass_rows(op_watermark *self, const ms_batch *batch, uint32_t end)
{
    if (end > self->next) {
        msi_slice(&self->slice, batch, self->next, end, self->identity);
        ms_op_emit(&self->op, 0, &self->slice);
        self->next = end;
    }
}

static ms_step fail_null(op_watermark *self)
{
    const ms_pnode *node = self->op.node;
    ms_str name = node->schema.columns[node->u.watermark.rowtime].name;
    ms_op_fail(&self->op, MS_NULL_ROWTIME, node->span, "the event time column \"%.*s\" is NULL",
               MS_STR_ARG(name));
    ms_status_detail(self->op.ctx->st, "RowTime field should not be null, please convert it to a "
                                       "non-null long value.");
    ms_status_hint(self->op.ctx->st, "Filter such rows out before the watermark is assigned, or "
                                     "give the column a value with COALESCE.");
    return MS_DONE;
}

/* Ends the part: nothing is left, or the next row fails. */
static ms_step finish(op_watermark *self, const ms_batch *batch, bool is_null)
{
    ms_eval_error error = self->error;
    self->is_running = false;
    self->error = (ms_eval_error){0};
    if (is_null) {
        return fail_null(self);
    }
    if (error.code != MS_OK) {
        msi_eval_report(&self->eval, batch, &error);
        return MS_DONE;
    }
    return self->is_left ? MS_MORE : MS_DONE;
}

/* Goes on with the rows from `next`, up to the first one behind which a watermark is due. */
static ms_step scan(op_watermark *self, const ms_batch *batch)
{
    const ms_vec *marks = &self->evaluated.columns[0];
    const ms_vec *rowtime = &batch->columns[self->op.node->u.watermark.rowtime];
    uint32_t end = ms_batch_live(&self->evaluated);
    bool is_null = false;
    uint32_t k = self->next;
    for (; k < end; k++) {
        uint32_t row = ms_batch_row(batch, k);
        is_null = ms_vec_is_null(rowtime, row);
        if (is_null) {
            break;
        }
        if (ms_vec_is_null(marks, row)) {
            continue;
        }
        ms_time_ms mark = time_at(marks, row);
        self->current = mark > self->current ? mark : self->current;
        if (is_ahead(self, self->current)) {
            pass_rows(self, batch, k + 1);
            self->sent = self->current;
            ms_op_emit_watermark(&self->op, self->sent);
            bool fails = self->error.code != MS_OK;
            return self->next < end || fails ? MS_MORE : finish(self, batch, false);
        }
    }
    bool fails = is_null || self->error.code != MS_OK;
    bool emits = k > self->next;
    pass_rows(self, batch, k);
    /* The rows before a failing one go out first: the failure is found again by the next call. */
    return fails && emits ? MS_MORE : finish(self, batch, is_null);
}

static ms_step watermark_batch(ms_op *op, uint32_t input, const ms_batch *batch)
{
    (void)input;
    op_watermark *self = (op_watermark *)op;
    if (!self->is_running) {
        if (self->is_restored && self->sent > 0) {
            ms_op_emit_watermark(op, self->sent);
        }
        self->is_restored = false;
        bool is_first = !self->is_left;
        self->is_left = msi_eval_run(&self->eval, batch, &self->evaluated, &self->error);
        if (is_first && !self->is_left && passes_whole(self, batch)) {
            msi_op_emit_through(op, batch, &self->slice);
            return MS_DONE;
        }
        self->next = 0;
        self->is_running = true;
    }
    return scan(self, msi_eval_rows(&self->eval));
}

static ms_step watermark_watermark(ms_op *op, ms_time_ms watermark)
{
    op_watermark *self = (op_watermark *)op;
    if (watermark == MS_WATERMARK_MAX) {
        self->current = watermark;
        self->sent = watermark;
        ms_op_emit_watermark(op, watermark);
    }
    return MS_DONE;
}

static ms_rc watermark_barrier(ms_op *op, ms_checkpoint_id id, bool is_final)
{
    (void)id;
    (void)is_final;
    op_watermark *self = (op_watermark *)op;
    self->cut_current = self->current;
    self->cut_sent = self->sent;
    return MS_OK;
}

static void watermark_persist(ms_op *op, ms_checkpoint_id id)
{
    op_watermark *self = (op_watermark *)op;
    char bytes[1 + 2 * MS_CODEC_VARINT_BYTES] = {SNAPSHOT_VERSION};
    size_t size = 1;
    /* Neither is negative. */
    size += ms_codec_store_varint((uint64_t)self->cut_current, bytes + size);
    size += ms_codec_store_varint((uint64_t)self->cut_sent, bytes + size);
    op->host->snapshot(op, id, ms_str_make(bytes, size));
    op->host->persisted(op, id);
}

/* Of several snapshots, after a change of parallelism, the smallest counts: no row becomes late. */
static ms_rc watermark_restore(ms_op *op, ms_str snapshot)
{
    op_watermark *self = (op_watermark *)op;
    ms_codec_reader reader = ms_codec_reader_make(snapshot);
    uint8_t version = ms_codec_reader_u8(&reader);
    uint64_t current = ms_codec_reader_varint(&reader);
    uint64_t sent = ms_codec_reader_varint(&reader);
    MS_TRY(ms_codec_reader_finish(&reader, "the snapshot of a watermark assigner", op->ctx->st));
    if (version != SNAPSHOT_VERSION || current > INT64_MAX || sent > current) {
        ms_op_fail(op, MS_CORRUPT_DATA, op->node->span,
                   "the snapshot of a watermark assigner is damaged");
        return op->ctx->st->code;
    }
    bool is_first = !self->is_restored;
    self->current = is_first || (int64_t)current < self->current ? (int64_t)current : self->current;
    self->sent = is_first || (int64_t)sent < self->sent ? (int64_t)sent : self->sent;
    self->is_restored = true;
    return MS_OK;
}

static void watermark_close(ms_op *op)
{
    msi_eval_close(&((op_watermark *)op)->eval);
}

static const ms_op_class watermark_class = {
    .name = "WatermarkAssigner",
    .open = watermark_open,
    .batch = watermark_batch,
    .watermark = watermark_watermark,
    .barrier = watermark_barrier,
    .persist = watermark_persist,
    .restore = watermark_restore,
    .close = watermark_close,
};

ms_op *msi_op_watermark_create(const ms_pnode *node, ms_arena *job_arena)
{
    (void)node;
    op_watermark *self = ms_arena_new(job_arena, op_watermark);
    self->op.klass = &watermark_class;
    return &self->op;
}
