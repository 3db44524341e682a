/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bench for formats: schemas from a short text, records decoded in every possible portion, rows
 * as text.
 *
 *     check_decode(&ms_format_csv, "null-literal=-", "it", "1,a\n-,b\n", "1|a\n~|b\n");
 *
 * A column is a letter: b y s i l f d are BOOLEAN to DOUBLE, n is DECIMAL(10, 2), N DECIMAL(38,
 * 10), t STRING, x BYTES, D DATE, T TIMESTAMP(3), U TIMESTAMP(6), Z TIMESTAMP_LTZ(3), A ARRAY<INT>,
 * M MAP<STRING, INT>, R ROW<a INT, b STRING>, Q ARRAY<ROW<a INT, b ARRAY<STRING>>>, O MAP<STRING,
 * DECIMAL(38, 10)>. Columns are named a, b, c, and so on.
 *
 * Rows come as values with "|" between them, NULL as "~"; a failure as "!" and its message.
 */
#ifndef MS_TESTS_UNIT_FORMAT_FORMAT_TESTING_H
#define MS_TESTS_UNIT_FORMAT_FORMAT_TESTING_H

#include "testing.h"

#include "base/memory.h"
#include "catalog/connector.h"
#include "type/text.h"

#define BENCH_COLUMNS_MAX 26u

/* A schema, options and what they live in. */
typedef struct bench {
    ms_arena arena;
    ms_status st;
    const ms_format *format;
    ms_schema schema;
    uint32_t wanted[BENCH_COLUMNS_MAX];
    ms_option_list options;
} bench;

__attribute__((unused)) static const ms_type *bench_type(ms_arena *arena, char letter)
{
    const ms_type *i = ms_type_simple(arena, MS_TYPE_INT, true);
    const ms_type *t = ms_type_string(arena, true);
    const ms_type *key = ms_type_string(arena, false);
    ms_field plain[] = {{ms_str_lit("a"), i}, {ms_str_lit("b"), t}};
    ms_field deep[] = {{ms_str_lit("a"), i}, {ms_str_lit("b"), ms_type_array(arena, t, true)}};
    switch (letter) {
    case 'b':
        return ms_type_simple(arena, MS_TYPE_BOOLEAN, true);
    case 'y':
        return ms_type_simple(arena, MS_TYPE_TINYINT, true);
    case 's':
        return ms_type_simple(arena, MS_TYPE_SMALLINT, true);
    case 'i':
        return i;
    case 'l':
        return ms_type_simple(arena, MS_TYPE_BIGINT, true);
    case 'f':
        return ms_type_simple(arena, MS_TYPE_FLOAT, true);
    case 'd':
        return ms_type_simple(arena, MS_TYPE_DOUBLE, true);
    case 'n':
        return ms_type_decimal(arena, 10, 2, true);
    case 'N':
        return ms_type_decimal(arena, 38, 10, true);
    case 't':
        return t;
    case 'x':
        return ms_type_bytes(arena, true);
    case 'D':
        return ms_type_simple(arena, MS_TYPE_DATE, true);
    case 'T':
        return ms_type_temporal(arena, MS_TYPE_TIMESTAMP, 3, true);
    case 'U':
        return ms_type_temporal(arena, MS_TYPE_TIMESTAMP, 6, true);
    case 'W':
        return ms_type_temporal(arena, MS_TYPE_TIMESTAMP, 9, true);
    case 'Z':
        return ms_type_temporal(arena, MS_TYPE_TIMESTAMP_LTZ, 3, true);
    case 'A':
        return ms_type_array(arena, i, true);
    case 'M':
        return ms_type_map(arena, key, i, true);
    case 'O':
        return ms_type_map(arena, key, ms_type_decimal(arena, 38, 10, true), true);
    case 'R':
        return ms_type_row(arena, plain, 2, true);
    case 'Q':
        return ms_type_array(arena, ms_type_row(arena, deep, 2, true), true);
    default:
        fail_msg("no type has the letter %c", letter);
        return NULL;
    }
}

