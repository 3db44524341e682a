/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of the codec of MutateRow and MutateRows. The first byte says which; with an odd
 * second byte the rest chooses what is in the request, else it is the request. What the codec
 * takes, and what it makes of it, must be what protobuf-c and the translation take and make; and a
 * batch that was read must come back from its own bytes.
 */
#include "bigtable/wire/mutate_rows.h"
#include "bigtable/wire/mutation.h"
#include "bigtable/wire/wire_random.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define BATCH_BYTES_MAX (64u << 20)

static ms_arena arena;
static ms_bt_status bt;
static ms_status st;

static void demand(bool condition)
{
    if (!condition) {
        abort();
    }
}

static ms_bt_code rows_slowly(ms_str bytes, ms_bt_mutation_batch *batch)
{
    const ms_pb_mutate_rows_request *request =
        ms_pb_unpack(mutate_rows_request, bytes, &ms_wire_request_limits, &arena, &bt);
    if (request == NULL) {
        return bt.code;
    }
    for (size_t i = 0; i < request->n_entries; i++) {
        const ms_pb_mutate_rows_request_entry *entry = request->entries[i];
        MS_BT_TRY(ms_wire_mutations_from_pb(ms_wire_bytes_view(entry->row_key), entry->mutations,
                                            entry->n_mutations, batch, &bt));
    }
    return MS_BT_OK;
}

static ms_bt_code row_slowly(ms_str bytes, ms_bt_mutation_batch *batch)
{
    const ms_pb_mutate_row_request *request =
        ms_pb_unpack(mutate_row_request, bytes, &ms_wire_request_limits, &arena, &bt);
    return request == NULL
               ? bt.code
               : ms_wire_mutations_from_pb(ms_wire_bytes_view(request->row_key), request->mutations,
                                           request->n_mutations, batch, &bt);
}

static void demand_same_mutation(const ms_bt_mutation_batch *a, const ms_bt_mutation *m,
                                 const ms_bt_mutation_batch *b, const ms_bt_mutation *n)
{
    demand(m->kind == n->kind && m->origin == n->origin);
    demand(m->timestamp_micros == n->timestamp_micros && m->end_micros == n->end_micros);
    demand(ms_str_equals(m->qualifier, n->qualifier) && ms_str_equals(m->value, n->value));
    if (m->kind != MS_BT_MUTATION_DELETE_FROM_ROW) {
        demand(ms_str_equals(ms_bt_mutation_batch_family_name(a, m->family),
                             ms_bt_mutation_batch_family_name(b, n->family)));
    }
}

/* Tokens too, where both sides have them. */
static void demand_same(const ms_bt_mutation_batch *a, const ms_bt_mutation_batch *b,
                        bool with_tokens)
{
    ms_bt_mutation_cursor x = ms_bt_mutation_cursor_make(a);
    ms_bt_mutation_cursor y = ms_bt_mutation_cursor_make(b);
    ms_bt_mutation_entry e = {0};
    ms_bt_mutation_entry f = {0};
    demand(ms_bt_mutation_batch_entries(a) == ms_bt_mutation_batch_entries(b));
    while (ms_bt_mutation_cursor_next_entry(&x, &e)) {
        demand(ms_bt_mutation_cursor_next_entry(&y, &f));
        demand(ms_str_equals(e.key, f.key) && e.mutation_count == f.mutation_count);
        demand(!with_tokens || ms_str_equals(e.token, f.token));
        ms_bt_mutation m = {.kind = MS_BT_MUTATION_SET_CELL};
        ms_bt_mutation n = {.kind = MS_BT_MUTATION_SET_CELL};
        while (ms_bt_mutation_cursor_next(&x, &m)) {
            demand(ms_bt_mutation_cursor_next(&y, &n));
            demand_same_mutation(a, &m, b, &n);
        }
    }
}

static ms_bt_code decode(bool is_single, ms_str bytes, ms_bt_mutation_batch *batch,
                         ms_wire_mutate_head *head)
{
    ms_bt_status_clear(&bt);
    return is_single ? ms_wire_mutate_row_decode(bytes, &ms_wire_request_limits, batch, head, &bt)
                     : ms_wire_mutate_rows_decode(bytes, &ms_wire_request_limits, batch, head, &bt);
}

/* What was read, written and read again. */
static void try_again(bool is_single, const ms_wire_mutate_head *head,
                      const ms_bt_mutation_batch *batch)
{
    ms_buf buf;
    ms_bt_mutation_batch again;
    ms_wire_mutate_head back;
    ms_buf_init(&buf, BATCH_BYTES_MAX);
    ms_bt_mutation_batch_init(&again, BATCH_BYTES_MAX);
    demand((is_single ? ms_wire_mutate_row_encode(head, batch, &buf, &st)
                      : ms_wire_mutate_rows_encode(head, batch, NULL, 0, &buf, &st)) == MS_OK);
    demand(decode(is_single, ms_buf_view(&buf), &again, &back) == MS_BT_OK);
    demand_same(batch, &again, true);
    demand(ms_str_equals(head->table, back.table));
    ms_bt_mutation_batch_release(&again);
    ms_buf_release(&buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    if (bytes < 2) {
        return 0;
    }
    bool is_single = data[0] % 2 != 0;
    ms_buf buf;
    ms_arena_init(&arena, 0);
    ms_buf_init(&buf, BATCH_BYTES_MAX);
    ms_str request = ms_str_make((const char *)data + 2, bytes - 2);
    if (data[1] % 2 != 0) {
        wire_choices c = {.bytes = data + 2, .left = bytes - 2, .arena = &arena};
        const ProtobufCMessageDescriptor *class =
            is_single ? ms_pb_mutate_row_request_class() : ms_pb_mutate_rows_request_class();
        demand(ms_wire_pack(wire_pick_message(&c, class, 5), &buf, &st) == MS_OK);
        request = ms_buf_view(&buf);
    }
    ms_bt_mutation_batch fast;
    ms_bt_mutation_batch slow;
    ms_wire_mutate_head head;
    ms_bt_mutation_batch_init(&fast, BATCH_BYTES_MAX);
    ms_bt_mutation_batch_init(&slow, BATCH_BYTES_MAX);
    ms_bt_status_clear(&bt);
    ms_bt_code expected = is_single ? row_slowly(request, &slow) : rows_slowly(request, &slow);
    demand(decode(is_single, request, &fast, &head) == expected);
    if (expected == MS_BT_OK) {
        demand_same(&fast, &slow, false);
        try_again(is_single, &head, &fast);
    }
    ms_bt_mutation_batch_release(&fast);
    ms_bt_mutation_batch_release(&slow);
    ms_buf_release(&buf);
    ms_arena_release(&arena);
    return 0;
}
