/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts of options to ranges of keys.
 */
#include "connector/bigtable/row_ranges.h"

#include "base/limits.h"
#include "type/text.h"

#define PREFIXES "scan.row-prefix"
#define START "scan.row-range.start-closed"
#define END "scan.row-range.end-open"
#define RANGES "scan.row-ranges"

typedef struct ranger {
    ms_arena *arena;
    const msi_bt_range_options *options;
    ms_bt_range *list;
    size_t count;
    char *room; /* where the next unescaped byte goes: a text never grows by that */
    ms_status *st;
} ranger;

/* The option, and the entry of its list, that is being read. */
typedef struct place {
    const char *key;
    uint32_t entry; /* from 1; 0: the option is no list */
    ms_span span;
} place;

static ms_rc refuse(ranger *r, const place *at, const char *why)
{
    if (at->entry == 0) {
        return ms_status_set(r->st, MS_INVALID_OPTION, at->span, "option \"%s\": %s", at->key, why);
    }
    return ms_status_set(r->st, MS_INVALID_OPTION, at->span, "option \"%s\", entry %u: %s", at->key,
                         at->entry, why);
}

/* The bytes that a text stands for. */
static ms_rc decode_key(ranger *r, const place *at, ms_str text, ms_str *key_out)
{
    *key_out = text;
    if (r->options->is_base64) {
        char *bytes = ms_arena_alloc(r->arena, text.bytes / 4 * 3 + 3, 1);
        size_t count = 0;
        if (!ms_text_base64_decode(text, bytes, &count)) {
            refuse(r, at, "a key is not canonical Base64");
            return ms_status_hint(r->st, "'scan.row-key-encoding' = 'BASE64' takes the standard "
                                         "alphabet, padded, without blanks.");
        }
        *key_out = (ms_str){bytes, count};
    }
    if (key_out->bytes == 0) {
        refuse(r, at, "a key cannot be empty");
        return ms_status_hint(r->st, "Leave the option out to read every row.");
    }
    return MS_OK;
}

/* Prefixes. */

