/* SPDX-License-Identifier: Apache-2.0 */
/* Responses of MutateRows against protobuf-c: the same bytes, and the same entries. */
#include "bigtable/wire/wire_testing.h"

#include "bigtable/wire/mutate_rows.h"
#include "bigtable/wire/time.h"

static void responses_are_written_as_protobuf_writes_them(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 500; seed++) {
        wire_choices c = choices_of(seed);
        ms_pb_mutate_rows_response *message = ms_pb_new(&arena, mutate_rows_response);
        message->entries = ms_arena_array(&arena, ms_pb_mutate_rows_response_entry *, 8);
        ms_buf_reset(&buf);
        for (unsigned i = wire_pick(&c, 6); i > 0; i--) {
            ms_wire_mutate_result result = {(uint32_t)wire_pick_number(&c),
                                            (int32_t)wire_pick(&c, 17),
                                            ms_wire_text_view(wire_pick_text(&c))};
            ms_pb_mutate_rows_response_entry *entry = ms_pb_new(&arena, mutate_rows_response_entry);
            entry->index = result.index;
            entry->status = ms_pb_new(&arena, rpc_status);
            entry->status->code = result.code;
            entry->status->message = ms_wire_text(&arena, result.message);
            message->entries[message->n_entries++] = entry;
            assert_ok(ms_wire_mutate_result_encode(&result, &buf, &st));
        }
        if (wire_pick(&c, 2) == 0) {
            int64_t period = (int64_t)wire_pick(&c, 4) * 1500000;
            message->rate_limit_info = ms_pb_new(&arena, rate_limit_info);
            message->rate_limit_info->period = ms_wire_duration_to_pb(period, &arena);
            message->rate_limit_info->factor = wire_pick(&c, 3) * 0.7;
            assert_ok(
                ms_wire_rate_limit_encode(period, message->rate_limit_info->factor, &buf, &st));
        }
        assert_same_bytes(ms_buf_view(&buf), packed(&message->base));
        ms_arena_reset(&arena);
    }
}

static void random_responses_are_read_as_protobuf_reads_them(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 2000; seed++) {
        wire_choices c = choices_of(seed);
        ms_str bytes = packed(wire_pick_message(&c, ms_pb_mutate_rows_response_class(), 6));
        const ms_pb_mutate_rows_response *message =
            ms_pb_unpack(mutate_rows_response, bytes, &ms_wire_response_limits, &arena, &bt);
        ms_wire_mutate_reader reader;
        ms_wire_mutate_result result;
        assert_bt_ok(ms_wire_mutate_reader_make(bytes, &ms_wire_response_limits, &reader, &bt));
        for (size_t i = 0; i < message->n_entries; i++) {
            const ms_pb_mutate_rows_response_entry *entry = message->entries[i];
            assert_true(ms_wire_mutate_reader_next(&reader, &result));
            bool is_index = entry->index >= 0 && entry->index <= UINT32_MAX;
            assert_int_equal(result.index, is_index ? entry->index : UINT32_MAX);
            assert_int_equal(result.code, entry->status == NULL ? 0 : entry->status->code);
            assert_same_bytes(
                result.message,
                ms_wire_text_view(entry->status == NULL ? NULL : entry->status->message));
        }
        assert_false(ms_wire_mutate_reader_next(&reader, &result));
        assert_int_equal(reader.has_rate_limit, message->rate_limit_info != NULL);
        if (reader.has_rate_limit) {
            assert_int_equal(reader.rate_period_micros,
                             ms_wire_duration_micros(message->rate_limit_info->period));
            assert_memory_equal(&reader.rate_factor, &message->rate_limit_info->factor, 8);
        }
        ms_arena_reset(&arena);
    }
}

static void a_malformed_response_is_the_servers_fault(void **state)
{
    (void)state;
    ms_wire_mutate_reader reader;
    ms_wire_mutate_result result;
    assert_bt_fails(ms_wire_mutate_reader_make(bytes_lit("\x0a\x05\x08"), &ms_wire_response_limits,
                                               &reader, &bt),
                    MS_BT_INTERNAL, "MutateRowsResponse is malformed");
    assert_bt_ok(ms_wire_mutate_reader_make(bytes_lit(""), &ms_wire_response_limits, &reader, &bt));
    assert_false(ms_wire_mutate_reader_next(&reader, &result));
    /* Unknown fields of every type, before, in and behind an entry. */
    assert_bt_ok(ms_wire_mutate_reader_make(
        bytes_lit("\xa5\x06\x01\x02\x03\x04\x0a\x0c\xa1\x06\x01\x02\x03\x04\x05\x06\x07\x08\x08\x05"
                  "\xa2\x06\x01x"),
        &ms_wire_response_limits, &reader, &bt));
    assert_true(ms_wire_mutate_reader_next(&reader, &result));
    assert_int_equal(result.index, 5);
    assert_false(ms_wire_mutate_reader_next(&reader, &result));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, wire_setup, wire_teardown)
    const struct CMUnitTest tests[] = {
        TEST(responses_are_written_as_protobuf_writes_them),
        TEST(random_responses_are_read_as_protobuf_reads_them),
        TEST(a_malformed_response_is_the_servers_fault),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
