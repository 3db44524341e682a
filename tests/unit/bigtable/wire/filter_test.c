/* SPDX-License-Identifier: Apache-2.0 */
/* Filters as messages: each kind there and back, and the size that the model states for them. */
#include "bigtable/wire/wire_testing.h"

#include "bigtable/wire/filter.h"

/* The rendered form says everything that a filter is. */
static ms_str text_of(const ms_bt_filter *filter)
{
    ms_buf_reset(&buf);
    assert_ok(ms_bt_filter_render(filter, &buf, &st));
    return ms_arena_copy_str(&arena, ms_buf_view(&buf));
}

static const ms_bt_filter *back_of(ms_str bytes)
{
    const ms_pb_row_filter *message =
        ms_pb_unpack(row_filter, bytes, &ms_wire_request_limits, &arena, &bt);
    assert_non_null(message);
    return ms_wire_filter_from_pb(message, &arena);
}

static void assert_same_filter(const ms_bt_filter *a, const ms_bt_filter *b)
{
    assert_true((a == NULL) == (b == NULL));
    if (a == NULL) {
        return;
    }
    assert_int_equal(a->kind, b->kind);
    assert_int_equal(a->is_false, b->is_false);
    assert_int_equal(a->count, b->count);
    assert_true(a->probability >= b->probability && a->probability <= b->probability);
    assert_true(ms_str_equals(a->text, b->text));
    assert_int_equal(a->bounds.start.kind, b->bounds.start.kind);
    assert_int_equal(a->bounds.end.kind, b->bounds.end.kind);
    assert_true(ms_str_equals(a->bounds.start.key, b->bounds.start.key));
    assert_true(ms_str_equals(a->bounds.end.key, b->bounds.end.key));
    assert_int_equal(a->start_micros, b->start_micros);
    assert_int_equal(a->end_micros, b->end_micros);
    assert_int_equal(a->child_count, b->child_count);
    for (size_t i = 0; i < a->child_count; i++) {
        assert_same_filter(a->children[i], b->children[i]);
    }
}

/* There and back; and the model knows how many bytes that is. */
static void assert_comes_back(const ms_bt_filter *filter)
{
    ms_str bytes = packed(&ms_wire_filter_to_pb(filter, &arena)->base);
    assert_int_equal(bytes.bytes, ms_bt_filter_wire_bytes(filter));
    assert_same_filter(back_of(bytes), filter);
}

static void flags_come_back_true_or_false(void **state)
{
    (void)state;
    const ms_bt_filter_kind kinds[] = {MS_BT_FILTER_PASS_ALL, MS_BT_FILTER_BLOCK_ALL,
                                       MS_BT_FILTER_SINK, MS_BT_FILTER_STRIP_VALUE};
    for (size_t i = 0; i < 4; i++) {
        assert_comes_back(ms_bt_filter_flag(&arena, kinds[i], true));
        assert_comes_back(ms_bt_filter_flag(&arena, kinds[i], false));
    }
}

static void regular_expressions_and_labels_come_back(void **state)
{
    (void)state;
    const ms_bt_filter_kind kinds[] = {MS_BT_FILTER_ROW_KEY_REGEX, MS_BT_FILTER_QUALIFIER_REGEX,
                                       MS_BT_FILTER_VALUE_REGEX};
    for (size_t i = 0; i < 3; i++) {
        assert_comes_back(ms_bt_filter_regex(&arena, kinds[i], bytes_lit("a\0.*\xff")));
        assert_comes_back(ms_bt_filter_regex(&arena, kinds[i], bytes_lit("")));
    }
    assert_comes_back(ms_bt_filter_regex(&arena, MS_BT_FILTER_FAMILY_REGEX, ms_str_lit("c.*")));
    assert_comes_back(ms_bt_filter_apply_label(&arena, ms_str_lit("label-1")));
    assert_comes_back(ms_bt_filter_value_bitmask(&arena, bytes_lit("\x00\x80")));
}

static void counts_and_probabilities_come_back(void **state)
{
    (void)state;
    const ms_bt_filter_kind kinds[] = {MS_BT_FILTER_CELLS_PER_ROW_OFFSET,
                                       MS_BT_FILTER_CELLS_PER_ROW_LIMIT,
                                       MS_BT_FILTER_CELLS_PER_COLUMN_LIMIT};
    const int32_t counts[] = {0, 1, 127, 128, INT32_MAX, -1};
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 6; j++) {
            assert_comes_back(ms_bt_filter_cells(&arena, kinds[i], counts[j]));
        }
    }
    assert_comes_back(ms_bt_filter_row_sample(&arena, 0.25));
    assert_comes_back(ms_bt_filter_row_sample(&arena, 0));
}

