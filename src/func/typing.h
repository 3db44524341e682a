/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of types: which types have a common one, which can be compared, which casts exist,
 * which of them happen by themselves, and what the arithmetic of numbers gives. They are Flink's
 * (the least-restrictive rule of its SQL front end, its implicit and explicit cast tables, and its
 * decimal derivation), as pure functions over types.
 *
 *     const ms_type *common = ms_typing_common(arena, types, count);
 *     if (common == NULL) { ... "CASE branches have no common type" ... }
 *
 * Nothing here reports an error: a rule that does not exist is NULL or false, and the caller, who
 * knows the place and the construct, words the message.
 *
 * Ownership: results live in the arena, or are one of the arguments. Thread: any.
 */
#ifndef MS_FUNC_TYPING_H
#define MS_FUNC_TYPING_H

#include "type/type.h"

/* Common types. */

/*
 * The least restrictive type of a list: of CASE and COALESCE branches, VALUES rows, IN elements,
 * set operations, ARRAY and MAP elements. Nullable when a member is nullable or is the NULL
 * literal; the result of only NULL literals is the NULL type. NULL when there is no common type or
 * count is 0.
 */
const ms_type *ms_typing_common(ms_arena *arena, const ms_type *const *types, uint32_t count);
const ms_type *ms_typing_common2(ms_arena *arena, const ms_type *a, const ms_type *b);

/* Comparison. */

typedef enum ms_comparison { MS_COMPARE_EQUALITY, MS_COMPARE_ORDER } ms_comparison;

/*
 * True when values of the two types can be compared: same family, numbers among themselves, dates
 * and timestamps with each other and with text; ROW, ARRAY and MAP item by item and for equality
 * only.
 */
bool ms_typing_is_comparable(const ms_type *a, const ms_type *b, ms_comparison comparison);

/* Casts. */

/*
 * True when a value of `from` becomes one of `to` without being told: INSERT, function arguments.
 */
bool ms_typing_casts_implicitly(const ms_type *from, const ms_type *to);

typedef enum ms_cast_class {
    MS_CAST_NONE, /* no such cast */
    MS_CAST_INFALLIBLE /* a value always comes out (it may wrap, be cut, or be NULL by overflow) */,
    MS_CAST_FALLIBLE, /* a value may have no counterpart: CAST fails, TRY_CAST gives NULL */
    MS_CAST_UNBUILT   /* exists in the language and is not built yet */
} ms_cast_class;

ms_cast_class ms_typing_cast_class(const ms_type *from, const ms_type *to);

/*
 * The type of CAST(x AS target): the target, nullable when x is; of TRY_CAST: also nullable when
 * the cast can fail. A DECIMAL target is nullable as well when its digits can overflow, since
 * overflow gives NULL.
 */
const ms_type *ms_typing_cast_result(ms_arena *arena, const ms_type *from, const ms_type *target,
                                     bool is_try);

/* Arithmetic. */

typedef enum ms_arith {
    MS_ARITH_ADD,
    MS_ARITH_SUB,
    MS_ARITH_MUL,
    MS_ARITH_DIV,
    MS_ARITH_MOD
} ms_arith;

/*
 * The result type of a op b over two numeric types; nullable when one is, or when a decimal result
 * can overflow. NULL when there is no such operation (MOD of FLOAT or DOUBLE).
 */
const ms_type *ms_typing_arith(ms_arena *arena, ms_arith op, const ms_type *a, const ms_type *b);

/* The decimal type that an exact numeric counts as: TINYINT (3,0), SMALLINT (5,0), INT (10,0),
 * BIGINT (19,0). */
void ms_typing_decimal_of(const ms_type *type, int32_t *precision_out, int32_t *scale_out);

/* Literals. */

/* The type of an unsigned exact literal by its digits: "7" INT, "2147483648" BIGINT, "1.50"
 * DECIMAL(3, 2). NULL when it is out of range or no such literal. */
const ms_type *ms_typing_exact_literal(ms_arena *arena, ms_str digits);

/* Text. */

/*
 * Reads a type as ms_type_text prints it and as SQL writes it, without comments: "DECIMAL(10, 2)
 * NOT NULL", "STRING", "TIMESTAMP_LTZ(3)", "ROW<`a` INT, `b` ARRAY<STRING>>". NULL when it is no
 * type.
 */
const ms_type *ms_typing_parse(ms_arena *arena, ms_str text);

#endif
