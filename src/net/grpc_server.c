/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The listener, connections and shards of a server. The first loop accepts and deals connections
 * out to all loops in turn; sockets that share a port (SO_REUSEPORT) would let a second program
 * take half of the connections without anybody noticing, and spread few connections unevenly.
 */
#include "net/grpc_server.h"

#include "base/env.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/memory.h"
#include "net/grpc_server_priv.h"

#include <errno.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#define SECOND_NS INT64_C(1000000000)

#define CONNECTIONS_MAX 1024u

/* How often the log is told that there are too many of them, or too slow ones. */
#define LIMIT_TOLD_NS (60 * SECOND_NS)

/* So far behind may a client be with reading while others need the room; how often it is looked for
 * such clients; and how many times the limit may wait to be sent, when more is only for those who
 * have less than their share. */
#define READ_LAG_NS (5 * SECOND_NS)
#define READERS_SEEN_NS (SECOND_NS / 10)
#define OUTBOUND_FACTOR 2

/* Connections accepted in one turn, before those that are there have theirs. */
#define ACCEPTS_PER_TURN 64

/* Connections on their way to a loop. One that does not get to take them is passed over. */
#define HANDOVERS_MAX 128

/* When the process has no descriptors left, accepting rests for a moment. */
#define ACCEPT_PAUSE_NS (SECOND_NS / 10)

static const msi_h2_class h2_class;

/* Connections. */

static msi_server_conn *of_h2(msi_h2 *h2)
{
    return MSI_OWNER(h2, msi_server_conn, h2);
}

/* Room for connections. */

/* The connections of a shard, as somebody from a network finds them. */
typedef struct crowd {
    size_t open; /* and not on the way out already */
    size_t of_network;
    msi_server_conn *victim; /* who would have to go for a newcomer; NULL: all have calls */
    msi_server_conn *victim_of_network;
} crowd;

/* Who has the least right to stay comes first. */
typedef enum standing {
    STANDING_GONE,  /* is closed in this turn or the next, and counts no more */
    STANDING_ENDED, /* nothing comes of it any more, but the peer does not let go */
    STANDING_NEW,   /* has not finished its handshake */
    STANDING_IDLE,  /* has no call */
    STANDING_WORKING
} standing;

static standing standing_of(const msi_server_conn *conn)
{
    const msi_h2 *h2 = &conn->h2;
    if (h2->is_lost) {
        return h2->conn.is_lingering ? STANDING_ENDED : STANDING_GONE;
    }
    if (h2->is_failing) {
        return conn->is_evicted && h2->conn.blocked_ns == 0 ? STANDING_GONE : STANDING_ENDED;
    }
    if (!h2->is_ready) {
        return STANDING_NEW;
    }
    return h2->stream_count == 0 ? STANDING_IDLE : STANDING_WORKING;
}

/* True when a has less of a right to stay than b: among equals the older one, or the one that has
 * had no call for longer. The list is from young to old. */
static bool goes_before(const msi_server_conn *a, const msi_server_conn *b)
{
    if (b == NULL || standing_of(a) != standing_of(b)) {
        return b == NULL || standing_of(a) < standing_of(b);
    }
    return standing_of(a) != STANDING_IDLE || a->h2.idle_since_ns <= b->h2.idle_since_ns;
}

static crowd look_around(const msi_shard *shard, uint64_t network)
{
    crowd found = {0};
    for (msi_server_conn *conn = shard->conns; conn != NULL; conn = conn->next) {
        standing stands = standing_of(conn);
        if (stands == STANDING_GONE) {
            continue;
        }
        bool is_of_network = network != 0 && conn->network == network;
        bool may_go = stands != STANDING_WORKING;
        found.open++;
        found.of_network += is_of_network;
        if (may_go && goes_before(conn, found.victim)) {
            found.victim = conn;
        }
        if (may_go && is_of_network && goes_before(conn, found.victim_of_network)) {
            found.victim_of_network = conn;
        }
    }
    return found;
}

