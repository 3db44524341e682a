/* SPDX-License-Identifier: Apache-2.0 */
#include "sql_testing.h"

static const print_case prints[] = {
    {"SELECT * FROM t /*+ OPTIONS('scan.mode' = 'bounded') */ AS x",
     "SELECT * FROM `t` /*+ OPTIONS('scan.mode' = 'bounded') */ AS `x`"},
    {"SELECT * FROM a.b.c AS t (x, y)", "SELECT * FROM `a`.`b`.`c` AS `t` (`x`, `y`)"},
    {"SELECT * FROM (SELECT a FROM t) AS s", "SELECT * FROM (SELECT `a` FROM `t`) AS `s`"},
    {"SELECT * FROM ((SELECT 1) UNION (SELECT 2)) AS s (x)",
     "SELECT * FROM (SELECT 1 UNION SELECT 2) AS `s` (`x`)"},
    {"SELECT * FROM ((SELECT 1))", "SELECT * FROM (SELECT 1)"},
    {"SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS v (id, name)",
     "SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS `v` (`id`, `name`)"},
    {"SELECT * FROM (a JOIN b ON a.x = b.x) JOIN c ON TRUE",
     "SELECT * FROM `a` INNER JOIN `b` ON `a`.`x` = `b`.`x` INNER JOIN `c` ON TRUE"},
    {"SELECT * FROM a JOIN (b JOIN c ON b.x = c.x) ON a.x = b.x",
     "SELECT * FROM `a` INNER JOIN (`b` INNER JOIN `c` ON `b`.`x` = `c`.`x`) ON `a`.`x` = `b`.`x`"},
    {"SELECT * FROM a INNER JOIN b USING (x, y)",
     "SELECT * FROM `a` INNER JOIN `b` USING (`x`, `y`)"},
    {"SELECT * FROM a LEFT OUTER JOIN b ON a.x = b.x RIGHT JOIN c ON TRUE FULL OUTER JOIN d ON "
     "FALSE",
     "SELECT * FROM `a` LEFT JOIN `b` ON `a`.`x` = `b`.`x` RIGHT JOIN `c` ON TRUE FULL JOIN `d` ON "
     "FALSE"},
    {"SELECT * FROM a CROSS JOIN b NATURAL LEFT JOIN c",
     "SELECT * FROM `a` CROSS JOIN `b` NATURAL LEFT JOIN `c`"},
    {"SELECT * FROM orders AS o LEFT JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.c = r.c",
     "SELECT * FROM `orders` AS `o` LEFT JOIN `rates` FOR SYSTEM_TIME AS OF `o`.`ts` AS `r` ON "
     "`o`.`c` = `r`.`c`"},
    {"SELECT * FROM profiles /*+ OPTIONS('lookup.async' = 'true') */ FOR SYSTEM_TIME AS OF "
     "e.proc_time AS p",
     "SELECT * FROM `profiles` /*+ OPTIONS('lookup.async' = 'true') */ FOR SYSTEM_TIME AS OF "
     "`e`.`proc_time` AS `p`"},
    {"SELECT * FROM t, LATERAL TABLE(f(x)) AS s (a, b)",
     "SELECT * FROM `t`, LATERAL TABLE(f(`x`)) AS `s` (`a`, `b`)"},
    {"SELECT * FROM t LEFT JOIN LATERAL TABLE(f(x)) AS s (a) ON TRUE",
     "SELECT * FROM `t` LEFT JOIN LATERAL TABLE(f(`x`)) AS `s` (`a`) ON TRUE"},
    {"SELECT * FROM t CROSS JOIN LATERAL (SELECT * FROM u WHERE u.x = t.x) AS l",
     "SELECT * FROM `t` CROSS JOIN LATERAL (SELECT * FROM `u` WHERE `u`.`x` = `t`.`x`) AS `l`"},
    {"SELECT * FROM t JOIN LATERAL SNAPSHOT(input => TABLE b, on_time => DESCRIPTOR(ts)) AS s ON "
     "TRUE",
     "SELECT * FROM `t` INNER JOIN LATERAL TABLE(SNAPSHOT(input => TABLE `b`, on_time => "
     "DESCRIPTOR(`ts`))) AS `s` ON TRUE"},
    {"SELECT * FROM t CROSS JOIN UNNEST(tags) AS u (tag)",
     "SELECT * FROM `t` CROSS JOIN UNNEST(`tags`) AS `u` (`tag`)"},
    {"SELECT * FROM UNNEST(ARRAY[1, 2], ARRAY['a', 'b']) WITH ORDINALITY AS u (a, b, n)",
     "SELECT * FROM UNNEST(ARRAY[1, 2], ARRAY['a', 'b']) WITH ORDINALITY AS `u` (`a`, `b`, `n`)"},
    {"SELECT * FROM TABLE(TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '10' MINUTES))",
     "SELECT * FROM TABLE(TUMBLE(TABLE `bids`, DESCRIPTOR(`ts`), INTERVAL '10' MINUTE))"},
    {"SELECT * FROM TABLE(HOP(DATA => TABLE bids, TIMECOL => DESCRIPTOR(ts), SLIDE => INTERVAL '5' "
     "MINUTE, SIZE => INTERVAL '10' MINUTE))",
     "SELECT * FROM TABLE(HOP(DATA => TABLE `bids`, TIMECOL => DESCRIPTOR(`ts`), SLIDE => INTERVAL "
     "'5' MINUTE, SIZE => INTERVAL '10' MINUTE))"},
    {"SELECT * FROM TUMBLE(TABLE bids, DESCRIPTOR(ts), INTERVAL '10' MINUTE) AS w",
     "SELECT * FROM TABLE(TUMBLE(TABLE `bids`, DESCRIPTOR(`ts`), INTERVAL '10' MINUTE)) AS `w`"},
    {"SELECT * FROM SESSION(TABLE bids PARTITION BY (a, b), DESCRIPTOR(ts), INTERVAL '10' MINUTE)",
     "SELECT * FROM TABLE(SESSION(TABLE `bids` PARTITION BY (`a`, `b`), DESCRIPTOR(`ts`), INTERVAL "
     "'10' MINUTE))"},
    {"SELECT * FROM f(TABLE t PARTITION BY k ORDER BY ts DESC, 1)",
     "SELECT * FROM TABLE(f(TABLE `t` PARTITION BY (`k`) ORDER BY (`ts` DESC), 1))"},
    {"SELECT * FROM f(TABLE (SELECT a FROM t) ORDER BY (ts, a DESC))",
     "SELECT * FROM TABLE(f(TABLE (SELECT `a` FROM `t`) ORDER BY (`ts`, `a` DESC)))"},
    {"SELECT * FROM f(input => (SELECT a FROM t) PARTITION BY a, op => DESCRIPTOR(c))",
     "SELECT * FROM TABLE(f(input => TABLE (SELECT `a` FROM `t`) PARTITION BY (`a`), op => "
     "DESCRIPTOR(`c`)))"},
    {"SELECT * FROM (((a)))", "SELECT * FROM `a`"},
    {"SELECT * FROM (a AS x), (b y)", "SELECT * FROM `a` AS `x`, `b` AS `y`"},
    {"SELECT * FROM (TABLE(f(1)) AS x JOIN b ON TRUE)",
     "SELECT * FROM TABLE(f(1)) AS `x` INNER JOIN `b` ON TRUE"},
    {"SELECT * FROM ((SELECT 1) AS a JOIN (SELECT 2) AS b ON TRUE)",
     "SELECT * FROM (SELECT 1) AS `a` INNER JOIN (SELECT 2) AS `b` ON TRUE"},
    {"SELECT * FROM (((SELECT 1) LIMIT 1) UNION SELECT 2) AS x",
     "SELECT * FROM ((SELECT 1 LIMIT 1) UNION SELECT 2) AS `x`"},
    {"SELECT * FROM LATERAL ((SELECT 1)) AS x", "SELECT * FROM LATERAL (SELECT 1) AS `x`"},
    {"SELECT * FROM a, b JOIN c ON TRUE, d", "SELECT * FROM `a`, `b` INNER JOIN `c` ON TRUE, `d`"},
    {"SELECT * FROM a JOIN b ON a.x = b.x AND a.ts BETWEEN b.ts - INTERVAL '1' HOUR AND b.ts",
     "SELECT * FROM `a` INNER JOIN `b` ON `a`.`x` = `b`.`x` AND `a`.`ts` BETWEEN `b`.`ts` - "
     "INTERVAL '1' HOUR AND `b`.`ts`"},
    {"SELECT * FROM `f`(1)", "SELECT * FROM TABLE(f(1))"},
    {"SELECT * FROM db.f(a => 1) AS t (x)", "SELECT * FROM TABLE(`db`.`f`(a => 1)) AS `t` (`x`)"},
};

