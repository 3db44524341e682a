/* SPDX-License-Identifier: Apache-2.0 */
/* The service's rules for filters, each with its text. */
#include "testing.h"

#include "bigtable/model/filter.h"

#include <math.h>

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

static const ms_bt_filter *pass(void)
{
    return ms_bt_filter_pass_all(&arena);
}

static const ms_bt_filter *list(ms_bt_filter_kind kind, const ms_bt_filter *a,
                                const ms_bt_filter *b)
{
    return ms_bt_filter_list(&arena, kind, (const ms_bt_filter *[]){a, b}, 2);
}

static const ms_bt_filter *chain(const ms_bt_filter *a, const ms_bt_filter *b)
{
    return list(MS_BT_FILTER_CHAIN, a, b);
}

static const ms_bt_filter *interleave(const ms_bt_filter *a, const ms_bt_filter *b)
{
    return list(MS_BT_FILTER_INTERLEAVE, a, b);
}

static const ms_bt_filter *label(const char *text)
{
    return ms_bt_filter_apply_label(&arena, ms_str_cstr(text));
}

static const ms_bt_filter *regex(ms_bt_filter_kind kind, const char *pattern)
{
    return ms_bt_filter_regex(&arena, kind, ms_str_cstr(pattern));
}

static void assert_good(const ms_bt_filter *filter)
{
    ms_bt_status bt = {0};
    if (ms_bt_filter_check(filter, &bt) != MS_BT_OK) {
        fail_msg("%s", bt.text);
    }
}

/* Alone, and deep in a tree. */
static void assert_refused(const ms_bt_filter *filter, const char *text)
{
    const ms_bt_filter *filters[] = {
        filter, chain(pass(), interleave(pass(), filter)),
        ms_bt_filter_condition(&arena, pass(), NULL, chain(pass(), filter))};
    /* A sink is refused for itself in a condition. */
    size_t count = strstr(text, "sink cannot") == NULL ? 3 : 2;
    for (size_t i = 0; i < count; i++) {
        ms_bt_status bt = {0};
        assert_int_equal(ms_bt_filter_check(filters[i], &bt), MS_BT_INVALID_ARGUMENT);
        assert_string_equal(bt.text, text);
    }
}

static void lists_have_at_least_two(void **state)
{
    (void)state;
    const ms_bt_filter *one = pass();
    assert_refused(ms_bt_filter_list(&arena, MS_BT_FILTER_CHAIN, &one, 1),
                   "Chain must contain at least two RowFilters");
    assert_refused(ms_bt_filter_list(&arena, MS_BT_FILTER_CHAIN, NULL, 0),
                   "Chain must contain at least two RowFilters");
    assert_refused(ms_bt_filter_list(&arena, MS_BT_FILTER_INTERLEAVE, &one, 1),
                   "Interleave must contain at least two RowFilters");
    assert_good(chain(NULL, NULL));
}

static void flags_are_true(void **state)
{
    (void)state;
    assert_refused(ms_bt_filter_flag(&arena, MS_BT_FILTER_PASS_ALL, false),
                   "pass_all_filter must be true if set");
    assert_refused(ms_bt_filter_flag(&arena, MS_BT_FILTER_BLOCK_ALL, false),
                   "block_all_filter must be true if set");
    assert_refused(ms_bt_filter_flag(&arena, MS_BT_FILTER_STRIP_VALUE, false),
                   "strip_value_transformer must be true if set");
    ms_bt_status bt = {0};
    assert_int_equal(ms_bt_filter_check(ms_bt_filter_flag(&arena, MS_BT_FILTER_SINK, false), &bt),
                     MS_BT_INVALID_ARGUMENT);
    assert_string_equal(bt.text, "sink must be true if set");
    assert_good(ms_bt_filter_flag(&arena, MS_BT_FILTER_SINK, true));
}

