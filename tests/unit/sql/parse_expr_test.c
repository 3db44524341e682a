/* SPDX-License-Identifier: Apache-2.0 */
#include "sql_testing.h"

static const print_case prints[] = {
    {"a + b * c", "`a` + `b` * `c`"},
    {"(a + b) * c", "(`a` + `b`) * `c`"},
    {"a - b - c", "`a` - `b` - `c`"},
    {"a - (b - c)", "`a` - (`b` - `c`)"},
    {"a || b + c", "`a` || `b` + `c`"},
    {"a % 2 = 0", "`a` % 2 = 0"},
    {"- a * b", "-`a` * `b`"},
    {"-(a * b)", "-(`a` * `b`)"},
    {"- - a", "- -`a`"},
    {"-(+a)", "- +`a`"},
    {"NOT a = b", "NOT `a` = `b`"},
    {"NOT a IS NULL", "NOT `a` IS NULL"},
    {"(NOT a) IS NULL", "(NOT `a`) IS NULL"},
    {"a = b IS NULL", "`a` = `b` IS NULL"},
    {"a = (b IS NULL)", "`a` = (`b` IS NULL)"},
    {"a IS NOT NULL AND b IS TRUE OR c IS NOT FALSE",
     "`a` IS NOT NULL AND `b` IS TRUE OR `c` IS NOT FALSE"},
    {"a AND b AND c", "`a` AND `b` AND `c`"},
    {"(a AND b) AND c", "(`a` AND `b`) AND `c`"},
    {"a AND (b OR c)", "`a` AND (`b` OR `c`)"},
    {"a OR b AND c", "`a` OR `b` AND `c`"},
    {"a < b < c", "`a` < `b` < `c`"},
    {"a IS DISTINCT FROM b", "`a` IS DISTINCT FROM `b`"},
    {"a IS NOT DISTINCT FROM b + 1", "`a` IS NOT DISTINCT FROM `b` + 1"},
    {"a IS UNKNOWN", "`a` IS UNKNOWN"},
    {"a IS JSON", "`a` IS JSON VALUE"},
    {"a IS NOT JSON OBJECT", "`a` IS NOT JSON OBJECT"},
    {"a BETWEEN 1 AND 2 AND b", "`a` BETWEEN 1 AND 2 AND `b`"},
    {"a NOT BETWEEN SYMMETRIC b AND c", "`a` NOT BETWEEN SYMMETRIC `b` AND `c`"},
    {"a BETWEEN ASYMMETRIC (b = c) AND d", "`a` BETWEEN (`b` = `c`) AND `d`"},
    {"a LIKE 'x%'", "`a` LIKE 'x%'"},
    {"a NOT LIKE b || '%' ESCAPE '\\'", "`a` NOT LIKE `b` || '%' ESCAPE '\\'"},
    {"a SIMILAR TO '[a-c]+'", "`a` SIMILAR TO '[a-c]+'"},
    {"a NOT SIMILAR TO b", "`a` NOT SIMILAR TO `b`"},
    {"a IN (1, 2, 3)", "`a` IN (1, 2, 3)"},
    {"a NOT IN (1)", "`a` NOT IN (1)"},
    {"(a, b) IN ((1, 2), (3, 4))", "ROW(`a`, `b`) IN (ROW(1, 2), ROW(3, 4))"},
    {"a IN (SELECT b FROM t)", "`a` IN (SELECT `b` FROM `t`)"},
    {"a IN ((SELECT b FROM t))", "`a` IN (SELECT `b` FROM `t`)"},
    {"a IN ((SELECT 1), 2)", "`a` IN ((SELECT 1), 2)"},
    {"a IN ((SELECT 1) UNION (SELECT 2))", "`a` IN (SELECT 1 UNION SELECT 2)"},
    {"a = ANY (SELECT b FROM t)", "`a` = ANY (SELECT `b` FROM `t`)"},
    {"a <> ALL (1, 2)", "`a` <> ALL (1, 2)"},
    {"a > SOME (SELECT 1)", "`a` > ANY (SELECT 1)"},
    {"EXISTS (SELECT 1 FROM t)", "EXISTS (SELECT 1 FROM `t`)"},
    {"NOT EXISTS (TABLE t)", "NOT EXISTS (TABLE `t`)"},
    {"(SELECT MAX(x) FROM t) + 1", "(SELECT MAX(`x`) FROM `t`) + 1"},
    {"((SELECT 1) UNION ALL (SELECT 2))", "(SELECT 1 UNION ALL SELECT 2)"},
    {"((SELECT 1))", "(SELECT 1)"},
    {"(a, b) OVERLAPS (c, d)", "ROW(`a`, `b`) OVERLAPS ROW(`c`, `d`)"},
    {"a = -1", "`a` = -1"},
    {"CAST(x AS INT) / 0", "CAST(`x` AS INT) / 0"},
    {"'a' || 'b'", NULL},
    {"a = b = c", "`a` = `b` = `c`"},
    {"a = (b = c)", "`a` = (`b` = `c`)"},
    {"(a OR b) OR c", "(`a` OR `b`) OR `c`"},
    {"a OR (b OR c)", "`a` OR (`b` OR `c`)"},
    {"NOT (a AND b)", "NOT (`a` AND `b`)"},
    {"NOT NOT a", "NOT NOT `a`"},
    {"- 1 - - 2", "-1 - -2"},
    {"-a.b[1]", "-`a`.`b`[1]"},
    {"(-a)[1]", "(-`a`)[1]"},
    {"-(-(-a))", "- - -`a`"},
    {"(a IS NULL) IS NOT NULL", "`a` IS NULL IS NOT NULL"},
    {"a IS NULL IS NULL", "`a` IS NULL IS NULL"},
    {"a IS NULL = b", "(`a` IS NULL) = `b`"},
    {"a LIKE b LIKE c", "`a` LIKE `b` LIKE `c`"},
    {"(a LIKE b) IS TRUE", "`a` LIKE `b` IS TRUE"},
    {"a BETWEEN b AND c BETWEEN d AND e", "`a` BETWEEN `b` AND `c` BETWEEN `d` AND `e`"},
    {"a BETWEEN (b BETWEEN c AND d) AND e", "`a` BETWEEN (`b` BETWEEN `c` AND `d`) AND `e`"},
    {"a NOT IN ((1, 2))", "`a` NOT IN (ROW(1, 2))"},
    {"a || b || c", "`a` || `b` || `c`"},
    {"a || (b || c)", "`a` || (`b` || `c`)"},
    {"a * b / c % d", "`a` * `b` / `c` % `d`"},
    {"a * (b / c)", "`a` * (`b` / `c`)"},
    {"a + b || c", "`a` + `b` || `c`"},
    {"a IN (1) = b", "`a` IN (1) = `b`"},
    {"NOT a IN (1)", "NOT `a` IN (1)"},
    {"(NOT a) IN (1)", "(NOT `a`) IN (1)"},
    {"a = (NOT b)", "`a` = (NOT `b`)"},
    {"a = NOT b AND c", "`a` = (NOT `b`) AND `c`"},
    {"(SELECT 1) IN (SELECT 2)", NULL},
    {"a = ANY (SELECT 1 UNION SELECT 2)", "`a` = ANY (SELECT 1 UNION SELECT 2)"},
    {"a IS JSON SCALAR", "`a` IS JSON SCALAR"},
    {"a IS NOT JSON ARRAY", "`a` IS NOT JSON ARRAY"},
};

