/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decimal arithmetic over 128-bit integers, with 256-bit intermediates where 76 digits may be
 * needed (10^77 < 2^256). Everything works on magnitudes and puts the sign on last, because half up
 * rounds away from zero.
 */
#include "type/decimal.h"

#include "type/shortest.h"

#include <math.h>

__extension__ typedef unsigned __int128 u128;

/* Little-endian words. */
typedef struct u256 {
    uint64_t word[4];
} u256;

const int64_t ms_decimal_pow10_i64[] = {
    1,
    10,
    100,
    1000,
    10000,
    100000,
    1000000,
    10000000,
    100000000,
    1000000000,
    10000000000,
    100000000000,
    1000000000000,
    10000000000000,
    100000000000000,
    1000000000000000,
    10000000000000000,
    100000000000000000,
    1000000000000000000,
};

/* C has no 128-bit literals: powers above 10^19 are products of two that fit 64 bits. */
#define E19 ((ms_i128)UINT64_C(10000000000000000000))
#define LOW(n) ((ms_i128)INT64_C(n))
#define HIGH(n) (E19 * INT64_C(n))

const ms_i128 ms_decimal_pow10[] = {
    LOW(1),
    LOW(10),
    LOW(100),
    LOW(1000),
    LOW(10000),
    LOW(100000),
    LOW(1000000),
    LOW(10000000),
    LOW(100000000),
    LOW(1000000000),
    LOW(10000000000),
    LOW(100000000000),
    LOW(1000000000000),
    LOW(10000000000000),
    LOW(100000000000000),
    LOW(1000000000000000),
    LOW(10000000000000000),
    LOW(100000000000000000),
    LOW(1000000000000000000),
    HIGH(1),
    HIGH(10),
    HIGH(100),
    HIGH(1000),
    HIGH(10000),
    HIGH(100000),
    HIGH(1000000),
    HIGH(10000000),
    HIGH(100000000),
    HIGH(1000000000),
    HIGH(10000000000),
    HIGH(100000000000),
    HIGH(1000000000000),
    HIGH(10000000000000),
    HIGH(100000000000000),
    HIGH(1000000000000000),
    HIGH(10000000000000000),
    HIGH(100000000000000000),
    HIGH(1000000000000000000),
    E19 *E19,
};

#define DIGITS_MAX MS_TYPE_DECIMAL_PRECISION_MAX

static u128 pow10_u128(int64_t digits)
{
    return (u128)ms_decimal_pow10[digits];
}

static u128 magnitude(ms_i128 v)
{
    return v < 0 ? 0 - (u128)v : (u128)v;
}

static ms_i128 with_sign(u128 v, bool negative)
{
    return (ms_i128)(negative ? 0 - v : v);
}

/* 256 bits. */

static u256 widen(u128 v)
{
    return (u256){{(uint64_t)v, (uint64_t)(v >> 64), 0, 0}};
}

static bool fits_u128(const u256 *v)
{
    return (v->word[2] | v->word[3]) == 0;
}

static u128 low_u128(const u256 *v)
{
    return (u128)v->word[1] << 64 | v->word[0];
}

/* The caller knows that the product fits. */
static u256 multiply(u256 a, u128 b)
{
    uint64_t factor[2] = {(uint64_t)b, (uint64_t)(b >> 64)};
    u256 product = {{0}};
    for (int j = 0; j < 2; j++) {
        uint64_t carry = 0;
        for (int i = 0; i + j < 4; i++) {
            u128 sum = (u128)a.word[i] * factor[j] + product.word[i + j] + carry;
            product.word[i + j] = (uint64_t)sum;
            carry = (uint64_t)(sum >> 64);
        }
    }
    return product;
}

static u256 add(u256 a, u256 b)
{
    u256 sum;
    u128 carry = 0;
    for (int i = 0; i < 4; i++) {
        carry += (u128)a.word[i] + b.word[i];
        sum.word[i] = (uint64_t)carry;
        carry >>= 64;
    }
    return sum;
}

static int compare(const u256 *a, const u256 *b)
{
    for (int i = 3; i >= 0; i--) {
        if (a->word[i] != b->word[i]) {
            return a->word[i] < b->word[i] ? -1 : 1;
        }
    }
    return 0;
}

