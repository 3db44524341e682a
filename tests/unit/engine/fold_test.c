/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The fold of a changelog against a naive multiset.
 */
#include "testing.h"

#include "engine/engine_priv.h"
#include "type/text.h"

typedef struct bench {
    ms_status st;
    ms_arena arena;
    ms_account account;
    ms_field fields[2];
    ms_schema schema;
    ms_batch_pool *pool;
    msi_fold *fold;
} bench;

static void open_bench(bench *b)
{
    *b = (bench){.st = {0}};
    ms_arena_init(&b->arena, 0);
    ms_account_init(&b->account, NULL, "test", NULL, MS_ACCOUNT_UNLIMITED);
    b->fields[0] = (ms_field){ms_str_lit("i"), ms_type_simple(&b->arena, MS_TYPE_BIGINT, true)};
    b->fields[1] = (ms_field){ms_str_lit("t"), ms_type_string(&b->arena, true)};
    b->schema = (ms_schema){2, b->fields};
    b->pool = ms_batch_pool_create(&b->schema, 64, 1);
    b->fold = msi_fold_create(&b->schema, &b->account);
}

static void close_bench(bench *b)
{
    msi_fold_destroy(b->fold);
    ms_batch_pool_destroy(b->pool);
    assert_int_equal(ms_account_used_bytes(&b->account), 0);
    ms_account_release(&b->account);
    ms_arena_release(&b->arena);
}

/* One change; a negative value is (NULL, "a text too long for a view"). */
static ms_rc change(bench *b, ms_row_kind kind, int64_t value)
{
    ms_batch *batch = ms_batch_pool_take(b->pool);
    MS_VEC_DATA(&batch->columns[0], int64_t)[0] = value;
    ms_str text = value < 0 ? ms_str_lit("a text too long for a view") : ms_str_lit("x");
    MS_VEC_DATA(&batch->columns[1], ms_view)[0] = ms_batch_put_str(batch, text);
    if (value < 0) {
        ms_bit_clear(ms_batch_validity(batch, 0), 0);
    }
    ms_batch_kinds(batch)[0] = (uint8_t)kind;
    batch->kinds = batch->kind_store;
    batch->rows = 1;
    ms_rc rc = msi_fold_add(b->fold, batch, &b->st);
    ms_batch_drop(batch);
    return rc;
}

/* The values that are left, in order; NULL is -1. */
static uint32_t read_rows(bench *b, int64_t *values, uint32_t max)
{
    uint32_t count = 0;
    ms_batch *batch = NULL;
    for (;;) {
        assert_int_equal(msi_fold_next(b->fold, &batch, &b->st), MS_OK);
        if (batch == NULL) {
            return count;
        }
        for (uint32_t r = 0; r < batch->rows; r++) {
            assert_in_range(count, 0, max - 1);
            values[count++] = ms_vec_is_null(&batch->columns[0], r)
                                  ? -1
                                  : MS_VEC_DATA(&batch->columns[0], int64_t)[r];
        }
    }
}

static void rows_are_left_in_the_order_in_which_they_came(void **state)
{
    (void)state;
    bench b;
    int64_t left[10];
    open_bench(&b);
    assert_int_equal(change(&b, MS_ROW_INSERT, 1), MS_OK);
    assert_int_equal(change(&b, MS_ROW_INSERT, -1), MS_OK);
    assert_int_equal(change(&b, MS_ROW_INSERT, 1), MS_OK);
    assert_int_equal(change(&b, MS_ROW_INSERT, 3), MS_OK);
    assert_int_equal(change(&b, MS_ROW_UPDATE_BEFORE, 1), MS_OK);
    assert_int_equal(change(&b, MS_ROW_UPDATE_AFTER, 4), MS_OK);
    assert_int_equal(change(&b, MS_ROW_DELETE, 3), MS_OK);
    assert_int_equal(read_rows(&b, left, 10), 3);
    assert_int_equal(left[0], 1);
    assert_int_equal(left[1], -1);
    assert_int_equal(left[2], 4);
    close_bench(&b);
}

static void removing_what_is_not_there_is_an_error(void **state)
{
    (void)state;
    bench b;
    open_bench(&b);
    assert_int_equal(change(&b, MS_ROW_INSERT, 1), MS_OK);
    assert_int_equal(change(&b, MS_ROW_DELETE, 2), MS_INTERNAL);
    assert_int_equal(change(&b, MS_ROW_DELETE, 1), MS_OK);
    assert_int_equal(change(&b, MS_ROW_DELETE, 1), MS_INTERNAL);
    close_bench(&b);
}

/* The naive multiset: a list from which the newest equal value is taken. */
static void any_changelog_folds_to_its_multiset(void **state)
{
    (void)state;
    static int64_t naive[40000];
    static int64_t left[40000];
    for (uint32_t round = 0; round < 6; round++) {
        bench b;
        open_bench(&b);
        uint32_t count = 0;
        uint64_t seed = round + 1;
        uint32_t range = round % 2 == 0 ? 5 : 5000;
        for (uint32_t i = 0; i < 30000; i++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
            bool adds = count == 0 || (seed >> 40) % 100 < (round < 3 ? 50u : 60u);
            if (adds) {
                naive[count] = (int64_t)((seed >> 33) % range) - 1;
                assert_int_equal(change(&b,
                                        (seed >> 50) % 2 == 0 ? MS_ROW_INSERT : MS_ROW_UPDATE_AFTER,
                                        naive[count]),
                                 MS_OK);
                count++;
                continue;
            }
            int64_t value = naive[(seed >> 33) % count];
            uint32_t at = count;
            do {
                at--;
            } while (naive[at] != value);
            memmove(naive + at, naive + at + 1, (count - at - 1) * sizeof *naive);
            count--;
            assert_int_equal(change(&b, MS_ROW_DELETE, value), MS_OK);
        }
        assert_int_equal(read_rows(&b, left, 40000), count);
        assert_memory_equal(left, naive, count * sizeof *naive);
        close_bench(&b);
    }
}

static void equal_rows_cost_no_more_than_others_and_memory_is_given_back(void **state)
{
    (void)state;
    bench b;
    int64_t left[10];
    open_bench(&b);
    for (uint32_t i = 0; i < 60000; i++) {
        assert_int_equal(change(&b, MS_ROW_INSERT, 7), MS_OK);
    }
    for (uint32_t i = 0; i < 59999; i++) {
        assert_int_equal(change(&b, MS_ROW_DELETE, 7), MS_OK);
    }
    uint64_t used = ms_account_used_bytes(&b.account);
    for (uint32_t i = 0; i < 200000; i++) {
        assert_int_equal(change(&b, MS_ROW_UPDATE_BEFORE, 7), MS_OK);
        assert_int_equal(change(&b, MS_ROW_UPDATE_AFTER, 7), MS_OK);
    }
    assert_true(ms_account_used_bytes(&b.account) <= used + 200000);
    assert_int_equal(read_rows(&b, left, 10), 1);
    close_bench(&b);
}

static void an_account_at_its_limit_refuses_rows(void **state)
{
    (void)state;
    bench b;
    open_bench(&b);
    ms_account_set_limit(&b.account, 100);
    assert_int_equal(change(&b, MS_ROW_INSERT, 1), MS_NO_MEMORY);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_left_in_the_order_in_which_they_came),
        cmocka_unit_test(removing_what_is_not_there_is_an_error),
        cmocka_unit_test(any_changelog_folds_to_its_multiset),
        cmocka_unit_test(equal_rows_cost_no_more_than_others_and_memory_is_given_back),
        cmocka_unit_test(an_account_at_its_limit_refuses_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
