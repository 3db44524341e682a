/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams: ReadRows and ReadChangeStream. Both are pulled by the connection: while it has room a
 * page of the store is written message by message; when it has none, the page waits, the store
 * fills one page ahead and stops. So a slow reader holds two pages, and nothing on the loop waits
 * for it. How many streams are open at a time has a limit, and the more there are, the smaller are
 * the pages of those that come. But a page has a row at least, however large that is: the large
 * ones that are on their way have a limit of their own.
 */
/* tidy: no-unit-test: tests/unit/bigtable/server runs the tests of the store over it */
#include "bigtable/server/server_priv.h"

#include "base/env.h"
#include "bigtable/wire/change.h"
#include "bigtable/wire/filter.h"
#include "bigtable/wire/header.h"
#include "bigtable/wire/range.h"
#include "bigtable/wire/read_rows.h"
#include "bigtable/wire/rpc_status.h"
#include "bigtable/wire/time.h"

/* Small enough that the first rows are soon on their way, large enough for full messages. */
#define PAGE_ROWS 4096u
#define PAGE_BYTES ((size_t)256 << 10)
#define NS_PER_US INT64_C(1000)

/* Of all pages, as long as they have that size at least; beyond, each is as small as this. */
#define PAGES_BYTES ((size_t)256 << 20)
#define PAGE_BYTES_MIN ((size_t)32 << 10)
#define PAGES_OF_READ 2u

/* A page of more has a large row. */
#define LARGE_PAGE_BYTES ((size_t)1 << 20)

/* How many are open. */

size_t msi_read_page_bytes(uint32_t open)
{
    size_t share = PAGES_BYTES / PAGES_OF_READ / open;
    return share > PAGE_BYTES ? PAGE_BYTES : share < PAGE_BYTES_MIN ? PAGE_BYTES_MIN : share;
}

static const char *const kind_names[MSI_READ_KINDS] = {"rows", "changes"};

/* Counts a read as open and says how large its pages may be; 0: it was refused, the call is over.
 */
static size_t enter_read(msi_call *call, msi_read_kind kind)
{
    ms_bt_server *server = call->server;
    ms_mutex_lock(&server->mutex);
    uint32_t *open = &server->reads_open[kind];
    bool has_room = *open < server->reads_max;
    *open += has_room ? 1 : 0;
    uint32_t count = server->reads_open[MSI_READ_OF_ROWS] + server->reads_open[MSI_READ_OF_CHANGES];
    ms_mutex_unlock(&server->mutex);
    if (!has_room) {
        ms_bt_status bt = {0};
        ms_bt_status_set(&bt, MS_BT_UNAVAILABLE, "%u streams of %s are open; limit %u",
                         server->reads_max, kind_names[kind], server->reads_max);
        msi_call_finish(call, &bt);
        return 0;
    }
    return msi_read_page_bytes(count);
}

static void leave_read(ms_bt_server *server, msi_read_kind kind)
{
    ms_mutex_lock(&server->mutex);
    server->reads_open[kind]--;
    ms_mutex_unlock(&server->mutex);
}

/* ReadRows. */

typedef struct rows_call {
    msi_call call; /* first */
    ms_bt_read *read;
    const ms_bt_page *page; /* held */
    ms_wire_rows_writer writer;
    ms_bt_status outcome; /* once the read is being closed */
    ms_buf last_key;      /* that the client was told */
    int64_t began_ns;
    size_t large_bytes; /* of the page that is held, when a large row is in it; else 0 */
    bool is_counted;    /* as open */
    bool wants_stats;
    bool is_reversed;
    bool is_closing;
} rows_call;

static bool send_stats(rows_call *handler, const ms_bt_read_stats *seen)
{
    ms_wire_read_stats stats = {.rows_seen = (int64_t)seen->rows_seen,
                                .rows_returned = (int64_t)seen->rows_returned,
                                .cells_seen = (int64_t)seen->cells_seen,
                                .cells_returned = (int64_t)seen->cells_returned,
                                .latency_micros =
                                    (ms_env_mono_ns() - handler->began_ns) / NS_PER_US};
    ms_status st = {0};
    if (ms_wire_read_stats_encode(&stats, &handler->call.out, &st) != MS_OK) {
        ms_bt_status_from(&handler->outcome, MS_BT_RESOURCE_EXHAUSTED, &st);
        return false;
    }
    return msi_call_send_out(&handler->call);
}

