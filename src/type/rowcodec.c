/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of rows of batches, and the parts of records. Encoding walks the columns once and writes
 * each value where it stands; decoding appends to a pooled batch and takes the row back when the
 * bytes turn out to be none.
 */
#include "type/rowcodec.h"

#include "type/rowcodec_priv.h"

/* Making. */

ms_rowcodec *ms_rowcodec_make_subset(ms_arena *arena, const ms_schema *schema,
                                     const uint32_t *columns, uint32_t column_count)
{
    ms_rowcodec *codec = ms_arena_new(arena, ms_rowcodec);
    uint32_t *copy = ms_arena_array(arena, uint32_t, column_count);
    codec->types = ms_arena_array(arena, const ms_type *, column_count);
    for (uint32_t i = 0; i < column_count; i++) {
        MS_ASSERT(columns[i] < schema->column_count);
        copy[i] = columns[i];
        codec->types[i] = schema->columns[columns[i]].type;
    }
    codec->columns = copy;
    codec->column_count = column_count;
    return codec;
}

ms_rowcodec *ms_rowcodec_make(ms_arena *arena, const ms_schema *schema)
{
    uint32_t *all = ms_arena_array(arena, uint32_t, schema->column_count);
    for (uint32_t i = 0; i < schema->column_count; i++) {
        all[i] = i;
    }
    return ms_rowcodec_make_subset(arena, schema, all, schema->column_count);
}

/* Parts of records. */

void msi_put_i128(const msi_record_writer *w, ms_i128 value)
{
    __extension__ typedef unsigned __int128 u128;
    u128 coded = ((u128)value << 1) ^ (value < 0 ? ~(u128)0 : 0);
    while (coded >= 0x80) {
        msi_put_u8(w, (uint8_t)(coded | 0x80));
        coded >>= 7;
    }
    msi_put_u8(w, (uint8_t)coded);
}

ms_rc msi_put_bytes(const msi_record_writer *w, ms_str bytes)
{
    MS_TRY(msi_room(w, MSI_SCALAR_BYTES));
    msi_put_varint(w, bytes.bytes);
    return ms_buf_append(w->buf, bytes, w->st);
}

ms_rc msi_put_bitmap(const msi_record_writer *w, uint32_t count, size_t *start_out)
{
    size_t bytes = ((size_t)count + 7) / 8;
    MS_TRY(msi_room(w, bytes));
    *start_out = w->buf->bytes;
    if (bytes > 0) {
        memset(w->buf->ptr + w->buf->bytes, 0, bytes);
    }
    w->buf->bytes += bytes;
    return MS_OK;
}

static void fail(ms_codec_reader *reader)
{
    /* Reading beyond the end is how a reader fails. */
    (void)ms_codec_reader_bytes(reader, SIZE_MAX);
}

uint32_t msi_take_count(ms_codec_reader *reader)
{
    uint64_t count = ms_codec_reader_varint(reader);
    if (count / 8 > ms_codec_reader_left_bytes(reader) || count > UINT32_MAX / 4) {
        fail(reader);
        return 0;
    }
    return (uint32_t)count;
}

int64_t msi_take_int(ms_codec_reader *reader, ms_phys phys)
{
    int64_t value = phys == MS_PHYS_BOOL || phys == MS_PHYS_I8 ? (int8_t)ms_codec_reader_u8(reader)
                                                               : ms_codec_reader_signed(reader);
    bool fits = phys == MS_PHYS_BOOL  ? value == 0 || value == 1
                : phys == MS_PHYS_I16 ? value == (int16_t)value
                : phys == MS_PHYS_I32 ? value == (int32_t)value
                                      : true;
    if (!fits) {
        fail(reader);
        return 0;
    }
    return value;
}

ms_i128 msi_take_i128(ms_codec_reader *reader)
{
    __extension__ typedef unsigned __int128 u128;
    u128 coded = 0;
    for (unsigned shift = 0; shift < 128; shift += 7) {
        uint8_t byte = ms_codec_reader_u8(reader);
        if (shift == 126 && byte > 3) {
            break; /* the nineteenth byte has room for two bits */
        }
        coded |= (u128)(byte & 0x7Fu) << shift;
        if ((byte & 0x80u) == 0) {
            return (ms_i128)((coded >> 1) ^ (0 - (coded & 1)));
        }
    }
    fail(reader);
    return 0;
}

