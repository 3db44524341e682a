/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrong statements: what is said, of which words, and what to do about it.
 */
#include "opt/planner.h"

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

typedef struct wrong {
    const char *sql;
    ms_rc code;
    const char *place; /* the words that the carets stand under */
    const char *message;
    const char *hint;
} wrong;

static void check(const wrong *cases, size_t count)
{
    planner p;
    planner_open(&p);
    planner_run(&p, tables);
    for (size_t i = 0; i < count; i++) {
        if (planner_try(&p, cases[i].sql) == MS_OK) {
            fail_msg("accepted: %s", cases[i].sql);
        }
        assert_string_equal(ms_rc_name(p.st.code), ms_rc_name(cases[i].code));
        assert_string_equal(p.st.message, cases[i].message);
        assert_string_equal(planner_place(&p), cases[i].place);
        assert_string_equal(p.st.hint, cases[i].hint);
    }
    planner_close(&p);
}

#define CHECK(cases) check((cases), sizeof(cases) / sizeof((cases)[0]))

static const wrong names[] = {
    {"SELECT zz FROM t", MS_UNDEFINED_COLUMN, "zz", "column \"zz\" does not exist", ""},
    {"SELECT t.zz FROM t", MS_UNDEFINED_COLUMN, "zz", "column \"zz\" does not exist", ""},
    {"SELECT q.a FROM t", MS_UNDEFINED_TABLE, "q", "\"q\" is neither a table nor a column of FROM",
     ""},
    {"SELECT tt.a FROM t", MS_UNDEFINED_TABLE, "tt",
     "\"tt\" is neither a table nor a column of FROM", "Did you mean \"t\" or \"ts\"?"},
    {"SELECT aa FROM t", MS_UNDEFINED_COLUMN, "aa", "column \"aa\" does not exist",
     "Did you mean \"a\"?"},
    {"SELECT B FROM t", MS_UNDEFINED_COLUMN, "B", "column \"B\" does not exist",
     "Did you mean \"b\"?"},
    {"SELECT * FROM nowhere", MS_UNDEFINED_TABLE, "nowhere", "table \"nowhere\" does not exist",
     ""},
    {"SELECT * FROM tt", MS_UNDEFINED_TABLE, "tt", "table \"tt\" does not exist",
     "Did you mean \"t\"?"},
    {"SELECT * FROM other.t", MS_UNDEFINED_TABLE, "other", "database \"other\" does not exist",
     "The only database is default_database."},
    {"SELECT * FROM cat.default_database.t", MS_UNDEFINED_TABLE, "cat",
     "catalog \"cat\" does not exist", "The only catalog is default_catalog."},
    {"SELECT a.x FROM t", MS_UNDEFINED_COLUMN, "x",
     "\"a\" has no field \"x\": it is INT, not a ROW", ""},
    {"SELECT r.x.y FROM t", MS_UNDEFINED_COLUMN, "y",
     "\"x\" has no field \"y\": it is INT, not a ROW", ""},
    {"SELECT a FROM (SELECT 1 AS a, 2 AS a)", MS_AMBIGUOUS_COLUMN, "a", "column \"a\" is ambiguous",
     "Give the columns different names with AS."},
    {"SELECT x.* FROM t", MS_UNDEFINED_TABLE, "x", "\"x\" is neither a table nor a column of FROM",
     ""},
    {"SELECT a.* FROM t", MS_TYPE_MISMATCH, "a.*",
     "* of a column of type INT: only tables and ROWs have parts", ""},
    {"SELECT *", MS_INVALID_QUERY, "*", "SELECT * needs a FROM", ""},
    {"SELECT a FROM t AS s(x, y)", MS_INVALID_QUERY, "x, y",
     "alias \"s\" names 2 columns, there are 6", ""},
    {"SELECT t.a FROM t AS s", MS_UNDEFINED_TABLE, "t",
     "\"t\" is neither a table nor a column of FROM", ""},
    {"WITH q AS (SELECT 1), q AS (SELECT 2) SELECT * FROM q", MS_DUPLICATE_ALIAS, "q",
     "\"q\" is defined twice in one WITH", ""},
    {"WITH q(a, b) AS (SELECT 1) SELECT * FROM q", MS_INVALID_QUERY, "a, b",
     "\"q\" is given 2 column names, its query has 1 column", ""},
    {"WITH q AS (SELECT a FROM q) SELECT * FROM q", MS_UNDEFINED_TABLE, "q",
     "table \"q\" does not exist", ""},
    {"WITH orders AS (SELECT 1) SELECT * FROM oders", MS_UNDEFINED_TABLE, "oders",
     "table \"oders\" does not exist", "Did you mean \"orders\"?"},
    {"SELECT b FROM t ORDER BY 3", MS_INVALID_QUERY, "3", "ORDER BY 3: the result has 1 column",
     ""},
    {"SELECT b FROM t ORDER BY zz", MS_UNDEFINED_COLUMN, "zz", "column \"zz\" does not exist", ""},
    {"SELECT a FROM s UNION ALL SELECT a FROM s ORDER BY b", MS_UNDEFINED_COLUMN, "b",
     "column \"b\" does not exist", ""},
    {"VALUES (a)", MS_UNDEFINED_COLUMN, "a", "column \"a\" does not exist",
     "There are no columns here. A text is written in single quotes."},
    {"SELECT a FROM t WHERE twice > 1", MS_UNDEFINED_COLUMN, "twice",
     "column \"twice\" does not exist", ""},
};

