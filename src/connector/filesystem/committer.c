/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The committer renames the hidden files of a complete checkpoint to their final names, on the I/O
 * pool. A file that has its final name already was renamed before: doing it twice is doing it once.
 * At a restore it commits what the checkpoint covers and removes the job's other hidden files: they
 * belong to rows that will be read again.
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
    char tag[9];
    uint32_t outstanding;
    bool is_closed;
} fs_committer;

/* One commit or recovery; frees itself when its mail is delivered. */
typedef struct fs_commit {
    ms_iojob job;
    fs_committer *committer;
    ms_arena arena;
    const ms_str *committables;
    uint32_t count;
    bool is_recovery;
    ms_completion *completion;
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

/* Removes the hidden files of this job that are left after committing. */
static ms_rc remove_orphans(fs_commit *commit, ms_status *st)
{
    const fs_committer *self = commit->committer;
    ms_str dir = ms_str_cstr(self->dir);
    ms_str prefix = ms_arena_format(&commit->arena, MSI_FS_HIDDEN_PREFIX "%s", self->tag);
    const ms_dir_entry *entries = NULL;
    size_t count = 0;
    MS_TRY(ms_dir_list(dir.ptr, &commit->arena, &entries, &count, st));
    for (size_t i = 0; i < count; i++) {
        if (ms_str_starts_with(entries[i].name, prefix) &&
            ms_str_ends_with(entries[i].name, ms_str_lit(MSI_FS_HIDDEN_SUFFIX))) {
            ms_str path = ms_arena_format(&commit->arena, "%.*s/%.*s", MS_STR_ARG(dir),
                                          MS_STR_ARG(entries[i].name));
            MS_TRY(ms_file_remove(path.ptr, st));
        }
    }
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
    ms_str dir = ms_str_cstr(commit->committer->dir);
    ms_file_info info;
    MS_TRY(ms_file_stat(dir.ptr, &info, st));
    if (info.kind != MS_FILE_KIND_DIR) {
        return MS_OK; /* no row was ever written */
    }
    if (commit->is_recovery) {
        MS_TRY(remove_orphans(commit, st));
    }
    return ms_dir_sync(dir.ptr, st);
}

static void run_commit(ms_iojob *job)
{
    fs_commit *commit = MS_MAIL_OWNER(&job->mail, fs_commit, job.mail);
    ms_rc rc = commit_all(commit, &commit->st);
    (void)rc; /* the status has it */
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
    ms_done(commit->completion, commit->st.code, ms_status_is_ok(&commit->st) ? NULL : &commit->st);
    commit_destroy(commit);
    if (self->is_closed && self->outstanding == 0) {
        ms_mem_free(self);
    }
}

static void start(ms_committer *committer, bool is_recovery, const ms_str *committables,
                  uint32_t count, ms_completion *completion)
{
    fs_committer *self = (fs_committer *)committer;
    fs_commit *commit = ms_mem_calloc(1, sizeof *commit);
    ms_arena_init(&commit->arena, 0);
    commit->committer = self;
    commit->is_recovery = is_recovery;
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
        ms_done(completion, commit->st.code, &commit->st);
        commit_destroy(commit);
        return;
    }
    self->outstanding++;
}

static void fs_commit_start(ms_committer *committer, uint64_t checkpoint,
                            const ms_str *committables, uint32_t count, ms_completion *completion)
{
    (void)checkpoint;
    start(committer, false, committables, count, completion);
}

static void fs_recover(ms_committer *committer, uint64_t checkpoint, const ms_str *committables,
                       uint32_t count, ms_completion *completion)
{
    (void)checkpoint;
    start(committer, true, committables, count, completion);
}

static void fs_close(ms_committer *committer)
{
    fs_committer *self = (fs_committer *)committer;
    self->is_closed = true;
    if (self->outstanding == 0) {
        ms_mem_free(self);
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
    msi_fs_job_tag(env->job_name, plan->table.path, self->tag);
    *committer_out = &self->head;
    return MS_OK;
}
