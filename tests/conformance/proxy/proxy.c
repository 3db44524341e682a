/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Life of the proxy, the calls that make and end clients, and the way from a path to its method.
 */
/* tidy: no-unit-test: proxy_test.c drives it over its service */
#include "proxy.h"

#include "base/memory.h"
#include "bigtable/client/grpc.h"
#include "bigtable/wire/time.h"
#include "proxy_priv.h"

#include <stdlib.h>

#define ANSWER_BYTES_MAX ((size_t)300 << 20)
#define EMULATOR "emulator"
#define ALL_FEATURES                                                                               \
    GOOGLE__BIGTABLE__TESTPROXY__OPTIONAL_FEATURE_CONFIG__OPTIONAL_FEATURE_CONFIG_ENABLE_ALL

struct proxy {
    ms_loop *calls;
    ms_loop *connections;
    ms_grpc_server *server;
    proxy_client *clients; /* on the loop of calls */
};

/* Clients. */

static char *copy_text(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = ms_mem_alloc(bytes);
    memcpy(copy, text, bytes);
    return copy;
}

static void destroy_client(ms_mail *mail)
{
    proxy_client *client = MS_MAIL_OWNER(mail, proxy_client, end_mail);
    ms_bt_client_destroy(client->client);
    ms_bt_grpc_destroy(client->transport);
    ms_mem_free(client->id);
    ms_mem_free(client->app_profile);
    ms_mem_free(client);
}

/* The last holder may be an operation that is just ending, within which no client can go. */
static void drop_client(const proxy *it, proxy_client *client)
{
    client->holders--;
    if (client->holders == 0) {
        client->end_mail.deliver = destroy_client;
        ms_mailbox_push(ms_loop_mailbox(it->calls), &client->end_mail);
    }
}

/* The link to the client of this name, or the end of the list. */
static proxy_client **find_client(proxy *it, const char *id)
{
    proxy_client **at = &it->clients;
    while (*at != NULL && strcmp((*at)->id, id) != 0) {
        at = &(*at)->next;
    }
    return at;
}

ms_bt_code proxy_call_hold(proxy_call *call, const char *client_id, ms_bt_status *bt)
{
    proxy_client *client = *find_client(call->owner, client_id);
    if (client == NULL) {
        return ms_bt_status_set(bt, MS_BT_NOT_FOUND, "There is no client \"%s\"", client_id);
    }
    if (client->is_closed) {
        return ms_bt_status_set(bt, MS_BT_FAILED_PRECONDITION, "Client \"%s\" is closed",
                                client_id);
    }
    client->holders++;
    call->client = client;
    return MS_BT_OK;
}

/* Ends of calls. */

ms_mailbox *proxy_call_mailbox(const proxy_call *call)
{
    return ms_loop_mailbox(ms_grpc_server_call_loop(call->grpc));
}

static void finish(proxy_call *call, const ms_bt_status *bt)
{
    ms_grpc_server_call_set_user(call->grpc, NULL);
    ms_grpc_server_call_finish(call->grpc, &(ms_grpc_result){.code = (ms_grpc_code)bt->code,
                                                             .message = ms_str_cstr(bt->text)});
    if (call->has_request && call->method->release != NULL) {
        call->method->release(call);
    }
    if (call->client != NULL) {
        drop_client(call->owner, call->client);
    }
    ms_arena_release(&call->arena);
    ms_mem_free(call);
}

void proxy_call_reply(proxy_call *call, const ProtobufCMessage *message)
{
    ms_status st = {0};
    ms_bt_status bt = {0};
    ms_buf bytes;
    ms_buf_init(&bytes, ANSWER_BYTES_MAX);
    if (ms_wire_pack(message, &bytes, &st) == MS_OK) {
        (void)ms_grpc_server_call_send(call->grpc, (ms_grpc_message){.bytes = ms_buf_view(&bytes)});
    } else {
        ms_bt_status_from(&bt, MS_BT_RESOURCE_EXHAUSTED, &st);
    }
    ms_buf_release(&bytes);
    finish(call, &bt);
}

/* Methods on clients. */

