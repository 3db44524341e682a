/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The change log: what the leader writes beside the cells of tables that have a change stream, and
 * what readers of changes read. One record is one committed change of one row.
 *
 *     u32 80000000 + table, u32 tablet incarnation, u64 commit micros, u32 sequence
 *          -> u8 version, row key, source cluster (empty: garbage collection), mutations to the end
 *     a mutation: u8 kind, family, qualifier, signed time, signed end of time, value
 *
 * Integers of keys are big-endian, so that the log of a tablet is in commit order. The sequence
 * counts the records of one batch, which have one commit time; it is the tiebreaker of the service.
 * Texts have their length in front (base/codec.h). Names of families are written out: a record says
 * all about itself, whatever becomes of the table.
 *
 * A token is a place in the log of a partition, as text: msi_token.
 *
 * Ownership: views borrow. Thread: any.
 */
#ifndef MS_BIGTABLE_STORE_CHANGE_LOG_H
#define MS_BIGTABLE_STORE_CHANGE_LOG_H

#include "bigtable/model/change.h"
#include "bigtable/store/key.h"

#define MSI_LOG_KEY_BYTES 20u

/* A place in the log of one table: behind the record of these numbers, whether there is one. */
typedef struct msi_log_position {
    uint32_t tablet;
    int64_t micros;
    uint32_t sequence;
} msi_log_position;

static inline char *msi_log_put_tablet(char *to, uint32_t table, uint32_t tablet)
{
    return msi_key_put_u32(msi_key_put_u32(to, MSI_KEY_TABLES_END + table), tablet);
}

/* Writes the key of a record; returns the place behind. */
char *msi_log_put_key(char to[MSI_LOG_KEY_BYTES], uint32_t table, const msi_log_position *position);

/* The numbers of a key; false when it is no key of the log. */
bool msi_log_read_key(ms_str key, msi_log_position *position_out);

/* The row of a record alone; an empty text when the record is damaged. */
ms_str msi_log_read_row(ms_str value);

/* Fills the part of a change that a record says; texts are copied into the arena. MS_CORRUPT_DATA,
 * or MS_NOT_SUPPORTED for a record of a newer version. */
ms_rc msi_log_read(ms_str value, ms_arena *arena, ms_bt_change *change, ms_status *st) MS_MUST_USE;

/* From where a reader goes on: behind this place in the log of its home, the tablet that its
 * partition is or lies in. */
typedef struct msi_token {
    uint32_t table;
    msi_log_position position;
} msi_token;

/* Room for any token's text. */
#define MSI_TOKEN_BYTES 128

/* "ms1.<table>.<tablet>.<micros>.<sequence>" */
size_t msi_token_print(const msi_token *token, char text_out[MSI_TOKEN_BYTES]);

/* False when the text is no token. */
bool msi_token_parse(ms_str text, msi_token *token_out);

#endif
