/* SPDX-License-Identifier: Apache-2.0 */
#include "sql_testing.h"

static const print_case prints[] = {
    {"SELECT 1", NULL},
    {"SELECT *", NULL},
    {"SELECT ALL a, b AS c, d e FROM t", "SELECT `a`, `b` AS `c`, `d` AS `e` FROM `t`"},
    {"SELECT DISTINCT t.*, a.b.* FROM t, a", "SELECT DISTINCT `t`.*, `a`.`b`.* FROM `t`, `a`"},
    {"SELECT /*+ BROADCAST(t), STATE_TTL('t' = '1d', 'u' = '2d'), NO_ARGS */ a FROM t",
     "SELECT /*+ BROADCAST('t'), STATE_TTL('t' = '1d', 'u' = '2d'), NO_ARGS */ `a` FROM `t`"},
    {"SELECT a, COUNT(*) FROM t WHERE b > 1 GROUP BY a HAVING COUNT(*) > 2",
     "SELECT `a`, COUNT(*) FROM `t` WHERE `b` > 1 GROUP BY `a` HAVING COUNT(*) > 2"},
    {"SELECT COUNT(*) FROM t GROUP BY ()", "SELECT COUNT(*) FROM `t` GROUP BY ()"},
    {"SELECT a FROM t GROUP BY (a, b), c", "SELECT `a` FROM `t` GROUP BY (`a`, `b`), `c`"},
    {"SELECT a FROM t GROUP BY ROLLUP(a, (b, c)), CUBE(d)",
     "SELECT `a` FROM `t` GROUP BY ROLLUP(`a`, (`b`, `c`)), CUBE(`d`)"},
    {"SELECT a FROM t GROUP BY GROUPING SETS ((a, b), a, (), ROLLUP(c, d), GROUPING SETS (e))",
     "SELECT `a` FROM `t` GROUP BY GROUPING SETS ((`a`, `b`), `a`, (), ROLLUP(`c`, `d`), GROUPING "
     "SETS (`e`))"},
    {"SELECT SUM(x) OVER w, AVG(x) OVER (w) FROM t WINDOW w AS (PARTITION BY a), v AS (w ORDER BY "
     "b)",
     "SELECT SUM(`x`) OVER `w`, AVG(`x`) OVER (`w`) FROM `t` WINDOW `w` AS (PARTITION BY `a`), `v` "
     "AS (`w` ORDER BY `b`)"},
    {"SELECT a FROM t ORDER BY a, b DESC, c ASC NULLS FIRST LIMIT 10",
     "SELECT `a` FROM `t` ORDER BY `a`, `b` DESC, `c` ASC NULLS FIRST LIMIT 10"},
    {"SELECT a FROM t ORDER BY 1 LIMIT 10 OFFSET 5",
     "SELECT `a` FROM `t` ORDER BY 1 LIMIT 10 OFFSET 5"},
    {"SELECT a FROM t OFFSET 5 ROWS FETCH FIRST 3 ROWS ONLY",
     "SELECT `a` FROM `t` LIMIT 3 OFFSET 5"},
    {"SELECT a FROM t FETCH NEXT 1 ROW ONLY", "SELECT `a` FROM `t` LIMIT 1"},
    {"SELECT a FROM t LIMIT ALL", "SELECT `a` FROM `t`"},
    {"SELECT 1 UNION SELECT 2 UNION SELECT 3", NULL},
    {"SELECT 1 UNION ALL SELECT 2 UNION SELECT 3", "(SELECT 1 UNION ALL SELECT 2) UNION SELECT 3"},
    {"SELECT 1 UNION DISTINCT SELECT 2", "SELECT 1 UNION SELECT 2"},
    {"SELECT 1 UNION ALL (SELECT 2 UNION ALL SELECT 3)", NULL},
    {"SELECT 1 INTERSECT SELECT 2 UNION SELECT 3", "(SELECT 1 INTERSECT SELECT 2) UNION SELECT 3"},
    {"SELECT 1 UNION SELECT 2 INTERSECT ALL SELECT 3",
     "SELECT 1 UNION (SELECT 2 INTERSECT ALL SELECT 3)"},
    {"SELECT 1 EXCEPT SELECT 2 EXCEPT ALL SELECT 3",
     "(SELECT 1 EXCEPT SELECT 2) EXCEPT ALL SELECT 3"},
    {"SELECT 1 EXCEPT (SELECT 2 EXCEPT SELECT 3)", NULL},
    {"(SELECT 1 ORDER BY 1 LIMIT 1) UNION ALL (SELECT 2 LIMIT 2) ORDER BY 1", NULL},
    {"((SELECT 1))", "SELECT 1"},
    {"((SELECT 1 LIMIT 1) LIMIT 2) LIMIT 3", NULL},
    {"((SELECT 1 LIMIT 1) LIMIT ALL)", "SELECT 1 LIMIT 1"},
    {"WITH a AS (SELECT 1), b (x, y) AS (SELECT 2, 3) SELECT * FROM a, b",
     "WITH `a` AS (SELECT 1), `b` (`x`, `y`) AS (SELECT 2, 3) SELECT * FROM `a`, `b`"},
    {"WITH a AS (SELECT 1) (WITH b AS (SELECT 2) SELECT * FROM b) UNION SELECT * FROM a",
     "WITH `a` AS (SELECT 1) (WITH `b` AS (SELECT 2) SELECT * FROM `b`) UNION SELECT * FROM `a`"},
    {"VALUES 1, 2", "VALUES (1), (2)"},
    {"VALUES (1, 'a'), ROW(2, 'b')", "VALUES (1, 'a'), (2, 'b')"},
    {"VALUES ROW(ROW(1, 2))", NULL},
    {"VALUES (1), (2) ORDER BY 1", NULL},
    {"TABLE t", "TABLE `t`"},
    {"TABLE a.b.c UNION ALL TABLE d", "TABLE `a`.`b`.`c` UNION ALL TABLE `d`"},
    {"SELECT a FROM t -- comment", "SELECT `a` FROM `t`"},
    {"SELECT a // comment", "SELECT `a`"},
    {"SELECT a /* comment * / */ FROM t", "SELECT `a` FROM `t`"},
    {"SELECT a/b FROM t", "SELECT `a` / `b` FROM `t`"},
    {"SELECT x AS data, y value_, z.`value` FROM t z",
     "SELECT `x` AS `data`, `y` AS `value_`, `z`.`value` FROM `t` AS `z`"},
    {"SELECT 1 ORDER BY 1 LIMIT 2 OFFSET 3 ROW", "SELECT 1 ORDER BY 1 LIMIT 2 OFFSET 3"},
    {"SELECT 1 OFFSET 1 LIMIT 2", "SELECT 1 LIMIT 2 OFFSET 1"},
    {"SELECT a FROM t GROUP BY a, (), (b), (c + d) * 2, ROW(e, f)",
     "SELECT `a` FROM `t` GROUP BY `a`, (), `b`, (`c` + `d`) * 2, ROW(`e`, `f`)"},
    {"SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION SELECT 4 UNION ALL SELECT 5",
     "((SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3) UNION SELECT 4) UNION ALL SELECT 5"},
    {"(VALUES 1) UNION (TABLE t)", "VALUES (1) UNION TABLE `t`"},
    {"WITH a AS (WITH b AS (SELECT 1) SELECT * FROM b) SELECT * FROM a",
     "WITH `a` AS (WITH `b` AS (SELECT 1) SELECT * FROM `b`) SELECT * FROM `a`"},
    {"SELECT a, b FROM t HAVING a > 1", "SELECT `a`, `b` FROM `t` HAVING `a` > 1"},
    {"SELECT (SELECT 1), EXISTS (SELECT 2)", NULL},
};

