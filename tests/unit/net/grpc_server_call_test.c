/* SPDX-License-Identifier: Apache-2.0 */
#include "net/raw.h"
#include "net/rig.h"

/* Answers. */

static void a_unary_call_is_answered(void **state)
{
    (void)state;
    rig it;
    rig_open(&it, &(rig_options){0});
    probe call = {.path = "/t/Echo", .request = "hello"};
    probe_run(&it, &call);
    assert_int_equal(call.code, MS_GRPC_OK);
    assert_string_equal(call.first, "hello");
    assert_int_equal(call.message_count, 1);
    assert_int_equal(call.header_count, 1);
    assert_string_equal(call.trailers, "echo-trailer=done;");
    rig_close(&it);
}

static void every_code_message_and_detail_arrives(void **state)
{
    (void)state;
    static const char message[] = "100 % of \"row\" \n\xc3\xa9\x01";
    static const char details[] = {0, 1, 2, (char)0xff, 'x'};
    rig it;
    rig_open(&it, &(rig_options){0});
    for (int code = 1; code < MS_GRPC_CODE_COUNT; code++) {
        const char *paths[] = {"/t/Fail", "/t/Late"};
        for (int i = 0; i < 2; i++) {
            char digits[4];
            snprintf(digits, sizeof(digits), "%d", code);
            ms_grpc_pair pairs[] = {{ms_str_lit("code"), ms_str_cstr(digits)},
                                    {ms_str_lit("message-bin"), ms_str_cstr(message)},
                                    {ms_str_lit("details-bin"), {details, sizeof(details)}}};
            probe call = {.path = paths[i], .request = "", .pairs = pairs, .pair_count = 3};
            probe_run(&it, &call);
            assert_int_equal(call.code, code);
            assert_string_equal(call.message, message);
            assert_int_equal(call.details_bytes, sizeof(details));
            assert_memory_equal(call.details, details, sizeof(details));
            assert_string_equal(call.trailers, "fail-trailer=yes;");
            /* An error without messages is trailers only: there are no headers. */
            assert_int_equal(call.header_count, i);
            assert_int_equal(call.message_count, i);
            assert_false(call.is_unprocessed);
        }
    }
    rig_close(&it);
}

static void an_unknown_method_is_the_handlers_matter(void **state)
{
    (void)state;
    rig it;
    rig_open(&it, &(rig_options){0});
    probe call = {.path = "/t/Nothing", .request = ""};
    probe_run(&it, &call);
    assert_int_equal(call.code, MS_GRPC_UNIMPLEMENTED);
    assert_string_equal(call.message, "unknown method");
    rig_close(&it);
}

static void metadata_travels_in_both_directions(void **state)
{
    (void)state;
    ms_grpc_pair own_headers[] = {{ms_str_lit("x-millstream-version"), ms_str_lit("7")}};
    rig it;
    rig_open(&it, &(rig_options){.server.headers = {own_headers, 1},
                                 .channel.user_agent = ms_str_lit("tester/1")});
    ms_grpc_pair pairs[] = {{ms_str_lit("plain"), ms_str_lit("a b")},
                            {ms_str_lit("plain"), ms_str_lit("second")},
                            {ms_str_lit("raw-bin"), ms_str_lit("\x01,\xff=")},
                            {ms_str_lit("empty"), ms_str_lit("")}};
    probe call = {.path = "/t/Metadata", .request = "", .pairs = pairs, .pair_count = 4};
    probe_run(&it, &call);
    assert_int_equal(call.code, MS_GRPC_OK);
    assert_string_equal(call.first, "plain=a b;plain=second;raw-bin=\x01,\xff=;empty=;"
                                    "user-agent=tester/1;");
    assert_string_equal(call.headers, "x-millstream-version=7;");

    probe early = {.path = "/t/Headers", .request = ""};
    probe_start(&it, &early);
    while (early.header_count == 0) {
        (void)ms_parker_park(&early.event, MS_PARK_FOREVER);
    }
    assert_false(early.is_done);
    assert_memory_equal(early.headers, "x-millstream-version=7;early=1;early-bin=", 41);
    rig_release(&it);
    probe_wait(&early);
    assert_int_equal(early.code, MS_GRPC_OK);
    assert_int_equal(early.header_count, 1);
    rig_close(&it);
}

