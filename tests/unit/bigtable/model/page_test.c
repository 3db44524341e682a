/* SPDX-License-Identifier: Apache-2.0 */
/* Pages: growth, reuse without allocation, and cutting back after one large row. */
#include "testing.h"

#include "base/memory.h"
#include "bigtable/model/page.h"

static void add_row(ms_bt_page *page, const char *key, size_t value_bytes)
{
    ms_status st = {0};
    size_t key_bytes = strlen(key);
    assert_ok(ms_bt_page_reserve_row(page, key_bytes, &st));
    ms_bt_row *row = &page->rows[page->row_count++];
    *row = (ms_bt_row){.key_at = ms_bt_page_put(page, key, key_bytes),
                       .key_bytes = (uint32_t)key_bytes,
                       .first_cell = page->cell_count,
                       .cell_count = 1};
    assert_ok(ms_bt_page_reserve_cell(page, value_bytes, &st));
    ms_bt_cell *cell = &page->cells[page->cell_count++];
    *cell =
        (ms_bt_cell){.value_at = (uint32_t)page->bytes.bytes, .value_bytes = (uint32_t)value_bytes};
    memset(page->bytes.ptr + page->bytes.bytes, 'v', value_bytes);
    page->bytes.bytes += value_bytes;
}

static void reused_page_allocates_nothing(void **state)
{
    (void)state;
    ms_bt_page page;
    ms_bt_page_init(&page);
    uint64_t before = 0;
    for (int round = 0; round < 3; round++) {
        before = ms_mem_allocation_count();
        ms_bt_page_reset(&page, 1u << 20);
        for (int i = 0; i < 2000; i++) {
            add_row(&page, "key", 20);
        }
        assert_int_equal(page.row_count, 2000);
    }
    assert_int_equal(ms_mem_allocation_count(), before);
    ms_bt_page_release(&page);
}

static void views_survive_growth(void **state)
{
    (void)state;
    ms_bt_page page;
    ms_bt_page_init(&page);
    char key[16];
    for (int i = 0; i < 5000; i++) {
        snprintf(key, sizeof(key), "k%d", i);
        add_row(&page, key, (size_t)(i % 7));
    }
    for (int i = 0; i < 5000; i++) {
        snprintf(key, sizeof(key), "k%d", i);
        assert_str_equal(ms_bt_page_key(&page, &page.rows[i]), key);
        assert_int_equal(ms_bt_page_value(&page, &page.cells[i]).bytes, i % 7);
    }
    ms_bt_page_release(&page);
}

static void large_page_is_cut_back(void **state)
{
    (void)state;
    static const ms_str families[] = {{"cf", 2}};
    ms_bt_page page;
    ms_bt_page_init(&page);
    page.families = families;
    page.family_count = 1;
    add_row(&page, "key", 16u << 20);
    assert_true(page.bytes.capacity_bytes >= (16u << 20));
    ms_bt_page_reset(&page, 1u << 20);
    assert_int_equal(page.bytes.capacity_bytes, 0);
    assert_int_equal(page.row_count, 0);
    assert_str_equal(page.families[0], "cf");
    ms_bt_page_release(&page);
}

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

static void rows_sort_by_family_name_and_keep_equal_cells_in_order(void **state)
{
    (void)state;
    static const ms_str families[] = {{"b", 1}, {"a", 1}};
    ms_status st = {0};
    ms_bt_page page;
    ms_bt_page_init(&page);
    page.families = families;
    page.family_count = 2;
    add_cell(&page, 0, "a", 9, "of the row before");
    add_cell(&page, 0, "p", 1, "4");
    add_cell(&page, 1, "q", 1, "3");
    add_cell(&page, 1, "p", 1, "1");
    add_cell(&page, 1, "p", 1, "2");
    add_cell(&page, 1, "p", 9, "0");
    assert_ok(ms_bt_page_sort_row(&page, 1, &st));
    assert_str_equal(ms_bt_page_value(&page, &page.cells[0]), "of the row before");
    for (uint32_t i = 1; i < page.cell_count; i++) {
        const char expected[2] = {(char)('0' + i - 1), '\0'};
        assert_str_equal(ms_bt_page_value(&page, &page.cells[i]), expected);
    }
    ms_bt_page_release(&page);
}

static void labels_are_named_by_the_page(void **state)
{
    (void)state;
    static const ms_str labels[] = {{"", 0}, {"one", 3}};
    ms_bt_page page;
    ms_bt_page_init(&page);
    add_cell(&page, 0, "q", 1, "v");
    assert_int_equal(ms_bt_page_label(&page, &page.cells[0]).bytes, 0);
    page.labels = labels;
    page.label_count = 2;
    page.cells[0].label = 1;
    assert_str_equal(ms_bt_page_label(&page, &page.cells[0]), "one");
    ms_bt_page_reset(&page, 0);
    assert_ptr_equal(page.labels, labels);
    ms_bt_page_release(&page);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reused_page_allocates_nothing),
        cmocka_unit_test(views_survive_growth),
        cmocka_unit_test(large_page_is_cut_back),
        cmocka_unit_test(rows_sort_by_family_name_and_keep_equal_cells_in_order),
        cmocka_unit_test(labels_are_named_by_the_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
