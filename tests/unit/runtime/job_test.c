/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of whole jobs: pipelines, results, the ways to end, failures, budgets, idle cost. */
#include "runtime/fake_job.h"
#include "runtime/runtime_priv.h"

/* Waits until the numbers of a job say so. */
#define wait_for(job, totals, condition)                                                           \
    do {                                                                                           \
        for (int tries = 0;; tries++) {                                                            \
            ms_job_totals_now((job), &(totals));                                                   \
            if (condition) {                                                                       \
                break;                                                                             \
            }                                                                                      \
            assert_true(tries < 20000);                                                            \
            fake_sleep_ms(1);                                                                      \
        }                                                                                          \
    } while (0)

/* ---- Pipelines ---- */

static void one_task_runs_from_source_to_sink(void **state)
{
    (void)state;
    fake_rig f;
    fake_rig_init(&f, 2, 1);
    const ms_pnode *source = fake_add_source(&f.plan, fake_scan_make(&f.world, 0, 3, 5000, 10), 1);
    fake_add_sink(&f.plan, fake_sink_make(&f.world), 1, source);
    ms_job_totals totals;
    ms_status st = {0};
    assert_ok(fake_run(&f.engine, &f.plan, (ms_job_options){0}, &totals, &st));
    fake_expect_ids(&f.world, 0, 15000);
    assert_int_equal(totals.rows_read, 15000);
    assert_int_equal(totals.rows_written, 15000);
    assert_int_equal(totals.rows_uncommitted, 0);
    assert_int_equal(totals.subtasks_with_rows, 1);
    fake_rig_release(&f);
}

/* source, calc, hash, count and calc, gather, sink */
static void build_pipeline(fake_rig *f, uint32_t parallelism, uint64_t rows)
{
    fake_plan *plan = &f->plan;
    const ms_pnode *source =
        fake_add_source(plan, fake_scan_make(&f->world, 0, 8, rows / 8, 16), parallelism);
    const ms_pnode *calc = fake_add(plan, MS_PNODE_CALC, parallelism, source);
    const ms_pnode *hash = fake_add_exchange(plan, MS_EXCHANGE_HASH, parallelism, calc);
    const ms_pnode *count = fake_add(plan, MS_PNODE_AGGREGATE, parallelism, hash);
    fake_add_sink(plan, fake_sink_make(&f->world), 1,
                  fake_add_exchange(plan, MS_EXCHANGE_GATHER, 1, count));
    const ms_pnode *spread = fake_add_exchange(plan, MS_EXCHANGE_REBALANCE, parallelism, calc);
    const ms_pnode *again = fake_add(plan, MS_PNODE_CALC, parallelism, spread);
    fake_add_sink(plan, fake_sink_make(&f->world), parallelism, again);
}

static void pipelines_give_the_same_at_every_parallelism(void **state)
{
    (void)state;
    static const uint32_t parallelisms[] = {1, 2, 4};
    for (size_t i = 0; i < 3; i++) {
        fake_rig f;
        fake_rig_init(&f, 2, 1);
        build_pipeline(&f, parallelisms[i], 40000);
        ms_job_totals totals;
        ms_status st = {0};
        assert_ok(fake_run(&f.engine, &f.plan, (ms_job_options){.batch_rows = 64}, &totals, &st));
        fake_expect_ids(&f.world, 0, 40000);
        assert_int_equal(f.world.totals[0], 40000);
        assert_int_equal(f.world.totals[1], 40000ull * 39999 / 2);
        /* Every subtask but the gathering sink's is one of three, and has rows. */
        assert_int_equal(totals.subtasks_with_rows, 3 * parallelisms[i] + (i > 0 ? 1 : 1));
        fake_rig_release(&f);
    }
}

