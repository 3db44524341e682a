/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The planning face of writing, and what its writers look at.
 *
 * Ownership: a sink lives in the arena of the plan. Thread: session while it is planned; const, and
 * read by any thread, once sealed.
 */
#ifndef MS_CONNECTOR_BIGTABLE_SINK_H
#define MS_CONNECTOR_BIGTABLE_SINK_H

#include "bigtable/client/client.h"
#include "catalog/connector.h"
#include "connector/bigtable/layout.h"
#include "connector/bigtable/options.h"
#include "connector/bigtable/service.h"

typedef struct msi_bt_sink {
    ms_sink sink;
    msi_bt_layout layout;
    msi_bt_sink_options options;
    ms_bigtable_place place;
    ms_bigtable_service *service;
    ms_bt_client **client; /* filled by prepare, though the sink is const then */
} msi_bt_sink;

ms_rc msi_bt_sink_create(const ms_connector *connector, const ms_table *table, ms_plan_env *env,
                         const uint32_t *target_columns, uint32_t target_count, ms_sink **sink_out,
                         ms_status *st);

/* The running face; writer.c. */
ms_rc msi_bt_writer_create(const ms_sink *sink, const ms_task_env *env, ms_writer **writer_out,
                           ms_status *st);

#endif
