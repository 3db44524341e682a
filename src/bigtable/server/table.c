/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Administration of tables, and Millstream's own service of tablets. One handler for all: the
 * client's call for tables, and what the answer is made of.
 */
/* tidy: no-unit-test: tests/unit/bigtable/server runs the tests of the store over it */
#include "bigtable/server/server_priv.h"

#include "base/env.h"
#include "bigtable/store/instance.h"
#include "bigtable/wire/resource.h"
#include "bigtable/wire/schema.h"
#include "bigtable/wire/time.h"

#define PAGE_TABLES_MAX 1000

typedef struct table_call {
    msi_call call; /* first */
    ms_bt_table_call table;
    ms_bt_table def; /* CreateTable, UpdateTable */
    ms_wire_table_view view;
    ms_str after; /* ListTables: names behind this one; CheckConsistency: the token */
    size_t page_size;
    const ms_str *names;
    size_t name_count;
    size_t next; /* of the names of this page */
    size_t last; /* behind them */
    ms_pb_list_tables_response *list;
} table_call;

/* Common. */

static table_call *handler_of(msi_call *call)
{
    return (table_call *)(void *)call;
}

/* The call has failed, and is over. */
static bool has_failed(table_call *handler, const ms_bt_call *store_call)
{
    handler->call.store_call = NULL;
    if (ms_bt_status_is_ok(&store_call->status)) {
        return false;
    }
    msi_call_finish(&handler->call, &store_call->status);
    return true;
}

static void init_call(table_call *handler, ms_bt_done_fn done)
{
    ms_bt_table_call_init(&handler->table, msi_call_mailbox(&handler->call), done, handler);
}

static void submit(table_call *handler, void (*fn)(ms_bt_client *client, ms_bt_table_call *call))
{
    handler->call.store_call = &handler->table.call;
    fn(handler->call.server->client, &handler->table);
}

static void release(msi_call *call)
{
    if (call->has_request) {
        ms_bt_table_call_release(&handler_of(call)->table);
    }
}

static ms_pb_table *table_to_pb(table_call *handler, const ms_bt_table *table,
                                ms_wire_table_view view)
{
    ms_arena *arena = &handler->call.arena;
    ms_pb_table *out = ms_wire_table_to_pb(table, view, arena);
    if (ms_wire_table_view_has_clusters(view)) {
        const ms_str *ids = NULL;
        size_t count =
            ms_bt_store_cluster_ids(handler->call.server->store, &table->name, arena, &ids);
        ms_wire_table_add_clusters(out, ids, count, arena);
    }
    return out;
}

static void reply_table(table_call *handler, const ms_bt_table *table, ms_wire_table_view view)
{
    msi_call_reply(&handler->call, &table_to_pb(handler, table, view)->base);
}

/* Answers that are empty. */
static void done_empty(ms_bt_call *store_call, void *arg)
{
    table_call *handler = arg;
    if (!has_failed(handler, store_call)) {
        msi_call_reply_empty(&handler->call);
    }
}

/* Answers that are the table. */
static void done_table(ms_bt_call *store_call, void *arg)
{
    table_call *handler = arg;
    if (!has_failed(handler, store_call)) {
        reply_table(handler, handler->table.table, handler->view);
    }
}

/* CreateTable and GetTable. */

static void created(ms_bt_call *store_call, void *arg)
{
    table_call *handler = arg;
    if (!has_failed(handler, store_call)) {
        reply_table(handler, &handler->def, MS_WIRE_TABLE_SCHEMA);
    }
}

static void create_table(msi_call *call, ms_str message)
{
    table_call *handler = handler_of(call);
    ms_bt_status bt = {0};
    init_call(handler, created);
    ms_pb_create_table_request *in = msi_call_request(call, create_table_request, message);
    if (in == NULL) {
        return;
    }
    if (ms_wire_create_table_from_pb(in, &call->arena, &handler->def, &bt) != MS_BT_OK) {
        msi_call_finish(call, &bt);
        return;
    }
    handler->table.table = &handler->def;
    submit(handler, ms_bt_client_create_table);
}

static void get_table(msi_call *call, ms_str message)
{
    table_call *handler = handler_of(call);
    ms_bt_status bt = {0};
    init_call(handler, done_table);
    ms_pb_get_table_request *in = msi_call_request(call, get_table_request, message);
    if (in == NULL || !msi_call_table_name(call, in->name, NULL, &handler->table.name)) {
        return;
    }
    if (ms_wire_table_view_from_pb((int)in->view, MS_WIRE_TABLE_SCHEMA, &handler->view, &bt) !=
        MS_BT_OK) {
        msi_call_finish(call, &bt);
        return;
    }
    submit(handler, ms_bt_client_get_table);
}

