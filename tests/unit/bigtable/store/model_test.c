/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random writes, deletes, aggregates, rules, checks and reads against a naive model: a list of
 * cells to which every mutation is applied by looking at all of them. The store must agree after
 * every round, for every range and filter tried, in both directions, and over restarts. Calls of a
 * round are submitted together, so that they share batches. The seed is printed by a failure;
 * MS_SEED repeats it.
 */
#include "store_testing.h"

#define CELLS_MAX 20000
#define FAMILIES 7
#define ROWS 12
#define QUALIFIERS 5
#define TIMES 6
#define ROUNDS 160
#define CALLS_MAX 12
/* The server's time at first; a round is a millisecond, so that the model knows the time. */
#define FIRST_MICROS 1700000000123000

static const char *const family_names[FAMILIES] = {"c", "a", "sum", "d", "max", "b", "min"};
static const ms_bt_value_type family_types[FAMILIES] = {
    [2] = MS_BT_VALUE_INT64_SUM, [4] = MS_BT_VALUE_INT64_MAX, [6] = MS_BT_VALUE_INT64_MIN};

/* Cells of aggregates and counters are numbers of eight bytes, others short texts. */
typedef struct model_cell {
    int row;
    int family;
    int qualifier;
    int64_t micros;
    bool is_number;
    int64_t number;
    char text[24];
} model_cell;

typedef struct model {
    model_cell cells[CELLS_MAX];
    int count;
    int families; /* of family_names that exist so far */
    int64_t now_micros;
    ms_env_random random;
} model;

static int below(model *m, int bound)
{
    return (int)ms_env_random_below(&m->random, (uint64_t)bound);
}

/* Rows and qualifiers with bytes that the keys must escape; ascending in this order. */
static ms_str row_key(int row)
{
    static char keys[ROWS][8];
    static const char *const starts[4] = {"\0", "a\0", "a\1", "b"};
    char *key = keys[row];
    size_t prefix = row / 3 == 0 || row / 3 == 3 ? 1 : 2;
    memcpy(key, starts[row / 3], prefix);
    memset(key + prefix, 0, 3);
    return ms_str_make(key, prefix + (size_t)(row % 3));
}

static ms_str qualifier_key(int qualifier)
{
    static const ms_str keys[QUALIFIERS] = {{"", 0}, {"\0", 1}, {"\0\1", 2}, {"q", 1}, {"q\0", 2}};
    return keys[qualifier];
}

static void model_set(model *m, model_cell cell)
{
    for (int i = 0; i < m->count; i++) {
        model_cell *at = &m->cells[i];
        if (at->row == cell.row && at->family == cell.family && at->qualifier == cell.qualifier &&
            at->micros == cell.micros) {
            *at = cell;
            return;
        }
    }
    assert_true(m->count < CELLS_MAX);
    m->cells[m->count++] = cell;
}

/* -1 is any. */
static void model_delete(model *m, int row, int family, int qualifier, int64_t start, int64_t end)
{
    int kept = 0;
    for (int i = 0; i < m->count; i++) {
        const model_cell *at = &m->cells[i];
        bool is_gone = at->row == row && (family < 0 || at->family == family) &&
                       (qualifier < 0 || at->qualifier == qualifier) && at->micros >= start &&
                       (end == 0 || at->micros < end);
        if (!is_gone) {
            m->cells[kept++] = *at;
        }
    }
    m->count = kept;
}

static int compare_cells(const void *left, const void *right)
{
    const model_cell *a = left;
    const model_cell *b = right;
    if (a->row != b->row) {
        return a->row - b->row;
    }
    if (a->family != b->family) {
        return strcmp(family_names[a->family], family_names[b->family]);
    }
    if (a->qualifier != b->qualifier) {
        return a->qualifier - b->qualifier;
    }
    return (a->micros < b->micros) - (a->micros > b->micros);
}

static int64_t combine(int family, int64_t state, int64_t input)
{
    if (family_types[family] == MS_BT_VALUE_INT64_MAX) {
        return input > state ? input : state;
    }
    if (family_types[family] == MS_BT_VALUE_INT64_MIN) {
        return input < state ? input : state;
    }
    return state + input;
}

static void model_add(model *m, int row, int family, int qualifier, int64_t micros, int64_t input)
{
    for (int i = 0; i < m->count; i++) {
        const model_cell *at = &m->cells[i];
        if (at->row == row && at->family == family && at->qualifier == qualifier &&
            at->micros == micros) {
            input = combine(family, at->number, input);
        }
    }
    model_set(m, (model_cell){row, family, qualifier, micros, .is_number = true, .number = input});
}

