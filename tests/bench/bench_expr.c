/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What programs cost per row, beside loops written by hand for the same columns.
 *
 *     bench_expr [rows in millions] [repetitions]
 *
 * One batch of 2048 bids is evaluated again and again, so the columns are in the cache: this
 * measures instructions, not memory. The cost is CPU time of the thread; the middle of the
 * repetitions counts. A yardstick does the same work on plain arrays, with the constants known to
 * the compiler. Lines without a yardstick are for comparing one build with the next.
 */
#include "bench.h"
#include "expr/build.h"
#include "expr/program.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define ROWS 2048u
#define REPETITIONS_MAX 31

enum column { AUCTION, BIDDER, PRICE, CHANNEL, URL, TIME, AMOUNT, TEXT, NULLABLE, COLUMNS };

typedef struct bench {
    ms_arena arena;
    ms_status st;
    ms_expr_builder build;
    ms_schema schema;
    ms_vec columns[COLUMNS];
    ms_batch batch;
    uint64_t rounds;
    int repetitions;
} bench;

/* Data. */

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *state >> 16;
}

static void fill(bench *b)
{
    uint64_t state = 1;
    for (uint32_t row = 0; row < ROWS; row++) {
        ((int64_t *)b->columns[AUCTION].data)[row] = (int64_t)(next_random(&state) % 1000000);
        ((int64_t *)b->columns[BIDDER].data)[row] = (int64_t)(next_random(&state) % 1000000);
        ((int64_t *)b->columns[PRICE].data)[row] = (int64_t)(next_random(&state) % 100000000);
        ((int64_t *)b->columns[TIME].data)[row] = (int64_t)row * 1000 + INT64_C(1600000000000000);
        ((int64_t *)b->columns[AMOUNT].data)[row] = (int64_t)(next_random(&state) % 100000);
        ms_str channel =
            ms_arena_format(&b->arena, "channel-%u", (unsigned)(next_random(&state) % 1000));
        ms_str url =
            ms_arena_format(&b->arena, "https://www.nexmark.com/%s/item.htm?query=1&channel_id=%u",
                            row % 3 == 0 ? "abc" : "xyz", (unsigned)row);
        ms_str text = ms_arena_format(&b->arena, "%u.%02u", (unsigned)(next_random(&state) % 10000),
                                      row % 100);
        ((ms_view *)b->columns[CHANNEL].data)[row] =
            ms_view_make(channel.ptr, (uint32_t)channel.bytes);
        ((ms_view *)b->columns[URL].data)[row] = ms_view_make(url.ptr, (uint32_t)url.bytes);
        ((ms_view *)b->columns[TEXT].data)[row] = ms_view_make(text.ptr, (uint32_t)text.bytes);
        ((int64_t *)b->columns[NULLABLE].data)[row] = (int64_t)(next_random(&state) % 100);
        if (next_random(&state) % 4 == 0) {
            ms_bit_clear(ms_vec_validity(&b->columns[NULLABLE]), row);
        }
    }
}

static void open_bench(bench *b)
{
    static const char *const names[COLUMNS] = {"auction",  "bidder", "price", "channel", "url",
                                               "dateTime", "amount", "text",  "maybe"};
    ms_arena_init(&b->arena, 0);
    b->build = (ms_expr_builder){.arena = &b->arena, .st = &b->st};
    const ms_type *big = ms_type_simple(&b->arena, MS_TYPE_BIGINT, false);
    const ms_type *text = ms_type_string(&b->arena, false);
    const ms_type *types[COLUMNS] = {big,
                                     big,
                                     big,
                                     text,
                                     text,
                                     ms_type_temporal(&b->arena, MS_TYPE_TIMESTAMP, 3, false),
                                     ms_type_decimal(&b->arena, 10, 2, false),
                                     text,
                                     ms_type_simple(&b->arena, MS_TYPE_BIGINT, true)};
    ms_field *fields = ms_arena_array(&b->arena, ms_field, COLUMNS);
    for (uint32_t i = 0; i < COLUMNS; i++) {
        fields[i] = (ms_field){ms_str_cstr(names[i]), types[i]};
        ms_vec_alloc(&b->columns[i], types[i], ROWS, &b->arena);
    }
    b->schema = (ms_schema){COLUMNS, fields};
    b->batch = (ms_batch){.rows = ROWS, .column_count = COLUMNS, .columns = b->columns};
    fill(b);
}

/* Expressions. */

static void must(bench *b, ms_rc rc)
{
    bench_must(rc, &b->st);
}

static const ms_expr *column(bench *b, enum column which)
{
    return ms_expr_column(&b->arena, which, b->schema.columns[which].type, ms_span_none);
}