static void counts_are_positive(void **state)
{
    (void)state;
    static const ms_bt_filter_kind kinds[] = {MS_BT_FILTER_CELLS_PER_ROW_OFFSET,
                                              MS_BT_FILTER_CELLS_PER_ROW_LIMIT,
                                              MS_BT_FILTER_CELLS_PER_COLUMN_LIMIT};
    for (size_t i = 0; i < 3; i++) {
        char text[128];
        snprintf(text, sizeof(text), "Error in field '%s' : argument must be > 0",
                 ms_bt_filter_kind_name(kinds[i]));
        assert_refused(ms_bt_filter_cells(&arena, kinds[i], 0), text);
        assert_refused(ms_bt_filter_cells(&arena, kinds[i], -1), text);
        assert_refused(ms_bt_filter_cells(&arena, kinds[i], INT32_MIN), text);
        assert_good(ms_bt_filter_cells(&arena, kinds[i], INT32_MAX));
    }
}

static void probabilities_are_between_0_and_1(void **state)
{
    (void)state;
    const double wrong[] = {0.0, 1.0, -0.5, 2.0, (double)NAN, (double)INFINITY};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_refused(ms_bt_filter_row_sample(&arena, wrong[i]),
                       "row_sample_filter argument must be between 0.0 and 1.0");
    }
    assert_good(ms_bt_filter_row_sample(&arena, 0.5));
}

static void labels_are_short_and_plain(void **state)
{
    (void)state;
    assert_refused(label("UPPER LABEL!"), "apply_label_transformer must match "
                                          "RE2([a-z0-9\\-]+), but found UPPER LABEL!");
    assert_refused(label(""), "apply_label_transformer must match RE2([a-z0-9\\-]+), but found ");
    assert_refused(label("a_b"),
                   "apply_label_transformer must match RE2([a-z0-9\\-]+), but found a_b");
    assert_refused(label("0123456789-abcde"),
                   "apply_label_transformer must have at most 15 characters, but found 16");
    assert_good(label("0123456789-abcd"));
}

static void a_chain_has_one_filter_with_labels(void **state)
{
    (void)state;
    const char *text = "Chain must contain at most one RowFilter with an apply_label_transformer";
    assert_refused(chain(label("a"), label("b")), text);
    assert_refused(chain(label("a"), interleave(pass(), label("a"))), text);
    assert_good(chain(pass(), interleave(label("a"), chain(label("b"), pass()))));
    assert_good(chain(pass(), label("a")));
}

static void a_sink_is_not_in_a_condition(void **state)
{
    (void)state;
    const ms_bt_filter *sink = chain(pass(), ms_bt_filter_sink(&arena));
    assert_refused(ms_bt_filter_condition(&arena, sink, pass(), NULL),
                   "Error in field 'condition filter predicate' : sink cannot be nested in a "
                   "condition filter");
    assert_refused(ms_bt_filter_condition(&arena, pass(), sink, NULL),
                   "Error in field 'condition filter true filter' : sink cannot be nested in a "
                   "condition filter");
    assert_refused(ms_bt_filter_condition(&arena, NULL, NULL, sink),
                   "Error in field 'condition filter false filter' : sink cannot be nested in a "
                   "condition filter");
    assert_good(interleave(sink, ms_bt_filter_condition(&arena, pass(), NULL, NULL)));
}

static void a_family_regex_has_no_colon(void **state)
{
    (void)state;
    const char *text = "Error in field 'family_name_regex_filter' : must not contain ':'";
    assert_refused(regex(MS_BT_FILTER_FAMILY_REGEX, "a:b"), text);
    assert_refused(regex(MS_BT_FILTER_FAMILY_REGEX, "a\\:b"), text);
    assert_good(regex(MS_BT_FILTER_QUALIFIER_REGEX, "a:b"));
}

static void wrong_regular_expressions_are_refused(void **state)
{
    (void)state;
    assert_refused(regex(MS_BT_FILTER_ROW_KEY_REGEX, "[a"),
                   "Error in field 'row_key_regex_filter' : missing ]: [a");
    assert_refused(regex(MS_BT_FILTER_QUALIFIER_REGEX, "("),
                   "Error in field 'column_qualifier_regex_filter' : missing ): (");
    assert_refused(regex(MS_BT_FILTER_FAMILY_REGEX, "(*"),
                   "Error in field 'family_name_regex_filter' : no argument for repetition "
                   "operator: *");
    assert_refused(regex(MS_BT_FILTER_VALUE_REGEX, "(a)\\1"),
                   "Error in field 'value_regex_filter' : invalid escape sequence: \\1");
    assert_good(regex(MS_BT_FILTER_VALUE_REGEX, "|a"));
}

