/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes from messages. Most changes come in one message and are built in the page's arena at
 * once; one that takes several is gathered in the merger's and copied when it is complete.
 */
#include "bigtable/wire/change_merge.h"

#include "bigtable/wire/range.h"
#include "bigtable/wire/rpc_status.h"
#include "bigtable/wire/time.h"
#include "bigtable/wire/wire_priv.h"

#define RECORD(name) GOOGLE__BIGTABLE__V2__READ_CHANGE_STREAM_RESPONSE__STREAM_RECORD_##name
#define TYPE(name) GOOGLE__BIGTABLE__V2__READ_CHANGE_STREAM_RESPONSE__DATA_CHANGE__TYPE__##name
#define MUTATIONS_FIRST 8u

typedef ms_pb_read_change_stream_response_data_change data_message;
typedef ms_pb_read_change_stream_response_mutation_chunk chunk_message;
typedef ms_pb_read_change_stream_response_mutation_chunk_chunk_info chunk_info;

void ms_wire_change_merger_init(ms_wire_change_merger *merger)
{
    *merger = (ms_wire_change_merger){.has_change = false};
    ms_arena_init(&merger->arena, 0);
    ms_buf_init(&merger->value, MS_BT_LIMIT_ROW_BYTES);
}

void ms_wire_change_merger_release(ms_wire_change_merger *merger)
{
    ms_arena_release(&merger->arena);
    ms_buf_release(&merger->value);
    *merger = (ms_wire_change_merger){.has_change = false};
}

void ms_wire_change_merger_restart(ms_wire_change_merger *merger)
{
    merger->has_change = false;
    merger->has_value = false;
    merger->change = (ms_bt_change){.kind = MS_BT_CHANGE_DATA};
    merger->mutations = NULL;
    merger->mutation_capacity = 0;
    merger->bytes = 0;
    ms_buf_reset(&merger->value);
    ms_arena_reset(&merger->arena);
}

static ms_bt_code breaks(const char *why, ms_bt_status *bt)
{
    return ms_bt_status_set(bt, MS_BT_INTERNAL, "ReadChangeStream breaks the protocol: %s", why);
}

/* Heartbeats and ends. */

static ms_str copy_bytes(ms_arena *arena, ProtobufCBinaryData bytes)
{
    return ms_arena_copy_str(arena, ms_wire_bytes_view(bytes));
}

static ms_str copy_text(ms_arena *arena, const char *text)
{
    return ms_arena_copy_str(arena, ms_wire_text_view(text));
}

/* What a server left out of a partition is taken as the end of the table. */
static ms_bt_range copy_partition(ms_arena *arena, const ms_pb_stream_partition *message)
{
    ms_bt_range range = ms_wire_range_from_pb(message == NULL ? NULL : message->row_range);
    range.start.key = ms_arena_copy_str(arena, range.start.key);
    range.end.key = ms_arena_copy_str(arena, range.end.key);
    return range;
}

static ms_bt_code take_heartbeat(const ms_pb_read_change_stream_response_heartbeat *message,
                                 ms_bt_change_page *page, ms_bt_status *bt)
{
    if (message->continuation_token == NULL) {
        return breaks("a heartbeat has no token", bt);
    }
    ms_bt_change *change = ms_bt_change_page_add(page);
    change->kind = MS_BT_CHANGE_HEARTBEAT;
    change->token = copy_text(&page->arena, message->continuation_token->token);
    change->low_watermark_micros = ms_wire_timestamp_micros(message->estimated_low_watermark);
    return MS_BT_OK;
}

