/* SPDX-License-Identifier: Apache-2.0 */
/*
 * UNION ALL passes everything on.
 */
#include "op_host.h"

static void rows_of_all_inputs_pass_with_their_kinds(void **state)
{
    (void)state;
    for (size_t i = 0; i < HOST_MODES; i++) {
        op_host h;
        host_init(&h, op_modes[i], "a INT, b STRING");
        h.node.kind = MS_PNODE_UNION;
        h.node.input_count = 2;
        h.input_node.changelog = MS_CHANGELOG_ALL;
        host_open(&h, "a INT, b STRING");
        host_feed_input(&h, 0, "+I[1, x] -U[2, null]");
        host_feed_input(&h, 1, "+U[2, a text of some length] -D[1, x]");
        host_watermark(&h, 7);
        host_expect(&h, "+I[1, x] -U[2, null] +U[2, a text of some length] -D[1, x] WM(7)");
        host_end(&h);
        host_expect(&h, "END");
        host_close(&h);
    }
}

static void a_pooled_batch_is_passed_on_and_not_copied(void **state)
{
    (void)state;
    op_host h;
    host_init(&h, (op_mode){2048, false, false}, "a INT");
    h.node.kind = MS_PNODE_UNION;
    host_open(&h, "a INT");
    const char *text = "+I[1]";
    ms_batch *batch = host_take(&h, &text);
    host_begin_call(&h);
    assert_int_equal(h.op->klass->batch(h.op, 0, batch), MS_DONE);
    assert_ptr_equal(h.emitted, batch);
    assert_false(ms_batch_is_unique(batch));
    host_drop_emitted(&h);
    assert_true(ms_batch_is_unique(batch));
    ms_batch_drop(batch);
    host_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_all_inputs_pass_with_their_kinds),
        cmocka_unit_test(a_pooled_batch_is_passed_on_and_not_copied),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
