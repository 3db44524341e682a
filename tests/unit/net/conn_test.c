/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/env.h"
#include "base/memory.h"
#include "net/conn_priv.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdatomic.h>
#include <sys/socket.h>

/* A connection that writes down what happens, over one end of a pair of sockets. */
typedef struct end {
    msi_conn conn; /* first */
    ms_loop *loop;
    int other; /* the other end, which blocks */
    size_t to_send;
    size_t pulled; /* of to_send, so far */
    size_t received;
    bool sends_more;
    bool ends_when_asked;
    bool lingers;
    _Atomic int opened;
    _Atomic int lost;
    _Atomic int closed;
    ms_status why;
    ms_parker parker;
} end;

static void on_open(msi_conn *conn)
{
    end *own = MSI_OWNER(conn, end, conn);
    own->opened++;
}

static void on_bytes(msi_conn *conn, ms_str bytes)
{
    end *own = MSI_OWNER(conn, end, conn);
    for (size_t i = 0; i < bytes.bytes; i++) {
        assert_int_equal((unsigned char)bytes.ptr[i], (own->received + i) % 251);
    }
    own->received += bytes.bytes;
    if (own->ends_when_asked) {
        msi_conn_end(conn);
    }
}

static void on_pull(msi_conn *conn)
{
    end *own = MSI_OWNER(conn, end, conn);
    while (own->pulled < own->to_send && msi_conn_room(conn) > 0) {
        size_t left = own->to_send - own->pulled;
        size_t bytes = left < 10000 ? left : 10000;
        char *out = msi_conn_extend(conn, bytes);
        for (size_t i = 0; i < bytes; i++) {
            out[i] = (char)((own->pulled + i) % 251);
        }
        own->pulled += bytes;
    }
}

static void on_lost(msi_conn *conn, const ms_status *why)
{
    end *own = MSI_OWNER(conn, end, conn);
    own->why = *why;
    own->lost++;
    msi_conn_close(conn);
    msi_conn_close(conn);
}

static void on_closed(msi_conn *conn)
{
    end *own = MSI_OWNER(conn, end, conn);
    own->closed++;
    ms_parker_unpark(&own->parker);
}

static const msi_conn_class end_class = {.on_open = on_open,
                                         .on_bytes = on_bytes,
                                         .on_pull = on_pull,
                                         .on_lost = on_lost,
                                         .on_closed = on_closed};

typedef struct start_request {
    end *own;
    int fd;
} start_request;

static void start_now(void *arg)
{
    start_request *request = arg;
    ms_status st = {0};
    msi_conn_init(&request->own->conn, &end_class, request->own->loop);
    request->own->conn.may_linger = request->own->lingers;
    assert_ok(msi_conn_start(&request->own->conn, request->fd, NULL, NULL, &st));
}

static void open_over(end *own, size_t to_send, bool lingers, const int fds[2])
{
    ms_status st = {0};
    assert_int_equal(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
    memset(own, 0, sizeof(*own));
    own->other = fds[1];
    own->to_send = to_send;
    own->lingers = lingers;
    ms_parker_init(&own->parker);
    assert_ok(ms_loop_create("loop", &own->loop, &st));
    ms_loop_call(own->loop, start_now, &(start_request){own, fds[0]});
}

static void open_end(end *own, size_t to_send)
{
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    open_over(own, to_send, false, fds);
}

static void wait_closed(end *own)
{
    while (!ms_parker_park(&own->parker, MS_PARK_FOREVER)) {
    }
    assert_int_equal(own->closed, 1);
}

static void close_now(void *arg)
{
    end *own = arg;
    msi_conn_close(&own->conn);
}

static void close_end(end *own)
{
    close(own->other);
    ms_loop_destroy(own->loop);
}

static size_t read_pattern(int fd, size_t bytes)
{
    static unsigned char buffer[65536];
    size_t total = 0;
    while (total < bytes) {
        size_t wanted = bytes - total < sizeof(buffer) ? bytes - total : sizeof(buffer);
        ssize_t count = recv(fd, buffer, wanted, 0);
        if (count <= 0) {
            break;
        }
        for (ssize_t i = 0; i < count; i++) {
            assert_int_equal(buffer[i], (total + (size_t)i) % 251);
        }
        total += (size_t)count;
    }
    return total;
}

static void do_nothing(void *arg)
{
    (void)arg;
}

static void output_of_any_size_arrives_in_order(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 9999, 262144, 262145, 3 << 20};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        end own;
        open_end(&own, sizes[i]);
        assert_int_equal(read_pattern(own.other, sizes[i]), sizes[i]);
        ms_loop_call(own.loop, close_now, &own);
        wait_closed(&own);
        assert_int_equal(own.opened, 1);
        assert_int_equal(own.lost, 0);
        close_end(&own);
    }
}

