/* SPDX-License-Identifier: Apache-2.0 */
#include "type/value.h"

#include "type/random_data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void start(rnd *r, ms_arena *arena, uint64_t seed)
{
    ms_arena_init(arena, 0);
    *r = (rnd){.values = arena, .vectors = arena};
    ms_env_random_init(&r->random, seed);
}

static void values_survive_a_vector(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 150; seed++) {
        ms_arena arena;
        rnd r;
        start(&r, &arena, seed);
        const ms_type *type = ms_type_as_nullable(&arena, rnd_type(&r, 3), true);
        ms_vec vec;
        ms_vec_alloc(&vec, type, 50, &arena);
        ms_value values[50];
        for (uint32_t i = 0; i < 50; i++) {
            values[i] = rnd_value(&r, type);
            ms_value_to_vec(&arena, &values[i], &vec, i, 50);
        }
        /* Rows may be written again. */
        values[7] = rnd_value(&r, type);
        ms_value_to_vec(&arena, &values[7], &vec, 7, 50);
        for (uint32_t i = 0; i < 50; i++) {
            ms_value got = ms_value_from_vec(&arena, &vec, i);
            assert_true(rnd_identical(&got, &values[i]));
        }
        ms_arena_release(&arena);
    }
}

static void pooled_columns_take_values_without_an_arena(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 60; seed++) {
        ms_arena arena;
        rnd r;
        start(&r, &arena, seed);
        ms_schema schema = rnd_schema(&r, 3, 3);
        ms_batch_pool *pool = ms_batch_pool_create(&schema, 20, 1);
        for (int round = 0; round < 2; round++) {
            ms_batch *batch = ms_batch_pool_take(pool);
            ms_value values[3][20];
            for (uint32_t i = 0; i < 20; i++) {
                for (uint32_t c = 0; c < schema.column_count; c++) {
                    values[c][i] = rnd_value(&r, schema.columns[c].type);
                    ms_value_to_vec(NULL, &values[c][i], &batch->columns[c], i, 20);
                }
            }
            for (uint32_t i = 0; i < 20; i++) {
                for (uint32_t c = 0; c < schema.column_count; c++) {
                    ms_value got = ms_value_from_vec(&arena, &batch->columns[c], i);
                    assert_true(rnd_identical(&got, &values[c][i]));
                }
            }
            ms_batch_drop(batch);
        }
        ms_batch_pool_destroy(pool);
        ms_arena_release(&arena);
    }
}

static void copies_are_deep(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 100; seed++) {
        ms_arena arena;
        ms_arena other;
        rnd r;
        start(&r, &arena, seed);
        ms_arena_init(&other, 0);
        const ms_type *type = ms_type_copy(&other, rnd_type(&r, 3));
        ms_value value = rnd_value(&r, type);
        ms_value first = ms_value_copy(&other, &value);
        ms_value second = ms_value_copy(&other, &value);
        assert_true(rnd_identical(&first, &value));
        ms_arena_release(&arena);
        assert_true(rnd_identical(&first, &second));
        ms_arena_release(&other);
    }
}

static int sign(int order)
{
    return (order > 0) - (order < 0);
}

static void order_is_total(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 300; seed++) {
        ms_arena arena;
        rnd r;
        start(&r, &arena, seed);
        const ms_type *type = rnd_type(&r, 2);
        ms_value v[3];
        for (int i = 0; i < 3; i++) {
            v[i] = rnd_value(&r, type);
            assert_int_equal(ms_value_compare(&v[i], &v[i]), 0);
            assert_true(ms_value_equals(&v[i], &v[i]));
        }
        assert_int_equal(sign(ms_value_compare(&v[0], &v[1])),
                         -sign(ms_value_compare(&v[1], &v[0])));
        if (ms_value_compare(&v[0], &v[1]) <= 0 && ms_value_compare(&v[1], &v[2]) <= 0) {
            assert_true(ms_value_compare(&v[0], &v[2]) <= 0);
        }
        ms_arena_release(&arena);
    }
}

static const ms_type double_type = {.kind = MS_TYPE_DOUBLE, .nullable = true, .phys = MS_PHYS_F64};
static const ms_type int_type = {.kind = MS_TYPE_INT, .nullable = true, .phys = MS_PHYS_I32};

static void nulls_come_first_and_nan_last(void **state)
{
    (void)state;
    ms_value null = ms_value_null(&double_type);
    ms_value low = ms_value_double(&double_type, -INFINITY);
    ms_value zero = ms_value_double(&double_type, 0.0);
    ms_value minus_zero = ms_value_double(&double_type, -0.0);
    ms_value high = ms_value_double(&double_type, INFINITY);
    ms_value nan = ms_value_double(&double_type, NAN);
    assert_true(ms_value_compare(&null, &low) < 0);
    assert_true(ms_value_compare(&low, &zero) < 0);
    assert_true(ms_value_equals(&zero, &minus_zero));
    assert_true(ms_value_compare(&high, &nan) < 0);
    assert_true(ms_value_equals(&nan, &nan));
    assert_true(ms_value_equals(&null, &null));
}

static void maps_are_equal_in_any_order(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    const ms_type *type = ms_type_map(&arena, &int_type, &int_type, true);
    ms_value a[] = {ms_value_int(&int_type, 1), ms_value_int(&int_type, 10),
                    ms_value_int(&int_type, 2), ms_value_int(&int_type, 20)};
    ms_value b[] = {ms_value_int(&int_type, 2), ms_value_int(&int_type, 20),
                    ms_value_int(&int_type, 1), ms_value_int(&int_type, 10)};
    ms_value map_a = {.type = type, .item_count = 4, .u.items = a};
    ms_value map_b = {.type = type, .item_count = 4, .u.items = b};
    assert_true(ms_value_equals(&map_a, &map_b));
    b[1] = ms_value_int(&int_type, 21);
    assert_false(ms_value_equals(&map_a, &map_b));
    ms_value empty = {.type = type};
    assert_true(ms_value_compare(&empty, &map_a) < 0);
    assert_true(ms_value_equals(&empty, &empty));
    ms_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_survive_a_vector),
        cmocka_unit_test(pooled_columns_take_values_without_an_arena),
        cmocka_unit_test(copies_are_deep),
        cmocka_unit_test(order_is_total),
        cmocka_unit_test(nulls_come_first_and_nan_last),
        cmocka_unit_test(maps_are_equal_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
