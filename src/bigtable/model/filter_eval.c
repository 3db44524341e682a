/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The evaluator of filters over the cells of one row. Each filter maps a run of cells on the
 * scratch stack to a run behind it, which then slides down over its input:
 *
 *     | input .......... |                       chain: each child slides its output down
 *     | input .......... | out 1 | out 2 |       interleave: children push, then merge and slide
 */
#include "bigtable/model/filter_eval.h"

#include "base/memory.h"

#include <stdlib.h>

typedef struct walk {
    ms_bt_filter_eval *eval;
    const ms_bt_page *page;
} walk;

void ms_bt_filter_eval_init(ms_bt_filter_eval *eval)
{
    *eval = (ms_bt_filter_eval){0};
}

void ms_bt_filter_eval_release(ms_bt_filter_eval *eval)
{
    ms_mem_free(eval->cells);
    ms_bt_filter_eval_init(eval);
}

static ms_rc reserve(ms_bt_filter_eval *eval, uint32_t more, ms_status *st)
{
    if (more > MS_BT_FILTER_CELLS_MAX - eval->count) {
        return ms_status_set(st, MS_LIMIT, ms_span_none,
                             "a filter makes more than %u cells of one row",
                             MS_BT_FILTER_CELLS_MAX);
    }
    uint32_t needed = eval->count + more;
    if (needed <= eval->capacity) {
        return MS_OK;
    }
    uint32_t capacity = eval->capacity == 0 ? 256 : eval->capacity;
    while (capacity < needed) {
        capacity *= 2;
    }
    ms_bt_cell *cells = ms_mem_try_realloc(eval->cells, capacity * sizeof(ms_bt_cell));
    if (cells == NULL) {
        return ms_mem_refuse(capacity * sizeof(ms_bt_cell), st);
    }
    eval->cells = cells;
    eval->capacity = capacity;
    return MS_OK;
}

static bool same_column(const ms_bt_page *page, const ms_bt_cell *a, const ms_bt_cell *b)
{
    return a->family == b->family &&
           ms_str_equals(ms_bt_page_qualifier(page, a), ms_bt_page_qualifier(page, b));
}

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

static ms_rc eval_filter(walk *w, const ms_bt_filter *filter, uint32_t start, ms_status *st);

/* Keeps the cells for which the filter's test holds; all tests look back at most one column. */
static void eval_simple(walk *w, const ms_bt_filter *filter, uint32_t start)
{
    ms_bt_filter_eval *eval = w->eval;
    uint32_t out = start;
    uint32_t in_column = 0;
    ms_bt_cell previous = {0};
    for (uint32_t i = start; i < eval->count; i++) {
        ms_bt_cell cell = eval->cells[i];
        uint32_t in_row = i - start;
        in_column = i > start && same_column(w->page, &previous, &cell) ? in_column + 1 : 0;
        previous = cell;
        bool keep = true;
        if (filter->kind == MS_BT_FILTER_FAMILY) {
            keep = ms_str_equals(ms_bt_page_family(w->page, &cell), filter->text);
        } else if (filter->kind == MS_BT_FILTER_CELLS_PER_ROW_LIMIT) {
            keep = in_row < (uint32_t)filter->count;
        } else if (filter->kind == MS_BT_FILTER_CELLS_PER_ROW_OFFSET) {
            keep = in_row >= (uint32_t)filter->count;
        } else if (filter->kind == MS_BT_FILTER_CELLS_PER_COLUMN_LIMIT) {
            keep = in_column < (uint32_t)filter->count;
        } else {
            MS_ASSERT(filter->kind == MS_BT_FILTER_STRIP_VALUE);
            cell.value_bytes = 0;
        }
        if (keep) {
            eval->cells[out++] = cell;
        }
    }
    eval->count = out;
}

static ms_rc eval_interleave(walk *w, const ms_bt_filter *filter, uint32_t start, ms_status *st)
{
    ms_bt_filter_eval *eval = w->eval;
    uint32_t input = eval->count - start;
    uint32_t output = eval->count;
    for (size_t i = 0; i < filter->child_count; i++) {
        MS_TRY(reserve(eval, input, st));
        if (input > 0) {
            memcpy(eval->cells + eval->count, eval->cells + start, input * sizeof(ms_bt_cell));
        }
        uint32_t child_start = eval->count;
        eval->count += input;
        MS_TRY(eval_filter(w, filter->children[i], child_start, st));
    }
    uint32_t made = eval->count - output;
    eval->count = start + made;
    if (made == 0) {
        return MS_OK;
    }
    memmove(eval->cells + start, eval->cells + output, made * sizeof(ms_bt_cell));
    return sort_cells(w->page, eval->cells + start, made, st);
}

/* Turns the cells from start to the top of the stack into what the filter leaves of them. */
static ms_rc eval_filter(walk *w, const ms_bt_filter *filter, uint32_t start, ms_status *st)
{
    if (filter == NULL || filter->kind == MS_BT_FILTER_PASS_ALL) {
        return MS_OK;
    }
    w->eval->work += w->eval->count - start;
    if (w->eval->work > MS_BT_FILTER_WORK_MAX) {
        return ms_status_set(st, MS_LIMIT, ms_span_none,
                             "a filter looks at more than %u cells for one row",
                             MS_BT_FILTER_WORK_MAX);
    }
    if (filter->kind == MS_BT_FILTER_BLOCK_ALL) {
        w->eval->count = start;
        return MS_OK;
    }
    if (filter->kind == MS_BT_FILTER_INTERLEAVE) {
        return eval_interleave(w, filter, start, st);
    }
    if (filter->kind == MS_BT_FILTER_CHAIN) {
        for (size_t i = 0; i < filter->child_count; i++) {
            MS_TRY(eval_filter(w, filter->children[i], start, st));
        }
        return MS_OK;
    }
    eval_simple(w, filter, start);
    return MS_OK;
}

ms_rc ms_bt_filter_eval_row(ms_bt_filter_eval *eval, const ms_bt_filter *filter, ms_bt_page *page,
                            uint32_t first_cell, ms_status *st)
{
    uint32_t count = page->cell_count - first_cell;
    eval->count = 0;
    eval->work = 0;
    MS_TRY(reserve(eval, count, st));
    if (count > 0) {
        memcpy(eval->cells, page->cells + first_cell, count * sizeof(ms_bt_cell));
    }
    eval->count = count;
    walk w = {eval, page};
    MS_TRY(eval_filter(&w, filter, 0, st));
    page->cell_count = first_cell;
    for (uint32_t i = 0; i < eval->count; i++) {
        MS_TRY(ms_bt_page_reserve_cell(page, 0, st));
        page->cells[page->cell_count++] = eval->cells[i];
    }
    return MS_OK;
}
