/* SPDX-License-Identifier: Apache-2.0 */
/* tidy: no-unit-test: job_test and checkpoint_test see every path of it through jobs */
/*
 * The coordinator of a job: an actor on a worker that runs the enumerators and committers, takes
 * checkpoints (checkpoint.c) and sees the job from its start to its end.
 *
 *     NEW -> RECOVERING -> RUNNING -> HALTING -> CLOSING -> DONE
 *              |                        ^
 *              +--- a failure, CANCEL --+     finished, stopped, canceled or failed
 *
 * It never blocks: file work goes to the I/O pool, commits complete through tokens, tasks answer
 * with events. Events and completions are noted as they arrive and taken up in its turns.
 */
#include "runtime/runtime_priv.h"

#include "base/env.h"

/* ---- Events ---- */

static void deliver_event(ms_mail *mail)
{
    msi_event *event = MS_MAIL_OWNER(mail, msi_event, mail);
    msi_coordinator *c = event->coordinator;
    event->next = NULL;
    *c->events_end = event;
    c->events_end = &event->next;
    msi_actor_wake(&c->actor);
}

void msi_event_send(ms_job *job, msi_event_kind kind, msi_task *task, uint64_t node_id,
                    msi_cut *cut, const ms_status *status)
{
    msi_event *event = ms_mem_calloc(1, sizeof(msi_event));
    event->mail.deliver = deliver_event;
    event->coordinator = job->coordinator;
    event->kind = kind;
    event->task = task;
    event->node_id = node_id;
    event->cut = cut;
    if (status != NULL) {
        event->status = ms_mem_alloc(sizeof(ms_status));
        *event->status = *status;
    }
    ms_mailbox_push(msi_worker_mailbox(job->coordinator->actor.worker), &event->mail);
}

static msi_event *pop_event(msi_coordinator *c)
{
    msi_event *event = c->events;
    c->events = event->next;
    if (c->events == NULL) {
        c->events_end = &c->events;
    }
    return event;
}

static void free_event(msi_event *event)
{
    msi_cut_destroy(event->cut);
    ms_mem_free(event->status);
    ms_mem_free(event);
}

/* ---- Tokens ---- */

static void deliver_commit(msi_token *token)
{
    msi_coordinator *c = token->owner;
    const ms_status *st = msi_token_status(token);
    c->tokens_out--;
    if (st->code != MS_OK) {
        msi_coordinator_end(c, MS_JOB_STATE_FAILED, st);
    }
    msi_token_free(&c->tokens, token);
    msi_actor_wake(&c->actor);
}

ms_completion *msi_coordinator_token(msi_coordinator *c)
{
    c->tokens_out++;
    return &msi_token_make(&c->tokens, c->actor.worker, c, deliver_commit)->completion;
}

/* ---- Enumerators ---- */

static msi_source *source_of(msi_coordinator *c, uint64_t node_id)
{
    for (uint32_t i = 0; i < c->source_count; i++) {
        if (c->sources[i].pnode->id == node_id) {
            return &c->sources[i];
        }
    }
    MS_UNREACHABLE();
}

static msi_task *reader_of(const msi_source *source, uint32_t subtask)
{
    MS_ASSERT(subtask < source->stage->parallelism);
    return &source->coordinator->job->tasks[source->stage->first_task + subtask];
}

static void env_assign(ms_enumerator_env *env, uint32_t subtask, ms_str split)
{
    msi_source *source = (msi_source *)env;
    msi_command_send(reader_of(source, subtask), MSI_COMMAND_SPLIT, 0, false, split);
}

static void env_no_more_splits(ms_enumerator_env *env, uint32_t subtask)
{
    msi_source *source = (msi_source *)env;
    msi_command_send(reader_of(source, subtask), MSI_COMMAND_NO_MORE_SPLITS, 0, false, (ms_str){0});
}

static void env_fail(ms_enumerator_env *env, const ms_status *st)
{
    msi_source *source = (msi_source *)env;
    ms_status placed = *st;
    ms_status_place(&placed, source->pnode->span);
    msi_coordinator_end(source->coordinator, MS_JOB_STATE_FAILED, &placed);
    msi_actor_wake(&source->coordinator->actor);
}

static void wake_source(void *task)
{
    msi_source *source = task;
    /* Order release: partner is the exchange in resume_sources. */
    atomic_store_explicit(&source->is_woken, true, memory_order_release);
    msi_actor_wake(&source->coordinator->actor);
}