static void a_peer_that_does_not_read_stops_the_pulling(void **state)
{
    (void)state;
    end own;
    open_end(&own, 100 << 20);
    for (int i = 0; i < 50; i++) {
        ms_loop_call(own.loop, do_nothing, NULL);
    }
    /* What the two sockets hold, and one buffer. */
    assert_true(own.pulled < 2 << 20);
    assert_true(own.conn.blocked_ns != 0);
    size_t before = own.pulled;
    assert_int_equal(read_pattern(own.other, 1 << 20), 1 << 20);
    while (own.pulled == before) {
        ms_loop_call(own.loop, do_nothing, NULL);
    }
    ms_loop_call(own.loop, close_now, &own);
    wait_closed(&own);
    close_end(&own);
}

static void input_arrives_in_order(void **state)
{
    (void)state;
    end own;
    open_end(&own, 0);
    static unsigned char bytes[1000003];
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (unsigned char)(i % 251);
    }
    size_t sent = 0;
    while (sent < sizeof(bytes)) {
        ssize_t count = send(own.other, bytes + sent, sizeof(bytes) - sent, MSG_NOSIGNAL);
        assert_true(count > 0);
        sent += (size_t)count;
    }
    shutdown(own.other, SHUT_WR);
    wait_closed(&own);
    assert_int_equal(own.received, sizeof(bytes));
    assert_int_equal(own.lost, 1);
    assert_string_equal(own.why.message, "the peer closed the connection");
    close_end(&own);
}

static void a_peer_that_goes_is_lost_once(void **state)
{
    (void)state;
    end own;
    open_end(&own, 10 << 20);
    assert_int_equal(read_pattern(own.other, 1000), 1000);
    close(own.other);
    wait_closed(&own);
    assert_int_equal(own.lost, 1);
    assert_int_equal(own.why.code, MS_IO_ERROR);
    ms_loop_destroy(own.loop);
}

/* Within one turn: the peer speaks and goes, and before that is seen, something is to be sent. */
static void go_and_send(void *arg)
{
    end *own = arg;
    char bytes[1000];
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (char)(i % 251);
    }
    assert_int_equal(send(own->other, bytes, sizeof(bytes), 0), sizeof(bytes));
    close(own->other);
    own->to_send = 10;
    msi_conn_flush(&own->conn);
}

static void what_a_peer_said_before_it_went_is_read(void **state)
{
    (void)state;
    end own;
    open_end(&own, 0);
    while (own.opened == 0) {
        ms_loop_call(own.loop, do_nothing, NULL);
    }
    ms_loop_call(own.loop, go_and_send, &own);
    wait_closed(&own);
    assert_int_equal(own.received, 1000);
    assert_int_equal(own.lost, 1);
    assert_int_equal(own.why.code, MS_IO_ERROR);
    assert_string_equal(own.why.message, "the connection was lost while sending");
    ms_loop_destroy(own.loop);
}

static void a_connection_may_be_closed_before_it_opens(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        end own;
        open_end(&own, 1000);
        ms_loop_call(own.loop, close_now, &own);
        ms_loop_call(own.loop, close_now, &own);
        wait_closed(&own);
        assert_int_equal(own.lost, 0);
        close_end(&own);
    }
}

