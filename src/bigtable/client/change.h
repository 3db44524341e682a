/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Change streams: the partitions of a table, and reading the changes of one of them. Needs a table
 * with a change stream and an app profile with single-cluster routing.
 *
 * A read of changes works like a scan (ms_bt_client_read_rows): pages come one after the other, one
 * is filled ahead, wake says when polling makes sense again. It differs in that it does not end by
 * itself unless an end time is given or the partition is split or merged away, and that it says
 * something at least every heartbeat. Records that the service cut in pieces arrive whole.
 *
 * Life, ownership and thread as for all calls: client/client.h.
 */
#ifndef MS_BIGTABLE_CLIENT_CHANGE_H
#define MS_BIGTABLE_CLIENT_CHANGE_H

#include "bigtable/client/client.h"
#include "bigtable/model/change.h"

#define MS_BT_HEARTBEAT_MS_DEFAULT 5000

/* GenerateInitialChangeStreamPartitions: ranges that tile the table, ascending. The answer lives
 * until the next submission or release. */
typedef struct ms_bt_partitions {
    ms_bt_call call;
    const ms_bt_table_name *table;
    const ms_bt_range *partitions;
    size_t partition_count;
    ms_arena answer;
} ms_bt_partitions;

void ms_bt_partitions_init(ms_bt_partitions *call, struct ms_mailbox *mailbox, ms_bt_done_fn done,
                           void *arg);
void ms_bt_partitions_release(ms_bt_partitions *call);
void ms_bt_client_partitions(ms_bt_client *client, ms_bt_partitions *call);

typedef struct ms_bt_change_options {
    ms_bt_table_name table;
    ms_str app_profile;
    ms_bt_range partition;
    const ms_bt_change_token *tokens; /* where to go on: they tile the partition */
    size_t token_count;
    int64_t start_micros;  /* without tokens: inclusive; 0: now */
    int64_t end_micros;    /* inclusive; 0: none */
    int64_t heartbeat_ms;  /* 0: the default */
    size_t page_bytes_max; /* 0: 1 MiB */
} ms_bt_change_options;

typedef struct ms_bt_change_read ms_bt_change_read;

/* Options are copied whole. Nothing is reported here: a refusal comes with the first poll. */
ms_bt_change_read *ms_bt_client_read_changes(ms_bt_client *client,
                                             const ms_bt_change_options *options,
                                             struct ms_mailbox *mailbox, void (*wake)(void *arg),
                                             void *arg);

/* As ms_bt_read_poll: END after a CLOSE change was delivered. */
ms_bt_poll ms_bt_change_read_poll(ms_bt_change_read *read, const ms_bt_change_page **page_out);
void ms_bt_change_read_return(ms_bt_change_read *read, const ms_bt_change_page *page);
const ms_bt_status *ms_bt_change_read_status(const ms_bt_change_read *read);
ms_bt_poll ms_bt_change_read_wait(ms_bt_change_read *read, struct ms_parker *parker,
                                  const ms_bt_change_page **page_out);

/* As ms_bt_read_close. */
bool ms_bt_change_read_close(ms_bt_change_read *read, void (*closed)(void *arg), void *arg);

#endif
