/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parallelism, and exchanges where rows must meet or move.
 */
#include "opt/golden.h"

static const golden by_default[] = {
    {"INSERT INTO o SELECT a, 1 FROM p",
     "Sink(table=[o], fields=[a, n], guarantee=[at-least-once], parallelism=[2])\n"
     "+- Calc(select=[a, 1 AS n], parallelism=[2])\n"
     "   +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[2])\n"},
    {"INSERT INTO o SELECT a, 1 FROM f",
     "Sink(table=[o], fields=[a, n], guarantee=[at-least-once], parallelism=[1])\n"
     "+- Calc(select=[a, 1 AS n], parallelism=[1])\n"
     "   +- TableSourceScan(table=[f], fields=[a, b], parallelism=[1])\n"},
    {"INSERT INTO k SELECT a, b, 1 FROM p",
     "Sink(table=[k], fields=[id, v, n], guarantee=[at-least-once], notNull=[id], "
     "parallelism=[2])\n"
     "+- Exchange(distribution=[hash[id]], parallelism=[2])\n"
     "   +- Calc(select=[CAST(a AS BIGINT) AS id, b AS v, 1 AS n], parallelism=[2])\n"
     "      +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[2])\n"},
    {"INSERT INTO k SELECT a, b, 1 FROM f",
     "Sink(table=[k], fields=[id, v, n], guarantee=[at-least-once], notNull=[id], "
     "parallelism=[1])\n"
     "+- Calc(select=[CAST(a AS BIGINT) AS id, b AS v, 1 AS n], parallelism=[1])\n"
     "   +- TableSourceScan(table=[f], fields=[a, b], parallelism=[1])\n"},
    {"INSERT INTO o /*+ OPTIONS('ordered' = 'true') */ SELECT a, 1 FROM p",
     "Sink(table=[o], fields=[a, n], guarantee=[at-least-once], parallelism=[1])\n"
     "+- Calc(select=[a, 1 AS n], parallelism=[1])\n"
     "   +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n"},
    {"INSERT INTO o /*+ OPTIONS('parallelism' = '3') */ SELECT a, 1 FROM p",
     "Sink(table=[o], fields=[a, n], guarantee=[at-least-once], parallelism=[3])\n"
     "+- Exchange(distribution=[rebalance], parallelism=[3])\n"
     "   +- Calc(select=[a, 1 AS n], parallelism=[2])\n"
     "      +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[2])\n"},
    {"INSERT INTO o /*+ OPTIONS('parallelism' = '1') */ SELECT a, 1 FROM p",
     "Sink(table=[o], fields=[a, n], guarantee=[at-least-once], parallelism=[1])\n"
     "+- Exchange(distribution=[single], parallelism=[1])\n"
     "   +- Calc(select=[a, 1 AS n], parallelism=[2])\n"
     "      +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[2])\n"},
    {"INSERT INTO k /*+ OPTIONS('parallelism' = '3') */ SELECT a, b, 1 FROM f",
     "Sink(table=[k], fields=[id, v, n], guarantee=[at-least-once], notNull=[id], "
     "parallelism=[3])\n"
     "+- Exchange(distribution=[hash[id]], parallelism=[3])\n"
     "   +- Calc(select=[CAST(a AS BIGINT) AS id, b AS v, 1 AS n], parallelism=[1])\n"
     "      +- TableSourceScan(table=[f], fields=[a, b], parallelism=[1])\n"},
    {"INSERT INTO k /*+ OPTIONS('parallelism' = '1') */ SELECT a, b, 1 FROM p",
     "Sink(table=[k], fields=[id, v, n], guarantee=[at-least-once], notNull=[id], "
     "parallelism=[1])\n"
     "+- Exchange(distribution=[single], parallelism=[1])\n"
     "   +- Calc(select=[CAST(a AS BIGINT) AS id, b AS v, 1 AS n], parallelism=[2])\n"
     "      +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[2])\n"},
    {"INSERT INTO o SELECT a, 1 FROM p /*+ OPTIONS('parallelism' = '4') */",
     "Sink(table=[o], fields=[a, n], guarantee=[at-least-once], parallelism=[4])\n"
     "+- Calc(select=[a, 1 AS n], parallelism=[4])\n"
     "   +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[4])\n"},
    {"INSERT INTO o SELECT a, 1 FROM p UNION ALL SELECT a, 2 FROM p /*+ OPTIONS('parallelism' = "
     "'4') */",
     "Sink(table=[o], fields=[a, n], guarantee=[at-least-once], parallelism=[4])\n"
     "+- Calc(select=[a, CAST(EXPR$1 AS BIGINT) AS n], parallelism=[4])\n"
     "   +- Union(all=[true], union=[a, EXPR$1], parallelism=[4])\n"
     "      :- Exchange(distribution=[rebalance], parallelism=[4])\n"
     "      :  +- Calc(select=[a, 1 AS EXPR$1], parallelism=[2])\n"
     "      :     +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[2])\n"
     "      +- Calc(select=[a, 2 AS EXPR$1], parallelism=[4])\n"
     "         +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[4])\n"},
    {"INSERT INTO o SELECT a, 1 FROM p UNION ALL SELECT 1, 2",
     "Sink(table=[o], fields=[a, n], guarantee=[at-least-once], parallelism=[2])\n"
     "+- Calc(select=[a, CAST(EXPR$1 AS BIGINT) AS n], parallelism=[2])\n"
     "   +- Union(all=[true], union=[a, EXPR$1], parallelism=[2])\n"
     "      :- Calc(select=[a, 1 AS EXPR$1], parallelism=[2])\n"
     "      :  +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[2])\n"
     "      +- Exchange(distribution=[rebalance], parallelism=[2])\n"
     "         +- Values(rows=[1], fields=[EXPR$0, EXPR$1], parallelism=[1])\n"},
    {"INSERT INTO o SELECT a, 1 FROM p UNION ALL SELECT SUM(a), 2 FROM p",
     "Sink(table=[o], fields=[a, n], guarantee=[at-least-once], parallelism=[1])\n"
     "+- Calc(select=[a, CAST(EXPR$1 AS BIGINT) AS n], parallelism=[1])\n"
     "   +- Union(all=[true], union=[a, EXPR$1], parallelism=[1])\n"
     "      :- Exchange(distribution=[single], parallelism=[1])\n"
     "      :  +- Calc(select=[a, 1 AS EXPR$1], parallelism=[2])\n"
     "      :     +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[2])\n"
     "      +- Calc(select=[agg$0 AS EXPR$0, 2 AS EXPR$1], parallelism=[1])\n"
     "         +- GroupAggregate(select=[SUM(a) AS agg$0], state=[value], parallelism=[1])\n"
     "            +- Exchange(distribution=[single], parallelism=[1])\n"
     "               +- Calc(select=[a], parallelism=[2])\n"
     "                  +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[2])\n"},
    {"INSERT INTO o SELECT SUM(a), 1 FROM p",
     "Sink(table=[o], fields=[a, n], guarantee=[at-least-once], parallelism=[1])\n"
     "+- Calc(select=[agg$0 AS a, 1 AS n], parallelism=[1])\n"
     "   +- GroupAggregate(select=[SUM(a) AS agg$0], state=[value], parallelism=[1])\n"
     "      +- Exchange(distribution=[single], parallelism=[1])\n"
     "         +- Calc(select=[a], parallelism=[2])\n"
     "            +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[2])\n"},
    {"INSERT INTO o SELECT SUM(a), 1 FROM f",
     "Sink(table=[o], fields=[a, n], guarantee=[at-least-once], parallelism=[1])\n"
     "+- Calc(select=[agg$0 AS a, 1 AS n], parallelism=[1])\n"
     "   +- GroupAggregate(select=[SUM(a) AS agg$0], state=[value], parallelism=[1])\n"
     "      +- Exchange(distribution=[single], parallelism=[1])\n"
     "         +- Calc(select=[a], parallelism=[2])\n"
     "            +- TableSourceScan(table=[f], fields=[a, b], parallelism=[2])\n"},
    {"INSERT INTO o SELECT a, 1 FROM p ORDER BY a",
     "Sink(table=[o], fields=[a, n], guarantee=[at-least-once], parallelism=[1])\n"
     "+- Calc(select=[a, CAST(EXPR$1 AS BIGINT) AS n], parallelism=[1])\n"
     "   +- Sort(orderBy=[a ASC], parallelism=[1])\n"
     "      +- Exchange(distribution=[single], parallelism=[1])\n"
     "         +- Calc(select=[a, 1 AS EXPR$1], parallelism=[2])\n"
     "            +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[2])\n"},
    {"SELECT a FROM p", "Collect(fields=[a], parallelism=[1])\n"
                        "+- Calc(select=[a], parallelism=[1])\n"
                        "   +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n"},
    {"SELECT SUM(a) FROM f",
     "Collect(fields=[EXPR$0], parallelism=[1])\n"
     "+- GroupAggregate(select=[SUM(a) AS agg$0], state=[value], parallelism=[1])\n"
     "   +- Exchange(distribution=[single], parallelism=[1])\n"
     "      +- Calc(select=[a], parallelism=[2])\n"
     "         +- TableSourceScan(table=[f], fields=[a, b], parallelism=[2])\n"},
    {"SELECT a FROM p ORDER BY a",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Sort(orderBy=[a ASC], parallelism=[1])\n"
     "   +- Exchange(distribution=[single], parallelism=[1])\n"
     "      +- Calc(select=[a], parallelism=[2])\n"
     "         +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[2])\n"},
    {"SELECT a FROM p LIMIT 3",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Limit(fetch=[3], parallelism=[1])\n"
     "   +- Calc(select=[a], parallelism=[1])\n"
     "      +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n"},
};

