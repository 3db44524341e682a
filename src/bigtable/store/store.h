/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The embedded Bigtable: tables, families, cells and atomic rows in one directory. It is opened
 * here and used through the client (client/client.h) over the transport that it is.
 *
 *     ms_bt_store *store = NULL;
 *     MS_TRY(ms_bt_store_open(&(ms_bt_store_options){.path = path, .pool = pool}, &store, st));
 *     ms_bt_client *client = ms_bt_client_create(ms_bt_store_transport(store), NULL);
 *     ...
 *     ms_bt_client_destroy(client);
 *     MS_TRY(ms_bt_store_close(store, st));
 *
 * All reading and writing happens on the I/O pool in turns that end by themselves. Writes of all
 * callers go through one queue, whose leader commits them in groups; a write that was acknowledged
 * is in the log. Whether the log is on the disk then depends on the sync mode:
 *
 *     GROUP        yes: each group is synced before it is acknowledged
 *     CHECKPOINT   after the next ms_bt_client_sync, which a sink calls when it persists
 *     OS           when the system writes it; an acknowledged write survives the process only
 *
 * After a failed write or sync the outcome is unknown: the calls concerned and all later writes end
 * with UNAVAILABLE until the store is opened again. Reads go on.
 *
 * Ownership: the store is its opener's and outlives its clients; the pool outlives the store.
 * Thread: open and close on the main thread; everything else any. One store per directory at a
 * time, in this process and all others: MS_DATA_DIR_IN_USE.
 */
#ifndef MS_BIGTABLE_STORE_STORE_H
#define MS_BIGTABLE_STORE_STORE_H

#include "base/status.h"

struct ms_bt_transport;
struct ms_iopool;

typedef struct ms_bt_store ms_bt_store;

typedef enum ms_bt_sync_mode {
    MS_BT_SYNC_GROUP,
    MS_BT_SYNC_CHECKPOINT,
    MS_BT_SYNC_OS,
    MS_BT_SYNC_COUNT
} ms_bt_sync_mode;

/* "group", "checkpoint", "os": the values of bigtable.embedded.sync. */
const char *ms_bt_sync_mode_name(ms_bt_sync_mode mode);

typedef struct ms_bt_store_options {
    const char *path;       /* of the store's own directory */
    struct ms_iopool *pool; /* on which its turns run */
    bool create;            /* make the store where there is none; else MS_FILE_NOT_FOUND */
    ms_bt_sync_mode sync_mode;
    /* Mutations of calls that are not acknowledged yet; calls beyond are RESOURCE_EXHAUSTED, unless
     * nothing else waits. Above what the clients of a process hold back by themselves. 0: the
     * default, MS_BT_LIMIT_QUEUED_MUTATIONS. */
    uint32_t queued_mutations_max;
    uint32_t row_bytes_max;      /* of a row that a scan can give; 0: MS_BT_LIMIT_ROW_BYTES */
    uint64_t cache_bytes;        /* blocks kept in memory; 0: the default of kv/ */
    uint64_t write_buffer_bytes; /* memtable; 0: the default of kv/ */
    int64_t gc_period_ms;        /* between collections of garbage; 0: an hour, below: on demand */
    bool has_no_thread;          /* for tests: ms_bt_store_tick instead of maintenance's thread */
} ms_bt_store_options;

/* Errors: MS_DATA_DIR_IN_USE, MS_CORRUPT_DATA, MS_NOT_SUPPORTED for a newer format, and what the
 * system gives. */
ms_rc ms_bt_store_open(const ms_bt_store_options *options, ms_bt_store **store_out,
                       ms_status *st) MS_MUST_USE;

/* No client is left. Syncs the log unless the mode is OS, and reports when that fails; the store is
 * gone either way. Takes NULL. */
ms_rc ms_bt_store_close(ms_bt_store *store, ms_status *st);

/* The store as a transport for clients; lives as long as the store. */
struct ms_bt_transport *ms_bt_store_transport(ms_bt_store *store);

/*
 * Does what is due: heartbeats of readers of changes, the collection of garbage, the removal of old
 * changes, a look whether the directory is still there; returns when that is done. A store has a
 * thread that does so, unless its options say that a test wants to, with a clock of its own
 * (ms_env_set_clock). Thread: any but the pool's.
 */
void ms_bt_store_tick(ms_bt_store *store);

/* Syncs the log now, on the calling thread, in any mode. */
ms_rc ms_bt_store_sync(ms_bt_store *store, ms_status *st) MS_MUST_USE;

/* Writes memory to files and merges them all. For tests and benchmarks: scans of a store that just
 * took its data otherwise measure the merging. */
ms_rc ms_bt_store_compact(ms_bt_store *store, ms_status *st) MS_MUST_USE;

#endif
