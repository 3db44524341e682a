/* SPDX-License-Identifier: Apache-2.0 */
/* Filter trees: makers, copies, sizes and rendering. */
#include "testing.h"

#include "bigtable/model/filter.h"
#include "bigtable/model/regex.h"

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

static void assert_text(const ms_bt_filter *filter, const char *expected)
{
    ms_status st = {0};
    ms_buf buf;
    ms_buf_init(&buf, 4096);
    assert_ok(ms_bt_filter_render(filter, &buf, &st));
    assert_str_equal(ms_buf_view(&buf), expected);
    ms_buf_release(&buf);
}

static const ms_bt_filter *keys_only(void)
{
    return ms_bt_filter_chain(&arena,
                              (const ms_bt_filter *[]){ms_bt_filter_cells_per_row(&arena, 1),
                                                       ms_bt_filter_strip_value(&arena)},
                              2);
}

/* One filter of each kind, its text, and its bytes on the wire. */
typedef struct sample {
    const ms_bt_filter *filter;
    const char *text;
    size_t wire_bytes;
} sample;

#define SAMPLES_MAX 40

static size_t make_samples(sample *samples)
{
    ms_str q = ms_str_lit("q");
    ms_bt_range half_open = {{MS_BT_BOUND_CLOSED, q}, {MS_BT_BOUND_OPEN, ms_str_lit("q\xff")}};
    ms_bt_range upper = {{MS_BT_BOUND_NONE, {NULL, 0}}, {MS_BT_BOUND_CLOSED, q}};
    ms_bt_range present = {{MS_BT_BOUND_OPEN, {"", 0}}, {MS_BT_BOUND_NONE, {NULL, 0}}};
    ms_bt_range whole = {{MS_BT_BOUND_NONE, {NULL, 0}}, {MS_BT_BOUND_NONE, {NULL, 0}}};
    const ms_bt_filter *pass = ms_bt_filter_pass_all(&arena);
    const ms_bt_filter *two[] = {NULL, pass};
    const sample all[] = {
        {NULL, "pass_all", 0},
        /* A field above 15 has a tag of two bytes. */
        {pass, "pass_all", 3},
        {ms_bt_filter_flag(&arena, MS_BT_FILTER_PASS_ALL, false), "pass_all(false)", 3},
        {ms_bt_filter_block_all(&arena), "block_all", 3},
        {ms_bt_filter_sink(&arena), "sink", 3},
        {ms_bt_filter_strip_value(&arena), "strip_value", 2},
        {ms_bt_filter_flag(&arena, MS_BT_FILTER_STRIP_VALUE, false), "strip_value(false)", 2},
        /* A filter in which nothing is set is there all the same: 0a 00. */
        {ms_bt_filter_list(&arena, MS_BT_FILTER_CHAIN, two, 2), "chain(pass_all, pass_all)", 9},
        {ms_bt_filter_list(&arena, MS_BT_FILTER_INTERLEAVE, two, 1), "interleave(pass_all)", 4},
        {ms_bt_filter_list(&arena, MS_BT_FILTER_INTERLEAVE, NULL, 0), "interleave()", 2},
        {ms_bt_filter_condition(&arena, NULL, pass, NULL), "condition(pass_all, pass_all, none)",
         7},
        {ms_bt_filter_regex(&arena, MS_BT_FILTER_ROW_KEY_REGEX, ms_str_lit("a\\C*")),
         "row_key_regex(a\\\\C*)", 6},
        {ms_bt_filter_regex(&arena, MS_BT_FILTER_FAMILY_REGEX, ms_str_lit("")),
         "family_name_regex()", 2},
        {ms_bt_filter_regex(&arena, MS_BT_FILTER_QUALIFIER_REGEX, q), "column_qualifier_regex(q)",
         3},
        {ms_bt_filter_regex(&arena, MS_BT_FILTER_VALUE_REGEX, ms_str_lit("\xe9")),
         "value_regex(\\xe9)", 3},
        {ms_bt_filter_row_sample(&arena, 0.25), "row_sample(0.25)", 9},
        /* "a\-b". */
        {ms_bt_filter_family(&arena, ms_str_lit("a-b")), "family(a-b)", 6},
        {ms_bt_filter_column_range(&arena, ms_str_lit("f"), &half_open),
         "column_range(f [q,q\\xff))", 12},
        {ms_bt_filter_column_range(&arena, ms_str_lit(""), &whole), "column_range( (*,*))", 2},
        {ms_bt_filter_value_range(&arena, &upper), "value_range((*,q])", 5},
        {ms_bt_filter_value_range(&arena, &present), "value_range((,*))", 4},
        {ms_bt_filter_timestamp_range(&arena, 0, 0), "timestamp_range([0,*))", 2},
        {ms_bt_filter_timestamp_range(&arena, 128, -1), "timestamp_range([128,-1))", 16},
        {ms_bt_filter_value_bitmask(&arena, ms_str_lit("\0\1")), "value_bitmask(\\x00\\x01)", 7},
        {ms_bt_filter_value_bitmask(&arena, ms_str_lit("")), "value_bitmask()", 3},
        {ms_bt_filter_cells_per_row(&arena, 1), "cells_per_row_limit(1)", 2},
        {ms_bt_filter_cells_per_row_offset(&arena, 300), "cells_per_row_offset(300)", 3},
        {ms_bt_filter_cells_per_column(&arena, -1), "cells_per_column_limit(-1)", 11},
        {ms_bt_filter_apply_label(&arena, ms_str_lit("one")), "apply_label(one)", 6},
    };
    memcpy(samples, all, sizeof(all));
    return sizeof(all) / sizeof(all[0]);
}

