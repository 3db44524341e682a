/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The enumerator: lists the files once, on the I/O pool, and hands them out in order, one to each
 * request. What it has left is its snapshot.
 */
#include "connector/filesystem/filesystem_priv.h"

#include "base/codec.h"

#define SNAPSHOT_VERSION 1
#define SNAPSHOT_UNLISTED 2 /* the list was not there yet: nothing was handed out */
#define SPLIT_BYTES_MAX (MSI_FS_PATH_BYTES + 64u)

typedef struct fs_enumerator {
    ms_enumerator head;
    const msi_fs_scan *scan;
    ms_enumerator_env *env;
    ms_arena arena;
    ms_str path; /* of its own: the listing may run when the plan has gone */
    ms_iojob job;
    bool is_listing;
    bool is_closed; /* while the job was out: its mail frees us */
    bool is_ready;
    ms_status listing_status;
    const ms_str *paths;
    size_t path_count;
    uint64_t *offsets; /* of splits given back by a snapshot; NULL: all 0 */
    size_t next;
    bool *waiting; /* subtasks that asked before the list was there */
} fs_enumerator;

static void fs_free(fs_enumerator *self)
{
    ms_arena_release(&self->arena);
    ms_mem_free(self);
}

static void give(fs_enumerator *self, uint32_t subtask)
{
    ms_enumerator_env *env = self->env;
    if (self->next == self->path_count) {
        env->no_more_splits(env, subtask);
        return;
    }
    msi_fs_split split = {.path = self->paths[self->next],
                          .offset = self->offsets != NULL ? self->offsets[self->next] : 0};
    self->next++;
    ms_buf bytes;
    ms_status st = {0};
    ms_buf_init(&bytes, SPLIT_BYTES_MAX);
    if (msi_fs_split_write(&split, &bytes, &st) == MS_OK) {
        env->assign(env, subtask, ms_buf_view(&bytes));
    } else {
        env->fail(env, &st);
    }
    ms_buf_release(&bytes);
}

/* The list is there: answers those who wait. */
static void ready(fs_enumerator *self)
{
    self->is_ready = true;
    for (uint32_t i = 0; i < self->env->task.parallelism; i++) {
        if (self->waiting[i]) {
            self->waiting[i] = false;
            give(self, i);
        }
    }
}

static void run_listing(ms_iojob *job)
{
    fs_enumerator *self = MS_MAIL_OWNER(&job->mail, fs_enumerator, job.mail);
    ms_rc rc = msi_fs_list(self->path, &self->arena, &self->paths, &self->path_count,
                           &self->listing_status);
    (void)rc; /* the status has it */
}

static void listed(ms_mail *mail)
{
    fs_enumerator *self = MS_MAIL_OWNER(mail, fs_enumerator, job.mail);
    self->is_listing = false;
    if (self->is_closed) {
        fs_free(self);
    } else if (!ms_status_is_ok(&self->listing_status)) {
        self->env->fail(self->env, &self->listing_status);
    } else {
        ready(self);
    }
}

static ms_rc start_listing(fs_enumerator *self, ms_status *st)
{
    self->job = (ms_iojob){.run = run_listing, .reply_to = self->env->task.mailbox};
    self->job.mail.deliver = listed;
    MS_TRY(ms_iopool_submit(self->env->task.iopool, &self->job, st));
    self->is_listing = true;
    return MS_OK;
}

