/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ROW and ARRAY as one field of a csv record. Private to this folder. Thread: that of the batch.
 */
#ifndef MS_FORMAT_CSV_NESTED_H
#define MS_FORMAT_CSV_NESTED_H

#include "format/format_priv.h"

/* True for a ROW or an ARRAY whose parts have a msi_csv_cell(). */
bool msi_csv_is_nested(const ms_type *type);

/* True for the null literal, and for an empty text where that is NULL. */
bool msi_csv_is_null(const msi_csv_options *options, ms_str text);

/* Writes the text of a field as row `row` of a column; false when it is none of its type. */
bool msi_csv_read_nested(const msi_csv_options *options, ms_str text, ms_vec *vec, ms_batch *batch,
                         uint32_t row);

#endif