static void metadata_that_cannot_be_sent_ends_the_call(void **state)
{
    (void)state;
    static const char *const bad_keys[] = {"Upper", ":path", "grpc-timeout", "te", "sp ace", ""};
    static const char *const bad_values[] = {"line\nfeed", "\x7f", " lead", "trail ", "\xc3\xa9"};
    rig it;
    rig_open(&it, &(rig_options){0});
    for (size_t i = 0; i < sizeof(bad_keys) / sizeof(bad_keys[0]); i++) {
        ms_grpc_pair pair = {ms_str_cstr(bad_keys[i]), ms_str_lit("v")};
        probe call = {.path = "/t/Echo", .request = "", .pairs = &pair, .pair_count = 1};
        probe_run(&it, &call);
        assert_int_equal(call.code, MS_GRPC_INTERNAL);
    }
    for (size_t i = 0; i < sizeof(bad_values) / sizeof(bad_values[0]); i++) {
        ms_grpc_pair pair = {ms_str_lit("key"), ms_str_cstr(bad_values[i])};
        probe call = {.path = "/t/Echo", .request = "", .pairs = &pair, .pair_count = 1};
        probe_run(&it, &call);
        assert_int_equal(call.code, MS_GRPC_INTERNAL);
    }
    assert_int_equal(it.started, 0);
    rig_check_works(&it);
    rig_close(&it);
}

static void the_server_may_finish_before_the_client_has_half_closed(void **state)
{
    (void)state;
    rig it;
    rig_open(&it, &(rig_options){0});
    probe call = {.path = "/t/Eager"};
    probe_run(&it, &call);
    assert_int_equal(call.code, MS_GRPC_OK);
    assert_string_equal(call.first, "eager");
    rig_check_works(&it);
    rig_close(&it);
}

static void messages_of_all_sizes_come_back(void **state)
{
    (void)state;
    static const size_t sizes[] = {0,     1,     4,       5,       16379,        16384,
                                   16385, 65535, 1 << 20, 3 << 20, (5 << 20) + 3};
    rig it;
    rig_open(&it, &(rig_options){0});
    char *bytes = ms_mem_alloc(6 << 20);
    memset(bytes, 'm', 6 << 20);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        probe call = {.path = "/t/Echo", .request_bytes = {bytes, sizes[i]}};
        probe_run(&it, &call);
        assert_int_equal(call.code, MS_GRPC_OK);
        assert_int_equal(call.message_count, 1);
        assert_int_equal(call.message_bytes, sizes[i]);
    }
    ms_mem_free(bytes);
    rig_close(&it);
}

static void a_bidirectional_call_goes_back_and_forth(void **state)
{
    (void)state;
    rig it;
    rig_open(&it, &(rig_options){0});
    probe call = {.path = "/t/Echo"};
    probe_start(&it, &call);
    for (int i = 0; i < 50; i++) {
        probe_send(&call, ms_str_lit("ping"), i == 49);
        probe_wait_messages(&call, i + 1);
    }
    probe_wait(&call);
    assert_int_equal(call.code, MS_GRPC_OK);
    assert_int_equal(call.message_count, 50);
    rig_close(&it);
}

/* Limits. */

static void a_message_above_the_servers_limit_is_refused(void **state)
{
    (void)state;
    rig it;
    rig_open(&it, &(rig_options){.server.message_bytes_max = 1000});
    char bytes[1001] = {0};
    probe fits = {.path = "/t/Echo", .request_bytes = {bytes, 1000}};
    probe_run(&it, &fits);
    assert_int_equal(fits.code, MS_GRPC_OK);
    probe call = {.path = "/t/Echo", .request_bytes = {bytes, 1001}};
    probe_run(&it, &call);
    assert_int_equal(call.code, MS_GRPC_RESOURCE_EXHAUSTED);
    assert_string_equal(call.message, "received message larger than max (1001 vs. 1000)");
    rig_check_works(&it);
    rig_close(&it);
}

static void a_message_above_the_clients_limit_is_refused(void **state)
{
    (void)state;
    rig it;
    rig_open(&it, &(rig_options){.channel.message_bytes_max = 1000});
    ms_grpc_pair pairs[] = {{ms_str_lit("size"), ms_str_lit("1001")}};
    probe call = {.path = "/t/Stream", .request = "", .pairs = pairs, .pair_count = 1};
    probe_run(&it, &call);
    assert_int_equal(call.code, MS_GRPC_RESOURCE_EXHAUSTED);
    assert_string_equal(call.message, "received message larger than max (1001 vs. 1000)");
    rig_check_works(&it);
    rig_close(&it);
}

