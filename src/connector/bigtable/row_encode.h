/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of a batch to mutations of Bigtable rows:
 *
 *     +I, +U   SetCell for every qualifier of every family that is not NULL, NULLs encoded
 *     -D       DeleteFromRow
 *     -U       an error: the planner never sends one
 *
 * So is a row key that is NULL or has no bytes, and a row of which every family is NULL. Cells are
 * encoded a column at a time for some hundred rows, then put together row by row; they are stamped
 * with the writer's clock, in whole milliseconds, read when those rows are encoded. A later row
 * never has an earlier stamp, even where the clock steps back.
 *
 *     msi_bt_encoder_begin(encoder, batch);
 *     while (!msi_bt_encoder_is_done(encoder)) {
 *         MS_TRY(msi_bt_encoder_rows(encoder, &mutations, st));
 *         ... mutations is full, or the rows are all in it: send it, lend another ...
 *     }
 *
 * Ownership: the encoder borrows the batch until it is done. Thread: one task. Nothing is allocated
 * per row or batch.
 */
#ifndef MS_CONNECTOR_BIGTABLE_ROW_ENCODE_H
#define MS_CONNECTOR_BIGTABLE_ROW_ENCODE_H

#include "bigtable/model/mutation.h"
#include "connector/bigtable/layout.h"
#include "type/batch.h"

/* When a request is full: large enough that what is done once a request does not count, small
 * enough to stay in the cache until the store has copied it. */
#define MSI_BT_REQUEST_BYTES ((size_t)1 << 20)

typedef struct msi_bt_encoder msi_bt_encoder;

msi_bt_encoder *msi_bt_encoder_create(const msi_bt_layout *layout);
void msi_bt_encoder_destroy(msi_bt_encoder *encoder);

/* Names the families to an empty batch of mutations, which it keeps over resets. */
ms_rc msi_bt_encoder_adopt(const msi_bt_encoder *encoder, ms_bt_mutation_batch *mutations,
                           ms_status *st) MS_MUST_USE;

/* Starts with the first live row of a batch. */
void msi_bt_encoder_begin(msi_bt_encoder *encoder, const ms_batch *batch);

bool msi_bt_encoder_is_done(const msi_bt_encoder *encoder);

/*
 * Appends rows to an adopted batch of mutations until that is full or no row is left. Fails at a
 * row that cannot be written; the rows before it are in the batch.
 */
ms_rc msi_bt_encoder_rows(msi_bt_encoder *encoder, ms_bt_mutation_batch *mutations,
                          ms_status *st) MS_MUST_USE;

/* Reads the clock for the rows that follow, and returns the least stamp that they will have: not
 * below those of the rows before; is_later: above them. */
int64_t msi_bt_encoder_stamp(msi_bt_encoder *encoder, bool is_later);

/* Bytes of memory that the encoder holds; for the accountant. */
size_t msi_bt_encoder_bytes(const msi_bt_encoder *encoder);

#endif
