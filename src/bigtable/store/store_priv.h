/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the store share. Who owns what:
 *
 *     any thread     pushes calls into the queue (queue_mutex), looks at the catalog
 *                    (schema_mutex), opens and closes scans
 *     the leader     the one turn of the commit queue that runs at a time: all of msi_commit, the
 *                    key-value batch, the clock; only it writes
 *     a scan's turn  its own msi_scan
 *
 * Mutexes are held for a few instructions; none is held while the disk works.
 */
#ifndef MS_BIGTABLE_STORE_STORE_PRIV_H
#define MS_BIGTABLE_STORE_STORE_PRIV_H

#include "bigtable/client/transport.h"
#include "bigtable/store/key.h"
#include "bigtable/store/once.h"
#include "bigtable/store/overlay.h"
#include "bigtable/store/schema.h"
#include "bigtable/store/store.h"
#include "kv/kv.h"
#include "os/file.h"
#include "os/iopool.h"
#include "os/spare.h"
#include "os/thread.h"

/* Families of a call kept inside it; a call that names more has an array of its own. */
#define MSI_ITEM_FAMILIES 16
#define MSI_NO_FAMILY UINT16_MAX

/*
 * What the leader does for a call that is no write of cells (administration, garbage collection,
 * the store's own calls): one step, alone, between the groups before and after it. True: the call
 * is over, with its outcome in call->status. False: the next step follows behind what is queued by
 * then, so that a long call lets the others through. A failed write is in st.
 */
typedef bool (*msi_step_fn)(ms_bt_store *store, ms_bt_call *call, ms_status *st);

/* A call in the store: what lives in its transport_state. */
typedef struct msi_item {
    ms_bt_call *next; /* in the queue, or in the leader's lists */
    ms_bt_store *store;
    msi_step_fn step;                   /* NULL: a write of cells, which the leader groups */
    void *step_state;                   /* what the step keeps until the next; NULL at first */
    void (*finished)(ms_bt_call *call); /* of the store's own calls; NULL: ms_bt_call_finish */
    ms_str cluster;                     /* of the call's app profile: where its changes come from */
    ms_iojob job;                       /* for calls that are a pool job of their own */
    bool is_begun;      /* the leader has checked it: table, families and cursor are valid */
    msi_schema *schema; /* keeps table */
    const msi_table *table;
    uint16_t *families; /* the table's by the batch's index; MSI_NO_FAMILY is unknown */
    uint16_t own_families[MSI_ITEM_FAMILIES];
    ms_bt_mutation_cursor cursor;
} msi_item;

_Static_assert(sizeof(msi_item) <= MS_BT_CALL_PRIVATE_BYTES, "fits into the call");

static inline msi_item *msi_store_item(ms_bt_call *call)
{
    return (msi_item *)(void *)call->transport_state;
}

/* A list of calls, oldest first. */
typedef struct msi_call_list {
    ms_bt_call *oldest;
    ms_bt_call *newest;
} msi_call_list;

void msi_call_list_push(msi_call_list *list, ms_bt_call *call);
ms_bt_call *msi_call_list_pop(msi_call_list *list);

/* Moves all of from behind to. */
void msi_call_list_append(msi_call_list *to, msi_call_list *from);

/* The leader's things: commit.c. */
typedef struct msi_commit {
    ms_kv_batch *batch;
    size_t batch_bytes; /* of the mutations in it */
    uint32_t batch_mutations;
    int64_t micros;      /* the timestamp of the batch under way */
    int64_t wall_micros; /* the wall clock when it began: the same, or before */
    int64_t last_micros;
    msi_call_list pending;    /* taken from the queue; the first may be half done */
    msi_call_list done;       /* encoded whole, not yet acknowledged */
    bool reads;               /* a call of this turn reads what it writes */
    struct msi_row_set *rows; /* of the batch under way, where that matters */
    msi_overlay *overlay;     /* cells that go into the batch at its end */
    msi_overlay *trial;       /* what a call on a single row makes, until it has succeeded */
    msi_once *once;           /* NULL until the first token */
    struct msi_row_matcher *matcher;
    ms_buf value;        /* a value that is being read */
    ms_arena scratch;    /* of the call under way */
    char *key;           /* MSI_KEY_BYTES_MAX, the key under construction */
    char *bound;         /* likewise, for ends of ranges */
    struct msi_log *log; /* change_log.c's */
} msi_commit;

/* Fills of change reads that are under way, and what maintenance sleeps on. */
typedef struct msi_change_read msi_change_read;
typedef struct msi_maintenance msi_maintenance;
typedef struct msi_scan msi_scan;
typedef struct msi_waiting {
    ms_mutex mutex; /* guards all */
    ms_cond changed;
    msi_change_read *first;
    int64_t next_look_ns; /* maintenance looks again no later */
} msi_waiting;

