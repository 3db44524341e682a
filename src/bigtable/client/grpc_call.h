/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations of one request message, for the files that have many of them.
 *
 * Private to this folder. Thread: loop, but for create, which is any.
 */
#ifndef MS_BIGTABLE_CLIENT_GRPC_CALL_H
#define MS_BIGTABLE_CLIENT_GRPC_CALL_H

#include "bigtable/client/grpc_priv.h"
#include "bigtable/wire/pb.h"

/* Calls that look are repeated, those that change something are not: after a failure of theirs
 * nobody knows whether they were carried out. */
#define MSI_SECOND_NS INT64_C(1000000000)
#define MSI_LOOKING_POLICY                                                                         \
    {                                                                                              \
        .attempt_ns = 60 * MSI_SECOND_NS, .total_ns = 600 * MSI_SECOND_NS, .attempts_max = 10,     \
        .retries_aborted = true                                                                    \
    }
#define MSI_CHANGING_POLICY                                                                        \
    {                                                                                              \
        .total_ns = 300 * MSI_SECOND_NS, .attempts_max = 1                                         \
    }

/* A call of the client as an operation. */
typedef struct msi_unary {
    msi_op op; /* first */
    ms_bt_call *call;
    void *list; /* of answers that come one by one; in the call's arena */
    size_t list_capacity;
    ms_str page_token; /* of the page that follows; in the call's arena */
    ms_str operation;  /* the name of the long-running operation; in the call's arena */
    bool is_done;      /* it is */
} msi_unary;

/* Params are still to be set; then msi_op_start. */
msi_unary *msi_unary_create(msi_grpc *grpc, const msi_op_class *class_of, ms_bt_call *call);

/* The finish of all such classes. */
void msi_unary_finish(msi_op *op);

/* Packs a request. */
ms_bt_code msi_unary_pack(const ProtobufCMessage *request, ms_buf *message, ms_bt_status *bt);

/* The message of an answer that says nothing. */
ms_bt_code msi_unary_ignore(msi_op *op, ms_str message, ms_bt_status *bt);

/* The list with room for one more than count. */
void *msi_unary_list(msi_unary *unary, size_t count, size_t element_bytes, ms_arena *arena);

/* The end of lists that come in pages: goes on while there is a page_token. */
msi_op_next msi_unary_pages_end(msi_op *op);

/*
 * Long-running operations: the first request starts one, the next ones ask after it. Has a request
 * to ask after it if one was started; the answer of both, with the response in *response_out once
 * there is one; and the end.
 */
bool msi_unary_is_polling(const msi_op *op);
ms_bt_code msi_unary_poll_request(const msi_op *op, ms_buf *message, ms_bt_status *bt);
ms_bt_code msi_unary_operation(msi_op *op, ms_str message, ms_arena *arena,
                               ms_pb_any **response_out, ms_bt_status *bt);
msi_op_next msi_unary_operation_end(msi_op *op);

#endif
