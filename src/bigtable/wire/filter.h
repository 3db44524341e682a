/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters as messages. The model carries every filter, also wrong ones, so that nothing is refused
 * here: ms_bt_filter_check is what refuses. A filter in which nothing is set becomes PASS_ALL; a
 * kind of filter that is unknown reads like that too, as protobuf has it.
 *
 * Ownership: results live in the arena and borrow the texts of what they were made from. Thread:
 * any. Depth is bounded by ms_wire_check, resp. ms_bt_filter_check.
 */
#ifndef MS_BIGTABLE_WIRE_FILTER_H
#define MS_BIGTABLE_WIRE_FILTER_H

#include "bigtable/model/filter.h"
#include "bigtable/wire/pb.h"

/* NULL gives NULL in both directions. */
const ms_bt_filter *ms_wire_filter_from_pb(const ms_pb_row_filter *message, ms_arena *arena);
ms_pb_row_filter *ms_wire_filter_to_pb(const ms_bt_filter *filter, ms_arena *arena);

#endif
