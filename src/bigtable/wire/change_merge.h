/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of change streams as a client reads them: messages become changes of a page, those that
 * were cut in pieces whole again, by every rule of the protocol.
 *
 *     ms_wire_change_merger_init(&merger);
 *     for each message:
 *         ms_pb_read_change_stream_response *message = ms_pb_unpack(...);
 *         MS_BT_TRY(ms_wire_change_merger_read(&merger, message, page, bt));
 *     at the end of the stream: MS_BT_TRY(ms_wire_change_merger_end(&merger, bt));
 *     before another attempt: ms_wire_change_merger_restart(&merger);
 *
 * A message completes at most one change; pages may be changed between any two messages.
 *
 * Ownership: the page owns what is put into it; the merger owns the change that is not complete.
 * Thread: one at a time. Limits: a change above MS_BT_LIMIT_ROW_BYTES, or of more mutations than
 * MS_WIRE_CHANGE_MUTATIONS_MAX, is refused.
 */
#ifndef MS_BIGTABLE_WIRE_CHANGE_MERGE_H
#define MS_BIGTABLE_WIRE_CHANGE_MERGE_H

#include "bigtable/model/change.h"
#include "bigtable/wire/pb.h"

#define MS_WIRE_CHANGE_MUTATIONS_MAX 200000u /* a row's limit, and families it may delete */

/* Fields are private. */
typedef struct ms_wire_change_merger {
    ms_arena arena; /* of a change that takes several messages */
    ms_bt_change change;
    ms_bt_change_mutation *mutations;
    uint32_t mutation_capacity;
    size_t bytes;
    bool has_change;
    bool has_value;    /* of the last mutation's value more must come: */
    size_t value_size; /* so much in all, */
    ms_buf value;      /* and this is there */
} ms_wire_change_merger;

void ms_wire_change_merger_init(ms_wire_change_merger *merger);
void ms_wire_change_merger_release(ms_wire_change_merger *merger);

/* INTERNAL for what breaks the protocol, RESOURCE_EXHAUSTED for a change that is too large. After a
 * failure only restart makes sense. */
ms_bt_code ms_wire_change_merger_read(ms_wire_change_merger *merger,
                                      const ms_pb_read_change_stream_response *message,
                                      ms_bt_change_page *page, ms_bt_status *bt);

/* The stream has ended well: INTERNAL when it did so inside a change. */
ms_bt_code ms_wire_change_merger_end(const ms_wire_change_merger *merger, ms_bt_status *bt);

/* Drops the change that is not complete. */
void ms_wire_change_merger_restart(ms_wire_change_merger *merger);

#endif
