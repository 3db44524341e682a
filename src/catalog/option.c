/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Typed options against their descriptor tables. The tables are small and the lists short, so keys
 * are found by walking; nothing here is called per row.
 */
#include "catalog/option.h"

#include "base/num.h"
#include "type/text.h"

#include <inttypes.h>
#include <stdio.h>

/* How many edits a misspelt key may be away to be offered as a hint. */
#define NEAR_EDITS 3u

/* The end of the dotted component that starts at from. */
static size_t component_end(ms_str key, size_t from)
{
    size_t end = ms_str_find_byte(key, '.', from);
    return end == SIZE_MAX ? key.bytes : end;
}

/* True when key is the pattern, component by component, "#" matching any one that is not empty. */
static bool matches(ms_str pattern, ms_str key)
{
    size_t p = 0;
    size_t k = 0;
    for (;;) {
        size_t p_end = component_end(pattern, p);
        size_t k_end = component_end(key, k);
        ms_str want = ms_str_slice(pattern, p, p_end);
        ms_str have = ms_str_slice(key, k, k_end);
        bool any = ms_str_equals(want, ms_str_lit("#"));
        if (any ? have.bytes == 0 : !ms_str_equals(want, have)) {
            return false;
        }
        if (p_end == pattern.bytes || k_end == key.bytes) {
            return p_end == pattern.bytes && k_end == key.bytes;
        }
        p = p_end + 1;
        k = k_end + 1;
    }
}

const ms_option_desc *ms_option_find(const ms_option_desc *descs, uint32_t desc_count, ms_str key)
{
    for (uint32_t i = 0; i < desc_count; i++) {
        if (matches(ms_str_cstr(descs[i].key), key)) {
            return &descs[i];
        }
    }
    return NULL;
}

const char *ms_option_nearest(const ms_option_desc *descs, uint32_t desc_count, ms_str key)
{
    const char *best = NULL;
    unsigned best_edits = NEAR_EDITS + 1;
    for (uint32_t i = 0; i < desc_count; i++) {
        unsigned edits = ms_str_distance(key, ms_str_cstr(descs[i].key), NEAR_EDITS);
        if (edits < best_edits) {
            best = descs[i].key;
            best_edits = edits;
        }
    }
    return best;
}

/* A text that is read as its descriptor says, and what messages about it name. */
typedef struct reading {
    const ms_option_desc *desc;
    ms_str key; /* as the user wrote it: with its prefix, and no "#" */
    ms_str text;
    ms_span span;
    const char *what;
    ms_status *st;
} reading;

static ms_rc bad_value(const reading *r, const char *why)
{
    ms_status_set(r->st, MS_INVALID_OPTION, r->span, "%s \"%.*s\" cannot be \"%.*s\": %s", r->what,
                  MS_STR_ARG(r->key), MS_STR_ARG(r->text), why);
    return r->desc->hint != NULL ? ms_status_hint(r->st, "%s", r->desc->hint) : r->st->code;
}

/* The index of text among the values "a|b|c", without case; -1 when it is none of them. */
static int64_t enum_index(const char *values, ms_str text)
{
    ms_str rest = ms_str_cstr(values);
    for (int64_t index = 0;; index++) {
        size_t bar = ms_str_find_byte(rest, '|', 0);
        ms_str item = ms_str_slice(rest, 0, bar == SIZE_MAX ? rest.bytes : bar);
        if (ms_str_equals_nocase(item, text)) {
            return index;
        }
        if (bar == SIZE_MAX) {
            return -1;
        }
        rest = ms_str_slice(rest, bar + 1, rest.bytes);
    }
}

