/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks from pages: what is left out, how values are cut, and that protobuf-c writes the same. */
#include "bigtable/wire/rows_testing.h"

#include "bigtable/wire/read_rows.h"

static ms_bt_page page;

static int setup(void **state)
{
    ms_bt_page_init(&page);
    return wire_setup(state);
}

static int teardown(void **state)
{
    ms_bt_page_release(&page);
    return wire_teardown(state);
}

/* The next message, also as protobuf-c sees it, which must write the same bytes again. */
static const ms_pb_read_rows_response *next_message(ms_wire_rows_writer *writer)
{
    ms_buf_reset(&buf);
    assert_ok(ms_wire_rows_writer_next(writer, &buf, &st));
    const ms_pb_read_rows_response *message =
        ms_pb_unpack(read_rows_response, ms_buf_view(&buf), &ms_wire_response_limits, &arena, &bt);
    assert_non_null(message);
    assert_same_bytes(packed(&message->base), ms_buf_view(&buf));
    return message;
}

static void begin_row(const char *key)
{
    ms_str text = ms_str_cstr(key);
    page.families = page_families;
    page.family_count = 3;
    page.labels = page_labels;
    page.label_count = 3;
    assert_ok(ms_bt_page_reserve_row(&page, text.bytes, &st));
    page.rows[page.row_count++] = (ms_bt_row){.key_at = ms_bt_page_put(&page, text.ptr, text.bytes),
                                              .key_bytes = (uint32_t)text.bytes,
                                              .first_cell = page.cell_count};
}

static void cell(uint16_t family, const char *qualifier, int64_t micros, ms_str value)
{
    add_cell(&page, family, ms_str_cstr(qualifier), micros, value, 0);
    page.rows[page.row_count - 1].cell_count++;
}

static void what_repeats_is_left_out(void **state)
{
    (void)state;
    begin_row("a");
    cell(0, "q", 2000, ms_str_lit("v1"));
    cell(0, "q", 1000, ms_str_lit("v2"));
    cell(0, "r", 1000, ms_str_lit("v3"));
    cell(1, "r", 0, ms_str_lit(""));
    begin_row("b");
    cell(1, "r", 0, ms_str_lit("v5"));
    ms_wire_rows_writer writer;
    ms_wire_rows_writer_init(&writer, NULL);
    ms_wire_rows_writer_begin(&writer, &page);
    const ms_pb_read_rows_response *message = next_message(&writer);
    assert_true(ms_wire_rows_writer_is_done(&writer));
    assert_int_equal(message->n_chunks, 5);
    ms_pb_read_rows_response_cell_chunk *const *c = message->chunks;
    assert_str_equal(ms_wire_bytes_view(c[0]->row_key), "a");
    assert_string_equal(c[0]->family_name->value, "cf");
    assert_true(c[1]->row_key.len == 0 && c[1]->family_name == NULL && c[1]->qualifier == NULL);
    assert_true(c[2]->family_name == NULL && c[2]->qualifier != NULL);
    /* Another family brings its qualifier, though that is the same. */
    assert_true(c[3]->family_name != NULL && c[3]->qualifier != NULL);
    assert_true(c[3]->commit_row && !c[2]->commit_row);
    assert_str_equal(ms_wire_bytes_view(c[4]->row_key), "b");
    assert_true(c[4]->family_name != NULL && c[4]->qualifier != NULL && c[4]->commit_row);
}

static void a_long_value_is_cut_in_pieces(void **state)
{
    (void)state;
    begin_row("a");
    cell(0, "q", 1000, ms_str_lit("0123456789"));
    cell(0, "q", 500, ms_str_lit("x"));
    const ms_wire_rows_options options = {.message_bytes = 1000, .piece_bytes = 4};
    ms_wire_rows_writer writer;
    ms_wire_rows_writer_init(&writer, &options);
    ms_wire_rows_writer_begin(&writer, &page);
    const ms_pb_read_rows_response *message = next_message(&writer);
    assert_int_equal(message->n_chunks, 4);
    ms_pb_read_rows_response_cell_chunk *const *c = message->chunks;
    assert_str_equal(ms_wire_bytes_view(c[0]->value), "0123");
    assert_str_equal(ms_wire_bytes_view(c[1]->value), "4567");
    assert_str_equal(ms_wire_bytes_view(c[2]->value), "89");
    assert_int_equal(c[0]->value_size, 10);
    assert_int_equal(c[1]->value_size, 10);
    assert_int_equal(c[2]->value_size, 0);
    assert_int_equal(c[0]->timestamp_micros, 1000);
    assert_true(c[1]->timestamp_micros == 0 && c[1]->qualifier == NULL);
    assert_true(c[2]->timestamp_micros == 0 && !c[2]->commit_row);
    assert_true(c[1]->row_key.len == 0 && c[2]->row_key.len == 0);
    assert_true(c[3]->qualifier == NULL && c[3]->commit_row);
}

