/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Buffers whose bounds are kept by those who fill them (windows, budgets, limits on headers and
 * messages), so that growing one fails only when the machine has no memory. Every call of a method
 * appends some twenty times: the common case is a comparison.
 */
#ifndef MS_NET_BUFFER_PRIV_H
#define MS_NET_BUFFER_PRIV_H

#include "base/memory.h"
#include "base/str.h"

__attribute__((noinline, cold, unused)) static void msi_buffer_grow(ms_buf *buf, size_t bytes)
{
    ms_status st = {0};
    if (ms_buf_reserve(buf, bytes, &st) != MS_OK) {
        ms_mem_exhausted(bytes);
    }
}

/* Room for so many bytes behind those that are there. */
static inline char *msi_buffer_room(ms_buf *buf, size_t bytes)
{
    if (__builtin_expect(bytes > buf->capacity_bytes - buf->bytes, 0)) {
        msi_buffer_grow(buf, bytes);
    }
    return buf->ptr + buf->bytes;
}

static inline void msi_buffer_append(ms_buf *buf, ms_str bytes)
{
    if (bytes.bytes > 0) {
        memcpy(msi_buffer_room(buf, bytes.bytes), bytes.ptr, bytes.bytes);
        buf->bytes += bytes.bytes;
    }
}

#endif
