/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries of the Nexmark suite that keep no state, from the memory source to blackhole at
 * parallelism 1, beside what hand-written loops take for the same events.
 *
 *     bench_nexmark [path of the limit folder's nxq]
 *
 * Numerator: user time of the whole job, planning included, an event; bids are read, but persons
 * and auctions count too, as they do in the yardstick. Denominator: nxq where it is given, else the
 * loops of yardstick.c, which are printed in both cases. The events are cycled, so that a run is
 * long enough for the clock; they are far larger than the caches. Digests are taken in runs of
 * their own. The bound is three times the yardstick or 6 ns more than it, whichever is larger.
 */
#include "bench.h"
#include "bids.h"
#include "connector/memory/memory.h"
#include "engine/engine_test.h"
#include "sql.h"
#include "yardstick.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define BATCHES 976u
#define CYCLES 5u
#define REPETITIONS 5
#define EVENTS_PER_S 200000.0

typedef struct query {
    const char *name;
    const char *select;
    const char *columns; /* of the sink */
} query;

static const query queries[YARDSTICK_QUERIES] = {
    {"q0", "SELECT auction, bidder, price, ts, extra FROM ",
     "auction BIGINT, bidder BIGINT, price BIGINT, ts TIMESTAMP(3), extra STRING"},
    {"q1", "SELECT auction, bidder, 0.908 * price, ts, extra FROM ",
     "auction BIGINT, bidder BIGINT, price DECIMAL(18, 3), ts TIMESTAMP(3), extra STRING"},
    {"q2", "SELECT auction, price FROM ", "auction BIGINT, price BIGINT"},
};
static const char *const filters[YARDSTICK_QUERIES] = {"", "", " WHERE MOD(auction, 123) = 0"};

/* The tables: the bids once, the bids as often as they are timed, and a sink for each query. */
static void create_tables(sql_host *host)
{
    static const char columns[] = "auction BIGINT NOT NULL, bidder BIGINT NOT NULL, price BIGINT "
                                  "NOT NULL, ts TIMESTAMP(3) NOT NULL, channel STRING NOT NULL, "
                                  "url STRING NOT NULL, extra STRING NOT NULL";
    char text[1024];
    sql_run(host, "SET 'parallelism.default' = '1'");
    snprintf(text, sizeof text,
             "CREATE TABLE once (%s) WITH ('connector' = 'memory');"
             "CREATE TABLE cycled (%s) WITH ('connector' = 'memory')",
             columns, columns);
    sql_run(host, text);
    for (int q = 0; q < YARDSTICK_QUERIES; q++) {
        snprintf(text, sizeof text, "CREATE TABLE sink_%s (%s) WITH ('connector' = 'blackhole')",
                 queries[q].name, queries[q].columns);
        sql_run(host, text);
    }
}

/* Digests. */

static uint64_t cell_value(const ms_cell *cell, bool is_decimal)
{
    if (cell->kind == MS_VALUE_INT) {
        return (uint64_t)cell->i64;
    }
    if (!is_decimal) {
        return digest_bytes(cell->str.ptr, cell->str.bytes);
    }
    uint64_t unscaled = 0;
    for (size_t i = 0; i < cell->str.bytes; i++) {
        char c = cell->str.ptr[i];
        unscaled = c == '.' ? unscaled : unscaled * 10 + (uint64_t)(c - '0');
    }
    return unscaled;
}

typedef struct digest_run {
    int query;
    digest sum;
} digest_run;

static void add_rows(void *arg, ms_execution *execution, const ms_rows *rows)
{
    digest_run *run = arg;
    for (uint32_t row = 0; row < rows->count; row++) {
        for (uint32_t c = 0; c < rows->column_count; c++) {
            ms_cell cell = ms_rows_cell(execution, rows, row, c);
            digest_add(&run->sum, c, cell_value(&cell, run->query == 1 && c == 2));
        }
    }
    run->sum.rows += rows->count;
}

/* The digest of both sides; ends the program when they differ. */
static digest compare_digests(sql_host *host, const bids *data, yardstick *loops, int q)
{
    char text[256];
    digest_run run = {.query = q};
    digest loops_sum = {0};
    snprintf(text, sizeof text, "%sonce%s", queries[q].select, filters[q]);
    sql_query(host, text, add_rows, &run);
    for (uint32_t b = 0; b < data->batch_count; b++) {
        yardstick_run(loops, q, data->batches[b]);
        yardstick_digest(loops, q, &loops_sum);
    }
    bool is_same = run.sum.plain == loops_sum.plain && run.sum.weighted == loops_sum.weighted &&
                   run.sum.rows == loops_sum.rows;
    printf("%s digest: engine %" PRIx64 " of %" PRIu64 " rows, loops %" PRIx64 " of %" PRIu64
           " rows%s\n",
           queries[q].name, run.sum.weighted, run.sum.rows, loops_sum.weighted, loops_sum.rows,
           is_same ? "" : ": they DIFFER");
    if (!is_same) {
        bench_fail("the digests differ:", queries[q].name);
    }
    return run.sum;
}

/* Times, in ns an event. */

static double time_engine(sql_host *host, int q, double events)
{
    char text[256];
    snprintf(text, sizeof text, "INSERT INTO sink_%s %scycled%s", queries[q].name,
             queries[q].select, filters[q]);
    double start = bench_user_s();
    sql_run(host, text);
    return (bench_user_s() - start) / events * 1e9;
}

static double time_loops(const bids *data, yardstick *loops, int q, double events)
{
    double start = bench_user_s();
    for (uint32_t i = 0; i < CYCLES; i++) {
        for (uint32_t b = 0; b < data->batch_count; b++) {
            yardstick_run(loops, q, data->batches[b]);
        }
    }
    return (bench_user_s() - start) / events * 1e9;
}

/* Runs nxq on the same events; its digest of q2 is that of all cycles. */
static double time_limit(const char *program, int q, uint64_t events, uint64_t *digest_out)
{
    char command[512];
    snprintf(command, sizeof command, "HOT=%u '%s' %.0f %" PRIu64 " %s %d", BATCHES, program,
             EVENTS_PER_S, events, queries[q].name, REPETITIONS);
    FILE *pipe = popen(command, "r");
    if (pipe == NULL) {
        bench_fail("could not run", program);
    }
    char line[512];
    double ns = 0;
    while (fgets(line, sizeof line, pipe) != NULL) {
        const char *user = strstr(line, "user ");
        const char *sum = strstr(line, "digest ");
        if (user != NULL && sum != NULL && line[0] == 'q') {
            ns = strtod(user + 5, NULL);
            *digest_out = strtoull(sum + 7, NULL, 16);
        }
    }
    if (pclose(pipe) != 0 || ns <= 0) {
        bench_fail("no result from", program);
    }
    return ns;
}

static void run_query(sql_host *host, const bids *data, yardstick *loops, const char *limit, int q)
{
    uint64_t events = (uint64_t)data->batch_count * BIDS_EVENTS_PER_BATCH * CYCLES;
    digest sum = compare_digests(host, data, loops, q);
    double engine_ns[REPETITIONS];
    double loops_ns[REPETITIONS];
    for (int i = 0; i < REPETITIONS; i++) {
        engine_ns[i] = time_engine(host, q, (double)events);
        loops_ns[i] = time_loops(data, loops, q, (double)events);
    }
    double ours = bench_median(engine_ns, REPETITIONS);
    double yard = bench_median(loops_ns, REPETITIONS);
    printf("%s: engine %.2f ns/event (range %.2f-%.2f), loops of yardstick.c %.2f ns/event\n",
           queries[q].name, ours, engine_ns[0], engine_ns[REPETITIONS - 1], yard);
    const char *yard_name = "yardstick.c";
    if (limit != NULL) {
        uint64_t limit_digest = 0;
        yard = time_limit(limit, q, events, &limit_digest);
        yard_name = "nxq";
        if (q == 2 && limit_digest != sum.plain * CYCLES) {
            bench_fail("the digests of nxq and the engine differ:", queries[q].name);
        }
    }
    char name[64];
    snprintf(name, sizeof name, "nexmark %s", queries[q].name);
    bench_report(&(bench_result){.name = name,
                                 .unit = "ns/event",
                                 .ours = ours,
                                 .yardstick = yard,
                                 .yardstick_name = yard_name,
                                 .bound = 3 * yard > yard + 6 ? 3 * yard : yard + 6});
}

int main(int argc, char **argv)
{
    ms_status st = {0};
    const char *limit = argc > 1 ? argv[1] : NULL;
    bench_print_machine("bench_nexmark");
    bids data;
    bids_init(&data, BATCHES, EVENTS_PER_S);
    printf("%u events, %" PRIu64 " of them bids, in batches of %u events, cycled %u times; "
           "parallelism 1; larger than the caches; %d repetitions, medians\n",
           BATCHES * BIDS_EVENTS_PER_BATCH, data.rows, BIDS_EVENTS_PER_BATCH, CYCLES, REPETITIONS);
    ms_memory_service *service = ms_memory_service_create();
    ms_memory_source source = {
        .schema = &data.schema, .batches = data.batches, .batch_count = data.batch_count};
    bench_must(ms_memory_add_source(service, ms_str_lit("once"), &source, &st), &st);
    source.repeats = CYCLES;
    bench_must(ms_memory_add_source(service, ms_str_lit("cycled"), &source, &st), &st);
    sql_host host;
    sql_open(&host, 1);
    ms_engine_add_connector(host.engine, &ms_connector_memory, service);
    create_tables(&host);
    yardstick *loops = yardstick_create();
    for (int q = 0; q < YARDSTICK_QUERIES; q++) {
        run_query(&host, &data, loops, limit, q);
    }
    yardstick_destroy(loops);
    sql_close(&host);
    ms_memory_service_destroy(service);
    bids_release(&data);
    return 0;
}
