/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names and directories of jobs, and what a script does about unfinished ones.
 *
 *     DATA-DIR/checkpoints/<job>/    or --checkpoint-dir/<job>/
 *
 * Each of them has a lock. The one of the data directory is the embedded store's, so that jobs of
 * other names run beside this process, and beside a server that holds the store.
 */
#include "engine/engine_priv.h"

#include <inttypes.h>

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

bool msi_job_has_name(const ms_script *script)
{
    const ms_settings *settings = script->session->settings;
    return !ms_str_equals(script->source.name, ms_str_lit("-")) ||
           ms_settings_value(settings, MS_SETTING_JOB_NAME).has_value;
}

static bool is_plain(char c, bool is_first)
{
    unsigned char byte = (unsigned char)c;
    return byte >= 0x20 && byte != 0x7f && c != '/' && c != '%' && !(c == '.' && is_first);
}

/* A job's name as one component of a path: what could leave the directory, hide it or garble a
 * terminal becomes %XX, and so does "%", so that two names never share a directory. */
static ms_str component(ms_str name, ms_arena *arena)
{
    static const char digits[] = "0123456789ABCDEF";
    char *bytes = ms_arena_alloc(arena, name.bytes * 3 + 1, 1);
    size_t at = 0;
    for (size_t i = 0; i < name.bytes; i++) {
        unsigned char byte = (unsigned char)name.ptr[i];
        if (is_plain(name.ptr[i], i == 0)) {
            bytes[at++] = name.ptr[i];
        } else {
            bytes[at++] = '%';
            bytes[at++] = digits[byte >> 4];
            bytes[at++] = digits[byte & 15];
        }
    }
    bytes[at] = '\0';
    return ms_str_make(bytes, at);
}

/* The directory that the user gave; empty when it is the one in the data directory. */
static ms_str given_dir(const ms_script *script)
{
    return ms_settings_value(script->session->settings, MS_SETTING_CHECKPOINT_DIR).text;
}

/* True when the user asks for checkpoints, by an interval or a directory. */
static bool wants_checkpoints(const ms_script *script)
{
    const ms_settings *settings = script->session->settings;
    return given_dir(script).bytes > 0 ||
           ms_settings_value(settings, MS_SETTING_CHECKPOINT_INTERVAL).i64 > 0;
}

/* Where the checkpoints of a job are, were or would be. */
static ms_str place_of(const ms_script *script, uint32_t statement, ms_arena *arena)
{
    ms_str name = component(msi_job_name(script, statement, arena), arena);
    ms_str dir = given_dir(script);
    MS_ASSERT(name.bytes > 0); /* an empty pipeline.name is refused, other names have an ordinal */
    if (dir.bytes > 0) {
        return ms_arena_format(arena, "%.*s/%.*s", MS_STR_ARG(dir), MS_STR_ARG(name));
    }
    return ms_arena_format(arena, "%s/checkpoints/%.*s", script->session->engine->data_dir,
                           MS_STR_ARG(name));
}

/* Locks. */

/* A directory that the script holds for a job which it is going to start. */
struct msi_job_lock {
    msi_job_lock *next;
    ms_str dir;
    ms_lockfile *lock; /* NULL: a job has it now, or had it */
};

static msi_job_lock *find_lock(const ms_script *script, ms_str dir)
{
    msi_job_lock *at = script->locks->first;
    while (at != NULL && !ms_str_equals(at->dir, dir)) {
        at = at->next;
    }
    return at;
}

/* Locks the directory of a statement's job, from before the first look at it until the job has it
 * or the script is closed. */
