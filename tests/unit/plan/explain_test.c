/* SPDX-License-Identifier: Apache-2.0 */
/*
 * EXPLAIN: both plans, stable and readable.
 */
#include "opt/planner.h"

static const char tables[] =
    "CREATE TABLE t (a INT, b STRING, c DOUBLE NOT NULL, d AS a + 1, r ROW<x INT, y STRING>) WITH "
    "('connector' = 'fake'); "
    "CREATE TABLE w (a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH "
    "('connector' = 'fake'); "
    "CREATE TABLE p (a INT, b STRING, c DOUBLE NOT NULL) WITH ('connector' = 'plain'); "
    "CREATE TABLE f (a INT, b STRING) WITH ('connector' = 'plain', 'ordered' = 'true'); "
    "CREATE TABLE k (id BIGINT, v STRING, n BIGINT NOT NULL, PRIMARY KEY (id) NOT ENFORCED) WITH "
    "('connector' = 'fake', 'takes' = 'upsert'); "
    "CREATE TABLE o (a INT, n BIGINT) WITH ('connector' = 'writes'); ";

static const char *explain(planner *p, const char *sql, bool changelog_mode)
{
    planner_run(p, sql);
    ms_explain_options options = {.changelog_mode = changelog_mode};
    ms_buf buf;
    ms_buf_init(&buf, 1 << 20);
    ms_status st = {0};
    assert_ok(ms_explain_write(p->logical, p->plan, &options, &buf, &st));
    return planner_text(p, &buf);
}

static void open_tables(planner *p)
{
    planner_open(p);
    planner_run(p, tables);
}

static void both_plans_are_shown(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    assert_string_equal(
        explain(&p, "INSERT INTO o SELECT a, 1 FROM t WHERE a > 1 AND b LIKE 'x%'", false),
        "== Abstract Syntax Tree ==\n"
        "LogicalSink(table=[[default_catalog, default_database, o]], fields=[a, n])\n"
        "+- LogicalProject(a=[$0], n=[CAST($1 AS BIGINT)])\n"
        "   +- LogicalProject(a=[$0], EXPR$1=[1])\n"
        "      +- LogicalFilter(condition=[$0 > 1 AND $1 LIKE 'x%'])\n"
        "         +- LogicalProject(a=[$0], b=[$1], c=[$2], d=[$0 + 1], r=[$3])\n"
        "            +- LogicalTableScan(table=[[default_catalog, default_database, t]])\n"
        "\n"
        "== Optimized Physical Plan ==\n"
        "Sink(table=[o], fields=[a, n], guarantee=[at-least-once], parallelism=[2])\n"
        "+- Calc(select=[a, 1 AS n], where=[b LIKE 'x%'], parallelism=[2])\n"
        "   +- TableSourceScan(table=[t], fields=[a, b], projected, filter=[a > 1], "
        "parallelism=[2])\n");
    planner_close(&p);
}

static void changelog_modes_are_shown_when_asked_for(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    const char *text = explain(&p, "SELECT COUNT(*) AS n FROM t", true);
    assert_non_null(strstr(text, "Collect(fields=[n], changelogMode=[I,UB,UA], parallelism=[1])"));
    assert_non_null(strstr(text, "projected, changelogMode=[I], parallelism=[2])"));
    text = explain(&p, "SELECT COUNT(*) AS n FROM t", false);
    assert_null(strstr(text, "changelogMode"));
    planner_close(&p);
}

