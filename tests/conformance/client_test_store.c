/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The cases that need no scripted server, on both transports: the same client of the same store, in
 * process and over gRPC, gives the same rows and the same failures. This file is built twice. The
 * checks of requests and the calls on single rows are tests of the store that are built so, too:
 * tests/unit/bigtable/server.
 */
#include "bigtable/store/store_testing.h"

#include "os/thread.h"

#define KEYS_MAX 3
#define RANGES_MAX 2
#define TIMEOUT_MS 200 /* a write that fails is sent again until then, over gRPC */

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof(*f));
    fixture_init(f, MS_BT_SYNC_OS);
    create_table(f, (const char *const[]){"f"}, 1);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    fixture_release(f);
    free(f);
    return 0;
}

/* Rows, each of one cell whose value is its key. */
static void put_rows(fixture *f, const char *letters)
{
    for (const char *at = letters; *at != '\0'; at++) {
        char key[2] = {*at, '\0'};
        ms_bt_status bt = set_cell(f, key, "f", "q", 1000, key);
        assert_bt(&bt, MS_BT_OK);
    }
}

/* Reading. */

typedef struct read_case {
    const char *name;
    const char *keys[KEYS_MAX];
    ms_bt_range ranges[RANGES_MAX];
    size_t range_count;
    int64_t limit;
    bool is_reversed;
    const char *result; /* the keys of the rows */
} read_case;

#define BOUND(kind, key)                                                                           \
    {                                                                                              \
        MS_BT_BOUND_##kind,                                                                        \
        {                                                                                          \
            key, sizeof(key) - 1                                                                   \
        }                                                                                          \
    }
#define RANGE(start_kind, start, end_kind, end)                                                    \
    {                                                                                              \
        BOUND(start_kind, start), BOUND(end_kind, end)                                             \
    }

static const read_case reads[] = {
    {.name = "everything", .result = "abcmnz"},
    {.name = "everything, reversed", .is_reversed = true, .result = "znmcba"},
    {.name = "one row that is there", .keys = {"a"}, .limit = 1, .result = "a"},
    {.name = "one row that is not", .keys = {"d"}, .limit = 1, .result = ""},
    {.name = "several keys, in any order", .keys = {"z", "a", "m"}, .result = "amz"},
    {.name = "a key twice is one row", .keys = {"m", "m"}, .result = "m"},
    {.name = "several ranges",
     .ranges = {RANGE(CLOSED, "a", OPEN, "c"), RANGE(OPEN, "m", CLOSED, "n")},
     .range_count = 2,
     .result = "abn"},
    {.name = "ranges that overlap give each row once",
     .ranges = {RANGE(CLOSED, "a", CLOSED, "m"), RANGE(CLOSED, "b", CLOSED, "n")},
     .range_count = 2,
     .result = "abcmn"},
    {.name = "a key in a range",
     .keys = {"b"},
     .ranges = {RANGE(CLOSED, "a", CLOSED, "c")},
     .range_count = 1,
     .result = "abc"},
    {.name = "a range without an end",
     .ranges = {RANGE(CLOSED, "m", NONE, "")},
     .range_count = 1,
     .result = "mnz"},
    {.name = "a range without a start",
     .ranges = {RANGE(NONE, "", OPEN, "m")},
     .range_count = 1,
     .result = "abc"},
    {.name = "a limit that ends a page", .limit = 2, .result = "ab"},
    {.name = "a limit behind a page", .limit = 3, .result = "abc"},
    {.name = "a limit, reversed", .limit = 3, .is_reversed = true, .result = "znm"},
    {.name = "a limit over ranges",
     .ranges = {RANGE(CLOSED, "a", OPEN, "c"), RANGE(CLOSED, "m", NONE, "")},
     .range_count = 2,
     .limit = 3,
     .result = "abm"},
    {.name = "ranges, reversed",
     .ranges = {RANGE(CLOSED, "a", OPEN, "c"), RANGE(OPEN, "m", NONE, "")},
     .range_count = 2,
     .is_reversed = true,
     .result = "znba"},
};

