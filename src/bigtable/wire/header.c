/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages in headers, by hand: they are a handful of fields, and go with every call.
 */
#include "bigtable/wire/header.h"

#include "bigtable/wire/wire_priv.h"

#define FEATURE_BITS 32u
#define MESSAGE_BYTES_MAX (FEATURE_BITS * 3 + MSI_WIRE_SLACK) /* a tag of two bytes, and a flag */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* Base64. */

static size_t encode_base64(const uint8_t *bytes, size_t count, char *text_out)
{
    char *at = text_out;
    for (size_t i = 0; i < count; i += 3) {
        size_t left = count - i < 3 ? count - i : 3;
        uint32_t word = (uint32_t)bytes[i] << 16;
        word |= left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0;
        word |= left > 2 ? bytes[i + 2] : 0;
        *at++ = digits[word >> 18];
        *at++ = digits[word >> 12 & 63];
        *at++ = left > 1 ? digits[word >> 6 & 63] : '=';
        *at++ = left > 2 ? digits[word & 63] : '=';
    }
    return (size_t)(at - text_out);
}

/* The value of a digit of either alphabet; -1 for what is none. */
static int digit_value(char c)
{
    if (c == '+') {
        return 62;
    }
    if (c == '/') {
        return 63;
    }
    const char *found = c == '\0' ? NULL : strchr(digits, c);
    return found == NULL ? -1 : (int)(found - digits);
}

/* False for what is malformed or does not fit. */
static bool decode_base64(ms_str text, uint8_t *bytes_out, size_t bytes_max, size_t *count_out)
{
    size_t padding = 0;
    while (padding < 2 && padding < text.bytes && text.ptr[text.bytes - 1 - padding] == '=') {
        padding++;
    }
    if (padding > 0 && text.bytes % 4 != 0) {
        return false;
    }
    size_t length = text.bytes - padding;
    if (length % 4 == 1) {
        return false;
    }
    size_t count = 0;
    uint32_t word = 0;
    unsigned bits = 0;
    for (size_t i = 0; i < length; i++) {
        int value = digit_value(text.ptr[i]);
        if (value < 0) {
            return false;
        }
        word = word << 6 | (uint32_t)value;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            if (count == bytes_max) {
                return false;
            }
            bytes_out[count++] = (uint8_t)(word >> bits);
        }
    }
    *count_out = count;
    return true;
}

/* Features. */

size_t ms_wire_features_encode(uint32_t features, char text_out[MS_WIRE_FEATURES_TEXT_BYTES])
{
    MS_ASSERT((features & ~MS_WIRE_FEATURES_ALL) == 0);
    char message[MESSAGE_BYTES_MAX];
    char *at = message;
    for (unsigned field = 1; field < FEATURE_BITS; field++) {
        if ((features >> field & 1) != 0) {
            at = msi_wire_put_int(at, field, 1);
        }
    }
    return encode_base64((const uint8_t *)message, (size_t)(at - message), text_out);
}

bool ms_wire_features_decode(ms_str text, uint32_t *features_out)
{
    *features_out = 0;
    /* Room for features to come; what is longer is no set of features. */
    uint8_t bytes[512];
    size_t count;
    if (!decode_base64(text, bytes, sizeof(bytes), &count)) {
        return false;
    }
    uint32_t features = 0;
    const char *at = (const char *)bytes;
    const char *end = at + count;
    while (at != end) {
        uint32_t tag;
        uint64_t value = 0;
        at = msi_wire_get_tag(at, end, &tag);
        if (at == NULL) {
            return false;
        }
        uint32_t field = tag >> 3;
        bool is_flag = (tag & 7) == MSI_WIRE_VARINT && field < FEATURE_BITS;
        at = is_flag ? msi_wire_get_varint(at, end, &value) : msi_wire_skip(at, end, tag);
        if (at == NULL) {
            return false;
        }
        if (is_flag) {
            uint32_t bit = 1u << field;
            features = value != 0 ? features | bit : features & ~bit;
        }
    }
    *features_out = features & MS_WIRE_FEATURES_ALL;
    return true;
}

/* Where a call was served. */

#define FIELD_ZONE 1u
#define FIELD_CLUSTER 2u
#define FIELD_AFE 3u

ms_rc ms_wire_response_params_encode(const ms_wire_response_params *params, ms_buf *buf,
                                     ms_status *st)
{
    size_t bytes = msi_wire_plain_bytes_size(params->zone.bytes) +
                   msi_wire_plain_bytes_size(params->cluster.bytes) +
                   msi_wire_plain_int_size(params->afe_id);
    MS_TRY(ms_buf_reserve(buf, bytes + MSI_WIRE_SLACK, st));
    char *at = buf->ptr + buf->bytes;
    at = msi_wire_put_plain_bytes(at, FIELD_ZONE, params->zone);
    at = msi_wire_put_plain_bytes(at, FIELD_CLUSTER, params->cluster);
    (void)msi_wire_put_plain_int(at, FIELD_AFE, params->afe_id);
    buf->bytes += bytes;
    return MS_OK;
}
