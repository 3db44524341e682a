/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader: one file after the other, in chunks that a job of the I/O pool reads ahead.
 *
 *     file    [.... given out ....][.. in data, not decoded ..][.. in chunk ..][ unread ]
 *                                  ^ position of the split
 *
 * data holds what is being decoded, chunk what the job reads meanwhile; when data has no whole
 * record left, the chunk is appended to its rest. A position is always behind a whole record.
 */
#include "connector/filesystem/filesystem_priv.h"

#include "base/codec.h"
#include "base/limits.h"
#include "os/file.h"

#include <errno.h>
#include <unistd.h>

#define CHUNK_BYTES (1u << 20) /* enough to keep a disk busy, small beside the caches of a job */
#define SPLITS_MAX 64u         /* in a reader: it asks for one when it has none */

/* The job and its memory; outlives the reader when it is closed while the job is out. */
typedef struct fs_chunk {
    ms_iojob job;
    struct fs_reader *reader; /* NULL: closed meanwhile */
    ms_file *file;
    char path[MSI_FS_PATH_BYTES];
    bool is_standard;
    uint64_t offset;
    char *bytes;
    size_t got;
    bool is_end;
    bool is_out;
    ms_status st;
} fs_chunk;

typedef struct fs_split {
    char path[MSI_FS_PATH_BYTES];
    uint64_t offset;
} fs_split;

typedef struct fs_reader {
    ms_reader head;
    const msi_fs_scan *scan;
    const ms_task_env *env;
    ms_decoder *decoder;
    ms_batch_pool *pool;
    ms_batch *batch;
    ms_batch frame;
    fs_chunk *chunk;
    bool chunk_is_full; /* read and not yet in data */
    fs_split *splits;   /* SPLITS_MAX; the first is at hand */
    uint32_t split_count;
    bool has_file; /* the first split is open */
    bool no_more;
    bool at_end; /* data has the last bytes of the file */
    ms_buf data;
    size_t data_at;
} fs_reader;

/* The job. */

static void read_standard(fs_chunk *chunk)
{
    ssize_t got = read(STDIN_FILENO, chunk->bytes, CHUNK_BYTES);
    if (got < 0 && errno != EINTR && errno != EAGAIN) {
        ms_status_set_errno(&chunk->st, errno, "could not read standard input");
        return;
    }
    chunk->got = got > 0 ? (size_t)got : 0;
    chunk->is_end = got == 0;
}

/* A position behind the end means that the file is not the one that was read before. */
static ms_rc open_file(fs_chunk *chunk)
{
    uint64_t bytes = 0;
    MS_TRY(ms_file_open(chunk->path, MS_FILE_READ_REGULAR, &chunk->file, &chunk->st));
    if (chunk->offset == 0) {
        return MS_OK;
    }
    MS_TRY(ms_file_bytes(chunk->file, &bytes, &chunk->st));
    if (bytes >= chunk->offset) {
        return MS_OK;
    }
    return ms_status_set(&chunk->st, MS_CORRUPT_DATA, ms_span_none,
                         "file \"%s\" was read to byte %llu and has only %llu now", chunk->path,
                         (unsigned long long)chunk->offset, (unsigned long long)bytes);
}

static void run_read(ms_iojob *job)
{
    fs_chunk *chunk = MS_MAIL_OWNER(&job->mail, fs_chunk, job.mail);
    chunk->got = 0;
    chunk->is_end = false;
    if (chunk->is_standard) {
        read_standard(chunk);
        return;
    }
    if (chunk->file == NULL && open_file(chunk) != MS_OK) {
        return;
    }
    if (ms_file_read_at(chunk->file, chunk->offset, chunk->bytes, CHUNK_BYTES, &chunk->got,
                        &chunk->st) == MS_OK) {
        chunk->is_end = chunk->got < CHUNK_BYTES;
    }
}

static void chunk_destroy(fs_chunk *chunk)
{
    ms_file_close(chunk->file);
    ms_mem_free(chunk->bytes);
    ms_mem_free(chunk);
}

static void read_done(ms_mail *mail)
{
    fs_chunk *chunk = MS_MAIL_OWNER(mail, fs_chunk, job.mail);
    chunk->is_out = false;
    if (chunk->reader == NULL) {
        chunk_destroy(chunk);
        return;
    }
    chunk->reader->chunk_is_full = true;
    ms_wake(&chunk->reader->env->waker);
}

static ms_rc start_read(fs_reader *self, ms_status *st)
{
    fs_chunk *chunk = self->chunk;
    chunk->is_out = true;
    ms_rc rc = chunk->is_standard
                   ? ms_iopool_submit_when(self->env->iopool, &chunk->job, STDIN_FILENO, false, st)
                   : ms_iopool_submit(self->env->iopool, &chunk->job, st);
    chunk->is_out = rc == MS_OK;
    return rc;
}

/* Splits. */

