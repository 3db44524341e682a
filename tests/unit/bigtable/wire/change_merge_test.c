/* SPDX-License-Identifier: Apache-2.0 */
/* Changes from records: vectors where they are at hand, each rule, and what our server writes. */
#include "bigtable/wire/change_testing.h"

#include "bigtable/wire/change.h"
#include "bigtable/wire/change_merge.h"
#include "bigtable/wire/range.h"
#include "bigtable/wire/time.h"
#include "bigtable/wire/vectors.h"
#include "bigtable/wire/wire_testing.h"

typedef ms_pb_read_change_stream_response response;
typedef ms_pb_read_change_stream_response_data_change data_message;
typedef ms_pb_read_change_stream_response_mutation_chunk chunk_message;
#define RECORD(name) GOOGLE__BIGTABLE__V2__READ_CHANGE_STREAM_RESPONSE__STREAM_RECORD_##name
#define TYPE(name) GOOGLE__BIGTABLE__V2__READ_CHANGE_STREAM_RESPONSE__DATA_CHANGE__TYPE__##name

static ms_wire_change_merger merger;
static ms_bt_change_page page;
static ms_buf seen;
static ms_buf expected;

static int setup(void **state)
{
    ms_wire_change_merger_init(&merger);
    ms_bt_change_page_init(&page);
    ms_buf_init(&seen, 1u << 30);
    ms_buf_init(&expected, 1u << 30);
    return wire_setup(state);
}

static int teardown(void **state)
{
    ms_wire_change_merger_release(&merger);
    ms_bt_change_page_release(&page);
    ms_buf_release(&seen);
    ms_buf_release(&expected);
    return wire_teardown(state);
}

static void start_over(void)
{
    ms_wire_change_merger_restart(&merger);
    ms_bt_change_page_reset(&page);
    ms_buf_reset(&seen);
    ms_buf_reset(&expected);
    ms_bt_status_clear(&bt);
}

/* Vectors. */

/* All times in them are this one. */
static int64_t micros_at(const json_t *object, const char *key)
{
    ms_str text = text_at(object, key);
    assert_true(text.bytes == 0 || ms_str_equals(text, ms_str_lit("2022-07-01T00:00:00Z")));
    return text.bytes == 0 ? 0 : INT64_C(1656633600000000);
}

static ms_pb_timestamp *time_at(const json_t *object, const char *key)
{
    return text_at(object, key).bytes == 0
               ? NULL
               : ms_wire_timestamp_to_pb(micros_at(object, key), &arena);
}

static ms_bt_range range_of(const json_t *json)
{
    const json_t *range = json_object_get(json, "row_range");
    return ms_bt_range_make(bytes_at(range, "start_key_closed"), bytes_at(range, "end_key_open"));
}

static ms_bt_change_token token_of(const json_t *json)
{
    return (ms_bt_change_token){range_of(json_object_get(json, "partition")),
                                text_at(json, "token")};
}

/* A mutation as the model has it. */
static ms_bt_change_mutation mutation_of(const json_t *json)
{
    const json_t *set = json_object_get(json, "set_cell");
    const json_t *column = json_object_get(json, "delete_from_column");
    const json_t *family = json_object_get(json, "delete_from_family");
    const json_t *body = set != NULL ? set : column != NULL ? column : family;
    ms_bt_change_mutation m = {.kind = MS_BT_MUTATION_DELETE_FROM_FAMILY,
                               .family = text_at(body, "family_name")};
    if (set != NULL) {
        m.kind = MS_BT_MUTATION_SET_CELL;
        m.timestamp_micros = number_at(body, "timestamp_micros");
        m.value = bytes_at(body, "value");
    } else if (column != NULL) {
        const json_t *range = json_object_get(body, "time_range");
        m.kind = MS_BT_MUTATION_DELETE_FROM_COLUMN;
        m.timestamp_micros = number_at(range, "start_timestamp_micros");
        m.end_micros = number_at(range, "end_timestamp_micros");
    }
    m.qualifier = bytes_at(body, "column_qualifier");
    return m;
}

