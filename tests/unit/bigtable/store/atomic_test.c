/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Atomic rows under everything at once: writes, deletes, rules, checks and aggregates always change
 * two families alike, from several threads, while tablets split and merge and garbage is collected.
 * Whoever reads a row at any time finds the two alike, and in the end nothing was lost or counted
 * twice.
 */
#include "store_testing.h"

#include "os/thread.h"

#include <stdatomic.h>

#define ROWS 20
#define OPERATIONS 1500 /* of each writer */
#define ADMINISTRATIONS 60

/* Raw cells in b and x, aggregates in s and t. The order of names is not that of creation. */
static const char *const raw_pair[2] = {"b", "x"};
static const char *const sum_pair[2] = {"s", "t"};

typedef enum worker_kind { WRITER, RULER, CHECKER, ADDER, ADMINISTRATOR, WORKERS } worker_kind;

typedef struct worker {
    ms_thread thread;
    fixture *f;
    worker_kind kind;
    ms_parker parker;
    ms_mailbox mailbox;
    ms_env_random random;
    ms_bt_mutation_batch batch;
    char key[16];
    uint64_t done; /* rules, resp. additions */
    _Atomic bool *has_failed;
    _Atomic int *running;
} worker;

static uint64_t below(worker *w, uint64_t bound)
{
    return ms_env_random_below(&w->random, bound);
}

/* cmocka's checks are for the main thread. */
static void expect(worker *w, bool holds)
{
    if (!holds) {
        atomic_store(w->has_failed, true);
    }
}

static void begin_entry(worker *w)
{
    ms_status st = {0};
    ms_bt_mutation_batch_reset(&w->batch);
    snprintf(w->key, sizeof(w->key), "r%02d", (int)below(w, ROWS));
    expect(w, ms_bt_mutation_batch_begin_row(&w->batch, ms_str_cstr(w->key), &st) == MS_OK);
}

/* The same mutation in both families of a pair. */
static void append_pair(worker *w, const char *const pair[2], ms_bt_mutation mutation)
{
    ms_status st = {0};
    for (int i = 0; i < 2; i++) {
        expect(w, ms_bt_mutation_batch_family(&w->batch, ms_str_cstr(pair[i]), &mutation.family,
                                              &st) == MS_OK);
        expect(w, ms_bt_mutation_batch_append(&w->batch, &mutation, &st) == MS_OK);
    }
}

static void append_write(worker *w)
{
    char value[32];
    snprintf(value, sizeof(value), "%" PRIx64, ms_env_random_next(&w->random));
    if (below(w, 4) == 0) {
        append_pair(w, raw_pair,
                    (ms_bt_mutation){.kind = MS_BT_MUTATION_DELETE_FROM_COLUMN,
                                     .qualifier = ms_str_lit("q"),
                                     .end_micros = below(w, 2) == 0 ? 0 : 2000});
    }
    append_pair(w, raw_pair,
                (ms_bt_mutation){.kind = MS_BT_MUTATION_SET_CELL,
                                 .qualifier = ms_str_lit("q"),
                                 .timestamp_micros = below(w, 3) == 0 ? MS_BT_TIMESTAMP_SERVER
                                                                      : 1000 * (int)below(w, 4),
                                 .value = ms_str_cstr(value)});
}

static void send_batch(worker *w)
{
    ms_bt_mutation_batch_end_row(&w->batch);
    ms_bt_mutate_rows call;
    ms_bt_mutate_rows_init(&call, &w->mailbox, done_nothing, NULL);
    call.table = &w->f->table;
    call.batch = &w->batch;
    ms_bt_client_mutate_rows(w->f->client, &call);
    ms_bt_call_wait(&call.call, &w->parker);
    expect(w, ms_bt_status_is_ok(&call.call.status) && ms_bt_mutate_rows_failure_count(&call) == 0);
    ms_bt_mutate_rows_release(&call);
}

static void write_once(worker *w)
{
    begin_entry(w);
    append_write(w);
    send_batch(w);
}

static void add_once(worker *w)
{
    begin_entry(w);
    append_pair(w, sum_pair,
                (ms_bt_mutation){.kind = MS_BT_MUTATION_ADD_TO_CELL,
                                 .qualifier = ms_str_lit("q"),
                                 .timestamp_micros = 1000 * (int)below(w, 2),
                                 .value = ms_str_lit("\0\0\0\0\0\0\0\1")});
    send_batch(w);
    w->done++;
}

