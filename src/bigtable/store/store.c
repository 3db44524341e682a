/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store as a whole: its life, its catalog as others see it, what happens after a failed write,
 * and the face that it shows to clients (a transport).
 */
#include "bigtable/store/store.h"

#include "base/limits.h"
#include "base/log.h"
#include "base/memory.h"
#include "bigtable/store/record.h"
#include "bigtable/store/scan_row.h"
#include "bigtable/store/store_priv.h"

static const char *const sync_mode_names[MS_BT_SYNC_COUNT] = {
    [MS_BT_SYNC_GROUP] = "group",
    [MS_BT_SYNC_CHECKPOINT] = "checkpoint",
    [MS_BT_SYNC_OS] = "os",
};

const char *ms_bt_sync_mode_name(ms_bt_sync_mode mode)
{
    MS_ASSERT((unsigned)mode < MS_BT_SYNC_COUNT);
    return sync_mode_names[mode];
}

/* The catalog. */

msi_schema *msi_store_schema(ms_bt_store *store)
{
    ms_mutex_lock(&store->schema_mutex);
    msi_schema *schema = msi_schema_retain(store->schema);
    ms_mutex_unlock(&store->schema_mutex);
    return schema;
}

void msi_store_publish(ms_bt_store *store, msi_schema *schema)
{
    ms_mutex_lock(&store->schema_mutex);
    msi_schema *before = store->schema;
    store->schema = schema;
    ms_mutex_unlock(&store->schema_mutex);
    msi_schema_drop(before);
}

ms_bt_code msi_store_no_table(const msi_schema *schema, const ms_bt_table_name *name,
                              ms_bt_status *bt)
{
    if (!msi_schema_has_instance(schema, name)) {
        return ms_bt_instance_name_missing(name, bt);
    }
    return ms_bt_status_set(
        bt, MS_BT_NOT_FOUND, "table \"projects/%.*s/instances/%.*s/tables/%.*s\" not found",
        MS_STR_ARG(name->project), MS_STR_ARG(name->instance), MS_STR_ARG(name->table));
}

ms_bt_code msi_store_other_table(const ms_bt_table_name *name, ms_bt_status *bt)
{
    bt->hint = "Start the read again from its beginning: a part of it is of the table before.";
    return ms_bt_status_set(
        bt, MS_BT_NOT_FOUND,
        "table \"projects/%.*s/instances/%.*s/tables/%.*s\" was dropped and made "
        "again under a read",
        MS_STR_ARG(name->project), MS_STR_ARG(name->instance), MS_STR_ARG(name->table));
}

ms_bt_code msi_store_check_table(ms_bt_store *store, const msi_table *table, uint64_t since,
                                 ms_bt_status *bt)
{
    if (since % 2 == 0 && msi_store_catalog_changes(store) == since) {
        return MS_BT_OK;
    }
    ms_status st = {0};
    uint32_t id = 0;
    if (msi_record_table_id(store->kv, &table->def->name, &id, &st) != MS_OK) {
        return ms_bt_status_from(bt, msi_read_code(st.code), &st);
    }
    if (id == table->id) {
        return MS_BT_OK;
    }
    if (id != 0) {
        return msi_store_other_table(&table->def->name, bt);
    }
    msi_schema *schema = msi_store_schema(store);
    ms_bt_code code = msi_store_no_table(schema, &table->def->name, bt);
    msi_schema_drop(schema);
    return code;
}

/* Failure. */

void msi_store_poison(ms_bt_store *store, const ms_status *cause, ms_bt_status *bt)
{
    const char *reason = cause->detail[0] != '\0' ? cause->detail : cause->message;
    const char *cure = cause->code == MS_DISK_FULL ? "; free space, then start again" : "";
    ms_bt_status_set(bt, MS_BT_UNAVAILABLE, "The outcome of the write is unknown: %s%s", reason,
                     cure);
    ms_mutex_lock(&store->queue_mutex);
    ms_bt_status_set(&store->poison, MS_BT_UNAVAILABLE,
                     "The store takes no writes until it is opened again, because one failed: %s%s",
                     reason, cure);
    store->is_poisoned = true;
    ms_mutex_unlock(&store->queue_mutex);
}

