/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Life of the server, the way from a path to its handler, and the ends of calls.
 */
/* tidy: no-unit-test: tests/unit/bigtable/server runs the tests of the store over it */
#include "bigtable/server/server.h"

#include "base/limits.h"
#include "base/memory.h"
#include "bigtable/model/profile.h"
#include "bigtable/server/server_priv.h"
#include "bigtable/wire/header.h"
#include "bigtable/wire/rpc_status.h"
#include "millstream/version.h"
#include "net/secret.h"

#include <stdio.h>
#include <stdlib.h>

#define BEARER "Bearer "
#define READS_MAX_DEFAULT 2048u
#define LARGE_BYTES_MAX_DEFAULT ((uint64_t)1 << 30)
#define OUT_BYTES_MAX ((size_t)300 << 20) /* a row of the largest size in one answer */

/* What is kept of calls that are over: of each method as many as are likely to be under way at a
 * time, each with what small ones need. */
#define SPARE_CALLS_MAX 64u
#define SPARE_BYTES ((size_t)8 << 10)

/* Methods by path. */

static int compare_paths(const void *a, const void *b)
{
    const msi_method *const *left = a;
    const msi_method *const *right = b;
    return strcmp((*left)->path, (*right)->path);
}

static void add_methods(ms_bt_server *server, const msi_method *methods, size_t count)
{
    MS_ASSERT(server->method_count + count <= MSI_METHODS_MAX);
    for (size_t i = 0; i < count; i++) {
        server->methods[server->method_count++] = &methods[i];
    }
}

static void sort_methods(ms_bt_server *server)
{
    add_methods(server, msi_methods_data, msi_methods_data_count);
    add_methods(server, msi_methods_read, msi_methods_read_count);
    add_methods(server, msi_methods_table, msi_methods_table_count);
    add_methods(server, msi_methods_instance, msi_methods_instance_count);
    add_methods(server, msi_methods_profile, msi_methods_profile_count);
    add_methods(server, msi_methods_operation, msi_methods_operation_count);
    qsort(server->methods, server->method_count, sizeof(*server->methods), compare_paths);
    for (size_t i = 0; i < server->method_count; i++) {
        ms_spares_init(&server->calls[i], SPARE_CALLS_MAX, server->methods[i]->bytes);
    }
}

