/* SPDX-License-Identifier: Apache-2.0 */
#include "net/grpc_server_priv.h"
#include "net/raw.h"
#include "net/rig.h"

#include <malloc.h>

/* Malformed bytes. */

typedef enum outcome {
    CLOSES, /* the connection, after a GOAWAY or not */
    LIVES   /* one stream fails at most */
} outcome;

typedef struct malformed {
    const char *name;
    outcome outcome;
    bool with_preface; /* the preface and SETTINGS come first */
    const char *bytes;
    size_t count;
} malformed;

#define RAW(text) (text), sizeof(text) - 1
#define GET_5 "\x82\x86\x84\x41\x01t" /* :method GET, :scheme http, :path /, :authority t */

static const malformed malformed_inputs[] = {
    {"nothing at all", CLOSES, false, RAW("")},
    {"HTTP/1.1", CLOSES, false, RAW("GET / HTTP/1.1\r\nHost: x\r\n\r\n")},
    {"half a preface", CLOSES, false, RAW("PRI * HTTP/2.0\r\n")},
    {"a preface with a wrong byte", CLOSES, false, RAW("PRI * HTTP/2.0\r\n\r\nSM\r\n\rx")},
    {"a TLS hello", CLOSES, false, RAW("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")},
    {"ones", CLOSES, false, RAW("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")},
    {"zeros", CLOSES, false, RAW("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0")},
    {"a ping before SETTINGS", CLOSES, false,
     RAW(RAW_PREFACE "\0\0\x08\x06\0\0\0\0\0"
                     "abcdefgh")},
    {"headers before SETTINGS", CLOSES, false, RAW(RAW_PREFACE "\0\0\x06\x01\x05\0\0\0\x01" GET_5)},
    {"a frame of 16 MB", CLOSES, true, RAW("\xff\xff\xff\0\0\0\0\0\x01")},
    {"a frame one byte too long", CLOSES, true, RAW("\0\x40\x01\x04\0\0\0\0\0")},
    {"SETTINGS of 5 bytes", CLOSES, true, RAW("\0\0\x05\x04\0\0\0\0\0\0\0\0\0\0")},
    {"SETTINGS on a stream", CLOSES, true, RAW("\0\0\0\x04\0\0\0\0\x01")},
    {"an acknowledgment with content", CLOSES, true,
     RAW("\0\0\x06\x04\x01\0\0\0\0\0\x03\0\0\0\x64")},
    {"an acknowledgment for nothing", CLOSES, true,
     RAW("\0\0\0\x04\x01\0\0\0\0\0\0\0\x04\x01\0\0\0\0\0\0\0\x04\x01\0\0\0\0")},
    {"a window of 4 GB", CLOSES, true, RAW("\0\0\x06\x04\0\0\0\0\0\0\x04\xff\xff\xff\xff")},
    {"a frame size of 1", CLOSES, true, RAW("\0\0\x06\x04\0\0\0\0\0\0\x05\0\0\0\x01")},
    {"a frame size of 16 MB", CLOSES, true, RAW("\0\0\x06\x04\0\0\0\0\0\0\x05\x01\0\0\0")},
    {"push that is neither", CLOSES, true, RAW("\0\0\x06\x04\0\0\0\0\0\0\x02\0\0\0\x02")},
    {"a ping of 7 bytes", CLOSES, true, RAW("\0\0\x07\x06\0\0\0\0\0abcdefg")},
    {"a ping on a stream", CLOSES, true,
     RAW("\0\0\x08\x06\0\0\0\0\x01"
         "abcdefgh")},
    {"a window update of nothing", CLOSES, true, RAW("\0\0\x04\x08\0\0\0\0\0\0\0\0\0")},
    {"a window update of 3 bytes", CLOSES, true, RAW("\0\0\x03\x08\0\0\0\0\0\0\0\x01")},
    {"a window that overflows", CLOSES, true,
     RAW("\0\0\x04\x08\0\0\0\0\0\x7f\xff\xff\xff\0\0\x04\x08\0\0\0\0\0\x7f\xff\xff\xff")},
    {"a window update of an idle stream", CLOSES, true, RAW("\0\0\x04\x08\0\0\0\0\x07\0\0\0\x01")},
    {"GOAWAY of 4 bytes", CLOSES, true, RAW("\0\0\x04\x07\0\0\0\0\0\0\0\0\0")},
    {"GOAWAY on a stream", CLOSES, true, RAW("\0\0\x08\x07\0\0\0\0\x01\0\0\0\0\0\0\0\0")},
    {"a reset of the connection", CLOSES, true, RAW("\0\0\x04\x03\0\0\0\0\0\0\0\0\x08")},
    {"a reset of an idle stream", CLOSES, true, RAW("\0\0\x04\x03\0\0\0\0\x05\0\0\0\x08")},
    {"a reset of 3 bytes", CLOSES, true, RAW("\0\0\x03\x03\0\0\0\0\x01\0\0\0")},
    {"a priority of the connection", CLOSES, true, RAW("\0\0\x05\x02\0\0\0\0\0\0\0\0\x03\x0f")},
    {"a priority of 4 bytes", CLOSES, true, RAW("\0\0\x04\x02\0\0\0\0\x01\0\0\0\x03")},
    {"data on the connection", CLOSES, true, RAW("\0\0\x01\0\0\0\0\0\0x")},
    {"data on an idle stream", CLOSES, true, RAW("\0\0\x01\0\0\0\0\0\x03x")},
    {"data with more padding than content", CLOSES, true,
     RAW("\0\0\x06\x01\x04\0\0\0\x01" GET_5 "\0\0\x02\0\x08\0\0\0\x01\x09x")},
    {"headers on the connection", CLOSES, true, RAW("\0\0\x06\x01\x05\0\0\0\0" GET_5)},
    {"headers on an even stream", CLOSES, true, RAW("\0\0\x06\x01\x05\0\0\0\x02" GET_5)},
    {"headers with more padding than content", CLOSES, true,
     RAW("\0\0\x02\x01\x0d\0\0\0\x01\x20\x82")},
    {"HPACK: index 0", CLOSES, true, RAW("\0\0\x01\x01\x05\0\0\0\x01\x80")},
    {"HPACK: an index that is not there", CLOSES, true,
     RAW("\0\0\x03\x01\x05\0\0\0\x01\xff\xff\x7f")},
    {"HPACK: a number without end", CLOSES, true,
     RAW("\0\0\x0b\x01\x05\0\0\0\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")},
    {"HPACK: a string that is cut off", CLOSES, true,
     RAW("\0\0\x03\x01\x05\0\0\0\x01\x00\x7f\x61")},
    {"HPACK: bad Huffman code", CLOSES, true,
     RAW("\0\0\x07\x01\x05\0\0\0\x01\x00\x84\xff\xff\xff\xff\x00")},
    {"HPACK: a table of 1 GB", CLOSES, true,
     RAW("\0\0\x06\x01\x05\0\0\0\x01\x3f\xe1\xff\xff\xff\x03")},
    {"data where a continuation must come", CLOSES, true,
     RAW("\0\0\x01\x01\0\0\0\0\x01\x82\0\0\x01\0\0\0\0\0\x01x")},
    {"a continuation of another stream", CLOSES, true,
     RAW("\0\0\x01\x01\0\0\0\0\x01\x82\0\0\x01\x09\x04\0\0\0\x03\x86")},
    {"a continuation of nothing", CLOSES, true, RAW("\0\0\x01\x09\x04\0\0\0\x01\x82")},
    {"ten continuations", CLOSES, true,
     RAW("\0\0\x01\x01\0\0\0\0\x01\x82\0\0\0\x09\0\0\0\0\x01\0\0\0\x09\0\0\0\0\x01"
         "\0\0\0\x09\0\0\0\0\x01\0\0\0\x09\0\0\0\0\x01\0\0\0\x09\0\0\0\0\x01\0\0\0\x09\0\0\0\0\x01"
         "\0\0\0\x09\0\0\0\0\x01\0\0\0\x09\0\0\0\0\x01\0\0\0\x09\0\0\0\0\x01\0\0\0\x09\0\0\0\0"
         "\x01")},
    {"a stream below the last one", CLOSES, true,
     RAW("\0\0\x06\x01\x05\0\0\0\x05" GET_5 "\0\0\x06\x01\x05\0\0\0\x03" GET_5)},
    {"a promise by a client", CLOSES, true, RAW("\0\0\x0a\x05\x04\0\0\0\x01\0\0\0\x02" GET_5)},
    {"a frame of an unknown type", LIVES, true, RAW("\0\0\x02\xee\xff\0\0\0\x01xy")},
    {"an unknown setting", LIVES, true, RAW("\0\0\x06\x04\0\0\0\0\0\xff\xee\0\0\0\x01")},
    {"a stream that depends on itself", LIVES, true, RAW("\0\0\x05\x02\0\0\0\0\x01\0\0\0\x01\x0f")},
    {"no :path", LIVES, true, RAW("\0\0\x02\x01\x05\0\0\0\x01\x83\x86")},
    {"two :methods", LIVES, true, RAW("\0\0\x07\x01\x05\0\0\0\x01\x83" GET_5)},
    {":method behind a header", LIVES, true,
     RAW("\0\0\x0b\x01\x05\0\0\0\x01\x00\x01\x61\x01\x62" GET_5)},
    {"an unknown pseudo header", LIVES, true,
     RAW("\0\0\x0c\x01\x05\0\0\0\x01" GET_5 "\x00\x02:x\x01y")},
    {"a header name in capitals", LIVES, true,
     RAW("\0\0\x0b\x01\x05\0\0\0\x01" GET_5 "\x00\x01X\x01y")},
    {"a connection header", LIVES, true,
     RAW("\0\0\x1a\x01\x05\0\0\0\x01" GET_5 "\x00\x0a"
         "connection\x07upgrade")},
    {"te that is not trailers", LIVES, true,
     RAW("\0\0\x0f\x01\x05\0\0\0\x01" GET_5 "\x00\x02te\x04gzip")},
};

