/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The operations: a request of the suite becomes one of our client, what came of it an answer. A
 * failure of the client is the status of the answer.
 */
/* tidy: no-unit-test: proxy_test.c drives it over its service */
#include "proxy_priv.h"

#include "base/memory.h"
#include "bigtable/model/limits.h"
#include "bigtable/wire/filter.h"
#include "bigtable/wire/mutation.h"
#include "bigtable/wire/range.h"
#include "bigtable/wire/row.h"
#include "bigtable/wire/rpc_status.h"

#define ROWS_FIRST ((size_t)16)
#define ROW_BYTES_MAX ((size_t)300 << 20)

/* Common. */

static ms_bt_code refuse_empty(ms_bt_status *bt)
{
    return ms_bt_status_set(bt, MS_BT_INVALID_ARGUMENT, "The request has nothing in it");
}

/* The profile of the client, or that of the request where the client has none. */
static ms_str choose_profile(const proxy_call *call, const char *of_request)
{
    const char *of_client = call->client->app_profile;
    return ms_str_cstr(of_client[0] != '\0' ? of_client : of_request);
}

/* What every operation gets from its client; from now on it may be canceled. */
static void prepare(proxy_call *call, ms_bt_call *operation, const char *app_profile)
{
    operation->app_profile = choose_profile(call, app_profile);
    operation->timeout_ms = call->client->timeout_ms;
    call->pending = operation;
}

static ms_pb_rpc_status *end_operation(proxy_call *call)
{
    ms_pb_rpc_status *status = ms_wire_status_to_pb(&call->pending->status, &call->arena);
    call->pending = NULL;
    return status;
}

/* ReadRow and ReadRows. */

typedef struct rows_call {
    proxy_call call; /* first */
    ms_bt_read *read;
    ms_bt_status outcome; /* once the read is being closed */
    ms_pb_row **rows;
    size_t row_count;
    size_t row_capacity;
    size_t row_limit; /* the suite wants no more */
    bool is_single;
    bool is_closing;
} rows_call;

static void reply_rows(rows_call *rows)
{
    proxy_call *call = &rows->call;
    ms_pb_rpc_status *status = ms_wire_status_to_pb(&rows->outcome, &call->arena);
    if (rows->is_single) {
        proxy_row_result *out = proxy_new(&call->arena, row_result);
        out->status = status;
        out->row = rows->row_count > 0 ? rows->rows[0] : NULL;
        proxy_call_reply(call, &out->base);
        return;
    }
    proxy_rows_result *out = proxy_new(&call->arena, rows_result);
    out->status = status;
    out->rows = rows->rows;
    out->n_rows = rows->row_count;
    proxy_call_reply(call, &out->base);
}

static void rows_closed(void *arg)
{
    rows_call *rows = arg;
    rows->read = NULL;
    reply_rows(rows);
}

static void close_rows(rows_call *rows, const ms_bt_status *outcome)
{
    if (rows->is_closing) {
        return;
    }
    rows->is_closing = true;
    rows->outcome = *outcome;
    if (ms_bt_read_close(rows->read, rows_closed, rows)) {
        rows_closed(rows);
    }
}

/* A copy of a row, whose page is only lent: as bytes and back. */
static ms_pb_row *copy_row(const ms_bt_page *page, const ms_bt_row *row, ms_arena *arena,
                           ms_bt_status *bt)
{
    ms_status st = {0};
    ms_pb_row *copy = NULL;
    ms_arena scratch;
    ms_buf bytes;
    ms_arena_init(&scratch, 0);
    ms_buf_init(&bytes, ROW_BYTES_MAX);
    if (ms_pb_pack(ms_wire_row_to_pb(page, row, &scratch), &bytes, &st) == MS_OK) {
        copy = ms_pb_unpack(row, ms_buf_view(&bytes), &ms_wire_response_limits, arena, bt);
    } else {
        ms_bt_status_from(bt, MS_BT_RESOURCE_EXHAUSTED, &st);
    }
    ms_buf_release(&bytes);
    ms_arena_release(&scratch);
    return copy;
}

static void add_row(rows_call *rows, ms_pb_row *row)
{
    if (rows->row_count == rows->row_capacity) {
        size_t capacity = rows->row_capacity == 0 ? ROWS_FIRST : 2 * rows->row_capacity;
        ms_pb_row **list = ms_arena_array(&rows->call.arena, ms_pb_row *, capacity);
        if (rows->row_count > 0) {
            memcpy(list, rows->rows, rows->row_count * sizeof(list[0]));
        }
        rows->rows = list;
        rows->row_capacity = capacity;
    }
    rows->rows[rows->row_count++] = row;
}

