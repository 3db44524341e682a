/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/env.h"
#include "base/memory.h"

#include <pthread.h>

static void every_allocation_is_counted_and_usable(void **state)
{
    (void)state;
    uint64_t before = ms_mem_allocation_count();
    char *plain = ms_mem_alloc(10);
    char *zeroed = ms_mem_calloc(10, 10);
    char *aligned = ms_mem_alloc_aligned(100, 64);
    char *empty = ms_mem_alloc(0);
    memset(plain, 1, 10);
    plain = ms_mem_realloc(plain, 1000);
    assert_int_equal(plain[9], 1);
    assert_int_equal(zeroed[99], 0);
    assert_int_equal((uintptr_t)aligned % 64, 0);
    assert_non_null(empty);
    char *tried = ms_mem_try_alloc(10);
    tried = ms_mem_try_realloc(tried, 20);
    char *tried_zeroed = ms_mem_try_calloc(0, 10);
    char *tried_aligned = ms_mem_try_alloc_aligned(10, 4096);
    assert_non_null(tried);
    assert_non_null(tried_zeroed);
    assert_int_equal((uintptr_t)tried_aligned % 4096, 0);
    assert_int_equal(ms_mem_allocation_count() - before, 9);
    ms_mem_free(plain);
    ms_mem_free(zeroed);
    ms_mem_free(aligned);
    ms_mem_free(empty);
    ms_mem_free(tried);
    ms_mem_free(tried_zeroed);
    ms_mem_free(tried_aligned);
    ms_mem_free(NULL);
}

static void a_fault_refuses_budgeted_memory_only(void **state)
{
    (void)state;
    ms_status st = {0};
    assert_ok(ms_env_faults_set(ms_str_lit("memory.try:2:fail,memory.try:3:fail"), &st));
    void *first = ms_mem_try_alloc(8);
    assert_non_null(first);
    assert_null(ms_mem_try_realloc(first, 16));
    assert_null(ms_mem_try_calloc(1, 8));
    void *plain = ms_mem_alloc(8);
    assert_int_equal(ms_env_faults_fired(), 2);
    ms_mem_free(first);
    ms_mem_free(plain);
    assert_ok(ms_env_faults_set(ms_str_lit(""), &st));
    assert_int_equal(ms_mem_refuse(77, &st), MS_NO_MEMORY);
    assert_string_equal(st.message, "could not allocate 77 bytes");
}

static void ask_for_too_much(void *arg)
{
    (void)arg;
    volatile size_t count = SIZE_MAX / 2;
    ms_mem_calloc(count, 4);
}

static void exhaustion_ends_the_process_with_an_error(void **state)
{
    (void)state;
    assert_exhausts(ask_for_too_much, NULL);
}

static void a_reservation_counts_up_to_the_root(void **state)
{
    (void)state;
    ms_account process;
    ms_account job;
    ms_account sort;
    ms_account_init(&process, NULL, "the process", "memory.process", 1000);
    ms_account_init(&job, &process, "job totals", "memory.job", MS_ACCOUNT_UNLIMITED);
    ms_account_init(&sort, &job, "sort of job totals", "memory.sort", 400);
    ms_status st = {0};
    assert_ok(ms_account_reserve(&sort, 300, &st));
    assert_true(ms_account_try_reserve(&job, 600));
    assert_int_equal(ms_account_used_bytes(&sort), 300);
    assert_int_equal(ms_account_used_bytes(&job), 900);
    assert_int_equal(ms_account_used_bytes(&process), 900);
    ms_account_unreserve(&job, 600);
    ms_account_unreserve(&sort, 300);
    assert_int_equal(ms_account_used_bytes(&process), 0);
    assert_int_equal(ms_account_peak_bytes(&process), 900);
    assert_int_equal(ms_account_peak_bytes(&sort), 300);
    ms_account_release(&sort);
    ms_account_release(&job);
    ms_account_release(&process);
}

