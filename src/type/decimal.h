/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DECIMAL arithmetic. A decimal is an unscaled integer of at most 38 digits and a scale: 12.30 is
 * {1230, 2}. Columns carry only the unscaled integers, in 64 bits up to 18 digits and in 128 bits
 * above; the scale is the type's.
 *
 * The rules are Flink's. An operation is computed exactly (division: to 38 significant digits, half
 * up), then rounded half up, away from zero, to the scale of the result type. A result that has
 * more digits than the result type does not fit: the function returns false, leaves *unscaled_out
 * alone, and the caller writes NULL or reports an error, as the session says. Division by zero is
 * the caller's to exclude.
 *
 *     ms_i128 sum;
 *     if (!ms_decimal_add((ms_decimal){a, 2}, (ms_decimal){b, 4}, 12, 4, &sum)) {
 *         the row becomes NULL
 *     }
 *
 * Intermediate results need up to 76 digits; they are kept in 256 bits only when 128 do not
 * suffice, so that the usual operands cost two or three machine words. Kernels over 64-bit columns
 * whose result type cannot overflow need none of these functions, only the table of powers.
 *
 * Ownership: values only. Thread: any.
 */
#ifndef MS_TYPE_DECIMAL_H
#define MS_TYPE_DECIMAL_H

#include "type/type.h"

typedef struct ms_decimal {
    ms_i128 unscaled;
    int32_t scale;
} ms_decimal;

/* Powers of ten: 10^0 .. 10^18, and 10^0 .. 10^38. */
extern const int64_t ms_decimal_pow10_i64[MS_TYPE_DECIMAL_I64_PRECISION + 1];
extern const ms_i128 ms_decimal_pow10[MS_TYPE_DECIMAL_PRECISION_MAX + 1];

/* True when v has at most precision digits. */
static inline bool ms_decimal_fits(ms_i128 v, int32_t precision)
{
    ms_i128 bound = ms_decimal_pow10[precision];
    return v < bound && v > -bound;
}

static inline bool ms_decimal_fits_i64(int64_t v, int32_t precision)
{
    int64_t bound = ms_decimal_pow10_i64[precision];
    return v < bound && v > -bound;
}

/* v / 10^digits, rounded half up (away from zero); 0 <= digits <= 18. */
static inline int64_t ms_decimal_round_i64(int64_t v, int32_t digits)
{
    int64_t power = ms_decimal_pow10_i64[digits];
    int64_t quotient = v / power;
    int64_t rest = v % power;
    int64_t half = (power + 1) / 2; /* digits 0: 1, which no rest reaches */
    return quotient + (rest >= half) - (rest <= -half);
}

/* The number of decimal digits; 1 for zero. */
int32_t ms_decimal_digits(ms_i128 v);

/* Arithmetic: the result is rounded to scale and fits precision, or the function returns false. */

/* Any scales from INT32_MIN / 2 to INT32_MAX / 2. */
bool ms_decimal_rescale(ms_decimal v, int32_t precision, int32_t scale, ms_i128 *unscaled_out);

/* Operands have scales from 0 to 38 and at most 38 digits. */
bool ms_decimal_add(ms_decimal a, ms_decimal b, int32_t precision, int32_t scale,
                    ms_i128 *unscaled_out);
bool ms_decimal_subtract(ms_decimal a, ms_decimal b, int32_t precision, int32_t scale,
                         ms_i128 *unscaled_out);
bool ms_decimal_multiply(ms_decimal a, ms_decimal b, int32_t precision, int32_t scale,
                         ms_i128 *unscaled_out);

/* b is not zero. The quotient has 38 significant digits before it is rounded a second time. */
bool ms_decimal_divide(ms_decimal a, ms_decimal b, int32_t precision, int32_t scale,
                       ms_i128 *unscaled_out);

/* b is not zero. The remainder is exact and has the sign of a. */
bool ms_decimal_modulo(ms_decimal a, ms_decimal b, int32_t precision, int32_t scale,
                       ms_i128 *unscaled_out);

/* Compares by value: 1.0 equals 1.00. Returns <0, 0, >0. */
int ms_decimal_compare(ms_decimal a, ms_decimal b);

/* Conversion. */

bool ms_decimal_from_i64(int64_t v, int32_t precision, int32_t scale, ms_i128 *unscaled_out);

/* Cuts the fraction and keeps the low 64 bits of the rest, as Flink's cast does. */
int64_t ms_decimal_to_i64_wrapping(ms_decimal v);

/* Cuts the fraction; false when the rest is not an int64. */
bool ms_decimal_to_i64(ms_decimal v, int64_t *value_out);

/* From the shortest digits that read back as v, as java.math.BigDecimal.valueOf() has it; NaN and
 * infinities do not fit. */
bool ms_decimal_from_double(double v, int32_t precision, int32_t scale, ms_i128 *unscaled_out);

/* The nearest double, ties to even. */
double ms_decimal_to_double(ms_decimal v);

/* Bytes: the shortest big-endian two's complement, as java.math.BigInteger.toByteArray() has it. */

#define MS_DECIMAL_BYTES_MAX 16u  /* what to_bytes writes at most */
#define MS_DECIMAL_READ_BYTES 32u /* what from_bytes reads at most: 77 digits */

/* Writes 1 to MS_DECIMAL_BYTES_MAX bytes and returns how many. */
size_t ms_decimal_to_bytes(ms_i128 unscaled, char *out);

/*
 * Reads a value of any length up to MS_DECIMAL_READ_BYTES, redundant sign bytes included, that was
 * written at source_scale, and rescales it. False when it is empty, longer, or does not fit.
 */
bool ms_decimal_from_bytes(ms_str bytes, int32_t source_scale, int32_t precision, int32_t scale,
                           ms_i128 *unscaled_out);

#endif
