/* SPDX-License-Identifier: Apache-2.0 */
#include "sql_testing.h"

static const print_case prints[] = {
    {"1", NULL},
    {"2147483648", NULL},
    {"1.50", NULL},
    {".5", NULL},
    {"5.", NULL},
    {"1e0", NULL},
    {"1.5E-3", NULL},
    {"'it''s'", NULL},
    {"''", NULL},
    {"U&'\\00e9\\D83D\\DE00 \\\\'", "'\303\251\360\237\230\200 \\'"},
    {"u&'!0041' UESCAPE '!'", "'A'"},
    {"X'0aFf'", "X'0AFF'"},
    {"x''", "X''"},
    {"'a'", NULL},
    {"TRUE", NULL},
    {"false", "FALSE"},
    {"UNKNOWN", NULL},
    {"NULL", NULL},
    {"DATE '2024-01-31'", NULL},
    {"TIME '12:00:00.5'", NULL},
    {"TIMESTAMP '2024-01-31 12:00:00'", NULL},
    {"INTERVAL '1' DAY", NULL},
    {"INTERVAL -'1:30' HOUR TO MINUTE", NULL},
    {"INTERVAL +'3-2' YEAR(4) TO MONTH", "INTERVAL '3-2' YEAR(4) TO MONTH"},
    {"INTERVAL '1.5' SECOND(3, 2)", NULL},
    {"INTERVAL '1 2:03:04.5' DAY(2) TO SECOND(3)", NULL},
    {"INTERVAL '90' MINUTES", "INTERVAL '90' MINUTE"},
    {"INTERVAL 5 DAY", NULL},
    {"INTERVAL -(a + 1) HOUR", "INTERVAL -(`a` + 1) HOUR"},
    {"INTERVAL t.n MINUTE", "INTERVAL `t`.`n` MINUTE"},
    {"a", "`a`"},
    {"a.b.c", "`a`.`b`.`c`"},
    {"`select`.`a``b`", NULL},
    {"gr\303\266\303\237e", "`gr\303\266\303\237e`"},
    {"f(x).a.b", "f(`x`).`a`.`b`"},
    {"(r).a", "(`r`).`a`"},
    {"a[1].b[i + 1]", "`a`[1].`b`[`i` + 1]"},
    {"CASE WHEN a THEN 1 WHEN b THEN 2 ELSE 3 END",
     "CASE WHEN `a` THEN 1 WHEN `b` THEN 2 ELSE 3 END"},
    {"CASE x WHEN 1, 2 THEN 'a' WHEN 3 THEN 'b' END",
     "CASE `x` WHEN 1, 2 THEN 'a' WHEN 3 THEN 'b' END"},
    {"CAST(a AS BIGINT)", "CAST(`a` AS BIGINT)"},
    {"TRY_CAST(a AS ROW<x INT NOT NULL, y STRING>)",
     "TRY_CAST(`a` AS ROW<`x` INT NOT NULL, `y` STRING>)"},
    {"ROW(1)", NULL},
    {"(1, 'a', b)", "ROW(1, 'a', `b`)"},
    {"ARRAY[1, 2]", NULL},
    {"MAP['a', 1, 'b', 2]", NULL},
    {"DESCRIPTOR(ts)", "DESCRIPTOR(`ts`)"},
    {"'a'\n'b' -- two\n'c'", "'abc'"},
    {"((a))", "`a`"},
    {"INTERVAL '1' WEEK", NULL},
    {"INTERVAL (f(x)) MONTH", "INTERVAL (f(`x`)) MONTH"},
    {"INTERVAL ('1') DAY", NULL},
    {"CASE a WHEN 1 THEN CASE WHEN b THEN c END ELSE d END",
     "CASE `a` WHEN 1 THEN CASE WHEN `b` THEN `c` END ELSE `d` END"},
    {"ARRAY[ARRAY[1], ARRAY[2]][1][2]", NULL},
    {"(1, 2).x", "ROW(1, 2).`x`"},
    {"1[2]", NULL},
    {"(5).a", "(5).`a`"},
    {"CAST(a AS INTERVAL DAY TO SECOND(3))", "CAST(`a` AS INTERVAL DAY TO SECOND(3))"},
    {"`a b`.`c.d`", NULL},
    {"_a$1", "`_a$1`"},
    {"map", "`map`"},
    {"`map`[1]", NULL},
};

