/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls on single rows against the embedded store, per call and with their rate: MutateRow,
 * ReadModifyWriteRow, CheckAndMutateRow (whether the row exists; whether the latest cell of a
 * column has a value) and AddToCell, with CALLS outstanding at a time, over rows that all exist
 * and over one hot row. The yardstick is the store below by itself: one thread that reads a value,
 * changes it and puts it back, each put a write of its own, as a store without a queue would do it
 * under a row lock. Cells have versions, so that reading is a seek to the newest one; a get, which
 * cells without versions would allow, is printed beside it.
 *
 *     bench_rows [calls of each kind] [repetitions]
 *
 * CPU is that of all threads. Every run starts with all data in files and an empty memtable,
 * because what a memtable costs depends on how full it is. The log is not synced, so that the
 * figures are not the disk's; "group" at the end is with a sync of each group. Caches are warm.
 */
#include "base/env.h"
#include "base/memory.h"
#include "base/num.h"
#include "bench.h"
#include "bigtable/client/admin.h"
#include "bigtable/client/single_row.h"
#include "bigtable/store/store.h"
#include "kv/kv.h"
#include "os/file.h"
#include "os/iopool.h"
#include "os/mailbox.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CALLS 100
#define ROWS 100000u
#define REPETITIONS_MAX 15
/* Of the yardstick's CPU per call, at most. The queue and the change of threads come on top of what
 * the yardstick does; over one row, a check that writes must end its batch, so that the next one
 * sees it, and steps over what it overwrote. */
#define WANTED_PERCENT 200

typedef enum call_kind { MUTATE, MODIFY, CHECK, COMPARE, AGGREGATE, KIND_COUNT } call_kind;

static const char *const kind_names[KIND_COUNT] = {
    [MUTATE] = "MutateRow",        [MODIFY] = "ReadModifyWriteRow",
    [CHECK] = "CheckAndMutateRow", [COMPARE] = "CheckAndMutateRow of a value",
    [AGGREGATE] = "AddToCell",
};

typedef struct bench bench;

/* A call that submits itself again until there were enough. */
typedef struct slot {
    bench *b;
    char key[24];
    ms_bt_mutation_batch batch;
    ms_bt_mutate_rows mutate;
    ms_bt_read_modify_write modify;
    ms_bt_check_and_mutate check;
} slot;

struct bench {
    uint64_t calls;
    int repetitions;
    char path[64];
    ms_iopool *pool;
    ms_parker parker;
    ms_mailbox mailbox;
    ms_bt_client *client;
    ms_bt_table_name table;
    ms_bt_rule rule;
    ms_arena arena;
    const ms_bt_filter *latest_is; /* a value that no row has */
    call_kind kind;
    uint32_t rows; /* over which the calls go */
    uint64_t left; /* calls to submit */
    uint64_t outstanding;
    ms_env_random random;
    slot slots[CALLS];
};

typedef struct cost {
    double cpu_us; /* a call */
    double rate;   /* calls a second */
} cost;

static void must_bt(const ms_bt_status *bt)
{
    if (!ms_bt_status_is_ok(bt)) {
        bench_fail(ms_bt_code_name(bt->code), bt->text);
    }
}

static void print_key(char key[24], uint64_t row)
{
    snprintf(key, 24, "row-%012" PRIu64, row);
}

/* Submission. */

/* Fills a slot's batch with one mutation of its row. */
static void fill_batch(slot *s, bool is_aggregate)
{
    ms_status st = {0};
    uint16_t family = 0;
    ms_str name = is_aggregate ? ms_str_lit("sum") : ms_str_lit("cf");
    ms_bt_mutation_batch_reset(&s->batch);
    bench_must(ms_bt_mutation_batch_family(&s->batch, name, &family, &st), &st);
    bench_must(ms_bt_mutation_batch_begin_row(&s->batch, ms_str_cstr(s->key), &st), &st);
    bench_must(is_aggregate
                   ? ms_bt_mutation_batch_add_to_cell(&s->batch, family, ms_str_lit("q"), 0, 1, &st)
                   : ms_bt_mutation_batch_set_cell(&s->batch, family, ms_str_lit("s"), 0,
                                                   ms_str_lit("12345678"), &st),
               &st);
    ms_bt_mutation_batch_end_row(&s->batch);
}

