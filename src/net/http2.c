/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions of nghttp2 and their callbacks. Frames of DATA are not copied into nghttp2: it only says
 * how long the next one is, and the bytes go from the stream's queue into the connection's buffer.
 */
#include "net/http2_priv.h"

#include "base/memory.h"
#include "net/grpc_text_priv.h"
#include "net/secret.h"

#include <stdio.h>

/* PRIORITY, unknown and empty DATA frames, and what a stream is reset for: none of our peers has a
 * reason to send many. */
#define JUNK_BURST 1000u
#define JUNK_PER_SECOND 100u

/* After the first GOAWAY of a draining server, requests that were on their way arrive within the
 * round trip of a ping; should its answer not come, this is long enough. */
#define SHUTDOWN_WAIT_NS INT64_C(1000000000)

/* Frames of a server that wait in nghttp2 because the client does not read: what its streams can
 * cause, four each, and some acknowledgments. A client that has not acknowledged our SETTINGS may
 * ask for more streams than there may be, and each is refused. */
#define WAITING_PER_STREAM 4u
#define WAITING_OTHERS 4096u

/* The time in which a peer should read what waits for it, and the least of it that is reckoned
 * with. */
#define READ_ALL_NS INT64_C(60000000000)
#define READ_BYTES_MIN (1u << 20)

static const msi_conn_class conn_class;

static msi_h2 *of_conn(msi_conn *conn)
{
    return MSI_OWNER(conn, msi_h2, conn);
}

/* nghttp2 fails to submit only when memory is exhausted or we misuse it. */
static void must(int rc)
{
    MS_ASSERT(rc >= 0);
}

/* Token buckets. */

static bool take_token(msi_bucket *bucket, uint32_t burst, uint32_t per_second, int64_t now_ns)
{
    int64_t passed_s = (now_ns - bucket->filled_ns) / 1000000000;
    if (passed_s > 0) {
        uint64_t tokens = bucket->tokens + (uint64_t)passed_s * per_second;
        bucket->tokens = tokens < burst ? (uint32_t)tokens : burst;
        bucket->filled_ns += passed_s * 1000000000;
    }
    if (bucket->tokens == 0) {
        return false;
    }
    bucket->tokens--;
    return true;
}

/* Streams. */

static void attach(msi_h2 *h2, msi_stream *stream, int32_t id)
{
    MS_ASSERT(stream->h2 == NULL);
    stream->h2 = h2;
    stream->id = id;
    stream->next = &h2->streams;
    stream->prev = h2->streams.prev;
    stream->prev->next = stream;
    h2->streams.prev = stream;
    h2->stream_count++;
    if (h2->unsent_bytes == 0) {
        msi_h2_note_waiting(h2);
    }
    h2->unsent_bytes += stream->queue.unsent_bytes;
}

static void detach(msi_stream *stream)
{
    msi_h2 *h2 = stream->h2;
    stream->prev->next = stream->next;
    stream->next->prev = stream->prev;
    stream->h2 = NULL;
    stream->is_deferred = false;
    stream->is_writable_due = false;
    if (!stream->is_in_ended) {
        stream->is_resumed = false; /* what is held is part of something that will not be whole */
    }
    h2->unsent_bytes -= stream->queue.unsent_bytes;
    h2->stream_count--;
    if (h2->stream_count == 0) {
        h2->idle_since_ns = ms_loop_now_ns(h2->conn.loop);
    }
}

static msi_stream *find_stream(nghttp2_session *session, int32_t id)
{
    return nghttp2_session_get_stream_user_data(session, id);
}

void msi_h2_consume(msi_h2 *h2, int32_t stream_id, size_t connection_bytes, size_t stream_bytes)
{
    if (connection_bytes == stream_bytes) {
        (void)nghttp2_session_consume(h2->session, stream_id, stream_bytes);
    } else {
        (void)nghttp2_session_consume_connection(h2->session, connection_bytes);
        (void)nghttp2_session_consume_stream(h2->session, stream_id, stream_bytes);
    }
    msi_conn_flush(&h2->conn);
}

