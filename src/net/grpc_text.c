/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules are those of the document "gRPC over HTTP2" of the gRPC project: Timeout, Percent-
 * Encoded, Binary-Header and the tables that map HTTP status and HTTP/2 errors to codes.
 */
#include "net/grpc_text_priv.h"

#include <stdio.h>

/* Timeouts. */

typedef struct timeout_unit {
    char letter;
    int64_t ns;
} timeout_unit;

static const timeout_unit timeout_units[] = {
    {'n', 1},
    {'u', 1000},
    {'m', 1000000},
    {'S', 1000000000},
    {'M', INT64_C(60000000000)},
    {'H', INT64_C(3600000000000)},
};

#define TIMEOUT_UNITS (sizeof(timeout_units) / sizeof(timeout_units[0]))
#define TIMEOUT_DIGITS_MAX 8
#define TIMEOUT_VALUE_MAX 99999999

bool msi_grpc_timeout_parse(ms_str text, int64_t *timeout_ns_out)
{
    int64_t value = 0;
    if (text.bytes < 2 || text.bytes > TIMEOUT_DIGITS_MAX + 1) {
        return false;
    }
    for (size_t i = 0; i < text.bytes - 1; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') {
            return false;
        }
        value = value * 10 + (text.ptr[i] - '0');
    }
    for (size_t i = 0; i < TIMEOUT_UNITS; i++) {
        if (timeout_units[i].letter == text.ptr[text.bytes - 1]) {
            if (__builtin_mul_overflow(value, timeout_units[i].ns, timeout_ns_out)) {
                *timeout_ns_out = INT64_MAX;
            }
            return true;
        }
    }
    return false;
}

/* Digits by hand: this is part of every call, and printf is not cheap. */
static size_t format_decimal(int64_t value, char *out)
{
    char reversed[TIMEOUT_DIGITS_MAX];
    size_t count = 0;
    do {
        reversed[count++] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    for (size_t i = 0; i < count; i++) {
        out[i] = reversed[count - 1 - i];
    }
    return count;
}

size_t msi_grpc_timeout_format(int64_t timeout_ns, char text_out[MSI_GRPC_TIMEOUT_BYTES])
{
    if (timeout_ns < 1) {
        timeout_ns = 1;
    }
    size_t unit = 0;
    int64_t value = timeout_ns;
    while (value > TIMEOUT_VALUE_MAX && unit < TIMEOUT_UNITS - 1) {
        unit++;
        value = (timeout_ns - 1) / timeout_units[unit].ns + 1;
    }
    size_t digits = format_decimal(value, text_out);
    text_out[digits] = timeout_units[unit].letter;
    return digits + 1;
}

/* Percent. */

static const char hex_digits[] = "0123456789ABCDEF";

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'A' && c <= 'F') {
        return c - 'A' + 10;
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

size_t msi_grpc_percent_encode(ms_str text, char *out)
{
    size_t at = 0;
    for (size_t i = 0; i < text.bytes; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        /* A value of HTTP/2 has no blank at its ends. */
        bool is_at_end = i == 0 || i == text.bytes - 1;
        if (c >= (is_at_end ? 0x21 : 0x20) && c <= 0x7e && c != '%') {
            out[at++] = (char)c;
        } else {
            out[at++] = '%';
            out[at++] = hex_digits[c >> 4];
            out[at++] = hex_digits[c & 15];
        }
    }
    return at;
}

size_t msi_grpc_percent_decode(ms_str text, char *out)
{
    size_t at = 0;
    for (size_t i = 0; i < text.bytes; i++) {
        bool may_be = text.ptr[i] == '%' && text.bytes - i > 2;
        int high = may_be ? hex_value(text.ptr[i + 1]) : -1;
        int low = may_be ? hex_value(text.ptr[i + 2]) : -1;
        if (high >= 0 && low >= 0) {
            out[at++] = (char)(high << 4 | low);
            i += 2;
        } else {
            out[at++] = text.ptr[i];
        }
    }
    return at;
}

/* Base64. */

static const char base64_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static int base64_value(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (c >= '0' && c <= '9') {
        return c - '0' + 52;
    }
    if (c == '+') {
        return 62;
    }
    return c == '/' ? 63 : -1;
}

size_t msi_base64_encode(ms_str data, char *out)
{
    size_t at = 0;
    for (size_t i = 0; i < data.bytes; i += 3) {
        size_t left = data.bytes - i;
        uint32_t word = (uint32_t)(unsigned char)data.ptr[i] << 16;
        word |= left > 1 ? (uint32_t)(unsigned char)data.ptr[i + 1] << 8 : 0;
        word |= left > 2 ? (uint32_t)(unsigned char)data.ptr[i + 2] : 0;
        out[at++] = base64_digits[word >> 18];
        out[at++] = base64_digits[word >> 12 & 63];
        if (left > 1) {
            out[at++] = base64_digits[word >> 6 & 63];
        }
        if (left > 2) {
            out[at++] = base64_digits[word & 63];
        }
    }
    return at;
}

size_t msi_base64_decode(ms_str text, char *out)
{
    size_t at = 0;
    uint32_t word = 0;
    uint32_t bits = 0;
    if (text.bytes % 4 == 0) {
        for (int i = 0; i < 2 && text.bytes > 0 && text.ptr[text.bytes - 1] == '='; i++) {
            text.bytes--;
        }
    }
    if (text.bytes % 4 == 1) {
        return SIZE_MAX;
    }
    for (size_t i = 0; i < text.bytes; i++) {
        int value = base64_value(text.ptr[i]);
        if (value < 0) {
            return SIZE_MAX;
        }
        word = word << 6 | (uint32_t)value;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            out[at++] = (char)(word >> bits & 0xff);
        }
    }
    return at;
}

