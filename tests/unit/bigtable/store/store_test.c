/* SPDX-License-Identifier: Apache-2.0 */
/* The store through its client: what is written is read, what is refused is refused, what was
 * acknowledged is there after a restart. */
#include "store_testing.h"

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof(*f));
    fixture_init(f, MS_BT_SYNC_GROUP);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture_release(*state);
    free(*state);
    return 0;
}

static const char *const ab[] = {"a", "b"};

static void assert_write(const ms_bt_status *bt)
{
    assert_bt(bt, MS_BT_OK);
}

static void put(fixture *f, const char *key, const char *family, const char *qualifier,
                int64_t micros, const char *value)
{
    ms_bt_status bt = set_cell(f, key, family, qualifier, micros, value);
    assert_write(&bt);
}

static void cells_come_in_order(void **state)
{
    fixture *f = *state;
    create_table(f, ab, 2);
    put(f, "r2", "a", "q", 1000, "x");
    put(f, "r1", "b", "q", 1000, "y");
    put(f, "r1", "a", "q2", 1000, "1");
    put(f, "r1", "a", "q1", 1000, "2");
    put(f, "r1", "a", "q1", 3000, "3");
    put(f, "r1", "a", "", 0, "");
    put(f, "r1", "a", "q1", 1000, "replaced");
    assert_rows(f, "r1{a:@0=,a:q1@3000=3,a:q1@1000=replaced,a:q2@1000=1,b:q@1000=y}r2{a:q@1000=x}");
}

static void families_come_by_name_whatever_their_age(void **state)
{
    fixture *f = *state;
    create_table(f, (const char *const[]){"m"}, 1);
    add_family(f, "z");
    add_family(f, "a");
    put(f, "r", "m", "q", 1000, "1");
    put(f, "r", "z", "q", 1000, "2");
    put(f, "r", "a", "q", 1000, "3");
    assert_rows(f, "r{a:q@1000=3,m:q@1000=1,z:q@1000=2}");
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_bt_read_options options = {.table = f->table,
                                  .filter = ms_bt_filter_cells_per_row(&arena, 1)};
    assert_rows_of(f, &options, "r{a:q@1000=3}");
    ms_arena_release(&arena);
}

static void bytes_of_all_kinds_survive(void **state)
{
    fixture *f = *state;
    create_table(f, ab, 2);
    ms_status st = {0};
    const ms_str keys[] = {{"\0", 1}, {"\0\0", 2}, {"\0\1", 2}, {"\0\xff", 2}, {"\1", 1},
                           {"a", 1},  {"a\0", 2},  {"a\0a", 3}, {"a\1", 2},    {"\xff\xff", 2}};
    const size_t count = sizeof(keys) / sizeof(keys[0]);
    ms_bt_mutation_batch batch;
    ms_bt_mutation_batch_init(&batch, 1u << 20);
    uint16_t a = 0;
    assert_ok(ms_bt_mutation_batch_family(&batch, ms_str_lit("a"), &a, &st));
    for (size_t i = 0; i < count; i++) {
        const ms_str key = keys[count - 1 - i];
        assert_ok(ms_bt_mutation_batch_begin_row(&batch, key, &st));
        for (size_t q = 0; q < count; q++) {
            assert_ok(ms_bt_mutation_batch_set_cell(&batch, a, keys[q], 1000, key, &st));
        }
        ms_bt_mutation_batch_end_row(&batch);
    }
    ms_bt_status bt = write_batch(f, &batch);
    assert_bt(&bt, MS_BT_OK);
    ms_bt_read_options options = {.table = f->table};
    ms_bt_read *read = ms_bt_client_read_rows(f->client, &options, &f->mailbox, wake_nothing, NULL);
    const ms_bt_page *page = NULL;
    assert_int_equal(ms_bt_read_wait(read, &f->parker, &page), MS_BT_POLL_PAGE);
    assert_int_equal(page->row_count, count);
    for (uint32_t r = 0; r < count; r++) {
        assert_true(ms_str_equals(ms_bt_page_key(page, &page->rows[r]), keys[r]));
        assert_int_equal(page->rows[r].cell_count, count);
        for (uint32_t c = 0; c < count; c++) {
            const ms_bt_cell *cell = &page->cells[page->rows[r].first_cell + c];
            assert_true(ms_str_equals(ms_bt_page_qualifier(page, cell), keys[c]));
            assert_true(ms_str_equals(ms_bt_page_value(page, cell), keys[r]));
        }
    }
    ms_bt_read_return(read, page);
    assert_int_equal(ms_bt_read_wait(read, &f->parker, &page), MS_BT_POLL_END);
    assert_true(ms_bt_read_close(read, NULL, NULL));
    ms_bt_mutation_batch_release(&batch);
}

