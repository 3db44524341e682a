/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The frozen hash of rows. It decides the key group of a row, is stored in checkpoints by way of
 * that, and so never changes: function, seed and constants are pinned by test vectors.
 *
 *     mix(x)      x ^= x >> 30; x *= 0xBF58476D1CE4E5B9; x ^= x >> 27; x *= 0x94D049BB133111EB;
 *                 x ^= x >> 31                                       (the finalizer of SplitMix64)
 *     row hash    h = MS_HASH_SEED; for each column h = mix((h + 0x9E3779B97F4A7C15) ^ word(value))
 *     word        NULL                 0x6E756C6C6E756C6C
 *                 integers, dates, times, timestamps of 6 digits, intervals, booleans: the int64
 *                 decimals             the low word, then, when the value is no int64, the high
 *                                      one, each as a column of its own
 *                 FLOAT, DOUBLE        the bits of the double; every NaN 0x7FF8000000000000, and
 *                                      -0.0 as 0.0
 *                 TIMESTAMP(7..9)      ms * 1000000 + ns, modulo 2^64
 *                 strings, bytes       fold over the bytes, below
 *                 ROW, ARRAY           row hash of the fields or elements, then ^ their number
 *                 MAP, MULTISET        sum of the row hashes of the entries, then ^ their number
 *     bytes       s = length * 0x9E3779B97F4A7C15; for each 8 bytes w, little-endian, the last ones
 *                 padded with zeros: s = fold((s ^ w) * 0xD6E8FEB86659FD93), where the product has
 *                 128 bits and fold is the exclusive or of its halves; then mix(s)
 *
 * Values that are equal by ms_value_equals have equal hashes, in every encoding of the vector.
 *
 * Use of the bits (counted from the low end), disjoint so that no structure clusters inside
 * another:
 *
 *      0..31   slot of a hash table
 *     32..47   slot of a pre-aggregation, partition of a spill
 *     48..56   tag that is compared before a key; bloom bits come from mix() of the hash
 *     57..63   key group (128); the subtask follows from the group alone
 *
 * Ownership: values only. Thread: any.
 */
#ifndef MS_TYPE_HASH_H
#define MS_TYPE_HASH_H

#include "base/limits.h"
#include "type/value.h"

#define MS_HASH_SEED UINT64_C(0x4D696C6C73747265)

/*
 * Writes the hashes of `rows` rows over the columns: hashes_out[k] is that of row sel[k] (sel NULL:
 * row k). Any encodings.
 */
void ms_hash_rows(const ms_vec *const *columns, uint32_t column_count, const uint16_t *sel,
                  uint32_t rows, uint64_t *hashes_out);

/* The hash of one row of values: that of the same row in vectors. */
uint64_t ms_hash_values(const ms_value *values, uint32_t count);

/* The hash of a run of bytes, as of a one-column row of type BYTES. */
uint64_t ms_hash_bytes(ms_str bytes);

static inline uint64_t ms_hash_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

static inline uint32_t ms_hash_slot(uint64_t hash)
{
    return (uint32_t)hash;
}

static inline uint32_t ms_hash_preagg_slot(uint64_t hash)
{
    return (uint32_t)(hash >> 32) & 0xFFFFu;
}

static inline uint32_t ms_hash_tag(uint64_t hash)
{
    return (uint32_t)(hash >> 48) & 0x1FFu;
}

static inline uint32_t ms_hash_key_group(uint64_t hash)
{
    return (uint32_t)(hash >> 57);
}

/* The subtask that owns a key group: contiguous, even ranges. */
static inline uint32_t ms_hash_group_owner(uint32_t key_group, uint32_t parallelism)
{
    return key_group * parallelism / MS_KEY_GROUPS;
}

/* The key groups [first, end) of a subtask. */
static inline uint32_t ms_hash_group_first(uint32_t subtask, uint32_t parallelism)
{
    return (subtask * MS_KEY_GROUPS + parallelism - 1) / parallelism;
}

_Static_assert(MS_KEY_GROUPS == 128u, "seven bits of the hash name the key group");

#endif
