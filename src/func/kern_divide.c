/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Division of integer columns by a constant, without dividing.
 *
 * Quotients: for a magnitude d >= 2 of the divisor and words of W bits take s with 2^s < d <=
 * 2^(s+1) and m = floor(2^(W+s) / d) + 1, which has W bits. Then n / d, truncated, is floor(m * n /
 * 2^(W+s)) plus 1 for a negative n (Granlund and Montgomery, Division by Invariant Integers using
 * Multiplication, section 5). m does not fit a signed word, so m - 2^W is kept and n is added to
 * the high half of the product; their signs differ, so nothing overflows.
 *
 * Divisibility: d = 2^k * o with o odd. n is a multiple of d exactly when n times the inverse of o,
 * modulo 2^64, is 2^k times a number of at most floor((2^63 - 1) / d) either way; adding a bias and
 * rotating the low zeros to the top makes that one unsigned comparison. A power of two divides what
 * has its low zeros, whatever the rest.
 */
/* tidy: no-unit-test: function_test.c and evaluate_test.c of expr/ run every loop */
#include "func/kernels.h"

__extension__ typedef unsigned __int128 u128;

static void make_divisibility(msi_divisor *out, uint64_t magnitude)
{
    out->twos = (uint32_t)__builtin_ctzll(magnitude);
    uint64_t odd = magnitude >> out->twos;
    uint64_t inverse = odd; /* right in the low 3 bits; each step doubles the bits */
    for (int i = 0; i < 5; i++) {
        inverse *= 2 - odd * inverse;
    }
    out->inverse = inverse;
    if (odd == 1) {
        out->bound = UINT64_MAX >> out->twos;
        return;
    }
    /* The largest multiple of 2^twos up to (2^63 - 1) / odd. */
    out->bias = ((UINT64_C(1) << 63) - 1) / odd >> out->twos << out->twos;
    out->bound = out->twos == 0 ? 2 * out->bias : out->bias >> (out->twos - 1);
}

void msi_divisor_make(msi_divisor *out, int64_t divisor, ms_phys phys)
{
    uint64_t magnitude = divisor < 0 ? 0 - (uint64_t)divisor : (uint64_t)divisor;
    uint32_t width = phys == MS_PHYS_I64 ? 64 : 32;
    *out = (msi_divisor){.divisor = divisor, .sign = divisor < 0 ? -1 : 0};
    out->is_unit = magnitude == 1;
    make_divisibility(out, magnitude);
    if (!out->is_unit) {
        out->shift = 63u - (uint32_t)__builtin_clzll(magnitude - 1);
        u128 m = ((u128)1 << (width + out->shift)) / magnitude + 1;
        out->magic = (int64_t)(uint64_t)(m - ((u128)1 << width));
    }
}

static inline int64_t quotient64(int64_t n, int64_t magic, uint32_t shift, int64_t sign)
{
    int64_t high = (int64_t)(((ms_i128)magic * n) >> 64) + n;
    int64_t q = (high >> shift) + (n < 0);
    return (q ^ sign) - sign;
}

static inline int32_t quotient32(int32_t n, int32_t magic, uint32_t shift, int32_t sign)
{
    int32_t high = (int32_t)(((int64_t)magic * n) >> 32) + n;
    int32_t q = (high >> shift) + (n < 0);
    return (q ^ sign) - sign;
}

/* T: the dividend's type, R: the result's, W: the word that is computed in. */
#define DIVIDE(name, T, R, W, QUOTIENT, RESULT)                                                    \
    MS_CLONES static void name##_dense(const msi_divisor *d, const T *restrict a, R *restrict out, \
                                       uint32_t rows)                                              \
    {                                                                                              \
        const W magic = (W)d->magic;                                                               \
        const W sign = (W)d->sign;                                                                 \
        const W divisor = (W)d->divisor;                                                           \
        const uint32_t shift = d->shift;                                                           \
        (void)divisor;                                                                             \
        for (uint32_t i = 0; i < rows; i++) {                                                      \
            W n = (W)a[i];                                                                         \
            W q = QUOTIENT(n, magic, shift, sign);                                                 \
            out[i] = (R)(RESULT);                                                                  \
        }                                                                                          \
    }                                                                                              \
    static void name(const msi_divisor *d, ms_arg a, void *out_ptr, const uint16_t *sel,           \
                     uint32_t count)                                                               \
    {                                                                                              \
        R *out = out_ptr;                                                                          \
        if (sel == NULL) {                                                                         \
            name##_dense(d, a.data, out, count);                                                   \
            return;                                                                                \
        }                                                                                          \
        const W divisor = (W)d->divisor;                                                           \
        (void)divisor;                                                                             \
        for (uint32_t k = 0; k < count; k++) {                                                     \
            W n = (W)*MS_ARG_AT(a, T, sel[k]);                                                     \
            W q = QUOTIENT(n, (W)d->magic, d->shift, (W)d->sign);                                  \
            out[sel[k]] = (R)(RESULT);                                                             \
        }                                                                                          \
    }

/* No overflow: |q * divisor| <= |n|. INT_MIN is its own remainder's edge: q * d == n there. */
#define REST (n - q * divisor)

