/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The growth of a page. Arrays double, so that after the first pages of a scan nothing is allocated
 * any more; a page that one large row has blown up is cut back when it is reused.
 */
#include "bigtable/model/page.h"

#include "base/memory.h"

#include <stdlib.h>

/* A page holds its target and at most one more row. */
#define PAGE_BYTES_MAX ((size_t)UINT32_MAX)
#define PAGE_FIRST_ROWS 64u
#define PAGE_FIRST_CELLS 256u

void ms_bt_page_init(ms_bt_page *page)
{
    *page = (ms_bt_page){0};
    ms_buf_init(&page->bytes, PAGE_BYTES_MAX);
}

void ms_bt_page_release(ms_bt_page *page)
{
    ms_mem_free(page->rows);
    ms_mem_free(page->cells);
    ms_buf_release(&page->bytes);
    ms_bt_page_init(page);
}

void ms_bt_page_reset(ms_bt_page *page, size_t keep_bytes)
{
    size_t held = page->bytes.capacity_bytes + page->cell_capacity * sizeof(ms_bt_cell);
    const ms_str *families = page->families;
    uint32_t family_count = page->family_count;
    const ms_str *labels = page->labels;
    uint32_t label_count = page->label_count;
    /* Four times: growth by doubling may have left half of each array unused. */
    if (held / 4 > keep_bytes) {
        ms_bt_page_release(page);
    }
    page->row_count = 0;
    page->cell_count = 0;
    page->scanned_bytes = 0;
    page->families = families;
    page->family_count = family_count;
    page->labels = labels;
    page->label_count = label_count;
    ms_buf_reset(&page->bytes);
}

/* Doubles an array of items until it holds one more. */
static ms_rc grow(void **items, uint32_t *capacity, uint32_t first, size_t item_bytes,
                  ms_status *st)
{
    if (*capacity > UINT32_MAX / 2 / (uint32_t)item_bytes) {
        return ms_status_set(st, MS_LIMIT, ms_span_none, "a page of rows has too many cells");
    }
    uint32_t wanted = *capacity == 0 ? first : *capacity * 2;
    void *grown = ms_mem_try_realloc(*items, wanted * item_bytes);
    if (grown == NULL) {
        return ms_mem_refuse(wanted * item_bytes, st);
    }
    *items = grown;
    *capacity = wanted;
    return MS_OK;
}

ms_rc ms_bt_page_reserve_row(ms_bt_page *page, size_t key_bytes, ms_status *st)
{
    if (page->row_count == page->row_capacity) {
        void *rows = page->rows;
        MS_TRY(grow(&rows, &page->row_capacity, PAGE_FIRST_ROWS, sizeof(ms_bt_row), st));
        page->rows = rows;
    }
    return ms_buf_reserve(&page->bytes, key_bytes, st);
}

ms_rc ms_bt_page_reserve_cell(ms_bt_page *page, size_t bytes, ms_status *st)
{
    if (page->cell_count == page->cell_capacity) {
        void *cells = page->cells;
        MS_TRY(grow(&cells, &page->cell_capacity, PAGE_FIRST_CELLS, sizeof(ms_bt_cell), st));
        page->cells = cells;
    }
    return ms_buf_reserve(&page->bytes, bytes, st);
}

/* Order. */

/* Family by name, qualifier, newest first. */
static int compare_cells(const ms_bt_page *page, const ms_bt_cell *a, const ms_bt_cell *b)
{
    if (a->family != b->family) {
        return ms_str_compare(page->families[a->family], page->families[b->family]);
    }
    int order = ms_str_compare(ms_bt_page_qualifier(page, a), ms_bt_page_qualifier(page, b));
    if (order != 0) {
        return order;
    }
    return (a->timestamp_micros < b->timestamp_micros) -
           (a->timestamp_micros > b->timestamp_micros);
}

typedef struct sort_item {
    const ms_bt_page *page;
    ms_bt_cell cell;
    uint32_t index;
} sort_item;

static int compare_items(const void *left, const void *right)
{
    const sort_item *a = left;
    const sort_item *b = right;
    int order = compare_cells(a->page, &a->cell, &b->cell);
    return order != 0 ? order : (a->index > b->index) - (a->index < b->index);
}

static bool is_sorted(const ms_bt_page *page, const ms_bt_cell *cells, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        if (compare_cells(page, &cells[i - 1], &cells[i]) > 0) {
            return false;
        }
    }
    return true;
}

/* Stable, by carrying the index; rows that need it are rare, so it may allocate. */
static ms_rc sort_cells(const ms_bt_page *page, ms_bt_cell *cells, uint32_t count, ms_status *st)
{
    if (is_sorted(page, cells, count)) {
        return MS_OK;
    }
    sort_item *items = ms_mem_try_alloc(count * sizeof(sort_item));
    if (items == NULL) {
        return ms_mem_refuse(count * sizeof(sort_item), st);
    }
    for (uint32_t i = 0; i < count; i++) {
        items[i] = (sort_item){page, cells[i], i};
    }
    qsort(items, count, sizeof(*items), compare_items);
    for (uint32_t i = 0; i < count; i++) {
        cells[i] = items[i].cell;
    }
    ms_mem_free(items);
    return MS_OK;
}

ms_rc ms_bt_page_sort_row(ms_bt_page *page, uint32_t first_cell, ms_status *st)
{
    uint32_t count = page->cell_count - first_cell;
    return count > 1 ? sort_cells(page, page->cells + first_cell, count, st) : MS_OK;
}
