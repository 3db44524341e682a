/* SPDX-License-Identifier: Apache-2.0 */
#include "net/raw.h"
#include "net/rig.h"

typedef struct stats_of {
    rig *it;
    ms_grpc_channel_stats stats;
} stats_of;

static void get_stats(void *arg)
{
    stats_of *own = arg;
    own->stats = ms_grpc_channel_get_stats(own->it->channel);
}

static ms_grpc_channel_stats channel_stats(rig *it)
{
    stats_of own = {.it = it};
    ms_loop_call(it->client_loop, get_stats, &own);
    return own.stats;
}

/* Waits until the channel is as wanted: the condition is about its stats. */
#define wait_stats(it, stats, condition)                                                           \
    do {                                                                                           \
        (stats) = channel_stats(it);                                                               \
    } while (!(condition))

static void start_many(rig *it, probe *calls, int count, const char *path)
{
    memset(calls, 0, sizeof(*calls) * (size_t)count);
    for (int i = 0; i < count; i++) {
        calls[i].path = path;
        calls[i].request = "x";
        probe_start(it, &calls[i]);
    }
}

/* The pool of connections. */

static void a_channel_opens_nothing_before_its_first_call(void **state)
{
    (void)state;
    rig it;
    rig_open(&it, &(rig_options){0});
    rig_settle(&it);
    assert_int_equal(ms_grpc_server_get_stats(it.server).accepted, 0);
    rig_check_works(&it);
    assert_int_equal(ms_grpc_server_get_stats(it.server).accepted, 1);
    for (int i = 0; i < 20; i++) {
        rig_check_works(&it);
    }
    assert_int_equal(channel_stats(&it).connects, 1);
    rig_close(&it);
}

static void a_channel_grows_while_all_its_connections_are_busy(void **state)
{
    (void)state;
    static probe calls[30];
    ms_grpc_channel_stats stats;
    rig it;
    rig_open(&it, &(rig_options){.channel.calls_per_connection = 4, .channel.connections_max = 3});
    for (int i = 0; i < 30; i++) {
        calls[i] = (probe){.path = "/t/Hold", .request = "x"};
        probe_start(&it, &calls[i]);
        rig_wait_started(&it, i + 1);
        wait_stats(&it, stats, stats.connecting == 0);
    }
    assert_int_equal(stats.connections, 3);
    assert_int_equal(stats.calls_active, 30);
    assert_int_equal(ms_grpc_server_get_stats(it.server).connections, 3);
    rig_release(&it);
    for (int i = 0; i < 30; i++) {
        probe_wait(&calls[i]);
        assert_int_equal(calls[i].code, MS_GRPC_OK);
    }
    assert_int_equal(channel_stats(&it).calls_active, 0);
    rig_close(&it);
}

static void the_minimum_is_opened_at_once(void **state)
{
    (void)state;
    ms_grpc_channel_stats stats;
    rig it;
    rig_open(&it, &(rig_options){.channel.connections_min = 3});
    rig_check_works(&it);
    wait_stats(&it, stats, stats.connections == 3);
    assert_int_equal(stats.connecting, 0);
    rig_close(&it);
}

static void calls_beyond_the_servers_limit_wait_for_a_place(void **state)
{
    (void)state;
    static probe calls[7];
    rig it;
    rig_open(&it, &(rig_options){.server.streams_max = 2, .channel.connections_max = 1});
    start_many(&it, calls, 7, "/t/Hold");
    rig_wait_started(&it, 2);
    for (int i = 0; i < 7; i++) {
        rig_settle(&it);
    }
    assert_int_equal(it.started, 2);
    assert_int_equal(channel_stats(&it).calls_waiting, 5);
    int done = 0;
    while (done < 7) {
        rig_release(&it);
        done = 0;
        for (int i = 0; i < 7; i++) {
            done += calls[i].is_done;
        }
    }
    for (int i = 0; i < 7; i++) {
        assert_int_equal(calls[i].code, MS_GRPC_OK);
    }
    assert_int_equal(channel_stats(&it).connects, 1);
    rig_close(&it);
}

