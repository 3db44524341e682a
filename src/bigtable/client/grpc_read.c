/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ReadRows over gRPC. The first request is the caller's own; each later one asks for the rows
 * behind the last that was completed or reported as scanned, and for what is left of the limit.
 * When nothing is left, a failure is no failure any more.
 */
/* tidy: no-unit-test: tests/conformance runs each case of it over a scripted server */
#include "base/memory.h"
#include "bigtable/client/client_priv.h"
#include "bigtable/client/grpc_stream.h"
#include "bigtable/wire/filter.h"
#include "bigtable/wire/range.h"
#include "bigtable/wire/read_rows_merge.h"

#define SECOND_NS INT64_C(1000000000)

typedef struct rows_read {
    msi_bt_stream stream;   /* first */
    ms_bt_attempt *attempt; /* only while a fill is outstanding */
    ms_bt_read_options options;
    ms_wire_rows_merger merger;
    ms_buf last_before; /* the last key when this attempt began; empty: none */
} rows_read;

_Static_assert(sizeof(rows_read) <= MSI_OP_BYTES, "fits into an operation");

/* What is left to ask for. */

/* The part of a range that is not done yet. */
static ms_bt_range range_left(const ms_bt_range *range, ms_str last, bool is_reversed)
{
    if (!is_reversed) {
        return ms_bt_range_after(range, last);
    }
    ms_bt_range left = *range;
    bool reaches = range->end.kind == MS_BT_BOUND_NONE ||
                   ms_str_compare(range->end.key, last) > 0 ||
                   (range->end.kind == MS_BT_BOUND_CLOSED && ms_str_equals(range->end.key, last));
    if (reaches) {
        left.end = (ms_bt_bound){MS_BT_BOUND_OPEN, last};
    }
    return left;
}

/* The rows that are left of those wanted. False: none is. */
static bool rows_left(const rows_read *rows, ms_arena *arena, ms_bt_row_set *left_out)
{
    const ms_bt_read_options *options = &rows->options;
    ms_str last;
    *left_out = options->rows;
    if (!ms_wire_rows_merger_last_key(&rows->merger, &last)) {
        return true;
    }
    static const ms_bt_range everything;
    bool is_whole = options->rows.key_count == 0 && options->rows.range_count == 0;
    const ms_bt_range *ranges = is_whole ? &everything : options->rows.ranges;
    size_t range_count = is_whole ? 1 : options->rows.range_count;
    ms_str *keys_left = ms_arena_array(arena, ms_str, options->rows.key_count);
    ms_bt_range *ranges_left = ms_arena_array(arena, ms_bt_range, range_count);
    *left_out = (ms_bt_row_set){.keys = keys_left, .ranges = ranges_left};
    for (size_t i = 0; i < options->rows.key_count; i++) {
        int order = ms_str_compare(options->rows.keys[i], last);
        if (options->is_reversed ? order < 0 : order > 0) {
            keys_left[left_out->key_count++] = options->rows.keys[i];
        }
    }
    for (size_t i = 0; i < range_count; i++) {
        ms_bt_range left = range_left(&ranges[i], last, options->is_reversed);
        if (!ms_bt_range_is_empty(&left)) {
            ranges_left[left_out->range_count++] = left;
        }
    }
    return left_out->key_count + left_out->range_count > 0;
}

static bool is_limit_reached(const rows_read *rows)
{
    int64_t limit = rows->options.rows_limit;
    return limit > 0 && rows->merger.rows >= (uint64_t)limit;
}

/* Progress: a row, or only word of rows that a filter dropped. */

static ms_bt_code note_last(rows_read *rows, ms_bt_status *bt)
{
    ms_status st = {0};
    ms_str last = {NULL, 0};
    (void)ms_wire_rows_merger_last_key(&rows->merger, &last);
    ms_buf_reset(&rows->last_before);
    return ms_buf_append(&rows->last_before, last, &st) == MS_OK
               ? MS_BT_OK
               : ms_bt_status_from(bt, MS_BT_RESOURCE_EXHAUSTED, &st);
}

