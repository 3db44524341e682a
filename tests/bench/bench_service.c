/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bigtable over gRPC, by one C client against two servers in one run: `millstream serve`, which
 * keeps what it acknowledges (mode group), and Google's emulator, which keeps it in memory.
 *
 *     bench_service MILLSTREAM EMULATOR [rows]
 *
 * Both servers get fresh tables with the same rows, as many more each round: keys of 15 bytes, one
 * family, one qualifier, one value of 100 bytes. Phases, on each server in turn, three times; the
 * middle ratio counts:
 *
 *     bulk     MutateRows of 1,000 entries, eight calls outstanding: new keys in their order; also
 *              beside a loop in this process that writes the same records to bare RocksDB, synced
 *              every 1,000
 *     rewrite  the same again: every cell gets a value that replaces one
 *     scan     ReadRows of the whole table, warm
 *     point    ReadRows of one key, sixty-four outstanding
 *     modify   ReadModifyWriteRow (an increment), sixty-four outstanding, over 1,000 rows
 *     ping     PingAndWarm, sixty-four outstanding: what a call costs without the store
 *
 * A line has the rate of both, the ratio, and CPU time a call or row of client and server (the
 * server's from /proc). A digest over the rows of both scans must agree.
 */
#include "base/env.h"
#include "base/memory.h"
#include "base/num.h"
#include "bench.h"
#include "bigtable/client/admin.h"
#include "bigtable/client/grpc.h"
#include "bigtable/client/single_row.h"
#include "digest.h"
#include "kv/kv.h"
#include "net/loop.h"
#include "os/file.h"
#include "os/mailbox.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROWS_DEFAULT 100000u
#define BATCH_ROWS 1000u
#define BULK_CALLS 8
#define UNARY_CALLS 64
#define UNARY_COUNT 60000u
#define MODIFY_ROWS 1000u
#define VALUE_BYTES 100
#define ROUNDS 3
/* Around the row's key in the record of a cell, as the store lays it out. */
#define RECORD_HEAD_BYTES 4
#define RECORD_TAIL_BYTES 17
#define PORT_MILLSTREAM "127.0.0.1:28086"
#define PORT_EMULATOR "127.0.0.1:28087"

typedef enum phase { BULK, REWRITE, SCAN, POINT, MODIFY, PING, PHASES } phase;

static const struct {
    const char *name;
    double bound; /* of our rate over the emulator's; 0: none */
} phases[PHASES] = {{"bulk", 1.0},  {"rewrite", 1.0}, {"scan", 5.0},
                    {"point", 2.0}, {"modify", 1.2},  {"ping", 0}};

typedef struct cost {
    double wall_s;
    double client_s;
    double server_s;
    uint64_t units;
} cost;

typedef struct server {
    const char *name;
    const char *target;
    pid_t pid;
    ms_loop *loop;
    struct ms_bt_transport *transport;
    ms_bt_client *client;
    ms_parker parker;
    ms_mailbox mailbox;
    ms_bt_table_name table;
    uint64_t digest;
    cost costs[PHASES][ROUNDS];
} server;

static uint32_t rows_wanted = ROWS_DEFAULT;

static void must(ms_rc rc, const ms_status *st)
{
    if (rc != MS_OK) {
        fprintf(stderr, "bench_service: %s (%s)\n", st->message, st->detail);
        exit(1);
    }
}

static void must_bt(const server *s, const ms_bt_status *bt)
{
    if (!ms_bt_status_is_ok(bt)) {
        fprintf(stderr, "bench_service: %s: %s: %s\n", s->name, ms_bt_code_name(bt->code),
                bt->text);
        exit(1);
    }
}

/* Servers. */

static void start(server *s, const char *const *argv)
{
    s->pid = fork();
    if (s->pid == 0) {
        if (freopen("/dev/null", "w", stdout) == NULL ||
            freopen("/dev/null", "w", stderr) == NULL) {
            _exit(126);
        }
        execv(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
}

static void stop(server *s)
{
    ms_bt_client_destroy(s->client);
    ms_bt_grpc_destroy(s->transport);
    ms_loop_destroy(s->loop);
    kill(s->pid, SIGTERM);
    (void)waitpid(s->pid, NULL, 0);
}

/* User and system time of another process, in ticks of the system. */
static double cpu_of(pid_t pid)
{
    char path[64];
    char text[1024];
    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return 0;
    }
    size_t bytes = fread(text, 1, sizeof(text) - 1, file);
    fclose(file);
    text[bytes] = '\0';
    const char *at = strrchr(text, ')');
    unsigned long user = 0;
    unsigned long system = 0;
    if (at == NULL || sscanf(at + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
                             &system) != 2) {
        return 0;
    }
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static cost now(const server *s)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double client = (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
                    (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    return (cost){(double)ms_env_mono_ns() / 1e9, client, cpu_of(s->pid), 0};
}

static void done(ms_bt_call *call, void *arg)
{
    (void)call;
    if (arg != NULL) {
        *(bool *)arg = true;
    }
}

static void woken(void *arg)
{
    (void)arg;
}

static void wait_for_mail(server *s)
{
    if (ms_mailbox_deliver(&s->mailbox, 64) == 0) {
        ms_parker_park(&s->parker, MS_PARK_FOREVER);
    }
}

/* The table, made once the server answers. */
static void make_table(server *s)
{
    ms_bt_family family = {.name = ms_str_lit("cf")};
    ms_bt_table table = {.name = s->table, .families = &family, .family_count = 1};
    for (int attempt = 0;; attempt++) {
        ms_bt_table_call call;
        ms_bt_table_call_init(&call, &s->mailbox, done, NULL);
        call.table = &table;
        ms_bt_client_create_table(s->client, &call);
        ms_bt_call_wait(&call.call, &s->parker);
        ms_bt_status bt = call.call.status;
        ms_bt_table_call_release(&call);
        if (bt.code != MS_BT_UNAVAILABLE || attempt == 100) {
            must_bt(s, &bt);
            return;
        }
        usleep(100000);
    }
}

static void connect_server(server *s)
{
    ms_status st = {0};
    ms_parker_init(&s->parker);
    ms_mailbox_init(&s->mailbox, &s->parker);
    s->table = (ms_bt_table_name){ms_str_lit("p"), ms_str_lit("i"), ms_str_lit("bench")};
    must(ms_loop_create(s->name, &s->loop, &st), &st);
    ms_bt_grpc_options options = {.loop = s->loop, .target = ms_str_cstr(s->target)};
    must(ms_bt_grpc_create(&options, &s->transport, &st), &st);
    s->client = ms_bt_client_create(s->transport, NULL);
    make_table(s);
}

/* Phases. */

static ms_str key_of(uint32_t i, char text_out[16])
{
    snprintf(text_out, 16, "key-%011u", i);
    return (ms_str){text_out, 15};
}

static void fill_batch(ms_bt_mutation_batch *batch, uint32_t first, uint32_t count)
{
    ms_status st = {0};
    uint16_t family = 0;
    char key[16];
    char value[VALUE_BYTES];
    ms_bt_mutation_batch_reset(batch);
    must(ms_bt_mutation_batch_family(batch, ms_str_lit("cf"), &family, &st), &st);
    for (uint32_t i = first; i < first + count; i++) {
        memset(value, 'a' + (int)(i % 26), sizeof(value));
        must(ms_bt_mutation_batch_begin_row(batch, key_of(i, key), &st), &st);
        must(ms_bt_mutation_batch_set_cell(batch, family, ms_str_lit("q"), 1000000,
                                           (ms_str){value, sizeof(value)}, &st),
             &st);
        ms_bt_mutation_batch_end_row(batch);
    }
}

static uint64_t run_bulk(server *s, uint32_t first)
{
    ms_bt_mutation_batch batches[BULK_CALLS];
    ms_bt_mutate_rows calls[BULK_CALLS];
    bool is_done[BULK_CALLS];
    uint32_t next = first;
    uint32_t end = first + rows_wanted;
    int open = 0;
    for (int i = 0; i < BULK_CALLS; i++) {
        ms_bt_mutation_batch_init(&batches[i], 64u << 20);
        ms_bt_mutate_rows_init(&calls[i], &s->mailbox, done, &is_done[i]);
        is_done[i] = true;
    }
    bool is_started[BULK_CALLS] = {0};
    while (next < end || open > 0) {
        for (int i = 0; i < BULK_CALLS; i++) {
            if (!is_done[i]) {
                continue;
            }
            if (is_started[i]) {
                must_bt(s, &calls[i].call.status);
                is_started[i] = false;
                open--;
            }
            if (next < end) {
                fill_batch(&batches[i], next, BATCH_ROWS);
                next += BATCH_ROWS;
                calls[i].table = &s->table;
                calls[i].batch = &batches[i];
                is_done[i] = false;
                is_started[i] = true;
                open++;
                ms_bt_client_mutate_rows(s->client, &calls[i]);
            }
        }
        if (open > 0) {
            wait_for_mail(s);
        }
    }
    for (int i = 0; i < BULK_CALLS; i++) {
        ms_bt_mutate_rows_release(&calls[i]);
        ms_bt_mutation_batch_release(&batches[i]);
    }
    return rows_wanted;
}

static uint64_t scan(server *s, uint64_t *sum)
{
    ms_bt_read_options options = {.table = s->table};
    ms_bt_read *read = ms_bt_client_read_rows(s->client, &options, &s->mailbox, woken, NULL);
    const ms_bt_page *page = NULL;
    uint64_t rows = 0;
    while (ms_bt_read_wait(read, &s->parker, &page) == MS_BT_POLL_PAGE) {
        rows += page->row_count;
        for (uint32_t i = 0; sum != NULL && i < page->row_count; i++) {
            ms_str key = ms_bt_page_key(page, &page->rows[i]);
            ms_str value = ms_bt_page_value(page, &page->cells[page->rows[i].first_cell]);
            *sum = *sum * 31 + digest_bytes(key.ptr, key.bytes);
            *sum = *sum * 31 + digest_bytes(value.ptr, value.bytes);
        }
        ms_bt_read_return(read, page);
    }
    must_bt(s, ms_bt_read_status(read));
    (void)ms_bt_read_close(read, NULL, NULL);
    return rows;
}

/* Reads of one key: each starts the next when it is over. */
static uint64_t run_point(server *s)
{
    ms_bt_read *reads[UNARY_CALLS] = {NULL};
    char keys[UNARY_CALLS][16];
    uint32_t next = 0;
    uint32_t over = 0;
    while (over < UNARY_COUNT) {
        uint32_t over_before = over;
        for (int i = 0; i < UNARY_CALLS; i++) {
            const ms_bt_page *page = NULL;
            if (reads[i] == NULL && next < UNARY_COUNT) {
                ms_str key = key_of((uint32_t)(((uint64_t)next * 7919) % rows_wanted), keys[i]);
                ms_bt_read_options options = {
                    .table = s->table, .rows = {.keys = &key, .key_count = 1}, .rows_limit = 1};
                reads[i] = ms_bt_client_read_rows(s->client, &options, &s->mailbox, woken, NULL);
                next++;
            }
            ms_bt_poll poll =
                reads[i] == NULL ? MS_BT_POLL_PENDING : ms_bt_read_poll(reads[i], &page);
            if (poll == MS_BT_POLL_PAGE) {
                ms_bt_read_return(reads[i], page);
                poll = ms_bt_read_poll(reads[i], &page);
            }
            if (poll == MS_BT_POLL_END || poll == MS_BT_POLL_FAILED) {
                must_bt(s, ms_bt_read_status(reads[i]));
                (void)ms_bt_read_close(reads[i], NULL, NULL);
                reads[i] = NULL;
                over++;
            }
        }
        if (over == over_before) {
            wait_for_mail(s);
        }
    }
    return over;
}

static uint64_t run_modify(server *s)
{
    ms_bt_read_modify_write calls[UNARY_CALLS];
    bool is_done[UNARY_CALLS];
    char keys[UNARY_CALLS][16];
    ms_bt_rule rule = {.kind = MS_BT_RULE_INCREMENT,
                       .family = ms_str_lit("cf"),
                       .qualifier = ms_str_lit("n"),
                       .increment = 1};
    uint32_t next = 0;
    uint32_t over = 0;
    for (int i = 0; i < UNARY_CALLS; i++) {
        ms_bt_read_modify_write_init(&calls[i], &s->mailbox, done, &is_done[i]);
        is_done[i] = false;
    }
    bool is_started[UNARY_CALLS] = {0};
    while (over < UNARY_COUNT) {
        for (int i = 0; i < UNARY_CALLS; i++) {
            if (is_started[i] && is_done[i]) {
                must_bt(s, &calls[i].call.status);
                is_started[i] = false;
                over++;
            }
            if (!is_started[i] && next < UNARY_COUNT) {
                calls[i].table = &s->table;
                calls[i].row_key = key_of(next % MODIFY_ROWS, keys[i]);
                calls[i].rules = &rule;
                calls[i].rule_count = 1;
                is_done[i] = false;
                is_started[i] = true;
                next++;
                ms_bt_client_read_modify_write(s->client, &calls[i]);
            }
        }
        if (over < UNARY_COUNT) {
            wait_for_mail(s);
        }
    }
    for (int i = 0; i < UNARY_CALLS; i++) {
        ms_bt_read_modify_write_release(&calls[i]);
    }
    return over;
}

static uint64_t run_ping(server *s)
{
    ms_bt_ping calls[UNARY_CALLS];
    bool is_done[UNARY_CALLS];
    uint32_t next = 0;
    uint32_t over = 0;
    for (int i = 0; i < UNARY_CALLS; i++) {
        ms_bt_ping_init(&calls[i], &s->mailbox, done, &is_done[i]);
    }
    bool is_started[UNARY_CALLS] = {0};
    while (over < UNARY_COUNT) {
        for (int i = 0; i < UNARY_CALLS; i++) {
            if (is_started[i] && is_done[i]) {
                must_bt(s, &calls[i].call.status);
                is_started[i] = false;
                over++;
            }
            if (!is_started[i] && next < UNARY_COUNT) {
                calls[i].instance = &s->table;
                is_done[i] = false;
                is_started[i] = true;
                next++;
                ms_bt_client_ping(s->client, &calls[i]);
            }
        }
        if (over < UNARY_COUNT) {
            wait_for_mail(s);
        }
    }
    return over;
}

static uint64_t run_phase(server *s, phase p, int round)
{
    switch (p) {
    case BULK:
    case REWRITE:
        return run_bulk(s, (uint32_t)round * rows_wanted);
    case SCAN:
        return scan(s, NULL);
    case POINT:
        return run_point(s);
    case MODIFY:
        return run_modify(s);
    case PING:
        return run_ping(s);
    case PHASES:
        break;
    }
    return 0;
}

static void measure(server *s, phase p, int round)
{
    cost before = now(s);
    uint64_t units = run_phase(s, p, round);
    cost after = now(s);
    s->costs[p][round] = (cost){after.wall_s - before.wall_s, after.client_s - before.client_s,
                                after.server_s - before.server_s, units};
}

/* The same records to bare RocksDB. Each batch is on the disk before the next one begins. */
static cost run_bare(ms_kv *kv, uint32_t first)
{
    ms_status st = {0};
    ms_kv_batch *batch = ms_kv_batch_create();
    char key[RECORD_HEAD_BYTES + 16 + RECORD_TAIL_BYTES] = {0};
    char value[VALUE_BYTES];
    server self = {.pid = getpid()};
    cost before = now(&self);
    for (uint32_t i = first; i < first + rows_wanted; i++) {
        (void)key_of(i, key + RECORD_HEAD_BYTES);
        memset(value, 'a' + (int)(i % 26), sizeof(value));
        ms_kv_batch_put(batch, (ms_str){key, sizeof(key)}, (ms_str){value, sizeof(value)});
        if ((i + 1) % BATCH_ROWS == 0) {
            must(ms_kv_write(kv, batch, MS_KV_SYNC, &st), &st);
            ms_kv_batch_reset(batch);
        }
    }
    cost after = now(&self);
    ms_kv_batch_destroy(batch);
    return (cost){after.wall_s - before.wall_s, after.client_s - before.client_s, 0, rows_wanted};
}

/* Results. */

static double rate_of(const cost *c)
{
    return (double)c->units / c->wall_s;
}

static int compare_doubles(const void *a, const void *b)
{
    double left = *(const double *)a;
    double right = *(const double *)b;
    return left < right ? -1 : left > right ? 1 : 0;
}

static double us_per_unit(double seconds, const cost *c)
{
    return seconds * 1e6 / (double)c->units;
}

static bool report(const server *ours, const server *theirs, phase p)
{
    double ratios[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        ratios[i] = rate_of(&ours->costs[p][i]) / rate_of(&theirs->costs[p][i]);
        printf("  %-6s round %d: %.0f : %.0f per second; CPU us client %.2f : %.2f, server %.2f : "
               "%.2f\n",
               phases[p].name, i + 1, rate_of(&ours->costs[p][i]), rate_of(&theirs->costs[p][i]),
               us_per_unit(ours->costs[p][i].client_s, &ours->costs[p][i]),
               us_per_unit(theirs->costs[p][i].client_s, &theirs->costs[p][i]),
               us_per_unit(ours->costs[p][i].server_s, &ours->costs[p][i]),
               us_per_unit(theirs->costs[p][i].server_s, &theirs->costs[p][i]));
    }
    qsort(ratios, ROUNDS, sizeof(ratios[0]), compare_doubles);
    double ratio = ratios[ROUNDS / 2];
    bool is_kept = phases[p].bound <= 0 || ratio >= phases[p].bound;
    const cost *last = &ours->costs[p][ROUNDS - 1];
    printf("result | service: %s | %.0f/s | %.0f/s emulator | %.2f | at least %.1f | %s\n",
           phases[p].name, rate_of(last), rate_of(&theirs->costs[p][ROUNDS - 1]), ratio,
           phases[p].bound, is_kept ? "pass" : "ALARM");
    return is_kept;
}

/* Bulk beside bare RocksDB: half its rate at least. */
static void report_bare(const server *ours, const cost *bare)
{
    double ratios[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        const cost *c = &ours->costs[BULK][i];
        ratios[i] = rate_of(c) / rate_of(&bare[i]);
        printf(
            "  bulk   round %d: %.0f : %.0f per second of bare RocksDB; CPU us client and server "
            "%.2f : %.2f\n",
            i + 1, rate_of(c), rate_of(&bare[i]), us_per_unit(c->client_s + c->server_s, c),
            us_per_unit(bare[i].client_s, &bare[i]));
    }
    qsort(ratios, ROUNDS, sizeof(ratios[0]), compare_doubles);
    double ratio = ratios[ROUNDS / 2];
    printf("result | service: bulk, bare RocksDB | %.0f/s | %.0f/s | %.2f | at least 0.5 | %s\n",
           rate_of(&ours->costs[BULK][ROUNDS - 1]), rate_of(&bare[ROUNDS - 1]), ratio,
           ratio >= 0.5 ? "pass" : "ALARM");
}

/* The call without the store: CPU of client and server together, bound 8 us. */
static void report_call(const server *ours)
{
    double sums[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        const cost *c = &ours->costs[PING][i];
        sums[i] = us_per_unit(c->client_s + c->server_s, c);
    }
    qsort(sums, ROUNDS, sizeof(sums[0]), compare_doubles);
    double middle = sums[ROUNDS / 2];
    printf("result | service: CPU of a call | %.1f us | - | - | at most 8 us | %s\n", middle,
           middle <= 8.0 ? "pass" : "ALARM");
}

int main(int argc, char **argv)
{
    uint64_t number = 0;
    if (argc < 3 || (argc > 3 && !ms_num_scan_u64(ms_str_cstr(argv[3]), &number))) {
        fprintf(stderr, "usage: bench_service MILLSTREAM EMULATOR [rows]\n");
        return 2;
    }
    rows_wanted = number > 0 ? (uint32_t)(number / BATCH_ROWS * BATCH_ROWS) : ROWS_DEFAULT;
    char directory[] = "/tmp/bench-service-XXXXXX";
    char bare_directory[] = "/tmp/bench-bare-XXXXXX";
    if (mkdtemp(directory) == NULL || mkdtemp(bare_directory) == NULL) {
        perror("bench_service");
        return 1;
    }
    server ours = {.name = "millstream", .target = PORT_MILLSTREAM};
    server theirs = {.name = "emulator", .target = PORT_EMULATOR};
    start(&ours, (const char *[]){argv[1], "serve", "--listen", PORT_MILLSTREAM, "--data-dir",
                                  directory, NULL});
    start(&theirs, (const char *[]){argv[2], "-host", "127.0.0.1", "-port", "28087", NULL});
    connect_server(&ours);
    connect_server(&theirs);
    printf("bench_service: %s; %u rows; server mode group (each acknowledged write is on the "
           "disk), emulator in memory; warm caches\n",
           MS_BENCH_FLAGS, rows_wanted);
    ms_status st = {0};
    ms_kv *kv = NULL;
    must(ms_kv_open(&(ms_kv_options){.path = bare_directory, .create = true}, &kv, &st), &st);
    cost bare[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        bare[round] = run_bare(kv, (uint32_t)round * rows_wanted);
        for (int p = 0; p < PHASES; p++) {
            measure(round % 2 == 0 ? &ours : &theirs, (phase)p, round);
            measure(round % 2 == 0 ? &theirs : &ours, (phase)p, round);
        }
    }
    for (int p = 0; p < PHASES; p++) {
        (void)report(&ours, &theirs, (phase)p);
    }
    report_bare(&ours, bare);
    report_call(&ours);
    (void)scan(&ours, &ours.digest);
    (void)scan(&theirs, &theirs.digest);
    printf("digest %016" PRIx64 " : %016" PRIx64 "\n", ours.digest, theirs.digest);
    bool agrees = ours.digest == theirs.digest;
    if (!agrees) {
        printf("result | service: digest | - | - | - | agrees | FAILED\n");
    }
    stop(&ours);
    stop(&theirs);
    ms_kv_close(kv);
    if (ms_dir_remove(directory, &st) != MS_OK || ms_dir_remove(bare_directory, &st) != MS_OK) {
        fprintf(stderr, "bench_service: %s\n", st.message);
    }
    return agrees ? 0 : 1;
}
