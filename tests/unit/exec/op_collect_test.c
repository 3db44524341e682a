/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Handing rows to the result of a statement.
 */
#include "op_host.h"

static void rows_go_to_the_result_and_a_full_one_blocks(void **state)
{
    (void)state;
    op_host h;
    host_init(&h, (op_mode){1, true, false}, "a INT");
    h.node.kind = MS_PNODE_COLLECT;
    h.input_node.changelog = MS_CHANGELOG_ALL;
    host_open(&h, "a INT");
    h.collect_room = 2;
    host_feed(&h, "+I[1] -D[1]");
    assert_false(h.is_blocked);
    host_feed(&h, "+I[2]");
    assert_true(h.is_blocked);
    host_expect(&h, "+I[1] -D[1]");
    h.collect_room = 3;
    host_feed(&h, "+I[2]");
    assert_false(h.is_blocked);
    host_watermark(&h, 5);
    host_expect(&h, "+I[2]");
    host_close(&h);
}

static void a_batch_that_is_taken_in_parts_is_brought_again(void **state)
{
    (void)state;
    op_host h;
    host_init(&h, (op_mode){3, true, false}, "a INT");
    h.node.kind = MS_PNODE_COLLECT;
    host_open(&h, "a INT");
    h.collect_rows = 2;
    h.collect_room = 1;
    host_feed(&h, "+I[1] +I[2] +I[3]");
    assert_true(h.is_blocked);
    h.collect_room = 2;
    host_feed(&h, "+I[1] +I[2] +I[3]");
    assert_false(h.is_blocked);
    host_expect(&h, "+I[1] +I[2] +I[3]");
    h.collect_rows = 0;
    h.collect_room = 3;
    host_feed(&h, "+I[4] +I[5]");
    host_expect(&h, "+I[4] +I[5]");
    host_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_go_to_the_result_and_a_full_one_blocks),
        cmocka_unit_test(a_batch_that_is_taken_in_parts_is_brought_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
