/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A TZif file has a block for 32-bit times, which is skipped, a block for 64-bit times, and a last
 * line with the rule for all times after it, in the form of POSIX's TZ variable:
 *
 *     header | 32-bit block | header | times  types  type table ... | \nCET-1CEST,M3.5.0,...\n
 *
 * All numbers are big-endian. The rule is written out as changes for 401 years behind the last time
 * of the table, or behind the epoch for a table that ends earlier.
 */
#include "type/tz_file.h"

#include "type/time.h"

#define HEADER_BYTES 44u
#define COUNT_MAX 65536u     /* of times, types and characters; a real file has under 300 */
#define RULE_YEARS 401       /* a full cycle, and the year in which the table ends */
#define OFFSET_LIMIT_S 93600 /* RFC 8536: offsets lie between -25 and 26 hours */

/* Counts of a header, in the order of the file. */
typedef struct tz_header {
    uint32_t ut_count;
    uint32_t standard_count;
    uint32_t leap_count;
    uint32_t time_count;
    uint32_t type_count;
    uint32_t char_count;
} tz_header;

typedef struct tz_builder {
    int64_t *from_s;
    int32_t *offset_s;
    uint32_t count;
} tz_builder;

static uint64_t read_big_endian(const char *at, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = 0; i < bytes; i++) {
        value = value << 8 | (unsigned char)at[i];
    }
    return value;
}

static bool read_header(ms_str file, size_t at, tz_header *header_out)
{
    if (file.bytes < at || file.bytes - at < HEADER_BYTES ||
        memcmp(file.ptr + at, "TZif", 4) != 0 || file.ptr[at + 4] < '2') {
        return false;
    }
    uint32_t counts[6];
    for (size_t i = 0; i < 6; i++) {
        counts[i] = (uint32_t)read_big_endian(file.ptr + at + 20 + 4 * i, 4);
        if (counts[i] > COUNT_MAX) {
            return false;
        }
    }
    *header_out = (tz_header){counts[0], counts[1], counts[2], counts[3], counts[4], counts[5]};
    return true;
}

static size_t block_bytes(const tz_header *header, size_t time_bytes)
{
    return header->time_count * (time_bytes + 1) + header->type_count * 6u + header->char_count +
           header->leap_count * (time_bytes + 4) + header->standard_count + header->ut_count;
}

/* A change that does not change the offset is left out; one at the same time replaces the last. */
static void add_change(tz_builder *builder, int64_t at_s, int32_t offset_s)
{
    uint32_t last = builder->count - 1;
    if (builder->from_s[last] == at_s && last > 0) {
        builder->offset_s[last] = offset_s;
    } else if (builder->offset_s[last] != offset_s && at_s > builder->from_s[last]) {
        builder->from_s[last + 1] = at_s;
        builder->offset_s[last + 1] = offset_s;
        builder->count++;
    }
}

/* Reads the 64-bit block at `at`. */
static bool read_block(ms_str file, size_t at, const tz_header *header, tz_builder *builder)
{
    const char *times = file.ptr + at;
    const char *indexes = times + header->time_count * (size_t)8;
    const char *types = indexes + header->time_count;
    for (uint32_t i = 0; i <= header->time_count; i++) {
        /* Before the first time, type 0 holds. */
        uint32_t type = i == 0 ? 0 : (unsigned char)indexes[i - 1];
        if (type >= header->type_count) {
            return false;
        }
        int32_t offset = (int32_t)(uint32_t)read_big_endian(types + type * (size_t)6, 4);
        if (offset < -OFFSET_LIMIT_S || offset > OFFSET_LIMIT_S) {
            return false;
        }
        if (i == 0) {
            builder->from_s[0] = INT64_MIN;
            builder->offset_s[0] = offset;
            builder->count = 1;
        } else {
            add_change(builder, (int64_t)read_big_endian(times + (i - 1) * (size_t)8, 8), offset);
        }
    }
    return true;
}

/* The rule. */

typedef enum day_form { DAY_OF_YEAR_NO_LEAP, DAY_OF_YEAR, WEEKDAY_OF_MONTH } day_form;

