/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values from seed, column and row: the same at any time, in their bounds, spread over them.
 */
#include "testing.h"

#include "connector/datagen/generator.h"
#include "type/time.h"

static ms_arena arena;
static msi_generator_env env;

static int setup(void **state)
{
    (void)state;
    ms_arena_init(&arena, 0);
    env = (msi_generator_env){.arena = &arena, .seed = 42, .now_us = 1600000000123456};
    env.local_us = env.now_us + INT64_C(3600000000);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    ms_arena_release(&arena);
    return 0;
}

static const ms_type *simple(ms_type_kind kind)
{
    return ms_type_simple(&arena, kind, true);
}

static void a_value_depends_on_seed_column_and_row_alone(void **state)
{
    (void)state;
    msi_generator a = {.type = simple(MS_TYPE_BIGINT), .min = INT64_MIN, .max = INT64_MAX};
    msi_generator b = a;
    b.salt = 1;
    ms_value first = msi_generator_value(&a, &env, 7);
    for (uint64_t row = 0; row < 100; row++) {
        ms_value value = msi_generator_value(&a, &env, row);
        ms_value other = msi_generator_value(&b, &env, row);
        assert_true((value.u.i == first.u.i) == (row == 7));
        assert_true(value.u.i != other.u.i);
    }
    /* The values are part of what a checkpoint stands for: they never change. */
    assert_true(first.u.i == INT64_C(-6616403728644035724));
    env.seed = 43;
    assert_true(first.u.i != msi_generator_value(&a, &env, 7).u.i);
}

static void integers_fill_their_range(void **state)
{
    (void)state;
    msi_generator dice = {.type = simple(MS_TYPE_INT), .min = -1, .max = 4};
    uint32_t counts[6] = {0};
    for (uint64_t row = 0; row < 6000; row++) {
        int64_t value = msi_generator_value(&dice, &env, row).u.i;
        assert_in_range(value + 1, 0, 5);
        counts[value + 1]++;
    }
    for (int i = 0; i < 6; i++) {
        assert_in_range(counts[i], 800, 1200);
    }
    msi_generator one = {.type = simple(MS_TYPE_TINYINT), .min = 9, .max = 9};
    assert_int_equal(msi_generator_value(&one, &env, 0).u.i, 9);
}

static void reals_stay_in_their_bounds(void **state)
{
    (void)state;
    msi_generator real = {.type = simple(MS_TYPE_DOUBLE), .real_min = -2, .real_max = 3};
    double sum = 0;
    for (uint64_t row = 0; row < 5000; row++) {
        double value = msi_generator_value(&real, &env, row).u.f;
        assert_true(value >= -2 && value <= 3);
        sum += value;
    }
    assert_true(sum / 5000 > 0.3 && sum / 5000 < 0.7);
    real =
        (msi_generator){.type = simple(MS_TYPE_DOUBLE), .real_min = -1.7e308, .real_max = 1.7e308};
    for (uint64_t row = 0; row < 100; row++) {
        assert_true(msi_generator_value(&real, &env, row).u.f <= 1.7e308);
    }
    const ms_type *decimal = ms_type_decimal(&arena, 5, 2, true);
    msi_generator price = {.type = decimal, .real_min = 1, .real_max = 2};
    for (uint64_t row = 0; row < 100; row++) {
        assert_in_range(msi_generator_value(&price, &env, row).u.i, 100, 200);
    }
}

static void strings_are_hex_digits_of_their_length(void **state)
{
    (void)state;
    msi_generator text = {.type = ms_type_string(&arena, true), .length = 37};
    ms_str value = msi_generator_value(&text, &env, 3).u.str;
    assert_int_equal(value.bytes, 37);
    for (size_t i = 0; i < value.bytes; i++) {
        assert_non_null(memchr("0123456789abcdef", value.ptr[i], 16));
    }
    text.is_varied = true;
    size_t least = 100;
    size_t most = 0;
    for (uint64_t row = 0; row < 1000; row++) {
        size_t bytes = msi_generator_value(&text, &env, row).u.str.bytes;
        least = bytes < least ? bytes : least;
        most = bytes > most ? bytes : most;
    }
    assert_int_equal(least, 1);
    assert_int_equal(most, 36);
    text.length = 1;
    assert_int_equal(msi_generator_value(&text, &env, 0).u.str.bytes, 1);
    msi_generator bytes = {.type = ms_type_bytes(&arena, true), .length = 11};
    assert_int_equal(msi_generator_value(&bytes, &env, 3).u.str.bytes, 11);
}

static void times_follow_the_clock(void **state)
{
    (void)state;
    msi_generator at = {.type = ms_type_temporal(&arena, MS_TYPE_TIMESTAMP, 3, true)};
    assert_int_equal(msi_generator_value(&at, &env, 3).u.i, 1600000000123000);
    at.max_past_ms = 1000;
    for (uint64_t row = 0; row < 100; row++) {
        int64_t us = msi_generator_value(&at, &env, row).u.i;
        assert_true(us <= 1600000000123000 && us >= 1599999999123000);
    }
    at = (msi_generator){.type = ms_type_temporal(&arena, MS_TYPE_TIMESTAMP_LTZ, 0, true)};
    assert_int_equal(msi_generator_value(&at, &env, 3).u.i, 1600000000000000);
    msi_generator day = {.type = simple(MS_TYPE_DATE)};
    assert_true(msi_generator_needs_clock(&day));
    assert_int_equal(msi_generator_value(&day, &env, 3).u.i, 18518);
    assert_false(msi_generator_needs_clock(&at));
}

