/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of state/ share. A segment is the hash table of one key group of one table: the
 * unit of copy-on-write, so that a cut is a handful of references.
 *
 *     table --- segments[group - first] ---> segment (refs) --- slots ---> entry (refs)
 *                                               ^                            ^
 *     cut   --- segments[...] ------------------+   until the first change after the cut, which
 *                                                   clones the segment and shares its entries
 *
 * Only the task changes references, so that they need not be atomic; a pool job that writes a cut
 * reads segments and entries that nobody changes while they are shared.
 */
#ifndef MS_STATE_STATE_PRIV_H
#define MS_STATE_STATE_PRIV_H

#include "state/state.h"

/*
 * A key and its row. A deleted entry stays as a tombstone until the cut that must write it was
 * taken; an entry that was made after the newest cut needs none.
 */
typedef struct msi_entry {
    uint64_t changed; /* the epoch of the newest change */
    uint64_t born;    /* the epoch in which the key first appeared */
    uint32_t refs;    /* segments that hold it */
    uint32_t key_bytes;
    uint32_t row_bytes;
    uint32_t row_capacity;
    bool is_deleted;
    char bytes[]; /* key, then row */
} msi_entry;

typedef struct msi_slot {
    uint32_t hash;
    msi_entry *entry; /* NULL: free */
} msi_slot;

typedef struct msi_segment {
    uint32_t refs;       /* the table and the cuts that hold it */
    uint32_t slot_count; /* a power of two */
    uint32_t used;       /* slots that are not free, tombstones included */
    uint32_t tombstones;
    uint64_t changed; /* the epoch of the newest change */
    msi_slot *slots;
} msi_segment;

/* Memory of a state: its account, and what deletions took beyond its limit. */
typedef struct msi_heap {
    ms_account *account;
    uint64_t debt_bytes;
    uint64_t used_bytes;
} msi_heap;

/* Bytes from the budget; fails with MS_NO_MEMORY. */
void *msi_heap_take(msi_heap *heap, size_t bytes, ms_status *st);

/* Bytes whatever the budget says, for a change that cannot fail; later takes pay the debt first. */
void *msi_heap_force(msi_heap *heap, size_t bytes);
void msi_heap_give(msi_heap *heap, void *ptr, size_t bytes);

static inline ms_str msi_entry_key(const msi_entry *entry)
{
    return (ms_str){entry->bytes, entry->key_bytes};
}

static inline ms_str msi_entry_row(const msi_entry *entry)
{
    return (ms_str){entry->bytes + entry->key_bytes, entry->row_bytes};
}

/* Drops a reference; the last one frees the segment and drops its entries. NULL is fine. */
void msi_segment_drop(msi_segment *segment, msi_heap *heap);

/* The live entry of a key; NULL when there is none, or no segment. */
msi_entry *msi_segment_find(const msi_segment *segment, ms_str key);

/*
 * Sets a key in *segment, which is made, cloned or grown where needed. *added is set when the key
 * was not there, *before_bytes to the bytes of its old row.
 */
ms_rc msi_segment_put(msi_segment **segment, msi_heap *heap, uint64_t epoch, ms_str key, ms_str row,
                      bool *added_out, ms_status *st) MS_MUST_USE;

/* Removes a key; false when it was not there. */
bool msi_segment_delete(msi_segment **segment, msi_heap *heap, uint64_t epoch, ms_str key);

/* The longest run of slots that a search for a present key looks at. For tests of the hash. */
uint32_t msi_segment_longest_probe(const msi_segment *segment);

#endif