static void an_end_comes_after_everything_was_sent(void **state)
{
    (void)state;
    end own;
    open_end(&own, 2 << 20);
    own.ends_when_asked = true;
    assert_int_equal(send(own.other, "", 1, 0), 1);
    assert_int_equal(read_pattern(own.other, 2 << 20), 2 << 20);
    wait_closed(&own);
    assert_int_equal(own.lost, 1);
    assert_int_equal(own.why.code, MS_OK);
    char byte = 0;
    assert_int_equal(recv(own.other, &byte, 1, 0), 0);
    close_end(&own);
}

/* Lingering. Over TCP, where a reset takes with it what the peer has not read. */

/* With receive_bytes the second one has little room for what it does not read. */
static void make_tcp_pair(int receive_bytes, int fds_out[2])
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t bytes = sizeof(at);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&at, &bytes), 0);
    fds_out[1] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (receive_bytes > 0) {
        int rc =
            setsockopt(fds_out[1], SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof(receive_bytes));
        assert_int_equal(rc, 0);
    }
    assert_int_equal(connect(fds_out[1], (struct sockaddr *)&at, sizeof(at)), 0);
    fds_out[0] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    assert_true(fds_out[0] >= 0);
    close(listener);
}

static void end_now(void *arg)
{
    end *own = arg;
    msi_conn_end(&own->conn);
}

/* A connection that was ended while the peer is still sending. */
static void open_lingering(end *own, size_t to_send)
{
    int fds[2];
    make_tcp_pair(0, fds);
    open_over(own, to_send, true, fds);
    ms_loop_call(own->loop, end_now, own);
    while (own->lost == 0) {
        assert_true(send(own->other, "unread", 6, MSG_NOSIGNAL) > 0);
        ms_loop_call(own->loop, do_nothing, NULL);
    }
    assert_int_equal(own->why.code, MS_OK);
}

static void a_peer_that_still_sends_reads_everything_and_the_end(void **state)
{
    (void)state;
    end own;
    open_lingering(&own, 100000);
    /* Bytes that come after the end are no reason for a reset either. */
    for (int i = 0; i < 20; i++) {
        assert_int_equal(send(own.other, "more", 4, MSG_NOSIGNAL), 4);
        ms_loop_call(own.loop, do_nothing, NULL);
    }
    assert_int_equal(read_pattern(own.other, 100000), 100000);
    char byte = 0;
    assert_int_equal(recv(own.other, &byte, 1, 0), 0);
    assert_int_equal(own.closed, 0);
    assert_int_equal(own.received, 0);
    close(own.other);
    wait_closed(&own);
    assert_int_equal(own.lost, 1);
    ms_loop_destroy(own.loop);
}

static void a_peer_that_does_not_go_is_left_after_a_second(void **state)
{
    (void)state;
    end own;
    ms_env_clock clock = {.wall_us = 1700000000000000, .mono_ns = 1000000000000};
    ms_env_set_clock(&clock);
    open_lingering(&own, 1000);
    assert_int_equal(read_pattern(own.other, 1000), 1000);
    for (int i = 0; i < 9; i++) {
        ms_env_clock_advance_us(&clock, 100000);
        ms_loop_call(own.loop, do_nothing, NULL);
        ms_loop_call(own.loop, do_nothing, NULL);
        assert_int_equal(own.closed, 0);
    }
    /* The second may begin anew when the peer's word that it has everything came late. */
    for (int i = 0; i < 11; i++) {
        ms_env_clock_advance_us(&clock, 100000);
        ms_loop_call(own.loop, do_nothing, NULL);
    }
    wait_closed(&own);
    close_end(&own);
    ms_env_set_clock(NULL);
}

static void a_peer_that_does_not_stop_sending_is_left(void **state)
{
    (void)state;
    static char bytes[65536];
    end own;
    ms_env_clock clock = {.wall_us = 1700000000000000, .mono_ns = 1000000000000};
    ms_env_set_clock(&clock);
    open_lingering(&own, 1000);
    size_t sent = 0;
    ssize_t count = 0;
    while ((count = send(own.other, bytes, sizeof(bytes), MSG_NOSIGNAL)) > 0) {
        sent += (size_t)count;
    }
    wait_closed(&own);
    assert_true(sent >= 16u << 20);
    close_end(&own);
    ms_env_set_clock(NULL);
}

