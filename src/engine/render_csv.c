/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values as fields of RFC 4180 records: the texts of the JSON results without their quotes, nested
 * values as JSON text. NULL is nothing, the empty string is "".
 */
#include "engine/render.h"

#include <string.h>

static bool must_quote(ms_str text)
{
    if (text.bytes == 0) {
        return true;
    }
    for (size_t i = 0; i < text.bytes; i++) {
        if (strchr(",\"\r\n", text.ptr[i]) != NULL && text.ptr[i] != '\0') {
            return true;
        }
    }
    return false;
}

ms_rc msi_csv_text(ms_buf *out, ms_str text, ms_status *st)
{
    if (!must_quote(text)) {
        return ms_buf_append(out, text, st);
    }
    MS_TRY(ms_buf_append_byte(out, '"', st));
    size_t start = 0;
    for (;;) {
        size_t quote = ms_str_find_byte(text, '"', start);
        MS_TRY(ms_buf_append(out, ms_str_slice(text, start, quote), st));
        if (quote == SIZE_MAX) {
            return ms_buf_append_byte(out, '"', st);
        }
        MS_TRY(ms_buf_append(out, ms_str_lit("\"\""), st));
        start = quote + 1;
    }
}

ms_rc msi_csv_value(ms_buf *out, const ms_vec *vec, uint32_t row, ms_buf *scratch, ms_status *st)
{
    if (ms_vec_is_null(vec, row)) {
        return MS_OK;
    }
    if (ms_type_is_character(vec->type)) {
        const ms_view *view = &MS_VEC_DATA(vec, ms_view)[ms_vec_pos(vec, row)];
        ms_str text = ms_view_str(view);
        if (ms_str_is_utf8(text)) {
            return msi_csv_text(out, text, st);
        }
        ms_buf_reset(scratch);
        MS_TRY(msi_text_valid(scratch, text, st));
        return msi_csv_text(out, ms_buf_view(scratch), st);
    }
    ms_buf_reset(scratch);
    MS_TRY(msi_json_value(scratch, vec, row, st));
    ms_str text = ms_buf_view(scratch);
    bool is_quoted = text.bytes >= 2 && text.ptr[0] == '"' && !ms_type_is_nested(vec->type);
    return msi_csv_text(out, is_quoted ? ms_str_slice(text, 1, text.bytes - 1) : text, st);
}
