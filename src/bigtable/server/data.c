/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The data API but for streams of rows and changes: writes, calls on a single row, sampling, the
 * partitions of a change stream, and PingAndWarm.
 */
/* tidy: no-unit-test: tests/unit/bigtable/server runs the tests of the store over it */
#include "bigtable/server/server_priv.h"

#include "bigtable/wire/filter.h"
#include "bigtable/wire/mutate_rows.h"
#include "bigtable/wire/mutation.h"
#include "bigtable/wire/range.h"
#include "bigtable/wire/resource.h"
#include "bigtable/wire/row.h"
#include "bigtable/wire/rpc_status.h"

#define STREAM_MESSAGE_BYTES ((size_t)64 << 10)

/* Writes. */

typedef struct write_call {
    msi_call call; /* first */
    ms_bt_table_name table;
    ms_bt_mutation_batch batch;
    ms_bt_mutate_rows write;
} write_call;

/* Tells the outcome of every entry; the request as a whole was taken. */
static void reply_entries(write_call *handler)
{
    ms_bt_status bt = {0};
    ms_bt_status failure = {0};
    ms_status st = {0};
    uint32_t count = ms_bt_mutation_batch_entries(&handler->batch);
    uint32_t failures = ms_bt_mutate_rows_failure_count(&handler->write);
    uint32_t failed = 0;
    uint32_t next_failed =
        failures > 0 ? ms_bt_mutate_rows_failure(&handler->write, 0, &failure) : UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        ms_wire_mutate_result result = {.index = i};
        if (i == next_failed) {
            result.code = (int32_t)failure.code;
            result.message = ms_str_cstr(failure.text);
        }
        if (ms_wire_mutate_result_encode(&result, &handler->call.out, &st) != MS_OK) {
            ms_bt_status_from(&bt, MS_BT_RESOURCE_EXHAUSTED, &st);
            break;
        }
        if (handler->call.out.bytes >= STREAM_MESSAGE_BYTES) {
            (void)msi_call_send_out(&handler->call);
        }
        if (i == next_failed) {
            failed++;
            next_failed = failed < failures
                              ? ms_bt_mutate_rows_failure(&handler->write, failed, &failure)
                              : UINT32_MAX;
        }
    }
    if (handler->call.out.bytes > 0) {
        (void)msi_call_send_out(&handler->call);
    }
    msi_call_finish(&handler->call, &bt);
}

static void written(ms_bt_call *store_call, void *arg)
{
    write_call *handler = arg;
    handler->call.store_call = NULL;
    if (!ms_bt_status_is_ok(&store_call->status)) {
        msi_call_finish(&handler->call, &store_call->status);
    } else if (handler->write.is_single) {
        msi_call_reply_empty(&handler->call);
    } else {
        reply_entries(handler);
    }
}

static void begin_write(write_call *handler, const ms_wire_mutate_head *head, bool is_single)
{
    msi_call *call = &handler->call;
    ms_bt_status bt = {0};
    if (head->authorized_view.bytes > 0) {
        msi_call_fail(call, MS_BT_UNIMPLEMENTED, "Views of tables are not supported");
        return;
    }
    /* The head borrows from the message, which is gone when this returns. */
    ms_str path = ms_arena_copy_str(&call->arena, head->table);
    if (ms_bt_table_name_parse(&handler->table, path, &bt) != MS_BT_OK) {
        msi_call_finish(call, &bt);
        return;
    }
    ms_bt_mutate_rows *write = &handler->write;
    write->table = &handler->table;
    write->batch = &handler->batch;
    write->is_single = is_single;
    write->call.app_profile = ms_arena_copy_str(&call->arena, head->app_profile);
    call->store_call = &write->call;
    ms_bt_client_mutate_rows(call->server->client, write);
}

static void init_write(write_call *handler)
{
    ms_bt_mutation_batch_init(&handler->batch, MS_BT_LIMIT_BATCH_BYTES);
    ms_bt_mutate_rows_init(&handler->write, msi_call_mailbox(&handler->call), written, handler);
}

static void mutate_rows(msi_call *call, ms_str message)
{
    write_call *handler = (write_call *)(void *)call;
    ms_wire_mutate_head head;
    ms_bt_status bt = {0};
    init_write(handler);
    if (ms_wire_mutate_rows_decode(message, &ms_wire_request_limits, &handler->batch, &head, &bt) !=
        MS_BT_OK) {
        msi_call_finish(call, &bt);
        return;
    }
    begin_write(handler, &head, false);
}

