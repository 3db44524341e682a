/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells through the graph of a filter. A cell takes one path at a time; forks put the other ways on
 * a stack, so that nothing recurses. The verdict on a cell is the weakest of all its paths': only
 * what every path would drop may be passed over.
 *
 * Answers that hold for a row or a column are kept in states with an epoch, which makes all of them
 * stale at once when the next row or column begins.
 *
 * A condition needs its predicate's answer before the first cell goes into a branch. A row is run
 * once for each condition, the outer and the earlier ones first: cells are led to the predicate in
 * question, and the first that gets through it ends the run.
 */
#include "bigtable/model/filter_run.h"

#include "base/memory.h"
#include "bigtable/model/filter_graph.h"

#define NO_CONDITION UINT32_MAX
/* Steps between two looks at the cancel flag, less one. */
#define CANCEL_MASK UINT64_C(0xffff)

typedef struct msi_filter_state {
    uint64_t epoch;
    uint32_t seen;
    bool holds;
} msi_filter_state;

typedef struct msi_filter_path {
    const msi_filter_node *node;
    uint16_t label;
    bool is_stripped;
} msi_filter_path;

/* The cell that is run. */
typedef struct subject {
    int64_t micros;
    ms_str value;
} subject;

typedef enum failure {
    FAIL_NONE,
    FAIL_CANCELED,
    FAIL_COPIES,
    FAIL_STEPS,
    FAIL_REGEX,
    FAIL_MEMORY
} failure;

/* Life. */

ms_rc ms_bt_filter_run_init(ms_bt_filter_run *run, const ms_bt_filter_program *program,
                            uint64_t seed, ms_status *st)
{
    *run = (ms_bt_filter_run){.program = program, .condition = NO_CONDITION};
    ms_env_random_init(&run->random, seed);
    size_t states = program->state_count;
    size_t paths = program->way_count;
    size_t conditions = program->condition_count;
    /* One allocation more than is needed is cheaper than three cases of none. */
    run->states = ms_mem_try_calloc(states + 1, sizeof(*run->states));
    run->paths = ms_mem_try_calloc(paths + 1, sizeof(*run->paths));
    run->choices = ms_mem_try_calloc(conditions + 1, sizeof(*run->choices));
    if (run->states == NULL || run->paths == NULL || run->choices == NULL) {
        ms_bt_filter_run_release(run);
        return ms_mem_refuse(states * sizeof(*run->states) + paths * sizeof(*run->paths), st);
    }
    return MS_OK;
}

void ms_bt_filter_run_release(ms_bt_filter_run *run)
{
    ms_mem_free(run->states);
    ms_mem_free(run->paths);
    ms_mem_free(run->choices);
    ms_mem_free(run->copy_list);
    ms_mem_free(run->cells);
    *run = (ms_bt_filter_run){0};
}

static ms_bt_verdict fail(ms_bt_filter_run *run, failure reason)
{
    run->failure = (int)reason;
    return MS_BT_VERDICT_FAILED;
}

ms_rc ms_bt_filter_run_fail(const ms_bt_filter_run *run, ms_status *st)
{
    switch ((failure)run->failure) {
    case FAIL_CANCELED:
        return ms_status_set(st, MS_CANCELED, ms_span_none, "the read was canceled");
    case FAIL_COPIES:
        return ms_status_set(st, MS_LIMIT, ms_span_none,
                             "a filter makes more than %u copies of cells of one row",
                             MS_BT_FILTER_COPIES_MAX);
    case FAIL_STEPS:
        return ms_status_set(st, MS_LIMIT, ms_span_none,
                             "a filter takes more than %llu steps for one row",
                             (unsigned long long)run->steps_max);
    case FAIL_REGEX:
        return ms_status_set(st, MS_LIMIT, ms_span_none,
                             "the regular expressions of a filter are too large for the values of "
                             "one row");
    case FAIL_MEMORY:
        return ms_status_set(st, MS_NO_MEMORY, ms_span_none, "out of memory in a filter");
    case FAIL_NONE:
        break;
    }
    MS_ASSERT(false);
    return MS_INTERNAL;
}

/* Tests. Each gives KEEP, or how much may be dropped as far as this node knows. */

