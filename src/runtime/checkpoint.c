/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The coordinator's side of a checkpoint:
 *
 *     NONE -> COLLECTING -> WRITING -> COMMITTING -> SWEEPING -> NONE
 *                |             |
 *                +-------------+--> given up: NONE
 *
 * It begins with the enumerators' snapshots and a trigger to every source, and to every task that
 * has ended and sees no barrier any more. When all tasks have sent their cuts (state files are
 * durable by then), the manifest is written; when that is durable, the committers commit. A
 * checkpoint that is given up leaves two things: its committables, which go with the next complete
 * one, and the order to write state in full.
 *
 * A task is finished when a complete checkpoint has a cut that it made after its end. When all are,
 * the job is. Without a directory nothing is written, and the one checkpoint at the end only makes
 * the sinks commit.
 */
#include "runtime/runtime_priv.h"

#include "base/env.h"
#include "base/log.h"

#include <inttypes.h>

#define NS_PER_MS 1000000

static bool has_store(const msi_coordinator *c)
{
    return c->job->store.dir.bytes > 0;
}

/* ---- Committables ---- */

static msi_target *target_of(msi_coordinator *c, const ms_pnode *pnode)
{
    for (uint32_t i = 0; i < c->target_count; i++) {
        if (c->targets[i].pnode == pnode) {
            return &c->targets[i];
        }
    }
    return NULL;
}

/* Takes the committables out of a cut; they wait for the next complete checkpoint. */
static void keep_committables(msi_coordinator *c, const msi_task *task, msi_cut *cut)
{
    for (uint32_t n = 0; n < cut->part_count; n++) {
        msi_cut_part *part = &cut->parts[n];
        msi_target *target = target_of(c, task->nodes[n].pnode);
        if (!part->has_committable || target == NULL) {
            continue;
        }
        msi_committable *kept = ms_mem_calloc(1, sizeof(*kept));
        kept->bytes = part->committable;
        part->has_committable = false;
        ms_buf_init(&part->committable, 0);
        *target->waiting_end = kept;
        target->waiting_end = &kept->next;
        target->waiting_count++;
    }
}

static void drop_committables(msi_target *target)
{
    while (target->waiting != NULL) {
        msi_committable *next = target->waiting->next;
        ms_buf_release(&target->waiting->bytes);
        ms_mem_free(target->waiting);
        target->waiting = next;
    }
    target->waiting_end = &target->waiting;
    target->waiting_count = 0;
    ms_mem_free(target->committing);
    target->committing = NULL;
}

void msi_checkpoint_drop(msi_coordinator *c)
{
    for (uint32_t t = 0; t < c->job->task_count; t++) {
        msi_cut_destroy(c->tasks[t].cut);
        c->tasks[t].cut = NULL;
    }
    for (uint32_t i = 0; i < c->target_count; i++) {
        drop_committables(&c->targets[i]);
    }
}

ms_rc msi_checkpoint_recover(msi_coordinator *c, ms_status *st)
{
    const msi_manifest *manifest = &c->job->restored;
    for (uint32_t i = 0; i < c->target_count; i++) {
        msi_target *target = &c->targets[i];
        if (target->committer == NULL) {
            continue;
        }
        target->committing = ms_mem_calloc(manifest->committable_count + 1, sizeof(ms_str));
        uint32_t count = 0;
        for (uint32_t b = 0; b < manifest->committable_count; b++) {
            if (manifest->committables[b].node_id == target->pnode->id) {
                target->committing[count++] = manifest->committables[b].bytes;
            }
        }
        target->committer->klass->recover(target->committer, manifest->id, target->committing,
                                          count, msi_coordinator_token(c));
    }
    return st->code;
}

/* ---- File work ---- */

static void work_is_back(ms_mail *mail)
{
    msi_coordinator *c = MS_MAIL_OWNER(mail, msi_coordinator, work.job.mail);
    c->work.is_running = false;
    c->work.is_back = true;
    msi_actor_wake(&c->actor);
}