static void wake_source_at(void *task, int64_t mono_ns)
{
    msi_source *source = task;
    source->wake_ns = mono_ns < source->wake_ns ? mono_ns : source->wake_ns;
    msi_actor_wake_at(&source->coordinator->actor, mono_ns);
}

static bool take_wake(msi_source *source)
{
    /* Order acquire: partner is wake_source. */
    bool is_woken = atomic_exchange_explicit(&source->is_woken, false, memory_order_acquire);
    if (source->wake_ns == INT64_MAX || source->wake_ns > ms_env_mono_ns()) {
        return is_woken;
    }
    source->wake_ns = INT64_MAX;
    return true;
}

static void resume_sources(msi_coordinator *c)
{
    for (uint32_t i = 0; i < c->source_count; i++) {
        msi_source *source = &c->sources[i];
        if (take_wake(source) && source->enumerator != NULL &&
            source->enumerator->klass->resume != NULL) {
            source->enumerator->klass->resume(source->enumerator);
        }
        if (source->wake_ns != INT64_MAX) {
            msi_actor_wake_at(&c->actor, source->wake_ns);
        }
    }
}

static ms_rc start_source(msi_coordinator *c, msi_source *source, ms_status *st)
{
    const ms_scan *scan = source->pnode->u.source.scan;
    if (scan->klass->enumerator_create == NULL) {
        return MS_OK;
    }
    source->env = (ms_enumerator_env){.task = c->env,
                                      .assign = env_assign,
                                      .no_more_splits = env_no_more_splits,
                                      .fail = env_fail};
    source->env.task.waker =
        (ms_waker){.wake = wake_source, .task = source, .wake_at = wake_source_at};
    source->env.task.parallelism = source->stage->parallelism;
    MS_TRY(scan->klass->enumerator_create(scan, &source->enumerator, st));
    return source->enumerator->klass->start(source->enumerator, &source->env, source->restored, st);
}

static void request_split(msi_coordinator *c, const msi_event *event)
{
    msi_source *source = source_of(c, event->node_id);
    if (source->enumerator != NULL) {
        source->enumerator->klass->request(source->enumerator, event->task->subtask);
    } else {
        env_no_more_splits(&source->env, event->task->subtask);
    }
}

/* ---- Enough ---- */

/* True when every subtask of the node drops what comes. */
static bool drops_all(const msi_coordinator *c, const ms_pnode *pnode)
{
    bool found = false;
    for (uint32_t i = 0; i < c->job->node_count; i++) {
        if (c->job->nodes[i]->pnode == pnode) {
            found = true;
            if (!c->is_satisfied[i]) {
                return false;
            }
        }
    }
    return found;
}

/* Sets needed[i] when rows of node i of the plan still reach somebody. Consumers come after their
 * inputs in the plan. */
static void find_needed(const msi_coordinator *c, bool *needed)
{
    const ms_plan *plan = c->job->plan;
    for (uint32_t i = plan->node_count; i-- > 0;) {
        bool has_consumer = false;
        bool reaches = false;
        for (uint32_t n = i + 1; n < plan->node_count; n++) {
            for (uint32_t input = 0; input < plan->nodes[n]->input_count; input++) {
                bool consumes = plan->nodes[n]->inputs[input] == plan->nodes[i];
                has_consumer |= consumes;
                reaches |= consumes && needed[n];
            }
        }
        needed[i] = !drops_all(c, plan->nodes[i]) && (reaches || !has_consumer);
    }
}

static uint32_t plan_index(const ms_plan *plan, const ms_pnode *pnode)
{
    uint32_t index = 0;
    while (plan->nodes[index] != pnode) {
        index++;
    }
    return index;
}

/* An operator has enough: ends the sources that feed nobody else. */
static void take_satisfied(msi_coordinator *c, const msi_event *event)
{
    ms_job *job = c->job;
    for (uint32_t i = 0; i < job->node_count; i++) {
        c->is_satisfied[i] |=
            job->nodes[i]->task == event->task && job->nodes[i]->pnode->id == event->node_id;
    }
    bool *needed = ms_mem_calloc(job->plan->node_count, sizeof(bool));
    find_needed(c, needed);
    for (uint32_t t = 0; t < job->task_count; t++) {
        msi_task *task = &job->tasks[t];
        if (task->is_source && !c->tasks[t].has_ended &&
            !needed[plan_index(job->plan, task->nodes[0].pnode)]) {
            msi_command_send(task, MSI_COMMAND_ENOUGH, 0, false, (ms_str){0});
        }
    }
    ms_mem_free(needed);
}

