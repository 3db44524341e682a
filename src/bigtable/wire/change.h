/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of change streams as a server writes them: a change becomes one ReadChangeStreamResponse,
 * or several when its mutations are too large for one; a long value of SetCell is cut in pieces
 * with their place in it.
 *
 *     ms_wire_change_writer writer;
 *     ms_wire_change_writer_init(&writer, NULL);
 *     ms_wire_change_writer_begin(&writer, change, &partition);
 *     while (!ms_wire_change_writer_is_done(&writer)) {
 *         ms_buf_reset(&buf);
 *         MS_TRY(ms_wire_change_writer_next(&writer, arena, &buf, st));      one message
 *     }
 *
 * Ownership: the writer borrows the change until it is written; the arena holds scratch that the
 * caller may reset after each message. Thread: one at a time. The reverse is wire/change_merge.h.
 */
#ifndef MS_BIGTABLE_WIRE_CHANGE_H
#define MS_BIGTABLE_WIRE_CHANGE_H

#include "bigtable/model/change.h"
#include "bigtable/wire/pb.h"

#define MS_WIRE_CHANGE_MESSAGE_BYTES (256u << 10) /* a message ends before it exceeds this */
#define MS_WIRE_CHANGE_PIECE_BYTES (128u << 10)   /* longer values are cut in pieces of this */

typedef struct ms_wire_change_options {
    size_t message_bytes; /* 0: the defaults above */
    size_t piece_bytes;
} ms_wire_change_options;

/* Fields are private. */
typedef struct ms_wire_change_writer {
    size_t message_bytes;
    size_t piece_bytes;
    const ms_bt_change *change;
    ms_bt_range partition;
    uint32_t mutation; /* the next of the change */
    size_t value_at;   /* where its value goes on */
    bool has_begun;
    bool is_done;
} ms_wire_change_writer;

/* options may be NULL. */
void ms_wire_change_writer_init(ms_wire_change_writer *writer,
                                const ms_wire_change_options *options);

/* Takes up a change of the partition that is read, which a heartbeat repeats. */
void ms_wire_change_writer_begin(ms_wire_change_writer *writer, const ms_bt_change *change,
                                 const ms_bt_range *partition);

static inline bool ms_wire_change_writer_is_done(const ms_wire_change_writer *writer)
{
    return writer->is_done;
}

ms_rc ms_wire_change_writer_next(ms_wire_change_writer *writer, ms_arena *arena, ms_buf *buf,
                                 ms_status *st) MS_MUST_USE;

#endif
