/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Statements under way: rows and cells, printing, time limits, counters.
 */
#include "engine/engine_host.h"

static ms_execution *start(engine_host *h, ms_script *script, uint32_t statement)
{
    ms_execution *execution = NULL;
    ms_status st = {0};
    assert_ok(ms_script_execute(script, statement, false, &execution, &st));
    (void)h;
    return execution;
}

static void cells_have_the_kind_of_their_type(void **state)
{
    (void)state;
    engine_host h;
    host_open(&h);
    ms_script *script =
        host_parse(&h, "s",
                   "SELECT TRUE, CAST(7 AS TINYINT), 9000000000, CAST(1.5 AS DOUBLE), 'text', DATE "
                   "'1970-01-02', CAST(1.50 AS DECIMAL(10, 2)), ARRAY[1, 2], CAST(NULL AS INT);");
    ms_execution *execution = start(&h, script, 0);
    ms_rows rows = {.struct_bytes = sizeof rows};
    ms_status st = {0};
    assert_true(ms_execution_has_rows(execution) && ms_execution_is_job(execution));
    assert_ok(ms_execution_next(execution, -1, &rows, &st));
    assert_int_equal(rows.count, 1);
    assert_int_equal(rows.column_count, 9);
    assert_int_equal(ms_rows_kind(&rows, 0), 0);
    static const ms_value_kind kinds[] = {MS_VALUE_BOOL,   MS_VALUE_INT,   MS_VALUE_INT,
                                          MS_VALUE_DOUBLE, MS_VALUE_BYTES, MS_VALUE_INT,
                                          MS_VALUE_BYTES,  MS_VALUE_BYTES, MS_VALUE_NULL};
    for (uint32_t c = 0; c < 9; c++) {
        assert_int_equal(ms_rows_cell(execution, &rows, 0, c).kind, kinds[c]);
    }
    assert_int_equal(ms_rows_cell(execution, &rows, 0, 0).i64, 1);
    assert_int_equal(ms_rows_cell(execution, &rows, 0, 2).i64, 9000000000);
    assert_true(ms_rows_cell(execution, &rows, 0, 3).f64 == 1.5);
    assert_str_equal(ms_rows_cell(execution, &rows, 0, 4).str, "text");
    assert_int_equal(ms_rows_cell(execution, &rows, 0, 5).i64, 1);
    assert_str_equal(ms_rows_cell(execution, &rows, 0, 6).str, "1.50");
    assert_str_equal(ms_rows_cell(execution, &rows, 0, 7).str, "[1, 2]");
    assert_ok(ms_execution_next(execution, -1, &rows, &st));
    assert_int_equal(rows.count, 0);
    assert_ok(ms_execution_next(execution, -1, &rows, &st));
    assert_int_equal(rows.count, 0);
    ms_execution_close(execution);
    ms_script_close(script);
    host_close(&h);
}

static void a_query_may_be_closed_before_its_end(void **state)
{
    (void)state;
    engine_host h;
    host_open(&h);
    ms_script *script =
        host_parse(&h, "s",
                   "CREATE TABLE g (i BIGINT) WITH ('connector' = 'datagen', 'rows-per-second' = "
                   "'1');SELECT i FROM g;");
    ms_execution_close(start(&h, script, 0));
    ms_execution *execution = start(&h, script, 1);
    ms_rows rows = {.struct_bytes = sizeof rows};
    ms_status st = {0};
    while (ms_execution_next(execution, 0, &rows, &st) == MS_OK) {
        assert_true(rows.count > 0);
    }
    assert_int_equal(st.code, MS_CANCELED);
    assert_true(st.retriable);
    ms_status_clear(&st);
    assert_int_equal(ms_execution_wait(execution, 1, &st), MS_CANCELED);
    assert_true(st.retriable);
    ms_execution_close(execution);
    ms_script_close(script);
    host_close(&h);
}

static bool refuse(void *arg, ms_str bytes)
{
    (void)bytes;
    ++*(int *)arg;
    return false;
}

