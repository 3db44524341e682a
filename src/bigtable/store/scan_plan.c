/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a filter tree to stages. A chain flattens; an interleave of distinct families is a set of
 * families; anything else, or a chain that is too long, makes the scan look at whole rows.
 */
#include "bigtable/store/scan_plan.h"

/* Every family that the filter names must exist, wherever in the tree it is. */
static ms_bt_code check_families(const ms_bt_filter *filter, const msi_table *table,
                                 ms_bt_status *bt)
{
    if (filter == NULL) {
        return MS_BT_OK;
    }
    if (filter->kind == MS_BT_FILTER_FAMILY &&
        ms_bt_table_family(table->def, filter->text) == NULL) {
        char path[MS_BT_TABLE_PATH_BYTES];
        ms_bt_table_name_path(&table->def->name, path);
        return ms_bt_status_set(bt, MS_BT_NOT_FOUND,
                                "Error while reading table '%s' : Requested column family not "
                                "found",
                                path);
    }
    for (size_t i = 0; i < filter->child_count; i++) {
        MS_BT_TRY(check_families(filter->children[i], table, bt));
    }
    return MS_BT_OK;
}

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
    if (filter->kind == MS_BT_FILTER_BLOCK_ALL) {
        plan->blocks = true;
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
    MS_ASSERT(filter->kind == MS_BT_FILTER_CHAIN);
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

ms_bt_code msi_scan_plan_make(const ms_bt_filter *filter, const msi_table *table, ms_arena *arena,
                              msi_scan_plan *plan_out, ms_bt_status *bt)
{
    *plan_out = (msi_scan_plan){.filter = filter, .sorts_rows = !table->ids_ascend};
    MS_BT_TRY(check_families(filter, table, bt));
    bool is_flat = flatten(plan_out, filter, table, arena);
    /* Cells come in the order of incarnations; a stage that counts over families wants names. */
    if (!is_flat || (plan_out->sorts_rows && counts_rows(plan_out))) {
        plan_out->is_whole_row = true;
        plan_out->stage_count = 0;
        plan_out->blocks = false;
    }
    return MS_BT_OK;
}

msi_verdict msi_scan_plan_pass(msi_scan_plan *plan, uint32_t family, bool *strip_out)
{
    *strip_out = false;
    for (uint32_t i = 0; i < plan->stage_count; i++) {
        msi_stage *stage = &plan->stages[i];
        switch (stage->kind) {
        case MSI_STAGE_FAMILIES:
            if (!stage->families[family]) {
                return stage->may_skip ? MSI_DROP_FAMILY : MSI_DROP;
            }
            break;
        case MSI_STAGE_COLUMN_LIMIT:
            if (stage->seen++ >= stage->limit) {
                return stage->may_skip ? MSI_DROP_COLUMN : MSI_DROP;
            }
            break;
        case MSI_STAGE_ROW_LIMIT:
            if (stage->seen++ >= stage->limit) {
                return MSI_DROP_ROW;
            }
            break;
        case MSI_STAGE_ROW_OFFSET:
            if (stage->seen++ < stage->limit) {
                return MSI_DROP;
            }
            break;
        case MSI_STAGE_STRIP:
            *strip_out = true;
            break;
        }
    }
    return MSI_KEEP;
}

static bool is_wanted(const msi_scan_plan *plan, uint32_t family)
{
    for (uint32_t i = 0; i < plan->stage_count; i++) {
        const msi_stage *stage = &plan->stages[i];
        if (stage->kind == MSI_STAGE_FAMILIES && stage->may_skip && !stage->families[family]) {
            return false;
        }
    }
    return true;
}

uint32_t msi_scan_plan_next_family(const msi_scan_plan *plan, const msi_table *table,
                                   uint32_t family_id)
{
    for (size_t i = 0; i < table->def->family_count; i++) {
        uint32_t index = table->by_id[i];
        if (table->family_ids[index] > family_id && is_wanted(plan, index)) {
            return table->family_ids[index];
        }
    }
    return 0;
}
