/* SPDX-License-Identifier: Apache-2.0 */
#include "type/text.h"

#include "type/random_data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
static void assert_text(const char *got, size_t bytes, const char *expected)
{
    if (bytes != strlen(expected) || memcmp(got, expected, bytes) != 0) {
        fail_msg("got \"%.*s\", not \"%s\"", (int)bytes, got, expected);
    }
}

static int64_t us_of(int year, int month, int day, int64_t us_of_day)
{
    return ms_time_days_from_date(year, month, day) * MS_TIME_US_PER_DAY + us_of_day;
}

/* 10:15:30 in microseconds. */
#define TEN_FIFTEEN (INT64_C(36930) * 1000000)

static void dates_print_four_digits_of_year(void **state)
{
    (void)state;
    static const struct {
        int year;
        const char *text;
    } cases[] = {{2024, "2024-02-29"},    {1, "0001-02-28"},    {0, "0000-02-29"},
                 {-1, "-0001-02-28"},     {9999, "9999-02-28"}, {10000, "+10000-02-29"},
                 {-12345, "-12345-02-28"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[MS_TEXT_DATE_BYTES];
        int32_t day = (int32_t)ms_time_days_from_date(cases[i].year, 3, 1) - 1;
        assert_text(text, ms_text_date(text, day), cases[i].text);
    }
    char text[MS_TEXT_DATE_BYTES];
    assert_text(text, ms_text_date(text, INT32_MAX), "+5881580-07-11");
    assert_text(text, ms_text_date(text, INT32_MIN), "-5877641-06-23");
}

static void times_print_in_four_ways(void **state)
{
    (void)state;
    static const struct {
        int32_t ms;
        int32_t precision;
        ms_text_fraction fraction;
        const char *text;
    } cases[] = {
        {36930120, 0, MS_TEXT_EXACT, "10:15:30"},     {36930120, 3, MS_TEXT_EXACT, "10:15:30.120"},
        {36930120, 3, MS_TEXT_FEWEST, "10:15:30.12"}, {36930120, 1, MS_TEXT_FEWEST, "10:15:30.1"},
        {36930000, 3, MS_TEXT_FEWEST, "10:15:30"},    {36930000, 3, MS_TEXT_TIME, "10:15:30.0"},
        {36930500, 3, MS_TEXT_TIME, "10:15:30.5"},    {36930000, 0, MS_TEXT_TIME, "10:15:30"},
        {36930123, 3, MS_TEXT_JAVA, "10:15:30.123"},  {36930000, 3, MS_TEXT_JAVA, "10:15:30"},
        {36900000, 3, MS_TEXT_JAVA, "10:15"},         {0, 9, MS_TEXT_EXACT, "00:00:00.000000000"},
        {86399999, 3, MS_TEXT_EXACT, "23:59:59.999"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[MS_TEXT_TIME_BYTES];
        assert_text(text, ms_text_time(text, cases[i].ms, cases[i].precision, cases[i].fraction),
                    cases[i].text);
    }
}

static void timestamps_print_digits_and_separator(void **state)
{
    (void)state;
    char text[MS_TEXT_TIMESTAMP_BYTES];
    int64_t us = us_of(2024, 5, 6, TEN_FIFTEEN + 120000);
    assert_text(text, ms_text_timestamp_us(text, us, 3, MS_TEXT_EXACT, ' '),
                "2024-05-06 10:15:30.120");
    assert_text(text, ms_text_timestamp_us(text, us, 6, MS_TEXT_EXACT, ' '),
                "2024-05-06 10:15:30.120000");
    assert_text(text, ms_text_timestamp_us(text, us, 0, MS_TEXT_EXACT, ' '), "2024-05-06 10:15:30");
    assert_text(text, ms_text_timestamp_us(text, us, 6, MS_TEXT_FEWEST, 'T'),
                "2024-05-06T10:15:30.12");
    assert_text(text, ms_text_timestamp_us(text, us, 6, MS_TEXT_JAVA, 'T'),
                "2024-05-06T10:15:30.120");
    assert_text(text, ms_text_timestamp_us(text, us + 1, 6, MS_TEXT_JAVA, 'T'),
                "2024-05-06T10:15:30.120001");
    assert_text(text, ms_text_timestamp_us(text, -1, 6, MS_TEXT_EXACT, ' '),
                "1969-12-31 23:59:59.999999");
    assert_text(text, ms_text_timestamp_ts(text, (ms_ts16){-1, 999999}, 9, MS_TEXT_EXACT, ' '),
                "1969-12-31 23:59:59.999999999");
    assert_text(text, ms_text_timestamp_ts(text, (ms_ts16){0, 1}, 9, MS_TEXT_JAVA, 'T'),
                "1970-01-01T00:00:00.000000001");
    assert_text(text, ms_text_timestamp_us(text, INT64_MAX, 6, MS_TEXT_EXACT, ' '),
                "+294247-01-10 04:00:54.775807");
    assert_text(text, ms_text_timestamp_us(text, INT64_MIN, 6, MS_TEXT_EXACT, ' '),
                "-290308-12-21 19:59:05.224192");
    size_t bytes = ms_text_timestamp_ts(text, (ms_ts16){INT64_MAX, 999999}, 9, MS_TEXT_EXACT, ' ');
    assert_text(text, bytes, "+292278994-08-17 07:12:55.807999999");
    bytes = ms_text_timestamp_ts(text, (ms_ts16){INT64_MIN, 0}, 9, MS_TEXT_EXACT, ' ');
    assert_text(text, bytes, "-292275055-05-16 16:47:04.192000000");
}

static void intervals_always_have_a_sign(void **state)
{
    (void)state;
    char text[MS_TEXT_INTERVAL_BYTES];
    assert_text(text, ms_text_interval_months(text, 84), "+7-00");
    assert_text(text, ms_text_interval_months(text, -123), "-10-03");
    assert_text(text, ms_text_interval_months(text, 0), "+0-00");
    assert_text(text, ms_text_interval_months(text, INT32_MIN), "-178956970-08");
    assert_text(text, ms_text_interval_ms(text, 123456789), "+1 10:17:36.789");
    assert_text(text, ms_text_interval_ms(text, -1000), "-0 00:00:01.000");
    assert_text(text, ms_text_interval_ms(text, INT64_MIN), "-106751991167 07:12:55.808");
}

/* Reading back what was printed. */
static void texts_come_back(void **state)
{
    (void)state;
    rnd r = {0};
    ms_env_random_init(&r.random, 1);
    for (int i = 0; i < 100000; i++) {
        char text[MS_TEXT_TIMESTAMP_BYTES + 8];
        int32_t precision = (int32_t)rnd_below(&r, 7);
        int64_t us = rnd_i64(&r);
        size_t bytes = ms_text_timestamp_us(text, us, precision, MS_TEXT_EXACT, ' ');
        assert_true(bytes <= MS_TEXT_TIMESTAMP_BYTES);
        int64_t back = 0;
        if (us >= INT64_MIN + 1000000) {
            assert_true(ms_text_parse_timestamp_us(ms_str_make(text, bytes), MS_TEXT_SQL, precision,
                                                   &back));
            assert_true(back == ms_time_truncate_us(us, precision));
        }
        ms_ts16 ts = {rnd_i64(&r), (int32_t)rnd_below(&r, 1000000)};
        bytes = ms_text_timestamp_ts(text, ts, 9, MS_TEXT_JAVA, 'T');
        assert_true(bytes <= MS_TEXT_TIMESTAMP_BYTES);
        text[bytes++] = 'Z';
        ms_ts16 ts_back = {0};
        assert_true(
            ms_text_parse_timestamp_ts(ms_str_make(text, bytes), MS_TEXT_ISO_Z, 9, &ts_back));
        assert_int_equal(ms_time_compare_ts(ts, ts_back), 0);
        int32_t day = (int32_t)rnd_i64(&r);
        int32_t day_back = 0;
        bytes = ms_text_date(text, day);
        assert_true(ms_text_parse_date(ms_str_make(text, bytes), &day_back));
        assert_int_equal(day, day_back);
        int32_t ms = (int32_t)rnd_below(&r, 86400000);
        int32_t ms_back = 0;
        bytes = ms_text_time(text, ms, 3, MS_TEXT_JAVA);
        assert_true(ms_text_parse_time(ms_str_make(text, bytes), true, &ms_back));
        assert_int_equal(ms, ms_back);
    }
}

static void strict_dates_and_times_are_strict(void **state)
{
    (void)state;
    int32_t short_days = 0;
    int32_t days = 0;
    assert_true(ms_text_parse_short_date(ms_str_lit("2024-2-9"), &short_days));
    assert_true(ms_text_parse_date(ms_str_lit("2024-02-09"), &days));
    assert_int_equal(short_days, days);
    assert_false(ms_text_parse_short_date(ms_str_lit("24-2-9"), &days));
    assert_false(ms_text_parse_short_date(ms_str_lit("0000-2-9"), &days));
    assert_false(ms_text_parse_short_date(ms_str_lit("2024-2-30"), &days));
    assert_false(ms_text_parse_short_date(ms_str_lit("2024-002-9"), &days));
    assert_false(ms_text_parse_short_date(ms_str_lit("2024-2-9 "), &days));
    static const char *const dates[] = {"",           "2024-02-30",         "2024-13-01",
                                        "2024-2-03",  "24-02-03",           "2024-02-03 ",
                                        "2024/02/03", "12024-02-03",        "+2024-02-03",
                                        "2024-00-01", "2024-01-00",         "2024-01-0x",
                                        "-024-01-01", "+12345678901-01-01", "2024-01-1:"};
    int32_t value = 5;
    for (size_t i = 0; i < sizeof(dates) / sizeof(dates[0]); i++) {
        assert_false(ms_text_parse_date(ms_str_cstr(dates[i]), &value));
    }
    /* A year that needs more days than an int32 has. */
    assert_false(ms_text_parse_date(ms_str_lit("+6000000-01-01"), &value));
    static const char *const times[] = {
        "",          "24:00:00", "10:60:00", "10:00:60", "1:00:00", "10:00", "10:00:00.1234567890",
        "10:00:00 ", "10:0a:00", "10:00:0",  "10-00-00"};
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        assert_false(ms_text_parse_time(ms_str_cstr(times[i]), false, &value));
    }
    assert_int_equal(value, 5);
    assert_true(ms_text_parse_time(ms_str_lit("10:15:30."), false, &value));
    assert_int_equal(value, 36930000);
    assert_true(ms_text_parse_time(ms_str_lit("10:15:30.1239"), false, &value));
    assert_int_equal(value, 36930123);
    assert_false(ms_text_parse_time(ms_str_lit("10:15:"), true, &value));
}

static void timestamp_forms_differ(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        ms_text_timestamp_form form;
        bool ok;
        int64_t us; /* of the day, 6 May 2024 */
    } cases[] = {
        {"2024-05-06 10:15:30", MS_TEXT_SQL, true, TEN_FIFTEEN},
        {"2024-05-06 10:15:30.1234567", MS_TEXT_SQL, true, TEN_FIFTEEN + 123456},
        {"2024-05-06 10:15", MS_TEXT_SQL, false, 0},
        {"2024-05-06T10:15:30", MS_TEXT_SQL, false, 0},
        {"2024-05-06 10:15:30Z", MS_TEXT_SQL, false, 0},
        {"2024-05-06  10:15:30", MS_TEXT_SQL, false, 0},
        {"2024-05-06", MS_TEXT_SQL, false, 0},
        {"2024-05-06 10:15:30Z", MS_TEXT_SQL_Z, true, TEN_FIFTEEN},
        {"2024-05-06 10:15:30", MS_TEXT_SQL_Z, false, 0},
        {"2024-05-06T10:15:30.5", MS_TEXT_ISO, true, TEN_FIFTEEN + 500000},
        {"2024-05-06T10:15", MS_TEXT_ISO, true, TEN_FIFTEEN - 30000000},
        {"2024-05-06 10:15", MS_TEXT_ISO, false, 0},
        {"2024-05-06T10:15Z", MS_TEXT_ISO_Z, true, TEN_FIFTEEN - 30000000},
        {"2024-05-06T10:15:30+02:00", MS_TEXT_ISO_OFFSET, true, TEN_FIFTEEN - INT64_C(7200000000)},
        {"2024-05-06T10:15:30-02:00", MS_TEXT_ISO_OFFSET, true, TEN_FIFTEEN + INT64_C(7200000000)},
        {"2024-05-06T10:15:30Z", MS_TEXT_ISO_OFFSET, true, TEN_FIFTEEN},
        {"2024-05-06T00:15:30+02:00", MS_TEXT_ISO_OFFSET, true,
         INT64_C(930000000) - INT64_C(7200000000)},
        {"2024-05-06T10:15:30", MS_TEXT_ISO_OFFSET, false, 0},
        {"2024-05-06T10:15:30+02", MS_TEXT_ISO_OFFSET, false, 0},
        {"2024-05-06T10:15:30+19:00", MS_TEXT_ISO_OFFSET, false, 0},
        {"2024-05-06T10:15:30+02:00:30.5", MS_TEXT_ISO_OFFSET, false, 0},
        {"2024-02-30 10:15:30", MS_TEXT_SQL, false, 0},
        {"2024-05-06t10:15:30", MS_TEXT_ISO, true, TEN_FIFTEEN},
        {"2024-05-06t10:15:30Z", MS_TEXT_ISO_Z, false, 0},
        {"2024-05-05 24:00:00", MS_TEXT_SQL, true, 0},
        {"2024-05-05 24:00:00.000", MS_TEXT_SQL, true, 0},
        {"2024-05-05 24:00:00Z", MS_TEXT_SQL_Z, true, 0},
        {"2024-05-05T24:00Z", MS_TEXT_ISO_Z, true, 0},
        {"2024-05-05 24:00", MS_TEXT_SQL, false, 0},
        {"2024-05-05 24:00:01", MS_TEXT_SQL, false, 0},
        {"2024-05-05 24:00:00.000000001", MS_TEXT_SQL, false, 0},
        {"2024-05-05 24:01:00", MS_TEXT_SQL, false, 0},
        {"2024-05-05T24:00:00", MS_TEXT_ISO, false, 0},
        {"2024-05-05 24:00:00", MS_TEXT_LITERAL, false, 0},
        {"2024-05-06 10:15:30", MS_TEXT_LITERAL, true, TEN_FIFTEEN},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t us = 7;
        bool ok = ms_text_parse_timestamp_us(ms_str_cstr(cases[i].text), cases[i].form, 6, &us);
        if (ok != cases[i].ok) {
            fail_msg("%s", cases[i].text);
        }
        assert_true(us == (ok ? us_of(2024, 5, 6, cases[i].us) : 7));
    }
    int64_t us = 0;
    assert_true(
        ms_text_parse_timestamp_us(ms_str_lit("1969-12-31 23:59:59.9999"), MS_TEXT_SQL, 3, &us));
    assert_int_equal(us, -1000);
    assert_false(
        ms_text_parse_timestamp_us(ms_str_lit("+300000-01-01 00:00:00"), MS_TEXT_SQL, 6, &us));
    ms_ts16 ts = {0};
    assert_true(ms_text_parse_timestamp_ts(ms_str_lit("1970-01-01 00:00:00.123456789"), MS_TEXT_SQL,
                                           8, &ts));
    assert_int_equal(ts.ms, 123);
    assert_int_equal(ts.ns, 456780);
}

