/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorting records, against the simplest thing that sorts: every row is kept and compared.
 */
#include "testing.h"

#include "base/env.h"
#include "exec/sorter.h"

/* A row is its number in four bytes, behind a key of a few letters, so that many keys are equal. */
typedef struct model_row {
    char key[8];
    uint32_t number;
} model_row;

static int compare_rows(const void *a, const void *b)
{
    const model_row *left = a;
    const model_row *right = b;
    int order = strcmp(left->key, right->key);
    return order != 0 ? order : (left->number > right->number) - (left->number < right->number);
}

static model_row *make_rows(uint32_t count, uint64_t seed)
{
    ms_env_random random;
    ms_env_random_init(&random, seed);
    model_row *rows = calloc(count, sizeof(model_row));
    for (uint32_t i = 0; i < count; i++) {
        uint64_t length = ms_env_random_below(&random, 7);
        for (uint64_t c = 0; c < length; c++) {
            rows[i].key[c] = (char)('a' + ms_env_random_below(&random, 4));
        }
        rows[i].number = i;
    }
    return rows;
}

static void init_sorter(msi_sorter *sorter, ms_account *account, uint64_t rows_max, bool folds)
{
    ms_account_init(account, NULL, "sort", "test.memory", MS_ACCOUNT_UNLIMITED);
    const msi_sorter_options options = {account, rows_max, folds};
    msi_sorter_init(sorter, &options);
}

static void add_row(msi_sorter *sorter, const model_row *row, bool takes_back)
{
    ms_status st = {0};
    ms_str bytes = ms_str_make((const char *)&row->number, sizeof(row->number));
    assert_ok(msi_sorter_add(sorter, ms_str_cstr(row->key), bytes, takes_back, &st));
}

static void release_sorter(msi_sorter *sorter, ms_account *account)
{
    msi_sorter_release(sorter);
    assert_int_equal(ms_account_used_bytes(account), 0);
    ms_account_release(account);
}

/* The numbers of the rows as they come out. */
static uint32_t drain(msi_sorter *sorter, uint32_t *numbers, uint32_t max)
{
    ms_status st = {0};
    assert_ok(msi_sorter_seal(sorter, &st));
    uint32_t count = 0;
    ms_str row;
    msi_sorted got;
    while ((got = msi_sorter_step(sorter, &row)) != MSI_SORTED_END) {
        if (got == MSI_SORTED_ROW) {
            assert_true(count < max);
            assert_int_equal(row.bytes, sizeof(uint32_t));
            memcpy(&numbers[count++], row.ptr, sizeof(uint32_t));
        }
    }
    return count;
}

static void check_sort(uint32_t count, uint64_t rows_max, uint64_t seed)
{
    msi_sorter sorter;
    ms_account account;
    init_sorter(&sorter, &account, rows_max, false);
    model_row *rows = make_rows(count, seed);
    for (uint32_t i = 0; i < count; i++) {
        add_row(&sorter, &rows[i], false);
    }
    qsort(rows, count, sizeof(model_row), compare_rows);
    uint32_t *numbers = calloc(count + 1, sizeof(uint32_t));
    uint32_t got = drain(&sorter, numbers, count);
    uint32_t wanted = rows_max < count ? (uint32_t)rows_max : count;
    assert_true(got >= wanted);
    for (uint32_t i = 0; i < wanted; i++) {
        assert_int_equal(numbers[i], rows[i].number);
    }
    free(numbers);
    free(rows);
    release_sorter(&sorter, &account);
}

static void rows_come_in_order_and_equal_keys_as_they_arrived(void **state)
{
    (void)state;
    static const uint32_t counts[] = {
        0, 1, 2, 15, 16, 17, 33, 99, 1000, MSI_SORTER_RUN_ROWS, 3 * MSI_SORTER_RUN_ROWS + 7};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        check_sort(counts[i], UINT64_MAX, i + 1);
    }
}

static void with_a_limit_the_first_rows_are_kept_and_little_memory(void **state)
{
    (void)state;
    check_sort(1000, 1, 1);
    check_sort(1000, 10, 2);
    check_sort(20000, 999, 3);
    check_sort(5, 10, 4);
    check_sort(3 * MSI_SORTER_RUN_ROWS, MSI_SORTER_ROWS_MAX, 5);
    check_sort(20000, MSI_SORTER_ROWS_MAX + 1, 6);

    msi_sorter sorter;
    ms_account account;
    init_sorter(&sorter, &account, 10, false);
    model_row *rows = make_rows(200000, 7);
    for (uint32_t i = 0; i < 200000; i++) {
        add_row(&sorter, &rows[i], false);
    }
    assert_true(msi_sorter_records(&sorter) <= 20);
    assert_true(ms_account_peak_bytes(&account) < (1u << 20));
    free(rows);
    release_sorter(&sorter, &account);
}