static ms_rc fs_add_split(ms_reader *reader, ms_str bytes, ms_status *st)
{
    fs_reader *self = (fs_reader *)reader;
    msi_fs_split split;
    MS_TRY(msi_fs_split_read(bytes, &split, st));
    if (self->split_count == SPLITS_MAX || split.path.bytes >= MSI_FS_PATH_BYTES) {
        return ms_status_set(st, MS_LIMIT, ms_span_none,
                             "a reader has too many files, or a path is "
                             "too long");
    }
    if (self->scan->table.is_standard && split.offset > 0) {
        ms_status_set(st, MS_NOT_SUPPORTED, ms_span_none,
                      "standard input cannot be read again from a checkpoint");
        return ms_status_hint(st, "Start anew with --fresh, or read from a file.");
    }
    fs_split *slot = &self->splits[self->split_count++];
    memcpy(slot->path, split.path.ptr, split.path.bytes);
    slot->path[split.path.bytes] = '\0';
    slot->offset = split.offset;
    return MS_OK;
}

static void fs_no_more_splits(ms_reader *reader)
{
    ((fs_reader *)reader)->no_more = true;
}

static bool fs_wants_split(const ms_reader *reader)
{
    const fs_reader *self = (const fs_reader *)reader;
    return self->split_count == 0 && !self->no_more;
}

/* Begins with the first split. */
static ms_rc open_split(fs_reader *self, ms_status *st)
{
    fs_chunk *chunk = self->chunk;
    memcpy(chunk->path, self->splits[0].path, sizeof chunk->path);
    chunk->offset = self->splits[0].offset;
    self->decoder->klass->reset(self->decoder, chunk->offset == 0);
    ms_buf_reset(&self->data);
    self->data_at = 0;
    self->at_end = false;
    self->chunk_is_full = false;
    self->has_file = true;
    return start_read(self, st);
}

static void close_split(fs_reader *self)
{
    ms_file_close(self->chunk->file);
    self->chunk->file = NULL;
    self->has_file = false;
    self->split_count--;
    memmove(self->splits, self->splits + 1, self->split_count * sizeof *self->splits);
}

/* Appends the chunk to the rest of data and reads on. */
static ms_rc take_chunk(fs_reader *self, ms_status *st)
{
    fs_chunk *chunk = self->chunk;
    if (!ms_status_is_ok(&chunk->st)) {
        *st = chunk->st;
        return st->code;
    }
    size_t rest = self->data.bytes - self->data_at;
    if (rest > 0 && self->data_at > 0) {
        memmove(self->data.ptr, self->data.ptr + self->data_at, rest);
    }
    self->data.bytes = rest;
    self->data_at = 0;
    if (ms_buf_reserve(&self->data, chunk->got + MS_DECODE_PADDING, st) != MS_OK) {
        return ms_status_detail(st, "a record of file \"%s\" is larger than %u bytes", chunk->path,
                                MS_LIMIT_RECORD_BYTES);
    }
    memcpy(self->data.ptr + rest, chunk->bytes, chunk->got);
    self->data.bytes += chunk->got;
    memset(self->data.ptr + self->data.bytes, 0, MS_DECODE_PADDING);
    chunk->offset += chunk->got;
    self->head.bytes_read += chunk->got;
    self->chunk_is_full = false;
    self->at_end = chunk->is_end;
    return self->at_end ? MS_OK : start_read(self, st);
}

/* Decoding. */

/* Names the place of a bad record in front of what the format says about it. */
static void add_place(const fs_reader *self, ms_status *st)
{
    ms_status failed = *st;
    st->detail[0] = '\0';
    ms_status_detail(st, "file \"%s\", byte %llu%s%s", self->chunk->path,
                     (unsigned long long)self->splits[0].offset,
                     failed.detail[0] != '\0' ? ": " : "", failed.detail);
}

static ms_rc decode(fs_reader *self, ms_status *st)
{
    ms_str input = ms_str_slice(ms_buf_view(&self->data), self->data_at, self->data.bytes);
    size_t consumed = 0;
    ms_rc rc = self->decoder->klass->decode(self->decoder, input, self->at_end, self->batch,
                                            &consumed, st);
    self->data_at += consumed;
    self->splits[0].offset += consumed;
    if (rc != MS_OK) {
        add_place(self, st);
    }
    return rc;
}

/* A fresh batch; the one given out before is free again. */
static void renew_batch(fs_reader *self)
{
    ms_batch_drop(self->batch);
    self->batch = ms_batch_pool_take(self->pool);
    MS_ASSERT(self->batch != NULL); /* batches leave as frames: nobody else holds one */
}

static ms_read give_out(fs_reader *self, ms_batch **batch_out)
{
    ms_batch_frame(&self->frame, self->batch, self->batch->columns, self->batch->column_count);
    self->head.rows_read += self->batch->rows;
    *batch_out = &self->frame;
    return MS_READ_BATCH;
}

