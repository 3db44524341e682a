/* SPDX-License-Identifier: Apache-2.0 */
/* Calls: completion through the mailbox, flow control, cancellation. */
#include "fake_transport.h"

#include "base/memory.h"
#include "os/thread.h"

static const ms_bt_table_name table = {{"p", 1}, {"i", 1}, {"t", 1}};

/* A write of one row with this many mutations. */
typedef struct write_call {
    ms_bt_mutate_rows call;
    ms_bt_mutation_batch batch;
    int done_count;
} write_call;

static void written(ms_bt_call *call, void *arg)
{
    write_call *write = arg;
    assert_ptr_equal(call, &write->call.call);
    assert_false(ms_bt_call_is_outstanding(call));
    write->done_count++;
}

static void write_init(write_call *write, fake *f, int mutations)
{
    ms_status st = {0};
    memset(write, 0, sizeof(*write));
    ms_bt_mutate_rows_init(&write->call, &f->mailbox, written, write);
    ms_bt_mutation_batch_init(&write->batch, 1u << 20);
    assert_ok(ms_bt_mutation_batch_begin_row(&write->batch, ms_str_lit("r"), &st));
    for (int i = 0; i < mutations; i++) {
        assert_ok(ms_bt_mutation_batch_delete_row(&write->batch, &st));
    }
    ms_bt_mutation_batch_end_row(&write->batch);
    write->call.table = &table;
    write->call.batch = &write->batch;
}

static void write_release(write_call *write)
{
    ms_bt_mutate_rows_release(&write->call);
    ms_bt_mutation_batch_release(&write->batch);
}

static void done_comes_through_the_mailbox(void **state)
{
    (void)state;
    fake *f = fake_create(NULL);
    write_call write;
    write_init(&write, f, 1);
    for (int round = 1; round <= 2; round++) {
        ms_bt_client_mutate_rows(f->client, &write.call);
        assert_int_equal(f->started_count, round);
        assert_true(ms_bt_call_is_outstanding(&write.call.call));
        ms_bt_call_finish(&write.call.call);
        assert_int_equal(write.done_count, round - 1);
        fake_deliver(f);
        assert_int_equal(write.done_count, round);
    }
    write_release(&write);
    fake_destroy(f);
}

static void calls_allocate_nothing(void **state)
{
    (void)state;
    fake *f = fake_create(NULL);
    write_call write;
    write_init(&write, f, 1);
    uint64_t before = ms_mem_allocation_count();
    for (int i = 0; i < 10; i++) {
        ms_bt_client_mutate_rows(f->client, &write.call);
        ms_bt_call_finish(&write.call.call);
        fake_deliver(f);
    }
    assert_int_equal(ms_mem_allocation_count(), before);
    write_release(&write);
    fake_destroy(f);
}

static void status_of_the_last_submission_is_forgotten(void **state)
{
    (void)state;
    fake *f = fake_create(NULL);
    write_call write;
    write_init(&write, f, 1);
    ms_status st = {0};
    ms_bt_client_mutate_rows(f->client, &write.call);
    ms_bt_status_set(&write.call.call.status, MS_BT_ABORTED, "x");
    assert_ok(ms_bt_failures_add(&write.call.failures, 0, MS_BT_ABORTED, ms_str_lit("x"), &st));
    ms_bt_call_finish(&write.call.call);
    fake_deliver(f);
    ms_bt_client_mutate_rows(f->client, &write.call);
    ms_bt_call_finish(&write.call.call);
    fake_deliver(f);
    assert_true(ms_bt_status_is_ok(&write.call.call.status));
    assert_int_equal(ms_bt_mutate_rows_failure_count(&write.call), 0);
    write_release(&write);
    fake_destroy(f);
}

static void writes_beyond_the_bound_wait_in_order(void **state)
{
    (void)state;
    fake *f = fake_create(&(ms_bt_client_options){.in_flight_mutations_max = 10});
    write_call writes[4];
    const int sizes[4] = {6, 5, 3, 2};
    for (int i = 0; i < 4; i++) {
        write_init(&writes[i], f, sizes[i]);
        ms_bt_client_mutate_rows(f->client, &writes[i].call);
    }
    /* 6 go; 5 would make 11; 3 would fit but come behind. */
    assert_int_equal(f->started_count, 1);
    ms_bt_call_finish(f->started[0]);
    fake_deliver(f);
    assert_int_equal(f->started_count, 4);
    for (int i = 0; i < 4; i++) {
        assert_ptr_equal(f->started[i], &writes[i].call.call);
    }
    for (int i = 1; i < 4; i++) {
        ms_bt_call_finish(f->started[i]);
    }
    fake_deliver(f);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(writes[i].done_count, 1);
        write_release(&writes[i]);
    }
    fake_destroy(f);
}

static void oversized_write_goes_alone(void **state)
{
    (void)state;
    fake *f = fake_create(&(ms_bt_client_options){.in_flight_bytes_max = 64});
    write_call writes[2];
    for (int i = 0; i < 2; i++) {
        write_init(&writes[i], f, 20);
        ms_bt_client_mutate_rows(f->client, &writes[i].call);
    }
    assert_int_equal(f->started_count, 1);
    ms_bt_call_finish(f->started[0]);
    fake_deliver(f);
    assert_int_equal(f->started_count, 2);
    ms_bt_call_finish(f->started[1]);
    fake_deliver(f);
    write_release(&writes[0]);
    write_release(&writes[1]);
    fake_destroy(f);
}

static void synced(ms_bt_call *call, void *arg)
{
    (void)call;
    *(bool *)arg = true;
}