static const error_case errors[] = {
    {"SELECT a FROM t WHERE x = = 1", "SYNTAX_ERROR: syntax error at or near \"=\"\n"
                                      "t:1:27\n"
                                      "  SELECT a FROM t WHERE x = = 1\n"
                                      "                            ^\n"
                                      "detail: expected an expression\n"},
    {"SELECT a FROM t; SELECT (1 + 2", "SYNTAX_ERROR: syntax error at the end of the text\n"
                                       "t:1:31\n"
                                       "  SELECT a FROM t; SELECT (1 + 2\n"
                                       "                                ^\n"
                                       "detail: expected \")\"\n"},
    {"SELECT (1, 2", "SYNTAX_ERROR: syntax error at the end of the text\n"
                     "t:1:13\n"
                     "  SELECT (1, 2\n"
                     "              ^\n"
                     "detail: expected \",\" or \")\"\n"},
    {"SELECT 1 + 2) FROM t", "SYNTAX_ERROR: syntax error at or near \")\"\n"
                             "t:1:13\n"
                             "  SELECT 1 + 2) FROM t\n"
                             "              ^\n"
                             "detail: expected the end of the statement\n"},
    {"SELECT a IS 1", "SYNTAX_ERROR: syntax error at or near \"1\"\n"
                      "t:1:13\n"
                      "  SELECT a IS 1\n"
                      "              ^\n"
                      "detail: expected NULL, TRUE, FALSE, UNKNOWN, JSON or DISTINCT FROM\n"},
    {"SELECT a NOT 1",
     "SYNTAX_ERROR: syntax error at or near \"NOT\"\n"
     "t:1:10\n"
     "  SELECT a NOT 1\n"
     "           ^^^\n"
     "detail: expected an operator, or NOT IN, NOT BETWEEN, NOT LIKE or NOT SIMILAR TO\n"},
    {"SELECT a IN ()", "SYNTAX_ERROR: syntax error at or near \")\"\n"
                       "t:1:14\n"
                       "  SELECT a IN ()\n"
                       "               ^\n"
                       "detail: expected an expression\n"},
    {"SELECT a IN 1", "SYNTAX_ERROR: syntax error at or near \"1\"\n"
                      "t:1:13\n"
                      "  SELECT a IN 1\n"
                      "              ^\n"
                      "detail: expected \"(\"\n"},
    {"SELECT a BETWEEN 1", "SYNTAX_ERROR: syntax error at the end of the text\n"
                           "t:1:19\n"
                           "  SELECT a BETWEEN 1\n"
                           "                    ^\n"
                           "detail: expected AND\n"},
    {"SELECT a ILIKE 'b'", "NOT_SUPPORTED: ILIKE is not supported\n"
                           "t:1:10\n"
                           "  SELECT a ILIKE 'b'\n"
                           "           ^^^^^\n"
                           "hint: Write LOWER(x) LIKE 'pattern in lower case'.\n"},
    {"SELECT a MEMBER OF b", "NOT_SUPPORTED: the operator MEMBER is not supported\n"
                             "t:1:10\n"
                             "  SELECT a MEMBER OF b\n"
                             "           ^^^^^^\n"},
    {"SELECT a NOT NULL FROM t",
     "SYNTAX_ERROR: syntax error at or near \"NOT\"\n"
     "t:1:10\n"
     "  SELECT a NOT NULL FROM t\n"
     "           ^^^\n"
     "detail: expected an operator, or NOT IN, NOT BETWEEN, NOT LIKE or NOT SIMILAR TO\n"
     "hint: Write IS NOT NULL.\n"},
    {"SELECT a CONTAINS b", "NOT_SUPPORTED: the operator CONTAINS is not supported\n"
                            "t:1:10\n"
                            "  SELECT a CONTAINS b\n"
                            "           ^^^^^^^^\n"},
    {"SELECT a RLIKE b", "NOT_SUPPORTED: RLIKE is not supported\n"
                         "t:1:10\n"
                         "  SELECT a RLIKE b\n"
                         "           ^^^^^\n"
                         "hint: Write REGEXP(x, 'pattern').\n"},
    {"SELECT a IS EMPTY",
     "NOT_SUPPORTED: the test of a multiset or of normalization is not supported\n"
     "t:1:13\n"
     "  SELECT a IS EMPTY\n"
     "              ^^^^^\n"},
    {"SELECT a LIKE", "SYNTAX_ERROR: syntax error at the end of the text\n"
                      "t:1:14\n"
                      "  SELECT a LIKE\n"
                      "               ^\n"
                      "detail: expected an expression\n"},
    {"SELECT NOT", "SYNTAX_ERROR: syntax error at the end of the text\n"
                   "t:1:11\n"
                   "  SELECT NOT\n"
                   "            ^\n"
                   "detail: expected an expression\n"},
    {"SELECT a AND", "SYNTAX_ERROR: syntax error at the end of the text\n"
                     "t:1:13\n"
                     "  SELECT a AND\n"
                     "              ^\n"
                     "detail: expected an expression\n"},
    {"SELECT a = ANY 1", "SYNTAX_ERROR: syntax error at or near \"1\"\n"
                         "t:1:16\n"
                         "  SELECT a = ANY 1\n"
                         "                 ^\n"
                         "detail: expected \"(\"\n"},
    {"SELECT a IS DISTINCT b", "SYNTAX_ERROR: syntax error at or near \"b\"\n"
                               "t:1:22\n"
                               "  SELECT a IS DISTINCT b\n"
                               "                       ^\n"
                               "detail: expected FROM\n"},
    {"SELECT a SIMILAR b", "SYNTAX_ERROR: syntax error at or near \"b\"\n"
                           "t:1:18\n"
                           "  SELECT a SIMILAR b\n"
                           "                   ^\n"
                           "detail: expected TO\n"},
};

