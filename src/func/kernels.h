/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loops over whole columns, in files of their own that are compiled at -O3 for three generations of
 * x86-64. A kernel knows arrays and numbers only: no types, no NULLs, no errors. Each comes in four
 * shapes: both operands flat, the right one constant, the left one constant, and gathered through a
 * selection. What is called total is defined for every bit pattern, so that it may run over rows
 * that nobody selected and over what stands under a NULL.
 *
 * Ownership: kernels borrow everything. Results never overlap operands. Thread: any.
 */
#ifndef MS_FUNC_KERNELS_H
#define MS_FUNC_KERNELS_H

#include "func/call.h"
#include "type/type.h"

/* Returns a word that is not zero when some result may have wrapped. */
typedef uint64_t (*msi_dense2)(const void *restrict a, const void *restrict b, void *restrict out,
                               uint32_t rows);
typedef uint64_t (*msi_sparse2)(ms_arg a, ms_arg b, void *restrict out,
                                const uint16_t *restrict sel, uint32_t count);

/* A total operation of two operands. */
typedef struct msi_binary {
    msi_dense2 flat_flat;
    msi_dense2 flat_const;
    msi_dense2 const_flat;
    msi_sparse2 sparse;
} msi_binary;

typedef void (*msi_dense1)(const void *restrict a, void *restrict out, uint32_t rows);
typedef void (*msi_sparse1)(ms_arg a, void *restrict out, const uint16_t *restrict sel,
                            uint32_t count);

/* A total operation of one operand; its constants are in the operand's state, if any. */
typedef struct msi_unary {
    msi_dense1 dense;
    msi_sparse1 sparse;
} msi_unary;

/*
 * Runs a total operation over a call's rows, choosing the shape. At most one operand is constant.
 */
uint64_t msi_run_binary(const msi_binary *kernel, ms_fn_call *call);
void msi_run_unary(const msi_unary *kernel, ms_fn_call *call);

/* Arithmetic, NULL for physical forms that have none. Integers wrap. */

typedef enum msi_arith_op { MSI_ADD, MSI_SUB, MSI_MUL } msi_arith_op;
const msi_binary *msi_kernel_arith(msi_arith_op op, ms_phys phys);
const msi_binary *msi_kernel_divide_float(ms_phys phys);
const msi_unary *msi_kernel_negate(ms_phys phys);
const msi_unary *msi_kernel_abs(ms_phys phys);

/* Division by a constant other than 0: multiplication by a reciprocal. */

typedef struct msi_divisor {
    int64_t divisor;
    int64_t magic; /* the reciprocal, less 2^W */
    int64_t sign;  /* -1 for a negative divisor, else 0 */
    uint32_t shift;
    bool is_unit; /* 1 or -1 */
    /* For tests of divisibility. */
    uint64_t inverse; /* of the odd part, modulo 2^64 */
    uint64_t bias;
    uint64_t bound;
    uint32_t twos; /* how often 2 divides */
} msi_divisor;

/* Prepares for dividends of the physical form. */
void msi_divisor_make(msi_divisor *out, int64_t divisor, ms_phys phys);

/* out = a / d or a % d. The result's form may be narrower than the dividend's (for %). */
bool msi_kernel_divide_const(const msi_divisor *d, ms_phys from, ms_arg a, void *out,
                             const uint16_t *sel, uint32_t count);
bool msi_kernel_modulo_const(const msi_divisor *d, ms_phys from, ms_phys to, ms_arg a, void *out,
                             const uint16_t *sel, uint32_t count);

/* out = (a % d == 0) == wanted, for I32 and I64. */
bool msi_kernel_divisible(const msi_divisor *d, ms_phys from, bool wanted, ms_arg a, void *out,
                          const uint16_t *sel, uint32_t count);

/* Decimals. An operand is an I64 or I128 column, scaled up by a power of ten first. */

typedef struct msi_scaled {
    ms_phys phys;
    ms_i128 factor;
} msi_scaled;

/* out = a * fa op b * fb, into I64 or I128; nothing overflows by the choice of the types. */
void msi_kernel_decimal(msi_arith_op op, ms_phys to, ms_arg a, msi_scaled sa, ms_arg b,
                        msi_scaled sb, void *out, const uint16_t *sel, uint32_t count);

/* Cuts each value to 64 bits; true when every one lies between -limit and limit, both exclusive. */
bool msi_kernel_narrow_decimal(const ms_i128 *restrict in, int64_t limit, int64_t *restrict out,
                               uint32_t count);

/* Comparison: out is 0 or 1. */

typedef enum msi_compare_op { MSI_EQ, MSI_NE, MSI_LT, MSI_LE, MSI_GT, MSI_GE } msi_compare_op;
const msi_binary *msi_kernel_compare(msi_compare_op op, ms_phys phys);

/* Compares a * fa with b * fb, in 64 bits (narrow: both are I64 and stay so when scaled) or 128. */
void msi_kernel_compare_decimal(msi_compare_op op, bool narrow, ms_arg a, msi_scaled sa, ms_arg b,
                                msi_scaled sb, uint8_t *out, const uint16_t *sel, uint32_t count);

/*
 * out = (a == b) == wanted for one b of at most MS_VIEW_INLINE bytes. Total: reads no string bytes.
 */
void msi_kernel_view_equals_short(const ms_view *restrict a, const ms_view *b, bool wanted,
                                  uint8_t *restrict out, uint32_t rows);

/* Between numbers, as C converts them; floats to integers saturate as Java has it. */
const msi_unary *msi_kernel_convert(ms_phys from, ms_phys to);

/* Bytes 0 and 1. */
const msi_unary *msi_kernel_not(void);

/* Counts the bytes that start a code point. */
uint32_t msi_kernel_code_points(const char *text, size_t bytes);

#endif
