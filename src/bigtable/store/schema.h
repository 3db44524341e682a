/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The catalog of the store: which tables there are, which families and tablets they have, the
 * incarnations by which keys name all of them, and which app profiles and instances were made. A
 * catalog is a snapshot: it is never changed, readers hold it for the length of a call or scan, and
 * a change makes a new one, which shares the tables that stayed as they were.
 *
 * On disk every table, profile and instance is one record under the meta prefix (record.h).
 *
 * A change goes through a draft: a table as the caller wants it, on the stack, borrowing what it
 * keeps from the table before.
 *
 *     ms_bt_table def = *before->def;
 *     msi_table draft = *before;
 *     draft.def = &def;
 *     def.is_protected = true;
 *     msi_schema *next = msi_schema_put_table(schema, &draft, batch, st);
 *
 * Ownership: snapshots are counted; msi_schema_retain and msi_schema_drop. Thread: any.
 */
#ifndef MS_BIGTABLE_STORE_SCHEMA_H
#define MS_BIGTABLE_STORE_SCHEMA_H

#include "bigtable/model/profile.h"
#include "bigtable/model/table.h"
#include "bigtable/store/instance.h"
#include "kv/kv.h"

#include <stdatomic.h>

/* A piece of a table's keys. Incarnations ascend with time and are never used again. */
typedef struct msi_tablet {
    uint32_t id;
    ms_str start;         /* inclusive; empty: from the first key */
    ms_str end;           /* exclusive; empty: to the last */
    int64_t begin_micros; /* the log of its rows' changes begins behind this time */
    int64_t end_micros;   /* and ends before this one; 0: it lives */
} msi_tablet;

/* A table with what the store adds. Arrays are by index in def->families, which ascend by name. */
typedef struct msi_table {
    const ms_bt_table *def; /* its splits are where the tablets but the first start */
    uint32_t id;            /* 0 in a draft: a new table */
    uint32_t next_family_id;
    uint32_t next_tablet_id;
    uint32_t dropped_families; /* of which cells may be left: gc.c */
    const uint32_t *family_ids;
    const msi_tablet *tablets; /* which live: ascending by start, they tile the keys */
    size_t tablet_count;       /* at least 1 */
    const msi_tablet *past;    /* which ended, while their changes are kept: ascending by id */
    size_t past_count;
    int64_t created_micros;     /* by the wall clock */
    int64_t stream_micros;      /* since when changes are logged, and kept; 0: they are not */
    int64_t stream_wall_micros; /* that by the wall clock, which may be behind the store's */

    /* Derived. */
    const ms_str *family_names;
    const uint32_t *by_id; /* indexes of families, ascending by id */
    bool ids_ascend;       /* the order of names is the order of keys */
    bool is_logged;        /* it has a change stream */

    struct msi_table_owner *owner; /* schema.c's */
} msi_table;

typedef struct msi_schema {
    _Atomic uint32_t references;
    const msi_table **tables; /* ascending by name: project, instance, table */
    size_t table_count;
    uint32_t next_table_id;
    const ms_bt_profile *const *profiles; /* likewise, by id; "default" only where it was changed */
    size_t profile_count;
    const ms_bt_instance *const *instances; /* those that were made as such */
    size_t instance_count;
    ms_arena arena; /* of profiles and instances */
} msi_schema;

/* Limits of ours. */
#define MSI_PROFILES_MAX 10000u
#define MSI_INSTANCES_MAX 1000u
#define MSI_TABLETS_MAX (MS_BT_LIMIT_SPLITS + 1u) /* which live; as many ended are remembered */

/* Reads the catalog of a store; an empty store gets its format record, one of the version before is
 * brought to this one. MS_CORRUPT_DATA, or MS_NOT_SUPPORTED when a newer program wrote it. */
ms_rc msi_schema_load(ms_kv *kv, msi_schema **schema_out, ms_status *st) MS_MUST_USE;

msi_schema *msi_schema_retain(msi_schema *schema);
void msi_schema_drop(msi_schema *schema);

