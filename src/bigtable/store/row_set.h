/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows that the batch under way touches, and what was done to them. What reads the store to
 * decide what it writes must not join a batch that has changed what it reads: the store does not
 * have that yet. The caller then ends the batch early, which costs a little and is never wrong.
 *
 * Rows are known by a 64-bit hash, so an answer of "no" may be about another row.
 *
 * Ownership: the leader's. Thread: the leader.
 */
#ifndef MS_BIGTABLE_STORE_ROW_SET_H
#define MS_BIGTABLE_STORE_ROW_SET_H

#include "base/str.h"

/* What an entry does to its row; bits. */
#define MSI_ROW_SET 1u  /* writes cells without reading any */
#define MSI_ROW_ADD 2u  /* reads cells of aggregates and writes them, through the overlay */
#define MSI_ROW_RULE 4u /* reads the latest cells of columns and writes them, through the overlay */
#define MSI_ROW_READ 8u /* reads whatever there is, and writes */
#define MSI_ROW_LOOK 16u /* reads whatever there is, and writes nothing */

typedef struct msi_row_set msi_row_set;

msi_row_set *msi_row_set_create(void);

/* Takes NULL. */
void msi_row_set_destroy(msi_row_set *set);
void msi_row_set_reset(msi_row_set *set);

/* Notes what an entry does to a row, unless it must not join: then false, and nothing is noted. A
 * full set lets nobody join. */
bool msi_row_set_add(msi_row_set *set, uint32_t table, ms_str row, uint32_t use);

#endif