static ms_pb_mutation *message_of_mutation(const ms_bt_change_mutation *m)
{
    ms_pb_mutation *message = ms_pb_new(&arena, mutation);
    if (m->kind == MS_BT_MUTATION_SET_CELL) {
        message->mutation_case = GOOGLE__BIGTABLE__V2__MUTATION__MUTATION_SET_CELL;
        message->set_cell = ms_pb_new(&arena, mutation_set_cell);
        message->set_cell->family_name = ms_wire_text(&arena, m->family);
        message->set_cell->column_qualifier = ms_wire_bytes(m->qualifier);
        message->set_cell->timestamp_micros = m->timestamp_micros;
        message->set_cell->value = ms_wire_bytes(m->value);
    } else if (m->kind == MS_BT_MUTATION_DELETE_FROM_COLUMN) {
        message->mutation_case = GOOGLE__BIGTABLE__V2__MUTATION__MUTATION_DELETE_FROM_COLUMN;
        message->delete_from_column = ms_pb_new(&arena, mutation_delete_from_column);
        message->delete_from_column->family_name = ms_wire_text(&arena, m->family);
        message->delete_from_column->column_qualifier = ms_wire_bytes(m->qualifier);
        message->delete_from_column->time_range = ms_pb_new(&arena, timestamp_range);
        message->delete_from_column->time_range->start_timestamp_micros = m->timestamp_micros;
        message->delete_from_column->time_range->end_timestamp_micros = m->end_micros;
    } else {
        message->mutation_case = GOOGLE__BIGTABLE__V2__MUTATION__MUTATION_DELETE_FROM_FAMILY;
        message->delete_from_family = ms_pb_new(&arena, mutation_delete_from_family);
        message->delete_from_family->family_name = ms_wire_text(&arena, m->family);
    }
    return message;
}

static int type_of(const json_t *data)
{
    ms_str type = text_at(data, "type");
    return ms_str_equals(type, ms_str_lit("USER"))                 ? TYPE(USER)
           : ms_str_equals(type, ms_str_lit("GARBAGE_COLLECTION")) ? TYPE(GARBAGE_COLLECTION)
           : ms_str_equals(type, ms_str_lit("CONTINUATION"))       ? TYPE(CONTINUATION)
                                                                   : TYPE(TYPE_UNSPECIFIED);
}

static data_message *data_of(const json_t *json)
{
    data_message *data = ms_pb_new(&arena, read_change_stream_response_data_change);
    data->type = (Google__Bigtable__V2__ReadChangeStreamResponse__DataChange__Type)type_of(json);
    data->source_cluster_id = ms_wire_text(&arena, text_at(json, "source_cluster_id"));
    data->row_key = ms_wire_bytes(bytes_at(json, "row_key"));
    data->commit_timestamp = time_at(json, "commit_timestamp");
    data->tiebreaker = (int32_t)number_at(json, "tiebreaker");
    data->done = flag_at(json, "done");
    data->token = ms_wire_text(&arena, text_at(json, "token"));
    data->estimated_low_watermark = time_at(json, "estimated_low_watermark");
    const json_t *chunks = json_object_get(json, "chunks");
    data->n_chunks = json_array_size(chunks);
    data->chunks = ms_arena_array(&arena, chunk_message *, data->n_chunks);
    for (size_t i = 0; i < data->n_chunks; i++) {
        const json_t *chunk = json_array_get(chunks, i);
        const json_t *info = json_object_get(chunk, "chunk_info");
        ms_bt_change_mutation mutation = mutation_of(json_object_get(chunk, "mutation"));
        data->chunks[i] = ms_pb_new(&arena, read_change_stream_response_mutation_chunk);
        data->chunks[i]->mutation = message_of_mutation(&mutation);
        if (info != NULL) {
            ms_pb_read_change_stream_response_mutation_chunk_chunk_info *c =
                ms_pb_new(&arena, read_change_stream_response_mutation_chunk_chunk_info);
            c->chunked_value_size = (int32_t)number_at(info, "chunked_value_size");
            c->chunked_value_offset = (int32_t)number_at(info, "chunked_value_offset");
            c->last_chunk = flag_at(info, "last_chunk");
            data->chunks[i]->chunk_info = c;
        }
    }
    return data;
}

