/* SPDX-License-Identifier: Apache-2.0 */
/* Scans: whole rows while writers run, jumps instead of steps, cancellation, damaged keys. */
#include "store_testing.h"

#include "bigtable/store/store_priv.h"
#include "os/thread.h"

#include <stdatomic.h>

#define ROWS 40
#define RUN_MS 1500

typedef struct writer {
    ms_thread thread;
    fixture *f;
    uint64_t seed;
    _Atomic bool stop;
    uint64_t batches;
} writer;

/* Rewrites rows for ever: two cells of equal value, in families whose order is not that of their
 * names, sometimes after deleting the row or keeping only the latest, sometimes in two entries. */
static void fill_batch(ms_bt_mutation_batch *batch, ms_env_random *random)
{
    ms_status st = {0};
    uint16_t x = 0;
    uint16_t y = 0;
    ms_bt_mutation_batch_reset(batch);
    assert_ok(ms_bt_mutation_batch_family(batch, ms_str_lit("x"), &x, &st));
    assert_ok(ms_bt_mutation_batch_family(batch, ms_str_lit("b"), &y, &st));
    int entries = 1 + (int)ms_env_random_below(random, 12);
    for (int i = 0; i < entries; i++) {
        char key[16];
        char value[32];
        snprintf(key, sizeof(key), "%03d", (int)ms_env_random_below(random, ROWS));
        snprintf(value, sizeof(value), "%" PRIx64, ms_env_random_next(random));
        assert_ok(ms_bt_mutation_batch_begin_row(batch, ms_str_cstr(key), &st));
        int kind = (int)ms_env_random_below(random, 4);
        if (kind == 0) {
            assert_ok(ms_bt_mutation_batch_delete_row(batch, &st));
        } else if (kind == 1) {
            assert_ok(ms_bt_mutation_batch_delete_column(batch, x, ms_str_lit("q"), 0, 0, &st));
            assert_ok(ms_bt_mutation_batch_delete_column(batch, y, ms_str_lit("q"), 0, 0, &st));
        }
        int64_t micros = (int64_t)ms_env_random_below(random, 3) * 1000;
        assert_ok(ms_bt_mutation_batch_set_cell(batch, x, ms_str_lit("q"), micros,
                                                ms_str_cstr(value), &st));
        assert_ok(ms_bt_mutation_batch_set_cell(batch, y, ms_str_lit("q"), micros,
                                                ms_str_cstr(value), &st));
        ms_bt_mutation_batch_end_row(batch);
    }
}

static void run_writer(void *arg)
{
    writer *w = arg;
    ms_parker parker;
    ms_mailbox mailbox;
    ms_parker_init(&parker);
    ms_mailbox_init(&mailbox, &parker);
    ms_env_random random;
    ms_env_random_init(&random, w->seed);
    ms_bt_mutation_batch batch;
    ms_bt_mutation_batch_init(&batch, 1u << 20);
    ms_bt_mutate_rows call;
    ms_bt_mutate_rows_init(&call, &mailbox, done_nothing, NULL);
    call.table = &w->f->table;
    call.batch = &batch;
    while (!atomic_load(&w->stop)) {
        fill_batch(&batch, &random);
        ms_bt_client_mutate_rows(w->f->client, &call);
        ms_bt_call_wait(&call.call, &parker);
        assert_int_equal(call.call.status.code, MS_BT_OK);
        w->batches++;
    }
    ms_bt_mutate_rows_release(&call);
    ms_bt_mutation_batch_release(&batch);
    ms_mailbox_release(&mailbox);
}

/* The cells of both families must be equal, version by version. */
static void check_row(const ms_bt_page *page, const ms_bt_row *row)
{
    assert_int_equal(row->cell_count % 2, 0);
    uint32_t half = row->cell_count / 2;
    for (uint32_t i = 0; i < half; i++) {
        const ms_bt_cell *b = &page->cells[row->first_cell + i];
        const ms_bt_cell *x = &page->cells[row->first_cell + half + i];
        assert_str_equal(ms_bt_page_family(page, b), "b");
        assert_str_equal(ms_bt_page_family(page, x), "x");
        assert_int_equal(b->timestamp_micros, x->timestamp_micros);
        assert_true(ms_str_equals(ms_bt_page_value(page, b), ms_bt_page_value(page, x)));
    }
}