static void submit(slot *s)
{
    bench *b = s->b;
    b->left--;
    b->outstanding++;
    print_key(s->key, ms_env_random_below(&b->random, b->rows));
    if (b->kind == MODIFY) {
        s->modify.row_key = ms_str_cstr(s->key);
        ms_bt_client_read_modify_write(b->client, &s->modify);
        return;
    }
    fill_batch(s, b->kind == AGGREGATE);
    if (b->kind == CHECK || b->kind == COMPARE) {
        s->check.row_key = ms_str_cstr(s->key);
        s->check.predicate = b->kind == COMPARE ? b->latest_is : NULL;
        ms_bt_client_check_and_mutate(b->client, &s->check);
    } else {
        ms_bt_client_mutate_rows(b->client, &s->mutate);
    }
}

static void done(ms_bt_call *call, void *arg)
{
    slot *s = arg;
    must_bt(&call->status);
    s->b->outstanding--;
    if (s->b->left > 0) {
        submit(s);
    }
}

static void init_slots(bench *b)
{
    for (int i = 0; i < CALLS; i++) {
        slot *s = &b->slots[i];
        s->b = b;
        ms_bt_mutation_batch_init(&s->batch, 1u << 16);
        ms_bt_mutate_rows_init(&s->mutate, &b->mailbox, done, s);
        s->mutate.table = &b->table;
        s->mutate.batch = &s->batch;
        s->mutate.is_single = true;
        ms_bt_read_modify_write_init(&s->modify, &b->mailbox, done, s);
        s->modify.table = &b->table;
        s->modify.rules = &b->rule;
        s->modify.rule_count = 1;
        ms_bt_check_and_mutate_init(&s->check, &b->mailbox, done, s);
        s->check.table = &b->table;
        s->check.if_true = &s->batch;
        s->check.if_false = &s->batch;
    }
}

static void release_slots(bench *b)
{
    for (int i = 0; i < CALLS; i++) {
        slot *s = &b->slots[i];
        ms_bt_mutate_rows_release(&s->mutate);
        ms_bt_read_modify_write_release(&s->modify);
        ms_bt_check_and_mutate_release(&s->check);
        ms_bt_mutation_batch_release(&s->batch);
    }
}

/* Runs so many calls of a kind over so many rows. */
static cost run_calls(bench *b, call_kind kind, uint32_t rows, uint64_t calls)
{
    b->kind = kind;
    b->rows = rows;
    b->left = calls;
    double cpu = bench_cpu_s();
    int64_t start = ms_env_mono_ns();
    for (int i = 0; i < CALLS && b->left > 0; i++) {
        submit(&b->slots[i]);
    }
    while (b->outstanding > 0) {
        if (ms_mailbox_deliver(&b->mailbox, CALLS) == 0) {
            ms_parker_park(&b->parker, MS_PARK_FOREVER);
        }
    }
    return (cost){.cpu_us = (bench_cpu_s() - cpu) / (double)calls * 1e6,
                  .rate = (double)calls / ((double)(ms_env_mono_ns() - start) / 1e9)};
}

/* The store. */

static void table_done(ms_bt_call *call, void *arg)
{
    (void)call;
    (void)arg;
}

static void create_table(bench *b)
{
    ms_bt_family families[] = {{.name = ms_str_lit("cf")},
                               {.name = ms_str_lit("sum"), .type = MS_BT_VALUE_INT64_SUM}};
    ms_bt_table table = {.name = b->table, .families = families, .family_count = 2};
    ms_bt_table_call call;
    ms_bt_table_call_init(&call, &b->mailbox, table_done, NULL);
    call.table = &table;
    ms_bt_client_create_table(b->client, &call);
    ms_bt_call_wait(&call.call, &b->parker);
    must_bt(&call.call.status);
    ms_bt_table_call_release(&call);
}