static response *heartbeat_of(const json_t *json)
{
    response *message = ms_pb_new(&arena, read_change_stream_response);
    ms_bt_change_token token = token_of(json_object_get(json, "continuation_token"));
    message->stream_record_case = RECORD(HEARTBEAT);
    message->heartbeat = ms_pb_new(&arena, read_change_stream_response_heartbeat);
    message->heartbeat->continuation_token = ms_wire_token_to_pb(&token, &arena);
    message->heartbeat->estimated_low_watermark = time_at(json, "estimated_low_watermark");
    return message;
}

static response *close_of(const json_t *json)
{
    response *message = ms_pb_new(&arena, read_change_stream_response);
    const json_t *status = json_object_get(json, "status");
    const json_t *tokens = json_object_get(json, "continuation_tokens");
    const json_t *partitions = json_object_get(json, "new_partitions");
    ms_pb_read_change_stream_response_close_stream *close =
        ms_pb_new(&arena, read_change_stream_response_close_stream);
    close->status = ms_pb_new(&arena, rpc_status);
    close->status->code = (int32_t)number_at(status, "code");
    close->status->message = ms_wire_text(&arena, text_at(status, "message"));
    close->n_continuation_tokens = json_array_size(tokens);
    close->continuation_tokens =
        ms_arena_array(&arena, ms_pb_stream_continuation_token *, json_array_size(tokens));
    for (size_t i = 0; i < json_array_size(tokens); i++) {
        ms_bt_change_token token = token_of(json_array_get(tokens, i));
        close->continuation_tokens[i] = ms_wire_token_to_pb(&token, &arena);
    }
    close->n_new_partitions = json_array_size(partitions);
    close->new_partitions =
        ms_arena_array(&arena, ms_pb_stream_partition *, json_array_size(partitions));
    for (size_t i = 0; i < json_array_size(partitions); i++) {
        ms_bt_range range = range_of(json_array_get(partitions, i));
        close->new_partitions[i] = ms_wire_partition_to_pb(&range, &arena);
    }
    message->stream_record_case = RECORD(CLOSE_STREAM);
    message->close_stream = close;
    return message;
}

static response *response_of(const json_t *json)
{
    if (json_object_get(json, "heartbeat") != NULL) {
        return heartbeat_of(json_object_get(json, "heartbeat"));
    }
    if (json_object_get(json, "close_stream") != NULL) {
        return close_of(json_object_get(json, "close_stream"));
    }
    response *message = ms_pb_new(&arena, read_change_stream_response);
    message->stream_record_case = RECORD(DATA_CHANGE);
    message->data_change = data_of(json_object_get(json, "data_change"));
    return message;
}