static void every_subtask_of_a_hash_exchange_has_its_own_keys(void **state)
{
    (void)state;
    fake_rig f;
    fake_rig_init(&f, 2, 1);
    build_pipeline(&f, 4, 8000);
    ms_job *job = fake_start(&f, (ms_job_options){0});
    ms_status st = {0};
    assert_ok(ms_job_wait(job, 60000, &st));
    uint64_t entries = 0;
    uint32_t seen = 0;
    for (uint32_t i = 0; i < ms_job_op_count(job); i++) {
        ms_op_stats stats;
        ms_job_op_stats(job, i, &stats);
        if (stats.kind == MS_PNODE_AGGREGATE) {
            assert_true(stats.rows_in > 0);
            entries += stats.state_entries;
            seen++;
        }
    }
    assert_int_equal(seen, 4);
    /* Sixteen keys, each in one subtask only. */
    assert_int_equal(entries, 16);
    ms_job_destroy(job);
    fake_rig_release(&f);
}

/* Strings of half a MiB: an exchange that copies puts few rows into a batch. */
static void batches_of_a_hash_exchange_are_bounded_by_bytes(void **state)
{
    (void)state;
    fake_rig f;
    fake_rig_init(&f, 2, 1);
    f.world.text_bytes = 512u << 10;
    f.world.batch_rows = 20; /* of the source: 10 MiB */
    const ms_pnode *source = fake_add_source(&f.plan, fake_scan_make(&f.world, 0, 2, 40, 16), 1);
    const ms_pnode *hash = fake_add_exchange(&f.plan, MS_EXCHANGE_HASH, 2, source);
    const ms_pnode *calc = fake_add(&f.plan, MS_PNODE_CALC, 2, hash);
    fake_add_sink(&f.plan, fake_sink_make(&f.world), 2, calc);
    ms_status st = {0};
    assert_ok(fake_run(&f.engine, &f.plan, (ms_job_options){0}, NULL, &st));
    fake_expect_ids(&f.world, 0, 80);
    assert_int_equal(f.world.widest_bytes, MS_BATCH_BYTES_TARGET);
    fake_rig_release(&f);
}

static void sources_share_the_splits(void **state)
{
    (void)state;
    fake_rig f;
    fake_rig_init(&f, 2, 1);
    const ms_pnode *source = fake_add_source(&f.plan, fake_scan_make(&f.world, 0, 40, 500, 10), 4);
    fake_add_sink(&f.plan, fake_sink_make(&f.world), 4, source);
    ms_job_totals totals;
    ms_status st = {0};
    assert_ok(fake_run(&f.engine, &f.plan, (ms_job_options){0}, &totals, &st));
    fake_expect_ids(&f.world, 0, 20000);
    assert_true(totals.subtasks_with_rows > 1);
    fake_rig_release(&f);
}

/* ---- Watermarks ---- */

static int64_t watermark_of(ms_job *job, ms_pnode_kind kind)
{
    for (uint32_t i = 0; i < ms_job_op_count(job); i++) {
        ms_op_stats stats;
        ms_job_op_stats(job, i, &stats);
        if (stats.kind == kind) {
            return stats.watermark_ms;
        }
    }
    return -1;
}

/* Two sources of one split each: ids from 0 and from 1000000. */
static void a_union_passes_the_smallest_watermark_on_and_the_end_the_largest(void **state)
{
    (void)state;
    fake_rig f;
    fake_rig_init(&f, 2, 1);
    atomic_store(&f.world.gate, 0);
    const ms_pnode *a = fake_add_source(&f.plan, fake_scan_make(&f.world, 0, 1, 500, 10), 1);
    const ms_pnode *b = fake_add_source(&f.plan, fake_scan_make(&f.world, 1000000, 1, 500, 10), 1);
    const ms_pnode *both = fake_add_union(&f.plan, 1, fake_add(&f.plan, MS_PNODE_WATERMARK, 1, a),
                                          fake_add(&f.plan, MS_PNODE_WATERMARK, 1, b));
    fake_add_sink(&f.plan, fake_sink_make(&f.world), 1, both);
    ms_job *job = fake_start(&f, (ms_job_options){0});
    ms_job_totals totals;
    assert_int_equal(watermark_of(job, MS_PNODE_UNION), INT64_MIN);
    fake_open_gate(&f.world, 100);
    wait_for(job, totals, watermark_of(job, MS_PNODE_UNION) == 99);
    assert_int_equal(watermark_of(job, MS_PNODE_SINK), 99);
    fake_open_gate(&f.world, 200);
    wait_for(job, totals, watermark_of(job, MS_PNODE_SINK) == 199);
    fake_open_gate(&f.world, FAKE_GATE_OPEN);
    ms_status st = {0};
    assert_ok(ms_job_wait(job, 60000, &st));
    assert_int_equal(watermark_of(job, MS_PNODE_UNION), INT64_MAX);
    assert_int_equal(watermark_of(job, MS_PNODE_SINK), INT64_MAX);
    ms_job_destroy(job);
    fake_rig_release(&f);
}

