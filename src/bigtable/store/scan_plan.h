/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a scan applies its filter. Most filters are chains of simple steps, which a scan can take
 * cell by cell as they come out of the store: such a filter becomes a list of stages with counters,
 * and a stage can say that the rest of a column, family or row is of no interest, so that the scan
 * jumps. All other filters see the whole row at once (model/filter_eval.h).
 *
 * Ownership: a plan belongs to the arena it was made in. Thread: its scan's.
 */
#ifndef MS_BIGTABLE_STORE_SCAN_PLAN_H
#define MS_BIGTABLE_STORE_SCAN_PLAN_H

#include "bigtable/model/filter.h"
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
    bool blocks;                /* no cell passes */
    bool is_whole_row;          /* evaluate filter on whole rows; there are no stages */
    bool sorts_rows;            /* names of families and their incarnations are in other orders */
    const ms_bt_filter *filter; /* the whole tree */
    uint32_t stage_count;
    msi_stage stages[MSI_SCAN_STAGES_MAX];
} msi_scan_plan;

/* What becomes of a cell, and how far the scan may jump. */
typedef enum msi_verdict {
    MSI_KEEP,
    MSI_DROP,
    MSI_DROP_COLUMN, /* and all that follows in its column */
    MSI_DROP_FAMILY,
    MSI_DROP_ROW
} msi_verdict;

/* Makes the plan of a filter that was checked and is built. NOT_FOUND when it names a family that
 * the table lacks. */
ms_bt_code msi_scan_plan_make(const ms_bt_filter *filter, const msi_table *table, ms_arena *arena,
                              msi_scan_plan *plan_out, ms_bt_status *bt);

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
msi_verdict msi_scan_plan_pass(msi_scan_plan *plan, uint32_t family, bool *strip_out);

/* The lowest incarnation above family_id that the stages that may skip want; 0: none. */
uint32_t msi_scan_plan_next_family(const msi_scan_plan *plan, const msi_table *table,
                                   uint32_t family_id);

#endif