static void rows_are_never_half_of_one_write(void **state)
{
    (void)state;
    ms_status st = {0};
    fixture f;
    fixture_init(&f, MS_BT_SYNC_OS);
    create_table(&f, (const char *const[]){"x"}, 1);
    add_family(&f, "b");
    writer writers[2];
    for (int i = 0; i < 2; i++) {
        memset(&writers[i], 0, sizeof(writers[i]));
        writers[i].f = &f;
        writers[i].seed = ms_env_next_seed();
        assert_ok(ms_thread_start(&writers[i].thread, "writer", run_writer, &writers[i], &st));
    }
    int64_t end_ns = ms_env_mono_ns() + INT64_C(1000000) * RUN_MS;
    uint64_t rows = 0;
    uint32_t page_rows = 1;
    while (ms_env_mono_ns() < end_ns) {
        ms_bt_read_options options = {.table = f.table, .page_rows_max = page_rows};
        ms_bt_read *read =
            ms_bt_client_read_rows(f.client, &options, &f.mailbox, wake_nothing, NULL);
        const ms_bt_page *page = NULL;
        while (ms_bt_read_wait(read, &f.parker, &page) == MS_BT_POLL_PAGE) {
            for (uint32_t r = 0; r < page->row_count; r++) {
                check_row(page, &page->rows[r]);
                rows++;
            }
            ms_bt_read_return(read, page);
        }
        assert_bt(ms_bt_read_status(read), MS_BT_OK);
        assert_true(ms_bt_read_close(read, NULL, NULL));
        page_rows = page_rows % 16 + 5;
    }
    for (int i = 0; i < 2; i++) {
        atomic_store(&writers[i].stop, true);
        ms_thread_join(&writers[i].thread);
        assert_true(writers[i].batches > 10);
    }
    assert_true(rows > 100);
    fixture_release(&f);
}

/* One row of many columns with three versions each in two families, and one small row. */
static void fill_wide(fixture *f, int columns)
{
    ms_status st = {0};
    ms_bt_mutation_batch batch;
    ms_bt_mutation_batch_init(&batch, 16u << 20);
    uint16_t families[2];
    assert_ok(ms_bt_mutation_batch_family(&batch, ms_str_lit("a"), &families[0], &st));
    assert_ok(ms_bt_mutation_batch_family(&batch, ms_str_lit("b"), &families[1], &st));
    assert_ok(ms_bt_mutation_batch_begin_row(&batch, ms_str_lit("r1"), &st));
    for (int c = 0; c < columns; c++) {
        char qualifier[16];
        snprintf(qualifier, sizeof(qualifier), "q%05d", c);
        for (int v = 0; v < 30; v++) {
            assert_ok(ms_bt_mutation_batch_set_cell(&batch, families[c % 2], ms_str_cstr(qualifier),
                                                    v * 1000, ms_str_lit("v"), &st));
        }
    }
    ms_bt_mutation_batch_end_row(&batch);
    assert_ok(ms_bt_mutation_batch_begin_row(&batch, ms_str_lit("r2"), &st));
    assert_ok(ms_bt_mutation_batch_set_cell(&batch, families[1], ms_str_lit("q"), 0,
                                            ms_str_lit("v"), &st));
    ms_bt_mutation_batch_end_row(&batch);
    ms_bt_status bt = write_batch(f, &batch);
    assert_bt(&bt, MS_BT_OK);
    ms_bt_mutation_batch_release(&batch);
}

static ms_bt_read_stats stats_of(fixture *f, const ms_bt_filter *filter)
{
    ms_bt_read_options options = {.table = f->table, .filter = filter, .wants_stats = true};
    ms_bt_read *read = ms_bt_client_read_rows(f->client, &options, &f->mailbox, wake_nothing, NULL);
    const ms_bt_page *page = NULL;
    while (ms_bt_read_wait(read, &f->parker, &page) == MS_BT_POLL_PAGE) {
        ms_bt_read_return(read, page);
    }
    assert_bt(ms_bt_read_status(read), MS_BT_OK);
    ms_bt_read_stats stats = ms_bt_read_get_stats(read);
    assert_true(ms_bt_read_close(read, NULL, NULL));
    return stats;
}

static void unwanted_cells_are_jumped_over(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, MS_BT_SYNC_OS);
    create_table(&f, (const char *const[]){"a", "b"}, 2);
    fill_wide(&f, 100);
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_bt_read_stats all = stats_of(&f, NULL);
    assert_int_equal(all.cells_seen, 3001);
    assert_int_equal(all.cells_returned, 3001);
    assert_int_equal(all.rows_returned, 2);
#ifndef MS_OVER_GRPC /* messages have no bytes seen */
    assert_true(all.bytes_seen > 3001 * 20);
