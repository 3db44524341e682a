/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much memory and time a run takes: large results end it early, and the runs over the rest give
 * the same rows and failures as one run over everything would; a canceled job ends it at once.
 */
#include "fixture.h"

#include "base/memory.h"

#define ROWS 20u
#define MIB (1u << 20)
#define SLACK (64u << 10)

static fixture f;
static ms_schema schema;
static ms_batch batch;
static ms_vec columns[2];
static char *text;

/* Columns: 0 INT 0, 1, 2 ..; 1 STRING, a MiB in every row. */
static int open_each(void **state)
{
    (void)state;
    fixture_open(&f);
    ms_field *fields = ms_arena_array(&f.arena, ms_field, 2);
    fields[0] = (ms_field){ms_str_lit("n"), type_of(&f, "INT")};
    fields[1] = (ms_field){ms_str_lit("s"), type_of(&f, "STRING")};
    text = ms_mem_alloc(MIB);
    memset(text, 'x', MIB);
    for (uint32_t c = 0; c < 2; c++) {
        ms_vec_alloc(&columns[c], fields[c].type, ROWS, &f.arena);
    }
    for (uint32_t row = 0; row < ROWS; row++) {
        ((int32_t *)columns[0].data)[row] = (int32_t)row;
        ((ms_view *)columns[1].data)[row] = ms_view_make(text, MIB);
    }
    schema = (ms_schema){2, fields};
    batch = (ms_batch){.rows = ROWS, .column_count = 2, .columns = columns};
    return 0;
}

static int close_each(void **state)
{
    (void)state;
    ms_mem_free(text);
    fixture_close(&f);
    return 0;
}

static const ms_expr *column(uint32_t index)
{
    return ms_expr_column(&f.arena, index, schema.columns[index].type, (ms_span){1, 2});
}

static const ms_expr *call(const char *name, const ms_expr *a, const ms_expr *b, uint32_t place)
{
    const ms_expr *out = NULL;
    const ms_expr *args[2] = {a, b};
    if (ms_build_call(&f.build, ms_str_cstr(name), args, b != NULL ? 2 : 1,
                      (ms_span){place, place + 5}, &out) != MS_OK) {
        fail_msg("%s", f.st.message);
    }
    return out;
}

static const ms_expr *number(int32_t value)
{
    return ms_build_int(&f.build, value, ms_span_none);
}

typedef struct outcome {
    uint32_t runs;
    uint32_t rows;     /* in frames */
    uint32_t rows_max; /* of one run */
    uint64_t bytes_max;
    ms_eval_error error;
} outcome;

/* Runs over all rows, a run behind the other, and checks that column 0 of the output counts. */
static outcome run_all(const ms_expr *filter, const ms_expr *const *outputs, uint32_t count,
                       int32_t first)
{
    ms_status st = {0};
    const ms_program *program = NULL;
    ms_program_spec spec = {
        .filter = filter, .outputs = outputs, .output_count = count, .input = &schema};
    assert_ok(ms_program_compile(&f.arena, &spec, &program, &st));
    ms_evaluator *ev = ms_evaluator_create(program, ROWS);
    uint64_t empty = ms_evaluator_bytes(ev);
    outcome o = {0};
    uint16_t sel[ROWS];
    ms_batch part = batch;
    uint32_t next = 0;
    do {
        part.sel_count = 0;
        part.sel = sel;
        for (uint32_t row = next; row < ROWS; row++) {
            sel[part.sel_count++] = (uint16_t)row;
        }
        ms_batch frame;
        ms_evaluator_run(ev, &part, &frame, &o.error);
        uint32_t live = ms_batch_live(&frame);
        for (uint32_t k = 0; k < live; k++) {
            uint32_t row = ms_batch_row(&frame, k);
            assert_int_equal(((const int32_t *)frame.columns[0].data)[row], first + o.rows + k);
        }
        uint64_t bytes = ms_evaluator_bytes(ev) - empty;
        o.runs++;
        o.rows += live;
        o.rows_max = live > o.rows_max ? live : o.rows_max;
        o.bytes_max = bytes > o.bytes_max ? bytes : o.bytes_max;
        assert_true(!o.error.is_cut || o.error.row > next);
        next = o.error.row;
    } while (o.error.is_cut);
    ms_evaluator_destroy(ev);
    return o;
}