/* Says which row is too large to be read, for clients that read on behind it. */
static void name_large_row(rows_call *handler, const ms_bt_status *bt)
{
    ms_str key = ms_bt_read_large_row(handler->read);
    ms_buf *buf = &handler->call.out;
    ms_arena *arena = &handler->call.arena;
    ms_status st = {0};
    ms_buf_reset(buf);
    if (key.bytes > 0 && ms_wire_large_row_encode(bt, key, arena, buf, &st) == MS_OK) {
        handler->call.details = ms_arena_copy_str(arena, ms_buf_view(buf));
    }
    ms_buf_reset(buf);
}

static void rows_closed(void *arg)
{
    rows_call *handler = arg;
    handler->read = NULL;
    msi_call_finish(&handler->call, &handler->outcome);
}

/* Lets go of the read, and ends the call when it has let go of us. */
static void close_rows(rows_call *handler, const ms_bt_status *outcome)
{
    if (handler->is_closing) {
        return;
    }
    handler->is_closing = true;
    handler->outcome = *outcome;
    if (handler->wants_stats && ms_bt_status_is_ok(outcome)) {
        ms_bt_read_stats seen = ms_bt_read_get_stats(handler->read);
        (void)send_stats(handler, &seen);
    }
    if (ms_bt_read_close(handler->read, rows_closed, handler)) {
        rows_closed(handler);
    }
}

/* Tells how far the read has come when its page has no rows: each key is behind the last. */
static ms_rc send_scanned(rows_call *handler, ms_status *st)
{
    ms_str scanned = ms_bt_page_scanned(handler->page);
    int order = ms_str_compare(scanned, ms_buf_view(&handler->last_key));
    bool is_news = handler->last_key.bytes == 0 || (handler->is_reversed ? order < 0 : order > 0);
    if (scanned.bytes == 0 || !is_news) {
        return MS_OK;
    }
    MS_TRY(ms_wire_last_scanned_encode(scanned, &handler->call.out, st));
    (void)msi_call_send_out(&handler->call);
    ms_buf_reset(&handler->last_key);
    return ms_buf_append(&handler->last_key, scanned, st);
}

/* Counts the page that was taken up, if it is large; false: too many such are on their way. */
static bool enter_page(rows_call *handler)
{
    ms_bt_server *server = handler->call.server;
    size_t bytes = ms_bt_page_used_bytes(handler->page);
    if (bytes <= LARGE_PAGE_BYTES) {
        return true;
    }
    ms_mutex_lock(&server->mutex);
    bool has_room =
        server->large_bytes == 0 || server->large_bytes + bytes <= server->large_bytes_max;
    handler->large_bytes = has_room ? bytes : 0;
    server->large_bytes += handler->large_bytes;
    ms_mutex_unlock(&server->mutex);
    return has_room;
}

static void leave_page(rows_call *handler)
{
    ms_bt_server *server = handler->call.server;
    if (handler->large_bytes > 0) {
        ms_mutex_lock(&server->mutex);
        server->large_bytes -= handler->large_bytes;
        ms_mutex_unlock(&server->mutex);
        handler->large_bytes = 0;
    }
}

/* The page is written: what its last row says counts as told. */
static ms_rc note_page(rows_call *handler, ms_status *st)
{
    const ms_bt_page *page = handler->page;
    if (page->row_count == 0) {
        return send_scanned(handler, st);
    }
    ms_buf_reset(&handler->last_key);
    return ms_buf_append(&handler->last_key, ms_bt_page_key(page, &page->rows[page->row_count - 1]),
                         st);
}

/* Writes the held page while there is room. False: there is no room, or it failed. */
static bool write_page(rows_call *handler, ms_bt_status *bt)
{
    ms_status st = {0};
    while (!ms_wire_rows_writer_is_done(&handler->writer)) {
        if (!ms_grpc_server_call_is_writable(handler->call.grpc)) {
            return false;
        }
        if (ms_wire_rows_writer_next(&handler->writer, &handler->call.out, &st) != MS_OK) {
            ms_bt_status_from(bt, MS_BT_RESOURCE_EXHAUSTED, &st);
            return false;
        }
        (void)msi_call_send_out(&handler->call);
    }
    if (note_page(handler, &st) != MS_OK) {
        ms_bt_status_from(bt, MS_BT_RESOURCE_EXHAUSTED, &st);
        return false;
    }
    return true;
}

