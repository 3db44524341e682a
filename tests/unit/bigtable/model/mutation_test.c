/* SPDX-License-Identifier: Apache-2.0 */
/* Batches: what is appended comes out again, limits hold, and the service's rules are checked. */
#include "testing.h"

#include "bigtable/model/mutation.h"

typedef struct fixture {
    ms_bt_mutation_batch batch;
    uint16_t family;
} fixture;

static int setup(void **state)
{
    ms_status st = {0};
    fixture *f = calloc(1, sizeof(*f));
    ms_bt_mutation_batch_init(&f->batch, 8u << 20);
    assert_ok(ms_bt_mutation_batch_family(&f->batch, ms_str_lit("cf"), &f->family, &st));
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    ms_bt_mutation_batch_release(&f->batch);
    free(f);
    return 0;
}

static void begin(fixture *f, const char *key)
{
    ms_status st = {0};
    assert_ok(ms_bt_mutation_batch_begin_row(&f->batch, ms_str_cstr(key), &st));
}

static void set(fixture *f, int64_t micros)
{
    ms_status st = {0};
    assert_ok(ms_bt_mutation_batch_set_cell(&f->batch, f->family, ms_str_lit("q"), micros,
                                            ms_str_lit("v"), &st));
}

static void what_is_appended_comes_out(void **state)
{
    fixture *f = *state;
    ms_status st = {0};
    uint16_t other = 0;
    uint16_t again = 0;
    assert_ok(ms_bt_mutation_batch_family(&f->batch, ms_str_lit("other"), &other, &st));
    assert_ok(ms_bt_mutation_batch_family(&f->batch, ms_str_lit("cf"), &again, &st));
    assert_int_equal(other, 1);
    assert_int_equal(again, f->family);
    begin(f, "row1");
    set(f, 1000);
    assert_ok(ms_bt_mutation_batch_delete_column(&f->batch, other, ms_str_lit(""), 1, 2, &st));
    ms_bt_mutation_batch_end_row(&f->batch);
    begin(f, "gone");
    set(f, 1);
    ms_bt_mutation_batch_cancel_row(&f->batch);
    begin(f, "row2");
    assert_ok(ms_bt_mutation_batch_delete_family(&f->batch, other, &st));
    assert_ok(ms_bt_mutation_batch_delete_row(&f->batch, &st));
    ms_bt_mutation_batch_end_row(&f->batch);
    assert_int_equal(ms_bt_mutation_batch_entries(&f->batch), 2);
    assert_int_equal(ms_bt_mutation_batch_mutations(&f->batch), 4);

    ms_bt_mutation_cursor cursor = ms_bt_mutation_cursor_make(&f->batch);
    ms_bt_mutation_entry entry;
    ms_bt_mutation mutation;
    assert_true(ms_bt_mutation_cursor_next_entry(&cursor, &entry));
    assert_str_equal(entry.key, "row1");
    assert_int_equal(entry.mutation_count, 2);
    assert_true(ms_bt_mutation_cursor_next(&cursor, &mutation));
    assert_int_equal(mutation.kind, MS_BT_MUTATION_SET_CELL);
    assert_int_equal(mutation.timestamp_micros, 1000);
    assert_str_equal(mutation.qualifier, "q");
    assert_str_equal(mutation.value, "v");
    assert_true(ms_bt_mutation_cursor_next(&cursor, &mutation));
    assert_int_equal(mutation.kind, MS_BT_MUTATION_DELETE_FROM_COLUMN);
    assert_int_equal(mutation.family, other);
    assert_int_equal(mutation.timestamp_micros, 1);
    assert_int_equal(mutation.end_micros, 2);
    assert_false(ms_bt_mutation_cursor_next(&cursor, &mutation));
    assert_true(ms_bt_mutation_cursor_next_entry(&cursor, &entry));
    assert_str_equal(entry.key, "row2");
    assert_int_equal(entry.index, 1);
    assert_false(ms_bt_mutation_cursor_next_entry(&cursor, &entry));
}

