/* SPDX-License-Identifier: Apache-2.0 */
#include "type/rowcodec.h"

#include "base/memory.h"
#include "type/random_data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void start(rnd *r, ms_arena *arena, uint64_t seed)
{
    ms_arena_init(arena, 0);
    *r = (rnd){.values = arena, .vectors = arena};
    ms_env_random_init(&r->random, seed);
}

/* Records made from frames, read into batches and into values, and made again from values. */
static void records_survive_every_way(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 300; seed++) {
        ms_arena arena;
        rnd r;
        start(&r, &arena, seed);
        ms_schema schema = rnd_schema(&r, 10, 3);
        uint32_t rows = 1 + rnd_below(&r, 40);
        ms_batch frame;
        ms_value **values;
        rnd_frame(&r, &frame, &schema, rows, &values);
        ms_rowcodec *codec = ms_rowcodec_make(&arena, &schema);
        ms_batch_pool *pool = ms_batch_pool_create(&schema, 64, 1);
        ms_batch *batch = ms_batch_pool_take(pool);
        for (uint32_t row = 0; row < rows; row++) {
            ms_buf record;
            ms_buf again;
            ms_status st = {0};
            ms_buf_init(&record, 1 << 20);
            ms_buf_init(&again, 1 << 20);
            assert_int_equal(ms_rowcodec_encode(codec, &frame, row, &record, &st), MS_OK);
            assert_int_equal(ms_rowcodec_decode(codec, ms_buf_view(&record), batch, &st), MS_OK);
            ms_value got[10];
            assert_int_equal(
                ms_rowcodec_decode_values(codec, ms_buf_view(&record), &arena, got, &st), MS_OK);
            for (uint32_t c = 0; c < schema.column_count; c++) {
                assert_true(rnd_identical(&got[c], &values[c][row]));
            }
            assert_int_equal(ms_rowcodec_encode_values(codec, got, &again, &st), MS_OK);
            assert_true(ms_str_equals(ms_buf_view(&record), ms_buf_view(&again)));
            ms_buf_release(&record);
            ms_buf_release(&again);
        }
        assert_int_equal(batch->rows, rows);
        for (uint32_t row = 0; row < rows; row++) {
            for (uint32_t c = 0; c < schema.column_count; c++) {
                ms_value got = ms_value_from_vec(&arena, &batch->columns[c], row);
                assert_true(rnd_identical(&got, &values[c][row]));
            }
        }
        ms_batch_drop(batch);
        ms_batch_pool_destroy(pool);
        ms_arena_release(&arena);
    }
}

/* A damaged record is refused, and the batch goes on as if nothing had been tried. */
static void damaged_records_leave_the_batch_as_it_was(void **state)
{
    (void)state;
    int refused = 0;
    for (uint64_t seed = 1; seed < 400; seed++) {
        ms_arena arena;
        rnd r;
        start(&r, &arena, seed);
        ms_schema schema = rnd_schema(&r, 4, 3);
        ms_batch frame;
        ms_value **values;
        rnd_frame(&r, &frame, &schema, 30, &values);
        ms_rowcodec *codec = ms_rowcodec_make(&arena, &schema);
        ms_batch_pool *pool = ms_batch_pool_create(&schema, 64, 1);
        ms_batch *batch = ms_batch_pool_take(pool);
        ms_buf record;
        ms_buf_init(&record, 1 << 20);
        uint32_t kept[64];
        for (uint32_t row = 0; row < 30; row++) {
            ms_status st = {0};
            ms_buf_reset(&record);
            assert_int_equal(ms_rowcodec_encode(codec, &frame, row, &record, &st), MS_OK);
            size_t bytes = rnd_below(&r, (uint32_t)record.bytes + 1);
            char *damaged = ms_arena_alloc(&arena, bytes, 1);
            for (size_t i = 0; i < bytes; i++) {
                damaged[i] = rnd_chance(&r, 20) ? (char)rnd_below(&r, 256) : record.ptr[i];
            }
            uint32_t before = batch->rows;
            ms_rc rc = ms_rowcodec_decode(codec, ms_str_make(damaged, bytes), batch, &st);
            ms_value got[4];
            ms_status other = {0};
            ms_rc rc_values =
                ms_rowcodec_decode_values(codec, ms_str_make(damaged, bytes), &arena, got, &other);
            assert_int_equal(rc, rc_values);
            assert_true(rc == MS_OK || rc == MS_CORRUPT_DATA);
            refused += rc != MS_OK;
            assert_int_equal(batch->rows, before + (rc == MS_OK));
            if (rc == MS_OK) {
                kept[before] = UINT32_MAX; /* some row, not one that we know */
            }
            ms_status_clear(&st);
            assert_int_equal(ms_rowcodec_decode(codec, ms_buf_view(&record), batch, &st), MS_OK);
            kept[batch->rows - 1] = row;
        }
        for (uint32_t i = 0; i < batch->rows; i++) {
            for (uint32_t c = 0; c < schema.column_count && kept[i] != UINT32_MAX; c++) {
                ms_value got = ms_value_from_vec(&arena, &batch->columns[c], i);
                assert_true(rnd_identical(&got, &values[c][kept[i]]));
            }
        }
        ms_buf_release(&record);
        ms_batch_drop(batch);
        ms_batch_pool_destroy(pool);
        ms_arena_release(&arena);
    }
    assert_true(refused > 1000);
}

