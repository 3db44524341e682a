/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of random vectors are appended in batch_test.c; here are the bits and the lists. */
#include "base/env.h"
#include "base/memory.h"
#include "type/type_priv.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define BITS 700u

static void bits_are_copied_at_any_offset(void **state)
{
    (void)state;
    ms_env_random random;
    ms_env_random_init(&random, 3);
    for (int round = 0; round < 3000; round++) {
        uint64_t src[BITS / 64 + 1];
        uint64_t dst[BITS / 64 + 1];
        uint64_t before[BITS / 64 + 1];
        for (size_t i = 0; i < sizeof(src) / sizeof(src[0]); i++) {
            src[i] = ms_env_random_next(&random);
            dst[i] = before[i] = ms_env_random_next(&random);
        }
        uint32_t first = (uint32_t)ms_env_random_below(&random, 300);
        uint32_t at = (uint32_t)ms_env_random_below(&random, 300);
        uint32_t count = (uint32_t)ms_env_random_below(&random, 400);
        uint32_t pos[400];
        for (uint32_t i = 0; i < count; i++) {
            pos[i] = (uint32_t)ms_env_random_below(&random, BITS);
        }
        bool gather = round % 2 == 0;
        msi_bits_copy(dst, at, src, (msi_rows){gather ? pos : NULL, first, count});
        for (uint32_t i = 0; i < BITS; i++) {
            bool inside = i >= at && i < at + count;
            uint32_t from = gather && inside ? pos[i - at] : first + i - at;
            assert_int_equal(ms_bit_get(dst, i),
                             inside ? ms_bit_get(src, from) : ms_bit_get(before, i));
        }
        msi_bits_set(dst, at, count);
        assert_true(msi_bits_are_set(dst, (msi_rows){NULL, at, count}));
    }
}

static void one_clear_bit_is_seen(void **state)
{
    (void)state;
    uint64_t bits[4];
    for (uint32_t clear = 0; clear < 200; clear++) {
        ms_bitmap_fill(bits, 200);
        ms_bit_clear(bits, clear);
        assert_false(msi_bits_are_set(bits, (msi_rows){NULL, 0, 200}));
        assert_true(msi_bits_are_set(bits, (msi_rows){NULL, 0, clear}));
        assert_true(msi_bits_are_set(bits, (msi_rows){NULL, clear + 1, 199 - clear}));
    }
}

/* Adjacent lists, lists in reverse and overlapping lists all come out as written. */
static void lists_may_share_elements(void **state)
{
    (void)state;
    static const ms_list lists[] = {{0, 3}, {3, 2}, {5, 0}, {1, 3}, {0, 6}, {5, 1}, {0, 0}};
    const uint32_t rows = sizeof(lists) / sizeof(lists[0]);
    ms_arena arena;
    ms_arena_init(&arena, 0);
    const ms_type *type = ms_type_array(&arena, ms_type_simple(&arena, MS_TYPE_INT, true), true);
    ms_vec src;
    ms_vec_alloc(&src, type, rows, &arena);
    ms_vec_list_reserve(&src, 6, &arena);
    for (int32_t i = 0; i < 6; i++) {
        MS_VEC_DATA(&src.children[0], int32_t)[i] = i * 10;
    }
    memcpy(src.data, lists, sizeof(lists));
    ms_vec dst;
    msi_vec_init(&dst, type, rows, NULL);
    ms_heap *heap = ms_heap_create(0);
    msi_vec_append(&dst, 0, &src, (msi_rows){NULL, 0, rows}, heap);
    for (uint32_t i = 0; i < rows; i++) {
        ms_list list = MS_VEC_DATA(&dst, ms_list)[i];
        assert_int_equal(list.length, lists[i].length);
        for (uint32_t k = 0; k < list.length; k++) {
            assert_int_equal(MS_VEC_DATA(&dst.children[0], int32_t)[list.offset + k],
                             (lists[i].offset + k) * 10);
        }
    }
    ms_heap_drop(heap);
    msi_vec_release(&dst);
    ms_arena_release(&arena);
}

static void truncate_gives_elements_back(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    const ms_type *type = ms_type_array(&arena, ms_type_simple(&arena, MS_TYPE_INT, true), true);
    ms_vec vec;
    msi_vec_init(&vec, type, 8, NULL);
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t first = ms_vec_list_reserve(&vec, 5, NULL);
        MS_VEC_DATA(&vec, ms_list)[i] = (ms_list){first, 5};
        msi_vec_set_nulls(&vec.children[0], first + 4, 1);
    }
    msi_vec_set_nulls(&vec, 3, 1);
    msi_vec_truncate(&vec, 2);
    assert_int_equal(vec.child_rows, 10);
    assert_false(ms_vec_is_null(&vec, 3));
    assert_true(ms_vec_is_null(&vec.children[0], 9));
    assert_false(ms_vec_is_null(&vec.children[0], 14));
    msi_vec_release(&vec);
    ms_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_are_copied_at_any_offset),
        cmocka_unit_test(one_clear_bit_is_seen),
        cmocka_unit_test(lists_may_share_elements),
        cmocka_unit_test(truncate_gives_elements_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
