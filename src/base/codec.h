/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes of files and messages: fixed-width little-endian integers, variable-length integers, texts
 * with their length in front, and the CRC that guards them. What the bytes mean (magic, version,
 * schema) is the business of the format that uses them.
 *
 *     MS_TRY(ms_codec_put_u32(&buf, version, st));
 *     MS_TRY(ms_codec_put_str(&buf, name, st));
 *
 *     ms_codec_reader reader = ms_codec_reader_make(bytes);
 *     uint32_t version = ms_codec_reader_u32(&reader);
 *     ms_str name = ms_codec_reader_str(&reader);
 *     MS_TRY(ms_codec_reader_finish(&reader, "the manifest", st));        all read, nothing left
 *
 * A reader never passes its end. The first read that would, and a malformed integer, fail the
 * reader for good: this and all later reads give 0 or an empty text, so that a decoder checks once,
 * at its end, or before it trusts a count (ms_codec_reader_count).
 *
 * A varint is the unsigned LEB128 form: seven bits a byte, lowest first, at most ten bytes; a
 * signed one is zigzag coded first (0, -1, 1, -2, ...).
 *
 * Ownership: a reader and the texts it gives borrow the bytes. Thread: any.
 */
#ifndef MS_BASE_CODEC_H
#define MS_BASE_CODEC_H

#include "base/str.h"

#define MS_CODEC_VARINT_BYTES 10 /* the longest varint of 64 bits */

/* Words in memory, at any alignment. */

static inline void ms_codec_store_u16(char *at, uint16_t value)
{
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    value = __builtin_bswap16(value);
#endif
    memcpy(at, &value, sizeof(value));
}

static inline void ms_codec_store_u32(char *at, uint32_t value)
{
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    value = __builtin_bswap32(value);
#endif
    memcpy(at, &value, sizeof(value));
}

static inline void ms_codec_store_u64(char *at, uint64_t value)
{
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    memcpy(at, &value, sizeof(value));
}

static inline uint16_t ms_codec_load_u16(const char *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof(value));
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    value = __builtin_bswap16(value);
#endif
    return value;
}

static inline uint32_t ms_codec_load_u32(const char *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof(value));
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    value = __builtin_bswap32(value);
#endif
    return value;
}

static inline uint64_t ms_codec_load_u64(const char *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof(value));
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return value;
}

/* Writes a varint at text_out, which has room for MS_CODEC_VARINT_BYTES; returns its length. */
size_t ms_codec_store_varint(uint64_t value, char *text_out);

/* Appending to a buffer. On failure (the buffer's maximum, memory) the buffer is as it was. */

ms_rc ms_codec_put_u8(ms_buf *buf, uint8_t value, ms_status *st) MS_MUST_USE;
ms_rc ms_codec_put_u16(ms_buf *buf, uint16_t value, ms_status *st) MS_MUST_USE;
ms_rc ms_codec_put_u32(ms_buf *buf, uint32_t value, ms_status *st) MS_MUST_USE;
ms_rc ms_codec_put_u64(ms_buf *buf, uint64_t value, ms_status *st) MS_MUST_USE;
ms_rc ms_codec_put_varint(ms_buf *buf, uint64_t value, ms_status *st) MS_MUST_USE;
ms_rc ms_codec_put_signed(ms_buf *buf, int64_t value, ms_status *st) MS_MUST_USE;

/* The length as a varint, then the bytes. */
ms_rc ms_codec_put_str(ms_buf *buf, ms_str text, ms_status *st) MS_MUST_USE;

/* Reading. */

/* Fields are private. */
typedef struct ms_codec_reader {
    const char *start;
    size_t bytes;
    size_t at;
    bool failed;
} ms_codec_reader;

static inline ms_codec_reader ms_codec_reader_make(ms_str bytes)
{
    return (ms_codec_reader){.start = bytes.ptr, .bytes = bytes.bytes};
}

uint8_t ms_codec_reader_u8(ms_codec_reader *reader);
uint16_t ms_codec_reader_u16(ms_codec_reader *reader);
uint32_t ms_codec_reader_u32(ms_codec_reader *reader);
uint64_t ms_codec_reader_u64(ms_codec_reader *reader);
uint64_t ms_codec_reader_varint(ms_codec_reader *reader);
int64_t ms_codec_reader_signed(ms_codec_reader *reader);

/* The next bytes, borrowed. */
ms_str ms_codec_reader_bytes(ms_codec_reader *reader, size_t bytes);

/* A text written by ms_codec_put_str, borrowed. */
ms_str ms_codec_reader_str(ms_codec_reader *reader);

/*
 * A varint that says how many elements follow, each of at least element_bytes_min bytes (not 0). A
 * count that the bytes left cannot hold fails the reader, so that a damaged file cannot ask for
 * memory without bound.
 */
size_t ms_codec_reader_count(ms_codec_reader *reader, size_t element_bytes_min);

static inline size_t ms_codec_reader_left_bytes(const ms_codec_reader *reader)
{
    return reader->bytes - reader->at;
}

static inline bool ms_codec_reader_is_ok(const ms_codec_reader *reader)
{
    return !reader->failed;
}

/* MS_CORRUPT_DATA when the reader failed; what names the thing that was read ("the manifest"). */
ms_rc ms_codec_reader_check(const ms_codec_reader *reader, const char *what,
                            ms_status *st) MS_MUST_USE;

/* Same, and also when bytes are left. */
ms_rc ms_codec_reader_finish(const ms_codec_reader *reader, const char *what,
                             ms_status *st) MS_MUST_USE;

/* Checks. */

/*
 * CRC-32C (Castagnoli polynomial, RFC 3720 appendix B.4) of bytes, continuing from crc; start with
 * 0. "123456789" gives 0xE3069283. Uses the processor's instruction where it has one.
 */
uint32_t ms_crc32c(uint32_t crc, ms_str bytes);

#endif