static void rule_once(worker *w)
{
    snprintf(w->key, sizeof(w->key), "r%02d", (int)below(w, ROWS));
    ms_bt_rule rules[2];
    for (int i = 0; i < 2; i++) {
        rules[i] = (ms_bt_rule){.kind = MS_BT_RULE_INCREMENT,
                                .family = ms_str_cstr(raw_pair[i]),
                                .qualifier = ms_str_lit("n"),
                                .increment = 1};
    }
    ms_bt_read_modify_write call;
    ms_bt_read_modify_write_init(&call, &w->mailbox, done_nothing, NULL);
    call.table = &w->f->table;
    call.row_key = ms_str_cstr(w->key);
    call.rules = rules;
    call.rule_count = 2;
    ms_bt_client_read_modify_write(w->f->client, &call);
    ms_bt_call_wait(&call.call, &w->parker);
    expect(w, ms_bt_status_is_ok(&call.call.status) && call.row.cell_count == 2);
    expect(w, call.row.cell_count == 2 &&
                  ms_str_equals(ms_bt_page_value(&call.row, &call.row.cells[0]),
                                ms_bt_page_value(&call.row, &call.row.cells[1])));
    ms_bt_read_modify_write_release(&call);
    w->done++;
}

/* Writes the pair when the first family of it has the column, and likewise when not. */
static void check_once(worker *w)
{
    begin_entry(w);
    append_write(w);
    ms_bt_mutation_batch_end_row(&w->batch);
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_bt_check_and_mutate call;
    ms_bt_check_and_mutate_init(&call, &w->mailbox, done_nothing, NULL);
    call.table = &w->f->table;
    call.row_key = ms_str_cstr(w->key);
    call.predicate = ms_bt_filter_family(&arena, ms_str_lit("b"));
    *(below(w, 2) == 0 ? &call.if_true : &call.if_false) = &w->batch;
    ms_bt_client_check_and_mutate(w->f->client, &call);
    ms_bt_call_wait(&call.call, &w->parker);
    expect(w, ms_bt_status_is_ok(&call.call.status));
    ms_bt_check_and_mutate_release(&call);
    ms_arena_release(&arena);
}

/* A split where there is one already, or a merge where there is none, is refused; fine. */
static void administrate_once(worker *w)
{
    ms_bt_table_call call;
    ms_bt_table_call_init(&call, &w->mailbox, done_nothing, NULL);
    call.name = w->f->table;
    snprintf(w->key, sizeof(w->key), "r%02d", 1 + (int)below(w, ROWS - 1));
    call.key = ms_str_cstr(w->key);
    uint64_t kind = below(w, 3);
    if (kind == 0) {
        ms_bt_client_split_tablet(w->f->client, &call);
    } else if (kind == 1) {
        ms_bt_client_merge_tablets(w->f->client, &call);
    } else {
        ms_bt_client_collect_garbage(w->f->client, &call);
    }
    ms_bt_call_wait(&call.call, &w->parker);
    expect(w, kind != 2 || ms_bt_status_is_ok(&call.call.status));
    ms_bt_table_call_release(&call);
}

static void run_worker(void *arg)
{
    worker *w = arg;
    int operations = w->kind == ADMINISTRATOR ? ADMINISTRATIONS : OPERATIONS;
    for (int i = 0; i < operations; i++) {
        switch (w->kind) {
        case WRITER:
            write_once(w);
            break;
        case RULER:
            rule_once(w);
            break;
        case CHECKER:
            check_once(w);
            break;
        case ADDER:
            add_once(w);
            break;
        case ADMINISTRATOR:
            administrate_once(w);
            break;
        case WORKERS:
            break;
        }
    }
    atomic_fetch_sub(w->running, 1);
}

/* Reading. */

/* The cells of a family of a row: how many, from where. */
static uint32_t family_cells(const ms_bt_page *page, const ms_bt_row *row, const char *family,
                             uint32_t *first_out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < row->cell_count; i++) {
        const ms_bt_cell *cell = &page->cells[row->first_cell + i];
        if (ms_str_equals(ms_bt_page_family(page, cell), ms_str_cstr(family))) {
            *first_out = count == 0 ? row->first_cell + i : *first_out;
            count++;
        }
    }
    return count;
}

static void check_pair(const ms_bt_page *page, const ms_bt_row *row, const char *const pair[2])
{
    uint32_t first[2] = {0, 0};
    uint32_t count = family_cells(page, row, pair[0], &first[0]);
    assert_int_equal(family_cells(page, row, pair[1], &first[1]), count);
    for (uint32_t i = 0; i < count; i++) {
        const ms_bt_cell *left = &page->cells[first[0] + i];
        const ms_bt_cell *right = &page->cells[first[1] + i];
        assert_true(
            ms_str_equals(ms_bt_page_qualifier(page, left), ms_bt_page_qualifier(page, right)));
        assert_int_equal(left->timestamp_micros, right->timestamp_micros);
        assert_true(ms_str_equals(ms_bt_page_value(page, left), ms_bt_page_value(page, right)));
    }
}

