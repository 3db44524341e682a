/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Garbage-collection rules of a family: which cells may be collected. No rule (NULL) keeps all. A
 * union collects what any of its rules would, an intersection what all of them would. Nothing is
 * collected at once: reads may return collectable cells.
 *
 *     const ms_bt_gc_rule *rule = ms_bt_gc_rule_union(arena, (const ms_bt_gc_rule *[]){
 *         ms_bt_gc_rule_max_versions(arena, 1), ms_bt_gc_rule_max_age(arena, week_micros)}, 2);
 *
 * Ownership: a rule belongs to the arena it was made in and is never changed. Thread: any.
 */
#ifndef MS_BIGTABLE_MODEL_GC_RULE_H
#define MS_BIGTABLE_MODEL_GC_RULE_H

#include "base/codec.h"
#include "bigtable/model/limits.h"
#include "bigtable/model/status.h"

/* The numbers are stored. */
typedef enum ms_bt_gc_rule_kind {
    MS_BT_GC_MAX_VERSIONS = 1,
    MS_BT_GC_MAX_AGE = 2,
    MS_BT_GC_INTERSECTION = 3,
    MS_BT_GC_UNION = 4,
} ms_bt_gc_rule_kind;

typedef struct ms_bt_gc_rule ms_bt_gc_rule;
struct ms_bt_gc_rule {
    ms_bt_gc_rule_kind kind;
    int32_t max_versions;
    int64_t max_age_micros;
    const ms_bt_gc_rule *const *rules; /* INTERSECTION, UNION */
    size_t rule_count;
};

/* Makers; the list of rules is copied, the rules are not. */
const ms_bt_gc_rule *ms_bt_gc_rule_max_versions(ms_arena *arena, int32_t max_versions);
const ms_bt_gc_rule *ms_bt_gc_rule_max_age(ms_arena *arena, int64_t max_age_micros);
const ms_bt_gc_rule *ms_bt_gc_rule_union(ms_arena *arena, const ms_bt_gc_rule *const *rules,
                                         size_t count);
const ms_bt_gc_rule *ms_bt_gc_rule_intersection(ms_arena *arena, const ms_bt_gc_rule *const *rules,
                                                size_t count);

/* A copy of the whole tree; NULL gives NULL. */
const ms_bt_gc_rule *ms_bt_gc_rule_copy(ms_arena *arena, const ms_bt_gc_rule *rule);

bool ms_bt_gc_rule_equals(const ms_bt_gc_rule *a, const ms_bt_gc_rule *b);

/* INVALID_ARGUMENT: versions below 1, an age below 1 ms, a union or intersection without rules,
 * above 500 serialized bytes, nested too deep. NULL is valid. */
ms_bt_code ms_bt_gc_rule_check(const ms_bt_gc_rule *rule, ms_bt_status *bt);

/*
 * May a cell be collected: index is its place in its column, 0 for the newest, and both times are
 * in microseconds. Who collects one may collect all that are older. NULL keeps everything.
 */
bool ms_bt_gc_rule_collects(const ms_bt_gc_rule *rule, uint64_t index, int64_t cell_micros,
                            int64_t now_micros);

/* Appends "versions() > 1", "age() > 7 d", "(age() > 7 d || versions() > 1)"; "never" for NULL. */
ms_rc ms_bt_gc_rule_render(const ms_bt_gc_rule *rule, ms_buf *buf, ms_status *st) MS_MUST_USE;

/* The stored form. Decoding gives NULL for the absent rule, and for a damaged text, in which case
 * the reader has failed. */
ms_rc ms_bt_gc_rule_encode(const ms_bt_gc_rule *rule, ms_buf *buf, ms_status *st) MS_MUST_USE;
const ms_bt_gc_rule *ms_bt_gc_rule_decode(ms_codec_reader *reader, ms_arena *arena);

/* Bytes of the rule as a message on the wire. */
size_t ms_bt_gc_rule_wire_bytes(const ms_bt_gc_rule *rule);

#endif