static ms_bt_code take_page(rows_call *rows, const ms_bt_page *page, ms_bt_status *bt)
{
    for (uint32_t i = 0; i < page->row_count && rows->row_count < rows->row_limit; i++) {
        ms_pb_row *row = copy_row(page, &page->rows[i], &rows->call.arena, bt);
        if (row == NULL) {
            return bt->code;
        }
        add_row(rows, row);
    }
    return MS_BT_OK;
}

static void pump_rows(void *arg)
{
    rows_call *rows = arg;
    const ms_bt_page *page = NULL;
    ms_bt_status bt = {0};
    ms_bt_poll poll;
    while (!rows->is_closing && (poll = ms_bt_read_poll(rows->read, &page)) != MS_BT_POLL_PENDING) {
        if (poll == MS_BT_POLL_PAGE) {
            ms_bt_code code = take_page(rows, page, &bt);
            ms_bt_read_return(rows->read, page);
            if (code == MS_BT_OK && rows->row_count < rows->row_limit) {
                continue;
            }
        } else if (poll == MS_BT_POLL_FAILED) {
            bt = *ms_bt_read_status(rows->read);
        }
        close_rows(rows, &bt);
        return;
    }
}

static void cancel_rows(proxy_call *call)
{
    ms_bt_status bt = {0};
    ms_bt_status_set(&bt, MS_BT_CANCELLED, "The call was canceled");
    close_rows((rows_call *)(void *)call, &bt);
}

static void start_rows(rows_call *rows, ms_bt_read_options *options, const char *app_profile)
{
    proxy_call *call = &rows->call;
    options->app_profile = choose_profile(call, app_profile);
    options->timeout_ms = call->client->timeout_ms;
    rows->read = ms_bt_client_read_rows(call->client->client, options, proxy_call_mailbox(call),
                                        pump_rows, rows);
    pump_rows(rows);
}

static ms_bt_code read_row(proxy_call *call, ms_str message, ms_bt_status *bt)
{
    rows_call *rows = (rows_call *)(void *)call;
    ms_bt_read_options options = {.rows_limit = 1};
    proxy_read_row_request *in = proxy_unpack(read_row_request, message, &call->arena, bt);
    if (in == NULL) {
        return bt->code;
    }
    MS_BT_TRY(proxy_call_hold(call, in->client_id, bt));
    MS_BT_TRY(ms_bt_table_name_parse(&options.table, ms_str_cstr(in->table_name), bt));
    ms_str key = ms_str_cstr(in->row_key);
    options.rows = (ms_bt_row_set){.keys = &key, .key_count = 1};
    options.filter = ms_wire_filter_from_pb(in->filter, &call->arena);
    rows->is_single = true;
    rows->row_limit = SIZE_MAX;
    start_rows(rows, &options, "");
    return MS_BT_OK;
}

static ms_bt_code read_rows(proxy_call *call, ms_str message, ms_bt_status *bt)
{
    rows_call *rows = (rows_call *)(void *)call;
    ms_bt_read_options options = {0};
    proxy_read_rows_request *in = proxy_unpack(read_rows_request, message, &call->arena, bt);
    if (in == NULL) {
        return bt->code;
    }
    MS_BT_TRY(proxy_call_hold(call, in->client_id, bt));
    if (in->request == NULL) {
        return refuse_empty(bt);
    }
    MS_BT_TRY(ms_bt_table_name_parse(&options.table, ms_str_cstr(in->request->table_name), bt));
    options.rows = ms_wire_row_set_from_pb(in->request->rows, &call->arena);
    options.filter = ms_wire_filter_from_pb(in->request->filter, &call->arena);
    options.rows_limit = in->request->rows_limit;
    options.is_reversed = in->request->reversed;
    rows->row_limit = in->cancel_after_rows > 0 ? (size_t)in->cancel_after_rows : SIZE_MAX;
    start_rows(rows, &options, in->request->app_profile_id);
    return MS_BT_OK;
}

/* MutateRow and BulkMutateRows. */

