/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams. What may not happen inside the function that causes it (messages after a resume, the
 * word that there is room again) is done by one task of the stream, in the same turn.
 */
#include "net/stream_priv.h"

#include "net/buffer_priv.h"
#include "net/http2_priv.h"

#define HELD_KEEP_BYTES (4u << 10) /* from one call to the next */

/* What was read of the held bytes is cut off when there is so much of it, and more than is left: a
 * reader that is always behind never reads the last of them. */
#define HELD_CUT_BYTES (64u << 10)

static void run_task(msi_loop_task *task);

void msi_stream_init(msi_stream *stream, const msi_stream_class *class_of,
                     const msi_stream_options *options)
{
    *stream = (msi_stream){.class_of = class_of,
                           .loop = options->loop,
                           .inbound = options->inbound,
                           .outbound = options->outbound,
                           .mark_bytes = options->mark_bytes,
                           .takes_one = options->takes_one};
    stream->task.run = run_task;
    ms_grpc_frame_init(&stream->reader, options->message_bytes_max);
    msi_queue_init(&stream->queue);
    ms_buf_init(&stream->held, SIZE_MAX / 2); /* the stream's window bounds it, and the cut */
    ms_buf_init(&stream->only, options->message_bytes_max);
}

/* Brings the budget up to what the stream holds. */
static void recount(msi_stream *stream)
{
    size_t holds = stream->held.bytes - stream->held_at +
                   ms_grpc_frame_held_bytes(&stream->reader) + stream->only.bytes;
    stream->inbound->used += holds;
    stream->inbound->used -= stream->counted_in;
    stream->counted_in = holds;
}

void msi_stream_drop_queue(msi_stream *stream)
{
    stream->outbound->used -= stream->queue.unsent_bytes;
    if (stream->h2 != NULL) {
        stream->h2->unsent_bytes -= stream->queue.unsent_bytes;
    }
    msi_queue_reset(&stream->queue);
}

static void forget_held(msi_stream *stream)
{
    if (stream->held.capacity_bytes > HELD_KEEP_BYTES) {
        ms_buf_release(&stream->held);
        ms_buf_init(&stream->held, SIZE_MAX / 2);
    }
    stream->held.bytes = 0;
    stream->held_at = 0;
}

static void forget_only(msi_stream *stream)
{
    if (stream->only.capacity_bytes > HELD_KEEP_BYTES) {
        size_t max_bytes = stream->only.max_bytes;
        ms_buf_release(&stream->only);
        ms_buf_init(&stream->only, max_bytes);
    }
    stream->only.bytes = 0;
    stream->has_only = false;
}

void msi_stream_reset(msi_stream *stream)
{
    MS_ASSERT(stream->h2 == NULL);
    msi_loop_cancel(&stream->task);
    msi_stream_drop_queue(stream);
    ms_grpc_frame_reset(&stream->reader);
    forget_held(stream);
    forget_only(stream);
    recount(stream);
    stream->id = 0;
    stream->is_paused = false;
    stream->is_resumed = false;
    stream->is_in_ended = false;
    stream->is_in_done = false;
    stream->is_discarding = false;
    stream->is_over_mark = false;
    stream->is_writable_due = false;
    stream->is_task_due = false;
    stream->wants_end = false;
    stream->is_end_given = false;
    stream->is_deferred = false;
}

void msi_stream_release(msi_stream *stream)
{
    msi_stream_reset(stream);
    ms_grpc_frame_release(&stream->reader);
    msi_queue_release(&stream->queue);
    ms_buf_release(&stream->held);
    ms_buf_release(&stream->only);
}

/* In. */

static void break_off(msi_stream *stream, ms_grpc_code code, const char *text)
{
    msi_stream_discard(stream);
    stream->class_of->on_broken(stream, code, text);
}

static void break_too_large(msi_stream *stream)
{
    char text[96];
    snprintf(text, sizeof(text), "received message larger than max (%u vs. %zu)",
             (unsigned)ms_grpc_frame_length(&stream->reader), stream->reader.message_bytes_max);
    break_off(stream, MS_GRPC_RESOURCE_EXHAUSTED, text);
}

/* The message of a stream that takes one. It is given out at the end: what comes behind it may
 * still make the whole call a mistake. */
