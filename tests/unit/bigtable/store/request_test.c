/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checks of writing calls, as a table of bad requests: each with the service's status and text,
 * and nothing of it is written. What is wrong with the table or a family is said of every entry.
 */
#include "store_testing.h"

static const char *const ab[] = {"a", "b"};

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof(*f));
    fixture_init(f, MS_BT_SYNC_OS);
    create_table(f, ab, 2);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    fixture_release(f);
    free(f);
    return 0;
}

/* One mutation of the bad row; the other rows of a request are good. */
typedef struct bad_case {
    const char *what;
    ms_bt_mutation mutation;
    const char *family; /* NULL: "a" */
    const char *key;    /* NULL: "bad" */
    ms_bt_code code;
    const char *text;
} bad_case;

#define IN_LIST "Error in Mutation list : Error in element #0 : "
#define MISMATCH                                                                                   \
    IN_LIST "Timestamp granularity mismatch. Expected a multiple of 1000 (millisecond "            \
            "granularity), but got "
#define NO_FAMILY                                                                                  \
    "Error while mutating the row 'bad' (projects/p/instances/i/tables/t) : Requested column "     \
    "family not found."

static const bad_case cases[] = {
    {"no row key",
     {.kind = MS_BT_MUTATION_DELETE_FROM_ROW},
     .key = "",
     .code = MS_BT_INVALID_ARGUMENT,
     .text = "Row keys must be non-empty"},
    {"granularity of a SetCell",
     {.kind = MS_BT_MUTATION_SET_CELL, .timestamp_micros = 32685506681},
     .code = MS_BT_INVALID_ARGUMENT,
     .text = MISMATCH "32685506681."},
    {"granularity, said to be the user's",
     {.kind = MS_BT_MUTATION_SET_CELL, .timestamp_micros = 1, .origin = MS_BT_TIMESTAMP_USER},
     .code = MS_BT_INVALID_ARGUMENT,
     .text = MISMATCH "1."},
    {"negative time",
     {.kind = MS_BT_MUTATION_SET_CELL, .timestamp_micros = -2},
     .code = MS_BT_INVALID_ARGUMENT,
     .text = IN_LIST "Timestamp must not be negative, but got -2."},
    {"granularity of a start",
     {.kind = MS_BT_MUTATION_DELETE_FROM_COLUMN, .timestamp_micros = 1},
     .code = MS_BT_INVALID_ARGUMENT,
     .text = MISMATCH "1."},
    {"granularity of an end",
     {.kind = MS_BT_MUTATION_DELETE_FROM_COLUMN, .end_micros = 1001},
     .code = MS_BT_INVALID_ARGUMENT,
     .text = MISMATCH "1001."},
    {"inverted range",
     {.kind = MS_BT_MUTATION_DELETE_FROM_COLUMN, .timestamp_micros = 2000, .end_micros = 1000},
     .code = MS_BT_INVALID_ARGUMENT,
     .text = IN_LIST "inverted or invalid timestamp range [2000, 1000]"},
    {"empty range",
     {.kind = MS_BT_MUTATION_DELETE_FROM_COLUMN, .timestamp_micros = 1000, .end_micros = 1000},
     .code = MS_BT_INVALID_ARGUMENT,
     .text = IN_LIST "inverted or invalid timestamp range [1000, 1000]"},
    {"unknown family of a SetCell",
     {.kind = MS_BT_MUTATION_SET_CELL},
     .family = "zz",
     .code = MS_BT_NOT_FOUND,
     .text = NO_FAMILY},
    {"unknown family of a DeleteFromColumn",
     {.kind = MS_BT_MUTATION_DELETE_FROM_COLUMN},
     .family = "zz",
     .code = MS_BT_NOT_FOUND,
     .text = NO_FAMILY},
    {"unknown family of a DeleteFromFamily",
     {.kind = MS_BT_MUTATION_DELETE_FROM_FAMILY},
     .family = "zz",
     .code = MS_BT_NOT_FOUND,
     .text = NO_FAMILY},
    {"AddToCell on a raw family",
     {.kind = MS_BT_MUTATION_ADD_TO_CELL, .value = {"\0\0\0\0\0\0\0\1", 8}},
     .code = MS_BT_INVALID_ARGUMENT,
     .text = IN_LIST "AddToCell needs an aggregate family, which 'a' is not"},
};

