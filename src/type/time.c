/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The calendar. Days are counted in cycles of 400 years, which have 146097 days each and repeat
 * exactly; inside a cycle the year begins on 1 March, so that the leap day is its last and the
 * lengths of the months follow one formula: month m (0 is March) begins on day (153 * m + 2) / 5.
 */
#include "type/time.h"

#define DAYS_PER_CYCLE 146097
#define YEARS_PER_CYCLE 400
#define EPOCH_FROM_MARCH_0 719468 /* days from 0000-03-01 to 1970-01-01 */

/* Counting begins 10^9 years before year 0: everything is positive, and divisions are cheap. */
#define CYCLES_AHEAD INT64_C(2500000)
#define EPOCH_FROM_START (CYCLES_AHEAD * DAYS_PER_CYCLE + EPOCH_FROM_MARCH_0)
#define DAYS_SAFE 100000000 /* their microseconds, and a few days more, are an int64 */

static const int32_t pow10_i32[] = {1,      10,      100,      1000,      10000,
                                    100000, 1000000, 10000000, 100000000, 1000000000};

bool ms_time_is_leap_year(int64_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int32_t ms_time_days_in_month(int64_t year, int32_t month)
{
    static const int8_t days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && ms_time_is_leap_year(year));
}

int64_t ms_time_days_from_date(int64_t year, int32_t month, int32_t day)
{
    uint64_t march_year = (uint64_t)(year - (month <= 2) + CYCLES_AHEAD * YEARS_PER_CYCLE);
    uint32_t month_from_march = (uint32_t)(month > 2 ? month - 3 : month + 9);
    uint64_t leap_days = march_year / 4 - march_year / 100 + march_year / 400;
    uint64_t month_start = march_year * 365 + leap_days + (153 * month_from_march + 2) / 5;
    return (int64_t)month_start + day - 1 - EPOCH_FROM_START;
}

