/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The scripted server: one loop, on which everything but the waiting happens. What is recorded is
 * written once, before the count that makes it visible, so the test's thread reads without a lock.
 */
/* tidy: no-unit-test: the tests of tests/conformance run on it */
#include "mock.h"

#include "base/arena.h"
#include "base/env.h"
#include "base/memory.h"
#include "bigtable/wire/rpc_status.h"
#include "net/grpc_server.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#define DETAILS_BYTES_MAX ((size_t)1 << 16)

/* A request that is not over. */
typedef struct open_call {
    mock *server;
    ms_grpc_server_call *call;
    const mock_answer *answer; /* NULL: none is left */
    ms_loop_timer timer;
    mock_request request;
    struct open_call *next_held;
} open_call;

struct mock {
    ms_loop *loop;
    ms_grpc_server *server;
    char target[32];
    ms_parker event;

    /* Loop. */
    const mock_answer *script;
    bool *is_used;
    size_t script_count;
    ms_arena arena; /* what is recorded, and calls */
    size_t gather_count;
    size_t held_count;
    open_call *held; /* newest first */

    mock_request requests[MOCK_REQUESTS_MAX];
    _Atomic size_t request_count;
    _Atomic size_t canceled_count;
};

/* Answers. */

static bool has_bytes(ms_str text, ms_str part)
{
    for (size_t at = 0; at + part.bytes <= text.bytes; at++) {
        if (memcmp(text.ptr + at, part.ptr, part.bytes) == 0) {
            return true;
        }
    }
    return false;
}

static const mock_answer *take_answer(mock *server, ms_str message)
{
    for (size_t i = 0; i < server->script_count; i++) {
        const mock_answer *answer = &server->script[i];
        bool fits = answer->when.bytes == 0 || has_bytes(message, answer->when);
        if (!server->is_used[i] && fits) {
            server->is_used[i] = true;
            return answer;
        }
    }
    return NULL;
}

static void finish_call(open_call *open, const mock_answer *answer)
{
    ms_status st = {0};
    ms_buf details;
    ms_buf_init(&details, DETAILS_BYTES_MAX);
    ms_grpc_result result = {.code = (ms_grpc_code)answer->code};
    result.message = answer->text == NULL ? ms_str_lit("") : ms_str_cstr(answer->text);
    result.trailers.pairs = answer->trailers;
    while (result.trailers.count < MOCK_TRAILERS_MAX &&
           answer->trailers[result.trailers.count].key.bytes > 0) {
        result.trailers.count++;
    }
    if (answer->has_retry_info) {
        ms_wire_status status = {.code = answer->code,
                                 .message = result.message,
                                 .has_retry_delay = true,
                                 .retry_delay_micros = answer->retry_delay_ms * 1000};
        if (ms_wire_status_encode(&status, &open->server->arena, &details, &st) == MS_OK) {
            result.details = ms_buf_view(&details);
        }
    }
    ms_grpc_server_call_finish(open->call, &result);
    ms_buf_release(&details);
}

static void send_answer(open_call *open)
{
    static const mock_answer nothing_left = {.code = MS_BT_FAILED_PRECONDITION,
                                             .text = "the script has no answer for this"};
    const mock_answer *answer = open->answer == NULL ? &nothing_left : open->answer;
    for (size_t i = 0; i < MOCK_MESSAGES_MAX && answer->messages[i].ptr != NULL; i++) {
        (void)ms_grpc_server_call_send(open->call, (ms_grpc_message){.bytes = answer->messages[i]});
    }
    if (!answer->is_silent) {
        finish_call(open, answer);
    }
}

static void on_time(ms_loop_timer *timer)
{
    send_answer(MS_LOOP_TIMER_OWNER(timer, open_call, timer));
}

static void begin_answer(open_call *open)
{
    if (open->answer != NULL && open->answer->wait_ms > 0) {
        ms_loop_timer_start(open->server->loop, &open->timer,
                            ms_env_mono_ns() + open->answer->wait_ms * 1000000);
        return;
    }
    send_answer(open);
}

static void release_held(mock *server)
{
    open_call *open = server->held;
    server->held = NULL;
    server->held_count = 0;
    while (open != NULL) {
        /* An answer may be the end of the call, not of its memory. */
        begin_answer(open);
        open = open->next_held;
    }
}

/* Calls. */

static void on_start(ms_grpc_server_call *call, const ms_grpc_server_start *start, void *arg)
{
    mock *server = arg;
    open_call *open = ms_arena_new(&server->arena, open_call);
    open->server = server;
    open->call = call;
    ms_loop_timer_init(&open->timer, on_time);
    size_t count = start->metadata.count;
    ms_grpc_pair *pairs = ms_arena_array(&server->arena, ms_grpc_pair, count);
    for (size_t i = 0; i < count; i++) {
        pairs[i].key = ms_arena_copy_str(&server->arena, start->metadata.pairs[i].key);
        pairs[i].value = ms_arena_copy_str(&server->arena, start->metadata.pairs[i].value);
    }
    open->request.path = ms_arena_copy_str(&server->arena, start->path);
    open->request.metadata = (ms_grpc_metadata){pairs, count};
    open->request.at_ns = ms_env_mono_ns();
    ms_grpc_server_call_set_user(call, open);
}

