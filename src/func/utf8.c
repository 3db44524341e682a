/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counting and finding characters. Long texts are counted by a kernel; short ones, the usual, eight
 * bytes at a time: calling the kernel would cost more than it saves.
 */
#include "func/utf8.h"

#include "func/kernels.h"

/* From here on the kernel pays: measured, about four cache lines. */
#define KERNEL_BYTES 256

#define ONES UINT64_C(0x0101010101010101)

/* The bytes of a short text that start a character. */
static size_t count_short(ms_str text)
{
    size_t continuations = 0;
    size_t at = 0;
    for (; at + 8 <= text.bytes; at += 8) {
        uint64_t word;
        memcpy(&word, text.ptr + at, sizeof(word));
        /* 10xxxxxx: the top bit is set and the next one is not. */
        uint64_t marks = (word >> 7) & ~(word >> 6) & ONES;
        continuations += (size_t)((marks * ONES) >> 56);
    }
    for (; at < text.bytes; at++) {
        continuations += (size_t)ms_utf8_is_continuation(text.ptr[at]);
    }
    return text.bytes - continuations;
}

size_t ms_utf8_length(ms_str text)
{
    if (text.bytes == 0) {
        return 0;
    }
    size_t starts = text.bytes < KERNEL_BYTES ? count_short(text)
                                              : msi_kernel_code_points(text.ptr, text.bytes);
    return starts + (size_t)ms_utf8_is_continuation(text.ptr[0]);
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
