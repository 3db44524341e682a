/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of net/ share: a server whose methods do what their names say, a client whose
 * calls write down what happens to them, and a clock that can be moved.
 *
 *     rig it;
 *     rig_open(&it, &(rig_options){0});
 *     probe call = {.path = "/t/Echo", .request = "hello"};
 *     probe_run(&it, &call);                       start, and wait for the end
 *     assert_int_equal(call.code, MS_GRPC_OK);
 *     rig_close(&it);
 *
 * Methods of the server; numbers come as metadata:
 *
 *     Echo      sends each message back, then OK with the trailer "echo-trailer"
 *     Fail      ends with the code, message and details of the metadata, without a message
 *     Late      the same after one message
 *     Hold      keeps the call until rig_release, then OK; "canceled" is counted
 *     Stream    "count" messages of "size" bytes, as long as there is room
 *     Flood     the same without looking whether there is room
 *     Peer      one message: the peer's address; Timeout: the nanoseconds that are left
 *     Metadata  one message: all pairs, "key=value;" each
 *     Headers   initial metadata at once, then as Hold
 *     Sink      reads all, answers with the number of bytes; pauses after each message if "pause"
 *     Eager     finishes before the client has half-closed
 *
 * Any other is UNIMPLEMENTED. Nothing here waits for a time: the waits end, or the test program is
 * stopped.
 */
#ifndef MS_TESTS_UNIT_NET_RIG_H
#define MS_TESTS_UNIT_NET_RIG_H

#include "testing.h"

#include "base/env.h"
#include "base/memory.h"
#include "base/num.h"
#include "net/grpc_client.h"
#include "net/grpc_server.h"

#include <stdatomic.h>

#define MS_NS INT64_C(1000000)
#define S_NS INT64_C(1000000000)
#define RIG_HELD_MAX 512
#define RIG_LOOPS_MAX 3

typedef struct rig {
    ms_loop *client_loop;
    ms_loop *server_loops[RIG_LOOPS_MAX];
    int server_loop_count;
    ms_grpc_server *server;
    ms_grpc_channel *channel;
    char target[160];
    ms_env_clock clock;
    /* The server's; read when its loop rests. */
    ms_grpc_server_call *held[RIG_HELD_MAX];
    int held_count;
    _Atomic int canceled;
    _Atomic int started;
    _Atomic int messages;
    _Atomic int borrowed;
    _Atomic int released;
    _Atomic int sends_above_mark;
    ms_parker event; /* a call was held or canceled */
} rig;

typedef struct rig_options {
    ms_grpc_server_options server;
    ms_grpc_channel_options channel;
    int server_loop_count;
    bool with_clock;
    bool without_channel;
} rig_options;

static rig *rig_current; /* for handlers that have no argument */

/* A number in the metadata; otherwise when there is none. */
static inline int64_t rig_number(ms_grpc_metadata metadata, const char *key, int64_t otherwise)
{
    ms_str text;
    if (!ms_grpc_metadata_find(metadata, ms_str_cstr(key), &text)) {
        return otherwise;
    }
    int64_t value = 0;
    for (size_t i = 0; i < text.bytes; i++) {
        value = value * 10 + (text.ptr[i] - '0');
    }
    return value;
}

/* Server. */

typedef enum rig_kind { RIG_ECHO, RIG_LATE, RIG_HOLD, RIG_STREAM, RIG_FLOOD, RIG_SINK } rig_kind;

/* A call of the server, as the handler sees it. */
typedef struct rig_call {
    rig_kind kind;
    int64_t count;
    int64_t size;
    int64_t received;
    bool pauses;
    ms_grpc_code code;
} rig_call;

static inline void rig_end(ms_grpc_server_call *call, const ms_grpc_result *result)
{
    ms_mem_free(ms_grpc_server_call_user(call));
    ms_grpc_server_call_finish(call, result);
}

static inline void rig_released(void *arg)
{
    ms_mem_free(arg);
    rig_current->released++;
}

