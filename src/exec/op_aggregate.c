/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aggregates over the whole input, one row.
 *
 *     streaming, net    batch [+I 1, +I 2], batch [+I 3]    ->   +I[3]  -U[3] +U[6]
 *     streaming, each   the same                            ->   +I[1] -U[1] +U[3] -U[3] +U[6]
 *     batch             the same, then END                  ->   +I[6]
 *
 * Streaming gives nothing before the first row, suppresses an update that changes nothing, and -D
 * when the last row was taken back; a row taken back from nothing is ignored. Batch mode gives one
 * row at END, also for an empty input. Net changes need no order of the rows inside a batch, but
 * rows are taken in order anyway, since sums of floats depend on it.
 *
 * The accumulators are cached here and put into the state table before each barrier. The table has
 * one row under the empty key: the number of rows, then the columns of each aggregate.
 */
#include "exec/exec_priv.h"

#include "exec/agg.h"
#include "type/hash.h"
#include "type/rowcodec.h"

/* An update is at most this many rows: -U and +U. */
#define CHANGE_ROWS 2u

typedef struct op_aggregate {
    ms_op op;
    uint32_t agg_count;
    msi_agg *aggs;
    msi_agg_scratch *scratch;

    /* The accumulators, and a copy from before the change at hand. */
    msi_agg_acc *accs;
    msi_agg_acc *before;
    int64_t rows;
    int64_t rows_before;

    /* Where MIN and MAX keep strings: two buffers each, since a frame that was just emitted may
     * show the string that the newer one replaces. */
    ms_buf (*strings)[2];
    uint8_t *string_slot;

    /* State. */
    ms_schema state_schema;
    ms_rowcodec *codec;
    ms_value_table *table;
    ms_value *state_values;
    ms_buf record;
    bool is_loaded;
    bool is_stored; /* the table has a row */
    bool is_dirty;

    /* Output: rows in own vectors, emitted env->batch_rows at a time. */
    bool is_net;
    bool has_kinds;
    bool has_before; /* the consumer takes -U */
    uint32_t out_capacity;
    uint32_t out_rows;
    uint32_t out_sent;
    ms_vec *columns;
    uint8_t *kinds;
    const uint16_t *identity;
    ms_batch out;
    ms_batch frame;

    /* The batch at hand. */
    bool is_running;
    uint32_t next;
    bool has_failed;
    ms_status failure; /* reported once the rows before it are out */
} op_aggregate;

/* Opening. */

static ms_rc open_aggs(op_aggregate *self, ms_op_ctx *ctx)
{
    const ms_pnode *node = self->op.node;
    ms_arena *arena = ctx->job_arena;
    self->agg_count = node->u.aggregate.call_count;
    self->aggs = ms_arena_array(arena, msi_agg, self->agg_count);
    self->accs = ms_arena_array(arena, msi_agg_acc, self->agg_count);
    self->before = ms_arena_array(arena, msi_agg_acc, self->agg_count);
    self->scratch = ms_arena_new(arena, msi_agg_scratch);
    self->strings =
        ms_arena_calloc(arena, self->agg_count, sizeof(*self->strings), _Alignof(ms_buf));
    self->string_slot = ms_arena_array(arena, uint8_t, self->agg_count);
    bool retracts = node->inputs[0]->changelog != MS_CHANGELOG_INSERT;
    for (uint32_t i = 0; i < self->agg_count; i++) {
        const ms_agg_call *call = &node->u.aggregate.calls[i];
        ms_buf_init(&self->strings[i][0], MS_LIMIT_STRING_BYTES);
        ms_buf_init(&self->strings[i][1], MS_LIMIT_STRING_BYTES);
        MS_TRY(msi_agg_init(&self->aggs[i], call, &node->inputs[0]->schema,
                            ctx->plan->overflow_is_error, arena, ctx->st));
        if (retracts && !msi_agg_can_retract(&self->aggs[i])) {
            return ms_status_set(ctx->st, MS_NOT_SUPPORTED, call->span,
                                 "%s over an updating input is not supported",
                                 ms_agg_name(call->kind));
        }
    }
    return MS_OK;
}

