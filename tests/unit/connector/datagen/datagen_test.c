/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The datagen connector as a source: rows, rate, boundedness, restore.
 */
#include "testing.h"

#include "base/env.h"
#include "catalog/stride.h"
#include "connector/datagen/datagen.h"
#include "type/text.h"

#include <stdio.h>

typedef struct fixture {
    ms_arena arena;
    ms_status st;
    ms_column columns[4];
    ms_option options[12];
    ms_table table;
    ms_scan *scan;
    ms_task_env env;
    ms_env_clock clock;
    int64_t wake_at_ns;
    uint32_t wakes_asked;
} fixture;

static void on_wake_at(void *task, int64_t mono_ns)
{
    fixture *f = task;
    f->wake_at_ns = mono_ns;
    f->wakes_asked++;
}

static void option(fixture *f, const char *key, const char *value)
{
    f->options[f->table.options.count++] =
        (ms_option){.key = ms_str_cstr(key), .value = ms_str_cstr(value)};
    f->table.options.items = f->options;
}

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof(*f));
    ms_arena_init(&f->arena, 0);
    f->columns[0] = (ms_column){.name = ms_str_lit("id"),
                                .type = ms_type_simple(&f->arena, MS_TYPE_BIGINT, true)};
    f->columns[1] =
        (ms_column){.name = ms_str_lit("name"), .type = ms_type_string(&f->arena, true)};
    f->columns[2] = (ms_column){.name = ms_str_lit("day"),
                                .type = ms_type_simple(&f->arena, MS_TYPE_DATE, true)};
    f->columns[3] = (ms_column){.name = ms_str_lit("later"), .kind = MS_COLUMN_COMPUTED};
    f->table = (ms_table){.name = ms_str_lit("t"), .column_count = 4, .columns = f->columns};
    option(f, "connector", "datagen");
    option(f, "fields.id.kind", "sequence");
    option(f, "fields.id.start", "1");
    option(f, "fields.id.end", "1000000");
    option(f, "fields.name.length", "20");
    f->env = (ms_task_env){.waker = {.task = f, .wake_at = on_wake_at},
                           .parallelism = 1,
                           .batch_rows = 64,
                           .local_time_zone = ms_str_lit("UTC")};
    atomic_store(&f->clock.mono_ns, INT64_C(1000000000));
    atomic_store(&f->clock.wall_us, INT64_C(1600000000000000));
    ms_env_set_clock(&f->clock);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    ms_env_set_clock(NULL);
    ms_arena_release(&f->arena);
    free(f);
    return 0;
}

static ms_rc plan(fixture *f)
{
    ms_plan_env env = {.arena = &f->arena};
    return ms_connector_datagen.scan_create(&ms_connector_datagen, &f->table, &env, &f->scan,
                                            &f->st);
}

static ms_reader *open_reader(fixture *f)
{
    ms_reader *reader = NULL;
    assert_int_equal(f->scan->klass->reader_create(f->scan, &f->env, &reader, &f->st), MS_OK);
    return reader;
}

static void add_split(fixture *f, ms_reader *reader, ms_stride stride)
{
    ms_buf bytes;
    ms_buf_init(&bytes, 100);
    assert_int_equal(ms_stride_write(&stride, &bytes, &f->st), MS_OK);
    assert_int_equal(reader->klass->add_split(reader, ms_buf_view(&bytes), &f->st), MS_OK);
    ms_buf_release(&bytes);
}

/* Polls until rows were read or the clock was asked for; moves the clock when it was. */
static uint32_t read_rows(fixture *f, ms_reader *reader, uint32_t rows, ms_buf *text)
{
    uint32_t got = 0;
    while (got < rows) {
        ms_batch *batch = NULL;
        ms_read answer = reader->klass->poll(reader, &batch, &f->st);
        if (answer == MS_READ_END) {
            break;
        }
        if (answer == MS_READ_PENDING) {
            int64_t pause_us = (f->wake_at_ns - ms_env_mono_ns() + 999) / 1000;
            assert_true(pause_us > 0);
            ms_env_clock_advance_us(&f->clock, pause_us);
            continue;
        }
        assert_true(batch->rows > 0 && batch->rows <= f->env.batch_rows);
        for (uint32_t r = 0; r < batch->rows && text != NULL; r++) {
            for (uint32_t c = 0; c < batch->column_count; c++) {
                assert_int_equal(ms_buf_append_byte(text, ' ', &f->st), MS_OK);
                assert_int_equal(
                    ms_text_vec(text, &batch->columns[c], r, MS_TEXT_PRINT, ms_zone_utc(), &f->st),
                    MS_OK);
            }
        }
        got += batch->rows;
    }
    return got;
}

