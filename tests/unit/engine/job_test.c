/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and directories of jobs, and what a finished one leaves.
 */
#include "engine/engine_host.h"

#define TWO_INSERTS                                                                                \
    "CREATE TABLE b (i INT) WITH ('connector' = 'blackhole');"                                     \
    "INSERT INTO b VALUES (1); SELECT 1; INSERT INTO b VALUES (2);"

static void check_name(engine_host *h, const char *script_name, const char *sql, uint32_t statement,
                       const char *name, const char *dir)
{
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_script *script = host_parse(h, script_name, sql);
    assert_str_equal(msi_job_name(script, statement, &arena), name);
    ms_status st = {0};
    ms_str got = {NULL, 0};
    ms_lockfile *lock = NULL;
    assert_ok(msi_job_dir(script, statement, &arena, &got, &lock, &st));
    assert_null(lock); /* nothing is there to be locked */
    if (dir == NULL) {
        assert_int_equal(got.bytes, 0);
    } else {
        assert_str_equal(got, path_of(dir));
    }
    ms_script_close(script);
    ms_arena_release(&arena);
}

static void set(engine_host *h, const char *key, const char *value)
{
    ms_status st = {0};
    assert_ok(ms_session_set(h->session, ms_str_cstr(key), ms_str_cstr(value), &st));
}

static void a_job_is_named_after_its_script_and_place(void **state)
{
    (void)state;
    engine_host h;
    host_open(&h);
    check_name(&h, "a/b/jobs.sql", TWO_INSERTS, 1, "jobs-1", NULL);
    check_name(&h, "a/b/jobs.sql", TWO_INSERTS, 3, "jobs-2", NULL);
    check_name(&h, "a/b/jobs.sql", TWO_INSERTS, 2, "jobs-query", NULL);
    set(&h, "execution.checkpointing.interval", "10 s");
    check_name(&h, "jobs", TWO_INSERTS, 3, "jobs-2", "data/checkpoints/jobs-2");
    check_name(&h, "jobs", TWO_INSERTS, 2, "jobs-query", NULL);
    set(&h, "execution.checkpointing.dir", path_of("cp"));
    check_name(&h, ".hidden", TWO_INSERTS, 1, ".hidden-1", "cp/%2Ehidden-1");
    set(&h, "pipeline.name", "../x");
    check_name(&h, "jobs", TWO_INSERTS, 1, "../x-1", "cp/%2E.%2Fx-1");
    check_name(&h, "jobs", "INSERT INTO b VALUES (1);", 0, "../x", "cp/%2E.%2Fx");
    host_close(&h);
}

static void a_finished_job_is_not_run_again_when_resumed(void **state)
{
    (void)state;
    engine_host h;
    const char *sql = "CREATE TABLE f (i INT) WITH ('connector' = 'filesystem', 'path' = "
                      "'${DIR}/f', 'format' = 'csv');"
                      "INSERT INTO f VALUES (1), (2);SELECT COUNT(*) AS n FROM f;";
    host_open(&h);
    set(&h, "execution.checkpointing.dir", path_of("cp"));
    set(&h, "execution.checkpointing.interval", "10 s");
    assert_sql(&h, sql, "n\n2\n");
    host_close(&h);
    host_open(&h);
    set(&h, "execution.checkpointing.dir", path_of("cp"));
    set(&h, "execution.checkpointing.interval", "10 s");
    ms_session_set_resume(h.session, MS_RESUME_YES);
    assert_sql(&h, sql, "n\n2\n");
    host_close(&h);
    host_open(&h);
    set(&h, "execution.checkpointing.dir", path_of("cp"));
    set(&h, "execution.checkpointing.interval", "10 s");
    assert_sql(&h, sql, "n\n4\n");
    host_close(&h);
}

static void only_what_jobs_wrote_is_forgotten(void **state)
{
    (void)state;
    engine_host h;
    const char *sql = "CREATE TABLE b (i INT) WITH ('connector' = 'blackhole');"
                      "INSERT INTO b VALUES (1);";
    const char *const names[] = {"cp/script-1/notes", "cp/script-1/state-of-things",
                                 "cp/script-1/manifest-1"};
    ms_status st = {0};
    assert_ok(ms_dir_create(path_of("cp/script-1"), &st));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_ok(ms_file_replace(path_of(names[i]), ms_str_lit("kept"), &st));
    }
    const ms_resume modes[] = {MS_RESUME_ASK, MS_RESUME_ASK, MS_RESUME_FRESH, MS_RESUME_YES};
    for (size_t run = 0; run < sizeof modes / sizeof *modes; run++) {
        host_open(&h);
        set(&h, "execution.checkpointing.dir", path_of("cp"));
        ms_session_set_resume(h.session, modes[run]);
        assert_sql(&h, sql, "");
        host_close(&h);
    }
    ms_file_info info;
    assert_ok(ms_file_stat(path_of("cp/script-1/progress"), &info, &st));
    assert_int_equal(info.kind, MS_FILE_KIND_FILE);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_ok(ms_file_stat(path_of(names[i]), &info, &st));
        assert_int_equal(info.kind, MS_FILE_KIND_FILE);
    }
}

