/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ReadRowsResponse as a server writes it: the rows of a page as cell chunks, in messages of a size
 * that suits HTTP/2 and every client. A chunk leaves out the key, the family and the qualifier
 * when they are those of the chunk before; commit_row is on the last chunk of a row.
 *
 * What clients want beyond the protocol: a message ends with a row. Google's Go client refuses one
 * that ends inside a row, and its Python client takes the first chunk of a message for the first of
 * a row. So a row is one message's, up to a size that only a row near the largest has; that one is
 * cut between two cells, and its key said again, which all but Go's client take. Values are not cut
 * by default. A client must take messages as long as the rows it reads: official clients do, but
 * those of Python and Go have gRPC's limit of 4 MiB where they were pointed to an emulator.
 *
 *     ms_wire_rows_writer writer;
 *     ms_wire_rows_writer_init(&writer, NULL);
 *     ms_wire_rows_writer_begin(&writer, page);            the page stays until all is written
 *     while (!ms_wire_rows_writer_is_done(&writer)) {
 *         ms_buf_reset(&buf);
 *         MS_TRY(ms_wire_rows_writer_next(&writer, &buf, st));      one message
 *     }
 *
 * Written by hand; what protobuf-c would write, byte for byte. Thread: one at a time.
 */
#ifndef MS_BIGTABLE_WIRE_READ_ROWS_H
#define MS_BIGTABLE_WIRE_READ_ROWS_H

#include "bigtable/model/page.h"
#include "bigtable/wire/scan.h"

#define MS_WIRE_ROWS_MESSAGE_BYTES (64u << 10) /* a message ends with the row that reaches this */

/* Inside a row it ends with the cell that reaches this: with the longest value it is below what
 * clients take at most, MS_WIRE_MESSAGE_BYTES. */
#define MS_WIRE_ROWS_MESSAGE_BYTES_MAX (150u << 20)

typedef struct ms_wire_rows_options {
    size_t message_bytes;     /* 0: the default above */
    size_t message_bytes_max; /* 0: the default above */
    size_t piece_bytes;       /* longer values are cut in pieces of this; 0: none is */
} ms_wire_rows_options;

/* Fields are private. */
typedef struct ms_wire_rows_writer {
    size_t message_bytes;
    size_t message_bytes_max;
    size_t piece_bytes;
    const ms_bt_page *page;
    uint32_t row;      /* the next chunk is of this row, */
    uint32_t cell;     /* this cell of it, */
    uint32_t value_at; /* and begins here in its value */
} ms_wire_rows_writer;

/* options may be NULL. */
void ms_wire_rows_writer_init(ms_wire_rows_writer *writer, const ms_wire_rows_options *options);

/* Takes up a page, which it borrows. The one before was written to its end. */
void ms_wire_rows_writer_begin(ms_wire_rows_writer *writer, const ms_bt_page *page);

static inline bool ms_wire_rows_writer_is_done(const ms_wire_rows_writer *writer)
{
    return writer->row == writer->page->row_count;
}

/* Appends one message; not at the end. MS_LIMIT or MS_NO_MEMORY from the buffer. */
ms_rc ms_wire_rows_writer_next(ms_wire_rows_writer *writer, ms_buf *buf, ms_status *st) MS_MUST_USE;

/* Messages without chunks. */

/* "All rows up to this key were looked at"; only for clients that know it. */
ms_rc ms_wire_last_scanned_encode(ms_str key, ms_buf *buf, ms_status *st) MS_MUST_USE;

/* The work that a read made. */
typedef struct ms_wire_read_stats {
    int64_t rows_seen;
    int64_t rows_returned;
    int64_t cells_seen;
    int64_t cells_returned;
    int64_t latency_micros;
} ms_wire_read_stats;

ms_rc ms_wire_read_stats_encode(const ms_wire_read_stats *stats, ms_buf *buf,
                                ms_status *st) MS_MUST_USE;

#endif