/* One line a minute: whoever keeps coming would fill the log. */
static bool is_to_be_told(msi_shard *shard, int64_t *told_ns)
{
    int64_t now_ns = ms_loop_now_ns(shard->loop);
    bool is_due = *told_ns == 0 || now_ns - *told_ns >= LIMIT_TOLD_NS;
    *told_ns = is_due ? now_ns : *told_ns;
    return is_due;
}

static void tell_limit(msi_shard *shard, const char *peer)
{
    if (is_to_be_told(shard, &shard->limit_told_ns)) {
        ms_log(MS_LOG_WARN, "net", "connection_limit", "max=%zu per_peer=%zu peer=%s",
               shard->server->options.connections_max, shard->server->options.connections_per_peer,
               peer);
    }
}

static void close_conn(msi_server_conn *conn)
{
    msi_h2_close(&conn->h2);
    msi_conn_cut(&conn->h2.conn);
}

/* False: the newcomer cannot stay. */
static bool make_room(msi_shard *shard, uint64_t network, const char *peer)
{
    const ms_grpc_server_options *options = &shard->server->options;
    if (shard->is_draining) {
        return false;
    }
    if (shard->conn_count < options->connections_max &&
        shard->conn_count < options->connections_per_peer) {
        return true;
    }
    crowd found = look_around(shard, network);
    bool has_share = found.of_network < options->connections_per_peer;
    if (has_share && found.open < options->connections_max) {
        return true;
    }
    tell_limit(shard, peer);
    msi_server_conn *victim = has_share ? found.victim : found.victim_of_network;
    if (victim == NULL) {
        return false;
    }
    shard->stats.evicted++;
    victim->is_evicted = true;
    victim->h2.conn.may_linger = false; /* its place is needed */
    if (standing_of(victim) == STANDING_IDLE) {
        msi_h2_give_up(&victim->h2);
    } else {
        close_conn(victim);
    }
    return true;
}

static void add_conn(msi_shard *shard, int fd)
{
    struct sockaddr_storage peer = {.ss_family = AF_UNIX};
    socklen_t bytes = sizeof(peer);
    char text[MSI_ADDRESS_TEXT_BYTES];
    (void)getpeername(fd, (struct sockaddr *)&peer, &bytes);
    msi_address_format((const struct sockaddr *)&peer, text);
    uint64_t network = msi_address_network((const struct sockaddr *)&peer);
    if (!make_room(shard, network, text)) {
        shard->stats.refused++;
        close(fd);
        return;
    }
    msi_server_conn *conn = ms_mem_calloc(1, sizeof(*conn));
    conn->shard = shard;
    conn->network = network;
    memcpy(conn->peer, text, sizeof(conn->peer));
    conn->next = shard->conns;
    if (conn->next != NULL) {
        conn->next->prev = conn;
    }
    shard->conns = conn;
    shard->conn_count++;
    shard->stats.accepted++;
    msi_h2_init(&conn->h2, &h2_class, &shard->server->h2_options, shard->loop);
    conn->h2.conn.may_linger = true;
    msi_h2_start(&conn->h2, fd, shard->server->options.tls, NULL);
}

/* Room for what is to be sent. */

/* So much of what may wait to be sent is each connection's; there is one that asks. */
static uint64_t share_of(const msi_shard *shard)
{
    return shard->outbound.max / shard->conn_count;
}

/* Ends connections that have more than their share and do not read it, until there is room. The one
 * that asks may be as slow, but is at work right now. */