static void mutate_row(msi_call *call, ms_str message)
{
    write_call *handler = (write_call *)(void *)call;
    ms_wire_mutate_head head;
    ms_bt_status bt = {0};
    init_write(handler);
    if (ms_wire_mutate_row_decode(message, &ms_wire_request_limits, &handler->batch, &head, &bt) !=
        MS_BT_OK) {
        msi_call_finish(call, &bt);
        return;
    }
    begin_write(handler, &head, true);
}

static void release_write(msi_call *call)
{
    write_call *handler = (write_call *)(void *)call;
    if (call->has_request) {
        ms_bt_mutate_rows_release(&handler->write);
        ms_bt_mutation_batch_release(&handler->batch);
    }
}

/* CheckAndMutateRow. */

typedef struct check_call {
    msi_call call; /* first */
    ms_bt_table_name table;
    ms_bt_mutation_batch if_true;
    ms_bt_mutation_batch if_false;
    ms_bt_check_and_mutate check;
} check_call;

static void checked(ms_bt_call *store_call, void *arg)
{
    check_call *handler = arg;
    handler->call.store_call = NULL;
    if (!ms_bt_status_is_ok(&store_call->status)) {
        msi_call_finish(&handler->call, &store_call->status);
        return;
    }
    ms_pb_check_and_mutate_row_response *out =
        ms_pb_new(&handler->call.arena, check_and_mutate_row_response);
    out->predicate_matched = handler->check.predicate_matched;
    msi_call_reply(&handler->call, &out->base);
}

static void check_and_mutate(msi_call *call, ms_str message)
{
    check_call *handler = (check_call *)(void *)call;
    ms_bt_check_and_mutate *check = &handler->check;
    ms_bt_status bt = {0};
    ms_bt_mutation_batch_init(&handler->if_true, MS_BT_LIMIT_BATCH_BYTES);
    ms_bt_mutation_batch_init(&handler->if_false, MS_BT_LIMIT_BATCH_BYTES);
    ms_bt_check_and_mutate_init(check, msi_call_mailbox(call), checked, handler);
    ms_pb_check_and_mutate_row_request *in =
        msi_call_request(call, check_and_mutate_row_request, message);
    if (in == NULL ||
        !msi_call_table_name(call, in->table_name, in->authorized_view_name, &handler->table)) {
        return;
    }
    ms_str key = ms_wire_bytes_view(in->row_key);
    if ((in->n_true_mutations > 0 &&
         ms_wire_mutations_from_pb(key, in->true_mutations, in->n_true_mutations, &handler->if_true,
                                   &bt) != MS_BT_OK) ||
        (in->n_false_mutations > 0 &&
         ms_wire_mutations_from_pb(key, in->false_mutations, in->n_false_mutations,
                                   &handler->if_false, &bt) != MS_BT_OK)) {
        msi_call_finish(call, &bt);
        return;
    }
    check->table = &handler->table;
    check->row_key = key;
    check->predicate = ms_wire_filter_from_pb(in->predicate_filter, &call->arena);
    check->if_true = &handler->if_true;
    check->if_false = &handler->if_false;
    check->call.app_profile = ms_wire_text_view(in->app_profile_id);
    call->store_call = &check->call;
    ms_bt_client_check_and_mutate(call->server->client, check);
}

static void release_check(msi_call *call)
{
    check_call *handler = (check_call *)(void *)call;
    if (call->has_request) {
        ms_bt_check_and_mutate_release(&handler->check);
        ms_bt_mutation_batch_release(&handler->if_true);
        ms_bt_mutation_batch_release(&handler->if_false);
    }
}

/* ReadModifyWriteRow. */

typedef struct modify_call {
    msi_call call; /* first */
    ms_bt_table_name table;
    ms_bt_read_modify_write modify; /* stays, with the memory of its answer */
    bool was_used;
} modify_call;