static void every_kind_renders_and_has_a_size(void **state)
{
    (void)state;
    sample samples[SAMPLES_MAX];
    size_t count = make_samples(samples);
    bool is_seen[MS_BT_FILTER_COUNT] = {false};
    for (size_t i = 0; i < count; i++) {
        assert_text(samples[i].filter, samples[i].text);
        if (ms_bt_filter_wire_bytes(samples[i].filter) != samples[i].wire_bytes) {
            fail_msg("%s: %zu", samples[i].text, ms_bt_filter_wire_bytes(samples[i].filter));
        }
        is_seen[samples[i].filter == NULL ? MS_BT_FILTER_PASS_ALL : samples[i].filter->kind] = true;
    }
    for (size_t kind = 0; kind < MS_BT_FILTER_COUNT; kind++) {
        assert_true(is_seen[kind]);
    }
}

static void a_copy_is_the_same_filter(void **state)
{
    (void)state;
    sample samples[SAMPLES_MAX];
    size_t count = make_samples(samples);
    for (size_t i = 0; i < count; i++) {
        const ms_bt_filter *copy = ms_bt_filter_copy(&arena, samples[i].filter);
        assert_text(copy, samples[i].text);
        assert_int_equal(ms_bt_filter_wire_bytes(copy), samples[i].wire_bytes);
    }
}

static void a_copy_owns_its_texts(void **state)
{
    (void)state;
    char text[] = "cf";
    ms_bt_range range = ms_bt_range_key(ms_str_cstr(text));
    const ms_bt_filter *filter =
        ms_bt_filter_copy(&arena, ms_bt_filter_column_range(&arena, ms_str_cstr(text), &range));
    text[0] = 'x';
    assert_text(filter, "column_range(cf [cf,cf])");
    assert_null(ms_bt_filter_copy(&arena, NULL));
}

static void lists_of_families_and_of_one_are_simplified(void **state)
{
    (void)state;
    assert_text(keys_only(), "chain(cells_per_row_limit(1), strip_value)");
    const ms_str families[] = {ms_str_lit("a"), ms_str_lit("b")};
    assert_text(ms_bt_filter_families(&arena, families, 2), "interleave(family(a), family(b))");
    assert_text(ms_bt_filter_families(&arena, families, 1), "family(a)");
    const ms_bt_filter *one = ms_bt_filter_strip_value(&arena);
    assert_ptr_equal(ms_bt_filter_chain(&arena, &one, 1), one);
}

/* chain { filters { cells_per_row_limit_filter: 1 } filters { strip_value_transformer: true } }
 * is 0a 08 0a 02 58 01 0a 02 68 01. */
static void sizes_of_trees_are_those_of_the_wire(void **state)
{
    (void)state;
    assert_int_equal(ms_bt_filter_wire_bytes(keys_only()), 10);
}

/* All pairs of bytes, quoted, are the literal that they were. */
static void what_is_quoted_matches_itself(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 65536; i++) {
        char pair[2] = {(char)(i & 0xff), (char)(i >> 8)};
        ms_arena_reset(&arena);
        ms_str pattern = ms_bt_filter_quote(&arena, ms_str_make(pair, 2));
        ms_str literal = {NULL, 0};
        assert_true(msi_regex_literal(pattern, &arena, &literal));
        assert_true(ms_str_equals(literal, ms_str_make(pair, 2)));
    }
    assert_str_equal(ms_bt_filter_quote(&arena, ms_str_lit("a_-.\0\n\xe9")),
                     "a_\\-\\.\\x00\\\n\xe9");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(every_kind_renders_and_has_a_size),
        TEST(a_copy_is_the_same_filter),
        TEST(a_copy_owns_its_texts),
        TEST(lists_of_families_and_of_one_are_simplified),
        TEST(sizes_of_trees_are_those_of_the_wire),
        TEST(what_is_quoted_matches_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
