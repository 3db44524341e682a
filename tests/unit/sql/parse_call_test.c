/* SPDX-License-Identifier: Apache-2.0 */
#include "sql_testing.h"

static const print_case prints[] = {
    {"f()", NULL},
    {"f(a, b)", "f(`a`, `b`)"},
    {"cat.db.f(a)", "`cat`.`db`.`f`(`a`)"},
    {"COUNT(*)", NULL},
    {"count(DISTINCT a, b)", "count(DISTINCT `a`, `b`)"},
    {"SUM(ALL x)", "SUM(`x`)"},
    {"SUM(x) FILTER (WHERE x > 0)", "SUM(`x`) FILTER (WHERE `x` > 0)"},
    {"LAG(x, 1) IGNORE NULLS OVER w", "LAG(`x`, 1) IGNORE NULLS OVER `w`"},
    {"ARRAY_AGG(x RESPECT NULLS)", "ARRAY_AGG(`x`) RESPECT NULLS"},
    {"ROW_NUMBER() OVER (PARTITION BY a, b ORDER BY c DESC NULLS LAST, d)",
     "ROW_NUMBER() OVER (PARTITION BY `a`, `b` ORDER BY `c` DESC NULLS LAST, `d`)"},
    {"SUM(x) OVER (w ORDER BY ts ROWS UNBOUNDED PRECEDING)",
     "SUM(`x`) OVER (`w` ORDER BY `ts` ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)"},
    {"SUM(x) OVER (ORDER BY ts RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW)",
     "SUM(`x`) OVER (ORDER BY `ts` RANGE BETWEEN INTERVAL '1' HOUR PRECEDING AND CURRENT ROW)"},
    {"SUM(x) OVER (ORDER BY ts ROWS BETWEEN 2 FOLLOWING AND UNBOUNDED FOLLOWING)",
     "SUM(`x`) OVER (ORDER BY `ts` ROWS BETWEEN 2 FOLLOWING AND UNBOUNDED FOLLOWING)"},
    {"f(a => 1, `OFFSET` => INTERVAL '1' DAY)", NULL},
    {"CURRENT_DATE", NULL},
    {"LOCALTIMESTAMP(3)", NULL},
    {"PROCTIME()", NULL},
    {"SUBSTRING(x FROM 2)", "SUBSTRING(`x`, 2)"},
    {"SUBSTRING(x FROM 2 FOR 3)", "SUBSTRING(`x`, 2, 3)"},
    {"SUBSTRING(x, 2, 3)", "SUBSTRING(`x`, 2, 3)"},
    {"POSITION('a' || 'b' IN x)", "POSITION('a' || 'b' IN `x`)"},
    {"POSITION('a' IN x FROM 2)", "POSITION('a' IN `x` FROM 2)"},
    {"TRIM(x)", "TRIM(BOTH ' ' FROM `x`)"},
    {"TRIM('ab' FROM x)", "TRIM(BOTH 'ab' FROM `x`)"},
    {"TRIM(LEADING FROM x)", "TRIM(LEADING ' ' FROM `x`)"},
    {"TRIM(TRAILING 'x' FROM y)", "TRIM(TRAILING 'x' FROM `y`)"},
    {"EXTRACT(DAY FROM ts)", "EXTRACT(DAY FROM `ts`)"},
    {"EXTRACT(EPOCH FROM ts - a)", "EXTRACT(EPOCH FROM `ts` - `a`)"},
    {"CEIL(x)", "CEIL(`x`)"},
    {"CEIL(ts TO HOUR)", "CEIL(`ts` TO HOUR)"},
    {"FLOOR(ts TO WEEK)", "FLOOR(`ts` TO WEEK)"},
    {"OVERLAY(x PLACING 'y' FROM 2 FOR 3)", "OVERLAY(`x` PLACING 'y' FROM 2 FOR 3)"},
    {"TIMESTAMPADD(HOUR, 1, ts)", "TIMESTAMPADD(HOUR, 1, `ts`)"},
    {"TIMESTAMPDIFF(SQL_TSI_DAY, a, b)", "TIMESTAMPDIFF(DAY, `a`, `b`)"},
    {"`CEIL`(x, y)", "`CEIL`(`x`, `y`)"},
    {"`my func`(x)", "`my func`(`x`)"},
    {"IF(a, b, c)", "IF(`a`, `b`, `c`)"},
    {"LEFT(x, 2)", "LEFT(`x`, 2)"},
    {"`descriptor`(a)", "`descriptor`(`a`)"},
    {"`TRIM`(a, b)", "`TRIM`(`a`, `b`)"},
    {"`substring`(x)", "`substring`(`x`)"},
    {"`a`.`b`(c)", "`a`.`b`(`c`)"},
    {"`select`(1)", NULL},
    {"COUNT(*) FILTER (WHERE a) OVER (PARTITION BY b)",
     "COUNT(*) FILTER (WHERE `a`) OVER (PARTITION BY `b`)"},
    {"f(x) RESPECT NULLS", "f(`x`) RESPECT NULLS"},
    {"SUM(x) OVER (ROWS 1 FOLLOWING)", "SUM(`x`) OVER (ROWS BETWEEN 1 FOLLOWING AND CURRENT ROW)"},
    {"NTH_VALUE(x, 2) OVER (PARTITION BY a RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
     "NTH_VALUE(`x`, 2) OVER (PARTITION BY `a` RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)"},
    {"USER", NULL},
    {"JSON_VALUE(a, '$.b')", "JSON_VALUE(`a`, '$.b')"},
    {"f(TABLE t, DESCRIPTOR(a, b))", "f(TABLE `t`, DESCRIPTOR(`a`, `b`))"},
    {"EXTRACT(ISODOW FROM DATE '2024-01-01')", NULL},
    {"TRIM(a || b)", "TRIM(BOTH ' ' FROM `a` || `b`)"},
};

