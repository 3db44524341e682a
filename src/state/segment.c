/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hash table of one key group: open addressing with linear probing over pairs of 32 hash bits
 * and an entry. Entries are blocks of their own, so that a clone after a cut copies pointers and
 * not rows; a row that grows within its capacity and is not shared is changed in place.
 *
 * A segment that a cut holds too is never changed: the first change makes a clone for the table.
 * Tombstones are left out of clones and rehashed tables once their cut was taken.
 */
#include "state/state_priv.h"
#include "type/hash.h"

#define SLOTS_MIN 8u     /* the smallest table: a global aggregate has one entry */
#define ROW_ROUNDING 16u /* rows of numbers change their length by a few bytes as they grow */

/* Memory. */

void *msi_heap_take(msi_heap *heap, size_t bytes, ms_status *st)
{
    uint64_t wanted = (uint64_t)bytes + heap->debt_bytes;
    if (ms_account_reserve(heap->account, wanted, st) != MS_OK) {
        return NULL;
    }
    heap->debt_bytes = 0;
    void *ptr = ms_mem_try_alloc(bytes);
    if (ptr == NULL) {
        ms_account_unreserve(heap->account, bytes);
        (void)ms_mem_refuse(bytes, st);
        return NULL;
    }
    heap->used_bytes += bytes;
    return ptr;
}

void *msi_heap_force(msi_heap *heap, size_t bytes)
{
    if (!ms_account_try_reserve(heap->account, bytes)) {
        heap->debt_bytes += bytes;
    }
    heap->used_bytes += bytes;
    return ms_mem_alloc(bytes);
}

void msi_heap_give(msi_heap *heap, void *ptr, size_t bytes)
{
    if (ptr == NULL) {
        return;
    }
    uint64_t paid = bytes;
    if (heap->debt_bytes > 0) {
        uint64_t forgiven = heap->debt_bytes < paid ? heap->debt_bytes : paid;
        heap->debt_bytes -= forgiven;
        paid -= forgiven;
    }
    ms_account_unreserve(heap->account, paid);
    heap->used_bytes -= bytes;
    ms_mem_free(ptr);
}

/* Entries. */

static size_t entry_size(const msi_entry *entry)
{
    return sizeof(msi_entry) + entry->key_bytes + entry->row_capacity;
}

static void entry_drop(msi_entry *entry, msi_heap *heap)
{
    if (--entry->refs == 0) {
        msi_heap_give(heap, entry, entry_size(entry));
    }
}

static void entry_fill(msi_entry *entry, ms_str key, ms_str row, uint32_t capacity)
{
    *entry = (msi_entry){.refs = 1,
                         .key_bytes = (uint32_t)key.bytes,
                         .row_bytes = (uint32_t)row.bytes,
                         .row_capacity = capacity};
    if (key.bytes > 0) {
        memcpy(entry->bytes, key.ptr, key.bytes);
    }
    if (row.bytes > 0) {
        memcpy(entry->bytes + key.bytes, row.ptr, row.bytes);
    }
}

static msi_entry *entry_make(msi_heap *heap, ms_str key, ms_str row, ms_status *st)
{
    size_t capacity = (row.bytes + ROW_ROUNDING - 1) & ~(size_t)(ROW_ROUNDING - 1);
    msi_entry *entry = msi_heap_take(heap, sizeof(msi_entry) + key.bytes + capacity, st);
    if (entry != NULL) {
        entry_fill(entry, key, row, (uint32_t)capacity);
    }
    return entry;
}

/* Tables of slots. */

static uint32_t key_hash(ms_str key)
{
    return ms_hash_slot(ms_hash_bytes(key));
}

static uint32_t find_slot(const msi_segment *segment, uint32_t hash, ms_str key)
{
    uint32_t mask = segment->slot_count - 1;
    for (uint32_t at = hash & mask;; at = (at + 1) & mask) {
        const msi_slot *slot = &segment->slots[at];
        if (slot->entry == NULL ||
            (slot->hash == hash && ms_str_equals(msi_entry_key(slot->entry), key))) {
            return at;
        }
    }
}

static void put_slot(msi_slot *slots, uint32_t slot_count, msi_slot filled)
{
    uint32_t at = filled.hash & (slot_count - 1);
    while (slots[at].entry != NULL) {
        at = (at + 1) & (slot_count - 1);
    }
    slots[at] = filled;
}

/* Empties a slot and moves later ones of its run up, so that no search ends too early. */
static void remove_slot(msi_segment *segment, uint32_t hole)
{
    uint32_t mask = segment->slot_count - 1;
    segment->slots[hole].entry = NULL;
    for (uint32_t at = (hole + 1) & mask; segment->slots[at].entry != NULL; at = (at + 1) & mask) {
        uint32_t home = segment->slots[at].hash & mask;
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            segment->slots[hole] = segment->slots[at];
            segment->slots[at].entry = NULL;
            hole = at;
        }
    }
    segment->used--;
}

static bool is_stale(const msi_entry *entry, uint64_t epoch)
{
    return entry->is_deleted && entry->changed < epoch;
}

static uint32_t slots_for(uint32_t used)
{
    uint32_t count = SLOTS_MIN;
    while (used >= count / 4 * 3) {
        count *= 2;
    }
    return count;
}

/* Copies what is not stale into a new table of slots; the entries get one more holder. */
static void copy_slots(msi_segment *to, const msi_segment *from, uint64_t epoch)
{
    for (uint32_t i = 0; i < from->slot_count; i++) {
        msi_entry *entry = from->slots[i].entry;
        if (entry == NULL || is_stale(entry, epoch)) {
            continue;
        }
        entry->refs++;
        to->used++;
        to->tombstones += entry->is_deleted ? 1 : 0;
        put_slot(to->slots, to->slot_count, from->slots[i]);
    }
}