typedef struct write_call {
    proxy_call call; /* first */
    ms_bt_table_name table;
    ms_bt_mutation_batch batch;
    ms_bt_mutate_rows write;
} write_call;

static void release_write(proxy_call *call)
{
    write_call *write = (write_call *)(void *)call;
    ms_bt_mutate_rows_release(&write->write);
    ms_bt_mutation_batch_release(&write->batch);
}

static void add_entry(proxy_mutate_rows_result *out, uint32_t index, const ms_bt_status *bt,
                      ms_arena *arena)
{
    ms_pb_mutate_rows_response_entry *entry = ms_pb_new(arena, mutate_rows_response_entry);
    entry->index = index;
    entry->status = ms_wire_status_to_pb(bt, arena);
    out->entries[out->n_entries++] = entry;
}

/* The entries that failed: all of them when the request failed as a whole. */
static void add_entries(write_call *write, proxy_mutate_rows_result *out)
{
    ms_arena *arena = &write->call.arena;
    uint32_t count = ms_bt_mutation_batch_entries(&write->batch);
    uint32_t failures = ms_bt_mutate_rows_failure_count(&write->write);
    const ms_bt_status *whole = &write->write.call.status;
    out->entries = ms_arena_array(arena, ms_pb_mutate_rows_response_entry *, count);
    for (uint32_t i = 0; i < failures; i++) {
        ms_bt_status bt = {0};
        uint32_t index = ms_bt_mutate_rows_failure(&write->write, i, &bt);
        add_entry(out, index, &bt, arena);
    }
    for (uint32_t i = 0; i < count && !ms_bt_status_is_ok(whole); i++) {
        add_entry(out, i, whole, arena);
    }
}

static void written(ms_bt_call *operation, void *arg)
{
    (void)operation;
    write_call *write = arg;
    proxy_call *call = &write->call;
    if (write->write.is_single) {
        proxy_mutate_row_result *out = proxy_new(&call->arena, mutate_row_result);
        out->status = end_operation(call);
        proxy_call_reply(call, &out->base);
        return;
    }
    proxy_mutate_rows_result *out = proxy_new(&call->arena, mutate_rows_result);
    add_entries(write, out);
    out->status = end_operation(call);
    proxy_call_reply(call, &out->base);
}

static void init_write(write_call *write)
{
    ms_bt_mutation_batch_init(&write->batch, MS_BT_LIMIT_BATCH_BYTES);
    ms_bt_mutate_rows_init(&write->write, proxy_call_mailbox(&write->call), written, write);
    write->write.table = &write->table;
    write->write.batch = &write->batch;
}

static ms_bt_code mutate_row(proxy_call *call, ms_str message, ms_bt_status *bt)
{
    write_call *write = (write_call *)(void *)call;
    init_write(write);
    proxy_mutate_row_request *in = proxy_unpack(mutate_row_request, message, &call->arena, bt);
    if (in == NULL) {
        return bt->code;
    }
    MS_BT_TRY(proxy_call_hold(call, in->client_id, bt));
    const ms_pb_mutate_row_request *request = in->request;
    if (request == NULL) {
        return refuse_empty(bt);
    }
    MS_BT_TRY(ms_bt_table_name_parse(&write->table, ms_str_cstr(request->table_name), bt));
    MS_BT_TRY(ms_wire_mutations_from_pb(ms_wire_bytes_view(request->row_key), request->mutations,
                                        request->n_mutations, &write->batch, bt));
    write->write.is_single = true;
    prepare(call, &write->write.call, request->app_profile_id);
    ms_bt_client_mutate_rows(call->client->client, &write->write);
    return MS_BT_OK;
}

static ms_bt_code bulk_mutate_rows(proxy_call *call, ms_str message, ms_bt_status *bt)
{
    write_call *write = (write_call *)(void *)call;
    init_write(write);
    proxy_mutate_rows_request *in = proxy_unpack(mutate_rows_request, message, &call->arena, bt);
    if (in == NULL) {
        return bt->code;
    }
    MS_BT_TRY(proxy_call_hold(call, in->client_id, bt));
    const ms_pb_mutate_rows_request *request = in->request;
    if (request == NULL) {
        return refuse_empty(bt);
    }
    MS_BT_TRY(ms_bt_table_name_parse(&write->table, ms_str_cstr(request->table_name), bt));
    for (size_t i = 0; i < request->n_entries; i++) {
        const ms_pb_mutate_rows_request_entry *entry = request->entries[i];
        MS_BT_TRY(ms_wire_mutations_from_pb(ms_wire_bytes_view(entry->row_key), entry->mutations,
                                            entry->n_mutations, &write->batch, bt));
    }
    prepare(call, &write->write.call, request->app_profile_id);
    ms_bt_client_mutate_rows(call->client->client, &write->write);
    return MS_BT_OK;
}

