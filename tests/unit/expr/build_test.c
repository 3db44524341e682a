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

static const ms_expr *column(uint32_t index, const char *type)
{
    return ms_expr_column(&f.arena, index, type_of(&f, type), (ms_span){index + 1, index + 2});
}

static const ms_expr *number(const char *digits)
{
    const ms_expr *out = NULL;
    assert_int_equal(ms_build_number(&f.build, ms_str_cstr(digits), false, (ms_span){50, 51}, &out),
                     MS_OK);
    return out;
}

static const ms_expr *text(const char *literal)
{
    return ms_build_text(&f.build, ms_str_cstr(literal), (ms_span){60, 61});
}

static const ms_expr *call(const char *name, const ms_expr *a, const ms_expr *b, const ms_expr *c)
{
    const ms_expr *args[3] = {a, b, c};
    const ms_expr *out = NULL;
    uint32_t count = b == NULL ? 1 : c == NULL ? 2 : 3;
    ms_status_clear(&f.st);
    ms_rc rc = ms_build_call(&f.build, ms_str_cstr(name), args, count, (ms_span){1, 99}, &out);
    return rc == MS_OK ? out : NULL;
}

static void check(const ms_expr *expr, const char *wanted)
{
    if (expr == NULL) {
        fail_msg("%s: refused: %s", wanted, f.st.message);
    }
    ms_str got = ms_expr_text(&f.arena, expr, NULL);
    if (!ms_str_equals(got, ms_str_cstr(wanted))) {
        fail_msg("%.*s, not %s", MS_STR_ARG(got), wanted);
    }
}

static void check_type(const ms_expr *expr, const char *wanted)
{
    ms_str got = ms_type_text(&f.arena, expr->type);
    if (!ms_str_equals(got, ms_str_cstr(wanted))) {
        fail_msg("%.*s, not %s", MS_STR_ARG(got), wanted);
    }
}

static void operands_are_cast_where_needed(void **state)
{
    (void)state;
    check(call("+", column(0, "INT"), column(1, "BIGINT"), NULL), "CAST($0 AS BIGINT) + $1");
    check(call("=", column(0, "INT"), column(1, "INT"), NULL), "$0 = $1");
    check(call("*", column(0, "BIGINT"), number("0.908"), NULL), "$0 * 0.908");
    check(call("=", column(0, "DATE"), column(1, "TIMESTAMP(3)"), NULL),
          "CAST($0 AS TIMESTAMP(3)) = $1");
    /* Text in a column is read row by row and may be no date. */
    check(call("=", column(0, "DATE"), column(1, "STRING"), NULL), "$0 = TRY_CAST($1 AS DATE)");
    check(call("=", column(0, "INT"), ms_build_null(&f.build, ms_span_none), NULL), "$0 = NULL");
}

static void text_literals_beside_dates_are_read_at_once(void **state)
{
    (void)state;
    check(call("<", column(0, "DATE"), text("2020-02-29"), NULL), "$0 < DATE '2020-02-29'");
    check(call("<", column(0, "TIMESTAMP_LTZ(3)"), text("2020-02-29"), NULL),
          "$0 < CAST('2020-02-29' AS TIMESTAMP_LTZ(3))");
    assert_null(call("<", column(0, "DATE"), text("nonsense"), NULL));
    assert_int_equal(f.st.code, MS_INVALID_LITERAL);
    assert_string_equal(f.st.message, "'nonsense' is not a DATE");
    assert_int_equal(f.st.span.start, 60);
}

static void chains_of_logic_are_flat(void **state)
{
    (void)state;
    const ms_expr *a = column(0, "BOOLEAN");
    const ms_expr *b = column(1, "BOOLEAN NOT NULL");
    const ms_expr *both = call("AND", call("AND", a, b, NULL), call("AND", b, a, NULL), NULL);
    assert_int_equal(both->child_count, 4);
    check(call("OR", both, call("NOT", b, NULL, NULL), NULL), "$0 AND $1 AND $1 AND $0 OR NOT $1");
    check_type(call("AND", b, b, NULL), "BOOLEAN NOT NULL");
    check_type(call("AND", a, b, NULL), "BOOLEAN");
    assert_null(call("AND", a, column(2, "INT"), NULL));
    assert_string_equal(f.st.message, "an operand of AND must be BOOLEAN, not INT");
    assert_int_equal(f.st.span.start, 3);
}

