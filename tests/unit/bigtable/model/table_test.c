/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions of tables. */
#include "testing.h"

#include "bigtable/model/table.h"

static const ms_bt_table_name name = {{"p", 1}, {"i", 1}, {"t", 1}};

static ms_bt_code check(const ms_bt_table *table)
{
    ms_bt_status bt = {0};
    return ms_bt_table_check(table, &bt);
}

static void value_types_have_names(void **state)
{
    (void)state;
    for (int i = 0; i < MS_BT_VALUE_COUNT; i++) {
        ms_bt_value_type type = MS_BT_VALUE_COUNT;
        assert_true(
            ms_bt_value_type_parse(ms_str_cstr(ms_bt_value_type_name((ms_bt_value_type)i)), &type));
        assert_int_equal(type, i);
    }
    ms_bt_value_type type = MS_BT_VALUE_COUNT;
    assert_true(ms_bt_value_type_parse(ms_str_lit("INT64-Sum"), &type));
    assert_int_equal(type, MS_BT_VALUE_INT64_SUM);
    assert_false(ms_bt_value_type_parse(ms_str_lit("int64_sum"), &type));
}

static void copy_owns_everything(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    char family_name[] = "cf";
    char split[] = "m";
    ms_str splits[] = {ms_str_cstr(split)};
    ms_bt_family family = {.name = ms_str_cstr(family_name),
                           .gc_rule = ms_bt_gc_rule_max_versions(&arena, 2)};
    ms_bt_table table = {.name = name,
                         .families = &family,
                         .family_count = 1,
                         .granularity_micros = MS_BT_GRANULARITY_MICROS,
                         .splits = splits,
                         .split_count = 1};
    const ms_bt_table *copy = ms_bt_table_copy(&arena, &table);
    family_name[0] = 'x';
    split[0] = 'x';
    assert_non_null(ms_bt_table_family(copy, ms_str_lit("cf")));
    assert_null(ms_bt_table_family(copy, ms_str_lit("xf")));
    assert_str_equal(copy->splits[0], "m");
    assert_int_equal(copy->granularity_micros, 1);
    assert_true(ms_bt_table_name_equals(&copy->name, &name));
    ms_arena_release(&arena);
}

static void wrong_tables_are_refused(void **state)
{
    (void)state;
    ms_bt_table table = {.name = name};
    assert_int_equal(check(&table), MS_BT_OK);
    table.granularity_micros = 7;
    assert_int_equal(check(&table), MS_BT_INVALID_ARGUMENT);
    table.granularity_micros = 0;
    ms_bt_family twice[] = {{.name = {"f", 1}}, {.name = {"f", 1}}};
    table.families = twice;
    table.family_count = 2;
    assert_int_equal(check(&table), MS_BT_INVALID_ARGUMENT);
    table.family_count = 1;
    assert_int_equal(check(&table), MS_BT_OK);
    for (int type = 0; type <= MS_BT_VALUE_COUNT; type++) {
        twice[0].type = (ms_bt_value_type)type;
        assert_int_equal(check(&table),
                         type == MS_BT_VALUE_COUNT ? MS_BT_INVALID_ARGUMENT : MS_BT_OK);
    }
    twice[0].type = MS_BT_VALUE_RAW;
    ms_str splits[] = {{"m", 1}, {"", 0}};
    table.splits = splits;
    table.split_count = 2;
    assert_int_equal(check(&table), MS_BT_INVALID_ARGUMENT);
    table.split_count = 1;
    assert_int_equal(check(&table), MS_BT_OK);
    table.name.table = ms_str_lit("a/b");
    assert_int_equal(check(&table), MS_BT_INVALID_ARGUMENT);
}

static void a_change_stream_retains_one_to_seven_days(void **state)
{
    (void)state;
    const int64_t day = INT64_C(86400) * 1000000;
    const struct {
        int64_t micros;
        bool is_valid;
    } cases[] = {{0, true},       {1, false},           {day - 1, false}, {day, true},
                 {7 * day, true}, {7 * day + 1, false}, {-day, false},    {INT64_MIN, false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ms_bt_table table = {.name = name, .change_retention_micros = cases[i].micros};
        assert_int_equal(check(&table), cases[i].is_valid ? MS_BT_OK : MS_BT_INVALID_ARGUMENT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(value_types_have_names),
        cmocka_unit_test(copy_owns_everything),
        cmocka_unit_test(wrong_tables_are_refused),
        cmocka_unit_test(a_change_stream_retains_one_to_seven_days),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