/* NULL when there is no such table, profile, or instance that was made as such. */
const msi_table *msi_schema_find(const msi_schema *schema, const ms_bt_table_name *name);
const ms_bt_profile *msi_schema_profile(const msi_schema *schema, const ms_bt_table_name *instance,
                                        ms_str id);
const ms_bt_instance *msi_schema_instance_record(const msi_schema *schema,
                                                 const ms_bt_table_name *instance);

/* The tables, resp. profiles, of an instance: first of them and how many. */
size_t msi_schema_instance(const msi_schema *schema, const ms_bt_table_name *instance,
                           size_t *first_out);
size_t msi_schema_profiles(const msi_schema *schema, const ms_bt_table_name *instance,
                           size_t *first_out);

/* An instance exists once a table, a profile or its record does. */
bool msi_schema_has_instance(const msi_schema *schema, const ms_bt_table_name *instance);

/* The first instance of a project behind this one (empty: the first of all); false at the end. */
bool msi_schema_next_instance(const msi_schema *schema, ms_str project, ms_str after,
                              ms_str *instance_out);

/* The index of the family of this incarnation; UINT32_MAX when the table has none. */
uint32_t msi_table_family_index(const msi_table *table, uint32_t family_id);

/*
 * Each makes a new snapshot, with one reference, in which one thing is added, replaced or gone; the
 * batch receives the records that make it so. A draft without an id is a new table, whose families
 * without an incarnation get one each; families may be in any order. NULL, and MS_LIMIT in st, when
 * there are too many things.
 */
msi_schema *msi_schema_put_table(const msi_schema *schema, const msi_table *draft,
                                 ms_kv_batch *batch, ms_status *st);
msi_schema *msi_schema_put_profile(const msi_schema *schema, const ms_bt_profile *profile,
                                   ms_kv_batch *batch, ms_status *st);
msi_schema *msi_schema_put_instance(const msi_schema *schema, const ms_bt_instance *instance,
                                    ms_kv_batch *batch, ms_status *st);
msi_schema *msi_schema_remove_table(const msi_schema *schema, const msi_table *table,
                                    ms_kv_batch *batch);
msi_schema *msi_schema_remove_profile(const msi_schema *schema, const ms_bt_profile *profile,
                                      ms_kv_batch *batch);

/* With its profiles. */
msi_schema *msi_schema_remove_instance(const msi_schema *schema, const ms_bt_table_name *instance,
                                       ms_kv_batch *batch);

/* Tablets: tablet.c. */

/* The living tablet that holds a row. */
const msi_tablet *msi_table_tablet(const msi_table *table, ms_str row);

/* The tablet of this incarnation, living or not; NULL when it was never there or is forgotten. */
const msi_tablet *msi_table_tablet_by_id(const msi_table *table, uint32_t id);

/* Do a tablet and [start, end) have a key in common; is the range within it? */
bool msi_tablet_overlaps(const msi_tablet *tablet, ms_str start, ms_str end);
bool msi_tablet_contains(const msi_tablet *tablet, ms_str start, ms_str end);

/* The tablets of a new table that is cut at these keys, in any order; sorted and each once. */
void msi_table_first_tablets(msi_table *draft, const ms_str *splits, size_t split_count,
                             int64_t micros, ms_arena *arena);

/*
 * In a draft: a tablet is cut in two at a key, resp. the tablet that begins at key joins the one
 * before; the new ones begin at micros. INVALID_ARGUMENT, FAILED_PRECONDITION or RESOURCE_EXHAUSTED
 * when that cannot be. What the draft then has belongs to the arena.
 */
ms_bt_code msi_table_split(msi_table *draft, ms_str key, int64_t micros, ms_arena *arena,
                           ms_bt_status *bt);
ms_bt_code msi_table_merge(msi_table *draft, ms_str key, int64_t micros, ms_arena *arena,
                           ms_bt_status *bt);

/* In a draft: forgets tablets that ended before micros. Returns whether there were any. */
bool msi_table_forget(msi_table *draft, int64_t micros, ms_arena *arena);

#endif
