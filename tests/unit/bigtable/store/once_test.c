/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries with tokens: replays have no effect, within a batch, over batches and restarts, for 15
 * minutes; only entries that aggregate are concerned.
 */
#include "store_testing.h"

#include "kv/kv.h"

#define NOW_MICROS INT64_C(1700000000000000)
#define MINUTE (INT64_C(60) * 1000000)

typedef struct adder {
    fixture f;
    ms_bt_mutation_batch batch;
    uint16_t sum;
    uint16_t raw;
} adder;

static ms_env_clock now_clock;

static int setup(void **state)
{
    ms_status st = {0};
    adder *a = calloc(1, sizeof(*a));
    now_clock = (ms_env_clock){.wall_us = NOW_MICROS, .mono_ns = 1};
    ms_env_set_clock(&now_clock);
    fixture_init(&a->f, MS_BT_SYNC_OS);
    ms_bt_family families[] = {{.name = ms_str_lit("raw")},
                               {.name = ms_str_lit("sum"), .type = MS_BT_VALUE_INT64_SUM}};
    create_table_of(&a->f, families, 2, 0);
    ms_bt_mutation_batch_init(&a->batch, 64u << 20);
    assert_ok(ms_bt_mutation_batch_family(&a->batch, ms_str_lit("sum"), &a->sum, &st));
    assert_ok(ms_bt_mutation_batch_family(&a->batch, ms_str_lit("raw"), &a->raw, &st));
    *state = a;
    return 0;
}

static int teardown(void **state)
{
    adder *a = *state;
    ms_bt_mutation_batch_release(&a->batch);
    fixture_release(&a->f);
    ms_env_set_clock(NULL);
    free(a);
    return 0;
}

/* An entry that adds 1 to sum:q@0 of a row. */
static void add_one(adder *a, const char *key, const char *token, int64_t start)
{
    ms_status st = {0};
    assert_ok(ms_bt_mutation_batch_begin_row_once(&a->batch, ms_str_cstr(key), ms_str_cstr(token),
                                                  start, &st));
    assert_ok(ms_bt_mutation_batch_add_to_cell(&a->batch, a->sum, ms_str_lit("q"), 0, 1, &st));
    ms_bt_mutation_batch_end_row(&a->batch);
}

static void write_all(adder *a)
{
    ms_bt_status bt = write_batch(&a->f, &a->batch);
    assert_bt(&bt, MS_BT_OK);
    ms_bt_mutation_batch_reset(&a->batch);
}

#define NUMBER(last) "\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x" last

static void replay_has_no_effect(void **state)
{
    adder *a = *state;
    for (int round = 0; round < 3; round++) {
        /* Twice in one request, again in the next, and after a restart. */
        add_one(a, "r", "token-01", NOW_MICROS);
        add_one(a, "r", "token-01", NOW_MICROS);
        write_all(a);
        add_one(a, "r", "token-01", NOW_MICROS);
        write_all(a);
        fixture_close(&a->f);
        fixture_open(&a->f);
    }
    assert_rows(&a->f, "r{sum:q@0=" NUMBER("01") "}");
}

static void token_start_and_row_make_an_entry(void **state)
{
    adder *a = *state;
    add_one(a, "r", "token-01", NOW_MICROS);
    add_one(a, "r", "token-01", NOW_MICROS + 1);
    add_one(a, "r", "token-02", NOW_MICROS);
    add_one(a, "s", "token-01", NOW_MICROS);
    add_one(a, "r", "", 0);
    add_one(a, "r", "", 0);
    write_all(a);
    assert_rows(&a->f, "r{sum:q@0=" NUMBER("05") "}s{sum:q@0=" NUMBER("01") "}");
}

static void many_tokens_of_one_request_apply(void **state)
{
    adder *a = *state;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 40000; i++) {
            char token[16];
            snprintf(token, sizeof(token), "token-%05d", i);
            add_one(a, "r", token, NOW_MICROS);
        }
        write_all(a);
        assert_rows(&a->f, "r{sum:q@0=\\x00\\x00\\x00\\x00\\x00\\x00\\x9c@}");
    }
}

