/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The aggregate functions over batches: types, NULLs, filters, giving back, overflow, state.
 */
#include "testing.h"

#include "exec/agg.h"
#include "type/text.h"

#include <math.h>

typedef struct fixture {
    ms_arena arena;
    ms_agg_call call;
    msi_agg agg;
    msi_agg_acc acc;
    msi_agg_scratch scratch;
    ms_vec columns[2];
    ms_batch batch;
    ms_vec result;
    ms_field fields[2];
    ms_schema schema;
    ms_status st;
} fixture;

/* An aggregate over a column of this type; column 1 is a BOOLEAN filter. */
static ms_rc prepare(fixture *f, ms_agg_kind kind, const ms_type *type, const ms_type *result,
                     bool overflow_is_error)
{
    f->fields[0] = (ms_field){ms_str_lit("a"), type};
    f->fields[1] = (ms_field){ms_str_lit("f"), ms_type_simple(&f->arena, MS_TYPE_BOOLEAN, true)};
    f->schema = (ms_schema){2, f->fields};
    f->call = (ms_agg_call){.kind = kind,
                            .arg = kind == MS_AGG_COUNT_STAR ? UINT32_MAX : 0,
                            .filter = UINT32_MAX,
                            .result = result,
                            .span = {3, 9}};
    ms_vec_alloc(&f->columns[0], type, MS_BATCH_ROWS_MAX, &f->arena);
    ms_vec_alloc(&f->columns[1], f->fields[1].type, MS_BATCH_ROWS_MAX, &f->arena);
    ms_vec_alloc(&f->result, result, 1, &f->arena);
    f->batch = (ms_batch){.columns = f->columns, .column_count = 2};
    f->acc = (msi_agg_acc){0};
    return msi_agg_init(&f->agg, &f->call, &f->schema, overflow_is_error, &f->arena, &f->st);
}

static const ms_type *simple(fixture *f, ms_type_kind kind)
{
    return ms_type_simple(&f->arena, kind, true);
}

static void put(fixture *f, ms_value value)
{
    value.type = f->fields[0].type;
    ms_value_to_vec(&f->arena, &value, &f->columns[0], f->batch.rows, MS_BATCH_ROWS_MAX);
    f->batch.rows++;
}

static void put_int(fixture *f, int64_t i)
{
    put(f, (ms_value){.u.i = i});
}

static void put_double(fixture *f, double d)
{
    put(f, (ms_value){.u.f = d});
}

static void put_null(fixture *f)
{
    put(f, (ms_value){.is_null = true});
}

static ms_rc update(fixture *f, uint32_t first, uint32_t end, bool retracts)
{
    const msi_agg_rows rows = {&f->batch, first, end};
    return msi_agg_update(&f->agg, &f->acc, &rows, retracts, &f->scratch, &f->st);
}

static ms_rc update_all(fixture *f)
{
    return update(f, 0, ms_batch_live(&f->batch), false);
}

/* The result as the print connector writes it. */
static void expect(fixture *f, const char *text)
{
    ms_buf out;
    ms_buf_init(&out, 1000);
    msi_agg_result(&f->agg, &f->acc, &f->result, 0);
    assert_int_equal(ms_text_vec(&out, &f->result, 0, MS_TEXT_PRINT, ms_zone_utc(), &f->st), MS_OK);
    assert_int_equal(ms_buf_append_byte(&out, '\0', &f->st), MS_OK);
    assert_string_equal(out.ptr, text);
    ms_buf_release(&out);
}

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof(*f));
    ms_arena_init(&f->arena, 0);
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

static void without_values_counts_are_zero_and_the_others_null(void **state)
{
    fixture *f = *state;
    const ms_type *type = simple(f, MS_TYPE_INT);
    const ms_type *bigint = simple(f, MS_TYPE_BIGINT);
    static const ms_agg_kind kinds[] = {MS_AGG_SUM, MS_AGG_MIN, MS_AGG_MAX, MS_AGG_AVG};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(prepare(f, kinds[i], type, type, false), MS_OK);
        expect(f, "null");
        put_null(f);
        assert_int_equal(update_all(f), MS_OK);
        expect(f, "null");
    }
    assert_int_equal(prepare(f, MS_AGG_COUNT, type, bigint, false), MS_OK);
    put_null(f);
    assert_int_equal(update_all(f), MS_OK);
    expect(f, "0");
    assert_int_equal(prepare(f, MS_AGG_COUNT_STAR, type, bigint, false), MS_OK);
    put_null(f);
    assert_int_equal(update_all(f), MS_OK);
    expect(f, "1");
}

