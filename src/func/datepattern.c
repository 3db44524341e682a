/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiling and applying date patterns: a list of items, each a field with its widths or a literal
 * byte. A field that is followed at once by fields of fixed width leaves them their digits, as
 * java.time does it ("adjacent value parsing").
 */
#include "func/datepattern.h"

#include "base/num.h"
#include "type/time.h"

/* The most digits a field without a fixed width takes, as java.time has it. */
#define DIGITS_MAX 19u

typedef enum field {
    FIELD_YEAR,
    FIELD_MONTH,
    FIELD_DAY,
    FIELD_HOUR,
    FIELD_MINUTE,
    FIELD_SECOND,
    FIELD_FRACTION,
    FIELD_LITERAL,
    FIELD_COUNT
} field;

typedef struct item {
    field field;
    char literal;
    uint32_t width;    /* letters */
    uint32_t reserved; /* digits that the fields right behind need */
} item;

struct ms_datepattern {
    uint32_t count;
    const item *items;
};

static field field_of(char letter)
{
    static const char letters[] = "yMdHmsS";
    const char *found = letter != '\0' ? strchr(letters, letter) : NULL;
    return found != NULL ? (field)(found - letters) : FIELD_COUNT;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static ms_rc refuse_letter(char c, ms_status *st)
{
    ms_status_set(st, MS_NOT_SUPPORTED, ms_span_none,
                  "the letter \"%c\" in a date pattern is not supported", c);
    return ms_status_hint(st, "Supported are yyyy, MM, dd, HH, mm, ss, S and text in quotes.");
}

/* A run of one letter. */
static ms_rc add_field(item *out, ms_str text, size_t at, uint32_t *width_out, ms_status *st)
{
    char c = text.ptr[at];
    uint32_t width = 1;
    while (at + width < text.bytes && text.ptr[at + width] == c) {
        width++;
    }
    *width_out = width;
    *out = (item){.field = field_of(c), .width = width};
    uint32_t widest = c == 'y' ? 4 : c == 'S' ? 9 : 2;
    if (out->field == FIELD_COUNT || (c == 'y' && width != 4 && width != 1) ||
        (c == 'M' && width > 2)) {
        return refuse_letter(c, st);
    }
    if (width > widest) {
        ms_status_set(st, MS_INVALID_ARGUMENT, ms_span_none, "a date pattern has too many \"%c\"",
                      c);
        return ms_status_detail(st, "Too many pattern letters: %c", c);
    }
    return MS_OK;
}

/* Text in quotes; two quotes are one. */
static ms_rc add_quoted(item *items, uint32_t *count_inout, ms_str text, size_t *at_inout,
                        ms_status *st)
{
    size_t at = *at_inout + 1;
    bool is_empty = true;
    while (at < text.bytes) {
        char c = text.ptr[at++];
        if (c == '\'' && (at == text.bytes || text.ptr[at] != '\'')) {
            if (is_empty) {
                items[(*count_inout)++] = (item){.field = FIELD_LITERAL, .literal = '\''};
            }
            *at_inout = at;
            return MS_OK;
        }
        at += c == '\'';
        is_empty = false;
        items[(*count_inout)++] = (item){.field = FIELD_LITERAL, .literal = c};
    }
    return ms_status_set(st, MS_INVALID_ARGUMENT, ms_span_none,
                         "a date pattern has a quote that is not closed");
}

static bool has_fixed_width(const item *it)
{
    return it->field == FIELD_FRACTION || (it->field != FIELD_LITERAL && it->width == 2);
}

ms_rc ms_datepattern_compile(ms_arena *arena, ms_str text, const ms_datepattern **pattern_out,
                             ms_status *st)
{
    item *items = ms_arena_array(arena, item, text.bytes);
    uint32_t count = 0;
    for (size_t at = 0; at < text.bytes;) {
        char c = text.ptr[at];
        if (is_letter(c)) {
            uint32_t width = 0;
            MS_TRY(add_field(&items[count++], text, at, &width, st));
            at += width;
        } else if (c == '\'') {
            MS_TRY(add_quoted(items, &count, text, &at, st));
        } else if (c == '[' || c == ']' || c == '{' || c == '}' || c == '#') {
            return refuse_letter(c, st);
        } else {
            items[count++] = (item){.field = FIELD_LITERAL, .literal = c};
            at++;
        }
    }
    for (uint32_t i = count; i-- > 0;) {
        if (i + 1 < count && has_fixed_width(&items[i + 1])) {
            items[i].reserved = items[i + 1].width + items[i + 1].reserved;
        }
    }
    ms_datepattern *pattern = ms_arena_new(arena, ms_datepattern);
    pattern->items = items;
    pattern->count = count;
    *pattern_out = pattern;
    return MS_OK;
}

/* The values of the fields; -1: not in the pattern. */
typedef struct parsed {
    int64_t values[FIELD_COUNT];
} parsed;

static int64_t number_of(ms_str text, size_t at, size_t digits)
{
    int64_t value = 0;
    for (size_t i = 0; i < digits; i++) {
        value = value * 10 + (text.ptr[at + i] - '0');
    }
    return value;
}

/* Reads one field at `at`; false when it does not fit. */
static bool read_field(const item *it, ms_str text, size_t *at_inout, parsed *out)
{
    bool has_sign = it->field == FIELD_YEAR && it->width == 4 && *at_inout < text.bytes &&
                    text.ptr[*at_inout] == '+';
    size_t at = *at_inout + has_sign;
    size_t available = ms_num_count_digits(text, at);
    size_t digits = available > it->reserved ? available - it->reserved : 0;
    if (has_fixed_width(it)) {
        digits = available >= it->width ? it->width : 0;
    }
    /* More than four digits of year need the sign, and the sign needs more than four. */
    bool is_plain_year = it->width == 4 && !has_sign;
    if (digits == 0 || digits > DIGITS_MAX - 1 || (is_plain_year && digits != 4) ||
        (has_sign && digits <= 4)) {
        return false;
    }
    int64_t value = number_of(text, at, digits);
    if (it->field == FIELD_FRACTION) {
        for (size_t i = digits; i < 9; i++) {
            value *= 10;
        }
    }
    *at_inout = at + digits;
    /* A field that stands twice must say the same. */
    bool agrees = out->values[it->field] < 0 || out->values[it->field] == value;
    out->values[it->field] = value;
    return agrees;
}

static int64_t value_or(const parsed *p, field which, int64_t missing)
{
    return p->values[which] < 0 ? missing : p->values[which];
}

/* Combines the fields; false when one is out of range. */
static bool combine(const parsed *p, int64_t *us_out)
{
    int64_t year = value_or(p, FIELD_YEAR, 1970);
    int64_t month = value_or(p, FIELD_MONTH, 1);
    int64_t day = value_or(p, FIELD_DAY, 1);
    int64_t hour = value_or(p, FIELD_HOUR, 0);
    int64_t minute = value_or(p, FIELD_MINUTE, 0);
    int64_t second = value_or(p, FIELD_SECOND, 0);
    int64_t nano = value_or(p, FIELD_FRACTION, 0);
    bool is_midnight = hour == 24 && minute == 0 && second == 0 && nano == 0;
    if (year < 1 || year > 9999999 || month < 1 || month > 12 || day < 1 || day > 31 ||
        (hour > 23 && !is_midnight) || minute > 59 || second > 59) {
        return false;
    }
    bool has_date = p->values[FIELD_YEAR] >= 0 && p->values[FIELD_MONTH] >= 0;
    int32_t last = ms_time_days_in_month(year, (int32_t)month);
    if (day > last && !has_date) {
        return false;
    }
    /* The next day needs a date to belong to. */
    if (is_midnight && !(has_date && p->values[FIELD_DAY] >= 0)) {
        hour = 0;
    }
    day = day > last ? last : day;
    int64_t days = ms_time_days_from_date(year, (int32_t)month, (int32_t)day);
    int64_t seconds = hour * 3600 + minute * 60 + second;
    int64_t us = 0;
    bool overflows = __builtin_mul_overflow(days, MS_TIME_US_PER_DAY, &us) ||
                     __builtin_add_overflow(us, seconds * 1000000 + nano / 1000, us_out);
    return !overflows;
}

bool ms_datepattern_parse(const ms_datepattern *pattern, ms_str text, int64_t *us_out)
{
    parsed p;
    size_t at = 0;
    for (int i = 0; i < FIELD_COUNT; i++) {
        p.values[i] = -1;
    }
    for (uint32_t i = 0; i < pattern->count; i++) {
        const item *it = &pattern->items[i];
        if (it->field == FIELD_LITERAL) {
            if (at >= text.bytes || text.ptr[at] != it->literal) {
                return false;
            }
            at++;
        } else if (!read_field(it, text, &at, &p)) {
            return false;
        }
    }
    return at == text.bytes && combine(&p, us_out);
}