/* ListTables: the names first; more than names table by table. */

static void look_at_next(table_call *handler)
{
    if (handler->next < handler->last) {
        handler->table.name.table = handler->names[handler->next];
        submit(handler, ms_bt_client_get_table);
        return;
    }
    ms_pb_list_tables_response *out = handler->list;
    if (handler->last < handler->name_count) {
        out->next_page_token =
            ms_wire_text(&handler->call.arena, handler->names[handler->last - 1]);
    }
    msi_call_reply(&handler->call, &out->base);
}

static void looked_at(ms_bt_call *store_call, void *arg)
{
    table_call *handler = arg;
    ms_arena *arena = &handler->call.arena;
    handler->call.store_call = NULL;
    /* A table that went meanwhile is left out. */
    if (ms_bt_status_is_ok(&store_call->status)) {
        ms_pb_list_tables_response *out = handler->list;
        /* The message borrows from the table, and the next answer takes the place of this one. */
        const ms_bt_table *table = ms_bt_table_copy(arena, handler->table.table);
        out->tables[out->n_tables++] = table_to_pb(handler, table, handler->view);
    }
    handler->next++;
    look_at_next(handler);
}

static void listed(ms_bt_call *store_call, void *arg)
{
    table_call *handler = arg;
    ms_arena *arena = &handler->call.arena;
    if (has_failed(handler, store_call)) {
        return;
    }
    handler->name_count = handler->table.name_count;
    ms_str *names = ms_arena_array(arena, ms_str, handler->name_count);
    for (size_t i = 0; i < handler->name_count; i++) {
        names[i] = ms_arena_copy_str(arena, handler->table.names[i]);
        if (handler->after.bytes > 0 && ms_str_compare(names[i], handler->after) <= 0) {
            handler->next = i + 1;
        }
    }
    handler->names = names;
    size_t left = handler->name_count - handler->next;
    size_t count = left < handler->page_size ? left : handler->page_size;
    handler->last = handler->next + count;
    handler->list = ms_pb_new(arena, list_tables_response);
    handler->list->tables = ms_arena_array(arena, ms_pb_table *, count);
    if (handler->view != MS_WIRE_TABLE_NAME) {
        ms_bt_table_name instance = handler->table.name;
        ms_bt_table_call_release(&handler->table);
        init_call(handler, looked_at);
        handler->table.name = instance;
    }
    while (handler->view == MS_WIRE_TABLE_NAME && handler->next < handler->last) {
        ms_bt_table table = {.name = handler->table.name};
        table.name.table = handler->names[handler->next++];
        handler->list->tables[handler->list->n_tables++] =
            ms_wire_table_to_pb(&table, handler->view, arena);
    }
    look_at_next(handler);
}

static void list_tables(msi_call *call, ms_str message)
{
    table_call *handler = handler_of(call);
    ms_bt_status bt = {0};
    init_call(handler, listed);
    ms_pb_list_tables_request *in = msi_call_request(call, list_tables_request, message);
    if (in == NULL) {
        return;
    }
    if (in->page_size < 0) {
        msi_call_fail(call, MS_BT_INVALID_ARGUMENT,
                      "Error in field 'page_size' : must not be negative");
        return;
    }
    if (ms_wire_instance_parse(ms_wire_text_view(in->parent), &handler->table.name, &bt) !=
            MS_BT_OK ||
        ms_wire_table_view_from_pb((int)in->view, MS_WIRE_TABLE_NAME, &handler->view, &bt) !=
            MS_BT_OK) {
        msi_call_finish(call, &bt);
        return;
    }
    handler->after = ms_wire_text_view(in->page_token);
    handler->page_size = in->page_size == 0 || in->page_size > PAGE_TABLES_MAX
                             ? PAGE_TABLES_MAX
                             : (size_t)in->page_size;
    submit(handler, ms_bt_client_list_tables);
}

/* Changes. */

static void delete_table(msi_call *call, ms_str message)
{
    table_call *handler = handler_of(call);
    init_call(handler, done_empty);
    ms_pb_delete_table_request *in = msi_call_request(call, delete_table_request, message);
    if (in != NULL && msi_call_table_name(call, in->name, NULL, &handler->table.name)) {
        submit(handler, ms_bt_client_drop_table);
    }
}

