/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text of dates, times, timestamps and intervals. The strict parsers and the printers run once a
 * cell in formats; the usual shape, four digits of year and fixed places, is read and written
 * without a loop over characters. The lenient forms of CAST follow below.
 */
#include "type/text.h"

#include "type/text_priv.h"

#define NS_PER_SECOND 1000000000
#define YEAR_DIGITS_MAX 9u /* as java.time */

static const int32_t pow10_i32[] = {1,      10,      100,      1000,      10000,
                                    100000, 1000000, 10000000, 100000000, 1000000000};

/* Printing. */

static char *put_year(char *out, int32_t year)
{
    if (year >= 0 && year <= 9999) {
        uint32_t four = (uint32_t)year;
        return msi_put_pair(msi_put_pair(out, four / 100), four % 100);
    }
    *out++ = year < 0 ? '-' : '+';
    int64_t magnitude = year < 0 ? -(int64_t)year : year;
    if (magnitude <= 9999) {
        return msi_put_digits(out, (uint64_t)magnitude, 4);
    }
    return out + ms_text_i64(out, magnitude);
}

static char *put_date(char *out, int64_t days)
{
    ms_time_date date = ms_time_date_from_days(days);
    out = put_year(out, date.year);
    *out++ = '-';
    out = msi_put_pair(out, (uint32_t)date.month);
    *out++ = '-';
    return msi_put_pair(out, (uint32_t)date.day);
}

/* How many of the nine digits of the fraction are shown; those behind the precision are zeros. */
static size_t fraction_digits(const char *nine, int32_t precision, ms_text_fraction fraction)
{
    size_t digits = (size_t)precision;
    if (fraction == MS_TEXT_EXACT) {
        return digits;
    }
    while (digits > 0 && nine[digits - 1] == '0') {
        digits--;
    }
    if (fraction == MS_TEXT_JAVA) {
        return (digits + 2) / 3 * 3;
    }
    return digits == 0 && fraction == MS_TEXT_TIME && precision > 0 ? 1 : digits;
}

static char *put_time(char *out, uint32_t seconds, uint32_t nano, int32_t precision,
                      ms_text_fraction fraction)
{
    char nine[9];
    (void)msi_put_digits(nine, nano, 9);
    memset(nine + precision, '0', sizeof(nine) - (size_t)precision);
    size_t digits = fraction_digits(nine, precision, fraction);
    out = msi_put_pair(out, seconds / 3600);
    *out++ = ':';
    out = msi_put_pair(out, seconds / 60 % 60);
    if (fraction == MS_TEXT_JAVA && digits == 0 && seconds % 60 == 0) {
        return out;
    }
    *out++ = ':';
    out = msi_put_pair(out, seconds % 60);
    if (digits > 0) {
        *out++ = '.';
        memcpy(out, nine, digits);
    }
    return out + digits;
}

size_t ms_text_date(char *out, int32_t days)
{
    return (size_t)(put_date(out, days) - out);
}

size_t ms_text_time(char *out, int32_t ms_of_day, int32_t precision, ms_text_fraction fraction)
{
    uint32_t ms = (uint32_t)ms_time_floor_mod(ms_of_day, MS_TIME_MS_PER_DAY);
    return (size_t)(put_time(out, ms / 1000, ms % 1000 * 1000000, precision, fraction) - out);
}

size_t ms_text_timestamp_us(char *out, int64_t us, int32_t precision, ms_text_fraction fraction,
                            char separator)
{
    uint64_t us_of_day = (uint64_t)ms_time_us_of_day(us);
    char *at = put_date(out, ms_time_day_of_us(us));
    *at++ = separator;
    at = put_time(at, (uint32_t)(us_of_day / 1000000), (uint32_t)(us_of_day % 1000000) * 1000,
                  precision, fraction);
    return (size_t)(at - out);
}

size_t ms_text_timestamp_ts(char *out, ms_ts16 ts, int32_t precision, ms_text_fraction fraction,
                            char separator)
{
    uint32_t ms_of_day = (uint32_t)ms_time_floor_mod(ts.ms, MS_TIME_MS_PER_DAY);
    char *at = put_date(out, ms_time_day_of_ms(ts.ms));
    *at++ = separator;
    at = put_time(at, ms_of_day / 1000, ms_of_day % 1000 * 1000000 + (uint32_t)ts.ns, precision,
                  fraction);
    return (size_t)(at - out);
}

