/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Running a filter over rows. Every filter of the service gives, for each cell of a row, a number
 * of copies of that cell, each as it was or stripped of its value, each with a label or without;
 * and copies of a cell are neighbors in the result. So cells can run through one by one, as they
 * come out of a store, in the order of a row: family by name, qualifier, newest first. (A filter
 * that does not count over families takes these in any order.)
 *
 *     ms_bt_filter_run run;
 *     ms_bt_filter_run_init(&run, program, ms_env_next_seed());
 *     for each row {
 *         ms_bt_filter_run_begin_row(&run, key);
 *         for each column {
 *             ms_bt_filter_run_begin_column(&run, family, qualifier);
 *             for each cell {
 *                 verdict = ms_bt_filter_run_cell(&run, timestamp_micros, value);
 *                 for (uint32_t i = 0; i < run.copy_count; i++) { keep run.copies[i] }
 *             }
 *         }
 *     }
 *
 * The exception is a filter with a condition, which must see a row to its end before it gives the
 * first cell: program->needs_rows. ms_bt_filter_run_row takes every filter, and a whole row.
 *
 * Ownership: the run owns its scratch; the program outlives it. Views that are passed in are kept
 * until the next row or column begins. Thread: one at a time; is_canceled may be set by another.
 * Limits: copies beyond the first of a cell, MS_BT_FILTER_COPIES_MAX a row; steps, as many as
 * MS_BT_FILTER_STEPS_MAX and MS_BT_FILTER_CELL_STEPS_MAX more a cell, so that no filter of legal
 * size hangs a scan; instructions times bytes for regular expressions, MS_BT_FILTER_REGEX_WORK_MAX
 * and MS_BT_FILTER_REGEX_SIZE_FREE more a byte.
 */
#ifndef MS_BIGTABLE_MODEL_FILTER_RUN_H
#define MS_BIGTABLE_MODEL_FILTER_RUN_H

#include "base/env.h"
#include "bigtable/model/filter_program.h"
#include "bigtable/model/page.h"

#define MS_BT_FILTER_COPIES_MAX (1u << 20)
#define MS_BT_FILTER_STEPS_MAX (UINT64_C(64) << 20)     /* half a second or so */
#define MS_BT_FILTER_CELL_STEPS_MAX UINT64_C(1024)      /* wide filters over large rows */
#define MS_BT_FILTER_REGEX_WORK_MAX (UINT64_C(2) << 30) /* ten seconds, for the worst there is */
#define MS_BT_FILTER_REGEX_SIZE_FREE 16u /* smaller ones pass over rows of any size */

/* What becomes of a cell, and what follows for its neighbors; what is dropped gives no copy. */
typedef enum ms_bt_verdict {
    MS_BT_VERDICT_KEEP,
    MS_BT_VERDICT_DROP,
    MS_BT_VERDICT_DROP_COLUMN, /* nothing further in this column gives anything or is counted */
    MS_BT_VERDICT_DROP_FAMILY, /* nor in this family */
    MS_BT_VERDICT_DROP_ROW,    /* nor in this row */
    MS_BT_VERDICT_FAILED       /* ms_bt_filter_run_fail says why; the row is lost */
} ms_bt_verdict;

typedef struct ms_bt_cell_copy {
    uint16_t label; /* an index into the program's labels; 0: none */
    bool is_stripped;
} ms_bt_cell_copy;

struct msi_filter_state;
struct msi_filter_path;

/* Read copies and copy_count freely, set is_canceled; the rest is private. */
typedef struct ms_bt_filter_run {
    const ms_bt_cell_copy *copies; /* of the last cell */
    uint32_t copy_count;
    const _Atomic bool *is_canceled; /* NULL: never; looked at every now and then */

    const ms_bt_filter_program *program;
    struct msi_filter_state *states; /* one a node that remembers */
    struct msi_filter_path *paths;   /* a stack: forks that are not taken yet */
    ms_bt_cell_copy *copy_list;
    uint32_t copy_capacity;
    ms_bt_cell *cells; /* what a whole row gives */
    uint32_t cell_count;
    uint32_t cell_capacity;
    ms_env_random random;
    ms_str key;
    uint32_t family;
    ms_str qualifier;
    uint8_t *choices; /* by condition: the child that cells go to */
    uint32_t path_count;
    uint64_t row_epoch;
    uint64_t pass_epoch; /* whole rows are run more than once */
    uint64_t column_epoch;
    uint64_t steps; /* of this row, like those up to extra_copies */
    uint64_t steps_max;
    uint64_t regex_work;
    uint64_t regex_work_max;
    uint32_t extra_copies;
    uint32_t condition; /* the one whose predicate is being run */
    bool has_match;     /* the predicate gave a cell */
    int failure;
} ms_bt_filter_run;

/* The seed is for ROW_SAMPLE. Allocates its scratch: MS_NO_MEMORY. */
ms_rc ms_bt_filter_run_init(ms_bt_filter_run *run, const ms_bt_filter_program *program,
                            uint64_t seed, ms_status *st) MS_MUST_USE;

/* Takes a zero-initialized run too. */
void ms_bt_filter_run_release(ms_bt_filter_run *run);

/* Cell by cell, for programs that do not need rows. The qualifier is only looked at when the
 * program tests qualifiers, and the value likewise; either may be empty otherwise. */
void ms_bt_filter_run_begin_row(ms_bt_filter_run *run, ms_str key);
void ms_bt_filter_run_begin_column(ms_bt_filter_run *run, uint32_t family, ms_str qualifier);
ms_bt_verdict ms_bt_filter_run_cell(ms_bt_filter_run *run, int64_t timestamp_micros, ms_str value);

/* The reason of the last MS_BT_VERDICT_FAILED: MS_LIMIT, MS_NO_MEMORY or MS_CANCELED. */
ms_rc ms_bt_filter_run_fail(const ms_bt_filter_run *run, ms_status *st);

/*
 * Replaces the cells of the page from first_cell to its end, which are one row in order, by what
 * the filter gives; labels are set. MS_LIMIT, MS_NO_MEMORY or MS_CANCELED; the page's cells are
 * undefined then.
 */
ms_rc ms_bt_filter_run_row(ms_bt_filter_run *run, ms_str key, ms_bt_page *page, uint32_t first_cell,
                           ms_status *st) MS_MUST_USE;

/* Whether the filter gives any cell of such a row, which stays as it is: the predicate of
 * CheckAndMutateRow. */
ms_rc ms_bt_filter_run_matches(ms_bt_filter_run *run, ms_str key, const ms_bt_page *page,
                               uint32_t first_cell, bool *matches_out, ms_status *st) MS_MUST_USE;

#endif