/* Rows of the given number of cells, each of some 120 bytes in a message. */
static void put_rows(unsigned rows, unsigned cells)
{
    char value[100];
    memset(value, 'v', sizeof(value));
    for (unsigned r = 0; r < rows; r++) {
        char key[2] = {(char)('a' + r), '\0'};
        begin_row(key);
        for (unsigned i = 0; i < cells; i++) {
            cell(0, "q", 1000, ms_str_make(value, sizeof(value)));
        }
    }
}

/* Of each message the number of chunks, which begin with a key; the number of messages. */
static unsigned count_chunks(const ms_wire_rows_options *options, size_t *chunks, unsigned max)
{
    ms_wire_rows_writer writer;
    ms_wire_rows_writer_init(&writer, options);
    ms_wire_rows_writer_begin(&writer, &page);
    unsigned messages = 0;
    while (!ms_wire_rows_writer_is_done(&writer)) {
        const ms_pb_read_rows_response *message = next_message(&writer);
        assert_int_equal(message->chunks[0]->row_key.len, 1);
        assert_int_equal(message->chunks[0]->timestamp_micros, 1000);
        assert_true(messages < max);
        chunks[messages++] = message->n_chunks;
    }
    return messages;
}

static void a_message_ends_with_the_row_that_fills_it(void **state)
{
    (void)state;
    size_t chunks[4];
    put_rows(5, 2);
    const ms_wire_rows_options options = {.message_bytes = 300};
    assert_int_equal(count_chunks(&options, chunks, 4), 3);
    assert_int_equal(chunks[0], 4);
    assert_int_equal(chunks[1], 4);
    assert_int_equal(chunks[2], 2);
}

static void a_row_is_not_spread_over_messages(void **state)
{
    (void)state;
    size_t chunks[4];
    put_rows(2, 1000);
    assert_int_equal(count_chunks(NULL, chunks, 4), 2);
    assert_int_equal(chunks[0], 1000);
    assert_int_equal(chunks[1], 1000);
}

static void a_row_of_enormous_size_is_cut_between_cells(void **state)
{
    (void)state;
    size_t chunks[8];
    put_rows(1, 10);
    const ms_wire_rows_options options = {
        .message_bytes = 100, .message_bytes_max = 300, .piece_bytes = 60};
    unsigned messages = count_chunks(&options, chunks, 8);
    assert_int_equal(messages, 4);
    assert_int_equal(chunks[0], 6); /* three cells of two pieces */
    assert_int_equal(chunks[3], 2);
}

static void rows_share_messages_of_a_size_that_suits_http2(void **state)
{
    (void)state;
    size_t bytes = 10u << 10;
    char *value = ms_arena_calloc(&arena, bytes, 1, 1);
    for (int i = 0; i < 100; i++) {
        char key[2] = {(char)(1 + i), '\0'};
        begin_row(key);
        cell(0, "q", 1000, ms_str_make(value, bytes));
    }
    ms_wire_rows_writer writer;
    ms_wire_rows_writer_init(&writer, NULL);
    ms_wire_rows_writer_begin(&writer, &page);
    while (!ms_wire_rows_writer_is_done(&writer)) {
        (void)next_message(&writer);
        assert_true(buf.bytes <= 256u << 10);
        assert_true(buf.bytes >= 32u << 10 || ms_wire_rows_writer_is_done(&writer));
    }
}

