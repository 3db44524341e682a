/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One HTTP/2 connection, either side: an nghttp2 session over an msi_conn, the streams that are on
 * it, and what keeps both sides honest: limits on control frames, keepalive pings, timeouts.
 * Channels and servers embed it as their connections' first member.
 *
 * nghttp2 is entered from two places only: when bytes came, and when output is pulled at the end of
 * a turn. Everything else submits, and asks for a flush. So its callbacks never nest, and a
 * connection's end is never inside of one.
 *
 * Ownership: the embedder's, until on_closed. Thread: loop.
 */
#ifndef MS_NET_HTTP2_PRIV_H
#define MS_NET_HTTP2_PRIV_H

#include "net/conn_priv.h"
#include "net/stream_priv.h"

/* Shared by the connections of a channel or server; borrowed. */
typedef struct msi_h2_options {
    bool is_server;
    uint32_t streams_max; /* that the peer may open; server only */
    size_t header_bytes_max;
    size_t stream_window_bytes;
    size_t connection_window_bytes;
    uint32_t resets_burst;
    uint32_t resets_per_second;
    uint32_t pings_burst;
    uint32_t settings_burst;
    int64_t handshake_timeout_ns; /* until the peer's first SETTINGS */
    int64_t keepalive_ns;
    int64_t keepalive_timeout_ns;
    int64_t idle_ns;
    int64_t stall_ns;
} msi_h2_options;

typedef struct msi_h2_class {
    /* Server: a request begins. NULL: it is refused. */
    msi_stream *(*on_request)(msi_h2 *h2);

    /* The peer's first SETTINGS came: it speaks HTTP/2. */
    void (*on_ready)(msi_h2 *h2);

    /* Client: the server wants to end the connection. */
    void (*on_goaway)(msi_h2 *h2, uint32_t h2_error, ms_str debug);

    /* There may be room for another stream, or no stream any more. */
    void (*on_room)(msi_h2 *h2);

    /* No stream for idle_ns. */
    void (*on_idle)(msi_h2 *h2);

    /* It is over; the streams have been told. MS_OK: it ended in an orderly way. */
    void (*on_lost)(msi_h2 *h2, const ms_status *why);

    /* The memory may go. */
    void (*on_closed)(msi_h2 *h2);
} msi_h2_class;

/* Tokens that come back with time. */
typedef struct msi_bucket {
    uint32_t tokens;
    int64_t filled_ns;
} msi_bucket;

/* Read freely; write through the functions. */
struct msi_h2 {
    msi_conn conn;
    const msi_h2_class *class_of;
    const msi_h2_options *options;
    nghttp2_session *session;
    msi_stream streams; /* ring: only next and prev are used */
    uint32_t stream_count;
    size_t unsent_bytes;   /* of all streams */
    int64_t read_up_to_ns; /* see msi_h2_lag_ns */
    msi_header block;      /* that comes: frames of no other come between its own */
    ms_loop_timer timer;
    int64_t started_ns;
    int64_t idle_since_ns;
    int64_t ping_sent_ns; /* 0: none is on its way */
    msi_bucket pings;
    msi_bucket settings;
    msi_bucket junk;
    ms_status lost_why; /* for the streams, when the connection is lost */
    ms_tls_obstacle obstacle;
    bool was_heard; /* a byte came */
    bool is_ready;
    bool is_lost;
    bool is_broken;       /* we ended it, for what the peer did */
    bool is_failing;      /* ends when the last GOAWAY was sent */
    bool is_draining;     /* no new streams */
    bool is_shutdown_due; /* the first of two GOAWAYs was sent */
};

void msi_h2_init(msi_h2 *h2, const msi_h2_class *class_of, const msi_h2_options *options,
                 ms_loop *loop);

/*
 * Takes a connected socket and begins. An error is one of on_lost, in a later turn. tls and name as
 * for msi_conn_start.
 */
void msi_h2_start(msi_h2 *h2, int fd, ms_tls *tls, const char *name);

/* Ends now: streams are told, on_lost does not come, on_closed does. Not from within on_... of a
 * stream. Idempotent. */
void msi_h2_close(msi_h2 *h2);

/* No new streams; ends when the last one is gone. A server says so in two steps, so that requests
 * that are on their way are still served. */
void msi_h2_drain(msi_h2 *h2);

/* The connection has no stream, and is to go for another: GOAWAY, then the end. */
void msi_h2_give_up(msi_h2 *h2);

/* The peer did what it may not: GOAWAY with this error, then the end. May be called from
 * anywhere. */
void msi_h2_fail(msi_h2 *h2, uint32_t h2_error, const char *debug);

/* How far the peer is behind with reading what waits for it: it should take as much of it a second
 * as to have all within a minute, and of little at least so much that a mebibyte would take it a
 * minute. So who takes a byte now and then is as far behind as who takes nothing. */
int64_t msi_h2_lag_ns(const msi_h2 *h2, int64_t now_ns);

/* For stream.c: bytes begin to wait where none did; and some are taken, while more may wait. */
void msi_h2_note_waiting(msi_h2 *h2);
void msi_h2_note_taken(msi_h2 *h2, size_t bytes);

/* The streams that the peer lets us have at a time. */
uint32_t msi_h2_peer_streams_max(const msi_h2 *h2);

/* Streams. */

/* Client: sends a request. The fields are borrowed until the stream is detached; the data comes
 * from the stream's queue. */
void msi_h2_request(msi_h2 *h2, msi_stream *stream, const nghttp2_nv *fields, size_t count);

/* Server: the initial header block; data follows from the queue, or is_end. */
void msi_h2_respond(msi_stream *stream, const nghttp2_nv *fields, size_t count, bool is_end);

/* Server: from within on_sent, the trailers. */
void msi_h2_trailers(msi_stream *stream, const nghttp2_nv *fields, size_t count);

/* Resets a stream, unless it is detached. on_closed comes in a later turn. */
void msi_h2_reset_stream(msi_stream *stream, uint32_t h2_error);

/* For stream.c: window for bytes of the connection, and of the stream, that were dealt with. */
void msi_h2_consume(msi_h2 *h2, int32_t stream_id, size_t connection_bytes, size_t stream_bytes);
void msi_h2_resume_data(msi_h2 *h2, int32_t stream_id);

#endif