static ms_rc parse_enum(const reading *r, ms_option_value *value)
{
    value->i64 = enum_index(r->desc->values, r->text);
    if (value->i64 >= 0) {
        return MS_OK;
    }
    ms_status_set(r->st, MS_INVALID_OPTION, r->span, "%s \"%.*s\" cannot be \"%.*s\"", r->what,
                  MS_STR_ARG(r->key), MS_STR_ARG(r->text));
    if (r->desc->hint != NULL) {
        return ms_status_hint(r->st, "%s", r->desc->hint);
    }
    return ms_status_hint(r->st, "It takes one of: %s.", r->desc->values);
}

static ms_rc check_range(const reading *r, int64_t value)
{
    const ms_option_desc *desc = r->desc;
    bool bounded = desc->min != 0 || desc->max != 0;
    int64_t max = desc->max == 0 ? INT64_MAX : desc->max;
    if (!bounded || (value >= desc->min && value <= max)) {
        return MS_OK;
    }
    char why[96];
    if (max == INT64_MAX) {
        snprintf(why, sizeof why, "it must be at least %" PRId64, desc->min);
    } else {
        snprintf(why, sizeof why, "it must be from %" PRId64 " to %" PRId64, desc->min, max);
    }
    return bad_value(r, why);
}

/* What is wrong with a duration, or NULL. Cut to whole milliseconds, but never to none: 0 mostly
 * means "off", which is not what somebody asks for with "1 ns". */
static const char *parse_duration(ms_str text, int64_t *ms_out)
{
    ms_status unused = {0};
    int64_t duration_ns = 0;
    if (ms_num_parse_duration_ns(text, &duration_ns, &unused) != MS_OK) {
        return "it takes a duration such as \"500 ms\" or \"1 min\"";
    }
    *ms_out = duration_ns / 1000000;
    return duration_ns > 0 && *ms_out == 0 ? "the shortest duration is 1 ms" : NULL;
}

static ms_rc parse_number(const reading *r, ms_option_value *value)
{
    ms_status inner = {0};
    uint64_t bytes = 0;
    bool truth = false;
    const char *why = NULL;
    switch (r->desc->kind) {
    case MS_OPT_BOOL:
        why = ms_num_parse_bool(r->text, &truth, &inner) != MS_OK ? "it takes true or false" : NULL;
        value->i64 = truth;
        break;
    case MS_OPT_I64:
        why = !ms_num_scan_i64(r->text, &value->i64) ? "it takes an integer" : NULL;
        break;
    case MS_OPT_F64:
        why = !ms_text_parse_f64(r->text, &value->f64) ? "it takes a number" : NULL;
        break;
    case MS_OPT_DURATION:
        why = parse_duration(r->text, &value->i64);
        break;
    case MS_OPT_BYTES:
        why = ms_num_parse_memory(r->text, &bytes, &inner) != MS_OK || bytes > INT64_MAX
                  ? "it takes a size such as \"64 mb\""
                  : NULL;
        value->i64 = (int64_t)bytes;
        break;
    case MS_OPT_STRING:
    case MS_OPT_ENUM:
    case MS_OPT_LIST:
        return MS_OK;
    }
    if (why != NULL) {
        return bad_value(r, why);
    }
    return r->desc->kind == MS_OPT_F64 ? MS_OK : check_range(r, value->i64);
}

ms_rc ms_option_parse(const ms_option_desc *desc, ms_str key, ms_str text, ms_span span,
                      const char *what, ms_option_value *value_out, ms_status *st)
{
    *value_out = (ms_option_value){0};
    ms_option_value value = {.has_value = true, .span = span, .text = text};
    reading r = {desc, key, text, span, what, st};
    if (desc->kind == MS_OPT_ENUM) {
        MS_TRY(parse_enum(&r, &value));
    } else {
        r.text = ms_str_trim(text);
        MS_TRY(parse_number(&r, &value));
    }
    *value_out = value;
    return MS_OK;
}

/* The key of an entry as the descriptors spell it: without the prefix of its list. */
static ms_str inner_key(const ms_option_list *list, const ms_option *entry)
{
    return ms_str_slice(entry->key, list->prefix.bytes, SIZE_MAX);
}

