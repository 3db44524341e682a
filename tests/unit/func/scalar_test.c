/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "func/scalar.h"
#include "func/typing.h"

static ms_arena arena;

static const ms_type *type_of(const char *text)
{
    return ms_typing_parse(&arena, ms_str_cstr(text));
}

static void numbers_compare_by_value(void **state)
{
    (void)state;
    ms_value one = ms_value_int(type_of("INT"), 1);
    ms_value one_fifty = ms_value_int(type_of("DECIMAL(3, 2)"), 150);
    ms_value f = ms_value_double(type_of("DOUBLE"), 1.5);
    ms_value nan = ms_value_double(type_of("DOUBLE"), __builtin_nan(""));
    assert_int_equal(ms_scalar_order(&one, &one_fifty), MS_ORDER_LESS);
    assert_int_equal(ms_scalar_order(&one_fifty, &f), MS_ORDER_EQUAL);
    assert_int_equal(ms_scalar_order(&nan, &nan), MS_ORDER_NONE);
    assert_int_equal(ms_scalar_order(&nan, &one), MS_ORDER_NONE);
}

static void strings_compare_as_unsigned_bytes(void **state)
{
    (void)state;
    ms_value a = ms_value_str(type_of("STRING"), ms_str_lit("z"));
    ms_value b = ms_value_str(type_of("STRING"), ms_str_lit("\xC3\xA9"));
    assert_int_equal(ms_scalar_order(&a, &b), MS_ORDER_LESS);
    assert_int_equal(ms_scalar_order(&b, &a), MS_ORDER_GREATER);
}

static ms_value int_list(const char *type, const int64_t *numbers, uint32_t count)
{
    ms_value *items = ms_arena_array(&arena, ms_value, count);
    for (uint32_t i = 0; i < count; i++) {
        items[i] = numbers[i] == INT64_MIN ? ms_value_null(type_of("INT"))
                                           : ms_value_int(type_of("INT"), numbers[i]);
    }
    ms_value value = {.type = type_of(type), .item_count = count};
    value.u.items = items;
    return value;
}

static void arrays_are_equal_item_by_item_with_null_equal_to_null(void **state)
{
    (void)state;
    ms_value a = int_list("ARRAY<INT>", (const int64_t[]){1, INT64_MIN}, 2);
    ms_value b = int_list("ARRAY<INT>", (const int64_t[]){1, INT64_MIN}, 2);
    ms_value c = int_list("ARRAY<INT>", (const int64_t[]){INT64_MIN, 1}, 2);
    assert_true(ms_scalar_equals(&arena, &a, &b));
    assert_false(ms_scalar_equals(&arena, &a, &c));
}

static void maps_are_equal_as_sets(void **state)
{
    (void)state;
    ms_value a = int_list("MAP<INT, INT>", (const int64_t[]){1, 10, 2, 20}, 4);
    ms_value b = int_list("MAP<INT, INT>", (const int64_t[]){2, 20, 1, 10}, 4);
    ms_value c = int_list("MAP<INT, INT>", (const int64_t[]){2, 10, 1, 20}, 4);
    assert_true(ms_scalar_equals(&arena, &a, &b));
    assert_false(ms_scalar_equals(&arena, &a, &c));
}

static int open_arena(void **state)
{
    (void)state;
    ms_arena_init(&arena, 0);
    return 0;
}

static int close_arena(void **state)
{
    (void)state;
    ms_arena_release(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_compare_by_value),
        cmocka_unit_test(strings_compare_as_unsigned_bytes),
        cmocka_unit_test(arrays_are_equal_item_by_item_with_null_equal_to_null),
        cmocka_unit_test(maps_are_equal_as_sets),
    };
    return cmocka_run_group_tests(tests, open_arena, close_arena);
}
