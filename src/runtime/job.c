/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The face of a job: options with their defaults, creation and recovery, waiting, and the numbers
 * that others may read. Callers and the coordinator meet under one mutex, which guards the state of
 * the job and nothing that a task touches.
 */
#include "runtime/job.h"

#include "base/env.h"
#include "runtime/runtime_priv.h"

#include <stdio.h>

#define RING_SLOTS_DEFAULT 8u
#define RING_BYTES_DEFAULT (4u << 20)
#define SLOTS_MIN 2u /* one batch is filled while one is read */
#define SLOTS_MAX 4096u
#define RESULT_BYTES_DEFAULT (16u << 20)
#define TIMEOUT_MS_DEFAULT (10 * 60 * 1000)
#define FULL_EVERY_DEFAULT 8u
#define FAILURES_MAX_DEFAULT 3u

/* ---- Creation ---- */

static uint32_t or_default(uint32_t value, uint32_t fallback)
{
    return value != 0 ? value : fallback;
}

static uint32_t at_least(uint32_t value, uint32_t least)
{
    return value < least ? least : value;
}

static void fill_options(ms_job *job, const ms_job_options *given)
{
    ms_job_options *options = &job->options;
    *options = *given;
    options->name = ms_arena_copy_str(&job->arena, given->name);
    options->checkpoint_dir = ms_arena_copy_str(&job->arena, given->checkpoint_dir);
    options->checkpoint_lock = NULL;
    job->store.lock = given->checkpoint_lock;
    options->parallelism = or_default(given->parallelism, 1);
    options->batch_rows = or_default(given->batch_rows, MS_BATCH_ROWS_DEFAULT);
    if (options->batch_rows > MS_BATCH_ROWS_MAX) {
        options->batch_rows = MS_BATCH_ROWS_MAX;
    }
    options->ring_slots = at_least(or_default(given->ring_slots, RING_SLOTS_DEFAULT), SLOTS_MIN);
    if (options->ring_slots > SLOTS_MAX) {
        options->ring_slots = SLOTS_MAX;
    }
    options->ring_bytes = given->ring_bytes != 0 ? given->ring_bytes : RING_BYTES_DEFAULT;
    if (given->pool_batches != 0) {
        options->pool_batches = at_least(given->pool_batches, SLOTS_MIN);
    }
    if (given->checkpoint_timeout_ms == 0) {
        options->checkpoint_timeout_ms = TIMEOUT_MS_DEFAULT;
    }
    options->checkpoint_full_every = or_default(given->checkpoint_full_every, FULL_EVERY_DEFAULT);
    options->checkpoint_failures_max =
        or_default(given->checkpoint_failures_max, FAILURES_MAX_DEFAULT);
    if (given->memory_bytes_max == 0) {
        options->memory_bytes_max = MS_ACCOUNT_UNLIMITED;
    }
    if (given->result_bytes_max == 0) {
        options->result_bytes_max = RESULT_BYTES_DEFAULT;
    }
    if (given->make_op == NULL) {
        options->make_op = ms_op_create;
    }
}

static void init_accounts(ms_job *job)
{
    char name[MS_ACCOUNT_NAME_BYTES];
    ms_str job_name = job->options.name;
    (void)snprintf(name, sizeof(name), "job %.*s", MS_STR_ARG(job_name));
    ms_account_init(&job->account, job->options.account, name, "millstream.memory.job-limit",
                    job->options.memory_bytes_max);
    (void)snprintf(name, sizeof(name), "state of job %.*s", MS_STR_ARG(job_name));
    ms_account_init(&job->state_account, &job->account, name, NULL, MS_ACCOUNT_UNLIMITED);
    (void)snprintf(name, sizeof(name), "exchanges of job %.*s", MS_STR_ARG(job_name));
    ms_account_init(&job->ring_account, &job->account, name, NULL, MS_ACCOUNT_UNLIMITED);
    (void)snprintf(name, sizeof(name), "operators of job %.*s", MS_STR_ARG(job_name));
    ms_account_init(&job->op_account, &job->account, name, NULL, MS_ACCOUNT_UNLIMITED);
}

static void release_accounts(ms_job *job)
{
    ms_account_release(&job->op_account);
    ms_account_release(&job->ring_account);
    ms_account_release(&job->state_account);
    ms_account_release(&job->account);
}