static void reset_keeps_families(void **state)
{
    fixture *f = *state;
    ms_status st = {0};
    begin(f, "r");
    assert_ok(ms_bt_mutation_batch_delete_row(&f->batch, &st));
    ms_bt_mutation_batch_end_row(&f->batch);
    assert_int_equal(ms_bt_mutation_batch_kinds(&f->batch),
                     MS_BT_MUTATION_BIT(MS_BT_MUTATION_DELETE_FROM_ROW));
    ms_bt_mutation_batch_reset(&f->batch);
    assert_int_equal(ms_bt_mutation_batch_entries(&f->batch), 0);
    assert_int_equal(ms_bt_mutation_batch_kinds(&f->batch), 0);
    assert_str_equal(ms_bt_mutation_batch_family_name(&f->batch, 0), "cf");
}

static void dropped_delete_does_not_count(void **state)
{
    fixture *f = *state;
    ms_status st = {0};
    begin(f, "r");
    assert_ok(ms_bt_mutation_batch_delete_row(&f->batch, &st));
    ms_bt_mutation_batch_cancel_row(&f->batch);
    begin(f, "r");
    set(f, 0);
    ms_bt_mutation_batch_end_row(&f->batch);
    assert_int_equal(ms_bt_mutation_batch_kinds(&f->batch),
                     MS_BT_MUTATION_BIT(MS_BT_MUTATION_SET_CELL));
}

