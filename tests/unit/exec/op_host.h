/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Drives one operator without runtime/: scripted batches and control items in, and what comes out
 * as text, so that a test reads like the example at the head of an operator.
 *
 *     op_host h;
 *     host_init(&h, mode, "a INT, b STRING");                      the input's columns
 *     h.node.kind = MS_PNODE_LIMIT; ...                            the node, then
 *     host_open(&h, "a INT, b STRING");                            the output's
 *     host_feed(&h, "+I[1, x] +I[2, null]");
 *     host_watermark(&h, 5000);
 *     host_end(&h);
 *     host_expect(&h, "+I[1, x] WM(5000) END");
 *     host_close(&h);
 *
 * A mode says how rows are cut into batches and what these look like. What is fed may come in many
 * batches; what comes out is compared as one text. The host checks the operator's contract: at most
 * one batch a call, frames that stay as they are until the next call, and in debug builds scratch
 * that is gone when the root batch is done.
 *
 * host_restart closes the operator and opens a new one from the last checkpoint.
 */
#ifndef MS_TESTS_UNIT_EXEC_OP_HOST_H
#define MS_TESTS_UNIT_EXEC_OP_HOST_H

#include "testing.h"

#include "exec/exec_priv.h"
#include "type/decimal.h"
#include "type/text.h"
#include "type/time.h"

typedef struct op_mode {
    uint32_t batch_rows;
    bool is_sparse; /* a row that is not selected stands before each one */
    bool is_frame;  /* batches without a pool */
} op_mode;

static const op_mode op_modes[] = {{1, false, false},   {1, true, true},    {2, false, true},
                                   {2, true, false},    {3, true, true},    {7, true, true},
                                   {2048, true, false}, {2048, false, true}};

#define HOST_MODES (sizeof(op_modes) / sizeof(op_modes[0]))
#define HOST_INPUTS 2u

/* A token that the host handed out. */
typedef struct host_token {
    ms_completion completion;
    bool is_done;
    bool is_delivered;
    ms_status st;
} host_token;

typedef struct op_host {
    op_mode mode;
    ms_arena arena; /* of the test */
    ms_arena job_arena;
    ms_arena scratch;
    ms_account account;
    ms_status st;
    ms_task_env env;
    ms_plan plan;
    ms_pnode node;
    ms_pnode input_node;
    const ms_pnode *inputs[HOST_INPUTS];
    ms_op_ctx ctx;
    ms_op *op;
    ms_batch_pool *pool;

    ms_buf log;
    ms_batch *emitted; /* by the last call */
    ms_buf emitted_text;
    uint32_t emitted_in_call;
    uint32_t emitted_rows_max; /* of one batch */
    uint32_t calls;

    uint32_t collect_room; /* how many batches the result takes before it is full */
    uint32_t collect_rows; /* of a batch in a call; 0: all */
    uint32_t collected;
    uint32_t satisfied;
    bool is_blocked;

    /* The last checkpoint. */
    ms_buf snapshot;
    ms_buf state_log;
    ms_buf committable;
    bool has_snapshot;
    uint32_t persisted;
    host_token tokens[4];
    uint32_t token_count;
} op_host;

static inline op_host *host_of(ms_op *op)
{
    return op->host_op;
}

/* Schemas: "a INT, b STRING NOT NULL". */

static inline const ms_type *host_type(ms_arena *arena, ms_str text)
{
    static const struct {
        const char *name;
        ms_type_kind kind;
    } simple[] = {{"BOOLEAN", MS_TYPE_BOOLEAN},   {"TINYINT", MS_TYPE_TINYINT},
                  {"SMALLINT", MS_TYPE_SMALLINT}, {"INT", MS_TYPE_INT},
                  {"BIGINT", MS_TYPE_BIGINT},     {"FLOAT", MS_TYPE_FLOAT},
                  {"DOUBLE", MS_TYPE_DOUBLE},     {"DATE", MS_TYPE_DATE}};
    bool nullable = !ms_str_ends_with(text, ms_str_lit(" NOT NULL"));
    if (!nullable) {
        text = ms_str_slice(text, 0, text.bytes - strlen(" NOT NULL"));
    }
    int p = 0;
    int s = 0;
    char copy[64];
    snprintf(copy, sizeof(copy), "%.*s", MS_STR_ARG(text));
    if (sscanf(copy, "DECIMAL(%d.%d)", &p, &s) == 2) {
        return ms_type_decimal(arena, p, s, nullable);
    }
    if (sscanf(copy, "TIMESTAMP(%d)", &p) == 1) {
        return ms_type_temporal(arena, MS_TYPE_TIMESTAMP, p, nullable);
    }
    if (ms_str_equals(text, ms_str_lit("STRING"))) {
        return ms_type_string(arena, nullable);
    }
    for (size_t i = 0; i < sizeof(simple) / sizeof(simple[0]); i++) {
        if (ms_str_equals(text, ms_str_cstr(simple[i].name))) {
            return ms_type_simple(arena, simple[i].kind, nullable);
        }
    }
    fail_msg("no type %s", copy);
    return NULL;
}

