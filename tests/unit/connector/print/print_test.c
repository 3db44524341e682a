/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The print connector: the lines and prefixes of Flink, where they go, and checkpoints that wait.
 */
#include "testing.h"

#include "connector/print/print.h"
#include "type/value.h"

typedef struct fixture {
    ms_arena arena;
    ms_status st;
    ms_iopool *pool;
    ms_parker parker;
    ms_mailbox mailbox;
    ms_task_env env;
    ms_print_service service;
    int out[2];
    int err[2];
    ms_column columns[16];
    ms_option options[4];
    ms_table table;
    ms_sink *sink;
    ms_writer *writer;
    ms_vec vecs[16];
    ms_batch batch;
} fixture;

static void on_wake(void *task)
{
    (void)task;
}

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof(*f));
    ms_arena_init(&f->arena, 0);
    assert_int_equal(ms_iopool_create(&(ms_iopool_options){.is_stepped = true}, &f->pool, &f->st),
                     MS_OK);
    ms_parker_init(&f->parker);
    ms_mailbox_init(&f->mailbox, &f->parker);
    f->env = (ms_task_env){
        .waker = {.wake = on_wake}, .mailbox = &f->mailbox, .iopool = f->pool, .parallelism = 1};
    assert_int_equal(pipe(f->out), 0);
    assert_int_equal(pipe(f->err), 0);
    f->service = (ms_print_service){.out_fd = f->out[1], .err_fd = f->err[1]};
    f->options[0] = (ms_option){.key = ms_str_lit("connector"), .value = ms_str_lit("print")};
    f->table = (ms_table){.name = ms_str_lit("t"),
                          .columns = f->columns,
                          .options = {.count = 1, .items = f->options}};
    *state = f;
    return 0;
}

static void run(fixture *f)
{
    bool moved = true;
    while (moved) {
        moved = ms_iopool_step(f->pool);
        moved |= ms_mailbox_deliver(&f->mailbox, 10) > 0;
    }
}

static int teardown(void **state)
{
    fixture *f = *state;
    if (f->writer != NULL) {
        f->writer->klass->close(f->writer);
    }
    run(f);
    ms_iopool_destroy(f->pool);
    ms_mailbox_release(&f->mailbox);
    close(f->out[0]);
    close(f->out[1]);
    close(f->err[0]);
    close(f->err[1]);
    ms_arena_release(&f->arena);
    free(f);
    return 0;
}

static void add_column(fixture *f, const ms_type *type)
{
    uint32_t c = f->table.column_count++;
    f->columns[c] = (ms_column){.name = ms_arena_format(&f->arena, "c%u", c), .type = type};
    ms_vec_alloc(&f->vecs[c], type, 4, &f->arena);
    f->batch.columns = f->vecs;
    f->batch.column_count = f->table.column_count;
}

static void set_option(fixture *f, const char *key, const char *value)
{
    f->options[f->table.options.count++] =
        (ms_option){.key = ms_str_cstr(key), .value = ms_str_cstr(value), .value_span = {7, 9}};
}

static ms_rc plan(fixture *f)
{
    ms_plan_env env = {.arena = &f->arena, .service = &f->service};
    return ms_connector_print.sink_create(&ms_connector_print, &f->table, &env, NULL, 0, &f->sink,
                                          &f->st);
}

static void open_writer(fixture *f)
{
    assert_int_equal(plan(f), MS_OK);
    assert_int_equal(f->sink->klass->writer_create(f->sink, &f->env, &f->writer, &f->st), MS_OK);
}

static void put(fixture *f, uint32_t column, uint32_t row, ms_value value)
{
    value.type = f->columns[column].type;
    ms_value_to_vec(&f->arena, &value, &f->vecs[column], row, 4);
    f->batch.rows = row + 1 > f->batch.rows ? row + 1 : f->batch.rows;
}

static void expect(fixture *f, int fd, const char *text)
{
    char got[1000];
    assert_int_equal(f->writer->klass->write(f->writer, &f->batch, &f->st), MS_WRITE_DONE);
    run(f);
    ssize_t bytes = read(fd, got, sizeof(got) - 1);
    assert_true(bytes > 0);
    got[bytes] = '\0';
    assert_string_equal(got, text);
}

