/* SPDX-License-Identifier: Apache-2.0 */
#include "type/text.h"

#include "type/random_data.h"

#include <stdio.h>
#include <stdlib.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void start(rnd *r, uint64_t seed)
{
    *r = (rnd){0};
    ms_env_random_init(&r->random, seed);
}

static void assert_text(const char *got, size_t bytes, const char *expected)
{
    if (bytes != strlen(expected) || memcmp(got, expected, bytes) != 0) {
        fail_msg("got \"%.*s\", not \"%s\"", (int)bytes, got, expected);
    }
}

/* Integers. */

static void integers_print_and_come_back(void **state)
{
    (void)state;
    rnd r;
    start(&r, 1);
    for (int i = 0; i < 100000; i++) {
        int64_t value = rnd_i64(&r);
        char text[MS_TEXT_I64_BYTES];
        char expected[32];
        snprintf(expected, sizeof(expected), "%lld", (long long)value);
        size_t bytes = ms_text_i64(text, value);
        assert_text(text, bytes, expected);
        int64_t back = 0;
        assert_true(ms_text_parse_i64(ms_str_make(text, bytes), &back));
        assert_int_equal(back, value);
        snprintf(expected, sizeof(expected), "%llu", (unsigned long long)value);
        assert_text(text, ms_text_u64(text, (uint64_t)value), expected);
    }
    for (int64_t power = 1; power <= INT64_MAX / 10; power *= 10) {
        char text[MS_TEXT_I64_BYTES];
        char expected[32];
        snprintf(expected, sizeof(expected), "%lld", (long long)power - 1);
        assert_text(text, ms_text_i64(text, power - 1), expected);
        snprintf(expected, sizeof(expected), "%lld", (long long)power);
        assert_text(text, ms_text_i64(text, power), expected);
    }
}

static void integers_are_strict(void **state)
{
    (void)state;
    int64_t value = 5;
    static const char *const bad[] = {"",
                                      "+",
                                      "-",
                                      " 1",
                                      "1 ",
                                      "1.0",
                                      "0x1",
                                      "1e3",
                                      "--1",
                                      "+-1",
                                      "1a2b",
                                      "9223372036854775808",
                                      "-9223372036854775809",
                                      "99999999999999999999999",
                                      "12:"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(ms_text_parse_i64(ms_str_cstr(bad[i]), &value));
        assert_int_equal(value, 5);
    }
    assert_true(ms_text_parse_i64(ms_str_lit("-9223372036854775808"), &value));
    assert_true(value == INT64_MIN);
    assert_true(ms_text_parse_i64(ms_str_lit("+9223372036854775807"), &value));
    assert_true(value == INT64_MAX);
    assert_true(ms_text_parse_i64(ms_str_lit("-007"), &value));
    assert_int_equal(value, -7);
    assert_true(ms_text_parse_i64(ms_str_lit("00000000000000000000012"), &value));
    assert_int_equal(value, 12);
}

/* Floating-point numbers. */