static inline ms_schema host_schema(ms_arena *arena, const char *text)
{
    ms_field *fields = ms_arena_array(arena, ms_field, 16);
    uint32_t count = 0;
    ms_str rest = ms_str_cstr(text);
    while (rest.bytes > 0) {
        size_t comma = ms_str_find_byte(rest, ',', 0);
        size_t end = comma == SIZE_MAX ? rest.bytes : comma;
        ms_str column = ms_str_trim(ms_str_slice(rest, 0, end));
        size_t blank = ms_str_find_byte(column, ' ', 0);
        fields[count].name = ms_str_slice(column, 0, blank);
        fields[count].type = host_type(arena, ms_str_slice(column, blank + 1, column.bytes));
        count++;
        rest = ms_str_slice(rest, comma == SIZE_MAX ? rest.bytes : comma + 1, rest.bytes);
    }
    return (ms_schema){count, fields};
}

/* Rows: "+I[1, x] -U[2, null]", values as the print connector writes them. */

static inline ms_value host_value(const ms_type *type, ms_str text)
{
    ms_value value = {.type = type};
    if (ms_str_equals(text, ms_str_lit("null"))) {
        return ms_value_null(type);
    }
    const ms_text_timestamp_form iso = MS_TEXT_ISO;
    ms_i128 unscaled = 0;
    int32_t days = 0;
    if (type->kind == MS_TYPE_BOOLEAN) {
        value.u.i = ms_str_equals(text, ms_str_lit("true"));
    } else if (type->kind == MS_TYPE_FLOAT || type->kind == MS_TYPE_DOUBLE) {
        assert_true(ms_text_parse_f64(text, &value.u.f));
    } else if (type->kind == MS_TYPE_DECIMAL) {
        assert_int_equal(ms_text_parse_decimal(text, type->precision, type->scale, &unscaled),
                         MS_TEXT_OK);
        if (type->phys == MS_PHYS_I64) {
            value.u.i = (int64_t)unscaled;
        } else {
            value.u.dec = unscaled;
        }
    } else if (type->kind == MS_TYPE_VARCHAR) {
        value.u.str = text;
    } else if (type->kind == MS_TYPE_DATE) {
        assert_true(ms_text_parse_date(text, &days));
        value.u.i = days;
    } else if (type->phys == MS_PHYS_TS16) {
        assert_true(ms_text_parse_timestamp_ts(text, iso, type->precision, &value.u.ts));
    } else if (type->kind == MS_TYPE_TIMESTAMP) {
        assert_true(ms_text_parse_timestamp_us(text, iso, type->precision, &value.u.i));
    } else {
        assert_true(ms_text_parse_i64(text, &value.u.i));
    }
    return value;
}

typedef struct host_row {
    ms_row_kind kind;
    ms_value values[16];
} host_row;

static inline ms_row_kind host_kind(const char *text)
{
    bool after = text[0] == '+';
    if (text[1] == 'U') {
        return after ? MS_ROW_UPDATE_AFTER : MS_ROW_UPDATE_BEFORE;
    }
    return after ? MS_ROW_INSERT : MS_ROW_DELETE;
}

