/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The small calls of the data API over gRPC: CheckAndMutateRow, ReadModifyWriteRow, PingAndWarm,
 * SampleRowKeys and the partitions of a change stream. One message out, few in.
 */
/* tidy: no-unit-test: tests/unit/bigtable/server runs the tests of the store over it */
#include "bigtable/client/grpc_call.h"

#include "base/memory.h"
#include "bigtable/wire/filter.h"
#include "bigtable/wire/mutation.h"
#include "bigtable/wire/range.h"
#include "bigtable/wire/resource.h"
#include "bigtable/wire/row.h"
#include "bigtable/wire/rpc_status.h"

_Static_assert(sizeof(msi_unary) <= MSI_OP_BYTES, "fits into an operation");

#define LIST_FIRST ((size_t)16)
#define POLL_FIRST_NS INT64_C(50000000)
#define POLL_MAX_NS (5 * MSI_SECOND_NS)

/* Common. */

void msi_unary_finish(msi_op *op)
{
    ms_bt_call *call = ((msi_unary *)(void *)op)->call;
    ms_outbox *outbox = ms_loop_outbox(op->grpc->loop);
    call->status = op->status;
    msi_op_destroy(op);
    ms_bt_call_finish_in(call, outbox);
}

msi_unary *msi_unary_create(msi_grpc *grpc, const msi_op_class *class_of, ms_bt_call *call)
{
    msi_unary *unary = (msi_unary *)(void *)msi_op_create(grpc, class_of, call->timeout_ms);
    unary->op.is_canceled = &call->is_canceled;
    unary->op.reach_ms = call->reach_ms;
    unary->call = call;
    return unary;
}

ms_bt_code msi_unary_pack(const ProtobufCMessage *request, ms_buf *message, ms_bt_status *bt)
{
    ms_status st = {0};
    ms_rc rc = ms_wire_pack(request, message, &st);
    return rc == MS_OK ? MS_BT_OK : ms_bt_status_from(bt, MS_BT_RESOURCE_EXHAUSTED, &st);
}

ms_bt_code msi_unary_ignore(msi_op *op, ms_str message, ms_bt_status *bt)
{
    (void)op;
    (void)message;
    (void)bt;
    return MS_BT_OK;
}

void *msi_unary_list(msi_unary *unary, size_t count, size_t element_bytes, ms_arena *arena)
{
    if (count == unary->list_capacity || unary->list == NULL) {
        size_t capacity = count < LIST_FIRST ? LIST_FIRST : 2 * count;
        void *list = ms_arena_alloc(arena, capacity * element_bytes, _Alignof(max_align_t));
        if (count > 0) {
            memcpy(list, unary->list, count * element_bytes);
        }
        unary->list = list;
        unary->list_capacity = capacity;
    }
    return unary->list;
}

msi_op_next msi_unary_pages_end(msi_op *op)
{
    if (!ms_bt_status_is_ok(&op->status)) {
        return MSI_OP_AGAIN;
    }
    return ((msi_unary *)(void *)op)->page_token.bytes > 0 ? MSI_OP_NEXT : MSI_OP_FINISH;
}

/* Long-running operations. */

bool msi_unary_is_polling(const msi_op *op)
{
    return ((const msi_unary *)(const void *)op)->operation.bytes > 0;
}

ms_bt_code msi_unary_poll_request(const msi_op *op, ms_buf *message, ms_bt_status *bt)
{
    ms_arena *arena = msi_op_fresh_scratch(op);
    ms_pb_get_operation_request *out = ms_pb_new(arena, get_operation_request);
    out->name = ms_wire_text(arena, ((const msi_unary *)(const void *)op)->operation);
    return msi_unary_pack(&out->base, message, bt);
}

