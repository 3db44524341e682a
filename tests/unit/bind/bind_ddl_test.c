/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CREATE TABLE and CREATE VIEW: what the catalog gets, and what it does not.
 */
#include "opt/planner.h"

static const ms_table *define(planner *p, const char *sql, const char *name)
{
    planner_run(p, sql);
    const ms_table *table = ms_catalog_find(p->catalog, ms_str_cstr(name));
    assert_non_null(table);
    return table;
}

/* "a INT NOT NULL, b AS ..." */
static const char *columns_of(planner *p, const ms_table *table)
{
    ms_str text = {NULL, 0};
    for (uint32_t i = 0; i < table->column_count; i++) {
        ms_str type = ms_type_text(&p->arena, table->columns[i].type);
        text = ms_arena_format(&p->arena, "%.*s%s%.*s %.*s", MS_STR_ARG(text), i == 0 ? "" : ", ",
                               MS_STR_ARG(table->columns[i].name), MS_STR_ARG(type));
    }
    return text.ptr;
}

static void every_type_of_a_column_is_kept(void **state)
{
    (void)state;
    planner p;
    planner_open(&p);
    const ms_table *table = define(
        &p,
        "CREATE TABLE t (a BOOLEAN, b TINYINT, c SMALLINT, d INT NOT NULL, e BIGINT, f FLOAT,"
        " g DOUBLE, h DECIMAL, i DECIMAL(18, 3), j STRING, k VARCHAR(5), l BYTES,"
        " m VARBINARY(7), n DATE, o TIMESTAMP, p TIMESTAMP(0), q TIMESTAMP_LTZ(3),"
        " r ROW<x INT, y ROW<z STRING NOT NULL> NOT NULL>, s ARRAY<INT NOT NULL>,"
        " t MAP<STRING, ARRAY<BIGINT>>)",
        "t");
    assert_string_equal(
        columns_of(&p, table),
        "a BOOLEAN, b TINYINT, c SMALLINT, d INT NOT NULL, e BIGINT, f FLOAT, g DOUBLE, "
        "h DECIMAL(10, 0), i DECIMAL(18, 3), j STRING, k VARCHAR(5), l BYTES, m VARBINARY(7), "
        "n DATE, o TIMESTAMP(6), p TIMESTAMP(0), q TIMESTAMP_LTZ(3), "
        "r ROW<`x` INT, `y` ROW<`z` STRING NOT NULL> NOT NULL>, s ARRAY<INT NOT NULL>, "
        "t MAP<STRING, ARRAY<BIGINT>>");
    planner_close(&p);
}

static void a_primary_key_makes_its_columns_not_null(void **state)
{
    (void)state;
    planner p;
    planner_open(&p);
    const ms_table *table =
        define(&p,
               "CREATE TABLE t (m INT METADATA VIRTUAL, a INT, b STRING, c AS a + 1,"
               " CONSTRAINT pk PRIMARY KEY (b, a) NOT ENFORCED)",
               "t");
    assert_string_equal(columns_of(&p, table),
                        "m INT, a INT NOT NULL, b STRING NOT NULL, c INT NOT NULL");
    assert_int_equal(table->key_count, 2);
    assert_int_equal(table->key_columns[0], 2);
    assert_int_equal(table->key_columns[1], 1);
    planner_close(&p);
}

static void computed_columns_see_those_behind_them(void **state)
{
    (void)state;
    planner p;
    planner_open(&p);
    const ms_table *table = define(
        &p, "CREATE TABLE t (c AS UPPER(b) || m, b STRING NOT NULL, m STRING METADATA FROM 'key')",
        "t");
    assert_string_equal(columns_of(&p, table), "c STRING, b STRING NOT NULL, m STRING");
    assert_int_equal(table->columns[0].kind, MS_COLUMN_COMPUTED);
    assert_str_equal(table->columns[0].expr_sql, "UPPER(`b`) || `m`");
    assert_int_equal(table->columns[2].kind, MS_COLUMN_METADATA);
    assert_str_equal(table->columns[2].metadata_key, "key");
    planner_close(&p);
}

static void a_watermark_sees_computed_columns(void **state)
{
    (void)state;
    planner p;
    planner_open(&p);
    const ms_table *table = define(&p,
                                   "CREATE TABLE t (s STRING, ts AS CAST(s AS TIMESTAMP(3)),"
                                   " WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE)",
                                   "t");
    assert_int_equal(table->watermark->column, 1);
    assert_str_equal(table->watermark->expr_sql, "`ts` - INTERVAL '1' MINUTE");
    assert_true(ms_type_same_shape(table->watermark->expr->type, table->columns[1].type));
    planner_close(&p);
}

