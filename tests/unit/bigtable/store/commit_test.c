/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commit queue, over a pool that the test steps by hand: what is one group, what is one turn,
 * how calls are refused; and with real threads, that nothing is lost.
 */
#include "store_testing.h"

#include "bigtable/store/store_priv.h"
#include "os/thread.h"

typedef struct stepped {
    fixture f;
    ms_bt_mutation_batch batches[8];
    ms_bt_mutate_rows calls[8];
} stepped;

/* Opens the store on a pool without threads. */
static stepped *stepped_create(ms_bt_sync_mode mode, size_t queue_max)
{
    ms_status st = {0};
    stepped *s = calloc(1, sizeof(*s));
    fixture_init(&s->f, mode);
    create_table(&s->f, (const char *const[]){"a"}, 1);
    fixture_close(&s->f);
    ms_iopool_destroy(s->f.pool);
    ms_iopool_options options = {.is_stepped = true, .queue_max = queue_max};
    assert_ok(ms_iopool_create(&options, &s->f.pool, &st));
    fixture_open(&s->f);
    for (int i = 0; i < 8; i++) {
        ms_bt_mutation_batch_init(&s->batches[i], 64u << 20);
        ms_bt_mutate_rows_init(&s->calls[i], &s->f.mailbox, done_nothing, NULL);
        s->calls[i].table = &s->f.table;
        s->calls[i].batch = &s->batches[i];
    }
    return s;
}

static void stepped_destroy(stepped *s)
{
    for (int i = 0; i < 8; i++) {
        ms_bt_mutate_rows_release(&s->calls[i]);
        ms_bt_mutation_batch_release(&s->batches[i]);
    }
    fixture_release(&s->f);
    free(s);
}

/* Appends rows with keys from first on, each with a value of so many bytes. */
static void add_rows(stepped *s, int call, int first, int count, size_t value_bytes)
{
    ms_status st = {0};
    uint16_t a = 0;
    char *value = calloc(1, value_bytes + 1);
    assert_ok(ms_bt_mutation_batch_family(&s->batches[call], ms_str_lit("a"), &a, &st));
    for (int i = 0; i < count; i++) {
        char key[16];
        snprintf(key, sizeof(key), "%06d", first + i);
        assert_ok(ms_bt_mutation_batch_begin_row(&s->batches[call], ms_str_cstr(key), &st));
        assert_ok(ms_bt_mutation_batch_set_cell(&s->batches[call], a, ms_str_lit("q"), 0,
                                                ms_str_make(value, value_bytes), &st));
        ms_bt_mutation_batch_end_row(&s->batches[call]);
    }
    free(value);
}

static void submit(stepped *s, int call)
{
    ms_bt_client_mutate_rows(s->f.client, &s->calls[call]);
}

static int steps(stepped *s)
{
    int count = 0;
    while (ms_iopool_step(s->f.pool)) {
        count++;
    }
    ms_mailbox_deliver(&s->f.mailbox, 64);
    return count;
}

static int count_rows(stepped *s)
{
    ms_bt_read_options options = {.table = s->f.table};
    ms_bt_read *read =
        ms_bt_client_read_rows(s->f.client, &options, &s->f.mailbox, wake_nothing, NULL);
    int rows = 0;
    const ms_bt_page *page = NULL;
    for (;;) {
        steps(s);
        if (ms_bt_read_poll(read, &page) != MS_BT_POLL_PAGE) {
            break;
        }
        rows += (int)page->row_count;
        ms_bt_read_return(read, page);
    }
    assert_bt(ms_bt_read_status(read), MS_BT_OK);
    assert_true(ms_bt_read_close(read, NULL, NULL));
    return rows;
}