static ms_bt_code take_close(const ms_pb_read_change_stream_response_close_stream *message,
                             ms_bt_change_page *page, ms_bt_status *bt)
{
    ms_bt_status status;
    size_t count = message->n_continuation_tokens;
    ms_wire_status_from_pb(message->status, &status);
    if (ms_bt_status_is_ok(&status) != (count == 0)) {
        return breaks("a stream ends with a status that does not fit its tokens", bt);
    }
    if (message->n_new_partitions != 0 && message->n_new_partitions != count) {
        return breaks("a stream ends with not as many partitions as tokens", bt);
    }
    ms_bt_change_token *tokens = ms_arena_array(&page->arena, ms_bt_change_token, count);
    ms_bt_range *partitions = ms_arena_array(&page->arena, ms_bt_range, count);
    for (size_t i = 0; i < count; i++) {
        const ms_pb_stream_continuation_token *token = message->continuation_tokens[i];
        tokens[i].partition = copy_partition(&page->arena, token->partition);
        tokens[i].token = copy_text(&page->arena, token->token);
        /* A partition that only moved goes on as it is. */
        partitions[i] = message->n_new_partitions == 0
                            ? tokens[i].partition
                            : copy_partition(&page->arena, message->new_partitions[i]);
    }
    ms_bt_change *change = ms_bt_change_page_add(page);
    change->kind = MS_BT_CHANGE_CLOSE;
    change->status = status;
    change->tokens = tokens;
    change->token_count = (uint32_t)count;
    change->new_partitions = partitions;
    return MS_BT_OK;
}

/* Data. */

/* The change that is being built, and the arena that it is built in. */
typedef struct builder {
    ms_wire_change_merger *merger;
    ms_arena *arena;
    ms_bt_status *bt;
} builder;

static ms_bt_code add_bytes(builder *b, size_t bytes)
{
    b->merger->bytes += bytes;
    return b->merger->bytes <= MS_BT_LIMIT_ROW_BYTES
               ? MS_BT_OK
               : ms_bt_status_set(b->bt, MS_BT_RESOURCE_EXHAUSTED,
                                  "A change exceeds the limit of %u bytes", MS_BT_LIMIT_ROW_BYTES);
}

static ms_bt_code begin_change(builder *b, const data_message *data)
{
    ms_bt_change *change = &b->merger->change;
    bool is_collection = data->type == TYPE(GARBAGE_COLLECTION);
    ms_str cluster = ms_wire_text_view(data->source_cluster_id);
    if (b->merger->has_change) {
        return breaks("a change begins before the one before it ended", b->bt);
    }
    if (data->row_key.len == 0) {
        return breaks("a change has no row key", b->bt);
    }
    if (data->commit_timestamp == NULL) {
        return breaks("a change has no commit timestamp", b->bt);
    }
    if ((cluster.bytes == 0) != is_collection) {
        return breaks("only garbage collection has no source cluster", b->bt);
    }
    *change = (ms_bt_change){.kind = MS_BT_CHANGE_DATA, .is_garbage_collection = is_collection};
    change->row_key = copy_bytes(b->arena, data->row_key);
    change->source_cluster = ms_arena_copy_str(b->arena, cluster);
    change->commit_micros = ms_wire_timestamp_micros(data->commit_timestamp);
    change->tiebreaker = data->tiebreaker;
    b->merger->mutations = NULL;
    b->merger->mutation_capacity = 0;
    b->merger->bytes = 0;
    b->merger->has_change = true;
    return add_bytes(b, data->row_key.len);
}

/* A place for one more mutation. */
static ms_bt_code grow(builder *b)
{
    ms_wire_change_merger *merger = b->merger;
    uint32_t count = merger->change.mutation_count;
    if (count == MS_WIRE_CHANGE_MUTATIONS_MAX) {
        return ms_bt_status_set(b->bt, MS_BT_RESOURCE_EXHAUSTED,
                                "A change exceeds the limit of %u mutations",
                                MS_WIRE_CHANGE_MUTATIONS_MAX);
    }
    if (count < merger->mutation_capacity) {
        return MS_BT_OK;
    }
    uint32_t capacity = count == 0 ? MUTATIONS_FIRST : count * 2;
    ms_bt_change_mutation *list = ms_arena_array(b->arena, ms_bt_change_mutation, capacity);
    if (count > 0) {
        memcpy(list, merger->mutations, count * sizeof(list[0]));
    }
    merger->mutations = list;
    merger->mutation_capacity = capacity;
    return MS_BT_OK;
}

