/* SPDX-License-Identifier: Apache-2.0 */
#include "sql_testing.h"

static const print_case prints[] = {
    {"INSERT INTO t SELECT * FROM s", "INSERT INTO `t` SELECT * FROM `s`"},
    {"INSERT INTO t VALUES (1, 'a')", "INSERT INTO `t` VALUES (1, 'a')"},
    {"INSERT INTO t (a, r.b, c) SELECT a, b, c FROM s",
     "INSERT INTO `t` (`a`, `r`.`b`, `c`) SELECT `a`, `b`, `c` FROM `s`"},
    {"INSERT INTO t (SELECT 1)", "INSERT INTO `t` SELECT 1"},
    {"INSERT INTO t ((SELECT 1) UNION (SELECT 2))", "INSERT INTO `t` SELECT 1 UNION SELECT 2"},
    {"INSERT OVERWRITE t PARTITION (d = '2024-01-01', h = -1) (a) SELECT a FROM s",
     "INSERT OVERWRITE `t` PARTITION (`d` = '2024-01-01', `h` = -1) (`a`) SELECT `a` FROM `s`"},
    {"INSERT INTO t /*+ OPTIONS('sink.parallelism' = '2') */ (a) TABLE s",
     "INSERT INTO `t` /*+ OPTIONS('sink.parallelism' = '2') */ (`a`) TABLE `s`"},
    {"INSERT INTO t SELECT * FROM s ON CONFLICT DO NOTHING",
     "INSERT INTO `t` SELECT * FROM `s` ON CONFLICT DO NOTHING"},
    {"INSERT INTO t SELECT * FROM s ON CONFLICT DO ERROR",
     "INSERT INTO `t` SELECT * FROM `s` ON CONFLICT DO ERROR"},
    {"INSERT INTO t WITH a AS (SELECT 1) SELECT * FROM a ON CONFLICT DO DEDUPLICATE",
     "INSERT INTO `t` WITH `a` AS (SELECT 1) SELECT * FROM `a` ON CONFLICT DO DEDUPLICATE"},
    {"EXECUTE INSERT INTO t SELECT 1", "INSERT INTO `t` SELECT 1"},
    {"EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; INSERT INTO b SELECT 2; END",
     "EXECUTE STATEMENT SET BEGIN INSERT INTO `a` SELECT 1; INSERT INTO `b` SELECT 2; END"},
    {"BEGIN STATEMENT SET; INSERT INTO a SELECT 1; END",
     "EXECUTE STATEMENT SET BEGIN INSERT INTO `a` SELECT 1; END"},
    {"EXPLAIN SELECT 1", NULL},
    {"EXPLAIN PLAN FOR SELECT 1", "EXPLAIN SELECT 1"},
    {"EXPLAIN CHANGELOG_MODE, ESTIMATED_COST INSERT INTO t SELECT 1",
     "EXPLAIN ESTIMATED_COST, CHANGELOG_MODE INSERT INTO `t` SELECT 1"},
    {"EXPLAIN JSON_EXECUTION_PLAN, PLAN_ADVICE VALUES 1",
     "EXPLAIN PLAN_ADVICE, JSON_EXECUTION_PLAN VALUES (1)"},
    {"EXPLAIN STATEMENT SET BEGIN INSERT INTO a SELECT 1; INSERT INTO b SELECT 2; END",
     "EXPLAIN STATEMENT SET BEGIN INSERT INTO `a` SELECT 1; INSERT INTO `b` SELECT 2; END"},
    {"EXPLAIN EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; END",
     "EXPLAIN STATEMENT SET BEGIN INSERT INTO `a` SELECT 1; END"},
    {"EXPLAIN (SELECT 1)", "EXPLAIN SELECT 1"},
    {"SHOW TABLES", NULL},
    {"SHOW TABLES FROM c.d NOT LIKE 'a%'", "SHOW TABLES FROM `c`.`d` NOT LIKE 'a%'"},
    {"SHOW VIEWS IN d LIKE 'v_'", "SHOW VIEWS FROM `d` LIKE 'v_'"},
    {"SHOW COLUMNS FROM t ILIKE '%A'", "SHOW COLUMNS FROM `t` ILIKE '%A'"},
    {"SHOW FUNCTIONS", NULL},
    {"SHOW USER FUNCTIONS LIKE 'f%'", NULL},
    {"SHOW CATALOGS LIKE 'c%'", NULL},
    {"SHOW DATABASES", NULL},
    {"SHOW CURRENT CATALOG", NULL},
    {"SHOW CURRENT DATABASE", NULL},
    {"SHOW CREATE TABLE a.t", "SHOW CREATE TABLE `a`.`t`"},
    {"SHOW CREATE VIEW v", "SHOW CREATE VIEW `v`"},
    {"SHOW JOBS", NULL},
    {"DESCRIBE t", "DESCRIBE `t`"},
    {"DESC a.b.t", "DESCRIBE `a`.`b`.`t`"},
    {"DESCRIBE EXTENDED t", "DESCRIBE EXTENDED `t`"},
    {"DESCRIBE catalog", "DESCRIBE `catalog`"},
    {"SET", NULL},
    {"SET 'table.local-time-zone' = 'UTC'", NULL},
    {"RESET", NULL},
    {"RESET 'pipeline.name'", NULL},
    {"ADD JAR '/tmp/x.jar'", NULL},
};