/* Parses the row at *text and moves behind it; false at the end. */
static inline bool host_parse(const ms_schema *schema, const char **text, host_row *row)
{
    while (**text == ' ' || **text == '\n') {
        (*text)++;
    }
    if (**text == '\0') {
        return false;
    }
    row->kind = host_kind(*text);
    *text += 3;
    for (uint32_t c = 0; c < schema->column_count; c++) {
        const char *end = strpbrk(*text, ",]");
        assert_non_null(end);
        ms_str word = ms_str_trim(ms_str_make(*text, (size_t)(end - *text)));
        row->values[c] = host_value(schema->columns[c].type, word);
        *text = end + 1;
    }
    return true;
}

static inline void host_print(ms_buf *out, const ms_batch *batch)
{
    static const char *const kinds[] = {"+I[", "-U[", "+U[", "-D["};
    ms_status st = {0};
    for (uint32_t k = 0; k < ms_batch_live(batch); k++) {
        uint32_t row = ms_batch_row(batch, k);
        assert_ok(ms_buf_format(out, &st, " %s", kinds[ms_batch_kind(batch, row)]));
        for (uint32_t c = 0; c < batch->column_count; c++) {
            assert_ok(ms_buf_append(out, c > 0 ? ms_str_lit(", ") : ms_str_lit(""), &st));
            assert_ok(ms_text_vec(out, &batch->columns[c], row, MS_TEXT_PRINT, ms_zone_utc(), &st));
        }
        assert_ok(ms_buf_append(out, ms_str_lit("]"), &st));
    }
}