static void metadata_above_a_limit_is_refused(void **state)
{
    (void)state;
    static char value[8000];
    memset(value, 'v', sizeof(value));
    rig it;
    rig_open(&it, &(rig_options){.server.header_bytes_max = 4000});
    ms_grpc_pair pair = {ms_str_lit("key"), {value, sizeof(value)}};
    probe call = {.path = "/t/Echo", .request = "", .pairs = &pair, .pair_count = 1};
    probe_run(&it, &call);
    assert_int_equal(call.code, MS_GRPC_RESOURCE_EXHAUSTED);
    rig_check_works(&it);
    rig_close(&it);

    rig_open(&it, &(rig_options){.channel.header_bytes_max = 2000});
    ms_grpc_pair long_message[] = {{ms_str_lit("code"), ms_str_lit("5")},
                                   {ms_str_lit("message-bin"), {value, sizeof(value)}}};
    probe answer = {.path = "/t/Fail", .request = "", .pairs = long_message, .pair_count = 2};
    probe_run(&it, &answer);
    assert_int_equal(answer.code, MS_GRPC_RESOURCE_EXHAUSTED);
    rig_check_works(&it);
    rig_close(&it);
}

static void details_that_are_too_large_are_left_out(void **state)
{
    (void)state;
    rig it;
    rig_open(&it, &(rig_options){.server.header_bytes_max = 1 << 20,
                                 .channel.header_bytes_max = 1 << 20});
    char *details = ms_mem_calloc(1, 26 << 10);
    ms_grpc_pair pairs[] = {{ms_str_lit("code"), ms_str_lit("5")},
                            {ms_str_lit("message-bin"), ms_str_lit("missing")},
                            {ms_str_lit("details-bin"), {details, 26 << 10}}};
    probe call = {.path = "/t/Fail", .request = "", .pairs = pairs, .pair_count = 3};
    probe_run(&it, &call);
    assert_int_equal(call.code, MS_GRPC_NOT_FOUND);
    assert_string_equal(call.message, "missing");
    assert_int_equal(call.details_bytes, 0);
    ms_mem_free(details);
    rig_close(&it);
}

/* Deadlines and cancels. */

static void the_timeout_arrives(void **state)
{
    (void)state;
    rig it;
    rig_open(&it, &(rig_options){.with_clock = true});
    probe call = {.path = "/t/Timeout",
                  .request = "",
                  .deadline_ns = it.clock.mono_ns + 12345678 * INT64_C(1000)};
    probe_run(&it, &call);
    assert_string_equal(call.first, "12345678000");
    probe none = {.path = "/t/Timeout", .request = ""};
    probe_run(&it, &none);
    assert_string_equal(none.first, "9223372036854775807");
    rig_close(&it);
}

static void a_deadline_ends_the_call_on_both_sides(void **state)
{
    (void)state;
    rig it;
    rig_open(&it, &(rig_options){.with_clock = true});
    probe call = {.path = "/t/Hold", .request = "", .deadline_ns = it.clock.mono_ns + 2 * S_NS};
    probe_start(&it, &call);
    rig_wait_started(&it, 1);
    rig_advance(&it, 2 * S_NS - MS_NS);
    assert_false(call.is_done);
    assert_int_equal(it.canceled, 0);
    rig_advance(&it, MS_NS);
    probe_wait(&call);
    assert_int_equal(call.code, MS_GRPC_DEADLINE_EXCEEDED);
    rig_wait_canceled(&it, 1);
    rig_check_works(&it);
    rig_close(&it);
}

static void a_deadline_in_the_past_never_reaches_the_handler(void **state)
{
    (void)state;
    rig it;
    rig_open(&it, &(rig_options){.with_clock = true});
    rig_check_works(&it);
    int started = it.started;
    probe call = {.path = "/t/Hold", .request = "", .deadline_ns = it.clock.mono_ns - 1};
    probe_run(&it, &call);
    assert_int_equal(call.code, MS_GRPC_DEADLINE_EXCEEDED);
    rig_check_works(&it);
    assert_int_equal(it.started, started + 1);
    rig_close(&it);
}

static void a_cancel_reaches_the_handler(void **state)
{
    (void)state;
    rig it;
    rig_open(&it, &(rig_options){0});
    probe call = {.path = "/t/Hold", .request = ""};
    probe_start(&it, &call);
    rig_wait_started(&it, 1);
    probe_cancel(&call);
    probe_wait(&call);
    assert_int_equal(call.code, MS_GRPC_CANCELLED);
    rig_wait_canceled(&it, 1);
    rig_check_works(&it);
    rig_close(&it);
}