static void a_server_may_allow_more_streams_later(void **state)
{
    (void)state;
    static raw_peer peer;
    uint16_t port = 0;
    int listen_fd = raw_listen(&port);
    char target[32];
    snprintf(target, sizeof(target), "127.0.0.1:%u", (unsigned)port);
    rig it;
    rig_open(&it,
             &(rig_options){.channel.target = ms_str_cstr(target), .channel.connections_max = 1});
    probe call = {.path = "/s/M", .request = "x"};
    probe_start(&it, &call);
    raw_accept(&peer, listen_fd);
    assert_true(raw_fill(&peer, 24));
    raw_take(&peer, 24);
    raw_frame(&peer, NGHTTP2_SETTINGS, 0, 0, "\0\3\0\0\0\0", 6); /* none */
    assert_true(raw_is_alive(&peer));
    assert_string_equal(peer.fields, "");
    raw_frame(&peer, NGHTTP2_SETTINGS, 0, 0, "\0\3\0\0\0\1", 6); /* one */
    assert_int_equal(raw_read_until(&peer, RAW_STREAM_END), RAW_STREAM_END);
    raw_headers(&peer, RAW_END_BOTH, 1, ":status=200;content-type=application/grpc;grpc-status=0;");
    probe_wait(&call);
    assert_int_equal(call.code, MS_GRPC_OK);
    raw_close(&peer);
    close(listen_fd);
    rig_close(&it);
}

static void unused_connections_above_the_minimum_are_closed(void **state)
{
    (void)state;
    static probe calls[10];
    ms_grpc_channel_stats stats;
    rig it;
    rig_open(&it, &(rig_options){.with_clock = true,
                                 .channel.calls_per_connection = 1,
                                 .channel.connections_max = 4,
                                 .channel.idle_ns = 90 * S_NS});
    for (int i = 0; i < 10; i++) {
        calls[i] = (probe){.path = "/t/Hold", .request = "x"};
        probe_start(&it, &calls[i]);
        wait_stats(&it, stats, stats.connecting == 0 && stats.calls_waiting == 0);
    }
    assert_int_equal(stats.connections, 4);
    rig_wait_started(&it, 10);
    rig_release(&it);
    for (int i = 0; i < 10; i++) {
        probe_wait(&calls[i]);
    }
    for (int i = 0; i < 20; i++) {
        rig_advance(&it, 10 * S_NS);
    }
    wait_stats(&it, stats, stats.connections == 1 && stats.draining == 0);
    rig_check_works(&it);
    assert_int_equal(channel_stats(&it).connects, 4);
    rig_close(&it);
}

/* Draining servers. */

static void calls_of_a_draining_server_are_finished(void **state)
{
    (void)state;
    static probe calls[5];
    ms_grpc_channel_stats stats;
    rig it;
    rig_open(&it, &(rig_options){0});
    start_many(&it, calls, 5, "/t/Hold");
    rig_wait_started(&it, 5);
    ms_grpc_server_drain(it.server);
    wait_stats(&it, stats, stats.draining == 1);
    rig_release(&it);
    for (int i = 0; i < 5; i++) {
        probe_wait(&calls[i]);
        assert_int_equal(calls[i].code, MS_GRPC_OK);
    }
    wait_stats(&it, stats, stats.draining == 0);
    probe late = {.path = "/t/Echo", .request = "x"};
    probe_run(&it, &late);
    assert_int_equal(late.code, MS_GRPC_UNAVAILABLE);
    assert_true(late.is_unprocessed);
    rig_close(&it);
}

