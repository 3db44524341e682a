/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of a client against a server that is the test itself, frame by frame.
 */
#include "net/raw.h"
#include "net/rig.h"

/* A channel to a socket that the test serves. The rig's own server is not used. */
typedef struct script {
    rig it;
    int listen_fd;
    raw_peer *peer;
} script;

static raw_peer script_peer;

static void script_open(script *own, rig_options options)
{
    uint16_t port = 0;
    char target[32];
    own->listen_fd = raw_listen(&port);
    own->peer = &script_peer;
    snprintf(target, sizeof(target), "127.0.0.1:%u", (unsigned)port);
    options.channel.target = ms_str_cstr(target);
    rig_open(&own->it, &options);
}

/* Starts a call and brings it to the point where the server has its request. */
static void script_start(script *own, probe *call)
{
    probe_start(&own->it, call);
    raw_accept(own->peer, own->listen_fd);
    raw_serve(own->peer);
    assert_int_equal(raw_read_until(own->peer, RAW_HEADERS), RAW_HEADERS);
}

static void script_close(script *own)
{
    raw_close(own->peer);
    close(own->listen_fd);
    rig_close(&own->it);
}

#define ANSWER ":status=200;content-type=application/grpc;"

/* What the request looks like. */

static void a_request_has_the_headers_of_grpc(void **state)
{
    (void)state;
    script own;
    ms_grpc_pair pairs[] = {{ms_str_lit("x-goog-request-params"), ms_str_lit("table=t")},
                            {ms_str_lit("some-bin"), ms_str_lit("\xff\xfe")}};
    script_open(&own, (rig_options){.with_clock = true,
                                    .channel.authority = ms_str_lit("bigtable.example"),
                                    .channel.user_agent = ms_str_lit("tester/2")});
    probe call = {.path = "/s/M",
                  .request = "body",
                  .pairs = pairs,
                  .pair_count = 2,
                  .deadline_ns = own.it.clock.mono_ns + S_NS};
    script_start(&own, &call);
    assert_string_equal(own.peer->fields,
                        ":method=POST;:scheme=http;:authority=bigtable.example;:path=/s/M;"
                        "x-goog-request-params=table=t;some-bin=//4;grpc-timeout=1000000u;"
                        "te=trailers;content-type=application/grpc;user-agent=tester/2;");
    assert_int_equal(raw_read_until(own.peer, RAW_STREAM_END), RAW_STREAM_END);
    assert_int_equal(own.peer->payload_bytes, 9);
    assert_memory_equal(own.peer->payload,
                        "\0\0\0\0\x04"
                        "body",
                        9);
    raw_headers(own.peer, RAW_END_BOTH, 1, ANSWER "grpc-status=0;");
    probe_wait(&call);
    assert_int_equal(call.code, MS_GRPC_OK);
    script_close(&own);
}

/* Answers that end a call. */

typedef struct ending {
    const char *headers; /* with END_STREAM when there are no trailers */
    const char *data;    /* NULL: none */
    size_t data_bytes;
    const char *trailers; /* NULL: none */
    ms_grpc_code code;
    const char *message; /* begins so */
} ending;

#define DATA(text) (text), sizeof(text) - 1
#define NO_DATA NULL, 0

