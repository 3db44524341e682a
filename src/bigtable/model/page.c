/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The growth of a page. Arrays double, so that after the first pages of a scan nothing is allocated
 * any more; a page that one large row has blown up is cut back when it is reused.
 */
#include "bigtable/model/page.h"

#include "base/memory.h"

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
