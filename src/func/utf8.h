/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Characters of a text. Lengths and positions count code points; a text may come from a cell and be
 * no UTF-8 at all, and still every function is defined on it:
 *
 *     A character starts at every byte that is not a continuation byte (10xxxxxx), and at the first
 *     byte
 *     of the text. It reaches to the next start.
 *
 * For well-formed UTF-8 these are the code points. For anything else, no byte is lost or repeated:
 * the characters of a text put together are the text. Bytes are never replaced inside the engine.
 *
 * Thread: any.
 */
#ifndef MS_FUNC_UTF8_H
#define MS_FUNC_UTF8_H

#include "base/str.h"

static inline bool ms_utf8_is_continuation(char c)
{
    return ((unsigned char)c & 0xC0u) == 0x80u;
}

/* The number of characters. */
size_t ms_utf8_length(ms_str text);

/* The end of the character that starts at `at`, which is inside the text. */
static inline size_t ms_utf8_next(ms_str text, size_t at)
{
    at++;
    while (at < text.bytes && ms_utf8_is_continuation(text.ptr[at])) {
        at++;
    }
    return at;
}

/* The start of the character that ends at `end`, which is inside or at the end and not 0. */
static inline size_t ms_utf8_previous(ms_str text, size_t end)
{
    end--;
    while (end > 0 && ms_utf8_is_continuation(text.ptr[end])) {
        end--;
    }
    return end;
}

/* The byte offset behind the first `count` characters; the length of the text when it has fewer. */
size_t ms_utf8_offset(ms_str text, uint64_t count);

#endif