static const error_case errors[] = {
    {"SELECT EXTRACT(FORTNIGHT FROM a)", "SYNTAX_ERROR: syntax error at or near \"FORTNIGHT\"\n"
                                         "t:1:16\n"
                                         "  SELECT EXTRACT(FORTNIGHT FROM a)\n"
                                         "                 ^^^^^^^^^\n"
                                         "detail: expected a unit of time\n"},
    {"SELECT POSITION('a', b)", "SYNTAX_ERROR: syntax error at or near \",\"\n"
                                "t:1:20\n"
                                "  SELECT POSITION('a', b)\n"
                                "                     ^\n"
                                "detail: expected IN\n"},
    {"SELECT TRIM(BOTH 'a')", "SYNTAX_ERROR: syntax error at or near \")\"\n"
                              "t:1:21\n"
                              "  SELECT TRIM(BOTH 'a')\n"
                              "                      ^\n"
                              "detail: expected FROM\n"},
    {"SELECT SUBSTRING(a)", "SYNTAX_ERROR: syntax error at or near \")\"\n"
                            "t:1:19\n"
                            "  SELECT SUBSTRING(a)\n"
                            "                    ^\n"
                            "detail: expected FROM or \",\"\n"},
    {"SELECT CURRENT_DATE()", "SYNTAX_ERROR: syntax error at or near \")\"\n"
                              "t:1:21\n"
                              "  SELECT CURRENT_DATE()\n"
                              "                      ^\n"
                              "detail: expected a precision\n"
                              "hint: CURRENT_DATE is written without parentheses.\n"},
    {"SELECT f(a => )", "SYNTAX_ERROR: syntax error at or near \")\"\n"
                        "t:1:15\n"
                        "  SELECT f(a => )\n"
                        "                ^\n"
                        "detail: expected an expression\n"},
    {"SELECT f(OFFSET => 1)",
     "SYNTAX_ERROR: syntax error at or near \"OFFSET\"\n"
     "t:1:10\n"
     "  SELECT f(OFFSET => 1)\n"
     "           ^^^^^^\n"
     "detail: expected the name of an argument\n"
     "hint: OFFSET is a reserved word; a name like it is written `OFFSET`.\n"},
    {"SELECT COUNT(DISTINCT)", "SYNTAX_ERROR: syntax error at or near \")\"\n"
                               "t:1:22\n"
                               "  SELECT COUNT(DISTINCT)\n"
                               "                       ^\n"
                               "detail: expected an expression\n"},
    {"SELECT SUM(x) OVER (PARTITION a)", "SYNTAX_ERROR: syntax error at or near \"a\"\n"
                                         "t:1:31\n"
                                         "  SELECT SUM(x) OVER (PARTITION a)\n"
                                         "                                ^\n"
                                         "detail: expected BY\n"},
    {"SELECT SUM(x) OVER (ORDER BY a ROWS BETWEEN 1 AND 2)",
     "SYNTAX_ERROR: syntax error at or near \")\"\n"
     "t:1:52\n"
     "  SELECT SUM(x) OVER (ORDER BY a ROWS BETWEEN 1 AND 2)\n"
     "                                                     ^\n"
     "detail: expected PRECEDING or FOLLOWING\n"},
    {"SELECT SUM(x) OVER (ROWS 1 PRECEDING EXCLUDE TIES)",
     "NOT_SUPPORTED: a frame with EXCLUDE is not supported\n"
     "t:1:38\n"
     "  SELECT SUM(x) OVER (ROWS 1 PRECEDING EXCLUDE TIES)\n"
     "                                       ^^^^^^^\n"},
    {"SELECT ARRAY_AGG(x ORDER BY y)",
     "NOT_SUPPORTED: ORDER BY inside an aggregate is not supported\n"
     "t:1:20\n"
     "  SELECT ARRAY_AGG(x ORDER BY y)\n"
     "                     ^^^^^\n"},
    {"SELECT LISTAGG(x) WITHIN GROUP (ORDER BY y)",
     "NOT_SUPPORTED: WITHIN GROUP is not supported\n"
     "t:1:19\n"
     "  SELECT LISTAGG(x) WITHIN GROUP (ORDER BY y)\n"
     "                    ^^^^^^\n"},
    {"SELECT JSON_VALUE(a, '$.b' RETURNING INT)",
     "NOT_SUPPORTED: this form of JSON_VALUE is not supported\n"
     "t:1:28\n"
     "  SELECT JSON_VALUE(a, '$.b' RETURNING INT)\n"
     "                             ^^^^^^^^^\n"},
    {"SELECT OVERLAY(a FROM 1)", "SYNTAX_ERROR: syntax error at or near \"FROM\"\n"
                                 "t:1:18\n"
                                 "  SELECT OVERLAY(a FROM 1)\n"
                                 "                   ^^^^\n"
                                 "detail: expected PLACING\n"},
    {"SELECT TIMESTAMPADD(1, 2, 3)", "SYNTAX_ERROR: syntax error at or near \"1\"\n"
                                     "t:1:21\n"
                                     "  SELECT TIMESTAMPADD(1, 2, 3)\n"
                                     "                      ^\n"
                                     "detail: expected a unit of time\n"},
    {"SELECT CURRENT_TIMESTAMP()", "SYNTAX_ERROR: syntax error at or near \")\"\n"
                                   "t:1:26\n"
                                   "  SELECT CURRENT_TIMESTAMP()\n"
                                   "                           ^\n"
                                   "detail: expected a precision\n"
                                   "hint: CURRENT_TIMESTAMP is written without parentheses.\n"},
    {"SELECT f(a b)", "SYNTAX_ERROR: syntax error at or near \"b\"\n"
                      "t:1:12\n"
                      "  SELECT f(a b)\n"
                      "             ^\n"
                      "detail: expected \",\" or \")\"\n"
                      "hint: Perhaps a comma is missing before it.\n"},
    {"SELECT f(a", "SYNTAX_ERROR: syntax error at the end of the text\n"
                   "t:1:11\n"
                   "  SELECT f(a\n"
                   "            ^\n"
                   "detail: expected \",\" or \")\"\n"},
    {"SELECT SUM(a) OVER", "SYNTAX_ERROR: syntax error at the end of the text\n"
                           "t:1:19\n"
                           "  SELECT SUM(a) OVER\n"
                           "                    ^\n"
                           "detail: expected the name of a window or \"(\"\n"},
    {"SELECT SUM(a) OVER (GROUPS 1 PRECEDING)",
     "NOT_SUPPORTED: a frame of GROUPS is not supported\n"
     "t:1:21\n"
     "  SELECT SUM(a) OVER (GROUPS 1 PRECEDING)\n"
     "                      ^^^^^^\n"
     "hint: Use ROWS or RANGE.\n"},
    {"SELECT f(a) FILTER (a)", "SYNTAX_ERROR: syntax error at or near \"a\"\n"
                               "t:1:21\n"
                               "  SELECT f(a) FILTER (a)\n"
                               "                      ^\n"
                               "detail: expected WHERE\n"},
    {"SELECT JSON_OBJECT(KEY 'a' VALUE b)",
     "NOT_SUPPORTED: this form of JSON_OBJECT is not supported\n"
     "t:1:24\n"
     "  SELECT JSON_OBJECT(KEY 'a' VALUE b)\n"
     "                         ^^^\n"},
};