static const ending endings[] = {
    {ANSWER "grpc-status=0;", NO_DATA, NULL, MS_GRPC_OK, ""},
    {ANSWER "grpc-status=5;grpc-message=no%20such;", NO_DATA, NULL, MS_GRPC_NOT_FOUND, "no such"},
    {ANSWER "grpc-status=14;grpc-message=50%2;", NO_DATA, NULL, MS_GRPC_UNAVAILABLE, "50%2"},
    {ANSWER, DATA("\0\0\0\0\x02ok"), "grpc-status=0;", MS_GRPC_OK, ""},
    {ANSWER, DATA("\0\0\0\0\x02ok"), "grpc-status=10;grpc-message=%e2%82%ac;", MS_GRPC_ABORTED,
     "\xe2\x82\xac"},
    /* Codes that are none. */
    {ANSWER "grpc-status=17;", NO_DATA, NULL, MS_GRPC_UNKNOWN, ""},
    {ANSWER "grpc-status=99999999999;", NO_DATA, NULL, MS_GRPC_UNKNOWN, ""},
    {ANSWER "grpc-status=OK;", NO_DATA, NULL, MS_GRPC_UNKNOWN, ""},
    {ANSWER "grpc-status=-1;", NO_DATA, NULL, MS_GRPC_UNKNOWN, ""},
    /* Ends without a status. */
    {ANSWER, NO_DATA, NULL, MS_GRPC_INTERNAL, "the server ended the call without a status"},
    {ANSWER, DATA("\0\0\0\0\x02ok"), "other=1;", MS_GRPC_INTERNAL,
     "the server ended the call without a status"},
    /* Not gRPC. */
    {":status=503;content-type=text/html;", NO_DATA, NULL, MS_GRPC_UNAVAILABLE,
     "HTTP status \"503\""},
    {":status=503;content-type=text/html;", DATA("<html>"), "x=y;", MS_GRPC_UNAVAILABLE,
     "HTTP status \"503\""},
    {":status=400;", NO_DATA, NULL, MS_GRPC_INTERNAL, "HTTP status \"400\""},
    {":status=401;", NO_DATA, NULL, MS_GRPC_UNAUTHENTICATED, "HTTP status \"401\""},
    {":status=403;", NO_DATA, NULL, MS_GRPC_PERMISSION_DENIED, "HTTP status \"403\""},
    {":status=404;", NO_DATA, NULL, MS_GRPC_UNIMPLEMENTED, "HTTP status \"404\""},
    {":status=429;", NO_DATA, NULL, MS_GRPC_UNAVAILABLE, "HTTP status \"429\""},
    {":status=502;", NO_DATA, NULL, MS_GRPC_UNAVAILABLE, "HTTP status \"502\""},
    {":status=504;", NO_DATA, NULL, MS_GRPC_UNAVAILABLE, "HTTP status \"504\""},
    {":status=302;", NO_DATA, NULL, MS_GRPC_UNKNOWN, "HTTP status \"302\""},
    {":status=200;", NO_DATA, NULL, MS_GRPC_UNKNOWN, "the server answered with content-type \"\""},
    {":status=200;content-type=text/plain;", NO_DATA, NULL, MS_GRPC_UNKNOWN,
     "the server answered with content-type \"text/plain\""},
    {":status=404;content-type=application/grpc;grpc-status=5;", NO_DATA, NULL, MS_GRPC_NOT_FOUND,
     ""},
    {":status=200;content-type=application/grpc+proto;grpc-status=0;", NO_DATA, NULL, MS_GRPC_OK,
     ""},
    /* Compression that nobody asked for. */
    {ANSWER "grpc-encoding=gzip;", DATA("\x01\0\0\0\x02ok"), "grpc-status=0;", MS_GRPC_INTERNAL,
     "the server answered with grpc-encoding \"gzip\""},
    {ANSWER, DATA("\x01\0\0\0\x02ok"), "grpc-status=0;", MS_GRPC_INTERNAL,
     "a message is compressed"},
    {ANSWER "grpc-encoding=identity;", DATA("\0\0\0\0\x02ok"), "grpc-status=0;", MS_GRPC_OK, ""},
    /* Messages that are cut off. */
    {ANSWER, DATA("\0\0\0\0\x05ok"), "grpc-status=0;", MS_GRPC_INTERNAL,
     "the last message is cut off"},
    {ANSWER, DATA("\0\0"), "grpc-status=0;", MS_GRPC_INTERNAL, "the last message is cut off"},
    {ANSWER, DATA("\0\0\0\0\x05ok"), "grpc-status=14;grpc-message=restart;", MS_GRPC_UNAVAILABLE,
     "restart"},
    {ANSWER, DATA("\x07"), "grpc-status=0;", MS_GRPC_INTERNAL,
     "a message does not begin with 0 or 1"},
    {ANSWER, DATA("\0\xff\xff\xff\xff"), "grpc-status=0;", MS_GRPC_RESOURCE_EXHAUSTED,
     "received message larger than max (4294967295 vs. 268435456)"},
    /* -bin values that are not base64. */
    {ANSWER "grpc-status=0;x-bin=a*b;", NO_DATA, NULL, MS_GRPC_INTERNAL, "a trailer"},
    {ANSWER "x-bin=a*b;", DATA("\0\0\0\0\x02ok"), "grpc-status=0;", MS_GRPC_INTERNAL, "a header"},
};