static void start_work(msi_coordinator *c, void (*run)(ms_iojob *job))
{
    msi_store_work *work = &c->work;
    work->job = (ms_iojob){.run = run, .reply_to = c->env.mailbox};
    work->job.mail.deliver = work_is_back;
    work->dir = c->job->store.dir;
    work->id = c->id;
    ms_status_clear(&work->st);
    work->is_running = true;
    /* From here on the work is the pool's, unless it was refused. */
    ms_rc rc = ms_iopool_submit(c->env.iopool, &work->job, &work->st);
    if (rc != MS_OK) {
        work->rc = rc;
        work_is_back(&work->job.mail);
    }
}

static void run_manifest(ms_iojob *job)
{
    msi_store_work *work = MS_MAIL_OWNER(job, msi_store_work, job);
    work->rc = msi_store_write_manifest(work->dir, work->id, ms_buf_view(&work->bytes), &work->st);
}

static void run_sweep(ms_iojob *job)
{
    msi_store_work *work = MS_MAIL_OWNER(job, msi_store_work, job);
    work->rc = msi_store_sweep(work->dir, work->keep, 2, &work->st);
}

static void run_finish(ms_iojob *job)
{
    msi_store_work *work = MS_MAIL_OWNER(job, msi_store_work, job);
    work->rc = msi_store_finish(work->dir, &work->progress, &work->st);
}

/* True once when the work in progress has come back. */
static bool take_back(msi_coordinator *c)
{
    bool is_back = c->work.is_back;
    c->work.is_back = false;
    return is_back;
}

/* ---- Beginning ---- */

static bool all_finished(const msi_coordinator *c)
{
    for (uint32_t t = 0; t < c->job->task_count; t++) {
        if (!c->tasks[t].is_finished) {
            return false;
        }
    }
    return true;
}

static bool all_ended(const msi_coordinator *c)
{
    for (uint32_t t = 0; t < c->job->task_count; t++) {
        if (!c->tasks[t].has_ended) {
            return false;
        }
    }
    return true;
}

static ms_rc snapshot_sources(msi_coordinator *c, ms_status *st)
{
    for (uint32_t i = 0; i < c->source_count; i++) {
        msi_source *source = &c->sources[i];
        ms_buf_reset(&source->snapshot);
        if (source->enumerator != NULL) {
            MS_TRY(source->enumerator->klass->snapshot(source->enumerator, &source->snapshot, st));
        }
    }
    return MS_OK;
}

static uint64_t wanted_ticket(msi_coordinator *c)
{
    ms_mutex_lock(&c->job->mutex);
    uint64_t wanted = c->job->wanted_tickets;
    ms_mutex_unlock(&c->job->mutex);
    return wanted;
}

static void begin(msi_coordinator *c, bool is_stop)
{
    ms_status st = {0};
    if (snapshot_sources(c, &st) != MS_OK) {
        msi_coordinator_end(c, MS_JOB_STATE_FAILED, &st);
        return;
    }
    c->checkpoint = MSI_CHECKPOINT_COLLECTING;
    c->id = ++c->last_id;
    c->is_stop = is_stop;
    c->ticket = wanted_ticket(c);
    int64_t now_ns = ms_env_mono_ns();
    c->deadline_ns = now_ns + c->job->options.checkpoint_timeout_ms * NS_PER_MS;
    if (c->next_ns != 0) {
        c->next_ns = now_ns + c->job->options.checkpoint_interval_ms * NS_PER_MS;
    }
    for (uint32_t t = 0; t < c->job->task_count; t++) {
        const msi_task_record *record = &c->tasks[t];
        if (!record->is_finished && (c->job->tasks[t].is_source || record->has_ended)) {
            msi_command_send(&c->job->tasks[t], MSI_COMMAND_TRIGGER, c->id, is_stop, (ms_str){0});
        }
    }
}

/* Forgets checkpoints that were given up once every running task has sent its cut of them. */
static void prune_aborted(msi_coordinator *c)
{
    ms_checkpoint_id oldest = UINT64_MAX;
    for (uint32_t t = 0; t < c->job->task_count; t++) {
        const msi_task_record *record = &c->tasks[t];
        if (!record->has_ended && record->newest < oldest) {
            oldest = record->newest;
        }
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < c->aborted_count; i++) {
        if (c->aborted[i] > oldest) {
            c->aborted[kept++] = c->aborted[i];
        }
    }
    c->aborted_count = kept;
}

