/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plan text of checkpoints: stable, independent of what may differ between runs, and compared
 * to the first difference.
 */
#include "opt/planner.h"

static const char tables[] =
    "CREATE TABLE t (a INT, b STRING, c DOUBLE NOT NULL, d AS a + 1, r ROW<x INT, y STRING>) WITH "
    "('connector' = 'fake'); "
    "CREATE TABLE w (a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH "
    "('connector' = 'fake'); "
    "CREATE TABLE p (a INT, b STRING, c DOUBLE NOT NULL) WITH ('connector' = 'plain'); "
    "CREATE TABLE f (a INT, b STRING) WITH ('connector' = 'plain', 'ordered' = 'true'); "
    "CREATE TABLE k (id BIGINT, v STRING, n BIGINT NOT NULL, PRIMARY KEY (id) NOT ENFORCED) WITH "
    "('connector' = 'fake', 'takes' = 'upsert'); "
    "CREATE TABLE o (a INT, n BIGINT) WITH ('connector' = 'writes'); ";

static const char statement[] =
    "INSERT INTO k SELECT id, UPPER(v), n + 1 FROM k WHERE n > 3 AND id < 7 UNION ALL "
    "SELECT a, b, 2 FROM f UNION ALL VALUES (CAST(1 AS BIGINT), 'x', 5)";

static const char *text_of(planner *p)
{
    ms_buf buf;
    ms_buf_init(&buf, 1 << 20);
    ms_status st = {0};
    assert_ok(ms_plan_write_text(p->plan, &buf, &st));
    return planner_text(p, &buf);
}

static const char *plan_text(planner *p, const char *sql)
{
    planner_run(p, sql);
    return text_of(p);
}

static void open_tables(planner *p)
{
    planner_open(p);
    planner_run(p, tables);
}

static void a_plan_is_written_as_text(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    assert_string_equal(
        plan_text(&p, "SELECT a + 1 AS x FROM t WHERE b = 'y' AND a < 3"),
        "millstream plan 1\n"
        "settings\tmode=streaming\tbounded=yes\toverflow=wrap\tzone=\"UTC\"\n"
        "1\tkind=TableSourceScan\tid=9c53f5cf1885bbc4\tinput=\tschema=(\"a\" "
        "INT)\tchanges=[I]\ttable=\"t\"\tscan=\"projected, filter=[b = 'y', a < 3]\"\n"
        "2\tkind=Calc\tid=d471e5672f7ae1b9\tinput=1\tschema=(\"x\" "
        "INT)\tchanges=[I]\tfilter=\tselect=(call \"+\" \"INT\" 0 0 (col 0 \"INT\" 0 0) (const "
        "\"INT NOT NULL\" 0 0 \"1\"))\n"
        "3\tkind=Collect\tid=8d35e375585d342f\tinput=2\tschema=(\"x\" INT)\tchanges=[I]\n");
    planner_close(&p);
}

static void the_same_statement_gives_the_same_text(void **state)
{
    (void)state;
    planner p;
    planner q;
    open_tables(&p);
    open_tables(&q);
    assert_string_equal(plan_text(&p, statement), plan_text(&q, statement));
    planner_close(&q);
    planner_close(&p);
}

static void places_and_parallelism_do_not_count(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    const char *first = plan_text(&p, statement);
    ms_str spaced = ms_arena_format(&p.arena, "/* a comment */ SELECT 1;\n\n   %s  ", statement);
    assert_string_equal(plan_text(&p, spaced.ptr), first);
    p.settings.parallelism = 7;
    p.settings.parallelism_is_explicit = true;
    p.settings.coalesce = false;
    assert_string_equal(plan_text(&p, statement), first);
    planner_close(&p);
}

static void ids_do_not_move_with_the_parallelism(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    p.settings.parallelism = 1;
    planner_run(&p, "SELECT COUNT(*) FROM p");
    uint64_t id = p.plan->roots[0]->inputs[0]->id;
    assert_int_equal(p.plan->roots[0]->inputs[0]->kind, MS_PNODE_AGGREGATE);
    assert_int_equal(p.plan->node_count, 3);
    p.settings.parallelism = 4;
    planner_run(&p, "SELECT COUNT(*) FROM p");
    assert_int_equal(p.plan->node_count, 4);
    assert_true(p.plan->roots[0]->inputs[0]->id == id);
    planner_close(&p);
}

static void ids_are_different_within_a_plan(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    planner_run(&p, "EXECUTE STATEMENT SET BEGIN INSERT INTO o SELECT a, 1 FROM p WHERE a > 1;"
                    " INSERT INTO o SELECT a, 1 FROM p WHERE a > 1; INSERT INTO k "
                    "SELECT a, b, 1 FROM p UNION ALL SELECT a, b, 1 FROM p; END");
    for (uint32_t i = 0; i < p.plan->node_count; i++) {
        for (uint32_t k = 0; k < i; k++) {
            assert_true(p.plan->nodes[i]->id != p.plan->nodes[k]->id);
        }
    }
    planner_close(&p);
}

static void a_plan_agrees_with_its_own_text(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    const char *stored = plan_text(&p, statement);
    ms_status st = {0};
    assert_ok(ms_plan_check_text(p.plan, ms_str_cstr(stored), &st));
    planner_close(&p);
}

