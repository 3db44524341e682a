/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filling a batch, and the service's rules for what is in it. Appending is the hot path of every
 * sink: one check for room, one header, two copies.
 */
#include "bigtable/model/mutation.h"

#include "base/memory.h"

#define NO_ENTRY SIZE_MAX

void ms_bt_mutation_batch_init(ms_bt_mutation_batch *batch, size_t max_bytes)
{
    MS_ASSERT(max_bytes <= MS_BT_LIMIT_BATCH_BYTES);
    *batch = (ms_bt_mutation_batch){.entry_at = NO_ENTRY};
    ms_buf_init(&batch->data, max_bytes);
    ms_arena_init(&batch->names, 0);
}

void ms_bt_mutation_batch_release(ms_bt_mutation_batch *batch)
{
    ms_buf_release(&batch->data);
    ms_arena_release(&batch->names);
    ms_mem_free(batch->families);
    *batch = (ms_bt_mutation_batch){.entry_at = NO_ENTRY};
}

void ms_bt_mutation_batch_reset(ms_bt_mutation_batch *batch)
{
    ms_buf_reset(&batch->data);
    batch->entry_count = 0;
    batch->mutation_count = 0;
    batch->entry_at = NO_ENTRY;
    batch->has_deletes = false;
}

ms_rc ms_bt_mutation_batch_family(ms_bt_mutation_batch *batch, ms_str name, uint16_t *family_out,
                                  ms_status *st)
{
    *family_out = 0;
    for (uint32_t i = 0; i < batch->family_count; i++) {
        if (ms_str_equals(batch->families[i], name)) {
            *family_out = (uint16_t)i;
            return MS_OK;
        }
    }
    if (batch->family_count == MS_BT_LIMIT_FAMILIES) {
        return ms_status_set(st, MS_LIMIT, ms_span_none,
                             "a batch of mutations names more than %u column families",
                             MS_BT_LIMIT_FAMILIES);
    }
    if (batch->family_count == batch->family_capacity) {
        uint32_t capacity = batch->family_capacity == 0 ? 8 : batch->family_capacity * 2;
        batch->families = ms_mem_realloc(batch->families, capacity * sizeof(ms_str));
        batch->family_capacity = capacity;
    }
    batch->families[batch->family_count] = ms_arena_copy_str(&batch->names, name);
    *family_out = (uint16_t)batch->family_count++;
    return MS_OK;
}

ms_rc ms_bt_mutation_batch_begin_row(ms_bt_mutation_batch *batch, ms_str key, ms_status *st)
{
    MS_ASSERT(batch->entry_at == NO_ENTRY);
    MS_TRY(ms_buf_reserve(&batch->data, MS_BT_ENTRY_HEAD_BYTES + key.bytes, st));
    batch->entry_at = batch->data.bytes;
    batch->entry_mutations = 0;
    batch->entry_has_deletes = false;
    uint32_t head[3] = {0, 0, (uint32_t)key.bytes};
    char *at = batch->data.ptr + batch->data.bytes;
    memcpy(at, head, sizeof(head));
    if (key.bytes > 0) {
        memcpy(at + MS_BT_ENTRY_HEAD_BYTES, key.ptr, key.bytes);
    }
    batch->data.bytes += MS_BT_ENTRY_HEAD_BYTES + key.bytes;
    return MS_OK;
}

static bool is_delete(ms_bt_mutation_kind kind)
{
    return kind == MS_BT_MUTATION_DELETE_FROM_COLUMN || kind == MS_BT_MUTATION_DELETE_FROM_FAMILY ||
           kind == MS_BT_MUTATION_DELETE_FROM_ROW;
}