static ms_rc write_plan_text(ms_job *job, ms_status *st)
{
    ms_buf text;
    ms_buf_init(&text, MS_LIMIT_SCRIPT_BYTES);
    ms_rc rc = ms_plan_write_text(job->plan, &text, st);
    if (rc == MS_OK) {
        job->plan_text = ms_arena_copy_str(&job->arena, ms_buf_view(&text));
    }
    ms_buf_release(&text);
    return rc;
}

static ms_rc resume(ms_job *job, ms_checkpoint_id id, ms_status *st)
{
    msi_store *store = &job->store;
    MS_TRY(msi_store_read(store, id, &job->arena, &job->restored, st));
    MS_TRY(ms_plan_check_text(job->plan, job->restored.plan_text, st));
    job->is_restored = true;
    atomic_store_explicit(&job->checkpoint_id, id, memory_order_relaxed);
    MS_TRY(msi_store_sweep(store->dir, &id, 1, st));
    return msi_recovery_load(job, &job->restored, st);
}

static ms_rc open_store(ms_job *job, ms_status *st)
{
    msi_store *store = &job->store;
    MS_TRY(msi_store_open(store, job->options.checkpoint_dir, st));
    MS_TRY(write_plan_text(job, st));
    ms_checkpoint_id id = 0;
    msi_progress progress;
    MS_TRY(msi_store_look(store->dir, &id, &store->last, &progress, st));
    if (id != 0 && job->options.restore == MS_JOB_RESUME) {
        return resume(job, id, st);
    }
    if (id != 0 && job->options.restore == MS_JOB_ASK) {
        ms_status_set(st, MS_RESUME_REQUIRED, ms_span_none,
                      "an unfinished job has left a checkpoint in \"%.*s\"",
                      MS_STR_ARG(store->dir));
        return ms_status_hint(st, "Say --resume to go on from it, or --fresh to start anew.");
    }
    return ms_job_dir_clear(store->dir, st);
}

static const ms_pnode *find_collect(const ms_plan *plan)
{
    for (uint32_t i = 0; i < plan->node_count; i++) {
        if (plan->nodes[i]->kind == MS_PNODE_COLLECT) {
            return plan->nodes[i];
        }
    }
    return NULL;
}

static ms_rc build(ms_job *job, ms_status *st)
{
    if (job->plan->node_count == 0) {
        return ms_status_set(st, MS_INTERNAL, ms_span_none, "a plan has no operators");
    }
    MS_TRY(msi_graph_build(job, st));
    const ms_pnode *collect = find_collect(job->plan);
    if (collect != NULL) {
        job->collector = msi_collector_create(&collect->schema, job->options.batch_rows,
                                              job->options.result_bytes_max, &job->account);
    }
    if (job->options.checkpoint_dir.bytes > 0) {
        MS_TRY(open_store(job, st));
    }
    job->coordinator = msi_coordinator_create(job);
    return MS_OK;
}

ms_rc ms_job_create(ms_workers *workers, const ms_plan *plan, const ms_job_options *options,
                    ms_job **job_out, ms_status *st)
{
    *job_out = NULL;
    ms_job *job = ms_mem_calloc(1, sizeof(ms_job));
    ms_arena_init(&job->arena, 0);
    job->workers = workers;
    job->plan = plan;
    fill_options(job, options);
    job->run_id = ms_env_next_seed();
    init_accounts(job);
    ms_mutex_init(&job->mutex, MS_RANK_JOB);
    ms_cond_init(&job->cond);
    if (build(job, st) != MS_OK) {
        ms_job_destroy(job);
        return st->code;
    }
    *job_out = job;
    return MS_OK;
}

/* ---- Start and end ---- */

static ms_rc place(ms_job *job, ms_status *st)
{
    uint32_t base = msi_workers_next_base(job->workers);
    msi_worker *worker = NULL;
    for (uint32_t t = 0; t < job->task_count; t++) {
        msi_task *task = &job->tasks[t];
        MS_TRY(msi_workers_place(job->workers, base + task->stage + task->subtask, &worker, st));
        msi_actor_init(&task->actor, worker, job, msi_task_run);
        task->actor.is_source = task->is_source;
        task->env.mailbox = msi_worker_mailbox(worker);
    }
    MS_TRY(msi_workers_place(job->workers, base, &worker, st));
    msi_coordinator_place(job->coordinator, worker);
    return MS_OK;
}

