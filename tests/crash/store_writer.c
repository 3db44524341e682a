/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The process that the crash tests kill, and the one that looks at what is left.
 *
 *     store_writer write DIR group|checkpoint|os FIRST COUNT     writes COUNT batches from FIRST on
 *     store_writer send HOST:PORT FIRST COUNT                    the same to a server
 *     store_writer check DIR [TOKENS START]                      says what is in DIR
 *
 * A batch has ROWS new rows and, as its last entry, the row "counter", which all batches write. All
 * rows have one value in two cells of two families, written by one entry: they are equal, or
 * the row was half written. A value starts with the number of its batch.
 *
 * write prints "start T", a time before the first batch, "ack N" when batch N was acknowledged
 * (four calls are outstanding, so that the store has groups to commit), "synced N" when everything
 * up to batch N was synced by a call, which mode checkpoint makes after every SYNC_EVERY batches,
 * "seen N" when the change stream of the table said that batch N is whole, and "done" at the end.
 * send has one call outstanding, because writes over gRPC keep no order. Now and then a tablet is
 * split or merged. Each line is one write() to standard output, which the
 * parent reads; what it did not read was not promised.
 *
 * check prints "last N", the last batch that is there whole (0: nothing; 1: only the table), after
 * it has found that every row is whole, that batches and the rows in them are there without a gap,
 * as the queue keeps their order, and that the counter has the number of the last whole batch. The
 * parent compares N with what was promised. Batches count from 2.
 *
 * With TOKENS, a file that one check leaves for the next, check follows the change stream from
 * where the check before it ended (at first from START) to now: every batch since then must be in
 * it, each row once and the batches in order by their counter, whether kills, splits or merges came
 * between; and what it says of the counter must be what the table holds. Then comes "changes N".
 *
 * Both exit with 1 and a sentence on standard error when something is wrong.
 */
#include "store_follow.h"

#include "base/env.h"
#include "base/memory.h"
#include "base/num.h"
#include "bigtable/client/admin.h"
#include "bigtable/client/grpc.h"
#include "bigtable/store/store.h"
#include "net/loop.h"
#include "os/iopool.h"
#include "os/mailbox.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CALLS_MAX 4
#define ROWS 20
#define SYNC_EVERY 5
#define VALUE_BYTES 120
/* Now and then the counter's value is one of those that have files of their own. */
#define LARGE_EVERY 32
#define LARGE_BYTES 270000
#define WRITE_BUFFER_BYTES (64u << 10) /* so small that flushes and merges happen all the time */
#define FIRST_BATCH 2
#define SPLIT_EVERY 10 /* the tablet of a batch is split off, and merged half as many later */
#define RETENTION_MICROS (INT64_C(7) * 86400 * 1000000)