static const error_case errors[] = {
    {"SELECT a FROM", "SYNTAX_ERROR: syntax error at the end of the text\n"
                      "t:1:14\n"
                      "  SELECT a FROM\n"
                      "               ^\n"
                      "detail: expected a table\n"},
    {"SELECT a FROM t JOIN u", "SYNTAX_ERROR: syntax error at the end of the text\n"
                               "t:1:23\n"
                               "  SELECT a FROM t JOIN u\n"
                               "                        ^\n"
                               "detail: expected ON or USING\n"
                               "hint: A join without a condition is written CROSS JOIN.\n"},
    {"SELECT a FROM t LEFT u ON TRUE", "SYNTAX_ERROR: syntax error at or near \"u\"\n"
                                       "t:1:22\n"
                                       "  SELECT a FROM t LEFT u ON TRUE\n"
                                       "                       ^\n"
                                       "detail: expected JOIN\n"},
    {"SELECT a FROM t AS", "SYNTAX_ERROR: syntax error at the end of the text\n"
                           "t:1:19\n"
                           "  SELECT a FROM t AS\n"
                           "                    ^\n"
                           "detail: expected an alias\n"},
    {"SELECT a FROM (SELECT 1", "SYNTAX_ERROR: syntax error at the end of the text\n"
                                "t:1:24\n"
                                "  SELECT a FROM (SELECT 1\n"
                                "                         ^\n"
                                "detail: expected \")\"\n"},
    {"SELECT a FROM t TABLESAMPLE BERNOULLI (10)", "NOT_SUPPORTED: TABLESAMPLE is not supported\n"
                                                   "t:1:17\n"
                                                   "  SELECT a FROM t TABLESAMPLE BERNOULLI (10)\n"
                                                   "                  ^^^^^^^^^^^\n"},
    {"SELECT a FROM t AS x /*+ OPTIONS('a' = 'b') */",
     "SYNTAX_ERROR: syntax error at or near \"/*+\"\n"
     "t:1:22\n"
     "  SELECT a FROM t AS x /*+ OPTIONS('a' = 'b') */\n"
     "                       ^^^\n"
     "detail: expected the end of the statement\n"
     "hint: Hints stand behind SELECT and behind the name of a table, before its alias.\n"},
    {"SELECT * FROM (a) b", "SYNTAX_ERROR: syntax error at or near \"b\"\n"
                            "t:1:19\n"
                            "  SELECT * FROM (a) b\n"
                            "                    ^\n"
                            "detail: expected the alias inside the parentheses\n"},
    {"SELECT * FROM LATERAL t", "SYNTAX_ERROR: syntax error at the end of the text\n"
                                "t:1:24\n"
                                "  SELECT * FROM LATERAL t\n"
                                "                         ^\n"
                                "detail: expected \"(\" and the arguments of a table function\n"},
    {"SELECT * FROM TABLE(t)", "SYNTAX_ERROR: syntax error at or near \")\"\n"
                               "t:1:22\n"
                               "  SELECT * FROM TABLE(t)\n"
                               "                       ^\n"
                               "detail: expected \"(\" and the arguments of a table function\n"},
    {"SELECT * FROM UNNEST a", "SYNTAX_ERROR: syntax error at or near \"a\"\n"
                               "t:1:22\n"
                               "  SELECT * FROM UNNEST a\n"
                               "                       ^\n"
                               "detail: expected \"(\"\n"},
    {"SELECT * FROM t AS x (a, b", "SYNTAX_ERROR: syntax error at the end of the text\n"
                                   "t:1:27\n"
                                   "  SELECT * FROM t AS x (a, b\n"
                                   "                            ^\n"
                                   "detail: expected \",\" or \")\"\n"},
    {"SELECT * FROM a JOIN b USING c", "SYNTAX_ERROR: syntax error at or near \"c\"\n"
                                       "t:1:30\n"
                                       "  SELECT * FROM a JOIN b USING c\n"
                                       "                               ^\n"
                                       "detail: expected \"(\"\n"},
    {"SELECT * FROM a NATURAL b", "SYNTAX_ERROR: syntax error at or near \"b\"\n"
                                  "t:1:25\n"
                                  "  SELECT * FROM a NATURAL b\n"
                                  "                          ^\n"
                                  "detail: expected JOIN\n"},
    {"SELECT * FROM t PIVOT (x)", "NOT_SUPPORTED: PIVOT is not supported\n"
                                  "t:1:17\n"
                                  "  SELECT * FROM t PIVOT (x)\n"
                                  "                  ^^^^^\n"},
    {"SELECT * FROM t FOR SYSTEM_TIME OF x", "SYNTAX_ERROR: syntax error at or near \"OF\"\n"
                                             "t:1:33\n"
                                             "  SELECT * FROM t FOR SYSTEM_TIME OF x\n"
                                             "                                  ^^\n"
                                             "detail: expected AS\n"},
    {"SELECT * FROM t /*+ 1 */", "SYNTAX_ERROR: syntax error at or near \"1\"\n"
                                 "t:1:21\n"
                                 "  SELECT * FROM t /*+ 1 */\n"
                                 "                      ^\n"
                                 "detail: expected the name of a hint\n"},
    {"SELECT * FROM a, ", "SYNTAX_ERROR: syntax error at the end of the text\n"
                          "t:1:17\n"
                          "  SELECT * FROM a, \n"
                          "                  ^\n"
                          "detail: expected a table\n"},
    {"SELECT * FROM f(TABLE)", "SYNTAX_ERROR: syntax error at or near \")\"\n"
                               "t:1:22\n"
                               "  SELECT * FROM f(TABLE)\n"
                               "                       ^\n"
                               "detail: expected a table\n"},
    {"SELECT * FROM a LEFT OUTER b", "SYNTAX_ERROR: syntax error at or near \"b\"\n"
                                     "t:1:28\n"
                                     "  SELECT * FROM a LEFT OUTER b\n"
                                     "                             ^\n"
                                     "detail: expected JOIN\n"},
};

