/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A writer against a transport that answers as the test says: how many requests are out, in which
 * order they go, and what every answer does.
 */
#include "bt_running.h"

#include "bigtable/client/fake_transport.h"
#include "connector/bigtable/row_encode.h"

typedef struct fixture {
    world world; /* without a store: its client is the fake's */
    fake *fake;
    table_maker maker;
    ms_sink *sink;
    ms_writer *writer;
    ms_status st;
} fixture;

static void fixture_init(fixture *f, bool creates)
{
    memset(f, 0, sizeof(*f));
    world *w = &f->world;
    f->fake = fake_create(NULL);
    w->client = f->fake->client;
    w->service.open = world_open;
    ms_arena_init(&w->arena, 0);
    ms_account_init(&w->account, NULL, "test", NULL, MS_ACCOUNT_UNLIMITED);
    w->env = (ms_task_env){.waker = {world_wake, w, world_wake_at},
                           .mailbox = &f->fake->mailbox,
                           .account = &w->account,
                           .parallelism = 1,
                           .batch_rows = 2048};
    maker_init(&f->maker, &w->arena);
    maker_column(&f->maker, "k", make_type(&w->arena, "STRING"));
    maker_family(&f->maker, "a", "q STRING");
    if (creates) {
        maker_option(&f->maker, "sink.create-disposition", "create-if-needed");
        maker_option(&f->maker, "sink.table-create.gc-rule.max-versions", "1");
    }
    f->sink = plan_sink(w, &f->maker);
    f->writer = create_writer(w, f->sink);
}

static void fixture_release(fixture *f)
{
    if (f->writer != NULL) {
        f->writer->klass->close(f->writer);
    }
    assert_int_equal(ms_account_used_bytes(&f->world.account), 0);
    fake_destroy(f->fake);
    ms_account_release(&f->world.account);
    ms_arena_release(&f->world.arena);
}

static ms_write write_one(fixture *f, const char *row)
{
    batch_maker b;
    batch_init(&b, &f->world.arena, &f->sink->input, 4);
    batch_row(&b, row);
    return f->writer->klass->write(f->writer, &b.batch, &f->st);
}

/* The keys of a request that is out: "k1 k2". */
static void assert_keys(fixture *f, int started, const char *expected)
{
    const ms_bt_mutate_rows *call = ms_bt_call_mutate_rows(f->fake->started[started]);
    ms_bt_mutation_cursor cursor = ms_bt_mutation_cursor_make(call->batch);
    ms_bt_mutation_entry entry;
    char text[256] = "";
    while (ms_bt_mutation_cursor_next_entry(&cursor, &entry)) {
        size_t at = strlen(text);
        snprintf(text + at, sizeof(text) - at, "%s%.*s", at > 0 ? " " : "", MS_STR_ARG(entry.key));
    }
    assert_string_equal(text, expected);
}

static void answer(fixture *f, int started, ms_bt_code code)
{
    ms_bt_call *call = f->fake->started[started];
    if (code != MS_BT_OK) {
        ms_bt_status_set(&call->status, code, "as the test says");
    }
    ms_bt_call_finish(call);
    fake_deliver(f->fake);
}

/* Answers that one entry of a request failed. */
static void answer_entry(fixture *f, int started, uint32_t index, ms_bt_code code)
{
    ms_bt_mutate_rows *call = ms_bt_call_mutate_rows(f->fake->started[started]);
    ms_status st = {0};
    assert_ok(
        ms_bt_failures_add(&call->failures, index, code, ms_str_lit("as the test says"), &st));
    answer(f, started, MS_BT_OK);
}

static void begin_persist(fixture *f, uint64_t checkpoint, completion *done)
{
    *done = (completion){.face = {completion_done}};
    ms_status st = {0};
    assert_ok(f->writer->klass->cut(f->writer, checkpoint, false, &st));
    f->writer->klass->persist(f->writer, checkpoint, &done->face);
}

static void rows_gather_while_a_request_is_out(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, false);
    assert_int_equal(write_one(&f, "'k1' ('x')"), MS_WRITE_DONE);
    assert_int_equal(f.fake->started_count, 1);
    assert_int_equal(write_one(&f, "'k2' ('x')"), MS_WRITE_DONE);
    assert_int_equal(write_one(&f, "'k3' ('x')"), MS_WRITE_DONE);
    assert_int_equal(f.fake->started_count, 1);
    assert_keys(&f, 0, "k1");
    answer(&f, 0, MS_BT_OK);
    assert_int_equal(f.fake->started_count, 2);
    assert_keys(&f, 1, "k2 k3");
    answer(&f, 1, MS_BT_OK);
    assert_int_equal(f.fake->started_count, 2);
    fixture_release(&f);
}

