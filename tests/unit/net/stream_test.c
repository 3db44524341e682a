/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams without a connection: what they do with bytes that come while they are paused, and with
 * budgets. What needs a peer is tested with calls.
 */
#include "testing.h"

#include "base/env.h"
#include "base/memory.h"
#include "net/http2_priv.h"

#include <sys/socket.h>

#define RAW(text) ((ms_str){(text), sizeof(text) - 1})

typedef struct listener {
    msi_stream stream; /* first */
    ms_loop *loop;
    msi_h2_options h2_options;
    msi_h2 h2;
    msi_budget inbound;
    msi_budget outbound;
    char events[256];
    int pause_after; /* messages */
    bool discard_after_message;
    int pair[2];
} listener;

static void note(listener *own, const char *event)
{
    size_t at = strlen(own->events);
    snprintf(own->events + at, sizeof(own->events) - at, "%s|", event);
}

static void on_headers(msi_stream *stream, msi_header *header, bool is_end)
{
    (void)stream;
    (void)header;
    (void)is_end;
}

static void on_message(msi_stream *stream, ms_str message)
{
    listener *own = MSI_OWNER(stream, listener, stream);
    char text[64];
    snprintf(text, sizeof(text), "%.*s", MS_STR_ARG(message));
    note(own, text);
    if (--own->pause_after == 0) {
        msi_stream_pause(stream);
    }
    if (own->discard_after_message) {
        msi_stream_discard(stream);
    }
}

static void on_end(msi_stream *stream)
{
    note(MSI_OWNER(stream, listener, stream), "end");
}

static void on_broken(msi_stream *stream, ms_grpc_code code, const char *text)
{
    (void)text;
    note(MSI_OWNER(stream, listener, stream), ms_grpc_code_name(code));
}

static void on_writable(msi_stream *stream)
{
    note(MSI_OWNER(stream, listener, stream), "writable");
}

static void on_task(msi_stream *stream)
{
    note(MSI_OWNER(stream, listener, stream), "task");
}

static void on_closed(msi_stream *stream, uint32_t h2_error)
{
    (void)h2_error;
    note(MSI_OWNER(stream, listener, stream), "closed");
}

static const msi_stream_class listener_class = {.on_headers = on_headers,
                                                .on_message = on_message,
                                                .on_end = on_end,
                                                .on_broken = on_broken,
                                                .on_writable = on_writable,
                                                .on_task = on_task,
                                                .on_closed = on_closed};

static void h2_ready(msi_h2 *h2)
{
    (void)h2;
}

static void h2_lost(msi_h2 *h2, const ms_status *why)
{
    (void)h2;
    (void)why;
}

static const msi_h2_class h2_class = {.on_ready = h2_ready,
                                      .on_room = h2_ready,
                                      .on_idle = h2_ready,
                                      .on_lost = h2_lost,
                                      .on_closed = h2_ready};

/* A stream on a client's connection whose other end says nothing. */
static void open_now(void *arg)
{
    listener *own = arg;
    msi_stream_options options = {.loop = own->loop,
                                  .message_bytes_max = 100,
                                  .mark_bytes = 50,
                                  .inbound = &own->inbound,
                                  .outbound = &own->outbound};
    own->h2_options = (msi_h2_options){.header_bytes_max = 1000,
                                       .stream_window_bytes = 65535,
                                       .connection_window_bytes = 65535,
                                       .settings_burst = 10,
                                       .handshake_timeout_ns = INT64_C(1000000000000),
                                       .keepalive_ns = INT64_C(1000000000000),
                                       .keepalive_timeout_ns = INT64_C(1000000000000),
                                       .idle_ns = INT64_C(1000000000000),
                                       .stall_ns = INT64_C(1000000000000)};
    msi_stream_init(&own->stream, &listener_class, &options);
    msi_h2_init(&own->h2, &h2_class, &own->h2_options, own->loop);
    msi_h2_start(&own->h2, own->pair[0], NULL, NULL);
    nghttp2_nv fields[] = {
        msi_header_constant(":method", "POST"), msi_header_constant(":scheme", "http"),
        msi_header_constant(":path", "/s/M"), msi_header_constant(":authority", "a")};
    msi_h2_request(&own->h2, &own->stream, fields, 4);
}

static void open_listener(listener *own)
{
    ms_status st = {0};
    memset(own, 0, sizeof(*own));
    own->inbound.max = 1000;
    own->outbound.max = 1000;
    assert_ok(ms_loop_create("loop", &own->loop, &st));
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, own->pair), 0);
    assert_int_equal(fcntl(own->pair[0], F_SETFL, O_NONBLOCK), 0);
    ms_loop_call(own->loop, open_now, own);
}

static void close_now(void *arg)
{
    listener *own = arg;
    msi_h2_close(&own->h2);
    msi_stream_release(&own->stream);
    assert_int_equal(own->inbound.used, 0);
    assert_int_equal(own->outbound.used, 0);
    assert_int_equal(own->h2.unsent_bytes, 0);
}

static void close_listener(listener *own)
{
    ms_loop_call(own->loop, close_now, own);
    ms_loop_destroy(own->loop);
    close(own->pair[1]);
}

