/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "bigtable/client/retry.h"

#define MS INT64_C(1000000)
#define SECOND INT64_C(1000000000)

static const msi_retry_policy reads = {.attempt_ns = 20 * SECOND,
                                       .total_ns = 600 * SECOND,
                                       .attempts_max = 3,
                                       .retries_aborted = true};
static const msi_retry_policy once = {.total_ns = 20 * SECOND, .attempts_max = 1};

static void backoff_doubles_with_jitter_up_to_a_minute(void **state)
{
    (void)state;
    const msi_retry_policy patient = {.attempts_max = 100};
    for (uint64_t seed = 0; seed < 50; seed++) {
        msi_retry retry;
        int64_t expected_ns = 10 * MS;
        msi_retry_init(&retry, &patient, 0, 0, seed);
        for (int i = 0; i < 40; i++) {
            int64_t wait_ns = 0;
            (void)msi_retry_begin(&retry, 0);
            assert_true(msi_retry_again(&retry, MS_BT_UNAVAILABLE, -1, 0, &wait_ns));
            assert_true(wait_ns >= expected_ns * 3 / 4 && wait_ns <= expected_ns * 5 / 4);
            expected_ns = expected_ns * 2 < 60 * SECOND ? expected_ns * 2 : 60 * SECOND;
        }
    }
}

static void only_what_passes_is_repeated(void **state)
{
    (void)state;
    for (int code = MS_BT_CANCELLED; code < MS_BT_CODE_COUNT; code++) {
        msi_retry retry;
        int64_t wait_ns = 0;
        bool passes = code == MS_BT_UNAVAILABLE || code == MS_BT_DEADLINE_EXCEEDED;
        msi_retry_init(&retry, &reads, 0, 0, 1);
        (void)msi_retry_begin(&retry, 0);
        assert_int_equal(msi_retry_again(&retry, (ms_bt_code)code, -1, 0, &wait_ns),
                         passes || code == MS_BT_ABORTED);
        msi_retry_init(&retry, &once, 0, 0, 1);
        (void)msi_retry_begin(&retry, 0);
        assert_false(msi_retry_again(&retry, (ms_bt_code)code, 0, 0, &wait_ns));
    }
}

static void attempts_are_counted_from_the_last_progress(void **state)
{
    (void)state;
    msi_retry retry;
    int64_t wait_ns = 0;
    msi_retry_init(&retry, &reads, 0, 0, 1);
    for (int i = 0; i < 2; i++) {
        (void)msi_retry_begin(&retry, 0);
        assert_true(msi_retry_again(&retry, MS_BT_UNAVAILABLE, -1, 0, &wait_ns));
    }
    (void)msi_retry_begin(&retry, 0);
    assert_false(msi_retry_again(&retry, MS_BT_UNAVAILABLE, -1, 0, &wait_ns));
    msi_retry_progress(&retry);
    assert_true(msi_retry_again(&retry, MS_BT_UNAVAILABLE, -1, 0, &wait_ns));
    assert_true(wait_ns <= 13 * MS);
}

static void the_server_says_when_but_the_deadline_wins(void **state)
{
    (void)state;
    msi_retry retry;
    int64_t wait_ns = 0;
    msi_retry_init(&retry, &reads, 3 * SECOND, 0, 1);
    assert_int_equal(msi_retry_begin(&retry, 0), 3 * SECOND);
    assert_true(msi_retry_again(&retry, MS_BT_UNAVAILABLE, 2 * SECOND, 0, &wait_ns));
    assert_int_equal(wait_ns, 2 * SECOND);
    assert_int_equal(msi_retry_begin(&retry, 2 * SECOND), 3 * SECOND);
    assert_false(msi_retry_again(&retry, MS_BT_UNAVAILABLE, 6 * SECOND, 2 * SECOND, &wait_ns));
    /* It may also ask for another try after a code that would be final. */
    msi_retry_init(&retry, &reads, 0, 0, 1);
    (void)msi_retry_begin(&retry, 0);
    assert_true(msi_retry_again(&retry, MS_BT_RESOURCE_EXHAUSTED, SECOND, 0, &wait_ns));
}

static void an_attempt_ends_before_the_whole(void **state)
{
    (void)state;
    const msi_retry_policy endless = {.attempts_max = 1};
    msi_retry retry;
    msi_retry_init(&retry, &reads, 0, 5 * SECOND, 1);
    assert_int_equal(msi_retry_begin(&retry, 5 * SECOND), 25 * SECOND);
    assert_int_equal(msi_retry_begin(&retry, 600 * SECOND), 605 * SECOND);
    msi_retry_init(&retry, &endless, 0, 5 * SECOND, 1);
    assert_int_equal(msi_retry_begin(&retry, 5 * SECOND), 0);
}

static void what_no_server_has_begun_is_repeated_whatever_it_does(void **state)
{
    (void)state;
    msi_retry retry;
    int64_t wait_ns = 0;
    msi_retry_init(&retry, &once, 0, 0, 1);
    for (uint32_t i = 1; i < MSI_RETRY_UNBEGUN_MAX; i++) {
        (void)msi_retry_begin(&retry, 0);
        retry.is_unprocessed = true;
        assert_true(msi_retry_again(&retry, MS_BT_UNAVAILABLE, -1, 0, &wait_ns));
    }
    (void)msi_retry_begin(&retry, 0);
    retry.is_unprocessed = true;
    assert_false(msi_retry_again(&retry, MS_BT_UNAVAILABLE, -1, 0, &wait_ns));
    /* The next attempt may be one that was begun, and other failures do not pass. */
    msi_retry_init(&retry, &once, 0, 0, 1);
    (void)msi_retry_begin(&retry, 0);
    retry.is_unprocessed = true;
    assert_false(msi_retry_again(&retry, MS_BT_UNAUTHENTICATED, -1, 0, &wait_ns));
    assert_true(msi_retry_again(&retry, MS_BT_UNAVAILABLE, -1, 0, &wait_ns));
    (void)msi_retry_begin(&retry, 0);
    assert_false(msi_retry_again(&retry, MS_BT_UNAVAILABLE, -1, 0, &wait_ns));
}

static void a_wait_without_end_is_no_time_in_the_past(void **state)
{
    (void)state;
    const msi_retry_policy endless = {.attempts_max = 3};
    msi_retry retry;
    int64_t wait_ns = 0;
    msi_retry_init(&retry, &endless, 0, 5 * SECOND, 1);
    (void)msi_retry_begin(&retry, 5 * SECOND);
    assert_true(msi_retry_again(&retry, MS_BT_UNAVAILABLE, INT64_MAX, 5 * SECOND, &wait_ns));
    assert_true(wait_ns == INT64_MAX - 5 * SECOND);
    assert_true(msi_retry_again(&retry, MS_BT_UNAVAILABLE, 7 * SECOND, 5 * SECOND, &wait_ns));
    assert_true(wait_ns == 7 * SECOND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(backoff_doubles_with_jitter_up_to_a_minute),
        cmocka_unit_test(only_what_passes_is_repeated),
        cmocka_unit_test(attempts_are_counted_from_the_last_progress),
        cmocka_unit_test(the_server_says_when_but_the_deadline_wins),
        cmocka_unit_test(an_attempt_ends_before_the_whole),
        cmocka_unit_test(a_wait_without_end_is_no_time_in_the_past),
        cmocka_unit_test(what_no_server_has_begun_is_repeated_whatever_it_does),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
