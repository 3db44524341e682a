/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Bigtable API over gRPC, in front of the embedded store: what official clients, connectors and
 * the cbt tool talk to. It answers the data API with change streams, table administration, what
 * clients need of instance administration, long-running operations, and Millstream's own service of
 * tablets. Every other method is UNIMPLEMENTED.
 *
 *     ms_bt_server *server = NULL;
 *     MS_TRY(ms_bt_server_create(&(ms_bt_server_options){.loops = loops,
 *                                                        .loop_count = 1,
 *                                                        .listen = ms_str_lit("127.0.0.1:8086"),
 *                                                        .store = store},
 *                                &server, st));
 *     ...
 *     ms_bt_server_destroy(server, grace_ns);
 *
 * It has no semantics of its own: requests are translated, the store decides, answers are
 * translated back. Loopback is served without credentials; every other address needs TLS and a
 * token, or creation fails.
 *
 * Ownership: the server is its creator's; loops, store, tls and token outlive it. Thread: create
 * and destroy any but the loops'.
 */
#ifndef MS_BIGTABLE_SERVER_SERVER_H
#define MS_BIGTABLE_SERVER_SERVER_H

#include "base/status.h"
#include "base/str.h"

#include <stdint.h>

struct ms_bt_store;
struct ms_loop;
struct ms_secret;
struct ms_tls;

typedef struct ms_bt_server ms_bt_server;

typedef struct ms_bt_server_options {
    struct ms_loop **loops;
    int loop_count;
    ms_str listen;                     /* "host:port"; port 0 takes any free one */
    struct ms_grpc_listener *listener; /* already listens there; the server's, also when creation
                                        * fails. NULL: creation does it */
    struct ms_bt_store *store;
    struct ms_tls *tls;            /* NULL: plaintext, for loopback only */
    const struct ms_secret *token; /* what "authorization: Bearer" must carry; NULL: none */
    size_t message_bytes_max;      /* of a request; 0: the default of net/ */
    /* Streams of rows open at a time, of all clients, and as many of changes; those beyond are
     * UNAVAILABLE. Each may hold two pages for a client that does not read. 0: 2048. */
    uint32_t reads_max;
    /* Rows above 1 MiB that are on their way to clients, in all: a read that comes to another one
     * is UNAVAILABLE, unless it is the only one. 0: 1 GiB. */
    uint64_t large_bytes_max;
} ms_bt_server_options;

/*
 * What creation refuses of an address, for those who want to know before they open a store: what is
 * no address, and one that is not loopback unless the server has TLS and a token. Error:
 * MS_INVALID_OPTION.
 */
ms_rc ms_bt_server_check_address(ms_str listen, bool has_tls_and_token, ms_status *st) MS_MUST_USE;

/* Errors: as ms_bt_server_check_address and ms_grpc_server_create. */
ms_rc ms_bt_server_create(const ms_bt_server_options *options, ms_bt_server **server_out,
                          ms_status *st) MS_MUST_USE;

uint16_t ms_bt_server_port(const ms_bt_server *server);

/* The calls that have begun. */
uint64_t ms_bt_server_call_count(const ms_bt_server *server);

/* Drains, waits up to grace_ns, cancels what is left. Takes NULL. */
void ms_bt_server_destroy(ms_bt_server *server, int64_t grace_ns);

#endif
