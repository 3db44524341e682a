/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "bigtable/client/rate.h"

#include <math.h>

#define MS INT64_C(1000000)
#define SECOND INT64_C(1000000000)
#define SECOND_MICROS INT64_C(1000000)

static void nothing_is_limited_before_the_service_says_so(void **state)
{
    (void)state;
    msi_rate rate = {0};
    for (int i = 0; i < 100; i++) {
        assert_int_equal(msi_rate_take(&rate, 5 * SECOND, INT64_MAX), 5 * SECOND);
    }
    msi_rate_failed(&rate, MS_BT_UNAVAILABLE, 5 * SECOND);
    msi_rate_unset(&rate, 5 * SECOND);
    assert_int_equal(msi_rate_take(&rate, 5 * SECOND, INT64_MAX), 5 * SECOND);
}

/* Ten a second at first, times the factor. */
static void requests_are_spaced_evenly(void **state)
{
    (void)state;
    msi_rate rate = {0};
    msi_rate_set(&rate, 1.0, 10 * SECOND_MICROS, SECOND);
    assert_int_equal(msi_rate_take(&rate, SECOND, INT64_MAX), SECOND);
    assert_int_equal(msi_rate_take(&rate, SECOND, INT64_MAX), SECOND + 100 * MS);
    assert_int_equal(msi_rate_take(&rate, SECOND + 150 * MS, INT64_MAX), SECOND + 200 * MS);
    /* What nobody took is not made up for. */
    assert_int_equal(msi_rate_take(&rate, 9 * SECOND, INT64_MAX), 9 * SECOND);
    assert_int_equal(msi_rate_take(&rate, 9 * SECOND, INT64_MAX), 9 * SECOND + 100 * MS);
}

/* Were it to take its turn, those behind it would wait for nothing. */
static void a_request_that_cannot_wait_delays_no_other(void **state)
{
    (void)state;
    msi_rate rate = {0};
    msi_rate_set(&rate, 1.0, 10 * SECOND_MICROS, SECOND);
    assert_int_equal(msi_rate_take(&rate, SECOND, INT64_MAX), SECOND);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(msi_rate_take(&rate, SECOND, SECOND + 100 * MS), SECOND + 100 * MS);
    }
    assert_int_equal(msi_rate_take(&rate, SECOND, SECOND + 101 * MS), SECOND + 100 * MS);
    assert_int_equal(msi_rate_take(&rate, SECOND, INT64_MAX), SECOND + 200 * MS);
}

static void the_rate_changes_once_a_period_within_bounds(void **state)
{
    (void)state;
    msi_rate rate = {0};
    msi_rate_set(&rate, 0.001, 2 * SECOND_MICROS, 0);
    assert_float_equal(rate.per_second, 7.0, 1e-9);
    msi_rate_set(&rate, 1.2, 2 * SECOND_MICROS, 2 * SECOND - 1);
    assert_float_equal(rate.per_second, 7.0, 1e-9);
    msi_rate_set(&rate, 1.2, 2 * SECOND_MICROS, 2 * SECOND);
    assert_float_equal(rate.per_second, 8.4, 1e-9);
    int64_t now = 2 * SECOND;
    for (int i = 0; i < 100; i++) {
        now += 2 * SECOND;
        msi_rate_set(&rate, 1000, 2 * SECOND_MICROS, now);
    }
    assert_float_equal(rate.per_second, 100000.0, 1e-9);
    for (int i = 0; i < 100; i++) {
        now += 2 * SECOND;
        msi_rate_set(&rate, 0.7, 2 * SECOND_MICROS, now);
    }
    assert_float_equal(rate.per_second, 0.1, 1e-9);
    assert_int_equal(msi_rate_take(&rate, now, INT64_MAX), now);
    assert_int_equal(msi_rate_take(&rate, now, INT64_MAX), now + 10 * SECOND);
}

static void what_makes_no_sense_is_ignored(void **state)
{
    (void)state;
    const double factors[] = {0, -1, (double)NAN, 1, 1};
    const int64_t periods[] = {SECOND_MICROS, SECOND_MICROS, SECOND_MICROS, 0, -1};
    for (size_t i = 0; i < sizeof(periods) / sizeof(periods[0]); i++) {
        msi_rate rate = {0};
        msi_rate_set(&rate, factors[i], periods[i], SECOND);
        assert_false(rate.is_limited);
    }
    msi_rate endless = {0};
    msi_rate_set(&endless, (double)INFINITY, INT64_MAX, SECOND);
    assert_float_equal(endless.per_second, 13.0, 1e-9);
    assert_int_equal(endless.change_ns, INT64_MAX);
}

static void failures_of_a_loaded_cluster_count_as_the_lowest_factor(void **state)
{
    (void)state;
    for (int code = MS_BT_OK; code < MS_BT_CODE_COUNT; code++) {
        msi_rate rate = {0};
        bool counts = code == MS_BT_UNAVAILABLE || code == MS_BT_DEADLINE_EXCEEDED ||
                      code == MS_BT_RESOURCE_EXHAUSTED;
        msi_rate_set(&rate, 1, SECOND_MICROS, 0);
        msi_rate_failed(&rate, (ms_bt_code)code, SECOND);
        assert_float_equal(rate.per_second, counts ? 7.0 : 10.0, 1e-9);
        assert_int_equal(rate.change_ns, counts ? 11 * SECOND : SECOND);
    }
}

static void silence_after_the_period_ends_the_limit(void **state)
{
    (void)state;
    msi_rate rate = {0};
    msi_rate_set(&rate, 1, SECOND_MICROS, 0);
    msi_rate_unset(&rate, SECOND - 1);
    assert_true(rate.is_limited);
    msi_rate_unset(&rate, SECOND);
    assert_false(rate.is_limited);
    assert_int_equal(msi_rate_take(&rate, SECOND, INT64_MAX), SECOND);
    assert_int_equal(msi_rate_take(&rate, SECOND, INT64_MAX), SECOND);
    /* And a new one begins as the first did. */
    msi_rate_set(&rate, 1, SECOND_MICROS, 2 * SECOND);
    assert_float_equal(rate.per_second, 10.0, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_limited_before_the_service_says_so),
        cmocka_unit_test(requests_are_spaced_evenly),
        cmocka_unit_test(a_request_that_cannot_wait_delays_no_other),
        cmocka_unit_test(the_rate_changes_once_a_period_within_bounds),
        cmocka_unit_test(what_makes_no_sense_is_ignored),
        cmocka_unit_test(failures_of_a_loaded_cluster_count_as_the_lowest_factor),
        cmocka_unit_test(silence_after_the_period_ends_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