static void calls_that_wait_are_one_group(void **state)
{
    (void)state;
    ms_status st = {0};
    stepped *s = stepped_create(MS_BT_SYNC_GROUP, 0);
    for (int i = 0; i < 8; i++) {
        add_rows(s, i, i * 10, 10, 20);
        submit(s, i);
    }
    /* The second write would fail: there is none. */
    assert_ok(ms_env_faults_set(ms_str_lit("kv.write:2:fail"), &st));
    assert_int_equal(steps(s), 1);
    assert_ok(ms_env_faults_set(ms_str_lit(""), &st));
    for (int i = 0; i < 8; i++) {
        assert_false(ms_bt_call_is_outstanding(&s->calls[i].call));
        assert_bt(&s->calls[i].call.status, MS_BT_OK);
    }
    assert_int_equal(count_rows(s), 80);
    stepped_destroy(s);
}

static void nothing_is_acknowledged_before_it_is_written(void **state)
{
    (void)state;
    ms_status st = {0};
    stepped *s = stepped_create(MS_BT_SYNC_GROUP, 0);
    for (int i = 0; i < 3; i++) {
        add_rows(s, i, i * 10, 10, 20);
        submit(s, i);
    }
    assert_ok(ms_env_faults_set(ms_str_lit("kv.write:1:fail"), &st));
    assert_int_equal(steps(s), 1);
    assert_ok(ms_env_faults_set(ms_str_lit(""), &st));
    for (int i = 0; i < 3; i++) {
        assert_bt(&s->calls[i].call.status, MS_BT_UNAVAILABLE);
        assert_non_null(strstr(s->calls[i].call.status.text, "outcome"));
    }
    assert_int_equal(count_rows(s), 0);
    stepped_destroy(s);
}

static void large_call_takes_several_turns(void **state)
{
    (void)state;
    stepped *s = stepped_create(MS_BT_SYNC_CHECKPOINT, 0);
    add_rows(s, 0, 0, 40, 1u << 20);
    add_rows(s, 1, 100, 1, 10);
    submit(s, 0);
    submit(s, 1);
    assert_true(ms_iopool_step(s->f.pool));
    ms_mailbox_deliver(&s->f.mailbox, 64);
    assert_true(ms_bt_call_is_outstanding(&s->calls[0].call));
    assert_true(steps(s) >= 2);
    assert_bt(&s->calls[0].call.status, MS_BT_OK);
    assert_bt(&s->calls[1].call.status, MS_BT_OK);
    assert_int_equal(count_rows(s), 41);
    stepped_destroy(s);
}

/* Of a group of several writes, of which the last syncs: those before it may be lost with the power
 * still. */
static void what_is_not_on_the_disk_is_not_read(void **state)
{
    (void)state;
    ms_status st = {0};
    stepped *s = stepped_create(MS_BT_SYNC_GROUP, 0);
    add_rows(s, 0, 100, 1, 10);
    submit(s, 0);
    steps(s);
    add_rows(s, 1, 0, 15, 1u << 20);
    submit(s, 1);
    assert_ok(ms_env_faults_set(ms_str_lit("kv.write:4:fail"), &st));
    steps(s);
    assert_int_equal(ms_env_faults_fired(), 1);
    assert_ok(ms_env_faults_set(ms_str_lit(""), &st));
    assert_bt(&s->calls[1].call.status, MS_BT_UNAVAILABLE);
    assert_int_equal(count_rows(s), 1);
    stepped_destroy(s);
}

static void failure_in_a_later_turn_leaves_the_outcome_open(void **state)
{
    (void)state;
    ms_status st = {0};
    stepped *s = stepped_create(MS_BT_SYNC_CHECKPOINT, 0);
    add_rows(s, 0, 0, 40, 1u << 20);
    submit(s, 0);
    assert_true(ms_iopool_step(s->f.pool));
    assert_ok(ms_env_faults_set(ms_str_lit("kv.write:1:fail"), &st));
    steps(s);
    assert_ok(ms_env_faults_set(ms_str_lit(""), &st));
    assert_bt(&s->calls[0].call.status, MS_BT_UNAVAILABLE);
    stepped_destroy(s);
}

