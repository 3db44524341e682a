/* SPDX-License-Identifier: Apache-2.0 */
/* The set of rows of a batch. */
#include "testing.h"

#include "bigtable/store/store_priv.h"

static void row_is_in_it_once_until_reset(void **state)
{
    (void)state;
    msi_row_set *set = msi_row_set_create();
    for (int round = 0; round < 3; round++) {
        assert_true(msi_row_set_add(set, 1, ms_str_lit("a")));
        assert_true(msi_row_set_add(set, 1, ms_str_lit("b")));
        assert_true(msi_row_set_add(set, 2, ms_str_lit("a")));
        assert_false(msi_row_set_add(set, 1, ms_str_lit("a")));
        assert_false(msi_row_set_add(set, 2, ms_str_lit("a")));
        msi_row_set_reset(set);
    }
    msi_row_set_destroy(set);
}

static void full_set_says_so(void **state)
{
    (void)state;
    msi_row_set *set = msi_row_set_create();
    uint32_t added = 0;
    for (uint32_t row = 0; row < 100000; row++) {
        ms_str key = {(const char *)&row, sizeof(row)};
        added += msi_row_set_add(set, 1, key);
    }
    assert_int_equal(added, 32768);
    msi_row_set_reset(set);
    assert_true(msi_row_set_add(set, 1, ms_str_lit("a")));
    msi_row_set_destroy(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(row_is_in_it_once_until_reset),
        cmocka_unit_test(full_set_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
