/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The engine: opening and closing, notices, the data directory, and memory of a running pipeline.
 */
#include "engine/engine_host.h"

static void nothing_can_be_closed(void **state)
{
    (void)state;
    ms_execution_close(NULL);
    ms_script_close(NULL);
    ms_session_close(NULL);
    ms_engine_close(NULL);
}

static void an_open_engine_touches_no_file(void **state)
{
    (void)state;
    engine_host h;
    host_open(&h);
    assert_sql(&h, "SELECT 1 AS a;", "a\n1\n");
    assert_int_equal(info_of(path_of("data")).kind, MS_FILE_KIND_NONE);
    host_close(&h);
}

static void options_of_an_older_caller_are_shorter(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_engine *engine = NULL;
    ms_engine_options options = {.struct_bytes = offsetof(ms_engine_options, workers),
                                 .workers = 100000};
    assert_ok(ms_engine_open(&options, &engine, &st));
    assert_int_equal(engine->options.workers, 0);
    ms_engine_close(engine);
    char path[MSI_PATH_BYTES + 10];
    memset(path, 'x', sizeof path);
    path[sizeof path - 1] = '\0';
    options = (ms_engine_options){.struct_bytes = sizeof options, .data_dir = path};
    assert_int_equal(ms_engine_open(&options, &engine, &st), MS_LIMIT);
    assert_null(engine);
}

static void a_data_directory_has_one_owner(void **state)
{
    (void)state;
    ms_status st = {0};
    engine_host a;
    engine_host b;
    host_open(&a);
    host_open(&b);
    assert_ok(msi_engine_lock_data(a.engine, &st));
    assert_ok(msi_engine_lock_data(a.engine, &st));
    assert_int_equal(msi_engine_lock_data(b.engine, &st), MS_DATA_DIR_IN_USE);
    host_close(&a);
    ms_status_clear(&st);
    assert_ok(msi_engine_lock_data(b.engine, &st));
    host_close(&b);
}

static void settings_without_effect_are_noticed(void **state)
{
    (void)state;
    ms_status st = {0};
    engine_host h;
    host_open(&h);
    assert_ok(ms_session_set(h.session, ms_str_lit("taskmanager.numberOfTaskSlots"),
                             ms_str_lit("4"), &st)); /* not under a root that is ours or Flink's */
    assert_string_equal(h.notices, "");
    assert_ok(
        ms_session_set(h.session, ms_str_lit("table.exec.state.ttl"), ms_str_lit("1 h"), &st));
    assert_string_equal(h.notices,
                        "SETTING_WITHOUT_EFFECT: setting \"table.exec.state.ttl\" has no "
                        "effect here\n");
    host_close(&h);
}

static void a_stop_ends_an_unbounded_query(void **state)
{
    (void)state;
    ms_status st = {0};
    engine_host h;
    host_open(&h);
    ms_script *script = host_parse(
        &h, "s", "CREATE TABLE g (i BIGINT) WITH ('connector' = 'datagen'); SELECT i FROM g;");
    ms_execution *execution = NULL;
    ms_rows rows = {.struct_bytes = sizeof rows};
    assert_ok(ms_script_execute(script, 0, false, &execution, &st));
    ms_execution_close(execution);
    assert_ok(ms_script_execute(script, 1, false, &execution, &st));
    assert_false(ms_execution_is_bounded(execution));
    assert_ok(ms_execution_next(execution, -1, &rows, &st));
    assert_true(rows.count > 0);
    ms_engine_stop(h.engine);
    do {
        assert_ok(ms_execution_next(execution, -1, &rows, &st));
    } while (rows.count > 0);
    assert_ok(ms_execution_wait(execution, -1, &st));
    assert_true(ms_execution_was_stopped(execution));
    ms_execution_close(execution);
    ms_script_close(script);
    host_close(&h);
}

/* Runs a bounded INSERT and returns how many allocations it took. */
static uint64_t allocations_of(engine_host *h, uint32_t rows)
{
    char sql[512];
    snprintf(sql, sizeof sql,
             "CREATE TABLE g%u (i BIGINT, t STRING) WITH ('connector' = 'datagen', "
             "'number-of-rows' = '%u', 'rows-per-second' = '100000000', 'fields.t.length' = '20');"
             "CREATE TABLE b%u (i BIGINT, t STRING) WITH ('connector' = 'blackhole');"
             "INSERT INTO b%u SELECT i + 1, UPPER(t) FROM g%u WHERE i <> 7;",
             rows, rows, rows, rows, rows);
    uint64_t before = ms_mem_allocation_count();
    assert_sql(h, sql, "");
    return ms_mem_allocation_count() - before;
}

