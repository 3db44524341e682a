/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests of checkpoints and recovery. A job counts rows of two sources behind a union, so that a
 * wrong cut shows as a wrong total. Recovery is proven by numbers, not only by the result: state
 * came back, sources read again at most what came after the last complete checkpoint, checkpoint
 * ids go on.
 */
#include "runtime/fake_job.h"

#define SPLITS 4u
#define SPLIT_ROWS 5000u
#define ROWS (2ull * SPLITS * SPLIT_ROWS)
#define GATE 1000u

/* source a, source b -> union -> hash -> count -> sink; union -> sink */
static void build_plan(fake_rig *f, uint32_t parallelism)
{
    fake_plan *plan = &f->plan;
    fake_plan_init(plan, &f->world);
    const ms_pnode *a = fake_add_source(
        plan, fake_scan_make(&f->world, 0, SPLITS, SPLIT_ROWS, FAKE_COUNT_KEYS), parallelism);
    const ms_pnode *b = fake_add_source(
        plan, fake_scan_make(&f->world, ROWS / 2, SPLITS, SPLIT_ROWS, FAKE_COUNT_KEYS),
        parallelism);
    const ms_pnode *calc = fake_add(plan, MS_PNODE_CALC, parallelism, b);
    const ms_pnode *both = fake_add_union(plan, parallelism, a, calc);
    const ms_pnode *hash = fake_add_exchange(plan, MS_EXCHANGE_HASH, parallelism, both);
    const ms_pnode *count = fake_add(plan, MS_PNODE_AGGREGATE, parallelism, hash);
    fake_add_sink(plan, fake_sink_make(&f->world), parallelism, count);
    fake_add_sink(plan, fake_sink_make(&f->world), parallelism, both);
}

static void open_rig(fake_rig *f, uint32_t parallelism)
{
    fake_rig_init(f, 2, 1);
    f->dir = fake_dir(&f->world);
    build_plan(f, parallelism);
}

static ms_job_options job_options(fake_rig *f, ms_job_restore restore)
{
    return (ms_job_options){.name = ms_str_lit("job"),
                            .checkpoint_dir = f->dir,
                            .restore = restore,
                            .batch_rows = 64,
                            .make_op = fake_make_op};
}

static void wait_for_rows(ms_job *job, uint64_t rows)
{
    ms_job_totals totals;
    for (int tries = 0;; tries++) {
        ms_job_totals_now(job, &totals);
        if (totals.rows_read >= rows) {
            return;
        }
        assert_true(tries < 20000);
        fake_sleep_ms(1);
    }
}

static void expect_result(fake_rig *f)
{
    fake_expect_ids(&f->world, 0, ROWS);
    assert_int_equal(f->world.totals[0], ROWS);
    assert_int_equal(f->world.totals[1], ROWS * (ROWS - 1) / 2);
}

/* Runs to the end, from a checkpoint. */
static void resume_to_end(fake_rig *f, ms_job_totals *totals)
{
    ms_status st = {0};
    atomic_store(&f->world.gate, FAKE_GATE_OPEN);
    assert_ok(fake_run(&f->engine, &f->plan, job_options(f, MS_JOB_RESUME), totals, &st));
    assert_true(totals->restored_entries > 0);
    assert_true(totals->restored_splits > 0);
    assert_int_equal(totals->rows_read + totals->rows_read_before, ROWS);
    expect_result(f);
}

/* ---- Recovery ---- */

/* A crash is a cancel: nothing that came after the last checkpoint survives it. */
static void crash_and_resume(uint32_t before, uint32_t after)
{
    fake_rig f;
    open_rig(&f, before);
    ms_status st = {0};
    atomic_store(&f.world.gate, GATE);
    ms_job *job = fake_start(&f, job_options(&f, MS_JOB_ASK));
    wait_for_rows(job, 2ull * GATE);
    uint64_t first = 0;
    uint64_t second = 0;
    assert_ok(ms_job_checkpoint(job, 60000, &first, &st));
    fake_open_gate(&f.world, 2 * GATE);
    wait_for_rows(job, 4ull * GATE);
    assert_ok(ms_job_checkpoint(job, 60000, &second, &st));
    assert_int_equal(second, first + 1);
    ms_job_totals totals;
    ms_job_totals_now(job, &totals);
    uint64_t at_checkpoint = totals.rows_read - totals.rows_since_checkpoint;
    assert_in_range(at_checkpoint, 4ull * GATE, totals.rows_read);
    fake_open_gate(&f.world, 3 * GATE);
    wait_for_rows(job, totals.rows_read + 1);
    ms_job_destroy(job);
    /* What was committed so far is what the checkpoint says. */
    assert_int_equal(f.world.id_count, at_checkpoint);

    build_plan(&f, after);
    resume_to_end(&f, &totals);
    assert_int_equal(totals.rows_read_before, at_checkpoint);
    assert_true(totals.checkpoint_id > second);
    fake_rig_release(&f);
}

