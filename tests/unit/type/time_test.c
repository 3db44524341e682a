/* SPDX-License-Identifier: Apache-2.0 */
#include "type/time.h"

#include "type/random_data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A calendar that only knows how to go to the next day. */
typedef struct walker {
    int year;
    int month;
    int day;
} walker;

static bool walker_is_leap(int year)
{
    if (year % 400 == 0) {
        return true;
    }
    return year % 100 != 0 && year % 4 == 0;
}

static int walker_month_days(int year, int month)
{
    if (month == 2) {
        return walker_is_leap(year) ? 29 : 28;
    }
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

static void walker_next(walker *w)
{
    w->day++;
    if (w->day > walker_month_days(w->year, w->month)) {
        w->day = 1;
        w->month++;
    }
    if (w->month > 12) {
        w->month = 1;
        w->year++;
    }
}

static void days_follow_the_calendar(void **state)
{
    (void)state;
    /* 0001-01-01 was a Monday, 719162 days before the epoch; 9999-12-31 is day 2932896. */
    walker w = {1, 1, 1};
    int weekday = 1;
    for (int64_t day = -719162; day <= 2932896 + 400; day++) {
        ms_time_date date = ms_time_date_from_days(day);
        if (date.year != w.year || date.month != w.month || date.day != w.day ||
            ms_time_days_from_date(w.year, w.month, w.day) != day ||
            ms_time_iso_weekday(day) != weekday) {
            fail_msg("day %lld is not %d-%d-%d", (long long)day, w.year, w.month, w.day);
        }
        walker_next(&w);
        weekday = weekday % 7 + 1;
    }
    assert_int_equal(w.year, 10001);
}

static void far_days_come_back(void **state)
{
    (void)state;
    rnd r = {0};
    ms_env_random_init(&r.random, 5);
    for (int i = 0; i < 100000; i++) {
        int64_t day = rnd_i64(&r) % INT64_C(300000000000);
        ms_time_date date = ms_time_date_from_days(day);
        assert_true(ms_time_is_date(date.year, date.month, date.day));
        assert_int_equal(ms_time_days_from_date(date.year, date.month, date.day), day);
    }
}

static void dates_are_checked(void **state)
{
    (void)state;
    assert_true(ms_time_is_date(2024, 2, 29));
    assert_false(ms_time_is_date(2023, 2, 29));
    assert_false(ms_time_is_date(1900, 2, 29));
    assert_true(ms_time_is_date(2000, 2, 29));
    assert_false(ms_time_is_date(2024, 0, 1));
    assert_false(ms_time_is_date(2024, 13, 1));
    assert_false(ms_time_is_date(2024, 4, 31));
    assert_false(ms_time_is_date(2024, 4, 0));
}

static int32_t day_of(int year, int month, int day)
{
    return (int32_t)ms_time_days_from_date(year, month, day);
}

static void months_are_added_with_the_day_cut(void **state)
{
    (void)state;
    int32_t got = 0;
    assert_true(ms_time_add_months(day_of(2024, 1, 31), 1, &got));
    assert_int_equal(got, day_of(2024, 2, 29));
    assert_true(ms_time_add_months(day_of(2024, 3, 31), -13, &got));
    assert_int_equal(got, day_of(2023, 2, 28));
    assert_true(ms_time_add_months(day_of(1969, 12, 31), 2, &got));
    assert_int_equal(got, day_of(1970, 2, 28));
    assert_false(ms_time_add_months(INT32_MAX, 1, &got));
    assert_false(ms_time_add_months(0, INT32_MAX, &got));
    int64_t us = 0;
    assert_true(ms_time_add_months_us(day_of(1969, 12, 31) * MS_TIME_US_PER_DAY + 7, 2, &us));
    assert_int_equal(us, day_of(1970, 2, 28) * MS_TIME_US_PER_DAY + 7);
    assert_false(ms_time_add_months_us(INT64_MAX, 1, &us));
    assert_true(ms_time_add_months_us(INT64_MIN, 0, &us));
    assert_true(us == INT64_MIN);
}

static void fields_come_back(void **state)
{
    (void)state;
    rnd r = {0};
    ms_env_random_init(&r.random, 6);
    for (int i = 0; i < 100000; i++) {
        int64_t us = rnd_i64(&r);
        ms_time_fields fields = ms_time_fields_from_us(us);
        assert_in_range(fields.hour, 0, 23);
        assert_in_range(fields.minute, 0, 59);
        assert_in_range(fields.second, 0, 59);
        assert_in_range(fields.nano, 0, 999999999);
        int64_t back = 0;
        assert_true(ms_time_us_from_fields(&fields, &back));
        assert_int_equal(back, us);
        ms_ts16 ts = {rnd_i64(&r) / 1000, (int32_t)rnd_below(&r, 1000000)};
        fields = ms_time_fields_from_ts(ts);
        ms_ts16 same = {0};
        assert_true(ms_time_ts_from_fields(&fields, &same));
        assert_int_equal(ms_time_compare_ts(ts, same), 0);
    }
}

static void fields_before_the_epoch_are_positive(void **state)
{
    (void)state;
    ms_time_fields fields = ms_time_fields_from_us(-1);
    assert_int_equal(fields.date.year, 1969);
    assert_int_equal(fields.date.month, 12);
    assert_int_equal(fields.date.day, 31);
    assert_int_equal(fields.hour, 23);
    assert_int_equal(fields.second, 59);
    assert_int_equal(fields.nano, 999999000);
}

static void the_two_forms_convert(void **state)
{
    (void)state;
    ms_ts16 ts = ms_time_ts_from_us(-1);
    assert_int_equal(ts.ms, -1);
    assert_int_equal(ts.ns, 999000);
    int64_t us = 0;
    assert_true(ms_time_us_from_ts((ms_ts16){-1, 999999}, &us));
    assert_int_equal(us, -1);
    assert_false(ms_time_us_from_ts((ms_ts16){INT64_MAX, 0}, &us));
    rnd r = {0};
    ms_env_random_init(&r.random, 7);
    for (int i = 0; i < 10000; i++) {
        int64_t value = rnd_i64(&r);
        assert_true(ms_time_us_from_ts(ms_time_ts_from_us(value), &us));
        assert_int_equal(us, value);
    }
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    ms_time_fields last = ms_time_fields_from_us(INT64_MAX);
    int64_t us = 5;
    assert_true(ms_time_us_from_fields(&last, &us));
    assert_true(us == INT64_MAX);
    last.nano += 1000;
    assert_false(ms_time_us_from_fields(&last, &us));
    assert_true(us == INT64_MAX);
    ms_ts16 ts = {0};
    ms_time_fields far = {.date = {900000000, 1, 1}};
    assert_false(ms_time_us_from_fields(&far, &us));
    assert_false(ms_time_ts_from_fields(&far, &ts));
    assert_true(ms_time_ts_from_ns(1, -1, &ts));
    assert_int_equal(ts.ms, MS_TIME_MS_PER_DAY - 1);
    assert_int_equal(ts.ns, 999999);
}

static void truncation_floors(void **state)
{
    (void)state;
    assert_int_equal(ms_time_truncate_us(1234567, 3), 1234000);
    assert_int_equal(ms_time_truncate_us(-1, 3), -1000);
    assert_int_equal(ms_time_truncate_us(-1, 0), -1000000);
    assert_int_equal(ms_time_truncate_us(-1, 6), -1);
    assert_int_equal(ms_time_truncate_us(INT64_MIN, 0), INT64_MIN);
    ms_ts16 ts = ms_time_truncate_ts((ms_ts16){-1, 123456}, 8);
    assert_int_equal(ts.ms, -1);
    assert_int_equal(ts.ns, 123450);
    ts = ms_time_truncate_ts((ms_ts16){-1, 123456}, 2);
    assert_int_equal(ts.ms, -10);
    assert_int_equal(ts.ns, 0);
    ts = ms_time_truncate_ts((ms_ts16){INT64_MIN, 5}, 0);
    assert_true(ts.ms == INT64_MIN);
}

static void watermark_arithmetic_saturates(void **state)
{
    (void)state;
    assert_int_equal(ms_time_ms_from_us(-1), -1);
    assert_true(ms_time_us_from_ms(INT64_MAX) == INT64_MAX);
    assert_true(ms_time_us_from_ms(INT64_MIN) == INT64_MIN);
    assert_int_equal(ms_time_us_from_ms(-5), -5000);
    assert_true(ms_time_subtract_ms(INT64_MIN, 1) == INT64_MIN);
    assert_true(ms_time_subtract_ms(5, INT64_MIN) == INT64_MAX);
    assert_true(ms_time_add_ms(INT64_MAX, 1) == INT64_MAX);
    assert_true(ms_time_add_ms(INT64_MIN, -1) == INT64_MIN);
    assert_int_equal(ms_time_add_ms(2, 3), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(days_follow_the_calendar),
        cmocka_unit_test(far_days_come_back),
        cmocka_unit_test(dates_are_checked),
        cmocka_unit_test(months_are_added_with_the_day_cut),
        cmocka_unit_test(fields_come_back),
        cmocka_unit_test(fields_before_the_epoch_are_positive),
        cmocka_unit_test(the_two_forms_convert),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(truncation_floors),
        cmocka_unit_test(watermark_arithmetic_saturates),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
