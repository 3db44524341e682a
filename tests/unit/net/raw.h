/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A peer that is no HTTP/2 library: it writes frames byte by byte, right or wrong, and writes down
 * what comes back. It blocks, so the test itself is the script.
 *
 *     raw_peer peer;
 *     raw_connect(&peer, port);              or raw_accept(&peer, listen_fd)
 *     raw_start(&peer);                      the preface (a client's) and SETTINGS
 *     raw_request(&peer, 1, "/t/Echo", ...);
 *     raw_read_until(&peer, RAW_STREAM_END);
 */
#ifndef MS_TESTS_UNIT_NET_RAW_H
#define MS_TESTS_UNIT_NET_RAW_H

#include "testing.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <sys/socket.h>

#define RAW_PREFACE "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
#define RAW_BYTES_MAX (1u << 20)

typedef enum raw_event {
    RAW_NOTHING,
    RAW_SETTINGS,
    RAW_SETTINGS_ACK,
    RAW_HEADERS,
    RAW_STREAM_END, /* END_STREAM came, on any stream */
    RAW_DATA,
    RAW_RST,
    RAW_PING,
    RAW_PING_ACK,
    RAW_GOAWAY,
    RAW_OTHER,
    RAW_CLOSED
} raw_event;

typedef struct raw_peer {
    int fd;
    bool is_server;
    nghttp2_hd_inflater *inflater;
    char bytes[RAW_BYTES_MAX]; /* not yet taken apart */
    size_t count;
    /* Of the last frame. */
    uint8_t type;
    uint8_t flags;
    int32_t stream;
    char payload[RAW_BYTES_MAX];
    size_t payload_bytes;
    /* Of all frames. */
    char fields[16384]; /* "name=value;" of all header blocks */
    size_t fields_bytes;
    uint64_t data_bytes;
    uint32_t rst_error;
    uint32_t goaway_error;
    int32_t goaway_last;
    char goaway_debug[64];
    int goaway_count;
    int ping_count;
    bool is_reset; /* it was not closed in order */
} raw_peer;

static inline void raw_init(raw_peer *peer, int fd, bool is_server)
{
    int on = 1; /* or a frame written in two pieces takes 40 ms */
    memset(peer, 0, sizeof(*peer));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    peer->fd = fd;
    peer->is_server = is_server;
    assert_int_equal(nghttp2_hd_inflate_new(&peer->inflater), 0);
}

/* A socket that is connected to a port of 127.0.0.1. */
static inline int raw_socket(uint16_t port)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(port),
                             .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

static inline void raw_connect(raw_peer *peer, uint16_t port)
{
    raw_init(peer, raw_socket(port), false);
}

/* A socket that listens on a free port of 127.0.0.1. */
static inline int raw_listen(uint16_t *port_out)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t bytes = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
    assert_int_equal(listen(fd, 16), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &bytes), 0);
    *port_out = ntohs(at.sin_port);
    return fd;
}

static inline void raw_accept(raw_peer *peer, int listen_fd)
{
    int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC);
    assert_true(fd >= 0);
    raw_init(peer, fd, true);
}

static inline void raw_close(raw_peer *peer)
{
    if (peer->fd >= 0) {
        close(peer->fd);
    }
    nghttp2_hd_inflate_del(peer->inflater);
    peer->fd = -1;
}

/* Writing. The peer may be gone: then nothing is written. */

static inline void raw_write(raw_peer *peer, const void *bytes, size_t count)
{
    const char *at = bytes;
    while (count > 0) {
        ssize_t written = send(peer->fd, at, count, MSG_NOSIGNAL);
        if (written <= 0) {
            return;
        }
        at += written;
        count -= (size_t)written;
    }
}

static inline void raw_frame(raw_peer *peer, uint8_t type, uint8_t flags, int32_t stream,
                             const void *payload, size_t bytes)
{
    unsigned char head[9] = {(unsigned char)(bytes >> 16),
                             (unsigned char)(bytes >> 8),
                             (unsigned char)bytes,
                             type,
                             flags,
                             (unsigned char)((uint32_t)stream >> 24),
                             (unsigned char)((uint32_t)stream >> 16),
                             (unsigned char)((uint32_t)stream >> 8),
                             (unsigned char)stream};
    raw_write(peer, head, sizeof(head));
    raw_write(peer, payload, bytes);
}