size_t ms_text_interval_months(char *out, int32_t months)
{
    int64_t magnitude = months < 0 ? -(int64_t)months : months;
    char *at = out;
    *at++ = months < 0 ? '-' : '+';
    at += ms_text_i64(at, magnitude / 12);
    *at++ = '-';
    at = msi_put_pair(at, (uint32_t)(magnitude % 12));
    return (size_t)(at - out);
}

size_t ms_text_interval_ms(char *out, int64_t ms)
{
    uint64_t magnitude = ms < 0 ? 0 - (uint64_t)ms : (uint64_t)ms;
    uint32_t ms_of_day = (uint32_t)(magnitude % (uint64_t)MS_TIME_MS_PER_DAY);
    char *at = out;
    *at++ = ms < 0 ? '-' : '+';
    at += ms_text_u64(at, magnitude / (uint64_t)MS_TIME_MS_PER_DAY);
    *at++ = ' ';
    at = put_time(at, ms_of_day / 1000, ms_of_day % 1000 * 1000000, 3, MS_TEXT_EXACT);
    return (size_t)(at - out);
}

/* Scanning. */

/* What is left of a text. */
typedef struct scan {
    const char *at;
    const char *end;
} scan;

static scan scan_of(ms_str text)
{
    return (scan){text.ptr, text.bytes == 0 ? text.ptr : text.ptr + text.bytes};
}

static size_t left(const scan *s)
{
    return (size_t)(s->end - s->at);
}

static bool take_char(scan *s, char c)
{
    if (s->at == s->end || *s->at != c) {
        return false;
    }
    s->at++;
    return true;
}

/* Takes all digits in a row; false unless they are min to max many. */
static bool take_digits(scan *s, size_t min, size_t max, int32_t *value_out)
{
    int64_t value = 0;
    const char *start = s->at;
    while (s->at != s->end && (unsigned)(*s->at - '0') <= 9u) {
        if ((size_t)(s->at - start) == max) {
            return false;
        }
        value = value * 10 + (*s->at - '0');
        s->at++;
    }
    *value_out = (int32_t)value; /* max is at most 9 */
    return (size_t)(s->at - start) >= min;
}

/* The number of the two digits at `at`; anything else sets a bit in *bad. */
static inline int32_t two_digits(const char *at, unsigned *bad)
{
    unsigned high = (unsigned)(at[0] - '0');
    unsigned low = (unsigned)(at[1] - '0');
    *bad |= (unsigned)(high > 9u) | (unsigned)(low > 9u);
    return (int32_t)(high * 10u + low);
}

/*
 * '.' and 0 to 9 digits, as nanoseconds, of which those behind the precision are cut; nothing at
 * all is zero.
 */
static bool take_fraction(scan *s, int32_t precision, int32_t *nano_out)
{
    *nano_out = 0;
    if (!take_char(s, '.')) {
        return true;
    }
    const char *start = s->at;
    int32_t value = 0;
    int32_t kept = 0;
    for (; s->at != s->end && (unsigned)(*s->at - '0') <= 9u; s->at++) {
        if (kept < precision) {
            value = value * 10 + (*s->at - '0');
            kept++;
        }
    }
    *nano_out = value * pow10_i32[9 - kept];
    return s->at - start <= 9;
}

/* A sign and more than four digits of year, or a minus and four. */
static bool take_signed_year(scan *s, int64_t *year_out)
{
    bool negative = *s->at == '-';
    s->at++;
    const char *start = s->at;
    int32_t year = 0;
    if (!take_digits(s, 4, YEAR_DIGITS_MAX, &year) || (!negative && s->at - start < 5)) {
        return false;
    }
    *year_out = negative ? -(int64_t)year : year;
    return true;
}

/* yyyy-MM-dd, checked against the calendar. */
static bool take_date(scan *s, int64_t *days_out)
{
    int64_t year = 0;
    unsigned bad = 0;
    if (left(s) < 10) {
        return false;
    }
    if (*s->at == '+' || *s->at == '-') {
        if (!take_signed_year(s, &year)) {
            return false;
        }
    } else {
        year = two_digits(s->at, &bad) * 100;
        year += two_digits(s->at + 2, &bad);
        s->at += 4;
    }
    if (left(s) < 6 || s->at[0] != '-' || s->at[3] != '-') {
        return false;
    }
    int32_t month = two_digits(s->at + 1, &bad);
    int32_t day = two_digits(s->at + 4, &bad);
    if (bad != 0 || !ms_time_is_date(year, month, day)) {
        return false;
    }
    s->at += 6;
    *days_out = ms_time_days_from_date(year, month, day);
    return true;
}

