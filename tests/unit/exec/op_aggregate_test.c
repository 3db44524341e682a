/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Global aggregates: changes, retraction, batch mode, state.
 */
#include "op_host.h"

static ms_agg_call calls[4];

/* SELECT COUNT(*), SUM(a), and what is in calls[2 ..]. */
static void init_aggregate(op_host *h, op_mode mode, uint32_t call_count, bool coalesce)
{
    host_init(h, mode, "a INT, b STRING");
    calls[0] = (ms_agg_call){.kind = MS_AGG_COUNT_STAR, .arg = UINT32_MAX, .filter = UINT32_MAX};
    calls[1] = (ms_agg_call){.kind = MS_AGG_SUM, .arg = 0, .filter = UINT32_MAX};
    calls[2] = (ms_agg_call){.kind = MS_AGG_MAX, .arg = 1, .filter = UINT32_MAX};
    calls[3] = (ms_agg_call){.kind = MS_AGG_MIN, .arg = 1, .filter = UINT32_MAX};
    h->node.kind = MS_PNODE_AGGREGATE;
    h->node.changelog = MS_CHANGELOG_ALL;
    h->node.u.aggregate.call_count = call_count;
    h->node.u.aggregate.calls = calls;
    h->node.u.aggregate.coalesce = coalesce;
}

static void open_aggregate(op_host *h)
{
    static const char *const outputs[] = {"", "n BIGINT NOT NULL", "n BIGINT NOT NULL, s INT",
                                          "n BIGINT NOT NULL, s INT, m STRING",
                                          "n BIGINT NOT NULL, s INT, m STRING, l STRING"};
    host_open(h, outputs[h->node.u.aggregate.call_count]);
}

static void every_row_is_a_change_where_the_consumer_wants_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < HOST_MODES; i++) {
        for (int why = 0; why < 3; why++) {
            op_host h;
            init_aggregate(&h, op_modes[i], 2, why != 0);
            h.ctx.coalesce = why != 1;
            h.node.order_sensitive = why == 2;
            open_aggregate(&h);
            host_end(&h);
            host_expect(&h, "END");
            host_feed(&h, "+I[1, x] +I[null, x] +I[3, x] +I[0, x]");
            host_expect(&h, "+I[1, 1] -U[1, 1] +U[2, 1] -U[2, 1] +U[3, 4] -U[3, 4] +U[4, 4]");
            host_close(&h);
        }
    }
}

static void an_update_that_changes_nothing_is_none(void **state)
{
    (void)state;
    for (size_t i = 0; i < HOST_MODES; i++) {
        op_host h;
        init_aggregate(&h, op_modes[i], 1, false);
        calls[0].kind = MS_AGG_COUNT;
        calls[0].arg = 0;
        open_aggregate(&h);
        host_feed(&h, "+I[null, x] +I[null, x] +I[1, x] +I[null, x]");
        host_expect(&h, "+I[0] -U[0] +U[1]");
        host_close(&h);
    }
}

static void a_batch_gives_its_net_change(void **state)
{
    (void)state;
    op_host h;
    init_aggregate(&h, (op_mode){2048, true, true}, 2, true);
    open_aggregate(&h);
    host_feed(&h, "+I[1, x] +I[2, x]");
    host_feed(&h, "+I[3, x] +I[4, x] +I[5, x]");
    host_watermark(&h, 5);
    host_feed(&h, "+I[6, x]");
    host_expect(&h, "+I[2, 3] -U[2, 3] +U[5, 15] WM(5) -U[5, 15] +U[6, 21]");
    host_close(&h);
}