static void joined_strings_are_made_some_rows_at_a_time(void **state)
{
    (void)state;
    const ms_expr *outputs[2] = {
        column(0),
        call("||", column(1), ms_build_text(&f.build, ms_str_lit("y"), ms_span_none), 1)};
    outcome o = run_all(NULL, outputs, 2, 0);
    assert_int_equal(o.error.code, MS_OK);
    assert_int_equal(o.rows, ROWS);
    assert_int_equal(o.rows_max, 3);
    /* Blocks of a heap double up to the bound: at most one is not full. */
    assert_true(o.bytes_max <= 2 * MS_BATCH_BYTES_TARGET + SLACK);
}

static void padding_is_made_some_rows_at_a_time(void **state)
{
    (void)state;
    const ms_expr *padded = NULL;
    assert_int_equal(ms_build_cast(&f.build, column(0), type_of(&f, "CHAR(2000000)"), MS_BUILD_CAST,
                                   (ms_span){1, 9}, &padded),
                     MS_OK);
    const ms_expr *outputs[2] = {column(0), padded};
    outcome o = run_all(NULL, outputs, 2, 0);
    assert_int_equal(o.rows, ROWS);
    assert_int_equal(o.rows_max, 2);
}

static void a_row_may_take_more_than_the_bound(void **state)
{
    (void)state;
    const ms_expr *wide = call("||", column(1), column(1), 1);
    wide = call("||", wide, wide, 1);
    const ms_expr *outputs[2] = {column(0), call("||", wide, wide, 1)};
    outcome o = run_all(NULL, outputs, 2, 0);
    assert_int_equal(o.error.code, MS_OK);
    assert_int_equal(o.rows, ROWS);
    assert_int_equal(o.runs, ROWS);
}

static void filters_are_evaluated_some_rows_at_a_time_too(void **state)
{
    (void)state;
    const ms_expr *output = column(0);
    const ms_expr *same = call("||", column(1), column(1), 1);
    const ms_expr *filter = call(">", call("CHAR_LENGTH", same, NULL, 1), number(5), 1);
    outcome o = run_all(filter, &output, 1, 0);
    assert_int_equal(o.rows, ROWS);
    assert_true(o.runs >= ROWS / 2);
    filter = call("<", call("CHAR_LENGTH", same, NULL, 1), number(5), 1);
    o = run_all(filter, &output, 1, 0);
    assert_int_equal(o.rows, 0);
    assert_int_equal(o.error.code, MS_OK);
}

/* Strings that a row does not need are not made, and do not count. */
static void untaken_branches_take_nothing(void **state)
{
    (void)state;
    const ms_expr *when = call("<", column(0), number(2), 1);
    const ms_expr *then = call("||", column(1), column(1), 1);
    const ms_expr *chosen = NULL;
    assert_int_equal(ms_build_case(&f.build, NULL, &when, &then, 1,
                                   ms_build_text(&f.build, ms_str_lit("no"), ms_span_none),
                                   (ms_span){1, 9}, &chosen),
                     MS_OK);
    const ms_expr *outputs[2] = {column(0), chosen};
    outcome o = run_all(NULL, outputs, 2, 0);
    assert_int_equal(o.rows, ROWS);
    assert_int_equal(o.runs, 1);
}

/* A failure is met in the run that its row is part of, and not before. */
static void a_failure_behind_a_cut_is_found_at_its_row(void **state)
{
    (void)state;
    const ms_expr *fails = call("/", number(1), call("-", number(10), column(0), 40), 40);
    const ms_expr *outputs[3] = {column(0), call("||", column(1), column(1), 1), fails};
    outcome o = run_all(NULL, outputs, 3, 0);
    assert_int_equal(o.error.code, MS_DIVISION_BY_ZERO);
    assert_int_equal(o.error.row, 10);
    assert_int_equal(o.error.span.start, 40);
    assert_int_equal(o.rows, 10);
    assert_true(o.runs >= 5);
}

static void the_rows_of_lists_are_bounded_beforehand(void **state)
{
    (void)state;
    const ms_expr *items[1000];
    const ms_expr *list = NULL;
    ms_status st = {0};
    const ms_program *program = NULL;
    for (uint32_t i = 0; i < 1000; i++) {
        items[i] = column(0);
    }
    assert_int_equal(
        ms_build_call(&f.build, ms_str_lit("ARRAY"), items, 1000, (ms_span){1, 9}, &list), MS_OK);
    ms_program_spec spec = {.outputs = &list, .output_count = 1, .input = &schema};
    assert_ok(ms_program_compile(&f.arena, &spec, &program, &st));
    assert_int_equal(ms_program_rows_max(program), MS_BATCH_BYTES_TARGET / 4000);
    spec.outputs = items;
    assert_ok(ms_program_compile(&f.arena, &spec, &program, &st));
    assert_int_equal(ms_program_rows_max(program), MS_BATCH_ROWS_MAX);
}

