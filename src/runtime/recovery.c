/* SPDX-License-Identifier: Apache-2.0 */
/* tidy: no-unit-test: checkpoint_test resumes jobs at the same and at other parallelisms */
/*
 * Handing the parts of a checkpoint to the tasks of the job that resumes. With the same parallelism
 * every subtask gets its own back. With another one:
 *
 *     state tables      every subtask reads all logs and keeps its key groups
 *     splits            dealt out one by one
 *     watermark         every subtask gets at least one of the old ones, so that time does not
 *                       fall behind; the operator takes the smallest
 *     other snapshots   that of old subtask s goes to new subtask s mod parallelism, once
 *
 * A task that had finished does not run again: its consumers see an input that has ended. It does
 * when only some subtasks of a stage had finished and the parallelism changes, or when a task feeds
 * it that has not finished, as after a change of the parallelism above it. That is harmless, since
 * sources give out what is left, unless an operator emits at its end what it emitted before; that
 * case is refused.
 */
#include "runtime/runtime_priv.h"

#include "base/codec.h"

typedef struct loader {
    ms_job *job;
    const msi_manifest *manifest;
    const ms_pnode *pnode;
    /* The entries of pnode, by old subtask. */
    uint32_t old_count;
    const msi_manifest_op **old;
    ms_str *logs;         /* of all entries */
    uint32_t *log_starts; /* by old subtask, and the end */
} loader;

/* ---- Reading ---- */

static ms_rc gather_entries(loader *in, ms_status *st)
{
    const msi_manifest *manifest = in->manifest;
    ms_arena *arena = &in->job->arena;
    in->old_count = 0;
    for (uint32_t i = 0; i < manifest->op_count; i++) {
        in->old_count += manifest->ops[i].node_id == in->pnode->id ? 1 : 0;
    }
    in->old = ms_arena_array(arena, const msi_manifest_op *, in->old_count + 1);
    for (uint32_t i = 0; i < manifest->op_count; i++) {
        const msi_manifest_op *op = &manifest->ops[i];
        if (op->node_id != in->pnode->id) {
            continue;
        }
        if (op->subtask >= in->old_count || in->old[op->subtask] != NULL) {
            return ms_status_set(st, MS_CORRUPT_DATA, ms_span_none,
                                 "a manifest has the subtasks of an operator twice or not at all");
        }
        in->old[op->subtask] = op;
    }
    return MS_OK;
}

static ms_rc read_logs(loader *in, ms_status *st)
{
    ms_job *job = in->job;
    uint32_t count = 0;
    for (uint32_t s = 0; s < in->old_count; s++) {
        count += in->old[s]->file_count;
    }
    in->logs = ms_arena_array(&job->arena, ms_str, count + 1);
    in->log_starts = ms_arena_array(&job->arena, uint32_t, in->old_count + 1);
    uint32_t at = 0;
    for (uint32_t s = 0; s < in->old_count; s++) {
        in->log_starts[s] = at;
        for (uint32_t f = 0; f < in->old[s]->file_count; f++) {
            msi_log_bytes *log = ms_arena_new(&job->arena, msi_log_bytes);
            ms_buf_init(&log->bytes, MS_LIMIT_CHECKPOINT_BYTES);
            log->next = job->logs;
            job->logs = log;
            MS_TRY(msi_store_read_file(&job->store, &in->old[s]->files[f], &log->bytes, st));
            in->logs[at++] = ms_buf_view(&log->bytes);
        }
    }
    in->log_starts[in->old_count] = at;
    return MS_OK;
}

/* ---- Splits ---- */

/* The splits of a reader's snapshot; NULL out only counts. */
static ms_rc read_splits(ms_str snapshot, ms_str *splits_out, uint32_t *count_out, ms_status *st)
{
    ms_codec_reader reader = ms_codec_reader_make(snapshot);
    uint32_t count = ms_codec_reader_u32(&reader);
    /* Every split takes at least its length. */
    if (count > ms_codec_reader_left_bytes(&reader)) {
        count = 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        ms_str split = ms_codec_reader_str(&reader);
        if (splits_out != NULL) {
            splits_out[i] = split;
        }
    }
    *count_out = count;
    return ms_codec_reader_finish(&reader, "the splits of a source in a checkpoint", st);
}

static ms_rc all_splits(loader *in, ms_str **splits_out, uint32_t *count_out, ms_status *st)
{
    uint32_t total = 0;
    uint32_t count = 0;
    for (uint32_t s = 0; s < in->old_count; s++) {
        if (in->old[s]->has_snapshot) {
            MS_TRY(read_splits(in->old[s]->snapshot, NULL, &count, st));
            total += count;
        }
    }
    ms_str *splits = ms_arena_array(&in->job->arena, ms_str, total + 1);
    total = 0;
    for (uint32_t s = 0; s < in->old_count; s++) {
        if (in->old[s]->has_snapshot) {
            MS_TRY(read_splits(in->old[s]->snapshot, splits + total, &count, st));
            total += count;
        }
    }
    *splits_out = splits;
    *count_out = total;
    return MS_OK;
}

