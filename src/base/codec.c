/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writers append through the buffer's own bounds; readers check every step against their end and
 * remember the first failure.
 */
#include "base/codec.h"

size_t ms_codec_store_varint(uint64_t value, char *text_out)
{
    size_t bytes = 0;
    while (value >= 0x80) {
        text_out[bytes++] = (char)(value | 0x80);
        value >>= 7;
    }
    text_out[bytes++] = (char)value;
    return bytes;
}

ms_rc ms_codec_put_u8(ms_buf *buf, uint8_t value, ms_status *st)
{
    return ms_buf_append_byte(buf, (char)value, st);
}

ms_rc ms_codec_put_u16(ms_buf *buf, uint16_t value, ms_status *st)
{
    char bytes[2];
    ms_codec_store_u16(bytes, value);
    return ms_buf_append(buf, ms_str_make(bytes, sizeof(bytes)), st);
}

ms_rc ms_codec_put_u32(ms_buf *buf, uint32_t value, ms_status *st)
{
    char bytes[4];
    ms_codec_store_u32(bytes, value);
    return ms_buf_append(buf, ms_str_make(bytes, sizeof(bytes)), st);
}

ms_rc ms_codec_put_u64(ms_buf *buf, uint64_t value, ms_status *st)
{
    char bytes[8];
    ms_codec_store_u64(bytes, value);
    return ms_buf_append(buf, ms_str_make(bytes, sizeof(bytes)), st);
}

ms_rc ms_codec_put_varint(ms_buf *buf, uint64_t value, ms_status *st)
{
    char bytes[MS_CODEC_VARINT_BYTES];
    return ms_buf_append(buf, ms_str_make(bytes, ms_codec_store_varint(value, bytes)), st);
}

ms_rc ms_codec_put_signed(ms_buf *buf, int64_t value, ms_status *st)
{
    uint64_t sign = value < 0 ? UINT64_MAX : 0;
    return ms_codec_put_varint(buf, ((uint64_t)value << 1) ^ sign, st);
}

ms_rc ms_codec_put_str(ms_buf *buf, ms_str text, ms_status *st)
{
    char length[MS_CODEC_VARINT_BYTES];
    size_t length_bytes = ms_codec_store_varint(text.bytes, length);
    size_t total_bytes = 0;
    if (__builtin_add_overflow(text.bytes, length_bytes, &total_bytes)) {
        return ms_status_set(st, MS_LIMIT, ms_span_none, "a text of %zu bytes is too long",
                             text.bytes);
    }
    /* Both or nothing: room for the length and the text is made first. */
    MS_TRY(ms_buf_reserve(buf, total_bytes, st));
    MS_TRY(ms_buf_append(buf, ms_str_make(length, length_bytes), st));
    return ms_buf_append(buf, text, st);
}

/* Advances by bytes and returns where they start; NULL, and a failed reader, when they are not
 * there. */
static const char *take(ms_codec_reader *reader, size_t bytes)
{
    if (reader->failed || bytes > reader->bytes - reader->at) {
        reader->failed = true;
        return NULL;
    }
    const char *start = reader->start + reader->at;
    reader->at += bytes;
    return start;
}

uint8_t ms_codec_reader_u8(ms_codec_reader *reader)
{
    const char *at = take(reader, 1);
    return at == NULL ? 0 : (uint8_t)*at;
}

uint16_t ms_codec_reader_u16(ms_codec_reader *reader)
{
    const char *at = take(reader, 2);
    return at == NULL ? 0 : ms_codec_load_u16(at);
}

uint32_t ms_codec_reader_u32(ms_codec_reader *reader)
{
    const char *at = take(reader, 4);
    return at == NULL ? 0 : ms_codec_load_u32(at);
}

uint64_t ms_codec_reader_u64(ms_codec_reader *reader)
{
    const char *at = take(reader, 8);
    return at == NULL ? 0 : ms_codec_load_u64(at);
}

uint64_t ms_codec_reader_varint(ms_codec_reader *reader)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint8_t byte = ms_codec_reader_u8(reader);
        /* The tenth byte has room for one bit; more would be lost. */
        if (shift == 63 && byte > 1) {
            break;
        }
        value |= (uint64_t)(byte & 0x7F) << shift;
        if ((byte & 0x80) == 0) {
            return reader->failed ? 0 : value;
        }
    }
    reader->failed = true;
    return 0;
}

int64_t ms_codec_reader_signed(ms_codec_reader *reader)
{
    uint64_t coded = ms_codec_reader_varint(reader);
    return (int64_t)((coded >> 1) ^ (0 - (coded & 1)));
}

ms_str ms_codec_reader_bytes(ms_codec_reader *reader, size_t bytes)
{
    if (bytes == 0) {
        return (ms_str){0};
    }
    const char *at = take(reader, bytes);
    return at == NULL ? (ms_str){0} : ms_str_make(at, bytes);
}

ms_str ms_codec_reader_str(ms_codec_reader *reader)
{
    uint64_t bytes = ms_codec_reader_varint(reader);
    return ms_codec_reader_bytes(reader, bytes);
}

size_t ms_codec_reader_count(ms_codec_reader *reader, size_t element_bytes_min)
{
    MS_ASSERT(element_bytes_min != 0);
    uint64_t count = ms_codec_reader_varint(reader);
    if (count > ms_codec_reader_left_bytes(reader) / element_bytes_min) {
        reader->failed = true;
        return 0;
    }
    return count;
}

ms_rc ms_codec_reader_check(const ms_codec_reader *reader, const char *what, ms_status *st)
{
    if (!reader->failed) {
        return MS_OK;
    }
    ms_status_set(st, MS_CORRUPT_DATA, ms_span_none, "%s cannot be read", what);
    return ms_status_detail(st, "damaged or cut short at byte %zu of %zu", reader->at,
                            reader->bytes);
}

ms_rc ms_codec_reader_finish(const ms_codec_reader *reader, const char *what, ms_status *st)
{
    MS_TRY(ms_codec_reader_check(reader, what, st));
    if (ms_codec_reader_left_bytes(reader) == 0) {
        return MS_OK;
    }
    ms_status_set(st, MS_CORRUPT_DATA, ms_span_none, "%s cannot be read", what);
    return ms_status_detail(st, "%zu bytes are left behind its end",
                            ms_codec_reader_left_bytes(reader));
}
