/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a page to columns of a batch. One walk over the cells of the rows notes where each wanted
 * value lies; then every column is decoded in one go.
 *
 *     cells in the page's order  ->  slots[field][row]  ->  vectors
 *
 * The first cell of a qualifier is its newest and counts. Families and qualifiers that are not
 * declared are passed over. A family none of whose declared qualifiers has a cell is NULL.
 *
 * Ownership: the decoder owns the vectors of its frame; texts in them point into the page, so that
 * a frame is good until the page is given back or the decoder is used again. Thread: one task.
 * Nothing is allocated per row or batch after the first.
 */
#ifndef MS_CONNECTOR_BIGTABLE_ROW_DECODE_H
#define MS_CONNECTOR_BIGTABLE_ROW_DECODE_H

#include "bigtable/model/page.h"
#include "connector/bigtable/layout.h"
#include "type/batch.h"

typedef struct msi_bt_decoder msi_bt_decoder;

/* columns: ordinals of the layout's schema, one a column of the frames. */
msi_bt_decoder *msi_bt_decoder_create(const msi_bt_layout *layout, const uint32_t *columns,
                                      uint32_t column_count, uint32_t capacity);
void msi_bt_decoder_destroy(msi_bt_decoder *decoder);

/* Another read begins: what pages call families starts anew. */
void msi_bt_decoder_restart(msi_bt_decoder *decoder);

/*
 * Decodes count rows, at most capacity, from first on. Returns a frame over those that are good:
 * all, or those before the first with a value that cannot be read; msi_bt_decoder_report says why.
 */
ms_batch *msi_bt_decoder_rows(msi_bt_decoder *decoder, const ms_bt_page *page, uint32_t first,
                              uint32_t count);

/* Reports the value at which the last call stopped short: MS_BAD_RECORD. */
ms_rc msi_bt_decoder_report(const msi_bt_decoder *decoder, ms_status *st);

/* Bytes of memory that the decoder holds; for the accountant. */
size_t msi_bt_decoder_bytes(const msi_bt_decoder *decoder);

#endif
