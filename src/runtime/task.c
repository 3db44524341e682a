/* SPDX-License-Identifier: Apache-2.0 */
/* tidy: no-unit-test: job_test sees every way a task begins and ends */
/*
 * A task as an actor: what a turn does, how the task begins, sleeps and ends. The steps themselves
 * are in driver.c.
 *
 *     NEW --START--> RUNNING --a handler fails--> FAILED
 *      |                |                            |      HALT: no operator is called any more
 *      +----------------+-----------HALT-------------+---> HALTED --CLOSE--> CLOSED
 *
 * HALT and CLOSE are two steps because batches point into the pools of the tasks they came from:
 * first nobody sends any more, then tasks close consumers first.
 */
#include "runtime/runtime_priv.h"

#include "base/env.h"
#include "type/hash.h"

/* Steps of a turn. With batches of 2048 rows at some ten ns a row a turn takes about a millisecond,
 * which is what another task of the same worker waits. */
#define STEPS_PER_TURN 64u

/* Bytes that a channel may always have in flight. */
#define CREDIT_BYTES_MIN (64u << 10)

/* ---- Commands ---- */

static void deliver_command(ms_mail *mail)
{
    msi_command *command = MS_MAIL_OWNER(mail, msi_command, mail);
    msi_task *task = command->task;
    msi_actor_wake(&task->actor);
    if (command->kind == MSI_COMMAND_HALT || command->kind == MSI_COMMAND_CLOSE) {
        task->wants_halt = true;
        task->wants_close |= command->kind == MSI_COMMAND_CLOSE;
        ms_mem_free(command);
        return;
    }
    command->next = NULL;
    *task->commands_end = command;
    task->commands_end = &command->next;
}

void msi_command_send(msi_task *task, msi_command_kind kind, ms_checkpoint_id checkpoint,
                      bool is_final, ms_str bytes)
{
    msi_command *command = ms_mem_calloc(1, sizeof(msi_command) + bytes.bytes);
    command->mail.deliver = deliver_command;
    command->task = task;
    command->kind = kind;
    command->checkpoint = checkpoint;
    command->is_final = is_final;
    command->bytes = (ms_str){(char *)(command + 1), bytes.bytes};
    if (bytes.bytes > 0) {
        memcpy(command + 1, bytes.ptr, bytes.bytes);
    }
    ms_mailbox_push(msi_worker_mailbox(task->actor.worker), &command->mail);
}

static msi_command *pop_command(msi_task *task)
{
    msi_command *command = task->commands;
    task->commands = command->next;
    if (task->commands == NULL) {
        task->commands_end = &task->commands;
    }
    return command;
}

/* A barrier that comes from the coordinator: to a source, or to a task that has ended. */
static void take_trigger(msi_task *task, const msi_command *command)
{
    if (command->checkpoint <= task->last_barrier || !(task->is_source || task->has_ended)) {
        return;
    }
    bool is_final = command->is_final || task->has_ended;
    msi_cut_begin(task, command->checkpoint, is_final);
    msi_inbox_push(&task->nodes[0].inbox, (msi_item){.kind = MSI_ITEM_BARRIER,
                                                     .is_final = is_final,
                                                     .u.checkpoint = command->checkpoint});
    task->is_stopped |= command->is_final;
}