static void a_job_goes_on_from_its_checkpoint(void **state)
{
    (void)state;
    crash_and_resume(1, 1);
    crash_and_resume(2, 2);
}

static void a_job_goes_on_at_another_parallelism(void **state)
{
    (void)state;
    crash_and_resume(1, 2);
    crash_and_resume(2, 1);
    crash_and_resume(2, 3);
    crash_and_resume(4, 2);
}

/*
 * Two ways in one job. The first reaches its end and is committed by a checkpoint while the other
 * goes on; after a crash it does not run again, or its totals would be there twice.
 */
static void what_has_finished_does_not_run_again(void **state)
{
    (void)state;
    for (uint32_t after = 1; after <= 2; after++) {
        fake_rig f;
        open_rig(&f, 1);
        ms_job_totals totals;
        ms_status st = {0};
        uint64_t id = 0;
        for (uint32_t run = 0; run < 2; run++) {
            /* Of the short source's splits all rows are below the gate. */
            uint32_t parallelism = run == 0 ? 1 : after;
            fake_plan *plan = &f.plan;
            fake_plan_init(plan, &f.world);
            const ms_pnode *a = fake_add_source(
                plan, fake_scan_make(&f.world, 0, 2, GATE, FAKE_COUNT_KEYS), parallelism);
            const ms_pnode *hash = fake_add_exchange(plan, MS_EXCHANGE_HASH, parallelism, a);
            const ms_pnode *count = fake_add(plan, MS_PNODE_AGGREGATE, parallelism, hash);
            fake_add_sink(plan, fake_sink_make(&f.world), parallelism, count);
            const ms_pnode *b = fake_add_source(
                plan, fake_scan_make(&f.world, 0, 1, SPLIT_ROWS, FAKE_COUNT_KEYS), parallelism);
            fake_add_sink(plan, fake_sink_make(&f.world), parallelism, b);
            atomic_store(&f.world.gate, run == 0 ? GATE : FAKE_GATE_OPEN);
            ms_job *job = fake_start(&f, job_options(&f, MS_JOB_RESUME));
            if (run == 0) {
                wait_for_rows(job, 3ull * GATE);
                /* The endings pass a little after the rows; a checkpoint then sees them. */
                for (int tries = 0; f.world.totals[0] == 0; tries++) {
                    assert_true(tries < 1000);
                    assert_ok(ms_job_checkpoint(job, 60000, &id, &st));
                }
            } else {
                assert_ok(ms_job_wait(job, 60000, &st));
                ms_job_totals_now(job, &totals);
            }
            ms_job_destroy(job);
        }
        assert_int_equal(f.world.totals[0], 2 * GATE);
        fake_expect_ids(&f.world, 0, SPLIT_ROWS);
        assert_int_equal(totals.rows_read, SPLIT_ROWS - GATE);
        assert_int_equal(totals.rows_read_before, 3 * GATE);
        fake_rig_release(&f);
    }
}

/* Waits until one of the subtasks of the sink has seen its input end. */
static void wait_for_an_end(const ms_job *job)
{
    for (int tries = 0;; tries++) {
        for (uint32_t i = 0; i < ms_job_op_count(job); i++) {
            ms_op_stats stats;
            ms_job_op_stats(job, i, &stats);
            if (stats.kind == MS_PNODE_SINK && stats.watermark_ms == MS_WATERMARK_MAX) {
                return;
            }
        }
        assert_true(tries < 20000);
        fake_sleep_ms(1);
    }
}

/*
 * source -> sink, the sink always at parallelism 2. At parallelism 2 one subtask of the source has
 * no split, and with it one of the sink is finished. At parallelism 1 both get rows again.
 */
static void what_has_finished_runs_again_when_others_feed_it(void **state)
{
    (void)state;
    fake_rig f;
    open_rig(&f, 1);
    const fake_scan *scan = fake_scan_make(&f.world, 0, 1, SPLIT_ROWS, FAKE_COUNT_KEYS);
    fake_sink *sink = fake_sink_make(&f.world);
    fake_plan_init(&f.plan, &f.world);
    fake_add_sink(&f.plan, sink, 2, fake_add_source(&f.plan, scan, 2));
    atomic_store(&f.world.gate, GATE);
    ms_job *job = fake_start(&f, job_options(&f, MS_JOB_ASK));
    wait_for_rows(job, GATE);
    wait_for_an_end(job);
    ms_status st = {0};
    uint64_t id = 0;
    /* The first one may still find the subtask ending. */
    assert_ok(ms_job_checkpoint(job, 60000, &id, &st));
    assert_ok(ms_job_checkpoint(job, 60000, &id, &st));
    ms_job_destroy(job);

    fake_plan_init(&f.plan, &f.world);
    fake_add_sink(&f.plan, sink, 2, fake_add_source(&f.plan, scan, 1));
    atomic_store(&f.world.gate, FAKE_GATE_OPEN);
    ms_job_totals totals;
    assert_ok(fake_run(&f.engine, &f.plan, job_options(&f, MS_JOB_RESUME), &totals, &st));
    assert_int_equal(totals.rows_read, SPLIT_ROWS - GATE);
    fake_expect_ids(&f.world, 0, SPLIT_ROWS);
    fake_rig_release(&f);
}

