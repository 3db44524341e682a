/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the store share. Who owns what:
 *
 *     any thread     pushes calls into the queue (queue_mutex), looks at the catalog (schema_mutex)
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
#include "bigtable/store/schema.h"
#include "bigtable/store/store.h"
#include "kv/kv.h"
#include "os/iopool.h"
#include "os/thread.h"

/* Family incarnations of a call kept inside it; a call that names more has an array of its own. */
#define MSI_ITEM_FAMILIES 8

/* A call in the store: what lives in its transport_state. */
typedef struct msi_item {
    ms_bt_call *next; /* in the queue, or in the leader's lists */
    ms_bt_store *store;
    ms_iojob job;       /* for calls that are a pool job of their own */
    bool is_begun;      /* the leader has checked it: table, family_ids and cursor are valid */
    msi_schema *schema; /* keeps table */
    const msi_table *table;
    uint32_t *family_ids; /* incarnations by the batch's index; 0 is unknown */
    uint32_t own_family_ids[MSI_ITEM_FAMILIES];
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
    int64_t micros; /* the timestamp of the batch under way */
    int64_t last_micros;
    msi_call_list pending;    /* taken from the queue; the first may be half done */
    msi_call_list done;       /* encoded whole, not yet acknowledged */
    struct msi_row_set *rows; /* rows of the batch under way, once deletes matter */
    bool has_deletes;         /* a call of this turn deletes something */
    char *key;                /* MSI_KEY_BYTES_MAX, the key under construction */
    char *bound;              /* likewise, for ends of ranges */
} msi_commit;

struct ms_bt_store {
    ms_bt_transport transport; /* first: the store is one */
    ms_kv *kv;
    ms_iopool *pool;
    ms_bt_sync_mode sync_mode;

    ms_mutex schema_mutex;
    msi_schema *schema; /* guarded by it */

    ms_mutex queue_mutex; /* guards up to the job */
    ms_cond queue_idle;
    msi_call_list queue;
    bool is_leading;     /* a turn is queued or runs */
    bool is_poisoned;    /* a write or sync failed */
    ms_bt_status poison; /* what later writes are told */
    ms_iojob leader_job;

    msi_commit commit;
};

/* store.c */

/* The current catalog, retained. */
msi_schema *msi_store_schema(ms_bt_store *store);

/* Replaces the catalog; takes the reference. */
void msi_store_publish(ms_bt_store *store, msi_schema *schema);

/* Notes that a write or sync failed. bt receives what the calls concerned are told. */
void msi_store_poison(ms_bt_store *store, const ms_status *cause, ms_bt_status *bt);

/* NOT_FOUND for a table that the catalog lacks. */
ms_bt_code msi_store_no_table(const msi_schema *schema, const ms_bt_table_name *name,
                              ms_bt_status *bt);

/* commit.c */

void msi_commit_init(ms_bt_store *store, int64_t last_micros);
void msi_commit_release(ms_bt_store *store);

/* Puts a call into the queue and sees to it that somebody leads. Thread: any. */
void msi_commit_enqueue(ms_bt_store *store, ms_bt_call *call);

/* Waits until the queue is empty and nobody leads. */
void msi_commit_drain(ms_bt_store *store);

/* Writes the batch under way, if there is anything in it. The leader. */
ms_rc msi_commit_write(ms_bt_store *store, ms_kv_sync_mode mode, ms_status *st) MS_MUST_USE;

/* encode.c: mutations to operations of the batch under way. The leader. */

ms_rc msi_encode_entry(ms_bt_store *store, const msi_item *item, ms_bt_mutation_cursor *cursor,
                       const ms_bt_mutation_entry *entry, ms_status *st) MS_MUST_USE;

/* row_set.c: which rows the batch under way writes. */

typedef struct msi_row_set msi_row_set;
msi_row_set *msi_row_set_create(void);
void msi_row_set_destroy(msi_row_set *set);
void msi_row_set_reset(msi_row_set *set);

/* False when the row, or another of the same hash, is in it already; or when the set is full. */
bool msi_row_set_add(msi_row_set *set, uint32_t table, ms_str row);

/* profile.c: what an app profile lets a call do. */

#define MSI_USE_WRITE 1u
#define MSI_USE_TRANSACTION 2u /* CheckAndMutateRow, ReadModifyWriteRow */
#define MSI_USE_POINT_READ 4u  /* keys only, no ranges */
#define MSI_USE_CHANGES 8u

/* NOT_FOUND for a profile that the instance lacks, FAILED_PRECONDITION for a use (bits of MSI_USE)
 * that it does not allow. An empty id is "default". Of the name, the instance counts. Thread: any. */
ms_bt_code msi_profile_check(const msi_schema *schema, const ms_bt_table_name *instance, ms_str id,
                             uint32_t use, ms_bt_status *bt);

/*
 * change_log.c: what the change stream of a table will say, in the batch under way. Called for a
 * table that has a stream only (msi_change_is_logged): begin, mutations in their order, end, once
 * for each row of an entry, with commit->micros as the time of the commit. The leader.
 *
 * A mutation is as a stream says it: texts are borrowed for the length of the call, timestamps are
 * those assigned, DELETE_FROM_ROW has become a DELETE_FROM_FAMILY of each family of the table.
 */
static inline bool msi_change_is_logged(const msi_table *table)
{
    return table->def->change_retention_micros != 0;
}

void msi_change_begin(ms_bt_store *store, const msi_table *table, ms_str row_key);
void msi_change_mutation(ms_bt_store *store, const ms_bt_change_mutation *mutation);
void msi_change_end(ms_bt_store *store);

/* admin.c: calls on tables, in the leader resp. at once. */

/* Carries out a call that changes the catalog: checks, writes, publishes. bt is its outcome; a
 * failed write is also in st, and the caller poisons. */
void msi_admin_change(ms_bt_store *store, ms_bt_call *call, ms_status *st);
void msi_admin_look(ms_bt_store *store, ms_bt_call *call);

/* scan.c */

void msi_scan_open(ms_bt_transport *transport, ms_bt_attempt *attempt);
void msi_scan_fill(ms_bt_transport *transport, ms_bt_attempt *attempt);
void msi_scan_cancel(ms_bt_transport *transport, ms_bt_attempt *attempt);
void msi_scan_close(ms_bt_transport *transport, ms_bt_attempt *attempt);

/* sample.c: a pool job. */
void msi_sample_run(ms_bt_store *store, ms_bt_sample_row_keys *call);

#endif