static bool is_quote(char c)
{
    return c == '\'' || c == '"';
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Takes a quoted element at *from, which moves behind its closing quote. */
static ms_rc take_quoted(ranger *r, const place *at, ms_str text, size_t *from, ms_str *element_out)
{
    char quote = text.ptr[*from];
    char *start = r->room;
    for (size_t i = *from + 1; i < text.bytes; i++) {
        bool is_doubled = i + 1 < text.bytes && text.ptr[i + 1] == quote;
        if (text.ptr[i] == quote && !is_doubled) {
            *from = i + 1;
            *element_out = (ms_str){start, (size_t)(r->room - start)};
            return MS_OK;
        }
        i += text.ptr[i] == quote ? 1 : 0;
        *r->room++ = text.ptr[i];
    }
    return refuse(r, at, "a quote is not closed");
}

/* Takes one element; *from moves to the separator behind it, or to the end. */
static ms_rc take_element(ranger *r, const place *at, ms_str text, size_t *from,
                          ms_str *element_out)
{
    while (*from < text.bytes && is_blank(text.ptr[*from])) {
        *from += 1;
    }
    if (*from < text.bytes && is_quote(text.ptr[*from])) {
        MS_TRY(take_quoted(r, at, text, from, element_out));
        while (*from < text.bytes && is_blank(text.ptr[*from])) {
            *from += 1;
        }
        bool is_over = *from == text.bytes || text.ptr[*from] == ';';
        return is_over ? MS_OK : refuse(r, at, "there is text behind a closing quote");
    }
    size_t end = ms_str_find_byte(text, ';', *from);
    end = end == SIZE_MAX ? text.bytes : end;
    *element_out = ms_str_trim(ms_str_slice(text, *from, end));
    *from = end;
    return element_out->bytes > 0 ? MS_OK : refuse(r, at, "a prefix cannot be empty");
}

/* Lists have an end, as IN lists do. */
static ms_rc begin_entry(ranger *r, place *at)
{
    at->entry++;
    if (at->entry <= MS_LIMIT_LIST_ITEMS) {
        return MS_OK;
    }
    return ms_status_set(r->st, MS_LIMIT, at->span, "option \"%s\" has more than %u entries",
                         at->key, MS_LIMIT_LIST_ITEMS);
}

static ms_rc add_prefixes(ranger *r)
{
    ms_str text = r->options->prefixes.text;
    place at = {.key = PREFIXES, .span = r->options->prefixes.span};
    r->room = ms_arena_alloc(r->arena, text.bytes, 1);
    for (size_t from = 0; from <= text.bytes; from++) {
        MS_TRY(begin_entry(r, &at));
        ms_str element = {NULL, 0};
        ms_str key = {NULL, 0};
        MS_TRY(take_element(r, &at, text, &from, &element));
        MS_TRY(decode_key(r, &at, element, &key));
        r->list[r->count++] = ms_bt_range_prefix(key, r->arena);
    }
    return MS_OK;
}

/* Ranges. */

/* Adds [start, end) after refusing what no key can be in. */
static ms_rc add_range(ranger *r, const place *at, ms_str start, ms_str end)
{
    int order = start.bytes > 0 && end.bytes > 0 ? ms_str_compare(start, end) : -1;
    if (order >= 0) {
        return refuse(r, at,
                      order == 0 ? "the start of a range equals its end, so that no key is in it"
                                 : "the start of a range is behind its end");
    }
    r->list[r->count++] = ms_bt_range_make(start, end);
    return MS_OK;
}

static ms_rc add_pair(ranger *r)
{
    const msi_bt_range_options *options = r->options;
    place start_at = {.key = START, .span = options->start_closed.span};
    place end_at = {.key = END, .span = options->end_open.span};
    ms_str start = {NULL, 0};
    ms_str end = {NULL, 0};
    if (options->start_closed.has_value) {
        MS_TRY(decode_key(r, &start_at, options->start_closed.text, &start));
    }
    if (options->end_open.has_value) {
        MS_TRY(decode_key(r, &end_at, options->end_open.text, &end));
    }
    return add_range(r, options->end_open.has_value ? &end_at : &start_at, start, end);
}

static bool is_grammar(char c)
{
    return c == '\\' || c == ';' || c == ',' || c == '[' || c == ']' || c == '(' || c == ')';
}

/*
 * Reads an endpoint up to the unescaped character `until`; *from moves behind that.
 */
static ms_rc take_endpoint(ranger *r, const place *at, ms_str text, char until, size_t *from,
                           ms_str *endpoint_out)
{
    char *start = r->room;
    for (size_t i = *from; i < text.bytes; i++) {
        char c = text.ptr[i];
        if (c == until) {
            *from = i + 1;
            *endpoint_out = (ms_str){start, (size_t)(r->room - start)};
            return MS_OK;
        }
        if (c == '\\') {
            i++;
            if (i == text.bytes || !is_grammar(text.ptr[i])) {
                return refuse(r, at, "a backslash stands before one of \\ ; , [ ] ( ) only");
            }
        } else if (is_grammar(c)) {
            return refuse(r, at, "a grammar character in a key needs a backslash before it");
        }
        *r->room++ = text.ptr[i];
    }
    return refuse(r, at, until == ',' ? "a range has no \",\"" : "a range does not end with \")\"");
}

/* One entry, "[start,end)", up to the ";" behind it or the end; *from moves there. */
static ms_rc add_entry(ranger *r, const place *at, ms_str text, size_t *from)
{
    if (*from == text.bytes || text.ptr[*from] == ';') {
        return refuse(r, at, "a range cannot be empty");
    }
    if (text.ptr[*from] != '[') {
        return refuse(r, at, "a range begins with \"[\"");
    }
    *from += 1;
    ms_str start = {NULL, 0};
    ms_str end = {NULL, 0};
    MS_TRY(take_endpoint(r, at, text, ',', from, &start));
    MS_TRY(take_endpoint(r, at, text, ')', from, &end));
    if (*from < text.bytes && text.ptr[*from] != ';') {
        return refuse(r, at, "there is text behind the \")\" of a range");
    }
    if (start.bytes == 0 && end.bytes == 0) {
        return refuse(r, at, "a range needs a start or an end");
    }
    if (start.bytes > 0) {
        MS_TRY(decode_key(r, at, start, &start));
    }
    if (end.bytes > 0) {
        MS_TRY(decode_key(r, at, end, &end));
    }
    return add_range(r, at, start, end);
}

static ms_rc add_entries(ranger *r)
{
    ms_str text = r->options->ranges.text;
    place at = {.key = RANGES, .span = r->options->ranges.span};
    r->room = ms_arena_alloc(r->arena, text.bytes, 1);
    for (size_t from = 0; from <= text.bytes; from++) {
        MS_TRY(begin_entry(r, &at));
        MS_TRY(add_entry(r, &at, text, &from));
    }
    return MS_OK;
}

/* All. */

ms_bt_ranges msi_bt_row_ranges_all(ms_arena *arena)
{
    return (ms_bt_ranges){ms_arena_new(arena, ms_bt_range), 1};
}

/* At most so many ranges can be in the texts: one behind each separator, and the pair. No list has
 * more entries than begin_entry allows. */
static size_t count_most(const msi_bt_range_options *options)
{
    size_t count = 3;
    const ms_str texts[2] = {options->prefixes.text, options->ranges.text};
    for (size_t t = 0; t < 2; t++) {
        for (size_t i = 0; i < texts[t].bytes; i++) {
            count += texts[t].ptr[i] == ';';
        }
    }
    size_t limit = 2 * (size_t)MS_LIMIT_LIST_ITEMS + 1;
    return count < limit ? count : limit;
}

ms_rc msi_bt_row_ranges_make(ms_arena *arena, const msi_bt_range_options *options,
                             ms_bt_ranges *ranges_out, ms_status *st)
{
    *ranges_out = (ms_bt_ranges){NULL, 0};
    ranger r = {.arena = arena, .options = options, .st = st};
    r.list = ms_arena_array(arena, ms_bt_range, count_most(options));
    if (options->prefixes.has_value) {
        MS_TRY(add_prefixes(&r));
    }
    if (options->start_closed.has_value || options->end_open.has_value) {
        MS_TRY(add_pair(&r));
    }
    if (options->ranges.has_value) {
        MS_TRY(add_entries(&r));
    }
    *ranges_out =
        r.count == 0 ? msi_bt_row_ranges_all(arena) : ms_bt_ranges_coalesce(r.list, r.count, arena);
    return MS_OK;
}
