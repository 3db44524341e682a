/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/env.h"
#include "base/limits.h"
#include "os/thread.h"

#include <signal.h>

typedef struct seen_by_thread {
    char name[16];
    bool interrupts_are_blocked;
} seen_by_thread;

static void look_around(void *arg)
{
    seen_by_thread *seen = arg;
    pthread_getname_np(pthread_self(), seen->name, sizeof(seen->name));
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    seen->interrupts_are_blocked = sigismember(&mask, SIGINT) == 1;
}

static void a_thread_has_its_name_and_no_signals(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_thread thread;
    seen_by_thread seen = {0};
    assert_ok(ms_thread_start(&thread, "a name longer than the kernel's", look_around, &seen, &st));
    ms_thread_join(&thread);
    assert_string_equal(seen.name, "a name longer t");
    assert_true(seen.interrupts_are_blocked);
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    assert_int_equal(sigismember(&mask, SIGINT), 0);
    assert_true(ms_thread_cpu_count() >= 1);
}

typedef struct counter {
    ms_mutex mutex;
    ms_cond changed;
    int value;
} counter;

static void count_up(void *arg)
{
    counter *shared = arg;
    for (int i = 0; i < 10000; i++) {
        ms_mutex_lock(&shared->mutex);
        shared->value++;
        ms_cond_signal(&shared->changed);
        ms_mutex_unlock(&shared->mutex);
    }
}

static void a_mutex_excludes_and_a_condition_wakes(void **state)
{
    (void)state;
    ms_status st = {0};
    counter shared = {.value = 0};
    ms_thread threads[3];
    ms_mutex_init(&shared.mutex, MS_RANK_JOB);
    ms_cond_init(&shared.changed);
    for (int i = 0; i < 3; i++) {
        assert_ok(ms_thread_start(&threads[i], "count", count_up, &shared, &st));
    }
    ms_mutex_lock(&shared.mutex);
    while (shared.value < 30000) {
        ms_cond_wait(&shared.changed, &shared.mutex);
    }
    ms_mutex_unlock(&shared.mutex);
    for (int i = 0; i < 3; i++) {
        ms_thread_join(&threads[i]);
    }
    assert_int_equal(shared.value, 30000);
    ms_cond_release(&shared.changed);
    ms_mutex_release(&shared.mutex);
}

static void a_wait_runs_out(void **state)
{
    (void)state;
    ms_mutex mutex;
    ms_cond cond;
    ms_mutex_init(&mutex, MS_RANK_JOB);
    ms_cond_init(&cond);
    ms_mutex_lock(&mutex);
    int64_t start = ms_env_mono_ns();
    while (ms_cond_wait_for(&cond, &mutex, 20000000)) {
    }
    assert_true(ms_env_mono_ns() - start >= 20000000);
    assert_false(ms_cond_wait_for(&cond, &mutex, -5));
    ms_mutex_unlock(&mutex);
    ms_cond_release(&cond);
    ms_mutex_release(&mutex);
}

#ifdef MS_DEBUG

static void lock_out_of_order(void *arg)
{
    (void)arg;
    ms_mutex inner;
    ms_mutex outer;
    ms_mutex_init(&inner, MS_RANK_LOG);
    ms_mutex_init(&outer, MS_RANK_JOB);
    ms_mutex_lock(&inner);
    ms_mutex_lock(&outer);
}

static void lock_stripes_downward(void *arg)
{
    (void)arg;
    ms_mutex stripes[2];
    ms_mutex_init_stripe(&stripes[0], MS_RANK_STORE_STRIPE, 0);
    ms_mutex_init_stripe(&stripes[1], MS_RANK_STORE_STRIPE, 1);
    ms_mutex_lock(&stripes[1]);
    ms_mutex_lock(&stripes[0]);
}

static void locking_out_of_order_aborts(void **state)
{
    (void)state;
    assert_aborts(lock_out_of_order, NULL);
    assert_aborts(lock_stripes_downward, NULL);
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thread_has_its_name_and_no_signals),
        cmocka_unit_test(a_mutex_excludes_and_a_condition_wakes),
        cmocka_unit_test(a_wait_runs_out),
#ifdef MS_DEBUG
        cmocka_unit_test(locking_out_of_order_aborts),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