static void random_pages_are_written_as_protobuf_writes_them(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 500; seed++) {
        wire_choices c = choices_of(seed);
        ms_bt_page_reset(&page, SIZE_MAX);
        pick_page(&c, wire_pick(&c, 20), &page);
        const ms_wire_rows_options options = {.message_bytes = 1 + wire_pick(&c, 250),
                                              .message_bytes_max = 1 + wire_pick(&c, 500),
                                              .piece_bytes = 1 + wire_pick(&c, 200)};
        ms_wire_rows_writer writer;
        naive_rows n;
        ms_buf whole;
        ms_buf_init(&whole, 1u << 30);
        naive_rows_init(&n, false);
        ms_wire_rows_writer_init(&writer, &options);
        ms_wire_rows_writer_begin(&writer, &page);
        while (!ms_wire_rows_writer_is_done(&writer)) {
            assert_true(naive_take_message(&n, next_message(&writer)));
        }
        naive_put_page(&whole, &page);
        assert_same_bytes(ms_buf_view(&n.out), ms_buf_view(&whole));
        assert_false(n.in_row);
        naive_rows_release(&n);
        ms_buf_release(&whole);
        ms_arena_reset(&arena);
    }
}

static void a_full_buffer_takes_no_message(void **state)
{
    (void)state;
    begin_row("a");
    cell(0, "q", 1000, ms_str_lit("0123456789"));
    ms_buf small;
    ms_buf_init(&small, 8);
    ms_wire_rows_writer writer;
    ms_wire_rows_writer_init(&writer, NULL);
    ms_wire_rows_writer_begin(&writer, &page);
    assert_int_equal(ms_wire_rows_writer_next(&writer, &small, &st), MS_LIMIT);
    ms_buf_release(&small);
}

static void a_scanned_key_goes_alone(void **state)
{
    (void)state;
    ms_pb_read_rows_response *message = ms_pb_new(&arena, read_rows_response);
    message->last_scanned_row_key = ms_wire_bytes(bytes_lit("k\0"));
    assert_ok(ms_wire_last_scanned_encode(bytes_lit("k\0"), &buf, &st));
    assert_same_bytes(ms_buf_view(&buf), packed(&message->base));
}

static void statistics_are_written_as_protobuf_writes_them(void **state)
{
    (void)state;
    const ms_wire_read_stats cases[] = {{0}, {1, 2, 300, 4, 5}, {INT64_MAX, 0, 1, 0, 2500001}};
    for (size_t i = 0; i < 3; i++) {
        ms_pb_read_rows_response *message = ms_pb_new(&arena, read_rows_response);
        ms_pb_full_read_stats_view *view = ms_pb_new(&arena, full_read_stats_view);
        view->read_iteration_stats = ms_pb_new(&arena, read_iteration_stats);
        view->read_iteration_stats->rows_seen_count = cases[i].rows_seen;
        view->read_iteration_stats->rows_returned_count = cases[i].rows_returned;
        view->read_iteration_stats->cells_seen_count = cases[i].cells_seen;
        view->read_iteration_stats->cells_returned_count = cases[i].cells_returned;
        view->request_latency_stats = ms_pb_new(&arena, request_latency_stats);
        view->request_latency_stats->frontend_server_latency = ms_pb_new(&arena, duration);
        view->request_latency_stats->frontend_server_latency->seconds =
            cases[i].latency_micros / 1000000;
        view->request_latency_stats->frontend_server_latency->nanos =
            (int32_t)(cases[i].latency_micros % 1000000 * 1000);
        message->request_stats = ms_pb_new(&arena, request_stats);
        message->request_stats->stats_view_case =
            GOOGLE__BIGTABLE__V2__REQUEST_STATS__STATS_VIEW_FULL_READ_STATS_VIEW;
        message->request_stats->full_read_stats_view = view;
        ms_buf_reset(&buf);
        assert_ok(ms_wire_read_stats_encode(&cases[i], &buf, &st));
        assert_same_bytes(ms_buf_view(&buf), packed(&message->base));
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(what_repeats_is_left_out),
        TEST(a_long_value_is_cut_in_pieces),
        TEST(a_message_ends_with_the_row_that_fills_it),
        TEST(a_row_is_not_spread_over_messages),
        TEST(a_row_of_enormous_size_is_cut_between_cells),
        TEST(rows_share_messages_of_a_size_that_suits_http2),
        TEST(random_pages_are_written_as_protobuf_writes_them),
        TEST(a_full_buffer_takes_no_message),
        TEST(a_scanned_key_goes_alone),
        TEST(statistics_are_written_as_protobuf_writes_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
