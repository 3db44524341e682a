/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Concurrent writers, splits, merges and collected garbage against a reader that follows the chain
 * of partitions, over restarts of the store. Every write of a row carries the next number of that
 * row, so that the reader can tell that it sees every commit once and in order; rows that several
 * writers increment tell the same of commits that nobody ordered beforehand.
 *
 * MS_NIGHTLY=1 takes more of everything; MS_SEED repeats a sequence of decisions, though not the
 * timing of threads.
 */
#include "change_testing.h"

#include "os/thread.h"

#include <stdatomic.h>

#define WRITERS 3
#define ROWS 16 /* of each writer */
#define COUNTERS 6
#define ENTRIES_MAX 6
#define STREAMS_MAX 64
#define KEY_BYTES 8
#define LATE_ONE_IN 300 /* rounds of looking at all streams */

typedef struct audit audit;

typedef struct writer {
    audit *a;
    ms_thread thread;
    int index;
    uint64_t next[ROWS]; /* the number that the next write of a row has */
    ms_env_random random;
    int batches; /* in this round */
} writer;

/* A partition that is followed: open, waiting for the tokens of all its parts, or one of the first
 * whose turn to be opened has not come. */
typedef struct followed {
    ms_bt_range partition;
    ms_bt_change_token tokens[STREAMS_MAX];
    size_t token_count;
    ms_bt_change_read *read; /* NULL: it waits */
    bool is_late;            /* for its turn */
} followed;

struct audit {
    fixture f;
    int rounds;
    int batches; /* of a writer in a round */
    ms_env_random random;
    writer writers[WRITERS];
    ms_thread surgeon;
    ms_env_random surgeon_random; /* for the thread of this round, which takes a copy */
    _Atomic int writers_left;
    _Atomic uint64_t increments[COUNTERS];
    ms_arena arena;       /* of tokens and bounds */
    int64_t start_micros; /* of the first partitions */
    followed list[STREAMS_MAX];
    size_t count;
    uint64_t seen[WRITERS][ROWS];
    uint64_t seen_counters[COUNTERS];
    uint64_t garbage;
    uint64_t closes;
};

/* Writing: own threads. */

typedef struct caller {
    ms_parker parker;
    ms_mailbox mailbox;
} caller;

static void caller_init(caller *c)
{
    ms_parker_init(&c->parker);
    ms_mailbox_init(&c->mailbox, &c->parker);
}

/* "b03w1": letters first, so that splits by letters cut everybody's rows. */
static ms_str row_key(int of_writer, int row, char to[KEY_BYTES])
{
    snprintf(to, KEY_BYTES, "%c%02dw%d", 'a' + row % 8, row, of_writer);
    return ms_str_cstr(to);
}

static ms_str counter_key(int counter, char to[KEY_BYTES])
{
    snprintf(to, KEY_BYTES, "%c%02dc", 'a' + counter, counter);
    return ms_str_cstr(to);
}

static void write_some(writer *w, caller *c)
{
    ms_status st = {0};
    ms_bt_mutation_batch batch;
    ms_bt_mutation_batch_init(&batch, 1u << 16);
    uint16_t family = 0;
    assert_ok(ms_bt_mutation_batch_family(&batch, ms_str_lit("f"), &family, &st));
    uint64_t entries = 1 + ms_env_random_below(&w->random, ENTRIES_MAX);
    for (uint64_t i = 0; i < entries; i++) {
        int row = (int)ms_env_random_below(&w->random, ROWS);
        char key[KEY_BYTES];
        char value[24];
        snprintf(value, sizeof(value), "%" PRIu64, w->next[row]);
        assert_ok(ms_bt_mutation_batch_begin_row(&batch, row_key(w->index, row, key), &st));
        /* Now and then a deletion comes first, which makes the leader read and cut batches. */
        if (ms_env_random_below(&w->random, 4) == 0) {
            assert_ok(ms_bt_mutation_batch_delete_row(&batch, &st));
        }
        assert_ok(ms_bt_mutation_batch_set_cell(&batch, family, ms_str_lit("q"),
                                                (int64_t)w->next[row] * 1000, ms_str_cstr(value),
                                                &st));
        ms_bt_mutation_batch_end_row(&batch);
        w->next[row]++;
    }
    ms_bt_mutate_rows call;
    ms_bt_mutate_rows_init(&call, &c->mailbox, done_nothing, NULL);
    call.table = &w->a->f.table;
    call.batch = &batch;
    ms_bt_client_mutate_rows(w->a->f.client, &call);
    ms_bt_call_wait(&call.call, &c->parker);
    assert_bt(&call.call.status, MS_BT_OK);
    ms_bt_mutate_rows_release(&call);
    ms_bt_mutation_batch_release(&batch);
}

