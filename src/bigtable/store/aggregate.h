/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells of aggregate families. A cell holds a state, which is what a read returns: for sum, minimum
 * and maximum the number itself, eight bytes big-endian, where sums wrap; for counts of distinct
 * values a sketch (model/hll.h). An input is added to a state, or another state is merged into it;
 * a cell that does not exist is one to which nothing was added.
 *
 * Ownership: a cell is the overlay's. Thread: the leader.
 */
#ifndef MS_BIGTABLE_STORE_AGGREGATE_H
#define MS_BIGTABLE_STORE_AGGREGATE_H

#include "bigtable/model/table.h"
#include "bigtable/store/overlay.h"

/* Makes a cell one that exists with the state that the store has. MS_CORRUPT_DATA when it is no
 * state of this type. */
ms_rc msi_aggregate_load(ms_bt_value_type type, msi_overlay_cell *cell, ms_str state,
                         ms_status *st) MS_MUST_USE;

/* Makes a cell one that does not exist. MS_NO_MEMORY. */
ms_rc msi_aggregate_clear(ms_bt_value_type type, msi_overlay_cell *cell, ms_status *st) MS_MUST_USE;

/* Adds an input, resp. merges a state; both have passed ms_bt_mutation_check_type. MS_NO_MEMORY. */
ms_rc msi_aggregate_add(ms_bt_value_type type, msi_overlay_cell *cell, int64_t input,
                        ms_status *st) MS_MUST_USE;
ms_rc msi_aggregate_merge(ms_bt_value_type type, msi_overlay_cell *cell, ms_str state,
                          ms_status *st) MS_MUST_USE;

#endif
