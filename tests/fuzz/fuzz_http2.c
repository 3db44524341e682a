/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of the server's side of HTTP/2 and gRPC: the input is what a client sends, over a
 * real socket, to a server that stays up for the whole run. The first byte says how: with a preface
 * and SETTINGS in front (so that most inputs get that far), in how many pieces, and which of
 * several requests comes before the input. Afterwards the server must close the connection, keep no
 * call, hold no bytes, and answer a well-formed request.
 */
#include "base/memory.h"
#include "base/str.h"
#include "net/grpc_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define BYTES(literal) ((ms_str){"" literal, sizeof(literal) - 1})
#define PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0"

/* :method POST, :scheme http, :path /e, :authority t, te, content-type: 40 bytes. */
#define FIELDS                                                                                     \
    "\x83\x86\x04\x02/e\x01\x01t\x00\x02te\x08trailers\x5f\x10"                                    \
    "application/grpc"

/* Stream 1: a call that waits for messages, and one that was ended. */
#define OPEN_REQUEST "\0\0\x28\x01\x04\0\0\0\x01" FIELDS
#define WHOLE_REQUEST OPEN_REQUEST "\0\0\x07\0\x01\0\0\0\x01\0\0\0\0\x02hi"

static const ms_str beginnings[] = {
    {"", 0}, BYTES(PREFACE), BYTES(PREFACE OPEN_REQUEST), BYTES(PREFACE WHOLE_REQUEST)};

static ms_grpc_server *server;
static ms_loop *loop;

/* Echoes, and pauses after messages that begin with a p until the next comes. */

static void on_start(ms_grpc_server_call *call, const ms_grpc_server_start *start, void *arg)
{
    (void)arg;
    (void)call;
    for (size_t i = 0; i < start->metadata.count; i++) {
        MS_ASSERT(start->metadata.pairs[i].key.bytes > 0);
    }
}

static void on_message(ms_grpc_server_call *call, ms_str message)
{
    ms_grpc_server_call_send(call, (ms_grpc_message){.bytes = message});
    if (message.bytes > 0 && message.ptr[0] == 'p') {
        ms_grpc_server_call_pause(call);
        ms_grpc_server_call_resume(call);
    }
}

static void on_half_close(ms_grpc_server_call *call)
{
    ms_grpc_server_call_finish(call, &(ms_grpc_result){.code = MS_GRPC_OK});
}

static void on_cancel(ms_grpc_server_call *call)
{
    ms_grpc_server_call_finish(call, &(ms_grpc_result){.code = MS_GRPC_CANCELLED});
}

static const ms_grpc_server_events events = {.on_start = on_start,
                                             .on_message = on_message,
                                             .on_half_close = on_half_close,
                                             .on_cancel = on_cancel};

static void start_server(void)
{
    ms_status st = {0};
    ms_rc rc = ms_loop_create("fuzz", &loop, &st);
    MS_ASSERT(rc == MS_OK);
    ms_grpc_server_options options = {.loops = &loop,
                                      .loop_count = 1,
                                      .listen = ms_str_lit("127.0.0.1:0"),
                                      .events = &events,
                                      .message_bytes_max = 100000,
                                      .inbound_bytes_max = 200000};
    rc = ms_grpc_server_create(&options, &server, &st);
    MS_ASSERT(rc == MS_OK);
}

static int connect_to_server(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(ms_grpc_server_port(server)),
                             .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    /* A reset instead of a wait at close: thousands of connections a second would use up ports. */
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    int on = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    MS_ASSERT(fd >= 0);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    int rc = connect(fd, (struct sockaddr *)&to, sizeof(to));
    MS_ASSERT(rc == 0);
    return fd;
}

/* False: the server has closed already. */
static bool send_all(int fd, ms_str bytes)
{
    while (bytes.bytes > 0) {
        ssize_t count = send(fd, bytes.ptr, bytes.bytes, MSG_NOSIGNAL);
        if (count <= 0) {
            return false;
        }
        bytes = ms_str_slice(bytes, (size_t)count, bytes.bytes);
    }
    return true;
}

static size_t read_to_end(int fd)
{
    static char sink[1 << 16];
    size_t total = 0;
    ssize_t count = 0;
    while ((count = recv(fd, sink, sizeof(sink), 0)) > 0) {
        total += (size_t)count;
    }
    return total;
}

static void play(ms_str beginning, ms_str input, unsigned pieces)
{
    int fd = connect_to_server();
    bool is_open = send_all(fd, beginning);
    size_t piece = input.bytes / pieces + 1;
    for (size_t at = 0; is_open && at < input.bytes; at += piece) {
        is_open = send_all(fd, ms_str_slice(input, at, at + piece));
    }
    shutdown(fd, SHUT_WR);
    (void)read_to_end(fd);
    close(fd);
}

static void check_server(void)
{
    int fd = connect_to_server();
    bool is_open = send_all(fd, BYTES(PREFACE WHOLE_REQUEST));
    char answer[9];
    MS_ASSERT(is_open);
    /* Frames up to the trailers: HEADERS with END_STREAM. */
    bool is_end = false;
    while (!is_end) {
        ssize_t count = recv(fd, answer, sizeof(answer), MSG_WAITALL);
        MS_ASSERT(count == sizeof(answer));
        is_end = answer[3] == 1 && (answer[4] & 1) != 0;
        size_t length = (size_t)(unsigned char)answer[1] << 8 | (unsigned char)answer[2];
        static char payload[1 << 16];
        count = recv(fd, payload, length, MSG_WAITALL);
        MS_ASSERT(count == (ssize_t)length);
    }
    close(fd);
    ms_grpc_server_stats stats;
    do {
        stats = ms_grpc_server_get_stats(server);
    } while (stats.connections > 0);
    MS_ASSERT(stats.calls == 0);
    MS_ASSERT(stats.inbound_bytes == 0);
    MS_ASSERT(stats.outbound_bytes == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static unsigned runs;
    if (server == NULL) {
        start_server();
    }
    if (bytes < 1) {
        return 0;
    }
    ms_str input = {(const char *)data + 1, bytes - 1};
    play(beginnings[data[0] & 3], input, 1u + (data[0] >> 2 & 3));
    if (++runs % 64 == 0) {
        check_server();
    }
    return 0;
}
