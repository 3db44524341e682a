/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/metrics.h"

#include <pthread.h>

static void the_same_scope_and_name_is_the_same_metric(void **state)
{
    (void)state;
    ms_metrics *metrics = ms_metrics_create();
    ms_metric *rows = ms_metrics_counter(metrics, "op=1", "rows");
    assert_ptr_equal(ms_metrics_counter(metrics, "op=1", "rows"), rows);
    assert_ptr_not_equal(ms_metrics_counter(metrics, "op=2", "rows"), rows);
    assert_ptr_not_equal(ms_metrics_counter(metrics, "op=1", "rows_late"), rows);
    assert_int_equal((uintptr_t)rows % 64, 0);
    ms_metrics_destroy(metrics);
    ms_metrics_destroy(NULL);
}

static void sums_and_snapshots_show_what_was_counted(void **state)
{
    (void)state;
    ms_metrics *metrics = ms_metrics_create();
    ms_metric_add(ms_metrics_counter(metrics, "op=2", "rows"), 5);
    ms_metric_add(ms_metrics_counter(metrics, "op=1", "rows"), 7);
    ms_metric *used = ms_metrics_gauge(metrics, "", "bytes");
    ms_metric_set(used, 100);
    ms_metric_add(used, -30);
    assert_int_equal(ms_metric_value(used), 70);
    assert_int_equal(ms_metrics_sum(metrics, "rows"), 12);
    assert_int_equal(ms_metrics_sum(metrics, "row"), 0);

    ms_arena arena;
    ms_arena_init(&arena, 0);
    size_t count = 0;
    const ms_metric_sample *samples = ms_metrics_snapshot(metrics, &arena, &count);
    ms_metrics_destroy(metrics);
    assert_int_equal(count, 3);
    assert_str_equal(samples[0].name, "bytes");
    assert_str_equal(samples[0].scope, "");
    assert_int_equal(samples[0].kind, MS_METRIC_GAUGE);
    assert_int_equal(samples[0].value, 70);
    assert_str_equal(samples[1].name, "rows");
    assert_str_equal(samples[1].scope, "op=1");
    assert_int_equal(samples[1].value, 7);
    assert_str_equal(samples[2].scope, "op=2");
    assert_int_equal(samples[2].kind, MS_METRIC_COUNTER);
    ms_arena_release(&arena);
}

static void *count_rows(void *arg)
{
    ms_metric *rows = ms_metrics_counter(arg, "shared", "rows");
    for (int i = 0; i < 10000; i++) {
        ms_metric_add(rows, 1);
    }
    return NULL;
}

static void threads_count_together(void **state)
{
    (void)state;
    ms_metrics *metrics = ms_metrics_create();
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, count_rows, metrics), 0);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
    }
    assert_int_equal(ms_metrics_sum(metrics, "rows"), 40000);
    ms_metrics_destroy(metrics);
}

static void change_kind(void *arg)
{
    ms_metrics_counter(arg, "a", "rows");
    ms_metrics_gauge(arg, "a", "rows");
}

static void a_counter_does_not_become_a_gauge(void **state)
{
    (void)state;
    ms_metrics *metrics = ms_metrics_create();
    assert_aborts(change_kind, metrics);
    ms_metrics_destroy(metrics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_scope_and_name_is_the_same_metric),
        cmocka_unit_test(sums_and_snapshots_show_what_was_counted),
        cmocka_unit_test(threads_count_together),
        cmocka_unit_test(a_counter_does_not_become_a_gauge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
