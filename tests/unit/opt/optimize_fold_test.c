/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constant folding, and what must not fold.
 */
#include "opt/golden.h"

static const golden plans[] = {
    {"SELECT 1 + 2 * 3, 'a' || 'b', CAST('7' AS INT) FROM p",
     "Collect(fields=[EXPR$0, EXPR$1, EXPR$2], parallelism=[1])\n"
     "+- Calc(select=[7 AS EXPR$0, 'ab' AS EXPR$1, 7 AS EXPR$2], parallelism=[1])\n"
     "   +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n"},
    {"SELECT 1 / 0 FROM p",
     "Collect(fields=[EXPR$0], parallelism=[1])\n"
     "+- Calc(select=[1 / 0 AS EXPR$0], parallelism=[1])\n"
     "   +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n"},
    {"SELECT CASE WHEN a > 0 THEN 1 / 0 ELSE 2 + 3 END FROM p",
     "Collect(fields=[EXPR$0], parallelism=[1])\n"
     "+- Calc(select=[CASE WHEN a > 0 THEN 1 / 0 ELSE 5 END AS EXPR$0], parallelism=[1])\n"
     "   +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n"},
    {"SELECT CASE WHEN 1 = 2 THEN a WHEN a > 1 THEN 5 WHEN 2 > 1 THEN 6 ELSE 7 END FROM p",
     "Collect(fields=[EXPR$0], parallelism=[1])\n"
     "+- Calc(select=[CASE WHEN a > 1 THEN 5 ELSE 6 END AS EXPR$0], parallelism=[1])\n"
     "   +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n"},
    {"SELECT CASE WHEN TRUE THEN a ELSE 1 / 0 END FROM p",
     "Collect(fields=[EXPR$0], parallelism=[1])\n"
     "+- Calc(select=[a AS EXPR$0], parallelism=[1])\n"
     "   +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n"},
    {"SELECT COALESCE(a, 1 + 1) FROM p",
     "Collect(fields=[EXPR$0], parallelism=[1])\n"
     "+- Calc(select=[COALESCE(a, 2) AS EXPR$0], parallelism=[1])\n"
     "   +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n"},
    {"SELECT a > 1 AND TRUE, a > 1 OR FALSE, a > 1 AND FALSE, a > 1 OR TRUE FROM p",
     "Collect(fields=[EXPR$0, EXPR$1, EXPR$2, EXPR$3], parallelism=[1])\n"
     "+- Calc(select=[a > 1 AS EXPR$0, a > 1 AS EXPR$1, FALSE AS EXPR$2, TRUE AS EXPR$3], "
     "parallelism=[1])\n"
     "   +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n"},
    {"SELECT FALSE AND 1 / a > 1, 1 / a > 1 AND FALSE, TRUE OR 1 / a > 1 FROM p",
     "Collect(fields=[EXPR$0, EXPR$1, EXPR$2], parallelism=[1])\n"
     "+- Calc(select=[FALSE AS EXPR$0, 1 / a > 1 AND FALSE AS EXPR$1, TRUE AS EXPR$2], "
     "parallelism=[1])\n"
     "   +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n"},
    {"SELECT TRUE AND TRUE, FALSE OR FALSE FROM p",
     "Collect(fields=[EXPR$0, EXPR$1], parallelism=[1])\n"
     "+- Calc(select=[TRUE AS EXPR$0, FALSE AS EXPR$1], parallelism=[1])\n"
     "   +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n"},
    {"SELECT NOT NOT (a > 1) FROM p",
     "Collect(fields=[EXPR$0], parallelism=[1])\n"
     "+- Calc(select=[a > 1 AS EXPR$0], parallelism=[1])\n"
     "   +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n"},
    {"SELECT a FROM p WHERE 1 = 1 AND a > 1 + 1",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Calc(select=[a], where=[a > 2], parallelism=[1])\n"
     "   +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n"},
    {"SELECT a FROM p WHERE 1 = 2 OR FALSE", "Collect(fields=[a], parallelism=[1])\n"
                                             "+- Values(rows=[0], fields=[a], parallelism=[1])\n"},
    {"SELECT a FROM p WHERE CAST(NULL AS BOOLEAN)",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Values(rows=[0], fields=[a], parallelism=[1])\n"},
    {"SELECT a FROM p WHERE a > 1 AND 2 < 1", "Collect(fields=[a], parallelism=[1])\n"
                                              "+- Values(rows=[0], fields=[a], parallelism=[1])\n"},
    {"SELECT a FROM p WHERE FALSE UNION ALL SELECT 1",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Values(rows=[1], fields=[EXPR$0], parallelism=[1])\n"},
    {"SELECT a FROM p WHERE FALSE UNION ALL SELECT a FROM t WHERE FALSE",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Values(rows=[0], fields=[a], parallelism=[1])\n"},
    {"SELECT a + 1 FROM (SELECT a FROM p WHERE FALSE ORDER BY b LIMIT 3)",
     "Collect(fields=[EXPR$0], parallelism=[1])\n"
     "+- Values(rows=[0], fields=[EXPR$0], parallelism=[1])\n"},
    {"SELECT COUNT(*) FROM p WHERE FALSE",
     "Collect(fields=[EXPR$0], parallelism=[1])\n"
     "+- GroupAggregate(select=[COUNT(*) AS agg$0], state=[value], parallelism=[1])\n"
     "   +- Values(rows=[0], fields=[a, b, c], parallelism=[1])\n"},
    {"SELECT 1 WHERE 1 = 2", "Collect(fields=[EXPR$0], parallelism=[1])\n"
                             "+- Values(rows=[0], fields=[EXPR$0], parallelism=[1])\n"},
    {"VALUES (1 + 1), (1 / 0)",
     "Collect(fields=[EXPR$0], parallelism=[1])\n"
     "+- Calc(select=[CASE WHEN row$ = 1 THEN 1 / 0 ELSE EXPR$0 END AS EXPR$0], parallelism=[1])\n"
     "   +- Values(rows=[2], fields=[EXPR$0, row$], parallelism=[1])\n"},
    {"INSERT INTO k SELECT 1, 'x', 2 FROM p",
     "Sink(table=[k], fields=[id, v, n], guarantee=[at-least-once], parallelism=[2])\n"
     "+- Exchange(distribution=[hash[id]], parallelism=[2])\n"
     "   +- Calc(select=[1 AS id, 'x' AS v, 2 AS n], parallelism=[2])\n"
     "      +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[2])\n"},
};

static void constants_fold_and_failing_ones_stay(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    CHECK_PLANS(&p, plans);
    planner_close(&p);
}

static void nothing_folds_when_the_group_is_off(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    p.settings.optimize = false;
    planner_run(&p, "SELECT 1 + 2 FROM p WHERE 1 = 2");
    assert_string_equal(planner_explain(&p),
                        "Collect(fields=[EXPR$0], parallelism=[1])\n"
                        "+- Calc(select=[1 + 2 AS EXPR$0], where=[1 = 2], parallelism=[1])\n"
                        "   +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n");
    planner_close(&p);
}

static void effects_are_not_dropped_with_their_rows(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    const ms_lnode *scan = scan_of(&p, "p");
    const ms_expr *acts = side(&p, column_of(&p, scan, 0));
    const ms_lnode *project = project_of(&p, scan, &acts, 1);
    const ms_expr *never = binary(&p, "=", int_const(&p, 1), int_const(&p, 2));
    const ms_lnode *filter = ms_lnode_filter(&p.arena, project, never, ms_span_none);
    assert_int_equal(optimize_by_hand(&p, collect_of(&p, filter)), MS_OK);
    assert_string_equal(planner_explain(&p),
                        "Collect(fields=[x], parallelism=[1])\n"
                        "+- Calc(select=[x], where=[FALSE], parallelism=[1])\n"
                        "   +- Calc(select=[SIDE(a) AS x], parallelism=[1])\n"
                        "      +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n");
    planner_close(&p);
}

static void functions_that_vary_do_not_fold(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    const ms_lnode *scan = scan_of(&p, "p");
    const ms_expr *varies = random_of(&p, binary(&p, "+", int_const(&p, 1), int_const(&p, 2)));
    const ms_lnode *project = project_of(&p, scan, &varies, 1);
    assert_int_equal(optimize_by_hand(&p, collect_of(&p, project)), MS_OK);
    assert_non_null(strstr(planner_explain(&p), "Calc(select=[RANDOM(3) AS x]"));
    planner_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_fold_and_failing_ones_stay),
        cmocka_unit_test(nothing_folds_when_the_group_is_off),
        cmocka_unit_test(effects_are_not_dropped_with_their_rows),
        cmocka_unit_test(functions_that_vary_do_not_fold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