static ms_rc lock_dir(const ms_script *script, uint32_t statement, ms_str dir, ms_status *st)
{
    msi_job_lock *held = find_lock(script, dir);
    if (held != NULL && held->lock != NULL) {
        return MS_OK;
    }
    ms_lockfile *lock = NULL;
    if (ms_job_dir_lock(dir, &lock, st) != MS_OK) {
        st->span = script->ast->stmts[statement]->span;
        return st->code;
    }
    if (held == NULL) {
        held = ms_arena_new(script->locks->arena, msi_job_lock);
        *held = (msi_job_lock){.next = script->locks->first,
                               .dir = ms_arena_copy_str(script->locks->arena, dir)};
        script->locks->first = held;
    }
    held->lock = lock;
    return MS_OK;
}

/* Hands over the lock of a directory; NULL when it is not held. */
static ms_lockfile *take_lock(const ms_script *script, ms_str dir)
{
    msi_job_lock *held = find_lock(script, dir);
    if (held == NULL) {
        return NULL;
    }
    ms_lockfile *lock = held->lock;
    held->lock = NULL;
    return lock;
}

void msi_job_locks_release(msi_job_locks *locks)
{
    for (msi_job_lock *at = locks->first; at != NULL; at = at->next) {
        ms_lockfile_destroy(at->lock);
    }
    locks->first = NULL;
}

/* What earlier runs left. */

/* Locks a directory that is there; one that is not is made by its job. */
static ms_rc lock_existing(const ms_script *script, uint32_t statement, ms_str dir, bool *found_out,
                           ms_status *st)
{
    ms_file_info info;
    MS_TRY(ms_file_stat(dir.ptr, &info, st));
    *found_out = info.kind != MS_FILE_KIND_NONE;
    return *found_out ? lock_dir(script, statement, dir, st) : MS_OK;
}

/* Locked before it is looked at, since what another run is busy with is not unfinished. */
static ms_rc probe(const ms_script *script, uint32_t statement, ms_str dir,
                   ms_job_dir_info *info_out, ms_status *st)
{
    bool is_there = false;
    *info_out = (ms_job_dir_info){.kind = MS_JOB_DIR_EMPTY};
    MS_TRY(lock_existing(script, statement, dir, &is_there, st));
    return is_there ? ms_job_dir_probe(dir, info_out, st) : MS_OK;
}

ms_rc msi_job_dir(const ms_script *script, uint32_t statement, ms_arena *arena, ms_str *dir_out,
                  ms_lockfile **lock_out, ms_status *st)
{
    *dir_out = (ms_str){NULL, 0};
    *lock_out = NULL;
    if (!msi_is_insert(script->ast->stmts[statement])) {
        return MS_OK;
    }
    ms_str dir = place_of(script, statement, arena);
    ms_job_dir_info info = {.kind = MS_JOB_DIR_EMPTY};
    MS_TRY(probe(script, statement, dir, &info, st));
    if (wants_checkpoints(script) || info.kind == MS_JOB_DIR_UNFINISHED) {
        *dir_out = dir;
        *lock_out = take_lock(script, dir);
    }
    return MS_OK;
}

/* The directories to be forgotten when the whole script has been looked at. */
typedef struct old_jobs {
    ms_arena arena;
    ms_str *dirs;
    uint32_t count;
} old_jobs;

static ms_rc refuse_unfinished(const ms_script *script, uint32_t statement, ms_arena *arena,
                               uint64_t checkpoint, ms_status *st)
{
    ms_str name = msi_job_name(script, statement, arena);
    ms_status_set(st, MS_RESUME_REQUIRED, script->ast->stmts[statement]->span,
                  "job \"%.*s\" did not finish and has checkpoint %" PRIu64, MS_STR_ARG(name),
                  checkpoint);
    return ms_status_hint(st, "Say --resume to go on from it, or --fresh to start anew.");
}

