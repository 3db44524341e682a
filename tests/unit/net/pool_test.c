/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/env.h"
#include "base/memory.h"
#include "net/pool_priv.h"

#include <stdalign.h>
#include <stdint.h>
#include <string.h>

static void a_freed_block_is_the_next_of_its_size(void **state)
{
    (void)state;
    msi_pool pool;
    msi_pool_init(&pool, 4096);
    void *small = msi_pool_alloc(&pool, 10);
    void *large = msi_pool_alloc(&pool, 300);
    msi_pool_free(&pool, small);
    msi_pool_free(&pool, large);
    assert_ptr_equal(msi_pool_alloc(&pool, 290), large);
    assert_ptr_equal(msi_pool_alloc(&pool, 64), small);
    msi_pool_free(&pool, small);
    msi_pool_free(&pool, large);
    msi_pool_free(&pool, NULL);
    msi_pool_release(&pool);
}

static void a_zeroed_block_is_zero_when_it_was_used_before(void **state)
{
    (void)state;
    msi_pool pool;
    msi_pool_init(&pool, 4096);
    char *block = msi_pool_alloc(&pool, 96);
    memset(block, 0x5a, 96);
    msi_pool_free(&pool, block);
    char *zeroed = msi_pool_calloc(&pool, 12, 8);
    assert_ptr_equal(zeroed, block);
    for (int i = 0; i < 96; i++) {
        assert_int_equal(zeroed[i], 0);
    }
    msi_pool_free(&pool, zeroed);
    msi_pool_release(&pool);
}

static void a_block_of_no_bytes_is_a_block(void **state)
{
    (void)state;
    msi_pool pool;
    msi_pool_init(&pool, 4096);
    void *empty = msi_pool_alloc(&pool, 0);
    assert_non_null(empty);
    msi_pool_free(&pool, empty);
    void *zeroed = msi_pool_calloc(&pool, 0, 8);
    assert_ptr_equal(zeroed, empty);
    msi_pool_free(&pool, zeroed);
    msi_pool_release(&pool);
}

static void a_pool_keeps_no_more_than_it_may(void **state)
{
    (void)state;
    msi_pool pool;
    msi_pool_init(&pool, 1000);
    void *blocks[8];
    for (int i = 0; i < 8; i++) {
        blocks[i] = msi_pool_alloc(&pool, 256);
    }
    for (int i = 0; i < 8; i++) {
        msi_pool_free(&pool, blocks[i]);
        assert_true(pool.spare_bytes <= 1000);
    }
    assert_int_equal(pool.spare_bytes, 3 * 256);
    msi_pool_free(&pool, msi_pool_alloc(&pool, MSI_POOL_BLOCK_BYTES_MAX + 1));
    assert_int_equal(pool.spare_bytes, 3 * 256);
    msi_pool_release(&pool);
}

/* Blocks that live at the same time keep what was written to them, whatever comes and goes. */

#define BLOCKS 64

typedef struct held {
    unsigned char *bytes;
    size_t count;
    unsigned char value;
} held;

static void check_block(const held *it)
{
    assert_int_equal((uintptr_t)it->bytes % alignof(max_align_t), 0);
    for (size_t i = 0; i < it->count; i++) {
        assert_int_equal(it->bytes[i], it->value);
    }
}

static void fill_block(held *it, size_t count, unsigned char value)
{
    it->count = count;
    it->value = value;
    memset(it->bytes, value, count);
}

static void random_blocks_keep_what_is_written_to_them(void **state)
{
    (void)state;
    msi_pool pool;
    msi_pool_init(&pool, 8192);
    ms_env_random random;
    ms_env_random_init(&random, 7);
    held blocks[BLOCKS] = {{NULL, 0, 0}};
    for (int step = 0; step < 20000; step++) {
        held *it = &blocks[ms_env_random_below(&random, BLOCKS)];
        size_t count = ms_env_random_below(&random, 1200);
        unsigned char value = (unsigned char)ms_env_random_below(&random, 256);
        check_block(it);
        if (ms_env_random_below(&random, 2) == 0) {
            msi_pool_free(&pool, it->bytes);
            it->bytes = msi_pool_alloc(&pool, count);
        } else {
            it->bytes = msi_pool_realloc(&pool, it->bytes, count);
            it->count = it->count < count ? it->count : count;
            check_block(it);
        }
        fill_block(it, count, value);
    }
    for (int i = 0; i < BLOCKS; i++) {
        check_block(&blocks[i]);
        msi_pool_free(&pool, blocks[i].bytes);
    }
    msi_pool_release(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_freed_block_is_the_next_of_its_size),
        cmocka_unit_test(a_zeroed_block_is_zero_when_it_was_used_before),
        cmocka_unit_test(a_block_of_no_bytes_is_a_block),
        cmocka_unit_test(a_pool_keeps_no_more_than_it_may),
        cmocka_unit_test(random_blocks_keep_what_is_written_to_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
