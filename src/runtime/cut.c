/* SPDX-License-Identifier: Apache-2.0 */
/* tidy: no-unit-test: checkpoint_test fails every operation of a cut in turn */
/*
 * Cuts: what a barrier leaves in one task. The cut begins when the root takes the barrier, and is
 * done when every operator has been cut, has reported that it persisted, and has its state written.
 * Then it goes to the coordinator as the acknowledgement, with all it holds. Cuts of one task leave
 * in order, so that the coordinator has the committables of a checkpoint that was given up before
 * those of the next one.
 *
 * State tables are cut in memory by the task and written by a pool job while the task goes on. A
 * write is full when the operator has no complete file yet, when the checkpoint before was given up
 * (its increment is lost), and every so often, so that chains stay short.
 */
#include "runtime/runtime_priv.h"

#include "base/codec.h"
#include "base/env.h"

typedef struct state_write {
    ms_iojob job;
    msi_node *node;
    ms_checkpoint_id id;
    bool is_full;
    ms_str dir;
    ms_str name;
    ms_arena arena; /* of name */
    ms_buf bytes;
    uint32_t crc;
    ms_status st;
} state_write;

/* ---- Cuts ---- */

void msi_cut_begin(msi_task *task, ms_checkpoint_id id, bool is_final)
{
    msi_cut *cut = ms_mem_calloc(1, sizeof(msi_cut));
    cut->id = id;
    cut->is_final = is_final;
    cut->has_ended = task->has_ended;
    cut->pending = task->node_count;
    cut->part_count = task->node_count;
    cut->parts = ms_mem_calloc(task->node_count, sizeof(msi_cut_part));
    for (uint32_t n = 0; n < task->node_count; n++) {
        ms_buf_init(&cut->parts[n].snapshot, MS_LIMIT_CHECKPOINT_BYTES);
        ms_buf_init(&cut->parts[n].committable, MS_LIMIT_CHECKPOINT_BYTES);
    }
    msi_cut **link = &task->cuts;
    while (*link != NULL) {
        link = &(*link)->next;
    }
    *link = cut;
    task->last_barrier = id;
}

void msi_cut_destroy(msi_cut *cut)
{
    if (cut == NULL) {
        return;
    }
    for (uint32_t n = 0; n < cut->part_count; n++) {
        ms_buf_release(&cut->parts[n].snapshot);
        ms_buf_release(&cut->parts[n].committable);
    }
    ms_mem_free(cut->parts);
    ms_mem_free(cut);
}

void msi_cut_drop_all(msi_task *task)
{
    while (task->cuts != NULL) {
        msi_cut *next = task->cuts->next;
        msi_cut_destroy(task->cuts);
        task->cuts = next;
    }
}

static msi_cut *find_cut(const msi_task *task, ms_checkpoint_id id)
{
    msi_cut *cut = task->cuts;
    while (cut != NULL && cut->id != id) {
        cut = cut->next;
    }
    MS_ASSERT(cut != NULL);
    return cut;
}

msi_cut_part *msi_cut_part_of(msi_node *node, ms_checkpoint_id id)
{
    return &find_cut(node->task, id)->parts[node->index];
}

/* Sends the cuts that are done, oldest first. */
static void send_done(msi_task *task)
{
    while (task->cuts != NULL && task->cuts->pending == 0) {
        msi_cut *done = task->cuts;
        task->cuts = done->next;
        done->next = NULL;
        msi_event_send(task->job, MSI_EVENT_CUT, task, 0, done, NULL);
    }
}

void msi_cut_persisted(msi_node *node, ms_checkpoint_id id)
{
    msi_cut *cut = find_cut(node->task, id);
    msi_cut_part *part = &cut->parts[node->index];
    MS_ASSERT(!part->is_persisted);
    part->is_persisted = true;
    cut->pending--;
    send_done(node->task);
}

/* ---- State ---- */

