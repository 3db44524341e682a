/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of opt/ share. Statements go through them in this order:
 *
 *     attach.c             asks the connectors for scans and sinks
 *     normalize.c          always: one form for equal meanings
 *     validate.c           what the runtime mode cannot run
 *     optimize_fold.c      off by setting: constants, conditions, empty inputs
 *     optimize_push.c      off by setting: filters down to the scans
 *     optimize_share.c     off by setting: one scan for several sinks
 *     optimize_scan.c      off by setting: filters and limits into the scans
 *     optimize_prune.c     off by setting: columns that nobody reads
 *     implement.c          always: logical nodes to operators, with implement_calc.c and
 *                          implement_values.c
 *     changelog.c          always: which row kinds flow on which edge
 *     implement_exchange.c always: parallelism, exchanges
 *     seal.c               always: ids, the copy in the job's arena
 *
 * A function that fails has set opt->st and returns its code.
 */
#ifndef MS_OPT_OPT_PRIV_H
#define MS_OPT_OPT_PRIV_H

#include "expr/interp.h"
#include "opt/opt.h"

/* What one planning needs. Lives on the stack of ms_opt_plan. */
typedef struct msi_opt {
    const ms_opt_env *env;
    ms_arena *arena; /* the statement's */
    ms_status *st;
    bool is_streaming;
    ms_eval_config eval;
    ms_plan_env plan_env; /* what connectors get, but for the service */
    uint32_t root_count;
    const ms_lnode **roots; /* as rewritten so far */
} msi_opt;

/* Logical steps: each rewrites opt->roots. */

ms_rc msi_attach(msi_opt *opt) MS_MUST_USE;
void msi_normalize(msi_opt *opt);
ms_rc msi_validate(msi_opt *opt) MS_MUST_USE;
void msi_fold(msi_opt *opt);
void msi_push_filters(msi_opt *opt);
void msi_share_scans(msi_opt *opt);
ms_rc msi_push_into_scans(msi_opt *opt) MS_MUST_USE;
ms_rc msi_prune_columns(msi_opt *opt) MS_MUST_USE;

/* Rewriting. */

/* Answers a replacement for a node whose inputs were rewritten already, or the node itself. */
typedef const ms_lnode *(*msi_rule)(msi_opt *opt, const ms_lnode *node);

/* Applies a rule to every node, leaves first. */
const ms_lnode *msi_rewrite(msi_opt *opt, const ms_lnode *node, msi_rule rule);
void msi_rewrite_roots(msi_opt *opt, msi_rule rule);

/* The node over one other input. */
const ms_lnode *msi_with_input(msi_opt *opt, const ms_lnode *node, const ms_lnode *input);

/* No rows, with the columns of node. */
const ms_lnode *msi_empty(msi_opt *opt, const ms_lnode *node);
bool msi_is_empty(const ms_lnode *node);

/* No expression here or below has side effects. */
bool msi_is_pure(const ms_lnode *node);

/* Expressions. */

/* The conjuncts of a condition, all of them. */
typedef struct msi_conjuncts {
    const ms_expr **items;
    uint32_t count;
} msi_conjuncts;

msi_conjuncts msi_conjuncts_of(msi_opt *opt, const ms_expr *condition);

/* Their conjunction; NULL for none. */
const ms_expr *msi_conjunction(msi_opt *opt, const ms_expr *const *items, uint32_t count);

/* The names of a schema. */
const ms_str *msi_names_of(msi_opt *opt, const ms_schema *schema);

/* The columns of a schema as expressions, with the types that it has. */
const ms_expr **msi_columns_of(msi_opt *opt, const ms_schema *schema);

/*
 * Whether an expression may be moved through a projection: what it refers to may be evaluated more
 * or less often, and the result stays within the limits of size and depth.
 */
bool msi_can_substitute(const ms_expr *expr, const ms_expr *const *columns);

/* Nodes of an expression when column i stands for columns[i] (NULL: for itself); saturating. */
uint32_t msi_expr_size(const ms_expr *expr, const ms_expr *const *columns);
uint32_t msi_expr_depth(const ms_expr *expr, const ms_expr *const *columns);

/*
 * Expressions that rules make have at most this many nodes: substitution can double a tree at each
 * level of nesting.
 */
#define MSI_EXPR_NODES_MAX 20000u

/* Sets of columns: bitmaps as ms_expr_columns fills them. */

static inline size_t msi_bits_words(uint32_t count)
{
    return (count + 63) / 64;
}

static inline uint64_t *msi_bits_make(ms_arena *arena, uint32_t count)
{
    return ms_arena_array(arena, uint64_t, msi_bits_words(count) + 1);
}

static inline bool msi_bits_has(const uint64_t *bits, uint32_t at)
{
    return (bits[at / 64] >> (at % 64) & 1) != 0;
}

static inline void msi_bits_add(uint64_t *bits, uint32_t at)
{
    bits[at / 64] |= UINT64_C(1) << (at % 64);
}

/* Physical nodes on their way. */

typedef struct msi_work msi_work;
struct msi_work {
    ms_pnode node;          /* inputs are unset until it is sealed */
    const ms_lprops *props; /* of the logical node that it implements */
    uint32_t input_count;
    msi_work **inputs;
    msi_work *fragment; /* union-find over edges without an exchange of their own */
    bool is_ordered;    /* of a fragment's head: runs at parallelism 1 to keep the order */
    bool has_sink;      /* of a fragment's head: a table is written in it */
    bool drops_before;  /* the consumer does without -U */
    ms_sink *sink;      /* SINK */
    uint32_t key_count; /* SINK: the table's primary key, ordinals of the input */
    const uint32_t *key;
    ms_pnode *sealed;
};

/* Every node once, inputs before consumers. */
typedef struct msi_works {
    msi_work **items;
    uint32_t count;
    uint32_t capacity;
    uint32_t root_count;
    msi_work **roots;
} msi_works;

/* A new node at the end of the list; takes inputs (their array is copied). */
msi_work *msi_works_add(msi_opt *opt, msi_works *works, ms_pnode_kind kind, ms_span span,
                        msi_work *const *inputs, uint32_t input_count, const ms_lprops *props);

void msi_implement(msi_opt *opt, msi_works *works);
msi_work *msi_implement_node(msi_opt *opt, msi_works *works, const ms_lnode *node);
msi_work *msi_implement_calc(msi_opt *opt, msi_works *works, const ms_lnode *node);

/* A PROJECT over a PROJECT as one; NULL when that would run something else than was written. */
const ms_lnode *msi_merge_projects(msi_opt *opt, const ms_lnode *upper);
msi_work *msi_implement_values(msi_opt *opt, msi_works *works, const ms_lnode *node);
ms_rc msi_settle_changelog(msi_opt *opt, msi_works *works) MS_MUST_USE;
ms_rc msi_place_exchanges(msi_opt *opt, msi_works *works) MS_MUST_USE;
ms_rc msi_seal(msi_opt *opt, const msi_works *works, const ms_plan **plan_out) MS_MUST_USE;

#endif
