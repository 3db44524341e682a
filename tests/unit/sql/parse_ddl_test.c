/* SPDX-License-Identifier: Apache-2.0 */
#include "sql_testing.h"

static const print_case prints[] = {
    {"CREATE TABLE t (a INT)", "CREATE TABLE `t` (`a` INT)"},
    {"CREATE TEMPORARY TABLE IF NOT EXISTS c.d.t (a INT NOT NULL COMMENT 'the a', b AS a + 1 "
     "COMMENT 'twice', c TIMESTAMP(3) METADATA FROM 'timestamp' VIRTUAL, d STRING METADATA, e "
     "BIGINT METADATA VIRTUAL, WATERMARK FOR c AS c - INTERVAL '5' SECOND, PRIMARY KEY (a) NOT "
     "ENFORCED) COMMENT 'a table' PARTITIONED BY (a, b) WITH ('connector' = 'datagen', "
     "'rows-per-second' = '10')",
     "CREATE TEMPORARY TABLE IF NOT EXISTS `c`.`d`.`t` (`a` INT NOT NULL COMMENT 'the a', `b` AS "
     "`a` + 1 COMMENT 'twice', `c` TIMESTAMP(3) METADATA FROM 'timestamp' VIRTUAL, `d` STRING "
     "METADATA, `e` BIGINT METADATA VIRTUAL, WATERMARK FOR `c` AS `c` - INTERVAL '5' SECOND, "
     "PRIMARY KEY (`a`) NOT ENFORCED) COMMENT 'a table' PARTITIONED BY (`a`, `b`) WITH "
     "('connector' = 'datagen', 'rows-per-second' = '10')"},
    {"CREATE TABLE t (a INT PRIMARY KEY NOT ENFORCED COMMENT 'k', b INT CONSTRAINT pk PRIMARY KEY "
     "NOT ENFORCED)",
     "CREATE TABLE `t` (`a` INT COMMENT 'k', `b` INT, PRIMARY KEY (`a`) NOT ENFORCED, CONSTRAINT "
     "`pk` PRIMARY KEY (`b`) NOT ENFORCED)"},
    {"CREATE TABLE t (a INT, CONSTRAINT `my key` PRIMARY KEY (a, b) NOT ENFORCED)",
     "CREATE TABLE `t` (`a` INT, CONSTRAINT `my key` PRIMARY KEY (`a`, `b`) NOT ENFORCED)"},
    {"CREATE TABLE t (a INT) DISTRIBUTED BY HASH(a) INTO 4 BUCKETS WITH ()",
     "CREATE TABLE `t` (`a` INT) DISTRIBUTED BY HASH(`a`) INTO 4 BUCKETS WITH ()"},
    {"CREATE TABLE t (a INT) DISTRIBUTED BY RANGE(a)",
     "CREATE TABLE `t` (`a` INT) DISTRIBUTED BY RANGE(`a`)"},
    {"CREATE TABLE t (a INT) DISTRIBUTED BY (a, b)",
     "CREATE TABLE `t` (`a` INT) DISTRIBUTED BY (`a`, `b`)"},
    {"CREATE TABLE t (a INT) DISTRIBUTED INTO 6 BUCKETS",
     "CREATE TABLE `t` (`a` INT) DISTRIBUTED INTO 6 BUCKETS"},
    {"CREATE TABLE t (a ROW<x INT, y ARRAY<STRING>>, m MAP<STRING, BIGINT NOT NULL> NOT NULL)",
     "CREATE TABLE `t` (`a` ROW<`x` INT, `y` ARRAY<STRING>>, `m` MAP<STRING, BIGINT NOT NULL> NOT "
     "NULL)"},
    {"CREATE TABLE t LIKE s", "CREATE TABLE `t` LIKE `s`"},
    {"CREATE TABLE t (b INT) WITH ('k' = 'v') LIKE s (INCLUDING ALL EXCLUDING OPTIONS OVERWRITING "
     "WATERMARKS)",
     "CREATE TABLE `t` (`b` INT) WITH ('k' = 'v') LIKE `s` (INCLUDING ALL EXCLUDING OPTIONS "
     "OVERWRITING WATERMARKS)"},
    {"CREATE TABLE t (WATERMARK FOR r.ts AS r.ts) LIKE s",
     "CREATE TABLE `t` (WATERMARK FOR `r`.`ts` AS `r`.`ts`) LIKE `s`"},
    {"CREATE TABLE t WITH ('connector' = 'print') AS SELECT * FROM s",
     "CREATE TABLE `t` WITH ('connector' = 'print') AS SELECT * FROM `s`"},
    {"CREATE TABLE t (a INT) AS SELECT a FROM s",
     "CREATE TABLE `t` (`a` INT) AS SELECT `a` FROM `s`"},
    {"CREATE VIEW v AS SELECT 1", "CREATE VIEW `v` AS SELECT 1"},
    {"CREATE TEMPORARY VIEW IF NOT EXISTS a.v (x, y) COMMENT 'it''s a view' AS SELECT 1, 2 FROM t "
     "ORDER BY 1",
     "CREATE TEMPORARY VIEW IF NOT EXISTS `a`.`v` (`x`, `y`) COMMENT 'it''s a view' AS SELECT 1, 2 "
     "FROM `t` ORDER BY 1"},
    {"DROP TABLE t", "DROP TABLE `t`"},
    {"DROP TEMPORARY TABLE IF EXISTS a.b.t", "DROP TEMPORARY TABLE IF EXISTS `a`.`b`.`t`"},
    {"DROP VIEW v", "DROP VIEW `v`"},
    {"DROP TEMPORARY VIEW IF EXISTS v", "DROP TEMPORARY VIEW IF EXISTS `v`"},
};

