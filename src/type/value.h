/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One SQL value of any type: what constants, the scalar interpreter, options and result printing
 * work with. Rows of data never travel like this; batches do.
 *
 * The type says which member counts, by its physical form: BOOL..I64, DATE and the temporal types
 * with six digits or fewer use i; I128 uses dec; F32 and F64 use f (a FLOAT is kept as the double
 * of the same value); STR uses str; TS16 uses ts; ARRAY, MAP, MULTISET and ROW use items: elements,
 * or key, value, key, value ..., or element, count, element, count ..., or fields.
 *
 * Ownership: str and items are borrowed; ms_value_copy() makes them the arena's. Thread: any.
 */
#ifndef MS_TYPE_VALUE_H
#define MS_TYPE_VALUE_H

#include "type/vec.h"

typedef struct ms_value ms_value;
struct ms_value {
    const ms_type *type;
    bool is_null;
    uint32_t item_count;
    union {
        int64_t i;
        double f;
        ms_i128 dec;
        ms_str str;
        ms_ts16 ts;
        const ms_value *items;
    } u;
};

ms_value ms_value_null(const ms_type *type);
ms_value ms_value_int(const ms_type *type, int64_t i);
ms_value ms_value_double(const ms_type *type, double f);
ms_value ms_value_str(const ms_type *type, ms_str str);

/* A deep copy. */
ms_value ms_value_copy(ms_arena *arena, const ms_value *value);

/*
 * Reads row `row` of a vector; nested values get their items from arena, strings borrow from the
 * vector. For a type that is not nested, arena may be NULL.
 */
ms_value ms_value_from_vec(ms_arena *arena, const ms_vec *vec, uint32_t row);

/*
 * Writes value as row `row` of a flat vector made by ms_vec_alloc, or of a pooled batch's column,
 * with room for at least capacity rows. Elements of lists get their room from arena, which a pooled
 * batch does not need (NULL). Strings are borrowed.
 */
void ms_value_to_vec(ms_arena *arena, const ms_value *value, ms_vec *vec, uint32_t row,
                     uint32_t capacity);

/* Equality of the same type: NULL equals NULL, NaN equals NaN, -0.0 equals 0.0. */
bool ms_value_equals(const ms_value *a, const ms_value *b);

/* Order of the same type: NULL first, NaN last, strings as unsigned bytes. Returns <0, 0, >0. */
int ms_value_compare(const ms_value *a, const ms_value *b);

#endif