static void items_print_as_read(void **state)
{
    (void)state;
    check_prints(PARSE_QUERY, prints, count_of(prints));
}

static void wrong_items_are_reported(void **state)
{
    (void)state;
    check_errors(PARSE_SCRIPT, errors, count_of(errors));
}

static const ms_ast_from *first_item(const parsed *p)
{
    return ms_ast_select_of(p->query->body)->from[0];
}

static void joins_are_left_deep(void **state)
{
    (void)state;
    parsed p;
    parse_query_text("SELECT * FROM a NATURAL LEFT OUTER JOIN b x CROSS JOIN c", &p);
    const ms_ast_from_join *outer = ms_ast_from_join_of(first_item(&p));
    assert_int_equal(outer->type, MS_AST_JOIN_CROSS);
    const ms_ast_from_join *inner = ms_ast_from_join_of(outer->left);
    assert_int_equal(inner->type, MS_AST_JOIN_LEFT);
    assert_true(inner->natural);
    assert_span(&p, inner->join_span, "NATURAL LEFT OUTER JOIN");
    assert_span(&p, inner->right->span, "b x");
    assert_str_equal(inner->right->alias.name.text, "x");
    ms_arena_release(&p.arena);
}

static void tables_keep_hints_and_versions(void **state)
{
    (void)state;
    parsed p;
    parse_query_text(
        "SELECT * FROM d.t /*+ OPTIONS('a' = 'b'), X(y, 1) */ FOR SYSTEM_TIME AS OF ts AS r (c)",
        &p);
    const ms_ast_from_table *table = ms_ast_from_table_of(first_item(&p));
    assert_int_equal(table->hint_count, 2);
    assert_str_equal(table->hints[0].args[0].key.text, "a");
    assert_str_equal(table->hints[0].args[0].value.text, "b");
    assert_span(&p, table->hints[0].args[0].value.span, "'b'");
    assert_true(ms_ast_text_is_absent(table->hints[1].args[0].value));
    assert_span(&p, table->system_time_span, "FOR SYSTEM_TIME AS OF ts");
    assert_int_equal(table->head.alias.column_count, 1);
    ms_arena_release(&p.arena);
}

static void table_arguments_keep_their_keys(void **state)
{
    (void)state;
    parsed p;
    parse_query_text(
        "SELECT * FROM LATERAL f(t => TABLE d.t PARTITION BY (a, b) ORDER BY c DESC, 1)", &p);
    const ms_ast_from_call *item = ms_ast_from_call_of(first_item(&p));
    assert_true(item->lateral);
    const ms_ast_table_arg *arg = ms_ast_table_arg_of(item->call->args[0].value);
    assert_int_equal(arg->table->kind, MS_AST_FROM_TABLE);
    assert_int_equal(arg->partition_count, 2);
    assert_int_equal(arg->order_count, 1);
    assert_int_equal(item->call->arg_count, 2);
    ms_arena_release(&p.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_print_as_read),
        cmocka_unit_test(wrong_items_are_reported),
        cmocka_unit_test(joins_are_left_deep),
        cmocka_unit_test(tables_keep_hints_and_versions),
        cmocka_unit_test(table_arguments_keep_their_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
