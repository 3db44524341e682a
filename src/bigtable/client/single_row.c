/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls on one row: submission only. They count as one mutation each for flow control.
 */
/* tidy: no-unit-test: the tests of the store make these calls, in process and over gRPC */
#include "bigtable/client/single_row.h"

#include "bigtable/client/client_priv.h"

/* Of an answer's memory, for the next. */
#define KEPT_BYTES ((size_t)8 << 10)

void ms_bt_check_and_mutate_init(ms_bt_check_and_mutate *call, ms_mailbox *mailbox,
                                 ms_bt_done_fn done, void *arg)
{
    memset(call, 0, sizeof(*call));
    msi_client_init_call(&call->call, mailbox, done, arg);
}

void ms_bt_check_and_mutate_release(ms_bt_check_and_mutate *call)
{
    MS_ASSERT(!call->call.outstanding);
}

static size_t batch_bytes(const ms_bt_mutation_batch *batch)
{
    return batch == NULL ? 0 : ms_bt_mutation_batch_bytes(batch);
}

void ms_bt_client_check_and_mutate(ms_bt_client *client, ms_bt_check_and_mutate *call)
{
    call->predicate_matched = false;
    msi_client_submit(client, &call->call, MS_BT_CALL_CHECK_AND_MUTATE, 1,
                      batch_bytes(call->if_true) + batch_bytes(call->if_false));
}

void ms_bt_read_modify_write_init(ms_bt_read_modify_write *call, ms_mailbox *mailbox,
                                  ms_bt_done_fn done, void *arg)
{
    memset(call, 0, sizeof(*call));
    msi_client_init_call(&call->call, mailbox, done, arg);
    ms_bt_page_init(&call->row);
    ms_arena_init(&call->answer, 0);
}

void ms_bt_read_modify_write_reuse(ms_bt_read_modify_write *call, ms_mailbox *mailbox,
                                   ms_bt_done_fn done, void *arg)
{
    MS_ASSERT(!call->call.outstanding);
    memset(call, 0, offsetof(ms_bt_read_modify_write, row));
    msi_client_init_call(&call->call, mailbox, done, arg);
    ms_bt_page_reset(&call->row, KEPT_BYTES);
    ms_arena_trim(&call->answer, KEPT_BYTES);
}

void ms_bt_read_modify_write_release(ms_bt_read_modify_write *call)
{
    MS_ASSERT(!call->call.outstanding);
    ms_bt_page_release(&call->row);
    ms_arena_release(&call->answer);
}

void ms_bt_client_read_modify_write(ms_bt_client *client, ms_bt_read_modify_write *call)
{
    ms_bt_page_reset(&call->row, KEPT_BYTES);
    ms_arena_trim(&call->answer, KEPT_BYTES);
    size_t bytes = 0;
    for (size_t i = 0; i < call->rule_count; i++) {
        bytes += call->rules[i].append.bytes;
    }
    msi_client_submit(client, &call->call, MS_BT_CALL_READ_MODIFY_WRITE, 1, bytes);
}

void ms_bt_ping_init(ms_bt_ping *call, ms_mailbox *mailbox, ms_bt_done_fn done, void *arg)
{
    memset(call, 0, sizeof(*call));
    msi_client_init_call(&call->call, mailbox, done, arg);
}

void ms_bt_client_ping(ms_bt_client *client, ms_bt_ping *call)
{
    msi_client_submit(client, &call->call, MS_BT_CALL_PING, 0, 0);
}