/* What a vector wants, as the text of a change. */
static void expect(const json_t *record)
{
    const json_t *heartbeat = json_object_get(record, "heartbeat");
    const json_t *close = json_object_get(record, "close_stream");
    const json_t *data = json_object_get(record, "change_stream_mutation");
    ms_bt_change change = {.kind = MS_BT_CHANGE_DATA};
    if (heartbeat != NULL) {
        change.kind = MS_BT_CHANGE_HEARTBEAT;
        change.token = token_of(json_object_get(heartbeat, "continuation_token")).token;
        change.low_watermark_micros = micros_at(heartbeat, "estimated_low_watermark");
    } else if (close != NULL) {
        const json_t *tokens = json_object_get(close, "continuation_tokens");
        const json_t *status = json_object_get(close, "status");
        ms_bt_change_token *list =
            ms_arena_array(&arena, ms_bt_change_token, json_array_size(tokens));
        ms_bt_range *ranges = ms_arena_array(&arena, ms_bt_range, json_array_size(tokens));
        for (size_t i = 0; i < json_array_size(tokens); i++) {
            list[i] = token_of(json_array_get(tokens, i));
            ranges[i] = range_of(json_array_get(json_object_get(close, "new_partitions"), i));
        }
        change.kind = MS_BT_CHANGE_CLOSE;
        ms_bt_status_set_text(&change.status, (ms_bt_code)number_at(status, "code"),
                              text_at(status, "message"));
        change.tokens = list;
        change.token_count = (uint32_t)json_array_size(tokens);
        change.new_partitions = ranges;
    } else {
        const json_t *mutations = json_object_get(data, "mutations");
        ms_bt_change_mutation *list =
            ms_arena_array(&arena, ms_bt_change_mutation, json_array_size(mutations));
        for (size_t i = 0; i < json_array_size(mutations); i++) {
            list[i] = mutation_of(json_array_get(mutations, i));
        }
        change.is_garbage_collection = type_of(data) == TYPE(GARBAGE_COLLECTION);
        change.row_key = bytes_at(data, "row_key");
        change.source_cluster = text_at(data, "source_cluster_id");
        change.commit_micros = micros_at(data, "commit_timestamp");
        change.tiebreaker = (int32_t)number_at(data, "tiebreaker");
        change.mutations = list;
        change.mutation_count = (uint32_t)json_array_size(mutations);
        change.token = text_at(data, "token");
        change.low_watermark_micros = micros_at(data, "estimated_low_watermark");
    }
    put_change(&expected, &change);
}

static void vectors_of_the_java_client_pass(void **state)
{
    (void)state;
    json_t *root = load_vectors("changestream.java-bigtable.json");
    if (root == NULL) {
        skip();
    }
    const json_t *tests = json_object_get(root, "readChangeStreamTests");
    assert_int_equal(json_array_size(tests), 16);
    for (size_t i = 0; i < json_array_size(tests); i++) {
        const json_t *test = json_array_get(tests, i);
        const json_t *responses = json_object_get(test, "api_responses");
        const json_t *results = json_object_get(test, "results");
        bool is_legal = true;
        start_over();
        for (size_t j = 0; j < json_array_size(results); j++) {
            const json_t *result = json_array_get(results, j);
            is_legal = is_legal && !flag_at(result, "error");
            if (!flag_at(result, "error")) {
                expect(json_object_get(result, "record"));
            }
        }
        ms_bt_code code = MS_BT_OK;
        for (size_t j = 0; j < json_array_size(responses) && code == MS_BT_OK; j++) {
            code = ms_wire_change_merger_read(&merger, response_of(json_array_get(responses, j)),
                                              &page, &bt);
        }
        code = code == MS_BT_OK ? ms_wire_change_merger_end(&merger, &bt) : code;
        if ((code == MS_BT_OK) != is_legal) {
            fail_msg("%s: %s", text_at(test, "description").ptr, bt.text);
        }
        put_changes(&seen, &page);
        assert_same_bytes(ms_buf_view(&seen), ms_buf_view(&expected));
    }
    json_decref(root);
}

/* What our server writes. */

static void random_changes_come_back(void **state)
{
    (void)state;
    const ms_bt_range partition = ms_bt_range_make(ms_str_lit("a"), ms_str_lit("z"));
    for (uint64_t seed = 0; seed < 1500; seed++) {
        wire_choices c = choices_of(seed);
        const ms_wire_change_options options = {32 + wire_pick(&c, 250), 1 + wire_pick(&c, 200)};
        ms_wire_change_writer writer;
        ms_wire_change_writer_init(&writer, &options);
        start_over();
        for (unsigned i = wire_pick(&c, 4); i > 0; i--) {
            ms_bt_change change = pick_data(&c);
            put_change(&expected, &change);
            ms_wire_change_writer_begin(&writer, &change, &partition);
            while (!ms_wire_change_writer_is_done(&writer)) {
                ms_buf_reset(&buf);
                assert_ok(ms_wire_change_writer_next(&writer, &arena, &buf, &st));
                ms_arena own; /* the merger keeps nothing of a message */
                ms_arena_init(&own, 0);
                const response *message =
                    ms_pb_unpack(read_change_stream_response, ms_buf_view(&buf),
                                 &ms_wire_response_limits, &own, &bt);
                assert_bt_ok(ms_wire_change_merger_read(&merger, message, &page, &bt));
                ms_arena_release(&own);
            }
        }
        assert_bt_ok(ms_wire_change_merger_end(&merger, &bt));
        put_changes(&seen, &page);
        assert_same_bytes(ms_buf_view(&seen), ms_buf_view(&expected));
        ms_arena_reset(&arena);
    }
}

