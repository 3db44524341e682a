/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of a filter before it has seen a row; what it cannot be compiled for. */
#include "testing.h"

#include "bigtable/model/filter_program.h"

static const ms_bt_family families[] = {
    {.name = {"a", 1}}, {.name = {"ab", 2}}, {.name = {"b-c", 3}}};
static const ms_bt_table table = {
    .name = {.project = {"p", 1}, .instance = {"i", 1}, .table = {"t", 1}},
    .families = families,
    .family_count = 3};

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

static const ms_bt_filter_program *compile(const ms_bt_filter *filter)
{
    ms_bt_status bt = {0};
    const ms_bt_filter_program *program = NULL;
    if (ms_bt_filter_compile(filter, &table, &arena, &program, &bt) != MS_BT_OK) {
        fail_msg("%s", bt.text);
    }
    return program;
}

#define LIST(...)                                                                                  \
    (const ms_bt_filter *[])                                                                       \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static const ms_bt_filter *chain(const ms_bt_filter *a, const ms_bt_filter *b)
{
    return ms_bt_filter_chain(&arena, LIST(a, b), 2);
}

static const ms_bt_filter *interleave(const ms_bt_filter *a, const ms_bt_filter *b)
{
    return ms_bt_filter_interleave(&arena, LIST(a, b), 2);
}

static const ms_bt_filter *regex(ms_bt_filter_kind kind, const char *pattern)
{
    return ms_bt_filter_regex(&arena, kind, ms_str_cstr(pattern));
}

static const ms_bt_filter *row_key(const char *pattern)
{
    return regex(MS_BT_FILTER_ROW_KEY_REGEX, pattern);
}

static const ms_bt_filter *family(const char *name)
{
    return ms_bt_filter_family(&arena, ms_str_cstr(name));
}

static const ms_bt_filter *strip(void)
{
    return ms_bt_filter_strip_value(&arena);
}

/* The ranges of keys, as text. */
static void assert_keys(const ms_bt_filter *filter, const char *expected)
{
    const ms_bt_filter_program *program = compile(filter);
    ms_status st = {0};
    ms_buf text;
    ms_buf_init(&text, 4096);
    for (size_t i = 0; i < program->keys.count; i++) {
        assert_ok(ms_bt_range_render(&program->keys.list[i], &text, &st));
    }
    assert_str_equal(ms_buf_view(&text), expected);
    ms_buf_release(&text);
}

/* One digit a family. */
static void assert_families(const ms_bt_filter *filter, const char *expected)
{
    const ms_bt_filter_program *program = compile(filter);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(ms_bt_filter_program_wants(program, i), expected[i] == '1');
    }
}

static void row_key_expressions_narrow_the_keys(void **state)
{
    (void)state;
    assert_keys(NULL, "(*,*)");
    assert_keys(row_key("k\\#1"), "[k#1,k#1]");
    assert_keys(row_key("k#.*"), "[k#,k$]");
    assert_keys(row_key(".*k"), "(*,*)");
    assert_keys(row_key(""), "");
    assert_keys(chain(family("a"), row_key("k")), "[k,k]");
    assert_keys(chain(row_key("k"), row_key("l")), "");
    assert_keys(interleave(row_key("k"), row_key("m")), "[k,k][m,m]");
    assert_keys(interleave(row_key("k"), family("a")), "(*,*)");
    assert_keys(interleave(row_key("k"), ms_bt_filter_block_all(&arena)), "[k,k]");
}

static void assert_qualifiers(const ms_bt_filter *filter, const char *expected)
{
    ms_status st = {0};
    ms_buf text;
    ms_buf_init(&text, 4096);
    assert_ok(ms_bt_range_render(&compile(filter)->qualifiers, &text, &st));
    assert_str_equal(ms_buf_view(&text), expected);
    ms_buf_release(&text);
}

static const ms_bt_filter *qualifier(const char *pattern)
{
    return regex(MS_BT_FILTER_QUALIFIER_REGEX, pattern);
}

static void qualifiers_that_do_not_matter_are_known(void **state)
{
    (void)state;
    ms_bt_range b_to_d = ms_bt_range_make(ms_str_lit("b"), ms_str_lit("d"));
    const ms_bt_filter *range = ms_bt_filter_column_range(&arena, ms_str_lit("a"), &b_to_d);
    const ms_bt_filter *limit = ms_bt_filter_cells_per_row(&arena, 1);
    assert_qualifiers(NULL, "(*,*)");
    assert_qualifiers(qualifier("q"), "[q,q]");
    assert_qualifiers(qualifier("q.*"), "[q,r]");
    assert_qualifiers(qualifier(""), "(*,]");
    assert_qualifiers(qualifier("|q"), "(*,q]");
    assert_qualifiers(range, "[b,d)");
    assert_qualifiers(chain(qualifier("c.*"), range), "[c,d)");
    assert_qualifiers(interleave(qualifier("q"), range), "[b,q]");
    assert_qualifiers(interleave(qualifier("q"), ms_bt_filter_block_all(&arena)), "[q,q]");
    assert_qualifiers(interleave(qualifier("q"), strip()), "(*,*)");
    assert_qualifiers(chain(range, limit), "[b,d)");
    assert_qualifiers(chain(limit, range), "(*,*)");
    assert_qualifiers(ms_bt_filter_condition(&arena, qualifier("b"), qualifier("d"), NULL),
                      "[b,d]");
    assert_qualifiers(chain(interleave(ms_bt_filter_sink(&arena), strip()), range), "(*,*)");
}

