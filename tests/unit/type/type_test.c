/* SPDX-License-Identifier: Apache-2.0 */
#include "type/type.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static ms_arena arena;

static int start(void **state)
{
    (void)state;
    ms_arena_init(&arena, 0);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    ms_arena_release(&arena);
    return 0;
}

static void assert_long_text(const ms_type *type, const char *text)
{
    ms_str got = ms_type_text_long(&arena, type);
    assert_int_equal(got.bytes, strlen(text));
    assert_memory_equal(got.ptr, text, got.bytes);
}

static void assert_text(const ms_type *type, const char *text)
{
    ms_str got = ms_type_text(&arena, type);
    assert_int_equal(got.bytes, strlen(text));
    assert_memory_equal(got.ptr, text, got.bytes);
}

static const ms_type *int_type(bool nullable)
{
    return ms_type_simple(&arena, MS_TYPE_INT, nullable);
}

static void the_long_text_has_no_short_names(void **state)
{
    (void)state;
    const ms_type *fields[] = {ms_type_string(&arena, false), ms_type_bytes(&arena, true),
                               ms_type_temporal(&arena, MS_TYPE_TIMESTAMP_LTZ, 3, false),
                               ms_type_sized(&arena, MS_TYPE_VARCHAR, 20, true)};
    static const char *const texts[] = {"VARCHAR(2147483647) NOT NULL", "VARBINARY(2147483647)",
                                        "TIMESTAMP(3) WITH LOCAL TIME ZONE NOT NULL",
                                        "VARCHAR(20)"};
    for (size_t i = 0; i < 4; i++) {
        assert_long_text(fields[i], texts[i]);
    }
    assert_long_text(ms_type_array(&arena, fields[0], true), "ARRAY<VARCHAR(2147483647) NOT NULL>");
}

static void types_print_as_flink_prints_them(void **state)
{
    (void)state;
    assert_text(int_type(true), "INT");
    assert_text(int_type(false), "INT NOT NULL");
    assert_text(ms_type_decimal(&arena, 10, 2, true), "DECIMAL(10, 2)");
    assert_text(ms_type_sized(&arena, MS_TYPE_CHAR, 3, false), "CHAR(3) NOT NULL");
    assert_text(ms_type_sized(&arena, MS_TYPE_VARCHAR, 20, true), "VARCHAR(20)");
    assert_text(ms_type_sized(&arena, MS_TYPE_BINARY, 4, true), "BINARY(4)");
    assert_text(ms_type_string(&arena, true), "STRING");
    assert_text(ms_type_bytes(&arena, true), "BYTES");
    assert_text(ms_type_temporal(&arena, MS_TYPE_TIME, 0, true), "TIME(0)");
    assert_text(ms_type_temporal(&arena, MS_TYPE_TIMESTAMP, 6, true), "TIMESTAMP(6)");
    assert_text(ms_type_temporal(&arena, MS_TYPE_TIMESTAMP_LTZ, 3, false),
                "TIMESTAMP_LTZ(3) NOT NULL");
    assert_text(ms_type_array(&arena, int_type(false), true), "ARRAY<INT NOT NULL>");
    assert_text(ms_type_map(&arena, ms_type_string(&arena, false), int_type(true), true),
                "MAP<STRING NOT NULL, INT>");
    assert_text(ms_type_multiset(&arena, int_type(true), true), "MULTISET<INT>");
    ms_field fields[] = {{ms_str_lit("a"), int_type(true)},
                         {ms_str_lit("b`c"), ms_type_string(&arena, false)}};
    const ms_type *row = ms_type_row(&arena, fields, 2, false);
    assert_text(row, "ROW<`a` INT, `b``c` STRING NOT NULL> NOT NULL");
    ms_str bare = ms_type_text_bare(&arena, row);
    assert_int_equal(bare.bytes, strlen("ROW<`a` INT, `b``c` STRING NOT NULL>"));
}

static void physical_forms_follow_the_parameters(void **state)
{
    (void)state;
    assert_int_equal(ms_type_decimal(&arena, 18, 2, true)->phys, MS_PHYS_I64);
    assert_int_equal(ms_type_decimal(&arena, 19, 2, true)->phys, MS_PHYS_I128);
    assert_int_equal(ms_type_temporal(&arena, MS_TYPE_TIMESTAMP, 6, true)->phys, MS_PHYS_I64);
    assert_int_equal(ms_type_temporal(&arena, MS_TYPE_TIMESTAMP, 7, true)->phys, MS_PHYS_TS16);
    assert_int_equal(ms_type_temporal(&arena, MS_TYPE_TIMESTAMP_LTZ, 9, true)->phys, MS_PHYS_TS16);
    assert_int_equal(ms_type_temporal(&arena, MS_TYPE_TIME, 9, true)->phys, MS_PHYS_I32);
    assert_int_equal(ms_type_simple(&arena, MS_TYPE_DATE, true)->phys, MS_PHYS_I32);
    assert_int_equal(ms_type_simple(&arena, MS_TYPE_INTERVAL_SECOND, true)->phys, MS_PHYS_I64);
    assert_int_equal(ms_type_simple(&arena, MS_TYPE_NULL, true)->phys, MS_PHYS_NONE);
    assert_int_equal(ms_phys_bytes(MS_PHYS_STR), 16);
    assert_int_equal(ms_phys_bytes(MS_PHYS_ROW), 0);
}

