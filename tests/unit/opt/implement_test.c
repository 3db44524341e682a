/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logical nodes to operators.
 */
#include "opt/golden.h"

static const golden plans[] = {
    {"SELECT a FROM w", "Collect(fields=[a], parallelism=[1])\n"
                        "+- Calc(select=[a], parallelism=[1])\n"
                        "   +- WatermarkAssigner(rowtime=[ts], watermark=[ts - INTERVAL '+0 "
                        "00:00:05.000'], parallelism=[1])\n"
                        "      +- TableSourceScan(table=[w], fields=[a, ts], parallelism=[1])\n"},
    {"SELECT a FROM t ORDER BY a DESC NULLS FIRST, b",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Calc(select=[a], parallelism=[1])\n"
     "   +- Sort(orderBy=[a DESC NULLS FIRST, b ASC], parallelism=[1])\n"
     "      +- Exchange(distribution=[single], parallelism=[1])\n"
     "         +- TableSourceScan(table=[t], fields=[a, b], projected, parallelism=[2])\n"},
    {"SELECT a FROM t ORDER BY a LIMIT 3 OFFSET 2",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Sort(orderBy=[a ASC], offset=[2], fetch=[3], parallelism=[1])\n"
     "   +- Exchange(distribution=[single], parallelism=[1])\n"
     "      +- TableSourceScan(table=[t], fields=[a], projected, parallelism=[2])\n"},
    {"SELECT a FROM t LIMIT 3",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Limit(fetch=[3], parallelism=[1])\n"
     "   +- TableSourceScan(table=[t], fields=[a], projected, limit=[3], parallelism=[1])\n"},
    {"SELECT MAX(a) FILTER (WHERE b = 'x'), COUNT(*) FROM t",
     "Collect(fields=[EXPR$0, EXPR$1], parallelism=[1])\n"
     "+- GroupAggregate(select=[MAX(a) FILTER arg$1 AS agg$0, COUNT(*) AS agg$1], state=[value], "
     "parallelism=[1])\n"
     "   +- Exchange(distribution=[single], parallelism=[1])\n"
     "      +- Calc(select=[a, b = 'x' AS arg$1], parallelism=[2])\n"
     "         +- TableSourceScan(table=[t], fields=[a, b], projected, parallelism=[2])\n"},
    {"INSERT INTO k (n, id) SELECT a, a FROM p",
     "Sink(table=[k], fields=[id, v, n], guarantee=[at-least-once], notNull=[id, n], targets=[2], "
     "parallelism=[2])\n"
     "+- Exchange(distribution=[hash[id]], parallelism=[2])\n"
     "   +- Calc(select=[CAST(a AS BIGINT) AS id, NULL AS v, CAST(a AS BIGINT) AS n], "
     "parallelism=[2])\n"
     "      +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[2])\n"},
    {"INSERT INTO k SELECT id, v, n FROM k",
     "Sink(table=[k], fields=[id, v, n], guarantee=[at-least-once], parallelism=[2])\n"
     "+- Exchange(distribution=[hash[id]], parallelism=[2])\n"
     "   +- TableSourceScan(table=[k], fields=[id, v, n], parallelism=[2])\n"},
    {"INSERT INTO o SELECT NULL, 3",
     "Sink(table=[o], fields=[a, n], guarantee=[at-least-once], parallelism=[1])\n"
     "+- Calc(select=[NULL AS a, CAST(EXPR$1 AS BIGINT) AS n], parallelism=[1])\n"
     "   +- Values(rows=[1], fields=[EXPR$0, EXPR$1], parallelism=[1])\n"},
};

static void every_node_becomes_its_operator(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    CHECK_PLANS(&p, plans);
    planner_close(&p);
}

static const ms_pnode *find_kind(const ms_plan *plan, ms_pnode_kind kind)
{
    for (uint32_t i = 0; i < plan->node_count; i++) {
        if (plan->nodes[i]->kind == kind) {
            return plan->nodes[i];
        }
    }
    return NULL;
}

static void the_mode_and_the_settings_reach_the_operators(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    planner_run(&p, "SELECT SUM(a) FROM w");
    const ms_pnode *aggregate = find_kind(p.plan, MS_PNODE_AGGREGATE);
    assert_false(aggregate->u.aggregate.is_batch);
    assert_true(aggregate->u.aggregate.coalesce);
    assert_int_equal(find_kind(p.plan, MS_PNODE_WATERMARK)->u.watermark.interval_ms, 200);
    assert_true(find_kind(p.plan, MS_PNODE_COLLECT)->u.collect.fold);
    assert_true(p.plan->is_streaming);
    assert_true(p.plan->is_bounded);
    p.is_streaming = false;
    p.settings.coalesce = false;
    p.settings.result_is_changelog = true;
    planner_run(&p, "SELECT SUM(a) FROM w");
    aggregate = find_kind(p.plan, MS_PNODE_AGGREGATE);
    assert_true(aggregate->u.aggregate.is_batch);
    assert_false(aggregate->u.aggregate.coalesce);
    assert_false(find_kind(p.plan, MS_PNODE_COLLECT)->u.collect.fold);
    assert_false(p.plan->is_streaming);
    planner_close(&p);
}

static void an_unbounded_query_is_not_folded(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    planner_run(&p, "SELECT a FROM t /*+ OPTIONS('bounded' = 'false') */");
    assert_false(find_kind(p.plan, MS_PNODE_COLLECT)->u.collect.fold);
    assert_false(p.plan->is_bounded);
    planner_close(&p);
}

static void not_null_is_enforced_where_the_query_leaves_a_doubt(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    planner_run(&p, "INSERT INTO k SELECT a, b, 1 FROM p");
    const ms_pnode *sink = find_kind(p.plan, MS_PNODE_SINK);
    assert_true(sink->u.sink.not_null[0]);
    assert_false(sink->u.sink.not_null[1]);
    assert_false(sink->u.sink.not_null[2]);
    planner_close(&p);
}

static void inputs_stand_before_their_consumers(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    planner_run(&p, "EXECUTE STATEMENT SET BEGIN INSERT INTO o SELECT a, 1 FROM p UNION ALL "
                    "SELECT 1, 2; INSERT INTO k SELECT a, b, 2 FROM p; END");
    assert_int_equal(p.plan->root_count, 2);
    for (uint32_t i = 0; i < p.plan->node_count; i++) {
        const ms_pnode *node = p.plan->nodes[i];
        for (uint32_t k = 0; k < node->input_count; k++) {
            uint32_t at = 0;
            while (at < i && p.plan->nodes[at] != node->inputs[k]) {
                at++;
            }
            assert_true(at < i);
        }
    }
    planner_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_node_becomes_its_operator),
        cmocka_unit_test(the_mode_and_the_settings_reach_the_operators),
        cmocka_unit_test(an_unbounded_query_is_not_folded),
        cmocka_unit_test(not_null_is_enforced_where_the_query_leaves_a_doubt),
        cmocka_unit_test(inputs_stand_before_their_consumers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