static void a_lost_connection_cancels_its_calls(void **state)
{
    (void)state;
    rig it;
    rig_open(&it, &(rig_options){0});
    probe calls[20] = {0};
    for (int i = 0; i < 20; i++) {
        calls[i].path = "/t/Hold";
        calls[i].request = "";
        probe_start(&it, &calls[i]);
    }
    rig_wait_started(&it, 20);
    rig_close_channel(&it);
    rig_wait_canceled(&it, 20);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(calls[i].code, MS_GRPC_CANCELLED);
    }
    rig_open_channel(&it, &(ms_grpc_channel_options){0});
    rig_check_works(&it);
    rig_close(&it);
}

/* Flow control. */

static void a_stream_respects_the_mark_and_arrives_whole(void **state)
{
    (void)state;
    rig it;
    rig_open(&it, &(rig_options){.server.call_mark_bytes = 50000});
    ms_grpc_pair pairs[] = {{ms_str_lit("count"), ms_str_lit("3000")},
                            {ms_str_lit("size"), ms_str_lit("7001")}};
    probe call = {.path = "/t/Stream", .request = "", .pairs = pairs, .pair_count = 2};
    probe_run(&it, &call);
    assert_int_equal(call.code, MS_GRPC_OK);
    assert_int_equal(call.message_count, 3000);
    assert_int_equal(call.message_bytes, 3000 * 7001);
    assert_int_equal(it.sends_above_mark, 0);
    rig_close(&it);
}

static void a_client_that_pauses_stops_the_handler(void **state)
{
    (void)state;
    rig it;
    rig_open(&it, &(rig_options){.channel.stream_window_bytes = 65535,
                                 .server.call_mark_bytes = 100000});
    ms_grpc_pair pairs[] = {{ms_str_lit("count"), ms_str_lit("1000")},
                            {ms_str_lit("size"), ms_str_lit("10000")}};
    probe call = {.path = "/t/Stream",
                  .request = "",
                  .pairs = pairs,
                  .pair_count = 2,
                  .pause_after_message = true};
    probe_start(&it, &call);
    probe_wait_messages(&call, 1);
    /* Other calls go on, and however long we wait, the paused one gets nothing. */
    for (int i = 0; i < 50; i++) {
        rig_check_works(&it);
    }
    assert_int_equal(call.message_count, 1);
    ms_grpc_server_stats stats = ms_grpc_server_get_stats(it.server);
    assert_true(stats.outbound_bytes >= 50000 && stats.outbound_bytes < 120000);
    int seen = 1;
    while (!call.is_done) {
        seen = call.message_count;
        probe_resume(&call);
        while (call.message_count == seen && !call.is_done) {
            (void)ms_parker_park(&call.event, MS_PARK_FOREVER);
        }
        assert_true(call.message_count <= seen + 1);
    }
    assert_int_equal(call.code, MS_GRPC_OK);
    assert_int_equal(call.message_count, 1000);
    rig_close(&it);
}

/* Twenty messages of 30,000 bytes, more than the client's mark. */
static void send_twenty(void *arg)
{
    static char bytes[30000];
    probe *own = arg;
    for (int i = 0; i < 20; i++) {
        ms_grpc_message message = {.bytes = {bytes, sizeof(bytes)}};
        own->has_room = ms_grpc_call_send(own->call, message);
    }
}

static void a_server_that_pauses_stops_the_client(void **state)
{
    (void)state;
    rig it;
    rig_open(&it, &(rig_options){.server.stream_window_bytes = 65535});
    ms_grpc_pair pairs[] = {{ms_str_lit("pause"), ms_str_lit("1")}};
    probe call = {.path = "/t/Sink", .pairs = pairs, .pair_count = 1};
    probe_start(&it, &call);
    for (int i = 0; i < 20; i++) {
        ms_loop_call(it.client_loop, send_twenty, &call);
        assert_false(call.has_room);
        while (call.writable_count <= i) {
            (void)ms_parker_park(&call.event, MS_PARK_FOREVER);
        }
    }
    ms_loop_call(it.client_loop, probe_half_close_now, &call);
    probe_wait(&call);
    assert_int_equal(call.code, MS_GRPC_OK);
    assert_string_equal(call.first, "12000000");
    assert_int_equal(it.messages, 400);
    assert_int_equal(call.writable_count, 20);
    rig_close(&it);
}

