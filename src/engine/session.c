/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions: a catalog, settings and variables.
 */
#include "engine/engine_priv.h"

#include "base/limits.h"
#include "type/zone.h"

ms_rc ms_session_open(ms_engine *engine, ms_session **session_out, ms_status *st)
{
    (void)st; /* nothing can fail yet */
    ms_session *session = ms_mem_calloc(1, sizeof *session);
    session->engine = engine;
    session->catalog = ms_catalog_create();
    session->settings = ms_settings_create();
    ms_arena_init(&session->arena, 0);
    *session_out = session;
    return MS_OK;
}

void ms_session_close(ms_session *session)
{
    if (session == NULL) {
        return;
    }
    ms_catalog_destroy(session->catalog);
    ms_settings_destroy(session->settings);
    ms_arena_release(&session->arena);
    ms_mem_free(session);
}

bool msi_setting_warning(ms_set_note note, ms_str key, ms_span span, ms_status *warning_out)
{
    *warning_out = (ms_status){0};
    switch (note) {
    case MS_SET_NO_EFFECT:
        ms_status_set(warning_out, MS_SETTING_WITHOUT_EFFECT, span,
                      "setting \"%.*s\" has no effect here", MS_STR_ARG(key));
        ms_status_hint(warning_out, "Leave it out of a script that need not run on Apache Flink.");
        return true;
    case MS_SET_MISSPELT:
        ms_status_set(warning_out, MS_SETTING_MISSPELT, span,
                      "setting \"%.*s\" is not known, and kept for functions only",
                      MS_STR_ARG(key));
        ms_status_hint(warning_out, "Did you mean \"%s\"?", ms_setting_nearest(key));
        return true;
    case MS_SET_KNOWN:
    case MS_SET_PARAMETER:
        break;
    }
    return false;
}

ms_rc ms_session_set(ms_session *session, ms_str key, ms_str value, ms_status *st)
{
    ms_set_note note;
    ms_status warning;
    MS_TRY(ms_settings_set(session->settings, MS_SET_BY_FLAG, key, value, ms_span_none,
                           ms_span_none, &note, st));
    if (msi_setting_warning(note, key, ms_span_none, &warning)) {
        msi_engine_notice(session->engine, false, &warning);
    }
    return MS_OK;
}

static bool is_name(ms_str name)
{
    for (size_t i = 0; i < name.bytes; i++) {
        char c = name.ptr[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!is_letter && (i == 0 || c < '0' || c > '9')) {
            return false;
        }
    }
    return name.bytes > 0;
}

ms_rc ms_session_define(ms_session *session, ms_str name, ms_str value, ms_status *st)
{
    if (!is_name(name)) {
        ms_status_set(st, MS_INVALID_ARGUMENT, ms_span_none, "\"%.*s\" is no name of a variable",
                      MS_STR_ARG(name));
        return ms_status_hint(st, "Use letters, digits and underscores, no digit first.");
    }
    if (session->variable_count == MS_LIMIT_VARIABLES) {
        return ms_status_set(st, MS_LIMIT, ms_span_none, "more than %u variables",
                             MS_LIMIT_VARIABLES);
    }
    if (session->variables == NULL) {
        session->variables = ms_arena_array(&session->arena, ms_variable, MS_LIMIT_VARIABLES);
    }
    session->variables[session->variable_count++] = (ms_variable){
        ms_arena_copy_str(&session->arena, name), ms_arena_copy_str(&session->arena, value)};
    return MS_OK;
}

void ms_session_set_resume(ms_session *session, ms_resume resume)
{
    session->resume = resume;
}

void ms_session_set_changelog(ms_session *session, bool changelog)
{
    session->changelog = changelog;
}

ms_str msi_session_zone(const ms_session *session, ms_arena *arena)
{
    ms_option_value zone = ms_settings_value(session->settings, MS_SETTING_LOCAL_TIME_ZONE);
    return zone.has_value ? zone.text : ms_zone_host_name(arena);
}
