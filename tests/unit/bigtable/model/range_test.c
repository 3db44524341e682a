/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges: each fact by itself, then the whole algebra against sets of short keys. */
#include "testing.h"

#include "base/env.h"
#include "bigtable/model/range.h"

static ms_bt_range range_of(const char *start, ms_bt_bound_kind start_kind, const char *end,
                            ms_bt_bound_kind end_kind)
{
    return (ms_bt_range){ms_bt_bound_make(start_kind, ms_str_cstr(start)),
                         ms_bt_bound_make(end_kind, ms_str_cstr(end))};
}

static void assert_text(const ms_bt_range *range, const char *expected)
{
    ms_status st = {0};
    ms_buf buf;
    ms_buf_init(&buf, 4096);
    assert_ok(ms_bt_range_render(range, &buf, &st));
    assert_str_equal(ms_buf_view(&buf), expected);
    ms_buf_release(&buf);
}

static void prefix_ends_behind_all_its_keys(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_bt_range range = ms_bt_range_prefix(ms_str_lit("ab"), &arena);
    assert_text(&range, "[ab,ac)");
    range = ms_bt_range_prefix(ms_str_lit("a\xff\xff"), &arena);
    assert_text(&range, "[a\\xff\\xff,b)");
    range = ms_bt_range_prefix(ms_str_lit("\xff\xff"), &arena);
    assert_text(&range, "[\\xff\\xff,*)");
    range = ms_bt_range_prefix(ms_str_lit(""), &arena);
    assert_text(&range, "(*,*)");
    ms_arena_release(&arena);
}

static void empty_bound_is_no_bound(void **state)
{
    (void)state;
    ms_bt_range range = ms_bt_range_make(ms_str_lit(""), ms_str_lit(""));
    assert_text(&range, "(*,*)");
    assert_true(ms_bt_range_contains(&range, ms_str_lit("anything")));
}

static void empty_ranges_are_known(void **state)
{
    (void)state;
    ms_bt_range range = range_of("k", MS_BT_BOUND_CLOSED, "k", MS_BT_BOUND_CLOSED);
    assert_false(ms_bt_range_is_empty(&range));
    range = range_of("k", MS_BT_BOUND_CLOSED, "k", MS_BT_BOUND_OPEN);
    assert_true(ms_bt_range_is_empty(&range));
    range = range_of("k", MS_BT_BOUND_OPEN, "k", MS_BT_BOUND_CLOSED);
    assert_true(ms_bt_range_is_empty(&range));
    range = range_of("k", MS_BT_BOUND_OPEN, "k", MS_BT_BOUND_OPEN);
    assert_true(ms_bt_range_is_empty(&range));
    range = range_of("l", MS_BT_BOUND_CLOSED, "k", MS_BT_BOUND_CLOSED);
    assert_true(ms_bt_range_is_empty(&range));
    range = (ms_bt_range){{MS_BT_BOUND_OPEN, ms_str_lit("k")},
                          {MS_BT_BOUND_OPEN, ms_str_make("k\0", 2)}};
    assert_true(ms_bt_range_is_empty(&range));
    range.end.kind = MS_BT_BOUND_CLOSED;
    assert_false(ms_bt_range_is_empty(&range));
}

static void resume_goes_on_behind_the_last_key(void **state)
{
    (void)state;
    ms_bt_range range = range_of("b", MS_BT_BOUND_CLOSED, "d", MS_BT_BOUND_CLOSED);
    ms_bt_range rest = ms_bt_range_after(&range, ms_str_lit("c"));
    assert_text(&rest, "(c,d]");
    ms_bt_range again = ms_bt_range_after(&rest, ms_str_lit("c"));
    assert_true(ms_bt_range_equals(&rest, &again));
    rest = ms_bt_range_after(&range, ms_str_lit("a"));
    assert_true(ms_bt_range_equals(&rest, &range));
    rest = ms_bt_range_after(&range, ms_str_lit("d"));
    assert_true(ms_bt_range_is_empty(&rest));
    ms_bt_range all = {0};
    rest = ms_bt_range_after(&all, ms_str_lit(""));
    assert_text(&rest, "[\\x00,*)");
}

static void distinct_ranges_render_apart(void **state)
{
    (void)state;
    ms_bt_range range = {{MS_BT_BOUND_CLOSED, ms_str_lit("a,*\\b")}, {MS_BT_BOUND_NONE, {NULL, 0}}};
    assert_text(&range, "[a\\x2c\\x2a\\x5cb,*)");
}

static void row_sets_are_checked_as_the_service_does(void **state)
{
    (void)state;
    ms_bt_status bt = {0};
    ms_str keys[] = {ms_str_lit("a"), ms_str_lit("")};
    ms_bt_row_set set = {.keys = keys, .key_count = 2};
    assert_int_equal(ms_bt_row_set_check(&set, &bt), MS_BT_INVALID_ARGUMENT);
    assert_string_equal(bt.text, "Row keys must be non-empty");
    ms_bt_status_clear(&bt);
    ms_bt_range ranges[] = {range_of("k", MS_BT_BOUND_CLOSED, "k", MS_BT_BOUND_CLOSED),
                            range_of("k", MS_BT_BOUND_OPEN, "k", MS_BT_BOUND_CLOSED)};
    set = (ms_bt_row_set){.ranges = ranges, .range_count = 1};
    assert_int_equal(ms_bt_row_set_check(&set, &bt), MS_BT_OK);
    set.range_count = 2;
    assert_int_equal(ms_bt_row_set_check(&set, &bt), MS_BT_INVALID_ARGUMENT);
    assert_string_equal(bt.text, "Error in field 'row_ranges' : Error in element #1 : start_key "
                                 "must be less than end_key");
    ms_arena arena;
    ms_arena_init(&arena, 0);
    set = (ms_bt_row_set){0};
    ms_bt_ranges all = ms_bt_row_set_ranges(&set, &arena);
    assert_int_equal(all.count, 1);
    assert_text(&all.list[0], "(*,*)");
    ms_arena_release(&arena);
}

