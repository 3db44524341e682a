/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The algebra of ranges. Every comparison of bounds goes through one idea: a bound is a cut between
 * keys. A closed start cuts just before its key, an open start just behind it; a closed end cuts
 * just behind, an open end just before. A range is empty when its end cut is not behind its start
 * cut, or when no key lies between, which happens only for (k, k+00).
 */
#include "bigtable/model/range.h"

#include <stdlib.h>

/* A cut: before the key or behind it, or before all keys, or behind all keys. */
typedef struct cut {
    int side;       /* -1 before all keys, +1 behind all keys, 0 at the key */
    bool is_behind; /* at the key: behind it */
    ms_str key;
} cut;

static cut start_cut(const ms_bt_bound *start)
{
    if (start->kind == MS_BT_BOUND_NONE) {
        return (cut){.side = -1};
    }
    return (cut){.is_behind = start->kind == MS_BT_BOUND_OPEN, .key = start->key};
}

static cut end_cut(const ms_bt_bound *end)
{
    if (end->kind == MS_BT_BOUND_NONE) {
        return (cut){.side = 1};
    }
    return (cut){.is_behind = end->kind == MS_BT_BOUND_CLOSED, .key = end->key};
}

static int cut_compare(const cut *a, const cut *b)
{
    if (a->side != 0 || b->side != 0) {
        return a->side - b->side;
    }
    int order = ms_str_compare(a->key, b->key);
    return order != 0 ? order : (int)a->is_behind - (int)b->is_behind;
}

/* The bound of the other side at the same cut: for complements. */
static ms_bt_bound flip(const ms_bt_bound *bound)
{
    ms_bt_bound_kind kind =
        bound->kind == MS_BT_BOUND_CLOSED ? MS_BT_BOUND_OPEN : MS_BT_BOUND_CLOSED;
    return (ms_bt_bound){kind, bound->key};
}

ms_bt_range ms_bt_range_prefix(ms_str prefix, ms_arena *arena)
{
    size_t bytes = prefix.bytes;
    while (bytes > 0 && (unsigned char)prefix.ptr[bytes - 1] == 0xFFu) {
        bytes--;
    }
    ms_bt_range range = {ms_bt_bound_make(MS_BT_BOUND_CLOSED, prefix),
                         {MS_BT_BOUND_NONE, {NULL, 0}}};
    if (bytes > 0) {
        char *end = ms_arena_alloc(arena, bytes, 1);
        memcpy(end, prefix.ptr, bytes);
        end[bytes - 1] = (char)((unsigned char)end[bytes - 1] + 1);
        range.end = (ms_bt_bound){MS_BT_BOUND_OPEN, {end, bytes}};
    }
    return range;
}

ms_bt_range ms_bt_range_after(const ms_bt_range *range, ms_str last_key)
{
    static const char zero[1] = {0};
    ms_bt_bound resume = last_key.bytes == 0
                             ? (ms_bt_bound){MS_BT_BOUND_CLOSED, {zero, sizeof(zero)}}
                             : (ms_bt_bound){MS_BT_BOUND_OPEN, last_key};
    cut have = start_cut(&range->start);
    cut want = start_cut(&resume);
    return (ms_bt_range){cut_compare(&have, &want) >= 0 ? range->start : resume, range->end};
}

static bool bound_equals(const ms_bt_bound *a, const ms_bt_bound *b)
{
    return a->kind == b->kind && (a->kind == MS_BT_BOUND_NONE || ms_str_equals(a->key, b->key));
}

bool ms_bt_range_equals(const ms_bt_range *a, const ms_bt_range *b)
{
    return bound_equals(&a->start, &b->start) && bound_equals(&a->end, &b->end);
}

bool ms_bt_range_is_empty(const ms_bt_range *range)
{
    cut start = start_cut(&range->start);
    cut end = end_cut(&range->end);
    if (cut_compare(&start, &end) >= 0) {
        return true;
    }
    if (range->start.kind != MS_BT_BOUND_OPEN || range->end.kind != MS_BT_BOUND_OPEN) {
        return false;
    }
    ms_str low = range->start.key;
    ms_str high = range->end.key;
    return high.bytes == low.bytes + 1 && high.ptr[low.bytes] == '\0' &&
           ms_str_starts_with(high, low);
}

int ms_bt_range_side(const ms_bt_range *range, ms_str key)
{
    if (range->start.kind != MS_BT_BOUND_NONE) {
        int order = ms_str_compare(key, range->start.key);
        if (order < 0 || (order == 0 && range->start.kind == MS_BT_BOUND_OPEN)) {
            return 1;
        }
    }
    if (range->end.kind != MS_BT_BOUND_NONE) {
        int order = ms_str_compare(key, range->end.key);
        if (order > 0 || (order == 0 && range->end.kind == MS_BT_BOUND_OPEN)) {
            return -1;
        }
    }
    return 0;
}

bool ms_bt_range_contains(const ms_bt_range *range, ms_str key)
{
    return ms_bt_range_side(range, key) == 0;
}

int ms_bt_range_compare_start(const ms_bt_range *a, const ms_bt_range *b)
{
    cut left = start_cut(&a->start);
    cut right = start_cut(&b->start);
    return cut_compare(&left, &right);
}

int ms_bt_range_compare_end(const ms_bt_range *a, const ms_bt_range *b)
{
    cut left = end_cut(&a->end);
    cut right = end_cut(&b->end);
    return cut_compare(&left, &right);
}

static ms_rc render_key(ms_str key, ms_buf *buf, ms_status *st)
{
    for (size_t i = 0; i < key.bytes; i++) {
        unsigned char c = (unsigned char)key.ptr[i];
        if (c < 0x20 || c > 0x7E || c == '\\' || c == '*' || c == ',') {
            MS_TRY(ms_buf_format(buf, st, "\\x%02x", c));
        } else {
            MS_TRY(ms_buf_append_byte(buf, (char)c, st));
        }
    }
    return MS_OK;
}

