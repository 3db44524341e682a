/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "type/batch.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define ROUNDS 20000
#define DROPPERS 3
#define QUEUE_SLOTS 64

static ms_schema make_schema(ms_arena *arena)
{
    ms_field *columns = ms_arena_array(arena, ms_field, 2);
    columns[0] = (ms_field){ms_str_lit("n"), ms_type_simple(arena, MS_TYPE_BIGINT, false)};
    columns[1] =
        (ms_field){ms_str_lit("a"), ms_type_array(arena, ms_type_string(arena, true), true)};
    return (ms_schema){2, columns};
}

static void a_pool_ends_at_its_maximum(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_schema schema = make_schema(&arena);
    ms_batch_pool *pool = ms_batch_pool_create(&schema, 16, 3);
    ms_batch *taken[3];
    assert_int_equal(ms_batch_pool_available(pool), 3);
    for (int i = 0; i < 3; i++) {
        taken[i] = ms_batch_pool_take(pool);
        assert_non_null(taken[i]);
    }
    assert_int_equal(ms_batch_pool_available(pool), 0);
    assert_null(ms_batch_pool_take(pool));
    ms_batch_drop(taken[1]);
    assert_int_equal(ms_batch_pool_available(pool), 1);
    assert_ptr_equal(ms_batch_pool_take(pool), taken[1]);
    for (int i = 0; i < 3; i++) {
        ms_batch_drop(taken[i]);
    }
    ms_batch_drop(NULL);
    ms_batch_pool_destroy(pool);
    ms_batch_pool_destroy(NULL);
    ms_arena_release(&arena);
}

static void a_recycled_batch_is_as_new(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_schema schema = make_schema(&arena);
    ms_batch_pool *pool = ms_batch_pool_create(&schema, 16, 1);
    ms_batch *batch = ms_batch_pool_take(pool);
    MS_VEC_DATA(&batch->columns[0], int64_t)[0] = 42;
    ms_bit_clear(ms_batch_validity(batch, 1), 3);
    ms_vec_list_reserve(&batch->columns[1], 100, NULL);
    ms_bit_clear(ms_vec_validity(&batch->columns[1].children[0]), 99);
    ms_batch_kinds(batch)[0] = MS_ROW_DELETE;
    batch->rows = 16;
    batch->sel = batch->sel_store;
    batch->sel_count = 3;
    batch->columns[0].encoding = MS_ENC_CONST; /* a producer may do that to its own descriptor */
    ms_batch_drop(batch);
    ms_batch *again = ms_batch_pool_take(pool);
    assert_ptr_equal(again, batch);
    assert_int_equal(again->rows, 0);
    assert_null(again->sel);
    assert_null(again->kinds);
    assert_null(again->columns[1].valid);
    assert_null(again->columns[1].children[0].valid);
    assert_int_equal(again->columns[1].child_rows, 0);
    assert_int_equal(again->columns[0].encoding, MS_ENC_FLAT);
#ifdef MS_DEBUG
    assert_int_equal(MS_VEC_DATA(&again->columns[0], uint64_t)[0], UINT64_C(0xDBDBDBDBDBDBDBDB));
#endif
    ms_batch_drop(again);
    ms_batch_pool_destroy(pool);
    ms_arena_release(&arena);
}

static void a_heap_that_others_hold_outlives_its_batch(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_schema schema = make_schema(&arena);
    ms_batch_pool *pool = ms_batch_pool_create(&schema, 16, 2);
    ms_batch *first = ms_batch_pool_take(pool);
    ms_batch *second = ms_batch_pool_take(pool);
    ms_view view = ms_batch_put_str(first, ms_str_lit("a text that is not stored inline"));
    second->heaps[second->heap_count++] = first->heaps[0];
    ms_heap_retain(first->heaps[0]);
    ms_batch_drop(first);
    first = ms_batch_pool_take(pool);
    (void)ms_batch_put_str(first, ms_str_lit("another text that is not stored inline"));
    assert_true(ms_str_equals(ms_view_str(&view), ms_str_lit("a text that is not stored inline")));
    ms_batch_drop(second);
    ms_batch_drop(first);
    ms_batch_pool_destroy(pool);
    ms_arena_release(&arena);
}