static void a_subset_reads_into_a_wider_batch(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    const ms_type *bigint = ms_type_simple(&arena, MS_TYPE_BIGINT, true);
    ms_field columns[] = {{ms_str_lit("a"), bigint},
                          {ms_str_lit("b"), ms_type_string(&arena, true)},
                          {ms_str_lit("c"), bigint}};
    ms_schema schema = {3, columns};
    static const uint32_t subset[] = {2, 0};
    ms_rowcodec *codec = ms_rowcodec_make_subset(&arena, &schema, subset, 2);
    ms_batch_pool *pool = ms_batch_pool_create(&schema, 4, 2);
    ms_batch *source = ms_batch_pool_take(pool);
    ms_batch *target = ms_batch_pool_take(pool);
    source->rows = 1;
    MS_VEC_DATA(&source->columns[0], int64_t)[0] = 1;
    MS_VEC_DATA(&source->columns[1], ms_view)[0] = ms_view_make("b", 1);
    MS_VEC_DATA(&source->columns[2], int64_t)[0] = 3;
    ms_buf record;
    ms_status st = {0};
    ms_buf_init(&record, 100);
    assert_int_equal(ms_rowcodec_encode(codec, source, 0, &record, &st), MS_OK);
    assert_int_equal(record.bytes, 3);
    assert_memory_equal(record.ptr, "\x00\x06\x02", 3);
    assert_int_equal(ms_rowcodec_decode(codec, ms_buf_view(&record), target, &st), MS_OK);
    assert_int_equal(MS_VEC_DATA(&target->columns[0], int64_t)[0], 1);
    assert_true(ms_vec_is_null(&target->columns[1], 0));
    assert_int_equal(MS_VEC_DATA(&target->columns[2], int64_t)[0], 3);
    ms_buf_release(&record);
    ms_batch_drop(source);
    ms_batch_drop(target);
    ms_batch_pool_destroy(pool);
    ms_arena_release(&arena);
}

static void the_bytes_are_as_documented(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    const ms_type *smallint = ms_type_simple(&arena, MS_TYPE_SMALLINT, true);
    ms_field fields[] = {{ms_str_lit("x"), smallint}};
    ms_field columns[] = {{ms_str_lit("flag"), ms_type_simple(&arena, MS_TYPE_BOOLEAN, true)},
                          {ms_str_lit("n"), smallint},
                          {ms_str_lit("d"), ms_type_decimal(&arena, 38, 0, true)},
                          {ms_str_lit("f"), ms_type_simple(&arena, MS_TYPE_DOUBLE, true)},
                          {ms_str_lit("s"), ms_type_string(&arena, true)},
                          {ms_str_lit("l"), ms_type_array(&arena, smallint, true)},
                          {ms_str_lit("r"), ms_type_row(&arena, fields, 1, true)},
                          {ms_str_lit("t"), ms_type_temporal(&arena, MS_TYPE_TIMESTAMP, 9, true)},
                          {ms_str_lit("z"), smallint}};
    ms_schema schema = {9, columns};
    ms_rowcodec *codec = ms_rowcodec_make(&arena, &schema);
    ms_value items[] = {ms_value_int(smallint, 1), ms_value_null(smallint),
                        ms_value_int(smallint, -1)};
    ms_value field = ms_value_null(smallint);
    ms_value values[9] = {ms_value_int(columns[0].type, 1),
                          ms_value_int(smallint, -300),
                          {.type = columns[2].type, .u.dec = 5},
                          ms_value_double(columns[3].type, 1.0),
                          ms_value_str(columns[4].type, ms_str_lit("hi")),
                          {.type = columns[5].type, .item_count = 3, .u.items = items},
                          {.type = columns[6].type, .item_count = 1, .u.items = &field},
                          {.type = columns[7].type, .u.ts = {-1, 5}},
                          ms_value_null(smallint)};
    static const char expected[] = "\x00\x01"                         /* z is NULL */
                                   "\x01"                             /* true */
                                   "\xd7\x04"                         /* zigzag 599 */
                                   "\x0a"                             /* zigzag 10 */
                                   "\x00\x00\x00\x00\x00\x00\xf0\x3f" /* 1.0 */
                                   "\x02hi"
                                   "\x03\x02\x02\x01" /* three, the second NULL, 1, -1 */
                                   "\x01"             /* the field is NULL */
                                   "\x01\x05";        /* -1 ms, 5 ns */
    ms_buf record;
    ms_status st = {0};
    ms_buf_init(&record, 100);
    assert_int_equal(ms_rowcodec_encode_values(codec, values, &record, &st), MS_OK);
    assert_int_equal(record.bytes, sizeof(expected) - 1);
    assert_memory_equal(record.ptr, expected, record.bytes);
    ms_buf_release(&record);
    ms_arena_release(&arena);
}

