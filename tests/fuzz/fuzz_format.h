/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the fuzz targets of the formats share. An input is a byte of options, a byte that chooses
 * the portions, and the records. They are decoded whole, and again in portions into small batches:
 * both give the same rows and fail alike, a decoder never takes more than it was given, and at the
 * end of the file it has taken everything or has failed.
 */
#ifndef MS_TESTS_FUZZ_FUZZ_FORMAT_H
#define MS_TESTS_FUZZ_FUZZ_FORMAT_H

#include "base/memory.h"
#include "catalog/connector.h"
#include "type/text.h"

#include <stdlib.h>

#define FUZZ_TEXT_BYTES (256u << 20)
#define FUZZ_COLUMNS 18u

/* Columns of every type that both formats read; with `nested` also ARRAY, MAP and ROW. */
static inline ms_schema fuzz_schema(ms_arena *arena, bool nested)
{
    static const char names[] = "a\0b\0c\0d\0e\0f\0g\0h\0i\0j\0k\0l\0m\0n\0o\0p\0q\0r";
    ms_field *fields = ms_arena_array(arena, ms_field, FUZZ_COLUMNS);
    const ms_type *text = ms_type_string(arena, true);
    const ms_type *number = ms_type_simple(arena, MS_TYPE_INT, true);
    const ms_field inner[] = {{ms_str_lit("a"), number}, {ms_str_lit("b"), text}};
    const ms_type *types[FUZZ_COLUMNS] = {
        ms_type_simple(arena, MS_TYPE_BOOLEAN, true),
        ms_type_simple(arena, MS_TYPE_TINYINT, true),
        ms_type_simple(arena, MS_TYPE_SMALLINT, true),
        number,
        ms_type_simple(arena, MS_TYPE_BIGINT, true),
        ms_type_simple(arena, MS_TYPE_FLOAT, true),
        ms_type_simple(arena, MS_TYPE_DOUBLE, true),
        ms_type_decimal(arena, 10, 2, true),
        ms_type_decimal(arena, 38, 10, true),
        text,
        ms_type_bytes(arena, true),
        ms_type_simple(arena, MS_TYPE_DATE, true),
        ms_type_temporal(arena, MS_TYPE_TIMESTAMP, 3, true),
        ms_type_temporal(arena, MS_TYPE_TIMESTAMP_LTZ, 6, true),
        text,
        ms_type_array(arena, ms_type_row(arena, inner, 2, true), true),
        ms_type_map(arena, ms_type_string(arena, false), number, true),
        ms_type_row(arena, inner, 2, true),
    };
    uint32_t count = nested ? FUZZ_COLUMNS : 15;
    for (uint32_t i = 0; i < count; i++) {
        fields[i] = (ms_field){ms_str_cstr(names + 2 * (size_t)i), types[i]};
    }
    return (ms_schema){count, fields};
}

typedef struct fuzz_run {
    ms_decoder *decoder;
    ms_batch_pool *pool;
    ms_buf text; /* of the rows */
    ms_rc rc;
} fuzz_run;

static inline void fuzz_rows(fuzz_run *run, const ms_batch *batch)
{
    ms_status st = {0};
    for (uint32_t r = 0; r < batch->rows; r++) {
        for (uint32_t c = 0; c < batch->column_count; c++) {
            MS_ASSERT(ms_text_vec(&run->text, &batch->columns[c], r, MS_TEXT_PRINT, ms_zone_utc(),
                                  &st) == MS_OK);
            MS_ASSERT(ms_buf_append_byte(&run->text, c + 1 < batch->column_count ? 1 : 2, &st) ==
                      MS_OK);
        }
    }
}

/* Decodes input[at, end) as far as it goes; returns how far. The copy has no byte too many. */
static inline size_t fuzz_feed(fuzz_run *run, ms_str input, size_t at, size_t end)
{
    size_t bytes = end - at;
    char *copy = ms_mem_alloc(bytes + MS_DECODE_PADDING);
    memset(copy, 0, bytes + MS_DECODE_PADDING);
    if (bytes > 0) {
        memcpy(copy, input.ptr + at, bytes);
    }
    size_t taken = 0;
    bool goes_on = true;
    while (goes_on && run->rc == MS_OK) {
        ms_status st = {0};
        size_t consumed = SIZE_MAX;
        ms_batch *batch = ms_batch_pool_take(run->pool);
        MS_ASSERT(batch != NULL);
        run->rc =
            run->decoder->klass->decode(run->decoder, ms_str_make(copy + taken, bytes - taken),
                                        end == input.bytes, batch, &consumed, &st);
        MS_ASSERT(consumed <= bytes - taken && run->rc == st.code);
        taken += consumed;
        goes_on = batch->rows > 0;
        fuzz_rows(run, batch);
        ms_batch_drop(batch);
    }
    ms_mem_free(copy);
    MS_ASSERT(end < input.bytes || run->rc != MS_OK || taken == bytes);
    return at + taken;
}

static inline void fuzz_decode(const ms_format *format, const ms_schema *schema,
                               const ms_option_list *options, ms_str input, unsigned portions,
                               fuzz_run *run)
{
    ms_status st = {0};
    uint32_t wanted[FUZZ_COLUMNS];
    for (uint32_t i = 0; i < schema->column_count; i++) {
        wanted[i] = i;
    }
    *run = (fuzz_run){.rc = MS_OK};
    ms_buf_init(&run->text, FUZZ_TEXT_BYTES);
    run->pool = ms_batch_pool_create(schema, portions == 0 ? 2048 : 1 + portions % 5, 1);
    MS_ASSERT(format->decoder_create(schema, wanted, schema, options, ms_str_lit("UTC"),
                                     &run->decoder, &st) == MS_OK);
    run->decoder->klass->reset(run->decoder, true);
    size_t at = 0;
    size_t end = 0;
    uint32_t seed = portions;
    do {
        seed = seed * 1103515245u + 12345u;
        size_t step = portions == 0 ? input.bytes : 1 + (seed >> 16) % 40;
        end = input.bytes - end < step ? input.bytes : end + step;
        at = fuzz_feed(run, input, at, end);
    } while (run->rc == MS_OK && end < input.bytes);
    run->decoder->klass->close(run->decoder);
    ms_batch_pool_destroy(run->pool);
}

static inline void fuzz_compare(const ms_format *format, const ms_schema *schema,
                                const ms_option_list *options, ms_str input, unsigned portions)
{
    fuzz_run whole;
    fuzz_run parts;
    fuzz_decode(format, schema, options, input, 0, &whole);
    fuzz_decode(format, schema, options, input, 1 + portions, &parts);
    MS_ASSERT(whole.rc == parts.rc);
    MS_ASSERT(ms_str_equals(ms_buf_view(&whole.text), ms_buf_view(&parts.text)));
    ms_buf_release(&whole.text);
    ms_buf_release(&parts.text);
}

#endif
