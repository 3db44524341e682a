/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns that nobody reads, down to the scans.
 */
#include "opt/golden.h"

static const golden plans[] = {
    {"SELECT c FROM t", "Collect(fields=[c], parallelism=[1])\n"
                        "+- TableSourceScan(table=[t], fields=[c], projected, parallelism=[1])\n"},
    {"SELECT c FROM (SELECT a + 1 AS x, b || 'y' AS y, c FROM t)",
     "Collect(fields=[c], parallelism=[1])\n"
     "+- TableSourceScan(table=[t], fields=[c], projected, parallelism=[1])\n"},
    {"SELECT COUNT(*) FROM t",
     "Collect(fields=[EXPR$0], parallelism=[1])\n"
     "+- GroupAggregate(select=[COUNT(*) AS agg$0], state=[value], parallelism=[1])\n"
     "   +- Exchange(distribution=[single], parallelism=[1])\n"
     "      +- TableSourceScan(table=[t], fields=[a], projected, parallelism=[2])\n"},
    {"SELECT COUNT(*) FROM k",
     "Collect(fields=[EXPR$0], parallelism=[1])\n"
     "+- GroupAggregate(select=[COUNT(*) AS agg$0], state=[value], parallelism=[1])\n"
     "   +- Exchange(distribution=[single], parallelism=[1])\n"
     "      +- TableSourceScan(table=[k], fields=[id], projected, parallelism=[2])\n"},
    {"SELECT COUNT(*) FROM w",
     "Collect(fields=[EXPR$0], parallelism=[1])\n"
     "+- GroupAggregate(select=[COUNT(*) AS agg$0], state=[value], parallelism=[1])\n"
     "   +- Exchange(distribution=[single], parallelism=[1])\n"
     "      +- WatermarkAssigner(rowtime=[ts], watermark=[ts - INTERVAL '+0 00:00:05.000'], "
     "parallelism=[2])\n"
     "         +- TableSourceScan(table=[w], fields=[ts], projected, parallelism=[2])\n"},
    {"SELECT COUNT(c) FROM t WHERE b LIKE 'x%'",
     "Collect(fields=[EXPR$0], parallelism=[1])\n"
     "+- GroupAggregate(select=[COUNT(c) AS agg$0], state=[value], parallelism=[1])\n"
     "   +- Exchange(distribution=[single], parallelism=[1])\n"
     "      +- Calc(select=[c], where=[b LIKE 'x%'], parallelism=[2])\n"
     "         +- TableSourceScan(table=[t], fields=[b, c], projected, parallelism=[2])\n"},
    {"SELECT s FROM (SELECT SUM(a) AS s, MAX(b) AS m, MIN(c) AS n FROM t)",
     "Collect(fields=[s], parallelism=[1])\n"
     "+- GroupAggregate(select=[SUM(a) AS agg$0], state=[value], parallelism=[1])\n"
     "   +- Exchange(distribution=[single], parallelism=[1])\n"
     "      +- TableSourceScan(table=[t], fields=[a], projected, parallelism=[2])\n"},
    {"SELECT 1 FROM (SELECT SUM(a) AS s, MAX(b) AS m FROM t)",
     "Collect(fields=[EXPR$0], parallelism=[1])\n"
     "+- Calc(select=[1 AS EXPR$0], parallelism=[1])\n"
     "   +- GroupAggregate(select=[SUM(a) AS agg$0], state=[value], parallelism=[1])\n"
     "      +- Exchange(distribution=[single], parallelism=[1])\n"
     "         +- TableSourceScan(table=[t], fields=[a], projected, parallelism=[2])\n"},
    {"SELECT b FROM (SELECT a, b, c FROM t UNION ALL SELECT a, b, c FROM p)",
     "Collect(fields=[b], parallelism=[1])\n"
     "+- Union(all=[true], union=[b], parallelism=[1])\n"
     "   :- TableSourceScan(table=[t], fields=[b], projected, parallelism=[1])\n"
     "   +- Calc(select=[b], parallelism=[1])\n"
     "      +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n"},
    {"SELECT COUNT(*) FROM (SELECT a, b FROM t UNION ALL SELECT a, b FROM p)",
     "Collect(fields=[EXPR$0], parallelism=[1])\n"
     "+- GroupAggregate(select=[COUNT(*) AS agg$0], state=[value], parallelism=[1])\n"
     "   +- Exchange(distribution=[single], parallelism=[1])\n"
     "      +- Union(all=[true], union=[a], parallelism=[2])\n"
     "         :- TableSourceScan(table=[t], fields=[a], projected, parallelism=[2])\n"
     "         +- Calc(select=[a], parallelism=[2])\n"
     "            +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[2])\n"},
    {"SELECT a FROM (SELECT a, b FROM t WHERE b LIKE 'x%' UNION ALL SELECT a, b FROM p ORDER BY b "
     "LIMIT 3)",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Calc(select=[a], parallelism=[1])\n"
     "   +- Sort(orderBy=[b ASC], fetch=[3], parallelism=[1])\n"
     "      +- Exchange(distribution=[single], parallelism=[1])\n"
     "         +- Union(all=[true], union=[a, b], parallelism=[2])\n"
     "            :- Calc(select=[a, b], where=[b LIKE 'x%'], parallelism=[2])\n"
     "            :  +- TableSourceScan(table=[t], fields=[a, b], projected, parallelism=[2])\n"
     "            +- Calc(select=[a, b], parallelism=[2])\n"
     "               +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[2])\n"},
    {"SELECT a FROM (SELECT a, b, c FROM t ORDER BY c)",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Calc(select=[a], parallelism=[1])\n"
     "   +- Sort(orderBy=[c ASC], parallelism=[1])\n"
     "      +- Exchange(distribution=[single], parallelism=[1])\n"
     "         +- TableSourceScan(table=[t], fields=[a, c], projected, parallelism=[2])\n"},
    {"SELECT r.x FROM t",
     "Collect(fields=[x], parallelism=[1])\n"
     "+- Calc(select=[r.x AS x], parallelism=[1])\n"
     "   +- TableSourceScan(table=[t], fields=[r], projected, parallelism=[1])\n"},
    {"SELECT COUNT(*) FROM (VALUES (1, 'a'), (2, 'b')) AS v(x, y)",
     "Collect(fields=[EXPR$0], parallelism=[1])\n"
     "+- GroupAggregate(select=[COUNT(*) AS agg$0], state=[value], parallelism=[1])\n"
     "   +- Values(rows=[2], fields=[EXPR$0, EXPR$1], parallelism=[1])\n"},
    {"SELECT y FROM (VALUES (1, 'a'), (2, 'b')) AS v(x, y)",
     "Collect(fields=[y], parallelism=[1])\n"
     "+- Calc(select=[EXPR$1 AS y], parallelism=[1])\n"
     "   +- Values(rows=[2], fields=[EXPR$0, EXPR$1], parallelism=[1])\n"},
    {"SELECT 1 FROM t",
     "Collect(fields=[EXPR$0], parallelism=[1])\n"
     "+- Calc(select=[1 AS EXPR$0], parallelism=[1])\n"
     "   +- TableSourceScan(table=[t], fields=[a], projected, parallelism=[1])\n"},
};

