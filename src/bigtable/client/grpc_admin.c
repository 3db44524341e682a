/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Administration of tables over gRPC. Only calls that look are repeated: after a failure of the
 * others nobody knows whether they were carried out. Lists come in pages, and an update is an
 * operation that is asked after until it is done.
 */
/* tidy: no-unit-test: tests/unit/bigtable/server runs the tests of the store over it */
#include "bigtable/client/grpc_call.h"

#include "bigtable/wire/resource.h"
#include "bigtable/wire/schema.h"

#include <stdlib.h>

#define TABLE_SERVICE "/google.bigtable.admin.v2.BigtableTableAdmin/"
#define TABLETS_SERVICE "/millstream.bigtable.v1.Tablets/"

static ms_bt_table_call *call_of(msi_op *op)
{
    return ms_bt_call_table(((msi_unary *)(void *)op)->call);
}

/* Answers that are a table. */

static ms_bt_code keep_table(ms_bt_table_call *call, const ms_pb_table *message, ms_bt_status *bt)
{
    ms_bt_table *table = ms_arena_new(&call->answer, ms_bt_table);
    MS_BT_TRY(ms_wire_table_from_pb(message, &call->answer, table, bt));
    call->table = table;
    return MS_BT_OK;
}

static ms_bt_code table_message(msi_op *op, ms_str message, ms_bt_status *bt)
{
    ms_bt_table_call *call = call_of(op);
    /* The table borrows from its message, so both live in the answer. */
    ms_pb_table *in = ms_pb_unpack(table, message, &ms_wire_response_limits, &call->answer, bt);
    return in == NULL ? bt->code : keep_table(call, in, bt);
}

/* CreateTable, GetTable, DeleteTable, DropRowRange. */

static ms_bt_code create_request(msi_op *op, ms_buf *message, ms_bt_status *bt)
{
    ms_arena *arena = msi_op_fresh_scratch(op);
    return msi_unary_pack(&ms_wire_create_table_to_pb(call_of(op)->table, arena)->base, message,
                          bt);
}

static ms_bt_code get_request(msi_op *op, ms_buf *message, ms_bt_status *bt)
{
    ms_arena *arena = msi_op_fresh_scratch(op);
    ms_pb_get_table_request *out = ms_pb_new(arena, get_table_request);
    out->name = ms_wire_table_path(arena, &call_of(op)->name);
    return msi_unary_pack(&out->base, message, bt);
}

static ms_bt_code drop_request(msi_op *op, ms_buf *message, ms_bt_status *bt)
{
    ms_arena *arena = msi_op_fresh_scratch(op);
    ms_pb_delete_table_request *out = ms_pb_new(arena, delete_table_request);
    out->name = ms_wire_table_path(arena, &call_of(op)->name);
    return msi_unary_pack(&out->base, message, bt);
}

static ms_bt_code drop_rows_request(msi_op *op, ms_buf *message, ms_bt_status *bt)
{
    const ms_bt_table_call *call = call_of(op);
    ms_arena *arena = msi_op_fresh_scratch(op);
    ms_pb_drop_row_range_request *out = ms_pb_new(arena, drop_row_range_request);
    out->name = ms_wire_table_path(arena, &call->name);
    if (call->key.bytes > 0) {
        out->target_case =
            GOOGLE__BIGTABLE__ADMIN__V2__DROP_ROW_RANGE_REQUEST__TARGET_ROW_KEY_PREFIX;
        out->row_key_prefix = ms_wire_bytes(call->key);
    } else {
        out->target_case =
            GOOGLE__BIGTABLE__ADMIN__V2__DROP_ROW_RANGE_REQUEST__TARGET_DELETE_ALL_DATA_FROM_TABLE;
        out->delete_all_data_from_table = true;
    }
    return msi_unary_pack(&out->base, message, bt);
}

/* ModifyColumnFamilies. */

static ms_pb_modify_column_families_request_modification *
make_modification(const ms_bt_family_change *change, ms_arena *arena)
{
    ms_pb_modify_column_families_request_modification *out =
        ms_pb_new(arena, modify_column_families_request_modification);
    out->id = ms_wire_text(arena, change->family.name);
    switch (change->kind) {
    case MS_BT_FAMILY_CREATE:
        out->mod_case =
            GOOGLE__BIGTABLE__ADMIN__V2__MODIFY_COLUMN_FAMILIES_REQUEST__MODIFICATION__MOD_CREATE;
        out->create = ms_wire_family_to_pb(&change->family, arena);
        break;
    case MS_BT_FAMILY_UPDATE:
        out->mod_case =
            GOOGLE__BIGTABLE__ADMIN__V2__MODIFY_COLUMN_FAMILIES_REQUEST__MODIFICATION__MOD_UPDATE;
        out->update = ms_wire_family_to_pb(&change->family, arena);
        break;
    case MS_BT_FAMILY_DROP:
        out->mod_case =
            GOOGLE__BIGTABLE__ADMIN__V2__MODIFY_COLUMN_FAMILIES_REQUEST__MODIFICATION__MOD_DROP;
        out->drop = true;
        break;
    }
    return out;
}

