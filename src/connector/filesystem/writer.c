/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The writer: rows into a buffer, full buffers into a hidden file, a cut into a list of files.
 *
 *     rows -> [buffer] -> steps: WRITE, WRITE, FINISH(sync, close), WRITE, ... -> I/O pool
 *
 * A cut ends the file at hand: its last bytes and its FINISH are queued, and the rows after the cut
 * go to a new file. What a checkpoint waits for is the FINISH of its last file. The hidden files
 * are renamed by the committer; those that no checkpoint covers are removed at close, or as run.c
 * says when the process has no time for that.
 */
#include "connector/filesystem/filesystem_priv.h"

#include "base/codec.h"
#include "base/limits.h"
#include "os/file.h"

#include <stdio.h>

#define BUFFER_BYTES (1u << 20)       /* a write of the system that is worth its call */
#define WAITING_BYTES_MAX (16u << 20) /* of queued steps, before rows are refused */
#define COMMITTABLE_VERSION 1
#define CUTS_MAX 64u    /* checkpoints under way at a time */
#define SLICE_ROWS 256u /* encoded at a time, so that a batch of long rows needs no huge buffer */

typedef enum step_kind { STEP_WRITE, STEP_FINISH } step_kind;

/* A part: hidden until it is committed. */
typedef struct fs_part {
    struct fs_part *next;
    ms_file *file;
    uint64_t cut; /* the checkpoint that covers it; 0: none yet */
    char hidden[MSI_FS_PATH_BYTES];
    char final[MSI_FS_PATH_BYTES];
} fs_part;

typedef struct fs_step {
    struct fs_step *next;
    step_kind kind;
    fs_part *part;
    ms_buf bytes;
} fs_step;

typedef struct fs_cut {
    uint64_t checkpoint;
    uint64_t steps_before; /* done steps that complete it */
    ms_completion *completion;
} fs_cut;

typedef struct fs_writer {
    ms_writer head;
    const msi_fs_sink *plan;
    const ms_task_env *env;
    ms_encoder *encoder;
    char dir[MSI_FS_PATH_BYTES]; /* of its own: a step may run when the plan has gone */
    ms_buf buffer;
    fs_part *part;  /* at hand; NULL: none open */
    fs_part *parts; /* cut and not handed over, newest first */
    uint64_t part_bytes;
    uint64_t part_count;
    msi_fs_run run; /* of file names */
    fs_step *steps; /* oldest first; the first may be at the pool */
    fs_step **steps_end;
    uint64_t waiting_bytes;
    uint64_t steps_queued;
    uint64_t steps_done;
    fs_cut cuts[CUTS_MAX];
    uint32_t cut_count;
    ms_iojob job;
    ms_status job_status;
    bool job_is_out;
    bool is_closed;
} fs_writer;

static void fs_free(fs_writer *self);

/* Steps. */

/*
 * A part that is finished is durable with its name: the manifest that names it is written next, and
 * a manifest whose files have gone with the power cannot be recovered from.
 */
static ms_rc seal_part(const fs_writer *self, fs_part *part, ms_status *st)
{
    MS_TRY(ms_file_sync(part->file, st));
    ms_file_close(part->file);
    part->file = NULL;
    return ms_dir_sync(self->dir, st);
}

static ms_rc run_step(const fs_writer *self, fs_step *step, ms_status *st)
{
    fs_part *part = step->part;
    if (part->file == NULL) {
        MS_TRY(ms_file_open(part->hidden, MS_FILE_CREATE_SHARED, &part->file, st));
    }
    if (step->bytes.bytes > 0) {
        MS_TRY(ms_file_write(part->file, ms_buf_view(&step->bytes), st));
    }
    return step->kind == STEP_FINISH ? seal_part(self, part, st) : MS_OK;
}

static void run_job(ms_iojob *job)
{
    fs_writer *self = MS_MAIL_OWNER(&job->mail, fs_writer, job.mail);
    ms_rc rc = run_step(self, self->steps, &self->job_status);
    (void)rc; /* the status has it */
}

