/* SPDX-License-Identifier: Apache-2.0 */
/*
 * OFFSET and FETCH by arrival.
 */
#include "op_host.h"

static void open_limit(op_host *h, op_mode mode, uint64_t offset, uint64_t limit)
{
    host_init(h, mode, "a INT");
    h->node.kind = MS_PNODE_LIMIT;
    h->node.u.limit.offset = offset;
    h->node.u.limit.limit = limit;
    host_open(h, "a INT");
}

static void rows_between_offset_and_limit_pass_in_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < HOST_MODES; i++) {
        op_host h;
        open_limit(&h, op_modes[i], 2, 3);
        host_feed(&h, "+I[1] +I[2] +I[3] +I[4] +I[5] +I[6] +I[7]");
        host_watermark(&h, 9);
        host_expect(&h, "+I[3] +I[4] +I[5] WM(9)");
        assert_true(h.satisfied > 0);
        host_feed(&h, "+I[8]");
        host_expect(&h, "");
        host_close(&h);
    }
}

static void an_offset_alone_passes_all_the_rest(void **state)
{
    (void)state;
    for (size_t i = 0; i < HOST_MODES; i++) {
        op_host h;
        open_limit(&h, op_modes[i], 1, UINT64_MAX);
        host_feed(&h, "+I[1] +I[2] +I[3]");
        host_feed(&h, "+I[4] +I[5]");
        host_expect(&h, "+I[2] +I[3] +I[4] +I[5]");
        assert_int_equal(h.satisfied, 0);
        host_close(&h);
    }
}

static void a_limit_of_zero_passes_nothing(void **state)
{
    (void)state;
    op_host h;
    open_limit(&h, op_modes[0], 0, 0);
    host_feed(&h, "+I[1]");
    host_expect(&h, "");
    assert_int_equal(h.satisfied, 1);
    host_close(&h);
}

static void a_restored_limit_goes_on_counting(void **state)
{
    (void)state;
    for (size_t i = 0; i < HOST_MODES; i++) {
        op_host h;
        open_limit(&h, op_modes[i], 1, 3);
        host_feed(&h, "+I[1] +I[2]");
        host_checkpoint(&h, 1);
        host_feed(&h, "+I[3]");
        host_expect(&h, "+I[2] +I[3]");
        host_restart(&h);
        host_feed(&h, "+I[3] +I[4] +I[5]");
        host_expect(&h, "+I[3] +I[4]");
        host_close(&h);
    }
}

static void an_updating_input_is_refused(void **state)
{
    (void)state;
    op_host h;
    host_init(&h, op_modes[0], "a INT");
    h.node.kind = MS_PNODE_LIMIT;
    h.input_node.changelog = MS_CHANGELOG_ALL;
    host_open(&h, "a INT");
    host_expect_failure(&h, MS_NOT_SUPPORTED,
                        "LIMIT without ORDER BY over an updating input is not supported");
    host_close(&h);
}

static void a_damaged_snapshot_is_refused(void **state)
{
    (void)state;
    op_host h;
    open_limit(&h, op_modes[0], 1, 3);
    assert_int_equal(h.op->klass->restore(h.op, ms_str_lit("\1\5\1")), MS_CORRUPT_DATA);
    ms_status_clear(&h.st);
    assert_int_equal(h.op->klass->restore(h.op, ms_str_lit("\1")), MS_CORRUPT_DATA);
    ms_status_clear(&h.st);
    host_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_between_offset_and_limit_pass_in_order),
        cmocka_unit_test(an_offset_alone_passes_all_the_rest),
        cmocka_unit_test(a_limit_of_zero_passes_nothing),
        cmocka_unit_test(a_restored_limit_goes_on_counting),
        cmocka_unit_test(an_updating_input_is_refused),
        cmocka_unit_test(a_damaged_snapshot_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