static inline void raw_start(raw_peer *peer)
{
    if (!peer->is_server) {
        raw_write(peer, RAW_PREFACE, 24);
    }
    raw_frame(peer, NGHTTP2_SETTINGS, 0, 0, NULL, 0);
}

static inline size_t raw_add_text(char *out, const char *text)
{
    size_t bytes = strlen(text);
    if (bytes < 127) {
        out[0] = (char)bytes;
        memcpy(out + 1, text, bytes);
        return bytes + 1;
    }
    size_t rest = bytes - 127;
    size_t at = 0;
    out[at++] = 127;
    while (rest >= 128) {
        out[at++] = (char)(rest % 128 + 128);
        rest /= 128;
    }
    out[at++] = (char)rest;
    memcpy(out + at, text, bytes);
    return at + bytes;
}

/* fields: "name=value;name=value;", literal and never indexed. */
static inline size_t raw_block(char block[RAW_BYTES_MAX], const char *fields)
{
    static char text[RAW_BYTES_MAX];
    size_t at = 0;
    snprintf(text, sizeof(text), "%s", fields);
    char *field = text;
    while (*field != '\0') {
        char *equals = strchr(field + 1, '='); /* a name may begin with any byte */
        char *end = strchr(equals + 1, ';');
        *equals = '\0';
        *end = '\0';
        block[at++] = 0x10;
        at += raw_add_text(block + at, field);
        at += raw_add_text(block + at, equals + 1);
        field = end + 1;
    }
    return at;
}

/* A header block in one frame. The flags say what follows. */
static inline void raw_headers(raw_peer *peer, uint8_t flags, int32_t stream, const char *fields)
{
    static char block[RAW_BYTES_MAX];
    size_t bytes = raw_block(block, fields);
    raw_frame(peer, NGHTTP2_HEADERS, flags, stream, block, bytes);
}

#define RAW_REQUEST(path)                                                                          \
    ":method=POST;:scheme=http;:path=" path                                                        \
    ";:authority=test;te=trailers;content-type=application/grpc;"
#define RAW_END_HEADERS NGHTTP2_FLAG_END_HEADERS
#define RAW_END_BOTH (NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM)

/* A gRPC message in one DATA frame. */
static inline void raw_message(raw_peer *peer, int32_t stream, uint8_t flags, const char *text)
{
    static char data[RAW_BYTES_MAX];
    size_t bytes = strlen(text);
    data[0] = 0;
    data[1] = 0;
    data[2] = 0;
    data[3] = (char)(bytes >> 8);
    data[4] = (char)bytes;
    memcpy(data + 5, text, bytes);
    raw_frame(peer, NGHTTP2_DATA, flags, stream, data, bytes + 5);
}

/* Of a client, instead of raw_start: wide windows, and a call that is sent more than the sockets
 * hold. This one holds little. */
static inline void raw_start_greedy(raw_peer *peer)
{
    int small = 4096;
    setsockopt(peer->fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
    raw_write(peer, RAW_PREFACE, 24);
    raw_frame(peer, NGHTTP2_SETTINGS, 0, 0, "\0\x04\x7f\xff\xff\xff", 6);
    raw_frame(peer, NGHTTP2_WINDOW_UPDATE, 0, 0, "\x7f\xf0\0\0", 4);
    raw_headers(peer, RAW_END_BOTH, 1, RAW_REQUEST("/t/Stream") "count=1000000000;size=100000;");
}

/* Reading. */

static inline bool raw_fill(raw_peer *peer, size_t wanted)
{
    while (peer->count < wanted) {
        ssize_t got =
            recv(peer->fd, peer->bytes + peer->count, sizeof(peer->bytes) - peer->count, 0);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            peer->is_reset = got < 0;
            return false;
        }
        peer->count += (size_t)got;
    }
    return true;
}

static inline void raw_take(raw_peer *peer, size_t bytes)
{
    peer->count -= bytes;
    memmove(peer->bytes, peer->bytes + bytes, peer->count);
}