#endif
    ms_bt_read_stats first = stats_of(&f, ms_bt_filter_cells_per_row(&arena, 1));
    assert_int_equal(first.rows_returned, 2);
    assert_int_equal(first.cells_returned, 2);
    assert_true(first.cells_seen < 20);
    ms_bt_read_stats latest = stats_of(&f, ms_bt_filter_cells_per_column(&arena, 1));
    assert_int_equal(latest.cells_returned, 101);
    assert_true(latest.cells_seen < 101 * 13);
    ms_bt_read_stats b = stats_of(&f, ms_bt_filter_family(&arena, ms_str_lit("b")));
    assert_int_equal(b.cells_returned, 1501);
    assert_true(b.cells_seen < 1501 + 20);
    ms_arena_release(&arena);
    fixture_release(&f);
}

static void closing_cancels_the_turn_under_way(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, MS_BT_SYNC_OS);
    create_table(&f, (const char *const[]){"a", "b"}, 2);
    fill_wide(&f, 2000);
    ms_arena arena;
    ms_arena_init(&arena, 0);
    /* Nothing is ever returned, so that the first turn looks at everything. */
    const ms_bt_filter *none = ms_bt_filter_cells_per_row_offset(&arena, 1000000);
    for (int i = 0; i < 20; i++) {
        ms_bt_read_options options = {.table = f.table, .filter = none};
        ms_bt_read *read =
            ms_bt_client_read_rows(f.client, &options, &f.mailbox, wake_nothing, NULL);
        if (!ms_bt_read_close(read, NULL, NULL)) {
            while (ms_mailbox_deliver(&f.mailbox, 8) == 0) {
                ms_parker_park(&f.parker, MS_PARK_FOREVER);
            }
        }
    }
    ms_arena_release(&arena);
    fixture_release(&f);
}

/* By way of the transport, whose attempt tells what was looked at. */
static void a_turn_that_was_canceled_while_it_waited_looks_at_nothing(void **state)
{
    (void)state;
    fixture f;
    held_pool held[2];
    ms_bt_page page;
    fixture_init(&f, MS_BT_SYNC_OS);
    create_table(&f, (const char *const[]){"a", "b"}, 2);
    fill_wide(&f, 20);
    ms_bt_page_init(&page);
    ms_bt_read_options options = {.table = f.table, .page_rows_max = 10, .page_bytes_max = 1000};
    ms_bt_transport *transport = ms_bt_store_transport(f.store);
    for (int is_canceled = 0; is_canceled < 2; is_canceled++) {
        ms_bt_attempt attempt = {.options = &options, .mailbox = &f.mailbox, .page = &page};
        pool_hold(&f, &held[is_canceled]);
        transport->class->read_open(transport, &attempt);
        transport->class->read_fill(transport, &attempt);
        if (is_canceled) {
            transport->class->read_cancel(transport, &attempt);
        }
        pool_let_go(&held[is_canceled]);
        while (ms_mailbox_pop(&f.mailbox) == NULL) {
            ms_parker_park(&f.parker, MS_PARK_FOREVER);
        }
        assert_int_equal(attempt.status.code, is_canceled ? MS_BT_CANCELLED : MS_BT_OK);
        assert_int_equal(attempt.stats.rows_seen > 0, !is_canceled);
        transport->class->read_close(transport, &attempt);
        ms_bt_page_reset(&page, 0);
    }
    ms_bt_page_release(&page);
    fixture_release(&f);
}

static void page_ends_with_the_row_that_reaches_its_bytes(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, MS_BT_SYNC_OS);
    create_table(&f, (const char *const[]){"a", "b"}, 2);
    fill_wide(&f, 100);
    ms_bt_read_options options = {.table = f.table, .page_bytes_max = 100};
    ms_bt_read *read = ms_bt_client_read_rows(f.client, &options, &f.mailbox, wake_nothing, NULL);
    const ms_bt_page *page = NULL;
    assert_int_equal(ms_bt_read_wait(read, &f.parker, &page), MS_BT_POLL_PAGE);
    assert_int_equal(page->row_count, 1);
    assert_int_equal(page->cell_count, 3000);
    ms_bt_read_return(read, page);
    assert_int_equal(ms_bt_read_wait(read, &f.parker, &page), MS_BT_POLL_PAGE);
    assert_str_equal(ms_bt_page_key(page, &page->rows[0]), "r2");
    ms_bt_read_return(read, page);
    assert_int_equal(ms_bt_read_wait(read, &f.parker, &page), MS_BT_POLL_END);
    assert_true(ms_bt_read_close(read, NULL, NULL));
    fixture_release(&f);
}

