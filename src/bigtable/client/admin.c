/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls on tables and app profiles: submission only, since the transport does the work.
 */
/* tidy: no-unit-test: the tests of the store make these calls, in process and over gRPC */
#include "bigtable/client/admin.h"

#include "bigtable/client/client_priv.h"

/* Tables. */

void ms_bt_table_call_init(ms_bt_table_call *call, ms_mailbox *mailbox, ms_bt_done_fn done,
                           void *arg)
{
    memset(call, 0, sizeof(*call));
    msi_client_init_call(&call->call, mailbox, done, arg);
    ms_arena_init(&call->answer, 0);
}

void ms_bt_table_call_release(ms_bt_table_call *call)
{
    MS_ASSERT(!call->call.outstanding);
    ms_arena_release(&call->answer);
}

static void submit_table(ms_bt_client *client, ms_bt_table_call *call, ms_bt_call_kind kind)
{
    ms_arena_reset(&call->answer);
    call->names = NULL;
    call->name_count = 0;
    call->count = 0;
    msi_client_submit(client, &call->call, kind, 0, 0);
}

void ms_bt_client_create_table(ms_bt_client *client, ms_bt_table_call *call)
{
    submit_table(client, call, MS_BT_CALL_CREATE_TABLE);
}

void ms_bt_client_get_table(ms_bt_client *client, ms_bt_table_call *call)
{
    call->table = NULL;
    submit_table(client, call, MS_BT_CALL_GET_TABLE);
}

void ms_bt_client_list_tables(ms_bt_client *client, ms_bt_table_call *call)
{
    submit_table(client, call, MS_BT_CALL_LIST_TABLES);
}

void ms_bt_client_add_families(ms_bt_client *client, ms_bt_table_call *call)
{
    call->table = NULL;
    submit_table(client, call, MS_BT_CALL_ADD_FAMILIES);
}

void ms_bt_client_modify_families(ms_bt_client *client, ms_bt_table_call *call)
{
    call->table = NULL;
    submit_table(client, call, MS_BT_CALL_MODIFY_FAMILIES);
}

void ms_bt_client_update_table(ms_bt_client *client, ms_bt_table_call *call)
{
    submit_table(client, call, MS_BT_CALL_UPDATE_TABLE);
}

void ms_bt_client_drop_table(ms_bt_client *client, ms_bt_table_call *call)
{
    submit_table(client, call, MS_BT_CALL_DROP_TABLE);
}

void ms_bt_client_drop_rows(ms_bt_client *client, ms_bt_table_call *call)
{
    submit_table(client, call, MS_BT_CALL_DROP_ROWS);
}

void ms_bt_client_split_tablet(ms_bt_client *client, ms_bt_table_call *call)
{
    submit_table(client, call, MS_BT_CALL_SPLIT_TABLET);
}

void ms_bt_client_merge_tablets(ms_bt_client *client, ms_bt_table_call *call)
{
    submit_table(client, call, MS_BT_CALL_MERGE_TABLETS);
}

void ms_bt_client_collect_garbage(ms_bt_client *client, ms_bt_table_call *call)
{
    submit_table(client, call, MS_BT_CALL_COLLECT_GARBAGE);
}

/* Profiles. */

void ms_bt_profile_call_init(ms_bt_profile_call *call, ms_mailbox *mailbox, ms_bt_done_fn done,
                             void *arg)
{
    memset(call, 0, sizeof(*call));
    msi_client_init_call(&call->call, mailbox, done, arg);
    ms_arena_init(&call->answer, 0);
}

void ms_bt_profile_call_release(ms_bt_profile_call *call)
{
    MS_ASSERT(!call->call.outstanding);
    ms_arena_release(&call->answer);
}

static void submit_profile(ms_bt_client *client, ms_bt_profile_call *call, ms_bt_call_kind kind)
{
    ms_arena_reset(&call->answer);
    call->answers = NULL;
    call->answer_count = 0;
    msi_client_submit(client, &call->call, kind, 0, 0);
}

void ms_bt_client_create_profile(ms_bt_client *client, ms_bt_profile_call *call)
{
    submit_profile(client, call, MS_BT_CALL_CREATE_PROFILE);
}

void ms_bt_client_get_profile(ms_bt_client *client, ms_bt_profile_call *call)
{
    submit_profile(client, call, MS_BT_CALL_GET_PROFILE);
}

void ms_bt_client_list_profiles(ms_bt_client *client, ms_bt_profile_call *call)
{
    submit_profile(client, call, MS_BT_CALL_LIST_PROFILES);
}

void ms_bt_client_update_profile(ms_bt_client *client, ms_bt_profile_call *call)
{
    submit_profile(client, call, MS_BT_CALL_UPDATE_PROFILE);
}

void ms_bt_client_delete_profile(ms_bt_client *client, ms_bt_profile_call *call)
{
    submit_profile(client, call, MS_BT_CALL_DELETE_PROFILE);
}
