/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entries that are applied once: those that add to aggregate cells and carry a token. What was
 * applied is a record beside the catalog, written in the batch of the entry's cells, so that the
 * two are there or not there together, after a restart too. Records older than the 15 minutes for
 * which the service promises this are removed by and by.
 *
 *     00 00 00 00 'O', u64 start of the token, u32 table, u16 token bytes, token, row key
 *          -> nothing
 *
 * The start stands first, so that old records are one range.
 *
 * Thread: the leader.
 */
#ifndef MS_BIGTABLE_STORE_ONCE_H
#define MS_BIGTABLE_STORE_ONCE_H

#include "bigtable/model/mutation.h"
#include "kv/kv.h"

typedef struct msi_once msi_once;

msi_once *msi_once_create(void);

/* Takes NULL. */
void msi_once_destroy(msi_once *once);

/* Forgets what the batch under way applies: it was written. */
void msi_once_reset(msi_once *once);

/* What is known about an entry. */
typedef enum msi_once_answer {
    MSI_ONCE_NEW,
    MSI_ONCE_APPLIED,
    MSI_ONCE_UNKNOWN /* the batch under way may hold it: write that, and ask again */
} msi_once_answer;

ms_rc msi_once_ask(msi_once *once, ms_kv *kv, uint32_t table, const ms_bt_mutation_entry *entry,
                   int64_t now_micros, msi_once_answer *answer_out, ms_status *st) MS_MUST_USE;

/* Records in the batch that the entry, which was new, is applied; and now and then drops old
 * records. */
void msi_once_note(msi_once *once, ms_kv_batch *batch, uint32_t table,
                   const ms_bt_mutation_entry *entry, int64_t now_micros);

#endif
