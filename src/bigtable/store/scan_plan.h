/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A shorter way for the filters that most reads have. A filter program (model/filter_run.h) takes
 * any filter cell by cell; a chain of the simplest ones is also a list of stages with counters,
 * through which a cell goes in a few instructions. The results are the same.
 *
 * Ownership: a plan belongs to the arena it was made in. Thread: its scan's.
 */
#ifndef MS_BIGTABLE_STORE_SCAN_PLAN_H
#define MS_BIGTABLE_STORE_SCAN_PLAN_H

#include "bigtable/model/filter_run.h"
#include "bigtable/store/schema.h"

#define MSI_SCAN_STAGES_MAX 8

typedef enum msi_stage_kind {
    MSI_STAGE_FAMILIES,
    MSI_STAGE_COLUMN_LIMIT,
    MSI_STAGE_ROW_LIMIT,
    MSI_STAGE_ROW_OFFSET,
    MSI_STAGE_STRIP
} msi_stage_kind;

typedef struct msi_stage {
    msi_stage_kind kind;
    uint32_t limit;
    uint32_t seen;        /* cells of the row, resp. column, that reached the stage */
    bool may_skip;        /* no stage before it counts cells of the row */
    const bool *families; /* by index: wanted */
} msi_stage;

typedef struct msi_scan_plan {
    uint32_t stage_count;
    msi_stage stages[MSI_SCAN_STAGES_MAX];
} msi_scan_plan;

/* False when the filter, which compiles for the table, has no plan. */
bool msi_scan_plan_make(const ms_bt_filter *filter, const msi_table *table, ms_arena *arena,
                        msi_scan_plan *plan_out);

/* Starts a row. */
static inline void msi_scan_plan_begin_row(msi_scan_plan *plan)
{
    for (uint32_t i = 0; i < plan->stage_count; i++) {
        plan->stages[i].seen = 0;
    }
}

/* Starts a column within a row. */
static inline void msi_scan_plan_begin_column(msi_scan_plan *plan)
{
    for (uint32_t i = 0; i < plan->stage_count; i++) {
        if (plan->stages[i].kind == MSI_STAGE_COLUMN_LIMIT) {
            plan->stages[i].seen = 0;
        }
    }
}

/* Passes the next cell, which is of this family, through the stages. */
ms_bt_verdict msi_scan_plan_pass(msi_scan_plan *plan, uint32_t family, bool *strip_out);

#endif