/* ---- Results ---- */

static void build_select(fake_rig *f, uint64_t rows)
{
    const ms_pnode *source =
        fake_add_source(&f->plan, fake_scan_make(&f->world, 0, 1, rows, 10), 1);
    fake_add(&f->plan, MS_PNODE_COLLECT, 1, fake_add(&f->plan, MS_PNODE_CALC, 1, source));
}

static void results_come_whole_and_in_order_to_a_slow_caller(void **state)
{
    (void)state;
    fake_rig f;
    fake_rig_init(&f, 1, 1);
    build_select(&f, 30000);
    /* A small bound: the job waits for the caller most of the time. */
    ms_job *job = fake_start(&f, (ms_job_options){.batch_rows = 16, .result_bytes_max = 10000});
    ms_status st = {0};
    ms_batch *batch = NULL;
    uint64_t next = 0;
    for (;;) {
        assert_ok(ms_job_next(job, 60000, &batch, &st));
        if (batch == NULL) {
            break;
        }
        for (uint32_t k = 0; k < ms_batch_live(batch); k++) {
            assert_int_equal(MS_VEC_DATA(&batch->columns[0], int64_t)[ms_batch_row(batch, k)],
                             next++);
        }
        ms_batch_drop(batch);
    }
    assert_int_equal(next, 30000);
    assert_int_equal(ms_job_state_now(job), MS_JOB_STATE_FINISHED);
    ms_job_destroy(job);
    fake_rig_release(&f);
}

static void a_result_that_nobody_takes_holds_the_job_up_and_can_be_canceled(void **state)
{
    (void)state;
    fake_rig f;
    fake_rig_init(&f, 1, 1);
    build_select(&f, 1000000);
    ms_job *job = fake_start(&f, (ms_job_options){.result_bytes_max = 100000});
    ms_status st = {0};
    assert_int_equal(ms_job_wait(job, 50, &st), MS_CANCELED);
    assert_true(st.retriable);
    ms_job_totals totals;
    ms_job_totals_now(job, &totals);
    assert_in_range(totals.rows_read, 1, 100000);
    ms_job_cancel(job);
    ms_status_clear(&st);
    assert_int_equal(ms_job_wait(job, 60000, &st), MS_CANCELED);
    assert_false(st.retriable);
    assert_int_equal(ms_job_state_now(job), MS_JOB_STATE_CANCELED);
    ms_job_destroy(job);
    fake_rig_release(&f);
}

static void waiting_for_rows_has_a_timeout(void **state)
{
    (void)state;
    fake_rig f;
    fake_rig_init(&f, 1, 1);
    atomic_store(&f.world.gate, 0);
    build_select(&f, 10);
    ms_job *job = fake_start(&f, (ms_job_options){0});
    ms_status st = {0};
    ms_batch *batch = NULL;
    assert_int_equal(ms_job_next(job, 20, &batch, &st), MS_CANCELED);
    assert_true(st.retriable);
    fake_open_gate(&f.world, FAKE_GATE_OPEN);
    ms_status_clear(&st);
    assert_ok(ms_job_next(job, 60000, &batch, &st));
    assert_non_null(batch);
    ms_batch_drop(batch);
    ms_job_destroy(job);
    fake_rig_release(&f);
}

