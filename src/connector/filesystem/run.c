/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs, and whose hidden parts are whose. A process that is killed leaves the parts that it has not
 * committed. Who may remove them?
 *
 *   - A job with checkpoints may be resumed, and then commits those that its checkpoint covers. So
 *     only the job itself removes the others, when it starts: its tag is made of its checkpoint
 *     directory, which one job at a time has.
 *   - Nobody goes on from a job without checkpoints. It holds a lock in the directory as long as it
 *     lasts, and the kernel lets go of it when the process ends, however it ends. Whoever gets the
 *     lock of a run removes its parts, then the lock.
 *
 * Parts of a run without a lock, which are none of this job's, are left alone.
 */
#include "connector/filesystem/filesystem_priv.h"

#include "type/hash.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define LOCK_SUFFIX ".lock"
#define HOLD_TRIES 3 /* somebody who removes what was abandoned may be quicker than we are */

/* Names. */

/* A relative directory means another one in another working directory. */
static uint64_t hash_dir(ms_str dir)
{
    char here[MSI_FS_PATH_BYTES];
    bool is_relative = dir.bytes > 0 && dir.ptr[0] != '/';
    if (!is_relative || getcwd(here, sizeof here) == NULL) {
        return ms_hash_bytes(dir);
    }
    return ms_hash_mix(ms_hash_bytes(ms_str_cstr(here)) + ms_hash_bytes(dir));
}

msi_fs_run msi_fs_run_of(const ms_sink *sink, const ms_task_env *env)
{
    uint64_t tag = ms_hash_mix(ms_hash_bytes(env->job_name) + sink->id);
    tag = ms_hash_mix(tag + hash_dir(env->checkpoint_dir));
    msi_fs_run run;
    int bytes = snprintf(run.text, sizeof run.text, "%016" PRIx64 "%08" PRIx64, tag,
                         ms_hash_mix(env->run_id) >> 32);
    MS_ASSERT(bytes == (int)MSI_FS_RUN_DIGITS);
    return run;
}

static void lock_path(const char *dir, const msi_fs_run *run, char path_out[MSI_FS_PATH_BYTES])
{
    /* Directories are shorter than paths by more than a name: resolve_path sees to it. */
    snprintf(path_out, MSI_FS_PATH_BYTES, "%s/" MSI_FS_HIDDEN_PREFIX "%s" LOCK_SUFFIX, dir,
             run->text);
}

/* True for the name of a lock, to its last byte. */
static bool read_lock_name(ms_str name, msi_fs_run *run_out)
{
    size_t prefix = strlen(MSI_FS_HIDDEN_PREFIX);
    ms_str digits = ms_str_slice(name, prefix, prefix + MSI_FS_RUN_DIGITS);
    ms_str suffix = ms_str_slice(name, prefix + MSI_FS_RUN_DIGITS, SIZE_MAX);
    if (!ms_str_starts_with(name, ms_str_lit(MSI_FS_HIDDEN_PREFIX)) ||
        digits.bytes != MSI_FS_RUN_DIGITS || !ms_str_equals(suffix, ms_str_lit(LOCK_SUFFIX))) {
        return false;
    }
    for (size_t i = 0; i < digits.bytes; i++) {
        char c = digits.ptr[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) {
            return false;
        }
        run_out->text[i] = c;
    }
    run_out->text[MSI_FS_RUN_DIGITS] = '\0';
    return true;
}

/* Parts. */

static ms_rc remove_listed(const char *dir, ms_str start, ms_arena *arena, ms_status *st)
{
    ms_str prefix = ms_arena_format(arena, MSI_FS_HIDDEN_PREFIX "%.*s", MS_STR_ARG(start));
    const ms_dir_entry *entries = NULL;
    size_t count = 0;
    MS_TRY(ms_dir_list(dir, arena, &entries, &count, st));
    for (size_t i = 0; i < count; i++) {
        if (ms_str_starts_with(entries[i].name, prefix) &&
            ms_str_ends_with(entries[i].name, ms_str_lit(MSI_FS_HIDDEN_SUFFIX))) {
            ms_str path = ms_arena_format(arena, "%s/%.*s", dir, MS_STR_ARG(entries[i].name));
            MS_TRY(ms_file_remove(path.ptr, st));
        }
    }
    return MS_OK;
}

ms_rc msi_fs_remove_parts(const char *dir, ms_str start, ms_status *st)
{
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_rc rc = remove_listed(dir, start, &arena, st);
    ms_arena_release(&arena);
    return rc;
}

/* Locks. */

static bool is_there(const char *path)
{
    ms_status unused = {0};
    ms_file_info info = {.kind = MS_FILE_KIND_NONE};
    return ms_file_stat(path, &info, &unused) == MS_OK && info.kind == MS_FILE_KIND_FILE;
}

static void remove_file(const char *path)
{
    ms_status unused = {0};
    ms_rc rc = ms_file_remove(path, &unused);
    (void)rc; /* a small hidden file stays */
}

/* NULL: somebody holds it, or it cannot be had. */
static ms_lockfile *take(const char *path, ms_rc *rc_out)
{
    ms_status unused = {0};
    ms_lockfile *lock = NULL;
    ms_lockfile_holder holder = {0};
    *rc_out = ms_lockfile_take(path, ms_str_lit("filesystem sink"), &lock, &holder, &unused);
    return lock;
}

ms_lockfile *msi_fs_run_hold(const char *dir, const msi_fs_run *run)
{
    char path[MSI_FS_PATH_BYTES];
    lock_path(dir, run, path);
    for (int i = 0; i < HOLD_TRIES; i++) {
        ms_rc rc = MS_OK;
        ms_lockfile *lock = take(path, &rc);
        if (lock != NULL && is_there(path)) {
            return lock;
        }
        ms_lockfile_destroy(lock); /* of a file that was taken for abandoned and removed */
        if (rc != MS_OK) {
            remove_file(path);
            return NULL;
        }
    }
    return NULL;
}

void msi_fs_run_release(const char *dir, const msi_fs_run *run, ms_lockfile *lock)
{
    char path[MSI_FS_PATH_BYTES];
    char start[MSI_FS_RUN_DIGITS + 2];
    ms_status unused = {0};
    lock_path(dir, run, path);
    snprintf(start, sizeof start, "%s-", run->text);
    if (msi_fs_remove_parts(dir, ms_str_cstr(start), &unused) == MS_OK) {
        remove_file(path);
    } /* else it says whose the parts are, for the next who looks */
    ms_lockfile_destroy(lock);
}

void msi_fs_remove_abandoned(const char *dir)
{
    ms_status unused = {0};
    const ms_dir_entry *entries = NULL;
    size_t count = 0;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    if (ms_dir_list(dir, &arena, &entries, &count, &unused) != MS_OK) {
        count = 0;
    }
    for (size_t i = 0; i < count; i++) {
        msi_fs_run run;
        if (read_lock_name(entries[i].name, &run)) {
            char path[MSI_FS_PATH_BYTES];
            lock_path(dir, &run, path);
            ms_rc rc = MS_OK;
            ms_lockfile *lock = take(path, &rc);
            if (lock != NULL) {
                msi_fs_run_release(dir, &run, lock);
            }
        }
    }
    ms_arena_release(&arena);
}
