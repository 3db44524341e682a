/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of batches as mutations: more rows than are encoded at a time, requests that are full, and
 * the writer's clock.
 */
#include "bt_running.h"

#include "connector/bigtable/row_encode.h"

typedef struct fixture {
    ms_arena arena;
    table_maker maker;
    msi_bt_layout layout;
    msi_bt_encoder *encoder;
    ms_bt_mutation_batch mutations;
} fixture;

static void fixture_init(fixture *f)
{
    memset(f, 0, sizeof(*f));
    ms_arena_init(&f->arena, 0);
    maker_init(&f->maker, &f->arena);
    maker_column(&f->maker, "k", make_type(&f->arena, "BIGINT"));
    maker_family(&f->maker, "a", "q STRING, r INT");
    maker_family(&f->maker, "b", "q SMALLINT");
    f->layout = make_layout(&f->maker);
    f->encoder = msi_bt_encoder_create(&f->layout);
    ms_bt_mutation_batch_init(&f->mutations, MS_BT_LIMIT_BATCH_BYTES);
    ms_status st = {0};
    assert_ok(msi_bt_encoder_adopt(f->encoder, &f->mutations, &st));
}

static void fixture_release(fixture *f)
{
    ms_bt_mutation_batch_release(&f->mutations);
    msi_bt_encoder_destroy(f->encoder);
    ms_arena_release(&f->arena);
}

static void many_rows_are_encoded_in_chunks_without_gaps(void **state)
{
    (void)state;
    enum { ROWS = 700 };
    fixture f;
    fixture_init(&f);
    batch_maker b;
    batch_init(&b, &f.arena, &f.layout.schema, ROWS);
    for (int i = 0; i < ROWS; i++) {
        char row[64];
        snprintf(row, sizeof(row), i % 7 == 3 ? "-D %d NULL NULL" : "+I %d %s %s", i,
                 i % 3 == 0 ? "NULL" : "('t' 5)", i % 3 == 1 ? "NULL" : "(6)");
        batch_row(&b, row);
    }
    ms_status st = {0};
    msi_bt_encoder_begin(f.encoder, &b.batch);
    assert_false(msi_bt_encoder_is_done(f.encoder));
    assert_ok(msi_bt_encoder_rows(f.encoder, &f.mutations, &st));
    assert_true(msi_bt_encoder_is_done(f.encoder));
    assert_int_equal(ms_bt_mutation_batch_entries(&f.mutations), ROWS);
    ms_bt_mutation_cursor cursor = ms_bt_mutation_cursor_make(&f.mutations);
    ms_bt_mutation_entry entry;
    ms_bt_mutation mutation;
    for (uint32_t i = 0; i < ROWS; i++) {
        assert_true(ms_bt_mutation_cursor_next_entry(&cursor, &entry));
        uint8_t key[8] = {0, 0, 0, 0, 0, 0, (uint8_t)(i >> 8), (uint8_t)i};
        assert_memory_equal(entry.key.ptr, key, 8);
        if (i % 7 == 3) {
            assert_int_equal(entry.mutation_count, 1);
            assert_true(ms_bt_mutation_cursor_next(&cursor, &mutation));
            assert_int_equal(mutation.kind, MS_BT_MUTATION_DELETE_FROM_ROW);
            continue;
        }
        uint32_t expected = (i % 3 == 0 ? 0 : 2) + (i % 3 == 1 ? 0 : 1);
        assert_int_equal(entry.mutation_count, expected);
        if (i % 3 != 0) {
            assert_true(ms_bt_mutation_cursor_next(&cursor, &mutation));
            assert_str_equal(mutation.value, "t");
            assert_true(ms_bt_mutation_cursor_next(&cursor, &mutation));
            assert_memory_equal(mutation.value.ptr, "\0\0\0\5", 4);
        }
        if (i % 3 != 1) {
            assert_true(ms_bt_mutation_cursor_next(&cursor, &mutation));
            assert_int_equal(mutation.family, 1);
            assert_memory_equal(mutation.value.ptr, "\0\6", 2);
        }
    }
    fixture_release(&f);
}

