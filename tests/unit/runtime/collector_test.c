/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the queue of result rows: order, bounds, waking, and rows put together. */
#include "runtime/fake_job.h"
#include "runtime/runtime_priv.h"

typedef struct fixture {
    ms_arena arena;
    ms_account account;
    ms_workers *workers;
    msi_actor actor;
    uint32_t turns;
    uint32_t taken; /* by the last put */
    ms_schema schema;
    ms_batch_pool *pool;
    msi_collector *collector;
    ms_status st;
} fixture;

static bool count_turn(msi_actor *actor, bool woken)
{
    fixture *f = (fixture *)((char *)actor - offsetof(fixture, actor));
    f->turns += woken ? 1 : 0;
    return false;
}

static void fixture_init(fixture *f, uint32_t batch_rows, uint64_t bytes_max)
{
    memset(f, 0, sizeof(*f));
    ms_status st = {0};
    msi_worker *worker = NULL;
    ms_arena_init(&f->arena, 0);
    ms_account_init(&f->account, NULL, "job", NULL, MS_ACCOUNT_UNLIMITED);
    assert_ok(ms_workers_create(&(ms_workers_options){.is_stepped = true}, &f->workers, &st));
    assert_ok(msi_workers_place(f->workers, 0, &worker, &st));
    msi_actor_init(&f->actor, worker, f, count_turn);
    ms_field *columns = ms_arena_array(&f->arena, ms_field, 1);
    columns[0] = (ms_field){ms_str_lit("a"), ms_type_simple(&f->arena, MS_TYPE_BIGINT, true)};
    f->schema = (ms_schema){1, columns};
    f->pool = ms_batch_pool_create(&f->schema, MS_BATCH_ROWS_MAX, 1);
    f->collector = msi_collector_create(&f->schema, batch_rows, bytes_max, &f->account);
}

static void fixture_release(fixture *f)
{
    msi_collector_destroy(f->collector);
    assert_int_equal(ms_account_used_bytes(&f->account), 0);
    msi_workers_retire(f->workers, f);
    ms_workers_destroy(f->workers);
    ms_batch_pool_destroy(f->pool);
    ms_account_release(&f->account);
    ms_arena_release(&f->arena);
}

static bool put(fixture *f, int64_t first, uint32_t rows)
{
    ms_batch *batch = ms_batch_pool_take(f->pool);
    for (uint32_t i = 0; i < rows; i++) {
        MS_VEC_DATA(&batch->columns[0], int64_t)[i] = first + i;
    }
    batch->rows = rows;
    uint32_t taken = msi_collector_put(f->collector, batch, 0, &f->actor, &f->st);
    ms_batch_drop(batch);
    f->taken = taken;
    return taken == rows;
}

/* Takes a batch and returns its rows; checks that they begin with this value. */
static uint32_t take(fixture *f, int64_t first)
{
    bool timed_out = false;
    ms_batch *batch = msi_collector_take(f->collector, 0, &timed_out);
    if (batch == NULL) {
        return 0;
    }
    assert_false(timed_out);
    uint32_t rows = batch->rows;
    for (uint32_t i = 0; i < rows; i++) {
        assert_int_equal(MS_VEC_DATA(&batch->columns[0], int64_t)[i], first + i);
    }
    ms_batch_drop(batch);
    return rows;
}

static void few_rows_at_a_time_are_put_together(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, 1024, 1u << 20);
    for (int64_t i = 0; i < 1500; i++) {
        assert_true(put(&f, i, 1));
    }
    assert_true(ms_account_used_bytes(&f.account) > 0);
    assert_int_equal(take(&f, 0), 1024);
    assert_int_equal(take(&f, 1024), 476);
    assert_int_equal(take(&f, 0), 0);
    fixture_release(&f);
}

static void the_largest_batch_fits_even_when_batches_have_one_row(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, 1, 1u << 20);
    assert_true(put(&f, 0, MS_BATCH_ROWS_MAX));
    uint32_t rows = 0;
    while (rows < MS_BATCH_ROWS_MAX) {
        uint32_t more = take(&f, rows);
        assert_true(more > 0);
        rows += more;
    }
    fixture_release(&f);
}