/* On a thread of the pool. */
static void write_state(ms_iojob *job)
{
    state_write *write = MS_MAIL_OWNER(job, state_write, job);
    ms_status *st = &write->st;
    if (ms_env_fault("checkpoint.before_data")) {
        ms_status_set(st, MS_IO_ERROR, ms_span_none, "could not write state: injected fault");
        return;
    }
    if (ms_state_write(write->node->ctx.state, write->id, write->is_full, &write->bytes, st) !=
        MS_OK) {
        return;
    }
    write->crc = ms_crc32c(0, ms_buf_view(&write->bytes));
    if (msi_store_write_file(write->dir, write->name, ms_buf_view(&write->bytes), st) == MS_OK &&
        ms_env_fault("checkpoint.after_data")) {
        ms_status_set(st, MS_IO_ERROR, ms_span_none, "could not write state: injected fault");
    }
}

static void state_written(ms_mail *mail)
{
    state_write *write = MS_MAIL_OWNER(mail, state_write, job.mail);
    msi_node *node = write->node;
    msi_task *task = node->task;
    msi_cut *cut = find_cut(task, write->id);
    msi_cut_part *part = &cut->parts[node->index];
    ms_state_release_cut(node->ctx.state, write->id);
    part->is_writing = false;
    if (write->st.code == MS_OK) {
        part->has_file = true;
        part->is_full = write->is_full;
        part->file_bytes = write->bytes.bytes;
        part->file_crc = write->crc;
    } else {
        node->needs_full = true;
        cut->st = cut->st.code == MS_OK ? write->st : cut->st;
    }
    ms_buf_release(&write->bytes);
    ms_arena_release(&write->arena);
    ms_mem_free(write);
    cut->pending--;
    task->pool_jobs--;
    send_done(task);
    msi_actor_wake(&task->actor);
}

static void start_write(msi_node *node, msi_cut *cut)
{
    msi_task *task = node->task;
    ms_job *job = task->job;
    ms_state_cut(node->ctx.state, cut->id);
    state_write *write = ms_mem_calloc(1, sizeof(state_write));
    write->node = node;
    write->id = cut->id;
    write->is_full = node->needs_full || node->increments + 1 >= job->options.checkpoint_full_every;
    write->dir = job->store.dir;
    ms_arena_init(&write->arena, 0);
    write->name = msi_store_state_name(&write->arena, node->pnode->id, task->subtask, cut->id);
    ms_buf_init(&write->bytes, MS_LIMIT_CHECKPOINT_BYTES);
    write->job.run = write_state;
    write->job.reply_to = task->env.mailbox;
    write->job.mail.deliver = state_written;
    node->increments = write->is_full ? 0 : node->increments + 1;
    /* The checkpoint may have been given up before its barrier came here. */
    node->needs_full = cut->id <= task->aborted;
    cut->parts[node->index].is_writing = true;
    cut->pending++;
    task->pool_jobs++;
    ms_status st = {0};
    if (ms_iopool_submit(task->env.iopool, &write->job, &st) != MS_OK) {
        write->st = st;
        state_written(&write->job.mail);
    }
}

void msi_cut_node(msi_node *node, ms_checkpoint_id id, bool is_final)
{
    msi_task *task = node->task;
    msi_cut *cut = find_cut(task, id);
    msi_cut_part *part = &cut->parts[node->index];
    const ms_op_class *klass = node->op->klass;
    part->rows_in = node->op->rows_in;
    part->rows_out = node->op->rows_out;
    if (klass->barrier != NULL && klass->barrier(node->op, id, is_final) != MS_OK) {
        return;
    }
    if (task->job->store.dir.bytes > 0 && ms_state_is_used(node->ctx.state)) {
        start_write(node, cut);
    }
    if (klass->persist != NULL) {
        klass->persist(node->op, id);
    } else {
        msi_cut_persisted(node, id);
    }
}
