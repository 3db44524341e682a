/* SPDX-License-Identifier: Apache-2.0 */
/* Plans: which filters have stages, and how far a stage lets the scan jump. */
#include "testing.h"

#include "bigtable/store/scan_plan.h"

/* Families a, b, c with incarnations 1, 2, 3 (or 3, 2, 1). */
static const ms_bt_family families[] = {{.name = {"a", 1}}, {.name = {"b", 1}}, {.name = {"c", 1}}};
static const ms_bt_table def = {
    .name = {{"p", 1}, {"i", 1}, {"t", 1}}, .families = families, .family_count = 3};
static const uint32_t ascending[] = {1, 2, 3};
static const uint32_t descending[] = {3, 2, 1};
static const uint32_t by_id[] = {0, 1, 2};
static const uint32_t by_id_reversed[] = {2, 1, 0};

static const msi_table table = {
    .def = &def, .id = 1, .family_ids = ascending, .by_id = by_id, .ids_ascend = true};
static const msi_table reversed = {
    .def = &def, .id = 1, .family_ids = descending, .by_id = by_id_reversed};

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

static msi_scan_plan plan_of(const ms_bt_filter *filter, const msi_table *of)
{
    msi_scan_plan plan;
    assert_true(msi_scan_plan_make(filter, of, &arena, &plan));
    msi_scan_plan_begin_row(&plan);
    return plan;
}

static bool has_plan(const ms_bt_filter *filter, const msi_table *of)
{
    msi_scan_plan plan;
    return msi_scan_plan_make(filter, of, &arena, &plan);
}

static const ms_bt_filter *chain(const ms_bt_filter *a, const ms_bt_filter *b)
{
    return ms_bt_filter_chain(&arena, (const ms_bt_filter *[]){a, b}, 2);
}

static const ms_bt_filter *family(const char *name)
{
    return ms_bt_filter_family(&arena, ms_str_cstr(name));
}

static ms_bt_verdict pass(msi_scan_plan *plan, uint32_t index)
{
    bool strip = false;
    return msi_scan_plan_pass(plan, index, &strip);
}

static void no_filter_keeps_all(void **state)
{
    (void)state;
    msi_scan_plan plan = plan_of(NULL, &table);
    assert_int_equal(plan.stage_count, 0);
    assert_int_equal(pass(&plan, 0), MS_BT_VERDICT_KEEP);
}

static void families_let_the_scan_jump(void **state)
{
    (void)state;
    const ms_str names[] = {ms_str_lit("c"), ms_str_lit("a")};
    msi_scan_plan plan = plan_of(ms_bt_filter_families(&arena, names, 2), &table);
    assert_int_equal(pass(&plan, 0), MS_BT_VERDICT_KEEP);
    assert_int_equal(pass(&plan, 1), MS_BT_VERDICT_DROP_FAMILY);
    assert_int_equal(pass(&plan, 2), MS_BT_VERDICT_KEEP);
}

static void keys_only_drops_the_rest_of_the_row(void **state)
{
    (void)state;
    msi_scan_plan plan = plan_of(
        chain(ms_bt_filter_cells_per_row(&arena, 1), ms_bt_filter_strip_value(&arena)), &table);
    bool strip = false;
    assert_int_equal(msi_scan_plan_pass(&plan, 0, &strip), MS_BT_VERDICT_KEEP);
    assert_true(strip);
    assert_int_equal(pass(&plan, 0), MS_BT_VERDICT_DROP_ROW);
    msi_scan_plan_begin_row(&plan);
    assert_int_equal(pass(&plan, 2), MS_BT_VERDICT_KEEP);
}

static void column_limit_starts_anew_with_each_column(void **state)
{
    (void)state;
    msi_scan_plan plan = plan_of(ms_bt_filter_cells_per_column(&arena, 1), &table);
    assert_int_equal(pass(&plan, 0), MS_BT_VERDICT_KEEP);
    assert_int_equal(pass(&plan, 0), MS_BT_VERDICT_DROP_COLUMN);
    msi_scan_plan_begin_column(&plan);
    assert_int_equal(pass(&plan, 0), MS_BT_VERDICT_KEEP);
}

static void what_is_counted_before_may_not_be_jumped(void **state)
{
    (void)state;
    msi_scan_plan plan = plan_of(chain(ms_bt_filter_cells_per_row(&arena, 3), family("b")), &table);
    assert_int_equal(pass(&plan, 0), MS_BT_VERDICT_DROP);
    assert_int_equal(pass(&plan, 0), MS_BT_VERDICT_DROP);
    assert_int_equal(pass(&plan, 1), MS_BT_VERDICT_KEEP);
    assert_int_equal(pass(&plan, 1), MS_BT_VERDICT_DROP_ROW);
    plan = plan_of(chain(ms_bt_filter_cells_per_row_offset(&arena, 1),
                         ms_bt_filter_cells_per_column(&arena, 1)),
                   &table);
    assert_int_equal(pass(&plan, 0), MS_BT_VERDICT_DROP);
    assert_int_equal(pass(&plan, 0), MS_BT_VERDICT_KEEP);
    assert_int_equal(pass(&plan, 0), MS_BT_VERDICT_DROP);
}

static void other_trees_have_no_plan(void **state)
{
    (void)state;
    const ms_bt_filter *twice[] = {family("a"), family("a")};
    assert_false(has_plan(ms_bt_filter_interleave(&arena, twice, 2), &table));
    const ms_bt_filter *mixed[] = {family("a"), ms_bt_filter_block_all(&arena)};
    assert_false(has_plan(ms_bt_filter_interleave(&arena, mixed, 2), &table));
    assert_false(has_plan(ms_bt_filter_value_bitmask(&arena, ms_str_lit("x")), &table));
    const ms_bt_filter *filter = ms_bt_filter_cells_per_row(&arena, 9);
    for (int i = 1; i < MSI_SCAN_STAGES_MAX; i++) {
        filter = chain(filter, ms_bt_filter_cells_per_row(&arena, 9));
    }
    assert_true(has_plan(filter, &table));
    assert_false(has_plan(chain(filter, ms_bt_filter_cells_per_row(&arena, 9)), &table));
}

static void what_counts_over_families_needs_their_order(void **state)
{
    (void)state;
    assert_true(has_plan(family("b"), &reversed));
    assert_false(has_plan(ms_bt_filter_cells_per_row(&arena, 1), &reversed));
    assert_true(has_plan(ms_bt_filter_cells_per_column(&arena, 1), &reversed));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(no_filter_keeps_all),
        TEST(families_let_the_scan_jump),
        TEST(keys_only_drops_the_rest_of_the_row),
        TEST(column_limit_starts_anew_with_each_column),
        TEST(what_is_counted_before_may_not_be_jumped),
        TEST(other_trees_have_no_plan),
        TEST(what_counts_over_families_needs_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
