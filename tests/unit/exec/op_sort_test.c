/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ORDER BY to the end of the input.
 */
#include "op_host.h"

static ms_sort_key keys[2];

static void open_sort(op_host *h, op_mode mode, uint32_t key_count, uint64_t limit, uint64_t offset)
{
    host_init(h, mode, "a INT, b STRING");
    h->node.kind = MS_PNODE_SORT;
    h->node.u.sort.key_count = key_count;
    h->node.u.sort.keys = keys;
    h->node.u.sort.limit = limit;
    h->node.u.sort.offset = offset;
}

static void rows_come_out_in_order_at_the_end_before_the_maximum_watermark(void **state)
{
    (void)state;
    keys[0] = (ms_sort_key){.column = 0, .nulls_first = true};
    for (size_t i = 0; i < HOST_MODES; i++) {
        op_host h;
        open_sort(&h, op_modes[i], 1, UINT64_MAX, 0);
        host_open(&h, "a INT, b STRING");
        host_feed(&h,
                  "+I[3, c] +I[1, first] +I[null, a longer text than fits] +I[2, b] +I[1, 2nd]");
        host_watermark(&h, 50);
        host_watermark(&h, MS_WATERMARK_MAX);
        host_expect(&h, "");
        host_end(&h);
        host_expect(&h, "+I[null, a longer text than fits] +I[1, first] +I[1, 2nd] +I[2, b] "
                        "+I[3, c] WM(MAX) END");
        host_close(&h);
    }
}

static void directions_and_nulls_are_each_keys_own(void **state)
{
    (void)state;
    for (size_t i = 0; i < HOST_MODES; i++) {
        op_host h;
        keys[0] = (ms_sort_key){.column = 0, .descending = true, .nulls_first = false};
        keys[1] = (ms_sort_key){.column = 1, .nulls_first = false};
        open_sort(&h, op_modes[i], 2, UINT64_MAX, 0);
        host_open(&h, "a INT, b STRING");
        host_feed(&h, "+I[1, null] +I[null, x] +I[1, a] +I[2, null]");
        host_end(&h);
        host_expect(&h, "+I[2, null] +I[1, a] +I[1, null] +I[null, x] WM(MAX) END");
        host_close(&h);

        keys[0] = (ms_sort_key){.column = 0, .descending = true, .nulls_first = true};
        keys[1] = (ms_sort_key){.column = 1, .descending = true, .nulls_first = true};
        open_sort(&h, op_modes[i], 2, UINT64_MAX, 0);
        host_open(&h, "a INT, b STRING");
        host_feed(&h, "+I[1, null] +I[null, x] +I[1, a] +I[2, null]");
        host_end(&h);
        host_expect(&h, "+I[null, x] +I[2, null] +I[1, null] +I[1, a] WM(MAX) END");
        host_close(&h);
    }
}

static void limit_and_offset_cut_the_order(void **state)
{
    (void)state;
    keys[0] = (ms_sort_key){.column = 0, .nulls_first = true};
    for (size_t i = 0; i < HOST_MODES; i++) {
        static const uint64_t limits[] = {2, UINT64_MAX - 1};
        for (int l = 0; l < 2; l++) {
            op_host h;
            open_sort(&h, op_modes[i], 1, limits[l], 1);
            host_open(&h, "a INT, b STRING");
            host_feed(&h, "+I[5, e] +I[4, d] +I[3, c] +I[2, b] +I[1, a] +I[2, later]");
            host_end(&h);
            host_expect(&h, l == 0
                                ? "+I[2, b] +I[2, later] WM(MAX) END"
                                : "+I[2, b] +I[2, later] +I[3, c] +I[4, d] +I[5, e] WM(MAX) END");
            host_close(&h);
        }
    }
    op_host h;
    open_sort(&h, op_modes[0], 1, 0, 0);
    host_open(&h, "a INT, b STRING");
    host_feed(&h, "+I[5, e]");
    host_end(&h);
    host_expect(&h, "WM(MAX) END");
    host_close(&h);
}

static void an_updating_input_is_folded(void **state)
{
    (void)state;
    keys[0] = (ms_sort_key){.column = 0, .nulls_first = true};
    for (size_t i = 0; i < HOST_MODES; i++) {
        op_host h;
        open_sort(&h, op_modes[i], 1, 3, 0);
        h.input_node.changelog = MS_CHANGELOG_ALL;
        host_open(&h, "a INT, b STRING");
        host_feed(&h, "+I[3, c] +I[1, a] -U[3, c] +U[2, c] +I[9, z] -D[9, z] +I[1, a] +I[4, d]");
        host_end(&h);
        host_expect(&h, "+I[1, a] +I[1, a] +I[2, c] WM(MAX) END");
        host_close(&h);
    }
}

