/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LIKE. A pattern is turned into a list of items: literal bytes, one character, any run. The common
 * shapes (equals, prefix%, %suffix, %part%) are recognized and matched without the list. Others
 * are cut at their % into parts, which are looked for from the left, each behind the end of the one
 * before, and never again from an earlier place: the match that ends first leaves most.
 *
 * A part with _ is looked for by all its prefixes at once (Baeza-Yates and Gonnet, A New Approach
 * to Text Searching): bit i of a state says that items 0 to i end here. A byte moves the state by
 * one and keeps the bits whose item it fits. A _ takes a whole character, so its bit waits until
 * the character ends:
 *
 *     part a_b      text a é b                     byte    a    C3   A9   b
 *     items 0 1 2                                  state  001  000  010  100 = found
 *                                                  waiting      010
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

/* What stands between two %. */
struct ms_like_part {
    ms_str items;
    ms_str text; /* the literal bytes, when there is no _ */
    bool has_one;
    bool begins_with_one;
    char first;            /* item, when it is a literal */
    uint32_t words;        /* of a state; 0: no tables */
    uint32_t last;         /* the number of the last item */
    const uint64_t *fits;  /* words for each byte: the items that it fits */
    const uint64_t *waits; /* words: the items that are _ */
};

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

/* Tables for finding a part that has _, when it is not too long and there is room for them. */
static void make_tables(ms_arena *arena, size_t *room, ms_like_part *part, uint32_t item_count)
{
    uint32_t words = (item_count + 63) / 64;
    size_t bytes = (size_t)256 * words * sizeof(uint64_t);
    if (item_count > MS_LIKE_ITEMS_MAX || bytes > *room) {
        return;
    }
    *room -= bytes;
    uint64_t *fits = ms_arena_array(arena, uint64_t, (size_t)256 * words);
    uint64_t *waits = ms_arena_array(arena, uint64_t, words);
    uint32_t item = 0;
    for (size_t i = 0; i < part->items.bytes; item++) {
        uint64_t bit = UINT64_C(1) << (item % 64);
        if (part->items.ptr[i] == ITEM_ONE) {
            waits[item / 64] |= bit;
            i++;
        } else {
            fits[(size_t)(unsigned char)part->items.ptr[i + 1] * words + item / 64] |= bit;
            i += 2;
        }
    }
    part->words = words;
    part->fits = fits;
    part->waits = waits;
}

/* The part of items [start, end). is_searched: a % stands in front of it. */
static void make_part(ms_arena *arena, size_t *room, ms_str items, bool is_searched,
                      ms_like_part *out)
{
    uint32_t count = 0;
    bool has_one = false;
    for (size_t i = 0; i < items.bytes; count++) {
        has_one |= items.ptr[i] == ITEM_ONE;
        i += items.ptr[i] == ITEM_ONE ? 1 : 2;
    }
    *out = (ms_like_part){.items = items,
                          .has_one = has_one,
                          .begins_with_one = items.ptr[0] == ITEM_ONE,
                          .first = items.bytes > 1 ? items.ptr[1] : '\0',
                          .last = count - 1};
    if (!has_one) {
        out->text = literal_of(arena, items.ptr, 0, items.bytes);
    } else if (is_searched) {
        make_tables(arena, room, out, count);
    }
}

/* Behind the items of a part that starts at a place. */
static size_t part_end(ms_str items, size_t at)
{
    while (at < items.bytes && items.ptr[at] != ITEM_ANY) {
        at += items.ptr[at] == ITEM_ONE ? 1 : 2;
    }
    return at;
}

static void split_parts(ms_arena *arena, ms_str items, ms_like *out)
{
    size_t room = MS_LIKE_TABLE_BYTES_MAX;
    size_t marks = 0;
    for (size_t at = part_end(items, 0); at < items.bytes; at = part_end(items, at + 1)) {
        marks++;
    }
    ms_like_part *parts = ms_arena_array(arena, ms_like_part, marks + 1);
    size_t at = 0;
    while (at < items.bytes) {
        size_t end = part_end(items, at);
        bool is_open = at > 0;
        if (end > at) {
            ms_str part = ms_str_slice(items, at, end);
            make_part(arena, &room, part, is_open, &parts[out->part_count++]);
        }
        out->is_open_start |= at == 0 && end == 0;
        out->is_open_end = end < items.bytes && end + 1 == items.bytes;
        at = end + 1;
    }
    out->parts = parts;
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
        split_parts(arena, ms_str_make(items, bytes), out);
    }
    return fault;
}