static void unknown_names_are_placed_and_the_nearest_are_offered(void **state)
{
    (void)state;
    CHECK(names);
}

static const wrong types[] = {
    {"SELECT a FROM t WHERE a", MS_TYPE_MISMATCH, "a", "WHERE needs a BOOLEAN, not INT", ""},
    {"SELECT a FROM t WHERE b || 'x'", MS_TYPE_MISMATCH, "b || 'x'",
     "WHERE needs a BOOLEAN, not STRING", ""},
    {"SELECT COUNT(*) FROM t HAVING COUNT(*)", MS_TYPE_MISMATCH, "COUNT(*)",
     "HAVING needs a BOOLEAN, not BIGINT", ""},
    {"SELECT COUNT(*) FILTER (WHERE a) FROM t", MS_TYPE_MISMATCH, "a",
     "FILTER needs a BOOLEAN, not INT", ""},
    {"SELECT 1 UNION ALL SELECT 'x'", MS_TYPE_MISMATCH, "'x'",
     "column 1 of UNION ALL is INT in one branch and CHAR(1) in another",
     "Cast one of them to the type of the other."},
    {"SELECT 1 UNION ALL SELECT 1, 2", MS_TYPE_MISMATCH, "SELECT 1, 2",
     "a branch of UNION ALL has 2 columns, the first one has 1", ""},
    {"VALUES (1), (1, 2)", MS_TYPE_MISMATCH, "(1, 2)",
     "a row of VALUES has 2 items, the first one has 1", ""},
    {"SELECT CAST(a AS TIME) FROM t", MS_NOT_SUPPORTED, "TIME", "type TIME is not supported", ""},
    {"SELECT CAST(a AS TIMESTAMP(9)) FROM t", MS_NOT_SUPPORTED, "TIMESTAMP(9)",
     "type TIMESTAMP(9) is not supported", "Timestamps have up to 6 fraction digits."},
    {"SELECT CAST(a AS TIMESTAMP(10)) FROM t", MS_INVALID_TABLE_DEFINITION, "TIMESTAMP(10)",
     "the precision of TIMESTAMP is from 0 to 9", ""},
    {"SELECT CAST(b AS MULTISET<INT>) FROM t", MS_NOT_SUPPORTED, "MULTISET<INT>",
     "type MULTISET is not supported", ""},
    {"SELECT CAST(a AS DECIMAL(39, 2)) FROM t", MS_INVALID_TABLE_DEFINITION, "DECIMAL(39, 2)",
     "the precision of DECIMAL is from 1 to 38", ""},
    {"SELECT CAST(a AS VARIANT) FROM t", MS_NOT_SUPPORTED, "VARIANT",
     "type \"VARIANT\" is not supported", ""},
    {"SELECT r FROM t ORDER BY r", MS_TYPE_MISMATCH, "r",
     "values of type ROW<`x` INT, `y` STRING NOT NULL> have no order", ""},
    {"SELECT a FROM s ORDER BY NULL", MS_TYPE_MISMATCH, "NULL", "values of type NULL have no order",
     ""},
    {"SELECT a[1].x FROM (SELECT ARRAY[1] AS a)", MS_TYPE_MISMATCH, "x",
     "field \"x\" of INT: only a ROW has fields", ""},
    {"SELECT a FROM t LIMIT 99999999999999999999", MS_INVALID_QUERY, "99999999999999999999",
     "LIMIT needs a whole number up to 9223372036854775807", ""},
};

