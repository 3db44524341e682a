/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of VALUES as constants, and as expressions where they have to be.
 */
#include "opt/golden.h"

static const golden plans[] = {
    {"VALUES (1, 'a'), (2, 'b')",
     "Collect(fields=[EXPR$0, EXPR$1], parallelism=[1])\n"
     "+- Values(rows=[2], fields=[EXPR$0, EXPR$1], parallelism=[1])\n"},
    {"VALUES (1), (2.5), (NULL)", "Collect(fields=[EXPR$0], parallelism=[1])\n"
                                  "+- Values(rows=[3], fields=[EXPR$0], parallelism=[1])\n"},
    {"VALUES (1, 2), (1 / 0, 3), (5, 1 % 0)",
     "Collect(fields=[EXPR$0, EXPR$1], parallelism=[1])\n"
     "+- Calc(select=[CASE WHEN row$ = 1 THEN 1 / 0 ELSE EXPR$0 END AS EXPR$0, CASE WHEN row$ = 2 "
     "THEN 1 % 0 ELSE EXPR$1 END AS EXPR$1], parallelism=[1])\n"
     "   +- Values(rows=[3], fields=[EXPR$0, EXPR$1, row$], parallelism=[1])\n"},
    {"SELECT 1", "Collect(fields=[EXPR$0], parallelism=[1])\n"
                 "+- Values(rows=[1], fields=[EXPR$0], parallelism=[1])\n"},
    {"SELECT 1 / 0", "Collect(fields=[EXPR$0], parallelism=[1])\n"
                     "+- Calc(select=[1 / 0 AS EXPR$0], parallelism=[1])\n"
                     "   +- Values(rows=[1], fields=[EXPR$0, row$], parallelism=[1])\n"},
    {"SELECT COUNT(*)",
     "Collect(fields=[EXPR$0], parallelism=[1])\n"
     "+- GroupAggregate(select=[COUNT(*) AS agg$0], state=[value], parallelism=[1])\n"
     "   +- Values(rows=[1], fields=[row$], parallelism=[1])\n"},
    {"SELECT 1 WHERE 2 > 1", "Collect(fields=[EXPR$0], parallelism=[1])\n"
                             "+- Values(rows=[1], fields=[EXPR$0], parallelism=[1])\n"},
    {"INSERT INTO k VALUES (1, 'x', 2), (3, NULL, 4)",
     "Sink(table=[k], fields=[id, v, n], guarantee=[at-least-once], parallelism=[1])\n"
     "+- Calc(select=[CAST(EXPR$0 AS BIGINT) AS id, CAST(EXPR$1 AS STRING) AS v, CAST(EXPR$2 AS "
     "BIGINT) AS n], parallelism=[1])\n"
     "   +- Values(rows=[2], fields=[EXPR$0, EXPR$1, EXPR$2], parallelism=[1])\n"},
};

static void rows_are_constants_but_for_what_fails(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    CHECK_PLANS(&p, plans);
    planner_close(&p);
}

static const ms_pnode *values_of(planner *p, const char *sql)
{
    planner_run(p, sql);
    assert_int_equal(p->plan->nodes[0]->kind, MS_PNODE_VALUES);
    return p->plan->nodes[0];
}

static void cells_have_the_type_of_their_column(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    const ms_pnode *node = values_of(&p, "VALUES (1, 'a'), (2.5, NULL), (CAST('7' AS INT), 'bc')");
    assert_int_equal(node->u.values.row_count, 3);
    for (uint32_t i = 0; i < 6; i++) {
        assert_true(ms_type_equals(node->u.values.cells[i].type, node->schema.columns[i % 2].type));
    }
    assert_int_equal(node->schema.columns[0].type->kind, MS_TYPE_DECIMAL);
    assert_int_equal(node->u.values.cells[0].u.i, 10);
    assert_int_equal(node->u.values.cells[2].u.i, 25);
    assert_int_equal(node->u.values.cells[4].u.i, 70);
    assert_true(node->u.values.cells[3].is_null);
    assert_str_equal(node->u.values.cells[5].u.str, "bc");
    planner_close(&p);
}

static void rows_are_constants_with_the_group_off_too(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    p.settings.optimize = false;
    const ms_pnode *node = values_of(&p, "VALUES (1 + 1), (3)");
    assert_int_equal(node->u.values.cells[0].u.i, 2);
    assert_int_equal(p.plan->node_count, 2);
    planner_close(&p);
}

static void the_session_decides_how_constants_are_computed(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    const char *sql = "VALUES (2147483647 + 1)";
    assert_int_equal(values_of(&p, sql)->u.values.cells[0].u.i, INT32_MIN);
    p.settings.overflow_is_error = true;
    planner_run(&p, sql);
    assert_non_null(strstr(planner_explain(&p), "Calc(select=[2147483647 + 1 AS EXPR$0]"));
    planner_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_constants_but_for_what_fails),
        cmocka_unit_test(cells_have_the_type_of_their_column),
        cmocka_unit_test(rows_are_constants_with_the_group_off_too),
        cmocka_unit_test(the_session_decides_how_constants_are_computed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
