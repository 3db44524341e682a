/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/memory.h"
#include "fixture.h"

#define ROWS 200u

static fixture f;
static ms_schema schema;
static ms_batch batch;
static ms_vec columns[4];

/*
 * Columns: 0 INT 0, 1, 2 ..; 1 INT, 0 in each tenth row; 2 STRING; 3 BOOLEAN, NULL in each third.
 */
static int open_each(void **state)
{
    (void)state;
    fixture_open(&f);
    ms_field *fields = ms_arena_array(&f.arena, ms_field, 4);
    static const char *const types[] = {"INT", "INT", "STRING", "BOOLEAN"};
    for (uint32_t i = 0; i < 4; i++) {
        fields[i] = (ms_field){ms_arena_format(&f.arena, "c%u", i), type_of(&f, types[i])};
        ms_vec_alloc(&columns[i], fields[i].type, ROWS, &f.arena);
    }
    for (uint32_t row = 0; row < ROWS; row++) {
        ((int32_t *)columns[0].data)[row] = (int32_t)row;
        ((int32_t *)columns[1].data)[row] = (int32_t)(row % 10);
        ms_str text = ms_arena_format(&f.arena, "a text of some length, number %u", row);
        ((ms_view *)columns[2].data)[row] = ms_view_make(text.ptr, (uint32_t)text.bytes);
        ((uint8_t *)columns[3].data)[row] = row % 2;
        if (row % 3 == 0) {
            ms_bit_clear(ms_vec_validity(&columns[3]), row);
        }
    }
    schema = (ms_schema){4, fields};
    batch = (ms_batch){.rows = ROWS, .column_count = 4, .columns = columns};
    return 0;
}

static int close_each(void **state)
{
    (void)state;
    fixture_close(&f);
    return 0;
}

static const ms_expr *column(uint32_t index, uint32_t place)
{
    return ms_expr_column(&f.arena, index, schema.columns[index].type, (ms_span){place, place + 1});
}