static void casts_to_date_fill_missing_parts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int year, month, day; /* year -1: refused */
    } cases[] = {
        {"2021-02-03", 2021, 2, 3},
        {"2021-2-3", 2021, 2, 3},
        {"2021-2", 2021, 2, 1},
        {"2021", 2021, 1, 1},
        {"123", 123, 1, 1},
        {"2021-02-03 whatever", 2021, 2, 3},
        {" 2021-02-03", 2021, 2, 3},
        {" 2021-02-03 ", 2021, 2, 3},
        {" 2021-02-03 whatever", -1, 0, 0},
        {"\t2021-02-03\t whatever", 2021, 2, 3},
        {"0-1-1", 0, 1, 1},
        {"2021-02-30", -1, 0, 0},
        {"10000-01-01", -1, 0, 0},
        {"2021-13-01", -1, 0, 0},
        {"", -1, 0, 0},
        {" ", -1, 0, 0},
        {"2021-02-03T10", -1, 0, 0},
        {"2021-", -1, 0, 0},
        {"-2021", -1, 0, 0},
        {"2021-02-", -1, 0, 0},
        {"x", -1, 0, 0},
        {"99999999999", -1, 0, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int32_t day = 0;
        bool ok = ms_text_cast_date(ms_str_cstr(cases[i].text), &day);
        if (ok != (cases[i].year >= 0)) {
            fail_msg("%s", cases[i].text);
        }
        if (ok) {
            assert_int_equal(day,
                             ms_time_days_from_date(cases[i].year, cases[i].month, cases[i].day));
        }
    }
}