static void branches_are_drawn(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    planner_run(&p, "(SELECT a FROM p UNION ALL (SELECT a FROM f LIMIT 2)) UNION ALL "
                    "SELECT a FROM w ORDER BY a DESC NULLS FIRST LIMIT 3 OFFSET 1");
    assert_string_equal(
        planner_logical(&p),
        "LogicalLimit(offset=[1], fetch=[3])\n"
        "+- LogicalSort(sort=[a DESC NULLS FIRST])\n"
        "   +- LogicalUnion(all=[true])\n"
        "      :- LogicalUnion(all=[true])\n"
        "      :  :- LogicalProject(a=[$0])\n"
        "      :  :  +- LogicalTableScan(table=[[default_catalog, default_database, p]])\n"
        "      :  +- LogicalLimit(fetch=[2])\n"
        "      :     +- LogicalProject(a=[$0])\n"
        "      :        +- LogicalTableScan(table=[[default_catalog, default_database, f]])\n"
        "      +- LogicalProject(a=[$0])\n"
        "         +- LogicalWatermarkAssigner(rowtime=[ts], watermark=[$1 - INTERVAL '+0 "
        "00:00:05.000'])\n"
        "            +- LogicalTableScan(table=[[default_catalog, default_database, w]])\n");
    assert_string_equal(
        planner_explain(&p),
        "Collect(fields=[a], parallelism=[1])\n"
        "+- Sort(orderBy=[a DESC NULLS FIRST], offset=[1], fetch=[3], parallelism=[1])\n"
        "   +- Union(all=[true], union=[a], parallelism=[1])\n"
        "      :- Calc(select=[a], parallelism=[1])\n"
        "      :  +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n"
        "      :- Limit(fetch=[2], parallelism=[1])\n"
        "      :  +- Calc(select=[a], parallelism=[1])\n"
        "      :     +- TableSourceScan(table=[f], fields=[a, b], parallelism=[1])\n"
        "      +- Calc(select=[a], parallelism=[1])\n"
        "         +- WatermarkAssigner(rowtime=[ts], watermark=[ts - INTERVAL '+0 00:00:05.000'], "
        "parallelism=[1])\n"
        "            +- TableSourceScan(table=[w], fields=[a, ts], parallelism=[1])\n");
    planner_close(&p);
}

static void shared_scans_are_shown_once(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    planner_run(&p, "EXECUTE STATEMENT SET BEGIN INSERT INTO o SELECT a, 1 FROM p;"
                    " INSERT INTO o SELECT a, 2 FROM p; END");
    assert_string_equal(planner_explain(&p),
                        "Sink(table=[o], fields=[a, n], guarantee=[at-least-once], "
                        "parallelism=[2])\n"
                        "+- Calc(select=[a, 1 AS n], parallelism=[2])\n"
                        "   +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[2])"
                        "(reuse_id=[1])\n"
                        "Sink(table=[o], fields=[a, n], guarantee=[at-least-once], "
                        "parallelism=[2])\n"
                        "+- Calc(select=[a, 2 AS n], parallelism=[2])\n"
                        "   +- Reused(reference_id=[1])\n");
    planner_close(&p);
}

static void sinks_say_what_they_enforce_and_guarantee(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    planner_run(&p, "CREATE TABLE e (a INT NOT NULL, b INT) WITH ('connector' = 'fake', "
                    "'guarantee' = 'exactly-once'); INSERT INTO e (a) SELECT a FROM f");
    const char *text = planner_explain(&p);
    assert_non_null(strstr(text, "Sink(table=[e], fields=[a, b], guarantee=[exactly-once], "
                                 "notNull=[a], targets=[1], parallelism=[1])"));
    planner_close(&p);
}

static void many_rows_of_values_are_counted(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    planner_run(&p, "VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11), (12)");
    assert_string_equal(planner_logical(&p),
                        "LogicalValues(tuples=[[{ 1 }, { 2 }, { 3 }, { 4 }, { 5 }, { 6 }, { 7 }, "
                        "{ 8 }, { 9 }, { 10 }, and 2 more]])\n");
    assert_string_equal(planner_explain(&p), "Collect(fields=[EXPR$0], parallelism=[1])\n"
                                             "+- Values(rows=[12], fields=[EXPR$0], "
                                             "parallelism=[1])\n");
    planner_close(&p);
}

static void a_text_that_does_not_fit_fails(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    planner_run(&p, "SELECT a + 1 FROM t WHERE b > 'x' ORDER BY b");
    ms_explain_options options = {.changelog_mode = true};
    for (size_t max = 1; max < 400; max += 7) {
        ms_buf buf;
        ms_buf_init(&buf, max);
        ms_status st = {0};
        assert_int_equal(ms_explain_write(p.logical, p.plan, &options, &buf, &st), MS_LIMIT);
        ms_buf_release(&buf);
    }
    planner_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_plans_are_shown),
        cmocka_unit_test(changelog_modes_are_shown_when_asked_for),
        cmocka_unit_test(branches_are_drawn),
        cmocka_unit_test(shared_scans_are_shown_once),
        cmocka_unit_test(sinks_say_what_they_enforce_and_guarantee),
        cmocka_unit_test(many_rows_of_values_are_counted),
        cmocka_unit_test(a_text_that_does_not_fit_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