static void operands_used_twice_are_bound_unless_simple(void **state)
{
    (void)state;
    const ms_expr *x = column(0, "INT");
    const ms_expr *sum = call("+", x, number("1"), NULL);
    const ms_expr *plain = call("BETWEEN", x, number("1"), number("5"));
    assert_int_equal(plain->kind, MS_EXPR_AND);
    check(plain, "$0 >= 1 AND $0 <= 5");
    const ms_expr *bound = call("BETWEEN", sum, number("1"), number("5"));
    assert_int_equal(bound->kind, MS_EXPR_LET);
    check(bound, "$0 + 1 >= 1 AND $0 + 1 <= 5");
    check(call("NULLIF", sum, number("5"), NULL), "CASE WHEN $0 + 1 = 5 THEN NULL ELSE $0 + 1 END");
    /* Each level costs its own nodes only. */
    const ms_expr *deep = column(0, "BOOLEAN");
    for (int i = 0; i < 60; i++) {
        deep = call("BETWEEN", call("NOT", deep, NULL, NULL), deep, deep);
        assert_non_null(deep);
        deep = call("IS NULL", deep, NULL, NULL);
        if (i == 3) {
            break; /* the bounds are written twice here, by this test */
        }
    }
}

static void case_finds_its_type_and_nullability(void **state)
{
    (void)state;
    const ms_expr *x = column(0, "INT");
    const ms_expr *whens[2] = {call("IS NOT NULL", x, NULL, NULL), call("=", x, number("1"), NULL)};
    const ms_expr *thens[2] = {x, number("2")};
    const ms_expr *out = NULL;
    assert_int_equal(
        ms_build_case(&f.build, NULL, whens, thens, 1, number("0"), ms_span_none, &out), MS_OK);
    check_type(out, "INT NOT NULL"); /* x is not NULL where it is taken */
    assert_int_equal(ms_build_case(&f.build, NULL, whens, thens, 2, NULL, ms_span_none, &out),
                     MS_OK);
    check_type(out, "INT");
    check(out, "CASE WHEN $0 IS NOT NULL THEN $0 WHEN $0 = 1 THEN 2 ELSE NULL END");
    const ms_expr *literals[2] = {text("a"), text("bcd")};
    assert_int_equal(ms_build_case(&f.build, x, (const ms_expr *[]){number("1"), number("2")},
                                   literals, 2, text("zz"), ms_span_none, &out),
                     MS_OK);
    check_type(out, "VARCHAR(3) NOT NULL");
    const ms_expr *null = ms_build_null(&f.build, ms_span_none);
    assert_int_equal(ms_build_case(&f.build, NULL, whens, &null, 1, NULL, (ms_span){7, 8}, &out),
                     MS_TYPE_MISMATCH);
    assert_string_equal(f.st.message, "all results of CASE are NULL");
}

static void coalesce_drops_what_never_counts(void **state)
{
    (void)state;
    const ms_expr *a = column(0, "INT");
    const ms_expr *b = column(1, "INT NOT NULL");
    const ms_expr *null = ms_build_null(&f.build, ms_span_none);
    const ms_expr *out = call("COALESCE", null, a, b);
    check(out, "COALESCE($0, $1)");
    check_type(out, "INT NOT NULL");
    assert_ptr_equal(call("COALESCE", null, a, NULL), a);
    assert_ptr_equal(call("COALESCE", b, a, NULL), b);
    assert_int_equal(call("COALESCE", null, null, NULL)->type->kind, MS_TYPE_NULL);
    assert_ptr_equal(call("IFNULL", b, a, NULL), b);
    check_type(call("IFNULL", a, b, NULL), "INT NOT NULL");
}

static void in_lists_become_sets_or_chains(void **state)
{
    (void)state;
    const ms_expr *x = column(0, "INT");
    check(call("IN", x, number("1"), number("2")), "$0 IN (1, 2)");
    check(call("NOT IN", x, number("1"), number("2")), "NOT $0 IN (1, 2)");
    check(call("IN", x, number("1"), column(1, "INT")), "$0 = 1 OR $0 = $1");
    check(call("IN", x, call("+", number("1"), number("1"), NULL), NULL), "$0 IN (2)");
    check(call("IN", column(0, "BIGINT"), number("1"), NULL), "$0 IN (1)");
    /* A common type that loses digits would change what is equal. */
    check(call("IN", column(0, "DECIMAL(38, 0)"), number("0.5"), NULL), "$0 = 0.5");
    check(call("IN", column(0, "DATE"), text("2020-01-01"), NULL), "$0 = DATE '2020-01-01'");
    assert_null(call("IN", x, number("1"), text("a")));
    assert_string_equal(f.st.message, "the elements of the IN list have no common type");
    assert_null(call("IN", x, text("a"), NULL));
}

static void bad_patterns_are_refused_at_planning(void **state)
{
    (void)state;
    assert_null(call("LIKE", column(0, "STRING"), text("a!b"), text("!")));
    assert_int_equal(f.st.code, MS_INVALID_ARGUMENT);
    assert_string_equal(f.st.detail, "Invalid escape sequence 'a!b', 1");
    assert_int_equal(f.st.span.start, 1);
    assert_null(call("TO_TIMESTAMP", column(0, "STRING"), text("EEE"), NULL));
    assert_int_equal(f.st.code, MS_NOT_SUPPORTED);
    assert_null(call("ITEM", column(0, "ARRAY<INT>"), number("0"), NULL));
    assert_string_equal(f.st.message, "an array index starts at 1");
}