static void start_step(fs_writer *self)
{
    if (self->job_is_out || self->steps == NULL || !ms_status_is_ok(&self->job_status)) {
        return;
    }
    self->job_is_out = true;
    if (ms_iopool_submit(self->env->iopool, &self->job, &self->job_status) != MS_OK) {
        self->job_is_out = false;
    }
}

/* Answers the checkpoints whose steps are done, or all of them after a failure. */
static void answer_cuts(fs_writer *self)
{
    bool failed = !ms_status_is_ok(&self->job_status);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < self->cut_count; i++) {
        fs_cut cut = self->cuts[i];
        bool is_done = cut.completion != NULL && self->steps_done >= cut.steps_before;
        if (cut.completion != NULL && (failed || is_done)) {
            ms_done(cut.completion, self->job_status.code, failed ? &self->job_status : NULL);
        } else {
            self->cuts[kept++] = cut;
        }
    }
    self->cut_count = kept;
}

static void drop_step(fs_writer *self)
{
    fs_step *step = self->steps;
    self->steps = step->next;
    if (self->steps == NULL) {
        self->steps_end = &self->steps;
    }
    if (!self->is_closed) {
        self->waiting_bytes -= step->bytes.bytes;
        ms_account_unreserve(self->env->account, step->bytes.bytes);
    }
    ms_buf_release(&step->bytes);
    ms_mem_free(step);
}

static void step_done(ms_mail *mail)
{
    fs_writer *self = MS_MAIL_OWNER(mail, fs_writer, job.mail);
    self->job_is_out = false;
    if (self->is_closed) {
        fs_free(self);
        return;
    }
    if (ms_status_is_ok(&self->job_status)) {
        drop_step(self);
        self->steps_done++;
        start_step(self);
    }
    answer_cuts(self);
    ms_wake(&self->env->waker);
}

/* Moves the buffer into a new step. */
static ms_rc queue_step(fs_writer *self, step_kind kind, ms_status *st)
{
    MS_TRY(ms_account_reserve(self->env->account, self->buffer.bytes, st));
    fs_step *step = ms_mem_calloc(1, sizeof *step);
    step->kind = kind;
    step->part = self->part;
    step->bytes = self->buffer;
    ms_buf_init(&self->buffer, MS_LIMIT_RECORD_BYTES);
    self->waiting_bytes += step->bytes.bytes;
    *self->steps_end = step;
    self->steps_end = &step->next;
    self->steps_queued++;
    start_step(self);
    return MS_OK;
}

/* Parts. */

static ms_rc open_part(fs_writer *self, ms_status *st)
{
    fs_part *part = ms_mem_calloc(1, sizeof *part);
    char name[96];
    snprintf(name, sizeof name, "part-%s-%u-%llu", self->run.text, self->env->subtask,
             (unsigned long long)self->part_count++);
    int hidden = snprintf(part->hidden, sizeof part->hidden, "%s/.%s%s", self->dir, name,
                          MSI_FS_HIDDEN_SUFFIX);
    int final = snprintf(part->final, sizeof part->final, "%s/%s", self->dir, name);
    if (hidden < 0 || (size_t)hidden >= sizeof part->hidden || final < 0) {
        ms_mem_free(part);
        return ms_status_set(st, MS_LIMIT, ms_span_none, "path \"%s\" is too long", self->dir);
    }
    self->part = part;
    self->part_bytes = 0;
    return MS_OK;
}

/* Queues the end of the part at hand; it waits for its checkpoint. */
static ms_rc finish_part(fs_writer *self, ms_status *st)
{
    MS_TRY(queue_step(self, STEP_FINISH, st));
    self->part->next = self->parts;
    self->parts = self->part;
    self->part = NULL;
    return MS_OK;
}

/* Rows. */

static ms_write fail_with(fs_writer *self, ms_status *st)
{
    *st = self->job_status;
    return MS_WRITE_FAILED;
}

