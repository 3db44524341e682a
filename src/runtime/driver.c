/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver of a task: decides which operator is called next. The operators of a task are a tree;
 * its root is a source or is fed by channels. A step is one call of one handler, or one piece of
 * work of a tail:
 *
 *     1. the most downstream tail or operator that has something to do
 *     2. when nothing is left anywhere: the root takes a command, polls, or pops a channel
 *
 * An operator is called only when everything below it in the tree is done. That is the credit of
 * the operator contract (every consumer can take a batch), and it is what keeps the frames that the
 * operator emitted valid for as long as anybody looks at them. A full ring shows as a tail that is
 * not done, so that it holds up what is above it and nothing else.
 *
 * Alignment. A channel whose barrier has come is not popped until all others have brought theirs or
 * have ended; the others are popped in turn, none before another.
 */
#include "runtime/runtime_priv.h"

/* ---- Calling ---- */

static bool is_done(const msi_inbox *inbox)
{
    return inbox->count == 0 && !inbox->in_complete;
}

static bool is_done_below(const msi_node *node)
{
    for (uint32_t i = 0; i < node->below_count; i++) {
        if (!is_done(node->below[i])) {
            return false;
        }
    }
    return true;
}

bool msi_driver_is_quiet(const msi_task *task)
{
    const msi_node *root = &task->nodes[0];
    return is_done(&root->inbox) && !root->in_call && is_done_below(root);
}

static void drop_emitted(msi_node *node)
{
    ms_batch_drop(node->emitted);
    node->emitted = NULL;
}

void msi_driver_release_held(msi_task *task)
{
    if (task->held_channel == NULL) {
        return;
    }
    ms_batch_drop(task->held.u.batch);
    msi_channel_release_batch(task->held_channel, task->held.bytes);
    task->held_channel = NULL;
}

static void forward(msi_node *node, const msi_item *item)
{
    for (uint32_t i = 0; i < node->output_count; i++) {
        msi_item copy = *item;
        copy.input = 0;
        msi_inbox_push(node->outputs[i], copy);
    }
}

/* A handler failed: what its node emitted before is still worked on, nothing else is. */
static void note_failure(msi_task *task, msi_node *node)
{
    if (task->phase == MSI_TASK_RUNNING) {
        task->phase = MSI_TASK_FAILED;
        task->failure = task->st;
        task->failed = node;
    } else {
        /* A second failure, downstream of the first: nothing more can be saved. */
        task->failed = NULL;
    }
    ms_status_clear(&task->st);
}

/* ---- Items of an operator ---- */

static bool step_batch(msi_node *node, msi_item *item)
{
    ms_op *op = node->op;
    uint32_t live = ms_batch_live(item->u.batch);
    ms_step step = op->klass->batch(op, item->input, item->u.batch);
    if (step == MS_BLOCKED) {
        MS_ASSERT(!node->in_call);
        node->is_blocked = true;
        return false;
    }
    op->rows_in += node->in_call ? 0 : live;
    node->in_call = step == MS_MORE;
    return true;
}

static void step_watermark(msi_node *node, const msi_item *item)
{
    ms_op *op = node->op;
    /* Order relaxed: a gauge. */
    atomic_store_explicit(&node->gauges->watermark, item->u.watermark, memory_order_relaxed);
    if (op->klass->watermark == NULL) {
        msi_host.emit_watermark(op, item->u.watermark);
        return;
    }
    node->in_call = op->klass->watermark(op, item->u.watermark) == MS_MORE;
}

static void step_end(msi_node *node, const msi_item *item)
{
    ms_op *op = node->op;
    node->in_call =
        op->klass->end != NULL && op->klass->end(op, item->input, item->ending) == MS_MORE;
    if (node->in_call || node->task->st.code != MS_OK) {
        return;
    }
    node->inputs_ended++;
    if (node->inputs_ended == node->input_count) {
        forward(node, item);
        node->task->root_ended |= node->index == 0;
    }
}

static void step_barrier(msi_node *node, const msi_item *item)
{
    ms_op *op = node->op;
    /* An operator that has flushed has nothing left to emit. */
    bool ended = node->task->has_ended;
    if (!node->is_prepared && op->klass->before_barrier != NULL && !ended) {
        node->in_call = op->klass->before_barrier(op, item->u.checkpoint) == MS_MORE;
        if (node->in_call || node->task->st.code != MS_OK) {
            return;
        }
        node->is_prepared = true;
        if (node->output_count > 0 && !is_done_below(node)) {
            /* What it emitted goes first, so that the cut comes between two batches. */
            node->in_call = true;
            return;
        }
    }
    node->in_call = false;
    node->is_prepared = false;
    msi_cut_node(node, item->u.checkpoint, item->is_final);
    forward(node, item);
}