/* One file until a batch is full or nothing is there; false when there is nothing to give out. */
static ms_read poll_file(fs_reader *self, ms_batch **batch_out, ms_status *st)
{
    for (;;) {
        if (self->data_at < self->data.bytes || self->at_end) {
            ms_rc rc = decode(self, st);
            if (self->batch->rows > 0) {
                /* Rows before a bad record go out first; it is met again at the next poll. */
                if (rc != MS_OK) {
                    ms_status_clear(st);
                }
                return give_out(self, batch_out);
            }
            if (rc != MS_OK) {
                return MS_READ_FAILED;
            }
            if (self->at_end) {
                close_split(self);
                return MS_READ_END;
            }
        }
        if (!self->chunk_is_full) {
            return MS_READ_PENDING;
        }
        if (take_chunk(self, st) != MS_OK) {
            return MS_READ_FAILED;
        }
    }
}

static uint64_t held_bytes(const fs_reader *self)
{
    return self->data.capacity_bytes + CHUNK_BYTES + ms_batch_bytes(self->batch);
}

static ms_read poll_files(fs_reader *self, ms_batch **batch_out, ms_status *st)
{
    while (self->split_count > 0) {
        if (!self->has_file && open_split(self, st) != MS_OK) {
            return MS_READ_FAILED;
        }
        ms_read result = poll_file(self, batch_out, st);
        if (result != MS_READ_END) {
            return result;
        }
    }
    return self->no_more ? MS_READ_END : MS_READ_PENDING;
}

static ms_read fs_poll(ms_reader *reader, ms_batch **batch_out, ms_status *st)
{
    fs_reader *self = (fs_reader *)reader;
    renew_batch(self);
    ms_read result = poll_files(self, batch_out, st);
    self->head.bytes_held = held_bytes(self);
    return result;
}

static ms_rc write_splits(const fs_reader *self, ms_buf *out, ms_buf *text, ms_status *st)
{
    for (uint32_t i = 0; i < self->split_count; i++) {
        msi_fs_split split = {ms_str_cstr(self->splits[i].path), self->splits[i].offset};
        ms_buf_reset(text);
        MS_TRY(msi_fs_split_write(&split, text, st));
        MS_TRY(ms_codec_put_str(out, ms_buf_view(text), st));
    }
    return MS_OK;
}

static ms_rc fs_snapshot(ms_reader *reader, ms_buf *out, ms_status *st)
{
    fs_reader *self = (fs_reader *)reader;
    MS_TRY(ms_codec_put_u32(out, self->split_count, st));
    ms_buf text;
    ms_buf_init(&text, MSI_FS_PATH_BYTES + 64);
    ms_rc rc = write_splits(self, out, &text, st);
    ms_buf_release(&text);
    return rc;
}

static void fs_close(ms_reader *reader)
{
    fs_reader *self = (fs_reader *)reader;
    fs_chunk *chunk = self->chunk;
    if (chunk != NULL) {
        chunk->reader = NULL;
        bool withdrawn = chunk->is_out && chunk->is_standard &&
                         ms_iopool_withdraw(self->env->iopool, &chunk->job);
        if (!chunk->is_out || withdrawn) {
            chunk_destroy(chunk);
        }
    }
    if (self->decoder != NULL) {
        self->decoder->klass->close(self->decoder);
    }
    ms_batch_drop(self->batch);
    ms_batch_pool_destroy(self->pool);
    ms_buf_release(&self->data);
    ms_mem_free(self->splits);
    ms_mem_free(self);
}

static const ms_reader_class reader_class = {
    fs_add_split, fs_no_more_splits, fs_wants_split, fs_poll, fs_snapshot, fs_close,
};

ms_rc msi_fs_reader_create(const ms_scan *scan, const ms_task_env *env, ms_reader **reader_out,
                           ms_status *st)
{
    const msi_fs_scan *plan = (const msi_fs_scan *)scan;
    fs_reader *self = ms_mem_calloc(1, sizeof *self);
    self->head.klass = &reader_class;
    self->scan = plan;
    self->env = env;
    ms_buf_init(&self->data, MS_LIMIT_RECORD_BYTES);
    self->splits = ms_mem_calloc(SPLITS_MAX, sizeof *self->splits);
    ms_rc rc = plan->table.format->decoder_create(&plan->stored, plan->wanted, &scan->output,
                                                  &plan->table.format_options,
                                                  plan->table.time_zone, &self->decoder, st);
    if (rc != MS_OK) {
        fs_close(&self->head);
        return rc;
    }
    self->pool = ms_batch_pool_create(&scan->output, env->batch_rows, 1);
    self->chunk = ms_mem_calloc(1, sizeof *self->chunk);
    self->chunk->reader = self;
    self->chunk->is_standard = plan->table.is_standard;
    self->chunk->bytes = ms_mem_alloc(CHUNK_BYTES);
    self->chunk->job = (ms_iojob){.run = run_read, .reply_to = env->mailbox};
    self->chunk->job.mail.deliver = read_done;
    *reader_out = &self->head;
    return MS_OK;
}