void msi_h2_resume_data(msi_h2 *h2, int32_t stream_id)
{
    (void)nghttp2_session_resume_data(h2->session, stream_id);
    msi_conn_flush(&h2->conn);
}

/* Says how much of a stream goes into the next DATA frame. */
static ssize_t read_source(nghttp2_session *session, int32_t stream_id, uint8_t *buffer,
                           size_t length, uint32_t *flags, nghttp2_data_source *source, void *user)
{
    (void)session;
    (void)stream_id;
    (void)buffer;
    (void)user;
    msi_stream *stream = source->ptr;
    size_t unsent = stream->queue.unsent_bytes;
    if (unsent == 0 && !stream->wants_end) {
        stream->is_deferred = true;
        return NGHTTP2_ERR_DEFERRED;
    }
    size_t bytes = unsent < length ? unsent : length;
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (bytes == unsent && stream->wants_end) {
        *flags |= NGHTTP2_DATA_FLAG_EOF;
        stream->is_end_given = true;
        if (stream->class_of->on_sent != NULL) {
            *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
            stream->class_of->on_sent(stream);
        }
    }
    return (ssize_t)bytes;
}

#define FRAME_HEAD_BYTES 9

static int send_data(nghttp2_session *session, nghttp2_frame *frame, const uint8_t *head,
                     size_t length, nghttp2_data_source *source, void *user)
{
    (void)session;
    (void)frame; /* never padded */
    msi_h2 *h2 = user;
    if (msi_conn_room(&h2->conn) == 0) {
        return NGHTTP2_ERR_WOULDBLOCK; /* the same frame comes again with the next pull */
    }
    char *out = msi_conn_extend(&h2->conn, FRAME_HEAD_BYTES + length);
    memcpy(out, head, FRAME_HEAD_BYTES);
    if (length > 0) {
        msi_stream_take(source->ptr, out + FRAME_HEAD_BYTES, length);
    }
    return 0;
}

static nghttp2_data_provider provide(msi_stream *stream)
{
    return (nghttp2_data_provider){.source = {.ptr = stream}, .read_callback = read_source};
}

void msi_h2_request(msi_h2 *h2, msi_stream *stream, const nghttp2_nv *fields, size_t count)
{
    nghttp2_data_provider data = provide(stream);
    int32_t id = nghttp2_submit_request(h2->session, NULL, fields, count, &data, stream);
    must(id);
    attach(h2, stream, id);
    msi_conn_flush(&h2->conn);
}

void msi_h2_respond(msi_stream *stream, const nghttp2_nv *fields, size_t count, bool is_end)
{
    if (stream->h2 != NULL) {
        nghttp2_data_provider data = provide(stream);
        must(nghttp2_submit_response(stream->h2->session, stream->id, fields, count,
                                     is_end ? NULL : &data));
        msi_conn_flush(&stream->h2->conn);
    }
}

void msi_h2_trailers(msi_stream *stream, const nghttp2_nv *fields, size_t count)
{
    must(nghttp2_submit_trailer(stream->h2->session, stream->id, fields, count));
}

void msi_h2_reset_stream(msi_stream *stream, uint32_t h2_error)
{
    if (stream->h2 != NULL) {
        must(nghttp2_submit_rst_stream(stream->h2->session, NGHTTP2_FLAG_NONE, stream->id,
                                       h2_error));
        msi_conn_flush(&stream->h2->conn);
    }
}

/* Callbacks: header blocks. */

/* Makes room for the next one. What clients send has their authorization. */
static void forget_block(msi_h2 *h2)
{
    if (h2->block.counted_bytes == 0) {
        return;
    }
    if (h2->options->is_server) {
        ms_secret_wipe(h2->block.text.ptr, h2->block.text.bytes);
    }
    msi_header_reset(&h2->block);
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    msi_h2 *h2 = user;
    int32_t id = frame->hd.stream_id;
    forget_block(h2);
    if (frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
        msi_stream *stream = h2->is_failing ? NULL : h2->class_of->on_request(h2);
        if (stream == NULL) {
            must(nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_REFUSED_STREAM));
            return 0;
        }
        must(nghttp2_session_set_stream_user_data(session, id, stream));
        attach(h2, stream, id);
    }
    return 0;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
                     size_t name_bytes, const uint8_t *value, size_t value_bytes, uint8_t flags,
                     void *user)
{
    (void)flags;
    msi_h2 *h2 = user;
    if (find_stream(session, frame->hd.stream_id) == NULL) {
        return 0;
    }
    ms_str key = {(const char *)name, name_bytes};
    bool goes_on = msi_header_receive(&h2->block, key, (ms_str){(const char *)value, value_bytes});
    return goes_on ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
}