/* Every second message is borrowed. */
static inline bool rig_send_pattern(ms_grpc_server_call *call, int64_t index, int64_t size)
{
    char *bytes = ms_mem_alloc((size_t)size + 1);
    memset(bytes, 'a' + (int)(index % 26), (size_t)size);
    ms_grpc_message message = {.bytes = {bytes, (size_t)size}};
    if (index % 2 == 1) {
        message.release = rig_released;
        message.arg = bytes;
        rig_current->borrowed++;
        return ms_grpc_server_call_send(call, message);
    }
    bool has_room = ms_grpc_server_call_send(call, message);
    ms_mem_free(bytes);
    return has_room;
}

static inline void rig_stream_more(ms_grpc_server_call *call)
{
    rig_call *own = ms_grpc_server_call_user(call);
    bool has_room = true;
    while (own->count > 0 && (has_room || own->kind == RIG_FLOOD)) {
        if (!ms_grpc_server_call_is_writable(call)) {
            rig_current->sends_above_mark++;
        }
        own->count--;
        has_room = rig_send_pattern(call, own->count, own->size);
    }
    if (own->count == 0) {
        rig_end(call, &(ms_grpc_result){.code = MS_GRPC_OK});
    }
}

static inline void rig_answer(ms_grpc_server_call *call, ms_str text)
{
    ms_grpc_server_call_send(call, (ms_grpc_message){.bytes = text});
    ms_grpc_server_call_finish(call, &(ms_grpc_result){.code = MS_GRPC_OK});
}

static inline void rig_answer_metadata(ms_grpc_server_call *call, ms_grpc_metadata metadata)
{
    ms_status st = {0};
    ms_buf text;
    ms_buf_init(&text, 1 << 20);
    for (size_t i = 0; i < metadata.count; i++) {
        assert_ok(ms_buf_append(&text, metadata.pairs[i].key, &st));
        assert_ok(ms_buf_append_byte(&text, '=', &st));
        assert_ok(ms_buf_append(&text, metadata.pairs[i].value, &st));
        assert_ok(ms_buf_append_byte(&text, ';', &st));
    }
    rig_answer(call, ms_buf_view(&text));
    ms_buf_release(&text);
}

static inline ms_grpc_result rig_result_of(ms_grpc_metadata metadata)
{
    static const ms_grpc_pair trailer = {{"fail-trailer", 12}, {"yes", 3}};
    ms_grpc_result result = {.code = (ms_grpc_code)rig_number(metadata, "code", 2),
                             .trailers = {&trailer, 1}};
    (void)ms_grpc_metadata_find(metadata, ms_str_lit("message-bin"), &result.message);
    (void)ms_grpc_metadata_find(metadata, ms_str_lit("details-bin"), &result.details);
    return result;
}

static inline void rig_hold(rig *it, ms_grpc_server_call *call)
{
    if (it->held_count < RIG_HELD_MAX) {
        it->held[it->held_count++] = call;
    }
}

static inline bool rig_start_short(ms_grpc_server_call *call, const ms_grpc_server_start *start)
{
    char text[64];
    if (ms_str_equals(start->path, ms_str_lit("/t/Peer"))) {
        rig_answer(call, start->peer);
    } else if (ms_str_equals(start->path, ms_str_lit("/t/Metadata"))) {
        rig_answer_metadata(call, start->metadata);
    } else if (ms_str_equals(start->path, ms_str_lit("/t/Timeout"))) {
        int64_t left_ns = start->deadline_ns;
        left_ns -= left_ns == INT64_MAX ? 0 : ms_env_mono_ns();
        snprintf(text, sizeof(text), "%lld", (long long)left_ns);
        rig_answer(call, ms_str_cstr(text));
    } else if (ms_str_equals(start->path, ms_str_lit("/t/Fail"))) {
        ms_grpc_result result = rig_result_of(start->metadata);
        ms_grpc_server_call_finish(call, &result);
    } else if (ms_str_equals(start->path, ms_str_lit("/t/Late"))) {
        ms_grpc_result result = rig_result_of(start->metadata);
        ms_grpc_server_call_send(call, (ms_grpc_message){.bytes = ms_str_lit("first")});
        ms_grpc_server_call_finish(call, &result);
    } else if (ms_str_equals(start->path, ms_str_lit("/t/Eager"))) {
        rig_answer(call, ms_str_lit("eager"));
    } else {
        return false;
    }
    return true;
}

