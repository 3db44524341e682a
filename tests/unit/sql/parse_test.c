/* SPDX-License-Identifier: Apache-2.0 */
#include "sql_testing.h"

static const print_case scripts[] = {
    {"", ""},
    {"  ;; ;", ""},
    {"SELECT 1; SELECT 2", "SELECT 1; SELECT 2"},
    {"SELECT 1;;\nSELECT 2;-- end", "SELECT 1; SELECT 2"},
    {"SET 'a' = 'b;c'; /* ; */ SHOW TABLES;", "SET 'a' = 'b;c'; SHOW TABLES"},
};

static const error_case errors[] = {
    {"SELECT a FORM t", "SYNTAX_ERROR: syntax error at or near \"FORM\"\n"
                        "t:1:10\n"
                        "  SELECT a FORM t\n"
                        "           ^^^^\n"
                        "detail: expected \",\" or FROM\n"
                        "hint: Did you mean FROM?\n"},
    {"SELECT * FORM t", "SYNTAX_ERROR: syntax error at or near \"FORM\"\n"
                        "t:1:10\n"
                        "  SELECT * FORM t\n"
                        "           ^^^^\n"
                        "detail: expected \",\" or FROM\n"
                        "hint: Did you mean FROM?\n"},
    {"SELECT a FROM t WERE x = 1", "SYNTAX_ERROR: syntax error at or near \"WERE\"\n"
                                   "t:1:17\n"
                                   "  SELECT a FROM t WERE x = 1\n"
                                   "                  ^^^^\n"
                                   "detail: expected the end of the statement\n"
                                   "hint: Did you mean WHERE?\n"},
    {"SELECT a FROM t GRUOP BY a", "SYNTAX_ERROR: syntax error at or near \"GRUOP\"\n"
                                   "t:1:17\n"
                                   "  SELECT a FROM t GRUOP BY a\n"
                                   "                  ^^^^^\n"
                                   "detail: expected the end of the statement\n"
                                   "hint: Did you mean GROUP?\n"},
    {"SELCT 1", "SYNTAX_ERROR: syntax error at or near \"SELCT\"\n"
                "t:1:1\n"
                "  SELCT 1\n"
                "  ^^^^^\n"
                "detail: expected a statement\n"
                "hint: Did you mean SELECT?\n"},
    {"SELECT a b c FROM t", "SYNTAX_ERROR: syntax error at or near \"c\"\n"
                            "t:1:12\n"
                            "  SELECT a b c FROM t\n"
                            "             ^\n"
                            "detail: expected \",\" or FROM\n"
                            "hint: Perhaps a comma is missing before it.\n"},
    {"SELECT a,, b FROM t", "SYNTAX_ERROR: syntax error at or near \",\"\n"
                            "t:1:10\n"
                            "  SELECT a,, b FROM t\n"
                            "           ^\n"
                            "detail: expected an expression\n"},
    {"SELECT a, FROM t", "SYNTAX_ERROR: syntax error at or near \"FROM\"\n"
                         "t:1:11\n"
                         "  SELECT a, FROM t\n"
                         "            ^^^^\n"
                         "detail: expected an expression\n"},
    {"SELECT FROM t", "SYNTAX_ERROR: syntax error at or near \"FROM\"\n"
                      "t:1:8\n"
                      "  SELECT FROM t\n"
                      "         ^^^^\n"
                      "detail: expected an expression\n"},
    {"SELECT", "SYNTAX_ERROR: syntax error at the end of the text\n"
               "t:1:7\n"
               "  SELECT\n"
               "        ^\n"
               "detail: expected an expression\n"},
    {"SELECT a AS value FROM t",
     "SYNTAX_ERROR: syntax error at or near \"value\"\n"
     "t:1:13\n"
     "  SELECT a AS value FROM t\n"
     "              ^^^^^\n"
     "detail: expected an alias\n"
     "hint: value is a reserved word; a name like it is written `value`.\n"},
    {"SELECT a value FROM t",
     "SYNTAX_ERROR: syntax error at or near \"value\"\n"
     "t:1:10\n"
     "  SELECT a value FROM t\n"
     "           ^^^^^\n"
     "detail: expected the end of the statement\n"
     "hint: value is a reserved word; a name like it is written `value`.\n"},
    {"SELECT 1 SELECT 2", "SYNTAX_ERROR: syntax error at or near \"SELECT\"\n"
                          "t:1:10\n"
                          "  SELECT 1 SELECT 2\n"
                          "           ^^^^^^\n"
                          "detail: expected the end of the statement\n"},
    {"SELECT 1;; SELECT ; SELECT 2", "SYNTAX_ERROR: syntax error at or near \";\"\n"
                                     "t:1:19\n"
                                     "  SELECT 1;; SELECT ; SELECT 2\n"
                                     "                    ^\n"
                                     "detail: expected an expression\n"},
    {"SELECT\n\ta,\n\tb c d\nFROM t", "SYNTAX_ERROR: syntax error at or near \"d\"\n"
                                      "t:3:6\n"
                                      "      b c d\n"
                                      "          ^\n"
                                      "detail: expected \",\" or FROM\n"
                                      "hint: Perhaps a comma is missing before it.\n"},
    {"SELECT 't\303\244glich gr\303\266\303\237er', x y z",
     "SYNTAX_ERROR: syntax error at or near \"z\"\n"
     "t:1:30\n"
     "  SELECT 't\303\244glich gr\303\266\303\237er', x y z\n"
     "                               ^\n"
     "detail: expected \",\" or FROM\n"
     "hint: Perhaps a comma is missing before it.\n"},
    {"SELECT "
     "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
     "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
     "xxxxxxxxxxxxxxx', a b c, "
     "'yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
     "yyyyyyyy'",
     "SYNTAX_ERROR: syntax error at or near \"c\"\n"
     "t:1:216\n"
     "  ...xxxxxxxxxxxxxxxxxxxxxx', a b c, "
     "'yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy...\n"
     "                                  ^\n"
     "detail: expected \",\" or FROM\n"
     "hint: Perhaps a comma is missing before it.\n"},
    {"SELECT a FROM t WHERE x == 1", "SYNTAX_ERROR: syntax error at or near \"==\"\n"
                                     "t:1:25\n"
                                     "  SELECT a FROM t WHERE x == 1\n"
                                     "                          ^^\n"
                                     "hint: Write = to compare.\n"},
    {"SELECT a FROM t WHERE x != 1", "SYNTAX_ERROR: syntax error at or near \"!=\"\n"
                                     "t:1:25\n"
                                     "  SELECT a FROM t WHERE x != 1\n"
                                     "                          ^^\n"
                                     "hint: Write <> for \"not equal\".\n"},
    {"SELECT \"a\" FROM t",
     "SYNTAX_ERROR: syntax error at or near \"\"\"\n"
     "t:1:8\n"
     "  SELECT \"a\" FROM t\n"
     "         ^\n"
     "hint: Write identifiers in back-ticks and strings in single quotes.\n"},
    {"SELECT 'a FROM t", "SYNTAX_ERROR: unterminated string\n"
                         "t:1:8\n"
                         "  SELECT 'a FROM t\n"
                         "         ^\n"
                         "hint: End it with '; inside, write '' for the quote itself.\n"},
    {"SELECT `a FROM t", "SYNTAX_ERROR: unterminated identifier\n"
                         "t:1:8\n"
                         "  SELECT `a FROM t\n"
                         "         ^\n"
                         "hint: End it with `; inside, write `` for the quote itself.\n"},
    {"SELECT a /* FROM t", "SYNTAX_ERROR: unterminated comment\n"
                           "t:1:10\n"
                           "  SELECT a /* FROM t\n"
                           "           ^^\n"
                           "hint: End it with */; comments do not nest.\n"},
    {"SELECT x::INT FROM t", "SYNTAX_ERROR: syntax error at or near \"::\"\n"
                             "t:1:9\n"
                             "  SELECT x::INT FROM t\n"
                             "          ^^\n"
                             "hint: Write CAST(x AS type).\n"},
    {"SELECT ? FROM t",
     "SYNTAX_ERROR: syntax error at or near \"?\"\n"
     "t:1:8\n"
     "  SELECT ? FROM t\n"
     "         ^\n"
     "hint: Parameters are not supported; ${NAME} in a script is replaced by --define.\n"},
    {"SELECT 12abc", "SYNTAX_ERROR: a letter follows a number at or near \"12abc\"\n"
                     "t:1:8\n"
                     "  SELECT 12abc\n"
                     "         ^^^^^\n"
                     "hint: Separate them by a blank, or write a name in back-ticks.\n"},
    {"SELECT 1e", "SYNTAX_ERROR: a letter follows a number at or near \"1e\"\n"
                  "t:1:8\n"
                  "  SELECT 1e\n"
                  "         ^^\n"
                  "hint: Separate them by a blank, or write a name in back-ticks.\n"},
    {"SELECT N'abc'", "NOT_SUPPORTED: strings with the prefix N are not supported\n"
                      "t:1:8\n"
                      "  SELECT N'abc'\n"
                      "         ^\n"
                      "hint: Strings are UTF-8; write '...', or U&'...' for escapes.\n"},
    {"SELECT _UTF16'abc'", "NOT_SUPPORTED: strings with the prefix _UTF16 are not supported\n"
                           "t:1:8\n"
                           "  SELECT _UTF16'abc'\n"
                           "         ^^^^^^\n"
                           "hint: Strings are UTF-8; write '...', or U&'...' for escapes.\n"},
    {"SELECT a\302\240FROM t", "SYNTAX_ERROR: syntax error at the character U+00A0\n"
                               "t:1:9\n"
                               "  SELECT a\302\240FROM t\n"
                               "          ^\n"
                               "hint: This is a no-break space; write a plain one.\n"},
    {"SELECT \342\200\234a\342\200\235",
     "SYNTAX_ERROR: syntax error at or near \"\342\200\234\"\n"
     "t:1:8\n"
     "  SELECT \342\200\234a\342\200\235\n"
     "         ^\n"
     "hint: Write identifiers in back-ticks and strings in single quotes.\n"},
    {"SELECT a\001", "SYNTAX_ERROR: syntax error at the character U+0001\n"
                     "t:1:9\n"
                     "  SELECT a\357\277\275\n"
                     "          ^\n"},
    {"SELECT ``", "SYNTAX_ERROR: an identifier in back-ticks is empty\n"
                  "t:1:8\n"
                  "  SELECT ``\n"
                  "         ^^\n"},
};