static ms_bt_code modify_request(msi_op *op, ms_buf *message, ms_bt_status *bt)
{
    const ms_bt_table_call *call = call_of(op);
    bool adds = call->call.kind == MS_BT_CALL_ADD_FAMILIES;
    size_t count = adds ? call->family_count : call->change_count;
    ms_arena *arena = msi_op_fresh_scratch(op);
    ms_pb_modify_column_families_request *out = ms_pb_new(arena, modify_column_families_request);
    out->name = ms_wire_table_path(arena, &call->name);
    out->modifications =
        ms_arena_array(arena, ms_pb_modify_column_families_request_modification *, count);
    out->n_modifications = count;
    for (size_t i = 0; i < count; i++) {
        ms_bt_family_change change = {.kind = MS_BT_FAMILY_CREATE};
        if (adds) {
            change.family = call->families[i];
        } else {
            change = call->changes[i];
        }
        out->modifications[i] = make_modification(&change, arena);
    }
    return msi_unary_pack(&out->base, message, bt);
}

/* ListTables: page after page. */

static ms_bt_code list_request(msi_op *op, ms_buf *message, ms_bt_status *bt)
{
    const ms_bt_table_call *call = call_of(op);
    ms_arena *arena = msi_op_fresh_scratch(op);
    ms_pb_list_tables_request *out = ms_pb_new(arena, list_tables_request);
    out->parent = ms_wire_instance_path(arena, call->name.project, call->name.instance);
    out->view = GOOGLE__BIGTABLE__ADMIN__V2__TABLE__VIEW__NAME_ONLY;
    out->page_token = ms_wire_text(arena, ((msi_unary *)(void *)op)->page_token);
    return msi_unary_pack(&out->base, message, bt);
}

static ms_bt_code list_message(msi_op *op, ms_str message, ms_bt_status *bt)
{
    msi_unary *unary = (msi_unary *)(void *)op;
    ms_bt_table_call *call = call_of(op);
    ms_pb_list_tables_response *in =
        ms_pb_unpack(list_tables_response, message, &ms_wire_response_limits, &call->answer, bt);
    if (in == NULL) {
        return bt->code;
    }
    for (size_t i = 0; i < in->n_tables; i++) {
        ms_bt_table_name name;
        MS_BT_TRY(ms_bt_table_name_parse(&name, ms_str_cstr(in->tables[i]->name), bt));
        ms_str *names = msi_unary_list(unary, call->name_count, sizeof(*names), &call->answer);
        names[call->name_count++] = name.table;
        call->names = names;
    }
    ((msi_unary *)(void *)op)->page_token = ms_wire_text_view(in->next_page_token);
    return MS_BT_OK;
}

static int compare_names(const void *a, const void *b)
{
    return ms_str_compare(*(const ms_str *)a, *(const ms_str *)b);
}

static msi_op_next list_end(msi_op *op)
{
    const ms_bt_table_call *call = call_of(op);
    msi_op_next next = msi_unary_pages_end(op);
    if (next == MSI_OP_FINISH && call->name_count > 0) {
        qsort(((msi_unary *)(void *)op)->list, call->name_count, sizeof(ms_str), compare_names);
    }
    return next;
}

/* UpdateTable: an operation, which may take its time. */

static ms_bt_code update_request(msi_op *op, ms_buf *message, ms_bt_status *bt)
{
    if (msi_unary_is_polling(op)) {
        return msi_unary_poll_request(op, message, bt);
    }
    const ms_bt_table_call *call = call_of(op);
    ms_arena *arena = msi_op_fresh_scratch(op);
    ms_bt_table table = *call->table;
    table.name = call->name;
    return msi_unary_pack(&ms_wire_update_table_to_pb(&table, call->update_mask, arena)->base,
                          message, bt);
}

static ms_bt_code update_message(msi_op *op, ms_str message, ms_bt_status *bt)
{
    ms_bt_table_call *call = call_of(op);
    ms_pb_any *response = NULL;
    MS_BT_TRY(msi_unary_operation(op, message, &call->answer, &response, bt));
    if (response == NULL) {
        return MS_BT_OK;
    }
    ms_pb_table *table = ms_wire_any_unpack(response, ms_pb_table_class(), &ms_wire_response_limits,
                                            &call->answer, bt);
    return table == NULL ? bt->code : keep_table(call, table, bt);
}

/* Millstream's own: tablets and garbage. The three requests differ in their key only. */

static ms_bt_code tablet_request(msi_op *op, ms_buf *message, ms_bt_status *bt)
{
    const ms_bt_table_call *call = call_of(op);
    ms_arena *arena = msi_op_fresh_scratch(op);
    ms_pb_split_tablet_request *out = ms_pb_new(arena, split_tablet_request);
    out->name = ms_wire_table_path(arena, &call->name);
    out->key = ms_wire_bytes(call->key);
    return msi_unary_pack(&out->base, message, bt);
}

static ms_bt_code tablet_message(msi_op *op, ms_str message, ms_bt_status *bt)
{
    ms_arena *arena = msi_op_fresh_scratch(op);
    ms_pb_collect_garbage_response *in =
        ms_pb_unpack(collect_garbage_response, message, &ms_wire_response_limits, arena, bt);
    if (in != NULL && in->count > 0) {
        call_of(op)->count = (uint64_t)in->count;
    }
    return bt->code;
}

