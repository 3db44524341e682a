/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The catalog of the store: which tables there are, which families they have, and the incarnations
 * by which keys name both. A catalog is a snapshot: it is never changed, readers hold it for the
 * length of a call or scan, and a change makes a new one (RCU in the large).
 *
 * On disk every table is one record under the meta prefix, versioned and with a CRC; a record says
 * all about its table. The incarnation of the next table is a record of its own.
 *
 * Ownership: snapshots are counted; msi_schema_retain and msi_schema_drop. Thread: any.
 */
#ifndef MS_BIGTABLE_STORE_SCHEMA_H
#define MS_BIGTABLE_STORE_SCHEMA_H

#include "bigtable/model/table.h"
#include "kv/kv.h"

#include <stdatomic.h>

/* A table with what the store adds. Arrays are by index in def->families, which ascend by name. */
typedef struct msi_table {
    const ms_bt_table *def;
    uint32_t id;
    uint32_t next_family_id;
    const uint32_t *family_ids;
    const ms_str *family_names;
    const uint32_t *by_id; /* indexes of families, ascending by id */
    bool ids_ascend;       /* the order of names is the order of keys */
} msi_table;

typedef struct msi_schema {
    _Atomic uint32_t references;
    ms_arena arena;
    const msi_table **tables; /* ascending by name: project, instance, table */
    size_t table_count;
    uint32_t next_table_id;
} msi_schema;

/* Reads the catalog of a store; an empty store gets its format record. MS_CORRUPT_DATA, or
 * MS_NOT_SUPPORTED when a newer program wrote it. */
ms_rc msi_schema_load(ms_kv *kv, msi_schema **schema_out, ms_status *st) MS_MUST_USE;

msi_schema *msi_schema_retain(msi_schema *schema);
void msi_schema_drop(msi_schema *schema);

/* NULL when there is no such table. */
const msi_table *msi_schema_find(const msi_schema *schema, const ms_bt_table_name *name);

/* The tables of an instance: first of them and how many. */
size_t msi_schema_instance(const msi_schema *schema, const ms_bt_table_name *instance,
                           size_t *first_out);

/* The index of the family of this incarnation; UINT32_MAX when the table has none. */
uint32_t msi_table_family_index(const msi_table *table, uint32_t family_id);

/*
 * A new snapshot, with one reference, in which a table is added (def is checked and its name free)
 * or has more families (none of which it has). The batch receives the records that make it so.
 */
ms_rc msi_schema_add_table(const msi_schema *schema, const ms_bt_table *def, ms_kv_batch *batch,
                           msi_schema **schema_out, ms_status *st) MS_MUST_USE;
ms_rc msi_schema_add_families(const msi_schema *schema, const ms_bt_table_name *name,
                              const ms_bt_family *families, size_t count, ms_kv_batch *batch,
                              msi_schema **schema_out, ms_status *st) MS_MUST_USE;

/* The clock: the highest timestamp ever assigned, 0 when none was. */
ms_rc msi_clock_load(ms_kv *kv, int64_t *micros_out, ms_status *st) MS_MUST_USE;
void msi_clock_put(ms_kv_batch *batch, int64_t micros);

#endif
