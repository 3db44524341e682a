/* SPDX-License-Identifier: Apache-2.0 */
#include "sql_testing.h"

static const print_case prints[] = {
    {"BOOLEAN", NULL},
    {"TINYINT", NULL},
    {"SMALLINT NOT NULL", NULL},
    {"INTEGER", "INT"},
    {"INT NULL", NULL},
    {"BIGINT", NULL},
    {"FLOAT", NULL},
    {"DOUBLE PRECISION", "DOUBLE"},
    {"DECIMAL", NULL},
    {"DECIMAL(10)", NULL},
    {"NUMERIC(10, 2)", "DECIMAL(10, 2)"},
    {"DEC(5,0)", "DECIMAL(5, 0)"},
    {"CHAR", NULL},
    {"CHARACTER(3)", "CHAR(3)"},
    {"CHAR VARYING(4)", "VARCHAR(4)"},
    {"VARCHAR(20)", NULL},
    {"STRING", NULL},
    {"BINARY(4)", NULL},
    {"BINARY VARYING", "VARBINARY"},
    {"VARBINARY(8)", NULL},
    {"BYTES", NULL},
    {"DATE", NULL},
    {"TIME", NULL},
    {"TIME(3) WITHOUT TIME ZONE", "TIME(3)"},
    {"TIMESTAMP", NULL},
    {"TIMESTAMP(3)", NULL},
    {"TIMESTAMP(6) WITHOUT TIME ZONE", "TIMESTAMP(6)"},
    {"TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL", "TIMESTAMP_LTZ(3) NOT NULL"},
    {"TIMESTAMP WITH TIME ZONE", NULL},
    {"TIMESTAMP_LTZ(3)", NULL},
    {"INTERVAL DAY(3) TO SECOND(6)", NULL},
    {"INTERVAL YEAR TO MONTH", NULL},
    {"ARRAY<INT NOT NULL> NOT NULL", NULL},
    {"INT ARRAY", "ARRAY<INT>"},
    {"INT NOT NULL MULTISET NOT NULL ARRAY", "ARRAY<MULTISET<INT NOT NULL> NOT NULL>"},
    {"MULTISET<STRING>", NULL},
    {"MAP<STRING, ARRAY<BIGINT>>", NULL},
    {"ROW<a INT, `b c` STRING NOT NULL 'the b'>", "ROW<`a` INT, `b c` STRING NOT NULL 'the b'>"},
    {"ROW(a INT, b ROW<c DATE>)", "ROW<`a` INT, `b` ROW<`c` DATE>>"},
    {"ROW<>", NULL},
    {"RAW('java.lang.Object', 'AAA=')", NULL},
    {"NULL", NULL},
    {"VARIANT", "`VARIANT`"},
    {"my.db.type NOT NULL", "`my`.`db`.`type` NOT NULL"},
};

