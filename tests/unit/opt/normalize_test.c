/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The normal form, with the optimize group off, so that nothing else changes the plans.
 */
#include "opt/golden.h"

static const golden plans[] = {
    {"SELECT a FROM (SELECT a, b FROM p) WHERE TRUE",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Calc(select=[a], parallelism=[1])\n"
     "   +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n"},
    {"SELECT a, b, c FROM p", "Collect(fields=[a, b, c], parallelism=[1])\n"
                              "+- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n"},
    {"SELECT x + 1 FROM (SELECT a + 1 AS x, b FROM p)",
     "Collect(fields=[EXPR$0], parallelism=[1])\n"
     "+- Calc(select=[a + 1 + 1 AS EXPR$0], parallelism=[1])\n"
     "   +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n"},
    {"SELECT a FROM p UNION ALL (SELECT a FROM p UNION ALL SELECT a FROM t)",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Union(all=[true], union=[a], parallelism=[1])\n"
     "   :- Calc(select=[a], parallelism=[1])\n"
     "   :  +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n"
     "   :- Calc(select=[a], parallelism=[1])\n"
     "   :  +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n"
     "   +- Calc(select=[a], parallelism=[1])\n"
     "      +- TableSourceScan(table=[t], fields=[a, b, c, r], parallelism=[1])\n"},
    {"SELECT * FROM (SELECT a FROM p ORDER BY b) UNION ALL SELECT 1",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Union(all=[true], union=[a], parallelism=[1])\n"
     "   :- Calc(select=[a], parallelism=[1])\n"
     "   :  +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n"
     "   +- Values(rows=[1], fields=[EXPR$0], parallelism=[1])\n"},
    {"SELECT COUNT(*) FROM (SELECT a FROM p ORDER BY b)",
     "Collect(fields=[EXPR$0], parallelism=[1])\n"
     "+- GroupAggregate(select=[COUNT(*) AS agg$0], state=[value], parallelism=[1])\n"
     "   +- Exchange(distribution=[single], parallelism=[1])\n"
     "      +- Calc(select=[a], parallelism=[2])\n"
     "         +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[2])\n"},
    {"SELECT a FROM (SELECT a, b FROM p ORDER BY b) ORDER BY a",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Sort(orderBy=[a ASC], parallelism=[1])\n"
     "   +- Exchange(distribution=[single], parallelism=[1])\n"
     "      +- Calc(select=[a], parallelism=[2])\n"
     "         +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[2])\n"},
    {"SELECT a FROM (SELECT a FROM p ORDER BY b LIMIT 3) ORDER BY a",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Sort(orderBy=[a ASC], parallelism=[1])\n"
     "   +- Calc(select=[a], parallelism=[1])\n"
     "      +- Sort(orderBy=[order$1 ASC], fetch=[3], parallelism=[1])\n"
     "         +- Exchange(distribution=[single], parallelism=[1])\n"
     "            +- Calc(select=[a, b AS order$1], parallelism=[2])\n"
     "               +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[2])\n"},
    {"SELECT * FROM (SELECT a FROM p LIMIT 10 OFFSET 2) LIMIT 3 OFFSET 4",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Limit(offset=[6], fetch=[3], parallelism=[1])\n"
     "   +- Calc(select=[a], parallelism=[1])\n"
     "      +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n"},
    {"SELECT * FROM (SELECT a FROM p LIMIT 5) LIMIT 30 OFFSET 4",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Limit(offset=[4], fetch=[1], parallelism=[1])\n"
     "   +- Calc(select=[a], parallelism=[1])\n"
     "      +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n"},
    {"SELECT * FROM (SELECT a FROM p LIMIT 5) OFFSET 9 ROWS",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Limit(offset=[9], fetch=[0], parallelism=[1])\n"
     "   +- Calc(select=[a], parallelism=[1])\n"
     "      +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n"},
    {"SELECT COUNT(*) AS n FROM p ORDER BY n LIMIT 3",
     "Collect(fields=[n], parallelism=[1])\n"
     "+- GroupAggregate(select=[COUNT(*) AS agg$0], state=[value], parallelism=[1])\n"
     "   +- Exchange(distribution=[single], parallelism=[1])\n"
     "      +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[2])\n"},
    {"SELECT COUNT(*) AS n FROM p LIMIT 0", "Collect(fields=[n], parallelism=[1])\n"
                                            "+- Values(rows=[0], fields=[n], parallelism=[1])\n"},
    {"SELECT a FROM p OFFSET 0 ROWS",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Calc(select=[a], parallelism=[1])\n"
     "   +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n"},
    {"SELECT b FROM p ORDER BY a DESC LIMIT 3",
     "Collect(fields=[b], parallelism=[1])\n"
     "+- Calc(select=[b], parallelism=[1])\n"
     "   +- Sort(orderBy=[order$1 DESC], fetch=[3], parallelism=[1])\n"
     "      +- Exchange(distribution=[single], parallelism=[1])\n"
     "         +- Calc(select=[b, a AS order$1], parallelism=[2])\n"
     "            +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[2])\n"},
    {"SELECT 1, 'x'", "Collect(fields=[EXPR$0, EXPR$1], parallelism=[1])\n"
                      "+- Values(rows=[1], fields=[EXPR$0, EXPR$1], parallelism=[1])\n"},
    {"SELECT a FROM (SELECT a, c FROM p WHERE b = 'x') WHERE c > 1",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Calc(select=[a], where=[b = 'x' AND c > CAST(1 AS DOUBLE)], parallelism=[1])\n"
     "   +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n"},
};

static void equal_meanings_have_one_form(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    p.settings.optimize = false;
    CHECK_PLANS(&p, plans);
    planner_close(&p);
}

static void batch_mode_has_no_watermarks(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    p.is_streaming = false;
    planner_run(&p, "SELECT a FROM w WHERE a > 1");
    assert_string_equal(planner_explain(&p),
                        "Collect(fields=[a], parallelism=[1])\n"
                        "+- TableSourceScan(table=[w], fields=[a], projected, filter=[a > 1], "
                        "parallelism=[1])\n");
    planner_close(&p);
}

static void a_limit_stays_above_a_projection_with_effects(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    const ms_lnode *scan = scan_of(&p, "f");
    ms_sort_key key = {.column = 0};
    const ms_lnode *sort = ms_lnode_sort(&p.arena, scan, &key, 1, ms_span_none);
    const ms_expr *acts = side(&p, column_of(&p, scan, 0));
    const ms_lnode *project = project_of(&p, sort, &acts, 1);
    const ms_lnode *limit = ms_lnode_limit(&p.arena, project, 2, 0, ms_span_none);
    assert_int_equal(optimize_by_hand(&p, collect_of(&p, limit)), MS_OK);
    assert_string_equal(planner_explain(&p),
                        "Collect(fields=[x], parallelism=[1])\n"
                        "+- Limit(fetch=[2], parallelism=[1])\n"
                        "   +- Calc(select=[SIDE(a) AS x], parallelism=[1])\n"
                        "      +- Sort(orderBy=[a ASC NULLS LAST], parallelism=[1])\n"
                        "         +- Exchange(distribution=[single], parallelism=[1])\n"
                        "            +- TableSourceScan(table=[f], fields=[a, b], "
                        "parallelism=[2])\n");
    planner_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_meanings_have_one_form),
        cmocka_unit_test(batch_mode_has_no_watermarks),
        cmocka_unit_test(a_limit_stays_above_a_projection_with_effects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
