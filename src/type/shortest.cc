/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one C++ file of this folder: std::to_chars and std::from_chars, which print the shortest
 * digits and read the nearest number without a locale, behind the C functions of shortest.h. It
 * decides nothing about layout.
 */
/* tidy: no-unit-test: exercised through text_number_test.c and decimal_test.c */
#include "type/shortest.h"

#include <charconv>
#include <limits>
#include <system_error>

/* An exponent beyond this is as good as this: no text is long enough to bring it back. */
static constexpr int64_t EXPONENT_LIMIT = int64_t(1) << 40;

/*
 * Takes the pieces of "d.ddde-XX" apart; the text comes from to_chars and is well-formed. Java asks
 * for the best of two digits where one would do. That differs only among the smallest numbers,
 * which have so few bits that the second digit says something: 4.9E-324, not 5.0E-324.
 */
template <typename T> static void shortest(T value, msi_shortest *digits_out)
{
    char text[40];
    std::to_chars_result end =
        std::to_chars(text, text + sizeof(text), value, std::chars_format::scientific);
    if (text[1] != '.' && value != 0 && value < 1024 * std::numeric_limits<T>::denorm_min()) {
        end = std::to_chars(text, text + sizeof(text), value, std::chars_format::scientific, 1);
    }
    int32_t count = 0;
    const char *at = text;
    for (; *at != 'e'; at++) {
        if (*at != '.') {
            digits_out->digits[count++] = *at;
        }
    }
    int32_t exponent = 0;
    for (const char *digit = at + 2; digit != end.ptr; digit++) {
        exponent = exponent * 10 + (*digit - '0');
    }
    digits_out->count = count == 2 && digits_out->digits[1] == '0' ? 1 : count;
    digits_out->exponent = at[1] == '-' ? -exponent : exponent;
}

static int64_t read_exponent(const char *text, const char *end)
{
    bool negative = text != end && *text == '-';
    int64_t exponent = 0;
    for (; text != end; text++) {
        if (*text >= '0' && *text <= '9' && exponent < EXPONENT_LIMIT) {
            exponent = exponent * 10 + (*text - '0');
        }
    }
    return negative ? -exponent : exponent;
}

/*
 * Whether a well-formed text that is out of range is so on the large side: from_chars does not say.
 * The place of its first digit that is not zero, and its exponent, do.
 */
static bool is_large(const char *text, const char *end, bool hex)
{
    const char mark = hex ? 'p' : 'e';
    int64_t place = 0;
    bool behind_point = false;
    bool found = false;
    for (; text != end && (*text | 0x20) != mark; text++) {
        if (*text == '.') {
            behind_point = true;
        } else if (!found) {
            found = *text != '0';
            place -= behind_point;
        } else {
            place += !behind_point;
        }
    }
    int64_t exponent = text != end ? read_exponent(text + 1, end) : 0;
    return place * (hex ? 4 : 1) + exponent > 0;
}

template <typename T> static bool read(const char *text, size_t bytes, bool hex, T *value_out)
{
    std::chars_format format = hex ? std::chars_format::hex : std::chars_format::general;
    T value = 0;
    const char *end = text + bytes;
    std::from_chars_result result = std::from_chars(text, end, value, format);
    if (result.ec == std::errc::invalid_argument || result.ptr != end) {
        return false;
    }
    if (result.ec == std::errc::result_out_of_range) {
        value = is_large(text, end, hex) ? std::numeric_limits<T>::infinity() : T(0);
    }
    *value_out = value;
    return true;
}

void msi_shortest_f64(double value, msi_shortest *digits_out)
{
    shortest(value, digits_out);
}

void msi_shortest_f32(float value, msi_shortest *digits_out)
{
    shortest(value, digits_out);
}

bool msi_shortest_read_f64(const char *text, size_t bytes, bool hex, double *value_out)
{
    return read(text, bytes, hex, value_out);
}

bool msi_shortest_read_f32(const char *text, size_t bytes, bool hex, float *value_out)
{
    return read(text, bytes, hex, value_out);
}