#ifndef MS_OVER_GRPC /* there progress is the transport's own business */
/* Rows r00 to r99, of which a filter leaves none but the last. */
static void progress_is_told_when_rows_are_dropped(void **state)
{
    (void)state;
    ms_status st = {0};
    fixture f;
    fixture_init(&f, MS_BT_SYNC_OS);
    create_table(&f, (const char *const[]){"a"}, 1);
    /* Some twenty turns, each of which ends after 8 MiB of looking. */
    ms_bt_mutation_batch batch;
    ms_bt_mutation_batch_init(&batch, 200u << 20);
    uint16_t a = 0;
    assert_ok(ms_bt_mutation_batch_family(&batch, ms_str_lit("a"), &a, &st));
    char *value = calloc(1, 1u << 20);
    for (int i = 0; i < 150; i++) {
        char key[16];
        snprintf(key, sizeof(key), "r%03d", i);
        assert_ok(ms_bt_mutation_batch_begin_row(&batch, ms_str_cstr(key), &st));
        assert_ok(ms_bt_mutation_batch_set_cell(&batch, a, ms_str_lit("q"), 0,
                                                ms_str_make(value, i < 149 ? 1u << 20 : 1), &st));
        ms_bt_mutation_batch_end_row(&batch);
    }
    ms_bt_status bt = write_batch(&f, &batch);
    assert_bt(&bt, MS_BT_OK);
    ms_bt_mutation_batch_release(&batch);
    free(value);
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_bt_read_options options = {.table = f.table,
                                  .filter = ms_bt_filter_value_bitmask(&arena, ms_str_lit("\0"))};
    for (int direction = 0; direction < 2; direction++) {
        options.is_reversed = direction == 1;
        for (int wants = 0; wants < 2; wants++) {
            options.wants_progress = wants == 1;
            ms_bt_read *read =
                ms_bt_client_read_rows(f.client, &options, &f.mailbox, wake_nothing, NULL);
            const ms_bt_page *page = NULL;
            int pages = 0;
            uint32_t rows = 0;
            char last[16] = "";
            while (ms_bt_read_wait(read, &f.parker, &page) == MS_BT_POLL_PAGE) {
                ms_str scanned = ms_bt_page_scanned(page);
                if (scanned.bytes > 0) {
                    int order = ms_str_compare(scanned, ms_str_cstr(last));
                    assert_true(last[0] == '\0' || (direction == 0 ? order > 0 : order < 0));
                    snprintf(last, sizeof(last), "%.*s", MS_STR_ARG(scanned));
                }
                rows += page->row_count;
                pages++;
                ms_bt_read_return(read, page);
            }
            assert_bt(ms_bt_read_status(read), MS_BT_OK);
            assert_true(ms_bt_read_close(read, NULL, NULL));
            assert_int_equal(rows, 1);
            assert_true(wants == 0 ? pages == 1 : pages >= 15);
            assert_int_equal(last[0] != '\0', wants == 1);
        }
    }
    ms_arena_release(&arena);
    fixture_release(&f);
}
#endif

