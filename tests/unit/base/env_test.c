/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/env.h"

#include <stdio.h>

static void system_clocks_move_forward(void **state)
{
    (void)state;
    int64_t before = ms_env_mono_ns();
    assert_true(ms_env_mono_ns() >= before);
    /* Later than 2020: microseconds and milliseconds were not mixed up. */
    assert_true(ms_env_wall_us() > INT64_C(1577836800000000));
    assert_true(ms_env_wall_ms() > INT64_C(1577836800000));
    assert_true(ms_env_wall_ms() < INT64_C(15778368000000));
}

static void a_test_moves_its_own_clock(void **state)
{
    (void)state;
    ms_env_clock clock = {0};
    ms_env_set_clock(&clock);
    assert_int_equal(ms_env_wall_us(), 0);
    ms_env_clock_advance_us(&clock, 1500);
    assert_int_equal(ms_env_wall_us(), 1500);
    assert_int_equal(ms_env_wall_ms(), 1);
    assert_int_equal(ms_env_mono_ns(), 1500000);
    ms_env_clock_advance_us(&clock, -3000);
    assert_int_equal(ms_env_wall_ms(), -2);
    ms_env_set_clock(NULL);
    assert_true(ms_env_wall_us() > INT64_C(1577836800000000));
}

static void a_seed_repeats_its_sequence(void **state)
{
    (void)state;
    ms_env_random a;
    ms_env_random b;
    ms_env_random_init(&a, 42);
    ms_env_random_init(&b, 42);
    for (int i = 0; i < 100; i++) {
        assert_true(ms_env_random_next(&a) == ms_env_random_next(&b));
    }
    ms_env_random_init(&b, 43);
    assert_true(ms_env_random_next(&a) != ms_env_random_next(&b));
    /* State 1, 2, 3, 4: the first outputs follow by hand from the definition of xoshiro256**. */
    ms_env_random known = {.word = {1, 2, 3, 4}};
    assert_true(ms_env_random_next(&known) == 11520);
    assert_true(ms_env_random_next(&known) == 0);
    assert_true(ms_env_random_next(&known) == 1509978240);
}

static void random_numbers_stay_in_bounds_and_spread(void **state)
{
    (void)state;
    ms_env_random random;
    ms_env_random_init(&random, 1);
    unsigned counts[10] = {0};
    for (int i = 0; i < 100000; i++) {
        counts[ms_env_random_below(&random, 10)]++;
        double unit = ms_env_random_unit(&random);
        assert_true(unit >= 0.0 && unit < 1.0);
    }
    for (int i = 0; i < 10; i++) {
        assert_in_range(counts[i], 9500, 10500);
    }
    assert_int_equal(ms_env_random_below(&random, 1), 0);
    for (int i = 0; i < 100; i++) {
        assert_true(ms_env_random_below(&random, UINT64_MAX) < UINT64_MAX);
    }
}

static void seeds_differ_from_each_other(void **state)
{
    (void)state;
    uint64_t first = ms_env_next_seed();
    assert_true(ms_env_next_seed() != first);
}

static void a_fault_fires_once_at_its_passage(void **state)
{
    (void)state;
    ms_status st = {0};
    assert_ok(ms_env_faults_set(ms_str_lit("a.b:3:fail,c:1:fail"), &st));
    assert_false(ms_env_fault("a.b"));
    assert_false(ms_env_fault("a"));
    assert_false(ms_env_fault("a.b"));
    assert_true(ms_env_fault("a.b"));
    assert_false(ms_env_fault("a.b"));
    assert_true(ms_env_fault("c"));
    assert_int_equal(ms_env_faults_fired(), 2);
    assert_ok(ms_env_faults_set(ms_str_lit(""), &st));
    assert_false(ms_env_fault("c"));
    assert_int_equal(ms_env_faults_fired(), 0);
    assert_false(atomic_load(&ms_env_faults_armed));
}

static void pass_two(void *arg)
{
    (void)arg;
    ms_status st = {0};
    (void)!ms_env_faults_set(ms_str_lit("x:2:kill"), &st);
    (void)ms_env_fault("x");
    (void)ms_env_fault("x");
}

static void pass_as_the_environment_says(void *arg)
{
    setenv("MS_FAULT", arg, 1);
    execl("/proc/self/exe", "env_test", "pass", (char *)NULL);
}

static void a_kill_is_a_kill(void **state)
{
    (void)state;
    assert_int_equal(run_in_child(pass_two, NULL), SIGKILL);
    char hit[] = "point:1:kill";
    char miss[] = "other:1:kill";
    assert_int_equal(run_in_child(pass_as_the_environment_says, hit), SIGKILL);
    assert_int_equal(run_in_child(pass_as_the_environment_says, miss), 0);
}

static void a_malformed_fault_is_refused(void **state)
{
    (void)state;
    const char *bad[] = {"a",        "a:1",         ":1:fail",    "a:0:fail",
                         "a:x:fail", "a:1:explode", "a:1:fail,,", "a:1:fail,b"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ms_status st = {0};
        assert_int_equal(ms_env_faults_set(ms_str_cstr(bad[i]), &st), MS_INVALID_OPTION);
        assert_false(ms_env_fault("a"));
    }
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "pass") == 0) {
        return ms_env_fault("point") ? 1 : 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(system_clocks_move_forward),
        cmocka_unit_test(a_test_moves_its_own_clock),
        cmocka_unit_test(a_seed_repeats_its_sequence),
        cmocka_unit_test(random_numbers_stay_in_bounds_and_spread),
        cmocka_unit_test(seeds_differ_from_each_other),
        cmocka_unit_test(a_fault_fires_once_at_its_passage),
        cmocka_unit_test(a_kill_is_a_kill),
        cmocka_unit_test(a_malformed_fault_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
