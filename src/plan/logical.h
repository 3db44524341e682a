/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The logical plan: what a statement means, before it is decided how it runs. The binder makes it,
 * the optimizer rewrites it, the physical plan (plan/physical.h) is made from it.
 *
 *     INSERT INTO t SELECT a + 1 FROM s WHERE b > 2
 *
 *     SINK t  <-  PROJECT a + 1  <-  FILTER b > 2  <-  SCAN s
 *
 * Nodes are const once made and are rewritten by making new ones, so the derived properties of a
 * node (ms_lprops) always belong to the node as it is: the constructors below compute them, nobody
 * sets them. A plan as bound is a tree under each root; only the optimizer lets roots share a scan.
 *
 *     const ms_lnode *scan = ms_lnode_scan(arena, table, hints, span);
 *     const ms_lnode *filter = ms_lnode_filter(arena, scan, condition, span);
 *     const ms_lnode *sink = ms_lnode_sink(arena, filter, &target, span);
 *
 * One plan serves both runtime modes: ms_lplan.is_streaming is the trait, and validation, changelog
 * and blocking edges follow from it.
 *
 * Ownership: nodes live in the arena of the statement; tables are the catalog's. Thread: the
 * planning thread. Limits: MS_LIMIT_COLUMNS columns a node, a height of MS_LIMIT_PLAN_DEPTH and
 * MS_LIMIT_OPS_PER_JOB nodes a plan, checked by the binder.
 */
#ifndef MS_PLAN_LOGICAL_H
#define MS_PLAN_LOGICAL_H

#include "catalog/connector.h"
#include "expr/expr.h"
#include "plan/physical.h"

typedef enum ms_lnode_kind {
    MS_LNODE_SCAN,      /* a table's stored columns */
    MS_LNODE_VALUES,    /* rows of expressions without columns */
    MS_LNODE_PROJECT,   /* one expression a column */
    MS_LNODE_FILTER,    /* rows for which a condition is TRUE */
    MS_LNODE_WATERMARK, /* makes a column a time attribute */
    MS_LNODE_AGGREGATE, /* global: one row */
    MS_LNODE_UNION,     /* UNION ALL: inputs of one shape */
    MS_LNODE_SORT,
    MS_LNODE_LIMIT,
    MS_LNODE_SINK,    /* a root: rows into a table */
    MS_LNODE_COLLECT, /* a root: rows to the client */
    MS_LNODE_KIND_COUNT
} ms_lnode_kind;

/* Derived properties. */

typedef enum ms_time_attr {
    MS_TIME_ATTR_NONE,
    MS_TIME_ATTR_ROWTIME /* event time: watermarks are about this column */
} ms_time_attr;

typedef enum ms_monotony {
    MS_MONOTONY_NONE,
    MS_MONOTONY_CONSTANT,   /* one value in all rows */
    MS_MONOTONY_QUASI,      /* grows, but for rows that are late */
    MS_MONOTONY_INCREASING, /* never falls */
    MS_MONOTONY_DECREASING
} ms_monotony;

typedef struct ms_column_props {
    ms_time_attr time_attr;
    ms_monotony monotony;
} ms_column_props;

/* Columns that identify a row: ordinals, ascending. No columns at all: there is at most one row. */
typedef struct ms_key_set {
    uint32_t count;
    const uint32_t *columns;
} ms_key_set;

typedef struct ms_lprops {
    bool is_bounded;         /* ends by itself; false for a scan that no connector has seen yet */
    bool is_single_row;      /* at most one row at any time */
    bool is_deterministic;   /* every expression here and below is */
    bool is_order_sensitive; /* which rows come out depends on the order in which rows come in */
    const ms_column_props *columns; /* one a column of the schema */
    uint32_t unique_key_count;
    const ms_key_set *unique_keys; /* no two rows at a time agree on one */
    uint32_t upsert_key_count;
    const ms_key_set *upsert_keys; /* unique, and updates of a key stay on one subtask, in order */
} ms_lprops;

/* Nodes. */

/* What a SCAN and a SINK know of their table. */
typedef struct ms_ltable {
    const ms_table *table; /* the catalog's */
    ms_option_list hints;  /* of an OPTIONS hint: win over the table's */
    ms_span span;          /* of the name in the statement */
} ms_ltable;

/* One aggregate over the input of its node; argument and filter are input columns. */
typedef struct ms_lagg {
    ms_agg_kind kind;
    uint32_t arg;    /* UINT32_MAX for COUNT(*) */
    uint32_t filter; /* UINT32_MAX: none */
    const ms_type *result;
    ms_span span;
} ms_lagg;