static void rows_before_a_failure_come_first_then_the_failure(void **state)
{
    (void)state;
    fake_rig f;
    fake_rig_init(&f, 1, 1);
    f.world.fail_at_id = 777;
    build_select(&f, 5000);
    ms_job *job = fake_start(&f, (ms_job_options){0});
    ms_status st = {0};
    ms_batch *batch = NULL;
    uint64_t rows = 0;
    while (ms_job_next(job, 60000, &batch, &st) == MS_OK) {
        assert_non_null(batch);
        rows += ms_batch_live(batch);
        ms_batch_drop(batch);
    }
    assert_int_equal(rows, 777);
    assert_int_equal(st.code, MS_DIVISION_BY_ZERO);
    assert_int_equal(ms_job_state_now(job), MS_JOB_STATE_FAILED);
    ms_job_destroy(job);
    fake_rig_release(&f);
}

/* A LIMIT that has what it needs ends the source. */
static void a_satisfied_limit_ends_its_source(void **state)
{
    (void)state;
    fake_rig f;
    fake_rig_init(&f, 2, 1);
    const ms_pnode *source =
        fake_add_source(&f.plan, fake_scan_make(&f.world, 0, 1, 1u << 30, 10), 1);
    const ms_pnode *gather = fake_add_exchange(&f.plan, MS_EXCHANGE_GATHER, 1, source);
    ms_pnode *limit = fake_node(&f.plan, MS_PNODE_LIMIT, 1, gather, NULL);
    limit->u.limit.limit = 5000;
    fake_add_sink(&f.plan, fake_sink_make(&f.world), 1, limit);
    ms_job_totals totals;
    ms_status st = {0};
    assert_ok(fake_run(&f.engine, &f.plan, (ms_job_options){0}, &totals, &st));
    fake_expect_ids(&f.world, 0, 5000);
    assert_true(totals.rows_read < 1u << 28);
    fake_rig_release(&f);
}

/* ---- The ways to end ---- */

/* A job whose count has an open window: it emits its totals only when it is flushed. Each of its
 * two readers has read a hundred rows of a split. */
static ms_job *start_open(fake_rig *f, ms_str dir)
{
    atomic_store(&f->world.gate, 100);
    build_pipeline(f, 2, 80000);
    ms_job *job = fake_start(f, (ms_job_options){.checkpoint_dir = dir});
    ms_job_totals totals;
    wait_for(job, totals, totals.rows_written >= 200);
    return job;
}

static void drain_flushes_and_commits(void **state)
{
    (void)state;
    fake_rig f;
    fake_rig_init(&f, 2, 1);
    ms_job *job = start_open(&f, (ms_str){0});
    ms_job_drain(job);
    ms_status st = {0};
    assert_ok(ms_job_wait(job, 60000, &st));
    assert_int_equal(ms_job_state_now(job), MS_JOB_STATE_FINISHED);
    assert_int_equal(f.world.id_count, 200);
    assert_int_equal(f.world.totals[0], 200);
    ms_job_destroy(job);
    fake_rig_release(&f);
}

static void stop_takes_a_checkpoint_and_flushes_nothing(void **state)
{
    (void)state;
    fake_rig f;
    fake_rig_init(&f, 2, 1);
    ms_str dir = fake_dir(&f.world);
    ms_job *job = start_open(&f, dir);
    ms_job_stop(job);
    ms_status st = {0};
    assert_ok(ms_job_wait(job, 60000, &st));
    assert_int_equal(ms_job_state_now(job), MS_JOB_STATE_STOPPED);
    assert_int_equal(f.world.id_count, 200);
    assert_int_equal(f.world.totals[0], 0);
    ms_job_totals totals;
    ms_job_totals_now(job, &totals);
    assert_int_equal(totals.checkpoints_completed, 1);
    assert_int_equal(totals.rows_uncommitted, 0);
    ms_job_destroy(job);
    /* And it goes on from there. */
    fake_open_gate(&f.world, FAKE_GATE_OPEN);
    assert_ok(fake_run(&f.engine, &f.plan,
                       (ms_job_options){.checkpoint_dir = dir, .restore = MS_JOB_RESUME}, &totals,
                       &st));
    fake_expect_ids(&f.world, 0, 80000);
    assert_int_equal(f.world.totals[0], 80000);
    assert_int_equal(totals.rows_read, 80000 - 200);
    assert_int_equal(totals.rows_read_before, 200);
    fake_rig_release(&f);
}