static void rows_come_at_their_rate_from_the_first_on(void **state)
{
    fixture *f = *state;
    assert_int_equal(plan(f), MS_OK);
    ms_reader *reader = open_reader(f);
    assert_true(reader->klass->wants_split(reader));
    ms_batch *batch = NULL;
    assert_int_equal(reader->klass->poll(reader, &batch, &f->st), MS_READ_PENDING);
    add_split(f, reader, (ms_stride){.stride = 1, .count = 1000000});
    assert_int_equal(reader->klass->poll(reader, &batch, &f->st), MS_READ_BATCH);
    assert_int_equal(batch->rows, 1);
    assert_int_equal(reader->klass->poll(reader, &batch, &f->st), MS_READ_PENDING);
    assert_int_equal(f->wake_at_ns - ms_env_mono_ns(), 5000000);
    int64_t start_ns = ms_env_mono_ns();
    assert_true(read_rows(f, reader, 20000, NULL) >= 20000);
    int64_t took_ms = (ms_env_mono_ns() - start_ns) / 1000000;
    assert_in_range(took_ms, 1990, 2010);
    /* Ten thousand rows a second, five milliseconds apart. */
    assert_in_range(f->wakes_asked, 380, 420);
    /* What a slow consumer did not take comes as one second's rows, not as a flood. */
    ms_env_clock_advance_us(&f->clock, INT64_C(60000000));
    start_ns = ms_env_mono_ns();
    read_rows(f, reader, 20000, NULL);
    took_ms = (ms_env_mono_ns() - start_ns) / 1000000;
    assert_in_range(took_ms, 990, 1010);
    reader->klass->close(reader);
}

static void a_slow_rate_waits_for_each_row_and_is_shared_by_subtasks(void **state)
{
    fixture *f = *state;
    option(f, "rows-per-second", "2");
    assert_int_equal(plan(f), MS_OK);
    ms_reader *reader = open_reader(f);
    add_split(f, reader, (ms_stride){.first = 1, .stride = 4, .count = 100});
    int64_t start_ns = ms_env_mono_ns();
    assert_int_equal(read_rows(f, reader, 4, NULL), 4);
    /* A quarter of the splits: half a row a second; the first comes at once. */
    assert_in_range((ms_env_mono_ns() - start_ns) / 1000000, 5999, 6001);
    assert_int_equal(reader->rows_read, 4);
    reader->klass->close(reader);
}

static void a_restored_reader_goes_on_with_the_same_rows(void **state)
{
    fixture *f = *state;
    assert_int_equal(plan(f), MS_OK);
    ms_buf whole;
    ms_buf parts;
    ms_buf snapshot;
    ms_buf_init(&whole, 1u << 20);
    ms_buf_init(&parts, 1u << 20);
    ms_buf_init(&snapshot, 1000);
    ms_stride split = {.seed = 9, .first = 1, .stride = 2, .count = 300};

    ms_reader *reader = open_reader(f);
    add_split(f, reader, split);
    reader->klass->no_more_splits(reader);
    assert_int_equal(read_rows(f, reader, 1000, &whole), 300);
    reader->klass->close(reader);

    reader = open_reader(f);
    add_split(f, reader, split);
    read_rows(f, reader, 100, &parts);
    assert_int_equal(reader->klass->snapshot(reader, &snapshot, &f->st), MS_OK);
    read_rows(f, reader, 30, NULL);
    reader->klass->close(reader);
    f->env.batch_rows = 7;
    reader = open_reader(f);
    ms_str rest = ms_str_make(snapshot.ptr + 5, snapshot.bytes - 5);
    assert_int_equal(reader->klass->add_split(reader, rest, &f->st), MS_OK);
    reader->klass->no_more_splits(reader);
    read_rows(f, reader, 1000, &parts);
    reader->klass->close(reader);
    assert_int_equal(whole.bytes, parts.bytes);
    assert_memory_equal(whole.ptr, parts.ptr, whole.bytes);
    assert_true(ms_str_starts_with(ms_buf_view(&whole), ms_str_lit(" 2 ")));
    ms_buf_release(&whole);
    ms_buf_release(&parts);
    ms_buf_release(&snapshot);
}

static void a_projection_does_not_change_the_other_columns(void **state)
{
    fixture *f = *state;
    static const uint32_t wanted[] = {1};
    ms_buf all;
    ms_buf one;
    ms_buf_init(&all, 1000);
    ms_buf_init(&one, 1000);
    ms_stride split = {.seed = 9, .stride = 1, .count = 1};
    assert_int_equal(plan(f), MS_OK);
    ms_reader *reader = open_reader(f);
    add_split(f, reader, split);
    read_rows(f, reader, 1, &all);
    reader->klass->close(reader);
    assert_int_equal(f->scan->klass->push_projection(f->scan, wanted, 1, &f->st), MS_OK);
    assert_int_equal(f->scan->output.column_count, 1);
    reader = open_reader(f);
    add_split(f, reader, split);
    read_rows(f, reader, 1, &one);
    reader->klass->close(reader);
    assert_int_equal(one.bytes, 21);
    assert_memory_equal(all.ptr + 2, one.ptr, 21);
    ms_buf_release(&all);
    ms_buf_release(&one);
}

