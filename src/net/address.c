/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses, and the one place where a listening socket is made. Sockets here never block and are
 * closed at exec.
 */
#include "base/num.h"
#include "net/address_priv.h"
#include "net/grpc_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define LISTEN_BACKLOG 1024 /* connections that wait to be accepted; the kernel may take fewer */

static const ms_str unix_prefix = {"unix:", 5};

/* Parsing. */

static ms_rc bad_address(ms_str text, ms_status *st)
{
    ms_status_set(st, MS_INVALID_OPTION, ms_span_none, "\"%.*s\" is not an address",
                  MS_STR_ARG(text));
    return ms_status_hint(st, "Write HOST:PORT, with an IPv6 address in brackets, or unix:PATH.");
}

static bool parse_port(ms_str text, uint16_t *port_out)
{
    uint32_t port = 0;
    if (text.bytes == 0 || text.bytes > 5) {
        return false;
    }
    for (size_t i = 0; i < text.bytes; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') {
            return false;
        }
        port = port * 10 + (uint32_t)(text.ptr[i] - '0');
    }
    *port_out = (uint16_t)port;
    return port <= UINT16_MAX;
}

/* The place of the colon before the port: behind the bracket, or the only one. */
static size_t find_port(ms_str text)
{
    if (text.bytes > 0 && text.ptr[0] == '[') {
        size_t close = ms_str_find_byte(text, ']', 0);
        bool is_followed = close < text.bytes - 1 && text.ptr[close + 1] == ':';
        return close != SIZE_MAX && is_followed ? close + 1 : SIZE_MAX;
    }
    size_t colon = ms_str_find_byte(text, ':', 0);
    bool is_only = colon != SIZE_MAX && ms_str_find_byte(text, ':', colon + 1) == SIZE_MAX;
    return is_only ? colon : SIZE_MAX;
}

static bool is_host_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_' || c == ':' || c == '%';
}

static bool copy_host(ms_str host, bool is_unix, msi_address *address)
{
    if (host.bytes == 0 || host.bytes >= sizeof(address->host)) {
        return false;
    }
    for (size_t i = 0; i < host.bytes; i++) {
        if (is_unix ? host.ptr[i] == '\0' : !is_host_byte(host.ptr[i])) {
            return false;
        }
    }
    memcpy(address->host, host.ptr, host.bytes);
    address->host[host.bytes] = '\0';
    return true;
}

ms_rc msi_address_parse(ms_str text, msi_address *address_out, ms_status *st)
{
    *address_out = (msi_address){0};
    if (ms_str_starts_with(text, unix_prefix)) {
        ms_str path = ms_str_slice(text, unix_prefix.bytes, text.bytes);
        bool fits = path.bytes < sizeof(((struct sockaddr_un *)NULL)->sun_path);
        address_out->is_unix = true;
        return fits && copy_host(path, true, address_out) ? MS_OK : bad_address(text, st);
    }
    size_t colon = find_port(text);
    if (colon == SIZE_MAX) {
        return bad_address(text, st);
    }
    ms_str host = ms_str_slice(text, 0, colon);
    if (host.bytes > 0 && host.ptr[0] == '[') {
        host = ms_str_slice(host, 1, host.bytes - 1);
    }
    if (!parse_port(ms_str_slice(text, colon + 1, text.bytes), &address_out->port) ||
        !copy_host(host, false, address_out)) {
        return bad_address(text, st);
    }
    return MS_OK;
}

/* Socket addresses. */

bool msi_address_to_socket(const msi_address *address, struct sockaddr_storage *socket_out,
                           socklen_t *bytes_out)
{
    memset(socket_out, 0, sizeof(*socket_out));
    struct sockaddr_un *local = (struct sockaddr_un *)socket_out;
    struct sockaddr_in *ip4 = (struct sockaddr_in *)socket_out;
    struct sockaddr_in6 *ip6 = (struct sockaddr_in6 *)socket_out;
    if (address->is_unix) {
        local->sun_family = AF_UNIX;
        memcpy(local->sun_path, address->host, strlen(address->host) + 1);
        *bytes_out = (socklen_t)sizeof(*local);
        return true;
    }
    if (inet_pton(AF_INET, address->host, &ip4->sin_addr) == 1) {
        ip4->sin_family = AF_INET;
        ip4->sin_port = htons(address->port);
        *bytes_out = (socklen_t)sizeof(*ip4);
        return true;
    }
    if (inet_pton(AF_INET6, address->host, &ip6->sin6_addr) == 1) {
        ip6->sin6_family = AF_INET6;
        ip6->sin6_port = htons(address->port);
        *bytes_out = (socklen_t)sizeof(*ip6);
        return true;
    }
    return false;
}

