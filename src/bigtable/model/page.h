/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A page of rows, as a read delivers them. Three flat arrays: rows point into cells, cells point
 * into one run of bytes; nothing is allocated per row. Cells come family by family (ascending name
 * from the embedded store; no order is promised between families), then by qualifier, then newest
 * first. A qualifier may come again in a row when filters were interleaved.
 *
 *     for (uint32_t r = 0; r < page->row_count; r++) {
 *         const ms_bt_row *row = &page->rows[r];
 *         ms_str key = ms_bt_page_key(page, row);
 *         for (uint32_t c = 0; c < row->cell_count; c++) {
 *             const ms_bt_cell *cell = &page->cells[row->first_cell + c];
 *             use(cell->family, ms_bt_page_qualifier(page, cell), ms_bt_page_value(page, cell));
 *         }
 *     }
 *
 * cell->family is an index into page->families. That list only grows during a read, and an index
 * keeps its meaning for the life of the read, so a reader maps families to its own columns once.
 * Labels, which filters apply to cells, are named likewise; the index 0 is no label.
 *
 * Ownership: the read owns its pages; a consumer borrows one from poll to release and must not keep
 * views into it longer. Thread: the consumer's. Limits: bytes and cells of a page are below 2^32;
 * one row is at most 256 MiB.
 */
#ifndef MS_BIGTABLE_MODEL_PAGE_H
#define MS_BIGTABLE_MODEL_PAGE_H

#include "base/str.h"
#include "bigtable/model/limits.h"

typedef struct ms_bt_cell {
    int64_t timestamp_micros;
    uint32_t qualifier_at;
    uint32_t qualifier_bytes;
    uint32_t value_at;
    uint32_t value_bytes;
    uint16_t family;
    uint16_t label; /* 0: none */
} ms_bt_cell;

typedef struct ms_bt_row {
    uint32_t key_at;
    uint32_t key_bytes;
    uint32_t first_cell;
    uint32_t cell_count; /* at least 1 */
} ms_bt_row;

/* Read rows, cells, families, labels and their counts freely; the rest is private. */
typedef struct ms_bt_page {
    ms_bt_row *rows;
    uint32_t row_count;
    uint32_t row_capacity;
    ms_bt_cell *cells;
    uint32_t cell_count;
    uint32_t cell_capacity;
    ms_buf bytes;
    const ms_str *families;
    uint32_t family_count;
    const ms_str *labels; /* by index, the first of them empty; NULL when no filter applies any */
    uint32_t label_count;
    uint32_t scanned_at; /* ms_bt_page_scanned */
    uint32_t scanned_bytes;
} ms_bt_page;

static inline ms_str ms_bt_page_key(const ms_bt_page *page, const ms_bt_row *row)
{
    return (ms_str){page->bytes.ptr + row->key_at, row->key_bytes};
}

static inline ms_str ms_bt_page_qualifier(const ms_bt_page *page, const ms_bt_cell *cell)
{
    return (ms_str){page->bytes.ptr + cell->qualifier_at, cell->qualifier_bytes};
}

static inline ms_str ms_bt_page_value(const ms_bt_page *page, const ms_bt_cell *cell)
{
    return (ms_str){page->bytes.ptr + cell->value_at, cell->value_bytes};
}

static inline ms_str ms_bt_page_family(const ms_bt_page *page, const ms_bt_cell *cell)
{
    return page->families[cell->family];
}

/* Empty when the cell has none. */
static inline ms_str ms_bt_page_label(const ms_bt_page *page, const ms_bt_cell *cell)
{
    return cell->label == 0 ? (ms_str){NULL, 0} : page->labels[cell->label];
}

/* The key up to which a read that wants progress has looked at rows when it filled this page, in
 * its direction: no later page has that row or one before it. Empty: nothing is said. */
static inline ms_str ms_bt_page_scanned(const ms_bt_page *page)
{
    return page->scanned_bytes == 0
               ? (ms_str){NULL, 0}
               : (ms_str){page->bytes.ptr + page->scanned_at, page->scanned_bytes};
}

/* For transports, which fill pages. */

void ms_bt_page_init(ms_bt_page *page);
void ms_bt_page_release(ms_bt_page *page);

/* Empties the page and keeps its memory, unless one large row has made it much larger than
 * keep_bytes. */
void ms_bt_page_reset(ms_bt_page *page, size_t keep_bytes);

/* Makes room for one more row with this key, resp. one more cell with this many bytes; afterwards
 * the inline functions below may be used. MS_NO_MEMORY or MS_LIMIT. */
ms_rc ms_bt_page_reserve_row(ms_bt_page *page, size_t key_bytes, ms_status *st) MS_MUST_USE;
ms_rc ms_bt_page_reserve_cell(ms_bt_page *page, size_t bytes, ms_status *st) MS_MUST_USE;

/* Copies bytes behind the page's; room was reserved. Returns where they are. */
static inline uint32_t ms_bt_page_put(ms_bt_page *page, const char *ptr, size_t bytes)
{
    uint32_t at = (uint32_t)page->bytes.bytes;
    if (bytes > 0) {
        memcpy(page->bytes.ptr + at, ptr, bytes);
        page->bytes.bytes += bytes;
    }
    return at;
}

/* Bytes that the page holds; what page_bytes_max of a read counts. */
static inline size_t ms_bt_page_used_bytes(const ms_bt_page *page)
{
    return page->bytes.bytes + page->cell_count * sizeof(ms_bt_cell);
}

/* Puts the cells from first_cell on in the order of a row; equal ones keep their order.
 * MS_NO_MEMORY. */
ms_rc ms_bt_page_sort_row(ms_bt_page *page, uint32_t first_cell, ms_status *st) MS_MUST_USE;

#endif