/* HH:mm[:ss[.f]], in nanoseconds of the day; the fraction is cut to the precision. */
static bool take_time(scan *s, bool seconds_optional, int32_t precision, int64_t *ns_out)
{
    unsigned bad = 0;
    if (left(s) < 5 || s->at[2] != ':') {
        return false;
    }
    int32_t hour = two_digits(s->at, &bad);
    int32_t minute = two_digits(s->at + 3, &bad);
    int32_t second = 0;
    int32_t nano = 0;
    s->at += 5;
    if (left(s) >= 3 && s->at[0] == ':') {
        second = two_digits(s->at + 1, &bad);
        s->at += 3;
        if (!take_fraction(s, precision, &nano)) {
            return false;
        }
    } else if (!seconds_optional) {
        return false;
    }
    if (bad != 0 || hour > 23 || minute > 59 || second > 59) {
        return false;
    }
    *ns_out = (int64_t)(hour * 3600 + minute * 60 + second) * NS_PER_SECOND + nano;
    return true;
}

/* 24:00[:00[.0]], or nothing. */
static bool take_end_of_day(scan *s, bool seconds_optional, int64_t *ns_out)
{
    scan at = *s;
    bool is_end = left(&at) >= 5 && memcmp(at.at, "24:00", 5) == 0;
    if (!is_end) {
        return false;
    }
    at.at += 5;
    if (left(&at) >= 3 && memcmp(at.at, ":00", 3) == 0) {
        int32_t nano = 0;
        at.at += 3;
        if (!take_fraction(&at, 9, &nano) || nano != 0) {
            return false;
        }
    } else if (!seconds_optional) {
        return false;
    }
    *s = at;
    *ns_out = MS_TIME_NS_PER_DAY;
    return true;
}

/* Z, or +HH:mm[:ss]. */
static bool take_offset(scan *s, int32_t *offset_s_out)
{
    *offset_s_out = 0;
    if (take_char(s, 'Z')) {
        return true;
    }
    if (left(s) < 6 || (*s->at != '+' && *s->at != '-')) {
        return false;
    }
    bool negative = *s->at == '-';
    s->at++;
    int64_t ns = 0;
    if (!take_time(s, true, 9, &ns) || ns % NS_PER_SECOND != 0) {
        return false;
    }
    int32_t offset = (int32_t)(ns / NS_PER_SECOND);
    *offset_s_out = negative ? -offset : offset;
    return offset <= 18 * 3600;
}

/* Strict forms. */

bool ms_text_parse_date(ms_str text, int32_t *days_out)
{
    scan s = scan_of(text);
    int64_t days = 0;
    if (!take_date(&s, &days) || s.at != s.end || days < INT32_MIN || days > INT32_MAX) {
        return false;
    }
    *days_out = (int32_t)days;
    return true;
}

bool ms_text_parse_time(ms_str text, bool seconds_optional, int32_t *ms_of_day_out)
{
    scan s = scan_of(text);
    int64_t ns = 0;
    if (!take_time(&s, seconds_optional, 3, &ns) || s.at != s.end) {
        return false;
    }
    *ms_of_day_out = (int32_t)(ns / 1000000);
    return true;
}

/* A day, and nanoseconds of it that an offset may have moved out of the day. Cutting the fraction
 * of the text floors, also before the epoch: the day is what is negative, and offsets are whole
 * seconds. */
typedef struct moment {
    int64_t days;
    int64_t ns;
} moment;