ms_rc ms_like_report(ms_like_fault fault, ms_str pattern, ms_str escape, size_t at, ms_status *st)
{
    if (fault == MS_LIKE_OK) {
        return MS_OK;
    }
    if (fault == MS_LIKE_BAD_ESCAPE) {
        ms_status_set(st, MS_INVALID_ARGUMENT, ms_span_none,
                      "the escape of LIKE must be one character");
        return ms_status_detail(st, "Invalid escape character '%.*s'", MS_STR_ARG(escape));
    }
    ms_status_set(st, MS_INVALID_ARGUMENT, ms_span_none, "the pattern of LIKE has a bad escape");
    ms_status_detail(st, "Invalid escape sequence '%.*s', %zu", MS_STR_ARG(pattern), at);
    return ms_status_hint(st, "The escape character must stand before %%, _ or itself.");
}

/* \n, \r, U+0085, U+2028 and U+2029. */
static bool is_line_end(ms_str character)
{
    const char *at = character.ptr;
    if (character.bytes == 1) {
        return at[0] == '\n' || at[0] == '\r';
    }
    if (character.bytes == 2) {
        return memcmp(at, "\xC2\x85", 2) == 0;
    }
    return character.bytes == 3 && memcmp(at, "\xE2\x80", 2) == 0 &&
           (at[2] == '\xA8' || at[2] == '\xA9');
}

/* What a match looks at now and then. */
typedef struct watch {
    const _Atomic bool *canceled;
    uint64_t steps;      /* of all searches */
    uint64_t next_steps; /* when to look again */
} watch;

/* So many steps take some ten microseconds. */
#define WATCH_STEPS 16384u

static bool is_canceled(watch *w, uint64_t steps)
{
    w->steps += steps;
    if (w->steps < w->next_steps || w->canceled == NULL) {
        return false;
    }
    w->next_steps = w->steps + WATCH_STEPS;
    /* Order relaxed: the answer is dropped, nothing is read on the strength of it. */
    return atomic_load_explicit(w->canceled, memory_order_relaxed);
}

