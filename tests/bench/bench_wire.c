/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The codecs that are written by hand, beside protobuf-c with an arena, which takes and makes the
 * same bytes.
 *
 * Numerator: user time a cell chunk of ReadRowsResponse (100 rows of one cell of 100 bytes in a
 * message), resp. an entry of MutateRowsRequest (1000 of one such cell), between bytes and a page
 * resp. a batch. Denominator: the same by protobuf-c between bytes and its structs; that neither
 * checks the order of rows nor fills a page, so the yardstick does less. Decoding by protobuf-c
 * comes once as it is and once behind the scan that every message passes. The bound is half of the
 * yardstick.
 */
#include "bench.h"
#include "bigtable/wire/mutate_rows.h"
#include "bigtable/wire/pb.h"
#include "bigtable/wire/read_rows.h"
#include "bigtable/wire/read_rows_merge.h"

#include <stdio.h>

#define ROWS 100u
#define ENTRIES 1000u
#define REPETITIONS 9
#define ITEMS_A_REPETITION 1000000u
#define OUT_BYTES_MAX (64u << 20)

typedef struct wire_bench {
    ms_bt_page page; /* what is encoded */
    ms_bt_mutation_batch batch;
    ms_buf rows;      /* the messages */
    ms_buf mutations; /* likewise */
    ms_buf out;
    ms_arena arena;
    ms_bt_page into; /* what is decoded */
    ms_bt_mutation_batch batch_into;
    ms_pb_read_rows_response *rows_message;
    ms_pb_mutate_rows_request *mutations_message;
} wire_bench;

static ms_status st;
static ms_bt_status bt;

static void must(ms_bt_code code)
{
    if (code != MS_BT_OK) {
        bench_fail("a message is refused", bt.text);
    }
}

/* Making the data. */

static void make_rows(wire_bench *b)
{
    static const ms_str family = {"cf", 2};
    char value[100];
    memset(value, 'v', sizeof(value));
    ms_bt_page_init(&b->page);
    b->page.families = &family;
    b->page.family_count = 1;
    for (uint32_t i = 0; i < ROWS; i++) {
        char key[32];
        size_t bytes = (size_t)snprintf(key, sizeof(key), "row-%011u", i);
        bench_must(ms_bt_page_reserve_row(&b->page, bytes, &st), &st);
        ms_bt_row row = {.key_at = ms_bt_page_put(&b->page, key, bytes),
                         .key_bytes = (uint32_t)bytes,
                         .first_cell = i,
                         .cell_count = 1};
        bench_must(ms_bt_page_reserve_cell(&b->page, 1 + sizeof(value), &st), &st);
        b->page.cells[b->page.cell_count++] =
            (ms_bt_cell){.timestamp_micros = 1700000000000000,
                         .qualifier_at = ms_bt_page_put(&b->page, "q", 1),
                         .qualifier_bytes = 1,
                         .value_at = ms_bt_page_put(&b->page, value, sizeof(value)),
                         .value_bytes = sizeof(value)};
        b->page.rows[b->page.row_count++] = row;
    }
}

static void make_batch(wire_bench *b)
{
    char value[100];
    uint16_t family;
    memset(value, 'v', sizeof(value));
    ms_bt_mutation_batch_init(&b->batch, 64u << 20);
    bench_must(ms_bt_mutation_batch_family(&b->batch, ms_str_lit("cf"), &family, &st), &st);
    for (uint32_t i = 0; i < ENTRIES; i++) {
        char key[32];
        size_t bytes = (size_t)snprintf(key, sizeof(key), "row-%011u", i);
        bench_must(ms_bt_mutation_batch_begin_row(&b->batch, ms_str_make(key, bytes), &st), &st);
        bench_must(ms_bt_mutation_batch_set_cell(&b->batch, family, ms_str_lit("q"),
                                                 1700000000000000,
                                                 ms_str_make(value, sizeof(value)), &st),
                   &st);
        ms_bt_mutation_batch_end_row(&b->batch);
    }
}

/* The runs: each handles all chunks, resp. entries, once. */

static void encode_rows(wire_bench *b)
{
    ms_wire_rows_writer writer;
    ms_wire_rows_writer_init(&writer, NULL);
    ms_wire_rows_writer_begin(&writer, &b->page);
    ms_buf_reset(&b->out);
    bench_must(ms_wire_rows_writer_next(&writer, &b->out, &st), &st);
}

static void pack_rows(wire_bench *b)
{
    ms_buf_reset(&b->out);
    bench_must(ms_pb_pack(b->rows_message, &b->out, &st), &st);
}

static void decode_rows(wire_bench *b)
{
    ms_wire_rows_merger merger;
    size_t at = 0;
    ms_wire_rows_merger_init(&merger, false);
    ms_bt_page_reset(&b->into, SIZE_MAX);
    must(ms_wire_rows_merger_read(&merger, ms_buf_view(&b->rows), &at, &b->into, UINT32_MAX,
                                  SIZE_MAX, &bt));
    ms_wire_rows_merger_release(&merger);
}

static void *arena_alloc(void *arg, size_t bytes)
{
    return ms_arena_alloc(arg, bytes, 16);
}

static void arena_free(void *arg, void *ptr)
{
    (void)arg;
    (void)ptr;
}

static void unpack(wire_bench *b, const ProtobufCMessageDescriptor *class, const ms_buf *bytes)
{
    ProtobufCAllocator allocator = {arena_alloc, arena_free, &b->arena};
    ms_arena_reset(&b->arena);
    if (protobuf_c_message_unpack(class, &allocator, bytes->bytes, (const uint8_t *)bytes->ptr) ==
        NULL) {
        bench_fail("a message is refused", "");
    }
}

