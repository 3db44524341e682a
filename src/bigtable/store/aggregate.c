/* SPDX-License-Identifier: Apache-2.0 */
/*
 * States of aggregate cells and how they combine. A sketch is read once a batch and written once,
 * however often it is added to. A new one has the usual precision, and lower ones that are merged
 * into it lower it, so that none is ever larger than that.
 */
#include "bigtable/store/aggregate.h"

#include "base/memory.h"
#include "bigtable/model/hll.h"

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

static ms_rc no_memory(const ms_bt_status *bt, ms_status *st)
{
    return ms_status_set(st, MS_NO_MEMORY, ms_span_none, "could not combine sketches: %s",
                         bt->text);
}

/* Gives the cell the sketch of a state, in place of the one that it may have. */
static ms_rc set_sketch(msi_overlay_cell *cell, ms_str state, ms_status *st)
{
    cell->kind = MSI_OVERLAY_SKETCH;
    if (cell->sketch == NULL) {
        cell->sketch = ms_mem_calloc(1, sizeof(ms_bt_hll));
    }
    ms_bt_hll_release(cell->sketch);
    ms_bt_status bt = {0};
    if (ms_bt_hll_init(cell->sketch, state, &bt) == MS_BT_OK) {
        return MS_OK;
    }
    *cell->sketch = (ms_bt_hll){0};
    if (bt.code == MS_BT_RESOURCE_EXHAUSTED) {
        return no_memory(&bt, st);
    }
    return ms_status_set(st, MS_CORRUPT_DATA, ms_span_none,
                         "a cell of an aggregate family has no sketch: %s", bt.text);
}

ms_rc msi_aggregate_load(ms_bt_value_type type, msi_overlay_cell *cell, ms_str state, ms_status *st)
{
    if (type == MS_BT_VALUE_INT64_HLL) {
        MS_TRY(set_sketch(cell, state, st));
        cell->exists = true;
        return MS_OK;
    }
    if (state.bytes != sizeof(int64_t)) {
        return ms_status_set(st, MS_CORRUPT_DATA, ms_span_none,
                             "a cell of an aggregate family is %zu bytes long", state.bytes);
    }
    cell->kind = MSI_OVERLAY_NUMBER;
    cell->exists = true;
    cell->number = msi_number_load(state.ptr);
    return MS_OK;
}

ms_rc msi_aggregate_clear(ms_bt_value_type type, msi_overlay_cell *cell, ms_status *st)
{
    cell->exists = false;
    if (type == MS_BT_VALUE_INT64_HLL) {
        return set_sketch(cell, (ms_str){NULL, 0}, st);
    }
    cell->kind = MSI_OVERLAY_NUMBER;
    return MS_OK;
}

ms_rc msi_aggregate_add(ms_bt_value_type type, msi_overlay_cell *cell, int64_t input, ms_status *st)
{
    if (type == MS_BT_VALUE_INT64_HLL) {
        ms_bt_status bt = {0};
        if (ms_bt_hll_add_int64(cell->sketch, input, &bt) != MS_BT_OK) {
            return no_memory(&bt, st);
        }
    } else {
        cell->number = cell->exists ? combine(type, cell->number, input) : input;
    }
    cell->exists = true;
    return MS_OK;
}

static ms_rc merge_sketch(msi_overlay_cell *cell, ms_str state, ms_status *st)
{
    ms_bt_hll other;
    ms_bt_status bt = {0};
    if (ms_bt_hll_init(&other, state, &bt) != MS_BT_OK) {
        return no_memory(&bt, st);
    }
    ms_bt_code code = ms_bt_hll_merge(cell->sketch, &other, &bt);
    ms_bt_hll_release(&other);
    cell->exists = true;
    return code == MS_BT_OK ? MS_OK : no_memory(&bt, st);
}

ms_rc msi_aggregate_merge(ms_bt_value_type type, msi_overlay_cell *cell, ms_str state,
                          ms_status *st)
{
    return type == MS_BT_VALUE_INT64_HLL
               ? merge_sketch(cell, state, st)
               : msi_aggregate_add(type, cell, msi_number_load(state.ptr), st);
}
