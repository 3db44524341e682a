/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges of row keys, sets of rows, and the partitions and tokens of change streams as messages.
 *
 * Ownership: results live in the arena and borrow the keys of what they were made from. Thread:
 * any.
 */
#ifndef MS_BIGTABLE_WIRE_RANGE_H
#define MS_BIGTABLE_WIRE_RANGE_H

#include "bigtable/model/change.h"
#include "bigtable/model/range.h"
#include "bigtable/wire/pb.h"

/* NULL is every key; an empty key is no bound. */
ms_bt_range ms_wire_range_from_pb(const ms_pb_row_range *message);
ms_pb_row_range *ms_wire_range_to_pb(const ms_bt_range *range, ms_arena *arena);

/* NULL is every row; so is an empty set, which becomes NULL. */
ms_bt_row_set ms_wire_row_set_from_pb(const ms_pb_row_set *message, ms_arena *arena);
ms_pb_row_set *ms_wire_row_set_to_pb(const ms_bt_row_set *set, ms_arena *arena);

/*
 * A partition has both bounds set, closed and open, empty at the ends of the table; one that has
 * not, or is absent, is INVALID_ARGUMENT. Other bounds of a range come out as the nearest that can
 * be said.
 */
ms_bt_code ms_wire_partition_from_pb(const ms_pb_stream_partition *message,
                                     ms_bt_range *partition_out, ms_bt_status *bt);
ms_pb_stream_partition *ms_wire_partition_to_pb(const ms_bt_range *partition, ms_arena *arena);

ms_bt_code ms_wire_token_from_pb(const ms_pb_stream_continuation_token *message,
                                 ms_bt_change_token *token_out, ms_bt_status *bt);
ms_pb_stream_continuation_token *ms_wire_token_to_pb(const ms_bt_change_token *token,
                                                     ms_arena *arena);

#endif
