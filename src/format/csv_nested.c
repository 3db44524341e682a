/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ROW and ARRAY in csv: their parts stand in one field, with 'csv.array-element-delimiter' between
 * them and no quotes of their own, so that a part that holds the delimiter is two when it is read.
 * A field of blanks is an ARRAY without elements, or NULL for a ROW. Parts that are nested
 * themselves do not exist here, nor does MAP.
 */
#include "format/csv_nested.h"

/* So many elements take room for 64 MiB of texts without their bytes. */
#define ELEMENTS_MAX 4194304u

bool msi_csv_is_nested(const ms_type *type)
{
    bool is_nested = type->kind == MS_TYPE_ARRAY || type->kind == MS_TYPE_ROW;
    for (uint32_t i = 0; is_nested && i < type->child_count; i++) {
        is_nested = msi_csv_cell(type->children[i]) != NULL;
    }
    return is_nested;
}

bool msi_csv_is_null(const msi_csv_options *options, ms_str text)
{
    bool is_literal =
        options->null_literal.ptr != NULL && ms_str_equals(text, options->null_literal);
    return is_literal || (options->empty_string_as_null && text.bytes == 0);
}

/* The bytes of the next part of a text, in front of a delimiter or at the end. */
static size_t part_bytes(ms_str text, char delimiter)
{
    const char *found = memchr(text.ptr, delimiter, text.bytes);
    return found != NULL ? (size_t)(found - text.ptr) : text.bytes;
}

static uint32_t count_parts(ms_str text, char delimiter)
{
    uint32_t count = 1;
    for (size_t i = 0; i < text.bytes; i++) {
        count += text.ptr[i] == delimiter;
    }
    return count;
}

/* Takes the next part off a text. */
static ms_str take_part(const msi_csv_options *options, ms_str *text)
{
    size_t bytes = part_bytes(*text, options->element_delimiter);
    ms_str part = ms_str_slice(*text, 0, bytes);
    bool is_last = bytes == text->bytes;
    *text = ms_str_slice(*text, bytes + !is_last, text->bytes);
    return options->trim_spaces ? msi_cell_trim(part) : part;
}

/* False when the part is no value of the type; with 'csv.ignore-parse-errors' it is NULL then. */
static bool read_part(const msi_csv_options *options, ms_str part, ms_vec *vec, ms_batch *batch,
                      uint32_t row)
{
    bool is_null = msi_csv_is_null(options, part);
    if (!is_null && msi_csv_cell(vec->type)(part, vec, batch, row)) {
        return true;
    }
    msi_cell_null(vec, row);
    return is_null || options->ignore_parse_errors;
}

static bool read_array(const msi_csv_options *options, ms_str text, ms_vec *vec, ms_batch *batch,
                       uint32_t row)
{
    bool is_empty = msi_cell_trim(text).bytes == 0;
    uint32_t count = is_empty ? 0 : count_parts(text, options->element_delimiter);
    if (count > ELEMENTS_MAX) {
        return false;
    }
    uint32_t first = ms_vec_list_reserve(vec, count, NULL);
    MS_VEC_DATA(vec, ms_list)[row] = (ms_list){first, count};
    for (uint32_t i = 0; i < count; i++) {
        ms_str part = take_part(options, &text);
        if (!read_part(options, part, &vec->children[0], batch, first + i)) {
            return false;
        }
    }
    return true;
}

/* Parts beyond the fields are passed over; fields without a part are errors, as bad parts are. */
static bool read_row(const msi_csv_options *options, ms_str text, ms_vec *vec, ms_batch *batch,
                     uint32_t row)
{
    if (msi_cell_trim(text).bytes == 0) {
        msi_cell_null(vec, row);
        return true;
    }
    uint32_t count = count_parts(text, options->element_delimiter);
    if (count < vec->child_count && !options->ignore_parse_errors) {
        return false;
    }
    for (uint32_t i = 0; i < vec->child_count; i++) {
        if (i >= count) {
            msi_cell_null(&vec->children[i], row);
            continue;
        }
        ms_str part = take_part(options, &text);
        if (!read_part(options, part, &vec->children[i], batch, row)) {
            return false;
        }
    }
    return true;
}

bool msi_csv_read_nested(const msi_csv_options *options, ms_str text, ms_vec *vec, ms_batch *batch,
                         uint32_t row)
{
    return vec->type->kind == MS_TYPE_ARRAY ? read_array(options, text, vec, batch, row)
                                            : read_row(options, text, vec, batch, row);
}
