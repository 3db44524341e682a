/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "fixture.h"

static fixture f;

static int open_each(void **state)
{
    (void)state;
    fixture_open(&f);
    return 0;
}

static int close_each(void **state)
{
    (void)state;
    fixture_close(&f);
    return 0;
}

static ms_value read_column(void *ctx, ms_arena *arena, uint32_t index)
{
    const int64_t *numbers = ctx;
    (void)arena;
    return ms_value_int(type_of(&f, "INT"), numbers[index]);
}

static const ms_expr *column(uint32_t index, uint32_t place)
{
    return ms_expr_column(&f.arena, index, type_of(&f, "INT"), (ms_span){place, place + 1});
}

static const ms_expr *call(const char *name, const ms_expr *a, const ms_expr *b, uint32_t place)
{
    const ms_expr *out = NULL;
    const ms_expr *args[2] = {a, b};
    assert_int_equal(ms_build_call(&f.build, ms_str_cstr(name), args, b != NULL ? 2 : 1,
                                   (ms_span){place, place + 5}, &out),
                     MS_OK);
    return out;
}

static ms_rc eval(const ms_expr *expr, int64_t a, int64_t b, ms_value *out, ms_status *st)
{
    int64_t numbers[2] = {a, b};
    ms_interp in = {.arena = &f.arena, .column = read_column, .ctx = numbers};
    return ms_interp_eval(&in, expr, out, st);
}

static void columns_come_from_wherever_the_caller_says(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_value value;
    assert_ok(eval(call("+", column(0, 1), column(1, 3), 1), 40, 2, &value, &st));
    assert_int_equal(value.u.i, 42);
}

static void the_leftmost_fault_of_a_row_is_reported(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_value value;
    const ms_expr *right = call("/", column(0, 30), column(1, 34), 30);
    const ms_expr *left = call("%", column(0, 10), column(1, 14), 10);
    assert_int_equal(eval(call("+", right, left, 5), 1, 0, &value, &st), MS_DIVISION_BY_ZERO);
    assert_int_equal(st.span.start, 10);
    assert_string_equal(st.message, "division by zero");
}

static void untaken_branches_do_not_fail(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_value value;
    const ms_expr *quotient = call("/", column(0, 30), column(1, 34), 30);
    const ms_expr *is_zero = call("=", column(1, 1), ms_build_int(&f.build, 0, ms_span_none), 1);
    const ms_expr *positive = call(">", quotient, ms_build_int(&f.build, 0, ms_span_none), 30);
    assert_ok(eval(call("OR", is_zero, positive, 1), 1, 0, &value, &st));
    assert_int_equal(value.u.i, 1);
    assert_int_equal(eval(call("OR", positive, is_zero, 1), 1, 0, &value, &st),
                     MS_DIVISION_BY_ZERO);
    const ms_expr *case_expr = NULL;
    assert_int_equal(ms_build_case(&f.build, NULL, &is_zero, &(const ms_expr *){column(0, 9)}, 1,
                                   quotient, (ms_span){1, 50}, &case_expr),
                     MS_OK);
    ms_status_clear(&st);
    assert_ok(eval(case_expr, 7, 0, &value, &st));
    assert_int_equal(value.u.i, 7);
    assert_ok(eval(case_expr, 8, 2, &value, &st));
    assert_int_equal(value.u.i, 4);
}

static void a_bound_fault_counts_where_it_is_used(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_value value;
    const ms_expr *quotient = call("/", column(0, 30), column(1, 34), 30);
    const ms_expr *args[3] = {quotient, ms_build_int(&f.build, 0, ms_span_none),
                              ms_build_int(&f.build, 9, ms_span_none)};
    const ms_expr *between = NULL;
    assert_int_equal(
        ms_build_call(&f.build, ms_str_lit("BETWEEN"), args, 3, (ms_span){30, 60}, &between),
        MS_OK);
    assert_int_equal(eval(between, 1, 0, &value, &st), MS_DIVISION_BY_ZERO);
    assert_int_equal(st.span.start, 30);
    const ms_expr *never = ms_build_bool(&f.build, false, ms_span_none);
    ms_status_clear(&st);
    assert_ok(eval(call("AND", never, between, 1), 1, 0, &value, &st));
}

static void constants_fold_unless_they_fail(void **state)
{
    (void)state;
    ms_eval_config config = {0};
    const ms_expr *one = ms_build_int(&f.build, 1, ms_span_none);
    const ms_expr *zero = ms_build_int(&f.build, 0, ms_span_none);
    const ms_expr *sum = ms_interp_fold(&f.arena, &config, call("+", one, one, 1));
    assert_int_equal(sum->kind, MS_EXPR_CONST);
    assert_int_equal(sum->value->u.i, 2);
    const ms_expr *failing = call("/", one, zero, 1);
    assert_ptr_equal(ms_interp_fold(&f.arena, &config, failing), failing);
    const ms_expr *varying = call("+", one, column(0, 1), 1);
    assert_ptr_equal(ms_interp_fold(&f.arena, &config, varying), varying);
}

static void messages_name_the_value_at_fault(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_value value;
    const ms_expr *text = ms_build_text(&f.build, ms_str_lit("12x"), ms_span_none);
    const ms_expr *cast = NULL;
    assert_int_equal(
        ms_build_cast(&f.build, text, type_of(&f, "INT"), MS_BUILD_CAST, (ms_span){3, 9}, &cast),
        MS_OK);
    assert_int_equal(eval(cast, 0, 0, &value, &st), MS_INVALID_CAST);
    assert_string_equal(st.message, "cannot cast '12x' to INT");
    assert_string_equal(st.hint, "TRY_CAST gives NULL instead of failing.");
    assert_int_equal(st.span.start, 3);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_each, close_each)
    const struct CMUnitTest tests[] = {
        TEST(columns_come_from_wherever_the_caller_says),
        TEST(the_leftmost_fault_of_a_row_is_reported),
        TEST(untaken_branches_do_not_fail),
        TEST(a_bound_fault_counts_where_it_is_used),
        TEST(constants_fold_unless_they_fail),
        TEST(messages_name_the_value_at_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
