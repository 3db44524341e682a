/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connector goes through: resolving (libuv, on a thread of its own), then for each address an
 * attempt that polls a connecting socket. Handles of libuv take a turn to close, and resolving
 * cannot always be stopped; so both count as holds on the connector, which goes with the last one.
 */
#include "net/connect_priv.h"

#include "base/memory.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <unistd.h>

/* Addresses of a name that are tried. Magic constant: large services return four to eight. */
#define ADDRESSES_MAX 8

struct msi_connector {
    ms_loop *loop;
    msi_connect_options options;
    msi_address address;
    struct sockaddr_storage found[ADDRESSES_MAX];
    socklen_t found_bytes[ADDRESSES_MAX];
    int found_count;
    int next; /* to be tried */
    int64_t deadline_ns;
    ms_loop_timer timer; /* of the attempt, or of resolving */
    msi_loop_task begin;
    uv_getaddrinfo_t resolving;
    struct attempt *attempt; /* the one that runs */
    int holds;               /* attempts that are not closed, and resolving */
    bool is_over;            /* done was called, or it was canceled */
    ms_status failure;       /* of the last attempt */
};

typedef struct attempt {
    uv_poll_t poll;
    msi_connector *connector;
    int fd; /* -1: handed over */
} attempt;

static void try_next(msi_connector *connector);

static void drop_hold(msi_connector *connector)
{
    connector->holds--;
    if (connector->is_over && connector->holds == 0) {
        ms_mem_free(connector);
    }
}

/* The end. The caller holds the connector. */
static void finish(msi_connector *connector, int fd)
{
    if (connector->is_over) {
        return;
    }
    connector->is_over = true;
    ms_loop_timer_stop(connector->loop, &connector->timer);
    connector->options.done(connector->options.arg, fd, &connector->failure);
}

static void fail(msi_connector *connector, const char *reason)
{
    ms_status_clear(&connector->failure);
    if (connector->address.is_unix) {
        ms_status_set(&connector->failure, MS_IO_ERROR, ms_span_none,
                      "could not connect to unix:%s", connector->address.host);
    } else {
        ms_status_set(&connector->failure, MS_IO_ERROR, ms_span_none, "could not connect to %s:%u",
                      connector->address.host, (unsigned)connector->address.port);
    }
    ms_status_detail(&connector->failure, "%s", reason);
}

/* Attempts. */

static void attempt_closed(uv_handle_t *handle)
{
    attempt *done = handle->data;
    msi_connector *connector = done->connector;
    if (done->fd >= 0) {
        close(done->fd);
    }
    ms_mem_free(done);
    drop_hold(connector);
}

static void close_attempt(msi_connector *connector)
{
    attempt *running = connector->attempt;
    if (running != NULL) {
        connector->attempt = NULL;
        uv_close((uv_handle_t *)&running->poll, attempt_closed);
    }
}

static void connected(uv_poll_t *poll, int status, int events)
{
    (void)status; /* the socket itself knows better */
    (void)events;
    attempt *running = poll->data;
    msi_connector *connector = running->connector;
    int error = 0;
    socklen_t bytes = sizeof(error);
    if (getsockopt(running->fd, SOL_SOCKET, SO_ERROR, &error, &bytes) != 0) {
        error = errno;
    }
    int fd = running->fd;
    if (error == 0) {
        running->fd = -1;
        close_attempt(connector);
        finish(connector, fd);
    } else {
        fail(connector, strerror(error));
        close_attempt(connector);
        try_next(connector);
    }
}

/* Starts to connect; false when this address fails at once. */
static bool start_attempt(msi_connector *connector, int index)
{
    const struct sockaddr *to = (const struct sockaddr *)&connector->found[index];
    if (connector->options.only_local && !msi_address_socket_is_local(to)) {
        fail(connector, "the address is not of this machine");
        return false;
    }
    int fd = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        fail(connector, strerror(errno));
        return false;
    }
    if (connect(fd, to, connector->found_bytes[index]) != 0 && errno != EINPROGRESS) {
        fail(connector, strerror(errno));
        close(fd);
        return false;
    }
    attempt *running = ms_mem_calloc(1, sizeof(*running));
    *running = (attempt){.connector = connector, .fd = fd};
    if (uv_poll_init(msi_loop_uv(connector->loop), &running->poll, fd) != 0) {
        fail(connector, "the socket cannot be polled");
        ms_mem_free(running);
        close(fd);
        return false;
    }
    running->poll.data = running;
    connector->attempt = running;
    connector->holds++;
    int rc = uv_poll_start(&running->poll, UV_WRITABLE, connected);
    MS_ASSERT(rc == 0);
    return true;
}