static inline void rig_on_start(ms_grpc_server_call *call, const ms_grpc_server_start *start,
                                void *arg)
{
    static const ms_grpc_pair headers[] = {{{"early", 5}, {"1", 1}},
                                           {{"early-bin", 9}, {"\0\1\2", 3}}};
    rig *it = arg;
    it->started++;
    ms_parker_unpark(&it->event);
    if (rig_start_short(call, start)) {
        return;
    }
    ms_str method = ms_str_slice(start->path, 3, start->path.bytes);
    rig_call *own = ms_mem_calloc(1, sizeof(*own));
    own->count = rig_number(start->metadata, "count", 1);
    own->size = rig_number(start->metadata, "size", 10);
    own->pauses = rig_number(start->metadata, "pause", 0) != 0;
    ms_grpc_server_call_set_user(call, own);
    if (ms_str_equals(method, ms_str_lit("Echo"))) {
        own->kind = RIG_ECHO;
    } else if (ms_str_equals(method, ms_str_lit("Sink"))) {
        own->kind = RIG_SINK;
    } else if (ms_str_equals(method, ms_str_lit("Stream"))) {
        own->kind = RIG_STREAM;
        rig_stream_more(call);
    } else if (ms_str_equals(method, ms_str_lit("Flood"))) {
        own->kind = RIG_FLOOD;
        rig_stream_more(call);
    } else if (ms_str_equals(method, ms_str_lit("Hold"))) {
        own->kind = RIG_HOLD;
        rig_hold(it, call);
        if (rig_number(start->metadata, "endless", 0) != 0) {
            ms_grpc_server_call_set_endless(call);
        }
    } else if (ms_str_equals(method, ms_str_lit("Headers"))) {
        own->kind = RIG_HOLD;
        ms_grpc_server_call_send_headers(call, (ms_grpc_metadata){headers, 2});
        rig_hold(it, call);
    } else {
        rig_end(call, &(ms_grpc_result){.code = MS_GRPC_UNIMPLEMENTED,
                                        .message = ms_str_lit("unknown method")});
    }
}

static inline void rig_resume(ms_mail *mail)
{
    typedef struct resume {
        ms_mail mail;
        ms_grpc_server_call *call;
    } resume;
    resume *own = MS_MAIL_OWNER(mail, resume, mail);
    ms_grpc_server_call_resume(own->call);
    ms_mem_free(own);
}

/* Pauses, and resumes in a later turn of the loop. */
static inline void rig_pause(ms_grpc_server_call *call)
{
    typedef struct resume {
        ms_mail mail;
        ms_grpc_server_call *call;
    } resume;
    resume *own = ms_mem_alloc(sizeof(*own));
    *own = (resume){.mail = {.deliver = rig_resume}, .call = call};
    ms_grpc_server_call_pause(call);
    ms_mailbox_push(ms_loop_mailbox(ms_grpc_server_call_loop(call)), &own->mail);
}

static inline void rig_on_message(ms_grpc_server_call *call, ms_str message)
{
    rig_call *own = ms_grpc_server_call_user(call);
    rig_current->messages++;
    own->received += (int64_t)message.bytes;
    if (own->kind == RIG_ECHO) {
        ms_grpc_server_call_send(call, (ms_grpc_message){.bytes = message});
    }
    if (own->pauses) {
        rig_pause(call);
    }
}

static inline void rig_on_half_close(ms_grpc_server_call *call)
{
    static const ms_grpc_pair trailer = {{"echo-trailer", 12}, {"done", 4}};
    rig_call *own = ms_grpc_server_call_user(call);
    if (own->kind == RIG_ECHO) {
        rig_end(call, &(ms_grpc_result){.code = MS_GRPC_OK, .trailers = {&trailer, 1}});
    } else if (own->kind == RIG_SINK) {
        char text[32];
        snprintf(text, sizeof(text), "%lld", (long long)own->received);
        ms_grpc_server_call_send(call, (ms_grpc_message){.bytes = ms_str_cstr(text)});
        rig_end(call, &(ms_grpc_result){.code = MS_GRPC_OK});
    }
}

