/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the hand codecs share: numbers, tags and fields of protobuf, inline, because a codec does
 * little else. Readers take a place and an end and return the place behind what they read, or NULL
 * when the bytes are malformed. Writers take a place with enough room and return the place behind.
 */
#ifndef MS_BIGTABLE_WIRE_WIRE_PRIV_H
#define MS_BIGTABLE_WIRE_WIRE_PRIV_H

#include "base/codec.h"
#include "base/str.h"
#include "bigtable/model/mutation.h"
#include "bigtable/model/status.h"
#include "bigtable/wire/pb.h"

/* Wire types. */
#define MSI_WIRE_VARINT 0u
#define MSI_WIRE_FIXED64 1u
#define MSI_WIRE_BYTES 2u
#define MSI_WIRE_FIXED32 5u

#define MSI_WIRE_TAG(field, type) ((uint32_t)(field) << 3 | (type))

#define MSI_WIRE_VARINT_BYTES 10 /* the longest */
#define MSI_WIRE_SLACK 8         /* writers of numbers want so much room more than they use */
#define MSI_WIRE_SHORT_BYTES 5   /* the longest tag, and the longest length */

/* Reading. */

/* Where bytes end, which may be those of an empty text. */
static inline const char *msi_wire_end(ms_str bytes)
{
    return bytes.bytes == 0 ? bytes.ptr : bytes.ptr + bytes.bytes;
}

/* A number of at most bytes_max bytes; what exceeds 64 bits is cut off. */
const char *msi_wire_get_long_varint(const char *at, const char *end, unsigned bytes_max,
                                     uint64_t *value_out);

static inline const char *msi_wire_get_varint(const char *at, const char *end, uint64_t *value_out)
{
    if (__builtin_expect(at != end && (uint8_t)*at < 0x80, 1)) {
        *value_out = (uint8_t)*at;
        return at + 1;
    }
    if (__builtin_expect(end - at >= 8, 1)) {
        /* The reverse of what the writer does; more than eight bytes go the long way. */
        uint64_t word = ms_codec_load_u64(at);
        uint64_t ends = ~word & 0x8080808080808080;
        if (__builtin_expect(ends != 0, 1)) {
            unsigned bits = (unsigned)__builtin_ctzll(ends) + 1;
            word &= UINT64_MAX >> (64 - bits);
            word = (word & 0x007f007f007f007f) | (word & 0x7f007f007f007f00) >> 1;
            word = (word & 0x00003fff00003fff) | (word & 0x3fff00003fff0000) >> 2;
            *value_out = (word & 0x000000000fffffff) | (word & 0x0fffffff00000000) >> 4;
            return at + bits / 8;
        }
    }
    return msi_wire_get_long_varint(at, end, MSI_WIRE_VARINT_BYTES, value_out);
}

/* The tag of a field; NULL also for a number that no field has. */
static inline const char *msi_wire_get_tag(const char *at, const char *end, uint32_t *tag_out)
{
    if (__builtin_expect(at != end && (uint8_t)*at < 0x80 && (uint8_t)*at >= 8, 1)) {
        *tag_out = (uint8_t)*at;
        return at + 1;
    }
    uint64_t tag;
    at = msi_wire_get_long_varint(at, end, MSI_WIRE_SHORT_BYTES, &tag);
    if (at == NULL || tag > UINT32_MAX || tag < 8) {
        return NULL;
    }
    *tag_out = (uint32_t)tag;
    return at;
}

/* A field's length and contents, behind its tag. */
static inline const char *msi_wire_get_bytes(const char *at, const char *end, ms_str *bytes_out)
{
    uint64_t bytes;
    if (__builtin_expect(at != end && (uint8_t)*at < 0x80, 1)) {
        bytes = (uint8_t)*at++;
    } else {
        at = msi_wire_get_long_varint(at, end, MSI_WIRE_SHORT_BYTES, &bytes);
    }
    if (__builtin_expect(at == NULL || bytes > (uint64_t)(end - at), 0)) {
        return NULL;
    }
    *bytes_out = (ms_str){at, (size_t)bytes};
    return at + bytes;
}

/* Passes over a field whose tag was read. */
const char *msi_wire_skip(const char *at, const char *end, uint32_t tag);

/* Writing. */

static inline size_t msi_wire_varint_bytes(uint64_t value)
{
    /* Seven bits a byte: 1 + floor(log2(value)) / 7, in integers. */
    unsigned bits = 63u ^ (unsigned)__builtin_clzll(value | 1);
    return (bits * 9 + 73) / 64;
}

/* Writes up to MSI_WIRE_SLACK bytes more than it says, which must be there. */
static inline char *msi_wire_put_varint(char *at, uint64_t value)
{
    if (value < 0x80) {
        *at = (char)value;
        return at + 1;
    }
    if (value < (uint64_t)1 << 56) {
        /* Timestamps have eight bytes: the groups of seven bits are spread in three steps, each of
         * which moves the upper half of every group of groups. */
        size_t bytes = msi_wire_varint_bytes(value);
        uint64_t word = (value & 0x000000000fffffff) | (value & 0x00fffffff0000000) << 4;
        word = (word & 0x00003fff00003fff) | (word & 0x0fffc0000fffc000) << 2;
        word = (word & 0x007f007f007f007f) | (word & 0x3f803f803f803f80) << 1;
        word |= 0x8080808080808080 & (((uint64_t)1 << (8 * bytes - 8)) - 1);
        ms_codec_store_u64(at, word);
        return at + bytes;
    }
    while (value >= 0x80) {
        *at++ = (char)(value | 0x80);
        value >>= 7;
    }
    *at = (char)value;
    return at + 1;
}

