/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of the row codec and the descriptors of schemas. The input is the length of a
 * descriptor in one byte, the descriptor, and a record. Whatever is accepted must print the same
 * record again, from values and from a batch alike.
 */
#include "base/memory.h"
#include "type/rowcodec.h"

/* A record is printed in at most a few times its own length. */
#define BUF_BYTES (16u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Decodes a record into values and prints these; what was accepted once is accepted again. */
static void print_values(const ms_rowcodec *codec, ms_str record, ms_value *values, ms_buf *out,
                         ms_arena *arena)
{
    ms_status st = {0};
    ms_buf_reset(out);
    MS_ASSERT(ms_rowcodec_decode_values(codec, record, arena, values, &st) == MS_OK);
    MS_ASSERT(ms_rowcodec_encode_values(codec, values, out, &st) == MS_OK);
}

static void check_accepted(const ms_rowcodec *codec, ms_str record, const ms_batch *batch,
                           ms_value *values, ms_arena *arena)
{
    ms_status st = {0};
    ms_buf first;
    ms_buf second;
    ms_buf_init(&first, BUF_BYTES);
    ms_buf_init(&second, BUF_BYTES);
    print_values(codec, record, values, &first, arena);
    print_values(codec, ms_buf_view(&first), values, &second, arena);
    MS_ASSERT(ms_str_equals(ms_buf_view(&first), ms_buf_view(&second)));
    /* From the batch, and once through values, which make signaling NaNs quiet. */
    ms_buf third;
    ms_buf_init(&third, BUF_BYTES);
    MS_ASSERT(ms_rowcodec_encode(codec, batch, 0, &third, &st) == MS_OK);
    print_values(codec, ms_buf_view(&third), values, &second, arena);
    MS_ASSERT(ms_str_equals(ms_buf_view(&first), ms_buf_view(&second)));
    ms_buf_release(&first);
    ms_buf_release(&second);
    ms_buf_release(&third);
}

static void check_record(const ms_rowcodec *codec, const ms_schema *schema, ms_str record,
                         ms_arena *arena)
{
    ms_status st = {0};
    ms_status st_batch = {0};
    ms_value *values = ms_arena_array(arena, ms_value, schema->column_count);
    ms_batch_pool *pool = ms_batch_pool_create(schema, 2, 1);
    ms_batch *batch = ms_batch_pool_take(pool);
    ms_rc rc = ms_rowcodec_decode_values(codec, record, arena, values, &st);
    MS_ASSERT(ms_rowcodec_decode(codec, record, batch, &st_batch) == rc);
    MS_ASSERT(batch->rows == (rc == MS_OK ? 1u : 0u));
    if (rc == MS_OK) {
        check_accepted(codec, record, batch, values, arena);
    }
    ms_batch_drop(batch);
    ms_batch_pool_destroy(pool);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (bytes == 0) {
        return 0;
    }
    ms_str input = ms_str_make((const char *)data + 1, bytes - 1);
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_schema schema;
    ms_status st = {0};
    if (ms_schema_decode(ms_str_slice(input, 0, data[0]), &arena, &schema, &st) == MS_OK) {
        const ms_rowcodec *codec = ms_rowcodec_make(&arena, &schema);
        check_record(codec, &schema, ms_str_slice(input, data[0], input.bytes), &arena);
    }
    ms_arena_release(&arena);
    return 0;
}
