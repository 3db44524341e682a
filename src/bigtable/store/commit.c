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
 * Deletes read the store, so a batch with deletes must not hold a row twice: the second entry of a
 * row starts a new batch, which sees the first.
 */
#include "base/env.h"
#include "base/memory.h"
#include "bigtable/store/store_priv.h"

/* Large enough that the fixed cost of a write is nothing, small enough for a memtable. */
#define BATCH_BYTES ((size_t)4 << 20)
#define BATCH_MUTATIONS 32768u
/* Some tens of milliseconds of a pool thread. */
#define TURN_BYTES ((size_t)16 << 20)

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
    };
}

void msi_commit_release(ms_bt_store *store)
{
    msi_commit *commit = &store->commit;
    ms_kv_batch_destroy(commit->batch);
    msi_row_set_destroy(commit->rows);
    ms_mem_free(commit->key);
    ms_mem_free(commit->bound);
}

/* Ends of calls. */

/* Gives back what the leader keeps for a call and ends it. */
static void finish(ms_bt_call *call)
{
    msi_item *item = msi_store_item(call);
    if (item->family_ids != item->own_family_ids) {
        ms_mem_free(item->family_ids);
    }
    msi_schema_drop(item->schema);
    ms_bt_call_finish(call);
}

static void finish_all(msi_call_list *list, const ms_bt_status *failure)
{
    for (ms_bt_call *call = msi_call_list_pop(list); call != NULL; call = msi_call_list_pop(list)) {
        if (failure != NULL) {
            call->status = *failure;
        }
        finish(call);
    }
}

/* A write failed: nobody knows what became of the calls of this turn, and no later one is tried. */
static void fail_all(ms_bt_store *store, const ms_status *cause)
{
    msi_commit *commit = &store->commit;
    ms_bt_status bt = {0};
    msi_store_poison(store, cause, &bt);
    ms_kv_batch_reset(commit->batch);
    commit->batch_bytes = 0;
    commit->batch_mutations = 0;
    finish_all(&commit->done, &bt);
    finish_all(&commit->pending, &bt);
}

/* Batches. */

static void begin_batch(msi_commit *commit)
{
    int64_t now = ms_env_wall_us();
    commit->micros = now > commit->last_micros ? now : commit->last_micros + 1;
    if (commit->rows != NULL) {
        msi_row_set_reset(commit->rows);
    }
}

static bool is_batch_empty(const msi_commit *commit)
{
    return commit->batch_mutations == 0;
}

ms_rc msi_commit_write(ms_bt_store *store, ms_kv_sync_mode mode, ms_status *st)
{
    msi_commit *commit = &store->commit;
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
        MS_TRY(msi_commit_write(store, MS_KV_NO_SYNC, st));
    }
    begin_batch(&store->commit);
    return MS_OK;
}

/* Checks. */

/* Finds the incarnations of the families that a batch names; 0 for those the table lacks. Returns
 * whether all are known. */
static bool resolve_families(msi_item *item, const ms_bt_mutation_batch *batch)
{
    uint32_t count = ms_bt_mutation_batch_family_count(batch);
    item->family_ids =
        count <= MSI_ITEM_FAMILIES ? item->own_family_ids : ms_mem_alloc(count * sizeof(uint32_t));
    bool all_known = true;
    for (uint32_t i = 0; i < count; i++) {
        ms_str name = ms_bt_mutation_batch_family_name(batch, (uint16_t)i);
        const ms_bt_family *family = ms_bt_table_family(item->table->def, name);
        item->family_ids[i] =
            family == NULL ? 0 : item->table->family_ids[family - item->table->def->families];
        all_known = all_known && family != NULL;
    }
    return all_known;
}

/* A batch may know names that no entry uses; only a used one is an error. */
static ms_bt_code check_families(const msi_item *item, const ms_bt_mutation_batch *batch,
                                 ms_bt_status *bt)
{
    ms_bt_mutation_cursor cursor = ms_bt_mutation_cursor_make(batch);
    ms_bt_mutation_entry entry;
    ms_bt_mutation mutation;
    while (ms_bt_mutation_cursor_next_entry(&cursor, &entry)) {
        while (ms_bt_mutation_cursor_next(&cursor, &mutation)) {
            if (mutation.kind != MS_BT_MUTATION_DELETE_FROM_ROW &&
                item->family_ids[mutation.family] == 0) {
                char key[128];
                char path[MS_BT_TABLE_PATH_BYTES];
                ms_bt_table_name_path(&item->table->def->name, path);
                return ms_bt_status_set(bt, MS_BT_NOT_FOUND,
                                        "Error while mutating the row '%s' (%s) : Requested column "
                                        "family not found.",
                                        ms_bt_bytes_text(entry.key, key, sizeof(key)), path);
            }
        }
    }
    return MS_BT_OK;
}

