/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading splits: pages of the client become frames. A frame covers rows of one page, whose bytes
 * its texts point into, so nothing is copied; the page goes back when the next poll comes, by which
 * time everybody who wanted to keep a row has copied it.
 *
 *     split -> read -> page -> frame, frame, ... -> page -> ... -> split is read
 *
 * The position in a split is the last key that a frame gave out; a snapshot is what is left behind
 * it, of the very table that was read so far. One split is read at a time; those of a snapshot wait
 * in a queue.
 *
 * Ownership: the frame belongs to the reader. Thread: task.
 */
#include "connector/bigtable/row_decode.h"
#include "connector/bigtable/scan.h"
#include "connector/bigtable/split.h"

#define PAGE_BYTES ((size_t)1 << 20) /* fits the second-level cache with the frame made of it */
#define PAGE_ROWS_MIN 1024u

typedef struct bt_reader {
    ms_reader reader;
    const msi_bt_scan *scan;
    ms_waker waker;
    ms_mailbox *mailbox;
    ms_account *account;
    uint64_t charged_bytes;
    uint32_t batch_rows;
    msi_bt_decoder *decoder;
    ms_arena arena; /* the filter */
    const ms_bt_filter *filter;
    ms_str *queue; /* splits as bytes, each in memory of its own; from queue_first on */
    uint32_t queue_first;
    uint32_t queue_end;
    uint32_t queue_capacity;
    bool is_complete; /* no more splits will come */
    /* The split that is being read. */
    bool is_active;
    ms_arena split_arena;
    msi_bt_split split;
    ms_buf last_key; /* given out last; empty: none yet */
    ms_bt_read *read;
    const ms_bt_page *page;
    uint32_t row;       /* of the page: the next to give out */
    bool has_bad_value; /* at that row */
} bt_reader;

/* Splits. */

static ms_rc reader_add_split(ms_reader *reader, ms_str split, ms_status *st)
{
    bt_reader *self = (bt_reader *)reader;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    msi_bt_split decoded;
    ms_rc rc = msi_bt_split_read(&arena, split, &decoded, st);
    ms_arena_release(&arena);
    MS_TRY(rc);
    if (self->queue_end == self->queue_capacity) {
        self->queue_capacity = self->queue_capacity == 0 ? 4 : self->queue_capacity * 2;
        self->queue = ms_mem_realloc(self->queue, self->queue_capacity * sizeof(*self->queue));
    }
    char *copy = ms_mem_alloc(split.bytes);
    memcpy(copy, split.ptr, split.bytes);
    self->queue[self->queue_end++] = (ms_str){copy, split.bytes};
    return MS_OK;
}

static void reader_no_more_splits(ms_reader *reader)
{
    ((bt_reader *)reader)->is_complete = true;
}

static uint32_t count_queued(const bt_reader *self)
{
    return self->queue_end - self->queue_first;
}

static bool reader_wants_split(const ms_reader *reader)
{
    const bt_reader *self = (const bt_reader *)reader;
    return !self->is_active && count_queued(self) == 0 && !self->is_complete;
}

static void drop_first(bt_reader *self)
{
    ms_mem_free((void *)(uintptr_t)self->queue[self->queue_first].ptr);
    self->queue_first++;
    if (self->queue_first == self->queue_end) {
        self->queue_first = 0;
        self->queue_end = 0;
    }
}

static void woken(void *arg)
{
    ms_wake(&((bt_reader *)arg)->waker);
}