/* When a change happens in a year. */
typedef struct rule_day {
    day_form form;
    int32_t month;
    int32_t week; /* 5: the last */
    int32_t day;
    int32_t time_s;
} rule_day;

typedef struct tz_rule {
    int32_t standard_s;
    int32_t summer_s;
    bool has_summer;
    rule_day start;
    rule_day end;
} tz_rule;

static bool at_char(const ms_str *text, char c)
{
    return text->bytes > 0 && text->ptr[0] == c;
}

static bool skip_char(ms_str *text, char c)
{
    if (!at_char(text, c)) {
        return false;
    }
    *text = ms_str_slice(*text, 1, text->bytes);
    return true;
}

static bool take_number(ms_str *text, int32_t max, int32_t *number_out)
{
    int32_t number = 0;
    size_t digits = 0;
    while (digits < text->bytes && text->ptr[digits] >= '0' && text->ptr[digits] <= '9') {
        number = number * 10 + (text->ptr[digits] - '0');
        digits++;
        if (number > max) {
            return false;
        }
    }
    *text = ms_str_slice(*text, digits, text->bytes);
    *number_out = number;
    return digits > 0;
}

/* [+-]h[h[h]][:mm[:ss]] in seconds. */
static bool take_time(ms_str *text, int32_t *seconds_out)
{
    bool negative = at_char(text, '-');
    if (negative || at_char(text, '+')) {
        *text = ms_str_slice(*text, 1, text->bytes);
    }
    int32_t hours = 0;
    int32_t minutes = 0;
    int32_t seconds = 0;
    if (!take_number(text, 167, &hours) ||
        (skip_char(text, ':') && !take_number(text, 59, &minutes)) ||
        (skip_char(text, ':') && !take_number(text, 59, &seconds))) {
        return false;
    }
    int32_t total = hours * 3600 + minutes * 60 + seconds;
    *seconds_out = negative ? -total : total;
    return true;
}

/* A name of letters, or of anything in angle brackets. */
static bool skip_name(ms_str *text)
{
    size_t bytes = 0;
    if (at_char(text, '<')) {
        size_t close = ms_str_find_byte(*text, '>', 0);
        bytes = close == SIZE_MAX ? 0 : close + 1;
    } else {
        while (bytes < text->bytes && ((text->ptr[bytes] | 0x20) >= 'a') &&
               ((text->ptr[bytes] | 0x20) <= 'z')) {
            bytes++;
        }
    }
    *text = ms_str_slice(*text, bytes, text->bytes);
    return bytes > 0;
}

/* Jn, n or Mm.w.d, and /time. */
static bool take_day(ms_str *text, rule_day *day_out)
{
    rule_day day = {.time_s = 2 * 3600};
    if (skip_char(text, 'M')) {
        day.form = WEEKDAY_OF_MONTH;
        if (!take_number(text, 12, &day.month) || !skip_char(text, '.') ||
            !take_number(text, 5, &day.week) || !skip_char(text, '.') ||
            !take_number(text, 6, &day.day) || day.month == 0 || day.week == 0) {
            return false;
        }
    } else {
        day.form = skip_char(text, 'J') ? DAY_OF_YEAR_NO_LEAP : DAY_OF_YEAR;
        if (!take_number(text, 365, &day.day) ||
            (day.form == DAY_OF_YEAR_NO_LEAP && day.day == 0)) {
            return false;
        }
    }
    if (skip_char(text, '/') && !take_time(text, &day.time_s)) {
        return false;
    }
    *day_out = day;
    return true;
}

/* Offsets in the rule are positive west of Greenwich. */
static bool parse_rule(ms_str text, tz_rule *rule_out)
{
    tz_rule rule = {0};
    int32_t west = 0;
    if (!skip_name(&text) || !take_time(&text, &west)) {
        return false;
    }
    rule.standard_s = -west;
    rule.summer_s = rule.standard_s + 3600;
    rule.has_summer = text.bytes > 0;
    if (rule.has_summer) {
        if (!skip_name(&text)) {
            return false;
        }
        if (text.bytes > 0 && !at_char(&text, ',')) {
            if (!take_time(&text, &west)) {
                return false;
            }
            rule.summer_s = -west;
        }
        if (!skip_char(&text, ',') || !take_day(&text, &rule.start) || !skip_char(&text, ',') ||
            !take_day(&text, &rule.end) || text.bytes > 0) {
            return false;
        }
    }
    *rule_out = rule;
    return true;
}