static const error_case errors[] = {
    {"INSERT t SELECT 1", "SYNTAX_ERROR: syntax error at or near \"t\"\n"
                          "t:1:8\n"
                          "  INSERT t SELECT 1\n"
                          "         ^\n"
                          "detail: expected INTO or OVERWRITE\n"},
    {"INSERT INTO t", "SYNTAX_ERROR: syntax error at the end of the text\n"
                      "t:1:14\n"
                      "  INSERT INTO t\n"
                      "               ^\n"
                      "detail: expected a query or VALUES\n"},
    {"INSERT INTO t (a b) SELECT 1", "SYNTAX_ERROR: syntax error at or near \"b\"\n"
                                     "t:1:18\n"
                                     "  INSERT INTO t (a b) SELECT 1\n"
                                     "                   ^\n"
                                     "detail: expected \",\" or \")\"\n"
                                     "hint: Perhaps a comma is missing before it.\n"},
    {"INSERT INTO t SELECT 1 ON CONFLICT DO UPDATE",
     "SYNTAX_ERROR: syntax error at or near \"UPDATE\"\n"
     "t:1:39\n"
     "  INSERT INTO t SELECT 1 ON CONFLICT DO UPDATE\n"
     "                                        ^^^^^^\n"
     "detail: expected NOTHING, ERROR or DEDUPLICATE\n"},
    {"EXECUTE STATEMENT SET BEGIN SELECT 1; END",
     "SYNTAX_ERROR: syntax error at or near \"SELECT\"\n"
     "t:1:29\n"
     "  EXECUTE STATEMENT SET BEGIN SELECT 1; END\n"
     "                              ^^^^^^\n"
     "detail: expected INSERT\n"},
    {"EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1 END",
     "SYNTAX_ERROR: syntax error at or near \"END\"\n"
     "t:1:52\n"
     "  EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1 END\n"
     "                                                     ^^^\n"
     "detail: expected \";\"\n"},
    {"EXECUTE PLAN 'x'", "NOT_SUPPORTED: EXECUTE PLAN is not supported\n"
                         "t:1:1\n"
                         "  EXECUTE PLAN 'x'\n"
                         "  ^^^^^^^^^^^^\n"
                         "hint: A checkpoint stores the plan of its job.\n"},
    {"BEGIN TRANSACTION", "SYNTAX_ERROR: syntax error at or near \"TRANSACTION\"\n"
                          "t:1:7\n"
                          "  BEGIN TRANSACTION\n"
                          "        ^^^^^^^^^^^\n"
                          "detail: expected STATEMENT\n"},
    {"EXPLAIN CREATE TABLE t (a INT)", "SYNTAX_ERROR: syntax error at or near \"CREATE\"\n"
                                       "t:1:9\n"
                                       "  EXPLAIN CREATE TABLE t (a INT)\n"
                                       "          ^^^^^^\n"
                                       "detail: expected a query, INSERT or STATEMENT SET\n"},
    {"EXPLAIN ESTIMATED_COST, VERBOSE SELECT 1",
     "SYNTAX_ERROR: syntax error at or near \"VERBOSE\"\n"
     "t:1:25\n"
     "  EXPLAIN ESTIMATED_COST, VERBOSE SELECT 1\n"
     "                          ^^^^^^^\n"
     "detail: expected ESTIMATED_COST, CHANGELOG_MODE, PLAN_ADVICE or JSON_EXECUTION_PLAN\n"},
    {"SHOW PARTITIONS t", "NOT_SUPPORTED: SHOW PARTITIONS is not supported\n"
                          "t:1:1\n"
                          "  SHOW PARTITIONS t\n"
                          "  ^^^^^^^^^^^^^^^\n"},
    {"SHOW CREATE CATALOG c", "NOT_SUPPORTED: SHOW CREATE CATALOG is not supported\n"
                              "t:1:1\n"
                              "  SHOW CREATE CATALOG c\n"
                              "  ^^^^^^^^^^^^^^^^^^^\n"},
    {"SHOW THINGS", "SYNTAX_ERROR: syntax error at or near \"THINGS\"\n"
                    "t:1:6\n"
                    "  SHOW THINGS\n"
                    "       ^^^^^^\n"
                    "detail: expected TABLES, VIEWS, COLUMNS, FUNCTIONS, CATALOGS, DATABASES, "
                    "JOBS, CREATE TABLE, CREATE VIEW or CURRENT CATALOG\n"},
    {"SHOW TABLES LIKE a", "SYNTAX_ERROR: syntax error at or near \"a\"\n"
                           "t:1:18\n"
                           "  SHOW TABLES LIKE a\n"
                           "                   ^\n"
                           "detail: expected a pattern in single quotes\n"},
    {"SHOW CREATE TABLE", "SYNTAX_ERROR: syntax error at the end of the text\n"
                          "t:1:18\n"
                          "  SHOW CREATE TABLE\n"
                          "                   ^\n"
                          "detail: expected a name\n"},
    {"DESCRIBE FUNCTION f", "NOT_SUPPORTED: DESCRIBE FUNCTION is not supported\n"
                            "t:1:1\n"
                            "  DESCRIBE FUNCTION f\n"
                            "  ^^^^^^^^^^^^^^^^^\n"},
    {"SET a = b", "SYNTAX_ERROR: syntax error at or near \"a\"\n"
                  "t:1:5\n"
                  "  SET a = b\n"
                  "      ^\n"
                  "detail: expected a key in single quotes\n"
                  "hint: Write SET 'key' = 'value', with both in single quotes.\n"},
    {"SET 'a' = b", "SYNTAX_ERROR: syntax error at or near \"b\"\n"
                    "t:1:11\n"
                    "  SET 'a' = b\n"
                    "            ^\n"
                    "detail: expected a value in single quotes\n"
                    "hint: Write SET 'key' = 'value', with both in single quotes.\n"},
    {"SET 'a'", "SYNTAX_ERROR: syntax error at the end of the text\n"
                "t:1:8\n"
                "  SET 'a'\n"
                "         ^\n"
                "detail: expected \"=\"\n"},
    {"RESET a", "SYNTAX_ERROR: syntax error at or near \"a\"\n"
                "t:1:7\n"
                "  RESET a\n"
                "        ^\n"
                "detail: expected a key in single quotes\n"},
    {"ADD JAR x", "SYNTAX_ERROR: syntax error at or near \"x\"\n"
                  "t:1:9\n"
                  "  ADD JAR x\n"
                  "          ^\n"
                  "detail: expected a path in single quotes\n"},
    {"ALTER TABLE t RENAME TO u", "NOT_SUPPORTED: ALTER TABLE is not supported\n"
                                  "t:1:1\n"
                                  "  ALTER TABLE t RENAME TO u\n"
                                  "  ^^^^^^^^^^^\n"
                                  "hint: Drop the object and create it anew.\n"},
    {"DELETE FROM t",
     "NOT_SUPPORTED: DELETE is not supported\n"
     "t:1:1\n"
     "  DELETE FROM t\n"
     "  ^^^^^^\n"
     "hint: Rows are deleted by INSERT INTO an upsert sink from a query that deletes.\n"},
    {"UPDATE t SET a = 1",
     "NOT_SUPPORTED: UPDATE is not supported\n"
     "t:1:1\n"
     "  UPDATE t SET a = 1\n"
     "  ^^^^^^\n"
     "hint: INSERT INTO a table with a primary key updates the rows that exist.\n"},
    {"TRUNCATE TABLE t",
     "NOT_SUPPORTED: TRUNCATE TABLE is not supported\n"
     "t:1:1\n"
     "  TRUNCATE TABLE t\n"
     "  ^^^^^^^^^^^^^^\n"
     "hint: Empty the table where it is stored: its files, or its Bigtable table.\n"},
    {"USE CATALOG c", "NOT_SUPPORTED: USE CATALOG is not supported\n"
                      "t:1:1\n"
                      "  USE CATALOG c\n"
                      "  ^^^^^^^^^^^\n"
                      "hint: Write the full name: catalog.database.table.\n"},
    {"LOAD MODULE hive", "NOT_SUPPORTED: LOAD MODULE is not supported\n"
                         "t:1:1\n"
                         "  LOAD MODULE hive\n"
                         "  ^^^^^^^^^^^\n"
                         "hint: All functions are built in; there are no modules.\n"},
    {"CALL p()", "NOT_SUPPORTED: CALL is not supported\n"
                 "t:1:1\n"
                 "  CALL p()\n"
                 "  ^^^^\n"},
    {"COMPILE PLAN 'x' FOR SELECT 1", "NOT_SUPPORTED: COMPILE PLAN is not supported\n"
                                      "t:1:1\n"
                                      "  COMPILE PLAN 'x' FOR SELECT 1\n"
                                      "  ^^^^^^^^^^^^\n"
                                      "hint: A checkpoint stores the plan of its job.\n"},
    {"STOP JOB 'x'", "NOT_SUPPORTED: STOP JOB is not supported\n"
                     "t:1:1\n"
                     "  STOP JOB 'x'\n"
                     "  ^^^^^^^^\n"},
    {"BEGIN STATEMENT SET INSERT INTO a SELECT 1; END",
     "SYNTAX_ERROR: syntax error at or near \"INSERT\"\n"
     "t:1:21\n"
     "  BEGIN STATEMENT SET INSERT INTO a SELECT 1; END\n"
     "                      ^^^^^^\n"
     "detail: expected \";\"\n"},
    {"EXECUTE SELECT 1", "SYNTAX_ERROR: syntax error at or near \"SELECT\"\n"
                         "t:1:9\n"
                         "  EXECUTE SELECT 1\n"
                         "          ^^^^^^\n"
                         "detail: expected INSERT or STATEMENT SET\n"},
    {"INSERT INTO t PARTITION (a) SELECT 1", "SYNTAX_ERROR: syntax error at or near \")\"\n"
                                             "t:1:27\n"
                                             "  INSERT INTO t PARTITION (a) SELECT 1\n"
                                             "                            ^\n"
                                             "detail: expected \"=\"\n"},
    {"INSERT INTO t SELECT 1 ON CONFLICT", "SYNTAX_ERROR: syntax error at the end of the text\n"
                                           "t:1:35\n"
                                           "  INSERT INTO t SELECT 1 ON CONFLICT\n"
                                           "                                    ^\n"
                                           "detail: expected DO\n"},
    {"SHOW COLUMNS t", "SYNTAX_ERROR: syntax error at or near \"t\"\n"
                       "t:1:14\n"
                       "  SHOW COLUMNS t\n"
                       "               ^\n"
                       "detail: expected FROM or IN\n"},
    {"SHOW TABLES NOT 'a'", "SYNTAX_ERROR: syntax error at or near \"'a'\"\n"
                            "t:1:17\n"
                            "  SHOW TABLES NOT 'a'\n"
                            "                  ^^^\n"
                            "detail: expected LIKE or ILIKE\n"},
    {"SHOW MATERIALIZED TABLES", "NOT_SUPPORTED: SHOW MATERIALIZED TABLES is not supported\n"
                                 "t:1:1\n"
                                 "  SHOW MATERIALIZED TABLES\n"
                                 "  ^^^^^^^^^^^^^^^^^^^^^^^^\n"},
    {"SET 'a' 'b'", "SYNTAX_ERROR: syntax error at or near \"'b'\"\n"
                    "t:1:9\n"
                    "  SET 'a' 'b'\n"
                    "          ^^^\n"
                    "detail: expected \"=\"\n"},
    {"ANALYZE TABLE t", "NOT_SUPPORTED: ANALYZE TABLE is not supported\n"
                        "t:1:1\n"
                        "  ANALYZE TABLE t\n"
                        "  ^^^^^^^^^^^^^\n"},
    {"MERGE INTO t", "NOT_SUPPORTED: MERGE is not supported\n"
                     "t:1:1\n"
                     "  MERGE INTO t\n"
                     "  ^^^^^\n"
                     "hint: INSERT INTO a table with a primary key updates the rows that exist.\n"},
    {"UPSERT INTO t SELECT 1",
     "NOT_SUPPORTED: UPSERT INTO is not supported\n"
     "t:1:1\n"
     "  UPSERT INTO t SELECT 1\n"
     "  ^^^^^^^^^^^\n"
     "hint: INSERT INTO a table with a primary key updates the rows that exist.\n"},
    {"REPLACE TABLE t", "NOT_SUPPORTED: REPLACE TABLE is not supported\n"
                        "t:1:1\n"
                        "  REPLACE TABLE t\n"
                        "  ^^^^^^^^^^^^^\n"
                        "hint: Drop the table and create it anew.\n"},
    {"UNLOAD MODULE x", "NOT_SUPPORTED: UNLOAD MODULE is not supported\n"
                        "t:1:1\n"
                        "  UNLOAD MODULE x\n"
                        "  ^^^^^^^^^^^^^\n"
                        "hint: All functions are built in; there are no modules.\n"},
    {"REMOVE JAR 'x'", "NOT_SUPPORTED: REMOVE JAR is not supported\n"
                       "t:1:1\n"
                       "  REMOVE JAR 'x'\n"
                       "  ^^^^^^^^^^\n"
                       "hint: Connectors are built in; no JAR is ever loaded.\n"},
    {"EXPLAIN", "SYNTAX_ERROR: syntax error at the end of the text\n"
                "t:1:8\n"
                "  EXPLAIN\n"
                "         ^\n"
                "detail: expected a query, INSERT or STATEMENT SET\n"},
    {"DESCRIBE", "SYNTAX_ERROR: syntax error at the end of the text\n"
                 "t:1:9\n"
                 "  DESCRIBE\n"
                 "          ^\n"
                 "detail: expected a table or view\n"},
    {"ADD FILE 'x'", "SYNTAX_ERROR: syntax error at or near \"FILE\"\n"
                     "t:1:5\n"
                     "  ADD FILE 'x'\n"
                     "      ^^^^\n"
                     "detail: expected JAR\n"},
    {"INSERT INTO t (a, b SELECT 1", "SYNTAX_ERROR: syntax error at or near \"SELECT\"\n"
                                     "t:1:21\n"
                                     "  INSERT INTO t (a, b SELECT 1\n"
                                     "                      ^^^^^^\n"
                                     "detail: expected \",\" or \")\"\n"},
    {"QUIT", "SYNTAX_ERROR: syntax error at or near \"QUIT\"\n"
             "t:1:1\n"
             "  QUIT\n"
             "  ^^^^\n"
             "detail: expected a statement\n"},
    {")", "SYNTAX_ERROR: syntax error at or near \")\"\n"
          "t:1:1\n"
          "  )\n"
          "  ^\n"
          "detail: expected a statement\n"},
    {"42", "SYNTAX_ERROR: syntax error at or near \"42\"\n"
           "t:1:1\n"
           "  42\n"
           "  ^^\n"
           "detail: expected a statement\n"},
};