static void values_are_printed_as_flink_does(void **state)
{
    fixture *f = *state;
    ms_arena *arena = &f->arena;
    ms_field fields[2] = {{ms_str_lit("x"), ms_type_simple(arena, MS_TYPE_INT, true)},
                          {ms_str_lit("y"), ms_type_string(arena, true)}};
    add_column(f, ms_type_simple(arena, MS_TYPE_BOOLEAN, true));
    add_column(f, ms_type_simple(arena, MS_TYPE_DOUBLE, true));
    add_column(f, ms_type_decimal(arena, 5, 2, true));
    add_column(f, ms_type_bytes(arena, true));
    add_column(f, ms_type_simple(arena, MS_TYPE_DATE, true));
    add_column(f, ms_type_temporal(arena, MS_TYPE_TIMESTAMP, 3, true));
    add_column(f, ms_type_temporal(arena, MS_TYPE_TIMESTAMP_LTZ, 3, true));
    add_column(f, ms_type_array(arena, fields[0].type, true));
    add_column(f, ms_type_row(arena, fields, 2, true));
    ms_value ints[2] = {ms_value_int(fields[0].type, 7), ms_value_null(fields[0].type)};
    ms_value row[2] = {ms_value_int(fields[0].type, 1),
                       ms_value_str(fields[1].type, ms_str_lit("x"))};
    put(f, 0, 0, (ms_value){.u.i = 1});
    put(f, 1, 0, (ms_value){.u.f = 1e10});
    put(f, 2, 0, (ms_value){.u.i = 150});
    put(f, 3, 0, (ms_value){.u.str = ms_str_make("\1\376", 2)});
    put(f, 4, 0, (ms_value){.u.i = 18292});
    put(f, 5, 0, (ms_value){.u.i = 1577873700000000});
    put(f, 6, 0, (ms_value){.u.i = 1577873700123000});
    put(f, 7, 0, (ms_value){.item_count = 2, .u.items = ints});
    put(f, 8, 0, (ms_value){.item_count = 2, .u.items = row});
    for (uint32_t c = 0; c < 9; c++) {
        put(f, c, 1, (ms_value){.is_null = true});
    }
    open_writer(f);
    expect(f, f->out[0],
           "+I[true, 1.0E10, 1.50, [1, -2], 2020-01-31, 2020-01-01T10:15, "
           "2020-01-01T10:15:00.123Z, [7, null], +I[1, x]]\n"
           "+I[null, null, null, null, null, null, null, null, null]\n");
}

static void kinds_and_selection_are_respected(void **state)
{
    fixture *f = *state;
    static const uint8_t kinds[] = {MS_ROW_UPDATE_BEFORE, MS_ROW_UPDATE_AFTER, MS_ROW_DELETE};
    static const uint16_t sel[] = {0, 2};
    add_column(f, ms_type_simple(&f->arena, MS_TYPE_INT, true));
    for (uint32_t r = 0; r < 3; r++) {
        put(f, 0, r, (ms_value){.u.i = r});
    }
    f->batch.kinds = kinds;
    open_writer(f);
    expect(f, f->out[0], "-U[0]\n+U[1]\n-D[2]\n");
    f->batch.sel = sel;
    f->batch.sel_count = 2;
    expect(f, f->out[0], "-U[0]\n-D[2]\n");
    assert_int_equal(f->writer->rows_written, 5);
    assert_int_equal(f->writer->bytes_written, 30);
}

static void prefixes_name_the_table_and_the_subtask(void **state)
{
    fixture *f = *state;
    add_column(f, ms_type_simple(&f->arena, MS_TYPE_INT, true));
    put(f, 0, 0, (ms_value){.u.i = 5});
    f->env.parallelism = 3;
    f->env.subtask = 1;
    open_writer(f);
    expect(f, f->out[0], "2> +I[5]\n");
    f->writer->klass->close(f->writer);
    set_option(f, "print-identifier", "totals");
    open_writer(f);
    expect(f, f->out[0], "totals:2> +I[5]\n");
    f->writer->klass->close(f->writer);
    f->env.parallelism = 1;
    f->env.subtask = 0;
    open_writer(f);
    expect(f, f->out[0], "totals> +I[5]\n");
}

static void lines_go_to_standard_error_when_told_or_when_results_are_in_the_way(void **state)
{
    fixture *f = *state;
    add_column(f, ms_type_simple(&f->arena, MS_TYPE_INT, true));
    put(f, 0, 0, (ms_value){.u.i = 5});
    set_option(f, "standard-error", "true");
    open_writer(f);
    expect(f, f->err[0], "+I[5]\n");
    f->writer->klass->close(f->writer);
    f->table.options.count = 1;
    f->service.stdout_is_result = true;
    open_writer(f);
    expect(f, f->err[0], "+I[5]\n");

    ms_buf text;
    ms_buf_init(&text, 100);
    f->service.err_fd = 0;
    set_option(f, "print-identifier", "x");
    assert_int_equal(plan(f), MS_OK);
    assert_int_equal(f->sink->klass->describe(f->sink, &text, &f->st), MS_OK);
    assert_str_equal(ms_buf_view(&text), "to=standard-error, print-identifier=x");
    ms_buf_release(&text);
    assert_true(f->sink->keeps_order);
}

