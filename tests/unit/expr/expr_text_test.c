/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "fixture.h"

static fixture f;

static const ms_expr *column(uint32_t index, const char *type)
{
    return ms_expr_column(&f.arena, index, type_of(&f, type), ms_span_none);
}

static const ms_expr *call(const char *name, const ms_expr *a, const ms_expr *b, const ms_expr *c)
{
    const ms_expr *out = NULL;
    const ms_expr *args[3] = {a, b, c};
    uint32_t count = b == NULL ? 1 : c == NULL ? 2 : 3;
    if (ms_build_call(&f.build, ms_str_cstr(name), args, count, ms_span_none, &out) != MS_OK) {
        fail_msg("%s", f.st.message);
    }
    return out;
}

static void check(const ms_expr *expr, const char *wanted)
{
    static const ms_field fields[] = {{{"a", 1}, NULL}, {{"b c", 3}, NULL}, {{"x`y", 3}, NULL}};
    ms_schema schema = {3, fields};
    ms_str got = ms_expr_text(&f.arena, expr, &schema);
    if (!ms_str_equals(got, ms_str_cstr(wanted))) {
        fail_msg("%.*s, not %s", MS_STR_ARG(got), wanted);
    }
}

static void parentheses_stand_only_where_needed(void **state)
{
    (void)state;
    fixture_open(&f);
    const ms_expr *a = column(0, "INT");
    const ms_expr *b = column(1, "INT");
    const ms_expr *p = call("=", a, b, NULL);
    check(call("*", call("+", a, b, NULL), b, NULL), "(a + `b c`) * `b c`");
    check(call("+", call("*", a, b, NULL), b, NULL), "a * `b c` + `b c`");
    check(call("-", a, call("-", b, a, NULL), NULL), "a - (`b c` - a)");
    check(call("-", call("-", a, b, NULL), a, NULL), "a - `b c` - a");
    check(call("-", call("-", a, NULL, NULL), NULL, NULL), "-(-a)");
    check(call("NOT", call("AND", p, p, NULL), NULL, NULL), "NOT (a = `b c` AND a = `b c`)");
    check(call("AND", call("OR", p, p, NULL), p, NULL), "(a = `b c` OR a = `b c`) AND a = `b c`");
    check(call("IS NULL", p, NULL, NULL), "a = `b c` IS NULL");
    check(call("=", call("IS NULL", a, NULL, NULL), call("IS NULL", b, NULL, NULL), NULL),
          "(a IS NULL) = (`b c` IS NULL)");
    fixture_close(&f);
}

static void functions_are_spelled_as_in_sql(void **state)
{
    (void)state;
    fixture_open(&f);
    const ms_expr *s = column(2, "STRING");
    const ms_expr *x = ms_build_text(&f.build, ms_str_lit("it's"), ms_span_none);
    check(call("LIKE", s, x, NULL), "`x``y` LIKE 'it''s'");
    check(call("TRIM LEADING", s, x, NULL), "TRIM(LEADING 'it''s' FROM `x``y`)");
    check(call("POSITION", x, s, NULL), "POSITION('it''s' IN `x``y`)");
    check(call("||", s, call("UPPER", s, NULL, NULL), NULL), "`x``y` || UPPER(`x``y`)");
    check(call("ITEM", column(0, "ARRAY<INT>"), ms_build_int(&f.build, 2, ms_span_none), NULL),
          "a[CAST(2 AS BIGINT)]");
    check(call("ARRAY", column(0, "INT"), column(1, "INT"), NULL), "ARRAY[a, `b c`]");
    check(column(7, "INT"), "$7");
    fixture_close(&f);
}

static void constants_are_literals(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"BOOLEAN", "TRUE", "TRUE"},
        {"DECIMAL(5, 2)", "1.50", "1.50"},
        {"DOUBLE", "1e10", "1.0E10"},
        {"DATE", "2020-01-02", "DATE '2020-01-02'"},
        {"TIMESTAMP(3)", "2020-01-02 03:04:05", "TIMESTAMP(3) '2020-01-02 03:04:05.000'"},
        {"BYTES", "00ff", "X'00ff'"},
        {"INTERVAL MONTH", "5", "INTERVAL '+0-05'"},
        {"INT", "NULL", "NULL"},
        {"ARRAY<INT>", "[1, 2]", "'[1, 2]'"},
    };
    fixture_open(&f);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        check(constant_of(&f, cases[i][0], cases[i][1], ms_span_none), cases[i][2]);
    }
    fixture_close(&f);
}

static void endless_texts_are_cut(void **state)
{
    (void)state;
    fixture_open(&f);
    const ms_expr *x = call("+", column(0, "INT"), column(0, "INT"), NULL);
    for (int i = 0; i < 100; i++) {
        x = call("+", x, x, NULL); /* shared, so small; as text it would be endless */
    }
    ms_str text = ms_expr_text(&f.arena, x, NULL);
    assert_true(text.bytes < 100000);
    assert_true(ms_str_ends_with(text, ms_str_lit("...")));
    fixture_close(&f);
}

/* A literal longer than the whole text may be is shortened, and what stands behind it shows. */
static void long_literals_are_shortened(void **state)
{
    (void)state;
    fixture_open(&f);
    char *text = ms_arena_alloc(&f.arena, 100000, 1);
    memset(text, 'x', 100000);
    memcpy(text + 1021, "\xF0\x9F\x98\x80", 4);
    const ms_expr *s = column(0, "STRING");
    const ms_expr *x = ms_build_text(&f.build, ms_str_make(text, 100000), ms_span_none);
    ms_str wanted = ms_arena_format(&f.arena, "'%.1021s'...(100000 bytes) || a", text);
    check(call("||", x, s, NULL), wanted.ptr);
    x = ms_build_text(&f.build, ms_str_make(text, 1025), ms_span_none);
    wanted = ms_arena_format(&f.arena, "'%.1021s'...(1025 bytes)", text);
    check(x, wanted.ptr);
    x = ms_build_text(&f.build, ms_str_make(text + 2000, 1024), ms_span_none);
    wanted = ms_arena_format(&f.arena, "'%.1024s'", text + 2000);
    check(x, wanted.ptr);
    ms_value bytes = {.type = type_of(&f, "BYTES"), .u.str = ms_str_make(text, 80000)};
    ms_str hex = ms_expr_text(&f.arena, ms_expr_const(&f.arena, &bytes, ms_span_none), NULL);
    assert_true(ms_str_ends_with(hex, ms_str_lit("7878'...(80000 bytes)")));
    assert_int_equal(hex.bytes, 2 + 1024 + 1 + strlen("...(80000 bytes)"));
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parentheses_stand_only_where_needed),
        cmocka_unit_test(functions_are_spelled_as_in_sql),
        cmocka_unit_test(constants_are_literals),
        cmocka_unit_test(endless_texts_are_cut),
        cmocka_unit_test(long_literals_are_shortened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
