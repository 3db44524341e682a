/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the service checks of a writing call before anything of it is written: the whole request,
 * against the catalog as the leader finds it. One bad mutation fails all entries.
 *
 * How a MutateRows fails depends on what is wrong, as on the service: a request that breaks a rule
 * fails as one; where the table or a family is missing, every entry says so.
 */
#include "base/memory.h"
#include "bigtable/store/store_priv.h"

/* Families. */

void msi_request_release(msi_item *item)
{
    if (item->families != item->own_families) {
        ms_mem_free(item->families);
    }
    item->families = NULL;
}

bool msi_request_families(msi_item *item, const ms_bt_mutation_batch *batch)
{
    uint32_t count = ms_bt_mutation_batch_family_count(batch);
    msi_request_release(item);
    item->families =
        count <= MSI_ITEM_FAMILIES ? item->own_families : ms_mem_alloc(count * sizeof(uint16_t));
    const ms_bt_table *def = item->table->def;
    bool all_known = true;
    for (uint32_t i = 0; i < count; i++) {
        ms_str name = ms_bt_mutation_batch_family_name(batch, (uint16_t)i);
        const ms_bt_family *family = ms_bt_table_family(def, name);
        item->families[i] = family == NULL ? MSI_NO_FAMILY : (uint16_t)(family - def->families);
        all_known = all_known && family != NULL;
    }
    return all_known;
}

static ms_bt_code no_family(const msi_item *item, ms_str row, ms_bt_status *bt)
{
    char key[128];
    char path[MS_BT_TABLE_PATH_BYTES];
    ms_bt_table_name_path(&item->table->def->name, path);
    return ms_bt_status_set(
        bt, MS_BT_NOT_FOUND,
        "Error while mutating the row '%s' (%s) : Requested column family not found.",
        ms_bt_bytes_text(row, key, sizeof(key)), path);
}

/* Is it a mutation of a sketch? */
static bool is_of_sketch(const msi_item *item, const ms_bt_mutation *mutation)
{
    return (MS_BT_MUTATION_BIT(mutation->kind) & MS_BT_MUTATION_AGGREGATES) != 0 &&
           item->table->def->families[item->families[mutation->family]].type ==
               MS_BT_VALUE_INT64_HLL;
}

/* How many sketches an entry changes; the cursor stands at its start. */
static uint32_t count_sketches(ms_bt_store *store, const msi_item *item,
                               ms_bt_mutation_cursor cursor)
{
    msi_overlay *cells = store->commit.trial;
    ms_bt_mutation mutation;
    while (ms_bt_mutation_cursor_next(&cursor, &mutation)) {
        if (is_of_sketch(item, &mutation)) {
            char *to = msi_key_put_u32(store->commit.key, mutation.family);
            to = msi_key_put_time(to, mutation.timestamp_micros);
            to = msi_key_put_escaped(to, mutation.qualifier);
            bool is_new = false;
            ms_str key = ms_str_make(store->commit.key, (size_t)(to - store->commit.key));
            (void)msi_overlay_at(cells, key, &is_new);
        }
    }
    uint32_t count = msi_overlay_count(cells);
    msi_overlay_reset(cells);
    return count;
}

/* Counts the mutations of an entry that change sketches, and checks each against its family. A
 * batch may know names that no entry uses; only a used one is an error. */
static ms_bt_code check_entry(const msi_item *item, ms_str key, ms_bt_mutation_cursor *cursor,
                              uint32_t *of_sketches_out, ms_bt_status *bt)
{
    ms_bt_mutation mutation;
    *of_sketches_out = 0;
    for (uint32_t i = 0; ms_bt_mutation_cursor_next(cursor, &mutation); i++) {
        if (mutation.kind == MS_BT_MUTATION_DELETE_FROM_ROW) {
            continue;
        }
        uint16_t family = item->families[mutation.family];
        if (family == MSI_NO_FAMILY) {
            return no_family(item, key, bt);
        }
        MS_BT_TRY(ms_bt_mutation_check_type(&mutation, i, &item->table->def->families[family], bt));
        *of_sketches_out += is_of_sketch(item, &mutation);
    }
    return MS_BT_OK;
}