static inline void rig_on_cancel(ms_grpc_server_call *call)
{
    rig *it = rig_current;
    it->canceled++;
    for (int i = 0; i < it->held_count; i++) {
        if (it->held[i] == call) {
            it->held[i] = it->held[--it->held_count];
            break;
        }
    }
    rig_end(call, &(ms_grpc_result){.code = MS_GRPC_CANCELLED});
    ms_parker_unpark(&it->event);
}

static const ms_grpc_server_events rig_events = {.on_start = rig_on_start,
                                                 .on_message = rig_on_message,
                                                 .on_half_close = rig_on_half_close,
                                                 .on_writable = rig_stream_more,
                                                 .on_cancel = rig_on_cancel};

static inline void rig_release_all(void *arg)
{
    rig *it = arg;
    while (it->held_count > 0) {
        rig_end(it->held[--it->held_count], &(ms_grpc_result){.code = MS_GRPC_OK});
    }
}

/* Finishes what Hold keeps (with one server loop). */
static inline void rig_release(rig *it)
{
    ms_loop_call(it->server_loops[0], rig_release_all, it);
}

/* Life. */

static inline void rig_nothing(void *arg)
{
    (void)arg;
}

/* Lets both sides see the time, and what they have sent each other so far. */
static inline void rig_settle(rig *it)
{
    for (int i = 0; i < 3; i++) {
        ms_loop_call(it->client_loop, rig_nothing, NULL);
        for (int j = 0; j < it->server_loop_count; j++) {
            ms_loop_call(it->server_loops[j], rig_nothing, NULL);
        }
    }
}

/* Lets the server send all that the sockets of a client hold that does not read: a turn sends a
 * megabyte. */
static inline void rig_settle_full(rig *it)
{
    for (int i = 0; i < 20; i++) {
        rig_settle(it);
    }
}

static inline void rig_advance(rig *it, int64_t by_ns)
{
    ms_env_clock_advance_us(&it->clock, by_ns / 1000);
    rig_settle(it);
}

static inline void rig_open_channel(rig *it, const ms_grpc_channel_options *options)
{
    ms_status st = {0};
    ms_grpc_channel_options with_target = *options;
    if (with_target.target.bytes == 0) {
        with_target.target = ms_str_cstr(it->target);
    }
    assert_ok(ms_grpc_channel_create(it->client_loop, &with_target, &it->channel, &st));
}

static inline void rig_open_server(rig *it, const ms_grpc_server_options *options)
{
    ms_status st = {0};
    ms_grpc_server_options own = *options;
    own.loops = it->server_loops;
    own.loop_count = it->server_loop_count;
    own.events = own.events != NULL ? own.events : &rig_events;
    own.arg = it;
    if (own.listen.bytes == 0) {
        own.listen = ms_str_lit("127.0.0.1:0");
    }
    assert_ok(ms_grpc_server_create(&own, &it->server, &st));
    if (ms_str_starts_with(own.listen, ms_str_lit("unix:"))) {
        snprintf(it->target, sizeof(it->target), "%.*s", MS_STR_ARG(own.listen));
    } else {
        snprintf(it->target, sizeof(it->target), "127.0.0.1:%u",
                 (unsigned)ms_grpc_server_port(it->server));
    }
}

static inline void rig_open(rig *it, const rig_options *options)
{
    ms_status st = {0};
    *it = (rig){0};
    rig_current = it;
    ms_parker_init(&it->event);
    if (options->with_clock) {
        it->clock = (ms_env_clock){.wall_us = 1700000000000000, .mono_ns = 1000 * S_NS};
        ms_env_set_clock(&it->clock);
    }
    it->server_loop_count = options->server_loop_count > 0 ? options->server_loop_count : 1;
    assert_ok(ms_loop_create("client", &it->client_loop, &st));
    for (int i = 0; i < it->server_loop_count; i++) {
        assert_ok(ms_loop_create("server", &it->server_loops[i], &st));
    }
    rig_open_server(it, &options->server);
    if (!options->without_channel) {
        rig_open_channel(it, &options->channel);
    }
}

