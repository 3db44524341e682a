/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A time zone: the table of its offsets from UTC, read once from the system's time zone database
 * and immutable from then on. TIMESTAMP_LTZ values are instants; a zone is needed only where they
 * are printed, parsed, taken apart or turned into TIMESTAMP.
 *
 *     const ms_zone *zone;
 *     MS_TRY(ms_zone_make(arena, ms_str_lit("Europe/Berlin"), &zone, st));
 *     ms_zone_cursor cursor = ms_zone_cursor_make(zone);
 *     for each row: local_us[i] = ms_zone_local_from_utc_us(&cursor, utc_us[i]);
 *
 * Names are those of java.time.ZoneId: a region of the database ("Europe/Berlin", "UTC", exact
 * case), or a fixed offset: "Z", "+8", "+08:00", "+0800", "-03:30:00", also behind UTC, GMT or UT
 * ("GMT+08:00").
 * The database is that of TZDIR, else /usr/share/zoneinfo, in the TZif format (RFC 8536); UTC and
 * fixed offsets need none. Rules continue beyond the table's end as the file's last line says.
 *
 * Offsets have seconds (local mean times have), at most 18 hours. A local time inside a gap moves
 * forward by the gap; one inside an overlap takes the earlier offset, as java.time does.
 *
 * Ownership: a zone lives in the arena that made it. Thread: any; a cursor belongs to one thread.
 */
#ifndef MS_TYPE_ZONE_H
#define MS_TYPE_ZONE_H

#include "type/type.h"

typedef struct ms_zone ms_zone;

/* Finds the zone of a name, or fails with MS_INVALID_OPTION. */
ms_rc ms_zone_make(ms_arena *arena, ms_str name, const ms_zone **zone_out,
                   ms_status *st) MS_MUST_USE;

/* UTC: static, needs no database. */
const ms_zone *ms_zone_utc(void);

/* The name it was made with. */
ms_str ms_zone_name(const ms_zone *zone);

/* True when the offset is the same at all times; it is stored then. */
bool ms_zone_is_fixed(const ms_zone *zone, int32_t *offset_seconds_out);

/* The host's zone: TZ, else where /etc/localtime points, else "UTC". The text is the arena's. */
ms_str ms_zone_host_name(ms_arena *arena);

/* The version of the database ("2024a"), or "" when it does not say. The text is the arena's. */
ms_str ms_zone_database_version(ms_arena *arena);

/*
 * A cursor remembers the offset of the last instant and how far it is valid, so that rows that are
 * near each other cost a comparison. Fields are private.
 */
typedef struct ms_zone_cursor {
    const ms_zone *zone;
    int64_t from_s;  /* the offset holds from here */
    int64_t until_s; /* to here, excluded */
    int32_t offset_s;
} ms_zone_cursor;

ms_zone_cursor ms_zone_cursor_make(const ms_zone *zone);

/* Moves the cursor to the instant. */
void ms_zone_cursor_seek(ms_zone_cursor *cursor, int64_t utc_s);

/* Seconds east of UTC at an instant. */
static inline int32_t ms_zone_offset_at(ms_zone_cursor *cursor, int64_t utc_s)
{
    if (__builtin_expect(utc_s < cursor->from_s || utc_s >= cursor->until_s, 0)) {
        ms_zone_cursor_seek(cursor, utc_s);
    }
    return cursor->offset_s;
}

/* The offset that a local time (seconds of its fields, read as if UTC) has: see gaps above. */
int32_t ms_zone_offset_of_local(ms_zone_cursor *cursor, int64_t local_s);

/* Instant to wall clock and back, in microseconds and milliseconds; saturating. */
int64_t ms_zone_local_from_utc_us(ms_zone_cursor *cursor, int64_t utc_us);
int64_t ms_zone_utc_from_local_us(ms_zone_cursor *cursor, int64_t local_us);
int64_t ms_zone_local_from_utc_ms(ms_zone_cursor *cursor, int64_t utc_ms);
int64_t ms_zone_utc_from_local_ms(ms_zone_cursor *cursor, int64_t local_ms);

#endif
