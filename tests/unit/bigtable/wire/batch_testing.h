/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random batches of mutations, and comparing batches, for the tests of what encodes them.
 */
#ifndef MS_TESTS_UNIT_BIGTABLE_WIRE_BATCH_TESTING_H
#define MS_TESTS_UNIT_BIGTABLE_WIRE_BATCH_TESTING_H

#include "bigtable/model/mutation.h"
#include "bigtable/wire/wire_testing.h"

/* A mutation of any kind that a message can say. */
static inline void pick_mutation(wire_choices *c, ms_bt_mutation_batch *batch)
{
    static const char number[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    ms_bt_mutation mutation = {.kind = (ms_bt_mutation_kind)wire_pick(c, MS_BT_MUTATION_COUNT),
                               .origin = (ms_bt_timestamp_origin)wire_pick(c, 3)};
    bool has_texts = mutation.kind != MS_BT_MUTATION_DELETE_FROM_ROW;
    bool has_qualifier = has_texts && mutation.kind != MS_BT_MUTATION_DELETE_FROM_FAMILY;
    if (has_texts) {
        ms_str family = ms_wire_text_view(wire_pick_text(c));
        assert_ok(ms_bt_mutation_batch_family(batch, family, &mutation.family, &st));
    }
    if (has_qualifier) {
        mutation.qualifier = wire_pick_bytes(c);
        mutation.timestamp_micros = (int64_t)wire_pick_number(c);
    }
    if (mutation.kind == MS_BT_MUTATION_DELETE_FROM_COLUMN) {
        mutation.end_micros = (int64_t)wire_pick_number(c);
    } else if (mutation.kind == MS_BT_MUTATION_ADD_TO_CELL) {
        mutation.value = ms_str_make(number, 8);
    } else if (has_qualifier) {
        mutation.value = wire_pick_bytes(c);
    }
    assert_ok(ms_bt_mutation_batch_append(batch, &mutation, &st));
}

static inline void pick_batch(wire_choices *c, unsigned entries, ms_bt_mutation_batch *batch)
{
    for (unsigned i = 0; i < entries; i++) {
        ms_str token = wire_pick(c, 3) == 0 ? ms_str_lit("12345678") : ms_str_lit("");
        /* What is 0 without a token is 0 in a message. */
        int64_t start = token.bytes == 0 ? 0 : (int64_t)wire_pick(c, 1000) * 1234567;
        assert_ok(
            ms_bt_mutation_batch_begin_row_once(batch, wire_pick_bytes(c), token, start, &st));
        for (unsigned j = wire_pick(c, 4); j > 0; j--) {
            pick_mutation(c, batch);
        }
        ms_bt_mutation_batch_end_row(batch);
    }
}

static inline void assert_same_mutation(const ms_bt_mutation_batch *a, const ms_bt_mutation *m,
                                        const ms_bt_mutation_batch *b, const ms_bt_mutation *n)
{
    assert_int_equal(m->kind, n->kind);
    assert_int_equal(m->origin, n->origin);
    assert_int_equal(m->timestamp_micros, n->timestamp_micros);
    assert_int_equal(m->end_micros, n->end_micros);
    assert_same_bytes(m->qualifier, n->qualifier);
    assert_same_bytes(m->value, n->value);
    if (m->kind != MS_BT_MUTATION_DELETE_FROM_ROW) {
        assert_same_bytes(ms_bt_mutation_batch_family_name(a, m->family),
                          ms_bt_mutation_batch_family_name(b, n->family));
    }
}

static inline void assert_same_batch(const ms_bt_mutation_batch *a, const ms_bt_mutation_batch *b)
{
    assert_int_equal(ms_bt_mutation_batch_entries(a), ms_bt_mutation_batch_entries(b));
    assert_int_equal(ms_bt_mutation_batch_mutations(a), ms_bt_mutation_batch_mutations(b));
    assert_int_equal(ms_bt_mutation_batch_kinds(a), ms_bt_mutation_batch_kinds(b));
    ms_bt_mutation_cursor x = ms_bt_mutation_cursor_make(a);
    ms_bt_mutation_cursor y = ms_bt_mutation_cursor_make(b);
    ms_bt_mutation_entry e;
    ms_bt_mutation_entry f;
    while (ms_bt_mutation_cursor_next_entry(&x, &e)) {
        assert_true(ms_bt_mutation_cursor_next_entry(&y, &f));
        assert_same_bytes(e.key, f.key);
        assert_same_bytes(e.token, f.token);
        if (e.token.bytes > 0) {
            assert_int_equal(e.token_start_micros, f.token_start_micros);
        }
        ms_bt_mutation m;
        ms_bt_mutation n = {.kind = MS_BT_MUTATION_SET_CELL};
        while (ms_bt_mutation_cursor_next(&x, &m)) {
            assert_true(ms_bt_mutation_cursor_next(&y, &n));
            assert_same_mutation(a, &m, b, &n);
        }
        assert_false(ms_bt_mutation_cursor_next(&y, &n));
    }
    assert_false(ms_bt_mutation_cursor_next_entry(&y, &f));
}

#endif
