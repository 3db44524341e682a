/* SPDX-License-Identifier: Apache-2.0 */
/* What filters do to the cells of a row. The row of all tests:
 *
 *     a:p@2=v0  a:p@1=v1  a:q@1=v2  b:p@1=v3
 */
#include "testing.h"

#include "bigtable/model/filter_eval.h"

typedef struct fixture {
    ms_arena arena;
    ms_bt_page page;
    ms_bt_filter_eval eval;
} fixture;

static void add_cell(ms_bt_page *page, uint16_t family, const char *qualifier, int64_t micros,
                     const char *value)
{
    ms_status st = {0};
    assert_ok(ms_bt_page_reserve_cell(page, strlen(qualifier) + strlen(value), &st));
    ms_bt_cell *cell = &page->cells[page->cell_count++];
    *cell = (ms_bt_cell){.timestamp_micros = micros, .family = family};
    cell->qualifier_at = ms_bt_page_put(page, qualifier, strlen(qualifier));
    cell->qualifier_bytes = (uint32_t)strlen(qualifier);
    cell->value_at = ms_bt_page_put(page, value, strlen(value));
    cell->value_bytes = (uint32_t)strlen(value);
}

static int setup(void **state)
{
    static const ms_str families[] = {{"a", 1}, {"b", 1}};
    fixture *f = calloc(1, sizeof(*f));
    ms_arena_init(&f->arena, 0);
    ms_bt_page_init(&f->page);
    ms_bt_filter_eval_init(&f->eval);
    f->page.families = families;
    f->page.family_count = 2;
    add_cell(&f->page, 0, "p", 2, "v0");
    add_cell(&f->page, 0, "p", 1, "v1");
    add_cell(&f->page, 0, "q", 1, "v2");
    add_cell(&f->page, 1, "p", 1, "v3");
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    ms_bt_page_release(&f->page);
    ms_bt_filter_eval_release(&f->eval);
    ms_arena_release(&f->arena);
    free(f);
    return 0;
}

/* The values that are left, blank-separated; "-" for a stripped one. */
static void assert_left(fixture *f, const ms_bt_filter *filter, const char *expected)
{
    ms_status st = {0};
    assert_ok(ms_bt_filter_eval_row(&f->eval, filter, &f->page, 0, &st));
    char text[256] = "";
    for (uint32_t i = 0; i < f->page.cell_count; i++) {
        ms_str value = ms_bt_page_value(&f->page, &f->page.cells[i]);
        size_t at = strlen(text);
        snprintf(text + at, sizeof(text) - at, "%s%.*s", i == 0 ? "" : " ",
                 MS_STR_ARG(value.bytes == 0 ? ms_str_lit("-") : value));
    }
    assert_string_equal(text, expected);
}

static const ms_bt_filter *two(fixture *f, ms_bt_filter_kind kind, const ms_bt_filter *a,
                               const ms_bt_filter *b)
{
    const ms_bt_filter *list[] = {a, b};
    return kind == MS_BT_FILTER_CHAIN ? ms_bt_filter_chain(&f->arena, list, 2)
                                      : ms_bt_filter_interleave(&f->arena, list, 2);
}

static void pass_all_keeps_everything(void **state)
{
    assert_left(*state, NULL, "v0 v1 v2 v3");
}

static void block_all_keeps_nothing(void **state)
{
    fixture *f = *state;
    assert_left(f, ms_bt_filter_block_all(&f->arena), "");
}

static void family_keeps_its_cells(void **state)
{
    fixture *f = *state;
    assert_left(f, ms_bt_filter_family(&f->arena, ms_str_lit("b")), "v3");
}

static void column_limit_keeps_the_newest(void **state)
{
    fixture *f = *state;
    assert_left(f, ms_bt_filter_cells_per_column(&f->arena, 1), "v0 v2 v3");
}

static void row_limit_and_offset_count_in_order(void **state)
{
    fixture *f = *state;
    assert_left(f, ms_bt_filter_cells_per_row_offset(&f->arena, 1), "v1 v2 v3");
    assert_left(f, ms_bt_filter_cells_per_row(&f->arena, 2), "v1 v2");
}