static void a_printer_that_refuses_ends_the_printing(void **state)
{
    (void)state;
    engine_host h;
    host_open(&h);
    ms_script *script = host_parse(&h, "s", "SELECT 1;");
    ms_execution *execution = start(&h, script, 0);
    int calls = 0;
    ms_status st = {0};
    ms_print_options print = {sizeof print, MS_RESULT_JSON, refuse, &calls};
    assert_int_equal(ms_execution_print(execution, &print, &st), MS_CANCELED);
    assert_int_equal(calls, 1);
    ms_execution_close(execution);
    ms_script_close(script);
    host_close(&h);
}

static void listings_are_rows_too(void **state)
{
    (void)state;
    engine_host h;
    host_open(&h);
    ms_script *script =
        host_parse(&h, "s", "CREATE TABLE t (a INT) WITH ('connector' = 'blackhole');SHOW TABLES;");
    ms_execution *execution = start(&h, script, 0);
    ms_rows rows = {.struct_bytes = sizeof rows};
    ms_status st = {0};
    assert_false(ms_execution_has_rows(execution));
    assert_false(ms_execution_is_job(execution));
    assert_ok(ms_execution_next(execution, -1, &rows, &st));
    assert_int_equal(rows.count, 0);
    ms_execution_close(execution);
    execution = start(&h, script, 1);
    assert_true(ms_execution_has_rows(execution) && ms_execution_is_bounded(execution));
    assert_str_equal(ms_execution_column_name(execution, 0), "table name");
    assert_ok(ms_execution_next(execution, -1, &rows, &st));
    assert_int_equal(rows.count, 1);
    assert_str_equal(ms_rows_cell(execution, &rows, 0, 0).str, "t");
    assert_ok(ms_execution_next(execution, -1, &rows, &st));
    assert_int_equal(rows.count, 0);
    assert_ok(ms_execution_wait(execution, -1, &st));
    ms_execution_close(execution);
    ms_script_close(script);
    host_close(&h);
}

static void final_rows_or_every_change(void **state)
{
    (void)state;
    engine_host h;
    host_open(&h);
    const char *sql = "SELECT COUNT(*) AS n FROM (VALUES (1), (2), (3)) AS t(a);";
    assert_sql(&h, sql, "n\n3\n");
    ms_session_set_changelog(h.session, true);
    assert_int_equal(host_sql(&h, sql), MS_OK);
    assert_true(ms_str_starts_with(ms_buf_view(&h.out), ms_str_lit("op,n\n+I,")));
    assert_true(ms_str_ends_with(ms_buf_view(&h.out), ms_str_lit(",3\n")));
    host_close(&h);
}

static void counters_fit_the_callers_struct(void **state)
{
    (void)state;
    engine_host h;
    host_open(&h);
    ms_script *script = host_parse(
        &h, "s",
        "CREATE TABLE g (i BIGINT) WITH ('connector' = 'datagen', 'number-of-rows' = '500');"
        "CREATE TABLE b (i BIGINT) WITH ('connector' = 'blackhole');INSERT INTO b SELECT i FROM "
        "g;");
    ms_execution_close(start(&h, script, 0));
    ms_execution_close(start(&h, script, 1));
    ms_execution *execution = start(&h, script, 2);
    ms_status st = {0};
    assert_ok(ms_execution_wait(execution, -1, &st));
    ms_job_stats stats = {.struct_bytes = sizeof stats};
    ms_execution_stats(execution, &stats);
    assert_int_equal(stats.rows_read, 500);
    assert_int_equal(stats.rows_written, 500);
    ms_job_stats part = {.struct_bytes = offsetof(ms_job_stats, rows_written), .rows_written = 77};
    ms_execution_stats(execution, &part);
    assert_int_equal(part.rows_read, 500);
    assert_int_equal(part.rows_written, 77);
    assert_false(ms_execution_was_stopped(execution));
    ms_execution_close(execution);
    ms_script_close(script);
    host_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(cells_have_the_kind_of_their_type),
        scratch_test(a_query_may_be_closed_before_its_end),
        scratch_test(a_printer_that_refuses_ends_the_printing),
        scratch_test(listings_are_rows_too),
        scratch_test(final_rows_or_every_change),
        scratch_test(counters_fit_the_callers_struct),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
