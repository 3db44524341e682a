/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and directories of jobs, and what a script does about unfinished ones.
 *
 *     DATA-DIR/checkpoints/<job>/    or --checkpoint-dir/<job>/
 */
#include "engine/engine_priv.h"

/* The last component of the script's path, without its ending. */
static ms_str script_stem(const ms_script *script)
{
    ms_str name = script->source.name;
    size_t start = 0;
    for (size_t i = 0; i < name.bytes; i++) {
        start = name.ptr[i] == '/' ? i + 1 : start;
    }
    ms_str stem = ms_str_slice(name, start, name.bytes);
    if (ms_str_ends_with(stem, ms_str_lit(".sql"))) {
        stem = ms_str_slice(stem, 0, stem.bytes - 4);
    }
    return stem;
}

/* Which INSERT or STATEMENT SET of the script this is, from 1. */
static uint32_t job_ordinal(const ms_script *script, uint32_t statement)
{
    uint32_t ordinal = 0;
    for (uint32_t i = 0; i <= statement; i++) {
        ordinal += msi_is_insert(script->ast->stmts[i]) ? 1 : 0;
    }
    return ordinal;
}

ms_str msi_job_name(const ms_script *script, uint32_t statement, ms_arena *arena)
{
    ms_option_value name = ms_settings_value(script->session->settings, MS_SETTING_JOB_NAME);
    ms_str base = name.has_value ? name.text : script_stem(script);
    if (!msi_is_insert(script->ast->stmts[statement])) {
        return ms_arena_format(arena, "%.*s-query", MS_STR_ARG(base));
    }
    uint32_t ordinal = job_ordinal(script, statement);
    if (name.has_value && script->job_count == 1) {
        return base;
    }
    return ms_arena_format(arena, "%.*s-%u", MS_STR_ARG(base), ordinal);
}

/* A job's name as one component of a path: what could leave the directory becomes "_". */
static ms_str safe_component(ms_str name, ms_arena *arena)
{
    ms_str copy = ms_arena_copy_str(arena, name);
    char *bytes = ms_arena_alloc(arena, copy.bytes + 1, 1);
    for (size_t i = 0; i < copy.bytes; i++) {
        char c = copy.ptr[i];
        bool is_bad = c == '/' || (unsigned char)c < 0x20 || (i == 0 && c == '.');
        bytes[i] = is_bad ? '_' : c;
    }
    bytes[copy.bytes] = '\0';
    return ms_str_make(bytes, copy.bytes);
}

ms_str msi_job_dir(const ms_script *script, uint32_t statement, ms_arena *arena)
{
    const ms_settings *settings = script->session->settings;
    ms_option_value dir = ms_settings_value(settings, MS_SETTING_CHECKPOINT_DIR);
    bool has_interval = ms_settings_value(settings, MS_SETTING_CHECKPOINT_INTERVAL).i64 > 0;
    if (!msi_is_insert(script->ast->stmts[statement]) || (!dir.has_value && !has_interval)) {
        return (ms_str){NULL, 0};
    }
    ms_str name = safe_component(msi_job_name(script, statement, arena), arena);
    if (dir.has_value) {
        return ms_arena_format(arena, "%.*s/%.*s", MS_STR_ARG(dir.text), MS_STR_ARG(name));
    }
    return ms_arena_format(arena, "%s/checkpoints/%.*s", script->session->engine->data_dir,
                           MS_STR_ARG(name));
}

static ms_rc begin_one(ms_script *script, uint32_t statement, ms_arena *arena, ms_status *st)
{
    ms_resume resume = script->session->resume;
    ms_str dir = msi_job_dir(script, statement, arena);
    if (dir.bytes == 0 || resume == MS_RESUME_YES) {
        return MS_OK;
    }
    ms_job_dir_info info;
    MS_TRY(ms_job_dir_probe(dir, &info, st));
    if (info.kind == MS_JOB_DIR_UNFINISHED && resume == MS_RESUME_ASK) {
        ms_str name = msi_job_name(script, statement, arena);
        ms_status_set(st, MS_RESUME_REQUIRED, script->ast->stmts[statement]->span,
                      "job \"%.*s\" did not finish and has checkpoint %llu", MS_STR_ARG(name),
                      (unsigned long long)info.checkpoint_id);
        return ms_status_hint(st, "Say --resume to go on from it, or --fresh to start anew.");
    }
    /* An unfinished one is removed by the job that starts anew, under its lock. */
    return info.kind == MS_JOB_DIR_COMPLETE ? ms_dir_remove(dir.ptr, st) : MS_OK;
}

ms_rc msi_script_begin(ms_script *script, ms_status *st)
{
    if (script->has_begun) {
        return MS_OK;
    }
    script->has_begun = true;
    /* Locked before it is looked at: what another run is busy with is not unfinished. */
    const ms_settings *settings = script->session->settings;
    bool uses_data_dir = !ms_settings_value(settings, MS_SETTING_CHECKPOINT_DIR).has_value &&
                         ms_settings_value(settings, MS_SETTING_CHECKPOINT_INTERVAL).i64 > 0;
    MS_TRY(uses_data_dir ? msi_engine_lock_data(script->session->engine, st) : MS_OK);
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_rc rc = MS_OK;
    for (uint32_t i = 0; rc == MS_OK && i < script->ast->stmt_count; i++) {
        rc = msi_is_insert(script->ast->stmts[i]) ? begin_one(script, i, &arena, st) : MS_OK;
    }
    ms_arena_release(&arena);
    return rc;
}

/* --resume is about a job: there must be checkpoints, and a name that is its own. */
static ms_rc check_resumable(const ms_script *script, uint32_t statement, ms_str dir, ms_status *st)
{
    const ms_settings *settings = script->session->settings;
    ms_span span = script->ast->stmts[statement]->span;
    if (dir.bytes == 0) {
        ms_status_set(st, MS_MISSING_OPTION, span, "a job without checkpoints cannot be resumed");
        return ms_status_hint(st, "Turn them on with --checkpoint-interval, as in the run before.");
    }
    if (ms_str_equals(script->source.name, ms_str_lit("-")) &&
        !ms_settings_value(settings, MS_SETTING_JOB_NAME).has_value) {
        ms_status_set(st, MS_MISSING_OPTION, span,
                      "a script from standard input has no name to resume a job by");
        return ms_status_hint(st, "Name it: SET 'pipeline.name' = '...'.");
    }
    return MS_OK;
}

static ms_rc find_complete(const ms_script *script, uint32_t statement, ms_arena *arena,
                           bool *complete_out, ms_status *st)
{
    ms_str dir = msi_job_dir(script, statement, arena);
    MS_TRY(check_resumable(script, statement, dir, st));
    ms_job_dir_info info = {.kind = MS_JOB_DIR_EMPTY};
    MS_TRY(ms_job_dir_probe(dir, &info, st));
    *complete_out = info.kind == MS_JOB_DIR_COMPLETE;
    return MS_OK;
}

ms_rc msi_job_is_complete(const ms_script *script, uint32_t statement, bool *complete_out,
                          ms_status *st)
{
    *complete_out = false;
    if (script->session->resume != MS_RESUME_YES) {
        return MS_OK;
    }
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_rc rc = find_complete(script, statement, &arena, complete_out, st);
    ms_arena_release(&arena);
    return rc;
}