ms_bt_code msi_unary_operation(msi_op *op, ms_str message, ms_arena *arena,
                               ms_pb_any **response_out, ms_bt_status *bt)
{
    msi_unary *unary = (msi_unary *)(void *)op;
    *response_out = NULL;
    ms_pb_operation *in = ms_pb_unpack(operation, message, &ms_wire_response_limits, arena, bt);
    if (in == NULL) {
        return bt->code;
    }
    unary->operation = ms_wire_text_view(in->name);
    unary->is_done = in->done != 0;
    if (in->result_case == GOOGLE__LONGRUNNING__OPERATION__RESULT_ERROR) {
        return ms_bt_status_set_text(bt, ms_wire_code(in->error->code),
                                     ms_wire_text_view(in->error->message));
    }
    if (unary->is_done && in->result_case == GOOGLE__LONGRUNNING__OPERATION__RESULT_RESPONSE) {
        *response_out = in->response;
    }
    return MS_BT_OK;
}

msi_op_next msi_unary_operation_end(msi_op *op)
{
    const msi_unary *unary = (const msi_unary *)(const void *)op;
    if (!ms_bt_status_is_ok(&op->status)) {
        return MSI_OP_AGAIN;
    }
    if (unary->is_done || unary->operation.bytes == 0) {
        return MSI_OP_FINISH;
    }
    op->path = "/google.longrunning.Operations/GetOperation";
    op->pause_ns = op->pause_ns == 0 ? POLL_FIRST_NS : 2 * op->pause_ns;
    op->pause_ns = op->pause_ns < POLL_MAX_NS ? op->pause_ns : POLL_MAX_NS;
    return MSI_OP_NEXT;
}

/* CheckAndMutateRow. */

static ms_bt_call *call_of(msi_op *op)
{
    return ((msi_unary *)(void *)op)->call;
}

static ms_bt_code check_request(msi_op *op, ms_buf *message, ms_bt_status *bt)
{
    const ms_bt_check_and_mutate *call = ms_bt_call_check_and_mutate(call_of(op));
    ms_arena *arena = msi_op_fresh_scratch(op);
    ms_pb_check_and_mutate_row_request *out = ms_pb_new(arena, check_and_mutate_row_request);
    out->table_name = ms_wire_table_path(arena, call->table);
    out->app_profile_id = ms_wire_text(arena, call->call.app_profile);
    out->row_key = ms_wire_bytes(call->row_key);
    out->predicate_filter = ms_wire_filter_to_pb(call->predicate, arena);
    out->true_mutations = ms_wire_mutations_to_pb(call->if_true, arena, &out->n_true_mutations);
    out->false_mutations = ms_wire_mutations_to_pb(call->if_false, arena, &out->n_false_mutations);
    return msi_unary_pack(&out->base, message, bt);
}

static ms_bt_code check_message(msi_op *op, ms_str message, ms_bt_status *bt)
{
    ms_bt_check_and_mutate *call = ms_bt_call_check_and_mutate(call_of(op));
    ms_arena *arena = msi_op_fresh_scratch(op);
    ms_pb_check_and_mutate_row_response *in =
        ms_pb_unpack(check_and_mutate_row_response, message, &ms_wire_response_limits, arena, bt);
    call->predicate_matched = in != NULL && in->predicate_matched;
    return bt->code;
}

static const msi_op_class check_and_mutate = {
    .path = "/google.bigtable.v2.Bigtable/CheckAndMutateRow",
    .policy = {.attempt_ns = 20 * MSI_SECOND_NS, .total_ns = 20 * MSI_SECOND_NS, .attempts_max = 1},
    .request = check_request,
    .message = check_message,
    .finish = msi_unary_finish,
};

void msi_grpc_check_and_mutate(msi_grpc *grpc, ms_bt_call *call)
{
    msi_unary *unary = msi_unary_create(grpc, &check_and_mutate, call);
    msi_op_set_table(&unary->op, ms_bt_call_check_and_mutate(call)->table, call->app_profile);
    msi_op_start(&unary->op);
}

/* ReadModifyWriteRow. */

static ms_bt_code modify_request(msi_op *op, ms_buf *message, ms_bt_status *bt)
{
    const ms_bt_read_modify_write *call = ms_bt_call_read_modify_write(call_of(op));
    ms_arena *arena = msi_op_fresh_scratch(op);
    ms_pb_read_modify_write_row_request *out = ms_pb_new(arena, read_modify_write_row_request);
    out->table_name = ms_wire_table_path(arena, call->table);
    out->app_profile_id = ms_wire_text(arena, call->call.app_profile);
    out->row_key = ms_wire_bytes(call->row_key);
    out->rules = ms_wire_rules_to_pb(call->rules, call->rule_count, arena);
    out->n_rules = call->rule_count;
    return msi_unary_pack(&out->base, message, bt);
}

