/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of the catalog and of the clock. A record is
 *
 *     u16 version, payload, u32 CRC-32C of key, version and payload
 *
 * so that a record under the wrong key is as damaged as one with a flipped bit. Keys are the meta
 * prefix, a letter, and a path.
 *
 *     F         the format of the store          N     incarnation of the next table
 *     C         the clock                        T...  a table, all about it
 *     P...      an app profile                   I...  an instance that was made as such
 *
 * Format 1 had neither profiles nor instances, and tables of version 1, without tablets; format 2
 * had tables of version 2, whose times were all the store's. Opening such a store writes the tables
 * anew.
 *
 * Ownership: what is read belongs to the arena given. Thread: any.
 */
#ifndef MS_BIGTABLE_STORE_RECORD_H
#define MS_BIGTABLE_STORE_RECORD_H

#include "bigtable/store/schema.h"

#define MSI_FORMAT_VERSION 3u
#define MSI_FIRST_TABLE_ID 1u
#define MSI_FIRST_FAMILY_ID 1u
#define MSI_FIRST_TABLET_ID 1u

/* Letters of the things that have a path. */
#define MSI_RECORD_TABLE 'T'
#define MSI_RECORD_PROFILE 'P'
#define MSI_RECORD_INSTANCE 'I'

ms_rc msi_record_put_table(const msi_table *table, ms_kv_batch *batch, ms_status *st) MS_MUST_USE;
ms_rc msi_record_put_profile(const ms_bt_profile *profile, ms_kv_batch *batch,
                             ms_status *st) MS_MUST_USE;
ms_rc msi_record_put_instance(const ms_bt_instance *instance, ms_kv_batch *batch,
                              ms_status *st) MS_MUST_USE;
ms_rc msi_record_put_next_table(uint32_t id, ms_kv_batch *batch, ms_status *st) MS_MUST_USE;
ms_rc msi_record_put_format(ms_kv_batch *batch, ms_status *st) MS_MUST_USE;

/* kind is a letter; the last part of the name is empty for an instance. */
void msi_record_delete(char kind, const ms_bt_table_name *name, ms_kv_batch *batch);

/* Calls fn for every record of a kind, in the order of keys, until one fails. */
typedef ms_rc (*msi_record_fn)(void *arg, ms_codec_reader *payload, uint16_t version,
                               ms_status *st);
ms_rc msi_record_each(ms_kv *kv, char kind, msi_record_fn fn, void *arg, ms_status *st) MS_MUST_USE;

/* What fn does with the payload. A table is read as a draft, of this version. */
ms_rc msi_record_read_table(ms_codec_reader *payload, uint16_t version, ms_arena *arena,
                            msi_table *draft_out, ms_status *st) MS_MUST_USE;
ms_rc msi_record_read_profile(ms_codec_reader *payload, ms_arena *arena,
                              const ms_bt_profile **profile_out, ms_status *st) MS_MUST_USE;
ms_rc msi_record_read_instance(ms_codec_reader *payload, ms_arena *arena,
                               const ms_bt_instance **instance_out, ms_status *st) MS_MUST_USE;
ms_rc msi_record_next_table(ms_kv *kv, uint32_t *id_out, ms_status *st) MS_MUST_USE;

/* The incarnation of the table of this name, as the records say it now; 0: there is none. */
ms_rc msi_record_table_id(ms_kv *kv, const ms_bt_table_name *name, uint32_t *id_out,
                          ms_status *st) MS_MUST_USE;

/* 0 for a store that is empty. */
ms_rc msi_record_format(ms_kv *kv, uint32_t *version_out, ms_status *st) MS_MUST_USE;

/* The clock: the highest timestamp ever assigned, 0 when none was. */
ms_rc msi_clock_load(ms_kv *kv, int64_t *micros_out, ms_status *st) MS_MUST_USE;
void msi_clock_put(ms_kv_batch *batch, int64_t micros);

#endif