static void pump_rows(msi_call *call)
{
    rows_call *handler = (rows_call *)(void *)call;
    ms_bt_status bt = {0};
    while (handler->read != NULL && !handler->is_closing) {
        if (handler->page != NULL) {
            if (!write_page(handler, &bt)) {
                if (!ms_bt_status_is_ok(&bt)) {
                    close_rows(handler, &bt);
                }
                return;
            }
            /* What is not sent of a large row takes as much memory as the page. */
            if (handler->large_bytes > 0 && !ms_grpc_server_call_is_writable(call->grpc)) {
                return;
            }
            leave_page(handler);
            ms_bt_read_return(handler->read, handler->page);
            handler->page = NULL;
        }
        switch (ms_bt_read_poll(handler->read, &handler->page)) {
        case MS_BT_POLL_PAGE:
            if (!enter_page(handler)) {
                ms_bt_status_set(&bt, MS_BT_UNAVAILABLE,
                                 "Too many large rows wait for clients to read them");
                close_rows(handler, &bt);
                return;
            }
            ms_wire_rows_writer_begin(&handler->writer, handler->page);
            break;
        case MS_BT_POLL_PENDING:
            return;
        case MS_BT_POLL_END:
            close_rows(handler, &bt);
            return;
        case MS_BT_POLL_FAILED:
            bt = *ms_bt_read_status(handler->read);
            name_large_row(handler, &bt);
            close_rows(handler, &bt);
            return;
        }
    }
}

static void wake_rows(void *arg)
{
    pump_rows(arg);
}

static void cancel_rows(msi_call *call)
{
    rows_call *handler = (rows_call *)(void *)call;
    ms_bt_status bt = {0};
    ms_bt_status_set(&bt, MS_BT_CANCELLED, "The call was canceled");
    if (handler->read != NULL) {
        close_rows(handler, &bt);
    }
}

static void read_rows(msi_call *call, ms_str message)
{
    rows_call *handler = (rows_call *)(void *)call;
    ms_buf_init(&handler->last_key, MS_BT_LIMIT_ROW_KEY_BYTES);
    handler->began_ns = ms_env_mono_ns();
    ms_bt_read_options options = {.page_rows_max = PAGE_ROWS};
    if (message.bytes > MS_BT_LIMIT_READ_BYTES) {
        ms_bt_status bt = {0};
        ms_bt_status_set(&bt, MS_BT_INVALID_ARGUMENT, "Request exceeds maximum size of %u bytes",
                         MS_BT_LIMIT_READ_BYTES);
        msi_call_finish(call, &bt);
        return;
    }
    ms_pb_read_rows_request *in = msi_call_request(call, read_rows_request, message);
    if (in == NULL ||
        !msi_call_table_name(call, in->table_name,
                             in->authorized_view_name[0] != '\0' ? in->authorized_view_name
                                                                 : in->materialized_view_name,
                             &options.table)) {
        return;
    }
    if (in->reversed && (call->features & MS_WIRE_FEATURE_REVERSE_SCANS) == 0) {
        msi_call_fail(call, MS_BT_UNIMPLEMENTED, "Client doesn't support reverse scans yet");
        return;
    }
    handler->wants_stats =
        in->request_stats_view ==
        GOOGLE__BIGTABLE__V2__READ_ROWS_REQUEST__REQUEST_STATS_VIEW__REQUEST_STATS_FULL;
    options.app_profile = ms_wire_text_view(in->app_profile_id);
    options.rows = ms_wire_row_set_from_pb(in->rows, &call->arena);
    options.filter = ms_wire_filter_from_pb(in->filter, &call->arena);
    options.rows_limit = in->rows_limit;
    options.is_reversed = in->reversed;
    handler->is_reversed = in->reversed;
    options.wants_stats = handler->wants_stats;
    options.wants_progress = (call->features & MS_WIRE_FEATURE_LAST_SCANNED) != 0;
    ms_wire_rows_writer_init(&handler->writer, NULL);
    options.page_bytes_max = enter_read(call, MSI_READ_OF_ROWS);
    if (options.page_bytes_max == 0) {
        return;
    }
    handler->is_counted = true;
    handler->read = ms_bt_client_read_rows(call->server->client, &options, msi_call_mailbox(call),
                                           wake_rows, handler);
    pump_rows(call);
}