/* Begins a checkpoint when there is a reason to. */
static void begin_when_due(msi_coordinator *c)
{
    if (c->wants_stop && !has_store(c) && c->job->plan->is_bounded) {
        /* Half of a bounded result is no result: nothing is committed. */
        msi_coordinator_end(c, MS_JOB_STATE_STOPPED, NULL);
        return;
    }
    prune_aborted(c);
    if (c->aborted_count == MSI_ABORTED_MAX) {
        return;
    }
    bool is_due = c->next_ns != 0 && ms_env_mono_ns() >= c->next_ns;
    bool is_wanted = has_store(c) && wanted_ticket(c) > c->ticket;
    if (c->wants_stop || all_ended(c) || is_due || is_wanted) {
        begin(c, c->wants_stop && !all_ended(c));
    }
}

/* ---- Giving up ---- */

static void give_up(msi_coordinator *c, const ms_status *st)
{
    ms_log(MS_LOG_WARN, "checkpoint", "aborted", "job=\"%.*s\" id=%" PRIu64 " reason=\"%s\"",
           MS_STR_ARG(c->job->options.name), c->id, st->message);
    for (uint32_t t = 0; t < c->job->task_count; t++) {
        msi_task_record *record = &c->tasks[t];
        if (record->cut != NULL) {
            keep_committables(c, &c->job->tasks[t], record->cut);
            msi_cut_destroy(record->cut);
            record->cut = NULL;
        }
        if (!record->is_finished) {
            msi_command_send(&c->job->tasks[t], MSI_COMMAND_ABORTED, c->id, false, (ms_str){0});
        }
    }
    c->checkpoint = MSI_CHECKPOINT_NONE;
    c->aborted[c->aborted_count++] = c->id;
    c->failures++;
    /* Order relaxed: a count for people and tests. */
    atomic_fetch_add_explicit(&c->job->checkpoints_aborted, 1, memory_order_relaxed);
    msi_job_served(c->job, c->ticket, 0, st);
    if (c->is_stop || c->failures >= c->job->options.checkpoint_failures_max) {
        msi_coordinator_end(c, MS_JOB_STATE_FAILED, st);
    }
}

static void time_out(msi_coordinator *c)
{
    ms_status st = {0};
    ms_status_set(&st, MS_LIMIT, ms_span_none,
                  "checkpoint %" PRIu64 " was not complete after %" PRId64 " ms", c->id,
                  c->job->options.checkpoint_timeout_ms);
    ms_status_hint(&st, "Raise execution.checkpointing.timeout.");
    give_up(c, &st);
}

/* ---- Collecting ---- */

void msi_checkpoint_take_cut(msi_coordinator *c, msi_task *task, msi_cut *cut)
{
    msi_task_record *record = &c->tasks[task->index];
    record->newest = cut->id;
    bool is_current = c->checkpoint == MSI_CHECKPOINT_COLLECTING && cut->id == c->id;
    if (is_current && cut->st.code == MS_OK) {
        record->cut = cut;
        return;
    }
    keep_committables(c, task, cut);
    if (is_current) {
        give_up(c, &cut->st);
    }
    msi_cut_destroy(cut);
}

void msi_checkpoint_task_ended(msi_coordinator *c, msi_task *task)
{
    msi_task_record *record = &c->tasks[task->index];
    record->has_ended = true;
    /* The barrier of the checkpoint in progress may have missed it; if not, it passes this over. */
    if (c->checkpoint == MSI_CHECKPOINT_COLLECTING && record->cut == NULL && !task->is_source) {
        msi_command_send(task, MSI_COMMAND_TRIGGER, c->id, c->is_stop, (ms_str){0});
    }
}

static bool has_all_cuts(const msi_coordinator *c)
{
    for (uint32_t t = 0; t < c->job->task_count; t++) {
        if (!c->tasks[t].is_finished && c->tasks[t].cut == NULL) {
            return false;
        }
    }
    return true;
}

/* ---- Writing ---- */