ms_rc ms_bt_range_render(const ms_bt_range *range, ms_buf *buf, ms_status *st)
{
    MS_TRY(ms_buf_append_byte(buf, range->start.kind == MS_BT_BOUND_CLOSED ? '[' : '(', st));
    if (range->start.kind == MS_BT_BOUND_NONE) {
        MS_TRY(ms_buf_append_byte(buf, '*', st));
    } else {
        MS_TRY(render_key(range->start.key, buf, st));
    }
    MS_TRY(ms_buf_append_byte(buf, ',', st));
    if (range->end.kind == MS_BT_BOUND_NONE) {
        MS_TRY(ms_buf_append_byte(buf, '*', st));
    } else {
        MS_TRY(render_key(range->end.key, buf, st));
    }
    return ms_buf_append_byte(buf, range->end.kind == MS_BT_BOUND_CLOSED ? ']' : ')', st);
}

ms_bt_range ms_bt_range_intersect(const ms_bt_range *a, const ms_bt_range *b)
{
    return (ms_bt_range){ms_bt_range_compare_start(a, b) >= 0 ? a->start : b->start,
                         ms_bt_range_compare_end(a, b) <= 0 ? a->end : b->end};
}

static int order_by_start(const void *left, const void *right)
{
    return ms_bt_range_compare_start(left, right);
}

ms_bt_ranges ms_bt_ranges_coalesce(const ms_bt_range *list, size_t count, ms_arena *arena)
{
    ms_bt_range *out = ms_arena_array(arena, ms_bt_range, count);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (!ms_bt_range_is_empty(&list[i])) {
            out[kept++] = list[i];
        }
    }
    if (kept == 0) {
        return (ms_bt_ranges){out, 0};
    }
    qsort(out, kept, sizeof(*out), order_by_start);
    size_t last = 0;
    for (size_t i = 1; i < kept; i++) {
        cut end = end_cut(&out[last].end);
        cut start = start_cut(&out[i].start);
        if (cut_compare(&start, &end) <= 0) {
            if (ms_bt_range_compare_end(&out[i], &out[last]) > 0) {
                out[last].end = out[i].end;
            }
        } else {
            out[++last] = out[i];
        }
    }
    return (ms_bt_ranges){out, last + 1};
}

ms_bt_ranges ms_bt_ranges_intersect(const ms_bt_ranges *a, const ms_bt_ranges *b, ms_arena *arena)
{
    ms_bt_range *out = ms_arena_array(arena, ms_bt_range, a->count + b->count);
    size_t count = 0;
    size_t i = 0;
    size_t j = 0;
    while (i < a->count && j < b->count) {
        ms_bt_range common = ms_bt_range_intersect(&a->list[i], &b->list[j]);
        if (!ms_bt_range_is_empty(&common)) {
            out[count++] = common;
        }
        if (ms_bt_range_compare_end(&a->list[i], &b->list[j]) <= 0) {
            i++;
        } else {
            j++;
        }
    }
    return (ms_bt_ranges){out, count};
}

ms_bt_ranges ms_bt_ranges_complement(const ms_bt_ranges *ranges, ms_arena *arena)
{
    ms_bt_range *out = ms_arena_array(arena, ms_bt_range, ranges->count + 1);
    size_t count = 0;
    ms_bt_range gap = {0};
    for (size_t i = 0; i < ranges->count; i++) {
        const ms_bt_range *range = &ranges->list[i];
        if (range->start.kind != MS_BT_BOUND_NONE) {
            gap.end = flip(&range->start);
            if (!ms_bt_range_is_empty(&gap)) {
                out[count++] = gap;
            }
        }
        if (range->end.kind == MS_BT_BOUND_NONE) {
            return (ms_bt_ranges){out, count};
        }
        gap = (ms_bt_range){.start = flip(&range->end)};
    }
    out[count++] = gap;
    return (ms_bt_ranges){out, count};
}

static ms_bt_code check_key(ms_str key, ms_bt_status *bt)
{
    if (key.bytes == 0) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT, "Row keys must be non-empty");
    }
    if (key.bytes > MS_BT_LIMIT_ROW_KEY_BYTES) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT, "Row key is %zu bytes long; limit %u",
                                key.bytes, MS_BT_LIMIT_ROW_KEY_BYTES);
    }
    return MS_BT_OK;
}

ms_bt_code ms_bt_row_set_check(const ms_bt_row_set *set, ms_bt_status *bt)
{
    for (size_t i = 0; i < set->key_count; i++) {
        MS_BT_TRY(check_key(set->keys[i], bt));
    }
    for (size_t i = 0; i < set->range_count; i++) {
        if (ms_bt_range_is_empty(&set->ranges[i])) {
            return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                    "Error in field 'row_ranges' : Error in element #%zu : "
                                    "start_key must be less than end_key",
                                    i);
        }
    }
    return MS_BT_OK;
}

ms_bt_ranges ms_bt_row_set_ranges(const ms_bt_row_set *set, ms_arena *arena)
{
    size_t count = set->key_count + set->range_count;
    if (count == 0) {
        return (ms_bt_ranges){ms_arena_new(arena, ms_bt_range), 1};
    }
    ms_bt_range *all = ms_arena_array(arena, ms_bt_range, count);
    for (size_t i = 0; i < set->key_count; i++) {
        all[i] = ms_bt_range_key(set->keys[i]);
    }
    for (size_t i = 0; i < set->range_count; i++) {
        all[set->key_count + i] = set->ranges[i];
    }
    return ms_bt_ranges_coalesce(all, count, arena);
}