static void release_rows(msi_call *call)
{
    rows_call *handler = (rows_call *)(void *)call;
    if (call->has_request) {
        ms_buf_release(&handler->last_key);
    }
    leave_page(handler);
    if (handler->is_counted) {
        leave_read(call->server, MSI_READ_OF_ROWS);
    }
}

/* ReadChangeStream. */

typedef struct changes_call {
    msi_call call; /* first */
    ms_bt_change_read *read;
    const ms_bt_change_page *page; /* held */
    uint32_t next;                 /* of its changes */
    ms_bt_range partition;
    ms_wire_change_writer writer;
    bool is_counted; /* as open */
    bool is_writing; /* a change that is not written to its end */
    bool is_closing;
    ms_bt_status outcome;
    ms_arena scratch;
} changes_call;

static void changes_closed(void *arg)
{
    changes_call *handler = arg;
    handler->read = NULL;
    msi_call_finish(&handler->call, &handler->outcome);
}

static void close_changes(changes_call *handler, const ms_bt_status *outcome)
{
    if (handler->is_closing) {
        return;
    }
    handler->is_closing = true;
    handler->outcome = *outcome;
    if (ms_bt_change_read_close(handler->read, changes_closed, handler)) {
        changes_closed(handler);
    }
}

/* As write_page. */
static bool write_changes(changes_call *handler, ms_bt_status *bt)
{
    ms_status st = {0};
    for (;;) {
        if (handler->is_writing && ms_wire_change_writer_is_done(&handler->writer)) {
            handler->is_writing = false;
        }
        if (!handler->is_writing) {
            if (handler->next == handler->page->change_count) {
                return true;
            }
            ms_wire_change_writer_begin(&handler->writer, &handler->page->changes[handler->next++],
                                        &handler->partition);
            handler->is_writing = true;
        }
        if (!ms_grpc_server_call_is_writable(handler->call.grpc)) {
            return false;
        }
        if (ms_wire_change_writer_next(&handler->writer, &handler->scratch, &handler->call.out,
                                       &st) != MS_OK) {
            ms_bt_status_from(bt, MS_BT_RESOURCE_EXHAUSTED, &st);
            return false;
        }
        ms_arena_reset(&handler->scratch);
        (void)msi_call_send_out(&handler->call);
    }
}

static void pump_changes(msi_call *call)
{
    changes_call *handler = (changes_call *)(void *)call;
    ms_bt_status bt = {0};
    while (handler->read != NULL && !handler->is_closing) {
        if (handler->page != NULL) {
            if (!write_changes(handler, &bt)) {
                if (!ms_bt_status_is_ok(&bt)) {
                    close_changes(handler, &bt);
                }
                return;
            }
            ms_bt_change_read_return(handler->read, handler->page);
            handler->page = NULL;
        }
        switch (ms_bt_change_read_poll(handler->read, &handler->page)) {
        case MS_BT_POLL_PAGE:
            handler->next = 0;
            break;
        case MS_BT_POLL_PENDING:
            return;
        case MS_BT_POLL_END:
            close_changes(handler, &bt);
            return;
        case MS_BT_POLL_FAILED:
            bt = *ms_bt_change_read_status(handler->read);
            close_changes(handler, &bt);
            return;
        }
    }
}

static void wake_changes(void *arg)
{
    pump_changes(arg);
}

static void cancel_changes(msi_call *call)
{
    changes_call *handler = (changes_call *)(void *)call;
    ms_bt_status bt = {0};
    ms_bt_status_set(&bt, MS_BT_CANCELLED, "The call was canceled");
    if (handler->read != NULL) {
        close_changes(handler, &bt);
    }
}

/* Where to end, 0: nowhere. A time before 1970 is over, as any of the past is. */
static int64_t read_end(const ms_pb_read_change_stream_request *in)
{
    if (in->end_time == NULL) {
        return 0;
    }
    int64_t micros = ms_wire_timestamp_micros(in->end_time);
    return micros > 0 ? micros : 1;
}