static void server_time_is_whole_milliseconds_and_never_steps_back(void **state)
{
    fixture *f = *state;
    ms_env_clock clock = {.wall_us = 5000100, .mono_ns = 1};
    ms_env_set_clock(&clock);
    create_table(f, ab, 2);
    put(f, "r", "a", "q", MS_BT_TIMESTAMP_SERVER, "first");
    ms_env_clock_advance_us(&clock, -3000000);
    put(f, "r", "a", "q", MS_BT_TIMESTAMP_SERVER, "later");
    fixture_close(f);
    fixture_open(f);
    put(f, "r", "b", "q", MS_BT_TIMESTAMP_SERVER, "after a restart");
    ms_env_set_clock(NULL);
    assert_rows(f, "r{a:q@5000000=later,b:q@5000000=after a restart}");
}

static void ranges_and_keys_are_a_union(void **state)
{
    fixture *f = *state;
    create_table(f, ab, 2);
    const char *keys[] = {"a", "b", "c", "d", "e", "f", "g"};
    for (size_t i = 0; i < 7; i++) {
        put(f, keys[i], "a", "", 0, "");
    }
    const ms_str wanted[] = {ms_str_lit("f"), ms_str_lit("b"), ms_str_lit("nope")};
    const ms_bt_range ranges[] = {
        {{MS_BT_BOUND_OPEN, ms_str_lit("a")}, {MS_BT_BOUND_CLOSED, ms_str_lit("c")}},
        {{MS_BT_BOUND_CLOSED, ms_str_lit("c")}, {MS_BT_BOUND_OPEN, ms_str_lit("d")}}};
    ms_bt_read_options options = {
        .table = f->table,
        .rows = {.keys = wanted, .key_count = 3, .ranges = ranges, .range_count = 2}};
    assert_rows_of(f, &options, "b{a:@0=}c{a:@0=}f{a:@0=}");
    options.rows_limit = 2;
    assert_rows_of(f, &options, "b{a:@0=}c{a:@0=}");
    options.page_rows_max = 1;
    assert_rows_of(f, &options, "b{a:@0=}c{a:@0=}");
    options.rows_limit = 0;
    assert_rows_of(f, &options, "b{a:@0=}c{a:@0=}f{a:@0=}");
    ms_bt_range open_end = {{MS_BT_BOUND_OPEN, ms_str_lit("e")}, {MS_BT_BOUND_NONE, {NULL, 0}}};
    options =
        (ms_bt_read_options){.table = f->table, .rows = {.ranges = &open_end, .range_count = 1}};
    assert_rows_of(f, &options, "f{a:@0=}g{a:@0=}");
}

