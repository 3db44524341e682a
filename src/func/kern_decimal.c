/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sums, products and comparisons of decimal columns whose types exclude overflow. Operands are
 * first brought to a common scale by a power of ten that also cannot overflow. Words are unsigned,
 * since what stands under a NULL can be anything. A column of 64 bits times a constant is the case
 * that matters: one multiplication and one store of 16 bytes a row.
 */
/* tidy: no-unit-test: function_test.c and evaluate_test.c of expr/ run every loop */
#include "func/kernels.h"

__extension__ typedef unsigned __int128 u128;

#define INLINE static inline __attribute__((always_inline))

/* TA, TB: operands; TO: result; W: the word that is computed in. */
#define DECIMAL(name, TA, TB, TO, W, BODY)                                                         \
    INLINE void name##_loop(const TA *restrict a, size_t step_a, W fa, const TB *restrict b,       \
                            size_t step_b, W fb, TO *restrict out, uint32_t count)                 \
    {                                                                                              \
        for (size_t i = 0; i < count; i++) {                                                       \
            W x = (W)a[i * step_a];                                                                \
            W y = (W)b[i * step_b];                                                                \
            out[i] = (TO)(BODY);                                                                   \
        }                                                                                          \
        (void)fa;                                                                                  \
        (void)fb;                                                                                  \
    }                                                                                              \
    MS_CLONES static void name##_dense(const TA *restrict a, bool flat_a, W fa,                    \
                                       const TB *restrict b, bool flat_b, W fb, TO *restrict out,  \
                                       uint32_t count)                                             \
    {                                                                                              \
        if (flat_a && flat_b) {                                                                    \
            name##_loop(a, 1, fa, b, 1, fb, out, count);                                           \
        } else if (flat_a) {                                                                       \
            name##_loop(a, 1, fa, b, 0, fb, out, count);                                           \
        } else {                                                                                   \
            name##_loop(a, 0, fa, b, 1, fb, out, count);                                           \
        }                                                                                          \
    }                                                                                              \
    static void name(ms_arg a, ms_i128 factor_a, ms_arg b, ms_i128 factor_b, void *out_ptr,        \
                     const uint16_t *sel, uint32_t count)                                          \
    {                                                                                              \
        TO *out = out_ptr;                                                                         \
        W fa = (W)factor_a;                                                                        \
        W fb = (W)factor_b;                                                                        \
        if (sel == NULL) {                                                                         \
            name##_dense(a.data, a.mask != 0, fa, b.data, b.mask != 0, fb, out, count);            \
            return;                                                                                \
        }                                                                                          \
        for (uint32_t k = 0; k < count; k++) {                                                     \
            W x = (W)*MS_ARG_AT(a, TA, sel[k]);                                                    \
            W y = (W)*MS_ARG_AT(b, TB, sel[k]);                                                    \
            out[sel[k]] = (TO)(BODY);                                                              \
        }                                                                                          \
        (void)fa;                                                                                  \
        (void)fb;                                                                                  \
    }