static void scripts_are_split_at_semicolons(void **state)
{
    (void)state;
    check_prints(PARSE_SCRIPT, scripts, count_of(scripts));
}

static void mistakes_are_explained(void **state)
{
    (void)state;
    check_errors(PARSE_SCRIPT, errors, count_of(errors));
}

static void an_error_anywhere_leaves_no_statement(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_status st = {0};
    ms_source source;
    const ms_ast_script *script = (const ms_ast_script *)&arena;
    assert_ok(
        ms_source_init(&source, ms_str_lit("t"), ms_str_lit("SELECT 1; SELECT 2; SELECT"), &st));
    assert_int_equal(ms_sql_parse_script(&source, &arena, &script, &st), MS_SYNTAX_ERROR);
    assert_null(script);
    ms_arena_release(&arena);
}

static void statement_spans_leave_out_the_semicolon(void **state)
{
    (void)state;
    parsed p;
    parse_script_text(" SELECT 1 ;\n\tSHOW TABLES -- x\n;", &p);
    assert_int_equal(p.script->stmt_count, 2);
    assert_span(&p, p.script->stmts[0]->span, "SELECT 1");
    assert_span(&p, p.script->stmts[1]->span, "SHOW TABLES");
    ms_arena_release(&p.arena);
}

static void an_error_at_the_end_points_behind_the_last_word(void **state)
{
    (void)state;
    ms_status st = parse_failing(PARSE_SCRIPT, ms_str_lit("SELECT a FROM\n\n-- nothing\n  "));
    assert_int_equal(st.span.start, 13);
    assert_int_equal(st.span.end, 13);
}