/* Callbacks: frames. */

static void receive_settings(msi_h2 *h2, bool is_ack)
{
    int64_t now_ns = ms_loop_now_ns(h2->conn.loop);
    if (is_ack) {
        return;
    }
    if (!take_token(&h2->settings, h2->options->settings_burst, 1, now_ns)) {
        msi_h2_fail(h2, NGHTTP2_ENHANCE_YOUR_CALM, "too_many_settings");
    } else if (!h2->is_ready) {
        h2->is_ready = true;
        h2->class_of->on_ready(h2);
    } else {
        h2->class_of->on_room(h2); /* the peer may allow more streams than before */
    }
}

/* The second step of a server's drain. */
static void finish_shutdown(msi_h2 *h2)
{
    if (h2->is_shutdown_due) {
        h2->is_shutdown_due = false;
        must(nghttp2_submit_goaway(h2->session, NGHTTP2_FLAG_NONE,
                                   nghttp2_session_get_last_proc_stream_id(h2->session),
                                   NGHTTP2_NO_ERROR, NULL, 0));
        msi_conn_flush(&h2->conn);
    }
}

static void receive_ping(msi_h2 *h2, bool is_ack)
{
    if (is_ack) {
        h2->ping_sent_ns = 0;
        finish_shutdown(h2);
    } else if (h2->options->is_server && !take_token(&h2->pings, h2->options->pings_burst, 1,
                                                     ms_loop_now_ns(h2->conn.loop))) {
        msi_h2_fail(h2, NGHTTP2_ENHANCE_YOUR_CALM, "too_many_pings");
    }
}

static void receive_junk(msi_h2 *h2)
{
    if (!take_token(&h2->junk, JUNK_BURST, JUNK_PER_SECOND, ms_loop_now_ns(h2->conn.loop))) {
        msi_h2_fail(h2, NGHTTP2_ENHANCE_YOUR_CALM, "too_many_useless_frames");
    }
}

static void receive_goaway(msi_h2 *h2, const nghttp2_goaway *frame)
{
    ms_str debug = {(const char *)frame->opaque_data, frame->opaque_data_len};
    h2->is_draining = true;
    if (h2->class_of->on_goaway != NULL) {
        h2->class_of->on_goaway(h2, frame->error_code, debug);
    }
}

/* Frames that mean nothing to us, and that nghttp2 passes over without a word. */
static int on_begin_frame(nghttp2_session *session, const nghttp2_frame_hd *head, void *user)
{
    (void)session;
    if (head->type == NGHTTP2_PRIORITY || head->type > NGHTTP2_CONTINUATION) {
        receive_junk(user);
    }
    return 0;
}

