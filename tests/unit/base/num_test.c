/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/num.h"

#include <inttypes.h>
#include <stdio.h>

static void unsigned_numbers_are_digits_only_and_fit(void **state)
{
    (void)state;
    const struct {
        const char *text;
        bool is_good;
        uint64_t value;
    } cases[] = {
        {"0", true, 0},
        {"007", true, 7},
        {"18446744073709551615", true, UINT64_MAX},
        {"18446744073709551616", false, 0},
        {"99999999999999999999", false, 0},
        {"", false, 0},
        {"+1", false, 0},
        {"-1", false, 0},
        {" 1", false, 0},
        {"1 ", false, 0},
        {"1_0", false, 0},
        {"0x1", false, 0},
        {"\xD9\xA1", false, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint64_t value = 42;
        assert_int_equal(ms_num_scan_u64(ms_str_cstr(cases[i].text), &value), cases[i].is_good);
        assert_true(value == (cases[i].is_good ? cases[i].value : 42));
    }
}

static void signed_numbers_reach_both_ends(void **state)
{
    (void)state;
    int64_t value = 0;
    assert_true(ms_num_scan_i64(ms_str_lit("-9223372036854775808"), &value));
    assert_true(value == INT64_MIN);
    assert_true(ms_num_scan_i64(ms_str_lit("+9223372036854775807"), &value));
    assert_true(value == INT64_MAX);
    assert_true(ms_num_scan_i64(ms_str_lit("-0"), &value));
    assert_true(value == 0);
    const char *bad[] = {"9223372036854775808", "-9223372036854775809", "", "-", "+", "--1", "1-"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(ms_num_scan_i64(ms_str_cstr(bad[i]), &value));
    }
}

static void digits_are_counted_inside_the_text(void **state)
{
    (void)state;
    assert_int_equal(ms_num_count_digits(ms_str_lit("a123b"), 1), 3);
    assert_int_equal(ms_num_count_digits(ms_str_lit("a123"), 2), 2);
    assert_int_equal(ms_num_count_digits(ms_str_lit("a"), 0), 0);
    assert_int_equal(ms_num_count_digits(ms_str_lit("a"), 9), 0);
}

static void a_refused_text_is_shown_in_part(void **state)
{
    (void)state;
    ms_status st = {0};
    int64_t value = 0;
    assert_int_equal(ms_num_parse_i64(ms_str_lit("12x"), &value, &st), MS_INVALID_OPTION);
    assert_string_equal(st.message, "\"12x\" is not a whole number from -9223372036854775808 to "
                                    "9223372036854775807");
    char text[500];
    memset(text, '9', sizeof(text));
    ms_status_clear(&st);
    uint64_t large = 0;
    assert_int_equal(ms_num_parse_u64(ms_str_make(text, sizeof(text)), &large, &st),
                     MS_INVALID_OPTION);
    assert_non_null(strstr(st.message, "9...\" is not"));
}

static void booleans_are_words(void **state)
{
    (void)state;
    ms_status st = {0};
    bool value = false;
    assert_ok(ms_num_parse_bool(ms_str_lit("TRUE"), &value, &st));
    assert_true(value);
    assert_ok(ms_num_parse_bool(ms_str_lit("false"), &value, &st));
    assert_false(value);
    assert_int_equal(ms_num_parse_bool(ms_str_lit(" true"), &value, &st), MS_INVALID_OPTION);
    assert_string_equal(st.message, "\" true\" is not true or false");
}

static void durations_read_as_flink_writes_them(void **state)
{
    (void)state;
    const struct {
        const char *text;
        int64_t ns;
    } good[] = {
        {"500 ms", 500000000},
        {"10s", 10000000000},
        {" 1  MIN ", 60000000000},
        {"3 m", 180000000000},
        {"1 d", 86400000000000},
        {"2 hours", 7200000000000},
        {"7", 7000000},
        {"5 micros", 5000},
        {"5 \xC2\xB5s", 5000},
        {"0 nanosecond", 0},
        {"106751 d", INT64_C(9223286400000000000)},
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        ms_status st = {0};
        int64_t ns = -1;
        assert_ok(ms_num_parse_duration_ns(ms_str_cstr(good[i].text), &ns, &st));
        assert_true(ns == good[i].ns);
    }
    const char *bad[] = {
        "",       " ",        "ms",    "-1 s",   "1.5 s", "1h 30min",   "PT10S",
        "1 week", "106752 d", "1_0 s", "10 s s", "s 10",  "\xD9\xA1 s", "99999999999999999999 ns"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ms_status st = {0};
        int64_t ns = -1;
        assert_int_equal(ms_num_parse_duration_ns(ms_str_cstr(bad[i]), &ns, &st),
                         MS_INVALID_OPTION);
        assert_int_equal(ns, -1);
        assert_non_null(strstr(st.hint, "'10 s'"));
    }
}

static void milliseconds_cut_off_what_is_below(void **state)
{
    (void)state;
    ms_status st = {0};
    int64_t ms = 0;
    assert_ok(ms_num_parse_duration_ms(ms_str_lit("1999 micros"), &ms, &st));
    assert_int_equal(ms, 1);
    assert_int_equal(ms_num_parse_duration_ms(ms_str_lit("x"), &ms, &st), MS_INVALID_OPTION);
}

static void memory_sizes_are_powers_of_1024(void **state)
{
    (void)state;
    const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {
        {"64 mb", 64ull << 20},      {"1g", 1ull << 30}, {"1024", 1024}, {"3 Kb", 3072},
        {"2 tebibytes", 2ull << 40}, {"5 b", 5},         {"0", 0},
    };
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        ms_status st = {0};
        uint64_t bytes = 1;
        assert_ok(ms_num_parse_memory(ms_str_cstr(good[i].text), &bytes, &st));
        assert_true(bytes == good[i].bytes);
    }
    const char *bad[] = {"", "mb", "1.5 gb", "-1", "64 pb", "99999999999 tb"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ms_status st = {0};
        uint64_t bytes = 1;
        assert_int_equal(ms_num_parse_memory(ms_str_cstr(bad[i]), &bytes, &st), MS_INVALID_OPTION);
    }
}