static ms_bt_verdict match(ms_bt_filter_run *run, const msi_regex *regex, ms_str text,
                           ms_bt_verdict otherwise)
{
    if (!regex->is_literal) {
        run->regex_work_max += text.bytes * MS_BT_FILTER_REGEX_SIZE_FREE;
        run->regex_work += (text.bytes + 1) * regex->size;
        if (run->regex_work > run->regex_work_max) {
            return fail(run, FAIL_REGEX);
        }
    }
    int matches = msi_regex_match(regex, text);
    if (matches < 0) {
        return fail(run, FAIL_MEMORY);
    }
    return matches > 0 ? MS_BT_VERDICT_KEEP : otherwise;
}

/* The state of a node, made anew when it is not of this epoch. */
static msi_filter_state *state_of(ms_bt_filter_run *run, const msi_filter_node *node,
                                  uint64_t epoch, bool *is_new_out)
{
    msi_filter_state *state = &run->states[node->state];
    *is_new_out = state->epoch != epoch;
    if (*is_new_out) {
        *state = (msi_filter_state){.epoch = epoch};
    }
    return state;
}

/* An answer that holds for the row or column: asked once, kept. */
static ms_bt_verdict match_once(ms_bt_filter_run *run, const msi_filter_node *node, ms_str text,
                                uint64_t epoch, ms_bt_verdict otherwise)
{
    bool is_new = false;
    msi_filter_state *state = state_of(run, node, epoch, &is_new);
    if (is_new) {
        ms_bt_verdict verdict = match(run, node->regex, text, otherwise);
        if (verdict == MS_BT_VERDICT_FAILED) {
            return verdict;
        }
        state->holds = verdict == MS_BT_VERDICT_KEEP;
    }
    return state->holds ? MS_BT_VERDICT_KEEP : otherwise;
}

static ms_bt_verdict sample(ms_bt_filter_run *run, const msi_filter_node *node)
{
    bool is_new = false;
    msi_filter_state *state = state_of(run, node, run->row_epoch, &is_new);
    if (is_new) {
        state->holds = ms_env_random_unit(&run->random) < node->filter->probability;
    }
    return state->holds ? MS_BT_VERDICT_KEEP : MS_BT_VERDICT_DROP_ROW;
}

/* How many cells came before this one, in the row or column. */
static uint32_t count(ms_bt_filter_run *run, const msi_filter_node *node, uint64_t epoch)
{
    bool is_new = false;
    msi_filter_state *state = state_of(run, node, epoch, &is_new);
    uint32_t seen = state->seen;
    state->seen += seen != UINT32_MAX;
    return seen;
}

/* Qualifiers ascend: behind the bounds, no column of the family is within them any more. */
static ms_bt_verdict beside(const ms_bt_filter_run *run, const msi_filter_node *node)
{
    return ms_bt_range_side(&node->bounds, run->qualifier) < 0 ? MS_BT_VERDICT_DROP_FAMILY
                                                               : MS_BT_VERDICT_DROP_COLUMN;
}

static ms_bt_verdict test_qualifier_range(const ms_bt_filter_run *run, const msi_filter_node *node)
{
    return ms_bt_range_contains(&node->bounds, run->qualifier) ? MS_BT_VERDICT_KEEP
                                                               : beside(run, node);
}

static ms_bt_verdict test_qualifier_regex(ms_bt_filter_run *run, const msi_filter_node *node)
{
    ms_bt_verdict verdict =
        match_once(run, node, run->qualifier, run->column_epoch, MS_BT_VERDICT_DROP_COLUMN);
    return verdict == MS_BT_VERDICT_DROP_COLUMN ? beside(run, node) : verdict;
}

static ms_bt_verdict test_times(const ms_bt_filter *filter, int64_t micros)
{
    if (micros < filter->start_micros) {
        return MS_BT_VERDICT_DROP_COLUMN;
    }
    return filter->end_micros == 0 || micros < filter->end_micros ? MS_BT_VERDICT_KEEP
                                                                  : MS_BT_VERDICT_DROP;
}

static bool has_bits(ms_str value, ms_str mask)
{
    if (value.bytes != mask.bytes) {
        return false;
    }
    unsigned missing = 0;
    for (size_t i = 0; i < mask.bytes; i++) {
        missing |= (unsigned char)mask.ptr[i] & ~(unsigned)(unsigned char)value.ptr[i];
    }
    return missing == 0;
}

static ms_bt_verdict keep_if(bool holds)
{
    return holds ? MS_BT_VERDICT_KEEP : MS_BT_VERDICT_DROP;
}