static void operators_follow_their_levels(void **state)
{
    (void)state;
    check_prints(PARSE_EXPR, prints, count_of(prints));
}

static void wrong_operators_are_reported(void **state)
{
    (void)state;
    check_errors(PARSE_SCRIPT, errors, count_of(errors));
}

static void and_chains_are_one_node(void **state)
{
    (void)state;
    parsed p;
    parse_expr_text("a AND b = 1 AND c AND (d AND e)", &p);
    const ms_ast_logic *logic = ms_ast_logic_of(p.expr);
    assert_int_equal(logic->op, MS_AST_OP_AND);
    assert_int_equal(logic->operand_count, 4);
    assert_int_equal(logic->operands[1]->kind, MS_AST_BINARY);
    assert_int_equal(logic->operands[3]->kind, MS_AST_LOGIC);
    assert_int_equal(p.expr->height, 3);
    ms_arena_release(&p.arena);
}

static void spans_cover_the_text_as_written(void **state)
{
    (void)state;
    parsed p;
    parse_expr_text("  (a + b) * c  IS NOT DISTINCT  FROM d ", &p);
    const ms_ast_binary *binary = ms_ast_binary_of(p.expr);
    assert_int_equal(binary->op, MS_AST_OP_NOT_DISTINCT);
    assert_span(&p, p.expr->span, "(a + b) * c  IS NOT DISTINCT  FROM d");
    assert_span(&p, binary->op_span, "IS NOT DISTINCT  FROM");
    assert_span(&p, binary->left->span, "(a + b) * c");
    const ms_ast_binary *product = ms_ast_binary_of(binary->left);
    assert_span(&p, product->op_span, "*");
    assert_span(&p, product->left->span, "a + b");
    ms_arena_release(&p.arena);
}

