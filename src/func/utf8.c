/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counting and finding characters. Counting runs over all bytes at once in a kernel; short texts, the
 * usual ones, take the plain loop.
 */
#include "func/utf8.h"

#include "func/kernels.h"

size_t ms_utf8_length(ms_str text)
{
    if (text.bytes == 0) {
        return 0;
    }
    return msi_kernel_code_points(text.ptr, text.bytes) +
           (size_t)ms_utf8_is_continuation(text.ptr[0]);
}

size_t ms_utf8_offset(ms_str text, uint64_t count)
{
    size_t at = 0;
    while (count > 0 && at < text.bytes) {
        at = ms_utf8_next(text, at);
        count--;
    }
    return at;
}