static inline void rig_destroy_channel(void *arg)
{
    rig *it = arg;
    ms_grpc_channel_destroy(it->channel);
    it->channel = NULL;
}

static inline void rig_close_channel(rig *it)
{
    ms_loop_call(it->client_loop, rig_destroy_channel, it);
}

static inline void rig_close(rig *it)
{
    if (it->channel != NULL) {
        rig_close_channel(it);
    }
    ms_grpc_server_destroy(it->server, 0);
    ms_loop_destroy(it->client_loop);
    for (int i = 0; i < it->server_loop_count; i++) {
        ms_loop_destroy(it->server_loops[i]);
    }
    ms_env_set_clock(NULL);
    assert_int_equal(it->borrowed, it->released);
}

/* Client. */

#define PROBE_TEXT 4096

typedef struct probe {
    /* Given. */
    const char *path;
    const char *request; /* NULL: a call without a message yet */
    ms_str request_bytes;
    const ms_grpc_pair *pairs;
    size_t pair_count;
    int64_t deadline_ns;
    bool wait_for_ready;
    bool pause_after_message;
    bool cancel_after_message;
    /* Written down. */
    rig *it;
    ms_grpc_call *call;
    ms_parker parker; /* unparked at the end */
    ms_parker event;  /* unparked at headers, messages, and the end */
    _Atomic bool is_done;
    ms_grpc_code code;
    bool is_unprocessed;
    ms_tls_obstacle obstacle;
    char message[PROBE_TEXT];
    char details[PROBE_TEXT];
    size_t details_bytes;
    char headers[PROBE_TEXT]; /* "key=value;" */
    char trailers[PROBE_TEXT];
    char first[PROBE_TEXT]; /* the first message's text */
    _Atomic int message_count;
    _Atomic uint64_t message_bytes;
    _Atomic int header_count; /* calls of on_headers */
    _Atomic int writable_count;
    bool has_room; /* what the last send said */
    bool was_waited;
} probe;

static inline void probe_copy_pairs(char *out, ms_grpc_metadata metadata)
{
    size_t at = 0;
    for (size_t i = 0; i < metadata.count; i++) {
        int count =
            snprintf(out + at, PROBE_TEXT - at, "%.*s=%.*s;", MS_STR_ARG(metadata.pairs[i].key),
                     MS_STR_ARG(metadata.pairs[i].value));
        at += (size_t)count;
        if (at >= PROBE_TEXT) {
            return;
        }
    }
}

static inline void probe_on_headers(ms_grpc_call *call, ms_grpc_metadata headers, void *arg)
{
    probe *own = arg;
    assert_ptr_equal(own->call, call);
    own->header_count++;
    probe_copy_pairs(own->headers, headers);
    ms_parker_unpark(&own->event);
}

static inline void probe_on_message(ms_grpc_call *call, ms_str message, void *arg)
{
    probe *own = arg;
    if (own->message_count == 0) {
        snprintf(own->first, sizeof(own->first), "%.*s", MS_STR_ARG(message));
    }
    own->message_count++;
    own->message_bytes += message.bytes;
    if (own->pause_after_message) {
        ms_grpc_call_pause(call);
    }
    if (own->cancel_after_message) {
        ms_grpc_call_cancel(call);
    }
    ms_parker_unpark(&own->event);
}

static inline void probe_on_writable(ms_grpc_call *call, void *arg)
{
    (void)call;
    probe *own = arg;
    own->writable_count++;
    ms_parker_unpark(&own->event);
}

static inline void probe_on_done(ms_grpc_call *call, const ms_grpc_result *result, void *arg)
{
    probe *own = arg;
    assert_ptr_equal(own->call, call);
    assert_false(own->is_done);
    own->code = result->code;
    own->is_unprocessed = result->is_unprocessed;
    own->obstacle = result->obstacle;
    snprintf(own->message, sizeof(own->message), "%.*s", MS_STR_ARG(result->message));
    own->details_bytes = result->details.bytes;
    memcpy(own->details, result->details.bytes > 0 ? result->details.ptr : "",
           result->details.bytes < PROBE_TEXT ? result->details.bytes : PROBE_TEXT);
    probe_copy_pairs(own->trailers, result->trailers);
    own->call = NULL;
    own->is_done = true;
    ms_parker_unpark(&own->event);
    ms_parker_unpark(&own->parker); /* the probe is the test's again */
}