static ms_rc check_entry(const ms_option_list *list, const ms_option *entry,
                         const ms_option_desc *descs, uint32_t desc_count, const char *owner,
                         ms_status *st)
{
    ms_str key = inner_key(list, entry);
    const ms_option_desc *desc = ms_option_find(descs, desc_count, key);
    if (desc == NULL) {
        ms_status_set(st, MS_UNKNOWN_OPTION, entry->key_span, "%s has no option \"%.*s\"", owner,
                      MS_STR_ARG(entry->key));
        const char *near = ms_option_nearest(descs, desc_count, key);
        if (near != NULL) {
            return ms_status_hint(st, "Did you mean \"%.*s%s\"?", MS_STR_ARG(list->prefix), near);
        }
        return st->code;
    }
    if (desc->unsupported) {
        ms_status_set(st, MS_NOT_SUPPORTED, entry->key_span,
                      "option \"%.*s\" of %s is not supported yet", MS_STR_ARG(entry->key), owner);
        return desc->hint != NULL ? ms_status_hint(st, "%s", desc->hint) : st->code;
    }
    ms_option_value value;
    return ms_option_parse(desc, entry->key, entry->value, entry->value_span, "option", &value, st);
}

/* The last entry of a key, which is the one that counts; NULL when there is none. */
static const ms_option *find_entry(const ms_option_list *list, ms_str key)
{
    for (uint32_t i = list->count; i-- > 0;) {
        if (ms_str_equals(inner_key(list, &list->items[i]), key)) {
            return &list->items[i];
        }
    }
    return NULL;
}

ms_rc ms_options_check(const ms_option_list *list, const ms_option_desc *descs, uint32_t desc_count,
                       bool (*extra)(void *arg, ms_str key), void *arg, const char *owner,
                       ms_status *st)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const ms_option *entry = &list->items[i];
        bool described = ms_option_find(descs, desc_count, inner_key(list, entry)) != NULL;
        if (described || extra == NULL || !extra(arg, entry->key)) {
            MS_TRY(check_entry(list, entry, descs, desc_count, owner, st));
        }
    }
    for (uint32_t d = 0; d < desc_count; d++) {
        if (descs[d].required && find_entry(list, ms_str_cstr(descs[d].key)) == NULL) {
            ms_status_set(st, MS_MISSING_OPTION, ms_span_none, "%s needs the option \"%.*s%s\"",
                          owner, MS_STR_ARG(list->prefix), descs[d].key);
            return descs[d].hint != NULL ? ms_status_hint(st, "%s", descs[d].hint) : st->code;
        }
    }
    return MS_OK;
}

ms_rc ms_option_get(const ms_option_list *list, const ms_option_desc *descs, uint32_t desc_count,
                    const char *key, ms_option_value *value_out, ms_status *st)
{
    *value_out = (ms_option_value){0};
    ms_str wanted = ms_str_cstr(key);
    const ms_option_desc *desc = ms_option_find(descs, desc_count, wanted);
    MS_ASSERT(desc != NULL);
    const ms_option *entry = find_entry(list, wanted);
    if (entry != NULL) {
        MS_TRY(ms_option_parse(desc, entry->key, entry->value, entry->value_span, "option",
                               value_out, st));
        value_out->is_set = true;
        return MS_OK;
    }
    if (desc->fallback == NULL) {
        return MS_OK;
    }
    return ms_option_parse(desc, wanted, ms_str_cstr(desc->fallback), ms_span_none, "option",
                           value_out, st);
}

ms_option_list ms_options_with_prefix(ms_arena *arena, const ms_option_list *list, ms_str prefix)
{
    ms_option *items = ms_arena_array(arena, ms_option, list->count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        if (ms_str_starts_with(list->items[i].key, prefix)) {
            items[count++] = list->items[i];
        }
    }
    return (ms_option_list){count, items, prefix};
}