/* The latest cell of a column; NULL when there is none. */
static const model_cell *model_latest(const model *m, int row, int family, int qualifier)
{
    const model_cell *latest = NULL;
    for (int i = 0; i < m->count; i++) {
        const model_cell *at = &m->cells[i];
        if (at->row == row && at->family == family && at->qualifier == qualifier &&
            (latest == NULL || at->micros > latest->micros)) {
            latest = at;
        }
    }
    return latest;
}

/* Writes. */

static void write_cell(model *m, int row, int family, int qualifier, uint16_t index,
                       ms_bt_mutation_batch *batch)
{
    ms_status st = {0};
    int64_t micros = below(m, TIMES) * 1000;
    if (family_types[family] == MS_BT_VALUE_RAW) {
        bool is_now = below(m, 5) == 0;
        model_cell cell = {row, family, qualifier, is_now ? m->now_micros : micros};
        snprintf(cell.text, sizeof(cell.text), "%d", below(m, 1000));
        assert_ok(ms_bt_mutation_batch_set_cell(batch, index, qualifier_key(qualifier),
                                                is_now ? MS_BT_TIMESTAMP_SERVER : micros,
                                                ms_str_cstr(cell.text), &st));
        model_set(m, cell);
        return;
    }
    int64_t input = below(m, 2000) - 1000;
    if (below(m, 4) == 0) {
        uint64_t state = __builtin_bswap64((uint64_t)input);
        assert_ok(ms_bt_mutation_batch_merge_to_cell(
            batch, index, qualifier_key(qualifier), micros,
            ms_str_make((const char *)&state, sizeof(state)), &st));
    } else {
        assert_ok(ms_bt_mutation_batch_add_to_cell(batch, index, qualifier_key(qualifier), micros,
                                                   input, &st));
    }
    model_add(m, row, family, qualifier, micros, input);
}

/* Applies one random mutation to both. */
static void mutate(model *m, int row, ms_bt_mutation_batch *batch)
{
    ms_status st = {0};
    int family = below(m, m->families);
    uint16_t index = 0;
    assert_ok(ms_bt_mutation_batch_family(batch, ms_str_cstr(family_names[family]), &index, &st));
    int qualifier = below(m, QUALIFIERS);
    int kind = below(m, 20);
    if (kind < 15) {
        write_cell(m, row, family, qualifier, index, batch);
    } else if (kind < 18) {
        int64_t start = below(m, TIMES) * 1000;
        int64_t end = below(m, 2) == 0 ? 0 : start + (1 + below(m, TIMES)) * 1000;
        assert_ok(ms_bt_mutation_batch_delete_column(batch, index, qualifier_key(qualifier), start,
                                                     end, &st));
        model_delete(m, row, family, qualifier, start, end);
    } else if (kind < 19) {
        assert_ok(ms_bt_mutation_batch_delete_family(batch, index, &st));
        model_delete(m, row, family, -1, 0, 0);
    } else {
        assert_ok(ms_bt_mutation_batch_delete_row(batch, &st));
        model_delete(m, row, -1, -1, 0, 0);
    }
}

static void mutate_row(model *m, int row, ms_bt_mutation_batch *batch)
{
    ms_status st = {0};
    assert_ok(ms_bt_mutation_batch_begin_row(batch, row_key(row), &st));
    int mutations = 1 + below(m, 6);
    for (int k = 0; k < mutations; k++) {
        mutate(m, row, batch);
    }
    ms_bt_mutation_batch_end_row(batch);
}

/* One call of a round, of any of the three kinds, and what the model expects of it. */
typedef struct model_call {
    ms_bt_call *base;
    ms_bt_mutate_rows write;
    ms_bt_check_and_mutate check;
    ms_bt_read_modify_write modify;
    ms_bt_mutation_batch batch;
    ms_bt_mutation_batch other;
    ms_bt_rule rules[4];
    bool expects_match;
    bool expects_failure;
} model_call;

static void submit_write(model *m, fixture *f, model_call *call)
{
    int entries = 1 + below(m, 10);
    for (int i = 0; i < entries; i++) {
        mutate_row(m, below(m, ROWS), &call->batch);
    }
    call->base = &call->write.call;
    call->write.table = &f->table;
    call->write.batch = &call->batch;
    ms_bt_client_mutate_rows(f->client, &call->write);
}