static ms_bt_code check_mutations(ms_bt_store *store, const msi_item *item,
                                  const ms_bt_mutation_batch *batch, ms_bt_status *bt)
{
    ms_bt_mutation_cursor cursor = ms_bt_mutation_cursor_make(batch);
    ms_bt_mutation_entry entry;
    while (ms_bt_mutation_cursor_next_entry(&cursor, &entry)) {
        ms_bt_mutation_cursor start = cursor;
        uint32_t of_sketches = 0;
        MS_BT_TRY(check_entry(item, entry.key, &cursor, &of_sketches, bt));
        uint32_t sketches =
            of_sketches > MS_BT_LIMIT_SKETCHES ? count_sketches(store, item, start) : of_sketches;
        if (sketches > MS_BT_LIMIT_SKETCHES) {
            return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                    "Too many sketches in one entry: %u provided; limit %u",
                                    sketches, MS_BT_LIMIT_SKETCHES);
        }
    }
    return MS_BT_OK;
}

static bool has_aggregates(const ms_bt_table *table)
{
    for (size_t i = 0; i < table->family_count; i++) {
        if (table->families[i].type != MS_BT_VALUE_RAW) {
            return true;
        }
    }
    return false;
}

/* Tokens are of use while the server can tell how old they are. */
static ms_bt_code check_tokens(const ms_bt_mutation_batch *batch, int64_t now_micros,
                               ms_bt_status *bt)
{
    ms_bt_mutation_cursor cursor = ms_bt_mutation_cursor_make(batch);
    ms_bt_mutation_entry entry;
    while (ms_bt_mutation_cursor_next_entry(&cursor, &entry)) {
        if (entry.token.bytes > 0 &&
            (entry.token_start_micros <= 0 ||
             entry.token_start_micros > now_micros + MS_BT_LIMIT_TOKEN_MICROS)) {
            return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                    "Error in field 'idempotency' : start_time must be set, and at "
                                    "most 15 minutes in the future");
        }
    }
    return MS_BT_OK;
}

static ms_bt_code check_batch(ms_bt_store *store, msi_item *item, const ms_bt_mutation_batch *batch,
                              ms_bt_status *bt)
{
    const ms_bt_table *def = item->table->def;
    MS_BT_TRY(ms_bt_mutation_batch_check(batch, def->granularity_micros, bt));
    if (ms_bt_mutation_batch_has_tokens(batch)) {
        MS_BT_TRY(check_tokens(batch, store->commit.micros, bt));
    }
    bool all_known = msi_request_families(item, batch);
    bool may_mismatch =
        (ms_bt_mutation_batch_kinds(batch) & MS_BT_MUTATION_AGGREGATES) != 0 || has_aggregates(def);
    if (!all_known || may_mismatch) {
        MS_BT_TRY(check_mutations(store, item, batch, bt));
    }
    return MS_BT_OK;
}

/* Rows. */

static ms_bt_code check_key(ms_str key, ms_bt_status *bt)
{
    if (key.bytes == 0) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT, "Row keys must be non-empty");
    }
    if (key.bytes > MS_BT_LIMIT_ROW_KEY_BYTES) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT, "Row key is %zu bytes long; limit %u",
                                key.bytes, MS_BT_LIMIT_ROW_KEY_BYTES);
    }
    return MS_BT_OK;
}

static bool has_entries(const ms_bt_mutation_batch *batch)
{
    return batch != NULL && ms_bt_mutation_batch_entries(batch) > 0;
}

static ms_bt_code check_check(ms_bt_store *store, msi_item *item, ms_bt_check_and_mutate *call,
                              ms_bt_status *bt)
{
    MS_BT_TRY(check_key(call->row_key, bt));
    if (!has_entries(call->if_true) && !has_entries(call->if_false)) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT, "No mutations provided");
    }
    if (has_entries(call->if_true)) {
        MS_BT_TRY(check_batch(store, item, call->if_true, bt));
    }
    if (has_entries(call->if_false)) {
        MS_BT_TRY(check_batch(store, item, call->if_false, bt));
    }
    return MS_BT_OK;
}

static ms_bt_code check_rule(const msi_item *item, const ms_bt_read_modify_write *call,
                             size_t index, ms_bt_status *bt)
{
    const ms_bt_rule *rule = &call->rules[index];
    if (rule->qualifier.bytes > MS_BT_LIMIT_QUALIFIER_BYTES) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'rules' : Error in element #%zu : Column qualifier "
                                "is %zu bytes long; limit %u",
                                index, rule->qualifier.bytes, MS_BT_LIMIT_QUALIFIER_BYTES);
    }
    const ms_bt_family *family = ms_bt_table_family(item->table->def, rule->family);
    if (family == NULL) {
        return no_family(item, call->row_key, bt);
    }
    if (family->type != MS_BT_VALUE_RAW) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Error in field 'rules' : Error in element #%zu : "
                                "ReadModifyWriteRow cannot write to the aggregate family '%.*s'",
                                index, MS_STR_ARG(family->name));
    }
    return MS_BT_OK;
}

