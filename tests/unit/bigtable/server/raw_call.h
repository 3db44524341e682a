/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of any bytes to a server of the store, past the client that would not send them, and what
 * comes back. Include it before store_testing.h, or define MS_OVER_GRPC for the program.
 *
 *     caller c;
 *     caller_open(&c, &fixture);
 *     caller_call(&c, "google.bigtable.v2.Bigtable/MutateRow", "1'projects/p'");
 *     assert_int_equal(c.code, MS_GRPC_INVALID_ARGUMENT);
 *     caller_close(&c);
 */
#ifndef MS_TESTS_UNIT_BIGTABLE_SERVER_RAW_CALL_H
#define MS_TESTS_UNIT_BIGTABLE_SERVER_RAW_CALL_H

#ifndef MS_OVER_GRPC
#define MS_OVER_GRPC 1
#endif

#include "bigtable/server/request_text.h"
#include "bigtable/store/store_testing.h"
#include "net/grpc_client.h"

#include <semaphore.h>

typedef struct caller {
    fixture *f;
    ms_grpc_channel *channel;
    sem_t over;
    char path[256];
    ms_buf request;
    const ms_grpc_pair *headers;
    size_t header_count;
    /* Of the answer. */
    ms_grpc_code code;
    char message[1024];
    ms_buf details;
    ms_buf answer; /* the messages, one behind the other */
    int messages;
} caller;

static inline void caller_got(ms_grpc_call *call, ms_str message, void *arg)
{
    (void)call;
    caller *c = arg;
    request_put(&c->answer, message);
    c->messages++;
}

static inline void caller_done(ms_grpc_call *call, const ms_grpc_result *result, void *arg)
{
    (void)call;
    caller *c = arg;
    c->code = result->code;
    snprintf(c->message, sizeof(c->message), "%.*s", MS_STR_ARG(result->message));
    request_put(&c->details, result->details);
    sem_post(&c->over);
}

static const ms_grpc_call_events caller_events = {.on_message = caller_got, .on_done = caller_done};

static inline void caller_start(void *arg)
{
    caller *c = arg;
    ms_grpc_message request = {.bytes = ms_buf_view(&c->request)};
    (void)ms_grpc_call_start(c->channel,
                             &(ms_grpc_call_options){.path = ms_str_cstr(c->path),
                                                     .metadata = {c->headers, c->header_count},
                                                     .request = &request,
                                                     .events = &caller_events,
                                                     .arg = c});
}

/* The part that is not shared by callers of one channel. */
static inline void caller_init(caller *c, fixture *f, ms_grpc_channel *channel)
{
    *c = (caller){.f = f, .channel = channel};
    assert_int_equal(sem_init(&c->over, 0, 0), 0);
    ms_buf_init(&c->request, REQUEST_BYTES_MAX);
    ms_buf_init(&c->details, REQUEST_BYTES_MAX);
    ms_buf_init(&c->answer, REQUEST_BYTES_MAX);
}

static inline void caller_release(caller *c)
{
    sem_destroy(&c->over);
    ms_buf_release(&c->request);
    ms_buf_release(&c->details);
    ms_buf_release(&c->answer);
}

static inline void caller_open(caller *c, fixture *f)
{
    ms_status st = {0};
    char target[32];
    caller_init(c, f, NULL);
    snprintf(target, sizeof(target), "127.0.0.1:%u", (unsigned)ms_bt_server_port(f->server));
    ms_grpc_channel_options options = {.target = ms_str_cstr(target)};
    assert_ok(ms_grpc_channel_create(f->client_loop, &options, &c->channel, &st));
}

static inline void caller_destroy(void *arg)
{
    ms_grpc_channel_destroy(arg);
}

static inline void caller_close(caller *c)
{
    ms_loop_call(c->f->client_loop, caller_destroy, c->channel);
    caller_release(c);
}

/* Sends what c->request holds, resp. waits for the end of the call. */
static inline void caller_begin(caller *c, const char *path)
{
    snprintf(c->path, sizeof(c->path), "/%s", path);
    ms_buf_reset(&c->details);
    ms_buf_reset(&c->answer);
    c->messages = 0;
    ms_loop_call(c->f->client_loop, caller_start, c);
}

static inline void caller_wait(caller *c)
{
    while (sem_wait(&c->over) != 0) {
    }
}

static inline void caller_send(caller *c, const char *path)
{
    caller_begin(c, path);
    caller_wait(c);
}

/* Sends a request that is given as a text. */
static inline void caller_call(caller *c, const char *path, const char *request)
{
    ms_buf_reset(&c->request);
    request_make(request, &c->request);
    caller_send(c, path);
}

#endif
