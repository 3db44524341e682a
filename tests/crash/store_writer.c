/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that the crash tests kill, and the one that looks at what is left.
 *
 *     store_writer write DIR group|checkpoint|os FIRST COUNT     writes COUNT batches from FIRST on
 *     store_writer check DIR                                     says what is in DIR
 *
 * A batch has ROWS new rows and, as its last entry, the row "counter", which all batches write. All
 * rows have one value in two cells of two families, written by one entry: they are equal, or
 * the row was half written. A value starts with the number of its batch.
 *
 * write prints "ack N" when batch N was acknowledged (four calls are outstanding, so that the store
 * has groups to commit), "synced N" when everything up to batch N was synced by a call, which mode
 * checkpoint makes after every SYNC_EVERY batches, and "done" at the end. Each line is one write()
 * to standard output, which the parent reads; what it did not read was not promised.
 *
 * check prints "last N", the last batch that is there whole (0: nothing; 1: only the table), after
 * it has found that every row is whole, that batches and the rows in them are there without a gap,
 * as the queue keeps their order, and that the counter has the number of the last whole batch. The
 * parent compares N with what was promised. Batches count from 2. Both exit with 1 and a sentence
 * on standard error when something is wrong.
 */
#include "base/num.h"
#include "bigtable/client/admin.h"
#include "bigtable/store/store.h"
#include "os/iopool.h"
#include "os/mailbox.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CALLS 4
#define ROWS 20
#define SYNC_EVERY 5
#define VALUE_BYTES 120
#define WRITE_BUFFER_BYTES (64u << 10) /* so small that flushes and merges happen all the time */
#define FIRST_BATCH 2

typedef struct crash_run {
    ms_iopool *pool;
    ms_parker parker;
    ms_mailbox mailbox;
    ms_bt_store *store;
    ms_bt_client *client;
    ms_bt_table_name table;
} crash_run;

typedef struct crash_slot {
    ms_bt_mutate_rows call;
    ms_bt_mutation_batch batch;
    uint64_t number; /* 0: nothing under way */
} crash_slot;

static void must(ms_rc rc, const ms_status *st)
{
    if (rc != MS_OK) {
        fprintf(stderr, "store_writer: %s (%s)\n", st->message, st->detail);
        exit(1);
    }
}

static void must_bt(const ms_bt_status *bt)
{
    if (!ms_bt_status_is_ok(bt)) {
        fprintf(stderr, "store_writer: %s: %s\n", ms_bt_code_name(bt->code), bt->text);
        exit(1);
    }
}

static void must_hold(bool holds, const char *what, ms_str key)
{
    if (!holds) {
        char text[128];
        fprintf(stderr, "store_writer: %s: row %s\n", what,
                ms_bt_bytes_text(key, text, sizeof text));
        exit(1);
    }
}

static void say(const char *what, uint64_t number)
{
    char line[64];
    int bytes = snprintf(line, sizeof line, "%s %" PRIu64 "\n", what, number);
    if (write(STDOUT_FILENO, line, (size_t)bytes) != bytes) {
        exit(1);
    }
}

static void done(ms_bt_call *call, void *arg)
{
    (void)call;
    (void)arg;
}

static void wake(void *arg)
{
    (void)arg;
}

static void open_store(crash_run *run, const char *dir, ms_bt_sync_mode mode, bool create)
{
    ms_status st = {0};
    must(ms_iopool_create(&(ms_iopool_options){0}, &run->pool, &st), &st);
    ms_parker_init(&run->parker);
    ms_mailbox_init(&run->mailbox, &run->parker);
    run->table = (ms_bt_table_name){ms_str_lit("p"), ms_str_lit("i"), ms_str_lit("t")};
    ms_bt_store_options options = {.path = dir,
                                   .pool = run->pool,
                                   .create = create,
                                   .sync_mode = mode,
                                   .write_buffer_bytes = WRITE_BUFFER_BYTES};
    must(ms_bt_store_open(&options, &run->store, &st), &st);
    run->client = ms_bt_client_create(ms_bt_store_transport(run->store), NULL);
}

static void close_store(crash_run *run)
{
    ms_status st = {0};
    ms_bt_client_destroy(run->client);
    must(ms_bt_store_close(run->store, &st), &st);
    ms_iopool_destroy(run->pool);
    ms_mailbox_release(&run->mailbox);
}

/* ---- Writing ---- */

static void create_table(crash_run *run)
{
    ms_bt_family families[] = {{.name = ms_str_lit("left")}, {.name = ms_str_lit("right")}};
    ms_bt_table table = {.name = run->table, .families = families, .family_count = 2};
    ms_bt_table_call call;
    ms_bt_table_call_init(&call, &run->mailbox, done, NULL);
    call.table = &table;
    ms_bt_client_create_table(run->client, &call);
    ms_bt_call_wait(&call.call, &run->parker);
    if (call.call.status.code != MS_BT_ALREADY_EXISTS) {
        must_bt(&call.call.status);
    }
    ms_bt_table_call_release(&call);
}

