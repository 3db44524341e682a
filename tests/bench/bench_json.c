/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of JSON to typed columns, beside a loop over simdjson that reads the same fields and copies
 * the strings (json_loop.cc).
 *
 * Numerator: user time of the json format's decoder, from one buffer in memory into pooled batches
 * of 2048 rows. Denominator: user time of the loop over the same buffer. Once with a time in
 * milliseconds as BIGINT, once as text that the decoder makes a TIMESTAMP(3) of and the loop only
 * copies. Digests are taken in runs of their own; ts as text is left out of them, because the loop
 * does not read it. The bound is twice the loop.
 */
#include "bench.h"
#include "bids.h"
#include "digest.h"
#include "format/json.h"
#include "json_loop.h"
#include "type/text.h"

#include <inttypes.h>
#include <stdio.h>

#define BATCHES 100u
#define REPETITIONS 9
#define TEXT_BYTES_MAX ((size_t)1 << 30)
#define ROWS 2048u

typedef struct decode_bench {
    const char *name;
    bool ts_is_text;
    bids *data;
    ms_buf text;
    ms_schema schema;
    ms_batch_pool *pool;
    ms_decoder *decoder;
    json_loop *loop;
} decode_bench;

static const uint32_t text_columns[] = {BIDS_CHANNEL, BIDS_URL, BIDS_EXTRA};

/* One bid as a line of some 255 bytes. */
static void put_line(decode_bench *b, const ms_batch *batch, uint32_t row)
{
    ms_status st = {0};
    char ts[64];
    const ms_vec *columns = batch->columns;
    int64_t ts_us = MS_VEC_DATA(&columns[BIDS_TS], int64_t)[row];
    size_t bytes = 0;
    if (b->ts_is_text) {
        ts[bytes++] = '"';
        bytes += ms_text_timestamp_us(ts + 1, ts_us, 3, MS_TEXT_EXACT, ' ');
        ts[bytes++] = '"';
        ts[bytes] = '\0';
    } else {
        snprintf(ts, sizeof ts, "%" PRId64, ts_us / 1000);
    }
    ms_str channel = ms_view_str(&MS_VEC_DATA(&columns[BIDS_CHANNEL], ms_view)[row]);
    ms_str url = ms_view_str(&MS_VEC_DATA(&columns[BIDS_URL], ms_view)[row]);
    ms_str extra = ms_view_str(&MS_VEC_DATA(&columns[BIDS_EXTRA], ms_view)[row]);
    bench_must(ms_buf_format(&b->text, &st,
                             "{\"auction\":%" PRId64 ",\"bidder\":%" PRId64 ",\"price\":%" PRId64
                             ",\"channel\":\"%.*s\",\"url\":\"%.*s\",\"ts\":%s,"
                             "\"extra\":\"%.*s\"}\n",
                             MS_VEC_DATA(&columns[BIDS_AUCTION], int64_t)[row],
                             MS_VEC_DATA(&columns[BIDS_BIDDER], int64_t)[row],
                             MS_VEC_DATA(&columns[BIDS_PRICE], int64_t)[row], MS_STR_ARG(channel),
                             MS_STR_ARG(url), ts, MS_STR_ARG(extra)),
               &st);
}

static void make_text(decode_bench *b)
{
    ms_status st = {0};
    ms_buf_init(&b->text, TEXT_BYTES_MAX);
    for (uint32_t i = 0; i < b->data->batch_count; i++) {
        for (uint32_t row = 0; row < b->data->batches[i]->rows; row++) {
            put_line(b, b->data->batches[i], row);
        }
    }
    bench_must(ms_buf_reserve(&b->text, MS_DECODE_PADDING, &st), &st);
    memset(b->text.ptr + b->text.bytes, 0, MS_DECODE_PADDING);
}

/* The bids' schema with ts as this variant has it. */
static void make_decoder(decode_bench *b)
{
    ms_status st = {0};
    ms_arena *arena = &b->data->arena;
    ms_field *fields = ms_arena_array(arena, ms_field, BIDS_COLUMNS);
    uint32_t wanted[BIDS_COLUMNS];
    for (uint32_t i = 0; i < BIDS_COLUMNS; i++) {
        fields[i] = b->data->schema.columns[i];
        fields[i].type = ms_type_as_nullable(arena, fields[i].type, true);
        wanted[i] = i;
    }
    if (!b->ts_is_text) {
        fields[BIDS_TS].type = ms_type_simple(arena, MS_TYPE_BIGINT, true);
    }
    b->schema = (ms_schema){BIDS_COLUMNS, fields};
    b->pool = ms_batch_pool_create(&b->schema, ROWS, 1);
    ms_option_list none = {0};
    bench_must(ms_format_json.decoder_create(&b->schema, wanted, &b->schema, &none,
                                             ms_str_lit("UTC"), &b->decoder, &st),
               &st);
}