/* Rules, on messages written by hand. */

static ms_bt_code read_data(const data_message *data)
{
    response *message = ms_pb_new(&arena, read_change_stream_response);
    message->stream_record_case = RECORD(DATA_CHANGE);
    message->data_change = ms_pb_new(&arena, read_change_stream_response_data_change);
    *message->data_change = *data;
    return ms_wire_change_merger_read(&merger, message, &page, &bt);
}

/* The first message of a change, without chunks. */
static data_message first(void)
{
    data_message data = *(data_message *)ms_pb_new(&arena, read_change_stream_response_data_change);
    data.type = TYPE(USER);
    data.source_cluster_id = ms_wire_text(&arena, ms_str_lit("c"));
    data.row_key = ms_wire_bytes(ms_str_lit("k"));
    data.commit_timestamp = ms_wire_timestamp_to_pb(1, &arena);
    return data;
}

static data_message continuation(void)
{
    data_message data = *(data_message *)ms_pb_new(&arena, read_change_stream_response_data_change);
    data.type = TYPE(CONTINUATION);
    return data;
}

/* A chunk with a piece of a value; size 0: no chunk_info. */
static chunk_message *piece(const char *value, int32_t size, int32_t offset, bool is_last)
{
    const ms_bt_change_mutation m = {
        .kind = MS_BT_MUTATION_SET_CELL, .family = ms_str_lit("f"), .value = ms_str_cstr(value)};
    chunk_message *chunk = ms_pb_new(&arena, read_change_stream_response_mutation_chunk);
    chunk->mutation = message_of_mutation(&m);
    if (size != 0) {
        chunk->chunk_info =
            ms_pb_new(&arena, read_change_stream_response_mutation_chunk_chunk_info);
        chunk->chunk_info->chunked_value_size = size;
        chunk->chunk_info->chunked_value_offset = offset;
        chunk->chunk_info->last_chunk = is_last;
    }
    return chunk;
}

static void with_chunks(data_message *data, chunk_message *a, chunk_message *b)
{
    data->chunks = ms_arena_array(&arena, chunk_message *, 2);
    data->chunks[data->n_chunks++] = a;
    if (b != NULL) {
        data->chunks[data->n_chunks++] = b;
    }
}

static void a_change_begins_with_who_where_and_when(void **state)
{
    (void)state;
    data_message data = first();
    data.row_key.len = 0;
    assert_bt_fails(read_data(&data), MS_BT_INTERNAL, "no row key");
    data = first();
    data.commit_timestamp = NULL;
    assert_bt_fails(read_data(&data), MS_BT_INTERNAL, "no commit timestamp");
    data = first();
    data.source_cluster_id = ms_wire_text(&arena, ms_str_lit(""));
    assert_bt_fails(read_data(&data), MS_BT_INTERNAL, "source cluster");
    data = first();
    data.type = TYPE(GARBAGE_COLLECTION);
    assert_bt_fails(read_data(&data), MS_BT_INTERNAL, "source cluster");
    data = first();
    data.type = TYPE(TYPE_UNSPECIFIED);
    assert_bt_fails(read_data(&data), MS_BT_INTERNAL, "unknown type");
    data = continuation();
    assert_bt_fails(read_data(&data), MS_BT_INTERNAL, "did not begin");
}