static void filters_choose_cells(void **state)
{
    fixture *f = *state;
    create_table(f, (const char *const[]){"a", "b", "c"}, 3);
    for (int i = 0; i < 40; i++) {
        char qualifier[8];
        snprintf(qualifier, sizeof(qualifier), "q%02d", i);
        put(f, "r1", "a", qualifier, 1000, "x");
    }
    put(f, "r1", "b", "q", 2000, "new");
    put(f, "r1", "b", "q", 1000, "old");
    put(f, "r1", "c", "q", 1000, "y");
    put(f, "r2", "a", "q", 1000, "z");
    ms_arena arena;
    ms_arena_init(&arena, 0);
    const ms_bt_filter *keys_only =
        ms_bt_filter_chain(&arena,
                           (const ms_bt_filter *[]){ms_bt_filter_cells_per_row(&arena, 1),
                                                    ms_bt_filter_strip_value(&arena)},
                           2);
    ms_bt_read_options options = {.table = f->table, .filter = keys_only};
    assert_rows_of(f, &options, "r1{a:q00@1000=}r2{a:q@1000=}");
    const ms_str bc[] = {ms_str_lit("c"), ms_str_lit("b")};
    options.filter = ms_bt_filter_families(&arena, bc, 2);
    assert_rows_of(f, &options, "r1{b:q@2000=new,b:q@1000=old,c:q@1000=y}");
    options.filter = ms_bt_filter_families(&arena, bc, 1);
    assert_rows_of(f, &options, "r1{c:q@1000=y}");
    options.filter =
        ms_bt_filter_chain(&arena,
                           (const ms_bt_filter *[]){ms_bt_filter_family(&arena, ms_str_lit("b")),
                                                    ms_bt_filter_cells_per_column(&arena, 1)},
                           2);
    assert_rows_of(f, &options, "r1{b:q@2000=new}");
    options.filter = ms_bt_filter_block_all(&arena);
    assert_rows_of(f, &options, "");
    options.filter =
        ms_bt_filter_chain(&arena,
                           (const ms_bt_filter *[]){ms_bt_filter_cells_per_row(&arena, 1),
                                                    ms_bt_filter_family(&arena, ms_str_lit("b"))},
                           2);
    assert_rows_of(f, &options, "");
    ms_arena_release(&arena);
}

static void assert_refused(fixture *f, const ms_bt_read_options *options, ms_bt_code code,
                           const char *text)
{
    ms_buf out;
    ms_buf_init(&out, 1u << 20);
    ms_bt_status status = read_text(f, options, &out);
    assert_bt(&status, code);
    assert_string_equal(status.text, text);
    ms_buf_release(&out);
}

static void wrong_reads_are_refused_in_the_words_of_the_service(void **state)
{
    fixture *f = *state;
    ms_bt_read_options options = {.table = f->table};
    assert_refused(f, &options, MS_BT_NOT_FOUND,
                   "No tables found for instance projects/p/instances/i");
    create_table(f, ab, 2);
    options.table.table = ms_str_lit("other");
    assert_refused(f, &options, MS_BT_NOT_FOUND,
                   "table \"projects/p/instances/i/tables/other\" not found");
    options.table = f->table;
    ms_str empty = {"", 0};
    options.rows = (ms_bt_row_set){.keys = &empty, .key_count = 1};
    assert_refused(f, &options, MS_BT_INVALID_ARGUMENT, "Row keys must be non-empty");
    ms_bt_range nothing = {{MS_BT_BOUND_OPEN, ms_str_lit("k")},
                           {MS_BT_BOUND_CLOSED, ms_str_lit("k")}};
    options.rows = (ms_bt_row_set){.ranges = &nothing, .range_count = 1};
    assert_refused(
        f, &options, MS_BT_INVALID_ARGUMENT,
        "Error in field 'row_ranges' : Error in element #0 : start_key must be less than "
        "end_key");
    options.rows = (ms_bt_row_set){0};
    ms_arena arena;
    ms_arena_init(&arena, 0);
    options.filter = ms_bt_filter_family(&arena, ms_str_lit("zz"));
    assert_refused(f, &options, MS_BT_NOT_FOUND,
                   "Error while reading table 'projects/p/instances/i/tables/t' : Requested column "
                   "family not found");
    options.filter = ms_bt_filter_condition(&arena, ms_bt_filter_sink(&arena), NULL, NULL);
    assert_refused(f, &options, MS_BT_INVALID_ARGUMENT,
                   "Error in field 'condition filter predicate' : sink cannot be nested in a "
                   "condition filter");
    ms_arena_release(&arena);
}

