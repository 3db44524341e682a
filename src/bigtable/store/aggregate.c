/* SPDX-License-Identifier: Apache-2.0 */
/*
 * States of aggregate cells and how they combine.
 */
#include "bigtable/store/aggregate.h"

static int64_t combine(ms_bt_value_type type, int64_t state, int64_t other)
{
    if (type == MS_BT_VALUE_INT64_MIN) {
        return other < state ? other : state;
    }
    if (type == MS_BT_VALUE_INT64_MAX) {
        return other > state ? other : state;
    }
    MS_ASSERT(type == MS_BT_VALUE_INT64_SUM);
    return (int64_t)((uint64_t)state + (uint64_t)other);
}

ms_rc msi_aggregate_load(ms_bt_value_type type, msi_overlay_cell *cell, ms_str state, ms_status *st)
{
    msi_aggregate_clear(type, cell);
    if (state.bytes != sizeof(int64_t)) {
        return ms_status_set(st, MS_CORRUPT_DATA, ms_span_none,
                             "a cell of an aggregate family is %zu bytes long", state.bytes);
    }
    cell->exists = true;
    cell->number = msi_number_load(state.ptr);
    return MS_OK;
}

void msi_aggregate_clear(ms_bt_value_type type, msi_overlay_cell *cell)
{
    (void)type;
    cell->kind = MSI_OVERLAY_NUMBER;
    cell->exists = false;
}

ms_rc msi_aggregate_add(ms_bt_value_type type, msi_overlay_cell *cell, int64_t input, ms_status *st)
{
    (void)st;
    cell->number = cell->exists ? combine(type, cell->number, input) : input;
    cell->exists = true;
    return MS_OK;
}

ms_rc msi_aggregate_merge(ms_bt_value_type type, msi_overlay_cell *cell, ms_str state,
                          ms_status *st)
{
    return msi_aggregate_add(type, cell, msi_number_load(state.ptr), st);
}
