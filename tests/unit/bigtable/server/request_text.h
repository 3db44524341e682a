/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests as texts, so that a table can hold them, right and wrong ones alike.
 *
 *     1'projects/p' 2'v'*4097      fields 1 and 2: bytes, the second one "v" 4097 times
 *     3#-1 14~0.5                  a varint, a double
 *     3{1{1'cf'}}                  messages
 *     (2{1'k'})*100001             what is in parentheses, so many times
 *     (3{1'f@' 2#@})*9             where @ is the number of the time, and of milliseconds
 *     4{(1{})>64}                  nesting: 1{1{...}} 64 times
 *     !0aff!                       these bytes
 *
 * Between quotes \xNN is a byte, \\ a backslash and \@ an @. Blanks separate. A text that is wrong
 * fails the test.
 */
#ifndef MS_TESTS_UNIT_BIGTABLE_SERVER_REQUEST_TEXT_H
#define MS_TESTS_UNIT_BIGTABLE_SERVER_REQUEST_TEXT_H

#include "testing.h"

#include "base/str.h"

#include <stdlib.h>

#define REQUEST_BYTES_MAX ((size_t)300 << 20)

typedef struct request_text {
    const char *at;
    const char *all;
    long long turn; /* of the repetition that is under way */
} request_text;

static inline void request_put(ms_buf *out, ms_str bytes)
{
    ms_status st = {0};
    assert_ok(ms_buf_append(out, bytes, &st));
}

static inline void request_put_varint(ms_buf *out, uint64_t value)
{
    ms_status st = {0};
    while (value >= 128) {
        assert_ok(ms_buf_append_byte(out, (char)(value | 128), &st));
        value >>= 7;
    }
    assert_ok(ms_buf_append_byte(out, (char)value, &st));
}

static inline unsigned request_hex(request_text *text)
{
    char digits[3] = {text->at[0], text->at[0] == '\0' ? '\0' : text->at[1], '\0'};
    char *end = NULL;
    unsigned value = (unsigned)strtoul(digits, &end, 16);
    if (end != digits + 2) {
        fail_msg("no two digits at \"%s\"", text->at);
    }
    text->at += 2;
    return value;
}

/* The number behind a sign, with the sign passed over. */
static inline long long request_number(request_text *text)
{
    if (text->at[1] == '@') {
        text->at += 2;
        return text->turn * 1000;
    }
    char *end = NULL;
    long long value = strtoll(text->at + 1, &end, 10);
    if (end == text->at + 1) {
        fail_msg("no number at \"%s\"", text->at);
    }
    text->at = end;
    return value;
}

/* '...', then *COUNT or nothing. */
static inline void request_quoted(request_text *text, ms_buf *out)
{
    ms_status st = {0};
    text->at++;
    size_t start = out->bytes;
    while (*text->at != '\'') {
        if (*text->at == '\0') {
            fail_msg("no end of a text in \"%s\"", text->all);
        }
        char byte = *text->at++;
        if (byte == '@') {
            assert_ok(ms_buf_format(out, &st, "%lld", text->turn));
            continue;
        }
        if (byte == '\\' && *text->at == 'x') {
            text->at++;
            byte = (char)request_hex(text);
        } else if (byte == '\\') {
            byte = *text->at++;
        }
        assert_ok(ms_buf_append_byte(out, byte, &st));
    }
    text->at++;
    size_t bytes = out->bytes - start;
    long long count = *text->at == '*' ? request_number(text) : 1;
    assert_ok(ms_buf_reserve(out, bytes * (size_t)count, &st));
    for (long long i = 1; i < count; i++) {
        memcpy(out->ptr + out->bytes, out->ptr + start, bytes);
        out->bytes += bytes;
    }
}

static inline void request_items(request_text *text, ms_buf *out, char end);

/* What is between two signs, or quoted, with its length in front. */
static inline void request_delimited(request_text *text, ms_buf *out)
{
    ms_buf inner;
    ms_buf_init(&inner, REQUEST_BYTES_MAX);
    if (*text->at == '\'') {
        request_quoted(text, &inner);
    } else {
        text->at++;
        request_items(text, &inner, '}');
    }
    request_put_varint(out, inner.bytes);
    request_put(out, ms_buf_view(&inner));
    ms_buf_release(&inner);
}

static inline void request_field(request_text *text, ms_buf *out)
{
    char *end = NULL;
    uint64_t field = strtoull(text->at, &end, 10);
    if (end == text->at) {
        fail_msg("no field at \"%s\"", text->at);
    }
    text->at = end;
    if (*end == '#') {
        request_put_varint(out, field << 3);
        request_put_varint(out, (uint64_t)request_number(text));
    } else if (*end == '~') {
        double value = strtod(end + 1, &end);
        text->at = end;
        request_put_varint(out, field << 3 | 1);
        request_put(out, ms_str_make((const char *)&value, sizeof(value)));
    } else {
        request_put_varint(out, field << 3 | 2);
        request_delimited(text, out);
    }
}

/* (...)*COUNT, (FIELD{})>COUNT */
static inline void request_group(request_text *text, ms_buf *out)
{
    ms_buf inner;
    ms_buf_init(&inner, REQUEST_BYTES_MAX);
    text->at++;
    const char *start = text->at;
    request_items(text, &inner, ')');
    bool nests = *text->at == '>';
    long long count = request_number(text);
    for (long long i = 0; !nests && i < count; i++) {
        request_text turn = {.at = start, .all = text->all, .turn = i};
        request_items(&turn, out, ')');
    }
    if (nests) {
        uint64_t tag = strtoull(start, NULL, 10) << 3 | 2;
        ms_buf_reset(&inner);
        for (long long i = 0; i < count; i++) {
            ms_buf outer;
            ms_buf_init(&outer, REQUEST_BYTES_MAX);
            request_put_varint(&outer, tag);
            request_put_varint(&outer, inner.bytes);
            request_put(&outer, ms_buf_view(&inner));
            ms_buf_release(&inner);
            inner = outer;
        }
        request_put(out, ms_buf_view(&inner));
    }
    ms_buf_release(&inner);
}

static inline void request_bytes(request_text *text, ms_buf *out)
{
    ms_status st = {0};
    for (text->at++; *text->at != '!';) {
        assert_ok(ms_buf_append_byte(out, (char)request_hex(text), &st));
    }
    text->at++;
}

static inline void request_items(request_text *text, ms_buf *out, char end)
{
    while (*text->at != end) {
        if (*text->at == ' ') {
            text->at++;
        } else if (*text->at == '(') {
            request_group(text, out);
        } else if (*text->at == '!') {
            request_bytes(text, out);
        } else {
            request_field(text, out);
        }
    }
    text->at += end != '\0';
}

/* Appends the bytes of a text. */
static inline void request_make(const char *text, ms_buf *out)
{
    request_text reader = {.at = text, .all = text};
    request_items(&reader, out, '\0');
}

#endif
