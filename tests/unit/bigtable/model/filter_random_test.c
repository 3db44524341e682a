/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random filters on random rows, against a second, plain evaluator (filter_naive.h). Every filter
 * is run over whole rows, as a predicate, and cell by cell; the last with everything left out that
 * the program says does not matter, and with neighbors passed over as the verdicts allow.
 */
#include "testing.h"

#include "bigtable/model/filter_naive.h"
#include "bigtable/model/filter_run.h"

/* In no order, so that an index is not mistaken for a rank. */
static const ms_bt_family families[] = {
    {.name = {"aB", 2}}, {.name = {"B", 1}}, {.name = {"a", 1}}};
static const ms_str names[] = {{"aB", 2}, {"B", 1}, {"a", 1}};
static const ms_bt_table table = {
    .name = {.project = {"p", 1}, .instance = {"i", 1}, .table = {"t", 1}},
    .families = families,
    .family_count = 3};

typedef struct fixture {
    ms_arena arena;
    naive n;
    ms_bt_page page;
    const ms_bt_filter *filter;
    const ms_bt_filter_program *program;
    ms_bt_filter_run run;
} fixture;

/* Whether the program says that the cell matters. */
static bool is_wanted(const ms_bt_filter_program *program, const naive_cell *cell)
{
    return ms_bt_filter_program_wants(program, cell->family) &&
           ms_bt_range_contains(&program->qualifiers, cell->qualifier);
}

/* Only the cells that the program wants, if there is one. */
static void fill_page(ms_bt_page *page, const naive_cells *row, const ms_bt_filter_program *program)
{
    ms_status st = {0};
    ms_bt_page_reset(page, 1u << 20);
    for (size_t i = 0; i < row->count; i++) {
        const naive_cell *from = &row->list[i];
        if (program != NULL && !is_wanted(program, from)) {
            continue;
        }
        assert_ok(ms_bt_page_reserve_cell(page, from->qualifier.bytes + from->value.bytes, &st));
        ms_bt_cell *cell = &page->cells[page->cell_count++];
        *cell = (ms_bt_cell){.timestamp_micros = from->micros, .family = (uint16_t)from->family};
        cell->qualifier_at = ms_bt_page_put(page, from->qualifier.ptr, from->qualifier.bytes);
        cell->qualifier_bytes = (uint32_t)from->qualifier.bytes;
        cell->value_at = ms_bt_page_put(page, from->value.ptr, from->value.bytes);
        cell->value_bytes = (uint32_t)from->value.bytes;
    }
}

static void assert_same(fixture *f, const naive_cells *got, const naive_cells *expected,
                        const char *how)
{
    assert_true(naive_is_in_order(&f->n, got));
    if (naive_same_cells(&f->n, got, expected)) {
        return;
    }
    ms_status st = {0};
    ms_buf text;
    ms_buf_init(&text, 1u << 20);
    assert_ok(ms_bt_filter_render(f->filter, &text, &st));
    fail_msg("%s: %zu cells, expected %zu: %.*s", how, got->count, expected->count,
             MS_STR_ARG(ms_buf_view(&text)));
}

static void check_whole_row(fixture *f, const naive_cells *row, const naive_cells *expected)
{
    ms_status st = {0};
    fill_page(&f->page, row, NULL);
    bool matches = false;
    assert_ok(ms_bt_filter_run_matches(&f->run, f->n.key, &f->page, 0, &matches, &st));
    assert_int_equal(matches, expected->count > 0);
    fill_page(&f->page, row, f->program);
    assert_ok(ms_bt_filter_run_row(&f->run, f->n.key, &f->page, 0, &st));
    naive_cells got = {ms_arena_array(&f->arena, naive_cell, f->page.cell_count), 0};
    f->page.labels = f->program->labels;
    for (uint32_t i = 0; i < f->page.cell_count; i++) {
        const ms_bt_cell *cell = &f->page.cells[i];
        got.list[got.count++] =
            (naive_cell){cell->family, ms_bt_page_qualifier(&f->page, cell), cell->timestamp_micros,
                         ms_bt_page_value(&f->page, cell), ms_bt_page_label(&f->page, cell)};
    }
    assert_same(f, &got, expected, "whole row");
}

/* Whether a scan that obeys the verdict would have passed over the next cell. */
static bool is_passed_over(ms_bt_verdict verdict, const naive_cell *last, const naive_cell *next)
{
    if (verdict == MS_BT_VERDICT_DROP_COLUMN) {
        return last->family == next->family && ms_str_equals(last->qualifier, next->qualifier);
    }
    return verdict == MS_BT_VERDICT_DROP_ROW ||
           (verdict == MS_BT_VERDICT_DROP_FAMILY && last->family == next->family);
}