#define MALFORMED_COUNT (sizeof(malformed_inputs) / sizeof(malformed_inputs[0]))

static void check_malformed(rig *it, const malformed *input)
{
    static raw_peer peer;
    raw_connect(&peer, ms_grpc_server_port(it->server));
    if (input->with_preface) {
        raw_start(&peer);
    }
    raw_write(&peer, input->bytes, input->count);
    if (input->outcome == LIVES) {
        if (!raw_is_alive(&peer)) {
            fail_msg("%s: the connection was closed", input->name);
        }
    } else {
        shutdown(peer.fd, SHUT_WR); /* what is cut off stays so */
        if (raw_read_until(&peer, RAW_CLOSED) != RAW_CLOSED) {
            fail_msg("%s: the connection was not closed", input->name);
        }
    }
    raw_close(&peer);
    rig_check_works(it);
}

static void malformed_input_ends_a_connection_at_most(void **state)
{
    (void)state;
    rig it;
    rig_open(&it, &(rig_options){0});
    assert_true(MALFORMED_COUNT >= 50);
    for (size_t i = 0; i < MALFORMED_COUNT; i++) {
        check_malformed(&it, &malformed_inputs[i]);
    }
    /* Nothing of them has reached a handler. */
    assert_int_equal(it.started, MALFORMED_COUNT);
    rig_close(&it);
}