ms_rc ms_job_start(ms_job *job, ms_status *st)
{
    MS_TRY(place(job, st));
    ms_mutex_lock(&job->mutex);
    MS_ASSERT(job->state == MS_JOB_STATE_CREATED);
    job->state = MS_JOB_STATE_RUNNING;
    bool stop = job->early_stop;
    bool drain = job->early_drain;
    bool cancel = job->early_cancel;
    ms_mutex_unlock(&job->mutex);
    if (stop) {
        msi_event_send(job, MSI_EVENT_STOP, NULL, 0, NULL, NULL);
    }
    if (drain) {
        msi_event_send(job, MSI_EVENT_DRAIN, NULL, 0, NULL, NULL);
    }
    if (cancel) {
        msi_event_send(job, MSI_EVENT_CANCEL, NULL, 0, NULL, NULL);
    }
    msi_actor_wake(&job->coordinator->actor);
    return MS_OK;
}

void msi_job_ended(ms_job *job, ms_job_state state, const ms_status *failure)
{
    ms_mutex_lock(&job->mutex);
    job->state = state;
    job->failure = *failure;
    ms_cond_broadcast(&job->cond);
    ms_mutex_unlock(&job->mutex);
    if (job->collector != NULL) {
        msi_collector_end(job->collector);
    }
}

static bool has_ended(const ms_job *job)
{
    return job->state > MS_JOB_STATE_RUNNING;
}

/* Waits until done(job, arg) under the mutex, which is held at the return. False at the timeout. */
static bool wait_until(ms_job *job, int64_t timeout_ms, bool (*done)(const ms_job *job, void *arg),
                       void *arg)
{
    int64_t deadline_ns = timeout_ms < 0 ? INT64_MAX : ms_env_mono_ns() + timeout_ms * 1000000;
    ms_mutex_lock(&job->mutex);
    while (!done(job, arg)) {
        int64_t left_ns = deadline_ns == INT64_MAX ? INT64_MAX : deadline_ns - ms_env_mono_ns();
        if (left_ns <= 0) {
            return false;
        }
        if (!msi_workers_is_stepped(job->workers)) {
            if (left_ns == INT64_MAX) {
                ms_cond_wait(&job->cond, &job->mutex);
            } else {
                (void)ms_cond_wait_for(&job->cond, &job->mutex, left_ns);
            }
            continue;
        }
        ms_mutex_unlock(&job->mutex);
        bool moved = ms_workers_step(job->workers);
        ms_mutex_lock(&job->mutex);
        if (!moved && !done(job, arg)) {
            /* A timer or a thread of a connector: nothing to step until then. */
            (void)ms_cond_wait_for(&job->cond, &job->mutex, 1000000);
        }
    }
    return true;
}

static bool is_over(const ms_job *job, void *arg)
{
    (void)arg;
    return has_ended(job);
}

static ms_rc timed_out(ms_status *st)
{
    ms_status_set(st, MS_CANCELED, ms_span_none, "the time to wait ran out");
    st->retriable = true;
    return st->code;
}

/* What the end of the job means to a caller. The mutex is held. */
static ms_rc report_end(const ms_job *job, ms_status *st)
{
    if (job->state == MS_JOB_STATE_FAILED && st->code == MS_OK) {
        *st = job->failure;
    }
    if (job->state == MS_JOB_STATE_CANCELED) {
        ms_status_set(st, MS_CANCELED, ms_span_none, "the job was canceled");
    }
    return st->code;
}

ms_rc ms_job_wait(ms_job *job, int64_t timeout_ms, ms_status *st)
{
    bool ended = wait_until(job, timeout_ms, is_over, NULL);
    ms_rc rc = ended ? report_end(job, st) : timed_out(st);
    ms_mutex_unlock(&job->mutex);
    return rc;
}

void ms_job_destroy(ms_job *job)
{
    if (job == NULL) {
        return;
    }
    if (ms_job_state_now(job) != MS_JOB_STATE_CREATED) {
        ms_job_cancel(job);
        (void)wait_until(job, MS_JOB_FOREVER, is_over, NULL);
        ms_mutex_unlock(&job->mutex);
        msi_workers_retire(job->workers, job);
    }
    msi_coordinator_destroy(job->coordinator);
    msi_graph_release(job);
    msi_recovery_release(job);
    msi_store_close(&job->store);
    msi_collector_destroy(job->collector);
    release_accounts(job);
    ms_cond_release(&job->cond);
    ms_mutex_release(&job->mutex);
    ms_arena_release(&job->arena);
    ms_mem_free(job);
}

