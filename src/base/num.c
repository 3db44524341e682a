/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers, durations and sizes as text. The C library's own functions are not used: strtol and
 * printf follow the locale of the process, which belongs to the program that embeds the engine.
 */
#include "base/num.h"

#include "base/str.h"

#include <inttypes.h>
#include <string.h>

/* Long texts of users are shown in part. */
#define SHOWN_BYTES ((size_t)80)

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

size_t ms_num_count_digits(ms_str text, size_t from)
{
    size_t at = from;
    while (at < text.bytes && is_digit(text.ptr[at])) {
        at++;
    }
    return at - from;
}

bool ms_num_scan_u64(ms_str text, uint64_t *value_out)
{
    if (text.bytes == 0) {
        return false;
    }
    uint64_t value = 0;
    for (size_t i = 0; i < text.bytes; i++) {
        uint64_t digit = (uint64_t)(unsigned char)text.ptr[i] - '0';
        if (digit > 9 || __builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, digit, &value)) {
            return false;
        }
    }
    *value_out = value;
    return true;
}

bool ms_num_scan_i64(ms_str text, int64_t *value_out)
{
    if (text.bytes == 0) {
        return false;
    }
    bool negative = text.ptr[0] == '-';
    bool has_sign = negative || text.ptr[0] == '+';
    uint64_t magnitude = 0;
    if (!ms_num_scan_u64(ms_str_slice(text, has_sign ? 1 : 0, text.bytes), &magnitude)) {
        return false;
    }
    uint64_t limit = (uint64_t)INT64_MAX + (negative ? 1 : 0);
    if (magnitude > limit) {
        return false;
    }
    *value_out = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    return true;
}

/* Reports a text that is not what was wanted: "not a number: "12x"". */
static ms_rc refuse(const char *wanted, ms_str text, ms_status *st)
{
    ms_str shown = ms_str_slice(text, 0, SHOWN_BYTES);
    return ms_status_set(st, MS_INVALID_OPTION, ms_span_none, "\"%.*s%s\" is not %s",
                         MS_STR_ARG(shown), shown.bytes < text.bytes ? "..." : "", wanted);
}

ms_rc ms_num_parse_u64(ms_str text, uint64_t *value_out, ms_status *st)
{
    return ms_num_scan_u64(text, value_out)
               ? MS_OK
               : refuse("a whole number from 0 to 18446744073709551615", text, st);
}

ms_rc ms_num_parse_i64(ms_str text, int64_t *value_out, ms_status *st)
{
    return ms_num_scan_i64(text, value_out)
               ? MS_OK
               : refuse("a whole number from -9223372036854775808 to 9223372036854775807", text,
                        st);
}

ms_rc ms_num_parse_bool(ms_str text, bool *value_out, ms_status *st)
{
    bool is_true = ms_str_equals_nocase(text, ms_str_lit("true"));
    if (!is_true && !ms_str_equals_nocase(text, ms_str_lit("false"))) {
        return refuse("true or false", text, st);
    }
    *value_out = is_true;
    return MS_OK;
}

/* One unit of a table, largest first, and the labels that name it; the first one is printed. */
typedef struct unit {
    uint64_t factor;
    const char *labels[6];
} unit;

/* The labels that Flink takes (its TimeUtils) and, first in each row, prints. */
static const unit duration_units[] = {
    {UINT64_C(86400000000000), {"d", "day", "days"}},
    {UINT64_C(3600000000000), {"h", "hour", "hours"}},
    {UINT64_C(60000000000), {"min", "m", "minute", "minutes"}},
    {UINT64_C(1000000000), {"s", "sec", "secs", "second", "seconds"}},
    {UINT64_C(1000000), {"ms", "milli", "millis", "millisecond", "milliseconds"}},
    {UINT64_C(1000), {"\xC2\xB5s", "micro", "micros", "microsecond", "microseconds"}},
    {UINT64_C(1), {"ns", "nano", "nanos", "nanosecond", "nanoseconds"}},
};

/* The labels that Flink takes (its MemorySize) and, first in each row, prints. */
static const unit memory_units[] = {
    {UINT64_C(1) << 40, {"tb", "t", "tebibytes"}},
    {UINT64_C(1) << 30, {"gb", "g", "gibibytes"}},
    {UINT64_C(1) << 20, {"mb", "m", "mebibytes"}},
    {UINT64_C(1) << 10, {"kb", "k", "kibibytes"}},
    {UINT64_C(1), {"bytes", "b"}},
};

#define COUNT_OF(table) (sizeof(table) / sizeof((table)[0]))