/* CheckAndMutateRow. */

typedef struct check_call {
    proxy_call call; /* first */
    ms_bt_table_name table;
    ms_bt_mutation_batch if_true;
    ms_bt_mutation_batch if_false;
    ms_bt_check_and_mutate check;
} check_call;

static void release_check(proxy_call *call)
{
    check_call *check = (check_call *)(void *)call;
    ms_bt_check_and_mutate_release(&check->check);
    ms_bt_mutation_batch_release(&check->if_true);
    ms_bt_mutation_batch_release(&check->if_false);
}

static void checked(ms_bt_call *operation, void *arg)
{
    check_call *check = arg;
    proxy_call *call = &check->call;
    proxy_check_and_mutate_row_result *out = proxy_new(&call->arena, check_and_mutate_row_result);
    if (ms_bt_status_is_ok(&operation->status)) {
        out->result = ms_pb_new(&call->arena, check_and_mutate_row_response);
        out->result->predicate_matched = check->check.predicate_matched;
    }
    out->status = end_operation(call);
    proxy_call_reply(call, &out->base);
}

static ms_bt_code check_and_mutate(proxy_call *call, ms_str message, ms_bt_status *bt)
{
    check_call *check = (check_call *)(void *)call;
    ms_bt_mutation_batch_init(&check->if_true, MS_BT_LIMIT_BATCH_BYTES);
    ms_bt_mutation_batch_init(&check->if_false, MS_BT_LIMIT_BATCH_BYTES);
    ms_bt_check_and_mutate_init(&check->check, proxy_call_mailbox(call), checked, check);
    proxy_check_and_mutate_row_request *in =
        proxy_unpack(check_and_mutate_row_request, message, &call->arena, bt);
    if (in == NULL) {
        return bt->code;
    }
    MS_BT_TRY(proxy_call_hold(call, in->client_id, bt));
    const ms_pb_check_and_mutate_row_request *request = in->request;
    if (request == NULL) {
        return refuse_empty(bt);
    }
    MS_BT_TRY(ms_bt_table_name_parse(&check->table, ms_str_cstr(request->table_name), bt));
    ms_str key = ms_wire_bytes_view(request->row_key);
    MS_BT_TRY(ms_wire_mutations_from_pb(key, request->true_mutations, request->n_true_mutations,
                                        &check->if_true, bt));
    MS_BT_TRY(ms_wire_mutations_from_pb(key, request->false_mutations, request->n_false_mutations,
                                        &check->if_false, bt));
    check->check.table = &check->table;
    check->check.row_key = key;
    check->check.predicate = ms_wire_filter_from_pb(request->predicate_filter, &call->arena);
    check->check.if_true = &check->if_true;
    check->check.if_false = &check->if_false;
    prepare(call, &check->check.call, request->app_profile_id);
    ms_bt_client_check_and_mutate(call->client->client, &check->check);
    return MS_BT_OK;
}

/* ReadModifyWriteRow. */

typedef struct modify_call {
    proxy_call call; /* first */
    ms_bt_table_name table;
    ms_bt_read_modify_write modify;
} modify_call;

static void release_modify(proxy_call *call)
{
    ms_bt_read_modify_write_release(&((modify_call *)(void *)call)->modify);
}

static void modified(ms_bt_call *operation, void *arg)
{
    modify_call *modify = arg;
    proxy_call *call = &modify->call;
    const ms_bt_page *page = &modify->modify.row;
    proxy_row_result *out = proxy_new(&call->arena, row_result);
    if (ms_bt_status_is_ok(&operation->status) && page->row_count > 0) {
        out->row = ms_wire_row_to_pb(page, &page->rows[0], &call->arena);
    }
    out->status = end_operation(call);
    proxy_call_reply(call, &out->base);
}

