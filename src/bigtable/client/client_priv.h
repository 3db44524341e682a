/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this folder share: the client itself and its part of a call object.
 */
#ifndef MS_BIGTABLE_CLIENT_CLIENT_PRIV_H
#define MS_BIGTABLE_CLIENT_CLIENT_PRIV_H

#include "bigtable/client/transport.h"
#include "os/spare.h"
#include "os/thread.h"

struct ms_bt_client {
    ms_bt_transport *transport;
    uint32_t mutations_max;
    uint64_t bytes_max;

    ms_mutex mutex;     /* guards what is below, up to the reads */
    ms_bt_call *oldest; /* calls that wait for room, in order */
    ms_bt_call *newest;
    uint64_t mutations; /* held by the transport */
    uint64_t bytes;
    uint64_t open_count; /* calls outstanding and reads open */
    ms_cond all_closed;  /* open_count has become 0 */

    ms_spares reads; /* that are closed */
};

/* The client's part of a call object. */
typedef struct msi_call_state {
    ms_mail mail;
    ms_bt_call *next; /* in the queue of the client */
    uint32_t mutations;
    bool is_waiting; /* in the queue of the client */
    uint64_t bytes;
} msi_call_state;

_Static_assert(sizeof(msi_call_state) <= MS_BT_CALL_PRIVATE_BYTES, "fits into the call");

static inline msi_call_state *msi_client_call_state(ms_bt_call *call)
{
    return (msi_call_state *)(void *)call->client_state;
}

/* Calls: client.c. */

void msi_client_init_call(ms_bt_call *call, ms_mailbox *mailbox, ms_bt_done_fn done, void *arg);

/* mutations is 0 for calls that flow control does not count. */
void msi_client_submit(ms_bt_client *client, ms_bt_call *call, ms_bt_call_kind kind,
                       uint32_t mutations, uint64_t bytes);

/* Deep copies of what a read was asked: read.c, change.c. Limits of pages get their defaults. */
void msi_client_copy_read_options(ms_arena *arena, const ms_bt_read_options *options,
                                  ms_bt_read_options *own);
void msi_client_copy_change_options(ms_arena *arena, const ms_bt_change_options *options,
                                    ms_bt_change_options *own);

/* Failed entries: failures.c. */
void msi_failures_init(ms_bt_failures *failures);
void msi_failures_release(ms_bt_failures *failures);
void msi_failures_reset(ms_bt_failures *failures);
uint32_t msi_failures_get(const ms_bt_failures *failures, uint32_t i, ms_bt_status *status_out);

/* Reads that are closed: read.c. */
void msi_client_init_reads(ms_bt_client *client);
void msi_client_free_reads(ms_bt_client *client);

/* Counts what must be over before the client is destroyed. */
void msi_client_add_open(ms_bt_client *client);
void msi_client_remove_open(ms_bt_client *client);

#endif
