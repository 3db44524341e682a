/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of rows of single values, for accumulators, source positions and whatever else is kept
 * row by row outside batches. The bytes are those of rowcodec.c.
 */
/* tidy: no-unit-test: rowcodec_test.c checks both against each other */
#include "type/rowcodec.h"

#include "type/rowcodec_priv.h"

/* Encoding. */

static ms_rc encode_value(const msi_record_writer *w, const ms_value *value);

/* The bitmap and the values of count items, step apart. */
static ms_rc encode_items(const msi_record_writer *w, const ms_value *items, uint32_t count,
                          uint32_t step)
{
    size_t bitmap = 0;
    MS_TRY(msi_put_bitmap(w, count, &bitmap));
    for (uint32_t i = 0; i < count; i++) {
        const ms_value *item = &items[(size_t)i * step];
        if (item->is_null) {
            msi_mark_null(w, bitmap, i);
        } else {
            MS_TRY(encode_value(w, item));
        }
    }
    return MS_OK;
}

static ms_rc encode_list(const msi_record_writer *w, const ms_value *value)
{
    uint32_t width = msi_vec_child_count(value->type);
    uint32_t count = value->item_count / width;
    MS_TRY(msi_room(w, MSI_SCALAR_BYTES));
    msi_put_varint(w, count);
    for (uint32_t c = 0; c < width; c++) {
        /* An empty list may have no items to point into. */
        MS_TRY(encode_items(w, count > 0 ? value->u.items + c : NULL, count, width));
    }
    return MS_OK;
}

/* A value that is not NULL. */
static ms_rc encode_value(const msi_record_writer *w, const ms_value *value)
{
    MS_TRY(msi_room(w, MSI_SCALAR_BYTES));
    switch (value->type->phys) {
    case MS_PHYS_NONE:
        break;
    case MS_PHYS_BOOL:
    case MS_PHYS_I8:
        msi_put_u8(w, (uint8_t)value->u.i);
        break;
    case MS_PHYS_I16:
    case MS_PHYS_I32:
    case MS_PHYS_I64:
        msi_put_signed(w, value->u.i);
        break;
    case MS_PHYS_I128:
        msi_put_i128(w, value->u.dec);
        break;
    case MS_PHYS_F32:
        msi_put_f32(w, (float)value->u.f);
        break;
    case MS_PHYS_F64:
        msi_put_f64(w, value->u.f);
        break;
    case MS_PHYS_TS16:
        msi_put_ts(w, value->u.ts);
        break;
    case MS_PHYS_STR:
        return msi_put_bytes(w, value->u.str);
    case MS_PHYS_LIST:
        return encode_list(w, value);
    case MS_PHYS_ROW:
        return encode_items(w, value->u.items, value->item_count, 1);
    case MS_PHYS_COUNT:
        MS_UNREACHABLE();
    }
    return MS_OK;
}

ms_rc ms_rowcodec_encode_values(const ms_rowcodec *codec, const ms_value *values, ms_buf *buf,
                                ms_status *st)
{
    msi_record_writer w = {buf, st};
    size_t start = buf->bytes;
    ms_rc rc = encode_items(&w, values, codec->column_count, 1);
    if (rc != MS_OK) {
        buf->bytes = start;
    }
    return rc;
}

/* Decoding. */

static void decode_value(ms_codec_reader *reader, const ms_type *type, ms_arena *arena,
                         ms_value *value_out);

static void decode_list(ms_codec_reader *reader, const ms_type *type, ms_arena *arena,
                        ms_value *value)
{
    uint32_t count = msi_take_count(reader);
    uint32_t width = msi_vec_child_count(type);
    ms_value *items = ms_arena_array(arena, ms_value, (size_t)count * width);
    for (uint32_t c = 0; c < width; c++) {
        const ms_type *child = msi_vec_child_type(type, c);
        ms_str bitmap = msi_take_bitmap(reader, count);
        for (uint32_t i = 0; i < count; i++) {
            ms_value *item = &items[(size_t)i * width + c];
            if (msi_bitmap_is_null(bitmap, i)) {
                *item = ms_value_null(child);
            } else {
                decode_value(reader, child, arena, item);
            }
        }
    }
    value->item_count = count * width;
    value->u.items = items;
}

static void decode_fields(ms_codec_reader *reader, const ms_type *const *types, uint32_t count,
                          ms_arena *arena, ms_value *values_out)
{
    ms_str bitmap = msi_take_bitmap(reader, count);
    for (uint32_t i = 0; i < count; i++) {
        if (msi_bitmap_is_null(bitmap, i)) {
            values_out[i] = ms_value_null(types[i]);
        } else {
            decode_value(reader, types[i], arena, &values_out[i]);
        }
    }
}

static void decode_value(ms_codec_reader *reader, const ms_type *type, ms_arena *arena,
                         ms_value *value_out)
{
    ms_value value = {.type = type};
    switch (type->phys) {
    case MS_PHYS_NONE:
        value.is_null = true;
        break;
    case MS_PHYS_BOOL:
    case MS_PHYS_I8:
    case MS_PHYS_I16:
    case MS_PHYS_I32:
    case MS_PHYS_I64:
        value.u.i = msi_take_int(reader, type->phys);
        break;
    case MS_PHYS_I128:
        value.u.dec = msi_take_i128(reader);
        break;
    case MS_PHYS_F32:
        value.u.f = (double)msi_take_f32(reader);
        break;
    case MS_PHYS_F64:
        value.u.f = msi_take_f64(reader);
        break;
    case MS_PHYS_TS16:
        value.u.ts = msi_take_ts(reader);
        break;
    case MS_PHYS_STR:
        value.u.str = ms_codec_reader_str(reader);
        break;
    case MS_PHYS_LIST:
        decode_list(reader, type, arena, &value);
        break;
    case MS_PHYS_ROW: {
        ms_value *items = ms_arena_array(arena, ms_value, type->child_count);
        decode_fields(reader, type->children, type->child_count, arena, items);
        value.item_count = type->child_count;
        value.u.items = items;
        break;
    }
    case MS_PHYS_COUNT:
        MS_UNREACHABLE();
    }
    *value_out = value;
}

ms_rc ms_rowcodec_decode_values(const ms_rowcodec *codec, ms_str record, ms_arena *arena,
                                ms_value *values_out, ms_status *st)
{
    ms_codec_reader reader = ms_codec_reader_make(record);
    decode_fields(&reader, codec->types, codec->column_count, arena, values_out);
    return ms_codec_reader_finish(&reader, "a stored row", st);
}