static void calls_print_as_read(void **state)
{
    (void)state;
    check_prints(PARSE_EXPR, prints, count_of(prints));
}

static void wrong_calls_are_reported(void **state)
{
    (void)state;
    check_errors(PARSE_SCRIPT, errors, count_of(errors));
}

static void special_syntax_puts_arguments_in_fixed_places(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        ms_ast_call_syntax syntax;
        uint32_t arg_count;
    } cases[] = {
        {"SUBSTRING(a FROM 1 FOR 2)", MS_AST_CALL_PLAIN, 3},
        {"CURRENT_DATE", MS_AST_CALL_NILADIC, 0},
        {"CURRENT_TIMESTAMP(3)", MS_AST_CALL_NILADIC, 1},
        {"POSITION(a IN b)", MS_AST_CALL_POSITION, 2},
        {"TRIM(a)", MS_AST_CALL_TRIM, 3},
        {"TRIM(BOTH FROM a)", MS_AST_CALL_TRIM, 3},
        {"TRIM('x' FROM a)", MS_AST_CALL_TRIM, 3},
        {"EXTRACT(YEAR FROM a)", MS_AST_CALL_EXTRACT, 2},
        {"CEIL(a)", MS_AST_CALL_PLAIN, 1},
        {"CEIL(a TO DAY)", MS_AST_CALL_UNIT_TO, 2},
        {"OVERLAY(a PLACING b FROM 1)", MS_AST_CALL_OVERLAY, 3},
        {"TIMESTAMPADD(DAY, 1, a)", MS_AST_CALL_PLAIN, 3},
    };
    for (size_t i = 0; i < count_of(cases); i++) {
        parsed p;
        parse_expr_text(cases[i].text, &p);
        const ms_ast_call *call = ms_ast_call_of(p.expr);
        assert_int_equal(call->syntax, cases[i].syntax);
        assert_int_equal(call->arg_count, cases[i].arg_count);
        assert_span(&p, p.expr->span, cases[i].text);
        ms_arena_release(&p.arena);
    }
}