static void modified(ms_bt_call *store_call, void *arg)
{
    modify_call *handler = arg;
    msi_call *call = &handler->call;
    call->store_call = NULL;
    if (!ms_bt_status_is_ok(&store_call->status)) {
        msi_call_finish(call, &store_call->status);
        return;
    }
    const ms_bt_page *page = &handler->modify.row;
    ms_pb_read_modify_write_row_response *out =
        ms_pb_new(&call->arena, read_modify_write_row_response);
    if (page->row_count > 0) {
        out->row = ms_wire_row_to_pb(page, &page->rows[0], &call->arena);
    }
    msi_call_reply(call, &out->base);
}

static void read_modify_write(msi_call *call, ms_str message)
{
    modify_call *handler = (modify_call *)(void *)call;
    ms_bt_read_modify_write *modify = &handler->modify;
    ms_bt_status bt = {0};
    if (handler->was_used) {
        ms_bt_read_modify_write_reuse(modify, msi_call_mailbox(call), modified, handler);
    } else {
        ms_bt_read_modify_write_init(modify, msi_call_mailbox(call), modified, handler);
        handler->was_used = true;
    }
    ms_pb_read_modify_write_row_request *in =
        msi_call_request(call, read_modify_write_row_request, message);
    if (in == NULL ||
        !msi_call_table_name(call, in->table_name, in->authorized_view_name, &handler->table)) {
        return;
    }
    if (ms_wire_rules_from_pb(in->rules, in->n_rules, &call->arena, &modify->rules, &bt) !=
        MS_BT_OK) {
        msi_call_finish(call, &bt);
        return;
    }
    modify->rule_count = in->n_rules;
    modify->table = &handler->table;
    modify->row_key = ms_wire_bytes_view(in->row_key);
    modify->call.app_profile = ms_wire_text_view(in->app_profile_id);
    call->store_call = &modify->call;
    ms_bt_client_read_modify_write(call->server->client, modify);
}

static void leave_modify(msi_call *call)
{
    memset(&((modify_call *)(void *)call)->table, 0, sizeof(ms_bt_table_name));
}

static void release_modify(msi_call *call)
{
    modify_call *handler = (modify_call *)(void *)call;
    if (handler->was_used) {
        ms_bt_read_modify_write_release(&handler->modify);
    }
}

/* PingAndWarm. */

typedef struct ping_call {
    msi_call call; /* first */
    ms_bt_table_name instance;
    ms_bt_ping ping;
} ping_call;

static void pinged(ms_bt_call *store_call, void *arg)
{
    ping_call *handler = arg;
    handler->call.store_call = NULL;
    if (ms_bt_status_is_ok(&store_call->status)) {
        msi_call_reply_empty(&handler->call);
    } else {
        msi_call_finish(&handler->call, &store_call->status);
    }
}

static void ping(msi_call *call, ms_str message)
{
    ping_call *handler = (ping_call *)(void *)call;
    ms_bt_status bt = {0};
    ms_pb_ping_and_warm_request *in = msi_call_request(call, ping_and_warm_request, message);
    if (in == NULL) {
        return;
    }
    if (ms_wire_instance_parse(ms_wire_text_view(in->name), &handler->instance, &bt) != MS_BT_OK) {
        msi_call_finish(call, &bt);
        return;
    }
    ms_bt_ping_init(&handler->ping, msi_call_mailbox(call), pinged, handler);
    handler->ping.instance = &handler->instance;
    handler->ping.call.app_profile = ms_wire_text_view(in->app_profile_id);
    call->store_call = &handler->ping.call;
    ms_bt_client_ping(call->server->client, &handler->ping);
}

/* SampleRowKeys. */

typedef struct sample_call {
    msi_call call; /* first */
    ms_bt_table_name table;
    ms_bt_sample_row_keys sample;
} sample_call;

static void sampled(ms_bt_call *store_call, void *arg)
{
    sample_call *handler = arg;
    msi_call *call = &handler->call;
    ms_bt_status bt = store_call->status;
    call->store_call = NULL;
    for (size_t i = 0; i < handler->sample.sample_count && ms_bt_status_is_ok(&bt); i++) {
        ms_pb_sample_row_keys_response *out = ms_pb_new(&call->arena, sample_row_keys_response);
        out->row_key = ms_wire_bytes(handler->sample.samples[i].key);
        out->offset_bytes = handler->sample.samples[i].offset_bytes;
        (void)msi_call_send(call, &out->base, &bt);
        ms_arena_reset(&call->arena);
    }
    msi_call_finish(call, &bt);
}

