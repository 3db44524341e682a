/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of changes: they grow, give zeroed changes, and are used again. */
#include "testing.h"

#include "bigtable/model/change.h"

static void added_changes_are_zeroed_and_stay_in_order(void **state)
{
    (void)state;
    ms_bt_change_page page;
    ms_bt_change_page_init(&page);
    for (int64_t i = 0; i < 1000; i++) {
        ms_bt_change *change = ms_bt_change_page_add(&page);
        assert_int_equal(change->commit_micros, 0);
        assert_int_equal(change->kind, MS_BT_CHANGE_DATA);
        assert_int_equal(change->mutation_count, 0);
        assert_null(change->tokens);
        assert_int_equal(change->status.code, MS_BT_OK);
        change->commit_micros = i + 1;
        change->row_key = ms_arena_format(&page.arena, "row %d", (int)i);
    }
    assert_int_equal(page.change_count, 1000);
    for (int64_t i = 0; i < 1000; i++) {
        assert_int_equal(page.changes[i].commit_micros, i + 1);
    }
    assert_str_equal(page.changes[999].row_key, "row 999");
    ms_bt_change_page_release(&page);
}

static void a_page_is_empty_after_reset_and_used_again(void **state)
{
    (void)state;
    ms_bt_change_page page;
    ms_bt_change_page_init(&page);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 100; i++) {
            ms_bt_change *change = ms_bt_change_page_add(&page);
            assert_int_equal(change->token_count, 0);
            change->token_count = 7;
            change->token = ms_arena_copy_str(&page.arena, ms_str_lit("token"));
        }
        page.bytes = 500;
        uint32_t capacity = page.change_capacity;
        ms_bt_change_page_reset(&page);
        assert_int_equal(page.change_count, 0);
        assert_int_equal(page.bytes, 0);
        assert_int_equal(ms_arena_used_bytes(&page.arena), 0);
        assert_int_equal(page.change_capacity, capacity);
    }
    ms_bt_change_page_release(&page);
}

static void an_empty_page_owns_nothing(void **state)
{
    (void)state;
    ms_bt_change_page page;
    ms_bt_change_page_init(&page);
    ms_bt_change_page_reset(&page);
    assert_int_equal(page.change_count, 0);
    ms_bt_change_page_release(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(added_changes_are_zeroed_and_stay_in_order),
        cmocka_unit_test(a_page_is_empty_after_reset_and_used_again),
        cmocka_unit_test(an_empty_page_owns_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
