/* SPDX-License-Identifier: Apache-2.0 */
#include "type/batch.h"

#include "base/memory.h"
#include "type/random_data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

typedef struct fixture {
    ms_arena arena;
    ms_schema schema;
    ms_field columns[2];
    ms_batch_pool *pool;
} fixture;

static int make_fixture(void **state)
{
    fixture *f = ms_mem_calloc(1, sizeof(*f));
    ms_arena_init(&f->arena, 0);
    f->columns[0] = (ms_field){ms_str_lit("id"), ms_type_simple(&f->arena, MS_TYPE_BIGINT, true)};
    f->columns[1] = (ms_field){ms_str_lit("name"), ms_type_string(&f->arena, true)};
    f->schema = (ms_schema){2, f->columns};
    f->pool = ms_batch_pool_create(&f->schema, 8, 2);
    *state = f;
    return 0;
}

static int free_fixture(void **state)
{
    fixture *f = *state;
    ms_batch_pool_destroy(f->pool);
    ms_arena_release(&f->arena);
    ms_mem_free(f);
    return 0;
}

static void put_row(ms_batch *batch, int64_t id, const char *name)
{
    uint32_t row = batch->rows++;
    MS_VEC_DATA(&batch->columns[0], int64_t)[row] = id;
    if (name == NULL) {
        ms_bit_clear(ms_batch_validity(batch, 1), row);
    } else {
        MS_VEC_DATA(&batch->columns[1], ms_view)[row] = ms_batch_put_str(batch, ms_str_cstr(name));
    }
}

static ms_str name_at(const ms_batch *batch, uint32_t row)
{
    return ms_view_str(&MS_VEC_DATA(&batch->columns[1], ms_view)[row]);
}

static void a_taken_batch_is_empty_and_unique(void **state)
{
    fixture *f = *state;
    ms_batch *batch = ms_batch_pool_take(f->pool);
    assert_non_null(batch);
    assert_int_equal(batch->rows, 0);
    assert_int_equal(batch->capacity, 8);
    assert_null(batch->sel);
    assert_null(batch->kinds);
    assert_null(batch->columns[0].valid);
    assert_true(ms_batch_is_unique(batch));
    ms_batch_drop(batch);
}

static void own_shares_a_pooled_batch(void **state)
{
    fixture *f = *state;
    ms_batch *batch = ms_batch_pool_take(f->pool);
    put_row(batch, 1, "one");
    ms_batch *kept = ms_batch_own(batch, f->pool);
    assert_ptr_equal(kept, batch);
    assert_false(ms_batch_is_unique(batch));
    ms_batch_drop(batch);
    assert_true(ms_batch_is_unique(kept));
    assert_int_equal(kept->rows, 1);
    ms_batch_drop(kept);
}

static void own_copies_a_narrowing_selection_densely(void **state)
{
    fixture *f = *state;
    ms_batch *batch = ms_batch_pool_take(f->pool);
    put_row(batch, 1, "one");
    put_row(batch, 2, "a name that is too long to stand inline");
    put_row(batch, 3, NULL);
    batch->sel = batch->sel_store;
    batch->sel_store[0] = 1;
    batch->sel_store[1] = 2;
    batch->sel_count = 2;
    ms_batch *kept = ms_batch_own(batch, f->pool);
    ms_batch_drop(batch);
    assert_null(kept->sel);
    assert_int_equal(kept->rows, 2);
    assert_int_equal(MS_VEC_DATA(&kept->columns[0], int64_t)[0], 2);
    assert_true(
        ms_str_equals(name_at(kept, 0), ms_str_lit("a name that is too long to stand inline")));
    assert_true(ms_vec_is_null(&kept->columns[1], 1));
    ms_batch_drop(kept);
}

static void own_shares_a_selection_of_all_rows(void **state)
{
    fixture *f = *state;
    ms_batch *batch = ms_batch_pool_take(f->pool);
    put_row(batch, 1, "one");
    batch->sel = batch->sel_store;
    batch->sel_store[0] = 0;
    batch->sel_count = 1;
    ms_batch *kept = ms_batch_own(batch, f->pool);
    assert_ptr_equal(kept, batch);
    ms_batch_drop(batch);
    ms_batch_drop(kept);
}

