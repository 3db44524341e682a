/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commit queue. Any thread pushes calls; one turn at a time, the leader's, takes all that are
 * there, checks each whole before anything of it is written, encodes entries into batches, writes
 * them, syncs once if the mode says so, and only then acknowledges. What queues up meanwhile is the
 * next group. A turn ends by itself after TURN_BYTES and submits the next one, so that a call of
 * any size shares the pool and the other callers get through.
 *
 *     queue -> pending -> (encode) -> done -> (write, sync) -> finished
 *
 * Because one turn runs at a time, the leader needs no locks: it reads what the store holds, adds
 * what it decides, and nobody else writes in between. The timestamp of a batch is the wall clock or
 * one microsecond more than the last one, whichever is later, and is written with the batch, so
 * that time never steps back, not even over a restart.
 *
 * Some entries read the store: deletes, aggregates, the calls on single rows. These must not join a
 * batch that holds what they would read (row_set.h): they start a new batch, which sees it. What
 * the overlay has of the batch under way is known, though, and needs no new one.
 */
#include "base/env.h"
#include "base/memory.h"
#include "bigtable/store/record.h"
#include "bigtable/store/row_set.h"
#include "bigtable/store/scan_row.h"
#include "bigtable/store/store_priv.h"

/* Large enough that the fixed cost of a write is nothing, small enough for a memtable. */
#define BATCH_BYTES ((size_t)4 << 20)
#define BATCH_MUTATIONS 32768u
/* Some tens of milliseconds of a pool thread. */
#define TURN_BYTES ((size_t)16 << 20)
/* What a step of another call counts for. */
#define STEP_BYTES ((size_t)1 << 20)
/* What a call on a single row counts for beside its bytes: a seek costs as much as writing them. */
#define SINGLE_ROW_BYTES ((size_t)1 << 10)

/* Lists. */

void msi_call_list_push(msi_call_list *list, ms_bt_call *call)
{
    msi_store_item(call)->next = NULL;
    if (list->newest == NULL) {
        list->oldest = call;
    } else {
        msi_store_item(list->newest)->next = call;
    }
    list->newest = call;
}

ms_bt_call *msi_call_list_pop(msi_call_list *list)
{
    ms_bt_call *call = list->oldest;
    if (call != NULL) {
        list->oldest = msi_store_item(call)->next;
        if (list->oldest == NULL) {
            list->newest = NULL;
        }
    }
    return call;
}

void msi_call_list_append(msi_call_list *to, msi_call_list *from)
{
    if (from->oldest == NULL) {
        return;
    }
    if (to->newest == NULL) {
        to->oldest = from->oldest;
    } else {
        msi_store_item(to->newest)->next = from->oldest;
    }
    to->newest = from->newest;
    *from = (msi_call_list){NULL, NULL};
}

/* Life. */

void msi_commit_init(ms_bt_store *store, int64_t last_micros)
{
    store->commit = (msi_commit){
        .batch = ms_kv_batch_create(),
        .last_micros = last_micros,
        .key = ms_mem_alloc(MSI_KEY_BYTES_MAX),
        .bound = ms_mem_alloc(MSI_KEY_BYTES_MAX),
        .log = msi_log_create(),
        .overlay = msi_overlay_create(),
        .trial = msi_overlay_create(),
        .matcher = msi_row_matcher_create(),
    };
    ms_buf_init(&store->commit.value, MS_BT_LIMIT_VALUE_BYTES);
    ms_arena_init(&store->commit.scratch, 0);
}

void msi_commit_release(ms_bt_store *store)
{
    msi_commit *commit = &store->commit;
    ms_kv_batch_destroy(commit->batch);
    msi_row_set_destroy(commit->rows);
    msi_log_destroy(commit->log);
    msi_overlay_destroy(commit->overlay);
    msi_overlay_destroy(commit->trial);
    msi_once_destroy(commit->once);
    msi_row_matcher_destroy(commit->matcher);
    ms_buf_release(&commit->value);
    ms_arena_release(&commit->scratch);
    ms_mem_free(commit->key);
    ms_mem_free(commit->bound);
}

/* Ends of calls. */

/* How many mutations a call counts for in the queue. */
static uint32_t mutations_of(ms_bt_call *call)
{
    if (call->kind == MS_BT_CALL_MUTATE_ROWS) {
        return ms_bt_mutation_batch_mutations(ms_bt_call_mutate_rows(call)->batch);
    }
    return call->kind == MS_BT_CALL_CHECK_AND_MUTATE || call->kind == MS_BT_CALL_READ_MODIFY_WRITE;
}

