/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls, client side. The answer's code, message and trailers stay in the header block in which
 * they came until the messages before them were read, so a paused call needs no copy of them.
 */
#include "base/memory.h"
#include "base/num.h"
#include "net/grpc_client_priv.h"
#include "net/grpc_text_priv.h"

#include <stdio.h>

/* When more than this is unsent, ms_grpc_call_send says so. */
#define CALL_MARK_BYTES (256u << 10)

/* Pseudo header fields and others that are the same for all calls of a channel. */
#define FIXED_FIELDS 6

static const msi_stream_class call_class;

static ms_grpc_call *of_stream(msi_stream *stream)
{
    return MSI_OWNER(stream, ms_grpc_call, stream);
}

/* The end. */

static void leave_lists(ms_grpc_call *call)
{
    call->prev->next = call->next;
    call->next->prev = call->prev;
    call->next = NULL;
    call->prev = NULL;
    msi_channel_unwait(call);
    if (call->channel->credentials != NULL) {
        ms_credentials_cancel_wait(call->channel->credentials, &call->wait);
    }
    ms_loop_timer_stop(call->channel->loop, &call->deadline);
    call->channel->stats.calls_active -= call->stream.h2 != NULL;
}

/* The server did not accept the token that the credentials gave. */
static void reject_token(ms_grpc_call *call)
{
    const msi_header *header = &call->header_out;
    for (uint32_t i = 0; i < call->own_fields; i++) {
        const msi_header_field *field = &header->fields[i];
        ms_str key = {header->text.ptr + field->key, field->key_bytes};
        ms_str value = {header->text.ptr + field->value, field->value_bytes};
        if (ms_str_equals(key, ms_str_lit("authorization"))) {
            ms_credentials_reject(call->channel->credentials, value);
        }
    }
}

/* Tells the user, and lets the call go as soon as its stream does. */
static void finish(ms_grpc_call *call, const ms_grpc_result *result)
{
    if (call->is_done) {
        return;
    }
    call->is_done = true;
    leave_lists(call);
    msi_stream_discard(&call->stream);
    if (result->code == MS_GRPC_UNAUTHENTICATED && call->has_authorization) {
        reject_token(call);
    }
    call->channel->callbacks++;
    call->events->on_done(call, result, call->arg);
    call->channel->callbacks--;
    msi_stream *stream = &call->stream;
    if (stream->h2 == NULL && stream->is_reading_held) {
        msi_stream_soon(stream); /* it ends while it reads: it goes when that is over */
    } else if (stream->h2 == NULL) {
        msi_channel_recycle(call->channel, call);
    } else if (!stream->is_in_ended || !stream->is_end_given) {
        msi_h2_reset_stream(stream, NGHTTP2_CANCEL);
    }
}

void msi_call_end(ms_grpc_call *call, ms_grpc_code code, const char *text)
{
    ms_grpc_result result = {.code = code,
                             .message = ms_str_cstr(text),
                             .is_unprocessed = call->is_unprocessed,
                             .obstacle = call->obstacle};
    finish(call, &result);
}

/* The same, in the task. */
static void end_soon(ms_grpc_call *call, ms_grpc_code code, const char *text)
{
    call->end_code = code;
    snprintf(call->end_text, sizeof(call->end_text), "%s", text);
    msi_channel_unwait(call);
    msi_stream_discard(&call->stream);
    msi_stream_soon(&call->stream);
}

static void on_task(msi_stream *stream)
{
    ms_grpc_call *call = of_stream(stream);
    if (call->is_done && stream->h2 == NULL) {
        msi_channel_recycle(call->channel, call);
    } else if (call->end_code != MS_GRPC_OK && !call->is_done) {
        msi_call_end(call, call->end_code, call->end_text);
    }
}