static void own_returns_null_when_the_pool_is_empty(void **state)
{
    fixture *f = *state;
    ms_batch *first = ms_batch_pool_take(f->pool);
    ms_batch *second = ms_batch_pool_take(f->pool);
    ms_batch frame;
    ms_batch_frame(&frame, first, first->columns, 2);
    assert_null(ms_batch_own(&frame, f->pool));
    ms_batch_drop(second);
    ms_batch *copy = ms_batch_own(&frame, f->pool);
    assert_non_null(copy);
    ms_batch_drop(copy);
    ms_batch_drop(first);
}

static void append_stops_at_the_capacity(void **state)
{
    fixture *f = *state;
    ms_batch *source = ms_batch_pool_take(f->pool);
    ms_batch *target = ms_batch_pool_take(f->pool);
    for (int i = 0; i < 6; i++) {
        put_row(source, i, i % 2 == 0 ? "even and rather long a text" : NULL);
    }
    assert_int_equal(ms_batch_append(target, source, 0, 5), 5);
    assert_int_equal(ms_batch_append(target, source, 1, 5), 3);
    assert_int_equal(target->rows, 8);
    assert_int_equal(MS_VEC_DATA(&target->columns[0], int64_t)[4], 4);
    assert_int_equal(MS_VEC_DATA(&target->columns[0], int64_t)[5], 1);
    assert_true(ms_vec_is_null(&target->columns[1], 5));
    assert_false(ms_vec_is_null(&target->columns[1], 6));
    ms_batch_drop(source);
    assert_true(ms_str_equals(name_at(target, 6), ms_str_lit("even and rather long a text")));
    ms_batch_drop(target);
}

static void kinds_are_inserts_until_written(void **state)
{
    fixture *f = *state;
    ms_batch *changes = ms_batch_pool_take(f->pool);
    put_row(changes, 1, "a");
    put_row(changes, 2, "b");
    assert_int_equal(ms_batch_kind(changes, 1), MS_ROW_INSERT);
    ms_batch_kinds(changes)[1] = MS_ROW_DELETE;
    assert_int_equal(ms_batch_kind(changes, 0), MS_ROW_INSERT);
    ms_batch *target = ms_batch_pool_take(f->pool);
    put_row(target, 0, "plain");
    assert_int_equal(ms_batch_append(target, changes, 0, 2), 2);
    assert_int_equal(ms_batch_kind(target, 0), MS_ROW_INSERT);
    assert_int_equal(ms_batch_kind(target, 2), MS_ROW_DELETE);
    /* Appending rows without kinds behind those that have them. */
    changes->kinds = NULL;
    assert_int_equal(ms_batch_append(target, changes, 1, 1), 1);
    assert_int_equal(ms_batch_kind(target, 3), MS_ROW_INSERT);
    ms_batch_drop(changes);
    ms_batch_drop(target);
}

static void bytes_count_vectors_and_heaps(void **state)
{
    fixture *f = *state;
    ms_batch *batch = ms_batch_pool_take(f->pool);
    size_t empty = ms_batch_bytes(batch);
    assert_true(empty >= 8 * (8 + 16));
    put_row(batch, 1, "a text that goes to the heap of the batch");
    assert_true(ms_batch_bytes(batch) > empty);
    ms_batch frame;
    ms_batch_frame(&frame, batch, batch->columns, 2);
    assert_int_equal(ms_batch_bytes(&frame), 8 + 16);
    ms_batch_drop(batch);
}

/* Random trees of types, in random encodings, through own and append; the sources are gone when the
 * copies are looked at. */
static void check_rows(rnd *r, const ms_batch *copy, ms_value **values, uint32_t first,
                       uint32_t copy_first, uint32_t count, const uint16_t *sel,
                       const uint8_t *kinds)
{
    for (uint32_t k = 0; k < count; k++) {
        uint32_t row = sel != NULL ? sel[first + k] : first + k;
        ms_row_kind kind = kinds != NULL ? (ms_row_kind)kinds[row] : MS_ROW_INSERT;
        assert_int_equal(ms_batch_kind(copy, copy_first + k), kind);
        for (uint32_t c = 0; c < copy->column_count; c++) {
            ms_value got = ms_value_from_vec(r->values, &copy->columns[c], copy_first + k);
            assert_true(rnd_identical(&got, &values[c][row]));
        }
    }
}

