/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statements to bound types and logical plans.
 */
#include "base/limits.h"
#include "bind/bind_priv.h"
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

static void open_tables(planner *p)
{
    planner_open(p);
    p->bind_only = true;
    planner_run(p, tables);
}

/* A statement and what is bound from it. */
typedef struct golden {
    const char *sql;
    const char *expected;
} golden;

static const golden schemas[] = {
    {"SELECT 1, 2147483648, 1.50, 1e0, 'abc', TRUE, X'0aff'",
     "EXPR$0 INT NOT NULL, EXPR$1 BIGINT NOT NULL, EXPR$2 DECIMAL(3, 2) NOT NULL, EXPR$3 DOUBLE "
     "NOT NULL, EXPR$4 CHAR(3) NOT NULL, EXPR$5 BOOLEAN NOT NULL, EXPR$6 BINARY(2) NOT NULL"},
    {"SELECT -2147483648, - 5, +5, .5", "EXPR$0 INT NOT NULL, EXPR$1 INT NOT NULL, EXPR$2 INT NOT "
                                        "NULL, EXPR$3 DECIMAL(1, 1) NOT NULL"},
    {"SELECT NULL, UNKNOWN, CAST(NULL AS INT)", "EXPR$0 STRING, EXPR$1 BOOLEAN, EXPR$2 INT"},
    {"SELECT DATE '2020-01-02', TIMESTAMP '2020-01-02 03:04:05.123', INTERVAL '1' DAY IS NULL",
     "EXPR$0 DATE NOT NULL, EXPR$1 TIMESTAMP(3) NOT NULL, EXPR$2 BOOLEAN NOT NULL"},
    {"SELECT * FROM t", "a INT, b STRING, c DOUBLE NOT NULL, d INT, ts TIMESTAMP(3), r ROW<`x` "
                        "INT, `y` STRING NOT NULL>"},
    {"SELECT t.*, r.* FROM t", "a INT, b STRING, c DOUBLE NOT NULL, d INT, ts TIMESTAMP(3), r "
                               "ROW<`x` INT, `y` STRING NOT NULL>, x INT, y STRING"},
    {"SELECT x.a AS y, x.b FROM t AS x", "y INT, b STRING"},
    {"SELECT x, y FROM (SELECT a, b FROM t) AS s(x, y)", "x INT, y STRING"},
    {"SELECT a, a, b AS a FROM t", "a INT, a0 INT, a1 STRING"},
    {"SELECT 1 AS a, 2 AS a, 3 AS a0", "a INT NOT NULL, a0 INT NOT NULL, a00 INT NOT NULL"},
    {"SELECT r.x, r.y, r FROM t", "x INT, y STRING, r ROW<`x` INT, `y` STRING NOT NULL>"},
    {"SELECT arr[1], m['k'], arr, m FROM n",
     "EXPR$0 INT, EXPR$1 BIGINT, arr ARRAY<INT NOT NULL>, m MAP<STRING, BIGINT>"},
    {"SELECT q.inner_row.deep FROM n", "deep INT"},
    {"SELECT (q).inner_row.deep FROM n", "deep INT"},
    {"SELECT ROW(a, 'x'), ARRAY[1, 2], MAP['k', 1.5] FROM t",
     "EXPR$0 ROW<`EXPR$0` INT, `EXPR$1` CHAR(1) NOT NULL> NOT NULL, EXPR$1 ARRAY<INT NOT NULL> NOT "
     "NULL, EXPR$2 MAP<CHAR(1) NOT NULL, DECIMAL(2, 1) NOT NULL> NOT NULL"},
    {"SELECT a + 1, a + big, c + 1, a / 2, price * rate FROM n",
     "EXPR$0 INT, EXPR$1 BIGINT, EXPR$2 DOUBLE, EXPR$3 INT, EXPR$4 DECIMAL(16, 6)"},
    {"SELECT CASE WHEN a > 1 THEN 1 ELSE 2 END, CASE a WHEN 1 THEN 'x' END FROM t",
     "EXPR$0 INT NOT NULL, EXPR$1 CHAR(1)"},
    {"SELECT CASE a WHEN 1, 2 THEN 'small' WHEN 3 THEN 'big' ELSE b END FROM t", "EXPR$0 STRING"},
    {"SELECT COALESCE(a, 1), COALESCE(a, NULL) FROM t", "EXPR$0 INT NOT NULL, EXPR$1 INT"},
    {"SELECT a IS NULL, b IS NOT NULL, a = 1, c > 1.0, a BETWEEN 1 AND 2, b LIKE 'x%', a IN (1, 2) "
     "FROM t",
     "EXPR$0 BOOLEAN NOT NULL, EXPR$1 BOOLEAN NOT NULL, EXPR$2 BOOLEAN, EXPR$3 BOOLEAN NOT NULL, "
     "EXPR$4 BOOLEAN, EXPR$5 BOOLEAN, EXPR$6 BOOLEAN"},
    {"SELECT NOT a = 1, a = 1 AND c > 2, a = 1 OR b = 'x' FROM t",
     "EXPR$0 BOOLEAN, EXPR$1 BOOLEAN, EXPR$2 BOOLEAN"},
    {"SELECT a IS DISTINCT FROM 1, a NOT IN (1), b NOT LIKE 'x' ESCAPE '!', a NOT BETWEEN "
     "SYMMETRIC 1 AND 2 FROM t",
     "EXPR$0 BOOLEAN NOT NULL, EXPR$1 BOOLEAN, EXPR$2 BOOLEAN, EXPR$3 BOOLEAN"},
    {"SELECT b || 'x', UPPER(b), CHAR_LENGTH(b), SUBSTRING(b FROM 2 FOR 3), POSITION('x' IN b) "
     "FROM t",
     "EXPR$0 STRING, EXPR$1 STRING, EXPR$2 INT, EXPR$3 STRING, EXPR$4 INT"},
    {"SELECT TRIM(b), TRIM(LEADING 'x' FROM b) FROM t", "EXPR$0 STRING, EXPR$1 STRING"},
    {"SELECT CAST(a AS STRING), CAST(b AS INT), TRY_CAST(b AS INT), CAST(c AS DECIMAL(10, 2)) FROM "
     "t",
     "EXPR$0 STRING, EXPR$1 INT, EXPR$2 INT, EXPR$3 DECIMAL(10, 2)"},
    {"SELECT COUNT(*), COUNT(a), SUM(a), AVG(a), MIN(b), MAX(c) FROM t",
     "EXPR$0 BIGINT NOT NULL, EXPR$1 BIGINT NOT NULL, EXPR$2 INT, EXPR$3 INT, EXPR$4 STRING, "
     "EXPR$5 DOUBLE"},
    {"SELECT SUM(big), AVG(price), SUM(price), AVG(c), SUM(c) FROM n",
     "EXPR$0 BIGINT, EXPR$1 DECIMAL(38, 6), EXPR$2 DECIMAL(38, 2), EXPR$3 DOUBLE, EXPR$4 DOUBLE"},
    {"SELECT COUNT(*) FILTER (WHERE a > 1), SUM(a) FILTER (WHERE b = 'x') FROM t",
     "EXPR$0 BIGINT NOT NULL, EXPR$1 INT"},
    {"SELECT MAX(a) + COUNT(*) AS s FROM t HAVING COUNT(*) > 1", "s BIGINT"},
    {"SELECT 1 FROM t HAVING TRUE", "EXPR$0 INT NOT NULL"},
    {"VALUES (1, 'a'), (2, 'bcd')", "EXPR$0 INT NOT NULL, EXPR$1 VARCHAR(3) NOT NULL"},
    {"VALUES (1), (NULL)", "EXPR$0 INT"},
    {"VALUES (NULL, 1), (NULL, 2.5)", "EXPR$0 STRING, EXPR$1 DECIMAL(11, 1) NOT NULL"},
    {"SELECT a FROM t UNION ALL SELECT 1.5", "a DECIMAL(11, 1)"},
    {"SELECT NULL AS n UNION ALL SELECT 1", "n INT"},
    {"SELECT 'a' AS s UNION ALL SELECT 'bcd' UNION ALL SELECT NULL", "s VARCHAR(3)"},
    {"SELECT n, COALESCE(n, 1) FROM (SELECT NULL AS n)", "n STRING, EXPR$1 INT NOT NULL"},
    {"SELECT * FROM (VALUES (1, 'a')) AS v(id, name)", "id INT NOT NULL, name CHAR(1) NOT NULL"},
    {"WITH q AS (SELECT a AS z FROM t) SELECT z, q.z FROM q", "z INT, z0 INT"},
    {"WITH q(p) AS (SELECT a FROM t), w AS (SELECT p + 1 AS p1 FROM q) SELECT * FROM w", "p1 INT"},
    {"WITH t AS (SELECT 1 AS one_row) SELECT * FROM t", "one_row INT NOT NULL"},
    {"WITH q AS (SELECT 1 AS a) SELECT * FROM (WITH q AS (SELECT 'x' AS b) SELECT * FROM q) AS i "
     "UNION ALL SELECT 'y' FROM q",
     "b CHAR(1) NOT NULL"},
    {"TABLE t", "a INT, b STRING, c DOUBLE NOT NULL, d INT, ts TIMESTAMP(3), r ROW<`x` INT, `y` "
                "STRING NOT NULL>"},
    {"TABLE k", "id BIGINT NOT NULL, v STRING, n BIGINT NOT NULL"},
    {"SELECT ts, ts - INTERVAL '5' SECOND, ts + INTERVAL '1' MONTH, ts + INTERVAL (a) DAY FROM t",
     "ts TIMESTAMP(3), EXPR$1 TIMESTAMP(3), EXPR$2 TIMESTAMP(3), EXPR$3 TIMESTAMP(3)"},
    {"SELECT ts > '2020-01-01 00:00:00', born = '2020-01-01' FROM n",
     "EXPR$0 BOOLEAN, EXPR$1 BOOLEAN"},
    {"SELECT meta, calc FROM n", "meta STRING, calc STRING"},
    {"SELECT `weird name` FROM n", "weird name INT"},
    {"SELECT t.a FROM default_catalog.default_database.t", "a INT"},
    {"SELECT * FROM v", "b STRING, twice INT"},
    {"SELECT b AS c, c AS b FROM t ORDER BY b", "c STRING, b DOUBLE NOT NULL"},
};

