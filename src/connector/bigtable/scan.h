/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The planning face of reading, and what its running faces look at: the columns that are wanted,
 * the ranges of keys, and the client once the scan is prepared.
 *
 * A query that reads a family reads exactly the families it needs, the newest cell of each column;
 * rows without a cell in any of them do not appear. A query that reads none gets the keys of all
 * rows, whatever families their cells are in.
 *
 * Ownership: a scan lives in the arena of the plan. Thread: session while it is planned; const, and
 * read by any thread, once sealed.
 */
#ifndef MS_CONNECTOR_BIGTABLE_SCAN_H
#define MS_CONNECTOR_BIGTABLE_SCAN_H

#include "bigtable/client/client.h"
#include "catalog/connector.h"
#include "connector/bigtable/layout.h"
#include "connector/bigtable/service.h"

typedef struct msi_bt_scan {
    ms_scan scan;
    ms_arena *arena;
    msi_bt_layout layout;
    uint32_t *columns; /* of the stored schema, one a column of the output */
    ms_bt_ranges ranges;
    uint64_t limit; /* rows that are enough; UINT64_MAX: all */
    ms_str app_profile;
    ms_bigtable_place place;
    ms_bigtable_service *service;
    ms_bt_client **client; /* filled by prepare, though the scan is const then */
} msi_bt_scan;

ms_rc msi_bt_scan_create(const ms_connector *connector, const ms_table *table, ms_plan_env *env,
                         ms_scan **scan_out, ms_status *st);

/* The filter of a read: the wanted families, or one cell without its value of every row. */
const ms_bt_filter *msi_bt_scan_filter(ms_arena *arena, const msi_bt_scan *scan);

/* The running faces; enumerator.c and reader.c. */
ms_rc msi_bt_enumerator_create(const ms_scan *scan, ms_enumerator **enumerator_out, ms_status *st);
ms_rc msi_bt_reader_create(const ms_scan *scan, const ms_task_env *env, ms_reader **reader_out,
                           ms_status *st);

#endif
