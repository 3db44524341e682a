/* SPDX-License-Identifier: Apache-2.0 */
/* tidy: no-unit-test: driver_test and the operators' own tests call it */
/*
 * What the driver offers operators: the functions of ms_op_host. Each finds the driver's record of
 * the operator in host_op and either fills the inboxes of its consumers or notes something that the
 * driver or the coordinator takes up later; none of them calls back into an operator.
 */
#include "runtime/runtime_priv.h"

static msi_node *node_of(const ms_op *op)
{
    return op->host_op;
}

void msi_inbox_push(msi_inbox *inbox, msi_item item)
{
    MS_ASSERT(inbox->count < MSI_INBOX_ITEMS);
    inbox->items[(inbox->first + inbox->count) % MSI_INBOX_ITEMS] = item;
    inbox->count++;
}

void msi_inbox_pop(msi_inbox *inbox)
{
    MS_ASSERT(inbox->count > 0);
    inbox->first = (inbox->first + 1) % MSI_INBOX_ITEMS;
    inbox->count--;
}

static void host_emit(ms_op *op, uint32_t edge, ms_batch *batch)
{
    msi_node *node = node_of(op);
    MS_ASSERT(edge == 0);
    if (ms_batch_live(batch) == 0 || node->output_count == 0) {
        if (batch->pool != NULL) {
            ms_batch_drop(batch);
        }
        return;
    }
    if (batch->pool != NULL) {
        MS_ASSERT(node->emitted == NULL);
        node->emitted = batch;
    }
    for (uint32_t i = 0; i < node->output_count; i++) {
        msi_inbox_push(node->outputs[i], (msi_item){.kind = MSI_ITEM_BATCH, .u.batch = batch});
    }
}

static void host_emit_watermark(ms_op *op, ms_time_ms watermark)
{
    msi_node *node = node_of(op);
    msi_task *task = node->task;
    if (task->is_source && watermark > task->actor.rank) {
        task->actor.rank = watermark;
    }
    for (uint32_t i = 0; i < node->output_count; i++) {
        msi_inbox *inbox = node->outputs[i];
        msi_item *newest = &inbox->items[(inbox->first + inbox->count - 1) % MSI_INBOX_ITEMS];
        if (inbox->count > 0 && newest->kind == MSI_ITEM_WATERMARK) {
            newest->u.watermark = watermark > newest->u.watermark ? watermark : newest->u.watermark;
        } else {
            msi_inbox_push(inbox, (msi_item){.kind = MSI_ITEM_WATERMARK, .u.watermark = watermark});
        }
    }
}

/* What does not fit is the failure of the handler that handed it over. */
static void keep_bytes(msi_node *node, ms_buf *kept, bool *has, ms_str bytes)
{
    ms_buf_reset(kept);
    *has = ms_buf_append(kept, bytes, node->ctx.st) == MS_OK;
}

static void host_snapshot(ms_op *op, ms_checkpoint_id id, ms_str bytes)
{
    msi_node *node = node_of(op);
    msi_cut_part *part = msi_cut_part_of(node, id);
    keep_bytes(node, &part->snapshot, &part->has_snapshot, bytes);
}

static void host_committable(ms_op *op, ms_checkpoint_id id, ms_str bytes)
{
    msi_node *node = node_of(op);
    if (bytes.bytes > 0) {
        msi_cut_part *part = msi_cut_part_of(node, id);
        keep_bytes(node, &part->committable, &part->has_committable, bytes);
    }
}

static void host_persisted(ms_op *op, ms_checkpoint_id id)
{
    msi_cut_persisted(node_of(op), id);
}

static void host_source_pending(ms_op *op)
{
    node_of(op)->task->is_pending = true;
}

static void host_source_end(ms_op *op)
{
    node_of(op)->task->source_ended = true;
}

static void host_request_split(ms_op *op)
{
    msi_node *node = node_of(op);
    msi_event_send(node->task->job, MSI_EVENT_REQUEST_SPLIT, node->task, node->pnode->id, NULL,
                   NULL);
}

/* Queues a finished token at its node. The driver calls complete when the outputs are free. */
static void deliver_finished(msi_token *token)
{
    msi_node *node = token->owner;
    msi_finished *finished = &node->finished;
    finished->tokens[(finished->first + finished->count) % finished->capacity] = token;
    finished->count++;
    msi_actor_wake(&node->task->actor);
}

/* Room for every token that is out, so that delivering allocates nothing. */
static void make_finished_room(msi_node *node)
{
    msi_finished *finished = &node->finished;
    if (node->tokens.count < finished->capacity) {
        return;
    }
    uint32_t capacity = finished->capacity > 0 ? finished->capacity * 2 : 8;
    msi_token **tokens = ms_mem_calloc(capacity, sizeof(msi_token *));
    for (uint32_t i = 0; i < finished->count; i++) {
        tokens[i] = finished->tokens[(finished->first + i) % finished->capacity];
    }
    ms_mem_free(finished->tokens);
    *finished = (msi_finished){.tokens = tokens, .count = finished->count, .capacity = capacity};
}

static ms_completion *host_completion(ms_op *op)
{
    msi_node *node = node_of(op);
    make_finished_room(node);
    return &msi_token_make(&node->tokens, node->task->actor.worker, node, deliver_finished)
                ->completion;
}

static const ms_status *host_completion_status(const ms_completion *done)
{
    return msi_token_status((const msi_token *)done);
}

static uint32_t host_collect(ms_op *op, const ms_batch *batch, uint32_t first)
{
    msi_node *node = node_of(op);
    return msi_collector_put(node->task->job->collector, batch, first, &node->task->actor,
                             node->ctx.st);
}

static void host_satisfied(ms_op *op)
{
    msi_node *node = node_of(op);
    if (!node->is_satisfied) {
        node->is_satisfied = true;
        msi_event_send(node->task->job, MSI_EVENT_SATISFIED, node->task, node->pnode->id, NULL,
                       NULL);
    }
}

const ms_op_host msi_host = {.emit = host_emit,
                             .emit_watermark = host_emit_watermark,
                             .snapshot = host_snapshot,
                             .persisted = host_persisted,
                             .source_pending = host_source_pending,
                             .source_end = host_source_end,
                             .request_split = host_request_split,
                             .committable = host_committable,
                             .completion = host_completion,
                             .completion_status = host_completion_status,
                             .collect = host_collect,
                             .satisfied = host_satisfied};
