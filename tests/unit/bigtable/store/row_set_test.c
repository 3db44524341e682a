/* SPDX-License-Identifier: Apache-2.0 */
/* The set of rows of a batch: who may join whom. */
#include "testing.h"

#include "bigtable/store/row_set.h"

static void row_that_was_written_is_not_for_readers_until_reset(void **state)
{
    (void)state;
    msi_row_set *set = msi_row_set_create();
    for (int round = 0; round < 3; round++) {
        assert_true(msi_row_set_add(set, 1, ms_str_lit("a"), MSI_ROW_READ));
        assert_true(msi_row_set_add(set, 1, ms_str_lit("b"), MSI_ROW_READ));
        assert_true(msi_row_set_add(set, 2, ms_str_lit("a"), MSI_ROW_READ));
        assert_false(msi_row_set_add(set, 1, ms_str_lit("a"), MSI_ROW_READ));
        assert_false(msi_row_set_add(set, 2, ms_str_lit("a"), MSI_ROW_READ));
        msi_row_set_reset(set);
    }
    msi_row_set_destroy(set);
}

/* Rows: what was done before. Columns: what comes. Both in the order of the bits. */
static void who_may_join_whom(void **state)
{
    (void)state;
    static const bool expected[5][5] = {
        /* SET    ADD    RULE   READ   LOOK */
        {true, true, false, false, false},  /* SET */
        {true, true, true, false, false},   /* ADD */
        {false, true, true, false, false},  /* RULE */
        {true, false, false, false, false}, /* READ */
        {true, true, true, true, true},     /* LOOK: it wrote nothing */
    };
    msi_row_set *set = msi_row_set_create();
    for (uint32_t before = 0; before < 5; before++) {
        for (uint32_t use = 0; use < 5; use++) {
            msi_row_set_reset(set);
            assert_true(msi_row_set_add(set, 1, ms_str_lit("a"), 1u << before));
            assert_int_equal(msi_row_set_add(set, 1, ms_str_lit("a"), 1u << use),
                             expected[before][use]);
        }
    }
    msi_row_set_destroy(set);
}

static void all_that_was_done_counts(void **state)
{
    (void)state;
    msi_row_set *set = msi_row_set_create();
    assert_true(msi_row_set_add(set, 1, ms_str_lit("a"), MSI_ROW_ADD));
    assert_true(msi_row_set_add(set, 1, ms_str_lit("a"), MSI_ROW_SET));
    assert_false(msi_row_set_add(set, 1, ms_str_lit("a"), MSI_ROW_RULE));
    /* What was refused was not noted. */
    assert_true(msi_row_set_add(set, 1, ms_str_lit("a"), MSI_ROW_SET | MSI_ROW_ADD));
    msi_row_set_destroy(set);
}

static void full_set_lets_nobody_join(void **state)
{
    (void)state;
    msi_row_set *set = msi_row_set_create();
    uint32_t added = 0;
    for (uint32_t row = 0; row < 100000; row++) {
        ms_str key = {(const char *)&row, sizeof(row)};
        added += msi_row_set_add(set, 1, key, MSI_ROW_SET);
    }
    assert_int_equal(added, 32768);
    msi_row_set_reset(set);
    assert_true(msi_row_set_add(set, 1, ms_str_lit("a"), MSI_ROW_SET));
    msi_row_set_destroy(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(row_that_was_written_is_not_for_readers_until_reset),
        cmocka_unit_test(who_may_join_whom),
        cmocka_unit_test(all_that_was_done_counts),
        cmocka_unit_test(full_set_lets_nobody_join),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