static void nulls_and_rows_that_are_not_live_are_skipped(void **state)
{
    fixture *f = *state;
    const ms_type *type = simple(f, MS_TYPE_INT);
    static const uint16_t sel[] = {0, 1, 3};
    assert_int_equal(prepare(f, MS_AGG_SUM, type, type, false), MS_OK);
    put_int(f, 1);
    put_null(f);
    put_int(f, 100);
    put_int(f, 5);
    f->batch.sel = sel;
    f->batch.sel_count = 3;
    assert_int_equal(update_all(f), MS_OK);
    expect(f, "6");
    assert_int_equal(f->acc.count, 2);
}

static void a_filter_takes_only_true(void **state)
{
    fixture *f = *state;
    const ms_type *type = simple(f, MS_TYPE_INT);
    assert_int_equal(prepare(f, MS_AGG_SUM, type, type, false), MS_OK);
    f->call.filter = 1;
    uint8_t *flags = MS_VEC_DATA(&f->columns[1], uint8_t);
    for (int i = 0; i < 6; i++) {
        put_int(f, 1 << i);
        flags[i] = i % 2 == 0;
    }
    ms_bit_clear(ms_vec_validity(&f->columns[1]), 4);
    assert_int_equal(update_all(f), MS_OK);
    expect(f, "5");
    f->call.kind = MS_AGG_COUNT_STAR;
}

static void constant_and_indexed_vectors_count_each_row(void **state)
{
    fixture *f = *state;
    const ms_type *type = simple(f, MS_TYPE_INT);
    static const uint16_t index[] = {1, 1, 0};
    assert_int_equal(prepare(f, MS_AGG_SUM, type, type, false), MS_OK);
    put_int(f, 3);
    put_int(f, 40);
    f->batch.rows = 3;
    f->columns[0].encoding = MS_ENC_CONST;
    assert_int_equal(update_all(f), MS_OK);
    expect(f, "9");
    f->columns[0].encoding = MS_ENC_INDEX;
    f->columns[0].index = index;
    assert_int_equal(update(f, 1, 3, false), MS_OK);
    expect(f, "52");
}

static void sums_of_integers_wrap_in_their_own_type(void **state)
{
    fixture *f = *state;
    static const struct {
        ms_type_kind kind;
        int64_t max;
        const char *wrapped;
    } cases[] = {{MS_TYPE_TINYINT, INT8_MAX, "-128"},
                 {MS_TYPE_SMALLINT, INT16_MAX, "-32768"},
                 {MS_TYPE_INT, INT32_MAX, "-2147483648"},
                 {MS_TYPE_BIGINT, INT64_MAX, "-9223372036854775808"}};
    for (int i = 0; i < 4; i++) {
        const ms_type *type = simple(f, cases[i].kind);
        assert_int_equal(prepare(f, MS_AGG_SUM, type, type, false), MS_OK);
        put_int(f, cases[i].max);
        put_int(f, 1);
        assert_int_equal(update_all(f), MS_OK);
        expect(f, cases[i].wrapped);

        assert_int_equal(prepare(f, MS_AGG_SUM, type, type, true), MS_OK);
        put_int(f, cases[i].max);
        put_int(f, 1);
        assert_int_equal(update(f, 0, 1, false), MS_OK);
        assert_int_equal(update(f, 1, 2, false), MS_NUMERIC_OUT_OF_RANGE);
        assert_string_equal(f->st.message, "aggregate SUM: the sum does not fit its type");
        assert_int_equal(f->st.span.start, 3);
        ms_status_clear(&f->st);
    }
}