static const error_case errors[] = {
    {"CREATE TABLE order (a INT)",
     "SYNTAX_ERROR: syntax error at or near \"order\"\n"
     "t:1:14\n"
     "  CREATE TABLE order (a INT)\n"
     "               ^^^^^\n"
     "detail: expected a table name\n"
     "hint: order is a reserved word; a name like it is written `order`.\n"},
    {"CREATE TABLE t (a INT b INT)", "SYNTAX_ERROR: syntax error at or near \"b\"\n"
                                     "t:1:23\n"
                                     "  CREATE TABLE t (a INT b INT)\n"
                                     "                        ^\n"
                                     "detail: expected \",\" or \")\"\n"
                                     "hint: Perhaps a comma is missing before it.\n"},
    {"CREATE TABLE t (a INT, value STRING)",
     "SYNTAX_ERROR: syntax error at or near \"value\"\n"
     "t:1:24\n"
     "  CREATE TABLE t (a INT, value STRING)\n"
     "                         ^^^^^\n"
     "detail: expected a column name\n"
     "hint: value is a reserved word; a name like it is written `value`.\n"},
    {"CREATE TABLE t (a)", "NOT_SUPPORTED: a column without a type is not supported\n"
                           "t:1:17\n"
                           "  CREATE TABLE t (a)\n"
                           "                  ^\n"
                           "hint: Write name type, or leave the list out before AS.\n"},
    {"CREATE TABLE t (a INT,)", "SYNTAX_ERROR: syntax error at or near \")\"\n"
                                "t:1:23\n"
                                "  CREATE TABLE t (a INT,)\n"
                                "                        ^\n"
                                "detail: expected a column name\n"},
    {"CREATE TABLE t (a ARRAY)", "SYNTAX_ERROR: syntax error at or near \")\"\n"
                                 "t:1:24\n"
                                 "  CREATE TABLE t (a ARRAY)\n"
                                 "                         ^\n"
                                 "detail: expected \"<\"\n"},
    {"CREATE TABLE t (a INT PRIMARY KEY)",
     "NOT_SUPPORTED: a PRIMARY KEY that is enforced is not supported\n"
     "t:1:23\n"
     "  CREATE TABLE t (a INT PRIMARY KEY)\n"
     "                        ^^^^^^^^^^^\n"
     "hint: Write PRIMARY KEY ... NOT ENFORCED: the key is trusted, not checked.\n"},
    {"CREATE TABLE t (a INT, PRIMARY KEY (a))",
     "NOT_SUPPORTED: a PRIMARY KEY that is enforced is not supported\n"
     "t:1:24\n"
     "  CREATE TABLE t (a INT, PRIMARY KEY (a))\n"
     "                         ^^^^^^^^^^^^^^^\n"
     "hint: Write PRIMARY KEY ... NOT ENFORCED: the key is trusted, not checked.\n"},
    {"CREATE TABLE t (a INT, PRIMARY KEY (a) ENFORCED)",
     "NOT_SUPPORTED: a PRIMARY KEY that is enforced is not supported\n"
     "t:1:40\n"
     "  CREATE TABLE t (a INT, PRIMARY KEY (a) ENFORCED)\n"
     "                                         ^^^^^^^^\n"
     "hint: Write PRIMARY KEY ... NOT ENFORCED: the key is trusted, not checked.\n"},
    {"CREATE TABLE t (a INT, UNIQUE (a))", "NOT_SUPPORTED: UNIQUE in a table is not supported\n"
                                           "t:1:24\n"
                                           "  CREATE TABLE t (a INT, UNIQUE (a))\n"
                                           "                         ^^^^^^\n"},
    {"CREATE TABLE t (a INT, WATERMARK a AS b)", "SYNTAX_ERROR: syntax error at or near \"a\"\n"
                                                 "t:1:34\n"
                                                 "  CREATE TABLE t (a INT, WATERMARK a AS b)\n"
                                                 "                                   ^\n"
                                                 "detail: expected FOR\n"},
    {"CREATE TABLE t (a INT) WITH (connector = 'print')",
     "SYNTAX_ERROR: syntax error at or near \"connector\"\n"
     "t:1:30\n"
     "  CREATE TABLE t (a INT) WITH (connector = 'print')\n"
     "                               ^^^^^^^^^\n"
     "detail: expected a key in single quotes\n"
     "hint: Write options as 'key' = 'value'.\n"},
    {"CREATE TABLE t (a INT) WITH ('connector' = print)",
     "SYNTAX_ERROR: syntax error at or near \"print\"\n"
     "t:1:44\n"
     "  CREATE TABLE t (a INT) WITH ('connector' = print)\n"
     "                                             ^^^^^\n"
     "detail: expected a value in single quotes\n"
     "hint: Write options as 'key' = 'value', numbers and booleans too.\n"},
    {"CREATE TABLE t (a INT) WITH ('a' = '1' 'b' = '2')",
     "SYNTAX_ERROR: syntax error at or near \"'b'\"\n"
     "t:1:40\n"
     "  CREATE TABLE t (a INT) WITH ('a' = '1' 'b' = '2')\n"
     "                                         ^^^\n"
     "detail: expected \",\" or \")\"\n"
     "hint: Perhaps a comma is missing before it.\n"},
    {"CREATE TABLE t (a INT) WITH ('a' = 1)",
     "SYNTAX_ERROR: syntax error at or near \"1\"\n"
     "t:1:36\n"
     "  CREATE TABLE t (a INT) WITH ('a' = 1)\n"
     "                                     ^\n"
     "detail: expected a value in single quotes\n"
     "hint: Write options as 'key' = 'value', numbers and booleans too.\n"},
    {"CREATE TABLE t (a INT) LIKE s (OVERWRITING ALL)",
     "SYNTAX_ERROR: syntax error at or near \"ALL\"\n"
     "t:1:44\n"
     "  CREATE TABLE t (a INT) LIKE s (OVERWRITING ALL)\n"
     "                                             ^^^\n"
     "detail: expected GENERATED, METADATA, OPTIONS or WATERMARKS\n"},
    {"CREATE TABLE t (a INT) PARTITIONED (a)", "SYNTAX_ERROR: syntax error at or near \"(\"\n"
                                               "t:1:36\n"
                                               "  CREATE TABLE t (a INT) PARTITIONED (a)\n"
                                               "                                     ^\n"
                                               "detail: expected BY\n"},
    {"CREATE TALBE t (a INT)", "SYNTAX_ERROR: syntax error at or near \"TALBE\"\n"
                               "t:1:8\n"
                               "  CREATE TALBE t (a INT)\n"
                               "         ^^^^^\n"
                               "detail: expected TABLE or VIEW\n"
                               "hint: Did you mean TABLE?\n"},
    {"CREATE OR REPLACE TABLE t (a INT)", "NOT_SUPPORTED: CREATE OR REPLACE is not supported\n"
                                          "t:1:1\n"
                                          "  CREATE OR REPLACE TABLE t (a INT)\n"
                                          "  ^^^^^^^^^^^^^^^^^\n"
                                          "hint: Drop the object first: DROP ... IF EXISTS.\n"},
    {"CREATE FUNCTION f AS 'x'", "NOT_SUPPORTED: CREATE FUNCTION is not supported\n"
                                 "t:1:1\n"
                                 "  CREATE FUNCTION f AS 'x'\n"
                                 "  ^^^^^^^^^^^^^^^\n"
                                 "hint: Functions of Java, Scala and Python cannot be loaded.\n"},
    {"CREATE TEMPORARY SYSTEM FUNCTION f AS 'x'",
     "NOT_SUPPORTED: CREATE TEMPORARY SYSTEM FUNCTION is not supported\n"
     "t:1:1\n"
     "  CREATE TEMPORARY SYSTEM FUNCTION f AS 'x'\n"
     "  ^^^^^^^^^^^^^^^^^^^^^^^\n"},
    {"CREATE CATALOG c WITH ()", "NOT_SUPPORTED: CREATE CATALOG is not supported\n"
                                 "t:1:1\n"
                                 "  CREATE CATALOG c WITH ()\n"
                                 "  ^^^^^^^^^^^^^^\n"
                                 "hint: Tables live in default_catalog.\n"},
    {"CREATE MATERIALIZED TABLE t AS SELECT 1",
     "NOT_SUPPORTED: CREATE MATERIALIZED TABLE is not supported\n"
     "t:1:1\n"
     "  CREATE MATERIALIZED TABLE t AS SELECT 1\n"
     "  ^^^^^^^^^^^^^^^^^^^\n"
     "hint: Create a table and INSERT INTO it.\n"},
    {"CREATE VIEW v SELECT 1", "SYNTAX_ERROR: syntax error at or near \"SELECT\"\n"
                               "t:1:15\n"
                               "  CREATE VIEW v SELECT 1\n"
                               "                ^^^^^^\n"
                               "detail: expected AS\n"},
    {"DROP t", "SYNTAX_ERROR: syntax error at or near \"t\"\n"
               "t:1:6\n"
               "  DROP t\n"
               "       ^\n"
               "detail: expected TABLE or VIEW\n"},
    {"DROP FUNCTION f", "NOT_SUPPORTED: DROP FUNCTION is not supported\n"
                        "t:1:1\n"
                        "  DROP FUNCTION f\n"
                        "  ^^^^^^^^^^^^^\n"
                        "hint: Functions of Java, Scala and Python cannot be loaded.\n"},
    {"CREATE TABLE t (default INT)",
     "SYNTAX_ERROR: syntax error at or near \"default\"\n"
     "t:1:17\n"
     "  CREATE TABLE t (default INT)\n"
     "                  ^^^^^^^\n"
     "detail: expected a column name\n"
     "hint: default is a reserved word; a name like it is written `default`.\n"},
    {"CREATE TABLE t (a INT DEFAULT 1)", "NOT_SUPPORTED: DEFAULT in a table is not supported\n"
                                         "t:1:23\n"
                                         "  CREATE TABLE t (a INT DEFAULT 1)\n"
                                         "                        ^^^^^^^\n"},
    {"CREATE TABLE t (a INT, CHECK (a > 1))", "NOT_SUPPORTED: CHECK in a table is not supported\n"
                                              "t:1:24\n"
                                              "  CREATE TABLE t (a INT, CHECK (a > 1))\n"
                                              "                         ^^^^^\n"},
    {"CREATE TABLE IF EXISTS t (a INT)", "SYNTAX_ERROR: syntax error at or near \"EXISTS\"\n"
                                         "t:1:17\n"
                                         "  CREATE TABLE IF EXISTS t (a INT)\n"
                                         "                  ^^^^^^\n"
                                         "detail: expected NOT\n"},
    {"CREATE TABLE t (a INT METADATA FROM key)",
     "SYNTAX_ERROR: syntax error at or near \"key\"\n"
     "t:1:37\n"
     "  CREATE TABLE t (a INT METADATA FROM key)\n"
     "                                      ^^^\n"
     "detail: expected a metadata key in single quotes\n"},
    {"CREATE TABLE t (a INT) DISTRIBUTED HASH(a)",
     "SYNTAX_ERROR: syntax error at or near \"HASH\"\n"
     "t:1:36\n"
     "  CREATE TABLE t (a INT) DISTRIBUTED HASH(a)\n"
     "                                     ^^^^\n"
     "detail: expected BY or INTO\n"},
    {"CREATE TABLE t (a INT) LIKE s (ALL)",
     "SYNTAX_ERROR: syntax error at or near \"ALL\"\n"
     "t:1:32\n"
     "  CREATE TABLE t (a INT) LIKE s (ALL)\n"
     "                                 ^^^\n"
     "detail: expected INCLUDING, EXCLUDING or OVERWRITING\n"},
    {"CREATE TABLE t (a INT) COMMENT x", "SYNTAX_ERROR: syntax error at or near \"x\"\n"
                                         "t:1:32\n"
                                         "  CREATE TABLE t (a INT) COMMENT x\n"
                                         "                                 ^\n"
                                         "detail: expected a comment in single quotes\n"},
    {"CREATE TABLE t (a INT, CONSTRAINT PRIMARY KEY (a) NOT ENFORCED)",
     "SYNTAX_ERROR: syntax error at or near \"PRIMARY\"\n"
     "t:1:35\n"
     "  CREATE TABLE t (a INT, CONSTRAINT PRIMARY KEY (a) NOT ENFORCED)\n"
     "                                    ^^^^^^^\n"
     "detail: expected the name of a constraint\n"},
    {"CREATE TABLE t (a INT) WITH ('a' = '1') PARTITIONED BY (a)",
     "SYNTAX_ERROR: syntax error at or near \"PARTITIONED\"\n"
     "t:1:41\n"
     "  CREATE TABLE t (a INT) WITH ('a' = '1') PARTITIONED BY (a)\n"
     "                                          ^^^^^^^^^^^\n"
     "detail: expected the end of the statement\n"
     "hint: The order is columns, COMMENT, DISTRIBUTED, PARTITIONED BY, WITH, and then LIKE or "
     "AS.\n"},
    {"CREATE TEMPORARY t", "SYNTAX_ERROR: syntax error at or near \"t\"\n"
                           "t:1:18\n"
                           "  CREATE TEMPORARY t\n"
                           "                   ^\n"
                           "detail: expected TABLE or VIEW\n"},
    {"CREATE TABLE a.b.", "SYNTAX_ERROR: syntax error at the end of the text\n"
                          "t:1:18\n"
                          "  CREATE TABLE a.b.\n"
                          "                   ^\n"
                          "detail: expected a name\n"},
    {"DROP TABLE IF t", "SYNTAX_ERROR: syntax error at or near \"t\"\n"
                        "t:1:15\n"
                        "  DROP TABLE IF t\n"
                        "                ^\n"
                        "detail: expected EXISTS\n"},
    {"CREATE VIEW v (a, b AS SELECT 1", "SYNTAX_ERROR: syntax error at or near \"AS\"\n"
                                        "t:1:21\n"
                                        "  CREATE VIEW v (a, b AS SELECT 1\n"
                                        "                      ^^\n"
                                        "detail: expected \",\" or \")\"\n"},
    {"CREATE DATABASE d", "NOT_SUPPORTED: CREATE DATABASE is not supported\n"
                          "t:1:1\n"
                          "  CREATE DATABASE d\n"
                          "  ^^^^^^^^^^^^^^^\n"
                          "hint: Tables live in default_database.\n"},
    {"CREATE MODEL m", "NOT_SUPPORTED: CREATE MODEL is not supported\n"
                       "t:1:1\n"
                       "  CREATE MODEL m\n"
                       "  ^^^^^^^^^^^^\n"},
    {"CREATE TABLE t (a INT) DISTRIBUTED INTO x BUCKETS",
     "SYNTAX_ERROR: syntax error at or near \"x\"\n"
     "t:1:41\n"
     "  CREATE TABLE t (a INT) DISTRIBUTED INTO x BUCKETS\n"
     "                                          ^\n"
     "detail: expected a number of buckets\n"},
};