static void canceled_call_writes_nothing(void **state)
{
    (void)state;
    stepped *s = stepped_create(MS_BT_SYNC_GROUP, 0);
    add_rows(s, 0, 0, 1, 10);
    add_rows(s, 1, 1, 1, 10);
    submit(s, 0);
    submit(s, 1);
    ms_bt_call_cancel(&s->calls[0].call);
    steps(s);
    assert_bt(&s->calls[0].call.status, MS_BT_CANCELLED);
    assert_bt(&s->calls[1].call.status, MS_BT_OK);
    assert_int_equal(count_rows(s), 1);
    stepped_destroy(s);
}

static void run_nothing(ms_iojob *job)
{
    (void)job;
}

static void full_pool_does_not_refuse_writes(void **state)
{
    (void)state;
    ms_status st = {0};
    stepped *s = stepped_create(MS_BT_SYNC_GROUP, 1);
    ms_iojob job = {.run = run_nothing};
    assert_ok(ms_iopool_submit(s->f.pool, &job, &st));
    add_rows(s, 0, 0, 1, 10);
    submit(s, 0);
    steps(s);
    assert_bt(&s->calls[0].call.status, MS_BT_OK);
    assert_int_equal(count_rows(s), 1);
    stepped_destroy(s);
}

static void table_is_there_for_the_calls_behind_its_creation(void **state)
{
    (void)state;
    stepped *s = stepped_create(MS_BT_SYNC_GROUP, 0);
    ms_bt_table_name other = {ms_str_lit("p"), ms_str_lit("i"), ms_str_lit("other")};
    ms_bt_family family = {.name = ms_str_lit("a")};
    ms_bt_table table = {.name = other, .families = &family, .family_count = 1};
    ms_bt_table_call create;
    ms_bt_table_call_init(&create, &s->f.mailbox, done_nothing, NULL);
    create.table = &table;
    add_rows(s, 0, 0, 1, 10);
    add_rows(s, 1, 0, 1, 10);
    s->calls[0].table = &other;
    s->calls[1].table = &other;
    submit(s, 0);
    ms_bt_client_create_table(s->f.client, &create);
    submit(s, 1);
    assert_int_equal(steps(s), 1);
    ms_bt_status before = status_of(&s->calls[0]);
    assert_bt(&before, MS_BT_NOT_FOUND);
    assert_bt(&create.call.status, MS_BT_OK);
    assert_bt(&s->calls[1].call.status, MS_BT_OK);
    ms_bt_table_call_release(&create);
    stepped_destroy(s);
}

/* Calls on single rows. */

#define SINGLES 100

typedef struct singles {
    ms_bt_rule rule;
    ms_bt_read_modify_write modify[SINGLES];
    ms_bt_check_and_mutate check[SINGLES];
    ms_bt_mutation_batch branches[SINGLES];
    char keys[SINGLES][16];
} singles;

/* Submits an increment of each of so many rows, again and again until there are SINGLES. */
static singles *submit_increments(stepped *s, int rows)
{
    singles *all = calloc(1, sizeof(*all));
    all->rule = (ms_bt_rule){.kind = MS_BT_RULE_INCREMENT,
                             .family = ms_str_lit("a"),
                             .qualifier = ms_str_lit("n"),
                             .increment = 1};
    for (int i = 0; i < SINGLES; i++) {
        snprintf(all->keys[i], sizeof(all->keys[i]), "%06d", i % rows);
        ms_bt_read_modify_write_init(&all->modify[i], &s->f.mailbox, done_nothing, NULL);
        all->modify[i].table = &s->f.table;
        all->modify[i].row_key = ms_str_cstr(all->keys[i]);
        all->modify[i].rules = &all->rule;
        all->modify[i].rule_count = 1;
        ms_bt_client_read_modify_write(s->f.client, &all->modify[i]);
    }
    return all;
}

static void release_increments(singles *all)
{
    for (int i = 0; i < SINGLES; i++) {
        assert_bt(&all->modify[i].call.status, MS_BT_OK);
        ms_bt_read_modify_write_release(&all->modify[i]);
    }
    free(all);
}