static void averages_of_integers_are_truncated_in_their_own_type(void **state)
{
    fixture *f = *state;
    const ms_type *type = simple(f, MS_TYPE_INT);
    assert_int_equal(prepare(f, MS_AGG_AVG, type, type, true), MS_OK);
    put_int(f, INT32_MAX);
    put_int(f, INT32_MAX);
    assert_int_equal(update_all(f), MS_OK);
    expect(f, "2147483647");
    assert_int_equal(prepare(f, MS_AGG_AVG, type, type, true), MS_OK);
    put_int(f, -7);
    put_int(f, 0);
    assert_int_equal(update_all(f), MS_OK);
    expect(f, "-3");
}

static void floats_keep_their_own_precision(void **state)
{
    fixture *f = *state;
    const ms_type *type = simple(f, MS_TYPE_FLOAT);
    assert_int_equal(prepare(f, MS_AGG_SUM, type, type, false), MS_OK);
    put_double(f, 16777216.0);
    put_double(f, 1.0);
    assert_int_equal(update_all(f), MS_OK);
    expect(f, "1.6777216E7");
    assert_int_equal(prepare(f, MS_AGG_AVG, type, type, false), MS_OK);
    put_double(f, 16777216.0);
    put_double(f, 2.0);
    put_double(f, 3.0);
    assert_int_equal(update_all(f), MS_OK);
    expect(f, "5592407.0");
    type = simple(f, MS_TYPE_DOUBLE);
    assert_int_equal(prepare(f, MS_AGG_SUM, type, type, false), MS_OK);
    put_double(f, -0.0);
    assert_int_equal(update_all(f), MS_OK);
    expect(f, "-0.0");
    put_double(f, NAN);
    assert_int_equal(update_all(f), MS_OK);
    expect(f, "NaN");
}

static void decimals_sum_to_38_digits_and_then_to_null(void **state)
{
    fixture *f = *state;
    const ms_type *narrow = ms_type_decimal(&f->arena, 18, 2, true);
    const ms_type *wide = ms_type_decimal(&f->arena, 38, 2, true);
    const ms_type *average = ms_type_decimal(&f->arena, 38, 6, true);
    assert_int_equal(prepare(f, MS_AGG_SUM, narrow, wide, true), MS_OK);
    for (int i = 0; i < 20; i++) {
        put_int(f, 999999999999999999);
    }
    assert_int_equal(update_all(f), MS_OK);
    expect(f, "199999999999999999.80");
    assert_int_equal(prepare(f, MS_AGG_AVG, narrow, average, true), MS_OK);
    put_int(f, 100);
    put_int(f, 100);
    put_int(f, 101);
    assert_int_equal(update_all(f), MS_OK);
    expect(f, "1.003333");

    ms_i128 most = 1;
    for (int i = 0; i < 38; i++) {
        most *= 10;
    }
    assert_int_equal(prepare(f, MS_AGG_SUM, wide, wide, false), MS_OK);
    put(f, (ms_value){.u.dec = most - 1});
    put(f, (ms_value){.u.dec = 1});
    put(f, (ms_value){.u.dec = -1});
    assert_int_equal(update(f, 0, 2, false), MS_OK);
    expect(f, "null");
    /* The sum is exact beyond its digits, so that it may come back. */
    assert_int_equal(update(f, 2, 3, false), MS_OK);
    expect(f, "999999999999999999999999999999999999.99");
    assert_int_equal(update(f, 0, 1, false), MS_OK);
    expect(f, "null");
    assert_int_equal(prepare(f, MS_AGG_SUM, wide, wide, true), MS_OK);
    put(f, (ms_value){.u.dec = most - 1});
    put(f, (ms_value){.u.dec = 1});
    assert_int_equal(update_all(f), MS_NUMERIC_OUT_OF_RANGE);
    ms_status_clear(&f->st);
}