static void tokens_and_kinds_belong_to_their_entry(void **state)
{
    fixture *f = *state;
    ms_status st = {0};
    assert_ok(ms_bt_mutation_batch_begin_row_once(&f->batch, ms_str_lit("a"),
                                                  ms_str_lit("12345678"), 77, &st));
    assert_ok(ms_bt_mutation_batch_add_to_cell(&f->batch, 0, ms_str_lit("q"), 1000, -2, &st));
    ms_bt_mutation_batch_end_row(&f->batch);
    assert_true(ms_bt_mutation_batch_has_tokens(&f->batch));
    begin(f, "b");
    set(f, 0);
    assert_ok(ms_bt_mutation_batch_delete_row(&f->batch, &st));
    ms_bt_mutation_batch_end_row(&f->batch);

    ms_bt_mutation_cursor cursor = ms_bt_mutation_cursor_make(&f->batch);
    ms_bt_mutation_entry entry;
    ms_bt_mutation mutation;
    assert_true(ms_bt_mutation_cursor_next_entry(&cursor, &entry));
    assert_str_equal(entry.key, "a");
    assert_str_equal(entry.token, "12345678");
    assert_int_equal(entry.token_start_micros, 77);
    assert_int_equal(entry.kinds, MS_BT_MUTATION_BIT(MS_BT_MUTATION_ADD_TO_CELL));
    assert_true(ms_bt_mutation_cursor_next(&cursor, &mutation));
    assert_int_equal(mutation.kind, MS_BT_MUTATION_ADD_TO_CELL);
    assert_int_equal(mutation.timestamp_micros, 1000);
    assert_memory_equal(mutation.value.ptr, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFE", 8);
    assert_true(ms_bt_mutation_cursor_next_entry(&cursor, &entry));
    assert_int_equal(entry.token.bytes, 0);
    assert_int_equal(entry.kinds, MS_BT_MUTATION_BIT(MS_BT_MUTATION_SET_CELL) |
                                      MS_BT_MUTATION_BIT(MS_BT_MUTATION_DELETE_FROM_ROW));
    assert_int_equal(ms_bt_mutation_batch_kinds(&f->batch) & MS_BT_MUTATION_AGGREGATES,
                     MS_BT_MUTATION_BIT(MS_BT_MUTATION_ADD_TO_CELL));
    ms_bt_mutation_batch_reset(&f->batch);
    assert_false(ms_bt_mutation_batch_has_tokens(&f->batch));
}

static void full_batch_refuses_and_stays_whole(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_bt_mutation_batch batch;
    ms_bt_mutation_batch_init(&batch, 128);
    uint16_t family = 0;
    assert_ok(ms_bt_mutation_batch_family(&batch, ms_str_lit("cf"), &family, &st));
    assert_ok(ms_bt_mutation_batch_begin_row(&batch, ms_str_lit("r"), &st));
    char value[128] = {0};
    assert_int_equal(ms_bt_mutation_batch_set_cell(&batch, family, ms_str_lit("q"), 0,
                                                   ms_str_make(value, sizeof(value)), &st),
                     MS_LIMIT);
    ms_bt_mutation_batch_cancel_row(&batch);
    assert_int_equal(ms_bt_mutation_batch_bytes(&batch), 0);
    ms_bt_mutation_batch_release(&batch);
}

static void assert_check(fixture *f, ms_bt_code code, const char *text)
{
    ms_bt_status bt = {0};
    assert_int_equal(ms_bt_mutation_batch_check(&f->batch, 1000, &bt), code);
    assert_string_equal(bt.text, text);
    ms_bt_mutation_batch_reset(&f->batch);
}

static void rules_of_the_service(void **state)
{
    fixture *f = *state;
    ms_status st = {0};
    assert_check(f, MS_BT_INVALID_ARGUMENT, "No mutations provided");
    begin(f, "r");
    ms_bt_mutation_batch_end_row(&f->batch);
    assert_check(f, MS_BT_INVALID_ARGUMENT, "No mutations provided");
    begin(f, "");
    set(f, 0);
    ms_bt_mutation_batch_end_row(&f->batch);
    assert_check(f, MS_BT_INVALID_ARGUMENT, "Row keys must be non-empty");
    begin(f, "r");
    set(f, 0);
    set(f, 1001);
    ms_bt_mutation_batch_end_row(&f->batch);
    assert_check(f, MS_BT_INVALID_ARGUMENT,
                 "Error in Mutation list : Error in element #1 : Timestamp granularity mismatch. "
                 "Expected a multiple of 1000 (millisecond granularity), but got 1001.");
    begin(f, "r");
    set(f, -2);
    ms_bt_mutation_batch_end_row(&f->batch);
    assert_check(f, MS_BT_INVALID_ARGUMENT,
                 "Error in Mutation list : Error in element #0 : Timestamp must not be negative, "
                 "but got -2.");
    begin(f, "r");
    set(f, MS_BT_TIMESTAMP_SERVER);
    ms_bt_mutation_batch_end_row(&f->batch);
    assert_check(f, MS_BT_OK, "");
    begin(f, "r");
    assert_ok(ms_bt_mutation_batch_delete_column(&f->batch, 0, ms_str_lit("q"), 2000, 1000, &st));
    ms_bt_mutation_batch_end_row(&f->batch);
    assert_check(f, MS_BT_INVALID_ARGUMENT,
                 "Error in Mutation list : Error in element #0 : inverted or invalid timestamp "
                 "range [2000, 1000]");
    begin(f, "r");
    ms_bt_mutation client = {.kind = MS_BT_MUTATION_SET_CELL,
                             .origin = MS_BT_TIMESTAMP_CLIENT,
                             .timestamp_micros = 1234567};
    assert_ok(ms_bt_mutation_batch_append(&f->batch, &client, &st));
    ms_bt_mutation_batch_end_row(&f->batch);
    assert_check(f, MS_BT_OK, "");
}

static void rules_of_aggregates(void **state)
{
    fixture *f = *state;
    ms_status st = {0};
    begin(f, "r");
    ms_bt_mutation add = {.kind = MS_BT_MUTATION_ADD_TO_CELL, .value = ms_str_lit("1234567")};
    assert_ok(ms_bt_mutation_batch_append(&f->batch, &add, &st));
    ms_bt_mutation_batch_end_row(&f->batch);
    assert_check(f, MS_BT_INVALID_ARGUMENT,
                 "Error in Mutation list : Error in element #0 : The input of AddToCell must be a "
                 "64-bit integer");
    begin(f, "r");
    assert_ok(ms_bt_mutation_batch_add_to_cell(&f->batch, 0, ms_str_lit("q"), 0, 1, &st));
    assert_ok(ms_bt_mutation_batch_add_to_cell(&f->batch, 0, ms_str_lit("q"),
                                               MS_BT_TIMESTAMP_SERVER, 1, &st));
    ms_bt_mutation_batch_end_row(&f->batch);
    assert_check(f, MS_BT_INVALID_ARGUMENT,
                 "Error in Mutation list : Error in element #1 : Timestamp must not be negative, "
                 "but got -1.");
    begin(f, "r");
    assert_ok(ms_bt_mutation_batch_merge_to_cell(&f->batch, 0, ms_str_lit("q"), 1,
                                                 ms_str_lit("12345678"), &st));
    ms_bt_mutation_batch_end_row(&f->batch);
    assert_check(f, MS_BT_INVALID_ARGUMENT,
                 "Error in Mutation list : Error in element #0 : Timestamp granularity mismatch. "
                 "Expected a multiple of 1000 (millisecond granularity), but got 1.");
}

static void tokens_have_limits(void **state)
{
    fixture *f = *state;
    ms_status st = {0};
    assert_ok(ms_bt_mutation_batch_begin_row_once(&f->batch, ms_str_lit("r"), ms_str_lit("1234567"),
                                                  0, &st));
    set(f, 0);
    ms_bt_mutation_batch_end_row(&f->batch);
    assert_check(f, MS_BT_INVALID_ARGUMENT,
                 "Error in field 'idempotency' : token is 7 bytes long; it must be 8 to 1024");
}

static void entry_that_deletes_and_adds_has_a_limit(void **state)
{
    fixture *f = *state;
    ms_status st = {0};
    for (uint32_t more = 0; more < 2; more++) {
        begin(f, "r");
        assert_ok(ms_bt_mutation_batch_delete_row(&f->batch, &st));
        for (uint32_t i = 1; i < MS_BT_LIMIT_MIXED_MUTATIONS + more; i++) {
            assert_ok(ms_bt_mutation_batch_add_to_cell(&f->batch, 0, ms_str_lit("q"), 0, 1, &st));
        }
        ms_bt_mutation_batch_end_row(&f->batch);
        assert_check(f, more == 0 ? MS_BT_OK : MS_BT_INVALID_ARGUMENT,
                     more == 0 ? ""
                               : "Too many mutations in an entry that deletes and aggregates: 4097 "
                                 "provided; limit 4096");
    }
}

static void assert_type(ms_bt_mutation mutation, ms_bt_value_type type, const char *text)
{
    ms_bt_family family = {.name = ms_str_lit("cf"), .type = type};
    ms_bt_status bt = {0};
    assert_int_equal(ms_bt_mutation_check_type(&mutation, 3, &family, &bt),
                     text[0] == '\0' ? MS_BT_OK : MS_BT_INVALID_ARGUMENT);
    assert_string_equal(bt.text, text);
}

static void mutations_fit_the_type_of_their_family(void **state)
{
    (void)state;
    ms_bt_mutation set_cell = {.kind = MS_BT_MUTATION_SET_CELL};
    ms_bt_mutation add = {.kind = MS_BT_MUTATION_ADD_TO_CELL, .value = ms_str_lit("12345678")};
    ms_bt_mutation merge = {.kind = MS_BT_MUTATION_MERGE_TO_CELL, .value = ms_str_lit("1234567")};
    ms_bt_mutation null = {.kind = MS_BT_MUTATION_MERGE_TO_CELL};
    ms_bt_mutation drop = {.kind = MS_BT_MUTATION_DELETE_FROM_FAMILY};
    assert_type(set_cell, MS_BT_VALUE_RAW, "");
    assert_type(set_cell, MS_BT_VALUE_INT64_SUM,
                "Error in Mutation list : Error in element #3 : SetCell cannot write to the "
                "aggregate family 'cf'");
    assert_type(add, MS_BT_VALUE_INT64_MAX, "");
    assert_type(add, MS_BT_VALUE_RAW,
                "Error in Mutation list : Error in element #3 : AddToCell needs an aggregate "
                "family, which 'cf' is not");
    assert_type(null, MS_BT_VALUE_RAW,
                "Error in Mutation list : Error in element #3 : MergeToCell needs an aggregate "
                "family, which 'cf' is not");
    assert_type(null, MS_BT_VALUE_INT64_MIN, "");
    assert_type(merge, MS_BT_VALUE_INT64_MIN,
                "Error in Mutation list : Error in element #3 : A state of family 'cf' is 8 bytes "
                "long, but got 7");
    ms_bt_family sketches = {.name = ms_str_lit("cf"), .type = MS_BT_VALUE_INT64_HLL};
    ms_bt_status bt = {0};
    assert_int_equal(ms_bt_mutation_check_type(&merge, 3, &sketches, &bt), MS_BT_INVALID_ARGUMENT);
    assert_non_null(strstr(bt.text, "Error in element #3 : No state of family 'cf' : "));
    assert_type(null, MS_BT_VALUE_INT64_HLL, "");
    assert_type(drop, MS_BT_VALUE_RAW, "");
    assert_type(drop, MS_BT_VALUE_INT64_SUM, "");
}

static void keys_and_qualifiers_have_limits(void **state)
{
    fixture *f = *state;
    ms_status st = {0};
    ms_bt_status bt = {0};
    char *big = calloc(1, 20000);
    memset(big, 'k', 20000);
    assert_ok(ms_bt_mutation_batch_begin_row(&f->batch, ms_str_make(big, 4096), &st));
    assert_ok(ms_bt_mutation_batch_set_cell(&f->batch, 0, ms_str_make(big, 16384), 0,
                                            ms_str_lit(""), &st));
    ms_bt_mutation_batch_end_row(&f->batch);
    assert_int_equal(ms_bt_mutation_batch_check(&f->batch, 1000, &bt), MS_BT_OK);
    ms_bt_mutation_batch_reset(&f->batch);
    assert_ok(ms_bt_mutation_batch_begin_row(&f->batch, ms_str_make(big, 4097), &st));
    set(f, 0);
    ms_bt_mutation_batch_end_row(&f->batch);
    assert_check(f, MS_BT_INVALID_ARGUMENT, "Row key is 4097 bytes long; limit 4096");
    begin(f, "r");
    assert_ok(ms_bt_mutation_batch_set_cell(&f->batch, 0, ms_str_make(big, 16385), 0,
                                            ms_str_lit(""), &st));
    ms_bt_mutation_batch_end_row(&f->batch);
    assert_check(f, MS_BT_INVALID_ARGUMENT,
                 "Error in Mutation list : Error in element #0 : Column qualifier is 16385 bytes "
                 "long; limit 16384");
    free(big);
}

static void mutations_of_a_request_have_a_limit(void **state)
{
    fixture *f = *state;
    for (uint32_t i = 0; i < MS_BT_LIMIT_MUTATIONS + 1; i++) {
        if (i % 50000 == 0) {
            if (i > 0) {
                ms_bt_mutation_batch_end_row(&f->batch);
            }
            begin(f, "r");
        }
        set(f, 0);
    }
    ms_bt_mutation_batch_end_row(&f->batch);
    assert_check(f, MS_BT_INVALID_ARGUMENT, "Too many mutations: 100001 provided; limit 100000");
}

static void families_of_a_batch_have_a_limit(void **state)
{
    fixture *f = *state;
    ms_status st = {0};
    uint16_t index = 0;
    for (uint32_t i = 1; i < MS_BT_LIMIT_FAMILIES; i++) {
        char name[16];
        snprintf(name, sizeof(name), "f%u", i);
        assert_ok(ms_bt_mutation_batch_family(&f->batch, ms_str_cstr(name), &index, &st));
        assert_int_equal(index, i);
    }
    assert_int_equal(
        ms_bt_mutation_batch_family(&f->batch, ms_str_lit("one too many"), &index, &st), MS_LIMIT);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(what_is_appended_comes_out),
        TEST(reset_keeps_families),
        TEST(dropped_delete_does_not_count),
        TEST(full_batch_refuses_and_stays_whole),
        TEST(tokens_and_kinds_belong_to_their_entry),
        TEST(rules_of_the_service),
        TEST(rules_of_aggregates),
        TEST(tokens_have_limits),
        TEST(entry_that_deletes_and_adds_has_a_limit),
        TEST(mutations_fit_the_type_of_their_family),
        TEST(keys_and_qualifiers_have_limits),
        TEST(mutations_of_a_request_have_a_limit),
        TEST(families_of_a_batch_have_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
