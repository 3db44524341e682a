/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cell chunks from pages. A chunk is measured, then written: its length stands before it. Fields:
 *
 *     ReadRowsResponse   1 chunks  2 last scanned row key  3 request stats
 *     CellChunk          1 key  2 family (1)  3 qualifier (1)  4 timestamp  5 labels  6 value
 *                        7 value size  8 reset row  9 commit row
 *
 * The first chunk of a row has key, family and qualifier; later ones have what differs from the
 * chunk before, and a qualifier always comes with a family that differs. The first cell of a
 * message has the key as well. The pieces of a long value but the first have nothing but
 * themselves; all but the last announce the size of the whole.
 */
#include "bigtable/wire/read_rows.h"

#include "bigtable/wire/wire_priv.h"

#define FIELD_CHUNKS 1u
#define FIELD_LAST_SCANNED 2u
#define FIELD_STATS 3u

#define FIELD_KEY 1u
#define FIELD_FAMILY 2u
#define FIELD_QUALIFIER 3u
#define FIELD_TIMESTAMP 4u
#define FIELD_LABELS 5u
#define FIELD_VALUE 6u
#define FIELD_VALUE_SIZE 7u
#define FIELD_COMMIT_ROW 9u

#define COMMIT_BYTES 2u /* a tag and a flag */

void ms_wire_rows_writer_init(ms_wire_rows_writer *writer, const ms_wire_rows_options *options)
{
    static const ms_wire_rows_options none = {0, 0, 0};
    const ms_wire_rows_options *o = options == NULL ? &none : options;
    *writer = (ms_wire_rows_writer){
        .message_bytes = o->message_bytes == 0 ? MS_WIRE_ROWS_MESSAGE_BYTES : o->message_bytes,
        .message_bytes_max =
            o->message_bytes_max == 0 ? MS_WIRE_ROWS_MESSAGE_BYTES_MAX : o->message_bytes_max,
        .piece_bytes = o->piece_bytes == 0 ? SIZE_MAX : o->piece_bytes,
    };
}

void ms_wire_rows_writer_begin(ms_wire_rows_writer *writer, const ms_bt_page *page)
{
    writer->page = page;
    writer->row = 0;
    writer->cell = 0;
    writer->value_at = 0;
}

/* What a chunk says. A text with a NULL pointer is left out. */
typedef struct chunk {
    ms_str key;
    ms_str family;
    ms_str qualifier;
    ms_str label;
    ms_str value;
    int64_t timestamp_micros;
    uint32_t value_size;
    bool is_commit;
} chunk;

/* A text that is there, though it may be empty. */
static ms_str present(ms_str text)
{
    return text.ptr == NULL ? ms_str_lit("") : text;
}

/* Fills in what the cell has and the one before had not. */
static void describe_cell(const ms_bt_page *page, const ms_bt_row *row, uint32_t index, chunk *c)
{
    const ms_bt_cell *cell = &page->cells[row->first_cell + index];
    c->timestamp_micros = cell->timestamp_micros;
    if (cell->label != 0) {
        c->label = ms_bt_page_label(page, cell);
    }
    ms_str qualifier = ms_bt_page_qualifier(page, cell);
    if (index == 0) {
        c->key = ms_bt_page_key(page, row);
    } else {
        const ms_bt_cell *before = cell - 1;
        if (before->family == cell->family) {
            /* Equal qualifiers are mostly the same bytes. */
            bool is_same = before->qualifier_bytes == cell->qualifier_bytes &&
                           (before->qualifier_at == cell->qualifier_at ||
                            ms_str_equals(ms_bt_page_qualifier(page, before), qualifier));
            c->qualifier = is_same ? (ms_str){NULL, 0} : present(qualifier);
            return;
        }
    }
    c->family = present(ms_bt_page_family(page, cell));
    c->qualifier = present(qualifier);
}

/* The chunk at the writer's place, which may be the first of its message; c is empty. */
static void next_chunk(const ms_wire_rows_writer *writer, bool is_first, chunk *c)
{
    const ms_bt_page *page = writer->page;
    const ms_bt_row *row = &page->rows[writer->row];
    ms_str value = ms_bt_page_value(page, &page->cells[row->first_cell + writer->cell]);
    c->is_commit = writer->cell + 1 == row->cell_count;
    if (writer->value_at == 0) {
        describe_cell(page, row, writer->cell, c);
        if (is_first) {
            c->key = ms_bt_page_key(page, row);
        }
    }
    if (__builtin_expect(value.bytes - writer->value_at > writer->piece_bytes, 0)) {
        c->value = ms_str_slice(value, writer->value_at, writer->value_at + writer->piece_bytes);
        c->value_size = (uint32_t)value.bytes;
        c->is_commit = false;
    } else {
        c->value = (ms_str){writer->value_at == 0 ? value.ptr : value.ptr + writer->value_at,
                            value.bytes - writer->value_at};
    }
}

static size_t chunk_bytes(const chunk *c)
{
    size_t bytes = msi_wire_plain_bytes_size(c->key.bytes) +
                   msi_wire_plain_int_size(c->timestamp_micros) +
                   msi_wire_plain_bytes_size(c->value.bytes) +
                   msi_wire_plain_int_size(c->value_size) + (c->is_commit ? COMMIT_BYTES : 0);
    if (c->family.ptr != NULL) {
        bytes += msi_wire_bytes_size(msi_wire_plain_bytes_size(c->family.bytes));
    }
    if (c->qualifier.ptr != NULL) {
        bytes += msi_wire_bytes_size(msi_wire_plain_bytes_size(c->qualifier.bytes));
    }
    if (c->label.ptr != NULL) {
        bytes += msi_wire_bytes_size(c->label.bytes);
    }
    return bytes;
}

