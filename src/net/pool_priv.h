/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory for what comes and goes with every call in the same few sizes: the streams, frames and
 * header values of nghttp2. Dozens of calls are under way at a time, so an allocator's small caches
 * overflow and each block is cut and merged again; here a block goes back to the others of its size
 * and is the next to be used.
 *
 *     void *stream = msi_pool_alloc(pool, bytes);
 *     ...
 *     msi_pool_free(pool, stream);
 *
 * Blocks above MSI_POOL_BLOCK_BYTES_MAX, and those that find the pool full, go back to the
 * allocator. Like all of Millstream's memory, what is refused ends the process.
 *
 * Ownership: a block is its user's until it is freed into the pool that it came from; the pool
 * outlives its blocks. Thread: one, the loop's.
 */
#ifndef MS_NET_POOL_PRIV_H
#define MS_NET_POOL_PRIV_H

#include <stddef.h>

#define MSI_POOL_UNIT_BYTES 64u
#define MSI_POOL_BLOCK_BYTES_MAX 512u
#define MSI_POOL_SIZES (MSI_POOL_BLOCK_BYTES_MAX / MSI_POOL_UNIT_BYTES)

/* Fields are private. */
typedef struct msi_pool {
    struct msi_pool_block *spare[MSI_POOL_SIZES]; /* the n-th: of n + 1 units */
    size_t spare_bytes;
    size_t spare_bytes_max;
} msi_pool;

/* Keeps at most spare_bytes_max of freed blocks. */
void msi_pool_init(msi_pool *pool, size_t spare_bytes_max);

/* All blocks were freed. */
void msi_pool_release(msi_pool *pool);

/* Aligned for any type, not initialized; of no bytes, too. */
void *msi_pool_alloc(msi_pool *pool, size_t bytes);

/* Zeroed. The product must not overflow, which ends the process. */
void *msi_pool_calloc(msi_pool *pool, size_t count, size_t bytes);

/* Moves a block where it has to grow. NULL: a new one. */
void *msi_pool_realloc(msi_pool *pool, void *block, size_t bytes);

/* NULL is allowed. */
void msi_pool_free(msi_pool *pool, void *block);

#endif
