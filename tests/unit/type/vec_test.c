/* SPDX-License-Identifier: Apache-2.0 */
#include "type/vec.h"

#include "type/random_data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static ms_view view_of(ms_str text)
{
    return ms_view_make(text.ptr, (uint32_t)text.bytes);
}

static void views_keep_short_strings_inline(void **state)
{
    (void)state;
    char text[] = "twelve bytes";
    ms_view view = ms_view_make(text, 12);
    memset(text, 'x', sizeof(text));
    assert_true(ms_str_equals(ms_view_str(&view), ms_str_lit("twelve bytes")));
    ms_view empty = ms_view_make(NULL, 0);
    assert_int_equal(ms_view_str(&empty).bytes, 0);
}

static int sign(int order)
{
    return (order > 0) - (order < 0);
}

static void views_compare_as_unsigned_bytes(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    rnd r = {.values = &arena, .vectors = &arena};
    ms_env_random_init(&r.random, 7);
    for (int i = 0; i < 20000; i++) {
        ms_str a = rnd_str(&r);
        ms_str b = rnd_chance(&r, 20) ? ms_arena_copy_str(&arena, a) : rnd_str(&r);
        ms_view x = view_of(a);
        ms_view y = view_of(b);
        assert_int_equal(ms_view_equals(&x, &y), ms_str_equals(a, b));
        assert_int_equal(sign(ms_view_compare(&x, &y)), sign(ms_str_compare(a, b)));
    }
    ms_arena_release(&arena);
}

static void a_bitmap_is_filled_to_the_last_row(void **state)
{
    (void)state;
    for (uint32_t rows = 0; rows < 200; rows++) {
        uint64_t bits[4];
        memset(bits, 0x55, sizeof(bits));
        ms_bitmap_fill(bits, rows);
        for (uint32_t i = 0; i < MS_BITMAP_WORDS(rows) * 64; i++) {
            assert_int_equal(ms_bit_get(bits, i), i < rows);
        }
    }
}

static void flatten_gives_the_selected_rows(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 200; seed++) {
        ms_arena values;
        ms_arena vectors;
        ms_arena_init(&values, 0);
        ms_arena_init(&vectors, 0);
        rnd r = {.values = &values, .vectors = &vectors};
        ms_env_random_init(&r.random, seed);
        const ms_type *type = rnd_type(&r, 3);
        uint32_t rows = 1 + rnd_below(&r, 300);
        ms_vec vec;
        ms_value *expected = rnd_vec(&r, &vec, type, rows);
        uint16_t sel[300];
        uint32_t count = rnd_below(&r, rows + 1);
        for (uint32_t k = 0; k < count; k++) {
            sel[k] = (uint16_t)rnd_below(&r, rows);
        }
        bool all = rnd_chance(&r, 30);
        count = all ? rows : count;
        ms_vec flat;
        ms_vec_flatten(&flat, &vec, all ? NULL : sel, count, &vectors);
        assert_int_equal(flat.encoding, MS_ENC_FLAT);
        for (uint32_t k = 0; k < count; k++) {
            ms_value got = ms_value_from_vec(&values, &flat, k);
            assert_true(rnd_identical(&got, &expected[all ? k : sel[k]]));
        }
        ms_arena_release(&vectors);
        ms_arena_release(&values);
    }
}

static void a_flat_vector_is_not_copied(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_vec vec;
    ms_vec_alloc(&vec, ms_type_simple(&arena, MS_TYPE_INT, true), 10, &arena);
    ms_vec flat;
    ms_vec_flatten(&flat, &vec, NULL, 10, &arena);
    assert_ptr_equal(flat.data, vec.data);
    ms_arena_release(&arena);
}

static void list_children_grow_and_keep_their_values(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    const ms_type *type = ms_type_array(&arena, ms_type_simple(&arena, MS_TYPE_INT, true), false);
    ms_vec vec;
    ms_vec_alloc(&vec, type, 100, &arena);
    uint32_t at = 0;
    for (uint32_t i = 0; i < 100; i++) {
        uint32_t first = ms_vec_list_reserve(&vec, i, &arena);
        assert_int_equal(first, at);
        for (uint32_t k = 0; k < i; k++) {
            MS_VEC_DATA(&vec.children[0], int32_t)[first + k] = (int32_t)(first + k);
            if ((first + k) % 7 == 0) {
                ms_bit_clear(ms_vec_validity(&vec.children[0]), first + k);
            }
        }
        at += i;
    }
    assert_int_equal(vec.child_rows, at);
    for (uint32_t k = 0; k < at; k++) {
        assert_int_equal(MS_VEC_DATA(&vec.children[0], int32_t)[k], k);
        assert_int_equal(ms_vec_is_null(&vec.children[0], k), k % 7 == 0);
    }
    ms_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_keep_short_strings_inline),
        cmocka_unit_test(views_compare_as_unsigned_bytes),
        cmocka_unit_test(a_bitmap_is_filled_to_the_last_row),
        cmocka_unit_test(flatten_gives_the_selected_rows),
        cmocka_unit_test(a_flat_vector_is_not_copied),
        cmocka_unit_test(list_children_grow_and_keep_their_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