static const error_case errors[] = {
    {"SELECT date FROM t", "SYNTAX_ERROR: syntax error at or near \"date\"\n"
                           "t:1:8\n"
                           "  SELECT date FROM t\n"
                           "         ^^^^\n"
                           "detail: expected an expression\n"
                           "hint: date is a reserved word; a name like it is written `date`.\n"},
    {"SELECT t.order FROM t",
     "SYNTAX_ERROR: syntax error at or near \"order\"\n"
     "t:1:10\n"
     "  SELECT t.order FROM t\n"
     "           ^^^^^\n"
     "detail: expected a name\n"
     "hint: order is a reserved word; a name like it is written `order`.\n"},
    {"SELECT order FROM t", "SYNTAX_ERROR: syntax error at or near \"order\"\n"
                            "t:1:8\n"
                            "  SELECT order FROM t\n"
                            "         ^^^^^\n"
                            "detail: expected an expression\n"
                            "hint: order is a reserved word; a name like it is written `order`.\n"},
    {"SELECT X'0'", "INVALID_LITERAL: a binary string has an odd number of hexadecimal digits\n"
                    "t:1:8\n"
                    "  SELECT X'0'\n"
                    "         ^^^^\n"},
    {"SELECT X'0g'",
     "INVALID_LITERAL: a binary string has a character that is no hexadecimal digit\n"
     "t:1:8\n"
     "  SELECT X'0g'\n"
     "         ^^^^^\n"
     "hint: Write two digits 0-9, A-F for each byte, without blanks.\n"},
    {"SELECT U&'\\00'", "INVALID_LITERAL: a U& string has an escape that is no Unicode character\n"
                        "t:1:8\n"
                        "  SELECT U&'\\00'\n"
                        "         ^^^^^^^\n"
                        "hint: Write \\XXXX with four hexadecimal digits.\n"},
    {"SELECT U&'\\D83D'",
     "INVALID_LITERAL: a U& string has an escape that is no Unicode character\n"
     "t:1:8\n"
     "  SELECT U&'\\D83D'\n"
     "         ^^^^^^^^^\n"
     "hint: Write \\XXXX with four hexadecimal digits.\n"},
    {"SELECT U&'a' UESCAPE 'ab'",
     "INVALID_LITERAL: UESCAPE takes one character that is no digit, plus, quote or blank\n"
     "t:1:22\n"
     "  SELECT U&'a' UESCAPE 'ab'\n"
     "                       ^^^^\n"},
    {"SELECT 'a' 'b'", "SYNTAX_ERROR: syntax error at or near \"'b'\"\n"
                       "t:1:12\n"
                       "  SELECT 'a' 'b'\n"
                       "             ^^^\n"
                       "detail: expected an operator or \",\"\n"
                       "hint: Strings are joined by || or by a line feed between them.\n"},
    {"SELECT INTERVAL '1'",
     "SYNTAX_ERROR: syntax error at the end of the text\n"
     "t:1:20\n"
     "  SELECT INTERVAL '1'\n"
     "                     ^\n"
     "detail: expected YEAR, QUARTER, MONTH, WEEK, DAY, HOUR, MINUTE or SECOND\n"},
    {"SELECT INTERVAL '1' FORTNIGHT",
     "SYNTAX_ERROR: syntax error at or near \"FORTNIGHT\"\n"
     "t:1:21\n"
     "  SELECT INTERVAL '1' FORTNIGHT\n"
     "                      ^^^^^^^^^\n"
     "detail: expected YEAR, QUARTER, MONTH, WEEK, DAY, HOUR, MINUTE or SECOND\n"},
    {"SELECT INTERVAL '1' HOUR TO DAY",
     "SYNTAX_ERROR: an interval cannot range from HOUR to DAY\n"
     "t:1:21\n"
     "  SELECT INTERVAL '1' HOUR TO DAY\n"
     "                      ^^^^^^^^^^^\n"
     "hint: Ranges are YEAR TO MONTH, and DAY, HOUR or MINUTE TO a smaller unit down to SECOND.\n"},
    {"SELECT INTERVAL a DAY TO HOUR", "SYNTAX_ERROR: syntax error at or near \"TO\"\n"
                                      "t:1:23\n"
                                      "  SELECT INTERVAL a DAY TO HOUR\n"
                                      "                        ^^\n"
                                      "detail: expected the end of the statement\n"},
    {"SELECT CASE a WHEN 1 THEN 2", "SYNTAX_ERROR: syntax error at the end of the text\n"
                                    "t:1:28\n"
                                    "  SELECT CASE a WHEN 1 THEN 2\n"
                                    "                             ^\n"
                                    "detail: expected WHEN, ELSE or END\n"},
    {"SELECT CASE END", "SYNTAX_ERROR: syntax error at or near \"END\"\n"
                        "t:1:13\n"
                        "  SELECT CASE END\n"
                        "              ^^^\n"
                        "detail: expected an expression\n"
                        "hint: END is a reserved word; a name like it is written `END`.\n"},
    {"SELECT CASE WHEN a THEN 1 ELSE 2", "SYNTAX_ERROR: syntax error at the end of the text\n"
                                         "t:1:33\n"
                                         "  SELECT CASE WHEN a THEN 1 ELSE 2\n"
                                         "                                  ^\n"
                                         "detail: expected END\n"},
    {"SELECT CAST(a INT)", "SYNTAX_ERROR: syntax error at or near \"INT\"\n"
                           "t:1:15\n"
                           "  SELECT CAST(a INT)\n"
                           "                ^^^\n"
                           "detail: expected AS\n"},
    {"SELECT CAST(a AS INT FORMAT 'x')",
     "NOT_SUPPORTED: CAST with FORMAT is not supported\n"
     "t:1:22\n"
     "  SELECT CAST(a AS INT FORMAT 'x')\n"
     "                       ^^^^^^\n"
     "hint: Use TO_TIMESTAMP(text, format) or DATE_FORMAT(time, format).\n"},
    {"SELECT MAP['a']",
     "SYNTAX_ERROR: a MAP has a key without a value\n"
     "t:1:8\n"
     "  SELECT MAP['a']\n"
     "         ^^^^^^^^\n"
     "hint: Write MAP[key, value, key, value]; a column of this name is written `map`.\n"},
    {"SELECT ARRAY[]", "SYNTAX_ERROR: syntax error at or near \"]\"\n"
                       "t:1:14\n"
                       "  SELECT ARRAY[]\n"
                       "               ^\n"
                       "detail: expected an expression\n"},
    {"SELECT MULTISET[1]", "NOT_SUPPORTED: the constructor MULTISET is not supported\n"
                           "t:1:8\n"
                           "  SELECT MULTISET[1]\n"
                           "         ^^^^^^^^\n"
                           "hint: Use ARRAY[...], or the aggregate COLLECT.\n"},
    {"SELECT UNIQUE (SELECT 1)", "NOT_SUPPORTED: the predicate UNIQUE is not supported\n"
                                 "t:1:8\n"
                                 "  SELECT UNIQUE (SELECT 1)\n"
                                 "         ^^^^^^\n"},
    {"SELECT DEFAULT", "NOT_SUPPORTED: DEFAULT as a value is not supported\n"
                       "t:1:8\n"
                       "  SELECT DEFAULT\n"
                       "         ^^^^^^^\n"
                       "hint: Leave the column out of the list, or write NULL.\n"},
    {"SELECT EXISTS a", "SYNTAX_ERROR: syntax error at or near \"a\"\n"
                        "t:1:15\n"
                        "  SELECT EXISTS a\n"
                        "                ^\n"
                        "detail: expected \"(\"\n"},
    {"SELECT EXISTS (a)", "SYNTAX_ERROR: syntax error at or near \"a\"\n"
                          "t:1:16\n"
                          "  SELECT EXISTS (a)\n"
                          "                 ^\n"
                          "detail: expected SELECT, VALUES, TABLE, WITH or \"(\"\n"},
    {"SELECT ROW a", "SYNTAX_ERROR: syntax error at or near \"a\"\n"
                     "t:1:12\n"
                     "  SELECT ROW a\n"
                     "             ^\n"
                     "detail: expected \"(\"\n"},
    {"SELECT (a).1", "SYNTAX_ERROR: syntax error at or near \".1\"\n"
                     "t:1:11\n"
                     "  SELECT (a).1\n"
                     "            ^^\n"
                     "detail: expected the end of the statement\n"},
    {"SELECT a[1", "SYNTAX_ERROR: syntax error at the end of the text\n"
                   "t:1:11\n"
                   "  SELECT a[1\n"
                   "            ^\n"
                   "detail: expected \"]\"\n"},
    {"SELECT INTERVAL", "SYNTAX_ERROR: syntax error at the end of the text\n"
                        "t:1:16\n"
                        "  SELECT INTERVAL\n"
                        "                 ^\n"
                        "detail: expected a string, a number, a name or \"(\"\n"},
    {"SELECT INTERVAL '1' DAY(2", "SYNTAX_ERROR: syntax error at the end of the text\n"
                                  "t:1:26\n"
                                  "  SELECT INTERVAL '1' DAY(2\n"
                                  "                           ^\n"
                                  "detail: expected \")\"\n"},
    {"SELECT ARRAY(SELECT 1)", "NOT_SUPPORTED: ARRAY of a query is not supported\n"
                               "t:1:8\n"
                               "  SELECT ARRAY(SELECT 1)\n"
                               "         ^^^^^\n"
                               "hint: Aggregate with ARRAY_AGG.\n"},
    {"SELECT CASE WHEN a, b THEN 1 END", "SYNTAX_ERROR: syntax error at or near \",\"\n"
                                         "t:1:19\n"
                                         "  SELECT CASE WHEN a, b THEN 1 END\n"
                                         "                    ^\n"
                                         "detail: expected THEN\n"},
};