/* A plan, another one, and what is said of the two. */
typedef struct difference {
    const char *before;
    const char *after;
    const char *message;
} difference;

static const difference differences[] = {
    {"SELECT a FROM p WHERE a > 1", "SELECT a FROM p WHERE a > 2",
     "the checkpoint belongs to another plan: operator 2 (Calc) differs in its filter"},
    {"SELECT a FROM p WHERE a > 1", "SELECT a + 0 AS a FROM p WHERE a > 1",
     "the checkpoint belongs to another plan: operator 2 (Calc) differs in its select"},
    {"SELECT a FROM p", "SELECT a FROM f",
     "the checkpoint belongs to another plan: operator 1 (TableSourceScan of table \"f\") differs "
     "in its schema"},
    {"SELECT a, b FROM f", "SELECT a, b FROM f LIMIT 3",
     "the checkpoint belongs to another plan: operator 2 (Limit) differs in its kind"},
    {"SELECT SUM(a) FROM p", "SELECT MAX(a) FROM p",
     "the checkpoint belongs to another plan: operator 3 (GroupAggregate) differs in its calls"},
    {"SELECT a FROM t WHERE a < 3", "SELECT a FROM t WHERE a < 4",
     "the checkpoint belongs to another plan: operator 1 (TableSourceScan of table \"t\") differs "
     "in its scan"},
    {"VALUES (1)", "VALUES (2)",
     "the checkpoint belongs to another plan: operator 1 (Values) differs in its cells"},
    {"SELECT a FROM p UNION ALL SELECT a FROM p", "SELECT a FROM p",
     "the checkpoint belongs to another plan: operator 3 (Collect) differs in its kind"},
    {"INSERT INTO o SELECT 1, 2",
     "EXECUTE STATEMENT SET BEGIN INSERT INTO o SELECT 1, 2; INSERT INTO o SELECT 1, 2; END",
     "the checkpoint belongs to another plan: operator 4 (Values) is only in the statement"},
};

static void the_first_difference_is_named(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    for (size_t i = 0; i < sizeof(differences) / sizeof(differences[0]); i++) {
        const char *stored = plan_text(&p, differences[i].before);
        planner_run(&p, differences[i].after);
        ms_status st = {0};
        assert_int_equal(ms_plan_check_text(p.plan, ms_str_cstr(stored), &st), MS_PLAN_MISMATCH);
        assert_string_equal(st.message, differences[i].message);
        assert_true(strstr(st.hint, "--fresh") != NULL);
    }
    planner_close(&p);
}

static void settings_belong_to_the_plan(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    const char *stored = plan_text(&p, "SELECT a FROM p");
    p.settings.overflow_is_error = true;
    planner_run(&p, "SELECT a FROM p");
    ms_status st = {0};
    assert_int_equal(ms_plan_check_text(p.plan, ms_str_cstr(stored), &st), MS_PLAN_MISMATCH);
    assert_string_equal(
        st.message, "the checkpoint belongs to another plan: the settings differs in its overflow");
    assert_string_equal(st.detail, "checkpoint: overflow=wrap; statement: overflow=error");
    planner_close(&p);
}

static void what_is_no_plan_text_is_corrupt(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    planner_run(&p, "SELECT a FROM p");
    static const char *const texts[] = {"", "millstream plan 2\n", "\xff\xfe", "millstream plan"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        ms_status st = {0};
        assert_int_equal(ms_plan_check_text(p.plan, ms_str_cstr(texts[i]), &st), MS_CORRUPT_DATA);
    }
    planner_close(&p);
}

static void a_cut_text_is_a_mismatch(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    const char *stored = plan_text(&p, statement);
    for (size_t bytes = strlen("millstream plan 1\n"); bytes + 1 < strlen(stored); bytes++) {
        ms_status st = {0};
        assert_int_equal(ms_plan_check_text(p.plan, ms_str_make(stored, bytes), &st),
                         MS_PLAN_MISMATCH);
    }
    planner_close(&p);
}

static void a_text_that_does_not_fit_fails(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    planner_run(&p, statement);
    for (size_t max = 1; max < 600; max += 13) {
        ms_buf buf;
        ms_buf_init(&buf, max);
        ms_status st = {0};
        assert_int_equal(ms_plan_write_text(p.plan, &buf, &st), MS_LIMIT);
        ms_buf_release(&buf);
    }
    planner_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_is_written_as_text),
        cmocka_unit_test(the_same_statement_gives_the_same_text),
        cmocka_unit_test(places_and_parallelism_do_not_count),
        cmocka_unit_test(ids_do_not_move_with_the_parallelism),
        cmocka_unit_test(ids_are_different_within_a_plan),
        cmocka_unit_test(a_plan_agrees_with_its_own_text),
        cmocka_unit_test(the_first_difference_is_named),
        cmocka_unit_test(settings_belong_to_the_plan),
        cmocka_unit_test(what_is_no_plan_text_is_corrupt),
        cmocka_unit_test(a_cut_text_is_a_mismatch),
        cmocka_unit_test(a_text_that_does_not_fit_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