static void a_full_request_is_left_and_the_next_goes_on(void **state)
{
    (void)state;
    enum { ROWS = 400 };
    fixture f;
    fixture_init(&f);
    batch_maker b;
    batch_init(&b, &f.arena, &f.layout.schema, ROWS);
    char *row = ms_arena_alloc(&f.arena, 10100, 1);
    for (int i = 0; i < ROWS; i++) {
        int bytes = snprintf(row, 64, "%d ('", i);
        memset(row + bytes, 'x', 10000);
        snprintf(row + bytes + 10000, 32, "' 1) NULL");
        batch_row(&b, row);
    }
    ms_status st = {0};
    uint32_t rows = 0;
    uint32_t requests = 0;
    msi_bt_encoder_begin(f.encoder, &b.batch);
    while (!msi_bt_encoder_is_done(f.encoder)) {
        assert_ok(msi_bt_encoder_rows(f.encoder, &f.mutations, &st));
        size_t bytes = ms_bt_mutation_batch_bytes(&f.mutations);
        assert_true(bytes < MSI_BT_REQUEST_BYTES + 20000);
        assert_true(bytes >= MSI_BT_REQUEST_BYTES || msi_bt_encoder_is_done(f.encoder));
        rows += ms_bt_mutation_batch_entries(&f.mutations);
        requests++;
        ms_bt_mutation_batch_reset(&f.mutations);
    }
    assert_int_equal(rows, ROWS);
    assert_int_equal(requests, 4);
    fixture_release(&f);
}

static void cells_carry_the_writers_clock_in_whole_milliseconds(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    ms_env_clock clock = {0};
    atomic_store(&clock.wall_us, INT64_C(1700000000123456));
    ms_env_set_clock(&clock);
    batch_maker b;
    batch_init(&b, &f.arena, &f.layout.schema, 2);
    batch_row(&b, "1 ('t' 5) (6)");
    ms_status st = {0};
    msi_bt_encoder_begin(f.encoder, &b.batch);
    assert_ok(msi_bt_encoder_rows(f.encoder, &f.mutations, &st));
    ms_env_set_clock(NULL);
    ms_bt_mutation_cursor cursor = ms_bt_mutation_cursor_make(&f.mutations);
    ms_bt_mutation_entry entry;
    ms_bt_mutation mutation;
    assert_true(ms_bt_mutation_cursor_next_entry(&cursor, &entry));
    while (ms_bt_mutation_cursor_next(&cursor, &mutation)) {
        assert_int_equal(mutation.timestamp_micros, INT64_C(1700000000123000));
        assert_int_equal(mutation.origin, MS_BT_TIMESTAMP_CLIENT);
    }
    fixture_release(&f);
}

static void a_row_that_is_too_large_for_any_request_is_named(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f);
    ms_bt_mutation_batch small;
    ms_bt_mutation_batch_init(&small, 200);
    ms_status st = {0};
    assert_ok(msi_bt_encoder_adopt(f.encoder, &small, &st));
    batch_maker b;
    batch_init(&b, &f.arena, &f.layout.schema, 2);
    batch_row(&b, "1 ('t' 5) NULL");
    char row[400];
    snprintf(row, sizeof(row), "2 ('%0200d' 5) NULL", 0);
    batch_row(&b, row);
    msi_bt_encoder_begin(f.encoder, &b.batch);
    assert_ok(msi_bt_encoder_rows(f.encoder, &small, &st));
    assert_int_equal(ms_bt_mutation_batch_entries(&small), 1);
    assert_false(msi_bt_encoder_is_done(f.encoder));
    ms_bt_mutation_batch_reset(&small);
    assert_int_equal(msi_bt_encoder_rows(f.encoder, &small, &st), MS_LIMIT);
    assert_string_equal(st.detail,
                        "row key \"\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\" of table \"p.i.t\"");
    ms_bt_mutation_batch_release(&small);
    fixture_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(many_rows_are_encoded_in_chunks_without_gaps),
        cmocka_unit_test(a_full_request_is_left_and_the_next_goes_on),
        cmocka_unit_test(cells_carry_the_writers_clock_in_whole_milliseconds),
        cmocka_unit_test(a_row_that_is_too_large_for_any_request_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
