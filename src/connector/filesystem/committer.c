/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The committer renames the hidden files of a complete checkpoint to their final names, on the I/O
 * pool. A file that has its final name already was renamed before: doing it twice is doing it once.
 * When a job starts it commits what the restored checkpoint covers and removes the job's other
 * hidden files, which belong to rows that will be read again; of a job without checkpoints it holds
 * the lock until the job has ended. run.c says who removes what.
 */
#include "connector/filesystem/filesystem_priv.h"

#include "base/codec.h"
#include "base/env.h"
#include "os/file.h"

#include <stdio.h>

#define COMMITTABLE_VERSION 1

typedef struct fs_committer {
    ms_committer head;
    const ms_task_env *env;
    char dir[MSI_FS_PATH_BYTES]; /* of its own: a commit may run when the plan has gone */
    msi_fs_run run;
    ms_lockfile *lock; /* of the run; NULL: it has checkpoints, has not begun, or there are none */
    uint32_t outstanding;
    bool has_checkpoints;
    bool is_closed;
} fs_committer;

typedef enum commit_kind { COMMIT, RECOVER, RELEASE } commit_kind;

/* One commit, recovery or end of a run; frees itself when its mail is delivered. */
typedef struct fs_commit {
    ms_iojob job;
    fs_committer *committer;
    ms_arena arena;
    const ms_str *committables;
    uint32_t count;
    commit_kind kind;
    ms_completion *completion; /* NULL: RELEASE */
    ms_status st;
} fs_commit;

static bool is_there(const char *path, ms_status *st)
{
    ms_file_info info = {.kind = MS_FILE_KIND_NONE};
    return ms_file_stat(path, &info, st) == MS_OK && info.kind == MS_FILE_KIND_FILE;
}

static ms_rc commit_file(ms_str hidden, ms_str final, ms_status *st)
{
    if (is_there(hidden.ptr, st)) {
        if (ms_env_fault("filesystem.before_rename")) {
            return ms_status_set_errno(st, 5, "could not rename \"%.*s\"", MS_STR_ARG(hidden));
        }
        MS_TRY(ms_file_rename(hidden.ptr, final.ptr, st));
        (void)ms_env_fault("filesystem.after_rename");
        return MS_OK;
    }
    MS_TRY(st->code);
    if (is_there(final.ptr, st)) {
        return MS_OK;
    }
    MS_TRY(st->code);
    return ms_status_set(st, MS_CORRUPT_DATA, ms_span_none,
                         "file \"%.*s\" of a checkpoint has gone", MS_STR_ARG(hidden));
}

/* The file names of all committables, in pairs. */
static ms_rc read_names(fs_commit *commit, ms_str **names_out, size_t *count_out, ms_status *st)
{
    size_t capacity = 0;
    for (uint32_t i = 0; i < commit->count; i++) {
        capacity += commit->committables[i].bytes; /* a name takes more than a byte */
    }
    ms_str *names = ms_arena_array(&commit->arena, ms_str, capacity + 2);
    size_t count = 0;
    for (uint32_t i = 0; i < commit->count; i++) {
        if (commit->committables[i].bytes == 0) {
            continue;
        }
        ms_codec_reader reader = ms_codec_reader_make(commit->committables[i]);
        uint8_t version = ms_codec_reader_u8(&reader);
        size_t files = ms_codec_reader_count(&reader, 2);
        for (size_t f = 0; f < 2 * files; f++) {
            names[count++] = ms_arena_copy_str(&commit->arena, ms_codec_reader_str(&reader));
        }
        MS_TRY(ms_codec_reader_finish(&reader, "a committable of the filesystem connector", st));
        if (version != COMMITTABLE_VERSION) {
            return ms_status_set(st, MS_CORRUPT_DATA, ms_span_none,
                                 "a committable of the filesystem connector has the unknown "
                                 "version %u",
                                 version);
        }
    }
    *names_out = names;
    *count_out = count;
    return MS_OK;
}

/* Removes what was not committed and never will be. */
static ms_rc clean_up(fs_committer *self, ms_status *st)
{
    msi_fs_remove_abandoned(self->dir);
    if (self->has_checkpoints) {
        ms_str tag = ms_str_make(self->run.text, MSI_FS_TAG_DIGITS);
        return msi_fs_remove_parts(self->dir, tag, st);
    }
    self->lock = msi_fs_run_hold(self->dir, &self->run);
    return MS_OK;
}