/* Calls the handler of the head item. False when it was blocked. */
static bool step_item(msi_node *node)
{
    msi_item *item = msi_inbox_head(&node->inbox);
    switch (item->kind) {
    case MSI_ITEM_BATCH:
        if (!step_batch(node, item)) {
            return false;
        }
        break;
    case MSI_ITEM_WATERMARK:
        step_watermark(node, item);
        break;
    case MSI_ITEM_BARRIER:
        step_barrier(node, item);
        break;
    case MSI_ITEM_END:
        step_end(node, item);
        break;
    }
    if (!node->in_call) {
        msi_inbox_pop(&node->inbox);
    }
    return true;
}

static void step_complete(msi_node *node)
{
    msi_finished *finished = &node->finished;
    msi_token *token = finished->tokens[finished->first];
    ms_op *op = node->op;
    node->is_blocked = false;
    bool more = op->klass->complete(op, &token->completion) == MS_MORE;
    node->inbox.in_complete = more;
    if (!more) {
        finished->first = (finished->first + 1) % finished->capacity;
        finished->count--;
        msi_token_free(&node->tokens, token);
    }
}

/* One call of a node, when it has something to do and may be called. */
static bool step_node(msi_node *node)
{
    bool has_item = node->inbox.count > 0 && !node->is_blocked;
    if ((node->finished.count == 0 && !has_item) || !is_done_below(node)) {
        return false;
    }
    drop_emitted(node);
    bool moved = true;
    if (node->finished.count > 0) {
        step_complete(node);
    } else {
        moved = step_item(node);
    }
    if (node->task->st.code != MS_OK) {
        note_failure(node->task, node);
    }
    return moved;
}

/* ---- The root ---- */

static void push_root(msi_task *task, msi_item item)
{
    msi_inbox_push(&task->nodes[0].inbox, item);
}

static void end_source(msi_task *task, ms_ending ending)
{
    msi_node *root = &task->nodes[0];
    msi_host.emit_watermark(root->op, MS_WATERMARK_MAX);
    forward(root, &(msi_item){.kind = MSI_ITEM_END, .ending = ending});
    task->root_ended = true;
}

static bool poll_source(msi_task *task)
{
    msi_node *root = &task->nodes[0];
    drop_emitted(root);
    root->in_call = root->op->klass->poll(root->op) == MS_MORE;
    if (task->st.code != MS_OK) {
        root->in_call = false;
        note_failure(task, root);
        return true;
    }
    return !task->is_pending || !msi_driver_is_quiet(task);
}

static void update_watermark(msi_task *task)
{
    ms_time_ms lowest = MS_WATERMARK_MAX;
    for (uint32_t c = 0; c < task->channel_count; c++) {
        ms_time_ms watermark = task->channels[c]->watermark;
        lowest = watermark < lowest ? watermark : lowest;
    }
    if (lowest > task->watermark) {
        task->watermark = lowest;
        push_root(task, (msi_item){.kind = MSI_ITEM_WATERMARK, .u.watermark = lowest});
    }
}

/* When all channels have brought the barrier or ended, the root takes it. */
static void check_alignment(msi_task *task)
{
    if (task->aligning == 0) {
        return;
    }
    for (uint32_t c = 0; c < task->channel_count; c++) {
        if (!task->channels[c]->is_aligned && !task->channels[c]->has_ended) {
            return;
        }
    }
    for (uint32_t c = 0; c < task->channel_count; c++) {
        task->channels[c]->is_aligned = false;
    }
    /* The fate of earlier checkpoints decides what this cut writes, and was told before this
     * barrier set out. */
    msi_worker_deliver(task->actor.worker);
    while (task->commands != NULL) {
        msi_task_take_command(task);
    }
    ms_checkpoint_id id = task->aligning;
    task->aligning = 0;
    msi_cut_begin(task, id, task->aligning_is_final);
    push_root(task, (msi_item){.kind = MSI_ITEM_BARRIER,
                               .is_final = task->aligning_is_final,
                               .u.checkpoint = id});
}

static void end_channel(msi_task *task, msi_channel *channel, ms_ending ending)
{
    channel->has_ended = true;
    channel->watermark = MS_WATERMARK_MAX;
    update_watermark(task);
    if (--task->open_channels[channel->input] == 0) {
        push_root(task,
                  (msi_item){.kind = MSI_ITEM_END, .input = channel->input, .ending = ending});
    }
    check_alignment(task);
}