static void stop_of_a_bounded_job_without_checkpoints_commits_nothing(void **state)
{
    (void)state;
    fake_rig f;
    fake_rig_init(&f, 2, 1);
    ms_job *job = start_open(&f, (ms_str){0});
    ms_job_stop(job);
    ms_status st = {0};
    assert_ok(ms_job_wait(job, 60000, &st));
    assert_int_equal(ms_job_state_now(job), MS_JOB_STATE_STOPPED);
    assert_int_equal(f.world.id_count, 0);
    ms_job_totals totals;
    ms_job_totals_now(job, &totals);
    assert_int_equal(totals.rows_uncommitted, 200);
    ms_job_destroy(job);
    fake_rig_release(&f);
}

static void stop_of_an_unbounded_job_without_checkpoints_commits(void **state)
{
    (void)state;
    fake_rig f;
    fake_rig_init(&f, 2, 1);
    f.plan.plan.is_bounded = false;
    ms_job *job = start_open(&f, (ms_str){0});
    ms_job_stop(job);
    ms_status st = {0};
    assert_ok(ms_job_wait(job, 60000, &st));
    assert_int_equal(ms_job_state_now(job), MS_JOB_STATE_STOPPED);
    assert_int_equal(f.world.id_count, 200);
    assert_int_equal(f.world.totals[0], 0);
    ms_job_destroy(job);
    fake_rig_release(&f);
}

static void cancel_emits_and_commits_nothing(void **state)
{
    (void)state;
    fake_rig f;
    fake_rig_init(&f, 2, 1);
    ms_job *job = start_open(&f, fake_dir(&f.world));
    ms_job_cancel(job);
    ms_status st = {0};
    assert_int_equal(ms_job_wait(job, 60000, &st), MS_CANCELED);
    assert_int_equal(ms_job_state_now(job), MS_JOB_STATE_CANCELED);
    assert_int_equal(f.world.id_count, 0);
    assert_int_equal(f.world.totals[0], 0);
    ms_job_destroy(job);
    fake_rig_release(&f);
}

/*
 * Between the flag and the request of a cancel an operator may give up: that is no failure of the
 * job. Here the two are far apart.
 */
static void operators_that_give_up_do_not_fail_a_canceled_job(void **state)
{
    (void)state;
    fake_rig f;
    fake_rig_init(&f, 0, 1);
    f.world.gives_up = true;
    build_pipeline(&f, 2, 80000);
    ms_job *job = fake_start(&f, (ms_job_options){.batch_rows = 8});
    for (int step = 0; step < 100; step++) {
        (void)ms_workers_step(f.engine.workers);
    }
    assert_int_equal(ms_job_state_now(job), MS_JOB_STATE_RUNNING);
    atomic_store(&job->canceled, true);
    while (ms_workers_step(f.engine.workers)) {
    }
    ms_job_cancel(job);
    ms_status st = {0};
    assert_int_equal(ms_job_wait(job, 60000, &st), MS_CANCELED);
    assert_int_equal(ms_job_state_now(job), MS_JOB_STATE_CANCELED);
    ms_job_destroy(job);
    fake_rig_release(&f);
}

static void requests_before_the_start_count(void **state)
{
    (void)state;
    fake_rig f;
    fake_rig_init(&f, 2, 1);
    build_pipeline(&f, 2, 8000);
    ms_status st = {0};
    ms_job *job = NULL;
    ms_job_options options = {.make_op = fake_make_op};
    assert_ok(ms_job_create(f.engine.workers, &f.plan.plan, &options, &job, &st));
    ms_job_cancel(job);
    assert_ok(ms_job_start(job, &st));
    assert_int_equal(ms_job_wait(job, 60000, &st), MS_CANCELED);
    ms_job_destroy(job);
    /* One that never starts is only freed. */
    ms_status_clear(&st);
    assert_ok(ms_job_create(f.engine.workers, &f.plan.plan, &options, &job, &st));
    ms_job_destroy(job);
    fake_rig_release(&f);
}