/* GOAWAY in the middle: stream 1 was begun, stream 3 was not. */
static void what_a_draining_server_has_not_begun_goes_to_another_connection(void **state)
{
    (void)state;
    static raw_peer first;
    static raw_peer second;
    uint16_t port = 0;
    int listen_fd = raw_listen(&port);
    char target[32];
    snprintf(target, sizeof(target), "127.0.0.1:%u", (unsigned)port);
    rig it;
    rig_open(&it, &(rig_options){.channel.target = ms_str_cstr(target)});
    probe begun = {.path = "/s/Begun", .request = "1"};
    probe left = {.path = "/s/Left", .request = "2"};
    probe_start(&it, &begun);
    raw_accept(&first, listen_fd);
    raw_serve(&first);
    assert_int_equal(raw_read_until(&first, RAW_STREAM_END), RAW_STREAM_END);
    probe_start(&it, &left);
    assert_int_equal(raw_read_until(&first, RAW_STREAM_END), RAW_STREAM_END);
    raw_frame(&first, NGHTTP2_GOAWAY, 0, 0, "\0\0\0\x01\0\0\0\0", 8);
    raw_accept(&second, listen_fd);
    raw_serve(&second);
    assert_int_equal(raw_read_until(&second, RAW_STREAM_END), RAW_STREAM_END);
    assert_true(raw_has(&second, ":path=/s/Left;"));
    raw_headers(&second, RAW_END_BOTH, 1,
                ":status=200;content-type=application/grpc;grpc-status=0;");
    probe_wait(&left);
    assert_int_equal(left.code, MS_GRPC_OK);
    assert_false(begun.is_done);
    raw_headers(&first, RAW_END_BOTH, 1,
                ":status=200;content-type=application/grpc;grpc-status=0;");
    probe_wait(&begun);
    assert_int_equal(begun.code, MS_GRPC_OK);
    assert_int_equal(channel_stats(&it).calls_resent, 1);
    assert_int_equal(raw_read_until(&first, RAW_CLOSED), RAW_CLOSED);
    raw_close(&first);
    raw_close(&second);
    close(listen_fd);
    rig_close(&it);
}

/* Calls never fail because servers come and go in an orderly way. */
static void calls_survive_a_rolling_restart(void **state)
{
    (void)state;
    static probe calls[40];
    char target[160];
    rig it;
    rig_open(&it, &(rig_options){0});
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 40; i++) {
            calls[i] = (probe){.path = "/t/Echo", .request = "x", .wait_for_ready = true};
            probe_start(&it, &calls[i]);
        }
        ms_grpc_server_drain(it.server);
        snprintf(target, sizeof(target), "%s", it.target);
        ms_grpc_server_destroy(it.server, 10 * S_NS);
        rig_open_server(&it, &(ms_grpc_server_options){.listen = ms_str_cstr(target)});
        for (int i = 0; i < 40; i++) {
            probe_wait(&calls[i]);
            if (calls[i].code != MS_GRPC_OK) {
                fail_msg("round %d: %s", round, calls[i].message);
            }
        }
    }
    rig_close(&it);
}

/* Failures. */

static void a_failed_connect_is_told_and_backs_off(void **state)
{
    (void)state;
    uint16_t port = 0;
    int listen_fd = raw_listen(&port);
    char target[32];
    close(listen_fd);
    snprintf(target, sizeof(target), "127.0.0.1:%u", (unsigned)port);
    rig it;
    rig_open(&it, &(rig_options){.with_clock = true, .channel.target = ms_str_cstr(target)});
    int64_t waits_ms[] = {1000, 1600, 2560, 4096};
    for (int i = 0; i < 4; i++) {
        probe call = {.path = "/t/Echo", .request = "x"};
        probe_run(&it, &call);
        assert_int_equal(call.code, MS_GRPC_UNAVAILABLE);
        assert_true(call.is_unprocessed);
        assert_non_null(strstr(call.message, target));
        assert_non_null(strstr(call.message, "refused"));
        assert_int_equal(channel_stats(&it).connect_failures, i + 1);
        /* Within four fifths of the backoff nobody tries again. */
        rig_advance(&it, waits_ms[i] * MS_NS * 79 / 100);
        probe early = {.path = "/t/Echo", .request = "x"};
        probe_run(&it, &early);
        assert_int_equal(early.code, MS_GRPC_UNAVAILABLE);
        assert_string_equal(early.message, call.message);
        assert_int_equal(channel_stats(&it).connect_failures, i + 1);
        rig_advance(&it, waits_ms[i] * MS_NS * 42 / 100);
    }
    rig_close(&it);
}

