/* SPDX-License-Identifier: Apache-2.0 */
/* Reads: two pages go around, in order, and every way of ending. */
#include "fake_transport.h"

typedef struct reader {
    fake *f;
    ms_bt_read *read;
    int wake_count;
    bool is_closed;
} reader;

static void woken(void *arg)
{
    ((reader *)arg)->wake_count++;
}

static void closed(void *arg)
{
    ((reader *)arg)->is_closed = true;
}

static void open_read(reader *r)
{
    memset(r, 0, sizeof(*r));
    r->f = fake_create(NULL);
    ms_bt_read_options options = {.table = {{"p", 1}, {"i", 1}, {"t", 1}}};
    r->read = ms_bt_client_read_rows(r->f->client, &options, &r->f->mailbox, woken, r);
}

static void close_read(reader *r)
{
    assert_true(ms_bt_read_close(r->read, NULL, NULL));
    assert_true(r->f->is_read_closed);
    fake_destroy(r->f);
}

/* Polls a page whose first row has this number, and gives it back. */
static void take_page(reader *r, const char *first)
{
    const ms_bt_page *page = NULL;
    assert_int_equal(ms_bt_read_poll(r->read, &page), MS_BT_POLL_PAGE);
    assert_str_equal(ms_bt_page_key(page, &page->rows[0]), first);
    ms_bt_read_return(r->read, page);
}

static void assert_poll(reader *r, ms_bt_poll expected)
{
    const ms_bt_page *page = NULL;
    assert_int_equal(ms_bt_read_poll(r->read, &page), expected);
    assert_null(page);
}

static void pages_come_in_order(void **state)
{
    (void)state;
    reader r;
    open_read(&r);
    fake_fill_rows(r.f, 1, 2, false);
    fake_deliver(r.f);
    fake_fill_rows(r.f, 3, 2, false);
    fake_deliver(r.f);
    assert_false(r.f->is_filling);
    take_page(&r, "1");
    assert_true(r.f->is_filling);
    fake_fill_rows(r.f, 5, 1, true);
    fake_deliver(r.f);
    take_page(&r, "3");
    take_page(&r, "5");
    assert_poll(&r, MS_BT_POLL_END);
    assert_int_equal(r.f->fill_count, 3);
    assert_int_equal(ms_bt_read_get_stats(r.read).rows_returned, 5);
    close_read(&r);
}

static void nothing_is_filled_while_the_consumer_is_slow(void **state)
{
    (void)state;
    reader r;
    open_read(&r);
    fake_fill_rows(r.f, 1, 1, false);
    fake_deliver(r.f);
    const ms_bt_page *page = NULL;
    assert_int_equal(ms_bt_read_poll(r.read, &page), MS_BT_POLL_PAGE);
    fake_fill_rows(r.f, 2, 1, false);
    fake_deliver(r.f);
    assert_false(r.f->is_filling);
    assert_str_equal(ms_bt_page_key(page, &page->rows[0]), "1");
    ms_bt_read_return(r.read, page);
    assert_true(r.f->is_filling);
    fake_fill_rows(r.f, 3, 1, true);
    fake_deliver(r.f);
    take_page(&r, "2");
    take_page(&r, "3");
    close_read(&r);
}

static void waiting_consumer_is_woken_once(void **state)
{
    (void)state;
    reader r;
    open_read(&r);
    assert_poll(&r, MS_BT_POLL_PENDING);
    fake_fill_rows(r.f, 0, 0, false);
    fake_deliver(r.f);
    assert_int_equal(r.wake_count, 0);
    assert_true(r.f->is_filling);
    fake_fill_rows(r.f, 1, 1, false);
    fake_deliver(r.f);
    assert_int_equal(r.wake_count, 1);
    fake_fill_rows(r.f, 2, 1, false);
    fake_deliver(r.f);
    assert_int_equal(r.wake_count, 1);
    take_page(&r, "1");
    take_page(&r, "2");
    assert_poll(&r, MS_BT_POLL_PENDING);
    fake_fill_rows(r.f, 0, 0, true);
    fake_deliver(r.f);
    assert_int_equal(r.wake_count, 2);
    assert_poll(&r, MS_BT_POLL_END);
    close_read(&r);
}

static void pages_before_a_failure_are_delivered(void **state)
{
    (void)state;
    reader r;
    open_read(&r);
    fake_fill_rows(r.f, 1, 1, false);
    fake_deliver(r.f);
    fake_fail_fill(r.f, MS_BT_DATA_LOSS, "gone");
    fake_deliver(r.f);
    take_page(&r, "1");
    assert_poll(&r, MS_BT_POLL_FAILED);
    assert_string_equal(ms_bt_read_status(r.read)->text, "gone");
    assert_false(r.f->is_filling);
    close_read(&r);
}

