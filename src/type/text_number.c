/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text of integers, floating-point numbers, decimals and booleans. Digits of floating-point numbers
 * come from shortest.cc; here are Java's layouts, the forms that are accepted, and short ways for
 * what cells of data usually hold: base/num.h, which reads settings, needs none.
 */
#include "type/text.h"

#include "base/num.h"
#include "type/shortest.h"
#include "type/text_priv.h"

#include <math.h>

__extension__ typedef unsigned __int128 u128;

#define DIGITS_MAX MS_TYPE_DECIMAL_PRECISION_MAX

/* Java prints 10^-3 <= |x| < 10^7 without an exponent. */
#define PLAIN_EXPONENT_MIN (-3)
#define PLAIN_EXPONENT_MAX 7

/* An exponent in a text of a decimal is at most this: java.math.BigDecimal has 32-bit scales. */
#define EXPONENT_MAX INT32_MAX

/* Integers. */

static uint32_t count_digits(uint64_t value)
{
    /* bits * log10(2), rounded down: the digits, or one fewer. 1233 / 4096 is 0.30102. */
    uint32_t digits = (64 - (uint32_t)__builtin_clzll(value | 1)) * 1233 >> 12;
    if (digits > MS_TYPE_DECIMAL_I64_PRECISION) {
        return digits + (value >= UINT64_C(10000000000000000000));
    }
    return digits + (value >= (uint64_t)ms_decimal_pow10_i64[digits]);
}

size_t ms_text_u64(char *out, uint64_t value)
{
    uint32_t digits = value == 0 ? 1 : count_digits(value);
    (void)msi_put_digits(out, value, digits);
    return digits;
}

size_t ms_text_i64(char *out, int64_t value)
{
    if (value >= 0) {
        return ms_text_u64(out, (uint64_t)value);
    }
    *out = '-';
    return 1 + ms_text_u64(out + 1, 0 - (uint64_t)value);
}

/* Floating-point numbers. */

static char *put(char *out, const char *text, size_t bytes)
{
    memcpy(out, text, bytes);
    return out + bytes;
}

/* Zeros up to the point, or the digits that there are. */
static char *put_plain(char *out, const msi_shortest *shortest)
{
    if (shortest->exponent < 0) {
        *out++ = '0';
        *out++ = '.';
        for (int32_t zero = -1; zero > shortest->exponent; zero--) {
            *out++ = '0';
        }
        return put(out, shortest->digits, (size_t)shortest->count);
    }
    int32_t whole = shortest->exponent + 1;
    for (int32_t i = 0; i < whole || i < shortest->count; i++) {
        if (i == whole) {
            *out++ = '.';
        }
        *out++ = i < shortest->count ? shortest->digits[i] : '0';
    }
    return shortest->count <= whole ? put(out, ".0", 2) : out;
}

static char *put_scientific(char *out, const msi_shortest *shortest)
{
    *out++ = shortest->digits[0];
    *out++ = '.';
    if (shortest->count == 1) {
        *out++ = '0';
    }
    out = put(out, shortest->digits + 1, (size_t)shortest->count - 1);
    *out++ = 'E';
    return out + ms_text_i64(out, shortest->exponent);
}

static size_t put_shortest(char *out, bool negative, const msi_shortest *shortest)
{
    char *at = out;
    if (negative) {
        *at++ = '-';
    }
    bool plain =
        shortest->exponent >= PLAIN_EXPONENT_MIN && shortest->exponent < PLAIN_EXPONENT_MAX;
    at = plain ? put_plain(at, shortest) : put_scientific(at, shortest);
    return (size_t)(at - out);
}

/* What has no digits to search for: NaN, infinities, whole numbers that are printed plainly. */
static size_t put_simple(char *out, double value)
{
    if (isnan(value)) {
        return (size_t)(put(out, "NaN", 3) - out);
    }
    char *at = out;
    if (signbit(value)) {
        *at++ = '-';
    }
    double magnitude = fabs(value);
    if (isinf(value)) {
        at = put(at, "Infinity", 8);
    } else if (magnitude < 1e7 && magnitude == (double)(int64_t)magnitude) {
        at += ms_text_u64(at, (uint64_t)magnitude);
        at = put(at, ".0", 2);
    } else {
        return 0;
    }
    return (size_t)(at - out);
}