static ms_rc open_state(op_aggregate *self, ms_op_ctx *ctx)
{
    ms_arena *arena = ctx->job_arena;
    ms_field *fields = ms_arena_array(arena, ms_field, 1 + 2 * (size_t)self->agg_count);
    fields[0] = (ms_field){ms_str_lit("rows"), ms_type_simple(arena, MS_TYPE_BIGINT, false)};
    uint32_t count = 1;
    for (uint32_t i = 0; i < self->agg_count; i++) {
        count += msi_agg_state_fields(&self->aggs[i], i, &fields[count], arena);
    }
    self->state_schema = (ms_schema){count, fields};
    self->codec = ms_rowcodec_make(arena, &self->state_schema);
    self->state_values = ms_arena_array(arena, ms_value, count);
    ms_buf_init(&self->record, MS_LIMIT_RECORD_BYTES);
    return ms_state_value_table(ctx->state, ms_str_lit("acc"), &self->state_schema, &self->table,
                                ctx->st);
}

static void open_output(op_aggregate *self, ms_op_ctx *ctx)
{
    const ms_pnode *node = self->op.node;
    uint32_t batch_rows = ctx->env->batch_rows;
    self->out_capacity = batch_rows < CHANGE_ROWS ? CHANGE_ROWS : batch_rows;
    self->columns = ms_arena_array(ctx->job_arena, ms_vec, self->agg_count);
    for (uint32_t i = 0; i < self->agg_count; i++) {
        ms_vec_alloc(&self->columns[i], node->schema.columns[i].type, self->out_capacity,
                     ctx->job_arena);
    }
    self->kinds = ms_arena_array(ctx->job_arena, uint8_t, self->out_capacity);
    self->has_kinds = node->changelog != MS_CHANGELOG_INSERT;
    self->identity = msi_identity_make(ctx->job_arena);
    self->is_net = node->u.aggregate.coalesce && ctx->coalesce && !node->order_sensitive;
    self->has_before = (node->changelog >> MS_ROW_UPDATE_BEFORE & 1) != 0;
}

static ms_rc aggregate_open(ms_op *op, ms_op_ctx *ctx)
{
    op_aggregate *self = (op_aggregate *)op;
    MS_TRY(open_aggs(self, ctx));
    MS_TRY(open_state(self, ctx));
    open_output(self, ctx);
    return MS_OK;
}

/* State. */

/* The group of the empty key. */
static uint32_t key_group(void)
{
    return ms_hash_key_group(ms_hash_values(NULL, 0));
}

static ms_rc keep_strings(op_aggregate *self, ms_status *st)
{
    for (uint32_t i = 0; i < self->agg_count; i++) {
        ms_buf *stores = self->strings[i];
        if (msi_agg_borrows(&self->aggs[i], &self->accs[i], &stores[self->string_slot[i]])) {
            self->string_slot[i] ^= 1;
            MS_TRY(msi_agg_keep(&self->aggs[i], &self->accs[i], &stores[self->string_slot[i]], st));
        }
    }
    return MS_OK;
}

/* At the first use, not at open: the driver restores the table in between. */
static ms_rc load(op_aggregate *self)
{
    ms_op_ctx *ctx = self->op.ctx;
    if (self->is_loaded) {
        return MS_OK;
    }
    self->is_loaded = true;
    ms_str record = ms_value_table_get(self->table, key_group(), ms_str_lit(""));
    if (record.ptr == NULL) {
        return MS_OK;
    }
    MS_TRY(
        ms_rowcodec_decode_values(self->codec, record, ctx->scratch, self->state_values, ctx->st));
    self->is_stored = true;
    self->rows = self->state_values[0].u.i;
    uint32_t column = 1;
    for (uint32_t i = 0; i < self->agg_count; i++) {
        column += msi_agg_load(&self->aggs[i], &self->accs[i], &self->state_values[column]);
    }
    return keep_strings(self, ctx->st);
}

static ms_rc store(op_aggregate *self)
{
    ms_op_ctx *ctx = self->op.ctx;
    if (self->rows == 0) {
        if (self->is_stored) {
            ms_value_table_delete(self->table, key_group(), ms_str_lit(""));
        }
        self->is_stored = false;
        return MS_OK;
    }
    const ms_field *fields = self->state_schema.columns;
    self->state_values[0] = ms_value_int(fields[0].type, self->rows);
    uint32_t column = 1;
    for (uint32_t i = 0; i < self->agg_count; i++) {
        column += msi_agg_save(&self->aggs[i], &self->accs[i], &fields[column],
                               &self->state_values[column]);
    }
    ms_buf_reset(&self->record);
    MS_TRY(ms_rowcodec_encode_values(self->codec, self->state_values, &self->record, ctx->st));
    self->is_stored = true;
    return ms_value_table_put(self->table, key_group(), ms_str_lit(""), ms_buf_view(&self->record),
                              ctx->st);
}