/* Gives back what the leader keeps for a call and ends it, when the outbox is sent. */
static void finish(ms_bt_call *call, ms_outbox *outbox)
{
    msi_item *item = msi_store_item(call);
    msi_request_release(item);
    msi_schema_drop(item->schema);
    if (item->finished != NULL) {
        item->finished(call);
    } else {
        ms_bt_call_finish_in(call, outbox);
    }
}

static void finish_all(ms_bt_store *store, msi_call_list *list, const ms_bt_status *failure)
{
    uint64_t mutations = 0;
    for (ms_bt_call *call = list->oldest; call != NULL; call = msi_store_item(call)->next) {
        mutations += mutations_of(call);
    }
    /* Before they end, because who sees that may send the next ones at once. */
    ms_mutex_lock(&store->queue_mutex);
    store->queued_mutations -= mutations;
    ms_mutex_unlock(&store->queue_mutex);
    ms_outbox outbox = {.count = 0};
    for (ms_bt_call *call = msi_call_list_pop(list); call != NULL; call = msi_call_list_pop(list)) {
        if (failure != NULL) {
            call->status = *failure;
        }
        finish(call, &outbox);
    }
    ms_outbox_send(&outbox);
}

/* A write failed: nobody knows what became of the calls of this turn, and no later one is tried. */
static void fail_all(ms_bt_store *store, const ms_status *cause)
{
    msi_commit *commit = &store->commit;
    ms_bt_status bt = {0};
    msi_store_poison(store, cause, &bt);
    ms_kv_batch_reset(commit->batch);
    msi_overlay_reset(commit->overlay);
    commit->batch_bytes = 0;
    commit->batch_mutations = 0;
    finish_all(store, &commit->done, &bt);
    finish_all(store, &commit->pending, &bt);
}

/* Batches. */

void msi_commit_begin(ms_bt_store *store)
{
    msi_commit *commit = &store->commit;
    int64_t now = ms_env_wall_us();
    commit->wall_micros = now;
    commit->micros = now > commit->last_micros ? now : commit->last_micros + 1;
    if (commit->rows != NULL) {
        msi_row_set_reset(commit->rows);
    }
    if (commit->once != NULL) {
        msi_once_reset(commit->once);
    }
}

static bool is_batch_empty(const msi_commit *commit)
{
    return commit->batch_mutations == 0;
}

ms_rc msi_commit_write(ms_bt_store *store, ms_kv_sync_mode mode, ms_status *st)
{
    msi_commit *commit = &store->commit;
    MS_TRY(msi_overlay_put(commit->overlay, commit->batch, st));
    msi_overlay_reset(commit->overlay);
    msi_clock_put(commit->batch, commit->micros);
    ms_rc rc = ms_kv_write(store->kv, commit->batch, mode, st);
    ms_kv_batch_reset(commit->batch);
    commit->last_micros = commit->micros;
    commit->batch_bytes = 0;
    commit->batch_mutations = 0;
    return rc;
}

/* Writes a full batch, or one that may not hold the next entry, and begins another. The sync of
 * the group comes with its last write. */
static ms_rc next_batch(ms_bt_store *store, ms_status *st)
{
    if (!is_batch_empty(&store->commit)) {
        if (msi_commit_mode(store) == MS_KV_SYNC) {
            msi_view_hold(store);
        }
        MS_TRY(msi_commit_write(store, MS_KV_NO_SYNC, st));
    }
    msi_commit_begin(store);
    return MS_OK;
}

/* May the batch under way hold an entry that does this to a row, beside what is in it? */
static bool may_join(msi_commit *commit, uint32_t table, ms_str row, uint32_t use)
{
    if (!commit->reads) {
        return true;
    }
    if (commit->rows == NULL) {
        commit->rows = msi_row_set_create();
    }
    return msi_row_set_add(commit->rows, table, row, use);
}

ms_rc msi_commit_admit(ms_bt_store *store, const msi_table *table, ms_str row, uint32_t use,
                       size_t bytes, uint32_t mutations, ms_status *st)
{
    msi_commit *commit = &store->commit;
    bool has_room =
        is_batch_empty(commit) || (commit->batch_bytes + bytes <= BATCH_BYTES &&
                                   commit->batch_mutations + mutations <= BATCH_MUTATIONS);
    if (has_room && may_join(commit, table->id, row, use)) {
        return MS_OK;
    }
    MS_TRY(next_batch(store, st));
    (void)may_join(commit, table->id, row, use);
    return MS_OK;
}

/* A turn. */