static const ms_expr *call(bench *b, const char *name, const ms_expr *x, const ms_expr *y)
{
    const ms_expr *out = NULL;
    const ms_expr *args[2] = {x, y};
    must(b,
         ms_build_call(&b->build, ms_str_cstr(name), args, y != NULL ? 2 : 1, ms_span_none, &out));
    return out;
}

static const ms_expr *number(bench *b, const char *digits)
{
    const ms_expr *out = NULL;
    must(b, ms_build_number(&b->build, ms_str_cstr(digits), false, ms_span_none, &out));
    return out;
}

static const ms_expr *text(bench *b, const char *literal)
{
    return ms_build_text(&b->build, ms_str_cstr(literal), ms_span_none);
}

static const ms_expr *cast(bench *b, const ms_expr *expr, const ms_type *type)
{
    const ms_expr *out = NULL;
    must(b, ms_build_cast(&b->build, expr, type, MS_BUILD_CAST, ms_span_none, &out));
    return out;
}

static const ms_expr *interval(bench *b)
{
    const ms_interval_qualifier seconds = {MS_UNIT_SECOND, MS_UNIT_SECOND, -1, -1};
    const ms_expr *out = NULL;
    must(b, ms_build_interval(&b->build, ms_str_lit("5"), false, &seconds, ms_span_none, &out));
    return out;
}

/* CASE WHEN price < 10000 THEN 'small' WHEN price < 1000000 THEN 'medium' ELSE 'large' END */
static const ms_expr *three_sizes(bench *b)
{
    const ms_expr *whens[2] = {call(b, "<", column(b, PRICE), number(b, "10000")),
                               call(b, "<", column(b, PRICE), number(b, "1000000"))};
    const ms_expr *thens[2] = {text(b, "small"), text(b, "medium")};
    const ms_expr *out = NULL;
    must(b, ms_build_case(&b->build, NULL, whens, thens, 2, text(b, "large"), ms_span_none, &out));
    return out;
}

/* Measuring. */

static double run_program(bench *b, const ms_expr *filter, const ms_expr *const *outputs,
                          uint32_t count)
{
    const ms_program *program = NULL;
    ms_program_spec spec = {
        .filter = filter, .outputs = outputs, .output_count = count, .input = &b->schema};
    must(b, ms_program_compile(&b->arena, &spec, &program, &b->st));
    ms_evaluator *ev = ms_evaluator_create(program, ROWS);
    double times[REPETITIONS_MAX];
    for (int i = 0; i < b->repetitions; i++) {
        double start = bench_user_s();
        for (uint64_t round = 0; round < b->rounds; round++) {
            ms_batch frame;
            ms_eval_error error;
            ms_evaluator_run(ev, &b->batch, &frame, &error);
            __asm__ volatile("" ::"r"(frame.columns) : "memory");
        }
        times[i] = (bench_user_s() - start) * 1e9 / (double)(b->rounds * ROWS);
    }
    ms_evaluator_destroy(ev);
    return bench_median(times, b->repetitions);
}

static double run_loop(bench *b, void (*loop)(bench *b))
{
    double times[REPETITIONS_MAX];
    for (int i = 0; i < b->repetitions; i++) {
        double start = bench_user_s();
        for (uint64_t round = 0; round < b->rounds; round++) {
            loop(b);
        }
        times[i] = (bench_user_s() - start) * 1e9 / (double)(b->rounds * ROWS);
    }
    return bench_median(times, b->repetitions);
}

/* price * 0.908 by hand. */
static void multiply_by_hand(bench *b)
{
    static ms_i128 out[ROWS];
    const int64_t *price = b->columns[PRICE].data;
    for (uint32_t i = 0; i < ROWS; i++) {
        out[i] = (ms_i128)price[i] * 908;
    }
    __asm__ volatile("" ::"r"(out) : "memory");
}

/* auction % 123 = 0 by hand. */
static void filter_by_hand(bench *b)
{
    static uint16_t out[ROWS];
    const int64_t *auction = b->columns[AUCTION].data;
    uint32_t count = 0;
    for (uint32_t i = 0; i < ROWS; i++) {
        out[count] = (uint16_t)i;
        count += auction[i] % 123 == 0;
    }
    __asm__ volatile("" ::"r"(out), "r"(count) : "memory");
}

/* Beside a yardstick: at most three times it, or six nanoseconds more, as for whole queries. */
static void report(const char *name, double ns, double yardstick_ns)
{
    if (yardstick_ns <= 0) {
        printf("%-44s %8.3f ns/row\n", name, ns);
        return;
    }
    double bound = 3 * yardstick_ns > yardstick_ns + 6 ? 3 * yardstick_ns : yardstick_ns + 6;
    bench_report(&(bench_result){.name = name,
                                 .unit = "ns/row",
                                 .ours = ns,
                                 .yardstick = yardstick_ns,
                                 .yardstick_name = "by hand",
                                 .bound = bound});
}