static ms_step aggregate_before_barrier(ms_op *op, ms_checkpoint_id id)
{
    (void)id;
    op_aggregate *self = (op_aggregate *)op;
    if (self->is_dirty && store(self) == MS_OK) {
        self->is_dirty = false;
    }
    return MS_DONE;
}

/* Taking rows. */

static bool takes_back(const ms_batch *batch, uint32_t k)
{
    ms_row_kind kind = ms_batch_kind(batch, ms_batch_row(batch, k));
    return kind == MS_ROW_UPDATE_BEFORE || kind == MS_ROW_DELETE;
}

/* The end of the run of rows from k on that are all taken or all taken back. */
static uint32_t run_end(const ms_batch *batch, uint32_t k, uint32_t end)
{
    if (batch->kinds == NULL) {
        return end;
    }
    bool back = takes_back(batch, k);
    while (k < end && takes_back(batch, k) == back) {
        k++;
    }
    return k;
}

static ms_rc take_run(op_aggregate *self, const msi_agg_rows *run, bool back, ms_status *st)
{
    for (uint32_t i = 0; i < self->agg_count; i++) {
        MS_TRY(msi_agg_update(&self->aggs[i], &self->accs[i], run, back, self->scratch, st));
    }
    int64_t count = run->end - run->first;
    self->rows += back ? -count : count;
    if (self->rows == 0) {
        memset(self->accs, 0, self->agg_count * sizeof(*self->accs));
    }
    self->is_dirty = true;
    return MS_OK;
}

static ms_rc take_rows(op_aggregate *self, const ms_batch *batch, uint32_t first, uint32_t end,
                       ms_status *st)
{
    uint32_t k = first;
    while (k < end) {
        uint32_t stop = run_end(batch, k, end);
        bool back = takes_back(batch, k);
        /* There is nothing to take back beyond the rows that there are. */
        uint32_t usable = back && self->rows < stop - k ? (uint32_t)self->rows : stop - k;
        if (usable > 0) {
            msi_agg_rows run = {batch, k, k + usable};
            MS_TRY(take_run(self, &run, back, st));
        }
        k = stop;
    }
    return MS_OK;
}

/* Writing changes. */

static bool values_differ(const ms_vec *vec, uint32_t a, uint32_t b)
{
    bool null_a = ms_vec_is_null(vec, a);
    bool null_b = ms_vec_is_null(vec, b);
    if (null_a || null_b) {
        return null_a != null_b;
    }
    if (vec->phys == MS_PHYS_F32) {
        return MS_VEC_DATA(vec, const float)[a] != MS_VEC_DATA(vec, const float)[b];
    }
    if (vec->phys == MS_PHYS_F64) {
        return MS_VEC_DATA(vec, const double)[a] != MS_VEC_DATA(vec, const double)[b];
    }
    if (vec->phys == MS_PHYS_STR) {
        const ms_view *views = MS_VEC_DATA(vec, const ms_view);
        return !ms_view_equals(&views[a], &views[b]);
    }
    if (vec->phys == MS_PHYS_TS16) {
        const ms_ts16 *times = MS_VEC_DATA(vec, const ms_ts16);
        return times[a].ms != times[b].ms || times[a].ns != times[b].ns;
    }
    size_t width = ms_phys_bytes(vec->phys);
    const char *data = vec->data;
    return memcmp(data + a * width, data + b * width, width) != 0;
}

static void write_row(op_aggregate *self, ms_row_kind kind, const msi_agg_acc *accs)
{
    uint32_t row = self->out_rows++;
    for (uint32_t i = 0; i < self->agg_count; i++) {
        msi_agg_result(&self->aggs[i], &accs[i], &self->columns[i], row);
    }
    self->kinds[row] = (uint8_t)kind;
}

/* An update of a consumer that takes no -U: +U alone, and nothing when no value changed. */
static void write_update(op_aggregate *self)
{
    uint32_t first = self->out_rows;
    if (self->has_before) {
        write_row(self, MS_ROW_UPDATE_BEFORE, self->before);
    }
    write_row(self, MS_ROW_UPDATE_AFTER, self->accs);
    if (!self->has_before) {
        write_row(self, MS_ROW_UPDATE_BEFORE, self->before);
    }
    bool differs = false;
    for (uint32_t i = 0; i < self->agg_count && !differs; i++) {
        differs = values_differ(&self->columns[i], first, first + 1);
    }
    self->out_rows = !differs ? first : first + (self->has_before ? 2 : 1);
}