/* Copies what mostly is short, without a call. */
static inline void msi_wire_copy(char *to, const char *from, size_t bytes)
{
    if (bytes > 16) {
        memcpy(to, from, bytes);
    } else if (bytes >= 8) {
        uint64_t head = ms_codec_load_u64(from);
        uint64_t tail = ms_codec_load_u64(from + bytes - 8);
        ms_codec_store_u64(to, head);
        ms_codec_store_u64(to + bytes - 8, tail);
    } else if (bytes >= 4) {
        uint32_t head = ms_codec_load_u32(from);
        uint32_t tail = ms_codec_load_u32(from + bytes - 4);
        ms_codec_store_u32(to, head);
        ms_codec_store_u32(to + bytes - 4, tail);
    } else if (bytes > 0) {
        to[0] = from[0];
        to[bytes / 2] = from[bytes / 2];
        to[bytes - 1] = from[bytes - 1];
    }
}

static inline char *msi_wire_put_raw(char *at, ms_str bytes)
{
    msi_wire_copy(at, bytes.ptr, bytes.bytes);
    return at + bytes.bytes;
}

/* Fields with tags of one byte: numbers up to 15. */

static inline size_t msi_wire_bytes_size(size_t bytes)
{
    return 1 + msi_wire_varint_bytes(bytes) + bytes;
}

static inline char *msi_wire_put_head(char *at, unsigned field, size_t bytes)
{
    *at++ = (char)MSI_WIRE_TAG(field, MSI_WIRE_BYTES);
    return msi_wire_put_varint(at, bytes);
}

static inline char *msi_wire_put_bytes(char *at, unsigned field, ms_str bytes)
{
    return msi_wire_put_raw(msi_wire_put_head(at, field, bytes.bytes), bytes);
}

static inline size_t msi_wire_int_size(int64_t value)
{
    return 1 + msi_wire_varint_bytes((uint64_t)value);
}

static inline char *msi_wire_put_int(char *at, unsigned field, int64_t value)
{
    *at++ = (char)MSI_WIRE_TAG(field, MSI_WIRE_VARINT);
    return msi_wire_put_varint(at, (uint64_t)value);
}

/* Same, left out when they are empty, resp. 0. */

static inline size_t msi_wire_plain_bytes_size(size_t bytes)
{
    return bytes == 0 ? 0 : msi_wire_bytes_size(bytes);
}

static inline char *msi_wire_put_plain_bytes(char *at, unsigned field, ms_str bytes)
{
    return bytes.bytes == 0 ? at : msi_wire_put_bytes(at, field, bytes);
}

static inline size_t msi_wire_plain_int_size(int64_t value)
{
    return value == 0 ? 0 : msi_wire_int_size(value);
}

static inline char *msi_wire_put_plain_int(char *at, unsigned field, int64_t value)
{
    return value == 0 ? at : msi_wire_put_int(at, field, value);
}

/* Texts. */

/* A text as ms_wire_check takes it: UTF-8 without NUL. */
bool msi_wire_is_text(ms_str text);

/* "message NAME is malformed: WHY". */
ms_bt_code msi_wire_refuse(const ms_wire_limits *limits, const char *name, const char *why,
                           ms_bt_status *bt);

/* Refuses a message of more bytes than the limits allow. */
ms_bt_code msi_wire_check_size(ms_str bytes, const ms_wire_limits *limits, ms_bt_status *bt);

/* The beginning of what the service says of a wrong mutation. */
#define MSI_WIRE_IN_LIST "Error in Mutation list : Error in element #%u : "

/* What a value of the API says, of the kinds that mutations may have. */
typedef enum msi_wire_value_kind {
    MSI_WIRE_VALUE_NONE,
    MSI_WIRE_VALUE_RAW,
    MSI_WIRE_VALUE_RAW_TIME,
    MSI_WIRE_VALUE_BYTES,
    MSI_WIRE_VALUE_INT,
    MSI_WIRE_VALUE_OTHER
} msi_wire_value_kind;

typedef struct msi_wire_value {
    msi_wire_value_kind kind;
    ms_str bytes;
    int64_t number;
} msi_wire_value;

/* NULL is a value in which nothing is set. */
msi_wire_value msi_wire_value_from_pb(const ms_pb_value *message);

/* AddToCell and MergeToCell. */
typedef struct msi_wire_aggregate {
    msi_wire_value qualifier;
    msi_wire_value timestamp;
    msi_wire_value input;
    char number[sizeof(int64_t)]; /* of an input that is one */
} msi_wire_aggregate;

/* Fills qualifier, timestamp and value of a mutation whose kind is set; the value may point into
 * the aggregate. index is that of the mutation, for the message. */
ms_bt_code msi_wire_take_aggregate(msi_wire_aggregate *aggregate, uint32_t index,
                                   ms_bt_mutation *mutation, ms_bt_status *bt);

/* A mutation of a batch, or of a change, as a message that lives in the arena. */
ms_pb_mutation *msi_wire_mutation_to_pb(const ms_bt_mutation *mutation, ms_str family,
                                        ms_arena *arena);

#endif
