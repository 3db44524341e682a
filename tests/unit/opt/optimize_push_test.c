/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters on their way down, and where they stop.
 */
#include "opt/golden.h"

static const golden plans[] = {
    {"SELECT * FROM (SELECT a + 1 AS x, b FROM t) WHERE x > 3 AND b = 'y'",
     "Collect(fields=[x, b], parallelism=[1])\n"
     "+- Calc(select=[a + 1 AS x, b], where=[a + 1 > 3], parallelism=[1])\n"
     "   +- TableSourceScan(table=[t], fields=[a, b], projected, filter=[b = 'y'], "
     "parallelism=[1])\n"},
    {"SELECT * FROM (SELECT a, b FROM t UNION ALL SELECT a, b FROM p) WHERE a > 3",
     "Collect(fields=[a, b], parallelism=[1])\n"
     "+- Union(all=[true], union=[a, b], parallelism=[1])\n"
     "   :- TableSourceScan(table=[t], fields=[a, b], projected, filter=[a > 3], parallelism=[1])\n"
     "   +- Calc(select=[a, b], where=[a > 3], parallelism=[1])\n"
     "      +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n"},
    {"SELECT * FROM (SELECT a, b FROM t UNION ALL SELECT 1, 'x') WHERE a > 3",
     "Collect(fields=[a, b], parallelism=[1])\n"
     "+- Union(all=[true], union=[a, b], parallelism=[1])\n"
     "   :- TableSourceScan(table=[t], fields=[a, b], projected, filter=[a > 3], parallelism=[1])\n"
     "   +- Calc(select=[EXPR$0 AS a, CAST(EXPR$1 AS STRING) AS b], where=[EXPR$0 > 3], "
     "parallelism=[1])\n"
     "      +- Values(rows=[1], fields=[EXPR$0, EXPR$1], parallelism=[1])\n"},
    {"SELECT * FROM (SELECT a, b FROM t ORDER BY b) WHERE a > 3",
     "Collect(fields=[a, b], parallelism=[1])\n"
     "+- Sort(orderBy=[b ASC], parallelism=[1])\n"
     "   +- Exchange(distribution=[single], parallelism=[1])\n"
     "      +- TableSourceScan(table=[t], fields=[a, b], projected, filter=[a > 3], "
     "parallelism=[2])\n"},
    {"SELECT * FROM (SELECT a FROM t LIMIT 5) WHERE a > 3",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Calc(select=[a], where=[a > 3], parallelism=[1])\n"
     "   +- Limit(fetch=[5], parallelism=[1])\n"
     "      +- TableSourceScan(table=[t], fields=[a], projected, limit=[5], parallelism=[1])\n"},
    {"SELECT * FROM (SELECT SUM(a) AS s FROM t) WHERE s > 3",
     "Collect(fields=[s], parallelism=[1])\n"
     "+- Calc(select=[agg$0], where=[agg$0 > 3], parallelism=[1])\n"
     "   +- GroupAggregate(select=[SUM(a) AS agg$0], state=[value], parallelism=[1])\n"
     "      +- Exchange(distribution=[single], parallelism=[1])\n"
     "         +- TableSourceScan(table=[t], fields=[a], projected, parallelism=[2])\n"},
    {"SELECT a FROM w WHERE a > 3",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Calc(select=[a], where=[a > 3], parallelism=[1])\n"
     "   +- WatermarkAssigner(rowtime=[ts], watermark=[ts - INTERVAL '+0 00:00:05.000'], "
     "parallelism=[1])\n"
     "      +- TableSourceScan(table=[w], fields=[a, ts], parallelism=[1])\n"},
    {"SELECT * FROM (SELECT a, 1 / a AS y FROM t) WHERE a <> 0 AND y > 1",
     "Collect(fields=[a, y], parallelism=[1])\n"
     "+- Calc(select=[a, 1 / a AS y], where=[a <> 0 AND 1 / a > 1], parallelism=[1])\n"
     "   +- TableSourceScan(table=[t], fields=[a], projected, parallelism=[1])\n"},
    {"SELECT * FROM (SELECT a, 1 / a AS y FROM t) WHERE y > 1 AND a <> 0",
     "Collect(fields=[a, y], parallelism=[1])\n"
     "+- Calc(select=[a, 1 / a AS y], where=[1 / a > 1 AND a <> 0], parallelism=[1])\n"
     "   +- TableSourceScan(table=[t], fields=[a], projected, parallelism=[1])\n"},
    {"SELECT * FROM (SELECT a FROM (SELECT a, b FROM t WHERE b > 'x') WHERE a > 1) WHERE a < 9",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- TableSourceScan(table=[t], fields=[a], projected, filter=[b > 'x', a > 1, a < 9], "
     "parallelism=[1])\n"},
    {"SELECT d FROM t WHERE d > 3",
     "Collect(fields=[d], parallelism=[1])\n"
     "+- Calc(select=[a + 1 AS d], where=[a + 1 > 3], parallelism=[1])\n"
     "   +- TableSourceScan(table=[t], fields=[a], projected, parallelism=[1])\n"},
};

static void filters_sink_as_far_as_they_may(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    CHECK_PLANS(&p, plans);
    planner_close(&p);
}

/* SELECT x FROM (SELECT f(a) AS x, b AS y FROM t) WHERE x > 1 AND y > 'a' */
static ms_rc filter_over(planner *p, const ms_expr *(*wrap)(planner *p, const ms_expr *arg))
{
    const ms_lnode *scan = scan_of(p, "t");
    const ms_expr *exprs[2] = {wrap(p, column_of(p, scan, 0)), column_of(p, scan, 0)};
    const ms_lnode *project = project_of(p, scan, exprs, 2);
    const ms_expr *on_call = binary(p, ">", column_of(p, project, 0), int_const(p, 1));
    const ms_expr *on_column = binary(p, ">", column_of(p, project, 1), int_const(p, 2));
    const ms_lnode *lower = ms_lnode_filter(&p->arena, project, on_column, ms_span_none);
    const ms_lnode *upper = ms_lnode_filter(&p->arena, lower, on_call, ms_span_none);
    return optimize_by_hand(p, collect_of(p, upper));
}

static void a_filter_on_what_varies_stays_above_it(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    assert_int_equal(filter_over(&p, random_of), MS_OK);
    assert_string_equal(
        planner_explain(&p),
        "Collect(fields=[x, y], parallelism=[1])\n"
        "+- Calc(select=[x, y], where=[x > 1], parallelism=[1])\n"
        "   +- Calc(select=[RANDOM(a) AS x, a AS y], parallelism=[1])\n"
        "      +- TableSourceScan(table=[t], fields=[a], projected, filter=[a > 2], "
        "parallelism=[1])\n");
    planner_close(&p);
}

static void no_filter_goes_below_effects(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    assert_int_equal(filter_over(&p, side), MS_OK);
    assert_string_equal(planner_explain(&p),
                        "Collect(fields=[x, y], parallelism=[1])\n"
                        "+- Calc(select=[x, y], where=[y > 2 AND x > 1], parallelism=[1])\n"
                        "   +- Calc(select=[SIDE(a) AS x, a AS y], parallelism=[1])\n"
                        "      +- TableSourceScan(table=[t], fields=[a], projected, "
                        "parallelism=[1])\n");
    planner_close(&p);
}

static void a_condition_with_effects_keeps_what_is_behind_it(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    const ms_lnode *scan = scan_of(&p, "t");
    const ms_expr *a = column_of(&p, scan, 0);
    const ms_expr *conjuncts[3] = {binary(&p, ">", a, int_const(&p, 1)),
                                   binary(&p, ">", side(&p, a), int_const(&p, 2)),
                                   binary(&p, ">", a, int_const(&p, 3))};
    const ms_expr *condition =
        ms_expr_node(&p.arena, MS_EXPR_AND, NULL, conjuncts[0]->type, conjuncts, 3, ms_span_none);
    const ms_lnode *filter = ms_lnode_filter(&p.arena, scan, condition, ms_span_none);
    assert_int_equal(optimize_by_hand(&p, collect_of(&p, filter)), MS_OK);
    assert_string_equal(planner_explain(&p),
                        "Collect(fields=[a, b, c, r], parallelism=[1])\n"
                        "+- Calc(select=[a, b, c, r], where=[SIDE(a) > 2 AND a > 3], "
                        "parallelism=[1])\n"
                        "   +- TableSourceScan(table=[t], fields=[a, b, c, r], filter=[a > 1], "
                        "parallelism=[1])\n");
    planner_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(filters_sink_as_far_as_they_may),
        cmocka_unit_test(a_filter_on_what_varies_stays_above_it),
        cmocka_unit_test(no_filter_goes_below_effects),
        cmocka_unit_test(a_condition_with_effects_keeps_what_is_behind_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