static void increment_one(writer *w, caller *c)
{
    int counter = (int)ms_env_random_below(&w->random, COUNTERS);
    char key[KEY_BYTES];
    ms_bt_rule rule = {.kind = MS_BT_RULE_INCREMENT,
                       .family = ms_str_lit("f"),
                       .qualifier = ms_str_lit("n"),
                       .increment = 1};
    ms_bt_read_modify_write call;
    ms_bt_read_modify_write_init(&call, &c->mailbox, done_nothing, NULL);
    call.table = &w->a->f.table;
    call.row_key = counter_key(counter, key);
    call.rules = &rule;
    call.rule_count = 1;
    ms_bt_client_read_modify_write(w->a->f.client, &call);
    ms_bt_call_wait(&call.call, &c->parker);
    assert_bt(&call.call.status, MS_BT_OK);
    atomic_fetch_add(&w->a->increments[counter], 1);
    ms_bt_read_modify_write_release(&call);
}

static void run_writer(void *arg)
{
    writer *w = arg;
    caller c;
    caller_init(&c);
    for (int i = 0; i < w->batches; i++) {
        if (ms_env_random_below(&w->random, 3) == 0) {
            increment_one(w, &c);
        } else {
            write_some(w, &c);
        }
    }
    ms_mailbox_release(&c.mailbox);
    atomic_fetch_sub(&w->a->writers_left, 1);
}

/* Splits and merges, as long as somebody writes. */
static void run_surgeon(void *arg)
{
    audit *a = arg;
    caller c;
    caller_init(&c);
    ms_env_random random = a->surgeon_random;
    while (atomic_load(&a->writers_left) > 0) {
        char key[4];
        snprintf(key, sizeof(key), "%c%02d", 'a' + (int)ms_env_random_below(&random, 8),
                 (int)ms_env_random_below(&random, 4) * 5);
        ms_bt_table_call call;
        ms_bt_table_call_init(&call, &c.mailbox, done_nothing, NULL);
        call.name = a->f.table;
        call.key = ms_str_cstr(key);
        uint64_t what = ms_env_random_below(&random, 8);
        if (what == 0) {
            ms_bt_client_collect_garbage(a->f.client, &call);
        } else if (what < 5) {
            ms_bt_client_merge_tablets(a->f.client, &call);
        } else {
            ms_bt_client_split_tablet(a->f.client, &call);
        }
        ms_bt_call_wait(&call.call, &c.parker);
        /* A key that is no boundary cannot be merged, and one that is cannot be split at. */
        if (call.call.status.code != MS_BT_FAILED_PRECONDITION) {
            assert_bt(&call.call.status, MS_BT_OK);
        }
        ms_bt_table_call_release(&call);
    }
    ms_mailbox_release(&c.mailbox);
}

/* Auditing: the main thread. */

static void audit_counter(audit *a, const ms_bt_change *change)
{
    assert_int_equal(change->mutation_count, 1);
    ms_str value = change->mutations[0].value;
    assert_int_equal(value.bytes, 8);
    uint64_t number = 0;
    memcpy(&number, value.ptr, 8);
    number = __builtin_bswap64(number);
    int counter = change->row_key.ptr[0] - 'a';
    if (number != a->seen_counters[counter] + 1) {
        fail_msg("counter %d: %" PRIu64 " after %" PRIu64, counter, number,
                 a->seen_counters[counter]);
    }
    a->seen_counters[counter]++;
}

