/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Typed expressions. The binder makes them, the plan keeps them, programs are compiled from them. A
 * node is const once built, knows its type (with exact nullability) and its place in the statement.
 *
 *     kind        children                       besides
 *     COLUMN      -                              index: the input column
 *     CONST       -                              value
 *     CALL        the arguments                  fn: a resolved function; arguments have the types
 *     it wants
 *     AND OR      two or more                    run left to right, as far as needed
 *     CASE        c1, r1, c2, r2, ..., else      always an odd number
 *     IF          condition, then, else
 *     COALESCE    one or more
 *     CAST        x                              the target is the node's type
 *     TRY_CAST    x                              same; NULL where CAST fails
 *     FIELD       a ROW                          index: the field
 *     LET         value, body                    index: the number by which the body refers to the
 *     value
 *     REF         -                              index: that number, of a LET above
 *
 * LET is for an operand that SQL writes once and its meaning uses twice (x BETWEEN a AND b, CASE x
 * WHEN): it is computed once, and trees stay as large as their text. A fault of the value counts
 * where the body refers to it.
 *
 * Everything else (comparison, arithmetic, NOT, IS NULL, LIKE, IN, ROW, ARRAY and MAP constructors,
 * item access) is a CALL. Nodes are made by expr/build.h, which finds functions and adds the casts;
 * the raw constructors here are for rewriting and check nothing.
 *
 * A node may have several parents as long as the shared part is deterministic
 * (ms_expr_is_shareable); a program computes it once where it can.
 *
 * Ownership: nodes, types and values live in one arena, with the spans pointing into the
 * statement's text; ms_expr_copy moves a tree to another lifetime. Thread: any, read only.
 * Limits: depth at most MS_LIMIT_EXPR_DEPTH plus the levels that the builder adds.
 */
#ifndef MS_EXPR_EXPR_H
#define MS_EXPR_EXPR_H

#include "func/registry.h"
#include "type/value.h"

typedef enum ms_expr_kind {
    MS_EXPR_COLUMN,
    MS_EXPR_CONST,
    MS_EXPR_CALL,
    MS_EXPR_AND,
    MS_EXPR_OR,
    MS_EXPR_CASE,
    MS_EXPR_IF,
    MS_EXPR_COALESCE,
    MS_EXPR_CAST,
    MS_EXPR_TRY_CAST,
    MS_EXPR_FIELD,
    MS_EXPR_LET,
    MS_EXPR_REF,
    MS_EXPR_KIND_COUNT
} ms_expr_kind;

typedef struct ms_expr ms_expr;
struct ms_expr {
    ms_expr_kind kind;
    uint32_t index;
    ms_span span;
    const ms_type *type;
    const ms_fn *fn;
    const ms_value *value;
    uint32_t child_count;
    const ms_expr *const *children;
};

/* Making. The children array is copied, the children are not. */

const ms_expr *ms_expr_column(ms_arena *arena, uint32_t index, const ms_type *type, ms_span span);

/* The value is copied deeply; its type is the node's. */
const ms_expr *ms_expr_const(ms_arena *arena, const ms_value *value, ms_span span);

/* Any kind with children; fn for CALL only. */
const ms_expr *ms_expr_node(ms_arena *arena, ms_expr_kind kind, const ms_fn *fn,
                            const ms_type *type, const ms_expr *const *children,
                            uint32_t child_count, ms_span span);
const ms_expr *ms_expr_field(ms_arena *arena, const ms_expr *row, uint32_t index,
                             const ms_type *type, ms_span span);

/* The same node over other children. */
const ms_expr *ms_expr_with_children(ms_arena *arena, const ms_expr *expr,
                                     const ms_expr *const *children);

/* Inspection. */

/* Same shape, functions, types and values; spans do not count. */
bool ms_expr_equals(const ms_expr *a, const ms_expr *b);

/* Agrees with ms_expr_equals; not frozen, never stored. */
uint64_t ms_expr_hash(const ms_expr *expr);

/* No column anywhere below. */
bool ms_expr_is_constant(const ms_expr *expr);

/* Equal inputs give equal results, everywhere below. */
bool ms_expr_is_deterministic(const ms_expr *expr);

/* No side effects below: may be dropped when the result is not used. */
bool ms_expr_is_pure(const ms_expr *expr);

/* May be evaluated more often or less often than written: deterministic and pure. */
bool ms_expr_is_shareable(const ms_expr *expr);

/* Evaluating may report an error for some row. Answers true when in doubt. */
bool ms_expr_can_fail(const ms_expr *expr);

/* A CONST TRUE, FALSE or NULL of type BOOLEAN. */
bool ms_expr_is_literal_bool(const ms_expr *expr, bool value);
bool ms_expr_is_null_literal(const ms_expr *expr);

/* A CALL of the built-in of this name ("=", "LIKE", ...). */
bool ms_expr_is_call_of(const ms_expr *expr, const char *name);

/* Walking. */

/* Called before the children; false keeps the walk from going below. */
typedef bool (*ms_expr_visit)(void *ctx, const ms_expr *expr);
void ms_expr_walk(const ms_expr *expr, ms_expr_visit visit, void *ctx);

/* Sets the bit of every column used; the bitmap has room for the input's columns. */
void ms_expr_columns(const ms_expr *expr, uint64_t *bits);

/* Adds the conjuncts of a condition to list, left to right: "a AND (b AND c)" has three. Returns
 * how many there are, writes at most list_max. */
uint32_t ms_expr_conjuncts(const ms_expr *expr, const ms_expr **list, uint32_t list_max);

/* Rewriting. Parts that do not change are shared with the original. */

/* Answers a replacement for a node whose children were rewritten already, or the node itself. */
typedef const ms_expr *(*ms_expr_replace)(void *ctx, ms_arena *arena, const ms_expr *expr);
const ms_expr *ms_expr_rewrite(ms_arena *arena, const ms_expr *expr, ms_expr_replace replace,
                               void *ctx);

/* Column i becomes column map[i]. */
const ms_expr *ms_expr_remap(ms_arena *arena, const ms_expr *expr, const uint32_t *map);

/* Column i becomes columns[i]: moves an expression through a projection. */
const ms_expr *ms_expr_substitute(ms_arena *arena, const ms_expr *expr,
                                  const ms_expr *const *columns);

/* A deep copy: types, values and names too. Sharing inside the tree is kept. */
const ms_expr *ms_expr_copy(ms_arena *arena, const ms_expr *expr);

/* Text. */

/* SQL-like text for EXPLAIN: "price * 0.908", "CASE WHEN a IS NULL THEN 0 ELSE a END". Columns by
 * the names of the schema, by $ordinal without one. */
ms_str ms_expr_text(ms_arena *arena, const ms_expr *expr, const ms_schema *input);

/*
 * The stored form, part of plan text version 1: one s-expression,
 *     (call "*" "DECIMAL(23, 3)" 7 22 (col 2 "BIGINT" 7 12) (const "DECIMAL(3, 3) NOT NULL" 15 20
 *     "0.908"))
 * Reading checks everything that it builds on: kinds, counts, types, depth, functions by name; what
 * does not fit is MS_CORRUPT_DATA. Shared parts are written at each place. *text_inout moves behind
 * what was read.
 */
ms_rc ms_expr_write(ms_buf *buf, const ms_expr *expr, ms_status *st) MS_MUST_USE;
ms_rc ms_expr_read(ms_arena *arena, ms_str *text_inout, const ms_expr **expr_out,
                   ms_status *st) MS_MUST_USE;

#endif