static ms_rc commit_all(fs_commit *commit, ms_status *st)
{
    ms_str *names = NULL;
    size_t count = 0;
    MS_TRY(read_names(commit, &names, &count, st));
    for (size_t i = 0; i + 1 < count; i += 2) {
        MS_TRY(commit_file(names[i], names[i + 1], st));
    }
    fs_committer *self = commit->committer;
    ms_file_info info;
    MS_TRY(ms_file_stat(self->dir, &info, st));
    if (info.kind != MS_FILE_KIND_DIR) {
        return MS_OK; /* no row was ever written */
    }
    if (commit->kind == RECOVER) {
        MS_TRY(clean_up(self, st));
    }
    return ms_dir_sync(self->dir, st);
}

static void release(fs_committer *self)
{
    if (self->lock != NULL) {
        msi_fs_run_release(self->dir, &self->run, self->lock);
        self->lock = NULL;
    }
}

static void run_commit(ms_iojob *job)
{
    fs_commit *commit = MS_MAIL_OWNER(&job->mail, fs_commit, job.mail);
    if (commit->kind == RELEASE) {
        release(commit->committer);
        return;
    }
    ms_rc rc = commit_all(commit, &commit->st);
    (void)rc; /* the status has it */
}

static void committer_free(fs_committer *self)
{
    release(self); /* mostly done, on the pool; else the job ends while it begins */
    ms_mem_free(self);
}

static void commit_destroy(fs_commit *commit)
{
    ms_arena_release(&commit->arena);
    ms_mem_free(commit);
}

static void commit_done(ms_mail *mail)
{
    fs_commit *commit = MS_MAIL_OWNER(mail, fs_commit, job.mail);
    fs_committer *self = commit->committer;
    self->outstanding--;
    if (commit->completion != NULL) {
        ms_done(commit->completion, commit->st.code,
                ms_status_is_ok(&commit->st) ? NULL : &commit->st);
    }
    commit_destroy(commit);
    if (self->is_closed && self->outstanding == 0) {
        committer_free(self);
    }
}

/* False when the pool has refused it; who waits has been told then. */
static bool start(fs_committer *self, commit_kind kind, const ms_str *committables, uint32_t count,
                  ms_completion *completion)
{
    fs_commit *commit = ms_mem_calloc(1, sizeof *commit);
    ms_arena_init(&commit->arena, 0);
    commit->committer = self;
    commit->kind = kind;
    commit->completion = completion;
    commit->job = (ms_iojob){.run = run_commit, .reply_to = self->env->mailbox};
    commit->job.mail.deliver = commit_done;
    ms_str *copies = ms_arena_array(&commit->arena, ms_str, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        copies[i] = ms_arena_copy_str(&commit->arena, committables[i]);
    }
    commit->committables = copies;
    commit->count = count;
    if (ms_iopool_submit(self->env->iopool, &commit->job, &commit->st) != MS_OK) {
        if (completion != NULL) {
            ms_done(completion, commit->st.code, &commit->st);
        }
        commit_destroy(commit);
        return false;
    }
    self->outstanding++;
    return true;
}

static void fs_commit_start(ms_committer *committer, uint64_t checkpoint,
                            const ms_str *committables, uint32_t count, ms_completion *completion)
{
    (void)checkpoint;
    start((fs_committer *)committer, COMMIT, committables, count, completion);
}

static void fs_recover(ms_committer *committer, uint64_t checkpoint, const ms_str *committables,
                       uint32_t count, ms_completion *completion)
{
    (void)checkpoint;
    start((fs_committer *)committer, RECOVER, committables, count, completion);
}

static void fs_close(ms_committer *committer)
{
    fs_committer *self = (fs_committer *)committer;
    self->is_closed = true;
    bool is_left = self->outstanding == 0 && self->lock != NULL;
    if (self->outstanding == 0 && !(is_left && start(self, RELEASE, NULL, 0, NULL))) {
        committer_free(self);
    }
}

static const ms_committer_class committer_class = {fs_commit_start, fs_recover, fs_close};

ms_rc msi_fs_committer_create(const ms_sink *sink, const ms_task_env *env,
                              ms_committer **committer_out, ms_status *st)
{
    (void)st;
    *committer_out = NULL;
    const msi_fs_sink *plan = (const msi_fs_sink *)sink;
    if (plan->table.is_standard) {
        return MS_OK;
    }
    fs_committer *self = ms_mem_calloc(1, sizeof *self);
    self->head.klass = &committer_class;
    self->env = env;
    snprintf(self->dir, sizeof self->dir, "%.*s", MS_STR_ARG(plan->table.path));
    self->run = msi_fs_run_of(sink, env);
    self->has_checkpoints = env->checkpoint_dir.bytes > 0;
    *committer_out = &self->head;
    return MS_OK;
}
