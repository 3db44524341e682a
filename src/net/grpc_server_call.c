/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls, server side. An answer is one of three: trailers only (an error before anything was sent),
 * headers with messages and trailers, or, for what is not gRPC at all, an HTTP status.
 */
#include "base/memory.h"
#include "net/grpc_server_priv.h"
#include "net/grpc_text_priv.h"

#include <stdio.h>

#define POOL_MAX 512u          /* call objects kept, a shard */
#define MESSAGE_TEXT_MAX 4096u /* of a status message: a client's header limit may be 8 KiB */
#define FIXED_FIELDS 4

static const msi_stream_class call_class;

static ms_grpc_server_call *of_stream(msi_stream *stream)
{
    return MSI_OWNER(stream, ms_grpc_server_call, stream);
}

/* Life. */

static void deadline_passed(ms_loop_timer *timer);

msi_stream *msi_server_call_new(msi_shard *shard)
{
    ms_grpc_server_call *call = shard->pool;
    shard->call_count++;
    if (call != NULL) {
        shard->pool = call->next;
        shard->pool_count--;
        return &call->stream;
    }
    const ms_grpc_server_options *options = &shard->server->options;
    msi_stream_options stream_options = {.loop = shard->loop,
                                         .message_bytes_max = options->message_bytes_max,
                                         .mark_bytes = options->call_mark_bytes,
                                         .inbound = &shard->inbound,
                                         .outbound = &shard->outbound,
                                         .takes_one = options->takes_one_message};
    call = ms_mem_calloc(1, sizeof(*call));
    msi_stream_init(&call->stream, &call_class, &stream_options);
    msi_header_init(&call->header_out, SIZE_MAX);
    msi_header_init(&call->trailer_out, SIZE_MAX);
    ms_loop_timer_init(&call->deadline, deadline_passed);
    call->shard = shard;
    return &call->stream;
}

void msi_server_call_free(ms_grpc_server_call *call)
{
    msi_stream_release(&call->stream);
    msi_header_release(&call->header_out);
    msi_header_release(&call->trailer_out);
    ms_mem_free(call);
}

/* The stream is detached and the handler is done. */
static void recycle(ms_grpc_server_call *call)
{
    msi_shard *shard = call->shard;
    ms_loop_timer_stop(shard->loop, &call->deadline);
    msi_stream_reset(&call->stream);
    msi_header_reset(&call->header_out);
    msi_header_reset(&call->trailer_out);
    call->user = NULL;
    call->is_begun = false;
    call->is_started = false;
    call->is_finished = false;
    call->is_canceled = false;
    call->has_headers = false;
    call->is_endless = false;
    if (shard->pool_count < POOL_MAX) {
        call->next = shard->pool;
        shard->pool = call;
        shard->pool_count++;
    } else {
        msi_server_call_free(call);
    }
    shard->call_count--;
    msi_shard_check_done(shard);
}

/* Answers. */

static nghttp2_nv *field_room(msi_shard *shard, size_t count)
{
    if (count > shard->field_capacity) {
        shard->field_capacity = count * 2;
        shard->fields =
            ms_mem_realloc(shard->fields, shard->field_capacity * sizeof(shard->fields[0]));
    }
    return shard->fields;
}

/* Submits the initial header block: the fixed fields, the server's own, and those of one or two
 * lists. */
static void submit_headers(ms_grpc_server_call *call, const char *status, bool is_grpc, bool is_end)
{
    msi_shard *shard = call->shard;
    const msi_header *own = &shard->server->headers;
    nghttp2_nv *fields =
        field_room(shard, FIXED_FIELDS + own->field_count + call->header_out.field_count +
                              call->trailer_out.field_count);
    size_t count = 0;
    fields[count++] = msi_header_constant(":status", status);
    if (is_grpc) {
        fields[count++] = msi_header_constant("content-type", "application/grpc");
    }
    count += msi_header_write(own, fields + count);
    count += msi_header_write(&call->header_out, fields + count);
    if (is_end) {
        count += msi_header_write(&call->trailer_out, fields + count);
    }
    call->has_headers = true;
    msi_h2_respond(&call->stream, fields, count, is_end);
}

static const char *const status_digits[] = {"0", "1",  "2",  "3",  "4",  "5",  "6",  "7", "8",
                                            "9", "10", "11", "12", "13", "14", "15", "16"};

_Static_assert(sizeof(status_digits) / sizeof(status_digits[0]) == MS_GRPC_CODE_COUNT,
               "a text for each code");

