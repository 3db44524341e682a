/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the mutations of one entry to operations of the batch under way. A SetCell is one put. A
 * delete reads what the row holds and deletes exactly that, cell by cell, because scans over range
 * deletions are many times slower; and, because the entry is not in the store yet, it also deletes
 * what earlier mutations of the same entry put. Later operations of a batch win over earlier ones,
 * so that this gives the effect of applying the mutations one by one. Aggregates are combined in
 * the overlay, which the batch receives at its end.
 *
 * Other entries matter only through the overlay: a batch never holds two entries of a row of which
 * one reads what the other wrote (row_set.h), so everything else that came before is in the store.
 *
 * Bounds keep a hostile entry from taking for ever. A delete that would remove more than
 * POINT_DELETES cells, or whose entry has looked back at more than LOOK_BACK mutations, deletes its
 * range as a whole instead: the same effect, and slow scans for whoever asked for it. An entry that
 * both deletes and aggregates is short (MS_BT_LIMIT_MIXED_MUTATIONS), and looks back always.
 */
#include "bigtable/store/aggregate.h"
#include "bigtable/store/row_set.h"
#include "bigtable/store/store_priv.h"

#define POINT_DELETES 10000u
#define LOOK_BACK (1u << 20)

/* One entry under way. */
typedef struct encoder {
    ms_bt_store *store;
    msi_commit *commit;
    const msi_item *item;
    uint32_t table;
    ms_str row;
    size_t row_bytes;   /* of the row part, at the start of commit->key */
    ms_kv_iter *reader; /* over the row; made by the first delete */
    bool is_absent;     /* the store has no cell of the row */
    bool is_mixed;      /* deletes and aggregates */
    uint32_t looked_back;
    int64_t granularity;
} encoder;

static ms_str key_view(const encoder *enc, const char *end)
{
    return (ms_str){enc->commit->key, (size_t)(end - enc->commit->key)};
}

/* The timestamp under which a SetCell or an aggregate is stored. */
static int64_t cell_time(const encoder *enc, const ms_bt_mutation *mutation)
{
    int64_t micros = mutation->timestamp_micros == MS_BT_TIMESTAMP_SERVER
                         ? enc->commit->micros
                         : mutation->timestamp_micros;
    if (mutation->timestamp_micros == MS_BT_TIMESTAMP_SERVER ||
        mutation->origin == MS_BT_TIMESTAMP_CLIENT) {
        micros -= micros % enc->granularity;
    }
    return micros;
}

static uint32_t family_id(const encoder *enc, const ms_bt_mutation *mutation)
{
    return enc->item->table->family_ids[enc->item->families[mutation->family]];
}

static ms_bt_value_type family_type(const encoder *enc, const ms_bt_mutation *mutation)
{
    return enc->item->table->def->families[enc->item->families[mutation->family]].type;
}

/* The key of the cell that a mutation writes, in commit->key. */
static ms_str cell_key(const encoder *enc, const ms_bt_mutation *mutation)
{
    char *to = enc->commit->key + enc->row_bytes;
    to = msi_key_put_column(to, family_id(enc, mutation), mutation->qualifier, MSI_KEY_END);
    to = msi_key_put_time(to, cell_time(enc, mutation));
    return key_view(enc, to);
}

static bool is_delete(const ms_bt_mutation *mutation)
{
    return (MS_BT_MUTATION_BIT(mutation->kind) & MS_BT_MUTATION_DELETES) != 0;
}

/* Does a delete remove the cell that another mutation of the same row wrote? */
static bool covers(const encoder *enc, const ms_bt_mutation *del, const ms_bt_mutation *set)
{
    if (is_delete(set)) {
        return false;
    }
    if (del->kind == MS_BT_MUTATION_DELETE_FROM_ROW) {
        return true;
    }
    if (del->family != set->family) {
        return false;
    }
    if (del->kind == MS_BT_MUTATION_DELETE_FROM_FAMILY) {
        return true;
    }
    int64_t micros = cell_time(enc, set);
    return ms_str_equals(del->qualifier, set->qualifier) && micros >= del->timestamp_micros &&
           (del->end_micros == 0 || micros < del->end_micros);
}

/* Deletes what mutations of this entry before del put, into the batch or into the overlay. */
static ms_rc delete_own(encoder *enc, ms_bt_mutation_cursor start, const ms_bt_mutation *del,
                        uint32_t count, ms_status *st)
{
    ms_bt_mutation before;
    for (uint32_t i = 0; i < count && ms_bt_mutation_cursor_next(&start, &before); i++) {
        if (!covers(enc, del, &before)) {
            continue;
        }
        if (before.kind == MS_BT_MUTATION_SET_CELL) {
            ms_kv_batch_delete(enc->commit->batch, cell_key(enc, &before));
            continue;
        }
        msi_overlay_cell *cell = msi_overlay_find(enc->commit->overlay, cell_key(enc, &before));
        if (cell != NULL) {
            MS_TRY(msi_aggregate_clear(family_type(enc, &before), cell, st));
        }
    }
    enc->looked_back += count;
    return MS_OK;
}

