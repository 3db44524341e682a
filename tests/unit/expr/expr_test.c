/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "fixture.h"

static fixture f;

static int open_each(void **state)
{
    (void)state;
    fixture_open(&f);
    return 0;
}

static int close_each(void **state)
{
    (void)state;
    fixture_close(&f);
    return 0;
}

static const ms_expr *column(uint32_t index)
{
    return ms_expr_column(&f.arena, index, type_of(&f, "INT"), (ms_span){index, index + 1});
}

static const ms_expr *call(const char *name, const ms_expr *a, const ms_expr *b)
{
    const ms_expr *out = NULL;
    const ms_expr *args[2] = {a, b};
    assert_int_equal(
        ms_build_call(&f.build, ms_str_cstr(name), args, b != NULL ? 2 : 1, ms_span_none, &out),
        MS_OK);
    return out;
}

static const ms_expr *number(int32_t value)
{
    return ms_build_int(&f.build, value, ms_span_none);
}

static void equal_trees_have_equal_hashes(void **state)
{
    (void)state;
    const ms_expr *a = call("+", column(0), number(1));
    const ms_expr *b = call("+", column(0), number(1));
    assert_true(ms_expr_equals(a, b));
    assert_int_equal(ms_expr_hash(a), ms_expr_hash(b));
    assert_false(ms_expr_equals(a, call("+", column(1), number(1))));
    assert_false(ms_expr_equals(a, call("+", column(0), number(2))));
    assert_false(ms_expr_equals(a, call("-", column(0), number(1))));
    const ms_type *d = type_of(&f, "DOUBLE NOT NULL");
    ms_value zero = ms_value_double(d, 0.0);
    ms_value minus = ms_value_double(d, -0.0);
    assert_false(ms_expr_equals(ms_expr_const(&f.arena, &zero, ms_span_none),
                                ms_expr_const(&f.arena, &minus, ms_span_none)));
}

static void columns_are_found_and_moved(void **state)
{
    (void)state;
    const ms_expr *expr = call("+", call("*", column(3), column(1)), number(1));
    uint64_t bits[1] = {0};
    ms_expr_columns(expr, bits);
    assert_int_equal(bits[0], 0xA);
    const uint32_t map[] = {9, 0, 9, 5};
    assert_str_equal(ms_expr_text(&f.arena, ms_expr_remap(&f.arena, expr, map), NULL),
                     "$5 * $0 + 1");
    const uint32_t same[] = {0, 1, 2, 3};
    assert_ptr_equal(ms_expr_remap(&f.arena, expr, same), expr);
    const ms_expr *columns[] = {NULL, call("-", column(0), number(2)), NULL, number(7)};
    assert_str_equal(ms_expr_text(&f.arena, ms_expr_substitute(&f.arena, expr, columns), NULL),
                     "7 * ($0 - 2) + 1");
}

static void conjuncts_come_from_left_to_right(void **state)
{
    (void)state;
    const ms_expr *a = call("=", column(0), number(1));
    const ms_expr *b = call("=", column(1), number(1));
    const ms_expr *c = call("OR", a, b);
    const ms_expr *all = call("AND", call("AND", a, b), c);
    const ms_expr *list[2];
    assert_int_equal(ms_expr_conjuncts(all, list, 2), 3);
    assert_ptr_equal(list[0], a);
    assert_ptr_equal(list[1], b);
    assert_int_equal(ms_expr_conjuncts(c, list, 2), 1);
    assert_ptr_equal(list[0], c);
}

static void properties_follow_from_the_parts(void **state)
{
    (void)state;
    const ms_expr *constant = call("+", number(1), number(2));
    assert_true(ms_expr_is_constant(constant));
    assert_false(ms_expr_is_constant(call("+", column(0), number(2))));
    assert_true(ms_expr_is_deterministic(constant));
    assert_true(ms_expr_is_pure(constant));
    assert_true(ms_expr_is_shareable(constant));
    assert_false(ms_expr_can_fail(call("=", column(0), number(1))));
    assert_true(ms_expr_can_fail(call("/", column(0), column(1))));
    assert_false(ms_expr_can_fail(call("/", column(0), number(2))));
    assert_true(ms_expr_can_fail(call("/", column(0), number(-1)))); /* overflow may be an error */
    const ms_expr *cast = NULL;
    const ms_expr *text = ms_expr_column(&f.arena, 0, type_of(&f, "STRING"), ms_span_none);
    const ms_type *int_type = type_of(&f, "INT");
    assert_int_equal(ms_build_cast(&f.build, text, int_type, MS_BUILD_CAST, ms_span_none, &cast),
                     MS_OK);
    assert_true(ms_expr_can_fail(cast));
    assert_int_equal(
        ms_build_cast(&f.build, text, int_type, MS_BUILD_TRY_CAST, ms_span_none, &cast), MS_OK);
    assert_false(ms_expr_can_fail(cast));
    assert_true(ms_expr_is_call_of(constant, "+"));
    assert_false(ms_expr_is_call_of(constant, "-"));
}

static void copies_live_on_their_own_and_keep_sharing(void **state)
{
    (void)state;
    const ms_expr *shared = call("+", column(0), number(1));
    const ms_expr *expr = call("*", shared, shared);
    ms_value value =
        value_of(&f, type_of(&f, "ROW<`a` ARRAY<INT>, `b` STRING>"), ms_str_lit("(NULL, xyz)"));
    const ms_expr *nested = ms_expr_const(&f.arena, &value, ms_span_none);
    ms_arena other;
    ms_arena_init(&other, 0);
    const ms_expr *copy = ms_expr_copy(&other, expr);
    const ms_expr *copied = ms_expr_copy(&other, nested);
    assert_true(ms_expr_equals(copy, expr));
    assert_true(ms_expr_equals(copied, nested));
    fixture_close(&f); /* poisons the original in debug builds */
    assert_ptr_equal(copy->children[0], copy->children[1]);
    assert_str_equal(ms_expr_text(&other, copy, NULL), "($0 + 1) * ($0 + 1)");
    assert_str_equal(ms_expr_text(&other, copied, NULL), "'(NULL, xyz)'");
    ms_arena_release(&other);
    fixture_open(&f);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_each, close_each)
    const struct CMUnitTest tests[] = {
        TEST(equal_trees_have_equal_hashes),
        TEST(columns_are_found_and_moved),
        TEST(conjuncts_come_from_left_to_right),
        TEST(properties_follow_from_the_parts),
        TEST(copies_live_on_their_own_and_keep_sharing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
