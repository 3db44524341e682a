/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream of HTTP/2 that carries one gRPC call, seen from either side: header blocks and messages
 * in, messages out. What they mean is the class's matter; a call embeds its msi_stream as the first
 * member.
 *
 *     in:   DATA -> [held while paused] -> frame reader -> on_message ... on_end
 *           with takes_one: -> kept to the peer's end, so that a second one is seen before it
 *     out:  msi_stream_send -> queue -> DATA, when connection and peer have room
 *
 * The window of a stream is given back when its bytes were read, so a paused stream stops its peer;
 * the window of the connection is given back at once, so it does not stop the others. What is held
 * and what waits to be sent is counted at budgets that streams share.
 *
 * Ownership: the embedder's; it may go, or be reset for another call, when the stream is detached
 * (after on_closed) and is not reading what it holds. Thread: loop.
 */
#ifndef MS_NET_STREAM_PRIV_H
#define MS_NET_STREAM_PRIV_H

#include "net/grpc_frame.h"
#include "net/header_priv.h"
#include "net/loop_priv.h"
#include "net/queue_priv.h"

typedef struct msi_stream msi_stream;
typedef struct msi_h2 msi_h2;

/* The error that on_closed is given when the connection is gone. */
#define MSI_H2_CONNECTION_LOST UINT32_MAX

/* All may be called from within nghttp2; so they start things there, but free nothing of it. */
typedef struct msi_stream_class {
    /* A whole block, of the connection: who needs it for longer swaps it for another. */
    void (*on_headers)(msi_stream *stream, msi_header *header, bool is_end);
    void (*on_message)(msi_stream *stream, ms_str message);
    void (*on_end)(msi_stream *stream); /* the peer has ended its side, and all was read */
    void (*on_broken)(msi_stream *stream, ms_grpc_code code, const char *text);
    void (*on_writable)(msi_stream *stream); /* unsent bytes fell under half of the mark */
    void (*on_sent)(msi_stream *stream);     /* all messages and the end: trailers' turn (server) */
    void (*on_task)(msi_stream *stream);     /* after msi_stream_soon */
    void (*on_closed)(msi_stream *stream, uint32_t h2_error); /* detached now */
} msi_stream_class;

/* Bytes that many streams hold together. */
typedef struct msi_budget {
    uint64_t used;
    uint64_t max;
} msi_budget;

/* Read freely; write through the functions. */
struct msi_stream {
    const msi_stream_class *class_of;
    ms_loop *loop;
    msi_h2 *h2; /* NULL: detached */
    int32_t id;
    msi_stream *next; /* of the connection */
    msi_stream *prev;
    msi_loop_task task;
    msi_budget *inbound;
    msi_budget *outbound;

    ms_grpc_frame_reader reader;
    ms_buf held;       /* bytes that came while paused */
    size_t held_at;    /* what of them was read */
    size_t counted_in; /* at the budget */
    ms_buf only;       /* the message, with takes_one */
    bool has_only;
    bool takes_one;
    bool is_paused;
    bool is_resumed;      /* held bytes are to be read in the task */
    bool is_reading_held; /* they are: the stream may not be reset now, but in on_task */
    bool is_in_ended;     /* END_STREAM came */
    bool is_in_done;      /* on_end was called, or never will be */
    bool is_discarding;   /* what comes is dropped */

    msi_queue queue;
    size_t mark_bytes;
    bool is_over_mark;
    bool is_writable_due; /* on_writable is to be called in the task */
    bool is_task_due;     /* on_task, too */
    bool wants_end;       /* no more messages */
    bool is_end_given;    /* nghttp2 knows */
    bool is_deferred;     /* nghttp2 waits to be told that there is more */
};

typedef struct msi_stream_options {
    ms_loop *loop;
    size_t message_bytes_max;
    size_t mark_bytes;
    msi_budget *inbound;
    msi_budget *outbound;
    bool takes_one; /* exactly one message comes, or the stream is broken: UNIMPLEMENTED */
} msi_stream_options;

void msi_stream_init(msi_stream *stream, const msi_stream_class *class_of,
                     const msi_stream_options *options);
void msi_stream_release(msi_stream *stream);

/* Makes a detached stream as if just made, but keeps some memory. */
void msi_stream_reset(msi_stream *stream);

/* In. */

void msi_stream_pause(msi_stream *stream);
void msi_stream_resume(msi_stream *stream);

/* What comes from now on, and what is held, is dropped; on_message and on_end do not come. */
void msi_stream_discard(msi_stream *stream);

/* Out. */

/* Queues a message. False: more than the mark is unsent; on_writable follows. */
bool msi_stream_send(msi_stream *stream, const ms_grpc_message *message);

/* No more messages. A client's stream is half-closed behind them; a server's gets on_sent. */
void msi_stream_end(msi_stream *stream);

/* Releases what is queued. */
void msi_stream_drop_queue(msi_stream *stream);

/* Makes a detached stream, whose queue keeps and for which nothing came, fit to be sent again. */
void msi_stream_rewind(msi_stream *stream);

/* Calls on_task in this turn. */
void msi_stream_soon(msi_stream *stream);

/* For http2.c. */

void msi_stream_receive(msi_stream *stream, ms_str bytes);
void msi_stream_receive_end(msi_stream *stream);

/* Takes bytes of the queue to be sent now. */
void msi_stream_take(msi_stream *stream, char *out, size_t bytes);

#endif
