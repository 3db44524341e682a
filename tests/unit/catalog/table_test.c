/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The three schemas of a table, and its options.
 */
#include "testing.h"

#include "catalog/table.h"

static void each_face_sees_its_columns(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    const ms_type *type = ms_type_simple(&arena, MS_TYPE_INT, true);
    ms_column columns[] = {
        {.name = ms_str_lit("p"), .kind = MS_COLUMN_PHYSICAL, .type = type},
        {.name = ms_str_lit("c"), .kind = MS_COLUMN_COMPUTED, .type = type},
        {.name = ms_str_lit("m"), .kind = MS_COLUMN_METADATA, .type = type},
        {.name = ms_str_lit("v"), .kind = MS_COLUMN_METADATA, .type = type, .is_virtual = true},
    };
    ms_table table = {.column_count = 4, .columns = columns};
    ms_schema stored = ms_table_stored_schema(&arena, &table);
    ms_schema sink = ms_table_sink_schema(&arena, &table);
    ms_schema query = ms_table_query_schema(&arena, &table);
    assert_int_equal(stored.column_count, 3);
    assert_true(ms_str_equals(stored.columns[2].name, ms_str_lit("v")));
    assert_int_equal(sink.column_count, 2);
    assert_true(ms_str_equals(sink.columns[1].name, ms_str_lit("m")));
    assert_int_equal(query.column_count, 4);
    ms_arena_release(&arena);
}

static void the_last_of_repeated_options_counts(void **state)
{
    (void)state;
    ms_option items[] = {{.key = ms_str_lit("k"), .value = ms_str_lit("1")},
                         {.key = ms_str_lit("k"), .value = ms_str_lit("2")}};
    ms_table table = {.options = {2, items}};
    assert_true(ms_str_equals(ms_table_option(&table, ms_str_lit("k")), ms_str_lit("2")));
    assert_null(ms_table_option(&table, ms_str_lit("x")).ptr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_face_sees_its_columns),
        cmocka_unit_test(the_last_of_repeated_options_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
