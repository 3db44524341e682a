/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains of projections and filters as one CALC, and where they are cut.
 */
#include "opt/golden.h"

static const golden plans[] = {
    {"SELECT y + 1 FROM (SELECT a * 2 AS y FROM p WHERE a > 0) WHERE y < 9",
     "Collect(fields=[EXPR$0], parallelism=[1])\n"
     "+- Calc(select=[a * 2 + 1 AS EXPR$0], where=[a > 0 AND a * 2 < 9], parallelism=[1])\n"
     "   +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n"},
    {"SELECT a FROM (SELECT a FROM (SELECT a, b FROM p WHERE a > 1) WHERE b = 'x') WHERE a < 5",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Calc(select=[a], where=[a > 1 AND b = 'x' AND a < 5], parallelism=[1])\n"
     "   +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n"},
    {"SELECT a FROM p WHERE a > 1",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Calc(select=[a], where=[a > 1], parallelism=[1])\n"
     "   +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n"},
    {"SELECT b, a FROM p", "Collect(fields=[b, a], parallelism=[1])\n"
                           "+- Calc(select=[b, a], parallelism=[1])\n"
                           "   +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n"},
    {"SELECT x + x FROM (SELECT a + a AS x FROM p)",
     "Collect(fields=[EXPR$0], parallelism=[1])\n"
     "+- Calc(select=[a + a + (a + a) AS EXPR$0], parallelism=[1])\n"
     "   +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n"},
};

static void a_chain_is_one_operator(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    p.settings.optimize = false;
    CHECK_PLANS(&p, plans);
    planner_close(&p);
}

/* The plan of PROJECT upper over PROJECT lower over p, with the optimize group off. */
static const char *plan_of_two(planner *p, const ms_lnode *lower, const ms_expr *upper)
{
    p->settings.optimize = false;
    const ms_lnode *top = project_of(p, lower, &upper, 1);
    assert_int_equal(optimize_by_hand(p, collect_of(p, top)), MS_OK);
    return planner_explain(p);
}

#define SCAN_P "TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n"

static void what_varies_is_not_doubled(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    const ms_lnode *scan = scan_of(&p, "p");
    const ms_expr *varies = random_of(&p, column_of(&p, scan, 0));
    const ms_lnode *lower = project_of(&p, scan, &varies, 1);
    const ms_expr *x = column_of(&p, lower, 0);
    assert_string_equal(plan_of_two(&p, lower, binary(&p, "+", x, x)),
                        "Collect(fields=[x], parallelism=[1])\n"
                        "+- Calc(select=[x + x AS x], parallelism=[1])\n"
                        "   +- Calc(select=[RANDOM(a) AS x], parallelism=[1])\n"
                        "      +- " SCAN_P);
    assert_string_equal(plan_of_two(&p, lower, x),
                        "Collect(fields=[x], parallelism=[1])\n"
                        "+- Calc(select=[RANDOM(a) AS x], parallelism=[1])\n"
                        "   +- " SCAN_P);
    planner_close(&p);
}

static void effects_do_not_move_into_an_arm(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    const ms_lnode *scan = scan_of(&p, "p");
    const ms_expr *exprs[2] = {side(&p, column_of(&p, scan, 0)), column_of(&p, scan, 0)};
    const ms_lnode *lower = project_of(&p, scan, exprs, 2);
    const ms_expr *arms[3] = {binary(&p, ">", column_of(&p, lower, 1), int_const(&p, 0)),
                              column_of(&p, lower, 0), int_const(&p, 7)};
    const ms_expr *choice =
        ms_expr_node(&p.arena, MS_EXPR_CASE, NULL, exprs[0]->type, arms, 3, ms_span_none);
    assert_string_equal(plan_of_two(&p, lower, choice),
                        "Collect(fields=[x], parallelism=[1])\n"
                        "+- Calc(select=[CASE WHEN y > 0 THEN x ELSE 7 END AS x], "
                        "parallelism=[1])\n"
                        "   +- Calc(select=[SIDE(a) AS x, a AS y], parallelism=[1])\n"
                        "      +- " SCAN_P);
    planner_close(&p);
}