static void order_is_kept_where_users_rely_on_it(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    CHECK_PLANS(&p, by_default);
    planner_close(&p);
}

static const golden when_said[] = {
    {"INSERT INTO o SELECT a, 1 FROM f",
     "Sink(table=[o], fields=[a, n], guarantee=[at-least-once], parallelism=[2])\n"
     "+- Calc(select=[a, 1 AS n], parallelism=[2])\n"
     "   +- TableSourceScan(table=[f], fields=[a, b], parallelism=[2])\n"},
    {"INSERT INTO k SELECT a, b, 1 FROM f",
     "Sink(table=[k], fields=[id, v, n], guarantee=[at-least-once], notNull=[id], "
     "parallelism=[2])\n"
     "+- Exchange(distribution=[hash[id]], parallelism=[2])\n"
     "   +- Calc(select=[CAST(a AS BIGINT) AS id, b AS v, 1 AS n], parallelism=[2])\n"
     "      +- TableSourceScan(table=[f], fields=[a, b], parallelism=[2])\n"},
    {"SELECT a FROM p", "Collect(fields=[a], parallelism=[1])\n"
                        "+- Exchange(distribution=[single], parallelism=[1])\n"
                        "   +- Calc(select=[a], parallelism=[2])\n"
                        "      +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[2])\n"},
    {"SELECT a FROM f LIMIT 3",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Limit(fetch=[3], parallelism=[1])\n"
     "   +- Exchange(distribution=[single], parallelism=[1])\n"
     "      +- Calc(select=[a], parallelism=[2])\n"
     "         +- TableSourceScan(table=[f], fields=[a, b], parallelism=[2])\n"},
    {"INSERT INTO o /*+ OPTIONS('ordered' = 'true') */ SELECT a, 1 FROM p",
     "Sink(table=[o], fields=[a, n], guarantee=[at-least-once], parallelism=[2])\n"
     "+- Calc(select=[a, 1 AS n], parallelism=[2])\n"
     "   +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[2])\n"},
};