static void entry_is_skipped_whole_or_not_at_all(void **state)
{
    adder *a = *state;
    ms_status st = {0};
    for (int round = 0; round < 2; round++) {
        assert_ok(ms_bt_mutation_batch_begin_row_once(&a->batch, ms_str_lit("mixed"),
                                                      ms_str_lit("token-01"), NOW_MICROS, &st));
        assert_ok(ms_bt_mutation_batch_set_cell(&a->batch, a->raw, ms_str_lit("q"), round * 1000,
                                                ms_str_lit("v"), &st));
        assert_ok(ms_bt_mutation_batch_add_to_cell(&a->batch, a->sum, ms_str_lit("q"), 0, 1, &st));
        ms_bt_mutation_batch_end_row(&a->batch);
        /* Without an aggregate, a token changes nothing. */
        assert_ok(ms_bt_mutation_batch_begin_row_once(&a->batch, ms_str_lit("raw"),
                                                      ms_str_lit("token-01"), NOW_MICROS, &st));
        assert_ok(ms_bt_mutation_batch_set_cell(&a->batch, a->raw, ms_str_lit("q"), round * 1000,
                                                ms_str_lit("v"), &st));
        ms_bt_mutation_batch_end_row(&a->batch);
        write_all(a);
    }
    assert_rows(&a->f, "mixed{raw:q@0=v,sum:q@0=" NUMBER("01") "}raw{raw:q@1000=v,raw:q@0=v}");
}

/* Records of tokens that the store keeps. */
static int count_records(adder *a)
{
    ms_status st = {0};
    fixture_close(&a->f);
    ms_kv *kv = NULL;
    assert_ok(ms_kv_open(&(ms_kv_options){.path = a->f.path}, &kv, &st));
    ms_kv_iter_options bounds = {.lower = ms_str_lit("\0\0\0\0O"),
                                 .upper = ms_str_lit("\0\0\0\0P")};
    ms_kv_iter *iter = ms_kv_iter_create(kv, &bounds);
    ms_kv_entry entry;
    int count = 0;
    for (bool valid = ms_kv_iter_seek(iter, ms_str_lit(""), &entry); valid;
         valid = ms_kv_iter_next(iter, &entry)) {
        count++;
    }
    ms_kv_iter_destroy(iter);
    ms_kv_close(kv);
    fixture_open(&a->f);
    return count;
}

static void tokens_are_forgotten_after_15_minutes(void **state)
{
    adder *a = *state;
    add_one(a, "r", "token-01", NOW_MICROS);
    write_all(a);
    ms_env_clock_advance_us(&now_clock, 14 * MINUTE);
    add_one(a, "r", "token-01", NOW_MICROS);
    write_all(a);
    assert_rows(&a->f, "r{sum:q@0=" NUMBER("01") "}");
    assert_int_equal(count_records(a), 1);
    ms_env_clock_advance_us(&now_clock, 2 * MINUTE);
    add_one(a, "r", "token-01", NOW_MICROS);
    add_one(a, "r", "token-02", NOW_MICROS + 16 * MINUTE);
    write_all(a);
    assert_rows(&a->f, "r{sum:q@0=" NUMBER("03") "}");
    assert_int_equal(count_records(a), 1);
}

static void start_must_be_a_time_that_the_server_can_place(void **state)
{
    adder *a = *state;
    static const int64_t starts[] = {0, -1, NOW_MICROS + 16 * MINUTE};
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        add_one(a, "r", "token-01", starts[i]);
        ms_bt_status bt = write_batch(&a->f, &a->batch);
        ms_bt_mutation_batch_reset(&a->batch);
        assert_int_equal(bt.code, MS_BT_INVALID_ARGUMENT);
        assert_string_equal(bt.text,
                            "Error in field 'idempotency' : start_time must be set, and at "
                            "most 15 minutes in the future");
    }
    assert_rows(&a->f, "");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(replay_has_no_effect),
        TEST(token_start_and_row_make_an_entry),
        TEST(many_tokens_of_one_request_apply),
        TEST(entry_is_skipped_whole_or_not_at_all),
        TEST(tokens_are_forgotten_after_15_minutes),
        TEST(start_must_be_a_time_that_the_server_can_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