/* Checks whether the row has any cell. */
static void submit_check(model *m, fixture *f, model_call *call)
{
    int row = below(m, ROWS);
    for (int i = 0; i < m->count; i++) {
        call->expects_match = call->expects_match || m->cells[i].row == row;
    }
    mutate_row(m, row, call->expects_match ? &call->batch : &call->other);
    call->base = &call->check.call;
    call->check.table = &f->table;
    call->check.row_key = row_key(row);
    call->check.if_true = call->expects_match ? &call->batch : NULL;
    call->check.if_false = &call->other;
    ms_bt_client_check_and_mutate(f->client, &call->check);
}

/* What a rule makes of a cell; false when it cannot be applied. */
static bool apply_rule(const model_cell *latest, const ms_bt_rule *rule, model_cell *cell)
{
    if (rule->kind == MS_BT_RULE_INCREMENT) {
        cell->is_number = true;
        cell->number = rule->increment + (latest != NULL ? latest->number : 0);
        return latest == NULL || latest->is_number;
    }
    /* Appending to a number would make a text with zeros, which the model does not hold. */
    snprintf(cell->text, sizeof(cell->text), "%.20s%.*s", latest != NULL ? latest->text : "",
             MS_STR_ARG(rule->append));
    return true;
}

static void submit_modify(model *m, fixture *f, model_call *call)
{
    static model before;
    before = *m;
    int row = below(m, ROWS);
    int count = 1 + below(m, 4);
    for (int i = 0; i < count; i++) {
        /* The raw families at hand, and columns of their own for texts and numbers. */
        int family = below(m, 2);
        int qualifier = below(m, QUALIFIERS);
        const model_cell *latest = model_latest(m, row, family, qualifier);
        bool is_increment =
            latest == NULL ? below(m, 2) == 0
                           : latest->is_number ||
                                 (below(m, 10) == 0 && strlen(latest->text) != sizeof(int64_t));
        ms_bt_rule *rule = &call->rules[i];
        *rule =
            (ms_bt_rule){.kind = is_increment ? MS_BT_RULE_INCREMENT : MS_BT_RULE_APPEND,
                         .family = ms_str_cstr(family_names[family]),
                         .qualifier = qualifier_key(qualifier),
                         .append = latest != NULL && strlen(latest->text) > 15 ? ms_str_lit("")
                                                                               : ms_str_lit("+"),
                         .increment = below(m, 100)};
        model_cell cell = {row, family, qualifier, m->now_micros};
        if (!apply_rule(latest, rule, &cell)) {
            call->expects_failure = true;
        }
        model_set(m, cell);
    }
    if (call->expects_failure) {
        ms_env_random random = m->random;
        *m = before;
        m->random = random;
    }
    call->base = &call->modify.call;
    call->modify.table = &f->table;
    call->modify.row_key = row_key(row);
    call->modify.rules = call->rules;
    call->modify.rule_count = (size_t)count;
    ms_bt_client_read_modify_write(f->client, &call->modify);
}

static void init_call(fixture *f, model_call *call)
{
    memset(call, 0, sizeof(*call));
    ms_bt_mutation_batch_init(&call->batch, 1u << 20);
    ms_bt_mutation_batch_init(&call->other, 1u << 20);
    ms_bt_mutate_rows_init(&call->write, &f->mailbox, done_nothing, NULL);
    ms_bt_check_and_mutate_init(&call->check, &f->mailbox, done_nothing, NULL);
    ms_bt_read_modify_write_init(&call->modify, &f->mailbox, done_nothing, NULL);
}

static void finish_call(fixture *f, model_call *call)
{
    ms_bt_call_wait(call->base, &f->parker);
    assert_bt(&call->base->status, call->expects_failure ? MS_BT_FAILED_PRECONDITION : MS_BT_OK);
    assert_int_equal(call->check.predicate_matched, call->expects_match);
    assert_int_equal(call->modify.row.row_count,
                     call->base == &call->modify.call && !call->expects_failure);
    ms_bt_mutate_rows_release(&call->write);
    ms_bt_check_and_mutate_release(&call->check);
    ms_bt_read_modify_write_release(&call->modify);
    ms_bt_mutation_batch_release(&call->batch);
    ms_bt_mutation_batch_release(&call->other);
}

/* Calls in flight at one time take effect in the order in which they were submitted. */
static void write_random(model *m, fixture *f)
{
    static model_call calls[CALLS_MAX];
    int count = 1 + below(m, CALLS_MAX);
    for (int i = 0; i < count; i++) {
        init_call(f, &calls[i]);
        int kind = below(m, 4);
        if (kind < 2) {
            submit_write(m, f, &calls[i]);
        } else if (kind == 2) {
            submit_check(m, f, &calls[i]);
        } else {
            submit_modify(m, f, &calls[i]);
        }
    }
    for (int i = 0; i < count; i++) {
        finish_call(f, &calls[i]);
    }
}