static void sequences_and_number_of_rows_bound_the_table(void **state)
{
    fixture *f = *state;
    ms_buf text;
    ms_buf_init(&text, 100);
    assert_int_equal(plan(f), MS_OK);
    assert_true(f->scan->is_bounded);
    assert_int_equal(f->scan->klass->describe(f->scan, &text, &f->st), MS_OK);
    assert_str_equal(ms_buf_view(&text), "rows-per-second=10000, rows=1000000");
    option(f, "number-of-rows", "77");
    ms_buf_reset(&text);
    assert_int_equal(plan(f), MS_OK);
    assert_int_equal(f->scan->klass->describe(f->scan, &text, &f->st), MS_OK);
    assert_str_equal(ms_buf_view(&text), "rows-per-second=10000, rows=77");
    f->options[1].value = ms_str_lit("random");
    f->options[2] = (ms_option){.key = ms_str_lit("scan.parallelism"), .value = ms_str_lit("2")};
    f->table.options.count = 3;
    ms_buf_reset(&text);
    assert_int_equal(plan(f), MS_OK);
    assert_false(f->scan->is_bounded);
    assert_int_equal(f->scan->parallelism, 2);
    ms_buf_release(&text);
}

static void mistakes_are_refused(void **state)
{
    fixture *f = *state;
    option(f, "rows-per-second", "0");
    assert_int_equal(plan(f), MS_INVALID_OPTION);
    ms_status_clear(&f->st);
    f->options[5].key = ms_str_lit("row-per-second");
    assert_int_equal(plan(f), MS_UNKNOWN_OPTION);
    assert_string_equal(f->st.hint, "Did you mean \"rows-per-second\"?");
    ms_status_clear(&f->st);
    f->options[5].key = ms_str_lit("scan.watermark.idle-timeout");
    assert_int_equal(plan(f), MS_NOT_SUPPORTED);
    ms_status_clear(&f->st);
    f->options[5] = (ms_option){.key = ms_str_lit("fields.later.min"), .value = ms_str_lit("1")};
    assert_int_equal(plan(f), MS_UNKNOWN_OPTION);
    assert_string_equal(f->st.hint, "The table has no physical column of this name.");
    ms_status_clear(&f->st);
    f->table.options.count = 5;
    f->columns[3].kind = MS_COLUMN_METADATA;
    assert_int_equal(plan(f), MS_NOT_SUPPORTED);
}

static void rows_of_large_values_come_in_small_batches_and_too_large_ones_not_at_all(void **state)
{
    fixture *f = *state;
    f->options[4].value = ms_str_lit("10000000");
    assert_int_equal(plan(f), MS_OK);
    ms_reader *reader = open_reader(f);
    add_split(f, reader, (ms_stride){.stride = 1, .count = 10});
    ms_env_clock_advance_us(&f->clock, INT64_C(1000000));
    ms_batch *batch = NULL;
    assert_int_equal(reader->klass->poll(reader, &batch, &f->st), MS_READ_BATCH);
    ms_env_clock_advance_us(&f->clock, INT64_C(1000000));
    assert_int_equal(reader->klass->poll(reader, &batch, &f->st), MS_READ_BATCH);
    assert_int_equal(batch->rows, 1);
    reader->klass->close(reader);
    const ms_type *text = f->columns[1].type;
    f->columns[1].type = ms_type_array(&f->arena, ms_type_array(&f->arena, text, true), true);
    f->options[4].key = ms_str_lit("fields.name.element.element.length");
    option(f, "fields.name.length", "1000000");
    option(f, "fields.name.element.length", "1000000");
    assert_int_equal(plan(f), MS_LIMIT);
}

static void a_time_zone_that_is_none_is_refused_when_it_is_needed(void **state)
{
    fixture *f = *state;
    f->env.local_time_zone = ms_str_lit("Nowhere/Land");
    ms_reader *reader = NULL;
    assert_int_equal(plan(f), MS_OK);
    assert_int_equal(f->scan->klass->reader_create(f->scan, &f->env, &reader, &f->st),
                     MS_INVALID_OPTION);
    assert_null(reader);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(rows_come_at_their_rate_from_the_first_on),
        TEST(a_slow_rate_waits_for_each_row_and_is_shared_by_subtasks),
        TEST(a_restored_reader_goes_on_with_the_same_rows),
        TEST(a_projection_does_not_change_the_other_columns),
        TEST(sequences_and_number_of_rows_bound_the_table),
        TEST(mistakes_are_refused),
        TEST(rows_of_large_values_come_in_small_batches_and_too_large_ones_not_at_all),
        TEST(a_time_zone_that_is_none_is_refused_when_it_is_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
