/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/arena.h"
#include "base/env.h"
#include "base/memory.h"

static void memory_is_aligned_and_apart(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_env_random random;
    ms_env_random_init(&random, 1);
    struct {
        unsigned char *ptr;
        size_t bytes;
    } given[2000];
    for (size_t i = 0; i < 2000; i++) {
        size_t align = (size_t)1 << ms_env_random_below(&random, 7);
        given[i].bytes = ms_env_random_below(&random, i % 100 == 0 ? 100000 : 200);
        given[i].ptr = ms_arena_alloc(&arena, given[i].bytes, align);
        assert_int_equal((uintptr_t)given[i].ptr % align, 0);
        memset(given[i].ptr, (int)(i % 251), given[i].bytes);
    }
    for (size_t i = 0; i < 2000; i++) {
        for (size_t b = 0; b < given[i].bytes; b++) {
            assert_int_equal(given[i].ptr[b], i % 251);
        }
    }
    ms_arena_release(&arena);
}

static void new_and_array_are_zeroed(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 64);
    memset(ms_arena_alloc(&arena, 60, 1), 0xFF, 60);
    ms_arena_reset(&arena);
    uint64_t *one = ms_arena_new(&arena, uint64_t);
    uint32_t *many = ms_arena_array(&arena, uint32_t, 1000);
    assert_int_equal(*one, 0);
    for (size_t i = 0; i < 1000; i++) {
        assert_int_equal(many[i], 0);
    }
    assert_non_null(ms_arena_array(&arena, uint32_t, 0));
    ms_arena_release(&arena);
}

static void texts_are_copied_with_a_nul(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    char original[] = "abc";
    ms_str copy = ms_arena_copy_str(&arena, ms_str_make(original, 2));
    original[0] = 'x';
    assert_str_equal(copy, "ab");
    assert_int_equal(copy.ptr[2], '\0');
    ms_str empty = ms_arena_copy_str(&arena, (ms_str){NULL, 0});
    assert_str_equal(empty, "");
    assert_int_equal(empty.ptr[0], '\0');
    ms_str formatted = ms_arena_format(&arena, "%d-%s-%5000d", 7, "x", 1);
    assert_int_equal(formatted.bytes, 5004);
    assert_memory_equal(formatted.ptr, "7-x-", 4);
    assert_int_equal(formatted.ptr[5004], '\0');
    ms_arena_release(&arena);
}

static char order[8];

static void note_order(void *arg)
{
    strncat(order, arg, 1);
}

static void hooks_run_newest_first_and_once(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    order[0] = '\0';
    char names[] = "abc";
    for (int i = 0; i < 3; i++) {
        ms_arena_on_release(&arena, note_order, &names[i]);
    }
    ms_arena_reset(&arena);
    assert_string_equal(order, "cba");
    ms_arena_on_release(&arena, note_order, &names[0]);
    ms_arena_release(&arena);
    assert_string_equal(order, "cbaa");
    ms_arena_release(&arena);
    assert_string_equal(order, "cbaa");
}

static void used_bytes_count_what_was_handed_out(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    assert_int_equal(ms_arena_used_bytes(&arena), 0);
    ms_arena_alloc(&arena, 100, 1);
    ms_arena_alloc(&arena, 200000, 1);
    assert_int_equal(ms_arena_used_bytes(&arena), 200100);
    ms_arena_reset(&arena);
    assert_int_equal(ms_arena_used_bytes(&arena), 0);
    ms_arena_release(&arena);
}

static void trimming_gives_back_what_is_more_than_wanted(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_arena_alloc(&arena, 100, 1);
    ms_arena_trim(&arena, 100);
    assert_non_null(arena.blocks);
    assert_int_equal(ms_arena_used_bytes(&arena), 0);
    ms_arena_alloc(&arena, 101, 1);
    ms_arena_trim(&arena, 100);
    assert_null(arena.blocks);
    assert_int_equal(ms_arena_used_bytes(&arena), 0);
    ms_arena_release(&arena);
}

static void use_round(ms_arena *arena, size_t bytes)
{
    for (size_t used = 0; used < bytes; used += 1000) {
        memset(ms_arena_alloc(arena, 1000, 16), 1, 1000);
    }
    ms_arena_reset(arena);
}

static void scratch_in_steady_state_allocates_nothing(void **state)
{
    (void)state;
    const size_t sizes[] = {500, 5000, 100000, 3 << 20, 9 << 20};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        ms_arena arena;
        ms_arena_init(&arena, 0);
        use_round(&arena, sizes[i]);
        use_round(&arena, sizes[i]);
        uint64_t before = ms_mem_allocation_count();
        for (int round = 0; round < 10; round++) {
            use_round(&arena, sizes[i]);
        }
        assert_int_equal(ms_mem_allocation_count(), before);
        ms_arena_release(&arena);
    }
}

static void a_large_allocation_does_not_end_the_block(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    char *before = ms_arena_alloc(&arena, 8, 1);
    ms_arena_alloc(&arena, 1 << 20, 1);
    char *after = ms_arena_alloc(&arena, 8, 1);
    assert_ptr_equal(after, before + 8);
    ms_arena_release(&arena);
}

static void a_giant_is_not_kept(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_arena_alloc(&arena, 64 << 20, 1);
    ms_arena_reset(&arena);
    assert_null(arena.blocks);
    ms_arena_release(&arena);
}

static void overflow_the_product(void *arg)
{
    ms_arena_calloc(arg, SIZE_MAX / 2, 3, 1);
}

static void impossible_sizes_are_exhaustion(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    assert_exhausts(overflow_the_product, &arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_aligned_and_apart),
        cmocka_unit_test(new_and_array_are_zeroed),
        cmocka_unit_test(texts_are_copied_with_a_nul),
        cmocka_unit_test(trimming_gives_back_what_is_more_than_wanted),
        cmocka_unit_test(hooks_run_newest_first_and_once),
        cmocka_unit_test(used_bytes_count_what_was_handed_out),
        cmocka_unit_test(scratch_in_steady_state_allocates_nothing),
        cmocka_unit_test(a_large_allocation_does_not_end_the_block),
        cmocka_unit_test(a_giant_is_not_kept),
        cmocka_unit_test(impossible_sizes_are_exhaustion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