static void check_and_unpack(wire_bench *b, const ProtobufCMessageDescriptor *class,
                             const ms_buf *bytes)
{
    ms_arena_reset(&b->arena);
    if (ms_wire_unpack(class, ms_buf_view(bytes), &ms_wire_request_limits, &b->arena, &bt) ==
        NULL) {
        must(bt.code);
    }
}

static void unpack_rows(wire_bench *b)
{
    unpack(b, ms_pb_read_rows_response_class(), &b->rows);
}

static void check_and_unpack_rows(wire_bench *b)
{
    check_and_unpack(b, ms_pb_read_rows_response_class(), &b->rows);
}

static void encode_batch(wire_bench *b)
{
    const ms_wire_mutate_head head = {
        ms_str_lit("projects/p/instances/i/tables/t"), {"", 0}, {"", 0}};
    ms_buf_reset(&b->out);
    bench_must(ms_wire_mutate_rows_encode(&head, &b->batch, NULL, 0, &b->out, &st), &st);
}

static void pack_mutations(wire_bench *b)
{
    ms_buf_reset(&b->out);
    bench_must(ms_pb_pack(b->mutations_message, &b->out, &st), &st);
}

static void decode_batch(wire_bench *b)
{
    ms_wire_mutate_head head;
    ms_bt_mutation_batch_reset(&b->batch_into);
    must(ms_wire_mutate_rows_decode(ms_buf_view(&b->mutations), &ms_wire_request_limits,
                                    &b->batch_into, &head, &bt));
}

static void unpack_mutations(wire_bench *b)
{
    unpack(b, ms_pb_mutate_rows_request_class(), &b->mutations);
}

static void check_and_unpack_mutations(wire_bench *b)
{
    check_and_unpack(b, ms_pb_mutate_rows_request_class(), &b->mutations);
}

/* Measuring. */

/* Nanoseconds of user time an item, the median of some repetitions. */
static double measure(wire_bench *b, void (*run)(wire_bench *), uint32_t items)
{
    double ns[REPETITIONS];
    uint32_t runs = ITEMS_A_REPETITION / items;
    run(b);
    for (int i = 0; i < REPETITIONS; i++) {
        double start = bench_user_s();
        for (uint32_t j = 0; j < runs; j++) {
            run(b);
        }
        ns[i] = (bench_user_s() - start) / ((double)runs * items) * 1e9;
    }
    return bench_median(ns, REPETITIONS);
}

static void report(wire_bench *b, const char *name, const char *unit, void (*ours)(wire_bench *),
                   void (*theirs)(wire_bench *), const char *yardstick, uint32_t items)
{
    double their_ns = measure(b, theirs, items);
    bench_report(&(bench_result){.name = name,
                                 .unit = unit,
                                 .ours = measure(b, ours, items),
                                 .yardstick = their_ns,
                                 .yardstick_name = yardstick,
                                 .bound = their_ns / 2});
}

/* Both make the same bytes, or one of them measures something else. */
static void check_same(wire_bench *b, void (*ours)(wire_bench *), void (*theirs)(wire_bench *))
{
    ours(b);
    ms_buf first;
    ms_buf_init(&first, OUT_BYTES_MAX);
    bench_must(ms_buf_append(&first, ms_buf_view(&b->out), &st), &st);
    theirs(b);
    if (!ms_str_equals(ms_buf_view(&first), ms_buf_view(&b->out))) {
        bench_fail("the two do not write the same bytes", "");
    }
    ms_buf_release(&first);
}

static void set_up(wire_bench *b, ms_arena *messages)
{
    make_rows(b);
    make_batch(b);
    ms_buf_init(&b->rows, OUT_BYTES_MAX);
    ms_buf_init(&b->mutations, OUT_BYTES_MAX);
    ms_buf_init(&b->out, OUT_BYTES_MAX);
    ms_arena_init(&b->arena, 0);
    ms_bt_page_init(&b->into);
    ms_bt_mutation_batch_init(&b->batch_into, OUT_BYTES_MAX);
    encode_rows(b);
    bench_must(ms_buf_append(&b->rows, ms_buf_view(&b->out), &st), &st);
    encode_batch(b);
    bench_must(ms_buf_append(&b->mutations, ms_buf_view(&b->out), &st), &st);
    b->rows_message = ms_pb_unpack(read_rows_response, ms_buf_view(&b->rows),
                                   &ms_wire_response_limits, messages, &bt);
    b->mutations_message = ms_pb_unpack(mutate_rows_request, ms_buf_view(&b->mutations),
                                        &ms_wire_request_limits, messages, &bt);
    if (b->rows_message == NULL || b->mutations_message == NULL) {
        must(bt.code);
    }
    check_same(b, encode_rows, pack_rows);
    check_same(b, encode_batch, pack_mutations);
}

int main(void)
{
    static wire_bench b;
    ms_arena messages;
    ms_arena_init(&messages, 0);
    bench_print_machine("bench_wire");
    set_up(&b, &messages);
    report(&b, "rows, decode", "ns/chunk", decode_rows, unpack_rows, "protobuf-c, arena", ROWS);
    report(&b, "rows, decode, with scan", "ns/chunk", decode_rows, check_and_unpack_rows,
           "scan, protobuf-c", ROWS);
    report(&b, "rows, encode", "ns/chunk", encode_rows, pack_rows, "protobuf-c", ROWS);
    report(&b, "mutations, decode", "ns/entry", decode_batch, unpack_mutations, "protobuf-c, arena",
           ENTRIES);
    report(&b, "mutations, decode, with scan", "ns/entry", decode_batch, check_and_unpack_mutations,
           "scan, protobuf-c", ENTRIES);
    report(&b, "mutations, encode", "ns/entry", encode_batch, pack_mutations, "protobuf-c",
           ENTRIES);
    ms_arena_release(&messages);
    return 0;
}
