/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a filter tree to stages. A chain flattens; an interleave of distinct families is a set of
 * families; anything else, or a chain that is too long, has no plan.
 */
#include "bigtable/store/scan_plan.h"

static bool add_stage(msi_scan_plan *plan, msi_stage_kind kind, int32_t limit, const bool *families)
{
    if (plan->stage_count == MSI_SCAN_STAGES_MAX) {
        return false;
    }
    bool may_skip = true;
    for (uint32_t i = 0; i < plan->stage_count; i++) {
        msi_stage_kind before = plan->stages[i].kind;
        may_skip = may_skip && before != MSI_STAGE_ROW_LIMIT && before != MSI_STAGE_ROW_OFFSET;
    }
    plan->stages[plan->stage_count++] = (msi_stage){
        .kind = kind, .limit = (uint32_t)limit, .may_skip = may_skip, .families = families};
    return true;
}

/* Adds a set of families; false when the children are something else, or one comes twice. */
static bool add_families(msi_scan_plan *plan, const ms_bt_filter *const *children, size_t count,
                         const msi_table *table, ms_arena *arena)
{
    bool *wanted = ms_arena_array(arena, bool, table->def->family_count);
    for (size_t i = 0; i < count; i++) {
        if (children[i] == NULL || children[i]->kind != MS_BT_FILTER_FAMILY) {
            return false;
        }
        const ms_bt_family *family = ms_bt_table_family(table->def, children[i]->text);
        size_t index = (size_t)(family - table->def->families);
        if (wanted[index]) {
            return false;
        }
        wanted[index] = true;
    }
    return add_stage(plan, MSI_STAGE_FAMILIES, 0, wanted);
}

/* Appends the stages of a filter; false when it has none. */
static bool flatten(msi_scan_plan *plan, const ms_bt_filter *filter, const msi_table *table,
                    ms_arena *arena)
{
    if (filter == NULL || filter->kind == MS_BT_FILTER_PASS_ALL) {
        return true;
    }
    if (filter->kind == MS_BT_FILTER_FAMILY) {
        return add_families(plan, &filter, 1, table, arena);
    }
    if (filter->kind == MS_BT_FILTER_INTERLEAVE) {
        return add_families(plan, filter->children, filter->child_count, table, arena);
    }
    if (filter->kind == MS_BT_FILTER_CELLS_PER_COLUMN_LIMIT) {
        return add_stage(plan, MSI_STAGE_COLUMN_LIMIT, filter->count, NULL);
    }
    if (filter->kind == MS_BT_FILTER_CELLS_PER_ROW_LIMIT) {
        return add_stage(plan, MSI_STAGE_ROW_LIMIT, filter->count, NULL);
    }
    if (filter->kind == MS_BT_FILTER_CELLS_PER_ROW_OFFSET) {
        return add_stage(plan, MSI_STAGE_ROW_OFFSET, filter->count, NULL);
    }
    if (filter->kind == MS_BT_FILTER_STRIP_VALUE) {
        return add_stage(plan, MSI_STAGE_STRIP, 0, NULL);
    }
    if (filter->kind != MS_BT_FILTER_CHAIN) {
        return false;
    }
    for (size_t i = 0; i < filter->child_count; i++) {
        if (!flatten(plan, filter->children[i], table, arena)) {
            return false;
        }
    }
    return true;
}

static bool counts_rows(const msi_scan_plan *plan)
{
    for (uint32_t i = 0; i < plan->stage_count; i++) {
        if (plan->stages[i].kind == MSI_STAGE_ROW_LIMIT ||
            plan->stages[i].kind == MSI_STAGE_ROW_OFFSET) {
            return true;
        }
    }
    return false;
}

bool msi_scan_plan_make(const ms_bt_filter *filter, const msi_table *table, ms_arena *arena,
                        msi_scan_plan *plan_out)
{
    *plan_out = (msi_scan_plan){0};
    /* Cells come in the order of incarnations; a stage that counts over families wants names. */
    return flatten(plan_out, filter, table, arena) && (table->ids_ascend || !counts_rows(plan_out));
}

ms_bt_verdict msi_scan_plan_pass(msi_scan_plan *plan, uint32_t family, bool *strip_out)
{
    *strip_out = false;
    for (uint32_t i = 0; i < plan->stage_count; i++) {
        msi_stage *stage = &plan->stages[i];
        switch (stage->kind) {
        case MSI_STAGE_FAMILIES:
            if (!stage->families[family]) {
                return stage->may_skip ? MS_BT_VERDICT_DROP_FAMILY : MS_BT_VERDICT_DROP;
            }
            break;
        case MSI_STAGE_COLUMN_LIMIT:
            if (stage->seen++ >= stage->limit) {
                return stage->may_skip ? MS_BT_VERDICT_DROP_COLUMN : MS_BT_VERDICT_DROP;
            }
            break;
        case MSI_STAGE_ROW_LIMIT:
            if (stage->seen++ >= stage->limit) {
                return MS_BT_VERDICT_DROP_ROW;
            }
            break;
        case MSI_STAGE_ROW_OFFSET:
            if (stage->seen++ < stage->limit) {
                return MS_BT_VERDICT_DROP;
            }
            break;
        case MSI_STAGE_STRIP:
            *strip_out = true;
            break;
        }
    }
    return MS_BT_VERDICT_KEEP;
}
