/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filling a batch, and the service's rules for what is in it. Appending is the hot path of every
 * sink: one check for room, one header, two copies.
 */
#include "bigtable/model/mutation.h"

#include "base/memory.h"
#include "bigtable/model/hll.h"

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
    batch->kinds = 0;
    batch->has_tokens = false;
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

/* Words of the head of an entry. */
enum { HEAD_BYTES, HEAD_MUTATIONS, HEAD_KEY, HEAD_TOKEN, HEAD_KINDS, HEAD_WORDS };

_Static_assert(HEAD_WORDS * sizeof(uint32_t) == MS_BT_ENTRY_HEAD_BYTES, "the layout of the header");

ms_rc ms_bt_mutation_batch_begin_row_once(ms_bt_mutation_batch *batch, ms_str key, ms_str token,
                                          int64_t start_micros, ms_status *st)
{
    MS_ASSERT(batch->entry_at == NO_ENTRY);
    size_t token_bytes = token.bytes > 0 ? sizeof(int64_t) + token.bytes : 0;
    size_t bytes = MS_BT_ENTRY_HEAD_BYTES + key.bytes + token_bytes;
    MS_TRY(ms_buf_reserve(&batch->data, bytes, st));
    batch->entry_at = batch->data.bytes;
    batch->entry_mutations = 0;
    batch->entry_kinds = 0;
    uint32_t head[HEAD_WORDS] = {
        [HEAD_KEY] = (uint32_t)key.bytes, [HEAD_TOKEN] = (uint32_t)token.bytes};
    char *at = batch->data.ptr + batch->data.bytes;
    memcpy(at, head, sizeof(head));
    at += sizeof(head);
    if (key.bytes > 0) {
        memcpy(at, key.ptr, key.bytes);
    }
    at += key.bytes;
    if (token.bytes > 0) {
        memcpy(at, &start_micros, sizeof(start_micros));
        memcpy(at + sizeof(start_micros), token.ptr, token.bytes);
    }
    batch->data.bytes += bytes;
    return MS_OK;
}

ms_rc ms_bt_mutation_batch_begin_row(ms_bt_mutation_batch *batch, ms_str key, ms_status *st)
{
    return ms_bt_mutation_batch_begin_row_once(batch, key, (ms_str){NULL, 0}, 0, st);
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
    batch->entry_kinds |= MS_BT_MUTATION_BIT(mutation->kind);
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

ms_rc ms_bt_mutation_batch_add_to_cell(ms_bt_mutation_batch *batch, uint16_t family,
                                       ms_str qualifier, int64_t timestamp_micros, int64_t input,
                                       ms_status *st)
{
    uint64_t bytes = __builtin_bswap64((uint64_t)input);
    char value[sizeof(bytes)];
    memcpy(value, &bytes, sizeof(bytes));
    ms_bt_mutation mutation = {.kind = MS_BT_MUTATION_ADD_TO_CELL,
                               .family = family,
                               .timestamp_micros = timestamp_micros,
                               .qualifier = qualifier,
                               .value = ms_str_make(value, sizeof(value))};
    return ms_bt_mutation_batch_append(batch, &mutation, st);
}

ms_rc ms_bt_mutation_batch_merge_to_cell(ms_bt_mutation_batch *batch, uint16_t family,
                                         ms_str qualifier, int64_t timestamp_micros, ms_str state,
                                         ms_status *st)
{
    ms_bt_mutation mutation = {.kind = MS_BT_MUTATION_MERGE_TO_CELL,
                               .family = family,
                               .timestamp_micros = timestamp_micros,
                               .qualifier = qualifier,
                               .value = state};
    return ms_bt_mutation_batch_append(batch, &mutation, st);
}

void ms_bt_mutation_batch_end_row(ms_bt_mutation_batch *batch)
{
    MS_ASSERT(batch->entry_at != NO_ENTRY);
    uint32_t head[HEAD_WORDS];
    char *at = batch->data.ptr + batch->entry_at;
    memcpy(head, at, sizeof(head));
    head[HEAD_BYTES] = (uint32_t)(batch->data.bytes - batch->entry_at);
    head[HEAD_MUTATIONS] = batch->entry_mutations;
    head[HEAD_KINDS] = batch->entry_kinds;
    memcpy(at, head, sizeof(head));
    batch->entry_count++;
    batch->mutation_count += batch->entry_mutations;
    batch->kinds |= batch->entry_kinds;
    batch->has_tokens = batch->has_tokens || head[HEAD_TOKEN] > 0;
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
        if (mutation->value.bytes != sizeof(int64_t)) {
            return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                    IN_LIST "The input of AddToCell must be a 64-bit integer",
                                    index);
        }
        return check_timestamp(mutation, index, granularity_micros, bt);
    case MS_BT_MUTATION_SET_CELL:
    case MS_BT_MUTATION_MERGE_TO_CELL:
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

/*
 * In an entry that deletes and adds, each looks back at the others before it. The service states no
 * limit; this one keeps what one entry costs below some tens of milliseconds.
 */
static ms_bt_code check_mix(const ms_bt_mutation_entry *entry, ms_bt_status *bt)
{
    bool is_mixed = (entry->kinds & MS_BT_MUTATION_DELETES) != 0 &&
                    (entry->kinds & MS_BT_MUTATION_AGGREGATES) != 0;
    if (is_mixed && entry->mutation_count > MS_BT_LIMIT_MIXED_MUTATIONS) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Too many mutations in an entry that deletes and aggregates: %u "
                                "provided; limit %u",
                                entry->mutation_count, MS_BT_LIMIT_MIXED_MUTATIONS);
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
    if (entry->token.bytes > 0 && (entry->token.bytes < MS_BT_LIMIT_TOKEN_BYTES_MIN ||
                                   entry->token.bytes > MS_BT_LIMIT_TOKEN_BYTES)) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'idempotency' : token is %zu bytes long; it must "
                                "be %u to %u",
                                entry->token.bytes, MS_BT_LIMIT_TOKEN_BYTES_MIN,
                                MS_BT_LIMIT_TOKEN_BYTES);
    }
    return check_mix(entry, bt);
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