static void a_call_may_wait_until_the_server_is_there(void **state)
{
    (void)state;
    rig it;
    ms_grpc_channel_stats stats;
    rig_open(&it, &(rig_options){.with_clock = true});
    char target[160];
    snprintf(target, sizeof(target), "%s", it.target);
    ms_grpc_server_destroy(it.server, 0);
    probe call = {.path = "/t/Echo", .request = "x", .wait_for_ready = true};
    probe_start(&it, &call);
    wait_stats(&it, stats, stats.connect_failures == 1);
    rig_advance(&it, 2 * S_NS);
    wait_stats(&it, stats, stats.connect_failures == 2);
    assert_false(call.is_done);
    assert_int_equal(stats.calls_waiting, 1);
    rig_open_server(&it, &(ms_grpc_server_options){.listen = ms_str_cstr(target)});
    rig_advance(&it, 4 * S_NS);
    probe_wait(&call);
    assert_int_equal(call.code, MS_GRPC_OK);
    rig_close(&it);
}

static void a_lost_connection_is_made_anew(void **state)
{
    (void)state;
    static raw_peer peer;
    uint16_t port = 0;
    int listen_fd = raw_listen(&port);
    char target[32];
    snprintf(target, sizeof(target), "127.0.0.1:%u", (unsigned)port);
    rig it;
    rig_open(&it, &(rig_options){.channel.target = ms_str_cstr(target)});
    for (int i = 0; i < 3; i++) {
        probe call = {.path = "/s/M", .request = "x"};
        probe_start(&it, &call);
        raw_accept(&peer, listen_fd);
        raw_serve(&peer);
        assert_int_equal(raw_read_until(&peer, RAW_STREAM_END), RAW_STREAM_END);
        raw_close(&peer);
        probe_wait(&call);
        assert_int_equal(call.code, MS_GRPC_UNAVAILABLE);
        assert_false(call.is_unprocessed);
    }
    assert_int_equal(channel_stats(&it).connects, 3);
    close(listen_fd);
    rig_close(&it);
}

static void a_server_that_does_not_speak_http2_is_no_server(void **state)
{
    (void)state;
    static raw_peer peer;
    uint16_t port = 0;
    int listen_fd = raw_listen(&port);
    char target[32];
    snprintf(target, sizeof(target), "127.0.0.1:%u", (unsigned)port);
    rig it;
    rig_open(&it, &(rig_options){.with_clock = true,
                                 .channel.target = ms_str_cstr(target),
                                 .channel.connect_timeout_ns = 5 * S_NS});
    probe call = {.path = "/s/M", .request = "x"};
    probe_start(&it, &call);
    raw_accept(&peer, listen_fd);
    raw_write(&peer, "HTTP/1.1 400 Bad Request\r\n\r\n", 28);
    probe_wait(&call);
    assert_int_equal(call.code, MS_GRPC_UNAVAILABLE);
    assert_int_equal(channel_stats(&it).connect_failures, 1);
    raw_close(&peer);
    /* So does one that expects TLS: it answers with an alert, and closes. */
    rig_advance(&it, 2 * S_NS);
    probe secured = {.path = "/s/M", .request = "x"};
    probe_start(&it, &secured);
    raw_accept(&peer, listen_fd);
    raw_write(&peer, "\x15\x03\x01\x00\x02\x02\x46", 7);
    (void)raw_fill(&peer, 24); /* all that came, so that no reset follows */
    raw_close(&peer);
    probe_wait(&secured);
    assert_int_equal(secured.code, MS_GRPC_UNAVAILABLE);
    assert_string_equal(secured.message, "the server expects TLS");
    assert_int_equal(secured.obstacle, MS_TLS_OBSTACLE_TLS);
    /* One that says nothing is waited for until the timeout. */
    rig_advance(&it, 4 * S_NS);
    probe silent = {.path = "/s/M", .request = "x"};
    probe_start(&it, &silent);
    raw_accept(&peer, listen_fd);
    assert_true(raw_fill(&peer, 24));
    rig_advance(&it, 5 * S_NS - MS_NS);
    assert_false(silent.is_done);
    rig_advance(&it, MS_NS);
    probe_wait(&silent);
    assert_int_equal(silent.code, MS_GRPC_UNAVAILABLE);
    assert_string_equal(silent.message, "the peer did not speak HTTP/2 in time");
    raw_close(&peer);
    close(listen_fd);
    rig_close(&it);
}