/* Every row has one counter, eight bytes, and one aggregate. */
static void fill_rows(bench *b)
{
    ms_status st = {0};
    ms_bt_mutation_batch batch;
    ms_bt_mutation_batch_init(&batch, 256u << 20);
    ms_bt_mutate_rows call;
    ms_bt_mutate_rows_init(&call, &b->mailbox, table_done, NULL);
    call.table = &b->table;
    call.batch = &batch;
    uint16_t cf = 0;
    uint16_t sum = 0;
    bench_must(ms_bt_mutation_batch_family(&batch, ms_str_lit("cf"), &cf, &st), &st);
    bench_must(ms_bt_mutation_batch_family(&batch, ms_str_lit("sum"), &sum, &st), &st);
    for (uint32_t row = 0; row < ROWS; row++) {
        char key[24];
        print_key(key, row);
        bench_must(ms_bt_mutation_batch_begin_row(&batch, ms_str_cstr(key), &st), &st);
        bench_must(ms_bt_mutation_batch_set_cell(&batch, cf, ms_str_lit("n"), 0,
                                                 ms_str_lit("\0\0\0\0\0\0\0\0"), &st),
                   &st);
        bench_must(ms_bt_mutation_batch_add_to_cell(&batch, sum, ms_str_lit("q"), 0, 1, &st), &st);
        ms_bt_mutation_batch_end_row(&batch);
        if (row % 10000 == 9999) {
            ms_bt_client_mutate_rows(b->client, &call);
            ms_bt_call_wait(&call.call, &b->parker);
            must_bt(&call.call.status);
            ms_bt_mutation_batch_reset(&batch);
        }
    }
    ms_bt_mutate_rows_release(&call);
    ms_bt_mutation_batch_release(&batch);
}

static ms_bt_store *open_store(bench *b, ms_bt_sync_mode mode)
{
    ms_status st = {0};
    char path[96];
    snprintf(path, sizeof(path), "%s/store", b->path);
    ms_bt_store *store = NULL;
    ms_bt_store_options options = {
        .path = path, .pool = b->pool, .create = true, .sync_mode = mode};
    bench_must(ms_bt_store_open(&options, &store, &st), &st);
    b->client = ms_bt_client_create(ms_bt_store_transport(store), NULL);
    return store;
}

static void close_store(bench *b, ms_bt_store *store)
{
    ms_status st = {0};
    ms_bt_client_destroy(b->client);
    bench_must(ms_bt_store_close(store, &st), &st);
}

/* The yardstick. */

/* A key as long as the store's for such a cell. */
static ms_str bare_key(char key[48], uint64_t row)
{
    memset(key, 0, 48);
    print_key(key, row);
    return ms_str_make(key, 40);
}

static void compact_bare(ms_kv *kv)
{
    ms_status st = {0};
    bench_must(ms_kv_flush(kv, &st), &st);
    ms_kv_compact(kv, (ms_str){NULL, 0}, (ms_str){NULL, 0});
}

static ms_kv *open_bare(bench *b)
{
    ms_status st = {0};
    char path[96];
    char key[48];
    snprintf(path, sizeof(path), "%s/bare", b->path);
    ms_kv *kv = NULL;
    bench_must(ms_kv_open(&(ms_kv_options){.path = path, .create = true}, &kv, &st), &st);
    ms_kv_batch *batch = ms_kv_batch_create();
    for (uint32_t row = 0; row < ROWS; row++) {
        ms_kv_batch_put(batch, bare_key(key, row), ms_str_lit("\0\0\0\0\0\0\0\0"));
        if (row % 10000 == 9999) {
            bench_must(ms_kv_write(kv, batch, MS_KV_NO_SYNC, &st), &st);
            ms_kv_batch_reset(batch);
        }
    }
    ms_kv_batch_destroy(batch);
    compact_bare(kv);
    return kv;
}