/* The cancel of destroy meets the end of the job: its event comes to a coordinator that is done. */
static void a_job_can_be_destroyed_while_it_ends(void **state)
{
    (void)state;
    fake_rig f;
    fake_rig_init(&f, 2, 1);
    build_select(&f, 10);
    ms_env_random random;
    ms_env_random_init(&random, 1);
    for (int i = 0; i < 2000; i++) {
        ms_job *job = fake_start(&f, (ms_job_options){0});
        uint64_t pause = ms_env_random_below(&random, 20000);
        for (volatile uint64_t k = 0; k < pause; k++) {
        }
        ms_job_destroy(job);
    }
    fake_rig_release(&f);
}

static void a_running_job_can_be_destroyed(void **state)
{
    (void)state;
    fake_rig f;
    fake_rig_init(&f, 2, 1);
    build_pipeline(&f, 4, 8000000);
    for (int i = 0; i < 20; i++) {
        ms_job *job = fake_start(&f, (ms_job_options){.batch_rows = 100});
        fake_sleep_ms(i % 4);
        ms_job_destroy(job);
    }
    assert_int_equal(f.world.id_count, 0);
    fake_rig_release(&f);
}

typedef struct caller {
    ms_job *job;
    uint64_t seed;
} caller;

/* Somebody who asks for this and that. */
static void ask_at_random(void *arg)
{
    const caller *c = arg;
    ms_env_random random;
    ms_env_random_init(&random, c->seed);
    for (int i = 0; i < 6; i++) {
        ms_status st = {0};
        uint64_t id = 0;
        ms_job_totals totals;
        switch (ms_env_random_below(&random, 8)) {
        case 0:
            ms_job_stop(c->job);
            break;
        case 1:
            ms_job_drain(c->job);
            break;
        case 2:
            if (i > 3) {
                ms_job_cancel(c->job);
            }
            break;
        case 3:
            ms_job_totals_now(c->job, &totals);
            break;
        default:
            if (ms_job_checkpoint(c->job, 5, &id, &st) != MS_OK) {
                MS_ASSERT(st.code != MS_INTERNAL);
            }
            break;
        }
    }
}

static void any_requests_from_any_threads_end_the_job(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 30; seed++) {
        fake_rig f;
        fake_rig_init(&f, 2, 1);
        f.world.is_wild = true;
        build_pipeline(&f, 2, 4000);
        ms_job *job = fake_start(&f, (ms_job_options){.batch_rows = 5,
                                                      .ring_slots = 2,
                                                      .pool_batches = 2,
                                                      .checkpoint_dir = fake_dir(&f.world),
                                                      .checkpoint_interval_ms = 3});
        caller callers[2] = {{job, seed * 2}, {job, seed * 2 + 1}};
        ms_thread threads[2];
        ms_status st = {0};
        for (int i = 0; i < 2; i++) {
            assert_ok(ms_thread_start(&threads[i], "caller", ask_at_random, &callers[i], &st));
        }
        ms_rc rc = ms_job_wait(job, 60000, &st);
        assert_true(rc == MS_OK || (rc == MS_CANCELED && !st.retriable));
        for (int i = 0; i < 2; i++) {
            ms_thread_join(&threads[i]);
        }
        ms_job_destroy(job);
        fake_rig_release(&f);
    }
}

/* ---- Failures ---- */

/* The n-th allocation or reservation that may fail does. */
static void memory_that_is_refused_fails_the_job_or_delays_it(void **state)
{
    (void)state;
    for (uint32_t i = 1; i < 100; i++) {
        fake_rig f;
        ms_status st = {0};
        char spec[64];
        uint32_t n = i < 80 ? i / 2 : i * i / 10;
        snprintf(spec, sizeof(spec), "memory.%s:%u:fail", i % 2 == 0 ? "try" : "reserve", n + 1);
        assert_ok(ms_env_faults_set(ms_str_cstr(spec), &st));
        fake_rig_init(&f, 2, 1);
        build_pipeline(&f, 2, 4000);
        ms_rc rc = fake_run(&f.engine, &f.plan, (ms_job_options){.batch_rows = 64}, NULL, &st);
        assert_true(rc == MS_OK || rc == MS_NO_MEMORY);
        if (rc == MS_OK) {
            fake_expect_ids(&f.world, 0, 4000);
        }
        fake_rig_release(&f);
        ms_status_clear(&st);
        assert_ok(ms_env_faults_set((ms_str){0}, &st));
    }
}