typedef struct bytes_request {
    listener *own;
    ms_str bytes;
    bool is_end;
    bool resumes;
} bytes_request;

static void receive_now(void *arg)
{
    bytes_request *request = arg;
    msi_stream *stream = &request->own->stream;
    if (request->bytes.bytes > 0) {
        /* Of their own memory, which goes with the call. */
        char *copy = ms_mem_alloc(request->bytes.bytes);
        memcpy(copy, request->bytes.ptr, request->bytes.bytes);
        msi_stream_receive(stream, (ms_str){copy, request->bytes.bytes});
        ms_mem_free(copy);
    }
    if (request->is_end) {
        msi_stream_receive_end(stream);
    }
    if (request->resumes) {
        char before[256];
        snprintf(before, sizeof(before), "%s", request->own->events);
        msi_stream_resume(stream);
        assert_string_equal(request->own->events, before); /* nothing inside of it */
    }
}

static void receive(listener *own, ms_str bytes)
{
    ms_loop_call(own->loop, receive_now, &(bytes_request){.own = own, .bytes = bytes});
}

#define A                                                                                          \
    "\0\0\0\0\x01"                                                                                 \
    "a"
#define B                                                                                          \
    "\0\0\0\0\x01"                                                                                 \
    "b"
#define C                                                                                          \
    "\0\0\0\0\x01"                                                                                 \
    "c"

/* In. */

static void a_paused_stream_holds_what_comes(void **state)
{
    (void)state;
    listener own;
    open_listener(&own);
    own.pause_after = 1;
    receive(&own, RAW(A B "\0\0"));
    receive(&own, RAW("\0\0\x01"
                      "c"));
    assert_string_equal(own.events, "a|");
    assert_int_equal(own.inbound.used, 12);
    own.pause_after = 1;
    ms_loop_call(own.loop, receive_now, &(bytes_request){.own = &own, .resumes = true});
    assert_string_equal(own.events, "a|b|");
    assert_int_equal(own.inbound.used, 6);
    ms_loop_call(own.loop, receive_now, &(bytes_request){.own = &own, .is_end = true});
    assert_string_equal(own.events, "a|b|");
    ms_loop_call(own.loop, receive_now, &(bytes_request){.own = &own, .resumes = true});
    assert_string_equal(own.events, "a|b|c|end|");
    assert_int_equal(own.inbound.used, 0);
    close_listener(&own);
}

static void what_comes_after_a_resume_waits_behind_what_is_held(void **state)
{
    (void)state;
    listener own;
    open_listener(&own);
    own.pause_after = 1;
    receive(&own, RAW(A B));
    /* Bytes and the resume in one turn: the held message comes first. */
    bytes_request both = {.own = &own, .bytes = RAW(C), .resumes = true};
    ms_loop_call(own.loop, receive_now, &both);
    assert_string_equal(own.events, "a|b|c|");
    close_listener(&own);
}

/* One message in, one out, and always some that wait: what was read does not pile up. */
static void a_reader_that_is_always_behind_holds_no_more_than_that(void **state)
{
    (void)state;
    static char message[105] = {0, 0, 0, 0, 100};
    listener own;
    open_listener(&own);
    own.pause_after = 1;
    receive(&own, (ms_str){message, sizeof(message)});
    receive(&own, (ms_str){message, sizeof(message)});
    bytes_request both = {.own = &own, .bytes = {message, sizeof(message)}, .resumes = true};
    for (int i = 0; i < 10000; i++) {
        own.pause_after = 1;
        ms_loop_call(own.loop, receive_now, &both);
        assert_int_equal(own.pause_after, 0);
        assert_int_equal(own.inbound.used, sizeof(message));
    }
    assert_true(own.stream.held.capacity_bytes <= 256 << 10);
    close_listener(&own);
}

static void a_discarded_stream_is_silent(void **state)
{
    (void)state;
    listener own;
    open_listener(&own);
    own.discard_after_message = true;
    receive(&own, RAW(A B));
    receive(&own, RAW(C));
    ms_loop_call(own.loop, receive_now, &(bytes_request){.own = &own, .is_end = true});
    assert_string_equal(own.events, "a|");
    assert_int_equal(own.inbound.used, 0);
    close_listener(&own);
}

