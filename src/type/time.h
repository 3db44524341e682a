/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dates, times of day, timestamps and intervals as numbers: the proleptic Gregorian calendar
 * without leap seconds, as java.time has it. No time zones here (type/zone.h), no text
 * (type/text.h) and no clock (base/env.h).
 *
 *     DATE                    int32 days since 1970-01-01
 *     TIME                    int32 milliseconds of the day
 *     TIMESTAMP(0..6)         int64 microseconds since 1970-01-01 00:00:00
 *     TIMESTAMP(7..9)         ms_ts16: int64 milliseconds and int32 nanoseconds of the millisecond
 *     watermarks, timers      int64 milliseconds, saturating
 *     INTERVAL YEAR TO MONTH  int32 months
 *     INTERVAL DAY TO SECOND  int64 milliseconds
 *
 * Divisions floor, so that everything holds before 1970 too. Every function is defined for every
 * argument: what does not fit is refused (bool) or saturates, as its comment says.
 *
 * Ownership: values only. Thread: any.
 */
#ifndef MS_TYPE_TIME_H
#define MS_TYPE_TIME_H

#include "type/vec.h"

#define MS_TIME_MS_PER_DAY INT64_C(86400000)
#define MS_TIME_US_PER_DAY INT64_C(86400000000)
#define MS_TIME_NS_PER_DAY INT64_C(86400000000000)

typedef struct ms_time_date {
    int32_t year;  /* astronomical: 0 is 1 BC */
    int32_t month; /* 1..12 */
    int32_t day;   /* 1..31 */
} ms_time_date;

/* All fields of a timestamp. */
typedef struct ms_time_fields {
    ms_time_date date;
    int32_t hour;
    int32_t minute;
    int32_t second;
    int32_t nano; /* 0..999999999, of the second */
} ms_time_fields;

/* Arithmetic. divisor > 0. */

static inline int64_t ms_time_floor_div(int64_t value, int64_t divisor)
{
    int64_t quotient = value / divisor;
    return quotient - (value % divisor < 0);
}

static inline int64_t ms_time_floor_mod(int64_t value, int64_t divisor)
{
    int64_t rest = value % divisor;
    return rest < 0 ? rest + divisor : rest;
}

/* Dates. */

bool ms_time_is_leap_year(int64_t year);

/* Days of a month, 28 to 31; month 1..12. */
int32_t ms_time_days_in_month(int64_t year, int32_t month);

/* Days since 1970-01-01 of a date with month 1..12; a day beyond the month rolls over. Years beyond
 * +-1,000,000,000 are the caller's to exclude. */
int64_t ms_time_days_from_date(int64_t year, int32_t month, int32_t day);

/* The date of a day number; days beyond +-300,000,000,000 are the caller's to exclude. */
ms_time_date ms_time_date_from_days(int64_t days);

/* True for a month 1..12 and a day that exists in it. */
bool ms_time_is_date(int64_t year, int32_t month, int32_t day);

/* 1 (Monday) to 7 (Sunday). */
int32_t ms_time_iso_weekday(int64_t days);

/* Adds months; the day is cut to the length of the month reached. False when the result is no
 * int32.
 */
bool ms_time_add_months(int32_t days, int32_t months, int32_t *days_out);
bool ms_time_add_months_us(int64_t us, int32_t months, int64_t *us_out);

/* Timestamps. */

ms_time_fields ms_time_fields_from_us(int64_t us);
ms_time_fields ms_time_fields_from_ts(ms_ts16 ts);

/* Nanoseconds below the microsecond are cut. False when the result is no int64. */
bool ms_time_us_from_fields(const ms_time_fields *fields, int64_t *us_out);
bool ms_time_ts_from_fields(const ms_time_fields *fields, ms_ts16 *ts_out);

/* From a day and nanoseconds since its start, which may lie outside the day (an offset was taken
 * off). The same rules. */
bool ms_time_us_from_ns(int64_t day, int64_t ns, int64_t *us_out);
bool ms_time_ts_from_ns(int64_t day, int64_t ns, ms_ts16 *ts_out);

/* The day, and the microseconds or milliseconds in it. */
static inline int64_t ms_time_day_of_us(int64_t us)
{
    return ms_time_floor_div(us, MS_TIME_US_PER_DAY);
}

static inline int64_t ms_time_us_of_day(int64_t us)
{
    return ms_time_floor_mod(us, MS_TIME_US_PER_DAY);
}

static inline int64_t ms_time_day_of_ms(int64_t ms)
{
    return ms_time_floor_div(ms, MS_TIME_MS_PER_DAY);
}

/* Between the two forms of a timestamp. */
static inline ms_ts16 ms_time_ts_from_us(int64_t us)
{
    return (ms_ts16){ms_time_floor_div(us, 1000), (int32_t)ms_time_floor_mod(us, 1000) * 1000};
}

/* Cuts nanoseconds; false when the microseconds are no int64. */
bool ms_time_us_from_ts(ms_ts16 ts, int64_t *us_out);

/* Floors to p fraction digits, 0 <= p <= 6 (us) or 9 (ts). */
int64_t ms_time_truncate_us(int64_t us, int32_t precision);
ms_ts16 ms_time_truncate_ts(ms_ts16 ts, int32_t precision);

/* Returns <0, 0, >0. */
static inline int ms_time_compare_ts(ms_ts16 a, ms_ts16 b)
{
    if (a.ms != b.ms) {
        return a.ms < b.ms ? -1 : 1;
    }
    return (a.ns > b.ns) - (a.ns < b.ns);
}

/* Milliseconds, for watermarks and timers: floors, and saturates the other way. */
static inline int64_t ms_time_ms_from_us(int64_t us)
{
    return ms_time_floor_div(us, 1000);
}

static inline int64_t ms_time_us_from_ms(int64_t ms)
{
    int64_t us = 0;
    return __builtin_mul_overflow(ms, INT64_C(1000), &us) ? (ms < 0 ? INT64_MIN : INT64_MAX) : us;
}

/* a + b and a - b, saturating: a watermark minus its delay, a window's end plus lateness. */
static inline int64_t ms_time_add_ms(int64_t a, int64_t b)
{
    int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? (a < 0 ? INT64_MIN : INT64_MAX) : sum;
}

static inline int64_t ms_time_subtract_ms(int64_t a, int64_t b)
{
    int64_t difference = 0;
    return __builtin_sub_overflow(a, b, &difference) ? (a < 0 ? INT64_MIN : INT64_MAX) : difference;
}

#endif