/* Many steps give no row: the operator lets others run in between. */
static void long_folding_is_spread_over_calls(void **state)
{
    (void)state;
    op_host h;
    keys[0] = (ms_sort_key){.column = 0, .nulls_first = true};
    open_sort(&h, (op_mode){2048, false, false}, 1, UINT64_MAX, 0);
    h.input_node.changelog = MS_CHANGELOG_ALL;
    host_open(&h, "a INT, b STRING");
    for (int i = 0; i < 5000; i++) {
        host_feed(&h, "+I[3, c] -D[3, c]");
    }
    h.calls = 0;
    host_end(&h);
    assert_true(h.calls > 2);
    host_expect(&h, "WM(MAX) END");
    host_close(&h);
}

static void rows_held_are_in_the_checkpoint(void **state)
{
    (void)state;
    keys[0] = (ms_sort_key){.column = 0, .nulls_first = true};
    for (size_t i = 0; i < HOST_MODES; i++) {
        for (int l = 0; l < 2; l++) {
            op_host h;
            open_sort(&h, op_modes[i], 1, l == 0 ? UINT64_MAX : 3, 0);
            host_open(&h, "a INT, b STRING");
            host_feed(&h, "+I[3, c] +I[1, a]");
            host_checkpoint(&h, 1);
            host_feed(&h, "+I[0, lost]");
            host_restart(&h);
            host_feed(&h, "+I[2, b]");
            host_end(&h);
            host_expect(&h, "+I[1, a] +I[2, b] +I[3, c] WM(MAX) END");
            host_checkpoint(&h, 2);
            assert_int_equal(h.snapshot.bytes, 2);
            host_close(&h);
        }
    }
}

static void a_sort_beyond_its_budget_names_the_setting(void **state)
{
    (void)state;
    op_host h;
    keys[0] = (ms_sort_key){.column = 0, .nulls_first = true};
    open_sort(&h, (op_mode){2048, false, false}, 1, UINT64_MAX, 0);
    host_open(&h, "a INT, b STRING");
    ms_account_set_limit(&h.account, 1u << 20);
    for (int i = 0; i < 40000 && h.st.code == MS_OK; i++) {
        host_feed(&h, "+I[3, a text that needs some room in the memory of the sort]");
    }
    assert_int_equal(h.st.code, MS_NO_MEMORY);
    assert_true(strstr(h.st.message, "test") != NULL || strstr(h.st.hint, "test.memory") != NULL);
    assert_int_equal(h.st.span.start, 10);
    ms_status_clear(&h.st);
    ms_account_set_limit(&h.account, MS_ACCOUNT_UNLIMITED);
    host_close(&h);
}

static void a_damaged_snapshot_is_refused(void **state)
{
    (void)state;
    op_host h;
    open_sort(&h, op_modes[0], 1, UINT64_MAX, 0);
    host_open(&h, "a INT, b STRING");
    assert_int_equal(h.op->klass->restore(h.op, ms_str_lit("")), MS_CORRUPT_DATA);
    ms_status_clear(&h.st);
    assert_int_equal(h.op->klass->restore(h.op, ms_str_lit("\1\5")), MS_CORRUPT_DATA);
    ms_status_clear(&h.st);
    host_close(&h);
}

static void long_rows_come_out_in_smaller_batches(void **state)
{
    (void)state;
    op_host h;
    keys[0] = (ms_sort_key){.column = 0, .nulls_first = true};
    open_sort(&h, (op_mode){2048, false, false}, 1, UINT64_MAX, 0);
    host_open(&h, "a INT, b STRING");
    const char *rows = host_long_rows(&h, 10, 1u << 20);
    host_feed(&h, rows);
    host_end(&h);
    host_expect(&h, ms_arena_format(&h.arena, "%s WM(MAX) END", rows).ptr);
    assert_int_equal(h.emitted_rows_max, 4);
    host_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_out_in_order_at_the_end_before_the_maximum_watermark),
        cmocka_unit_test(directions_and_nulls_are_each_keys_own),
        cmocka_unit_test(limit_and_offset_cut_the_order),
        cmocka_unit_test(an_updating_input_is_folded),
        cmocka_unit_test(long_folding_is_spread_over_calls),
        cmocka_unit_test(rows_held_are_in_the_checkpoint),
        cmocka_unit_test(a_sort_beyond_its_budget_names_the_setting),
        cmocka_unit_test(a_damaged_snapshot_is_refused),
        cmocka_unit_test(long_rows_come_out_in_smaller_batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
