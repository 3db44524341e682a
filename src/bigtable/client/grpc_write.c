/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MutateRows and MutateRow over gRPC. Each entry has an outcome of its own; those that failed in a
 * way that passes are sent again, alone and in order, unless doing them twice would matter. An
 * attempt that broke off gives its own failure to the entries that had no answer.
 */
/* tidy: no-unit-test: tests/conformance runs each case of it over a scripted server */
#include "base/memory.h"
#include "bigtable/client/grpc_priv.h"
#include "bigtable/wire/mutate_rows.h"

#define SECOND_NS INT64_C(1000000000)

/* What is known of an entry: its code is MS_BT_OK once it was done. */
typedef struct entry_state {
    uint8_t code;
    bool is_answered; /* by the attempt under way */
    bool is_once;     /* must not be done twice */
    ms_str text;      /* of the failure; in the operation's arena */
} entry_state;

typedef struct write_op {
    msi_op op; /* first */
    ms_bt_mutate_rows *call;
    entry_state *entries;
    uint32_t *sent; /* indexes of the entries of the attempt under way */
    uint32_t sent_count;
    ms_str last_text;   /* texts that repeat are kept once */
    bool was_attempted; /* entries have outcomes of their own */
    bool was_answered;  /* an entry had an answer of its own */
    bool was_paced;     /* the attempt under way was told how fast the next may begin */
} write_op;

_Static_assert(sizeof(write_op) <= MSI_OP_BYTES, "fits into an operation");

/* Which entries must not be done twice: those that let the server choose a time, and those that
 * add to what is there. */
static void find_once(write_op *write)
{
    ms_bt_mutation_cursor cursor = ms_bt_mutation_cursor_make(write->call->batch);
    ms_bt_mutation_entry entry;
    ms_bt_mutation mutation;
    while (ms_bt_mutation_cursor_next_entry(&cursor, &entry)) {
        bool is_once = false;
        while (!is_once && ms_bt_mutation_cursor_next(&cursor, &mutation)) {
            is_once = mutation.kind == MS_BT_MUTATION_ADD_TO_CELL ||
                      mutation.kind == MS_BT_MUTATION_MERGE_TO_CELL ||
                      (mutation.kind == MS_BT_MUTATION_SET_CELL &&
                       mutation.timestamp_micros == MS_BT_TIMESTAMP_SERVER);
        }
        write->entries[entry.index].is_once = is_once;
    }
}

static ms_str keep_text(write_op *write, ms_str text)
{
    if (!ms_str_equals(write->last_text, text)) {
        write->last_text = ms_arena_copy_str(&write->op.arena, text);
    }
    return write->last_text;
}

static ms_bt_code request(msi_op *op, ms_buf *message, ms_bt_status *bt)
{
    write_op *write = (write_op *)(void *)op;
    const ms_bt_mutate_rows *call = write->call;
    char path[MS_BT_TABLE_PATH_BYTES];
    ms_wire_mutate_head head = {.app_profile = call->call.app_profile};
    head.table = (ms_str){path, ms_bt_table_name_path(call->table, path)};
    for (uint32_t i = 0; i < write->sent_count; i++) {
        write->entries[write->sent[i]].is_answered = false;
    }
    write->was_paced = false;
    ms_status st = {0};
    ms_rc rc = call->is_single ? ms_wire_mutate_row_encode(&head, call->batch, message, &st)
                               : ms_wire_mutate_rows_encode(&head, call->batch, write->sent,
                                                            write->sent_count, message, &st);
    return rc == MS_OK ? MS_BT_OK : ms_bt_status_from(bt, MS_BT_RESOURCE_EXHAUSTED, &st);
}

static ms_bt_code message(msi_op *op, ms_str bytes, ms_bt_status *bt)
{
    write_op *write = (write_op *)(void *)op;
    if (write->call->is_single) {
        return MS_BT_OK;
    }
    ms_wire_mutate_reader reader;
    ms_wire_mutate_result result;
    MS_BT_TRY(ms_wire_mutate_reader_make(bytes, &ms_wire_response_limits, &reader, bt));
    while (ms_wire_mutate_reader_next(&reader, &result)) {
        if (result.index >= write->sent_count) {
            return ms_bt_status_set(bt, MS_BT_INTERNAL, "MutateRows answered for entry %u of %u",
                                    result.index, write->sent_count);
        }
        entry_state *entry = &write->entries[write->sent[result.index]];
        bool is_code = result.code >= 0 && result.code < MS_BT_CODE_COUNT;
        entry->is_answered = true;
        write->was_answered = true;
        entry->code = is_code ? (uint8_t)result.code : (uint8_t)MS_BT_UNKNOWN;
        entry->text = keep_text(write, result.message);
    }
    if (reader.has_rate_limit) {
        write->was_paced = true;
        msi_rate_set(&op->grpc->rate, reader.rate_factor, reader.rate_period_micros,
                     ms_env_mono_ns());
    }
    return MS_BT_OK;
}

/* What failed with the whole request is also repeated where the server says when to come back; and
 * what must not be done twice, where nothing was begun with the request. */
