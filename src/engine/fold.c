/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The final rows of a changelog, as a multiset that remembers the order of arrival. A row is its
 * record (type/rowcodec); equal rows form a chain, newest first, and a removal takes the newest.
 *
 *     entries   [record, next of the same slot, alive]   in order of arrival
 *     slots     hash of the record -> newest entry
 *
 * Records live in an arena and are charged to the account. What was removed leaves its chain at
 * once, and its memory when the living are fewer than the dead.
 */
#include "engine/engine_priv.h"

#include "type/rowcodec.h"

#define RECORD_BYTES_MAX (512u << 20)
#define NO_ENTRY UINT32_MAX
#define SLOTS_FIRST 1024u
#define ENTRIES_MAX (1u << 30)
#define DEAD_MIN 4096u /* fewer dead entries are not worth moving the others */

typedef struct fold_entry {
    ms_str record;
    uint64_t hash;
    uint32_t next;
    bool is_alive;
} fold_entry;

struct msi_fold {
    ms_arena arena;   /* of the codec */
    ms_arena records; /* of the rows */
    ms_account *account;
    uint64_t charged_bytes;
    ms_rowcodec *codec;
    ms_buf scratch;
    fold_entry *entries;
    uint32_t entry_count;
    uint32_t dead_count;
    uint32_t entry_capacity;
    uint32_t *slots;
    uint32_t slot_count;
    uint32_t cursor;
    ms_batch_pool *pool;
    ms_batch *out;
};

msi_fold *msi_fold_create(const ms_schema *schema, ms_account *account)
{
    msi_fold *fold = ms_mem_calloc(1, sizeof *fold);
    ms_arena_init(&fold->arena, 0);
    ms_arena_init(&fold->records, 0);
    fold->account = account;
    fold->codec = ms_rowcodec_make(&fold->arena, schema);
    ms_buf_init(&fold->scratch, RECORD_BYTES_MAX);
    fold->slot_count = SLOTS_FIRST;
    fold->slots = ms_mem_alloc(SLOTS_FIRST * sizeof *fold->slots);
    memset(fold->slots, 0xff, SLOTS_FIRST * sizeof *fold->slots);
    fold->pool = ms_batch_pool_create(schema, MS_BATCH_ROWS_DEFAULT, 1);
    return fold;
}

void msi_fold_destroy(msi_fold *fold)
{
    if (fold == NULL) {
        return;
    }
    ms_batch_drop(fold->out);
    ms_batch_pool_destroy(fold->pool);
    ms_account_unreserve(fold->account, fold->charged_bytes);
    ms_mem_free(fold->entries);
    ms_mem_free(fold->slots);
    ms_buf_release(&fold->scratch);
    ms_arena_release(&fold->records);
    ms_arena_release(&fold->arena);
    ms_mem_free(fold);
}

static ms_rc charge(msi_fold *fold, uint64_t bytes, ms_status *st)
{
    MS_TRY(ms_account_reserve(fold->account, bytes, st));
    fold->charged_bytes += bytes;
    return MS_OK;
}

/* Puts every living entry in its chain again, oldest first. */
static void link_all(msi_fold *fold)
{
    memset(fold->slots, 0xff, fold->slot_count * sizeof *fold->slots);
    for (uint32_t i = 0; i < fold->entry_count; i++) {
        if (fold->entries[i].is_alive) {
            uint32_t *slot = &fold->slots[fold->entries[i].hash & (fold->slot_count - 1)];
            fold->entries[i].next = *slot;
            *slot = i;
        }
    }
}

static ms_rc grow_slots(msi_fold *fold, ms_status *st)
{
    MS_TRY(charge(fold, (uint64_t)fold->slot_count * sizeof *fold->slots, st));
    fold->slot_count *= 2;
    fold->slots = ms_mem_realloc(fold->slots, fold->slot_count * sizeof *fold->slots);
    link_all(fold);
    return MS_OK;
}