/* a - b, where a >= b. */
static u256 subtract(u256 a, u256 b)
{
    u256 difference;
    uint64_t borrow = 0;
    for (int i = 0; i < 4; i++) {
        u128 step = (u128)a.word[i] - b.word[i] - borrow;
        difference.word[i] = (uint64_t)step;
        borrow = (uint64_t)(step >> 64) & 1;
    }
    return difference;
}

static u256 divide_by_word(u256 n, uint64_t d, u128 *rest_out)
{
    u128 rest = 0;
    u256 quotient;
    for (int i = 3; i >= 0; i--) {
        u128 step = rest << 64 | n.word[i];
        quotient.word[i] = (uint64_t)(step / d);
        rest = step % d;
    }
    *rest_out = rest;
    return quotient;
}

/*
 * One digit of Knuth's algorithm D (The Art of Computer Programming, volume 2, 4.3.1) in base 2^64
 * for a divisor of two words whose top bit is set: divides the three words at u by it, leaves the
 * rest in the lower two and returns the quotient.
 */
static uint64_t divide_step(uint64_t u[3], uint64_t d1, uint64_t d0)
{
    u128 top = (u128)u[2] << 64 | u[1];
    u128 guess = u[2] >= d1 ? (u128)UINT64_MAX : top / d1;
    u128 left = top - guess * d1;
    while (left >> 64 == 0 && guess * d0 > (left << 64 | u[0])) {
        guess--;
        left += d1;
    }
    u128 low = guess * d0;
    u128 rest = ((u128)u[1] << 64 | u[0]) - ((guess * d1) << 64) - low;
    u[2] = 0;
    u[1] = (uint64_t)(rest >> 64);
    u[0] = (uint64_t)rest;
    return (uint64_t)guess;
}

static u256 divide(u256 n, u128 d, u128 *rest_out)
{
    if (d >> 64 == 0) {
        return divide_by_word(n, (uint64_t)d, rest_out);
    }
    int shift = __builtin_clzll((uint64_t)(d >> 64));
    u128 divisor = d << shift;
    uint64_t u[5];
    u[0] = n.word[0] << shift;
    for (int i = 1; i < 4; i++) {
        u[i] = shift == 0 ? n.word[i] : n.word[i] << shift | n.word[i - 1] >> (64 - shift);
    }
    u[4] = shift == 0 ? 0 : n.word[3] >> (64 - shift);
    u256 quotient = {{0}};
    for (int j = 2; j >= 0; j--) {
        quotient.word[j] = divide_step(u + j, (uint64_t)(divisor >> 64), (uint64_t)divisor);
    }
    *rest_out = ((u128)u[1] << 64 | u[0]) >> shift;
    return quotient;
}

/* Rounding to a result. */

/* v / 10^digits half up, 0 <= digits <= 38. */
static u128 round_u128(u128 v, int64_t digits)
{
    u128 power = pow10_u128(digits);
    if (v >> 64 == 0 && power >> 64 == 0) {
        uint64_t quotient = (uint64_t)v / (uint64_t)power;
        uint64_t rest = (uint64_t)v % (uint64_t)power;
        return (u128)quotient + (rest >= (uint64_t)power - rest);
    }
    u128 rest = v % power;
    return v / power + (rest >= power - rest);
}

/* Same for 256 bits; false when the result needs more than 128. */
static bool round_u256(u256 v, int64_t digits, u128 *rounded_out)
{
    u128 rest = 0;
    if (digits > DIGITS_MAX) {
        /* What the first cut drops cannot decide: half of the second power is a whole number. */
        v = divide(v, pow10_u128(digits - DIGITS_MAX), &rest);
        digits = DIGITS_MAX;
    }
    u128 power = pow10_u128(digits);
    u256 quotient = divide(v, power, &rest);
    if (!fits_u128(&quotient)) {
        return false;
    }
    *rounded_out = low_u128(&quotient) + (rest >= power - rest);
    return true;
}

