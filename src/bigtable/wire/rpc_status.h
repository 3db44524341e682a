/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Failures as the wire has them: google.rpc.Status, in the trailer grpc-status-details-bin and in
 * entries of answers, with the particulars that clients act on.
 *
 *     ms_wire_status sent = {.code = MS_BT_UNAVAILABLE, .message = ms_str_lit("busy"),
 *                            .has_retry_delay = true, .retry_delay_micros = 2000000};
 *     MS_TRY(ms_wire_status_encode(&sent, arena, &buf, st));
 *
 * Ownership: a decoded status lives in the arena. Thread: any.
 */
#ifndef MS_BIGTABLE_WIRE_RPC_STATUS_H
#define MS_BIGTABLE_WIRE_RPC_STATUS_H

#include "bigtable/wire/pb.h"

typedef struct ms_wire_pair {
    ms_str key;
    ms_str value;
} ms_wire_pair;

typedef struct ms_wire_violation {
    ms_str type;
    ms_str subject;
    ms_str description;
} ms_wire_violation;

typedef struct ms_wire_status {
    ms_bt_code code; /* a number that is no code reads as UNKNOWN */
    ms_str message;

    /* RetryInfo: not before this. */
    bool has_retry_delay;
    int64_t retry_delay_micros;

    /* PreconditionFailure. */
    const ms_wire_violation *violations;
    size_t violation_count;

    /* ErrorInfo; no reason: there is none. */
    ms_str reason;
    ms_str domain;
    const ms_wire_pair *metadata;
    size_t metadata_count;
} ms_wire_status;

/* Appends the bytes of a Status. A message that is not UTF-8 has its wrong bytes replaced by "?",
 * because many clients drop a whole message for one. */
ms_rc ms_wire_status_encode(const ms_wire_status *status, ms_arena *arena, ms_buf *buf,
                            ms_status *st) MS_MUST_USE;

/* False for what is malformed, as if there were no details. Particulars of other kinds are passed
 * over. */
bool ms_wire_status_decode(ms_str bytes, ms_arena *arena, ms_wire_status *status_out);

/*
 * The failure of a read at a row that is too large to be given, as clients that pass over such rows
 * know it: ErrorInfo with the reason LargeRowReadError and the row's key. Appends the bytes of the
 * Status. The other way: false when it is no such failure.
 */
ms_rc ms_wire_large_row_encode(const ms_bt_status *bt, ms_str row_key, ms_arena *arena, ms_buf *buf,
                               ms_status *st) MS_MUST_USE;
bool ms_wire_large_row_decode(const ms_wire_status *status, ms_arena *arena, ms_str *row_key_out);

/* Between a Status without particulars and the model's. NULL is OK. */
ms_pb_rpc_status *ms_wire_status_to_pb(const ms_bt_status *bt, ms_arena *arena);
void ms_wire_status_from_pb(const ms_pb_rpc_status *message, ms_bt_status *bt_out);

/* The code of a number on the wire; UNKNOWN for one that is none. */
ms_bt_code ms_wire_code(int32_t number);

#endif
