/* SPDX-License-Identifier: Apache-2.0 */
/* Mutations and rules as messages: there and back, and what the model cannot express. */
#include "bigtable/wire/batch_testing.h"

#include "bigtable/wire/mutation.h"

static ms_bt_mutation_batch batch;
static ms_bt_mutation_batch again;

static int setup(void **state)
{
    ms_bt_mutation_batch_init(&batch, 1u << 20);
    ms_bt_mutation_batch_init(&again, 1u << 20);
    return wire_setup(state);
}

static int teardown(void **state)
{
    ms_bt_mutation_batch_release(&batch);
    ms_bt_mutation_batch_release(&again);
    return wire_teardown(state);
}

static void random_entries_come_back(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        wire_choices c = choices_of(seed);
        ms_bt_mutation_batch_reset(&batch);
        ms_bt_mutation_batch_reset(&again);
        assert_ok(ms_bt_mutation_batch_begin_row(&batch, ms_str_lit("key"), &st));
        for (unsigned i = wire_pick(&c, 5); i > 0; i--) {
            pick_mutation(&c, &batch);
        }
        ms_bt_mutation_batch_end_row(&batch);
        size_t count;
        ms_pb_mutation **list = ms_wire_mutations_to_pb(&batch, &arena, &count);
        /* Over the wire, so that only what is said counts. */
        ms_pb_mutate_row_request *request = ms_pb_new(&arena, mutate_row_request);
        request->mutations = list;
        request->n_mutations = count;
        const ms_pb_mutate_row_request *back = ms_pb_unpack(
            mutate_row_request, packed(&request->base), &ms_wire_request_limits, &arena, &bt);
        assert_bt_ok(ms_wire_mutations_from_pb(ms_str_lit("key"), back->mutations,
                                               back->n_mutations, &again, &bt));
        assert_same_batch(&batch, &again);
        ms_arena_reset(&arena);
    }
}

static void no_batch_is_no_mutation(void **state)
{
    (void)state;
    size_t count = 7;
    assert_null(ms_wire_mutations_to_pb(NULL, &arena, &count));
    assert_int_equal(count, 0);
    count = 7;
    assert_null(ms_wire_mutations_to_pb(&batch, &arena, &count));
    assert_int_equal(count, 0);
}

/* One mutation, from its bytes. */
static ms_bt_code take(ms_str bytes)
{
    ms_pb_mutation *message = ms_pb_unpack(mutation, bytes, &ms_wire_request_limits, &arena, &bt);
    assert_non_null(message);
    ms_pb_mutation *list[] = {ms_pb_new(&arena, mutation), message};
    list[0]->mutation_case = GOOGLE__BIGTABLE__V2__MUTATION__MUTATION_DELETE_FROM_ROW;
    list[0]->delete_from_row = ms_pb_new(&arena, mutation_delete_from_row);
    return ms_wire_mutations_from_pb(ms_str_lit("key"), list, 2, &batch, &bt);
}

static void a_mutation_that_is_none_is_refused(void **state)
{
    (void)state;
    assert_bt_fails(take(bytes_lit("")), MS_BT_INVALID_ARGUMENT,
                    "Error in Mutation list : Error in element #1 : No mutation is set");
    /* The batch is as it was. */
    assert_int_equal(ms_bt_mutation_batch_entries(&batch), 0);
    assert_int_equal(ms_bt_mutation_batch_bytes(&batch), 0);
}

static void an_aggregate_says_where_when_and_what(void **state)
{
    (void)state;
    /* AddToCell of 5 to family f, qualifier q, at 1000. */
    assert_bt_ok(take(bytes_lit("\x2a\x11\x0a\x01"
                                "f\x12\x03\x42\x01"
                                "q\x1a\x03\x48\xe8\x07\x22\x02\x30\x05")));
    assert_bt_fails(take(bytes_lit("\x2a\x03\x0a\x01"
                                   "f")),
                    MS_BT_INVALID_ARGUMENT,
                    "#1 : AddToCell must have a column_qualifier with a raw_value");
    /* A qualifier with a bytes_value is not raw. */
    assert_bt_fails(take(bytes_lit("\x32\x08\x0a\x01"
                                   "f\x12\x03\x12\x01"
                                   "q")),
                    MS_BT_INVALID_ARGUMENT, "MergeToCell must have a column_qualifier");
    assert_bt_fails(take(bytes_lit("\x2a\x08\x0a\x01"
                                   "f\x12\x03\x42\x01"
                                   "q")),
                    MS_BT_INVALID_ARGUMENT, "must have a timestamp with raw_timestamp_micros");
    assert_bt_fails(take(bytes_lit("\x2a\x0c\x0a\x01"
                                   "f\x12\x03\x42\x01"
                                   "q\x1a\x02\x48\x00")),
                    MS_BT_INVALID_ARGUMENT, "AddToCell must have an input with an int_value");
    assert_bt_fails(take(bytes_lit("\x2a\x12\x0a\x01"
                                   "f\x12\x03\x42\x01"
                                   "q\x1a\x02\x48\x00\x22\x04\x1a\x02"
                                   "55")),
                    MS_BT_INVALID_ARGUMENT, "AddToCell must have an input with an int_value");
    assert_bt_fails(take(bytes_lit("\x32\x12\x0a\x01"
                                   "f\x12\x03\x42\x01"
                                   "q\x1a\x02\x48\x00\x22\x04\x1a\x02"
                                   "55")),
                    MS_BT_INVALID_ARGUMENT, "MergeToCell must have an input with a raw_value");
}

