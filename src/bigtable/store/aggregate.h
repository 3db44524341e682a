/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells of aggregate families. A cell holds a state: for sum, minimum and maximum the number
 * itself, eight bytes big-endian, which is what a read returns; sums wrap. An input is added to a
 * state, or another state is merged into it; the first of either becomes the state of a cell that
 * does not exist.
 *
 * Ownership: a cell is the overlay's. Thread: the leader.
 */
#ifndef MS_BIGTABLE_STORE_AGGREGATE_H
#define MS_BIGTABLE_STORE_AGGREGATE_H

#include "bigtable/model/table.h"
#include "bigtable/store/overlay.h"

/* Makes a new cell one that exists with the state that the store has. MS_CORRUPT_DATA when it is
 * no state of this type. */
ms_rc msi_aggregate_load(ms_bt_value_type type, msi_overlay_cell *cell, ms_str state,
                         ms_status *st) MS_MUST_USE;

/* Makes a new cell one that does not exist. */
void msi_aggregate_clear(ms_bt_value_type type, msi_overlay_cell *cell);

/* Adds an input, resp. merges a state; both have passed ms_bt_mutation_check_type. */
ms_rc msi_aggregate_add(ms_bt_value_type type, msi_overlay_cell *cell, int64_t input,
                        ms_status *st) MS_MUST_USE;
ms_rc msi_aggregate_merge(ms_bt_value_type type, msi_overlay_cell *cell, ms_str state,
                          ms_status *st) MS_MUST_USE;

#endif
