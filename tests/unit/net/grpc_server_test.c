/* SPDX-License-Identifier: Apache-2.0 */
#include "net/grpc_server_priv.h"
#include "net/raw.h"
#include "net/rig.h"
#include "net/secret.h"
#include "os/thread.h"

#include <sys/resource.h>
#include <sys/stat.h>

/* Listening. */

static void an_address_in_use_is_refused(void **state)
{
    (void)state;
    rig it;
    rig_open(&it, &(rig_options){.server_loop_count = 2});
    ms_status st = {0};
    ms_grpc_server *second = NULL;
    ms_grpc_server_options options = {.loops = it.server_loops,
                                      .loop_count = 2,
                                      .listen = ms_str_cstr(it.target),
                                      .events = &rig_events};
    assert_int_equal(ms_grpc_server_create(&options, &second, &st), MS_IO_ERROR);
    assert_null(second);
    assert_non_null(strstr(st.detail, "in use"));
    char message[96];
    snprintf(message, sizeof(message), "could not listen on \"%s\"", it.target);
    assert_string_equal(st.message, message);
    assert_non_null(strstr(st.hint, "another port"));
    ms_status_clear(&st);
    options.listen = ms_str_lit("nonsense");
    assert_int_equal(ms_grpc_server_create(&options, &second, &st), MS_INVALID_OPTION);
    rig_check_works(&it);
    rig_close(&it);
}

static void a_unix_socket_works_and_is_removed(void **state)
{
    (void)state;
    char listen[64];
    struct stat info;
    snprintf(listen, sizeof(listen), "unix:/tmp/net-test-%d.sock", (int)getpid());
    rig it;
    for (int i = 0; i < 2; i++) {
        rig_open(&it, &(rig_options){.server.listen = ms_str_cstr(listen)});
        rig_check_works(&it);
        probe call = {.path = "/t/Peer", .request = ""};
        probe_run(&it, &call);
        assert_string_equal(call.first, "unix:");
        assert_int_equal(stat(listen + 5, &info), 0);
        rig_close(&it);
        assert_int_not_equal(stat(listen + 5, &info), 0);
        /* The second time, a dead socket is in the way. */
        struct sockaddr at = {.sa_family = AF_UNIX};
        char room[128] = {0};
        memcpy(room, &at.sa_family, sizeof(at.sa_family));
        snprintf(room + sizeof(at.sa_family), 100, "%s", listen + 5);
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        assert_int_equal(bind(fd, (struct sockaddr *)(void *)room, 110), 0);
        close(fd);
    }
    unlink(listen + 5);
}

static void the_peer_is_named(void **state)
{
    (void)state;
    rig it;
    rig_open(&it, &(rig_options){0});
    probe call = {.path = "/t/Peer", .request = ""};
    probe_run(&it, &call);
    assert_memory_equal(call.first, "127.0.0.1:", 10);
    rig_close(&it);
}

static void ipv6_works_where_there_is_any(void **state)
{
    (void)state;
    rig it;
    ms_status st = {0};
    ms_grpc_server *server = NULL;
    rig_open(&it, &(rig_options){0});
    ms_grpc_server_options options = {.loops = it.server_loops,
                                      .loop_count = 1,
                                      .listen = ms_str_lit("[::1]:0"),
                                      .events = &rig_events,
                                      .arg = &it};
    if (ms_grpc_server_create(&options, &server, &st) != MS_OK) {
        rig_close(&it);
        skip();
    }
    rig_close_channel(&it);
    char target[32];
    snprintf(target, sizeof(target), "[::1]:%u", (unsigned)ms_grpc_server_port(server));
    rig_open_channel(&it, &(ms_grpc_channel_options){.target = ms_str_cstr(target)});
    probe call = {.path = "/t/Peer", .request = ""};
    probe_run(&it, &call);
    assert_int_equal(call.code, MS_GRPC_OK);
    assert_memory_equal(call.first, "[::1]:", 6);
    rig_close_channel(&it);
    ms_grpc_server_destroy(server, 0);
    rig_close(&it);
}

static void a_listener_is_taken_over(void **state)
{
    (void)state;
    char listen[64];
    struct stat info;
    snprintf(listen, sizeof(listen), "unix:/tmp/net-test-%d.sock", (int)getpid());
    ms_status st = {0};
    ms_grpc_listener *listener = NULL;
    assert_int_equal(ms_grpc_listen(ms_str_cstr(listen), &listener, &st), MS_OK);
    ms_grpc_listener_close(listener);
    assert_int_not_equal(stat(listen + 5, &info), 0);
    assert_int_equal(ms_grpc_listen(ms_str_lit("nonsense"), &listener, &st), MS_INVALID_OPTION);
    assert_null(listener);
    ms_grpc_listener_close(NULL);
    ms_status_clear(&st);
    assert_int_equal(ms_grpc_listen(ms_str_cstr(listen), &listener, &st), MS_OK);
    rig it;
    rig_open(&it,
             &(rig_options){.server.listen = ms_str_cstr(listen), .server.listener = listener});
    rig_check_works(&it);
    rig_close(&it);
    assert_int_not_equal(stat(listen + 5, &info), 0);
}

