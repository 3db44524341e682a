/* SPDX-License-Identifier: Apache-2.0 */
/* Garbage-collection rules: checks, rendering, and the stored form there and back. */
#include "testing.h"

#include "bigtable/model/gc_rule.h"

static ms_arena arena;

static int setup(void **state)
{
    (void)state;
    ms_arena_init(&arena, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    ms_arena_release(&arena);
    return 0;
}

#define DAY_MICROS INT64_C(86400000000)

static const ms_bt_gc_rule *sample(void)
{
    const ms_bt_gc_rule *both[] = {ms_bt_gc_rule_max_versions(&arena, 3),
                                   ms_bt_gc_rule_max_age(&arena, 7 * DAY_MICROS)};
    const ms_bt_gc_rule *either[] = {ms_bt_gc_rule_intersection(&arena, both, 2),
                                     ms_bt_gc_rule_max_age(&arena, 30 * DAY_MICROS)};
    return ms_bt_gc_rule_union(&arena, either, 2);
}

static void assert_text(const ms_bt_gc_rule *rule, const char *expected)
{
    ms_status st = {0};
    ms_buf buf;
    ms_buf_init(&buf, 4096);
    assert_ok(ms_bt_gc_rule_render(rule, &buf, &st));
    assert_str_equal(ms_buf_view(&buf), expected);
    ms_buf_release(&buf);
}

static void rules_render(void **state)
{
    (void)state;
    assert_text(NULL, "never");
    assert_text(ms_bt_gc_rule_max_versions(&arena, 1), "versions() > 1");
    assert_text(sample(), "((versions() > 3 && age() > 7 d) || age() > 30 d)");
}

static void stored_form_goes_there_and_back(void **state)
{
    (void)state;
    const ms_bt_gc_rule *rules[] = {NULL, ms_bt_gc_rule_max_versions(&arena, 1), sample()};
    for (size_t i = 0; i < 3; i++) {
        ms_status st = {0};
        ms_buf buf;
        ms_buf_init(&buf, 4096);
        assert_ok(ms_bt_gc_rule_encode(rules[i], &buf, &st));
        ms_codec_reader reader = ms_codec_reader_make(ms_buf_view(&buf));
        const ms_bt_gc_rule *back = ms_bt_gc_rule_decode(&reader, &arena);
        assert_ok(ms_codec_reader_finish(&reader, "rule", &st));
        assert_true(ms_bt_gc_rule_equals(rules[i], back));
        assert_true(ms_bt_gc_rule_equals(ms_bt_gc_rule_copy(&arena, rules[i]), back));
        /* A cut text fails the reader, wherever it is cut. */
        for (size_t cut = 0; cut < buf.bytes; cut++) {
            reader = ms_codec_reader_make(ms_str_make(buf.ptr, cut));
            assert_null(ms_bt_gc_rule_decode(&reader, &arena));
            assert_false(ms_codec_reader_is_ok(&reader));
        }
        ms_buf_release(&buf);
    }
}

static void damaged_form_is_refused(void **state)
{
    (void)state;
    const ms_str bad[] = {ms_str_lit("\x05"), ms_str_lit("\x04\x01"), ms_str_lit("\x04\x01\x00"),
                          ms_str_lit("\x04\xff\xff\xff\x7f")};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ms_codec_reader reader = ms_codec_reader_make(bad[i]);
        assert_null(ms_bt_gc_rule_decode(&reader, &arena));
        assert_false(ms_codec_reader_is_ok(&reader));
    }
    char deep[64];
    memset(deep, 4, sizeof(deep));
    for (size_t i = 1; i < sizeof(deep); i += 2) {
        deep[i] = 1;
    }
    ms_codec_reader reader = ms_codec_reader_make(ms_str_make(deep, sizeof(deep)));
    assert_null(ms_bt_gc_rule_decode(&reader, &arena));
    assert_false(ms_codec_reader_is_ok(&reader));
}

static ms_bt_code check(const ms_bt_gc_rule *rule)
{
    ms_bt_status bt = {0};
    return ms_bt_gc_rule_check(rule, &bt);
}

static void limits_of_the_service(void **state)
{
    (void)state;
    assert_int_equal(check(NULL), MS_BT_OK);
    assert_int_equal(check(sample()), MS_BT_OK);
    assert_int_equal(check(ms_bt_gc_rule_max_versions(&arena, 0)), MS_BT_INVALID_ARGUMENT);
    assert_int_equal(check(ms_bt_gc_rule_max_age(&arena, 999)), MS_BT_INVALID_ARGUMENT);
    assert_int_equal(check(ms_bt_gc_rule_max_age(&arena, 1000)), MS_BT_OK);
    assert_int_equal(check(ms_bt_gc_rule_union(&arena, NULL, 0)), MS_BT_INVALID_ARGUMENT);
    const ms_bt_gc_rule *deep = ms_bt_gc_rule_max_versions(&arena, 1);
    for (unsigned i = 1; i < MS_BT_LIMIT_GC_RULE_DEPTH; i++) {
        deep = ms_bt_gc_rule_union(&arena, &deep, 1);
    }
    assert_int_equal(check(deep), MS_BT_OK);
    assert_int_equal(check(ms_bt_gc_rule_union(&arena, &deep, 1)), MS_BT_INVALID_ARGUMENT);
}

