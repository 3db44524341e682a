/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What readers see while a group is partly written. The writes of a group but the last are not
 * synced, so a loss of power may take them away, and a reader that had seen them would have seen
 * what never was. So before the first of them the leader leaves a snapshot, by which scans read
 * until the group is on the disk. Most groups are one write, and leave none.
 *
 * A reader makes its iterator first and looks for a snapshot then. When there is none, the iterator
 * is older than any such write: the leader shows the snapshot before it writes, and RocksDB shows
 * the write behind that. Or the group is over by now, and what the iterator has is on the disk.
 */
/* tidy: no-unit-test: exercised through commit_test.c */
#include "base/memory.h"
#include "bigtable/store/store_priv.h"

struct msi_view {
    ms_kv_snapshot *snapshot;
    uint32_t users; /* the leader is one; guarded by view_mutex */
};

void msi_view_hold(ms_bt_store *store)
{
    /* Order relaxed: only the leader changes it. */
    if (atomic_load_explicit(&store->view, memory_order_relaxed) != NULL) {
        return;
    }
    msi_view *view = ms_mem_alloc(sizeof(*view));
    *view = (msi_view){.snapshot = ms_kv_snapshot_create(store->kv), .users = 1};
    /* Order release: partner is msi_view_iter. */
    atomic_store_explicit(&store->view, view, memory_order_release);
}

void msi_view_drop(ms_bt_store *store, msi_view *view)
{
    if (view == NULL) {
        return;
    }
    ms_mutex_lock(&store->view_mutex);
    bool is_last = --view->users == 0;
    ms_mutex_unlock(&store->view_mutex);
    if (is_last) {
        ms_kv_snapshot_destroy(store->kv, view->snapshot);
        ms_mem_free(view);
    }
}

void msi_view_let_go(ms_bt_store *store)
{
    if (atomic_load_explicit(&store->view, memory_order_relaxed) == NULL) {
        return;
    }
    ms_mutex_lock(&store->view_mutex);
    msi_view *view = atomic_exchange_explicit(&store->view, NULL, memory_order_acq_rel);
    ms_mutex_unlock(&store->view_mutex);
    msi_view_drop(store, view);
}

ms_kv_iter *msi_view_iter(ms_bt_store *store, const ms_kv_iter_options *options,
                          msi_view **view_out)
{
    *view_out = NULL;
    ms_kv_iter *iter = ms_kv_iter_create(store->kv, options);
    /* Order acquire: partner is the release in msi_view_hold. */
    if (atomic_load_explicit(&store->view, memory_order_acquire) == NULL) {
        return iter;
    }
    ms_mutex_lock(&store->view_mutex);
    msi_view *view = atomic_load_explicit(&store->view, memory_order_relaxed);
    if (view != NULL) {
        view->users++;
    }
    ms_mutex_unlock(&store->view_mutex);
    if (view == NULL) {
        return iter;
    }
    ms_kv_iter_destroy(iter);
    ms_kv_iter_options held = *options;
    held.snapshot = view->snapshot;
    *view_out = view;
    return ms_kv_iter_create(store->kv, &held);
}