/* SIZE_MAX: there is none. */
static size_t find_method(const ms_bt_server *server, ms_str path)
{
    size_t low = 0;
    size_t high = server->method_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = ms_str_compare(ms_str_cstr(server->methods[middle]->path), path);
        if (order == 0) {
            return middle;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return SIZE_MAX;
}

/* Ends of calls. */

static msi_call *create_call(ms_bt_server *server, size_t method)
{
    msi_call *call = ms_mem_calloc(1, server->methods[method]->bytes);
    call->server = server;
    call->method = server->methods[method];
    call->home = &server->calls[method];
    ms_arena_init(&call->arena, 0);
    ms_buf_init(&call->out, OUT_BYTES_MAX);
    return call;
}

static void release_own(msi_call *call)
{
    if (call->method->release != NULL) {
        call->method->release(call);
    }
}

static void free_call(ms_spare *spare)
{
    msi_call *call = (msi_call *)(void *)spare;
    if (call->method->leave != NULL) {
        release_own(call);
    }
    ms_buf_release(&call->out);
    ms_arena_release(&call->arena);
    ms_mem_free(call);
}

/* Leaves of a call that is over what the next one uses. */
static void clear_call(msi_call *call)
{
    if (call->method->leave != NULL) {
        call->method->leave(call);
    } else {
        release_own(call);
        memset(call + 1, 0, call->method->bytes - sizeof(*call));
    }
    ms_arena_trim(&call->arena, SPARE_BYTES);
    if (call->out.capacity_bytes > SPARE_BYTES) {
        ms_buf_release(&call->out);
    }
    ms_buf_reset(&call->out);
    memset(&call->grpc, 0, sizeof(*call) - offsetof(msi_call, grpc));
}

static void end_call(msi_call *call)
{
    clear_call(call);
    if (!ms_spares_give(call->home, &call->spare)) {
        free_call(&call->spare);
    }
}

void msi_call_finish(msi_call *call, const ms_bt_status *bt)
{
    ms_str params = ms_buf_view(&call->server->response_params);
    const ms_grpc_pair trailer = {ms_str_lit("x-goog-ext-425905942-bin"), params};
    ms_grpc_server_call *grpc = call->grpc;
    ms_grpc_server_call_set_user(grpc, NULL);
    ms_grpc_server_call_finish(grpc, &(ms_grpc_result){.code = (ms_grpc_code)bt->code,
                                                       .message = ms_str_cstr(bt->text),
                                                       .details = call->details,
                                                       .trailers = {&trailer, 1}});
    end_call(call);
}

void msi_call_fail(msi_call *call, ms_bt_code code, const char *text)
{
    ms_bt_status bt = {0};
    ms_bt_status_set_text(&bt, code, ms_str_cstr(text));
    msi_call_finish(call, &bt);
}

/* Messages. */

bool msi_call_send_out(msi_call *call)
{
    bool has_room =
        ms_grpc_server_call_send(call->grpc, (ms_grpc_message){.bytes = ms_buf_view(&call->out)});
    ms_buf_reset(&call->out);
    return has_room;
}

bool msi_call_send(msi_call *call, const ProtobufCMessage *message, ms_bt_status *bt)
{
    ms_status st = {0};
    if (ms_wire_pack(message, &call->out, &st) != MS_OK) {
        ms_bt_status_from(bt, MS_BT_RESOURCE_EXHAUSTED, &st);
        return false;
    }
    return msi_call_send_out(call);
}

void msi_call_reply(msi_call *call, const ProtobufCMessage *message)
{
    ms_bt_status bt = {0};
    (void)msi_call_send(call, message, &bt);
    msi_call_finish(call, &bt);
}

void msi_call_reply_empty(msi_call *call)
{
    ms_bt_status ok = {0};
    (void)msi_call_send_out(call);
    msi_call_finish(call, &ok);
}

void *msi_call_unpack(msi_call *call, const ProtobufCMessageDescriptor *class, ms_str message)
{
    ms_bt_status bt = {0};
    void *request = ms_wire_unpack(class, message, &ms_wire_request_limits, &call->arena, &bt);
    if (request == NULL) {
        msi_call_finish(call, &bt);
    }
    return request;
}

bool msi_call_table_name(msi_call *call, const char *name, const char *view,
                         ms_bt_table_name *name_out)
{
    ms_bt_status bt = {0};
    if (view != NULL && view[0] != '\0') {
        msi_call_fail(call, MS_BT_UNIMPLEMENTED, "Views of tables are not supported");
        return false;
    }
    if (ms_bt_table_name_parse(name_out, ms_wire_text_view(name), &bt) != MS_BT_OK) {
        msi_call_finish(call, &bt);
        return false;
    }
    return true;
}

ms_mailbox *msi_call_mailbox(const msi_call *call)
{
    return ms_loop_mailbox(ms_grpc_server_call_loop(call->grpc));
}

/* What the transport says. */

static void on_start(ms_grpc_server_call *grpc, const ms_grpc_server_start *start, void *arg)
{
    ms_bt_server *server = arg;
    size_t method = find_method(server, start->path);
    if (method == SIZE_MAX) {
        char text[256];
        char path[128];
        snprintf(text, sizeof(text), "Unknown method %s",
                 ms_bt_bytes_text(start->path, path, sizeof(path)));
        ms_grpc_server_call_finish(
            grpc, &(ms_grpc_result){.code = MS_GRPC_UNIMPLEMENTED, .message = ms_str_cstr(text)});
        return;
    }
    ms_spare *spare = ms_spares_take(&server->calls[method]);
    msi_call *call = spare != NULL ? (msi_call *)(void *)spare : create_call(server, method);
    call->grpc = grpc;
    ms_str features;
    if (ms_grpc_metadata_find(start->metadata, ms_str_lit("bigtable-features"), &features)) {
        (void)ms_wire_features_decode(features, &call->features);
    }
    ms_grpc_server_call_set_user(grpc, call);
}

static void on_message(ms_grpc_server_call *grpc, ms_str message)
{
    msi_call *call = ms_grpc_server_call_user(grpc);
    if (call != NULL) {
        call->has_request = true;
        call->method->begin(call, message);
    }
}

static void on_writable(ms_grpc_server_call *grpc)
{
    msi_call *call = ms_grpc_server_call_user(grpc);
    if (call != NULL && call->method->writable != NULL) {
        call->method->writable(call);
    }
}

static void on_cancel(ms_grpc_server_call *grpc)
{
    msi_call *call = ms_grpc_server_call_user(grpc);
    if (call == NULL) {
        return;
    }
    if (!call->has_request) {
        msi_call_fail(call, MS_BT_CANCELLED, "The call was canceled");
    } else if (call->method->cancel != NULL) {
        call->method->cancel(call);
    } else if (call->store_call != NULL) {
        ms_bt_call_cancel(call->store_call);
    }
}

static const ms_grpc_server_events events = {
    .on_start = on_start,
    .on_message = on_message,
    .on_writable = on_writable,
    .on_cancel = on_cancel,
};

static bool authorize(ms_str authorization, void *arg)
{
    const ms_bt_server *server = arg;
    return ms_str_starts_with(authorization, ms_str_lit(BEARER)) &&
           ms_secret_equals(server->token,
                            ms_str_slice(authorization, sizeof(BEARER) - 1, authorization.bytes));
}

/* Life. */

ms_rc ms_bt_server_check_address(ms_str listen, bool has_tls_and_token, ms_status *st)
{
    MS_TRY(ms_grpc_address_check(listen, st));
    if (has_tls_and_token || ms_grpc_address_is_loopback(listen)) {
        return MS_OK;
    }
    ms_status_set(st, MS_INVALID_OPTION, ms_span_none,
                  "address \"%.*s\" can be reached from other machines, and needs TLS and a token",
                  MS_STR_ARG(listen));
    return ms_status_hint(st, "Give --tls-cert, --tls-key and --token-file, or listen on "
                              "127.0.0.1.");
}

static ms_rc open_server(ms_bt_server *server, const ms_bt_server_options *options, ms_status *st)
{
    ms_wire_response_params params = {.zone = ms_str_lit("local"),
                                      .cluster = ms_str_lit(MS_BT_LOCAL_CLUSTER)};
    bool has_both = options->tls != NULL && options->token != NULL;
    if (ms_wire_response_params_encode(&params, &server->response_params, st) != MS_OK ||
        ms_bt_server_check_address(options->listen, has_both, st) != MS_OK) {
        ms_grpc_listener_close(options->listener);
        return st->code;
    }
    const ms_grpc_pair version = {ms_str_lit("x-millstream-version"), ms_str_lit(MS_VERSION)};
    return ms_grpc_server_create(
        &(ms_grpc_server_options){.loops = options->loops,
                                  .loop_count = options->loop_count,
                                  .listen = options->listen,
                                  .listener = options->listener,
                                  .tls = options->tls,
                                  .events = &events,
                                  .arg = server,
                                  .authorize = options->token != NULL ? authorize : NULL,
                                  .authorize_arg = server,
                                  .headers = {&version, 1},
                                  .takes_one_message = true,
                                  /* On loopback there is one peer, who gets all of them. */
                                  .connections_per_peer =
                                      ms_grpc_address_is_loopback(options->listen) ? SIZE_MAX : 0,
                                  .message_bytes_max = options->message_bytes_max},
        &server->grpc, st);
}

static void destroy(ms_bt_server *server)
{
    ms_bt_client_drain(server->client);
    ms_bt_client_destroy(server->client);
    for (size_t i = 0; i < server->method_count; i++) {
        ms_spares_release(&server->calls[i], free_call);
    }
    msi_operations_release(server);
    ms_buf_release(&server->response_params);
    ms_mutex_release(&server->mutex);
    ms_mem_free(server);
}

ms_rc ms_bt_server_create(const ms_bt_server_options *options, ms_bt_server **server_out,
                          ms_status *st)
{
    *server_out = NULL;
    ms_bt_server *server = ms_mem_calloc(1, sizeof(*server));
    ms_mutex_init(&server->mutex, MS_RANK_BT_SERVER);
    ms_buf_init(&server->response_params, 1024);
    server->store = options->store;
    server->token = options->token;
    server->reads_max = options->reads_max != 0 ? options->reads_max : READS_MAX_DEFAULT;
    server->large_bytes_max =
        options->large_bytes_max != 0 ? options->large_bytes_max : LARGE_BYTES_MAX_DEFAULT;
    /* The store has bounds of its own, and says so; the queue of a client would hide them. */
    server->client =
        ms_bt_client_create(ms_bt_store_transport(options->store),
                            &(ms_bt_client_options){.in_flight_mutations_max = UINT32_MAX,
                                                    .in_flight_bytes_max = UINT64_MAX});
    sort_methods(server);
    if (open_server(server, options, st) != MS_OK) {
        destroy(server);
        return st->code;
    }
    *server_out = server;
    return MS_OK;
}

uint16_t ms_bt_server_port(const ms_bt_server *server)
{
    return ms_grpc_server_port(server->grpc);
}

uint64_t ms_bt_server_call_count(const ms_bt_server *server)
{
    return ms_grpc_server_get_stats(server->grpc).started;
}

void ms_bt_server_destroy(ms_bt_server *server, int64_t grace_ns)
{
    if (server == NULL) {
        return;
    }
    ms_grpc_server_destroy(server->grpc, grace_ns);
    destroy(server);
}
