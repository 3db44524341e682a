/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Logical nodes: constructors and the properties that they derive.
 */
#include "opt/planner.h"

#define TABLES                                                                                     \
    "CREATE TABLE k (id BIGINT, v STRING, n BIGINT, PRIMARY KEY (id, v) NOT ENFORCED)"             \
    " WITH ('connector' = 'fake');"                                                                \
    "CREATE TABLE w (ts TIMESTAMP(3), a INT, d DOUBLE, WATERMARK FOR ts AS ts)"                    \
    " WITH ('connector' = 'fake');"

/* The node under the collector of a query. */
static const ms_lnode *node_of(planner *p, const char *sql)
{
    p->bind_only = true;
    planner_run(p, sql);
    return p->logical->roots[0]->inputs[0];
}

static void open_tables(planner *p)
{
    planner_open(p);
    planner_run(p, TABLES);
}

static void keys_follow_the_columns_that_carry_them(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    const ms_lnode *node = node_of(&p, "SELECT n, v, id FROM k WHERE n > 1");
    assert_int_equal(node->props.unique_key_count, 1);
    assert_int_equal(node->props.unique_keys[0].count, 2);
    assert_int_equal(node->props.unique_keys[0].columns[0], 2);
    assert_int_equal(node->props.unique_keys[0].columns[1], 1);
    const uint32_t both[2] = {1, 2};
    assert_true(ms_lprops_has_unique_key(&node->props, both, 2));
    assert_false(ms_lprops_has_unique_key(&node->props, both, 1));
    node = node_of(&p, "SELECT n, v, id + 1 FROM k");
    assert_int_equal(node->props.unique_key_count, 0);
    node = node_of(&p, "SELECT * FROM k UNION ALL SELECT * FROM k");
    assert_int_equal(node->props.unique_key_count, 0);
    planner_close(&p);
}

static void constant_columns_shorten_keys(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    const ms_lnode *node = node_of(&p, "SELECT * FROM k WHERE v = 'x'");
    const uint32_t id = 0;
    assert_true(ms_lprops_has_unique_key(&node->props, &id, 1));
    assert_true(ms_lprops_has_upsert_key(&node->props, &id, 1));
    assert_int_equal(node->props.columns[1].monotony, MS_MONOTONY_CONSTANT);
    assert_int_equal(node->props.columns[0].monotony, MS_MONOTONY_NONE);
    planner_close(&p);
}

static void equality_does_not_pin_a_floating_point_column(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    const ms_lnode *node = node_of(&p, "SELECT d FROM w WHERE d = 0e0");
    assert_int_equal(node->props.columns[0].monotony, MS_MONOTONY_NONE);
    planner_close(&p);
}

static void an_aggregate_has_one_row_and_the_empty_key(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    const ms_lnode *node = node_of(&p, "SELECT 'total', COUNT(*), 'x' || 'y' FROM k");
    assert_true(node->props.is_single_row);
    assert_true(ms_lprops_has_unique_key(&node->props, NULL, 0));
    assert_int_equal(node->props.columns[0].monotony, MS_MONOTONY_CONSTANT);
    assert_int_equal(node->props.columns[1].monotony, MS_MONOTONY_NONE);
    assert_int_equal(node->props.columns[2].monotony, MS_MONOTONY_CONSTANT);
    planner_close(&p);
}

static void time_attributes_survive_what_passes_the_column_on(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    const ms_lnode *node = node_of(&p, "SELECT a, ts FROM w WHERE a > 1");
    assert_int_equal(node->props.columns[1].time_attr, MS_TIME_ATTR_ROWTIME);
    assert_int_equal(node->props.columns[1].monotony, MS_MONOTONY_QUASI);
    assert_int_equal(node->props.columns[0].time_attr, MS_TIME_ATTR_NONE);
    node = node_of(&p, "SELECT ts FROM w UNION ALL SELECT ts FROM w");
    assert_int_equal(node->props.columns[0].time_attr, MS_TIME_ATTR_ROWTIME);
    node = node_of(&p, "SELECT ts FROM w UNION ALL SELECT TIMESTAMP '2020-01-01 00:00:00.000'");
    assert_int_equal(node->props.columns[0].time_attr, MS_TIME_ATTR_NONE);
    node = node_of(&p, "SELECT ts + INTERVAL '1' SECOND FROM w");
    assert_int_equal(node->props.columns[0].time_attr, MS_TIME_ATTR_NONE);
    node = node_of(&p, "SELECT MAX(ts) FROM w");
    assert_int_equal(node->props.columns[0].time_attr, MS_TIME_ATTR_NONE);
    planner_close(&p);
}