/*
 * Numbers of the plain range with up to six digits behind the point, which is what measurements and
 * prices are: the nearest multiple of 10^-6 has at most 13 digits. Should it read back as the
 * number, then it is the shortest text, because no two decimals of up to 15 digits are the same
 * double. Otherwise 0, and the digits are searched for.
 */
static size_t put_short_fraction(char *out, double value)
{
    double magnitude = fabs(value);
    if (!(magnitude >= 1e-3 && magnitude < 1e7)) {
        return 0;
    }
    uint64_t millionths = (uint64_t)(magnitude * 1e6 + 0.5);
    if ((double)millionths / 1e6 != magnitude) {
        return 0;
    }
    char *at = out;
    if (value < 0) {
        *at++ = '-';
    }
    at += ms_text_u64(at, millionths / 1000000);
    *at++ = '.';
    at = msi_put_digits(at, millionths % 1000000, 6);
    while (at[-1] == '0' && at[-2] != '.') {
        at--;
    }
    return (size_t)(at - out);
}

size_t ms_text_f64(char *out, double value)
{
    size_t bytes = put_simple(out, value);
    if (bytes == 0) {
        bytes = put_short_fraction(out, value);
    }
    if (bytes > 0) {
        return bytes;
    }
    msi_shortest shortest;
    msi_shortest_f64(fabs(value), &shortest);
    return put_shortest(out, signbit(value), &shortest);
}

size_t ms_text_f32(char *out, float value)
{
    size_t bytes = put_simple(out, (double)value);
    if (bytes > 0) {
        return bytes;
    }
    msi_shortest shortest;
    msi_shortest_f32(fabsf(value), &shortest);
    return put_shortest(out, signbit(value), &shortest);
}

/* Decimals. */

/* The digits of a magnitude, the first one not zero (but for zero itself), and its scale. */
typedef struct decimal_digits {
    bool negative;
    int32_t count;
    int32_t scale;
    char text[DIGITS_MAX + 1]; /* one more than 38: any 128-bit integer is printed */
} decimal_digits;

static decimal_digits digits_of(ms_i128 unscaled, int32_t scale)
{
    decimal_digits digits = {.negative = unscaled < 0, .scale = scale};
    u128 value = unscaled < 0 ? 0 - (u128)unscaled : (u128)unscaled;
    const uint64_t half = UINT64_C(10000000000000000000); /* 10^19 */
    if (value >> 64 == 0) {
        digits.count = (int32_t)ms_text_u64(digits.text, (uint64_t)value);
        return digits;
    }
    uint64_t high = (uint64_t)(value / half); /* below 2^127 / 10^19, which fits 64 bits */
    uint32_t high_digits = (uint32_t)ms_text_u64(digits.text, high);
    (void)msi_put_digits(digits.text + high_digits, (uint64_t)(value % half), 19);
    digits.count = (int32_t)high_digits + 19;
    return digits;
}

/* Plain: 12.30, 0.05, 1200 for a negative scale. */
static size_t layout_plain(char *out, const decimal_digits *digits)
{
    char *at = out;
    if (digits->negative) {
        *at++ = '-';
    }
    int32_t whole = digits->count - digits->scale;
    if (digits->scale <= 0) {
        at = put(at, digits->text, (size_t)digits->count);
        bool is_zero = digits->text[0] == '0';
        for (int32_t i = digits->scale; i < 0 && !is_zero; i++) {
            *at++ = '0';
        }
    } else if (whole > 0) {
        at = put(at, digits->text, (size_t)whole);
        *at++ = '.';
        at = put(at, digits->text + whole, (size_t)digits->scale);
    } else {
        *at++ = '0';
        *at++ = '.';
        for (int32_t i = whole; i < 0; i++) {
            *at++ = '0';
        }
        at = put(at, digits->text, (size_t)digits->count);
    }
    return (size_t)(at - out);
}

/* As BigDecimal.toString(). */
static size_t layout_java(char *out, const decimal_digits *digits)
{
    int32_t exponent = digits->count - 1 - digits->scale;
    if (digits->scale >= 0 && exponent >= -6) {
        return layout_plain(out, digits);
    }
    char *at = out;
    if (digits->negative) {
        *at++ = '-';
    }
    *at++ = digits->text[0];
    if (digits->count > 1) {
        *at++ = '.';
        at = put(at, digits->text + 1, (size_t)digits->count - 1);
    }
    *at++ = 'E';
    if (exponent >= 0) {
        *at++ = '+';
    }
    at += ms_text_i64(at, exponent);
    return (size_t)(at - out);
}

