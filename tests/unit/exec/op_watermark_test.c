/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The watermark assigner: where watermarks stand between the rows, whatever the batches.
 */
#include "op_host.h"

#include "expr/build.h"

/* WATERMARK FOR t AS w: the expression is a column, so that a row can say its own watermark. */
static void open_assigner(op_host *h, op_mode mode, uint32_t mark)
{
    host_init(h, mode, "t TIMESTAMP(3), w TIMESTAMP(3)");
    const ms_schema *schema = &h->input_node.schema;
    h->node.kind = MS_PNODE_WATERMARK;
    h->node.u.watermark.rowtime = 0;
    h->node.u.watermark.expr =
        ms_expr_column(&h->arena, mark, schema->columns[mark].type, (ms_span){1, 2});
    h->node.u.watermark.interval_ms = 200;
    host_open(h, "t TIMESTAMP(3), w TIMESTAMP(3)");
}

#define T(ms) "1970-01-01T00:00:0" ms

static void a_watermark_follows_the_row_that_is_more_than_the_interval_ahead(void **state)
{
    (void)state;
    for (size_t i = 0; i < HOST_MODES; i++) {
        op_host h;
        open_assigner(&h, op_modes[i], 0);
        host_feed(&h, "+I[" T("1") ", null] +I[" T("1.100") ", null] +I[" T(
                          "1.200") ", null] "
                                   "+I[" T("1.201") ", null] +I[" T("1.401") ", null] +I[" T(
                                       "1.402") ", null]");
        host_expect(&h, "+I[" T("1") ", null] WM(1000) +I[" T(
                            "1.100") ", null] "
                                     "+I[" T("1.200") ", null] +I[" T(
                                         "1.201") ", null] WM(1201) "
                                                  "+I[" T("1.401") ", null] +I[" T(
                                                      "1.402") ", null] WM(1402)");
        host_close(&h);
    }
}

/* WATERMARK FOR t AS an expression that takes three MB a row on its way to t. */
static void an_expression_that_takes_much_memory_changes_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < HOST_MODES; i++) {
        op_host h;
        host_init(&h, op_modes[i], "t TIMESTAMP(3), w TIMESTAMP(3)");
        ms_expr_builder build = {.arena = &h.arena, .st = &h.st};
        const ms_span span = {1, 2};
        const ms_type *wide = ms_type_sized(&h.arena, MS_TYPE_CHAR, 3000000, true);
        const ms_expr *t = ms_expr_column(&h.arena, 0, h.input_node.schema.columns[0].type, span);
        const ms_expr *when = NULL;
        assert_int_equal(ms_build_cast(&build, t, wide, MS_BUILD_CAST, span, &when), MS_OK);
        assert_int_equal(ms_build_unary(&build, "CHAR_LENGTH", when, span, &when), MS_OK);
        assert_int_equal(
            ms_build_binary(&build, ">", when, ms_build_int(&build, 0, span), span, &when), MS_OK);
        h.node.kind = MS_PNODE_WATERMARK;
        h.node.u.watermark.interval_ms = 200;
        assert_int_equal(ms_build_case(&build, NULL, &when, &t, 1, ms_build_null(&build, span),
                                       span, &h.node.u.watermark.expr),
                         MS_OK);
        host_open(&h, "t TIMESTAMP(3), w TIMESTAMP(3)");
        host_feed(&h, "+I[" T("1") ", null] +I[" T("1.100") ", null] +I[" T(
                          "1.201") ", null] "
                                   "+I[" T("1.300") ", null] +I[" T("2") ", null]");
        host_expect(&h, "+I[" T("1") ", null] WM(1000) +I[" T(
                            "1.100") ", null] "
                                     "+I[" T("1.201") ", null] WM(1201) +I[" T(
                                         "1.300") ", null] "
                                                  "+I[" T("2") ", null] WM(2000)");
        host_close(&h);
    }
}

static void null_and_regressing_watermarks_are_ignored(void **state)
{
    (void)state;
    for (size_t i = 0; i < HOST_MODES; i++) {
        op_host h;
        open_assigner(&h, op_modes[i], 1);
        host_feed(&h, "+I[" T("1") ", " T("5") "] +I[" T("2") ", null] +I[" T("3") ", " T(
                          "4") "] "
                               "+I[" T("4") ", " T("5.200") "] +I[" T("5") ", " T("5.201") "]");
        host_expect(&h, "+I[" T("1") ", " T("5") "] WM(5000) +I[" T(
                            "2") ", null] "
                                 "+I[" T("3") ", " T("4") "] +I[" T("4") ", " T(
                                     "5.200") "] "
                                              "+I[" T("5") ", " T("5.201") "] WM(5201)");
        host_close(&h);
    }
}