/* Keepalive. */

static void a_dead_server_is_noticed(void **state)
{
    (void)state;
    static raw_peer peer;
    uint16_t port = 0;
    int listen_fd = raw_listen(&port);
    char target[32];
    snprintf(target, sizeof(target), "127.0.0.1:%u", (unsigned)port);
    rig it;
    rig_open(&it, &(rig_options){.with_clock = true, .channel.target = ms_str_cstr(target)});
    probe call = {.path = "/s/M", .request = "x"};
    probe_start(&it, &call);
    raw_accept(&peer, listen_fd);
    raw_serve(&peer);
    assert_int_equal(raw_read_until(&peer, RAW_STREAM_END), RAW_STREAM_END);
    assert_true(raw_is_alive(&peer)); /* nothing is on its way when the clock moves */
    /* While it answers, it may take its time. */
    for (int i = 0; i < 3; i++) {
        rig_advance(&it, 31 * S_NS);
        assert_int_equal(raw_read_until(&peer, RAW_PING), RAW_PING);
        raw_frame(&peer, NGHTTP2_PING, NGHTTP2_FLAG_ACK, 0, peer.payload, 8);
        assert_true(raw_is_alive(&peer));
    }
    rig_advance(&it, 31 * S_NS);
    rig_advance(&it, 9 * S_NS);
    assert_false(call.is_done);
    rig_advance(&it, 2 * S_NS);
    probe_wait(&call);
    assert_int_equal(call.code, MS_GRPC_UNAVAILABLE);
    assert_string_equal(call.message, "the peer does not answer (keepalive)");
    raw_close(&peer);
    close(listen_fd);
    rig_close(&it);
}

static void an_idle_connection_is_not_pinged(void **state)
{
    (void)state;
    static raw_peer peer;
    uint16_t port = 0;
    int listen_fd = raw_listen(&port);
    char target[32];
    snprintf(target, sizeof(target), "127.0.0.1:%u", (unsigned)port);
    rig it;
    rig_open(&it, &(rig_options){.with_clock = true, .channel.target = ms_str_cstr(target)});
    probe call = {.path = "/s/M", .request = "x"};
    probe_start(&it, &call);
    raw_accept(&peer, listen_fd);
    raw_serve(&peer);
    assert_int_equal(raw_read_until(&peer, RAW_STREAM_END), RAW_STREAM_END);
    raw_headers(&peer, RAW_END_BOTH, 1, ":status=200;content-type=application/grpc;grpc-status=0;");
    probe_wait(&call);
    assert_int_equal(call.code, MS_GRPC_OK);
    for (int i = 0; i < 10; i++) {
        rig_advance(&it, 31 * S_NS);
    }
    assert_true(raw_is_alive(&peer));
    assert_int_equal(peer.ping_count, 0);
    raw_close(&peer);
    close(listen_fd);
    rig_close(&it);
}

/* What is refused. */

static void destroy_channel(void *arg)
{
    ms_grpc_channel_destroy(arg);
}

static void destroy_credentials(void *arg)
{
    ms_credentials_destroy(arg);
}