static void rows_are_given_back(void **state)
{
    fixture *f = *state;
    static const ms_agg_kind kinds[] = {MS_AGG_COUNT, MS_AGG_SUM, MS_AGG_AVG};
    static const char *const all[] = {"3", "60", "20"};
    static const char *const some[] = {"1", "30", "30"};
    static const char *const none[] = {"0", "null", "null"};
    static const ms_type_kind types[] = {MS_TYPE_TINYINT, MS_TYPE_SMALLINT, MS_TYPE_INT,
                                         MS_TYPE_BIGINT};
    for (int k = 0; k < 3; k++) {
        for (int t = 0; t < 4; t++) {
            const ms_type *type = simple(f, types[t]);
            const ms_type *result = k == 0 ? simple(f, MS_TYPE_BIGINT) : type;
            assert_int_equal(prepare(f, kinds[k], type, result, true), MS_OK);
            assert_true(msi_agg_can_retract(&f->agg));
            put_int(f, 10);
            put_int(f, 20);
            put_int(f, 30);
            assert_int_equal(update_all(f), MS_OK);
            expect(f, all[k]);
            assert_int_equal(update(f, 0, 2, true), MS_OK);
            expect(f, some[k]);
            assert_int_equal(update(f, 2, 3, true), MS_OK);
            expect(f, none[k]);
        }
    }
    const ms_type *type = simple(f, MS_TYPE_DOUBLE);
    assert_int_equal(prepare(f, MS_AGG_AVG, type, type, false), MS_OK);
    put_double(f, 1.5);
    put_double(f, 2.5);
    assert_int_equal(update_all(f), MS_OK);
    assert_int_equal(update(f, 0, 1, true), MS_OK);
    expect(f, "2.5");
    assert_int_equal(prepare(f, MS_AGG_MIN, type, type, false), MS_OK);
    assert_false(msi_agg_can_retract(&f->agg));
}

static void the_best_value_is_found_for_every_type(void **state)
{
    fixture *f = *state;
    static const ms_type_kind kinds[] = {MS_TYPE_TINYINT, MS_TYPE_SMALLINT, MS_TYPE_INT,
                                         MS_TYPE_BIGINT, MS_TYPE_DATE};
    for (int i = 0; i < 5; i++) {
        const ms_type *type = simple(f, kinds[i]);
        for (int max = 0; max < 2; max++) {
            assert_int_equal(prepare(f, max ? MS_AGG_MAX : MS_AGG_MIN, type, type, false), MS_OK);
            put_null(f);
            put_int(f, 0);
            put_int(f, -5);
            put_int(f, 6);
            assert_int_equal(update(f, 0, 2, false), MS_OK);
            assert_int_equal(update(f, 2, 4, false), MS_OK);
            expect(f, kinds[i] == MS_TYPE_DATE ? (max ? "1970-01-07" : "1969-12-27")
                                               : (max ? "6" : "-5"));
        }
    }
    const ms_type *boolean = simple(f, MS_TYPE_BOOLEAN);
    assert_int_equal(prepare(f, MS_AGG_MAX, boolean, boolean, false), MS_OK);
    put_int(f, 0);
    put_int(f, 1);
    assert_int_equal(update_all(f), MS_OK);
    expect(f, "true");
    const ms_type *nano = ms_type_temporal(&f->arena, MS_TYPE_TIMESTAMP, 9, true);
    assert_int_equal(prepare(f, MS_AGG_MAX, nano, nano, false), MS_OK);
    put(f, (ms_value){.u.ts = {1000, 5}});
    put(f, (ms_value){.u.ts = {1000, 7}});
    assert_int_equal(update_all(f), MS_OK);
    expect(f, "1970-01-01T00:00:01.000000007");
    const ms_type *decimal = ms_type_decimal(&f->arena, 30, 1, true);
    assert_int_equal(prepare(f, MS_AGG_MIN, decimal, decimal, false), MS_OK);
    put(f, (ms_value){.u.dec = -15});
    put(f, (ms_value){.u.dec = 15});
    assert_int_equal(update_all(f), MS_OK);
    expect(f, "-1.5");
}

static void a_best_string_can_be_kept(void **state)
{
    fixture *f = *state;
    const ms_type *type = ms_type_string(&f->arena, true);
    char text[] = "a text of more than twelve";
    ms_buf store;
    ms_buf_init(&store, 1000);
    assert_int_equal(prepare(f, MS_AGG_MIN, type, type, false), MS_OK);
    put(f, (ms_value){.u.str = ms_str_cstr(text)});
    put(f, (ms_value){.u.str = ms_str_lit("z")});
    assert_int_equal(update_all(f), MS_OK);
    assert_true(msi_agg_borrows(&f->agg, &f->acc, &store));
    assert_int_equal(msi_agg_keep(&f->agg, &f->acc, &store, &f->st), MS_OK);
    assert_false(msi_agg_borrows(&f->agg, &f->acc, &store));
    memset(text, '!', sizeof(text));
    expect(f, "a text of more than twelve");
    ms_buf_release(&store);
}