/* The same, in pieces of one byte: where pieces end makes no difference. */
static void malformed_input_in_pieces_is_the_same(void **state)
{
    (void)state;
    static raw_peer peer;
    rig it;
    rig_open(&it, &(rig_options){0});
    for (size_t i = 0; i < MALFORMED_COUNT; i++) {
        const malformed *input = &malformed_inputs[i];
        raw_connect(&peer, ms_grpc_server_port(it.server));
        if (input->with_preface) {
            raw_start(&peer);
        }
        for (size_t j = 0; j < input->count; j++) {
            raw_write(&peer, input->bytes + j, 1);
        }
        if (input->outcome == LIVES) {
            assert_true(raw_is_alive(&peer));
        }
        raw_close(&peer);
    }
    rig_check_works(&it);
    rig_close(&it);
}

/* GOAWAY says what was wrong: such a connection is not closed without a word. */
static void a_protocol_error_is_told(void **state)
{
    (void)state;
    static raw_peer peer;
    rig it;
    rig_open(&it, &(rig_options){0});
    raw_connect(&peer, ms_grpc_server_port(it.server));
    raw_start(&peer);
    raw_frame(&peer, NGHTTP2_SETTINGS, 0, 1, NULL, 0);
    assert_int_equal(raw_read_until(&peer, RAW_GOAWAY), RAW_GOAWAY);
    assert_int_equal(peer.goaway_error, NGHTTP2_PROTOCOL_ERROR);
    assert_int_equal(raw_read_until(&peer, RAW_CLOSED), RAW_CLOSED);
    raw_close(&peer);
    assert_int_equal(ms_grpc_server_get_stats(it.server).broken, 1);
    rig_close(&it);
}

/* Floods. */

static void check_flood(rig *it, const char *debug, void (*flood)(raw_peer *peer))
{
    static raw_peer peer;
    raw_connect(&peer, ms_grpc_server_port(it->server));
    raw_start(&peer);
    flood(&peer);
    while (peer.goaway_count == 0 && raw_read(&peer) != RAW_CLOSED) {
    }
    assert_int_equal(peer.goaway_error, NGHTTP2_ENHANCE_YOUR_CALM);
    assert_string_equal(peer.goaway_debug, debug);
    raw_close(&peer);
    rig_check_works(it);
}

static void flood_pings(raw_peer *peer)
{
    for (int i = 0; i < 102; i++) {
        raw_frame(peer, NGHTTP2_PING, 0, 0, "12345678", 8);
    }
}

static void flood_settings(raw_peer *peer)
{
    for (int i = 0; i < 102; i++) {
        raw_frame(peer, NGHTTP2_SETTINGS, 0, 0, NULL, 0);
    }
}

static void flood_priorities(raw_peer *peer)
{
    for (int i = 0; i < 1002; i++) {
        raw_frame(peer, NGHTTP2_PRIORITY, 0, 1, "\0\0\0\0\x0f", 5);
    }
}