static ms_bt_code read_modify_write(proxy_call *call, ms_str message, ms_bt_status *bt)
{
    modify_call *modify = (modify_call *)(void *)call;
    ms_bt_read_modify_write *operation = &modify->modify;
    ms_bt_read_modify_write_init(operation, proxy_call_mailbox(call), modified, modify);
    proxy_read_modify_write_row_request *in =
        proxy_unpack(read_modify_write_row_request, message, &call->arena, bt);
    if (in == NULL) {
        return bt->code;
    }
    MS_BT_TRY(proxy_call_hold(call, in->client_id, bt));
    const ms_pb_read_modify_write_row_request *request = in->request;
    if (request == NULL) {
        return refuse_empty(bt);
    }
    MS_BT_TRY(ms_bt_table_name_parse(&modify->table, ms_str_cstr(request->table_name), bt));
    MS_BT_TRY(ms_wire_rules_from_pb(request->rules, request->n_rules, &call->arena,
                                    &operation->rules, bt));
    operation->table = &modify->table;
    operation->row_key = ms_wire_bytes_view(request->row_key);
    operation->rule_count = request->n_rules;
    prepare(call, &operation->call, request->app_profile_id);
    ms_bt_client_read_modify_write(call->client->client, operation);
    return MS_BT_OK;
}

/* SampleRowKeys. */

typedef struct sample_call {
    proxy_call call; /* first */
    ms_bt_table_name table;
    ms_bt_sample_row_keys sample;
} sample_call;

static void release_sample(proxy_call *call)
{
    ms_bt_sample_row_keys_release(&((sample_call *)(void *)call)->sample);
}

static void sampled(ms_bt_call *operation, void *arg)
{
    sample_call *sample = arg;
    proxy_call *call = &sample->call;
    size_t count = ms_bt_status_is_ok(&operation->status) ? sample->sample.sample_count : 0;
    proxy_sample_row_keys_result *out = proxy_new(&call->arena, sample_row_keys_result);
    out->samples = ms_arena_array(&call->arena, ms_pb_sample_row_keys_response *, count);
    out->n_samples = count;
    for (size_t i = 0; i < count; i++) {
        out->samples[i] = ms_pb_new(&call->arena, sample_row_keys_response);
        out->samples[i]->row_key = ms_wire_bytes(sample->sample.samples[i].key);
        out->samples[i]->offset_bytes = sample->sample.samples[i].offset_bytes;
    }
    out->status = end_operation(call);
    proxy_call_reply(call, &out->base);
}

static ms_bt_code sample_row_keys(proxy_call *call, ms_str message, ms_bt_status *bt)
{
    sample_call *sample = (sample_call *)(void *)call;
    ms_bt_sample_row_keys_init(&sample->sample, proxy_call_mailbox(call), sampled, sample);
    proxy_sample_row_keys_request *in =
        proxy_unpack(sample_row_keys_request, message, &call->arena, bt);
    if (in == NULL) {
        return bt->code;
    }
    MS_BT_TRY(proxy_call_hold(call, in->client_id, bt));
    const ms_pb_sample_row_keys_request *request = in->request;
    if (request == NULL) {
        return refuse_empty(bt);
    }
    MS_BT_TRY(ms_bt_table_name_parse(&sample->table, ms_str_cstr(request->table_name), bt));
    sample->sample.table = &sample->table;
    sample->sample.range = ms_wire_range_from_pb(request->row_range);
    prepare(call, &sample->sample.call, request->app_profile_id);
    ms_bt_client_sample_row_keys(call->client->client, &sample->sample);
    return MS_BT_OK;
}

#define SERVICE "/google.bigtable.testproxy.CloudBigtableV2TestProxy/"

const proxy_method proxy_data_methods[] = {
    {SERVICE "ReadRow", sizeof(rows_call), read_row, cancel_rows, NULL},
    {SERVICE "ReadRows", sizeof(rows_call), read_rows, cancel_rows, NULL},
    {SERVICE "MutateRow", sizeof(write_call), mutate_row, NULL, release_write},
    {SERVICE "BulkMutateRows", sizeof(write_call), bulk_mutate_rows, NULL, release_write},
    {SERVICE "CheckAndMutateRow", sizeof(check_call), check_and_mutate, NULL, release_check},
    {SERVICE "ReadModifyWriteRow", sizeof(modify_call), read_modify_write, NULL, release_modify},
    {SERVICE "SampleRowKeys", sizeof(sample_call), sample_row_keys, NULL, release_sample},
};

const size_t proxy_data_method_count = sizeof(proxy_data_methods) / sizeof(proxy_data_methods[0]);
