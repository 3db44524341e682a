/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Channels: which connection a call goes to, when another one is opened, and what happens when one
 * cannot be.
 *
 *     ready, some room         the one with the fewest calls; all busy: one more is opened, too
 *     ready, no room           the call waits
 *     none, one is connecting  the call waits
 *     none, in the backoff     the call ends with the last failure, or waits for the next attempt
 *     none                     one is opened, and the call waits
 *
 * One connection is opened at a time, but for the first ones up to the minimum: under load the next
 * is asked for when that one is there and busy, too.
 */
#include "base/memory.h"
#include "net/grpc_client_priv.h"
#include "net/grpc_text_priv.h"

#include <stdio.h>

#define SECOND_NS INT64_C(1000000000)

#define CONNECTIONS_DEFAULT 8
#define CALLS_PER_CONNECTION_DEFAULT 64
#define HEADER_BYTES_DEFAULT (64u << 10)
#define STREAM_WINDOW_DEFAULT (4u << 20)
#define CONNECTION_WINDOW_DEFAULT (16u << 20)
#define WINDOW_MAX ((1u << 31) - 1) /* of HTTP/2 */
#define WINDOW_MIN 65535u           /* what a connection begins with */
#define STALL_NS (60 * SECOND_NS)
#define POOL_MAX 256u /* call objects kept */

/* Backoff as in gRPC's document "Connection Backoff". */
#define BACKOFF_FACTOR 1.6
#define BACKOFF_JITTER 0.2

/* A connection has this many streams in its life (HTTP/2's identifiers end); before, it is
 * drained. */
#define LAST_STREAM_ID 0x7ffffff0

static const msi_h2_class h2_class;

static void pump(ms_grpc_channel *channel);

/* Memory. */

static void free_channel(ms_grpc_channel *channel)
{
    while (channel->pool != NULL) {
        ms_grpc_call *call = channel->pool;
        channel->pool = call->next;
        msi_call_free(call);
    }
    msi_header_pairs_release(&channel->pairs);
    ms_mem_free(channel->fields);
    ms_arena_release(&channel->arena);
    ms_mem_free(channel);
}

/* The last of connections and call objects takes the channel with it. */
static void check_free(ms_grpc_channel *channel)
{
    if (channel->is_destroyed && !channel->is_freeing && channel->conns == NULL &&
        channel->call_objects == 0) {
        channel->is_freeing = true;
        free_channel(channel);
    }
}

void msi_channel_recycle(ms_grpc_channel *channel, ms_grpc_call *call)
{
    msi_call_reset(call);
    channel->call_objects--;
    if (channel->pool_count < POOL_MAX) {
        call->next = channel->pool;
        channel->pool = call;
        channel->pool_count++;
    } else {
        msi_call_free(call);
    }
    check_free(channel);
}

/* Connections. */

static msi_client_conn *of_h2(msi_h2 *h2)
{
    return MSI_OWNER(h2, msi_client_conn, h2);
}

static void unlink_conn(msi_client_conn *conn)
{
    if (conn->prev != NULL) {
        conn->prev->next = conn->next;
    } else {
        conn->channel->conns = conn->next;
    }
    if (conn->next != NULL) {
        conn->next->prev = conn->prev;
    }
}

static void free_conn(msi_client_conn *conn)
{
    ms_grpc_channel *channel = conn->channel;
    unlink_conn(conn);
    ms_mem_free(conn);
    check_free(channel);
}

static bool is_usable(const msi_client_conn *conn)
{
    return conn->is_ready && !conn->h2.is_lost && !conn->h2.is_draining;
}

static bool is_connecting(const msi_client_conn *conn)
{
    return !conn->is_ready && !(conn->has_h2 && conn->h2.is_lost);
}

typedef struct census {
    int usable;
    int connecting;
    int draining;
} census;

static census count_conns(const ms_grpc_channel *channel)
{
    census counts = {0};
    for (const msi_client_conn *conn = channel->conns; conn != NULL; conn = conn->next) {
        counts.usable += is_usable(conn);
        counts.connecting += is_connecting(conn);
        counts.draining += conn->is_ready && !conn->h2.is_lost && conn->h2.is_draining;
    }
    return counts;
}