float msi_take_f32(ms_codec_reader *reader)
{
    uint32_t bits = ms_codec_reader_u32(reader);
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

double msi_take_f64(ms_codec_reader *reader)
{
    uint64_t bits = ms_codec_reader_u64(reader);
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

ms_ts16 msi_take_ts(ms_codec_reader *reader)
{
    int64_t ms = ms_codec_reader_signed(reader);
    uint64_t ns = ms_codec_reader_varint(reader);
    if (ns > 999999) {
        fail(reader);
        return (ms_ts16){0, 0};
    }
    return (ms_ts16){ms, (int32_t)ns};
}

/* Encoding. */

static ms_rc encode_at(const msi_record_writer *w, const ms_vec *vec, uint32_t pos);

/* An untyped NULL is one whatever its bitmap says. */
static bool is_null_at(const ms_vec *vec, uint32_t row)
{
    return vec->phys == MS_PHYS_NONE || ms_vec_is_null(vec, row);
}

/* The bitmap and the values of rows [first, first + count) of a vector. */
static ms_rc encode_range(const msi_record_writer *w, const ms_vec *vec, uint32_t first,
                          uint32_t count)
{
    size_t bitmap = 0;
    MS_TRY(msi_put_bitmap(w, count, &bitmap));
    for (uint32_t i = 0; i < count; i++) {
        if (is_null_at(vec, first + i)) {
            msi_mark_null(w, bitmap, i);
        } else {
            MS_TRY(encode_at(w, vec, ms_vec_pos(vec, first + i)));
        }
    }
    return MS_OK;
}

static ms_rc encode_list(const msi_record_writer *w, const ms_vec *vec, ms_list list)
{
    MS_TRY(msi_room(w, MSI_SCALAR_BYTES));
    msi_put_varint(w, list.length);
    for (uint32_t c = 0; c < vec->child_count; c++) {
        MS_TRY(encode_range(w, &vec->children[c], list.offset, list.length));
    }
    return MS_OK;
}

static ms_rc encode_fields(const msi_record_writer *w, const ms_vec *vec, uint32_t pos)
{
    size_t bitmap = 0;
    MS_TRY(msi_put_bitmap(w, vec->child_count, &bitmap));
    for (uint32_t c = 0; c < vec->child_count; c++) {
        const ms_vec *field = &vec->children[c];
        if (is_null_at(field, pos)) {
            msi_mark_null(w, bitmap, c);
        } else {
            MS_TRY(encode_at(w, field, ms_vec_pos(field, pos)));
        }
    }
    return MS_OK;
}

/* The value at a position in data; it is not NULL. */
static ms_rc encode_at(const msi_record_writer *w, const ms_vec *vec, uint32_t pos)
{
    MS_TRY(msi_room(w, MSI_SCALAR_BYTES));
    switch (vec->phys) {
    case MS_PHYS_NONE:
        break;
    case MS_PHYS_BOOL:
    case MS_PHYS_I8:
        msi_put_u8(w, MS_VEC_DATA(vec, const uint8_t)[pos]);
        break;
    case MS_PHYS_I16:
        msi_put_signed(w, MS_VEC_DATA(vec, const int16_t)[pos]);
        break;
    case MS_PHYS_I32:
        msi_put_signed(w, MS_VEC_DATA(vec, const int32_t)[pos]);
        break;
    case MS_PHYS_I64:
        msi_put_signed(w, MS_VEC_DATA(vec, const int64_t)[pos]);
        break;
    case MS_PHYS_I128:
        msi_put_i128(w, MS_VEC_DATA(vec, const ms_i128)[pos]);
        break;
    case MS_PHYS_F32:
        msi_put_f32(w, MS_VEC_DATA(vec, const float)[pos]);
        break;
    case MS_PHYS_F64:
        msi_put_f64(w, MS_VEC_DATA(vec, const double)[pos]);
        break;
    case MS_PHYS_TS16:
        msi_put_ts(w, MS_VEC_DATA(vec, const ms_ts16)[pos]);
        break;
    case MS_PHYS_STR:
        return msi_put_bytes(w, ms_view_str(&MS_VEC_DATA(vec, const ms_view)[pos]));
    case MS_PHYS_LIST:
        return encode_list(w, vec, MS_VEC_DATA(vec, const ms_list)[pos]);
    case MS_PHYS_ROW:
        return encode_fields(w, vec, pos);
    case MS_PHYS_COUNT:
        MS_UNREACHABLE();
    }
    return MS_OK;
}

ms_rc ms_rowcodec_encode(const ms_rowcodec *codec, const ms_batch *batch, uint32_t row, ms_buf *buf,
                         ms_status *st)
{
    msi_record_writer w = {buf, st};
    size_t start = buf->bytes;
    size_t bitmap = 0;
    ms_rc rc = msi_put_bitmap(&w, codec->column_count, &bitmap);
    for (uint32_t i = 0; i < codec->column_count && rc == MS_OK; i++) {
        const ms_vec *vec = &batch->columns[codec->columns[i]];
        MS_ASSERT_SLOW(vec->phys == codec->types[i]->phys);
        if (is_null_at(vec, row)) {
            msi_mark_null(&w, bitmap, i);
        } else {
            rc = encode_at(&w, vec, ms_vec_pos(vec, row));
        }
    }
    if (rc != MS_OK) {
        buf->bytes = start;
    }
    return rc;
}

/* Decoding. */

static void decode_at(ms_codec_reader *reader, ms_vec *vec, uint32_t row, ms_heap *heap);

/* Reads a value, or writes the NULL that the bitmap says. */
static void decode_or_null(ms_codec_reader *reader, ms_str bitmap, uint32_t i, ms_vec *vec,
                           uint32_t row, ms_heap *heap)
{
    if (msi_bitmap_is_null(bitmap, i)) {
        msi_vec_set_nulls(vec, row, 1);
        return;
    }
    if (vec->valid != NULL) {
        ms_bit_set(vec->valid, row);
    }
    decode_at(reader, vec, row, heap);
}

static ms_list decode_list(ms_codec_reader *reader, ms_vec *vec, ms_heap *heap)
{
    uint32_t count = msi_take_count(reader);
    if (count > UINT32_MAX / 4 - vec->child_rows) {
        fail(reader);
        count = 0;
    }
    uint32_t first = ms_vec_list_reserve(vec, count, NULL);
    for (uint32_t c = 0; c < vec->child_count; c++) {
        ms_str bitmap = msi_take_bitmap(reader, count);
        for (uint32_t i = 0; i < count; i++) {
            decode_or_null(reader, bitmap, i, &vec->children[c], first + i, heap);
        }
    }
    return (ms_list){first, count};
}

static ms_view decode_string(ms_codec_reader *reader, ms_heap *heap)
{
    ms_str text = ms_codec_reader_str(reader);
    if (text.bytes > UINT32_MAX) {
        fail(reader);
        text = (ms_str){0};
    }
    if (text.bytes > MS_VIEW_INLINE) {
        char *copy = ms_heap_alloc(heap, text.bytes);
        memcpy(copy, text.ptr, text.bytes);
        text.ptr = copy;
    }
    return ms_view_make(text.ptr, (uint32_t)text.bytes);
}

static void decode_at(ms_codec_reader *reader, ms_vec *vec, uint32_t row, ms_heap *heap)
{
    switch (vec->phys) {
    case MS_PHYS_NONE:
        msi_vec_set_nulls(vec, row, 1);
        break;
    case MS_PHYS_BOOL:
    case MS_PHYS_I8:
        MS_VEC_DATA(vec, int8_t)[row] = (int8_t)msi_take_int(reader, vec->phys);
        break;
    case MS_PHYS_I16:
        MS_VEC_DATA(vec, int16_t)[row] = (int16_t)msi_take_int(reader, vec->phys);
        break;
    case MS_PHYS_I32:
        MS_VEC_DATA(vec, int32_t)[row] = (int32_t)msi_take_int(reader, vec->phys);
        break;
    case MS_PHYS_I64:
        MS_VEC_DATA(vec, int64_t)[row] = msi_take_int(reader, vec->phys);
        break;
    case MS_PHYS_I128:
        MS_VEC_DATA(vec, ms_i128)[row] = msi_take_i128(reader);
        break;
    case MS_PHYS_F32:
        MS_VEC_DATA(vec, float)[row] = msi_take_f32(reader);
        break;
    case MS_PHYS_F64:
        MS_VEC_DATA(vec, double)[row] = msi_take_f64(reader);
        break;
    case MS_PHYS_TS16:
        MS_VEC_DATA(vec, ms_ts16)[row] = msi_take_ts(reader);
        break;
    case MS_PHYS_STR:
        MS_VEC_DATA(vec, ms_view)[row] = decode_string(reader, heap);
        break;
    case MS_PHYS_LIST:
        MS_VEC_DATA(vec, ms_list)[row] = decode_list(reader, vec, heap);
        break;
    case MS_PHYS_ROW: {
        ms_str bitmap = msi_take_bitmap(reader, vec->child_count);
        for (uint32_t c = 0; c < vec->child_count; c++) {
            decode_or_null(reader, bitmap, c, &vec->children[c], row, heap);
        }
        break;
    }
    case MS_PHYS_COUNT:
        MS_UNREACHABLE();
    }
}

/* Columns that the codec does not have become NULL. */
static void fill_missing(const ms_rowcodec *codec, ms_batch *batch)
{
    for (uint32_t c = 0; c < batch->column_count; c++) {
        bool found = false;
        for (uint32_t i = 0; i < codec->column_count && !found; i++) {
            found = codec->columns[i] == c;
        }
        if (!found) {
            msi_vec_set_nulls(&batch->columns[c], batch->rows, 1);
        }
    }
}

ms_rc ms_rowcodec_decode(const ms_rowcodec *codec, ms_str record, ms_batch *batch, ms_status *st)
{
    MS_ASSERT(batch->pool != NULL && batch->rows < batch->capacity);
    ms_codec_reader reader = ms_codec_reader_make(record);
    ms_str bitmap = msi_take_bitmap(&reader, codec->column_count);
    for (uint32_t i = 0; i < codec->column_count; i++) {
        ms_vec *vec = &batch->columns[codec->columns[i]];
        MS_ASSERT_SLOW(vec->phys == codec->types[i]->phys);
        decode_or_null(&reader, bitmap, i, vec, batch->rows, batch->heaps[0]);
    }
    if (codec->column_count < batch->column_count) {
        fill_missing(codec, batch);
    }
    ms_rc rc = ms_codec_reader_finish(&reader, "a stored row", st);
    if (rc != MS_OK) {
        for (uint32_t c = 0; c < batch->column_count; c++) {
            msi_vec_truncate(&batch->columns[c], batch->rows);
        }
        return rc;
    }
    if (batch->kinds != NULL) {
        batch->kind_store[batch->rows] = MS_ROW_INSERT;
    }
    batch->rows++;
    return MS_OK;
}