/* options: "key=value;key=value". */
__attribute__((unused)) static void bench_init(bench *b, const ms_format *format,
                                               const char *options, const char *columns)
{
    *b = (bench){.format = format};
    ms_arena_init(&b->arena, 0);
    uint32_t count = (uint32_t)strlen(columns);
    ms_field *fields = ms_arena_array(&b->arena, ms_field, count + 1);
    for (uint32_t i = 0; i < count; i++) {
        fields[i] = (ms_field){ms_arena_format(&b->arena, "%c", (char)('a' + i)),
                               bench_type(&b->arena, columns[i])};
        b->wanted[i] = i;
    }
    b->schema = (ms_schema){count, fields};
    ms_option *items = ms_arena_array(&b->arena, ms_option, 20);
    while (*options != '\0') {
        const char *equals = strchr(options, '=');
        const char *end = strchr(options, ';');
        end = end != NULL ? end : options + strlen(options);
        items[b->options.count++] =
            (ms_option){.key = ms_str_make(options, (size_t)(equals - options)),
                        .value = ms_str_make(equals + 1, (size_t)(end - equals - 1))};
        options = *end == ';' ? end + 1 : end;
    }
    b->options.items = items;
}

__attribute__((unused)) static void bench_release(bench *b)
{
    ms_arena_release(&b->arena);
}

__attribute__((unused)) static ms_decoder *bench_decoder(bench *b)
{
    ms_decoder *decoder = NULL;
    ms_status st = {0};
    assert_ok(b->format->decoder_create(&b->schema, b->wanted, &b->schema, &b->options,
                                        ms_str_lit("UTC"), &decoder, &st));
    return decoder;
}

/* Appends the rows of a batch as text. */
__attribute__((unused)) static void bench_text(const ms_batch *batch, ms_buf *out)
{
    ms_status st = {0};
    for (uint32_t r = 0; r < batch->rows; r++) {
        for (uint32_t c = 0; c < batch->column_count; c++) {
            const ms_vec *vec = &batch->columns[c];
            if (c > 0) {
                assert_ok(ms_buf_append_byte(out, '|', &st));
            }
            if (ms_vec_is_null(vec, r)) {
                assert_ok(ms_buf_append_byte(out, '~', &st));
            } else {
                assert_ok(ms_text_vec(out, vec, r, MS_TEXT_DISPLAY, ms_zone_utc(), &st));
            }
        }
        assert_ok(ms_buf_append_byte(out, '\n', &st));
    }
}

/* Where a decoder stood after a call, and how long the text of the rows was then. */
typedef struct bench_place {
    size_t offset;
    size_t text_bytes;
} bench_place;

typedef struct bench_run {
    ms_decoder *decoder;
    ms_batch_pool *pool;
    size_t offset;
    ms_buf *text;
    bench_place *places; /* NULL: not kept */
    size_t place_count;
} bench_run;

/* Decodes input[offset, end) as far as it goes; the copy has no readable byte too many. */
static bool bench_feed(bench_run *run, ms_str input, size_t end, ms_status *st)
{
    size_t bytes = end - run->offset;
    char *copy = malloc(bytes + MS_DECODE_PADDING);
    if (bytes > 0) {
        memcpy(copy, input.ptr + run->offset, bytes);
    }
    memset(copy + bytes, 0, MS_DECODE_PADDING);
    size_t at = 0;
    bool goes_on = true;
    bool ok = true;
    while (goes_on && ok) {
        ms_batch *batch = ms_batch_pool_take(run->pool);
        size_t consumed = SIZE_MAX;
        ok = run->decoder->klass->decode(run->decoder, ms_str_make(copy + at, bytes - at),
                                         end == input.bytes, batch, &consumed, st) == MS_OK;
        assert_true(consumed <= bytes - at);
        at += consumed;
        goes_on = batch->rows > 0 && ok;
        bench_text(batch, run->text);
        ms_batch_drop(batch);
        if (run->places != NULL) {
            run->places[run->place_count++] = (bench_place){run->offset + at, run->text->bytes};
        }
    }
    assert_true(!ok || end < input.bytes || at == bytes);
    run->offset += at;
    free(copy);
    return ok;
}

