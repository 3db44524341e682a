/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The course of planning: connectors that are asked, modes that are checked, plans that stand
 * alone, and the time that it takes.
 */
#include "opt/golden.h"

#include "base/env.h"
#include "base/limits.h"
#include "opt/opt_priv.h"

typedef struct refusal {
    const char *sql;
    ms_rc code;
    const char *place;
    const char *message;
    const char *hint;
} refusal;

static const refusal refusals[] = {
    {"CREATE TABLE x1 (a INT); SELECT * FROM x1", MS_MISSING_OPTION, "x1",
     "table \"x1\" has no option \"connector\"",
     "Say in WITH which connector reads and writes the table."},
    {"CREATE TABLE x2 (a INT) WITH ('connector' = 'fkae'); SELECT * FROM x2", MS_INVALID_OPTION,
     "'fkae'", "connector \"fkae\" does not exist", "Did you mean \"fake\"?"},
    {"CREATE TABLE x3 (a INT) WITH ('connector' = 'nothing like it'); SELECT * FROM x3",
     MS_INVALID_OPTION, "'nothing like it'", "connector \"nothing like it\" does not exist", ""},
    {"SELECT * FROM o", MS_NOT_SUPPORTED, "o",
     "table \"o\" cannot be read: connector \"writes\" only writes", ""},
    {"CREATE TABLE x4 (a INT) WITH ('connector' = 'reads'); INSERT INTO x4 SELECT 1",
     MS_NOT_SUPPORTED, "x4", "table \"x4\" cannot be written: connector \"reads\" only reads", ""},
    {"SELECT a FROM t /*+ OPTIONS('bounded' = 'maybe') */", MS_INVALID_OPTION, "'maybe'",
     "option \"bounded\" cannot be \"maybe\": it takes true or false", ""},
    {"SELECT a FROM t /*+ OPTIONS('boundd' = 'true') */", MS_UNKNOWN_OPTION, "'boundd'",
     "connector \"fake\" has no option \"boundd\"", "Did you mean \"bounded\"?"},
    {"SELECT a FROM t /*+ OPTIONS('parallelism' = '999') */", MS_INVALID_OPTION, "'999'",
     "option \"parallelism\" cannot be \"999\": it must be from 0 to 128", ""},
    {"INSERT INTO o /*+ OPTIONS('takes' = 'what') */ SELECT 1, 2", MS_INVALID_OPTION, "'what'",
     "option \"takes\" cannot be \"what\"", "It takes one of: I|upsert|all."},
    {"SELECT a FROM t /*+ OPTIONS('bounded' = 'false') */ ORDER BY a", MS_INVALID_QUERY, "a",
     "ORDER BY needs the end of its input, and this query never ends",
     "Leave ORDER BY out, or bound the source by its options."},
    {"SELECT a FROM t /*+ OPTIONS('bounded' = 'false') */ ORDER BY a LIMIT 3", MS_NOT_SUPPORTED,
     "a", "ORDER BY with LIMIT over an unbounded query is not supported",
     "Bound the source by its options."},
    {"SELECT a FROM w /*+ OPTIONS('bounded' = 'false') */ ORDER BY ts", MS_NOT_SUPPORTED, "ts",
     "ORDER BY a time attribute of an unbounded query is not supported",
     "Bound the source by its options."},
    {"SELECT a FROM w /*+ OPTIONS('bounded' = 'false') */ ORDER BY ts DESC", MS_INVALID_QUERY,
     "ts DESC", "ORDER BY needs the end of its input, and this query never ends",
     "Leave ORDER BY out, or bound the source by its options."},
    {"INSERT INTO o SELECT a, 1 FROM t UNION ALL SELECT a, 2 FROM w /*+ OPTIONS('bounded' = "
     "'false') */ ORDER BY a",
     MS_INVALID_QUERY, "a", "ORDER BY needs the end of its input, and this query never ends",
     "Leave ORDER BY out, or bound the source by its options."},
};

static void check_refusals(planner *p)
{
    for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
        const refusal *one = &refusals[i];
        if (planner_try(p, one->sql) == MS_OK) {
            fail_msg("accepted: %s", one->sql);
        }
        assert_string_equal(ms_rc_name(p->st.code), ms_rc_name(one->code));
        assert_string_equal(p->st.message, one->message);
        assert_string_equal(planner_place(p), one->place);
        assert_string_equal(p->st.hint, one->hint);
        assert_null(p->plan);
    }
}