void msi_task_take_command(msi_task *task)
{
    msi_command *command = pop_command(task);
    ms_op *root = task->nodes[0].op;
    switch (command->kind) {
    case MSI_COMMAND_SPLIT:
        /* A failure is in the status, which the driver looks at after the next call. */
        if (!task->root_ended && root->klass->add_split != NULL) {
            (void)root->klass->add_split(root, command->bytes);
        }
        task->is_pending = false;
        break;
    case MSI_COMMAND_NO_MORE_SPLITS:
        if (!task->root_ended && root->klass->no_more_splits != NULL) {
            root->klass->no_more_splits(root);
        }
        task->is_pending = false;
        break;
    case MSI_COMMAND_TRIGGER:
        take_trigger(task, command);
        break;
    case MSI_COMMAND_ABORTED:
        task->aborted = command->checkpoint;
        for (uint32_t n = 0; n < task->node_count; n++) {
            task->nodes[n].needs_full = true;
        }
        break;
    case MSI_COMMAND_DRAIN:
        task->is_drained = true;
        break;
    case MSI_COMMAND_ENOUGH:
        task->is_enough = true;
        break;
    case MSI_COMMAND_START:
    case MSI_COMMAND_HALT:
    case MSI_COMMAND_CLOSE:
        break;
    }
    ms_mem_free(command);
}

/* ---- Beginning ---- */

static ms_rc restore_state(msi_node *node, ms_status *st)
{
    const msi_restored_op *restored = node->restored;
    for (uint32_t i = 0; restored != NULL && i < restored->log_count; i++) {
        MS_TRY(ms_state_restore(node->ctx.state, restored->logs[i], st));
    }
    /* Order relaxed: a gauge. */
    atomic_store_explicit(&node->gauges->restored_entries, ms_state_entries(node->ctx.state),
                          memory_order_relaxed);
    return MS_OK;
}

static ms_rc open_node(msi_node *node, ms_status *st)
{
    msi_task *task = node->task;
    ms_job *job = task->job;
    ms_op *op = node->op;
    uint32_t first = ms_hash_group_first(task->subtask, task->parallelism);
    uint32_t end = ms_hash_group_first(task->subtask + 1, task->parallelism);
    node->ctx = (ms_op_ctx){.st = &task->st,
                            .job_arena = &task->arena,
                            .scratch = &task->scratch,
                            .env = &task->env,
                            .plan = job->plan,
                            .state = ms_state_create(&job->state_account, first, end),
                            .coalesce = job->options.coalesce,
                            .host = node};
    op->ctx = &node->ctx;
    op->input_count = node->input_count;
    op->edge_count = node->output_count > 0 ? 1 : 0;
    op->host = &msi_host;
    op->host_op = node;
    node->is_open = true;
    node->needs_full = true;
    MS_TRY(restore_state(node, st));
    MS_TRY(op->klass->open(op, &node->ctx));
    const msi_restored_op *restored = node->restored;
    for (uint32_t i = 0; restored != NULL && i < restored->snapshot_count; i++) {
        if (op->klass->restore != NULL) {
            MS_TRY(op->klass->restore(op, restored->snapshots[i]));
        }
    }
    return st->code;
}

static void open_nodes(msi_task *task)
{
    for (uint32_t t = 0; t < task->tail_count; t++) {
        msi_tail_open(&task->tails[t]);
    }
    task->phase = MSI_TASK_RUNNING;
    for (uint32_t n = 0; n < task->node_count; n++) {
        if (open_node(&task->nodes[n], &task->st) != MS_OK) {
            task->phase = MSI_TASK_FAILED;
            task->failure = task->st;
            ms_status_clear(&task->st);
            return;
        }
    }
}

static void start(msi_task *task)
{
    open_nodes(task);
    msi_event_send(task->job, MSI_EVENT_STARTED, task, 0, NULL, NULL);
}

/* ---- Sleeping ---- */

/* Something has changed since: whatever waited may try again. */
static void unblock(msi_task *task)
{
    task->is_pending = false;
    for (uint32_t n = 0; n < task->node_count; n++) {
        task->nodes[n].is_blocked = false;
    }
    for (uint32_t t = 0; t < task->tail_count; t++) {
        task->tails[t].is_waiting = false;
    }
}

/* An operator may wait for a batch of a pool of its own to come home. */
static bool waits_for_batches(const msi_task *task)
{
    bool waits = task->is_pending;
    for (uint32_t n = 0; n < task->node_count; n++) {
        waits |= task->nodes[n].is_blocked;
    }
    return waits;
}