static int on_frame_recv(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    msi_h2 *h2 = user;
    msi_stream *stream = NULL;
    bool is_end = (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    bool is_ack = (frame->hd.flags & NGHTTP2_FLAG_ACK) != 0;
    switch (frame->hd.type) {
    case NGHTTP2_HEADERS:
        stream = find_stream(session, frame->hd.stream_id);
        if (stream != NULL && !stream->is_in_ended) {
            stream->class_of->on_headers(stream, &h2->block, is_end);
        }
        forget_block(h2);
        break;
    case NGHTTP2_DATA:
        stream = find_stream(session, frame->hd.stream_id);
        if (frame->hd.length == 0 && !is_end) {
            receive_junk(h2);
        }
        break;
    case NGHTTP2_SETTINGS:
        receive_settings(h2, is_ack);
        break;
    case NGHTTP2_PING:
        receive_ping(h2, is_ack);
        break;
    case NGHTTP2_GOAWAY:
        receive_goaway(h2, &frame->goaway);
        break;
    case NGHTTP2_PRIORITY:
        receive_junk(h2);
        break;
    default:
        break;
    }
    if (stream != NULL && is_end) {
        msi_stream_receive_end(stream);
    }
    return 0;
}

static int on_data_chunk_recv(nghttp2_session *session, uint8_t flags, int32_t id,
                              const uint8_t *data, size_t bytes, void *user)
{
    (void)flags;
    msi_stream *stream = find_stream(session, id);
    if (stream != NULL) {
        msi_stream_receive(stream, (ms_str){(const char *)data, bytes});
    } else {
        msi_h2_consume(user, id, bytes, bytes);
    }
    return 0;
}

/* A server that is done with a call resets the stream when the client still sends. */
static void after_headers_sent(nghttp2_session *session, const nghttp2_frame *frame)
{
    int32_t id = frame->hd.stream_id;
    if ((frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0 &&
        nghttp2_session_get_stream_remote_close(session, id) == 0) {
        must(nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_NO_ERROR));
    }
}

/* The ping behind the first GOAWAY of a drain is submitted only now: pings overtake what waits, and
 * its answer must come from a peer that has read the GOAWAY. */
static void after_goaway_sent(msi_h2 *h2, uint32_t h2_error)
{
    if (h2_error != NGHTTP2_NO_ERROR) {
        h2->is_broken = true;
    } else if (h2->is_shutdown_due) {
        must(nghttp2_submit_ping(h2->session, NGHTTP2_FLAG_NONE, NULL));
    }
}

/* nghttp2 resets a stream for what the client did on it. A client could so end calls as fast as it
 * begins them, as by resets of its own, which nghttp2 limits. */
static void after_reset_sent(msi_h2 *h2, uint32_t h2_error)
{
    if (h2_error == NGHTTP2_PROTOCOL_ERROR || h2_error == NGHTTP2_FLOW_CONTROL_ERROR ||
        h2_error == NGHTTP2_STREAM_CLOSED) {
        receive_junk(h2);
    }
}

static int on_frame_send(nghttp2_session *session, const nghttp2_frame *frame, void *user)
{
    msi_h2 *h2 = user;
    if (!h2->options->is_server) {
        return 0;
    }
    if (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) {
        /* Clients measure the line with pings while they are being sent to. */
        h2->pings.tokens = h2->options->pings_burst;
    }
    if (frame->hd.type == NGHTTP2_HEADERS) {
        after_headers_sent(session, frame);
    } else if (frame->hd.type == NGHTTP2_RST_STREAM) {
        after_reset_sent(h2, frame->rst_stream.error_code);
    } else if (frame->hd.type == NGHTTP2_GOAWAY) {
        after_goaway_sent(h2, frame->goaway.error_code);
    }
    return 0;
}

/* A header block that cannot be sent, for its size for instance, ends its stream. */
static int on_frame_not_send(nghttp2_session *session, const nghttp2_frame *frame, int error,
                             void *user)
{
    (void)error;
    const msi_h2 *h2 = user;
    if (h2->options->is_server && frame->hd.type == NGHTTP2_HEADERS &&
        find_stream(session, frame->hd.stream_id) != NULL) {
        must(nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id,
                                       NGHTTP2_INTERNAL_ERROR));
    }
    return 0;
}

static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t h2_error, void *user)
{
    msi_h2 *h2 = user;
    msi_stream *stream = find_stream(session, id);
    if (stream != NULL) {
        detach(stream);
        stream->class_of->on_closed(stream, h2_error);
        h2->class_of->on_room(h2);
    }
    return 0;
}

/* Sessions. */

static nghttp2_option *make_options(const msi_h2_options *options)
{
    nghttp2_option *option = NULL;
    must(nghttp2_option_new(&option));
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_option_set_no_closed_streams(option, 1);
    if (options->is_server) {
        nghttp2_option_set_stream_reset_rate_limit(option, options->resets_burst,
                                                   options->resets_per_second);
    } else {
        nghttp2_option_set_max_reserved_remote_streams(option, 0);
    }
    return option;
}