static void flood_empty_data(raw_peer *peer)
{
    raw_headers(peer, RAW_END_HEADERS, 1, RAW_REQUEST("/t/Sink"));
    for (int i = 0; i < 1002; i++) {
        raw_frame(peer, NGHTTP2_DATA, 0, 1, NULL, 0);
    }
}

static void floods_of_control_frames_end_the_connection(void **state)
{
    (void)state;
    rig it;
    rig_open(&it, &(rig_options){.with_clock = true});
    check_flood(&it, "too_many_pings", flood_pings);
    check_flood(&it, "too_many_settings", flood_settings);
    check_flood(&it, "too_many_useless_frames", flood_priorities);
    check_flood(&it, "too_many_useless_frames", flood_empty_data);
    assert_int_equal(ms_grpc_server_get_stats(it.server).broken, 4);
    rig_close(&it);
}

static void a_flood_of_resets_ends_the_connection(void **state)
{
    (void)state;
    static raw_peer peer;
    rig it;
    rig_open(&it, &(rig_options){.server.resets_burst = 50, .server.resets_per_second = 1});
    raw_connect(&peer, ms_grpc_server_port(it.server));
    raw_start(&peer);
    for (int i = 0; i < 2000; i++) {
        raw_headers(&peer, RAW_END_HEADERS, 2 * i + 1, RAW_REQUEST("/t/Hold"));
        raw_frame(&peer, NGHTTP2_RST_STREAM, 0, 2 * i + 1, "\0\0\0\x08", 4);
    }
    assert_int_equal(raw_read_until(&peer, RAW_CLOSED), RAW_CLOSED);
    raw_close(&peer);
    rig_check_works(&it);
    while (it.canceled + 1 < it.started) {
        rig_settle(&it);
    }
    assert_true(it.started < 2000);
    assert_int_equal(it.held_count, 0);
    rig_close(&it);
}

/* The same by mistakes of the client's, for each of which the server resets a stream. */
static void a_flood_of_mistakes_ends_the_connection(void **state)
{
    (void)state;
    static raw_peer peer;
    rig it;
    rig_open(&it, &(rig_options){.with_clock = true, .without_channel = true});
    raw_connect(&peer, ms_grpc_server_port(it.server));
    raw_start(&peer);
    /* A hundred at a time: of more, the server would refuse those beyond the streams that there may
     * be, which is another matter. */
    bool is_alive = true;
    for (int i = 0; i < 5000 && is_alive; i++) {
        raw_headers(&peer, RAW_END_BOTH, 2 * i + 1, RAW_REQUEST("/t/Hold"));
        raw_frame(&peer, NGHTTP2_WINDOW_UPDATE, 0, 2 * i + 1, "\x7f\xff\xff\xff", 4);
        is_alive = i % 100 != 99 || raw_is_alive(&peer);
    }
    assert_false(is_alive);
    assert_int_equal(peer.goaway_error, NGHTTP2_ENHANCE_YOUR_CALM);
    assert_true(it.started < 2000);
    raw_close(&peer);
    rig_close(&it);
}

static void pings_between_answers_are_no_flood(void **state)
{
    (void)state;
    static raw_peer peer;
    rig it;
    rig_open(&it, &(rig_options){.with_clock = true});
    raw_connect(&peer, ms_grpc_server_port(it.server));
    raw_start(&peer);
    for (int i = 0; i < 30; i++) {
        raw_headers(&peer, RAW_END_BOTH, 2 * i + 1, RAW_REQUEST("/t/Peer"));
        assert_int_equal(raw_read_until(&peer, RAW_STREAM_END), RAW_STREAM_END);
        for (int j = 0; j < 10; j++) {
            assert_true(raw_is_alive(&peer));
        }
    }
    raw_close(&peer);
    rig_close(&it);
}

static void more_streams_than_allowed_are_refused(void **state)
{
    (void)state;
    static raw_peer peer;
    rig it;
    rig_open(&it, &(rig_options){.server.streams_max = 10});
    raw_connect(&peer, ms_grpc_server_port(it.server));
    raw_start(&peer);
    for (int i = 0; i < 11; i++) {
        raw_headers(&peer, RAW_END_BOTH, 2 * i + 1, RAW_REQUEST("/t/Hold"));
    }
    assert_int_equal(raw_read_until(&peer, RAW_RST), RAW_RST);
    assert_int_equal(peer.stream, 21);
    assert_int_equal(peer.rst_error, NGHTTP2_REFUSED_STREAM);
    assert_int_equal(it.started, 10);
    raw_close(&peer);
    rig_wait_canceled(&it, 10);
    rig_check_works(&it);
    rig_close(&it);
}

/* Time. */

