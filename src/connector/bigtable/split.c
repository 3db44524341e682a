/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cutting, cutting off, and the stored form of splits.
 */
#include "connector/bigtable/split.h"

#include <stdlib.h>

#define VERSION_OF_NAME 1u        /* the table that has the name */
#define VERSION_OF_INCARNATION 2u /* that very table */
#define RANGE_BYTES_MIN 4u        /* two bounds, two lengths */

/* Planning. */

static int compare_keys(const void *a, const void *b)
{
    return ms_str_compare(*(const ms_str *)a, *(const ms_str *)b);
}

/* Sorted, without duplicates and without the empty key, which is the end of the table. */
static size_t sort_samples(ms_arena *arena, const ms_str *samples, size_t count,
                           ms_str **sorted_out)
{
    ms_str *sorted = ms_arena_array(arena, ms_str, count);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (samples[i].bytes > 0) {
            sorted[kept++] = samples[i];
        }
    }
    if (kept > 1) {
        qsort(sorted, kept, sizeof(*sorted), compare_keys);
    }
    size_t unique = 0;
    for (size_t i = 0; i < kept; i++) {
        if (unique == 0 || !ms_str_equals(sorted[unique - 1], sorted[i])) {
            sorted[unique++] = sorted[i];
        }
    }
    *sorted_out = sorted;
    return unique;
}

typedef struct planner {
    ms_bt_range *pieces;
    size_t piece_count;
    ms_bt_ranges *splits;
    size_t split_count;
    bool is_open;     /* the last split takes more */
    size_t key_bytes; /* of it */
} planner;

static size_t key_bytes_of(const ms_bt_range *range)
{
    return range->start.key.bytes + range->end.key.bytes;
}

static void add_piece(planner *p, const ms_bt_range *piece)
{
    if (ms_bt_range_is_empty(piece)) {
        return;
    }
    ms_bt_ranges *last = p->split_count > 0 ? &p->splits[p->split_count - 1] : NULL;
    if (!p->is_open || last->count == MSI_BT_SPLIT_RANGES_MAX ||
        p->key_bytes + key_bytes_of(piece) > MSI_BT_SPLIT_KEY_BYTES_MAX) {
        last = &p->splits[p->split_count++];
        *last = (ms_bt_ranges){&p->pieces[p->piece_count], 0};
        p->is_open = true;
        p->key_bytes = 0;
    }
    p->pieces[p->piece_count++] = *piece;
    p->key_bytes += key_bytes_of(piece);
    last->count++;
}

/* Is the key behind the start of the range, so that something may be left of it? */
static bool is_behind_start(const ms_bt_range *range, ms_str key)
{
    return range->start.kind == MS_BT_BOUND_NONE || ms_str_compare(key, range->start.key) > 0;
}

size_t msi_bt_splits_plan(ms_arena *arena, const ms_bt_ranges *ranges, const ms_str *samples,
                          size_t sample_count, const ms_bt_ranges **splits_out)
{
    ms_str *cuts = NULL;
    size_t cut_count = sort_samples(arena, samples, sample_count, &cuts);
    size_t pieces_max = ranges->count + cut_count;
    planner p = {.pieces = ms_arena_array(arena, ms_bt_range, pieces_max),
                 .splits = ms_arena_array(arena, ms_bt_ranges, pieces_max)};
    size_t c = 0;
    for (size_t i = 0; i < ranges->count; i++) {
        ms_bt_range rest = ranges->list[i];
        /* A cut before the range, or at its start, only says that a new split begins. */
        while (c < cut_count && !is_behind_start(&rest, cuts[c])) {
            p.is_open = false;
            c++;
        }
        for (; c < cut_count && ms_bt_range_contains(&rest, cuts[c]); c++) {
            ms_bt_range left = {rest.start, {MS_BT_BOUND_OPEN, cuts[c]}};
            add_piece(&p, &left);
            p.is_open = false;
            rest.start = (ms_bt_bound){MS_BT_BOUND_CLOSED, cuts[c]};
        }
        add_piece(&p, &rest);
    }
    *splits_out = p.splits;
    return p.split_count;
}

