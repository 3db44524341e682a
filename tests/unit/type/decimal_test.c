/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decimal arithmetic against long arithmetic on single digits, as it is done on paper: slow, and
 * with nothing in common with what it checks.
 */
#include "type/decimal.h"

#include "base/env.h"
#include "type/random_data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Paper arithmetic: digit i stands for digit * 10^i. */

#define PAPER_DIGITS 300

typedef struct paper {
    int digit[PAPER_DIGITS];
} paper;

static paper paper_of(ms_i128 v)
{
    paper p = {{0}};
    for (int i = 0; v != 0; i++) {
        int digit = (int)(v % 10);
        p.digit[i] = digit < 0 ? -digit : digit;
        v /= 10;
    }
    return p;
}

static int paper_count(const paper *p)
{
    int count = PAPER_DIGITS;
    while (count > 0 && p->digit[count - 1] == 0) {
        count--;
    }
    return count;
}

static paper paper_shift(const paper *p, int by)
{
    paper q = {{0}};
    for (int i = 0; i < PAPER_DIGITS; i++) {
        if (i - by >= 0 && i - by < PAPER_DIGITS) {
            q.digit[i] = p->digit[i - by];
        }
    }
    return q;
}

static int paper_compare(const paper *a, const paper *b)
{
    for (int i = PAPER_DIGITS - 1; i >= 0; i--) {
        if (a->digit[i] != b->digit[i]) {
            return a->digit[i] < b->digit[i] ? -1 : 1;
        }
    }
    return 0;
}

static void paper_normalize(paper *p)
{
    for (int i = 0; i + 1 < PAPER_DIGITS; i++) {
        while (p->digit[i] < 0) {
            p->digit[i] += 10;
            p->digit[i + 1]--;
        }
        p->digit[i + 1] += p->digit[i] / 10;
        p->digit[i] %= 10;
    }
}

static paper paper_add(const paper *a, const paper *b, int sign)
{
    paper sum = *a;
    for (int i = 0; i < PAPER_DIGITS; i++) {
        sum.digit[i] += sign * b->digit[i];
    }
    paper_normalize(&sum);
    return sum;
}

static paper paper_multiply(const paper *a, const paper *b)
{
    paper product = {{0}};
    for (int i = 0; i < PAPER_DIGITS / 2; i++) {
        for (int k = 0; k < PAPER_DIGITS / 2; k++) {
            product.digit[i + k] += a->digit[i] * b->digit[k];
        }
    }
    paper_normalize(&product);
    return product;
}

static paper paper_divide(const paper *a, const paper *b, paper *rest_out)
{
    paper quotient = {{0}};
    paper rest = {{0}};
    for (int i = paper_count(a) - 1; i >= 0; i--) {
        rest = paper_shift(&rest, 1);
        rest.digit[0] = a->digit[i];
        while (paper_compare(&rest, b) >= 0) {
            rest = paper_add(&rest, b, -1);
            quotient.digit[i]++;
        }
    }
    *rest_out = rest;
    return quotient;
}

/* Drops digits (or appends zeros), half up. */
static paper paper_round(const paper *p, int drop)
{
    paper q = paper_shift(p, -drop);
    if (drop > 0 && drop <= PAPER_DIGITS && p->digit[drop - 1] >= 5) {
        q.digit[0]++;
        paper_normalize(&q);
    }
    return q;
}

/* What an operation should have answered, for an exact magnitude at a scale. */
static void check(const paper *exact, bool negative, int exact_scale, int precision, int scale,
                  bool fits, ms_i128 got)
{
    paper rounded = paper_round(exact, exact_scale - scale);
    if (paper_count(&rounded) > precision) {
        assert_false(fits);
        return;
    }
    assert_true(fits);
    paper answer = paper_of(got);
    assert_int_equal(paper_compare(&answer, &rounded), 0);
    assert_true(got == 0 || (got < 0) == negative);
}