static void the_refusal_names_the_account_that_is_full(void **state)
{
    (void)state;
    ms_account process;
    ms_account job;
    ms_account_init(&process, NULL, "the process", "memory.process", 1000);
    ms_account_init(&job, &process, "job totals", "memory.job", 5000);
    ms_status st = {0};
    assert_ok(ms_account_reserve(&job, 900, &st));
    assert_int_equal(ms_account_reserve(&job, 101, &st), MS_NO_MEMORY);
    assert_string_equal(st.message, "the memory budget of the process is used up");
    assert_string_equal(st.detail,
                        "900 of 1000 bytes are in use, 101 more were asked for by job totals");
    assert_string_equal(st.hint, "Raise the setting 'memory.process'.");
    /* Nothing of the refused reservation stays anywhere. */
    assert_int_equal(ms_account_used_bytes(&job), 900);
    assert_int_equal(ms_account_used_bytes(&process), 900);
    assert_true(ms_account_try_reserve(&job, 100));
    assert_false(ms_account_try_reserve(&job, UINT64_MAX));
    ms_account_set_limit(&process, 500);
    assert_false(ms_account_try_reserve(&job, 1));
    ms_account_unreserve(&job, 1000);
    assert_true(ms_account_try_reserve(&job, 500));
    assert_int_equal(ms_account_limit_bytes(&process), 500);
    ms_account_unreserve(&job, 500);
    ms_account_release(&job);
    ms_account_release(&process);
}

static void a_fault_refuses_a_reservation(void **state)
{
    (void)state;
    ms_account account;
    ms_account_init(&account, NULL, "x", NULL, 1000);
    ms_status st = {0};
    assert_ok(ms_env_faults_set(ms_str_lit("memory.reserve:1:fail"), &st));
    assert_int_equal(ms_account_reserve(&account, 1, &st), MS_NO_MEMORY);
    assert_string_equal(st.hint, "");
    assert_int_equal(ms_account_used_bytes(&account), 0);
    ms_status_clear(&st);
    assert_ok(ms_env_faults_set(ms_str_lit(""), &st));
    ms_account_release(&account);
}

static void *reserve_and_return(void *arg)
{
    ms_account *account = arg;
    for (int i = 0; i < 20000; i++) {
        if (ms_account_try_reserve(account, 7)) {
            ms_account_unreserve(account, 7);
        }
    }
    return NULL;
}

static void threads_never_pass_the_limit_and_lose_nothing(void **state)
{
    (void)state;
    ms_account root;
    ms_account leaves[4];
    pthread_t threads[4];
    ms_account_init(&root, NULL, "root", NULL, 20);
    for (int i = 0; i < 4; i++) {
        ms_account_init(&leaves[i], &root, "leaf", NULL, 100);
        assert_int_equal(pthread_create(&threads[i], NULL, reserve_and_return, &leaves[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        ms_account_release(&leaves[i]);
    }
    assert_int_equal(ms_account_used_bytes(&root), 0);
    assert_true(ms_account_peak_bytes(&root) <= 20);
    ms_account_release(&root);
}

static void give_back_too_much(void *arg)
{
    ms_account_unreserve(arg, 1);
}

static void end_in_debt(void *arg)
{
    (void)!ms_account_try_reserve(arg, 1);
    ms_account_release(arg);
}

static void end_before_the_children(void *arg)
{
    ms_account child;
    ms_account_init(&child, arg, "child", NULL, 1);
    ms_account_release(arg);
}

static void wrong_accounts_abort(void **state)
{
    (void)state;
    ms_account account;
    ms_account_init(&account, NULL, "x", NULL, 1000);
    assert_aborts(give_back_too_much, &account);
    assert_aborts(end_in_debt, &account);
    assert_aborts(end_before_the_children, &account);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_is_counted_and_usable),
        cmocka_unit_test(a_fault_refuses_budgeted_memory_only),
        cmocka_unit_test(exhaustion_ends_the_process_with_an_error),
        cmocka_unit_test(a_reservation_counts_up_to_the_root),
        cmocka_unit_test(the_refusal_names_the_account_that_is_full),
        cmocka_unit_test(a_fault_refuses_a_reservation),
        cmocka_unit_test(threads_never_pass_the_limit_and_lose_nothing),
        cmocka_unit_test(wrong_accounts_abort),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
