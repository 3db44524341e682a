/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constant rows as a source.
 */
#include "op_host.h"

static ms_value cells[10];

static void open_values(op_host *h, op_mode mode)
{
    host_init(h, mode, "a INT, b STRING");
    const ms_schema *schema = &h->input_node.schema;
    for (uint32_t row = 0; row < 5; row++) {
        cells[2 * row] = ms_value_int(schema->columns[0].type, row);
        cells[2 * row + 1] =
            row == 3 ? ms_value_null(schema->columns[1].type)
                     : ms_value_str(schema->columns[1].type, ms_str_lit("longer than a view"));
    }
    h->node.kind = MS_PNODE_VALUES;
    h->node.input_count = 0;
    h->node.u.values.row_count = 5;
    h->node.u.values.cells = cells;
    host_open(h, "a INT, b STRING");
}

static void all_rows_come_in_order_and_then_the_end(void **state)
{
    (void)state;
    for (size_t i = 0; i < HOST_MODES; i++) {
        op_host h;
        open_values(&h, op_modes[i]);
        uint32_t batches = (5 + h.mode.batch_rows - 1) / h.mode.batch_rows;
        host_poll(&h, batches + 2);
        host_expect(&h, "+I[0, longer than a view] +I[1, longer than a view] "
                        "+I[2, longer than a view] +I[3, null] +I[4, longer than a view] "
                        "SOURCE_END SOURCE_END");
        host_close(&h);
    }
}

static void a_restored_source_repeats_and_loses_nothing(void **state)
{
    (void)state;
    op_host h;
    open_values(&h, (op_mode){2, false, false});
    host_poll(&h, 2);
    host_checkpoint(&h, 1);
    host_poll(&h, 1);
    host_restart(&h);
    ms_buf_reset(&h.log);
    host_poll(&h, 2);
    host_expect(&h, "+I[4, longer than a view] SOURCE_END");
    host_close(&h);
}

static void only_the_first_subtask_gives_rows_out(void **state)
{
    (void)state;
    op_host h;
    open_values(&h, op_modes[0]);
    host_shut(&h);
    h.env.subtask = 1;
    h.env.parallelism = 2;
    host_reopen(&h);
    host_poll(&h, 1);
    host_checkpoint(&h, 1);
    host_expect(&h, "SOURCE_END");
    /* Its snapshot says nothing to the subtask that has the rows. */
    host_shut(&h);
    h.env.subtask = 0;
    host_reopen(&h);
    host_poll(&h, 1);
    host_expect(&h, "+I[0, longer than a view]");
    host_close(&h);
}

static void a_damaged_snapshot_is_refused(void **state)
{
    (void)state;
    op_host h;
    open_values(&h, op_modes[0]);
    assert_int_equal(h.op->klass->restore(h.op, ms_str_lit("\1\6")), MS_CORRUPT_DATA);
    ms_status_clear(&h.st);
    assert_int_equal(h.op->klass->restore(h.op, ms_str_lit("\2\1")), MS_CORRUPT_DATA);
    ms_status_clear(&h.st);
    host_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_rows_come_in_order_and_then_the_end),
        cmocka_unit_test(a_restored_source_repeats_and_loses_nothing),
        cmocka_unit_test(only_the_first_subtask_gives_rows_out),
        cmocka_unit_test(a_damaged_snapshot_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