static void watermarks_at_or_before_1970_are_not_sent(void **state)
{
    (void)state;
    for (size_t i = 0; i < HOST_MODES; i++) {
        op_host h;
        open_assigner(&h, op_modes[i], 0);
        host_feed(&h, "+I[1969-12-31T23:59:50, null] +I[" T("0.200") ", null]");
        host_expect(&h, "+I[1969-12-31T23:59:50, null] +I[" T("0.200") ", null]");
        host_close(&h);
    }
}

static void a_row_without_event_time_fails_after_the_rows_before_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < HOST_MODES; i++) {
        op_host h;
        open_assigner(&h, op_modes[i], 0);
        host_feed(&h, "+I[" T("1") ", null] +I[" T("1.001") ", null] +I[null, null] "
                                                            "+I[" T("9") ", null]");
        host_expect(&h, "+I[" T("1") ", null] WM(1000) +I[" T("1.001") ", null]");
        assert_string_equal(
            h.st.detail,
            "RowTime field should not be null, please convert it to a non-null long value.");
        host_expect_failure(&h, MS_NULL_ROWTIME, "the event time column \"t\" is NULL");
        host_close(&h);
    }
}

static void watermarks_from_upstream_are_swallowed_but_for_the_last(void **state)
{
    (void)state;
    op_host h;
    open_assigner(&h, op_modes[0], 0);
    host_watermark(&h, 77);
    host_watermark(&h, MS_WATERMARK_MAX);
    host_end(&h);
    host_expect(&h, "WM(MAX) END");
    host_close(&h);
}

static void a_restored_assigner_sends_its_last_watermark_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < HOST_MODES; i++) {
        op_host h;
        open_assigner(&h, op_modes[i], 0);
        host_feed(&h, "+I[" T("1") ", null] +I[" T("1.100") ", null]");
        host_checkpoint(&h, 1);
        host_feed(&h, "+I[" T("9") ", null]");
        ms_buf_reset(&h.log);
        host_restart(&h);
        host_feed(&h, "+I[" T("1.201") ", null] +I[" T("1.150") ", null]");
        host_expect(&h, "WM(1000) +I[" T("1.201") ", null] WM(1201) +I[" T("1.150") ", null]");
        host_close(&h);
    }
}

static void of_two_restored_assigners_the_slower_counts(void **state)
{
    (void)state;
    op_host h;
    open_assigner(&h, op_modes[0], 0);
    host_feed(&h, "+I[" T("5") ", null]");
    host_checkpoint(&h, 1);
    ms_buf first;
    ms_buf_init(&first, 100);
    assert_int_equal(ms_buf_append(&first, ms_buf_view(&h.snapshot), &h.st), MS_OK);
    host_feed(&h, "+I[" T("7") ", null]");
    host_checkpoint(&h, 2);
    ms_buf_reset(&h.log);
    host_restart(&h);
    assert_int_equal(h.op->klass->restore(h.op, ms_buf_view(&first)), MS_OK);
    host_feed(&h, "+I[" T("1") ", null]");
    host_expect(&h, "WM(5000) +I[" T("1") ", null]");
    assert_int_equal(h.op->klass->restore(h.op, ms_str_lit("\1\3\5")), MS_CORRUPT_DATA);
    ms_status_clear(&h.st);
    ms_buf_release(&first);
    host_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_watermark_follows_the_row_that_is_more_than_the_interval_ahead),
        cmocka_unit_test(null_and_regressing_watermarks_are_ignored),
        cmocka_unit_test(watermarks_at_or_before_1970_are_not_sent),
        cmocka_unit_test(a_row_without_event_time_fails_after_the_rows_before_it),
        cmocka_unit_test(watermarks_from_upstream_are_swallowed_but_for_the_last),
        cmocka_unit_test(a_restored_assigner_sends_its_last_watermark_again),
        cmocka_unit_test(of_two_restored_assigners_the_slower_counts),
        cmocka_unit_test(an_expression_that_takes_much_memory_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