static void casts_to_time_round_and_shift(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int32_t ms; /* -1: refused */
    } cases[] = {
        {"10:15:30", 36930000},
        {"10:15", 36900000},
        {"10", 36000000},
        {"1:2:3", 3723000},
        {"10:15:30.1235", 36930124},
        {"10:15:30.12349", 36930123},
        {" 10:15 ", 36900000},
        {"10:15+01:00", 40500000},
        {"10:15-1", 33300000},
        {"00:15-1", 83700000},
        {"23:59:59.9999", 0},
        {"24:00", -1},
        {"10:60", -1},
        {"10:00:60", -1},
        {"", -1},
        {"10:", -1},
        {"10:15:", -1},
        {"10.5", -1},
        {"10:15:30.", -1},
        {"10:15 +1", -1},
        {"10:15+", -1},
        {"10:15+24", -1},
        {"10:15:30x", -1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int32_t ms = 0;
        bool ok = ms_text_cast_time(ms_str_cstr(cases[i].text), &ms);
        if (ok != (cases[i].ms >= 0) || (ok && ms != cases[i].ms)) {
            fail_msg("%s: %d", cases[i].text, ms);
        }
    }
}

static void casts_to_timestamp_are_smart(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *result; /* NULL: refused */
    } cases[] = {
        {"2021-02-03 04:05:06", "2021-02-03 04:05:06.000000000"},
        {"2021-2-3", "2021-02-03 00:00:00.000000000"},
        {"2021-02-03 4:5:6.", "2021-02-03 04:05:06.000000000"},
        {"2021-02-03 04:05:06.123456789", "2021-02-03 04:05:06.123456789"},
        {"+12021-01-01", "+12021-01-01 00:00:00.000000000"},
        {"2021-02-30", "2021-02-28 00:00:00.000000000"},
        {"2021-04-31 10:00:00", "2021-04-30 10:00:00.000000000"},
        {"2024-02-30", "2024-02-29 00:00:00.000000000"},
        {"2021-12-31 24:00:00", "2022-01-01 00:00:00.000000000"},
        {"2021-12-31 24:00:00.000", "2022-01-01 00:00:00.000000000"},
        {"2021-12-31 24:00:01", NULL},
        {"2021-02-32", NULL},
        {"2021-13-01", NULL},
        {"2021-02-03 25:00:00", NULL},
        {"2021-02-03 04:60:00", NULL},
        {"2021-02-03 04:05", NULL},
        {"2021-02-03T04:05:06", NULL},
        {"2021-02-03 04:05:06Z", NULL},
        {"2021-02-03 04:05:06.1234567890", NULL},
        {"21-02-03", NULL},
        {"0000-01-01", NULL},
        {"2021-02-03 ", NULL},
        {" 2021-02-03", NULL},
        {"2021-002-03", NULL},
        {"12021-01-01", NULL},
        {"+2021-01-01", NULL},
        {"-2021-01-01", NULL},
        {"2021-02-03  04:05:06", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ms_ts16 ts = {0};
        bool ok = ms_text_cast_timestamp(ms_str_cstr(cases[i].text), &ts);
        if (ok != (cases[i].result != NULL)) {
            fail_msg("%s", cases[i].text);
        }
        if (ok) {
            char text[MS_TEXT_TIMESTAMP_BYTES];
            assert_text(text, ms_text_timestamp_ts(text, ts, 9, MS_TEXT_EXACT, ' '),
                        cases[i].result);
        }
    }
}

