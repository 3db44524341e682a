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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reused_page_allocates_nothing),
        cmocka_unit_test(views_survive_growth),
        cmocka_unit_test(large_page_is_cut_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
