/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building typed expressions from names and typed operands: what the binder calls. Each function
 * resolves, checks the types, wraps operands in the casts that are needed, computes the type and
 * the exact nullability, and reports what does not fit, placed at the operand or the call.
 *
 *     ms_expr_builder b = {.arena = arena, .st = st};
 *     const ms_expr *args[2] = {price, rate};
 *     MS_TRY(ms_build_call(&b, ms_str_lit("*"), args, 2, node->span, &product));
 *     MS_TRY(ms_build_cast(&b, product, target, MS_BUILD_CAST, node->span, &out));
 *
 * Operators and functions alike go through ms_build_call, by sign or name. The names of the forms
 * that are not written as calls:
 *
 *     "AND" "OR" "NOT"  "=" "<>" "<" "<=" ">" ">="   "IS DISTINCT FROM" "IS NOT DISTINCT FROM"
 *     "IS NULL" "IS NOT NULL" "IS TRUE" "IS NOT TRUE" "IS FALSE" "IS NOT FALSE" "IS UNKNOWN"
 *     "IS NOT UNKNOWN"  "+" "-" (one operand or two) "*" "/" "%"  "||"  "LIKE" "NOT LIKE" (text,
 *     pattern[, escape])  "BETWEEN" "NOT BETWEEN" "BETWEEN SYMMETRIC" "NOT BETWEEN SYMMETRIC" (x,
 *     low,
 *     high)  "IN" "NOT IN" (x, element, ...)  "ITEM" (array or map, index or key)
 *     "TRIM BOTH" "TRIM LEADING" "TRIM TRAILING" (text[, characters])  "POSITION" (needle, text[,
 *     from])
 *     "ROW" "ARRAY" "MAP"
 *
 * Literals are not folded here, but a text literal that meets a date or timestamp is read at once,
 * so that its fault is found at planning.
 *
 * Ownership: all results live in the arena. Thread: the planning thread. First error wins; after
 * one, every call fails.
 */
#ifndef MS_EXPR_BUILD_H
#define MS_EXPR_BUILD_H

#include "expr/expr.h"

typedef struct ms_expr_builder {
    ms_arena *arena;
    ms_status *st;
    uint32_t let_count; /* private: numbers of LET nodes */
} ms_expr_builder;

/* A call by name, forms included. */
ms_rc ms_build_call(ms_expr_builder *b, ms_str name, const ms_expr *const *args, uint32_t count,
                    ms_span span, const ms_expr **expr_out) MS_MUST_USE;

/* As ms_build_call with one or two operands. */
ms_rc ms_build_unary(ms_expr_builder *b, const char *name, const ms_expr *arg, ms_span span,
                     const ms_expr **expr_out) MS_MUST_USE;
ms_rc ms_build_binary(ms_expr_builder *b, const char *name, const ms_expr *left,
                      const ms_expr *right, ms_span span, const ms_expr **expr_out) MS_MUST_USE;

/*
 * CASE [operand] WHEN w1 THEN t1 ... [ELSE e] END. With an operand (not NULL) each when is compared
 * to it. otherwise NULL: ELSE NULL.
 */
ms_rc ms_build_case(ms_expr_builder *b, const ms_expr *operand, const ms_expr *const *whens,
                    const ms_expr *const *thens, uint32_t count, const ms_expr *otherwise,
                    ms_span span, const ms_expr **expr_out) MS_MUST_USE;

typedef enum ms_build_cast_mode {
    MS_BUILD_CAST,
    MS_BUILD_TRY_CAST,
    MS_BUILD_IMPLICIT /* only what ms_typing_casts_implicitly allows */
} ms_build_cast_mode;

/*
 * A cast to target. target's nullability at the top is ignored: the result is nullable when the
 * operand is (or the cast can give NULL). An operand of the type already comes back as it is.
 */
ms_rc ms_build_cast(ms_expr_builder *b, const ms_expr *expr, const ms_type *target,
                    ms_build_cast_mode mode, ms_span span, const ms_expr **expr_out) MS_MUST_USE;

/* row.name and row[name]; by exact name. */
ms_rc ms_build_field(ms_expr_builder *b, const ms_expr *row, ms_str name, ms_span span,
                     const ms_expr **expr_out) MS_MUST_USE;

/*
 * Casts every expression to the common type of all: columns of VALUES and of set operations. what
 * is named in the error ("column 2 of UNION").
 */
ms_rc ms_build_common(ms_expr_builder *b, const ms_expr **exprs, uint32_t count, const char *what,
                      ms_span span) MS_MUST_USE;

/* Literals. All are NOT NULL but the NULL literal. */

const ms_expr *ms_build_null(ms_expr_builder *b, ms_span span); /* untyped */
const ms_expr *ms_build_bool(ms_expr_builder *b, bool value, ms_span span);
const ms_expr *ms_build_int(ms_expr_builder *b, int32_t value, ms_span span);
const ms_expr *ms_build_bigint(ms_expr_builder *b, int64_t value, ms_span span);
const ms_expr *ms_build_text(ms_expr_builder *b, ms_str text, ms_span span); /* CHAR(n) */

/* A number as written: digits, "1.50" (exact), "1e3" (DOUBLE); is_negative folds a sign into it. */
ms_rc ms_build_number(ms_expr_builder *b, ms_str digits, bool is_negative, ms_span span,
                      const ms_expr **expr_out) MS_MUST_USE;

/* X'0aff': the digits. */
ms_rc ms_build_hex(ms_expr_builder *b, ms_str digits, ms_span span,
                   const ms_expr **expr_out) MS_MUST_USE;

/* DATE '...', TIME '...', TIMESTAMP '...': the text between the quotes. */
ms_rc ms_build_temporal(ms_expr_builder *b, ms_type_kind kind, ms_str text, ms_span span,
                        const ms_expr **expr_out) MS_MUST_USE;

/* The fields of interval qualifiers, coarse to fine. QUARTER is three MONTHs, WEEK seven DAYs. */
typedef enum ms_interval_unit {
    MS_UNIT_YEAR,
    MS_UNIT_QUARTER,
    MS_UNIT_MONTH,
    MS_UNIT_WEEK,
    MS_UNIT_DAY,
    MS_UNIT_HOUR,
    MS_UNIT_MINUTE,
    MS_UNIT_SECOND
} ms_interval_unit;

typedef struct ms_interval_qualifier {
    ms_interval_unit from;
    ms_interval_unit to; /* equal to from for a single field */
    int32_t precision;   /* digits of the leading field; -1: not written, so 2 */
    int32_t fraction;    /* digits of the fraction of seconds; -1: not written, so 6 */
} ms_interval_qualifier;

/* INTERVAL [-] '...' qualifier. */
ms_rc ms_build_interval(ms_expr_builder *b, ms_str text, bool is_negative,
                        const ms_interval_qualifier *qualifier, ms_span span,
                        const ms_expr **expr_out) MS_MUST_USE;

/* INTERVAL (expr) unit: an exact number of units, single fields only. */
ms_rc ms_build_interval_of(ms_expr_builder *b, const ms_expr *count, ms_interval_unit unit,
                           ms_span span, const ms_expr **expr_out) MS_MUST_USE;

/* The type of intervals of a qualifier; NULL when it is not valid (MONTH TO DAY). */
const ms_type *ms_build_interval_type(ms_arena *arena, const ms_interval_qualifier *qualifier,
                                      bool nullable);

#endif
