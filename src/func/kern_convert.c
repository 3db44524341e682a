/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conversions between columns of numbers, as Flink casts: integers keep their low bits; floats
 * become integers by cutting the fraction and saturating, NaN becomes 0, and TINYINT and SMALLINT
 * are reached by way of INT; everything that is not zero is TRUE. Also the code point count of a
 * text.
 */
/* tidy: no-unit-test: function_test.c and evaluate_test.c of expr/ run every loop */
#include "func/kernels.h"

/* Java's (int) and (long) of a floating-point number. */
static inline int32_t saturate32(double x)
{
    if (x != x) {
        return 0;
    }
    return x <= (double)INT32_MIN ? INT32_MIN : x >= 2147483647.0 ? INT32_MAX : (int32_t)x;
}

static inline int64_t saturate64(double x)
{
    if (x != x) {
        return 0;
    }
    return x <= -0x1p63 ? INT64_MIN : x >= 0x1p63 ? INT64_MAX : (int64_t)x;
}

#define CONVERT(name, A, T, BODY)                                                                  \
    MS_CLONES static void name##_dense(const void *restrict pa, void *restrict po, uint32_t rows)  \
    {                                                                                              \
        const A *restrict a = pa;                                                                  \
        T *restrict out = po;                                                                      \
        for (uint32_t i = 0; i < rows; i++) {                                                      \
            A x = a[i];                                                                            \
            out[i] = (T)(BODY);                                                                    \
        }                                                                                          \
    }                                                                                              \
    static void name##_sp(ms_arg a, void *restrict po, const uint16_t *restrict sel,               \
                          uint32_t count)                                                          \
    {                                                                                              \
        T *restrict out = po;                                                                      \
        for (uint32_t k = 0; k < count; k++) {                                                     \
            A x = *MS_ARG_AT(a, A, sel[k]);                                                        \
            out[sel[k]] = (T)(BODY);                                                               \
        }                                                                                          \
    }                                                                                              \
    static const msi_unary name = {name##_dense, name##_sp};

#define FROM_INT(from, A)                                                                          \
    CONVERT(from##_bool, A, uint8_t, x != 0)                                                       \
    CONVERT(from##_i8, A, int8_t, x)                                                               \
    CONVERT(from##_i16, A, int16_t, x)                                                             \
    CONVERT(from##_i32, A, int32_t, x)                                                             \
    CONVERT(from##_i64, A, int64_t, x)                                                             \
    CONVERT(from##_i128, A, ms_i128, x)                                                            \
    CONVERT(from##_f32, A, float, x)                                                               \
    CONVERT(from##_f64, A, double, x)

#define FROM_FLOAT(from, A)                                                                        \
    CONVERT(from##_bool, A, uint8_t, x != 0)                                                       \
    CONVERT(from##_i8, A, int8_t, saturate32((double)x))                                           \
    CONVERT(from##_i16, A, int16_t, saturate32((double)x))                                         \
    CONVERT(from##_i32, A, int32_t, saturate32((double)x))                                         \
    CONVERT(from##_i64, A, int64_t, saturate64((double)x))                                         \
    CONVERT(from##_f32, A, float, x)                                                               \
    CONVERT(from##_f64, A, double, x)

/* A BOOLEAN under a NULL may be any byte; it reads as TRUE then. */
FROM_INT(bool, uint8_t)
FROM_INT(i8, int8_t)
FROM_INT(i16, int16_t)
FROM_INT(i32, int32_t)
FROM_INT(i64, int64_t)
FROM_FLOAT(f32, float)
FROM_FLOAT(f64, double)

#define TO_ALL(from)                                                                               \
    [MS_PHYS_BOOL] = &from##_bool, [MS_PHYS_I8] = &from##_i8, [MS_PHYS_I16] = &from##_i16,         \
    [MS_PHYS_I32] = &from##_i32, [MS_PHYS_I64] = &from##_i64, [MS_PHYS_F32] = &from##_f32,         \
    [MS_PHYS_F64] = &from##_f64

const msi_unary *msi_kernel_convert(ms_phys from, ms_phys to)
{
    static const msi_unary *const table[MS_PHYS_COUNT][MS_PHYS_COUNT] = {
        [MS_PHYS_BOOL] = {TO_ALL(bool), [MS_PHYS_I128] = &bool_i128},
        [MS_PHYS_I8] = {TO_ALL(i8), [MS_PHYS_I128] = &i8_i128},
        [MS_PHYS_I16] = {TO_ALL(i16), [MS_PHYS_I128] = &i16_i128},
        [MS_PHYS_I32] = {TO_ALL(i32), [MS_PHYS_I128] = &i32_i128},
        [MS_PHYS_I64] = {TO_ALL(i64), [MS_PHYS_I128] = &i64_i128},
        [MS_PHYS_F32] = {TO_ALL(f32)},
        [MS_PHYS_F64] = {TO_ALL(f64)},
    };
    return table[from][to];
}

MS_CLONES uint32_t msi_kernel_code_points(const char *text, size_t bytes)
{
    uint32_t count = 0;
    for (size_t i = 0; i < bytes; i++) {
        count += ((unsigned char)text[i] & 0xC0u) != 0x80u;
    }
    return count;
}