static void deadline_passed(ms_loop_timer *timer)
{
    ms_grpc_call *call = MSI_OWNER(timer, ms_grpc_call, deadline);
    const ms_grpc_channel *channel = call->channel;
    char text[MSI_CALL_TEXT_BYTES] = "the deadline has passed";
    if (call->prev_waiting != NULL) {
        const ms_status *why = &channel->failure;
        bool has_failed = channel->stats.connect_failures > 0;
        snprintf(text, sizeof(text),
                 "the deadline has passed while waiting for a connection to %.100s%s%s",
                 channel->authority, has_failed ? "; the last attempt: " : "",
                 has_failed ? why->message : "");
        call->is_unprocessed = true;
    } else if (call->stream.h2 == NULL && call->lost_h2 == NULL && channel->credentials != NULL &&
               !call->has_authorization) {
        snprintf(text, sizeof(text), "the deadline has passed while waiting for credentials");
        call->is_unprocessed = true;
    }
    msi_call_end(call, MS_GRPC_DEADLINE_EXCEEDED, text);
}

/* The answer. */

/* A code outside the enumeration is UNKNOWN, as the document has it. */
static ms_grpc_code parse_code(ms_str text)
{
    unsigned code = 0;
    if (text.bytes == 0 || text.bytes > 9) {
        return MS_GRPC_UNKNOWN;
    }
    for (size_t i = 0; i < text.bytes; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') {
            return MS_GRPC_UNKNOWN;
        }
        code = code * 10 + (unsigned)(text.ptr[i] - '0');
    }
    return code < MS_GRPC_CODE_COUNT ? (ms_grpc_code)code : MS_GRPC_UNKNOWN;
}

/* A value of the block, as it can be changed in place. */
static char *writable(msi_header *header, ms_str value)
{
    return header->text.ptr + (value.ptr - header->text.ptr);
}

/* Ends the call with the trailers that came. */
static void finish_with_trailers(ms_grpc_call *call)
{
    msi_header *header = &call->trailers_in;
    ms_grpc_result result = {.code = parse_code(msi_header_value(header, MSI_HEADER_GRPC_STATUS))};
    ms_str message = msi_header_value(header, MSI_HEADER_GRPC_MESSAGE);
    ms_str details = msi_header_value(header, MSI_HEADER_GRPC_DETAILS);
    if (message.bytes > 0) {
        char *out = writable(header, message);
        result.message = (ms_str){out, msi_grpc_percent_decode(message, out)};
    }
    if (details.bytes > 0) {
        char *out = writable(header, details);
        size_t bytes = msi_base64_decode(details, out);
        result.details = (ms_str){out, bytes == SIZE_MAX ? 0 : bytes};
    }
    if (!msi_header_take_metadata(header, false, &call->channel->pairs)) {
        msi_call_end(call, MS_GRPC_INTERNAL, "a trailer is not base64");
        return;
    }
    result.trailers = (ms_grpc_metadata){call->channel->pairs.pairs, call->channel->pairs.count};
    finish(call, &result);
}

/* Ends a call whose answer is not gRPC's, and takes no more of it. */
static void finish_foreign(ms_grpc_call *call, ms_grpc_code code, const char *what, ms_str value)
{
    char text[MSI_CALL_TEXT_BYTES];
    snprintf(text, sizeof(text), "%s \"%.*s\"", what, MS_STR_ARG(ms_str_slice(value, 0, 200)));
    msi_call_end(call, code, text);
}

/* The first block of an answer. False: it was not one of gRPC, and the call has ended. */
static bool check_answer(ms_grpc_call *call, const msi_header *header)
{
    ms_str status = msi_header_value(header, MSI_HEADER_STATUS);
    ms_str type = msi_header_value(header, MSI_HEADER_CONTENT_TYPE);
    ms_str encoding = msi_header_value(header, MSI_HEADER_GRPC_ENCODING);
    bool is_grpc = msi_grpc_type_of(type) == MSI_GRPC_TYPE_PROTO;
    if (call->http_status != 200 && !(is_grpc && msi_header_has(header, MSI_HEADER_GRPC_STATUS))) {
        finish_foreign(call, msi_grpc_code_of_http(call->http_status), "HTTP status", status);
        return false;
    }
    if (!is_grpc) {
        finish_foreign(call, MS_GRPC_UNKNOWN, "the server answered with content-type", type);
        return false;
    }
    if (encoding.bytes > 0 && !ms_str_equals(encoding, ms_str_lit("identity"))) {
        finish_foreign(call, MS_GRPC_INTERNAL, "the server answered with grpc-encoding", encoding);
        return false;
    }
    return true;
}