/*
 * Asks for a wake at the next release of a channel, where one may help: a tail waits for room, or
 * an operator for a batch. True when a release may have come before the asking, so that the task
 * looks once more.
 */
static bool ask_for_releases(msi_task *task)
{
    bool is_new = false;
    bool waits_for_batch = waits_for_batches(task);
    for (uint32_t t = 0; t < task->tail_count; t++) {
        msi_tail *tail = &task->tails[t];
        bool waits = tail->is_waiting || msi_tail_has_open_rows(tail);
        for (uint32_t c = 0; c < tail->channel_count; c++) {
            msi_channel *channel = tail->channels[c];
            /* Also when nothing is in flight now: a batch may have come home since the operator
             * found none. */
            if (waits || (waits_for_batch && msi_channel_was_used(channel))) {
                is_new |= !msi_channel_await_release(channel);
            }
        }
    }
    return is_new;
}

/* Nothing more can be done now. True when the task should look again at once. */
static bool go_idle(msi_task *task)
{
    bool sent = false;
    for (uint32_t t = 0; t < task->tail_count; t++) {
        sent |= msi_tail_flush(&task->tails[t], &task->st);
    }
    if (task->st.code != MS_OK) {
        task->failure = task->phase == MSI_TASK_RUNNING ? task->st : task->failure;
        task->phase = MSI_TASK_FAILED;
        task->failed = NULL;
        ms_status_clear(&task->st);
        return true;
    }
    if (ask_for_releases(task)) {
        unblock(task);
        return true;
    }
    /* A batch that came from upstream and was kept may have gone home in this turn. */
    for (uint32_t c = 0; c < task->channel_count; c++) {
        msi_channel_wake_producer(task->channels[c]);
    }
    return sent;
}

/* ---- Ending ---- */

static bool has_work_below(const msi_task *task)
{
    const msi_node *failed = task->failed;
    for (uint32_t i = 0; failed != NULL && i < failed->below_count; i++) {
        if (failed->below[i]->count > 0) {
            return true;
        }
    }
    for (uint32_t t = 0; failed != NULL && t < task->tail_count; t++) {
        if (msi_tail_has_open_rows(&task->tails[t])) {
            return true;
        }
    }
    return false;
}

/* Reports the failure once what came before it has been passed on. */
static void finish_failure(msi_task *task)
{
    if (task->failure.code == MS_OK || has_work_below(task)) {
        return;
    }
    msi_event_send(task->job, MSI_EVENT_FAILED, task, 0, NULL, &task->failure);
    ms_status_clear(&task->failure);
    task->failed = NULL;
}

static void close_node(msi_node *node)
{
    if (node->is_open) {
        node->op->klass->close(node->op);
        node->is_open = false;
    }
    while (node->finished.count > 0) {
        msi_token_free(&node->tokens, node->finished.tokens[node->finished.first]);
        node->finished.first = (node->finished.first + 1) % node->finished.capacity;
        node->finished.count--;
    }
    msi_token_detach_all(&node->tokens);
    ms_mem_free(node->finished.tokens);
    node->finished = (msi_finished){0};
    ms_state_destroy(node->ctx.state);
    node->ctx.state = NULL;
}

static void close_task(msi_task *task)
{
    for (uint32_t t = 0; t < task->tail_count; t++) {
        msi_tail_halt(&task->tails[t]);
        msi_tail_close(&task->tails[t]);
    }
    for (uint32_t n = task->node_count; n-- > 0;) {
        /* Its consumers are closed: nobody looks at what it emitted. */
        ms_batch_drop(task->nodes[n].emitted);
        task->nodes[n].emitted = NULL;
        close_node(&task->nodes[n]);
    }
    msi_driver_release_held(task);
    for (uint32_t c = 0; c < task->channel_count; c++) {
        msi_channel_drain(task->channels[c]);
    }
    msi_cut_drop_all(task);
    while (task->commands != NULL) {
        ms_mem_free(pop_command(task));
    }
    task->phase = MSI_TASK_CLOSED;
    msi_event_send(task->job, MSI_EVENT_CLOSED, task, 0, NULL, NULL);
}