/* The whole request is checked before anything of it is written. */
static ms_bt_code begin_call(ms_bt_store *store, ms_bt_mutate_rows *call)
{
    ms_bt_status *bt = &call->call.status;
    msi_item *item = msi_store_item(&call->call);
    item->is_begun = true;
    if (ms_bt_call_is_canceled(&call->call)) {
        return ms_bt_status_set(bt, MS_BT_CANCELLED, "The call was canceled before it began");
    }
    item->schema = msi_store_schema(store);
    item->table = msi_schema_find(item->schema, call->table);
    if (item->table == NULL) {
        return msi_store_no_table(item->schema, call->table, bt);
    }
    MS_BT_TRY(ms_bt_mutation_batch_check(call->batch, item->table->def->granularity_micros, bt));
    if (!resolve_families(item, call->batch)) {
        MS_BT_TRY(check_families(item, call->batch, bt));
    }
    item->cursor = ms_bt_mutation_cursor_make(call->batch);
    return MS_BT_OK;
}

/* A turn. */

/* Has the batch room for the entry, and may it hold the entry at all? */
static bool fits(msi_commit *commit, const msi_item *item, const ms_bt_mutation_entry *entry)
{
    if (commit->has_deletes) {
        if (commit->rows == NULL) {
            commit->rows = msi_row_set_create();
        }
        if (!msi_row_set_add(commit->rows, item->table->id, entry->key)) {
            return false;
        }
    }
    return is_batch_empty(commit) ||
           (commit->batch_bytes + entry->bytes <= BATCH_BYTES &&
            commit->batch_mutations + entry->mutation_count <= BATCH_MUTATIONS);
}

/* Encodes entries of a call until it is done or the turn's bytes are used up. */
static ms_rc encode_call(ms_bt_store *store, ms_bt_mutate_rows *call, size_t *turn_bytes,
                         bool *is_done, ms_status *st)
{
    msi_commit *commit = &store->commit;
    msi_item *item = msi_store_item(&call->call);
    *is_done = false;
    ms_bt_mutation_entry entry;
    while (*turn_bytes < TURN_BYTES) {
        if (!ms_bt_mutation_cursor_next_entry(&item->cursor, &entry)) {
            *is_done = true;
            return MS_OK;
        }
        if (!fits(commit, item, &entry)) {
            MS_TRY(next_batch(store, st));
            (void)fits(commit, item, &entry);
        }
        MS_TRY(msi_encode_entry(store, item, &item->cursor, &entry, st));
        *turn_bytes += entry.bytes;
    }
    return MS_OK;
}

/* Acknowledges what was encoded whole: the one place where writes become durable and known. */
static ms_rc complete_group(ms_bt_store *store, ms_status *st)
{
    msi_commit *commit = &store->commit;
    ms_kv_sync_mode mode = store->sync_mode == MS_BT_SYNC_GROUP ? MS_KV_SYNC : MS_KV_NO_SYNC;
    if (!is_batch_empty(commit)) {
        MS_TRY(msi_commit_write(store, mode, st));
        begin_batch(commit);
    } else if (mode == MS_KV_SYNC && commit->done.oldest != NULL) {
        MS_TRY(ms_kv_sync(store->kv, st));
    }
    finish_all(&commit->done, NULL);
    return MS_OK;
}