/* A run that is canceled before or while it goes on has no rows, and says so at its first one. */
static void a_canceled_run_has_no_rows(void **state)
{
    (void)state;
    ms_status st = {0};
    const ms_program *program = NULL;
    const ms_expr *outputs[2] = {column(0), call("||", column(1), column(1), 1)};
    ms_program_spec spec = {.outputs = outputs, .output_count = 2, .input = &schema};
    assert_ok(ms_program_compile(&f.arena, &spec, &program, &st));
    ms_evaluator *ev = ms_evaluator_create(program, ROWS);
    _Atomic bool canceled = false;
    ms_evaluator_watch(ev, &canceled);
    const uint16_t sel[] = {3, 4};
    batch.sel = sel;
    batch.sel_count = 2;
    ms_batch frame;
    ms_eval_error error;
    ms_evaluator_run(ev, &batch, &frame, &error);
    assert_int_equal(error.code, MS_OK);
    assert_int_equal(ms_batch_live(&frame), 2);
    canceled = true;
    ms_evaluator_run(ev, &batch, &frame, &error);
    assert_int_equal(error.code, MS_CANCELED);
    assert_int_equal(error.row, 3);
    assert_false(error.is_cut);
    assert_int_equal(ms_batch_live(&frame), 0);
    assert_int_equal(ms_evaluator_explain(ev, &batch, &error, &st), MS_CANCELED);
    ms_evaluator_destroy(ev);
}

/* As many characters to cut as the text has: each is looked up, not looked for in all of them. */
static void a_text_is_trimmed_by_a_set_as_long(void **state)
{
    (void)state;
    const uint32_t count = 300000;
    char *all = ms_mem_alloc((size_t)3 * count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t point = 0x4E00 + i % 20000;
        all[3 * i] = (char)(0xE0 | point >> 12);
        all[3 * i + 1] = (char)(0x80 | (point >> 6 & 63));
        all[3 * i + 2] = (char)(0x80 | (point & 63));
    }
    ms_status st = {0};
    const ms_program *program = NULL;
    const ms_expr *output = call("TRIM", column(1), column(1), 1);
    ms_program_spec spec = {.outputs = &output, .output_count = 1, .input = &schema};
    assert_ok(ms_program_compile(&f.arena, &spec, &program, &st));
    ms_evaluator *ev = ms_evaluator_create(program, ROWS);
    batch.rows = 1;
    ((ms_view *)columns[1].data)[0] = ms_view_make(all, 3 * count);
    ms_batch frame;
    ms_eval_error error;
    ms_evaluator_run(ev, &batch, &frame, &error);
    assert_int_equal(((const ms_view *)frame.columns[0].data)[0].bytes, 0);
    ms_evaluator_destroy(ev);
    ms_mem_free(all);
}

/* What a copy of a frame takes at most: every column that shows a string counts. */
static void a_frame_knows_what_a_copy_may_take(void **state)
{
    (void)state;
    ms_status st = {0};
    const ms_program *program = NULL;
    const ms_expr *outputs[4] = {column(0), column(1), column(1),
                                 call("SUBSTRING", column(1), number(2), 1)};
    ms_program_spec spec = {.outputs = outputs, .output_count = 4, .input = &schema};
    assert_ok(ms_program_compile(&f.arena, &spec, &program, &st));
    ms_evaluator *ev = ms_evaluator_create(program, ROWS);
    ms_batch frame;
    ms_eval_error error;
    ms_evaluator_run(ev, &batch, &frame, &error);
    assert_true(ms_batch_wide_bytes_max(&frame) == MS_BATCH_WIDE_UNKNOWN);
    assert_int_equal(ms_batch_fit(&frame, 0, 0), 1);
    ms_batch_set_wide_bytes_max(&batch, 1000);
    ms_evaluator_run(ev, &batch, &frame, &error);
    assert_int_equal(ms_batch_wide_bytes_max(&frame), 3000);
    ms_evaluator_destroy(ev);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_each, close_each)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(joined_strings_are_made_some_rows_at_a_time),
        TEST(padding_is_made_some_rows_at_a_time),
        TEST(a_row_may_take_more_than_the_bound),
        TEST(filters_are_evaluated_some_rows_at_a_time_too),
        TEST(untaken_branches_take_nothing),
        TEST(a_failure_behind_a_cut_is_found_at_its_row),
        TEST(the_rows_of_lists_are_bounded_beforehand),
        TEST(a_frame_knows_what_a_copy_may_take),
        TEST(a_canceled_run_has_no_rows),
        TEST(a_text_is_trimmed_by_a_set_as_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