static bool may_repeat(const msi_op *op, const entry_state *entry)
{
    bool is_asked_back = !entry->is_answered && op->retry_delay_ns >= 0;
    if (entry->is_once) {
        return !entry->is_answered && msi_retry_is_unbegun(&op->retry, entry->code);
    }
    return is_asked_back || msi_retry_is_retryable(&op->class_of->policy, entry->code);
}

/* What the end of an attempt says of the load of the cluster. */
static void note_load(const write_op *write)
{
    msi_rate *rate = &write->op.grpc->rate;
    if (!ms_bt_status_is_ok(&write->op.status)) {
        msi_rate_failed(rate, write->op.status.code, ms_env_mono_ns());
    } else if (!write->was_paced) {
        msi_rate_unset(rate, ms_env_mono_ns());
    }
}

/* Gives each entry its outcome and keeps those to send again. */
static msi_op_next end(msi_op *op)
{
    write_op *write = (write_op *)(void *)op;
    bool was_taken = ms_bt_status_is_ok(&op->status);
    if (op->class_of->is_paced) {
        note_load(write);
    }
    write->was_attempted = true;
    if (was_taken && write->call->is_single) {
        write->entries[0].code = MS_BT_OK;
        return MSI_OP_FINISH;
    }
    ms_str text = was_taken ? ms_str_lit("The server did not say what became of the entry")
                            : ms_str_cstr(op->status.text);
    ms_bt_code code = was_taken ? MS_BT_INTERNAL : op->status.code;
    uint32_t left = 0;
    for (uint32_t i = 0; i < write->sent_count; i++) {
        entry_state *entry = &write->entries[write->sent[i]];
        if (!entry->is_answered) {
            entry->code = (uint8_t)code;
            entry->text = keep_text(write, text);
        }
        if (entry->code != MS_BT_OK && may_repeat(op, entry)) {
            write->sent[left++] = write->sent[i];
        }
    }
    write->sent_count = left;
    if (left == 0) {
        return MSI_OP_FINISH;
    }
    if (was_taken) {
        const entry_state *first = &write->entries[write->sent[0]];
        ms_bt_status_set_text(&op->status, first->code, first->text);
    }
    return MSI_OP_AGAIN;
}

static void hand_over(write_op *write)
{
    ms_bt_mutate_rows *call = write->call;
    ms_bt_status *bt = &call->call.status;
    uint32_t count = ms_bt_mutation_batch_entries(call->batch);
    if (!write->was_attempted || count == 0) {
        *bt = write->op.status;
        return;
    }
    if (!write->was_answered && !ms_bt_status_is_ok(&write->op.status)) {
        /* The request as a whole was refused, or never arrived. */
        *bt = write->op.status;
        return;
    }
    ms_status st = {0};
    for (uint32_t i = 0; i < count; i++) {
        const entry_state *entry = &write->entries[i];
        if (entry->code != MS_BT_OK &&
            ms_bt_failures_add(&call->failures, i, entry->code, entry->text, &st) != MS_OK) {
            ms_bt_status_from(bt, MS_BT_RESOURCE_EXHAUSTED, &st);
            return;
        }
    }
}

static void finish(msi_op *op)
{
    write_op *write = (write_op *)(void *)op;
    ms_bt_call *call = &write->call->call;
    ms_outbox *outbox = ms_loop_outbox(op->grpc->loop);
    hand_over(write);
    ms_mem_free(write->entries);
    ms_mem_free(write->sent);
    msi_op_destroy(op);
    ms_bt_call_finish_in(call, outbox);
}

static const msi_op_class mutate_rows = {
    .path = "/google.bigtable.v2.Bigtable/MutateRows",
    .is_paced = true,
    .policy = {.attempt_ns = 60 * SECOND_NS, .total_ns = 600 * SECOND_NS, .attempts_max = 10},
    .request = request,
    .message = message,
    .end = end,
    .finish = finish,
};

static const msi_op_class mutate_row = {
    .path = "/google.bigtable.v2.Bigtable/MutateRow",
    .policy = {.attempt_ns = 20 * SECOND_NS, .total_ns = 600 * SECOND_NS, .attempts_max = 10},
    .request = request,
    .message = message,
    .end = end,
    .finish = finish,
};

void msi_grpc_mutate_rows(msi_grpc *grpc, ms_bt_call *base)
{
    ms_bt_mutate_rows *call = ms_bt_call_mutate_rows(base);
    uint32_t count = ms_bt_mutation_batch_entries(call->batch);
    write_op *write = (write_op *)(void *)msi_op_create(
        grpc, call->is_single ? &mutate_row : &mutate_rows, base->timeout_ms);
    write->op.is_canceled = &base->is_canceled;
    write->op.reach_ms = base->reach_ms;
    msi_op_set_table(&write->op, call->table, base->app_profile);
    write->call = call;
    write->entries = ms_mem_calloc(count > 0 ? count : 1, sizeof(*write->entries));
    write->sent = ms_mem_calloc(count > 0 ? count : 1, sizeof(*write->sent));
    write->sent_count = count;
    for (uint32_t i = 0; i < count; i++) {
        write->sent[i] = i;
    }
    find_once(write);
    msi_op_start(&write->op);
}
