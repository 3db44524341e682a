/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of a bigtable table: the table of all that Flink's connector knows, of which those
 * that are not built are refused by name, and the values that scans and sinks use.
 *
 * Ownership: texts are copied into the arena. Thread: session.
 */
#ifndef MS_CONNECTOR_BIGTABLE_OPTIONS_H
#define MS_CONNECTOR_BIGTABLE_OPTIONS_H

#include "bigtable/model/gc_rule.h"
#include "bigtable/model/name.h"
#include "connector/bigtable/codec.h"
#include "connector/bigtable/row_ranges.h"
#include "connector/bigtable/service.h"

#define MSI_BT_OPTION_COUNT 84u

extern const ms_option_desc msi_bt_options[MSI_BT_OPTION_COUNT];

/* What scans and sinks of a table share. */
typedef struct msi_bt_common_options {
    ms_bt_table_name destination;
    msi_bt_codec_options codec;
    ms_bigtable_place place;
} msi_bt_common_options;

typedef struct msi_bt_sink_options {
    bool is_insert_only;          /* sink.insert-only-input-mode = insert-only */
    bool creates;                 /* sink.create-disposition = create-if-needed */
    const ms_bt_gc_rule *gc_rule; /* of the families it creates; NULL when it creates none */
    uint32_t parallelism;         /* 0: the job's */
    ms_str app_profile;           /* empty: the instance's default */
} msi_bt_sink_options;

typedef struct msi_bt_scan_options {
    ms_bt_ranges ranges;
    uint32_t parallelism; /* 0: the job's */
    ms_str app_profile;   /* empty: the instance's default */
} msi_bt_scan_options;

/* Checks the whole list: unknown keys, what is not built, values that do not parse. */
ms_rc msi_bt_options_check(const ms_table *table, ms_status *st) MS_MUST_USE;

/* Refuses a change-stream table as a sink, ahead of everything else: keys of formats would be
 * reported as unknown and hide it. */
ms_rc msi_bt_options_check_sink_mode(const ms_table *table, ms_status *st) MS_MUST_USE;

/* Reading; the list has been checked. */
ms_rc msi_bt_options_common(ms_arena *arena, const ms_table *table,
                            msi_bt_common_options *options_out, ms_status *st) MS_MUST_USE;
ms_rc msi_bt_options_scan(ms_arena *arena, const ms_table *table, msi_bt_scan_options *options_out,
                          ms_status *st) MS_MUST_USE;
ms_rc msi_bt_options_sink(ms_arena *arena, const ms_table *table, msi_bt_sink_options *options_out,
                          ms_status *st) MS_MUST_USE;

#endif
