/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading rows through filters of every way of running them: the same rows come out whichever way
 * is taken, whatever the order of families in the store, in both directions.
 */
#include "store_testing.h"

#include "bigtable/store/scan_row.h"
#include "bigtable/store/store_priv.h"

typedef struct reader_test {
    fixture f;
    ms_arena arena;
} reader_test;

/* Families come up in an order that is not that of their names where "late" says so. */
static void fill(reader_test *t, bool late)
{
    static const char *const names[] = {"b", "c"};
    static const char *const all[] = {"a", "b", "c"};
    create_table(&t->f, late ? names : all, late ? 2 : 3);
    if (late) {
        add_family(&t->f, "a");
    }
    static const char *const rows[] = {"r1", "r2", "r3"};
    for (int row = 0; row < 3; row++) {
        for (int family = 0; family < 3; family++) {
            char value[16];
            for (int version = 1; version <= 2; version++) {
                snprintf(value, sizeof(value), "%s%d", all[family], version);
                ms_bt_status bt =
                    set_cell(&t->f, rows[row], all[family], "q", version * 1000, value);
                assert_bt(&bt, MS_BT_OK);
            }
        }
    }
}

static int setup(void **state)
{
    reader_test *t = calloc(1, sizeof(*t));
    fixture_init(&t->f, MS_BT_SYNC_OS);
    ms_arena_init(&t->arena, 0);
    *state = t;
    return 0;
}

static int teardown(void **state)
{
    reader_test *t = *state;
    ms_arena_release(&t->arena);
    fixture_release(&t->f);
    free(t);
    return 0;
}

static const ms_bt_filter *chain(reader_test *t, const ms_bt_filter *a, const ms_bt_filter *b)
{
    return ms_bt_filter_chain(&t->arena, (const ms_bt_filter *[]){a, b}, 2);
}

static void assert_filtered(reader_test *t, const ms_bt_filter *filter, const char *expected)
{
    ms_bt_range range = {{MS_BT_BOUND_CLOSED, ms_str_lit("r2")},
                         {MS_BT_BOUND_CLOSED, ms_str_lit("r2")}};
    ms_bt_read_options options = {
        .table = t->f.table, .filter = filter, .rows = {.ranges = &range, .range_count = 1}};
    assert_rows_of(&t->f, &options, expected);
    options.is_reversed = true;
    assert_rows_of(&t->f, &options, expected);
}

static void every_way_gives_the_same(void **state)
{
    reader_test *t = *state;
    for (int late = 0; late < 2; late++) {
        t->f.table.table = late ? ms_str_lit("late") : ms_str_lit("t");
        fill(t, late == 1);
        ms_arena *arena = &t->arena;
        const ms_bt_filter *newest = ms_bt_filter_cells_per_column(arena, 1);
        const ms_bt_filter *first = ms_bt_filter_cells_per_row(arena, 1);
        const ms_bt_filter *is_two =
            ms_bt_filter_regex(arena, MS_BT_FILTER_VALUE_REGEX, ms_str_lit(".2"));
        const ms_bt_filter *not_a =
            ms_bt_filter_regex(arena, MS_BT_FILTER_FAMILY_REGEX, ms_str_lit("[^a]"));
        /* All; stages; the program, cell by cell; counting over families; whole rows. */
        assert_filtered(t, NULL,
                        "r2{a:q@2000=a2,a:q@1000=a1,b:q@2000=b2,b:q@1000=b1,c:q@2000=c2,"
                        "c:q@1000=c1}");
        assert_filtered(t, newest, "r2{a:q@2000=a2,b:q@2000=b2,c:q@2000=c2}");
        assert_filtered(t, is_two, "r2{a:q@2000=a2,b:q@2000=b2,c:q@2000=c2}");
        assert_filtered(t, chain(t, not_a, is_two), "r2{b:q@2000=b2,c:q@2000=c2}");
        assert_filtered(t, first, "r2{a:q@2000=a2}");
        assert_filtered(t, chain(t, not_a, first), "r2{b:q@2000=b2}");
        assert_filtered(t, ms_bt_filter_condition(arena, is_two, first, newest), "r2{a:q@2000=a2}");
        assert_filtered(t,
                        ms_bt_filter_condition(arena, ms_bt_filter_block_all(arena), NULL, newest),
                        "r2{a:q@2000=a2,b:q@2000=b2,c:q@2000=c2}");
        /* Copies of a cell stay neighbors. */
        const ms_bt_filter *twice[] = {chain(t, first, ms_bt_filter_strip_value(arena)), newest};
        assert_filtered(t, ms_bt_filter_interleave(arena, twice, 2),
                        "r2{a:q@2000=,a:q@2000=a2,b:q@2000=b2,c:q@2000=c2}");
    }
}