/* ---- Starting ---- */

static void wake_coordinator(void *task)
{
    msi_actor_wake(&((msi_coordinator *)task)->actor);
}

static void wake_coordinator_at(void *task, int64_t mono_ns)
{
    msi_actor_wake_at(&((msi_coordinator *)task)->actor, mono_ns);
}

static ms_rc create_committers(msi_coordinator *c, ms_status *st)
{
    for (uint32_t i = 0; i < c->target_count; i++) {
        msi_target *target = &c->targets[i];
        const ms_sink *sink = target->pnode->u.sink.sink;
        if (sink->klass->committer_create != NULL) {
            target->env = c->env;
            target->env.parallelism = msi_graph_parallelism(c->job, target->pnode);
            MS_TRY(sink->klass->committer_create(sink, &target->env, &target->committer, st));
        }
    }
    return MS_OK;
}

static ms_rc start_running(msi_coordinator *c, ms_status *st)
{
    c->phase = MSI_COORDINATOR_RUNNING;
    int64_t interval_ms = c->job->options.checkpoint_interval_ms;
    if (interval_ms > 0 && c->job->store.dir.bytes > 0) {
        c->next_ns = ms_env_mono_ns() + interval_ms * 1000000;
    }
    uint32_t finished = 0;
    for (uint32_t t = 0; t < c->job->task_count; t++) {
        finished += c->tasks[t].is_finished ? 1 : 0;
    }
    if (finished == c->job->task_count) {
        /* The checkpoint was the last one: only its progress record is missing. */
        c->is_finishing = true;
        return MS_OK;
    }
    for (uint32_t i = 0; i < c->source_count; i++) {
        MS_TRY(start_source(c, &c->sources[i], st));
    }
    for (uint32_t t = 0; t < c->job->task_count; t++) {
        if (!c->tasks[t].is_finished) {
            msi_command_send(&c->job->tasks[t], MSI_COMMAND_START, 0, false, (ms_str){0});
        }
    }
    return MS_OK;
}

static ms_rc begin(msi_coordinator *c, ms_status *st)
{
    c->phase = MSI_COORDINATOR_RECOVERING;
    MS_TRY(create_committers(c, st));
    /* A run that starts anew recovers too: from nothing, so that what earlier runs left behind is
     * removed. */
    return msi_checkpoint_recover(c, st);
}

/* ---- Ending ---- */

void msi_coordinator_end(msi_coordinator *c, ms_job_state ending, const ms_status *st)
{
    if (c->phase >= MSI_COORDINATOR_HALTING) {
        return;
    }
    c->ending = ending;
    if (st != NULL) {
        c->failure = *st;
    }
    c->phase = MSI_COORDINATOR_HALTING;
    if (ending == MS_JOB_STATE_FAILED || ending == MS_JOB_STATE_CANCELED) {
        /* Order relaxed: long loops look now and then; nothing is read on the strength of it. */
        atomic_store_explicit(&c->job->canceled, true, memory_order_relaxed);
    }
    for (uint32_t t = 0; t < c->job->task_count; t++) {
        msi_command_send(&c->job->tasks[t], MSI_COMMAND_HALT, 0, false, (ms_str){0});
    }
}

/* Tells the tasks of the stage to close; there is always a stage, and a task in it. */
static void close_stage(msi_coordinator *c)
{
    const msi_stage *stage = &c->job->stages[c->closing_stage];
    c->closed_count = 0;
    for (uint32_t i = 0; i < stage->parallelism; i++) {
        msi_command_send(&c->job->tasks[stage->first_task + i], MSI_COMMAND_CLOSE, 0, false,
                         (ms_str){0});
    }
}

static void close_faces(msi_coordinator *c)
{
    for (uint32_t i = 0; i < c->source_count; i++) {
        if (c->sources[i].enumerator != NULL) {
            c->sources[i].enumerator->klass->close(c->sources[i].enumerator);
            c->sources[i].enumerator = NULL;
        }
    }
    for (uint32_t i = 0; i < c->target_count; i++) {
        if (c->targets[i].committer != NULL) {
            c->targets[i].committer->klass->close(c->targets[i].committer);
            c->targets[i].committer = NULL;
        }
    }
    msi_token_detach_all(&c->tokens);
}

/* All tasks are closed, and no pool job works for the coordinator. */
static void finish(msi_coordinator *c)
{
    close_faces(c);
    msi_checkpoint_drop(c);
    msi_store_close(&c->job->store);
    c->phase = MSI_COORDINATOR_DONE;
    msi_job_ended(c->job, c->ending, &c->failure);
}