static ms_rc run_pending(ms_bt_store *store, ms_status *st)
{
    msi_commit *commit = &store->commit;
    size_t turn_bytes = 0;
    begin_batch(commit);
    for (ms_bt_call *call = commit->pending.oldest; call != NULL && turn_bytes < TURN_BYTES;
         call = commit->pending.oldest) {
        if (call->kind != MS_BT_CALL_MUTATE_ROWS) {
            /* What came before is written first, and what comes after sees the change. */
            MS_TRY(complete_group(store, st));
            (void)msi_call_list_pop(&commit->pending);
            msi_call_list_push(&commit->done, call);
            msi_admin_change(store, call, st);
            if (st->code != MS_OK) {
                return st->code;
            }
            finish_all(&commit->done, NULL);
            begin_batch(commit);
            continue;
        }
        ms_bt_mutate_rows *write = ms_bt_call_mutate_rows(call);
        msi_item *item = msi_store_item(call);
        if (!item->is_begun && begin_call(store, write) != MS_BT_OK) {
            finish(msi_call_list_pop(&commit->pending));
            continue;
        }
        bool is_done = false;
        MS_TRY(encode_call(store, write, &turn_bytes, &is_done, st));
        if (is_done) {
            msi_call_list_push(&commit->done, msi_call_list_pop(&commit->pending));
        }
    }
    return complete_group(store, st);
}

/* Do deletes matter to this turn? They read the store and need every row once in a batch. */
static bool any_deletes(const msi_call_list *pending)
{
    for (ms_bt_call *call = pending->oldest; call != NULL; call = msi_store_item(call)->next) {
        if (call->kind == MS_BT_CALL_MUTATE_ROWS &&
            ms_bt_mutation_batch_has_deletes(ms_bt_call_mutate_rows(call)->batch)) {
            return true;
        }
    }
    return false;
}

static void run_turn(ms_iojob *job)
{
    ms_bt_store *store = (ms_bt_store *)(void *)((char *)job - offsetof(ms_bt_store, leader_job));
    msi_commit *commit = &store->commit;
    bool again = true;
    while (again) {
        ms_mutex_lock(&store->queue_mutex);
        msi_call_list_append(&commit->pending, &store->queue);
        bool is_poisoned = store->is_poisoned;
        ms_mutex_unlock(&store->queue_mutex);
        if (is_poisoned) {
            finish_all(&commit->pending, &store->poison);
        }
        commit->has_deletes = any_deletes(&commit->pending);
        ms_status st = {0};
        if (run_pending(store, &st) != MS_OK) {
            fail_all(store, &st);
        }
        ms_mutex_lock(&store->queue_mutex);
        again = commit->pending.oldest != NULL || store->queue.oldest != NULL;
        if (!again) {
            store->is_leading = false;
            ms_cond_broadcast(&store->queue_idle);
        }
        ms_mutex_unlock(&store->queue_mutex);
        ms_status full = {0};
        if (again && ms_iopool_submit(store->pool, job, &full) == MS_OK) {
            return;
        }
    }
}

/* The queue. */

/* The pool takes no more jobs: nobody would come for what is queued, so it is refused. */
static void refuse_queue(ms_bt_store *store, const ms_status *cause)
{
    ms_bt_status bt = {0};
    ms_bt_status_from(&bt, MS_BT_RESOURCE_EXHAUSTED, cause);
    msi_call_list refused = {NULL, NULL};
    ms_mutex_lock(&store->queue_mutex);
    msi_call_list_append(&refused, &store->queue);
    store->is_leading = false;
    ms_cond_broadcast(&store->queue_idle);
    ms_mutex_unlock(&store->queue_mutex);
    finish_all(&refused, &bt);
}

void msi_commit_enqueue(ms_bt_store *store, ms_bt_call *call)
{
    ms_mutex_lock(&store->queue_mutex);
    bool is_refused = store->is_poisoned;
    bool must_lead = !is_refused && !store->is_leading;
    if (is_refused) {
        call->status = store->poison;
    } else {
        msi_call_list_push(&store->queue, call);
        store->is_leading = true;
    }
    ms_mutex_unlock(&store->queue_mutex);
    if (is_refused) {
        finish(call);
        return;
    }
    if (!must_lead) {
        return;
    }
    store->leader_job = (ms_iojob){.run = run_turn};
    ms_status st = {0};
    if (ms_iopool_submit(store->pool, &store->leader_job, &st) != MS_OK) {
        refuse_queue(store, &st);
    }
}

void msi_commit_drain(ms_bt_store *store)
{
    ms_mutex_lock(&store->queue_mutex);
    while (store->is_leading) {
        ms_cond_wait(&store->queue_idle, &store->queue_mutex);
    }
    ms_mutex_unlock(&store->queue_mutex);
}