static void a_change_ends_with_a_token(void **state)
{
    (void)state;
    data_message data = first();
    data.done = true;
    assert_bt_fails(read_data(&data), MS_BT_INTERNAL, "without a token");
    start_over();
    data = first();
    assert_bt_ok(read_data(&data));
    assert_bt_fails(ms_wire_change_merger_end(&merger, &bt), MS_BT_INTERNAL, "inside a change");
    assert_bt_fails(read_data(&data), MS_BT_INTERNAL, "before the one before it ended");
}

static void no_record_comes_inside_a_change(void **state)
{
    (void)state;
    data_message data = first();
    response *message = ms_pb_new(&arena, read_change_stream_response);
    assert_bt_fails(ms_wire_change_merger_read(&merger, message, &page, &bt), MS_BT_INTERNAL,
                    "a record is not set");
    assert_bt_ok(read_data(&data));
    message->stream_record_case = RECORD(HEARTBEAT);
    message->heartbeat = ms_pb_new(&arena, read_change_stream_response_heartbeat);
    assert_bt_fails(ms_wire_change_merger_read(&merger, message, &page, &bt), MS_BT_INTERNAL,
                    "inside a change");
    start_over();
    assert_bt_fails(ms_wire_change_merger_read(&merger, message, &page, &bt), MS_BT_INTERNAL,
                    "a heartbeat has no token");
}

/* The first message with a chunk, and one that must not follow; or the first must not be. */
static void assert_broken(chunk_message *a, chunk_message *b, chunk_message *then, bool is_done,
                          const char *why)
{
    start_over();
    data_message data = first();
    with_chunks(&data, a, b);
    if (then == NULL) {
        data.done = is_done;
        data.token = ms_wire_text(&arena, ms_str_lit("t"));
        assert_bt_fails(read_data(&data), MS_BT_INTERNAL, why);
        return;
    }
    assert_bt_ok(read_data(&data));
    data = continuation();
    data.done = is_done;
    data.token = ms_wire_text(&arena, ms_str_lit("t"));
    with_chunks(&data, then, NULL);
    assert_bt_fails(read_data(&data), MS_BT_INTERNAL, why);
}

static void pieces_fit_together(void **state)
{
    (void)state;
    chunk_message *start = piece("ab", 4, 0, false);
    assert_broken(start, piece("x", 0, 0, false), NULL, false, "does not end its message");
    assert_broken(start, NULL, piece("x", 0, 0, false), false, "a value is not complete");
    assert_broken(start, NULL, piece("cd", 5, 2, true), true, "size of a value changes");
    assert_broken(start, NULL, piece("cd", 4, 3, true), true, "out of place");
    assert_broken(start, NULL, piece("cd", 4, -1, true), true, "out of place");
    assert_broken(start, NULL, piece("c", 4, 2, true), true, "not as long as announced");
    assert_broken(start, NULL, piece("cde", 4, 2, true), true, "not as long as announced");
    assert_broken(start, NULL, piece("cd", 4, 2, false), false, "not as long as announced");
    assert_broken(start, NULL, piece("c", 4, 2, false), true, "ends inside a value");
    assert_broken(piece("ab", 4, 1, false), NULL, NULL, false, "out of place");
    assert_broken(start, NULL, NULL, true, "ends inside a value");
    chunk_message *other = piece("", 4, 0, false);
    const ms_bt_change_mutation family = {.kind = MS_BT_MUTATION_DELETE_FROM_FAMILY};
    other->mutation = message_of_mutation(&family);
    assert_broken(other, NULL, NULL, false, "no SetCell comes in pieces");
    other->mutation = NULL;
    assert_broken(other, NULL, NULL, false, "a chunk has no mutation");
    chunk_message *row = piece("", 0, 0, false);
    row->mutation->mutation_case = GOOGLE__BIGTABLE__V2__MUTATION__MUTATION_DELETE_FROM_ROW;
    assert_broken(row, NULL, NULL, false, "of a kind that changes have not");
    chunk_message *add = piece("", 0, 0, false);
    add->mutation->mutation_case = GOOGLE__BIGTABLE__V2__MUTATION__MUTATION_ADD_TO_CELL;
    add->mutation->add_to_cell = ms_pb_new(&arena, mutation_add_to_cell);
    assert_broken(add, NULL, NULL, false, "AddToCell must have");
}