static void nulls_come_at_their_rate(void **state)
{
    (void)state;
    msi_generator flag = {.type = simple(MS_TYPE_BOOLEAN), .null_rate = 0.25};
    uint32_t nulls = 0;
    uint32_t trues = 0;
    for (uint64_t row = 0; row < 4000; row++) {
        ms_value value = msi_generator_value(&flag, &env, row);
        nulls += value.is_null;
        trues += !value.is_null && value.u.i == 1;
    }
    assert_in_range(nulls, 850, 1150);
    assert_in_range(trues, 1350, 1650);
    flag.null_rate = 1;
    assert_true(msi_generator_value(&flag, &env, 3).is_null);
}

static void nested_values_have_their_parts(void **state)
{
    (void)state;
    const ms_type *digit = simple(MS_TYPE_INT);
    msi_generator parts[2] = {{.type = digit, .min = 0, .max = 1},
                              {.type = digit, .min = 5, .max = 6}};
    msi_generator list = {.type = ms_type_array(&arena, digit, true),
                          .length = 4,
                          .children = parts,
                          .child_count = 1};
    assert_int_equal(msi_generator_value(&list, &env, 3).item_count, 4);
    msi_generator map = {.type = ms_type_map(&arena, digit, digit, true),
                         .length = 9,
                         .children = parts,
                         .child_count = 2};
    ms_value value = msi_generator_value(&map, &env, 3);
    assert_int_equal(value.item_count, 4);
    assert_int_equal(value.u.items[0].u.i + value.u.items[2].u.i, 1);
    assert_in_range(value.u.items[1].u.i, 5, 6);
    msi_generator bag = {.type = ms_type_multiset(&arena, digit, true),
                         .length = 9,
                         .children = parts,
                         .child_count = 1};
    value = msi_generator_value(&bag, &env, 3);
    assert_int_equal(value.item_count, 4);
    assert_in_range(value.u.items[1].u.i, 0, 10);
    ms_field fields[2] = {{ms_str_lit("a"), digit}, {ms_str_lit("b"), digit}};
    msi_generator row = {
        .type = ms_type_row(&arena, fields, 2, true), .children = parts, .child_count = 2};
    value = msi_generator_value(&row, &env, 3);
    assert_in_range(value.u.items[0].u.i, 0, 1);
    assert_in_range(value.u.items[1].u.i, 5, 6);
    assert_true(msi_generator_bytes(&list) > 4 * sizeof(ms_value));
}

static void sequences_count_in_every_type(void **state)
{
    (void)state;
    msi_generator s = {.is_sequence = true, .start = -3, .end = 120};
    assert_int_equal(msi_generator_rows(&s), 124);
    s.type = simple(MS_TYPE_TINYINT);
    assert_int_equal(msi_generator_value(&s, &env, 123).u.i, 120);
    s.type = simple(MS_TYPE_DOUBLE);
    assert_true(msi_generator_value(&s, &env, 1).u.f == -2.0);
    s.type = simple(MS_TYPE_FLOAT);
    assert_true(msi_generator_value(&s, &env, 2).u.f == -1.0);
    s.type = ms_type_string(&arena, true);
    assert_str_equal(msi_generator_value(&s, &env, 0).u.str, "-3");
    s.type = ms_type_sized(&arena, MS_TYPE_CHAR, 4, true);
    assert_str_equal(msi_generator_value(&s, &env, 13).u.str, "10  ");
    s.type = ms_type_bytes(&arena, true);
    ms_str bytes = msi_generator_value(&s, &env, 4).u.str;
    assert_int_equal(bytes.bytes, 8);
    assert_memory_equal(bytes.ptr, "\0\0\0\0\0\0\0\1", 8);
    s.type = ms_type_decimal(&arena, 5, 2, true);
    assert_int_equal(msi_generator_value(&s, &env, 4).u.i, 100);
    s.type = ms_type_decimal(&arena, 30, 2, true);
    assert_true(msi_generator_value(&s, &env, 4).u.dec == 100);
    s.null_rate = 1;
    assert_true(msi_generator_value(&s, &env, 4).is_null);
    s = (msi_generator){.is_sequence = true, .start = INT64_MIN, .end = INT64_MAX};
    assert_true(msi_generator_rows(&s) == UINT64_MAX - 1);
    s.is_sequence = false;
    assert_true(msi_generator_rows(&s) == UINT64_MAX);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_value_depends_on_seed_column_and_row_alone),
        TEST(integers_fill_their_range),
        TEST(reals_stay_in_their_bounds),
        TEST(strings_are_hex_digits_of_their_length),
        TEST(times_follow_the_clock),
        TEST(nulls_come_at_their_rate),
        TEST(nested_values_have_their_parts),
        TEST(sequences_count_in_every_type),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
