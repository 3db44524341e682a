/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Comparisons of columns into bytes 0 and 1. =, <>, < and <= are written; > and >= are < and <=
 * with the operands exchanged. Floats compare as IEEE 754 says: -0.0 equals 0.0, and with NaN
 * everything is false but <>.
 */
/* tidy: no-unit-test: function_test.c and evaluate_test.c of expr/ run every loop */
#include "func/kernels.h"

#define COMPARE(name, T, SIGN)                                                                     \
    MS_CLONES static uint64_t name##_ff(const void *restrict pa, const void *restrict pb,          \
                                        void *restrict po, uint32_t rows)                          \
    {                                                                                              \
        const T *restrict a = pa;                                                                  \
        const T *restrict b = pb;                                                                  \
        uint8_t *restrict out = po;                                                                \
        for (uint32_t i = 0; i < rows; i++) {                                                      \
            out[i] = (uint8_t)(a[i] SIGN b[i]);                                                    \
        }                                                                                          \
        return 0;                                                                                  \
    }                                                                                              \
    MS_CLONES static uint64_t name##_fc(const void *restrict pa, const void *restrict pb,          \
                                        void *restrict po, uint32_t rows)                          \
    {                                                                                              \
        const T *restrict a = pa;                                                                  \
        const T b = *(const T *)pb;                                                                \
        uint8_t *restrict out = po;                                                                \
        for (uint32_t i = 0; i < rows; i++) {                                                      \
            out[i] = (uint8_t)(a[i] SIGN b);                                                       \
        }                                                                                          \
        return 0;                                                                                  \
    }                                                                                              \
    MS_CLONES static uint64_t name##_cf(const void *restrict pa, const void *restrict pb,          \
                                        void *restrict po, uint32_t rows)                          \
    {                                                                                              \
        const T a = *(const T *)pa;                                                                \
        const T *restrict b = pb;                                                                  \
        uint8_t *restrict out = po;                                                                \
        for (uint32_t i = 0; i < rows; i++) {                                                      \
            out[i] = (uint8_t)(a SIGN b[i]);                                                       \
        }                                                                                          \
        return 0;                                                                                  \
    }                                                                                              \
    static uint64_t name##_sp(ms_arg a, ms_arg b, void *restrict po, const uint16_t *restrict sel, \
                              uint32_t count)                                                      \
    {                                                                                              \
        uint8_t *restrict out = po;                                                                \
        for (uint32_t k = 0; k < count; k++) {                                                     \
            uint32_t row = sel[k];                                                                 \
            out[row] = (uint8_t)(*MS_ARG_AT(a, T, row) SIGN * MS_ARG_AT(b, T, row));               \
        }                                                                                          \
        return 0;                                                                                  \
    }                                                                                              \
    static const msi_binary name = {name##_ff, name##_fc, name##_cf, name##_sp};

/* The same with operands exchanged. */
#define EXCHANGED(name, of)                                                                        \
    static uint64_t name##_ff(const void *restrict a, const void *restrict b, void *restrict out,  \
                              uint32_t rows)                                                       \
    {                                                                                              \
        return of##_ff(b, a, out, rows);                                                           \
    }                                                                                              \
    static uint64_t name##_fc(const void *restrict a, const void *restrict b, void *restrict out,  \
                              uint32_t rows)                                                       \
    {                                                                                              \
        return of##_cf(b, a, out, rows);                                                           \
    }                                                                                              \
    static uint64_t name##_cf(const void *restrict a, const void *restrict b, void *restrict out,  \
                              uint32_t rows)                                                       \
    {                                                                                              \
        return of##_fc(b, a, out, rows);                                                           \
    }                                                                                              \
    static uint64_t name##_sp(ms_arg a, ms_arg b, void *restrict out,                              \
                              const uint16_t *restrict sel, uint32_t count)                        \
    {                                                                                              \
        return of##_sp(b, a, out, sel, count);                                                     \
    }                                                                                              \
    static const msi_binary name = {name##_ff, name##_fc, name##_cf, name##_sp};

#define ALL_OPS(suffix, T)                                                                         \
    COMPARE(eq_##suffix, T, ==)                                                                    \
    COMPARE(ne_##suffix, T, !=)                                                                    \
    COMPARE(lt_##suffix, T, <)                                                                     \
    COMPARE(le_##suffix, T, <=)                                                                    \
    EXCHANGED(gt_##suffix, lt_##suffix)                                                            \
    EXCHANGED(ge_##suffix, le_##suffix)

ALL_OPS(bool, uint8_t)
ALL_OPS(i8, int8_t)
ALL_OPS(i16, int16_t)
ALL_OPS(i32, int32_t)
ALL_OPS(i64, int64_t)
ALL_OPS(i128, ms_i128)
ALL_OPS(f32, float)
ALL_OPS(f64, double)

#define BY_FORM(op)                                                                                \
    {                                                                                              \
        [MS_PHYS_BOOL] = &op##_bool, [MS_PHYS_I8] = &op##_i8, [MS_PHYS_I16] = &op##_i16,           \
        [MS_PHYS_I32] = &op##_i32, [MS_PHYS_I64] = &op##_i64, [MS_PHYS_I128] = &op##_i128,         \
        [MS_PHYS_F32] = &op##_f32, [MS_PHYS_F64] = &op##_f64                                       \
    }

const msi_binary *msi_kernel_compare(msi_compare_op op, ms_phys phys)
{
    static const msi_binary *const table[6][MS_PHYS_COUNT] = {
        [MSI_EQ] = BY_FORM(eq), [MSI_NE] = BY_FORM(ne), [MSI_LT] = BY_FORM(lt),
        [MSI_LE] = BY_FORM(le), [MSI_GT] = BY_FORM(gt), [MSI_GE] = BY_FORM(ge)};
    return table[op][phys];
}

MS_CLONES void msi_kernel_view_equals_short(const ms_view *restrict a, const ms_view *b,
                                            bool wanted, uint8_t *restrict out, uint32_t rows)
{
    uint64_t words[2];
    memcpy(words, b, sizeof(words));
    const char *restrict bytes = (const char *)a;
    const uint8_t flip = !wanted;
    for (uint32_t i = 0; i < rows; i++) {
        uint64_t view[2];
        memcpy(view, bytes + (size_t)i * sizeof(ms_view), sizeof(view));
        out[i] = (uint8_t)((((view[0] ^ words[0]) | (view[1] ^ words[1])) == 0) ^ flip);
    }
}