/* A producer hands batches to several threads, which read them and drop them there. */
typedef struct exchange {
    _Atomic(ms_batch *) slots[QUEUE_SLOTS];
    _Atomic int64_t sum;
    _Atomic bool done;
} exchange;

static void *drop_batches(void *arg)
{
    exchange *x = arg;
    for (;;) {
        bool done = atomic_load_explicit(&x->done, memory_order_acquire);
        bool found = false;
        for (int i = 0; i < QUEUE_SLOTS; i++) {
            ms_batch *batch = atomic_exchange_explicit(&x->slots[i], NULL, memory_order_acquire);
            if (batch == NULL) {
                continue;
            }
            found = true;
            const ms_view *text = &MS_VEC_DATA(&batch->columns[1].children[0], ms_view)[0];
            int64_t value = MS_VEC_DATA(&batch->columns[0], int64_t)[0];
            assert_int_equal(ms_view_ptr(text)[0], 'a' + value % 26);
            atomic_fetch_add_explicit(&x->sum, value, memory_order_relaxed);
            ms_batch_drop(batch);
        }
        if (done && !found) {
            return NULL;
        }
        sched_yield();
    }
}

static void fill(ms_batch *batch, int64_t value)
{
    char text[40];
    memset(text, (int)('a' + value % 26), sizeof(text));
    batch->rows = 1;
    MS_VEC_DATA(&batch->columns[0], int64_t)[0] = value;
    uint32_t first = ms_vec_list_reserve(&batch->columns[1], 1, NULL);
    MS_VEC_DATA(&batch->columns[1], ms_list)[0] = (ms_list){first, 1};
    MS_VEC_DATA(&batch->columns[1].children[0], ms_view)
    [first] = ms_batch_put_str(batch, ms_str_make(text, sizeof(text)));
}

static void batches_come_home_from_other_threads(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_schema schema = make_schema(&arena);
    ms_batch_pool *pool = ms_batch_pool_create(&schema, 4, 8);
    exchange *x = ms_mem_calloc(1, sizeof(*x));
    pthread_t threads[DROPPERS];
    for (int t = 0; t < DROPPERS; t++) {
        assert_int_equal(pthread_create(&threads[t], NULL, drop_batches, x), 0);
    }
    int64_t sent = 0;
    for (int64_t value = 0; value < ROUNDS;) {
        ms_batch *batch = ms_batch_pool_take(pool);
        if (batch == NULL) {
            sched_yield();
            continue;
        }
        fill(batch, value);
        int slot = (int)(value % QUEUE_SLOTS);
        /* Every fifth batch has two holders: the producer drops its own reference last or first. */
        bool shared = value % 5 == 0;
        if (shared) {
            ms_batch_retain(batch);
        }
        ms_batch *none = NULL;
        while (!atomic_compare_exchange_weak_explicit(&x->slots[slot], &none, batch,
                                                      memory_order_release, memory_order_relaxed)) {
            none = NULL;
            sched_yield();
        }
        if (shared) {
            ms_batch_drop(batch);
        }
        sent += value;
        value++;
    }
    atomic_store_explicit(&x->done, true, memory_order_release);
    for (int t = 0; t < DROPPERS; t++) {
        pthread_join(threads[t], NULL);
    }
    assert_int_equal(atomic_load(&x->sum), sent);
    assert_int_equal(ms_batch_pool_available(pool), 8);
    ms_batch_pool_destroy(pool);
    ms_mem_free(x);
    ms_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pool_ends_at_its_maximum),
        cmocka_unit_test(a_recycled_batch_is_as_new),
        cmocka_unit_test(a_heap_that_others_hold_outlives_its_batch),
        cmocka_unit_test(batches_come_home_from_other_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
