/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blackhole connector: options, and a writer that takes all.
 */
#include "testing.h"

#include "connector/blackhole/blackhole.h"

typedef struct fixture {
    ms_arena arena;
    ms_status st;
    ms_column column;
    ms_option options[2];
    ms_table table;
    ms_sink *sink;
} fixture;

static ms_rc plan(fixture *f)
{
    ms_plan_env env = {.arena = &f->arena};
    return ms_connector_blackhole.sink_create(&ms_connector_blackhole, &f->table, &env, NULL, 0,
                                              &f->sink, &f->st);
}

static fixture make_fixture(void)
{
    fixture f = {.options = {{.key = ms_str_lit("connector"), .value = ms_str_lit("blackhole")}}};
    ms_arena_init(&f.arena, 0);
    f.column = (ms_column){.name = ms_str_lit("a"),
                           .type = ms_type_simple(&f.arena, MS_TYPE_INT, true),
                           .span = {4, 5}};
    f.table = (ms_table){.name = ms_str_lit("t"), .column_count = 1};
    return f;
}

static void rows_of_all_kinds_are_taken_and_read(void **state)
{
    (void)state;
    fixture f = make_fixture();
    f.table.columns = &f.column;
    f.table.options = (ms_option_list){1, f.options};
    assert_int_equal(plan(&f), MS_OK);
    assert_null(f.sink->klass->negotiate); /* takes what comes */
    assert_null(f.sink->klass->committer_create);
    assert_int_equal(f.sink->guarantee, MS_AT_LEAST_ONCE);

    ms_writer *writer = NULL;
    ms_task_env env = {.parallelism = 1};
    assert_int_equal(f.sink->klass->writer_create(f.sink, &env, &writer, &f.st), MS_OK);
    ms_vec vec;
    ms_vec_alloc(&vec, f.column.type, 8, &f.arena);
    for (int i = 0; i < 8; i++) {
        MS_VEC_DATA(&vec, int32_t)[i] = 1 << i;
    }
    ms_batch batch = {.rows = 7, .columns = &vec, .column_count = 1};
    assert_int_equal(writer->klass->write(writer, &batch, &f.st), MS_WRITE_DONE);
    assert_int_equal(writer->rows_written, 7);
    uint64_t checksum = ms_blackhole_checksum(writer);
    assert_true(checksum != 0);
    assert_int_equal(writer->klass->write(writer, &batch, &f.st), MS_WRITE_DONE);
    assert_true(ms_blackhole_checksum(writer) == 0);
    assert_null(writer->klass->cut);
    assert_null(writer->klass->persist);
    writer->klass->close(writer);
    ms_arena_release(&f.arena);
}

static void options_are_checked(void **state)
{
    (void)state;
    fixture f = make_fixture();
    f.table.columns = &f.column;
    f.options[1] = (ms_option){.key = ms_str_lit("sink.parallelism"), .value = ms_str_lit("2")};
    f.table.options = (ms_option_list){2, f.options};
    assert_int_equal(plan(&f), MS_OK);
    assert_int_equal(f.sink->parallelism, 2);
    f.options[1].value = ms_str_lit("0");
    assert_int_equal(plan(&f), MS_INVALID_OPTION);
    ms_status_clear(&f.st);
    f.options[1].key = ms_str_lit("format");
    assert_int_equal(plan(&f), MS_UNKNOWN_OPTION);
    ms_status_clear(&f.st);
    f.table.options.count = 1;
    f.column.kind = MS_COLUMN_METADATA;
    assert_int_equal(plan(&f), MS_NOT_SUPPORTED);
    assert_int_equal(f.st.span.start, 4);
    ms_arena_release(&f.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_all_kinds_are_taken_and_read),
        cmocka_unit_test(options_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
