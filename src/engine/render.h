/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Printing results for people and programs: json, csv, tableau. A renderer takes batches of one
 * schema one by one and writes text through a function; tableau of a bounded result keeps all rows'
 * texts until the end, because its widths come from the contents.
 *
 *     msi_renderer *renderer = msi_renderer_create(&options, &schema, st);
 *     rc = msi_renderer_batch(renderer, batch, st);      any number of times
 *     rc = msi_renderer_end(renderer, st);
 *     msi_renderer_destroy(renderer);
 *
 * Ownership: the renderer copies names; the schema's types outlive it. Thread: one at a time.
 * Limits: kept texts are charged to the account and fail with MS_NO_MEMORY.
 */
#ifndef MS_ENGINE_RENDER_H
#define MS_ENGINE_RENDER_H

#include "base/memory.h"
#include "millstream/millstream.h"
#include "type/batch.h"
#include "type/zone.h"

typedef struct msi_renderer msi_renderer;

typedef struct msi_render_options {
    ms_result_format format;
    bool changelog;      /* an op column first */
    bool is_unbounded;   /* tableau: widths from types, rows as they come */
    bool is_listing;     /* SHOW, DESCRIBE, EXPLAIN: no cap on widths, NULL shown as nothing */
    uint32_t max_width;  /* of a tableau column without a fixed width, in characters */
    const ms_zone *zone; /* for TIMESTAMP_LTZ in tableau */
    ms_account *account; /* of kept texts */
    bool (*write)(void *arg, ms_str bytes);
    void *arg;
} msi_render_options;

msi_renderer *msi_renderer_create(const msi_render_options *options, const ms_schema *schema);

/* Prints or keeps the live rows. MS_CANCELED when write answered false: the reader has gone. */
ms_rc msi_renderer_batch(msi_renderer *renderer, const ms_batch *batch, ms_status *st) MS_MUST_USE;

/* Prints what was kept, and the footer. */
ms_rc msi_renderer_end(msi_renderer *renderer, ms_status *st) MS_MUST_USE;
void msi_renderer_destroy(msi_renderer *renderer);

/* The parts, one file each. */

#define MSI_RENDER_LINE_MAX (512u << 20) /* one row's text: five strings of the largest size */

/* Appends a value as JSON: decisions on types as in docs/sql/results.md. */
ms_rc msi_json_value(ms_buf *out, const ms_vec *vec, uint32_t row, ms_status *st) MS_MUST_USE;

/* Appends a value as a field of a CSV record, quoted when it must be. */
ms_rc msi_csv_value(ms_buf *out, const ms_vec *vec, uint32_t row, ms_buf *scratch,
                    ms_status *st) MS_MUST_USE;
ms_rc msi_csv_text(ms_buf *out, ms_str text, ms_status *st) MS_MUST_USE;

/* Columns that a text takes on a terminal: wide East Asian characters count two. */
uint32_t msi_text_width(ms_str text);

/*
 * Appends text right-aligned in width columns; longer text is cut to width - 3 columns and "...".
 * Bytes that are not UTF-8 become U+FFFD, line feeds and other control characters blanks.
 */
ms_rc msi_text_fit(ms_buf *out, ms_str text, uint32_t width, ms_status *st) MS_MUST_USE;

/* Appends text with U+FFFD for what is not UTF-8. */
ms_rc msi_text_valid(ms_buf *out, ms_str text, ms_status *st) MS_MUST_USE;

/* The width of a tableau column whose rows are not known yet. */
uint32_t msi_tableau_type_width(const ms_type *type, uint32_t max_width);

/* "+I", "-U", "+U", "-D". */
const char *msi_row_kind_text(ms_row_kind kind);

#endif