bool msi_store_check_dir(ms_bt_store *store)
{
    ms_status st = {0};
    ms_file_info now;
    /* What cannot be looked at may well be there. */
    if (ms_file_stat(store->path, &now, &st) != MS_OK ||
        (now.device == store->opened.device && now.inode == store->opened.inode)) {
        return true;
    }
    const char *what = now.kind == MS_FILE_KIND_NONE ? "is gone" : "is another by now";
    ms_log(MS_LOG_ERROR, "bigtable", "directory_gone", "path=\"%s\" what=\"%s\"", store->path,
           what);
    ms_mutex_lock(&store->queue_mutex);
    if (!store->is_poisoned) {
        ms_bt_status_set(&store->poison, MS_BT_UNAVAILABLE,
                         "The store takes no writes until it is opened again: its directory "
                         "\"%s\" %s",
                         store->path, what);
        store->is_poisoned = true;
    }
    ms_mutex_unlock(&store->queue_mutex);
    return false;
}

/* Answers a writing call with what the store tells since a write failed. False: none did. */
static bool refuse_poisoned(ms_bt_store *store, ms_bt_call *call)
{
    ms_mutex_lock(&store->queue_mutex);
    bool is_poisoned = store->is_poisoned;
    if (is_poisoned) {
        call->status = store->poison;
    }
    ms_mutex_unlock(&store->queue_mutex);
    return is_poisoned;
}

/* The transport. */

void msi_store_begin_item(ms_bt_store *store, ms_bt_call *call, msi_step_fn step,
                          void (*finished)(ms_bt_call *call))
{
    msi_item *item = msi_store_item(call);
    memset(item, 0, sizeof(*item));
    item->store = store;
    item->step = step;
    item->finished = finished;
}

static void run_sync(ms_iojob *job)
{
    msi_item *item = MS_MAIL_OWNER(job, msi_item, job);
    ms_bt_call *call = (ms_bt_call *)(void *)((char *)item - offsetof(ms_bt_call, transport_state));
    ms_bt_store *store = item->store;
    ms_status st = {0};
    if (!refuse_poisoned(store, call) && ms_kv_sync(store->kv, &st) != MS_OK) {
        msi_store_poison(store, &st, &call->status);
    }
    ms_bt_call_finish(call);
}

static void run_sample(ms_iojob *job)
{
    msi_item *item = MS_MAIL_OWNER(job, msi_item, job);
    ms_bt_call *call = (ms_bt_call *)(void *)((char *)item - offsetof(ms_bt_call, transport_state));
    msi_sample_run(item->store, ms_bt_call_sample_row_keys(call));
    ms_bt_call_finish(call);
}

static void submit_job(ms_bt_store *store, ms_bt_call *call, void (*run)(ms_iojob *job))
{
    msi_item *item = msi_store_item(call);
    item->job = (ms_iojob){.run = run};
    ms_status st = {0};
    if (ms_iopool_submit(store->pool, &item->job, &st) != MS_OK) {
        ms_bt_status_from(&call->status, MS_BT_RESOURCE_EXHAUSTED, &st);
        ms_bt_call_finish(call);
    }
}

/* The steps of the calls that have some; NULL for writes of cells, and for what is no write. */
static const msi_step_fn steps[MS_BT_CALL_COUNT] = {
    [MS_BT_CALL_CREATE_TABLE] = msi_admin_change,
    [MS_BT_CALL_ADD_FAMILIES] = msi_admin_change,
    [MS_BT_CALL_MODIFY_FAMILIES] = msi_admin_change,
    [MS_BT_CALL_UPDATE_TABLE] = msi_admin_change,
    [MS_BT_CALL_DROP_TABLE] = msi_admin_change,
    [MS_BT_CALL_SPLIT_TABLET] = msi_admin_change,
    [MS_BT_CALL_MERGE_TABLETS] = msi_admin_change,
    [MS_BT_CALL_DROP_ROWS] = msi_admin_drop_rows,
    [MS_BT_CALL_CREATE_PROFILE] = msi_profile_change,
    [MS_BT_CALL_UPDATE_PROFILE] = msi_profile_change,
    [MS_BT_CALL_DELETE_PROFILE] = msi_profile_change,
};