/* 64 copies of a value of 512 KiB, half of them stripped. */
static void copies_of_a_cell_share_their_bytes(void **state)
{
    reader_test *t = *state;
    create_table(&t->f, (const char *const[]){"a"}, 1);
    size_t bytes = (size_t)512 << 10;
    char *value = calloc(1, bytes + 1);
    memset(value, 'v', bytes);
    ms_bt_status bt = set_cell(&t->f, "r1", "a", "q", 1000, value);
    free(value);
    assert_bt(&bt, MS_BT_OK);
    const ms_bt_filter *half[] = {ms_bt_filter_strip_value(&t->arena), NULL};
    const ms_bt_filter *twice[] = {NULL, NULL};
    const ms_bt_filter *list[6];
    for (int i = 0; i < 6; i++) {
        list[i] = ms_bt_filter_interleave(&t->arena, i == 3 ? half : twice, 2);
    }
    ms_bt_read_options options = {.table = t->f.table,
                                  .filter = ms_bt_filter_chain(&t->arena, list, 6)};
    ms_bt_read *read =
        ms_bt_client_read_rows(t->f.client, &options, &t->f.mailbox, wake_nothing, NULL);
    const ms_bt_page *page = NULL;
    assert_int_equal(ms_bt_read_wait(read, &t->f.parker, &page), MS_BT_POLL_PAGE);
    assert_int_equal(page->cell_count, 64);
    assert_true(page->bytes.capacity_bytes < 4 * bytes);
    unsigned full = 0;
    for (uint32_t i = 0; i < page->cell_count; i++) {
        ms_str text = ms_bt_page_value(page, &page->cells[i]);
        assert_true(text.bytes == 0 || (text.bytes == bytes && text.ptr[0] == 'v'));
        full += text.bytes > 0;
    }
    assert_int_equal(full, 32);
    ms_bt_read_return(read, page);
    assert_int_equal(ms_bt_read_wait(read, &t->f.parker, &page), MS_BT_POLL_END);
    assert_true(ms_bt_read_close(read, NULL, NULL));
}

/* Reads one cell, v, of a row of 600 columns and returns how many cells were looked at for it. */
static uint64_t cells_seen(reader_test *t, const ms_bt_filter *filter)
{
    ms_bt_read_options options = {.table = t->f.table, .filter = filter};
    ms_bt_read *read =
        ms_bt_client_read_rows(t->f.client, &options, &t->f.mailbox, wake_nothing, NULL);
    const ms_bt_page *page = NULL;
    assert_int_equal(ms_bt_read_wait(read, &t->f.parker, &page), MS_BT_POLL_PAGE);
    assert_int_equal(page->cell_count, 1);
    assert_str_equal(ms_bt_page_value(page, &page->cells[0]), "v");
    ms_bt_read_return(read, page);
    assert_int_equal(ms_bt_read_wait(read, &t->f.parker, &page), MS_BT_POLL_END);
    uint64_t seen = ms_bt_read_get_stats(read).cells_seen;
    assert_true(ms_bt_read_close(read, NULL, NULL));
    return seen;
}

