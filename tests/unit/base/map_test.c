/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/env.h"
#include "base/map.h"

static void an_empty_map_has_nothing(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_map map;
    ms_map_init(&map, &arena);
    assert_null(ms_map_get(&map, ms_str_lit("a")));
    assert_null(ms_map_find(&map, ms_str_lit("")));
    assert_false(ms_map_remove(&map, ms_str_lit("a")));
    assert_int_equal(ms_arena_used_bytes(&arena), 0);
    ms_arena_release(&arena);
}

static void add_refuses_and_put_replaces(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_map map;
    ms_map_init(&map, &arena);
    int one = 1;
    int two = 2;
    assert_true(ms_map_add(&map, ms_str_lit("a"), &one));
    assert_true(ms_map_add(&map, ms_str_lit(""), NULL));
    assert_false(ms_map_add(&map, ms_str_lit("a"), &two));
    assert_ptr_equal(ms_map_get(&map, ms_str_lit("a")), &one);
    ms_map_put(&map, ms_str_lit("a"), &two);
    ms_map_put(&map, ms_str_lit("b"), &one);
    assert_ptr_equal(ms_map_get(&map, ms_str_lit("a")), &two);
    assert_int_equal(map.count, 3);
    assert_str_equal(map.entries[0].key, "a");
    assert_str_equal(map.entries[2].key, "b");
    /* A NULL value is not an absent key. */
    assert_null(ms_map_get(&map, ms_str_lit("")));
    assert_non_null(ms_map_find(&map, ms_str_lit("")));
    ms_arena_release(&arena);
}

static void keys_differ_in_case_and_in_nul(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_map map;
    ms_map_init(&map, &arena);
    assert_true(ms_map_add(&map, ms_str_lit("a"), NULL));
    assert_true(ms_map_add(&map, ms_str_lit("A"), NULL));
    assert_true(ms_map_add(&map, ms_str_lit("a\0"), NULL));
    assert_int_equal(map.count, 3);
    ms_arena_release(&arena);
}

static void removal_keeps_the_order_of_the_others(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_map map;
    ms_map_init(&map, &arena);
    const char *names[] = {"a", "b", "c", "d"};
    for (int i = 0; i < 4; i++) {
        ms_map_put(&map, ms_str_cstr(names[i]), NULL);
    }
    assert_true(ms_map_remove(&map, ms_str_lit("b")));
    assert_false(ms_map_remove(&map, ms_str_lit("b")));
    ms_map_put(&map, ms_str_lit("b"), NULL);
    const char *expected[] = {"a", "c", "d", "b"};
    assert_int_equal(map.count, 4);
    for (int i = 0; i < 4; i++) {
        assert_str_equal(map.entries[i].key, expected[i]);
        assert_ptr_equal(ms_map_find(&map, ms_str_cstr(expected[i])), &map.entries[i]);
    }
    ms_arena_release(&arena);
}

/* Random work against a table of flags: the plainest map there is. */
static void random_work_agrees_with_an_array(void **state)
{
    (void)state;
    enum { KEYS = 500 };
    static char texts[KEYS][8];
    static int values[KEYS];
    bool present[KEYS] = {false};
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_map map;
    ms_map_init(&map, &arena);
    ms_env_random random;
    ms_env_random_init(&random, 7);
    uint32_t count = 0;
    for (int i = 0; i < KEYS; i++) {
        snprintf(texts[i], sizeof(texts[i]), "k%d", i);
    }
    for (int step = 0; step < 20000; step++) {
        size_t i = ms_env_random_below(&random, KEYS);
        ms_str key = ms_str_cstr(texts[i]);
        if (ms_env_random_below(&random, 3) != 0) {
            assert_int_equal(ms_map_add(&map, key, &values[i]), !present[i]);
            count += !present[i];
            present[i] = true;
        } else {
            assert_int_equal(ms_map_remove(&map, key), present[i]);
            count -= present[i];
            present[i] = false;
        }
        assert_int_equal(map.count, count);
    }
    for (int i = 0; i < KEYS; i++) {
        assert_ptr_equal(ms_map_get(&map, ms_str_cstr(texts[i])), present[i] ? &values[i] : NULL);
    }
    ms_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_map_has_nothing),
        cmocka_unit_test(add_refuses_and_put_replaces),
        cmocka_unit_test(keys_differ_in_case_and_in_nul),
        cmocka_unit_test(removal_keeps_the_order_of_the_others),
        cmocka_unit_test(random_work_agrees_with_an_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