static void a_plain_run_without_checkpoints_makes_no_directory(void **state)
{
    (void)state;
    engine_host h;
    const char *sql = "CREATE TABLE IF NOT EXISTS b (i INT) WITH ('connector' = 'blackhole');"
                      "INSERT INTO b VALUES (1);";
    ms_status st = {0};
    ms_file_info info;
    host_open(&h);
    assert_sql(&h, sql, "");
    ms_session_set_resume(h.session, MS_RESUME_FRESH);
    assert_sql(&h, sql, "");
    ms_session_set_resume(h.session, MS_RESUME_YES);
    assert_int_equal(host_sql(&h, sql), MS_MISSING_OPTION);
    host_close(&h);
    assert_ok(ms_file_stat(path_of("data"), &info, &st));
    assert_int_equal(info.kind, MS_FILE_KIND_NONE);
}

/* The statement is run to its end. */
static bool can_resume(ms_script *script, uint32_t statement)
{
    ms_status st = {0};
    ms_execution *execution = NULL;
    assert_ok(ms_script_execute(script, statement, false, &execution, &st));
    assert_ok(ms_execution_wait(execution, -1, &st));
    bool can = ms_execution_can_resume(execution);
    ms_execution_close(execution);
    return can;
}

static void a_job_can_be_resumed_when_it_left_a_checkpoint_under_a_name(void **state)
{
    (void)state;
    engine_host h;
    host_open(&h);
    ms_script *script = host_parse(&h, "jobs.sql", TWO_INSERTS);
    ms_script *nameless = host_parse(&h, "-", TWO_INSERTS);
    assert_false(can_resume(script, 0)); /* no job */
    assert_false(can_resume(script, 1)); /* checkpoints are off */
    set(&h, "execution.checkpointing.interval", "10 s");
    assert_true(can_resume(script, 1));
    assert_false(can_resume(script, 2)); /* a query */
    assert_false(can_resume(nameless, 1));
    ms_session_set_resume(h.session, MS_RESUME_YES);
    assert_true(can_resume(script, 1)); /* skipped: it has ended before */
    set(&h, "pipeline.name", "it");
    assert_true(can_resume(nameless, 3));
    ms_script_close(script);
    ms_script_close(nameless);
    host_close(&h);
}

/* A script with two jobs, whose directories are there from a run before, is in the middle of them:
 * what it saw must hold until it has started the second. */
static void jobs_that_a_script_has_before_it_are_its_own(void **state)
{
    (void)state;
    engine_host h;
    engine_host other;
    host_open(&h);
    set(&h, "execution.checkpointing.interval", "10 s");
    assert_sql(&h, TWO_INSERTS, "EXPR$0\n1\n");
    ms_script *script = host_parse(&h, "script.sql", TWO_INSERTS);
    ms_status st = {0};
    for (uint32_t i = 1; i < 4; i++) {
        /* Another process, or another session: the lock is the directory's. */
        host_open(&other);
        set(&other, "execution.checkpointing.interval", "10 s");
        ms_session_set_resume(other.session, i == 1 ? MS_RESUME_FRESH : MS_RESUME_ASK);
        assert_int_equal(host_sql(&other, TWO_INSERTS), i == 1 ? MS_OK : MS_JOB_RUNNING);
        assert_int_equal(other.st.span.start, i == 1 ? 0 : strlen(TWO_INSERTS) - 25);
        host_close(&other);
        ms_execution *execution = NULL;
        assert_ok(ms_script_execute(script, i, false, &execution, &st));
        if (i != 2) {
            assert_ok(ms_execution_wait(execution, -1, &st));
        }
        ms_execution_close(execution);
    }
    ms_script_close(script);
    host_open(&other);
    set(&other, "execution.checkpointing.interval", "10 s");
    assert_sql(&other, TWO_INSERTS, "EXPR$0\n1\n");
    host_close(&other);
    host_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(a_job_is_named_after_its_script_and_place),
        scratch_test(a_finished_job_is_not_run_again_when_resumed),
        scratch_test(only_what_jobs_wrote_is_forgotten),
        scratch_test(a_plain_run_without_checkpoints_makes_no_directory),
        scratch_test(a_job_can_be_resumed_when_it_left_a_checkpoint_under_a_name),
        scratch_test(jobs_that_a_script_has_before_it_are_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