/* The value of a row: its batch, its ordinal, and filling that depends on both. */
static void make_value(uint64_t number, uint32_t ordinal, char value_out[VALUE_BYTES])
{
    char head[32];
    snprintf(head, sizeof head, "%012" PRIu64 ".%04" PRIu32, number, ordinal);
    for (uint32_t i = 0; i < VALUE_BYTES; i++) {
        value_out[i] = (char)('a' + (number * 31 + ordinal * 7 + i) % 26);
    }
    memcpy(value_out, head, strlen(head));
}

static void add_row(crash_slot *slot, ms_str key, uint32_t ordinal)
{
    ms_status st = {0};
    uint16_t left = 0;
    uint16_t right = 0;
    char value[VALUE_BYTES];
    make_value(slot->number, ordinal, value);
    ms_str text = ms_str_make(value, VALUE_BYTES);
    ms_bt_mutation_batch *batch = &slot->batch;
    must(ms_bt_mutation_batch_family(batch, ms_str_lit("left"), &left, &st), &st);
    must(ms_bt_mutation_batch_family(batch, ms_str_lit("right"), &right, &st), &st);
    must(ms_bt_mutation_batch_begin_row(batch, key, &st), &st);
    /* Only the newest version of the counter counts, so that it is deleted first. */
    if (ordinal == ROWS) {
        must(ms_bt_mutation_batch_delete_row(batch, &st), &st);
    }
    /* The time follows from the batch: one that is written again changes nothing. */
    int64_t micros = (int64_t)slot->number * 1000;
    ms_str qualifier = ms_str_lit("q");
    must(ms_bt_mutation_batch_set_cell(batch, left, qualifier, micros, text, &st), &st);
    must(ms_bt_mutation_batch_set_cell(batch, right, qualifier, micros, text, &st), &st);
    ms_bt_mutation_batch_end_row(batch);
}

static void submit(crash_run *run, crash_slot *slot, uint64_t number)
{
    slot->number = number;
    ms_bt_mutation_batch_reset(&slot->batch);
    for (uint32_t i = 0; i < ROWS; i++) {
        char key[40];
        int bytes = snprintf(key, sizeof key, "row-%012" PRIu64 "-%04" PRIu32, number, i);
        add_row(slot, ms_str_make(key, (size_t)bytes), i);
    }
    add_row(slot, ms_str_lit("counter"), ROWS);
    ms_bt_client_mutate_rows(run->client, &slot->call);
}

/* Waits for the batch of a slot and says that it was acknowledged. */
static void acknowledge(crash_run *run, crash_slot *slot)
{
    if (slot->number == 0) {
        return;
    }
    ms_bt_call_wait(&slot->call.call, &run->parker);
    must_bt(&slot->call.call.status);
    must_hold(ms_bt_mutate_rows_failure_count(&slot->call) == 0, "a batch has failures",
              ms_str_lit("?"));
    say("ack", slot->number);
    slot->number = 0;
}

static void sync_store(crash_run *run, uint64_t number)
{
    ms_bt_sync sync;
    ms_bt_sync_init(&sync, &run->mailbox, done, NULL);
    ms_bt_client_sync(run->client, &sync);
    ms_bt_call_wait(&sync.call, &run->parker);
    must_bt(&sync.call.status);
    say("synced", number);
}

static void write_batches(crash_run *run, uint64_t first, uint64_t count, bool calls_sync)
{
    crash_slot slots[CALLS] = {0};
    for (int i = 0; i < CALLS; i++) {
        ms_bt_mutation_batch_init(&slots[i].batch, 1u << 20);
        ms_bt_mutate_rows_init(&slots[i].call, &run->mailbox, done, NULL);
        slots[i].call.table = &run->table;
        slots[i].call.batch = &slots[i].batch;
    }
    for (uint64_t number = first; number < first + count; number++) {
        crash_slot *slot = &slots[number % CALLS];
        acknowledge(run, slot);
        /* Everything up to number - CALLS is acknowledged here. */
        if (calls_sync && number % SYNC_EVERY == 0 && number >= first + CALLS) {
            sync_store(run, number - CALLS);
        }
        submit(run, slot, number);
    }
    for (uint64_t i = 0; i < CALLS; i++) {
        acknowledge(run, &slots[(first + count + i) % CALLS]);
    }
    for (int i = 0; i < CALLS; i++) {
        ms_bt_mutate_rows_release(&slots[i].call);
        ms_bt_mutation_batch_release(&slots[i].batch);
    }
}

/* ---- Checking ---- */

typedef struct crash_check {
    uint64_t last;    /* the newest batch seen */
    uint32_t rows;    /* of it */
    uint64_t counter; /* 0: there is none */
} crash_check;