/* Of a plain or fresh run. */
static ms_rc visit_job(void *arg, const ms_script *ahead, uint32_t statement, ms_status *st)
{
    old_jobs *old = arg;
    ms_str dir = place_of(ahead, statement, &old->arena);
    bool is_old = false;
    if (ahead->session->resume == MS_RESUME_FRESH) {
        /* Also what cannot be read. */
        MS_TRY(lock_existing(ahead, statement, dir, &is_old, st));
    } else {
        ms_job_dir_info info = {.kind = MS_JOB_DIR_EMPTY};
        MS_TRY(probe(ahead, statement, dir, &info, st));
        if (info.kind == MS_JOB_DIR_UNFINISHED) {
            return refuse_unfinished(ahead, statement, &old->arena, info.checkpoint_id, st);
        }
        is_old = info.kind == MS_JOB_DIR_COMPLETE;
    }
    if (is_old) {
        old->dirs[old->count++] = dir;
    }
    return MS_OK;
}

static ms_rc begin_anew(ms_script *script, uint32_t statement, ms_status *st)
{
    old_jobs old = {.count = 0};
    ms_arena_init(&old.arena, 0);
    old.dirs = ms_arena_array(&old.arena, ms_str, script->job_count);
    ms_rc rc = msi_script_look_ahead(script, statement, visit_job, &old, st);
    for (uint32_t i = 0; rc == MS_OK && i < old.count; i++) {
        rc = ms_job_dir_clear(old.dirs[i], st);
    }
    ms_arena_release(&old.arena);
    return rc;
}

/* Of a resumed run: whether there is anything to go on from. */
static ms_rc find_history(ms_script *script, ms_status *st)
{
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_rc rc = MS_OK;
    for (uint32_t i = 0; rc == MS_OK && i < script->ast->stmt_count; i++) {
        if (msi_is_insert(script->ast->stmts[i])) {
            ms_job_dir_info info = {.kind = MS_JOB_DIR_EMPTY};
            rc = probe(script, i, place_of(script, i, &arena), &info, st);
            script->has_history |= info.kind != MS_JOB_DIR_EMPTY;
        }
    }
    ms_arena_release(&arena);
    return rc;
}

ms_rc msi_script_begin(ms_script *script, uint32_t statement, ms_status *st)
{
    if (script->has_begun) {
        return MS_OK;
    }
    script->has_begun = true;
    return script->session->resume == MS_RESUME_YES ? find_history(script, st)
                                                    : begin_anew(script, statement, st);
}

ms_rc msi_job_begin(const ms_script *script, uint32_t statement, ms_status *st)
{
    if (script->session->resume != MS_RESUME_FRESH) {
        return MS_OK;
    }
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_str dir = place_of(script, statement, &arena);
    bool is_old = false;
    ms_rc rc = lock_existing(script, statement, dir, &is_old, st);
    rc = rc == MS_OK && is_old ? ms_job_dir_clear(dir, st) : rc;
    ms_arena_release(&arena);
    return rc;
}

/* --resume is about a job: there must be something to go on from, or checkpoints to go on from next
 * time, and a name that is its own. */
static ms_rc check_resumable(const ms_script *script, uint32_t statement, ms_status *st)
{
    ms_span span = script->ast->stmts[statement]->span;
    if (!wants_checkpoints(script) && !script->has_history) {
        ms_status_set(st, MS_MISSING_OPTION, span,
                      "there is no checkpoint to resume from, and checkpoints are off");
        return ms_status_hint(st, "Turn them on with --checkpoint-interval, as in the run before.");
    }
    if (!msi_job_has_name(script)) {
        ms_status_set(st, MS_MISSING_OPTION, span,
                      "a script from standard input has no name to resume a job by");
        return ms_status_hint(st, "Name it: SET 'pipeline.name' = '...'.");
    }
    return MS_OK;
}

static ms_rc find_complete(const ms_script *script, uint32_t statement, ms_arena *arena,
                           bool *complete_out, ms_status *st)
{
    MS_TRY(check_resumable(script, statement, st));
    ms_job_dir_info info = {.kind = MS_JOB_DIR_EMPTY};
    MS_TRY(probe(script, statement, place_of(script, statement, arena), &info, st));
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