/* VALUES whose second subtask, which has no row, does not come to its end. */
static const ms_op_class *values_class;
static ms_op_class held_class;
static _Atomic bool second_is_held;

static ms_step held_poll(ms_op *op)
{
    if (op->ctx->env->subtask == 1 && atomic_load(&second_is_held)) {
        op->host->source_pending(op);
        return MS_DONE;
    }
    return values_class->poll(op);
}

static ms_op *make_held_op(const ms_pnode *node, ms_arena *arena)
{
    ms_op *op = ms_op_create(node, arena);
    if (node->kind == MS_PNODE_VALUES) {
        values_class = op->klass;
        held_class = *op->klass;
        held_class.poll = held_poll;
        op->klass = &held_class;
    }
    return op;
}

static void build_values_plan(fake_rig *f, uint32_t parallelism, uint32_t rows)
{
    fake_plan_init(&f->plan, &f->world);
    ms_pnode *values = fake_node(&f->plan, MS_PNODE_VALUES, parallelism, NULL, NULL);
    ms_value *cells = ms_arena_array(&f->world.arena, ms_value, 3 * (size_t)rows);
    for (uint32_t i = 0; i < rows; i++) {
        cells[3 * i] = ms_value_int(f->world.bigint, i);
        cells[3 * i + 1] = ms_value_int(f->world.bigint, i % FAKE_COUNT_KEYS);
        ms_str text = ms_arena_format(&f->world.arena, "the row of id %u", i);
        cells[3 * i + 2] = ms_value_str(f->world.string, text);
    }
    values->u.values.cells = cells;
    values->u.values.row_count = rows;
    fake_add_sink(&f->plan, fake_sink_make(&f->world), parallelism, values);
}

/* The subtask that has given out all rows is finished, the other one is not: at another parallelism
 * both run again, and no row comes twice. */
static void values_that_have_ended_do_not_come_again(void **state)
{
    (void)state;
    fake_rig f;
    open_rig(&f, 1);
    build_values_plan(&f, 2, 100);
    atomic_store(&second_is_held, true);
    ms_job_options options = job_options(&f, MS_JOB_ASK);
    options.make_op = make_held_op;
    ms_job *job = fake_start(&f, options);
    wait_for_an_end(job);
    ms_status st = {0};
    uint64_t id = 0;
    assert_ok(ms_job_checkpoint(job, 60000, &id, &st));
    assert_ok(ms_job_checkpoint(job, 60000, &id, &st));
    ms_job_destroy(job);
    assert_int_equal(f.world.id_count, 100);

    build_values_plan(&f, 1, 100);
    atomic_store(&second_is_held, false);
    assert_ok(fake_run(&f.engine, &f.plan, job_options(&f, MS_JOB_RESUME), NULL, &st));
    fake_expect_ids(&f.world, 0, 100);
    fake_rig_release(&f);
}

/* A history of runs of one job, each ended at a random moment. */
typedef struct history {
    fake_rig f;
    ms_env_random random;
    ms_job_options options;
    uint32_t parallelism;
    uint32_t runs;
    uint64_t newest; /* checkpoint seen */
} history;

static uint64_t below(history *h, uint64_t bound)
{
    return ms_env_random_below(&h->random, bound);
}

/* Creates the job at another parallelism, or, where a part that has finished does not allow it, at
 * the one it had. NULL when a fault came in between. */
static ms_job *create_at_some_parallelism(history *h)
{
    ms_status st = {0};
    ms_job *job = NULL;
    uint32_t wanted = 1 + (uint32_t)below(h, 3);
    build_plan(&h->f, wanted);
    ms_rc rc = ms_job_create(h->f.engine.workers, &h->f.plan.plan, &h->options, &job, &st);
    if (rc == MS_NOT_SUPPORTED) {
        ms_status_clear(&st);
        wanted = h->parallelism;
        build_plan(&h->f, wanted);
        rc = ms_job_create(h->f.engine.workers, &h->f.plan.plan, &h->options, &job, &st);
    }
    assert_true(rc == MS_OK || ms_env_faults_fired() > 0);
    h->parallelism = wanted;
    return job;
}