static void casts_say_why_not(void **state)
{
    (void)state;
    const ms_expr *out = NULL;
    const ms_expr *x = column(0, "BIGINT");
    assert_int_equal(
        ms_build_cast(&f.build, x, type_of(&f, "INT"), MS_BUILD_IMPLICIT, (ms_span){4, 5}, &out),
        MS_TYPE_MISMATCH);
    assert_string_equal(f.st.message, "BIGINT does not become INT by itself");
    assert_string_equal(f.st.hint, "Write CAST(... AS INT).");
    ms_status_clear(&f.st);
    assert_int_equal(ms_build_cast(&f.build, x, type_of(&f, "TIMESTAMP_LTZ(3)"), MS_BUILD_CAST,
                                   (ms_span){4, 5}, &out),
                     MS_TYPE_MISMATCH);
    assert_string_equal(f.st.message, "cannot cast BIGINT to TIMESTAMP_LTZ(3)");
    ms_status_clear(&f.st);
    assert_int_equal(ms_build_cast(&f.build, x, type_of(&f, "BIGINT NOT NULL"), MS_BUILD_CAST,
                                   (ms_span){4, 5}, &out),
                     MS_OK);
    assert_ptr_equal(out, x); /* nullability follows the operand */
    const ms_expr *null = ms_build_null(&f.build, ms_span_none);
    assert_int_equal(
        ms_build_cast(&f.build, null, type_of(&f, "INT"), MS_BUILD_CAST, ms_span_none, &out),
        MS_OK);
    check_type(out, "INT");
}

static void fields_are_found_by_exact_name(void **state)
{
    (void)state;
    const ms_expr *row = column(0, "ROW<`magnitude` INT NOT NULL, `place` STRING> NOT NULL");
    const ms_expr *out = NULL;
    assert_int_equal(ms_build_field(&f.build, row, ms_str_lit("magnitude"), (ms_span){5, 6}, &out),
                     MS_OK);
    check_type(out, "INT NOT NULL");
    check(out, "$0.magnitude");
    assert_int_equal(ms_build_field(&f.build, row, ms_str_lit("Magnitude"), (ms_span){5, 6}, &out),
                     MS_UNDEFINED_COLUMN);
    assert_string_equal(f.st.hint, "Did you mean \"magnitude\"?");
    ms_status_clear(&f.st);
    row = column(0, "ROW<`a` INT NOT NULL>");
    assert_int_equal(ms_build_field(&f.build, row, ms_str_lit("a"), (ms_span){5, 6}, &out), MS_OK);
    check_type(out, "INT"); /* the row may be NULL */
    assert_int_equal(
        ms_build_field(&f.build, column(0, "INT"), ms_str_lit("a"), (ms_span){5, 6}, &out),
        MS_TYPE_MISMATCH);
}

static void lists_get_one_type(void **state)
{
    (void)state;
    const ms_expr *list[3] = {number("1"), column(0, "BIGINT"), number("1.5")};
    assert_int_equal(ms_build_common(&f.build, list, 3, "column 2 of UNION", (ms_span){3, 4}),
                     MS_OK);
    for (int i = 0; i < 3; i++) {
        assert_true(ms_type_same_shape(list[i]->type, type_of(&f, "DECIMAL(20, 1)")));
    }
    const ms_expr *mixed[2] = {number("1"), text("a")};
    assert_int_equal(ms_build_common(&f.build, mixed, 2, "column 2 of UNION", (ms_span){3, 4}),
                     MS_TYPE_MISMATCH);
    assert_string_equal(f.st.message, "column 2 of UNION: INT and CHAR(1) have no common type");
    assert_int_equal(f.st.span.start, 3);
}

static void the_first_error_stays(void **state)
{
    (void)state;
    const ms_expr *out = NULL;
    f.st = (ms_status){.code = MS_UNDEFINED_COLUMN};
    assert_int_equal(ms_build_unary(&f.build, "NOT", column(0, "BOOLEAN"), ms_span_none, &out),
                     MS_UNDEFINED_COLUMN);
    assert_null(out);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_each, close_each)
    const struct CMUnitTest tests[] = {
        TEST(operands_are_cast_where_needed),
        TEST(text_literals_beside_dates_are_read_at_once),
        TEST(chains_of_logic_are_flat),
        TEST(operands_used_twice_are_bound_unless_simple),
        TEST(case_finds_its_type_and_nullability),
        TEST(coalesce_drops_what_never_counts),
        TEST(in_lists_become_sets_or_chains),
        TEST(bad_patterns_are_refused_at_planning),
        TEST(casts_say_why_not),
        TEST(fields_are_found_by_exact_name),
        TEST(lists_get_one_type),
        TEST(the_first_error_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