/* The end of the part's match at a place, or SIZE_MAX. */
static size_t match_at(const ms_like_part *part, ms_str text, size_t at)
{
    const ms_str items = part->items;
    for (size_t item = 0; item < items.bytes;) {
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
    return at;
}

/* True when a match may begin at a place of a search that began at `from`. */
static bool may_begin(const ms_like_part *part, ms_str text, size_t at, size_t from)
{
    return !part->begins_with_one || at == from || !ms_utf8_is_continuation(text.ptr[at]);
}

/* Tries every place. */
static size_t find_slowly(const ms_like_part *part, ms_str text, size_t from, bool at_end, watch *w)
{
    for (size_t at = from; at < text.bytes; at++) {
        size_t end = may_begin(part, text, at, from) ? match_at(part, text, at) : SIZE_MAX;
        if (end != SIZE_MAX && (!at_end || end == text.bytes)) {
            return end;
        }
        if (is_canceled(w, part->items.bytes)) {
            break;
        }
    }
    return SIZE_MAX;
}

/* Where a search by states stands. A _ waits for the end of its character. */
typedef struct search {
    uint64_t state[MS_LIKE_ITEMS_MAX / 64];
    uint64_t waiting[MS_LIKE_ITEMS_MAX / 64]; /* from the start of the character on */
    uint64_t partial[MS_LIKE_ITEMS_MAX / 64]; /* from within it */
    bool is_waiting;                          /* one of the two has a bit */
    size_t character;                         /* its start */
} search;

/* Each waiting _ takes the character that ends behind a place, unless that ends a line. */
static inline void take_character(search *s, uint32_t words, ms_str text, size_t at)
{
    bool is_line = is_line_end(ms_str_slice(text, s->character, at + 1));
    for (uint32_t i = 0; i < words; i++) {
        s->state[i] |= s->partial[i] | (is_line ? 0 : s->waiting[i]);
        s->partial[i] = 0;
        s->waiting[i] = 0;
    }
    s->is_waiting = false;
}

/* Moves by the byte at a place; `begins`: a match may begin in front of it. True when one ends. */
static inline bool take_byte(const ms_like_part *part, search *s, uint32_t words, ms_str text,
                             size_t at, bool begins)
{
    bool is_start = at == 0 || !ms_utf8_is_continuation(text.ptr[at]);
    bool is_end = at + 1 == text.bytes || !ms_utf8_is_continuation(text.ptr[at + 1]);
    const uint64_t *fits = part->fits + (size_t)(unsigned char)text.ptr[at] * words;
    uint64_t *from = is_start ? s->waiting : s->partial;
    uint64_t carry = begins;
    uint64_t any = 0;
    for (uint32_t i = 0; i < words; i++) {
        uint64_t moved = s->state[i] << 1 | carry;
        carry = s->state[i] >> 63;
        from[i] |= moved & part->waits[i];
        any |= from[i];
        s->state[i] = moved & fits[i];
    }
    s->character = is_start ? at : s->character;
    s->is_waiting |= any != 0;
    if (is_end && s->is_waiting) {
        take_character(s, words, text, at);
    }
    return (s->state[part->last / 64] >> (part->last % 64) & 1) != 0;
}

static inline bool is_idle(const search *s, uint32_t words)
{
    uint64_t any = 0;
    for (uint32_t i = 0; i < words; i++) {
        any |= s->state[i];
    }
    return any == 0 && !s->is_waiting;
}

static inline size_t find_by_states(const ms_like_part *part, uint32_t words, ms_str text,
                                    size_t from, bool at_end, watch *w)
{
    search s;
    memset(s.state, 0, words * sizeof(uint64_t));
    memset(s.waiting, 0, words * sizeof(uint64_t));
    memset(s.partial, 0, words * sizeof(uint64_t));
    s.character = from;
    s.is_waiting = false;
    for (size_t at = from; at < text.bytes; at++) {
        if (!part->begins_with_one && is_idle(&s, words)) {
            /* Nothing has begun: on to where something may. */
            const char *next = memchr(text.ptr + at, part->first, text.bytes - at);
            if (next == NULL) {
                return SIZE_MAX;
            }
            at = (size_t)(next - text.ptr);
        }
        bool found = take_byte(part, &s, words, text, at, may_begin(part, text, at, from));
        if (found && (!at_end || at + 1 == text.bytes)) {
            return at + 1;
        }
        if (is_canceled(w, words)) {
            break;
        }
    }
    return SIZE_MAX;
}

/* The end of the first match from a place on, or SIZE_MAX; at_end: of one that ends the text. */
static size_t find_part(const ms_like_part *part, ms_str text, size_t from, bool at_end, watch *w)
{
    if (part->has_one) {
        /* One word, by far the most common, has a loop of its own. */
        return part->words == 0   ? find_slowly(part, text, from, at_end, w)
               : part->words == 1 ? find_by_states(part, 1, text, from, at_end, w)
                                  : find_by_states(part, part->words, text, from, at_end, w);
    }
    size_t bytes = part->text.bytes;
    if (bytes > text.bytes - from) {
        return SIZE_MAX;
    }
    if (at_end) {
        return ms_str_ends_with(text, part->text) ? text.bytes : SIZE_MAX;
    }
    const char *found = memmem(text.ptr + from, text.bytes - from, part->text.ptr, bytes);
    return found != NULL ? (size_t)(found - text.ptr) + bytes : SIZE_MAX;
}

static bool matches_general(const ms_like *like, ms_str text, watch *w)
{
    size_t at = 0;
    for (uint32_t i = 0; i < like->part_count; i++) {
        const ms_like_part *part = &like->parts[i];
        bool is_first = i == 0 && !like->is_open_start;
        bool is_last = i + 1 == like->part_count && !like->is_open_end;
        at = is_first ? match_at(part, text, 0) : find_part(part, text, at, is_last, w);
        if (at == SIZE_MAX || (is_last && at != text.bytes)) {
            return false;
        }
    }
    return true;
}

bool ms_like_matches(const ms_like *like, ms_str text, const _Atomic bool *canceled,
                     uint64_t *steps)
{
    watch w = {.canceled = canceled, .next_steps = WATCH_STEPS};
    bool found = false;
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
        found = matches_general(like, text, &w);
        break;
    }
    if (steps != NULL) {
        *steps += w.steps;
    }
    return found;
}
