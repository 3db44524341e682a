/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Responses of MutateRows: entries with the index of a request's entry and its status, and at most
 * one piece of advice about the rate. A reader trusts bytes that ms_wire_check has passed.
 *
 *     MutateRowsResponse   1 entries  3 rate limit
 *     Entry                1 index  2 status (1 code  2 message)
 *     RateLimitInfo        1 period  2 factor
 */
#include "base/codec.h"
#include "bigtable/wire/mutate_rows.h"
#include "bigtable/wire/time.h"
#include "bigtable/wire/wire_priv.h"

#define FIELD_ENTRY 1u
#define FIELD_RATE_LIMIT 3u
#define MICROS_PER_SECOND 1000000
#define NANOS_PER_MICRO 1000

/* Encoding. */

ms_rc ms_wire_mutate_result_encode(const ms_wire_mutate_result *result, ms_buf *buf, ms_status *st)
{
    size_t status =
        msi_wire_plain_int_size(result->code) + msi_wire_plain_bytes_size(result->message.bytes);
    size_t entry = msi_wire_plain_int_size(result->index) + msi_wire_bytes_size(status);
    MS_TRY(ms_buf_reserve(buf, msi_wire_bytes_size(entry) + MSI_WIRE_SLACK, st));
    char *at = msi_wire_put_head(buf->ptr + buf->bytes, FIELD_ENTRY, entry);
    at = msi_wire_put_plain_int(at, 1, result->index);
    at = msi_wire_put_head(at, 2, status);
    at = msi_wire_put_plain_int(at, 1, result->code);
    at = msi_wire_put_plain_bytes(at, 2, result->message);
    buf->bytes = (size_t)(at - buf->ptr);
    return MS_OK;
}

ms_rc ms_wire_rate_limit_encode(int64_t period_micros, double factor, ms_buf *buf, ms_status *st)
{
    int64_t seconds = period_micros / MICROS_PER_SECOND;
    int64_t nanos = period_micros % MICROS_PER_SECOND * NANOS_PER_MICRO;
    size_t period = msi_wire_plain_int_size(seconds) + msi_wire_plain_int_size(nanos);
    uint64_t bits;
    memcpy(&bits, &factor, sizeof(bits));
    size_t limit = msi_wire_bytes_size(period) + (bits == 0 ? 0 : 1 + sizeof(bits));
    MS_TRY(ms_buf_reserve(buf, msi_wire_bytes_size(limit) + MSI_WIRE_SLACK, st));
    char *at = msi_wire_put_head(buf->ptr + buf->bytes, FIELD_RATE_LIMIT, limit);
    at = msi_wire_put_head(at, 1, period);
    at = msi_wire_put_plain_int(at, 1, seconds);
    at = msi_wire_put_plain_int(at, 2, nanos);
    if (bits != 0) {
        *at++ = (char)MSI_WIRE_TAG(2, MSI_WIRE_FIXED64);
        ms_codec_store_u64(at, bits);
        at += sizeof(bits);
    }
    buf->bytes = (size_t)(at - buf->ptr);
    return MS_OK;
}

/* Decoding. */

ms_bt_code ms_wire_mutate_reader_make(ms_str bytes, const ms_wire_limits *limits,
                                      ms_wire_mutate_reader *reader_out, ms_bt_status *bt)
{
    *reader_out = (ms_wire_mutate_reader){0};
    MS_BT_TRY(ms_wire_check(ms_pb_mutate_rows_response_class(), bytes, limits, bt));
    reader_out->at = bytes.ptr;
    reader_out->end = msi_wire_end(bytes);
    return MS_BT_OK;
}

/* One field of checked bytes: its number; its contents, or its value. */
typedef struct field {
    uint32_t number;
    uint64_t value;
    ms_str bytes;
} field;

static const char *next_field(const char *at, const char *end, field *field_out)
{
    uint32_t tag = 0;
    *field_out = (field){0};
    at = msi_wire_get_tag(at, end, &tag);
    field_out->number = tag >> 3;
    switch (tag & 7) {
    case MSI_WIRE_BYTES:
        return msi_wire_get_bytes(at, end, &field_out->bytes);
    case MSI_WIRE_VARINT:
        return msi_wire_get_varint(at, end, &field_out->value);
    case MSI_WIRE_FIXED64:
        field_out->value = ms_codec_load_u64(at);
        return at + sizeof(uint64_t);
    default:
        return at + sizeof(uint32_t);
    }
}

static void take_status(ms_str bytes, ms_wire_mutate_result *result)
{
    const char *at = bytes.ptr;
    const char *end = msi_wire_end(bytes);
    while (at != end) {
        field f;
        at = next_field(at, end, &f);
        if (f.number == 1) {
            result->code = (int32_t)(uint32_t)f.value;
        } else if (f.number == 2) {
            result->message = f.bytes;
        }
    }
}

static void take_entry(ms_str bytes, ms_wire_mutate_result *result)
{
    const char *at = bytes.ptr;
    const char *end = msi_wire_end(bytes);
    *result = (ms_wire_mutate_result){0};
    while (at != end) {
        field f;
        at = next_field(at, end, &f);
        if (f.number == 1) {
            /* No request has so many entries. */
            result->index = f.value > UINT32_MAX ? UINT32_MAX : (uint32_t)f.value;
        } else if (f.number == 2) {
            take_status(f.bytes, result);
        }
    }
}

static int64_t take_period(ms_str bytes)
{
    ms_pb_duration period = GOOGLE__PROTOBUF__DURATION__INIT;
    const char *at = bytes.ptr;
    const char *end = msi_wire_end(bytes);
    while (at != end) {
        field f;
        at = next_field(at, end, &f);
        if (f.number == 1) {
            period.seconds = (int64_t)f.value;
        } else if (f.number == 2) {
            period.nanos = (int32_t)(uint32_t)f.value;
        }
    }
    return ms_wire_duration_micros(&period);
}

static void take_rate_limit(ms_str bytes, ms_wire_mutate_reader *reader)
{
    const char *at = bytes.ptr;
    const char *end = msi_wire_end(bytes);
    reader->has_rate_limit = true;
    while (at != end) {
        field f;
        at = next_field(at, end, &f);
        if (f.number == 1) {
            reader->rate_period_micros = take_period(f.bytes);
        } else if (f.number == 2) {
            memcpy(&reader->rate_factor, &f.value, sizeof(reader->rate_factor));
        }
    }
}

bool ms_wire_mutate_reader_next(ms_wire_mutate_reader *reader, ms_wire_mutate_result *result_out)
{
    while (reader->at != reader->end) {
        field f;
        reader->at = next_field(reader->at, reader->end, &f);
        if (f.number == FIELD_ENTRY) {
            take_entry(f.bytes, result_out);
            return true;
        }
        if (f.number == FIELD_RATE_LIMIT) {
            take_rate_limit(f.bytes, reader);
        }
    }
    return false;
}