/* Reads in pages of two rows; gives the keys of what came, and how it ended. */
static ms_bt_status read_keys(fixture *f, ms_bt_read_options *options, char *keys_out)
{
    options->table = f->table;
    options->page_rows_max = 2;
    ms_bt_read *read = ms_bt_client_read_rows(f->client, options, &f->mailbox, wake_nothing, NULL);
    const ms_bt_page *page = NULL;
    while (ms_bt_read_wait(read, &f->parker, &page) == MS_BT_POLL_PAGE) {
        for (uint32_t i = 0; i < page->row_count; i++) {
            ms_str key = ms_bt_page_key(page, &page->rows[i]);
            assert_int_equal(key.bytes, 1);
            *keys_out++ = key.ptr[0];
        }
        ms_bt_read_return(read, page);
    }
    *keys_out = '\0';
    ms_bt_status bt = *ms_bt_read_status(read);
    assert_true(ms_bt_read_close(read, NULL, NULL));
    return bt;
}

static void row_sets_limits_and_directions_give_their_rows(void **state)
{
    fixture *f = *state;
    put_rows(f, "abcmnz");
    for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
        const read_case *c = &reads[i];
        char got[32];
        ms_str keys[KEYS_MAX];
        ms_bt_read_options options = {
            .rows = {.keys = keys, .ranges = c->ranges, .range_count = c->range_count},
            .rows_limit = c->limit,
            .is_reversed = c->is_reversed};
        for (size_t k = 0; k < KEYS_MAX && c->keys[k] != NULL; k++) {
            keys[options.rows.key_count++] = ms_str_cstr(c->keys[k]);
        }
        ms_bt_status bt = read_keys(f, &options, got);
        print_message("  %s: %s\n", c->name, got);
        assert_bt(&bt, MS_BT_OK);
        assert_string_equal(got, c->result);
    }
}

static void our_own_store_and_server_are_known(void **state)
{
    fixture *f = *state; /* whose table was made by a call */
    assert_true(ms_bt_client_is_millstream(f->client));
}

static void a_table_without_rows_gives_none(void **state)
{
    char got[32];
    ms_bt_read_options options = {0};
    ms_bt_status bt = read_keys(*state, &options, got);
    assert_bt(&bt, MS_BT_OK);
    assert_string_equal(got, "");
}

static void samples_are_the_splits_of_an_empty_table(void **state)
{
    fixture *f = *state;
    static const char *const expected[] = {"g", "p", ""};
    ms_str splits[] = {ms_str_lit("g"), ms_str_lit("p")};
    ms_bt_family family = {.name = ms_str_lit("f")};
    ms_bt_table table = {.name = {f->table.project, f->table.instance, ms_str_lit("split")},
                         .families = &family,
                         .family_count = 1,
                         .splits = splits,
                         .split_count = 2};
    ms_bt_table_call create;
    ms_bt_table_call_init(&create, &f->mailbox, done_nothing, NULL);
    create.table = &table;
    ms_bt_client_create_table(f->client, &create);
    ms_bt_call_wait(&create.call, &f->parker);
    assert_bt(&create.call.status, MS_BT_OK);
    ms_bt_table_call_release(&create);
    ms_bt_sample_row_keys sample;
    ms_bt_sample_row_keys_init(&sample, &f->mailbox, done_nothing, NULL);
    sample.table = &table.name;
    ms_bt_client_sample_row_keys(f->client, &sample);
    ms_bt_call_wait(&sample.call, &f->parker);
    assert_bt(&sample.call.status, MS_BT_OK);
    assert_int_equal(sample.sample_count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_str_equal(sample.samples[i].key, expected[i]);
    }
    ms_bt_sample_row_keys_release(&sample);
}

/* Calls that change rows: one of each kind, on a row of its own. */

typedef struct change {
    ms_bt_mutation_batch batch;
    ms_bt_mutate_rows bulk;
    ms_bt_mutate_rows single;
    ms_bt_check_and_mutate check;
    ms_bt_read_modify_write modify;
    ms_bt_rule rule;
    ms_bt_call *calls[4];
} change;