static void types_that_do_not_fit_are_named(void **state)
{
    (void)state;
    CHECK(types);
}

static const wrong unbuilt[] = {
    {"SELECT a FROM t GROUP BY a", MS_NOT_SUPPORTED, "a", "GROUP BY is not supported", ""},
    {"SELECT DISTINCT a FROM t", MS_NOT_SUPPORTED, "DISTINCT", "SELECT DISTINCT is not supported",
     ""},
    {"SELECT a FROM t, k", MS_NOT_SUPPORTED, "k", "a join is not supported", ""},
    {"SELECT a FROM t JOIN k ON t.a = k.id", MS_NOT_SUPPORTED, "JOIN", "a join is not supported",
     ""},
    {"SELECT * FROM t CROSS JOIN UNNEST(ARRAY[1])", MS_NOT_SUPPORTED, "CROSS JOIN",
     "a join is not supported", ""},
    {"SELECT COUNT(*) OVER (PARTITION BY a) FROM t", MS_NOT_SUPPORTED,
     "COUNT(*) OVER (PARTITION BY a)", "OVER is not supported", ""},
    {"SELECT COUNT(*) OVER w FROM t WINDOW w AS (PARTITION BY a)", MS_NOT_SUPPORTED, "w",
     "WINDOW is not supported", ""},
    {"SELECT a FROM t WHERE a IN (SELECT id FROM k)", MS_NOT_SUPPORTED, "a IN (SELECT id FROM k)",
     "IN (query) is not supported", ""},
    {"SELECT a FROM t WHERE a NOT IN (SELECT id FROM k)", MS_NOT_SUPPORTED,
     "a NOT IN (SELECT id FROM k)", "NOT IN (query) is not supported", ""},
    {"SELECT a FROM t WHERE EXISTS (SELECT 1 FROM k)", MS_NOT_SUPPORTED, "EXISTS (SELECT 1 FROM k)",
     "EXISTS is not supported", ""},
    {"SELECT (SELECT 1)", MS_NOT_SUPPORTED, "(SELECT 1)", "a query as a value is not supported",
     ""},
    {"SELECT a FROM t WHERE a = ANY (SELECT id FROM k)", MS_NOT_SUPPORTED, "=",
     "comparison with ANY is not supported", ""},
    {"SELECT a FROM t WHERE a > ALL (SELECT id FROM k)", MS_NOT_SUPPORTED, ">",
     "comparison with ALL is not supported", ""},
    {"SELECT a FROM t UNION SELECT a FROM t", MS_NOT_SUPPORTED, "UNION", "UNION is not supported",
     "UNION ALL, which keeps duplicates, is."},
    {"SELECT a FROM t INTERSECT SELECT a FROM t", MS_NOT_SUPPORTED, "INTERSECT",
     "INTERSECT is not supported", ""},
    {"SELECT a FROM t EXCEPT SELECT a FROM t", MS_NOT_SUPPORTED, "EXCEPT",
     "EXCEPT is not supported", ""},
    {"SELECT * FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))", MS_NOT_SUPPORTED,
     "TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))",
     "the table function TUMBLE is not supported", ""},
    {"SELECT * FROM UNNEST(ARRAY[1, 2])", MS_NOT_SUPPORTED, "UNNEST(ARRAY[1, 2])",
     "UNNEST is not supported", ""},
    {"SELECT a FROM LATERAL (SELECT 1 AS a)", MS_NOT_SUPPORTED, "LATERAL (SELECT 1 AS a)",
     "LATERAL is not supported", ""},
    {"SELECT a FROM t FOR SYSTEM_TIME AS OF ts", MS_NOT_SUPPORTED, "FOR SYSTEM_TIME AS OF ts",
     "FOR SYSTEM_TIME AS OF is not supported", ""},
    {"SELECT a FROM t /*+ LOOKUP('x'='y') */", MS_NOT_SUPPORTED, "LOOKUP('x'='y')",
     "the hint LOOKUP is not supported", ""},
    {"SELECT /*+ BROADCAST(t) */ a FROM t", MS_NOT_SUPPORTED, "BROADCAST(t)",
     "the hint BROADCAST is not supported", ""},
    {"SELECT COUNT(a, b) FROM t", MS_NOT_SUPPORTED, "COUNT(a, b)",
     "COUNT of several arguments is not supported", ""},
    {"SELECT b SIMILAR TO 'x' FROM t", MS_NOT_SUPPORTED, "SIMILAR TO",
     "SIMILAR TO is not supported", ""},
    {"SELECT b IS NOT JSON FROM t", MS_NOT_SUPPORTED, "b IS NOT JSON",
     "IS NOT JSON is not supported", ""},
    {"SELECT FIRST_VALUE(a) IGNORE NULLS FROM t", MS_NOT_SUPPORTED, "FIRST_VALUE(a) IGNORE NULLS",
     "IGNORE NULLS is not supported", ""},
    {"SELECT UPPER(s => b) FROM t", MS_NOT_SUPPORTED, "s", "a named argument is not supported", ""},
    {"SELECT EXTRACT(YEAR FROM ts) FROM t", MS_NOT_SUPPORTED, "EXTRACT(YEAR FROM ts)",
     "function \"EXTRACT\" is not supported yet", ""},
    {"SELECT (ts, ts) OVERLAPS (ts, ts) FROM t", MS_NOT_SUPPORTED, "OVERLAPS",
     "OVERLAPS is not supported", ""},
    {"EXPLAIN ESTIMATED_COST SELECT 1", MS_NOT_SUPPORTED, "ESTIMATED_COST",
     "EXPLAIN ESTIMATED_COST is not supported", "EXPLAIN CHANGELOG_MODE and plain EXPLAIN are."},
    {"EXPLAIN JSON_EXECUTION_PLAN SELECT 1", MS_NOT_SUPPORTED, "JSON_EXECUTION_PLAN",
     "EXPLAIN JSON_EXECUTION_PLAN is not supported",
     "EXPLAIN CHANGELOG_MODE and plain EXPLAIN are."},
};

