/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Points in time and durations as messages. Nanoseconds are cut to microseconds toward the past;
 * what does not fit 64 bits of microseconds becomes the nearest that does.
 *
 * Thread: any.
 */
#ifndef MS_BIGTABLE_WIRE_TIME_H
#define MS_BIGTABLE_WIRE_TIME_H

#include "bigtable/wire/pb.h"

ms_pb_timestamp *ms_wire_timestamp_to_pb(int64_t micros, ms_arena *arena);
ms_pb_duration *ms_wire_duration_to_pb(int64_t micros, ms_arena *arena);

/* NULL is 0. */
int64_t ms_wire_timestamp_micros(const ms_pb_timestamp *message);
int64_t ms_wire_duration_micros(const ms_pb_duration *message);

#endif