/* Decodes from an offset on, `step` bytes more at a time (the first portion is `first`). */
__attribute__((unused)) static void bench_decode(bench *b, ms_str input, size_t offset,
                                                 size_t first, size_t step, uint32_t capacity,
                                                 ms_buf *text, bench_run *run_out)
{
    ms_status st = {0};
    bench_run run = {.decoder = bench_decoder(b), .text = text, .offset = offset};
    run.places = run_out != NULL ? run_out->places : NULL;
    run.pool = ms_batch_pool_create(&b->schema, capacity, 1);
    run.decoder->klass->reset(run.decoder, offset == 0);
    size_t end = offset + first < input.bytes ? offset + first : input.bytes;
    bool ok = bench_feed(&run, input, end, &st);
    while (ok && end < input.bytes) {
        end = end + step < input.bytes ? end + step : input.bytes;
        ok = bench_feed(&run, input, end, &st);
    }
    if (!ok) {
        ms_status other = {0};
        assert_ok(ms_buf_format(text, &other, "!%s\n", st.message));
    }
    run.decoder->klass->close(run.decoder);
    ms_batch_pool_destroy(run.pool);
    if (run_out != NULL) {
        *run_out = run;
    }
}

static void bench_expect(ms_buf *text, size_t skip, const char *expected, const char *what,
                         size_t a, size_t b)
{
    /* A restarted decoder counts records anew: messages are compared only from the start. */
    size_t bytes = strlen(expected);
    const char *failure = strchr(expected, '!');
    size_t compared = skip > 0 && failure != NULL ? (size_t)(failure - expected) + 1 : bytes;
    compared = compared > skip ? compared - skip : 0;
    bool is_prefix = text->bytes >= compared &&
                     (compared == 0 || memcmp(text->ptr, expected + skip, compared) == 0);
    if (!is_prefix || (text->bytes != compared && (skip == 0 || failure == NULL))) {
        fail_msg("%s (%zu, %zu):\n%.*s\nexpected:\n%s", what, a, b, (int)text->bytes, text->ptr,
                 expected + skip);
    }
    ms_buf_reset(text);
}

/* From every place at which a decoder stood, another one gives exactly the rest. */
static void bench_resume(bench *b, ms_str input, const char *expected, const bench_run *run)
{
    ms_buf text;
    ms_buf_init(&text, 1u << 24);
    for (size_t i = 0; i < run->place_count; i++) {
        if (run->places[i].offset < input.bytes) {
            bench_decode(b, input, run->places[i].offset, input.bytes, 1, 3, &text, NULL);
            size_t skip = run->places[i].text_bytes;
            bench_expect(&text, skip == 0 && run->places[i].offset > 0 ? 0 : skip, expected,
                         "resumed", run->places[i].offset, 0);
        }
    }
    ms_buf_release(&text);
}

/* Every portion size, every cut in two, batches of one row, of two and of many. */
__attribute__((unused)) static void check_bytes(const ms_format *format, const char *options,
                                                const char *columns, ms_str input,
                                                const char *expected)
{
    static const uint32_t capacities[] = {2048, 1, 2};
    bench b;
    ms_buf text;
    bench_init(&b, format, options, columns);
    ms_buf_init(&text, 1u << 24);
    for (size_t k = 0; k < 3; k++) {
        for (size_t step = 1; step <= input.bytes + 1; step++) {
            bench_decode(&b, input, 0, step, step, capacities[k], &text, NULL);
            bench_expect(&text, 0, expected, "in steps", step, capacities[k]);
            bench_decode(&b, input, 0, step, input.bytes, capacities[k], &text, NULL);
            bench_expect(&text, 0, expected, "in two", step, capacities[k]);
        }
    }
    bench_run run = {.places = calloc(4 * input.bytes + 16, sizeof(bench_place))};
    bench_decode(&b, input, 0, 1, 1, 1, &text, &run);
    ms_buf_reset(&text);
    bench_resume(&b, input, expected, &run);
    free(run.places);
    ms_buf_release(&text);
    bench_release(&b);
}

__attribute__((unused)) static void check_decode(const ms_format *format, const char *options,
                                                 const char *columns, const char *input,
                                                 const char *expected)
{
    check_bytes(format, options, columns, ms_str_cstr(input), expected);
}