/* What a read asks for; the model answers it cell by cell. */
typedef struct question {
    bool families[FAMILIES];
    int per_column; /* 0: no limit */
    int per_row;
    int offset;
    bool strip;
    bool is_row_limit_first;
    int first_row;
    int last_row;
    int missing_row; /* that the ranges leave out; -1: none */
    bool is_reversed;
    int64_t rows_limit; /* 0: no limit */
} question;

static question ask(model *m)
{
    question q = {0};
    bool all = below(m, 3) == 0;
    for (int i = 0; i < m->families; i++) {
        q.families[i] = all || below(m, 2) == 0;
    }
    q.per_column = below(m, 3) == 0 ? 1 + below(m, 2) : 0;
    q.per_row = below(m, 3) == 0 ? 1 + below(m, 4) : 0;
    q.offset = below(m, 5) == 0 ? 1 + below(m, 3) : 0;
    q.strip = below(m, 4) == 0;
    q.is_row_limit_first = below(m, 2) == 0;
    q.first_row = below(m, ROWS);
    q.last_row = q.first_row + below(m, ROWS - q.first_row);
    q.missing_row = -1;
    if (q.last_row - q.first_row > 2) {
        q.missing_row = q.first_row + 1 + below(m, q.last_row - q.first_row - 1);
    }
    q.is_reversed = below(m, 2) == 0;
    q.rows_limit = below(m, 3) == 0 ? 1 + below(m, 4) : 0;
    return q;
}

/* A question as a chain: [row limit,] families, column limit, offset, [row limit,] strip. */
static const ms_bt_filter *filter_of(const question *q, int families, ms_arena *arena)
{
    const ms_bt_filter *list[8];
    size_t count = 0;
    ms_str names[FAMILIES];
    size_t wanted = 0;
    for (int i = 0; i < families; i++) {
        if (q->families[i]) {
            names[wanted++] = ms_str_cstr(family_names[i]);
        }
    }
    if (q->per_row > 0 && q->is_row_limit_first) {
        list[count++] = ms_bt_filter_cells_per_row(arena, q->per_row);
    }
    list[count++] =
        wanted == 0 ? ms_bt_filter_block_all(arena) : ms_bt_filter_families(arena, names, wanted);
    if (q->per_column > 0) {
        list[count++] = ms_bt_filter_cells_per_column(arena, q->per_column);
    }
    if (q->offset > 0) {
        list[count++] = ms_bt_filter_cells_per_row_offset(arena, q->offset);
    }
    if (q->per_row > 0 && !q->is_row_limit_first) {
        list[count++] = ms_bt_filter_cells_per_row(arena, q->per_row);
    }
    if (q->strip) {
        list[count++] = ms_bt_filter_strip_value(arena);
    }
    return ms_bt_filter_chain(arena, list, count);
}

static void append_value(const model_cell *cell, ms_buf *out)
{
    ms_status st = {0};
    if (!cell->is_number) {
        assert_ok(ms_buf_append(out, ms_str_cstr(cell->text), &st));
        return;
    }
    char text[64];
    uint64_t bytes = __builtin_bswap64((uint64_t)cell->number);
    ms_bt_bytes_text(ms_str_make((const char *)&bytes, sizeof(bytes)), text, sizeof(text));
    assert_ok(ms_buf_append(out, ms_str_cstr(text), &st));
}

/* What the model answers of the cells of one row, from first to before last. */
static void row_text(model *m, const question *q, int first, int last, ms_buf *out)
{
    ms_status st = {0};
    char text[2][64];
    int row = m->cells[first].row;
    int in_row = 0;
    int passed_families = 0;
    int kept = 0;
    int in_column = 0;
    for (int i = first; i < last; i++) {
        const model_cell *cell = &m->cells[i];
        const model_cell *before = &m->cells[i > first ? i - 1 : i];
        if (cell->family != before->family || cell->qualifier != before->qualifier) {
            in_column = 0;
        }
        if (q->per_row > 0 && q->is_row_limit_first && in_row++ >= q->per_row) {
            continue;
        }
        if (!q->families[cell->family] || (q->per_column > 0 && in_column++ >= q->per_column) ||
            passed_families++ < q->offset) {
            continue;
        }
        if (q->per_row > 0 && !q->is_row_limit_first && kept >= q->per_row) {
            continue;
        }
        if (kept++ == 0) {
            assert_ok(ms_buf_format(out, &st, "%s{",
                                    ms_bt_bytes_text(row_key(row), text[0], sizeof(text[0]))));
        }
        assert_ok(ms_buf_format(
            out, &st, "%s%s:%s@%" PRId64 "=", kept == 1 ? "" : ",", family_names[cell->family],
            ms_bt_bytes_text(qualifier_key(cell->qualifier), text[1], sizeof(text[1])),
            cell->micros));
        if (!q->strip) {
            append_value(cell, out);
        }
    }
    if (kept > 0) {
        assert_ok(ms_buf_append_byte(out, '}', &st));
    }
}