static void types_and_names_are_exact(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    for (size_t i = 0; i < sizeof(schemas) / sizeof(schemas[0]); i++) {
        planner_run(&p, schemas[i].sql);
        assert_string_equal(planner_schema(&p), schemas[i].expected);
    }
    planner_close(&p);
}

static const golden plans[] = {
    {"SELECT a + 1 AS x FROM t WHERE b = 'x'",
     "LogicalProject(x=[$0 + 1])\n"
     "+- LogicalFilter(condition=[$1 = 'x'])\n"
     "   +- LogicalWatermarkAssigner(rowtime=[ts], watermark=[$4 - INTERVAL '+0 00:00:05.000'])\n"
     "      +- LogicalProject(a=[$0], b=[$1], c=[$2], d=[$0 + 1], ts=[$3], r=[$4])\n"
     "         +- LogicalTableScan(table=[[default_catalog, default_database, t]])\n"},
    {"SELECT a, calc FROM n",
     "LogicalProject(a=[$3], calc=[$11])\n"
     "+- LogicalProject(arr=[$0], m=[$1], q=[$2], a=[$3], big=[$4], c=[$5], price=[$6], rate=[$7], "
     "ts=[$8], born=[$9], meta=[$10], calc=[UPPER($10)], weird name=[$11])\n"
     "   +- LogicalTableScan(table=[[default_catalog, default_database, n]])\n"},
    {"SELECT COUNT(*) AS c, SUM(a) FROM s HAVING MAX(a) > 1",
     "LogicalProject(c=[$0], EXPR$1=[$1])\n"
     "+- LogicalFilter(condition=[$2 > 1])\n"
     "   +- LogicalAggregate(group=[{}], agg$0=[COUNT(*)], agg$1=[SUM($0)], agg$2=[MAX($0)])\n"
     "      +- LogicalProject(a=[$0])\n"
     "         +- LogicalTableScan(table=[[default_catalog, default_database, s]])\n"},
    {"SELECT SUM(a + 1), MAX(a + 1), SUM(a + 1) FILTER (WHERE b = 'x') FROM s",
     "LogicalProject(EXPR$0=[$0], EXPR$1=[$1], EXPR$2=[$2])\n"
     "+- LogicalAggregate(group=[{}], agg$0=[SUM($0)], agg$1=[MAX($0)], agg$2=[SUM($0) FILTER "
     "$1])\n"
     "   +- LogicalProject(arg$0=[$0 + 1], arg$1=[$1 = 'x'])\n"
     "      +- LogicalTableScan(table=[[default_catalog, default_database, s]])\n"},
    {"SELECT 1 FROM s HAVING TRUE",
     "LogicalProject(EXPR$0=[1])\n"
     "+- LogicalFilter(condition=[TRUE])\n"
     "   +- LogicalAggregate(group=[{}], agg$0=[COUNT(*)])\n"
     "      +- LogicalTableScan(table=[[default_catalog, default_database, s]])\n"},
    {"SELECT a FROM s ORDER BY b DESC NULLS LAST, a + 1",
     "LogicalProject(a=[$0])\n"
     "+- LogicalSort(sort=[order$1 DESC, order$2 ASC])\n"
     "   +- LogicalProject(a=[$0], order$1=[$1], order$2=[$0 + 1])\n"
     "      +- LogicalProject(a=[$0], order$1=[$1])\n"
     "         +- LogicalTableScan(table=[[default_catalog, default_database, s]])\n"},
    {"SELECT SUM(a) FROM s ORDER BY SUM(a) + 1",
     "LogicalProject(EXPR$0=[$0])\n"
     "+- LogicalSort(sort=[order$2 ASC])\n"
     "   +- LogicalProject(EXPR$0=[$0], order$1=[$1], order$2=[$1 + 1])\n"
     "      +- LogicalProject(EXPR$0=[$0], order$1=[$0])\n"
     "         +- LogicalAggregate(group=[{}], agg$0=[SUM($0)])\n"
     "            +- LogicalProject(a=[$0])\n"
     "               +- LogicalTableScan(table=[[default_catalog, default_database, s]])\n"},
    {"SELECT a AS b FROM s ORDER BY b",
     "LogicalSort(sort=[b ASC])\n"
     "+- LogicalProject(b=[$0])\n"
     "   +- LogicalTableScan(table=[[default_catalog, default_database, s]])\n"},
    {"SELECT a FROM s ORDER BY 1 LIMIT 5 OFFSET 2",
     "LogicalLimit(offset=[2], fetch=[5])\n"
     "+- LogicalSort(sort=[a ASC])\n"
     "   +- LogicalProject(a=[$0])\n"
     "      +- LogicalTableScan(table=[[default_catalog, default_database, s]])\n"},
    {"SELECT a FROM s ORDER BY s.b FETCH FIRST 3 ROWS ONLY",
     "LogicalLimit(fetch=[3])\n"
     "+- LogicalProject(a=[$0])\n"
     "   +- LogicalSort(sort=[order$1 ASC])\n"
     "      +- LogicalProject(a=[$0], order$1=[$1])\n"
     "         +- LogicalTableScan(table=[[default_catalog, default_database, s]])\n"},
    {"SELECT a FROM s UNION ALL (SELECT 2.5 AS q LIMIT 1)",
     "LogicalUnion(all=[true])\n"
     ":- LogicalProject(a=[CAST($0 AS DECIMAL(11, 1))])\n"
     ":  +- LogicalProject(a=[$0])\n"
     ":     +- LogicalTableScan(table=[[default_catalog, default_database, s]])\n"
     "+- LogicalProject(a=[CAST($0 AS DECIMAL(11, 1))])\n"
     "   +- LogicalLimit(fetch=[1])\n"
     "      +- LogicalProject(q=[2.5])\n"
     "         +- LogicalValues(tuples=[[{  }]])\n"},
    {"VALUES (1, 'a'), (2, NULL) ORDER BY 2",
     "LogicalSort(sort=[EXPR$1 ASC])\n"
     "+- LogicalValues(tuples=[[{ 1, 'a' }, { 2, NULL }]])\n"},
    {"INSERT INTO k (n, id) SELECT a, a FROM s",
     "LogicalSink(table=[[default_catalog, default_database, k]], fields=[id, v, n])\n"
     "+- LogicalProject(id=[CAST($1 AS BIGINT)], v=[NULL], n=[CAST($0 AS BIGINT)])\n"
     "   +- LogicalProject(a=[$0], a=[$0])\n"
     "      +- LogicalTableScan(table=[[default_catalog, default_database, s]])\n"},
    {"INSERT INTO k /*+ OPTIONS('takes' = 'all') */ SELECT * FROM k /*+ OPTIONS('bounded' = "
     "'false') */",
     "LogicalSink(table=[[default_catalog, default_database, k]], hints=[[OPTIONS "
     "options:{takes=all}]], fields=[id, v, n])\n"
     "+- LogicalProject(id=[$0], v=[$1], n=[$2])\n"
     "   +- LogicalProject(id=[$0], v=[$1], n=[$2])\n"
     "      +- LogicalTableScan(table=[[default_catalog, default_database, k]], hints=[[OPTIONS "
     "options:{bounded=false}]])\n"},
    {"INSERT INTO s SELECT NULL, 'abc'",
     "LogicalSink(table=[[default_catalog, default_database, s]], fields=[a, b])\n"
     "+- LogicalProject(a=[NULL], b=[CAST($1 AS STRING)])\n"
     "   +- LogicalProject(EXPR$0=[NULL], EXPR$1=['abc'])\n"
     "      +- LogicalValues(tuples=[[{  }]])\n"},
    {"WITH q AS (SELECT a FROM s WHERE a > 1) SELECT * FROM q UNION ALL SELECT * FROM q",
     "LogicalUnion(all=[true])\n"
     ":- LogicalProject(a=[$0])\n"
     ":  +- LogicalProject(a=[$0])\n"
     ":     +- LogicalFilter(condition=[$0 > 1])\n"
     ":        +- LogicalTableScan(table=[[default_catalog, default_database, s]])\n"
     "+- LogicalProject(a=[$0])\n"
     "   +- LogicalProject(a=[$0])\n"
     "      +- LogicalFilter(condition=[$0 > 1])\n"
     "         +- LogicalTableScan(table=[[default_catalog, default_database, s]])\n"},
    {"SELECT b FROM v WHERE twice > 4",
     "LogicalProject(b=[$0])\n"
     "+- LogicalFilter(condition=[$1 > 4])\n"
     "   +- LogicalProject(b=[$1], EXPR$1=[$0 * 2])\n"
     "      +- LogicalFilter(condition=[$0 > 0])\n"
     "         +- LogicalTableScan(table=[[default_catalog, default_database, s]])\n"},
    {"EXECUTE STATEMENT SET BEGIN INSERT INTO k SELECT 1, 'x', 2; INSERT INTO s SELECT 3, 'y'; END",
     "LogicalSink(table=[[default_catalog, default_database, k]], fields=[id, v, n])\n"
     "+- LogicalProject(id=[CAST($0 AS BIGINT)], v=[CAST($1 AS STRING)], n=[CAST($2 AS BIGINT)])\n"
     "   +- LogicalProject(EXPR$0=[1], EXPR$1=['x'], EXPR$2=[2])\n"
     "      +- LogicalValues(tuples=[[{  }]])\n"
     "LogicalSink(table=[[default_catalog, default_database, s]], fields=[a, b])\n"
     "+- LogicalProject(a=[$0], b=[CAST($1 AS STRING)])\n"
     "   +- LogicalProject(EXPR$0=[3], EXPR$1=['y'])\n"
     "      +- LogicalValues(tuples=[[{  }]])\n"},
};