static void add_batch(const decode_bench *b, const ms_batch *batch, digest *sum)
{
    for (uint32_t row = 0; row < batch->rows; row++) {
        for (uint32_t c = BIDS_AUCTION; c <= BIDS_PRICE; c++) {
            digest_add(sum, c, (uint64_t)MS_VEC_DATA(&batch->columns[c], int64_t)[row]);
        }
        if (!b->ts_is_text) {
            digest_add(sum, 3, (uint64_t)MS_VEC_DATA(&batch->columns[BIDS_TS], int64_t)[row]);
        }
        for (uint32_t i = 0; i < 3; i++) {
            ms_str text = ms_view_str(&MS_VEC_DATA(&batch->columns[text_columns[i]], ms_view)[row]);
            digest_add(sum, 4 + i, digest_bytes(text.ptr, text.bytes));
        }
    }
    sum->rows += batch->rows;
}

static void decode(decode_bench *b, digest *sum)
{
    ms_status st = {0};
    b->decoder->klass->reset(b->decoder, true);
    size_t at = 0;
    while (at < b->text.bytes) {
        ms_batch *batch = ms_batch_pool_take(b->pool);
        size_t consumed = 0;
        ms_str rest = ms_str_make(b->text.ptr + at, b->text.bytes - at);
        bench_must(b->decoder->klass->decode(b->decoder, rest, true, batch, &consumed, &st), &st);
        at += consumed;
        if (sum != NULL) {
            add_batch(b, batch, sum);
        }
        ms_batch_drop(batch);
    }
}

static void loop(decode_bench *b, digest *sum)
{
    if (!json_loop_run(b->loop, b->text.ptr, b->text.bytes, b->ts_is_text, sum)) {
        bench_fail("the loop over simdjson failed:", b->name);
    }
}

static void compare_digests(decode_bench *b)
{
    digest ours = {0};
    digest bare = {0};
    decode(b, &ours);
    loop(b, &bare);
    bool is_same = ours.weighted == bare.weighted && ours.rows == bare.rows;
    printf("%s digest: decoder %" PRIx64 ", loop %" PRIx64 "%s; %" PRIu64 " lines of %.0f bytes\n",
           b->name, ours.weighted, bare.weighted, is_same ? "" : ": they DIFFER", ours.rows,
           (double)b->text.bytes / (double)ours.rows);
    if (!is_same) {
        bench_fail("the digests differ:", b->name);
    }
}

static void run(decode_bench *b)
{
    make_text(b);
    make_decoder(b);
    b->loop = json_loop_create();
    compare_digests(b);
    double ours_ns[REPETITIONS];
    double bare_ns[REPETITIONS];
    double rows = (double)b->data->rows;
    for (int i = 0; i < REPETITIONS; i++) {
        double start = bench_user_s();
        decode(b, NULL);
        double middle = bench_user_s();
        loop(b, NULL);
        bare_ns[i] = (bench_user_s() - middle) / rows * 1e9;
        ours_ns[i] = (middle - start) / rows * 1e9;
    }
    double bare = bench_median(bare_ns, REPETITIONS);
    bench_report(&(bench_result){.name = b->name,
                                 .unit = "ns/row",
                                 .ours = bench_median(ours_ns, REPETITIONS),
                                 .yardstick = bare,
                                 .yardstick_name = "simdjson loop",
                                 .bound = 2 * bare});
    json_loop_destroy(b->loop);
    b->decoder->klass->close(b->decoder);
    ms_batch_pool_destroy(b->pool);
    ms_buf_release(&b->text);
}

int main(void)
{
    bids data;
    bench_print_machine("bench_json");
    bids_init(&data, BATCHES, 200000.0);
    printf("one thread; the text is larger than the caches, batches of %u rows; %d repetitions, "
           "medians\n",
           ROWS, REPETITIONS);
    run(&(decode_bench){.name = "json, ts as number", .data = &data});
    run(&(decode_bench){.name = "json, ts as text", .ts_is_text = true, .data = &data});
    bids_release(&data);
    return 0;
}
