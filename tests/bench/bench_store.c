/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the embedded store costs beside the key-value store below it, in one run.
 *
 *     bench_store [rows] [repetitions]
 *
 * Upserts: rows of five cells with 20-byte values, sequential keys, in batches of 500 rows, two
 * calls outstanding, through client, commit queue and log (sync mode "checkpoint": the log is
 * synced once at the end, as a sink does at a checkpoint). The yardstick writes the same records,
 * keys and values as the store laid them out, in the same order and in batches of as many records,
 * with the same options and one sync at the end. Cost is CPU time of the whole process, what runs
 * in the background meanwhile included; the merge that prepares the scans is not.
 *
 * Scans: all rows of the merged store, from a warm cache, through client and pages. The yardstick
 * is a loop over a bare iterator that copies key and value.
 *
 * Every line prints numerator, denominator and ratio. Repetitions alternate; the middle ratio
 * counts. Digests are taken in a separate pass that is not timed.
 */
#include "base/codec.h"
#include "base/env.h"
#include "base/memory.h"
#include "base/num.h"
#include "bench.h"
#include "bigtable/client/admin.h"
#include "bigtable/store/store.h"
#include "kv/kv.h"
#include "os/file.h"
#include "os/iopool.h"
#include "os/mailbox.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define CELLS 5
#define VALUE_BYTES 20
#define BATCH_ROWS 500
#define CALLS 2
#define REPETITIONS_MAX 15
#define CACHE_BYTES ((uint64_t)1 << 30)
#define META_BYTES 4

typedef struct bench {
    uint64_t rows;
    int repetitions;
    char path[64];
    ms_iopool *pool;
    ms_parker parker;
    ms_mailbox mailbox;
    ms_bt_table_name table;
    ms_buf records; /* u32 key bytes, u32 value bytes, key, value */
    ms_buf copy;
} bench;

typedef struct cost {
    double cpu_s;
    double wall_s;
    uint64_t allocations;
} cost;

static void must(ms_rc rc, const ms_status *st)
{
    if (rc != MS_OK) {
        fprintf(stderr, "bench_store: %s (%s)\n", st->message, st->detail);
        exit(1);
    }
}

static void must_bt(const ms_bt_status *bt)
{
    if (!ms_bt_status_is_ok(bt)) {
        fprintf(stderr, "bench_store: %s: %s\n", ms_bt_code_name(bt->code), bt->text);
        exit(1);
    }
}