static void plans_say_what_was_written(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    for (size_t i = 0; i < sizeof(plans) / sizeof(plans[0]); i++) {
        planner_run(&p, plans[i].sql);
        assert_string_equal(planner_logical(&p), plans[i].expected);
    }
    planner_close(&p);
}

static const ms_lnode *leaf_of(const ms_lnode *node)
{
    while (node->input_count > 0) {
        node = node->inputs[0];
    }
    return node;
}

static void a_second_use_of_a_cte_is_a_copy(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    planner_run(&p, "WITH q AS (SELECT a FROM s) SELECT * FROM q UNION ALL SELECT * FROM q");
    const ms_lnode *set = p.logical->roots[0]->inputs[0];
    assert_int_equal(set->kind, MS_LNODE_UNION);
    assert_ptr_not_equal(leaf_of(set->inputs[0]), leaf_of(set->inputs[1]));
    planner_close(&p);
}

static void hints_keep_their_places(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    planner_run(&p, "SELECT * FROM s /*+ OPTIONS('bounded' = 'false') */");
    const ms_lnode *scan = leaf_of(p.logical->roots[0]);
    const ms_option_list *hints = &scan->u.scan.of.hints;
    assert_int_equal(hints->count, 1);
    assert_str_equal(hints->items[0].key, "bounded");
    assert_str_equal(ms_source_slice(&p.source, hints->items[0].value_span), "'false'");
    planner_close(&p);
}