static void definitions_print_as_read(void **state)
{
    (void)state;
    check_prints(PARSE_SCRIPT, prints, count_of(prints));
}

static void wrong_definitions_are_reported(void **state)
{
    (void)state;
    check_errors(PARSE_SCRIPT, errors, count_of(errors));
}

static void columns_are_of_three_kinds(void **state)
{
    (void)state;
    parsed p;
    parse_script_text("CREATE TABLE t (a INT NOT NULL, b AS a + 1, c BIGINT METADATA FROM 'k' "
                      "VIRTUAL COMMENT 'x')",
                      &p);
    const ms_ast_create_table *create = ms_ast_create_table_of(p.script->stmts[0]);
    assert_int_equal(create->column_count, 3);
    assert_int_equal(create->columns[0].kind, MS_AST_COLUMN_PHYSICAL);
    assert_span(&p, create->columns[0].span, "a INT NOT NULL");
    assert_int_equal(create->columns[1].kind, MS_AST_COLUMN_COMPUTED);
    assert_null(create->columns[1].type);
    assert_span(&p, create->columns[1].expr->span, "a + 1");
    assert_int_equal(create->columns[2].kind, MS_AST_COLUMN_METADATA);
    assert_str_equal(create->columns[2].metadata_key.text, "k");
    assert_true(create->columns[2].is_virtual);
    ms_arena_release(&p.arena);
}