static void add_message(msi_header *header, ms_str message)
{
    ms_str cut = ms_str_slice(message, 0, MESSAGE_TEXT_MAX);
    char *out = msi_header_reserve(header, cut.bytes * 3);
    size_t bytes = msi_grpc_percent_encode(cut, out);
    header->text.bytes += bytes;
    msi_header_add_tail(header, ms_str_lit("grpc-message"), bytes);
}

/* Puts a result into the trailers. What is too large to be sent is left out, least important
 * first. */
static void write_trailers(ms_grpc_server_call *call, const ms_grpc_result *result)
{
    msi_header *header = &call->trailer_out;
    ms_grpc_code code =
        (unsigned)result->code < MS_GRPC_CODE_COUNT ? result->code : MS_GRPC_UNKNOWN;
    msi_header_reset(header);
    msi_header_add(header, ms_str_lit("grpc-status"), ms_str_cstr(status_digits[code]));
    if (result->message.bytes > 0) {
        add_message(header, result->message);
    }
    if (result->details.bytes > 0 && result->details.bytes < MSI_HEADER_OUT_BYTES_MAX / 2) {
        msi_header_add(header, ms_str_lit("grpc-status-details-bin"), result->details);
    }
    if (!msi_header_add_metadata(header, result->trailers)) {
        ms_grpc_result instead = {.code = MS_GRPC_INTERNAL,
                                  .message = ms_str_lit("the trailers cannot be sent")};
        write_trailers(call, &instead);
    }
}

static void send_result(ms_grpc_server_call *call, const ms_grpc_result *result)
{
    write_trailers(call, result);
    if (!call->has_headers && call->stream.queue.unsent_bytes == 0) {
        call->stream.wants_end = true;
        call->stream.is_end_given = true;
        submit_headers(call, "200", true, true);
    } else {
        msi_stream_end(&call->stream);
    }
}

/* nghttp2 takes the last bytes of the last message: the trailers follow. */
static void on_sent(msi_stream *stream)
{
    ms_grpc_server_call *call = of_stream(stream);
    nghttp2_nv *fields = field_room(call->shard, call->trailer_out.field_count);
    size_t count = msi_header_write(&call->trailer_out, fields);
    msi_h2_trailers(stream, fields, count);
}

/* An answer of the transport's own to a call that no handler knows. */
static void answer(ms_grpc_server_call *call, ms_grpc_code code, const char *text)
{
    ms_grpc_result result = {.code = code, .message = ms_str_cstr(text)};
    call->is_finished = true;
    msi_stream_discard(&call->stream);
    send_result(call, &result);
}

static void answer_http(ms_grpc_server_call *call, const char *status)
{
    call->is_finished = true;
    msi_stream_discard(&call->stream);
    call->stream.wants_end = true;
    call->stream.is_end_given = true;
    submit_headers(call, status, false, true);
}

/* The call is lost to the handler, which still has to finish it. */
static void cancel(ms_grpc_server_call *call)
{
    if (call->is_canceled || call->is_finished) {
        return;
    }
    call->is_canceled = true;
    ms_loop_timer_stop(call->shard->loop, &call->deadline);
    msi_stream_discard(&call->stream);
    if (call->shard->server->options.events->on_cancel != NULL) {
        call->shard->server->options.events->on_cancel(call);
    }
}

/* The transport ends a call that a handler works on. Messages that wait are given up; so when an
 * answer has begun, it is broken off. */
static void end_started(ms_grpc_server_call *call, ms_grpc_code code, const char *text)
{
    ms_grpc_result result = {.code = code, .message = ms_str_cstr(text)};
    if (call->is_canceled || call->is_finished) {
        return;
    }
    if (call->stream.queue.unsent_bytes == 0) {
        send_result(call, &result);
    } else {
        msi_h2_reset_stream(&call->stream, NGHTTP2_CANCEL);
    }
    cancel(call);
}

static void end_if_endless(ms_grpc_server_call *call)
{
    if (call->is_started && call->is_endless) {
        end_started(call, MS_GRPC_UNAVAILABLE, "the server is shutting down");
    }
}

void msi_server_end_endless(msi_h2 *h2)
{
    msi_stream *next = NULL;
    for (msi_stream *stream = h2->streams.next; stream != &h2->streams; stream = next) {
        next = stream->next;
        end_if_endless(of_stream(stream));
    }
}

static void deadline_passed(ms_loop_timer *timer)
{
    ms_grpc_server_call *call = MSI_OWNER(timer, ms_grpc_server_call, deadline);
    if (call->is_finished) {
        /* The answer is ready, but the client does not take it. */
        msi_h2_reset_stream(&call->stream, NGHTTP2_CANCEL);
    } else {
        end_started(call, MS_GRPC_DEADLINE_EXCEEDED, "the deadline has passed");
    }
}

/* Requests. */