static void every_ending_has_its_code(void **state)
{
    (void)state;
    script own;
    script_open(&own, (rig_options){0});
    int32_t stream = 1;
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        const ending *end = &endings[i];
        probe call = {.path = "/s/M", .request = "body"};
        if (i == 0) {
            script_start(&own, &call);
        } else {
            probe_start(&own.it, &call);
            assert_int_equal(raw_read_until(own.peer, RAW_STREAM_END), RAW_STREAM_END);
        }
        bool is_last = end->data == NULL && end->trailers == NULL;
        raw_headers(own.peer, is_last ? RAW_END_BOTH : RAW_END_HEADERS, stream, end->headers);
        if (end->data != NULL) {
            raw_frame(own.peer, NGHTTP2_DATA, 0, stream, end->data, end->data_bytes);
        }
        if (end->trailers != NULL) {
            raw_headers(own.peer, RAW_END_BOTH, stream, end->trailers);
        }
        probe_wait(&call);
        if (call.code != end->code ||
            strncmp(call.message, end->message, strlen(end->message)) != 0) {
            fail_msg("%zu: %s \"%s\"", i, ms_grpc_code_name(call.code), call.message);
        }
        assert_false(call.is_unprocessed);
        stream += 2;
    }
    script_close(&own);
}

static void trailers_and_details_are_decoded(void **state)
{
    (void)state;
    script own;
    script_open(&own, (rig_options){0});
    probe call = {.path = "/s/M", .request = "body"};
    script_start(&own, &call);
    raw_headers(own.peer, RAW_END_HEADERS, 1, ANSWER "h1=v1;h1=v2;h-bin=AQI;h-bin=AQI=,Aw==;");
    raw_headers(own.peer, RAW_END_BOTH, 1,
                "grpc-status=9;grpc-status-details-bin=CAkSAng;x-goog-cbt-cookie-a=1;t-bin=YWJj;");
    probe_wait(&call);
    assert_int_equal(call.code, MS_GRPC_FAILED_PRECONDITION);
    assert_string_equal(call.headers, "h1=v1;h1=v2;h-bin=\x01\x02;h-bin=\x01\x02;h-bin=\x03;");
    assert_string_equal(call.trailers, "x-goog-cbt-cookie-a=1;t-bin=abc;");
    assert_int_equal(call.details_bytes, 5);
    assert_memory_equal(call.details, "\x08\x09\x12\x02x", 5);
    script_close(&own);
}

static void an_interim_answer_is_passed_over(void **state)
{
    (void)state;
    script own;
    script_open(&own, (rig_options){0});
    probe call = {.path = "/s/M", .request = "body"};
    script_start(&own, &call);
    raw_headers(own.peer, RAW_END_HEADERS, 1, ":status=103;link=x;");
    raw_headers(own.peer, RAW_END_HEADERS, 1, ANSWER);
    raw_message(own.peer, 1, 0, "text");
    raw_headers(own.peer, RAW_END_BOTH, 1, "grpc-status=0;");
    probe_wait(&call);
    assert_int_equal(call.code, MS_GRPC_OK);
    assert_string_equal(call.first, "text");
    assert_int_equal(call.header_count, 1);
    script_close(&own);
}

