/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text of numbers, dates, bytes and whole values, in both directions, independent of the locale.
 * Formats call these once a cell, so the printers write to a buffer of the caller with a stated
 * maximum and return the length (no NUL), and the parsers take a view, return whether it was
 * well-formed, and write their result only then. Parsers never trim, except where it is said.
 *
 *     char cell[MS_TEXT_F64_BYTES];
 *     MS_TRY(ms_buf_append(&line, ms_str_make(cell, ms_text_f64(cell, price)), st));
 *
 * Two families of parsers. ms_text_parse_* are the forms of data formats. ms_text_cast_* are what
 * CAST from STRING takes, Flink's quirks included.
 *
 * Ownership: nothing is kept. Thread: any.
 */
#ifndef MS_TYPE_TEXT_H
#define MS_TYPE_TEXT_H

#include "type/decimal.h"
#include "type/time.h"
#include "type/value.h"
#include "type/zone.h"

/* Numbers to text. */

#define MS_TEXT_I64_BYTES 20u     /* -9223372036854775808 */
#define MS_TEXT_F64_BYTES 25u     /* -2.2250738585072014E-308 and one spare */
#define MS_TEXT_F32_BYTES 16u     /* -1.17549435E-38 and one spare */
#define MS_TEXT_DECIMAL_BYTES 64u /* sign, 38 digits, "0.", exponent; plain forms of scale 0..38 */

size_t ms_text_i64(char *out, int64_t value);
size_t ms_text_u64(char *out, uint64_t value);

/*
 * The shortest digits that read back as the same number, in Java's layout: plain for 1e-3 <= |x| <
 * 1e7 with a digit on each side of the point (1.0, 0.001), else 1.0E10, 1.234E-5; NaN, Infinity,
 * -Infinity, -0.0.
 */
size_t ms_text_f64(char *out, double value);
size_t ms_text_f32(char *out, float value);

/* Plain, with all digits of the scale: 9.870, 0.05, -12. Scales 0 to 38, at most 38 digits. */
size_t ms_text_decimal(char *out, ms_i128 unscaled, int32_t scale);

/* As java.math.BigDecimal.toString(): plain unless the exponent is under -6: 0E-10, 1.50. */
size_t ms_text_decimal_java(char *out, ms_i128 unscaled, int32_t scale);

/* Without trailing zeros, as the json and csv formats write numbers: plain (100, 5.1), or as
 * BigDecimal has it (1E+2, 5.1). */
size_t ms_text_decimal_stripped(char *out, ms_i128 unscaled, int32_t scale, bool plain);

/* Text to numbers. */

/* An optional sign and digits, all of the text; false when it is no int64. */
bool ms_text_parse_i64(ms_str text, int64_t *value_out);

/*
 * What java.lang.Double.parseDouble() takes: blanks around, a sign, digits with point and exponent,
 * a trailing d or f, hexadecimal floats, NaN, Infinity. The nearest double (float), ties to even.
 */
bool ms_text_parse_f64(ms_str text, double *value_out);
bool ms_text_parse_f32(ms_str text, float *value_out);

typedef enum ms_text_result {
    MS_TEXT_OK,
    MS_TEXT_MALFORMED, /* no number at all */
    MS_TEXT_RANGE      /* a number that does not fit the type */
} ms_text_result;

/* What java.math.BigDecimal takes (sign, digits, point, exponent), rounded half up to the scale. */
ms_text_result ms_text_parse_decimal(ms_str text, int32_t precision, int32_t scale,
                                     ms_i128 *unscaled_out);

/* CAST to an integer type: blanks around, sign, digits, and a fraction of digits that is cut. */
ms_text_result ms_text_cast_i64(ms_str text, int64_t min, int64_t max, int64_t *value_out);

/* CAST to DECIMAL: as parse, trimmed. */
ms_text_result ms_text_cast_decimal(ms_str text, int32_t precision, int32_t scale,
                                    ms_i128 *unscaled_out);

/* CAST to BOOLEAN: t true y yes 1, f false n no 0, in any case, not trimmed. */
bool ms_text_cast_bool(ms_str text, bool *value_out);

/* Dates and times to text. */

/* How the fraction of a second, and the seconds, are shown. */
typedef enum ms_text_fraction {
    MS_TEXT_EXACT,  /* exactly `precision` digits; no point for 0 */
    MS_TEXT_FEWEST, /* up to `precision` digits, no trailing zeros; no point when none is left */
    MS_TEXT_TIME,   /* as FEWEST, but at least one digit when precision > 0: CAST of TIME */
    MS_TEXT_JAVA    /* as java.time: seconds left out when zero, fraction of 3, 6 or 9 digits */
} ms_text_fraction;

#define MS_TEXT_DATE_BYTES 16u      /* sign, 7 digits of year, -MM-dd, and two spare */
#define MS_TEXT_TIME_BYTES 18u      /* HH:mm:ss.fffffffff */
#define MS_TEXT_TIMESTAMP_BYTES 36u /* date with 9 digits of year, separator, time */
#define MS_TEXT_INTERVAL_BYTES 28u  /* -106751991167 07:12:55.808 and two spare */

/* yyyy-MM-dd; years beyond 9999 with a plus sign, negative ones with a minus. */
size_t ms_text_date(char *out, int32_t days);

size_t ms_text_time(char *out, int32_t ms_of_day, int32_t precision, ms_text_fraction fraction);

/* separator is ' ' or 'T'. A zone suffix is the caller's. */
size_t ms_text_timestamp_us(char *out, int64_t us, int32_t precision, ms_text_fraction fraction,
                            char separator);