static const error_case errors[] = {
    {"SELECT CAST(a AS)", "SYNTAX_ERROR: syntax error at or near \")\"\n"
                          "t:1:17\n"
                          "  SELECT CAST(a AS)\n"
                          "                  ^\n"
                          "detail: expected a type\n"},
    {"SELECT CAST(a AS REAL)", "NOT_SUPPORTED: the type REAL is not supported\n"
                               "t:1:18\n"
                               "  SELECT CAST(a AS REAL)\n"
                               "                   ^^^^\n"
                               "hint: Write FLOAT.\n"},
    {"SELECT CAST(a AS VARCHAR(99999999999))",
     "NUMERIC_OUT_OF_RANGE: the number 99999999999 is too large\n"
     "t:1:26\n"
     "  SELECT CAST(a AS VARCHAR(99999999999))\n"
     "                           ^^^^^^^^^^^\n"},
    {"SELECT CAST(a AS ROW<x>)", "SYNTAX_ERROR: syntax error at or near \">\"\n"
                                 "t:1:23\n"
                                 "  SELECT CAST(a AS ROW<x>)\n"
                                 "                        ^\n"
                                 "detail: expected a type\n"},
    {"SELECT CAST(a AS TIME WITH TIME ZONE)",
     "NOT_SUPPORTED: TIME with a time zone is not supported\n"
     "t:1:23\n"
     "  SELECT CAST(a AS TIME WITH TIME ZONE)\n"
     "                        ^^^^^^^^^^^^^^\n"},
    {"SELECT CAST(a AS TIMESTAMP WITH LOCAL)", "SYNTAX_ERROR: syntax error at or near \")\"\n"
                                               "t:1:38\n"
                                               "  SELECT CAST(a AS TIMESTAMP WITH LOCAL)\n"
                                               "                                       ^\n"
                                               "detail: expected TIME\n"},
    {"SELECT CAST(a AS DECIMAL(1, x))", "SYNTAX_ERROR: syntax error at or near \"x\"\n"
                                        "t:1:29\n"
                                        "  SELECT CAST(a AS DECIMAL(1, x))\n"
                                        "                              ^\n"
                                        "detail: expected an integer\n"},
    {"SELECT CAST(a AS MAP<INT>)", "SYNTAX_ERROR: syntax error at or near \">\"\n"
                                   "t:1:25\n"
                                   "  SELECT CAST(a AS MAP<INT>)\n"
                                   "                          ^\n"
                                   "detail: expected \",\"\n"},
    {"SELECT CAST(a AS RAW('x'))", "SYNTAX_ERROR: syntax error at or near \")\"\n"
                                   "t:1:25\n"
                                   "  SELECT CAST(a AS RAW('x'))\n"
                                   "                          ^\n"
                                   "detail: expected \",\"\n"},
    {"SELECT CAST(a AS STRUCTURED<'x'>)", "NOT_SUPPORTED: the type STRUCTURED is not supported\n"
                                          "t:1:18\n"
                                          "  SELECT CAST(a AS STRUCTURED<'x'>)\n"
                                          "                   ^^^^^^^^^^\n"
                                          "hint: Write ROW<...>.\n"},
    {"SELECT CAST(a AS DATETIME)", "NOT_SUPPORTED: the type DATETIME is not supported\n"
                                   "t:1:18\n"
                                   "  SELECT CAST(a AS DATETIME)\n"
                                   "                   ^^^^^^^^\n"
                                   "hint: Write TIMESTAMP(3).\n"},
    {"SELECT CAST(a AS select)", "SYNTAX_ERROR: syntax error at or near \"select\"\n"
                                 "t:1:18\n"
                                 "  SELECT CAST(a AS select)\n"
                                 "                   ^^^^^^\n"
                                 "detail: expected a type\n"},
};

static void types_print_in_one_spelling(void **state)
{
    (void)state;
    check_prints(PARSE_TYPE, prints, count_of(prints));
}

static void wrong_types_are_reported(void **state)
{
    (void)state;
    check_errors(PARSE_SCRIPT, errors, count_of(errors));
}

static void nesting_ends_at_its_limit(void **state)
{
    (void)state;
    for (uint32_t depth = 15; depth <= 16; depth++) {
        ms_buf buf;
        ms_buf_init(&buf, 4096);
        repeat_text(&buf, "CAST(a AS ", 1);
        repeat_text(&buf, "ARRAY<", depth);
        repeat_text(&buf, "INT", 1);
        repeat_text(&buf, ">", depth);
        repeat_text(&buf, ")", 1);
        ms_status st = parse_failing(PARSE_EXPR, ms_buf_view(&buf));
        assert_int_equal(st.code, depth == 15 ? MS_OK : MS_STATEMENT_TOO_LARGE);
        ms_buf_release(&buf);
    }
    ms_status st = parse_failing(
        PARSE_EXPR, ms_str_lit("CAST(a AS INT ARRAY ARRAY ARRAY ARRAY ARRAY ARRAY ARRAY ARRAY "
                               "ARRAY ARRAY ARRAY ARRAY ARRAY ARRAY ARRAY ARRAY)"));
    assert_string_equal(st.message, "a type nests deeper than the limit of 16");
}

static void types_keep_their_parts(void **state)
{
    (void)state;
    parsed p;
    parse_expr_text("CAST(a AS ROW<x DECIMAL(10, 2) NOT NULL 'note', y MAP<STRING, INT>> NOT NULL)",
                    &p);
    const ms_ast_type *type = ms_ast_cast_of(p.expr)->type;
    assert_int_equal(type->kind, MS_AST_TYPE_ROW);
    assert_int_equal(type->nullability, MS_AST_NULLABILITY_NOT_NULL);
    assert_int_equal(type->field_count, 2);
    assert_str_equal(type->fields[0].comment.text, "note");
    assert_int_equal(type->fields[0].type->precision, 10);
    assert_int_equal(type->fields[0].type->scale, 2);
    assert_span(&p, type->fields[0].type->span, "DECIMAL(10, 2) NOT NULL");
    assert_int_equal(type->fields[1].type->key->kind, MS_AST_TYPE_STRING);
    assert_int_equal(type->fields[1].type->element->precision, MS_AST_UNSET);
    assert_int_equal(type->height, 3);
    ms_arena_release(&p.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_print_in_one_spelling),
        cmocka_unit_test(wrong_types_are_reported),
        cmocka_unit_test(nesting_ends_at_its_limit),
        cmocka_unit_test(types_keep_their_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