/* ---- Control ---- */

static void request(ms_job *job, msi_event_kind kind, bool *early)
{
    ms_mutex_lock(&job->mutex);
    if (job->state == MS_JOB_STATE_CREATED) {
        *early = true;
    } else if (job->state == MS_JOB_STATE_RUNNING) {
        msi_event_send(job, kind, NULL, 0, NULL, NULL);
    }
    ms_mutex_unlock(&job->mutex);
}

void ms_job_stop(ms_job *job)
{
    request(job, MSI_EVENT_STOP, &job->early_stop);
}

void ms_job_drain(ms_job *job)
{
    request(job, MSI_EVENT_DRAIN, &job->early_drain);
}

void ms_job_cancel(ms_job *job)
{
    /* Order relaxed: long loops look now and then; nothing is read on the strength of it. */
    atomic_store_explicit(&job->canceled, true, memory_order_relaxed);
    request(job, MSI_EVENT_CANCEL, &job->early_cancel);
}

void msi_job_served(ms_job *job, uint64_t ticket, ms_checkpoint_id checkpoint,
                    const ms_status *status)
{
    ms_mutex_lock(&job->mutex);
    job->served_tickets = ticket;
    job->served_checkpoint = checkpoint;
    ms_status_clear(&job->served_status);
    if (status != NULL) {
        job->served_status = *status;
    }
    ms_cond_broadcast(&job->cond);
    ms_mutex_unlock(&job->mutex);
}

static bool is_served(const ms_job *job, void *arg)
{
    const uint64_t *ticket = arg;
    return job->served_tickets >= *ticket || has_ended(job);
}

ms_rc ms_job_checkpoint(ms_job *job, int64_t timeout_ms, uint64_t *checkpoint_out, ms_status *st)
{
    *checkpoint_out = 0;
    if (job->options.checkpoint_dir.bytes == 0) {
        ms_status_set(st, MS_NOT_SUPPORTED, ms_span_none,
                      "a job without a checkpoint directory cannot take a checkpoint");
        return ms_status_hint(st, "Give the job a directory with --checkpoint-dir.");
    }
    ms_mutex_lock(&job->mutex);
    uint64_t ticket = ++job->wanted_tickets;
    ms_mutex_unlock(&job->mutex);
    bool unused = false;
    request(job, MSI_EVENT_CHECKPOINT, &unused);
    bool served = wait_until(job, timeout_ms, is_served, &ticket);
    ms_rc rc = MS_OK;
    if (!served) {
        rc = timed_out(st);
    } else if (job->served_tickets < ticket) {
        if (report_end(job, st) == MS_OK) {
            ms_status_set(st, MS_CANCELED, ms_span_none, "the job ended before the checkpoint");
        }
        rc = st->code;
    } else if (job->served_status.code != MS_OK) {
        *st = job->served_status;
        rc = st->code;
    } else {
        *checkpoint_out = job->served_checkpoint;
    }
    ms_mutex_unlock(&job->mutex);
    return rc;
}

/* ---- Results ---- */

typedef struct next_rows {
    ms_batch *batch;
    bool timed_out;
} next_rows;

/* For stepped workers: takes what is there, without the mutex of the job being needed for it. */
static bool take_now(const ms_job *job, void *arg)
{
    next_rows *next = arg;
    next->batch = msi_collector_take(job->collector, 0, &next->timed_out);
    return next->batch != NULL || !next->timed_out;
}

ms_rc ms_job_next(ms_job *job, int64_t timeout_ms, ms_batch **batch_out, ms_status *st)
{
    *batch_out = NULL;
    next_rows next = {0};
    if (job->collector != NULL && msi_workers_is_stepped(job->workers)) {
        next.timed_out = true;
        while (!take_now(job, &next) && (timeout_ms < 0 || timeout_ms > 0)) {
            if (!ms_workers_step(job->workers)) {
                timeout_ms -= timeout_ms > 0 ? 1 : 0;
            }
        }
    } else if (job->collector != NULL) {
        next.batch = msi_collector_take(job->collector, timeout_ms < 0 ? -1 : timeout_ms * 1000000,
                                        &next.timed_out);
    }
    if (next.batch != NULL) {
        *batch_out = next.batch;
        return MS_OK;
    }
    if (next.timed_out) {
        return timed_out(st);
    }
    return ms_job_wait(job, timeout_ms, st);
}

/* ---- Inspection ---- */

