/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the files of the time zone database (TZif, RFC 8536) into a table of offsets. Private to
 * this folder; zone.c finds the file and answers questions.
 *
 * Ownership: the table lives in the arena. Thread: any.
 */
#ifndef MS_TYPE_TZ_FILE_H
#define MS_TYPE_TZ_FILE_H

#include "base/arena.h"
#include "base/str.h"

/* The offset is offset_s[i] from from_s[i] on; from_s[0] is INT64_MIN and from_s ascends. */
typedef struct msi_tz_table {
    uint32_t count;
    bool cyclic; /* the last 400 years before the last entry repeat after it */
    const int64_t *from_s;
    const int32_t *offset_s;
} msi_tz_table;

/* False when the bytes are no file of version 2 or later, or one with leap seconds. */
bool msi_tz_read(ms_str file, ms_arena *arena, msi_tz_table *table_out);

#endif
