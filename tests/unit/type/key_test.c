/* SPDX-License-Identifier: Apache-2.0 */
#include "type/key.h"

#include "type/random_data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static int sign(int order)
{
    return (order > 0) - (order < 0);
}

/* The order of two values under an order of keys. */
static int compare_under(const ms_value *a, const ms_value *b, ms_key_order order)
{
    if (a->is_null || b->is_null) {
        /* NULL is the smallest value, unless it is told to be the largest. */
        int small_first = (int)b->is_null - (int)a->is_null;
        int flipped = order.nulls_flipped ? -small_first : small_first;
        return order.descending ? -flipped : flipped;
    }
    int compared = sign(ms_value_compare(a, b));
    return order.descending ? -compared : compared;
}

static void start(rnd *r, ms_arena *arena, uint64_t seed)
{
    ms_arena_init(arena, 0);
    *r = (rnd){.values = arena, .vectors = arena, .canonical = true};
    ms_env_random_init(&r->random, seed);
}

static ms_key_order random_order(rnd *r)
{
    return (ms_key_order){rnd_chance(r, 50), rnd_chance(r, 50)};
}

/* Rows of several columns: the bytes compare as the values do, column by column. */
static void bytes_have_the_order_of_the_values(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 1500; seed++) {
        ms_arena arena;
        rnd r;
        start(&r, &arena, seed);
        uint32_t columns = 1 + rnd_below(&r, 3);
        const ms_type *types[3];
        ms_key_order orders[3];
        for (uint32_t c = 0; c < columns; c++) {
            types[c] = rnd_type(&r, 2);
            orders[c] = random_order(&r);
        }
        for (int i = 0; i < 30; i++) {
            ms_value rows[2][3];
            ms_buf keys[2];
            int expected = 0;
            ms_status st = {0};
            for (int side = 0; side < 2; side++) {
                ms_buf_init(&keys[side], 1 << 20);
                for (uint32_t c = 0; c < columns; c++) {
                    /* The same value on both sides, often, so that later columns count. */
                    rows[side][c] =
                        side == 1 && rnd_chance(&r, 40) ? rows[0][c] : rnd_value(&r, types[c]);
                    assert_int_equal(
                        ms_key_append_value(&keys[side], &rows[side][c], orders[c], &st), MS_OK);
                }
            }
            for (uint32_t c = 0; c < columns && expected == 0; c++) {
                expected = compare_under(&rows[0][c], &rows[1][c], orders[c]);
            }
            int got = sign(ms_str_compare(ms_buf_view(&keys[0]), ms_buf_view(&keys[1])));
            assert_int_equal(got, expected);
            ms_buf_release(&keys[0]);
            ms_buf_release(&keys[1]);
        }
        ms_arena_release(&arena);
    }
}

static void keys_come_apart_again(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 800; seed++) {
        ms_arena arena;
        rnd r;
        start(&r, &arena, seed);
        ms_value rows[4];
        ms_key_order orders[4];
        ms_buf key;
        ms_status st = {0};
        ms_buf_init(&key, 1 << 20);
        for (int c = 0; c < 4; c++) {
            rows[c] = rnd_value(&r, rnd_type(&r, 3));
            orders[c] = random_order(&r);
            assert_int_equal(ms_key_append_value(&key, &rows[c], orders[c], &st), MS_OK);
        }
        ms_str rest = ms_buf_view(&key);
        for (int c = 0; c < 4; c++) {
            ms_value got;
            assert_int_equal(ms_key_decode(&rest, rows[c].type, orders[c], &arena, &got, &st),
                             MS_OK);
            assert_true(ms_value_equals(&got, &rows[c]));
        }
        assert_int_equal(rest.bytes, 0);
        ms_buf_release(&key);
        ms_arena_release(&arena);
    }
}

static void vectors_make_the_keys_of_their_values(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 100; seed++) {
        ms_arena arena;
        rnd r;
        start(&r, &arena, seed);
        ms_vec vec;
        ms_value *values = rnd_vec(&r, &vec, rnd_type(&r, 3), 30);
        ms_key_order order = random_order(&r);
        for (uint32_t row = 0; row < 30; row++) {
            ms_buf a;
            ms_buf b;
            ms_status st = {0};
            ms_buf_init(&a, 1 << 20);
            ms_buf_init(&b, 1 << 20);
            assert_int_equal(ms_key_append(&a, &vec, row, order, &st), MS_OK);
            assert_int_equal(ms_key_append_value(&b, &values[row], order, &st), MS_OK);
            assert_true(ms_str_equals(ms_buf_view(&a), ms_buf_view(&b)));
            ms_buf_release(&a);
            ms_buf_release(&b);
        }
        ms_arena_release(&arena);
    }
}

static const ms_type int_type = {.kind = MS_TYPE_INT, .nullable = true, .phys = MS_PHYS_I32};
static const ms_type double_type = {.kind = MS_TYPE_DOUBLE, .nullable = true, .phys = MS_PHYS_F64};
static const ms_type string_type = {
    .kind = MS_TYPE_VARCHAR, .nullable = true, .phys = MS_PHYS_STR, .precision = INT32_MAX};