static bool deliver(u128 v, bool negative, int32_t precision, ms_i128 *unscaled_out)
{
    if (v >= pow10_u128(precision)) {
        return false;
    }
    *unscaled_out = with_sign(v, negative);
    return true;
}

/* Brings a magnitude from one scale to another, rounded, and into the precision. */
static bool finish_u128(u128 v, bool negative, int64_t scale, int32_t precision, int64_t to_scale,
                        ms_i128 *unscaled_out)
{
    int64_t shift = to_scale - scale;
    if (v == 0 || shift < -DIGITS_MAX - 1) {
        *unscaled_out = 0;
        return true;
    }
    if (shift < 0) {
        /* 2^128 < 10^39 / 2: dropping 39 digits leaves nothing. */
        return deliver(shift < -DIGITS_MAX ? 0 : round_u128(v, -shift), negative, precision,
                       unscaled_out);
    }
    if (shift > DIGITS_MAX || v >= pow10_u128(DIGITS_MAX - shift)) {
        return false; /* it would have more than 38 digits */
    }
    return deliver(v * pow10_u128(shift), negative, precision, unscaled_out);
}

static bool finish_u256(u256 v, bool negative, int64_t scale, int32_t precision, int64_t to_scale,
                        ms_i128 *unscaled_out)
{
    if (fits_u128(&v)) {
        return finish_u128(low_u128(&v), negative, scale, precision, to_scale, unscaled_out);
    }
    int64_t drop = scale - to_scale;
    if (drop <= 0) {
        return false; /* 39 digits or more, and none to lose */
    }
    u128 rounded = 0;
    if (drop > 2 * DIGITS_MAX + 1) {
        *unscaled_out = 0; /* fewer than 10^77 over 10^78 */
        return true;
    }
    /* Dropping 77 digits takes two cuts of 38 and one more. */
    if (drop > 2 * DIGITS_MAX) {
        u128 rest = 0;
        v = divide(v, 10, &rest);
        drop--;
    }
    return round_u256(v, drop, &rounded) && deliver(rounded, negative, precision, unscaled_out);
}

bool ms_decimal_rescale(ms_decimal v, int32_t precision, int32_t scale, ms_i128 *unscaled_out)
{
    return finish_u128(magnitude(v.unscaled), v.unscaled < 0, v.scale, precision, scale,
                       unscaled_out);
}

/* Arithmetic. */

static int32_t digits_of(u128 v)
{
    int32_t bits = v >> 64 != 0 ? 128 - __builtin_clzll((uint64_t)(v >> 64))
                   : v != 0     ? 64 - __builtin_clzll((uint64_t)v)
                                : 0;
    /* bits * log10(2), rounded down: the digits, or one fewer. 1233 / 4096 is 0.30102. */
    int32_t digits = bits * 1233 >> 12;
    return digits + (v >= pow10_u128(digits)) + (v == 0);
}

int32_t ms_decimal_digits(ms_i128 v)
{
    return digits_of(magnitude(v));
}

/* The magnitude of v at a scale that is not smaller than its own; below 10^76. */
static u256 lift(ms_decimal v, int32_t scale)
{
    return multiply(widen(magnitude(v.unscaled)), pow10_u128(scale - v.scale));
}

static int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* True when v, brought to scale, stays below 10^38. */
static bool lifts_in_u128(ms_decimal v, int32_t scale)
{
    return ms_decimal_digits(v.unscaled) + (scale - v.scale) <= DIGITS_MAX;
}

bool ms_decimal_add(ms_decimal a, ms_decimal b, int32_t precision, int32_t scale,
                    ms_i128 *unscaled_out)
{
    int32_t common = larger(a.scale, b.scale);
    if (lifts_in_u128(a, common) && lifts_in_u128(b, common)) {
        /* Two below 10^38 may add up to more than 2^127, which is 1.7 * 10^38. */
        ms_i128 sum = a.unscaled * ms_decimal_pow10[common - a.scale];
        ms_i128 other = b.unscaled * ms_decimal_pow10[common - b.scale];
        if (!__builtin_add_overflow(sum, other, &sum)) {
            return finish_u128(magnitude(sum), sum < 0, common, precision, scale, unscaled_out);
        }
    }
    u256 x = lift(a, common);
    u256 y = lift(b, common);
    bool negative_x = a.unscaled < 0;
    bool negative_y = b.unscaled < 0;
    if (negative_x == negative_y) {
        return finish_u256(add(x, y), negative_x, common, precision, scale, unscaled_out);
    }
    bool x_is_larger = compare(&x, &y) >= 0;
    u256 difference = x_is_larger ? subtract(x, y) : subtract(y, x);
    return finish_u256(difference, x_is_larger ? negative_x : negative_y, common, precision, scale,
                       unscaled_out);
}

