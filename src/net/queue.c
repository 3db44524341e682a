/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The queue is an array of segments with a place up to which it was sent. When all was sent, both
 * arrays start again at their front; while a stream never drains, what was sent is cut off now and
 * then, so that neither grows without end.
 */
#include "net/queue_priv.h"

#include "base/memory.h"
#include "net/buffer_priv.h"
#include "net/grpc_frame.h"

#define KEEP_BYTES (4u << 10) /* of copied, from one call to the next */
#define KEEP_SEGMENTS 16u

/* What was sent is cut off when there is so much of it, and more than is left. */
#define CUT_BYTES (64u << 10)
#define CUT_SEGMENTS 64u

void msi_queue_init(msi_queue *queue)
{
    *queue = (msi_queue){0};
    ms_buf_init(&queue->copied, SIZE_MAX / 2);
}

static void release_segments(msi_queue *queue, uint32_t end)
{
    for (; queue->kept < end; queue->kept++) {
        msi_segment *segment = &queue->segments[queue->kept];
        if (segment->release != NULL) {
            segment->release(segment->arg);
        }
    }
}

void msi_queue_release(msi_queue *queue)
{
    release_segments(queue, queue->segment_count);
    ms_buf_release(&queue->copied);
    ms_mem_free(queue->segments);
    *queue = (msi_queue){0};
}

static void rewind_all(msi_queue *queue)
{
    queue->copied.bytes = 0;
    queue->copied_at = 0;
    queue->segment_count = 0;
    queue->at = 0;
    queue->at_byte = 0;
    queue->kept = 0;
}

void msi_queue_reset(msi_queue *queue)
{
    if (queue->copied.capacity_bytes > KEEP_BYTES || queue->segment_capacity > KEEP_SEGMENTS) {
        msi_queue_release(queue);
        msi_queue_init(queue);
        return;
    }
    release_segments(queue, queue->segment_count);
    rewind_all(queue);
    queue->unsent_bytes = 0;
    queue->message_count = 0;
    queue->keeps = false;
}

/* Cuts off what was sent, when that is worth it. */
static void cut(msi_queue *queue)
{
    if (queue->keeps) {
        return;
    }
    release_segments(queue, queue->at);
    if (queue->unsent_bytes == 0) {
        rewind_all(queue);
        return;
    }
    if (queue->copied_at > CUT_BYTES && queue->copied_at > queue->copied.bytes / 2) {
        queue->copied.bytes -= queue->copied_at;
        memmove(queue->copied.ptr, queue->copied.ptr + queue->copied_at, queue->copied.bytes);
        queue->copied_at = 0;
    }
    if (queue->at > CUT_SEGMENTS && queue->at > queue->segment_count / 2) {
        queue->segment_count -= queue->at;
        memmove(queue->segments, queue->segments + queue->at,
                queue->segment_count * sizeof(queue->segments[0]));
        queue->at = 0;
        queue->kept = 0;
    }
}

static void add_segment(msi_queue *queue, msi_segment segment)
{
    if (queue->segment_count == queue->segment_capacity) {
        queue->segment_capacity = queue->segment_capacity == 0 ? 4 : queue->segment_capacity * 2;
        queue->segments =
            ms_mem_realloc(queue->segments, queue->segment_capacity * sizeof(queue->segments[0]));
    }
    queue->segments[queue->segment_count++] = segment;
}

static void add_copied(msi_queue *queue, ms_str bytes)
{
    if (bytes.bytes == 0) {
        return;
    }
    msi_buffer_append(&queue->copied, bytes);
    msi_segment *last = NULL;
    if (queue->segment_count > queue->at) {
        last = &queue->segments[queue->segment_count - 1];
    }
    if (last != NULL && last->ptr == NULL) {
        last->bytes += bytes.bytes;
    } else {
        add_segment(queue, (msi_segment){.bytes = bytes.bytes});
    }
}

void msi_queue_push(msi_queue *queue, const ms_grpc_message *message)
{
    char header[MS_GRPC_FRAME_HEADER_BYTES];
    MS_ASSERT(message->bytes.bytes <= UINT32_MAX);
    ms_grpc_frame_write_header((uint32_t)message->bytes.bytes, header);
    add_copied(queue, (ms_str){header, sizeof(header)});
    if (message->release == NULL) {
        add_copied(queue, message->bytes);
    } else {
        add_segment(queue,
                    (msi_segment){.ptr = message->bytes.ptr != NULL ? message->bytes.ptr : "",
                                  .bytes = message->bytes.bytes,
                                  .release = message->release,
                                  .arg = message->arg});
    }
    queue->unsent_bytes += sizeof(header) + message->bytes.bytes;
    queue->message_count++;
}

void msi_queue_take(msi_queue *queue, char *out, size_t bytes)
{
    MS_ASSERT(bytes <= queue->unsent_bytes);
    queue->unsent_bytes -= bytes;
    while (bytes > 0) {
        const msi_segment *segment = &queue->segments[queue->at];
        size_t left = segment->bytes - queue->at_byte;
        size_t count = bytes < left ? bytes : left;
        if (count > 0 && segment->ptr == NULL) {
            memcpy(out, queue->copied.ptr + queue->copied_at, count);
            queue->copied_at += count;
        } else if (count > 0) {
            memcpy(out, segment->ptr + queue->at_byte, count);
        }
        out += count;
        bytes -= count;
        queue->at_byte += count;
        if (queue->at_byte == segment->bytes) {
            queue->at++;
            queue->at_byte = 0;
        }
    }
    /* An empty borrowed message at the end has nothing to be taken. */
    while (queue->unsent_bytes == 0 && queue->at < queue->segment_count) {
        queue->at++;
        queue->at_byte = 0;
    }
    cut(queue);
}

void msi_queue_set_keeps(msi_queue *queue, bool keeps)
{
    queue->keeps = keeps;
    if (!keeps) {
        cut(queue);
    }
}

void msi_queue_rewind(msi_queue *queue)
{
    MS_ASSERT(queue->keeps && queue->kept == 0);
    queue->unsent_bytes = 0;
    for (uint32_t i = 0; i < queue->segment_count; i++) {
        queue->unsent_bytes += queue->segments[i].bytes;
    }
    queue->at = 0;
    queue->at_byte = 0;
    queue->copied_at = 0;
}