static void a_sink_gets_past_what_follows(void **state)
{
    (void)state;
    const ms_bt_filter *sink = ms_bt_filter_sink(&arena);
    assert_keys(chain(sink, row_key("k")), "(*,*)");
    assert_keys(chain(row_key("k"), sink), "[k,k]");
    assert_keys(chain(interleave(sink, row_key("k")), row_key("m")), "(*,*)");
    assert_families(chain(interleave(family("a"), chain(family("ab"), sink)), family("a")), "110");
}

static void conditions_narrow_by_their_branches(void **state)
{
    (void)state;
    assert_keys(ms_bt_filter_condition(&arena, row_key("k"), NULL, NULL), "");
    assert_keys(ms_bt_filter_condition(&arena, row_key("k"), strip(), NULL), "[k,k]");
    assert_keys(ms_bt_filter_condition(&arena, row_key("k"), NULL, row_key("m")), "[m,m]");
    assert_keys(ms_bt_filter_condition(&arena, row_key("k"), strip(), row_key("m")), "[k,k][m,m]");
    assert_keys(ms_bt_filter_condition(&arena, row_key("k"), NULL, strip()), "(*,*)");
    assert_families(ms_bt_filter_condition(&arena, family("a"), family("ab"), NULL), "110");
    assert_true(compile(ms_bt_filter_condition(&arena, NULL, NULL, NULL))->needs_rows);
    assert_false(compile(chain(strip(), NULL))->needs_rows);
}

static void many_ranges_are_given_up(void **state)
{
    (void)state;
    const ms_bt_filter *list[40];
    for (size_t i = 0; i < 40; i++) {
        list[i] = row_key(ms_arena_format(&arena, "k%zu", i).ptr);
    }
    assert_int_equal(compile(ms_bt_filter_interleave(&arena, list, 32))->keys.count, 32);
    assert_keys(ms_bt_filter_interleave(&arena, list, 40), "(*,*)");
}

static void families_that_do_not_matter_are_known(void **state)
{
    (void)state;
    assert_families(NULL, "111");
    assert_families(family("ab"), "010");
    assert_families(interleave(family("ab"), family("a")), "110");
    assert_families(regex(MS_BT_FILTER_FAMILY_REGEX, "a.*"), "110");
    assert_families(regex(MS_BT_FILTER_FAMILY_REGEX, "b\\-c"), "001");
    assert_families(regex(MS_BT_FILTER_FAMILY_REGEX, "x.*"), "000");
    const ms_bt_filter *limit = ms_bt_filter_cells_per_row(&arena, 1);
    assert_families(chain(family("a"), limit), "100");
    assert_families(chain(limit, family("a")), "111");
    assert_families(chain(limit, ms_bt_filter_block_all(&arena)), "000");
    assert_families(chain(ms_bt_filter_cells_per_column(&arena, 1), family("a")), "100");
    ms_bt_range all = {0};
    assert_families(ms_bt_filter_column_range(&arena, ms_str_lit("a"), &all), "100");
}

static void families_that_the_table_lacks_are_named(void **state)
{
    (void)state;
    ms_bt_range all = {0};
    const ms_bt_filter *wrong[] = {
        family("x"),
        regex(MS_BT_FILTER_FAMILY_REGEX, "x"),
        regex(MS_BT_FILTER_FAMILY_REGEX, "b\\.c"),
        ms_bt_filter_column_range(&arena, ms_str_lit("x"), &all),
        ms_bt_filter_column_range(&arena, ms_str_lit(""), &all),
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ms_bt_status bt = {0};
        const ms_bt_filter_program *program = NULL;
        const ms_bt_filter *deep = interleave(strip(), chain(strip(), wrong[i]));
        assert_int_equal(ms_bt_filter_compile(deep, &table, &arena, &program, &bt),
                         MS_BT_NOT_FOUND);
        assert_string_equal(bt.text, "Error while reading table 'projects/p/instances/i/tables/t' "
                                     ": Requested column family not found");
    }
    compile(regex(MS_BT_FILTER_FAMILY_REGEX, "x.*"));
}

static void compiling_checks(void **state)
{
    (void)state;
    ms_bt_status bt = {0};
    const ms_bt_filter_program *program = NULL;
    assert_int_equal(
        ms_bt_filter_compile(ms_bt_filter_cells_per_row(&arena, 0), &table, &arena, &program, &bt),
        MS_BT_INVALID_ARGUMENT);
    ms_bt_status_clear(&bt);
    /* What is wrong in any table goes before what this one lacks. */
    const ms_bt_filter *filters[] = {chain(family("x"), row_key("[")),
                                     chain(row_key("["), family("x"))};
    for (size_t i = 0; i < 2; i++) {
        ms_bt_status_clear(&bt);
        assert_int_equal(ms_bt_filter_compile(filters[i], &table, &arena, &program, &bt),
                         MS_BT_INVALID_ARGUMENT);
        assert_string_equal(bt.text, "Error in field 'row_key_regex_filter' : missing ]: [");
    }
}