static void one_random_schema(uint64_t seed)
{
    ms_arena values;
    ms_arena vectors;
    ms_arena_init(&values, 0);
    rnd r = {.values = &values, .vectors = &vectors};
    ms_env_random_init(&r.random, seed);
    ms_schema schema = rnd_schema(&r, 4, 3);
    uint32_t capacity = rnd_chance(&r, 20) ? 4096 : 300;
    ms_batch_pool *pool = ms_batch_pool_create(&schema, capacity, 2);
    ms_batch *sum = ms_batch_pool_take(pool);
    for (int round = 0; round < 4; round++) {
        ms_arena_init(&vectors, 0);
        uint32_t rows = rnd_below(&r, capacity == 4096 ? 3000 : 150);
        ms_batch frame;
        ms_value **expected;
        rnd_frame(&r, &frame, &schema, rows, &expected);
        uint32_t live = ms_batch_live(&frame);
        uint16_t *sel = ms_arena_array(&values, uint16_t, rows + 1);
        uint8_t *kinds = ms_arena_array(&values, uint8_t, rows + 1);
        for (uint32_t i = 0; i < rows; i++) {
            sel[i] = i < live ? (uint16_t)ms_batch_row(&frame, i) : 0;
            kinds[i] = (uint8_t)ms_batch_kind(&frame, i);
        }
        ms_batch *copy = ms_batch_own(&frame, pool);
        assert_non_null(copy);
        uint32_t at = sum->rows;
        uint32_t first = rnd_below(&r, live + 1);
        uint32_t count = rnd_below(&r, live - first + 1);
        uint32_t appended = ms_batch_append(sum, &frame, first, count);
        assert_int_equal(appended, count < capacity - at ? count : capacity - at);
        ms_arena_release(&vectors);
        assert_int_equal(copy->rows, live);
        check_rows(&r, copy, expected, 0, 0, live, sel, kinds);
        check_rows(&r, sum, expected, first, at, appended, sel, kinds);
        ms_batch_drop(copy);
        check_rows(&r, sum, expected, first, at, appended, sel, kinds);
    }
    ms_batch_drop(sum);
    ms_batch_pool_destroy(pool);
    ms_arena_release(&values);
}

static void random_batches_are_copied_value_by_value(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        one_random_schema(seed);
    }
}

static void steady_state_allocates_nothing(void **state)
{
    fixture *f = *state;
    uint64_t before = 0;
    for (int round = 0; round < 50; round++) {
        if (round == 10) {
            before = ms_mem_allocation_count();
        }
        ms_batch *source = ms_batch_pool_take(f->pool);
        for (int i = 0; i < 8; i++) {
            put_row(source, i, i == 3 ? NULL : "a text of which the heap is full after a while");
        }
        ms_batch_kinds(source)[2] = MS_ROW_DELETE;
        ms_batch frame;
        ms_batch_frame(&frame, source, source->columns, 2);
        ms_batch *copy = ms_batch_own(&frame, f->pool);
        assert_int_equal(copy->rows, 8);
        ms_batch_drop(source);
        ms_batch_drop(copy);
    }
    assert_int_equal(ms_mem_allocation_count() - before, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_fixture, free_fixture)
    const struct CMUnitTest tests[] = {
        TEST(a_taken_batch_is_empty_and_unique),
        TEST(own_shares_a_pooled_batch),
        TEST(own_copies_a_narrowing_selection_densely),
        TEST(own_shares_a_selection_of_all_rows),
        TEST(own_returns_null_when_the_pool_is_empty),
        TEST(append_stops_at_the_capacity),
        TEST(kinds_are_inserts_until_written),
        TEST(bytes_count_vectors_and_heaps),
        cmocka_unit_test(random_batches_are_copied_value_by_value),
        TEST(steady_state_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