/* Every expression of a view points at its name: a fault at run time has no other place to show. */
static bool is_at(void *ctx, const ms_expr *expr)
{
    const ms_span *span = ctx;
    assert_int_equal(expr->span.start, span->start);
    assert_int_equal(expr->span.end, span->end);
    return true;
}

static void what_a_view_brings_stands_at_its_name(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    planner_run(&p, "SELECT b FROM v");
    const ms_lnode *node = p.logical->roots[0]->inputs[0]->inputs[0];
    ms_span span = {14, 15};
    assert_int_equal(node->kind, MS_LNODE_PROJECT);
    ms_expr_walk(node->u.project.exprs[1], is_at, &span);
    assert_int_equal(node->inputs[0]->kind, MS_LNODE_FILTER);
    ms_expr_walk(node->inputs[0]->u.filter.condition, is_at, &span);
    planner_close(&p);
}

static void a_cycle_of_views_is_refused(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    planner_run(&p, "CREATE VIEW round AS SELECT * FROM s");
    planner_run(&p, "CREATE TEMPORARY VIEW s AS SELECT * FROM round");
    assert_int_equal(planner_try(&p, "SELECT * FROM s"), MS_STATEMENT_TOO_LARGE);
    assert_string_equal(p.st.message, "views nest deeper than 64 levels");
    planner_close(&p);
}