size_t ms_text_decimal(char *out, ms_i128 unscaled, int32_t scale)
{
    decimal_digits digits = digits_of(unscaled, scale);
    return layout_plain(out, &digits);
}

size_t ms_text_decimal_java(char *out, ms_i128 unscaled, int32_t scale)
{
    decimal_digits digits = digits_of(unscaled, scale);
    return layout_java(out, &digits);
}

size_t ms_text_decimal_stripped(char *out, ms_i128 unscaled, int32_t scale, bool plain)
{
    decimal_digits digits = digits_of(unscaled, scale);
    if (unscaled == 0) {
        digits.scale = 0;
    }
    while (digits.count > 1 && digits.text[digits.count - 1] == '0') {
        digits.count--;
        digits.scale--;
    }
    return plain ? layout_plain(out, &digits) : layout_java(out, &digits);
}

/* Reading. */

static bool is_digit(char c)
{
    return (unsigned)(c - '0') <= 9u;
}

bool ms_text_parse_i64(ms_str text, int64_t *value_out)
{
    const char *at = text.ptr;
    size_t bytes = text.bytes;
    bool negative = bytes > 0 && *at == '-';
    if (bytes > 0 && (*at == '-' || *at == '+')) {
        at++;
        bytes--;
    }
    if (bytes - 1 >= MS_TYPE_DECIMAL_I64_PRECISION) {
        return ms_num_scan_i64(text, value_out); /* none, or enough to overflow */
    }
    int64_t value = 0;
    unsigned bad = 0;
    for (size_t i = 0; i < bytes; i++) {
        unsigned digit = (unsigned)(at[i] - '0');
        bad |= digit > 9u;
        value = value * 10 + (int64_t)(digit & 0xFu);
    }
    if (bad != 0) {
        return false;
    }
    *value_out = negative ? -value : value;
    return true;
}

/* The parts of a decimal number: digits[.digits][e[sign]digits]; at least one digit. */
typedef struct number_form {
    const char *digits; /* from the first digit or the point */
    size_t digit_bytes; /* up to the exponent, the point included */
    size_t whole_count; /* digits before the point */
    size_t bytes;       /* with the exponent */
    int64_t exponent;   /* clamped to +-EXPONENT_MAX + 1 */
} number_form;

/* Reads e[sign]digits at the end of the form; false when it has no digits. */
static bool scan_exponent(const char *at, const char *end, number_form *form)
{
    const char *start = at;
    at++;
    bool negative = at != end && *at == '-';
    if (at != end && (*at == '-' || *at == '+')) {
        at++;
    }
    const char *digits = at;
    for (; at != end && is_digit(*at); at++) {
        if (form->exponent <= EXPONENT_MAX) {
            form->exponent = form->exponent * 10 + (*at - '0');
        }
    }
    if (form->exponent > EXPONENT_MAX) {
        form->exponent = (int64_t)EXPONENT_MAX + 1;
    }
    form->exponent = negative ? -form->exponent : form->exponent;
    form->bytes += (size_t)(at - start);
    return at != digits;
}

/* Scans as far as the form goes; the caller checks that nothing follows. */
static bool scan_number(const char *at, const char *end, number_form *form_out)
{
    number_form form = {.digits = at};
    bool point = false;
    size_t count = 0;
    for (; at != end; at++) {
        if (is_digit(*at)) {
            count++;
            form.whole_count += !point;
        } else if (*at == '.' && !point) {
            point = true;
        } else {
            break;
        }
    }
    form.digit_bytes = (size_t)(at - form.digits);
    form.bytes = form.digit_bytes;
    if (at != end && (*at == 'e' || *at == 'E') && !scan_exponent(at, end, &form)) {
        return false;
    }
    *form_out = form;
    return count > 0;
}

/* What Java trims: all characters up to the blank. */
static ms_str java_trim(ms_str text)
{
    size_t start = 0;
    size_t end = text.bytes;
    while (start < end && (unsigned char)text.ptr[start] <= ' ') {
        start++;
    }
    while (end > start && (unsigned char)text.ptr[end - 1] <= ' ') {
        end--;
    }
    return ms_str_slice(text, start, end);
}

/* A number between the sign and the end, in one of the notations that Java takes. */
typedef struct float_form {
    bool negative;
    bool hex;
    bool is_nan;
    bool is_infinite;
    ms_str body; /* what shortest.h reads */
    number_form decimal;
} float_form;

