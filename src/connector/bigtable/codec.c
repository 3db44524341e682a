/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The encodings, one pair of loops a physical form. A loop knows its width at compile time, so that
 * a value costs a load, a swap of bytes and a store.
 */
#include "connector/bigtable/codec.h"

#include "base/arena.h"
#include "type/decimal.h"

#include <endian.h>
#include <inttypes.h>

#define SCALE_BYTES 4u
#define DECIMAL_BYTES 24u /* scale, 16 bytes of 128 bits, rounded up */

/* A number of more bytes is refused instead of rounded: no decimal of 38 digits needs them. */
#define DECIMAL_LONG_BYTES 64u

#define MICROS_PER_MILLI 1000

/* What the loops share. */

static bool is_null_at(const ms_vec *vec, uint32_t pos)
{
    return vec->valid != NULL && !ms_bit_get(vec->valid, pos);
}

static ms_str null_cell(const msi_bt_codec *codec)
{
    return codec->has_null ? codec->null_bytes : (ms_str){NULL, MSI_BT_UNENCODABLE};
}

static void set_null(ms_vec *vec, uint32_t i)
{
    ms_bit_clear(ms_vec_validity(vec), i);
}

/* No cell, or an empty one where that is NULL. */
static bool is_null_slot(const msi_bt_codec *codec, msi_bt_slot slot)
{
    return slot.bytes == MSI_BT_ABSENT || (slot.bytes == 0 && codec->has_null);
}

/* Fixed widths. */

/* To big-endian and back, which is the same. */
#define SWAP_8(x) (x)
#define SWAP_16(x) htobe16(x)
#define SWAP_32(x) htobe32(x)
#define SWAP_64(x) htobe64(x)

