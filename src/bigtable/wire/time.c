/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Microseconds to seconds and nanoseconds, and back. A message may say anything; the result is the
 * nearest that 64 bits of microseconds can hold.
 */
#include "bigtable/wire/time.h"

#define MICROS_PER_SECOND 1000000
#define NANOS_PER_MICRO 1000

/* Rounds toward the past. */
static int64_t divide(int64_t value, int64_t by)
{
    return value / by - (value % by < 0 ? 1 : 0);
}

static int64_t to_micros(int64_t seconds, int32_t nanos)
{
    int64_t micros;
    if (__builtin_mul_overflow(seconds, MICROS_PER_SECOND, &micros) ||
        __builtin_add_overflow(micros, divide(nanos, NANOS_PER_MICRO), &micros)) {
        return seconds < 0 ? INT64_MIN : INT64_MAX;
    }
    return micros;
}

ms_pb_timestamp *ms_wire_timestamp_to_pb(int64_t micros, ms_arena *arena)
{
    ms_pb_timestamp *message = ms_pb_new(arena, timestamp);
    message->seconds = divide(micros, MICROS_PER_SECOND);
    message->nanos = (int32_t)((micros - message->seconds * MICROS_PER_SECOND) * NANOS_PER_MICRO);
    return message;
}

ms_pb_duration *ms_wire_duration_to_pb(int64_t micros, ms_arena *arena)
{
    ms_pb_duration *message = ms_pb_new(arena, duration);
    /* Both parts of a duration have the same sign. */
    message->seconds = micros / MICROS_PER_SECOND;
    message->nanos = (int32_t)(micros % MICROS_PER_SECOND * NANOS_PER_MICRO);
    return message;
}

int64_t ms_wire_timestamp_micros(const ms_pb_timestamp *message)
{
    return message == NULL ? 0 : to_micros(message->seconds, message->nanos);
}

int64_t ms_wire_duration_micros(const ms_pb_duration *message)
{
    return message == NULL ? 0 : to_micros(message->seconds, message->nanos);
}