static void wrong_writes_are_refused_whole(void **state)
{
    fixture *f = *state;
    ms_status st = {0};
    ms_bt_status bt = set_cell(f, "r", "a", "q", 1000, "x");
    assert_bt(&bt, MS_BT_NOT_FOUND);
    create_table(f, ab, 2);
    ms_bt_mutation_batch batch;
    ms_bt_mutation_batch_init(&batch, 1u << 20);
    uint16_t a = 0;
    uint16_t z = 0;
    assert_ok(ms_bt_mutation_batch_family(&batch, ms_str_lit("a"), &a, &st));
    assert_ok(ms_bt_mutation_batch_family(&batch, ms_str_lit("zz"), &z, &st));
    bt = write_batch(f, &batch);
    assert_bt(&bt, MS_BT_INVALID_ARGUMENT);
    assert_string_equal(bt.text, "No mutations provided");
    assert_ok(ms_bt_mutation_batch_begin_row(&batch, ms_str_lit("good"), &st));
    assert_ok(ms_bt_mutation_batch_set_cell(&batch, a, ms_str_lit("q"), 0, ms_str_lit("v"), &st));
    ms_bt_mutation_batch_end_row(&batch);
    bt = write_batch(f, &batch);
    assert_bt(&bt, MS_BT_OK);
    assert_ok(ms_bt_mutation_batch_begin_row(&batch, ms_str_lit("row-1"), &st));
    assert_ok(ms_bt_mutation_batch_set_cell(&batch, z, ms_str_lit("q"), 0, ms_str_lit("v"), &st));
    ms_bt_mutation_batch_end_row(&batch);
    bt = write_batch(f, &batch);
    assert_bt(&bt, MS_BT_NOT_FOUND);
    assert_string_equal(bt.text, "Error while mutating the row 'row-1' "
                                 "(projects/p/instances/i/tables/t) : Requested column family not "
                                 "found.");
    bt = set_cell(f, "bad", "a", "q", 1001, "x");
    assert_bt(&bt, MS_BT_INVALID_ARGUMENT);
    assert_string_equal(bt.text, "Error in Mutation list : Error in element #0 : Timestamp "
                                 "granularity mismatch. Expected a multiple of 1000 (millisecond "
                                 "granularity), but got 1001.");
    assert_rows(f, "good{a:q@0=v}");
    ms_bt_mutation_batch_release(&batch);
}

static void acknowledged_rows_are_there_after_a_restart(void **state)
{
    fixture *f = *state;
    create_table(f, ab, 2);
    put(f, "r1", "a", "q", 1000, "x");
    fixture_close(f);
    fixture_open(f);
    put(f, "r2", "b", "q", 1000, "y");
    fixture_close(f);
    fixture_open(f);
    assert_rows(f, "r1{a:q@1000=x}r2{b:q@1000=y}");
}

static void second_store_in_one_directory_is_refused(void **state)
{
    fixture *f = *state;
    ms_status st = {0};
    ms_bt_store *second = NULL;
    ms_bt_store_options options = {.path = f->path, .pool = f->pool, .create = true};
    assert_int_equal(ms_bt_store_open(&options, &second, &st), MS_DATA_DIR_IN_USE);
    assert_null(second);
}

static void missing_store_is_not_made_unasked(void **state)
{
    fixture *f = *state;
    ms_status st = {0};
    ms_bt_store *store = NULL;
    char path[96];
    snprintf(path, sizeof(path), "%s/nothing", f->path);
    ms_bt_store_options options = {.path = path, .pool = f->pool};
    assert_int_equal(ms_bt_store_open(&options, &store, &st), MS_FILE_NOT_FOUND);
}