static void what_is_looked_at_is_known(void **state)
{
    (void)state;
    const ms_bt_filter *value = regex(MS_BT_FILTER_VALUE_REGEX, "v");
    const ms_bt_filter *qualifier = regex(MS_BT_FILTER_QUALIFIER_REGEX, "q");
    const struct {
        const ms_bt_filter *filter;
        bool tests_qualifiers;
        bool tests_values;
        bool gives_values;
    } cases[] = {
        {NULL, false, false, true},
        {strip(), false, false, false},
        {qualifier, true, false, true},
        {value, false, true, true},
        {chain(value, strip()), false, true, false},
        {chain(strip(), value), false, false, false},
        {chain(ms_bt_filter_cells_per_row(&arena, 1), strip()), false, false, false},
        {interleave(strip(), qualifier), true, false, true},
        {ms_bt_filter_condition(&arena, value, strip(), strip()), false, true, false},
        {chain(ms_bt_filter_sink(&arena), strip()), false, false, true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const ms_bt_filter_program *program = compile(cases[i].filter);
        assert_int_equal(program->tests_qualifiers, cases[i].tests_qualifiers);
        assert_int_equal(program->tests_values, cases[i].tests_values);
        assert_int_equal(program->gives_values, cases[i].gives_values);
    }
}

static void programs_know_what_passes_and_counts(void **state)
{
    (void)state;
    assert_true(compile(NULL)->passes);
    assert_true(compile(chain(ms_bt_filter_pass_all(&arena), NULL))->passes);
    assert_false(compile(strip())->passes);
    assert_true(compile(ms_bt_filter_block_all(&arena))->blocks);
    assert_true(compile(chain(family("a"), family("ab")))->blocks);
    assert_false(compile(NULL)->blocks);
    assert_true(compile(chain(strip(), ms_bt_filter_cells_per_row_offset(&arena, 1)))->counts_rows);
    assert_false(compile(ms_bt_filter_cells_per_column(&arena, 1))->counts_rows);
}

static void labels_are_listed_once(void **state)
{
    (void)state;
    const ms_bt_filter *one = ms_bt_filter_apply_label(&arena, ms_str_lit("one"));
    const ms_bt_filter *two = ms_bt_filter_apply_label(&arena, ms_str_lit("two"));
    const ms_bt_filter_program *program = compile(interleave(one, interleave(two, one)));
    assert_int_equal(program->label_count, 3);
    assert_str_equal(program->labels[0], "");
    assert_str_equal(program->labels[1], "one");
    assert_str_equal(program->labels[2], "two");
    assert_null(compile(strip())->labels);
}

static void a_table_without_families_blocks(void **state)
{
    (void)state;
    ms_bt_table empty = table;
    empty.family_count = 0;
    ms_bt_status bt = {0};
    const ms_bt_filter_program *program = NULL;
    assert_int_equal(ms_bt_filter_compile(NULL, &empty, &arena, &program, &bt), MS_BT_OK);
    assert_true(program->blocks);
}

/* 1,000 families and a large program for each of their names. */
static void matching_families_is_bounded(void **state)
{
    (void)state;
    ms_bt_family *many = ms_arena_array(&arena, ms_bt_family, 1000);
    for (size_t i = 0; i < 1000; i++) {
        many[i].name = ms_arena_format(&arena, "%064zu", i);
    }
    ms_bt_table wide = table;
    wide.families = many;
    wide.family_count = 1000;
    const ms_bt_filter *list[64];
    for (size_t i = 0; i < 64; i++) {
        list[i] = regex(MS_BT_FILTER_FAMILY_REGEX, "(0|[0-9]{900}|0{900}|[^a]{900})*");
    }
    ms_bt_status bt = {0};
    const ms_bt_filter_program *program = NULL;
    assert_int_equal(ms_bt_filter_compile(list[0], &wide, &arena, &program, &bt), MS_BT_OK);
    assert_int_equal(ms_bt_filter_compile(ms_bt_filter_interleave(&arena, list, 64), &wide, &arena,
                                          &program, &bt),
                     MS_BT_INVALID_ARGUMENT);
    assert_string_equal(bt.text, "Error in field 'family_name_regex_filter' : too large for the "
                                 "number of families");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(row_key_expressions_narrow_the_keys),
        TEST(qualifiers_that_do_not_matter_are_known),
        TEST(a_sink_gets_past_what_follows),
        TEST(conditions_narrow_by_their_branches),
        TEST(many_ranges_are_given_up),
        TEST(families_that_do_not_matter_are_known),
        TEST(families_that_the_table_lacks_are_named),
        TEST(compiling_checks),
        TEST(what_is_looked_at_is_known),
        TEST(programs_know_what_passes_and_counts),
        TEST(labels_are_listed_once),
        TEST(a_table_without_families_blocks),
        TEST(matching_families_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