/* Arms a failure of the disk for every other run. */
static void arm_some_fault(history *h)
{
    static const char *const points[] = {"file.sync", "file.write", "file.rename", "file.full",
                                         "checkpoint.after_rename"};
    char spec[64] = "";
    ms_status st = {0};
    if (h->runs % 2 == 1) {
        snprintf(spec, sizeof(spec), "%s:%u:fail", points[below(h, 5)], 1 + (uint32_t)below(h, 40));
    }
    assert_ok(ms_env_faults_set(ms_str_cstr(spec), &st));
}

static void run_for_a_while(history *h)
{
    ms_job *job = create_at_some_parallelism(h);
    if (job == NULL) {
        return;
    }
    ms_status st = {0};
    assert_ok(ms_job_start(job, &st));
    /* After a dozen crashes the job may end. */
    int64_t wait_ms = (int64_t)below(h, h->runs < 12 ? 30 : 10000);
    ms_rc rc = ms_job_wait(job, wait_ms, &st);
    assert_true(rc == MS_OK || st.retriable || ms_env_faults_fired() > 0);
    ms_job_totals totals;
    ms_job_totals_now(job, &totals);
    assert_true(totals.checkpoint_id >= h->newest);
    h->newest = totals.checkpoint_id;
    ms_job_destroy(job);
}

/* One run with an engine of its own, so that faults are armed while no thread runs. */
static bool run_once(history *h)
{
    ms_status st = {0};
    ms_job_dir_info info;
    arm_some_fault(h);
    fake_engine_init(&h->f.engine, 2);
    run_for_a_while(h);
    fake_engine_release(&h->f.engine);
    assert_ok(ms_env_faults_set((ms_str){0}, &st));
    h->runs++;
    assert_ok(ms_job_dir_probe(h->f.dir, &info, &st));
    return info.kind == MS_JOB_DIR_COMPLETE;
}

/* Cancels a job at a random moment, many times, with checkpoints all the time, at changing
 * parallelism and on a disk that fails now and then. */
static void crashes_at_any_moment_lose_and_repeat_nothing(void **state)
{
    (void)state;
    uint64_t histories = getenv("MS_NIGHTLY") != NULL ? 200 : 10;
    for (uint64_t seed = 1; seed <= histories; seed++) {
        history h = {.parallelism = 1};
        fake_world_init(&h.f.world, seed);
        h.f.dir = fake_dir(&h.f.world);
        h.f.world.is_wild = true;
        ms_env_random_init(&h.random, seed);
        h.options = job_options(&h.f, MS_JOB_RESUME);
        h.options.checkpoint_interval_ms = 1;
        h.options.checkpoint_full_every = 3;
        h.options.batch_rows = 7;
        h.options.ring_slots = 2;
        h.options.pool_batches = 2;
        while (!run_once(&h)) {
        }
        expect_result(&h.f);
        fake_world_release(&h.f.world);
    }
}

/* ---- What was asked for, and what is there ---- */

static void an_unfinished_job_asks(void **state)
{
    (void)state;
    fake_rig f;
    open_rig(&f, 1);
    ms_status st = {0};
    atomic_store(&f.world.gate, GATE);
    ms_job *job = fake_start(&f, job_options(&f, MS_JOB_ASK));
    wait_for_rows(job, 2ull * GATE);
    uint64_t id = 0;
    assert_ok(ms_job_checkpoint(job, 60000, &id, &st));

    /* While it runs nobody else gets the directory. */
    ms_job *other = NULL;
    ms_job_options options = job_options(&f, MS_JOB_FRESH);
    assert_int_equal(ms_job_create(f.engine.workers, &f.plan.plan, &options, &other, &st),
                     MS_JOB_RUNNING);
    assert_null(other);
    ms_job_destroy(job);

    /* Who has looked at it before hands the lock over, also to a job that cannot be created. */
    ms_status_clear(&st);
    options = job_options(&f, MS_JOB_ASK);
    assert_ok(ms_job_dir_lock(options.checkpoint_dir, &options.checkpoint_lock, &st));
    assert_int_equal(ms_job_create(f.engine.workers, &f.plan.plan, &options, &other, &st),
                     MS_RESUME_REQUIRED);
    assert_null(other);

    ms_status_clear(&st);
    options = job_options(&f, MS_JOB_ASK);
    assert_int_equal(ms_job_create(f.engine.workers, &f.plan.plan, &options, &other, &st),
                     MS_RESUME_REQUIRED);
    assert_non_null(strstr(st.hint, "--resume"));
    assert_non_null(strstr(st.hint, "--fresh"));
    ms_status_clear(&st);
    ms_job_dir_info info;
    assert_ok(ms_job_dir_probe(f.dir, &info, &st));
    assert_int_equal(info.kind, MS_JOB_DIR_UNFINISHED);
    assert_int_equal(info.checkpoint_id, id);

    /* Anew: nothing is restored, but ids go on. */
    f.world.id_count = 0;
    f.world.commit_count = 0;
    atomic_store(&f.world.gate, FAKE_GATE_OPEN);
    ms_job_totals totals;
    assert_ok(fake_run(&f.engine, &f.plan, job_options(&f, MS_JOB_FRESH), &totals, &st));
    assert_int_equal(totals.restored_entries, 0);
    assert_int_equal(totals.rows_read, ROWS);
    assert_true(totals.checkpoint_id > id);
    fake_rig_release(&f);
}