static void sample_row_keys(msi_call *call, ms_str message)
{
    sample_call *handler = (sample_call *)(void *)call;
    ms_bt_sample_row_keys *sample = &handler->sample;
    ms_bt_sample_row_keys_init(sample, msi_call_mailbox(call), sampled, handler);
    ms_pb_sample_row_keys_request *in = msi_call_request(call, sample_row_keys_request, message);
    if (in == NULL ||
        !msi_call_table_name(call, in->table_name, in->authorized_view_name, &handler->table)) {
        return;
    }
    sample->table = &handler->table;
    sample->range = ms_wire_range_from_pb(in->row_range);
    sample->call.app_profile = ms_wire_text_view(in->app_profile_id);
    call->store_call = &sample->call;
    ms_bt_client_sample_row_keys(call->server->client, sample);
}

static void release_sample(msi_call *call)
{
    if (call->has_request) {
        ms_bt_sample_row_keys_release(&((sample_call *)(void *)call)->sample);
    }
}

/* Partitions of a change stream. */

typedef struct partitions_call {
    msi_call call; /* first */
    ms_bt_table_name table;
    ms_bt_partitions partitions;
} partitions_call;

static void partitioned(ms_bt_call *store_call, void *arg)
{
    partitions_call *handler = arg;
    msi_call *call = &handler->call;
    ms_bt_status bt = store_call->status;
    call->store_call = NULL;
    for (size_t i = 0; i < handler->partitions.partition_count && ms_bt_status_is_ok(&bt); i++) {
        ms_pb_generate_initial_change_stream_partitions_response *out =
            ms_pb_new(&call->arena, generate_initial_change_stream_partitions_response);
        out->partition = ms_wire_partition_to_pb(&handler->partitions.partitions[i], &call->arena);
        (void)msi_call_send(call, &out->base, &bt);
        ms_arena_reset(&call->arena);
    }
    msi_call_finish(call, &bt);
}

static void generate_partitions(msi_call *call, ms_str message)
{
    partitions_call *handler = (partitions_call *)(void *)call;
    ms_bt_partitions *partitions = &handler->partitions;
    ms_bt_partitions_init(partitions, msi_call_mailbox(call), partitioned, handler);
    ms_pb_generate_initial_change_stream_partitions_request *in =
        msi_call_request(call, generate_initial_change_stream_partitions_request, message);
    if (in == NULL || !msi_call_table_name(call, in->table_name, NULL, &handler->table)) {
        return;
    }
    partitions->table = &handler->table;
    partitions->call.app_profile = ms_wire_text_view(in->app_profile_id);
    call->store_call = &partitions->call;
    ms_bt_client_partitions(call->server->client, partitions);
}

static void release_partitions(msi_call *call)
{
    if (call->has_request) {
        ms_bt_partitions_release(&((partitions_call *)(void *)call)->partitions);
    }
}

/* The table. */

#define SERVICE "/google.bigtable.v2.Bigtable/"

const msi_method msi_methods_data[] = {
    {.path = SERVICE "MutateRow",
     .bytes = sizeof(write_call),
     .begin = mutate_row,
     .release = release_write},
    {.path = SERVICE "MutateRows",
     .bytes = sizeof(write_call),
     .begin = mutate_rows,
     .release = release_write},
    {.path = SERVICE "CheckAndMutateRow",
     .bytes = sizeof(check_call),
     .begin = check_and_mutate,
     .release = release_check},
    {.path = SERVICE "ReadModifyWriteRow",
     .bytes = sizeof(modify_call),
     .begin = read_modify_write,
     .release = release_modify,
     .leave = leave_modify},
    {.path = SERVICE "PingAndWarm", .bytes = sizeof(ping_call), .begin = ping},
    {.path = SERVICE "SampleRowKeys",
     .bytes = sizeof(sample_call),
     .begin = sample_row_keys,
     .release = release_sample},
    {.path = SERVICE "GenerateInitialChangeStreamPartitions",
     .bytes = sizeof(partitions_call),
     .begin = generate_partitions,
     .release = release_partitions},
};
const size_t msi_methods_data_count = sizeof(msi_methods_data) / sizeof(msi_methods_data[0]);