static void failed_write_leaves_the_outcome_open_and_stops_writes(void **state)
{
    fixture *f = *state;
    const char *points[] = {"kv.write:1:fail", "kv.written:1:fail"};
    ms_status st = {0};
    create_table(f, ab, 2);
    put(f, "r0", "a", "q", 1000, "x");
    for (int i = 0; i < 2; i++) {
        assert_ok(ms_env_faults_set(ms_str_cstr(points[i]), &st));
        ms_bt_status bt = set_cell(f, i == 0 ? "never" : "written", "a", "q", 1000, "x");
        assert_bt(&bt, MS_BT_UNAVAILABLE);
        assert_ok(ms_env_faults_set(ms_str_lit(""), &st));
        bt = set_cell(f, "later", "a", "q", 1000, "x");
        assert_bt(&bt, MS_BT_UNAVAILABLE);
        assert_non_null(strstr(bt.text, "until it is opened again"));
        ms_bt_sync sync;
        ms_bt_sync_init(&sync, &f->mailbox, done_nothing, NULL);
        ms_bt_client_sync(f->client, &sync);
        ms_bt_call_wait(&sync.call, &f->parker);
        assert_bt(&sync.call.status, MS_BT_UNAVAILABLE);
        fixture_close(f);
        fixture_open(f);
    }
    put(f, "r1", "a", "q", 1000, "x");
    assert_rows(f, "r0{a:q@1000=x}r1{a:q@1000=x}written{a:q@1000=x}");
}

static void failed_sync_stops_writes(void **state)
{
    fixture *f = *state;
    fixture_close(f);
    f->sync_mode = MS_BT_SYNC_CHECKPOINT;
    fixture_open(f);
    ms_status st = {0};
    create_table(f, ab, 2);
    put(f, "r0", "a", "q", 1000, "x");
    ms_bt_sync sync;
    ms_bt_sync_init(&sync, &f->mailbox, done_nothing, NULL);
    ms_bt_client_sync(f->client, &sync);
    ms_bt_call_wait(&sync.call, &f->parker);
    assert_bt(&sync.call.status, MS_BT_OK);
    assert_ok(ms_env_faults_set(ms_str_lit("kv.sync:1:fail"), &st));
    ms_bt_client_sync(f->client, &sync);
    ms_bt_call_wait(&sync.call, &f->parker);
    assert_bt(&sync.call.status, MS_BT_UNAVAILABLE);
    assert_ok(ms_env_faults_set(ms_str_lit(""), &st));
    ms_bt_status bt = set_cell(f, "r1", "a", "q", 1000, "x");
    assert_bt(&bt, MS_BT_UNAVAILABLE);
    assert_rows(f, "r0{a:q@1000=x}");
}

static void read_that_is_closed_early_ends(void **state)
{
    fixture *f = *state;
    create_table(f, ab, 2);
    for (int i = 0; i < 20; i++) {
        char key[8];
        snprintf(key, sizeof(key), "r%02d", i);
        put(f, key, "a", "q", 1000, "x");
    }
    for (int polls = 0; polls < 4; polls++) {
        ms_bt_read_options options = {.table = f->table, .page_rows_max = 2};
        ms_bt_read *read =
            ms_bt_client_read_rows(f->client, &options, &f->mailbox, wake_nothing, NULL);
        const ms_bt_page *page = NULL;
        for (int i = 0; i < polls; i++) {
            assert_int_equal(ms_bt_read_wait(read, &f->parker, &page), MS_BT_POLL_PAGE);
            if (i + 1 < polls) {
                ms_bt_read_return(read, page);
            }
        }
        if (!ms_bt_read_close(read, NULL, NULL)) {
            while (ms_mailbox_deliver(&f->mailbox, 1) == 0) {
                ms_parker_park(&f->parker, MS_PARK_FOREVER);
            }
        }
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(cells_come_in_order),
        TEST(families_come_by_name_whatever_their_age),
        TEST(bytes_of_all_kinds_survive),
        TEST(server_time_is_whole_milliseconds_and_never_steps_back),
        TEST(ranges_and_keys_are_a_union),
        TEST(filters_choose_cells),
        TEST(wrong_reads_are_refused_in_the_words_of_the_service),
        TEST(wrong_writes_are_refused_whole),
        TEST(acknowledged_rows_are_there_after_a_restart),
        TEST(second_store_in_one_directory_is_refused),
        TEST(missing_store_is_not_made_unasked),
        TEST(failed_write_leaves_the_outcome_open_and_stops_writes),
        TEST(failed_sync_stops_writes),
        TEST(read_that_is_closed_early_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