static void only_what_is_read_is_scanned(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    CHECK_PLANS(&p, plans);
    planner_close(&p);
}

static void effects_are_kept_though_nobody_reads_them(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    const ms_lnode *scan = scan_of(&p, "t");
    const ms_expr *exprs[3] = {column_of(&p, scan, 1), side(&p, column_of(&p, scan, 0)),
                               random_of(&p, column_of(&p, scan, 0))};
    const ms_lnode *lower = project_of(&p, scan, exprs, 3);
    const ms_expr *first = column_of(&p, lower, 0);
    const ms_lnode *upper = project_of(&p, lower, &first, 1);
    assert_int_equal(optimize_by_hand(&p, collect_of(&p, upper)), MS_OK);
    assert_string_equal(planner_explain(&p),
                        "Collect(fields=[x], parallelism=[1])\n"
                        "+- Calc(select=[x], parallelism=[1])\n"
                        "   +- Calc(select=[b AS x, SIDE(a) AS y], parallelism=[1])\n"
                        "      +- TableSourceScan(table=[t], fields=[a, b], projected, "
                        "parallelism=[1])\n");
    planner_close(&p);
}

static void all_is_scanned_when_the_group_is_off(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    p.settings.optimize = false;
    planner_run(&p, "SELECT c FROM t");
    assert_string_equal(planner_explain(&p),
                        "Collect(fields=[c], parallelism=[1])\n"
                        "+- Calc(select=[c], parallelism=[1])\n"
                        "   +- TableSourceScan(table=[t], fields=[a, b, c, r], "
                        "parallelism=[1])\n");
    planner_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_is_read_is_scanned),
        cmocka_unit_test(effects_are_kept_though_nobody_reads_them),
        cmocka_unit_test(all_is_scanned_when_the_group_is_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