size_t ms_text_timestamp_ts(char *out, ms_ts16 ts, int32_t precision, ms_text_fraction fraction,
                            char separator);

/* +7-00, -10-03; +1 10:17:36.789. */
size_t ms_text_interval_months(char *out, int32_t months);
size_t ms_text_interval_ms(char *out, int64_t ms);

/* Text to dates and times. */

/* yyyy-MM-dd, and more digits of year behind a sign; the day must exist. */
bool ms_text_parse_date(ms_str text, int32_t *days_out);

/* yyyy-[m]m-[d]d, from the year 1 on; the day must exist. */
bool ms_text_parse_short_date(ms_str text, int32_t *days_out);

/* HH:mm:ss[.f], 0 to 9 digits, cut to milliseconds; with seconds_optional also HH:mm. */
bool ms_text_parse_time(ms_str text, bool seconds_optional, int32_t *ms_of_day_out);

typedef enum ms_text_timestamp_form {
    MS_TEXT_LITERAL,   /* yyyy-MM-dd HH:mm:ss[.f] */
    MS_TEXT_SQL,       /* the same */
    MS_TEXT_SQL_Z,     /* the same and Z */
    MS_TEXT_ISO,       /* yyyy-MM-ddTHH:mm[:ss[.f]], also with a small t */
    MS_TEXT_ISO_Z,     /* the same and Z */
    MS_TEXT_ISO_OFFSET /* the same and Z or +HH:mm[:ss], converted to UTC */
} ms_text_timestamp_form;

/*
 * Strict, up to 9 digits of fraction, cut to precision (0..6, or 9 for ts); the day must exist.
 * SQL, SQL_Z and ISO_Z take 24:00:00 as the end of the day.
 */
bool ms_text_parse_timestamp_us(ms_str text, ms_text_timestamp_form form, int32_t precision,
                                int64_t *us_out);
bool ms_text_parse_timestamp_ts(ms_str text, ms_text_timestamp_form form, int32_t precision,
                                ms_ts16 *ts_out);

/*
 * CAST to DATE: trimmed; what follows the first blank is ignored, but in a text that begins with
 * one; missing month and day are 1.
 */
bool ms_text_cast_date(ms_str text, int32_t *days_out);

/* CAST to TIME: trimmed, h[:m[:s[.f]]], rounded to milliseconds, and an optional offset +h[:m],
 * which is added as Flink does; a result beyond the day wraps around. */
bool ms_text_cast_time(ms_str text, int32_t *ms_of_day_out);

/*
 * CAST to TIMESTAMP and TO_TIMESTAMP: y-M-d, then nothing or one blank and H:m:s[.f]; days 29 to 31
 * are cut to the end of the month, 24:00:00 is the next day's midnight.
 */
bool ms_text_cast_timestamp(ms_str text, ms_ts16 *ts_out);

/*
 * What TO_TIMESTAMP tries when its pattern failed: trimmed, yyyy-[m]m-[d]d with or without
 * [h]h:[m]m:[s]s[.f]; days and times of day beyond their range roll over.
 */
bool ms_text_parse_timestamp_lenient(ms_str text, ms_ts16 *ts_out);

/* Bytes. */

/* Characters of the base64 of so many bytes. */
static inline size_t ms_text_base64_bytes(size_t bytes)
{
    return (bytes + 2) / 3 * 4;
}

/* Standard alphabet, padded. Writes ms_text_base64_bytes() characters. */
size_t ms_text_base64_encode(char *out, ms_str bytes);

/*
 * Strict: standard alphabet, padded, no blanks, unused bits zero, so that encoding the result gives
 * the text again. out has room for 3 bytes for each 4 characters.
 */
bool ms_text_base64_decode(ms_str text, char *out, size_t *bytes_out);

/*
 * What formats read besides: blanks around groups of four, any unused bits, groups behind padding.
 */
bool ms_text_base64_decode_loose(ms_str text, char *out, size_t *bytes_out);

/* Two digits a byte. */
size_t ms_text_hex_encode(char *out, ms_str bytes, bool upper);

/* Both cases; an odd number of digits fails. out has room for a byte for each two digits. */
bool ms_text_hex_decode(ms_str text, char *out, size_t *bytes_out);

/* Values. */

typedef enum ms_text_style {
    MS_TEXT_CAST,    /* CAST(x AS STRING): TRUE, (1, a), [a, NULL], {k=v}; bytes as they are */
    MS_TEXT_DISPLAY, /* the same for people: bytes as x'0a1b' */
    MS_TEXT_PRINT    /* the print connector: true, +I[1, a], null, [1, -2] for bytes, ISO times */
} ms_text_style;

/*
 * Appends the text of any value. TIMESTAMP_LTZ is shown in the zone (PRINT: UTC with Z). NULL at
 * the top is "NULL" ("null" for PRINT). With CAST, bytes that are no UTF-8 are appended as they
 * are; who must refuse them checks before.
 */
ms_rc ms_text_value(ms_buf *buf, const ms_value *value, ms_text_style style, const ms_zone *zone,
                    ms_status *st) MS_MUST_USE;

/* The same for row `row` of a vector, without making a value. */
ms_rc ms_text_vec(ms_buf *buf, const ms_vec *vec, uint32_t row, ms_text_style style,
                  const ms_zone *zone, ms_status *st) MS_MUST_USE;

/* CAST(x AS STRING) of a value that is not NULL. */
static inline ms_rc ms_text_value_cast(ms_buf *buf, const ms_value *value, const ms_zone *zone,
                                       ms_status *st)
{
    return ms_text_value(buf, value, MS_TEXT_CAST, zone, st);
}

#endif
