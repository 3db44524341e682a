/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The codec of MutateRow and MutateRows, written by hand: between bytes and ms_bt_mutation_batch
 * with nothing in between, because a sink spends most of its time here. It reads what protobuf-c
 * reads and writes what protobuf-c writes, byte for byte; tests and a fuzz target hold it to that.
 *
 *     ms_buf_reset(&buf);
 *     ms_wire_mutate_head head = {.table = path, .app_profile = profile};
 *     MS_TRY(ms_wire_mutate_rows_encode(&head, batch, NULL, 0, &buf, st));
 *
 *     ms_wire_mutate_head head;
 *     MS_BT_TRY(ms_wire_mutate_rows_decode(bytes, &ms_wire_request_limits, batch, &head, bt));
 *
 * Ownership: a decoded head borrows from the bytes; a batch owns its own. A batch keeps the names
 * of families that it has seen, so one that takes requests of strangers is used for one. Thread:
 * any.
 */
#ifndef MS_BIGTABLE_WIRE_MUTATE_ROWS_H
#define MS_BIGTABLE_WIRE_MUTATE_ROWS_H

#include "bigtable/model/mutation.h"
#include "bigtable/wire/scan.h"

/* What a request says besides its entries. */
typedef struct ms_wire_mutate_head {
    ms_str table; /* the path, unchecked */
    ms_str authorized_view;
    ms_str app_profile;
} ms_wire_mutate_head;

/* Requests. */

/*
 * Appends a MutateRowsRequest with the entries of these indexes, ascending, in that order; NULL:
 * all entries. MS_LIMIT or MS_NO_MEMORY from the buffer.
 */
ms_rc ms_wire_mutate_rows_encode(const ms_wire_mutate_head *head, const ms_bt_mutation_batch *batch,
                                 const uint32_t *indexes, size_t index_count, ms_buf *buf,
                                 ms_status *st) MS_MUST_USE;

/* Same for MutateRowRequest: the first entry. */
ms_rc ms_wire_mutate_row_encode(const ms_wire_mutate_head *head, const ms_bt_mutation_batch *batch,
                                ms_buf *buf, ms_status *st) MS_MUST_USE;

/*
 * Appends the entries of a request to the batch, which is empty. Fails as ms_wire_check and
 * ms_wire_mutations_from_pb do; RESOURCE_EXHAUSTED when the batch is full. The batch is undefined
 * then, and wants a reset.
 */
ms_bt_code ms_wire_mutate_rows_decode(ms_str bytes, const ms_wire_limits *limits,
                                      ms_bt_mutation_batch *batch, ms_wire_mutate_head *head_out,
                                      ms_bt_status *bt);
ms_bt_code ms_wire_mutate_row_decode(ms_str bytes, const ms_wire_limits *limits,
                                     ms_bt_mutation_batch *batch, ms_wire_mutate_head *head_out,
                                     ms_bt_status *bt);

/* Responses of MutateRows: any number of messages, each with any number of entries. */

typedef struct ms_wire_mutate_result {
    uint32_t index;
    int32_t code; /* as sent; ms_bt_code when it is one */
    ms_str message;
} ms_wire_mutate_result;

/* Appends an entry to the message that buf holds; an empty buffer is an empty message. */
ms_rc ms_wire_mutate_result_encode(const ms_wire_mutate_result *result, ms_buf *buf,
                                   ms_status *st) MS_MUST_USE;

/* Appends what tells the client how fast to write: factor on its rate, good for the period. */
ms_rc ms_wire_rate_limit_encode(int64_t period_micros, double factor, ms_buf *buf,
                                ms_status *st) MS_MUST_USE;

/* Reads a message entry by entry. Fields are private, but for the rate limit, which is complete
 * when next has returned false. */
typedef struct ms_wire_mutate_reader {
    const char *at;
    const char *end;
    bool has_rate_limit;
    int64_t rate_period_micros;
    double rate_factor;
} ms_wire_mutate_reader;

/* INTERNAL (limits->code) when the bytes are malformed. */
ms_bt_code ms_wire_mutate_reader_make(ms_str bytes, const ms_wire_limits *limits,
                                      ms_wire_mutate_reader *reader_out, ms_bt_status *bt);

/* False at the end. */
bool ms_wire_mutate_reader_next(ms_wire_mutate_reader *reader, ms_wire_mutate_result *result_out);

#endif
