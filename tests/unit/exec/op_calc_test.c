/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters and projections. What expressions compute is tested in expr/; here it is how rows pass.
 */
#include "op_host.h"

#include "expr/build.h"

static ms_expr_builder build;

static void open_calc(op_host *h, op_mode mode)
{
    host_init(h, mode, "a INT, b STRING");
    build = (ms_expr_builder){.arena = &h->arena, .st = &h->st};
    h->node.kind = MS_PNODE_CALC;
    h->input_node.changelog = MS_CHANGELOG_ALL;
}

static const ms_expr *column(op_host *h, uint32_t index)
{
    const ms_schema *schema = &h->input_node.schema;
    return ms_expr_column(&h->arena, index, schema->columns[index].type, (ms_span){1, 2});
}

static const ms_expr *binary(const char *name, const ms_expr *left, int32_t right, ms_span span)
{
    const ms_expr *out = NULL;
    const ms_expr *number = ms_build_int(&build, right, span);
    assert_int_equal(ms_build_binary(&build, name, left, number, span, &out), MS_OK);
    return out;
}

static void set(op_host *h, const ms_expr *filter, const ms_expr *first, const ms_expr *second)
{
    const ms_expr **exprs = ms_arena_array(&h->arena, const ms_expr *, 2);
    exprs[0] = first;
    exprs[1] = second;
    h->node.u.calc.filter = filter;
    h->node.u.calc.exprs = exprs;
    h->node.u.calc.expr_count = 2;
}

static void the_filter_narrows_and_the_projections_compute(void **state)
{
    (void)state;
    for (size_t i = 0; i < HOST_MODES; i++) {
        op_host h;
        open_calc(&h, op_modes[i]);
        set(&h, binary(">", column(&h, 0), 1, (ms_span){3, 4}), column(&h, 1),
            binary("*", column(&h, 0), 2, (ms_span){5, 6}));
        host_open(&h, "b STRING, c INT");
        host_feed(&h, "+I[1, x] +I[2, y of some length] -U[3, null] +U[null, z] -D[4, w]");
        host_watermark(&h, 3);
        host_expect(&h, "+I[y of some length, 4] -U[null, 6] -D[w, 8] WM(3)");
        host_close(&h);
    }
}

static void rows_before_a_failing_one_come_first(void **state)
{
    (void)state;
    for (size_t i = 0; i < HOST_MODES; i++) {
        op_host h;
        open_calc(&h, op_modes[i]);
        const ms_expr *divided = NULL;
        const ms_expr *ten = ms_build_int(&build, 10, (ms_span){30, 32});
        assert_int_equal(
            ms_build_binary(&build, "/", ten, column(&h, 0), (ms_span){30, 36}, &divided), MS_OK);
        set(&h, NULL, column(&h, 1), divided);
        host_open(&h, "b STRING, c INT");
        host_feed(&h, "+I[1, x] +I[5, y] +I[0, z] +I[2, w]");
        host_expect(&h, "+I[x, 10] +I[y, 2]");
        assert_int_equal(h.st.code, MS_DIVISION_BY_ZERO);
        assert_int_equal(h.st.span.start, 30);
        ms_status_clear(&h.st);
        host_close(&h);
    }
}

static void a_failure_in_the_first_row_is_reported_at_once(void **state)
{
    (void)state;
    op_host h;
    open_calc(&h, (op_mode){2048, false, false});
    set(&h, binary("=", binary("%", column(&h, 0), 0, (ms_span){40, 45}), 1, (ms_span){40, 50}),
        column(&h, 1), column(&h, 0));
    host_open(&h, "b STRING, c INT");
    host_feed(&h, "+I[1, x] +I[5, y]");
    host_expect(&h, "");
    assert_int_equal(h.st.code, MS_DIVISION_BY_ZERO);
    assert_int_equal(h.calls, 1);
    ms_status_clear(&h.st);
    host_close(&h);
}

/* Strings of half a MiB, joined with themselves: a batch of what comes out has four. */
static void results_that_are_large_come_in_smaller_batches(void **state)
{
    (void)state;
    op_host h;
    open_calc(&h, (op_mode){2048, false, false});
    h.input_node.changelog = MS_CHANGELOG_INSERT;
    const ms_expr *joined = NULL;
    assert_int_equal(
        ms_build_binary(&build, "||", column(&h, 1), column(&h, 1), (ms_span){5, 9}, &joined),
        MS_OK);
    ms_expr_builder *b = &build;
    const ms_expr *length = NULL;
    assert_int_equal(ms_build_unary(b, "CHAR_LENGTH", joined, (ms_span){5, 9}, &length), MS_OK);
    set(&h, NULL, column(&h, 0), length);
    host_open(&h, "a INT, c INT");
    host_feed(&h, host_long_rows(&h, 10, 512u << 10));
    host_expect(&h, "+I[1, 1048576] +I[2, 1048576] +I[3, 1048576] +I[4, 1048576] +I[5, 1048576] "
                    "+I[6, 1048576] +I[7, 1048576] +I[8, 1048576] +I[9, 1048576] +I[10, 1048576]");
    assert_int_equal(h.emitted_rows_max, 4);
    assert_true(ms_account_peak_bytes(&h.account) < 3 * MS_BATCH_BYTES_TARGET);
    host_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_filter_narrows_and_the_projections_compute),
        cmocka_unit_test(rows_before_a_failing_one_come_first),
        cmocka_unit_test(a_failure_in_the_first_row_is_reported_at_once),
        cmocka_unit_test(results_that_are_large_come_in_smaller_batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