static void a_view_keeps_its_query_and_its_columns(void **state)
{
    (void)state;
    planner p;
    planner_open(&p);
    define(&p, "CREATE TABLE t (a INT NOT NULL, b STRING)", "t");
    const ms_table *view =
        define(&p, "CREATE VIEW v (x, y) COMMENT 'c' AS SELECT a+1, b from t where a>0", "v");
    assert_true(view->is_view);
    assert_string_equal(columns_of(&p, view), "x INT NOT NULL, y STRING");
    assert_str_equal(view->view_sql, "SELECT `a` + 1, `b` FROM `t` WHERE `a` > 0");
    planner_close(&p);
}

/* Nothing of a statement is left in a table: its arena may go. */
static void a_table_outlives_its_statement(void **state)
{
    (void)state;
    planner p;
    planner_open(&p);
    char sql[] = "CREATE TABLE t (a INT COMMENT 'x', b AS a + 1, ts TIMESTAMP(3),"
                 " WATERMARK FOR ts AS ts) COMMENT 'y' WITH ('connector' = 'fake')";
    const ms_table *table = define(&p, sql, "t");
    memset(sql, '#', sizeof(sql) - 1);
    ms_arena_reset(&p.arena);
    assert_str_equal(table->name, "t");
    assert_str_equal(table->comment, "y");
    assert_str_equal(table->columns[0].comment, "x");
    assert_str_equal(table->columns[1].expr_sql, "`a` + 1");
    assert_str_equal(ms_expr_text(&p.arena, table->columns[1].expr, NULL), "$0 + 1");
    assert_str_equal(table->options.items[0].value, "fake");
    planner_close(&p);
}

typedef struct wrong {
    const char *sql;
    ms_rc code;
    const char *place;
    const char *message;
    const char *hint;
} wrong;