static void what_is_not_built_is_refused_by_name(void **state)
{
    (void)state;
    CHECK(unbuilt);
}

static const wrong aggregates[] = {
    {"SELECT a, COUNT(*) FROM t", MS_GROUPING_ERROR, "a",
     "column \"a\" stands beside an aggregate without being grouped",
     "Put it into an aggregate, or leave it out."},
    {"SELECT COUNT(*), t.* FROM t", MS_GROUPING_ERROR, "t.*",
     "column \"a\" stands beside an aggregate without being grouped",
     "Put it into an aggregate, or leave it out."},
    {"SELECT COUNT(*) + a FROM t", MS_GROUPING_ERROR, "a",
     "column \"a\" stands beside an aggregate without being grouped",
     "Put it into an aggregate, or leave it out."},
    {"SELECT a FROM t HAVING COUNT(*) > 1", MS_GROUPING_ERROR, "a",
     "column \"a\" stands beside an aggregate without being grouped",
     "Put it into an aggregate, or leave it out."},
    {"SELECT a FROM t ORDER BY COUNT(*)", MS_GROUPING_ERROR, "a",
     "column \"a\" stands beside an aggregate without being grouped",
     "Put it into an aggregate, or leave it out."},
    {"SELECT COUNT(*) FROM t ORDER BY a", MS_GROUPING_ERROR, "a",
     "column \"a\" stands beside an aggregate without being grouped",
     "Put it into an aggregate, or leave it out."},
    {"SELECT COUNT(*) FROM t WHERE COUNT(*) > 1", MS_GROUPING_ERROR, "COUNT(*)",
     "aggregate COUNT is not allowed in WHERE", ""},
    {"SELECT SUM(COUNT(*)) FROM t", MS_GROUPING_ERROR, "COUNT(*)",
     "aggregate COUNT stands inside another aggregate", ""},
    {"VALUES (COUNT(*))", MS_GROUPING_ERROR, "COUNT(*)", "aggregate COUNT is not allowed in VALUES",
     ""},
    {"SELECT SUM() FROM t", MS_UNDEFINED_FUNCTION, "SUM()", "aggregate SUM needs an argument", ""},
    {"SELECT SUM(*) FROM t", MS_UNDEFINED_FUNCTION, "SUM(*)", "aggregate SUM needs an argument",
     ""},
    {"SELECT UPPER(DISTINCT b) FROM t", MS_INVALID_QUERY, "UPPER(DISTINCT b)",
     "DISTINCT is for aggregate functions, and UPPER is none", ""},
    {"SELECT UPPER(b) FILTER (WHERE a > 1) FROM t", MS_INVALID_QUERY,
     "UPPER(b) FILTER (WHERE a > 1)", "FILTER is for aggregate functions, and UPPER is none", ""},
};