static void increments_share_a_batch(void **state)
{
    (void)state;
    ms_status st = {0};
    stepped *s = stepped_create(MS_BT_SYNC_GROUP, 0);
    /* Of different rows, and of one: the column is known from the batch itself. */
    for (int rows = SINGLES; rows > 0; rows -= SINGLES - 1) {
        singles *all = submit_increments(s, rows);
        assert_ok(ms_env_faults_set(ms_str_lit("kv.write:2:fail,kv.sync:2:fail"), &st));
        assert_int_equal(steps(s), 1);
        assert_ok(ms_env_faults_set(ms_str_lit(""), &st));
        steps(s);
        const ms_bt_page *last = &all->modify[SINGLES - 1].row;
        char number = ms_bt_page_value(last, &last->cells[0]).ptr[7];
        assert_int_equal(number, rows == 1 ? 101 : 1);
        release_increments(all);
    }
    assert_int_equal(count_rows(s), SINGLES);
    stepped_destroy(s);
}

/* Submits a check of each of so many rows, which sets a cell when the row has none. */
static singles *submit_checks(stepped *s, int rows)
{
    ms_status st = {0};
    uint16_t a = 0;
    singles *all = calloc(1, sizeof(*all));
    for (int i = 0; i < SINGLES; i++) {
        snprintf(all->keys[i], sizeof(all->keys[i]), "%06d", i % rows);
        ms_bt_mutation_batch *batch = &all->branches[i];
        ms_bt_mutation_batch_init(batch, 1u << 20);
        assert_ok(ms_bt_mutation_batch_family(batch, ms_str_lit("a"), &a, &st));
        assert_ok(ms_bt_mutation_batch_begin_row(batch, ms_str_cstr(all->keys[i]), &st));
        assert_ok(
            ms_bt_mutation_batch_set_cell(batch, a, ms_str_lit("q"), 0, ms_str_lit("v"), &st));
        ms_bt_mutation_batch_end_row(batch);
        ms_bt_check_and_mutate_init(&all->check[i], &s->f.mailbox, done_nothing, NULL);
        all->check[i].table = &s->f.table;
        all->check[i].row_key = ms_str_cstr(all->keys[i]);
        all->check[i].if_false = batch;
        ms_bt_client_check_and_mutate(s->f.client, &all->check[i]);
    }
    return all;
}

/* Gives how many of them found a cell. */
static int release_checks(singles *all)
{
    int matched = 0;
    for (int i = 0; i < SINGLES; i++) {
        assert_bt(&all->check[i].call.status, MS_BT_OK);
        matched += all->check[i].predicate_matched;
        ms_bt_check_and_mutate_release(&all->check[i]);
        ms_bt_mutation_batch_release(&all->branches[i]);
    }
    free(all);
    return matched;
}

static void checks_share_a_batch_unless_one_must_see_another(void **state)
{
    (void)state;
    ms_status st = {0};
    stepped *s = stepped_create(MS_BT_SYNC_GROUP, 0);
    singles *all = submit_checks(s, SINGLES);
    assert_ok(ms_env_faults_set(ms_str_lit("kv.write:2:fail,kv.sync:2:fail"), &st));
    assert_int_equal(steps(s), 1);
    assert_ok(ms_env_faults_set(ms_str_lit(""), &st));
    steps(s);
    assert_int_equal(release_checks(all), 0);
    assert_int_equal(count_rows(s), SINGLES);
    stepped_destroy(s);

    /* Of one row: exactly one of them finds it empty; those that only look write nothing. */
    s = stepped_create(MS_BT_SYNC_GROUP, 0);
    all = submit_checks(s, 1);
    assert_ok(ms_env_faults_set(ms_str_lit("kv.write:3:fail,kv.sync:2:fail"), &st));
    assert_int_equal(steps(s), 1);
    assert_ok(ms_env_faults_set(ms_str_lit(""), &st));
    steps(s);
    assert_int_equal(release_checks(all), SINGLES - 1);
    stepped_destroy(s);
}

