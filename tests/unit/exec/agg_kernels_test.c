/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loops of the aggregates against plain ones, dense and through positions, at every length
 * around the width of a vector register.
 */
#include "testing.h"

#include "base/env.h"
#include "base/limits.h"
#include "exec/agg_kernels.h"

#include <math.h>

#define ROWS MS_BATCH_ROWS_MAX

static uint16_t positions[4096];

static void fill(ms_env_random *random, void *data, size_t bytes)
{
    for (size_t i = 0; i + 8 <= bytes; i += 8) {
        uint64_t word = ms_env_random_next(random);
        memcpy((char *)data + i, &word, 8);
    }
}

/* Every other position or so. */
static uint32_t choose(ms_env_random *random, uint32_t count)
{
    uint32_t chosen = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (ms_env_random_below(random, 2) == 0) {
            positions[chosen++] = (uint16_t)i;
        }
    }
    return chosen;
}

#define CHECK_INTEGERS(ctype, suffix, sum_kernel)                                                  \
    do {                                                                                           \
        static ctype data[ROWS];                                                                   \
        fill(&random, data, sizeof(data));                                                         \
        for (uint32_t count = 0; count <= ROWS; count = count < 70 ? count + 1 : count * 2) {      \
            for (int sparse = 0; sparse < 2; sparse++) {                                           \
                uint32_t rows = sparse ? choose(&random, count) : count;                           \
                const uint16_t *pos = sparse ? positions : NULL;                                   \
                ms_i128 sum = 0;                                                                   \
                int64_t min = data[0];                                                             \
                int64_t max = data[0];                                                             \
                for (uint32_t i = 0; i < rows; i++) {                                              \
                    int64_t value = data[sparse ? positions[i] : i];                               \
                    sum += value;                                                                  \
                    min = value < min ? value : min;                                               \
                    max = value > max ? value : max;                                               \
                }                                                                                  \
                assert_true(sum_kernel(data, pos, rows) == sum);                                   \
                assert_int_equal(msi_min_##suffix(data[0], data, pos, rows), min);                 \
                assert_int_equal(msi_max_##suffix(data[0], data, pos, rows), max);                 \
            }                                                                                      \
        }                                                                                          \
    } while (0)

static void sums_and_bounds_of_integers_are_exact(void **state)
{
    (void)state;
    ms_env_random random;
    ms_env_random_init(&random, 3);
    CHECK_INTEGERS(int8_t, i8, msi_sum_i8);
    CHECK_INTEGERS(int16_t, i16, msi_sum_i16);
    CHECK_INTEGERS(int32_t, i32, msi_sum_i32);
    CHECK_INTEGERS(int64_t, i64, msi_sum_i64);
}

static void sums_of_the_largest_integers_do_not_wrap(void **state)
{
    (void)state;
    static int64_t data[ROWS];
    for (uint32_t i = 0; i < ROWS; i++) {
        data[i] = INT64_MIN;
    }
    assert_true(msi_sum_i64(data, NULL, ROWS) == (ms_i128)INT64_MIN * ROWS);
    for (uint32_t i = 0; i < ROWS; i++) {
        data[i] = INT64_MAX;
    }
    assert_true(msi_sum_i64(data, NULL, ROWS) == (ms_i128)INT64_MAX * ROWS);
}

static void a_sum_that_leaves_128_bits_says_so(void **state)
{
    (void)state;
    const ms_i128 huge = (((ms_i128)1 << 126) - 1) * 2 + 1;
    const ms_i128 data[] = {huge, 1, -1, -huge};
    ms_i128 sum = 0;
    assert_false(msi_sum_i128(&sum, 1, data, NULL, 2));
    sum = 0;
    assert_true(msi_sum_i128(&sum, 1, data, NULL, 1));
    assert_true(sum == huge);
    static const uint16_t pos[] = {3, 1};
    sum = 0;
    assert_true(msi_sum_i128(&sum, -1, data, pos, 2));
    assert_true(sum == huge - 1);
    ms_i128 best = msi_min_i128(0, data, NULL, 4);
    assert_true(best == -huge);
    best = msi_max_i128(0, data, pos, 2);
    assert_true(best == 1);
}

static void floats_are_summed_in_their_order(void **state)
{
    (void)state;
    const double data[] = {1e16, 1.0, -1e16, 1.0};
    assert_true(msi_sum_f64(0, 1, data, NULL, 4) == ((0 + 1e16) + 1.0 - 1e16) + 1.0);
    static const uint16_t pos[] = {0, 2, 1};
    assert_true(msi_sum_f64(0, 1, data, pos, 3) == 1.0);
    assert_true(msi_sum_f64(10, -1, data, pos + 2, 1) == 9.0);
    const float narrow[] = {16777216.0F, 1.0F, 1.0F};
    assert_true(msi_sum_f32(0, 1, narrow, NULL, 3) == 16777216.0F);
    assert_true(msi_sum_f32_wide(0, 1, narrow, NULL, 3) == 16777218.0);
}

static void a_nan_never_wins_and_never_loses(void **state)
{
    (void)state;
    const double later[] = {2.0, NAN, 1.0};
    assert_true(msi_min_f64(3.0, later, NULL, 3) == 1.0);
    assert_true(msi_max_f64(0.0, later, NULL, 3) == 2.0);
    assert_true(isnan(msi_min_f64(NAN, later, NULL, 3)));
    assert_true(isnan(msi_max_f64(NAN, later, NULL, 3)));
    const float zeros[] = {-0.0F, 0.0F};
    assert_false(signbit(msi_min_f32(0.0, zeros, NULL, 2)));
    assert_true(signbit(msi_max_f32(-0.0, zeros, NULL, 2)));
}

static void the_best_string_and_time_win(void **state)
{
    (void)state;
    ms_view views[] = {ms_view_make("pear", 4), ms_view_make("an apple of the tree", 20),
                       ms_view_make("pearl", 5), ms_view_make("an apple of the trea", 20)};
    static const uint16_t pos[] = {0, 2, 1};
    ms_view best = msi_best_view(views[0], -1, views, NULL, 4);
    assert_str_equal(ms_view_str(&best), "an apple of the trea");
    best = msi_best_view(views[0], -1, views, pos, 3);
    assert_str_equal(ms_view_str(&best), "an apple of the tree");
    best = msi_best_view(views[0], 1, views, pos, 3);
    assert_str_equal(ms_view_str(&best), "pearl");
    const ms_ts16 times[] = {{5, 7}, {5, 9}, {4, 999}};
    assert_int_equal(msi_best_ts16(times[0], 1, times, NULL, 3).ns, 9);
    assert_int_equal(msi_best_ts16(times[0], -1, times, NULL, 3).ms, 4);
}

static void positions_of_true_and_of_values_are_kept(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_vec flags;
    const ms_type *type = ms_type_simple(&arena, MS_TYPE_BOOLEAN, true);
    ms_vec_alloc(&flags, type, 100, &arena);
    uint8_t *data = MS_VEC_DATA(&flags, uint8_t);
    for (uint32_t i = 0; i < 100; i++) {
        data[i] = i % 3 == 0;
    }
    ms_bit_clear(ms_vec_validity(&flags), 6);
    uint16_t out[100];
    assert_int_equal(msi_keep_true(&flags, NULL, 0, 10, out), 3);
    assert_int_equal(out[2], 9);
    assert_int_equal(msi_keep_true(&flags, NULL, 5, 5, out), 1);
    assert_int_equal(out[0], 9);
    static const uint16_t rows[] = {3, 4, 6, 12};
    assert_int_equal(msi_keep_true(&flags, rows, 0, 4, out), 2);
    assert_int_equal(out[1], 12);
    assert_int_equal(msi_keep_values(&flags, NULL, 5, 3, out), 2);
    assert_int_equal(out[1], 7);
    static const uint16_t index[] = {6, 8, 6, 9};
    flags.encoding = MS_ENC_INDEX;
    flags.index = index;
    assert_int_equal(msi_keep_values(&flags, NULL, 0, 4, out), 2);
    assert_int_equal(out[0], 8);
    assert_int_equal(out[1], 9);
    flags.encoding = MS_ENC_CONST;
    memcpy(out, rows, sizeof(rows));
    assert_int_equal(msi_keep_values(&flags, out, 0, 4, out), 4);
    assert_int_equal(out[3], 0);
    ms_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_and_bounds_of_integers_are_exact),
        cmocka_unit_test(sums_of_the_largest_integers_do_not_wrap),
        cmocka_unit_test(a_sum_that_leaves_128_bits_says_so),
        cmocka_unit_test(floats_are_summed_in_their_order),
        cmocka_unit_test(a_nan_never_wins_and_never_loses),
        cmocka_unit_test(the_best_string_and_time_win),
        cmocka_unit_test(positions_of_true_and_of_values_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