static ms_bt_code modify_message(msi_op *op, ms_str message, ms_bt_status *bt)
{
    ms_bt_read_modify_write *call = ms_bt_call_read_modify_write(call_of(op));
    ms_arena *arena = msi_op_fresh_scratch(op);
    ms_pb_read_modify_write_row_response *in =
        ms_pb_unpack(read_modify_write_row_response, message, &ms_wire_response_limits, arena, bt);
    if (in != NULL && in->row != NULL) {
        ms_bt_page_reset(&call->row, 0);
        (void)ms_wire_row_from_pb(in->row, &call->row, &call->answer, bt);
    }
    return bt->code;
}

static const msi_op_class read_modify_write = {
    .path = "/google.bigtable.v2.Bigtable/ReadModifyWriteRow",
    .policy = {.attempt_ns = 20 * MSI_SECOND_NS, .total_ns = 20 * MSI_SECOND_NS, .attempts_max = 1},
    .request = modify_request,
    .message = modify_message,
    .finish = msi_unary_finish,
};

void msi_grpc_read_modify_write(msi_grpc *grpc, ms_bt_call *call)
{
    msi_unary *unary = msi_unary_create(grpc, &read_modify_write, call);
    msi_op_set_table(&unary->op, ms_bt_call_read_modify_write(call)->table, call->app_profile);
    msi_op_start(&unary->op);
}

/* PingAndWarm. */

static ms_bt_code ping_request(msi_op *op, ms_buf *message, ms_bt_status *bt)
{
    const ms_bt_ping *call = ms_bt_call_ping(call_of(op));
    ms_arena *arena = msi_op_fresh_scratch(op);
    ms_pb_ping_and_warm_request *out = ms_pb_new(arena, ping_and_warm_request);
    out->name = ms_wire_instance_path(arena, call->instance->project, call->instance->instance);
    out->app_profile_id = ms_wire_text(arena, call->call.app_profile);
    return msi_unary_pack(&out->base, message, bt);
}

static const msi_op_class ping = {
    .path = "/google.bigtable.v2.Bigtable/PingAndWarm",
    .policy = {.attempt_ns = 20 * MSI_SECOND_NS,
               .total_ns = 600 * MSI_SECOND_NS,
               .attempts_max = 10,
               .retries_aborted = true},
    .request = ping_request,
    .message = msi_unary_ignore,
    .finish = msi_unary_finish,
};

void msi_grpc_ping(msi_grpc *grpc, ms_bt_call *call)
{
    msi_unary *unary = msi_unary_create(grpc, &ping, call);
    const ms_bt_table_name *name = ms_bt_call_ping(call)->instance;
    char *path = ms_wire_instance_path(&unary->op.arena, name->project, name->instance);
    msi_op_set_params(&unary->op, "name", ms_str_cstr(path), call->app_profile);
    msi_op_start(&unary->op);
}

/* SampleRowKeys. */

static ms_bt_code sample_request(msi_op *op, ms_buf *message, ms_bt_status *bt)
{
    ms_bt_sample_row_keys *call = ms_bt_call_sample_row_keys(call_of(op));
    /* What an attempt that broke off has brought is asked for again. */
    call->sample_count = 0;
    ms_arena *arena = msi_op_fresh_scratch(op);
    ms_pb_sample_row_keys_request *out = ms_pb_new(arena, sample_row_keys_request);
    out->table_name = ms_wire_table_path(arena, call->table);
    out->app_profile_id = ms_wire_text(arena, call->call.app_profile);
    if (call->range.start.kind != MS_BT_BOUND_NONE || call->range.end.kind != MS_BT_BOUND_NONE) {
        out->row_range = ms_wire_range_to_pb(&call->range, arena);
    }
    return msi_unary_pack(&out->base, message, bt);
}