/* Three cells of so many bytes are more than a row may have: 0 is the limit of the service. */
static void check_large_row(uint32_t row_bytes_max, size_t bytes)
{
    ms_status st = {0};
    fixture f;
    fixture_init(&f, MS_BT_SYNC_OS);
    fixture_close(&f);
    f.row_bytes_max = row_bytes_max;
    fixture_open(&f);
    create_table(&f, (const char *const[]){"a"}, 1);
    char *value = calloc(1, bytes);
    for (int i = 0; i < 3; i++) {
        ms_bt_mutation_batch batch;
        ms_bt_mutation_batch_init(&batch, 100u << 20);
        uint16_t a = 0;
        assert_ok(ms_bt_mutation_batch_family(&batch, ms_str_lit("a"), &a, &st));
        assert_ok(ms_bt_mutation_batch_begin_row(&batch, ms_str_lit("large"), &st));
        assert_ok(ms_bt_mutation_batch_set_cell(&batch, a, ms_str_lit("q"), i * 1000,
                                                ms_str_make(value, bytes), &st));
        ms_bt_mutation_batch_end_row(&batch);
        ms_bt_status bt = write_batch(&f, &batch);
        assert_bt(&bt, MS_BT_OK);
        ms_bt_mutation_batch_release(&batch);
    }
    free(value);
    ms_bt_status bt = set_cell(&f, "a small one", "a", "q", 0, "v");
    assert_bt(&bt, MS_BT_OK);
    bt = set_cell(&f, "small", "a", "q", 0, "v");
    assert_bt(&bt, MS_BT_OK);
    ms_bt_read_options options = {.table = f.table};
    ms_bt_read *read = ms_bt_client_read_rows(f.client, &options, &f.mailbox, wake_nothing, NULL);
    const ms_bt_page *page = NULL;
    while (ms_bt_read_wait(read, &f.parker, &page) == MS_BT_POLL_PAGE) {
        ms_bt_read_return(read, page);
    }
    assert_bt(ms_bt_read_status(read), MS_BT_FAILED_PRECONDITION);
    assert_str_equal(ms_bt_read_large_row(read), "large");
    assert_true(ms_bt_read_close(read, NULL, NULL));
    /* Its newest cell can be read. */
    ms_arena arena;
    ms_arena_init(&arena, 0);
    options.filter =
        ms_bt_filter_chain(&arena,
                           (const ms_bt_filter *[]){ms_bt_filter_cells_per_column(&arena, 1),
                                                    ms_bt_filter_strip_value(&arena)},
                           2);
    assert_rows_of(&f, &options, "a small one{a:q@0=}large{a:q@2000=}small{a:q@0=}");
    /* Who can do without it reads on behind it. */
    ms_bt_range behind = {.start = {MS_BT_BOUND_OPEN, ms_str_lit("large")}};
    options.filter = NULL;
    options.rows = (ms_bt_row_set){.ranges = &behind, .range_count = 1};
    assert_rows_of(&f, &options, "small{a:q@0=v}");
    ms_arena_release(&arena);
    fixture_release(&f);
}

static void row_that_is_too_large_is_named(void **state)
{
    (void)state;
    check_large_row(64u << 10, 30u << 10);
}

/* More than most machines want in every test. */
static void row_beyond_the_limit_of_the_service_is_named(void **state)
{
    (void)state;
    if (getenv("MS_NIGHTLY") == NULL) {
        skip();
    }
    check_large_row(0, 90u << 20);
}

/* What becomes of the table, or of its rows, while a scan stands between two turns. */
typedef enum fate { FATE_DROPPED, FATE_MADE_AGAIN, FATE_EMPTIED } fate;

static void finish_table_call(fixture *f, ms_bt_table_call *call)
{
    ms_bt_call_wait(&call->call, &f->parker);
    assert_bt(&call->call.status, MS_BT_OK);
    ms_bt_table_call_release(call);
}

static void meet_fate(fixture *f, fate what)
{
    ms_bt_table_call call;
    ms_bt_table_call_init(&call, &f->mailbox, done_nothing, NULL);
    call.name = f->table;
    if (what == FATE_EMPTIED) {
        ms_bt_client_drop_rows(f->client, &call);
    } else {
        ms_bt_client_drop_table(f->client, &call);
    }
    finish_table_call(f, &call);
    if (what == FATE_MADE_AGAIN) {
        create_table(f, (const char *const[]){"a"}, 1);
        ms_bt_status bt = set_cell(f, "r150", "a", "q", 0, "another");
        assert_bt(&bt, MS_BT_OK);
    }
}

/* Scans 200 rows in pages of two, of which some are there when the table meets its fate. */
static void check_fate(fate what, bool is_reversed, ms_bt_code expected)
{
    fixture f;
    fixture_init(&f, MS_BT_SYNC_OS);
    create_table(&f, (const char *const[]){"a"}, 1);
    /* Twelve MB, several times what a connection takes at once: the server has to wait for its
     * reader. */
    char *value = malloc(60001);
    memset(value, 'v', 60000);
    value[60000] = '\0';
    for (int i = 0; i < 200; i++) {
        char key[16];
        snprintf(key, sizeof(key), "r%03d", i);
        ms_bt_status bt = set_cell(&f, key, "a", "q", 0, value);
        assert_bt(&bt, MS_BT_OK);
    }
    free(value);
    ms_bt_read_options options = {.table = f.table, .page_rows_max = 2, .is_reversed = is_reversed};
    ms_bt_read *read = ms_bt_client_read_rows(f.client, &options, &f.mailbox, wake_nothing, NULL);
    const ms_bt_page *page = NULL;
    uint32_t rows = 0;
    while (ms_bt_read_wait(read, &f.parker, &page) == MS_BT_POLL_PAGE) {
        if (rows == 0) {
            meet_fate(&f, what);
        }
        rows += page->row_count;
        ms_bt_read_return(read, page);
    }
    assert_bt(ms_bt_read_status(read), expected);
    assert_in_range(rows, 2, 199);
    assert_true(ms_bt_read_close(read, NULL, NULL));
    fixture_release(&f);
}