static void one_piece_may_be_all(void **state)
{
    (void)state;
    data_message data = first();
    with_chunks(&data, piece("ab", 2, 0, true), piece("x", 0, 0, false));
    data.done = true;
    data.token = ms_wire_text(&arena, ms_str_lit("t"));
    assert_bt_ok(read_data(&data));
    assert_int_equal(page.change_count, 1);
    assert_int_equal(page.changes[0].mutation_count, 2);
    assert_str_equal(page.changes[0].mutations[0].value, "ab");
    assert_str_equal(page.changes[0].mutations[1].value, "x");
    assert_int_equal(page.bytes, 1 + 3 + 2);
}

static void an_end_fits_its_tokens(void **state)
{
    (void)state;
    response *message = ms_pb_new(&arena, read_change_stream_response);
    message->stream_record_case = RECORD(CLOSE_STREAM);
    ms_pb_read_change_stream_response_close_stream *close =
        ms_pb_new(&arena, read_change_stream_response_close_stream);
    message->close_stream = close;
    const ms_bt_change_token token = {ms_bt_range_make(ms_str_lit("a"), ms_str_lit("b")),
                                      ms_str_lit("t")};
    ms_pb_stream_continuation_token *tokens[] = {ms_wire_token_to_pb(&token, &arena)};
    ms_pb_stream_partition *partitions[2] = {ms_wire_partition_to_pb(&token.partition, &arena),
                                             ms_wire_partition_to_pb(&token.partition, &arena)};
    close->continuation_tokens = tokens;
    close->n_continuation_tokens = 1;
    assert_bt_fails(ms_wire_change_merger_read(&merger, message, &page, &bt), MS_BT_INTERNAL,
                    "does not fit its tokens");
    close->status = ms_pb_new(&arena, rpc_status);
    close->status->code = MS_BT_OUT_OF_RANGE;
    /* Without new partitions, it goes on with the old. */
    assert_bt_ok(ms_wire_change_merger_read(&merger, message, &page, &bt));
    assert_true(ms_bt_range_equals(&page.changes[0].new_partitions[0], &token.partition));
    close->new_partitions = partitions;
    close->n_new_partitions = 2;
    assert_bt_fails(ms_wire_change_merger_read(&merger, message, &page, &bt), MS_BT_INTERNAL,
                    "not as many partitions");
    close->n_continuation_tokens = 0;
    assert_bt_fails(ms_wire_change_merger_read(&merger, message, &page, &bt), MS_BT_INTERNAL,
                    "does not fit its tokens");
}

static void a_change_of_too_many_mutations_is_refused(void **state)
{
    (void)state;
    enum { STEP = 50000 };
    data_message data = first();
    chunk_message *one = piece("", 0, 0, false);
    data.chunks = ms_arena_array(&arena, chunk_message *, STEP);
    data.n_chunks = STEP;
    for (size_t i = 0; i < STEP; i++) {
        data.chunks[i] = one;
    }
    for (unsigned i = 0; i < MS_WIRE_CHANGE_MUTATIONS_MAX / STEP; i++) {
        assert_bt_ok(read_data(&data));
        data.type = TYPE(CONTINUATION);
    }
    assert_bt_fails(read_data(&data), MS_BT_RESOURCE_EXHAUSTED, "limit of 200000 mutations");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(vectors_of_the_java_client_pass),
        TEST(random_changes_come_back),
        TEST(a_change_begins_with_who_where_and_when),
        TEST(a_change_ends_with_a_token),
        TEST(no_record_comes_inside_a_change),
        TEST(pieces_fit_together),
        TEST(one_piece_may_be_all),
        TEST(an_end_fits_its_tokens),
        TEST(a_change_of_too_many_mutations_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