static void other_calls_do_not_wait_for_writes(void **state)
{
    (void)state;
    fake *f = fake_create(&(ms_bt_client_options){.in_flight_mutations_max = 1});
    write_call writes[2];
    for (int i = 0; i < 2; i++) {
        write_init(&writes[i], f, 1);
        ms_bt_client_mutate_rows(f->client, &writes[i].call);
    }
    bool is_synced = false;
    ms_bt_sync sync;
    ms_bt_sync_init(&sync, &f->mailbox, synced, &is_synced);
    ms_bt_client_sync(f->client, &sync);
    assert_int_equal(f->started_count, 2);
    assert_ptr_equal(f->started[1], &sync.call);
    ms_bt_call_finish(&sync.call);
    fake_deliver(f);
    assert_true(is_synced);
    assert_int_equal(f->started_count, 2);
    ms_bt_call_finish(f->started[0]);
    fake_deliver(f);
    ms_bt_call_finish(f->started[2]);
    fake_deliver(f);
    write_release(&writes[0]);
    write_release(&writes[1]);
    fake_destroy(f);
}

static void canceled_call_ends_through_the_mailbox(void **state)
{
    (void)state;
    fake *f = fake_create(&(ms_bt_client_options){.in_flight_mutations_max = 1});
    write_call writes[3];
    for (int i = 0; i < 3; i++) {
        write_init(&writes[i], f, 1);
        ms_bt_client_mutate_rows(f->client, &writes[i].call);
    }
    ms_bt_call_cancel(&writes[1].call.call);
    assert_int_equal(writes[1].done_count, 0);
    fake_deliver(f);
    assert_int_equal(writes[1].done_count, 1);
    assert_int_equal(writes[1].call.call.status.code, MS_BT_CANCELLED);
    assert_int_equal(f->cancel_count, 0);
    ms_bt_call_cancel(&writes[0].call.call);
    assert_int_equal(f->cancel_count, 1);
    ms_bt_call_finish(f->started[0]);
    fake_deliver(f);
    assert_int_equal(f->started_count, 2);
    assert_ptr_equal(f->started[1], &writes[2].call.call);
    ms_bt_call_finish(f->started[1]);
    fake_deliver(f);
    ms_bt_call_cancel(&writes[2].call.call);
    assert_int_equal(f->cancel_count, 1);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(writes[i].done_count, 1);
        write_release(&writes[i]);
    }
    fake_destroy(f);
}

/* W8 of the bug reports: a completion that submits the next batch always gets on. */
typedef struct chain {
    fake *f;
    write_call write;
    int left;
} chain;

static void write_again(ms_bt_call *call, void *arg)
{
    (void)call;
    chain *c = arg;
    if (--c->left > 0) {
        ms_bt_client_mutate_rows(c->f->client, &c->write.call);
        ms_bt_call_finish(&c->write.call.call);
    }
}

static void completion_may_submit_the_next_call(void **state)
{
    (void)state;
    chain c = {.f = fake_create(&(ms_bt_client_options){.in_flight_mutations_max = 1}), .left = 20};
    write_init(&c.write, c.f, 1);
    c.write.call.call.done = write_again;
    c.write.call.call.arg = &c;
    ms_bt_client_mutate_rows(c.f->client, &c.write.call);
    ms_bt_call_finish(&c.write.call.call);
    fake_deliver(c.f);
    assert_int_equal(c.left, 0);
    write_release(&c.write);
    fake_destroy(c.f);
}

static void destroy_client(void *arg)
{
    ms_bt_client_destroy(((fake *)arg)->client);
}

static void destroying_a_client_under_a_call_is_a_bug(void **state)
{
    (void)state;
    fake *f = fake_create(NULL);
    write_call write;
    write_init(&write, f, 1);
    ms_bt_client_mutate_rows(f->client, &write.call);
    assert_aborts(destroy_client, f);
    ms_bt_call_finish(&write.call.call);
    fake_deliver(f);
    write_release(&write);
    fake_destroy(f);
}

/* A worker, which finishes and delivers a call while another thread waits for it. */
typedef struct late_worker {
    fake *f;
    write_call *write;
} late_worker;

static void finish_late(void *arg)
{
    late_worker *worker = arg;
    (void)ms_parker_park(&worker->f->parker, 20000000);
    ms_bt_call_finish(&worker->write->call.call);
    fake_deliver(worker->f);
}

static void draining_waits_until_calls_have_come_back(void **state)
{
    (void)state;
    ms_status st = {0};
    fake *f = fake_create(NULL);
    ms_bt_client_drain(NULL);
    ms_bt_client_drain(f->client);
    write_call write;
    write_init(&write, f, 1);
    ms_bt_client_mutate_rows(f->client, &write.call);
    ms_thread thread;
    late_worker worker = {f, &write};
    assert_ok(ms_thread_start(&thread, "worker", finish_late, &worker, &st));
    ms_bt_client_drain(f->client);
    assert_int_equal(write.done_count, 1);
    ms_thread_join(&thread);
    write_release(&write);
    fake_destroy(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(done_comes_through_the_mailbox),
        cmocka_unit_test(calls_allocate_nothing),
        cmocka_unit_test(status_of_the_last_submission_is_forgotten),
        cmocka_unit_test(writes_beyond_the_bound_wait_in_order),
        cmocka_unit_test(oversized_write_goes_alone),
        cmocka_unit_test(other_calls_do_not_wait_for_writes),
        cmocka_unit_test(canceled_call_ends_through_the_mailbox),
        cmocka_unit_test(completion_may_submit_the_next_call),
        cmocka_unit_test(destroying_a_client_under_a_call_is_a_bug),
        cmocka_unit_test(draining_waits_until_calls_have_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