static void what_has_no_order_or_sum_is_refused_with_its_place(void **state)
{
    fixture *f = *state;
    const ms_type *array = ms_type_array(&f->arena, simple(f, MS_TYPE_INT), true);
    const ms_type *text = ms_type_string(&f->arena, true);
    assert_int_equal(prepare(f, MS_AGG_MIN, array, array, false), MS_NOT_SUPPORTED);
    assert_string_equal(f->st.message, "aggregate MIN over ARRAY<INT> is not supported");
    assert_int_equal(f->st.span.end, 9);
    ms_status_clear(&f->st);
    assert_int_equal(prepare(f, MS_AGG_SUM, text, text, false), MS_NOT_SUPPORTED);
    ms_status_clear(&f->st);
    const ms_type *date = simple(f, MS_TYPE_DATE);
    assert_int_equal(prepare(f, MS_AGG_SUM, date, date, false), MS_NOT_SUPPORTED);
    ms_status_clear(&f->st);
}

static void an_accumulator_survives_as_values(void **state)
{
    fixture *f = *state;
    const ms_type *wide = ms_type_decimal(&f->arena, 38, 2, true);
    ms_field fields[2];
    ms_value values[2];
    msi_agg_acc copy;
    assert_int_equal(prepare(f, MS_AGG_AVG, simple(f, MS_TYPE_INT), simple(f, MS_TYPE_INT), false),
                     MS_OK);
    assert_int_equal(msi_agg_state_fields(&f->agg, 0, fields, &f->arena), 2);
    assert_str_equal(fields[1].name, "value0");
    assert_int_equal(fields[1].type->kind, MS_TYPE_BIGINT);
    put_int(f, 5);
    put_int(f, 8);
    assert_int_equal(update_all(f), MS_OK);
    msi_agg_save(&f->agg, &f->acc, fields, values);
    msi_agg_load(&f->agg, &copy, values);
    f->acc = copy;
    expect(f, "6");

    /* A sum that was lost stays lost. */
    assert_int_equal(prepare(f, MS_AGG_SUM, wide, wide, false), MS_OK);
    ms_i128 huge = 1;
    for (int i = 0; i < 38; i++) {
        huge *= 10;
    }
    put(f, (ms_value){.u.dec = huge - 1});
    assert_int_equal(update_all(f), MS_OK);
    assert_int_equal(update_all(f), MS_OK);
    assert_int_equal(msi_agg_state_fields(&f->agg, 7, fields, &f->arena), 2);
    msi_agg_save(&f->agg, &f->acc, fields, values);
    msi_agg_load(&f->agg, &f->acc, values);
    expect(f, "null");
    assert_int_equal(f->acc.count, 2);

    assert_int_equal(prepare(f, MS_AGG_COUNT_STAR, wide, simple(f, MS_TYPE_BIGINT), false), MS_OK);
    assert_int_equal(msi_agg_state_fields(&f->agg, 0, fields, &f->arena), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(without_values_counts_are_zero_and_the_others_null),
        TEST(nulls_and_rows_that_are_not_live_are_skipped),
        TEST(a_filter_takes_only_true),
        TEST(constant_and_indexed_vectors_count_each_row),
        TEST(sums_of_integers_wrap_in_their_own_type),
        TEST(averages_of_integers_are_truncated_in_their_own_type),
        TEST(floats_keep_their_own_precision),
        TEST(decimals_sum_to_38_digits_and_then_to_null),
        TEST(rows_are_given_back),
        TEST(the_best_value_is_found_for_every_type),
        TEST(a_best_string_can_be_kept),
        TEST(what_has_no_order_or_sum_is_refused_with_its_place),
        TEST(an_accumulator_survives_as_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