/* The answer of the model as text; cells are sorted. */
static void model_text(model *m, const question *q, ms_buf *out)
{
    int64_t rows = 0;
    for (int i = 0; i < ROWS; i++) {
        int row = q->is_reversed ? ROWS - 1 - i : i;
        int first = 0;
        while (first < m->count && m->cells[first].row < row) {
            first++;
        }
        int last = first;
        while (last < m->count && m->cells[last].row == row) {
            last++;
        }
        bool is_wanted = row >= q->first_row && row <= q->last_row && row != q->missing_row;
        if (first == last || !is_wanted || (q->rows_limit != 0 && rows >= q->rows_limit)) {
            continue;
        }
        size_t bytes = out->bytes;
        row_text(m, q, first, last, out);
        rows += out->bytes > bytes;
    }
}

static void check_read(model *m, fixture *f, const question *q, uint32_t page_rows)
{
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_buf expected;
    ms_buf_init(&expected, 16u << 20);
    model_text(m, q, &expected);
    ms_status st = {0};
    assert_ok(ms_buf_append_byte(&expected, '\0', &st));
    /* Two ranges, with a hole between them when a row in the middle is not wanted. */
    bool has_hole = q->missing_row > q->first_row && q->missing_row < q->last_row;
    ms_bt_range ranges[2] = {
        {{MS_BT_BOUND_CLOSED, row_key(q->first_row)}, {MS_BT_BOUND_CLOSED, row_key(q->last_row)}}};
    if (has_hole) {
        ranges[1] = ranges[0];
        ranges[0].end = (ms_bt_bound){MS_BT_BOUND_OPEN, row_key(q->missing_row)};
        ranges[1].start = (ms_bt_bound){MS_BT_BOUND_OPEN, row_key(q->missing_row)};
    }
    ms_bt_read_options options = {.table = f->table,
                                  .rows = {.ranges = ranges, .range_count = has_hole ? 2 : 1},
                                  .filter = filter_of(q, m->families, &arena),
                                  .is_reversed = q->is_reversed,
                                  .rows_limit = q->rows_limit,
                                  .page_rows_max = page_rows};
    assert_rows_of(f, &options, expected.ptr);
    ms_buf_release(&expected);
    ms_arena_release(&arena);
}

static void store_agrees_with_the_naive_model(void **state)
{
    (void)state;
    uint64_t seed = ms_env_next_seed();
    print_message("seed %" PRIu64 "\n", seed);
    model *m = calloc(1, sizeof(*m));
    ms_env_random_init(&m->random, seed);
    static ms_env_clock now_clock;
    now_clock = (ms_env_clock){.wall_us = FIRST_MICROS, .mono_ns = 1};
    ms_env_set_clock(&now_clock);
    m->now_micros = FIRST_MICROS;
    fixture f;
    fixture_init(&f, MS_BT_SYNC_OS);
    m->families = 3;
    ms_bt_family families[FAMILIES] = {0};
    for (int i = 0; i < FAMILIES; i++) {
        families[i].name = ms_str_cstr(family_names[i]);
        families[i].type = family_types[i];
    }
    create_table_of(&f, families, 3, 0);
    for (int round = 0; round < ROUNDS; round++) {
        ms_env_clock_advance_us(&now_clock, 1000);
        m->now_micros += 1000;
        write_random(m, &f);
        qsort(m->cells, (size_t)m->count, sizeof(m->cells[0]), compare_cells);
        for (int i = 0; i < 4; i++) {
            question q = ask(m);
            check_read(m, &f, &q, (uint32_t)(1 + below(m, 4)));
        }
        if (below(m, 20) == 0) {
            fixture_close(&f);
            fixture_open(&f);
        }
        if (below(m, 30) == 0 && m->families < FAMILIES) {
            add_family_of(&f, &families[m->families++]);
        }
        if (below(m, 40) == 0) {
            ms_status st = {0};
            assert_ok(ms_bt_store_compact(f.store, &st));
        }
    }
    fixture_release(&f);
    ms_env_set_clock(NULL);
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(store_agrees_with_the_naive_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
