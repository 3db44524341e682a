/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this folder share: how the memory of a vector is laid out and grown, and the
 * copying of rows out of vectors of any encoding.
 *
 * The memory of a flat vector that we made is one block: the values, rounded up to 64 bytes, then
 * the validity bitmap, whether it is in use or not.
 *
 *     data                          data + msi_vec_data_bytes()
 *     +----------------------------+---------------------+
 *     | capacity values            | bitmap, capacity bits |
 *     +----------------------------+---------------------+
 *
 * Blocks of columns of pooled batches (owned) come from the heap and go back in msi_vec_release();
 * all others belong to an arena. Bits of rows that were not written yet are set, so that a writer
 * of a NULL only clears its own bit.
 *
 * Thread: that of the vector.
 */
#ifndef MS_TYPE_TYPE_PRIV_H
#define MS_TYPE_TYPE_PRIV_H

#include "type/heap.h"
#include "type/vec.h"

/* Alignment of data: a cache line, and the widest vector register. */
#define MSI_VEC_ALIGN 64u

/* INT NOT NULL: the counts of a MULTISET. */
extern const ms_type msi_type_count;

/* The number of child vectors of a type, and the type of one. */
uint32_t msi_vec_child_count(const ms_type *type);
const ms_type *msi_vec_child_type(const ms_type *type, uint32_t child);

static inline size_t msi_vec_data_bytes(ms_phys phys, uint32_t capacity)
{
    size_t bytes = ms_phys_bytes(phys) * capacity;
    return (bytes + MSI_VEC_ALIGN - 1) / MSI_VEC_ALIGN * MSI_VEC_ALIGN;
}

static inline size_t msi_vec_block_bytes(ms_phys phys, uint32_t capacity)
{
    return msi_vec_data_bytes(phys, capacity) + MS_BITMAP_WORDS(capacity) * sizeof(uint64_t);
}

/* Prepares a vector; arena NULL makes it owned, with memory from the heap. */
void msi_vec_init(ms_vec *vec, const ms_type *type, uint32_t capacity, ms_arena *arena);

/* Gives the memory of an owned vector and its children back. */
void msi_vec_release(ms_vec *vec);

/* Makes a vector that msi_vec_init made empty again: no validity, no child rows. */
void msi_vec_reset(ms_vec *vec);

/* Room for at least capacity values in a vector that msi_vec_init made; values are kept. */
void msi_vec_grow(ms_vec *vec, uint32_t capacity, ms_arena *arena);

/* Bytes of memory of an owned vector and its children. */
size_t msi_vec_held_bytes(const ms_vec *vec);

/* Debug builds fill the memory of an owned vector with 0xDB; others do nothing. */
void msi_vec_poison(ms_vec *vec);

/* Copying. */

/* Positions in a source: pos[0 .. count), or first .. first + count when pos is NULL. */
typedef struct msi_rows {
    const uint32_t *pos;
    uint32_t first;
    uint32_t count;
} msi_rows;

static inline uint32_t msi_rows_at(msi_rows rows, uint32_t i)
{
    return rows.pos != NULL ? rows.pos[i] : rows.first + i;
}

/* Copies the values of the rows to dst, width being one of ms_phys_bytes(). */
void msi_copy_values(void *dst, const void *src, size_t width, msi_rows rows);

/* True when all these bits are set. */
bool msi_bits_are_set(const uint64_t *bits, msi_rows rows);

/* Copies the bits of the rows to dst, from bit `at` on. */
void msi_bits_copy(uint64_t *dst, uint32_t at, const uint64_t *src, msi_rows rows);

/* Sets count bits from bit `at` on. */
void msi_bits_set(uint64_t *bits, uint32_t at, uint32_t count);

/*
 * Writes NULLs at positions [at, at + count) of a vector that msi_vec_init made, into the fields of
 * rows too, and zeros under them.
 */
void msi_vec_set_nulls(ms_vec *vec, uint32_t at, uint32_t count);

/* Forgets the values from position `rows` on: their bits are set again, the elements of their lists
 * are given back. */
void msi_vec_truncate(ms_vec *vec, uint32_t rows);

/*
 * Appends rows of src, given as logical rows of any encoding, at position `at` of a flat vector
 * that msi_vec_init made with heap memory and that has room; strings are copied into the heap.
 */
void msi_vec_append(ms_vec *dst, uint32_t at, const ms_vec *src, msi_rows rows, ms_heap *heap);

#endif