static void try_next(msi_connector *connector)
{
    int64_t now_ns = ms_loop_now_ns(connector->loop);
    while (connector->next < connector->found_count) {
        int left = connector->found_count - connector->next;
        int index = connector->next++;
        if (start_attempt(connector, index)) {
            int64_t share_ns = (connector->deadline_ns - now_ns) / left;
            ms_loop_timer_start(connector->loop, &connector->timer, now_ns + share_ns);
            return;
        }
    }
    finish(connector, -1);
}

static void timed_out(ms_loop_timer *timer)
{
    msi_connector *connector = MSI_OWNER(timer, msi_connector, timer);
    connector->holds++;
    if (connector->attempt == NULL) {
        fail(connector, "the name was not resolved in time");
        finish(connector, -1);
    } else {
        fail(connector, "no answer in time");
        close_attempt(connector);
        try_next(connector);
    }
    drop_hold(connector);
}

/* Resolving. */

static void resolved(uv_getaddrinfo_t *resolving, int status, struct addrinfo *found)
{
    msi_connector *connector = resolving->data;
    if (!connector->is_over && status != 0) {
        fail(connector, uv_strerror(status));
        finish(connector, -1);
    } else if (!connector->is_over) {
        for (const struct addrinfo *at = found; at != NULL; at = at->ai_next) {
            if (connector->found_count < ADDRESSES_MAX &&
                at->ai_addrlen <= sizeof(connector->found[0])) {
                memcpy(&connector->found[connector->found_count], at->ai_addr, at->ai_addrlen);
                connector->found_bytes[connector->found_count++] = at->ai_addrlen;
            }
        }
        try_next(connector);
    }
    uv_freeaddrinfo(found);
    drop_hold(connector);
}

static void resolve(msi_connector *connector)
{
    char port[8];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
                             .ai_flags = AI_NUMERICSERV | AI_ADDRCONFIG};
    snprintf(port, sizeof(port), "%u", (unsigned)connector->address.port);
    connector->resolving.data = connector;
    int rc = uv_getaddrinfo(msi_loop_uv(connector->loop), &connector->resolving, resolved,
                            connector->address.host, port, &hints);
    if (rc != 0) {
        fail(connector, uv_strerror(rc));
        finish(connector, -1);
        return;
    }
    connector->holds++;
    ms_loop_timer_start(connector->loop, &connector->timer, connector->deadline_ns);
}

static void begin(msi_loop_task *task)
{
    msi_connector *connector = MSI_OWNER(task, msi_connector, begin);
    connector->holds++;
    if (msi_address_to_socket(&connector->address, &connector->found[0],
                              &connector->found_bytes[0])) {
        connector->found_count = 1;
        try_next(connector);
    } else {
        resolve(connector);
    }
    drop_hold(connector);
}

msi_connector *msi_connect(ms_loop *loop, const msi_connect_options *options)
{
    msi_connector *connector = ms_mem_calloc(1, sizeof(*connector));
    connector->loop = loop;
    connector->options = *options;
    connector->address = *options->address;
    connector->options.address = &connector->address;
    connector->deadline_ns = ms_loop_now_ns(loop) + options->timeout_ns;
    ms_loop_timer_init(&connector->timer, timed_out);
    connector->begin.run = begin;
    fail(connector, "the name has no address");
    msi_loop_soon(loop, &connector->begin);
    return connector;
}

void msi_connect_cancel(msi_connector *connector)
{
    connector->holds++;
    connector->is_over = true;
    ms_loop_timer_stop(connector->loop, &connector->timer);
    msi_loop_cancel(&connector->begin);
    close_attempt(connector);
    drop_hold(connector);
}