static void a_peer_that_says_nothing_is_closed(void **state)
{
    (void)state;
    static raw_peer peer;
    rig it;
    rig_open(&it, &(rig_options){.with_clock = true});
    raw_connect(&peer, ms_grpc_server_port(it.server));
    while (ms_grpc_server_get_stats(it.server).connections < 1) {
    }
    rig_advance(&it, 19 * S_NS);
    assert_int_equal(ms_grpc_server_get_stats(it.server).connections, 1);
    rig_advance(&it, S_NS);
    assert_int_equal(raw_read_until(&peer, RAW_CLOSED), RAW_CLOSED);
    raw_close(&peer);
    rig_close(&it);
}

static void an_idle_connection_is_pinged_and_then_drained(void **state)
{
    (void)state;
    static raw_peer peer;
    rig it;
    rig_open(&it, &(rig_options){.with_clock = true, .server.idle_ns = 100 * S_NS});
    raw_connect(&peer, ms_grpc_server_port(it.server));
    raw_start(&peer);
    assert_true(raw_is_alive(&peer));
    rig_advance(&it, 61 * S_NS);
    assert_int_equal(raw_read_until(&peer, RAW_PING), RAW_PING);
    raw_frame(&peer, NGHTTP2_PING, NGHTTP2_FLAG_ACK, 0, peer.payload, 8);
    assert_true(raw_is_alive(&peer));
    rig_advance(&it, 20 * S_NS);
    rig_advance(&it, 20 * S_NS);
    assert_int_equal(raw_read_until(&peer, RAW_GOAWAY), RAW_GOAWAY);
    assert_int_equal(peer.goaway_error, NGHTTP2_NO_ERROR);
    assert_int_equal(peer.goaway_last, 0x7fffffff);
    assert_int_equal(raw_read_until(&peer, RAW_PING), RAW_PING);
    raw_frame(&peer, NGHTTP2_PING, NGHTTP2_FLAG_ACK, 0, peer.payload, 8);
    assert_int_equal(raw_read_until(&peer, RAW_CLOSED), RAW_CLOSED);
    assert_int_equal(peer.goaway_count, 2);
    raw_close(&peer);
    rig_close(&it);
}

static void a_dead_client_is_closed(void **state)
{
    (void)state;
    static raw_peer peer;
    rig it;
    rig_open(&it, &(rig_options){.with_clock = true});
    raw_connect(&peer, ms_grpc_server_port(it.server));
    raw_start(&peer);
    raw_headers(&peer, RAW_END_BOTH, 1, RAW_REQUEST("/t/Hold"));
    rig_wait_started(&it, 1);
    rig_advance(&it, 61 * S_NS);
    rig_advance(&it, 19 * S_NS);
    assert_int_equal(it.canceled, 0);
    rig_advance(&it, S_NS);
    rig_wait_canceled(&it, 1);
    assert_int_equal(raw_read_until(&peer, RAW_CLOSED), RAW_CLOSED);
    assert_int_equal(peer.ping_count, 1);
    raw_close(&peer);
    rig_close(&it);
}

/* A client that opens wide windows and then does not read its socket. */
static void a_client_that_does_not_read_is_closed(void **state)
{
    (void)state;
    static raw_peer peer;
    rig it;
    rig_open(&it, &(rig_options){.with_clock = true});
    raw_connect(&peer, ms_grpc_server_port(it.server));
    raw_start_greedy(&peer);
    rig_wait_started(&it, 1);
    ms_grpc_server_stats stats = {0};
    while (stats.outbound_bytes < 100000) {
        stats = ms_grpc_server_get_stats(it.server);
    }
    /* However long it may have streamed: what it holds is bounded by the mark. */
    for (int i = 0; i < 50; i++) {
        stats = ms_grpc_server_get_stats(it.server);
        assert_true(stats.outbound_bytes < 400000);
    }
    /* The server's timer looks at a blocked socket within a minute, and gives it another. */
    for (int i = 0; i < 14 && it.canceled == 0; i++) {
        rig_advance(&it, 10 * S_NS);
    }
    rig_wait_canceled(&it, 1);
    raw_close(&peer);
    rig_check_works(&it);
    rig_close(&it);
}

/* The same, and goes on to ask for what is refused: each answer would wait for it. */
static void answers_that_a_client_does_not_read_are_bounded(void **state)
{
    (void)state;
    static raw_peer peer;
    rig it;
    rig_open(&it, &(rig_options){.with_clock = true, .without_channel = true});
    raw_connect(&peer, ms_grpc_server_port(it.server));
    raw_start_greedy(&peer);
    rig_wait_started(&it, 1);
    rig_settle_full(&it);
    for (int i = 1; i < 20000; i++) {
        raw_headers(&peer, RAW_END_BOTH, 2 * i + 1, RAW_REQUEST("/t/Hold"));
    }
    rig_settle(&it);
    assert_int_equal(ms_grpc_server_get_stats(it.server).broken, 1);
    assert_int_equal(it.started, 256);
    raw_close(&peer);
    rig_close(&it);
}

/* Calls that are not gRPC's. */

typedef struct bad_request {
    const char *fields;
    const char *answer; /* must be among the fields of the answer */
} bad_request;