/* Start and end of the keys that a delete covers: *start_out in commit->key, *end_out in
 * commit->bound. */
static void delete_bounds(const encoder *enc, const ms_bt_mutation *del, ms_str *start_out,
                          ms_str *end_out)
{
    char *start = enc->commit->key + enc->row_bytes;
    char *end = enc->commit->bound;
    uint32_t family = del->kind == MS_BT_MUTATION_DELETE_FROM_ROW ? 0 : family_id(enc, del);
    if (del->kind == MS_BT_MUTATION_DELETE_FROM_ROW) {
        end = msi_key_put_row(end, enc->table, enc->row, MSI_KEY_BEHIND);
    } else if (del->kind == MS_BT_MUTATION_DELETE_FROM_FAMILY) {
        end = msi_key_put_row(end, enc->table, enc->row, MSI_KEY_END);
        start = msi_key_put_u32(start, family);
        end = msi_key_put_u32(end, family + 1);
    } else {
        /* Newest first: the keys begin at the newest time below the end. */
        end = msi_key_put_row(end, enc->table, enc->row, MSI_KEY_END);
        start = msi_key_put_column(start, family, del->qualifier, MSI_KEY_END);
        if (del->end_micros != 0) {
            start = msi_key_put_time(start, del->end_micros - 1);
        }
        if (del->timestamp_micros == 0) {
            end = msi_key_put_column(end, family, del->qualifier, MSI_KEY_BEHIND);
        } else {
            end = msi_key_put_column(end, family, del->qualifier, MSI_KEY_END);
            end = msi_key_put_time(end, del->timestamp_micros - 1);
        }
    }
    *start_out = key_view(enc, start);
    *end_out = (ms_str){enc->commit->bound, (size_t)(end - enc->commit->bound)};
}

/* Opens the reader over the row and finds out whether there is anything. */
static ms_rc open_reader(encoder *enc, ms_status *st)
{
    char *end = msi_key_put_row(enc->commit->bound, enc->table, enc->row, MSI_KEY_BEHIND);
    ms_str upper = {enc->commit->bound, (size_t)(end - enc->commit->bound)};
    enc->reader = ms_kv_iter_create(enc->store->kv, &(ms_kv_iter_options){.upper = upper});
    ms_kv_entry entry;
    enc->is_absent =
        !ms_kv_iter_seek(enc->reader, key_view(enc, enc->commit->key + enc->row_bytes), &entry);
    return ms_kv_iter_check(enc->reader, st);
}

/* Deletes what the store holds in the range, cell by cell. */
static ms_rc delete_stored(encoder *enc, ms_str start, ms_str end, ms_status *st)
{
    ms_kv_entry entry;
    uint32_t deleted = 0;
    bool valid = ms_kv_iter_seek(enc->reader, start, &entry);
    while (valid && ms_str_compare(entry.key, end) < 0) {
        if (deleted++ == POINT_DELETES) {
            ms_kv_batch_delete_range(enc->commit->batch, start, end);
            return MS_OK;
        }
        ms_kv_batch_delete(enc->commit->batch, entry.key);
        valid = ms_kv_iter_next(enc->reader, &entry);
    }
    return ms_kv_iter_check(enc->reader, st);
}

static ms_rc encode_delete(encoder *enc, ms_bt_mutation_cursor start, const ms_bt_mutation *del,
                           uint32_t index, ms_status *st)
{
    if (enc->reader == NULL) {
        MS_TRY(open_reader(enc, st));
    }
    ms_str from;
    ms_str to;
    if (enc->looked_back > LOOK_BACK && !enc->is_mixed) {
        delete_bounds(enc, del, &from, &to);
        ms_kv_batch_delete_range(enc->commit->batch, from, to);
        return MS_OK;
    }
    if (!enc->is_absent) {
        delete_bounds(enc, del, &from, &to);
        MS_TRY(delete_stored(enc, from, to, st));
    }
    return delete_own(enc, start, del, index, st);
}

/* Does a mutation of this entry before the index-th delete the cell of that? */
static bool is_deleted(const encoder *enc, ms_bt_mutation_cursor start, const ms_bt_mutation *add,
                       uint32_t index)
{
    ms_bt_mutation before;
    for (uint32_t i = 0; i < index && ms_bt_mutation_cursor_next(&start, &before); i++) {
        if (is_delete(&before) && covers(enc, &before, add)) {
            return true;
        }
    }
    return false;
}

/* Fills a new cell of the overlay with what the store has. */
static ms_rc load_aggregate(const encoder *enc, ms_bt_value_type type, msi_overlay_cell *cell,
                            ms_status *st)
{
    ms_buf *state = &enc->commit->value;
    ms_buf_reset(state);
    bool is_found = false;
    MS_TRY(ms_kv_get(enc->store->kv, cell->key, state, &is_found, st));
    /* A sketch is larger than what is added to it. */
    enc->commit->batch_bytes += state->bytes;
    return is_found ? msi_aggregate_load(type, cell, ms_buf_view(state), st)
                    : msi_aggregate_clear(type, cell, st);
}