static bool has_come_further(const rows_read *rows)
{
    ms_str last;
    return ms_wire_rows_merger_last_key(&rows->merger, &last) &&
           !ms_str_equals(last, ms_buf_view(&rows->last_before));
}

/* The class of the operation. */

static ms_bt_code request(msi_op *op, ms_buf *message, ms_bt_status *bt)
{
    rows_read *rows = (rows_read *)(void *)op;
    const ms_bt_read_options *options = &rows->options;
    ms_arena *arena = msi_op_fresh_scratch(op);
    ms_pb_read_rows_request *out = ms_pb_new(arena, read_rows_request);
    ms_bt_row_set left;
    /* An empty set would ask for all rows; end() lets nobody come here with one. */
    bool is_any_left = rows_left(rows, arena, &left);
    MS_ASSERT(is_any_left);
    char path[MS_BT_TABLE_PATH_BYTES];
    ms_bt_table_name_path(&options->table, path);
    out->table_name = path;
    out->app_profile_id = ms_wire_text(arena, options->app_profile);
    out->rows = ms_wire_row_set_to_pb(&left, arena);
    out->filter = ms_wire_filter_to_pb(options->filter, arena);
    out->rows_limit =
        options->rows_limit > 0 ? options->rows_limit - (int64_t)rows->merger.rows : 0;
    out->reversed = options->is_reversed;
    if (options->wants_stats) {
        out->request_stats_view =
            GOOGLE__BIGTABLE__V2__READ_ROWS_REQUEST__REQUEST_STATS_VIEW__REQUEST_STATS_FULL;
    }
    ms_status st = {0};
    ms_rc rc = ms_pb_pack(out, message, &st);
    if (rc != MS_OK) {
        return ms_bt_status_from(bt, MS_BT_RESOURCE_EXHAUSTED, &st);
    }
    msi_bt_stream_restart(&rows->stream);
    return note_last(rows, bt);
}

static msi_op_next end(msi_op *op)
{
    rows_read *rows = (rows_read *)(void *)op;
    if (ms_bt_status_is_ok(&op->status)) {
        return MSI_OP_FINISH;
    }
    if (rows->stream.is_wanted) {
        /* A part of a row is in the page only while one is wanted. */
        ms_wire_rows_merger_restart(&rows->merger, rows->attempt->page);
    }
    if (has_come_further(rows)) {
        msi_retry_progress(&op->retry);
    }
    ms_arena *arena = msi_op_fresh_scratch(op);
    ms_bt_row_set left;
    bool is_done = is_limit_reached(rows) || !rows_left(rows, arena, &left);
    if (!is_done || op->is_ended) {
        return MSI_OP_AGAIN;
    }
    ms_bt_status_clear(&op->status);
    return MSI_OP_FINISH;
}

static const msi_op_class read_rows = {
    .path = "/google.bigtable.v2.Bigtable/ReadRows",
    .policy = {.attempt_ns = 1800 * SECOND_NS,
               .total_ns = 43200 * SECOND_NS,
               .attempts_max = 10,
               .retries_aborted = true},
    .request = request,
    .message = msi_bt_stream_message,
    .end = end,
    .finish = msi_bt_stream_finish,
};

/* The class of the stream. */

static ms_bt_code take(msi_bt_stream *stream, ms_str message, size_t *at, ms_bt_status *bt)
{
    rows_read *rows = (rows_read *)(void *)stream;
    const ms_bt_read_options *options = &rows->options;
    return ms_wire_rows_merger_read(&rows->merger, message, at, rows->attempt->page,
                                    options->page_rows_max, options->page_bytes_max, bt);
}