static const msi_cut_part *part_of(const msi_coordinator *c, const msi_node *node)
{
    const msi_cut *cut = c->tasks[node->task->index].cut;
    return cut != NULL ? &cut->parts[node->index] : NULL;
}

/* The chain as it is with this checkpoint: the old one and an increment, or a new full file. */
static void extend_chain(msi_chain *chain, const msi_cut_part *part, ms_checkpoint_id id)
{
    if (part->is_full) {
        chain->count = 0;
    }
    if (chain->count == chain->capacity) {
        chain->capacity = chain->capacity > 0 ? chain->capacity * 2 : 4;
        chain->files =
            ms_mem_realloc(chain->files, chain->capacity * sizeof(struct msi_chain_file));
    }
    chain->files[chain->count++] =
        (struct msi_chain_file){.id = id, .bytes = part->file_bytes, .crc = part->file_crc};
}

/*
 * Extends the chains before the manifest is durable. If it does not become so, the tasks write in
 * full next time, which begins the chains anew: nothing has to be taken back.
 */
static void extend_chains(msi_coordinator *c)
{
    for (uint32_t i = 0; i < c->job->node_count; i++) {
        const msi_cut_part *part = part_of(c, c->job->nodes[i]);
        if (part != NULL && part->has_file) {
            extend_chain(&c->chains[i], part, c->id);
        }
    }
}

static void fill_op(const msi_coordinator *c, uint32_t index, ms_arena *arena, msi_manifest_op *op)
{
    const msi_node *node = c->job->nodes[index];
    const msi_task_record *record = &c->tasks[node->task->index];
    op->node_id = node->pnode->id;
    op->subtask = node->task->subtask;
    op->is_finished = record->is_finished || record->cut->has_ended;
    if (op->is_finished) {
        return;
    }
    const msi_cut_part *part = part_of(c, node);
    op->has_snapshot = part->has_snapshot;
    op->snapshot = ms_buf_view(&part->snapshot);
    const msi_chain *chain = &c->chains[index];
    msi_state_file *files = ms_arena_array(arena, msi_state_file, chain->count + 1);
    for (uint32_t f = 0; f < chain->count; f++) {
        files[f].name = msi_store_state_name(arena, op->node_id, op->subtask, chain->files[f].id);
        files[f].bytes = chain->files[f].bytes;
        files[f].crc = chain->files[f].crc;
    }
    op->file_count = chain->count;
    op->files = files;
}

/* Rows given out by all sources up to this checkpoint, in all runs. */
static uint64_t rows_read(const msi_coordinator *c)
{
    uint64_t rows = c->job->restored.rows_read;
    for (uint32_t i = 0; i < c->job->node_count; i++) {
        const msi_node *node = c->job->nodes[i];
        const msi_cut_part *part = part_of(c, node);
        if (node->pnode->kind == MS_PNODE_SOURCE) {
            /* Order relaxed: this thread wrote it. */
            rows += part != NULL ? part->rows_out
                                 : atomic_load_explicit(&node->gauges->rows_out_checkpoint,
                                                        memory_order_relaxed);
        }
    }
    return rows;
}

static void fill_blobs(msi_coordinator *c, ms_arena *arena, msi_manifest *manifest)
{
    msi_manifest_blob *states = ms_arena_array(arena, msi_manifest_blob, c->source_count + 1);
    for (uint32_t i = 0; i < c->source_count; i++) {
        if (c->sources[i].enumerator != NULL) {
            states[manifest->enumerator_count++] = (msi_manifest_blob){
                .node_id = c->sources[i].pnode->id, .bytes = ms_buf_view(&c->sources[i].snapshot)};
        }
    }
    manifest->enumerators = states;
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->target_count; i++) {
        count += c->targets[i].waiting_count;
    }
    msi_manifest_blob *blobs = ms_arena_array(arena, msi_manifest_blob, count + 1);
    for (uint32_t i = 0; i < c->target_count; i++) {
        for (const msi_committable *w = c->targets[i].waiting; w != NULL; w = w->next) {
            blobs[manifest->committable_count++] = (msi_manifest_blob){
                .node_id = c->targets[i].pnode->id, .bytes = ms_buf_view(&w->bytes)};
        }
    }
    manifest->committables = blobs;
}