static void plaintext_stays_on_this_machine(void **state)
{
    (void)state;
    static const char *const far[] = {"10.0.0.1:80", "[2001:db8::1]:80", "bigtable.example:443",
                                      "0.0.0.0:80"};
    static const char *const bad[] = {"",        "localhost", "localhost:", ":80",  "a b:80",
                                      "h:99999", "::1:80",    "[::1]80",    "h:8x", "unix:"};
    ms_status st = {0};
    ms_loop *loop = NULL;
    ms_grpc_channel *channel = NULL;
    assert_ok(ms_loop_create("client", &loop, &st));
    for (size_t i = 0; i < sizeof(far) / sizeof(far[0]); i++) {
        ms_grpc_channel_options options = {.target = ms_str_cstr(far[i])};
        ms_status_clear(&st);
        assert_int_equal(ms_grpc_channel_create(loop, &options, &channel, &st), MS_INVALID_OPTION);
        options.allow_plaintext = true;
        ms_status_clear(&st);
        assert_ok(ms_grpc_channel_create(loop, &options, &channel, &st));
        ms_loop_call(loop, destroy_channel, channel);
        options.credentials = ms_credentials_create_none(loop);
        assert_int_equal(ms_grpc_channel_create(loop, &options, &channel, &st), MS_INVALID_OPTION);
        ms_loop_call(loop, destroy_credentials, options.credentials);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ms_grpc_channel_options options = {.target = ms_str_cstr(bad[i])};
        ms_status_clear(&st);
        assert_int_equal(ms_grpc_channel_create(loop, &options, &channel, &st), MS_INVALID_OPTION);
    }
    ms_loop_destroy(loop);
}

/* Credentials. */

typedef struct fetcher {
    ms_credentials base; /* first */
    int fetches;
    bool fails;
    bool is_retriable;
} fetcher;

static ms_rc fetch_token(ms_credentials *credentials, ms_credentials_token *token_out,
                         ms_status *st)
{
    fetcher *own = MS_MAIL_OWNER(credentials, fetcher, base);
    char text[32];
    own->fetches++;
    if (own->fails) {
        ms_status_set(st, MS_IO_ERROR, ms_span_none, "the token endpoint is down");
        st->retriable = own->is_retriable;
        return st->code;
    }
    snprintf(text, sizeof(text), "Bearer %d", own->fetches);
    ms_secret_set(&token_out->authorization, ms_str_cstr(text));
    token_out->expires_wall_ms = INT64_MAX;
    return MS_OK;
}

static void destroy_fetcher(ms_credentials *credentials)
{
    ms_mem_free(MS_MAIL_OWNER(credentials, fetcher, base));
}

static const ms_credentials_class fetcher_class = {
    .name = "fetcher", .fetch = fetch_token, .destroy = destroy_fetcher};

static bool accepts_the_second_token(ms_str authorization, void *arg)
{
    (void)arg;
    return ms_str_equals(authorization, ms_str_lit("Bearer 2"));
}

typedef struct with_credentials {
    rig it;
    ms_iopool *pool;
    fetcher *credentials;
} with_credentials;

/* The pool is stepped: tokens come when the test says so. */
static void open_with_credentials(with_credentials *own)
{
    ms_status st = {0};
    rig_open(&own->it, &(rig_options){.with_clock = true,
                                      .without_channel = true,
                                      .server.authorize = accepts_the_second_token});
    assert_ok(ms_iopool_create(&(ms_iopool_options){.is_stepped = true}, &own->pool, &st));
    own->credentials = ms_mem_calloc(1, sizeof(*own->credentials));
    ms_credentials_init(&own->credentials->base, &fetcher_class, own->it.client_loop, own->pool);
    rig_open_channel(&own->it, &(ms_grpc_channel_options){.credentials = &own->credentials->base});
}

static void close_with_credentials(with_credentials *own)
{
    rig_close_channel(&own->it);
    ms_loop_call(own->it.client_loop, destroy_credentials, &own->credentials->base);
    ms_iopool_destroy(own->pool);
    rig_close(&own->it);
}