static void a_consumer_of_upserts_gets_no_rows_from_before(void **state)
{
    (void)state;
    for (size_t i = 0; i < HOST_MODES; i++) {
        op_host h;
        init_aggregate(&h, op_modes[i], 2, false);
        h.node.changelog = MS_CHANGELOG_UPSERT;
        h.input_node.changelog = MS_CHANGELOG_ALL;
        open_aggregate(&h);
        host_feed(&h, "+I[1, x] +I[2, x] -D[1, x] -D[2, x]");
        host_expect(&h, "+I[1, 1] +U[2, 3] +U[1, 2] -D[1, 2]");
        host_close(&h);
    }
}

static void retraction_gives_rows_back_and_ends_in_a_deletion(void **state)
{
    (void)state;
    for (size_t i = 0; i < HOST_MODES; i++) {
        op_host h;
        init_aggregate(&h, op_modes[i], 2, false);
        h.input_node.changelog = MS_CHANGELOG_ALL;
        open_aggregate(&h);
        host_feed(&h, "-D[9, x] +I[1, x] -U[1, x] +U[5, x] -D[5, x] -D[5, x] +I[2, x]");
        host_expect(&h, "+I[1, 1] -D[1, 1] +I[1, 5] -D[1, 5] +I[1, 2]");
        host_close(&h);
    }
}

static void net_changes_see_through_an_empty_moment(void **state)
{
    (void)state;
    op_host h;
    init_aggregate(&h, (op_mode){2048, false, false}, 2, true);
    h.input_node.changelog = MS_CHANGELOG_ALL;
    open_aggregate(&h);
    host_feed(&h, "-D[7, x] +I[1, x] -D[1, x]");
    host_expect(&h, "");
    host_feed(&h, "+I[1, x] -D[1, x] -D[1, x] -D[1, x] +I[4, x]");
    host_feed(&h, "-U[4, x] +U[4, x]");
    host_feed(&h, "-U[4, x] +U[5, x]");
    host_feed(&h, "-D[5, x]");
    host_expect(&h, "+I[1, 4] -U[1, 4] +U[1, 5] -D[1, 5]");
    host_close(&h);
}

static void strings_live_longer_than_their_batches(void **state)
{
    (void)state;
    for (size_t i = 0; i < HOST_MODES; i++) {
        op_host h;
        init_aggregate(&h, op_modes[i], 4, false);
        open_aggregate(&h);
        host_feed(&h, "+I[1, middle of the alphabet] +I[1, null] +I[1, n]");
        host_expect(&h, "+I[1, 1, middle of the alphabet, middle of the alphabet] "
                        "-U[1, 1, middle of the alphabet, middle of the alphabet] "
                        "+U[2, 2, middle of the alphabet, middle of the alphabet] "
                        "-U[2, 2, middle of the alphabet, middle of the alphabet] "
                        "+U[3, 3, n, middle of the alphabet]");
        host_feed(&h, "+I[0, zebra: the last of all] +I[0, aardvark: the first]");
        host_expect(&h, "-U[3, 3, n, middle of the alphabet] "
                        "+U[4, 3, zebra: the last of all, middle of the alphabet] "
                        "-U[4, 3, zebra: the last of all, middle of the alphabet] "
                        "+U[5, 3, zebra: the last of all, aardvark: the first]");
        host_feed(&h, "+I[0, b]");
        host_expect(&h, "-U[5, 3, zebra: the last of all, aardvark: the first] "
                        "+U[6, 3, zebra: the last of all, aardvark: the first]");
        host_close(&h);
    }
}

static void batch_mode_gives_one_row_at_the_end_also_for_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < HOST_MODES; i++) {
        op_host h;
        init_aggregate(&h, op_modes[i], 3, true);
        h.node.changelog = MS_CHANGELOG_INSERT;
        h.node.u.aggregate.is_batch = true;
        open_aggregate(&h);
        host_feed(&h, "+I[1, x] +I[2, a longer text than fits]");
        host_expect(&h, "");
        host_end(&h);
        host_expect(&h, "+I[2, 3, x] END");
        host_close(&h);
        init_aggregate(&h, op_modes[i], 3, true);
        h.node.u.aggregate.is_batch = true;
        open_aggregate(&h);
        host_end(&h);
        host_expect(&h, "+I[0, null, null] END");
        host_close(&h);
    }
}

