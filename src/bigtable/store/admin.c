/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls on tables. Those that change the catalog run in the leader's turn, between the writes
 * before and after them; each is one batch, synced in every mode but OS, because a table that came
 * and went would take data with it. Those that only look are answered at once from the snapshot.
 */
#include "bigtable/store/store_priv.h"

static ms_bt_code check_create(const msi_schema *schema, const ms_bt_table *table, ms_bt_status *bt)
{
    MS_BT_TRY(ms_bt_table_check(table, bt));
    if (msi_schema_find(schema, &table->name) != NULL) {
        char path[MS_BT_TABLE_PATH_BYTES];
        ms_bt_table_name_path(&table->name, path);
        return ms_bt_status_set(bt, MS_BT_ALREADY_EXISTS, "table \"%s\" already exists", path);
    }
    return MS_BT_OK;
}

static ms_bt_code check_add(const msi_schema *schema, const ms_bt_table_call *call,
                            ms_bt_status *bt)
{
    MS_BT_TRY(ms_bt_table_name_check(&call->name, bt));
    const msi_table *table = msi_schema_find(schema, &call->name);
    if (table == NULL) {
        return msi_store_no_table(schema, &call->name, bt);
    }
    if (call->family_count + table->def->family_count > MS_BT_LIMIT_FAMILIES) {
        return ms_bt_status_set(
            bt, MS_BT_INVALID_ARGUMENT, "Error in field 'column_families' : %zu families; limit %u",
            call->family_count + table->def->family_count, MS_BT_LIMIT_FAMILIES);
    }
    for (size_t i = 0; i < call->family_count; i++) {
        const ms_bt_family *family = &call->families[i];
        MS_BT_TRY(ms_bt_family_check(family, bt));
        bool is_known = ms_bt_table_family(table->def, family->name) != NULL;
        for (size_t j = 0; j < i; j++) {
            is_known = is_known || ms_str_equals(call->families[j].name, family->name);
        }
        if (is_known) {
            return ms_bt_status_set(bt, MS_BT_ALREADY_EXISTS, "family \"%.*s\" already exists",
                                    MS_STR_ARG(family->name));
        }
    }
    return MS_BT_OK;
}

/* Makes the snapshot and the batch of a change that was checked. */
static ms_rc prepare(ms_bt_store *store, ms_bt_table_call *call, const msi_schema *schema,
                     msi_schema **next_out, ms_status *st)
{
    if (call->call.kind == MS_BT_CALL_CREATE_TABLE) {
        return msi_schema_add_table(schema, call->table, store->commit.batch, next_out, st);
    }
    return msi_schema_add_families(schema, &call->name, call->families, call->family_count,
                                   store->commit.batch, next_out, st);
}

static ms_bt_code check_change(const msi_schema *schema, ms_bt_table_call *call, ms_bt_status *bt)
{
    if (call->call.kind == MS_BT_CALL_CREATE_TABLE) {
        return check_create(schema, call->table, bt);
    }
    if (call->call.kind == MS_BT_CALL_ADD_FAMILIES) {
        return check_add(schema, call, bt);
    }
    MS_ASSERT(call->call.kind == MS_BT_CALL_DROP_TABLE);
    return ms_bt_status_set(bt, MS_BT_UNIMPLEMENTED, "The embedded store does not drop tables yet");
}

void msi_admin_change(ms_bt_store *store, ms_bt_call *base, ms_status *st)
{
    ms_bt_table_call *call = ms_bt_call_table(base);
    msi_schema *schema = msi_store_schema(store);
    msi_schema *next = NULL;
    if (check_change(schema, call, &base->status) == MS_BT_OK) {
        ms_status refused = {0};
        if (prepare(store, call, schema, &next, &refused) != MS_OK) {
            ms_kv_batch_reset(store->commit.batch);
            ms_bt_status_from(&base->status, MS_BT_RESOURCE_EXHAUSTED, &refused);
        }
    }
    if (next != NULL) {
        ms_kv_sync_mode mode = store->sync_mode == MS_BT_SYNC_OS ? MS_KV_NO_SYNC : MS_KV_SYNC;
        if (msi_commit_write(store, mode, st) == MS_OK) {
            if (base->kind == MS_BT_CALL_ADD_FAMILIES) {
                const msi_table *table = msi_schema_find(next, &call->name);
                call->table = ms_bt_table_copy(&call->answer, table->def);
            }
            msi_store_publish(store, next);
        } else {
            msi_schema_drop(next);
        }
    }
    msi_schema_drop(schema);
}

static ms_bt_code get_table(const msi_schema *schema, ms_bt_table_call *call, ms_bt_status *bt)
{
    MS_BT_TRY(ms_bt_table_name_check(&call->name, bt));
    const msi_table *table = msi_schema_find(schema, &call->name);
    if (table == NULL) {
        return msi_store_no_table(schema, &call->name, bt);
    }
    call->table = ms_bt_table_copy(&call->answer, table->def);
    return MS_BT_OK;
}

static ms_bt_code list_tables(const msi_schema *schema, ms_bt_table_call *call, ms_bt_status *bt)
{
    MS_BT_TRY(ms_bt_instance_name_check(&call->name, bt));
    size_t first = 0;
    size_t count = msi_schema_instance(schema, &call->name, &first);
    if (count == 0) {
        return msi_store_no_table(schema, &call->name, bt);
    }
    ms_str *names = ms_arena_array(&call->answer, ms_str, count);
    for (size_t i = 0; i < count; i++) {
        names[i] = ms_arena_copy_str(&call->answer, schema->tables[first + i]->def->name.table);
    }
    call->names = names;
    call->name_count = count;
    return MS_BT_OK;
}

void msi_admin_look(ms_bt_store *store, ms_bt_call *base)
{
    ms_bt_table_call *call = ms_bt_call_table(base);
    msi_schema *schema = msi_store_schema(store);
    if (base->kind == MS_BT_CALL_GET_TABLE) {
        (void)get_table(schema, call, &base->status);
    } else {
        (void)list_tables(schema, call, &base->status);
    }
    msi_schema_drop(schema);
    ms_bt_call_finish(base);
}