static const wrong definitions[] = {
    {"CREATE TABLE x (a INT, a STRING)", MS_DUPLICATE_COLUMN, "a", "column \"a\" is defined twice",
     ""},
    {"CREATE TABLE x (a TIME)", MS_NOT_SUPPORTED, "TIME", "type TIME is not supported", ""},
    {"CREATE TABLE x (a INTERVAL DAY)", MS_NOT_SUPPORTED, "INTERVAL DAY",
     "type INTERVAL is not supported", ""},
    {"CREATE TABLE x (a MULTISET<INT>)", MS_NOT_SUPPORTED, "MULTISET<INT>",
     "type MULTISET is not supported", ""},
    {"CREATE TABLE x (a TIMESTAMP(9))", MS_NOT_SUPPORTED, "TIMESTAMP(9)",
     "type TIMESTAMP(9) is not supported", "Timestamps have up to 6 fraction digits."},
    {"CREATE TABLE x (a TIMESTAMP(3) WITH TIME ZONE)", MS_NOT_SUPPORTED,
     "TIMESTAMP(3) WITH TIME ZONE", "type TIMESTAMP WITH TIME ZONE is not supported",
     "Flink has no such values either. Use TIMESTAMP_LTZ(3)."},
    {"CREATE TABLE x (a DECIMAL(38, 2))", MS_NOT_SUPPORTED, "DECIMAL(38, 2)",
     "a column of type DECIMAL(38, 2) is not supported", "Columns have up to 18 digits."},
    {"CREATE TABLE x (a DECIMAL(39, 2))", MS_INVALID_TABLE_DEFINITION, "DECIMAL(39, 2)",
     "the precision of DECIMAL is from 1 to 38", ""},
    {"CREATE TABLE x (a DECIMAL(5, 6))", MS_INVALID_TABLE_DEFINITION, "DECIMAL(5, 6)",
     "the scale of DECIMAL is from 0 to its precision, 5", ""},
    {"CREATE TABLE x (a CHAR(3))", MS_NOT_SUPPORTED, "CHAR(3)", "type CHAR is not supported",
     "Use STRING or VARCHAR(n)."},
    {"CREATE TABLE x (a VARCHAR(0))", MS_INVALID_TABLE_DEFINITION, "VARCHAR(0)",
     "the length of VARCHAR is at least 1", ""},
    {"CREATE TABLE x (a BINARY(3))", MS_NOT_SUPPORTED, "BINARY(3)", "type BINARY is not supported",
     "Use BYTES or VARBINARY(n)."},
    {"CREATE TABLE x (a VARIANT)", MS_NOT_SUPPORTED, "VARIANT", "type \"VARIANT\" is not supported",
     ""},
    {"CREATE TABLE x (a ROW<b INT, b INT>)", MS_DUPLICATE_COLUMN, "b", "field \"b\" is named twice",
     ""},
    {"CREATE TABLE x (a ARRAY<TIME>)", MS_NOT_SUPPORTED, "TIME", "type TIME is not supported", ""},
    {"CREATE TABLE x (a RAW('cls', 'ser'))", MS_NOT_SUPPORTED, "RAW('cls', 'ser')",
     "type RAW is not supported", ""},
    {"CREATE TABLE x (a INT, PRIMARY KEY (b) NOT ENFORCED)", MS_UNDEFINED_COLUMN, "b",
     "column \"b\" does not exist", ""},
    {"CREATE TABLE x (a INT PRIMARY KEY NOT ENFORCED, PRIMARY KEY (a) NOT ENFORCED)",
     MS_INVALID_TABLE_DEFINITION, "PRIMARY KEY (a) NOT ENFORCED", "a table has one primary key",
     ""},
    {"CREATE TABLE x (a INT, PRIMARY KEY (a, a) NOT ENFORCED)", MS_DUPLICATE_COLUMN, "a",
     "column \"a\" is twice in the primary key", ""},
    {"CREATE TABLE x (a INT, b AS a + 1, PRIMARY KEY (b) NOT ENFORCED)",
     MS_INVALID_TABLE_DEFINITION, "b",
     "column \"b\" is not physical and cannot be in the primary key", ""},
    {"CREATE TABLE x (a INT, PRIMARY KEY (a) ENFORCED)", MS_NOT_SUPPORTED, "ENFORCED",
     "a PRIMARY KEY that is enforced is not supported",
     "Write PRIMARY KEY ... NOT ENFORCED: the key is trusted, not checked."},
    {"CREATE TABLE x (a INT, b AS c + 1, c AS a + 1)", MS_INVALID_TABLE_DEFINITION, "c",
     "computed column \"c\" cannot be used in another computed column", "Repeat its expression."},
    {"CREATE TABLE x (a INT, b AS zz + 1)", MS_UNDEFINED_COLUMN, "zz",
     "column \"zz\" does not exist", ""},
    {"CREATE TABLE x (a INT, b AS COUNT(*))", MS_GROUPING_ERROR, "COUNT(*)",
     "aggregate COUNT is not allowed in a computed column", ""},
    {"CREATE TABLE x (a INT, b AS (SELECT 1))", MS_NOT_SUPPORTED, "(SELECT 1)",
     "a query as a value is not supported", ""},
    {"CREATE TABLE x (a INT, b AS NULL)", MS_INVALID_TABLE_DEFINITION, "NULL",
     "column \"b\" has no type", "Write CAST(NULL AS ...)."},
    {"CREATE TABLE x (a INT, WATERMARK FOR a AS a)", MS_INVALID_TABLE_DEFINITION, "a",
     "column \"a\" is INT: a watermark needs TIMESTAMP or TIMESTAMP_LTZ of at most 3 digits", ""},
    {"CREATE TABLE x (a TIMESTAMP, WATERMARK FOR a AS a)", MS_INVALID_TABLE_DEFINITION, "a",
     "column \"a\" is TIMESTAMP(6): a watermark needs TIMESTAMP or TIMESTAMP_LTZ of at most 3 "
     "digits",
     "Declare it as TIMESTAMP(3)."},
    {"CREATE TABLE x (a TIMESTAMP_LTZ(6), WATERMARK FOR a AS a)", MS_INVALID_TABLE_DEFINITION, "a",
     "column \"a\" is TIMESTAMP_LTZ(6): a watermark needs TIMESTAMP or TIMESTAMP_LTZ of at most 3 "
     "digits",
     "Declare it as TIMESTAMP_LTZ(3)."},
    {"CREATE TABLE x (a TIMESTAMP(3), WATERMARK FOR b AS a)", MS_UNDEFINED_COLUMN, "b",
     "column \"b\" does not exist", ""},
    {"CREATE TABLE x (a TIMESTAMP(3), WATERMARK FOR a AS 1)", MS_INVALID_TABLE_DEFINITION, "1",
     "the watermark of \"a\" is INT, not TIMESTAMP(3)", ""},
    {"CREATE TABLE x (a TIMESTAMP(3), l TIMESTAMP_LTZ(3), WATERMARK FOR a AS l)",
     MS_INVALID_TABLE_DEFINITION, "l",
     "the watermark of \"a\" is TIMESTAMP_LTZ(3), not TIMESTAMP(3)", ""},
    {"CREATE TABLE x (a TIMESTAMP(3), WATERMARK FOR a AS a, WATERMARK FOR a AS a)",
     MS_INVALID_TABLE_DEFINITION, "WATERMARK FOR a AS a", "a table has one watermark", ""},
    {"CREATE TABLE x (a ROW<t TIMESTAMP(3)>, WATERMARK FOR a.t AS a.t)", MS_NOT_SUPPORTED, "a.t",
     "a watermark on a field of a column is not supported", ""},
    {"CREATE TABLE x (a INT) PARTITIONED BY (a) WITH ('connector' = 'fake')", MS_NOT_SUPPORTED,
     "PARTITIONED BY (a)", "PARTITIONED BY is not supported", ""},
    {"CREATE TABLE x (a INT) DISTRIBUTED BY (a) INTO 3 BUCKETS WITH ('connector' = 'fake')",
     MS_NOT_SUPPORTED, "DISTRIBUTED BY (a) INTO 3 BUCKETS", "DISTRIBUTED is not supported", ""},
    {"CREATE TABLE x (a INT) WITH ('connector' = 'fake') LIKE t", MS_NOT_SUPPORTED, "LIKE t",
     "CREATE TABLE ... LIKE is not supported", ""},
    {"CREATE TABLE x WITH ('connector' = 'fake') AS SELECT 1", MS_NOT_SUPPORTED, "SELECT 1",
     "CREATE TABLE ... AS is not supported", "Create the table with its columns, then INSERT."},
    {"CREATE TABLE other.x (a INT)", MS_UNDEFINED_TABLE, "other",
     "database \"other\" does not exist", "The only database is default_database."},
    {"CREATE TABLE t (a INT)", MS_DUPLICATE_TABLE, "t", "table \"t\" exists already",
     "Use CREATE TABLE IF NOT EXISTS, or drop it first."},
    {"CREATE VIEW x AS SELECT zz FROM t", MS_UNDEFINED_COLUMN, "zz", "column \"zz\" does not exist",
     ""},
    {"CREATE VIEW x (x, y) AS SELECT a FROM t", MS_INVALID_TABLE_DEFINITION, "x, y",
     "the view names 2 columns, its query has 1", ""},
    {"CREATE VIEW x AS SELECT a, a FROM t", MS_DUPLICATE_COLUMN, "a",
     "column \"a\" of the view is named twice", "Give it another name with AS."},
    {"CREATE VIEW x (x, x) AS SELECT a, b FROM t", MS_DUPLICATE_COLUMN, "x",
     "column \"x\" of the view is named twice", "Give it another name with AS."},
    {"CREATE VIEW t AS SELECT 1", MS_DUPLICATE_TABLE, "t", "table \"t\" exists already",
     "Use CREATE VIEW IF NOT EXISTS, or drop it first."},
};