static void an_explicit_parallelism_overrules_it(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    p.settings.parallelism_is_explicit = true;
    CHECK_PLANS(&p, when_said);
    planner_close(&p);
}

static void one_subtask_needs_no_exchange(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    p.settings.parallelism = 1;
    planner_run(&p, "INSERT INTO k SELECT a, b, 1 FROM p UNION ALL SELECT a, b, 2 FROM t");
    for (uint32_t i = 0; i < p.plan->node_count; i++) {
        assert_int_not_equal(p.plan->nodes[i]->kind, MS_PNODE_EXCHANGE);
        assert_int_equal(p.plan->nodes[i]->parallelism, 1);
    }
    planner_close(&p);
}

static void updates_are_not_spread_over_writers(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    assert_int_equal(planner_try(&p, "INSERT INTO o /*+ OPTIONS('parallelism' = '3') */ "
                                     "SELECT SUM(a), 1 FROM p"),
                     MS_INVALID_QUERY);
    assert_string_equal(p.st.message, "table \"o\" has no primary key, so updates cannot reach 3 "
                                      "writers in order");
    assert_string_equal(planner_place(&p), "o");
    assert_non_null(strstr(p.st.detail, "a primary key is required but could not be found."));
    planner_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_kept_where_users_rely_on_it),
        cmocka_unit_test(an_explicit_parallelism_overrules_it),
        cmocka_unit_test(one_subtask_needs_no_exchange),
        cmocka_unit_test(updates_are_not_spread_over_writers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