static void begin_answer(ms_grpc_call *call, msi_header *header)
{
    call->has_headers = true;
    msi_queue_set_keeps(&call->stream.queue, false);
    if (!msi_header_take_metadata(header, false, &call->channel->pairs)) {
        msi_call_end(call, MS_GRPC_INTERNAL, "a header is not base64");
    } else if (call->events->on_headers != NULL) {
        ms_grpc_metadata metadata = {call->channel->pairs.pairs, call->channel->pairs.count};
        call->channel->callbacks++;
        call->events->on_headers(call, metadata, call->arg);
        call->channel->callbacks--;
    }
}

static unsigned parse_http_status(ms_str text)
{
    unsigned status = 0;
    for (size_t i = 0; i < text.bytes && i < 3; i++) {
        status = status * 10 + (unsigned)(text.ptr[i] - '0');
    }
    return status; /* nghttp2 has seen to it that it is three digits */
}

static void on_headers(msi_stream *stream, msi_header *header, bool is_end)
{
    ms_grpc_call *call = of_stream(stream);
    if (call->is_done) {
        return;
    }
    if (header->is_too_large) {
        msi_call_end(call, MS_GRPC_RESOURCE_EXHAUSTED, "received metadata larger than max");
        return;
    }
    if (!call->has_headers) {
        call->http_status = parse_http_status(msi_header_value(header, MSI_HEADER_STATUS));
        if (call->http_status < 200 || !check_answer(call, header)) {
            return; /* an interim answer, or the end */
        }
    }
    if (is_end) {
        call->has_trailers = msi_header_has(header, MSI_HEADER_GRPC_STATUS);
        call->has_headers = true;
        msi_header_swap(header, &call->trailers_in); /* messages may come to be read before */
    } else if (!call->has_headers) {
        begin_answer(call, header);
    }
}

static void on_message(msi_stream *stream, ms_str message)
{
    ms_grpc_call *call = of_stream(stream);
    if (!call->has_headers) {
        msi_call_end(call, MS_GRPC_INTERNAL, "the server sent data before headers");
    } else if (!call->is_done && call->events->on_message != NULL) {
        call->channel->callbacks++;
        call->events->on_message(call, message, call->arg);
        call->channel->callbacks--;
    }
}

static void on_end(msi_stream *stream)
{
    ms_grpc_call *call = of_stream(stream);
    if (call->has_trailers) {
        finish_with_trailers(call);
    } else {
        msi_call_end(call, MS_GRPC_INTERNAL, "the server ended the call without a status");
    }
}

static void on_broken(msi_stream *stream, ms_grpc_code code, const char *text)
{
    ms_grpc_call *call = of_stream(stream);
    /* An error that the server told explains a message that was cut off. */
    if (call->has_trailers && code == MS_GRPC_INTERNAL &&
        parse_code(msi_header_value(&call->trailers_in, MSI_HEADER_GRPC_STATUS)) != MS_GRPC_OK) {
        finish_with_trailers(call);
        return;
    }
    msi_call_end(call, code, text);
}

static void on_writable(msi_stream *stream)
{
    ms_grpc_call *call = of_stream(stream);
    if (!call->is_done && call->events->on_writable != NULL) {
        call->channel->callbacks++;
        call->events->on_writable(call, call->arg);
        call->channel->callbacks--;
    }
}

/* The stream's end. */

/* The server has not begun with the call: it goes out once more. False: it may not. */
static bool send_again(ms_grpc_call *call)
{
    if (call->has_headers || call->is_resent || !call->stream.queue.keeps ||
        call->channel->is_destroyed) {
        return false;
    }
    call->is_resent = true;
    call->channel->stats.calls_resent++;
    msi_stream_rewind(&call->stream);
    msi_channel_place(call->channel, call, true);
    return true;
}

