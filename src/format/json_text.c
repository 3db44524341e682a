/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings as JSON, for the json format and for results. Runs of characters that need no escape are
 * copied whole; what is not UTF-8 is replaced byte by byte, so that the output is always UTF-8.
 */
#include "format/json_text.h"

/* Bytes of the well-formed UTF-8 sequence at text[i]; 0 when there is none. */
static size_t utf8_length(ms_str text, size_t i)
{
    unsigned char c = (unsigned char)text.ptr[i];
    size_t bytes = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
    if (bytes == 0 || i + bytes > text.bytes) {
        return 0;
    }
    return ms_str_is_utf8(ms_str_slice(text, i, i + bytes)) ? bytes : 0;
}

static ms_rc append_escape(ms_buf *out, unsigned char c, ms_status *st)
{
    static const char short_forms[][2] = {{'"', '"'},  {'\\', '\\'}, {'\n', 'n'}, {'\r', 'r'},
                                          {'\t', 't'}, {'\b', 'b'},  {'\f', 'f'}};
    for (size_t i = 0; i < sizeof short_forms / sizeof *short_forms; i++) {
        if ((char)c == short_forms[i][0]) {
            char pair[] = {'\\', short_forms[i][1]};
            return ms_buf_append(out, ms_str_make(pair, 2), st);
        }
    }
    return ms_buf_format(out, st, "\\u%04X", c);
}

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

ms_rc ms_json_append_string(ms_buf *out, ms_str text, ms_status *st)
{
    MS_TRY(ms_buf_reserve(out, text.bytes + 2, st));
    MS_TRY(ms_buf_append_byte(out, '"', st));
    size_t i = 0;
    for (;;) {
        size_t run = i;
        while (run < text.bytes && is_plain((unsigned char)text.ptr[run])) {
            run++;
        }
        MS_TRY(ms_buf_append(out, ms_str_slice(text, i, run), st));
        if (run == text.bytes) {
            return ms_buf_append_byte(out, '"', st);
        }
        unsigned char c = (unsigned char)text.ptr[run];
        size_t length = c < 0x80 ? 1 : utf8_length(text, run);
        if (c < 0x80) {
            MS_TRY(append_escape(out, c, st));
        } else {
            ms_str sequence =
                length == 0 ? ms_str_lit("\xEF\xBF\xBD") : ms_str_slice(text, run, run + length);
            MS_TRY(ms_buf_append(out, sequence, st));
        }
        i = run + (length == 0 ? 1 : length);
    }
}