/* Some live rows of a batch into the buffer; the buffer is as before when they do not fit. */
static ms_rc take_slice(fs_writer *self, const ms_batch *batch, uint32_t first, uint32_t count,
                        ms_status *st)
{
    uint16_t rows[SLICE_ROWS];
    ms_batch slice;
    for (uint32_t i = 0; i < count; i++) {
        rows[i] = (uint16_t)ms_batch_row(batch, first + i);
    }
    ms_batch_frame(&slice, batch, batch->columns, batch->column_count);
    slice.sel = rows;
    slice.sel_count = count;
    if (self->part == NULL) {
        MS_TRY(open_part(self, st));
    }
    size_t before = self->buffer.bytes;
    ms_rc rc = self->encoder->klass->encode(self->encoder, &slice, &self->buffer, st);
    if (rc != MS_OK) {
        self->buffer.bytes = before;
        return rc;
    }
    size_t added = self->buffer.bytes - before;
    self->part_bytes += added;
    self->head.rows_written += count;
    self->head.bytes_written += added;
    if (self->part_bytes >= self->plan->table.roll_bytes) {
        return finish_part(self, st);
    }
    return self->buffer.bytes >= BUFFER_BYTES ? queue_step(self, STEP_WRITE, st) : MS_OK;
}

/* All live rows; where they are too long for the buffer, fewer at a time. */
static ms_rc take(fs_writer *self, const ms_batch *batch, ms_status *st)
{
    uint32_t live = ms_batch_live(batch);
    uint32_t most = SLICE_ROWS;
    for (uint32_t first = 0; first < live;) {
        uint32_t count = live - first < most ? live - first : most;
        ms_rc rc = take_slice(self, batch, first, count, st);
        if (rc == MS_OK) {
            first += count;
            continue;
        }
        if (rc != MS_LIMIT || (count == 1 && self->buffer.bytes == 0)) {
            return rc;
        }
        ms_status_clear(st);
        MS_TRY(self->buffer.bytes > 0 ? queue_step(self, STEP_WRITE, st) : MS_OK);
        most = count > 1 ? count / 2 : 1;
    }
    return MS_OK;
}

static ms_write fs_write(ms_writer *writer, const ms_batch *batch, ms_status *st)
{
    fs_writer *self = (fs_writer *)writer;
    if (!ms_status_is_ok(&self->job_status)) {
        return fail_with(self, st);
    }
    if (self->waiting_bytes >= WAITING_BYTES_MAX) {
        return MS_WRITE_BLOCKED;
    }
    return take(self, batch, st) == MS_OK ? MS_WRITE_DONE : MS_WRITE_FAILED;
}

/* Checkpoints. */

static ms_rc fs_cut_at(ms_writer *writer, uint64_t checkpoint, bool is_final, ms_status *st)
{
    (void)is_final;
    fs_writer *self = (fs_writer *)writer;
    if (self->part != NULL) {
        MS_TRY(finish_part(self, st));
    }
    if (self->cut_count == CUTS_MAX) {
        return ms_status_set(st, MS_LIMIT, ms_span_none, "%u checkpoints wait for files", CUTS_MAX);
    }
    for (fs_part *part = self->parts; part != NULL; part = part->next) {
        part->cut = part->cut == 0 ? checkpoint : part->cut;
    }
    self->cuts[self->cut_count++] =
        (fs_cut){.checkpoint = checkpoint, .steps_before = self->steps_queued};
    return MS_OK;
}

static void fs_persist(ms_writer *writer, uint64_t checkpoint, ms_completion *completion)
{
    fs_writer *self = (fs_writer *)writer;
    for (uint32_t i = 0; i < self->cut_count; i++) {
        if (self->cuts[i].checkpoint == checkpoint) {
            self->cuts[i].completion = completion;
        }
    }
    answer_cuts(self);
}

