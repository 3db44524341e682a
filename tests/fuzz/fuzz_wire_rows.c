/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of chunk assembly. The first byte has flags: the direction, and whether the rest is
 * one message or chooses a few. The merger must take what the plain merger of the unit tests takes,
 * and deliver the same rows, whatever the pages it is given; rows that were merged and written
 * again must come out the same.
 */
#include "bigtable/wire/read_rows.h"
#include "bigtable/wire/read_rows_merge.h"
#include "bigtable/wire/rows_naive.h"
#include "bigtable/wire/wire_random.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define BUF_BYTES_MAX (64u << 20)

static ms_arena arena;
static ms_bt_status bt;
static ms_status st;

static void demand(bool condition)
{
    if (!condition) {
        abort();
    }
}

/* The rows of a page, written in other messages and merged again. */
static void try_again(const ms_bt_page *page, bool is_reversed)
{
    const ms_wire_rows_options options = {
        .message_bytes = 50, .message_bytes_max = 80, .piece_bytes = 7};
    ms_wire_rows_writer writer;
    ms_wire_rows_merger merger;
    ms_bt_page again;
    ms_buf buf;
    ms_buf first;
    ms_buf second;
    ms_buf_init(&buf, BUF_BYTES_MAX);
    ms_buf_init(&first, BUF_BYTES_MAX);
    ms_buf_init(&second, BUF_BYTES_MAX);
    ms_bt_page_init(&again);
    ms_wire_rows_merger_init(&merger, is_reversed);
    ms_wire_rows_writer_init(&writer, &options);
    ms_wire_rows_writer_begin(&writer, page);
    while (!ms_wire_rows_writer_is_done(&writer)) {
        size_t at = 0;
        ms_buf_reset(&buf);
        demand(ms_wire_rows_writer_next(&writer, &buf, &st) == MS_OK);
        demand(ms_wire_rows_merger_read(&merger, ms_buf_view(&buf), &at, &again, UINT32_MAX,
                                        SIZE_MAX, &bt) == MS_BT_OK);
    }
    naive_put_page(&first, page);
    naive_put_page(&second, &again);
    demand(ms_str_equals(ms_buf_view(&first), ms_buf_view(&second)));
    ms_wire_rows_merger_release(&merger);
    ms_bt_page_release(&again);
    ms_buf_release(&buf);
    ms_buf_release(&first);
    ms_buf_release(&second);
}

/* Reads a message, a few rows a page, and notes all rows. */
static ms_bt_code merge(ms_wire_rows_merger *merger, ms_str message, ms_bt_page *page, ms_buf *out)
{
    size_t at = 0;
    do {
        MS_BT_TRY(ms_wire_rows_merger_read(merger, message, &at, page, 2, SIZE_MAX, &bt));
        ms_bt_page next;
        ms_bt_page_init(&next);
        demand(ms_wire_rows_merger_move(merger, page, &next, &st) == MS_OK);
        naive_put_page(out, page);
        try_again(page, merger->is_reversed);
        ms_bt_page_release(page);
        *page = next;
    } while (at < message.bytes);
    return MS_BT_OK;
}

/* Both mergers, one message. False: the stream is broken, or cannot be compared any further. */
static bool try_message(ms_wire_rows_merger *merger, naive_rows *n, ms_bt_page *page, ms_buf *out,
                        ms_str bytes)
{
    ms_bt_status check = {0};
    const ms_pb_read_rows_response *message =
        ms_pb_unpack(read_rows_response, bytes, &ms_wire_response_limits, &arena, &check);
    /* The merger has no memory of fields that occur twice in a message; and in a message with both,
     * protobuf-c loses whether a key was scanned before or after its chunks. */
    bool is_comparable = message != NULL
                             ? message->n_chunks == 0 || message->last_scanned_row_key.len == 0
                             : strstr(check.text, "twice") == NULL;
    bool expected = message != NULL && is_comparable && naive_take_message(n, message);
    ms_bt_code code = merge(merger, bytes, page, out);
    if (code != MS_BT_OK) {
        naive_put_page(out, page);
    }
    demand(!is_comparable || (code == MS_BT_OK) == expected);
    return expected;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (bytes < 1) {
        return 0;
    }
    static naive_rows n;
    bool is_reversed = (data[0] & 1) != 0;
    ms_wire_rows_merger merger;
    ms_bt_page page;
    ms_buf out;
    ms_buf message;
    ms_arena_init(&arena, 0);
    ms_bt_status_clear(&bt);
    ms_bt_page_init(&page);
    ms_buf_init(&out, BUF_BYTES_MAX);
    ms_buf_init(&message, BUF_BYTES_MAX);
    ms_wire_rows_merger_init(&merger, is_reversed);
    naive_rows_init(&n, is_reversed);
    bool is_comparable;
    if ((data[0] & 2) == 0) {
        is_comparable =
            try_message(&merger, &n, &page, &out, ms_str_make((const char *)data + 1, bytes - 1));
    } else {
        wire_choices c = {.bytes = data + 1, .left = bytes - 1, .arena = &arena};
        is_comparable = true;
        for (unsigned i = 0; i < 4 && is_comparable; i++) {
            ms_buf_reset(&message);
            demand(ms_wire_pack(wire_pick_message(&c, ms_pb_read_rows_response_class(), 4),
                                &message, &st) == MS_OK);
            is_comparable = try_message(&merger, &n, &page, &out, ms_buf_view(&message));
        }
    }
    demand(!is_comparable || ms_str_equals(ms_buf_view(&out), ms_buf_view(&n.out)));
    ms_wire_rows_merger_restart(&merger, &page);
    naive_rows_release(&n);
    ms_wire_rows_merger_release(&merger);
    ms_bt_page_release(&page);
    ms_buf_release(&out);
    ms_buf_release(&message);
    ms_arena_release(&arena);
    return 0;
}
