/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The filters of a read, as a tree. Every filter of the service has a kind here, so that requests
 * can be carried whole; what the store evaluates so far is PASS_ALL, BLOCK_ALL, CHAIN, INTERLEAVE,
 * FAMILY, CELLS_PER_ROW_OFFSET, CELLS_PER_ROW_LIMIT, CELLS_PER_COLUMN_LIMIT and STRIP_VALUE.
 * ms_bt_filter_check_built refuses all others by name.
 *
 * FAMILY is ours: the family of exactly this name, which the wire expresses as an escaped regular
 * expression. A read that names a family the table lacks is NOT_FOUND, as on the service.
 *
 *     const ms_bt_filter *keys_only = ms_bt_filter_chain(arena, (const ms_bt_filter *[]){
 *         ms_bt_filter_cells_per_row(arena, 1), ms_bt_filter_strip_value(arena)}, 2);
 *     const ms_bt_filter *two = ms_bt_filter_families(arena, names, 2);
 *
 * Ownership: a filter belongs to the arena it was made in and is never changed; texts are borrowed
 * unless it was made by ms_bt_filter_copy. Thread: any. NULL stands for PASS_ALL everywhere.
 */
#ifndef MS_BIGTABLE_MODEL_FILTER_H
#define MS_BIGTABLE_MODEL_FILTER_H

#include "base/str.h"
#include "bigtable/model/limits.h"
#include "bigtable/model/status.h"

typedef enum ms_bt_filter_kind {
    MS_BT_FILTER_PASS_ALL,
    MS_BT_FILTER_BLOCK_ALL,
    MS_BT_FILTER_CHAIN,      /* children, one after the other */
    MS_BT_FILTER_INTERLEAVE, /* children, each on the input; duplicates are kept */
    MS_BT_FILTER_CONDITION,  /* children: predicate, then, otherwise (may be NULL) */
    MS_BT_FILTER_SINK,
    MS_BT_FILTER_ROW_KEY_REGEX,
    MS_BT_FILTER_ROW_SAMPLE,
    MS_BT_FILTER_FAMILY, /* text: the family */
    MS_BT_FILTER_FAMILY_REGEX,
    MS_BT_FILTER_QUALIFIER_REGEX,
    MS_BT_FILTER_COLUMN_RANGE,
    MS_BT_FILTER_TIMESTAMP_RANGE,
    MS_BT_FILTER_VALUE_REGEX,
    MS_BT_FILTER_VALUE_RANGE,
    MS_BT_FILTER_VALUE_BITMASK,
    MS_BT_FILTER_CELLS_PER_ROW_OFFSET,   /* count */
    MS_BT_FILTER_CELLS_PER_ROW_LIMIT,    /* count */
    MS_BT_FILTER_CELLS_PER_COLUMN_LIMIT, /* count */
    MS_BT_FILTER_STRIP_VALUE,
    MS_BT_FILTER_APPLY_LABEL,
    MS_BT_FILTER_COUNT
} ms_bt_filter_kind;

typedef struct ms_bt_filter ms_bt_filter;
struct ms_bt_filter {
    ms_bt_filter_kind kind;
    int32_t count;
    ms_str text;
    const ms_bt_filter *const *children;
    size_t child_count;
};

/* The service's name of a kind ("cells_per_row_limit_filter"). Static text. */
const char *ms_bt_filter_kind_name(ms_bt_filter_kind kind);

/* Makers; the list of children is copied, the children and texts are not. */
const ms_bt_filter *ms_bt_filter_pass_all(ms_arena *arena);
const ms_bt_filter *ms_bt_filter_block_all(ms_arena *arena);
const ms_bt_filter *ms_bt_filter_family(ms_arena *arena, ms_str family);
const ms_bt_filter *ms_bt_filter_cells_per_row(ms_arena *arena, int32_t limit);
const ms_bt_filter *ms_bt_filter_cells_per_row_offset(ms_arena *arena, int32_t offset);
const ms_bt_filter *ms_bt_filter_cells_per_column(ms_arena *arena, int32_t limit);
const ms_bt_filter *ms_bt_filter_strip_value(ms_arena *arena);

/* At least two children; with one, it is that child, because the service refuses a list of one. */
const ms_bt_filter *ms_bt_filter_chain(ms_arena *arena, const ms_bt_filter *const *children,
                                       size_t count);
const ms_bt_filter *ms_bt_filter_interleave(ms_arena *arena, const ms_bt_filter *const *children,
                                            size_t count);

/* Exactly these families, in this order: one FAMILY, or an INTERLEAVE of them. count is not 0. */
const ms_bt_filter *ms_bt_filter_families(ms_arena *arena, const ms_str *families, size_t count);

/* A deep copy, texts included; NULL gives NULL. */
const ms_bt_filter *ms_bt_filter_copy(ms_arena *arena, const ms_bt_filter *filter);

/* The service's rules: sizes of lists, counts, depth, serialized bytes. INVALID_ARGUMENT. */
ms_bt_code ms_bt_filter_check(const ms_bt_filter *filter, ms_bt_status *bt);

/* UNIMPLEMENTED naming the first filter that the store does not evaluate. */
ms_bt_code ms_bt_filter_check_built(const ms_bt_filter *filter, ms_bt_status *bt);

/* Bytes of the filter as a message on the wire; FAMILY counts as its escaped regular expression. */
size_t ms_bt_filter_wire_bytes(const ms_bt_filter *filter);

/* Appends the filter for EXPLAIN and logs: "chain(family(a), cells_per_row_limit(1))". */
ms_rc ms_bt_filter_render(const ms_bt_filter *filter, ms_buf *buf, ms_status *st) MS_MUST_USE;

#endif