static void one(bench *b, const char *name, const ms_expr *output)
{
    report(name, run_program(b, NULL, &output, 1), 0);
}

static void run_all(bench *b)
{
    const ms_expr *pass[5] = {column(b, AUCTION), column(b, BIDDER), column(b, PRICE),
                              column(b, TIME), column(b, URL)};
    report("q0: five columns passed through", run_program(b, NULL, pass, 5), 0);
    const ms_expr *product = call(b, "*", column(b, PRICE), number(b, "0.908"));
    report("q1: price * 0.908", run_program(b, NULL, &product, 1), run_loop(b, multiply_by_hand));
    const ms_expr *rest =
        call(b, "=", call(b, "%", column(b, AUCTION), number(b, "123")), number(b, "0"));
    report("q2: WHERE auction % 123 = 0", run_program(b, rest, NULL, 0),
           run_loop(b, filter_by_hand));

    one(b, "auction % 123", call(b, "%", column(b, AUCTION), number(b, "123")));
    one(b, "auction / 123", call(b, "/", column(b, AUCTION), number(b, "123")));
    one(b, "auction / bidder", call(b, "/", column(b, AUCTION), column(b, BIDDER)));
    one(b, "auction + bidder", call(b, "+", column(b, AUCTION), column(b, BIDDER)));
    one(b, "auction * bidder", call(b, "*", column(b, AUCTION), column(b, BIDDER)));
    one(b, "amount * 1.19 (DECIMAL in 64 bits)",
        call(b, "*", column(b, AMOUNT), number(b, "1.19")));
    one(b, "amount / 3 (DECIMAL)", call(b, "/", column(b, AMOUNT), number(b, "3")));
    one(b, "dateTime - INTERVAL '5' SECOND", call(b, "-", column(b, TIME), interval(b)));
    one(b, "maybe + 1 (a quarter NULL)", call(b, "+", column(b, NULLABLE), number(b, "1")));
    one(b, "CASE of three sizes", three_sizes(b));
    one(b, "UPPER(channel)", call(b, "UPPER", column(b, CHANNEL), NULL));
    one(b, "CHAR_LENGTH(url)", call(b, "CHAR_LENGTH", column(b, URL), NULL));
    one(b, "channel || url", call(b, "||", column(b, CHANNEL), column(b, URL)));
    one(b, "CAST(text AS DOUBLE)",
        cast(b, column(b, TEXT), ms_type_simple(&b->arena, MS_TYPE_DOUBLE, true)));
    one(b, "CAST(price AS STRING)", cast(b, column(b, PRICE), ms_type_string(&b->arena, true)));

    report("WHERE price > 50000000",
           run_program(b, call(b, ">", column(b, PRICE), number(b, "50000000")), NULL, 0), 0);
    report("WHERE channel = 'channel-42'",
           run_program(b, call(b, "=", column(b, CHANNEL), text(b, "channel-42")), NULL, 0), 0);
    report("WHERE url LIKE '%/abc/%'",
           run_program(b, call(b, "LIKE", column(b, URL), text(b, "%/abc/%")), NULL, 0), 0);
    const ms_expr *both = call(b, "AND", call(b, ">", column(b, PRICE), number(b, "50000000")),
                               call(b, "<", column(b, NULLABLE), number(b, "50")));
    report("WHERE price > 50000000 AND maybe < 50", run_program(b, both, NULL, 0), 0);
    const ms_expr *guarded =
        call(b, "AND", call(b, "<>", column(b, BIDDER), number(b, "0")),
             call(b, ">", call(b, "/", column(b, AUCTION), column(b, BIDDER)), number(b, "2")));
    report("WHERE bidder <> 0 AND auction / bidder > 2", run_program(b, guarded, NULL, 0), 0);
}

int main(int argc, char **argv)
{
    bench b = {0};
    long millions = argc > 1 ? strtol(argv[1], NULL, 10) : 4;
    long repetitions = argc > 2 ? strtol(argv[2], NULL, 10) : 7;
    if (millions < 1 || millions > 10000 || repetitions < 1 || repetitions > REPETITIONS_MAX) {
        fprintf(stderr, "usage: bench_expr [rows in millions] [repetitions, at most %d]\n",
                REPETITIONS_MAX);
        return 2;
    }
    b.rounds = (uint64_t)millions * 1000000 / ROWS;
    b.repetitions = (int)repetitions;
    open_bench(&b);
    bench_print_machine("bench_expr");
    printf("batches of %u rows, %" PRIu64 " rows, middle of %d\n", ROWS, b.rounds * ROWS,
           b.repetitions);
    run_all(&b);
    ms_arena_release(&b.arena);
    return 0;
}