/* What a client speaks to: an address, or where the environment says that an emulator is. */
static ms_bt_code find_target(const char *data_target, ms_str *target_out, ms_bt_status *bt)
{
    const char *target = data_target;
    if (strcmp(data_target, EMULATOR) == 0) {
        target = getenv("BIGTABLE_EMULATOR_HOST");
    }
    if (target == NULL || target[0] == '\0') {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT, "The client has no data_target");
    }
    *target_out = ms_str_cstr(target);
    return MS_BT_OK;
}

static ms_bt_code open_client(const proxy *it, const proxy_create_client_request *in, ms_str target,
                              proxy_client **client_out, ms_bt_status *bt)
{
    ms_status st = {0};
    ms_bt_grpc_options options = {.loop = it->connections,
                                  .target = target,
                                  .all_features = in->optional_feature_config == ALL_FEATURES};
    struct ms_bt_transport *transport = NULL;
    if (ms_bt_grpc_create(&options, &transport, &st) != MS_OK) {
        return ms_bt_status_from(bt, MS_BT_INVALID_ARGUMENT, &st);
    }
    proxy_client *client = ms_mem_calloc(1, sizeof(*client));
    client->id = copy_text(in->client_id);
    client->app_profile = copy_text(in->app_profile_id);
    client->timeout_ms = ms_wire_duration_micros(in->per_operation_timeout) / 1000;
    client->transport = transport;
    client->client = ms_bt_client_create(transport, NULL);
    client->holders = 1;
    *client_out = client;
    return MS_BT_OK;
}

static ms_bt_code create_client(proxy_call *call, ms_str message, ms_bt_status *bt)
{
    proxy_create_client_request *in =
        proxy_unpack(create_client_request, message, &call->arena, bt);
    if (in == NULL) {
        return bt->code;
    }
    if (in->client_id[0] == '\0') {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT, "The client has no client_id");
    }
    if (in->security_options != NULL &&
        (in->security_options->use_ssl || in->security_options->access_token[0] != '\0')) {
        return ms_bt_status_set(bt, MS_BT_UNIMPLEMENTED,
                                "The proxy's clients have neither TLS nor tokens");
    }
    ms_str target;
    MS_BT_TRY(find_target(in->data_target, &target, bt));
    proxy_client **place = find_client(call->owner, in->client_id);
    if (*place != NULL) {
        return ms_bt_status_set(bt, MS_BT_ALREADY_EXISTS, "There is a client \"%s\" already",
                                in->client_id);
    }
    MS_BT_TRY(open_client(call->owner, in, target, place, bt));
    proxy_call_reply(call, &proxy_new(&call->arena, create_client_response)->base);
    return MS_BT_OK;
}

/* Operations under way go on; closing twice is once. */
static ms_bt_code close_client(proxy_call *call, ms_str message, ms_bt_status *bt)
{
    proxy_close_client_request *in = proxy_unpack(close_client_request, message, &call->arena, bt);
    if (in == NULL) {
        return bt->code;
    }
    proxy_client *client = *find_client(call->owner, in->client_id);
    if (client == NULL) {
        return ms_bt_status_set(bt, MS_BT_NOT_FOUND, "There is no client \"%s\"", in->client_id);
    }
    client->is_closed = true;
    proxy_call_reply(call, &proxy_new(&call->arena, close_client_response)->base);
    return MS_BT_OK;
}

static ms_bt_code remove_client(proxy_call *call, ms_str message, ms_bt_status *bt)
{
    proxy_remove_client_request *in =
        proxy_unpack(remove_client_request, message, &call->arena, bt);
    if (in == NULL) {
        return bt->code;
    }
    proxy_client **place = find_client(call->owner, in->client_id);
    proxy_client *client = *place;
    if (client == NULL) {
        return ms_bt_status_set(bt, MS_BT_NOT_FOUND, "There is no client \"%s\"", in->client_id);
    }
    *place = client->next;
    drop_client(call->owner, client);
    proxy_call_reply(call, &proxy_new(&call->arena, remove_client_response)->base);
    return MS_BT_OK;
}

#define SERVICE "/google.bigtable.testproxy.CloudBigtableV2TestProxy/"

static const proxy_method client_methods[] = {
    {SERVICE "CreateClient", sizeof(proxy_call), create_client, NULL, NULL},
    {SERVICE "CloseClient", sizeof(proxy_call), close_client, NULL, NULL},
    {SERVICE "RemoveClient", sizeof(proxy_call), remove_client, NULL, NULL},
};