static void end_lost(ms_grpc_call *call, const ms_status *why)
{
    char text[MSI_CALL_TEXT_BYTES];
    if (call->channel->is_destroyed) {
        msi_call_end(call, MS_GRPC_CANCELLED, "the channel was closed");
        return;
    }
    snprintf(text, sizeof(text), "%s%s%.200s", why->message, why->detail[0] != '\0' ? ": " : "",
             why->detail);
    msi_call_end(call, MS_GRPC_UNAVAILABLE, text);
}

static void on_closed(msi_stream *stream, uint32_t h2_error)
{
    ms_grpc_call *call = of_stream(stream);
    if (call->is_done) {
        msi_channel_recycle(call->channel, call);
        return;
    }
    call->channel->stats.calls_active--;
    if (stream->is_in_ended && !stream->is_in_done) {
        return; /* all is here; it waits until what is held was read */
    }
    if (call->end_code != MS_GRPC_OK) {
        return; /* the end is due in the task */
    }
    if (h2_error == MSI_H2_CONNECTION_LOST) {
        end_lost(call, &call->lost_h2->lost_why);
        return;
    }
    if (h2_error == NGHTTP2_REFUSED_STREAM) {
        if (send_again(call)) {
            return;
        }
        call->is_unprocessed = !call->has_headers;
    }
    if (h2_error == NGHTTP2_CANCEL && ms_env_mono_ns() >= call->deadline_ns) {
        /* The server keeps the deadline as well, and was quicker than our timer. */
        msi_call_end(call, MS_GRPC_DEADLINE_EXCEEDED, "the deadline has passed");
        return;
    }
    char text[MSI_CALL_TEXT_BYTES];
    snprintf(text, sizeof(text), "the stream was reset: HTTP/2 error %s",
             msi_h2_error_name(h2_error));
    msi_call_end(call, msi_grpc_code_of_h2(h2_error), text);
}

static const msi_stream_class call_class = {.on_headers = on_headers,
                                            .on_message = on_message,
                                            .on_end = on_end,
                                            .on_broken = on_broken,
                                            .on_writable = on_writable,
                                            .on_task = on_task,
                                            .on_closed = on_closed};

/* Sending. */

static nghttp2_nv *field_room(ms_grpc_channel *channel, size_t count)
{
    if (count > channel->field_capacity) {
        channel->field_capacity = count * 2;
        channel->fields =
            ms_mem_realloc(channel->fields, channel->field_capacity * sizeof(channel->fields[0]));
    }
    return channel->fields;
}

static void add_timeout(ms_grpc_call *call)
{
    char text[MSI_GRPC_TIMEOUT_BYTES];
    if (call->deadline_ns != INT64_MAX) {
        int64_t left_ns = call->deadline_ns - ms_loop_now_ns(call->channel->loop);
        size_t bytes = msi_grpc_timeout_format(left_ns, text);
        msi_header_add(&call->header_out, ms_str_lit("grpc-timeout"), (ms_str){text, bytes});
    }
}

void msi_call_send_on(ms_grpc_call *call, msi_h2 *h2)
{
    ms_grpc_channel *channel = call->channel;
    call->header_out.field_count = call->own_fields; /* without those of an earlier attempt */
    add_timeout(call);
    nghttp2_nv *fields = field_room(channel, call->header_out.field_count + FIXED_FIELDS);
    size_t count = 0;
    fields[count++] = msi_header_constant(":method", "POST");
    fields[count++] = msi_header_constant(":scheme", channel->tls != NULL ? "https" : "http");
    fields[count++] = msi_header_constant(":authority", channel->authority);
    size_t own = msi_header_write(&call->header_out, fields + count);
    if (call->deadline_ns != INT64_MAX) {
        /* Different each time: it would only push others out of the table of HPACK. */
        fields[count + own - 1].flags |= NGHTTP2_NV_FLAG_NO_INDEX;
    }
    count += own;
    fields[count++] = msi_header_constant("te", "trailers");
    fields[count++] = msi_header_constant("content-type", "application/grpc");
    fields[count++] = msi_header_constant("user-agent", channel->user_agent);
    call->lost_h2 = h2;
    channel->stats.calls_active++;
    msi_h2_request(h2, &call->stream, fields, count);
}

