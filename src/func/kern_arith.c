/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arithmetic over columns of integers and floats. Integers are computed as unsigned words, so that
 * they wrap; each step also ors up evidence that a result may have wrapped, and the caller looks
 * for the rows only when there was some. Multiplication of 64 bits has no cheap test: its evidence
 * is that an operand does not fit 32 bits, which the caller then checks exactly.
 */
/* tidy: no-unit-test: function_test.c and evaluate_test.c of expr/ run every loop */
#include "func/kernels.h"

/* One operation on one type: BODY computes `r` from `x` and `y` and may or into `seen`. */
#define BINARY(name, T, BODY)                                                                      \
    MS_CLONES static uint64_t name##_ff(const void *restrict pa, const void *restrict pb,          \
                                        void *restrict po, uint32_t rows)                          \
    {                                                                                              \
        const T *restrict a = pa;                                                                  \
        const T *restrict b = pb;                                                                  \
        T *restrict out = po;                                                                      \
        uint64_t seen = 0;                                                                         \
        for (uint32_t i = 0; i < rows; i++) {                                                      \
            T x = a[i];                                                                            \
            T y = b[i];                                                                            \
            T r;                                                                                   \
            BODY;                                                                                  \
            out[i] = r;                                                                            \
        }                                                                                          \
        return seen;                                                                               \
    }                                                                                              \
    MS_CLONES static uint64_t name##_fc(const void *restrict pa, const void *restrict pb,          \
                                        void *restrict po, uint32_t rows)                          \
    {                                                                                              \
        const T *restrict a = pa;                                                                  \
        const T y = *(const T *)pb;                                                                \
        T *restrict out = po;                                                                      \
        uint64_t seen = 0;                                                                         \
        for (uint32_t i = 0; i < rows; i++) {                                                      \
            T x = a[i];                                                                            \
            T r;                                                                                   \
            BODY;                                                                                  \
            out[i] = r;                                                                            \
        }                                                                                          \
        return seen;                                                                               \
    }                                                                                              \
    MS_CLONES static uint64_t name##_cf(const void *restrict pa, const void *restrict pb,          \
                                        void *restrict po, uint32_t rows)                          \
    {                                                                                              \
        const T x = *(const T *)pa;                                                                \
        const T *restrict b = pb;                                                                  \
        T *restrict out = po;                                                                      \
        uint64_t seen = 0;                                                                         \
        for (uint32_t i = 0; i < rows; i++) {                                                      \
            T y = b[i];                                                                            \
            T r;                                                                                   \
            BODY;                                                                                  \
            out[i] = r;                                                                            \
        }                                                                                          \
        return seen;                                                                               \
    }                                                                                              \
    static uint64_t name##_sp(ms_arg a, ms_arg b, void *restrict po, const uint16_t *restrict sel, \
                              uint32_t count)                                                      \
    {                                                                                              \
        T *restrict out = po;                                                                      \
        uint64_t seen = 0;                                                                         \
        for (uint32_t k = 0; k < count; k++) {                                                     \
            uint32_t row = sel[k];                                                                 \
            T x = *MS_ARG_AT(a, T, row);                                                           \
            T y = *MS_ARG_AT(b, T, row);                                                           \
            T r;                                                                                   \
            BODY;                                                                                  \
            out[row] = r;                                                                          \
        }                                                                                          \
        return seen;                                                                               \
    }                                                                                              \
    static const msi_binary name = {name##_ff, name##_fc, name##_cf, name##_sp};

/*
 * The evidence of overflow in an addition or subtraction is a sign; it is seen in the top bit of W.
 */
#define SEE(W, word) seen |= (uint64_t)(W)(word) >> (sizeof(W) * 8 - 1)

#define ADD(T, U)                                                                                  \
    {                                                                                              \
        U s = (U)((U)x + (U)y);                                                                    \
        SEE(U, ((U)x ^ s) & ((U)y ^ s));                                                           \
        r = (T)s;                                                                                  \
    }
#define SUB(T, U)                                                                                  \
    {                                                                                              \
        U s = (U)((U)x - (U)y);                                                                    \
        SEE(U, ((U)x ^ (U)y) & ((U)x ^ s));                                                        \
        r = (T)s;                                                                                  \
    }
/* Narrow products are exact in the next width. */
#define MUL_NARROW(T, W)                                                                           \
    {                                                                                              \
        W p = (W)((W)x * (W)y);                                                                    \
        r = (T)p;                                                                                  \
        seen |= (uint64_t)(p != (W)r);                                                             \
    }
#define MUL_64                                                                                     \
    {                                                                                              \
        r = (int64_t)((uint64_t)x * (uint64_t)y);                                                  \
        seen |= ((uint64_t)x + UINT64_C(0x80000000)) >> 32;                                        \
        seen |= ((uint64_t)y + UINT64_C(0x80000000)) >> 32;                                        \
    }

BINARY(add_i8, int8_t, ADD(int8_t, uint8_t))
BINARY(add_i16, int16_t, ADD(int16_t, uint16_t))
BINARY(add_i32, int32_t, ADD(int32_t, uint32_t))
BINARY(add_i64, int64_t, ADD(int64_t, uint64_t))
BINARY(add_f32, float, r = x + y)
BINARY(add_f64, double, r = x + y)
BINARY(sub_i8, int8_t, SUB(int8_t, uint8_t))
BINARY(sub_i16, int16_t, SUB(int16_t, uint16_t))
BINARY(sub_i32, int32_t, SUB(int32_t, uint32_t))
BINARY(sub_i64, int64_t, SUB(int64_t, uint64_t))
BINARY(sub_f32, float, r = x - y)
BINARY(sub_f64, double, r = x - y)
BINARY(mul_i8, int8_t, MUL_NARROW(int8_t, int32_t))
BINARY(mul_i16, int16_t, MUL_NARROW(int16_t, int32_t))
BINARY(mul_i32, int32_t, MUL_NARROW(int32_t, int64_t))
BINARY(mul_i64, int64_t, MUL_64)
BINARY(mul_f32, float, r = x * y)
BINARY(mul_f64, double, r = x * y)
BINARY(div_f32, float, r = x / y)
BINARY(div_f64, double, r = x / y)

const msi_binary *msi_kernel_arith(msi_arith_op op, ms_phys phys)
{
    static const msi_binary *const table[3][MS_PHYS_COUNT] = {
        [MSI_ADD] = {[MS_PHYS_I8] = &add_i8,
                     [MS_PHYS_I16] = &add_i16,
                     [MS_PHYS_I32] = &add_i32,
                     [MS_PHYS_I64] = &add_i64,
                     [MS_PHYS_F32] = &add_f32,
                     [MS_PHYS_F64] = &add_f64},
        [MSI_SUB] = {[MS_PHYS_I8] = &sub_i8,
                     [MS_PHYS_I16] = &sub_i16,
                     [MS_PHYS_I32] = &sub_i32,
                     [MS_PHYS_I64] = &sub_i64,
                     [MS_PHYS_F32] = &sub_f32,
                     [MS_PHYS_F64] = &sub_f64},
        [MSI_MUL] = {[MS_PHYS_I8] = &mul_i8,
                     [MS_PHYS_I16] = &mul_i16,
                     [MS_PHYS_I32] = &mul_i32,
                     [MS_PHYS_I64] = &mul_i64,
                     [MS_PHYS_F32] = &mul_f32,
                     [MS_PHYS_F64] = &mul_f64},
    };
    return table[op][phys];
}

const msi_binary *msi_kernel_divide_float(ms_phys phys)
{
    return phys == MS_PHYS_F32 ? &div_f32 : phys == MS_PHYS_F64 ? &div_f64 : NULL;
}

/* One operand. */

#define UNARY(name, T, BODY)                                                                       \
    MS_CLONES static void name##_dense(const void *restrict pa, void *restrict po, uint32_t rows)  \
    {                                                                                              \
        const T *restrict a = pa;                                                                  \
        T *restrict out = po;                                                                      \
        for (uint32_t i = 0; i < rows; i++) {                                                      \
            T x = a[i];                                                                            \
            out[i] = BODY;                                                                         \
        }                                                                                          \
    }                                                                                              \
    static void name##_sp(ms_arg a, void *restrict po, const uint16_t *restrict sel,               \
                          uint32_t count)                                                          \
    {                                                                                              \
        T *restrict out = po;                                                                      \
        for (uint32_t k = 0; k < count; k++) {                                                     \
            T x = *MS_ARG_AT(a, T, sel[k]);                                                        \
            out[sel[k]] = BODY;                                                                    \
        }                                                                                          \
    }                                                                                              \
    static const msi_unary name = {name##_dense, name##_sp};

#define NEGATED(T, U) ((T)((U)0 - (U)x))
#define MAGNITUDE(T, U) (x < 0 ? NEGATED(T, U) : x)

__extension__ typedef unsigned __int128 u128;

UNARY(neg_i8, int8_t, NEGATED(int8_t, uint8_t))
UNARY(neg_i16, int16_t, NEGATED(int16_t, uint16_t))
UNARY(neg_i32, int32_t, NEGATED(int32_t, uint32_t))
UNARY(neg_i64, int64_t, NEGATED(int64_t, uint64_t))
UNARY(neg_i128, ms_i128, NEGATED(ms_i128, u128))
UNARY(neg_f32, float, -x)
UNARY(neg_f64, double, -x)
UNARY(abs_i8, int8_t, MAGNITUDE(int8_t, uint8_t))
UNARY(abs_i16, int16_t, MAGNITUDE(int16_t, uint16_t))
UNARY(abs_i32, int32_t, MAGNITUDE(int32_t, uint32_t))
UNARY(abs_i64, int64_t, MAGNITUDE(int64_t, uint64_t))
UNARY(abs_i128, ms_i128, MAGNITUDE(ms_i128, u128))
UNARY(abs_f32, float, __builtin_fabsf(x))
UNARY(abs_f64, double, __builtin_fabs(x))
UNARY(not_bool, uint8_t, (uint8_t)(x == 0))

const msi_unary *msi_kernel_negate(ms_phys phys)
{
    static const msi_unary *const table[MS_PHYS_COUNT] = {
        [MS_PHYS_I8] = &neg_i8,   [MS_PHYS_I16] = &neg_i16,   [MS_PHYS_I32] = &neg_i32,
        [MS_PHYS_I64] = &neg_i64, [MS_PHYS_I128] = &neg_i128, [MS_PHYS_F32] = &neg_f32,
        [MS_PHYS_F64] = &neg_f64};
    return table[phys];
}

const msi_unary *msi_kernel_abs(ms_phys phys)
{
    static const msi_unary *const table[MS_PHYS_COUNT] = {
        [MS_PHYS_I8] = &abs_i8,   [MS_PHYS_I16] = &abs_i16,   [MS_PHYS_I32] = &abs_i32,
        [MS_PHYS_I64] = &abs_i64, [MS_PHYS_I128] = &abs_i128, [MS_PHYS_F32] = &abs_f32,
        [MS_PHYS_F64] = &abs_f64};
    return table[phys];
}

const msi_unary *msi_kernel_not(void)
{
    return &not_bool;
}

/* Choosing the shape. */

uint64_t msi_run_binary(const msi_binary *kernel, ms_fn_call *call)
{
    ms_arg a = ms_arg_of(call, 0);
    ms_arg b = ms_arg_of(call, 1);
    void *out = call->result->data;
    if (!ms_call_is_dense(call)) {
        return kernel->sparse(a, b, out, call->sel, call->sel_count);
    }
    if (ms_arg_is_const(b)) {
        MS_ASSERT_SLOW(!ms_arg_is_const(a));
        return kernel->flat_const(a.data, b.data, out, call->rows);
    }
    return ms_arg_is_const(a) ? kernel->const_flat(a.data, b.data, out, call->rows)
                              : kernel->flat_flat(a.data, b.data, out, call->rows);
}

void msi_run_unary(const msi_unary *kernel, ms_fn_call *call)
{
    ms_arg a = ms_arg_of(call, 0);
    void *out = call->result->data;
    if (ms_call_is_dense(call)) {
        MS_ASSERT_SLOW(!ms_arg_is_const(a));
        kernel->dense(a.data, out, call->rows);
    } else {
        kernel->sparse(a, out, call->sel, call->sel_count);
    }
}