static void unfinished_messages_beyond_the_budget_are_refused(void **state)
{
    (void)state;
    rig it;
    rig_open(&it, &(rig_options){.server.inbound_bytes_max = 200000});
    char *bytes = ms_mem_calloc(1, 300000);
    probe call = {.path = "/t/Echo", .request_bytes = {bytes, 300000}};
    probe_run(&it, &call);
    assert_int_equal(call.code, MS_GRPC_RESOURCE_EXHAUSTED);
    rig_check_works(&it);
    assert_int_equal(ms_grpc_server_get_stats(it.server).inbound_bytes, 0);
    ms_mem_free(bytes);
    rig_close(&it);
}

static void calls_are_refused_while_too_much_waits_to_be_sent(void **state)
{
    (void)state;
    rig it;
    rig_open(&it, &(rig_options){.server.connection_outbound_max = 1 << 20,
                                 .channel.stream_window_bytes = 65535,
                                 .channel.connections_max = 1});
    ms_grpc_pair pairs[] = {{ms_str_lit("count"), ms_str_lit("100")},
                            {ms_str_lit("size"), ms_str_lit("100000")}};
    probe flood = {.path = "/t/Flood",
                   .request = "",
                   .pairs = pairs,
                   .pair_count = 2,
                   .pause_after_message = true};
    probe_start(&it, &flood);
    rig_wait_started(&it, 1);
    probe refused = {.path = "/t/Echo", .request = "x"};
    probe_run(&it, &refused);
    assert_int_equal(refused.code, MS_GRPC_UNAVAILABLE);
    assert_int_equal(ms_grpc_server_get_stats(it.server).refused, 1);
    probe_cancel(&flood);
    probe_wait(&flood);
    /* What was queued for the call goes with it. */
    while (ms_grpc_server_get_stats(it.server).outbound_bytes > 0) {
        rig_settle(&it);
    }
    rig_check_works(&it);
    rig_close(&it);
}

static void a_client_that_does_not_take_its_answer_is_reset_at_the_deadline(void **state)
{
    (void)state;
    rig it;
    rig_open(&it, &(rig_options){.with_clock = true,
                                 .channel.stream_window_bytes = 65535,
                                 .channel.connections_max = 1});
    ms_grpc_pair pairs[] = {{ms_str_lit("count"), ms_str_lit("10")},
                            {ms_str_lit("size"), ms_str_lit("100000")}};
    probe flood = {.path = "/t/Flood",
                   .request = "",
                   .pairs = pairs,
                   .pair_count = 2,
                   .deadline_ns = it.clock.mono_ns + 5 * S_NS,
                   .pause_after_message = true};
    probe_start(&it, &flood);
    probe_wait_messages(&flood, 1);
    assert_true(ms_grpc_server_get_stats(it.server).outbound_bytes > 500000);
    rig_advance(&it, 6 * S_NS);
    probe_wait(&flood);
    assert_int_equal(flood.code, MS_GRPC_DEADLINE_EXCEEDED);
    while (ms_grpc_server_get_stats(it.server).outbound_bytes > 0) {
        rig_settle(&it);
    }
    rig_check_works(&it);
    rig_close(&it);
}

static void call_objects_are_reused_and_allocate_nothing(void **state)
{
    (void)state;
    rig it;
    rig_open(&it, &(rig_options){0});
    for (int i = 0; i < 20; i++) {
        rig_check_works(&it);
    }
    uint64_t before = ms_mem_allocation_count();
    for (int i = 0; i < 50; i++) {
        probe call = {.path = "/t/Peer", .request = "still here"};
        probe_run(&it, &call);
    }
    /* The handler's own record of a call is not counted: Peer has none. */
    assert_int_equal(ms_mem_allocation_count() - before, 0);
    rig_close(&it);
}

/* A message in two frames of about the same size. */
static void send_halves(raw_peer *peer, int32_t stream, const char *text)
{
    static char data[RAW_BYTES_MAX];
    size_t bytes = strlen(text) + 5;
    memcpy(data, (char[]){0, 0, 0, (char)((bytes - 5) >> 8), (char)(bytes - 5)}, 5);
    memcpy(data + 5, text, bytes - 5);
    raw_frame(peer, NGHTTP2_DATA, 0, stream, data, bytes / 2);
    raw_frame(peer, NGHTTP2_DATA, 0, stream, data + bytes / 2, bytes - bytes / 2);
}