static void predicates_keep_their_words(void **state)
{
    (void)state;
    parsed p;
    parse_expr_text("a NOT SIMILAR TO b ESCAPE 'x'", &p);
    const ms_ast_like *like = ms_ast_like_of(p.expr);
    assert_true(like->similar && like->negated);
    assert_span(&p, like->op_span, "NOT SIMILAR TO");
    assert_str_equal(ms_ast_literal_of(like->escape)->text, "x");
    ms_arena_release(&p.arena);
    parse_expr_text("a >= ALL (1, 2)", &p);
    const ms_ast_quantified *quantified = ms_ast_quantified_of(p.expr);
    assert_true(quantified->all && quantified->query == NULL);
    assert_int_equal(quantified->op, MS_AST_OP_GREATER_EQUAL);
    assert_int_equal(quantified->item_count, 2);
    ms_arena_release(&p.arena);
    parse_expr_text("a NOT IN (SELECT 1)", &p);
    assert_true(ms_ast_in_of(p.expr)->negated && ms_ast_in_of(p.expr)->query != NULL);
    ms_arena_release(&p.arena);
}

/* prefix, then a core, then suffix, each side repeated. */
static ms_status parse_nest(const char *prefix, const char *core, const char *suffix,
                            uint32_t count)
{
    ms_buf buf;
    ms_buf_init(&buf, 1 << 20);
    repeat_text(&buf, prefix, count);
    repeat_text(&buf, core, 1);
    repeat_text(&buf, suffix, count);
    ms_status st = parse_failing(PARSE_EXPR, ms_buf_view(&buf));
    ms_buf_release(&buf);
    return st;
}

static void deep_nesting_is_refused_and_legal_nesting_is_not(void **state)
{
    (void)state;
    static const struct {
        const char *prefix;
        const char *suffix;
        uint32_t legal;
    } nests[] = {
        {"(", ")", 199},
        {"- ", "", 199},
        {"NOT ", "", 199},
        {"", " + 1", 199},
        {"f(", ")", 199},
        {"ROW(", ")", 199},
        {"ARRAY[", "]", 199},
        {"a[", "]", 199},
        {"", "[1]", 199},
        {"", " IS NULL", 199},
        {"CASE ", " WHEN 1 THEN 2 END", 199},
        {"CAST(", " AS INT)", 199},
        {"(SELECT ", ")", 66},
        {"EXISTS (SELECT ", ")", 66},
        {"a IN (", ")", 199},
        {"a BETWEEN ", " AND 1", 1},
    };
    for (size_t i = 0; i < count_of(nests); i++) {
        ms_status st = parse_nest(nests[i].prefix, "1", nests[i].suffix, nests[i].legal);
        if (st.code != MS_OK) {
            fail_msg("%s x %u: %s", nests[i].prefix, nests[i].legal, st.message);
        }
        st = parse_nest(nests[i].prefix, "1", nests[i].suffix, 2000);
        assert_int_equal(st.code, MS_STATEMENT_TOO_LARGE);
        assert_string_equal(st.message, "the statement nests deeper than the limit of 200");
    }
}

static void long_chains_of_and_are_no_nesting(void **state)
{
    (void)state;
    assert_int_equal(parse_nest("a OR ", "b", "", 15000).code, MS_OK);
    assert_int_equal(parse_nest("a AND ", "b", "", 25000).code, MS_STATEMENT_TOO_LARGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_follow_their_levels),
        cmocka_unit_test(wrong_operators_are_reported),
        cmocka_unit_test(and_chains_are_one_node),
        cmocka_unit_test(spans_cover_the_text_as_written),
        cmocka_unit_test(predicates_keep_their_words),
        cmocka_unit_test(deep_nesting_is_refused_and_legal_nesting_is_not),
        cmocka_unit_test(long_chains_of_and_are_no_nesting),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