typedef struct reset {
    uint32_t error;
    ms_grpc_code code;
} reset;

static void every_reset_has_its_code(void **state)
{
    (void)state;
    static const reset resets[] = {
        {NGHTTP2_NO_ERROR, MS_GRPC_INTERNAL},
        {NGHTTP2_PROTOCOL_ERROR, MS_GRPC_INTERNAL},
        {NGHTTP2_INTERNAL_ERROR, MS_GRPC_INTERNAL},
        {NGHTTP2_FLOW_CONTROL_ERROR, MS_GRPC_INTERNAL},
        {NGHTTP2_CANCEL, MS_GRPC_CANCELLED},
        {NGHTTP2_ENHANCE_YOUR_CALM, MS_GRPC_RESOURCE_EXHAUSTED},
        {NGHTTP2_INADEQUATE_SECURITY, MS_GRPC_PERMISSION_DENIED},
        {NGHTTP2_HTTP_1_1_REQUIRED, MS_GRPC_UNKNOWN},
        {0x12345678, MS_GRPC_UNKNOWN},
    };
    script own;
    script_open(&own, (rig_options){0});
    int32_t stream = 1;
    for (size_t i = 0; i < sizeof(resets) / sizeof(resets[0]); i++) {
        probe call = {.path = "/s/M", .request = "body"};
        if (i == 0) {
            script_start(&own, &call);
        } else {
            probe_start(&own.it, &call);
            assert_int_equal(raw_read_until(own.peer, RAW_STREAM_END), RAW_STREAM_END);
        }
        uint32_t error = htonl(resets[i].error);
        raw_frame(own.peer, NGHTTP2_RST_STREAM, 0, stream, &error, 4);
        probe_wait(&call);
        assert_int_equal(call.code, resets[i].code);
        assert_false(call.is_unprocessed);
        stream += 2;
    }
    script_close(&own);
}

/* A server that keeps the deadline, too, may say so before our own timer fires. */
static void a_server_that_cancels_at_the_deadline_means_the_deadline(void **state)
{
    (void)state;
    script own;
    script_open(&own, (rig_options){.with_clock = true});
    probe call = {.path = "/s/M", .request = "body", .deadline_ns = own.it.clock.mono_ns + S_NS};
    script_start(&own, &call);
    /* The loop sleeps: what wakes it is the frame, which it reads before it looks at timers. */
    ms_env_clock_advance_us(&own.it.clock, 1000000);
    uint32_t error = htonl(NGHTTP2_CANCEL);
    raw_frame(own.peer, NGHTTP2_RST_STREAM, 0, 1, &error, 4);
    probe_wait(&call);
    assert_int_equal(call.code, MS_GRPC_DEADLINE_EXCEEDED);
    script_close(&own);
}

static void a_refused_stream_is_sent_once_more(void **state)
{
    (void)state;
    script own;
    script_open(&own, (rig_options){0});
    probe call = {.path = "/s/M", .request = "body"};
    script_start(&own, &call);
    assert_int_equal(raw_read_until(own.peer, RAW_STREAM_END), RAW_STREAM_END);
    raw_frame(own.peer, NGHTTP2_RST_STREAM, 0, 1, "\0\0\0\x07", 4);
    own.peer->fields_bytes = 0;
    assert_int_equal(raw_read_until(own.peer, RAW_HEADERS), RAW_HEADERS);
    assert_int_equal(own.peer->stream, 3);
    assert_true(raw_has(own.peer, ":path=/s/M;"));
    assert_int_equal(raw_read_until(own.peer, RAW_STREAM_END), RAW_STREAM_END);
    assert_memory_equal(own.peer->payload,
                        "\0\0\0\0\x04"
                        "body",
                        9);
    /* A second time is its user's matter, who is told that it may be repeated. */
    raw_frame(own.peer, NGHTTP2_RST_STREAM, 0, 3, "\0\0\0\x07", 4);
    probe_wait(&call);
    assert_int_equal(call.code, MS_GRPC_UNAVAILABLE);
    assert_true(call.is_unprocessed);
    script_close(&own);
}

