/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who is woken by what: the list of fills, step by step, without a store or threads below it. The
 * races that this is about last some microseconds in a running store; here they are a sequence of
 * calls.
 */
#include "testing.h"

#include "bigtable/store/change_read.c"

#include "base/limits.h"

#define TABLE 1
#define HOME 5

typedef struct fixture {
    ms_bt_store store;
    ms_env_clock clock;
    ms_bt_change_options options;
    ms_bt_change_page page;
    ms_bt_change_attempt attempt;
    msi_change_read *read;
} fixture;

static int setup(void **state)
{
    ms_status st = {0};
    fixture *f = calloc(1, sizeof(*f));
    f->clock.wall_us = 1000;
    ms_env_set_clock(&f->clock);
    ms_mutex_init(&f->store.waiting.mutex, MS_RANK_STORE_WAITING);
    ms_cond_init(&f->store.waiting.changed);
    f->store.waiting.next_look_ns = INT64_MAX;
    /* Jobs run when the test says so. */
    assert_ok(ms_iopool_create(&(ms_iopool_options){.is_stepped = true}, &f->store.pool, &st));
    ms_bt_change_page_init(&f->page);
    f->options.heartbeat_ms = 5000;
    f->attempt.options = &f->options;
    f->attempt.page = &f->page;
    msi_change_open(&f->store.transport, &f->attempt);
    f->read = f->attempt.transport_data;
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    ms_iopool_destroy(f->store.pool);
    msi_change_close(&f->store.transport, &f->attempt);
    ms_bt_change_page_release(&f->page);
    ms_cond_release(&f->store.waiting.changed);
    ms_mutex_release(&f->store.waiting.mutex);
    ms_env_set_clock(NULL);
    free(f);
    return 0;
}

static void run_nothing(ms_iojob *job)
{
    (void)job;
}

/* Takes the reader's job off the pool, if it is there: the test looks instead of it. */
static void take_job(fixture *f)
{
    f->read->job.run = run_nothing;
    while (ms_iopool_step(f->store.pool)) {
    }
}

/* A fill is under way and has looked: the reader is in this tablet. */
static void begin_fill(fixture *f, uint32_t tablet)
{
    msi_change_fill(&f->store.transport, &f->attempt);
    take_job(f);
    f->read->is_open = true;
    f->read->place = (msi_token){.table = TABLE, .position.tablet = tablet};
}

static void end_fill(fixture *f)
{
    ms_mutex_lock(&f->store.waiting.mutex);
    unlink_read(f->read);
    ms_mutex_unlock(&f->store.waiting.mutex);
}

static void wake(fixture *f, const msi_touched *touched)
{
    msi_change_wake(&f->store, touched);
    take_job(f);
}

static void publish(fixture *f, uint32_t table, uint32_t tablet)
{
    msi_touched touched = {.list = {{table, tablet}}, .count = 1};
    wake(f, &touched);
}

static void a_waiting_reader_is_woken_by_its_tablet_alone(void **state)
{
    fixture *f = *state;
    begin_fill(f, HOME);
    assert_int_equal(begin_wait(f->read), WAIT_WAITS);
    publish(f, TABLE, HOME + 1);
    publish(f, TABLE + 1, HOME);
    assert_int_equal(f->read->state, FILL_WAITING);
    publish(f, TABLE, HOME);
    assert_int_equal(f->read->state, FILL_RUNNING);
    end_fill(f);
}

static void a_change_of_the_table_wakes_all_of_it(void **state)
{
    fixture *f = *state;
    begin_fill(f, HOME);
    assert_int_equal(begin_wait(f->read), WAIT_WAITS);
    publish(f, TABLE, 0);
    assert_int_equal(f->read->state, FILL_RUNNING);
    end_fill(f);
}

static void a_commit_during_a_look_makes_the_reader_look_again(void **state)
{
    fixture *f = *state;
    begin_fill(f, HOME);
    /* Nobody knows yet where it is: it is told of everything. */
    publish(f, TABLE + 1, 1);
    assert_int_equal(begin_wait(f->read), WAIT_AGAIN);
    publish(f, TABLE, HOME);
    assert_int_equal(begin_wait(f->read), WAIT_AGAIN);
    /* Now it is known. */
    publish(f, TABLE + 1, 1);
    assert_int_equal(begin_wait(f->read), WAIT_WAITS);
    end_fill(f);
}

static void a_reader_whose_time_has_come_waits_for_that_time_to_be_safe(void **state)
{
    fixture *f = *state;
    begin_fill(f, HOME);
    assert_int_equal(begin_wait(f->read), WAIT_WAITS);
    assert_int_equal(msi_change_next_due(&f->store), INT64_C(5000) * 1000000);
    assert_false(msi_change_take_due(&f->store));
    ms_env_clock_advance_us(&f->clock, 5000000);
    assert_true(msi_change_take_due(&f->store));
    assert_int_equal(msi_change_wanted(&f->store), 5001000);
    /* It is taken once, and not due again meanwhile. */
    assert_false(msi_change_take_due(&f->store));
    assert_int_equal(msi_change_next_due(&f->store), INT64_MAX);
    atomic_store(&f->store.safe_micros, 5000999);
    const msi_touched nothing = {.count = 0};
    wake(f, &nothing);
    assert_int_equal(f->read->state, FILL_WAITING);
    atomic_store(&f->store.safe_micros, 5001000);
    wake(f, &nothing);
    assert_int_equal(f->read->state, FILL_RUNNING);
    assert_true(f->read->had_advance);
    assert_int_equal(msi_change_wanted(&f->store), 0);
    end_fill(f);
}

static void a_store_without_writes_wakes_who_waits_for_a_time(void **state)
{
    fixture *f = *state;
    begin_fill(f, HOME);
    assert_int_equal(begin_wait(f->read), WAIT_WAITS);
    wake(f, NULL);
    assert_int_equal(f->read->state, FILL_WAITING);
    ms_env_clock_advance_us(&f->clock, 5000000);
    assert_true(msi_change_take_due(&f->store));
    wake(f, NULL);
    assert_int_equal(f->read->state, FILL_RUNNING);
    assert_true(f->read->had_advance);
    end_fill(f);
}

static void maintenance_is_told_of_a_reader_that_is_due_earlier(void **state)
{
    fixture *f = *state;
    begin_fill(f, HOME);
    f->store.waiting.next_look_ns = INT64_C(9000) * 1000000;
    assert_int_equal(begin_wait(f->read), WAIT_WAITS);
    assert_int_equal(f->store.waiting.next_look_ns, INT64_C(5000) * 1000000);
    end_fill(f);
    /* An end time that is near comes before the heartbeat. */
    f->options.end_micros = 1500;
    begin_fill(f, HOME);
    assert_int_equal(begin_wait(f->read), WAIT_WAITS);
    assert_int_equal(f->store.waiting.next_look_ns, 501000);
    end_fill(f);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_waiting_reader_is_woken_by_its_tablet_alone),
        TEST(a_change_of_the_table_wakes_all_of_it),
        TEST(a_commit_during_a_look_makes_the_reader_look_again),
        TEST(a_reader_whose_time_has_come_waits_for_that_time_to_be_safe),
        TEST(a_store_without_writes_wakes_who_waits_for_a_time),
        TEST(maintenance_is_told_of_a_reader_that_is_due_earlier),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