typedef struct ms_lnode ms_lnode;
struct ms_lnode {
    ms_lnode_kind kind;
    ms_span span;
    uint32_t height;  /* 1 for a leaf */
    ms_schema schema; /* of the output; SINK and COLLECT: of what they take */
    ms_lprops props;
    uint32_t input_count;
    const ms_lnode *const *inputs;
    union {
        struct {
            ms_ltable of;
            const uint32_t *columns; /* ordinals of the stored schema, ascending; one a column */
            ms_scan *scan;           /* NULL until the optimizer asked the connector */
        } scan;
        struct {
            uint32_t row_count;
            const ms_expr *const *cells; /* row_count * column_count, row by row */
        } values;
        struct {
            const ms_expr *const *exprs; /* one a column */
        } project;
        struct {
            const ms_expr *condition;
        } filter;
        struct {
            uint32_t rowtime;
            const ms_expr *expr;
        } watermark;
        struct {
            uint32_t call_count;
            const ms_lagg *calls;
        } aggregate;
        struct {
            uint32_t key_count;
            const ms_sort_key *keys;
        } sort;
        struct {
            uint64_t limit; /* UINT64_MAX: none */
            uint64_t offset;
        } limit;
        struct {
            ms_ltable of;
            const uint32_t *target; /* sink columns that the INSERT names, ascending */
            uint32_t target_count;
            ms_sink *sink; /* NULL until the optimizer asked the connector */
        } sink;
    } u;
};

/* A statement's plan. */
typedef struct ms_lplan {
    bool is_streaming;
    uint32_t root_count;
    const ms_lnode *const *roots; /* sinks, or one collector */
} ms_lplan;

/* Making. Arrays given are copied unless it is said otherwise; inputs and expressions are not. */

/* All stored columns. */
const ms_lnode *ms_lnode_scan(ms_arena *arena, const ms_ltable *of);

/* The same scan with the connector's face and the columns that it gives. columns is kept. */
const ms_lnode *ms_lnode_scan_with(ms_arena *arena, const ms_lnode *node, ms_scan *scan,
                                   const uint32_t *columns, uint32_t column_count);

/* cells is kept: row_count times column_count expressions. */
const ms_lnode *ms_lnode_values(ms_arena *arena, const ms_schema *schema,
                                const ms_expr *const *cells, uint32_t row_count, ms_span span);

/* Column i is exprs[i] under names[i]. */
const ms_lnode *ms_lnode_project(ms_arena *arena, const ms_lnode *input,
                                 const ms_expr *const *exprs, const ms_str *names, uint32_t count,
                                 ms_span span);
const ms_lnode *ms_lnode_filter(ms_arena *arena, const ms_lnode *input, const ms_expr *condition,
                                ms_span span);
const ms_lnode *ms_lnode_watermark(ms_arena *arena, const ms_lnode *input, uint32_t rowtime,
                                   const ms_expr *expr, ms_span span);

/* Column i is call i under names[i]. */
const ms_lnode *ms_lnode_aggregate(ms_arena *arena, const ms_lnode *input, const ms_lagg *calls,
                                   const ms_str *names, uint32_t count, ms_span span);

/* schema has the names and the common types; inputs agree with it but for nullability. */
const ms_lnode *ms_lnode_union(ms_arena *arena, const ms_lnode *const *inputs, uint32_t input_count,
                               const ms_schema *schema, ms_span span);
const ms_lnode *ms_lnode_sort(ms_arena *arena, const ms_lnode *input, const ms_sort_key *keys,
                              uint32_t key_count, ms_span span);
const ms_lnode *ms_lnode_limit(ms_arena *arena, const ms_lnode *input, uint64_t limit,
                               uint64_t offset, ms_span span);

/* The input's columns are those of the table's sink schema, in order. target is copied. */
const ms_lnode *ms_lnode_sink(ms_arena *arena, const ms_lnode *input, const ms_ltable *of,
                              const uint32_t *target, uint32_t target_count, ms_span span);
const ms_lnode *ms_lnode_sink_with(ms_arena *arena, const ms_lnode *node, ms_sink *sink);

/* names: of the result's columns, unique; as many as the input has columns. */
const ms_lnode *ms_lnode_collect(ms_arena *arena, const ms_lnode *input, const ms_str *names,
                                 ms_span span);

/* Rewriting. */

/* The same node over other inputs of the same columns; properties are derived anew. */
const ms_lnode *ms_lnode_with_inputs(ms_arena *arena, const ms_lnode *node,
                                     const ms_lnode *const *inputs);

/* A tree of its own, down to the leaves: for a second use of a common table expression. */
const ms_lnode *ms_lnode_copy(ms_arena *arena, const ms_lnode *node);

/*
 * A copy in which every node, table and expression has one place: for what a view's text brought.
 */
const ms_lnode *ms_lnode_place(ms_arena *arena, const ms_lnode *node, ms_span span);

/* The same for an expression. */
const ms_expr *ms_expr_place(ms_arena *arena, const ms_expr *expr, ms_span span);

/* Nodes in the tree below and with node. */
uint32_t ms_lnode_count(const ms_lnode *node);

/* Inspection. */

/* "Filter", "TableScan": as EXPLAIN shows it behind "Logical". */
const char *ms_lnode_kind_name(ms_lnode_kind kind);

/* True when some unique key, or upsert key, lies within the columns (ordinals, any order) but for
 * constant columns. */
bool ms_lprops_has_unique_key(const ms_lprops *props, const uint32_t *columns, uint32_t count);
bool ms_lprops_has_upsert_key(const ms_lprops *props, const uint32_t *columns, uint32_t count);

#endif
