/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaying registered batches: nothing is copied, everything comes once, positions survive.
 */
#include "testing.h"

#include "catalog/stride.h"
#include "connector/memory/memory.h"

#include <stdio.h>

#define BATCHES 5u

typedef struct fixture {
    ms_arena arena;
    ms_status st;
    ms_field fields[3];
    ms_schema schema;
    ms_batch_pool *pool;
    ms_batch *batches[BATCHES];
    ms_memory_service *service;
    ms_column columns[3];
    ms_option options[4];
    ms_table table;
    ms_scan *scan;
    ms_task_env env;
} fixture;

/* Batch b has the rows 10 b, 10 b + 1, 10 b + 2 in column "id". */
static int setup(void **state)
{
    fixture *f = calloc(1, sizeof(*f));
    ms_arena_init(&f->arena, 0);
    const ms_type *id = ms_type_simple(&f->arena, MS_TYPE_BIGINT, false);
    const ms_type *name = ms_type_string(&f->arena, true);
    f->fields[0] = (ms_field){ms_str_lit("id"), id};
    f->fields[1] = (ms_field){ms_str_lit("name"), name};
    f->fields[2] = (ms_field){ms_str_lit("more"), name};
    f->schema = (ms_schema){3, f->fields};
    f->pool = ms_batch_pool_create(&f->schema, 16, BATCHES);
    for (uint32_t b = 0; b < BATCHES; b++) {
        ms_batch *batch = ms_batch_pool_take(f->pool);
        for (uint32_t r = 0; r < 3; r++) {
            MS_VEC_DATA(&batch->columns[0], int64_t)[r] = 10 * b + r;
            MS_VEC_DATA(&batch->columns[1], ms_view)[r] = ms_view_make("n", 1);
            MS_VEC_DATA(&batch->columns[2], ms_view)[r] = ms_view_make("m", 1);
        }
        batch->rows = 3;
        f->batches[b] = batch;
    }
    f->service = ms_memory_service_create();
    ms_memory_source source = {
        .schema = &f->schema, .batches = f->batches, .batch_count = BATCHES, .repeats = 2};
    assert_int_equal(ms_memory_add_source(f->service, ms_str_lit("t"), &source, &f->st), MS_OK);
    f->columns[0] = (ms_column){.name = ms_str_lit("id"), .type = id, .span = {5, 7}};
    f->columns[1] = (ms_column){.name = ms_str_lit("name"), .type = name, .span = {9, 13}};
    f->columns[2] = (ms_column){.name = ms_str_lit("more"), .type = name, .span = {15, 19}};
    f->options[0] = (ms_option){.key = ms_str_lit("connector"), .value = ms_str_lit("memory")};
    f->table = (ms_table){.name = ms_str_lit("t"),
                          .column_count = 3,
                          .columns = f->columns,
                          .options = {1, f->options}};
    f->env = (ms_task_env){.parallelism = 1, .batch_rows = 2048};
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    for (uint32_t b = 0; b < BATCHES; b++) {
        assert_true(ms_batch_is_unique(f->batches[b]));
        ms_batch_drop(f->batches[b]);
    }
    ms_batch_pool_destroy(f->pool);
    ms_memory_service_destroy(f->service);
    ms_arena_release(&f->arena);
    free(f);
    return 0;
}

