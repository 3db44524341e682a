/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The transport that reaches a Bigtable by gRPC: Cloud Bigtable, an emulator, or `millstream
 * serve`. Clients (client/client.h) use it like the embedded store; what the network adds happens
 * below them: attempts with backoff, deadlines, routing headers and cookies, and reads that go on
 * where a broken stream left off.
 *
 *     ms_bt_transport *transport = NULL;
 *     MS_TRY(ms_bt_grpc_create(&(ms_bt_grpc_options){.target = ms_str_lit("localhost:8086")},
 *                              &transport, st));
 *     ms_bt_client *client = ms_bt_client_create(transport, NULL);
 *     ...
 *     ms_bt_client_destroy(client);
 *     ms_bt_grpc_destroy(transport);
 *
 * A call that cannot reach its server for a reason that somebody has to change (a certificate, TLS
 * on one side only) fails at once. Otherwise repeated are: reads, sampling, and writes whose
 * mutations give the same result twice, after UNAVAILABLE, DEADLINE_EXCEEDED and ABORTED (reads),
 * until the attempts, the time of the call or the patience that the server asks for (RetryInfo) run
 * out. What is never repeated: calls on a single row that read and write, SetCells with the
 * server's timestamp, and what changes tables; unless no server has begun with the call, because
 * none was reached or it refused the stream.
 *
 * Ownership: what options point to is borrowed for the call, but for tls, credentials and loop,
 * which outlive the transport. Thread: create and destroy any but the loop's; as a transport, any.
 */
#ifndef MS_BIGTABLE_CLIENT_GRPC_H
#define MS_BIGTABLE_CLIENT_GRPC_H

#include "base/status.h"
#include "base/str.h"

#include <stdbool.h>

struct ms_bt_transport;
struct ms_credentials;
struct ms_loop;
struct ms_tls;

/* What a user is told to change, by what is wrong; NULL: nothing. Static. */
typedef struct ms_bt_grpc_hints {
    const char *certificate; /* the server's was not accepted */
    const char *tls;         /* the server expects TLS, which the transport does not speak */
    const char *plaintext;   /* the other way round */
    const char *token;       /* the server does not accept the authorization, or misses one */
} ms_bt_grpc_hints;

typedef struct ms_bt_grpc_options {
    struct ms_loop *loop;               /* required */
    ms_str target;                      /* "host:port" of the data API; required */
    ms_str admin_target;                /* of the admin APIs; empty: target */
    struct ms_tls *tls;                 /* NULL: plaintext, which is for this machine only */
    struct ms_credentials *credentials; /* NULL: none. They must live on the loop */
    bool allow_plaintext; /* to another machine: the user has named it in so many words */
    bool all_features;    /* announce every feature flag: for conformance tests */
    int connections_max;  /* 0: the default of the channel */
    ms_bt_grpc_hints hints;
} ms_bt_grpc_options;

/* Opens nothing yet. Errors: as ms_grpc_channel_create. */
ms_rc ms_bt_grpc_create(const ms_bt_grpc_options *options, struct ms_bt_transport **transport_out,
                        ms_status *st) MS_MUST_USE;

/* No client is left. Takes NULL. Blocks until the loop has let go of it. */
void ms_bt_grpc_destroy(struct ms_bt_transport *transport);

#endif