/* A snapshot with every parallelism-th split, from subtask on. */
static ms_rc deal_splits(loader *in, const ms_str *splits, uint32_t split_count, uint32_t subtask,
                         uint32_t parallelism, msi_restored_op *restored, ms_status *st)
{
    uint32_t mine = 0;
    for (uint32_t i = subtask; i < split_count; i += parallelism) {
        mine++;
    }
    ms_buf bytes;
    ms_buf_init(&bytes, MS_LIMIT_CHECKPOINT_BYTES);
    ms_rc rc = ms_codec_put_u32(&bytes, mine, st);
    for (uint32_t i = subtask; i < split_count && rc == MS_OK; i += parallelism) {
        rc = ms_codec_put_str(&bytes, splits[i], st);
    }
    if (rc == MS_OK) {
        restored->snapshot_count = 1;
        restored->snapshots = ms_arena_new(&in->job->arena, ms_str);
        restored->snapshots[0] = ms_arena_copy_str(&in->job->arena, ms_buf_view(&bytes));
    }
    ms_buf_release(&bytes);
    return rc;
}

static ms_rc load_source(loader *in, const msi_stage *stage, msi_restored_op *restored,
                         ms_status *st)
{
    ms_str *splits = NULL;
    uint32_t count = 0;
    MS_TRY(all_splits(in, &splits, &count, st));
    atomic_fetch_add_explicit(&in->job->restored_splits, count, memory_order_relaxed);
    if (stage->parallelism == in->old_count) {
        /* As it was: a reader may have more in its snapshot than an even share. */
        for (uint32_t t = 0; t < stage->parallelism; t++) {
            restored[t].snapshot_count = in->old[t]->has_snapshot ? 1 : 0;
            restored[t].snapshots = ms_arena_new(&in->job->arena, ms_str);
            restored[t].snapshots[0] = in->old[t]->snapshot;
        }
        return MS_OK;
    }
    for (uint32_t t = 0; t < stage->parallelism; t++) {
        MS_TRY(deal_splits(in, splits, count, t, stage->parallelism, &restored[t], st));
    }
    return MS_OK;
}

/* ---- Other operators ---- */

/* True when the snapshot of old subtask s goes to new subtask t. */
static bool falls_to(ms_pnode_kind kind, uint32_t s, uint32_t t, uint32_t old_count,
                     uint32_t parallelism)
{
    return s % parallelism == t || (kind == MS_PNODE_WATERMARK && t % old_count == s);
}

static void load_snapshots(loader *in, uint32_t parallelism, msi_restored_op *restored)
{
    for (uint32_t t = 0; t < parallelism; t++) {
        restored[t].snapshots = ms_arena_array(&in->job->arena, ms_str, in->old_count + 1);
        for (uint32_t s = 0; s < in->old_count; s++) {
            if (in->old[s]->has_snapshot &&
                falls_to(in->pnode->kind, s, t, in->old_count, parallelism)) {
                restored[t].snapshots[restored[t].snapshot_count++] = in->old[s]->snapshot;
            }
        }
    }
}

static void hand_out_logs(loader *in, uint32_t parallelism, msi_restored_op *restored)
{
    for (uint32_t t = 0; t < parallelism; t++) {
        uint32_t first = 0;
        uint32_t end = in->log_starts[in->old_count];
        if (parallelism == in->old_count) {
            first = in->log_starts[t];
            end = in->log_starts[t + 1];
        }
        restored[t].logs = in->logs + first;
        restored[t].log_count = end - first;
    }
}

static uint32_t finished_count(const loader *in)
{
    uint32_t count = 0;
    for (uint32_t s = 0; s < in->old_count; s++) {
        count += in->old[s]->is_finished ? 1 : 0;
    }
    return count;
}

static msi_node *node_of(ms_job *job, const msi_stage *stage, uint32_t subtask,
                         const ms_pnode *pnode)
{
    msi_task *task = &job->tasks[stage->first_task + subtask];
    for (uint32_t n = 0; n < task->node_count; n++) {
        if (task->nodes[n].pnode == pnode) {
            return &task->nodes[n];
        }
    }
    MS_UNREACHABLE();
}

/* True for operators that emit at their end what is in their state: twice when they end twice. */
static bool flushes(ms_pnode_kind kind)
{
    return kind == MS_PNODE_AGGREGATE || kind == MS_PNODE_SORT;
}

static ms_rc refuse_parallelism(const ms_pnode *pnode, uint32_t old_count, ms_status *st)
{
    ms_status_set(st, MS_NOT_SUPPORTED, pnode->span,
                  "the parallelism of an operator (%s) cannot change now: part of it has finished",
                  ms_pnode_kind_name(pnode->kind));
    return ms_status_hint(st, "Resume with parallelism %u.", old_count);
}