static ms_rc restore(fs_enumerator *self, ms_str bytes, ms_status *st)
{
    if (bytes.bytes == 1 && bytes.ptr[0] == SNAPSHOT_UNLISTED) {
        return start_listing(self, st);
    }
    ms_codec_reader reader = ms_codec_reader_make(bytes);
    uint8_t version = ms_codec_reader_u8(&reader);
    size_t count = ms_codec_reader_count(&reader, 5);
    ms_str *paths = ms_arena_array(&self->arena, ms_str, count + 1);
    self->offsets = ms_arena_array(&self->arena, uint64_t, count + 1);
    for (size_t i = 0; i < count; i++) {
        msi_fs_split split;
        ms_str text = ms_codec_reader_str(&reader);
        MS_TRY(ms_codec_reader_check(&reader, "the files that are left", st));
        MS_TRY(msi_fs_split_read(text, &split, st));
        paths[i] = ms_arena_copy_str(&self->arena, split.path);
        self->offsets[i] = split.offset;
    }
    MS_TRY(ms_codec_reader_finish(&reader, "the files that are left", st));
    if (version != SNAPSHOT_VERSION) {
        return ms_status_set(st, MS_CORRUPT_DATA, ms_span_none,
                             "the files that are left have the unknown version %u", version);
    }
    self->paths = paths;
    self->path_count = count;
    self->is_ready = true;
    return MS_OK;
}

static ms_rc fs_start(ms_enumerator *enumerator, ms_enumerator_env *env, ms_str restored,
                      ms_status *st)
{
    fs_enumerator *self = (fs_enumerator *)enumerator;
    self->env = env;
    self->waiting = ms_arena_array(&self->arena, bool, env->task.parallelism);
    if (restored.ptr != NULL) {
        return restore(self, restored, st);
    }
    if (self->scan->table.is_standard) {
        self->paths = &self->path;
        self->path_count = 1;
        self->is_ready = true;
        return MS_OK;
    }
    return start_listing(self, st);
}

static void fs_request(ms_enumerator *enumerator, uint32_t subtask)
{
    fs_enumerator *self = (fs_enumerator *)enumerator;
    if (self->is_ready) {
        give(self, subtask);
    } else {
        self->waiting[subtask] = true;
    }
}

static void fs_resume(ms_enumerator *enumerator)
{
    (void)enumerator; /* the mail has done it */
}

static ms_rc write_left(const fs_enumerator *self, ms_buf *out, ms_buf *text, ms_status *st)
{
    for (size_t i = self->next; i < self->path_count; i++) {
        msi_fs_split split = {self->paths[i], self->offsets != NULL ? self->offsets[i] : 0};
        ms_buf_reset(text);
        MS_TRY(msi_fs_split_write(&split, text, st));
        MS_TRY(ms_codec_put_str(out, ms_buf_view(text), st));
    }
    return MS_OK;
}

static ms_rc fs_snapshot(ms_enumerator *enumerator, ms_buf *out, ms_status *st)
{
    fs_enumerator *self = (fs_enumerator *)enumerator;
    if (!self->is_ready) {
        return ms_codec_put_u8(out, SNAPSHOT_UNLISTED, st);
    }
    MS_TRY(ms_codec_put_u8(out, SNAPSHOT_VERSION, st));
    MS_TRY(ms_codec_put_varint(out, self->path_count - self->next, st));
    ms_buf text;
    ms_buf_init(&text, SPLIT_BYTES_MAX);
    ms_rc rc = write_left(self, out, &text, st);
    ms_buf_release(&text);
    return rc;
}

static void fs_close(ms_enumerator *enumerator)
{
    fs_enumerator *self = (fs_enumerator *)enumerator;
    self->is_closed = true;
    if (!self->is_listing) {
        fs_free(self);
    }
}

static const ms_enumerator_class enumerator_class = {
    fs_start, fs_request, fs_resume, fs_snapshot, fs_close,
};

ms_rc msi_fs_enumerator_create(const ms_scan *scan, ms_enumerator **enumerator_out, ms_status *st)
{
    (void)st;
    fs_enumerator *self = ms_mem_calloc(1, sizeof *self);
    self->head.klass = &enumerator_class;
    self->scan = (const msi_fs_scan *)scan;
    ms_arena_init(&self->arena, 0);
    self->path = ms_arena_copy_str(&self->arena, self->scan->table.path);
    *enumerator_out = &self->head;
    return MS_OK;
}
