/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LIKE patterns: % any run of bytes, _ one character (func/utf8.h) that is no line terminator, and
 * an optional escape character in front of %, _ or itself. Without an escape character there is
 * none: a backslash is a backslash. Behind a % a character begins where one of the text does.
 *
 * Matching takes time in proportion to the text, times the 64th part of what stands between two %
 * where that has a _; where no table is made for it, times its length.
 *
 * Thread: any.
 */
#ifndef MS_FUNC_LIKE_H
#define MS_FUNC_LIKE_H

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"

#include <stdatomic.h>

#define MS_LIKE_ITEMS_MAX 4096u            /* bytes and _ of a part that has a table: 128 KiB */
#define MS_LIKE_TABLE_BYTES_MAX (1u << 20) /* of all parts of a pattern; a short one takes 2 KiB */

typedef enum ms_like_kind {
    MS_LIKE_EQUALS,
    MS_LIKE_PREFIX,
    MS_LIKE_SUFFIX,
    MS_LIKE_CONTAINS,
    MS_LIKE_GENERAL
} ms_like_kind;

typedef struct ms_like_part ms_like_part;

/* A compiled pattern; all it points to is the arena's. Fields are private. */
typedef struct ms_like {
    ms_like_kind kind;
    ms_str text;               /* the literal part; not for GENERAL */
    const ms_like_part *parts; /* of GENERAL: what stands between its % */
    uint32_t part_count;
    bool is_open_start; /* a % stands in front */
    bool is_open_end;
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

/* Reports what compiling a pattern found, with where an escape is bad; MS_OK sets nothing. */
ms_rc ms_like_report(ms_like_fault fault, ms_str pattern, ms_str escape, size_t at,
                     ms_status *st) MS_MUST_USE;

/*
 * Looks at *canceled now and then, when it is not NULL: once it is true, any answer may come, soon.
 * Steps taken are added to *steps, when it is not NULL, for tests.
 */
bool ms_like_matches(const ms_like *like, ms_str text, const _Atomic bool *canceled,
                     uint64_t *steps);

#endif