/*
 * Makes a segment that may be changed and has room for one more entry. With forced memory it never
 * fails.
 */
static ms_rc make_writable(msi_segment **segment, msi_heap *heap, uint64_t epoch, bool force,
                           ms_status *st)
{
    msi_segment *old = *segment;
    bool has_stale = old != NULL && old->tombstones > 0 && old->changed < epoch;
    if (old != NULL && old->refs == 1 && !has_stale && old->used + 1 < old->slot_count / 4 * 3) {
        old->changed = epoch;
        return MS_OK;
    }
    uint32_t slot_count = slots_for(old != NULL ? old->used + 1 : 1);
    size_t slot_bytes = slot_count * sizeof(msi_slot);
    size_t bytes = sizeof(msi_segment) + slot_bytes;
    msi_segment *made = force ? msi_heap_force(heap, bytes) : msi_heap_take(heap, bytes, st);
    if (made == NULL) {
        return st->code;
    }
    *made = (msi_segment){.refs = 1, .slot_count = slot_count, .changed = epoch};
    made->slots = (msi_slot *)(void *)(made + 1);
    memset(made->slots, 0, slot_bytes);
    if (old != NULL) {
        copy_slots(made, old, epoch);
        msi_segment_drop(old, heap);
    }
    *segment = made;
    return MS_OK;
}

/* Segments. */

void msi_segment_drop(msi_segment *segment, msi_heap *heap)
{
    if (segment == NULL || --segment->refs > 0) {
        return;
    }
    for (uint32_t i = 0; i < segment->slot_count; i++) {
        if (segment->slots[i].entry != NULL) {
            entry_drop(segment->slots[i].entry, heap);
        }
    }
    msi_heap_give(heap, segment, sizeof(msi_segment) + segment->slot_count * sizeof(msi_slot));
}

msi_entry *msi_segment_find(const msi_segment *segment, ms_str key)
{
    if (segment == NULL) {
        return NULL;
    }
    msi_entry *entry = segment->slots[find_slot(segment, key_hash(key), key)].entry;
    return entry != NULL && !entry->is_deleted ? entry : NULL;
}

/* Changes the row of an entry that is there, in place where nobody else sees it. */
static ms_rc replace_row(msi_segment *segment, uint32_t at, msi_heap *heap, uint64_t epoch,
                         ms_str row, ms_status *st)
{
    msi_entry *entry = segment->slots[at].entry;
    uint32_t revived = entry->is_deleted ? 1 : 0;
    if (entry->refs == 1 && row.bytes <= entry->row_capacity) {
        if (row.bytes > 0) {
            memmove(entry->bytes + entry->key_bytes, row.ptr, row.bytes);
        }
        entry->row_bytes = (uint32_t)row.bytes;
        entry->is_deleted = false;
        entry->changed = epoch;
        segment->tombstones -= revived;
        return MS_OK;
    }
    msi_entry *made = entry_make(heap, msi_entry_key(entry), row, st);
    if (made == NULL) {
        return st->code;
    }
    made->changed = epoch;
    made->born = entry->born;
    segment->slots[at].entry = made;
    segment->tombstones -= revived;
    entry_drop(entry, heap);
    return MS_OK;
}

ms_rc msi_segment_put(msi_segment **segment, msi_heap *heap, uint64_t epoch, ms_str key, ms_str row,
                      bool *added_out, ms_status *st)
{
    MS_TRY(make_writable(segment, heap, epoch, false, st));
    msi_segment *own = *segment;
    uint32_t hash = key_hash(key);
    uint32_t at = find_slot(own, hash, key);
    if (own->slots[at].entry != NULL) {
        *added_out = own->slots[at].entry->is_deleted;
        return replace_row(own, at, heap, epoch, row, st);
    }
    msi_entry *entry = entry_make(heap, key, row, st);
    if (entry == NULL) {
        return st->code;
    }
    entry->changed = epoch;
    entry->born = epoch;
    own->slots[at] = (msi_slot){.hash = hash, .entry = entry};
    own->used++;
    *added_out = true;
    return MS_OK;
}

bool msi_segment_delete(msi_segment **segment, msi_heap *heap, uint64_t epoch, ms_str key)
{
    if (msi_segment_find(*segment, key) == NULL) {
        return false;
    }
    /* Forced memory: the call has no way to fail and answers MS_OK. */
    ms_status unused = {0};
    ms_rc rc = make_writable(segment, heap, epoch, true, &unused);
    MS_ASSERT(rc == MS_OK);
    msi_segment *own = *segment;
    uint32_t at = find_slot(own, key_hash(key), key);
    msi_entry *entry = own->slots[at].entry;
    if (entry->born == epoch) {
        remove_slot(own, at);
        entry_drop(entry, heap);
        return true;
    }
    if (entry->refs > 1) {
        msi_entry *tombstone = msi_heap_force(heap, sizeof(msi_entry) + key.bytes);
        entry_fill(tombstone, msi_entry_key(entry), (ms_str){0}, 0);
        tombstone->born = entry->born;
        own->slots[at].entry = tombstone;
        entry_drop(entry, heap);
        entry = tombstone;
    }
    entry->is_deleted = true;
    entry->row_bytes = 0;
    entry->changed = epoch;
    own->tombstones++;
    return true;
}

uint32_t msi_segment_longest_probe(const msi_segment *segment)
{
    uint32_t longest = 0;
    for (uint32_t i = 0; segment != NULL && i < segment->slot_count; i++) {
        if (segment->slots[i].entry != NULL) {
            uint32_t probe = ((i - segment->slots[i].hash) & (segment->slot_count - 1)) + 1;
            longest = probe > longest ? probe : longest;
        }
    }
    return longest;
}