typedef struct crash_run {
    ms_iopool *pool;
    ms_parker parker;
    ms_mailbox mailbox;
    ms_bt_store *store; /* NULL: a server has it, and the next two lead there */
    ms_loop *loop;
    struct ms_bt_transport *transport;
    ms_bt_client *client;
    ms_bt_table_name table;
    uint64_t calls; /* outstanding at a time */
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

static void init_run(crash_run *run, uint64_t calls)
{
    ms_parker_init(&run->parker);
    ms_mailbox_init(&run->mailbox, &run->parker);
    run->table = (ms_bt_table_name){ms_str_lit("p"), ms_str_lit("i"), ms_str_lit("t")};
    run->calls = calls;
}

static void open_store(crash_run *run, const char *dir, ms_bt_sync_mode mode, bool create)
{
    ms_status st = {0};
    init_run(run, CALLS_MAX);
    must(ms_iopool_create(&(ms_iopool_options){0}, &run->pool, &st), &st);
    ms_bt_store_options options = {.path = dir,
                                   .pool = run->pool,
                                   .create = create,
                                   .sync_mode = mode,
                                   .write_buffer_bytes = WRITE_BUFFER_BYTES};
    must(ms_bt_store_open(&options, &run->store, &st), &st);
    run->client = ms_bt_client_create(ms_bt_store_transport(run->store), NULL);
}

static void open_server(crash_run *run, const char *target)
{
    ms_status st = {0};
    init_run(run, 1);
    must(ms_loop_create("writer", &run->loop, &st), &st);
    ms_bt_grpc_options options = {.loop = run->loop, .target = ms_str_cstr(target)};
    must(ms_bt_grpc_create(&options, &run->transport, &st), &st);
    run->client = ms_bt_client_create(run->transport, NULL);
}

static void close_run(crash_run *run)
{
    ms_status st = {0};
    ms_bt_client_destroy(run->client);
    if (run->store != NULL) {
        must(ms_bt_store_close(run->store, &st), &st);
        ms_iopool_destroy(run->pool);
    } else {
        ms_bt_grpc_destroy(run->transport);
        ms_loop_destroy(run->loop);
    }
    ms_mailbox_release(&run->mailbox);
}

/* ---- Writing ---- */

static void create_table(crash_run *run)
{
    ms_bt_family families[] = {{.name = ms_str_lit("left")}, {.name = ms_str_lit("right")}};
    ms_bt_table table = {.name = run->table,
                         .families = families,
                         .family_count = 2,
                         .change_retention_micros = RETENTION_MICROS};
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

/* The value of a row: its batch, its ordinal, and filling that depends on both. Lives until the
 * next one of the thread. */
static ms_str make_value(uint64_t number, uint32_t ordinal)
{
    static _Thread_local char value[LARGE_BYTES];
    bool is_large = ordinal == ROWS && number % LARGE_EVERY == 0;
    size_t bytes = is_large ? LARGE_BYTES : VALUE_BYTES;
    char head[32];
    snprintf(head, sizeof head, "%012" PRIu64 ".%04" PRIu32, number, ordinal);
    for (size_t i = 0; i < bytes; i++) {
        value[i] = (char)('a' + (number * 31 + ordinal * 7 + i) % 26);
    }
    memcpy(value, head, strlen(head));
    return ms_str_make(value, bytes);
}

static void add_row(crash_slot *slot, ms_str key, uint32_t ordinal)
{
    ms_status st = {0};
    uint16_t left = 0;
    uint16_t right = 0;
    ms_str text = make_value(slot->number, ordinal);
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

/* A split or merge under way, while batches are written. */
typedef struct crash_surgery {
    ms_bt_table_call call;
    char key[40];
} crash_surgery;

static void wait_surgery(crash_run *run, crash_surgery *surgery)
{
    ms_bt_call_wait(&surgery->call.call, &run->parker);
    /* A run that begins between a split and its merge finds nothing to merge. */
    if (surgery->call.call.status.code != MS_BT_FAILED_PRECONDITION) {
        must_bt(&surgery->call.call.status);
    }
}

static void operate(crash_run *run, crash_surgery *surgery, uint64_t number)
{
    bool splits = number % SPLIT_EVERY == 0;
    if (!splits && number % SPLIT_EVERY != SPLIT_EVERY / 2) {
        return;
    }
    wait_surgery(run, surgery);
    uint64_t at = splits ? number : number - SPLIT_EVERY / 2;
    int bytes = snprintf(surgery->key, sizeof surgery->key, "row-%012" PRIu64, at);
    surgery->call.key = ms_str_make(surgery->key, (size_t)bytes);
    if (splits) {
        ms_bt_client_split_tablet(run->client, &surgery->call);
    } else {
        ms_bt_client_merge_tablets(run->client, &surgery->call);
    }
}

static uint64_t number_of(ms_str value, uint32_t ordinal, ms_str key);

/* Says which batches the change stream has shown to be whole. */
static void say_seen(void *arg, const ms_bt_change *change)
{
    (void)arg;
    if (ms_str_equals(change->row_key, ms_str_lit("counter"))) {
        const ms_bt_change_mutation *last = &change->mutations[change->mutation_count - 1];
        say("seen", number_of(last->value, ROWS, change->row_key));
    }
}

static void write_batches(crash_run *run, uint64_t first, uint64_t count, bool calls_sync)
{
    crash_slot slots[CALLS_MAX] = {0};
    crash_surgery surgery = {0};
    follow tail;
    follow_init(&tail, run->client, &run->mailbox, &run->table, say_seen, NULL);
    (void)follow_partitions(&tail, 0, &run->parker);
    follow_open(&tail, 0);
    ms_bt_table_call_init(&surgery.call, &run->mailbox, done, NULL);
    surgery.call.name = run->table;
    for (int i = 0; i < CALLS_MAX; i++) {
        ms_bt_mutation_batch_init(&slots[i].batch, 1u << 20);
        ms_bt_mutate_rows_init(&slots[i].call, &run->mailbox, done, NULL);
        slots[i].call.table = &run->table;
        slots[i].call.batch = &slots[i].batch;
    }
    for (uint64_t number = first; number < first + count; number++) {
        crash_slot *slot = &slots[number % run->calls];
        acknowledge(run, slot);
        /* Everything up to number - calls is acknowledged here. */
        if (calls_sync && number % SYNC_EVERY == 0 && number >= first + run->calls) {
            sync_store(run, number - run->calls);
        }
        submit(run, slot, number);
        operate(run, &surgery, number);
        (void)follow_some(&tail);
    }
    for (uint64_t i = 0; i < run->calls; i++) {
        acknowledge(run, &slots[(first + count + i) % run->calls]);
    }
    wait_surgery(run, &surgery);
    ms_bt_table_call_release(&surgery.call);
    follow_release(&tail, &run->parker);
    for (int i = 0; i < CALLS_MAX; i++) {
        ms_bt_mutate_rows_release(&slots[i].call);
        ms_bt_mutation_batch_release(&slots[i].batch);
    }
}

static void write_table(crash_run *run, uint64_t first, uint64_t count, bool calls_sync)
{
    create_table(run);
    say("start", (uint64_t)ms_env_wall_us());
    say("opened", first);
    write_batches(run, first, count, calls_sync);
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
    must_hold(value.bytes >= VALUE_BYTES && ms_num_scan_u64(ms_str_slice(value, 0, 12), &number),
              "a value is cut", key);
    must_hold(ms_str_equals(value, make_value(number, ordinal)), "a value is damaged", key);
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

/* Returns the last whole batch. */
static uint64_t check_store(crash_run *run)
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
    uint64_t last = check.counter > 0 ? check.counter : has_table ? FIRST_BATCH - 1 : 0;
    say("last", last);
    return last;
}

/* ---- Auditing the change stream ---- */

typedef struct crash_audit {
    uint64_t first;      /* the first batch that was not in the stream before */
    uint64_t last;       /* the last one that the table holds whole */
    uint64_t counter;    /* of the counter's last change */
    unsigned char *rows; /* how often each row of these batches, and of the next, was there */
    uint64_t changes;
} crash_audit;

/* A change holds the two cells of a row, the counter's behind its deletion. */
static void check_change(const ms_bt_change *change, bool is_counter)
{
    const ms_bt_change_mutation *list = change->mutations;
    uint32_t before = is_counter ? 2 : 0;
    must_hold(change->mutation_count == before + 2, "a change is half", change->row_key);
    for (uint32_t i = 0; i < before; i++) {
        must_hold(list[i].kind == MS_BT_MUTATION_DELETE_FROM_FAMILY, "a deletion is missing",
                  change->row_key);
    }
    must_hold(list[before].kind == MS_BT_MUTATION_SET_CELL &&
                  list[before + 1].kind == MS_BT_MUTATION_SET_CELL &&
                  ms_str_equals(list[before].value, list[before + 1].value),
              "two cells of a change differ", change->row_key);
    must_hold(!change->is_garbage_collection && change->source_cluster.bytes > 0,
              "a change comes from nowhere", change->row_key);
}

static void audit_change(void *arg, const ms_bt_change *change)
{
    crash_audit *audit = arg;
    ms_str key = change->row_key;
    bool is_counter = ms_str_equals(key, ms_str_lit("counter"));
    check_change(change, is_counter);
    ms_str value = change->mutations[change->mutation_count - 1].value;
    audit->changes++;
    if (is_counter) {
        uint64_t number = number_of(value, ROWS, key);
        must_hold(number == audit->counter + 1, "the counter's changes are out of order", key);
        audit->counter = number;
        return;
    }
    uint64_t ordinal = 0;
    uint64_t number = 0;
    must_hold(key.bytes == 21 && ms_num_scan_u64(ms_str_slice(key, 4, 16), &number) &&
                  ms_num_scan_u64(ms_str_slice(key, 17, 21), &ordinal) && ordinal < ROWS,
              "a change of a row that nobody wrote", key);
    must_hold(number_of(value, (uint32_t)ordinal, key) == number, "a change has another's value",
              key);
    must_hold(number >= audit->first && number <= audit->last + 1, "a change of another batch",
              key);
    unsigned char *times = &audit->rows[(number - audit->first) * ROWS + ordinal];
    must_hold(*times == 0, "a change comes twice", key);
    *times = 1;
}

static void check_audit(const crash_audit *audit)
{
    must_hold(audit->counter == audit->last, "the counter's last change is not what it holds",
              ms_str_lit("counter"));
    for (uint64_t i = 0; i < (audit->last + 1 - audit->first) * ROWS; i++) {
        if (audit->rows[i] != 1) {
            char key[40];
            int bytes = snprintf(key, sizeof key, "row-%012" PRIu64 "-%04" PRIu64,
                                 audit->first + i / ROWS, i % ROWS);
            must_hold(false, "a change is missing", ms_str_make(key, (size_t)bytes));
        }
    }
}

/* Follows the stream since the check before, whose last batch is behind the tokens in the file. */
static void audit_store(crash_run *run, uint64_t last, const char *path, int64_t start_micros)
{
    crash_audit audit = {.first = FIRST_BATCH, .last = last};
    char number_path[512];
    snprintf(number_path, sizeof number_path, "%s.last", path);
    FILE *file = fopen(number_path, "r");
    if (file != NULL) {
        uint64_t before = 0;
        if (fscanf(file, "%" SCNu64, &before) == 1) {
            audit.first = before + 1;
        }
        fclose(file);
    }
    audit.counter = audit.first - 1;
    must_hold(last + 1 >= audit.first, "batches are gone", ms_str_lit("counter"));
    audit.rows = ms_mem_calloc((last + 2 - audit.first) * ROWS, 1);
    follow f;
    follow_init(&f, run->client, &run->mailbox, &run->table, audit_change, &audit);
    if (follow_load(&f, path) || follow_partitions(&f, start_micros, &run->parker)) {
        follow_until(&f, ms_env_wall_us(), &run->parker);
        check_audit(&audit);
        follow_save(&f, path);
        file = fopen(number_path, "w");
        must_hold(file != NULL && fprintf(file, "%" PRIu64 "\n", last) > 0 && fclose(file) == 0,
                  "cannot write the last batch", ms_str_lit(""));
        say("changes", audit.changes);
    }
    follow_release(&f, &run->parker);
    ms_mem_free(audit.rows);
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
    int64_t start_micros = 0;
    if (argc == 3 && strcmp(argv[1], "check") == 0) {
        open_store(&run, argv[2], MS_BT_SYNC_GROUP, true);
        (void)check_store(&run);
    } else if (argc == 5 && strcmp(argv[1], "check") == 0 &&
               ms_num_scan_i64(ms_str_cstr(argv[4]), &start_micros)) {
        open_store(&run, argv[2], MS_BT_SYNC_GROUP, true);
        uint64_t last = check_store(&run);
        if (start_micros > 0) {
            audit_store(&run, last, argv[3], start_micros);
        }
    } else if (argc == 6 && strcmp(argv[1], "write") == 0 && parse_mode(argv[3], &mode) &&
               ms_num_scan_u64(ms_str_cstr(argv[4]), &first) && first >= FIRST_BATCH &&
               ms_num_scan_u64(ms_str_cstr(argv[5]), &count)) {
        open_store(&run, argv[2], mode, true);
        write_table(&run, first, count, mode == MS_BT_SYNC_CHECKPOINT);
    } else if (argc == 5 && strcmp(argv[1], "send") == 0 &&
               ms_num_scan_u64(ms_str_cstr(argv[3]), &first) && first >= FIRST_BATCH &&
               ms_num_scan_u64(ms_str_cstr(argv[4]), &count)) {
        open_server(&run, argv[2]);
        write_table(&run, first, count, false);
    } else {
        fprintf(stderr, "usage: store_writer write DIR group|checkpoint|os FIRST COUNT\n"
                        "       store_writer send HOST:PORT FIRST COUNT\n"
                        "       store_writer check DIR [TOKENS START]\n");
        return 2;
    }
    close_run(&run);
    if (count > 0) {
        say("done", first + count - 1); /* what close syncs counts as synced in every mode but os */
    }
    return 0;
}