/* True when nothing is left to do for new subtask t. */
static bool is_done(const loader *in, const msi_stage *stage, uint32_t finished, uint32_t t)
{
    if (stage->parallelism == in->old_count) {
        return in->old[t]->is_finished;
    }
    if (in->pnode->kind == MS_PNODE_VALUES) {
        /* All rows are subtask 0's. */
        return t > 0 || in->old[0]->is_finished;
    }
    return finished == in->old_count;
}

static ms_rc load_finished(loader *in, const msi_stage *stage, ms_status *st)
{
    uint32_t finished = finished_count(in);
    bool is_part = finished > 0 && finished < in->old_count;
    if (is_part && stage->parallelism != in->old_count && flushes(in->pnode->kind)) {
        return refuse_parallelism(in->pnode, in->old_count, st);
    }
    for (uint32_t t = 0; t < stage->parallelism; t++) {
        node_of(in->job, stage, t, in->pnode)->was_finished = is_done(in, stage, finished, t);
    }
    return MS_OK;
}

static ms_rc load_node(loader *in, const msi_stage *stage, ms_status *st)
{
    ms_job *job = in->job;
    uint32_t parallelism = stage->parallelism;
    MS_TRY(gather_entries(in, st));
    if (in->old_count == 0) {
        return MS_OK;
    }
    MS_TRY(read_logs(in, st));
    MS_TRY(load_finished(in, stage, st));
    msi_restored_op *restored = ms_arena_array(&job->arena, msi_restored_op, parallelism);
    if (in->pnode->kind == MS_PNODE_SOURCE) {
        MS_TRY(load_source(in, stage, restored, st));
    } else {
        load_snapshots(in, parallelism, restored);
    }
    hand_out_logs(in, parallelism, restored);
    for (uint32_t t = 0; t < parallelism; t++) {
        node_of(job, stage, t, in->pnode)->restored = &restored[t];
        atomic_fetch_add_explicit(&job->restored_snapshots, restored[t].snapshot_count,
                                  memory_order_relaxed);
    }
    return MS_OK;
}

/* A task is finished when all of it is; a source that is, in one that is not, ends at once. */
static void finish_tasks(ms_job *job)
{
    for (uint32_t t = 0; t < job->task_count; t++) {
        msi_task *task = &job->tasks[t];
        task->is_finished = true;
        for (uint32_t n = 0; n < task->node_count; n++) {
            task->is_finished &= task->nodes[n].was_finished;
        }
        task->source_ended = task->is_source && task->nodes[0].was_finished;
    }
}

/* Makes a task run again that had finished, because others feed it now. */
static ms_rc revive(msi_task *task, ms_status *st)
{
    task->is_finished = false;
    for (uint32_t n = 0; n < task->node_count; n++) {
        if (flushes(task->nodes[n].pnode->kind)) {
            return refuse_parallelism(task->nodes[n].pnode, task->parallelism, st);
        }
    }
    return MS_OK;
}

/* Which subtask feeds which changes with the parallelism. Stages come in the order in which rows
 * pass through them, and so do their tasks. */
static ms_rc revive_fed(ms_job *job, ms_status *st)
{
    for (uint32_t t = 0; t < job->task_count; t++) {
        const msi_task *task = &job->tasks[t];
        for (uint32_t i = 0; !task->is_finished && i < task->tail_count; i++) {
            for (uint32_t c = 0; c < task->tails[i].channel_count; c++) {
                msi_task *consumer = (msi_task *)task->tails[i].channels[c]->consumer;
                MS_TRY(consumer->is_finished ? revive(consumer, st) : MS_OK);
            }
        }
    }
    return MS_OK;
}

/* The channels of a finished task have brought their ending. */
static void end_channels(ms_job *job)
{
    for (uint32_t t = 0; t < job->task_count; t++) {
        const msi_task *task = &job->tasks[t];
        for (uint32_t i = 0; task->is_finished && i < task->tail_count; i++) {
            for (uint32_t c = 0; c < task->tails[i].channel_count; c++) {
                msi_channel *channel = task->tails[i].channels[c];
                msi_task *consumer = (msi_task *)channel->consumer;
                channel->has_ended = true;
                channel->watermark = MS_WATERMARK_MAX;
                consumer->open_channels[channel->input]--;
            }
        }
    }
}

ms_rc msi_recovery_load(ms_job *job, const msi_manifest *manifest, ms_status *st)
{
    for (uint32_t s = 0; s < job->stage_count; s++) {
        for (uint32_t n = 0; n < job->stages[s].pnode_count; n++) {
            loader in = {.job = job, .manifest = manifest, .pnode = job->stages[s].pnodes[n]};
            MS_TRY(load_node(&in, &job->stages[s], st));
        }
    }
    finish_tasks(job);
    MS_TRY(revive_fed(job, st));
    end_channels(job);
    atomic_fetch_add_explicit(&job->restored_snapshots, manifest->enumerator_count,
                              memory_order_relaxed);
    return MS_OK;
}

void msi_recovery_release(ms_job *job)
{
    for (; job->logs != NULL; job->logs = job->logs->next) {
        ms_buf_release(&job->logs->bytes);
    }
}