static uint32_t answers;
static ms_rc last_rc;

static void count_answer(ms_completion *completion, ms_rc rc, const ms_status *st)
{
    (void)completion;
    (void)st;
    answers++;
    last_rc = rc;
}

static void a_checkpoint_waits_for_the_lines_before_it(void **state)
{
    fixture *f = *state;
    ms_completion token = {count_answer};
    answers = 0;
    add_column(f, ms_type_simple(&f->arena, MS_TYPE_INT, true));
    put(f, 0, 0, (ms_value){.u.i = 5});
    open_writer(f);
    f->writer->klass->persist(f->writer, 1, &token);
    assert_int_equal(answers, 1);
    assert_int_equal(f->writer->klass->write(f->writer, &f->batch, &f->st), MS_WRITE_DONE);
    assert_null(f->writer->klass->cut);
    f->writer->klass->persist(f->writer, 2, &token);
    assert_int_equal(answers, 1);
    run(f);
    assert_int_equal(answers, 2);
    assert_int_equal(last_rc, MS_OK);
    /* What cannot be written any more is answered too. */
    assert_int_equal(f->writer->klass->write(f->writer, &f->batch, &f->st), MS_WRITE_DONE);
    f->writer->klass->persist(f->writer, 3, &token);
    f->writer->klass->close(f->writer);
    f->writer = NULL;
    assert_int_equal(answers, 3);
    assert_int_equal(last_rc, MS_CANCELED);
    run(f);
}

static void a_reader_that_is_slow_blocks_the_writer(void **state)
{
    fixture *f = *state;
    add_column(f, ms_type_string(&f->arena, true));
    char *text = malloc(600000);
    memset(text, 'z', 600000);
    put(f, 0, 0, (ms_value){.u.str = ms_str_make(text, 600000)});
    open_writer(f);
    ms_write answer = MS_WRITE_DONE;
    uint32_t taken = 0;
    while (answer == MS_WRITE_DONE && taken < 10) {
        answer = f->writer->klass->write(f->writer, &f->batch, &f->st);
        taken += answer == MS_WRITE_DONE;
        run(f);
    }
    assert_int_equal(answer, MS_WRITE_BLOCKED);
    size_t left = taken * (600000 + 5);
    while (left > 0) {
        static char sink[65536];
        ssize_t got = read(f->out[0], sink, sizeof(sink));
        assert_true(got > 0);
        left -= (size_t)got;
        run(f);
    }
    assert_int_equal(f->writer->klass->write(f->writer, &f->batch, &f->st), MS_WRITE_DONE);
    free(text);
}

static void a_reader_that_is_gone_fails_the_job(void **state)
{
    fixture *f = *state;
    signal(SIGPIPE, SIG_IGN);
    add_column(f, ms_type_simple(&f->arena, MS_TYPE_INT, true));
    put(f, 0, 0, (ms_value){.u.i = 5});
    open_writer(f);
    close(f->out[0]);
    f->out[0] = dup(f->out[1]);
    assert_int_equal(f->writer->klass->write(f->writer, &f->batch, &f->st), MS_WRITE_DONE);
    run(f);
    assert_int_equal(f->writer->klass->write(f->writer, &f->batch, &f->st), MS_WRITE_FAILED);
    assert_int_equal(f->st.code, MS_CANCELED);
    ms_status_clear(&f->st);
}

static void options_are_checked(void **state)
{
    fixture *f = *state;
    add_column(f, ms_type_simple(&f->arena, MS_TYPE_INT, true));
    set_option(f, "standard-error", "maybe");
    assert_int_equal(plan(f), MS_INVALID_OPTION);
    assert_int_equal(f->st.span.start, 7);
    ms_status_clear(&f->st);
    f->options[1].key = ms_str_lit("standard-eror");
    assert_int_equal(plan(f), MS_UNKNOWN_OPTION);
    assert_string_equal(f->st.hint, "Did you mean \"standard-error\"?");
    ms_status_clear(&f->st);
    f->options[1] = (ms_option){.key = ms_str_lit("sink.parallelism"), .value = ms_str_lit("4")};
    assert_int_equal(plan(f), MS_OK);
    assert_int_equal(f->sink->parallelism, 4);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(values_are_printed_as_flink_does),
        TEST(kinds_and_selection_are_respected),
        TEST(prefixes_name_the_table_and_the_subtask),
        TEST(lines_go_to_standard_error_when_told_or_when_results_are_in_the_way),
        TEST(a_checkpoint_waits_for_the_lines_before_it),
        TEST(a_reader_that_is_slow_blocks_the_writer),
        TEST(a_reader_that_is_gone_fails_the_job),
        TEST(options_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