static void end_slow_readers(msi_shard *shard, const msi_h2 *asking)
{
    int64_t now_ns = ms_loop_now_ns(shard->loop);
    uint64_t share = share_of(shard);
    if (now_ns - shard->readers_seen_ns < READERS_SEEN_NS) {
        return;
    }
    shard->readers_seen_ns = now_ns;
    for (msi_server_conn *conn = shard->conns;
         conn != NULL && shard->outbound.used > shard->outbound.max; conn = conn->next) {
        size_t waiting = conn->h2.unsent_bytes;
        if (&conn->h2 == asking || waiting <= share ||
            msi_h2_lag_ns(&conn->h2, now_ns) <= READ_LAG_NS) {
            continue;
        }
        if (is_to_be_told(shard, &shard->reader_told_ns)) {
            ms_log(MS_LOG_WARN, "net", "slow_reader", "unsent=%zu max=%llu peer=%s", waiting,
                   (unsigned long long)shard->outbound.max, conn->peer);
        }
        shard->stats.evicted++;
        conn->is_evicted = true;
        close_conn(conn);
    }
}

bool msi_shard_admits(msi_shard *shard, const msi_h2 *h2)
{
    const msi_budget *outbound = &shard->outbound;
    if (h2->unsent_bytes > shard->server->options.connection_outbound_max) {
        return false;
    }
    if (outbound->used > outbound->max) {
        end_slow_readers(shard, h2);
    }
    bool has_share = h2->unsent_bytes <= share_of(shard);
    return outbound->used / (has_share ? OUTBOUND_FACTOR : 1) <= outbound->max;
}

/* The events of connections. */

static msi_stream *h2_request(msi_h2 *h2)
{
    return msi_server_call_new(of_h2(h2)->shard);
}

static void h2_ready(msi_h2 *h2)
{
    (void)h2;
}

static void h2_room(msi_h2 *h2)
{
    if (h2->is_draining && h2->stream_count == 0) {
        msi_conn_flush(&h2->conn); /* which sees that it is finished */
    }
}

static void h2_idle(msi_h2 *h2)
{
    msi_h2_drain(h2);
}

static void h2_lost(msi_h2 *h2, const ms_status *why)
{
    msi_server_conn *conn = of_h2(h2);
    if (h2->is_broken) {
        conn->shard->stats.broken++;
        ms_log(MS_LOG_DEBUG, "net", "connection_broken", "peer=%s why=\"%s\"", conn->peer,
               why->message);
    }
}

static void h2_closed(msi_h2 *h2)
{
    msi_server_conn *conn = of_h2(h2);
    msi_shard *shard = conn->shard;
    if (conn->prev != NULL) {
        conn->prev->next = conn->next;
    } else {
        shard->conns = conn->next;
    }
    if (conn->next != NULL) {
        conn->next->prev = conn->prev;
    }
    ms_mem_free(conn);
    shard->conn_count--;
    msi_shard_check_done(shard);
}

static const msi_h2_class h2_class = {.on_request = h2_request,
                                      .on_ready = h2_ready,
                                      .on_room = h2_room,
                                      .on_idle = h2_idle,
                                      .on_lost = h2_lost,
                                      .on_closed = h2_closed};

void msi_shard_check_done(msi_shard *shard)
{
    ms_grpc_server *server = shard->server;
    if (!shard->is_draining || shard->is_done || shard->conns != NULL || shard->call_count > 0 ||
        shard->holds > 0) {
        return;
    }
    shard->is_done = true;
    ms_mutex_lock(&server->mutex);
    server->done_count++;
    ms_cond_signal(&server->done_cond);
    ms_mutex_unlock(&server->mutex);
}

/* Listening. */

ms_rc ms_grpc_listen(ms_str address, ms_grpc_listener **listener_out, ms_status *st)
{
    *listener_out = NULL;
    msi_address parsed;
    MS_TRY(msi_address_parse(address, &parsed, st));
    ms_grpc_listener *listener = ms_mem_calloc(1, sizeof(*listener));
    if (msi_address_listen(&parsed, &listener->fd, &listener->port, st) != MS_OK) {
        ms_mem_free(listener);
        return st->code;
    }
    listener->is_unix = parsed.is_unix;
    memcpy(listener->path, parsed.host, sizeof(listener->path));
    *listener_out = listener;
    return MS_OK;
}

