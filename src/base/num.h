/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers, durations and memory sizes as text, independent of any locale.
 *
 *     uint64_t rows = 0;
 *     if (!ms_num_scan_u64(text, &rows)) { ... not digits, or too large ... }
 *     int64_t pause_ms = 0;
 *     MS_TRY(ms_num_parse_duration_ms(ms_str_lit("1 min"), &pause_ms, st));     60000
 *     char text[MS_NUM_BYTES];
 *     size_t bytes = ms_num_print_i64(-42, text);
 *
 * Two families: scan answers yes or no and is for inner loops and for callers with errors of their
 * own; parse reports MS_INVALID_OPTION and is for settings, options and arguments of the command
 * line. Both take the whole text or nothing: no blanks around it, no underscores, ASCII digits
 * only. Decimals and doubles live in type/, where their types are.
 *
 * Thread: any.
 */
#ifndef MS_BASE_NUM_H
#define MS_BASE_NUM_H

#include "base/status.h"

/* Room for any number printed here, and for a duration or a memory size: no NUL is counted in. */
#define MS_NUM_BYTES 40

/* Scanning. On false, the output is untouched. */

/* One or more digits. */
bool ms_num_scan_u64(ms_str text, uint64_t *value_out) MS_MUST_USE;

/* An optional + or -, then one or more digits. */
bool ms_num_scan_i64(ms_str text, int64_t *value_out) MS_MUST_USE;

/* The number of ASCII digits in a row at from; 0 at the end of the text and beyond. */
size_t ms_num_count_digits(ms_str text, size_t from);

/* Parsing. */

ms_rc ms_num_parse_u64(ms_str text, uint64_t *value_out, ms_status *st) MS_MUST_USE;
ms_rc ms_num_parse_i64(ms_str text, int64_t *value_out, ms_status *st) MS_MUST_USE;

/* "true" or "false", in any case. */
ms_rc ms_num_parse_bool(ms_str text, bool *value_out, ms_status *st) MS_MUST_USE;

/*
 * A duration as Flink writes it: digits, then a unit, with blanks between and around: "500 ms",
 * "1min", "2 d". A number alone means milliseconds. One pair only, no sign, no fraction, no
 * ISO-8601. The result must fit a signed 64-bit number of nanoseconds (292 years).
 */
ms_rc ms_num_parse_duration_ns(ms_str text, int64_t *duration_ns_out, ms_status *st) MS_MUST_USE;

/* Same in whole milliseconds: what is below one is cut off. */
ms_rc ms_num_parse_duration_ms(ms_str text, int64_t *duration_ms_out, ms_status *st) MS_MUST_USE;

/* A memory size as Flink writes it: "64 mb", "1g", "1024": powers of 1024; no unit means bytes. */
ms_rc ms_num_parse_memory(ms_str text, uint64_t *bytes_out, ms_status *st) MS_MUST_USE;

/* Printing. Each writes at most MS_NUM_BYTES at text_out, without a NUL, and returns how many. */

size_t ms_num_print_u64(uint64_t value, char *text_out);
size_t ms_num_print_i64(int64_t value, char *text_out);

/* In the largest unit that divides the duration: "1 min", "3601 s", "0 ms". Not negative. */
size_t ms_num_print_duration_ns(int64_t duration_ns, char *text_out);

/* In the largest unit that divides the size: "64 mb", "1025 bytes". */
size_t ms_num_print_memory(uint64_t bytes, char *text_out);

#endif