/* The next connect waits: longer each time, and not as long as everybody else's. */
static void back_off(ms_grpc_channel *channel)
{
    double jitter = 1 + BACKOFF_JITTER * (2 * ms_env_random_unit(&channel->random) - 1);
    double wait_ns = (double)channel->backoff_ns * jitter;
    channel->retry_at_ns = ms_loop_now_ns(channel->loop) + (int64_t)wait_ns;
    double next_ns = (double)channel->backoff_ns * BACKOFF_FACTOR;
    double max_ns = (double)channel->backoff_max_ns;
    channel->backoff_ns = (int64_t)(next_ns < max_ns ? next_ns : max_ns);
}

/*
 * When no connection is there and none is coming, calls that wait are told, but for those that are
 * ready to wait for the next attempt, when that may go better.
 */
static void release_stranded(ms_grpc_channel *channel)
{
    census counts = count_conns(channel);
    if (counts.usable > 0 || counts.connecting > 0) {
        return;
    }
    ms_grpc_call *call = channel->waiting.next_waiting;
    while (call != &channel->waiting) {
        ms_grpc_call *next = call->next_waiting;
        if (!call->waits_for_ready || channel->obstacle != MS_TLS_OBSTACLE_NONE) {
            msi_call_end_unsent(call, &channel->failure, channel->obstacle);
        }
        call = next;
    }
    if (channel->waiting.next_waiting != &channel->waiting &&
        !ms_loop_timer_is_running(&channel->retry)) {
        ms_loop_timer_start(channel->loop, &channel->retry, channel->retry_at_ns);
    }
}

static void connect_failed(ms_grpc_channel *channel, const ms_status *why, ms_tls_obstacle obstacle)
{
    channel->failure = *why;
    channel->obstacle = obstacle;
    channel->stats.connect_failures++;
    back_off(channel);
    release_stranded(channel);
}

static void connected(void *arg, int fd, const ms_status *st)
{
    msi_client_conn *conn = arg;
    ms_grpc_channel *channel = conn->channel;
    conn->connector = NULL;
    if (fd < 0) {
        ms_status why = *st;
        free_conn(conn);
        connect_failed(channel, &why, MS_TLS_OBSTACLE_NONE);
        return;
    }
    msi_h2_init(&conn->h2, &h2_class, &channel->h2_options, channel->loop);
    conn->has_h2 = true;
    conn->h2.started_ns = conn->started_ns;
    msi_h2_start(&conn->h2, fd, channel->tls, channel->tls_name);
}

static void open_conn(ms_grpc_channel *channel)
{
    msi_client_conn *conn = ms_mem_calloc(1, sizeof(*conn));
    conn->channel = channel;
    conn->started_ns = ms_loop_now_ns(channel->loop);
    conn->next = channel->conns;
    if (conn->next != NULL) {
        conn->next->prev = conn;
    }
    channel->conns = conn;
    msi_connect_options options = {.address = &channel->address,
                                   .timeout_ns = channel->connect_timeout_ns,
                                   .only_local = channel->only_local,
                                   .done = connected,
                                   .arg = conn};
    conn->connector = msi_connect(channel->loop, &options);
}

/* Opens what is missing to the minimum, or one more because all are busy. */
static void grow(ms_grpc_channel *channel)
{
    census counts = count_conns(channel);
    int open = counts.usable + counts.connecting;
    if (channel->is_destroyed || ms_loop_now_ns(channel->loop) < channel->retry_at_ns) {
        return;
    }
    int wanted = counts.connecting > 0 ? 0 : 1;
    if (open + wanted < channel->connections_min) {
        wanted = channel->connections_min - open;
    }
    while (wanted > 0 && open < channel->connections_max) {
        open_conn(channel);
        wanted--;
        open++;
    }
}

/* The usable connection with the fewest calls, if it has room for one more. */
static msi_client_conn *pick(ms_grpc_channel *channel)
{
    msi_client_conn *best = NULL;
    for (msi_client_conn *conn = channel->conns; conn != NULL; conn = conn->next) {
        bool is_better = best == NULL || conn->h2.stream_count < best->h2.stream_count;
        if (is_better && is_usable(conn) &&
            conn->h2.stream_count < msi_h2_peer_streams_max(&conn->h2)) {
            best = conn;
        }
    }
    return best;
}

