/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Widths of text on a terminal, as Flink's tableau counts them: East Asian wide and fullwidth
 * characters take two columns, every other one takes one.
 */
#include "engine/render.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#define REPLACEMENT 0xFFFD
#define NULL_WIDTH 6u /* "<NULL>" */

/* Decodes the code point at *i and advances; what is not UTF-8 reads as U+FFFD. */
static UChar32 next_char(ms_str text, size_t *i)
{
    const uint8_t *bytes = (const uint8_t *)text.ptr;
    int32_t at = 0;
    int32_t length = (int32_t)(text.bytes - *i < 8 ? text.bytes - *i : 8);
    const uint8_t *from = bytes + *i;
    UChar32 c = 0;
    U8_NEXT(from, at, length, c);
    *i += (size_t)at;
    return c < 0 ? REPLACEMENT : c;
}

static uint32_t char_width(UChar32 c)
{
    int32_t width = u_getIntPropertyValue(c, UCHAR_EAST_ASIAN_WIDTH);
    return width == U_EA_WIDE || width == U_EA_FULLWIDTH ? 2 : 1;
}

uint32_t msi_text_width(ms_str text)
{
    uint32_t width = 0;
    for (size_t i = 0; i < text.bytes;) {
        width += char_width(next_char(text, &i));
    }
    return width;
}

static ms_rc append_char(ms_buf *out, UChar32 c, ms_status *st)
{
    uint8_t bytes[U8_MAX_LENGTH];
    int32_t length = 0;
    U8_APPEND_UNSAFE(bytes, length, (uint32_t)c);
    return ms_buf_append(out, ms_str_make((const char *)bytes, (size_t)length), st);
}

static ms_rc append_blanks(ms_buf *out, uint32_t count, ms_status *st)
{
    for (uint32_t i = 0; i < count; i++) {
        MS_TRY(ms_buf_append_byte(out, ' ', st));
    }
    return MS_OK;
}

ms_rc msi_text_valid(ms_buf *out, ms_str text, ms_status *st)
{
    for (size_t i = 0; i < text.bytes;) {
        MS_TRY(append_char(out, next_char(text, &i), st));
    }
    return MS_OK;
}

ms_rc msi_text_fit(ms_buf *out, ms_str text, uint32_t width, ms_status *st)
{
    uint32_t whole = msi_text_width(text);
    bool is_cut = whole > width;
    uint32_t room = is_cut ? (width > 3 ? width - 3 : 0) : whole;
    uint32_t used = 0;
    size_t end = 0;
    while (end < text.bytes) {
        size_t next = end;
        uint32_t step = char_width(next_char(text, &next));
        if (used + step > room) {
            break;
        }
        used += step;
        end = next;
    }
    MS_TRY(append_blanks(out, is_cut ? room - used : width - used, st));
    for (size_t i = 0; i < end;) {
        UChar32 c = next_char(text, &i);
        MS_TRY(append_char(out, c < 0x20 || c == 0x7f ? ' ' : c, st));
    }
    return is_cut ? ms_buf_append(out, ms_str_lit("..."), st) : MS_OK;
}

static uint32_t timestamp_width(int32_t precision)
{
    return precision == 0 ? 19 : precision <= 3 ? 23 : precision <= 6 ? 26 : 29;
}

uint32_t msi_tableau_type_width(const ms_type *type, uint32_t max_width)
{
    uint32_t width = max_width;
    switch (type->kind) {
    case MS_TYPE_TINYINT:
        width = 4;
        break;
    case MS_TYPE_SMALLINT:
        width = 6;
        break;
    case MS_TYPE_INT:
        width = 11;
        break;
    case MS_TYPE_BIGINT:
        width = 20;
        break;
    case MS_TYPE_DECIMAL:
        width = (uint32_t)type->precision + 2;
        break;
    case MS_TYPE_BOOLEAN:
        width = 5;
        break;
    case MS_TYPE_DATE:
        width = 10;
        break;
    case MS_TYPE_TIME:
        width = type->precision == 0 ? 8 : (uint32_t)type->precision + 9;
        break;
    case MS_TYPE_TIMESTAMP:
    case MS_TYPE_TIMESTAMP_LTZ:
        width = timestamp_width(type->precision);
        break;
    case MS_TYPE_NULL:
    case MS_TYPE_FLOAT:
    case MS_TYPE_DOUBLE:
    case MS_TYPE_CHAR:
    case MS_TYPE_VARCHAR:
    case MS_TYPE_BINARY:
    case MS_TYPE_VARBINARY:
    case MS_TYPE_INTERVAL_MONTH:
    case MS_TYPE_INTERVAL_SECOND:
    case MS_TYPE_ARRAY:
    case MS_TYPE_MAP:
    case MS_TYPE_MULTISET:
    case MS_TYPE_ROW:
    case MS_TYPE_RAW:
    case MS_TYPE_TIMESTAMP_TZ:
    case MS_TYPE_KIND_COUNT:
        break;
    }
    return width < NULL_WIDTH ? NULL_WIDTH : width;
}