static void a_failure_ends_its_own_job_only(void **state)
{
    (void)state;
    fake_rig good;
    fake_rig bad;
    fake_rig_init(&good, 2, 1);
    build_pipeline(&good, 2, 80000);
    ms_job *other = fake_start(&good, (ms_job_options){.batch_rows = 32});
    fake_rig_init(&bad, 1, 1);
    fake_engine_release(&bad.engine);
    bad.engine = good.engine;
    bad.world.fail_at_id = 5000;
    build_pipeline(&bad, 2, 80000);
    ms_status st = {0};
    assert_int_equal(fake_run(&bad.engine, &bad.plan, (ms_job_options){0}, NULL, &st),
                     MS_DIVISION_BY_ZERO);
    assert_string_equal(st.message, "the id is 5000");
    assert_int_equal(bad.world.id_count, 0);
    ms_status_clear(&st);
    assert_ok(ms_job_wait(other, 60000, &st));
    fake_expect_ids(&good.world, 0, 80000);
    ms_job_destroy(other);
    fake_world_release(&bad.world);
    fake_rig_release(&good);
}

static void a_job_beyond_its_budget_fails_by_name(void **state)
{
    (void)state;
    fake_rig f;
    fake_rig_init(&f, 2, 1);
    const ms_pnode *source =
        fake_add_source(&f.plan, fake_scan_make(&f.world, 0, 1, 100000, 100000), 1);
    const ms_pnode *count = fake_add(&f.plan, MS_PNODE_AGGREGATE, 1, source);
    fake_add_sink(&f.plan, fake_sink_make(&f.world), 1, count);
    ms_status st = {0};
    ms_job_options options = {.name = ms_str_lit("big"), .memory_bytes_max = 200000};
    assert_int_equal(fake_run(&f.engine, &f.plan, options, NULL, &st), MS_NO_MEMORY);
    assert_non_null(strstr(st.message, "job big"));
    assert_non_null(strstr(st.hint, "millstream.memory.job-limit"));
    fake_rig_release(&f);
}

/* Rings charge the account: with little room they hold fewer batches, and the job still ends. */
static void rings_live_within_their_budget(void **state)
{
    (void)state;
    fake_rig f;
    fake_rig_init(&f, 2, 1);
    ms_account account;
    /* A batch of 512 rows of three columns is about 40 KB. */
    ms_account_init(&account, NULL, "test", NULL, 3000000);
    build_pipeline(&f, 2, 40000);
    ms_status st = {0};
    assert_ok(fake_run(&f.engine, &f.plan, (ms_job_options){.account = &account, .batch_rows = 512},
                       NULL, &st));
    fake_expect_ids(&f.world, 0, 40000);
    assert_int_equal(ms_account_used_bytes(&account), 0);
    assert_true(ms_account_peak_bytes(&account) > 0);
    ms_account_release(&account);
    fake_rig_release(&f);
}

static void too_many_operators_are_refused(void **state)
{
    (void)state;
    fake_rig f;
    fake_rig_init(&f, 1, 1);
    const ms_pnode *node = fake_add_source(&f.plan, fake_scan_make(&f.world, 0, 1, 1, 1), 128);
    for (int i = 0; i < 40; i++) {
        node = fake_add(&f.plan, MS_PNODE_CALC, 128, node);
    }
    ms_status st = {0};
    ms_job *job = NULL;
    ms_job_options options = {.make_op = fake_make_op};
    assert_int_equal(ms_job_create(f.engine.workers, &f.plan.plan, &options, &job, &st), MS_LIMIT);
    assert_null(job);
    fake_rig_release(&f);
}