ms_rc ms_bt_mutation_batch_append(ms_bt_mutation_batch *batch, const ms_bt_mutation *mutation,
                                  ms_status *st)
{
    MS_ASSERT(batch->entry_at != NO_ENTRY && mutation->kind < MS_BT_MUTATION_COUNT);
    bool has_end = mutation->kind == MS_BT_MUTATION_DELETE_FROM_COLUMN;
    size_t bytes = MS_BT_MUTATION_HEAD_BYTES + (has_end ? sizeof(int64_t) : 0) +
                   mutation->qualifier.bytes + mutation->value.bytes;
    MS_TRY(ms_buf_reserve(&batch->data, bytes, st));
    char *at = batch->data.ptr + batch->data.bytes;
    uint32_t sizes[2] = {(uint32_t)mutation->qualifier.bytes, (uint32_t)mutation->value.bytes};
    memcpy(at, sizes, sizeof(sizes));
    memcpy(at + 8, &mutation->timestamp_micros, sizeof(int64_t));
    memcpy(at + 16, &mutation->family, sizeof(uint16_t));
    at[18] = (char)mutation->kind;
    at[19] = (char)mutation->origin;
    at += MS_BT_MUTATION_HEAD_BYTES;
    if (has_end) {
        memcpy(at, &mutation->end_micros, sizeof(int64_t));
        at += sizeof(int64_t);
    }
    if (sizes[0] > 0) {
        memcpy(at, mutation->qualifier.ptr, sizes[0]);
    }
    if (sizes[1] > 0) {
        memcpy(at + sizes[0], mutation->value.ptr, sizes[1]);
    }
    batch->data.bytes += bytes;
    batch->entry_mutations++;
    batch->entry_has_deletes = batch->entry_has_deletes || is_delete(mutation->kind);
    return MS_OK;
}

ms_rc ms_bt_mutation_batch_set_cell(ms_bt_mutation_batch *batch, uint16_t family, ms_str qualifier,
                                    int64_t timestamp_micros, ms_str value, ms_status *st)
{
    ms_bt_mutation mutation = {.kind = MS_BT_MUTATION_SET_CELL,
                               .family = family,
                               .timestamp_micros = timestamp_micros,
                               .qualifier = qualifier,
                               .value = value};
    return ms_bt_mutation_batch_append(batch, &mutation, st);
}

ms_rc ms_bt_mutation_batch_delete_column(ms_bt_mutation_batch *batch, uint16_t family,
                                         ms_str qualifier, int64_t start_micros, int64_t end_micros,
                                         ms_status *st)
{
    ms_bt_mutation mutation = {.kind = MS_BT_MUTATION_DELETE_FROM_COLUMN,
                               .family = family,
                               .timestamp_micros = start_micros,
                               .end_micros = end_micros,
                               .qualifier = qualifier};
    return ms_bt_mutation_batch_append(batch, &mutation, st);
}

ms_rc ms_bt_mutation_batch_delete_family(ms_bt_mutation_batch *batch, uint16_t family,
                                         ms_status *st)
{
    ms_bt_mutation mutation = {.kind = MS_BT_MUTATION_DELETE_FROM_FAMILY, .family = family};
    return ms_bt_mutation_batch_append(batch, &mutation, st);
}

ms_rc ms_bt_mutation_batch_delete_row(ms_bt_mutation_batch *batch, ms_status *st)
{
    ms_bt_mutation mutation = {.kind = MS_BT_MUTATION_DELETE_FROM_ROW};
    return ms_bt_mutation_batch_append(batch, &mutation, st);
}

void ms_bt_mutation_batch_end_row(ms_bt_mutation_batch *batch)
{
    MS_ASSERT(batch->entry_at != NO_ENTRY);
    uint32_t head[2] = {(uint32_t)(batch->data.bytes - batch->entry_at), batch->entry_mutations};
    memcpy(batch->data.ptr + batch->entry_at, head, sizeof(head));
    batch->entry_count++;
    batch->mutation_count += batch->entry_mutations;
    batch->has_deletes = batch->has_deletes || batch->entry_has_deletes;
    batch->entry_at = NO_ENTRY;
}

void ms_bt_mutation_batch_cancel_row(ms_bt_mutation_batch *batch)
{
    MS_ASSERT(batch->entry_at != NO_ENTRY);
    batch->data.bytes = batch->entry_at;
    batch->entry_at = NO_ENTRY;
}

/* Checks. */

#define IN_LIST "Error in Mutation list : Error in element #%u : "

static ms_bt_code check_timestamp(const ms_bt_mutation *mutation, uint32_t index,
                                  int64_t granularity_micros, ms_bt_status *bt)
{
    int64_t micros = mutation->timestamp_micros;
    if (micros == MS_BT_TIMESTAMP_SERVER && mutation->kind == MS_BT_MUTATION_SET_CELL) {
        return MS_BT_OK;
    }
    if (micros < 0) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                IN_LIST "Timestamp must not be negative, but got %lld.", index,
                                (long long)micros);
    }
    if (micros % granularity_micros != 0 && mutation->origin != MS_BT_TIMESTAMP_CLIENT) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                IN_LIST "Timestamp granularity mismatch. Expected a multiple of "
                                        "%lld (millisecond granularity), but got %lld.",
                                index, (long long)granularity_micros, (long long)micros);
    }
    return MS_BT_OK;
}