/* Begins with the first split of the queue. */
static ms_rc open_split(bt_reader *self, ms_status *st)
{
    ms_arena_reset(&self->split_arena);
    MS_TRY(msi_bt_split_read(&self->split_arena, self->queue[self->queue_first], &self->split, st));
    drop_first(self);
    ms_buf_reset(&self->last_key);
    /* Several frames a page when frames are small. */
    uint32_t rows = self->batch_rows < PAGE_ROWS_MIN
                        ? PAGE_ROWS_MIN / self->batch_rows * self->batch_rows
                        : self->batch_rows;
    uint64_t limit = self->scan->limit;
    ms_bt_read_options options = {
        .table = self->scan->layout.destination,
        .app_profile = self->scan->app_profile,
        .rows = ms_bt_row_set_make(&self->split.ranges),
        .filter = self->filter,
        .rows_limit = limit > INT64_MAX ? 0 : (int64_t)limit,
        .page_rows_max = limit < rows && limit > 0 ? (uint32_t)limit : rows,
        .page_bytes_max = PAGE_BYTES,
        .incarnation = self->split.incarnation,
    };
    msi_bt_decoder_restart(self->decoder);
    self->read = ms_bt_client_read_rows(*self->scan->client, &options, self->mailbox, woken, self);
    self->is_active = true;
    return MS_OK;
}

static void close_split(bt_reader *self)
{
    if (self->page != NULL) {
        ms_bt_read_return(self->read, self->page);
        self->page = NULL;
    }
    if (self->read != NULL) {
        /* When the transport is still at work, the read ends by itself, in the client. */
        (void)ms_bt_read_close(self->read, NULL, NULL);
        self->read = NULL;
    }
    self->is_active = false;
}

/* Reading. */

static ms_read report_failed_read(const bt_reader *self, ms_status *st)
{
    msi_bt_destination_report(&self->scan->layout.destination, "read",
                              ms_bt_read_status(self->read), st);
    if (ms_bt_read_large_row(self->read).bytes > 0) {
        ms_status_hint(st, "Select no column of the families that are large in it, or leave the "
                           "row out by a condition on the key, or delete it.");
    }
    return MS_READ_FAILED;
}

/* Gets a page when none is held. BATCH: there is one; END: the split is read. */
static ms_read next_page(bt_reader *self, ms_status *st)
{
    if (self->page != NULL && self->row < self->page->row_count) {
        return MS_READ_BATCH;
    }
    if (self->page != NULL) {
        ms_bt_read_return(self->read, self->page);
        self->page = NULL;
    }
    switch (ms_bt_read_poll(self->read, &self->page)) {
    case MS_BT_POLL_PAGE:
        self->row = 0;
        if (self->split.incarnation == 0) {
            self->split.incarnation = ms_bt_read_incarnation(self->read);
        }
        self->reader.bytes_read += self->page->bytes.bytes;
        return MS_READ_BATCH;
    case MS_BT_POLL_PENDING:
        return MS_READ_PENDING;
    case MS_BT_POLL_END:
        return MS_READ_END;
    case MS_BT_POLL_FAILED:
        return report_failed_read(self, st);
    }
    MS_UNREACHABLE();
}

/* Makes a frame of the next rows of the page. */
static ms_read give_out(bt_reader *self, ms_batch **batch_out, ms_status *st)
{
    uint32_t left = self->page->row_count - self->row;
    uint32_t count = left < self->batch_rows ? left : self->batch_rows;
    ms_batch *frame = msi_bt_decoder_rows(self->decoder, self->page, self->row, count);
    self->has_bad_value = frame->rows < count;
    if (frame->rows == 0) {
        msi_bt_decoder_report(self->decoder, st);
        return MS_READ_FAILED;
    }
    const ms_bt_row *last = &self->page->rows[self->row + frame->rows - 1];
    ms_buf_reset(&self->last_key);
    if (ms_buf_append(&self->last_key, ms_bt_page_key(self->page, last), st) != MS_OK) {
        return MS_READ_FAILED;
    }
    self->reader.rows_read += frame->rows;
    self->row += frame->rows;
    *batch_out = frame;
    return MS_READ_BATCH;
}

static ms_read reader_poll(ms_reader *reader, ms_batch **batch_out, ms_status *st)
{
    bt_reader *self = (bt_reader *)reader;
    if (self->has_bad_value) {
        msi_bt_decoder_report(self->decoder, st);
        return MS_READ_FAILED;
    }
    for (;;) {
        if (!self->is_active) {
            if (count_queued(self) == 0) {
                return self->is_complete ? MS_READ_END : MS_READ_PENDING;
            }
            if (open_split(self, st) != MS_OK) {
                return MS_READ_FAILED;
            }
        }
        ms_read page = next_page(self, st);
        if (page == MS_READ_BATCH) {
            return give_out(self, batch_out, st);
        }
        if (page != MS_READ_END) {
            return page;
        }
        close_split(self);
    }
}