/* Decodes the input and encodes what came; the two formats may differ. */
__attribute__((unused)) static void check_encode(const ms_format *from, const char *from_options,
                                                 const ms_format *to, const char *to_options,
                                                 const char *columns, const char *input,
                                                 const char *expected)
{
    bench b;
    bench e;
    ms_status st = {0};
    ms_encoder *encoder = NULL;
    ms_buf out;
    ms_buf copy;
    size_t consumed = 0;
    bench_init(&b, from, from_options, columns);
    bench_init(&e, to, to_options, columns);
    ms_buf_init(&out, 1u << 20);
    ms_buf_init(&copy, 1u << 20);
    ms_decoder *decoder = bench_decoder(&b);
    ms_batch_pool *pool = ms_batch_pool_create(&b.schema, 64, 1);
    ms_batch *batch = ms_batch_pool_take(pool);
    assert_ok(ms_buf_append(&copy, ms_str_cstr(input), &st));
    assert_ok(ms_buf_reserve(&copy, MS_DECODE_PADDING, &st));
    memset(copy.ptr + copy.bytes, 0, MS_DECODE_PADDING);
    assert_ok(decoder->klass->decode(decoder, ms_buf_view(&copy), true, batch, &consumed, &st));
    assert_ok(to->encoder_create(&e.schema, &e.options, ms_str_lit("UTC"), &encoder, &st));
    assert_ok(encoder->klass->encode(encoder, batch, &out, &st));
    assert_str_equal(ms_buf_view(&out), expected);
    encoder->klass->close(encoder);
    decoder->klass->close(decoder);
    ms_batch_drop(batch);
    ms_batch_pool_destroy(pool);
    ms_buf_release(&out);
    ms_buf_release(&copy);
    bench_release(&b);
    bench_release(&e);
}

/* How many rows a batch gets of `rows` records of the format, each with a string of a MiB. */
__attribute__((unused)) static void check_long_rows(const ms_format *format, const char *before,
                                                    const char *after)
{
    const uint32_t rows = 10;
    bench b;
    ms_status st = {0};
    ms_buf input;
    bench_init(&b, format, "", "t");
    ms_buf_init(&input, 1u << 25);
    for (uint32_t r = 0; r < rows; r++) {
        assert_ok(ms_buf_append(&input, ms_str_cstr(before), &st));
        assert_ok(ms_buf_reserve(&input, 1u << 20, &st));
        memset(input.ptr + input.bytes, 'x', 1u << 20);
        input.bytes += 1u << 20;
        assert_ok(ms_buf_append(&input, ms_str_cstr(after), &st));
    }
    assert_ok(ms_buf_reserve(&input, MS_DECODE_PADDING, &st));
    memset(input.ptr + input.bytes, 0, MS_DECODE_PADDING);
    ms_decoder *decoder = bench_decoder(&b);
    ms_batch_pool *pool = ms_batch_pool_create(&b.schema, MS_BATCH_ROWS_DEFAULT, 1);
    uint32_t taken = 0;
    size_t at = 0;
    while (at < input.bytes) {
        size_t consumed = 0;
        ms_batch *batch = ms_batch_pool_take(pool);
        ms_str rest = ms_str_slice(ms_buf_view(&input), at, input.bytes);
        assert_ok(decoder->klass->decode(decoder, rest, true, batch, &consumed, &st));
        assert_true(batch->rows > 0 && batch->rows <= 4);
        taken += batch->rows;
        at += consumed;
        ms_batch_drop(batch);
    }
    assert_int_equal(taken, rows);
    decoder->klass->close(decoder);
    ms_batch_pool_destroy(pool);
    ms_buf_release(&input);
    bench_release(&b);
}

/* Creating a decoder and an encoder fails alike: with the code, and a message with this in it. */
__attribute__((unused)) static void check_refused(const ms_format *format, const char *options,
                                                  const char *columns, ms_rc rc, const char *part)
{
    bench b;
    bench_init(&b, format, options, columns);
    ms_decoder *decoder = NULL;
    ms_encoder *encoder = NULL;
    assert_int_equal(format->decoder_create(&b.schema, b.wanted, &b.schema, &b.options,
                                            ms_str_lit("UTC"), &decoder, &b.st),
                     rc);
    if (strstr(b.st.message, part) == NULL) {
        fail_msg("\"%s\" has no \"%s\"", b.st.message, part);
    }
    ms_status_clear(&b.st);
    assert_int_equal(
        format->encoder_create(&b.schema, &b.options, ms_str_lit("UTC"), &encoder, &b.st), rc);
    bench_release(&b);
}

#endif