static inline void host_log(op_host *h, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static inline void host_log(op_host *h, const char *format, ...)
{
    char text[200];
    ms_status st = {0};
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    assert_ok(ms_buf_format(&h->log, &st, " %s", text));
}

/* What the host offers. */

static inline void host_emit(ms_op *op, uint32_t edge, ms_batch *batch)
{
    op_host *h = host_of(op);
    assert_int_equal(edge, 0);
    assert_true(ms_batch_live(batch) > 0);
    assert_true(ms_batch_live(batch) <= h->mode.batch_rows);
    assert_int_equal(h->emitted_in_call, 0);
    h->emitted_in_call++;
    h->emitted_rows_max =
        ms_batch_live(batch) > h->emitted_rows_max ? ms_batch_live(batch) : h->emitted_rows_max;
    h->emitted = batch;
    host_print(&h->log, batch);
    ms_buf_reset(&h->emitted_text);
    host_print(&h->emitted_text, batch);
}

static inline void host_emit_watermark(ms_op *op, ms_time_ms watermark)
{
    if (watermark == MS_WATERMARK_MAX) {
        host_log(host_of(op), "WM(MAX)");
    } else {
        host_log(host_of(op), "WM(%lld)", (long long)watermark);
    }
}

static inline void host_snapshot(ms_op *op, ms_checkpoint_id id, ms_str bytes)
{
    (void)id;
    op_host *h = host_of(op);
    ms_buf_reset(&h->snapshot);
    h->has_snapshot = true;
    assert_int_equal(ms_buf_append(&h->snapshot, bytes, &h->st), MS_OK);
}

static inline void host_persisted(ms_op *op, ms_checkpoint_id id)
{
    (void)id;
    host_of(op)->persisted++;
}

static inline void host_source_pending(ms_op *op)
{
    host_log(host_of(op), "PENDING");
}

static inline void host_source_end(ms_op *op)
{
    host_log(host_of(op), "SOURCE_END");
}

static inline void host_request_split(ms_op *op)
{
    host_log(host_of(op), "REQUEST");
}

static inline void host_committable(ms_op *op, ms_checkpoint_id id, ms_str bytes)
{
    (void)id;
    op_host *h = host_of(op);
    ms_buf_reset(&h->committable);
    assert_int_equal(ms_buf_append(&h->committable, bytes, &h->st), MS_OK);
}

static inline void host_done(ms_completion *completion, ms_rc rc, const ms_status *st)
{
    host_token *token = (host_token *)completion;
    assert_false(token->is_done);
    token->is_done = true;
    token->st = rc != MS_OK ? *st : (ms_status){0};
}

static inline ms_completion *host_completion(ms_op *op)
{
    op_host *h = host_of(op);
    assert_true(h->token_count < 4);
    host_token *token = &h->tokens[h->token_count++];
    *token = (host_token){.completion = {.done = host_done}};
    return &token->completion;
}

static inline const ms_status *host_completion_status(const ms_completion *done)
{
    return &((const host_token *)done)->st;
}

/* Takes a batch whole, or, with collect_rows, so many rows of it in a call. */
static inline uint32_t host_collect(ms_op *op, const ms_batch *batch, uint32_t first)
{
    op_host *h = host_of(op);
    if (h->collected == h->collect_room) {
        return 0;
    }
    uint32_t left = ms_batch_live(batch) - first;
    uint32_t rows = h->collect_rows != 0 && h->collect_rows < left ? h->collect_rows : left;
    ms_batch part;
    msi_slice(&part, batch, first, first + rows, msi_identity_make(&h->arena));
    h->collected++;
    host_print(&h->log, &part);
    return rows;
}

static inline void host_satisfied(ms_op *op)
{
    host_of(op)->satisfied++;
}

static const ms_op_host host_table = {
    .emit = host_emit,
    .emit_watermark = host_emit_watermark,
    .snapshot = host_snapshot,
    .persisted = host_persisted,
    .source_pending = host_source_pending,
    .source_end = host_source_end,
    .request_split = host_request_split,
    .committable = host_committable,
    .completion = host_completion,
    .completion_status = host_completion_status,
    .collect = host_collect,
    .satisfied = host_satisfied,
};

/* Life. */

static inline void host_wake(void *task)
{
    (void)task;
}

static inline void host_init(op_host *h, op_mode mode, const char *input)
{
    memset(h, 0, sizeof(*h));
    h->mode = mode;
    ms_arena_init(&h->arena, 0);
    ms_arena_init(&h->job_arena, 0);
    ms_arena_init(&h->scratch, 0);
    ms_account_init(&h->account, NULL, "test", "test.memory", MS_ACCOUNT_UNLIMITED);
    ms_buf_init(&h->log, 1u << 26);
    ms_buf_init(&h->emitted_text, 1u << 26);
    ms_buf_init(&h->snapshot, 1u << 24);
    ms_buf_init(&h->state_log, 1u << 24);
    ms_buf_init(&h->committable, 1u << 24);
    h->env = (ms_task_env){.waker = {.wake = host_wake},
                           .account = &h->account,
                           .parallelism = 1,
                           .batch_rows = mode.batch_rows,
                           .local_time_zone = ms_str_lit("UTC")};
    h->plan.local_time_zone = ms_str_lit("UTC");
    h->input_node = (ms_pnode){.kind = MS_PNODE_VALUES, .changelog = MS_CHANGELOG_INSERT};
    h->input_node.schema = host_schema(&h->arena, input);
    for (uint32_t i = 0; i < HOST_INPUTS; i++) {
        h->inputs[i] = &h->input_node;
    }
    h->node = (ms_pnode){.changelog = MS_CHANGELOG_INSERT, .input_count = 1, .inputs = h->inputs};
    h->node.span = (ms_span){10, 20};
    h->ctx.coalesce = true;
}

/* Opens the operator of h->node; restores what the host has of a checkpoint. */
static inline void host_reopen(op_host *h)
{
    h->ctx.st = &h->st;
    h->ctx.job_arena = &h->job_arena;
    h->ctx.scratch = &h->scratch;
    h->ctx.env = &h->env;
    h->ctx.plan = &h->plan;
    h->ctx.state = ms_state_create(&h->account, 0, MS_KEY_GROUPS);
    if (h->state_log.bytes > 0) {
        assert_int_equal(ms_state_restore(h->ctx.state, ms_buf_view(&h->state_log), &h->st), MS_OK);
    }
    h->op = ms_op_create(&h->node, &h->job_arena);
    h->op->ctx = &h->ctx;
    h->op->input_count = h->node.input_count;
    h->op->edge_count = 1;
    h->op->host = &host_table;
    h->op->host_op = h;
    if (h->op->klass->open(h->op, &h->ctx) != MS_OK || !h->has_snapshot) {
        return;
    }
    assert_int_equal(h->op->klass->restore(h->op, ms_buf_view(&h->snapshot)), MS_OK);
}

static inline void host_open(op_host *h, const char *output)
{
    h->node.schema = host_schema(&h->arena, output);
    h->pool = ms_batch_pool_create(&h->input_node.schema, MS_BATCH_ROWS_MAX, 1);
    host_reopen(h);
}

/* What the last call emitted is as it was then; then it goes. */
static inline void host_drop_emitted(op_host *h)
{
    if (h->emitted != NULL) {
        ms_status st = {0};
        ms_buf now;
        ms_buf_init(&now, 1u << 26);
        host_print(&now, h->emitted);
        assert_ok(ms_buf_append_byte(&now, '\0', &st));
        assert_ok(ms_buf_append_byte(&h->emitted_text, '\0', &st));
        assert_string_equal(now.ptr, h->emitted_text.ptr);
        ms_buf_release(&now);
        if (h->emitted->pool != NULL) {
            ms_batch_drop(h->emitted);
        }
    }
    h->emitted = NULL;
}

static inline void host_shut(op_host *h)
{
    host_drop_emitted(h);
    h->op->klass->close(h->op);
    ms_state_destroy(h->ctx.state);
    h->op = NULL;
}

/* What host_init made. */
static inline void host_release(op_host *h)
{
    ms_buf_release(&h->log);
    ms_buf_release(&h->emitted_text);
    ms_buf_release(&h->snapshot);
    ms_buf_release(&h->state_log);
    ms_buf_release(&h->committable);
    ms_arena_release(&h->job_arena);
    ms_arena_release(&h->scratch);
    ms_arena_release(&h->arena);
    ms_account_release(&h->account);
}

static inline void host_close(op_host *h)
{
    host_shut(h);
    ms_batch_pool_destroy(h->pool);
    host_release(h);
}

/* Calls. */

static inline void host_begin_call(op_host *h)
{
    host_drop_emitted(h);
    h->emitted_in_call = 0;
    h->calls++;
    assert_true(h->calls < 1000000);
}

static inline void host_batch(op_host *h, uint32_t input, const ms_batch *batch)
{
    ms_step step = MS_MORE;
    while (step == MS_MORE) {
        host_begin_call(h);
        step = h->op->klass->batch(h->op, input, batch);
        h->is_blocked = step == MS_BLOCKED;
        if (h->st.code != MS_OK) {
            assert_int_equal(step, MS_DONE);
            assert_int_equal(h->emitted_in_call, 0);
        }
    }
    host_drop_emitted(h);
    ms_arena_reset(&h->scratch);
}

static inline void host_put(op_host *h, ms_batch *batch, const host_row *row)
{
    uint32_t at = batch->rows++;
    ms_batch_kinds(batch)[at] = (uint8_t)row->kind;
    for (uint32_t c = 0; c < batch->column_count; c++) {
        ms_value value = row->values[c];
        ms_value_to_vec(NULL, &value, &batch->columns[c], at, batch->capacity);
        if (!value.is_null && value.type->phys == MS_PHYS_STR) {
            MS_VEC_DATA(&batch->columns[c], ms_view)[at] = ms_batch_put_str(batch, value.u.str);
        }
    }
    (void)h;
}

/* Makes a batch of up to batch_rows rows of the text; NULL at its end. */
static inline ms_batch *host_take(op_host *h, const char **text)
{
    const ms_schema *schema = &h->input_node.schema;
    ms_batch *batch = ms_batch_pool_take(h->pool);
    host_row row;
    uint32_t live = 0;
    while (live < h->mode.batch_rows && host_parse(schema, text, &row)) {
        if (h->mode.is_sparse) {
            host_row junk = row;
            junk.kind = MS_ROW_DELETE;
            for (uint32_t c = 0; c < schema->column_count; c++) {
                junk.values[c] = ms_value_null(schema->columns[c].type);
            }
            host_put(h, batch, &junk);
            batch->sel_store[live] = (uint16_t)batch->rows;
        }
        host_put(h, batch, &row);
        live++;
    }
    if (live == 0) {
        ms_batch_drop(batch);
        return NULL;
    }
    if (h->mode.is_sparse) {
        batch->sel = batch->sel_store;
        batch->sel_count = live;
    }
    if (h->input_node.changelog == MS_CHANGELOG_INSERT) {
        batch->kinds = NULL;
    }
    return batch;
}

static inline void host_feed_input(op_host *h, uint32_t input, const char *text)
{
    ms_batch *batch;
    while (h->st.code == MS_OK && (batch = host_take(h, &text)) != NULL) {
        if (h->mode.is_frame) {
            ms_batch frame;
            ms_batch_frame(&frame, batch, batch->columns, batch->column_count);
            host_batch(h, input, &frame);
        } else {
            host_batch(h, input, batch);
        }
        ms_batch_drop(batch);
    }
}

/* The text "+I[1, xxx] +I[2, xxx] ..." of rows with a long string, in the test's arena. */
static inline const char *host_long_rows(op_host *h, uint32_t rows, uint32_t bytes)
{
    char *text = ms_arena_alloc(&h->arena, (size_t)rows * (bytes + 20) + 1, 1);
    size_t at = 0;
    for (uint32_t r = 1; r <= rows; r++) {
        at += (size_t)snprintf(text + at, 20, "%s+I[%u, ", r > 1 ? " " : "", r);
        memset(text + at, 'x', bytes);
        at += bytes;
        text[at++] = ']';
    }
    text[at] = '\0';
    return text;
}

static inline void host_feed(op_host *h, const char *text)
{
    host_feed_input(h, 0, text);
}

static inline void host_watermark(op_host *h, ms_time_ms watermark)
{
    ms_step step = MS_MORE;
    while (step == MS_MORE) {
        host_begin_call(h);
        step = h->op->klass->watermark != NULL ? h->op->klass->watermark(h->op, watermark)
                                               : ms_op_forward_watermark(h->op, watermark);
    }
}

static inline void host_end(op_host *h)
{
    for (uint32_t i = 0; i < h->node.input_count; i++) {
        ms_step step = h->op->klass->end != NULL ? MS_MORE : MS_DONE;
        while (step == MS_MORE) {
            host_begin_call(h);
            step = h->op->klass->end(h->op, i, MS_END_INPUT);
        }
    }
    host_drop_emitted(h);
    host_log(h, "END");
}

static inline void host_poll(op_host *h, uint32_t times)
{
    for (uint32_t i = 0; i < times; i++) {
        ms_step step = MS_MORE;
        while (step == MS_MORE) {
            host_begin_call(h);
            step = h->op->klass->poll(h->op);
        }
        host_drop_emitted(h);
        ms_arena_reset(&h->scratch);
    }
}

/* Takes a checkpoint: cut, state, snapshot. */
static inline void host_checkpoint(op_host *h, ms_checkpoint_id id)
{
    ms_step step = h->op->klass->before_barrier != NULL ? MS_MORE : MS_DONE;
    while (step == MS_MORE) {
        host_begin_call(h);
        step = h->op->klass->before_barrier(h->op, id);
    }
    if (h->op->klass->barrier != NULL) {
        assert_int_equal(h->op->klass->barrier(h->op, id, false), MS_OK);
    }
    if (ms_state_is_used(h->ctx.state)) {
        ms_buf_reset(&h->state_log);
        ms_state_cut(h->ctx.state, id);
        assert_int_equal(ms_state_write(h->ctx.state, id, true, &h->state_log, &h->st), MS_OK);
        ms_state_release_cut(h->ctx.state, id);
    }
    uint32_t persisted = h->persisted;
    if (h->op->klass->persist != NULL) {
        h->op->klass->persist(h->op, id);
    } else {
        h->persisted++;
    }
    (void)persisted;
}

static inline void host_restart(op_host *h)
{
    host_shut(h);
    host_reopen(h);
}

/* Compares everything that came out since the last comparison. */
static inline void host_expect(op_host *h, const char *expected)
{
    ms_status st = {0};
    assert_ok(ms_buf_append_byte(&h->log, '\0', &st));
    const char *got = h->log.ptr + (h->log.bytes > 1 ? 1 : 0);
    if (strcmp(got, expected) != 0) {
        fail_msg("batches of %u%s%s\n     got: %s\nexpected: %s", h->mode.batch_rows,
                 h->mode.is_sparse ? ", sparse" : "", h->mode.is_frame ? ", frames" : "", got,
                 expected);
    }
    ms_buf_reset(&h->log);
}

/* The operator failed, with this code and this message. */
static inline void host_expect_failure(op_host *h, ms_rc code, const char *message)
{
    assert_int_equal(h->st.code, code);
    assert_string_equal(h->st.message, message);
    assert_true(h->st.span.end > h->st.span.start);
    ms_status_clear(&h->st);
}

#endif