static nghttp2_session_callbacks *make_callbacks(void)
{
    nghttp2_session_callbacks *callbacks = NULL;
    must(nghttp2_session_callbacks_new(&callbacks));
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
    nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, on_begin_frame);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame_recv);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data_chunk_recv);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, on_frame_send);
    nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, on_frame_not_send);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
    nghttp2_session_callbacks_set_send_data_callback(callbacks, send_data);
    return callbacks;
}

static void submit_settings(msi_h2 *h2)
{
    const msi_h2_options *options = h2->options;
    nghttp2_settings_entry entries[] = {
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, (uint32_t)options->stream_window_bytes},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, (uint32_t)options->header_bytes_max},
        {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
        {options->is_server ? NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS
                            : NGHTTP2_SETTINGS_ENABLE_PUSH,
         options->is_server ? options->streams_max : 0},
    };
    must(nghttp2_submit_settings(h2->session, NGHTTP2_FLAG_NONE, entries,
                                 sizeof(entries) / sizeof(entries[0])));
    must(nghttp2_session_set_local_window_size(h2->session, NGHTTP2_FLAG_NONE, 0,
                                               (int32_t)options->connection_window_bytes));
}

static void *mem_alloc(size_t bytes, void *pool)
{
    return msi_pool_alloc(pool, bytes);
}

static void mem_free(void *block, void *pool)
{
    msi_pool_free(pool, block);
}

static void *mem_calloc(size_t count, size_t bytes, void *pool)
{
    return msi_pool_calloc(pool, count, bytes);
}

static void *mem_realloc(void *block, size_t bytes, void *pool)
{
    return msi_pool_realloc(pool, block, bytes);
}

static void create_session(msi_h2 *h2)
{
    nghttp2_mem mem = {
        .mem_user_data = msi_loop_pool(h2->conn.loop),
        .malloc = mem_alloc,
        .free = mem_free,
        .calloc = mem_calloc,
        .realloc = mem_realloc,
    };
    nghttp2_option *option = make_options(h2->options);
    nghttp2_session_callbacks *callbacks = make_callbacks();
    if (h2->options->is_server) {
        must(nghttp2_session_server_new3(&h2->session, callbacks, h2, option, &mem));
    } else {
        must(nghttp2_session_client_new3(&h2->session, callbacks, h2, option, &mem));
    }
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_option_del(option);
    submit_settings(h2);
}

/* The end. */

static void tell_streams(msi_h2 *h2)
{
    while (h2->streams.next != &h2->streams) {
        msi_stream *stream = h2->streams.next;
        (void)nghttp2_session_set_stream_user_data(h2->session, stream->id, NULL);
        detach(stream);
        stream->class_of->on_closed(stream, MSI_H2_CONNECTION_LOST);
    }
}

void msi_h2_close(msi_h2 *h2)
{
    if (!h2->is_lost) {
        h2->is_lost = true;
        ms_status_set(&h2->lost_why, MS_IO_ERROR, ms_span_none, "the connection was closed");
        ms_loop_timer_stop(h2->conn.loop, &h2->timer);
        tell_streams(h2);
        msi_conn_close(&h2->conn);
    }
}

static void lose(msi_h2 *h2, const ms_status *why)
{
    if (!h2->is_lost) {
        h2->lost_why = *why;
        if (why->code == MS_OK) {
            ms_status_set(&h2->lost_why, MS_IO_ERROR, ms_span_none, "the connection was ended");
        }
        msi_h2_close(h2);
        h2->class_of->on_lost(h2, why);
    }
}

static void lose_for(msi_h2 *h2, const char *text)
{
    ms_status why = {0};
    ms_status_set(&why, MS_IO_ERROR, ms_span_none, "%s", text);
    h2->is_broken = true;
    lose(h2, &why);
}

void msi_h2_fail(msi_h2 *h2, uint32_t h2_error, const char *debug)
{
    if (h2->is_failing || h2->is_lost) {
        return;
    }
    h2->is_failing = true;
    h2->is_draining = true;
    must(nghttp2_submit_goaway(h2->session, NGHTTP2_FLAG_NONE,
                               nghttp2_session_get_last_proc_stream_id(h2->session), h2_error,
                               (const uint8_t *)debug, strlen(debug)));
    msi_conn_flush(&h2->conn);
}