static void the_accumulators_are_a_checkpointed_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < HOST_MODES; i++) {
        op_host h;
        init_aggregate(&h, op_modes[i], 3, false);
        open_aggregate(&h);
        host_checkpoint(&h, 1);
        assert_int_equal(ms_state_entries(h.ctx.state), 0);
        host_feed(&h, "+I[1, a text that is kept] +I[2, a]");
        host_checkpoint(&h, 2);
        assert_int_equal(ms_state_entries(h.ctx.state), 1);
        host_feed(&h, "+I[100, zzz]");
        ms_buf_reset(&h.log);
        host_restart(&h);
        assert_int_equal(ms_state_entries(h.ctx.state), 1);
        host_feed(&h, "+I[4, null]");
        host_expect(&h, "-U[2, 3, a text that is kept] +U[3, 7, a text that is kept]");
        host_close(&h);
    }
}

static void an_emptied_aggregate_leaves_no_state(void **state)
{
    (void)state;
    op_host h;
    init_aggregate(&h, op_modes[0], 2, false);
    h.input_node.changelog = MS_CHANGELOG_ALL;
    open_aggregate(&h);
    host_feed(&h, "+I[1, a]");
    host_checkpoint(&h, 1);
    host_feed(&h, "-D[1, a]");
    host_checkpoint(&h, 2);
    assert_int_equal(ms_state_entries(h.ctx.state), 0);
    ms_buf_reset(&h.log);
    host_restart(&h);
    host_feed(&h, "+I[2, a]");
    host_expect(&h, "+I[1, 2]");
    host_close(&h);
}

static void the_best_of_an_updating_input_is_refused(void **state)
{
    (void)state;
    op_host h;
    init_aggregate(&h, op_modes[0], 3, false);
    calls[2].span = (ms_span){30, 36};
    h.input_node.changelog = MS_CHANGELOG_ALL;
    open_aggregate(&h);
    assert_int_equal(h.st.span.start, 30);
    host_expect_failure(&h, MS_NOT_SUPPORTED, "MAX over an updating input is not supported");
    host_close(&h);
}

static void changes_before_an_overflow_come_first(void **state)
{
    (void)state;
    for (size_t i = 0; i < HOST_MODES; i++) {
        op_host h;
        init_aggregate(&h, op_modes[i], 2, false);
        calls[1].span = (ms_span){30, 36};
        h.plan.overflow_is_error = true;
        open_aggregate(&h);
        host_feed(&h, "+I[2147483646, x] +I[1, x] +I[1, x] +I[5, x]");
        host_expect(&h, "+I[1, 2147483646] -U[1, 2147483646] +U[2, 2147483647]");
        host_expect_failure(&h, MS_NUMERIC_OUT_OF_RANGE,
                            "aggregate SUM: the sum does not fit its type");
        host_close(&h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_a_change_where_the_consumer_wants_it),
        cmocka_unit_test(an_update_that_changes_nothing_is_none),
        cmocka_unit_test(a_batch_gives_its_net_change),
        cmocka_unit_test(a_consumer_of_upserts_gets_no_rows_from_before),
        cmocka_unit_test(retraction_gives_rows_back_and_ends_in_a_deletion),
        cmocka_unit_test(net_changes_see_through_an_empty_moment),
        cmocka_unit_test(strings_live_longer_than_their_batches),
        cmocka_unit_test(batch_mode_gives_one_row_at_the_end_also_for_nothing),
        cmocka_unit_test(the_accumulators_are_a_checkpointed_table),
        cmocka_unit_test(an_emptied_aggregate_leaves_no_state),
        cmocka_unit_test(the_best_of_an_updating_input_is_refused),
        cmocka_unit_test(changes_before_an_overflow_come_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
