/* SPDX-License-Identifier: Apache-2.0 */
/* How many rows fit a batch by their bytes: strings of a megabyte, shown once and many times. */
#include "testing.h"

#include "base/memory.h"
#include "type/batch.h"
#include "type/value.h"

#define MIB (1u << 20)
#define ROWS 20u

typedef struct fixture {
    ms_arena arena;
    ms_field columns[2];
    ms_schema schema;
    ms_batch_pool *pool;
    ms_batch *batch;
    char *text; /* two MiB */
} fixture;

static void init(fixture *f, const ms_type *second)
{
    memset(f, 0, sizeof *f);
    ms_arena_init(&f->arena, 0);
    f->columns[0] = (ms_field){ms_str_lit("name"), ms_type_string(&f->arena, true)};
    f->columns[1] = (ms_field){ms_str_lit("other"), second};
    f->schema = (ms_schema){second == NULL ? 1 : 2, f->columns};
    f->pool = ms_batch_pool_create(&f->schema, ROWS, 2);
    f->batch = ms_batch_pool_take(f->pool);
    f->text = ms_mem_alloc(2 * MIB);
    memset(f->text, 'x', 2 * MIB);
}

static void release(fixture *f)
{
    ms_mem_free(f->text);
    ms_batch_drop(f->batch);
    ms_batch_pool_destroy(f->pool);
    ms_arena_release(&f->arena);
}

static void put(ms_batch *batch, ms_str text)
{
    MS_VEC_DATA(&batch->columns[0], ms_view)[batch->rows] = ms_batch_put_str(batch, text);
    batch->rows++;
}

static void fill(fixture *f, uint32_t rows)
{
    for (uint32_t i = 0; i < rows; i++) {
        put(f->batch, ms_str_make(f->text, MIB));
    }
}

static void a_producer_stops_by_rows_or_by_bytes(void **state)
{
    (void)state;
    fixture f;
    init(&f, NULL);
    uint32_t rows = 0;
    for (; !ms_batch_is_full(f.batch); rows++) {
        put(f.batch, ms_str_lit("inline"));
    }
    assert_int_equal(rows, ROWS);
    assert_int_equal(ms_batch_wide_bytes(f.batch), 0);
    ms_batch_drop(f.batch);
    f.batch = ms_batch_pool_take(f.pool);
    for (rows = 0; !ms_batch_is_full(f.batch); rows++) {
        put(f.batch, ms_str_make(f.text, MIB));
    }
    assert_int_equal(rows, 4);
    assert_int_equal(ms_batch_wide_bytes(f.batch), 4 * MIB);
    release(&f);
}

static void bytes_without_rows_do_not_fill_a_batch(void **state)
{
    (void)state;
    fixture f;
    init(&f, NULL);
    fill(&f, 5);
    f.batch->rows = 0; /* taken back */
    assert_false(ms_batch_is_full(f.batch));
    release(&f);
}

static void elements_of_lists_count(void **state)
{
    (void)state;
    fixture f;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    init(&f, ms_type_array(&arena, ms_type_simple(&arena, MS_TYPE_BIGINT, true), true));
    put(f.batch, ms_str_lit("x"));
    ms_vec *lists = &f.batch->columns[1];
    uint32_t at = ms_vec_list_reserve(lists, MIB, NULL);
    MS_VEC_DATA(lists, ms_list)[0] = (ms_list){at, MIB};
    assert_int_equal(ms_batch_wide_bytes(f.batch), 8 * MIB);
    assert_true(ms_batch_is_full(f.batch));
    ms_batch frame;
    ms_batch_frame(&frame, f.batch, f.batch->columns, 2);
    ms_batch_set_wide_bytes_max(&frame, MS_BATCH_WIDE_UNKNOWN);
    assert_int_equal(ms_batch_fit(&frame, 0, 0), 1);
    assert_int_equal(ms_batch_fit(&frame, 0, 1), 0);
    release(&f);
    ms_arena_release(&arena);
}