static void a_full_queue_takes_what_fits_and_wakes_when_there_is_room(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, 256, 40000);
    uint32_t rows = 0;
    while (put(&f, rows, 10)) {
        rows += 10;
        assert_true(rows < 100000);
    }
    rows += f.taken;
    assert_int_equal(f.st.code, MS_OK);
    assert_false(put(&f, rows, 10));
    assert_int_equal(f.taken, 0);
    assert_false(ms_workers_step(f.workers));
    assert_true(take(&f, 0) > 0);
    assert_true(ms_workers_step(f.workers));
    assert_int_equal(f.turns, 1);
    /* Nobody waits now: no wake. */
    assert_true(take(&f, 256) > 0);
    assert_false(ms_workers_step(f.workers));
    fixture_release(&f);
}

static void a_batch_above_the_bound_is_taken_when_the_queue_is_empty(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, 64, 1);
    assert_true(put(&f, 0, 200));
    assert_false(put(&f, 200, 1));
    fixture_release(&f);
}

static ms_batch *long_rows(fixture *f, ms_batch_pool *pool, uint32_t rows)
{
    ms_batch *batch = ms_batch_pool_take(pool);
    ms_str text = ms_arena_format(&f->arena, "%1048576s", "text");
    for (uint32_t i = 0; i < rows; i++) {
        MS_VEC_DATA(&batch->columns[0], ms_view)[i] = ms_batch_put_str(batch, text);
    }
    batch->rows = rows;
    return batch;
}

/* Strings of a MiB: few in a batch of the queue, and a queue that is full takes a part. */
static void long_rows_are_bounded_by_bytes(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, 64, 1);
    msi_collector_destroy(f.collector);
    f.schema.columns = &(const ms_field){ms_str_lit("s"), ms_type_string(&f.arena, true)};
    f.collector = msi_collector_create(&f.schema, 64, 12u << 20, &f.account);
    ms_batch_pool *pool = ms_batch_pool_create(&f.schema, 40, 1);
    ms_batch *batch = long_rows(&f, pool, 40);
    uint32_t taken = 0;
    uint32_t given = 0;
    while (given < 40) {
        taken += msi_collector_put(f.collector, batch, taken, &f.actor, &f.st);
        assert_int_equal(f.st.code, MS_OK);
        assert_true(ms_account_used_bytes(&f.account) < (24u << 20));
        bool timed_out = false;
        ms_batch *out = msi_collector_take(f.collector, 0, &timed_out);
        assert_true(out->rows <= 4);
        given += out->rows;
        ms_batch_drop(out);
    }
    assert_int_equal(taken, 40);
    ms_batch_drop(batch);
    msi_collector_destroy(f.collector);
    f.collector = NULL;
    ms_batch_pool_destroy(pool);
    fixture_release(&f);
}

static void beyond_the_budget_the_put_fails_by_name(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, 64, 1u << 20);
    ms_account_set_limit(&f.account, 1);
    assert_true(put(&f, 0, 10));
    assert_int_equal(f.st.code, MS_NO_MEMORY);
    fixture_release(&f);
}

static void the_end_comes_after_the_rows(void **state)
{
    (void)state;
    fixture f;
    bool timed_out = false;
    fixture_init(&f, 64, 1u << 20);
    assert_null(msi_collector_take(f.collector, 1000, &timed_out));
    assert_true(timed_out);
    assert_true(put(&f, 0, 3));
    msi_collector_end(f.collector);
    assert_int_equal(take(&f, 0), 3);
    assert_null(msi_collector_take(f.collector, -1, &timed_out));
    assert_false(timed_out);
    fixture_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(few_rows_at_a_time_are_put_together),
        cmocka_unit_test(the_largest_batch_fits_even_when_batches_have_one_row),
        cmocka_unit_test(a_full_queue_takes_what_fits_and_wakes_when_there_is_room),
        cmocka_unit_test(a_batch_above_the_bound_is_taken_when_the_queue_is_empty),
        cmocka_unit_test(long_rows_are_bounded_by_bytes),
        cmocka_unit_test(beyond_the_budget_the_put_fails_by_name),
        cmocka_unit_test(the_end_comes_after_the_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