/* Several loops. */

static void connections_are_dealt_out_to_all_loops(void **state)
{
    (void)state;
    static raw_peer peers[6];
    rig it;
    rig_open(&it, &(rig_options){.server_loop_count = 3, .without_channel = true});
    for (int i = 0; i < 6; i++) {
        raw_connect(&peers[i], ms_grpc_server_port(it.server));
        raw_start(&peers[i]);
        raw_headers(&peers[i], RAW_END_BOTH, 1, RAW_REQUEST("/t/Peer"));
        assert_int_equal(raw_read_until(&peers[i], RAW_STREAM_END), RAW_STREAM_END);
    }
    assert_int_equal(ms_grpc_server_get_stats(it.server).connections, 6);
    assert_int_equal(ms_grpc_server_get_stats(it.server).started, 6);
    for (int i = 0; i < 6; i++) {
        assert_true(raw_is_alive(&peers[i]));
        raw_close(&peers[i]);
    }
    rig_close(&it);
}

/* A mail that keeps its loop until the test has seen enough. */
typedef struct blocker {
    ms_mail mail;
    ms_parker end;
} blocker;

static void block_loop(ms_mail *mail)
{
    blocker *own = MS_MAIL_OWNER(mail, blocker, mail);
    while (!ms_parker_park(&own->end, MS_PARK_FOREVER)) {
    }
}

typedef struct shard_count {
    const msi_shard *shard;
    size_t connections;
} shard_count;

static void count_now(void *arg)
{
    shard_count *count = arg;
    count->connections = count->shard->conn_count;
}

static void a_loop_that_is_stuck_gets_no_more_connections_than_some(void **state)
{
    (void)state;
    static raw_peer peers[2];
    int others[260];
    rig it;
    rig_open(&it, &(rig_options){.server_loop_count = 2,
                                 .server.connections_max = 2000,
                                 .server.connections_per_peer = 2000,
                                 .without_channel = true});
    uint16_t port = ms_grpc_server_port(it.server);
    blocker own = {.mail = {.deliver = block_loop}};
    ms_parker_init(&own.end);
    ms_mailbox_push(ms_loop_mailbox(it.server_loops[1]), &own.mail);
    for (int i = 0; i < 260; i++) {
        others[i] = raw_socket(port);
    }
    /* Whose turn it would be, one of two goes elsewhere. */
    for (int i = 0; i < 2; i++) {
        raw_connect(&peers[i], port);
        raw_start(&peers[i]);
        assert_true(raw_is_alive(&peers[i]));
    }
    ms_parker_unpark(&own.end);
    assert_int_equal(ms_grpc_server_get_stats(it.server).accepted, 262);
    /* Who is not stuck any more has its turn again. */
    for (int i = 0; i < 2; i++) {
        raw_close(&peers[i]);
        raw_connect(&peers[i], port);
        raw_start(&peers[i]);
        assert_true(raw_is_alive(&peers[i]));
    }
    shard_count count = {.shard = &it.server->shards[1]};
    ms_loop_call(it.server_loops[1], count_now, &count);
    assert_int_equal(count.connections, 129);
    for (int i = 0; i < 260; i++) {
        close(others[i]);
    }
    raw_close(&peers[0]);
    raw_close(&peers[1]);
    rig_close(&it);
}

/* Limits. */

/* A connection with a call that does not end, from one of this machine's many addresses. */
static void connect_with_call(rig *it, raw_peer *peer, uint32_t host)
{
    int started = it->started;
    struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(host)}};
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(ms_grpc_server_port(it->server)),
                             .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&from, sizeof(from)), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    raw_init(peer, fd, false);
    raw_start(peer);
    raw_headers(peer, RAW_END_BOTH, 1, RAW_REQUEST("/t/Hold"));
    while (it->started == started && raw_is_alive(peer)) {
    }
}

static void connections_beyond_the_limit_are_closed_when_all_have_calls(void **state)
{
    (void)state;
    static raw_peer peers[3];
    rig it;
    rig_open(&it, &(rig_options){.server.connections_max = 2, .server.connections_per_peer = 2});
    for (int i = 0; i < 3; i++) {
        connect_with_call(&it, &peers[i], INADDR_LOOPBACK);
    }
    assert_int_equal(it.started, 2);
    assert_int_equal(ms_grpc_server_get_stats(it.server).refused, 1);
    assert_int_equal(ms_grpc_server_get_stats(it.server).evicted, 0);
    raw_close(&peers[0]);
    while (ms_grpc_server_get_stats(it.server).connections > 1) {
    }
    rig_check_works(&it);
    raw_close(&peers[1]);
    raw_close(&peers[2]);
    rig_close(&it);
}