bool ms_decimal_subtract(ms_decimal a, ms_decimal b, int32_t precision, int32_t scale,
                         ms_i128 *unscaled_out)
{
    b.unscaled = -b.unscaled;
    return ms_decimal_add(a, b, precision, scale, unscaled_out);
}

bool ms_decimal_multiply(ms_decimal a, ms_decimal b, int32_t precision, int32_t scale,
                         ms_i128 *unscaled_out)
{
    u128 x = magnitude(a.unscaled);
    u128 y = magnitude(b.unscaled);
    bool negative = (a.unscaled < 0) != (b.unscaled < 0);
    int32_t product_scale = a.scale + b.scale;
    if (x >> 64 == 0 && y >> 64 == 0) {
        return finish_u128(x * y, negative, product_scale, precision, scale, unscaled_out);
    }
    return finish_u256(multiply(widen(x), y), negative, product_scale, precision, scale,
                       unscaled_out);
}

bool ms_decimal_divide(ms_decimal a, ms_decimal b, int32_t precision, int32_t scale,
                       ms_i128 *unscaled_out)
{
    u128 x = magnitude(a.unscaled);
    u128 y = magnitude(b.unscaled);
    MS_ASSERT(y != 0);
    if (x == 0) {
        *unscaled_out = 0;
        return true;
    }
    /*
     * x / y lies in [10^(e-1), 10^(e+1)) for e the difference of the digits; comparing the two at
     * equal lengths says in which half. Then x * 10^power / y has exactly 38 digits.
     */
    int32_t e = digits_of(x) - digits_of(y);
    bool reaches_e = e <= 0 ? x * pow10_u128(-e) >= y : x >= y * pow10_u128(e);
    int32_t power = DIGITS_MAX - e - (reaches_e ? 1 : 0);
    int32_t first = power < DIGITS_MAX ? power : DIGITS_MAX;
    u256 numerator = multiply(multiply(widen(x), pow10_u128(first)), pow10_u128(power - first));
    u128 rest = 0;
    u256 quotient = divide(numerator, y, &rest);
    u128 rounded = low_u128(&quotient) + (rest >= y - rest);
    bool negative = (a.unscaled < 0) != (b.unscaled < 0);
    return finish_u128(rounded, negative, (int64_t)a.scale - b.scale + power, precision, scale,
                       unscaled_out);
}

bool ms_decimal_modulo(ms_decimal a, ms_decimal b, int32_t precision, int32_t scale,
                       ms_i128 *unscaled_out)
{
    MS_ASSERT(b.unscaled != 0);
    int32_t common = larger(a.scale, b.scale);
    u256 x = lift(a, common);
    u256 y = lift(b, common);
    u256 rest = x;
    if (fits_u128(&y)) {
        u128 low = 0;
        (void)divide(x, low_u128(&y), &low);
        rest = widen(low);
    }
    /* Else y was lifted, so x was not, and is the smaller one: it is the remainder itself. */
    return finish_u256(rest, a.unscaled < 0, common, precision, scale, unscaled_out);
}

int ms_decimal_compare(ms_decimal a, ms_decimal b)
{
    if (a.scale == b.scale || (a.unscaled < 0) != (b.unscaled < 0)) {
        return (a.unscaled > b.unscaled) - (a.unscaled < b.unscaled);
    }
    int32_t common = larger(a.scale, b.scale);
    u256 x = lift(a, common);
    u256 y = lift(b, common);
    int order = compare(&x, &y);
    return a.unscaled < 0 ? -order : order;
}