/* Starting. */

static void add_authorization(ms_grpc_call *call, ms_str authorization)
{
    if (authorization.bytes > 0) {
        msi_header_add(&call->header_out, ms_str_lit("authorization"), authorization);
        call->own_fields = call->header_out.field_count;
        call->has_authorization = true;
    }
}

static void end_without_credentials(ms_grpc_call *call, const ms_status *why)
{
    char text[MSI_CALL_TEXT_BYTES];
    snprintf(text, sizeof(text), "no token from the credentials (%s): %s%s%.150s",
             ms_credentials_name(call->channel->credentials), why->message,
             why->detail[0] != '\0' ? ": " : "", why->detail);
    call->is_unprocessed = true;
    end_soon(call, why->retriable ? MS_GRPC_UNAVAILABLE : MS_GRPC_UNAUTHENTICATED, text);
}

static void credentials_ready(ms_credentials_wait *wait, ms_str authorization, const ms_status *st)
{
    ms_grpc_call *call = MSI_OWNER(wait, ms_grpc_call, wait);
    if (call->end_code != MS_GRPC_OK) {
        return; /* it was canceled */
    }
    if (st->code != MS_OK) {
        end_without_credentials(call, st);
        return;
    }
    add_authorization(call, authorization);
    msi_channel_place(call->channel, call, false);
}

/* Gets the authorization. False: it comes later, or the call ends. */
static bool authorize(ms_grpc_call *call)
{
    ms_str authorization = {0};
    ms_status st = {0};
    switch (ms_credentials_get(call->channel->credentials, &call->wait, &authorization, &st)) {
    case MS_CREDENTIALS_READY:
        add_authorization(call, authorization);
        return true;
    case MS_CREDENTIALS_PENDING:
        return false;
    case MS_CREDENTIALS_FAILED:
        end_without_credentials(call, &st);
        return false;
    }
    MS_UNREACHABLE();
}

/* Gets the authorization, then a connection. */
static void go(ms_grpc_call *call)
{
    if (call->channel->credentials == NULL || authorize(call)) {
        msi_channel_place(call->channel, call, false);
    }
}

/* Ends a call for which there is no connection, in the task. */
void msi_call_end_unsent(ms_grpc_call *call, const ms_status *why, ms_tls_obstacle obstacle)
{
    char text[MSI_CALL_TEXT_BYTES];
    snprintf(text, sizeof(text), "%s%s%.200s", why->message, why->detail[0] != '\0' ? ": " : "",
             why->detail);
    call->is_unprocessed = true;
    call->obstacle = obstacle;
    end_soon(call, MS_GRPC_UNAVAILABLE, text);
}

static ms_grpc_call *new_call(ms_grpc_channel *channel)
{
    ms_grpc_call *call = channel->pool;
    channel->call_objects++;
    if (call != NULL) {
        channel->pool = call->next;
        channel->pool_count--;
        return call;
    }
    call = ms_mem_calloc(1, sizeof(*call));
    msi_stream_options options = {.loop = channel->loop,
                                  .message_bytes_max = channel->message_bytes_max,
                                  .mark_bytes = CALL_MARK_BYTES,
                                  .inbound = &channel->inbound,
                                  .outbound = &channel->outbound};
    msi_stream_init(&call->stream, &call_class, &options);
    msi_header_init(&call->header_out, SIZE_MAX);
    msi_header_init(&call->trailers_in, SIZE_MAX);
    ms_loop_timer_init(&call->deadline, deadline_passed);
    call->channel = channel;
    return call;
}