static void table_that_goes_under_a_scan_is_not_found(void **state)
{
    (void)state;
    for (int is_reversed = 0; is_reversed < 2; is_reversed++) {
        check_fate(FATE_DROPPED, is_reversed == 1, MS_BT_NOT_FOUND);
        check_fate(FATE_MADE_AGAIN, is_reversed == 1, MS_BT_NOT_FOUND);
    }
}

#ifndef MS_OVER_GRPC /* no message names the incarnation of a table */
static void read_of_a_table_made_again_is_refused(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, MS_BT_SYNC_OS);
    create_table(&f, (const char *const[]){"a"}, 1);
    ms_bt_status bt = set_cell(&f, "r", "a", "q", 1000, "v");
    assert_bt(&bt, MS_BT_OK);
    ms_bt_read_options options = {.table = f.table};
    ms_bt_read *read = ms_bt_client_read_rows(f.client, &options, &f.mailbox, wake_nothing, NULL);
    const ms_bt_page *page = NULL;
    assert_int_equal(ms_bt_read_wait(read, &f.parker, &page), MS_BT_POLL_PAGE);
    options.incarnation = ms_bt_read_incarnation(read);
    assert_true(options.incarnation != 0);
    assert_true(ms_bt_read_close(read, NULL, NULL));
    assert_rows_of(&f, &options, "r{a:q@1000=v}");
    meet_fate(&f, FATE_MADE_AGAIN);
    ms_buf out;
    ms_buf_init(&out, 1u << 20);
    bt = read_text(&f, &options, &out);
    assert_bt(&bt, MS_BT_NOT_FOUND);
    assert_non_null(strstr(bt.text, "was dropped and made again under a read"));
    ms_buf_release(&out);
    fixture_release(&f);
}
#endif

static void rows_that_go_under_a_scan_end_it(void **state)
{
    (void)state;
    check_fate(FATE_EMPTIED, false, MS_BT_OK);
    check_fate(FATE_EMPTIED, true, MS_BT_OK);
}

static void damaged_key_is_data_loss(void **state)
{
    (void)state;
    ms_status st = {0};
    fixture f;
    fixture_init(&f, MS_BT_SYNC_OS);
    create_table(&f, (const char *const[]){"a"}, 1);
    const ms_str keys[] = {{"\0\0\0\1row", 7},
                           {"\0\0\0\1row\0\1\0\0\0\1", 13},
                           {"\0\0\0\1row\0\1\0\0\0\1qqqqqqqqqqqq", 25}};
    ms_kv_batch *batch = ms_kv_batch_create();
    for (size_t i = 0; i < 3; i++) {
        ms_kv_batch_put(batch, keys[i], ms_str_lit(""));
        assert_ok(ms_kv_write(f.store->kv, batch, MS_KV_NO_SYNC, &st));
        ms_buf out;
        ms_buf_init(&out, 1024);
        ms_bt_status bt = read_text(&f, &(ms_bt_read_options){.table = f.table}, &out);
        assert_bt(&bt, MS_BT_DATA_LOSS);
        ms_buf_release(&out);
        ms_kv_batch_reset(batch);
        ms_kv_batch_delete(batch, keys[i]);
    }
    ms_kv_batch_destroy(batch);
    fixture_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_never_half_of_one_write),
        cmocka_unit_test(unwanted_cells_are_jumped_over),
        cmocka_unit_test(closing_cancels_the_turn_under_way),
        cmocka_unit_test(a_turn_that_was_canceled_while_it_waited_looks_at_nothing),
        cmocka_unit_test(page_ends_with_the_row_that_reaches_its_bytes),
#ifndef MS_OVER_GRPC
        cmocka_unit_test(progress_is_told_when_rows_are_dropped),
        cmocka_unit_test(read_of_a_table_made_again_is_refused),
#endif
        cmocka_unit_test(row_that_is_too_large_is_named),
        cmocka_unit_test(row_beyond_the_limit_of_the_service_is_named),
        cmocka_unit_test(table_that_goes_under_a_scan_is_not_found),
        cmocka_unit_test(rows_that_go_under_a_scan_end_it),
        cmocka_unit_test(damaged_key_is_data_loss),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