static ms_bt_verdict test(ms_bt_filter_run *run, const msi_filter_node *node, const subject *cell,
                          bool is_stripped)
{
    ms_str value = is_stripped ? (ms_str){NULL, 0} : cell->value;
    switch (node->op) {
    case MSI_OP_ROW_REGEX:
        return match_once(run, node, run->key, run->row_epoch, MS_BT_VERDICT_DROP_ROW);
    case MSI_OP_ROW_SAMPLE:
        return sample(run, node);
    case MSI_OP_FAMILIES:
        return (node->families[run->family / 64] >> (run->family % 64) & 1) != 0
                   ? MS_BT_VERDICT_KEEP
                   : MS_BT_VERDICT_DROP_FAMILY;
    case MSI_OP_QUALIFIER_REGEX:
        return test_qualifier_regex(run, node);
    case MSI_OP_QUALIFIER_RANGE:
        return test_qualifier_range(run, node);
    case MSI_OP_TIMES:
        return test_times(node->filter, cell->micros);
    case MSI_OP_VALUE_REGEX:
        return match(run, node->regex, value, MS_BT_VERDICT_DROP);
    case MSI_OP_VALUE_RANGE:
        return keep_if(ms_bt_range_contains(&node->bounds, value));
    case MSI_OP_VALUE_BITMASK:
        return keep_if(has_bits(value, node->filter->text));
    case MSI_OP_ROW_OFFSET:
        return keep_if(count(run, node, run->pass_epoch) >= node->limit);
    case MSI_OP_ROW_LIMIT:
        return count(run, node, run->pass_epoch) < node->limit ? MS_BT_VERDICT_KEEP
                                                               : MS_BT_VERDICT_DROP_ROW;
    case MSI_OP_COLUMN_LIMIT:
        return count(run, node, run->column_epoch) < node->limit ? MS_BT_VERDICT_KEEP
                                                                 : MS_BT_VERDICT_DROP_COLUMN;
    case MSI_OP_BLOCK:
        return MS_BT_VERDICT_DROP_ROW;
    case MSI_OP_EMIT:
    case MSI_OP_MATCH:
    case MSI_OP_FORK:
    case MSI_OP_CONDITION:
    case MSI_OP_STRIP:
    case MSI_OP_LABEL:
        break;
    }
    MS_ASSERT(false);
    return MS_BT_VERDICT_DROP;
}

/* Paths. */

static ms_bt_verdict emit(ms_bt_filter_run *run, const msi_filter_path *path)
{
    if (run->condition != NO_CONDITION) {
        /* The row is run for a predicate; what it gives comes later. */
        return MS_BT_VERDICT_DROP_ROW;
    }
    run->extra_copies += run->copy_count > 0;
    if (run->extra_copies > MS_BT_FILTER_COPIES_MAX) {
        return fail(run, FAIL_COPIES);
    }
    if (run->copy_count == run->copy_capacity) {
        uint32_t capacity = run->copy_capacity == 0 ? 16 : run->copy_capacity * 2;
        ms_bt_cell_copy *list = ms_mem_try_realloc(run->copy_list, capacity * sizeof(*list));
        if (list == NULL) {
            return fail(run, FAIL_MEMORY);
        }
        run->copy_list = list;
        run->copy_capacity = capacity;
        run->copies = list;
    }
    run->copy_list[run->copy_count++] = (ms_bt_cell_copy){path->label, path->is_stripped};
    return MS_BT_VERDICT_KEEP;
}

static const msi_filter_node *take_fork(ms_bt_filter_run *run, const msi_filter_path *path)
{
    const msi_filter_node *fork = path->node;
    for (uint32_t i = fork->child_count; i-- > 1;) {
        msi_filter_path other = {fork->children[i], path->label, path->is_stripped};
        run->paths[run->path_count++] = other;
    }
    return fork->children[0];
}

/* Was this cell the last of its column that a limit lets through? Then what drops it behind the
 * limit drops the rest of the column with it. */
static bool ends_column(const ms_bt_filter_run *run, const msi_filter_node *node)
{
    return node->op == MSI_OP_COLUMN_LIMIT && !node->is_behind_counter &&
           run->states[node->state].seen >= node->limit;
}