static void statements_print_as_read(void **state)
{
    (void)state;
    check_prints(PARSE_SCRIPT, prints, count_of(prints));
}

static void wrong_statements_are_reported(void **state)
{
    (void)state;
    check_errors(PARSE_SCRIPT, errors, count_of(errors));
}

static void inserts_keep_their_clauses(void **state)
{
    (void)state;
    parsed p;
    parse_script_text("INSERT INTO d.t PARTITION (p = 'x') (a, b.c) SELECT 1 ON CONFLICT DO ERROR",
                      &p);
    const ms_ast_insert *insert = ms_ast_insert_of(p.script->stmts[0]);
    assert_int_equal(insert->target.count, 2);
    assert_span(&p, insert->partition_span, "PARTITION (p = 'x')");
    assert_int_equal(insert->column_count, 2);
    assert_int_equal(insert->columns[1].count, 2);
    assert_int_equal(insert->conflict, MS_AST_CONFLICT_ERROR);
    assert_span(&p, insert->conflict_span, "ON CONFLICT DO ERROR");
    ms_arena_release(&p.arena);
}

static void both_forms_of_a_statement_set_are_one_statement(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT 1; INSERT INTO b SELECT 2; END",
        "BEGIN STATEMENT SET; INSERT INTO a SELECT 1; INSERT INTO b SELECT 2; END",
    };
    for (size_t i = 0; i < count_of(texts); i++) {
        parsed p;
        parse_script_text(texts[i], &p);
        assert_int_equal(p.script->stmt_count, 1);
        const ms_ast_statement_set *set = ms_ast_statement_set_of(p.script->stmts[0]);
        assert_int_equal(set->insert_count, 2);
        assert_span(&p, p.script->stmts[0]->span, texts[i]);
        assert_span(&p, set->inserts[1]->head.span, "INSERT INTO b SELECT 2");
        ms_arena_release(&p.arena);
    }
}