static void what_cannot_be_planned_is_refused_by_name(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    check_refusals(&p);
    planner_close(&p);
}

static void refusals_do_not_depend_on_the_optimize_group(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    p.settings.optimize = false;
    check_refusals(&p);
    planner_close(&p);
}

static void batch_mode_reads_bounded_tables_only(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    p.is_streaming = false;
    assert_int_equal(planner_try(&p, "SELECT a FROM t /*+ OPTIONS('bounded' = 'false') */"),
                     MS_INVALID_QUERY);
    assert_string_equal(p.st.message, "table \"t\" is unbounded and cannot be read in batch mode");
    assert_string_equal(planner_place(&p), "t");
    assert_string_equal(p.st.detail,
                        "Querying an unbounded table 't' in batch mode is not allowed. "
                        "The table source is unbounded.");
    planner_run(&p, "SELECT a FROM t");
    planner_close(&p);
}

static void hints_win_over_the_options_of_the_table(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    planner_run(&p, "CREATE TABLE z (a INT) WITH ('connector' = 'plain', 'parallelism' = '3')");
    planner_run(&p, "SELECT a FROM z");
    assert_int_equal(p.plan->nodes[0]->parallelism, 3);
    planner_run(&p, "SELECT a FROM z /*+ OPTIONS('parallelism' = '5') */");
    assert_int_equal(p.plan->nodes[0]->parallelism, 5);
    planner_run(&p, "SELECT a FROM z");
    assert_int_equal(p.plan->nodes[0]->parallelism, 3);
    planner_close(&p);
}

/* Places of a definition in another text would point anywhere: the table's name stands in. */
static void faults_of_another_text_stand_at_the_name_of_the_table(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    planner_run(&p, "CREATE TABLE far (a INT) WITH ('connector' = 'fake', 'bounded' = 'maybe')");
    assert_int_equal(planner_try(&p, "SELECT a FROM far"), MS_INVALID_OPTION);
    p.source_id = 2;
    assert_int_equal(planner_try(&p, "SELECT a FROM far"), MS_INVALID_OPTION);
    assert_string_equal(planner_place(&p), "far");
    assert_int_equal(planner_try(&p, "SELECT a FROM far /*+ OPTIONS('bounded' = 'no') */"),
                     MS_INVALID_OPTION);
    assert_string_equal(planner_place(&p), "'no'");
    planner_close(&p);
}

static void a_plan_outlives_its_statement(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    char sql[] = "INSERT INTO k SELECT a, UPPER(b), 2 FROM t /*+ OPTIONS('push' = 'inexact') */ "
                 "WHERE a > 1 AND b LIKE 'x%' UNION ALL VALUES (1, 'y', 3)";
    planner_run(&p, sql);
    ms_buf before;
    ms_buf after;
    ms_buf_init(&before, 1 << 20);
    ms_buf_init(&after, 1 << 20);
    ms_status st = {0};
    assert_ok(ms_plan_write_text(p.plan, &before, &st));
    memset(sql, '#', sizeof(sql) - 1);
    ms_arena_reset(&p.arena); /* poisoned: a pointer into it would show */
    assert_ok(ms_plan_write_text(p.plan, &after, &st));
    assert_true(ms_str_equals(ms_buf_view(&before), ms_buf_view(&after)));
    assert_true(ms_str_starts_with(p.plan->sql, ms_str_lit("INSERT INTO k SELECT")));
    ms_buf_release(&before);
    ms_buf_release(&after);
    planner_close(&p);
}

/* The same statement planned twice is read, not changed, by the first time. */
static void a_logical_plan_may_be_planned_again(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    planner_run(&p, "SELECT a + 1 FROM t WHERE a > 1 ORDER BY b LIMIT 3");
    const char *logical = planner_logical(&p);
    const char *physical = planner_explain(&p);
    assert_int_equal(optimize_by_hand(&p, p.logical->roots[0]), MS_OK);
    assert_string_equal(planner_logical(&p), logical);
    assert_string_equal(planner_explain(&p), physical);
    planner_close(&p);
}