static const char tables[] =
    "CREATE TABLE t (a INT, b STRING, c DOUBLE NOT NULL, d AS a + 1, ts TIMESTAMP(3), r ROW<x INT, "
    "y STRING NOT NULL>, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH ('connector' = "
    "'fake'); "
    "CREATE TABLE k (id BIGINT, v STRING, n BIGINT NOT NULL, PRIMARY KEY (id) NOT ENFORCED) WITH "
    "('connector' = 'fake', 'takes' = 'upsert'); "
    "CREATE TABLE n (arr ARRAY<INT NOT NULL>, m MAP<STRING, BIGINT>, q ROW<inner_row ROW<deep INT> "
    "NOT NULL>, a INT, big BIGINT NOT NULL, c DOUBLE, price DECIMAL(10, 2), rate DECIMAL(5, 4) NOT "
    "NULL, ts TIMESTAMP_LTZ(3), born DATE, meta STRING METADATA FROM 'm' VIRTUAL, calc AS "
    "UPPER(meta), `weird name` INT) WITH ('connector' = 'fake'); "
    "CREATE TABLE s (a INT, b STRING) WITH ('connector' = 'fake'); "
    "CREATE VIEW v (b, twice) AS SELECT b, a * 2 FROM s WHERE a > 0; ";

static void wrong_definitions_are_refused(void **state)
{
    (void)state;
    planner p;
    planner_open(&p);
    planner_run(&p, tables);
    for (size_t i = 0; i < sizeof(definitions) / sizeof(definitions[0]); i++) {
        const wrong *one = &definitions[i];
        if (planner_try(&p, one->sql) == MS_OK) {
            fail_msg("accepted: %s", one->sql);
        }
        assert_string_equal(ms_rc_name(p.st.code), ms_rc_name(one->code));
        assert_string_equal(p.st.message, one->message);
        assert_string_equal(planner_place(&p), one->place);
        assert_string_equal(p.st.hint, one->hint);
        assert_null(ms_catalog_find(p.catalog, ms_str_lit("x")));
    }
    planner_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_of_a_column_is_kept),
        cmocka_unit_test(a_primary_key_makes_its_columns_not_null),
        cmocka_unit_test(computed_columns_see_those_behind_them),
        cmocka_unit_test(a_watermark_sees_computed_columns),
        cmocka_unit_test(a_view_keeps_its_query_and_its_columns),
        cmocka_unit_test(a_table_outlives_its_statement),
        cmocka_unit_test(wrong_definitions_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
