/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The set of rows: hashes in open addressing. Emptying it is a new epoch, not a sweep.
 */
#include "bigtable/store/row_set.h"

#include "base/memory.h"

/* Twice the entries of a full batch. */
#define SLOTS 65536u
#define ROWS_MAX (SLOTS / 2)
#define USE_BITS 5u

typedef struct row_slot {
    uint64_t hash;
    uint64_t epoch_and_use; /* taken when the epoch is the set's */
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

/* May an entry join a batch that has done this to its row before? */
static bool may_join(uint32_t use, uint32_t before)
{
    uint32_t against = 0;
    if ((use & (MSI_ROW_READ | MSI_ROW_LOOK)) != 0) {
        against = MSI_ROW_SET | MSI_ROW_ADD | MSI_ROW_RULE | MSI_ROW_READ;
    }
    if ((use & MSI_ROW_ADD) != 0) {
        against |= MSI_ROW_READ;
    }
    if ((use & MSI_ROW_RULE) != 0) {
        against |= MSI_ROW_SET | MSI_ROW_READ;
    }
    /* A rule's cells are put when the batch ends, behind what is put in between. */
    if ((use & MSI_ROW_SET) != 0) {
        against |= MSI_ROW_RULE;
    }
    return (before & against) == 0;
}

bool msi_row_set_add(msi_row_set *set, uint32_t table, ms_str row, uint32_t use)
{
    if (set->count == ROWS_MAX) {
        return false;
    }
    /* The odd constant is 2^64 divided by the golden ratio: it spreads table ids over all bits. */
    uint64_t hash = ms_str_hash(row) ^ (table * 0x9E3779B97F4A7C15u);
    uint64_t noted = use & ~MSI_ROW_LOOK;
    for (uint64_t at = hash % SLOTS;; at = (at + 1) % SLOTS) {
        row_slot *slot = &set->slots[at];
        if (slot->epoch_and_use >> USE_BITS != set->epoch) {
            *slot = (row_slot){hash, set->epoch << USE_BITS | noted};
            set->count++;
            return true;
        }
        if (slot->hash == hash) {
            if (!may_join(use, (uint32_t)slot->epoch_and_use & ((1u << USE_BITS) - 1))) {
                return false;
            }
            slot->epoch_and_use |= noted;
            return true;
        }
    }
}
