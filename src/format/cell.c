/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text of cells into columns, by csv's rules: numbers are trimmed, DECIMAL and dates are not,
 * BOOLEAN never fails.
 */
#include "format/format_priv.h"

void msi_cell_null(ms_vec *vec, uint32_t row)
{
    ms_bit_clear(ms_vec_validity(vec), row);
}

ms_str msi_cell_trim(ms_str text)
{
    size_t start = 0;
    size_t end = text.bytes;
    while (start < end && (unsigned char)text.ptr[start] <= ' ') {
        start++;
    }
    while (start < end && (unsigned char)text.ptr[end - 1] <= ' ') {
        end--;
    }
    return ms_str_slice(text, start, end);
}

static bool cell_bool(ms_str text, ms_vec *vec, ms_batch *batch, uint32_t row)
{
    (void)batch;
    MS_VEC_DATA(vec, uint8_t)
    [row] = ms_str_equals_nocase(msi_cell_trim(text), ms_str_lit("true"));
    return true;
}

static bool cell_integer(ms_str text, ms_vec *vec, ms_batch *batch, uint32_t row)
{
    (void)batch;
    int64_t value = 0;
    if (!ms_text_parse_i64(msi_cell_trim(text), &value)) {
        return false;
    }
    if (vec->phys == MS_PHYS_I8) {
        MS_VEC_DATA(vec, int8_t)[row] = (int8_t)value;
        return value == (int8_t)value;
    }
    if (vec->phys == MS_PHYS_I16) {
        MS_VEC_DATA(vec, int16_t)[row] = (int16_t)value;
        return value == (int16_t)value;
    }
    if (vec->phys == MS_PHYS_I32) {
        MS_VEC_DATA(vec, int32_t)[row] = (int32_t)value;
        return value == (int32_t)value;
    }
    MS_VEC_DATA(vec, int64_t)[row] = value;
    return true;
}

static bool cell_float(ms_str text, ms_vec *vec, ms_batch *batch, uint32_t row)
{
    (void)batch;
    return ms_text_parse_f32(msi_cell_trim(text), &MS_VEC_DATA(vec, float)[row]);
}

static bool cell_double(ms_str text, ms_vec *vec, ms_batch *batch, uint32_t row)
{
    (void)batch;
    return ms_text_parse_f64(msi_cell_trim(text), &MS_VEC_DATA(vec, double)[row]);
}

static bool cell_decimal(ms_str text, ms_vec *vec, ms_batch *batch, uint32_t row)
{
    (void)batch;
    const ms_type *type = vec->type;
    ms_i128 unscaled = 0;
    ms_text_result result = ms_text_parse_decimal(text, type->precision, type->scale, &unscaled);
    if (result == MS_TEXT_RANGE) {
        msi_cell_null(vec, row); /* as Flink: more digits than the precision is NULL */
        return true;
    }
    if (vec->phys == MS_PHYS_I64) {
        MS_VEC_DATA(vec, int64_t)[row] = (int64_t)unscaled;
    } else {
        MS_VEC_DATA(vec, ms_i128)[row] = unscaled;
    }
    return result == MS_TEXT_OK;
}

static bool cell_string(ms_str text, ms_vec *vec, ms_batch *batch, uint32_t row)
{
    MS_VEC_DATA(vec, ms_view)[row] = ms_batch_put_str(batch, text);
    return true;
}

bool msi_cell_base64(ms_str text, ms_vec *vec, ms_batch *batch, uint32_t row)
{
    size_t room = text.bytes / 4 * 3 + 3;
    char *out = ms_heap_alloc(batch->heaps[0], room);
    size_t bytes = 0;
    if (!ms_text_base64_decode_loose(text, out, &bytes)) {
        return false;
    }
    MS_VEC_DATA(vec, ms_view)[row] = ms_view_make(out, (uint32_t)bytes);
    return true;
}

static bool cell_date(ms_str text, ms_vec *vec, ms_batch *batch, uint32_t row)
{
    (void)batch;
    int32_t *days = &MS_VEC_DATA(vec, int32_t)[row];
    return ms_text_parse_date(text, days) || ms_text_parse_short_date(text, days);
}

static bool cell_timestamp(ms_str text, ms_vec *vec, ms_batch *batch, uint32_t row)
{
    (void)batch;
    return ms_text_parse_timestamp_us(msi_cell_trim(text), MS_TEXT_SQL, vec->type->precision,
                                      &MS_VEC_DATA(vec, int64_t)[row]);
}

static bool cell_timestamp_ltz(ms_str text, ms_vec *vec, ms_batch *batch, uint32_t row)
{
    (void)batch;
    return ms_text_parse_timestamp_us(msi_cell_trim(text), MS_TEXT_SQL_Z, vec->type->precision,
                                      &MS_VEC_DATA(vec, int64_t)[row]);
}

msi_cell_fn msi_csv_cell(const ms_type *type)
{
    static const msi_cell_fn cells[MS_TYPE_KIND_COUNT] = {
        [MS_TYPE_BOOLEAN] = cell_bool,
        [MS_TYPE_TINYINT] = cell_integer,
        [MS_TYPE_SMALLINT] = cell_integer,
        [MS_TYPE_INT] = cell_integer,
        [MS_TYPE_BIGINT] = cell_integer,
        [MS_TYPE_FLOAT] = cell_float,
        [MS_TYPE_DOUBLE] = cell_double,
        [MS_TYPE_DECIMAL] = cell_decimal,
        [MS_TYPE_CHAR] = cell_string,
        [MS_TYPE_VARCHAR] = cell_string,
        [MS_TYPE_BINARY] = msi_cell_base64,
        [MS_TYPE_VARBINARY] = msi_cell_base64,
        [MS_TYPE_DATE] = cell_date,
        [MS_TYPE_TIMESTAMP] = cell_timestamp,
        [MS_TYPE_TIMESTAMP_LTZ] = cell_timestamp_ltz,
    };
    bool is_wide = ms_type_is_timestamp(type) && type->phys != MS_PHYS_I64;
    return is_wide ? NULL : cells[type->kind];
}

/* Printing. */

ms_rc msi_append_decimal(ms_buf *out, const ms_vec *vec, uint32_t pos, bool plain, ms_status *st)
{
    ms_i128 unscaled =
        vec->phys == MS_PHYS_I64 ? MS_VEC_DATA(vec, int64_t)[pos] : MS_VEC_DATA(vec, ms_i128)[pos];
    MS_TRY(ms_buf_reserve(out, MS_TEXT_DECIMAL_BYTES, st));
    out->bytes +=
        ms_text_decimal_stripped(out->ptr + out->bytes, unscaled, vec->type->scale, plain);
    return MS_OK;
}

ms_rc msi_append_temporal(ms_buf *out, const ms_vec *vec, uint32_t pos, char separator,
                          ms_status *st)
{
    MS_TRY(ms_buf_reserve(out, MS_TEXT_TIMESTAMP_BYTES + 1, st));
    char *at = out->ptr + out->bytes;
    if (vec->type->kind == MS_TYPE_DATE) {
        out->bytes += ms_text_date(at, MS_VEC_DATA(vec, int32_t)[pos]);
        return MS_OK;
    }
    size_t bytes = ms_text_timestamp_us(at, MS_VEC_DATA(vec, int64_t)[pos], vec->type->precision,
                                        MS_TEXT_FEWEST, separator);
    if (vec->type->kind == MS_TYPE_TIMESTAMP_LTZ) {
        at[bytes++] = 'Z';
    }
    out->bytes += bytes;
    return MS_OK;
}
