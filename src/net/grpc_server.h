/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gRPC, server side: a listener whose connections are spread over one or more loops, and handlers
 * that are called back for each call.
 *
 *     static void on_start(ms_grpc_server_call *call, const ms_grpc_server_start *start, void *arg)
 *     {
 *         const method *found = find_method(start->path);
 *         if (found == NULL) {
 *             ms_grpc_server_call_finish(
 *                 call, &(ms_grpc_result){.code = MS_GRPC_UNIMPLEMENTED,
 *                                         .message = ms_str_lit("unknown method")});
 *             return;
 *         }
 *         ms_grpc_server_call_set_user(call, new_request(found));
 *     }
 *
 * Every call that on_start was told of is finished by the handler with ms_grpc_server_call_finish,
 * exactly once, and is valid until then: also after on_cancel, when nobody reads the result any
 * more. So a handler may hand the call's work to another thread and come back with a mail. In
 * between it gets on_message for each request message, on_half_close after the last, on_writable,
 * and on_cancel when the call is lost (reset, connection closed, deadline passed, server drained to
 * its end); after on_cancel nothing else comes. No callback runs inside a function of this header.
 *
 * The transport itself answers what is not a gRPC call (404, 405, 415), calls with a malformed
 * timeout or metadata, with compressed messages or in another encoding than protobuf's
 * (application/grpc+json) or with a wrong number of messages (UNIMPLEMENTED), beyond a limit
 * (RESOURCE_EXHAUSTED; UNAVAILABLE while too much waits to be sent), with an authorization that is
 * refused (UNAUTHENTICATED), and deadlines that pass (DEADLINE_EXCEEDED). Whatever a peer sends,
 * the worst is that its connection is closed.
 *
 * A connection that the server ends (after a mistake of the peer's, or drained) is kept, and what
 * still comes is dropped, until the peer has closed it, too, or for a second: a reset could take
 * the server's last words with it.
 *
 * Much that waits for clients which do not read it does not keep others out: beyond a limit new
 * calls are only for connections that have less than their share of it, the others get UNAVAILABLE;
 * and a connection that has more, and is more than five seconds behind with reading it, is closed
 * when somebody else has a call. Who takes a byte now and then has not read.
 *
 * Who comes when there are as many connections as there may be takes the place of the oldest one
 * that was ended, else that has not finished its handshake, else of the one that is without calls
 * the longest (which is told by GOAWAY); when all have calls, the newcomer is closed. Peers who say
 * nothing, or do nothing, so keep nobody out. An IPv6 address stands for its /64; a unix socket is
 * no address.
 *
 * Connections are dealt out to the loops in turn; a loop for which more than a hundred wait,
 * because it does not get to take them, is passed over.
 *
 * Ownership: the server is its creator's. Thread: each function says; callbacks run on the thread
 * of the connection's loop, so handlers of different connections may run at the same time when the
 * server has several loops.
 */
#ifndef MS_NET_GRPC_SERVER_H
#define MS_NET_GRPC_SERVER_H

#include "net/grpc.h"
#include "net/loop.h"
#include "net/tls.h"

typedef struct ms_grpc_server ms_grpc_server;
typedef struct ms_grpc_listener ms_grpc_listener;
typedef struct ms_grpc_server_call ms_grpc_server_call;

/* What is known when a call begins. */
typedef struct ms_grpc_server_start {
    ms_str path;               /* "/package.Service/Method", not empty */
    ms_grpc_metadata metadata; /* without authorization when the server has an authorize hook */
    int64_t deadline_ns;       /* by ms_env_mono_ns(); INT64_MAX: none */
    ms_str peer;               /* "127.0.0.1:40312" or "unix:" */
} ms_grpc_server_start;

/* Any but on_start may be NULL. */
typedef struct ms_grpc_server_events {
    void (*on_start)(ms_grpc_server_call *call, const ms_grpc_server_start *start, void *arg);
    void (*on_message)(ms_grpc_server_call *call, ms_str message);
    void (*on_half_close)(ms_grpc_server_call *call);
    void (*on_writable)(ms_grpc_server_call *call);
    void (*on_cancel)(ms_grpc_server_call *call);
} ms_grpc_server_events;

/* Zero means the default. With several loops the limits "in all" are shared out evenly. */
typedef struct ms_grpc_server_options {
    ms_loop **loops; /* borrowed; the array is copied */
    int loop_count;
    ms_str listen; /* "host:port", port 0: any free one; "unix:/path"; required without listener */
    ms_grpc_listener *listener; /* already listens; the server's, also when creation fails */
    ms_tls *tls;                /* from ms_tls_create_server; borrowed. NULL: plaintext */
    const ms_grpc_server_events *events; /* borrowed */
    void *arg;                           /* for on_start */

    /* Says whether a call with this value of the authorization header (empty: none) may go on.
     * NULL: all may. May be called on every loop. See ms_secret_equals. */
    bool (*authorize)(ms_str authorization, void *arg);
    void *authorize_arg;

    ms_grpc_metadata headers; /* in the initial metadata of every answer; copied */

    /* All methods take exactly one request message: on_message comes once, with the client's end of
     * sending, right before on_half_close; calls with none or several are UNIMPLEMENTED, as in
     * gRPC's document "Status codes". */
    bool takes_one_message;

    size_t connections_max;         /* in all; default 1024, or half of what descriptors allow */
    size_t connections_per_peer;    /* from one address; default three quarters of them */
    uint32_t streams_max;           /* calls at a time per connection; default 256 */
    size_t header_bytes_max;        /* of a request, as HTTP/2 counts; default 32 KiB */
    size_t message_bytes_max;       /* default MS_GRPC_MESSAGE_BYTES_DEFAULT */
    size_t inbound_bytes_max;       /* incomplete and unread messages, in all; default 1 GiB */
    size_t call_mark_bytes;         /* unsent bytes at which a handler should stop; 256 KiB */
    size_t connection_outbound_max; /* unsent bytes beyond which new calls are refused; 64 MiB */
    size_t outbound_bytes_max;      /* the same in all, and twice as much for those who have less
                                     * than their share; default 512 MiB */
    size_t stream_window_bytes;     /* default 1 MiB */
    size_t connection_window_bytes; /* default 16 MiB */
    uint32_t resets_burst;          /* RST_STREAM frames at once; default 1000 */
    uint32_t resets_per_second;     /* and lasting; default 200 */
    uint32_t pings_burst;           /* PING frames while nothing is sent; default 100; 1 a second */
    uint32_t settings_burst;        /* SETTINGS frames at once; default 100; 1 a second */
    int64_t handshake_timeout_ns;   /* TLS and the client's preface; default 20 s */
    int64_t idle_ns;                /* a connection without calls is drained; default 15 min */
    int64_t keepalive_ns;           /* silence after which the client is pinged; default 60 s */
    int64_t keepalive_timeout_ns;   /* the ping's answer is late; default 20 s */
    int64_t stall_ns;               /* nothing could be written; default 60 s: closed */
} ms_grpc_server_options;

/*
 * Binds and listens; nobody is accepted yet. For those who want to know that an address can be had
 * before they make anything else. Errors: as ms_grpc_server_create. Thread: any.
 */
ms_rc ms_grpc_listen(ms_str address, ms_grpc_listener **listener_out, ms_status *st) MS_MUST_USE;

/* Of a listener that no server was given. NULL is allowed. Thread: any. */
void ms_grpc_listener_close(ms_grpc_listener *listener);

/*
 * Binds, listens and begins to accept. Errors: MS_INVALID_OPTION for an address that cannot be
 * read; MS_IO_ERROR when it cannot be bound. Whether plaintext on this address is acceptable is the
 * caller's to decide: see ms_grpc_address_is_loopback. Thread: any but the loops'.
 */
ms_rc ms_grpc_server_create(const ms_grpc_server_options *options, ms_grpc_server **server_out,
                            ms_status *st) MS_MUST_USE;

/* The port that is listened on; 0 for a unix socket. Thread: any. */
uint16_t ms_grpc_server_port(const ms_grpc_server *server);

/*
 * Stops accepting and sends GOAWAY on every connection: calls that run go on, but for endless ones,
 * which end with UNAVAILABLE; new ones are refused.
 * Connections close when their calls are finished. Returns at once. Thread: any but the loops'.
 */
void ms_grpc_server_drain(ms_grpc_server *server);

/*
 * Drains, waits up to grace_ns for the calls to finish, cancels the rest (on_cancel) and waits for
 * the handlers to finish them, and frees the server. NULL is allowed. Thread: any but the loops'.
 */
void ms_grpc_server_destroy(ms_grpc_server *server, int64_t grace_ns);

/* MS_INVALID_OPTION for what is neither "host:port" nor "unix:/path". Thread: any. */
ms_rc ms_grpc_address_check(ms_str address, ms_status *st) MS_MUST_USE;

/* True for "host:port" and "unix:/path" that only this machine can reach: 127.0.0.0/8, ::1,
 * "localhost", a unix socket. Thread: any. */
bool ms_grpc_address_is_loopback(ms_str address);

/* For metrics and tests. Thread: any but the loops'. */
typedef struct ms_grpc_server_stats {
    uint64_t connections; /* open now, or not closed by their peers yet */
    uint64_t calls;       /* not finished now */
    uint64_t accepted;    /* connections since creation */
    uint64_t started;     /* calls since creation */
    uint64_t refused;     /* connections and calls turned away by a limit */
    uint64_t evicted;     /* connections closed to make room for others */
    uint64_t broken;      /* connections closed for what the peer sent or did not do */
    uint64_t inbound_bytes;
    uint64_t outbound_bytes;
} ms_grpc_server_stats;

ms_grpc_server_stats ms_grpc_server_get_stats(ms_grpc_server *server);

/* Calls. Thread: the loop of the call. */

/* The loop on which the call lives: where mails about it go. Thread: any. */
ms_loop *ms_grpc_server_call_loop(const ms_grpc_server_call *call);

/* A pointer of the handler's. NULL at first. Thread: any one at a time. */
void ms_grpc_server_call_set_user(ms_grpc_server_call *call, void *user);
void *ms_grpc_server_call_user(const ms_grpc_server_call *call);

/* True after on_cancel: what is sent is dropped. */
bool ms_grpc_server_call_is_canceled(const ms_grpc_server_call *call);

/* Sends the initial metadata, at most once and before the first message; else it goes out, with
 * the server's own headers only, with the first message. */
void ms_grpc_server_call_send_headers(ms_grpc_server_call *call, ms_grpc_metadata metadata);

/*
 * Sends one message. False: it was accepted, but the bytes of this call that wait to be sent are
 * above its mark; on_writable says when they have fallen under half of it.
 */
bool ms_grpc_server_call_send(ms_grpc_server_call *call, ms_grpc_message message);

/* Bytes of this call that wait to be sent, and true while they are under the mark. */
size_t ms_grpc_server_call_unsent_bytes(const ms_grpc_server_call *call);
bool ms_grpc_server_call_is_writable(const ms_grpc_server_call *call);

/*
 * Ends the call: code, message, details and trailers go out behind the messages. The handler must
 * not touch the call afterwards.
 */
void ms_grpc_server_call_finish(ms_grpc_server_call *call, const ms_grpc_result *result);

/* The call does not end by itself: a server that drains, now or later, does not wait for it, but
 * ends it with UNAVAILABLE, in a later turn. */
void ms_grpc_server_call_set_endless(ms_grpc_server_call *call);

/* Between pause and resume no on_message and no on_half_close comes, and the client gets no window.
 * Neither nests. */
void ms_grpc_server_call_pause(ms_grpc_server_call *call);
void ms_grpc_server_call_resume(ms_grpc_server_call *call);

#endif