/* Calls. */

void msi_channel_unwait(ms_grpc_call *call)
{
    if (call->prev_waiting != NULL) {
        call->prev_waiting->next_waiting = call->next_waiting;
        call->next_waiting->prev_waiting = call->prev_waiting;
        call->next_waiting = NULL;
        call->prev_waiting = NULL;
    }
}

static void wait_for_conn(ms_grpc_channel *channel, ms_grpc_call *call, bool is_first_in_line)
{
    ms_grpc_call *before = is_first_in_line ? &channel->waiting : channel->waiting.prev_waiting;
    call->prev_waiting = before;
    call->next_waiting = before->next_waiting;
    call->prev_waiting->next_waiting = call;
    call->next_waiting->prev_waiting = call;
}

/* Sends a call; the connection may have to be retired for it. */
static void send_call(ms_grpc_call *call, msi_client_conn *conn)
{
    msi_call_send_on(call, &conn->h2);
    if (call->stream.id >= LAST_STREAM_ID) {
        msi_h2_drain(&conn->h2);
    }
}

void msi_channel_place(ms_grpc_channel *channel, ms_grpc_call *call, bool is_first_in_line)
{
    bool is_line_empty = channel->waiting.next_waiting == &channel->waiting;
    msi_client_conn *conn = is_line_empty || is_first_in_line ? pick(channel) : NULL;
    if (conn == NULL || conn->h2.stream_count >= channel->calls_per_connection) {
        grow(channel);
    }
    if (conn != NULL) {
        send_call(call, conn);
        return;
    }
    wait_for_conn(channel, call, is_first_in_line);
    release_stranded(channel);
}

/* Sends calls that wait, as far as there is room. */
static void pump(ms_grpc_channel *channel)
{
    while (channel->waiting.next_waiting != &channel->waiting && !channel->is_destroyed) {
        msi_client_conn *conn = pick(channel);
        if (conn == NULL || conn->h2.stream_count >= channel->calls_per_connection) {
            grow(channel);
        }
        if (conn == NULL) {
            release_stranded(channel);
            return;
        }
        ms_grpc_call *call = channel->waiting.next_waiting;
        msi_channel_unwait(call);
        send_call(call, conn);
    }
}

static void retry(ms_loop_timer *timer)
{
    pump(MSI_OWNER(timer, ms_grpc_channel, retry));
}

/* Events of connections. */

static void h2_ready(msi_h2 *h2)
{
    msi_client_conn *conn = of_h2(h2);
    ms_grpc_channel *channel = conn->channel;
    conn->is_ready = true;
    channel->stats.connects++;
    channel->obstacle = MS_TLS_OBSTACLE_NONE;
    channel->backoff_ns = channel->backoff_initial_ns;
    channel->retry_at_ns = INT64_MIN;
    pump(channel);
}

static void h2_goaway(msi_h2 *h2, uint32_t h2_error, ms_str debug)
{
    ms_grpc_channel *channel = of_h2(h2)->channel;
    if (h2_error == NGHTTP2_ENHANCE_YOUR_CALM &&
        ms_str_equals(debug, ms_str_lit("too_many_pings"))) {
        channel->h2_options.keepalive_ns *= 2;
    }
    pump(channel); /* calls that waited for room on it need another one */
}

static void h2_room(msi_h2 *h2)
{
    pump(of_h2(h2)->channel);
}

static void h2_idle(msi_h2 *h2)
{
    ms_grpc_channel *channel = of_h2(h2)->channel;
    if (count_conns(channel).usable > channel->connections_min) {
        msi_h2_drain(h2);
    }
}

static void h2_lost(msi_h2 *h2, const ms_status *why)
{
    msi_client_conn *conn = of_h2(h2);
    if (!conn->is_ready) {
        ms_status failure = *why;
        if (failure.code == MS_OK) {
            ms_status_set(&failure, MS_IO_ERROR, ms_span_none,
                          "the server ended the connection at once");
        }
        connect_failed(conn->channel, &failure, h2->obstacle);
    }
    pump(conn->channel);
}