static void append_row(ms_bt_mutation_batch *batch, const char *key, const char *family,
                       ms_bt_mutation mutation)
{
    ms_status st = {0};
    assert_ok(ms_bt_mutation_batch_family(batch, ms_str_cstr(family), &mutation.family, &st));
    assert_ok(ms_bt_mutation_batch_begin_row(batch, ms_str_cstr(key), &st));
    assert_ok(ms_bt_mutation_batch_append(batch, &mutation, &st));
    ms_bt_mutation_batch_end_row(batch);
}

/* A good row, the bad one, and a good one behind it. */
static void fill_bad(ms_bt_mutation_batch *batch, const bad_case *c)
{
    ms_bt_mutation_batch_reset(batch);
    append_row(batch, "good", "a", (ms_bt_mutation){.kind = MS_BT_MUTATION_SET_CELL});
    append_row(batch, c->key != NULL ? c->key : "bad", c->family != NULL ? c->family : "a",
               c->mutation);
    append_row(batch, "also good", "b", (ms_bt_mutation){.kind = MS_BT_MUTATION_SET_CELL});
}

static void one_bad_entry_fails_the_request(void **state)
{
    fixture *f = *state;
    ms_bt_mutation_batch batch;
    ms_bt_mutation_batch_init(&batch, 1u << 20);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const bad_case *c = &cases[i];
        fill_bad(&batch, c);
        ms_bt_mutate_rows call;
        ms_bt_mutate_rows_init(&call, &f->mailbox, done_nothing, NULL);
        call.table = &f->table;
        call.batch = &batch;
        ms_bt_client_mutate_rows(f->client, &call);
        ms_bt_call_wait(&call.call, &f->parker);
        ms_bt_status bt = call.call.status;
        uint32_t failures = ms_bt_mutate_rows_failure_count(&call);
        if (c->code == MS_BT_NOT_FOUND) {
            /* Every entry says so, in the same words. */
            assert_int_equal(call.call.status.code, MS_BT_OK);
            assert_int_equal(failures, 3);
            for (uint32_t entry = 0; entry < 3; entry++) {
                assert_int_equal(ms_bt_mutate_rows_failure(&call, entry, &bt), entry);
                assert_string_equal(bt.text, c->text);
            }
        } else {
            assert_int_equal(failures, 0);
        }
        if (bt.code != c->code || strcmp(bt.text, c->text) != 0) {
            fail_msg("%s: %s: %s", c->what, ms_bt_code_name(bt.code), bt.text);
        }
        ms_bt_mutate_rows_release(&call);
        assert_rows(f, "");
    }
    ms_bt_mutation_batch_release(&batch);
}

/* MutateRow has one entry, and its failure is the call's. */
static void single_entry_fails_as_the_call(void **state)
{
    fixture *f = *state;
    ms_bt_mutation_batch batch;
    ms_bt_mutation_batch_init(&batch, 1u << 20);
    append_row(&batch, "bad", "zz", (ms_bt_mutation){.kind = MS_BT_MUTATION_SET_CELL});
    ms_bt_mutate_rows call;
    ms_bt_mutate_rows_init(&call, &f->mailbox, done_nothing, NULL);
    call.table = &f->table;
    call.batch = &batch;
    call.is_single = true;
    ms_bt_client_mutate_rows(f->client, &call);
    ms_bt_call_wait(&call.call, &f->parker);
    assert_int_equal(call.call.status.code, MS_BT_NOT_FOUND);
    assert_string_equal(call.call.status.text, NO_FAMILY);
    assert_int_equal(ms_bt_mutate_rows_failure_count(&call), 0);
    ms_bt_mutate_rows_release(&call);
    ms_bt_mutation_batch_release(&batch);
}

static void missing_table_fails_every_entry(void **state)
{
    fixture *f = *state;
    f->table.table = ms_str_lit("other");
    ms_bt_status bt = set_cell(f, "r", "a", "q", 0, "v");
    assert_int_equal(bt.code, MS_BT_NOT_FOUND);
    assert_string_equal(bt.text, "table \"projects/p/instances/i/tables/other\" not found");
    f->table.instance = ms_str_lit("nowhere");
    bt = set_cell(f, "r", "a", "q", 0, "v");
    assert_int_equal(bt.code, MS_BT_NOT_FOUND);
    assert_string_equal(bt.text, "No tables found for instance projects/p/instances/nowhere");
}

