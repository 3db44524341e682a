/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all operators share: failing at a place, slices, the default for watermarks.
 */
#include "op_host.h"

static void open_union(op_host *h, op_mode mode)
{
    host_init(h, mode, "a INT");
    h->node.kind = MS_PNODE_UNION;
    host_open(h, "a INT");
}

static void the_first_failure_stays_with_its_place_or_that_of_the_node(void **state)
{
    (void)state;
    op_host h;
    open_union(&h, op_modes[0]);
    assert_int_equal(ms_op_fail(&h.op[0], MS_INVALID_CAST, ms_span_none, "row %d", 7), MS_DONE);
    assert_int_equal(h.st.code, MS_INVALID_CAST);
    assert_string_equal(h.st.message, "row 7");
    assert_int_equal(h.st.span.start, 10);
    ms_op_fail(h.op, MS_INTERNAL, (ms_span){1, 2}, "later");
    assert_int_equal(h.st.code, MS_INVALID_CAST);
    ms_status_clear(&h.st);
    ms_op_fail(h.op, MS_INTERNAL, (ms_span){1, 2}, "placed");
    assert_int_equal(h.st.span.start, 1);
    ms_status_clear(&h.st);
    host_close(&h);
}

static void a_slice_has_the_live_rows_of_a_range(void **state)
{
    (void)state;
    for (size_t i = 0; i < HOST_MODES; i++) {
        op_host h;
        open_union(&h, op_modes[i]);
        if (h.mode.batch_rows >= 7) {
            const uint16_t *identity = msi_identity_make(&h.arena);
            const char *text = "+I[1] +I[2] +I[3] +I[4] +I[5]";
            ms_batch *batch = host_take(&h, &text);
            ms_batch frame;
            msi_slice(&frame, batch, 1, 3, identity);
            host_print(&h.log, &frame);
            host_expect(&h, "+I[2] +I[3]");
            msi_slice(&frame, batch, 5, 5, identity);
            assert_int_equal(ms_batch_live(&frame), 0);
            msi_slice(&frame, batch, 0, 5, identity);
            host_print(&h.log, &frame);
            host_expect(&h, "+I[1] +I[2] +I[3] +I[4] +I[5]");
            assert_ptr_equal(frame.sel, batch->sel);
            ms_batch_drop(batch);
        }
        host_close(&h);
    }
}

static void watermarks_are_sent_on_by_default(void **state)
{
    (void)state;
    op_host h;
    open_union(&h, op_modes[0]);
    assert_int_equal(ms_op_forward_watermark(h.op, 12), MS_DONE);
    host_expect(&h, "WM(12)");
    host_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_failure_stays_with_its_place_or_that_of_the_node),
        cmocka_unit_test(a_slice_has_the_live_rows_of_a_range),
        cmocka_unit_test(watermarks_are_sent_on_by_default),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