static void audit_row(audit *a, const ms_bt_change *change)
{
    int row = (change->row_key.ptr[1] - '0') * 10 + change->row_key.ptr[2] - '0';
    int w = change->row_key.ptr[4] - '0';
    const ms_bt_change_mutation *set = &change->mutations[change->mutation_count - 1];
    char expected[24];
    int bytes = snprintf(expected, sizeof(expected), "%" PRIu64, a->seen[w][row] + 1);
    assert_int_equal(set->kind, MS_BT_MUTATION_SET_CELL);
    if (!ms_str_equals(set->value, ms_str_make(expected, (size_t)bytes))) {
        fail_msg("row %.*s: %.*s instead of %s", MS_STR_ARG(change->row_key),
                 MS_STR_ARG(set->value), expected);
    }
    a->seen[w][row]++;
}

static void audit_data(audit *a, const followed *at, const ms_bt_change *change)
{
    assert_true(ms_bt_range_contains(&at->partition, change->row_key));
    if (change->is_garbage_collection) {
        a->garbage++;
    } else if (change->row_key.ptr[3] == 'c') {
        audit_counter(a, change);
    } else {
        audit_row(a, change);
    }
}

static void wake_audit(void *arg)
{
    (void)arg;
}

static void open_followed(audit *a, followed *at)
{
    at->is_late = false;
    /* Some have no heartbeats, which would cover up that they were not woken by a commit. */
    int64_t heartbeat_ms = ms_env_random_below(&a->random, 2) == 0 ? 5 : INT64_MAX;
    ms_bt_change_options options = {.table = a->f.table,
                                    .partition = at->partition,
                                    .tokens = at->tokens,
                                    .token_count = at->token_count,
                                    .start_micros = a->start_micros,
                                    .heartbeat_ms = heartbeat_ms,
                                    .page_bytes_max = 200};
    at->read = ms_bt_client_read_changes(a->f.client, &options, &a->f.mailbox, wake_audit, NULL);
}

/* Does the list of tokens tile the partition? */
static bool is_tiled(const followed *at)
{
    size_t taken = 0;
    ms_str end = at->partition.start.key;
    for (size_t i = 0; i < at->token_count; i++) {
        for (size_t j = 0; j < at->token_count; j++) {
            if (ms_str_equals(at->tokens[j].partition.start.key, end) && taken < at->token_count) {
                end = at->tokens[j].partition.end.key;
                taken++;
                break;
            }
        }
        if (end.bytes == 0) {
            break;
        }
    }
    return taken == at->token_count && ms_str_equals(end, at->partition.end.key);
}

static followed *find_waiting(audit *a, const ms_bt_range *partition)
{
    for (size_t i = 0; i < a->count; i++) {
        if (a->list[i].read == NULL && !a->list[i].is_late &&
            ms_bt_range_equals(&a->list[i].partition, partition)) {
            return &a->list[i];
        }
    }
    assert_true(a->count < STREAMS_MAX);
    followed *fresh = &a->list[a->count++];
    *fresh = (followed){.partition = copy_range(&a->arena, partition)};
    return fresh;
}

/* The partition of a closed stream goes on in others, which open once all tokens are there. */
static void follow_close(audit *a, const ms_bt_change *change)
{
    assert_int_equal(change->status.code, MS_BT_OUT_OF_RANGE);
    assert_true(change->token_count > 0);
    a->closes++;
    for (uint32_t i = 0; i < change->token_count; i++) {
        followed *next = find_waiting(a, &change->new_partitions[i]);
        ms_bt_change_token *token = &next->tokens[next->token_count++];
        token->partition = copy_range(&a->arena, &change->tokens[i].partition);
        token->token = ms_arena_copy_str(&a->arena, change->tokens[i].token);
        if (is_tiled(next)) {
            open_followed(a, next);
        }
    }
}