static ms_bt_code add_mutation(builder *b, const ms_bt_change_mutation *mutation)
{
    MS_BT_TRY(grow(b));
    MS_BT_TRY(
        add_bytes(b, mutation->family.bytes + mutation->qualifier.bytes + mutation->value.bytes));
    ms_bt_change_mutation *copy = &b->merger->mutations[b->merger->change.mutation_count++];
    *copy = *mutation;
    copy->family = ms_arena_copy_str(b->arena, mutation->family);
    copy->qualifier = ms_arena_copy_str(b->arena, mutation->qualifier);
    copy->value = ms_arena_copy_str(b->arena, mutation->value);
    return MS_BT_OK;
}

static ms_bt_code add_aggregate(builder *b, ms_bt_mutation_kind kind, const char *family,
                                const ms_pb_value *qualifier, const ms_pb_value *timestamp,
                                const ms_pb_value *input)
{
    msi_wire_aggregate aggregate = {.qualifier = msi_wire_value_from_pb(qualifier),
                                    .timestamp = msi_wire_value_from_pb(timestamp),
                                    .input = msi_wire_value_from_pb(input)};
    ms_bt_mutation taken = {.kind = kind};
    ms_bt_status bt = {0};
    if (msi_wire_take_aggregate(&aggregate, b->merger->change.mutation_count, &taken, &bt) !=
        MS_BT_OK) {
        return breaks(bt.text, b->bt);
    }
    ms_bt_change_mutation mutation = {.kind = kind,
                                      .timestamp_micros = taken.timestamp_micros,
                                      .family = ms_wire_text_view(family),
                                      .qualifier = taken.qualifier,
                                      .value = taken.value};
    return add_mutation(b, &mutation);
}

static ms_bt_code add_delete_column(builder *b, const ms_pb_mutation_delete_from_column *message)
{
    const ms_pb_timestamp_range *range = message->time_range;
    ms_bt_change_mutation mutation = {.kind = MS_BT_MUTATION_DELETE_FROM_COLUMN,
                                      .timestamp_micros =
                                          range == NULL ? 0 : range->start_timestamp_micros,
                                      .end_micros = range == NULL ? 0 : range->end_timestamp_micros,
                                      .family = ms_wire_text_view(message->family_name),
                                      .qualifier = ms_wire_bytes_view(message->column_qualifier)};
    return add_mutation(b, &mutation);
}

static ms_bt_code add_set_cell(builder *b, const ms_pb_mutation_set_cell *message, ms_str value)
{
    ms_bt_change_mutation mutation = {.kind = MS_BT_MUTATION_SET_CELL,
                                      .timestamp_micros = message->timestamp_micros,
                                      .family = ms_wire_text_view(message->family_name),
                                      .qualifier = ms_wire_bytes_view(message->column_qualifier),
                                      .value = value};
    return add_mutation(b, &mutation);
}