bool msi_address_socket_is_local(const struct sockaddr *socket)
{
    const struct sockaddr_in *ip4 = (const struct sockaddr_in *)(const void *)socket;
    const struct sockaddr_in6 *ip6 = (const struct sockaddr_in6 *)(const void *)socket;
    if (socket->sa_family == AF_INET) {
        return ntohl(ip4->sin_addr.s_addr) >> 24 == 127;
    }
    if (socket->sa_family == AF_INET6) {
        return IN6_IS_ADDR_LOOPBACK(&ip6->sin6_addr) ||
               (IN6_IS_ADDR_V4MAPPED(&ip6->sin6_addr) && ip6->sin6_addr.s6_addr[12] == 127);
    }
    return socket->sa_family == AF_UNIX;
}

uint64_t msi_address_network(const struct sockaddr *socket)
{
    const struct sockaddr_in *ip4 = (const struct sockaddr_in *)(const void *)socket;
    const struct sockaddr_in6 *ip6 = (const struct sockaddr_in6 *)(const void *)socket;
    const uint64_t of_ip4 = UINT64_C(0xffff) << 32; /* as in ::ffff:1.2.3.4 */
    if (socket->sa_family == AF_INET) {
        return of_ip4 | ntohl(ip4->sin_addr.s_addr);
    }
    if (socket->sa_family != AF_INET6) {
        return 0;
    }
    uint64_t network = 0;
    bool is_ip4 = IN6_IS_ADDR_V4MAPPED(&ip6->sin6_addr);
    for (int i = 0; i < 8; i++) {
        network = network << 8 | ip6->sin6_addr.s6_addr[is_ip4 ? i + 8 : i];
    }
    return network == 0 ? 1 : network; /* ::1 */
}

bool msi_address_is_local(const msi_address *address)
{
    struct sockaddr_storage socket;
    socklen_t bytes = 0;
    if (ms_str_equals_nocase(ms_str_cstr(address->host), ms_str_lit("localhost"))) {
        return true;
    }
    return msi_address_to_socket(address, &socket, &bytes) &&
           msi_address_socket_is_local((const struct sockaddr *)&socket);
}

ms_rc ms_grpc_address_check(ms_str address, ms_status *st)
{
    msi_address parsed;
    return msi_address_parse(address, &parsed, st);
}

bool ms_grpc_address_is_loopback(ms_str address)
{
    msi_address parsed;
    ms_status st = {0};
    return msi_address_parse(address, &parsed, &st) == MS_OK && msi_address_is_local(&parsed);
}

void msi_address_format(const struct sockaddr *socket, char text_out[MSI_ADDRESS_TEXT_BYTES])
{
    const struct sockaddr_in *ip4 = (const struct sockaddr_in *)(const void *)socket;
    const struct sockaddr_in6 *ip6 = (const struct sockaddr_in6 *)(const void *)socket;
    char host[INET6_ADDRSTRLEN] = "?";
    if (socket->sa_family == AF_INET) {
        inet_ntop(AF_INET, &ip4->sin_addr, host, sizeof(host));
        snprintf(text_out, MSI_ADDRESS_TEXT_BYTES, "%s:%u", host, (unsigned)ntohs(ip4->sin_port));
    } else if (socket->sa_family == AF_INET6) {
        inet_ntop(AF_INET6, &ip6->sin6_addr, host, sizeof(host));
        snprintf(text_out, MSI_ADDRESS_TEXT_BYTES, "[%s]:%u", host,
                 (unsigned)ntohs(ip6->sin6_port));
    } else {
        snprintf(text_out, MSI_ADDRESS_TEXT_BYTES, "unix:");
    }
}

