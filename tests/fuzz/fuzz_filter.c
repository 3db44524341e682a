/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of filters. The input chooses a tree and a row. With an even first byte the tree is
 * one whose meaning the plain evaluator of the unit tests knows, and the results must be the same;
 * with an odd one it is any tree, right or wrong, with any texts, and what can be said of it must
 * agree: the check and the compiler, a copy and its original, the row and the predicate.
 */
#include "base/memory.h"
#include "bigtable/model/filter_naive.h"
#include "bigtable/model/filter_run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static const ms_bt_family families[] = {
    {.name = {"aB", 2}}, {.name = {"B", 1}}, {.name = {"a", 1}}};
static const ms_str names[] = {{"aB", 2}, {"B", 1}, {"a", 1}};
static const ms_bt_table table = {
    .name = {.project = {"p", 1}, .instance = {"i", 1}, .table = {"t", 1}},
    .families = families,
    .family_count = 3};

/* Any tree. */

static ms_str any_text(naive *n)
{
    size_t bytes = naive_pick(&n->choices, 12);
    char *text = ms_arena_alloc(n->arena, bytes, 1);
    for (size_t i = 0; i < bytes; i++) {
        text[i] = (char)naive_pick(&n->choices, 256);
    }
    return ms_str_make(text, bytes);
}

static ms_bt_bound any_bound(naive *n)
{
    ms_bt_bound bound = {(ms_bt_bound_kind)naive_pick(&n->choices, MS_BT_BOUND_COUNT), {NULL, 0}};
    if (bound.kind != MS_BT_BOUND_NONE) {
        bound.key = any_text(n);
    }
    return bound;
}

/* Only the fields that the kind has, of which any may be wrong. */
static const ms_bt_filter *any_filter(naive *n, unsigned depth)
{
    ms_bt_filter *filter = ms_arena_new(n->arena, ms_bt_filter);
    filter->kind = (ms_bt_filter_kind)naive_pick(&n->choices, MS_BT_FILTER_COUNT);
    filter->is_false = naive_pick(&n->choices, 16) == 15;
    filter->count = (int32_t)naive_pick(&n->choices, 8) - 1;
    filter->probability = (double)naive_pick(&n->choices, 256) / 128.0 - 0.25;
    filter->text = any_text(n);
    filter->bounds = (ms_bt_range){any_bound(n), any_bound(n)};
    filter->start_micros = naive_pick(&n->choices, 5);
    filter->end_micros = naive_pick(&n->choices, 5);
    bool is_condition = filter->kind == MS_BT_FILTER_CONDITION;
    if (!is_condition && filter->kind != MS_BT_FILTER_CHAIN &&
        filter->kind != MS_BT_FILTER_INTERLEAVE) {
        return filter;
    }
    filter->child_count = is_condition ? 3 : naive_pick(&n->choices, 5);
    const ms_bt_filter **children =
        ms_arena_array(n->arena, const ms_bt_filter *, filter->child_count);
    for (size_t i = 0; i < filter->child_count; i++) {
        bool is_left_out = depth == 0 || naive_pick(&n->choices, 8) == 0;
        children[i] = is_left_out ? NULL : any_filter(n, depth - 1);
    }
    filter->children = children;
    return filter;
}

/* Running. */

static void fill_page(ms_bt_page *page, ms_str key, const naive_cells *row)
{
    ms_status st = {0};
    page->families = names;
    page->family_count = 3;
    MS_ASSERT(ms_bt_page_reserve_row(page, key.bytes, &st) == MS_OK);
    ms_bt_page_put(page, key.ptr, key.bytes);
    for (size_t i = 0; i < row->count; i++) {
        const naive_cell *from = &row->list[i];
        MS_ASSERT(ms_bt_page_reserve_cell(page, from->qualifier.bytes + from->value.bytes, &st) ==
                  MS_OK);
        ms_bt_cell *cell = &page->cells[page->cell_count++];
        *cell = (ms_bt_cell){.timestamp_micros = from->micros, .family = (uint16_t)from->family};
        cell->qualifier_at = ms_bt_page_put(page, from->qualifier.ptr, from->qualifier.bytes);
        cell->qualifier_bytes = (uint32_t)from->qualifier.bytes;
        cell->value_at = ms_bt_page_put(page, from->value.ptr, from->value.bytes);
        cell->value_bytes = (uint32_t)from->value.bytes;
    }
}

static naive_cells page_cells(naive *n, const ms_bt_page *page)
{
    naive_cells cells = {ms_arena_array(n->arena, naive_cell, page->cell_count), 0};
    for (uint32_t i = 0; i < page->cell_count; i++) {
        const ms_bt_cell *cell = &page->cells[i];
        MS_ASSERT(cell->label == 0 || cell->label < page->label_count);
        cells.list[cells.count++] =
            (naive_cell){.family = cell->family,
                         .qualifier = ms_arena_copy_str(n->arena, ms_bt_page_qualifier(page, cell)),
                         .micros = cell->timestamp_micros,
                         .value = ms_arena_copy_str(n->arena, ms_bt_page_value(page, cell)),
                         .label = ms_bt_page_label(page, cell)};
    }
    return cells;
}