static const error_case errors[] = {
    {"SELECT a FROM t WHERE", "SYNTAX_ERROR: syntax error at the end of the text\n"
                              "t:1:22\n"
                              "  SELECT a FROM t WHERE\n"
                              "                       ^\n"
                              "detail: expected an expression\n"},
    {"SELECT a FROM t ORDER a", "SYNTAX_ERROR: syntax error at or near \"a\"\n"
                                "t:1:23\n"
                                "  SELECT a FROM t ORDER a\n"
                                "                        ^\n"
                                "detail: expected BY\n"},
    {"SELECT a FROM t LIMIT -1", "SYNTAX_ERROR: syntax error at or near \"-\"\n"
                                 "t:1:23\n"
                                 "  SELECT a FROM t LIMIT -1\n"
                                 "                        ^\n"
                                 "detail: expected an integer\n"},
    {"SELECT a FROM t LIMIT 5, 10", "SYNTAX_ERROR: syntax error at or near \",\"\n"
                                    "t:1:24\n"
                                    "  SELECT a FROM t LIMIT 5, 10\n"
                                    "                         ^\n"
                                    "detail: expected the end of the query\n"
                                    "hint: Write LIMIT count OFFSET start.\n"},
    {"SELECT a FROM t LIMIT 5 FETCH FIRST 1 ROW ONLY",
     "SYNTAX_ERROR: syntax error at or near \"FETCH\"\n"
     "t:1:25\n"
     "  SELECT a FROM t LIMIT 5 FETCH FIRST 1 ROW ONLY\n"
     "                          ^^^^^\n"
     "detail: expected the end of the statement\n"},
    {"SELECT a FROM t MINUS SELECT b FROM u",
     "SYNTAX_ERROR: syntax error at or near \"MINUS\"\n"
     "t:1:17\n"
     "  SELECT a FROM t MINUS SELECT b FROM u\n"
     "                  ^^^^^\n"
     "detail: expected UNION, INTERSECT, EXCEPT or the end of the query\n"
     "hint: Write EXCEPT.\n"},
    {"SELECT a FROM t QUALIFY x = 1",
     "NOT_SUPPORTED: QUALIFY is not supported\n"
     "t:1:17\n"
     "  SELECT a FROM t QUALIFY x = 1\n"
     "                  ^^^^^^^\n"
     "hint: Wrap the query: SELECT ... FROM (query) WHERE condition.\n"},
    {"SELECT STREAM a FROM t", "NOT_SUPPORTED: SELECT STREAM is not supported\n"
                               "t:1:8\n"
                               "  SELECT STREAM a FROM t\n"
                               "         ^^^^^^\n"
                               "hint: Every query streams; leave the word out.\n"},
    {"SELECT a FROM t GROUP BY DISTINCT a",
     "NOT_SUPPORTED: GROUP BY with DISTINCT or ALL is not supported\n"
     "t:1:26\n"
     "  SELECT a FROM t GROUP BY DISTINCT a\n"
     "                           ^^^^^^^^\n"},
    {"SELECT a FROM t MATCH_RECOGNIZE (ORDER BY ts)",
     "NOT_SUPPORTED: MATCH_RECOGNIZE is not supported\n"
     "t:1:17\n"
     "  SELECT a FROM t MATCH_RECOGNIZE (ORDER BY ts)\n"
     "                  ^^^^^^^^^^^^^^^\n"},
    {"SELECT f(x).* FROM t", "NOT_SUPPORTED: .* behind an expression is not supported\n"
                             "t:1:12\n"
                             "  SELECT f(x).* FROM t\n"
                             "             ^\n"
                             "hint: Name the fields one by one.\n"},
    {"WITH RECURSIVE a AS (SELECT 1) SELECT * FROM a",
     "NOT_SUPPORTED: WITH RECURSIVE is not supported\n"
     "t:1:6\n"
     "  WITH RECURSIVE a AS (SELECT 1) SELECT * FROM a\n"
     "       ^^^^^^^^^\n"},
    {"WITH a (SELECT 1) SELECT * FROM a", "SYNTAX_ERROR: syntax error at or near \"SELECT\"\n"
                                          "t:1:9\n"
                                          "  WITH a (SELECT 1) SELECT * FROM a\n"
                                          "          ^^^^^^\n"
                                          "detail: expected a column name\n"},
    {"VALUES", "SYNTAX_ERROR: syntax error at the end of the text\n"
               "t:1:7\n"
               "  VALUES\n"
               "        ^\n"
               "detail: expected an expression\n"},
    {"SELECT 1 UNION", "SYNTAX_ERROR: syntax error at the end of the text\n"
                       "t:1:15\n"
                       "  SELECT 1 UNION\n"
                       "                ^\n"
                       "detail: expected SELECT, VALUES, TABLE, WITH or \"(\"\n"},
    {"SELECT 1 UNION ALL VALUES", "SYNTAX_ERROR: syntax error at the end of the text\n"
                                  "t:1:26\n"
                                  "  SELECT 1 UNION ALL VALUES\n"
                                  "                           ^\n"
                                  "detail: expected an expression\n"},
    {"SELECT a FROM t GROUP BY ROLLUP a", "SYNTAX_ERROR: syntax error at or near \"a\"\n"
                                          "t:1:33\n"
                                          "  SELECT a FROM t GROUP BY ROLLUP a\n"
                                          "                                  ^\n"
                                          "detail: expected \"(\"\n"},
    {"SELECT a FROM t GROUP BY GROUPING SETS (a",
     "SYNTAX_ERROR: syntax error at the end of the text\n"
     "t:1:42\n"
     "  SELECT a FROM t GROUP BY GROUPING SETS (a\n"
     "                                           ^\n"
     "detail: expected \",\" or \")\"\n"},
    {"SELECT a FROM t WINDOW w", "SYNTAX_ERROR: syntax error at the end of the text\n"
                                 "t:1:25\n"
                                 "  SELECT a FROM t WINDOW w\n"
                                 "                          ^\n"
                                 "detail: expected AS\n"},
    {"SELECT a FROM t ORDER BY a NULLS", "SYNTAX_ERROR: syntax error at the end of the text\n"
                                         "t:1:33\n"
                                         "  SELECT a FROM t ORDER BY a NULLS\n"
                                         "                                  ^\n"
                                         "detail: expected FIRST or LAST\n"},
    {"SELECT a FROM t FETCH 1 ROW ONLY", "SYNTAX_ERROR: syntax error at or near \"1\"\n"
                                         "t:1:23\n"
                                         "  SELECT a FROM t FETCH 1 ROW ONLY\n"
                                         "                        ^\n"
                                         "detail: expected FIRST or NEXT\n"},
    {"SELECT a FROM t FETCH FIRST 1 ONLY", "SYNTAX_ERROR: syntax error at or near \"ONLY\"\n"
                                           "t:1:31\n"
                                           "  SELECT a FROM t FETCH FIRST 1 ONLY\n"
                                           "                                ^^^^\n"
                                           "detail: expected ROW or ROWS\n"},
    {"SELECT a FROM t OFFSET x", "SYNTAX_ERROR: syntax error at or near \"x\"\n"
                                 "t:1:24\n"
                                 "  SELECT a FROM t OFFSET x\n"
                                 "                         ^\n"
                                 "detail: expected an integer\n"},
    {"SELECT 1 LIMIT 1 LIMIT 2", "SYNTAX_ERROR: syntax error at or near \"LIMIT\"\n"
                                 "t:1:18\n"
                                 "  SELECT 1 LIMIT 1 LIMIT 2\n"
                                 "                   ^^^^^\n"
                                 "detail: expected the end of the statement\n"},
    {"(SELECT 1", "SYNTAX_ERROR: syntax error at the end of the text\n"
                  "t:1:10\n"
                  "  (SELECT 1\n"
                  "           ^\n"
                  "detail: expected \")\"\n"},
};