static void explain_collects_details(void **state)
{
    (void)state;
    parsed p;
    parse_script_text("EXPLAIN PLAN_ADVICE, CHANGELOG_MODE SELECT 1", &p);
    const ms_ast_explain *explain = ms_ast_explain_of(p.script->stmts[0]);
    assert_int_equal(explain->details, MS_AST_EXPLAIN_PLAN_ADVICE | MS_AST_EXPLAIN_CHANGELOG_MODE);
    assert_int_equal(explain->stmt->kind, MS_AST_QUERY_STMT);
    assert_span(&p, explain->details_span, "PLAN_ADVICE, CHANGELOG_MODE");
    ms_arena_release(&p.arena);
    parse_script_text("EXPLAIN PLAN FOR SELECT 1", &p);
    assert_int_equal(ms_ast_explain_of(p.script->stmts[0])->details, 0);
    ms_arena_release(&p.arena);
}

static void settings_may_be_alone(void **state)
{
    (void)state;
    parsed p;
    parse_script_text("SET; SET 'a' = ''; RESET", &p);
    assert_true(ms_ast_text_is_absent(ms_ast_set_of(p.script->stmts[0])->option.key));
    assert_str_equal(ms_ast_set_of(p.script->stmts[1])->option.key.text, "a");
    assert_true(ms_ast_text_is_absent(ms_ast_reset_of(p.script->stmts[2])->key));
    ms_arena_release(&p.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(statements_print_as_read),
        cmocka_unit_test(wrong_statements_are_reported),
        cmocka_unit_test(inserts_keep_their_clauses),
        cmocka_unit_test(both_forms_of_a_statement_set_are_one_statement),
        cmocka_unit_test(explain_collects_details),
        cmocka_unit_test(settings_may_be_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