static void copies_take_what_fits_beside_what_is_there(void **state)
{
    (void)state;
    fixture f;
    init(&f, NULL);
    fill(&f, 3);
    assert_int_equal(ms_batch_fit(f.batch, 0, 0), 3);
    assert_int_equal(ms_batch_fit(f.batch, 0, MIB), 3);
    assert_int_equal(ms_batch_fit(f.batch, 0, MIB + 1), 2);
    assert_int_equal(ms_batch_fit(f.batch, 1, 3 * MIB), 1);
    assert_int_equal(ms_batch_fit(f.batch, 2, 4 * MIB), 0);
    assert_int_equal(ms_batch_fit(f.batch, 3, 0), 0);
    fill(&f, 7);
    assert_int_equal(ms_batch_fit(f.batch, 0, 0), 4);
    assert_int_equal(ms_batch_fit(f.batch, 8, 0), 2);
    const uint16_t sel[] = {1, 9};
    f.batch->sel = sel;
    f.batch->sel_count = 2;
    assert_int_equal(ms_batch_fit(f.batch, 0, 2 * MIB), 2);
    assert_int_equal(ms_batch_fit(f.batch, 0, 3 * MIB), 1);
    f.batch->sel = NULL;
    release(&f);
}

/* What a frame shows many times is copied as many times, whatever its heap holds. */
static void a_string_that_is_shown_many_times_counts_each_time(void **state)
{
    (void)state;
    fixture f;
    init(&f, NULL);
    fill(&f, 1);
    ms_vec columns[3] = {f.batch->columns[0], f.batch->columns[0], f.batch->columns[0]};
    for (uint32_t c = 0; c < 3; c++) {
        columns[c].encoding = MS_ENC_CONST;
    }
    ms_batch frame = {.rows = ROWS, .columns = columns, .column_count = 3};
    assert_true(ms_batch_wide_bytes_max(&frame) == MS_BATCH_WIDE_UNKNOWN);
    assert_int_equal(ms_batch_fit(&frame, 0, 0), 1);
    frame.column_count = 1;
    assert_int_equal(ms_batch_fit(&frame, 0, 0), 4);
    assert_int_equal(ms_batch_fit(&frame, ROWS - 1, 0), 1);
    release(&f);
}

static void rows_and_nulls_are_looked_into(void **state)
{
    (void)state;
    fixture f;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    const ms_field fields[] = {{ms_str_lit("a"), ms_type_string(&arena, true)}};
    init(&f, ms_type_row(&arena, fields, 1, true));
    for (uint32_t r = 0; r < 3; r++) {
        put(f.batch, ms_str_lit("x"));
        MS_VEC_DATA(&f.batch->columns[1].children[0], ms_view)
        [r] = ms_batch_put_str(f.batch, ms_str_make(f.text, 3 * (MIB / 2)));
    }
    ms_batch frame;
    ms_batch_frame(&frame, f.batch, f.batch->columns, 2);
    ms_batch_set_wide_bytes_max(&frame, MS_BATCH_WIDE_UNKNOWN);
    assert_int_equal(ms_batch_fit(&frame, 0, 0), 2);
    ms_bit_clear(ms_batch_validity(f.batch, 1), 1);
    ms_batch_frame(&frame, f.batch, f.batch->columns, 2);
    ms_batch_set_wide_bytes_max(&frame, MS_BATCH_WIDE_UNKNOWN);
    assert_int_equal(ms_batch_fit(&frame, 0, 0), 3);
    release(&f);
    ms_arena_release(&arena);
}

static void frames_of_the_same_columns_know_what_the_batch_knows(void **state)
{
    (void)state;
    fixture f;
    init(&f, NULL);
    fill(&f, 2);
    ms_batch frame;
    ms_batch again;
    ms_batch_frame(&frame, f.batch, f.batch->columns, 1);
    ms_batch_frame(&again, &frame, frame.columns, 1);
    assert_int_equal(ms_batch_wide_bytes_max(&again), 2 * MIB);
    ms_vec other = f.batch->columns[0];
    ms_batch_frame(&again, &frame, &other, 1);
    assert_true(ms_batch_wide_bytes_max(&again) == MS_BATCH_WIDE_UNKNOWN);
    release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_producer_stops_by_rows_or_by_bytes),
        cmocka_unit_test(bytes_without_rows_do_not_fill_a_batch),
        cmocka_unit_test(elements_of_lists_count),
        cmocka_unit_test(copies_take_what_fits_beside_what_is_there),
        cmocka_unit_test(a_string_that_is_shown_many_times_counts_each_time),
        cmocka_unit_test(rows_and_nulls_are_looked_into),
        cmocka_unit_test(frames_of_the_same_columns_know_what_the_batch_knows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
