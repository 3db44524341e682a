/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges of row keys and their algebra. A key is any run of bytes; keys compare as unsigned bytes
 * and a proper prefix sorts first. A range has a bound on each side that is absent, closed or open;
 * the empty key as a bound is the service's spelling of "absent", so makers turn it into that.
 *
 * A list of ranges that is sorted, disjoint and free of empty ranges is called coalesced; it is
 * what scans, splits and pushed predicates are made of. An empty coalesced list means no row,
 * whereas an empty ms_bt_row_set means every row: never build the second from the first.
 *
 *     ms_bt_ranges wanted = ms_bt_ranges_coalesce(configured, count, arena);
 *     wanted = ms_bt_ranges_intersect(&wanted, &pushed, arena);
 *     if (wanted.count == 0) { return nothing; }
 *
 * Ownership: ranges borrow their keys; results that need new bytes (the end of a prefix) or new
 * arrays take them from the arena given. Thread: any.
 */
#ifndef MS_BIGTABLE_MODEL_RANGE_H
#define MS_BIGTABLE_MODEL_RANGE_H

#include "base/str.h"
#include "bigtable/model/limits.h"
#include "bigtable/model/status.h"

/* The numbers are stored in checkpoints. */
typedef enum ms_bt_bound_kind {
    MS_BT_BOUND_NONE = 0,
    MS_BT_BOUND_CLOSED = 1,
    MS_BT_BOUND_OPEN = 2,
    MS_BT_BOUND_COUNT
} ms_bt_bound_kind;

typedef struct ms_bt_bound {
    ms_bt_bound_kind kind;
    ms_str key; /* empty when kind is NONE */
} ms_bt_bound;

/* Zero-initialized means every key. */
typedef struct ms_bt_range {
    ms_bt_bound start;
    ms_bt_bound end;
} ms_bt_range;

typedef struct ms_bt_ranges {
    const ms_bt_range *list;
    size_t count;
} ms_bt_ranges;

/* Makers. */

static inline ms_bt_bound ms_bt_bound_make(ms_bt_bound_kind kind, ms_str key)
{
    return key.bytes == 0 ? (ms_bt_bound){MS_BT_BOUND_NONE, {NULL, 0}} : (ms_bt_bound){kind, key};
}

/* [start, end): an empty key is no bound. */
static inline ms_bt_range ms_bt_range_make(ms_str start, ms_str end)
{
    return (ms_bt_range){ms_bt_bound_make(MS_BT_BOUND_CLOSED, start),
                         ms_bt_bound_make(MS_BT_BOUND_OPEN, end)};
}

/* The one key [key, key]; the key must not be empty. */
static inline ms_bt_range ms_bt_range_key(ms_str key)
{
    return (ms_bt_range){{MS_BT_BOUND_CLOSED, key}, {MS_BT_BOUND_CLOSED, key}};
}

/* Every key that starts with prefix: its end is the prefix with the last byte below FF incremented
 * and the rest cut; a prefix of FF bytes only, or none, has no end. */
ms_bt_range ms_bt_range_prefix(ms_str prefix, ms_arena *arena);

/*
 * What is left of a range after last_key was delivered: the start becomes open(last_key), the end
 * stays. An empty last_key resumes at closed(00), because open at the empty key would read as
 * unbounded. May be empty; such a range is finished and must not be sent. A last_key before the
 * range leaves it as it is.
 */
ms_bt_range ms_bt_range_after(const ms_bt_range *range, ms_str last_key);

/* Inspection. */

bool ms_bt_range_equals(const ms_bt_range *a, const ms_bt_range *b);

/* Is it one key and no other, as ms_bt_range_key makes it? */
static inline bool ms_bt_range_is_key(const ms_bt_range *range)
{
    return range->start.kind == MS_BT_BOUND_CLOSED && range->end.kind == MS_BT_BOUND_CLOSED &&
           ms_str_equals(range->start.key, range->end.key);
}

/* No key can be in it: inverted, [k,k), (k,k], (k,k), or (k, k+00). */
bool ms_bt_range_is_empty(const ms_bt_range *range);
bool ms_bt_range_contains(const ms_bt_range *range, ms_str key);

/* <0 when every key of the range sorts below key, 0 when the range contains it, else >0. */
int ms_bt_range_side(const ms_bt_range *range, ms_str key);

/* Orders by where ranges start, resp. where they end. */
int ms_bt_range_compare_start(const ms_bt_range *a, const ms_bt_range *b);
int ms_bt_range_compare_end(const ms_bt_range *a, const ms_bt_range *b);

/*
 * Appends the range for logs and messages: brackets by kind of bound, * for no bound, printable
 * ASCII as it is, other bytes and \ * , as escapes. Distinct ranges never render alike; still,
 * never use the text as identity.
 */
ms_rc ms_bt_range_render(const ms_bt_range *range, ms_buf *buf, ms_status *st) MS_MUST_USE;

/* Algebra. */

/* The common keys; the result may be empty. */
ms_bt_range ms_bt_range_intersect(const ms_bt_range *a, const ms_bt_range *b);

/*
 * The union as a coalesced list: sorted, overlapping and nested ranges merged, touching ones too
 * when the shared key belongs to at least one; (..,k) and (k,..) stay apart. Empty ranges vanish.
 */
ms_bt_ranges ms_bt_ranges_coalesce(const ms_bt_range *list, size_t count, ms_arena *arena);

/* Both arguments and the result are coalesced. */
ms_bt_ranges ms_bt_ranges_intersect(const ms_bt_ranges *a, const ms_bt_ranges *b, ms_arena *arena);

/* Every key that is in none of them; argument and result are coalesced. */
ms_bt_ranges ms_bt_ranges_complement(const ms_bt_ranges *ranges, ms_arena *arena);

/* Row sets, as requests carry them. */

/* Keys and ranges in any order, overlapping as they like. Neither: every row. */
typedef struct ms_bt_row_set {
    const ms_str *keys;
    size_t key_count;
    const ms_bt_range *ranges;
    size_t range_count;
} ms_bt_row_set;

/* The row set of a coalesced list that is not empty. */
static inline ms_bt_row_set ms_bt_row_set_make(const ms_bt_ranges *ranges)
{
    MS_ASSERT(ranges->count > 0);
    return (ms_bt_row_set){.ranges = ranges->list, .range_count = ranges->count};
}

/* As the service does it: INVALID_ARGUMENT for an empty key among the keys, a key that is too long,
 * and a range that no key can be in. */
ms_bt_code ms_bt_row_set_check(const ms_bt_row_set *set, ms_bt_status *bt);

/* Keys and ranges as one coalesced list. The set must have passed the check. */
ms_bt_ranges ms_bt_row_set_ranges(const ms_bt_row_set *set, ms_arena *arena);

#endif
