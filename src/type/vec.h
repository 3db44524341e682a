/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A vector is one column of a batch: typed values, validity, and an encoding that says how row i
 * finds its value.
 *
 *     FLAT    value i is data[i]
 *     CONST   every row is data[0]
 *     INDEX   value i is data[index[i]]: one data array for many rows (joins, HOP, -U/+U pairs)
 *
 * Validity is a bitmap, bit i set when value i is not NULL, at the same position as the value (so
 * it is indexed like data). valid == NULL means that no value is NULL. What stands in data under a
 * NULL is unspecified, and so are the fields of a NULL ROW: kernels may read it and must not trap
 * on it, nor follow its pointers.
 *
 * Strings are 16-byte views. Up to 12 bytes stand inline; longer ones keep a 4-byte prefix and a
 * pointer:
 *
 *      0      4          8                16
 *     +------+----------+-----------------+
 *     | len  | 12 bytes inline            |   len <= 12, zero padded
 *     +------+----------+-----------------+
 *     | len  | prefix   | pointer         |   len > 12
 *     +------+----------+-----------------+
 *
 * Nested vectors: ROW has one child a field, of the same positions as its validity; ARRAY has one
 * child, MAP two (keys, values) and MULTISET two (elements, INT counts) that the ms_list pairs in
 * data point into. Children have encodings of their own.
 *
 * Ownership: a vector describes memory and owns none. It is BORROWED when the memory belongs to
 * state, scratch, a program or a network buffer: legal only inside the synchronous chain of one
 * task. It is OWNED when the memory belongs to the batch or to a heap that the batch holds. Thread:
 * that of its batch.
 */
#ifndef MS_TYPE_VEC_H
#define MS_TYPE_VEC_H

#include "type/type.h"

typedef enum ms_encoding { MS_ENC_FLAT, MS_ENC_CONST, MS_ENC_INDEX } ms_encoding;

/* A string or byte string of at most UINT32_MAX bytes. */
typedef struct ms_view {
    uint32_t bytes;
    char prefix[4];
    union {
        char rest[8];
        const char *ptr;
    } u;
} ms_view;

#define MS_VIEW_INLINE 12u

/* A TIMESTAMP of more than six fraction digits. */
typedef struct ms_ts16 {
    int64_t ms;
    int32_t ns; /* 0..999999, nanoseconds of the millisecond */
} ms_ts16;

/* An ARRAY, MAP or MULTISET value: children[offset .. offset + length). */
typedef struct ms_list {
    uint32_t offset;
    uint32_t length;
} ms_list;

typedef struct ms_vec ms_vec;
struct ms_vec {
    const ms_type *type;
    ms_phys phys;
    ms_encoding encoding;
    bool owned;
    uint32_t capacity; /* values there is room for; private to this folder */
    void *data;
    uint64_t *valid;
    const uint16_t *index;
    ms_vec *children;
    uint32_t child_count;
    uint32_t child_rows; /* LIST: values in each child */
};

_Static_assert(sizeof(ms_view) == 16, "views are copied as two words");

_Static_assert(sizeof(ms_vec) == 64, "a vector is one cache line");

/* Views. */

static inline const char *ms_view_ptr(const ms_view *view)
{
    return view->bytes <= MS_VIEW_INLINE ? view->prefix : view->u.ptr;
}

static inline ms_str ms_view_str(const ms_view *view)
{
    return (ms_str){ms_view_ptr(view), view->bytes};
}

/* A view of bytes that the caller keeps alive; short ones are copied inline. */
static inline ms_view ms_view_make(const char *ptr, uint32_t bytes)
{
    ms_view view;
    view.bytes = bytes;
    if (bytes <= MS_VIEW_INLINE) {
        memset(view.prefix, 0, 4);
        memset(view.u.rest, 0, 8);
        if (bytes > 0) {
            memcpy((char *)&view + 4, ptr, bytes);
        }
    } else {
        memcpy(view.prefix, ptr, 4);
        view.u.ptr = ptr;
    }
    return view;
}

bool ms_view_equals(const ms_view *a, const ms_view *b);

/* Unsigned bytes; a proper prefix sorts first. Returns <0, 0, >0. */
int ms_view_compare(const ms_view *a, const ms_view *b);

/* Validity. */

#define MS_BITMAP_WORDS(rows) (((rows) + 63u) / 64u)

static inline bool ms_bit_get(const uint64_t *bits, uint32_t i)
{
    return (bits[i >> 6] >> (i & 63u)) & 1u;
}

static inline void ms_bit_set(uint64_t *bits, uint32_t i)
{
    bits[i >> 6] |= UINT64_C(1) << (i & 63u);
}

static inline void ms_bit_clear(uint64_t *bits, uint32_t i)
{
    bits[i >> 6] &= ~(UINT64_C(1) << (i & 63u));
}

/* Sets the first rows bits, clears the rest of the last word. */
void ms_bitmap_fill(uint64_t *bits, uint32_t rows);

/* Vectors. */

/* The position in data and valid of row i. */
static inline uint32_t ms_vec_pos(const ms_vec *vec, uint32_t row)
{
    switch (vec->encoding) {
    case MS_ENC_FLAT:
        return row;
    case MS_ENC_CONST:
        return 0;
    case MS_ENC_INDEX:
        return vec->index[row];
    }
    return row;
}

static inline bool ms_vec_is_null(const ms_vec *vec, uint32_t row)
{
    return vec->valid != NULL && !ms_bit_get(vec->valid, ms_vec_pos(vec, row));
}

/* The data array as its C type; the caller knows the physical form. */
#define MS_VEC_DATA(vec, ctype) ((ctype *)(vec)->data)

/*
 * Makes *out a flat vector over the selected rows of vec: out row k is vec row sel[k] (sel NULL:
 * row k). The memory comes from arena, string bytes are shared. A flat vector without a selection
 * is returned as it is.
 */
void ms_vec_flatten(ms_vec *out, const ms_vec *vec, const uint16_t *sel, uint32_t rows,
                    ms_arena *arena);

/*
 * Prepares a flat vector of the type with room for capacity rows, all valid, memory from arena. The
 * children of a list start empty; ms_vec_list_reserve() makes room in them.
 */
void ms_vec_alloc(ms_vec *out, const ms_type *type, uint32_t capacity, ms_arena *arena);

/* Writing nested values and NULLs, into vectors made by ms_vec_alloc and columns of pooled batches
 * (for which arena is not used and may be NULL). */

/* The validity bitmap, made all-valid on first use. */
uint64_t *ms_vec_validity(ms_vec *vec);

/*
 * Makes room for count more values in the children of a flat LIST vector and returns the position
 * of the first; child_rows counts them. The children's data may move.
 */
uint32_t ms_vec_list_reserve(ms_vec *vec, uint32_t count, ms_arena *arena);

#endif
