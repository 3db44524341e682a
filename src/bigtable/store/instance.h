/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instances and clusters, for a server's instance administration. A project is a name. An instance
 * exists once a table, an app profile or a record of its own is in it; one without a record has one
 * cluster, MS_BT_LOCAL_CLUSTER. Clusters are names that profiles route to: all data is here.
 *
 *     ms_bt_instance_call call;
 *     ms_bt_instance_call_init(&call, mailbox, created, handler);
 *     call.instance = (ms_bt_instance){.project = project, .id = id, ...};
 *     ms_bt_store_create_instance(store, &call);
 *     ...           the mailbox delivers: created(&call.call, handler), with call.call.status
 *     ms_bt_instance_call_release(&call);
 *
 * Calls are asynchronous, as those of client/client.h, whose rules for life, ownership and thread
 * are theirs too; they need no client, cannot be canceled, and end before the store is closed.
 */
#ifndef MS_BIGTABLE_STORE_INSTANCE_H
#define MS_BIGTABLE_STORE_INSTANCE_H

#include "bigtable/client/client.h"
#include "os/mailbox.h"

struct ms_bt_store;

typedef struct ms_bt_cluster {
    ms_str id;
    ms_str location;
    int32_t serve_nodes;
    int32_t storage_type; /* the wire's number */
} ms_bt_cluster;

typedef struct ms_bt_label {
    ms_str key;
    ms_str value;
} ms_bt_label;

typedef struct ms_bt_instance {
    ms_str project;
    ms_str id;
    ms_str display_name;
    int32_t type; /* the wire's number */
    const ms_bt_label *labels;
    size_t label_count;
    const ms_bt_cluster *clusters; /* ascending by id */
    size_t cluster_count;
    int64_t created_micros; /* 0: made by its first table or profile */
} ms_bt_instance;

/* Limits of ours, of one instance. */
#define MS_BT_LIMIT_CLUSTERS 64u
#define MS_BT_LIMIT_LABELS 64u
#define MS_BT_LIMIT_INSTANCE_TEXT_BYTES 1024u /* and of other texts */

const ms_bt_instance *ms_bt_instance_copy(ms_arena *arena, const ms_bt_instance *instance);

/*
 * Set the inputs that the call wants, and read its outputs after done; they live until the next
 * submission or release. Instances are named by project and id.
 *
 *   create_instance   in: instance, whole, a cluster at least  out: answers, one   ALREADY_EXISTS
 *   get_instance      in: names                                out: answers, one
 *   list_instances    in: project                              out: answers, ascending by id
 *   update_instance   in: names, display_name, type, labels    out: answers, one
 *   delete_instance   in: names. With its tables and profiles; FAILED_PRECONDITION when a table is
 *                     protected or retains changes
 *   create_cluster    in: names, cluster                       out: answers, one   ALREADY_EXISTS
 *   delete_cluster    in: names, cluster id                    FAILED_PRECONDITION for the last one
 *                     and for one that a profile routes to
 *
 * Clusters are listed and looked at with the instance.
 */
typedef struct ms_bt_instance_call {
    ms_bt_call call;
    ms_bt_instance instance;
    ms_bt_cluster cluster;
    const ms_bt_instance *const *answers;
    size_t answer_count;
    ms_arena answer;
    ms_mail mail; /* private */
} ms_bt_instance_call;

void ms_bt_instance_call_init(ms_bt_instance_call *call, ms_mailbox *mailbox, ms_bt_done_fn done,
                              void *arg);
void ms_bt_instance_call_release(ms_bt_instance_call *call);
void ms_bt_store_create_instance(struct ms_bt_store *store, ms_bt_instance_call *call);
void ms_bt_store_get_instance(struct ms_bt_store *store, ms_bt_instance_call *call);
void ms_bt_store_list_instances(struct ms_bt_store *store, ms_bt_instance_call *call);
void ms_bt_store_update_instance(struct ms_bt_store *store, ms_bt_instance_call *call);
void ms_bt_store_delete_instance(struct ms_bt_store *store, ms_bt_instance_call *call);
void ms_bt_store_create_cluster(struct ms_bt_store *store, ms_bt_instance_call *call);
void ms_bt_store_delete_cluster(struct ms_bt_store *store, ms_bt_instance_call *call);

/* The ids of an instance's clusters as they are now, ascending, in the arena; at least one. Waits
 * for nobody. Thread: any. */
size_t ms_bt_store_cluster_ids(struct ms_bt_store *store, const ms_bt_table_name *instance,
                               ms_arena *arena, const ms_str **ids_out);

#endif