static void calls_wait_for_a_token_and_a_refused_one_is_replaced(void **state)
{
    (void)state;
    static probe calls[5];
    with_credentials own;
    open_with_credentials(&own);
    probe late = {
        .path = "/t/Metadata", .request = "x", .deadline_ns = own.it.clock.mono_ns + S_NS};
    probe_start(&own.it, &late);
    rig_advance(&own.it, S_NS);
    probe_wait(&late);
    assert_string_equal(late.message, "the deadline has passed while waiting for credentials");
    start_many(&own.it, calls, 5, "/t/Metadata");
    assert_int_equal(channel_stats(&own.it).calls_waiting, 5);
    assert_int_equal(channel_stats(&own.it).connecting, 0); /* the token comes first */
    assert_true(ms_iopool_step(own.pool));
    assert_false(ms_iopool_step(own.pool));
    for (int i = 0; i < 5; i++) {
        probe_wait(&calls[i]);
        assert_int_equal(calls[i].code, MS_GRPC_UNAUTHENTICATED);
    }
    probe again = {.path = "/t/Metadata", .request = "x"};
    probe_start(&own.it, &again);
    assert_true(ms_iopool_step(own.pool));
    probe_wait(&again);
    assert_int_equal(again.code, MS_GRPC_OK);
    assert_int_equal(own.credentials->fetches, 2);
    rig_check_works(&own.it);
    assert_int_equal(own.credentials->fetches, 2);
    close_with_credentials(&own);
}

static void calls_without_a_token_end(void **state)
{
    (void)state;
    static probe calls[3];
    with_credentials own;
    open_with_credentials(&own);
    for (int round = 0; round < 2; round++) {
        own.credentials->fails = true;
        own.credentials->is_retriable = round == 1;
        start_many(&own.it, calls, 3, "/t/Metadata");
        probe_cancel(&calls[2]);
        probe_wait(&calls[2]);
        assert_int_equal(calls[2].code, MS_GRPC_CANCELLED);
        assert_true(ms_iopool_step(own.pool));
        for (int i = 0; i < 2; i++) {
            probe_wait(&calls[i]);
            assert_int_equal(calls[i].code,
                             round == 1 ? MS_GRPC_UNAVAILABLE : MS_GRPC_UNAUTHENTICATED);
            assert_non_null(strstr(calls[i].message, "fetcher"));
            assert_non_null(strstr(calls[i].message, "the token endpoint is down"));
            assert_true(calls[i].is_unprocessed);
        }
        probe at_once = {.path = "/t/Metadata", .request = "x"};
        probe_run(&own.it, &at_once);
        assert_int_equal(at_once.code, calls[0].code);
        rig_advance(&own.it, S_NS);
    }
    assert_int_equal(own.it.started, 0);
    assert_int_equal(own.credentials->fetches, 2);
    close_with_credentials(&own);
}

static void a_channel_may_go_while_its_calls_wait_for_a_token(void **state)
{
    (void)state;
    static probe calls[3];
    with_credentials own;
    open_with_credentials(&own);
    start_many(&own.it, calls, 3, "/t/Metadata");
    rig_close_channel(&own.it);
    for (int i = 0; i < 3; i++) {
        probe_wait(&calls[i]);
        assert_int_equal(calls[i].code, MS_GRPC_CANCELLED);
    }
    assert_true(ms_iopool_step(own.pool));
    ms_loop_call(own.it.client_loop, destroy_credentials, &own.credentials->base);
    ms_iopool_destroy(own.pool);
    rig_close(&own.it);
}

/* The end of a channel. */

typedef struct restarter {
    rig *it;
    ms_grpc_code codes[3];
    int count;
    ms_parker parker;
} restarter;

static void start_again(ms_grpc_call *call, const ms_grpc_result *result, void *arg);

static const ms_grpc_call_events restart_events = {.on_done = start_again};

static void start_one(void *arg)
{
    restarter *own = arg;
    ms_grpc_call_options options = {
        .path = ms_str_lit("/t/Hold"), .events = &restart_events, .arg = own};
    (void)ms_grpc_call_start(own->it->channel, &options);
}

static void start_again(ms_grpc_call *call, const ms_grpc_result *result, void *arg)
{
    (void)call;
    restarter *own = arg;
    own->codes[own->count++] = result->code;
    if (own->count < 3) {
        start_one(own);
    } else {
        ms_parker_unpark(&own->parker);
    }
}