static const ms_grpc_call_events probe_events = {.on_headers = probe_on_headers,
                                                 .on_message = probe_on_message,
                                                 .on_writable = probe_on_writable,
                                                 .on_done = probe_on_done};

static inline void probe_start_now(void *arg)
{
    probe *own = arg;
    ms_grpc_message request = {.bytes = own->request_bytes};
    if (own->request != NULL) {
        request.bytes = ms_str_cstr(own->request);
    }
    ms_grpc_call_options options = {.path = ms_str_cstr(own->path),
                                    .metadata = {own->pairs, own->pair_count},
                                    .deadline_ns = own->deadline_ns,
                                    .wait_for_ready = own->wait_for_ready,
                                    .events = &probe_events,
                                    .arg = own};
    if (request.bytes.ptr != NULL) {
        options.request = &request;
    }
    own->call = ms_grpc_call_start(own->it->channel, &options);
    assert_false(own->is_done);
}

static inline void probe_start(rig *it, probe *own)
{
    own->it = it;
    ms_parker_init(&own->parker);
    ms_parker_init(&own->event);
    ms_loop_call(it->client_loop, probe_start_now, own);
}

static inline void probe_wait(probe *own)
{
    while (!own->was_waited && !ms_parker_park(&own->parker, MS_PARK_FOREVER)) {
    }
    own->was_waited = true;
    assert_true(own->is_done);
}

static inline void probe_run(rig *it, probe *own)
{
    probe_start(it, own);
    probe_wait(own);
}

/* Waits until so many messages came. */
static inline void probe_wait_messages(probe *own, int count)
{
    while (own->message_count < count && !own->is_done) {
        (void)ms_parker_park(&own->event, MS_PARK_FOREVER);
    }
}

static inline void probe_cancel_now(void *arg)
{
    probe *own = arg;
    if (own->call != NULL) {
        ms_grpc_call_cancel(own->call);
    }
}

static inline void probe_cancel(probe *own)
{
    ms_loop_call(own->it->client_loop, probe_cancel_now, own);
}

static inline void probe_resume_now(void *arg)
{
    probe *own = arg;
    if (own->call != NULL) {
        ms_grpc_call_resume(own->call);
    }
}

static inline void probe_resume(probe *own)
{
    ms_loop_call(own->it->client_loop, probe_resume_now, own);
}

typedef struct probe_message {
    probe *own;
    ms_str bytes;
    bool is_last;
} probe_message;

static inline void probe_send_now(void *arg)
{
    probe_message *message = arg;
    if (message->own->call == NULL) {
        return;
    }
    message->own->has_room =
        ms_grpc_call_send(message->own->call, (ms_grpc_message){.bytes = message->bytes});
    if (message->is_last) {
        ms_grpc_call_half_close(message->own->call);
    }
}

static inline void probe_send(probe *own, ms_str bytes, bool is_last)
{
    probe_message message = {own, bytes, is_last};
    ms_loop_call(own->it->client_loop, probe_send_now, &message);
}

static inline void probe_half_close_now(void *arg)
{
    probe *own = arg;
    if (own->call != NULL) {
        ms_grpc_call_half_close(own->call);
    }
}

/* A simple call that must succeed: both sides still work. */
static inline void rig_check_works(rig *it)
{
    probe call = {.path = "/t/Echo", .request = "still here"};
    probe_run(it, &call);
    assert_int_equal(call.code, MS_GRPC_OK);
    assert_string_equal(call.first, "still here");
}

/* Waits until the server's handlers have started, in all, so many calls. */
static inline void rig_wait_started(rig *it, int count)
{
    while (it->started < count) {
        (void)ms_parker_park(&it->event, MS_PARK_FOREVER);
    }
}

static inline void rig_wait_canceled(rig *it, int count)
{
    while (it->canceled < count) {
        (void)ms_parker_park(&it->event, MS_PARK_FOREVER);
    }
}

#endif
