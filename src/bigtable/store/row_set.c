/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows that the batch under way writes, as 64-bit hashes in open addressing. It answers "maybe
 * there" for a row whose hash is taken; the caller then ends the batch early, which costs a little
 * and is never wrong. Emptying it is a new epoch, not a sweep.
 */
#include "base/memory.h"
#include "bigtable/store/store_priv.h"

/* Twice the entries of a full batch. */
#define SLOTS 65536u
#define ROWS_MAX (SLOTS / 2)

typedef struct row_slot {
    uint64_t hash;
    uint64_t epoch; /* taken when it is the set's */
} row_slot;

struct msi_row_set {
    uint64_t epoch;
    uint32_t count;
    row_slot slots[SLOTS];
};

msi_row_set *msi_row_set_create(void)
{
    msi_row_set *set = ms_mem_calloc(1, sizeof(*set));
    set->epoch = 1;
    return set;
}

void msi_row_set_destroy(msi_row_set *set)
{
    ms_mem_free(set);
}

void msi_row_set_reset(msi_row_set *set)
{
    set->epoch++;
    set->count = 0;
}

bool msi_row_set_add(msi_row_set *set, uint32_t table, ms_str row)
{
    if (set->count == ROWS_MAX) {
        return false;
    }
    /* The odd constant is 2^64 divided by the golden ratio: it spreads table ids over all bits. */
    uint64_t hash = ms_str_hash(row) ^ (table * 0x9E3779B97F4A7C15u);
    for (uint64_t at = hash % SLOTS;; at = (at + 1) % SLOTS) {
        row_slot *slot = &set->slots[at];
        if (slot->epoch != set->epoch) {
            slot->hash = hash;
            slot->epoch = set->epoch;
            set->count++;
            return true;
        }
        if (slot->hash == hash) {
            return false;
        }
    }
}
