/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Order-preserving bytes of values: memcmp of two keys gives the order of the rows they were made
 * from, so that sorted structures need no types. A key is made by appending one value after the
 * other and can be taken apart again in the same order.
 *
 *     marker   01 before a value; NULL is 00 when NULLs come first, 02 when they come last
 *     ints     big-endian with the sign bit flipped, in the width of the type
 *     floats   IEEE bits, big-endian, sign flipped or all bits flipped; -0.0 as 0.0, NaN last
 *     decimal  the unscaled value, 8 or 16 bytes, as ints
 *     strings  the bytes, 00 as 00 FF, then 00 00
 *     ts16     8 bytes of ms, 4 of ns
 *     ROW      the fields in turn; ARRAY: 01 and the element ..., then 00
 *     MAP      as ARRAY over the entries, sorted by their bytes
 *
 * A descending value has all its bytes inverted, the marker too; therefore NULL, the smallest
 * value, comes first ascending and last descending, as Flink has it, unless told otherwise. The
 * order is that of ms_value_compare(), which has -0.0 equal to 0.0 and all NaN equal: a key does
 * not tell them apart and gives back 0.0 and the standard NaN.
 *
 * Ownership: the buffer is the caller's; decoded strings are copied into the arena. Thread: any.
 * Limits: the buffer's maximum, and the nesting of types.
 */
#ifndef MS_TYPE_KEY_H
#define MS_TYPE_KEY_H

#include "type/hash.h"

/* Zero-initialized: ascending, NULL first. */
typedef struct ms_key_order {
    bool descending;
    bool nulls_flipped; /* NULLs last when ascending, first when descending */
} ms_key_order;

/* Appends row `row` of a vector of any encoding. */
ms_rc ms_key_append(ms_buf *key, const ms_vec *vec, uint32_t row, ms_key_order order,
                    ms_status *st) MS_MUST_USE;

ms_rc ms_key_append_value(ms_buf *key, const ms_value *value, ms_key_order order,
                          ms_status *st) MS_MUST_USE;

/*
 * Takes one value of the type off the front of *key. Any bytes are safe: what is no key fails with
 * MS_CORRUPT_DATA and *key is then unspecified.
 */
ms_rc ms_key_decode(ms_str *key, const ms_type *type, ms_key_order order, ms_arena *arena,
                    ms_value *value_out, ms_status *st) MS_MUST_USE;

#endif