/* Moves the living together, in order, and gives the records of the dead back. */
static void bury(msi_fold *fold)
{
    ms_arena old = fold->records;
    ms_arena_init(&fold->records, 0);
    uint32_t kept = 0;
    uint64_t freed = 0;
    for (uint32_t i = 0; i < fold->entry_count; i++) {
        fold_entry entry = fold->entries[i];
        if (entry.is_alive) {
            entry.record = ms_arena_copy_str(&fold->records, entry.record);
            fold->entries[kept++] = entry;
        } else {
            freed += entry.record.bytes;
        }
    }
    ms_arena_release(&old);
    fold->entry_count = kept;
    fold->dead_count = 0;
    ms_account_unreserve(fold->account, freed);
    fold->charged_bytes -= freed;
    link_all(fold);
}

static ms_rc make_room(msi_fold *fold, ms_status *st)
{
    if (fold->entry_count == ENTRIES_MAX) {
        return ms_status_set(st, MS_LIMIT, ms_span_none, "the result has more than %u rows",
                             ENTRIES_MAX);
    }
    if (fold->entry_count == fold->entry_capacity) {
        uint32_t capacity = fold->entry_capacity == 0 ? 256 : fold->entry_capacity * 2;
        uint64_t more = (uint64_t)(capacity - fold->entry_capacity) * sizeof *fold->entries;
        MS_TRY(charge(fold, more, st));
        fold->entries = ms_mem_realloc(fold->entries, capacity * sizeof *fold->entries);
        fold->entry_capacity = capacity;
    }
    return fold->entry_count * 2 >= fold->slot_count ? grow_slots(fold, st) : MS_OK;
}

static ms_rc add_row(msi_fold *fold, ms_str record, ms_status *st)
{
    MS_TRY(make_room(fold, st));
    MS_TRY(charge(fold, record.bytes, st));
    uint64_t hash = ms_str_hash(record);
    uint32_t *slot = &fold->slots[hash & (fold->slot_count - 1)];
    fold->entries[fold->entry_count] = (fold_entry){
        .record = ms_arena_copy_str(&fold->records, record),
        .hash = hash,
        .next = *slot,
        .is_alive = true,
    };
    *slot = fold->entry_count++;
    return MS_OK;
}

/* A removal without its row means that an operator broke the changelog's contract. */
static ms_rc remove_row(msi_fold *fold, ms_str record, ms_status *st)
{
    uint64_t hash = ms_str_hash(record);
    uint32_t *link = &fold->slots[hash & (fold->slot_count - 1)];
    while (*link != NO_ENTRY) {
        fold_entry *entry = &fold->entries[*link];
        if (entry->hash == hash && ms_str_equals(entry->record, record)) {
            entry->is_alive = false;
            *link = entry->next;
            if (++fold->dead_count >= DEAD_MIN && fold->dead_count * 2 > fold->entry_count) {
                bury(fold);
            }
            return MS_OK;
        }
        link = &entry->next;
    }
    return ms_status_set(st, MS_INTERNAL, ms_span_none,
                         "a change of the result removes a row that is not there");
}

ms_rc msi_fold_add(msi_fold *fold, const ms_batch *batch, ms_status *st)
{
    for (uint32_t k = 0; k < ms_batch_live(batch); k++) {
        uint32_t row = ms_batch_row(batch, k);
        ms_buf_reset(&fold->scratch);
        MS_TRY(ms_rowcodec_encode(fold->codec, batch, row, &fold->scratch, st));
        ms_row_kind kind = ms_batch_kind(batch, row);
        bool adds = kind == MS_ROW_INSERT || kind == MS_ROW_UPDATE_AFTER;
        MS_TRY(adds ? add_row(fold, ms_buf_view(&fold->scratch), st)
                    : remove_row(fold, ms_buf_view(&fold->scratch), st));
    }
    return MS_OK;
}

ms_rc msi_fold_next(msi_fold *fold, ms_batch **batch_out, ms_status *st)
{
    *batch_out = NULL;
    ms_batch_drop(fold->out);
    fold->out = ms_batch_pool_take(fold->pool);
    while (fold->cursor < fold->entry_count && !ms_batch_is_full(fold->out)) {
        const fold_entry *entry = &fold->entries[fold->cursor++];
        if (entry->is_alive) {
            MS_TRY(ms_rowcodec_decode(fold->codec, entry->record, fold->out, st));
        }
    }
    if (fold->out->rows > 0) {
        *batch_out = fold->out;
    }
    return MS_OK;
}