static void a_stream_with_several_messages_is_not_sent_again(void **state)
{
    (void)state;
    script own;
    script_open(&own, (rig_options){0});
    probe call = {.path = "/s/M"};
    script_start(&own, &call);
    probe_send(&call, ms_str_lit("one"), false);
    probe_send(&call, ms_str_lit("two"), false);
    raw_frame(own.peer, NGHTTP2_RST_STREAM, 0, 1, "\0\0\0\x07", 4);
    probe_wait(&call);
    assert_int_equal(call.code, MS_GRPC_UNAVAILABLE);
    assert_true(call.is_unprocessed);
    script_close(&own);
}

static void a_refusal_after_the_answer_began_is_an_end(void **state)
{
    (void)state;
    script own;
    script_open(&own, (rig_options){0});
    probe call = {.path = "/s/M", .request = "x"};
    script_start(&own, &call);
    raw_headers(own.peer, RAW_END_HEADERS, 1, ANSWER);
    raw_frame(own.peer, NGHTTP2_RST_STREAM, 0, 1, "\0\0\0\x07", 4);
    probe_wait(&call);
    assert_int_equal(call.code, MS_GRPC_UNAVAILABLE);
    assert_false(call.is_unprocessed);
    script_close(&own);
}

/* Ends from this side. */

static void a_cancel_resets_the_stream(void **state)
{
    (void)state;
    script own;
    script_open(&own, (rig_options){0});
    probe call = {.path = "/s/M", .request = "x"};
    script_start(&own, &call);
    probe_cancel(&call);
    probe_cancel(&call);
    probe_wait(&call);
    assert_int_equal(call.code, MS_GRPC_CANCELLED);
    assert_int_equal(raw_read_until(own.peer, RAW_RST), RAW_RST);
    assert_int_equal(own.peer->rst_error, NGHTTP2_CANCEL);
    script_close(&own);
}

static void a_call_may_be_canceled_while_it_connects(void **state)
{
    (void)state;
    script own;
    script_open(&own, (rig_options){0});
    probe call = {.path = "/s/M", .request = "x"};
    probe_start(&own.it, &call);
    probe_cancel(&call);
    probe_wait(&call);
    assert_int_equal(call.code, MS_GRPC_CANCELLED);
    /* The connection is made, but nothing is asked on it. */
    raw_accept(own.peer, own.listen_fd);
    raw_serve(own.peer);
    assert_true(raw_is_alive(own.peer));
    assert_string_equal(own.peer->fields, "");
    script_close(&own);
}

static void a_deadline_ends_a_call_that_waits_for_a_connection(void **state)
{
    (void)state;
    script own;
    script_open(&own, (rig_options){.with_clock = true});
    probe call = {.path = "/s/M", .request = "x", .deadline_ns = own.it.clock.mono_ns + 2 * S_NS};
    probe_start(&own.it, &call);
    rig_advance(&own.it, 3 * S_NS);
    probe_wait(&call);
    assert_int_equal(call.code, MS_GRPC_DEADLINE_EXCEEDED);
    assert_true(call.is_unprocessed);
    assert_non_null(strstr(call.message, "while waiting for a connection to 127.0.0.1:"));
    raw_accept(own.peer, own.listen_fd);
    script_close(&own);
}