static void ranges_of_filters_come_back_with_empty_bounds(void **state)
{
    (void)state;
    const ms_bt_bound bounds[] = {{MS_BT_BOUND_NONE, {NULL, 0}},
                                  {MS_BT_BOUND_CLOSED, {"k", 1}},
                                  {MS_BT_BOUND_OPEN, {"\0", 1}},
                                  {MS_BT_BOUND_CLOSED, {"", 0}},
                                  {MS_BT_BOUND_OPEN, {"", 0}}};
    for (size_t i = 0; i < 5; i++) {
        for (size_t j = 0; j < 5; j++) {
            const ms_bt_range range = {bounds[i], bounds[j]};
            assert_comes_back(ms_bt_filter_column_range(&arena, ms_str_lit("cf"), &range));
            assert_comes_back(ms_bt_filter_value_range(&arena, &range));
        }
    }
    assert_comes_back(ms_bt_filter_timestamp_range(&arena, 0, 0));
    assert_comes_back(ms_bt_filter_timestamp_range(&arena, 1, INT64_MAX));
    assert_comes_back(ms_bt_filter_timestamp_range(&arena, -1, 0));
}

static void lists_of_any_length_come_back(void **state)
{
    (void)state;
    const ms_bt_filter *children[] = {ms_bt_filter_pass_all(&arena), ms_bt_filter_sink(&arena),
                                      ms_bt_filter_cells_per_row(&arena, 3)};
    for (size_t count = 0; count <= 3; count++) {
        assert_comes_back(ms_bt_filter_list(&arena, MS_BT_FILTER_CHAIN, children, count));
        assert_comes_back(ms_bt_filter_list(&arena, MS_BT_FILTER_INTERLEAVE, children, count));
    }
}

static void branches_that_are_absent_stay_absent(void **state)
{
    (void)state;
    const ms_bt_filter *pass = ms_bt_filter_pass_all(&arena);
    assert_comes_back(ms_bt_filter_condition(&arena, pass, NULL, NULL));
    assert_comes_back(ms_bt_filter_condition(&arena, pass, pass, NULL));
    assert_comes_back(ms_bt_filter_condition(&arena, NULL, NULL, pass));
}

static void a_filter_that_says_nothing_passes_all(void **state)
{
    (void)state;
    assert_null(ms_wire_filter_from_pb(NULL, &arena));
    assert_null(ms_wire_filter_to_pb(NULL, &arena));
    assert_int_equal(back_of(bytes_lit(""))->kind, MS_BT_FILTER_PASS_ALL);
    /* An unknown kind, as a newer client may send. */
    assert_int_equal(back_of(bytes_lit("\xf2\x06\x00"))->kind, MS_BT_FILTER_PASS_ALL);
    /* As a branch it is one; in a chain, a link. */
    assert_str_equal(
        text_of(back_of(bytes_lit("\x1a\x02\x12\x00"))),
        text_of(ms_bt_filter_condition(&arena, NULL, ms_bt_filter_pass_all(&arena), NULL)).ptr);
}

static void a_family_goes_as_the_expression_of_its_name(void **state)
{
    (void)state;
    const ms_bt_filter *filter = ms_bt_filter_family(&arena, ms_str_lit("a.b-c"));
    ms_str bytes = packed(&ms_wire_filter_to_pb(filter, &arena)->base);
    assert_int_equal(bytes.bytes, ms_bt_filter_wire_bytes(filter));
    const ms_bt_filter *back = back_of(bytes);
    assert_int_equal(back->kind, MS_BT_FILTER_FAMILY_REGEX);
    assert_str_equal(back->text, "a\\.b\\-c");
}

/* Whatever a message says, the model carries it to the same message. */
static void random_filters_come_back(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        wire_choices c = choices_of(seed);
        ms_str bytes = packed(wire_pick_message(&c, ms_pb_row_filter_class(), 9));
        const ms_bt_filter *filter = back_of(bytes);
        const ms_pb_row_filter *again = ms_wire_filter_to_pb(filter, &arena);
        assert_same_filter(back_of(packed(&again->base)), filter);
        assert_int_equal(packed(&again->base).bytes, ms_bt_filter_wire_bytes(filter));
        ms_arena_reset(&arena);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, wire_setup, wire_teardown)
    const struct CMUnitTest tests[] = {
        TEST(flags_come_back_true_or_false),
        TEST(regular_expressions_and_labels_come_back),
        TEST(counts_and_probabilities_come_back),
        TEST(ranges_of_filters_come_back_with_empty_bounds),
        TEST(lists_of_any_length_come_back),
        TEST(branches_that_are_absent_stay_absent),
        TEST(a_filter_that_says_nothing_passes_all),
        TEST(a_family_goes_as_the_expression_of_its_name),
        TEST(random_filters_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
