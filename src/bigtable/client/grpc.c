/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gRPC transport: its channels, and which file carries which call.
 */
/* tidy: no-unit-test: tests/unit/bigtable/server runs the tests of the store over it */
#include "bigtable/client/grpc.h"

#include "base/limits.h"
#include "base/memory.h"
#include "bigtable/client/grpc_priv.h"
#include "bigtable/wire/header.h"

#define FEATURES                                                                                   \
    (MS_WIRE_FEATURE_REVERSE_SCANS | MS_WIRE_FEATURE_LAST_SCANNED | MS_WIRE_FEATURE_RATE_LIMIT |   \
     MS_WIRE_FEATURE_RATE_LIMIT_2 | MS_WIRE_FEATURE_ROUTING_COOKIE | MS_WIRE_FEATURE_RETRY_INFO |  \
     MS_WIRE_FEATURE_MICROSECONDS)

/* Calls. */

static void start(ms_bt_transport *transport, ms_bt_call *call)
{
    msi_grpc *grpc = (msi_grpc *)(void *)transport;
    switch (call->kind) {
    case MS_BT_CALL_MUTATE_ROWS:
        msi_grpc_mutate_rows(grpc, call);
        return;
    case MS_BT_CALL_SYNC:
        /* What the service acknowledges is durable. */
        ms_bt_call_finish(call);
        return;
    case MS_BT_CALL_CHECK_AND_MUTATE:
        msi_grpc_check_and_mutate(grpc, call);
        return;
    case MS_BT_CALL_READ_MODIFY_WRITE:
        msi_grpc_read_modify_write(grpc, call);
        return;
    case MS_BT_CALL_PING:
        msi_grpc_ping(grpc, call);
        return;
    case MS_BT_CALL_SAMPLE_ROW_KEYS:
        msi_grpc_sample_row_keys(grpc, call);
        return;
    case MS_BT_CALL_PARTITIONS:
        msi_grpc_partitions(grpc, call);
        return;
    case MS_BT_CALL_CREATE_TABLE:
    case MS_BT_CALL_GET_TABLE:
    case MS_BT_CALL_LIST_TABLES:
    case MS_BT_CALL_ADD_FAMILIES:
    case MS_BT_CALL_MODIFY_FAMILIES:
    case MS_BT_CALL_UPDATE_TABLE:
    case MS_BT_CALL_DROP_TABLE:
    case MS_BT_CALL_DROP_ROWS:
    case MS_BT_CALL_SPLIT_TABLET:
    case MS_BT_CALL_MERGE_TABLETS:
    case MS_BT_CALL_COLLECT_GARBAGE:
        msi_grpc_table(grpc, call);
        return;
    case MS_BT_CALL_CREATE_PROFILE:
    case MS_BT_CALL_GET_PROFILE:
    case MS_BT_CALL_LIST_PROFILES:
    case MS_BT_CALL_UPDATE_PROFILE:
    case MS_BT_CALL_DELETE_PROFILE:
        msi_grpc_profile(grpc, call);
        return;
    case MS_BT_CALL_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

static void deliver_sweep(ms_mail *mail)
{
    msi_grpc *grpc = MS_MAIL_OWNER(mail, msi_grpc, sweep_mail);
    /* Order: cleared before looking, so that a wish that comes meanwhile sends the mail again. */
    atomic_store_explicit(&grpc->is_sweeping, false, memory_order_seq_cst);
    msi_op_sweep(grpc);
}

void msi_grpc_sweep(msi_grpc *grpc)
{
    if (!atomic_exchange_explicit(&grpc->is_sweeping, true, memory_order_seq_cst)) {
        ms_mailbox_push(ms_loop_mailbox(grpc->loop), &grpc->sweep_mail);
    }
}

static void cancel(ms_bt_transport *transport, ms_bt_call *call)
{
    (void)call;
    msi_grpc_sweep((msi_grpc *)(void *)transport);
}

static bool is_millstream(const ms_bt_transport *transport)
{
    const msi_grpc *grpc = (const msi_grpc *)(const void *)transport;
    /* Order relaxed: a fact of its own. */
    return atomic_load_explicit(&grpc->is_millstream, memory_order_relaxed);
}

static const ms_bt_transport_class grpc_class = {
    .is_millstream = is_millstream,
    .start = start,
    .cancel = cancel,
    .read_open = msi_grpc_read_open,
    .read_fill = msi_grpc_read_fill,
    .read_cancel = msi_grpc_read_cancel,
    .read_close = msi_grpc_read_close,
    .change_open = msi_grpc_change_open,
    .change_fill = msi_grpc_change_fill,
    .change_cancel = msi_grpc_change_cancel,
    .change_close = msi_grpc_change_close,
};

/* Life. */

static ms_rc open_channels(msi_grpc *grpc, const ms_bt_grpc_options *options, ms_status *st)
{
    ms_grpc_channel_options channel = {
        .target = options->target,
        .tls = options->tls,
        .allow_plaintext = options->allow_plaintext,
        .credentials = options->credentials,
        .connections_max = options->connections_max,
    };
    MS_TRY(ms_grpc_channel_create(grpc->loop, &channel, &grpc->channel, st));
    grpc->admin_channel = grpc->channel;
    if (options->admin_target.bytes > 0 && !ms_str_equals(options->admin_target, options->target)) {
        channel.target = options->admin_target;
        grpc->admin_channel = NULL;
        MS_TRY(ms_grpc_channel_create(grpc->loop, &channel, &grpc->admin_channel, st));
    }
    return MS_OK;
}

static void close_channels(void *arg)
{
    msi_grpc *grpc = arg;
    if (grpc->admin_channel != grpc->channel) {
        ms_grpc_channel_destroy(grpc->admin_channel);
    }
    ms_grpc_channel_destroy(grpc->channel);
    /* Reads that were closed are gone by now: their mails came before this one. Those whose
     * attempt was under way ended with the channels. */
    MS_ASSERT(grpc->ring.next == &grpc->ring);
}

ms_rc ms_bt_grpc_create(const ms_bt_grpc_options *options, ms_bt_transport **transport_out,
                        ms_status *st)
{
    *transport_out = NULL;
    msi_grpc *grpc = ms_mem_calloc(1, sizeof(*grpc));
    grpc->transport.class = &grpc_class;
    grpc->loop = options->loop;
    grpc->hints = options->hints;
    msi_op_init_spares(grpc);
    ms_arena_init(&grpc->scratch, 0);
    grpc->ring.next = &grpc->ring;
    grpc->ring.prev = &grpc->ring;
    grpc->sweep_mail.deliver = deliver_sweep;
    size_t bytes = ms_wire_features_encode(options->all_features ? MS_WIRE_FEATURES_ALL : FEATURES,
                                           grpc->features_text);
    grpc->features = (ms_str){grpc->features_text, bytes};
    if (open_channels(grpc, options, st) != MS_OK) {
        ms_bt_grpc_destroy(&grpc->transport);
        return st->code;
    }
    *transport_out = &grpc->transport;
    return MS_OK;
}

void ms_bt_grpc_destroy(ms_bt_transport *transport)
{
    if (transport == NULL) {
        return;
    }
    msi_grpc *grpc = (msi_grpc *)(void *)transport;
    ms_loop_call(grpc->loop, close_channels, grpc);
    msi_op_free_spares(grpc);
    ms_arena_release(&grpc->scratch);
    ms_mem_free(grpc);
}
