/* SPDX-License-Identifier: Apache-2.0 */
/* Records of changes as a server writes them: what is in which message, and how values are cut. */
#include "bigtable/wire/change_testing.h"

#include "bigtable/wire/change.h"
#include "bigtable/wire/time.h"
#include "bigtable/wire/wire_testing.h"

typedef ms_pb_read_change_stream_response_data_change data_message;
#define TYPE(name) GOOGLE__BIGTABLE__V2__READ_CHANGE_STREAM_RESPONSE__DATA_CHANGE__TYPE__##name

static const ms_bt_range partition = {{MS_BT_BOUND_CLOSED, {"a", 1}},
                                      {MS_BT_BOUND_NONE, {NULL, 0}}};

static ms_wire_change_writer writer;

static void begin(const ms_bt_change *change, size_t message_bytes, size_t piece_bytes)
{
    const ms_wire_change_options options = {message_bytes, piece_bytes};
    ms_wire_change_writer_init(&writer, &options);
    assert_true(ms_wire_change_writer_is_done(&writer));
    ms_wire_change_writer_begin(&writer, change, &partition);
}

static const ms_pb_read_change_stream_response *next_message(void)
{
    ms_buf_reset(&buf);
    assert_false(ms_wire_change_writer_is_done(&writer));
    assert_ok(ms_wire_change_writer_next(&writer, &arena, &buf, &st));
    const ms_pb_read_change_stream_response *message = ms_pb_unpack(
        read_change_stream_response, ms_buf_view(&buf), &ms_wire_response_limits, &arena, &bt);
    assert_non_null(message);
    return message;
}

static ms_bt_change_mutation set_cell(ms_str value)
{
    return (ms_bt_change_mutation){.kind = MS_BT_MUTATION_SET_CELL,
                                   .timestamp_micros = 1000,
                                   .family = ms_str_lit("f"),
                                   .qualifier = ms_str_lit("q"),
                                   .value = value};
}

static ms_bt_change data_of(const ms_bt_change_mutation *mutations, uint32_t count)
{
    return (ms_bt_change){.kind = MS_BT_CHANGE_DATA,
                          .row_key = ms_str_lit("key"),
                          .source_cluster = ms_str_lit("c1"),
                          .commit_micros = 5000001,
                          .tiebreaker = 7,
                          .mutations = mutations,
                          .mutation_count = count,
                          .token = ms_str_lit("token"),
                          .low_watermark_micros = 4000000};
}

static void a_small_change_is_one_message(void **state)
{
    (void)state;
    const ms_bt_change_mutation mutations[] = {
        set_cell(ms_str_lit("v")),
        {.kind = MS_BT_MUTATION_DELETE_FROM_FAMILY, .family = ms_str_lit("g")}};
    const ms_bt_change change = data_of(mutations, 2);
    begin(&change, 0, 0);
    const data_message *data = next_message()->data_change;
    assert_true(ms_wire_change_writer_is_done(&writer));
    assert_int_equal(data->type, TYPE(USER));
    assert_string_equal(data->source_cluster_id, "c1");
    assert_str_equal(ms_wire_bytes_view(data->row_key), "key");
    assert_int_equal(ms_wire_timestamp_micros(data->commit_timestamp), 5000001);
    assert_int_equal(data->tiebreaker, 7);
    assert_int_equal(data->n_chunks, 2);
    assert_null(data->chunks[0]->chunk_info);
    assert_string_equal(data->chunks[1]->mutation->delete_from_family->family_name, "g");
    assert_true(data->done);
    assert_string_equal(data->token, "token");
    assert_int_equal(ms_wire_timestamp_micros(data->estimated_low_watermark), 4000000);
}

static void collections_have_no_cluster(void **state)
{
    (void)state;
    ms_bt_change change = data_of(NULL, 0);
    change.is_garbage_collection = true;
    change.source_cluster = ms_str_lit("");
    begin(&change, 0, 0);
    const data_message *data = next_message()->data_change;
    assert_int_equal(data->type, TYPE(GARBAGE_COLLECTION));
    assert_string_equal(data->source_cluster_id, "");
    assert_true(data->done);
}

