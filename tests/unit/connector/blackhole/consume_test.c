/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The blackhole reads every live value: changing any one changes the checksum, changing what is not
 * live does not.
 */
#include "testing.h"

#include "connector/blackhole/consume.h"
#include "type/value.h"

typedef struct fixture {
    ms_arena arena;
    ms_vec columns[5];
    ms_batch batch;
} fixture;

/* TINYINT, BIGINT, STRING, DECIMAL(38, 0) and ROW<INT, STRING> of ten rows. */
static int setup(void **state)
{
    fixture *f = calloc(1, sizeof(*f));
    ms_arena_init(&f->arena, 0);
    ms_field fields[2] = {{ms_str_lit("i"), ms_type_simple(&f->arena, MS_TYPE_INT, true)},
                          {ms_str_lit("s"), ms_type_string(&f->arena, true)}};
    const ms_type *types[5] = {
        ms_type_simple(&f->arena, MS_TYPE_TINYINT, true),
        ms_type_simple(&f->arena, MS_TYPE_BIGINT, true), ms_type_string(&f->arena, true),
        ms_type_decimal(&f->arena, 38, 0, true), ms_type_row(&f->arena, fields, 2, true)};
    for (int c = 0; c < 5; c++) {
        ms_vec_alloc(&f->columns[c], types[c], 64, &f->arena);
        if (types[c]->phys != MS_PHYS_ROW) {
            memset(f->columns[c].data, 0, 64 * ms_phys_bytes(types[c]->phys));
        }
    }
    memset(f->columns[4].children[0].data, 0, 64 * 4);
    memset(f->columns[4].children[1].data, 0, 64 * 16);
    f->batch = (ms_batch){.rows = 10, .columns = f->columns, .column_count = 5};
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    ms_arena_release(&f->arena);
    free(f);
    return 0;
}

static ms_vec *column(fixture *f, int c)
{
    return c < 4 ? &f->columns[c] : &f->columns[4].children[c - 4];
}

/* Flips a bit of a value; every bit must count. */
static bool counts(fixture *f, int c, uint32_t row, uint32_t bit)
{
    ms_vec *vec = column(f, c);
    char *value = (char *)vec->data + row * ms_phys_bytes(vec->phys);
    uint64_t before = msi_blackhole_consume(&f->batch);
    value[bit / 8] ^= (char)(1 << bit % 8);
    uint64_t after = msi_blackhole_consume(&f->batch);
    value[bit / 8] ^= (char)(1 << bit % 8);
    return before != after;
}

static void every_bit_of_every_live_value_counts(void **state)
{
    fixture *f = *state;
    static const uint16_t sel[] = {1, 4, 9};
    for (int sparse = 0; sparse < 2; sparse++) {
        f->batch.sel = sparse ? sel : NULL;
        f->batch.sel_count = 3;
        for (int c = 0; c < 6; c++) {
            uint32_t bits = 8 * (uint32_t)ms_phys_bytes(column(f, c)->phys);
            for (uint32_t row = 0; row < 12; row++) {
                bool live = sparse ? row == 1 || row == 4 || row == 9 : row < 10;
                assert_int_equal(counts(f, c, row, 0), live);
                assert_int_equal(counts(f, c, row, bits - 1), live);
            }
        }
    }
}

static void validity_and_kinds_count(void **state)
{
    fixture *f = *state;
    static uint8_t kinds[10];
    static const uint16_t sel[] = {1, 4};
    uint64_t before = msi_blackhole_consume(&f->batch);
    f->batch.kinds = kinds;
    kinds[4] = MS_ROW_DELETE;
    assert_true(msi_blackhole_consume(&f->batch) != before);
    kinds[4] = 0;
    ms_vec_validity(&f->columns[1]);
    for (int sparse = 0; sparse < 2; sparse++) {
        f->batch.sel = sparse ? sel : NULL;
        f->batch.sel_count = 2;
        before = msi_blackhole_consume(&f->batch);
        ms_bit_clear(f->columns[1].valid, 4);
        assert_true(msi_blackhole_consume(&f->batch) != before);
        ms_bit_set(f->columns[1].valid, 4);
    }
}

static void constant_and_indexed_vectors_are_read_where_their_values_are(void **state)
{
    fixture *f = *state;
    static const uint16_t index[] = {3, 3, 3, 5, 5, 5, 5, 5, 5, 5};
    f->columns[1].encoding = MS_ENC_INDEX;
    f->columns[1].index = index;
    /* An odd number of rows refers to position 3 and to position 5. */
    assert_true(counts(f, 1, 3, 7));
    assert_true(counts(f, 1, 5, 7));
    assert_false(counts(f, 1, 4, 7));
    f->columns[4].encoding = MS_ENC_INDEX;
    f->columns[4].index = index;
    assert_true(counts(f, 5, 3, 7));
    assert_false(counts(f, 5, 0, 7));
    f->columns[1].encoding = MS_ENC_CONST;
    f->batch.rows = 9;
    assert_true(counts(f, 1, 0, 7));
    assert_false(counts(f, 1, 1, 7));
}

static void elements_of_lists_count(void **state)
{
    fixture *f = *state;
    ms_vec list;
    const ms_type *type =
        ms_type_array(&f->arena, ms_type_simple(&f->arena, MS_TYPE_INT, true), true);
    ms_vec_alloc(&list, type, 4, &f->arena);
    ms_value items[3];
    for (int i = 0; i < 3; i++) {
        items[i] = ms_value_int(type->children[0], i);
    }
    ms_value value = {.type = type, .item_count = 3, .u.items = items};
    ms_value_to_vec(&f->arena, &value, &list, 0, 4);
    f->batch = (ms_batch){.rows = 1, .columns = &list, .column_count = 1};
    uint64_t before = msi_blackhole_consume(&f->batch);
    MS_VEC_DATA(&list.children[0], int32_t)[2] ^= 64;
    assert_true(msi_blackhole_consume(&f->batch) != before);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_bit_of_every_live_value_counts),
        TEST(validity_and_kinds_count),
        TEST(constant_and_indexed_vectors_are_read_where_their_values_are),
        TEST(elements_of_lists_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