static void keep_only(msi_stream *stream, ms_str message)
{
    ms_grpc_frame_reader *reader = &stream->reader;
    if (stream->has_only) {
        break_off(stream, MS_GRPC_UNIMPLEMENTED, "the method takes one request message, not more");
        return;
    }
    stream->has_only = true;
    if (reader->is_delivered) {
        /* A large one, put together in the reader's buffer: the buffers change places. */
        ms_buf filled = reader->partial;
        reader->partial = stream->only;
        reader->is_delivered = false;
        stream->only = filled;
    } else {
        msi_buffer_append(&stream->only, message);
    }
}

/* Reads messages from the front of bytes, until they are used up or the stream is paused. */
static void read_messages(msi_stream *stream, ms_str *bytes)
{
    while (!stream->is_paused && !stream->is_discarding) {
        ms_str message;
        switch (ms_grpc_frame_next(&stream->reader, bytes, &message)) {
        case MS_GRPC_FRAME_MESSAGE:
            if (stream->takes_one) {
                keep_only(stream, message);
            } else {
                stream->class_of->on_message(stream, message);
            }
            break;
        case MS_GRPC_FRAME_MORE:
            return;
        case MS_GRPC_FRAME_TOO_LARGE:
            break_too_large(stream);
            return;
        case MS_GRPC_FRAME_COMPRESSED:
            break_off(stream, MS_GRPC_INTERNAL,
                      "a message is compressed, though no compression was agreed on");
            return;
        case MS_GRPC_FRAME_BAD_FLAG:
            break_off(stream, MS_GRPC_INTERNAL, "a message does not begin with 0 or 1");
            return;
        }
    }
}

static void check_budget(msi_stream *stream)
{
    recount(stream);
    if (stream->inbound->used > stream->inbound->max && !stream->is_discarding) {
        break_off(stream, MS_GRPC_RESOURCE_EXHAUSTED,
                  "too many bytes of unfinished messages are held");
    }
}

/* The peer's end, once everything before it was read. */
static void check_end(msi_stream *stream)
{
    bool is_read = stream->held.bytes == stream->held_at && !stream->is_paused;
    if (!stream->is_in_ended || stream->is_in_done || stream->is_discarding || !is_read) {
        return;
    }
    stream->is_in_done = true;
    if (!ms_grpc_frame_is_between(&stream->reader)) {
        break_off(stream, MS_GRPC_INTERNAL, "the last message is cut off");
        return;
    }
    if (stream->takes_one && !stream->has_only) {
        break_off(stream, MS_GRPC_UNIMPLEMENTED, "the method takes one request message, not none");
        return;
    }
    if (stream->takes_one) {
        stream->class_of->on_message(stream, ms_buf_view(&stream->only));
        forget_only(stream);
        recount(stream);
    }
    stream->class_of->on_end(stream);
}

static void hold(msi_stream *stream, ms_str bytes)
{
    ms_buf *held = &stream->held;
    if (stream->held_at > HELD_CUT_BYTES && stream->held_at > held->bytes / 2) {
        held->bytes -= stream->held_at;
        memmove(held->ptr, held->ptr + stream->held_at, held->bytes);
        stream->held_at = 0;
    }
    msi_buffer_append(held, bytes);
}

void msi_stream_receive(msi_stream *stream, ms_str bytes)
{
    if (stream->is_discarding) {
        msi_h2_consume(stream->h2, stream->id, bytes.bytes, bytes.bytes);
        return;
    }
    if (stream->is_paused || stream->held.bytes > 0) {
        msi_h2_consume(stream->h2, stream->id, bytes.bytes, 0);
        hold(stream, bytes);
    } else {
        ms_str left = bytes;
        read_messages(stream, &left);
        size_t kept = stream->is_discarding ? 0 : left.bytes;
        msi_h2_consume(stream->h2, stream->id, bytes.bytes, bytes.bytes - kept);
        msi_buffer_append(&stream->held, ms_str_slice(left, 0, kept));
    }
    check_budget(stream);
}

void msi_stream_receive_end(msi_stream *stream)
{
    stream->is_in_ended = true;
    check_end(stream);
}

