/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A block is its head, which names its size, and what the user sees. The head also links spare
 * blocks, so a block that is used after it was freed does not break the lists.
 */
#include "net/pool_priv.h"

#include "base/memory.h"
#include "base/status.h"

#include <stdalign.h>
#include <stdbool.h>
#include <string.h>

typedef struct msi_pool_block {
    alignas(max_align_t) struct msi_pool_block *next;
    size_t bytes; /* the user's */
} block;

static block *block_of(void *user)
{
    return (block *)user - 1;
}

static bool is_pooled(const block *it)
{
    return it->bytes <= MSI_POOL_BLOCK_BYTES_MAX;
}

/* The list of blocks of this many bytes, at least one and at most the most. */
static size_t list_of(size_t bytes)
{
    return (bytes - 1) / MSI_POOL_UNIT_BYTES;
}

void msi_pool_init(msi_pool *pool, size_t spare_bytes_max)
{
    *pool = (msi_pool){.spare_bytes_max = spare_bytes_max};
}

void msi_pool_release(msi_pool *pool)
{
    for (size_t i = 0; i < MSI_POOL_SIZES; i++) {
        while (pool->spare[i] != NULL) {
            block *it = pool->spare[i];
            pool->spare[i] = it->next;
            pool->spare_bytes -= it->bytes;
            ms_mem_free(it);
        }
    }
    MS_ASSERT(pool->spare_bytes == 0);
}

void *msi_pool_alloc(msi_pool *pool, size_t bytes)
{
    if (bytes <= MSI_POOL_BLOCK_BYTES_MAX) {
        size_t list = list_of(bytes + (bytes == 0));
        block *it = pool->spare[list];
        if (it != NULL) {
            pool->spare[list] = it->next;
            pool->spare_bytes -= it->bytes;
            return it + 1;
        }
        bytes = (list + 1) * MSI_POOL_UNIT_BYTES;
    }
    MS_ASSERT(bytes <= SIZE_MAX - sizeof(block));
    block *it = ms_mem_alloc(sizeof(block) + bytes);
    it->bytes = bytes;
    return it + 1;
}

void *msi_pool_calloc(msi_pool *pool, size_t count, size_t bytes)
{
    size_t total = 0;
    MS_ASSERT(!__builtin_mul_overflow(count, bytes, &total));
    void *user = msi_pool_alloc(pool, total);
    memset(user, 0, total);
    return user;
}

void *msi_pool_realloc(msi_pool *pool, void *user, size_t bytes)
{
    if (user == NULL) {
        return msi_pool_alloc(pool, bytes);
    }
    block *it = block_of(user);
    if (bytes <= it->bytes && is_pooled(it)) {
        return user;
    }
    void *moved = msi_pool_alloc(pool, bytes);
    memcpy(moved, user, it->bytes < bytes ? it->bytes : bytes);
    msi_pool_free(pool, user);
    return moved;
}

void msi_pool_free(msi_pool *pool, void *user)
{
    if (user == NULL) {
        return;
    }
    block *it = block_of(user);
    if (!is_pooled(it) || pool->spare_bytes + it->bytes > pool->spare_bytes_max) {
        ms_mem_free(it);
        return;
    }
    size_t list = list_of(it->bytes);
    it->next = pool->spare[list];
    pool->spare[list] = it;
    pool->spare_bytes += it->bytes;
}