ms_job_state ms_job_state_now(ms_job *job)
{
    ms_mutex_lock(&job->mutex);
    ms_job_state state = job->state;
    ms_mutex_unlock(&job->mutex);
    return state;
}

/* Order relaxed, here and below: numbers for people and tests. */
static uint64_t read_gauge(const _Atomic uint64_t *gauge)
{
    return atomic_load_explicit(gauge, memory_order_relaxed);
}

static void add_node(const msi_node *node, ms_job_totals *totals)
{
    const msi_gauges *gauges = node->gauges;
    uint64_t rows_in = read_gauge(&gauges->rows_in);
    uint64_t rows_out = read_gauge(&gauges->rows_out);
    if (node->pnode->kind == MS_PNODE_SOURCE) {
        uint64_t before = read_gauge(&gauges->rows_out_checkpoint);
        totals->rows_read += rows_out;
        totals->rows_since_checkpoint += rows_out > before ? rows_out - before : 0;
    }
    if (node->pnode->kind == MS_PNODE_SINK || node->pnode->kind == MS_PNODE_COLLECT) {
        totals->rows_written += rows_in;
    }
    if (node->commits) {
        uint64_t before = read_gauge(&gauges->rows_in_committed);
        totals->rows_uncommitted += rows_in > before ? rows_in - before : 0;
    }
    totals->rows_late += read_gauge(&gauges->rows_late);
    totals->restored_entries += read_gauge(&gauges->restored_entries);
}

void ms_job_totals_now(const ms_job *job, ms_job_totals *totals_out)
{
    *totals_out = (ms_job_totals){.rows_read_before = job->restored.rows_read,
                                  .checkpoints_completed = read_gauge(&job->checkpoints_completed),
                                  .checkpoints_aborted = read_gauge(&job->checkpoints_aborted),
                                  .checkpoint_id = read_gauge(&job->checkpoint_id),
                                  .restored_splits = read_gauge(&job->restored_splits),
                                  .restored_snapshots = read_gauge(&job->restored_snapshots)};
    for (uint32_t i = 0; i < job->node_count; i++) {
        add_node(job->nodes[i], totals_out);
    }
    for (uint32_t t = 0; t < job->task_count; t++) {
        const msi_task *task = &job->tasks[t];
        uint64_t rows = 0;
        for (uint32_t n = 0; n < task->node_count; n++) {
            rows += read_gauge(&task->nodes[n].gauges->rows_in);
            rows += read_gauge(&task->nodes[n].gauges->rows_out);
        }
        totals_out->subtasks_with_rows += rows > 0 ? 1 : 0;
        totals_out->turns += read_gauge(&task->turns);
    }
}

uint32_t ms_job_op_count(const ms_job *job)
{
    return job->node_count;
}

void ms_job_op_stats(const ms_job *job, uint32_t index, ms_op_stats *stats_out)
{
    MS_ASSERT(index < job->node_count);
    const msi_node *node = job->nodes[index];
    const msi_gauges *gauges = node->gauges;
    *stats_out = (ms_op_stats){.node_id = node->pnode->id,
                               .kind = node->pnode->kind,
                               .subtask = node->task->subtask,
                               .parallelism = node->task->parallelism,
                               .rows_in = read_gauge(&gauges->rows_in),
                               .rows_out = read_gauge(&gauges->rows_out),
                               .rows_late = read_gauge(&gauges->rows_late),
                               .restored_entries = read_gauge(&gauges->restored_entries),
                               .state_entries = read_gauge(&gauges->state_entries),
                               .state_bytes = read_gauge(&gauges->state_bytes),
                               .watermark_ms =
                                   atomic_load_explicit(&gauges->watermark, memory_order_relaxed)};
}

ms_rc ms_job_dir_probe(ms_str dir, ms_job_dir_info *info_out, ms_status *st)
{
    *info_out = (ms_job_dir_info){0};
    ms_checkpoint_id id = 0;
    ms_checkpoint_id last = 0;
    msi_progress progress;
    MS_TRY(msi_store_look(dir, &id, &last, &progress, st));
    if (id != 0) {
        info_out->kind = MS_JOB_DIR_UNFINISHED;
        info_out->checkpoint_id = id;
    } else if (progress.id != 0) {
        info_out->kind = MS_JOB_DIR_COMPLETE;
        info_out->checkpoint_id = progress.id;
        info_out->rows_read = progress.rows_read;
    }
    return MS_OK;
}
