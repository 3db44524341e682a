/* SPDX-License-Identifier: Apache-2.0 */
/* Microseconds as seconds and nanoseconds, there and back, and at the ends of what can be said. */
#include "bigtable/wire/wire_testing.h"

#include "bigtable/wire/time.h"

static void points_in_time_come_back(void **state)
{
    (void)state;
    const int64_t points[] = {0,         1,
                              -1,        999999,
                              1000000,   -1000000,
                              -1000001,  1656633600000001,
                              INT64_MAX, INT64_MIN + 1000000};
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
        const ms_pb_timestamp *message = ms_wire_timestamp_to_pb(points[i], &arena);
        assert_true(message->nanos >= 0 && message->nanos < 1000000000);
        assert_int_equal(ms_wire_timestamp_micros(message), points[i]);
        assert_int_equal(ms_wire_duration_micros(ms_wire_duration_to_pb(points[i], &arena)),
                         points[i]);
    }
}

static void parts_of_a_duration_have_one_sign(void **state)
{
    (void)state;
    const ms_pb_duration *message = ms_wire_duration_to_pb(-1500000, &arena);
    assert_int_equal(message->seconds, -1);
    assert_int_equal(message->nanos, -500000000);
}

static void nanoseconds_are_cut_toward_the_past(void **state)
{
    (void)state;
    ms_pb_timestamp *message = ms_pb_new(&arena, timestamp);
    message->seconds = 5;
    message->nanos = 1999;
    assert_int_equal(ms_wire_timestamp_micros(message), 5000001);
    message->nanos = -1;
    assert_int_equal(ms_wire_timestamp_micros(message), 4999999);
}

static void absent_is_zero_and_too_far_is_the_end(void **state)
{
    (void)state;
    assert_int_equal(ms_wire_timestamp_micros(NULL), 0);
    assert_int_equal(ms_wire_duration_micros(NULL), 0);
    ms_pb_timestamp *message = ms_pb_new(&arena, timestamp);
    message->seconds = INT64_MAX;
    assert_int_equal(ms_wire_timestamp_micros(message), INT64_MAX);
    message->seconds = INT64_MIN;
    assert_int_equal(ms_wire_timestamp_micros(message), INT64_MIN);
    message->seconds = INT64_MAX / 1000000;
    message->nanos = INT32_MAX;
    assert_int_equal(ms_wire_timestamp_micros(message), INT64_MAX);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, wire_setup, wire_teardown)
    const struct CMUnitTest tests[] = {
        TEST(points_in_time_come_back),
        TEST(parts_of_a_duration_have_one_sign),
        TEST(nanoseconds_are_cut_toward_the_past),
        TEST(absent_is_zero_and_too_far_is_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