static void a_column_of_a_wide_row_is_found_by_a_seek(void **state)
{
    reader_test *t = *state;
    create_table(&t->f, (const char *const[]){"a", "b"}, 2);
    for (int i = 0; i < 600; i++) {
        char name[8];
        snprintf(name, sizeof(name), "c%03d", i % 300);
        bool is_wanted = i == 200;
        ms_bt_status bt =
            set_cell(&t->f, "r1", i < 300 ? "a" : "b", name, 1000, is_wanted ? "v" : "x");
        assert_bt(&bt, MS_BT_OK);
    }
    ms_arena *arena = &t->arena;
    const ms_bt_filter *a = ms_bt_filter_family(arena, ms_str_lit("a"));
    const ms_bt_filter *one =
        ms_bt_filter_regex(arena, MS_BT_FILTER_QUALIFIER_REGEX, ms_str_lit("c200"));
    const ms_bt_filter *some =
        ms_bt_filter_regex(arena, MS_BT_FILTER_QUALIFIER_REGEX, ms_str_lit("c20[0-3]"));
    const ms_bt_filter *value =
        ms_bt_filter_regex(arena, MS_BT_FILTER_VALUE_REGEX, ms_str_lit("v"));
    ms_bt_range bounds = ms_bt_range_make(ms_str_lit("c200"), ms_str_lit("c201"));
    const ms_bt_filter *range = ms_bt_filter_column_range(arena, ms_str_lit("a"), &bounds);
    /* Eleven before each of two seeks, and what is in between. */
    assert_in_range(cells_seen(t, chain(t, a, one)), 1, 30);
    assert_in_range(cells_seen(t, range), 1, 30);
    assert_in_range(cells_seen(t, chain(t, one, value)), 1, 60);
    assert_in_range(cells_seen(t, chain(t, chain(t, some, value), a)), 1, 60);
}

/* Whether a filter gives any cell of r1, and the bytes that were looked at to know it. */
static bool match(reader_test *t, msi_row_matcher *matcher, const ms_bt_filter *filter,
                  size_t *bytes_out)
{
    ms_status st = {0};
    ms_bt_status bt = {0};
    msi_schema *schema = msi_store_schema(t->f.store);
    const msi_table *table = msi_schema_find(schema, &t->f.table);
    const ms_bt_filter_program *program = NULL;
    assert_int_equal(ms_bt_filter_compile(filter, table->def, &t->arena, &program, &bt), MS_BT_OK);
    bool matches = false;
    *bytes_out = 0;
    assert_ok(msi_row_matches(matcher, t->f.store->kv, table, program, ms_str_lit("r1"), &matches,
                              bytes_out, &st));
    msi_schema_drop(schema);
    return matches;
}

/* Key and value of a cell of r1: its table, row, family, qualifier and time. */
static size_t cell_bytes(const char *qualifier, const char *value)
{
    return 4 + 4 + 4 + strlen(qualifier) + 2 + 8 + strlen(value);
}

static void a_predicate_of_one_column_looks_at_its_newest_cell_only(void **state)
{
    reader_test *t = *state;
    create_table(&t->f, (const char *const[]){"a", "b", "c"}, 3);
    static const char *const names[] = {"p", "q", "r"};
    for (int i = 0; i < 90; i++) {
        char value[8];
        snprintf(value, sizeof(value), "v%02d", i);
        ms_bt_status bt = set_cell(&t->f, "r1", i % 9 < 3 ? "a" : (i % 9 < 6 ? "b" : "c"),
                                   names[i % 3], 1000 * (i + 1), value);
        assert_bt(&bt, MS_BT_OK);
    }
    ms_arena *arena = &t->arena;
    const ms_bt_filter *column =
        chain(t, ms_bt_filter_family(arena, ms_str_lit("b")),
              ms_bt_filter_regex(arena, MS_BT_FILTER_QUALIFIER_REGEX, ms_str_lit("q")));
    const ms_bt_filter *newest = chain(t, column, ms_bt_filter_cells_per_column(arena, 1));
    const ms_bt_filter *is_new =
        ms_bt_filter_regex(arena, MS_BT_FILTER_VALUE_REGEX, ms_str_lit("v85"));
    const ms_bt_filter *is_old =
        ms_bt_filter_regex(arena, MS_BT_FILTER_VALUE_REGEX, ms_str_lit("v76"));
    msi_row_matcher *matcher = msi_row_matcher_create();
    size_t bytes = 0;
    assert_true(match(t, matcher, chain(t, newest, is_new), &bytes));
    assert_int_equal(bytes, cell_bytes("q", "v85"));
    assert_false(match(t, matcher, chain(t, newest, is_old), &bytes));
    assert_int_equal(bytes, cell_bytes("q", "v85"));
    assert_true(match(t, matcher, chain(t, column, is_old), &bytes));
    assert_int_equal(bytes, 2 * cell_bytes("q", "v85"));
    const ms_bt_filter *missing =
        ms_bt_filter_regex(arena, MS_BT_FILTER_QUALIFIER_REGEX, ms_str_lit("qq"));
    assert_false(match(t, matcher, missing, &bytes));
    assert_false(match(t, matcher, chain(t, column, missing), &bytes));
    assert_int_equal(bytes, 0);
    /* The iterator, its bounds, and what the run of a filter remembers; buffers are there. */
    const ms_bt_filter *again = chain(t, newest, is_old);
    uint64_t before = ms_mem_allocation_count();
    assert_false(match(t, matcher, again, &bytes));
    assert_in_range(ms_mem_allocation_count() - before, 0, 5);
    msi_row_matcher_destroy(matcher);
}