/* Was the entry, which carries a token, applied before? Else notes that it is now. */
static ms_rc apply_once(ms_bt_store *store, const msi_item *item, const ms_bt_mutation_entry *entry,
                        bool *is_applied_out, ms_status *st)
{
    msi_commit *commit = &store->commit;
    if (commit->once == NULL) {
        commit->once = msi_once_create();
    }
    uint32_t table = item->table->id;
    msi_once_answer answer;
    MS_TRY(msi_once_ask(commit->once, store->kv, table, entry, commit->micros, &answer, st));
    if (answer == MSI_ONCE_UNKNOWN) {
        MS_TRY(next_batch(store, st));
        MS_TRY(msi_once_ask(commit->once, store->kv, table, entry, commit->micros, &answer, st));
    }
    *is_applied_out = answer == MSI_ONCE_APPLIED;
    return MS_OK;
}

static ms_rc encode_entry(ms_bt_store *store, msi_item *item, const ms_bt_mutation_entry *entry,
                          ms_status *st)
{
    msi_commit *commit = &store->commit;
    bool is_once = entry->token.bytes > 0 && (entry->kinds & MS_BT_MUTATION_AGGREGATES) != 0;
    if (is_once) {
        bool is_applied = false;
        MS_TRY(apply_once(store, item, entry, &is_applied, st));
        if (is_applied) {
            return MS_OK;
        }
    }
    MS_TRY(msi_commit_admit(store, item->table, entry->key, msi_entry_use(entry), entry->bytes,
                            entry->mutation_count, st));
    if (is_once) {
        msi_once_note(commit->once, commit->batch, item->table->id, entry, commit->micros);
    }
    return msi_encode_entry(store, item, &item->cursor, entry, st);
}

/* Encodes entries of a call until it is done or the turn's bytes are used up. */
static ms_rc encode_call(ms_bt_store *store, ms_bt_mutate_rows *call, size_t *turn_bytes,
                         bool *is_done, ms_status *st)
{
    msi_item *item = msi_store_item(&call->call);
    *is_done = false;
    ms_bt_mutation_entry entry;
    while (*turn_bytes < TURN_BYTES) {
        if (!ms_bt_mutation_cursor_next_entry(&item->cursor, &entry)) {
            *is_done = true;
            return MS_OK;
        }
        MS_TRY(encode_entry(store, item, &entry, st));
        *turn_bytes += entry.bytes;
    }
    return MS_OK;
}

/* Does what there is to do of the oldest pending call, as far as the turn goes. */
static ms_rc run_call(ms_bt_store *store, ms_bt_call *call, size_t *turn_bytes, bool *is_done,
                      ms_status *st)
{
    if (call->kind == MS_BT_CALL_MUTATE_ROWS) {
        return encode_call(store, ms_bt_call_mutate_rows(call), turn_bytes, is_done, st);
    }
    size_t bytes = 0;
    *is_done = true;
    ms_rc rc = call->kind == MS_BT_CALL_READ_MODIFY_WRITE
                   ? msi_single_row_modify(store, ms_bt_call_read_modify_write(call), &bytes, st)
                   : msi_single_row_check(store, ms_bt_call_check_and_mutate(call), &bytes, st);
    *turn_bytes += bytes + SINGLE_ROW_BYTES;
    return rc;
}

/* Acknowledges what was encoded whole: the one place where writes become durable and known. */
static ms_rc complete_group(ms_bt_store *store, ms_status *st)
{
    msi_commit *commit = &store->commit;
    ms_kv_sync_mode mode = msi_commit_mode(store);
    if (!is_batch_empty(commit)) {
        MS_TRY(msi_commit_write(store, mode, st));
        msi_view_let_go(store);
        msi_commit_begin(store);
    } else if (mode == MS_KV_SYNC && commit->done.oldest != NULL) {
        MS_TRY(ms_kv_sync(store->kv, st));
        msi_view_let_go(store);
    }
    msi_log_publish(store);
    finish_all(store, &commit->done, NULL);
    return MS_OK;
}

/* One step of the oldest pending call. What came before it is written first, and what comes after
 * sees what it did. */
static ms_rc run_step(ms_bt_store *store, ms_bt_call *call, ms_status *st)
{
    msi_commit *commit = &store->commit;
    MS_TRY(complete_group(store, st));
    (void)msi_call_list_pop(&commit->pending);
    msi_call_list_push(&commit->done, call);
    bool is_over = msi_store_item(call)->step(store, call, st);
    if (st->code != MS_OK) {
        return st->code;
    }
    msi_log_publish(store);
    if (is_over) {
        finish_all(store, &commit->done, NULL);
    } else {
        msi_call_list_append(&commit->pending, &commit->done);
    }
    msi_commit_begin(store);
    return MS_OK;
}

