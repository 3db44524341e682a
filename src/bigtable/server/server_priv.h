/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the handlers share. A handler is the struct of one call, which begins with msi_call; it
 * lives on the loop of its connection, from the call's start until msi_call_finish or one of its
 * kin.
 *
 *     begin      the request is there (its bytes only during begin): unpack it, ask the store
 *     done       the store's mail, on the loop: answer
 *     writable   streams: the connection has room again
 *     cancel     the client is gone or its time is up: let go of the store; answer as ever, nobody
 *                hears it
 *
 * Thread: loop.
 */
#ifndef MS_BIGTABLE_SERVER_SERVER_PRIV_H
#define MS_BIGTABLE_SERVER_SERVER_PRIV_H

#include "bigtable/client/admin.h"
#include "bigtable/client/change.h"
#include "bigtable/client/client.h"
#include "bigtable/client/single_row.h"
#include "bigtable/server/server.h"
#include "bigtable/store/store.h"
#include "bigtable/wire/pb.h"
#include "net/grpc_server.h"
#include "os/spare.h"
#include "os/thread.h"

typedef struct msi_call msi_call;

typedef struct msi_method {
    const char *path;
    size_t bytes; /* of the handler's struct, which is zero but for msi_call when a call begins */
    void (*begin)(msi_call *call, ms_str message);
    void (*writable)(msi_call *call); /* NULL: no stream */
    void (*cancel)(msi_call *call);   /* NULL: the store's call is canceled, if there is one */
    void (*release)(msi_call *call);  /* NULL: nothing of its own */
    /* Instead of zeroing: the call is over and leaves the handler's part to the next of its method;
     * release is for good then. NULL: released and zeroed. */
    void (*leave)(msi_call *call);
} msi_method;

/* The part of a handler that all have. */
struct msi_call {
    ms_spare spare; /* first */
    ms_bt_server *server;
    const msi_method *method;
    ms_spares *home; /* where it goes when it is over */
    ms_arena arena;  /* of request and answer */
    ms_buf out;      /* a message on its way */

    /* Zero in a new one, from here on. */
    ms_grpc_server_call *grpc;
    ms_bt_call *store_call; /* outstanding; NULL: none */
    ms_str details;         /* of the failure, for its trailer; in the arena, or empty */
    uint32_t features;      /* of the client */
    bool has_request;
};

/* Operations that were answered, for clients that ask after them; the oldest goes. */
#define MSI_OPERATIONS_MAX 256u

typedef struct msi_operation {
    ms_str name;
    ms_str bytes; /* of the Operation */
} msi_operation;

/* Tables of methods, one a file. */
extern const msi_method msi_methods_data[];
extern const size_t msi_methods_data_count;
extern const msi_method msi_methods_read[];
extern const size_t msi_methods_read_count;
extern const msi_method msi_methods_table[];
extern const size_t msi_methods_table_count;
extern const msi_method msi_methods_instance[];
extern const size_t msi_methods_instance_count;
extern const msi_method msi_methods_profile[];
extern const size_t msi_methods_profile_count;
extern const msi_method msi_methods_operation[];
extern const size_t msi_methods_operation_count;

#define MSI_METHODS_MAX 96u

/* Streams, of which so many of each kind may be open: those of changes have no end, and would leave
 * no room for those of rows. */
typedef enum msi_read_kind { MSI_READ_OF_ROWS, MSI_READ_OF_CHANGES, MSI_READ_KINDS } msi_read_kind;

struct ms_bt_server {
    ms_grpc_server *grpc;
    ms_bt_store *store;
    ms_bt_client *client;
    const struct ms_secret *token;
    ms_buf response_params;                     /* of the trailer of data calls */
    const msi_method *methods[MSI_METHODS_MAX]; /* ascending by path */
    ms_spares calls[MSI_METHODS_MAX];           /* that are over; a list for each method */
    size_t method_count;

    ms_mutex mutex; /* guards all below */
    uint64_t operation_number;
    msi_operation operations[MSI_OPERATIONS_MAX];
    uint32_t reads_open[MSI_READ_KINDS];
    uint32_t reads_max;
    uint64_t large_bytes; /* of large rows that wait to be read */
    uint64_t large_bytes_max;
};

/* server.c */

/* Where the store's answers to this call go. */
ms_mailbox *msi_call_mailbox(const msi_call *call);

/* Ends the call; the handler is gone. An OK status ends it well. */
void msi_call_finish(msi_call *call, const ms_bt_status *bt);
void msi_call_fail(msi_call *call, ms_bt_code code, const char *text);

/* Packs and sends one message; false: the connection has had enough for now. Nothing is sent when
 * that fails: then *bt says why. */
bool msi_call_send(msi_call *call, const ProtobufCMessage *message, ms_bt_status *bt);

/* Sends what call->out holds. */
bool msi_call_send_out(msi_call *call);

/* Sends the only message and ends the call well. */
void msi_call_reply(msi_call *call, const ProtobufCMessage *message);

/* Same, for an empty message. */
void msi_call_reply_empty(msi_call *call);

/* Unpacks the request into the arena of the call; NULL when it was refused and the call is over. */
void *msi_call_unpack(msi_call *call, const ProtobufCMessageDescriptor *class, ms_str message);
#define msi_call_request(call, name, message)                                                      \
    ((ms_pb_##name *)msi_call_unpack((call), ms_pb_##name##_class(), (message)))

/* The name of a table; false when it is none and the call is over. views are the names of views
 * that the request may carry instead, which are not built. */
bool msi_call_table_name(msi_call *call, const char *name, const char *view,
                         ms_bt_table_name *name_out);

/* read.c: how large the pages of a read may be that is the n-th one open at a time. */
size_t msi_read_page_bytes(uint32_t open);

/* operation.c: answers with an operation that is done, and keeps it for those who ask. */
void msi_call_reply_operation(msi_call *call, ms_str resource, const ProtobufCMessage *metadata,
                              const ProtobufCMessage *response);
void msi_operations_release(ms_bt_server *server);

#endif
