/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Date patterns, as java.time has them: the part that TO_TIMESTAMP takes now. Letters: yyyy, M or
 * MM, d or dd, H or HH, m or mm, s or ss, S to SSSSSSSSS; 'quoted' text and any other character
 * that is no letter stand for themselves. Other letters are refused by name.
 *
 * Parsing must take the whole text. A field of two letters has exactly two digits, one letter one
 * or more; yyyy has four, or more behind a plus sign; S has as many digits as letters. Fields that
 * touch ("yyyyMMdd") have fixed widths. Missing fields are 1970-01-01 00:00:00; days 29 to 31 are
 * cut to the end of the month; 24:00:00 is the next midnight.
 *
 * Thread: any.
 */
#ifndef MS_FUNC_DATEPATTERN_H
#define MS_FUNC_DATEPATTERN_H

#include "base/arena.h"
#include "base/status.h"

typedef struct ms_datepattern ms_datepattern;

/*
 * Compiles into the arena; MS_NOT_SUPPORTED for other letters, MS_INVALID_ARGUMENT for bad
 * patterns.
 */
ms_rc ms_datepattern_compile(ms_arena *arena, ms_str text, const ms_datepattern **pattern_out,
                             ms_status *st) MS_MUST_USE;

/* Microseconds of the local time; false when the text does not fit. */
bool ms_datepattern_parse(const ms_datepattern *pattern, ms_str text, int64_t *us_out);

#endif