static void effects_do_not_move_behind_a_filter(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    p.settings.optimize = false;
    const ms_lnode *scan = scan_of(&p, "p");
    const ms_expr *exprs[2] = {side(&p, column_of(&p, scan, 0)), column_of(&p, scan, 0)};
    const ms_lnode *lower = project_of(&p, scan, exprs, 2);
    const ms_expr *condition = binary(&p, ">", column_of(&p, lower, 1), int_const(&p, 0));
    const ms_lnode *filter = ms_lnode_filter(&p.arena, lower, condition, ms_span_none);
    assert_int_equal(optimize_by_hand(&p, collect_of(&p, filter)), MS_OK);
    assert_string_equal(planner_explain(&p),
                        "Collect(fields=[x, y], parallelism=[1])\n"
                        "+- Calc(select=[x, y], where=[y > 0], parallelism=[1])\n"
                        "   +- Calc(select=[SIDE(a) AS x, a AS y], parallelism=[1])\n"
                        "      +- " SCAN_P);
    planner_close(&p);
}

static void effects_that_nobody_reads_stay(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    const ms_lnode *scan = scan_of(&p, "p");
    const ms_expr *exprs[2] = {side(&p, column_of(&p, scan, 0)), column_of(&p, scan, 0)};
    const ms_lnode *lower = project_of(&p, scan, exprs, 2);
    assert_string_equal(plan_of_two(&p, lower, column_of(&p, lower, 1)),
                        "Collect(fields=[x], parallelism=[1])\n"
                        "+- Calc(select=[y AS x], parallelism=[1])\n"
                        "   +- Calc(select=[SIDE(a) AS x, a AS y], parallelism=[1])\n"
                        "      +- " SCAN_P);
    planner_close(&p);
}

/* x0 = a + a, x1 = x0 + x0, ...: a tree of 2^60 leaves when nobody counts. */
static void doubling_projections_are_cut(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    ms_str sql = ms_str_lit("SELECT a AS x FROM p");
    for (int i = 0; i < 60; i++) {
        sql = ms_arena_format(&p.arena, "SELECT x + x AS x FROM (%.*s) WHERE x + x > 0",
                              MS_STR_ARG(sql));
    }
    planner_run(&p, sql.ptr);
    uint32_t calcs = 0;
    for (uint32_t i = 0; i < p.plan->node_count; i++) {
        calcs += p.plan->nodes[i]->kind == MS_PNODE_CALC;
    }
    assert_true(calcs >= 4);
    assert_true(calcs < 60);
    planner_close(&p);
}

/* a + 1 + 1 ... through 150 sub-queries: no deeper than an expression may be. */
static void deep_projections_are_cut(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    ms_str sql = ms_str_lit("SELECT a AS x FROM p");
    for (int i = 0; i < 60; i++) {
        sql = ms_arena_format(&p.arena, "SELECT ((((x + 1) * 2) - 1) / 3) %% 5 AS x FROM (%.*s)",
                              MS_STR_ARG(sql));
    }
    planner_run(&p, sql.ptr);
    uint32_t calcs = 0;
    for (uint32_t i = 0; i < p.plan->node_count; i++) {
        calcs += p.plan->nodes[i]->kind == MS_PNODE_CALC;
    }
    assert_int_equal(calcs, 2);
    planner_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_is_one_operator),
        cmocka_unit_test(what_varies_is_not_doubled),
        cmocka_unit_test(effects_do_not_move_into_an_arm),
        cmocka_unit_test(effects_do_not_move_behind_a_filter),
        cmocka_unit_test(effects_that_nobody_reads_stay),
        cmocka_unit_test(doubling_projections_are_cut),
        cmocka_unit_test(deep_projections_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