static inline uint32_t raw_u32(const char *at)
{
    const unsigned char *b = (const unsigned char *)at;
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static inline void raw_inflate(raw_peer *peer)
{
    const uint8_t *in = (const uint8_t *)peer->payload;
    size_t left = peer->payload_bytes;
    for (;;) {
        nghttp2_nv nv;
        int flags = 0;
        ssize_t used = nghttp2_hd_inflate_hd2(peer->inflater, &nv, &flags, in, left, 1);
        assert_true(used >= 0);
        in += used;
        left -= (size_t)used;
        if (flags & NGHTTP2_HD_INFLATE_EMIT) {
            peer->fields_bytes += (size_t)snprintf(
                peer->fields + peer->fields_bytes, sizeof(peer->fields) - peer->fields_bytes,
                "%.*s=%.*s;", (int)nv.namelen, nv.name, (int)nv.valuelen, nv.value);
            assert_true(peer->fields_bytes < sizeof(peer->fields));
        }
        if (flags & NGHTTP2_HD_INFLATE_FINAL) {
            nghttp2_hd_inflate_end_headers(peer->inflater);
            return;
        }
    }
}

static inline raw_event raw_note_goaway(raw_peer *peer)
{
    peer->goaway_count++;
    peer->goaway_last = (int32_t)raw_u32(peer->payload);
    peer->goaway_error = raw_u32(peer->payload + 4);
    snprintf(peer->goaway_debug, sizeof(peer->goaway_debug), "%.*s", (int)(peer->payload_bytes - 8),
             peer->payload + 8);
    return RAW_GOAWAY;
}

/* Writes down the last frame. */
static inline raw_event raw_note(raw_peer *peer)
{
    bool is_end = (peer->flags & NGHTTP2_FLAG_END_STREAM) != 0;
    bool is_ack = (peer->flags & NGHTTP2_FLAG_ACK) != 0;
    switch (peer->type) {
    case NGHTTP2_SETTINGS:
        return is_ack ? RAW_SETTINGS_ACK : RAW_SETTINGS;
    case NGHTTP2_PING:
        peer->ping_count += !is_ack;
        return is_ack ? RAW_PING_ACK : RAW_PING;
    case NGHTTP2_HEADERS:
        raw_inflate(peer);
        return is_end ? RAW_STREAM_END : RAW_HEADERS;
    case NGHTTP2_DATA:
        peer->data_bytes += peer->payload_bytes;
        return is_end ? RAW_STREAM_END : RAW_DATA;
    case NGHTTP2_RST_STREAM:
        peer->rst_error = raw_u32(peer->payload);
        return RAW_RST;
    case NGHTTP2_GOAWAY:
        return raw_note_goaway(peer);
    default:
        return RAW_OTHER;
    }
}

/* Reads one frame. */
static inline raw_event raw_read(raw_peer *peer)
{
    if (!raw_fill(peer, 9)) {
        return RAW_CLOSED;
    }
    size_t bytes = raw_u32(peer->bytes) >> 8;
    peer->type = (uint8_t)peer->bytes[3];
    peer->flags = (uint8_t)peer->bytes[4];
    peer->stream = (int32_t)(raw_u32(peer->bytes + 5) & 0x7fffffff);
    assert_true(bytes <= sizeof(peer->payload) - 9);
    if (!raw_fill(peer, 9 + bytes)) {
        return RAW_CLOSED;
    }
    memcpy(peer->payload, peer->bytes + 9, bytes);
    peer->payload_bytes = bytes;
    raw_take(peer, 9 + bytes);
    return raw_note(peer);
}

/* Reads frames until one of this kind, or the end. */
static inline raw_event raw_read_until(raw_peer *peer, raw_event wanted)
{
    raw_event event = RAW_NOTHING;
    do {
        event = raw_read(peer);
    } while (event != wanted && event != RAW_CLOSED);
    return event;
}

/* Of a server: reads the client's preface and its SETTINGS, and answers. */
static inline void raw_serve(raw_peer *peer)
{
    assert_true(raw_fill(peer, 24));
    assert_memory_equal(peer->bytes, RAW_PREFACE, 24);
    raw_take(peer, 24);
    raw_start(peer);
    assert_int_equal(raw_read_until(peer, RAW_SETTINGS), RAW_SETTINGS);
    raw_frame(peer, NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, NULL, 0);
}

/* The connection is alive: a ping is answered. Frames before the answer are written down. */
static inline bool raw_is_alive(raw_peer *peer)
{
    raw_frame(peer, NGHTTP2_PING, 0, 0, "12345678", 8);
    return raw_read_until(peer, RAW_PING_ACK) == RAW_PING_ACK;
}

static inline bool raw_has(const raw_peer *peer, const char *text)
{
    return strstr(peer->fields, text) != NULL;
}

#endif
