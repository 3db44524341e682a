/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Change streams over gRPC. A read that breaks goes on from the last token that it was given, which
 * is behind everything that was delivered or stands in the page.
 */
/* tidy: no-unit-test: tests/unit/bigtable/server runs the tests of the store over it */
#include "base/memory.h"
#include "bigtable/client/client_priv.h"
#include "bigtable/client/grpc_stream.h"
#include "bigtable/wire/change_merge.h"
#include "bigtable/wire/range.h"
#include "bigtable/wire/time.h"

#define SECOND_NS INT64_C(1000000000)
#define TOKEN_BYTES_MAX ((size_t)1 << 20)

/* Reading. */

typedef struct change_read {
    msi_bt_stream stream;          /* first */
    ms_bt_change_attempt *attempt; /* only while a fill is outstanding */
    ms_bt_change_options options;
    ms_wire_change_merger merger;
    ms_buf token; /* behind what was read; empty: that of the options */
    bool has_progress;
    bool is_closed; /* a CLOSE was read */
} change_read;

_Static_assert(sizeof(change_read) <= MSI_OP_BYTES, "fits into an operation");

static void fill_request(const change_read *changes, ms_pb_read_change_stream_request *out,
                         ms_arena *arena)
{
    const ms_bt_change_options *options = &changes->options;
    out->app_profile_id = ms_wire_text(arena, options->app_profile);
    out->partition = ms_wire_partition_to_pb(&options->partition, arena);
    ms_bt_change_token own = {options->partition, ms_buf_view(&changes->token)};
    const ms_bt_change_token *tokens = changes->token.bytes > 0 ? &own : options->tokens;
    size_t token_count = changes->token.bytes > 0 ? 1 : options->token_count;
    if (token_count > 0) {
        ms_pb_stream_continuation_tokens *list = ms_pb_new(arena, stream_continuation_tokens);
        list->tokens = ms_arena_array(arena, ms_pb_stream_continuation_token *, token_count);
        list->n_tokens = token_count;
        for (size_t i = 0; i < token_count; i++) {
            list->tokens[i] = ms_wire_token_to_pb(&tokens[i], arena);
        }
        out->start_from_case =
            GOOGLE__BIGTABLE__V2__READ_CHANGE_STREAM_REQUEST__START_FROM_CONTINUATION_TOKENS;
        out->continuation_tokens = list;
    } else {
        out->start_from_case =
            GOOGLE__BIGTABLE__V2__READ_CHANGE_STREAM_REQUEST__START_FROM_START_TIME;
        out->start_time = ms_wire_timestamp_to_pb(options->start_micros, arena);
    }
    if (options->end_micros > 0) {
        out->end_time = ms_wire_timestamp_to_pb(options->end_micros, arena);
    }
    out->heartbeat_duration = ms_wire_duration_to_pb(options->heartbeat_ms * 1000, arena);
}

static ms_bt_code request(msi_op *op, ms_buf *message, ms_bt_status *bt)
{
    change_read *changes = (change_read *)(void *)op;
    ms_arena *arena = msi_op_fresh_scratch(op);
    ms_pb_read_change_stream_request *out = ms_pb_new(arena, read_change_stream_request);
    char path[MS_BT_TABLE_PATH_BYTES];
    ms_bt_table_name_path(&changes->options.table, path);
    out->table_name = path;
    fill_request(changes, out, arena);
    ms_status st = {0};
    ms_rc rc = ms_pb_pack(out, message, &st);
    if (rc != MS_OK) {
        return ms_bt_status_from(bt, MS_BT_RESOURCE_EXHAUSTED, &st);
    }
    msi_bt_stream_restart(&changes->stream);
    ms_wire_change_merger_restart(&changes->merger);
    changes->has_progress = false;
    return MS_BT_OK;
}

static msi_op_next end(msi_op *op)
{
    change_read *changes = (change_read *)(void *)op;
    if (changes->is_closed || op->is_ended) {
        return MSI_OP_FINISH;
    }
    if (ms_bt_status_is_ok(&op->status)) {
        /* A stream without a CLOSE has broken off, whatever it says. */
        ms_bt_status_set(&op->status, MS_BT_UNAVAILABLE,
                         "The change stream ended without a reason");
    }
    if (changes->has_progress) {
        msi_retry_progress(&op->retry);
    }
    return MSI_OP_AGAIN;
}

static const msi_op_class read_change_stream = {
    .path = "/google.bigtable.v2.Bigtable/ReadChangeStream",
    .policy = {.attempts_max = 10, .retries_aborted = true},
    .request = request,
    .message = msi_bt_stream_message,
    .end = end,
    .finish = msi_bt_stream_finish,
};

