/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A transport that does nothing by itself: it keeps what it was given, and the test says when and
 * how each call and fill ends. With it a mailbox that the test drains.
 */
#ifndef MS_TESTS_UNIT_BIGTABLE_CLIENT_FAKE_TRANSPORT_H
#define MS_TESTS_UNIT_BIGTABLE_CLIENT_FAKE_TRANSPORT_H

#include "testing.h"

#include "bigtable/client/transport.h"

#define FAKE_CALLS 64

typedef struct fake {
    ms_bt_transport transport;
    ms_parker parker;
    ms_mailbox mailbox;
    ms_bt_client *client;
    ms_bt_call *started[FAKE_CALLS];
    int started_count;
    int cancel_count;
    ms_bt_attempt *attempt;
    int fill_count; /* asked for so far */
    bool is_filling;
    bool is_read_canceled;
    bool is_read_closed;
} fake;

static inline void fake_start(ms_bt_transport *transport, ms_bt_call *call)
{
    fake *f = (fake *)(void *)transport;
    assert_true(f->started_count < FAKE_CALLS);
    f->started[f->started_count++] = call;
}

static inline void fake_cancel(ms_bt_transport *transport, ms_bt_call *call)
{
    assert_true(ms_bt_call_is_canceled(call));
    ((fake *)(void *)transport)->cancel_count++;
}

static inline void fake_open(ms_bt_transport *transport, ms_bt_attempt *attempt)
{
    ((fake *)(void *)transport)->attempt = attempt;
}

static inline void fake_fill(ms_bt_transport *transport, ms_bt_attempt *attempt)
{
    fake *f = (fake *)(void *)transport;
    assert_false(f->is_filling);
    assert_ptr_equal(attempt, f->attempt);
    f->is_filling = true;
    f->fill_count++;
}

static inline void fake_read_cancel(ms_bt_transport *transport, ms_bt_attempt *attempt)
{
    (void)attempt;
    ((fake *)(void *)transport)->is_read_canceled = true;
}

static inline void fake_close(ms_bt_transport *transport, ms_bt_attempt *attempt)
{
    (void)attempt;
    fake *f = (fake *)(void *)transport;
    assert_false(f->is_filling);
    f->is_read_closed = true;
}

static const ms_bt_transport_class fake_class = {
    .keeps_order = true,
    .start = fake_start,
    .cancel = fake_cancel,
    .read_open = fake_open,
    .read_fill = fake_fill,
    .read_cancel = fake_read_cancel,
    .read_close = fake_close,
};

static inline fake *fake_create(const ms_bt_client_options *options)
{
    fake *f = calloc(1, sizeof(*f));
    f->transport.class = &fake_class;
    ms_parker_init(&f->parker);
    ms_mailbox_init(&f->mailbox, &f->parker);
    f->client = ms_bt_client_create(&f->transport, options);
    return f;
}

static inline void fake_destroy(fake *f)
{
    ms_bt_client_destroy(f->client);
    ms_mailbox_release(&f->mailbox);
    free(f);
}

static inline void fake_deliver(fake *f)
{
    while (ms_mailbox_deliver(&f->mailbox, 16) > 0) {
    }
}

/* Ends the fill under way with rows of one empty cell, numbered from first. */
static inline void fake_fill_rows(fake *f, int first, int count, bool is_at_end)
{
    ms_status st = {0};
    ms_bt_page *page = f->attempt->page;
    assert_int_equal(page->row_count, 0);
    for (int i = 0; i < count; i++) {
        char key[16];
        int bytes = snprintf(key, sizeof(key), "%d", first + i);
        assert_ok(ms_bt_page_reserve_row(page, (size_t)bytes, &st));
        page->rows[page->row_count++] =
            (ms_bt_row){.key_at = ms_bt_page_put(page, key, (size_t)bytes),
                        .key_bytes = (uint32_t)bytes,
                        .first_cell = page->cell_count,
                        .cell_count = 1};
        assert_ok(ms_bt_page_reserve_cell(page, 0, &st));
        page->cells[page->cell_count++] = (ms_bt_cell){0};
    }
    f->is_filling = false;
    f->attempt->is_at_end = is_at_end;
    f->attempt->stats.rows_returned += (uint64_t)count;
    ms_bt_attempt_finish(f->attempt);
}

static inline void fake_fail_fill(fake *f, ms_bt_code code, const char *text)
{
    f->is_filling = false;
    ms_bt_status_set(&f->attempt->status, code, "%s", text);
    ms_bt_attempt_finish(f->attempt);
}

#endif