static ms_bt_code sample_message(msi_op *op, ms_str message, ms_bt_status *bt)
{
    msi_unary *unary = (msi_unary *)(void *)op;
    ms_bt_sample_row_keys *call = ms_bt_call_sample_row_keys(unary->call);
    ms_arena *arena = msi_op_fresh_scratch(op);
    ms_pb_sample_row_keys_response *in =
        ms_pb_unpack(sample_row_keys_response, message, &ms_wire_response_limits, arena, bt);
    if (in != NULL) {
        ms_bt_row_key_sample *samples =
            msi_unary_list(unary, call->sample_count, sizeof(*samples), &call->answer);
        samples[call->sample_count++] = (ms_bt_row_key_sample){
            ms_arena_copy_str(&call->answer, ms_wire_bytes_view(in->row_key)), in->offset_bytes};
        call->samples = samples;
    }
    return bt->code;
}

static const msi_op_class sample_row_keys = {
    .path = "/google.bigtable.v2.Bigtable/SampleRowKeys",
    .policy = {.attempt_ns = 20 * MSI_SECOND_NS,
               .total_ns = 600 * MSI_SECOND_NS,
               .attempts_max = 10,
               .retries_aborted = true},
    .request = sample_request,
    .message = sample_message,
    .finish = msi_unary_finish,
};

void msi_grpc_sample_row_keys(msi_grpc *grpc, ms_bt_call *call)
{
    msi_unary *unary = msi_unary_create(grpc, &sample_row_keys, call);
    msi_op_set_table(&unary->op, ms_bt_call_sample_row_keys(call)->table, call->app_profile);
    msi_op_start(&unary->op);
}

/* Partitions of a change stream. */

static ms_bt_code partitions_request(msi_op *op, ms_buf *message, ms_bt_status *bt)
{
    ms_bt_partitions *call = ms_bt_call_partitions(call_of(op));
    call->partition_count = 0;
    ms_arena *arena = msi_op_fresh_scratch(op);
    ms_pb_generate_initial_change_stream_partitions_request *out =
        ms_pb_new(arena, generate_initial_change_stream_partitions_request);
    out->table_name = ms_wire_table_path(arena, call->table);
    out->app_profile_id = ms_wire_text(arena, call->call.app_profile);
    return msi_unary_pack(&out->base, message, bt);
}

static ms_bt_code partitions_message(msi_op *op, ms_str message, ms_bt_status *bt)
{
    msi_unary *unary = (msi_unary *)(void *)op;
    ms_bt_partitions *call = ms_bt_call_partitions(unary->call);
    ms_arena *arena = msi_op_fresh_scratch(op);
    ms_pb_generate_initial_change_stream_partitions_response *in =
        ms_pb_unpack(generate_initial_change_stream_partitions_response, message,
                     &ms_wire_response_limits, arena, bt);
    ms_bt_range partition;
    if (in != NULL && ms_wire_partition_from_pb(in->partition, &partition, bt) == MS_BT_OK) {
        partition.start.key = ms_arena_copy_str(&call->answer, partition.start.key);
        partition.end.key = ms_arena_copy_str(&call->answer, partition.end.key);
        ms_bt_range *list =
            msi_unary_list(unary, call->partition_count, sizeof(*list), &call->answer);
        list[call->partition_count++] = partition;
        call->partitions = list;
    }
    return bt->code;
}

static const msi_op_class partitions = {
    .path = "/google.bigtable.v2.Bigtable/GenerateInitialChangeStreamPartitions",
    .policy = {.attempt_ns = 60 * MSI_SECOND_NS,
               .total_ns = 600 * MSI_SECOND_NS,
               .attempts_max = 10,
               .retries_aborted = true},
    .request = partitions_request,
    .message = partitions_message,
    .finish = msi_unary_finish,
};

void msi_grpc_partitions(msi_grpc *grpc, ms_bt_call *call)
{
    msi_unary *unary = msi_unary_create(grpc, &partitions, call);
    msi_op_set_table(&unary->op, ms_bt_call_partitions(call)->table, call->app_profile);
    msi_op_start(&unary->op);
}