static ms_rc encode(msi_coordinator *c, ms_arena *arena, ms_status *st)
{
    ms_job *job = c->job;
    msi_manifest manifest = {.id = c->id,
                             .job_name = job->options.name,
                             .plan_text = job->plan_text,
                             .sql = job->plan->sql,
                             .rows_read = rows_read(c),
                             .op_count = job->node_count};
    msi_manifest_op *ops = ms_arena_array(arena, msi_manifest_op, job->node_count);
    for (uint32_t i = 0; i < job->node_count; i++) {
        fill_op(c, i, arena, &ops[i]);
    }
    manifest.ops = ops;
    fill_blobs(c, arena, &manifest);
    ms_buf_reset(&c->work.bytes);
    return msi_manifest_encode(&manifest, &c->work.bytes, st);
}

static void write_manifest(msi_coordinator *c)
{
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_status st = {0};
    extend_chains(c);
    if (encode(c, &arena, &st) == MS_OK) {
        c->checkpoint = MSI_CHECKPOINT_WRITING;
        start_work(c, run_manifest);
    } else {
        give_up(c, &st);
    }
    ms_arena_release(&arena);
}

/* ---- Committing ---- */

/* The checkpoint is complete: what it says holds from now on. */
static void note_complete(msi_coordinator *c)
{
    ms_job *job = c->job;
    c->work.progress = (msi_progress){.id = c->id, .rows_read = rows_read(c)};
    for (uint32_t i = 0; i < job->node_count; i++) {
        const msi_cut_part *part = part_of(c, job->nodes[i]);
        if (part != NULL) {
            /* Order relaxed: gauges. */
            atomic_store_explicit(&job->nodes[i]->gauges->rows_out_checkpoint, part->rows_out,
                                  memory_order_relaxed);
            atomic_store_explicit(&job->nodes[i]->gauges->rows_in_committed, part->rows_in,
                                  memory_order_relaxed);
        }
    }
    for (uint32_t t = 0; t < job->task_count; t++) {
        msi_task_record *record = &c->tasks[t];
        record->is_finished |= record->cut != NULL && record->cut->has_ended;
        msi_cut_destroy(record->cut);
        record->cut = NULL;
    }
    c->failures = 0;
    if (has_store(c)) {
        c->complete[1] = c->complete[0];
        c->complete[0] = c->id;
        atomic_fetch_add_explicit(&job->checkpoints_completed, 1, memory_order_relaxed);
        atomic_store_explicit(&job->checkpoint_id, c->id, memory_order_relaxed);
        ms_log(MS_LOG_INFO, "checkpoint", "completed",
               "job=\"%.*s\" id=%" PRIu64 " rows_read=%" PRIu64, MS_STR_ARG(job->options.name),
               c->id, c->work.progress.rows_read);
    }
}

static bool pass_fault(msi_coordinator *c, const char *point)
{
    if (!ms_env_fault(point)) {
        return true;
    }
    ms_status st = {0};
    ms_status_set(&st, MS_IO_ERROR, ms_span_none, "could not commit: injected fault");
    msi_coordinator_end(c, MS_JOB_STATE_FAILED, &st);
    return false;
}

static void commit(msi_coordinator *c)
{
    c->checkpoint = MSI_CHECKPOINT_COMMITTING;
    if (!pass_fault(c, "commit.before")) {
        return;
    }
    for (uint32_t i = 0; i < c->target_count; i++) {
        msi_target *target = &c->targets[i];
        if (target->waiting_count == 0 || target->committer == NULL) {
            continue;
        }
        ms_mem_free(target->committing);
        target->committing = ms_mem_calloc(target->waiting_count, sizeof(ms_str));
        uint32_t count = 0;
        for (const msi_committable *w = target->waiting; w != NULL; w = w->next) {
            target->committing[count++] = ms_buf_view(&w->bytes);
        }
        target->committer->klass->commit(target->committer, c->id, target->committing, count,
                                         msi_coordinator_token(c));
    }
}

