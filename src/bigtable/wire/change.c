/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes as messages. A message of a data change takes mutations until it is full. A long value of
 * SetCell is cut: a piece that more follow ends its message, because a reader expects the next
 * piece at the front of the next one. Only the first piece names the cell.
 */
#include "bigtable/wire/change.h"

#include "bigtable/wire/range.h"
#include "bigtable/wire/rpc_status.h"
#include "bigtable/wire/time.h"
#include "bigtable/wire/wire_priv.h"

/* What a chunk takes besides its texts, roughly; so many chunks fit into a message at most. */
#define CHUNK_OVERHEAD 32u

#define RECORD(name) GOOGLE__BIGTABLE__V2__READ_CHANGE_STREAM_RESPONSE__STREAM_RECORD_##name
#define TYPE(name) GOOGLE__BIGTABLE__V2__READ_CHANGE_STREAM_RESPONSE__DATA_CHANGE__TYPE__##name

typedef ms_pb_read_change_stream_response_data_change data_message;
typedef ms_pb_read_change_stream_response_mutation_chunk chunk_message;
typedef ms_pb_read_change_stream_response_mutation_chunk_chunk_info chunk_info;

void ms_wire_change_writer_init(ms_wire_change_writer *writer,
                                const ms_wire_change_options *options)
{
    static const ms_wire_change_options none = {0, 0};
    const ms_wire_change_options *o = options == NULL ? &none : options;
    *writer = (ms_wire_change_writer){
        .message_bytes = o->message_bytes == 0 ? MS_WIRE_CHANGE_MESSAGE_BYTES : o->message_bytes,
        .piece_bytes = o->piece_bytes == 0 ? MS_WIRE_CHANGE_PIECE_BYTES : o->piece_bytes,
        .is_done = true,
    };
}

void ms_wire_change_writer_begin(ms_wire_change_writer *writer, const ms_bt_change *change,
                                 const ms_bt_range *partition)
{
    writer->change = change;
    writer->partition = *partition;
    writer->mutation = 0;
    writer->value_at = 0;
    writer->has_begun = false;
    writer->is_done = false;
}

/* Heartbeats and ends. */

static void put_heartbeat(const ms_wire_change_writer *writer, ms_arena *arena,
                          ms_pb_read_change_stream_response *message)
{
    ms_bt_change_token token = {writer->partition, writer->change->token};
    ms_pb_read_change_stream_response_heartbeat *heartbeat =
        ms_pb_new(arena, read_change_stream_response_heartbeat);
    heartbeat->continuation_token = ms_wire_token_to_pb(&token, arena);
    heartbeat->estimated_low_watermark =
        ms_wire_timestamp_to_pb(writer->change->low_watermark_micros, arena);
    message->stream_record_case = RECORD(HEARTBEAT);
    message->heartbeat = heartbeat;
}

static void put_close(const ms_bt_change *change, ms_arena *arena,
                      ms_pb_read_change_stream_response *message)
{
    ms_pb_read_change_stream_response_close_stream *close =
        ms_pb_new(arena, read_change_stream_response_close_stream);
    close->status = ms_wire_status_to_pb(&change->status, arena);
    close->n_continuation_tokens = change->token_count;
    close->continuation_tokens =
        ms_arena_array(arena, ms_pb_stream_continuation_token *, change->token_count);
    close->n_new_partitions = change->token_count;
    close->new_partitions = ms_arena_array(arena, ms_pb_stream_partition *, change->token_count);
    for (uint32_t i = 0; i < change->token_count; i++) {
        close->continuation_tokens[i] = ms_wire_token_to_pb(&change->tokens[i], arena);
        close->new_partitions[i] = ms_wire_partition_to_pb(&change->new_partitions[i], arena);
    }
    message->stream_record_case = RECORD(CLOSE_STREAM);
    message->close_stream = close;
}

/* Data. */

static bool is_long(const ms_wire_change_writer *writer, const ms_bt_change_mutation *mutation)
{
    return mutation->kind == MS_BT_MUTATION_SET_CELL && mutation->value.bytes > writer->piece_bytes;
}

/* The next piece of a long value. */
static chunk_message *next_piece(ms_wire_change_writer *writer,
                                 const ms_bt_change_mutation *mutation, ms_arena *arena,
                                 size_t *bytes_out)
{
    size_t left = mutation->value.bytes - writer->value_at;
    size_t bytes = left < writer->piece_bytes ? left : writer->piece_bytes;
    ms_pb_mutation_set_cell *cell = ms_pb_new(arena, mutation_set_cell);
    if (writer->value_at == 0) {
        cell->family_name = ms_wire_text(arena, mutation->family);
        cell->column_qualifier = ms_wire_bytes(mutation->qualifier);
        cell->timestamp_micros = mutation->timestamp_micros;
    }
    cell->value =
        ms_wire_bytes(ms_str_slice(mutation->value, writer->value_at, writer->value_at + bytes));
    chunk_message *chunk = ms_pb_new(arena, read_change_stream_response_mutation_chunk);
    chunk->mutation = ms_pb_new(arena, mutation);
    chunk->mutation->mutation_case = GOOGLE__BIGTABLE__V2__MUTATION__MUTATION_SET_CELL;
    chunk->mutation->set_cell = cell;
    chunk_info *info = ms_pb_new(arena, read_change_stream_response_mutation_chunk_chunk_info);
    info->chunked_value_size = (int32_t)mutation->value.bytes;
    info->chunked_value_offset = (int32_t)writer->value_at;
    info->last_chunk = bytes == left;
    chunk->chunk_info = info;
    *bytes_out = CHUNK_OVERHEAD + bytes + mutation->family.bytes + mutation->qualifier.bytes;
    writer->value_at = info->last_chunk ? 0 : writer->value_at + bytes;
    return chunk;
}

