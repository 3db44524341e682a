/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages that wait to be sent on one stream, each with its five bytes in front. Copied messages
 * lie one behind the other in one buffer; borrowed ones stay where they are until they were sent:
 *
 *     segments   | copied, 105 bytes | borrowed, 70000 bytes | copied, 25 bytes |
 *     copied     | hdr message | hdr | hdr message |
 *
 * A queue that keeps can be rewound, to send all of it again; it releases nothing until it stops to
 * keep.
 *
 * Ownership: the queue owns copied bytes and holds borrowed ones. Thread: one at a time.
 */
#ifndef MS_NET_QUEUE_PRIV_H
#define MS_NET_QUEUE_PRIV_H

#include "net/grpc.h"

typedef struct msi_segment {
    const char *ptr; /* NULL: the next bytes of copied */
    size_t bytes;
    void (*release)(void *arg); /* of borrowed bytes */
    void *arg;
} msi_segment;

/* Read unsent_bytes and message_count; the others are private. */
typedef struct msi_queue {
    ms_buf copied;
    msi_segment *segments;
    uint32_t segment_count;
    uint32_t segment_capacity;
    uint32_t at;      /* the segment that is being sent */
    uint32_t kept;    /* segments before this were released */
    size_t at_byte;   /* what of it was sent */
    size_t copied_at; /* what of copied was sent */
    size_t unsent_bytes;
    uint64_t message_count; /* since reset */
    bool keeps;
} msi_queue;

void msi_queue_init(msi_queue *queue);
void msi_queue_release(msi_queue *queue);

/* Releases all messages; memory is kept, up to a bound. */
void msi_queue_reset(msi_queue *queue);

void msi_queue_push(msi_queue *queue, const ms_grpc_message *message);

/* Takes bytes from the front; there are as many. */
void msi_queue_take(msi_queue *queue, char *out, size_t bytes);

/* From now on, everything that is sent is kept, or no longer. */
void msi_queue_set_keeps(msi_queue *queue, bool keeps);

/* Sends all again; the queue keeps. */
void msi_queue_rewind(msi_queue *queue);

#endif