static void what_trim_leaves_out_is_supplied(void **state)
{
    (void)state;
    parsed p;
    parse_expr_text("trim(a)", &p);
    const ms_ast_call *call = ms_ast_call_of(p.expr);
    assert_int_equal(ms_ast_symbol_of(call->args[0].value)->side, MS_AST_TRIM_BOTH);
    assert_str_equal(ms_ast_literal_of(call->args[1].value)->text, " ");
    assert_span(&p, call->args[1].value->span, "trim");
    assert_span(&p, call->args[2].value->span, "a");
    ms_arena_release(&p.arena);
}

static void aggregates_keep_their_clauses(void **state)
{
    (void)state;
    parsed p;
    parse_expr_text("db.agg(DISTINCT a, b) IGNORE NULLS FILTER (WHERE c) OVER (w ROWS 2 PRECEDING)",
                    &p);
    const ms_ast_call *call = ms_ast_call_of(p.expr);
    assert_int_equal(call->name.count, 2);
    assert_true(call->distinct && !call->star);
    assert_int_equal(call->nulls, MS_AST_NULLS_IGNORE);
    assert_non_null(call->filter);
    assert_str_equal(call->over->base.text, "w");
    assert_int_equal(call->over->frame, MS_AST_FRAME_ROWS);
    assert_int_equal(call->over->start.kind, MS_AST_BOUND_PRECEDING);
    assert_int_equal(call->over->end.kind, MS_AST_BOUND_CURRENT_ROW);
    ms_arena_release(&p.arena);
    parse_expr_text("COUNT(*) OVER w", &p);
    call = ms_ast_call_of(p.expr);
    assert_true(call->star && call->over == NULL);
    assert_str_equal(call->over_name.text, "w");
    ms_arena_release(&p.arena);
}

static void arguments_may_be_named(void **state)
{
    (void)state;
    parsed p;
    parse_expr_text("f(a => 1, 2)", &p);
    const ms_ast_call *call = ms_ast_call_of(p.expr);
    assert_str_equal(call->args[0].name.text, "a");
    assert_true(ms_ast_ident_is_absent(call->args[1].name));
    ms_arena_release(&p.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_print_as_read),
        cmocka_unit_test(wrong_calls_are_reported),
        cmocka_unit_test(special_syntax_puts_arguments_in_fixed_places),
        cmocka_unit_test(what_trim_leaves_out_is_supplied),
        cmocka_unit_test(aggregates_keep_their_clauses),
        cmocka_unit_test(arguments_may_be_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