/* Listening. */

/* A socket file whose owner is gone refuses connections, and blocks the name until it is
 * removed. */
static void remove_dead_socket(const char *path, const struct sockaddr_storage *socket_address,
                               socklen_t bytes)
{
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISSOCK(info.st_mode)) {
        return;
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return;
    }
    if (connect(fd, (const struct sockaddr *)socket_address, bytes) != 0 && errno == ECONNREFUSED) {
        unlink(path);
    }
    close(fd);
}

/* Binds and listens; -1 and errno when that fails. */
static int listen_on(const struct sockaddr *socket_address, socklen_t bytes)
{
    int fd = socket(socket_address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return -1;
    }
    int on = 1;
    if (socket_address->sa_family != AF_UNIX) {
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    }
    if (bind(fd, socket_address, bytes) != 0 || listen(fd, LISTEN_BACKLOG) != 0) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

static uint16_t bound_port(int fd)
{
    struct sockaddr_storage bound = {0};
    socklen_t bytes = sizeof(bound);
    if (getsockname(fd, (struct sockaddr *)&bound, &bytes) != 0) {
        return 0;
    }
    if (bound.ss_family == AF_INET) {
        return ntohs(((struct sockaddr_in *)&bound)->sin_port);
    }
    return bound.ss_family == AF_INET6 ? ntohs(((struct sockaddr_in6 *)&bound)->sin6_port) : 0;
}

/* Listens on the first address of a name that can be listened on. */
static int listen_on_name(const msi_address *address, ms_status *st)
{
    char port[8];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
    struct addrinfo *found = NULL;
    snprintf(port, sizeof(port), "%u", (unsigned)address->port);
    int rc = getaddrinfo(address->host, port, &hints, &found);
    if (rc != 0) {
        ms_status_set(st, MS_IO_ERROR, ms_span_none, "could not resolve \"%s\"", address->host);
        ms_status_detail(st, "%s", gai_strerror(rc));
        return -1;
    }
    int fd = -1;
    for (const struct addrinfo *at = found; at != NULL && fd < 0; at = at->ai_next) {
        fd = listen_on(at->ai_addr, at->ai_addrlen);
    }
    int error = errno;
    freeaddrinfo(found);
    errno = error;
    return fd;
}

static ms_rc cannot_listen(const msi_address *address, int error, ms_status *st)
{
    if (address->is_unix) {
        ms_status_set_errno(st, error, "could not listen on \"unix:%s\"", address->host);
    } else {
        bool is_ipv6 = strchr(address->host, ':') != NULL;
        ms_status_set_errno(st, error, "could not listen on \"%s%s%s:%u\"", is_ipv6 ? "[" : "",
                            address->host, is_ipv6 ? "]" : "", (unsigned)address->port);
    }
    switch (error) {
    case EADDRINUSE:
        return ms_status_hint(st, address->is_unix
                                      ? "Another program listens there."
                                      : "Another program listens there. Choose another port, or 0 "
                                        "for any that is free.");
    case EADDRNOTAVAIL:
        return ms_status_hint(st, "Use an address of this machine.");
    case EACCES:
        return address->is_unix ? st->code
                                : ms_status_hint(st, "Ports below 1024 need a privilege.");
    default:
        return st->code;
    }
}

ms_rc msi_address_listen(const msi_address *address, int *fd_out, uint16_t *port_out, ms_status *st)
{
    struct sockaddr_storage socket_address;
    socklen_t bytes = 0;
    int fd = -1;
    *fd_out = -1;
    *port_out = 0;
    if (msi_address_to_socket(address, &socket_address, &bytes)) {
        if (address->is_unix) {
            remove_dead_socket(address->host, &socket_address, bytes);
        }
        fd = listen_on((const struct sockaddr *)&socket_address, bytes);
    } else {
        fd = listen_on_name(address, st);
    }
    if (fd < 0) {
        int error = errno;
        if (st->code != MS_OK) {
            return st->code;
        }
        return cannot_listen(address, error, st);
    }
    *fd_out = fd;
    *port_out = bound_port(fd);
    return MS_OK;
}