static uint32_t count_files(fake_rig *f, const char *prefix)
{
    ms_status st = {0};
    const ms_dir_entry *entries = NULL;
    size_t count = 0;
    uint32_t found = 0;
    assert_ok(ms_dir_list(f->dir.ptr, &f->world.arena, &entries, &count, &st));
    for (size_t i = 0; i < count; i++) {
        found += ms_str_starts_with(entries[i].name, ms_str_cstr(prefix)) ? 1 : 0;
    }
    return found;
}

static void a_job_that_reached_its_end_leaves_a_progress_record_only(void **state)
{
    (void)state;
    fake_rig f;
    open_rig(&f, 2);
    ms_status st = {0};
    ms_job_totals totals;
    ms_job_options options = job_options(&f, MS_JOB_ASK);
    options.checkpoint_interval_ms = 2;
    assert_ok(fake_run(&f.engine, &f.plan, options, &totals, &st));
    expect_result(&f);
    assert_true(totals.checkpoints_completed >= 1);
    assert_int_equal(count_files(&f, "manifest"), 0);
    assert_int_equal(count_files(&f, "state"), 0);
    assert_int_equal(count_files(&f, "progress"), 1);
    ms_job_dir_info info;
    assert_ok(ms_job_dir_probe(f.dir, &info, &st));
    assert_int_equal(info.kind, MS_JOB_DIR_COMPLETE);
    assert_int_equal(info.checkpoint_id, totals.checkpoint_id);
    assert_int_equal(info.rows_read, ROWS);
    /* A later plain run starts anew, without being asked. */
    uint64_t before = totals.checkpoint_id;
    assert_ok(fake_run(&f.engine, &f.plan, job_options(&f, MS_JOB_ASK), &totals, &st));
    assert_int_equal(totals.rows_read, ROWS);
    assert_true(totals.checkpoint_id > before);
    fake_rig_release(&f);
}

static void two_complete_checkpoints_are_kept(void **state)
{
    (void)state;
    fake_rig f;
    open_rig(&f, 1);
    ms_status st = {0};
    atomic_store(&f.world.gate, 0);
    ms_job_options options = job_options(&f, MS_JOB_ASK);
    options.checkpoint_full_every = 4;
    ms_job *job = fake_start(&f, options);
    uint64_t id = 0;
    for (uint64_t i = 1; i <= 10; i++) {
        fake_open_gate(&f.world, i * 10);
        wait_for_rows(job, i * 20);
        assert_ok(ms_job_checkpoint(job, 60000, &id, &st));
    }
    /* The sweep comes after the answer. */
    for (int tries = 0; count_files(&f, "manifest") > 2; tries++) {
        assert_true(tries < 5000);
        fake_sleep_ms(1);
    }
    assert_int_equal(count_files(&f, "manifest"), 2);
    /* Two chains of at most four files, which may overlap. */
    assert_in_range(count_files(&f, "state"), 2, 8);
    ms_job_destroy(job);
    ms_job_totals totals;
    resume_to_end(&f, &totals);
    assert_int_equal(totals.restored_entries, FAKE_COUNT_KEYS);
    fake_rig_release(&f);
}

static void another_plan_is_refused(void **state)
{
    (void)state;
    fake_rig f;
    open_rig(&f, 1);
    ms_status st = {0};
    atomic_store(&f.world.gate, GATE);
    ms_job *job = fake_start(&f, job_options(&f, MS_JOB_ASK));
    uint64_t id = 0;
    assert_ok(ms_job_checkpoint(job, 60000, &id, &st));
    ms_job_destroy(job);
    fake_add_sink(&f.plan, fake_sink_make(&f.world), 1, f.plan.nodes[0]);
    ms_job_options options = job_options(&f, MS_JOB_RESUME);
    assert_int_equal(ms_job_create(f.engine.workers, &f.plan.plan, &options, &job, &st),
                     MS_PLAN_MISMATCH);
    fake_rig_release(&f);
}