static bool has_output(const msi_bt_stream *stream)
{
    const rows_read *rows = (const rows_read *)(const void *)stream;
    return rows->attempt->page->row_count > 0 && !ms_wire_rows_merger_has_row(&rows->merger);
}

static bool is_full(const msi_bt_stream *stream)
{
    const rows_read *rows = (const rows_read *)(const void *)stream;
    const ms_bt_read_options *options = &rows->options;
    const ms_bt_page *page = rows->attempt->page;
    return has_output(stream) && (page->row_count >= options->page_rows_max ||
                                  ms_bt_page_used_bytes(page) >= options->page_bytes_max);
}

static ms_bt_code check_end(const msi_bt_stream *stream, ms_bt_status *bt)
{
    const rows_read *rows = (const rows_read *)(const void *)stream;
    return ms_wire_rows_merger_end(&rows->merger, bt);
}

static void drop_partial(msi_bt_stream *stream)
{
    rows_read *rows = (rows_read *)(void *)stream;
    ms_wire_rows_merger_restart(&rows->merger, rows->attempt->page);
}

static void deliver(msi_bt_stream *stream, const ms_bt_status *bt, bool is_at_end)
{
    rows_read *rows = (rows_read *)(void *)stream;
    ms_bt_attempt *attempt = rows->attempt;
    const ms_wire_read_stats *stats = &rows->merger.stats;
    attempt->status = *bt;
    attempt->is_at_end = is_at_end;
    if (!ms_bt_status_is_ok(bt)) {
        attempt->large_row = rows->stream.op.large_row;
    }
    attempt->stats.rows_returned += attempt->page->row_count;
    attempt->stats.cells_returned += attempt->page->cell_count;
    if (rows->merger.has_stats) {
        attempt->stats.rows_seen = (uint64_t)stats->rows_seen;
        attempt->stats.cells_seen = (uint64_t)stats->cells_seen;
    }
    ms_bt_attempt_finish_in(attempt, ms_loop_outbox(stream->op.grpc->loop));
}

static void destroy(msi_bt_stream *stream)
{
    rows_read *rows = (rows_read *)(void *)stream;
    ms_wire_rows_merger_release(&rows->merger);
    ms_buf_release(&rows->last_before);
    msi_bt_stream_destroy(stream);
}

static const msi_bt_stream_class rows_stream = {
    .take = take,
    .has_output = has_output,
    .is_full = is_full,
    .check_end = check_end,
    .drop_partial = drop_partial,
    .deliver = deliver,
    .destroy = destroy,
};

/* Slots of the transport. */

void msi_grpc_read_open(ms_bt_transport *transport, ms_bt_attempt *attempt)
{
    msi_op *op =
        msi_op_create((msi_grpc *)(void *)transport, &read_rows, attempt->options->timeout_ms);
    op->reach_ms = attempt->options->reach_ms;
    rows_read *opened = (rows_read *)(void *)op;
    msi_client_copy_read_options(&op->arena, attempt->options, &opened->options);
    msi_op_set_table(op, &opened->options.table, opened->options.app_profile);
    msi_bt_stream_init(&opened->stream, &rows_stream);
    ms_wire_rows_merger_init(&opened->merger, attempt->options->is_reversed);
    ms_buf_init(&opened->last_before, MS_GRPC_MESSAGE_BYTES_DEFAULT);
    opened->attempt = attempt;
    attempt->transport_data = opened;
}

void msi_grpc_read_fill(ms_bt_transport *transport, ms_bt_attempt *attempt)
{
    (void)transport;
    msi_bt_stream_fill(attempt->transport_data);
}

void msi_grpc_read_cancel(ms_bt_transport *transport, ms_bt_attempt *attempt)
{
    (void)transport;
    msi_bt_stream_cancel(attempt->transport_data);
}

void msi_grpc_read_close(ms_bt_transport *transport, ms_bt_attempt *attempt)
{
    (void)transport;
    msi_bt_stream_close(attempt->transport_data);
}