static void halt_or_close(msi_task *task)
{
    if (task->phase != MSI_TASK_HALTED) {
        task->phase = MSI_TASK_HALTED;
        msi_event_send(task->job, MSI_EVENT_HALTED, task, 0, NULL, NULL);
    }
    if (task->wants_close && task->pool_jobs == 0) {
        close_task(task);
    }
}

/* ---- Turns ---- */

void msi_task_give_credit(msi_task *task, double bytes)
{
    double most = (double)task->job->options.ring_bytes;
    double credit = (bytes > most ? most : bytes) / (double)task->channel_count;
    credit = credit < CREDIT_BYTES_MIN ? CREDIT_BYTES_MIN : credit;
    for (uint32_t c = 0; c < task->channel_count; c++) {
        /* Order relaxed: partner is msi_channel_has_credit, for which an old value will do. */
        atomic_store_explicit(&task->channels[c]->credit_bytes, (uint64_t)credit,
                              memory_order_relaxed);
    }
}

/* Gives the producers credit for about 100 ms of what this task takes, all together. */
static void adapt_credit(msi_task *task, int64_t turn_ns)
{
    if (task->turn_bytes == 0 || turn_ns <= 0) {
        return;
    }
    double now = (double)task->turn_bytes * 1e9 / (double)turn_ns;
    /* A moving average over about eight turns. */
    task->rate = task->rate > 0 ? task->rate + (now - task->rate) / 8 : now;
    msi_task_give_credit(task, task->rate / 10);
    task->turn_bytes = 0;
}

static void set_gauge(_Atomic uint64_t *gauge, uint64_t value)
{
    atomic_store_explicit(gauge, value, memory_order_relaxed);
}

static void publish(msi_task *task)
{
    for (uint32_t n = 0; n < task->node_count; n++) {
        const msi_node *node = &task->nodes[n];
        msi_gauges *gauges = node->gauges;
        set_gauge(&gauges->rows_in, node->op->rows_in);
        set_gauge(&gauges->rows_out, node->op->rows_out);
        set_gauge(&gauges->rows_late, node->op->rows_late);
        if (node->ctx.state != NULL) {
            set_gauge(&gauges->state_entries, ms_state_entries(node->ctx.state));
            set_gauge(&gauges->state_bytes, ms_state_bytes(node->ctx.state));
        }
    }
    /* Order relaxed: a count for people and tests. */
    atomic_fetch_add_explicit(&task->turns, 1, memory_order_relaxed);
}

static bool run_steps(msi_task *task)
{
    int64_t started_ns = task->channel_count > 0 ? ms_env_mono_ns() : 0;
    bool moved = true;
    for (uint32_t i = 0; i < STEPS_PER_TURN && moved && !task->wants_halt; i++) {
        moved = msi_driver_step(task);
    }
    if (task->channel_count > 0) {
        adapt_credit(task, ms_env_mono_ns() - started_ns);
    }
    bool again = moved || go_idle(task);
    if (task->phase == MSI_TASK_FAILED && !again) {
        finish_failure(task);
    }
    publish(task);
    return again;
}

bool msi_task_run(msi_actor *actor, bool woken)
{
    msi_task *task = (msi_task *)actor;
    if (task->phase == MSI_TASK_CLOSED) {
        return false;
    }
    if (woken) {
        unblock(task);
    }
    if (task->wants_halt) {
        halt_or_close(task);
        return false;
    }
    if (task->phase == MSI_TASK_NEW) {
        if (task->commands == NULL) {
            return false;
        }
        MS_ASSERT(task->commands->kind == MSI_COMMAND_START);
        ms_mem_free(pop_command(task));
        start(task);
    }
    return run_steps(task);
}
