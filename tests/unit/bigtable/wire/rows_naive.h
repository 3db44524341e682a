/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging cell chunks a second time, for tests and fuzzing: the rules of ReadRows written down in
 * the plainest way there is, on messages that protobuf-c has unpacked. What comes out is a text of
 * one line a cell, so that it can be compared with what a page holds.
 */
#ifndef MS_TESTS_UNIT_BIGTABLE_WIRE_ROWS_NAIVE_H
#define MS_TESTS_UNIT_BIGTABLE_WIRE_ROWS_NAIVE_H

#include "bigtable/model/page.h"
#include "bigtable/wire/pb.h"

#include <stdio.h>
#include <stdlib.h>

/* Buffers of tests do not run out. */
static inline void naive_put(ms_buf *buf, ms_str text)
{
    ms_status st = {0};
    if (ms_buf_append(buf, text, &st) != MS_OK) {
        abort();
    }
}

static inline void naive_put_hex(ms_buf *buf, ms_str bytes)
{
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < bytes.bytes; i++) {
        unsigned char byte = (unsigned char)bytes.ptr[i];
        naive_put(buf, ms_str_make(&digits[byte >> 4], 1));
        naive_put(buf, ms_str_make(&digits[byte & 15], 1));
    }
    naive_put(buf, ms_str_lit(" "));
}

static inline void naive_put_cell(ms_buf *buf, ms_str key, ms_str family, ms_str qualifier,
                                  int64_t micros, ms_str value, ms_str label)
{
    char number[32];
    naive_put_hex(buf, key);
    naive_put_hex(buf, family);
    naive_put_hex(buf, qualifier);
    int bytes = snprintf(number, sizeof(number), "%lld ", (long long)micros);
    naive_put(buf, ms_str_make(number, (size_t)bytes));
    naive_put_hex(buf, value);
    naive_put_hex(buf, label);
    naive_put(buf, ms_str_lit("\n"));
}

/* The rows of a page in the same form. */
static inline void naive_put_page(ms_buf *buf, const ms_bt_page *page)
{
    for (uint32_t r = 0; r < page->row_count; r++) {
        const ms_bt_row *row = &page->rows[r];
        for (uint32_t i = 0; i < row->cell_count; i++) {
            const ms_bt_cell *cell = &page->cells[row->first_cell + i];
            naive_put_cell(buf, ms_bt_page_key(page, row), ms_bt_page_family(page, cell),
                           ms_bt_page_qualifier(page, cell), cell->timestamp_micros,
                           ms_bt_page_value(page, cell), ms_bt_page_label(page, cell));
        }
        naive_put(buf, ms_str_lit("--\n"));
    }
}

typedef struct naive_rows {
    bool is_reversed;
    bool has_last;
    char last[1 << 16]; /* keys of tests are shorter */
    size_t last_bytes;
    bool in_row;
    bool in_value;
    ms_str key;
    ms_str family;
    ms_str qualifier;
    ms_str label;
    int64_t micros;
    int32_t value_size;
    ms_buf value; /* of the cell under way */
    ms_buf row;   /* cells of the row under way */
    ms_buf out;   /* complete rows */
} naive_rows;

static inline void naive_rows_init(naive_rows *n, bool is_reversed)
{
    memset(n, 0, sizeof(*n));
    n->is_reversed = is_reversed;
    ms_buf_init(&n->value, 1u << 30);
    ms_buf_init(&n->row, 1u << 30);
    ms_buf_init(&n->out, 1u << 30);
}

static inline void naive_rows_release(naive_rows *n)
{
    ms_buf_release(&n->value);
    ms_buf_release(&n->row);
    ms_buf_release(&n->out);
}

static inline bool naive_is_behind(const naive_rows *n, ms_str key)
{
    int order = ms_str_compare(key, ms_str_make(n->last, n->last_bytes));
    return !n->has_last || (n->is_reversed ? order < 0 : order > 0);
}

