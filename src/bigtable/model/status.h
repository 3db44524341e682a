/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the service answers: a canonical code (the numbers of gRPC) and a text. It travels beside
 * ms_status, not inside it, because callers decide by the code (retry, route a rejected record,
 * create a table) long before anybody wants to read a message.
 *
 *     ms_bt_status bt = {0};
 *     ms_bt_status_set(&bt, MS_BT_NOT_FOUND, "table \"%.*s\" not found", MS_STR_ARG(name));
 *     return ms_bt_status_report(&bt, st, "could not write to table \"%.*s\"", MS_STR_ARG(name));
 *
 * The report puts our words in the message and the service's, verbatim with their code, in the
 * detail.
 *
 * Ownership: a value; nothing to free. Thread: any; one status, one thread at a time. Limits: a
 * text longer than its field is cut at a UTF-8 boundary and ends in "...".
 */
#ifndef MS_BIGTABLE_MODEL_STATUS_H
#define MS_BIGTABLE_MODEL_STATUS_H

#include "base/status.h"

/* The canonical codes; the numbers are the wire's. */
typedef enum ms_bt_code {
    MS_BT_OK = 0,
    MS_BT_CANCELLED = 1,
    MS_BT_UNKNOWN = 2,
    MS_BT_INVALID_ARGUMENT = 3,
    MS_BT_DEADLINE_EXCEEDED = 4,
    MS_BT_NOT_FOUND = 5,
    MS_BT_ALREADY_EXISTS = 6,
    MS_BT_PERMISSION_DENIED = 7,
    MS_BT_RESOURCE_EXHAUSTED = 8,
    MS_BT_FAILED_PRECONDITION = 9,
    MS_BT_ABORTED = 10,
    MS_BT_OUT_OF_RANGE = 11,
    MS_BT_UNIMPLEMENTED = 12,
    MS_BT_INTERNAL = 13,
    MS_BT_UNAVAILABLE = 14,
    MS_BT_DATA_LOSS = 15,
    MS_BT_UNAUTHENTICATED = 16,
    MS_BT_CODE_COUNT
} ms_bt_code;

#define MS_BT_STATUS_TEXT_BYTES 640

/* Zero-initialized means success. */
typedef struct ms_bt_status {
    ms_bt_code code;
    char text[MS_BT_STATUS_TEXT_BYTES]; /* UTF-8, terminated by NUL; "" when code is MS_BT_OK */
    const char *hint; /* static: what the user has to change first; NULL: nothing is known */
} ms_bt_status;

/* The name as printed ("NOT_FOUND"); an unknown number reads as "UNKNOWN". Static text. */
const char *ms_bt_code_name(ms_bt_code code);

/* Makes *bt a success again. */
void ms_bt_status_clear(ms_bt_status *bt);

/* Records the first cause; a status that has failed already stays as it is. Returns the status's
 * code after the call. */
ms_bt_code ms_bt_status_set(ms_bt_status *bt, ms_bt_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Same, for a text that came from elsewhere and is no format. */
ms_bt_code ms_bt_status_set_text(ms_bt_status *bt, ms_bt_code code, ms_str text);

static inline bool ms_bt_status_is_ok(const ms_bt_status *bt)
{
    return bt->code == MS_BT_OK;
}

/*
 * Turns a failed answer into an error of ours: the format gives the message ("could not read table
 * ..."); code and text of the service become the detail. NOT_FOUND is MS_BIGTABLE_NOT_FOUND;
 * UNAVAILABLE, DEADLINE_EXCEEDED and ABORTED are MS_BIGTABLE_UNAVAILABLE and retriable;
 * UNIMPLEMENTED is MS_NOT_SUPPORTED; CANCELLED is MS_CANCELED; all others are MS_BIGTABLE_ERROR.
 * With a hint, which is passed on, nothing is retriable. bt must have failed.
 */
ms_rc ms_bt_status_report(const ms_bt_status *bt, ms_status *st, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The other direction, for a store whose files failed: every failure of ours becomes a code of the
 * service, message and detail its text. st must have failed. */
ms_bt_code ms_bt_status_from(ms_bt_status *bt, ms_bt_code code, const ms_status *st);

/* Returns the code from the calling function when CALL, an expression of type ms_bt_code, fails. */
#define MS_BT_TRY(call)                                                                            \
    do {                                                                                           \
        ms_bt_code ms_bt_try_code = (call);                                                        \
        if (__builtin_expect(ms_bt_try_code != MS_BT_OK, 0)) {                                     \
            return ms_bt_try_code;                                                                 \
        }                                                                                          \
    } while (0)

#endif