static void check_cells(fixture *f, const naive_cells *row, const naive_cells *expected)
{
    const ms_bt_filter_program *program = f->program;
    naive_cells got = {ms_arena_array(&f->arena, naive_cell, expected->count + 1), 0};
    ms_bt_verdict verdict = MS_BT_VERDICT_KEEP;
    const naive_cell *last = NULL;
    const naive_cell *passed = NULL;
    bool sees_values = program->tests_values || program->gives_values;
    ms_bt_filter_run_begin_row(&f->run, f->n.key);
    for (size_t i = 0; i < row->count; i++) {
        const naive_cell *cell = &row->list[i];
        if (!is_wanted(program, cell) ||
            (passed != NULL && is_passed_over(verdict, passed, cell))) {
            continue;
        }
        if (last == NULL || last->family != cell->family ||
            !ms_str_equals(last->qualifier, cell->qualifier)) {
            ms_str qualifier = program->tests_qualifiers ? cell->qualifier : (ms_str){NULL, 0};
            ms_bt_filter_run_begin_column(&f->run, cell->family, qualifier);
        }
        last = cell;
        verdict = ms_bt_filter_run_cell(&f->run, cell->micros,
                                        sees_values ? cell->value : (ms_str){NULL, 0});
        passed = cell;
        assert_int_not_equal(verdict, MS_BT_VERDICT_FAILED);
        assert_int_equal(verdict == MS_BT_VERDICT_KEEP, f->run.copy_count > 0);
        for (uint32_t c = 0; c < f->run.copy_count && got.count <= expected->count; c++) {
            naive_cell copy = *cell;
            ms_bt_cell_copy how = f->run.copies[c];
            assert_true(how.is_stripped || program->gives_values);
            copy.value.bytes = how.is_stripped ? 0 : copy.value.bytes;
            copy.label = how.label == 0 ? (ms_str){NULL, 0} : program->labels[how.label];
            got.list[got.count++] = copy;
        }
    }
    assert_same(f, &got, expected, "cell by cell");
}

static bool has_key(const ms_bt_ranges *keys, ms_str key)
{
    for (size_t i = 0; i < keys->count; i++) {
        if (ms_bt_range_contains(&keys->list[i], key)) {
            return true;
        }
    }
    return false;
}

typedef struct tally {
    unsigned filters;
    unsigned cells;      /* given */
    unsigned rows;       /* that gave something */
    unsigned excluded;   /* by their keys */
    unsigned conditions; /* programs with any */
} tally;

static void check_filter(fixture *f, tally *sums)
{
    ms_status st = {0};
    assert_ok(ms_bt_filter_run_init(&f->run, f->program, 1, &st));
    sums->filters++;
    sums->conditions += f->program->needs_rows;
    for (int i = 0; i < 6; i++) {
        naive_cells row = naive_random_row(&f->n);
        f->n.key = naive_text(&f->n, 1, 3);
        naive_cells expected = naive_row(&f->n, f->filter, &row);
        if (f->n.is_too_large) {
            break;
        }
        if (!has_key(&f->program->keys, f->n.key)) {
            assert_int_equal(expected.count, 0);
            sums->excluded++;
        }
        check_whole_row(f, &row, &expected);
        if (!f->program->needs_rows) {
            check_cells(f, &row, &expected);
        }
        assert_true(!f->program->blocks || expected.count == 0);
        assert_true(!f->program->passes || expected.count == row.count);
        sums->cells += (unsigned)expected.count;
        sums->rows += expected.count > 0;
    }
    ms_bt_filter_run_release(&f->run);
}

static void check_tree(fixture *f)
{
    ms_status st = {0};
    ms_buf one;
    ms_buf two;
    ms_buf_init(&one, 1u << 20);
    ms_buf_init(&two, 1u << 20);
    const ms_bt_filter *copy = ms_bt_filter_copy(&f->arena, f->filter);
    assert_ok(ms_bt_filter_render(f->filter, &one, &st));
    assert_ok(ms_bt_filter_render(copy, &two, &st));
    assert_true(ms_str_equals(ms_buf_view(&one), ms_buf_view(&two)));
    assert_int_equal(ms_bt_filter_wire_bytes(f->filter), ms_bt_filter_wire_bytes(copy));
    ms_buf_release(&one);
    ms_buf_release(&two);
}

static void random_filters_mean_what_they_should(void **state)
{
    (void)state;
    tally sums = {0};
    fixture f = {0};
    ms_arena_init(&f.arena, 1u << 16);
    ms_bt_page_init(&f.page);
    f.page.families = names;
    f.page.family_count = 3;
    for (uint64_t seed = 0; seed < 12000; seed++) {
        ms_arena_reset(&f.arena);
        f.n = (naive){.arena = &f.arena, .table = &table};
        ms_env_random_init(&f.n.choices.random, seed);
        f.filter = naive_grow(&f.n, (unsigned)(seed % 5));
        check_tree(&f);
        ms_bt_status bt = {0};
        ms_bt_code code = ms_bt_filter_compile(f.filter, &table, &f.arena, &f.program, &bt);
        ms_bt_status checked = {0};
        assert_int_equal(ms_bt_filter_check(f.filter, &checked),
                         code == MS_BT_NOT_FOUND ? MS_BT_OK : code);
        if (code == MS_BT_OK) {
            check_filter(&f, &sums);
        }
    }
    ms_bt_page_release(&f.page);
    ms_arena_release(&f.arena);
    /* The test means nothing when filters give nothing, or are refused. */
    assert_true(sums.filters > 8000);
    assert_true(sums.conditions > 1000);
    assert_true(sums.rows > 10000);
    assert_true(sums.cells > 50000);
    assert_true(sums.excluded > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_filters_mean_what_they_should),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