static void a_cut_closes_the_request_and_waits_for_its_own_rows_only(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, false);
    completion done;
    assert_int_equal(write_one(&f, "'k0' ('x')"), MS_WRITE_DONE);
    answer(&f, 0, MS_BT_OK);
    assert_int_equal(write_one(&f, "'k1' ('x')"), MS_WRITE_DONE);
    assert_int_equal(write_one(&f, "'k2' ('x')"), MS_WRITE_DONE);
    begin_persist(&f, 1, &done);
    assert_keys(&f, 2, "k2");
    assert_int_equal(write_one(&f, "'k3' ('x')"), MS_WRITE_BLOCKED);
    answer(&f, 1, MS_BT_OK);
    assert_int_equal(f.world.wakes, 1);
    assert_int_equal(write_one(&f, "'k3' ('x')"), MS_WRITE_DONE);
    answer(&f, 2, MS_BT_OK);
    /* k3 goes out, and the log is synced for the checkpoint without waiting for it. */
    assert_int_equal(f.fake->started_count, 5);
    assert_int_equal(f.fake->started[4]->kind, MS_BT_CALL_SYNC);
    assert_false(done.is_done);
    answer(&f, 4, MS_BT_OK);
    assert_true(done.is_done && done.rc == MS_OK);
    answer(&f, 3, MS_BT_OK);
    fixture_release(&f);
}

static void requests_may_be_answered_in_any_order(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, false);
    completion first;
    completion second;
    assert_int_equal(write_one(&f, "'k0' ('x')"), MS_WRITE_DONE);
    answer(&f, 0, MS_BT_OK);
    assert_int_equal(write_one(&f, "'k1' ('x')"), MS_WRITE_DONE);
    begin_persist(&f, 1, &first);
    assert_int_equal(write_one(&f, "'k2' ('x')"), MS_WRITE_DONE);
    begin_persist(&f, 2, &second);
    assert_int_equal(f.fake->started_count, 3);
    answer(&f, 2, MS_BT_OK);
    assert_int_equal(f.fake->started_count, 3); /* k1 is not answered: nothing to sync yet */
    answer(&f, 1, MS_BT_OK);
    assert_int_equal(f.fake->started_count, 4);
    answer(&f, 3, MS_BT_OK);
    assert_true(first.is_done && second.is_done);
    fixture_release(&f);
}

static void until_a_request_succeeded_only_one_is_out(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, true);
    completion done;
    assert_int_equal(write_one(&f, "-D 'k1' NULL"), MS_WRITE_DONE);
    begin_persist(&f, 1, &done);
    assert_int_equal(write_one(&f, "'k1' ('later')"), MS_WRITE_DONE);
    completion later;
    begin_persist(&f, 2, &later);
    assert_int_equal(f.fake->started_count, 1);
    /* The table is missing: it is made, and the deletion goes before the row behind it. */
    answer(&f, 0, MS_BT_NOT_FOUND);
    assert_int_equal(f.fake->started[1]->kind, MS_BT_CALL_CREATE_TABLE);
    answer(&f, 1, MS_BT_OK);
    assert_int_equal(f.fake->started_count, 3);
    assert_true(f.fake->started[2] == f.fake->started[0]);
    answer(&f, 2, MS_BT_OK);
    assert_keys(&f, 3, "k1");
    answer(&f, 3, MS_BT_OK);
    answer(&f, 4, MS_BT_OK); /* the sync */
    for (int i = 5; i < f.fake->started_count; i++) {
        answer(&f, i, MS_BT_OK);
    }
    assert_true(done.is_done && done.rc == MS_OK && later.is_done && later.rc == MS_OK);
    fixture_release(&f);
}

static void close_request(fixture *f)
{
    ms_status st = {0};
    assert_ok(f->writer->klass->cut(f->writer, 1, false, &st));
}

/* A writer over a network, which has written once. */
static void fixture_init_network(fixture *f, ms_env_clock *clock)
{
    static ms_bt_transport_class network;
    network = fake_class;
    network.keeps_order = false;
    clock->wall_us = INT64_C(1700000000000000);
    ms_env_set_clock(clock);
    fixture_init(f, false);
    f->writer->klass->close(f->writer);
    f->fake->transport.class = &network;
    f->writer = create_writer(&f->world, f->sink);
    assert_int_equal(write_one(f, "'k0' ('x')"), MS_WRITE_DONE);
    answer(f, 0, MS_BT_OK);
}

static void fixture_release_network(fixture *f)
{
    fixture_release(f);
    ms_env_set_clock(NULL);
}