static void take_from_channel(msi_task *task, msi_channel *channel, const msi_item *item)
{
    switch (item->kind) {
    case MSI_ITEM_BATCH:
        task->held = *item;
        task->held_channel = channel;
        task->turn_bytes += item->bytes;
        push_root(task, *item);
        break;
    case MSI_ITEM_WATERMARK:
        channel->watermark = item->u.watermark;
        update_watermark(task);
        break;
    case MSI_ITEM_BARRIER:
        MS_ASSERT(task->aligning == 0 || task->aligning == item->u.checkpoint);
        task->aligning = item->u.checkpoint;
        task->aligning_is_final = item->is_final;
        channel->is_aligned = true;
        check_alignment(task);
        break;
    case MSI_ITEM_END:
        end_channel(task, channel, item->ending);
        break;
    }
}

static bool pop_channels(msi_task *task)
{
    for (uint32_t i = 0; i < task->channel_count; i++) {
        uint32_t c = (task->next_channel + i) % task->channel_count;
        msi_channel *channel = task->channels[c];
        msi_item item;
        if (!channel->is_aligned && !channel->has_ended && msi_channel_pop(channel, &item)) {
            task->next_channel = (c + 1) % task->channel_count;
            take_from_channel(task, channel, &item);
            return true;
        }
    }
    return false;
}

/* Ends the next input that has no channel from the start: its producers were finished by a
 * checkpoint, or send to another subtask only. */
static bool end_idle_input(msi_task *task)
{
    msi_node *root = &task->nodes[0];
    while (task->first_input < root->input_count) {
        uint32_t input = task->first_input++;
        if (task->open_channels[input] == 0) {
            update_watermark(task);
            push_root(task,
                      (msi_item){.kind = MSI_ITEM_END, .input = input, .ending = MS_END_INPUT});
            return true;
        }
    }
    return false;
}

static bool step_source(msi_task *task)
{
    if (task->is_drained) {
        end_source(task, MS_END_DRAIN);
        return true;
    }
    if (task->source_ended || task->is_enough) {
        end_source(task, MS_END_INPUT);
        return true;
    }
    return !task->is_stopped && !task->is_pending && poll_source(task);
}

/* Everything below the root is done. */
static bool step_root(msi_task *task)
{
    if (task->is_source && task->nodes[0].in_call) {
        return poll_source(task);
    }
    for (uint32_t n = 0; n < task->node_count; n++) {
        drop_emitted(&task->nodes[n]);
    }
    msi_driver_release_held(task);
    ms_arena_reset(&task->scratch);
    if (task->root_ended && !task->has_ended) {
        task->has_ended = true;
        msi_event_send(task->job, MSI_EVENT_ENDED, task, 0, NULL, NULL);
    }
    if (task->commands != NULL) {
        msi_task_take_command(task);
        if (task->st.code != MS_OK) {
            note_failure(task, NULL);
        }
        return true;
    }
    if (task->has_ended) {
        return false;
    }
    if (task->is_source) {
        return step_source(task);
    }
    return end_idle_input(task) || pop_channels(task);
}

/* ---- Steps ---- */

static bool is_below(const msi_node *node, const msi_inbox *inbox)
{
    for (uint32_t i = 0; i < node->below_count; i++) {
        if (node->below[i] == inbox) {
            return true;
        }
    }
    return false;
}

/* After a failure only what is below the failed operator goes on. */
static bool may_run(const msi_task *task, const msi_inbox *inbox)
{
    return task->phase == MSI_TASK_RUNNING ||
           (task->failed != NULL && is_below(task->failed, inbox));
}

bool msi_driver_step(msi_task *task)
{
    for (uint32_t t = task->tail_count; t-- > 0;) {
        msi_tail *tail = &task->tails[t];
        if (tail->inbox.count == 0 || tail->is_waiting || !may_run(task, &tail->inbox)) {
            continue;
        }
        bool moved = msi_tail_step(tail, &task->st);
        if (task->st.code != MS_OK) {
            note_failure(task, NULL);
            return true;
        }
        if (moved) {
            return true;
        }
    }
    for (uint32_t n = task->node_count; n-- > 0;) {
        msi_node *node = &task->nodes[n];
        if (may_run(task, &node->inbox) && step_node(node)) {
            return true;
        }
    }
    return task->phase == MSI_TASK_RUNNING && msi_driver_is_quiet(task) && step_root(task);
}