static void close_read(audit *a, ms_bt_change_read *read)
{
    bool is_over = false;
    if (!ms_bt_change_read_close(read, no_more, &is_over)) {
        while (!is_over) {
            if (ms_mailbox_deliver(&a->f.mailbox, 16) == 0) {
                ms_parker_park(&a->f.parker, MS_PARK_FOREVER);
            }
        }
    }
}

static void remove_followed(audit *a, size_t index)
{
    a->list[index] = a->list[--a->count];
}

/* Takes what is there of one stream; false when it was nothing. */
static bool follow_one(audit *a, size_t index)
{
    followed *at = &a->list[index];
    const ms_bt_change_page *page = NULL;
    ms_bt_poll poll =
        at->read == NULL ? MS_BT_POLL_PENDING : ms_bt_change_read_poll(at->read, &page);
    if (poll == MS_BT_POLL_PENDING) {
        return false;
    }
    if (poll != MS_BT_POLL_PAGE) {
        fail_msg("poll %d: %s", (int)poll, ms_bt_change_read_status(at->read)->text);
    }
    ms_bt_change_read *read = at->read;
    for (uint32_t i = 0; i < page->change_count; i++) {
        const ms_bt_change *change = &page->changes[i];
        if (change->kind == MS_BT_CHANGE_CLOSE) {
            remove_followed(a, index);
            follow_close(a, change);
            ms_bt_change_read_return(read, page);
            close_read(a, read);
            return true;
        }
        if (change->kind == MS_BT_CHANGE_DATA) {
            audit_data(a, at, change);
        }
        at->tokens[0].partition = at->partition;
        at->tokens[0].token = ms_arena_copy_str(&a->arena, change->token);
        at->token_count = 1;
    }
    ms_bt_change_read_return(read, page);
    return true;
}

static bool has_seen_all(const audit *a)
{
    bool has_all = true;
    for (int w = 0; w < WRITERS; w++) {
        for (int row = 0; row < ROWS; row++) {
            has_all = has_all && a->seen[w][row] + 1 == a->writers[w].next[row];
        }
    }
    for (int i = 0; i < COUNTERS; i++) {
        has_all = has_all && a->seen_counters[i] == atomic_load(&a->increments[i]);
    }
    return has_all;
}

static void follow_all(audit *a)
{
    bool any = false;
    for (size_t i = 0; i < a->count; i++) {
        if (a->list[i].is_late && ms_env_random_below(&a->random, LATE_ONE_IN) == 0) {
            open_followed(a, &a->list[i]);
        }
        any = follow_one(a, i) || any;
    }
    if (!any && ms_mailbox_deliver(&a->f.mailbox, 64) == 0) {
        ms_parker_park(&a->f.parker, 1000000);
    }
}

/* Partitions as they are now, from the start on; opened by and by, while they become others. */
static void follow_first(audit *a)
{
    ms_bt_partitions call;
    ms_bt_partitions_init(&call, &a->f.mailbox, done_nothing, NULL);
    call.table = &a->f.table;
    ms_bt_client_partitions(a->f.client, &call);
    ms_bt_call_wait(&call.call, &a->f.parker);
    assert_bt(&call.call.status, MS_BT_OK);
    for (size_t i = 0; i < call.partition_count; i++) {
        find_waiting(a, &call.partitions[i])->is_late = true;
    }
    ms_bt_partitions_release(&call);
}

static void stop_following(audit *a)
{
    for (size_t i = 0; i < a->count; i++) {
        if (a->list[i].read != NULL) {
            close_read(a, a->list[i].read);
            a->list[i].read = NULL;
        }
    }
}

/* After a restart: every stream behind what was seen of it, waiting ones go on waiting. */
static void resume_following(audit *a)
{
    for (size_t i = 0; i < a->count; i++) {
        followed *at = &a->list[i];
        if (!at->is_late && (at->token_count == 0 || is_tiled(at))) {
            open_followed(a, at);
        }
    }
}

/* Life. */