static void queue_of_mutations_has_a_limit(void **state)
{
    (void)state;
    stepped *s = stepped_create(MS_BT_SYNC_GROUP, 0);
    fixture_close(&s->f);
    s->f.queued_mutations_max = 25;
    fixture_open(&s->f);
    for (int i = 0; i < 4; i++) {
        add_rows(s, i, i * 10, 10, 20);
        submit(s, i);
    }
    steps(s);
    steps(s);
    for (int i = 0; i < 4; i++) {
        assert_bt(&s->calls[i].call.status, i < 2 ? MS_BT_OK : MS_BT_RESOURCE_EXHAUSTED);
    }
    assert_string_equal(s->calls[2].call.status.text,
                        "You have reached the limit of total mutations in your queue. Throttle "
                        "your usage and wait for operations to finish.");
    /* There is room again, and one call alone may be larger. */
    add_rows(s, 4, 100, 30, 20);
    submit(s, 4);
    steps(s);
    assert_bt(&s->calls[4].call.status, MS_BT_OK);
    assert_int_equal(count_rows(s), 50);
    stepped_destroy(s);
}

static void many_families_of_a_batch_are_resolved(void **state)
{
    (void)state;
    ms_status st = {0};
    fixture f;
    fixture_init(&f, MS_BT_SYNC_OS);
    const char *names[16] = {"f00", "f01", "f02", "f03", "f04", "f05", "f06", "f07",
                             "f08", "f09", "f10", "f11", "f12", "f13", "f14", "f15"};
    create_table(&f, names, 16);
    ms_bt_mutation_batch batch;
    ms_bt_mutation_batch_init(&batch, 1u << 20);
    assert_ok(ms_bt_mutation_batch_begin_row(&batch, ms_str_lit("r"), &st));
    uint16_t index = 0;
    assert_ok(ms_bt_mutation_batch_family(&batch, ms_str_lit("unknown but unused"), &index, &st));
    for (int i = 15; i >= 0; i--) {
        assert_ok(ms_bt_mutation_batch_family(&batch, ms_str_cstr(names[i]), &index, &st));
        assert_ok(ms_bt_mutation_batch_set_cell(&batch, index, ms_str_lit(""), 0,
                                                ms_str_cstr(names[i]), &st));
    }
    ms_bt_mutation_batch_end_row(&batch);
    ms_bt_status bt = write_batch(&f, &batch);
    assert_bt(&bt, MS_BT_OK);
    assert_rows(&f, "r{f00:@0=f00,f01:@0=f01,f02:@0=f02,f03:@0=f03,f04:@0=f04,f05:@0=f05,"
                    "f06:@0=f06,f07:@0=f07,f08:@0=f08,f09:@0=f09,f10:@0=f10,f11:@0=f11,"
                    "f12:@0=f12,f13:@0=f13,f14:@0=f14,f15:@0=f15}");
    ms_bt_mutation_batch_release(&batch);
    fixture_release(&f);
}

/* Threads. */

#define WRITERS 3
#define WRITER_BATCHES 60
#define WRITER_ROWS 7

typedef struct writer {
    ms_thread thread;
    fixture *f;
    int number;
    bool deletes;
} writer;

static void run_writer(void *arg)
{
    writer *w = arg;
    ms_status st = {0};
    ms_parker parker;
    ms_mailbox mailbox;
    ms_parker_init(&parker);
    ms_mailbox_init(&mailbox, &parker);
    ms_bt_mutation_batch batch;
    ms_bt_mutation_batch_init(&batch, 1u << 20);
    ms_bt_mutate_rows call;
    ms_bt_mutate_rows_init(&call, &mailbox, done_nothing, NULL);
    call.table = &w->f->table;
    call.batch = &batch;
    uint16_t a = 0;
    assert_ok(ms_bt_mutation_batch_family(&batch, ms_str_lit("a"), &a, &st));
    for (int i = 0; i < WRITER_BATCHES; i++) {
        ms_bt_mutation_batch_reset(&batch);
        for (int row = 0; row < WRITER_ROWS; row++) {
            char key[32];
            snprintf(key, sizeof(key), "w%d-%03d-%d", w->number, i, row);
            assert_ok(ms_bt_mutation_batch_begin_row(&batch, ms_str_cstr(key), &st));
            if (w->deletes) {
                assert_ok(ms_bt_mutation_batch_delete_row(&batch, &st));
            }
            assert_ok(
                ms_bt_mutation_batch_set_cell(&batch, a, ms_str_lit("q"), 0, ms_str_lit("v"), &st));
            ms_bt_mutation_batch_end_row(&batch);
        }
        ms_bt_client_mutate_rows(w->f->client, &call);
        ms_bt_call_wait(&call.call, &parker);
        assert_int_equal(call.call.status.code, MS_BT_OK);
    }
    ms_bt_mutate_rows_release(&call);
    ms_bt_mutation_batch_release(&batch);
    ms_mailbox_release(&mailbox);
}

