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
 * Limits: interleaves duplicate cells; a row may leave with at most MS_BT_FILTER_CELLS_MAX.
 */
#ifndef MS_BIGTABLE_MODEL_FILTER_EVAL_H
#define MS_BIGTABLE_MODEL_FILTER_EVAL_H

#include "bigtable/model/filter.h"
#include "bigtable/model/page.h"

#define MS_BT_FILTER_CELLS_MAX (8u << 20) /* 256 MiB of cell records, as much as a row may weigh */

/* Fields are private. */
typedef struct ms_bt_filter_eval {
    ms_bt_cell *cells; /* a stack: each level of the tree pushes its result */
    uint32_t count;
    uint32_t capacity;
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

/* Puts the cells from first_cell on in the order of a row; equal ones keep their order. */
void ms_bt_page_sort_row(ms_bt_page *page, uint32_t first_cell);

#endif