/* A mutation that comes whole. */
static ms_bt_code take_mutation(builder *b, const ms_pb_mutation *message)
{
    switch ((int)message->mutation_case) {
    case GOOGLE__BIGTABLE__V2__MUTATION__MUTATION_SET_CELL:
        return add_set_cell(b, message->set_cell, ms_wire_bytes_view(message->set_cell->value));
    case GOOGLE__BIGTABLE__V2__MUTATION__MUTATION_DELETE_FROM_COLUMN:
        return add_delete_column(b, message->delete_from_column);
    case GOOGLE__BIGTABLE__V2__MUTATION__MUTATION_DELETE_FROM_FAMILY: {
        ms_bt_change_mutation mutation = {
            .kind = MS_BT_MUTATION_DELETE_FROM_FAMILY,
            .family = ms_wire_text_view(message->delete_from_family->family_name)};
        return add_mutation(b, &mutation);
    }
    case GOOGLE__BIGTABLE__V2__MUTATION__MUTATION_ADD_TO_CELL:
        return add_aggregate(b, MS_BT_MUTATION_ADD_TO_CELL, message->add_to_cell->family_name,
                             message->add_to_cell->column_qualifier,
                             message->add_to_cell->timestamp, message->add_to_cell->input);
    case GOOGLE__BIGTABLE__V2__MUTATION__MUTATION_MERGE_TO_CELL:
        return add_aggregate(b, MS_BT_MUTATION_MERGE_TO_CELL, message->merge_to_cell->family_name,
                             message->merge_to_cell->column_qualifier,
                             message->merge_to_cell->timestamp, message->merge_to_cell->input);
    default:
        return breaks("a change has a mutation of a kind that changes have not", b->bt);
    }
}

/* Pieces. */

/* The pieces so far, and this one; is_last: no other may be missing. */
static ms_bt_code add_piece(builder *b, const chunk_info *info, ms_str piece, bool is_last)
{
    ms_wire_change_merger *merger = b->merger;
    ms_status st = {0};
    if (info->chunked_value_size <= 0 || (size_t)info->chunked_value_size != merger->value_size) {
        return breaks("the size of a value changes", b->bt);
    }
    if (info->chunked_value_offset < 0 ||
        (size_t)info->chunked_value_offset != merger->value.bytes) {
        return breaks("a piece of a value is out of place", b->bt);
    }
    MS_BT_TRY(add_bytes(b, piece.bytes));
    if (ms_buf_append(&merger->value, piece, &st) != MS_OK) {
        return ms_bt_status_from(b->bt, MS_BT_RESOURCE_EXHAUSTED, &st);
    }
    bool fits = is_last ? merger->value.bytes == merger->value_size
                        : merger->value.bytes < merger->value_size;
    return fits ? MS_BT_OK : breaks("a value is not as long as announced", b->bt);
}

static ms_bt_code begin_value(builder *b, const chunk_info *info, const ms_pb_mutation *message)
{
    ms_wire_change_merger *merger = b->merger;
    MS_BT_TRY(add_set_cell(b, message->set_cell, (ms_str){NULL, 0}));
    ms_buf_reset(&merger->value);
    merger->value_size = (size_t)info->chunked_value_size;
    merger->has_value = true;
    return MS_BT_OK;
}

static void end_value(builder *b)
{
    ms_wire_change_merger *merger = b->merger;
    merger->mutations[merger->change.mutation_count - 1].value =
        ms_arena_copy_str(b->arena, ms_buf_view(&merger->value));
    merger->has_value = false;
}

static ms_bt_code take_chunk(builder *b, const chunk_message *chunk, bool is_first, bool is_last)
{
    ms_wire_change_merger *merger = b->merger;
    const chunk_info *info = chunk->chunk_info;
    bool is_piece = info != NULL && info->chunked_value_size > 0;
    if (chunk->mutation == NULL) {
        return breaks("a chunk has no mutation", b->bt);
    }
    if (merger->has_value && (!is_first || !is_piece)) {
        return breaks("a value is not complete", b->bt);
    }
    if (!is_piece) {
        return take_mutation(b, chunk->mutation);
    }
    if (chunk->mutation->mutation_case != GOOGLE__BIGTABLE__V2__MUTATION__MUTATION_SET_CELL) {
        return breaks("a mutation that is no SetCell comes in pieces", b->bt);
    }
    if (!info->last_chunk && !is_last) {
        return breaks("a piece of a value does not end its message", b->bt);
    }
    if (!merger->has_value) {
        MS_BT_TRY(begin_value(b, info, chunk->mutation));
    }
    MS_BT_TRY(
        add_piece(b, info, ms_wire_bytes_view(chunk->mutation->set_cell->value), info->last_chunk));
    if (info->last_chunk) {
        end_value(b);
    }
    return MS_BT_OK;
}