static void unknown_profile_fails_the_call(void **state)
{
    fixture *f = *state;
    ms_bt_mutation_batch batch;
    ms_bt_mutation_batch_init(&batch, 1u << 20);
    append_row(&batch, "r", "a", (ms_bt_mutation){.kind = MS_BT_MUTATION_SET_CELL});
    ms_bt_mutate_rows call;
    ms_bt_mutate_rows_init(&call, &f->mailbox, done_nothing, NULL);
    call.table = &f->table;
    call.batch = &batch;
    call.call.app_profile = ms_str_lit("nobody");
    ms_bt_client_mutate_rows(f->client, &call);
    ms_bt_call_wait(&call.call, &f->parker);
    assert_int_equal(call.call.status.code, MS_BT_NOT_FOUND);
    assert_int_equal(ms_bt_mutate_rows_failure_count(&call), 0);
    ms_bt_mutate_rows_release(&call);
    ms_bt_mutation_batch_release(&batch);
    assert_rows(f, "");
}

static void too_many_mutations_are_refused(void **state)
{
    fixture *f = *state;
    ms_status st = {0};
    ms_bt_mutation_batch batch;
    ms_bt_mutation_batch_init(&batch, 64u << 20);
    for (uint32_t i = 0; i < 120000; i++) {
        if (i % 24 == 0) {
            char key[16];
            snprintf(key, sizeof(key), "%06u", i);
            if (i > 0) {
                ms_bt_mutation_batch_end_row(&batch);
            }
            assert_ok(ms_bt_mutation_batch_begin_row(&batch, ms_str_cstr(key), &st));
        }
        uint16_t a = 0;
        assert_ok(ms_bt_mutation_batch_family(&batch, ms_str_lit("a"), &a, &st));
        assert_ok(ms_bt_mutation_batch_set_cell(&batch, a, ms_str_lit(""), 0, ms_str_lit(""), &st));
    }
    ms_bt_mutation_batch_end_row(&batch);
    ms_bt_status bt = write_batch(f, &batch);
    assert_int_equal(bt.code, MS_BT_INVALID_ARGUMENT);
    assert_string_equal(bt.text, "Too many mutations: 120000 provided; limit 100000");
    assert_rows(f, "");
    ms_bt_mutation_batch_release(&batch);
}

static void client_times_are_cut_and_server_times_assigned(void **state)
{
    fixture *f = *state;
    ms_env_clock now_clock = {.wall_us = 4000000000123456, .mono_ns = 1};
    ms_env_set_clock(&now_clock);
    ms_bt_mutation_batch batch;
    ms_bt_mutation_batch_init(&batch, 1u << 20);
    append_row(&batch, "client", "a",
               (ms_bt_mutation){.kind = MS_BT_MUTATION_SET_CELL,
                                .origin = MS_BT_TIMESTAMP_CLIENT,
                                .timestamp_micros = 1234567});
    append_row(&batch, "server", "a",
               (ms_bt_mutation){.kind = MS_BT_MUTATION_SET_CELL,
                                .timestamp_micros = MS_BT_TIMESTAMP_SERVER});
    ms_bt_status bt = write_batch(f, &batch);
    assert_bt(&bt, MS_BT_OK);
    assert_rows(f, "client{a:@1234000=}server{a:@4000000000123000=}");
    /* A table of microseconds takes them as they are. */
    f->table.table = ms_str_lit("fine");
    ms_bt_family family = {.name = ms_str_lit("a")};
    create_table_of(f, &family, 1, MS_BT_GRANULARITY_MICROS);
    append_row(&batch, "user", "a",
               (ms_bt_mutation){.kind = MS_BT_MUTATION_SET_CELL, .timestamp_micros = 1});
    ms_env_clock_advance_us(&now_clock, 100);
    bt = write_batch(f, &batch);
    assert_bt(&bt, MS_BT_OK);
    assert_rows(f, "client{a:@1234567=}server{a:@4000000000123556=}user{a:@1=}");
    ms_env_set_clock(NULL);
    ms_bt_mutation_batch_release(&batch);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(one_bad_entry_fails_the_request), TEST(single_entry_fails_as_the_call),
        TEST(missing_table_fails_every_entry), TEST(unknown_profile_fails_the_call),
        TEST(too_many_mutations_are_refused),  TEST(client_times_are_cut_and_server_times_assigned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