static void on_message(ms_grpc_server_call *call, ms_str message)
{
    open_call *open = ms_grpc_server_call_user(call);
    open->request.message = ms_arena_copy_str(&open->server->arena, message);
}

static void on_half_close(ms_grpc_server_call *call)
{
    open_call *open = ms_grpc_server_call_user(call);
    mock *server = open->server;
    open->answer = take_answer(server, open->request.message);
    size_t count = atomic_load_explicit(&server->request_count, memory_order_relaxed);
    if (count < MOCK_REQUESTS_MAX) {
        server->requests[count] = open->request;
        /* Order release: the request is there before the count says so. */
        atomic_store_explicit(&server->request_count, count + 1, memory_order_release);
    }
    ms_parker_unpark(&server->event);
    if (server->gather_count == 0) {
        begin_answer(open);
        return;
    }
    open->next_held = server->held;
    server->held = open;
    server->held_count++;
    if (server->held_count == server->gather_count) {
        release_held(server);
    }
}

static void drop_held(mock *server, const open_call *gone)
{
    for (open_call **at = &server->held; *at != NULL; at = &(*at)->next_held) {
        if (*at == gone) {
            *at = gone->next_held;
            server->held_count--;
            return;
        }
    }
}

static void on_cancel(ms_grpc_server_call *call)
{
    open_call *open = ms_grpc_server_call_user(call);
    mock *server = open->server;
    drop_held(server, open);
    ms_loop_timer_stop(server->loop, &open->timer);
    ms_grpc_server_call_finish(call, &(ms_grpc_result){.code = MS_GRPC_CANCELLED});
    atomic_fetch_add_explicit(&server->canceled_count, 1, memory_order_release);
    ms_parker_unpark(&server->event);
}

static const ms_grpc_server_events events = {.on_start = on_start,
                                             .on_message = on_message,
                                             .on_half_close = on_half_close,
                                             .on_cancel = on_cancel};

/* Life. */

static void fail_with(const ms_status *st)
{
    fail_msg("the mock server: %s (%s)", st->message, st->detail);
}

static void listen_on(mock *server, const char *address)
{
    ms_status st = {0};
    ms_grpc_server_options options = {.loops = &server->loop,
                                      .loop_count = 1,
                                      .listen = ms_str_cstr(address),
                                      .events = &events,
                                      .arg = server};
    if (ms_grpc_server_create(&options, &server->server, &st) != MS_OK) {
        fail_with(&st);
    }
}

mock *mock_create(const mock_answer *script, size_t count)
{
    ms_status st = {0};
    mock *server = ms_mem_calloc(1, sizeof(*server));
    server->script = script;
    server->script_count = count;
    server->is_used = ms_mem_calloc(count > 0 ? count : 1, sizeof(*server->is_used));
    ms_arena_init(&server->arena, 0);
    ms_parker_init(&server->event);
    if (ms_loop_create("mock", &server->loop, &st) != MS_OK) {
        fail_with(&st);
    }
    listen_on(server, "127.0.0.1:0");
    snprintf(server->target, sizeof(server->target), "127.0.0.1:%u",
             (unsigned)ms_grpc_server_port(server->server));
    return server;
}

void mock_destroy(mock *server)
{
    if (server == NULL) {
        return;
    }
    ms_grpc_server_destroy(server->server, 0);
    ms_loop_destroy(server->loop);
    ms_arena_release(&server->arena);
    ms_mem_free(server->is_used);
    ms_mem_free(server);
}

void mock_break_connections(mock *server)
{
    ms_grpc_server_destroy(server->server, 0);
    listen_on(server, server->target);
}

/* For the test's thread. */

ms_str mock_target(const mock *server)
{
    return ms_str_cstr(server->target);
}

typedef struct gathering {
    mock *server;
    size_t count;
} gathering;

static void set_gather(void *arg)
{
    const gathering *wish = arg;
    wish->server->gather_count = wish->count;
}

void mock_gather(mock *server, size_t count)
{
    ms_loop_call(server->loop, set_gather, &(gathering){server, count});
}

size_t mock_request_count(const mock *server)
{
    /* Order acquire: see on_half_close. */
    return atomic_load_explicit(&server->request_count, memory_order_acquire);
}

const mock_request *mock_request_at(const mock *server, size_t index)
{
    if (index >= mock_request_count(server)) {
        fail_msg("the mock server: request %zu has not come", index);
    }
    return &server->requests[index];
}

static void wait_for(mock *server, const _Atomic size_t *counter, size_t count)
{
    while (atomic_load_explicit(counter, memory_order_acquire) < count) {
        (void)ms_parker_park(&server->event, MS_PARK_FOREVER);
    }
}

void mock_wait_requests(mock *server, size_t count)
{
    wait_for(server, &server->request_count, count);
}

void mock_wait_canceled(mock *server, size_t count)
{
    wait_for(server, &server->canceled_count, count);
}
