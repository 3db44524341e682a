/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random pages of rows for the tests of what encodes and merges them.
 */
#ifndef MS_TESTS_UNIT_BIGTABLE_WIRE_ROWS_TESTING_H
#define MS_TESTS_UNIT_BIGTABLE_WIRE_ROWS_TESTING_H

#include "bigtable/wire/rows_naive.h"
#include "bigtable/wire/wire_testing.h"

static const ms_str page_families[] = {{"cf", 2}, {"family-2", 8}, {"", 0}};
static const ms_str page_labels[] = {{"", 0}, {"l1", 2}, {"label-2", 7}};

static inline void add_cell(ms_bt_page *page, uint16_t family, ms_str qualifier, int64_t micros,
                            ms_str value, uint16_t label)
{
    assert_ok(ms_bt_page_reserve_cell(page, qualifier.bytes + value.bytes, &st));
    page->cells[page->cell_count++] =
        (ms_bt_cell){.timestamp_micros = micros,
                     .qualifier_at = ms_bt_page_put(page, qualifier.ptr, qualifier.bytes),
                     .qualifier_bytes = (uint32_t)qualifier.bytes,
                     .value_at = ms_bt_page_put(page, value.ptr, value.bytes),
                     .value_bytes = (uint32_t)value.bytes,
                     .family = family,
                     .label = label};
}

/* Rows with these keys: the number, big-endian, and some bytes. */
static inline void pick_page(wire_choices *c, unsigned rows, ms_bt_page *page)
{
    page->families = page_families;
    page->family_count = 3;
    page->labels = page_labels;
    page->label_count = 3;
    for (unsigned r = 0; r < rows; r++) {
        char key[8] = {'k', (char)(r >> 8), (char)r};
        size_t key_bytes = 3 + wire_pick(c, 5);
        assert_ok(ms_bt_page_reserve_row(page, key_bytes, &st));
        ms_bt_row row = {.key_at = ms_bt_page_put(page, key, key_bytes),
                         .key_bytes = (uint32_t)key_bytes,
                         .first_cell = page->cell_count};
        uint16_t family = (uint16_t)wire_pick(c, 3);
        ms_str qualifier = wire_pick_bytes(c);
        for (unsigned i = wire_pick(c, 5) + 1; i > 0; i--) {
            if (wire_pick(c, 3) == 0) {
                qualifier = wire_pick_bytes(c);
            }
            if (wire_pick(c, 5) == 0) {
                family = (uint16_t)wire_pick(c, 3);
            }
            add_cell(page, family, qualifier, (int64_t)wire_pick_number(c), wire_pick_bytes(c),
                     (uint16_t)(wire_pick(c, 4) == 0 ? wire_pick(c, 3) : 0));
        }
        row.cell_count = page->cell_count - row.first_cell;
        page->rows[page->row_count++] = row;
    }
}

#endif