static void primaries_print_as_read(void **state)
{
    (void)state;
    check_prints(PARSE_EXPR, prints, count_of(prints));
}

static void wrong_primaries_are_reported(void **state)
{
    (void)state;
    check_errors(PARSE_SCRIPT, errors, count_of(errors));
}

static void literals_keep_their_digits_and_lose_their_quotes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        ms_ast_literal_type type;
        const char *value;
    } cases[] = {
        {"007", MS_AST_LITERAL_INTEGER, "007"},
        {"1.50", MS_AST_LITERAL_DECIMAL, "1.50"},
        {"5.", MS_AST_LITERAL_DECIMAL, "5."},
        {".5", MS_AST_LITERAL_DECIMAL, ".5"},
        {"1.e-3", MS_AST_LITERAL_DOUBLE, "1.e-3"},
        {"'a''b'", MS_AST_LITERAL_STRING, "a'b"},
        {"'a'\n'b'\n'c'", MS_AST_LITERAL_STRING, "abc"},
        {"U&'\\0041\\00e9'", MS_AST_LITERAL_STRING, "A\xC3\xA9"},
        {"U&'x!0041' UESCAPE '!'\n'y'", MS_AST_LITERAL_STRING, "xAy"},
        {"X'414a'", MS_AST_LITERAL_BINARY, "AJ"},
        {"TIMESTAMP '2024-01-01 00:00:00'", MS_AST_LITERAL_TIMESTAMP, "2024-01-01 00:00:00"},
        {"DATE 'no date'", MS_AST_LITERAL_DATE, "no date"},
        {"UNKNOWN", MS_AST_LITERAL_UNKNOWN, ""},
    };
    for (size_t i = 0; i < count_of(cases); i++) {
        parsed p;
        parse_expr_text(cases[i].text, &p);
        const ms_ast_literal *literal = ms_ast_literal_of(p.expr);
        assert_int_equal(literal->type, cases[i].type);
        assert_str_equal(literal->text, cases[i].value);
        assert_span(&p, p.expr->span, cases[i].text);
        ms_arena_release(&p.arena);
    }
}