static void read_held(msi_stream *stream)
{
    ms_str left = ms_str_slice(ms_buf_view(&stream->held), stream->held_at, stream->held.bytes);
    size_t before = left.bytes;
    read_messages(stream, &left);
    if (stream->is_discarding) {
        left.bytes = 0;
    }
    stream->held_at = stream->held.bytes - left.bytes;
    if (stream->h2 != NULL) {
        msi_h2_consume(stream->h2, stream->id, 0, before - left.bytes);
    }
    if (left.bytes == 0) {
        forget_held(stream);
    }
    check_budget(stream);
    check_end(stream);
}

void msi_stream_discard(msi_stream *stream)
{
    stream->is_discarding = true;
    stream->is_in_done = true;
    if (stream->h2 != NULL && stream->held.bytes > stream->held_at) {
        msi_h2_consume(stream->h2, stream->id, 0, stream->held.bytes - stream->held_at);
    }
    /* The bytes themselves stay until the reset: someone may be reading them right now. */
    stream->held_at = stream->held.bytes;
    recount(stream);
}

void msi_stream_pause(msi_stream *stream)
{
    stream->is_paused = true;
    stream->is_resumed = false;
}

void msi_stream_resume(msi_stream *stream)
{
    if (stream->is_paused) {
        stream->is_paused = false;
        stream->is_resumed = true;
        msi_loop_soon(stream->loop, &stream->task);
    }
}

/* Out. */

/* Tells nghttp2 that there is something to send. */
static void wake_sender(msi_stream *stream)
{
    if (stream->h2 != NULL && stream->is_deferred) {
        stream->is_deferred = false;
        msi_h2_resume_data(stream->h2, stream->id);
    }
}

bool msi_stream_send(msi_stream *stream, const ms_grpc_message *message)
{
    size_t before = stream->queue.unsent_bytes;
    msi_queue_push(&stream->queue, message);
    size_t added = stream->queue.unsent_bytes - before;
    stream->outbound->used += added;
    if (stream->h2 != NULL) {
        if (stream->h2->unsent_bytes == 0) {
            msi_h2_note_waiting(stream->h2);
        }
        stream->h2->unsent_bytes += added;
    }
    wake_sender(stream);
    if (stream->queue.unsent_bytes >= stream->mark_bytes) {
        stream->is_over_mark = true;
    }
    return !stream->is_over_mark;
}

void msi_stream_end(msi_stream *stream)
{
    stream->wants_end = true;
    wake_sender(stream);
}

void msi_stream_rewind(msi_stream *stream)
{
    MS_ASSERT(stream->h2 == NULL);
    size_t before = stream->queue.unsent_bytes;
    msi_queue_rewind(&stream->queue);
    stream->outbound->used += stream->queue.unsent_bytes;
    stream->outbound->used -= before;
    stream->is_end_given = false;
    stream->is_deferred = false;
}

void msi_stream_take(msi_stream *stream, char *out, size_t bytes)
{
    msi_queue_take(&stream->queue, out, bytes);
    stream->outbound->used -= bytes;
    stream->h2->unsent_bytes -= bytes;
    if (stream->h2->unsent_bytes > 0) {
        msi_h2_note_taken(stream->h2, bytes);
    }
    if (stream->is_over_mark && stream->queue.unsent_bytes < stream->mark_bytes / 2) {
        stream->is_over_mark = false;
        stream->is_writable_due = true;
        msi_loop_soon(stream->loop, &stream->task);
    }
}

/* The task. */

void msi_stream_soon(msi_stream *stream)
{
    stream->is_task_due = true;
    msi_loop_soon(stream->loop, &stream->task);
}

/* The call's own task comes last, because it may be the end of the stream. */
static void run_task(msi_loop_task *task)
{
    msi_stream *stream = MSI_OWNER(task, msi_stream, task);
    if (stream->is_writable_due) {
        stream->is_writable_due = false;
        if (!stream->wants_end) {
            stream->class_of->on_writable(stream);
        }
    }
    if (stream->is_resumed) {
        stream->is_resumed = false;
        stream->is_reading_held = true;
        read_held(stream);
        stream->is_reading_held = false;
    }
    if (stream->is_task_due) {
        stream->is_task_due = false;
        stream->class_of->on_task(stream);
    }
}