static bool unit_has_label(const unit *candidate, ms_str label)
{
    for (size_t i = 0; i < COUNT_OF(candidate->labels) && candidate->labels[i] != NULL; i++) {
        if (ms_str_equals_nocase(label, ms_str_cstr(candidate->labels[i]))) {
            return true;
        }
    }
    return false;
}

/* The factor of the unit with this label; 0 when no unit has it. */
static uint64_t find_factor(const unit *units, size_t count, ms_str label)
{
    for (size_t i = 0; i < count; i++) {
        if (unit_has_label(&units[i], label)) {
            return units[i].factor;
        }
    }
    return 0;
}

/* Reads "<digits> <label>", blanks allowed, into digits * factor; false when that is not what it
 * is or does not fit 64 bits. */
static bool scan_quantity(ms_str text, const unit *units, size_t count, uint64_t bare_factor,
                          uint64_t *product_out)
{
    ms_str trimmed = ms_str_trim(text);
    size_t digits = ms_num_count_digits(trimmed, 0);
    ms_str label = ms_str_trim(ms_str_slice(trimmed, digits, trimmed.bytes));
    uint64_t factor = label.bytes == 0 ? bare_factor : find_factor(units, count, label);
    uint64_t number = 0;
    return factor != 0 && ms_num_scan_u64(ms_str_slice(trimmed, 0, digits), &number) &&
           !__builtin_mul_overflow(number, factor, product_out);
}

ms_rc ms_num_parse_duration_ns(ms_str text, int64_t *duration_ns_out, ms_status *st)
{
    uint64_t duration_ns = 0;
    bool scanned =
        scan_quantity(text, duration_units, COUNT_OF(duration_units), 1000000, &duration_ns);
    if (!scanned || duration_ns > (uint64_t)INT64_MAX) {
        refuse("a duration of at most 292 years", text, st);
        return ms_status_hint(st, "Write a whole number and a unit (d, h, min, s, ms, micros, ns), "
                                  "as in '10 s'.");
    }
    *duration_ns_out = (int64_t)duration_ns;
    return MS_OK;
}

ms_rc ms_num_parse_duration_ms(ms_str text, int64_t *duration_ms_out, ms_status *st)
{
    int64_t duration_ns = 0;
    MS_TRY(ms_num_parse_duration_ns(text, &duration_ns, st));
    *duration_ms_out = duration_ns / 1000000;
    return MS_OK;
}

ms_rc ms_num_parse_memory(ms_str text, uint64_t *bytes_out, ms_status *st)
{
    uint64_t bytes = 0;
    if (!scan_quantity(text, memory_units, COUNT_OF(memory_units), 1, &bytes)) {
        refuse("a memory size", text, st);
        return ms_status_hint(st, "Write a whole number and a unit (b, kb, mb, gb, tb), as in "
                                  "'64 mb'.");
    }
    *bytes_out = bytes;
    return MS_OK;
}

size_t ms_num_print_u64(uint64_t value, char *text_out)
{
    char digits[20];
    size_t count = 0;
    do {
        digits[sizeof(digits) - ++count] = (char)('0' + value % 10);
        value /= 10;
    } while (value != 0);
    memcpy(text_out, digits + sizeof(digits) - count, count);
    return count;
}

size_t ms_num_print_i64(int64_t value, char *text_out)
{
    if (value >= 0) {
        return ms_num_print_u64((uint64_t)value, text_out);
    }
    text_out[0] = '-';
    return 1 + ms_num_print_u64(0 - (uint64_t)value, text_out + 1);
}

static size_t print_quantity(uint64_t value, const unit *shown, char *text_out)
{
    size_t bytes = ms_num_print_u64(value / shown->factor, text_out);
    ms_str label = ms_str_cstr(shown->labels[0]);
    text_out[bytes++] = ' ';
    memcpy(text_out + bytes, label.ptr, label.bytes);
    return bytes + label.bytes;
}

/* The largest unit that divides value; the last one, whose factor is 1, divides everything. */
static const unit *largest_divisor(const unit *units, uint64_t value)
{
    while (value % units->factor != 0) {
        units++;
    }
    return units;
}

size_t ms_num_print_duration_ns(int64_t duration_ns, char *text_out)
{
    MS_ASSERT(duration_ns >= 0);
    if (duration_ns == 0) {
        memcpy(text_out, "0 ms", 4);
        return 4;
    }
    return print_quantity((uint64_t)duration_ns,
                          largest_divisor(duration_units, (uint64_t)duration_ns), text_out);
}

size_t ms_num_print_memory(uint64_t bytes, char *text_out)
{
    const unit *shown = bytes == 0 ? &memory_units[COUNT_OF(memory_units) - 1]
                                   : largest_divisor(memory_units, bytes);
    return print_quantity(bytes, shown, text_out);
}
