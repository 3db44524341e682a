/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LIKE patterns: % any run of bytes, _ one character (func/utf8.h) that is no line terminator, and
 * an optional escape character in front of %, _ or itself. Without an escape character there is
 * none: a backslash is a backslash.
 *
 * Thread: any.
 */
#ifndef MS_FUNC_LIKE_H
#define MS_FUNC_LIKE_H

#include "base/arena.h"
#include "base/str.h"

typedef enum ms_like_kind {
    MS_LIKE_EQUALS,
    MS_LIKE_PREFIX,
    MS_LIKE_SUFFIX,
    MS_LIKE_CONTAINS,
    MS_LIKE_GENERAL
} ms_like_kind;

/* A compiled pattern; its text is the arena's. */
typedef struct ms_like {
    ms_like_kind kind;
    ms_str text; /* the literal part; for GENERAL the items of like.c */
} ms_like;

typedef enum ms_like_fault {
    MS_LIKE_OK,
    MS_LIKE_BAD_ESCAPE,  /* the escape is not one character */
    MS_LIKE_BAD_SEQUENCE /* it stands before something else, or at the end */
} ms_like_fault;

/*
 * Compiles a pattern. escape with a NULL ptr means that there is none. On BAD_SEQUENCE *at_out is
 * the byte index of the escape.
 */
ms_like_fault ms_like_compile(ms_arena *arena, ms_str pattern, ms_str escape, ms_like *out,
                              size_t *at_out);

bool ms_like_matches(const ms_like *like, ms_str text);

#endif