DIVIDE(div_i8, int8_t, int8_t, int32_t, quotient32, q)
DIVIDE(div_i16, int16_t, int16_t, int32_t, quotient32, q)
DIVIDE(div_i32, int32_t, int32_t, int32_t, quotient32, q)
DIVIDE(div_i64, int64_t, int64_t, int64_t, quotient64, q)
DIVIDE(mod_i8_i8, int8_t, int8_t, int32_t, quotient32, REST)
DIVIDE(mod_i16_i8, int16_t, int8_t, int32_t, quotient32, REST)
DIVIDE(mod_i16_i16, int16_t, int16_t, int32_t, quotient32, REST)
DIVIDE(mod_i32_i8, int32_t, int8_t, int32_t, quotient32, REST)
DIVIDE(mod_i32_i16, int32_t, int16_t, int32_t, quotient32, REST)
DIVIDE(mod_i32_i32, int32_t, int32_t, int32_t, quotient32, REST)
DIVIDE(mod_i64_i8, int64_t, int8_t, int64_t, quotient64, REST)
DIVIDE(mod_i64_i16, int64_t, int16_t, int64_t, quotient64, REST)
DIVIDE(mod_i64_i32, int64_t, int32_t, int64_t, quotient64, REST)
DIVIDE(mod_i64_i64, int64_t, int64_t, int64_t, quotient64, REST)

typedef void (*divide_fn)(const msi_divisor *d, ms_arg a, void *out, const uint16_t *sel,
                          uint32_t count);

bool msi_kernel_divide_const(const msi_divisor *d, ms_phys from, ms_arg a, void *out,
                             const uint16_t *sel, uint32_t count)
{
    static const divide_fn table[MS_PHYS_COUNT] = {[MS_PHYS_I8] = div_i8,
                                                   [MS_PHYS_I16] = div_i16,
                                                   [MS_PHYS_I32] = div_i32,
                                                   [MS_PHYS_I64] = div_i64};
    if (d->is_unit || table[from] == NULL) {
        return false;
    }
    table[from](d, a, out, sel, count);
    return true;
}

bool msi_kernel_modulo_const(const msi_divisor *d, ms_phys from, ms_phys to, ms_arg a, void *out,
                             const uint16_t *sel, uint32_t count)
{
    static const divide_fn table[MS_PHYS_COUNT][MS_PHYS_COUNT] = {
        [MS_PHYS_I8] = {[MS_PHYS_I8] = mod_i8_i8},
        [MS_PHYS_I16] = {[MS_PHYS_I8] = mod_i16_i8, [MS_PHYS_I16] = mod_i16_i16},
        [MS_PHYS_I32] =
            {[MS_PHYS_I8] = mod_i32_i8, [MS_PHYS_I16] = mod_i32_i16, [MS_PHYS_I32] = mod_i32_i32},
        [MS_PHYS_I64] = {[MS_PHYS_I8] = mod_i64_i8,
                         [MS_PHYS_I16] = mod_i64_i16,
                         [MS_PHYS_I32] = mod_i64_i32,
                         [MS_PHYS_I64] = mod_i64_i64},
    };
    if (d->is_unit || table[from][to] == NULL) {
        return false;
    }
    table[from][to](d, a, out, sel, count);
    return true;
}

#define DIVISIBLE(name, T)                                                                         \
    MS_CLONES static void name##_dense(const msi_divisor *d, bool wanted, const T *restrict a,     \
                                       uint8_t *restrict out, uint32_t rows)                       \
    {                                                                                              \
        const uint64_t inverse = d->inverse;                                                       \
        const uint64_t bias = d->bias;                                                             \
        const uint64_t bound = d->bound;                                                           \
        const uint32_t right = d->twos;                                                            \
        const uint32_t left = (64u - right) & 63u;                                                 \
        const uint8_t flip = !wanted;                                                              \
        for (uint32_t i = 0; i < rows; i++) {                                                      \
            uint64_t v = (uint64_t)(int64_t)a[i] * inverse + bias;                                 \
            v = right == 0 ? v : (v >> right | v << left);                                         \
            out[i] = (uint8_t)((v <= bound) ^ flip);                                               \
        }                                                                                          \
    }                                                                                              \
    static void name(const msi_divisor *d, bool wanted, ms_arg a, uint8_t *out,                    \
                     const uint16_t *sel, uint32_t count)                                          \
    {                                                                                              \
        if (sel == NULL) {                                                                         \
            name##_dense(d, wanted, a.data, out, count);                                           \
            return;                                                                                \
        }                                                                                          \
        for (uint32_t k = 0; k < count; k++) {                                                     \
            const T *value = MS_ARG_AT(a, T, sel[k]);                                              \
            uint8_t found = 0;                                                                     \
            name##_dense(d, wanted, value, &found, 1);                                             \
            out[sel[k]] = found;                                                                   \
        }                                                                                          \
    }

DIVISIBLE(divisible_i32, int32_t)
DIVISIBLE(divisible_i64, int64_t)

bool msi_kernel_divisible(const msi_divisor *d, ms_phys from, bool wanted, ms_arg a, void *out,
                          const uint16_t *sel, uint32_t count)
{
    if (from == MS_PHYS_I32) {
        divisible_i32(d, wanted, a, out, sel, count);
    } else if (from == MS_PHYS_I64) {
        divisible_i64(d, wanted, a, out, sel, count);
    }
    return from == MS_PHYS_I32 || from == MS_PHYS_I64;
}