static void a_pipeline_allocates_nothing_for_its_rows(void **state)
{
    (void)state;
    ms_status st = {0};
    engine_host h;
    host_open(&h);
    assert_ok(ms_session_set(h.session, ms_str_lit("parallelism.default"), ms_str_lit("1"), &st));
    (void)allocations_of(&h, 1000);
    uint64_t few = allocations_of(&h, 10000);
    uint64_t many = allocations_of(&h, 400000);
    if (many > few + 100) {
        fail_msg("%llu allocations for 10,000 rows and %llu for 400,000", (unsigned long long)few,
                 (unsigned long long)many);
    }
    host_close(&h);
}

/* Waits, without reading, until so many rows have been read by the sources. */
static void let_read(const ms_execution *execution, uint64_t rows)
{
    ms_job_stats stats = {.struct_bytes = sizeof stats};
    while (stats.rows_read < rows) {
        sched_yield();
        ms_execution_stats(execution, &stats);
    }
}

/* The rows that are left are those at the front, in their order. */
static uint64_t read_numbers(ms_execution *execution)
{
    ms_status st = {0};
    uint64_t count = 0;
    ms_rows rows = {.struct_bytes = sizeof rows};
    for (;;) {
        assert_ok(ms_execution_next(execution, -1, &rows, &st));
        if (rows.count == 0) {
            return count;
        }
        for (uint32_t i = 0; i < rows.count; i++) {
            assert_int_equal(ms_rows_cell(execution, &rows, i, 0).i64, ++count);
        }
    }
}

#define FAST "'connector' = 'datagen', 'rows-per-second' = '1000000000'"
#define RESULT_ROWS 8192u /* that are read before the result is full */

/* A full result holds up whatever is behind it, also a barrier. */
static void a_stop_ends_a_query_that_nobody_reads(void **state)
{
    (void)state;
    static const struct {
        const char *sql;
        uint64_t rows; /* to be read first */
    } cases[] = {
        {"CREATE TABLE g (i BIGINT) WITH (" FAST ", 'fields.i.kind' = 'sequence', "
         "'fields.i.start' = '1', 'fields.i.end' = '1000000000'); SELECT i FROM g;",
         RESULT_ROWS},
        {"CREATE TABLE g (i BIGINT) WITH (" FAST ", 'fields.i.kind' = 'sequence', "
         "'fields.i.start' = '1', 'fields.i.end' = '100000'); SELECT i FROM g ORDER BY i;",
         100000},
        {"CREATE TABLE g (i BIGINT) WITH (" FAST "); SELECT i FROM g;", RESULT_ROWS},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        ms_status st = {0};
        engine_host h;
        host_open(&h);
        assert_ok(
            ms_session_set(h.session, ms_str_lit("millstream.batch.rows"), ms_str_lit("1"), &st));
        assert_ok(
            ms_session_set(h.session, ms_str_lit("parallelism.default"), ms_str_lit("1"), &st));
        ms_script *script = host_parse(&h, "s", cases[c].sql);
        ms_execution *execution = NULL;
        assert_ok(ms_script_execute(script, 0, false, &execution, &st));
        ms_execution_close(execution);
        assert_ok(ms_script_execute(script, 1, false, &execution, &st));
        let_read(execution, cases[c].rows);
        ms_engine_stop(h.engine);
        assert_ok(ms_execution_wait(execution, 60000, &st));
        assert_true(ms_execution_was_stopped(execution));
        if (ms_execution_is_bounded(execution)) {
            assert_true(read_numbers(execution) < 100000);
        }
        ms_execution_close(execution);
        ms_script_close(script);
        host_close(&h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_can_be_closed),
        scratch_test(an_open_engine_touches_no_file),
        scratch_test(options_of_an_older_caller_are_shorter),
        scratch_test(a_data_directory_has_one_owner),
        scratch_test(settings_without_effect_are_noticed),
        scratch_test(a_stop_ends_an_unbounded_query),
        scratch_test(a_stop_ends_a_query_that_nobody_reads),
        scratch_test(a_pipeline_allocates_nothing_for_its_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
