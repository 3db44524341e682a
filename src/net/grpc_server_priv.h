/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the server's listener and connections (grpc_server.c) and its calls (grpc_server_call.c)
 * know of each other. A server has one shard a loop; the first one accepts and deals connections
 * out in turn. Shards share nothing that changes: each has its own connections, calls, limits.
 *
 * A call object belongs to its shard, not to its connection: the handler may still hold it when the
 * connection is gone.
 */
#ifndef MS_NET_GRPC_SERVER_PRIV_H
#define MS_NET_GRPC_SERVER_PRIV_H

#include "net/address_priv.h"
#include "net/grpc_server.h"
#include "net/http2_priv.h"
#include "os/thread.h"

#include <stdatomic.h>

typedef struct msi_server_conn {
    msi_h2 h2; /* first */
    struct msi_shard *shard;
    struct msi_server_conn *next;
    struct msi_server_conn *prev;
    uint64_t network; /* where the peer comes from; 0: nowhere that is counted */
    bool is_evicted;  /* its place was given to another */
    char peer[MSI_ADDRESS_TEXT_BYTES];
} msi_server_conn;

typedef struct msi_shard {
    ms_grpc_server *server;
    ms_loop *loop;
    msi_server_conn *conns; /* all that are not closed; NULL-terminated */
    size_t conn_count;
    ms_grpc_server_call *pool;
    uint32_t pool_count;
    uint64_t call_count; /* objects that are not in the pool */
    uint64_t open_calls; /* started and not finished */
    msi_budget inbound;
    msi_budget outbound;
    msi_header_pairs pairs; /* scratch */
    nghttp2_nv *fields;     /* scratch */
    size_t field_capacity;
    ms_grpc_server_stats stats; /* only what counts up */
    int64_t limit_told_ns;      /* when the log was last told that there is no room; 0: never */
    int64_t reader_told_ns;     /* the same of clients that do not read */
    int64_t readers_seen_ns;    /* when it was looked for them */
    int holds;                  /* handles that are not closed */
    _Atomic int handovers;      /* connections on their way to it */
    bool is_draining;
    bool is_done; /* said so */
} msi_shard;

struct ms_grpc_listener {
    int fd; /* -1: closed */
    uint16_t port;
    bool is_unix;
    char path[MSI_ADDRESS_HOST_BYTES]; /* of a unix socket, removed at the end */
};

struct ms_grpc_server {
    ms_arena arena;
    ms_grpc_server_options options; /* with defaults filled in */
    msi_h2_options h2_options;
    msi_header headers; /* the server's own, in every answer */
    msi_shard *shards;
    int shard_count;

    /* On the first shard's loop. */
    ms_grpc_listener *listener;
    uv_poll_t listen_poll;
    bool is_listening;
    ms_loop_timer accept_pause;
    int next_shard;

    ms_mutex mutex; /* guards what follows */
    ms_cond done_cond;
    int done_count;
};

struct ms_grpc_server_call {
    msi_stream stream; /* first */
    msi_shard *shard;
    ms_grpc_server_call *next; /* in the pool */
    void *user;
    msi_header header_out;
    msi_header trailer_out;
    int64_t deadline_ns;
    ms_loop_timer deadline;
    bool is_begun;    /* its header block was looked at */
    bool is_started;  /* the handler knows it */
    bool is_finished; /* the handler has finished it, or never heard of it */
    bool is_canceled; /* nobody reads the answer */
    bool has_headers; /* the initial metadata was submitted */
    bool is_endless;  /* is ended by a drain */
};

/* Calls: grpc_server_call.c. */

/* A call object for a request that begins. */
msi_stream *msi_server_call_new(msi_shard *shard);
void msi_server_call_free(ms_grpc_server_call *call);

/* Ends those of a connection's calls that would not end by themselves. */
void msi_server_end_endless(msi_h2 *h2);

/* Shards: grpc_server.c. */

/* False: too much waits to be sent for another call of this connection. It may end others that have
 * more than their share of that and do not read it. */
bool msi_shard_admits(msi_shard *shard, const msi_h2 *h2);

/* The last thing to do with a shard after one of its connections or calls is gone. */
void msi_shard_check_done(msi_shard *shard);

#endif