typedef struct msi_view msi_view;

struct ms_bt_store {
    ms_bt_transport transport; /* first: the store is one */
    ms_kv *kv;
    ms_iopool *pool;
    ms_bt_sync_mode sync_mode;
    char *path;          /* of the directory, and which it was when it was opened */
    ms_file_info opened; /* fixed */

    ms_mutex schema_mutex;
    msi_schema *schema;               /* guarded by it */
    _Atomic uint64_t catalog_changes; /* msi_store_catalog_changes */

    ms_spares scans; /* that are closed */

    ms_mutex view_mutex;
    _Atomic(msi_view *) view; /* view.c's: NULL but while a group is partly written */

    ms_mutex queue_mutex; /* guards up to the job */
    ms_cond queue_idle;
    msi_call_list queue;
    bool is_leading;           /* a turn is queued or runs */
    bool is_poisoned;          /* a write or sync failed */
    ms_bt_status poison;       /* what later writes are told */
    uint64_t queued_mutations; /* of calls that are not over */
    uint32_t queued_max;       /* fixed */
    uint32_t row_bytes_max;    /* fixed */
    ms_iojob leader_job;

    _Atomic int64_t safe_micros; /* changes up to here may be read; msi_log_publish */
    msi_waiting waiting;
    msi_maintenance *maintenance; /* maintenance.c's */
    _Atomic bool is_stopping;     /* maintenance is to end */

    msi_commit commit;
};

/* Up to where readers of changes may read. Look at this before the catalog and the log. */
static inline int64_t msi_store_safe_micros(ms_bt_store *store)
{
    /* Order acquire: pairs with msi_log_publish. */
    return atomic_load_explicit(&store->safe_micros, memory_order_acquire);
}

/* store.c */

/* The current catalog, retained. */
msi_schema *msi_store_schema(ms_bt_store *store);

/* Makes the store's part of a call. finished: for the store's own calls, of kind
 * MS_BT_CALL_COUNT. */
void msi_store_begin_item(ms_bt_store *store, ms_bt_call *call, msi_step_fn step,
                          void (*finished)(ms_bt_call *call));

/* Replaces the catalog; takes the reference. */
void msi_store_publish(ms_bt_store *store, msi_schema *schema);

/* Notes that a write or sync failed. bt receives what the calls concerned are told. */
void msi_store_poison(ms_bt_store *store, const ms_status *cause, ms_bt_status *bt);

/* Looks whether the path of the store still leads to its directory; if not, it takes no writes from
 * now on, because they would go with the process. Returns whether it does. */
bool msi_store_check_dir(ms_bt_store *store);

/* NOT_FOUND for a table that the catalog lacks, or its instance. */
ms_bt_code msi_store_no_table(const msi_schema *schema, const ms_bt_table_name *name,
                              ms_bt_status *bt);

/* NOT_FOUND for a table that is another than the one that is being read. */
ms_bt_code msi_store_other_table(const ms_bt_table_name *name, ms_bt_status *bt);

/*
 * NOT_FOUND when the table of this incarnation is gone by now, though another may have its name. To
 * be asked after reading: cells and record of a table go in one batch, so that what was read
 * before lacks nothing for a drop if the record is still there. The catalog comes later than the
 * batch, and cannot tell; since is the count of its changes when the table was found in it, so that
 * the record is looked at only after a change.
 */
ms_bt_code msi_store_check_table(ms_bt_store *store, const msi_table *table, uint64_t since,
                                 ms_bt_status *bt);

/* How many changes of the catalog have begun and ended: odd while one is under way. To be taken
 * before the catalog. */
static inline uint64_t msi_store_catalog_changes(ms_bt_store *store)
{
    /* Order acquire: pairs with msi_admin_finish_change. Who has read what a batch did comes behind
     * the batch, and sees at least the count from before it. */
    return atomic_load_explicit(&store->catalog_changes, memory_order_acquire);
}

/* commit.c */

void msi_commit_init(ms_bt_store *store, int64_t last_micros);
void msi_commit_release(ms_bt_store *store);

/* Puts a call into the queue and sees to it that somebody leads. Thread: any. */
void msi_commit_enqueue(ms_bt_store *store, ms_bt_call *call);

/* Waits until the queue is empty and nobody leads. */
void msi_commit_drain(ms_bt_store *store);

/* Starts a batch: its timestamp is later than all before. The leader. */
void msi_commit_begin(ms_bt_store *store);

/* The sync mode of a write that ends a group. */
static inline ms_kv_sync_mode msi_commit_mode(const ms_bt_store *store)
{
    return store->sync_mode == MS_BT_SYNC_GROUP ? MS_KV_SYNC : MS_KV_NO_SYNC;
}