static void a_message_may_cancel_its_call(void **state)
{
    (void)state;
    script own;
    script_open(&own, (rig_options){0});
    probe call = {.path = "/s/M", .request = "x", .cancel_after_message = true};
    script_start(&own, &call);
    raw_headers(own.peer, RAW_END_HEADERS, 1, ANSWER);
    raw_frame(own.peer, NGHTTP2_DATA, 0, 1, "\0\0\0\0\x01x\0\0\0\0\x01y", 12);
    probe_wait(&call);
    assert_int_equal(call.code, MS_GRPC_CANCELLED);
    assert_int_equal(call.message_count, 1);
    assert_int_equal(raw_read_until(own.peer, RAW_RST), RAW_RST);
    script_close(&own);
}

/* Pausing. */

static void a_paused_call_gets_its_end_behind_its_messages(void **state)
{
    (void)state;
    script own;
    script_open(&own, (rig_options){0});
    probe call = {.path = "/s/M", .request = "x", .pause_after_message = true};
    script_start(&own, &call);
    raw_headers(own.peer, RAW_END_HEADERS, 1, ANSWER);
    raw_frame(own.peer, NGHTTP2_DATA, 0, 1, "\0\0\0\0\x01x\0\0\0\0\x01y\0\0\0\0\x01z", 18);
    raw_headers(own.peer, RAW_END_BOTH, 1, "grpc-status=0;");
    /* The connection may go, too: what the call needs has come. */
    assert_true(raw_is_alive(own.peer));
    shutdown(own.peer->fd, SHUT_RDWR);
    for (int i = 1; i <= 3; i++) {
        probe_wait_messages(&call, i);
        rig_settle(&own.it);
        assert_int_equal(call.message_count, i);
        assert_false(call.is_done);
        probe_resume(&call);
    }
    probe_wait(&call);
    assert_int_equal(call.code, MS_GRPC_OK);
    script_close(&own);
}

/* Everything is here, and the stream is gone, when the mistake is found. The call's memory is used
 * again for the next call, which knows nothing of it. */
static void a_paused_call_that_breaks_at_its_end_leaves_nothing_behind(void **state)
{
    (void)state;
    script own;
    script_open(&own, (rig_options){0});
    for (int i = 0; i < 2; i++) {
        probe call = {.path = "/s/M", .request = "x", .pause_after_message = i == 0};
        if (i == 0) {
            script_start(&own, &call);
        } else {
            probe_start(&own.it, &call);
            assert_int_equal(raw_read_until(own.peer, RAW_HEADERS), RAW_HEADERS);
        }
        int32_t id = own.peer->stream;
        raw_headers(own.peer, RAW_END_HEADERS, id, ANSWER);
        raw_message(own.peer, id, 0, "one");
        if (i == 0) {
            raw_frame(own.peer, NGHTTP2_DATA, 0, id, "\x07 no message begins so", 22);
        }
        raw_headers(own.peer, RAW_END_BOTH, id, "grpc-status=0;");
        probe_wait_messages(&call, 1);
        assert_true(raw_is_alive(own.peer)); /* the client has read all of it */
        probe_resume(&call);
        probe_wait(&call);
        assert_int_equal(call.code, i == 0 ? MS_GRPC_INTERNAL : MS_GRPC_OK);
        assert_int_equal(call.message_count, 1);
    }
    script_close(&own);
}

/* More of them than objects are kept for the next calls: some are freed where they end. */
static void a_crowd_of_paused_calls_ends_well(void **state)
{
    (void)state;
    static probe calls[300];
    rig it;
    rig_open(&it, &(rig_options){0});
    for (int i = 0; i < 300; i++) {
        calls[i] = (probe){.path = "/t/Stream", .request = "", .pause_after_message = true};
        probe_start(&it, &calls[i]);
    }
    for (int i = 0; i < 300; i++) {
        probe_wait_messages(&calls[i], 1);
    }
    while (ms_grpc_server_get_stats(it.server).calls > 0) {
    }
    rig_settle(&it);
    for (int i = 0; i < 300; i++) {
        probe_resume(&calls[i]);
        probe_wait(&calls[i]);
        assert_int_equal(calls[i].code, MS_GRPC_OK);
    }
    rig_check_works(&it);
    rig_close(&it);
}