/* Completing. */

/* Puts the change into the page; what was built elsewhere is copied. */
static void deliver(builder *b, ms_bt_change_page *page)
{
    ms_wire_change_merger *merger = b->merger;
    uint32_t count = merger->change.mutation_count;
    ms_bt_change *change = ms_bt_change_page_add(page);
    *change = merger->change;
    change->mutations = merger->mutations;
    page->bytes += merger->bytes;
    if (b->arena == &page->arena) {
        return;
    }
    ms_bt_change_mutation *list = ms_arena_array(&page->arena, ms_bt_change_mutation, count);
    for (uint32_t i = 0; i < count; i++) {
        list[i] = merger->mutations[i];
        list[i].family = ms_arena_copy_str(&page->arena, list[i].family);
        list[i].qualifier = ms_arena_copy_str(&page->arena, list[i].qualifier);
        list[i].value = ms_arena_copy_str(&page->arena, list[i].value);
    }
    change->mutations = list;
    change->row_key = ms_arena_copy_str(&page->arena, change->row_key);
    change->source_cluster = ms_arena_copy_str(&page->arena, change->source_cluster);
    change->token = ms_arena_copy_str(&page->arena, change->token);
}

static ms_bt_code end_change(builder *b, const data_message *data, ms_bt_change_page *page)
{
    ms_wire_change_merger *merger = b->merger;
    if (merger->has_value) {
        return breaks("a change ends inside a value", b->bt);
    }
    if (data->token[0] == '\0') {
        return breaks("a change ends without a token", b->bt);
    }
    merger->change.token = copy_text(b->arena, data->token);
    merger->change.low_watermark_micros = ms_wire_timestamp_micros(data->estimated_low_watermark);
    deliver(b, page);
    ms_wire_change_merger_restart(merger);
    return MS_BT_OK;
}

static ms_bt_code take_data(ms_wire_change_merger *merger, const data_message *data,
                            ms_bt_change_page *page, ms_bt_status *bt)
{
    bool begins = data->type == TYPE(USER) || data->type == TYPE(GARBAGE_COLLECTION);
    builder b = {
        .merger = merger, .arena = begins && data->done ? &page->arena : &merger->arena, .bt = bt};
    if (begins) {
        MS_BT_TRY(begin_change(&b, data));
    } else if (data->type != TYPE(CONTINUATION)) {
        return breaks("a change has an unknown type", bt);
    } else if (!merger->has_change) {
        return breaks("a change goes on that did not begin", bt);
    }
    for (size_t i = 0; i < data->n_chunks; i++) {
        MS_BT_TRY(take_chunk(&b, data->chunks[i], i == 0, i + 1 == data->n_chunks));
    }
    return data->done ? end_change(&b, data, page) : MS_BT_OK;
}

ms_bt_code ms_wire_change_merger_read(ms_wire_change_merger *merger,
                                      const ms_pb_read_change_stream_response *message,
                                      ms_bt_change_page *page, ms_bt_status *bt)
{
    bool is_data = message->stream_record_case == RECORD(DATA_CHANGE);
    if (merger->has_change && !is_data) {
        return breaks("a record comes inside a change", bt);
    }
    switch ((int)message->stream_record_case) {
    case RECORD(DATA_CHANGE):
        return take_data(merger, message->data_change, page, bt);
    case RECORD(HEARTBEAT):
        return take_heartbeat(message->heartbeat, page, bt);
    case RECORD(CLOSE_STREAM):
        return take_close(message->close_stream, page, bt);
    default:
        return breaks("a record is not set", bt);
    }
}

ms_bt_code ms_wire_change_merger_end(const ms_wire_change_merger *merger, ms_bt_status *bt)
{
    return merger->has_change ? breaks("the stream ends inside a change", bt) : MS_BT_OK;
}