ms_time_date ms_time_date_from_days(int64_t days)
{
    uint64_t from_start = (uint64_t)(days + EPOCH_FROM_START);
    uint64_t cycle = from_start / DAYS_PER_CYCLE;
    uint32_t day_of_cycle = (uint32_t)(from_start - cycle * DAYS_PER_CYCLE);
    /* Taking the leap days that passed away leaves years of 365 days: one each 1460 days, but for
     * each 36524, and the one that ends the cycle. */
    uint32_t year_of_cycle =
        (day_of_cycle - day_of_cycle / 1460 + day_of_cycle / 36524 - day_of_cycle / 146096) / 365;
    uint32_t day_of_year =
        day_of_cycle - (year_of_cycle * 365 + year_of_cycle / 4 - year_of_cycle / 100);
    uint32_t month_from_march = (5 * day_of_year + 2) / 153;
    ms_time_date date;
    date.day = (int32_t)(day_of_year - (153 * month_from_march + 2) / 5 + 1);
    date.month = (int32_t)(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
    int64_t march_year = (int64_t)(cycle * YEARS_PER_CYCLE + year_of_cycle);
    date.year = (int32_t)(march_year - CYCLES_AHEAD * YEARS_PER_CYCLE + (date.month <= 2));
    return date;
}

bool ms_time_is_date(int64_t year, int32_t month, int32_t day)
{
    return month >= 1 && month <= 12 && day >= 1 && day <= ms_time_days_in_month(year, month);
}

int32_t ms_time_iso_weekday(int64_t days)
{
    /* 1970-01-01 was a Thursday. */
    return (int32_t)ms_time_floor_mod(days + 3, 7) + 1;
}

bool ms_time_add_months(int32_t days, int32_t months, int32_t *days_out)
{
    ms_time_date date = ms_time_date_from_days(days);
    int64_t month = (int64_t)date.year * 12 + (date.month - 1) + months;
    int64_t year = ms_time_floor_div(month, 12);
    int32_t month_of_year = (int32_t)(month - year * 12) + 1;
    int32_t last = ms_time_days_in_month(year, month_of_year);
    int64_t sum = ms_time_days_from_date(year, month_of_year, date.day < last ? date.day : last);
    if (sum < INT32_MIN || sum > INT32_MAX) {
        return false;
    }
    *days_out = (int32_t)sum;
    return true;
}

/* days * units_per_day + units, when that is an int64: a day may begin before the first int64. */
static bool join_day(int64_t days, int64_t units_per_day, int64_t units, int64_t *joined_out)
{
    if (days > -DAYS_SAFE && days < DAYS_SAFE) {
        *joined_out = days * units_per_day + units;
        return true;
    }
    ms_i128 joined = (ms_i128)days * units_per_day + units;
    if (joined < INT64_MIN || joined > INT64_MAX) {
        return false;
    }
    *joined_out = (int64_t)joined;
    return true;
}

bool ms_time_add_months_us(int64_t us, int32_t months, int64_t *us_out)
{
    /* A day of microseconds in 64 bits is below 2^27, so that it is an int32. */
    int32_t day = 0;
    return ms_time_add_months((int32_t)ms_time_day_of_us(us), months, &day) &&
           join_day(day, MS_TIME_US_PER_DAY, ms_time_us_of_day(us), us_out);
}

/* Timestamps. */

static ms_time_fields fields_of(int64_t day, int64_t seconds_of_day, int32_t nano)
{
    int32_t seconds = (int32_t)seconds_of_day;
    return (ms_time_fields){
        .date = ms_time_date_from_days(day),
        .hour = seconds / 3600,
        .minute = seconds / 60 % 60,
        .second = seconds % 60,
        .nano = nano,
    };
}

ms_time_fields ms_time_fields_from_us(int64_t us)
{
    int64_t day = ms_time_day_of_us(us);
    int64_t us_of_day = ms_time_us_of_day(us);
    return fields_of(day, us_of_day / 1000000, (int32_t)(us_of_day % 1000000) * 1000);
}

ms_time_fields ms_time_fields_from_ts(ms_ts16 ts)
{
    int64_t day = ms_time_day_of_ms(ts.ms);
    int64_t ms_of_day = ms_time_floor_mod(ts.ms, MS_TIME_MS_PER_DAY);
    return fields_of(day, ms_of_day / 1000, (int32_t)(ms_of_day % 1000) * 1000000 + ts.ns);
}

static int64_t seconds_of_day(const ms_time_fields *fields)
{
    return (int64_t)fields->hour * 3600 + (int64_t)fields->minute * 60 + fields->second;
}

bool ms_time_us_from_fields(const ms_time_fields *fields, int64_t *us_out)
{
    int64_t day = ms_time_days_from_date(fields->date.year, fields->date.month, fields->date.day);
    int64_t us_of_day = seconds_of_day(fields) * 1000000 + fields->nano / 1000;
    return join_day(day, MS_TIME_US_PER_DAY, us_of_day, us_out);
}

bool ms_time_ts_from_fields(const ms_time_fields *fields, ms_ts16 *ts_out)
{
    int64_t day = ms_time_days_from_date(fields->date.year, fields->date.month, fields->date.day);
    return ms_time_ts_from_ns(day, seconds_of_day(fields) * INT64_C(1000000000) + fields->nano,
                              ts_out);
}

bool ms_time_us_from_ns(int64_t day, int64_t ns, int64_t *us_out)
{
    return join_day(day, MS_TIME_US_PER_DAY, ms_time_floor_div(ns, 1000), us_out);
}

bool ms_time_ts_from_ns(int64_t day, int64_t ns, ms_ts16 *ts_out)
{
    int64_t ms = 0;
    if (!join_day(day, MS_TIME_MS_PER_DAY, ms_time_floor_div(ns, 1000000), &ms)) {
        return false;
    }
    *ts_out = (ms_ts16){ms, (int32_t)ms_time_floor_mod(ns, 1000000)};
    return true;
}

bool ms_time_us_from_ts(ms_ts16 ts, int64_t *us_out)
{
    ms_i128 us = (ms_i128)ts.ms * 1000 + ts.ns / 1000;
    if (us < INT64_MIN || us > INT64_MAX) {
        return false;
    }
    *us_out = (int64_t)us;
    return true;
}

int64_t ms_time_truncate_us(int64_t us, int32_t precision)
{
    /* The smallest int64 is no whole second: the floor of the last values before it saturates. */
    int64_t unit = pow10_i32[6 - precision];
    int64_t rest = ms_time_floor_mod(us, unit);
    return us < INT64_MIN + rest ? INT64_MIN : us - rest;
}

ms_ts16 ms_time_truncate_ts(ms_ts16 ts, int32_t precision)
{
    if (precision >= 3) {
        ts.ns -= ts.ns % pow10_i32[9 - precision];
        return ts;
    }
    int64_t rest = ms_time_floor_mod(ts.ms, pow10_i32[3 - precision]);
    ts.ms = ts.ms < INT64_MIN + rest ? INT64_MIN : ts.ms - rest;
    ts.ns = 0;
    return ts;
}