void msi_call_reset(ms_grpc_call *call)
{
    if (call->has_authorization) {
        ms_secret_wipe(call->header_out.text.ptr, call->header_out.text.bytes);
    }
    msi_header_reset(&call->header_out);
    msi_header_reset(&call->trailers_in);
    msi_stream_reset(&call->stream);
}

void msi_call_free(ms_grpc_call *call)
{
    msi_stream_release(&call->stream);
    msi_header_release(&call->header_out);
    msi_header_release(&call->trailers_in);
    ms_mem_free(call);
}

/* Sets what is not left over from the call before. */
static void init_call(ms_grpc_call *call, const ms_grpc_call_options *options)
{
    ms_grpc_channel *channel = call->channel;
    call->events = options->events;
    call->arg = options->arg;
    call->deadline_ns = options->deadline_ns != 0 ? options->deadline_ns : INT64_MAX;
    call->wait = (ms_credentials_wait){.ready = credentials_ready};
    call->end_code = MS_GRPC_OK;
    call->http_status = 0;
    call->is_unprocessed = false;
    call->obstacle = MS_TLS_OBSTACLE_NONE;
    call->waits_for_ready = options->wait_for_ready;
    call->has_authorization = false;
    call->has_headers = false;
    call->has_trailers = false;
    call->is_resent = false;
    call->is_done = false;
    call->next_waiting = NULL;
    call->prev_waiting = NULL;
    call->lost_h2 = NULL;
    call->next = &channel->calls;
    call->prev = channel->calls.prev;
    call->prev->next = call;
    channel->calls.prev = call;
    channel->stats.calls_started++;
    msi_queue_set_keeps(&call->stream.queue, true);
}

ms_grpc_call *ms_grpc_call_start(ms_grpc_channel *channel, const ms_grpc_call_options *options)
{
    MS_ASSERT_SLOW(ms_loop_is_current(channel->loop));
    MS_ASSERT(options->events != NULL && options->events->on_done != NULL);
    MS_ASSERT(options->path.bytes > 0 && options->path.bytes <= MSI_HEADER_OUT_BYTES_MAX);
    ms_grpc_call *call = new_call(channel);
    init_call(call, options);
    msi_header_add(&call->header_out, ms_str_lit(":path"), options->path);
    bool is_valid = msi_header_add_metadata(&call->header_out, options->metadata);
    call->own_fields = call->header_out.field_count;
    if (options->request != NULL) {
        (void)msi_stream_send(&call->stream, options->request);
        msi_stream_end(&call->stream);
    }
    if (channel->is_destroyed) {
        end_soon(call, MS_GRPC_CANCELLED, "the channel was closed");
        return call;
    }
    if (!is_valid) {
        end_soon(call, MS_GRPC_INTERNAL, "the metadata cannot be sent");
        return call;
    }
    if (call->deadline_ns != INT64_MAX) {
        ms_loop_timer_start(channel->loop, &call->deadline, call->deadline_ns);
    }
    go(call);
    return call;
}

/* Using. */

bool ms_grpc_call_send(ms_grpc_call *call, ms_grpc_message message)
{
    MS_ASSERT(!call->stream.wants_end);
    if (call->is_done || call->end_code != MS_GRPC_OK) {
        if (message.release != NULL) {
            message.release(message.arg);
        }
        return true;
    }
    if (call->stream.queue.message_count > 0) {
        msi_queue_set_keeps(&call->stream.queue, false);
    }
    return msi_stream_send(&call->stream, &message);
}

void ms_grpc_call_half_close(ms_grpc_call *call)
{
    if (!call->stream.wants_end) {
        msi_stream_end(&call->stream);
    }
}

void ms_grpc_call_cancel(ms_grpc_call *call)
{
    if (!call->is_done && call->end_code == MS_GRPC_OK) {
        end_soon(call, MS_GRPC_CANCELLED, "the call was canceled");
    }
}

void ms_grpc_call_pause(ms_grpc_call *call)
{
    msi_stream_pause(&call->stream);
}

void ms_grpc_call_resume(ms_grpc_call *call)
{
    msi_stream_resume(&call->stream);
}
