/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges, row sets, partitions and tokens: round trips, and what is left out. */
#include "bigtable/wire/wire_testing.h"

#include "bigtable/wire/range.h"

static const ms_bt_range every_kind[] = {
    {{MS_BT_BOUND_NONE, {NULL, 0}}, {MS_BT_BOUND_NONE, {NULL, 0}}},
    {{MS_BT_BOUND_CLOSED, {"a", 1}}, {MS_BT_BOUND_OPEN, {"b", 1}}},
    {{MS_BT_BOUND_OPEN, {"a\0", 2}}, {MS_BT_BOUND_CLOSED, {"\xff", 1}}},
    {{MS_BT_BOUND_NONE, {NULL, 0}}, {MS_BT_BOUND_CLOSED, {"b", 1}}},
    {{MS_BT_BOUND_OPEN, {"a", 1}}, {MS_BT_BOUND_NONE, {NULL, 0}}},
};
#define KIND_COUNT (sizeof(every_kind) / sizeof(every_kind[0]))

static void ranges_come_back(void **state)
{
    (void)state;
    for (size_t i = 0; i < KIND_COUNT; i++) {
        ms_str bytes = packed(&ms_wire_range_to_pb(&every_kind[i], &arena)->base);
        const ms_pb_row_range *message =
            ms_pb_unpack(row_range, bytes, &ms_wire_request_limits, &arena, &bt);
        ms_bt_range back = ms_wire_range_from_pb(message);
        assert_true(ms_bt_range_equals(&back, &every_kind[i]));
    }
    assert_same_bytes(packed(&ms_wire_range_to_pb(&every_kind[1], &arena)->base),
                      bytes_lit("\x0a\x01"
                                "a\x1a\x01"
                                "b"));
}

static void an_empty_key_is_no_bound(void **state)
{
    (void)state;
    const ms_str sent[] = {bytes_lit("\x0a\x00\x1a\x00"), bytes_lit("\x12\x00\x22\x00"),
                           bytes_lit("")};
    for (size_t i = 0; i < 3; i++) {
        ms_bt_range range = ms_wire_range_from_pb(
            ms_pb_unpack(row_range, sent[i], &ms_wire_request_limits, &arena, &bt));
        assert_int_equal(range.start.kind, MS_BT_BOUND_NONE);
        assert_int_equal(range.end.kind, MS_BT_BOUND_NONE);
    }
    ms_bt_range none = ms_wire_range_from_pb(NULL);
    assert_int_equal(none.start.kind, MS_BT_BOUND_NONE);
}

static void row_sets_come_back(void **state)
{
    (void)state;
    const ms_str keys[] = {ms_str_lit("k"), bytes_lit("\0"), ms_str_lit("")};
    const ms_bt_row_set set = {keys, 3, every_kind, KIND_COUNT};
    ms_str bytes = packed(&ms_wire_row_set_to_pb(&set, &arena)->base);
    ms_bt_row_set back = ms_wire_row_set_from_pb(
        ms_pb_unpack(row_set, bytes, &ms_wire_request_limits, &arena, &bt), &arena);
    assert_int_equal(back.key_count, 3);
    assert_int_equal(back.range_count, KIND_COUNT);
    for (size_t i = 0; i < 3; i++) {
        assert_true(ms_str_equals(back.keys[i], keys[i]));
    }
    for (size_t i = 0; i < KIND_COUNT; i++) {
        assert_true(ms_bt_range_equals(&back.ranges[i], &every_kind[i]));
    }
}

static void every_row_is_no_row_set(void **state)
{
    (void)state;
    const ms_bt_row_set every = {NULL, 0, NULL, 0};
    assert_null(ms_wire_row_set_to_pb(&every, &arena));
    ms_bt_row_set back = ms_wire_row_set_from_pb(NULL, &arena);
    assert_true(back.key_count == 0 && back.range_count == 0);
    back = ms_wire_row_set_from_pb(ms_pb_new(&arena, row_set), &arena);
    assert_true(back.key_count == 0 && back.range_count == 0);
}

static void a_partition_spells_out_both_bounds(void **state)
{
    (void)state;
    const ms_bt_range whole = {{MS_BT_BOUND_NONE, {NULL, 0}}, {MS_BT_BOUND_NONE, {NULL, 0}}};
    assert_same_bytes(packed(&ms_wire_partition_to_pb(&whole, &arena)->base),
                      bytes_lit("\x0a\x04\x0a\x00\x1a\x00"));
    const ms_bt_range part = ms_bt_range_make(ms_str_lit("a"), ms_str_lit("b"));
    ms_bt_range back;
    assert_bt_ok(ms_wire_partition_from_pb(ms_wire_partition_to_pb(&part, &arena), &back, &bt));
    assert_true(ms_bt_range_equals(&back, &part));
    assert_bt_ok(ms_wire_partition_from_pb(ms_wire_partition_to_pb(&whole, &arena), &back, &bt));
    assert_true(ms_bt_range_equals(&back, &whole));
}

static void a_partition_of_another_form_is_refused(void **state)
{
    (void)state;
    static const char text[] = "partition.row_range must be the form of [start_key, end_key)";
    const ms_str wrong[] = {bytes_lit("\x0a\x00"),
                            bytes_lit("\x0a\x02\x0a\x00"),
                            bytes_lit("\x0a\x02\x1a\x00"),
                            bytes_lit("\x0a\x04\x12\x00\x1a\x00"),
                            bytes_lit("\x0a\x04\x0a\x00\x22\x00"),
                            bytes_lit("")};
    ms_bt_range back;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        const ms_pb_stream_partition *message =
            ms_pb_unpack(stream_partition, wrong[i], &ms_wire_request_limits, &arena, &bt);
        assert_non_null(message);
        assert_bt_fails(ms_wire_partition_from_pb(message, &back, &bt), MS_BT_INVALID_ARGUMENT,
                        text);
    }
    assert_bt_fails(ms_wire_partition_from_pb(NULL, &back, &bt), MS_BT_INVALID_ARGUMENT, text);
}

static void tokens_come_back(void **state)
{
    (void)state;
    const ms_bt_change_token token = {ms_bt_range_make(ms_str_lit("a"), ms_str_lit("")),
                                      ms_str_lit("1.2.3")};
    ms_bt_change_token back;
    assert_bt_ok(ms_wire_token_from_pb(ms_wire_token_to_pb(&token, &arena), &back, &bt));
    assert_str_equal(back.token, "1.2.3");
    assert_true(ms_bt_range_equals(&back.partition, &token.partition));
    ms_pb_stream_continuation_token *bare = ms_pb_new(&arena, stream_continuation_token);
    assert_bt_fails(ms_wire_token_from_pb(bare, &back, &bt), MS_BT_INVALID_ARGUMENT, "partition");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, wire_setup, wire_teardown)
    const struct CMUnitTest tests[] = {
        TEST(ranges_come_back),
        TEST(an_empty_key_is_no_bound),
        TEST(row_sets_come_back),
        TEST(every_row_is_no_row_set),
        TEST(a_partition_spells_out_both_bounds),
        TEST(a_partition_of_another_form_is_refused),
        TEST(tokens_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