static void drop_row_range(msi_call *call, ms_str message)
{
    table_call *handler = handler_of(call);
    init_call(handler, done_empty);
    ms_pb_drop_row_range_request *in = msi_call_request(call, drop_row_range_request, message);
    if (in == NULL || !msi_call_table_name(call, in->name, NULL, &handler->table.name)) {
        return;
    }
    if (in->target_case ==
        GOOGLE__BIGTABLE__ADMIN__V2__DROP_ROW_RANGE_REQUEST__TARGET_DELETE_ALL_DATA_FROM_TABLE) {
        if (in->delete_all_data_from_table) {
            submit(handler, ms_bt_client_drop_rows);
        } else {
            msi_call_reply_empty(call);
        }
        return;
    }
    handler->table.key = ms_wire_bytes_view(in->row_key_prefix);
    if (in->target_case !=
            GOOGLE__BIGTABLE__ADMIN__V2__DROP_ROW_RANGE_REQUEST__TARGET_ROW_KEY_PREFIX ||
        handler->table.key.bytes == 0) {
        msi_call_fail(call, MS_BT_INVALID_ARGUMENT,
                      "Error in field 'row_key_prefix' : Row key prefixes must be non-empty");
        return;
    }
    submit(handler, ms_bt_client_drop_rows);
}

static void modify_families(msi_call *call, ms_str message)
{
    static const ms_bt_family_change_kind kinds[] = {
        [MS_WIRE_FAMILY_CREATE] = MS_BT_FAMILY_CREATE,
        [MS_WIRE_FAMILY_UPDATE] = MS_BT_FAMILY_UPDATE,
        [MS_WIRE_FAMILY_DROP] = MS_BT_FAMILY_DROP,
    };
    table_call *handler = handler_of(call);
    ms_bt_status bt = {0};
    init_call(handler, done_table);
    handler->view = MS_WIRE_TABLE_SCHEMA;
    ms_pb_modify_column_families_request *in =
        msi_call_request(call, modify_column_families_request, message);
    if (in == NULL || !msi_call_table_name(call, in->name, NULL, &handler->table.name)) {
        return;
    }
    ms_bt_family_change *changes =
        ms_arena_array(&call->arena, ms_bt_family_change, in->n_modifications);
    for (size_t i = 0; i < in->n_modifications; i++) {
        ms_wire_family_action action;
        if (ms_wire_modification_from_pb(in->modifications[i], &call->arena, &action,
                                         &changes[i].family, &bt) != MS_BT_OK) {
            msi_call_finish(call, &bt);
            return;
        }
        changes[i].kind = kinds[action];
    }
    handler->table.changes = changes;
    handler->table.change_count = in->n_modifications;
    submit(handler, ms_bt_client_modify_families);
}

static void updated(ms_bt_call *store_call, void *arg)
{
    table_call *handler = arg;
    ms_arena *arena = &handler->call.arena;
    if (has_failed(handler, store_call)) {
        return;
    }
    ms_pb_update_table_metadata *metadata = ms_pb_new(arena, update_table_metadata);
    ms_pb_table *table = ms_wire_table_to_pb(handler->table.table, MS_WIRE_TABLE_SCHEMA, arena);
    metadata->name = table->name;
    metadata->start_time = ms_wire_timestamp_to_pb(ms_env_wall_us(), arena);
    metadata->end_time = metadata->start_time;
    msi_call_reply_operation(&handler->call, ms_str_cstr(table->name), &metadata->base,
                             &table->base);
}

static void update_table(msi_call *call, ms_str message)
{
    table_call *handler = handler_of(call);
    ms_bt_status bt = {0};
    init_call(handler, updated);
    ms_pb_update_table_request *in = msi_call_request(call, update_table_request, message);
    if (in == NULL) {
        return;
    }
    if (ms_wire_update_table_from_pb(in, &call->arena, &handler->def, &handler->table.update_mask,
                                     &bt) != MS_BT_OK) {
        msi_call_finish(call, &bt);
        return;
    }
    handler->table.name = handler->def.name;
    handler->table.table = &handler->def;
    submit(handler, ms_bt_client_update_table);
}

/* Consistency: there is one cluster, so every write is everywhere at once. */

#define TOKEN_PREFIX "consistent-"

static void token_made(ms_bt_call *store_call, void *arg)
{
    table_call *handler = arg;
    if (has_failed(handler, store_call)) {
        return;
    }
    ms_pb_generate_consistency_token_response *out =
        ms_pb_new(&handler->call.arena, generate_consistency_token_response);
    ms_str text = ms_arena_format(&handler->call.arena, TOKEN_PREFIX "%.*s",
                                  MS_STR_ARG(handler->table.name.table));
    out->consistency_token = ms_wire_text(&handler->call.arena, text);
    msi_call_reply(&handler->call, &out->base);
}