/* The algebra on all keys of up to three bytes from {00, 01, FF}, as bitmaps. */

#define KEYS 39

static ms_str key_number(int number)
{
    static char bytes[KEYS][4];
    static const char letters[3] = {0, 1, (char)0xFF};
    int length = number < 3 ? 1 : number < 12 ? 2 : 3;
    int rest = number - (number < 3 ? 0 : number < 12 ? 3 : 12);
    for (int i = length - 1; i >= 0; i--) {
        bytes[number][i] = letters[rest % 3];
        rest /= 3;
    }
    return ms_str_make(bytes[number], (size_t)length);
}

static uint64_t keys_of(const ms_bt_range *list, size_t count)
{
    uint64_t keys = 0;
    for (int k = 0; k < KEYS; k++) {
        for (size_t i = 0; i < count; i++) {
            if (ms_bt_range_contains(&list[i], key_number(k))) {
                keys |= UINT64_C(1) << k;
            }
        }
    }
    return keys;
}

static ms_bt_range random_range(ms_env_random *random)
{
    ms_bt_range range = {0};
    ms_bt_bound *bounds[2] = {&range.start, &range.end};
    for (int i = 0; i < 2; i++) {
        bounds[i]->kind = (ms_bt_bound_kind)ms_env_random_below(random, 3);
        if (bounds[i]->kind != MS_BT_BOUND_NONE) {
            bounds[i]->key = key_number((int)ms_env_random_below(random, KEYS));
        }
    }
    return range;
}

static void assert_coalesced(const ms_bt_ranges *ranges)
{
    for (size_t i = 0; i < ranges->count; i++) {
        assert_false(ms_bt_range_is_empty(&ranges->list[i]));
        if (i > 0) {
            ms_bt_range common = ms_bt_range_intersect(&ranges->list[i - 1], &ranges->list[i]);
            assert_true(ms_bt_range_is_empty(&common));
            assert_true(ms_bt_range_compare_start(&ranges->list[i - 1], &ranges->list[i]) < 0);
        }
    }
}

static void algebra_agrees_with_sets_of_keys(void **state)
{
    (void)state;
    uint64_t seed = ms_env_next_seed();
    print_message("seed %llu\n", (unsigned long long)seed);
    ms_env_random random;
    ms_env_random_init(&random, seed);
    ms_arena arena;
    ms_arena_init(&arena, 0);
    const uint64_t every = (UINT64_C(1) << KEYS) - 1;
    for (int round = 0; round < 3000; round++) {
        ms_bt_range raw[2][4];
        ms_bt_ranges lists[2];
        uint64_t keys[2];
        for (int side = 0; side < 2; side++) {
            size_t count = ms_env_random_below(&random, 5);
            for (size_t i = 0; i < count; i++) {
                raw[side][i] = random_range(&random);
                if (ms_bt_range_is_empty(&raw[side][i])) {
                    assert_int_equal(keys_of(&raw[side][i], 1), 0);
                }
            }
            keys[side] = keys_of(raw[side], count);
            lists[side] = ms_bt_ranges_coalesce(raw[side], count, &arena);
            assert_coalesced(&lists[side]);
            assert_int_equal(keys_of(lists[side].list, lists[side].count), keys[side]);
        }
        ms_bt_ranges common = ms_bt_ranges_intersect(&lists[0], &lists[1], &arena);
        assert_coalesced(&common);
        assert_int_equal(keys_of(common.list, common.count), keys[0] & keys[1]);
        ms_bt_ranges rest = ms_bt_ranges_complement(&lists[0], &arena);
        assert_coalesced(&rest);
        assert_int_equal(keys_of(rest.list, rest.count), every & ~keys[0]);
        ms_arena_reset(&arena);
    }
    ms_arena_release(&arena);
}

static void touching_ranges_join_when_the_key_belongs_to_one(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_bt_range apart[] = {range_of("k", MS_BT_BOUND_OPEN, "z", MS_BT_BOUND_OPEN),
                           range_of("a", MS_BT_BOUND_OPEN, "k", MS_BT_BOUND_OPEN)};
    assert_int_equal(ms_bt_ranges_coalesce(apart, 2, &arena).count, 2);
    apart[0].start.kind = MS_BT_BOUND_CLOSED;
    assert_int_equal(ms_bt_ranges_coalesce(apart, 2, &arena).count, 1);
    apart[0].start.kind = MS_BT_BOUND_OPEN;
    apart[1].end.kind = MS_BT_BOUND_CLOSED;
    assert_int_equal(ms_bt_ranges_coalesce(apart, 2, &arena).count, 1);
    ms_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prefix_ends_behind_all_its_keys),
        cmocka_unit_test(empty_bound_is_no_bound),
        cmocka_unit_test(empty_ranges_are_known),
        cmocka_unit_test(resume_goes_on_behind_the_last_key),
        cmocka_unit_test(distinct_ranges_render_apart),
        cmocka_unit_test(row_sets_are_checked_as_the_service_does),
        cmocka_unit_test(algebra_agrees_with_sets_of_keys),
        cmocka_unit_test(touching_ranges_join_when_the_key_belongs_to_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