/* WITH q1 AS (q0 twice), q2 AS (q1 twice) ...: 2^30 scans when nobody counts. */
static void doubling_ctes_are_refused_in_time(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    ms_str sql = ms_str_lit("WITH q0 AS (SELECT a FROM s)");
    for (int i = 1; i <= 30; i++) {
        sql = ms_arena_format(&p.arena,
                              "%.*s, q%d AS (SELECT * FROM q%d UNION ALL SELECT * FROM q%d)",
                              MS_STR_ARG(sql), i, i - 1, i - 1);
    }
    sql = ms_arena_format(&p.arena, "%.*s SELECT * FROM q30", MS_STR_ARG(sql));
    assert_int_equal(planner_try(&p, sql.ptr), MS_STATEMENT_TOO_LARGE);
    assert_string_equal(p.st.message, "the plan has more than 4096 operators");
    planner_close(&p);
}

static void a_long_chain_of_ctes_is_refused(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    ms_buf sql;
    ms_buf_init(&sql, 1 << 20);
    ms_status st = {0};
    assert_ok(ms_buf_append(&sql, ms_str_lit("WITH q0 AS (SELECT a FROM s)"), &st));
    for (int i = 1; i <= 1200; i++) {
        assert_ok(ms_buf_format(&sql, &st, ", q%d AS (SELECT * FROM q%d)", i, i - 1));
    }
    assert_ok(ms_buf_append(&sql, ms_str_lit(" SELECT * FROM q1200"), &st));
    ms_str text = ms_arena_copy_str(&p.arena, ms_buf_view(&sql));
    ms_buf_release(&sql);
    assert_int_equal(planner_try(&p, text.ptr), MS_STATEMENT_TOO_LARGE);
    assert_string_equal(p.st.message, "the plan is deeper than 1000 operators");
    planner_close(&p);
}