static void close_waits_for_the_fill_under_way(void **state)
{
    (void)state;
    reader r;
    open_read(&r);
    assert_poll(&r, MS_BT_POLL_PENDING);
    assert_false(ms_bt_read_close(r.read, closed, &r));
    assert_true(r.f->is_read_canceled);
    assert_false(r.is_closed);
    fake_fill_rows(r.f, 1, 1, false);
    fake_deliver(r.f);
    assert_true(r.is_closed);
    assert_true(r.f->is_read_closed);
    assert_int_equal(r.wake_count, 0);
    assert_int_equal(r.f->fill_count, 1);
    fake_destroy(r.f);
}

static void options_are_copied(void **state)
{
    (void)state;
    reader r = {0};
    r.f = fake_create(NULL);
    ms_arena arena;
    ms_arena_init(&arena, 0);
    char text[] = "key";
    ms_str key = ms_str_cstr(text);
    ms_bt_range range = ms_bt_range_key(key);
    ms_bt_read_options options = {
        .table = {ms_str_cstr(text), ms_str_cstr(text), ms_str_cstr(text)},
        .rows = {.keys = &key, .key_count = 1, .ranges = &range, .range_count = 1},
        .filter = ms_bt_filter_family(&arena, key)};
    r.read = ms_bt_client_read_rows(r.f->client, &options, &r.f->mailbox, woken, &r);
    memset(text, 'x', 3);
    memset(&key, 0, sizeof(key));
    memset(&range, 0, sizeof(range));
    ms_arena_release(&arena);
    const ms_bt_read_options *copy = r.f->attempt->options;
    assert_str_equal(copy->table.table, "key");
    assert_str_equal(copy->rows.keys[0], "key");
    assert_str_equal(copy->rows.ranges[0].end.key, "key");
    assert_str_equal(copy->filter->text, "key");
    assert_true(copy->page_rows_max > 0 && copy->page_bytes_max > 0);
    fake_fill_rows(r.f, 0, 0, true);
    fake_deliver(r.f);
    close_read(&r);
}

/* The memory of a read goes on to the next; what it held must not. */
static void read_knows_nothing_of_the_one_before(void **state)
{
    (void)state;
    reader r;
    open_read(&r);
    const ms_str name = ms_str_lit("f");
    r.f->attempt->page->families = &name;
    r.f->attempt->page->labels = &name;
    fake_fill_rows(r.f, 1, 500, false);
    fake_deliver(r.f);
    take_page(&r, "1");
    fake_fail_fill(r.f, MS_BT_DATA_LOSS, "gone");
    fake_deliver(r.f);
    assert_poll(&r, MS_BT_POLL_FAILED);
    assert_true(ms_bt_read_close(r.read, NULL, NULL));

    ms_bt_read_options options = {.table = {{"p", 1}, {"i", 1}, {"u", 1}}, .rows_limit = 1};
    r.read = ms_bt_client_read_rows(r.f->client, &options, &r.f->mailbox, woken, &r);
    const ms_bt_attempt *attempt = r.f->attempt;
    assert_true(ms_bt_status_is_ok(&attempt->status));
    assert_false(attempt->is_at_end);
    assert_int_equal(attempt->stats.rows_returned, 0);
    assert_int_equal(attempt->page->row_count, 0);
    assert_int_equal(attempt->page->cell_count, 0);
    assert_null(attempt->page->families);
    assert_null(attempt->page->labels);
    assert_str_equal(attempt->options->table.table, "u");
    assert_int_equal(attempt->options->rows_limit, 1);
    assert_poll(&r, MS_BT_POLL_PENDING);
    fake_fill_rows(r.f, 7, 1, true);
    fake_deliver(r.f);
    take_page(&r, "7");
    assert_poll(&r, MS_BT_POLL_END);
    assert_int_equal(ms_bt_read_get_stats(r.read).rows_returned, 1);
    close_read(&r);
}

static void more_reads_than_are_kept_are_open_at_a_time(void **state)
{
    (void)state;
    enum { READS = 200 };
    fake *f = fake_create(NULL);
    ms_bt_read *reads[READS];
    ms_bt_read_options options = {.table = {{"p", 1}, {"i", 1}, {"t", 1}}};
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < READS; i++) {
            reads[i] = ms_bt_client_read_rows(f->client, &options, &f->mailbox, woken, NULL);
            fake_fill_rows(f, i, 1, true);
            fake_deliver(f);
        }
        for (int i = 0; i < READS; i++) {
            const ms_bt_page *page = NULL;
            assert_int_equal(ms_bt_read_poll(reads[i], &page), MS_BT_POLL_PAGE);
            ms_bt_read_return(reads[i], page);
            assert_true(ms_bt_read_close(reads[i], NULL, NULL));
        }
    }
    fake_destroy(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages_come_in_order),
        cmocka_unit_test(nothing_is_filled_while_the_consumer_is_slow),
        cmocka_unit_test(waiting_consumer_is_woken_once),
        cmocka_unit_test(pages_before_a_failure_are_delivered),
        cmocka_unit_test(close_waits_for_the_fill_under_way),
        cmocka_unit_test(options_are_copied),
        cmocka_unit_test(read_knows_nothing_of_the_one_before),
        cmocka_unit_test(more_reads_than_are_kept_are_open_at_a_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