/* Hands over the parts of a checkpoint, and of earlier ones that were given up. */
static ms_rc fs_committable(ms_writer *writer, uint64_t checkpoint, ms_buf *out, ms_status *st)
{
    fs_writer *self = (fs_writer *)writer;
    uint32_t count = 0;
    for (fs_part *part = self->parts; part != NULL; part = part->next) {
        count += part->cut != 0 && part->cut <= checkpoint ? 1 : 0;
    }
    if (count == 0) {
        return MS_OK;
    }
    MS_TRY(ms_codec_put_u8(out, COMMITTABLE_VERSION, st));
    MS_TRY(ms_codec_put_varint(out, count, st));
    fs_part **link = &self->parts;
    while (*link != NULL) {
        fs_part *part = *link;
        if (part->cut == 0 || part->cut > checkpoint) {
            link = &part->next;
            continue;
        }
        MS_TRY(ms_codec_put_str(out, ms_str_cstr(part->hidden), st));
        MS_TRY(ms_codec_put_str(out, ms_str_cstr(part->final), st));
        *link = part->next;
        ms_mem_free(part);
    }
    return MS_OK;
}

/* Life. */

static void free_part(fs_part *part)
{
    ms_status st = {0};
    ms_file_close(part->file);
    if (ms_file_remove(part->hidden, &st) != MS_OK) {
        ms_status_clear(&st); /* an orphan: run.c */
    }
    ms_mem_free(part);
}

static void fs_free(fs_writer *self)
{
    while (self->steps != NULL) {
        drop_step(self);
    }
    if (self->part != NULL) {
        free_part(self->part);
    }
    while (self->parts != NULL) {
        fs_part *part = self->parts;
        self->parts = part->next;
        free_part(part);
    }
    if (self->encoder != NULL) {
        self->encoder->klass->close(self->encoder);
    }
    ms_buf_release(&self->buffer);
    ms_mem_free(self);
}

static void fs_close(ms_writer *writer)
{
    fs_writer *self = (fs_writer *)writer;
    ms_status st = {0};
    ms_status_set(&st, MS_CANCELED, ms_span_none, "the job ended before its files were written");
    for (uint32_t i = 0; i < self->cut_count; i++) {
        if (self->cuts[i].completion != NULL) {
            ms_done(self->cuts[i].completion, MS_CANCELED, &st);
        }
    }
    self->cut_count = 0;
    /* A step that is out comes back when the job, its account and its plan have gone. */
    ms_account_unreserve(self->env->account, self->waiting_bytes);
    self->is_closed = true;
    if (!self->job_is_out) {
        fs_free(self);
    }
}

/* Files are ended at every cut, so there is nothing to restore. */
static const ms_writer_class writer_class = {
    .write = fs_write,
    .cut = fs_cut_at,
    .persist = fs_persist,
    .committable = fs_committable,
    .close = fs_close,
};

ms_rc msi_fs_writer_create(const ms_sink *sink, const ms_task_env *env, ms_writer **writer_out,
                           ms_status *st)
{
    const msi_fs_sink *plan = (const msi_fs_sink *)sink;
    if (plan->table.is_standard) {
        return msi_fs_stream_writer_create(sink, env, writer_out, st);
    }
    fs_writer *self = ms_mem_calloc(1, sizeof *self);
    self->head.klass = &writer_class;
    self->plan = plan;
    self->env = env;
    self->steps_end = &self->steps;
    snprintf(self->dir, sizeof self->dir, "%.*s", MS_STR_ARG(plan->table.path));
    ms_buf_init(&self->buffer, MS_LIMIT_RECORD_BYTES);
    self->job = (ms_iojob){.run = run_job, .reply_to = env->mailbox};
    self->job.mail.deliver = step_done;
    self->run = msi_fs_run_of(sink, env);
    ms_rc rc = plan->table.format->encoder_create(&sink->input, &plan->table.format_options,
                                                  plan->table.time_zone, &self->encoder, st);
    if (rc != MS_OK) {
        fs_free(self);
        return rc;
    }
    *writer_out = &self->head;
    return MS_OK;
}