static void who_says_nothing_makes_room_first_and_the_oldest_of_them(void **state)
{
    (void)state;
    static raw_peer silent[3];
    static raw_peer idle;
    rig it;
    rig_open(&it, &(rig_options){.server.connections_max = 3, .server.connections_per_peer = 9});
    raw_connect(&idle, ms_grpc_server_port(it.server));
    raw_start(&idle);
    assert_true(raw_is_alive(&idle));
    for (int i = 0; i < 2; i++) {
        raw_connect(&silent[i], ms_grpc_server_port(it.server));
        while (ms_grpc_server_get_stats(it.server).accepted < (uint64_t)i + 2) {
        }
    }
    rig_check_works(&it);
    assert_int_equal(raw_read_until(&silent[0], RAW_CLOSED), RAW_CLOSED);
    assert_int_equal(ms_grpc_server_get_stats(it.server).evicted, 1);
    /* However many come, those that speak stay. */
    for (int i = 0; i < 20; i++) {
        raw_peer *late = &silent[2];
        raw_connect(late, ms_grpc_server_port(it.server));
        while (ms_grpc_server_get_stats(it.server).accepted < (uint64_t)i + 5) {
        }
        raw_close(late);
    }
    assert_int_equal(raw_read_until(&silent[1], RAW_CLOSED), RAW_CLOSED);
    assert_true(raw_is_alive(&idle));
    rig_check_works(&it);
    assert_int_equal(ms_grpc_server_get_stats(it.server).refused, 0);
    raw_close(&idle);
    raw_close(&silent[0]);
    raw_close(&silent[1]);
    rig_close(&it);
}

static void who_has_no_call_makes_room_by_goaway(void **state)
{
    (void)state;
    static raw_peer peers[3];
    rig it;
    rig_open(&it, &(rig_options){.server.connections_max = 2, .server.connections_per_peer = 9});
    for (int i = 0; i < 2; i++) {
        raw_connect(&peers[i], ms_grpc_server_port(it.server));
        raw_start(&peers[i]);
        assert_true(raw_is_alive(&peers[i]));
    }
    connect_with_call(&it, &peers[2], INADDR_LOOPBACK);
    assert_int_equal(it.started, 1);
    assert_int_equal(raw_read_until(&peers[0], RAW_CLOSED), RAW_CLOSED);
    assert_int_equal(peers[0].goaway_count, 1);
    assert_int_equal(peers[0].goaway_error, NGHTTP2_NO_ERROR);
    assert_string_equal(peers[0].goaway_debug, "too_many_connections");
    assert_true(raw_is_alive(&peers[1]));
    for (int i = 0; i < 3; i++) {
        raw_close(&peers[i]);
    }
    rig_close(&it);
}

static void one_address_does_not_get_all_connections(void **state)
{
    (void)state;
    static raw_peer peers[6];
    rig it;
    rig_open(&it, &(rig_options){.server.connections_max = 4, .without_channel = true});
    for (int i = 0; i < 4; i++) {
        connect_with_call(&it, &peers[i], INADDR_LOOPBACK);
    }
    assert_int_equal(it.started, 3);
    assert_false(raw_is_alive(&peers[3]));
    connect_with_call(&it, &peers[4], INADDR_LOOPBACK + 1);
    assert_int_equal(it.started, 4);
    connect_with_call(&it, &peers[5], INADDR_LOOPBACK + 1);
    assert_int_equal(it.started, 4);
    assert_int_equal(ms_grpc_server_get_stats(it.server).refused, 2);
    for (int i = 0; i < 6; i++) {
        raw_close(&peers[i]);
    }
    rig_close(&it);
}

/* A client of something else than HTTP/2 that keeps talking: what begins like TLS. */
static void connect_as_other(rig *it, raw_peer *peer)
{
    static const char greeting[4096] = {22, 3, 1, 0, 100, 1};
    raw_connect(peer, ms_grpc_server_port(it->server));
    for (int i = 0; i < 4; i++) {
        raw_write(peer, greeting, sizeof(greeting));
    }
}

static void a_client_that_does_not_speak_http2_is_told(void **state)
{
    (void)state;
    static raw_peer peer;
    static const char more[100000];
    rig it;
    rig_open(&it, &(rig_options){.without_channel = true, .with_clock = true});
    connect_as_other(&it, &peer);
    while (ms_grpc_server_get_stats(it.server).broken == 0) {
        raw_write(&peer, more, sizeof(more)); /* the server is at its end, the client is not */
    }
    assert_int_equal(raw_read_until(&peer, RAW_SETTINGS), RAW_SETTINGS);
    assert_int_equal(raw_read_until(&peer, RAW_GOAWAY), RAW_GOAWAY);
    assert_int_equal(peer.goaway_error, NGHTTP2_PROTOCOL_ERROR);
    assert_string_equal(peer.goaway_debug, "http2_expected");
    assert_int_equal(raw_read_until(&peer, RAW_CLOSED), RAW_CLOSED);
    assert_false(peer.is_reset);
    raw_write(&peer, more, sizeof(more));
    assert_int_equal(ms_grpc_server_get_stats(it.server).connections, 1);
    raw_close(&peer);
    while (ms_grpc_server_get_stats(it.server).connections > 0) {
    }
    rig_close(&it);
}