static void task_halted(msi_coordinator *c)
{
    if (++c->halted_count == c->job->task_count) {
        c->phase = MSI_COORDINATOR_CLOSING;
        c->closing_stage = c->job->stage_count - 1;
        close_stage(c);
    }
}

static void task_closed(msi_coordinator *c)
{
    if (++c->closed_count < c->job->stages[c->closing_stage].parallelism) {
        return;
    }
    if (c->closing_stage > 0) {
        c->closing_stage--;
        close_stage(c);
        return;
    }
    c->closing_stage = UINT32_MAX;
}

/* ---- Turns ---- */

static void take_drain(msi_coordinator *c)
{
    c->wants_drain = true;
    for (uint32_t t = 0; t < c->job->task_count && c->phase == MSI_COORDINATOR_RUNNING; t++) {
        if (c->job->tasks[t].is_source && !c->tasks[t].is_finished) {
            msi_command_send(&c->job->tasks[t], MSI_COMMAND_DRAIN, 0, false, (ms_str){0});
        }
    }
}

static void take_started(msi_coordinator *c)
{
    uint32_t running = 0;
    for (uint32_t t = 0; t < c->job->task_count; t++) {
        running += c->tasks[t].is_finished ? 0 : 1;
    }
    if (++c->started_count == running) {
        msi_recovery_release(c->job);
    }
}

/* An evaluation gives up when it sees that the job is canceled, which may be before we do. */
static void take_failure(msi_coordinator *c, const ms_status *failure)
{
    bool gave_up = failure->code == MS_CANCELED &&
                   atomic_load_explicit(&c->job->canceled, memory_order_relaxed);
    msi_coordinator_end(c, gave_up ? MS_JOB_STATE_CANCELED : MS_JOB_STATE_FAILED,
                        gave_up ? NULL : failure);
}

static void take_event(msi_coordinator *c, msi_event *event)
{
    bool runs = c->phase == MSI_COORDINATOR_RUNNING;
    switch (event->kind) {
    case MSI_EVENT_STARTED:
        take_started(c);
        break;
    case MSI_EVENT_FAILED:
        take_failure(c, event->status);
        break;
    case MSI_EVENT_REQUEST_SPLIT:
        if (runs) {
            request_split(c, event);
        }
        break;
    case MSI_EVENT_ENDED:
        if (runs) {
            msi_checkpoint_task_ended(c, event->task);
        }
        break;
    case MSI_EVENT_SATISFIED:
        if (runs) {
            take_satisfied(c, event);
        }
        break;
    case MSI_EVENT_CUT:
        if (runs) {
            msi_checkpoint_take_cut(c, event->task, event->cut);
            event->cut = NULL;
        }
        break;
    case MSI_EVENT_HALTED:
        task_halted(c);
        break;
    case MSI_EVENT_CLOSED:
        task_closed(c);
        break;
    case MSI_EVENT_STOP:
        c->wants_stop = true;
        break;
    case MSI_EVENT_DRAIN:
        take_drain(c);
        break;
    case MSI_EVENT_CANCEL:
        /* When all is committed there is nothing left to cancel. */
        if (!c->is_finishing) {
            msi_coordinator_end(c, MS_JOB_STATE_CANCELED, NULL);
        }
        break;
    case MSI_EVENT_CHECKPOINT:
        /* The tick sees that callers wait. */
        break;
    }
    free_event(event);
}

/*
 * STOP of a query ends it here and now, with no barrier: there is nothing to save or to commit, and
 * a barrier would wait behind rows that find no room in a result that nobody reads. What is in the
 * result stays to be read; rows on the way are dropped, so it is the front of the whole.
 */
static void stop_query(msi_coordinator *c)
{
    bool is_query = c->job->collector != NULL && c->job->store.dir.bytes == 0;
    if (c->phase == MSI_COORDINATOR_RUNNING && is_query && c->wants_stop && !c->is_finishing) {
        msi_coordinator_end(c, MS_JOB_STATE_STOPPED, NULL);
    }
}