void msi_h2_give_up(msi_h2 *h2)
{
    if (h2->conn.blocked_ns != 0) {
        msi_h2_close(h2); /* it would wait for the peer to read */
    } else {
        msi_h2_fail(h2, NGHTTP2_NO_ERROR, "too_many_connections");
    }
}

void msi_h2_drain(msi_h2 *h2)
{
    if (h2->is_draining || h2->is_lost) {
        return;
    }
    h2->is_draining = true;
    if (h2->options->is_server) {
        must(nghttp2_submit_shutdown_notice(h2->session)); /* a ping follows: on_frame_send */
        h2->is_shutdown_due = true;
        ms_loop_timer_start(h2->conn.loop, &h2->timer,
                            ms_loop_now_ns(h2->conn.loop) + SHUTDOWN_WAIT_NS);
    }
    msi_conn_flush(&h2->conn);
}

static bool has_too_many_answers(const msi_h2 *h2)
{
    size_t max = (size_t)h2->options->streams_max * WAITING_PER_STREAM + WAITING_OTHERS;
    return h2->options->is_server && nghttp2_session_get_outbound_queue_size(h2->session) > max;
}

/* The connection's events. */

static void conn_open(msi_conn *conn)
{
    (void)conn; /* what was submitted goes out with the flush that follows */
}

/* A server that expects TLS answers our preface with an alert: a record of type 21, of version 3.x.
 * As the head of a frame it would announce more than a megabyte. */
static bool is_tls_alert(const msi_h2 *h2, ms_str bytes)
{
    return !h2->options->is_server && h2->conn.tls == NULL && bytes.bytes >= 2 &&
           bytes.ptr[0] == 21 && bytes.ptr[1] == 3;
}

static void conn_bytes(msi_conn *conn, ms_str bytes)
{
    msi_h2 *h2 = of_conn(conn);
    if (h2->is_failing || h2->is_lost) {
        return;
    }
    if (!h2->was_heard && is_tls_alert(h2, bytes)) {
        ms_status why = {0};
        ms_status_set(&why, MS_IO_ERROR, ms_span_none, "the server expects TLS");
        h2->obstacle = MS_TLS_OBSTACLE_TLS;
        lose(h2, &why);
        return;
    }
    h2->was_heard = true;
    ssize_t rc = nghttp2_session_mem_recv(h2->session, (const uint8_t *)bytes.ptr, bytes.bytes);
    if (rc == NGHTTP2_ERR_BAD_CLIENT_MAGIC) {
        /* Our SETTINGS and this tell a client of HTTP/1 or TLS what it has come to. */
        msi_h2_fail(h2, NGHTTP2_PROTOCOL_ERROR, "http2_expected");
        return;
    }
    if (rc < 0) {
        lose_for(h2, nghttp2_strerror((int)rc));
        return;
    }
    if (has_too_many_answers(h2)) {
        lose_for(h2, "the peer does not read its answers");
        return;
    }
    msi_conn_flush(conn);
}

/* True when nothing more is to be said or heard. */
static bool is_finished(msi_h2 *h2)
{
    if (h2->is_failing) {
        return true;
    }
    if (nghttp2_session_want_read(h2->session) == 0 &&
        nghttp2_session_want_write(h2->session) == 0) {
        return true;
    }
    return h2->is_draining && h2->stream_count == 0 && !h2->is_shutdown_due;
}

static void conn_pull(msi_conn *conn)
{
    msi_h2 *h2 = of_conn(conn);
    while (msi_conn_room(conn) > 0) {
        const uint8_t *bytes = NULL;
        ssize_t count = nghttp2_session_mem_send(h2->session, &bytes);
        if (count < 0) {
            lose_for(h2, nghttp2_strerror((int)count));
            return;
        }
        if (count == 0) {
            break;
        }
        msi_conn_append(conn, (ms_str){(const char *)bytes, (size_t)count});
    }
    if (msi_conn_room(conn) > 0 && is_finished(h2)) {
        msi_conn_end(conn);
    }
}