/* Codes. */

ms_grpc_code msi_grpc_code_of_http(unsigned status)
{
    switch (status) {
    case 400:
        return MS_GRPC_INTERNAL;
    case 401:
        return MS_GRPC_UNAUTHENTICATED;
    case 403:
        return MS_GRPC_PERMISSION_DENIED;
    case 404:
        return MS_GRPC_UNIMPLEMENTED;
    case 429:
    case 502:
    case 503:
    case 504:
        return MS_GRPC_UNAVAILABLE;
    default:
        return MS_GRPC_UNKNOWN;
    }
}

typedef struct h2_meaning {
    const char *name;
    ms_grpc_code code;
} h2_meaning;

/* By the numbers of RFC 9113, section 7. */
static const h2_meaning h2_errors[] = {
    {"NO_ERROR", MS_GRPC_INTERNAL},
    {"PROTOCOL_ERROR", MS_GRPC_INTERNAL},
    {"INTERNAL_ERROR", MS_GRPC_INTERNAL},
    {"FLOW_CONTROL_ERROR", MS_GRPC_INTERNAL},
    {"SETTINGS_TIMEOUT", MS_GRPC_INTERNAL},
    {"STREAM_CLOSED", MS_GRPC_UNKNOWN},
    {"FRAME_SIZE_ERROR", MS_GRPC_INTERNAL},
    {"REFUSED_STREAM", MS_GRPC_UNAVAILABLE},
    {"CANCEL", MS_GRPC_CANCELLED},
    {"COMPRESSION_ERROR", MS_GRPC_INTERNAL},
    {"CONNECT_ERROR", MS_GRPC_INTERNAL},
    {"ENHANCE_YOUR_CALM", MS_GRPC_RESOURCE_EXHAUSTED},
    {"INADEQUATE_SECURITY", MS_GRPC_PERMISSION_DENIED},
    {"HTTP_1_1_REQUIRED", MS_GRPC_UNKNOWN},
};

#define H2_ERRORS (sizeof(h2_errors) / sizeof(h2_errors[0]))

ms_grpc_code msi_grpc_code_of_h2(uint32_t h2_error)
{
    return h2_error < H2_ERRORS ? h2_errors[h2_error].code : MS_GRPC_UNKNOWN;
}

const char *msi_h2_error_name(uint32_t h2_error)
{
    return h2_error < H2_ERRORS ? h2_errors[h2_error].name : "an unknown error";
}

/* Content types. */

msi_grpc_type msi_grpc_type_of(ms_str content_type)
{
    ms_str plain = ms_str_lit("application/grpc");
    ms_str type = ms_str_slice(content_type, 0, ms_str_find_byte(content_type, ';', 0));
    type = ms_str_trim(type);
    if (ms_str_equals(type, plain) || ms_str_equals(type, ms_str_lit("application/grpc+proto"))) {
        return MSI_GRPC_TYPE_PROTO;
    }
    bool is_grpc = ms_str_starts_with(type, plain) && type.ptr[plain.bytes] == '+';
    return is_grpc ? MSI_GRPC_TYPE_OTHER : MSI_GRPC_TYPE_NONE;
}

/* Keys. */

bool msi_grpc_key_is_bin(ms_str key)
{
    return ms_str_ends_with(key, ms_str_lit("-bin"));
}

bool msi_grpc_key_is_reserved(ms_str key)
{
    static const ms_str names[] = {{"te", 2},
                                   {"host", 4},
                                   {"upgrade", 7},
                                   {"connection", 10},
                                   {"keep-alive", 10},
                                   {"user-agent", 10},
                                   {"content-type", 12},
                                   {"proxy-connection", 16},
                                   {"transfer-encoding", 17}};
    if (key.bytes == 0 || key.ptr[0] == ':' || ms_str_starts_with(key, ms_str_lit("grpc-"))) {
        return true;
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (ms_str_equals(key, names[i])) {
            return true;
        }
    }
    return false;
}