/* digits[.digits]p[sign]digits, hexadecimal digits before the p; with 0x taken off already. */
static bool is_hex_body(ms_str body)
{
    size_t i = 0;
    size_t digits = 0;
    bool point = false;
    for (; i < body.bytes; i++) {
        char c = body.ptr[i];
        char lower = (char)(c | 0x20);
        if (is_digit(c) || (lower >= 'a' && lower <= 'f')) {
            digits++;
        } else if (c == '.' && !point) {
            point = true;
        } else {
            break;
        }
    }
    number_form exponent = {0};
    return digits > 0 && i < body.bytes && (body.ptr[i] | 0x20) == 'p' &&
           scan_exponent(body.ptr + i, body.ptr + body.bytes, &exponent) &&
           i + exponent.bytes == body.bytes;
}

static bool scan_float(ms_str text, float_form *form_out)
{
    float_form form = {0};
    ms_str body = java_trim(text);
    if (body.bytes > 0 && (body.ptr[0] == '-' || body.ptr[0] == '+')) {
        form.negative = body.ptr[0] == '-';
        body = ms_str_slice(body, 1, body.bytes);
    }
    form.is_nan = ms_str_equals(body, ms_str_lit("NaN"));
    form.is_infinite = ms_str_equals(body, ms_str_lit("Infinity"));
    if (form.is_nan || form.is_infinite) {
        *form_out = form;
        return true;
    }
    if (body.bytes > 0 && strchr("fFdD", body.ptr[body.bytes - 1]) != NULL &&
        body.ptr[body.bytes - 1] != '\0') {
        body = ms_str_slice(body, 0, body.bytes - 1);
    }
    form.hex = body.bytes > 2 && body.ptr[0] == '0' && (body.ptr[1] | 0x20) == 'x';
    form.body = form.hex ? ms_str_slice(body, 2, body.bytes) : body;
    bool well_formed =
        form.hex ? is_hex_body(form.body)
                 : form.body.bytes > 0 &&
                       scan_number(form.body.ptr, form.body.ptr + form.body.bytes, &form.decimal) &&
                       form.decimal.bytes == form.body.bytes;
    *form_out = form;
    return well_formed;
}

/*
 * [-]digits[.digits] of up to 15 digits and nothing else, in one pass: what cells usually hold.
 * Both the digits and the power of ten are exact doubles, so that the one rounding of the division
 * is the right one. What is refused here may still be a number.
 */