/* A server that has as many connections as it takes closes new ones without a word; so do some that
 * expect TLS. */
static void conn_lost(msi_conn *conn, const ms_status *why)
{
    msi_h2 *h2 = of_conn(conn);
    h2->obstacle = conn->obstacle;
    if (why->code == MS_OK || h2->options->is_server || h2->was_heard || conn->tls != NULL) {
        lose(h2, why);
        return;
    }
    ms_status told = {0};
    ms_status_set(&told, why->code, ms_span_none,
                  "the server closed the connection without a word: it may have too many, or "
                  "expect TLS");
    ms_status_detail(&told, "%s", why->detail[0] != '\0' ? why->detail : why->message);
    lose(h2, &told);
}

static void conn_closed(msi_conn *conn)
{
    msi_h2 *h2 = of_conn(conn);
    nghttp2_session_del(h2->session);
    h2->session = NULL;
    forget_block(h2);
    msi_header_release(&h2->block);
    h2->class_of->on_closed(h2);
}

static const msi_conn_class conn_class = {.on_open = conn_open,
                                          .on_bytes = conn_bytes,
                                          .on_pull = conn_pull,
                                          .on_lost = conn_lost,
                                          .on_closed = conn_closed};

/* Time. */

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* True when the connection is lost. Otherwise *next_ns may have moved to when to look again. */
static bool check_stall(msi_h2 *h2, int64_t now_ns, int64_t *next_ns)
{
    const msi_h2_options *options = h2->options;
    if (!h2->is_ready) {
        int64_t at_ns = h2->started_ns + options->handshake_timeout_ns;
        if (now_ns >= at_ns) {
            lose_for(h2, "the peer did not speak HTTP/2 in time");
            return true;
        }
        *next_ns = earlier(*next_ns, at_ns);
    }
    if (h2->conn.blocked_ns != 0) {
        int64_t at_ns = h2->conn.blocked_ns + options->stall_ns;
        if (now_ns >= at_ns) {
            lose_for(h2, "the peer has not read for too long");
            return true;
        }
        *next_ns = earlier(*next_ns, at_ns);
    }
    return false;
}

static bool check_keepalive(msi_h2 *h2, int64_t now_ns, int64_t *next_ns)
{
    const msi_h2_options *options = h2->options;
    if (h2->ping_sent_ns != 0 && h2->conn.heard_ns > h2->ping_sent_ns) {
        h2->ping_sent_ns = 0; /* any sign of life will do */
    }
    if (h2->ping_sent_ns != 0) {
        int64_t at_ns = h2->ping_sent_ns + options->keepalive_timeout_ns;
        if (now_ns >= at_ns) {
            lose_for(h2, "the peer does not answer (keepalive)");
            return true;
        }
        *next_ns = earlier(*next_ns, at_ns);
        return false;
    }
    int64_t at_ns = h2->conn.heard_ns + options->keepalive_ns;
    if (now_ns < at_ns) {
        *next_ns = earlier(*next_ns, at_ns);
        return false;
    }
    if (h2->is_ready && (options->is_server || h2->stream_count > 0)) {
        must(nghttp2_submit_ping(h2->session, NGHTTP2_FLAG_NONE, NULL));
        msi_conn_flush(&h2->conn);
        h2->ping_sent_ns = now_ns;
        *next_ns = earlier(*next_ns, now_ns + options->keepalive_timeout_ns);
    } else {
        /* Quiet because nothing is asked; the silence is looked at again when it may matter. */
        *next_ns = earlier(*next_ns, now_ns + options->keepalive_ns);
    }
    return false;
}

static void check_idle(msi_h2 *h2, int64_t now_ns, int64_t *next_ns)
{
    if (h2->stream_count > 0 || h2->is_draining || !h2->is_ready) {
        return;
    }
    int64_t at_ns = h2->idle_since_ns + h2->options->idle_ns;
    if (now_ns >= at_ns) {
        h2->idle_since_ns = now_ns;
        h2->class_of->on_idle(h2);
        at_ns = now_ns + h2->options->idle_ns;
    }
    *next_ns = earlier(*next_ns, at_ns);
}