static void concurrent_writers_lose_nothing(void **state)
{
    (void)state;
    ms_status st = {0};
    fixture f;
    fixture_init(&f, MS_BT_SYNC_GROUP);
    create_table(&f, (const char *const[]){"a"}, 1);
    writer writers[WRITERS];
    for (int i = 0; i < WRITERS; i++) {
        writers[i] = (writer){.f = &f, .number = i, .deletes = i == 1};
        assert_ok(ms_thread_start(&writers[i].thread, "writer", run_writer, &writers[i], &st));
    }
    for (int i = 0; i < WRITERS; i++) {
        ms_thread_join(&writers[i].thread);
    }
    fixture_close(&f);
    fixture_open(&f);
    ms_bt_read_options options = {.table = f.table};
    ms_bt_read *read = ms_bt_client_read_rows(f.client, &options, &f.mailbox, wake_nothing, NULL);
    const ms_bt_page *page = NULL;
    uint32_t rows = 0;
    while (ms_bt_read_wait(read, &f.parker, &page) == MS_BT_POLL_PAGE) {
        rows += page->row_count;
        assert_int_equal(page->cell_count, page->row_count);
        ms_bt_read_return(read, page);
    }
    assert_int_equal(rows, WRITERS * WRITER_BATCHES * WRITER_ROWS);
    assert_true(ms_bt_read_close(read, NULL, NULL));
    fixture_release(&f);
}

/* The call that met the full disk and those after it hear of the same way out. */
static void full_disk_is_cured_by_one_advice(void **state)
{
    (void)state;
    static const char advice[] = "no space; free space, then start again";
    ms_status full = {0};
    ms_status_set(&full, MS_DISK_FULL, ms_span_none, "no space");
    stepped *s = stepped_create(MS_BT_SYNC_GROUP, 0);
    ms_bt_status first = {0};
    msi_store_poison(s->f.store, &full, &first);
    assert_non_null(strstr(first.text, advice));
    ms_bt_status second = set_cell(&s->f, "a", "f", "q", 0, "v");
    assert_bt(&second, MS_BT_UNAVAILABLE);
    assert_non_null(strstr(second.text, advice));
    stepped_destroy(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_that_wait_are_one_group),
        cmocka_unit_test(nothing_is_acknowledged_before_it_is_written),
        cmocka_unit_test(large_call_takes_several_turns),
        cmocka_unit_test(what_is_not_on_the_disk_is_not_read),
        cmocka_unit_test(failure_in_a_later_turn_leaves_the_outcome_open),
        cmocka_unit_test(canceled_call_writes_nothing),
        cmocka_unit_test(full_pool_does_not_refuse_writes),
        cmocka_unit_test(table_is_there_for_the_calls_behind_its_creation),
        cmocka_unit_test(increments_share_a_batch),
        cmocka_unit_test(checks_share_a_batch_unless_one_must_see_another),
        cmocka_unit_test(queue_of_mutations_has_a_limit),
        cmocka_unit_test(many_families_of_a_batch_are_resolved),
        cmocka_unit_test(concurrent_writers_lose_nothing),
        cmocka_unit_test(full_disk_is_cured_by_one_advice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