static void tick(msi_coordinator *c)
{
    ms_status st = {0};
    if (c->phase == MSI_COORDINATOR_NEW && begin(c, &st) != MS_OK) {
        msi_coordinator_end(c, MS_JOB_STATE_FAILED, &st);
    }
    if (c->phase == MSI_COORDINATOR_RECOVERING && c->tokens_out == 0) {
        if (start_running(c, &st) != MS_OK) {
            msi_coordinator_end(c, MS_JOB_STATE_FAILED, &st);
        }
        if (c->wants_drain) {
            take_drain(c);
        }
    }
    stop_query(c);
    if (c->phase == MSI_COORDINATOR_RUNNING) {
        resume_sources(c);
        msi_checkpoint_tick(c);
    }
    if (c->phase == MSI_COORDINATOR_CLOSING && c->closing_stage == UINT32_MAX &&
        !c->work.is_running) {
        finish(c);
    }
}

static bool coordinator_run(msi_actor *actor, bool woken)
{
    (void)woken;
    msi_coordinator *c = (msi_coordinator *)actor;
    if (c->phase == MSI_COORDINATOR_DONE) {
        return false;
    }
    while (c->events != NULL) {
        take_event(c, pop_event(c));
    }
    tick(c);
    return false;
}

/* ---- Life ---- */

static void make_records(msi_coordinator *c)
{
    ms_job *job = c->job;
    c->tasks = ms_arena_array(&c->arena, msi_task_record, job->task_count);
    c->chains = ms_arena_array(&c->arena, msi_chain, job->node_count);
    c->is_satisfied = ms_arena_array(&c->arena, bool, job->node_count);
    c->sources = ms_arena_array(&c->arena, msi_source, job->stage_count);
    c->targets = ms_arena_array(&c->arena, msi_target, job->plan->node_count);
    for (uint32_t t = 0; t < job->task_count; t++) {
        c->tasks[t].is_finished = job->tasks[t].is_finished;
        c->tasks[t].has_ended = job->tasks[t].is_finished;
    }
    for (uint32_t s = 0; s < job->stage_count; s++) {
        const ms_pnode *root = job->stages[s].pnodes[0];
        if (root->kind == MS_PNODE_SOURCE) {
            msi_source *source = &c->sources[c->source_count++];
            source->coordinator = c;
            source->pnode = root;
            source->stage = &job->stages[s];
            atomic_init(&source->is_woken, false);
            source->wake_ns = INT64_MAX;
            ms_buf_init(&source->snapshot, MS_LIMIT_CHECKPOINT_BYTES);
        }
    }
    for (uint32_t i = 0; i < job->plan->node_count; i++) {
        if (job->plan->nodes[i]->kind == MS_PNODE_SINK) {
            msi_target *target = &c->targets[c->target_count++];
            target->pnode = job->plan->nodes[i];
            target->waiting_end = &target->waiting;
        }
    }
}

static void restore_records(msi_coordinator *c)
{
    const msi_manifest *manifest = &c->job->restored;
    for (uint32_t i = 0; i < manifest->enumerator_count; i++) {
        for (uint32_t s = 0; s < c->source_count; s++) {
            if (c->sources[s].pnode->id == manifest->enumerators[i].node_id) {
                c->sources[s].restored = manifest->enumerators[i].bytes;
            }
        }
    }
    c->complete[0] = manifest->id;
}

msi_coordinator *msi_coordinator_create(ms_job *job)
{
    msi_coordinator *c = ms_mem_calloc(1, sizeof(*c));
    c->job = job;
    c->events_end = &c->events;
    c->last_id = job->store.last;
    ms_arena_init(&c->arena, 0);
    ms_buf_init(&c->work.bytes, MS_LIMIT_CHECKPOINT_BYTES);
    make_records(c);
    if (job->is_restored) {
        restore_records(c);
    }
    return c;
}

void msi_coordinator_place(msi_coordinator *c, msi_worker *worker)
{
    ms_job *job = c->job;
    msi_actor_init(&c->actor, worker, job, coordinator_run);
    c->env = job->tasks[0].env;
    c->env.mailbox = msi_worker_mailbox(worker);
    c->env.waker = (ms_waker){.wake = wake_coordinator, .task = c, .wake_at = wake_coordinator_at};
    c->env.subtask = 0;
}

void msi_coordinator_destroy(msi_coordinator *c)
{
    if (c == NULL) {
        return;
    }
    while (c->events != NULL) {
        free_event(pop_event(c));
    }
    msi_checkpoint_drop(c);
    for (uint32_t i = 0; i < c->source_count; i++) {
        ms_buf_release(&c->sources[i].snapshot);
    }
    for (uint32_t i = 0; i < c->job->node_count && c->chains != NULL; i++) {
        ms_mem_free(c->chains[i].files);
    }
    ms_buf_release(&c->work.bytes);
    ms_arena_release(&c->arena);
    ms_mem_free(c);
}