/* One timer for all that can become due. It is not moved when something happens, but looks at what
 * has happened when it fires. */
static void check_time(ms_loop_timer *timer)
{
    msi_h2 *h2 = MSI_OWNER(timer, msi_h2, timer);
    const msi_h2_options *options = h2->options;
    int64_t now_ns = ms_loop_now_ns(h2->conn.loop);
    /* What begins to be due while the timer runs is seen at most this much late. */
    int64_t next_ns = now_ns + earlier(options->keepalive_ns, options->stall_ns);
    next_ns = earlier(next_ns, now_ns + options->idle_ns);
    finish_shutdown(h2);
    if (check_stall(h2, now_ns, &next_ns) || check_keepalive(h2, now_ns, &next_ns)) {
        return;
    }
    check_idle(h2, now_ns, &next_ns);
    if (!h2->is_lost && !ms_loop_timer_is_running(timer)) {
        ms_loop_timer_start(h2->conn.loop, timer, next_ns);
    }
}

/* Life. */

void msi_h2_init(msi_h2 *h2, const msi_h2_class *class_of, const msi_h2_options *options,
                 ms_loop *loop)
{
    *h2 = (msi_h2){.class_of = class_of, .options = options};
    msi_conn_init(&h2->conn, &conn_class, loop);
    msi_header_init(&h2->block, options->header_bytes_max);
    h2->streams.next = &h2->streams;
    h2->streams.prev = &h2->streams;
    ms_loop_timer_init(&h2->timer, check_time);
    int64_t now_ns = ms_loop_now_ns(loop);
    h2->started_ns = now_ns;
    h2->idle_since_ns = now_ns;
    h2->pings = (msi_bucket){options->pings_burst, now_ns};
    h2->settings = (msi_bucket){options->settings_burst, now_ns};
    h2->junk = (msi_bucket){JUNK_BURST, now_ns};
    create_session(h2);
}

static void start_failed(ms_loop_timer *timer)
{
    msi_h2 *h2 = MSI_OWNER(timer, msi_h2, timer);
    ms_status why = h2->lost_why;
    ms_status_clear(&h2->lost_why);
    lose(h2, &why);
}

void msi_h2_start(msi_h2 *h2, int fd, ms_tls *tls, const char *name)
{
    ms_loop *loop = h2->conn.loop;
    if (msi_conn_start(&h2->conn, fd, tls, name, &h2->lost_why) != MS_OK) {
        ms_loop_timer_init(&h2->timer, start_failed);
        ms_loop_timer_start(loop, &h2->timer, h2->started_ns);
        return;
    }
    int64_t first_ns = earlier(h2->options->handshake_timeout_ns, h2->options->keepalive_ns);
    ms_loop_timer_start(loop, &h2->timer, h2->started_ns + first_ns);
}

int64_t msi_h2_lag_ns(const msi_h2 *h2, int64_t now_ns)
{
    return h2->unsent_bytes > 0 ? now_ns - h2->read_up_to_ns : 0;
}

void msi_h2_note_waiting(msi_h2 *h2)
{
    h2->read_up_to_ns = ms_loop_now_ns(h2->conn.loop);
}

/* Frames are of 16 KiB at most, so nothing overflows. Who was fast has no credit for later. */
void msi_h2_note_taken(msi_h2 *h2, size_t bytes)
{
    int64_t now_ns = ms_loop_now_ns(h2->conn.loop);
    size_t waiting = h2->unsent_bytes + bytes;
    int64_t of_bytes = waiting <= READ_BYTES_MIN ? (int64_t)bytes * (READ_ALL_NS / READ_BYTES_MIN)
                                                 : (int64_t)bytes * READ_ALL_NS / (int64_t)waiting;
    h2->read_up_to_ns = earlier(h2->read_up_to_ns + of_bytes, now_ns);
}

uint32_t msi_h2_peer_streams_max(const msi_h2 *h2)
{
    return nghttp2_session_get_remote_settings(h2->session,
                                               NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
}