static void over_a_network_requests_are_out_together_when_their_order_does_not_matter(void **state)
{
    (void)state;
    static const struct {
        const char *first;
        const char *second;
        int64_t later_us;
        bool together;
    } cases[] = {
        {"'k' ('1')", "'k' ('2')", 0, false},        /* one time: the last to come stays */
        {"'k' ('1')", "'k' ('2')", -1000000, false}, /* the clock has stepped back */
        {"'k' ('1')", "'k' ('2')", 1000, true},      /* the later time wins */
        {"-D 'k' NULL", "'k' ('2')", 1000, false},   /* a deletion has no time */
        {"'k' ('1')", "-D 'k' NULL", 1000, false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        fixture f;
        ms_env_clock clock = {0};
        fixture_init_network(&f, &clock);
        assert_int_equal(write_one(&f, cases[i].first), MS_WRITE_DONE);
        assert_int_equal(f.fake->started_count, 2);
        ms_env_clock_advance_us(&clock, cases[i].later_us);
        assert_int_equal(write_one(&f, cases[i].second), MS_WRITE_DONE);
        close_request(&f);
        assert_int_equal(f.fake->started_count, cases[i].together ? 3 : 2);
        answer(&f, 1, MS_BT_OK);
        assert_int_equal(f.fake->started_count, 3);
        answer(&f, 2, MS_BT_OK);
        fixture_release_network(&f);
    }
}

static int64_t time_of_first_cell(fixture *f, int started)
{
    const ms_bt_mutate_rows *call = ms_bt_call_mutate_rows(f->fake->started[started]);
    ms_bt_mutation_cursor cursor = ms_bt_mutation_cursor_make(call->batch);
    ms_bt_mutation_entry entry;
    ms_bt_mutation mutation = {.timestamp_micros = 0};
    assert_true(ms_bt_mutation_cursor_next_entry(&cursor, &entry));
    assert_true(ms_bt_mutation_cursor_next(&cursor, &mutation));
    return mutation.timestamp_micros;
}

/* Or else a busy writer would have one request out at a time. */
static void over_a_network_what_follows_a_full_request_has_a_later_time(void **state)
{
    (void)state;
    fixture f;
    ms_env_clock clock = {0};
    fixture_init_network(&f, &clock);
    char *row = calloc(1, MSI_BT_REQUEST_BYTES + 32);
    memset(row, 'x', MSI_BT_REQUEST_BYTES + 24);
    memcpy(row, "'k' ('", 6);
    memcpy(row + MSI_BT_REQUEST_BYTES + 22, "')", 2);
    batch_maker b;
    batch_init(&b, &f.world.arena, &f.sink->input, 4);
    batch_row(&b, row);
    batch_row(&b, "'k' ('last')");
    assert_int_equal(f.writer->klass->write(f.writer, &b.batch, &f.st), MS_WRITE_DONE);
    close_request(&f);
    assert_int_equal(f.fake->started_count, 3);
    assert_int_equal(time_of_first_cell(&f, 1), clock.wall_us);
    assert_int_equal(time_of_first_cell(&f, 2), clock.wall_us + 1000);
    answer(&f, 1, MS_BT_OK);
    answer(&f, 2, MS_BT_OK);
    free(row);
    fixture_release_network(&f);
}

static void what_is_missing_is_made_once(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, true);
    completion done;
    assert_int_equal(write_one(&f, "'k1' ('x')"), MS_WRITE_DONE);
    begin_persist(&f, 1, &done);
    answer_entry(&f, 0, 0, MS_BT_NOT_FOUND);
    assert_int_equal(f.fake->started[1]->kind, MS_BT_CALL_CREATE_TABLE);
    answer(&f, 1, MS_BT_OK);
    answer(&f, 2, MS_BT_NOT_FOUND);
    assert_true(done.is_done);
    assert_int_equal(done.rc, MS_BIGTABLE_NOT_FOUND);
    assert_int_equal(write_one(&f, "'k2' ('x')"), MS_WRITE_FAILED);
    fixture_release(&f);
}

static void a_failed_creation_fails_the_writer(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, true);
    completion done;
    assert_int_equal(write_one(&f, "'k1' ('x')"), MS_WRITE_DONE);
    begin_persist(&f, 1, &done);
    answer(&f, 0, MS_BT_NOT_FOUND);
    answer(&f, 1, MS_BT_PERMISSION_DENIED);
    assert_true(done.is_done);
    assert_int_equal(done.rc, MS_BIGTABLE_ERROR);
    assert_string_equal(done.st.message, "could not create table \"p.i.t\"");
    assert_string_equal(done.st.detail, "PERMISSION_DENIED: as the test says");
    fixture_release(&f);
}