static void generate_token(msi_call *call, ms_str message)
{
    table_call *handler = handler_of(call);
    init_call(handler, token_made);
    ms_pb_generate_consistency_token_request *in =
        msi_call_request(call, generate_consistency_token_request, message);
    if (in != NULL && msi_call_table_name(call, in->name, NULL, &handler->table.name)) {
        submit(handler, ms_bt_client_get_table);
    }
}

static void token_checked(ms_bt_call *store_call, void *arg)
{
    table_call *handler = arg;
    if (has_failed(handler, store_call)) {
        return;
    }
    ms_str expected = ms_arena_format(&handler->call.arena, TOKEN_PREFIX "%.*s",
                                      MS_STR_ARG(handler->table.name.table));
    if (!ms_str_equals(expected, handler->after)) {
        msi_call_fail(&handler->call, MS_BT_INVALID_ARGUMENT,
                      "Error in field 'consistency_token' : the token is not one of this table");
        return;
    }
    ms_pb_check_consistency_response *out =
        ms_pb_new(&handler->call.arena, check_consistency_response);
    out->consistent = true;
    msi_call_reply(&handler->call, &out->base);
}

static void check_token(msi_call *call, ms_str message)
{
    table_call *handler = handler_of(call);
    init_call(handler, token_checked);
    ms_pb_check_consistency_request *in =
        msi_call_request(call, check_consistency_request, message);
    if (in != NULL && msi_call_table_name(call, in->name, NULL, &handler->table.name)) {
        handler->after = ms_wire_text_view(in->consistency_token);
        submit(handler, ms_bt_client_get_table);
    }
}

/* Tablets. The three answers differ in name only. */

static void counted(ms_bt_call *store_call, void *arg)
{
    table_call *handler = arg;
    if (has_failed(handler, store_call)) {
        return;
    }
    ms_pb_collect_garbage_response *out = ms_pb_new(&handler->call.arena, collect_garbage_response);
    out->count = (int64_t)handler->table.count;
    msi_call_reply(&handler->call, &out->base);
}

static void begin_tablets(msi_call *call, ms_str message,
                          void (*fn)(ms_bt_client *client, ms_bt_table_call *call))
{
    table_call *handler = handler_of(call);
    init_call(handler, counted);
    /* That of SplitTablet has the fields of all three. */
    ms_pb_split_tablet_request *in = msi_call_request(call, split_tablet_request, message);
    if (in != NULL && msi_call_table_name(call, in->name, NULL, &handler->table.name)) {
        handler->table.key = ms_wire_bytes_view(in->key);
        submit(handler, fn);
    }
}

static void split_tablet(msi_call *call, ms_str message)
{
    begin_tablets(call, message, ms_bt_client_split_tablet);
}

static void merge_tablets(msi_call *call, ms_str message)
{
    begin_tablets(call, message, ms_bt_client_merge_tablets);
}

static void collect_garbage(msi_call *call, ms_str message)
{
    begin_tablets(call, message, ms_bt_client_collect_garbage);
}

/* The table. */

#define SERVICE "/google.bigtable.admin.v2.BigtableTableAdmin/"
#define TABLETS "/millstream.bigtable.v1.Tablets/"
#define METHOD(name, function)                                                                     \
    {                                                                                              \
        .path = name, .bytes = sizeof(table_call), .begin = function, .release = release           \
    }

const msi_method msi_methods_table[] = {
    METHOD(SERVICE "CreateTable", create_table),
    METHOD(SERVICE "GetTable", get_table),
    METHOD(SERVICE "ListTables", list_tables),
    METHOD(SERVICE "DeleteTable", delete_table),
    METHOD(SERVICE "DropRowRange", drop_row_range),
    METHOD(SERVICE "ModifyColumnFamilies", modify_families),
    METHOD(SERVICE "UpdateTable", update_table),
    METHOD(SERVICE "GenerateConsistencyToken", generate_token),
    METHOD(SERVICE "CheckConsistency", check_token),
    METHOD(TABLETS "SplitTablet", split_tablet),
    METHOD(TABLETS "MergeTablets", merge_tablets),
    METHOD(TABLETS "CollectGarbage", collect_garbage),
};
const size_t msi_methods_table_count = sizeof(msi_methods_table) / sizeof(msi_methods_table[0]);
