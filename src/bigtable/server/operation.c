/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Long-running operations. Nothing here runs long: an operation is answered done, and kept for a
 * while for clients that ask after it by its name. Another process does not know it.
 */
#include "bigtable/server/server_priv.h"

#include "base/memory.h"
#include "bigtable/wire/resource.h"

#include <inttypes.h>
#include <stdio.h>

static void forget(msi_operation *operation)
{
    ms_mem_free((void *)(uintptr_t)operation->name.ptr);
    *operation = (msi_operation){0};
}

/* Keeps a copy in place of the oldest. Under the mutex. */
static void keep(ms_bt_server *server, ms_str name, ms_str bytes)
{
    msi_operation *place = &server->operations[server->operation_number % MSI_OPERATIONS_MAX];
    forget(place);
    char *copy = ms_mem_alloc(name.bytes + bytes.bytes);
    memcpy(copy, name.ptr, name.bytes);
    memcpy(copy + name.bytes, bytes.ptr, bytes.bytes);
    place->name = (ms_str){copy, name.bytes};
    place->bytes = (ms_str){copy + name.bytes, bytes.bytes};
}

void msi_operations_release(ms_bt_server *server)
{
    for (size_t i = 0; i < MSI_OPERATIONS_MAX; i++) {
        forget(&server->operations[i]);
    }
}

void msi_call_reply_operation(msi_call *call, ms_str resource, const ProtobufCMessage *metadata,
                              const ProtobufCMessage *response)
{
    ms_bt_server *server = call->server;
    ms_bt_status bt = {0};
    ms_status st = {0};
    const ms_bt_status well = {0};
    ms_mutex_lock(&server->mutex);
    uint64_t number = ++server->operation_number;
    ms_str name = ms_arena_format(&call->arena, "operations/%.*s/operations/%" PRIu64,
                                  MS_STR_ARG(resource), number);
    ms_pb_operation *out = ms_wire_operation_to_pb(name, metadata, response, &well, &call->arena);
    ms_rc rc = ms_wire_pack(&out->base, &call->out, &st);
    if (rc == MS_OK) {
        keep(server, name, ms_buf_view(&call->out));
    }
    ms_mutex_unlock(&server->mutex);
    if (rc == MS_OK) {
        (void)msi_call_send_out(call);
    } else {
        ms_bt_status_from(&bt, MS_BT_RESOURCE_EXHAUSTED, &st);
    }
    msi_call_finish(call, &bt);
}

/* Asking after operations. */

typedef enum answer_kind {
    ANSWER_OPERATION,
    ANSWER_EMPTY,
    ANSWER_DELETED /* empty, and the operation is forgotten */
} answer_kind;

/* The operation of this name; NULL: none is kept. Under the mutex. */
static msi_operation *find(ms_bt_server *server, ms_str name)
{
    for (size_t i = 0; i < MSI_OPERATIONS_MAX && name.bytes > 0; i++) {
        if (ms_str_equals(server->operations[i].name, name)) {
            return &server->operations[i];
        }
    }
    return NULL;
}

/* Prepares the answer; false: there is no such operation. */
static bool prepare(msi_call *call, const char *name, answer_kind kind)
{
    ms_bt_server *server = call->server;
    ms_status st = {0};
    ms_mutex_lock(&server->mutex);
    msi_operation *operation = find(server, ms_wire_text_view(name));
    bool is_done = operation != NULL;
    if (is_done && kind == ANSWER_OPERATION) {
        is_done = ms_buf_append(&call->out, operation->bytes, &st) == MS_OK;
    } else if (is_done && kind == ANSWER_DELETED) {
        forget(operation);
    }
    ms_mutex_unlock(&server->mutex);
    return is_done;
}

static void reply_found(msi_call *call, const char *name, answer_kind kind)
{
    if (!prepare(call, name, kind)) {
        char text[256];
        char shown[160];
        snprintf(text, sizeof(text), "Operation \"%s\" not found",
                 ms_bt_bytes_text(ms_wire_text_view(name), shown, sizeof(shown)));
        msi_call_fail(call, MS_BT_NOT_FOUND, text);
        return;
    }
    msi_call_reply_empty(call);
}

static void get_operation(msi_call *call, ms_str message)
{
    ms_pb_get_operation_request *in = msi_call_request(call, get_operation_request, message);
    if (in != NULL) {
        reply_found(call, in->name, ANSWER_OPERATION);
    }
}

static void wait_operation(msi_call *call, ms_str message)
{
    ms_pb_wait_operation_request *in = msi_call_request(call, wait_operation_request, message);
    if (in != NULL) {
        reply_found(call, in->name, ANSWER_OPERATION);
    }
}

/* Too late: it is done. The service calls that a success. */
static void cancel_operation(msi_call *call, ms_str message)
{
    ms_pb_cancel_operation_request *in = msi_call_request(call, cancel_operation_request, message);
    if (in != NULL) {
        reply_found(call, in->name, ANSWER_EMPTY);
    }
}

static void delete_operation(msi_call *call, ms_str message)
{
    ms_pb_delete_operation_request *in = msi_call_request(call, delete_operation_request, message);
    if (in != NULL) {
        reply_found(call, in->name, ANSWER_DELETED);
    }
}

static void list_operations(msi_call *call, ms_str message)
{
    ms_bt_server *server = call->server;
    ms_bt_status bt = {0};
    ms_pb_list_operations_request *in = msi_call_request(call, list_operations_request, message);
    if (in == NULL) {
        return;
    }
    ms_pb_list_operations_response *out = ms_pb_new(&call->arena, list_operations_response);
    out->operations = ms_arena_array(&call->arena, ms_pb_operation *, MSI_OPERATIONS_MAX);
    ms_mutex_lock(&server->mutex);
    for (size_t i = 0; i < MSI_OPERATIONS_MAX && ms_bt_status_is_ok(&bt); i++) {
        if (server->operations[i].name.bytes > 0) {
            ms_pb_operation *operation = ms_pb_unpack(operation, server->operations[i].bytes,
                                                      &ms_wire_response_limits, &call->arena, &bt);
            if (operation != NULL) {
                out->operations[out->n_operations++] = operation;
            }
        }
    }
    ms_mutex_unlock(&server->mutex);
    msi_call_reply(call, &out->base);
}

/* The table. */

#define SERVICE "/google.longrunning.Operations/"

const msi_method msi_methods_operation[] = {
    {.path = SERVICE "GetOperation", .bytes = sizeof(msi_call), .begin = get_operation},
    {.path = SERVICE "WaitOperation", .bytes = sizeof(msi_call), .begin = wait_operation},
    {.path = SERVICE "CancelOperation", .bytes = sizeof(msi_call), .begin = cancel_operation},
    {.path = SERVICE "DeleteOperation", .bytes = sizeof(msi_call), .begin = delete_operation},
    {.path = SERVICE "ListOperations", .bytes = sizeof(msi_call), .begin = list_operations},
};
const size_t msi_methods_operation_count =
    sizeof(msi_methods_operation) / sizeof(msi_methods_operation[0]);