static void queries_print_as_read(void **state)
{
    (void)state;
    check_prints(PARSE_QUERY, prints, count_of(prints));
}

static void wrong_queries_are_reported(void **state)
{
    (void)state;
    check_errors(PARSE_SCRIPT, errors, count_of(errors));
}

static void chains_of_one_operation_are_one_node(void **state)
{
    (void)state;
    parsed p;
    parse_query_text("SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION SELECT 4", &p);
    const ms_ast_set_op *outer = ms_ast_set_op_of(p.query->body);
    assert_false(outer->all);
    assert_int_equal(outer->branch_count, 2);
    const ms_ast_set_op *inner = ms_ast_set_op_of(outer->branches[0]);
    assert_true(inner->all);
    assert_int_equal(inner->branch_count, 3);
    assert_span(&p, inner->op_span, "UNION ALL");
    ms_arena_release(&p.arena);
}

static void clauses_keep_their_spans(void **state)
{
    (void)state;
    parsed p;
    parse_query_text(
        "WITH c AS (SELECT 1) SELECT DISTINCT a AS b, t.* FROM t ORDER BY a DESC LIMIT 5", &p);
    const ms_ast_select *select = ms_ast_select_of(p.query->body);
    assert_span(&p, p.query->ctes[0].span, "c AS (SELECT 1)");
    assert_span(&p, select->head.span, "SELECT DISTINCT a AS b, t.* FROM t");
    assert_span(&p, select->distinct_span, "DISTINCT");
    assert_span(&p, select->items[0].span, "a AS b");
    assert_null(select->items[1].expr);
    assert_int_equal(select->items[1].qualifier.count, 1);
    assert_span(&p, p.query->order[0].span, "a DESC");
    assert_span(&p, p.query->limit->span, "5");
    assert_int_equal(p.query->span.end, p.source.text.bytes);
    ms_arena_release(&p.arena);
}

static void an_empty_group_is_not_no_group(void **state)
{
    (void)state;
    parsed p;
    parse_query_text("SELECT 1 FROM t GROUP BY ()", &p);
    const ms_ast_select *select = ms_ast_select_of(p.query->body);
    assert_int_equal(select->group_count, 1);
    assert_int_equal(select->groups[0].kind, MS_AST_GROUP_EXPRS);
    assert_int_equal(select->groups[0].expr_count, 0);
    ms_arena_release(&p.arena);
}

static void a_query_ends_where_its_text_ends(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_rc rc = MS_OK;
    ms_str report = parse_and_print(PARSE_QUERY, ms_str_lit("SELECT 1;"), &arena, &rc);
    assert_int_equal(rc, MS_SYNTAX_ERROR);
    assert_true(
        ms_str_starts_with(report, ms_str_lit("SYNTAX_ERROR: syntax error at or near \";\"")));
    ms_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queries_print_as_read),
        cmocka_unit_test(wrong_queries_are_reported),
        cmocka_unit_test(chains_of_one_operation_are_one_node),
        cmocka_unit_test(clauses_keep_their_spans),
        cmocka_unit_test(an_empty_group_is_not_no_group),
        cmocka_unit_test(a_query_ends_where_its_text_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