static void one_message_is_given_out_at_the_end_and_a_second_is_refused(void **state)
{
    (void)state;
    static raw_peer peer;
    static char large[20000];
    memset(large, 'l', sizeof(large) - 1);
    rig it;
    rig_open(&it, &(rig_options){.server.takes_one_message = true});
    raw_connect(&peer, ms_grpc_server_port(it.server));
    raw_start(&peer);
    const char *const messages[] = {"x", "", large};
    int32_t stream = 1;
    for (int i = 0; i < 3; i++, stream += 6) {
        raw_headers(&peer, RAW_END_HEADERS, stream, RAW_REQUEST("/t/Sink"));
        send_halves(&peer, stream, messages[i]);
        assert_true(raw_is_alive(&peer)); /* by a ping: all before it was read */
        assert_int_equal(it.messages, i);
        raw_frame(&peer, NGHTTP2_DATA, NGHTTP2_FLAG_END_STREAM, stream, NULL, 0);
        assert_int_equal(raw_read_until(&peer, RAW_STREAM_END), RAW_STREAM_END);
        assert_int_equal(it.messages, i + 1);
        peer.fields_bytes = 0;
        raw_headers(&peer, RAW_END_HEADERS, stream + 2, RAW_REQUEST("/t/Sink"));
        send_halves(&peer, stream + 2, messages[i]);
        send_halves(&peer, stream + 2, messages[i]);
        assert_int_equal(raw_read_until(&peer, RAW_STREAM_END), RAW_STREAM_END);
        assert_true(raw_has(&peer, "grpc-status=12;"));
        peer.fields_bytes = 0;
        raw_headers(&peer, RAW_END_BOTH, stream + 4, RAW_REQUEST("/t/Sink"));
        assert_int_equal(raw_read_until(&peer, RAW_STREAM_END), RAW_STREAM_END);
        assert_true(raw_has(&peer, "grpc-status=12;"));
        assert_int_equal(it.messages, i + 1);
    }
    assert_int_equal(ms_grpc_server_get_stats(it.server).inbound_bytes, 0);
    raw_close(&peer);
    /* Larger than the window of a stream. */
    char *bytes = ms_mem_alloc(5 << 20);
    memset(bytes, 'm', 5 << 20);
    probe call = {.path = "/t/Echo", .request_bytes = {bytes, 5 << 20}};
    probe_run(&it, &call);
    assert_int_equal(call.code, MS_GRPC_OK);
    assert_int_equal(call.message_bytes, 5 << 20);
    ms_mem_free(bytes);
    assert_int_equal(ms_grpc_server_get_stats(it.server).inbound_bytes, 0);
    rig_close(&it);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_unary_call_is_answered),
        cmocka_unit_test(every_code_message_and_detail_arrives),
        cmocka_unit_test(an_unknown_method_is_the_handlers_matter),
        cmocka_unit_test(metadata_travels_in_both_directions),
        cmocka_unit_test(metadata_that_cannot_be_sent_ends_the_call),
        cmocka_unit_test(the_server_may_finish_before_the_client_has_half_closed),
        cmocka_unit_test(messages_of_all_sizes_come_back),
        cmocka_unit_test(a_bidirectional_call_goes_back_and_forth),
        cmocka_unit_test(a_message_above_the_servers_limit_is_refused),
        cmocka_unit_test(a_message_above_the_clients_limit_is_refused),
        cmocka_unit_test(metadata_above_a_limit_is_refused),
        cmocka_unit_test(details_that_are_too_large_are_left_out),
        cmocka_unit_test(the_timeout_arrives),
        cmocka_unit_test(a_deadline_ends_the_call_on_both_sides),
        cmocka_unit_test(a_deadline_in_the_past_never_reaches_the_handler),
        cmocka_unit_test(a_cancel_reaches_the_handler),
        cmocka_unit_test(a_lost_connection_cancels_its_calls),
        cmocka_unit_test(a_stream_respects_the_mark_and_arrives_whole),
        cmocka_unit_test(a_client_that_pauses_stops_the_handler),
        cmocka_unit_test(a_server_that_pauses_stops_the_client),
        cmocka_unit_test(unfinished_messages_beyond_the_budget_are_refused),
        cmocka_unit_test(calls_are_refused_while_too_much_waits_to_be_sent),
        cmocka_unit_test(a_client_that_does_not_take_its_answer_is_reset_at_the_deadline),
        cmocka_unit_test(call_objects_are_reused_and_allocate_nothing),
        cmocka_unit_test(one_message_is_given_out_at_the_end_and_a_second_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