msi_bt_split msi_bt_split_after(ms_arena *arena, const msi_bt_split *split, ms_str last_key)
{
    const ms_bt_ranges *ranges = &split->ranges;
    ms_bt_range *left = ms_arena_array(arena, ms_bt_range, ranges->count);
    size_t count = 0;
    for (size_t i = 0; i < ranges->count; i++) {
        ms_bt_range rest = ms_bt_range_after(&ranges->list[i], last_key);
        if (!ms_bt_range_is_empty(&rest)) {
            left[count++] = rest;
        }
    }
    return (msi_bt_split){{left, count}, split->incarnation};
}

/* The stored form. */

static ms_rc write_bound(const ms_bt_bound *bound, ms_buf *out, ms_status *st)
{
    MS_TRY(ms_codec_put_u8(out, (uint8_t)bound->kind, st));
    return ms_codec_put_str(out, bound->key, st);
}

ms_rc msi_bt_split_write(const msi_bt_split *split, ms_buf *out, ms_status *st)
{
    const ms_bt_ranges *ranges = &split->ranges;
    if (split->incarnation == 0) {
        MS_TRY(ms_codec_put_u8(out, VERSION_OF_NAME, st));
    } else {
        MS_TRY(ms_codec_put_u8(out, VERSION_OF_INCARNATION, st));
        MS_TRY(ms_codec_put_u32(out, split->incarnation, st));
    }
    MS_TRY(ms_codec_put_varint(out, ranges->count, st));
    for (size_t i = 0; i < ranges->count; i++) {
        MS_TRY(write_bound(&ranges->list[i].start, out, st));
        MS_TRY(write_bound(&ranges->list[i].end, out, st));
    }
    return MS_OK;
}

/* False when the bytes are no bound. */
static bool read_bound(ms_arena *arena, ms_codec_reader *reader, ms_bt_bound *bound_out)
{
    uint8_t kind = ms_codec_reader_u8(reader);
    ms_str key = ms_codec_reader_str(reader);
    bool has_key = kind == MS_BT_BOUND_CLOSED || kind == MS_BT_BOUND_OPEN;
    if (!ms_codec_reader_is_ok(reader) || (!has_key && kind != MS_BT_BOUND_NONE) ||
        has_key != (key.bytes > 0)) {
        return false;
    }
    *bound_out = (ms_bt_bound){(ms_bt_bound_kind)kind, ms_arena_copy_str(arena, key)};
    return true;
}

static ms_rc report_damage(ms_status *st)
{
    return ms_status_set(st, MS_CORRUPT_DATA, ms_span_none,
                         "a split of a bigtable scan is damaged");
}

ms_rc msi_bt_split_read(ms_arena *arena, ms_str bytes, msi_bt_split *split_out, ms_status *st)
{
    *split_out = (msi_bt_split){{NULL, 0}, 0};
    ms_codec_reader reader = ms_codec_reader_make(bytes);
    uint8_t version = ms_codec_reader_u8(&reader);
    bool has_incarnation = version == VERSION_OF_INCARNATION;
    uint32_t incarnation = has_incarnation ? ms_codec_reader_u32(&reader) : 0;
    size_t count = ms_codec_reader_count(&reader, RANGE_BYTES_MIN);
    if ((version != VERSION_OF_NAME && !has_incarnation) || has_incarnation != (incarnation != 0) ||
        !ms_codec_reader_is_ok(&reader) || count == 0) {
        return report_damage(st);
    }
    ms_bt_range *list = ms_arena_array(arena, ms_bt_range, count);
    for (size_t i = 0; i < count; i++) {
        if (!read_bound(arena, &reader, &list[i].start) ||
            !read_bound(arena, &reader, &list[i].end)) {
            return report_damage(st);
        }
    }
    MS_TRY(ms_codec_reader_finish(&reader, "a split of a bigtable scan", st));
    ms_bt_ranges coalesced = ms_bt_ranges_coalesce(list, count, arena);
    bool is_same = coalesced.count == count;
    for (size_t i = 0; is_same && i < count; i++) {
        is_same = ms_bt_range_equals(&coalesced.list[i], &list[i]);
    }
    if (!is_same) {
        return report_damage(st);
    }
    *split_out = (msi_bt_split){{list, count}, incarnation};
    return MS_OK;
}