/* Everything is written and committed: on to the next, or to the end. */
static void complete(msi_coordinator *c)
{
    c->checkpoint = MSI_CHECKPOINT_NONE;
    if (all_finished(c)) {
        c->is_finishing = true;
    } else if (c->is_stop) {
        msi_coordinator_end(c, MS_JOB_STATE_STOPPED, NULL);
    }
}

static void committed(msi_coordinator *c)
{
    if (!pass_fault(c, "commit.after")) {
        return;
    }
    for (uint32_t i = 0; i < c->target_count; i++) {
        drop_committables(&c->targets[i]);
    }
    msi_job_served(c->job, c->ticket, c->id, NULL);
    if (!has_store(c) || all_finished(c)) {
        complete(c);
        return;
    }
    c->checkpoint = MSI_CHECKPOINT_SWEEPING;
    c->work.keep[0] = c->complete[0];
    c->work.keep[1] = c->complete[1];
    start_work(c, run_sweep);
}

/* ---- The tick ---- */

/* Every task is finished: leaves the progress record, then the job has finished. */
static void finish(msi_coordinator *c)
{
    if (!has_store(c)) {
        msi_coordinator_end(c, MS_JOB_STATE_FINISHED, NULL);
    } else if (take_back(c)) {
        bool is_ok = c->work.rc == MS_OK;
        msi_coordinator_end(c, is_ok ? MS_JOB_STATE_FINISHED : MS_JOB_STATE_FAILED,
                            is_ok ? NULL : &c->work.st);
    } else if (!c->work.is_running) {
        if (c->work.progress.id == 0) {
            c->work.progress =
                (msi_progress){.id = c->job->restored.id, .rows_read = c->job->restored.rows_read};
        }
        start_work(c, run_finish);
    }
}

static void advance(msi_coordinator *c)
{
    switch (c->checkpoint) {
    case MSI_CHECKPOINT_NONE:
        begin_when_due(c);
        break;
    case MSI_CHECKPOINT_COLLECTING:
        if (has_all_cuts(c)) {
            for (uint32_t t = 0; t < c->job->task_count; t++) {
                if (c->tasks[t].cut != NULL) {
                    keep_committables(c, &c->job->tasks[t], c->tasks[t].cut);
                }
            }
            if (has_store(c)) {
                write_manifest(c);
            } else {
                note_complete(c);
                commit(c);
            }
        } else if (ms_env_mono_ns() >= c->deadline_ns) {
            time_out(c);
        }
        break;
    case MSI_CHECKPOINT_WRITING:
        if (!take_back(c)) {
            break;
        }
        if (c->work.rc == MS_OK) {
            note_complete(c);
            commit(c);
        } else {
            give_up(c, &c->work.st);
        }
        break;
    case MSI_CHECKPOINT_COMMITTING:
        if (c->tokens_out == 0) {
            committed(c);
        }
        break;
    case MSI_CHECKPOINT_SWEEPING:
        if (take_back(c)) {
            if (c->work.rc != MS_OK) {
                ms_log(MS_LOG_WARN, "checkpoint", "sweep", "reason=\"%s\"", c->work.st.message);
            }
            complete(c);
        }
        break;
    }
}

static void set_timer(msi_coordinator *c)
{
    if (c->checkpoint == MSI_CHECKPOINT_COLLECTING) {
        msi_actor_wake_at(&c->actor, c->deadline_ns);
    } else if (c->checkpoint == MSI_CHECKPOINT_NONE && c->next_ns != 0) {
        msi_actor_wake_at(&c->actor, c->next_ns);
    }
}

void msi_checkpoint_tick(msi_coordinator *c)
{
    /* Each phase may be over at once: a job without a directory goes through all of them here. */
    for (;;) {
        if (c->phase != MSI_COORDINATOR_RUNNING) {
            return;
        }
        if (c->is_finishing) {
            finish(c);
            return;
        }
        msi_checkpoint_phase before = c->checkpoint;
        advance(c);
        if (c->checkpoint == before && !c->is_finishing) {
            break;
        }
    }
    if (c->phase == MSI_COORDINATOR_RUNNING) {
        set_timer(c);
    }
}
