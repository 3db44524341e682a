/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings: ms_str is a borrowed view (millstream/base.h); ms_buf is a growable byte buffer with a
 * stated maximum. Nothing in the engine makes an unbounded buffer: the maximum is an argument of
 * init, and an append that would pass it fails with MS_LIMIT and leaves the buffer as it was.
 *
 *     ms_buf buf;
 *     ms_buf_init(&buf, 64 * 1024);
 *     MS_TRY(ms_buf_append(&buf, ms_str_lit("cell "), st));
 *     MS_TRY(ms_buf_format(&buf, st, "%u", index));
 *     use(ms_buf_view(&buf));
 *     ms_buf_release(&buf);
 *
 * Ownership: a view borrows; a buffer owns its bytes. Thread: any; one buffer, one thread at a
 * time.
 */
#ifndef MS_BASE_STR_H
#define MS_BASE_STR_H

#include "base/arena.h"
#include "base/status.h"

#include <string.h>

/* Views. */

#define ms_str_lit(literal) ((ms_str){"" literal, sizeof(literal) - 1})
#define MS_STR_ARG(s) (int)(s).bytes, ((s).ptr != NULL ? (s).ptr : "") /* for "%.*s" */

static inline ms_str ms_str_make(const char *ptr, size_t bytes)
{
    return (ms_str){ptr, bytes};
}

static inline ms_str ms_str_cstr(const char *text)
{
    return (ms_str){text, strlen(text)};
}

static inline bool ms_str_equals(ms_str a, ms_str b)
{
    return a.bytes == b.bytes && (a.bytes == 0 || memcmp(a.ptr, b.ptr, a.bytes) == 0);
}

/* Compares as unsigned bytes; a proper prefix sorts first. Returns <0, 0, >0. */
int ms_str_compare(ms_str a, ms_str b);

/* Compares with ASCII letters folded; other bytes are compared as they are. */
bool ms_str_equals_nocase(ms_str a, ms_str b);
bool ms_str_starts_with(ms_str text, ms_str prefix);
bool ms_str_ends_with(ms_str text, ms_str suffix);

/* The index of the first byte c at or after from; SIZE_MAX when there is none. */
size_t ms_str_find_byte(ms_str text, char c, size_t from);

/* Cuts ASCII blanks (space, tab, CR, LF, VT, FF) at both ends. */
ms_str ms_str_trim(ms_str text);

/* Cuts [start, end); both are clamped to the text. */
ms_str ms_str_slice(ms_str text, size_t start, size_t end);

/* The longest start of at most so many bytes that does not end within a UTF-8 sequence. */
ms_str ms_str_head(ms_str text, size_t bytes_max);

/* True when the text is well-formed UTF-8 (RFC 3629: no surrogates, no overlong forms, at most
 * U+10FFFF). */
bool ms_str_is_utf8(ms_str text);

/* 64-bit hash of the bytes; not frozen, never stored. */
uint64_t ms_str_hash(ms_str text);

/*
 * Edit distance (insert, delete, replace) with ASCII case folded, at most limit; a larger distance
 * reads as limit + 1. For "did you mean"; texts above 64 bytes read as limit + 1.
 */
unsigned ms_str_distance(ms_str a, ms_str b, unsigned limit);

/* Growable buffers. */

/* Read ptr and bytes freely; write through the functions. */
typedef struct ms_buf {
    char *ptr;
    size_t bytes;
    size_t capacity_bytes;
    size_t max_bytes;
} ms_buf;

void ms_buf_init(ms_buf *buf, size_t max_bytes);
void ms_buf_release(ms_buf *buf);

/* Empties the buffer and keeps its memory. */
static inline void ms_buf_reset(ms_buf *buf)
{
    buf->bytes = 0;
}

static inline ms_str ms_buf_view(const ms_buf *buf)
{
    return (ms_str){buf->ptr, buf->bytes};
}

/* Makes room for bytes more. Afterwards that many bytes may be written at ptr + bytes. */
ms_rc ms_buf_reserve(ms_buf *buf, size_t bytes, ms_status *st) MS_MUST_USE;
ms_rc ms_buf_append(ms_buf *buf, ms_str text, ms_status *st) MS_MUST_USE;
ms_rc ms_buf_append_byte(ms_buf *buf, char c, ms_status *st) MS_MUST_USE;
ms_rc ms_buf_format(ms_buf *buf, ms_status *st, const char *format, ...)
    __attribute__((format(printf, 3, 4))) MS_MUST_USE;

#endif