static cost now(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (cost){.cpu_s = (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
                           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6,
                  .wall_s = (double)ms_env_mono_ns() / 1e9,
                  .allocations = ms_mem_allocation_count()};
}

static cost since(const cost *start)
{
    cost end = now();
    return (cost){end.cpu_s - start->cpu_s, end.wall_s - start->wall_s,
                  end.allocations - start->allocations};
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

/* The store. */

static ms_bt_store *open_store(bench *b, const char *path)
{
    ms_status st = {0};
    ms_bt_store *store = NULL;
    ms_bt_store_options options = {.path = path,
                                   .pool = b->pool,
                                   .create = true,
                                   .sync_mode = MS_BT_SYNC_CHECKPOINT,
                                   .cache_bytes = CACHE_BYTES};
    must(ms_bt_store_open(&options, &store, &st), &st);
    return store;
}

static void create_table(bench *b, ms_bt_client *client)
{
    ms_bt_family family = {.name = ms_str_lit("cf")};
    ms_bt_table table = {.name = b->table, .families = &family, .family_count = 1};
    ms_bt_table_call call;
    ms_bt_table_call_init(&call, &b->mailbox, done, NULL);
    call.table = &table;
    ms_bt_client_create_table(client, &call);
    ms_bt_call_wait(&call.call, &b->parker);
    must_bt(&call.call.status);
    ms_bt_table_call_release(&call);
}

/* Fills a batch with the rows from first on. */
static void fill_batch(ms_bt_mutation_batch *batch, uint64_t first, uint64_t count)
{
    static const char *const qualifiers[CELLS] = {"q0", "q1", "q2", "q3", "q4"};
    ms_status st = {0};
    uint16_t family = 0;
    ms_bt_mutation_batch_reset(batch);
    must(ms_bt_mutation_batch_family(batch, ms_str_lit("cf"), &family, &st), &st);
    char key[16] = "row-000000000000";
    char value[VALUE_BYTES] = "abcdefghijklmnopqrst";
    for (uint64_t row = first; row < first + count; row++) {
        uint64_t rest = row;
        for (int digit = 15; digit >= 4; digit--) {
            key[digit] = (char)('0' + rest % 10);
            rest /= 10;
        }
        memcpy(value, &row, sizeof(row));
        must(ms_bt_mutation_batch_begin_row(batch, ms_str_make(key, sizeof(key)), &st), &st);
        for (int c = 0; c < CELLS; c++) {
            must(ms_bt_mutation_batch_set_cell(batch, family, ms_str_make(qualifiers[c], 2),
                                               1700000000000000, ms_str_make(value, VALUE_BYTES),
                                               &st),
                 &st);
        }
        ms_bt_mutation_batch_end_row(batch);
    }
}

static cost upsert_store(bench *b, const char *path)
{
    ms_status st = {0};
    ms_bt_store *store = open_store(b, path);
    ms_bt_client *client = ms_bt_client_create(ms_bt_store_transport(store), NULL);
    create_table(b, client);
    ms_bt_mutation_batch batches[CALLS];
    ms_bt_mutate_rows calls[CALLS];
    for (int i = 0; i < CALLS; i++) {
        ms_bt_mutation_batch_init(&batches[i], 64u << 20);
        ms_bt_mutate_rows_init(&calls[i], &b->mailbox, done, NULL);
        calls[i].table = &b->table;
        calls[i].batch = &batches[i];
    }
    cost start = now();
    uint64_t row = 0;
    for (uint64_t n = 0; row < b->rows; n++) {
        int i = (int)(n % CALLS);
        ms_bt_call_wait(&calls[i].call, &b->parker);
        must_bt(&calls[i].call.status);
        uint64_t count = b->rows - row < BATCH_ROWS ? b->rows - row : BATCH_ROWS;
        fill_batch(&batches[i], row, count);
        ms_bt_client_mutate_rows(client, &calls[i]);
        row += count;
    }
    for (int i = 0; i < CALLS; i++) {
        ms_bt_call_wait(&calls[i].call, &b->parker);
        must_bt(&calls[i].call.status);
    }
    must(ms_bt_store_sync(store, &st), &st);
    cost taken = since(&start);
    must(ms_bt_store_compact(store, &st), &st);
    for (int i = 0; i < CALLS; i++) {
        ms_bt_mutate_rows_release(&calls[i]);
        ms_bt_mutation_batch_release(&batches[i]);
    }
    ms_bt_client_destroy(client);
    must(ms_bt_store_close(store, &st), &st);
    return taken;
}

/* The yardstick. */

static ms_kv *open_kv(const char *path)
{
    ms_status st = {0};
    ms_kv *kv = NULL;
    must(ms_kv_open(&(ms_kv_options){.path = path, .create = true, .cache_bytes = CACHE_BYTES}, &kv,
                    &st),
         &st);
    return kv;
}

static ms_kv_iter *iterate_cells(ms_kv *kv)
{
    static const char first_table[META_BYTES] = {0, 0, 0, 1};
    return ms_kv_iter_create(kv,
                             &(ms_kv_iter_options){.lower = ms_str_make(first_table, META_BYTES)});
}

/* Takes the store's cells, as it laid them out, into memory. */
static void take_records(bench *b, const char *path)
{
    ms_status st = {0};
    ms_kv *kv = open_kv(path);
    ms_kv_iter *iter = iterate_cells(kv);
    ms_kv_entry entry;
    for (bool valid = ms_kv_iter_seek(iter, (ms_str){"", 0}, &entry); valid;
         valid = ms_kv_iter_next(iter, &entry)) {
        must(ms_codec_put_u32(&b->records, (uint32_t)entry.key.bytes, &st), &st);
        must(ms_codec_put_u32(&b->records, (uint32_t)entry.value.bytes, &st), &st);
        must(ms_buf_append(&b->records, entry.key, &st), &st);
        must(ms_buf_append(&b->records, entry.value, &st), &st);
    }
    ms_kv_iter_destroy(iter);
    ms_kv_close(kv);
}

static cost upsert_bare(bench *b, const char *path)
{
    ms_status st = {0};
    ms_kv *kv = open_kv(path);
    ms_kv_batch *batch = ms_kv_batch_create();
    cost start = now();
    const char *at = b->records.ptr;
    const char *end = at + b->records.bytes;
    while (at < end) {
        ms_kv_batch_reset(batch);
        for (int i = 0; i < BATCH_ROWS * CELLS && at < end; i++) {
            ms_str key = {at + 8, ms_codec_load_u32(at)};
            ms_str value = {key.ptr + key.bytes, ms_codec_load_u32(at + 4)};
            ms_kv_batch_put(batch, key, value);
            at = value.ptr + value.bytes;
        }
        must(ms_kv_write(kv, batch, MS_KV_NO_SYNC, &st), &st);
    }
    must(ms_kv_sync(kv, &st), &st);
    cost taken = since(&start);
    must(ms_kv_flush(kv, &st), &st);
    ms_kv_compact(kv, (ms_str){NULL, 0}, (ms_str){NULL, 0});
    ms_kv_batch_destroy(batch);
    ms_kv_close(kv);
    return taken;
}

/* Scans. */

/* Reads all rows; with a digest, also checks what came. */
static uint64_t scan_store(bench *b, ms_bt_client *client, uint32_t *digest)
{
    ms_bt_read_options options = {.table = b->table};
    ms_bt_read *read = ms_bt_client_read_rows(client, &options, &b->mailbox, wake, NULL);
    const ms_bt_page *page = NULL;
    uint64_t cells = 0;
    while (ms_bt_read_wait(read, &b->parker, &page) == MS_BT_POLL_PAGE) {
        cells += page->cell_count;
        for (uint32_t c = 0; digest != NULL && c < page->cell_count; c++) {
            *digest = ms_crc32c(*digest, ms_bt_page_value(page, &page->cells[c]));
        }
        ms_bt_read_return(read, page);
    }
    must_bt(ms_bt_read_status(read));
    (void)ms_bt_read_close(read, NULL, NULL);
    return cells;
}

static uint64_t scan_bare(bench *b, ms_kv *kv, uint32_t *digest)
{
    ms_status st = {0};
    ms_kv_iter *iter = iterate_cells(kv);
    ms_kv_entry entry;
    uint64_t cells = 0;
    for (bool valid = ms_kv_iter_seek(iter, (ms_str){"", 0}, &entry); valid;
         valid = ms_kv_iter_next(iter, &entry)) {
        if (b->copy.bytes > (1u << 20)) {
            ms_buf_reset(&b->copy);
        }
        must(ms_buf_append(&b->copy, entry.key, &st), &st);
        must(ms_buf_append(&b->copy, entry.value, &st), &st);
        if (digest != NULL) {
            *digest = ms_crc32c(*digest, entry.value);
        }
        cells++;
    }
    must(ms_kv_iter_check(iter, &st), &st);
    ms_kv_iter_destroy(iter);
    return cells;
}

/* Reports. */

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;
    return (a > b) - (a < b);
}

static double median(double *list, int count)
{
    qsort(list, (size_t)count, sizeof(*list), compare_doubles);
    return list[count / 2];
}

static void report(const char *name, const cost *bare, const cost *store, int count, double units,
                   const char *unit)
{
    double ratios[REPETITIONS_MAX];
    double bare_us[REPETITIONS_MAX];
    double store_us[REPETITIONS_MAX];
    double bare_rate[REPETITIONS_MAX];
    double store_rate[REPETITIONS_MAX];
    for (int i = 0; i < count; i++) {
        ratios[i] = bare[i].cpu_s / store[i].cpu_s;
        bare_us[i] = bare[i].cpu_s / units * 1e6;
        store_us[i] = store[i].cpu_s / units * 1e6;
        bare_rate[i] = units / bare[i].wall_s;
        store_rate[i] = units / store[i].wall_s;
    }
    double least = median(ratios, count);
    printf("%s: bare %.3f us CPU / store %.3f us CPU per %s = %.0f %% (wanted: 50 %%) "
           "[range %.0f-%.0f %%]; rates bare %.2fM/s, store %.2fM/s\n",
           name, median(bare_us, count), median(store_us, count), unit, least * 100,
           ratios[0] * 100, ratios[count - 1] * 100, median(bare_rate, count) / 1e6,
           median(store_rate, count) / 1e6);
    /* Half of the efficiency is twice the cost of the same repetition. */
    double yardstick = median(bare_us, count);
    char label[64];
    char cost_unit[32];
    snprintf(label, sizeof label, "store, %s", name);
    snprintf(cost_unit, sizeof cost_unit, "us CPU/%s", unit);
    bench_report(&(bench_result){.name = label,
                                 .unit = cost_unit,
                                 .ours = yardstick / least,
                                 .yardstick = yardstick,
                                 .yardstick_name = "bare RocksDB",
                                 .bound = 2 * yardstick});
}

static void run_upserts(bench *b)
{
    ms_status st = {0};
    cost bare[REPETITIONS_MAX];
    cost store[REPETITIONS_MAX];
    char store_path[96];
    char bare_path[96];
    snprintf(store_path, sizeof(store_path), "%s/store", b->path);
    snprintf(bare_path, sizeof(bare_path), "%s/bare", b->path);
    for (int i = 0; i < b->repetitions; i++) {
        must(ms_dir_remove(store_path, &st), &st);
        must(ms_dir_remove(bare_path, &st), &st);
        store[i] = upsert_store(b, store_path);
        if (i == 0) {
            take_records(b, store_path);
        }
        bare[i] = upsert_bare(b, bare_path);
    }
    report("upserts, sync mode checkpoint", bare, store, b->repetitions, (double)b->rows, "row");
    printf("upserts: %.4f allocations per row\n",
           (double)store[b->repetitions - 1].allocations / (double)b->rows);
}

static void run_scans(bench *b)
{
    ms_status st = {0};
    cost bare[REPETITIONS_MAX];
    cost store[REPETITIONS_MAX];
    char path[96];
    snprintf(path, sizeof(path), "%s/bare", b->path);
    ms_kv *kv = open_kv(path);
    snprintf(path, sizeof(path), "%s/store", b->path);
    ms_bt_store *embedded = open_store(b, path);
    ms_bt_client *client = ms_bt_client_create(ms_bt_store_transport(embedded), NULL);
    uint32_t bare_digest = 0;
    uint32_t store_digest = 0;
    uint64_t cells = scan_bare(b, kv, &bare_digest);
    uint64_t store_cells = scan_store(b, client, &store_digest);
    printf("digests of %" PRIu64 " values: bare %08" PRIx32 ", store %08" PRIx32 "%s\n", cells,
           bare_digest, store_digest,
           bare_digest == store_digest && cells == store_cells ? "" : " DIFFER");
    for (int i = 0; i < b->repetitions; i++) {
        cost start = now();
        (void)scan_bare(b, kv, NULL);
        bare[i] = since(&start);
        start = now();
        (void)scan_store(b, client, NULL);
        store[i] = since(&start);
    }
    report("scans, warm cache", bare, store, b->repetitions, (double)cells, "cell");
    printf("scans: %.4f allocations per row\n",
           (double)store[b->repetitions - 1].allocations / (double)b->rows);
    ms_bt_client_destroy(client);
    must(ms_bt_store_close(embedded, &st), &st);
    ms_kv_close(kv);
    if (bare_digest != store_digest || cells != store_cells) {
        exit(1);
    }
}

int main(int argc, char **argv)
{
    ms_status st = {0};
    bench b = {.rows = 200000, .repetitions = 5};
    uint64_t repetitions = 5;
    if ((argc > 1 && !ms_num_scan_u64(ms_str_cstr(argv[1]), &b.rows)) ||
        (argc > 2 && !ms_num_scan_u64(ms_str_cstr(argv[2]), &repetitions)) || b.rows == 0 ||
        repetitions == 0 || repetitions > REPETITIONS_MAX) {
        fprintf(stderr, "usage: bench_store [rows] [repetitions up to %d]\n", REPETITIONS_MAX);
        return 2;
    }
    b.repetitions = (int)repetitions;
    snprintf(b.path, sizeof(b.path), "/tmp/bench-store-XXXXXX");
    if (mkdtemp(b.path) == NULL) {
        perror("mkdtemp");
        return 1;
    }
    must(ms_iopool_create(&(ms_iopool_options){0}, &b.pool, &st), &st);
    ms_parker_init(&b.parker);
    ms_mailbox_init(&b.mailbox, &b.parker);
    ms_buf_init(&b.records, (size_t)8 << 30);
    ms_buf_init(&b.copy, 16u << 20);
    b.table = (ms_bt_table_name){ms_str_lit("p"), ms_str_lit("i"), ms_str_lit("t")};
    bench_print_machine("bench_store");
    printf("%" PRIu64
           " rows of %d cells of %d bytes, sequential keys, batches of %d rows, %d calls "
           "outstanding, %d repetitions\n",
           b.rows, CELLS, VALUE_BYTES, BATCH_ROWS, CALLS, b.repetitions);
    run_upserts(&b);
    run_scans(&b);
    ms_buf_release(&b.records);
    ms_buf_release(&b.copy);
    ms_iopool_destroy(b.pool);
    ms_mailbox_release(&b.mailbox);
    must(ms_dir_remove(b.path, &st), &st);
    return 0;
}
