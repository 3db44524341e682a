/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "func/typing.h"

static ms_arena arena;

static int open_arena(void **state)
{
    (void)state;
    ms_arena_init(&arena, 0);
    return 0;
}

static int close_arena(void **state)
{
    (void)state;
    ms_arena_release(&arena);
    return 0;
}

static const ms_type *type_of(const char *text)
{
    const ms_type *type = ms_typing_parse(&arena, ms_str_cstr(text));
    if (type == NULL) {
        fail_msg("\"%s\" is no type", text);
    }
    return type;
}

/* wanted NULL: there is none. */
static void check_type(const ms_type *type, const char *wanted, const char *what)
{
    ms_str text = type != NULL ? ms_type_text(&arena, type) : ms_str_lit("none");
    if (!ms_str_equals(text, ms_str_cstr(wanted != NULL ? wanted : "none"))) {
        fail_msg("%s: %.*s, not %s", what, MS_STR_ARG(text), wanted != NULL ? wanted : "none");
    }
}

static void common_types_are_the_least_restrictive(void **state)
{
    (void)state;
    static const char *const cases[][3] = {
        {"INT NOT NULL", "INT NOT NULL", "INT NOT NULL"},
        {"INT NOT NULL", "INT", "INT"},
        {"INT NOT NULL", "NULL", "INT"},
        {"NULL", "NULL", "NULL"},
        {"TINYINT", "BIGINT", "BIGINT"},
        {"INT", "DECIMAL(2, 2)", "DECIMAL(12, 2)"},
        {"BIGINT", "DECIMAL(2, 2)", "DECIMAL(21, 2)"},
        {"DECIMAL(38, 0)", "DECIMAL(10, 10)", "DECIMAL(38, 0)"},
        {"DECIMAL(10, 2)", "FLOAT", "DOUBLE"},
        {"INT", "FLOAT", "FLOAT"},
        {"FLOAT", "DOUBLE", "DOUBLE"},
        {"CHAR(2)", "CHAR(2)", "CHAR(2)"},
        {"CHAR(2)", "CHAR(3)", "VARCHAR(3)"},
        {"CHAR(2)", "STRING", "STRING"},
        {"BINARY(2)", "BYTES", "BYTES"},
        {"CHAR(2)", "BYTES", NULL},
        {"TIMESTAMP(3)", "TIMESTAMP(6)", "TIMESTAMP(6)"},
        {"TIMESTAMP(3)", "TIMESTAMP_LTZ(0)", "TIMESTAMP_LTZ(3)"},
        {"TIME(0)", "TIME(3)", "TIME(3)"},
        {"DATE", "TIMESTAMP(3)", NULL},
        {"DATE", "STRING", NULL},
        {"BOOLEAN", "INT", NULL},
        {"STRING", "INT", NULL},
        {"INTERVAL MONTH", "INTERVAL SECOND(3)", NULL},
        {"INTERVAL MONTH", "INTERVAL MONTH", "INTERVAL MONTH"},
        {"ARRAY<INT NOT NULL>", "ARRAY<BIGINT>", "ARRAY<BIGINT>"},
        {"ARRAY<INT>", "ARRAY<STRING>", NULL},
        {"MAP<CHAR(1), INT>", "MAP<CHAR(2), INT>", "MAP<VARCHAR(2), INT>"},
        {"ROW<`a` INT, `b` INT>", "ROW<`x` BIGINT, `y` INT>", "ROW<`a` BIGINT, `b` INT>"},
        {"ROW<`a` INT>", "ROW<`a` INT, `b` INT>", NULL},
        {"ARRAY<INT>", "MAP<INT, INT>", NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const ms_type *a = type_of(cases[i][0]);
        const ms_type *b = type_of(cases[i][1]);
        check_type(ms_typing_common2(&arena, a, b), cases[i][2], cases[i][0]);
        if (a->kind != MS_TYPE_ROW) {
            check_type(ms_typing_common2(&arena, b, a), cases[i][2], cases[i][1]);
        }
    }
    const ms_type *three[3] = {type_of("INT"), type_of("BIGINT"), type_of("DECIMAL(2, 2)")};
    check_type(ms_typing_common(&arena, three, 3), "DECIMAL(21, 2)", "three types");
    assert_null(ms_typing_common(&arena, three, 0));
}

static void arithmetic_derives_decimals(void **state)
{
    (void)state;
    static const struct {
        ms_arith op;
        const char *a;
        const char *b;
        const char *result;
    } cases[] = {
        {MS_ARITH_ADD, "INT", "BIGINT", "BIGINT"},
        {MS_ARITH_ADD, "INT NOT NULL", "INT NOT NULL", "INT NOT NULL"},
        {MS_ARITH_ADD, "DECIMAL(5, 2) NOT NULL", "DECIMAL(3, 1) NOT NULL",
         "DECIMAL(6, 2) NOT NULL"},
        {MS_ARITH_ADD, "DECIMAL(38, 8) NOT NULL", "DECIMAL(32, 8) NOT NULL", "DECIMAL(38, 7)"},
        {MS_ARITH_SUB, "INT", "DECIMAL(3, 1)", "DECIMAL(12, 1)"},
        {MS_ARITH_MUL, "BIGINT", "DECIMAL(3, 3)", "DECIMAL(23, 3)"},
        {MS_ARITH_MUL, "DECIMAL(38, 10)", "DECIMAL(38, 10)", "DECIMAL(38, 6)"},
        {MS_ARITH_DIV, "DECIMAL(5, 2)", "DECIMAL(5, 2)", "DECIMAL(13, 8)"},
        {MS_ARITH_DIV, "INT", "INT", "INT"},
        {MS_ARITH_DIV, "FLOAT", "INT", "FLOAT"},
        {MS_ARITH_MOD, "DECIMAL(5, 2)", "DECIMAL(3, 1)", "DECIMAL(4, 2)"},
        {MS_ARITH_MOD, "DECIMAL(5, 0)", "DECIMAL(2, 0)", "DECIMAL(2, 0)"},
        {MS_ARITH_MOD, "BIGINT", "TINYINT", "TINYINT"},
        {MS_ARITH_MOD, "DOUBLE", "INT", NULL},
        {MS_ARITH_MUL, "DECIMAL(5, 2)", "DOUBLE", "DOUBLE"},
        {MS_ARITH_ADD, "STRING", "INT", NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        check_type(ms_typing_arith(&arena, cases[i].op, type_of(cases[i].a), type_of(cases[i].b)),
                   cases[i].result, cases[i].a);
    }
}

static void comparison_stays_within_families(void **state)
{
    (void)state;
    static const struct {
        const char *a;
        const char *b;
        bool equality;
        bool order;
    } cases[] = {
        {"INT", "DOUBLE", true, true},
        {"INT", "STRING", false, false},
        {"STRING", "CHAR(3)", true, true},
        {"BOOLEAN", "BOOLEAN", true, true},
        {"BOOLEAN", "INT", false, false},
        {"DATE", "TIMESTAMP(3)", true, true},
        {"TIMESTAMP(3)", "TIMESTAMP_LTZ(3)", true, true},
        {"DATE", "STRING", true, true},
        {"TIME(0)", "DATE", false, false},
        {"INTERVAL MONTH", "INTERVAL SECOND(3)", false, false},
        {"ARRAY<INT>", "ARRAY<BIGINT>", true, false},
        {"MAP<INT, INT>", "MAP<INT, INT>", true, false},
        {"ROW<`a` INT>", "ROW<`b` STRING>", false, false},
        {"INT", "NULL", true, true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const ms_type *a = type_of(cases[i].a);
        const ms_type *b = type_of(cases[i].b);
        assert_int_equal(ms_typing_is_comparable(a, b, MS_COMPARE_EQUALITY), cases[i].equality);
        assert_int_equal(ms_typing_is_comparable(a, b, MS_COMPARE_ORDER), cases[i].order);
    }
}

static void implicit_casts_only_widen(void **state)
{
    (void)state;
    static const struct {
        const char *from;
        const char *to;
        bool implicit;
    } cases[] = {
        {"INT", "BIGINT", true},
        {"BIGINT", "INT", false},
        {"INT", "DECIMAL(3, 1)", true},
        {"DECIMAL(10, 2)", "INT", false},
        {"DOUBLE", "DECIMAL(5, 2)", true},
        {"DOUBLE", "FLOAT", false},
        {"CHAR(3)", "STRING", true},
        {"STRING", "CHAR(3)", false},
        {"STRING", "INT", false},
        {"INT", "STRING", false},
        {"TIMESTAMP(3)", "DATE", true},
        {"DATE", "TIMESTAMP(3)", false},
        {"TIMESTAMP(3)", "TIMESTAMP_LTZ(6)", true},
        {"INT", "INT NOT NULL", false},
        {"INT NOT NULL", "INT", true},
        {"NULL", "INT", true},
        {"NULL", "INT NOT NULL", false},
        {"ARRAY<INT>", "ARRAY<BIGINT>", true},
        {"ROW<`a` INT>", "ROW<`x` BIGINT>", true},
        {"ROW<`a` INT>", "ROW<`x` INT NOT NULL>", false},
        {"BOOLEAN", "INT", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(ms_typing_casts_implicitly(type_of(cases[i].from), type_of(cases[i].to)),
                         cases[i].implicit);
    }
}

static void explicit_casts_have_a_class(void **state)
{
    (void)state;
    static const struct {
        const char *from;
        const char *to;
        ms_cast_class class;
    } cases[] = {
        {"INT", "STRING", MS_CAST_INFALLIBLE},
        {"STRING", "INT", MS_CAST_FALLIBLE},
        {"BYTES", "STRING", MS_CAST_FALLIBLE},
        {"STRING", "BYTES", MS_CAST_INFALLIBLE},
        {"INT", "DATE", MS_CAST_NONE},
        {"BOOLEAN", "DATE", MS_CAST_NONE},
        {"INT", "INTERVAL MONTH", MS_CAST_INFALLIBLE},
        {"BIGINT", "INTERVAL MONTH", MS_CAST_NONE},
        {"TIMESTAMP(9)", "STRING", MS_CAST_UNBUILT},
        {"NULL", "INT", MS_CAST_INFALLIBLE},
        {"ARRAY<STRING>", "ARRAY<INT>", MS_CAST_FALLIBLE},
        {"ARRAY<INT>", "ARRAY<STRING>", MS_CAST_INFALLIBLE},
        {"ROW<`a` INT>", "ROW<`a` INT NOT NULL>", MS_CAST_FALLIBLE},
        {"ARRAY<INT>", "INT", MS_CAST_NONE},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(ms_typing_cast_class(type_of(cases[i].from), type_of(cases[i].to)),
                         cases[i].class);
    }
}

static void literals_have_the_type_of_their_digits(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"0", "INT NOT NULL"},
        {"2147483647", "INT NOT NULL"},
        {"2147483648", "BIGINT NOT NULL"},
        {"9223372036854775807", "BIGINT NOT NULL"},
        {"9223372036854775808", NULL},
        {"1.50", "DECIMAL(3, 2) NOT NULL"},
        {".5", "DECIMAL(1, 1) NOT NULL"},
        {"0.05", "DECIMAL(2, 2) NOT NULL"},
        {"5.", "INT NOT NULL"},
        {"0.908", "DECIMAL(3, 3) NOT NULL"},
        {".", NULL},
        {"", NULL},
        {"1x", NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        check_type(ms_typing_exact_literal(&arena, ms_str_cstr(cases[i][0])), cases[i][1],
                   cases[i][0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(common_types_are_the_least_restrictive),
        cmocka_unit_test(arithmetic_derives_decimals),
        cmocka_unit_test(comparison_stays_within_families),
        cmocka_unit_test(implicit_casts_only_widen),
        cmocka_unit_test(explicit_casts_have_a_class),
        cmocka_unit_test(literals_have_the_type_of_their_digits),
    };
    return cmocka_run_group_tests(tests, open_arena, close_arena);
}