static void assert_key(ms_value value, ms_key_order order, const char *bytes, size_t count)
{
    ms_buf key;
    ms_status st = {0};
    ms_buf_init(&key, 100);
    assert_int_equal(ms_key_append_value(&key, &value, order, &st), MS_OK);
    assert_int_equal(key.bytes, count);
    assert_memory_equal(key.ptr, bytes, count);
    ms_buf_release(&key);
}

static void the_bytes_are_as_documented(void **state)
{
    (void)state;
    ms_key_order up = {0};
    ms_key_order down = {.descending = true};
    ms_key_order last = {.nulls_flipped = true};
    assert_key(ms_value_int(&int_type, 1), up, "\x01\x80\x00\x00\x01", 5);
    assert_key(ms_value_int(&int_type, -1), up, "\x01\x7f\xff\xff\xff", 5);
    assert_key(ms_value_int(&int_type, 1), down, "\xfe\x7f\xff\xff\xfe", 5);
    assert_key(ms_value_null(&int_type), up, "\x00", 1);
    assert_key(ms_value_null(&int_type), down, "\xff", 1);
    assert_key(ms_value_null(&int_type), last, "\x02", 1);
    assert_key(ms_value_str(&string_type, ms_str_make("a\0b", 3)), up,
               "\x01"
               "a\x00\xff"
               "b\x00\x00",
               7);
    assert_key(ms_value_double(&double_type, -0.0), up, "\x01\x80\x00\x00\x00\x00\x00\x00\x00", 9);
    assert_key(ms_value_double(&double_type, 1.0), up, "\x01\xbf\xf0\x00\x00\x00\x00\x00\x00", 9);
}

static void any_bytes_are_safe_to_decode(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 3000; seed++) {
        ms_arena arena;
        rnd r;
        start(&r, &arena, seed);
        const ms_type *type = rnd_type(&r, 3);
        ms_key_order order = random_order(&r);
        ms_buf key;
        ms_status st = {0};
        ms_buf_init(&key, 1 << 20);
        ms_value value = rnd_value(&r, type);
        assert_int_equal(ms_key_append_value(&key, &value, order, &st), MS_OK);
        size_t bytes = rnd_below(&r, (uint32_t)key.bytes + 1);
        char *copy = ms_arena_alloc(&arena, bytes, 1);
        for (size_t i = 0; i < bytes; i++) {
            copy[i] = rnd_chance(&r, 10) ? (char)rnd_below(&r, 256) : key.ptr[i];
        }
        ms_str rest = ms_str_make(copy, bytes);
        ms_value got;
        while (rest.bytes > 0 && ms_key_decode(&rest, type, order, &arena, &got, &st) == MS_OK) {
        }
        assert_true(rest.bytes == 0 || st.code == MS_CORRUPT_DATA);
        ms_buf_release(&key);
        ms_arena_release(&arena);
    }
}

/* Many small strings in one key take memory for what they are, not for what is left of the key. */
static void decoding_takes_memory_in_proportion(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    const ms_type *type = ms_type_array(&arena, &string_type, false);
    ms_value *items = ms_arena_array(&arena, ms_value, 20000);
    for (int i = 0; i < 20000; i++) {
        items[i] = ms_value_str(&string_type, ms_str_lit("x"));
    }
    ms_value value = {.type = type, .item_count = 20000, .u.items = items};
    ms_buf key;
    ms_status st = {0};
    ms_buf_init(&key, 1 << 20);
    assert_int_equal(ms_key_append_value(&key, &value, (ms_key_order){0}, &st), MS_OK);
    ms_arena scratch;
    ms_arena_init(&scratch, 0);
    ms_str rest = ms_buf_view(&key);
    ms_value got;
    assert_int_equal(ms_key_decode(&rest, type, (ms_key_order){0}, &scratch, &got, &st), MS_OK);
    assert_int_equal(got.item_count, 20000);
    assert_true(ms_arena_used_bytes(&scratch) < 200 * key.bytes);
    ms_arena_release(&scratch);
    ms_buf_release(&key);
    ms_arena_release(&arena);
}

static void a_full_buffer_is_reported(void **state)
{
    (void)state;
    ms_buf key;
    ms_status st = {0};
    ms_buf_init(&key, 6);
    ms_value value = ms_value_int(&int_type, 1);
    assert_int_equal(ms_key_append_value(&key, &value, (ms_key_order){0}, &st), MS_OK);
    assert_int_equal(ms_key_append_value(&key, &value, (ms_key_order){0}, &st), MS_LIMIT);
    ms_buf_release(&key);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_have_the_order_of_the_values),
        cmocka_unit_test(keys_come_apart_again),
        cmocka_unit_test(vectors_make_the_keys_of_their_values),
        cmocka_unit_test(the_bytes_are_as_documented),
        cmocka_unit_test(any_bytes_are_safe_to_decode),
        cmocka_unit_test(decoding_takes_memory_in_proportion),
        cmocka_unit_test(a_full_buffer_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