static void a_long_value_is_cut_at_the_ends_of_messages(void **state)
{
    (void)state;
    const ms_bt_change_mutation mutations[] = {
        set_cell(ms_str_lit("v")), set_cell(ms_str_lit("0123456789")), set_cell(ms_str_lit("w"))};
    const ms_bt_change change = data_of(mutations, 3);
    begin(&change, 1000, 4);
    const data_message *first = next_message()->data_change;
    const data_message *second = next_message()->data_change;
    const data_message *third = next_message()->data_change;
    assert_true(ms_wire_change_writer_is_done(&writer));
    assert_int_equal(first->n_chunks, 2);
    assert_int_equal(first->chunks[1]->chunk_info->chunked_value_size, 10);
    assert_int_equal(first->chunks[1]->chunk_info->chunked_value_offset, 0);
    assert_false(first->chunks[1]->chunk_info->last_chunk);
    assert_string_equal(first->chunks[1]->mutation->set_cell->family_name, "f");
    assert_false(first->done);
    assert_string_equal(first->token, "");
    assert_int_equal(second->type, TYPE(CONTINUATION));
    assert_int_equal(second->n_chunks, 1);
    assert_int_equal(second->row_key.len, 0);
    assert_int_equal(second->chunks[0]->chunk_info->chunked_value_offset, 4);
    assert_string_equal(second->chunks[0]->mutation->set_cell->family_name, "");
    assert_str_equal(ms_wire_bytes_view(second->chunks[0]->mutation->set_cell->value), "4567");
    assert_int_equal(third->n_chunks, 2);
    assert_true(third->chunks[0]->chunk_info->last_chunk);
    assert_str_equal(ms_wire_bytes_view(third->chunks[0]->mutation->set_cell->value), "89");
    assert_null(third->chunks[1]->chunk_info);
    assert_true(third->done);
}

static void many_mutations_take_many_messages(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    ms_bt_change_mutation *mutations = ms_arena_array(&arena, ms_bt_change_mutation, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        mutations[i] = set_cell(ms_str_lit("0123456789"));
    }
    const ms_bt_change change = data_of(mutations, COUNT);
    begin(&change, 4096, 0);
    size_t chunks = 0;
    while (!ms_wire_change_writer_is_done(&writer)) {
        const data_message *data = next_message()->data_change;
        assert_true(buf.bytes <= 4096 + 256);
        assert_true(data->n_chunks > 10 || data->done);
        chunks += data->n_chunks;
    }
    assert_int_equal(chunks, COUNT);
}

static void messages_stay_below_what_clients_take(void **state)
{
    (void)state;
    size_t bytes = 3u << 20;
    const ms_bt_change_mutation mutation =
        set_cell(ms_str_make(ms_arena_calloc(&arena, bytes, 1, 1), bytes));
    const ms_bt_change change = data_of(&mutation, 1);
    begin(&change, 0, 0);
    while (!ms_wire_change_writer_is_done(&writer)) {
        (void)next_message();
        assert_true(buf.bytes <= MS_WIRE_CHANGE_MESSAGE_BYTES);
    }
}

static void a_heartbeat_repeats_the_partition(void **state)
{
    (void)state;
    const ms_bt_change change = {
        .kind = MS_BT_CHANGE_HEARTBEAT, .token = ms_str_lit("t"), .low_watermark_micros = 3000000};
    begin(&change, 0, 0);
    const ms_pb_read_change_stream_response_heartbeat *heartbeat = next_message()->heartbeat;
    assert_true(ms_wire_change_writer_is_done(&writer));
    assert_string_equal(heartbeat->continuation_token->token, "t");
    const ms_pb_row_range *range = heartbeat->continuation_token->partition->row_range;
    assert_str_equal(ms_wire_bytes_view(range->start_key_closed), "a");
    assert_int_equal(range->end_key_case, GOOGLE__BIGTABLE__V2__ROW_RANGE__END_KEY_END_KEY_OPEN);
    assert_int_equal(ms_wire_timestamp_micros(heartbeat->estimated_low_watermark), 3000000);
}

static void an_end_has_a_partition_for_each_token(void **state)
{
    (void)state;
    const ms_bt_change_token tokens[] = {
        {ms_bt_range_make(ms_str_lit("a"), ms_str_lit("m")), ms_str_lit("1")},
        {ms_bt_range_make(ms_str_lit("m"), ms_str_lit("")), ms_str_lit("2")}};
    const ms_bt_range partitions[] = {tokens[0].partition, tokens[1].partition};
    ms_bt_change change = {.kind = MS_BT_CHANGE_CLOSE,
                           .tokens = tokens,
                           .token_count = 2,
                           .new_partitions = partitions};
    ms_bt_status_set(&change.status, MS_BT_OUT_OF_RANGE, "split");
    begin(&change, 0, 0);
    const ms_pb_read_change_stream_response_close_stream *close = next_message()->close_stream;
    assert_int_equal(close->status->code, MS_BT_OUT_OF_RANGE);
    assert_int_equal(close->n_continuation_tokens, 2);
    assert_int_equal(close->n_new_partitions, 2);
    assert_string_equal(close->continuation_tokens[1]->token, "2");
    const ms_bt_change end = {.kind = MS_BT_CHANGE_CLOSE};
    begin(&end, 0, 0);
    close = next_message()->close_stream;
    assert_non_null(close->status);
    assert_int_equal(close->status->code, 0);
    assert_int_equal(close->n_continuation_tokens, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, wire_setup, wire_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_small_change_is_one_message),
        TEST(collections_have_no_cluster),
        TEST(a_long_value_is_cut_at_the_ends_of_messages),
        TEST(many_mutations_take_many_messages),
        TEST(messages_stay_below_what_clients_take),
        TEST(a_heartbeat_repeats_the_partition),
        TEST(an_end_has_a_partition_for_each_token),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