#define FIXED ":scheme=http;:authority=test;"

static const bad_request bad_requests[] = {
    {":method=GET;:path=/t/Echo;" FIXED "te=trailers;content-type=application/grpc;",
     ":status=405;"},
    {":method=POST;:path=/t/Echo;" FIXED "te=trailers;", ":status=415;"},
    {":method=POST;:path=/t/Echo;" FIXED "te=trailers;content-type=text/html;", ":status=415;"},
    {":method=POST;:path=/t/Echo;" FIXED "te=trailers;content-type=application/grpcx;",
     ":status=415;"},
    {":method=POST;:path=/t/Echo;" FIXED "te=trailers;content-type=application/grpc+json;",
     ":status=200;content-type=application/grpc;grpc-status=12;"},
    {":method=POST;:path=/t/Echo;" FIXED "content-type=application/grpc;", "grpc-status=13;"},
    {":method=POST;:path=/;" FIXED "te=trailers;content-type=application/grpc;", "grpc-status=12;"},
    {RAW_REQUEST("/t/Echo") "grpc-encoding=gzip;", "grpc-accept-encoding=identity;grpc-status=12;"},
    {RAW_REQUEST("/t/Echo") "grpc-timeout=soon;", "grpc-status=13;"},
    {RAW_REQUEST("/t/Echo") "grpc-timeout=123456789n;", "grpc-status=13;"},
    {RAW_REQUEST("/t/Echo") "grpc-timeout=S;", "grpc-status=13;"},
    {RAW_REQUEST("/t/Echo") "grpc-timeout=-1S;", "grpc-status=13;"},
    {RAW_REQUEST("/t/Echo") "grpc-timeout=0m;", "grpc-status=4;"},
    {RAW_REQUEST("/t/Echo") "some-bin=a*b;", "grpc-status=13;"},
};

static void what_is_not_grpc_is_refused(void **state)
{
    (void)state;
    static raw_peer peer;
    rig it;
    rig_open(&it, &(rig_options){0});
    raw_connect(&peer, ms_grpc_server_port(it.server));
    raw_start(&peer);
    int32_t stream = 1;
    for (size_t i = 0; i < sizeof(bad_requests) / sizeof(bad_requests[0]); i++) {
        /* Half-closed or not, the answer ends the call. */
        for (int j = 0; j < 2; j++) {
            peer.fields_bytes = 0;
            raw_headers(&peer, j == 0 ? RAW_END_BOTH : RAW_END_HEADERS, stream,
                        bad_requests[i].fields);
            stream += 2;
            assert_int_equal(raw_read_until(&peer, RAW_STREAM_END), RAW_STREAM_END);
            if (!raw_has(&peer, bad_requests[i].answer)) {
                fail_msg("%s: %s", bad_requests[i].fields, peer.fields);
            }
            if (j == 1) {
                assert_int_equal(raw_read_until(&peer, RAW_RST), RAW_RST);
                assert_int_equal(peer.rst_error, NGHTTP2_NO_ERROR);
            }
        }
    }
    assert_int_equal(it.started, 0);
    assert_true(raw_is_alive(&peer));
    raw_close(&peer);
    rig_close(&it);
}

static void frames_of_messages_may_be_cut_anywhere(void **state)
{
    (void)state;
    static raw_peer peer;
    rig it;
    rig_open(&it, &(rig_options){0});
    raw_connect(&peer, ms_grpc_server_port(it.server));
    raw_start(&peer);
    static const char bytes[] = "\0\0\0\0\x03"
                                "abc\0\0\0\0\0\0\0\0\0\x02xy";
    raw_headers(&peer, RAW_END_HEADERS, 1, RAW_REQUEST("/t/Sink"));
    for (size_t i = 0; i < sizeof(bytes) - 1; i++) {
        raw_frame(&peer, NGHTTP2_DATA, i == sizeof(bytes) - 2 ? NGHTTP2_FLAG_END_STREAM : 0, 1,
                  bytes + i, 1);
    }
    assert_int_equal(raw_read_until(&peer, RAW_DATA), RAW_DATA);
    assert_int_equal(peer.payload_bytes, 6);
    assert_int_equal(peer.payload[5], '5');
    assert_int_equal(raw_read_until(&peer, RAW_STREAM_END), RAW_STREAM_END);
    assert_int_equal(it.messages, 3);
    /* All three in one frame, with padding. */
    char padded[64] = {4};
    memcpy(padded + 1, bytes, sizeof(bytes) - 1);
    raw_headers(&peer, RAW_END_HEADERS, 3, RAW_REQUEST("/t/Sink"));
    raw_frame(&peer, NGHTTP2_DATA, NGHTTP2_FLAG_PADDED | NGHTTP2_FLAG_END_STREAM, 3, padded,
              sizeof(bytes) - 1 + 5);
    assert_int_equal(raw_read_until(&peer, RAW_STREAM_END), RAW_STREAM_END);
    assert_int_equal(it.messages, 6);
    raw_close(&peer);
    rig_close(&it);
}