/* Operands: up to 38 digits, often few, often nines or powers of ten. */
static ms_decimal random_decimal(rnd *r)
{
    ms_decimal d = {0, (int32_t)rnd_below(r, 39)};
    int digits = 1 + (int)rnd_below(r, 38);
    uint32_t form = rnd_below(r, 4);
    for (int i = 0; i < digits; i++) {
        int digit = form == 0 ? 9 : form == 1 ? (i == 0) : (int)rnd_below(r, 10);
        d.unscaled = d.unscaled * 10 + digit;
    }
    d.unscaled = rnd_chance(r, 50) ? -d.unscaled : d.unscaled;
    d.scale = rnd_chance(r, 30) ? 2 : d.scale;
    return d;
}

typedef struct target {
    int32_t precision;
    int32_t scale;
} target;

static target random_target(rnd *r)
{
    target t;
    t.precision = rnd_chance(r, 50) ? 38 : 1 + (int32_t)rnd_below(r, 38);
    t.scale = (int32_t)rnd_below(r, (uint32_t)t.precision + 1);
    return t;
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

#define ROUNDS 4000

static void start(rnd *r, uint64_t seed)
{
    *r = (rnd){0};
    ms_env_random_init(&r->random, seed);
}

static void sums_are_exact_and_then_rounded(void **state)
{
    (void)state;
    rnd r;
    start(&r, 11);
    for (int i = 0; i < ROUNDS; i++) {
        ms_decimal a = random_decimal(&r);
        ms_decimal b = random_decimal(&r);
        bool minus = rnd_chance(&r, 50);
        target t = random_target(&r);
        ms_i128 got = 0;
        bool fits = minus ? ms_decimal_subtract(a, b, t.precision, t.scale, &got)
                          : ms_decimal_add(a, b, t.precision, t.scale, &got);
        int common = larger(a.scale, b.scale);
        paper x = paper_of(a.unscaled);
        paper y = paper_of(b.unscaled);
        x = paper_shift(&x, common - a.scale);
        y = paper_shift(&y, common - b.scale);
        bool negative_b = (b.unscaled < 0) != minus;
        bool negative = a.unscaled < 0;
        paper sum;
        if ((a.unscaled < 0) == negative_b) {
            sum = paper_add(&x, &y, 1);
        } else if (paper_compare(&x, &y) >= 0) {
            sum = paper_add(&x, &y, -1);
        } else {
            sum = paper_add(&y, &x, -1);
            negative = negative_b;
        }
        check(&sum, negative, common, t.precision, t.scale, fits, got);
    }
}

static void products_are_exact_and_then_rounded(void **state)
{
    (void)state;
    rnd r;
    start(&r, 12);
    for (int i = 0; i < ROUNDS / 4; i++) {
        ms_decimal a = random_decimal(&r);
        ms_decimal b = random_decimal(&r);
        target t = random_target(&r);
        ms_i128 got = 0;
        bool fits = ms_decimal_multiply(a, b, t.precision, t.scale, &got);
        paper x = paper_of(a.unscaled);
        paper y = paper_of(b.unscaled);
        paper product = paper_multiply(&x, &y);
        check(&product, (a.unscaled < 0) != (b.unscaled < 0), a.scale + b.scale, t.precision,
              t.scale, fits, got);
    }
}

static void quotients_have_38_digits_and_are_then_rounded(void **state)
{
    (void)state;
    rnd r;
    start(&r, 13);
    for (int i = 0; i < ROUNDS / 2; i++) {
        ms_decimal a = random_decimal(&r);
        ms_decimal b = random_decimal(&r);
        target t = random_target(&r);
        if (b.unscaled == 0) {
            continue;
        }
        ms_i128 got = 0;
        bool fits = ms_decimal_divide(a, b, t.precision, t.scale, &got);
        paper x = paper_of(a.unscaled);
        paper y = paper_of(b.unscaled);
        paper rest;
        int power = 120; /* enough for 38 digits of any quotient, and the one that rounds */
        x = paper_shift(&x, power);
        paper quotient = paper_divide(&x, &y, &rest);
        int drop = paper_count(&quotient) - 38;
        paper significant = drop > 0 ? paper_round(&quotient, drop) : quotient;
        int scale = a.scale - b.scale + power - (drop > 0 ? drop : 0);
        check(&significant, (a.unscaled < 0) != (b.unscaled < 0), scale, t.precision, t.scale, fits,
              got);
    }
}

static void remainders_have_the_sign_of_the_dividend(void **state)
{
    (void)state;
    rnd r;
    start(&r, 14);
    for (int i = 0; i < ROUNDS / 2; i++) {
        ms_decimal a = random_decimal(&r);
        ms_decimal b = random_decimal(&r);
        target t = random_target(&r);
        if (b.unscaled == 0) {
            continue;
        }
        ms_i128 got = 0;
        bool fits = ms_decimal_modulo(a, b, t.precision, t.scale, &got);
        int common = larger(a.scale, b.scale);
        paper x = paper_of(a.unscaled);
        paper y = paper_of(b.unscaled);
        paper rest;
        x = paper_shift(&x, common - a.scale);
        y = paper_shift(&y, common - b.scale);
        (void)paper_divide(&x, &y, &rest);
        check(&rest, a.unscaled < 0, common, t.precision, t.scale, fits, got);
    }
}

static void rescaling_rounds_half_up(void **state)
{
    (void)state;
    rnd r;
    start(&r, 15);
    for (int i = 0; i < ROUNDS; i++) {
        ms_decimal a = random_decimal(&r);
        target t = random_target(&r);
        ms_i128 got = 0;
        bool fits = ms_decimal_rescale(a, t.precision, t.scale, &got);
        paper x = paper_of(a.unscaled);
        check(&x, a.unscaled < 0, a.scale, t.precision, t.scale, fits, got);
    }
    ms_i128 got = 7;
    assert_true(ms_decimal_rescale((ms_decimal){-5, 1}, 5, 0, &got));
    assert_true(got == -1);
    assert_true(ms_decimal_rescale((ms_decimal){4, 1000000}, 5, 0, &got));
    assert_true(got == 0);
    assert_true(ms_decimal_rescale((ms_decimal){0, -1000000}, 5, 0, &got));
    assert_true(got == 0);
    got = 7;
    assert_false(ms_decimal_rescale((ms_decimal){1, -38}, 38, 0, &got));
    assert_true(got == 7);
}

static void comparison_is_by_value(void **state)
{
    (void)state;
    rnd r;
    start(&r, 16);
    for (int i = 0; i < ROUNDS; i++) {
        ms_decimal a = random_decimal(&r);
        ms_decimal b = random_decimal(&r);
        if (rnd_chance(&r, 30) && ms_decimal_digits(a.unscaled) < 30 && a.scale < 30) {
            b = (ms_decimal){a.unscaled * 10000 + (int)rnd_below(&r, 2), a.scale + 4};
        }
        int common = larger(a.scale, b.scale);
        paper x = paper_of(a.unscaled);
        paper y = paper_of(b.unscaled);
        x = paper_shift(&x, common - a.scale);
        y = paper_shift(&y, common - b.scale);
        int order = paper_compare(&x, &y);
        if ((a.unscaled < 0) != (b.unscaled < 0)) {
            order = a.unscaled < 0 ? -1 : 1;
        } else if (a.unscaled < 0) {
            order = -order;
        }
        if (a.unscaled == 0 && b.unscaled == 0) {
            order = 0;
        }
        assert_int_equal(ms_decimal_compare(a, b), order);
    }
}

static void digits_are_counted(void **state)
{
    (void)state;
    assert_int_equal(ms_decimal_digits(0), 1);
    for (int digits = 1; digits <= 38; digits++) {
        ms_i128 power = ms_decimal_pow10[digits - 1];
        assert_int_equal(ms_decimal_digits(power), digits);
        assert_int_equal(ms_decimal_digits(-(power * 9 + (power - 1))), digits);
        if (digits <= 18) {
            assert_true(power == ms_decimal_pow10_i64[digits - 1]);
        }
        assert_true(ms_decimal_fits(power, digits));
        assert_false(digits > 1 && ms_decimal_fits(-power, digits - 1));
    }
    assert_int_equal(ms_decimal_round_i64(25, 1), 3);
    assert_int_equal(ms_decimal_round_i64(-25, 1), -3);
    assert_int_equal(ms_decimal_round_i64(24, 1), 2);
    assert_int_equal(ms_decimal_round_i64(-7, 0), -7);
}

static void integers_are_cut_and_wrapped(void **state)
{
    (void)state;
    int64_t value = 0;
    assert_int_equal(ms_decimal_to_i64_wrapping((ms_decimal){9123587, 2}), 91235);
    assert_int_equal(ms_decimal_to_i64_wrapping((ms_decimal){-199, 2}), -1);
    assert_true(ms_decimal_to_i64((ms_decimal){-199, 2}, &value));
    assert_int_equal(value, -1);
    ms_i128 large = ((ms_i128)1 << 64) + 5;
    assert_int_equal(ms_decimal_to_i64_wrapping((ms_decimal){large, 0}), 5);
    assert_false(ms_decimal_to_i64((ms_decimal){large, 0}, &value));
    ms_i128 unscaled = 0;
    assert_true(ms_decimal_from_i64(12, 4, 2, &unscaled));
    assert_true(unscaled == 1200);
    assert_false(ms_decimal_from_i64(123, 4, 2, &unscaled));
}

static void doubles_become_their_shortest_digits(void **state)
{
    (void)state;
    ms_i128 unscaled = 0;
    assert_true(ms_decimal_from_double(0.285, 10, 2, &unscaled)); /* the binary value is below */
    assert_true(unscaled == 29);
    assert_true(ms_decimal_from_double(-1e20, 38, 2, &unscaled));
    assert_true(unscaled == -ms_decimal_pow10[22]);
    assert_true(ms_decimal_from_double(1e-300, 38, 38, &unscaled));
    assert_true(unscaled == 0);
    assert_false(ms_decimal_from_double(1e300, 38, 0, &unscaled));
    assert_false(ms_decimal_from_double(NAN, 38, 0, &unscaled));
    assert_false(ms_decimal_from_double(-INFINITY, 38, 0, &unscaled));
    assert_true(ms_decimal_from_double(0.0, 1, 0, &unscaled));
    assert_true(unscaled == 0);
}

static void decimals_become_the_nearest_double(void **state)
{
    (void)state;
    assert_true(ms_decimal_to_double((ms_decimal){-150, 2}) == -1.5);
    assert_true(ms_decimal_to_double((ms_decimal){1, 38}) == 1e-38);
    assert_true(ms_decimal_to_double((ms_decimal){ms_decimal_pow10[37], 0}) == 1e37);
    rnd r;
    start(&r, 17);
    for (int i = 0; i < ROUNDS; i++) {
        ms_decimal a = random_decimal(&r);
        char text[64];
        paper p = paper_of(a.unscaled);
        int bytes = 0;
        text[bytes++] = a.unscaled < 0 ? '-' : '+';
        for (int k = 39; k >= 0; k--) {
            text[bytes++] = (char)('0' + p.digit[k]);
        }
        snprintf(text + bytes, sizeof(text) - (size_t)bytes, "e-%d", a.scale);
        assert_true(ms_decimal_to_double(a) == strtod(text, NULL));
    }
}

static void assert_bytes(ms_i128 v, const char *bytes, size_t count)
{
    char out[MS_DECIMAL_BYTES_MAX];
    assert_int_equal(ms_decimal_to_bytes(v, out), count);
    assert_memory_equal(out, bytes, count);
}

static void bytes_are_the_shortest_twos_complement(void **state)
{
    (void)state;
    assert_bytes(0, "\x00", 1);
    assert_bytes(127, "\x7f", 1);
    assert_bytes(128, "\x00\x80", 2);
    assert_bytes(-128, "\x80", 1);
    assert_bytes(-129, "\xff\x7f", 2);
    assert_bytes(12345, "\x30\x39", 2);
    assert_bytes(-1, "\xff", 1);
    rnd r;
    start(&r, 18);
    for (int i = 0; i < ROUNDS; i++) {
        ms_decimal a = random_decimal(&r);
        char out[MS_DECIMAL_BYTES_MAX];
        size_t bytes = ms_decimal_to_bytes(a.unscaled, out);
        ms_i128 got = 0;
        assert_true(ms_decimal_from_bytes(ms_str_make(out, bytes), a.scale, 38, a.scale, &got));
        assert_true(got == a.unscaled);
        /* Redundant sign bytes are read too. */
        char wide[MS_DECIMAL_READ_BYTES];
        memset(wide, a.unscaled < 0 ? 0xFF : 0, sizeof(wide));
        memcpy(wide + sizeof(wide) - bytes, out, bytes);
        got = 0;
        assert_true(
            ms_decimal_from_bytes(ms_str_make(wide, sizeof(wide)), a.scale, 38, a.scale, &got));
        assert_true(got == a.unscaled);
    }
}

static void long_byte_values_are_rescaled_or_refused(void **state)
{
    (void)state;
    ms_i128 got = 3;
    /* 2^200 at scale 30: 1606938044258990275541962092341.16.. */
    char bytes[26] = {1};
    assert_true(ms_decimal_from_bytes(ms_str_make(bytes, 26), 30, 38, 2, &got));
    ms_i128 expected = (ms_i128)INT64_C(1606938044258990275) * 1000000000000 + 541962092341;
    assert_true(got == expected * 100 + 16);
    assert_false(ms_decimal_from_bytes(ms_str_make(bytes, 26), 0, 38, 0, &got));
    assert_false(ms_decimal_from_bytes(ms_str_make(bytes, 0), 0, 38, 0, &got));
    char longer[33] = {0};
    assert_false(ms_decimal_from_bytes(ms_str_make(longer, 33), 0, 38, 0, &got));
    /* The largest magnitude, and scales without end. */
    char most[32];
    memset(most, 0x7F, sizeof(most));
    assert_true(ms_decimal_from_bytes(ms_str_make(most, 32), INT32_MAX, 38, 0, &got));
    assert_true(got == 0);
    assert_false(ms_decimal_from_bytes(ms_str_make(most, 32), INT32_MIN, 38, 0, &got));
    most[0] = (char)0x80;
    assert_true(ms_decimal_from_bytes(ms_str_make(most, 32), 77, 38, 0, &got));
    assert_true(got == -1); /* -5.75e76 over 10^77 rounds up */
    assert_true(ms_decimal_from_bytes(ms_str_make(most, 32), 78, 38, 0, &got));
    assert_true(got == 0);
    /* The connector's own example: 999.995 does not fit DECIMAL(5, 2) after its carry. */
    char carry[4];
    size_t count = ms_decimal_to_bytes(999995, carry);
    assert_false(ms_decimal_from_bytes(ms_str_make(carry, count), 3, 5, 2, &got));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_exact_and_then_rounded),
        cmocka_unit_test(products_are_exact_and_then_rounded),
        cmocka_unit_test(quotients_have_38_digits_and_are_then_rounded),
        cmocka_unit_test(remainders_have_the_sign_of_the_dividend),
        cmocka_unit_test(rescaling_rounds_half_up),
        cmocka_unit_test(comparison_is_by_value),
        cmocka_unit_test(digits_are_counted),
        cmocka_unit_test(integers_are_cut_and_wrapped),
        cmocka_unit_test(doubles_become_their_shortest_digits),
        cmocka_unit_test(decimals_become_the_nearest_double),
        cmocka_unit_test(bytes_are_the_shortest_twos_complement),
        cmocka_unit_test(long_byte_values_are_rescaled_or_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