/* The value of the only mutation of the last entry. */
static ms_str last_value(void)
{
    ms_bt_mutation_cursor cursor = ms_bt_mutation_cursor_make(&batch);
    ms_bt_mutation_entry entry;
    ms_bt_mutation mutation = {.kind = MS_BT_MUTATION_SET_CELL};
    while (ms_bt_mutation_cursor_next_entry(&cursor, &entry)) {
        while (ms_bt_mutation_cursor_next(&cursor, &mutation)) {
        }
    }
    return mutation.value;
}

static void a_state_may_be_raw_bytes_an_integer_or_nothing(void **state)
{
    (void)state;
    static const char prefix[] = "\x0a\x01"
                                 "f\x12\x03\x42\x01"
                                 "q\x1a\x02\x48\x00";
    const struct {
        ms_str input;
        ms_str value;
    } cases[] = {
        {bytes_lit("\x22\x04\x42\x02"
                   "ab"),
         ms_str_lit("ab")},
        {bytes_lit("\x22\x04\x12\x02"
                   "ab"),
         ms_str_lit("ab")},
        {bytes_lit("\x22\x02\x30\x07"), bytes_lit("\0\0\0\0\0\0\0\7")},
        {bytes_lit("\x22\x00"), bytes_lit("")},
        {bytes_lit(""), bytes_lit("")},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ms_buf_reset(&buf);
        size_t bytes = sizeof(prefix) - 1 + cases[i].input.bytes;
        assert_ok(ms_buf_append_byte(&buf, 0x32, &st));
        assert_ok(ms_buf_append_byte(&buf, (char)bytes, &st));
        assert_ok(ms_buf_append(&buf, ms_str_make(prefix, sizeof(prefix) - 1), &st));
        assert_ok(ms_buf_append(&buf, cases[i].input, &st));
        assert_bt_ok(take(ms_buf_view(&buf)));
        assert_same_bytes(last_value(), cases[i].value);
    }
}

static void a_full_batch_is_exhaustion(void **state)
{
    (void)state;
    ms_bt_mutation_batch small;
    ms_bt_mutation_batch_init(&small, 64);
    ms_pb_mutation *message = ms_pb_new(&arena, mutation);
    message->mutation_case = GOOGLE__BIGTABLE__V2__MUTATION__MUTATION_SET_CELL;
    message->set_cell = ms_pb_new(&arena, mutation_set_cell);
    char value[100] = {0};
    message->set_cell->value = ms_wire_bytes(ms_str_make(value, sizeof(value)));
    assert_bt_fails(ms_wire_mutations_from_pb(ms_str_lit("k"), &message, 1, &small, &bt),
                    MS_BT_RESOURCE_EXHAUSTED, "");
    assert_int_equal(ms_bt_mutation_batch_bytes(&small), 0);
    ms_bt_mutation_batch_release(&small);
}

static void an_unknown_origin_says_nothing(void **state)
{
    (void)state;
    assert_bt_ok(take(bytes_lit("\x22\x00\x38\x09")));
    ms_bt_mutation_cursor cursor = ms_bt_mutation_cursor_make(&batch);
    ms_bt_mutation_entry entry;
    ms_bt_mutation mutation;
    assert_true(ms_bt_mutation_cursor_next_entry(&cursor, &entry));
    while (ms_bt_mutation_cursor_next(&cursor, &mutation)) {
        assert_int_equal(mutation.origin, MS_BT_TIMESTAMP_UNSPECIFIED);
    }
}

static void rules_come_back(void **state)
{
    (void)state;
    const ms_bt_rule rules[] = {
        {.kind = MS_BT_RULE_APPEND,
         .family = ms_str_lit("f"),
         .qualifier = bytes_lit("q\0"),
         .append = bytes_lit("\xff")},
        {.kind = MS_BT_RULE_INCREMENT,
         .family = ms_str_lit("g"),
         .qualifier = bytes_lit(""),
         .increment = -5},
        {.kind = MS_BT_RULE_APPEND, .family = ms_str_lit("f"), .append = bytes_lit("")},
        {.kind = MS_BT_RULE_INCREMENT, .family = ms_str_lit("f"), .increment = 0}};
    ms_pb_read_modify_write_row_request *request = ms_pb_new(&arena, read_modify_write_row_request);
    request->rules = ms_wire_rules_to_pb(rules, 4, &arena);
    request->n_rules = 4;
    const ms_pb_read_modify_write_row_request *got =
        ms_pb_unpack(read_modify_write_row_request, packed(&request->base), &ms_wire_request_limits,
                     &arena, &bt);
    const ms_bt_rule *back;
    assert_bt_ok(ms_wire_rules_from_pb(got->rules, got->n_rules, &arena, &back, &bt));
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(back[i].kind, rules[i].kind);
        assert_same_bytes(back[i].family, rules[i].family);
        assert_same_bytes(back[i].qualifier, rules[i].qualifier);
        assert_same_bytes(back[i].append, rules[i].append);
        assert_int_equal(back[i].increment, rules[i].increment);
    }
    ms_pb_read_modify_write_rule *wrong[] = {got->rules[0],
                                             ms_pb_new(&arena, read_modify_write_rule)};
    assert_bt_fails(ms_wire_rules_from_pb(wrong, 2, &arena, &back, &bt), MS_BT_INVALID_ARGUMENT,
                    "Error in field 'rules' : Error in element #1 : No rule is set");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(random_entries_come_back),
        TEST(no_batch_is_no_mutation),
        TEST(a_mutation_that_is_none_is_refused),
        TEST(an_aggregate_says_where_when_and_what),
        TEST(a_state_may_be_raw_bytes_an_integer_or_nothing),
        TEST(a_full_batch_is_exhaustion),
        TEST(an_unknown_origin_says_nothing),
        TEST(rules_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
