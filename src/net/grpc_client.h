/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gRPC, client side. A channel is a pool of HTTP/2 connections to one authority; a call is one
 * request, unary or streaming, on one of them.
 *
 *     static const ms_grpc_call_events events = {.on_message = got, .on_done = done};
 *
 *     ms_grpc_call *call = ms_grpc_call_start(
 *         channel, &(ms_grpc_call_options){.path = ms_str_lit("/echo.Echo/Say"),
 *                                          .metadata = {pairs, 2},
 *                                          .deadline_ns = ms_env_mono_ns() + 2000000000,
 *                                          .request = &(ms_grpc_message){.bytes = bytes},
 *                                          .events = &events,
 *                                          .arg = request});
 *
 * A channel opens its first connection at its first call and more while all are busy, up to a
 * maximum; a connection that the server drains (GOAWAY) takes no new calls; one that is lost is
 * made anew, after a backoff with jitter. A call waits for a connection that is being made. When
 * that fails, or during the backoff, it ends with UNAVAILABLE, unless it is wait_for_ready. A call
 * with at most one request message that the server says it has not begun (GOAWAY, REFUSED_STREAM)
 * is sent once more by the channel itself, within its deadline.
 *
 * A call ends exactly once, with on_done; then the call object is gone. Nothing is called back
 * inside a function of this header, but for ms_grpc_channel_destroy: not even an error of
 * ms_grpc_call_start. The channel retries nothing else; that is its user's policy.
 *
 * Compressed answers are refused with INTERNAL: a call never announces that it takes any.
 *
 * Ownership: what options point to is copied or, where it says so, borrowed. Thread: loop, the one
 * that the channel was made for, except where it says otherwise.
 */
#ifndef MS_NET_GRPC_CLIENT_H
#define MS_NET_GRPC_CLIENT_H

#include "net/credentials.h"
#include "net/grpc.h"
#include "net/loop.h"
#include "net/tls.h"

/* Channels. */

typedef struct ms_grpc_channel ms_grpc_channel;

/* Zero means the default. */
typedef struct ms_grpc_channel_options {
    ms_str target; /* "host:port", "127.0.0.1:8086", "[::1]:8086" or "unix:/path"; required */
    ms_tls *tls;   /* from ms_tls_create_client; borrowed. NULL: plaintext */
    bool allow_plaintext;             /* also to an address that is not of this machine */
    ms_credentials *credentials;      /* borrowed; on this channel's loop. NULL: none */
    bool allow_plaintext_credentials; /* sends them without TLS beyond this machine, too */
    ms_str authority;  /* what :authority says; default: target. Also the name that TLS verifies */
    ms_str user_agent; /* default: "millstream" and the transport's name */
    int connections_min;          /* kept open once there was a call; default 1 */
    int connections_max;          /* default 8 */
    int calls_per_connection;     /* beyond this another connection is opened; default 64 */
    size_t message_bytes_max;     /* received; default MS_GRPC_MESSAGE_BYTES_DEFAULT */
    size_t header_bytes_max;      /* received, as HTTP/2 counts them; default 64 KiB */
    int64_t connect_timeout_ns;   /* name, TCP and TLS together; default 20 s */
    int64_t keepalive_ns;         /* silence after which a connection with calls is pinged; 30 s */
    int64_t keepalive_timeout_ns; /* the ping's answer is late; default 10 s */
    int64_t backoff_initial_ns;   /* default 1 s */
    int64_t backoff_max_ns;       /* default 60 s */
    int64_t idle_ns;              /* an unused connection above the minimum closes; 5 min */
    size_t stream_window_bytes;   /* default 4 MiB: what a paused call may hold */
    size_t connection_window_bytes; /* default 16 MiB */
} ms_grpc_channel_options;

#define MS_GRPC_CHANNEL_CONNECTIONS_MAX 64

/*
 * Makes a channel; nothing is opened. Errors: MS_INVALID_OPTION for a target that cannot be read,
 * and for plaintext to another machine without allow_plaintext (names other than "localhost" are
 * taken to be other machines). Thread: any.
 */
ms_rc ms_grpc_channel_create(ms_loop *loop, const ms_grpc_channel_options *options,
                             ms_grpc_channel **channel_out, ms_status *st) MS_MUST_USE;

/*
 * Ends its calls with CANCELLED, from within this function, and closes its connections; their
 * sockets go in a later turn. Not from within a callback of one of its calls: who wants to close a
 * channel there sends a mail. NULL is allowed. Thread: loop; from elsewhere through ms_loop_call.
 */
void ms_grpc_channel_destroy(ms_grpc_channel *channel);

/* For metrics and tests. */
typedef struct ms_grpc_channel_stats {
    int connections; /* ready for calls */
    int connecting;
    int draining;
    uint64_t connects; /* since creation, successful */
    uint64_t connect_failures;
    uint64_t calls_active;  /* on connections */
    uint64_t calls_waiting; /* for a connection or for credentials */
    uint64_t calls_started;
    uint64_t calls_resent;
} ms_grpc_channel_stats;

ms_grpc_channel_stats ms_grpc_channel_get_stats(const ms_grpc_channel *channel);

/* Calls. */

typedef struct ms_grpc_call ms_grpc_call;

/* Any but on_done may be NULL. arg is that of the options. */
typedef struct ms_grpc_call_events {
    /* The server's initial metadata; at most once, and not when the answer is an error without
     * messages (trailers-only). */
    void (*on_headers)(ms_grpc_call *call, ms_grpc_metadata headers, void *arg);

    /* One message, whole. May pause, cancel, send. */
    void (*on_message)(ms_grpc_call *call, ms_str message, void *arg);

    /* Messages may be sent again, after ms_grpc_call_send returned false. */
    void (*on_writable)(ms_grpc_call *call, void *arg);

    /* The end, exactly once; afterwards the call object is gone. */
    void (*on_done)(ms_grpc_call *call, const ms_grpc_result *result, void *arg);
} ms_grpc_call_events;

typedef struct ms_grpc_call_options {
    ms_str path;                       /* "/package.Service/Method"; copied */
    ms_grpc_metadata metadata;         /* copied */
    int64_t deadline_ns;               /* by ms_env_mono_ns(); 0: none */
    const ms_grpc_message *request;    /* when given: the only message; half-closes at once */
    bool wait_for_ready;               /* waits through failed connects, up to the deadline */
    const ms_grpc_call_events *events; /* borrowed until the end */
    void *arg;
} ms_grpc_call_options;

/* Starts a call. Never NULL. The call is valid until its on_done has returned. */
ms_grpc_call *ms_grpc_call_start(ms_grpc_channel *channel, const ms_grpc_call_options *options);

/*
 * Sends one more message; at most 4 GiB - 1. False: it was accepted, but much is waiting to be sent
 * (256 KiB), and on_writable says when to go on. After the end of the call's sending side by the
 * server, the message is released and forgotten. Not after half-close.
 */
bool ms_grpc_call_send(ms_grpc_call *call, ms_grpc_message message);

/* No more messages will be sent. */
void ms_grpc_call_half_close(ms_grpc_call *call);

/* Ends the call with CANCELLED, unless it has ended meanwhile; on_done comes in a later turn, and
 * nothing else before it. */
void ms_grpc_call_cancel(ms_grpc_call *call);

/*
 * Between pause and resume no on_message comes and no window is given to the server: it stops when
 * the window is used up. The end of the call waits behind the messages, too; an end by deadline,
 * cancel or a lost connection does not. Neither nests.
 */
void ms_grpc_call_pause(ms_grpc_call *call);
void ms_grpc_call_resume(ms_grpc_call *call);

#endif