static void types_that_nest_too_deep_are_refused(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    const char *sql =
        "SELECT ARRAY[ARRAY[ARRAY[ARRAY[ARRAY[ARRAY[ARRAY[ARRAY[ARRAY[ARRAY[ARRAY[ARRAY["
        "ARRAY[ARRAY[ARRAY[ARRAY[1]]]]]]]]]]]]]]]]";
    assert_int_equal(planner_try(&p, sql), MS_STATEMENT_TOO_LARGE);
    assert_string_equal(p.st.message, "a type nests deeper than 16 levels");
    planner_close(&p);
}

static void results_have_a_limited_width(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    ms_str sql = ms_str_lit("WITH q0 AS (SELECT a, b FROM s)");
    for (int i = 1; i <= 10; i++) {
        sql = ms_arena_format(&p.arena, "%.*s, q%d AS (SELECT *, * FROM q%d)", MS_STR_ARG(sql), i,
                              i - 1);
    }
    sql = ms_arena_format(&p.arena, "%.*s SELECT * FROM q10", MS_STR_ARG(sql));
    assert_int_equal(planner_try(&p, sql.ptr), MS_STATEMENT_TOO_LARGE);
    assert_string_equal(p.st.message, "a query has more than 1600 columns");
    planner_close(&p);
}

