/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The graph of a compiled filter, which filter_program.c builds and filter_run.c runs. A cell
 * enters at the program's entry and goes from node to node; a node passes it on, changes it, drops
 * it, or sends it several ways. What reaches EMIT is a copy in the result.
 *
 *     chain(a, interleave(b, c), d)             condition(p, t, o), then x
 *
 *                 .-> b --.                                .-> p -> MATCH
 *     a -> FORK --+       +-> d -> EMIT         CONDITION -+-> t --.
 *                 '-> c --'                                '-> o --+-> x -> EMIT
 *
 * Both ways of a fork lead to the same d, so that d counts what comes from either; and since all
 * copies of a cell run before the next cell, d sees them in the order of the row. A sink is an edge
 * to EMIT.
 *
 * Private to this folder; never changed once built.
 */
#ifndef MS_BIGTABLE_MODEL_FILTER_GRAPH_H
#define MS_BIGTABLE_MODEL_FILTER_GRAPH_H

#include "bigtable/model/filter_priv.h"
#include "bigtable/model/filter_program.h"

typedef enum msi_filter_op {
    MSI_OP_EMIT,
    MSI_OP_MATCH, /* the end of the predicate of condition */
    MSI_OP_BLOCK,
    MSI_OP_FORK,      /* to all children */
    MSI_OP_CONDITION, /* to the child that condition chose */
    MSI_OP_ROW_REGEX, /* state: the answer for the row */
    MSI_OP_ROW_SAMPLE,
    MSI_OP_FAMILIES,
    MSI_OP_QUALIFIER_REGEX, /* state: the answer for the column */
    MSI_OP_QUALIFIER_RANGE,
    MSI_OP_TIMES,
    MSI_OP_VALUE_REGEX,
    MSI_OP_VALUE_RANGE,
    MSI_OP_VALUE_BITMASK,
    MSI_OP_ROW_OFFSET, /* state: cells seen; so the next two */
    MSI_OP_ROW_LIMIT,
    MSI_OP_COLUMN_LIMIT,
    MSI_OP_STRIP,
    MSI_OP_LABEL
} msi_filter_op;

/* What is known of all that lies behind an edge. */
typedef struct msi_filter_facts {
    bool has_keys; /* only rows with these keys get through */
    ms_bt_ranges keys;
    const uint64_t *families; /* NULL: cells of any family matter */
    ms_bt_range qualifiers;   /* cells with others do not; an empty key as a bound is a key here */
    bool tests_values;
    bool gives_values;
} msi_filter_facts;

typedef struct msi_filter_condition {
    uint32_t index; /* of a condition upstream, or in the predicate, it is higher */
    const struct msi_filter_node *node;
    const struct msi_filter_condition *parent; /* the condition around it, or NULL */
    unsigned place;                            /* in which child of parent */
} msi_filter_condition;

typedef struct msi_filter_node msi_filter_node;
struct msi_filter_node {
    msi_filter_op op;
    bool is_behind_counter; /* cells that were skipped would be missed by a count upstream */
    uint16_t label;
    uint32_t number; /* in order of making: higher than that of what it leads to */
    uint32_t limit;
    uint32_t state; /* an index into the states of a run */
    uint32_t child_count;
    const msi_filter_node *next;
    const msi_filter_node *const *children;
    const msi_filter_condition *condition;
    const ms_bt_filter *filter; /* for the fields that are used as they are */
    const msi_regex *regex;
    const uint64_t *families; /* bits */
    ms_bt_range bounds;       /* those with an empty key removed; of a regex, what contains it */
    msi_filter_facts facts;
};

#endif
