/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What two sides compare instead of rows: sums over all values, which do not depend on the order of
 * rows. The plain one is what the programs of the limit folder print; the weighted one multiplies
 * with the place of the column, so that columns cannot change places unseen.
 *
 * Thread: that of the digest.
 */
#ifndef MS_TESTS_BENCH_DIGEST_H
#define MS_TESTS_BENCH_DIGEST_H

#include <stddef.h>
#include <stdint.h>

typedef struct digest {
    uint64_t plain;
    uint64_t weighted;
    uint64_t rows;
} digest;

static inline void digest_add(digest *self, uint32_t column, uint64_t value)
{
    self->plain += value;
    self->weighted += (column + 1) * value;
}

/* The value that stands for bytes. */
static inline uint64_t digest_bytes(const char *bytes, size_t count)
{
    uint64_t hash = count;
    for (size_t i = 0; i < count; i++) {
        hash = hash * 31 + (unsigned char)bytes[i];
    }
    return hash;
}

#endif
