/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words that gRPC's two sides share: status codes, metadata, messages on their way out, and how
 * a call ended. Calls are in net/grpc_client.h, handlers in net/grpc_server.h.
 *
 * Metadata is a list of pairs. Keys are lower case (a-z 0-9 _ - .); a key that ends in "-bin" has a
 * value of arbitrary bytes, which is raw here and base64 on the wire; other values are printable
 * ASCII. Keys that begin with ":" or "grpc-", and content-type, te and user-agent, are the
 * transport's own: they cannot be sent as metadata and do not show up in it, but for user-agent,
 * which a server sees. Order is kept; a key may occur twice.
 *
 * Ownership: views in callbacks are valid until the callback returns. Thread: loop.
 */
#ifndef MS_NET_GRPC_H
#define MS_NET_GRPC_H

#include "base/str.h"
#include "net/tls.h"

/* Status codes, by gRPC's numbers. */
typedef enum ms_grpc_code {
    MS_GRPC_OK = 0,
    MS_GRPC_CANCELLED = 1,
    MS_GRPC_UNKNOWN = 2,
    MS_GRPC_INVALID_ARGUMENT = 3,
    MS_GRPC_DEADLINE_EXCEEDED = 4,
    MS_GRPC_NOT_FOUND = 5,
    MS_GRPC_ALREADY_EXISTS = 6,
    MS_GRPC_PERMISSION_DENIED = 7,
    MS_GRPC_RESOURCE_EXHAUSTED = 8,
    MS_GRPC_FAILED_PRECONDITION = 9,
    MS_GRPC_ABORTED = 10,
    MS_GRPC_OUT_OF_RANGE = 11,
    MS_GRPC_UNIMPLEMENTED = 12,
    MS_GRPC_INTERNAL = 13,
    MS_GRPC_UNAVAILABLE = 14,
    MS_GRPC_DATA_LOSS = 15,
    MS_GRPC_UNAUTHENTICATED = 16,
    MS_GRPC_CODE_COUNT
} ms_grpc_code;

/* "NOT_FOUND"; "UNKNOWN" for a number outside the enumeration. Static. Thread: any. */
const char *ms_grpc_code_name(ms_grpc_code code);

/* Metadata. */

typedef struct ms_grpc_pair {
    ms_str key;
    ms_str value;
} ms_grpc_pair;

typedef struct ms_grpc_metadata {
    const ms_grpc_pair *pairs;
    size_t count;
} ms_grpc_metadata;

/* The value of the first pair with this key; false when there is none. Thread: any. */
bool ms_grpc_metadata_find(ms_grpc_metadata metadata, ms_str key, ms_str *value_out);

/*
 * True when the key and the value of every pair may be sent as metadata. A call that is started
 * with others, or trailers with others, end the call with INTERNAL; who takes pairs from outside
 * asks first. Thread: any.
 */
bool ms_grpc_metadata_is_valid(ms_grpc_metadata metadata);

/* Messages. */

/*
 * One message on its way out. With release NULL the bytes are copied at once. Else they are
 * borrowed until release(arg) is called: exactly once, on the loop's thread, after the last byte
 * went out or when the call ended before.
 */
typedef struct ms_grpc_message {
    ms_str bytes;
    void (*release)(void *arg);
    void *arg;
} ms_grpc_message;

#define MS_GRPC_MESSAGE_BYTES_DEFAULT (256u << 20) /* as Google's emulator takes */

/* Ends. */

/* How a call ended: what a client is told, and what a server's handler tells. */
typedef struct ms_grpc_result {
    ms_grpc_code code;
    ms_str message;            /* for humans; any bytes */
    ms_str details;            /* grpc-status-details-bin: a google.rpc.Status, raw; empty: none */
    ms_grpc_metadata trailers; /* the other trailers */
    /* Client only: the server has certainly not begun with the call (it was never sent, or the
     * server said so), so that also a call that must not run twice may be repeated. */
    bool is_unprocessed;
    /* Client only: what keeps the call, which was never sent, from any server. Others will fail for
     * it as well until somebody has changed something. */
    ms_tls_obstacle obstacle;
} ms_grpc_result;

#endif