static void doubles_have_the_layout_of_java(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {
        {0.0, "0.0"},
        {-0.0, "-0.0"},
        {1.0, "1.0"},
        {-1.5, "-1.5"},
        {100.0, "100.0"},
        {9999999.0, "9999999.0"},
        {1e7, "1.0E7"},
        {12345678.9, "1.23456789E7"},
        {1e10, "1.0E10"},
        {1e-3, "0.001"},
        {1e-4, "1.0E-4"},
        {9.99e-4, "9.99E-4"},
        {1e-5, "1.0E-5"},
        {0.1, "0.1"},
        {12345.678901, "12345.678901"},
        {-123.456, "-123.456"},
        {1e21, "1.0E21"},
        {2e-3, "0.002"}, /* Java 18 and earlier print the next ones longer */
        {2.0e23, "2.0E23"},
        {2.2250738585072014E-308, "2.2250738585072014E-308"},
        {-2.2250738585072014E-308, "-2.2250738585072014E-308"},
        {4.9e-324, "4.9E-324"},
        {1.7976931348623157e308, "1.7976931348623157E308"},
        {9007199254740993.0, "9.007199254740992E15"},
        {123456.7, "123456.7"},
        {NAN, "NaN"},
        {INFINITY, "Infinity"},
        {-INFINITY, "-Infinity"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[MS_TEXT_F64_BYTES];
        assert_text(text, ms_text_f64(text, cases[i].value), cases[i].text);
    }
}

static void floats_have_digits_of_their_own(void **state)
{
    (void)state;
    static const struct {
        float value;
        const char *text;
    } cases[] = {
        {0.1f, "0.1"},
        {1.7f, "1.7"},
        {1e10f, "1.0E10"},
        {3.4028235e38f, "3.4028235E38"},
        {1.4e-45f, "1.4E-45"},
        {-1.17549435E-38f, "-1.1754944E-38"},
        {16777216.0f, "1.6777216E7"},
        {0.0f, "0.0"},
        {-0.0f, "-0.0"},
        {-INFINITY, "-Infinity"},
        {0.001f, "0.001"},
        {33554432.0f, "3.3554432E7"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[MS_TEXT_F32_BYTES];
        assert_text(text, ms_text_f32(text, cases[i].value), cases[i].text);
    }
}

/* The double or float of random bits. */
static double random_f64(rnd *r)
{
    uint64_t bits = ms_env_random_next(&r->random);
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static float random_f32(rnd *r)
{
    uint32_t bits = (uint32_t)ms_env_random_next(&r->random);
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static void shortest_texts_come_back_bit_by_bit(void **state)
{
    (void)state;
    rnd r;
    start(&r, 2);
    for (int i = 0; i < 100000; i++) {
        double value = i % 2 == 0 ? random_f64(&r) : rnd_double(&r);
        char text[MS_TEXT_F64_BYTES];
        size_t bytes = ms_text_f64(text, value);
        assert_true(bytes <= MS_TEXT_F64_BYTES);
        double back = 0;
        assert_true(ms_text_parse_f64(ms_str_make(text, bytes), &back));
        assert_true(memcmp(&back, &value, sizeof(back)) == 0 || (isnan(back) && isnan(value)));
        float f = random_f32(&r);
        bytes = ms_text_f32(text, f);
        assert_true(bytes <= MS_TEXT_F32_BYTES);
        float f_back = 0;
        assert_true(ms_text_parse_f32(ms_str_make(text, bytes), &f_back));
        assert_true(memcmp(&f_back, &f, sizeof(f)) == 0 || (isnan(f_back) && isnan(f)));
    }
}

/* The digits of a number's text, without sign, point, exponent and zeros at both ends. */
static size_t bare_digits(const char *text, size_t bytes, char *digits)
{
    size_t count = 0;
    for (size_t i = 0; i < bytes && text[i] != 'e' && text[i] != 'E'; i++) {
        bool digit = text[i] >= '0' && text[i] <= '9';
        if (digit && (count > 0 || text[i] != '0')) {
            digits[count++] = text[i];
        }
    }
    while (count > 0 && digits[count - 1] == '0') {
        count--;
    }
    return count;
}

/* The C library is asked for more and more digits until they read back as the number. */
static void no_shorter_text_reads_back(void **state)
{
    (void)state;
    rnd r;
    start(&r, 5);
    for (int i = 0; i < 30000; i++) {
        double value = i % 3 == 0   ? random_f64(&r)
                       : i % 3 == 1 ? (double)(rnd_i64(&r) % 10000000000) / 1e6
                                    : (double)(rnd_i64(&r) % 100000) / (1 + rnd_below(&r, 999));
        if (!isfinite(value) || fabs(value) < 1e-300) {
            continue;
        }
        char expected[40];
        int bytes = 0;
        for (int precision = 0; precision <= 16; precision++) {
            bytes = snprintf(expected, sizeof(expected), "%.*e", precision, value);
            if (strtod(expected, NULL) == value) {
                break;
            }
        }
        char text[MS_TEXT_F64_BYTES];
        size_t text_bytes = ms_text_f64(text, value);
        char a[40];
        char b[40];
        size_t a_count = bare_digits(text, text_bytes, a);
        size_t b_count = bare_digits(expected, (size_t)bytes, b);
        if (a_count != b_count || memcmp(a, b, a_count) != 0) {
            fail_msg("%.*s is not the shortest for %s", (int)text_bytes, text, expected);
        }
    }
}

/* Texts of all lengths and exponents, read as the C library reads them. */
static void texts_are_read_to_the_nearest_number(void **state)
{
    (void)state;
    rnd r;
    start(&r, 3);
    for (int i = 0; i < 50000; i++) {
        char text[100];
        size_t bytes = 0;
        if (rnd_chance(&r, 40)) {
            text[bytes++] = rnd_chance(&r, 50) ? '-' : '+';
        }
        int digits = 1 + (int)rnd_below(&r, rnd_chance(&r, 70) ? 18 : 40);
        int point = rnd_chance(&r, 60) ? (int)rnd_below(&r, (uint32_t)digits + 1) : -1;
        for (int d = 0; d < digits; d++) {
            if (d == point) {
                text[bytes++] = '.';
            }
            text[bytes++] = (char)('0' + rnd_below(&r, 10));
        }
        if (rnd_chance(&r, 60)) {
            int exponent = (int)rnd_below(&r, rnd_chance(&r, 70) ? 40 : 800);
            bytes += (size_t)snprintf(text + bytes, 20, "%c%s%d", rnd_chance(&r, 50) ? 'e' : 'E',
                                      rnd_chance(&r, 50) ? "-" : "", exponent);
        }
        text[bytes] = '\0';
        double expected = strtod(text, NULL);
        double got = 0;
        assert_true(ms_text_parse_f64(ms_str_make(text, bytes), &got));
        if (memcmp(&got, &expected, sizeof(got)) != 0) {
            fail_msg("%s: %a, not %a", text, got, expected);
        }
        float expected_f = strtof(text, NULL);
        float got_f = 0;
        assert_true(ms_text_parse_f32(ms_str_make(text, bytes), &got_f));
        if (memcmp(&got_f, &expected_f, sizeof(got_f)) != 0) {
            fail_msg("%s: %a, not %a", text, (double)got_f, (double)expected_f);
        }
    }
}

static void forms_of_java_are_taken(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        double value;
    } cases[] = {
        {"1", 1},
        {"1.", 1},
        {".5", 0.5},
        {" \t1e3\n", 1000},
        {"1d", 1},
        {"1.5F", 1.5},
        {"1e2D", 100},
        {"0x1p3", 8},
        {"0X1.8P1", 3},
        {"-0x.8p0f", -0.5},
        {"Infinity", INFINITY},
        {"-Infinity", -INFINITY},
        {"+NaN", NAN},
        {"1e400", INFINITY},
        {"-1e400", -INFINITY},
        {"1e-400", 0},
        {"0e999999999999999999999", 0},
        {"1e999999999999999999999", INFINITY},
        {"1e-999999999999999999999", 0},
        {"0x1p99999", INFINITY},
        {"0x1p-99999", 0},
        {"0xdp0", 13},
        {"0000000000000000000000000001", 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        double got = 5;
        if (!ms_text_parse_f64(ms_str_cstr(cases[i].text), &got)) {
            fail_msg("%s was refused", cases[i].text);
        }
        assert_true(got == cases[i].value || (isnan(got) && isnan(cases[i].value)));
        float got_f = 5;
        assert_true(ms_text_parse_f32(ms_str_cstr(cases[i].text), &got_f));
    }
    static const char *const bad[] = {
        "",         " ",     "+",   ".",     "e5",   "1e",    "1e+",   "nan",      "inf",
        "infinity", "0x1",   "0x",  "0xp1",  "0x1p", "1 2",   "1,5",   "--1",      "1dd",
        "NaNd",     "1e5.5", "+-1", "0x1.8", "d",    "1_000", "0x1p+", "Infinityf"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        double got = 5;
        if (ms_text_parse_f64(ms_str_cstr(bad[i]), &got)) {
            fail_msg("%s was taken", bad[i]);
        }
        assert_true(got == 5);
    }
    /* A NUL is no suffix and no blank at the wrong place. */
    double got = 5;
    assert_false(ms_text_parse_f64(ms_str_make("1\0002", 3), &got));
}

static void ranges_are_left_on_the_right_side(void **state)
{
    (void)state;
    /* Thousands of zeros before or behind the point, without and against an exponent. */
    static char text[12000];
    double got = 5;
    memset(text, '0', sizeof(text));
    text[1] = '.';
    text[6000] = '1';
    assert_true(ms_text_parse_f64(ms_str_make(text, 6001), &got));
    assert_true(got == 0);
    memcpy(text + 6001, "e5999", 5);
    assert_true(ms_text_parse_f64(ms_str_make(text, 6006), &got));
    assert_true(got == 1.0);
    memcpy(text + 6001, "e9999", 5);
    assert_true(ms_text_parse_f64(ms_str_make(text, 6006), &got));
    assert_true(isinf(got));
    memset(text, '0', sizeof(text));
    text[0] = '1';
    assert_true(ms_text_parse_f64(ms_str_make(text, 6000), &got));
    assert_true(isinf(got));
    memcpy(text + 6000, "e-9999", 6);
    assert_true(ms_text_parse_f64(ms_str_make(text, 6006), &got));
    assert_true(got == 0);
    float f = 5;
    assert_true(ms_text_parse_f32(ms_str_lit("1e39"), &f));
    assert_true(isinf(f));
    assert_true(ms_text_parse_f32(ms_str_lit("1e-50"), &f));
    assert_true(f == 0);
}

/* Decimals. */

static ms_i128 i128_of(const char *digits)
{
    ms_i128 value = 0;
    bool negative = digits[0] == '-';
    for (const char *at = digits + negative; *at != '\0'; at++) {
        value = value * 10 + (*at - '0');
    }
    return negative ? -value : value;
}

static void decimals_print_in_three_layouts(void **state)
{
    (void)state;
    static const struct {
        const char *unscaled;
        int32_t scale;
        const char *plain;
        const char *java;
        const char *stripped;
        const char *stripped_plain;
    } cases[] = {
        {"9870", 3, "9.870", "9.870", "9.87", "9.87"},
        {"5", 2, "0.05", "0.05", "0.05", "0.05"},
        {"-5", 2, "-0.05", "-0.05", "-0.05", "-0.05"},
        {"-12", 0, "-12", "-12", "-12", "-12"},
        {"0", 0, "0", "0", "0", "0"},
        {"0", 2, "0.00", "0.00", "0", "0"},
        {"0", 10, "0.0000000000", "0E-10", "0", "0"},
        {"100", 0, "100", "100", "1E+2", "100"},
        {"510", 2, "5.10", "5.10", "5.1", "5.1"},
        {"1", 7, "0.0000001", "1E-7", "1E-7", "0.0000001"},
        {"1", 6, "0.000001", "0.000001", "0.000001", "0.000001"},
        {"123", 10, "0.0000000123", "1.23E-8", "1.23E-8", "0.0000000123"},
        {"12000", 1, "1200.0", "1200.0", "1.2E+3", "1200"},
        {"99999999999999999999999999999999999999", 0, "99999999999999999999999999999999999999",
         "99999999999999999999999999999999999999", "99999999999999999999999999999999999999",
         "99999999999999999999999999999999999999"},
        {"-10000000000000000000000000000000000000", 38, "-0.10000000000000000000000000000000000000",
         "-0.10000000000000000000000000000000000000", "-0.1", "-0.1"},
        {"10000000000000000000", 0, "10000000000000000000", "10000000000000000000", "1E+19",
         "10000000000000000000"},
        {"100000000000000000000000000000000000001", 38, "1.00000000000000000000000000000000000001",
         "1.00000000000000000000000000000000000001", "1.00000000000000000000000000000000000001",
         "1.00000000000000000000000000000000000001"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[MS_TEXT_DECIMAL_BYTES];
        ms_i128 value = i128_of(cases[i].unscaled);
        int32_t scale = cases[i].scale;
        assert_text(text, ms_text_decimal(text, value, scale), cases[i].plain);
        assert_text(text, ms_text_decimal_java(text, value, scale), cases[i].java);
        assert_text(text, ms_text_decimal_stripped(text, value, scale, false), cases[i].stripped);
        assert_text(text, ms_text_decimal_stripped(text, value, scale, true),
                    cases[i].stripped_plain);
    }
}

static void decimals_come_back_from_all_layouts(void **state)
{
    (void)state;
    rnd r;
    start(&r, 4);
    for (int i = 0; i < 50000; i++) {
        ms_i128 value = rnd_i128(&r) % ms_decimal_pow10[38];
        int32_t scale = (int32_t)rnd_below(&r, 39);
        char text[4][MS_TEXT_DECIMAL_BYTES];
        size_t bytes[4];
        bytes[0] = ms_text_decimal(text[0], value, scale);
        bytes[1] = ms_text_decimal_java(text[1], value, scale);
        bytes[2] = ms_text_decimal_stripped(text[2], value, scale, false);
        bytes[3] = ms_text_decimal_stripped(text[3], value, scale, true);
        for (int k = 0; k < 4; k++) {
            assert_true(bytes[k] <= MS_TEXT_DECIMAL_BYTES);
            ms_i128 back = 0;
            assert_int_equal(
                ms_text_parse_decimal(ms_str_make(text[k], bytes[k]), 38, scale, &back),
                MS_TEXT_OK);
            assert_true(back == value);
        }
        /* Reading at another scale is rescaling. */
        int32_t precision = 1 + (int32_t)rnd_below(&r, 38);
        int32_t to_scale = (int32_t)rnd_below(&r, (uint32_t)precision + 1);
        ms_i128 expected = 0;
        ms_i128 got = 0;
        bool fits = ms_decimal_rescale((ms_decimal){value, scale}, precision, to_scale, &expected);
        ms_text_result result =
            ms_text_parse_decimal(ms_str_make(text[1], bytes[1]), precision, to_scale, &got);
        assert_int_equal(result, fits ? MS_TEXT_OK : MS_TEXT_RANGE);
        assert_true(!fits || got == expected);
    }
}

static void decimal_texts_are_rounded_or_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        ms_text_result result;
        int64_t unscaled;
    } cases[] = {
        {"1", MS_TEXT_OK, 100},
        {"+1.5", MS_TEXT_OK, 150},
        {".005", MS_TEXT_OK, 1},
        {"0.00499999999999999999999999999999999999", MS_TEXT_OK, 0},
        {"-0.005", MS_TEXT_OK, -1},
        {"1e2", MS_TEXT_OK, 10000},
        {"1E-2", MS_TEXT_OK, 1},
        {"5e-3", MS_TEXT_OK, 1},
        {"999.994", MS_TEXT_OK, 99999},
        {"999.995", MS_TEXT_RANGE, 0},
        {"1000", MS_TEXT_RANGE, 0},
        {"0001.1", MS_TEXT_OK, 110},
        {"0e2147483647", MS_TEXT_OK, 0},
        {"1e2147483647", MS_TEXT_RANGE, 0},
        {"1e-2147483647", MS_TEXT_OK, 0},
        {"1e2147483648", MS_TEXT_MALFORMED, 0},
        {"1e-2147483648", MS_TEXT_MALFORMED, 0},
        {"0.000001e6", MS_TEXT_OK, 100},
        {"", MS_TEXT_MALFORMED, 0},
        {"-", MS_TEXT_MALFORMED, 0},
        {".", MS_TEXT_MALFORMED, 0},
        {"1..2", MS_TEXT_MALFORMED, 0},
        {" 1", MS_TEXT_MALFORMED, 0},
        {"1 ", MS_TEXT_MALFORMED, 0},
        {"1e", MS_TEXT_MALFORMED, 0},
        {"NaN", MS_TEXT_MALFORMED, 0},
        {"0x10", MS_TEXT_MALFORMED, 0},
        {"1,0", MS_TEXT_MALFORMED, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ms_i128 got = 7;
        ms_text_result result = ms_text_parse_decimal(ms_str_cstr(cases[i].text), 5, 2, &got);
        if (result != cases[i].result) {
            fail_msg("%s: %d", cases[i].text, (int)result);
        }
        assert_true(got == (result == MS_TEXT_OK ? cases[i].unscaled : 7));
    }
    ms_i128 got = 0;
    assert_int_equal(ms_text_cast_decimal(ms_str_lit(" \t1.25\n"), 5, 1, &got), MS_TEXT_OK);
    assert_true(got == 13);
}

/* Casts. */

static void casts_to_integers_cut_the_fraction(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        ms_text_result result;
        int64_t value;
    } cases[] = {
        {"127", MS_TEXT_OK, 127},       {"-128", MS_TEXT_OK, -128},
        {"128", MS_TEXT_RANGE, 0},      {"-129", MS_TEXT_RANGE, 0},
        {" 12 ", MS_TEXT_OK, 12},       {"1.234", MS_TEXT_OK, 1},
        {"-1.9", MS_TEXT_OK, -1},       {"1.", MS_TEXT_OK, 1},
        {".9", MS_TEXT_OK, 0},          {"+5", MS_TEXT_OK, 5},
        {"1.2x", MS_TEXT_MALFORMED, 0}, {"1e2", MS_TEXT_MALFORMED, 0},
        {"", MS_TEXT_MALFORMED, 0},     {"  ", MS_TEXT_MALFORMED, 0},
        {"-", MS_TEXT_MALFORMED, 0},    {".", MS_TEXT_MALFORMED, 0},
        {"0x1", MS_TEXT_MALFORMED, 0},  {"99999999999999999999999", MS_TEXT_RANGE, 0},
        {"1 2", MS_TEXT_MALFORMED, 0},  {"\t12\n", MS_TEXT_MALFORMED, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t got = 77;
        ms_text_result result = ms_text_cast_i64(ms_str_cstr(cases[i].text), -128, 127, &got);
        if (result != cases[i].result) {
            fail_msg("%s: %d", cases[i].text, (int)result);
        }
        assert_int_equal(got, result == MS_TEXT_OK ? cases[i].value : 77);
    }
    int64_t got = 0;
    assert_int_equal(
        ms_text_cast_i64(ms_str_lit("-9223372036854775808"), INT64_MIN, INT64_MAX, &got),
        MS_TEXT_OK);
    assert_true(got == INT64_MIN);
    assert_int_equal(
        ms_text_cast_i64(ms_str_lit("9223372036854775808"), INT64_MIN, INT64_MAX, &got),
        MS_TEXT_RANGE);
}

static void casts_to_boolean_take_ten_words(void **state)
{
    (void)state;
    static const char *const yes[] = {"t", "TRUE", "y", "Yes", "1"};
    static const char *const no[] = {"f", "False", "N", "no", "0"};
    static const char *const bad[] = {"", " true", "tr", "2", "on"};
    for (size_t i = 0; i < 5; i++) {
        bool value = false;
        assert_true(ms_text_cast_bool(ms_str_cstr(yes[i]), &value));
        assert_true(value);
        assert_true(ms_text_cast_bool(ms_str_cstr(no[i]), &value));
        assert_false(value);
        assert_false(ms_text_cast_bool(ms_str_cstr(bad[i]), &value));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_print_and_come_back),
        cmocka_unit_test(integers_are_strict),
        cmocka_unit_test(doubles_have_the_layout_of_java),
        cmocka_unit_test(floats_have_digits_of_their_own),
        cmocka_unit_test(shortest_texts_come_back_bit_by_bit),
        cmocka_unit_test(no_shorter_text_reads_back),
        cmocka_unit_test(texts_are_read_to_the_nearest_number),
        cmocka_unit_test(forms_of_java_are_taken),
        cmocka_unit_test(ranges_are_left_on_the_right_side),
        cmocka_unit_test(decimals_print_in_three_layouts),
        cmocka_unit_test(decimals_come_back_from_all_layouts),
        cmocka_unit_test(decimal_texts_are_rounded_or_refused),
        cmocka_unit_test(casts_to_integers_cut_the_fraction),
        cmocka_unit_test(casts_to_boolean_take_ten_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