/* The next mutation, whole or a piece of it. */
static chunk_message *next_chunk(ms_wire_change_writer *writer, ms_arena *arena, size_t *bytes_out)
{
    const ms_bt_change_mutation *from = &writer->change->mutations[writer->mutation];
    if (is_long(writer, from)) {
        chunk_message *piece = next_piece(writer, from, arena, bytes_out);
        writer->mutation += writer->value_at == 0 ? 1 : 0;
        return piece;
    }
    ms_bt_mutation mutation = {.kind = from->kind,
                               .timestamp_micros = from->timestamp_micros,
                               .end_micros = from->end_micros,
                               .qualifier = from->qualifier,
                               .value = from->value};
    chunk_message *chunk = ms_pb_new(arena, read_change_stream_response_mutation_chunk);
    chunk->mutation = msi_wire_mutation_to_pb(&mutation, from->family, arena);
    *bytes_out = CHUNK_OVERHEAD + from->family.bytes + from->qualifier.bytes + from->value.bytes;
    writer->mutation++;
    return chunk;
}

/* Does the next mutation, or piece, fit behind bytes? */
static bool fits(const ms_wire_change_writer *writer, size_t bytes)
{
    const ms_bt_change_mutation *next = &writer->change->mutations[writer->mutation];
    size_t value =
        next->value.bytes < writer->piece_bytes ? next->value.bytes : writer->piece_bytes;
    return bytes + CHUNK_OVERHEAD + next->family.bytes + next->qualifier.bytes + value <=
           writer->message_bytes;
}

static void put_chunks(ms_wire_change_writer *writer, ms_arena *arena, data_message *data)
{
    uint32_t left = writer->change->mutation_count - writer->mutation;
    size_t room = writer->message_bytes / CHUNK_OVERHEAD + 1;
    data->chunks = ms_arena_array(arena, chunk_message *, left < room ? left : room);
    size_t bytes = 0;
    bool is_cut = false;
    while (writer->mutation < writer->change->mutation_count && !is_cut &&
           (data->n_chunks == 0 || fits(writer, bytes))) {
        size_t added;
        data->chunks[data->n_chunks++] = next_chunk(writer, arena, &added);
        bytes += added;
        is_cut = writer->value_at != 0;
    }
}

static void put_data(ms_wire_change_writer *writer, ms_arena *arena,
                     ms_pb_read_change_stream_response *message)
{
    const ms_bt_change *change = writer->change;
    data_message *data = ms_pb_new(arena, read_change_stream_response_data_change);
    data->type = TYPE(CONTINUATION);
    if (!writer->has_begun) {
        data->type = change->is_garbage_collection ? TYPE(GARBAGE_COLLECTION) : TYPE(USER);
        data->source_cluster_id = ms_wire_text(arena, change->source_cluster);
        data->row_key = ms_wire_bytes(change->row_key);
        data->commit_timestamp = ms_wire_timestamp_to_pb(change->commit_micros, arena);
        data->tiebreaker = change->tiebreaker;
        writer->has_begun = true;
    }
    put_chunks(writer, arena, data);
    if (writer->mutation == change->mutation_count) {
        data->done = true;
        data->token = ms_wire_text(arena, change->token);
        data->estimated_low_watermark =
            ms_wire_timestamp_to_pb(change->low_watermark_micros, arena);
    }
    message->stream_record_case = RECORD(DATA_CHANGE);
    message->data_change = data;
}

ms_rc ms_wire_change_writer_next(ms_wire_change_writer *writer, ms_arena *arena, ms_buf *buf,
                                 ms_status *st)
{
    MS_ASSERT(!writer->is_done);
    ms_pb_read_change_stream_response *message = ms_pb_new(arena, read_change_stream_response);
    switch (writer->change->kind) {
    case MS_BT_CHANGE_DATA:
        put_data(writer, arena, message);
        writer->is_done = writer->mutation == writer->change->mutation_count;
        break;
    case MS_BT_CHANGE_HEARTBEAT:
        put_heartbeat(writer, arena, message);
        writer->is_done = true;
        break;
    case MS_BT_CHANGE_CLOSE:
        put_close(writer->change, arena, message);
        writer->is_done = true;
        break;
    }
    return ms_pb_pack(message, buf, st);
}