/* Conversion. */

bool ms_decimal_from_i64(int64_t v, int32_t precision, int32_t scale, ms_i128 *unscaled_out)
{
    return ms_decimal_rescale((ms_decimal){v, 0}, precision, scale, unscaled_out);
}

int64_t ms_decimal_to_i64_wrapping(ms_decimal v)
{
    return (int64_t)(uint64_t)(v.unscaled / ms_decimal_pow10[v.scale]);
}

bool ms_decimal_to_i64(ms_decimal v, int64_t *value_out)
{
    ms_i128 whole = v.unscaled / ms_decimal_pow10[v.scale];
    if (whole < INT64_MIN || whole > INT64_MAX) {
        return false;
    }
    *value_out = (int64_t)whole;
    return true;
}

bool ms_decimal_from_double(double v, int32_t precision, int32_t scale, ms_i128 *unscaled_out)
{
    if (!isfinite(v)) {
        return false;
    }
    msi_shortest shortest;
    msi_shortest_f64(fabs(v), &shortest);
    int64_t unscaled = 0; /* 17 digits fit */
    for (int32_t i = 0; i < shortest.count; i++) {
        unscaled = unscaled * 10 + (shortest.digits[i] - '0');
    }
    ms_decimal exact = {v < 0 ? -unscaled : unscaled, shortest.count - 1 - shortest.exponent};
    return ms_decimal_rescale(exact, precision, scale, unscaled_out);
}

double ms_decimal_to_double(ms_decimal v)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                    1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    u128 x = magnitude(v.unscaled);
    if (x <= UINT64_C(1) << 53 && v.scale <= 22) {
        /* Both are exact doubles, so the one rounding of the division is the right one. */
        double quotient = (double)(uint64_t)x / powers[v.scale];
        return v.unscaled < 0 ? -quotient : quotient;
    }
    char text[DIGITS_MAX + 8];
    size_t bytes = 0;
    for (int32_t i = digits_of(x); i > 0; i--) {
        text[bytes++] = (char)('0' + (int)(x / pow10_u128(i - 1) % 10));
    }
    text[bytes++] = 'e';
    text[bytes++] = '-';
    text[bytes++] = (char)('0' + v.scale / 10);
    text[bytes++] = (char)('0' + v.scale % 10);
    double value = 0;
    bool read = msi_shortest_read_f64(text, bytes, false, &value);
    MS_ASSERT(read);
    return v.unscaled < 0 ? -value : value;
}

/* Bytes. */

size_t ms_decimal_to_bytes(ms_i128 unscaled, char *out)
{
    /* The bits that differ from the sign, and the sign bit itself. */
    u128 significant = (u128)(unscaled < 0 ? ~unscaled : unscaled);
    size_t bytes = 1;
    while (bytes < MS_DECIMAL_BYTES_MAX && significant >> (8 * bytes - 1) != 0) {
        bytes++;
    }
    for (size_t i = 0; i < bytes; i++) {
        out[i] = (char)(unsigned char)((u128)unscaled >> (8 * (bytes - 1 - i)));
    }
    return bytes;
}

bool ms_decimal_from_bytes(ms_str bytes, int32_t source_scale, int32_t precision, int32_t scale,
                           ms_i128 *unscaled_out)
{
    if (bytes.bytes == 0 || bytes.bytes > MS_DECIMAL_READ_BYTES) {
        return false;
    }
    bool negative = (unsigned char)bytes.ptr[0] >= 0x80;
    u256 v = {{0}};
    for (size_t i = 0; i < MS_DECIMAL_READ_BYTES; i++) {
        /* Complemented, the magnitude less one of a negative value; sign bytes become zeros. */
        uint64_t byte = 0;
        if (i < bytes.bytes) {
            byte = (unsigned char)bytes.ptr[bytes.bytes - 1 - i] ^ (negative ? 0xFFu : 0u);
        }
        v.word[i / 8] |= byte << (8 * (i % 8));
    }
    if (negative) {
        v = add(v, (u256){{1, 0, 0, 0}});
    }
    return finish_u256(v, negative, source_scale, precision, scale, unscaled_out);
}