/* Writes the batch under way, and the clock with it. The leader. */
ms_rc msi_commit_write(ms_bt_store *store, ms_kv_sync_mode mode, ms_status *st) MS_MUST_USE;

/*
 * Sees to it that the batch under way has room for an entry of so many bytes and mutations, and may
 * hold one that does this (bits of MSI_ROW_*) to a row: else writes it and starts another. The
 * leader.
 */
ms_rc msi_commit_admit(ms_bt_store *store, const msi_table *table, ms_str row, uint32_t use,
                       size_t bytes, uint32_t mutations, ms_status *st) MS_MUST_USE;

/* request.c: the checks of writing calls. The leader. */

/* Begins a call: finds its table, checks all of it. False when it is refused; its outcome is then
 * set. */
bool msi_request_begin(ms_bt_store *store, ms_bt_call *call);

/* Looks the families of a batch up into item->families. False when the table lacks one. */
bool msi_request_families(msi_item *item, const ms_bt_mutation_batch *batch);
void msi_request_release(msi_item *item);

/* encode.c: mutations to operations of the batch under way. The leader. */

ms_rc msi_encode_entry(ms_bt_store *store, const msi_item *item, ms_bt_mutation_cursor *cursor,
                       const ms_bt_mutation_entry *entry, ms_status *st) MS_MUST_USE;

/* What an entry does to its row: bits of MSI_ROW_*. */
uint32_t msi_entry_use(const ms_bt_mutation_entry *entry);

/* single_row.c: a call that was begun. Its outcome is in its status; a failed write is in st. Gives
 * the bytes that it read and wrote. The leader. */

ms_rc msi_single_row_modify(ms_bt_store *store, ms_bt_read_modify_write *call, size_t *bytes_out,
                            ms_status *st) MS_MUST_USE;
ms_rc msi_single_row_check(ms_bt_store *store, ms_bt_check_and_mutate *call, size_t *bytes_out,
                           ms_status *st) MS_MUST_USE;

/*
 * change_log.c: what the batch under way adds to the change log. The leader, and only for tables of
 * which msi_table says is_logged: all others pay for that one test.
 *
 *     if (table->is_logged) {
 *         msi_log_begin(store, table, entry->key, item->cluster);
 *     }
 *     ... of each mutation, as it was applied:
 *         MS_TRY(msi_log_add(store, &(msi_log_mutation){...}, st));
 *     ...
 *         MS_TRY(msi_log_end(store, st));
 */

/* One mutation as it was applied. DELETE_FROM_ROW becomes one delete of each family. */
typedef struct msi_log_mutation {
    ms_bt_mutation_kind kind;
    uint32_t family_id;       /* incarnation */
    int64_t timestamp_micros; /* as stored, never SERVER; DELETE_FROM_COLUMN: inclusive start */
    int64_t end_micros;       /* DELETE_FROM_COLUMN: exclusive end, 0 for none */
    ms_str qualifier;
    ms_str value; /* SET_CELL; aggregates: the input, resp. the state */
} msi_log_mutation;

struct msi_log *msi_log_create(void);
void msi_log_destroy(struct msi_log *log);

/* Starts the change of one row, in place of one that was begun and not ended. An empty cluster:
 * garbage collection. The texts are borrowed until the end. */
void msi_log_begin(ms_bt_store *store, const msi_table *table, ms_str row, ms_str cluster);
ms_rc msi_log_add(ms_bt_store *store, const msi_log_mutation *mutation, ms_status *st) MS_MUST_USE;

/* Puts the change into the batch under way, unless no mutation was added. */
ms_rc msi_log_end(ms_bt_store *store, ms_status *st) MS_MUST_USE;

/* The batches up to now are written, and synced where the mode says so: readers of changes may see
 * them. */
void msi_log_publish(ms_bt_store *store);

/* Readers of the changes of a table must look at the catalog again. The leader. */
void msi_log_touch_table(ms_bt_store *store, uint32_t table);

/* Which tablets a group has written to; tablet 0 stands for all of a table. */
#define MSI_TOUCHED_MAX 64u

typedef struct msi_touched {
    struct {
        uint32_t table;
        uint32_t tablet;
    } list[MSI_TOUCHED_MAX];
    uint32_t count;
    bool is_full; /* and others */
} msi_touched;

/* change_read.c */

/* Wakes the readers that wait for what was touched, or for a time that is safe by now; NULL wakes
 * all who wait for a time. Thread: any. */
void msi_change_wake(ms_bt_store *store, const msi_touched *touched);