static const ms_expr *number(int32_t value)
{
    return ms_build_int(&f.build, value, ms_span_none);
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

static const ms_program *compile(const ms_expr *filter, const ms_expr *const *outputs,
                                 uint32_t count)
{
    ms_status st = {0};
    const ms_program *program = NULL;
    ms_program_spec spec = {
        .filter = filter, .outputs = outputs, .output_count = count, .input = &schema};
    assert_ok(ms_program_compile(&f.arena, &spec, &program, &st));
    return program;
}

static uint32_t count_lines(const ms_program *program, const char *with)
{
    ms_str text = ms_program_text(&f.arena, program);
    uint32_t count = 0;
    while (text.bytes > 0) {
        size_t end = ms_str_find_byte(text, '\n', 0);
        ms_str line = ms_str_slice(text, 0, end);
        count += memmem(line.ptr, line.bytes, with, strlen(with)) != NULL;
        text = ms_str_slice(text, end + 1, text.bytes);
    }
    return count;
}

static void equal_parts_are_computed_once(void **state)
{
    (void)state;
    const ms_expr *a = call("*", call("+", column(0, 1), number(1), 1), number(2), 1);
    const ms_expr *b = call("*", call("+", column(0, 9), number(1), 9), number(3), 9);
    const ms_expr *outputs[2] = {a, b};
    /* The constants are different registers, so the sum is shared only if written once. */
    const ms_expr *sum = call("+", column(0, 1), column(1, 1), 1);
    const ms_expr *same[2] = {call("*", sum, column(0, 2), 1),
                              call("-", call("+", column(0, 7), column(1, 8), 7), column(0, 9), 7)};
    assert_int_equal(count_lines(compile(NULL, same, 2), "call +"), 1);
    assert_int_equal(count_lines(compile(NULL, outputs, 2), "call *"), 2);
}

static void what_can_fail_is_shared_only_at_one_place(void **state)
{
    (void)state;
    const ms_expr *a = call("/", column(0, 1), column(1, 3), 1);
    const ms_expr *b = call("/", column(0, 11), column(1, 13), 11);
    const ms_expr *apart[2] = {call("+", a, column(0, 1), 1), call("-", b, column(0, 1), 11)};
    const ms_expr *together[2] = {call("+", a, column(0, 1), 1), call("-", a, column(0, 1), 11)};
    assert_int_equal(count_lines(compile(NULL, apart, 2), "call /"), 2);
    assert_int_equal(count_lines(compile(NULL, together, 2), "call /"), 1);
}

static void nothing_is_shared_out_of_a_branch(void **state)
{
    (void)state;
    const ms_expr *sum = call("+", column(0, 1), column(1, 1), 1);
    const ms_expr *inside = NULL;
    const ms_expr *when = column(3, 1);
    const ms_expr *product = call("*", sum, column(0, 1), 1);
    assert_int_equal(
        ms_build_case(&f.build, NULL, &when, &product, 1, number(0), ms_span_none, &inside), MS_OK);
    const ms_expr *first_inside[2] = {inside, product};
    const ms_expr *first_outside[2] = {product, inside};
    assert_int_equal(count_lines(compile(NULL, first_inside, 2), "call *"), 2);
    assert_int_equal(count_lines(compile(NULL, first_outside, 2), "call *"), 1);
}

static void remainders_of_zero_become_tests_of_divisibility(void **state)
{
    (void)state;
    const ms_expr *test = call("=", call("%", column(0, 1), number(7), 1), number(0), 1);
    const ms_program *program = compile(test, NULL, 0);
    assert_int_equal(count_lines(program, "$DIVISIBLE"), 1);
    assert_int_equal(count_lines(program, "call %"), 0);
    assert_false(ms_program_can_fail(program));
    test = call("=", call("%", column(0, 1), column(1, 1), 1), number(0), 1);
    program = compile(test, NULL, 0);
    assert_int_equal(count_lines(program, "$DIVISIBLE"), 0);
    assert_true(ms_program_can_fail(program));
}

static void cheap_conditions_are_combined_without_choosing_rows(void **state)
{
    (void)state;
    const ms_expr *cheap = call("AND", call(">", column(0, 1), number(5), 1),
                                call("<", column(1, 1), number(5), 1), 1);
    assert_int_equal(count_lines(compile(cheap, NULL, 0), "pair"), 1);
    const ms_expr *costly =
        call("AND", call(">", column(0, 1), number(5), 1),
             call(">", call("/", column(0, 1), column(1, 1), 1), number(5), 1), 1);
    assert_int_equal(count_lines(compile(costly, NULL, 0), "pair"), 0);
    assert_int_equal(count_lines(compile(costly, NULL, 0), "logic"), 1);
}

static void constants_are_folded_but_failing_ones_stay(void **state)
{
    (void)state;
    const ms_expr *sum = call("+", number(1), number(2), 1);
    assert_int_equal(count_lines(compile(NULL, &sum, 1), "call"), 0);
    const ms_expr *failing = call("/", number(1), number(0), 4);
    const ms_program *program = compile(NULL, &failing, 1);
    assert_int_equal(count_lines(program, "call /"), 1);
    ms_evaluator *ev = ms_evaluator_create(program, ROWS);
    ms_batch frame;
    ms_eval_error error;
    ms_evaluator_run(ev, &batch, &frame, &error);
    assert_int_equal(error.code, MS_DIVISION_BY_ZERO);
    batch.sel = (const uint16_t[]){0};
    batch.sel_count = 0;
    ms_evaluator_run(ev, &batch, &frame, &error);
    assert_int_equal(error.code, MS_OK); /* no row, no failure */
    ms_evaluator_destroy(ev);
}

static void rows_before_a_failure_are_in_the_frame(void **state)
{
    (void)state;
    const ms_expr *outputs[2] = {column(0, 1), call("/", number(100), column(1, 3), 1)};
    const ms_expr *filter = call(">", column(0, 1), number(3), 1);
    const ms_program *program = compile(filter, outputs, 2);
    assert_true(ms_program_can_fail(program));
    ms_evaluator *ev = ms_evaluator_create(program, ROWS);
    ms_batch frame;
    ms_eval_error error;
    ms_status st = {0};
    ms_evaluator_run(ev, &batch, &frame, &error);
    assert_int_equal(error.code, MS_DIVISION_BY_ZERO);
    assert_int_equal(error.row, 10);
    assert_int_equal(ms_batch_live(&frame), 6);
    assert_int_equal(ms_batch_row(&frame, 5), 9);
    assert_int_equal(ms_evaluator_explain(ev, &batch, &error, &st), MS_DIVISION_BY_ZERO);
    assert_int_equal(st.span.start, 1);
    /* The filter fails first when its row comes first. */
    ms_evaluator_destroy(ev);
    filter = call(">", call("/", number(9), call("-", column(0, 40), number(7), 40), 40),
                  number(-99), 40);
    program = compile(filter, outputs, 2);
    ev = ms_evaluator_create(program, ROWS);
    columns[1].encoding = MS_ENC_FLAT;
    ((int32_t *)columns[1].data)[0] = 1;
    ms_evaluator_run(ev, &batch, &frame, &error);
    assert_int_equal(error.row, 7);
    assert_int_equal(error.span.start, 40);
    ms_evaluator_destroy(ev);
}

static void columns_pass_through_as_they_are(void **state)
{
    (void)state;
    const ms_expr *outputs[2] = {column(2, 1), column(0, 1)};
    const ms_program *program = compile(NULL, outputs, 2);
    assert_int_equal(ms_program_output(program)->column_count, 2);
    ms_evaluator *ev = ms_evaluator_create(program, ROWS);
    ms_batch frame;
    ms_eval_error error;
    ms_evaluator_run(ev, &batch, &frame, &error);
    assert_ptr_equal(frame.columns[0].data, columns[2].data);
    assert_ptr_equal(frame.columns[1].data, columns[0].data);
    ms_evaluator_destroy(ev);
    program = compile(column(3, 1), NULL, 0);
    ev = ms_evaluator_create(program, ROWS);
    ms_evaluator_run(ev, &batch, &frame, &error);
    assert_int_equal(frame.column_count, 4);
    assert_ptr_equal(frame.columns, columns);
    for (uint32_t k = 0; k < ms_batch_live(&frame); k++) {
        uint32_t row = ms_batch_row(&frame, k);
        assert_true(row % 2 == 1 && row % 3 != 0);
    }
    ms_evaluator_destroy(ev);
}

static void nothing_is_allocated_after_warm_up(void **state)
{
    (void)state;
    const ms_expr *outputs[4] = {
        call("||", call("UPPER", column(2, 1), NULL, 1), column(2, 1), 1),
        call("+", column(0, 1), column(1, 1), 1),
        call("IS TRUE", column(3, 1), NULL, 1),
        NULL,
    };
    const ms_expr *when = column(3, 1);
    assert_int_equal(ms_build_case(&f.build, NULL, &when, &(const ms_expr *){column(0, 1)}, 1,
                                   number(0), ms_span_none, &outputs[3]),
                     MS_OK);
    const ms_expr *filter = call(
        "LIKE", column(2, 1), ms_build_text(&f.build, ms_str_lit("%number _%"), ms_span_none), 1);
    const ms_program *program = compile(filter, outputs, 4);
    ms_evaluator *ev = ms_evaluator_create(program, ROWS);
    ms_batch frame;
    ms_eval_error error;
    for (int i = 0; i < 3; i++) {
        ms_evaluator_run(ev, &batch, &frame, &error);
    }
    uint64_t before = ms_mem_allocation_count();
    for (int i = 0; i < 20; i++) {
        ms_evaluator_run(ev, &batch, &frame, &error);
    }
    assert_int_equal(ms_mem_allocation_count(), before);
    assert_int_equal(error.code, MS_OK);
    assert_int_equal(ms_batch_live(&frame), ROWS);
    assert_true(ms_evaluator_bytes(ev) > 0);
    ms_evaluator_destroy(ev);
}

static void deep_expressions_reuse_their_buffers(void **state)
{
    (void)state;
    const ms_expr *sum = column(0, 1);
    for (int i = 0; i < 150; i++) {
        sum = call("+", sum, column(1, 1), 1);
    }
    const ms_program *program = compile(NULL, &sum, 1);
    ms_evaluator *ev = ms_evaluator_create(program, ROWS);
    assert_true(ms_evaluator_bytes(ev) < 200000); /* not 150 buffers */
    ms_batch frame;
    ms_eval_error error;
    ms_evaluator_run(ev, &batch, &frame, &error);
    assert_int_equal(((const int32_t *)frame.columns[0].data)[13], 13 + 150 * 3);
    ms_evaluator_destroy(ev);
    for (int i = 0; i < 2000; i++) {
        sum = ms_expr_with_children(&f.arena, sum, (const ms_expr *[]){sum, column(1, 1)});
    }
    ms_program_spec spec = {.outputs = &sum, .output_count = 1, .input = &schema};
    ms_status st = {0};
    assert_int_equal(ms_program_compile(&f.arena, &spec, &program, &st), MS_STATEMENT_TOO_LARGE);
}

static void bad_zones_are_reported(void **state)
{
    (void)state;
    ms_status st = {0};
    const ms_program *program = NULL;
    const ms_expr *x = column(0, 1);
    ms_program_spec spec = {.outputs = &x,
                            .output_count = 1,
                            .input = &schema,
                            .config = {.time_zone = ms_str_lit("Mars/Olympus")}};
    assert_int_not_equal(ms_program_compile(&f.arena, &spec, &program, &st), MS_OK);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_each, close_each)
    const struct CMUnitTest tests[] = {
        TEST(equal_parts_are_computed_once),
        TEST(what_can_fail_is_shared_only_at_one_place),
        TEST(nothing_is_shared_out_of_a_branch),
        TEST(remainders_of_zero_become_tests_of_divisibility),
        TEST(cheap_conditions_are_combined_without_choosing_rows),
        TEST(constants_are_folded_but_failing_ones_stay),
        TEST(rows_before_a_failure_are_in_the_frame),
        TEST(columns_pass_through_as_they_are),
        TEST(nothing_is_allocated_after_warm_up),
        TEST(deep_expressions_reuse_their_buffers),
        TEST(bad_zones_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