/* What the transport says. */

static const proxy_method *find_in(const proxy_method *methods, size_t count, ms_str path)
{
    for (size_t i = 0; i < count; i++) {
        if (ms_str_equals(ms_str_cstr(methods[i].path), path)) {
            return &methods[i];
        }
    }
    return NULL;
}

static void on_start(ms_grpc_server_call *grpc, const ms_grpc_server_start *start, void *arg)
{
    const proxy_method *method =
        find_in(client_methods, sizeof(client_methods) / sizeof(client_methods[0]), start->path);
    if (method == NULL) {
        method = find_in(proxy_data_methods, proxy_data_method_count, start->path);
    }
    if (method == NULL) {
        ms_grpc_server_call_finish(
            grpc, &(ms_grpc_result){.code = MS_GRPC_UNIMPLEMENTED,
                                    .message = ms_str_lit("The proxy does not have this method")});
        return;
    }
    proxy_call *call = ms_mem_calloc(1, method->bytes);
    call->owner = arg;
    call->method = method;
    call->grpc = grpc;
    ms_arena_init(&call->arena, 0);
    ms_grpc_server_call_set_user(grpc, call);
}

static void on_message(ms_grpc_server_call *grpc, ms_str message)
{
    proxy_call *call = ms_grpc_server_call_user(grpc);
    if (call == NULL || call->has_request) {
        return;
    }
    ms_bt_status bt = {0};
    call->has_request = true;
    if (call->method->begin(call, message, &bt) != MS_BT_OK) {
        finish(call, &bt);
    }
}

static void end_without_request(proxy_call *call)
{
    ms_bt_status bt = {0};
    ms_bt_status_set(&bt, MS_BT_INVALID_ARGUMENT, "The call has no request");
    finish(call, &bt);
}

static void on_half_close(ms_grpc_server_call *grpc)
{
    proxy_call *call = ms_grpc_server_call_user(grpc);
    if (call != NULL && !call->has_request) {
        end_without_request(call);
    }
}

static void on_cancel(ms_grpc_server_call *grpc)
{
    proxy_call *call = ms_grpc_server_call_user(grpc);
    if (call == NULL) {
        return;
    }
    if (!call->has_request) {
        end_without_request(call);
    } else if (call->method->cancel != NULL) {
        call->method->cancel(call);
    } else if (call->pending != NULL) {
        ms_bt_call_cancel(call->pending);
    }
}

static const ms_grpc_server_events events = {.on_start = on_start,
                                             .on_message = on_message,
                                             .on_half_close = on_half_close,
                                             .on_cancel = on_cancel};

/* Life. */

static ms_rc open_proxy(proxy *it, ms_str listen, ms_status *st)
{
    if (!ms_grpc_address_is_loopback(listen)) {
        return ms_status_set(st, MS_INVALID_OPTION, ms_span_none,
                             "address \"%.*s\" can be reached from other machines",
                             MS_STR_ARG(listen));
    }
    MS_TRY(ms_loop_create("connections", &it->connections, st));
    MS_TRY(ms_loop_create("calls", &it->calls, st));
    ms_grpc_server_options options = {
        .loops = &it->calls, .loop_count = 1, .listen = listen, .events = &events, .arg = it};
    return ms_grpc_server_create(&options, &it->server, st);
}

ms_rc proxy_create(ms_str listen, proxy **proxy_out, ms_status *st)
{
    proxy *it = ms_mem_calloc(1, sizeof(*it));
    *proxy_out = NULL;
    if (open_proxy(it, listen, st) != MS_OK) {
        proxy_destroy(it);
        return st->code;
    }
    *proxy_out = it;
    return MS_OK;
}

uint16_t proxy_port(const proxy *it)
{
    return ms_grpc_server_port(it->server);
}

void proxy_destroy(proxy *it)
{
    if (it == NULL) {
        return;
    }
    ms_grpc_server_destroy(it->server, 0);
    while (it->clients != NULL) {
        proxy_client *client = it->clients;
        it->clients = client->next;
        drop_client(it, client);
    }
    ms_loop_destroy(it->calls);
    ms_loop_destroy(it->connections);
    ms_mem_free(it);
}
