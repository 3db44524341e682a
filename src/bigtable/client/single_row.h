/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that read and write one row in one step, and PingAndWarm. The service never repeats them by
 * itself, and neither does the client once a server has begun with one: after UNAVAILABLE or
 * DEADLINE_EXCEEDED the outcome is unknown. Both need an app profile that allows transactions.
 *
 * Life, ownership and thread as for all calls: client/client.h.
 */
#ifndef MS_BIGTABLE_CLIENT_SINGLE_ROW_H
#define MS_BIGTABLE_CLIENT_SINGLE_ROW_H

#include "bigtable/client/client.h"
#include "bigtable/model/rule.h"

/*
 * CheckAndMutateRow: applies one of two lists of mutations, depending on whether a filter gives any
 * cell of the row as it is stored. The batches hold at most one entry each, whose key is the row's;
 * NULL and a batch without entries mean no mutation. Both are checked, whichever is applied.
 */
typedef struct ms_bt_check_and_mutate {
    ms_bt_call call;
    const ms_bt_table_name *table;
    ms_str row_key;
    const ms_bt_filter *predicate; /* NULL: whether the row has any cell */
    const ms_bt_mutation_batch *if_true;
    const ms_bt_mutation_batch *if_false;
    bool predicate_matched; /* the answer */
} ms_bt_check_and_mutate;

void ms_bt_check_and_mutate_init(ms_bt_check_and_mutate *call, struct ms_mailbox *mailbox,
                                 ms_bt_done_fn done, void *arg);
void ms_bt_check_and_mutate_release(ms_bt_check_and_mutate *call);
void ms_bt_client_check_and_mutate(ms_bt_client *client, ms_bt_check_and_mutate *call);

/*
 * ReadModifyWriteRow: rules apply in order, each seeing what those before it made. The answer is a
 * page of one row with the changed cells only, one a column; it lives until the next submission or
 * release.
 */
typedef struct ms_bt_read_modify_write {
    ms_bt_call call;
    const ms_bt_table_name *table;
    ms_str row_key;
    const ms_bt_rule *rules;
    size_t rule_count;
    ms_bt_page row;  /* stays with reuse, from here on */
    ms_arena answer; /* names of the page's families */
} ms_bt_read_modify_write;

void ms_bt_read_modify_write_init(ms_bt_read_modify_write *call, struct ms_mailbox *mailbox,
                                  ms_bt_done_fn done, void *arg);

/* Makes a call that is not outstanding one that was never submitted, as init does, but for the
 * memory of a small answer, which stays: the answer comes from another thread. */
void ms_bt_read_modify_write_reuse(ms_bt_read_modify_write *call, struct ms_mailbox *mailbox,
                                   ms_bt_done_fn done, void *arg);
void ms_bt_read_modify_write_release(ms_bt_read_modify_write *call);
void ms_bt_client_read_modify_write(ms_bt_client *client, ms_bt_read_modify_write *call);

/* PingAndWarm: does the instance answer? The table part of the name is unused. */
typedef struct ms_bt_ping {
    ms_bt_call call;
    const ms_bt_table_name *instance;
} ms_bt_ping;

void ms_bt_ping_init(ms_bt_ping *call, struct ms_mailbox *mailbox, ms_bt_done_fn done, void *arg);
void ms_bt_client_ping(ms_bt_client *client, ms_bt_ping *call);

#endif
