/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Changes of streams as text, to compare them, and random ones; for tests and fuzz targets.
 */
#ifndef MS_TESTS_UNIT_BIGTABLE_WIRE_CHANGE_TESTING_H
#define MS_TESTS_UNIT_BIGTABLE_WIRE_CHANGE_TESTING_H

#include "bigtable/model/change.h"
#include "bigtable/wire/rows_naive.h"
#include "bigtable/wire/wire_random.h"

static inline void put_number(ms_buf *out, int64_t number)
{
    char text[32];
    int bytes = snprintf(text, sizeof(text), "%lld ", (long long)number);
    naive_put(out, ms_str_make(text, (size_t)bytes));
}

static inline void put_range(ms_buf *out, const ms_bt_range *range)
{
    put_number(out, range->start.kind);
    naive_put_hex(out, range->start.key);
    put_number(out, range->end.kind);
    naive_put_hex(out, range->end.key);
}

static inline void put_mutation(ms_buf *out, const ms_bt_change_mutation *m)
{
    put_number(out, m->kind);
    put_number(out, m->timestamp_micros);
    put_number(out, m->end_micros);
    naive_put_hex(out, m->family);
    naive_put_hex(out, m->qualifier);
    naive_put_hex(out, m->value);
    naive_put(out, ms_str_lit("\n"));
}

static inline void put_change(ms_buf *out, const ms_bt_change *change)
{
    put_number(out, change->kind);
    put_number(out, change->is_garbage_collection);
    naive_put_hex(out, change->row_key);
    naive_put_hex(out, change->source_cluster);
    put_number(out, change->commit_micros);
    put_number(out, change->tiebreaker);
    naive_put_hex(out, change->token);
    put_number(out, change->low_watermark_micros);
    put_number(out, change->status.code);
    naive_put(out, ms_str_cstr(change->status.text));
    naive_put(out, ms_str_lit("\n"));
    for (uint32_t i = 0; i < change->mutation_count; i++) {
        put_mutation(out, &change->mutations[i]);
    }
    for (uint32_t i = 0; i < change->token_count; i++) {
        put_range(out, &change->tokens[i].partition);
        naive_put_hex(out, change->tokens[i].token);
        put_range(out, &change->new_partitions[i]);
        naive_put(out, ms_str_lit("\n"));
    }
}

static inline void put_changes(ms_buf *out, const ms_bt_change_page *page)
{
    for (uint32_t i = 0; i < page->change_count; i++) {
        put_change(out, &page->changes[i]);
    }
}

static inline ms_bt_change_mutation pick_change_mutation(wire_choices *c)
{
    static const ms_bt_mutation_kind kinds[] = {
        MS_BT_MUTATION_SET_CELL,           MS_BT_MUTATION_SET_CELL,
        MS_BT_MUTATION_DELETE_FROM_COLUMN, MS_BT_MUTATION_DELETE_FROM_FAMILY,
        MS_BT_MUTATION_ADD_TO_CELL,        MS_BT_MUTATION_MERGE_TO_CELL};
    ms_bt_change_mutation m = {.kind = kinds[wire_pick(c, 6)],
                               .family = ms_wire_text_view(wire_pick_text(c))};
    if (m.kind != MS_BT_MUTATION_DELETE_FROM_FAMILY) {
        m.qualifier = wire_pick_bytes(c);
        m.timestamp_micros = (int64_t)wire_pick_number(c);
    }
    if (m.kind == MS_BT_MUTATION_DELETE_FROM_COLUMN) {
        m.end_micros = (int64_t)wire_pick_number(c);
    } else if (m.kind == MS_BT_MUTATION_SET_CELL || m.kind == MS_BT_MUTATION_MERGE_TO_CELL) {
        m.value = wire_pick_bytes(c);
    } else if (m.kind == MS_BT_MUTATION_ADD_TO_CELL) {
        m.value = ms_str_make("\0\0\0\0\0\0\0\5", 8);
    }
    return m;
}

static inline ms_bt_change pick_data(wire_choices *c)
{
    uint32_t count = wire_pick(c, 9);
    ms_bt_change_mutation *list = ms_arena_array(c->arena, ms_bt_change_mutation, count);
    for (uint32_t i = 0; i < count; i++) {
        list[i] = pick_change_mutation(c);
    }
    bool is_collection = wire_pick(c, 4) == 0;
    return (ms_bt_change){.kind = MS_BT_CHANGE_DATA,
                          .is_garbage_collection = is_collection,
                          .row_key = ms_str_lit("key"),
                          .source_cluster = is_collection ? ms_str_lit("") : ms_str_lit("c1"),
                          .commit_micros = 1656633600000000 + wire_pick(c, 100),
                          .tiebreaker = (int32_t)wire_pick(c, 3),
                          .mutations = list,
                          .mutation_count = count,
                          .token = ms_str_lit("token"),
                          .low_watermark_micros = 1656633500000000};
}

#endif
