/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vocabulary that every Millstream interface shares: strings, error codes, places in SQL text
 * and the status record. It needs no other header of the project and allocates nothing.
 *
 * Ownership: an ms_str borrows its bytes; an ms_status is a plain value and owns everything inline.
 * Thread: any.
 */
#ifndef MS_MILLSTREAM_BASE_H
#define MS_MILLSTREAM_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MS_API __attribute__((visibility("default")))
#define MS_MUST_USE __attribute__((warn_unused_result))

/* A borrowed run of bytes. Not terminated by NUL; ptr may be NULL when bytes is 0. */
typedef struct ms_str {
    const char *ptr;
    size_t bytes;
} ms_str;

/* Error codes, from errcode.def. MS_OK is 0. */
typedef enum ms_rc {
#define X(name, sqlstate, meaning) MS_##name,
#include "millstream/errcode.def"
#undef X
    MS_RC_COUNT
} ms_rc;

/* A place in SQL text: byte offsets [start, end). {0, 0} means that there is no place. */
typedef struct ms_span {
    uint32_t start;
    uint32_t end;
} ms_span;

/*
 * What went wrong, where, and what the user may do about it. Texts are UTF-8, terminated by NUL,
 * inline: reporting an error never allocates and copying one is assignment. Zero-initialized means
 * success.
 */
typedef struct ms_status {
    ms_rc code;
    bool retriable;    /* the same call may succeed later */
    ms_span span;      /* where in the statement's text */
    char message[240]; /* one line, lower case start, no full stop */
    char detail[1024]; /* the particulars: system text, row key, all offending keys */
    char hint[240];    /* what the user may do: full sentences */
} ms_status;

/*
 * The name of a code as printed ("UNDEFINED_COLUMN"), its SQLSTATE and its meaning. Never NULL; a
 * value outside the enumeration reads as "INTERNAL". The texts are static. Thread: any. Errors:
 * none. Since: 0.1.
 */
MS_API const char *ms_rc_name(ms_rc code);
MS_API const char *ms_rc_sqlstate(ms_rc code);
MS_API const char *ms_rc_meaning(ms_rc code);

/*
 * True for codes that tell of something odd while what was asked for is done: those of SQLSTATE
 * class 01. Thread: any. Errors: none. Since: 0.1.
 */
MS_API bool ms_rc_is_warning(ms_rc code);

#ifdef __cplusplus
}
#endif

#endif