static void columns_beside_aggregates_are_refused(void **state)
{
    (void)state;
    CHECK(aggregates);
}

static const wrong inserts[] = {
    {"INSERT INTO nowhere SELECT 1", MS_UNDEFINED_TABLE, "nowhere",
     "table \"nowhere\" does not exist", ""},
    {"INSERT INTO v SELECT 1, 2", MS_INVALID_QUERY, "v",
     "\"v\" is a view: only tables can be written", ""},
    {"INSERT INTO k SELECT 1", MS_TYPE_MISMATCH, "SELECT 1",
     "the query has 1 column, table \"k\" takes 3", ""},
    {"INSERT INTO k SELECT 1, 2, 3", MS_TYPE_MISMATCH, "2",
     "column \"v\" of table \"k\" is STRING and does not take INT", "Write CAST(... AS STRING)."},
    {"INSERT INTO k VALUES (1, 'a', 1e0)", MS_TYPE_MISMATCH, "1e0",
     "column \"n\" of table \"k\" is BIGINT and does not take DOUBLE",
     "Write CAST(... AS BIGINT)."},
    {"INSERT INTO s SELECT big, 'x' FROM n", MS_TYPE_MISMATCH, "big",
     "column \"a\" of table \"s\" is INT and does not take BIGINT", "Write CAST(... AS INT)."},
    {"INSERT INTO s SELECT 1, ts FROM t", MS_TYPE_MISMATCH, "ts",
     "column \"b\" of table \"s\" is STRING and does not take TIMESTAMP(3)",
     "Write CAST(... AS STRING)."},
    {"INSERT INTO k (id, id) SELECT 1, 2", MS_DUPLICATE_COLUMN, "id",
     "column \"id\" is named twice", ""},
    {"INSERT INTO k (idd) SELECT 1", MS_UNDEFINED_COLUMN, "idd",
     "table \"k\" has no column \"idd\"", "Did you mean \"id\"?"},
    {"INSERT INTO k (id) SELECT 1", MS_NOT_NULL_VIOLATION, "k",
     "column \"n\" of table \"k\" is NOT NULL and gets no value", "Add it to the column list."},
    {"INSERT INTO k (id, n) VALUES (1)", MS_TYPE_MISMATCH, "VALUES (1)",
     "the query has 1 column, table \"k\" takes 2 here", ""},
    {"INSERT INTO t (d) SELECT 1", MS_INVALID_QUERY, "d", "computed column \"d\" cannot be written",
     ""},
    {"INSERT INTO n (meta) SELECT 'x'", MS_INVALID_QUERY, "meta",
     "virtual column \"meta\" cannot be written", ""},
    {"INSERT INTO t (r.x) SELECT 1", MS_NOT_SUPPORTED, "r.x",
     "INSERT into a field of a column is not supported", ""},
    {"INSERT OVERWRITE k SELECT 1, 'x', 1", MS_NOT_SUPPORTED, "INSERT OVERWRITE k SELECT 1, 'x', 1",
     "INSERT OVERWRITE is not supported", ""},
    {"INSERT INTO k PARTITION (v = 'x') SELECT 1, 1", MS_NOT_SUPPORTED, "PARTITION (v = 'x')",
     "INSERT into a PARTITION is not supported", ""},
    {"INSERT INTO k SELECT 1, 'x', 1 ON CONFLICT DO NOTHING", MS_NOT_SUPPORTED,
     "ON CONFLICT DO NOTHING", "ON CONFLICT is not supported", ""},
    {"INSERT INTO k /*+ OPTIONS('takes' = 'all'), OPTIONS('bounded' = 'true') */ SELECT 1, 'x', 1",
     MS_INVALID_QUERY, "OPTIONS('bounded' = 'true')", "a table has one OPTIONS hint at most", ""},
};