static void size_is_that_of_the_wire(void **state)
{
    (void)state;
    /* max_num_versions: 1 is 08 01; max_age { seconds: 604800 } is 12 04 08 80 f5 24. */
    assert_int_equal(ms_bt_gc_rule_wire_bytes(ms_bt_gc_rule_max_versions(&arena, 1)), 2);
    assert_int_equal(ms_bt_gc_rule_wire_bytes(ms_bt_gc_rule_max_age(&arena, 7 * DAY_MICROS)), 6);
    const ms_bt_gc_rule *many[200];
    for (int i = 0; i < 200; i++) {
        many[i] = ms_bt_gc_rule_max_versions(&arena, 1);
    }
    /* Each is 0a 02 08 01 in a list: 124 of them and the list's own head are 499 bytes. */
    assert_int_equal(check(ms_bt_gc_rule_union(&arena, many, 124)), MS_BT_OK);
    assert_int_equal(check(ms_bt_gc_rule_union(&arena, many, 125)), MS_BT_INVALID_ARGUMENT);
}

static bool collects(const ms_bt_gc_rule *rule, uint64_t cell, int64_t age_micros)
{
    const int64_t now = INT64_C(1700000000000000);
    return ms_bt_gc_rule_collects(rule, cell, now - age_micros, now);
}

static void rules_say_which_cells_may_go(void **state)
{
    (void)state;
    const ms_bt_gc_rule *versions = ms_bt_gc_rule_max_versions(&arena, 2);
    const ms_bt_gc_rule *age = ms_bt_gc_rule_max_age(&arena, DAY_MICROS);
    const ms_bt_gc_rule *both[] = {versions, age};
    const ms_bt_gc_rule *all = ms_bt_gc_rule_intersection(&arena, both, 2);
    const ms_bt_gc_rule *any = ms_bt_gc_rule_union(&arena, both, 2);
    assert_false(collects(NULL, UINT64_MAX, INT64_C(1700000000000000)));
    assert_false(collects(versions, 1, 9 * DAY_MICROS));
    assert_true(collects(versions, 2, -DAY_MICROS));
    assert_false(collects(age, 9, DAY_MICROS));
    assert_true(collects(age, 0, DAY_MICROS + 1));
    assert_false(collects(age, 9, -DAY_MICROS));
    assert_false(collects(all, 2, 0));
    assert_false(collects(all, 0, 2 * DAY_MICROS));
    assert_true(collects(all, 2, 2 * DAY_MICROS));
    assert_false(collects(any, 1, 0));
    assert_true(collects(any, 2, 0));
    assert_true(collects(any, 0, 2 * DAY_MICROS));
    const ms_bt_gc_rule *nested[] = {all, ms_bt_gc_rule_max_versions(&arena, 5)};
    const ms_bt_gc_rule *outer = ms_bt_gc_rule_union(&arena, nested, 2);
    assert_false(collects(outer, 4, 0));
    assert_true(collects(outer, 4, 2 * DAY_MICROS));
    assert_true(collects(outer, 5, 0));
    /* An age beyond all time keeps everything; times at the ends do not overflow. */
    const ms_bt_gc_rule *ever = ms_bt_gc_rule_max_age(&arena, INT64_MAX);
    assert_false(ms_bt_gc_rule_collects(ever, 0, 0, INT64_C(1700000000000000)));
    assert_false(ms_bt_gc_rule_collects(age, 0, INT64_MAX, 0));
}

/* What is older in its column goes where what is newer does: a collector relies on it. */
static void who_collects_one_cell_collects_all_older_ones(void **state)
{
    (void)state;
    const ms_bt_gc_rule *leaves[] = {ms_bt_gc_rule_max_versions(&arena, 3),
                                     ms_bt_gc_rule_max_age(&arena, 5 * DAY_MICROS)};
    const ms_bt_gc_rule *rules[] = {leaves[0], leaves[1], ms_bt_gc_rule_union(&arena, leaves, 2),
                                    ms_bt_gc_rule_intersection(&arena, leaves, 2), sample()};
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        bool has_collected = false;
        for (uint64_t cell = 0; cell < 20; cell++) {
            bool is_collected = collects(rules[i], cell, (int64_t)cell * DAY_MICROS);
            assert_true(is_collected || !has_collected);
            has_collected = is_collected;
        }
        assert_true(has_collected);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(rules_render),
        TEST(stored_form_goes_there_and_back),
        TEST(damaged_form_is_refused),
        TEST(limits_of_the_service),
        TEST(size_is_that_of_the_wire),
        TEST(rules_say_which_cells_may_go),
        TEST(who_collects_one_cell_collects_all_older_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