static void order_in_a_chain_matters(void **state)
{
    fixture *f = *state;
    const ms_bt_filter *limit = ms_bt_filter_cells_per_row(&f->arena, 1);
    const ms_bt_filter *b = ms_bt_filter_family(&f->arena, ms_str_lit("b"));
    ms_bt_page_reset(&f->page, 0);
    add_cell(&f->page, 0, "p", 2, "v0");
    add_cell(&f->page, 1, "p", 1, "v3");
    assert_left(f, two(f, MS_BT_FILTER_CHAIN, b, limit), "v3");
    ms_bt_page_reset(&f->page, 0);
    add_cell(&f->page, 0, "p", 2, "v0");
    add_cell(&f->page, 1, "p", 1, "v3");
    assert_left(f, two(f, MS_BT_FILTER_CHAIN, limit, b), "");
}

static void interleave_keeps_duplicates_in_order(void **state)
{
    fixture *f = *state;
    const ms_bt_filter *latest = ms_bt_filter_cells_per_column(&f->arena, 1);
    const ms_bt_filter *a = ms_bt_filter_family(&f->arena, ms_str_lit("a"));
    assert_left(f, two(f, MS_BT_FILTER_INTERLEAVE, a, latest), "v0 v0 v1 v2 v2 v3");
}

static void interleave_of_chains_nests(void **state)
{
    fixture *f = *state;
    const ms_bt_filter *strip = ms_bt_filter_strip_value(&f->arena);
    const ms_bt_filter *a = ms_bt_filter_family(&f->arena, ms_str_lit("a"));
    const ms_bt_filter *b = ms_bt_filter_family(&f->arena, ms_str_lit("b"));
    const ms_bt_filter *filter =
        two(f, MS_BT_FILTER_INTERLEAVE, b, two(f, MS_BT_FILTER_CHAIN, a, strip));
    assert_left(f, filter, "- - - v3");
    assert_left(f, two(f, MS_BT_FILTER_CHAIN, filter, ms_bt_filter_cells_per_row(&f->arena, 1)),
                "-");
}

static void duplicates_have_a_limit(void **state)
{
    fixture *f = *state;
    ms_status st = {0};
    const ms_bt_filter *filter = ms_bt_filter_pass_all(&f->arena);
    for (int i = 0; i < 12; i++) {
        const ms_bt_filter *list[4] = {filter, filter, filter, filter};
        filter = ms_bt_filter_interleave(&f->arena, list, 4);
    }
    assert_int_equal(ms_bt_filter_eval_row(&f->eval, filter, &f->page, 0, &st), MS_LIMIT);
}

static void work_has_a_limit(void **state)
{
    fixture *f = *state;
    ms_status st = {0};
    const ms_bt_filter *pass = ms_bt_filter_pass_all(&f->arena);
    const ms_bt_filter *four[4] = {pass, pass, pass, pass};
    /* 4^8 copies of the row, cut to one cell, and again, and again. */
    const ms_bt_filter *list[9];
    for (int i = 0; i < 8; i++) {
        list[i] = ms_bt_filter_interleave(&f->arena, four, 4);
    }
    list[8] = ms_bt_filter_cells_per_row(&f->arena, 4);
    const ms_bt_filter *blow_up = ms_bt_filter_chain(&f->arena, list, 9);
    const ms_bt_filter *many[64];
    for (int i = 0; i < 64; i++) {
        many[i] = blow_up;
    }
    const ms_bt_filter *filter = ms_bt_filter_chain(&f->arena, many, 64);
    assert_int_equal(ms_bt_filter_eval_row(&f->eval, filter, &f->page, 0, &st), MS_LIMIT);
    assert_non_null(strstr(st.message, "looks at more than"));
}

static void rows_sort_by_family_name_and_keep_equal_cells_in_order(void **state)
{
    fixture *f = *state;
    ms_bt_page_reset(&f->page, 0);
    add_cell(&f->page, 1, "p", 1, "4");
    add_cell(&f->page, 0, "q", 1, "3");
    add_cell(&f->page, 0, "p", 1, "1");
    add_cell(&f->page, 0, "p", 1, "2");
    add_cell(&f->page, 0, "p", 9, "0");
    ms_status st = {0};
    assert_ok(ms_bt_page_sort_row(&f->page, 0, &st));
    assert_left(f, NULL, "0 1 2 3 4");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(pass_all_keeps_everything),
        TEST(block_all_keeps_nothing),
        TEST(family_keeps_its_cells),
        TEST(column_limit_keeps_the_newest),
        TEST(row_limit_and_offset_count_in_order),
        TEST(order_in_a_chain_matters),
        TEST(interleave_keeps_duplicates_in_order),
        TEST(interleave_of_chains_nests),
        TEST(duplicates_have_a_limit),
        TEST(work_has_a_limit),
        TEST(rows_sort_by_family_name_and_keep_equal_cells_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
