/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a filter does to the cells of one row: a list of cells goes in, a list comes out. Cells come
 * in the order of the row (family by name, qualifier, newest first) and leave in it. This is the
 * plain meaning of a filter, any tree of the built kinds; a store that can do the same on the fly,
 * cell by cell, need not call it, but must agree with it.
 *
 *     ms_bt_filter_eval eval;
 *     ms_bt_filter_eval_init(&eval);
 *     MS_TRY(ms_bt_filter_eval_row(&eval, filter, page, first_cell, st));
 *     if (page->cell_count == first_cell) { the row is not returned }
 *
 * Ownership: the evaluator owns its scratch and is reused from row to row. Thread: one at a time.
 * Limits: interleaves duplicate cells; a row may have at most MS_BT_FILTER_CELLS_MAX of them, and
 * all filters together may look at MS_BT_FILTER_WORK_MAX, so that no filter of legal size hangs a
 * scan.
 */
#ifndef MS_BIGTABLE_MODEL_FILTER_EVAL_H
#define MS_BIGTABLE_MODEL_FILTER_EVAL_H

#include "bigtable/model/filter.h"
#include "bigtable/model/page.h"

#define MS_BT_FILTER_CELLS_MAX (1u << 20) /* copies on the way included: some 100 ms of sorting */
#define MS_BT_FILTER_WORK_MAX (16u << 20) /* a second or two, for the worst there is */

/* Fields are private. */
typedef struct ms_bt_filter_eval {
    ms_bt_cell *cells; /* a stack: each level of the tree pushes its result */
    uint32_t count;
    uint32_t capacity;
    uint32_t work; /* cells that the filters looked at, for this row */
} ms_bt_filter_eval;

void ms_bt_filter_eval_init(ms_bt_filter_eval *eval);
void ms_bt_filter_eval_release(ms_bt_filter_eval *eval);

/*
 * Replaces the cells of the page from first_cell to its end, which are one row, by what the filter
 * leaves of them. The filter has passed ms_bt_filter_check and ms_bt_filter_check_built. MS_LIMIT
 * or MS_NO_MEMORY; the page's cells are undefined then.
 */
ms_rc ms_bt_filter_eval_row(ms_bt_filter_eval *eval, const ms_bt_filter *filter, ms_bt_page *page,
                            uint32_t first_cell, ms_status *st) MS_MUST_USE;

/* Puts the cells from first_cell on in the order of a row; equal ones keep their order.
 * MS_NO_MEMORY. */
ms_rc ms_bt_page_sort_row(ms_bt_page *page, uint32_t first_cell, ms_status *st) MS_MUST_USE;

#endif