static void nearest_names_come_nearest_first(void **state)
{
    (void)state;
    msi_nearest nearest;
    msi_nearest_init(&nearest, ms_str_lit("orders"));
    static const char *const offered[] = {"odours",  "order", "orders2",
                                          "holders", "zebra", "order"};
    for (size_t i = 0; i < sizeof(offered) / sizeof(offered[0]); i++) {
        msi_nearest_offer(&nearest, ms_str_cstr(offered[i]));
    }
    assert_int_equal(nearest.count, 3);
    assert_str_equal(nearest.names[0], "order");
    assert_str_equal(nearest.names[1], "orders2");
    assert_int_equal(nearest.distances[0], 1);
}

static void explain_binds_its_statement(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    planner_run(&p, "EXPLAIN CHANGELOG_MODE SELECT a FROM s");
    assert_string_equal(planner_schema(&p), "a INT");
    planner_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_and_names_are_exact),
        cmocka_unit_test(plans_say_what_was_written),
        cmocka_unit_test(a_second_use_of_a_cte_is_a_copy),
        cmocka_unit_test(hints_keep_their_places),
        cmocka_unit_test(what_a_view_brings_stands_at_its_name),
        cmocka_unit_test(a_cycle_of_views_is_refused),
        cmocka_unit_test(doubling_ctes_are_refused_in_time),
        cmocka_unit_test(a_long_chain_of_ctes_is_refused),
        cmocka_unit_test(types_that_nest_too_deep_are_refused),
        cmocka_unit_test(results_have_a_limited_width),
        cmocka_unit_test(nearest_names_come_nearest_first),
        cmocka_unit_test(explain_binds_its_statement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