/* Checkpoints. */

static ms_rc write_rest(const msi_bt_split *rest, ms_buf *out, ms_status *st)
{
    ms_buf split;
    ms_buf_init(&split, MS_LIMIT_SNAPSHOT_BYTES);
    ms_rc rc = msi_bt_split_write(rest, &split, st);
    rc = rc == MS_OK ? ms_codec_put_str(out, ms_buf_view(&split), st) : rc;
    ms_buf_release(&split);
    return rc;
}

static ms_rc reader_snapshot(ms_reader *reader, ms_buf *out, ms_status *st)
{
    bt_reader *self = (bt_reader *)reader;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    msi_bt_split rest = {{NULL, 0}, 0};
    if (self->is_active) {
        rest = self->last_key.bytes == 0
                   ? self->split
                   : msi_bt_split_after(&arena, &self->split, ms_buf_view(&self->last_key));
    }
    ms_rc rc = ms_codec_put_u32(out, count_queued(self) + (rest.ranges.count > 0), st);
    if (rc == MS_OK && rest.ranges.count > 0) {
        rc = write_rest(&rest, out, st);
    }
    for (uint32_t i = self->queue_first; rc == MS_OK && i < self->queue_end; i++) {
        rc = ms_codec_put_str(out, self->queue[i], st);
    }
    ms_arena_release(&arena);
    return rc;
}

/* Life. */

static void reader_close(ms_reader *reader)
{
    bt_reader *self = (bt_reader *)reader;
    close_split(self);
    while (count_queued(self) > 0) {
        drop_first(self);
    }
    ms_mem_free(self->queue);
    msi_bt_decoder_destroy(self->decoder);
    ms_buf_release(&self->last_key);
    ms_arena_release(&self->split_arena);
    ms_arena_release(&self->arena);
    if (self->charged_bytes > 0) {
        ms_account_unreserve(self->account, self->charged_bytes);
    }
    ms_mem_free(self);
}

static const ms_reader_class reader_class = {
    .add_split = reader_add_split,
    .no_more_splits = reader_no_more_splits,
    .wants_split = reader_wants_split,
    .poll = reader_poll,
    .snapshot = reader_snapshot,
    .close = reader_close,
};

/* The vectors, and the two pages that go around. */
static ms_rc charge(bt_reader *self, ms_status *st)
{
    uint64_t bytes = msi_bt_decoder_bytes(self->decoder) + 2 * PAGE_BYTES;
    MS_TRY(ms_account_reserve(self->account, bytes, st));
    self->charged_bytes = bytes;
    return MS_OK;
}

ms_rc msi_bt_reader_create(const ms_scan *scan, const ms_task_env *env, ms_reader **reader_out,
                           ms_status *st)
{
    bt_reader *self = ms_mem_calloc(1, sizeof(*self));
    self->reader.klass = &reader_class;
    self->scan = (const msi_bt_scan *)scan;
    self->waker = env->waker;
    self->mailbox = env->mailbox;
    self->account = env->account;
    self->batch_rows = env->batch_rows;
    ms_arena_init(&self->arena, 0);
    ms_arena_init(&self->split_arena, 0);
    ms_buf_init(&self->last_key, MS_BT_LIMIT_ROW_KEY_BYTES);
    self->filter = msi_bt_scan_filter(&self->arena, self->scan);
    self->decoder = msi_bt_decoder_create(&self->scan->layout, self->scan->columns,
                                          scan->output.column_count, env->batch_rows);
    if (charge(self, st) != MS_OK) {
        reader_close(&self->reader);
        return st->code;
    }
    *reader_out = &self->reader;
    return MS_OK;
}