static ms_rc run_pending(ms_bt_store *store, ms_status *st)
{
    msi_commit *commit = &store->commit;
    size_t turn_bytes = 0;
    msi_commit_begin(store);
    for (ms_bt_call *call = commit->pending.oldest; call != NULL && turn_bytes < TURN_BYTES;
         call = commit->pending.oldest) {
        if (msi_store_item(call)->step != NULL) {
            MS_TRY(run_step(store, call, st));
            turn_bytes += STEP_BYTES;
            continue;
        }
        if (!msi_store_item(call)->is_begun && !msi_request_begin(store, call)) {
            msi_call_list refused = {NULL, NULL};
            msi_call_list_push(&refused, msi_call_list_pop(&commit->pending));
            finish_all(store, &refused, NULL);
            continue;
        }
        bool is_done = false;
        MS_TRY(run_call(store, call, &turn_bytes, &is_done, st));
        if (is_done) {
            msi_call_list_push(&commit->done, msi_call_list_pop(&commit->pending));
        }
    }
    return complete_group(store, st);
}

/* Does a call of this turn read what it writes? Then the rows of a batch matter. */
static bool any_reads(const msi_call_list *pending)
{
    for (ms_bt_call *call = pending->oldest; call != NULL; call = msi_store_item(call)->next) {
        if (call->kind == MS_BT_CALL_CHECK_AND_MUTATE ||
            call->kind == MS_BT_CALL_READ_MODIFY_WRITE) {
            return true;
        }
        if (call->kind == MS_BT_CALL_MUTATE_ROWS &&
            (ms_bt_mutation_batch_kinds(ms_bt_call_mutate_rows(call)->batch) &
             (MS_BT_MUTATION_DELETES | MS_BT_MUTATION_AGGREGATES)) != 0) {
            return true;
        }
    }
    return false;
}

/* A job that goes first is never refused. */
static void submit_leader(ms_bt_store *store)
{
    ms_status st = {0};
    ms_rc rc = ms_iopool_submit(store->pool, &store->leader_job, &st);
    MS_ASSERT(rc == MS_OK);
}

static void run_turn(ms_iojob *job)
{
    ms_bt_store *store = (ms_bt_store *)(void *)((char *)job - offsetof(ms_bt_store, leader_job));
    msi_commit *commit = &store->commit;
    ms_mutex_lock(&store->queue_mutex);
    msi_call_list_append(&commit->pending, &store->queue);
    bool is_poisoned = store->is_poisoned;
    ms_mutex_unlock(&store->queue_mutex);
    if (is_poisoned) {
        finish_all(store, &commit->pending, &store->poison);
    }
    commit->reads = any_reads(&commit->pending);
    ms_status st = {0};
    if (run_pending(store, &st) != MS_OK) {
        fail_all(store, &st);
    }
    ms_mutex_lock(&store->queue_mutex);
    bool again = commit->pending.oldest != NULL || store->queue.oldest != NULL;
    if (!again) {
        store->is_leading = false;
        ms_cond_broadcast(&store->queue_idle);
    }
    ms_mutex_unlock(&store->queue_mutex);
    if (again) {
        submit_leader(store);
    }
}

/* The queue. */

/* Takes a call into the queue unless it is refused. Under the mutex. */
static bool accept(ms_bt_store *store, ms_bt_call *call)
{
    uint32_t mutations = mutations_of(call);
    if (store->is_poisoned) {
        call->status = store->poison;
        return false;
    }
    if (store->queued_mutations > 0 && store->queued_mutations + mutations > store->queued_max) {
        ms_bt_status_set(&call->status, MS_BT_RESOURCE_EXHAUSTED,
                         "You have reached the limit of total mutations in your queue. Throttle "
                         "your usage and wait for operations to finish.");
        return false;
    }
    store->queued_mutations += mutations;
    msi_call_list_push(&store->queue, call);
    return true;
}

void msi_commit_enqueue(ms_bt_store *store, ms_bt_call *call)
{
    ms_mutex_lock(&store->queue_mutex);
    bool must_lead = false;
    bool is_accepted = accept(store, call);
    if (is_accepted) {
        must_lead = !store->is_leading;
        store->is_leading = true;
    }
    ms_mutex_unlock(&store->queue_mutex);
    if (!is_accepted) {
        ms_outbox outbox = {.count = 0};
        finish(call, &outbox);
        ms_outbox_send(&outbox);
        return;
    }
    if (!must_lead) {
        return;
    }
    store->leader_job = (ms_iojob){.run = run_turn, .goes_first = true};
    submit_leader(store);
}

void msi_commit_drain(ms_bt_store *store)
{
    ms_mutex_lock(&store->queue_mutex);
    while (store->is_leading) {
        ms_cond_wait(&store->queue_idle, &store->queue_mutex);
    }
    ms_mutex_unlock(&store->queue_mutex);
}