/* What is no gRPC call gets an HTTP status. False: answered. */
static bool check_http(ms_grpc_server_call *call, const msi_header *header)
{
    if (!ms_str_equals(msi_header_value(header, MSI_HEADER_METHOD), ms_str_lit("POST"))) {
        answer_http(call, "405");
        return false;
    }
    switch (msi_grpc_type_of(msi_header_value(header, MSI_HEADER_CONTENT_TYPE))) {
    case MSI_GRPC_TYPE_NONE:
        answer_http(call, "415");
        return false;
    case MSI_GRPC_TYPE_OTHER:
        answer(call, MS_GRPC_UNIMPLEMENTED,
               "content-type is neither application/grpc nor application/grpc+proto");
        return false;
    case MSI_GRPC_TYPE_PROTO:
        break;
    }
    return true;
}

/* False: answered. */
static bool check_request(ms_grpc_server_call *call, const msi_header *header)
{
    const ms_grpc_server_options *options = &call->shard->server->options;
    ms_str encoding = msi_header_value(header, MSI_HEADER_GRPC_ENCODING);
    ms_str path = msi_header_value(header, MSI_HEADER_PATH);
    if (header->is_too_large) {
        answer(call, MS_GRPC_RESOURCE_EXHAUSTED, "received metadata larger than max");
    } else if (!check_http(call, header)) {
        return false;
    } else if (!ms_str_equals(msi_header_value(header, MSI_HEADER_TE), ms_str_lit("trailers"))) {
        answer(call, MS_GRPC_INTERNAL, "the header te: trailers is missing");
    } else if (path.bytes < 2 || path.ptr[0] != '/') {
        answer(call, MS_GRPC_UNIMPLEMENTED, "malformed method name");
    } else if (encoding.bytes > 0 && !ms_str_equals(encoding, ms_str_lit("identity"))) {
        msi_header_add(&call->header_out, ms_str_lit("grpc-accept-encoding"),
                       ms_str_lit("identity"));
        answer(call, MS_GRPC_UNIMPLEMENTED, "compressed messages are not supported");
    } else if (options->authorize != NULL &&
               !options->authorize(msi_header_value(header, MSI_HEADER_AUTHORIZATION),
                                   options->authorize_arg)) {
        answer(call, MS_GRPC_UNAUTHENTICATED, "the authorization is missing or not accepted");
    } else if (!msi_shard_admits(call->shard, call->stream.h2)) {
        call->shard->stats.refused++;
        answer(call, MS_GRPC_UNAVAILABLE, "too many bytes wait to be sent");
    }
    return !call->is_finished;
}

/* Starts the clock of the call. False: answered. */
static bool take_timeout(ms_grpc_server_call *call, const msi_header *header)
{
    int64_t timeout_ns = 0;
    call->deadline_ns = INT64_MAX;
    if (!msi_header_has(header, MSI_HEADER_GRPC_TIMEOUT)) {
        return true;
    }
    if (!msi_grpc_timeout_parse(msi_header_value(header, MSI_HEADER_GRPC_TIMEOUT), &timeout_ns)) {
        answer(call, MS_GRPC_INTERNAL, "malformed grpc-timeout");
        return false;
    }
    if (timeout_ns == 0) {
        answer(call, MS_GRPC_DEADLINE_EXCEEDED, "the deadline has passed");
        return false;
    }
    if (!__builtin_add_overflow(ms_loop_now_ns(call->shard->loop), timeout_ns,
                                &call->deadline_ns)) {
        ms_loop_timer_start(call->shard->loop, &call->deadline, call->deadline_ns);
    } else {
        call->deadline_ns = INT64_MAX;
    }
    return true;
}

static void on_headers(msi_stream *stream, msi_header *header, bool is_end)
{
    (void)is_end;
    ms_grpc_server_call *call = of_stream(stream);
    msi_shard *shard = call->shard;
    const ms_grpc_server_options *options = &shard->server->options;
    if (call->is_begun) {
        return; /* trailers of a request: gRPC has none */
    }
    call->is_begun = true;
    shard->stats.started++;
    if (!check_request(call, header) || !take_timeout(call, header)) {
        return;
    }
    if (!msi_header_take_metadata(header, options->authorize != NULL, &shard->pairs)) {
        answer(call, MS_GRPC_INTERNAL, "a binary header is not base64");
        return;
    }
    const msi_server_conn *conn = MSI_OWNER(stream->h2, msi_server_conn, h2);
    ms_grpc_server_start start = {.path = msi_header_value(header, MSI_HEADER_PATH),
                                  .metadata = {shard->pairs.pairs, shard->pairs.count},
                                  .deadline_ns = call->deadline_ns,
                                  .peer = ms_str_cstr(conn->peer)};
    call->is_started = true;
    shard->open_calls++;
    options->events->on_start(call, &start, options->arg);
}

