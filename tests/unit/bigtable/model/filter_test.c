/* SPDX-License-Identifier: Apache-2.0 */
/* Filter trees: makers, copies, the service's checks, sizes and rendering. */
#include "testing.h"

#include "bigtable/model/filter.h"

static ms_arena arena;

static int setup(void **state)
{
    (void)state;
    ms_arena_init(&arena, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    ms_arena_release(&arena);
    return 0;
}

static void assert_text(const ms_bt_filter *filter, const char *expected)
{
    ms_status st = {0};
    ms_buf buf;
    ms_buf_init(&buf, 4096);
    assert_ok(ms_bt_filter_render(filter, &buf, &st));
    assert_str_equal(ms_buf_view(&buf), expected);
    ms_buf_release(&buf);
}

static const ms_bt_filter *keys_only(void)
{
    return ms_bt_filter_chain(&arena,
                              (const ms_bt_filter *[]){ms_bt_filter_cells_per_row(&arena, 1),
                                                       ms_bt_filter_strip_value(&arena)},
                              2);
}

static void trees_render(void **state)
{
    (void)state;
    assert_text(NULL, "pass_all");
    assert_text(keys_only(), "chain(cells_per_row_limit(1), strip_value)");
    const ms_str families[] = {ms_str_lit("a"), ms_str_lit("b")};
    assert_text(ms_bt_filter_families(&arena, families, 2), "interleave(family(a), family(b))");
    assert_text(ms_bt_filter_families(&arena, families, 1), "family(a)");
    assert_text(ms_bt_filter_block_all(&arena), "block_all");
}

static void copy_owns_its_texts(void **state)
{
    (void)state;
    char name[] = "cf";
    const ms_bt_filter *filter = ms_bt_filter_family(&arena, ms_str_cstr(name));
    const ms_bt_filter *copy = ms_bt_filter_copy(&arena, filter);
    name[0] = 'x';
    assert_text(copy, "family(cf)");
    assert_null(ms_bt_filter_copy(&arena, NULL));
}

static void wrong_filters_are_refused(void **state)
{
    (void)state;
    ms_bt_status bt = {0};
    const ms_bt_filter *pass = ms_bt_filter_pass_all(&arena);
    ms_bt_filter chain = {.kind = MS_BT_FILTER_CHAIN, .children = &pass, .child_count = 1};
    assert_int_equal(ms_bt_filter_check(&chain, &bt), MS_BT_INVALID_ARGUMENT);
    assert_string_equal(bt.text, "Chain must contain at least two RowFilters");
    ms_bt_status_clear(&bt);
    chain.kind = MS_BT_FILTER_INTERLEAVE;
    assert_int_equal(ms_bt_filter_check(&chain, &bt), MS_BT_INVALID_ARGUMENT);
    ms_bt_status_clear(&bt);
    const ms_bt_filter *zero = ms_bt_filter_cells_per_row(&arena, 0);
    assert_int_equal(ms_bt_filter_check(zero, &bt), MS_BT_INVALID_ARGUMENT);
    assert_string_equal(bt.text,
                        "Error in field 'cells_per_row_limit_filter' : argument must be > 0");
    ms_bt_status_clear(&bt);
    assert_int_equal(ms_bt_filter_check(keys_only(), &bt), MS_BT_OK);
    assert_int_equal(ms_bt_filter_check(NULL, &bt), MS_BT_OK);
}

static void depth_is_limited(void **state)
{
    (void)state;
    ms_bt_status bt = {0};
    const ms_bt_filter *filter = ms_bt_filter_pass_all(&arena);
    for (unsigned i = 1; i < MS_BT_LIMIT_FILTER_DEPTH; i++) {
        filter = ms_bt_filter_chain(
            &arena, (const ms_bt_filter *[]){filter, ms_bt_filter_pass_all(&arena)}, 2);
    }
    assert_int_equal(ms_bt_filter_check(filter, &bt), MS_BT_OK);
    filter = ms_bt_filter_chain(&arena,
                                (const ms_bt_filter *[]){filter, ms_bt_filter_pass_all(&arena)}, 2);
    assert_int_equal(ms_bt_filter_check(filter, &bt), MS_BT_INVALID_ARGUMENT);
}

static void size_is_limited_by_serialized_bytes(void **state)
{
    (void)state;
    ms_bt_status bt = {0};
    /* Field 5, two-byte length: 20480 bytes in all at a name of 20476. */
    char *name = calloc(1, 20480);
    memset(name, 'f', 20480);
    const ms_bt_filter *filter = ms_bt_filter_family(&arena, ms_str_make(name, 20476));
    assert_int_equal(ms_bt_filter_wire_bytes(filter), 20480);
    assert_int_equal(ms_bt_filter_check(filter, &bt), MS_BT_OK);
    filter = ms_bt_filter_family(&arena, ms_str_make(name, 20477));
    assert_int_equal(ms_bt_filter_check(filter, &bt), MS_BT_INVALID_ARGUMENT);
    assert_string_equal(bt.text, "Row filter exceeds maximum size of 20480 bytes");
    free(name);
}

static void sizes_are_those_of_the_wire(void **state)
{
    (void)state;
    /* chain { filters { cells_per_row_limit_filter: 1 } filters { strip_value_transformer: true } }
     * is 0a 08 0a 02 58 01 0a 02 68 01. */
    assert_int_equal(ms_bt_filter_wire_bytes(keys_only()), 10);
    /* 2a 04 "a\-b". */
    assert_int_equal(ms_bt_filter_wire_bytes(ms_bt_filter_family(&arena, ms_str_lit("a-b"))), 6);
    /* 8a 01 01: a field above 15 has a tag of two bytes. */
    assert_int_equal(ms_bt_filter_wire_bytes(ms_bt_filter_pass_all(&arena)), 3);
    assert_int_equal(ms_bt_filter_wire_bytes(NULL), 0);
}

static void what_is_not_built_is_named(void **state)
{
    (void)state;
    const ms_bt_filter_kind built[] = {
        MS_BT_FILTER_PASS_ALL,
        MS_BT_FILTER_BLOCK_ALL,
        MS_BT_FILTER_CHAIN,
        MS_BT_FILTER_INTERLEAVE,
        MS_BT_FILTER_FAMILY,
        MS_BT_FILTER_CELLS_PER_ROW_OFFSET,
        MS_BT_FILTER_CELLS_PER_ROW_LIMIT,
        MS_BT_FILTER_CELLS_PER_COLUMN_LIMIT,
        MS_BT_FILTER_STRIP_VALUE,
    };
    bool is_built[MS_BT_FILTER_COUNT] = {false};
    for (size_t i = 0; i < sizeof(built) / sizeof(built[0]); i++) {
        is_built[built[i]] = true;
    }
    for (int kind = 0; kind < MS_BT_FILTER_COUNT; kind++) {
        ms_bt_status bt = {0};
        ms_bt_filter inner = {.kind = (ms_bt_filter_kind)kind};
        const ms_bt_filter *outer = ms_bt_filter_chain(
            &arena, (const ms_bt_filter *[]){ms_bt_filter_pass_all(&arena), &inner}, 2);
        ms_bt_code code = ms_bt_filter_check_built(outer, &bt);
        assert_int_equal(code, is_built[kind] ? MS_BT_OK : MS_BT_UNIMPLEMENTED);
        if (!is_built[kind]) {
            assert_non_null(strstr(bt.text, ms_bt_filter_kind_name((ms_bt_filter_kind)kind)));
        }
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(trees_render),
        TEST(copy_owns_its_texts),
        TEST(wrong_filters_are_refused),
        TEST(depth_is_limited),
        TEST(size_is_limited_by_serialized_bytes),
        TEST(sizes_are_those_of_the_wire),
        TEST(what_is_not_built_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