static void change_init(fixture *f, change *c, const char *key)
{
    ms_status st = {0};
    uint16_t family = 0;
    memset(c, 0, sizeof(*c));
    ms_bt_mutation_batch_init(&c->batch, 1u << 20);
    assert_ok(ms_bt_mutation_batch_family(&c->batch, ms_str_lit("f"), &family, &st));
    assert_ok(ms_bt_mutation_batch_begin_row(&c->batch, ms_str_cstr(key), &st));
    assert_ok(ms_bt_mutation_batch_set_cell(&c->batch, family, ms_str_lit("q"), 2000,
                                            ms_str_cstr(key), &st));
    ms_bt_mutation_batch_end_row(&c->batch);
    ms_bt_mutate_rows_init(&c->bulk, &f->mailbox, done_nothing, NULL);
    ms_bt_mutate_rows_init(&c->single, &f->mailbox, done_nothing, NULL);
    ms_bt_check_and_mutate_init(&c->check, &f->mailbox, done_nothing, NULL);
    ms_bt_read_modify_write_init(&c->modify, &f->mailbox, done_nothing, NULL);
    c->bulk.table = c->single.table = c->check.table = c->modify.table = &f->table;
    c->bulk.batch = c->single.batch = &c->batch;
    c->single.is_single = true;
    c->check.row_key = c->modify.row_key = ms_str_cstr(key);
    c->check.if_true = &c->batch;
    c->rule = (ms_bt_rule){.kind = MS_BT_RULE_APPEND,
                           .family = ms_str_lit("f"),
                           .qualifier = ms_str_lit("log"),
                           .append = ms_str_cstr(key)};
    c->modify.rules = &c->rule;
    c->modify.rule_count = 1;
    c->calls[0] = &c->bulk.call;
    c->calls[1] = &c->single.call;
    c->calls[2] = &c->check.call;
    c->calls[3] = &c->modify.call;
}

static void change_release(change *c)
{
    ms_bt_mutate_rows_release(&c->bulk);
    ms_bt_mutate_rows_release(&c->single);
    ms_bt_check_and_mutate_release(&c->check);
    ms_bt_read_modify_write_release(&c->modify);
    ms_bt_mutation_batch_release(&c->batch);
}

static void change_submit(fixture *f, change *c, int call)
{
    switch (call) {
    case 0:
        ms_bt_client_mutate_rows(f->client, &c->bulk);
        break;
    case 1:
        ms_bt_client_mutate_rows(f->client, &c->single);
        break;
    case 2:
        ms_bt_client_check_and_mutate(f->client, &c->check);
        break;
    default:
        ms_bt_client_read_modify_write(f->client, &c->modify);
        break;
    }
}

static void calls_at_the_same_time_get_each_its_own_answer(void **state)
{
    enum { CALLERS = 5 };
    fixture *f = *state;
    static const char *const keys[CALLERS] = {"a", "b", "c", "d", "e"};
    change changes[CALLERS];
    put_rows(f, "bd");
    for (int i = 0; i < CALLERS; i++) {
        change_init(f, &changes[i], keys[i]);
        change_submit(f, &changes[i], 2);
        change_submit(f, &changes[i], 3);
    }
    for (int i = 0; i < CALLERS; i++) {
        change *c = &changes[i];
        ms_bt_call_wait(&c->check.call, &f->parker);
        ms_bt_call_wait(&c->modify.call, &f->parker);
        assert_bt(&c->check.call.status, MS_BT_OK);
        assert_bt(&c->modify.call.status, MS_BT_OK);
        assert_int_equal(c->check.predicate_matched, i == 1 || i == 3);
        assert_int_equal(c->modify.row.cell_count, 1);
        assert_str_equal(ms_bt_page_value(&c->modify.row, &c->modify.row.cells[0]), keys[i]);
        change_release(c);
    }
}

/* Failures of the store. */

static void set_faults(const char *spec)
{
    ms_status st = {0};
    assert_ok(ms_env_faults_set(ms_str_cstr(spec), &st));
}

/* What came before the failure counts, and nothing is repeated behind the caller's back. */
static void a_scan_that_fails_in_its_middle_says_so(void **state)
{
    fixture *f = *state;
    char got[32];
    put_rows(f, "abcmnz");
    set_faults("kv.read:1:fail");
    ms_bt_read_options options = {0};
    ms_bt_status bt = read_keys(f, &options, got);
    assert_int_equal(ms_env_faults_fired(), 1);
    set_faults("");
    assert_bt(&bt, MS_BT_INTERNAL);
    assert_string_equal(bt.text,
                        "could not read from the embedded store: IO error: injected fault");
    assert_memory_equal(got, "abcmnz", strlen(got));
    assert_true(strlen(got) < 6);
    bt = read_keys(f, &options, got);
    assert_bt(&bt, MS_BT_OK);
    assert_string_equal(got, "abcmnz");
}

