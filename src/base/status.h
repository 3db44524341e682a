/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors travel in an ms_status that the caller owns and passes down as the last parameter. A
 * function that can fail returns ms_rc and, on failure, has filled the status; success leaves it
 * untouched, so that calls chain. The first cause wins: setting a status that has failed already
 * changes nothing.
 *
 *     ms_rc parse_port(ms_str text, uint16_t *port_out, ms_status *st)
 *     {
 *         int64_t value = 0;
 *         MS_TRY(ms_num_parse_i64(text, &value, st));
 *         if (value < 1 || value > 65535) {
 *             ms_status_set(st, MS_INVALID_OPTION, ms_span_none,
 *                           "port %" PRId64 " is out of range", value);
 *             return ms_status_hint(st, "Use a port from 1 to 65535.");
 *         }
 *         *port_out = (uint16_t)value;
 *         return MS_OK;
 *     }
 *
 * Three classes of trouble are never mixed. A user error has a span, a message and a hint. An
 * environment error adds the system's text as detail and says whether a retry may help. A bug is
 * not a status at all: it is MS_ASSERT, which prints the place and aborts. Assertions stay on in
 * release builds; MS_ASSERT_SLOW does not, and is the one to use inside per-row loops.
 *
 * Ownership: a status is a value. Thread: any; one status is used by one thread at a time.
 * Limits: texts longer than their field are cut at a UTF-8 boundary and end in "...".
 */
#ifndef MS_BASE_STATUS_H
#define MS_BASE_STATUS_H

#include "millstream/base.h"

#include <stdarg.h>

static const ms_span ms_span_none = {0, 0};

/* Life. */

/* Makes *st a success again. */
void ms_status_clear(ms_status *st);

/* Setting. All return the status's code after the call: "return ms_status_set(...)" works. */

/* Records the first cause. The format is printf's; code is not MS_OK. */
ms_rc ms_status_set(ms_status *st, ms_rc code, ms_span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Same, with the text of errno_value as detail; ENOSPC becomes MS_DISK_FULL, ENOENT
 * MS_FILE_NOT_FOUND. */
ms_rc ms_status_set_errno(ms_status *st, int errno_value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Adds the particulars, or the cure, to a failed status; the first text given stays. No effect on
 * success. */
ms_rc ms_status_detail(ms_status *st, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
ms_rc ms_status_hint(ms_status *st, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Gives a failed status that has no place this place. */
ms_rc ms_status_place(ms_status *st, ms_span span);

/* Inspection. */

static inline bool ms_status_is_ok(const ms_status *st)
{
    return st->code == MS_OK;
}

/* Returns from the calling function when CALL, an expression of type ms_rc, is not MS_OK. */
#define MS_TRY(call)                                                                               \
    do {                                                                                           \
        ms_rc ms_try_rc = (call);                                                                  \
        if (__builtin_expect(ms_try_rc != MS_OK, 0)) {                                             \
            return ms_try_rc;                                                                      \
        }                                                                                          \
    } while (0)

/* Bugs. */

/* Prints what and where to standard error and aborts. */
_Noreturn void ms_assert_fail(const char *condition, const char *file, int line);

#define MS_ASSERT(condition)                                                                       \
    (__builtin_expect(!!(condition), 1) ? (void)0 : ms_assert_fail(#condition, __FILE__, __LINE__))
#define MS_UNREACHABLE() ms_assert_fail("unreachable", __FILE__, __LINE__)
#ifdef MS_DEBUG
#define MS_ASSERT_SLOW(condition) MS_ASSERT(condition)
#else
#define MS_ASSERT_SLOW(condition) ((void)0)
#endif

#endif
