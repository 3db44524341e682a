/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CRC-32C, twice: with the instruction of SSE 4.2, eight bytes a step, and with a table, a byte a
 * step, for processors without it. Which one runs is decided once, from the processor.
 *
 * Declared in base/codec.h, beside the reader and writer that it guards.
 */
#include "base/base_priv.h"
#include "base/codec.h"

#include <pthread.h>

/* The Castagnoli polynomial, bits reversed: the lowest bit of a word is the highest power. */
#define POLYNOMIAL 0x82F63B78u

static uint32_t table[256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void fill_table(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++) {
            crc = (crc >> 1) ^ ((crc & 1u) != 0 ? POLYNOMIAL : 0u);
        }
        table[byte] = crc;
    }
}

uint32_t msi_crc_software(uint32_t crc, ms_str bytes)
{
    pthread_once(&table_once, fill_table);
    crc = ~crc;
    for (size_t i = 0; i < bytes.bytes; i++) {
        crc = (crc >> 8) ^ table[(crc ^ (unsigned char)bytes.ptr[i]) & 0xFFu];
    }
    return ~crc;
}

#if defined(__x86_64__)

#include <nmmintrin.h>

__attribute__((target("sse4.2"))) static uint32_t crc_hardware(uint32_t crc, ms_str bytes)
{
    uint64_t state = (uint32_t)~crc;
    const char *at = bytes.ptr;
    size_t left = bytes.bytes;
    for (; left >= 8; at += 8, left -= 8) {
        state = _mm_crc32_u64(state, ms_codec_load_u64(at));
    }
    for (; left > 0; at++, left--) {
        state = _mm_crc32_u8((uint32_t)state, (unsigned char)*at);
    }
    return ~(uint32_t)state;
}

uint32_t ms_crc32c(uint32_t crc, ms_str bytes)
{
    return __builtin_cpu_supports("sse4.2") ? crc_hardware(crc, bytes)
                                            : msi_crc_software(crc, bytes);
}

#else

uint32_t ms_crc32c(uint32_t crc, ms_str bytes)
{
    return msi_crc_software(crc, bytes);
}

#endif