/* The search begins with the column of the first family, and comes upon one of the last. */
static void a_predicate_of_one_column_in_any_family_passes_over_those_before_it(void **state)
{
    reader_test *t = *state;
    create_table(&t->f, (const char *const[]){"a", "b"}, 2);
    static const char *const names[] = {"o", "p", "q", "r"};
    for (int i = 0; i < 4; i++) {
        ms_bt_status bt = set_cell(&t->f, "r1", "b", names[i], 1000, "v");
        assert_bt(&bt, MS_BT_OK);
    }
    const ms_bt_filter *column =
        ms_bt_filter_regex(&t->arena, MS_BT_FILTER_QUALIFIER_REGEX, ms_str_lit("q"));
    msi_row_matcher *matcher = msi_row_matcher_create();
    size_t bytes = 0;
    assert_true(match(t, matcher, column, &bytes));
    msi_row_matcher_destroy(matcher);
}

static void row_keys_of_a_filter_bound_the_scan(void **state)
{
    reader_test *t = *state;
    fill(t, false);
    const ms_bt_filter *key =
        ms_bt_filter_regex(&t->arena, MS_BT_FILTER_ROW_KEY_REGEX, ms_str_lit("r3"));
    ms_bt_read_options options = {
        .table = t->f.table, .filter = chain(t, key, ms_bt_filter_cells_per_row(&t->arena, 1))};
    ms_bt_read *read =
        ms_bt_client_read_rows(t->f.client, &options, &t->f.mailbox, wake_nothing, NULL);
    const ms_bt_page *page = NULL;
    assert_int_equal(ms_bt_read_wait(read, &t->f.parker, &page), MS_BT_POLL_PAGE);
    assert_int_equal(page->row_count, 1);
    ms_bt_read_return(read, page);
    assert_int_equal(ms_bt_read_wait(read, &t->f.parker, &page), MS_BT_POLL_END);
    /* Only that row was looked at. */
    assert_int_equal(ms_bt_read_get_stats(read).rows_seen, 1);
    assert_true(ms_bt_read_close(read, NULL, NULL));
}

static void labels_come_with_the_page(void **state)
{
    reader_test *t = *state;
    fill(t, false);
    const ms_bt_filter *label = ms_bt_filter_apply_label(&t->arena, ms_str_lit("seen"));
    ms_str key = ms_str_lit("r1");
    ms_bt_read_options options = {
        .table = t->f.table, .filter = label, .rows = {.keys = &key, .key_count = 1}};
    ms_bt_read *read =
        ms_bt_client_read_rows(t->f.client, &options, &t->f.mailbox, wake_nothing, NULL);
    const ms_bt_page *page = NULL;
    assert_int_equal(ms_bt_read_wait(read, &t->f.parker, &page), MS_BT_POLL_PAGE);
    assert_int_equal(page->cell_count, 6);
    for (uint32_t i = 0; i < page->cell_count; i++) {
        assert_str_equal(ms_bt_page_label(page, &page->cells[i]), "seen");
    }
    ms_bt_read_return(read, page);
    assert_true(ms_bt_read_close(read, NULL, NULL));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(every_way_gives_the_same),
        TEST(copies_of_a_cell_share_their_bytes),
        TEST(a_column_of_a_wide_row_is_found_by_a_seek),
        TEST(a_predicate_of_one_column_looks_at_its_newest_cell_only),
        TEST(a_predicate_of_one_column_in_any_family_passes_over_those_before_it),
        TEST(row_keys_of_a_filter_bound_the_scan),
        TEST(labels_come_with_the_page),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