/* ---- Cost ---- */

static int64_t cpu_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void an_idle_job_takes_no_turns_and_no_time(void **state)
{
    (void)state;
    fake_rig f;
    fake_rig_init(&f, 2, 1);
    ms_job *job = start_open(&f, fake_dir(&f.world));
    fake_sleep_ms(50);
    ms_job_totals before;
    ms_job_totals after;
    ms_job_totals_now(job, &before);
    int64_t cpu_before = cpu_ns();
    fake_sleep_ms(400);
    ms_job_totals_now(job, &after);
    assert_int_equal(before.turns, after.turns);
    /* One per cent of 400 ms. */
    assert_in_range(cpu_ns() - cpu_before, 0, 4000000);
    ms_job_destroy(job);
    fake_rig_release(&f);
}

static void nothing_is_allocated_per_batch_after_warm_up(void **state)
{
    (void)state;
    fake_rig f;
    fake_rig_init(&f, 2, 1);
    /* Splits end rarely; rows go by hash, by reference and by copy. */
    atomic_store(&f.world.gate, 20000);
    build_pipeline(&f, 2, 8000000);
    ms_job *job = fake_start(&f, (ms_job_options){.batch_rows = 256});
    ms_job_totals totals;
    wait_for(job, totals, totals.rows_written >= 40000);
    fake_sleep_ms(20);
    uint64_t before = ms_mem_allocation_count();
    fake_open_gate(&f.world, 120000);
    wait_for(job, totals, totals.rows_written >= 240000);
    fake_sleep_ms(20);
    /* Fewer than one for ten batches: the fake sink's own buffer grows, a heap may. */
    assert_in_range(ms_mem_allocation_count() - before, 0, 200000 / 256 / 10 * 2);
    ms_job_destroy(job);
    fake_rig_release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_task_runs_from_source_to_sink),
        cmocka_unit_test(pipelines_give_the_same_at_every_parallelism),
        cmocka_unit_test(every_subtask_of_a_hash_exchange_has_its_own_keys),
        cmocka_unit_test(batches_of_a_hash_exchange_are_bounded_by_bytes),
        cmocka_unit_test(sources_share_the_splits),
        cmocka_unit_test(a_union_passes_the_smallest_watermark_on_and_the_end_the_largest),
        cmocka_unit_test(results_come_whole_and_in_order_to_a_slow_caller),
        cmocka_unit_test(a_result_that_nobody_takes_holds_the_job_up_and_can_be_canceled),
        cmocka_unit_test(waiting_for_rows_has_a_timeout),
        cmocka_unit_test(rows_before_a_failure_come_first_then_the_failure),
        cmocka_unit_test(a_satisfied_limit_ends_its_source),
        cmocka_unit_test(drain_flushes_and_commits),
        cmocka_unit_test(stop_takes_a_checkpoint_and_flushes_nothing),
        cmocka_unit_test(stop_of_a_bounded_job_without_checkpoints_commits_nothing),
        cmocka_unit_test(stop_of_an_unbounded_job_without_checkpoints_commits),
        cmocka_unit_test(cancel_emits_and_commits_nothing),
        cmocka_unit_test(operators_that_give_up_do_not_fail_a_canceled_job),
        cmocka_unit_test(requests_before_the_start_count),
        cmocka_unit_test(a_job_can_be_destroyed_while_it_ends),
        cmocka_unit_test(a_running_job_can_be_destroyed),
        cmocka_unit_test(any_requests_from_any_threads_end_the_job),
        cmocka_unit_test(memory_that_is_refused_fails_the_job_or_delays_it),
        cmocka_unit_test(a_failure_ends_its_own_job_only),
        cmocka_unit_test(a_job_beyond_its_budget_fails_by_name),
        cmocka_unit_test(rings_live_within_their_budget),
        cmocka_unit_test(too_many_operators_are_refused),
        cmocka_unit_test(an_idle_job_takes_no_turns_and_no_time),
        cmocka_unit_test(nothing_is_allocated_per_batch_after_warm_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
