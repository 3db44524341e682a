/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scripts: opening, parsing, checking, and statements by number.
 */
#include "engine/engine_host.h"

static void a_syntax_error_leaves_a_script_that_can_be_closed(void **state)
{
    (void)state;
    engine_host h;
    host_open(&h);
    ms_script *script = NULL;
    ms_execution *execution = NULL;
    ms_status st = {0};
    assert_ok(
        ms_script_open(h.session, ms_str_lit("s"), ms_str_lit("SELECT 1; SELEC 2;"), &script, &st));
    assert_int_equal(ms_script_statement_count(script), 0);
    assert_int_equal(ms_script_execute(script, 0, false, &execution, &st), MS_INVALID_ARGUMENT);
    ms_status_clear(&st);
    assert_int_equal(ms_script_parse(script, &st), MS_SYNTAX_ERROR);
    assert_int_equal(ms_script_statement_count(script), 0);
    ms_script_close(script);
    host_close(&h);
}

static void a_statement_that_is_not_there_is_an_error(void **state)
{
    (void)state;
    engine_host h;
    host_open(&h);
    ms_script *script = host_parse(&h, "s", "SELECT 1;");
    ms_execution *execution = (ms_execution *)script;
    assert_int_equal(ms_script_execute(script, 1, false, &execution, &h.st), MS_INVALID_ARGUMENT);
    assert_null(execution);
    ms_script_close(script);
    host_close(&h);
}

static void an_unknown_variable_is_an_error_with_a_place(void **state)
{
    (void)state;
    engine_host h;
    char text[500];
    host_open(&h);
    ms_script *script = NULL;
    assert_int_equal(
        ms_script_open(h.session, ms_str_lit("s"), ms_str_lit("SELECT ${NOPE};"), &script, &h.st),
        MS_UNDEFINED_VARIABLE);
    ms_status_render(&h.st, script, 0, MS_ERROR_TEXT, text, sizeof text);
    assert_non_null(strstr(text, "s:1:8"));
    ms_script_close(script);
    host_close(&h);
}

static void explain_only_gives_the_plan_of_a_query(void **state)
{
    (void)state;
    engine_host h;
    host_open(&h);
    ms_script *script = host_parse(&h, "s", "SELECT 1 AS a;");
    ms_execution *execution = NULL;
    ms_rows rows = {.struct_bytes = sizeof rows};
    ms_status st = {0};
    assert_ok(ms_script_execute(script, 0, true, &execution, &st));
    assert_false(ms_execution_is_job(execution));
    assert_str_equal(ms_execution_column_name(execution, 0), "result");
    assert_ok(ms_execution_next(execution, -1, &rows, &st));
    assert_int_equal(rows.count, 1);
    assert_true(ms_rows_cell(execution, &rows, 0, 0).str.bytes > 10);
    ms_execution_close(execution);
    ms_script_close(script);
    host_close(&h);
}

typedef struct report {
    uint32_t count;
    char text[2000];
} report;

static void on_report(void *arg, uint32_t statement, const ms_status *st)
{
    report *r = arg;
    size_t at = strlen(r->text);
    r->count++;
    snprintf(r->text + at, sizeof r->text - at, "%u %s: %s\n", statement, ms_rc_name(st->code),
             st->message);
}

static void check_reports_all_errors_and_runs_nothing(void **state)
{
    (void)state;
    engine_host h;
    report r = {0};
    host_open(&h);
    ms_script *script = host_parse(
        &h, "s",
        "CREATE TABLE g (i BIGINT) WITH ('connector' = 'datagen');"
        "CREATE TABLE f (i BIGINT) WITH ('connector' = 'filesystem', 'path' = '${DIR}/f', 'format' "
        "= 'csv');"
        "SELECT nope FROM g; SELECT i FROM g; INSERT INTO f SELECT i FROM g; INSERT INTO x SELECT "
        "1; ADD JAR 'x'; SET 'table.exec.state.ttl' = '1 h';");
    assert_int_equal(ms_script_check(script, on_report, &r), 2);
    assert_int_equal(r.count, 5);
    assert_non_null(strstr(r.text, "2 UNDEFINED_COLUMN"));
    assert_non_null(strstr(r.text, "3 UNREACHABLE_STATEMENT: this query is unbounded"));
    assert_non_null(strstr(r.text, "5 UNDEFINED_TABLE"));
    assert_non_null(strstr(r.text, "6 STATEMENT_WITHOUT_EFFECT: ADD JAR does nothing here"));
    assert_non_null(strstr(r.text, "7 SETTING_WITHOUT_EFFECT: setting \"table.exec.state.ttl\""));
    assert_string_equal(h.notices, "");
    assert_int_equal(info_of(path_of("f")).kind, MS_FILE_KIND_NONE);
    ms_script_close(script);
    host_close(&h);
}

static ms_rc on_insert(void *arg, const ms_script *ahead, uint32_t statement, ms_status *st)
{
    report *r = arg;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_str name = msi_job_name(ahead, statement, &arena);
    size_t at = strlen(r->text);
    r->count++;
    snprintf(r->text + at, sizeof r->text - at, "%u %.*s\n", statement, MS_STR_ARG(name));
    ms_arena_release(&arena);
    return r->count == 3 ? ms_status_set(st, MS_LIMIT, ms_span_none, "enough") : MS_OK;
}

static void looking_ahead_changes_nothing_and_ends_at_the_first_error(void **state)
{
    (void)state;
    engine_host h;
    report r = {0};
    ms_status st = {0};
    host_open(&h);
    ms_script *script =
        host_parse(&h, "s",
                   "CREATE TABLE b (i INT) WITH ('connector' = 'blackhole');"
                   "INSERT INTO b VALUES (1); SET 'pipeline.name' = 'two'; ADD JAR 'x';"
                   "DROP TABLE b; CREATE TABLE b (s STRING) WITH ('connector' = 'blackhole');"
                   "INSERT INTO b VALUES ('x'); SELECT nope; INSERT INTO b VALUES ('y');");
    assert_ok(msi_script_look_ahead(script, 0, on_insert, &r, &st));
    assert_string_equal(r.text, "1 s-1\n6 two-2\n");
    assert_string_equal(h.notices, "");
    uint32_t tables = 0;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_catalog_list(h.session->catalog, &arena, &tables);
    assert_int_equal(tables, 0);
    assert_false(ms_settings_value(h.session->settings, MS_SETTING_JOB_NAME).is_set);
    assert_int_equal(msi_script_look_ahead(script, 0, on_insert, &r, &st), MS_LIMIT);
    assert_string_equal(st.message, "enough");
    ms_arena_release(&arena);
    ms_script_close(script);
    host_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(a_syntax_error_leaves_a_script_that_can_be_closed),
        scratch_test(a_statement_that_is_not_there_is_an_error),
        scratch_test(an_unknown_variable_is_an_error_with_a_place),
        scratch_test(explain_only_gives_the_plan_of_a_query),
        scratch_test(check_reports_all_errors_and_runs_nothing),
        scratch_test(looking_ahead_changes_nothing_and_ends_at_the_first_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