/* A message of one text or run of bytes. */
static char *put_wrapped(char *at, unsigned field, ms_str text)
{
    at = msi_wire_put_head(at, field, msi_wire_plain_bytes_size(text.bytes));
    return msi_wire_put_plain_bytes(at, 1, text);
}

static char *put_chunk(char *at, const chunk *c)
{
    at = msi_wire_put_plain_bytes(at, FIELD_KEY, c->key);
    if (c->family.ptr != NULL) {
        at = put_wrapped(at, FIELD_FAMILY, c->family);
    }
    if (c->qualifier.ptr != NULL) {
        at = put_wrapped(at, FIELD_QUALIFIER, c->qualifier);
    }
    at = msi_wire_put_plain_int(at, FIELD_TIMESTAMP, c->timestamp_micros);
    if (c->label.ptr != NULL) {
        at = msi_wire_put_bytes(at, FIELD_LABELS, c->label);
    }
    at = msi_wire_put_plain_bytes(at, FIELD_VALUE, c->value);
    at = msi_wire_put_plain_int(at, FIELD_VALUE_SIZE, c->value_size);
    return c->is_commit ? msi_wire_put_int(at, FIELD_COMMIT_ROW, 1) : at;
}

static void advance(ms_wire_rows_writer *writer, const chunk *c)
{
    if (c->value_size != 0) {
        writer->value_at += (uint32_t)c->value.bytes;
        return;
    }
    writer->value_at = 0;
    writer->cell++;
    if (c->is_commit) {
        writer->cell = 0;
        writer->row++;
    }
}

/* Whether a message of so many bytes may end at the writer's place. */
static bool may_end(const ms_wire_rows_writer *writer, size_t bytes)
{
    if (writer->value_at != 0) {
        return false;
    }
    return writer->cell == 0 ? ms_wire_rows_writer_is_done(writer) || bytes >= writer->message_bytes
                             : bytes >= writer->message_bytes_max;
}

ms_rc ms_wire_rows_writer_next(ms_wire_rows_writer *writer, ms_buf *buf, ms_status *st)
{
    MS_ASSERT(!ms_wire_rows_writer_is_done(writer));
    size_t start = buf->bytes;
    do {
        chunk c = {.is_commit = false};
        next_chunk(writer, buf->bytes == start, &c);
        size_t bytes = chunk_bytes(&c);
        size_t wanted = msi_wire_bytes_size(bytes) + MSI_WIRE_SLACK;
        if (__builtin_expect(wanted > buf->capacity_bytes - buf->bytes, 0)) {
            MS_TRY(ms_buf_reserve(buf, wanted, st));
        }
        char *at = msi_wire_put_head(buf->ptr + buf->bytes, FIELD_CHUNKS, bytes);
        at = put_chunk(at, &c);
        buf->bytes = (size_t)(at - buf->ptr);
        advance(writer, &c);
    } while (!may_end(writer, buf->bytes - start));
    return MS_OK;
}

ms_rc ms_wire_last_scanned_encode(ms_str key, ms_buf *buf, ms_status *st)
{
    MS_TRY(ms_buf_reserve(buf, msi_wire_bytes_size(key.bytes) + MSI_WIRE_SLACK, st));
    char *at = msi_wire_put_bytes(buf->ptr + buf->bytes, FIELD_LAST_SCANNED, key);
    buf->bytes = (size_t)(at - buf->ptr);
    return MS_OK;
}

/*
 * RequestStats           1 FullReadStatsView
 * FullReadStatsView      1 ReadIterationStats  2 RequestLatencyStats
 * ReadIterationStats     1 rows seen  2 rows returned  3 cells seen  4 cells returned
 * RequestLatencyStats    1 Duration (1 seconds  2 nanos)
 */
ms_rc ms_wire_read_stats_encode(const ms_wire_read_stats *stats, ms_buf *buf, ms_status *st)
{
    int64_t seconds = stats->latency_micros / 1000000;
    int64_t nanos = stats->latency_micros % 1000000 * 1000;
    size_t iteration =
        msi_wire_plain_int_size(stats->rows_seen) + msi_wire_plain_int_size(stats->rows_returned) +
        msi_wire_plain_int_size(stats->cells_seen) + msi_wire_plain_int_size(stats->cells_returned);
    size_t duration = msi_wire_plain_int_size(seconds) + msi_wire_plain_int_size(nanos);
    size_t latency = msi_wire_bytes_size(duration);
    size_t view = msi_wire_bytes_size(iteration) + msi_wire_bytes_size(latency);
    size_t all = msi_wire_bytes_size(view);
    MS_TRY(ms_buf_reserve(buf, msi_wire_bytes_size(all) + MSI_WIRE_SLACK, st));
    char *at = msi_wire_put_head(buf->ptr + buf->bytes, FIELD_STATS, all);
    at = msi_wire_put_head(at, 1, view);
    at = msi_wire_put_head(at, 1, iteration);
    at = msi_wire_put_plain_int(at, 1, stats->rows_seen);
    at = msi_wire_put_plain_int(at, 2, stats->rows_returned);
    at = msi_wire_put_plain_int(at, 3, stats->cells_seen);
    at = msi_wire_put_plain_int(at, 4, stats->cells_returned);
    at = msi_wire_put_head(at, 2, latency);
    at = msi_wire_put_head(at, 1, duration);
    at = msi_wire_put_plain_int(at, 1, seconds);
    at = msi_wire_put_plain_int(at, 2, nanos);
    buf->bytes = (size_t)(at - buf->ptr);
    return MS_OK;
}