#define DEFINE_FIXED(bits)                                                                         \
    static void encode_##bits(const msi_bt_codec *codec, const ms_vec *vec, const uint32_t *pos,   \
                              uint32_t count, char *scratch, ms_str *cells_out)                    \
    {                                                                                              \
        const char *data = vec->data;                                                              \
        for (uint32_t i = 0; i < count; i++) {                                                     \
            uint##bits##_t value;                                                                  \
            if (is_null_at(vec, pos[i])) {                                                         \
                cells_out[i] = null_cell(codec);                                                   \
                continue;                                                                          \
            }                                                                                      \
            memcpy(&value, data + (size_t)pos[i] * sizeof(value), sizeof(value));                  \
            value = (uint##bits##_t)SWAP_##bits(value);                                            \
            char *at = scratch + (size_t)i * sizeof(value);                                        \
            memcpy(at, &value, sizeof(value));                                                     \
            cells_out[i] = (ms_str){at, sizeof(value)};                                            \
        }                                                                                          \
    }                                                                                              \
    static uint32_t decode_##bits(const msi_bt_codec *codec, const char *base,                     \
                                  const msi_bt_slot *slots, uint32_t count, ms_vec *vec,           \
                                  msi_bt_fault *fault_out)                                         \
    {                                                                                              \
        char *data = vec->data;                                                                    \
        for (uint32_t i = 0; i < count; i++) {                                                     \
            uint##bits##_t value = 0;                                                              \
            if (is_null_slot(codec, slots[i])) {                                                   \
                set_null(vec, i);                                                                  \
            } else if (slots[i].bytes < sizeof(value) ||                                           \
                       (codec->rejects_tail && slots[i].bytes != sizeof(value))) {                 \
                *fault_out = MSI_BT_FAULT_LENGTH;                                                  \
                return i;                                                                          \
            } else {                                                                               \
                memcpy(&value, base + slots[i].at, sizeof(value));                                 \
                value = (uint##bits##_t)SWAP_##bits(value);                                        \
            }                                                                                      \
            memcpy(data + (size_t)i * sizeof(value), &value, sizeof(value));                       \
        }                                                                                          \
        return count;                                                                              \
    }

DEFINE_FIXED(8)
DEFINE_FIXED(16)
DEFINE_FIXED(32)
DEFINE_FIXED(64)

/* Timestamps: microseconds in vectors, milliseconds in cells. */

static void encode_timestamp(const msi_bt_codec *codec, const ms_vec *vec, const uint32_t *pos,
                             uint32_t count, char *scratch, ms_str *cells_out)
{
    const int64_t *data = vec->data;
    for (uint32_t i = 0; i < count; i++) {
        if (is_null_at(vec, pos[i])) {
            cells_out[i] = null_cell(codec);
            continue;
        }
        int64_t us = data[pos[i]];
        int64_t ms = us / MICROS_PER_MILLI - (us % MICROS_PER_MILLI < 0);
        uint64_t value = htobe64((uint64_t)ms);
        char *at = scratch + (size_t)i * sizeof(value);
        memcpy(at, &value, sizeof(value));
        cells_out[i] = (ms_str){at, sizeof(value)};
    }
}

static uint32_t decode_timestamp(const msi_bt_codec *codec, const char *base,
                                 const msi_bt_slot *slots, uint32_t count, ms_vec *vec,
                                 msi_bt_fault *fault_out)
{
    uint32_t good = decode_64(codec, base, slots, count, vec, fault_out);
    int64_t *data = vec->data;
    for (uint32_t i = 0; i < good; i++) {
        if (__builtin_mul_overflow(data[i], MICROS_PER_MILLI, &data[i])) {
            *fault_out = MSI_BT_FAULT_RANGE;
            return i;
        }
    }
    return good;
}

/* BOOLEAN. */

static void encode_bool(const msi_bt_codec *codec, const ms_vec *vec, const uint32_t *pos,
                        uint32_t count, char *scratch, ms_str *cells_out)
{
    static const char bytes[2] = {0, (char)0xFF};
    (void)scratch;
    const uint8_t *data = vec->data;
    for (uint32_t i = 0; i < count; i++) {
        bool is_null = is_null_at(vec, pos[i]);
        cells_out[i] = is_null ? null_cell(codec) : (ms_str){&bytes[data[pos[i]] != 0], 1};
    }
}

static uint32_t decode_bool(const msi_bt_codec *codec, const char *base, const msi_bt_slot *slots,
                            uint32_t count, ms_vec *vec, msi_bt_fault *fault_out)
{
    uint8_t *data = vec->data;
    for (uint32_t i = 0; i < count; i++) {
        data[i] = 0;
        if (is_null_slot(codec, slots[i])) {
            set_null(vec, i);
        } else if (slots[i].bytes != 1) {
            *fault_out = MSI_BT_FAULT_LENGTH;
            return i;
        } else {
            data[i] = base[slots[i].at] != 0;
        }
    }
    return count;
}

/* Text and bytes. */

static void encode_bytes(const msi_bt_codec *codec, const ms_vec *vec, const uint32_t *pos,
                         uint32_t count, char *scratch, ms_str *cells_out)
{
    (void)scratch;
    const ms_view *data = vec->data;
    for (uint32_t i = 0; i < count; i++) {
        bool is_null = is_null_at(vec, pos[i]);
        cells_out[i] = is_null ? null_cell(codec) : ms_view_str(&data[pos[i]]);
    }
}

static uint32_t decode_bytes(const msi_bt_codec *codec, const char *base, const msi_bt_slot *slots,
                             uint32_t count, ms_vec *vec, msi_bt_fault *fault_out)
{
    (void)fault_out;
    bool is_text = ms_type_is_character(codec->type);
    ms_view *data = vec->data;
    for (uint32_t i = 0; i < count; i++) {
        msi_bt_slot slot = slots[i];
        bool is_null = slot.bytes == MSI_BT_ABSENT;
        if (!is_null && codec->has_null) {
            ms_str bytes = {base + slot.at, slot.bytes};
            is_null = is_text ? ms_str_equals(bytes, codec->null_bytes) : slot.bytes == 0;
        }
        if (is_null) {
            data[i] = (ms_view){0};
            set_null(vec, i);
        } else {
            data[i] = ms_view_make(base + slot.at, slot.bytes);
        }
    }
    return count;
}

/* DECIMAL. */

static size_t put_decimal(char *at, int32_t scale, ms_i128 unscaled)
{
    uint32_t head = htobe32((uint32_t)scale);
    memcpy(at, &head, sizeof(head));
    unsigned bytes = 1;
    /* One byte more for as long as what is left is not all sign. */
    for (ms_i128 rest = unscaled >> 7; rest != 0 && rest != -1; rest >>= 8) {
        bytes++;
    }
    for (unsigned i = 0; i < bytes; i++) {
        at[SCALE_BYTES + i] = (char)(unscaled >> (8 * (bytes - 1 - i)));
    }
    return SCALE_BYTES + bytes;
}

static void encode_decimal(const msi_bt_codec *codec, const ms_vec *vec, const uint32_t *pos,
                           uint32_t count, char *scratch, ms_str *cells_out)
{
    bool is_wide = vec->phys == MS_PHYS_I128;
    for (uint32_t i = 0; i < count; i++) {
        if (is_null_at(vec, pos[i])) {
            cells_out[i] = null_cell(codec);
            continue;
        }
        ms_i128 unscaled =
            is_wide ? MS_VEC_DATA(vec, ms_i128)[pos[i]] : MS_VEC_DATA(vec, int64_t)[pos[i]];
        char *at = scratch + (size_t)i * DECIMAL_BYTES;
        cells_out[i] = (ms_str){at, put_decimal(at, codec->type->scale, unscaled)};
    }
}

/* A magnitude of up to DECIMAL_LONG_BYTES, in words of 32 bits, lowest first. */
typedef struct long_number {
    uint32_t words[DECIMAL_LONG_BYTES / 4];
    uint32_t count;
} long_number;

static void take_magnitude(ms_str bytes, bool is_negative, long_number *number_out)
{
    *number_out = (long_number){.count = (uint32_t)((bytes.bytes + 3) / 4)};
    uint32_t carry = is_negative ? 1 : 0;
    for (uint32_t w = 0; w < number_out->count; w++) {
        uint32_t word = 0;
        for (uint32_t b = 0; b < 4; b++) {
            size_t from_end = (size_t)w * 4 + b;
            uint8_t byte = from_end < bytes.bytes ? (uint8_t)bytes.ptr[bytes.bytes - 1 - from_end]
                           : is_negative          ? 0xFFu
                                                  : 0;
            word |= (uint32_t)byte << (8 * b);
        }
        if (is_negative) {
            word = ~word + carry;
            carry = carry != 0 && word == 0;
        }
        number_out->words[w] = word;
    }
}

/* Divides by ten and returns the digit that falls off. */
static uint32_t divide_by_ten(long_number *number)
{
    uint64_t rest = 0;
    for (uint32_t w = number->count; w-- > 0;) {
        uint64_t value = rest << 32 | number->words[w];
        number->words[w] = (uint32_t)(value / 10);
        rest = value % 10;
    }
    while (number->count > 0 && number->words[number->count - 1] == 0) {
        number->count--;
    }
    return (uint32_t)rest;
}

/*
 * A number of more than 128 bits, which rounding to the column's scale may still make fit. Cutting
 * digits off one by one and rounding by the last one cut is HALF_UP of the whole.
 */
static bool round_long(ms_str bytes, int64_t digits, int32_t precision, ms_i128 *unscaled_out)
{
    bool is_negative = (signed char)bytes.ptr[0] < 0;
    long_number number;
    take_magnitude(bytes, is_negative, &number);
    uint32_t digit = 0;
    for (int64_t i = 0; i < digits; i++) {
        if (number.count == 0) {
            digit = 0;
            break;
        }
        digit = divide_by_ten(&number);
    }
    if (number.count > 4 || (number.count == 4 && number.words[3] > INT32_MAX)) {
        return false;
    }
    ms_i128 value = 0;
    for (uint32_t w = number.count; w-- > 0;) {
        value = value << 32 | number.words[w];
    }
    if (!ms_decimal_fits(value, precision)) {
        return false;
    }
    value += digit >= 5;
    *unscaled_out = is_negative ? -value : value;
    return ms_decimal_fits(value, precision);
}

/* The scale of a cell may be any number; what is far out is decided without powers of ten. */
static bool rescale(ms_i128 value, int32_t from, const ms_type *type, ms_i128 *unscaled_out)
{
    const int32_t far = INT32_MAX / 2;
    if (value == 0 || from > far) {
        *unscaled_out = 0;
        return true;
    }
    return from >= -far && ms_decimal_rescale((ms_decimal){value, from}, type->precision,
                                              type->scale, unscaled_out);
}

static bool take_decimal(const ms_type *type, ms_str cell, ms_i128 *unscaled_out)
{
    uint32_t head;
    memcpy(&head, cell.ptr, sizeof(head));
    int32_t scale = (int32_t)htobe32(head);
    ms_str bytes = ms_str_slice(cell, SCALE_BYTES, cell.bytes);
    /* Leading bytes that only repeat the sign. */
    while (bytes.bytes > 1 &&
           ((bytes.ptr[0] == 0 && (signed char)bytes.ptr[1] >= 0) ||
            ((signed char)bytes.ptr[0] == -1 && (signed char)bytes.ptr[1] < 0))) {
        bytes = ms_str_slice(bytes, 1, bytes.bytes);
    }
    if (bytes.bytes > sizeof(ms_i128)) {
        return bytes.bytes <= DECIMAL_LONG_BYTES && scale > type->scale &&
               round_long(bytes, (int64_t)scale - type->scale, type->precision, unscaled_out);
    }
    ms_i128 value = (signed char)bytes.ptr[0] < 0 ? -1 : 0;
    for (size_t i = 0; i < bytes.bytes; i++) {
        value = value * 256 + (unsigned char)bytes.ptr[i];
    }
    return rescale(value, scale, type, unscaled_out);
}

static uint32_t decode_decimal(const msi_bt_codec *codec, const char *base,
                               const msi_bt_slot *slots, uint32_t count, ms_vec *vec,
                               msi_bt_fault *fault_out)
{
    bool is_wide = vec->phys == MS_PHYS_I128;
    for (uint32_t i = 0; i < count; i++) {
        ms_i128 unscaled = 0;
        if (is_null_slot(codec, slots[i])) {
            set_null(vec, i);
        } else if (slots[i].bytes <= SCALE_BYTES) {
            *fault_out = MSI_BT_FAULT_DECIMAL;
            return i;
        } else if (!take_decimal(codec->type, (ms_str){base + slots[i].at, slots[i].bytes},
                                 &unscaled)) {
            *fault_out = MSI_BT_FAULT_RANGE;
            return i;
        }
        if (is_wide) {
            MS_VEC_DATA(vec, ms_i128)[i] = unscaled;
        } else {
            MS_VEC_DATA(vec, int64_t)[i] = (int64_t)unscaled;
        }
    }
    return count;
}

/* Picking. */

const char *msi_bt_codec_refusal(const ms_type *type)
{
    switch (type->kind) {
    case MS_TYPE_BOOLEAN:
    case MS_TYPE_TINYINT:
    case MS_TYPE_SMALLINT:
    case MS_TYPE_INT:
    case MS_TYPE_BIGINT:
    case MS_TYPE_FLOAT:
    case MS_TYPE_DOUBLE:
    case MS_TYPE_DECIMAL:
    case MS_TYPE_CHAR:
    case MS_TYPE_VARCHAR:
    case MS_TYPE_BINARY:
    case MS_TYPE_VARBINARY:
    case MS_TYPE_DATE:
    case MS_TYPE_INTERVAL_MONTH:
    case MS_TYPE_INTERVAL_SECOND:
        return NULL;
    case MS_TYPE_TIME:
    case MS_TYPE_TIMESTAMP:
    case MS_TYPE_TIMESTAMP_LTZ:
        return type->precision > 3 ? "a cell holds milliseconds, so at most 3 digits" : NULL;
    case MS_TYPE_ROW:
    case MS_TYPE_ARRAY:
    case MS_TYPE_MAP:
    case MS_TYPE_MULTISET:
        return "a cell holds one value, nothing nested";
    case MS_TYPE_NULL:
    case MS_TYPE_RAW:
    case MS_TYPE_TIMESTAMP_TZ:
    case MS_TYPE_KIND_COUNT:
        break;
    }
    return "the type has no encoding";
}

typedef struct loops {
    uint32_t width;
    uint32_t scratch_bytes;
    msi_bt_encode_fn encode;
    msi_bt_decode_fn decode;
} loops;

static const loops loops_bool = {1, 0, encode_bool, decode_bool};
static const loops loops_8 = {1, 1, encode_8, decode_8};
static const loops loops_16 = {2, 2, encode_16, decode_16};
static const loops loops_32 = {4, 4, encode_32, decode_32};
static const loops loops_64 = {8, 8, encode_64, decode_64};
static const loops loops_timestamp = {8, 8, encode_timestamp, decode_timestamp};
static const loops loops_bytes = {0, 0, encode_bytes, decode_bytes};
static const loops loops_decimal = {0, DECIMAL_BYTES, encode_decimal, decode_decimal};

static const loops *loops_of(const ms_type *type)
{
    if (type->kind == MS_TYPE_DECIMAL) {
        return &loops_decimal;
    }
    if (ms_type_is_timestamp(type)) {
        return &loops_timestamp;
    }
    switch (type->phys) {
    case MS_PHYS_BOOL:
        return &loops_bool;
    case MS_PHYS_I8:
        return &loops_8;
    case MS_PHYS_I16:
        return &loops_16;
    case MS_PHYS_I32:
    case MS_PHYS_F32:
        return &loops_32;
    case MS_PHYS_I64:
    case MS_PHYS_F64:
        return &loops_64;
    case MS_PHYS_STR:
        return &loops_bytes;
    case MS_PHYS_NONE:
    case MS_PHYS_I128:
    case MS_PHYS_TS16:
    case MS_PHYS_LIST:
    case MS_PHYS_ROW:
    case MS_PHYS_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

void msi_bt_codec_init(msi_bt_codec *codec, const ms_type *type, bool is_key,
                       const msi_bt_codec_options *options)
{
    MS_ASSERT(msi_bt_codec_refusal(type) == NULL);
    const loops *picked = loops_of(type);
    *codec = (msi_bt_codec){.type = type,
                            .width = picked->width,
                            .scratch_bytes = picked->scratch_bytes,
                            .has_null = type->nullable && !is_key,
                            .rejects_tail = options->rejects_tail,
                            .null_bytes = ms_str_lit(""),
                            .encode = picked->encode,
                            .decode = picked->decode};
    if (ms_type_is_character(type)) {
        codec->null_bytes = options->null_literal;
    }
}

/* Reporting. */

ms_rc msi_bt_codec_report(const msi_bt_codec *codec, msi_bt_fault fault, size_t bytes,
                          ms_status *st, const char *subject)
{
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_str type = ms_type_text_bare(&arena, codec->type);
    switch (fault) {
    case MSI_BT_FAULT_LENGTH:
        ms_status_set(st, MS_BAD_RECORD, ms_span_none,
                      "%s cannot be read as %.*s: it has %zu bytes, but %.*s takes %" PRIu32,
                      subject, MS_STR_ARG(type), bytes, MS_STR_ARG(type), codec->width);
        break;
    case MSI_BT_FAULT_DECIMAL:
        ms_status_set(st, MS_BAD_RECORD, ms_span_none,
                      "%s cannot be read as %.*s: it has %zu bytes, but a decimal takes at least "
                      "%u",
                      subject, MS_STR_ARG(type), bytes, SCALE_BYTES + 1);
        break;
    case MSI_BT_FAULT_RANGE:
        ms_status_set(st, MS_BAD_RECORD, ms_span_none,
                      "%s cannot be read as %.*s: its %zu bytes hold a number that does not fit",
                      subject, MS_STR_ARG(type), bytes);
        break;
    case MSI_BT_FAULT_NONE:
        MS_UNREACHABLE();
    }
    ms_arena_release(&arena);
    return st->code;
}