static void cut_now(void *arg)
{
    end *own = arg;
    msi_conn_cut(&own->conn);
}

static void lingering_can_be_cut_short(void **state)
{
    (void)state;
    end own;
    ms_env_clock clock = {.wall_us = 1700000000000000, .mono_ns = 1000000000000};
    ms_env_set_clock(&clock);
    open_lingering(&own, 1000);
    assert_int_equal(own.closed, 0);
    ms_loop_call(own.loop, cut_now, &own);
    ms_loop_call(own.loop, cut_now, &own);
    wait_closed(&own);
    close_end(&own);
    ms_env_set_clock(NULL);
}

static void hurry_now(void *arg)
{
    end *own = arg;
    msi_conn_hurry(&own->conn);
}

/* In a hurry it is enough that the peer's system has everything. */
static void in_a_hurry_a_connection_lingers_only_while_its_bytes_are_on_their_way(void **state)
{
    (void)state;
    end own;
    int fds[2];
    int send_bytes = 200000;
    char byte = 0;
    /* What the peer has no room for stays in the socket's own buffer. */
    make_tcp_pair(4096, fds);
    setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &send_bytes, sizeof(send_bytes));
    open_over(&own, 100000, true, fds);
    ms_loop_call(own.loop, hurry_now, &own);
    ms_loop_call(own.loop, end_now, &own);
    while (own.lost == 0) {
        ms_loop_call(own.loop, do_nothing, NULL);
    }
    for (int i = 0; i < 20; i++) {
        assert_int_equal(send(own.other, "more", 4, MSG_NOSIGNAL), 4);
        ms_loop_call(own.loop, do_nothing, NULL);
    }
    assert_int_equal(own.closed, 0);
    assert_int_equal(read_pattern(own.other, 100000), 100000);
    assert_int_equal(recv(own.other, &byte, 1, 0), 0);
    wait_closed(&own); /* though the peer keeps its end open */
    close_end(&own);
}

static void start_badly(void *arg)
{
    end *own = arg;
    ms_status st = {0};
    /* A file cannot be polled. */
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    msi_conn_init(&own->conn, &end_class, own->loop);
    assert_int_equal(msi_conn_start(&own->conn, fd, NULL, NULL, &st), MS_IO_ERROR);
    assert_int_equal(fcntl(fd, F_GETFD), -1);
    msi_conn_close(&own->conn);
    assert_int_equal(own->closed, 0);
}

static void a_connection_that_does_not_start_is_closed_like_others(void **state)
{
    (void)state;
    end own;
    ms_status st = {0};
    memset(&own, 0, sizeof(own));
    ms_parker_init(&own.parker);
    assert_ok(ms_loop_create("loop", &own.loop, &st));
    ms_loop_call(own.loop, start_badly, &own);
    wait_closed(&own);
    assert_int_equal(own.lost, 0);
    ms_loop_destroy(own.loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_of_any_size_arrives_in_order),
        cmocka_unit_test(a_peer_that_does_not_read_stops_the_pulling),
        cmocka_unit_test(input_arrives_in_order),
        cmocka_unit_test(a_peer_that_goes_is_lost_once),
        cmocka_unit_test(what_a_peer_said_before_it_went_is_read),
        cmocka_unit_test(a_connection_may_be_closed_before_it_opens),
        cmocka_unit_test(an_end_comes_after_everything_was_sent),
        cmocka_unit_test(a_peer_that_still_sends_reads_everything_and_the_end),
        cmocka_unit_test(a_peer_that_does_not_go_is_left_after_a_second),
        cmocka_unit_test(a_peer_that_does_not_stop_sending_is_left),
        cmocka_unit_test(lingering_can_be_cut_short),
        cmocka_unit_test(in_a_hurry_a_connection_lingers_only_while_its_bytes_are_on_their_way),
        cmocka_unit_test(a_connection_that_does_not_start_is_closed_like_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
