/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loops of agg_kernels.h. Each is written twice, dense and through positions, so that the dense
 * one vectorizes; floats stay in their order and do not.
 */
#include "exec/agg_kernels.h"

#include "func/call.h"
#include "type/time.h"

/* Exact sums of integers that fit 64 bits. */
#define DEFINE_SUM(name, ctype)                                                                    \
    MS_CLONES int64_t name(const ctype *data, const uint16_t *pos, uint32_t count)                 \
    {                                                                                              \
        int64_t sum = 0;                                                                           \
        if (pos == NULL) {                                                                         \
            for (uint32_t i = 0; i < count; i++) {                                                 \
                sum += data[i];                                                                    \
            }                                                                                      \
            return sum;                                                                            \
        }                                                                                          \
        for (uint32_t i = 0; i < count; i++) {                                                     \
            sum += data[pos[i]];                                                                   \
        }                                                                                          \
        return sum;                                                                                \
    }

DEFINE_SUM(msi_sum_i8, int8_t)
DEFINE_SUM(msi_sum_i16, int16_t)
DEFINE_SUM(msi_sum_i32, int32_t)

/* Halves are summed apart: v = high * 2^32 + low, and neither sum of 4096 halves leaves 64 bits. */
MS_CLONES ms_i128 msi_sum_i64(const int64_t *data, const uint16_t *pos, uint32_t count)
{
    int64_t high = 0;
    int64_t low = 0;
    if (pos == NULL) {
        for (uint32_t i = 0; i < count; i++) {
            high += data[i] >> 32;
            low += data[i] & INT64_C(0xFFFFFFFF);
        }
    } else {
        for (uint32_t i = 0; i < count; i++) {
            high += data[pos[i]] >> 32;
            low += data[pos[i]] & INT64_C(0xFFFFFFFF);
        }
    }
    return (ms_i128)high * ((ms_i128)1 << 32) + low;
}

bool msi_sum_i128(ms_i128 *sum, ms_i128 sign, const ms_i128 *data, const uint16_t *pos,
                  uint32_t count)
{
    ms_i128 total = *sum;
    bool overflows = false;
    for (uint32_t i = 0; i < count; i++) {
        overflows |= __builtin_add_overflow(total, sign * data[pos != NULL ? pos[i] : i], &total);
    }
    *sum = total;
    return !overflows;
}

/* Sums of floats, in order. */
#define DEFINE_FLOAT_SUM(name, sum_type, ctype)                                                    \
    sum_type name(sum_type sum, sum_type sign, const ctype *data, const uint16_t *pos,             \
                  uint32_t count)                                                                  \
    {                                                                                              \
        for (uint32_t i = 0; i < count; i++) {                                                     \
            sum += sign * (sum_type)data[pos != NULL ? pos[i] : i];                                \
        }                                                                                          \
        return sum;                                                                                \
    }

DEFINE_FLOAT_SUM(msi_sum_f32, float, float)
DEFINE_FLOAT_SUM(msi_sum_f32_wide, double, float)
DEFINE_FLOAT_SUM(msi_sum_f64, double, double)

/* The best value: strictly better ones win, in order. */
#define DEFINE_BEST(name, best_type, ctype, better)                                                \
    MS_CLONES best_type name(best_type best, const ctype *data, const uint16_t *pos,               \
                             uint32_t count)                                                       \
    {                                                                                              \
        ctype at = (ctype)best;                                                                    \
        if (pos == NULL) {                                                                         \
            for (uint32_t i = 0; i < count; i++) {                                                 \
                at = data[i] better at ? data[i] : at;                                             \
            }                                                                                      \
            return (best_type)at;                                                                  \
        }                                                                                          \
        for (uint32_t i = 0; i < count; i++) {                                                     \
            ctype value = data[pos[i]];                                                            \
            at = value better at ? value : at;                                                     \
        }                                                                                          \
        return (best_type)at;                                                                      \
    }

DEFINE_BEST(msi_min_u8, int64_t, uint8_t, <)
DEFINE_BEST(msi_max_u8, int64_t, uint8_t, >)
DEFINE_BEST(msi_min_i8, int64_t, int8_t, <)
DEFINE_BEST(msi_max_i8, int64_t, int8_t, >)
DEFINE_BEST(msi_min_i16, int64_t, int16_t, <)
DEFINE_BEST(msi_max_i16, int64_t, int16_t, >)
DEFINE_BEST(msi_min_i32, int64_t, int32_t, <)
DEFINE_BEST(msi_max_i32, int64_t, int32_t, >)
DEFINE_BEST(msi_min_i64, int64_t, int64_t, <)
DEFINE_BEST(msi_max_i64, int64_t, int64_t, >)
DEFINE_BEST(msi_min_i128, ms_i128, ms_i128, <)
DEFINE_BEST(msi_max_i128, ms_i128, ms_i128, >)
DEFINE_BEST(msi_min_f32, double, float, <)
DEFINE_BEST(msi_max_f32, double, float, >)
DEFINE_BEST(msi_min_f64, double, double, <)
DEFINE_BEST(msi_max_f64, double, double, >)

ms_view msi_best_view(ms_view best, int sign, const ms_view *data, const uint16_t *pos,
                      uint32_t count)
{
    const ms_view *at = &best;
    for (uint32_t i = 0; i < count; i++) {
        const ms_view *value = &data[pos != NULL ? pos[i] : i];
        if (sign * ms_view_compare(value, at) > 0) {
            at = value;
        }
    }
    return *at;
}

ms_ts16 msi_best_ts16(ms_ts16 best, int sign, const ms_ts16 *data, const uint16_t *pos,
                      uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        ms_ts16 value = data[pos != NULL ? pos[i] : i];
        if (sign * ms_time_compare_ts(value, best) > 0) {
            best = value;
        }
    }
    return best;
}

/* Positions. Appending is branchless: every candidate is written, and kept by moving on. */

uint32_t msi_keep_true(const ms_vec *flags, const uint16_t *rows, uint32_t first, uint32_t count,
                       uint16_t *out)
{
    const uint8_t *data = MS_VEC_DATA(flags, const uint8_t);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = rows != NULL ? rows[i] : first + i;
        uint32_t at = ms_vec_pos(flags, row);
        bool is_valid = flags->valid == NULL || ms_bit_get(flags->valid, at);
        out[kept] = (uint16_t)row;
        kept += is_valid && data[at] != 0;
    }
    return kept;
}

uint32_t msi_keep_values(const ms_vec *vec, const uint16_t *rows, uint32_t first, uint32_t count,
                         uint16_t *out)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = rows != NULL ? rows[i] : first + i;
        uint32_t at = ms_vec_pos(vec, row);
        out[kept] = (uint16_t)at;
        kept += vec->valid == NULL || ms_bit_get(vec->valid, at);
    }
    return kept;
}