/* What the program gives of the row; false when that is too much. */
static bool run_program(naive *n, const ms_bt_filter_program *program, const naive_cells *row,
                        naive_cells *cells_out)
{
    /* Canceled from the beginning: what takes more than some ten thousand steps is given up. */
    static const _Atomic bool is_canceled = true;
    ms_status st = {0};
    ms_bt_page page;
    ms_bt_filter_run run;
    bool matches = false;
    ms_bt_page_init(&page);
    fill_page(&page, n->key, row);
    page.labels = program->labels;
    page.label_count = program->label_count;
    MS_ASSERT(ms_bt_filter_run_init(&run, program, 1, &st) == MS_OK);
    run.is_canceled = &is_canceled;
    ms_rc rc = ms_bt_filter_run_matches(&run, n->key, &page, 0, &matches, &st);
    if (rc == MS_OK) {
        ms_bt_filter_run_release(&run);
        MS_ASSERT(ms_bt_filter_run_init(&run, program, 1, &st) == MS_OK);
        run.is_canceled = &is_canceled;
        rc = ms_bt_filter_run_row(&run, n->key, &page, 0, &st);
    }
    if (rc == MS_OK) {
        *cells_out = page_cells(n, &page);
        MS_ASSERT(matches == (cells_out->count > 0));
        MS_ASSERT(naive_is_in_order(n, cells_out));
    }
    MS_ASSERT(rc == MS_OK || rc == MS_CANCELED || rc == MS_LIMIT);
    ms_bt_filter_run_release(&run);
    ms_bt_page_release(&page);
    return rc == MS_OK;
}

/* What can be said without a row. */

static void check_copy(naive *n, const ms_bt_filter *filter, const ms_bt_filter *copy)
{
    ms_status st = {0};
    ms_buf texts[2];
    const ms_bt_filter *filters[2] = {filter, copy};
    for (int i = 0; i < 2; i++) {
        ms_buf_init(&texts[i], 1u << 24);
        MS_ASSERT(ms_bt_filter_render(filters[i], &texts[i], &st) == MS_OK);
    }
    MS_ASSERT(ms_str_equals(ms_buf_view(&texts[0]), ms_buf_view(&texts[1])));
    MS_ASSERT(ms_bt_filter_wire_bytes(filter) == ms_bt_filter_wire_bytes(copy));
    ms_buf_release(&texts[0]);
    ms_buf_release(&texts[1]);
    (void)n;
}

static void check_filter(naive *n, const ms_bt_filter *filter, const naive_cells *row,
                         bool has_meaning)
{
    ms_bt_status checked = {0};
    ms_bt_status bt = {0};
    const ms_bt_filter_program *program = NULL;
    const ms_bt_filter_program *again = NULL;
    const ms_bt_filter *copy = ms_bt_filter_copy(n->arena, filter);
    check_copy(n, filter, copy);
    ms_bt_code code = ms_bt_filter_compile(filter, &table, n->arena, &program, &bt);
    MS_ASSERT((ms_bt_filter_check(copy, &checked) == MS_BT_OK) ==
              (code == MS_BT_OK || code == MS_BT_NOT_FOUND));
    if (code != MS_BT_OK) {
        return;
    }
    MS_ASSERT(ms_bt_filter_compile(copy, &table, n->arena, &again, &bt) == MS_BT_OK);
    naive_cells cells;
    naive_cells cells_again;
    if (!run_program(n, program, row, &cells)) {
        return;
    }
    MS_ASSERT(run_program(n, again, row, &cells_again));
    if (cells.count > NAIVE_CELLS_MAX) {
        /* Comparing takes the square of that. */
        return;
    }
    MS_ASSERT(naive_same_cells(n, &cells, &cells_again));
    if (has_meaning) {
        naive_cells expected = naive_row(n, filter, row);
        MS_ASSERT(n->is_too_large || naive_same_cells(n, &cells, &expected));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (bytes == 0) {
        return 0;
    }
    ms_arena arena;
    ms_arena_init(&arena, 0);
    naive n = {.arena = &arena, .table = &table, .choices = {.bytes = data + 1, .left = bytes - 1}};
    bool has_meaning = (data[0] & 1) == 0;
    n.key = naive_text(&n, 1, 3);
    naive_cells row = naive_random_row(&n);
    const ms_bt_filter *filter = has_meaning ? naive_grow(&n, 4) : any_filter(&n, 5);
    check_filter(&n, filter, &row, has_meaning);
    ms_arena_release(&arena);
    return 0;
}