static ms_bt_code check_sketch(const ms_bt_mutation *mutation, uint32_t index,
                               const ms_bt_family *family, ms_bt_status *bt)
{
    ms_bt_hll hll;
    ms_bt_status cause = {0};
    bool is_sketch = ms_bt_hll_init(&hll, mutation->value, &cause) == MS_BT_OK;
    if (is_sketch && !ms_bt_hll_is_usual(&hll)) {
        ms_bt_status_set(&cause, MS_BT_INVALID_ARGUMENT,
                         "the sparse precision is not five more than the precision");
    }
    if (is_sketch) {
        ms_bt_hll_release(&hll);
    }
    if (ms_bt_status_is_ok(&cause)) {
        return MS_BT_OK;
    }
    return ms_bt_status_set(bt, cause.code, IN_LIST "No state of family '%.*s' : %s", index,
                            MS_STR_ARG(family->name), cause.text);
}

ms_bt_code ms_bt_mutation_check_type(const ms_bt_mutation *mutation, uint32_t index,
                                     const ms_bt_family *family, ms_bt_status *bt)
{
    bool aggregates = (MS_BT_MUTATION_BIT(mutation->kind) & MS_BT_MUTATION_AGGREGATES) != 0;
    bool is_raw = family->type == MS_BT_VALUE_RAW;
    if (mutation->kind == MS_BT_MUTATION_SET_CELL && !is_raw) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                IN_LIST "SetCell cannot write to the aggregate family '%.*s'",
                                index, MS_STR_ARG(family->name));
    }
    if (aggregates && is_raw) {
        return ms_bt_status_set(
            bt, MS_BT_INVALID_ARGUMENT, IN_LIST "%s needs an aggregate family, which '%.*s' is not",
            index, mutation->kind == MS_BT_MUTATION_ADD_TO_CELL ? "AddToCell" : "MergeToCell",
            MS_STR_ARG(family->name));
    }
    if (mutation->kind != MS_BT_MUTATION_MERGE_TO_CELL || mutation->value.bytes == 0) {
        return MS_BT_OK;
    }
    if (family->type == MS_BT_VALUE_INT64_HLL) {
        return check_sketch(mutation, index, family, bt);
    }
    if (mutation->value.bytes != sizeof(int64_t)) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                IN_LIST "A state of family '%.*s' is 8 bytes long, but got %zu",
                                index, MS_STR_ARG(family->name), mutation->value.bytes);
    }
    return MS_BT_OK;
}