static void read_bare(ms_kv *kv, ms_str key, bool seeks, ms_buf *value)
{
    ms_status st = {0};
    ms_buf_reset(value);
    bool is_found = false;
    if (!seeks) {
        bench_must(ms_kv_get(kv, key, value, &is_found, &st), &st);
        return;
    }
    char end[48];
    memcpy(end, key.ptr, key.bytes);
    end[key.bytes - 1]++;
    ms_kv_iter_options options = {.upper = ms_str_make(end, key.bytes)};
    ms_kv_iter *iter = ms_kv_iter_create(kv, &options);
    ms_kv_entry entry;
    if (ms_kv_iter_seek(iter, key, &entry)) {
        bench_must(ms_buf_append(value, entry.value, &st), &st);
    }
    ms_kv_iter_destroy(iter);
}

static cost run_bare(bench *b, ms_kv *kv, bool seeks)
{
    ms_status st = {0};
    ms_buf value;
    ms_buf_init(&value, 64);
    ms_kv_batch *batch = ms_kv_batch_create();
    double cpu = bench_cpu_s();
    int64_t start = ms_env_mono_ns();
    for (uint64_t i = 0; i < b->calls; i++) {
        char key[48];
        ms_str view = bare_key(key, ms_env_random_below(&b->random, ROWS));
        read_bare(kv, view, seeks, &value);
        value.ptr[7]++;
        ms_kv_batch_reset(batch);
        ms_kv_batch_put(batch, view, ms_buf_view(&value));
        bench_must(ms_kv_write(kv, batch, MS_KV_NO_SYNC, &st), &st);
    }
    cost taken = {.cpu_us = (bench_cpu_s() - cpu) / (double)b->calls * 1e6,
                  .rate = (double)b->calls / ((double)(ms_env_mono_ns() - start) / 1e9)};
    ms_kv_batch_destroy(batch);
    ms_buf_release(&value);
    return taken;
}

/* Reports. */

static cost median(const cost *costs, int count)
{
    double cpu[REPETITIONS_MAX];
    double rate[REPETITIONS_MAX];
    for (int i = 0; i < count; i++) {
        cpu[i] = costs[i].cpu_us;
        rate[i] = costs[i].rate;
    }
    return (cost){bench_median(cpu, count), bench_median(rate, count)};
}

static void report(const char *what, cost ours, cost bare)
{
    printf("%s: %.2f us CPU a call, %.0f calls/s\n", what, ours.cpu_us, ours.rate);
    char label[64];
    snprintf(label, sizeof(label), "store, %s", what);
    bench_report(&(bench_result){.name = label,
                                 .unit = "us CPU/call",
                                 .ours = ours.cpu_us,
                                 .yardstick = bare.cpu_us,
                                 .yardstick_name = "bare seek and put",
                                 .bound = bare.cpu_us * WANTED_PERCENT / 100});
}

