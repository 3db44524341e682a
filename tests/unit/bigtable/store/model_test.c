/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random writes, deletes and reads against a naive model: a list of cells to which every mutation
 * is applied by looking at all of them. The store must agree after every batch, for every range and
 * filter tried, and over restarts. The seed is printed by a failure; MS_SEED repeats it.
 */
#include "store_testing.h"

#define CELLS_MAX 20000
#define FAMILIES 4
#define ROWS 12
#define QUALIFIERS 5
#define TIMES 6
#define ROUNDS 160

static const char *const family_names[FAMILIES] = {"c", "a", "d", "b"};

typedef struct model_cell {
    int row;
    int family;
    int qualifier;
    int64_t micros;
    int value;
} model_cell;

typedef struct model {
    model_cell cells[CELLS_MAX];
    int count;
    int families; /* of family_names that exist so far */
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
            at->value = cell.value;
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

/* Applies one random mutation to both. */
static void mutate(model *m, int row, ms_bt_mutation_batch *batch)
{
    ms_status st = {0};
    int family = below(m, m->families);
    uint16_t index = 0;
    assert_ok(ms_bt_mutation_batch_family(batch, ms_str_cstr(family_names[family]), &index, &st));
    int qualifier = below(m, QUALIFIERS);
    int kind = below(m, 20);
    if (kind < 13) {
        int64_t micros = below(m, TIMES) * 1000;
        int value = below(m, 1000);
        char text[16];
        snprintf(text, sizeof(text), "%d", value);
        assert_ok(ms_bt_mutation_batch_set_cell(batch, index, qualifier_key(qualifier), micros,
                                                ms_str_cstr(text), &st));
        model_set(m, (model_cell){row, family, qualifier, micros, value});
    } else if (kind < 17) {
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

static void write_random(model *m, fixture *f, ms_bt_mutation_batch *batch)
{
    ms_status st = {0};
    ms_bt_mutation_batch_reset(batch);
    int entries = 1 + below(m, 30);
    for (int i = 0; i < entries; i++) {
        int row = below(m, ROWS);
        assert_ok(ms_bt_mutation_batch_begin_row(batch, row_key(row), &st));
        int mutations = 1 + below(m, 6);
        for (int k = 0; k < mutations; k++) {
            mutate(m, row, batch);
        }
        ms_bt_mutation_batch_end_row(batch);
    }
    ms_bt_status bt = write_batch(f, batch);
    assert_bt(&bt, MS_BT_OK);
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

/* The answer of the model as text; cells are sorted. */
static void model_text(model *m, const question *q, ms_buf *out)
{
    ms_status st = {0};
    char text[2][64];
    for (int i = 0; i < m->count;) {
        int row = m->cells[i].row;
        int in_row = 0;
        int passed_families = 0;
        int kept = 0;
        int column_start = i;
        int in_column = 0;
        for (; i < m->count && m->cells[i].row == row; i++) {
            const model_cell *cell = &m->cells[i];
            const model_cell *start = &m->cells[column_start];
            if (cell->family != start->family || cell->qualifier != start->qualifier ||
                i == column_start) {
                column_start = i;
                in_column = 0;
            }
            if (q->per_row > 0 && q->is_row_limit_first && in_row++ >= q->per_row) {
                continue;
            }
            if (!q->families[cell->family] || (q->per_column > 0 && in_column++ >= q->per_column) ||
                passed_families++ < q->offset) {
                continue;
            }
            if ((q->per_row > 0 && !q->is_row_limit_first && kept >= q->per_row) ||
                row < q->first_row || row > q->last_row) {
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
                assert_ok(ms_buf_format(out, &st, "%d", cell->value));
            }
        }
        if (kept > 0) {
            assert_ok(ms_buf_append_byte(out, '}', &st));
        }
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
    ms_bt_range range = {{MS_BT_BOUND_CLOSED, row_key(q->first_row)},
                         {MS_BT_BOUND_CLOSED, row_key(q->last_row)}};
    ms_bt_read_options options = {.table = f->table,
                                  .rows = {.ranges = &range, .range_count = 1},
                                  .filter = filter_of(q, m->families, &arena),
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
    fixture f;
    fixture_init(&f, MS_BT_SYNC_OS);
    m->families = 2;
    create_table(&f, family_names, 2);
    ms_bt_mutation_batch batch;
    ms_bt_mutation_batch_init(&batch, 1u << 20);
    for (int round = 0; round < ROUNDS; round++) {
        write_random(m, &f, &batch);
        qsort(m->cells, (size_t)m->count, sizeof(m->cells[0]), compare_cells);
        for (int i = 0; i < 4; i++) {
            question q = ask(m);
            check_read(m, &f, &q, (uint32_t)(1 + below(m, 4)));
        }
        if (below(m, 20) == 0) {
            fixture_close(&f);
            fixture_open(&f);
        }
        if (below(m, 40) == 0 && m->families < FAMILIES) {
            add_family(&f, family_names[m->families++]);
        }
        if (below(m, 40) == 0) {
            ms_status st = {0};
            assert_ok(ms_bt_store_compact(f.store, &st));
        }
    }
    ms_bt_mutation_batch_release(&batch);
    fixture_release(&f);
    free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(store_agrees_with_the_naive_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