/* head, then item count times with commas, then tail. */
static ms_status parse_long_list(const char *head, const char *item, uint32_t count,
                                 const char *tail)
{
    ms_buf buf;
    ms_buf_init(&buf, 16 << 20);
    repeat_text(&buf, head, 1);
    repeat_text(&buf, item, 1);
    ms_buf rest;
    ms_buf_init(&rest, 1024);
    repeat_text(&rest, ", ", 1);
    repeat_text(&rest, item, 1);
    ms_status st = {0};
    assert_ok(ms_buf_append_byte(&rest, '\0', &st));
    repeat_text(&buf, rest.ptr, count - 1);
    repeat_text(&buf, tail, 1);
    st = parse_failing(PARSE_SCRIPT, ms_buf_view(&buf));
    ms_buf_release(&rest);
    ms_buf_release(&buf);
    return st;
}

static void lists_and_statements_have_limits(void **state)
{
    (void)state;
    ms_status st = parse_long_list("SELECT a IN (", "1", 20000, ")");
    assert_int_equal(st.code, MS_OK);
    st = parse_long_list("SELECT a IN (", "1", 20001, ")");
    assert_int_equal(st.code, MS_STATEMENT_TOO_LARGE);
    assert_string_equal(st.message, "a list has more items than the limit of 20000");
    st = parse_long_list("VALUES ", "(1, 2)", 20000, "");
    assert_int_equal(st.code, MS_OK);
    st = parse_long_list("VALUES ", "(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)", 20000, "");
    assert_int_equal(st.code, MS_STATEMENT_TOO_LARGE);
    assert_string_equal(st.message, "a statement has more parts than the limit of 200000");
    st = parse_long_list("SELECT ", "1", 1601, "");
    assert_int_equal(st.code, MS_STATEMENT_TOO_LARGE);
    assert_string_equal(st.message, "a select list has more items than the limit of 1600");
}