typedef struct bad_frame {
    const char *bytes;
    size_t count;
    const char *answer;
} bad_frame;

static void bad_frames_of_messages_end_the_call(void **state)
{
    (void)state;
    static const bad_frame frames[] = {
        {RAW("\x01\0\0\0\x01x"), "grpc-status=13;"},   /* compressed */
        {RAW("\x02\0\0\0\x01x"), "grpc-status=13;"},   /* no such flag */
        {RAW("\0\xff\xff\xff\xff"), "grpc-status=8;"}, /* 4 GB announced */
        {RAW("\0\0\0\0\x05xx"), "grpc-status=13;"},    /* cut off */
        {RAW("\0\0\0"), "grpc-status=13;"},            /* in the header */
        {RAW("\0\0\0\0\x01x\x07"), "grpc-status=13;"}, /* after a good one */
    };
    static raw_peer peer;
    rig it;
    rig_open(&it, &(rig_options){0});
    raw_connect(&peer, ms_grpc_server_port(it.server));
    raw_start(&peer);
    for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
        int32_t stream = (int32_t)(2 * i + 1);
        peer.fields_bytes = 0;
        raw_headers(&peer, RAW_END_HEADERS, stream, RAW_REQUEST("/t/Sink"));
        raw_frame(&peer, NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, stream, frames[i].bytes,
                  frames[i].count);
        assert_int_equal(raw_read_until(&peer, RAW_STREAM_END), RAW_STREAM_END);
        if (!raw_has(&peer, frames[i].answer)) {
            fail_msg("%zu: %s", i, peer.fields);
        }
    }
    assert_true(raw_is_alive(&peer));
    raw_close(&peer);
    rig_wait_canceled(&it, (int)(sizeof(frames) / sizeof(frames[0])));
    rig_close(&it);
}

static void trailers_of_a_request_are_ignored(void **state)
{
    (void)state;
    static raw_peer peer;
    rig it;
    rig_open(&it, &(rig_options){0});
    raw_connect(&peer, ms_grpc_server_port(it.server));
    raw_start(&peer);
    raw_headers(&peer, RAW_END_HEADERS, 1, RAW_REQUEST("/t/Echo"));
    raw_message(&peer, 1, 0, "hi");
    raw_headers(&peer, RAW_END_BOTH, 1, "some=trailer;");
    assert_int_equal(raw_read_until(&peer, RAW_STREAM_END), RAW_STREAM_END);
    assert_true(raw_has(&peer, "grpc-status=0;"));
    assert_int_equal(it.started, 1);
    raw_close(&peer);
    rig_close(&it);
}