void ms_grpc_listener_close(ms_grpc_listener *listener)
{
    if (listener == NULL) {
        return;
    }
    if (listener->fd >= 0) {
        close(listener->fd);
    }
    if (listener->is_unix) {
        unlink(listener->path);
    }
    ms_mem_free(listener);
}

/* Accepting. */

/* A connection on its way from the loop that accepted it to the one that serves it. */
typedef struct handover {
    ms_mail mail;
    msi_shard *shard;
    int fd;
} handover;

static void take_handover(ms_mail *mail)
{
    handover *brought = MS_MAIL_OWNER(mail, handover, mail);
    /* Order relaxed, as in the other two: a count, which guards no other memory. */
    atomic_fetch_sub_explicit(&brought->shard->handovers, 1, memory_order_relaxed);
    add_conn(brought->shard, brought->fd);
    ms_mem_free(brought);
}

/* The next one in turn, for which few are on their way: at the latest the first, which is this
 * loop's. */
static msi_shard *next_shard(ms_grpc_server *server)
{
    msi_shard *shard = NULL;
    do {
        shard = &server->shards[server->next_shard];
        server->next_shard = (server->next_shard + 1) % server->shard_count;
    } while (atomic_load_explicit(&shard->handovers, memory_order_relaxed) >= HANDOVERS_MAX);
    return shard;
}

static void deal(ms_grpc_server *server, int fd)
{
    msi_shard *shard = next_shard(server);
    if (ms_loop_is_current(shard->loop)) {
        add_conn(shard, fd);
        return;
    }
    handover *brought = ms_mem_alloc(sizeof(*brought));
    *brought = (handover){.mail = {.deliver = take_handover}, .shard = shard, .fd = fd};
    atomic_fetch_add_explicit(&shard->handovers, 1, memory_order_relaxed);
    ms_mailbox_push(ms_loop_mailbox(shard->loop), &brought->mail);
}

static void accept_ready(uv_poll_t *poll, int status, int events);

static void pause_accepting(ms_grpc_server *server, int error)
{
    ms_loop *loop = server->shards[0].loop;
    ms_log(MS_LOG_WARN, "net", "accept_failed", "why=\"%s\"", strerror(error));
    uv_poll_stop(&server->listen_poll);
    ms_loop_timer_start(loop, &server->accept_pause, ms_loop_now_ns(loop) + ACCEPT_PAUSE_NS);
}

static void accept_again(ms_loop_timer *timer)
{
    ms_grpc_server *server = MSI_OWNER(timer, ms_grpc_server, accept_pause);
    int rc = uv_poll_start(&server->listen_poll, UV_READABLE, accept_ready);
    MS_ASSERT(rc == 0);
}

static bool is_passing(int error)
{
    return error == EINTR || error == ECONNABORTED || error == EPROTO || error == EPERM;
}

static void accept_ready(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    ms_grpc_server *server = poll->data;
    for (int i = 0; i < ACCEPTS_PER_TURN; i++) {
        int fd = accept4(server->listener->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            deal(server, fd);
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            return;
        } else if (!is_passing(errno)) {
            pause_accepting(server, errno);
            return;
        }
    }
}

typedef struct listening {
    ms_grpc_server *server;
    int rc;
} listening;

static void start_listening(void *arg)
{
    listening *task = arg;
    ms_grpc_server *server = task->server;
    msi_shard *shard = &server->shards[0];
    ms_loop_timer_init(&server->accept_pause, accept_again);
    task->rc = uv_poll_init(msi_loop_uv(shard->loop), &server->listen_poll, server->listener->fd);
    if (task->rc == 0) {
        server->listen_poll.data = server;
        server->is_listening = true;
        shard->holds++;
        task->rc = uv_poll_start(&server->listen_poll, UV_READABLE, accept_ready);
        MS_ASSERT(task->rc == 0);
    }
}