static ms_rc plan(fixture *f)
{
    ms_plan_env env = {.arena = &f->arena, .service = f->service};
    return ms_connector_memory.scan_create(&ms_connector_memory, &f->table, &env, &f->scan, &f->st);
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

/* Reads to the end and writes the ids as text. */
static void drain(fixture *f, ms_reader *reader, char *text, size_t size)
{
    text[0] = '\0';
    ms_batch *batch = NULL;
    ms_read got;
    while ((got = reader->klass->poll(reader, &batch, &f->st)) == MS_READ_BATCH) {
        assert_true(ms_batch_live(batch) <= f->env.batch_rows);
        for (uint32_t k = 0; k < ms_batch_live(batch); k++) {
            size_t used = strlen(text);
            snprintf(text + used, size - used, " %d",
                     (int)MS_VEC_DATA(&batch->columns[0], int64_t)[ms_batch_row(batch, k)]);
        }
        if (batch->pool != NULL) {
            ms_batch_drop(batch);
        }
    }
    assert_int_equal(got, MS_READ_END);
}

static void batches_are_handed_out_by_reference(void **state)
{
    fixture *f = *state;
    assert_int_equal(plan(f), MS_OK);
    assert_true(f->scan->is_bounded);
    ms_reader *reader = open_reader(f);
    assert_true(reader->klass->wants_split(reader));
    add_split(f, reader, (ms_stride){.stride = 1, .count = 10});
    ms_batch *batch = NULL;
    assert_int_equal(reader->klass->poll(reader, &batch, &f->st), MS_READ_BATCH);
    assert_ptr_equal(batch, f->batches[0]);
    ms_batch_drop(batch);
    char text[300];
    reader->klass->no_more_splits(reader);
    drain(f, reader, text, sizeof(text));
    assert_string_equal(text, " 10 11 12 20 21 22 30 31 32 40 41 42 0 1 2 10 11 12 20 21 22 30 31 "
                              "32 40 41 42");
    assert_int_equal(reader->rows_read, 30);
    reader->klass->close(reader);
}

static void a_projection_is_a_frame_over_the_same_vectors(void **state)
{
    fixture *f = *state;
    static const uint32_t wanted[] = {1, 2};
    f->columns[0].name = ms_str_lit("more");
    f->columns[0].type = f->fields[2].type;
    f->columns[2].name = ms_str_lit("id");
    f->columns[2].type = f->fields[0].type;
    assert_int_equal(plan(f), MS_OK);
    assert_int_equal(f->scan->klass->push_projection(f->scan, wanted, 2, &f->st), MS_OK);
    assert_str_equal(f->scan->output.columns[0].name, "name");
    ms_reader *reader = open_reader(f);
    add_split(f, reader, (ms_stride){.first = 1, .stride = 2, .count = 1});
    ms_batch *batch = NULL;
    assert_int_equal(reader->klass->poll(reader, &batch, &f->st), MS_READ_BATCH);
    assert_null(batch->pool);
    assert_int_equal(batch->column_count, 2);
    assert_ptr_equal(batch->columns[0].data, f->batches[1]->columns[1].data);
    assert_ptr_equal(batch->columns[1].data, f->batches[1]->columns[0].data);
    reader->klass->close(reader);
}

static void larger_batches_are_sliced_and_a_restore_stands_inside(void **state)
{
    fixture *f = *state;
    f->env.batch_rows = 2;
    assert_int_equal(plan(f), MS_OK);
    ms_reader *reader = open_reader(f);
    add_split(f, reader, (ms_stride){.stride = 4, .count = 2});
    ms_batch *batch = NULL;
    assert_int_equal(reader->klass->poll(reader, &batch, &f->st), MS_READ_BATCH);
    assert_int_equal(ms_batch_live(batch), 2);
    ms_buf snapshot;
    ms_buf_init(&snapshot, 1000);
    assert_int_equal(reader->klass->snapshot(reader, &snapshot, &f->st), MS_OK);
    reader->klass->close(reader);

    f->env.batch_rows = 1;
    reader = open_reader(f);
    ms_str split = ms_str_make(snapshot.ptr + 5, snapshot.bytes - 5);
    assert_int_equal(reader->klass->add_split(reader, split, &f->st), MS_OK);
    reader->klass->no_more_splits(reader);
    char text[100];
    drain(f, reader, text, sizeof(text));
    assert_string_equal(text, " 2 40 41 42");
    reader->klass->close(reader);
    ms_buf_release(&snapshot);
}

static void mistakes_are_named_at_their_place(void **state)
{
    fixture *f = *state;
    f->columns[1].name = ms_str_lit("nam");
    assert_int_equal(plan(f), MS_UNDEFINED_COLUMN);
    assert_string_equal(f->st.message, "the batches \"t\" have no column \"nam\"");
    assert_int_equal(f->st.span.start, 9);
    ms_status_clear(&f->st);

    f->columns[1].name = ms_str_lit("name");
    f->columns[1].type = ms_type_string(&f->arena, false);
    assert_int_equal(plan(f), MS_TYPE_MISMATCH);
    assert_string_equal(f->st.message,
                        "column \"name\" is STRING NOT NULL, but STRING in the batches \"t\"");
    ms_status_clear(&f->st);

    f->columns[1].type = f->fields[1].type;
    f->options[1] = (ms_option){.key = ms_str_lit("source"), .value = ms_str_lit("none")};
    f->table.options.count = 2;
    assert_int_equal(plan(f), MS_UNDEFINED_TABLE);
    ms_status_clear(&f->st);
    f->options[1].key = ms_str_lit("sourc");
    assert_int_equal(plan(f), MS_UNKNOWN_OPTION);
    ms_status_clear(&f->st);
    f->options[1] = (ms_option){.key = ms_str_lit("scan.parallelism"), .value = ms_str_lit("3")};
    assert_int_equal(plan(f), MS_OK);
    assert_int_equal(f->scan->parallelism, 3);

    ms_memory_source source = {.schema = &f->schema};
    assert_int_equal(ms_memory_add_source(f->service, ms_str_lit("t"), &source, &f->st),
                     MS_DUPLICATE_TABLE);
    ms_status_clear(&f->st);
    ms_memory_service_destroy(NULL);
}

static void it_explains_itself(void **state)
{
    fixture *f = *state;
    assert_int_equal(plan(f), MS_OK);
    ms_buf text;
    ms_buf_init(&text, 100);
    assert_int_equal(f->scan->klass->describe(f->scan, &text, &f->st), MS_OK);
    assert_str_equal(ms_buf_view(&text), "source=t");
    ms_buf_release(&text);
    ms_enumerator *enumerator = NULL;
    assert_int_equal(f->scan->klass->enumerator_create(f->scan, &enumerator, &f->st), MS_OK);
    enumerator->klass->close(enumerator);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(batches_are_handed_out_by_reference),
        TEST(a_projection_is_a_frame_over_the_same_vectors),
        TEST(larger_batches_are_sliced_and_a_restore_stands_inside),
        TEST(mistakes_are_named_at_their_place),
        TEST(it_explains_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