static void start_sync(ms_bt_store *store, ms_bt_call *call)
{
    /* In mode GROUP everything acknowledged is synced; in mode OS nobody wants it to be. */
    if (store->sync_mode == MS_BT_SYNC_CHECKPOINT) {
        submit_job(store, call, run_sync);
    } else {
        (void)refuse_poisoned(store, call);
        ms_bt_call_finish(call);
    }
}

/* Does the instance exist? */
static void ping(ms_bt_store *store, ms_bt_call *call)
{
    const ms_bt_table_name *name = ms_bt_call_ping(call)->instance;
    msi_schema *schema = msi_store_schema(store);
    if (ms_bt_instance_name_check(name, &call->status) == MS_BT_OK) {
        if (msi_schema_has_instance(schema, name)) {
            (void)msi_profile_check(schema, name, call->app_profile, MSI_ACCESS_READ, NULL,
                                    &call->status);
        } else {
            (void)ms_bt_instance_name_missing(name, &call->status);
        }
    }
    msi_schema_drop(schema);
    ms_bt_call_finish(call);
}

static void start(ms_bt_transport *transport, ms_bt_call *call)
{
    ms_bt_store *store = (ms_bt_store *)(void *)transport;
    msi_store_begin_item(store, call, steps[call->kind], NULL);
    switch (call->kind) {
    case MS_BT_CALL_MUTATE_ROWS:
    case MS_BT_CALL_CHECK_AND_MUTATE:
    case MS_BT_CALL_READ_MODIFY_WRITE:
    case MS_BT_CALL_CREATE_TABLE:
    case MS_BT_CALL_ADD_FAMILIES:
    case MS_BT_CALL_MODIFY_FAMILIES:
    case MS_BT_CALL_UPDATE_TABLE:
    case MS_BT_CALL_DROP_TABLE:
    case MS_BT_CALL_DROP_ROWS:
    case MS_BT_CALL_SPLIT_TABLET:
    case MS_BT_CALL_MERGE_TABLETS:
    case MS_BT_CALL_CREATE_PROFILE:
    case MS_BT_CALL_UPDATE_PROFILE:
    case MS_BT_CALL_DELETE_PROFILE:
        msi_commit_enqueue(store, call);
        return;
    case MS_BT_CALL_SYNC:
        start_sync(store, call);
        return;
    case MS_BT_CALL_SAMPLE_ROW_KEYS:
        submit_job(store, call, run_sample);
        return;
    case MS_BT_CALL_PING:
        ping(store, call);
        return;
    case MS_BT_CALL_PARTITIONS:
        msi_change_partitions(store, call);
        return;
    case MS_BT_CALL_GET_TABLE:
    case MS_BT_CALL_LIST_TABLES:
        msi_admin_look(store, call);
        return;
    case MS_BT_CALL_COLLECT_GARBAGE:
        msi_gc_start(store, call);
        return;
    case MS_BT_CALL_GET_PROFILE:
    case MS_BT_CALL_LIST_PROFILES:
        msi_profile_look(store, call);
        return;
    case MS_BT_CALL_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

static const ms_bt_transport_class store_class = {
    .keeps_order = true,
    .start = start,
    .read_open = msi_scan_open,
    .read_fill = msi_scan_fill,
    .read_cancel = msi_scan_cancel,
    .read_close = msi_scan_close,
    .change_open = msi_change_open,
    .change_fill = msi_change_fill,
    .change_cancel = msi_change_cancel,
    .change_close = msi_change_close,
};

ms_bt_transport *ms_bt_store_transport(ms_bt_store *store)
{
    return &store->transport;
}

/* Life. */

static void destroy(ms_bt_store *store)
{
    if (store->commit.batch != NULL) {
        msi_commit_release(store);
    }
    msi_maintenance_release(store);
    msi_schema_drop(store->schema);
    msi_view_let_go(store);
    ms_kv_close(store->kv);
    ms_mem_free(store->path);
    ms_cond_release(&store->waiting.changed);
    ms_mutex_release(&store->waiting.mutex);
    ms_cond_release(&store->queue_idle);
    ms_mutex_release(&store->queue_mutex);
    ms_mutex_release(&store->schema_mutex);
    msi_scan_free_spares(store);
    ms_mutex_release(&store->view_mutex);
    ms_mem_free(store);
}

static ms_rc open_files(ms_bt_store *store, const ms_bt_store_options *options, ms_status *st)
{
    ms_kv_options kv = {.path = options->path,
                        .create = options->create,
                        .cache_bytes = options->cache_bytes,
                        .write_buffer_bytes = options->write_buffer_bytes};
    MS_TRY(ms_kv_open(&kv, &store->kv, st));
    MS_TRY(ms_file_stat(options->path, &store->opened, st));
    MS_TRY(msi_schema_load(store->kv, &store->schema, st));
    int64_t last_micros = 0;
    MS_TRY(msi_clock_load(store->kv, &last_micros, st));
    atomic_store_explicit(&store->safe_micros, last_micros, memory_order_relaxed);
    msi_commit_init(store, last_micros);
    return MS_OK;
}

ms_rc ms_bt_store_open(const ms_bt_store_options *options, ms_bt_store **store_out, ms_status *st)
{
    *store_out = NULL;
    ms_bt_store *store = ms_mem_calloc(1, sizeof(*store));
    store->transport.class = &store_class;
    store->pool = options->pool;
    size_t path_bytes = strlen(options->path) + 1;
    store->path = ms_mem_alloc(path_bytes);
    memcpy(store->path, options->path, path_bytes);
    store->sync_mode = options->sync_mode;
    store->row_bytes_max =
        options->row_bytes_max != 0 ? options->row_bytes_max : MS_BT_LIMIT_ROW_BYTES;
    store->queued_max = options->queued_mutations_max != 0 ? options->queued_mutations_max
                                                           : MS_BT_LIMIT_QUEUED_MUTATIONS;
    ms_mutex_init(&store->schema_mutex, MS_RANK_STORE_SCHEMA);
    msi_scan_init_spares(store);
    ms_mutex_init(&store->view_mutex, MS_RANK_STORE_VIEW);
    ms_mutex_init(&store->queue_mutex, MS_RANK_STORE_QUEUE);
    ms_cond_init(&store->queue_idle);
    ms_mutex_init(&store->waiting.mutex, MS_RANK_STORE_WAITING);
    ms_cond_init(&store->waiting.changed);
    store->waiting.next_look_ns = INT64_MAX;
    msi_maintenance_init(store, options);
    if (open_files(store, options, st) != MS_OK || msi_maintenance_start(store, st) != MS_OK) {
        destroy(store);
        return st->code;
    }
    *store_out = store;
    return MS_OK;
}

ms_rc ms_bt_store_close(ms_bt_store *store, ms_status *st)
{
    if (store == NULL) {
        return MS_OK;
    }
    msi_maintenance_stop(store);
    msi_commit_drain(store);
    ms_rc rc = MS_OK;
    if (store->sync_mode != MS_BT_SYNC_OS && !store->is_poisoned) {
        rc = ms_kv_sync(store->kv, st);
    }
    destroy(store);
    return rc;
}

ms_rc ms_bt_store_sync(ms_bt_store *store, ms_status *st)
{
    ms_rc rc = ms_kv_sync(store->kv, st);
    if (rc != MS_OK) {
        ms_bt_status bt = {0};
        msi_store_poison(store, st, &bt);
    }
    return rc;
}

ms_rc ms_bt_store_compact(ms_bt_store *store, ms_status *st)
{
    MS_TRY(ms_kv_flush(store->kv, st));
    ms_kv_compact(store->kv, (ms_str){NULL, 0}, (ms_str){NULL, 0});
    return MS_OK;
}