static void listener_closed(uv_handle_t *handle)
{
    ms_grpc_server *server = handle->data;
    close(server->listener->fd);
    server->listener->fd = -1;
    server->shards[0].holds--;
    msi_shard_check_done(&server->shards[0]);
}

static void stop_listening(ms_grpc_server *server)
{
    if (server->is_listening) {
        server->is_listening = false;
        ms_loop_timer_stop(server->shards[0].loop, &server->accept_pause);
        uv_close((uv_handle_t *)&server->listen_poll, listener_closed);
    }
}

/* Options. */

static size_t size_or(size_t value, size_t otherwise)
{
    return value != 0 ? value : otherwise;
}

static uint32_t count_or(uint32_t value, uint32_t otherwise)
{
    return value != 0 ? value : otherwise;
}

static int64_t time_or(int64_t value, int64_t otherwise)
{
    return value != 0 ? value : otherwise;
}

/* HTTP/2's windows: at least what a connection begins with, at most 31 bits. */
static size_t window_or(size_t value, size_t otherwise)
{
    size_t window = size_or(value, otherwise);
    window = window < 65535 ? 65535 : window;
    return window < INT32_MAX ? window : INT32_MAX;
}

/* What a process may have of descriptors is for its files, too. */
static size_t connections_by_default(void)
{
    struct rlimit limit = {.rlim_cur = RLIM_INFINITY};
    bool is_scarce = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 2 < CONNECTIONS_MAX;
    return !is_scarce ? CONNECTIONS_MAX : limit.rlim_cur < 4 ? 1 : (size_t)limit.rlim_cur / 2;
}

static void fill_in(ms_grpc_server_options *options)
{
    size_t shards = (size_t)options->loop_count;
    size_t connections = size_or(options->connections_max, connections_by_default());
    options->connections_max = (connections + shards - 1) / shards;
    size_t per_peer = size_or(options->connections_per_peer, connections - connections / 4);
    per_peer = per_peer < connections ? per_peer : connections;
    options->connections_per_peer = per_peer / shards + (per_peer % shards != 0);
    options->streams_max = count_or(options->streams_max, 256);
    options->header_bytes_max = size_or(options->header_bytes_max, 32u << 10);
    options->message_bytes_max = size_or(options->message_bytes_max, MS_GRPC_MESSAGE_BYTES_DEFAULT);
    options->inbound_bytes_max = size_or(options->inbound_bytes_max, 1u << 30) / shards;
    options->call_mark_bytes = size_or(options->call_mark_bytes, 256u << 10);
    options->connection_outbound_max = size_or(options->connection_outbound_max, 64u << 20);
    options->outbound_bytes_max = size_or(options->outbound_bytes_max, 512u << 20) / shards;
    options->stream_window_bytes = window_or(options->stream_window_bytes, 1u << 20);
    options->connection_window_bytes = window_or(options->connection_window_bytes, 16u << 20);
    options->resets_burst = count_or(options->resets_burst, 1000);
    options->resets_per_second = count_or(options->resets_per_second, 200);
    options->pings_burst = count_or(options->pings_burst, 100);
    options->settings_burst = count_or(options->settings_burst, 100);
    options->handshake_timeout_ns = time_or(options->handshake_timeout_ns, 20 * SECOND_NS);
    options->idle_ns = time_or(options->idle_ns, 900 * SECOND_NS);
    options->keepalive_ns = time_or(options->keepalive_ns, 60 * SECOND_NS);
    options->keepalive_timeout_ns = time_or(options->keepalive_timeout_ns, 20 * SECOND_NS);
    options->stall_ns = time_or(options->stall_ns, 60 * SECOND_NS);
}