/* However many connections were ended by the server and not by their clients, they are no more than
 * may be, and they keep nobody out. The clock stands still: their time does not run out. */
static void connections_that_linger_are_counted_and_make_room(void **state)
{
    (void)state;
    static raw_peer others[20];
    static raw_peer working[2];
    rig it;
    rig_open(&it, &(rig_options){.server.connections_max = 4,
                                 .server.connections_per_peer = 9,
                                 .with_clock = true});
    connect_with_call(&it, &working[0], INADDR_LOOPBACK);
    for (uint64_t i = 0; i < 20; i++) {
        connect_as_other(&it, &others[i]);
        while (ms_grpc_server_get_stats(it.server).broken < i + 1) {
        }
        rig_settle(&it);
        assert_true(ms_grpc_server_get_stats(it.server).connections <= 4);
    }
    assert_int_equal(ms_grpc_server_get_stats(it.server).evicted, 17);
    connect_with_call(&it, &working[1], INADDR_LOOPBACK);
    rig_check_works(&it);
    assert_true(raw_is_alive(&working[0]));
    assert_true(raw_is_alive(&working[1]));
    assert_int_equal(ms_grpc_server_get_stats(it.server).refused, 0);
    for (int i = 0; i < 20; i++) {
        raw_close(&others[i]);
    }
    raw_close(&working[0]);
    raw_close(&working[1]);
    rig_close(&it);
}

/* A client that breaks the rules while it does not read: the server's last word cannot go out. Such
 * connections are counted, and make room, too. */
static void connections_that_fail_unread_are_counted_and_make_room(void **state)
{
    (void)state;
    static raw_peer peers[9];
    rig it;
    rig_open(&it, &(rig_options){.server.connections_max = 3,
                                 .server.connections_per_peer = 9,
                                 .without_channel = true,
                                 .with_clock = true});
    for (int i = 0; i < 9; i++) {
        raw_peer *peer = &peers[i];
        raw_connect(peer, ms_grpc_server_port(it.server));
        raw_start_greedy(peer);
        rig_wait_started(&it, i + 1);
        rig_settle_full(&it);
        for (int j = 0; j < 1002; j++) {
            raw_frame(peer, NGHTTP2_PRIORITY, 0, 1, "\0\0\0\0\x0f", 5);
        }
        rig_settle(&it);
        assert_true(ms_grpc_server_get_stats(it.server).connections <= 3);
    }
    assert_int_equal(ms_grpc_server_get_stats(it.server).refused, 0);
    assert_int_equal(ms_grpc_server_get_stats(it.server).evicted, 6);
    assert_int_equal(ms_grpc_server_get_stats(it.server).broken,
                     0); /* which is counted at the end */
    for (int i = 0; i < 9; i++) {
        raw_close(&peers[i]);
    }
    rig_close(&it);
}