/* Remembers where the changes that the page has got go on. */
static ms_bt_code note_change(change_read *changes, const ms_bt_change *change, ms_bt_status *bt)
{
    ms_status st = {0};
    changes->has_progress = true;
    if (change->kind == MS_BT_CHANGE_CLOSE) {
        changes->is_closed = true;
        return MS_BT_OK;
    }
    if (change->token.bytes > 0) {
        ms_buf_reset(&changes->token);
        if (ms_buf_append(&changes->token, change->token, &st) != MS_OK) {
            return ms_bt_status_from(bt, MS_BT_RESOURCE_EXHAUSTED, &st);
        }
    }
    return MS_BT_OK;
}

static ms_bt_code take(msi_bt_stream *stream, ms_str message, size_t *at, ms_bt_status *bt)
{
    change_read *changes = (change_read *)(void *)stream;
    ms_bt_change_page *page = changes->attempt->page;
    *at = message.bytes;
    ms_arena *arena = msi_op_fresh_scratch(&stream->op);
    ms_pb_read_change_stream_response *response =
        ms_pb_unpack(read_change_stream_response, message, &ms_wire_response_limits, arena, bt);
    uint32_t count = page->change_count;
    if (response != NULL) {
        (void)ms_wire_change_merger_read(&changes->merger, response, page, bt);
    }
    if (ms_bt_status_is_ok(bt) && page->change_count > count) {
        (void)note_change(changes, &page->changes[page->change_count - 1], bt);
    }
    return bt->code;
}

static bool has_output(const msi_bt_stream *stream)
{
    const change_read *changes = (const change_read *)(const void *)stream;
    return changes->attempt->page->change_count > 0;
}

static bool is_full(const msi_bt_stream *stream)
{
    const change_read *changes = (const change_read *)(const void *)stream;
    return has_output(stream) &&
           (changes->attempt->page->bytes >= changes->options.page_bytes_max || changes->is_closed);
}

static ms_bt_code check_end(const msi_bt_stream *stream, ms_bt_status *bt)
{
    const change_read *changes = (const change_read *)(const void *)stream;
    return ms_wire_change_merger_end(&changes->merger, bt);
}

static void deliver(msi_bt_stream *stream, const ms_bt_status *bt, bool is_at_end)
{
    change_read *changes = (change_read *)(void *)stream;
    changes->attempt->status = *bt;
    changes->attempt->is_at_end = is_at_end || changes->is_closed;
    ms_bt_change_attempt_finish_in(changes->attempt, ms_loop_outbox(stream->op.grpc->loop));
}

static void destroy(msi_bt_stream *stream)
{
    change_read *changes = (change_read *)(void *)stream;
    ms_wire_change_merger_release(&changes->merger);
    ms_buf_release(&changes->token);
    msi_bt_stream_destroy(stream);
}

static const msi_bt_stream_class changes_stream = {
    .take = take,
    .has_output = has_output,
    .is_full = is_full,
    .check_end = check_end,
    .deliver = deliver,
    .destroy = destroy,
};

/* Slots of the transport. */

void msi_grpc_change_open(ms_bt_transport *transport, ms_bt_change_attempt *attempt)
{
    msi_op *op = msi_op_create((msi_grpc *)(void *)transport, &read_change_stream, 0);
    change_read *opened = (change_read *)(void *)op;
    msi_client_copy_change_options(&op->arena, attempt->options, &opened->options);
    if (opened->options.start_micros == 0) {
        /* All attempts mean the same moment. */
        opened->options.start_micros = ms_env_wall_us();
    }
    msi_op_set_table(op, &opened->options.table, opened->options.app_profile);
    msi_bt_stream_init(&opened->stream, &changes_stream);
    ms_wire_change_merger_init(&opened->merger);
    ms_buf_init(&opened->token, TOKEN_BYTES_MAX);
    opened->attempt = attempt;
    attempt->transport_data = opened;
}

void msi_grpc_change_fill(ms_bt_transport *transport, ms_bt_change_attempt *attempt)
{
    (void)transport;
    msi_bt_stream_fill(attempt->transport_data);
}

void msi_grpc_change_cancel(ms_bt_transport *transport, ms_bt_change_attempt *attempt)
{
    (void)transport;
    msi_bt_stream_cancel(attempt->transport_data);
}

void msi_grpc_change_close(ms_bt_transport *transport, ms_bt_change_attempt *attempt)
{
    (void)transport;
    msi_bt_stream_close(attempt->transport_data);
}