static void a_paused_call_ends_when_its_connection_is_lost(void **state)
{
    (void)state;
    script own;
    script_open(&own, (rig_options){0});
    probe call = {.path = "/s/M", .request = "x", .pause_after_message = true};
    script_start(&own, &call);
    raw_headers(own.peer, RAW_END_HEADERS, 1, ANSWER);
    raw_frame(own.peer, NGHTTP2_DATA, 0, 1, "\0\0\0\0\x01x\0\0\0\0\x01y", 12);
    probe_wait_messages(&call, 1);
    shutdown(own.peer->fd, SHUT_RDWR);
    probe_wait(&call);
    assert_int_equal(call.code, MS_GRPC_UNAVAILABLE);
    assert_int_equal(call.message_count, 1);
    script_close(&own);
}

static void no_window_is_given_while_a_call_is_paused(void **state)
{
    (void)state;
    script own;
    script_open(&own, (rig_options){.channel.stream_window_bytes = 65535});
    probe call = {.path = "/s/M", .request = "x", .pause_after_message = true};
    script_start(&own, &call);
    raw_headers(own.peer, RAW_END_HEADERS, 1, ANSWER);
    static char data[16384] = {0, 0, 0, 0, 1, 'x', 0, 0, 0, (char)0xff, (char)0xf0};
    for (int i = 0; i < 3; i++) {
        raw_frame(own.peer, NGHTTP2_DATA, 0, 1, data, sizeof(data));
        memset(data, 0, sizeof(data));
    }
    raw_frame(own.peer, NGHTTP2_PING, 0, 0, "12345678", 8);
    raw_event event = RAW_NOTHING;
    while ((event = raw_read(own.peer)) != RAW_PING_ACK) {
        assert_true(event != RAW_OTHER); /* a WINDOW_UPDATE */
    }
    probe_resume(&call);
    while ((event = raw_read(own.peer)) != RAW_OTHER) {
        assert_true(event != RAW_CLOSED);
    }
    assert_int_equal(own.peer->type, NGHTTP2_WINDOW_UPDATE);
    assert_int_equal(own.peer->stream, 1);
    script_close(&own);
    assert_true(call.is_done);
}

/* Malformed bytes from a server. */

static void malformed_answers_end_calls_and_nothing_else(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t count;
    } inputs[] = {
        {DATA("HTTP/1.1 400 Bad Request\r\n\r\n")},
        {DATA("\0\0\x05\x04\0\0\0\0\0abcde")},              /* SETTINGS of 5 bytes */
        {DATA("\xff\xff\xff\0\0\0\0\0\x01")},               /* a frame of 16 MB */
        {DATA("\0\0\x01\x01\x05\0\0\0\x01\x80")},           /* HPACK index 0 */
        {DATA("\0\0\x05\x05\x04\0\0\0\x01\0\0\0\x02\x82")}, /* a push */
        {DATA("\0\0\x01\0\0\0\0\0\x01x")},                  /* data before headers */
        {DATA("\0\0\x01\x01\x05\0\0\0\x02\x88")},           /* headers on a stream of its own */
        {DATA("\0\0\x04\x08\0\0\0\0\0\0\0\0\0")},           /* a window update of nothing */
    };
    for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++) {
        script own;
        script_open(&own, (rig_options){0});
        probe call = {.path = "/s/M", .request = "x"};
        script_start(&own, &call);
        raw_write(own.peer, inputs[i].bytes, inputs[i].count);
        probe_wait(&call);
        if (call.code != MS_GRPC_UNAVAILABLE && call.code != MS_GRPC_INTERNAL) {
            fail_msg("%zu: %s", i, ms_grpc_code_name(call.code));
        }
        script_close(&own);
    }
}