static void equality_is_exact_and_shape_is_not(void **state)
{
    (void)state;
    ms_field a[] = {{ms_str_lit("x"), int_type(true)}};
    ms_field b[] = {{ms_str_lit("y"), int_type(false)}};
    const ms_type *row_a = ms_type_row(&arena, a, 1, true);
    const ms_type *row_b = ms_type_row(&arena, b, 1, false);
    assert_true(ms_type_equals(row_a, ms_type_row(&arena, a, 1, true)));
    assert_false(ms_type_equals(row_a, row_b));
    assert_true(ms_type_same_shape(row_a, row_b));
    assert_false(ms_type_same_shape(row_a, int_type(true)));
    assert_false(
        ms_type_equals(ms_type_decimal(&arena, 10, 2, true), ms_type_decimal(&arena, 10, 3, true)));
    assert_false(ms_type_same_shape(ms_type_sized(&arena, MS_TYPE_CHAR, 2, true),
                                    ms_type_sized(&arena, MS_TYPE_CHAR, 3, true)));
}

static void names_come_from_another_type_of_the_same_shape(void **state)
{
    (void)state;
    ms_field inner_a[] = {{ms_str_lit("x"), int_type(false)}};
    ms_field inner_b[] = {{ms_str_lit("y"), int_type(true)}};
    const ms_type *list_a = ms_type_array(&arena, ms_type_row(&arena, inner_a, 1, true), false);
    const ms_type *list_b = ms_type_array(&arena, ms_type_row(&arena, inner_b, 1, false), true);
    ms_field a[] = {{ms_str_lit("p"), list_a}};
    ms_field b[] = {{ms_str_lit("q"), list_b}};
    const ms_type *type = ms_type_row(&arena, a, 1, false);
    const ms_type *names = ms_type_row(&arena, b, 1, true);
    assert_text(ms_type_with_names(&arena, type, names),
                "ROW<`q` ARRAY<ROW<`y` INT NOT NULL>> NOT NULL> NOT NULL");
    const ms_type *plain = int_type(true);
    assert_ptr_equal(ms_type_with_names(&arena, plain, int_type(false)), plain);
}

static void copies_outlive_their_source(void **state)
{
    (void)state;
    ms_arena other;
    ms_arena_init(&other, 0);
    ms_field fields[] = {{ms_str_lit("name"), ms_type_array(&arena, int_type(false), true)}};
    const ms_type *source = ms_type_row(&arena, fields, 1, true);
    const ms_type *expected = ms_type_copy(&other, source);
    ms_arena_release(&arena);
    ms_arena_init(&arena, 0);
    assert_text(expected, "ROW<`name` ARRAY<INT NOT NULL>>");
    ms_arena_release(&other);
}

static void nullability_changes_only_the_top(void **state)
{
    (void)state;
    const ms_type *array = ms_type_array(&arena, int_type(false), true);
    assert_ptr_equal(ms_type_as_nullable(&arena, array, true), array);
    const ms_type *strict = ms_type_as_nullable(&arena, array, false);
    assert_text(strict, "ARRAY<INT NOT NULL> NOT NULL");
    assert_true(array->nullable);
}

static void families_are_told_apart(void **state)
{
    (void)state;
    const ms_type *decimal = ms_type_decimal(&arena, 10, 2, true);
    assert_true(ms_type_is_numeric(decimal));
    assert_false(ms_type_is_integer(decimal));
    assert_true(ms_type_is_integer(int_type(true)));
    assert_true(ms_type_is_character(ms_type_string(&arena, true)));
    assert_true(ms_type_is_binary(ms_type_bytes(&arena, true)));
    assert_false(ms_type_is_character(ms_type_bytes(&arena, true)));
    assert_true(ms_type_is_timestamp(ms_type_temporal(&arena, MS_TYPE_TIMESTAMP_LTZ, 3, true)));
    assert_false(ms_type_is_timestamp(ms_type_temporal(&arena, MS_TYPE_TIME, 3, true)));
    assert_true(ms_type_is_interval(ms_type_simple(&arena, MS_TYPE_INTERVAL_MONTH, true)));
    assert_true(ms_type_is_nested(ms_type_array(&arena, decimal, true)));
    assert_false(ms_type_is_nested(decimal));
}

static void columns_are_found_by_exact_name(void **state)
{
    (void)state;
    ms_field columns[] = {{ms_str_lit("a"), int_type(true)}, {ms_str_lit("B"), int_type(true)}};
    ms_schema schema = {2, columns};
    assert_int_equal(ms_schema_find(&schema, ms_str_lit("B")), 1);
    assert_int_equal(ms_schema_find(&schema, ms_str_lit("b")), UINT32_MAX);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(types_print_as_flink_prints_them),
        TEST(the_long_text_has_no_short_names),
        TEST(physical_forms_follow_the_parameters),
        TEST(equality_is_exact_and_shape_is_not),
        TEST(names_come_from_another_type_of_the_same_shape),
        TEST(copies_outlive_their_source),
        TEST(nullability_changes_only_the_top),
        TEST(families_are_told_apart),
        TEST(columns_are_found_by_exact_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
