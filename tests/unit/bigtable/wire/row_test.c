/* SPDX-License-Identifier: Apache-2.0 */
/* Rows as messages of families, columns and cells: there and back. */
#include "bigtable/wire/rows_testing.h"

#include "bigtable/wire/row.h"

static ms_bt_page page;
static ms_bt_page again;

static int setup(void **state)
{
    ms_bt_page_init(&page);
    ms_bt_page_init(&again);
    return wire_setup(state);
}

static int teardown(void **state)
{
    ms_bt_page_release(&page);
    ms_bt_page_release(&again);
    return wire_teardown(state);
}

static void random_rows_come_back(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 500; seed++) {
        wire_choices c = choices_of(seed);
        ms_buf sent;
        ms_buf got;
        ms_buf_init(&sent, 1u << 24);
        ms_buf_init(&got, 1u << 24);
        ms_bt_page_reset(&page, SIZE_MAX);
        ms_bt_page_reset(&again, SIZE_MAX);
        pick_page(&c, 1, &page);
        ms_str bytes = packed(&ms_wire_row_to_pb(&page, &page.rows[0], &arena)->base);
        const ms_pb_row *message = ms_pb_unpack(row, bytes, &ms_wire_response_limits, &arena, &bt);
        ms_arena kept;
        ms_arena_init(&kept, 0);
        assert_bt_ok(ms_wire_row_from_pb(message, &again, &kept, &bt));
        ms_arena_reset(&arena); /* the page has nothing of the message */
        naive_put_page(&sent, &page);
        naive_put_page(&got, &again);
        assert_same_bytes(ms_buf_view(&got), ms_buf_view(&sent));
        ms_buf_release(&sent);
        ms_buf_release(&got);
        ms_arena_release(&kept);
    }
}

static void cells_of_a_column_are_together(void **state)
{
    (void)state;
    page.families = page_families;
    page.family_count = 3;
    assert_ok(ms_bt_page_reserve_row(&page, 1, &st));
    page.rows[0] = (ms_bt_row){.key_at = ms_bt_page_put(&page, "k", 1), .key_bytes = 1};
    add_cell(&page, 0, ms_str_lit("q"), 2, ms_str_lit("x"), 0);
    add_cell(&page, 0, ms_str_lit("q"), 1, ms_str_lit("y"), 0);
    add_cell(&page, 0, ms_str_lit("r"), 1, ms_str_lit("z"), 0);
    add_cell(&page, 1, ms_str_lit("r"), 1, ms_str_lit(""), 0);
    page.rows[0].cell_count = 4;
    page.row_count = 1;
    const ms_pb_row *row = ms_wire_row_to_pb(&page, &page.rows[0], &arena);
    assert_int_equal(row->n_families, 2);
    assert_string_equal(row->families[0]->name, "cf");
    assert_int_equal(row->families[0]->n_columns, 2);
    assert_int_equal(row->families[0]->columns[0]->n_cells, 2);
    assert_int_equal(row->families[0]->columns[0]->cells[1]->timestamp_micros, 1);
    assert_int_equal(row->families[1]->n_columns, 1);
}

static void a_row_of_empty_texts_is_a_row(void **state)
{
    (void)state;
    const ms_pb_row *row = ms_pb_unpack(row, bytes_lit("\x12\x04\x12\x02\x12\x00"),
                                        &ms_wire_response_limits, &arena, &bt);
    assert_bt_ok(ms_wire_row_from_pb(row, &again, &arena, &bt));
    assert_int_equal(again.row_count, 1);
    assert_int_equal(again.rows[0].cell_count, 1);
    assert_int_equal(ms_bt_page_key(&again, &again.rows[0]).bytes, 0);
    assert_non_null(ms_bt_page_key(&again, &again.rows[0]).ptr);
}

static void a_row_without_cells_is_no_row(void **state)
{
    (void)state;
    assert_bt_ok(ms_wire_row_from_pb(NULL, &again, &arena, &bt));
    assert_int_equal(again.row_count, 0);
    ms_pb_row *row = ms_pb_new(&arena, row);
    row->key = ms_wire_bytes(ms_str_lit("k"));
    assert_bt_ok(ms_wire_row_from_pb(row, &again, &arena, &bt));
    assert_int_equal(again.row_count, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(random_rows_come_back),
        TEST(cells_of_a_column_are_together),
        TEST(a_row_of_empty_texts_is_a_row),
        TEST(a_row_without_cells_is_no_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