static void sorting_makes_its_first_key_monotonic(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    const ms_lnode *node = node_of(&p, "SELECT id, n FROM k ORDER BY n DESC, id");
    assert_int_equal(node->props.columns[1].monotony, MS_MONOTONY_DECREASING);
    assert_int_equal(node->props.columns[0].monotony, MS_MONOTONY_NONE);
    assert_false(node->props.is_order_sensitive);
    planner_close(&p);
}

static void a_limit_without_order_depends_on_arrival(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    assert_true(node_of(&p, "SELECT id FROM k LIMIT 3")->props.is_order_sensitive);
    assert_true(node_of(&p, "SELECT id FROM (SELECT id FROM k LIMIT 3)")->props.is_order_sensitive);
    assert_false(node_of(&p, "SELECT id FROM k ORDER BY id LIMIT 3")->props.is_order_sensitive);
    assert_false(node_of(&p, "SELECT COUNT(*) FROM k LIMIT 1")->props.is_order_sensitive);
    assert_true(node_of(&p, "SELECT id FROM k LIMIT 1")->props.is_single_row);
    planner_close(&p);
}

static void properties_follow_a_rewrite(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    const ms_lnode *project = node_of(&p, "SELECT n, id, v FROM k WHERE n > 1");
    assert_false(project->props.is_single_row);
    const ms_lnode *limit = ms_lnode_limit(&p.arena, project->inputs[0], 1, 0, ms_span_none);
    const ms_lnode *other = ms_lnode_with_inputs(&p.arena, project, &limit);
    assert_true(other->props.is_single_row);
    assert_int_equal(other->height, project->height + 1);
    planner_close(&p);
}

static void a_copy_shares_no_node(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    const ms_lnode *node = node_of(&p, "SELECT id FROM k WHERE n > 1 UNION ALL SELECT 1");
    const ms_lnode *copy = ms_lnode_copy(&p.arena, node);
    assert_int_equal(ms_lnode_count(copy), ms_lnode_count(node));
    assert_ptr_not_equal(copy, node);
    assert_ptr_not_equal(copy->inputs[0], node->inputs[0]);
    planner_close(&p);
}

static bool is_placed(void *ctx, const ms_expr *expr)
{
    (void)ctx;
    assert_int_equal(expr->span.start, 7);
    assert_int_equal(expr->span.end, 9);
    return true;
}

static void placing_moves_every_expression(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    const ms_lnode *node = node_of(&p, "SELECT SUM(a + 1) FROM w WHERE a > 2");
    ms_span span = {7, 9};
    const ms_lnode *placed = ms_lnode_place(&p.arena, node, span);
    while (placed->input_count > 0) {
        assert_int_equal(placed->span.start, 7);
        if (placed->kind == MS_LNODE_FILTER) {
            ms_expr_walk(placed->u.filter.condition, is_placed, NULL);
        }
        if (placed->kind == MS_LNODE_PROJECT) {
            ms_expr_walk(placed->u.project.exprs[0], is_placed, NULL);
        }
        if (placed->kind == MS_LNODE_AGGREGATE) {
            assert_int_equal(placed->u.aggregate.calls[0].span.end, 9);
        }
        placed = placed->inputs[0];
    }
    assert_int_equal(placed->u.scan.of.span.end, 9);
    planner_close(&p);
}

static void every_kind_has_a_name(void **state)
{
    (void)state;
    for (int kind = 0; kind < MS_LNODE_KIND_COUNT; kind++) {
        assert_true(strlen(ms_lnode_kind_name((ms_lnode_kind)kind)) > 0);
    }
    for (int kind = 0; kind < MS_PNODE_COUNT; kind++) {
        assert_true(strlen(ms_pnode_kind_name((ms_pnode_kind)kind)) > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_follow_the_columns_that_carry_them),
        cmocka_unit_test(constant_columns_shorten_keys),
        cmocka_unit_test(equality_does_not_pin_a_floating_point_column),
        cmocka_unit_test(an_aggregate_has_one_row_and_the_empty_key),
        cmocka_unit_test(time_attributes_survive_what_passes_the_column_on),
        cmocka_unit_test(sorting_makes_its_first_key_monotonic),
        cmocka_unit_test(a_limit_without_order_depends_on_arrival),
        cmocka_unit_test(properties_follow_a_rewrite),
        cmocka_unit_test(a_copy_shares_no_node),
        cmocka_unit_test(placing_moves_every_expression),
        cmocka_unit_test(every_kind_has_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
