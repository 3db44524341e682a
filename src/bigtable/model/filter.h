/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The filters of a read, as a tree: every filter of the service has a kind. A tree says what was
 * asked for, right or wrong; ms_bt_filter_check says whether the service would take it. What a
 * filter does to cells is model/filter_run.h's business.
 *
 * FAMILY is ours: the family of exactly this name, which the wire expresses as an escaped regular
 * expression. A read that names a family the table lacks is NOT_FOUND, as on the service.
 *
 *     const ms_bt_filter *keys_only = ms_bt_filter_chain(arena, (const ms_bt_filter *[]){
 *         ms_bt_filter_cells_per_row(arena, 1), ms_bt_filter_strip_value(arena)}, 2);
 *     const ms_bt_filter *two = ms_bt_filter_families(arena, names, 2);
 *
 * NULL stands for a filter in which nothing is set, which passes everything; as a branch of a
 * CONDITION it stands for no branch, which passes nothing. (A branch in which nothing is set is
 * PASS_ALL.)
 *
 * Regular expressions are RE2's over bytes: Latin-1, matched against the whole text, never a part
 * of it; . is any byte but a line feed, \C is any byte.
 *
 * Ownership: a filter belongs to the arena it was made in and is never changed; texts are borrowed
 * unless it was made by ms_bt_filter_copy. Thread: any.
 */
#ifndef MS_BIGTABLE_MODEL_FILTER_H
#define MS_BIGTABLE_MODEL_FILTER_H

#include "base/str.h"
#include "bigtable/model/limits.h"
#include "bigtable/model/range.h"
#include "bigtable/model/status.h"

typedef enum ms_bt_filter_kind {
    MS_BT_FILTER_PASS_ALL,   /* is_false */
    MS_BT_FILTER_BLOCK_ALL,  /* is_false */
    MS_BT_FILTER_CHAIN,      /* children, one after the other */
    MS_BT_FILTER_INTERLEAVE, /* children, each on the input; duplicates are kept */
    MS_BT_FILTER_CONDITION,  /* children: predicate, then, otherwise; each may be NULL */
    MS_BT_FILTER_SINK,       /* is_false; the cells go to the final result, past all that follows */
    MS_BT_FILTER_ROW_KEY_REGEX,          /* text; the whole row or nothing */
    MS_BT_FILTER_ROW_SAMPLE,             /* probability; the whole row or nothing */
    MS_BT_FILTER_FAMILY,                 /* text: the family */
    MS_BT_FILTER_FAMILY_REGEX,           /* text */
    MS_BT_FILTER_QUALIFIER_REGEX,        /* text */
    MS_BT_FILTER_COLUMN_RANGE,           /* text: the family; bounds: of the qualifier */
    MS_BT_FILTER_TIMESTAMP_RANGE,        /* start_micros, end_micros */
    MS_BT_FILTER_VALUE_REGEX,            /* text */
    MS_BT_FILTER_VALUE_RANGE,            /* bounds: of the value */
    MS_BT_FILTER_VALUE_BITMASK,          /* text: the mask; as long as the value, and all in it */
    MS_BT_FILTER_CELLS_PER_ROW_OFFSET,   /* count */
    MS_BT_FILTER_CELLS_PER_ROW_LIMIT,    /* count */
    MS_BT_FILTER_CELLS_PER_COLUMN_LIMIT, /* count */
    MS_BT_FILTER_STRIP_VALUE,            /* is_false */
    MS_BT_FILTER_APPLY_LABEL,            /* text: the label */
    MS_BT_FILTER_COUNT
} ms_bt_filter_kind;

/*
 * Which fields a kind uses is said above; the others are zero. is_false is a flag that was sent as
 * false, which the service refuses. A bound with an empty key may have a kind, as on the wire; it
 * bounds nothing. An end_micros of 0 is no end.
 */
typedef struct ms_bt_filter ms_bt_filter;
struct ms_bt_filter {
    ms_bt_filter_kind kind;
    bool is_false;
    int32_t count;
    double probability;
    ms_str text;
    ms_bt_range bounds;
    int64_t start_micros; /* inclusive */
    int64_t end_micros;   /* exclusive */
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
const ms_bt_filter *ms_bt_filter_sink(ms_arena *arena);
const ms_bt_filter *ms_bt_filter_row_sample(ms_arena *arena, double probability);
const ms_bt_filter *ms_bt_filter_column_range(ms_arena *arena, ms_str family,
                                              const ms_bt_range *qualifiers);
const ms_bt_filter *ms_bt_filter_timestamp_range(ms_arena *arena, int64_t start_micros,
                                                 int64_t end_micros);
const ms_bt_filter *ms_bt_filter_value_range(ms_arena *arena, const ms_bt_range *values);
const ms_bt_filter *ms_bt_filter_value_bitmask(ms_arena *arena, ms_str mask);
const ms_bt_filter *ms_bt_filter_apply_label(ms_arena *arena, ms_str label);

/* kind is one of the four whose name ends in REGEX. */
const ms_bt_filter *ms_bt_filter_regex(ms_arena *arena, ms_bt_filter_kind kind, ms_str pattern);

/* kind is PASS_ALL, BLOCK_ALL, SINK or STRIP_VALUE; with a value, because requests carry one. */
const ms_bt_filter *ms_bt_filter_flag(ms_arena *arena, ms_bt_filter_kind kind, bool value);

/* kind is one of the three that count cells. */
const ms_bt_filter *ms_bt_filter_cells(ms_arena *arena, ms_bt_filter_kind kind, int32_t count);

/* Both branches may be NULL, and the predicate. */
const ms_bt_filter *ms_bt_filter_condition(ms_arena *arena, const ms_bt_filter *predicate,
                                           const ms_bt_filter *then, const ms_bt_filter *otherwise);

/* At least two children; with one, it is that child, because the service refuses a list of one. */
const ms_bt_filter *ms_bt_filter_chain(ms_arena *arena, const ms_bt_filter *const *children,
                                       size_t count);
const ms_bt_filter *ms_bt_filter_interleave(ms_arena *arena, const ms_bt_filter *const *children,
                                            size_t count);

/* The list as it was sent, of any length: CHAIN or INTERLEAVE. */
const ms_bt_filter *ms_bt_filter_list(ms_arena *arena, ms_bt_filter_kind kind,
                                      const ms_bt_filter *const *children, size_t count);

/* Exactly these families, in this order: one FAMILY, or an INTERLEAVE of them. count is not 0. */
const ms_bt_filter *ms_bt_filter_families(ms_arena *arena, const ms_str *families, size_t count);

/* A deep copy, texts included; NULL gives NULL. */
const ms_bt_filter *ms_bt_filter_copy(ms_arena *arena, const ms_bt_filter *filter);

/*
 * The service's rules, whatever the table: depth, serialized bytes, lists of at least two, flags
 * that are true, counts, probabilities, labels, sinks, regular expressions. INVALID_ARGUMENT with
 * the service's text.
 */
ms_bt_code ms_bt_filter_check(const ms_bt_filter *filter, ms_bt_status *bt);

/* A regular expression that matches exactly this text; what FAMILY is on the wire. */
ms_str ms_bt_filter_quote(ms_arena *arena, ms_str literal);

/* Bytes of the filter as a message on the wire; FAMILY counts as its quoted regular expression. */
size_t ms_bt_filter_wire_bytes(const ms_bt_filter *filter);

/* Appends the filter for EXPLAIN and logs: "chain(family(a), cells_per_row_limit(1))". */
ms_rc ms_bt_filter_render(const ms_bt_filter *filter, ms_buf *buf, ms_status *st) MS_MUST_USE;

#endif