static void bad_messages_break_the_stream_off(void **state)
{
    (void)state;
    static const struct {
        ms_str bytes;
        bool is_end;
        const char *events;
    } cases[] = {
        {{A "\x01", 7}, false, "a|INTERNAL|"},
        {{A "\x09", 7}, false, "a|INTERNAL|"},
        {{A "\0\0\0\0\x65", 11}, false, "a|RESOURCE_EXHAUSTED|"},
        {{A "\0\0", 8}, true, "a|INTERNAL|"},
        {{A, 6}, true, "a|end|"},
        {{"", 0}, true, "end|"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        listener own;
        open_listener(&own);
        ms_loop_call(
            own.loop, receive_now,
            &(bytes_request){.own = &own, .bytes = cases[i].bytes, .is_end = cases[i].is_end});
        receive(&own, RAW(B));
        /* After the end of the peer's side nothing can come; here it does, and is ignored. */
        assert_memory_equal(own.events, cases[i].events, strlen(cases[i].events));
        close_listener(&own);
    }
}

static void bytes_beyond_the_budget_break_the_stream_off(void **state)
{
    (void)state;
    listener own;
    open_listener(&own);
    own.inbound.max = 20;
    own.pause_after = 1;
    receive(&own, RAW(A B B));
    assert_string_equal(own.events, "a|");
    receive(&own, RAW(B B));
    assert_string_equal(own.events, "a|RESOURCE_EXHAUSTED|");
    assert_int_equal(own.inbound.used, 0);
    close_listener(&own);
}

/* Out. */

static void send_now(void *arg)
{
    bytes_request *request = arg;
    ms_grpc_message message = {.bytes = request->bytes};
    request->is_end = msi_stream_send(&request->own->stream, &message);
}

static bool send_one(listener *own, ms_str bytes)
{
    bytes_request request = {.own = own, .bytes = bytes};
    ms_loop_call(own->loop, send_now, &request);
    return request.is_end;
}

static void sent_bytes_leave_the_budget(void **state)
{
    (void)state;
    listener own;
    open_listener(&own);
    assert_true(send_one(&own, RAW("small")));
    while (own.outbound.used > 0) { /* until the connection is open */
        receive(&own, RAW(""));
    }
    char large[60] = {0};
    assert_false(send_one(&own, (ms_str){large, sizeof(large)}));
    receive(&own, RAW(""));
    assert_int_equal(own.outbound.used, 0); /* the turn has sent it */
    receive(&own, RAW(""));
    assert_string_equal(own.events, "writable|");
    assert_true(send_one(&own, RAW("small")));
    close_listener(&own);
}

/* What a client is behind after thirty seconds in which it took these frames of 16 KiB. */
typedef struct reading {
    listener *own;
    ms_env_clock *clock;
    size_t waits;
    int frames;
    int64_t lag_ns;
} reading;

static void begin_reading(void *arg)
{
    reading *request = arg;
    msi_h2_note_waiting(&request->own->h2);
    assert_int_equal(msi_h2_lag_ns(&request->own->h2, INT64_MAX), 0); /* nothing waits */
}

static void read_now(void *arg)
{
    reading *request = arg;
    msi_h2 *h2 = &request->own->h2;
    h2->unsent_bytes = request->waits;
    for (int i = 0; i < request->frames; i++) {
        msi_h2_note_taken(h2, 16384);
    }
    request->lag_ns = msi_h2_lag_ns(h2, request->clock->mono_ns);
    h2->unsent_bytes = 0;
}

static void how_far_a_client_is_behind_depends_on_what_waits(void **state)
{
    (void)state;
    static const struct {
        size_t waits;
        int frames;
        int64_t lag_ms; /* from here on, less than a second more */
    } cases[] = {
        {1, 0, 30000},           {1, 10, 20000},       {1, 31, 0},
        {100000, 10, 20000},     {100000, 1000, 0},    {32u << 20, 10, 29000},
        {32u << 20, 500, 15000}, {32u << 20, 1000, 0}, {32u << 20, 100000, 0},
    };
    ms_env_clock clock = {.mono_ns = INT64_C(1000000000000)};
    ms_env_set_clock(&clock);
    listener own;
    open_listener(&own);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        reading request = {
            .own = &own, .clock = &clock, .waits = cases[i].waits, .frames = cases[i].frames};
        ms_loop_call(own.loop, begin_reading, &request);
        ms_env_clock_advance_us(&clock, 30000000);
        receive(&own, RAW("")); /* the turn after it knows the time */
        ms_loop_call(own.loop, read_now, &request);
        assert_in_range(request.lag_ns / 1000000, cases[i].lag_ms, cases[i].lag_ms + 999);
    }
    close_listener(&own);
    ms_env_set_clock(NULL);
}

static void soon_now(void *arg)
{
    listener *own = arg;
    msi_stream_soon(&own->stream);
    assert_string_equal(own->events, "");
}

static void a_task_runs_in_the_turn(void **state)
{
    (void)state;
    listener own;
    open_listener(&own);
    ms_loop_call(own.loop, soon_now, &own);
    ms_loop_call(own.loop, receive_now, &(bytes_request){.own = &own});
    assert_string_equal(own.events, "task|");
    close_listener(&own);
    assert_string_equal(own.events, "task|closed|");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_paused_stream_holds_what_comes),
        cmocka_unit_test(what_comes_after_a_resume_waits_behind_what_is_held),
        cmocka_unit_test(a_reader_that_is_always_behind_holds_no_more_than_that),
        cmocka_unit_test(a_discarded_stream_is_silent),
        cmocka_unit_test(bad_messages_break_the_stream_off),
        cmocka_unit_test(bytes_beyond_the_budget_break_the_stream_off),
        cmocka_unit_test(sent_bytes_leave_the_budget),
        cmocka_unit_test(how_far_a_client_is_behind_depends_on_what_waits),
        cmocka_unit_test(a_task_runs_in_the_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
