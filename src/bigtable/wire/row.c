/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A row as a message. The cells of a page are flat; runs of one family, and in them of one
 * qualifier, become a level of the message each.
 */
#include "bigtable/wire/row.h"

/* To messages. */

static ms_pb_cell *cell_to_pb(const ms_bt_page *page, const ms_bt_cell *cell, ms_arena *arena)
{
    ms_pb_cell *message = ms_pb_new(arena, cell);
    message->timestamp_micros = cell->timestamp_micros;
    message->value = ms_wire_bytes(ms_bt_page_value(page, cell));
    if (cell->label != 0) {
        message->n_labels = 1;
        message->labels = ms_arena_array(arena, char *, 1);
        message->labels[0] = ms_wire_text(arena, ms_bt_page_label(page, cell));
    }
    return message;
}

static bool same_column(const ms_bt_page *page, const ms_bt_cell *a, const ms_bt_cell *b)
{
    return a->family == b->family &&
           ms_str_equals(ms_bt_page_qualifier(page, a), ms_bt_page_qualifier(page, b));
}

static ms_pb_column *column_to_pb(const ms_bt_page *page, const ms_bt_cell *cells, uint32_t count,
                                  ms_arena *arena)
{
    ms_pb_column *message = ms_pb_new(arena, column);
    message->qualifier = ms_wire_bytes(ms_bt_page_qualifier(page, &cells[0]));
    message->n_cells = count;
    message->cells = ms_arena_array(arena, ms_pb_cell *, count);
    for (uint32_t i = 0; i < count; i++) {
        message->cells[i] = cell_to_pb(page, &cells[i], arena);
    }
    return message;
}

static ms_pb_family *family_to_pb(const ms_bt_page *page, const ms_bt_cell *cells, uint32_t count,
                                  ms_arena *arena)
{
    ms_pb_family *message = ms_pb_new(arena, family);
    message->name = ms_wire_text(arena, ms_bt_page_family(page, &cells[0]));
    message->columns = ms_arena_array(arena, ms_pb_column *, count);
    for (uint32_t at = 0; at < count;) {
        uint32_t end = at + 1;
        while (end < count && same_column(page, &cells[at], &cells[end])) {
            end++;
        }
        message->columns[message->n_columns++] = column_to_pb(page, &cells[at], end - at, arena);
        at = end;
    }
    return message;
}

ms_pb_row *ms_wire_row_to_pb(const ms_bt_page *page, const ms_bt_row *row, ms_arena *arena)
{
    ms_pb_row *message = ms_pb_new(arena, row);
    message->key = ms_wire_bytes(ms_bt_page_key(page, row));
    const ms_bt_cell *cells = page->cells + row->first_cell;
    message->families = ms_arena_array(arena, ms_pb_family *, row->cell_count);
    for (uint32_t at = 0; at < row->cell_count;) {
        uint32_t end = at + 1;
        while (end < row->cell_count && cells[at].family == cells[end].family) {
            end++;
        }
        message->families[message->n_families++] = family_to_pb(page, &cells[at], end - at, arena);
        at = end;
    }
    return message;
}

/* From messages. */

typedef struct fill {
    ms_bt_page *page;
    ms_arena *arena;
    ms_str *labels; /* room for one a cell, and the empty one */
    ms_status st;
} fill;

/* The index of a label of the page. */
static uint16_t take_label(fill *f, const ms_pb_cell *cell)
{
    if (cell->n_labels == 0) {
        return 0;
    }
    ms_str label = ms_wire_text_view(cell->labels[0]);
    for (uint32_t i = 1; i < f->page->label_count; i++) {
        if (ms_str_equals(f->labels[i], label)) {
            return (uint16_t)i;
        }
    }
    if (f->page->label_count > UINT16_MAX) {
        return 0;
    }
    f->labels[f->page->label_count] = ms_arena_copy_str(f->arena, label);
    return (uint16_t)f->page->label_count++;
}

static bool take_column(fill *f, uint16_t family, const ms_pb_column *column)
{
    ms_bt_page *page = f->page;
    ms_str qualifier = ms_wire_bytes_view(column->qualifier);
    for (size_t i = 0; i < column->n_cells; i++) {
        const ms_pb_cell *cell = column->cells[i];
        ms_str value = ms_wire_bytes_view(cell->value);
        if (ms_bt_page_reserve_cell(page, qualifier.bytes + value.bytes, &f->st) != MS_OK) {
            return false;
        }
        page->cells[page->cell_count++] = (ms_bt_cell){
            .timestamp_micros = cell->timestamp_micros,
            .qualifier_at = ms_bt_page_put(page, qualifier.ptr, qualifier.bytes),
            .qualifier_bytes = (uint32_t)qualifier.bytes,
            .value_at = ms_bt_page_put(page, value.ptr, value.bytes),
            .value_bytes = (uint32_t)value.bytes,
            .family = family,
            .label = take_label(f, cell),
        };
    }
    return true;
}

static size_t count_labeled(const ms_pb_row *message)
{
    size_t count = 0;
    for (size_t i = 0; i < message->n_families; i++) {
        for (size_t j = 0; j < message->families[i]->n_columns; j++) {
            const ms_pb_column *column = message->families[i]->columns[j];
            for (size_t k = 0; k < column->n_cells; k++) {
                count += column->cells[k]->n_labels > 0;
            }
        }
    }
    return count;
}

static bool take_families(fill *f, const ms_pb_row *message, ms_str *families)
{
    for (size_t i = 0; i < message->n_families; i++) {
        const ms_pb_family *family = message->families[i];
        families[i] = ms_arena_copy_str(f->arena, ms_wire_text_view(family->name));
        for (size_t j = 0; j < family->n_columns; j++) {
            if (!take_column(f, (uint16_t)i, family->columns[j])) {
                return false;
            }
        }
    }
    return true;
}

ms_bt_code ms_wire_row_from_pb(const ms_pb_row *message, ms_bt_page *page, ms_arena *arena,
                               ms_bt_status *bt)
{
    MS_ASSERT(page->row_count == 0 && page->cell_count == 0);
    if (message == NULL) {
        return MS_BT_OK;
    }
    if (message->n_families > UINT16_MAX) {
        return ms_bt_status_set(bt, MS_BT_RESOURCE_EXHAUSTED, "A row has too many families");
    }
    fill f = {.page = page, .arena = arena};
    ms_str *families = ms_arena_array(arena, ms_str, message->n_families);
    f.labels = ms_arena_array(arena, ms_str, count_labeled(message) + 1);
    page->families = families;
    page->family_count = (uint32_t)message->n_families;
    page->labels = f.labels;
    page->label_count = 1;
    ms_str key = ms_wire_bytes_view(message->key);
    /* A byte more, because a page in which all is empty would have no bytes to point to. */
    if (ms_bt_page_reserve_row(page, key.bytes + 1, &f.st) != MS_OK) {
        return ms_bt_status_from(bt, MS_BT_RESOURCE_EXHAUSTED, &f.st);
    }
    ms_bt_row row = {.key_at = ms_bt_page_put(page, key.ptr, key.bytes),
                     .key_bytes = (uint32_t)key.bytes};
    if (!take_families(&f, message, families)) {
        return ms_bt_status_from(bt, MS_BT_RESOURCE_EXHAUSTED, &f.st);
    }
    if (page->cell_count > 0) {
        row.cell_count = page->cell_count;
        page->rows[page->row_count++] = row;
    }
    return MS_BT_OK;
}
