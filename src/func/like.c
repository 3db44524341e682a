/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LIKE. A pattern is turned into a list of items: literal bytes, one character, any run. The common
 * shapes (equals, prefix%, %suffix, %part%) are recognized and matched without the list. The
 * general matcher takes the items between two % greedily from the left: when they do not fit at a
 * place, it goes one byte further, and never back to an earlier %. That is enough because an
 * earlier start never ends later.
 */
#include "func/like.h"

#include "func/utf8.h"

/*
 * In the compiled text an item is one of these bytes, or MARK_LITERAL and the byte it stands for.
 */
#define ITEM_ANY '%'
#define ITEM_ONE '_'
#define ITEM_LITERAL '\\'

static bool is_special(char c)
{
    return c == '%' || c == '_';
}

/* Appends the items of a pattern; the output has room for two bytes for each of the pattern. */
static ms_like_fault list_items(ms_str pattern, ms_str escape, char *out, size_t *bytes_out,
                                size_t *at_out)
{
    size_t at = 0;
    size_t bytes = 0;
    while (at < pattern.bytes) {
        bool escaped = escape.bytes > 0 && pattern.bytes - at >= escape.bytes &&
                       memcmp(pattern.ptr + at, escape.ptr, escape.bytes) == 0;
        if (escaped) {
            ms_str rest = ms_str_slice(pattern, at + escape.bytes, pattern.bytes);
            bool doubled = ms_str_starts_with(rest, escape);
            if (rest.bytes == 0 || (!is_special(rest.ptr[0]) && !doubled)) {
                *at_out = at;
                return MS_LIKE_BAD_SEQUENCE;
            }
            size_t taken = doubled ? escape.bytes : 1;
            for (size_t i = 0; i < taken; i++) {
                out[bytes++] = ITEM_LITERAL;
                out[bytes++] = rest.ptr[i];
            }
            at += escape.bytes + taken;
            continue;
        }
        char c = pattern.ptr[at++];
        if (!is_special(c)) {
            out[bytes++] = ITEM_LITERAL;
        }
        out[bytes++] = c;
    }
    *bytes_out = bytes;
    return MS_LIKE_OK;
}

/* The literal bytes between items [start, end), which are all literals. */
static ms_str literal_of(ms_arena *arena, const char *items, size_t start, size_t end)
{
    char *text = ms_arena_alloc(arena, (end - start) / 2 + 1, 1);
    size_t bytes = 0;
    for (size_t i = start; i < end; i += 2) {
        text[bytes++] = items[i + 1];
    }
    return ms_str_make(text, bytes);
}

/* Recognizes text, text%, %text, %text%. */
static bool classify(ms_arena *arena, const char *items, size_t bytes, ms_like *out)
{
    size_t start = 0;
    size_t end = bytes;
    while (start < end && items[start] == ITEM_ANY) {
        start++;
    }
    size_t at = start;
    while (at < end && items[at] == ITEM_LITERAL) {
        at += 2;
    }
    size_t rest = at;
    while (rest < end && items[rest] == ITEM_ANY) {
        rest++;
    }
    if (rest < end) {
        return false;
    }
    bool open_start = start > 0;
    bool open_end = at < end;
    out->kind = open_start ? (open_end || at == start ? MS_LIKE_CONTAINS : MS_LIKE_SUFFIX)
                           : (open_end ? MS_LIKE_PREFIX : MS_LIKE_EQUALS);
    out->text = literal_of(arena, items, start, at);
    return true;
}

ms_like_fault ms_like_compile(ms_arena *arena, ms_str pattern, ms_str escape, ms_like *out,
                              size_t *at_out)
{
    *out = (ms_like){.kind = MS_LIKE_GENERAL};
    if (escape.ptr != NULL && (escape.bytes == 0 || ms_utf8_next(escape, 0) != escape.bytes)) {
        return MS_LIKE_BAD_ESCAPE;
    }
    char *items = ms_arena_alloc(arena, pattern.bytes * 2 + 1, 1);
    size_t bytes = 0;
    ms_like_fault fault = list_items(pattern, escape, items, &bytes, at_out);
    if (fault == MS_LIKE_OK && !classify(arena, items, bytes, out)) {
        out->text = ms_str_make(items, bytes);
    }
    return fault;
}

/* \n, \r, U+0085, U+2028 and U+2029. */
static bool is_line_end(ms_str character)
{
    static const char *const ends[] = {"\n", "\r", "\xC2\x85", "\xE2\x80\xA8", "\xE2\x80\xA9"};
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        if (ms_str_equals(character, ms_str_cstr(ends[i]))) {
            return true;
        }
    }
    return false;
}

/*
 * Matches items up to the next % or the end against the text at `at`. Answers the end of the match,
 * or SIZE_MAX. *item_inout moves behind the items.
 */
static size_t match_run(ms_str items, size_t *item_inout, ms_str text, size_t at)
{
    size_t item = *item_inout;
    while (item < items.bytes && items.ptr[item] != ITEM_ANY) {
        if (at >= text.bytes) {
            return SIZE_MAX;
        }
        if (items.ptr[item] == ITEM_ONE) {
            size_t next = ms_utf8_next(text, at);
            if (is_line_end(ms_str_make(text.ptr + at, next - at))) {
                return SIZE_MAX;
            }
            at = next;
            item++;
        } else if (text.ptr[at] == items.ptr[item + 1]) {
            at++;
            item += 2;
        } else {
            return SIZE_MAX;
        }
    }
    *item_inout = item;
    return at;
}

static bool matches_general(ms_str items, ms_str text)
{
    size_t item = 0;
    size_t at = match_run(items, &item, text, 0);
    if (at == SIZE_MAX) {
        return false;
    }
    while (item < items.bytes) {
        item++; /* the % */
        if (item == items.bytes) {
            return true;
        }
        /* The first place where the run up to the next % fits; the last run must reach the end. */
        for (;; at++) {
            size_t next_item = item;
            size_t end = match_run(items, &next_item, text, at);
            if (end != SIZE_MAX && (next_item < items.bytes || end == text.bytes)) {
                item = next_item;
                at = end;
                break;
            }
            if (at >= text.bytes) {
                return false;
            }
        }
    }
    return at == text.bytes;
}

bool ms_like_matches(const ms_like *like, ms_str text)
{
    switch (like->kind) {
    case MS_LIKE_EQUALS:
        return ms_str_equals(text, like->text);
    case MS_LIKE_PREFIX:
        return ms_str_starts_with(text, like->text);
    case MS_LIKE_SUFFIX:
        return ms_str_ends_with(text, like->text);
    case MS_LIKE_CONTAINS:
        return like->text.bytes == 0 ||
               (text.bytes >= like->text.bytes &&
                memmem(text.ptr, text.bytes, like->text.ptr, like->text.bytes) != NULL);
    case MS_LIKE_GENERAL:
        return matches_general(like->text, text);
    }
    return false;
}
