/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Administration through the client: tables, families, tablets and app profiles. Splits, merges and
 * garbage collection on demand are Millstream's own: another service answers them UNIMPLEMENTED,
 * and ms_bt_client_is_millstream is false then.
 *
 * Life, ownership and thread as for all calls: client/client.h.
 */
#ifndef MS_BIGTABLE_CLIENT_ADMIN_H
#define MS_BIGTABLE_CLIENT_ADMIN_H

#include "bigtable/client/client.h"
#include "bigtable/model/profile.h"

/* One change of a table's families. */
typedef enum ms_bt_family_change_kind {
    MS_BT_FAMILY_CREATE,
    MS_BT_FAMILY_UPDATE, /* the rule of garbage collection */
    MS_BT_FAMILY_DROP    /* with all its cells */
} ms_bt_family_change_kind;

typedef struct ms_bt_family_change {
    ms_bt_family_change_kind kind;
    ms_bt_family family; /* DROP: the name alone */
} ms_bt_family_change;

/* What update_table sets; bits. */
#define MS_BT_UPDATE_CHANGE_STREAM 1u /* table->change_retention_micros; 0 ends the stream */
#define MS_BT_UPDATE_PROTECTION 2u    /* table->is_protected */

/*
 * Set the inputs that the call wants, and read its outputs after done; they live until the next
 * submission or release.
 *
 *   create_table      in: table                    ALREADY_EXISTS when there is one
 *   get_table         in: name                     out: table
 *   list_tables       in: name (table part unused) out: names, ascending
 *   add_families      in: name, families           out: table. All or none: ALREADY_EXISTS when one
 *                                                  of them exists
 *   modify_families   in: name, changes, in order  out: table. All or none
 *   update_table      in: name, table, update_mask out: table
 *   drop_table        in: name                     FAILED_PRECONDITION when it is protected
 *   drop_rows         in: name, key                rows whose key begins so; empty: all rows
 *   split_tablet      in: name, key                a tablet then begins at key; out: count
 *   merge_tablets     in: name, key                the tablet that begins at key joins the one
 *                                                  before; out: count
 *   collect_garbage   in: name                     out: count of cells collected
 *
 * An instance that holds no table does not exist: NOT_FOUND.
 */
typedef struct ms_bt_table_call {
    ms_bt_call call;
    ms_bt_table_name name;
    const ms_bt_table *table;
    const ms_bt_family *families;
    size_t family_count;
    const ms_bt_family_change *changes;
    size_t change_count;
    uint32_t update_mask;
    ms_str key;
    const ms_str *names;
    size_t name_count;
    uint64_t count;
    ms_arena answer;
} ms_bt_table_call;

void ms_bt_table_call_init(ms_bt_table_call *call, struct ms_mailbox *mailbox, ms_bt_done_fn done,
                           void *arg);
void ms_bt_table_call_release(ms_bt_table_call *call);
void ms_bt_client_create_table(ms_bt_client *client, ms_bt_table_call *call);
void ms_bt_client_get_table(ms_bt_client *client, ms_bt_table_call *call);
void ms_bt_client_list_tables(ms_bt_client *client, ms_bt_table_call *call);
void ms_bt_client_add_families(ms_bt_client *client, ms_bt_table_call *call);
void ms_bt_client_modify_families(ms_bt_client *client, ms_bt_table_call *call);
void ms_bt_client_update_table(ms_bt_client *client, ms_bt_table_call *call);
void ms_bt_client_drop_table(ms_bt_client *client, ms_bt_table_call *call);
void ms_bt_client_drop_rows(ms_bt_client *client, ms_bt_table_call *call);
void ms_bt_client_split_tablet(ms_bt_client *client, ms_bt_table_call *call);
void ms_bt_client_merge_tablets(ms_bt_client *client, ms_bt_table_call *call);
void ms_bt_client_collect_garbage(ms_bt_client *client, ms_bt_table_call *call);

/*
 * App profiles, likewise:
 *
 *   create_profile    in: profile                           ALREADY_EXISTS
 *   get_profile       in: project, instance, id of profile  out: answers, one
 *   list_profiles     in: project, instance of profile      out: answers, ascending by id
 *   update_profile    in: profile, whole                    out: answers, one
 *   delete_profile    in: project, instance, id of profile  FAILED_PRECONDITION for "default"
 */
typedef struct ms_bt_profile_call {
    ms_bt_call call;
    ms_bt_profile profile;
    const ms_bt_profile *const *answers;
    size_t answer_count;
    ms_arena answer;
} ms_bt_profile_call;

void ms_bt_profile_call_init(ms_bt_profile_call *call, struct ms_mailbox *mailbox,
                             ms_bt_done_fn done, void *arg);
void ms_bt_profile_call_release(ms_bt_profile_call *call);
void ms_bt_client_create_profile(ms_bt_client *client, ms_bt_profile_call *call);
void ms_bt_client_get_profile(ms_bt_client *client, ms_bt_profile_call *call);
void ms_bt_client_list_profiles(ms_bt_client *client, ms_bt_profile_call *call);
void ms_bt_client_update_profile(ms_bt_client *client, ms_bt_profile_call *call);
void ms_bt_client_delete_profile(ms_bt_client *client, ms_bt_profile_call *call);

#endif