static void without_a_directory_there_is_no_checkpoint_to_ask_for(void **state)
{
    (void)state;
    fake_rig f;
    open_rig(&f, 1);
    ms_status st = {0};
    atomic_store(&f.world.gate, GATE);
    ms_job_options options = job_options(&f, MS_JOB_ASK);
    options.checkpoint_dir = (ms_str){0};
    ms_job *job = fake_start(&f, options);
    uint64_t id = 0;
    assert_int_equal(ms_job_checkpoint(job, 1000, &id, &st), MS_NOT_SUPPORTED);
    ms_job_destroy(job);
    fake_rig_release(&f);
}

/* ---- Given up, and tried again ---- */

/* A write persist that hangs: the checkpoint times out, later ones go by, and the rows of the one
 * that was given up are committed with the next. */
static void a_checkpoint_that_hangs_times_out_and_the_next_one_commits_its_rows(void **state)
{
    (void)state;
    fake_rig f;
    open_rig(&f, 2);
    ms_status st = {0};
    atomic_store(&f.world.gate, GATE);
    ms_job_options options = job_options(&f, MS_JOB_ASK);
    options.checkpoint_timeout_ms = 100;
    options.checkpoint_failures_max = 100;
    ms_job *job = fake_start(&f, options);
    wait_for_rows(job, 4ull * GATE);
    ms_mutex_lock(&f.world.mutex);
    f.world.hang_persist = true;
    ms_mutex_unlock(&f.world.mutex);
    uint64_t id = 0;
    assert_int_equal(ms_job_checkpoint(job, 60000, &id, &st), MS_LIMIT);
    assert_non_null(strstr(st.message, "not complete after 100 ms"));
    assert_int_equal(f.world.id_count, 0);
    /* Rows go on meanwhile: a barrier waits for nobody. */
    fake_open_gate(&f.world, 2 * GATE);
    wait_for_rows(job, 8ull * GATE);
    fake_unhang(&f.world);
    /* On a busy machine a sound checkpoint may take too long as well. */
    for (int tries = 0; id == 0; tries++) {
        assert_true(tries < 100);
        ms_status_clear(&st);
        if (ms_job_checkpoint(job, 60000, &id, &st) != MS_OK) {
            assert_int_equal(st.code, MS_LIMIT);
        }
    }
    ms_job_totals totals;
    ms_job_totals_now(job, &totals);
    assert_true(totals.checkpoints_aborted >= 1);
    ms_mutex_lock(&f.world.mutex);
    assert_int_equal(f.world.id_count, 8ull * GATE);
    ms_mutex_unlock(&f.world.mutex);
    ms_job_destroy(job);
    resume_to_end(&f, &totals);
    fake_rig_release(&f);
}

static void too_many_failures_in_a_row_fail_the_job(void **state)
{
    (void)state;
    fake_rig f;
    open_rig(&f, 1);
    ms_status st = {0};
    atomic_store(&f.world.gate, GATE);
    f.world.hang_persist = true;
    ms_job_options options = job_options(&f, MS_JOB_ASK);
    options.checkpoint_timeout_ms = 10;
    options.checkpoint_interval_ms = 5;
    options.checkpoint_failures_max = 2;
    ms_job *job = fake_start(&f, options);
    assert_int_equal(ms_job_wait(job, 60000, &st), MS_LIMIT);
    ms_job_destroy(job);
    fake_unhang(&f.world);
    fake_rig_release(&f);
}

/* Runs a job with two checkpoints while one operation fails. False: the job failed. */
static bool run_with_fault(fake_rig *f, uint32_t *failed)
{
    ms_status st = {0};
    ms_job *job = NULL;
    atomic_store(&f->world.gate, GATE);
    ms_job_options options = job_options(f, MS_JOB_ASK);
    options.checkpoint_failures_max = 100;
    if (ms_job_create(f->engine.workers, &f->plan.plan, &options, &job, &st) != MS_OK) {
        return false;
    }
    assert_ok(ms_job_start(job, &st));
    wait_for_rows(job, 4ull * GATE);
    for (uint64_t i = 2; i < 4; i++) {
        uint64_t id = 0;
        ms_status_clear(&st);
        *failed += ms_job_checkpoint(job, 60000, &id, &st) != MS_OK ? 1 : 0;
        fake_open_gate(&f->world, i * GATE);
    }
    bool is_well = ms_job_state_now(job) != MS_JOB_STATE_FAILED;
    ms_job_destroy(job);
    return is_well;
}

/* The n-th passage of a fault point fails, for n = 1, 2, ... until a run passes none. Faults are
 * armed and disarmed while no thread runs. */