static ms_rc encode_aggregate(const encoder *enc, ms_bt_mutation_cursor start,
                              const ms_bt_mutation *mutation, uint32_t index, ms_status *st)
{
    bool is_merge = mutation->kind == MS_BT_MUTATION_MERGE_TO_CELL;
    if (is_merge && mutation->value.bytes == 0) {
        return MS_OK;
    }
    ms_bt_value_type type = family_type(enc, mutation);
    bool is_new = false;
    msi_overlay_cell *cell = msi_overlay_at(enc->commit->overlay, cell_key(enc, mutation), &is_new);
    if (is_new) {
        bool is_gone = enc->is_mixed && is_deleted(enc, start, mutation, index);
        MS_TRY(is_gone ? msi_aggregate_clear(type, cell, st) : load_aggregate(enc, type, cell, st));
    }
    if (is_merge) {
        return msi_aggregate_merge(type, cell, mutation->value, st);
    }
    return msi_aggregate_add(type, cell, msi_number_load(mutation->value.ptr), st);
}

/* Says the mutation to the change stream as it was applied. */
static ms_rc log_mutation(const encoder *enc, const ms_bt_mutation *mutation, ms_status *st)
{
    if (mutation->kind == MS_BT_MUTATION_MERGE_TO_CELL && mutation->value.bytes == 0) {
        return MS_OK;
    }
    bool is_row = mutation->kind == MS_BT_MUTATION_DELETE_FROM_ROW;
    msi_log_mutation applied = {.kind = mutation->kind,
                                .family_id = is_row ? 0 : family_id(enc, mutation),
                                .timestamp_micros = is_delete(mutation) ? mutation->timestamp_micros
                                                                        : cell_time(enc, mutation),
                                .end_micros = mutation->end_micros,
                                .qualifier = mutation->qualifier,
                                .value = mutation->value};
    return msi_log_add(enc->store, &applied, st);
}

static ms_rc encode_mutations(encoder *enc, ms_bt_mutation_cursor *cursor, ms_status *st)
{
    ms_bt_mutation_cursor start = *cursor;
    bool is_logged = enc->item->table->is_logged;
    ms_bt_mutation mutation;
    for (uint32_t i = 0; ms_bt_mutation_cursor_next(cursor, &mutation); i++) {
        if (mutation.kind == MS_BT_MUTATION_SET_CELL) {
            ms_kv_batch_put(enc->commit->batch, cell_key(enc, &mutation), mutation.value);
        } else if (is_delete(&mutation)) {
            MS_TRY(encode_delete(enc, start, &mutation, i, st));
        } else {
            MS_TRY(encode_aggregate(enc, start, &mutation, i, st));
        }
        if (is_logged) {
            MS_TRY(log_mutation(enc, &mutation, st));
        }
    }
    return MS_OK;
}

uint32_t msi_entry_use(const ms_bt_mutation_entry *entry)
{
    uint32_t use = 0;
    if ((entry->kinds & MS_BT_MUTATION_BIT(MS_BT_MUTATION_SET_CELL)) != 0) {
        use |= MSI_ROW_SET;
    }
    if ((entry->kinds & MS_BT_MUTATION_AGGREGATES) != 0) {
        use |= MSI_ROW_ADD;
    }
    if ((entry->kinds & MS_BT_MUTATION_DELETES) != 0) {
        use |= MSI_ROW_READ;
    }
    return use;
}

ms_rc msi_encode_entry(ms_bt_store *store, const msi_item *item, ms_bt_mutation_cursor *cursor,
                       const ms_bt_mutation_entry *entry, ms_status *st)
{
    encoder enc = {.store = store,
                   .commit = &store->commit,
                   .item = item,
                   .table = item->table->id,
                   .row = entry->key,
                   .is_mixed = (entry->kinds & MS_BT_MUTATION_DELETES) != 0 &&
                               (entry->kinds & MS_BT_MUTATION_AGGREGATES) != 0,
                   .granularity = item->table->def->granularity_micros};
    char *end = msi_key_put_row(enc.commit->key, enc.table, entry->key, MSI_KEY_END);
    enc.row_bytes = (size_t)(end - enc.commit->key);
    if (item->table->is_logged) {
        msi_log_begin(store, item->table, entry->key, item->cluster);
    }
    ms_rc rc = encode_mutations(&enc, cursor, st);
    ms_kv_iter_destroy(enc.reader);
    enc.commit->batch_bytes += entry->bytes;
    enc.commit->batch_mutations += entry->mutation_count;
    if (rc == MS_OK && item->table->is_logged) {
        rc = msi_log_end(store, st);
    }
    return rc;
}