/* When the process has no descriptors left, the connection waits until there are some. */
static void a_server_without_descriptors_recovers(void **state)
{
    (void)state;
    static raw_peer peer;
    struct rlimit before;
    rig it;
    rig_open(&it, &(rig_options){.with_clock = true});
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    int next = dup(0);
    close(next);
    /* One more: for our own end. */
    struct rlimit tight = {.rlim_cur = (rlim_t)next + 1, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
    raw_connect(&peer, ms_grpc_server_port(it.server));
    raw_start(&peer);
    for (int i = 0; i < 10; i++) {
        rig_settle(&it);
    }
    assert_int_equal(ms_grpc_server_get_stats(it.server).accepted, 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    while (ms_grpc_server_get_stats(it.server).accepted == 0) {
        rig_advance(&it, S_NS / 10);
    }
    assert_true(raw_is_alive(&peer));
    raw_close(&peer);
    rig_close(&it);
}

/* Authorization. */

static bool is_bearer(ms_str authorization, void *arg)
{
    return ms_secret_equals(arg, authorization);
}

static void calls_without_the_token_are_refused(void **state)
{
    (void)state;
    ms_secret token = {0};
    ms_secret_set(&token, ms_str_lit("Bearer tok3n"));
    rig it;
    rig_open(&it, &(rig_options){.server.authorize = is_bearer, .server.authorize_arg = &token});
    static const char *const bad[] = {"Bearer tok3", "bearer tok3n", "Bearer tok3nn", "tok3n",
                                      "Bearer tok3nBearer tok3n"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ms_grpc_pair pair = {ms_str_lit("authorization"), ms_str_cstr(bad[i])};
        probe call = {.path = "/t/Metadata", .request = "", .pairs = &pair, .pair_count = 1};
        probe_run(&it, &call);
        assert_int_equal(call.code, MS_GRPC_UNAUTHENTICATED);
    }
    probe none = {.path = "/t/Metadata", .request = ""};
    probe_run(&it, &none);
    assert_int_equal(none.code, MS_GRPC_UNAUTHENTICATED);
    assert_int_equal(it.started, 0);
    /* The handler of a call that is accepted does not see the token. */
    ms_grpc_pair pair = {ms_str_lit("authorization"), ms_str_lit("Bearer tok3n")};
    probe good = {.path = "/t/Metadata", .request = "", .pairs = &pair, .pair_count = 1};
    probe_run(&it, &good);
    assert_int_equal(good.code, MS_GRPC_OK);
    assert_null(strstr(good.first, "tok3n"));
    rig_close(&it);
    ms_secret_release(&token);
}

/* Ending. */

typedef struct destroyer {
    rig *it;
    ms_thread thread;
    ms_parker done;
} destroyer;

static void destroy_server(void *arg)
{
    destroyer *own = arg;
    ms_grpc_server_destroy(own->it->server, 1000 * S_NS);
    own->it->server = NULL;
    ms_parker_unpark(&own->done);
}

static void a_server_does_not_wait_for_endless_calls(void **state)
{
    (void)state;
    rig it;
    ms_grpc_pair endless = {ms_str_lit("endless"), ms_str_lit("1")};
    rig_open(&it, &(rig_options){0});
    for (int i = 0; i < 2; i++) {
        /* The second time, of an object that was used before. */
        probe warm = {.path = "/t/Hold", .request = "", .pairs = &endless, .pair_count = 1};
        probe_start(&it, &warm);
        rig_wait_started(&it, i + 1);
        probe_cancel(&warm);
        probe_wait(&warm);
        rig_wait_canceled(&it, i + 1);
    }
    probe call = {.path = "/t/Hold", .request = "", .pairs = &endless, .pair_count = 1};
    probe other = {.path = "/t/Hold", .request = ""};
    probe_start(&it, &other);
    rig_wait_started(&it, 3);
    probe_start(&it, &call);
    rig_wait_started(&it, 4);
    ms_grpc_server_drain(it.server);
    probe_wait(&call);
    assert_int_equal(call.code, MS_GRPC_UNAVAILABLE);
    assert_string_equal(call.message, "the server is shutting down");
    rig_wait_canceled(&it, 3);
    assert_int_equal(ms_grpc_server_get_stats(it.server).calls, 1);
    rig_release(&it);
    probe_wait(&other);
    assert_int_equal(other.code, MS_GRPC_OK);
    rig_close(&it);
}

/* A drain is told in two steps, so that calls that are on their way are still served; those of them
 * that do not end are ended like the ones before. */
static void an_endless_call_that_begins_in_a_drain_is_ended(void **state)
{
    (void)state;
    static raw_peer peer;
    rig it;
    rig_open(&it, &(rig_options){.without_channel = true, .with_clock = true});
    raw_connect(&peer, ms_grpc_server_port(it.server));
    raw_start(&peer);
    assert_true(raw_is_alive(&peer));
    ms_grpc_server_drain(it.server);
    assert_int_equal(raw_read_until(&peer, RAW_GOAWAY), RAW_GOAWAY);
    assert_int_equal(peer.goaway_last, INT32_MAX);
    raw_headers(&peer, RAW_END_BOTH, 1, RAW_REQUEST("/t/Hold"));
    raw_headers(&peer, RAW_END_BOTH, 3, RAW_REQUEST("/t/Hold") "endless=1;");
    assert_int_equal(raw_read_until(&peer, RAW_STREAM_END), RAW_STREAM_END);
    assert_int_equal(peer.stream, 3);
    assert_true(raw_has(&peer, "grpc-status=14;grpc-message=the server is shutting down;"));
    assert_int_equal(it.canceled, 1);
    rig_release(&it);
    assert_int_equal(raw_read_until(&peer, RAW_STREAM_END), RAW_STREAM_END);
    assert_int_equal(peer.stream, 1);
    raw_close(&peer);
    rig_close(&it);
}

static void a_server_waits_for_its_calls(void **state)
{
    (void)state;
    rig it;
    ms_status st = {0};
    rig_open(&it, &(rig_options){0});
    probe call = {.path = "/t/Hold", .request = ""};
    probe_start(&it, &call);
    rig_wait_started(&it, 1);
    destroyer own = {.it = &it};
    ms_parker_init(&own.done);
    assert_ok(ms_thread_start(&own.thread, "destroyer", destroy_server, &own, &st));
    /* New calls are refused while the old one goes on. */
    probe late = {0};
    do {
        late = (probe){.path = "/t/Echo", .request = ""};
        probe_run(&it, &late);
    } while (late.code == MS_GRPC_OK);
    assert_int_equal(late.code, MS_GRPC_UNAVAILABLE);
    assert_true(late.is_unprocessed);
    assert_false(call.is_done);
    rig_release(&it);
    probe_wait(&call);
    assert_int_equal(call.code, MS_GRPC_OK);
    ms_thread_join(&own.thread);
    assert_true(ms_parker_park(&own.done, 0));
    rig_close(&it);
}

/* The clock stands still, and the server may wait for ever: it ends because the client's system has
 * acknowledged everything, though the client does not close. */
static void a_server_does_not_wait_for_connections_that_linger(void **state)
{
    (void)state;
    static raw_peer peer;
    int on = 1;
    rig it;
    rig_open(&it, &(rig_options){.without_channel = true, .with_clock = true});
    connect_as_other(&it, &peer);
    assert_int_equal(raw_read_until(&peer, RAW_CLOSED), RAW_CLOSED);
    assert_int_equal(peer.goaway_count, 1);
    setsockopt(peer.fd, IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on)); /* what is due, now */
    assert_int_equal(ms_grpc_server_get_stats(it.server).connections, 1);
    ms_grpc_server_destroy(it.server, INT64_MAX);
    it.server = NULL;
    raw_close(&peer);
    rig_close(&it);
}

static void a_server_that_does_not_wait_cancels_its_calls(void **state)
{
    (void)state;
    static probe calls[10];
    rig it;
    rig_open(&it, &(rig_options){0});
    for (int i = 0; i < 10; i++) {
        calls[i] = (probe){.path = "/t/Hold", .request = ""};
        probe_start(&it, &calls[i]);
    }
    rig_wait_started(&it, 10);
    ms_grpc_server_destroy(it.server, 0);
    it.server = NULL;
    assert_int_equal(it.canceled, 10);
    for (int i = 0; i < 10; i++) {
        probe_wait(&calls[i]);
        assert_int_equal(calls[i].code, MS_GRPC_UNAVAILABLE);
    }
    rig_close(&it);
}

/* A handler that finishes only when it wants to: the server waits for it. */

static ms_grpc_server_call *slow_call;
static _Atomic bool slow_canceled;

static void slow_start(ms_grpc_server_call *call, const ms_grpc_server_start *start, void *arg)
{
    (void)start;
    rig *it = arg;
    slow_call = call;
    it->started++;
    ms_parker_unpark(&it->event);
}

static void slow_cancel(ms_grpc_server_call *call)
{
    assert_true(ms_grpc_server_call_is_canceled(call));
    slow_canceled = true;
    ms_parker_unpark(&rig_current->event);
}

static void slow_finish(void *arg)
{
    (void)arg;
    /* What a handler still does after a cancel is dropped. */
    ms_grpc_server_call_send(slow_call, (ms_grpc_message){.bytes = ms_str_lit("late")});
    rig_current->borrowed++;
    ms_grpc_server_call_send(
        slow_call,
        (ms_grpc_message){.bytes = ms_str_lit("late"), .release = rig_released, .arg = NULL});
    ms_grpc_server_call_finish(slow_call, &(ms_grpc_result){.code = MS_GRPC_OK});
}

static const ms_grpc_server_events slow_events = {.on_start = slow_start, .on_cancel = slow_cancel};

static void a_handler_keeps_its_call_after_a_cancel(void **state)
{
    (void)state;
    rig it;
    ms_status st = {0};
    slow_canceled = false;
    rig_open(&it, &(rig_options){.server.events = &slow_events});
    probe call = {.path = "/t/Slow", .request = ""};
    probe_start(&it, &call);
    rig_wait_started(&it, 1);
    rig_close_channel(&it);
    assert_int_equal(call.code, MS_GRPC_CANCELLED);
    while (!slow_canceled) {
        (void)ms_parker_park(&it.event, MS_PARK_FOREVER);
    }
    assert_int_equal(ms_grpc_server_get_stats(it.server).calls, 1);
    destroyer own = {.it = &it};
    ms_parker_init(&own.done);
    assert_ok(ms_thread_start(&own.thread, "destroyer", destroy_server, &own, &st));
    for (int i = 0; i < 20; i++) {
        rig_settle(&it);
    }
    assert_false(ms_parker_park(&own.done, 0));
    ms_loop_call(it.server_loops[0], slow_finish, NULL);
    ms_thread_join(&own.thread);
    rig_close(&it);
}

static void slow_headers(void *arg)
{
    (void)arg;
    ms_grpc_pair pair = {ms_str_lit("late"), ms_str_lit("1")};
    ms_grpc_server_call_send_headers(slow_call, (ms_grpc_metadata){&pair, 1});
}

/* The server has answered in its place: initial metadata is then as late as all else. */
static void a_handler_begins_its_answer_after_the_deadline(void **state)
{
    (void)state;
    static raw_peer peer;
    rig it;
    slow_canceled = false;
    rig_open(&it, &(rig_options){
                      .server.events = &slow_events, .without_channel = true, .with_clock = true});
    raw_connect(&peer, ms_grpc_server_port(it.server));
    raw_start(&peer);
    raw_headers(&peer, RAW_END_BOTH, 1, RAW_REQUEST("/t/Slow") "grpc-timeout=1S;");
    rig_wait_started(&it, 1);
    rig_advance(&it, 2 * S_NS);
    assert_true(slow_canceled);
    ms_loop_call(it.server_loops[0], slow_headers, NULL);
    ms_loop_call(it.server_loops[0], slow_finish, NULL);
    assert_int_equal(raw_read_until(&peer, RAW_STREAM_END), RAW_STREAM_END);
    assert_true(raw_has(&peer, "grpc-status=4;"));
    assert_false(raw_has(&peer, "late=1;"));
    assert_true(raw_is_alive(&peer));
    raw_close(&peer);
    rig_close(&it);
}

/* Calls while much waits for clients that do not read. The clock is moved by hand. */

#define READERS 4

/* A client whose call streams and is given no more than the first window. */
static void connect_reader(rig *it, raw_peer *peer)
{
    int started = it->started;
    raw_connect(peer, ms_grpc_server_port(it->server));
    raw_start(peer);
    raw_headers(peer, RAW_END_BOTH, 1, RAW_REQUEST("/t/Stream") "count=1000000000;size=10000;");
    rig_wait_started(it, started + 1);
    while (peer->data_bytes < 65535) {
        assert_int_not_equal(raw_read(peer), RAW_CLOSED);
    }
}

static void give_window(raw_peer *peer, uint8_t bytes[4])
{
    raw_frame(peer, NGHTTP2_WINDOW_UPDATE, 0, 0, bytes, 4);
    raw_frame(peer, NGHTTP2_WINDOW_UPDATE, 0, 1, bytes, 4);
}

static void who_does_not_read_does_not_keep_the_calls_of_others_out(void **state)
{
    (void)state;
    static raw_peer readers[READERS];
    rig it;
    rig_open(&it, &(rig_options){.server.outbound_bytes_max = 600000,
                                 .server.call_mark_bytes = 300000,
                                 .with_clock = true});
    for (int i = 0; i < READERS; i++) {
        connect_reader(&it, &readers[i]);
    }
    rig_settle(&it);
    uint64_t waits = ms_grpc_server_get_stats(it.server).outbound_bytes;
    assert_true(waits > 900000 && waits < 1000000);
    /* Others have less than their share, and get their calls. A reader is told to try again. */
    rig_check_works(&it);
    assert_int_equal(ms_grpc_server_get_stats(it.server).refused, 0);
    raw_headers(&readers[0], RAW_END_BOTH, 3, RAW_REQUEST("/t/Echo"));
    assert_int_equal(raw_read_until(&readers[0], RAW_STREAM_END), RAW_STREAM_END);
    assert_true(raw_has(&readers[0], "grpc-status=14;"));
    assert_int_equal(ms_grpc_server_get_stats(it.server).refused, 1);
    assert_int_equal(ms_grpc_server_get_stats(it.server).evicted, 0);
    /* They had their time: as many as necessary end. */
    rig_advance(&it, 6 * S_NS);
    assert_int_equal(it.canceled, 0);
    rig_check_works(&it);
    assert_int_equal(ms_grpc_server_get_stats(it.server).evicted, 2);
    assert_int_equal(it.canceled, 2);
    assert_true(ms_grpc_server_get_stats(it.server).outbound_bytes <= 600000);
    rig_advance(&it, 60 * S_NS);
    rig_check_works(&it);
    assert_int_equal(ms_grpc_server_get_stats(it.server).evicted, 2);
    for (int i = 0; i < READERS; i++) {
        raw_close(&readers[i]);
    }
    rig_close(&it);
}

static void a_reader_that_takes_a_byte_a_second_has_not_read(void **state)
{
    (void)state;
    static raw_peer slow;
    static raw_peer steady;
    rig it;
    rig_open(&it, &(rig_options){.server.outbound_bytes_max = 190000,
                                 .server.call_mark_bytes = 300000,
                                 .with_clock = true});
    connect_reader(&it, &slow);
    connect_reader(&it, &steady);
    int times_full = 0;
    for (int i = 0; i < 20; i++) {
        rig_advance(&it, S_NS);
        give_window(&slow, (uint8_t[]){0, 0, 0, 1});
        give_window(&steady, (uint8_t[]){0, 0, 0x50, 0});
        rig_settle(&it);
        times_full += ms_grpc_server_get_stats(it.server).outbound_bytes > 190000;
        probe call = {.path = "/t/Echo", .request = "x"};
        probe_run(&it, &call);
        bool is_full = i < 5; /* more than twice of what may wait */
        assert_int_equal(call.code, is_full ? MS_GRPC_UNAVAILABLE : MS_GRPC_OK);
        assert_int_equal(ms_grpc_server_get_stats(it.server).evicted, is_full ? 0 : 1);
    }
    assert_true(times_full > 10);
    assert_int_equal(raw_read_until(&slow, RAW_CLOSED), RAW_CLOSED);
    assert_true(raw_is_alive(&steady));
    raw_close(&slow);
    raw_close(&steady);
    rig_close(&it);
}

/* Addresses. */

static void loopback_addresses_are_known(void **state)
{
    (void)state;
    static const char *const near[] = {"127.0.0.1:1",          "127.9.9.9:0",  "[::1]:80",
                                       "localhost:80",         "LocalHost:80", "unix:/x",
                                       "[::ffff:127.0.0.1]:80"};
    static const char *const far[] = {"0.0.0.0:1",
                                      "[::]:80",
                                      "10.0.0.1:80",
                                      "example.com:80",
                                      "localhost.example:80",
                                      "127.0.0.1.example:80",
                                      "nonsense",
                                      ""};
    for (size_t i = 0; i < sizeof(near) / sizeof(near[0]); i++) {
        ms_status st = {0};
        assert_true(ms_grpc_address_is_loopback(ms_str_cstr(near[i])));
        assert_ok(ms_grpc_address_check(ms_str_cstr(near[i]), &st));
    }
    for (size_t i = 0; i < sizeof(far) / sizeof(far[0]); i++) {
        ms_status st = {0};
        bool is_one = strchr(far[i], ':') != NULL;
        assert_false(ms_grpc_address_is_loopback(ms_str_cstr(far[i])));
        assert_int_equal(ms_grpc_address_check(ms_str_cstr(far[i]), &st),
                         is_one ? MS_OK : MS_INVALID_OPTION);
    }
}

/* Everything at once: calls of all kinds on several connections and loops, and an end in the middle
 * of it. */

static void a_crowd_of_calls_ends_well(void **state)
{
    (void)state;
    static const char *const paths[] = {"/t/Echo",  "/t/Stream", "/t/Hold",   "/t/Fail",
                                        "/t/Eager", "/t/Sink",   "/t/Nothing"};
    static probe calls[210];
    static const ms_grpc_pair pairs[] = {{{"count", 5}, {"20", 2}}, {{"size", 4}, {"3000", 4}}};
    for (int round = 0; round < 4; round++) {
        rig it;
        rig_open(&it, &(rig_options){.server_loop_count = 1 + round % 2,
                                     .channel.connections_max = 4,
                                     .channel.connections_min = 2,
                                     .channel.calls_per_connection = 20});
        for (int i = 0; i < 210; i++) {
            calls[i] = (probe){.path = paths[i % 7], .request = "x", .pairs = pairs};
            calls[i].pair_count = 2;
            if (round % 2 == 1 && i % 7 == 2) {
                calls[i].path = "/t/Echo"; /* what is held is for one loop only */
            }
            probe_start(&it, &calls[i]);
            if (i % 10 == 9) {
                probe_cancel(&calls[i - 3]);
            }
        }
        if (round >= 2) {
            ms_grpc_server_destroy(it.server, 0);
            it.server = NULL;
        } else {
            rig_wait_started(&it, 100);
        }
        rig_close(&it);
        for (int i = 0; i < 210; i++) {
            assert_true(calls[i].is_done);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_in_use_is_refused),
        cmocka_unit_test(a_listener_is_taken_over),
        cmocka_unit_test(a_unix_socket_works_and_is_removed),
        cmocka_unit_test(the_peer_is_named),
        cmocka_unit_test(ipv6_works_where_there_is_any),
        cmocka_unit_test(connections_are_dealt_out_to_all_loops),
        cmocka_unit_test(a_loop_that_is_stuck_gets_no_more_connections_than_some),
        cmocka_unit_test(connections_beyond_the_limit_are_closed_when_all_have_calls),
        cmocka_unit_test(who_says_nothing_makes_room_first_and_the_oldest_of_them),
        cmocka_unit_test(who_has_no_call_makes_room_by_goaway),
        cmocka_unit_test(one_address_does_not_get_all_connections),
        cmocka_unit_test(a_client_that_does_not_speak_http2_is_told),
        cmocka_unit_test(connections_that_linger_are_counted_and_make_room),
        cmocka_unit_test(connections_that_fail_unread_are_counted_and_make_room),
        cmocka_unit_test(a_server_without_descriptors_recovers),
        cmocka_unit_test(calls_without_the_token_are_refused),
        cmocka_unit_test(a_server_waits_for_its_calls),
        cmocka_unit_test(an_endless_call_that_begins_in_a_drain_is_ended),
        cmocka_unit_test(a_server_does_not_wait_for_endless_calls),
        cmocka_unit_test(a_server_does_not_wait_for_connections_that_linger),
        cmocka_unit_test(a_server_that_does_not_wait_cancels_its_calls),
        cmocka_unit_test(a_handler_keeps_its_call_after_a_cancel),
        cmocka_unit_test(a_handler_begins_its_answer_after_the_deadline),
        cmocka_unit_test(who_does_not_read_does_not_keep_the_calls_of_others_out),
        cmocka_unit_test(a_reader_that_takes_a_byte_a_second_has_not_read),
        cmocka_unit_test(loopback_addresses_are_known),
        cmocka_unit_test(a_crowd_of_calls_ends_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