/* The change from `before` to now. */
static void write_change(op_aggregate *self)
{
    bool existed = self->rows_before > 0;
    bool exists = self->rows > 0;
    if (existed && exists) {
        write_update(self);
    } else if (exists) {
        write_row(self, MS_ROW_INSERT, self->accs);
    } else if (existed) {
        write_row(self, MS_ROW_DELETE, self->before);
    }
}

static void remember(op_aggregate *self)
{
    memcpy(self->before, self->accs, self->agg_count * sizeof(*self->accs));
    self->rows_before = self->rows;
}

/* Takes rows from `next` on and writes their changes, as far as the output has room. */
static void advance(op_aggregate *self, const ms_batch *batch)
{
    uint32_t live = ms_batch_live(batch);
    bool is_batch = self->op.node->u.aggregate.is_batch;
    ms_rc rc = MS_OK;
    if (is_batch || self->is_net) {
        remember(self);
        rc = take_rows(self, batch, 0, live, &self->failure);
        self->next = live;
        if (rc == MS_OK && !is_batch) {
            write_change(self);
        }
    }
    while (rc == MS_OK && self->next < live && self->out_rows + CHANGE_ROWS <= self->out_capacity) {
        remember(self);
        rc = take_rows(self, batch, self->next, self->next + 1, &self->failure);
        if (rc == MS_OK) {
            self->next++;
            write_change(self);
        }
    }
    self->has_failed = rc != MS_OK;
}

/* Emits what fits a batch of the rows written; true when some are left. */
static bool send(op_aggregate *self)
{
    if (self->out_sent < self->out_rows) {
        uint32_t left = self->out_rows - self->out_sent;
        uint32_t batch_rows = self->op.ctx->env->batch_rows;
        uint32_t end = self->out_sent + (left < batch_rows ? left : batch_rows);
        self->out = (ms_batch){.rows = self->out_rows,
                               .columns = self->columns,
                               .column_count = self->agg_count,
                               .kinds = self->has_kinds ? self->kinds : NULL};
        msi_slice(&self->frame, &self->out, self->out_sent, end, self->identity);
        self->out_sent = end;
        ms_op_emit(&self->op, 0, &self->frame);
    }
    return self->out_sent < self->out_rows;
}

static ms_step finish(op_aggregate *self)
{
    self->is_running = false;
    if (self->has_failed) {
        *self->op.ctx->st = self->failure;
        return MS_DONE;
    }
    keep_strings(self, self->op.ctx->st);
    return MS_DONE;
}

static ms_step aggregate_batch(ms_op *op, uint32_t input, const ms_batch *batch)
{
    (void)input;
    op_aggregate *self = (op_aggregate *)op;
    if (!self->is_running) {
        if (load(self) != MS_OK) {
            return MS_DONE;
        }
        self->is_running = true;
        self->next = 0;
    }
    bool is_fresh = self->out_sent == self->out_rows;
    if (is_fresh) {
        self->out_sent = 0;
        self->out_rows = 0;
        if (!self->has_failed) {
            advance(self, batch);
        }
    }
    bool emits = self->out_rows > 0;
    bool is_left = send(self) || (self->has_failed ? emits : self->next < ms_batch_live(batch));
    return is_left ? MS_MORE : finish(self);
}

static ms_step aggregate_end(ms_op *op, uint32_t input, ms_ending ending)
{
    (void)input;
    (void)ending;
    op_aggregate *self = (op_aggregate *)op;
    if (!op->node->u.aggregate.is_batch || load(self) != MS_OK) {
        return MS_DONE;
    }
    self->out_sent = 0;
    self->out_rows = 0;
    write_row(self, MS_ROW_INSERT, self->accs);
    send(self);
    return MS_DONE;
}

static void aggregate_close(ms_op *op)
{
    op_aggregate *self = (op_aggregate *)op;
    for (uint32_t i = 0; i < self->agg_count; i++) {
        ms_buf_release(&self->strings[i][0]);
        ms_buf_release(&self->strings[i][1]);
    }
    self->agg_count = 0;
    ms_buf_release(&self->record);
}

static const ms_op_class aggregate_class = {
    .name = "GlobalAggregate",
    .open = aggregate_open,
    .batch = aggregate_batch,
    .end = aggregate_end,
    .before_barrier = aggregate_before_barrier,
    .close = aggregate_close,
};

ms_op *msi_op_aggregate_create(const ms_pnode *node, ms_arena *job_arena)
{
    (void)node;
    op_aggregate *self = ms_arena_new(job_arena, op_aggregate);
    self->op.klass = &aggregate_class;
    return &self->op;
}