static void a_script_has_a_limit_of_parts(void **state)
{
    (void)state;
    ms_buf buf;
    ms_buf_init(&buf, 16 << 20);
    ms_buf one;
    ms_buf_init(&one, 1 << 20);
    repeat_text(&one, "VALUES (0)", 1);
    repeat_text(&one, ",(1,2,3,4,5,6)", 6000);
    repeat_text(&one, ";", 1);
    ms_status st = {0};
    assert_ok(ms_buf_append_byte(&one, '\0', &st));
    repeat_text(&buf, one.ptr, 40);
    st = parse_failing(PARSE_SCRIPT, ms_buf_view(&buf));
    assert_int_equal(st.code, MS_STATEMENT_TOO_LARGE);
    assert_string_equal(st.message, "a script has more parts than the limit of 2000000");
    ms_buf_release(&one);
    ms_buf_release(&buf);
}

static void identifiers_have_a_limit(void **state)
{
    (void)state;
    ms_buf buf;
    ms_buf_init(&buf, 4096);
    repeat_text(&buf, "SELECT ", 1);
    repeat_text(&buf, "a", 255);
    assert_int_equal(parse_failing(PARSE_SCRIPT, ms_buf_view(&buf)).code, MS_OK);
    repeat_text(&buf, "a", 1);
    ms_status st = parse_failing(PARSE_SCRIPT, ms_buf_view(&buf));
    assert_string_equal(st.message, "an identifier has more bytes than the limit of 255");
    ms_buf_release(&buf);
}

static void spans_point_into_the_text_before_replacement(void **state)
{
    (void)state;
    parsed p;
    memset(&p, 0, sizeof(p));
    ms_arena_init(&p.arena, 0);
    ms_status st = {0};
    const ms_variable variables[] = {{ms_str_lit("COLUMNS"), ms_str_lit("a, b + 1")}};
    assert_ok(ms_source_init(&p.source, ms_str_lit("t"),
                             ms_str_lit("SELECT ${COLUMNS}, '${COLUMNS}' FROM t"), &st));
    assert_ok(ms_source_substitute(&p.source, variables, 1, &p.arena, &st));
    assert_ok(ms_sql_parse_script(&p.source, &p.arena, &p.script, &st));
    const ms_ast_query *query = ms_ast_query_stmt_of(p.script->stmts[0])->query;
    const ms_ast_select *select = ms_ast_select_of(query->body);
    assert_int_equal(select->item_count, 3);
    assert_span(&p, select->items[0].span, "${COLUMNS}");
    assert_span(&p, select->items[1].span, "${COLUMNS}");
    assert_str_equal(ms_ast_literal_of(select->items[2].expr)->text, "a, b + 1");
    assert_span(&p, select->items[2].span, "'${COLUMNS}'");
    assert_span(&p, select->from[0]->span, "t");
    ms_arena_release(&p.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scripts_are_split_at_semicolons),
        cmocka_unit_test(mistakes_are_explained),
        cmocka_unit_test(an_error_anywhere_leaves_no_statement),
        cmocka_unit_test(statement_spans_leave_out_the_semicolon),
        cmocka_unit_test(an_error_at_the_end_points_behind_the_last_word),
        cmocka_unit_test(lists_and_statements_have_limits),
        cmocka_unit_test(a_script_has_a_limit_of_parts),
        cmocka_unit_test(identifiers_have_a_limit),
        cmocka_unit_test(spans_point_into_the_text_before_replacement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
