/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Evaluating batches in parts: what comes out is the same, a part takes what it may, and the
 * account knows.
 */
#include "op_host.h"

#include "exec/eval.h"
#include "expr/build.h"

#define ROWS 24u
#define TEXT_BYTES (512u << 10)

typedef struct fixture {
    op_host host;
    ms_op op;
    msi_eval eval;
    ms_batch_pool *pool;
    ms_batch *batch;
} fixture;

/* SELECT a, b || b over ROWS rows: a is 0, 1, 2 .., b a text of so many bytes. */
static void init(fixture *f, uint32_t text_bytes)
{
    host_init(&f->host, (op_mode){2048, false, false}, "a INT, b STRING");
    op_host *h = &f->host;
    h->ctx.st = &h->st;
    h->ctx.job_arena = &h->job_arena;
    h->ctx.env = &h->env;
    h->ctx.plan = &h->plan;
    f->op = (ms_op){.ctx = &h->ctx, .node = &h->node};
    ms_expr_builder build = {.arena = &h->arena, .st = &h->st};
    const ms_schema *schema = &h->input_node.schema;
    const ms_expr *outputs[2] = {
        ms_expr_column(&h->arena, 0, schema->columns[0].type, (ms_span){1, 2}), NULL};
    const ms_expr *text = ms_expr_column(&h->arena, 1, schema->columns[1].type, (ms_span){3, 4});
    assert_int_equal(ms_build_binary(&build, "||", text, text, (ms_span){3, 9}, &outputs[1]),
                     MS_OK);
    const ms_program_spec spec = {.outputs = outputs, .output_count = 2, .input = schema};
    assert_int_equal(msi_eval_open(&f->eval, &f->op, &spec), MS_OK);
    f->pool = ms_batch_pool_create(schema, ROWS, 1);
    f->batch = ms_batch_pool_take(f->pool);
    char *bytes = ms_mem_alloc(text_bytes);
    memset(bytes, 'x', text_bytes);
    for (uint32_t r = 0; r < ROWS; r++) {
        MS_VEC_DATA(&f->batch->columns[0], int32_t)[r] = (int32_t)r;
        MS_VEC_DATA(&f->batch->columns[1], ms_view)
        [r] = ms_batch_put_str(f->batch, ms_str_make(bytes, text_bytes));
    }
    f->batch->rows = ROWS;
    ms_mem_free(bytes);
}

static void release(fixture *f)
{
    msi_eval_close(&f->eval);
    assert_int_equal(ms_account_used_bytes(&f->host.account), 0);
    ms_batch_drop(f->batch);
    ms_batch_pool_destroy(f->pool);
    host_release(&f->host);
}

/* Evaluates all of the batch; returns the runs. Rows come in order, each once. */
static uint32_t run_all(fixture *f, uint32_t text_bytes, uint32_t *rows_max_out)
{
    uint32_t runs = 0;
    uint32_t rows = 0;
    bool is_left = true;
    *rows_max_out = 0;
    while (is_left) {
        ms_batch frame;
        ms_eval_error error;
        is_left = msi_eval_run(&f->eval, f->batch, &frame, &error);
        assert_int_equal(error.code, MS_OK);
        uint32_t live = ms_batch_live(&frame);
        assert_int_equal(ms_batch_live(msi_eval_rows(&f->eval)), live);
        for (uint32_t k = 0; k < live; k++) {
            uint32_t row = ms_batch_row(&frame, k);
            assert_int_equal(MS_VEC_DATA(&frame.columns[0], int32_t)[row], rows + k);
            assert_int_equal(MS_VEC_DATA(&frame.columns[1], ms_view)[row].bytes, 2 * text_bytes);
        }
        assert_true(ms_account_used_bytes(&f->host.account) >= 2ull * live * text_bytes);
        *rows_max_out = live > *rows_max_out ? live : *rows_max_out;
        rows += live;
        runs++;
    }
    assert_int_equal(rows, ROWS);
    return runs;
}

static void small_results_take_one_run(void **state)
{
    (void)state;
    fixture f;
    uint32_t rows_max = 0;
    init(&f, 100);
    assert_int_equal(run_all(&f, 100, &rows_max), 1);
    assert_int_equal(rows_max, ROWS);
    release(&f);
}

static void large_results_take_runs_of_what_has_room(void **state)
{
    (void)state;
    fixture f;
    uint32_t rows_max = 0;
    init(&f, TEXT_BYTES);
    for (int again = 0; again < 3; again++) {
        uint32_t runs = run_all(&f, TEXT_BYTES, &rows_max);
        assert_int_equal(rows_max, MS_BATCH_BYTES_TARGET / (2 * TEXT_BYTES));
        assert_int_equal(runs, ROWS / rows_max);
    }
    release(&f);
}

static void a_selection_is_kept_in_parts(void **state)
{
    (void)state;
    fixture f;
    init(&f, TEXT_BYTES);
    const uint16_t sel[] = {1, 3, 5, 7, 9, 11, 13};
    f.batch->sel = sel;
    f.batch->sel_count = 7;
    ms_batch frame;
    ms_eval_error error;
    assert_true(msi_eval_run(&f.eval, f.batch, &frame, &error));
    assert_int_equal(ms_batch_live(&frame), 4);
    assert_int_equal(ms_batch_row(&frame, 3), 7);
    assert_false(msi_eval_run(&f.eval, f.batch, &frame, &error));
    assert_int_equal(ms_batch_live(&frame), 3);
    assert_int_equal(ms_batch_row(&frame, 0), 9);
    f.batch->sel = NULL;
    release(&f);
}

static void memory_beyond_the_budget_is_a_failure_by_name(void **state)
{
    (void)state;
    fixture f;
    ms_batch frame;
    ms_eval_error error;
    init(&f, TEXT_BYTES);
    ms_account_set_limit(&f.host.account, 1u << 20);
    assert_false(msi_eval_run(&f.eval, f.batch, &frame, &error));
    assert_int_equal(f.host.st.code, MS_NO_MEMORY);
    assert_int_equal(f.host.st.span.start, f.host.node.span.start);
    ms_status_clear(&f.host.st);
    release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_results_take_one_run),
        cmocka_unit_test(large_results_take_runs_of_what_has_room),
        cmocka_unit_test(a_selection_is_kept_in_parts),
        cmocka_unit_test(memory_beyond_the_budget_is_a_failure_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
