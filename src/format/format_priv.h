/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What csv and json share: the text of one cell into a row of a column, and errors of records.
 */
#ifndef MS_FORMAT_FORMAT_PRIV_H
#define MS_FORMAT_FORMAT_PRIV_H

#include "catalog/connector.h"
#include "type/text.h"

/*
 * Writes the text of a cell as row `row` of a vector, a column of the batch or within one; false
 * when it is none of its type.
 */
typedef bool (*msi_cell_fn)(ms_str text, ms_vec *vec, ms_batch *batch, uint32_t row);

/* The function of a type under csv's rules; NULL when csv cannot read the type. */
msi_cell_fn msi_csv_cell(const ms_type *type);

/* Without blanks and control characters at both ends, as Java trims. */
ms_str msi_cell_trim(ms_str text);

/* Makes row `row` of a vector NULL. */
void msi_cell_null(ms_vec *vec, uint32_t row);

/* Decodes base64 into the batch's heap as a value of a BYTES vector. */
bool msi_cell_base64(ms_str text, ms_vec *vec, ms_batch *batch, uint32_t row);

/* Appends decimal text as json and csv write numbers: stripped, plain or as BigDecimal has it. */
ms_rc msi_append_decimal(ms_buf *out, const ms_vec *vec, uint32_t pos, bool plain,
                         ms_status *st) MS_MUST_USE;

/* Appends the text of a DATE, TIME, TIMESTAMP or TIMESTAMP_LTZ with the fewest digits. */
ms_rc msi_append_temporal(ms_buf *out, const ms_vec *vec, uint32_t pos, char separator,
                          ms_status *st) MS_MUST_USE;

/* What the options of csv say. */
typedef struct msi_csv_options {
    char delimiter;
    char quote;
    bool has_quote;
    char escape;
    bool has_escape;
    bool allow_comments;
    bool ignore_parse_errors;
    bool ignore_first_line;
    bool trim_spaces;
    bool ignore_trailing_unmappable;
    bool fail_on_missing_columns;
    bool allow_trailing_comma;
    bool empty_string_as_null;
    bool scientific_decimals;
    char element_delimiter; /* between the parts of a ROW or an ARRAY */
    ms_str null_literal;    /* ptr NULL: none */
} msi_csv_options;

ms_rc msi_csv_read_options(const ms_option_list *list, ms_arena *arena, msi_csv_options *options,
                           ms_status *st) MS_MUST_USE;

ms_rc msi_csv_decoder_create(const ms_schema *file_schema, const uint32_t *wanted,
                             const ms_schema *schema, const ms_option_list *options,
                             ms_str time_zone, ms_decoder **decoder_out, ms_status *st) MS_MUST_USE;
ms_rc msi_csv_encoder_create(const ms_schema *schema, const ms_option_list *options,
                             ms_str time_zone, ms_encoder **encoder_out, ms_status *st) MS_MUST_USE;

#endif