static void inserts_that_do_not_fit_their_table_are_refused(void **state)
{
    (void)state;
    CHECK(inserts);
}

static void a_mismatch_lists_both_schemas(void **state)
{
    (void)state;
    planner p;
    planner_open(&p);
    planner_run(&p, tables);
    assert_int_equal(planner_try(&p, "INSERT INTO s SELECT 'x', a FROM s"), MS_TYPE_MISMATCH);
    assert_string_equal(
        p.st.detail,
        "Column types of query result and sink for 'default_catalog.default_database.s' do not "
        "match. Cause: Incompatible types for sink column 'a' at position 0. Query schema: "
        "[EXPR$0: CHAR(1) NOT NULL, a: INT]. Sink schema: [a: INT, b: STRING]");
    planner_close(&p);
}

static const wrong views[] = {
    {"CREATE TABLE u (a INT) WITH ('connector' = 'fake'); CREATE VIEW uv AS SELECT a FROM u; DROP "
     "TABLE u; SELECT 1 FROM uv",
     MS_UNDEFINED_TABLE, "uv", "table \"u\" does not exist", ""},
    {"CREATE TABLE u (b INT) WITH ('connector' = 'fake'); SELECT * FROM uv AS x",
     MS_UNDEFINED_COLUMN, "uv", "column \"a\" does not exist", ""},
    {"CREATE VIEW uw AS SELECT * FROM u; DROP TABLE u; CREATE TABLE u (b INT, c INT) WITH "
     "('connector' = 'fake'); SELECT b FROM uw",
     MS_INVALID_QUERY, "uw", "view \"uw\" had 1 column when it was made, now its query has 2",
     "A table under it has changed: make the view again."},
    {"SELECT * FROM v /*+ OPTIONS('a' = 'b') */", MS_INVALID_QUERY, "OPTIONS('a' = 'b')",
     "OPTIONS are for tables, and \"v\" is a view", ""},
    {"WITH z AS (SELECT 1) SELECT * FROM z /*+ OPTIONS('a' = 'b') */", MS_INVALID_QUERY,
     "OPTIONS('a' = 'b')", "OPTIONS are for tables, and \"z\" is a common table expression", ""},
    {"SELECT twice + 'x' FROM v", MS_UNDEFINED_FUNCTION, "twice + 'x'",
     "operator + does not take (INT, CHAR(1))", ""},
};

static void errors_in_a_view_stand_at_its_name(void **state)
{
    (void)state;
    CHECK(views);
}

static void errors_in_a_view_say_which_and_where(void **state)
{
    (void)state;
    planner p;
    planner_open(&p);
    planner_run(&p, "CREATE TABLE u (a INT) WITH ('connector' = 'fake');"
                    "CREATE VIEW inside AS SELECT a + 1 AS b FROM u;"
                    "CREATE VIEW outside AS SELECT b FROM inside;"
                    "DROP TABLE u; CREATE TABLE u (c INT) WITH ('connector' = 'fake')");
    assert_int_equal(planner_try(&p, "SELECT * FROM outside"), MS_UNDEFINED_COLUMN);
    assert_string_equal(p.st.message, "column \"a\" does not exist");
    assert_string_equal(planner_place(&p), "outside");
    assert_string_equal(p.st.detail,
                        "in view \"outside\", at \"`inside`\": in view \"inside\", at \"`a`\"");
    planner_close(&p);
}

static void an_empty_catalog_says_so(void **state)
{
    (void)state;
    planner p;
    planner_open(&p);
    assert_int_equal(planner_try(&p, "SELECT * FROM t"), MS_UNDEFINED_TABLE);
    assert_string_equal(p.st.hint, "No table has been created yet.");
    planner_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_names_are_placed_and_the_nearest_are_offered),
        cmocka_unit_test(types_that_do_not_fit_are_named),
        cmocka_unit_test(what_is_not_built_is_refused_by_name),
        cmocka_unit_test(columns_beside_aggregates_are_refused),
        cmocka_unit_test(inserts_that_do_not_fit_their_table_are_refused),
        cmocka_unit_test(a_mismatch_lists_both_schemas),
        cmocka_unit_test(errors_in_a_view_stand_at_its_name),
        cmocka_unit_test(errors_in_a_view_say_which_and_where),
        cmocka_unit_test(an_empty_catalog_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