static ms_bt_code check_rules(const msi_item *item, const ms_bt_read_modify_write *call,
                              ms_bt_status *bt)
{
    MS_BT_TRY(check_key(call->row_key, bt));
    if (call->rule_count == 0) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT, "No rules provided");
    }
    if (call->rule_count > MS_BT_LIMIT_RULES) {
        return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT,
                                "Too many rules: %zu provided; limit %u", call->rule_count,
                                MS_BT_LIMIT_RULES);
    }
    for (size_t i = 0; i < call->rule_count; i++) {
        MS_BT_TRY(check_rule(item, call, i, bt));
    }
    return MS_BT_OK;
}

/* Calls. */

static const ms_bt_table_name *table_of(ms_bt_call *call)
{
    if (call->kind == MS_BT_CALL_CHECK_AND_MUTATE) {
        return ms_bt_call_check_and_mutate(call)->table;
    }
    if (call->kind == MS_BT_CALL_READ_MODIFY_WRITE) {
        return ms_bt_call_read_modify_write(call)->table;
    }
    return ms_bt_call_mutate_rows(call)->table;
}

static ms_bt_code find_table(ms_bt_call *call)
{
    msi_item *item = msi_store_item(call);
    const ms_bt_table_name *name = table_of(call);
    MS_BT_TRY(ms_bt_table_name_check(name, &call->status));
    item->table = msi_schema_find(item->schema, name);
    return item->table != NULL ? MS_BT_OK : msi_store_no_table(item->schema, name, &call->status);
}

static ms_bt_code check_profile(ms_bt_call *call)
{
    msi_item *item = msi_store_item(call);
    msi_access access =
        call->kind == MS_BT_CALL_MUTATE_ROWS ? MSI_ACCESS_WRITE : MSI_ACCESS_TRANSACTION;
    return msi_profile_check(item->schema, &item->table->def->name, call->app_profile, access,
                             &item->cluster, &call->status);
}

static ms_bt_code check_contents(ms_bt_store *store, ms_bt_call *call)
{
    msi_item *item = msi_store_item(call);
    if (call->kind == MS_BT_CALL_CHECK_AND_MUTATE) {
        return check_check(store, item, ms_bt_call_check_and_mutate(call), &call->status);
    }
    if (call->kind == MS_BT_CALL_READ_MODIFY_WRITE) {
        return check_rules(item, ms_bt_call_read_modify_write(call), &call->status);
    }
    const ms_bt_mutation_batch *batch = ms_bt_call_mutate_rows(call)->batch;
    MS_BT_TRY(check_batch(store, item, batch, &call->status));
    item->cursor = ms_bt_mutation_cursor_make(batch);
    return MS_BT_OK;
}

/* Gives the status of a call to each of its entries instead. */
static void fail_entries(ms_bt_call *base)
{
    if (base->kind != MS_BT_CALL_MUTATE_ROWS || base->status.code != MS_BT_NOT_FOUND ||
        ms_bt_call_mutate_rows(base)->is_single) {
        return;
    }
    ms_bt_mutate_rows *call = ms_bt_call_mutate_rows(base);
    ms_str text = ms_str_cstr(base->status.text);
    ms_status st = {0};
    uint32_t count = ms_bt_mutation_batch_entries(call->batch);
    for (uint32_t i = 0; i < count; i++) {
        if (ms_bt_failures_add(&call->failures, i, MS_BT_NOT_FOUND, text, &st) != MS_OK) {
            /* No room to say it of each: the call says it of all. */
            return;
        }
    }
    if (count > 0) {
        ms_bt_status_clear(&base->status);
    }
}

bool msi_request_begin(ms_bt_store *store, ms_bt_call *call)
{
    msi_item *item = msi_store_item(call);
    item->is_begun = true;
    if (ms_bt_call_is_canceled(call)) {
        ms_bt_status_set(&call->status, MS_BT_CANCELLED, "The call was canceled before it began");
        return false;
    }
    item->schema = msi_store_schema(store);
    if (find_table(call) != MS_BT_OK) {
        fail_entries(call);
        return false;
    }
    if (check_profile(call) != MS_BT_OK) {
        return false;
    }
    if (check_contents(store, call) != MS_BT_OK) {
        fail_entries(call);
        return false;
    }
    return true;
}