/* Follows one path to its end. */
static ms_bt_verdict walk(ms_bt_filter_run *run, msi_filter_path *path, const subject *cell)
{
    ms_bt_verdict dropped = MS_BT_VERDICT_DROP;
    while (true) {
        const msi_filter_node *node = path->node;
        if (++run->steps > run->steps_max) {
            return fail(run, FAIL_STEPS);
        }
        /* Order relaxed: a wish, which guards no other memory. */
        if ((run->steps & CANCEL_MASK) == 0 && run->is_canceled != NULL &&
            atomic_load_explicit(run->is_canceled, memory_order_relaxed)) {
            return fail(run, FAIL_CANCELED);
        }
        path->node = node->next;
        if (node->op == MSI_OP_EMIT) {
            return emit(run, path);
        }
        if (node->op == MSI_OP_MATCH) {
            run->has_match = run->has_match || node->condition->index == run->condition;
            return MS_BT_VERDICT_DROP_ROW;
        }
        if (node->op == MSI_OP_FORK) {
            path->node = node;
            path->node = take_fork(run, path);
        } else if (node->op == MSI_OP_CONDITION) {
            unsigned choice = run->choices[node->condition->index];
            if (choice == MSI_CONDITION_CHILDREN) {
                return MS_BT_VERDICT_DROP_ROW;
            }
            path->node = node->children[choice];
        } else if (node->op == MSI_OP_STRIP) {
            path->is_stripped = true;
        } else if (node->op == MSI_OP_LABEL) {
            path->label = node->label;
        } else {
            ms_bt_verdict verdict = test(run, node, cell, path->is_stripped);
            if (verdict == MS_BT_VERDICT_DROP_COLUMN || verdict == MS_BT_VERDICT_DROP_FAMILY) {
                return node->is_behind_counter ? MS_BT_VERDICT_DROP : verdict;
            }
            if (verdict != MS_BT_VERDICT_KEEP) {
                return verdict == MS_BT_VERDICT_DROP ? dropped : verdict;
            }
            dropped = ends_column(run, node) ? MS_BT_VERDICT_DROP_COLUMN : dropped;
        }
    }
}

/* Cell by cell. */

static void begin_pass(ms_bt_filter_run *run)
{
    run->pass_epoch++;
    run->column_epoch++;
}

void ms_bt_filter_run_begin_row(ms_bt_filter_run *run, ms_str key)
{
    run->key = key;
    run->row_epoch++;
    run->steps = 0;
    run->steps_max = MS_BT_FILTER_STEPS_MAX;
    run->regex_work = 0;
    run->regex_work_max = MS_BT_FILTER_REGEX_WORK_MAX;
    run->extra_copies = 0;
    begin_pass(run);
}

void ms_bt_filter_run_begin_column(ms_bt_filter_run *run, uint32_t family, ms_str qualifier)
{
    run->family = family;
    run->qualifier = qualifier;
    run->column_epoch++;
}

ms_bt_verdict ms_bt_filter_run_cell(ms_bt_filter_run *run, int64_t timestamp_micros, ms_str value)
{
    subject cell = {timestamp_micros, value};
    msi_filter_path path = {.node = run->program->entry};
    ms_bt_verdict weakest = MS_BT_VERDICT_DROP_ROW;
    run->copy_count = 0;
    run->path_count = 0;
    run->steps_max += MS_BT_FILTER_CELL_STEPS_MAX;
    while (true) {
        ms_bt_verdict verdict = walk(run, &path, &cell);
        if (verdict == MS_BT_VERDICT_FAILED) {
            return verdict;
        }
        weakest = verdict < weakest ? verdict : weakest;
        if (run->path_count == 0) {
            return weakest;
        }
        path = run->paths[--run->path_count];
    }
}

/* Whole rows. */

static bool same_column(const ms_bt_page *page, const ms_bt_cell *a, const ms_bt_cell *b)
{
    return a->family == b->family &&
           ms_str_equals(ms_bt_page_qualifier(page, a), ms_bt_page_qualifier(page, b));
}

static ms_rc push_copies(ms_bt_filter_run *run, const ms_bt_cell *cell, ms_status *st)
{
    if (run->copy_count > run->cell_capacity - run->cell_count) {
        uint32_t capacity = run->cell_capacity == 0 ? 256 : run->cell_capacity;
        while (run->copy_count > capacity - run->cell_count) {
            if (capacity > UINT32_MAX / 2 / sizeof(ms_bt_cell)) {
                return ms_status_set(st, MS_LIMIT, ms_span_none, "a row has too many cells");
            }
            capacity *= 2;
        }
        ms_bt_cell *cells = ms_mem_try_realloc(run->cells, capacity * sizeof(ms_bt_cell));
        if (cells == NULL) {
            return ms_mem_refuse(capacity * sizeof(ms_bt_cell), st);
        }
        run->cells = cells;
        run->cell_capacity = capacity;
    }
    for (uint32_t i = 0; i < run->copy_count; i++) {
        ms_bt_cell copy = *cell;
        copy.label = run->copies[i].label;
        copy.value_bytes = run->copies[i].is_stripped ? 0 : copy.value_bytes;
        run->cells[run->cell_count++] = copy;
    }
    return MS_OK;
}

