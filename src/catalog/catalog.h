/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables and views of a session, in memory: default_catalog.default_database. Names are exact
 * and case-sensitive, as Flink's. A temporary table hides a permanent one of the same name.
 *
 *     ms_catalog *catalog = ms_catalog_create();
 *     ms_table *table = ms_arena_new(ms_catalog_arena(catalog), ms_table);
 *     ...
 *     MS_TRY(ms_catalog_add(catalog, table, if_not_exists, span, st));
 *     const ms_table *found = ms_catalog_find(catalog, name);
 *
 * Ownership: tables live in the catalog's arena and stay valid until it is destroyed, also when
 * they were dropped, so that running plans may keep them. Thread: that of the session.
 */
#ifndef MS_CATALOG_CATALOG_H
#define MS_CATALOG_CATALOG_H

#include "base/map.h"
#include "catalog/table.h"

#define MS_CATALOG_NAME "default_catalog"
#define MS_CATALOG_DATABASE "default_database"

typedef struct ms_catalog ms_catalog;

ms_catalog *ms_catalog_create(void);
void ms_catalog_destroy(ms_catalog *catalog);

/* Another catalog with the same tables, which stay those of the first: that one lives longer. */
ms_catalog *ms_catalog_copy(const ms_catalog *catalog);

/* Where tables to be added are built. */
ms_arena *ms_catalog_arena(ms_catalog *catalog);

/*
 * Adds a table or view built in the catalog's arena. When there is one of this name and
 * temporariness: MS_DUPLICATE_TABLE at span, or nothing happens with if_not_exists.
 */
ms_rc ms_catalog_add(ms_catalog *catalog, const ms_table *table, bool if_not_exists, ms_span span,
                     ms_status *st) MS_MUST_USE;

/*
 * Removes a table or view. MS_UNDEFINED_TABLE with the nearest name as hint when there is none,
 * MS_TYPE_MISMATCH when it is of the other sort; with if_exists an absent one is fine.
 */
ms_rc ms_catalog_drop(ms_catalog *catalog, ms_str name, bool is_view, bool is_temporary,
                      bool if_exists, ms_span span, ms_status *st) MS_MUST_USE;

/* The table or view that a query sees under a name; NULL when there is none. */
const ms_table *ms_catalog_find(const ms_catalog *catalog, ms_str name);

/* The name nearest to a misspelt one; an empty string when none is near. */
ms_str ms_catalog_nearest(const ms_catalog *catalog, ms_str name);

/* All tables and views that a query sees, sorted by name; the array is in arena. */
const ms_table *const *ms_catalog_list(const ms_catalog *catalog, ms_arena *arena,
                                       uint32_t *count_out);

#endif
