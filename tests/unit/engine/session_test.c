/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions: settings, variables, and that one knows nothing of another.
 */
#include "engine/engine_host.h"

static void a_set_of_a_script_hides_that_of_a_flag(void **state)
{
    (void)state;
    ms_status st = {0};
    engine_host h;
    host_open(&h);
    assert_ok(ms_session_set(h.session, ms_str_lit("pipeline.name"), ms_str_lit("flag"), &st));
    ms_option_value value = ms_settings_value(h.session->settings, MS_SETTING_JOB_NAME);
    assert_str_equal(value.text, "flag");
    assert_sql(&h, "SET 'pipeline.name' = 'script';", "");
    assert_ok(ms_session_set(h.session, ms_str_lit("pipeline.name"), ms_str_lit("late"), &st));
    value = ms_settings_value(h.session->settings, MS_SETTING_JOB_NAME);
    assert_str_equal(value.text, "script");
    assert_sql(&h, "RESET 'pipeline.name';", "");
    host_close(&h);
}

static void wrong_settings_are_refused(void **state)
{
    (void)state;
    engine_host h;
    host_open(&h);
    assert_int_equal(ms_session_set(h.session, ms_str_lit("pipeline.nam"), ms_str_lit("x"), &h.st),
                     MS_UNKNOWN_OPTION);
    assert_non_null(strstr(h.st.hint, "pipeline.name"));
    ms_status_clear(&h.st);
    assert_int_equal(
        ms_session_set(h.session, ms_str_lit("parallelism.default"), ms_str_lit("x"), &h.st),
        MS_INVALID_OPTION);
    host_close(&h);
}

static void variables_stand_in_scripts_opened_later(void **state)
{
    (void)state;
    ms_status st = {0};
    engine_host h;
    host_open(&h);
    assert_ok(ms_session_define(h.session, ms_str_lit("N_1"), ms_str_lit("41"), &st));
    assert_sql(&h, "SELECT ${N_1} + 1 AS a;", "a\n42\n");
    static const char *const wrong[] = {"", "1a", "a-b", "a b"};
    for (size_t i = 0; i < 4; i++) {
        ms_status_clear(&st);
        assert_int_equal(ms_session_define(h.session, ms_str_cstr(wrong[i]), ms_str_lit("x"), &st),
                         MS_INVALID_ARGUMENT);
    }
    ms_rc rc = MS_OK;
    ms_status_clear(&st);
    for (uint32_t i = 0; i < 100000 && rc == MS_OK; i++) {
        rc = ms_session_define(h.session, ms_str_lit("V"), ms_str_lit("x"), &st);
    }
    assert_int_equal(rc, MS_LIMIT);
    host_close(&h);
}

static void sessions_do_not_share_tables(void **state)
{
    (void)state;
    engine_host h;
    host_open(&h);
    assert_sql(&h, "CREATE TABLE t (a INT) WITH ('connector' = 'blackhole');SHOW TABLES;",
               "table name\nt\n");
    ms_session *first = h.session;
    ms_status st = {0};
    assert_ok(ms_session_open(h.engine, &h.session, &st));
    assert_sql(&h, "SHOW TABLES;", "table name\n");
    ms_session_close(first);
    host_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(a_set_of_a_script_hides_that_of_a_flag),
        scratch_test(wrong_settings_are_refused),
        scratch_test(variables_stand_in_scripts_opened_later),
        scratch_test(sessions_do_not_share_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