/* A reset while the request waits for window: what is queued is dropped with the call. */
static void a_large_request_may_be_cut_short(void **state)
{
    (void)state;
    script own;
    script_open(&own, (rig_options){0});
    char *bytes = ms_mem_calloc(1, 1 << 20);
    probe call = {.path = "/s/M", .request_bytes = {bytes, 1 << 20}};
    script_start(&own, &call);
    ms_mem_free(bytes);
    while (own.peer->data_bytes < 65535) {
        assert_int_not_equal(raw_read(own.peer), RAW_CLOSED);
    }
    raw_headers(own.peer, RAW_END_BOTH, 1, ANSWER "grpc-status=8;");
    probe_wait(&call);
    assert_int_equal(call.code, MS_GRPC_RESOURCE_EXHAUSTED);
    assert_int_equal(raw_read_until(own.peer, RAW_RST), RAW_RST);
    assert_int_equal(own.peer->data_bytes, 65535);
    script_close(&own);
}

static void calls_that_wait_for_room_leave_a_connection_that_is_to_end(void **state)
{
    (void)state;
    static raw_peer second;
    script own;
    script_open(&own, (rig_options){.channel.connections_max = 1});
    probe call = {.path = "/s/M", .request = "x"};
    probe other = {.path = "/s/M", .request = "x"};
    probe_start(&own.it, &call);
    raw_accept(own.peer, own.listen_fd);
    assert_true(raw_fill(own.peer, 24));
    raw_take(own.peer, 24);
    raw_frame(own.peer, NGHTTP2_SETTINGS, 0, 0, "\0\x03\0\0\0\x01", 6);
    assert_int_equal(raw_read_until(own.peer, RAW_HEADERS), RAW_HEADERS);
    probe_start(&own.it, &other); /* waits: one stream at a time */
    raw_frame(own.peer, NGHTTP2_GOAWAY, 0, 0, "\0\0\0\x01\0\0\0\0", 8);
    raw_accept(&second, own.listen_fd);
    raw_serve(&second);
    assert_int_equal(raw_read_until(&second, RAW_HEADERS), RAW_HEADERS);
    raw_headers(&second, RAW_END_BOTH, 1, ANSWER "grpc-status=0;");
    probe_wait(&other);
    raw_headers(own.peer, RAW_END_BOTH, 1, ANSWER "grpc-status=0;");
    probe_wait(&call);
    raw_close(&second);
    script_close(&own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_that_wait_for_room_leave_a_connection_that_is_to_end),
        cmocka_unit_test(a_request_has_the_headers_of_grpc),
        cmocka_unit_test(every_ending_has_its_code),
        cmocka_unit_test(trailers_and_details_are_decoded),
        cmocka_unit_test(an_interim_answer_is_passed_over),
        cmocka_unit_test(every_reset_has_its_code),
        cmocka_unit_test(a_server_that_cancels_at_the_deadline_means_the_deadline),
        cmocka_unit_test(a_refused_stream_is_sent_once_more),
        cmocka_unit_test(a_stream_with_several_messages_is_not_sent_again),
        cmocka_unit_test(a_refusal_after_the_answer_began_is_an_end),
        cmocka_unit_test(a_cancel_resets_the_stream),
        cmocka_unit_test(a_call_may_be_canceled_while_it_connects),
        cmocka_unit_test(a_deadline_ends_a_call_that_waits_for_a_connection),
        cmocka_unit_test(a_message_may_cancel_its_call),
        cmocka_unit_test(a_paused_call_gets_its_end_behind_its_messages),
        cmocka_unit_test(a_paused_call_that_breaks_at_its_end_leaves_nothing_behind),
        cmocka_unit_test(a_crowd_of_paused_calls_ends_well),
        cmocka_unit_test(a_paused_call_ends_when_its_connection_is_lost),
        cmocka_unit_test(no_window_is_given_while_a_call_is_paused),
        cmocka_unit_test(malformed_answers_end_calls_and_nothing_else),
        cmocka_unit_test(a_large_request_may_be_cut_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