static void h2_closed(msi_h2 *h2)
{
    free_conn(of_h2(h2));
}

static const msi_h2_class h2_class = {.on_ready = h2_ready,
                                      .on_goaway = h2_goaway,
                                      .on_room = h2_room,
                                      .on_idle = h2_idle,
                                      .on_lost = h2_lost,
                                      .on_closed = h2_closed};

/* Life. */

static const char *copy_text(ms_grpc_channel *channel, ms_str text, const char *otherwise)
{
    return text.bytes > 0 ? ms_arena_copy_str(&channel->arena, text).ptr : otherwise;
}

static int64_t or_default(int64_t value, int64_t otherwise)
{
    return value != 0 ? value : otherwise;
}

static size_t window_or_default(size_t value, size_t otherwise)
{
    size_t window = value != 0 ? value : otherwise;
    window = window < WINDOW_MIN ? WINDOW_MIN : window;
    return window < WINDOW_MAX ? window : WINDOW_MAX;
}

static void set_texts(ms_grpc_channel *channel, const ms_grpc_channel_options *options)
{
    ms_arena *arena = &channel->arena;
    const msi_address *address = &channel->address;
    ms_str authority = options->authority;
    if (authority.bytes == 0 && address->is_unix) {
        authority = ms_str_lit("localhost");
    } else if (authority.bytes == 0) {
        authority = options->target;
    }
    channel->authority = ms_arena_copy_str(arena, authority).ptr;
    channel->user_agent = copy_text(channel, options->user_agent, "millstream grpc-c-nghttp2");
    /* The name in a certificate has no port and no brackets. */
    msi_address name;
    ms_status st = {0};
    if (options->authority.bytes == 0) {
        channel->tls_name = address->host;
    } else if (msi_address_parse(options->authority, &name, &st) == MS_OK) {
        channel->tls_name = ms_arena_copy_str(arena, ms_str_cstr(name.host)).ptr;
    } else {
        channel->tls_name = channel->authority;
    }
}

static void set_numbers(ms_grpc_channel *channel, const ms_grpc_channel_options *options)
{
    int max = options->connections_max != 0 ? options->connections_max : CONNECTIONS_DEFAULT;
    max = max > MS_GRPC_CHANNEL_CONNECTIONS_MAX ? MS_GRPC_CHANNEL_CONNECTIONS_MAX : max;
    int min = options->connections_min != 0 ? options->connections_min : 1;
    channel->connections_max = max;
    channel->connections_min = min > max ? max : min;
    channel->calls_per_connection =
        (uint32_t)or_default(options->calls_per_connection, CALLS_PER_CONNECTION_DEFAULT);
    channel->message_bytes_max = options->message_bytes_max != 0 ? options->message_bytes_max
                                                                 : MS_GRPC_MESSAGE_BYTES_DEFAULT;
    channel->connect_timeout_ns = or_default(options->connect_timeout_ns, 20 * SECOND_NS);
    channel->backoff_initial_ns = or_default(options->backoff_initial_ns, SECOND_NS);
    channel->backoff_max_ns = or_default(options->backoff_max_ns, 60 * SECOND_NS);
    channel->backoff_ns = channel->backoff_initial_ns;
    channel->retry_at_ns = INT64_MIN;
    channel->h2_options = (msi_h2_options){
        .header_bytes_max =
            options->header_bytes_max != 0 ? options->header_bytes_max : HEADER_BYTES_DEFAULT,
        .stream_window_bytes =
            window_or_default(options->stream_window_bytes, STREAM_WINDOW_DEFAULT),
        .connection_window_bytes =
            window_or_default(options->connection_window_bytes, CONNECTION_WINDOW_DEFAULT),
        .settings_burst = 100,
        .handshake_timeout_ns = channel->connect_timeout_ns,
        .keepalive_ns = or_default(options->keepalive_ns, 30 * SECOND_NS),
        .keepalive_timeout_ns = or_default(options->keepalive_timeout_ns, 10 * SECOND_NS),
        .idle_ns = or_default(options->idle_ns, 300 * SECOND_NS),
        .stall_ns = STALL_NS};
}