static msi_h2_options make_h2_options(const ms_grpc_server_options *options)
{
    return (msi_h2_options){.is_server = true,
                            .streams_max = options->streams_max,
                            .header_bytes_max = options->header_bytes_max,
                            .stream_window_bytes = options->stream_window_bytes,
                            .connection_window_bytes = options->connection_window_bytes,
                            .resets_burst = options->resets_burst,
                            .resets_per_second = options->resets_per_second,
                            .pings_burst = options->pings_burst,
                            .settings_burst = options->settings_burst,
                            .handshake_timeout_ns = options->handshake_timeout_ns,
                            .keepalive_ns = options->keepalive_ns,
                            .keepalive_timeout_ns = options->keepalive_timeout_ns,
                            .idle_ns = options->idle_ns,
                            .stall_ns = options->stall_ns};
}

/* Life. */

static void free_server(ms_grpc_server *server)
{
    for (int i = 0; i < server->shard_count; i++) {
        msi_shard *shard = &server->shards[i];
        while (shard->pool != NULL) {
            ms_grpc_server_call *call = shard->pool;
            shard->pool = call->next;
            msi_server_call_free(call);
        }
        msi_header_pairs_release(&shard->pairs);
        ms_mem_free(shard->fields);
    }
    ms_grpc_listener_close(server->listener);
    msi_header_release(&server->headers);
    ms_cond_release(&server->done_cond);
    ms_mutex_release(&server->mutex);
    ms_arena_release(&server->arena);
    ms_mem_free(server);
}

static ms_grpc_server *make_server(const ms_grpc_server_options *options)
{
    ms_grpc_server *server = ms_mem_calloc(1, sizeof(*server));
    ms_arena_init(&server->arena, 512);
    server->options = *options;
    fill_in(&server->options);
    server->h2_options = make_h2_options(&server->options);
    server->listener = options->listener;
    server->shard_count = options->loop_count;
    server->shards = ms_arena_array(&server->arena, msi_shard, (size_t)options->loop_count);
    for (int i = 0; i < server->shard_count; i++) {
        server->shards[i] = (msi_shard){.server = server, .loop = options->loops[i]};
        server->shards[i].inbound.max = server->options.inbound_bytes_max;
        server->shards[i].outbound.max = server->options.outbound_bytes_max;
    }
    server->options.loops = NULL; /* the caller's array; the shards have its content */
    msi_header_init(&server->headers, SIZE_MAX);
    ms_mutex_init(&server->mutex, MS_RANK_MAILBOX);
    ms_cond_init(&server->done_cond);
    return server;
}

/* Binds, and begins to accept on the first loop. */
static ms_rc open_server(ms_grpc_server *server, const ms_grpc_server_options *options,
                         ms_status *st)
{
    if (!msi_header_add_metadata(&server->headers, options->headers)) {
        return ms_status_set(st, MS_INVALID_OPTION, ms_span_none,
                             "the server's headers cannot be sent as metadata");
    }
    if (server->listener == NULL) {
        MS_TRY(ms_grpc_listen(options->listen, &server->listener, st));
    }
    listening task = {.server = server};
    ms_loop_call(server->shards[0].loop, start_listening, &task);
    if (task.rc != 0) {
        ms_status_set(st, MS_IO_ERROR, ms_span_none, "a listening socket cannot be polled");
        return ms_status_detail(st, "%s", uv_strerror(task.rc));
    }
    return MS_OK;
}

ms_rc ms_grpc_server_create(const ms_grpc_server_options *options, ms_grpc_server **server_out,
                            ms_status *st)
{
    MS_ASSERT(options->loop_count > 0 && options->events->on_start != NULL);
    MS_ASSERT(options->tls == NULL || msi_tls_is_server(options->tls));
    *server_out = NULL;
    ms_grpc_server *server = make_server(options);
    if (open_server(server, options, st) != MS_OK) {
        free_server(server);
        return st->code;
    }
    *server_out = server;
    return MS_OK;
}

uint16_t ms_grpc_server_port(const ms_grpc_server *server)
{
    return server->listener->port;
}

/* Over TLS, a client that has not finished its handshake has asked for nothing, and may never. */
static bool is_shaking_hands(const msi_conn *conn)
{
    return conn->tls != NULL && !conn->is_open;
}