#define ALL_FORMS(op, BODY)                                                                        \
    DECIMAL(op##_64_64_64, int64_t, int64_t, int64_t, uint64_t, BODY)                              \
    DECIMAL(op##_64_64_128, int64_t, int64_t, ms_i128, u128, BODY)                                 \
    DECIMAL(op##_64_128_128, int64_t, ms_i128, ms_i128, u128, BODY)                                \
    DECIMAL(op##_128_64_128, ms_i128, int64_t, ms_i128, u128, BODY)                                \
    DECIMAL(op##_128_128_128, ms_i128, ms_i128, ms_i128, u128, BODY)

ALL_FORMS(add, x *fa + y * fb)
ALL_FORMS(sub, x *fa - y * fb)
ALL_FORMS(mul, x *y)

typedef void (*decimal_fn)(ms_arg a, ms_i128 factor_a, ms_arg b, ms_i128 factor_b, void *out,
                           const uint16_t *sel, uint32_t count);

#define FORMS(op)                                                                                  \
    {                                                                                              \
        op##_64_64_64, op##_64_64_128, op##_64_128_128, op##_128_64_128, op##_128_128_128          \
    }

void msi_kernel_decimal(msi_arith_op op, ms_phys to, ms_arg a, msi_scaled sa, ms_arg b,
                        msi_scaled sb, void *out, const uint16_t *sel, uint32_t count)
{
    static const decimal_fn table[3][5] = {
        [MSI_ADD] = FORMS(add), [MSI_SUB] = FORMS(sub), [MSI_MUL] = FORMS(mul)};
    bool wide_a = sa.phys == MS_PHYS_I128;
    bool wide_b = sb.phys == MS_PHYS_I128;
    int form = to == MS_PHYS_I64 ? 0 : 1 + (wide_a ? 2 : 0) + (wide_b ? 1 : 0);
    MS_ASSERT_SLOW(to == MS_PHYS_I128 || (!wide_a && !wide_b));
    table[op][form](a, sa.factor, b, sb.factor, out, sel, count);
}

MS_CLONES bool msi_kernel_narrow_decimal(const ms_i128 *restrict in, int64_t limit,
                                         int64_t *restrict out, uint32_t count)
{
    uint64_t below = (uint64_t)limit - 1;
    uint64_t bad = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t low = (uint64_t)in[i];
        uint64_t high = (uint64_t)((u128)in[i] >> 64);
        out[i] = (int64_t)low;
        bad |= (high ^ (0 - (low >> 63))) | (low + below > 2 * below);
    }
    return bad == 0;
}

/* Comparison: bit 0 of the mask says what "less" gives, bit 1 "equal", bit 2 "greater". */

#define COMPARE(name, TA, TB, W, U)                                                                \
    INLINE void name##_loop(const TA *restrict a, size_t step_a, U fa, const TB *restrict b,       \
                            size_t step_b, U fb, uint32_t mask, uint8_t *restrict out,             \
                            uint32_t count)                                                        \
    {                                                                                              \
        for (size_t i = 0; i < count; i++) {                                                       \
            W x = (W)((U)a[i * step_a] * fa);                                                      \
            W y = (W)((U)b[i * step_b] * fb);                                                      \
            uint32_t at = 1u + (x > y) - (x < y);                                                  \
            out[i] = (uint8_t)(mask >> at & 1u);                                                   \
        }                                                                                          \
    }                                                                                              \
    MS_CLONES static void name##_dense(const TA *restrict a, bool flat_a, U fa,                    \
                                       const TB *restrict b, bool flat_b, U fb, uint32_t mask,     \
                                       uint8_t *restrict out, uint32_t count)                      \
    {                                                                                              \
        if (flat_a && flat_b) {                                                                    \
            name##_loop(a, 1, fa, b, 1, fb, mask, out, count);                                     \
        } else if (flat_a) {                                                                       \
            name##_loop(a, 1, fa, b, 0, fb, mask, out, count);                                     \
        } else {                                                                                   \
            name##_loop(a, 0, fa, b, 1, fb, mask, out, count);                                     \
        }                                                                                          \
    }                                                                                              \
    static void name(ms_arg a, ms_i128 factor_a, ms_arg b, ms_i128 factor_b, uint32_t mask,        \
                     uint8_t *out, const uint16_t *sel, uint32_t count)                            \
    {                                                                                              \
        U fa = (U)factor_a;                                                                        \
        U fb = (U)factor_b;                                                                        \
        if (sel == NULL) {                                                                         \
            name##_dense(a.data, a.mask != 0, fa, b.data, b.mask != 0, fb, mask, out, count);      \
            return;                                                                                \
        }                                                                                          \
        for (uint32_t k = 0; k < count; k++) {                                                     \
            const TA *x = MS_ARG_AT(a, TA, sel[k]);                                                \
            const TB *y = MS_ARG_AT(b, TB, sel[k]);                                                \
            name##_loop(x, 1, fa, y, 1, fb, mask, &out[sel[k]], 1);                                \
        }                                                                                          \
    }

COMPARE(compare_64, int64_t, int64_t, int64_t, uint64_t)
COMPARE(compare_64_64, int64_t, int64_t, ms_i128, u128)
COMPARE(compare_64_128, int64_t, ms_i128, ms_i128, u128)
COMPARE(compare_128_64, ms_i128, int64_t, ms_i128, u128)
COMPARE(compare_128_128, ms_i128, ms_i128, ms_i128, u128)

void msi_kernel_compare_decimal(msi_compare_op op, bool narrow, ms_arg a, msi_scaled sa, ms_arg b,
                                msi_scaled sb, uint8_t *out, const uint16_t *sel, uint32_t count)
{
    static const uint32_t masks[] = {
        [MSI_EQ] = 2, [MSI_NE] = 5, [MSI_LT] = 1, [MSI_LE] = 3, [MSI_GT] = 4, [MSI_GE] = 6};
    bool wide_a = sa.phys == MS_PHYS_I128;
    bool wide_b = sb.phys == MS_PHYS_I128;
    uint32_t mask = masks[op];
    if (narrow) {
        MS_ASSERT_SLOW(!wide_a && !wide_b);
        compare_64(a, sa.factor, b, sb.factor, mask, out, sel, count);
    } else if (wide_a) {
        (wide_b ? compare_128_128 : compare_128_64)(a, sa.factor, b, sb.factor, mask, out, sel,
                                                    count);
    } else {
        (wide_b ? compare_64_128 : compare_64_64)(a, sa.factor, b, sb.factor, mask, out, sel,
                                                  count);
    }
}