static bool is_handled(const ms_grpc_server_call *call)
{
    return call->is_started && !call->is_finished && !call->is_canceled;
}

static void on_message(msi_stream *stream, ms_str message)
{
    ms_grpc_server_call *call = of_stream(stream);
    const ms_grpc_server_events *events = call->shard->server->options.events;
    if (is_handled(call) && events->on_message != NULL) {
        events->on_message(call, message);
    }
}

static void on_end(msi_stream *stream)
{
    ms_grpc_server_call *call = of_stream(stream);
    const ms_grpc_server_events *events = call->shard->server->options.events;
    if (is_handled(call) && events->on_half_close != NULL) {
        events->on_half_close(call);
    }
}

static void on_broken(msi_stream *stream, ms_grpc_code code, const char *text)
{
    end_started(of_stream(stream), code, text);
}

static void on_writable(msi_stream *stream)
{
    ms_grpc_server_call *call = of_stream(stream);
    const ms_grpc_server_events *events = call->shard->server->options.events;
    if (is_handled(call) && events->on_writable != NULL) {
        events->on_writable(call);
    }
}

/* A call of a server that drains has turned out to be endless. */
static void on_task(msi_stream *stream)
{
    end_if_endless(of_stream(stream));
}

static void on_closed(msi_stream *stream, uint32_t h2_error)
{
    (void)h2_error;
    ms_grpc_server_call *call = of_stream(stream);
    if (!call->is_started || call->is_finished) {
        recycle(call);
        return;
    }
    msi_stream_drop_queue(stream);
    cancel(call);
}

static const msi_stream_class call_class = {.on_headers = on_headers,
                                            .on_message = on_message,
                                            .on_end = on_end,
                                            .on_broken = on_broken,
                                            .on_writable = on_writable,
                                            .on_sent = on_sent,
                                            .on_task = on_task,
                                            .on_closed = on_closed};

/* The handler's side. */

ms_loop *ms_grpc_server_call_loop(const ms_grpc_server_call *call)
{
    return call->shard->loop;
}

void ms_grpc_server_call_set_user(ms_grpc_server_call *call, void *user)
{
    call->user = user;
}

void *ms_grpc_server_call_user(const ms_grpc_server_call *call)
{
    return call->user;
}

bool ms_grpc_server_call_is_canceled(const ms_grpc_server_call *call)
{
    return call->is_canceled;
}

void ms_grpc_server_call_send_headers(ms_grpc_server_call *call, ms_grpc_metadata metadata)
{
    MS_ASSERT(!call->is_finished);
    if (call->is_canceled) {
        return; /* the transport may have answered already */
    }
    MS_ASSERT(!call->has_headers);
    if (!msi_header_add_metadata(&call->header_out, metadata)) {
        msi_header_reset(&call->header_out); /* the answer matters more */
    }
    submit_headers(call, "200", true, false);
}

bool ms_grpc_server_call_send(ms_grpc_server_call *call, ms_grpc_message message)
{
    MS_ASSERT(!call->is_finished);
    if (call->is_canceled) {
        if (message.release != NULL) {
            message.release(message.arg);
        }
        return true;
    }
    bool has_room = msi_stream_send(&call->stream, &message);
    if (!call->has_headers) {
        submit_headers(call, "200", true, false);
    }
    return has_room;
}

size_t ms_grpc_server_call_unsent_bytes(const ms_grpc_server_call *call)
{
    return call->stream.queue.unsent_bytes;
}

bool ms_grpc_server_call_is_writable(const ms_grpc_server_call *call)
{
    return !call->stream.is_over_mark;
}

void ms_grpc_server_call_finish(ms_grpc_server_call *call, const ms_grpc_result *result)
{
    MS_ASSERT(call->is_started && !call->is_finished);
    call->shard->open_calls--;
    call->is_finished = true;
    if (!call->is_canceled) {
        msi_stream_discard(&call->stream);
        send_result(call, result);
    }
    if (call->stream.h2 == NULL) {
        recycle(call);
    }
}

void ms_grpc_server_call_set_endless(ms_grpc_server_call *call)
{
    call->is_endless = true;
    if (call->shard->is_draining) {
        msi_stream_soon(&call->stream); /* the drain has ended the others already */
    }
}

void ms_grpc_server_call_pause(ms_grpc_server_call *call)
{
    msi_stream_pause(&call->stream);
}

void ms_grpc_server_call_resume(ms_grpc_server_call *call)
{
    msi_stream_resume(&call->stream);
}