static void the_fallback_rolls_over(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *result;
    } cases[] = {
        {" 2021-2-3 ", "2021-02-03 00:00:00.000000000"},
        {"2021-02-30", "2021-03-02 00:00:00.000000000"},
        {"2021-02-03 25:61:61.5", "2021-02-04 02:02:01.500000000"},
        {"2021-02-32", NULL},
        {"2021-13-01", NULL},
        {"+12021-01-01", NULL},
        {"2021-02-03 10:00", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ms_ts16 ts = {0};
        bool ok = ms_text_parse_timestamp_lenient(ms_str_cstr(cases[i].text), &ts);
        assert_int_equal(ok, cases[i].result != NULL);
        if (ok) {
            char text[MS_TEXT_TIMESTAMP_BYTES];
            assert_text(text, ms_text_timestamp_ts(text, ts, 9, MS_TEXT_EXACT, ' '),
                        cases[i].result);
        }
    }
}

/* No text may be read beyond its end: each is in memory of exactly its size. */
static void random_texts_are_read_safely(void **state)
{
    (void)state;
    rnd r = {0};
    ms_env_random_init(&r.random, 3);
    static const char letters[] = "0123456789-:. +TZ2024";
    for (int i = 0; i < 100000; i++) {
        size_t bytes = rnd_below(&r, 36);
        char *text = malloc(bytes + (bytes == 0));
        for (size_t k = 0; k < bytes; k++) {
            text[k] = letters[rnd_below(&r, sizeof(letters) - 1)];
        }
        if (bytes >= 19 && rnd_chance(&r, 80)) {
            memcpy(text, "2024-05-06 10:15:30", rnd_below(&r, 20));
        }
        ms_str view = ms_str_make(text, bytes);
        int32_t small = 0;
        int64_t us = 0;
        ms_ts16 ts = {0};
        (void)ms_text_parse_date(view, &small);
        (void)ms_text_parse_time(view, true, &small);
        for (int form = MS_TEXT_LITERAL; form <= MS_TEXT_ISO_OFFSET; form++) {
            (void)ms_text_parse_timestamp_us(view, (ms_text_timestamp_form)form, 6, &us);
        }
        (void)ms_text_cast_date(view, &small);
        (void)ms_text_cast_time(view, &small);
        (void)ms_text_cast_timestamp(view, &ts);
        (void)ms_text_parse_timestamp_lenient(view, &ts);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dates_print_four_digits_of_year),
        cmocka_unit_test(times_print_in_four_ways),
        cmocka_unit_test(timestamps_print_digits_and_separator),
        cmocka_unit_test(intervals_always_have_a_sign),
        cmocka_unit_test(texts_come_back),
        cmocka_unit_test(strict_dates_and_times_are_strict),
        cmocka_unit_test(timestamp_forms_differ),
        cmocka_unit_test(casts_to_date_fill_missing_parts),
        cmocka_unit_test(casts_to_time_round_and_shift),
        cmocka_unit_test(casts_to_timestamp_are_smart),
        cmocka_unit_test(the_fallback_rolls_over),
        cmocka_unit_test(random_texts_are_read_safely),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