/* Classes. */

static const msi_op_class create_table = {.path = TABLE_SERVICE "CreateTable",
                                          .is_admin = true,
                                          .policy = MSI_CHANGING_POLICY,
                                          .request = create_request,
                                          .message = msi_unary_ignore,
                                          .finish = msi_unary_finish};
static const msi_op_class get_table = {.path = TABLE_SERVICE "GetTable",
                                       .is_admin = true,
                                       .policy = MSI_LOOKING_POLICY,
                                       .request = get_request,
                                       .message = table_message,
                                       .finish = msi_unary_finish};
static const msi_op_class list_tables = {.path = TABLE_SERVICE "ListTables",
                                         .is_admin = true,
                                         .policy = MSI_LOOKING_POLICY,
                                         .request = list_request,
                                         .message = list_message,
                                         .end = list_end,
                                         .finish = msi_unary_finish};
static const msi_op_class modify_families = {.path = TABLE_SERVICE "ModifyColumnFamilies",
                                             .is_admin = true,
                                             .policy = MSI_CHANGING_POLICY,
                                             .request = modify_request,
                                             .message = table_message,
                                             .finish = msi_unary_finish};
static const msi_op_class update_table = {.path = TABLE_SERVICE "UpdateTable",
                                          .is_admin = true,
                                          .policy = MSI_CHANGING_POLICY,
                                          .request = update_request,
                                          .message = update_message,
                                          .end = msi_unary_operation_end,
                                          .finish = msi_unary_finish};
static const msi_op_class drop_table = {.path = TABLE_SERVICE "DeleteTable",
                                        .is_admin = true,
                                        .policy = MSI_CHANGING_POLICY,
                                        .request = drop_request,
                                        .message = msi_unary_ignore,
                                        .finish = msi_unary_finish};
static const msi_op_class drop_rows = {.path = TABLE_SERVICE "DropRowRange",
                                       .is_admin = true,
                                       .policy = MSI_CHANGING_POLICY,
                                       .request = drop_rows_request,
                                       .message = msi_unary_ignore,
                                       .finish = msi_unary_finish};
static const msi_op_class split_tablet = {.path = TABLETS_SERVICE "SplitTablet",
                                          .is_admin = true,
                                          .policy = MSI_CHANGING_POLICY,
                                          .request = tablet_request,
                                          .message = tablet_message,
                                          .finish = msi_unary_finish};
static const msi_op_class merge_tablets = {.path = TABLETS_SERVICE "MergeTablets",
                                           .is_admin = true,
                                           .policy = MSI_CHANGING_POLICY,
                                           .request = tablet_request,
                                           .message = tablet_message,
                                           .finish = msi_unary_finish};
static const msi_op_class collect_garbage = {.path = TABLETS_SERVICE "CollectGarbage",
                                             .is_admin = true,
                                             .policy = MSI_CHANGING_POLICY,
                                             .request = tablet_request,
                                             .message = tablet_message,
                                             .finish = msi_unary_finish};

static const msi_op_class *class_of_kind(ms_bt_call_kind kind)
{
    static const msi_op_class *const classes[] = {
        [MS_BT_CALL_CREATE_TABLE] = &create_table,
        [MS_BT_CALL_GET_TABLE] = &get_table,
        [MS_BT_CALL_LIST_TABLES] = &list_tables,
        [MS_BT_CALL_ADD_FAMILIES] = &modify_families,
        [MS_BT_CALL_MODIFY_FAMILIES] = &modify_families,
        [MS_BT_CALL_UPDATE_TABLE] = &update_table,
        [MS_BT_CALL_DROP_TABLE] = &drop_table,
        [MS_BT_CALL_DROP_ROWS] = &drop_rows,
        [MS_BT_CALL_SPLIT_TABLET] = &split_tablet,
        [MS_BT_CALL_MERGE_TABLETS] = &merge_tablets,
        [MS_BT_CALL_COLLECT_GARBAGE] = &collect_garbage,
    };
    MS_ASSERT(kind < sizeof(classes) / sizeof(classes[0]) && classes[kind] != NULL);
    return classes[kind];
}

void msi_grpc_table(msi_grpc *grpc, ms_bt_call *base)
{
    ms_bt_table_call *call = ms_bt_call_table(base);
    msi_unary *unary = msi_unary_create(grpc, class_of_kind(base->kind), base);
    msi_op *op = &unary->op;
    const ms_bt_table_name *name =
        base->kind == MS_BT_CALL_CREATE_TABLE ? &call->table->name : &call->name;
    if (base->kind == MS_BT_CALL_CREATE_TABLE || base->kind == MS_BT_CALL_LIST_TABLES) {
        char *path = ms_wire_instance_path(&op->arena, name->project, name->instance);
        msi_op_set_params(op, "parent", ms_str_cstr(path), (ms_str){NULL, 0});
    } else {
        msi_op_set_table(op, name, (ms_str){NULL, 0});
    }
    msi_op_start(op);
}
