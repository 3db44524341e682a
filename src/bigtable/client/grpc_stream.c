/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads over gRPC: pages out of messages, at the consumer's pace.
 */
/* tidy: no-unit-test: tests/unit/bigtable/server runs the tests of the store over it */
#include "bigtable/client/grpc_stream.h"

#include "base/limits.h"

/* Messages that come between the pause and its effect: at most the window of a stream. */
#define BACKLOG_BYTES_MAX ((size_t)1 << 30)
#define LENGTH_BYTES sizeof(uint32_t)

void msi_bt_stream_init(msi_bt_stream *stream, const msi_bt_stream_class *class_of)
{
    stream->class_of = class_of;
    stream->op.is_canceled = &stream->is_canceled;
    ms_buf_init(&stream->backlog, BACKLOG_BYTES_MAX);
}

void msi_bt_stream_destroy(msi_bt_stream *stream)
{
    ms_buf_release(&stream->backlog);
    msi_op_destroy(&stream->op);
}

static void forget_backlog(msi_bt_stream *stream)
{
    ms_buf_reset(&stream->backlog);
    stream->backlog_at = 0;
    stream->message_at = 0;
}

void msi_bt_stream_restart(msi_bt_stream *stream)
{
    stream->is_paused = false;
    forget_backlog(stream);
}

/* Pages. */

static void set_paused(msi_bt_stream *stream, bool is_paused)
{
    if (stream->is_paused == is_paused || stream->op.call == NULL) {
        return;
    }
    stream->is_paused = is_paused;
    if (is_paused) {
        ms_grpc_call_pause(stream->op.call);
    } else {
        ms_grpc_call_resume(stream->op.call);
    }
}

static void deliver(msi_bt_stream *stream, const ms_bt_status *bt, bool is_at_end)
{
    ms_loop_timer_stop(stream->op.grpc->loop, &stream->flush);
    stream->is_wanted = false;
    set_paused(stream, true);
    stream->class_of->deliver(stream, bt, is_at_end);
}

static void deliver_page(msi_bt_stream *stream)
{
    ms_bt_status ok = {0};
    deliver(stream, &ok, false);
}

static void flush(ms_loop_timer *timer)
{
    msi_bt_stream *stream = MS_LOOP_TIMER_OWNER(timer, msi_bt_stream, flush);
    if (stream->is_wanted && stream->class_of->has_output(stream)) {
        deliver_page(stream);
    }
}

/* The page has taken something: deliver it now, or when the turn ends. */
static void look_at_page(msi_bt_stream *stream)
{
    if (stream->class_of->is_full(stream)) {
        deliver_page(stream);
    } else if (stream->class_of->has_output(stream) && !ms_loop_timer_is_running(&stream->flush)) {
        ms_loop_timer_start(stream->op.grpc->loop, &stream->flush, ms_env_mono_ns());
    }
}

static ms_bt_code keep_message(msi_bt_stream *stream, ms_str message, size_t at, ms_bt_status *bt)
{
    ms_status st = {0};
    uint32_t bytes = (uint32_t)message.bytes;
    bool was_empty = stream->backlog_at == stream->backlog.bytes;
    if (was_empty) {
        forget_backlog(stream);
        stream->message_at = at;
    }
    if (ms_buf_append(&stream->backlog, (ms_str){(const char *)&bytes, LENGTH_BYTES}, &st) !=
            MS_OK ||
        ms_buf_append(&stream->backlog, message, &st) != MS_OK) {
        return ms_bt_status_from(bt, MS_BT_RESOURCE_EXHAUSTED, &st);
    }
    return MS_BT_OK;
}

ms_bt_code msi_bt_stream_message(msi_op *op, ms_str message, ms_bt_status *bt)
{
    msi_bt_stream *stream = (msi_bt_stream *)(void *)op;
    size_t at = 0;
    if (stream->is_wanted && stream->backlog_at == stream->backlog.bytes) {
        MS_BT_TRY(stream->class_of->take(stream, message, &at, bt));
        look_at_page(stream);
        if (at == message.bytes) {
            return MS_BT_OK;
        }
    }
    set_paused(stream, true);
    return keep_message(stream, message, at, bt);
}