static void fail_everywhere(const char *point, bool job_may_fail)
{
    for (uint32_t n = 1;; n++) {
        fake_rig f;
        ms_status st = {0};
        char spec[64];
        snprintf(spec, sizeof(spec), "%s:%u:fail", point, n);
        fake_world_init(&f.world, 1);
        f.dir = fake_dir(&f.world);
        build_plan(&f, 2);
        assert_ok(ms_env_faults_set(ms_str_cstr(spec), &st));
        fake_engine_init(&f.engine, 2);
        uint32_t failed = 0;
        bool is_well = run_with_fault(&f, &failed);
        fake_engine_release(&f.engine);
        uint64_t fired = ms_env_faults_fired();
        assert_ok(ms_env_faults_set((ms_str){0}, &st));
        assert_true(is_well || job_may_fail);
        assert_true(failed > 0 || fired == 0 || job_may_fail);

        fake_engine_init(&f.engine, 2);
        ms_job_totals totals;
        atomic_store(&f.world.gate, FAKE_GATE_OPEN);
        assert_ok(fake_run(&f.engine, &f.plan, job_options(&f, MS_JOB_RESUME), &totals, &st));
        assert_int_equal(totals.rows_read + totals.rows_read_before, ROWS);
        expect_result(&f);
        fake_rig_release(&f);
        if (fired == 0) {
            assert_true(n > 1);
            return;
        }
    }
}

static void a_failing_disk_gives_checkpoints_up_and_harms_no_row(void **state)
{
    (void)state;
    fail_everywhere("checkpoint.before_data", false);
    fail_everywhere("checkpoint.after_data", false);
    fail_everywhere("checkpoint.before_rename", false);
    fail_everywhere("checkpoint.after_rename", false);
    fail_everywhere("file.sync", false);
    fail_everywhere("file.write", false);
    fail_everywhere("file.full", false);
    fail_everywhere("file.rename", false);
}

/*
 * A barrier comes to a task after its checkpoint was given up: what the task writes for it belongs
 * to no checkpoint, so that the next write has to be a full one again.
 *
 *     source a -> hash -> count -> sink            its write fails: the checkpoint is given up
 *     source b -> calc (held) -> hash -> count     its barrier waits behind a batch until then
 */
static void a_barrier_that_comes_too_late_spoils_no_chain(void **state)
{
    (void)state;
    fake_rig f;
    ms_status st = {0};
    fake_world_init(&f.world, 1);
    f.dir = fake_dir(&f.world);
    fake_plan *plan = &f.plan;
    fake_plan_init(plan, &f.world);
    for (uint32_t i = 0; i < 2; i++) {
        const ms_pnode *source = fake_add_source(
            plan, fake_scan_make(&f.world, i * SPLIT_ROWS, 1, SPLIT_ROWS, FAKE_COUNT_KEYS), 1);
        source = i == 1 ? fake_add(plan, MS_PNODE_CALC, 1, source) : source;
        const ms_pnode *hash = fake_add_exchange(plan, MS_EXCHANGE_HASH, 1, source);
        fake_add_sink(plan, fake_sink_make(&f.world), 1,
                      fake_add(plan, MS_PNODE_AGGREGATE, 1, hash));
    }
    atomic_store(&f.world.gate, 16);
    atomic_store(&f.world.hold_calc, true);
    assert_ok(ms_env_faults_set(ms_str_lit("checkpoint.before_data:1:fail"), &st));
    fake_engine_init(&f.engine, 2);
    ms_job *job = fake_start(&f, job_options(&f, MS_JOB_ASK));
    wait_for_rows(job, 32);
    uint64_t id = 0;
    assert_int_equal(ms_job_checkpoint(job, 60000, &id, &st), MS_IO_ERROR);
    fake_sleep_ms(20);
    atomic_store(&f.world.hold_calc, false);
    fake_open_gate(&f.world, 16);
    ms_status_clear(&st);
    assert_ok(ms_job_checkpoint(job, 60000, &id, &st));
    ms_job_destroy(job);
    fake_engine_release(&f.engine);
    assert_ok(ms_env_faults_set((ms_str){0}, &st));

    fake_engine_init(&f.engine, 2);
    atomic_store(&f.world.gate, FAKE_GATE_OPEN);
    ms_job_totals totals;
    assert_ok(fake_run(&f.engine, plan, job_options(&f, MS_JOB_RESUME), &totals, &st));
    assert_int_equal(totals.restored_entries, 2 * FAKE_COUNT_KEYS);
    assert_int_equal(f.world.totals[0], 2 * SPLIT_ROWS);
    fake_rig_release(&f);
}

static void a_failing_commit_fails_the_job_and_is_made_up_for(void **state)
{
    (void)state;
    fail_everywhere("commit.before", true);
    fail_everywhere("commit.after", true);
}

/* ---- Killed ---- */

typedef struct killed {
    const char *spec;
    ms_str dir;
    const char *commit_dir;
} killed;

