/* SPDX-License-Identifier: Apache-2.0 */
#include "type/heap.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void bytes_stay_where_they_are(void **state)
{
    (void)state;
    ms_heap *heap = ms_heap_create(64);
    char *texts[200];
    for (int i = 0; i < 200; i++) {
        texts[i] = ms_heap_alloc(heap, 40);
        memset(texts[i], i, 40);
    }
    for (int i = 0; i < 200; i++) {
        assert_int_equal((unsigned char)texts[i][0], i);
        assert_int_equal((unsigned char)texts[i][39], i);
    }
    assert_int_equal(ms_heap_used_bytes(heap), 200 * 40);
    assert_true(ms_heap_held_bytes(heap) >= 200 * 40);
    ms_heap_drop(heap);
}

static void slack_behind_a_block_is_readable(void **state)
{
    (void)state;
    ms_heap *heap = ms_heap_create(32);
    char *text = ms_heap_alloc(heap, 32);
    memset(text, 'x', 32);
    char copy[32 + MS_HEAP_SLACK];
    memcpy(copy, text, sizeof(copy));
    assert_int_equal(copy[31], 'x');
    ms_heap_drop(heap);
}

static void reset_keeps_one_block_for_all(void **state)
{
    (void)state;
    ms_heap *heap = ms_heap_create(64);
    for (int i = 0; i < 100; i++) {
        (void)ms_heap_alloc(heap, 100);
    }
    size_t held = ms_heap_held_bytes(heap);
    ms_heap_reset(heap);
    assert_int_equal(ms_heap_used_bytes(heap), 0);
    assert_int_equal(ms_heap_held_bytes(heap), held);
    uint64_t before = ms_mem_allocation_count();
    for (int i = 0; i < 100; i++) {
        (void)ms_heap_alloc(heap, 100);
    }
    assert_int_equal(ms_mem_allocation_count(), before);
    ms_heap_drop(heap);
}

static void a_large_string_takes_a_block_of_its_own(void **state)
{
    (void)state;
    ms_heap *heap = ms_heap_create(64);
    char *text = ms_heap_alloc(heap, 1 << 20);
    memset(text, 1, 1 << 20);
    assert_true(ms_heap_held_bytes(heap) >= 1 << 20);
    ms_heap_drop(heap);
}

static void the_last_drop_frees(void **state)
{
    (void)state;
    ms_heap *heap = ms_heap_create(0);
    char *text = ms_heap_alloc(heap, 5);
    memcpy(text, "hello", 5);
    ms_heap_retain(heap);
    assert_false(ms_heap_is_unique(heap));
    ms_heap_drop(heap);
    assert_true(ms_heap_is_unique(heap));
    assert_memory_equal(text, "hello", 5);
    ms_heap_drop(heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_stay_where_they_are),
        cmocka_unit_test(slack_behind_a_block_is_readable),
        cmocka_unit_test(reset_keeps_one_block_for_all),
        cmocka_unit_test(a_large_string_takes_a_block_of_its_own),
        cmocka_unit_test(the_last_drop_frees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
