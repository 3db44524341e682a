/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ranges, row sets, partitions and tokens. A bound with an empty key is no bound in the model, and
 * is left out again on the way back, except in partitions, which spell out both.
 */
#include "bigtable/wire/range.h"

ms_bt_range ms_wire_range_from_pb(const ms_pb_row_range *message)
{
    ms_bt_range range = {0};
    if (message == NULL) {
        return range;
    }
    switch ((int)message->start_key_case) {
    case GOOGLE__BIGTABLE__V2__ROW_RANGE__START_KEY_START_KEY_CLOSED:
        range.start =
            ms_bt_bound_make(MS_BT_BOUND_CLOSED, ms_wire_bytes_view(message->start_key_closed));
        break;
    case GOOGLE__BIGTABLE__V2__ROW_RANGE__START_KEY_START_KEY_OPEN:
        range.start =
            ms_bt_bound_make(MS_BT_BOUND_OPEN, ms_wire_bytes_view(message->start_key_open));
        break;
    default:
        break;
    }
    switch ((int)message->end_key_case) {
    case GOOGLE__BIGTABLE__V2__ROW_RANGE__END_KEY_END_KEY_OPEN:
        range.end = ms_bt_bound_make(MS_BT_BOUND_OPEN, ms_wire_bytes_view(message->end_key_open));
        break;
    case GOOGLE__BIGTABLE__V2__ROW_RANGE__END_KEY_END_KEY_CLOSED:
        range.end =
            ms_bt_bound_make(MS_BT_BOUND_CLOSED, ms_wire_bytes_view(message->end_key_closed));
        break;
    default:
        break;
    }
    return range;
}

ms_pb_row_range *ms_wire_range_to_pb(const ms_bt_range *range, ms_arena *arena)
{
    ms_pb_row_range *message = ms_pb_new(arena, row_range);
    switch (range->start.kind) {
    case MS_BT_BOUND_CLOSED:
        message->start_key_case = GOOGLE__BIGTABLE__V2__ROW_RANGE__START_KEY_START_KEY_CLOSED;
        message->start_key_closed = ms_wire_bytes(range->start.key);
        break;
    case MS_BT_BOUND_OPEN:
        message->start_key_case = GOOGLE__BIGTABLE__V2__ROW_RANGE__START_KEY_START_KEY_OPEN;
        message->start_key_open = ms_wire_bytes(range->start.key);
        break;
    case MS_BT_BOUND_NONE:
    case MS_BT_BOUND_COUNT:
        break;
    }
    switch (range->end.kind) {
    case MS_BT_BOUND_OPEN:
        message->end_key_case = GOOGLE__BIGTABLE__V2__ROW_RANGE__END_KEY_END_KEY_OPEN;
        message->end_key_open = ms_wire_bytes(range->end.key);
        break;
    case MS_BT_BOUND_CLOSED:
        message->end_key_case = GOOGLE__BIGTABLE__V2__ROW_RANGE__END_KEY_END_KEY_CLOSED;
        message->end_key_closed = ms_wire_bytes(range->end.key);
        break;
    case MS_BT_BOUND_NONE:
    case MS_BT_BOUND_COUNT:
        break;
    }
    return message;
}

ms_bt_row_set ms_wire_row_set_from_pb(const ms_pb_row_set *message, ms_arena *arena)
{
    ms_bt_row_set set = {0};
    if (message == NULL) {
        return set;
    }
    ms_str *keys = ms_arena_array(arena, ms_str, message->n_row_keys);
    for (size_t i = 0; i < message->n_row_keys; i++) {
        keys[i] = ms_wire_bytes_view(message->row_keys[i]);
    }
    ms_bt_range *ranges = ms_arena_array(arena, ms_bt_range, message->n_row_ranges);
    for (size_t i = 0; i < message->n_row_ranges; i++) {
        ranges[i] = ms_wire_range_from_pb(message->row_ranges[i]);
    }
    set.keys = keys;
    set.key_count = message->n_row_keys;
    set.ranges = ranges;
    set.range_count = message->n_row_ranges;
    return set;
}

ms_pb_row_set *ms_wire_row_set_to_pb(const ms_bt_row_set *set, ms_arena *arena)
{
    if (set->key_count == 0 && set->range_count == 0) {
        return NULL;
    }
    ms_pb_row_set *message = ms_pb_new(arena, row_set);
    message->n_row_keys = set->key_count;
    message->row_keys = ms_arena_array(arena, ProtobufCBinaryData, set->key_count);
    for (size_t i = 0; i < set->key_count; i++) {
        message->row_keys[i] = ms_wire_bytes(set->keys[i]);
    }
    message->n_row_ranges = set->range_count;
    message->row_ranges = ms_arena_array(arena, ms_pb_row_range *, set->range_count);
    for (size_t i = 0; i < set->range_count; i++) {
        message->row_ranges[i] = ms_wire_range_to_pb(&set->ranges[i], arena);
    }
    return message;
}

/* Change streams. */

ms_bt_code ms_wire_partition_from_pb(const ms_pb_stream_partition *message,
                                     ms_bt_range *partition_out, ms_bt_status *bt)
{
    *partition_out = (ms_bt_range){0};
    const ms_pb_row_range *range = message == NULL ? NULL : message->row_range;
    if (range == NULL ||
        range->start_key_case != GOOGLE__BIGTABLE__V2__ROW_RANGE__START_KEY_START_KEY_CLOSED ||
        range->end_key_case != GOOGLE__BIGTABLE__V2__ROW_RANGE__END_KEY_END_KEY_OPEN) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "partition.row_range must be the form of [start_key, end_key)");
    }
    *partition_out = ms_wire_range_from_pb(range);
    return MS_BT_OK;
}

ms_pb_stream_partition *ms_wire_partition_to_pb(const ms_bt_range *partition, ms_arena *arena)
{
    ms_pb_row_range *range = ms_pb_new(arena, row_range);
    range->start_key_case = GOOGLE__BIGTABLE__V2__ROW_RANGE__START_KEY_START_KEY_CLOSED;
    range->start_key_closed = ms_wire_bytes(partition->start.key);
    range->end_key_case = GOOGLE__BIGTABLE__V2__ROW_RANGE__END_KEY_END_KEY_OPEN;
    range->end_key_open = ms_wire_bytes(partition->end.key);
    ms_pb_stream_partition *message = ms_pb_new(arena, stream_partition);
    message->row_range = range;
    return message;
}

ms_bt_code ms_wire_token_from_pb(const ms_pb_stream_continuation_token *message,
                                 ms_bt_change_token *token_out, ms_bt_status *bt)
{
    *token_out = (ms_bt_change_token){.token = ms_wire_text_view(message->token)};
    return ms_wire_partition_from_pb(message->partition, &token_out->partition, bt);
}

ms_pb_stream_continuation_token *ms_wire_token_to_pb(const ms_bt_change_token *token,
                                                     ms_arena *arena)
{
    ms_pb_stream_continuation_token *message = ms_pb_new(arena, stream_continuation_token);
    message->partition = ms_wire_partition_to_pb(&token->partition, arena);
    message->token = ms_wire_text(arena, token->token);
    return message;
}
