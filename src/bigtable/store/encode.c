/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the mutations of one entry to operations of the batch under way. A SetCell is one put. A
 * delete reads what the row holds and deletes exactly that, cell by cell, because scans over range
 * deletions are many times slower; and, because the entry is not in the store yet, it also deletes
 * what earlier mutations of the same entry put (the overlay). Later operations of a batch win over
 * earlier ones, so that this gives the effect of applying the mutations one by one.
 *
 * Other entries never matter here: a batch with deletes holds every row once (commit.c), so what
 * came before is in the store.
 *
 * Two bounds keep a hostile entry from taking for ever. A delete that would remove more than
 * POINT_DELETES cells, or whose entry has looked back at more than LOOK_BACK mutations, deletes its
 * range as a whole instead: the same effect, and slow scans for whoever asked for it.
 */
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
    uint32_t looked_back;
    int64_t granularity;
} encoder;

static ms_str key_view(const encoder *enc, const char *end)
{
    return (ms_str){enc->commit->key, (size_t)(end - enc->commit->key)};
}

/* The timestamp under which a SetCell is stored. */
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

/* The key of the cell that a SetCell writes, in commit->key. */
static ms_str cell_key(const encoder *enc, const ms_bt_mutation *mutation)
{
    char *to = enc->commit->key + enc->row_bytes;
    to = msi_key_put_column(to, enc->item->family_ids[mutation->family], mutation->qualifier,
                            MSI_KEY_END);
    to = msi_key_put_time(to, cell_time(enc, mutation));
    return key_view(enc, to);
}

/* Does a delete remove the cell that a SetCell of the same row wrote? */
static bool covers(const encoder *enc, const ms_bt_mutation *del, const ms_bt_mutation *set)
{
    if (set->kind != MS_BT_MUTATION_SET_CELL) {
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

/* The overlay: deletes what mutations of this entry before del put. */
static void delete_own(encoder *enc, ms_bt_mutation_cursor start, const ms_bt_mutation *del,
                       uint32_t count)
{
    ms_bt_mutation before;
    for (uint32_t i = 0; i < count && ms_bt_mutation_cursor_next(&start, &before); i++) {
        if (covers(enc, del, &before)) {
            ms_kv_batch_delete(enc->commit->batch, cell_key(enc, &before));
        }
    }
    enc->looked_back += count;
}

/* Start and end of the keys that a delete covers: *start_out in commit->key, *end_out in
 * commit->bound. */
static void delete_bounds(const encoder *enc, const ms_bt_mutation *del, ms_str *start_out,
                          ms_str *end_out)
{
    char *start = enc->commit->key + enc->row_bytes;
    char *end = enc->commit->bound;
    uint32_t family = enc->item->family_ids[del->family];
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
    if (enc->looked_back > LOOK_BACK) {
        delete_bounds(enc, del, &from, &to);
        ms_kv_batch_delete_range(enc->commit->batch, from, to);
        return MS_OK;
    }
    if (!enc->is_absent) {
        delete_bounds(enc, del, &from, &to);
        MS_TRY(delete_stored(enc, from, to, st));
    }
    delete_own(enc, start, del, index);
    return MS_OK;
}

static ms_rc encode_mutations(encoder *enc, ms_bt_mutation_cursor *cursor, ms_status *st)
{
    ms_bt_mutation_cursor start = *cursor;
    ms_bt_mutation mutation;
    for (uint32_t i = 0; ms_bt_mutation_cursor_next(cursor, &mutation); i++) {
        if (mutation.kind == MS_BT_MUTATION_SET_CELL) {
            ms_kv_batch_put(enc->commit->batch, cell_key(enc, &mutation), mutation.value);
        } else {
            MS_TRY(encode_delete(enc, start, &mutation, i, st));
        }
    }
    return MS_OK;
}

ms_rc msi_encode_entry(ms_bt_store *store, const msi_item *item, ms_bt_mutation_cursor *cursor,
                       const ms_bt_mutation_entry *entry, ms_status *st)
{
    encoder enc = {.store = store,
                   .commit = &store->commit,
                   .item = item,
                   .table = item->table->id,
                   .row = entry->key,
                   .granularity = item->table->def->granularity_micros};
    char *end = msi_key_put_row(enc.commit->key, enc.table, entry->key, MSI_KEY_END);
    enc.row_bytes = (size_t)(end - enc.commit->key);
    ms_rc rc = encode_mutations(&enc, cursor, st);
    ms_kv_iter_destroy(enc.reader);
    enc.commit->batch_bytes += entry->bytes;
    enc.commit->batch_mutations += entry->mutation_count;
    return rc;
}