static void keys_and_watermarks_are_apart_from_columns(void **state)
{
    (void)state;
    parsed p;
    parse_script_text("CREATE TABLE t (a INT PRIMARY KEY NOT ENFORCED, WATERMARK FOR r.ts AS r.ts, "
                      "CONSTRAINT c PRIMARY KEY (a, b) NOT ENFORCED) WITH ()",
                      &p);
    const ms_ast_create_table *create = ms_ast_create_table_of(p.script->stmts[0]);
    assert_int_equal(create->column_count, 1);
    assert_int_equal(create->primary_key_count, 2);
    assert_span(&p, create->primary_keys[0].span, "PRIMARY KEY NOT ENFORCED");
    assert_str_equal(create->primary_keys[0].columns[0].text, "a");
    assert_str_equal(create->primary_keys[1].name.text, "c");
    assert_int_equal(create->watermarks[0].column.count, 2);
    assert_span(&p, create->options_span, "WITH ()");
    assert_int_equal(create->option_count, 0);
    ms_arena_release(&p.arena);
}

static void options_keep_their_places(void **state)
{
    (void)state;
    parsed p;
    parse_script_text("CREATE TEMPORARY TABLE t (a INT) WITH ('k''1' = 'v', 'k2' = '')", &p);
    const ms_ast_create_table *create = ms_ast_create_table_of(p.script->stmts[0]);
    assert_true(create->temporary);
    assert_str_equal(create->options[0].key.text, "k'1");
    assert_span(&p, create->options[0].key.span, "'k''1'");
    assert_str_equal(create->options[1].value.text, "");
    assert_false(ms_ast_text_is_absent(create->options[1].value));
    ms_arena_release(&p.arena);
}

static void a_table_has_a_limit_of_columns(void **state)
{
    (void)state;
    ms_buf buf;
    ms_buf_init(&buf, 1 << 20);
    repeat_text(&buf, "CREATE TABLE t (a INT", 1);
    repeat_text(&buf, ", a INT", 1600);
    repeat_text(&buf, ")", 1);
    ms_status st = parse_failing(PARSE_SCRIPT, ms_buf_view(&buf));
    assert_int_equal(st.code, MS_STATEMENT_TOO_LARGE);
    assert_string_equal(st.message, "a table has more columns than the limit of 1600");
    ms_buf_release(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(definitions_print_as_read),
        cmocka_unit_test(wrong_definitions_are_reported),
        cmocka_unit_test(columns_are_of_three_kinds),
        cmocka_unit_test(keys_and_watermarks_are_apart_from_columns),
        cmocka_unit_test(options_keep_their_places),
        cmocka_unit_test(a_table_has_a_limit_of_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
