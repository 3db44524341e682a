/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An engine in a scratch directory with one session, and scripts whose output is text.
 */
#ifndef MS_TESTS_UNIT_ENGINE_ENGINE_HOST_H
#define MS_TESTS_UNIT_ENGINE_ENGINE_HOST_H

#include "engine/engine_priv.h"
#include "os/scratch_dir.h"

typedef struct engine_host {
    ms_status st;
    ms_engine *engine;
    ms_session *session;
    ms_result_format format;
    ms_buf out;
    char notices[1024];
} engine_host;

static inline void host_notice(void *arg, bool is_essential, const ms_status *notice)
{
    engine_host *h = arg;
    size_t at = strlen(h->notices);
    snprintf(h->notices + at, sizeof h->notices - at, "%s%s%s%s\n", is_essential ? "! " : "",
             notice->code != MS_OK ? ms_rc_name(notice->code) : "",
             notice->code != MS_OK ? ": " : "", notice->message);
}

static inline bool host_write(void *arg, ms_str bytes)
{
    engine_host *h = arg;
    ms_status st = {0};
    return ms_buf_append(&h->out, bytes, &st) == MS_OK;
}

static inline void host_open(engine_host *h)
{
    *h = (engine_host){.format = MS_RESULT_CSV};
    ms_buf_init(&h->out, 1u << 24);
    ms_engine_options options = {.struct_bytes = sizeof options,
                                 .data_dir = path_of("data"),
                                 .workers = 2,
                                 .notice = host_notice,
                                 .notice_arg = h};
    ms_status st = {0};
    assert_ok(ms_engine_open(&options, &h->engine, &st));
    assert_ok(ms_session_open(h->engine, &h->session, &st));
    assert_ok(
        ms_session_set(h->session, ms_str_lit("table.local-time-zone"), ms_str_lit("UTC"), &st));
    assert_ok(ms_session_define(h->session, ms_str_lit("DIR"), ms_str_cstr(scratch_dir), &st));
}

static inline void host_close(engine_host *h)
{
    ms_session_close(h->session);
    ms_engine_close(h->engine);
    ms_buf_release(&h->out);
}

static inline ms_script *host_parse(engine_host *h, const char *name, const char *sql)
{
    ms_script *script = NULL;
    ms_status st = {0};
    assert_ok(ms_script_open(h->session, ms_str_cstr(name), ms_str_cstr(sql), &script, &st));
    assert_ok(ms_script_parse(script, &st));
    return script;
}

/* Runs all statements; what has rows is printed into h->out. */
static inline ms_rc host_run_script(engine_host *h, ms_script *script)
{
    ms_rc rc = MS_OK;
    ms_status_clear(&h->st);
    for (uint32_t i = 0; rc == MS_OK && i < ms_script_statement_count(script); i++) {
        ms_execution *execution = NULL;
        rc = ms_script_execute(script, i, false, &execution, &h->st);
        if (rc == MS_OK && ms_execution_has_rows(execution)) {
            ms_print_options print = {sizeof print, h->format, host_write, h};
            rc = ms_execution_print(execution, &print, &h->st);
        }
        rc = rc == MS_OK ? ms_execution_wait(execution, -1, &h->st) : rc;
        ms_execution_close(execution);
    }
    return rc;
}

static inline ms_rc host_sql(engine_host *h, const char *sql)
{
    ms_script *script = host_parse(h, "dir/script.sql", sql);
    ms_buf_reset(&h->out);
    ms_rc rc = host_run_script(h, script);
    ms_script_close(script);
    return rc;
}

#define assert_sql(h, sql, expected)                                                               \
    do {                                                                                           \
        if (host_sql((h), (sql)) != MS_OK) {                                                       \
            fail_msg("%s: %s (%s)", (sql), (h)->st.message, (h)->st.detail);                       \
        }                                                                                          \
        assert_str_equal(ms_buf_view(&(h)->out), expected);                                        \
    } while (0)

#endif