static bool read_usual(ms_str text, double *value_out)
{
    static const double powers[] = {1e0, 1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                    1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    bool negative = text.bytes > 0 && text.ptr[0] == '-';
    int64_t mantissa = 0;
    size_t point = text.bytes;
    size_t start = negative ? 1 : 0;
    if (text.bytes - start - 1 > 15) {
        return false; /* none, or too many */
    }
    for (size_t i = start; i < text.bytes; i++) {
        unsigned digit = (unsigned)(text.ptr[i] - '0');
        if (digit <= 9u) {
            mantissa = mantissa * 10 + (int64_t)digit;
        } else if (text.ptr[i] == '.' && point == text.bytes) {
            point = i;
        } else {
            return false;
        }
    }
    size_t fraction = point == text.bytes ? 0 : text.bytes - point - 1;
    size_t digits = text.bytes - start - (point != text.bytes);
    if (digits == 0 || digits > 15) {
        return false;
    }
    double value = (double)mantissa / powers[fraction];
    *value_out = negative ? -value : value;
    return true;
}

bool ms_text_parse_f64(ms_str text, double *value_out)
{
    if (read_usual(text, value_out)) {
        return true;
    }
    float_form form;
    double value = 0;
    if (!scan_float(text, &form)) {
        return false;
    }
    if (form.is_nan) {
        value = NAN;
    } else if (form.is_infinite) {
        value = INFINITY;
    } else if (!msi_shortest_read_f64(form.body.ptr, form.body.bytes, form.hex, &value)) {
        return false;
    }
    *value_out = form.negative ? -value : value;
    return true;
}

bool ms_text_parse_f32(ms_str text, float *value_out)
{
    float_form form;
    float value = 0;
    if (!scan_float(text, &form)) {
        return false;
    }
    if (form.is_nan) {
        value = NAN;
    } else if (form.is_infinite) {
        value = INFINITY;
    } else if (!msi_shortest_read_f32(form.body.ptr, form.body.bytes, form.hex, &value)) {
        return false;
    }
    *value_out = form.negative ? -value : value;
    return true;
}

/*
 * The first `keep` digits of the form behind its leading zeros, rounded by the one that follows:
 * half up needs no more than that one.
 */
static ms_i128 read_rounded(const char *at, const char *end, int64_t keep)
{
    ms_i128 value = 0;
    for (; at != end && keep >= 0; at++) {
        if (*at == '.') {
            continue;
        }
        if (keep == 0) {
            return value + (*at >= '5');
        }
        value = value * 10 + (*at - '0');
        keep--;
    }
    return keep > 0 ? value * ms_decimal_pow10[keep] : value;
}

ms_text_result ms_text_parse_decimal(ms_str text, int32_t precision, int32_t scale,
                                     ms_i128 *unscaled_out)
{
    if (text.bytes == 0) {
        return MS_TEXT_MALFORMED;
    }
    const char *at = text.ptr;
    const char *end = text.ptr + text.bytes;
    bool negative = *at == '-';
    if (*at == '-' || *at == '+') {
        at++;
    }
    number_form form;
    if (!scan_number(at, end, &form) || at + form.bytes != end || form.exponent > EXPONENT_MAX ||
        form.exponent < -EXPONENT_MAX) {
        return MS_TEXT_MALFORMED;
    }
    /* How many digits stand before the point once the exponent is applied and zeros are skipped. */
    int64_t whole = (int64_t)form.whole_count + form.exponent;
    const char *first = at;
    const char *digits_end = at + form.digit_bytes;
    for (; first != digits_end && (*first == '0' || *first == '.'); first++) {
        whole -= *first == '0';
    }
    int64_t keep = whole + scale;
    if (first == digits_end || keep < 0) {
        *unscaled_out = 0;
        return MS_TEXT_OK;
    }
    if (keep > precision) {
        return MS_TEXT_RANGE;
    }
    ms_i128 value = read_rounded(first, digits_end, keep);
    if (!ms_decimal_fits(value, precision)) {
        return MS_TEXT_RANGE;
    }
    *unscaled_out = negative ? -value : value;
    return MS_TEXT_OK;
}

ms_text_result ms_text_cast_decimal(ms_str text, int32_t precision, int32_t scale,
                                    ms_i128 *unscaled_out)
{
    return ms_text_parse_decimal(ms_str_trim(text), precision, scale, unscaled_out);
}

/* Without U+0020 at both ends, and no other blank. */
static ms_str trim_spaces(ms_str text)
{
    size_t start = 0;
    size_t end = text.bytes;
    while (start < end && text.ptr[start] == ' ') {
        start++;
    }
    while (end > start && text.ptr[end - 1] == ' ') {
        end--;
    }
    return ms_str_slice(text, start, end);
}

ms_text_result ms_text_cast_i64(ms_str text, int64_t min, int64_t max, int64_t *value_out)
{
    ms_str trimmed = trim_spaces(text);
    if (trimmed.bytes == 0) {
        return MS_TEXT_MALFORMED;
    }
    bool negative = trimmed.ptr[0] == '-';
    const char *at = trimmed.ptr + (negative || trimmed.ptr[0] == '+');
    const char *end = trimmed.ptr + trimmed.bytes;
    number_form form;
    if (!scan_number(at, end, &form) || form.digit_bytes != form.bytes || at + form.bytes != end) {
        return MS_TEXT_MALFORMED;
    }
    /* Collected as a negative number, of which there is one more. */
    int64_t value = 0;
    for (size_t i = 0; i < form.whole_count; i++) {
        if (__builtin_mul_overflow(value, INT64_C(10), &value) ||
            __builtin_sub_overflow(value, (int64_t)(at[i] - '0'), &value)) {
            return MS_TEXT_RANGE;
        }
    }
    if (!negative && __builtin_sub_overflow(INT64_C(0), value, &value)) {
        return MS_TEXT_RANGE;
    }
    if (value < min || value > max) {
        return MS_TEXT_RANGE;
    }
    *value_out = value;
    return MS_TEXT_OK;
}

bool ms_text_cast_bool(ms_str text, bool *value_out)
{
    static const char *const words[2][5] = {{"f", "false", "n", "no", "0"},
                                            {"t", "true", "y", "yes", "1"}};
    for (size_t i = 0; i < 10; i++) {
        if (ms_str_equals_nocase(text, ms_str_cstr(words[i / 5][i % 5]))) {
            *value_out = i / 5 == 1;
            return true;
        }
    }
    return false;
}