/* Runs all cells of the row; for a predicate, or a match, until the first that gets through. */
static ms_rc run_pass(ms_bt_filter_run *run, const ms_bt_page *page, uint32_t first_cell,
                      bool stops_early, ms_status *st)
{
    ms_bt_verdict verdict = MS_BT_VERDICT_KEEP;
    begin_pass(run);
    run->cell_count = 0;
    run->has_match = false;
    for (uint32_t i = first_cell; i < page->cell_count; i++) {
        const ms_bt_cell *cell = &page->cells[i];
        const ms_bt_cell *before = i == first_cell ? NULL : cell - 1;
        bool is_same = before != NULL && same_column(page, before, cell);
        if ((is_same && verdict == MS_BT_VERDICT_DROP_COLUMN) ||
            (verdict == MS_BT_VERDICT_DROP_FAMILY && before->family == cell->family)) {
            continue;
        }
        if (!is_same) {
            ms_bt_filter_run_begin_column(run, cell->family, ms_bt_page_qualifier(page, cell));
        }
        verdict = ms_bt_filter_run_cell(run, cell->timestamp_micros, ms_bt_page_value(page, cell));
        if (verdict == MS_BT_VERDICT_FAILED) {
            return ms_bt_filter_run_fail(run, st);
        }
        run->has_match = run->has_match || run->copy_count > 0;
        if (verdict == MS_BT_VERDICT_DROP_ROW || (stops_early && run->has_match)) {
            return MS_OK;
        }
        MS_TRY(push_copies(run, cell, st));
    }
    return MS_OK;
}

/* Whether any cell can come to a condition: it is in the branches that were chosen. */
static bool is_reached(const ms_bt_filter_run *run, const msi_filter_condition *condition)
{
    for (; condition->parent != NULL; condition = condition->parent) {
        if (condition->place != MSI_CONDITION_PREDICATE &&
            run->choices[condition->parent->index] != condition->place) {
            return false;
        }
    }
    return true;
}

/* Leads cells to the predicate of a condition, and on the way into those it is part of. The turn of
 * the latter comes afterwards, so that no choice of this kind is left in the end. */
static void lead(ms_bt_filter_run *run, const msi_filter_condition *condition)
{
    run->choices[condition->index] = MSI_CONDITION_PREDICATE;
    for (; condition->parent != NULL; condition = condition->parent) {
        if (condition->place == MSI_CONDITION_PREDICATE) {
            run->choices[condition->parent->index] = MSI_CONDITION_PREDICATE;
        }
    }
}

static ms_rc decide(ms_bt_filter_run *run, const ms_bt_page *page, uint32_t first_cell,
                    ms_status *st)
{
    const ms_bt_filter_program *program = run->program;
    memset(run->choices, MSI_CONDITION_CHILDREN, program->condition_count);
    for (uint32_t i = program->condition_count; i-- > 0;) {
        const msi_filter_condition *condition = program->conditions[i];
        if (!is_reached(run, condition)) {
            continue;
        }
        lead(run, condition);
        run->condition = i;
        ms_rc rc = run_pass(run, page, first_cell, true, st);
        run->condition = NO_CONDITION;
        MS_TRY(rc);
        run->choices[i] = run->has_match ? MSI_CONDITION_THEN : MSI_CONDITION_OTHERWISE;
    }
    return MS_OK;
}

ms_rc ms_bt_filter_run_row(ms_bt_filter_run *run, ms_str key, ms_bt_page *page, uint32_t first_cell,
                           ms_status *st)
{
    ms_bt_filter_run_begin_row(run, key);
    MS_TRY(decide(run, page, first_cell, st));
    MS_TRY(run_pass(run, page, first_cell, false, st));
    page->cell_count = first_cell;
    for (uint32_t i = 0; i < run->cell_count; i++) {
        MS_TRY(ms_bt_page_reserve_cell(page, 0, st));
        page->cells[page->cell_count++] = run->cells[i];
    }
    return MS_OK;
}

ms_rc ms_bt_filter_run_matches(ms_bt_filter_run *run, ms_str key, const ms_bt_page *page,
                               uint32_t first_cell, bool *matches_out, ms_status *st)
{
    *matches_out = false;
    ms_bt_filter_run_begin_row(run, key);
    MS_TRY(decide(run, page, first_cell, st));
    MS_TRY(run_pass(run, page, first_cell, true, st));
    *matches_out = run->has_match;
    return MS_OK;
}