static inline void naive_note_last(naive_rows *n, ms_str key)
{
    if (key.bytes > sizeof(n->last)) {
        abort();
    }
    memcpy(n->last, key.ptr, key.bytes);
    n->last_bytes = key.bytes;
    n->has_last = true;
}

static inline bool naive_is_bare(const ms_pb_read_rows_response_cell_chunk *c)
{
    return c->row_key.len == 0 && c->family_name == NULL && c->qualifier == NULL &&
           c->timestamp_micros == 0 && c->n_labels == 0;
}

/* False when the chunk breaks a rule. */
static inline bool naive_take_chunk(naive_rows *n, const ms_pb_read_rows_response_cell_chunk *c)
{
    int status = (int)c->row_status_case;
    bool resets =
        status == GOOGLE__BIGTABLE__V2__READ_ROWS_RESPONSE__CELL_CHUNK__ROW_STATUS_RESET_ROW &&
        c->reset_row;
    bool commits =
        status == GOOGLE__BIGTABLE__V2__READ_ROWS_RESPONSE__CELL_CHUNK__ROW_STATUS_COMMIT_ROW &&
        c->commit_row;
    ms_str key = ms_wire_bytes_view(c->row_key);
    if (resets) {
        bool is_legal = n->in_row && naive_is_bare(c) && c->value.len == 0 && c->value_size == 0;
        n->in_row = n->in_value = false;
        return is_legal;
    }
    if (c->value_size < 0 || (c->value_size > 0 && (commits || c->value.len == 0))) {
        return false;
    }
    if (n->in_value) {
        if (!naive_is_bare(c) || (c->value_size > 0 && c->value_size != n->value_size)) {
            return false;
        }
    } else {
        if (!n->in_row) {
            if (key.bytes == 0 || c->family_name == NULL || c->qualifier == NULL ||
                !naive_is_behind(n, key)) {
                return false;
            }
            n->in_row = true;
            n->key = key;
            ms_buf_reset(&n->row);
        } else if ((key.bytes > 0 && !ms_str_equals(key, n->key)) ||
                   (c->family_name != NULL && c->qualifier == NULL)) {
            return false;
        }
        if (c->family_name != NULL) {
            n->family = ms_wire_text_view(c->family_name->value);
        }
        if (c->qualifier != NULL) {
            n->qualifier = ms_wire_bytes_view(c->qualifier->value);
        }
        n->label = c->n_labels == 0 ? ms_str_lit("") : ms_wire_text_view(c->labels[0]);
        n->micros = c->timestamp_micros;
        n->value_size = c->value_size;
        ms_buf_reset(&n->value);
    }
    naive_put(&n->value, ms_wire_bytes_view(c->value));
    if (c->value_size > 0) {
        n->in_value = true;
        return n->value.bytes < (size_t)c->value_size;
    }
    if (n->in_value && n->value.bytes != (size_t)n->value_size) {
        return false;
    }
    n->in_value = false;
    naive_put_cell(&n->row, n->key, n->family, n->qualifier, n->micros, ms_buf_view(&n->value),
                   n->label);
    if (commits) {
        naive_put(&n->out, ms_buf_view(&n->row));
        naive_put(&n->out, ms_str_lit("--\n"));
        naive_note_last(n, n->key);
        n->in_row = false;
    }
    return true;
}

/* The message must live as long as n. */
static inline bool naive_take_message(naive_rows *n, const ms_pb_read_rows_response *message)
{
    for (size_t i = 0; i < message->n_chunks; i++) {
        if (!naive_take_chunk(n, message->chunks[i])) {
            return false;
        }
    }
    ms_str scanned = ms_wire_bytes_view(message->last_scanned_row_key);
    if (scanned.bytes > 0) {
        if (n->in_row) {
            return false;
        }
        if (naive_is_behind(n, scanned)) {
            naive_note_last(n, scanned);
        }
    }
    return true;
}

#endif