static void run(bench *b)
{
    ms_kv *kv = open_bare(b);
    ms_status st = {0};
    ms_bt_store *store = open_store(b, MS_BT_SYNC_OS);
    create_table(b);
    fill_rows(b);
    cost bare_get[REPETITIONS_MAX];
    cost bare[REPETITIONS_MAX];
    cost spread[KIND_COUNT][REPETITIONS_MAX];
    cost hot[KIND_COUNT][REPETITIONS_MAX];
    for (int i = 0; i < b->repetitions; i++) {
        bare_get[i] = run_bare(b, kv, false);
        compact_bare(kv);
        bare[i] = run_bare(b, kv, true);
        compact_bare(kv);
        for (int kind = 0; kind < KIND_COUNT; kind++) {
            bench_must(ms_bt_store_compact(store, &st), &st);
            spread[kind][i] = run_calls(b, (call_kind)kind, ROWS, b->calls);
            bench_must(ms_bt_store_compact(store, &st), &st);
            hot[kind][i] = run_calls(b, (call_kind)kind, 1, b->calls);
        }
    }
    close_store(b, store);
    ms_kv_close(kv);
    cost yardstick = median(bare, b->repetitions);
    cost get = median(bare_get, b->repetitions);
    printf("bare get and put: %.2f us CPU a call, %.0f calls/s\n", get.cpu_us, get.rate);
    printf("bare seek and put: %.2f us CPU a call, %.0f calls/s\n", yardstick.cpu_us,
           yardstick.rate);
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        char what[64];
        report(kind_names[kind], median(spread[kind], b->repetitions), yardstick);
        snprintf(what, sizeof(what), "%s, one row", kind_names[kind]);
        report(what, median(hot[kind], b->repetitions), yardstick);
    }
    store = open_store(b, MS_BT_SYNC_GROUP);
    for (int kind = 0; kind < KIND_COUNT; kind++) {
        cost synced = run_calls(b, (call_kind)kind, ROWS, b->calls / 10 + 1);
        printf("%s, group: %.2f us CPU a call, %.0f calls/s\n", kind_names[kind], synced.cpu_us,
               synced.rate);
    }
    close_store(b, store);
}

int main(int argc, char **argv)
{
    ms_status st = {0};
    static bench b = {.calls = 100000, .repetitions = 5};
    uint64_t repetitions = 5;
    if ((argc > 1 && !ms_num_scan_u64(ms_str_cstr(argv[1]), &b.calls)) ||
        (argc > 2 && !ms_num_scan_u64(ms_str_cstr(argv[2]), &repetitions)) || b.calls == 0 ||
        repetitions == 0 || repetitions > REPETITIONS_MAX) {
        fprintf(stderr, "usage: bench_rows [calls] [repetitions up to %d]\n", REPETITIONS_MAX);
        return 2;
    }
    b.repetitions = (int)repetitions;
    snprintf(b.path, sizeof(b.path), "/tmp/bench-rows-XXXXXX");
    if (mkdtemp(b.path) == NULL) {
        perror("mkdtemp");
        return 1;
    }
    bench_must(ms_iopool_create(&(ms_iopool_options){0}, &b.pool, &st), &st);
    ms_parker_init(&b.parker);
    ms_mailbox_init(&b.mailbox, &b.parker);
    ms_env_random_init(&b.random, 1);
    b.table = (ms_bt_table_name){ms_str_lit("p"), ms_str_lit("i"), ms_str_lit("t")};
    b.rule = (ms_bt_rule){.kind = MS_BT_RULE_INCREMENT,
                          .family = ms_str_lit("cf"),
                          .qualifier = ms_str_lit("n"),
                          .increment = 1};
    ms_arena_init(&b.arena, 0);
    b.latest_is = ms_bt_filter_chain(
        &b.arena,
        (const ms_bt_filter *[]){
            ms_bt_filter_family(&b.arena, ms_str_lit("cf")),
            ms_bt_filter_regex(&b.arena, MS_BT_FILTER_QUALIFIER_REGEX, ms_str_lit("s")),
            ms_bt_filter_cells_per_column(&b.arena, 1),
            ms_bt_filter_regex(&b.arena, MS_BT_FILTER_VALUE_REGEX, ms_str_lit("87654321"))},
        4);
    init_slots(&b);
    bench_print_machine("bench_rows");
    printf("%" PRIu64 " calls of each kind over %u rows, %d outstanding, %d repetitions\n", b.calls,
           ROWS, CALLS, b.repetitions);
    run(&b);
    release_slots(&b);
    ms_arena_release(&b.arena);
    ms_iopool_destroy(b.pool);
    ms_mailbox_release(&b.mailbox);
    bench_must(ms_dir_remove(b.path, &st), &st);
    return 0;
}