static void a_failed_entry_is_named_by_its_key(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, true);
    batch_maker b;
    batch_init(&b, &f.world.arena, &f.sink->input, 4);
    batch_row(&b, "'k1' ('x')");
    batch_row(&b, "'k\\2' ('x')");
    batch_row(&b, "'k3' ('x')");
    assert_int_equal(f.writer->klass->write(f.writer, &b.batch, &f.st), MS_WRITE_DONE);
    ms_bt_mutate_rows *call = ms_bt_call_mutate_rows(f.fake->started[0]);
    ms_status st = {0};
    /* What is missing could be made; what is wrong with another entry cannot. */
    assert_ok(ms_bt_failures_add(&call->failures, 0, MS_BT_NOT_FOUND, ms_str_lit("gone"), &st));
    answer_entry(&f, 0, 1, MS_BT_INVALID_ARGUMENT);
    assert_int_equal(write_one(&f, "'k4' ('x')"), MS_WRITE_FAILED);
    assert_int_equal(f.st.code, MS_BIGTABLE_ERROR);
    assert_string_equal(f.st.message, "could not write row \"k\\\\2\" to table \"p.i.t\"");
    assert_string_equal(f.st.detail, "INVALID_ARGUMENT: as the test says");
    assert_true(f.world.wakes > 0);
    fixture_release(&f);
}

static void a_failure_of_the_service_is_retriable_where_it_may_pass(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, false);
    completion done;
    assert_int_equal(write_one(&f, "'k1' ('x')"), MS_WRITE_DONE);
    begin_persist(&f, 1, &done);
    answer(&f, 0, MS_BT_UNAVAILABLE);
    assert_int_equal(done.rc, MS_BIGTABLE_UNAVAILABLE);
    assert_true(done.st.retriable);
    fixture_release(&f);
}

static void a_failed_sync_fails_the_checkpoint(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, false);
    completion done;
    assert_int_equal(write_one(&f, "'k1' ('x')"), MS_WRITE_DONE);
    begin_persist(&f, 1, &done);
    answer(&f, 0, MS_BT_OK);
    answer(&f, 1, MS_BT_UNAVAILABLE);
    assert_true(done.is_done);
    assert_int_equal(done.rc, MS_BIGTABLE_UNAVAILABLE);
    assert_string_equal(done.st.message, "could not sync table \"p.i.t\"");
    fixture_release(&f);
}

static void a_closed_writer_waits_for_nothing_and_is_freed_by_its_last_call(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, false);
    completion first;
    completion second;
    assert_int_equal(write_one(&f, "'k0' ('x')"), MS_WRITE_DONE);
    answer(&f, 0, MS_BT_OK);
    assert_int_equal(write_one(&f, "'k1' ('x')"), MS_WRITE_DONE);
    begin_persist(&f, 1, &first);
    assert_int_equal(write_one(&f, "'k2' ('x')"), MS_WRITE_DONE);
    begin_persist(&f, 2, &second);
    f.writer->klass->close(f.writer);
    f.writer = NULL;
    assert_true(first.is_done && second.is_done);
    assert_int_equal(second.rc, MS_CANCELED);
    assert_int_equal(f.fake->cancel_count, 2);
    uint32_t wakes = f.world.wakes;
    answer(&f, 2, MS_BT_CANCELLED);
    answer(&f, 1, MS_BT_OK);
    assert_int_equal(f.world.wakes, wakes);
    fixture_release(&f);
}

static void too_many_checkpoints_at_a_time_are_refused(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, false);
    completion done[17];
    assert_int_equal(write_one(&f, "'k0' ('x')"), MS_WRITE_DONE);
    for (uint64_t i = 0; i < 17; i++) {
        begin_persist(&f, i + 1, &done[i]);
    }
    assert_false(done[15].is_done);
    assert_true(done[16].is_done);
    assert_int_equal(done[16].rc, MS_LIMIT);
    answer(&f, 0, MS_BT_OK);
    answer(&f, 1, MS_BT_OK);
    assert_true(done[0].is_done && done[15].is_done && done[15].rc == MS_OK);
    fixture_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_gather_while_a_request_is_out),
        cmocka_unit_test(a_cut_closes_the_request_and_waits_for_its_own_rows_only),
        cmocka_unit_test(requests_may_be_answered_in_any_order),
        cmocka_unit_test(until_a_request_succeeded_only_one_is_out),
        cmocka_unit_test(over_a_network_requests_are_out_together_when_their_order_does_not_matter),
        cmocka_unit_test(over_a_network_what_follows_a_full_request_has_a_later_time),
        cmocka_unit_test(what_is_missing_is_made_once),
        cmocka_unit_test(a_failed_creation_fails_the_writer),
        cmocka_unit_test(a_failed_entry_is_named_by_its_key),
        cmocka_unit_test(a_failure_of_the_service_is_retriable_where_it_may_pass),
        cmocka_unit_test(a_failed_sync_fails_the_checkpoint),
        cmocka_unit_test(a_closed_writer_waits_for_nothing_and_is_freed_by_its_last_call),
        cmocka_unit_test(too_many_checkpoints_at_a_time_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