static void bad_values_are_refused(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    static const struct {
        ms_type type;
        const char *record;
        size_t bytes;
    } cases[] = {
        {{.kind = MS_TYPE_BOOLEAN, .phys = MS_PHYS_BOOL}, "\x00\x02", 2},
        {{.kind = MS_TYPE_SMALLINT, .phys = MS_PHYS_I16}, "\x00\x80\x80\x04", 4}, /* 32768 */
        {{.kind = MS_TYPE_INT, .phys = MS_PHYS_I32}, "\x00\x80\x80\x80\x80\x10", 6},
        {{.kind = MS_TYPE_TIMESTAMP, .phys = MS_PHYS_TS16, .precision = 9},
         "\x00\x00\xc0\x84\x3d",
         5}, /* 1000000 ns */
        {{.kind = MS_TYPE_VARCHAR, .phys = MS_PHYS_STR}, "\x00\x05hi", 4},
        {{.kind = MS_TYPE_INT, .phys = MS_PHYS_I32}, "\x00\x02\x00", 3}, /* a byte too many */
        {{.kind = MS_TYPE_INT, .phys = MS_PHYS_I32}, "", 0},
        {{.kind = MS_TYPE_DECIMAL, .phys = MS_PHYS_I128, .precision = 38},
         "\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x04",
         20},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ms_field column = {ms_str_lit("c"), &cases[i].type};
        ms_schema schema = {1, &column};
        ms_rowcodec *codec = ms_rowcodec_make(&arena, &schema);
        ms_value value;
        ms_status st = {0};
        assert_int_equal(ms_rowcodec_decode_values(codec,
                                                   ms_str_make(cases[i].record, cases[i].bytes),
                                                   &arena, &value, &st),
                         MS_CORRUPT_DATA);
        assert_non_null(strstr(st.message, "a stored row"));
    }
    ms_arena_release(&arena);
}

static void a_list_length_cannot_ask_for_memory(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    const ms_type *type = ms_type_array(&arena, ms_type_simple(&arena, MS_TYPE_BIGINT, true), true);
    ms_field column = {ms_str_lit("c"), type};
    ms_schema schema = {1, &column};
    ms_rowcodec *codec = ms_rowcodec_make(&arena, &schema);
    size_t before = ms_arena_used_bytes(&arena);
    ms_value value;
    ms_status st = {0};
    ms_str record = ms_str_make("\x00\xff\xff\xff\xff\x0f\xff", 7);
    assert_int_equal(ms_rowcodec_decode_values(codec, record, &arena, &value, &st),
                     MS_CORRUPT_DATA);
    assert_true(ms_arena_used_bytes(&arena) - before < 4096);
    ms_arena_release(&arena);
}

static void a_full_buffer_keeps_what_it_had(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_field column = {ms_str_lit("s"), ms_type_string(&arena, true)};
    ms_schema schema = {1, &column};
    ms_rowcodec *codec = ms_rowcodec_make(&arena, &schema);
    ms_buf buf;
    ms_status st = {0};
    ms_buf_init(&buf, 64);
    assert_int_equal(ms_buf_append(&buf, ms_str_lit("before"), &st), MS_OK);
    char text[100];
    memset(text, 'x', sizeof(text));
    ms_value value = ms_value_str(column.type, ms_str_make(text, sizeof(text)));
    assert_int_equal(ms_rowcodec_encode_values(codec, &value, &buf, &st), MS_LIMIT);
    assert_true(ms_str_equals(ms_buf_view(&buf), ms_str_lit("before")));
    ms_buf_release(&buf);
    ms_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_survive_every_way),
        cmocka_unit_test(damaged_records_leave_the_batch_as_it_was),
        cmocka_unit_test(a_subset_reads_into_a_wider_batch),
        cmocka_unit_test(the_bytes_are_as_documented),
        cmocka_unit_test(bad_values_are_refused),
        cmocka_unit_test(a_list_length_cannot_ask_for_memory),
        cmocka_unit_test(a_full_buffer_keeps_what_it_had),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