/* Nobody knows whether it was written; and nothing is, from then on. Reads go on. */
static void a_write_that_fails_is_unavailable_and_so_is_all_that_follows(void **state)
{
    (void)state;
    for (int first = 0; first < 4; first++) {
        char got[32];
        fixture f;
        change c;
        fixture_init(&f, MS_BT_SYNC_OS);
        create_table(&f, (const char *const[]){"f"}, 1);
        put_rows(&f, "ab");
        change_init(&f, &c, "a");
        set_faults("kv.write:1:fail");
        for (int i = 0; i < 4; i++) {
            int call = (first + i) % 4;
            c.calls[call]->timeout_ms = TIMEOUT_MS;
            change_submit(&f, &c, call);
            ms_bt_call_wait(c.calls[call], &f.parker);
            assert_bt(&c.calls[call]->status, MS_BT_UNAVAILABLE);
            assert_int_equal(ms_env_faults_fired(), 1);
        }
        set_faults("");
        ms_bt_read_options options = {0};
        ms_bt_status bt = read_keys(&f, &options, got);
        assert_bt(&bt, MS_BT_OK);
        assert_string_equal(got, "ab");
        change_release(&c);
        fixture_release(&f);
    }
}

/* A thread of the pool that does nothing until it may. */
typedef struct blocker {
    ms_iojob job;
    ms_parker may_end;
    ms_parker has_begun;
} blocker;

static void block(ms_iojob *job)
{
    blocker *it = (blocker *)(void *)((char *)job - offsetof(blocker, job));
    ms_parker_unpark(&it->has_begun);
    (void)ms_parker_park(&it->may_end, MS_PARK_FOREVER);
}

static void more_than_the_queue_takes_is_refused_at_once(void **state)
{
    (void)state;
    enum { THREADS = 3, QUEUE = 4 };
    fixture f;
    blocker blockers[THREADS];
    change changes[QUEUE + 1];
    ms_status st = {0};
    static const char *const keys[QUEUE + 1] = {"a", "b", "c", "d", "e"};
    fixture_init(&f, MS_BT_SYNC_OS);
    create_table(&f, (const char *const[]){"f"}, 1);
    fixture_close(&f);
    f.queued_mutations_max = QUEUE;
    fixture_open(&f);
    for (int i = 0; i < THREADS; i++) {
        blockers[i] = (blocker){.job = {.run = block}};
        ms_parker_init(&blockers[i].may_end);
        ms_parker_init(&blockers[i].has_begun);
        assert_ok(ms_iopool_submit(f.pool, &blockers[i].job, &st));
        (void)ms_parker_park(&blockers[i].has_begun, MS_PARK_FOREVER);
    }
    for (int i = 0; i <= QUEUE; i++) {
        change_init(&f, &changes[i], keys[i]);
        change_submit(&f, &changes[i], 1);
    }
    /* The last is answered although nobody works. */
    ms_bt_call_wait(&changes[QUEUE].single.call, &f.parker);
    assert_bt(&changes[QUEUE].single.call.status, MS_BT_RESOURCE_EXHAUSTED);
    assert_string_equal(changes[QUEUE].single.call.status.text,
                        "You have reached the limit of total mutations in your queue. Throttle "
                        "your usage and wait for operations to finish.");
    for (int i = 0; i < THREADS; i++) {
        ms_parker_unpark(&blockers[i].may_end);
    }
    for (int i = 0; i <= QUEUE; i++) {
        ms_bt_call_wait(&changes[i].single.call, &f.parker);
        assert_int_equal(ms_bt_status_is_ok(&changes[i].single.call.status), i < QUEUE);
        change_release(&changes[i]);
    }
    fixture_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(row_sets_limits_and_directions_give_their_rows, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(our_own_store_and_server_are_known, setup, teardown),
        cmocka_unit_test_setup_teardown(a_table_without_rows_gives_none, setup, teardown),
        cmocka_unit_test_setup_teardown(samples_are_the_splits_of_an_empty_table, setup, teardown),
        cmocka_unit_test_setup_teardown(calls_at_the_same_time_get_each_its_own_answer, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(a_scan_that_fails_in_its_middle_says_so, setup, teardown),
        cmocka_unit_test(a_write_that_fails_is_unavailable_and_so_is_all_that_follows),
        cmocka_unit_test(more_than_the_queue_takes_is_refused_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