/* Fills the page from what was received before. */
static ms_bt_code take_backlog(msi_bt_stream *stream, ms_bt_status *bt)
{
    while (stream->is_wanted && stream->backlog_at < stream->backlog.bytes) {
        uint32_t bytes = 0;
        memcpy(&bytes, stream->backlog.ptr + stream->backlog_at, LENGTH_BYTES);
        ms_str message = {stream->backlog.ptr + stream->backlog_at + LENGTH_BYTES, bytes};
        MS_BT_TRY(stream->class_of->take(stream, message, &stream->message_at, bt));
        if (stream->message_at == bytes) {
            stream->backlog_at += LENGTH_BYTES + bytes;
            stream->message_at = 0;
        }
        look_at_page(stream);
    }
    if (stream->backlog_at == stream->backlog.bytes) {
        forget_backlog(stream);
    }
    return MS_BT_OK;
}

static void deliver_end(msi_bt_stream *stream)
{
    ms_bt_status *bt = &stream->op.status;
    if (ms_bt_status_is_ok(bt)) {
        (void)stream->class_of->check_end(stream, bt);
    }
    bool is_ok = ms_bt_status_is_ok(bt);
    if (!is_ok && stream->class_of->drop_partial != NULL) {
        stream->class_of->drop_partial(stream);
    }
    if (!is_ok && stream->class_of->has_output(stream)) {
        /* What came before the failure counts; the next fill has the failure. */
        deliver_page(stream);
        return;
    }
    deliver(stream, bt, is_ok);
}

/* Mails. */

static void destroy(msi_bt_stream *stream)
{
    ms_loop_timer_stop(stream->op.grpc->loop, &stream->flush);
    stream->class_of->destroy(stream);
}

static void on_fill(ms_mail *mail)
{
    msi_bt_stream *stream = MS_MAIL_OWNER(mail, msi_bt_stream, fill_mail);
    stream->is_wanted = true;
    if (!stream->is_started) {
        stream->is_started = true;
        ms_loop_timer_init(&stream->flush, flush);
        msi_op_start_here(&stream->op);
        return;
    }
    ms_bt_status bt = {0};
    if (take_backlog(stream, &bt) != MS_BT_OK) {
        stream->op.status = bt;
        if (stream->op.call != NULL) {
            ms_grpc_call_cancel(stream->op.call);
        }
    }
    if (stream->is_wanted && stream->is_over) {
        deliver_end(stream);
    } else if (stream->is_wanted) {
        set_paused(stream, false);
    }
}

void msi_bt_stream_finish(msi_op *op)
{
    msi_bt_stream *stream = (msi_bt_stream *)(void *)op;
    stream->is_over = true;
    if (stream->is_closing) {
        destroy(stream);
    } else if (stream->is_wanted) {
        deliver_end(stream);
    }
}

static void on_close(ms_mail *mail)
{
    msi_bt_stream *stream = MS_MAIL_OWNER(mail, msi_bt_stream, close_mail);
    if (!stream->is_started || stream->is_over) {
        destroy(stream);
        return;
    }
    stream->is_closing = true;
    msi_op_sweep(stream->op.grpc);
}

/* From the consumer's thread. */

void msi_bt_stream_fill(msi_bt_stream *stream)
{
    stream->fill_mail.deliver = on_fill;
    ms_mailbox_push(ms_loop_mailbox(stream->op.grpc->loop), &stream->fill_mail);
}

void msi_bt_stream_cancel(msi_bt_stream *stream)
{
    /* Order relaxed: a wish, which guards no other memory. */
    atomic_store_explicit(&stream->is_canceled, true, memory_order_relaxed);
    msi_grpc_sweep(stream->op.grpc);
}

void msi_bt_stream_close(msi_bt_stream *stream)
{
    atomic_store_explicit(&stream->is_canceled, true, memory_order_relaxed);
    stream->close_mail.deliver = on_close;
    ms_mailbox_push(ms_loop_mailbox(stream->op.grpc->loop), &stream->close_mail);
}