static void printed_numbers_are_those_of_printf(void **state)
{
    (void)state;
    const int64_t values[] = {0, 1, -1, 9, 10, -10, 99, 100, 12345678901, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        char expected[MS_NUM_BYTES];
        char text[MS_NUM_BYTES];
        snprintf(expected, sizeof(expected), "%" PRId64, values[i]);
        assert_str_equal(ms_str_make(text, ms_num_print_i64(values[i], text)), expected);
    }
    char text[MS_NUM_BYTES];
    assert_str_equal(ms_str_make(text, ms_num_print_u64(UINT64_MAX, text)), "18446744073709551615");
}

static void printed_units_are_the_largest_that_divide(void **state)
{
    (void)state;
    const struct {
        int64_t ns;
        const char *text;
    } durations[] = {
        {0, "0 ms"},
        {60000000000, "1 min"},
        {3601000000000, "3601 s"},
        {86400000000000, "1 d"},
        {1500, "1500 ns"},
        {2000, "2 \xC2\xB5s"},
        {INT64_MAX, "9223372036854775807 ns"},
    };
    char text[MS_NUM_BYTES];
    for (size_t i = 0; i < sizeof(durations) / sizeof(durations[0]); i++) {
        size_t bytes = ms_num_print_duration_ns(durations[i].ns, text);
        assert_str_equal(ms_str_make(text, bytes), durations[i].text);
    }
    assert_str_equal(ms_str_make(text, ms_num_print_memory(64 << 20, text)), "64 mb");
    assert_str_equal(ms_str_make(text, ms_num_print_memory(1025, text)), "1025 bytes");
    assert_str_equal(ms_str_make(text, ms_num_print_memory(0, text)), "0 bytes");
    assert_str_equal(ms_str_make(text, ms_num_print_memory(UINT64_MAX, text)),
                     "18446744073709551615 bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unsigned_numbers_are_digits_only_and_fit),
        cmocka_unit_test(signed_numbers_reach_both_ends),
        cmocka_unit_test(digits_are_counted_inside_the_text),
        cmocka_unit_test(a_refused_text_is_shown_in_part),
        cmocka_unit_test(booleans_are_words),
        cmocka_unit_test(durations_read_as_flink_writes_them),
        cmocka_unit_test(milliseconds_cut_off_what_is_below),
        cmocka_unit_test(memory_sizes_are_powers_of_1024),
        cmocka_unit_test(printed_numbers_are_those_of_printf),
        cmocka_unit_test(printed_units_are_the_largest_that_divide),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