static bool parse_moment(ms_str text, ms_text_timestamp_form form, int32_t precision,
                         moment *moment_out)
{
    scan s = scan_of(text);
    bool iso = form == MS_TEXT_ISO || form == MS_TEXT_ISO_Z || form == MS_TEXT_ISO_OFFSET;
    bool has_day = take_date(&s, &moment_out->days) &&
                   (take_char(&s, iso ? 'T' : ' ') || (form == MS_TEXT_ISO && take_char(&s, 't')));
    bool has_end = form == MS_TEXT_SQL || form == MS_TEXT_SQL_Z || form == MS_TEXT_ISO_Z;
    if (!has_day || !((has_end && take_end_of_day(&s, iso, &moment_out->ns)) ||
                      take_time(&s, iso, precision, &moment_out->ns))) {
        return false;
    }
    int32_t offset_s = 0;
    bool suffix = true;
    switch (form) {
    case MS_TEXT_LITERAL:
    case MS_TEXT_SQL:
    case MS_TEXT_ISO:
        break;
    case MS_TEXT_SQL_Z:
    case MS_TEXT_ISO_Z:
        suffix = take_char(&s, 'Z');
        break;
    case MS_TEXT_ISO_OFFSET:
        suffix = take_offset(&s, &offset_s);
        break;
    }
    moment_out->ns -= (int64_t)offset_s * NS_PER_SECOND;
    return suffix && s.at == s.end;
}

bool ms_text_parse_timestamp_us(ms_str text, ms_text_timestamp_form form, int32_t precision,
                                int64_t *us_out)
{
    moment at = {0};
    return parse_moment(text, form, precision, &at) && ms_time_us_from_ns(at.days, at.ns, us_out);
}

bool ms_text_parse_timestamp_ts(ms_str text, ms_text_timestamp_form form, int32_t precision,
                                ms_ts16 *ts_out)
{
    moment at = {0};
    return parse_moment(text, form, precision, &at) && ms_time_ts_from_ns(at.days, at.ns, ts_out);
}

/* Lenient forms. */

bool ms_text_cast_date(ms_str text, int32_t *days_out)
{
    size_t blank = ms_str_find_byte(text, ' ', 0);
    scan s = scan_of(ms_str_trim(blank > 0 ? ms_str_slice(text, 0, blank) : text));
    int32_t year = 0;
    int32_t month = 1;
    int32_t day = 1;
    if (!take_digits(&s, 1, YEAR_DIGITS_MAX, &year) ||
        (take_char(&s, '-') && !take_digits(&s, 1, YEAR_DIGITS_MAX, &month)) ||
        (take_char(&s, '-') && !take_digits(&s, 1, YEAR_DIGITS_MAX, &day)) || s.at != s.end ||
        year > 9999 || !ms_time_is_date(year, month, day)) {
        return false;
    }
    *days_out = (int32_t)ms_time_days_from_date(year, month, day);
    return true;
}

/* A fraction of any length, in milliseconds, rounded half up by its fourth digit. */
static bool take_rounded_ms(scan *s, int32_t *ms_out)
{
    int32_t ms = 0;
    int32_t digits = 0;
    for (; s->at != s->end && (unsigned)(*s->at - '0') <= 9u; s->at++, digits++) {
        int32_t digit = *s->at - '0';
        if (digits < 3) {
            ms += digit * pow10_i32[2 - digits];
        } else if (digits == 3) {
            ms += digit >= 5;
        }
    }
    *ms_out = ms;
    return digits > 0;
}

/* h[:m[:s[.f]]], in milliseconds. */
static bool take_short_time(scan *s, int32_t *ms_out)
{
    int32_t hour = 0;
    int32_t minute = 0;
    int32_t second = 0;
    int32_t ms = 0;
    if (!take_digits(s, 1, 2, &hour)) {
        return false;
    }
    if (take_char(s, ':')) {
        if (!take_digits(s, 1, 2, &minute)) {
            return false;
        }
        bool seconds = take_char(s, ':');
        if (seconds &&
            (!take_digits(s, 1, 2, &second) || (take_char(s, '.') && !take_rounded_ms(s, &ms)))) {
            return false;
        }
    }
    *ms_out = (hour * 3600 + minute * 60 + second) * 1000 + ms;
    return hour < 24 && minute < 60 && second < 60;
}

