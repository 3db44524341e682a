/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Base64 (RFC 4648, section 4) and hexadecimal text of bytes. The strict decoder of base64 accepts
 * a text only when encoding its bytes gives the same text again.
 */
#include "type/text.h"

#define NOT_A_DIGIT 0xFFu

static const char base64_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static uint32_t byte_at(ms_str bytes, size_t i)
{
    return (unsigned char)bytes.ptr[i];
}

static void put_quad(char *out, uint32_t group)
{
    for (int i = 3; i >= 0; i--) {
        out[i] = base64_digits[group & 63u];
        group >>= 6;
    }
}

size_t ms_text_base64_encode(char *out, ms_str bytes)
{
    size_t whole = bytes.bytes / 3 * 3;
    char *at = out;
    for (size_t i = 0; i < whole; i += 3) {
        put_quad(at, byte_at(bytes, i) << 16 | byte_at(bytes, i + 1) << 8 | byte_at(bytes, i + 2));
        at += 4;
    }
    if (whole < bytes.bytes) {
        bool two = bytes.bytes - whole == 2;
        put_quad(at, byte_at(bytes, whole) << 16 | (two ? byte_at(bytes, whole + 1) << 8 : 0));
        at[3] = '=';
        if (!two) {
            at[2] = '=';
        }
        at += 4;
    }
    return (size_t)(at - out);
}

static uint32_t base64_value(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return (uint32_t)(c - 'A');
    }
    if (c >= 'a' && c <= 'z') {
        return (uint32_t)(c - 'a') + 26u;
    }
    if (c >= '0' && c <= '9') {
        return (uint32_t)(c - '0') + 52u;
    }
    return c == '+' ? 62u : c == '/' ? 63u : NOT_A_DIGIT;
}

/* The 24 bits of four digits, those from `count` on read as zero; false for other characters. */
static bool take_quad(const char *text, size_t count, uint32_t *group_out)
{
    uint32_t group = 0;
    for (size_t i = 0; i < 4; i++) {
        uint32_t value = i < count ? base64_value(text[i]) : 0;
        if (value == NOT_A_DIGIT) {
            return false;
        }
        group = group << 6 | value;
    }
    *group_out = group;
    return true;
}

/* Appends the one to three bytes of four characters; *unused_out: the bits that padding leaves. */
static bool decode_quad(const char *quad, char *out, size_t *bytes_inout, uint32_t *unused_out)
{
    size_t padding = quad[3] != '=' ? 0 : quad[2] == '=' ? 2 : 1;
    uint32_t group = 0;
    if (!take_quad(quad, 4 - padding, &group)) {
        return false;
    }
    for (size_t b = 0; b < 3 - padding; b++) {
        out[(*bytes_inout)++] = (char)(unsigned char)(group >> (16 - 8 * b));
    }
    *unused_out = group & ((1u << (8 * padding)) - 1);
    return true;
}

bool ms_text_base64_decode(ms_str text, char *out, size_t *bytes_out)
{
    *bytes_out = 0;
    size_t bytes = 0;
    for (size_t i = 0; i < text.bytes; i += 4) {
        uint32_t unused = 0;
        if (text.bytes - i < 4 || bytes != i / 4 * 3 || /* padding was not at the end */
            !decode_quad(text.ptr + i, out, &bytes, &unused) || unused != 0) {
            return false;
        }
    }
    *bytes_out = bytes;
    return true;
}

bool ms_text_base64_decode_loose(ms_str text, char *out, size_t *bytes_out)
{
    *bytes_out = 0;
    size_t bytes = 0;
    size_t at = 0;
    for (;;) {
        while (at < text.bytes && (unsigned char)text.ptr[at] <= ' ') {
            at++;
        }
        if (at == text.bytes) {
            *bytes_out = bytes;
            return true;
        }
        uint32_t unused = 0;
        if (text.bytes - at < 4 || !decode_quad(text.ptr + at, out, &bytes, &unused)) {
            return false;
        }
        at += 4;
    }
}

size_t ms_text_hex_encode(char *out, ms_str bytes, bool upper)
{
    const char *digits = upper ? "0123456789ABCDEF" : "0123456789abcdef";
    for (size_t i = 0; i < bytes.bytes; i++) {
        out[2 * i] = digits[byte_at(bytes, i) >> 4];
        out[2 * i + 1] = digits[byte_at(bytes, i) & 15u];
    }
    return bytes.bytes * 2;
}

static uint32_t hex_value(char c)
{
    char lower = (char)(c | 0x20);
    if (c >= '0' && c <= '9') {
        return (uint32_t)(c - '0');
    }
    return lower >= 'a' && lower <= 'f' ? (uint32_t)(lower - 'a') + 10u : NOT_A_DIGIT;
}

bool ms_text_hex_decode(ms_str text, char *out, size_t *bytes_out)
{
    *bytes_out = 0;
    if (text.bytes % 2 != 0) {
        return false;
    }
    for (size_t i = 0; i < text.bytes; i += 2) {
        uint32_t high = hex_value(text.ptr[i]);
        uint32_t low = hex_value(text.ptr[i + 1]);
        if (high == NOT_A_DIGIT || low == NOT_A_DIGIT) {
            return false;
        }
        out[i / 2] = (char)(unsigned char)(high << 4 | low);
    }
    *bytes_out = text.bytes / 2;
    return true;
}
