/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The overlay: a list of cells in the order in which they came, found by a table of indexes in open
 * addressing. Emptying it clears the slots that were used, so a batch of one cell costs no sweep.
 */
#include "bigtable/store/overlay.h"

#include "base/memory.h"
#include "bigtable/model/hll.h"
#include "bigtable/store/key.h"

/* Cells and slots at first; both double. A slot table is at most half full. */
#define FIRST_CELLS 64u
#define FIRST_SLOTS 256u
/* Bytes of a cell that are kept for the next one at its place. */
#define KEPT_BYTES 256u

struct msi_overlay {
    msi_overlay_cell *cells;
    uint32_t count;
    uint32_t capacity;
    uint32_t *slots; /* index of the cell plus one; 0: free */
    uint32_t slot_count;
    ms_arena keys;
    char *key;     /* MSI_KEY_BYTES_MAX: the cell of a column */
    ms_buf sketch; /* a state that is being put */
};

msi_overlay *msi_overlay_create(void)
{
    msi_overlay *overlay = ms_mem_calloc(1, sizeof(*overlay));
    overlay->slot_count = FIRST_SLOTS;
    overlay->slots = ms_mem_calloc(FIRST_SLOTS, sizeof(uint32_t));
    overlay->key = ms_mem_alloc(MSI_KEY_BYTES_MAX);
    ms_arena_init(&overlay->keys, 0);
    ms_buf_init(&overlay->sketch, MS_BT_LIMIT_VALUE_BYTES);
    return overlay;
}

static void drop_sketch(msi_overlay_cell *cell)
{
    if (cell->sketch != NULL) {
        ms_bt_hll_release(cell->sketch);
        ms_mem_free(cell->sketch);
        cell->sketch = NULL;
    }
}

void msi_overlay_destroy(msi_overlay *overlay)
{
    if (overlay == NULL) {
        return;
    }
    msi_overlay_reset(overlay);
    for (uint32_t i = 0; i < overlay->capacity; i++) {
        ms_buf_release(&overlay->cells[i].bytes);
    }
    ms_buf_release(&overlay->sketch);
    ms_mem_free(overlay->cells);
    ms_mem_free(overlay->slots);
    ms_mem_free(overlay->key);
    ms_arena_release(&overlay->keys);
    ms_mem_free(overlay);
}

/* The slot of a key: that of its cell, or the free one where it belongs. */
static uint32_t *slot_of(msi_overlay *overlay, ms_str key, uint64_t hash)
{
    uint32_t mask = overlay->slot_count - 1;
    for (uint32_t at = (uint32_t)hash & mask;; at = (at + 1) & mask) {
        uint32_t *slot = &overlay->slots[at];
        if (*slot == 0) {
            return slot;
        }
        const msi_overlay_cell *cell = &overlay->cells[*slot - 1];
        if (cell->hash == hash && ms_str_equals(cell->key, key)) {
            return slot;
        }
    }
}

void msi_overlay_reset(msi_overlay *overlay)
{
    if (overlay->count == 0) {
        return;
    }
    if (overlay->count * 2 > overlay->slot_count / 2) {
        memset(overlay->slots, 0, overlay->slot_count * sizeof(uint32_t));
    } else {
        /* Newest first: a probe for an older cell never meets a slot that was cleared already. */
        for (uint32_t i = overlay->count; i > 0; i--) {
            const msi_overlay_cell *cell = &overlay->cells[i - 1];
            *slot_of(overlay, cell->key, cell->hash) = 0;
        }
    }
    for (uint32_t i = 0; i < overlay->count; i++) {
        if (overlay->cells[i].bytes.capacity_bytes > KEPT_BYTES) {
            ms_buf_release(&overlay->cells[i].bytes);
        }
        drop_sketch(&overlay->cells[i]);
    }
    overlay->count = 0;
    ms_arena_reset(&overlay->keys);
}

static void grow_cells(msi_overlay *overlay)
{
    uint32_t capacity = overlay->capacity == 0 ? FIRST_CELLS : overlay->capacity * 2;
    overlay->cells = ms_mem_realloc(overlay->cells, capacity * sizeof(msi_overlay_cell));
    for (uint32_t i = overlay->capacity; i < capacity; i++) {
        ms_buf_init(&overlay->cells[i].bytes, MS_BT_LIMIT_VALUE_BYTES);
    }
    overlay->capacity = capacity;
}

static void grow_slots(msi_overlay *overlay)
{
    ms_mem_free(overlay->slots);
    overlay->slot_count *= 2;
    overlay->slots = ms_mem_calloc(overlay->slot_count, sizeof(uint32_t));
    for (uint32_t i = 0; i < overlay->count; i++) {
        const msi_overlay_cell *cell = &overlay->cells[i];
        *slot_of(overlay, cell->key, cell->hash) = i + 1;
    }
}

msi_overlay_cell *msi_overlay_find(msi_overlay *overlay, ms_str key)
{
    if (overlay->count == 0) {
        return NULL;
    }
    uint32_t slot = *slot_of(overlay, key, ms_str_hash(key));
    return slot == 0 ? NULL : &overlay->cells[slot - 1];
}

msi_overlay_cell *msi_overlay_at(msi_overlay *overlay, ms_str key, bool *is_new_out)
{
    uint64_t hash = ms_str_hash(key);
    uint32_t *slot = slot_of(overlay, key, hash);
    *is_new_out = *slot == 0;
    if (*slot != 0) {
        return &overlay->cells[*slot - 1];
    }
    if (overlay->count == overlay->capacity) {
        grow_cells(overlay);
    }
    *slot = overlay->count + 1;
    msi_overlay_cell *cell = &overlay->cells[overlay->count++];
    ms_buf bytes = cell->bytes;
    ms_buf_reset(&bytes);
    *cell = (msi_overlay_cell){
        .key = ms_arena_copy_str(&overlay->keys, key), .hash = hash, .bytes = bytes};
    if (overlay->count * 2 > overlay->slot_count) {
        grow_slots(overlay);
    }
    return cell;
}

uint32_t msi_overlay_count(const msi_overlay *overlay)
{
    return overlay->count;
}

msi_overlay_cell *msi_overlay_cell_at(msi_overlay *overlay, uint32_t index)
{
    return &overlay->cells[index];
}

static ms_rc put_cell(msi_overlay *overlay, const msi_overlay_cell *cell, ms_kv_batch *batch,
                      ms_status *st)
{
    char number[sizeof(int64_t)];
    ms_str key = cell->key;
    ms_str value = ms_buf_view(&cell->bytes);
    if (cell->kind == MSI_OVERLAY_NUMBER) {
        msi_number_store(number, cell->number);
        value = ms_str_make(number, sizeof(number));
    } else if (cell->kind == MSI_OVERLAY_SKETCH) {
        ms_buf_reset(&overlay->sketch);
        MS_TRY(ms_bt_hll_write(cell->sketch, &overlay->sketch, st));
        value = ms_buf_view(&overlay->sketch);
    } else {
        memcpy(overlay->key, key.ptr, key.bytes);
        char *end = msi_key_put_time(overlay->key + key.bytes, cell->micros);
        key = ms_str_make(overlay->key, (size_t)(end - overlay->key));
    }
    ms_kv_batch_put(batch, key, value);
    return MS_OK;
}

ms_rc msi_overlay_put(msi_overlay *overlay, ms_kv_batch *batch, ms_status *st)
{
    for (uint32_t i = 0; i < overlay->count; i++) {
        if (overlay->cells[i].exists) {
            MS_TRY(put_cell(overlay, &overlay->cells[i], batch, st));
        }
    }
    return MS_OK;
}