/* What the process has of the heap now. */
extern size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static size_t heap_bytes(void)
{
    if (__sanitizer_get_current_allocated_bytes != NULL) {
        return __sanitizer_get_current_allocated_bytes();
    }
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

/* Calls with a large header block, or large trailers. */
typedef struct large_calls {
    const char *head;
    const char *trailers; /* NULL: none, the head is large */
    bool are_started;     /* the handler is told of them */
} large_calls;

#define LARGE_BYTES 15000u
#define LARGE_CALLS 50

static const large_calls large_kinds[] = {
    {":method=POST;:path=/t/Hold;" FIXED "te=trailers;content-type=application/grpc+json;", NULL,
     false},                                                        /* refused */
    {RAW_REQUEST("/t/Hold"), NULL, true},                           /* kept by the handler */
    {RAW_REQUEST("/t/Hold"), "some=trailer;", true},                /* the same, with trailers */
    {":method=POST;:scheme=http;te=trailers;", NULL, false},        /* no HTTP: a reset is due */
    {RAW_REQUEST("/t/Hold") "length=nonsense;", ":path=no;", true}, /* trailers that are none */
};

/* Sends them, and a call behind them that the handler is told of. Returns by how much the heap has
 * grown. */
static size_t send_large(rig *it, raw_peer *peer, int32_t stream, const large_calls *kind)
{
    static char fields[LARGE_BYTES + 1000];
    static char filler[LARGE_BYTES];
    memset(filler, 'v', sizeof(filler) - 1);
    snprintf(fields, sizeof(fields), "%sfiller=%s;",
             kind->trailers != NULL ? kind->trailers : kind->head, filler);
    size_t before = heap_bytes();
    int due = it->started + (kind->are_started ? LARGE_CALLS : 0) + 1;
    for (int i = 0; i < LARGE_CALLS; i++, stream += 2) {
        if (kind->trailers != NULL) {
            raw_headers(peer, RAW_END_HEADERS, stream, kind->head);
        }
        raw_headers(peer, RAW_END_BOTH, stream, fields);
    }
    raw_headers(peer, RAW_END_BOTH, stream, RAW_REQUEST("/t/Hold"));
    rig_wait_started(it, due);
    rig_settle(it);
    size_t after = heap_bytes();
    return after > before ? after - before : 0;
}

/* The client does not read, so that no call ends. */
static void header_blocks_do_not_stay_with_their_calls(void **state)
{
    (void)state;
    static raw_peer peer;
    rig it;
    rig_open(&it, &(rig_options){.with_clock = true, .without_channel = true});
    for (size_t i = 0; i < sizeof(large_kinds) / sizeof(large_kinds[0]); i++) {
        int due = it.started + 1;
        raw_connect(&peer, ms_grpc_server_port(it.server));
        raw_start_greedy(&peer);
        rig_wait_started(&it, due);
        rig_settle_full(&it);
        size_t grown = send_large(&it, &peer, 3, &large_kinds[i]);
        if (grown > LARGE_CALLS * LARGE_BYTES / 2) {
            fail_msg("kind %zu: the heap has grown by %zu bytes", i, grown);
        }
        raw_close(&peer);
        while (ms_grpc_server_get_stats(it.server).connections > 0) {
        }
    }
    rig_close(&it);
}

/* The memory of the first connection's header block, on its loop. */
typedef struct block_search {
    const rig *it;
    const char *text;
    bool is_found;
} block_search;

static void search_block(void *arg)
{
    block_search *own = arg;
    const msi_header *block = &own->it->server->shards[0].conns->h2.block;
    assert_non_null(block->text.ptr);
    for (size_t i = 0; i + strlen(own->text) <= block->text.capacity_bytes; i++) {
        own->is_found =
            own->is_found || memcmp(block->text.ptr + i, own->text, strlen(own->text)) == 0;
    }
}

static bool block_has(const rig *it, const char *text)
{
    block_search search = {.it = it, .text = text};
    ms_loop_call(it->server_loops[0], search_block, &search);
    return search.is_found;
}

static void authorization_is_wiped_when_it_was_read(void **state)
{
    (void)state;
    static raw_peer peer;
    rig it;
    rig_open(&it, &(rig_options){.without_channel = true});
    raw_connect(&peer, ms_grpc_server_port(it.server));
    raw_start(&peer);
    raw_headers(&peer, 0, 1, RAW_REQUEST("/t/Sink") "authorization=Bearer tok3n;");
    raw_frame(&peer, NGHTTP2_CONTINUATION, RAW_END_HEADERS, 1, NULL, 0);
    assert_true(raw_is_alive(&peer));
    assert_int_equal(it.started, 1);
    assert_false(block_has(&it, "tok3n"));
    raw_headers(&peer, RAW_END_BOTH, 1, "authorization=Bearer tr4iler;");
    assert_int_equal(raw_read_until(&peer, RAW_STREAM_END), RAW_STREAM_END);
    assert_false(block_has(&it, "tr4iler"));
    /* A request that is none is reset, and no call hears of it. */
    raw_headers(&peer, RAW_END_BOTH, 3, ":method=POST;authorization=Bearer b4d;");
    assert_int_equal(raw_read_until(&peer, RAW_RST), RAW_RST);
    raw_headers(&peer, RAW_END_BOTH, 5, RAW_REQUEST("/t/Sink"));
    assert_int_equal(raw_read_until(&peer, RAW_STREAM_END), RAW_STREAM_END);
    assert_false(block_has(&it, "b4d"));
    raw_close(&peer);
    rig_close(&it);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(malformed_input_ends_a_connection_at_most),
        cmocka_unit_test(malformed_input_in_pieces_is_the_same),
        cmocka_unit_test(a_protocol_error_is_told),
        cmocka_unit_test(floods_of_control_frames_end_the_connection),
        cmocka_unit_test(a_flood_of_resets_ends_the_connection),
        cmocka_unit_test(a_flood_of_mistakes_ends_the_connection),
        cmocka_unit_test(pings_between_answers_are_no_flood),
        cmocka_unit_test(more_streams_than_allowed_are_refused),
        cmocka_unit_test(a_peer_that_says_nothing_is_closed),
        cmocka_unit_test(an_idle_connection_is_pinged_and_then_drained),
        cmocka_unit_test(a_dead_client_is_closed),
        cmocka_unit_test(a_client_that_does_not_read_is_closed),
        cmocka_unit_test(answers_that_a_client_does_not_read_are_bounded),
        cmocka_unit_test(what_is_not_grpc_is_refused),
        cmocka_unit_test(frames_of_messages_may_be_cut_anywhere),
        cmocka_unit_test(bad_frames_of_messages_end_the_call),
        cmocka_unit_test(trailers_of_a_request_are_ignored),
        cmocka_unit_test(header_blocks_do_not_stay_with_their_calls),
        cmocka_unit_test(authorization_is_wiped_when_it_was_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