/* Reads all rows once and adds up the numbers in family:n, newest only, resp. family:q. */
static void read_rows(fixture *f, bool is_reversed, uint64_t *rules_out, uint64_t *sums_out)
{
    ms_bt_read_options options = {
        .table = f->table, .page_rows_max = 3, .is_reversed = is_reversed};
    ms_bt_read *read = ms_bt_client_read_rows(f->client, &options, &f->mailbox, wake_nothing, NULL);
    const ms_bt_page *page = NULL;
    *rules_out = 0;
    *sums_out = 0;
    while (ms_bt_read_wait(read, &f->parker, &page) == MS_BT_POLL_PAGE) {
        for (uint32_t r = 0; r < page->row_count; r++) {
            const ms_bt_row *row = &page->rows[r];
            check_pair(page, row, raw_pair);
            check_pair(page, row, sum_pair);
            bool has_rule = false;
            for (uint32_t i = 0; i < row->cell_count; i++) {
                const ms_bt_cell *cell = &page->cells[row->first_cell + i];
                ms_str family = ms_bt_page_family(page, cell);
                ms_str value = ms_bt_page_value(page, cell);
                uint64_t number = 0;
                if (value.bytes == sizeof(number)) {
                    memcpy(&number, value.ptr, sizeof(number));
                }
                if (ms_str_equals(family, ms_str_lit("s"))) {
                    *sums_out += __builtin_bswap64(number);
                } else if (ms_str_equals(family, ms_str_lit("x")) && !has_rule &&
                           ms_str_equals(ms_bt_page_qualifier(page, cell), ms_str_lit("n"))) {
                    *rules_out += __builtin_bswap64(number);
                    has_rule = true;
                }
            }
        }
        ms_bt_read_return(read, page);
    }
    assert_bt(ms_bt_read_status(read), MS_BT_OK);
    assert_true(ms_bt_read_close(read, NULL, NULL));
}

static void create_pairs(fixture *f)
{
    static const ms_bt_gc_rule two = {.kind = MS_BT_GC_MAX_VERSIONS, .max_versions = 2};
    ms_bt_family families[] = {
        {.name = ms_str_lit("x"), .gc_rule = &two},
        {.name = ms_str_lit("t"), .type = MS_BT_VALUE_INT64_SUM},
        {.name = ms_str_lit("s"), .type = MS_BT_VALUE_INT64_SUM},
    };
    create_table_of(f, families, 3, 0);
    ms_bt_family late = {.name = ms_str_lit("b"), .gc_rule = &two};
    add_family_of(f, &late);
}

static void start_worker(worker *w, fixture *f, int kind, _Atomic bool *has_failed,
                         _Atomic int *running)
{
    ms_status st = {0};
    memset(w, 0, sizeof(*w));
    w->f = f;
    w->kind = (worker_kind)kind;
    w->has_failed = has_failed;
    w->running = running;
    ms_env_random_init(&w->random, ms_env_next_seed());
    ms_parker_init(&w->parker);
    ms_mailbox_init(&w->mailbox, &w->parker);
    ms_bt_mutation_batch_init(&w->batch, 1u << 20);
    assert_ok(ms_thread_start(&w->thread, "worker", run_worker, w, &st));
}

static void rows_are_whole_whatever_happens(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, MS_BT_SYNC_OS);
    create_pairs(&f);
    static worker workers[WORKERS];
    _Atomic bool has_failed = false;
    _Atomic int running = WORKERS;
    for (int i = 0; i < WORKERS; i++) {
        start_worker(&workers[i], &f, i, &has_failed, &running);
    }
    uint64_t rules = 0;
    uint64_t sums = 0;
    uint64_t sums_before = 0;
    for (int round = 0; atomic_load(&running) > 0; round++) {
        read_rows(&f, round % 2 == 1, &rules, &sums);
        assert_true(sums >= sums_before);
        sums_before = sums;
    }
    for (int i = 0; i < WORKERS; i++) {
        ms_thread_join(&workers[i].thread);
        ms_bt_mutation_batch_release(&workers[i].batch);
        ms_mailbox_release(&workers[i].mailbox);
    }
    assert_false(atomic_load(&has_failed));
    read_rows(&f, false, &rules, &sums);
    assert_int_equal(rules, workers[RULER].done);
    assert_int_equal(sums, workers[ADDER].done);
    fixture_close(&f);
    fixture_open(&f);
    read_rows(&f, true, &rules, &sums);
    assert_int_equal(rules, OPERATIONS);
    assert_int_equal(sums, OPERATIONS);
    fixture_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_whole_whatever_happens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