static void calls_started_while_a_channel_is_destroyed_end_too(void **state)
{
    (void)state;
    rig it;
    rig_open(&it, &(rig_options){0});
    restarter own = {.it = &it};
    ms_parker_init(&own.parker);
    ms_loop_call(it.client_loop, start_one, &own);
    rig_wait_started(&it, 1);
    rig_close_channel(&it);
    while (!ms_parker_park(&own.parker, MS_PARK_FOREVER)) {
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(own.codes[i], MS_GRPC_CANCELLED);
    }
    rig_close(&it);
}

static void a_channel_may_go_in_every_state_of_its_calls(void **state)
{
    (void)state;
    static probe calls[20];
    for (int round = 0; round < 6; round++) {
        rig it;
        rig_open(&it, &(rig_options){.channel.connections_max = 2,
                                     .server.streams_max = 5,
                                     .channel.calls_per_connection = 5});
        start_many(&it, calls, 20, round % 2 == 0 ? "/t/Hold" : "/t/Stream");
        if (round >= 2) {
            rig_wait_started(&it, 5);
        }
        if (round >= 4) {
            probe_cancel(&calls[3]);
        }
        rig_close_channel(&it);
        for (int i = 0; i < 20; i++) {
            assert_true(calls[i].is_done);
        }
        rig_close(&it);
    }
}

static void a_deadline_says_what_was_waited_for(void **state)
{
    (void)state;
    uint16_t port = 0;
    close(raw_listen(&port));
    char target[32];
    char message[200];
    snprintf(target, sizeof(target), "127.0.0.1:%u", (unsigned)port);
    rig it;
    rig_open(&it, &(rig_options){.with_clock = true, .channel.target = ms_str_cstr(target)});
    probe refused = {.path = "/s/M", .request = "x"};
    probe_run(&it, &refused);
    assert_int_equal(refused.code, MS_GRPC_UNAVAILABLE);
    probe call = {.path = "/s/M",
                  .request = "x",
                  .wait_for_ready = true,
                  .deadline_ns = it.clock.mono_ns + S_NS / 2};
    probe_start(&it, &call);
    rig_advance(&it, S_NS / 2);
    probe_wait(&call);
    assert_int_equal(call.code, MS_GRPC_DEADLINE_EXCEEDED);
    assert_true(call.is_unprocessed);
    snprintf(
        message, sizeof(message),
        "the deadline has passed while waiting for a connection to %s; the last attempt: could "
        "not connect to %s",
        target, target);
    assert_string_equal(call.message, message);
    rig_close(&it);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_channel_opens_nothing_before_its_first_call),
        cmocka_unit_test(a_channel_grows_while_all_its_connections_are_busy),
        cmocka_unit_test(the_minimum_is_opened_at_once),
        cmocka_unit_test(calls_beyond_the_servers_limit_wait_for_a_place),
        cmocka_unit_test(a_server_may_allow_more_streams_later),
        cmocka_unit_test(unused_connections_above_the_minimum_are_closed),
        cmocka_unit_test(calls_of_a_draining_server_are_finished),
        cmocka_unit_test(what_a_draining_server_has_not_begun_goes_to_another_connection),
        cmocka_unit_test(calls_survive_a_rolling_restart),
        cmocka_unit_test(a_failed_connect_is_told_and_backs_off),
        cmocka_unit_test(a_call_may_wait_until_the_server_is_there),
        cmocka_unit_test(a_lost_connection_is_made_anew),
        cmocka_unit_test(a_deadline_says_what_was_waited_for),
        cmocka_unit_test(a_server_that_does_not_speak_http2_is_no_server),
        cmocka_unit_test(a_dead_server_is_noticed),
        cmocka_unit_test(an_idle_connection_is_not_pinged),
        cmocka_unit_test(plaintext_stays_on_this_machine),
        cmocka_unit_test(calls_wait_for_a_token_and_a_refused_one_is_replaced),
        cmocka_unit_test(calls_without_a_token_end),
        cmocka_unit_test(a_channel_may_go_while_its_calls_wait_for_a_token),
        cmocka_unit_test(calls_started_while_a_channel_is_destroyed_end_too),
        cmocka_unit_test(a_channel_may_go_in_every_state_of_its_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