bool ms_text_cast_time(ms_str text, int32_t *ms_of_day_out)
{
    scan s = scan_of(ms_str_trim(text));
    int32_t ms = 0;
    int32_t offset_hour = 0;
    int32_t offset_minute = 0;
    if (!take_short_time(&s, &ms)) {
        return false;
    }
    bool negative = s.at != s.end && *s.at == '-';
    if ((take_char(&s, '+') || take_char(&s, '-')) &&
        (!take_digits(&s, 1, 2, &offset_hour) ||
         (take_char(&s, ':') && !take_digits(&s, 1, 2, &offset_minute)))) {
        return false;
    }
    if (s.at != s.end || offset_hour > 23 || offset_minute > 59) {
        return false;
    }
    int32_t offset_ms = (offset_hour * 60 + offset_minute) * 60000;
    *ms_of_day_out = (int32_t)ms_time_floor_mod((int64_t)ms + (negative ? -offset_ms : offset_ms),
                                                MS_TIME_MS_PER_DAY);
    return true;
}

/* The year of java.time's "yyyy": four digits, or a plus sign and more; from 1 on. */
static bool take_era_year(scan *s, int64_t *year_out)
{
    bool plus = take_char(s, '+');
    const char *start = s->at;
    int32_t year = 0;
    if (!take_digits(s, 4, YEAR_DIGITS_MAX, &year) || (s->at - start > 4) != plus || year == 0) {
        return false;
    }
    *year_out = year;
    return true;
}

static bool take_month_and_day(scan *s, int32_t *month_out, int32_t *day_out)
{
    return take_char(s, '-') && take_digits(s, 1, 2, month_out) && take_char(s, '-') &&
           take_digits(s, 1, 2, day_out) && *month_out >= 1 && *month_out <= 12 && *day_out >= 1 &&
           *day_out <= 31;
}

bool ms_text_parse_short_date(ms_str text, int32_t *days_out)
{
    scan s = scan_of(text);
    int32_t year = 0;
    int32_t month = 0;
    int32_t day = 0;
    if (!take_digits(&s, 4, 4, &year) || !take_month_and_day(&s, &month, &day) || s.at != s.end ||
        year == 0 || !ms_time_is_date(year, month, day)) {
        return false;
    }
    *days_out = (int32_t)ms_time_days_from_date(year, month, day);
    return true;
}

/* The fields of H:m:s[.f], not checked against their ranges. */
typedef struct loose_time {
    int32_t hour;
    int32_t minute;
    int32_t second;
    int32_t nano;
} loose_time;

static bool take_loose_time(scan *s, loose_time *time_out)
{
    return take_digits(s, 1, 2, &time_out->hour) && take_char(s, ':') &&
           take_digits(s, 1, 2, &time_out->minute) && take_char(s, ':') &&
           take_digits(s, 1, 2, &time_out->second) && take_fraction(s, 9, &time_out->nano);
}

static int64_t loose_ns(const loose_time *time)
{
    return (int64_t)(time->hour * 3600 + time->minute * 60 + time->second) * NS_PER_SECOND +
           time->nano;
}

bool ms_text_cast_timestamp(ms_str text, ms_ts16 *ts_out)
{
    scan s = scan_of(text);
    int64_t year = 0;
    int32_t month = 0;
    int32_t day = 0;
    loose_time time = {0};
    if (!take_era_year(&s, &year) || !take_month_and_day(&s, &month, &day)) {
        return false;
    }
    if (s.at != s.end && (!take_char(&s, ' ') || !take_loose_time(&s, &time))) {
        return false;
    }
    int64_t ns = loose_ns(&time);
    bool in_range = time.hour < 24 || ns == MS_TIME_NS_PER_DAY;
    if (s.at != s.end || !in_range || time.minute > 59 || time.second > 59) {
        return false;
    }
    int32_t last = ms_time_days_in_month(year, month);
    int64_t days = ms_time_days_from_date(year, month, day < last ? day : last);
    return ms_time_ts_from_ns(days, ns, ts_out);
}

bool ms_text_parse_timestamp_lenient(ms_str text, ms_ts16 *ts_out)
{
    scan s = scan_of(ms_str_trim(text));
    int32_t year = 0;
    int32_t month = 0;
    int32_t day = 0;
    loose_time time = {0};
    if (!take_digits(&s, 4, 4, &year) || !take_month_and_day(&s, &month, &day)) {
        return false;
    }
    if (take_char(&s, ' ') && !take_loose_time(&s, &time)) {
        return false;
    }
    return s.at == s.end &&
           ms_time_ts_from_ns(ms_time_days_from_date(year, month, day), loose_ns(&time), ts_out);
}
