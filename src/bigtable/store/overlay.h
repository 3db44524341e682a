/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cells that the batch under way has read and changed: aggregates, and the latest cells of the
 * columns of ReadModifyWriteRow. The next change of the same cell finds it here, where the store
 * does not have it yet, and however often a cell is changed, it is put into the batch once.
 *
 *     bool is_new = false;
 *     msi_overlay_cell *cell = msi_overlay_at(overlay, key, &is_new);
 *     if (is_new) { ... set exists, and the number or bytes, as the store has them ... }
 *     ... change the number or the bytes ...
 *
 * Keys are those of cells, resp. those of columns, which are no prefix of each other.
 *
 * Ownership: the leader's; a cell is valid until the next call of msi_overlay_at. Thread: the
 * leader.
 */
#ifndef MS_BIGTABLE_STORE_OVERLAY_H
#define MS_BIGTABLE_STORE_OVERLAY_H

#include "base/str.h"
#include "kv/kv.h"

typedef enum msi_overlay_kind {
    MSI_OVERLAY_NUMBER, /* an aggregate of eight bytes */
    MSI_OVERLAY_SKETCH, /* an aggregate that is a sketch */
    MSI_OVERLAY_COLUMN  /* bytes: the latest cell of a column; its key lacks the time */
} msi_overlay_kind;

typedef struct msi_overlay_cell {
    ms_str key;
    uint64_t hash;
    msi_overlay_kind kind;
    bool exists;              /* else there is no such cell, and none is put */
    uint32_t tag;             /* the caller's */
    int64_t micros;           /* COLUMN: the time of the cell */
    int64_t number;           /* NUMBER */
    struct ms_bt_hll *sketch; /* SKETCH: from the heap; freed with the cell */
    ms_buf bytes;             /* COLUMN; of at most MS_BT_LIMIT_VALUE_BYTES */
} msi_overlay_cell;

typedef struct msi_overlay msi_overlay;

msi_overlay *msi_overlay_create(void);

/* Takes NULL. */
void msi_overlay_destroy(msi_overlay *overlay);

/* Forgets the cells; keeps the memory, unless a cell was large. */
void msi_overlay_reset(msi_overlay *overlay);

/* The cell of a key, which is copied; NULL when there is none, resp. made with all fields zero. */
msi_overlay_cell *msi_overlay_find(msi_overlay *overlay, ms_str key);
msi_overlay_cell *msi_overlay_at(msi_overlay *overlay, ms_str key, bool *is_new_out);

/* Cells by the order in which they came. */
uint32_t msi_overlay_count(const msi_overlay *overlay);
msi_overlay_cell *msi_overlay_cell_at(msi_overlay *overlay, uint32_t index);

/* Puts every cell that exists into a batch. MS_NO_MEMORY. */
ms_rc msi_overlay_put(msi_overlay *overlay, ms_kv_batch *batch, ms_status *st) MS_MUST_USE;

/* Eight bytes big-endian. */
static inline int64_t msi_number_load(const char *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof(value));
    return (int64_t)__builtin_bswap64(value);
}

static inline void msi_number_store(char *at, int64_t number)
{
    uint64_t value = __builtin_bswap64((uint64_t)number);
    memcpy(at, &value, sizeof(value));
}

#endif