static void rules_on_and_off_differ_where_they_should(void **state)
{
    (void)state;
    static const char shared[] = "EXECUTE STATEMENT SET BEGIN INSERT INTO o SELECT a, 1 FROM p; "
                                 "INSERT INTO o SELECT a, 2 FROM p; END";
    static const char *const statements[] = {
        "SELECT a FROM t WHERE a > 1",
        "SELECT 1 + 1 FROM t",
        "SELECT COUNT(*) FROM t",
        "SELECT * FROM (SELECT a, b FROM t UNION ALL SELECT a, b FROM p) WHERE a > 2",
        shared,
    };
    planner p;
    open_tables(&p);
    for (size_t i = 0; i < sizeof(statements) / sizeof(statements[0]); i++) {
        p.settings.optimize = true;
        planner_run(&p, statements[i]);
        const char *on = planner_explain(&p);
        p.settings.optimize = false;
        planner_run(&p, statements[i]);
        assert_string_not_equal(on, planner_explain(&p));
    }
    planner_close(&p);
}

static void a_hundred_columns_plan_in_five_milliseconds(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    ms_buf sql;
    ms_buf_init(&sql, 1 << 20);
    ms_status st = {0};
    assert_ok(ms_buf_append(&sql, ms_str_lit("CREATE TABLE wide (c0 BIGINT"), &st));
    for (int i = 1; i < 100; i++) {
        assert_ok(ms_buf_format(&sql, &st, ", c%d %s", i, i % 2 == 0 ? "BIGINT" : "STRING"));
    }
    assert_ok(ms_buf_append(&sql,
                            ms_str_lit(", PRIMARY KEY (c0) NOT ENFORCED) WITH ('connector' = "
                                       "'fake')"),
                            &st));
    ms_str create = ms_arena_copy_str(&p.arena, ms_buf_view(&sql));
    planner_run(&p, create.ptr);
    ms_buf_reset(&sql);
    assert_ok(ms_buf_append(&sql, ms_str_lit("INSERT INTO wide SELECT c0"), &st));
    for (int i = 1; i < 100; i++) {
        assert_ok(ms_buf_format(&sql, &st, i % 2 == 0 ? ", c%d + 1" : ", UPPER(c%d)", i));
    }
    assert_ok(ms_buf_append(&sql, ms_str_lit(" FROM wide WHERE c2 > 3 AND c1 LIKE 'x%'"), &st));
    ms_str insert = ms_arena_copy_str(&p.arena, ms_buf_view(&sql));
    ms_buf_release(&sql);
    int64_t best_ns = INT64_MAX;
    for (int i = 0; i < 5; i++) {
        int64_t start_ns = ms_env_mono_ns();
        planner_run(&p, insert.ptr);
        int64_t took_ns = ms_env_mono_ns() - start_ns;
        best_ns = took_ns < best_ns ? took_ns : best_ns;
    }
#ifdef MS_DEBUG
    int64_t limit_ns = 50 * INT64_C(1000000); /* with sanitizers */
#else
    int64_t limit_ns = 5 * INT64_C(1000000);
#endif
    assert_true(best_ns < limit_ns);
    planner_close(&p);
}

static void sizes_and_depths_of_expressions_are_counted(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    const ms_lnode *scan = scan_of(&p, "p");
    const ms_expr *a = column_of(&p, scan, 0);
    const ms_expr *sum = binary(&p, "+", a, int_const(&p, 1));
    const ms_expr *both = binary(&p, "+", a, a);
    assert_int_equal(msi_expr_size(sum, NULL), 3);
    assert_int_equal(msi_expr_size(both, &sum), 7);
    assert_int_equal(msi_expr_depth(sum, NULL), 2);
    assert_int_equal(msi_expr_depth(both, &sum), 3);
    assert_true(msi_can_substitute(both, &sum));
    const ms_expr *varies = random_of(&p, a);
    assert_false(msi_can_substitute(both, &varies));
    planner_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_planned_is_refused_by_name),
        cmocka_unit_test(refusals_do_not_depend_on_the_optimize_group),
        cmocka_unit_test(batch_mode_reads_bounded_tables_only),
        cmocka_unit_test(hints_win_over_the_options_of_the_table),
        cmocka_unit_test(faults_of_another_text_stand_at_the_name_of_the_table),
        cmocka_unit_test(a_plan_outlives_its_statement),
        cmocka_unit_test(a_logical_plan_may_be_planned_again),
        cmocka_unit_test(rules_on_and_off_differ_where_they_should),
        cmocka_unit_test(a_hundred_columns_plan_in_five_milliseconds),
        cmocka_unit_test(sizes_and_depths_of_expressions_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