static void run_job_until_killed(void *arg)
{
    const killed *k = arg;
    fake_rig f;
    fake_engine_init(&f.engine, 2);
    fake_world_init(&f.world, 1);
    f.dir = k->dir;
    f.world.commit_dir = k->commit_dir;
    build_plan(&f, 2);
    ms_status st = {0};
    if (ms_env_faults_set(ms_str_cstr(k->spec), &st) != MS_OK) {
        _exit(1);
    }
    ms_job_options options = job_options(&f, MS_JOB_RESUME);
    options.checkpoint_interval_ms = 1;
    ms_job_totals totals;
    _exit(fake_run(&f.engine, &f.plan, options, &totals, &st) == MS_OK ? 0 : 2);
}

static void read_commits(fake_rig *f)
{
    ms_status st = {0};
    const ms_dir_entry *entries = NULL;
    size_t count = 0;
    assert_ok(ms_dir_list(f->world.commit_dir, &f->world.arena, &entries, &count, &st));
    for (size_t i = 0; i < count; i++) {
        char path[512];
        snprintf(path, sizeof(path), "%s/%.*s", f->world.commit_dir, MS_STR_ARG(entries[i].name));
        ms_buf bytes;
        ms_buf_init(&bytes, 1u << 26);
        if (!ms_str_ends_with(entries[i].name, ms_str_lit(".tmp"))) {
            assert_ok(ms_file_read_all(path, &bytes, &st));
            fake_add_rows(&f->world, ms_str_make(bytes.ptr + 16, bytes.bytes - 16));
        }
        ms_buf_release(&bytes);
    }
}

static void kill_and_resume(const char *point, uint32_t n)
{
    char spec[64];
    snprintf(spec, sizeof(spec), "%s:%u:kill", point, n);
    fake_rig f;
    fake_world_init(&f.world, 1);
    f.dir = fake_dir(&f.world);
    f.world.commit_dir = fake_dir(&f.world).ptr;
    killed k = {.spec = spec, .dir = f.dir, .commit_dir = f.world.commit_dir};
    int signal_number = run_in_child(run_job_until_killed, &k);
    /* Later passages may not come: then the job has ended. */
    assert_true(signal_number == SIGKILL || (signal_number == 0 && n > 1));
    ms_status st = {0};
    ms_job_dir_info info;
    assert_ok(ms_job_dir_probe(f.dir, &info, &st));
    if (info.kind != MS_JOB_DIR_COMPLETE) {
        ms_job_totals totals;
        fake_engine_init(&f.engine, 2);
        build_plan(&f, 1 + n % 3);
        assert_ok(fake_run(&f.engine, &f.plan, job_options(&f, MS_JOB_RESUME), &totals, &st));
        assert_int_equal(totals.rows_read + totals.rows_read_before, ROWS);
        if (info.kind == MS_JOB_DIR_UNFINISHED) {
            assert_true(totals.checkpoint_id >= info.checkpoint_id);
        }
        fake_engine_release(&f.engine);
    }
    read_commits(&f);
    expect_result(&f);
    fake_world_release(&f.world);
}

static void a_process_killed_at_any_marked_point_goes_on(void **state)
{
    (void)state;
    static const char *const points[] = {
        "checkpoint.before_data",  "checkpoint.after_data", "checkpoint.before_rename",
        "checkpoint.after_rename", "commit.before",         "commit.after"};
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
        kill_and_resume(points[i], 1);
        kill_and_resume(points[i], 3);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_killed_at_any_marked_point_goes_on),
        cmocka_unit_test(a_job_goes_on_from_its_checkpoint),
        cmocka_unit_test(a_job_goes_on_at_another_parallelism),
        cmocka_unit_test(what_has_finished_does_not_run_again),
        cmocka_unit_test(what_has_finished_runs_again_when_others_feed_it),
        cmocka_unit_test(values_that_have_ended_do_not_come_again),
        cmocka_unit_test(crashes_at_any_moment_lose_and_repeat_nothing),
        cmocka_unit_test(an_unfinished_job_asks),
        cmocka_unit_test(a_job_that_reached_its_end_leaves_a_progress_record_only),
        cmocka_unit_test(two_complete_checkpoints_are_kept),
        cmocka_unit_test(another_plan_is_refused),
        cmocka_unit_test(without_a_directory_there_is_no_checkpoint_to_ask_for),
        cmocka_unit_test(a_checkpoint_that_hangs_times_out_and_the_next_one_commits_its_rows),
        cmocka_unit_test(too_many_failures_in_a_row_fail_the_job),
        cmocka_unit_test(a_failing_disk_gives_checkpoints_up_and_harms_no_row),
        cmocka_unit_test(a_barrier_that_comes_too_late_spoils_no_chain),
        cmocka_unit_test(a_failing_commit_fails_the_job_and_is_made_up_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