static ms_bt_code check_time_range(const ms_bt_mutation *mutation, uint32_t index,
                                   int64_t granularity_micros, ms_bt_status *bt)
{
    ms_bt_mutation end = *mutation;
    end.timestamp_micros = mutation->end_micros;
    MS_BT_TRY(check_timestamp(mutation, index, granularity_micros, bt));
    MS_BT_TRY(check_timestamp(&end, index, granularity_micros, bt));
    if (mutation->end_micros != 0 && mutation->end_micros <= mutation->timestamp_micros) {
        return ms_bt_status_set(
            bt, MS_BT_INVALID_ARGUMENT, IN_LIST "inverted or invalid timestamp range [%lld, %lld]",
            index, (long long)mutation->timestamp_micros, (long long)mutation->end_micros);
    }
    return MS_BT_OK;
}

static ms_bt_code check_mutation(const ms_bt_mutation *mutation, uint32_t index,
                                 int64_t granularity_micros, ms_bt_status *bt)
{
    if (mutation->qualifier.bytes > MS_BT_LIMIT_QUALIFIER_BYTES) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                IN_LIST "Column qualifier is %zu bytes long; limit %u", index,
                                mutation->qualifier.bytes, MS_BT_LIMIT_QUALIFIER_BYTES);
    }
    if (mutation->value.bytes > MS_BT_LIMIT_VALUE_BYTES) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                IN_LIST "Cell value is %zu bytes long; limit %u", index,
                                mutation->value.bytes, MS_BT_LIMIT_VALUE_BYTES);
    }
    switch (mutation->kind) {
    case MS_BT_MUTATION_ADD_TO_CELL:
    case MS_BT_MUTATION_MERGE_TO_CELL:
        return ms_bt_status_set(bt, MS_BT_UNIMPLEMENTED, IN_LIST "%s is not supported yet", index,
                                mutation->kind == MS_BT_MUTATION_ADD_TO_CELL ? "AddToCell"
                                                                             : "MergeToCell");
    case MS_BT_MUTATION_SET_CELL:
        return check_timestamp(mutation, index, granularity_micros, bt);
    case MS_BT_MUTATION_DELETE_FROM_COLUMN:
        return check_time_range(mutation, index, granularity_micros, bt);
    case MS_BT_MUTATION_DELETE_FROM_FAMILY:
    case MS_BT_MUTATION_DELETE_FROM_ROW:
    case MS_BT_MUTATION_COUNT:
        break;
    }
    return MS_BT_OK;
}

static ms_bt_code check_entry(const ms_bt_mutation_entry *entry, ms_bt_status *bt)
{
    if (entry->key.bytes == 0) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT, "Row keys must be non-empty");
    }
    if (entry->key.bytes > MS_BT_LIMIT_ROW_KEY_BYTES) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT, "Row key is %zu bytes long; limit %u",
                                entry->key.bytes, MS_BT_LIMIT_ROW_KEY_BYTES);
    }
    if (entry->mutation_count == 0) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT, "No mutations provided");
    }
    return MS_BT_OK;
}

ms_bt_code ms_bt_mutation_batch_check(const ms_bt_mutation_batch *batch, int64_t granularity_micros,
                                      ms_bt_status *bt)
{
    MS_ASSERT(batch->entry_at == NO_ENTRY);
    if (batch->entry_count == 0) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT, "No mutations provided");
    }
    if (batch->mutation_count > MS_BT_LIMIT_MUTATIONS) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Too many mutations: %u provided; limit %u", batch->mutation_count,
                                MS_BT_LIMIT_MUTATIONS);
    }
    ms_bt_mutation_cursor cursor = ms_bt_mutation_cursor_make(batch);
    ms_bt_mutation_entry entry;
    while (ms_bt_mutation_cursor_next_entry(&cursor, &entry)) {
        MS_BT_TRY(check_entry(&entry, bt));
        ms_bt_mutation mutation;
        for (uint32_t i = 0; ms_bt_mutation_cursor_next(&cursor, &mutation); i++) {
            MS_BT_TRY(check_mutation(&mutation, i, granularity_micros, bt));
        }
    }
    return MS_BT_OK;
}