static void interval_qualifiers_keep_what_was_written(void **state)
{
    (void)state;
    parsed p;
    parse_expr_text("INTERVAL -'1 2' DAYS(3) TO HOUR", &p);
    const ms_ast_literal *literal = ms_ast_literal_of(p.expr);
    assert_true(literal->negative);
    assert_int_equal(literal->qualifier.start, MS_AST_UNIT_DAY);
    assert_int_equal(literal->qualifier.end, MS_AST_UNIT_HOUR);
    assert_int_equal(literal->qualifier.precision, 3);
    assert_int_equal(literal->qualifier.fraction, MS_AST_UNSET);
    assert_span(&p, literal->qualifier.span, "DAYS(3) TO HOUR");
    ms_arena_release(&p.arena);
    parse_expr_text("INTERVAL -a.b SECOND(2, 3)", &p);
    const ms_ast_interval *interval = ms_ast_interval_of(p.expr);
    assert_true(interval->negative);
    assert_int_equal(interval->operand->kind, MS_AST_NAME);
    assert_int_equal(interval->qualifier.precision, 2);
    assert_int_equal(interval->qualifier.fraction, 3);
    ms_arena_release(&p.arena);
}

static void a_dotted_name_is_one_node_and_a_field_is_another(void **state)
{
    (void)state;
    parsed p;
    parse_expr_text("a.`b c`.d", &p);
    const ms_ast_path *path = &ms_ast_name_of(p.expr)->path;
    assert_int_equal(path->count, 3);
    assert_str_equal(path->parts[1].text, "b c");
    assert_span(&p, path->parts[1].span, "`b c`");
    ms_arena_release(&p.arena);
    parse_expr_text("a[1].b", &p);
    const ms_ast_field *field = ms_ast_field_of(p.expr);
    assert_str_equal(field->field.text, "b");
    assert_span(&p, field->operand->span, "a[1]");
    ms_arena_release(&p.arena);
}

static void case_keeps_lists_of_conditions(void **state)
{
    (void)state;
    parsed p;
    parse_expr_text("CASE x WHEN 1, 2 THEN 'a' END", &p);
    const ms_ast_case *choice = ms_ast_case_of(p.expr);
    assert_non_null(choice->operand);
    assert_int_equal(choice->when_count, 1);
    assert_int_equal(choice->whens[0].condition_count, 2);
    assert_null(choice->otherwise);
    ms_arena_release(&p.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(primaries_print_as_read),
        cmocka_unit_test(wrong_primaries_are_reported),
        cmocka_unit_test(literals_keep_their_digits_and_lose_their_quotes),
        cmocka_unit_test(interval_qualifiers_keep_what_was_written),
        cmocka_unit_test(a_dotted_name_is_one_node_and_a_field_is_another),
        cmocka_unit_test(case_keeps_lists_of_conditions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
