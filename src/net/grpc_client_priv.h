/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What channels (grpc_channel.c) and calls (grpc_call.c) know of each other. A call goes through
 *
 *     start -> [credentials] -> [waiting for a connection] -> on a connection -> done -> pool
 *
 * and may end from each of these. It is in the channel's list of calls until it is done; its memory
 * goes to the pool when it is done and its stream is detached.
 */
#ifndef MS_NET_GRPC_CLIENT_PRIV_H
#define MS_NET_GRPC_CLIENT_PRIV_H

#include "base/env.h"
#include "net/address_priv.h"
#include "net/connect_priv.h"
#include "net/grpc_client.h"
#include "net/http2_priv.h"

#define MSI_CALL_TEXT_BYTES 512

struct ms_grpc_call {
    msi_stream stream; /* first */
    ms_grpc_channel *channel;
    ms_grpc_call *next; /* calls of the channel; the pool */
    ms_grpc_call *prev;
    ms_grpc_call *next_waiting; /* for a connection */
    ms_grpc_call *prev_waiting; /* NULL: it does not wait */
    const ms_grpc_call_events *events;
    void *arg;
    msi_header header_out; /* ":path" and metadata; then what is added when it is sent */
    uint32_t own_fields;   /* of header_out, without what is added */
    msi_header trailers_in;
    int64_t deadline_ns; /* INT64_MAX: none */
    ms_loop_timer deadline;
    ms_credentials_wait wait;
    ms_grpc_code end_code; /* of an end that is made here, and due in the task */
    char end_text[MSI_CALL_TEXT_BYTES];
    msi_h2 *lost_h2; /* the last connection; read only from its own on_closed */
    unsigned http_status;
    ms_tls_obstacle obstacle; /* of an end that is made here */
    bool is_unprocessed;
    bool waits_for_ready;
    bool has_authorization; /* it came from the credentials */
    bool has_headers;       /* the answer has begun */
    bool has_trailers;      /* the answer is in trailers_in */
    bool is_resent;
    bool is_done;
};

typedef struct msi_client_conn {
    msi_h2 h2; /* first */
    ms_grpc_channel *channel;
    struct msi_client_conn *next;
    struct msi_client_conn *prev;
    msi_connector *connector; /* while it connects */
    int64_t started_ns;
    bool has_h2;
    bool is_ready;
} msi_client_conn;

struct ms_grpc_channel {
    ms_loop *loop;
    ms_arena arena; /* texts */
    msi_address address;
    const char *authority;
    const char *user_agent;
    const char *tls_name;
    ms_tls *tls;
    ms_credentials *credentials;
    bool only_local;
    int connections_min;
    int connections_max;
    uint32_t calls_per_connection;
    size_t message_bytes_max;
    int64_t connect_timeout_ns;
    int64_t backoff_initial_ns;
    int64_t backoff_max_ns;
    msi_h2_options h2_options;

    msi_client_conn *conns; /* all that are not closed; NULL-terminated */
    ms_grpc_call calls;     /* ring by next and prev: not done */
    ms_grpc_call waiting;   /* ring by next_waiting and prev_waiting */
    ms_grpc_call *pool;
    uint32_t pool_count;
    uint64_t call_objects; /* that are neither in the pool nor freed */
    msi_budget inbound;
    msi_budget outbound;
    nghttp2_nv *fields; /* scratch */
    size_t field_capacity;
    msi_header_pairs pairs; /* scratch */

    int64_t backoff_ns;  /* the next one */
    int64_t retry_at_ns; /* no connect before */
    ms_loop_timer retry;
    ms_status failure; /* of the last connect */
    ms_tls_obstacle obstacle;
    ms_env_random random;
    ms_grpc_channel_stats stats;
    int callbacks; /* that are running */
    bool is_destroyed;
    bool is_freeing; /* guards against doing it twice */
};

/* Calls: grpc_call.c. */

/* Ends a call with a status of our own, now. */
void msi_call_end(ms_grpc_call *call, ms_grpc_code code, const char *text);

/* Sends it on a connection that has room. */
void msi_call_send_on(ms_grpc_call *call, msi_h2 *h2);

/* Ends it with UNAVAILABLE, in the task: there is no connection for it. */
void msi_call_end_unsent(ms_grpc_call *call, const ms_status *why, ms_tls_obstacle obstacle);

/* Makes a call that is over fit for the next use; its secrets are wiped. */
void msi_call_reset(ms_grpc_call *call);
void msi_call_free(ms_grpc_call *call);

/* Channels: grpc_channel.c. */

/* Finds a connection for a call, or lets it wait, or ends it later. */
void msi_channel_place(ms_grpc_channel *channel, ms_grpc_call *call, bool is_first_in_line);

/* A call does not wait for a connection any more. */
void msi_channel_unwait(ms_grpc_call *call);

/* A call object is free: to the pool. May free a channel that was destroyed. */
void msi_channel_recycle(ms_grpc_channel *channel, ms_grpc_call *call);

#endif