/* Where to begin: a time, or tokens. */
static ms_bt_code read_start(const ms_pb_read_change_stream_request *in, ms_arena *arena,
                             ms_bt_change_options *options, ms_bt_status *bt)
{
    switch (in->start_from_case) {
    case GOOGLE__BIGTABLE__V2__READ_CHANGE_STREAM_REQUEST__START_FROM_START_TIME:
        options->start_micros = ms_wire_timestamp_micros(in->start_time);
        if (options->start_micros <= 0) {
            return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                    "Error in field 'start_time' : must be after 1970");
        }
        return MS_BT_OK;
    case GOOGLE__BIGTABLE__V2__READ_CHANGE_STREAM_REQUEST__START_FROM_CONTINUATION_TOKENS: {
        size_t count = in->continuation_tokens->n_tokens;
        ms_bt_change_token *tokens = ms_arena_array(arena, ms_bt_change_token, count);
        for (size_t i = 0; i < count; i++) {
            MS_BT_TRY(ms_wire_token_from_pb(in->continuation_tokens->tokens[i], &tokens[i], bt));
        }
        if (count == 0) {
            break;
        }
        options->tokens = tokens;
        options->token_count = count;
        return MS_BT_OK;
    }
    case GOOGLE__BIGTABLE__V2__READ_CHANGE_STREAM_REQUEST__START_FROM__NOT_SET:
    case _GOOGLE__BIGTABLE__V2__READ_CHANGE_STREAM_REQUEST__START_FROM__CASE_IS_INT_SIZE:
        break;
    }
    return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                            "One of start_time and continuation_tokens must be set");
}

static void read_change_stream(msi_call *call, ms_str message)
{
    changes_call *handler = (changes_call *)(void *)call;
    ms_arena_init(&handler->scratch, 0);
    ms_bt_change_options options = {0};
    ms_bt_status bt = {0};
    ms_pb_read_change_stream_request *in =
        msi_call_request(call, read_change_stream_request, message);
    if (in == NULL || !msi_call_table_name(call, in->table_name, NULL, &options.table)) {
        return;
    }
    if (ms_wire_partition_from_pb(in->partition, &options.partition, &bt) != MS_BT_OK ||
        read_start(in, &call->arena, &options, &bt) != MS_BT_OK) {
        msi_call_finish(call, &bt);
        return;
    }
    options.app_profile = ms_wire_text_view(in->app_profile_id);
    options.end_micros = read_end(in);
    options.heartbeat_ms = ms_wire_duration_micros(in->heartbeat_duration) / 1000;
    handler->partition = options.partition;
    options.page_bytes_max = enter_read(call, MSI_READ_OF_CHANGES);
    if (options.page_bytes_max == 0) {
        return;
    }
    handler->is_counted = true;
    ms_grpc_server_call_set_endless(call->grpc); /* clients go on elsewhere, with their tokens */
    ms_wire_change_writer_init(&handler->writer, NULL);
    handler->read = ms_bt_client_read_changes(call->server->client, &options,
                                              msi_call_mailbox(call), wake_changes, handler);
    pump_changes(call);
}

static void release_changes(msi_call *call)
{
    changes_call *handler = (changes_call *)(void *)call;
    if (call->has_request) {
        ms_arena_release(&handler->scratch);
    }
    if (handler->is_counted) {
        leave_read(call->server, MSI_READ_OF_CHANGES);
    }
}

/* The table. */

#define SERVICE "/google.bigtable.v2.Bigtable/"

const msi_method msi_methods_read[] = {
    {.path = SERVICE "ReadRows",
     .bytes = sizeof(rows_call),
     .begin = read_rows,
     .writable = pump_rows,
     .cancel = cancel_rows,
     .release = release_rows},
    {.path = SERVICE "ReadChangeStream",
     .bytes = sizeof(changes_call),
     .begin = read_change_stream,
     .writable = pump_changes,
     .cancel = cancel_changes,
     .release = release_changes},
};
const size_t msi_methods_read_count = sizeof(msi_methods_read) / sizeof(msi_methods_read[0]);