/* The local seconds, of fields read as if UTC, at which a change happens in a year. */
static int64_t change_in_year(const rule_day *rule, int64_t year)
{
    int64_t days = ms_time_days_from_date(year, 1, 1);
    if (rule->form == WEEKDAY_OF_MONTH) {
        int64_t first = ms_time_days_from_date(year, rule->month, 1);
        int32_t ahead = (rule->day - ms_time_iso_weekday(first) % 7 + 7) % 7;
        int32_t day = ahead + (rule->week - 1) * 7;
        if (day >= ms_time_days_in_month(year, rule->month)) {
            day -= 7;
        }
        days = first + day;
    } else if (rule->form == DAY_OF_YEAR) {
        days += rule->day;
    } else {
        /* Days 1 to 365, 29 February never counted. */
        days += rule->day - 1 + (rule->day >= 60 && ms_time_is_leap_year(year));
    }
    return days * 86400 + rule->time_s;
}

/* Writes the changes of the years behind the table out. */
static void extend(tz_builder *builder, const tz_rule *rule)
{
    int64_t last_s = builder->count > 1 ? builder->from_s[builder->count - 1] : 0;
    int64_t last_day = ms_time_floor_div(last_s < 0 ? 0 : last_s, 86400);
    int64_t first_year = ms_time_date_from_days(last_day).year;
    for (int64_t year = first_year; year <= first_year + RULE_YEARS; year++) {
        int64_t start_s = change_in_year(&rule->start, year) - rule->standard_s;
        int64_t end_s = change_in_year(&rule->end, year) - rule->summer_s;
        bool start_first = start_s < end_s;
        add_change(builder, start_first ? start_s : end_s,
                   start_first ? rule->summer_s : rule->standard_s);
        add_change(builder, start_first ? end_s : start_s,
                   start_first ? rule->standard_s : rule->summer_s);
    }
}

/* The last line of the file, from `at` on: a line feed, the rule, a line feed. */
static bool apply_rule(ms_str file, size_t at, tz_builder *builder, bool *cyclic_out)
{
    ms_str footer = ms_str_slice(file, at, file.bytes);
    if (!skip_char(&footer, '\n')) {
        return false;
    }
    size_t end = ms_str_find_byte(footer, '\n', 0);
    if (end == SIZE_MAX) {
        return false;
    }
    ms_str text = ms_str_slice(footer, 0, end);
    if (text.bytes == 0) {
        return true; /* no rule: the last offset holds */
    }
    tz_rule rule;
    if (!parse_rule(text, &rule)) {
        return false;
    }
    if (rule.has_summer) {
        extend(builder, &rule);
        *cyclic_out = true;
    }
    return true;
}

bool msi_tz_read(ms_str file, ms_arena *arena, msi_tz_table *table_out)
{
    tz_header header;
    if (!read_header(file, 0, &header)) {
        return false;
    }
    size_t second = HEADER_BYTES + block_bytes(&header, 4);
    if (!read_header(file, second, &header) || header.leap_count > 0 || header.type_count == 0) {
        return false;
    }
    size_t block = second + HEADER_BYTES;
    size_t footer = block + block_bytes(&header, 8);
    if (footer > file.bytes) {
        return false;
    }
    size_t room = (size_t)header.time_count + 1 + 2 * (RULE_YEARS + 1);
    tz_builder builder = {
        .from_s = ms_arena_array(arena, int64_t, room),
        .offset_s = ms_arena_array(arena, int32_t, room),
    };
    bool cyclic = false;
    if (!read_block(file, block, &header, &builder) ||
        !apply_rule(file, footer, &builder, &cyclic)) {
        return false;
    }
    *table_out = (msi_tz_table){builder.count, cyclic, builder.from_s, builder.offset_s};
    return true;
}
