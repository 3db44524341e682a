/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the proxy share. Two loops: one has the suite's calls and everything that is
 * remembered, the other one our clients' connections. So a client may be made and destroyed from
 * within a call of the suite.
 *
 *     begin     the request is there: find the client, start the operation
 *     done      the operation's mail: answer
 *     cancel    the suite is gone: give the operation up, then answer as ever, nobody hears it
 *
 * Thread: the loop of the suite's calls, for all of it.
 */
#ifndef MS_TESTS_CONFORMANCE_PROXY_PROXY_PRIV_H
#define MS_TESTS_CONFORMANCE_PROXY_PROXY_PRIV_H

#include "bigtable/client/client.h"
#include "bigtable/client/single_row.h"
#include "bigtable/wire/pb.h"
#include "net/grpc_server.h"
#include "proxy.h"

#include <google/bigtable/testproxy/test_proxy.pb-c.h>

/* The messages of the service, under short names: as bigtable/wire/pb.h. */
#define PROXY_MESSAGES(X)                                                                          \
    X(create_client_request, CreateClientRequest)                                                  \
    X(create_client_response, CreateClientResponse)                                                \
    X(close_client_request, CloseClientRequest)                                                    \
    X(close_client_response, CloseClientResponse)                                                  \
    X(remove_client_request, RemoveClientRequest)                                                  \
    X(remove_client_response, RemoveClientResponse)                                                \
    X(read_row_request, ReadRowRequest)                                                            \
    X(row_result, RowResult)                                                                       \
    X(read_rows_request, ReadRowsRequest)                                                          \
    X(rows_result, RowsResult)                                                                     \
    X(mutate_row_request, MutateRowRequest)                                                        \
    X(mutate_row_result, MutateRowResult)                                                          \
    X(mutate_rows_request, MutateRowsRequest)                                                      \
    X(mutate_rows_result, MutateRowsResult)                                                        \
    X(check_and_mutate_row_request, CheckAndMutateRowRequest)                                      \
    X(check_and_mutate_row_result, CheckAndMutateRowResult)                                        \
    X(sample_row_keys_request, SampleRowKeysRequest)                                               \
    X(sample_row_keys_result, SampleRowKeysResult)                                                 \
    X(read_modify_write_row_request, ReadModifyWriteRowRequest)

#define X(name, type)                                                                              \
    typedef Google__Bigtable__Testproxy__##type proxy_##name;                                      \
    static inline const ProtobufCMessageDescriptor *proxy_##name##_class(void)                     \
    {                                                                                              \
        return &google__bigtable__testproxy__##name##__descriptor;                                 \
    }
PROXY_MESSAGES(X)
#undef X

#define proxy_new(arena, name) ((proxy_##name *)ms_wire_make((arena), proxy_##name##_class()))
#define proxy_unpack(name, bytes, arena, bt)                                                       \
    ((proxy_##name *)ms_wire_unpack(proxy_##name##_class(), (bytes), &ms_wire_request_limits,      \
                                    (arena), (bt)))

typedef struct proxy_client proxy_client;
typedef struct proxy_call proxy_call;

typedef struct proxy_method {
    const char *path;
    size_t bytes; /* of the call's struct */
    /* Takes the request; on a failure the call ends with it. */
    ms_bt_code (*begin)(proxy_call *call, ms_str message, ms_bt_status *bt);
    void (*cancel)(proxy_call *call);  /* NULL: pending is canceled, if there is one */
    void (*release)(proxy_call *call); /* NULL: nothing of its own. begin has run, maybe in vain */
} proxy_method;

/* The part of a call that all have. */
struct proxy_call {
    proxy *owner;
    const proxy_method *method;
    ms_grpc_server_call *grpc;
    proxy_client *client; /* held; NULL: none yet */
    ms_bt_call *pending;  /* outstanding; NULL: none */
    ms_arena arena;       /* of request and answer */
    bool has_request;
};

/* A client of the suite's. */
struct proxy_client {
    proxy_client *next;
    char *id;
    char *app_profile;
    int64_t timeout_ms; /* of each operation; 0: the client's default */
    struct ms_bt_transport *transport;
    ms_bt_client *client;
    uint32_t holders; /* the list of clients, and calls */
    ms_mail end_mail; /* once there is none */
    bool is_closed;
};

/* The methods on data: data.c. */
extern const proxy_method proxy_data_methods[];
extern const size_t proxy_data_method_count;

/* proxy.c */

/* Where the answers of operations go. */
ms_mailbox *proxy_call_mailbox(const proxy_call *call);

/* Holds the open client of this name until the call is over: call->client. */
ms_bt_code proxy_call_hold(proxy_call *call, const char *client_id, ms_bt_status *bt);

/* Sends the only answer and ends the call. */
void proxy_call_reply(proxy_call *call, const ProtobufCMessage *message);

#endif
