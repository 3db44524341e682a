/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regular expressions: literals here, all others in RE2. What is a literal is decided narrowly:
 * bytes without meaning in RE2's syntax, a backslash before punctuation, and \xNN. Anything else,
 * even where it happens to mean one text, is RE2's.
 */
#include "bigtable/model/regex.h"

#include "bigtable/model/regex_shim.h"

#include <stdio.h>
#include <string.h>

/* Bounds longer than this would narrow a scan no further in practice. */
#define BOUND_BYTES 64u

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The byte that an escape at the start of the text stands for; returns the bytes of the escape, or
 * 0 when it is none of the simple ones. */
static size_t simple_escape(ms_str text, char *byte_out)
{
    if (text.bytes < 2) {
        return 0;
    }
    char c = text.ptr[1];
    if ((unsigned char)c < 0x80 && !is_word(c)) {
        *byte_out = c;
        return 2;
    }
    if (c != 'x' || text.bytes < 4) {
        return 0;
    }
    int high = hex_digit(text.ptr[2]);
    int low = hex_digit(text.ptr[3]);
    if (high < 0 || low < 0) {
        return 0;
    }
    *byte_out = (char)(high << 4 | low);
    return 4;
}

bool msi_regex_literal(ms_str pattern, ms_arena *arena, ms_str *literal_out)
{
    static const char meta[] = ".+*?()|[]{}^$";
    char *text = ms_arena_alloc(arena, pattern.bytes, 1);
    size_t bytes = 0;
    for (size_t i = 0; i < pattern.bytes;) {
        char c = pattern.ptr[i];
        size_t taken = 1;
        if (c == '\\') {
            taken = simple_escape(ms_str_slice(pattern, i, pattern.bytes), &c);
        } else if (c != '\0' && strchr(meta, c) != NULL) {
            taken = 0;
        }
        if (taken == 0) {
            return false;
        }
        text[bytes++] = c;
        i += taken;
    }
    *literal_out = ms_str_make(text, bytes);
    return true;
}

static void destroy_re2(void *arg)
{
    msi_re2_destroy(arg);
}

/* RE2 quotes a piece of the pattern, which may be any bytes. */
static void make_ascii(char *text)
{
    for (char *c = text; *c != '\0'; c++) {
        if (*c < 0x20 || *c > 0x7e) {
            *c = '?';
        }
    }
}

const msi_regex *msi_regex_make(ms_str pattern, size_t memory_max, ms_arena *arena, char *text_out,
                                size_t text_bytes)
{
    msi_regex *regex = ms_arena_new(arena, msi_regex);
    regex->is_literal = msi_regex_literal(pattern, arena, &regex->literal);
    if (regex->is_literal) {
        return regex;
    }
    regex->re2 =
        msi_re2_create(pattern.ptr, pattern.bytes, (int64_t)memory_max, text_out, text_bytes);
    if (regex->re2 == NULL) {
        make_ascii(text_out);
        return NULL;
    }
    ms_arena_on_release(arena, destroy_re2, regex->re2);
    int size = msi_re2_size(regex->re2);
    regex->size = size > 0 ? (uint32_t)size : 1;
    return regex;
}

int msi_regex_match(const msi_regex *regex, ms_str text)
{
    return regex->is_literal ? ms_str_equals(regex->literal, text)
                             : msi_re2_match(regex->re2, text.ptr, text.bytes);
}

ms_bt_range msi_regex_range(const msi_regex *regex, ms_arena *arena)
{
    ms_bt_range range = {0};
    if (regex->is_literal) {
        range.start = ms_bt_bound_make(MS_BT_BOUND_CLOSED, regex->literal);
        range.end = (ms_bt_bound){MS_BT_BOUND_CLOSED, regex->literal};
        return range;
    }
    char *min = ms_arena_alloc(arena, BOUND_BYTES, 1);
    char *max = ms_arena_alloc(arena, BOUND_BYTES, 1);
    size_t min_bytes = 0;
    size_t max_bytes = 0;
    if (msi_re2_bounds(regex->re2, BOUND_BYTES, min, &min_bytes, max, &max_bytes)) {
        range.start = ms_bt_bound_make(MS_BT_BOUND_CLOSED, ms_str_make(min, min_bytes));
        range.end = ms_bt_bound_make(MS_BT_BOUND_CLOSED, ms_str_make(max, max_bytes));
    }
    return range;
}