/* The batch of a value, after comparing the whole of it with what was written. */
static uint64_t number_of(ms_str value, uint32_t ordinal, ms_str key)
{
    uint64_t number = 0;
    char expected[VALUE_BYTES];
    must_hold(value.bytes == VALUE_BYTES && ms_num_scan_u64(ms_str_slice(value, 0, 12), &number),
              "a value is cut", key);
    make_value(number, ordinal, expected);
    must_hold(memcmp(value.ptr, expected, VALUE_BYTES) == 0, "a value is damaged", key);
    return number;
}

static void check_row(crash_check *check, const ms_bt_page *page, const ms_bt_row *row)
{
    ms_str key = ms_bt_page_key(page, row);
    must_hold(row->cell_count == 2, "a row is half", key);
    const ms_bt_cell *cells = &page->cells[row->first_cell];
    must_hold(cells[0].family != cells[1].family, "a row has two cells of one family", key);
    ms_str left = ms_bt_page_value(page, &cells[0]);
    must_hold(ms_str_equals(left, ms_bt_page_value(page, &cells[1])), "two cells differ", key);
    if (ms_str_equals(key, ms_str_lit("counter"))) {
        check->counter = number_of(left, ROWS, key);
        return;
    }
    bool is_next = check->last == 0 || check->rows == ROWS;
    check->rows = is_next ? 1 : check->rows + 1;
    check->last = check->last == 0 ? FIRST_BATCH : check->last + (is_next ? 1 : 0);
    char expected[40];
    int bytes = snprintf(expected, sizeof expected, "row-%012" PRIu64 "-%04" PRIu32, check->last,
                         check->rows - 1);
    must_hold(ms_str_equals(key, ms_str_make(expected, (size_t)bytes)), "a row is missing before",
              key);
    must_hold(number_of(left, check->rows - 1, key) == check->last, "a row has another's value",
              key);
}

static void check_store(crash_run *run)
{
    crash_check check = {0};
    ms_bt_read_options options = {.table = run->table};
    ms_bt_read *read = ms_bt_client_read_rows(run->client, &options, &run->mailbox, wake, NULL);
    const ms_bt_page *page = NULL;
    ms_bt_poll poll = ms_bt_read_wait(read, &run->parker, &page);
    while (poll == MS_BT_POLL_PAGE) {
        for (uint32_t i = 0; i < page->row_count; i++) {
            check_row(&check, page, &page->rows[i]);
        }
        ms_bt_read_return(read, page);
        poll = ms_bt_read_wait(read, &run->parker, &page);
    }
    bool has_table = poll == MS_BT_POLL_END;
    if (!has_table && ms_bt_read_status(read)->code != MS_BT_NOT_FOUND) {
        must_bt(ms_bt_read_status(read));
    }
    (void)ms_bt_read_close(read, NULL, NULL);
    /* A batch is no transaction: of the last one there may be some rows and no counter yet. */
    bool is_whole = check.counter == check.last && (check.last == 0 || check.rows == ROWS);
    bool is_cut = check.last > 0 && (check.counter == check.last - 1 ||
                                     (check.last == FIRST_BATCH && check.counter == 0));
    must_hold(is_whole || is_cut, "the counter is not of the last batch", ms_str_lit("counter"));
    say("last", check.counter > 0 ? check.counter : has_table ? FIRST_BATCH - 1 : 0);
}

static bool parse_mode(const char *text, ms_bt_sync_mode *mode_out)
{
    for (ms_bt_sync_mode mode = 0; mode < MS_BT_SYNC_COUNT; mode++) {
        if (strcmp(ms_bt_sync_mode_name(mode), text) == 0) {
            *mode_out = mode;
            return true;
        }
    }
    return false;
}

int main(int argc, char **argv)
{
    crash_run run = {0};
    ms_bt_sync_mode mode = MS_BT_SYNC_GROUP;
    uint64_t first = 0;
    uint64_t count = 0;
    if (argc == 3 && strcmp(argv[1], "check") == 0) {
        open_store(&run, argv[2], MS_BT_SYNC_GROUP, true);
        check_store(&run);
    } else if (argc == 6 && strcmp(argv[1], "write") == 0 && parse_mode(argv[3], &mode) &&
               ms_num_scan_u64(ms_str_cstr(argv[4]), &first) && first >= FIRST_BATCH &&
               ms_num_scan_u64(ms_str_cstr(argv[5]), &count)) {
        open_store(&run, argv[2], mode, true);
        create_table(&run);
        say("opened", first);
        write_batches(&run, first, count, mode == MS_BT_SYNC_CHECKPOINT);
    } else {
        fprintf(stderr, "usage: store_writer write DIR group|checkpoint|os FIRST COUNT\n"
                        "       store_writer check DIR\n");
        return 2;
    }
    close_store(&run);
    if (count > 0) {
        say("done", first + count - 1); /* what close syncs counts as synced in every mode but os */
    }
    return 0;
}