static void drain_conn(msi_server_conn *conn)
{
    msi_h2 *h2 = &conn->h2;
    if (is_shaking_hands(&h2->conn)) {
        close_conn(conn);
        return;
    }
    msi_h2_drain(h2);
    msi_server_end_endless(h2);
    msi_conn_hurry(&h2->conn);
}

static void drain_shard(void *arg)
{
    msi_shard *shard = arg;
    if (shard == &shard->server->shards[0]) {
        stop_listening(shard->server);
    }
    shard->is_draining = true;
    for (msi_server_conn *conn = shard->conns; conn != NULL; conn = conn->next) {
        drain_conn(conn);
    }
    msi_shard_check_done(shard);
}

static void cancel_shard(void *arg)
{
    msi_shard *shard = arg;
    for (msi_server_conn *conn = shard->conns; conn != NULL; conn = conn->next) {
        close_conn(conn);
    }
}

static void do_nothing(void *arg)
{
    (void)arg;
}

/* The first shard first: when it has stopped to accept, connections that it dealt out are in the
 * mailboxes of the others before this. */
static void on_each_shard(ms_grpc_server *server, void (*fn)(void *arg))
{
    for (int i = 0; i < server->shard_count; i++) {
        MS_ASSERT(!ms_loop_is_current(server->shards[i].loop));
        ms_loop_call(server->shards[i].loop, fn, &server->shards[i]);
    }
}

void ms_grpc_server_drain(ms_grpc_server *server)
{
    on_each_shard(server, drain_shard);
}

void ms_grpc_server_destroy(ms_grpc_server *server, int64_t grace_ns)
{
    if (server == NULL) {
        return;
    }
    int64_t now_ns = ms_env_mono_ns();
    int64_t until_ns = grace_ns < INT64_MAX - now_ns ? now_ns + grace_ns : INT64_MAX;
    ms_grpc_server_drain(server);
    ms_mutex_lock(&server->mutex);
    bool in_time = grace_ns > 0;
    while (in_time && server->done_count < server->shard_count) {
        in_time = ms_cond_wait_for(&server->done_cond, &server->mutex, until_ns - now_ns);
        now_ns = ms_env_mono_ns();
        in_time = in_time && now_ns < until_ns;
    }
    bool is_done = server->done_count == server->shard_count;
    ms_mutex_unlock(&server->mutex);
    if (!is_done) {
        on_each_shard(server, cancel_shard);
        ms_mutex_lock(&server->mutex);
        while (server->done_count < server->shard_count) {
            ms_cond_wait(&server->done_cond, &server->mutex);
        }
        ms_mutex_unlock(&server->mutex);
    }
    /* Each loop is out of the code that said that it is done. */
    on_each_shard(server, do_nothing);
    free_server(server);
}

/* Inspection. */

typedef struct stats_request {
    const msi_shard *shard;
    ms_grpc_server_stats *total;
} stats_request;

static void add_stats(void *arg)
{
    const stats_request *request = arg;
    const msi_shard *shard = request->shard;
    ms_grpc_server_stats *total = request->total;
    total->connections += shard->conn_count;
    total->calls += shard->open_calls;
    total->accepted += shard->stats.accepted;
    total->started += shard->stats.started;
    total->refused += shard->stats.refused;
    total->evicted += shard->stats.evicted;
    total->broken += shard->stats.broken;
    total->inbound_bytes += shard->inbound.used;
    total->outbound_bytes += shard->outbound.used;
}

ms_grpc_server_stats ms_grpc_server_get_stats(ms_grpc_server *server)
{
    ms_grpc_server_stats total = {0};
    for (int i = 0; i < server->shard_count; i++) {
        stats_request request = {.shard = &server->shards[i], .total = &total};
        ms_loop_call(server->shards[i].loop, add_stats, &request);
    }
    return total;
}