/* Ten keys of ten numbers, each added and taken back at random, but never below nothing. */
static void rows_taken_back_do_not_come_out(void **state)
{
    (void)state;
    ms_env_random random;
    ms_env_random_init(&random, 11);
    msi_sorter sorter;
    ms_account account;
    init_sorter(&sorter, &account, UINT64_MAX, true);
    uint32_t left[100] = {0};
    uint32_t total = 0;
    for (uint32_t i = 0; i < 40000; i++) {
        uint32_t which = (uint32_t)ms_env_random_below(&random, 100);
        model_row row = {.number = which % 10};
        row.key[0] = (char)('a' + which / 10);
        bool takes_back = left[which] > 0 && ms_env_random_below(&random, 100) < 55;
        left[which] += takes_back ? -1 : 1;
        total += takes_back ? -1 : 1;
        add_row(&sorter, &row, takes_back);
    }
    uint32_t *numbers = calloc(total + 1, sizeof(uint32_t));
    assert_int_equal(drain(&sorter, numbers, total), total);
    uint32_t at = 0;
    for (uint32_t which = 0; which < 100; which++) {
        for (uint32_t n = 0; n < left[which]; n++) {
            assert_int_equal(numbers[at++], which % 10);
        }
    }
    free(numbers);
    release_sorter(&sorter, &account);
}

static void what_was_taken_back_before_it_came_is_gone_too(void **state)
{
    (void)state;
    msi_sorter sorter;
    ms_account account;
    init_sorter(&sorter, &account, UINT64_MAX, true);
    model_row row = {"k", 5};
    add_row(&sorter, &row, true);
    add_row(&sorter, &row, false);
    add_row(&sorter, &row, true);
    uint32_t numbers[1];
    assert_int_equal(drain(&sorter, numbers, 1), 0);
    release_sorter(&sorter, &account);
}

static void beyond_the_budget_adding_fails_by_name(void **state)
{
    (void)state;
    ms_status st = {0};
    msi_sorter sorter;
    ms_account account;
    init_sorter(&sorter, &account, UINT64_MAX, false);
    ms_account_set_limit(&account, 2u << 20);
    char text[1000] = {0};
    uint32_t added = 0;
    while (msi_sorter_add(&sorter, ms_str_make(text, 10), ms_str_make(text, sizeof(text)), false,
                          &st) == MS_OK) {
        added++;
        assert_true(added < 5000);
    }
    assert_int_equal(st.code, MS_NO_MEMORY);
    assert_true(added > 500);
    release_sorter(&sorter, &account);
}

static void every_refused_allocation_leaves_a_sorter_that_can_be_released(void **state)
{
    (void)state;
    for (int n = 1; n < 60; n++) {
        char spec[64];
        ms_status st = {0};
        msi_sorter sorter;
        ms_account account;
        init_sorter(&sorter, &account, n % 2 == 0 ? 100 : UINT64_MAX, false);
        snprintf(spec, sizeof(spec), "memory.try:%d:fail", n);
        assert_ok(ms_env_faults_set(ms_str_cstr(spec), &st));
        model_row *rows = make_rows(3000, 1);
        ms_rc rc = MS_OK;
        for (uint32_t i = 0; i < 3000 && rc == MS_OK; i++) {
            rc = msi_sorter_add(&sorter, ms_str_cstr(rows[i].key), ms_str_lit("row"), false, &st);
        }
        rc = rc == MS_OK ? msi_sorter_seal(&sorter, &st) : rc;
        assert_true((rc != MS_OK) == (ms_env_faults_fired() > 0));
        free(rows);
        release_sorter(&sorter, &account);
    }
    ms_status st = {0};
    assert_ok(ms_env_faults_set(ms_str_lit(""), &st));
}

static void saved_rows_of_a_moment_come_back(void **state)
{
    (void)state;
    ms_status st = {0};
    msi_sorter sorter;
    ms_account account;
    init_sorter(&sorter, &account, UINT64_MAX, false);
    model_row *rows = make_rows(40000, 9);
    for (uint32_t i = 0; i < 20000; i++) {
        add_row(&sorter, &rows[i], false);
    }
    uint64_t records = msi_sorter_records(&sorter);
    for (uint32_t i = 20000; i < 40000; i++) {
        add_row(&sorter, &rows[i], false);
    }
    ms_buf saved;
    ms_buf_init(&saved, 10u << 20);
    assert_ok(msi_sorter_save(&sorter, records, &saved, &st));
    release_sorter(&sorter, &account);

    init_sorter(&sorter, &account, UINT64_MAX, false);
    assert_ok(msi_sorter_load(&sorter, ms_buf_view(&saved), &st));
    uint32_t *numbers = calloc(20000, sizeof(uint32_t));
    assert_int_equal(drain(&sorter, numbers, 20000), 20000);
    qsort(rows, 20000, sizeof(model_row), compare_rows);
    for (uint32_t i = 0; i < 20000; i++) {
        assert_int_equal(numbers[i], rows[i].number);
    }
    release_sorter(&sorter, &account);

    init_sorter(&sorter, &account, UINT64_MAX, false);
    for (size_t cut = 1; cut < 20; cut++) {
        ms_status bad = {0};
        ms_str part = ms_str_slice(ms_buf_view(&saved), 0, saved.bytes - cut);
        assert_int_equal(msi_sorter_load(&sorter, part, &bad), MS_CORRUPT_DATA);
    }
    release_sorter(&sorter, &account);
    ms_buf_release(&saved);
    free(numbers);
    free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_in_order_and_equal_keys_as_they_arrived),
        cmocka_unit_test(with_a_limit_the_first_rows_are_kept_and_little_memory),
        cmocka_unit_test(rows_taken_back_do_not_come_out),
        cmocka_unit_test(what_was_taken_back_before_it_came_is_gone_too),
        cmocka_unit_test(beyond_the_budget_adding_fails_by_name),
        cmocka_unit_test(every_refused_allocation_leaves_a_sorter_that_can_be_released),
        cmocka_unit_test(saved_rows_of_a_moment_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
