/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans that the statements of a set share.
 */
#include "opt/golden.h"

static const golden plans[] = {
    {"EXECUTE STATEMENT SET BEGIN INSERT INTO o SELECT a, 1 FROM p; INSERT INTO k SELECT a, b, 2 "
     "FROM p; END",
     "Sink(table=[o], fields=[a, n], guarantee=[at-least-once], parallelism=[2])\n"
     "+- Calc(select=[a, 1 AS n], parallelism=[2])\n"
     "   +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[2])(reuse_id=[1])\n"
     "Sink(table=[k], fields=[id, v, n], guarantee=[at-least-once], notNull=[id], "
     "parallelism=[2])\n"
     "+- Exchange(distribution=[hash[id]], parallelism=[2])\n"
     "   +- Calc(select=[CAST(a AS BIGINT) AS id, b AS v, 2 AS n], parallelism=[2])\n"
     "      +- Reused(reference_id=[1])\n"},
    {"EXECUTE STATEMENT SET BEGIN INSERT INTO o SELECT a, 1 FROM p WHERE a > 1; INSERT INTO o "
     "SELECT a, 2 FROM p WHERE b = 'x'; END",
     "Sink(table=[o], fields=[a, n], guarantee=[at-least-once], parallelism=[2])\n"
     "+- Calc(select=[a, 1 AS n], where=[a > 1], parallelism=[2])\n"
     "   +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[2])(reuse_id=[1])\n"
     "Sink(table=[o], fields=[a, n], guarantee=[at-least-once], parallelism=[2])\n"
     "+- Calc(select=[a, 2 AS n], where=[b = 'x'], parallelism=[2])\n"
     "   +- Reused(reference_id=[1])\n"},
    {"EXECUTE STATEMENT SET BEGIN INSERT INTO o SELECT a, 1 FROM t WHERE a > 1; INSERT INTO k "
     "SELECT a, b, 2 FROM t WHERE a > 1; END",
     "Sink(table=[o], fields=[a, n], guarantee=[at-least-once], parallelism=[2])\n"
     "+- Calc(select=[a, 1 AS n], parallelism=[2])\n"
     "   +- TableSourceScan(table=[t], fields=[a, b], projected, filter=[a > 1], "
     "parallelism=[2])(reuse_id=[1])\n"
     "Sink(table=[k], fields=[id, v, n], guarantee=[at-least-once], notNull=[id], "
     "parallelism=[2])\n"
     "+- Exchange(distribution=[hash[id]], parallelism=[2])\n"
     "   +- Calc(select=[CAST(a AS BIGINT) AS id, b AS v, 2 AS n], parallelism=[2])\n"
     "      +- Reused(reference_id=[1])\n"},
    {"EXECUTE STATEMENT SET BEGIN INSERT INTO o SELECT a, 1 FROM t WHERE a > 1; INSERT INTO o "
     "SELECT a, 2 FROM t WHERE a > 2; END",
     "Sink(table=[o], fields=[a, n], guarantee=[at-least-once], parallelism=[2])\n"
     "+- Calc(select=[a, 1 AS n], parallelism=[2])\n"
     "   +- TableSourceScan(table=[t], fields=[a], projected, filter=[a > 1], parallelism=[2])\n"
     "Sink(table=[o], fields=[a, n], guarantee=[at-least-once], parallelism=[2])\n"
     "+- Calc(select=[a, 2 AS n], parallelism=[2])\n"
     "   +- TableSourceScan(table=[t], fields=[a], projected, filter=[a > 2], parallelism=[2])\n"},
    {"EXECUTE STATEMENT SET BEGIN INSERT INTO o SELECT a, 1 FROM t WHERE a > 1; INSERT INTO o "
     "SELECT a, 2 FROM t; END",
     "Sink(table=[o], fields=[a, n], guarantee=[at-least-once], parallelism=[2])\n"
     "+- Calc(select=[a, 1 AS n], parallelism=[2])\n"
     "   +- TableSourceScan(table=[t], fields=[a], projected, filter=[a > 1], parallelism=[2])\n"
     "Sink(table=[o], fields=[a, n], guarantee=[at-least-once], parallelism=[2])\n"
     "+- Calc(select=[a, 2 AS n], parallelism=[2])\n"
     "   +- TableSourceScan(table=[t], fields=[a], projected, parallelism=[2])\n"},
    {"EXECUTE STATEMENT SET BEGIN INSERT INTO o SELECT a, 1 FROM p; INSERT INTO o SELECT a, 2 FROM "
     "p /*+ OPTIONS('parallelism' = '1') */; END",
     "Sink(table=[o], fields=[a, n], guarantee=[at-least-once], parallelism=[2])\n"
     "+- Calc(select=[a, 1 AS n], parallelism=[2])\n"
     "   +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[2])\n"
     "Sink(table=[o], fields=[a, n], guarantee=[at-least-once], parallelism=[1])\n"
     "+- Calc(select=[a, 2 AS n], parallelism=[1])\n"
     "   +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n"},
    {"EXECUTE STATEMENT SET BEGIN INSERT INTO o SELECT a, 1 FROM p UNION ALL SELECT a, 2 FROM p; "
     "INSERT INTO o SELECT a, 3 FROM p UNION ALL SELECT a, 4 FROM p; END",
     "Sink(table=[o], fields=[a, n], guarantee=[at-least-once], parallelism=[2])\n"
     "+- Calc(select=[a, CAST(EXPR$1 AS BIGINT) AS n], parallelism=[2])\n"
     "   +- Union(all=[true], union=[a, EXPR$1], parallelism=[2])\n"
     "      :- Calc(select=[a, 1 AS EXPR$1], parallelism=[2])\n"
     "      :  +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[2])(reuse_id=[1])\n"
     "      +- Calc(select=[a, 2 AS EXPR$1], parallelism=[2])\n"
     "         +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[2])(reuse_id=[2])\n"
     "Sink(table=[o], fields=[a, n], guarantee=[at-least-once], parallelism=[2])\n"
     "+- Calc(select=[a, CAST(EXPR$1 AS BIGINT) AS n], parallelism=[2])\n"
     "   +- Union(all=[true], union=[a, EXPR$1], parallelism=[2])\n"
     "      :- Calc(select=[a, 3 AS EXPR$1], parallelism=[2])\n"
     "      :  +- Reused(reference_id=[1])\n"
     "      +- Calc(select=[a, 4 AS EXPR$1], parallelism=[2])\n"
     "         +- Reused(reference_id=[2])\n"},
    {"EXECUTE STATEMENT SET BEGIN INSERT INTO o SELECT SUM(a), COUNT(*) FROM p; INSERT INTO o "
     "SELECT a, 1 FROM p LIMIT 3; END",
     "Sink(table=[o], fields=[a, n], guarantee=[at-least-once], parallelism=[1])\n"
     "+- GroupAggregate(select=[SUM(a) AS agg$0, COUNT(*) AS agg$1], state=[value], "
     "parallelism=[1])\n"
     "   +- Calc(select=[a], parallelism=[1])\n"
     "      +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])(reuse_id=[1])\n"
     "Sink(table=[o], fields=[a, n], guarantee=[at-least-once], parallelism=[1])\n"
     "+- Calc(select=[a, CAST(EXPR$1 AS BIGINT) AS n], parallelism=[1])\n"
     "   +- Limit(fetch=[3], parallelism=[1])\n"
     "      +- Calc(select=[a, 1 AS EXPR$1], parallelism=[1])\n"
     "         +- Reused(reference_id=[1])\n"},
    {"INSERT INTO o SELECT a, 1 FROM p UNION ALL SELECT a, 2 FROM p",
     "Sink(table=[o], fields=[a, n], guarantee=[at-least-once], parallelism=[2])\n"
     "+- Calc(select=[a, CAST(EXPR$1 AS BIGINT) AS n], parallelism=[2])\n"
     "   +- Union(all=[true], union=[a, EXPR$1], parallelism=[2])\n"
     "      :- Calc(select=[a, 1 AS EXPR$1], parallelism=[2])\n"
     "      :  +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[2])\n"
     "      +- Calc(select=[a, 2 AS EXPR$1], parallelism=[2])\n"
     "         +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[2])\n"},
};

static void equal_scans_are_read_once(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    CHECK_PLANS(&p, plans);
    planner_close(&p);
}

static void scans_are_read_alone_when_the_group_is_off(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    p.settings.optimize = false;
    planner_run(&p, plans[0].sql);
    assert_null(strstr(planner_explain(&p), "reuse_id"));
    assert_true(p.plan->node_count > 5);
    planner_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_scans_are_read_once),
        cmocka_unit_test(scans_are_read_alone_when_the_group_is_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