/* Are there readers that have something to say by now? They then wait for msi_change_wake. */
bool msi_change_take_due(ms_bt_store *store);

/* The latest time that a reader waits for to be safe; 0: none does. */
int64_t msi_change_wanted(ms_bt_store *store);

/* When the next reader has; INT64_MAX: none. The caller holds waiting.mutex. */
int64_t msi_change_next_due(const ms_bt_store *store);

void msi_change_open(ms_bt_transport *transport, ms_bt_change_attempt *attempt);
void msi_change_fill(ms_bt_transport *transport, ms_bt_change_attempt *attempt);
void msi_change_cancel(ms_bt_transport *transport, ms_bt_change_attempt *attempt);
void msi_change_close(ms_bt_transport *transport, ms_bt_change_attempt *attempt);

/* The tablets of a table: answers and finishes the call. */
void msi_change_partitions(ms_bt_store *store, ms_bt_call *call);

/* gc.c */

/* Starts collecting the garbage of a table for a table call, which answers with the number of
 * cells. Passes end soon once is_stopping. */
void msi_gc_start(ms_bt_store *store, ms_bt_call *call);

/* maintenance.c */

void msi_maintenance_init(ms_bt_store *store, const ms_bt_store_options *options);

/* Starts the thread, unless the options say that nobody wants one. */
ms_rc msi_maintenance_start(ms_bt_store *store, ms_status *st) MS_MUST_USE;

/* Ends the thread, and everything that it began. */
void msi_maintenance_stop(ms_bt_store *store);
void msi_maintenance_release(ms_bt_store *store);

/* profile.c */

typedef enum msi_access {
    MSI_ACCESS_READ,
    MSI_ACCESS_POINT_READ, /* of single rows by their keys */
    MSI_ACCESS_WRITE,
    MSI_ACCESS_TRANSACTION, /* CheckAndMutateRow, ReadModifyWriteRow */
    MSI_ACCESS_CHANGES
} msi_access;

/*
 * May a call with this app profile (empty: "default") do this in the instance of name? NOT_FOUND,
 * with the command that makes it, for a profile that is not there; FAILED_PRECONDITION for what it
 * does not allow. Call it after the table was found. *cluster_out, where it is not NULL, is the
 * cluster that changes come from; it lives as long as the snapshot.
 */
ms_bt_code msi_profile_check(const msi_schema *schema, const ms_bt_table_name *name,
                             ms_str app_profile, msi_access access, ms_str *cluster_out,
                             ms_bt_status *bt);

bool msi_profile_change(ms_bt_store *store, ms_bt_call *call, ms_status *st);
void msi_profile_look(ms_bt_store *store, ms_bt_call *call);

/* admin.c: calls on tables. Changes are steps of the leader; looking is answered at once. */

bool msi_admin_change(ms_bt_store *store, ms_bt_call *call, ms_status *st);
bool msi_admin_drop_rows(ms_bt_store *store, ms_bt_call *call, ms_status *st);
void msi_admin_look(ms_bt_store *store, ms_bt_call *call);

/*
 * Ends a step that changes the catalog: writes the batch under way and publishes the snapshot that
 * goes with it. NULL: the call was refused, in its own status or by one that fills refused; nothing
 * is written. The leader.
 */
void msi_admin_finish_change(ms_bt_store *store, msi_schema *next, const ms_status *refused,
                             ms_bt_status *bt, ms_status *st);

/* Deletes all cells of a table, and its change log, in the batch under way. */
void msi_admin_delete_cells(ms_bt_store *store, const msi_table *table);

/* scan.c */

void msi_scan_open(ms_bt_transport *transport, ms_bt_attempt *attempt);
void msi_scan_fill(ms_bt_transport *transport, ms_bt_attempt *attempt);
void msi_scan_cancel(ms_bt_transport *transport, ms_bt_attempt *attempt);
void msi_scan_close(ms_bt_transport *transport, ms_bt_attempt *attempt);
void msi_scan_init_spares(ms_bt_store *store);
void msi_scan_free_spares(ms_bt_store *store);

/* view.c */

/* The leader, before a write that is not synced yet will be: readers keep to what there was. Once
 * more for the same group is fine. */
void msi_view_hold(ms_bt_store *store);

/* The group is on the disk, or the store is closed. */
void msi_view_let_go(ms_bt_store *store);

/* An iterator over what readers may see; the view, which may be NULL, is dropped behind it. */
ms_kv_iter *msi_view_iter(ms_bt_store *store, const ms_kv_iter_options *options,
                          msi_view **view_out);
void msi_view_drop(ms_bt_store *store, msi_view *view);

/* sample.c: a pool job. */
void msi_sample_run(ms_bt_store *store, ms_bt_sample_row_keys *call);

#endif