/* Plaintext, and tokens in plaintext, do not leave the machine by accident. */
static ms_rc check_secrecy(const ms_grpc_channel *channel, const ms_grpc_channel_options *options,
                           ms_status *st)
{
    if (options->tls != NULL) {
        MS_ASSERT(!msi_tls_is_server(options->tls));
        return MS_OK;
    }
    bool is_local = msi_address_is_local(&channel->address);
    if (!is_local && !options->allow_plaintext) {
        ms_status_set(st, MS_INVALID_OPTION, ms_span_none,
                      "\"%.*s\" is not of this machine, and plaintext is not allowed",
                      MS_STR_ARG(options->target));
        return ms_status_hint(st, "Use TLS.");
    }
    if (!is_local && options->credentials != NULL && !options->allow_plaintext_credentials) {
        return ms_status_set(st, MS_INVALID_OPTION, ms_span_none,
                             "credentials are not sent to \"%.*s\" in plaintext",
                             MS_STR_ARG(options->target));
    }
    return MS_OK;
}

ms_rc ms_grpc_channel_create(ms_loop *loop, const ms_grpc_channel_options *options,
                             ms_grpc_channel **channel_out, ms_status *st)
{
    *channel_out = NULL;
    ms_grpc_channel *channel = ms_mem_calloc(1, sizeof(*channel));
    ms_arena_init(&channel->arena, 512);
    channel->loop = loop;
    if (msi_address_parse(options->target, &channel->address, st) != MS_OK ||
        check_secrecy(channel, options, st) != MS_OK) {
        free_channel(channel);
        return st->code;
    }
    channel->tls = options->tls;
    channel->credentials = options->credentials;
    channel->only_local = options->tls == NULL && !options->allow_plaintext;
    set_texts(channel, options);
    set_numbers(channel, options);
    channel->calls.next = &channel->calls;
    channel->calls.prev = &channel->calls;
    channel->waiting.next_waiting = &channel->waiting;
    channel->waiting.prev_waiting = &channel->waiting;
    ms_status_set(&channel->failure, MS_IO_ERROR, ms_span_none, "there is no connection");
    channel->inbound.max = UINT64_MAX;
    channel->outbound.max = UINT64_MAX;
    ms_loop_timer_init(&channel->retry, retry);
    ms_env_random_init(&channel->random, ms_env_next_seed());
    *channel_out = channel;
    return MS_OK;
}

void ms_grpc_channel_destroy(ms_grpc_channel *channel)
{
    if (channel == NULL) {
        return;
    }
    MS_ASSERT_SLOW(ms_loop_is_current(channel->loop));
    MS_ASSERT(channel->callbacks == 0);
    channel->is_destroyed = true;
    channel->call_objects++; /* holds the channel to the end of this function */
    ms_loop_timer_stop(channel->loop, &channel->retry);
    for (msi_client_conn *conn = channel->conns; conn != NULL;) {
        msi_client_conn *next = conn->next;
        if (conn->has_h2) {
            msi_h2_close(&conn->h2);
        } else {
            msi_connect_cancel(conn->connector);
            free_conn(conn);
        }
        conn = next;
    }
    /* Calls that are started by on_done come behind the last one, and end in their own time. */
    const ms_grpc_call *last = channel->calls.prev;
    bool was_last = last == &channel->calls;
    while (!was_last && channel->calls.next != &channel->calls) {
        ms_grpc_call *call = channel->calls.next;
        was_last = call == last;
        msi_call_end(call, MS_GRPC_CANCELLED, "the channel was closed");
    }
    channel->call_objects--;
    check_free(channel);
}

ms_grpc_channel_stats ms_grpc_channel_get_stats(const ms_grpc_channel *channel)
{
    ms_grpc_channel_stats stats = channel->stats;
    census counts = count_conns(channel);
    stats.connections = counts.usable;
    stats.connecting = counts.connecting;
    stats.draining = counts.draining;
    for (const ms_grpc_call *call = channel->calls.next; call != &channel->calls;
         call = call->next) {
        stats.calls_waiting += call->stream.h2 == NULL && call->end_code == MS_GRPC_OK;
    }
    return stats;
}
