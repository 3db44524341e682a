/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops over selections and conditions: splitting rows by a BOOLEAN, merging the branches of a
 * form, and three-valued logic.
 *
 * Thread: any.
 */
#ifndef MS_EXPR_KERNELS_H
#define MS_EXPR_KERNELS_H

#include "expr/program_priv.h"

/*
 * What a split looks at. values NULL: the test is for NULL. The mask is that of a constant vector.
 */
typedef struct msi_condition {
    const uint8_t *values;
    const uint64_t *valid;  /* NULL: no NULLs */
    const uint64_t *failed; /* NULL: no failures; these rows go nowhere */
    bool is_constant;       /* values and valid have one row */
    msi_test test;
} msi_condition;

/* The rows of a selection; rows NULL: 0 .. count - 1. */
typedef struct msi_rows {
    const uint16_t *rows;
    uint32_t count;
} msi_rows;

/* Splits; yes and no have room for all rows, and may be NULL. */
void msi_split(const msi_condition *condition, msi_rows in, uint16_t *yes, uint32_t *yes_count,
               uint16_t *no, uint32_t *no_count);

/* Copies values of the rows; step 0 for a constant source, else 1. */
void msi_merge_values(void *dst, const void *src, size_t bytes, size_t step, msi_rows in);

/* out = a AND b (OR) over rows 0 .. rows - 1, values 0 and 1; validity may be NULL (no NULLs). */
void msi_logic_values(uint8_t *restrict out, const uint8_t *restrict a, const uint8_t *restrict b,
                      bool is_or, uint32_t rows);
void msi_logic_nullable(uint8_t *restrict out, uint64_t *restrict out_valid,
                        const uint8_t *restrict a, const uint64_t *valid_a,
                        const uint8_t *restrict b, const uint64_t *valid_b, bool is_or,
                        uint32_t rows);

#endif