static void a_mask_is_not_empty(void **state)
{
    (void)state;
    assert_refused(ms_bt_filter_value_bitmask(&arena, ms_str_lit("")),
                   "Error in field 'value_bitmask_filter' : mask must not be empty");
    assert_good(ms_bt_filter_value_bitmask(&arena, ms_str_lit("\0")));
}

static void empty_and_inverted_ranges_are_taken(void **state)
{
    (void)state;
    ms_bt_range inverted = ms_bt_range_make(ms_str_lit("z"), ms_str_lit("a"));
    assert_good(ms_bt_filter_column_range(&arena, ms_str_lit("f"), &inverted));
    assert_good(ms_bt_filter_value_range(&arena, &inverted));
    assert_good(ms_bt_filter_timestamp_range(&arena, 7, 3));
    assert_good(ms_bt_filter_timestamp_range(&arena, 1, 2));
}

static void depth_is_limited(void **state)
{
    (void)state;
    ms_bt_status bt = {0};
    const ms_bt_filter *filter = ms_bt_filter_pass_all(&arena);
    for (unsigned i = 1; i < MS_BT_LIMIT_FILTER_DEPTH; i++) {
        filter = ms_bt_filter_chain(
            &arena, (const ms_bt_filter *[]){filter, ms_bt_filter_pass_all(&arena)}, 2);
    }
    assert_int_equal(ms_bt_filter_check(filter, &bt), MS_BT_OK);
    filter = ms_bt_filter_chain(&arena,
                                (const ms_bt_filter *[]){filter, ms_bt_filter_pass_all(&arena)}, 2);
    assert_int_equal(ms_bt_filter_check(filter, &bt), MS_BT_INVALID_ARGUMENT);
    assert_string_equal(bt.text, "Row filter is nested more than 20 deep");
}

static void size_is_limited_by_serialized_bytes(void **state)
{
    (void)state;
    ms_bt_status bt = {0};
    /* Field 5, two-byte length: 20480 bytes in all at a name of 20476. */
    char *name = calloc(1, 20480);
    memset(name, 'f', 20480);
    const ms_bt_filter *filter = ms_bt_filter_family(&arena, ms_str_make(name, 20476));
    assert_int_equal(ms_bt_filter_wire_bytes(filter), 20480);
    assert_int_equal(ms_bt_filter_check(filter, &bt), MS_BT_OK);
    filter = ms_bt_filter_family(&arena, ms_str_make(name, 20477));
    assert_int_equal(ms_bt_filter_check(filter, &bt), MS_BT_INVALID_ARGUMENT);
    assert_string_equal(bt.text, "Row filter exceeds maximum size of 20480 bytes");
    free(name);
}

/* Each of so many regular expressions still gets enough memory to be compiled. */
static void many_regular_expressions_share_the_memory(void **state)
{
    (void)state;
    const ms_bt_filter *filters[1000];
    for (size_t i = 0; i < 1000; i++) {
        filters[i] = regex(MS_BT_FILTER_VALUE_REGEX, "a.*b[c-e]");
    }
    assert_good(ms_bt_filter_interleave(&arena, filters, 1000));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(lists_have_at_least_two),
        TEST(flags_are_true),
        TEST(counts_are_positive),
        TEST(probabilities_are_between_0_and_1),
        TEST(labels_are_short_and_plain),
        TEST(a_chain_has_one_filter_with_labels),
        TEST(a_sink_is_not_in_a_condition),
        TEST(a_family_regex_has_no_colon),
        TEST(wrong_regular_expressions_are_refused),
        TEST(a_mask_is_not_empty),
        TEST(empty_and_inverted_ranges_are_taken),
        TEST(depth_is_limited),
        TEST(size_is_limited_by_serialized_bytes),
        TEST(many_regular_expressions_share_the_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