static void open_store(audit *a)
{
    ms_status st = {0};
    ms_bt_store_options options = {.path = a->f.path,
                                   .pool = a->f.pool,
                                   .create = true,
                                   .sync_mode = MS_BT_SYNC_CHECKPOINT,
                                   .write_buffer_bytes = 1u << 18,
                                   .gc_period_ms = 20};
    assert_ok(ms_bt_store_open(&options, &a->f.store, &st));
    a->f.client = ms_bt_client_create(ms_bt_store_transport(a->f.store), NULL);
}

static void create_audited(audit *a)
{
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_bt_family family = {.name = ms_str_lit("f"),
                           .gc_rule = ms_bt_gc_rule_max_versions(&arena, 1)};
    ms_str splits[] = {ms_str_lit("b05"), ms_str_lit("d00"), ms_str_lit("f10")};
    ms_bt_table table = {.name = a->f.table,
                         .splits = splits,
                         .split_count = 3,
                         .families = &family,
                         .family_count = 1,
                         .change_retention_micros = DAY_MICROS};
    ms_bt_table_call call = admin_call_of(&a->f);
    call.table = &table;
    ms_bt_status bt = admin_call(&a->f, &call, ms_bt_client_create_table);
    assert_bt(&bt, MS_BT_OK);
    ms_bt_table_call_release(&call);
    ms_arena_release(&arena);
}

static int setup(void **state)
{
    audit *a = calloc(1, sizeof(*a));
    fixture_init(&a->f, MS_BT_SYNC_CHECKPOINT);
    fixture_close(&a->f);
    bool is_nightly = getenv("MS_NIGHTLY") != NULL;
    a->rounds = is_nightly ? 40 : 4;
    a->batches = is_nightly ? 600 : 120;
    ms_env_random_init(&a->random, ms_env_next_seed());
    ms_arena_init(&a->arena, 0);
    open_store(a);
    create_audited(a);
    for (int w = 0; w < WRITERS; w++) {
        a->writers[w] = (writer){.a = a, .index = w};
        ms_env_random_init(&a->writers[w].random, ms_env_random_next(&a->random));
        for (int row = 0; row < ROWS; row++) {
            a->writers[w].next[row] = 1;
        }
    }
    *state = a;
    return 0;
}

static int teardown(void **state)
{
    audit *a = *state;
    ms_arena_release(&a->arena);
    fixture_release(&a->f);
    free(a);
    return 0;
}

static void start_threads(audit *a)
{
    ms_status st = {0};
    atomic_store(&a->writers_left, WRITERS);
    for (int w = 0; w < WRITERS; w++) {
        a->writers[w].batches = a->batches;
        assert_ok(
            ms_thread_start(&a->writers[w].thread, "writer", run_writer, &a->writers[w], &st));
    }
    ms_env_random_init(&a->surgeon_random, ms_env_random_next(&a->random));
    assert_ok(ms_thread_start(&a->surgeon, "surgeon", run_surgeon, a, &st));
}

static void join_threads(audit *a)
{
    for (int w = 0; w < WRITERS; w++) {
        ms_thread_join(&a->writers[w].thread);
    }
    ms_thread_join(&a->surgeon);
}

static void every_commit_is_seen_once_and_in_order(void **state)
{
    audit *a = *state;
    a->start_micros = ms_env_wall_us();
    follow_first(a);
    for (int round = 0; round < a->rounds; round++) {
        start_threads(a);
        while (atomic_load(&a->writers_left) > 0) {
            follow_all(a);
        }
        join_threads(a);
        /* The store restarts while the reader is somewhere. */
        stop_following(a);
        fixture_close(&a->f);
        open_store(a);
        resume_following(a);
    }
    while (!has_seen_all(a)) {
        follow_all(a);
    }
    assert_true(a->closes > 0);
    assert_true(a->garbage > 0);
    stop_following(a);
    /* A reader that comes late finds the same, though the partitions of today were others then. */
    a->count = 0;
    memset(a->seen, 0, sizeof(a->seen));
    memset(a->seen_counters, 0, sizeof(a->seen_counters));
    follow_first(a);
    while (!has_seen_all(a)) {
        follow_all(a);
    }
    stop_following(a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_commit_is_seen_once_and_in_order, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
