/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The physical plan: a const directed acyclic graph of operators that runtime/ turns into tasks.
 * The planner builds it bottom up; after ms_plan_seal nothing in it changes, so that it can be
 * explained, written into checkpoints and run any number of times.
 *
 *     INSERT INTO t SELECT a + 1 FROM s WHERE b > 2
 *
 *     SINK t  <-  [EXCHANGE hash(key)]  <-  CALC [filter, projections]  <-  SOURCE s
 *
 * Every node has a stable id: it depends on the node's kind, its place under its sink and its
 * schema, not on memory or time, and names the node's state in a checkpoint.
 *
 * Ownership: a plan lives in one arena (the job's). Thread: any, read only once sealed.
 */
#ifndef MS_PLAN_PHYSICAL_H
#define MS_PLAN_PHYSICAL_H

#include "catalog/connector.h"
#include "expr/expr.h"
#include "func/registry.h"

typedef enum ms_pnode_kind {
    MS_PNODE_SOURCE,    /* a connector's scan */
    MS_PNODE_VALUES,    /* constant rows */
    MS_PNODE_CALC,      /* filter, then projections */
    MS_PNODE_WATERMARK, /* Flink's watermark assigner */
    MS_PNODE_AGGREGATE, /* global aggregates; one row */
    MS_PNODE_UNION,     /* UNION ALL: any number of inputs of one schema */
    MS_PNODE_EXCHANGE,  /* moves rows between subtasks */
    MS_PNODE_SORT,      /* ORDER BY to the end of the input, with an optional limit */
    MS_PNODE_LIMIT,     /* OFFSET and FETCH */
    MS_PNODE_SINK,      /* a connector's sink */
    MS_PNODE_COLLECT,   /* hands rows to the result of a statement */
    MS_PNODE_COUNT
} ms_pnode_kind;

typedef enum ms_exchange_kind {
    MS_EXCHANGE_GATHER,    /* all to subtask 0 */
    MS_EXCHANGE_HASH,      /* by key group of the key columns */
    MS_EXCHANGE_REBALANCE, /* whole batches, round robin */
    MS_EXCHANGE_COUNT
} ms_exchange_kind;

/* One aggregate call over the input of its node; arguments and filters are columns, computed by a
 * CALC below. */
typedef struct ms_agg_call {
    ms_agg_kind kind;
    uint32_t arg;    /* input column; UINT32_MAX for COUNT(*) */
    uint32_t filter; /* BOOLEAN input column; UINT32_MAX: none */
    const ms_type *result;
    ms_span span;
} ms_agg_call;

typedef struct ms_sort_key {
    uint32_t column;
    bool descending;
    bool nulls_first;
} ms_sort_key;

typedef struct ms_pnode ms_pnode;
struct ms_pnode {
    ms_pnode_kind kind;
    uint64_t id;            /* stable operator id; also keys its state */
    ms_span span;           /* the clause it came from */
    ms_schema schema;       /* of the output; SINK and COLLECT: of the input */
    ms_changelog changelog; /* kinds on the output edge; SINK and COLLECT: on the input edge */
    bool order_sensitive;   /* the consumer wants every change, row by row */
    uint32_t parallelism;
    uint32_t input_count;
    const ms_pnode *const *inputs;
    union {
        struct {
            const ms_scan *scan;
            ms_str table;
        } source;
        struct {
            uint32_t row_count;
            const ms_value *cells; /* row_count * column_count, row by row */
        } values;
        struct {
            const ms_expr *filter; /* NULL: all rows */
            uint32_t expr_count;   /* = column_count of schema */
            const ms_expr *const *exprs;
        } calc;
        struct {
            uint32_t rowtime;    /* input column */
            const ms_expr *expr; /* over the input */
            int64_t interval_ms; /* 200 unless pipeline.auto-watermark-interval says otherwise */
        } watermark;
        struct {
            uint32_t call_count;
            const ms_agg_call *calls;
            bool is_batch; /* one row at END; else net changes */
            bool coalesce; /* net change per batch; else a change per row */
        } aggregate;
        struct {
            ms_exchange_kind kind;
            uint32_t key_count;
            const uint32_t *keys;
        } exchange;
        struct {
            uint32_t key_count;
            const ms_sort_key *keys;
            uint64_t limit; /* UINT64_MAX: none */
            uint64_t offset;
        } sort;
        struct {
            uint64_t limit;
            uint64_t offset;
        } limit;
        struct {
            const ms_sink *sink;
            ms_str table;
            const bool *not_null; /* per column: enforce NOT NULL */
        } sink;
        struct {
            bool fold; /* print final rows only */
        } collect;
    } u;
};

typedef struct ms_plan {
    ms_str sql; /* the statement's text; spans point into it */
    bool is_streaming;
    bool is_bounded;        /* every source ends */
    bool overflow_is_error; /* millstream.arithmetic.overflow = error */
    ms_str local_time_zone;
    uint32_t node_count;
    const ms_pnode *const *nodes; /* inputs before consumers */
    uint32_t root_count;
    const ms_pnode *const *roots; /* sinks, or the one collector */
} ms_plan;

/* The name of a node's kind as EXPLAIN shows it ("Calc"). */
const char *ms_pnode_kind_name(ms_pnode_kind kind);

/*
 * The plan as text for checkpoints: version 1, one node a line, independent of pointers and of the
 * machine. The same statement over the same tables gives the same text. Fails only when out passes
 * its maximum.
 */
ms_rc ms_plan_write_text(const ms_plan *plan, ms_buf *out, ms_status *st) MS_MUST_USE;

/*
 * Compares a stored plan text with a plan; MS_PLAN_MISMATCH names the first difference (operator,
 * then what of it).
 */
ms_rc ms_plan_check_text(const ms_plan *plan, ms_str stored, ms_status *st) MS_MUST_USE;

#endif
