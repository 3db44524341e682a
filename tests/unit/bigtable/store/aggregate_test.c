/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Aggregate cells: what sums, minima and maxima become by adding and merging, in buckets by
 * timestamp, together with deletes, within one entry, one batch and over several.
 */
#include "store_testing.h"

#include "bigtable/model/hll.h"
#include "bigtable/store/aggregate.h"

typedef struct adder {
    fixture f;
    ms_bt_mutation_batch batch;
    uint16_t sum;
    uint16_t min;
    uint16_t max;
    uint16_t raw;
    uint16_t hll;
} adder;

static uint16_t family(adder *a, const char *name)
{
    ms_status st = {0};
    uint16_t index = 0;
    assert_ok(ms_bt_mutation_batch_family(&a->batch, ms_str_cstr(name), &index, &st));
    return index;
}

static int setup(void **state)
{
    adder *a = calloc(1, sizeof(*a));
    fixture_init(&a->f, MS_BT_SYNC_OS);
    ms_bt_family families[] = {{.name = ms_str_lit("hll"), .type = MS_BT_VALUE_INT64_HLL},
                               {.name = ms_str_lit("max"), .type = MS_BT_VALUE_INT64_MAX},
                               {.name = ms_str_lit("min"), .type = MS_BT_VALUE_INT64_MIN},
                               {.name = ms_str_lit("raw")},
                               {.name = ms_str_lit("sum"), .type = MS_BT_VALUE_INT64_SUM}};
    create_table_of(&a->f, families, 5, 0);
    ms_bt_mutation_batch_init(&a->batch, 64u << 20);
    a->sum = family(a, "sum");
    a->min = family(a, "min");
    a->max = family(a, "max");
    a->raw = family(a, "raw");
    a->hll = family(a, "hll");
    *state = a;
    return 0;
}

static int teardown(void **state)
{
    adder *a = *state;
    ms_bt_mutation_batch_release(&a->batch);
    fixture_release(&a->f);
    free(a);
    return 0;
}

static void begin(adder *a, const char *key)
{
    ms_status st = {0};
    assert_ok(ms_bt_mutation_batch_begin_row(&a->batch, ms_str_cstr(key), &st));
}

static void end(adder *a)
{
    ms_bt_mutation_batch_end_row(&a->batch);
}

static void add(adder *a, uint16_t index, int64_t micros, int64_t input)
{
    ms_status st = {0};
    assert_ok(
        ms_bt_mutation_batch_add_to_cell(&a->batch, index, ms_str_lit("q"), micros, input, &st));
}

static void merge(adder *a, uint16_t index, int64_t micros, ms_str state)
{
    ms_status st = {0};
    assert_ok(
        ms_bt_mutation_batch_merge_to_cell(&a->batch, index, ms_str_lit("q"), micros, state, &st));
}

static void del_row(adder *a)
{
    ms_status st = {0};
    assert_ok(ms_bt_mutation_batch_delete_row(&a->batch, &st));
}

static void write_all(adder *a)
{
    ms_bt_status bt = write_batch(&a->f, &a->batch);
    assert_bt(&bt, MS_BT_OK);
    ms_bt_mutation_batch_reset(&a->batch);
}

#define NUMBER(last) "\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x" last
#define MINUS(last) "\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x" last

static void cells_combine_by_the_type_of_their_family(void **state)
{
    adder *a = *state;
    for (int round = 0; round < 2; round++) {
        begin(a, "r");
        add(a, a->sum, 0, 3);
        add(a, a->sum, 0, -1);
        add(a, a->min, 0, 3);
        add(a, a->min, 0, -1);
        add(a, a->max, 0, -1);
        add(a, a->max, 0, 3);
        end(a);
        write_all(a);
    }
    assert_rows(&a->f,
                "r{max:q@0=" NUMBER("03") ",min:q@0=" MINUS("ff") ",sum:q@0=" NUMBER("04") "}");
}

static void sums_wrap(void **state)
{
    adder *a = *state;
    begin(a, "r");
    add(a, a->sum, 0, INT64_MAX);
    add(a, a->sum, 0, 1);
    end(a);
    write_all(a);
    assert_rows(&a->f, "r{sum:q@0=\\x80\\x00\\x00\\x00\\x00\\x00\\x00\\x00}");
}

static void timestamps_are_buckets(void **state)
{
    adder *a = *state;
    begin(a, "r");
    add(a, a->sum, 1000, 1);
    add(a, a->sum, 2000, 2);
    add(a, a->sum, 1000, 1);
    end(a);
    write_all(a);
    assert_rows(&a->f, "r{sum:q@2000=" NUMBER("02") ",sum:q@1000=" NUMBER("02") "}");
}

static void states_merge_and_null_does_nothing(void **state)
{
    adder *a = *state;
    begin(a, "r");
    merge(a, a->sum, 0, ms_str_lit("\0\0\0\0\0\0\0\4"));
    merge(a, a->sum, 0, ms_str_lit(""));
    merge(a, a->min, 0, ms_str_lit(""));
    add(a, a->sum, 0, 1);
    end(a);
    write_all(a);
    assert_rows(&a->f, "r{sum:q@0=" NUMBER("05") "}");
}

static void entries_of_a_batch_share_their_cells(void **state)
{
    adder *a = *state;
    for (int i = 0; i < 40000; i++) {
        begin(a, i % 2 == 0 ? "r" : "s");
        add(a, a->sum, 0, 1);
        end(a);
    }
    write_all(a);
    assert_rows(&a->f, "r{sum:q@0=\\x00\\x00\\x00\\x00\\x00\\x00N }s{sum:q@0="
                       "\\x00\\x00\\x00\\x00\\x00\\x00N }");
}

static void deletes_and_additions_apply_in_their_order(void **state)
{
    adder *a = *state;
    begin(a, "r");
    add(a, a->sum, 0, 5);
    end(a);
    write_all(a);
    /* Within one entry: what is stored does not come back, what is added before goes too. */
    begin(a, "r");
    add(a, a->sum, 0, 7);
    del_row(a);
    add(a, a->sum, 0, 1);
    add(a, a->sum, 0, 2);
    end(a);
    write_all(a);
    assert_rows(&a->f, "r{sum:q@0=" NUMBER("03") "}");
    /* The first mutation of the entry that looks at the cell comes behind the delete. */
    begin(a, "r");
    del_row(a);
    add(a, a->sum, 0, 1);
    end(a);
    write_all(a);
    assert_rows(&a->f, "r{sum:q@0=" NUMBER("01") "}");
    /* Between entries of one batch. */
    begin(a, "r");
    add(a, a->sum, 0, 1);
    end(a);
    begin(a, "r");
    del_row(a);
    end(a);
    begin(a, "r");
    add(a, a->sum, 0, 9);
    end(a);
    begin(a, "s");
    add(a, a->sum, 0, 1);
    del_row(a);
    end(a);
    write_all(a);
    assert_rows(&a->f, "r{sum:q@0=" NUMBER("09") "}");
}

static void deletes_spare_what_they_do_not_cover(void **state)
{
    adder *a = *state;
    ms_status st = {0};
    begin(a, "r");
    add(a, a->sum, 1000, 1);
    add(a, a->sum, 2000, 2);
    assert_ok(
        ms_bt_mutation_batch_delete_column(&a->batch, a->sum, ms_str_lit("q"), 1000, 2000, &st));
    add(a, a->sum, 2000, 1);
    end(a);
    write_all(a);
    assert_rows(&a->f, "r{sum:q@2000=" NUMBER("03") "}");
}

static void wrong_family_is_refused_whole(void **state)
{
    adder *a = *state;
    begin(a, "good");
    add(a, a->sum, 0, 1);
    end(a);
    begin(a, "bad");
    add(a, a->sum, 0, 1);
    add(a, a->raw, 0, 1);
    end(a);
    ms_bt_status bt = write_batch(&a->f, &a->batch);
    assert_int_equal(bt.code, MS_BT_INVALID_ARGUMENT);
    assert_string_equal(bt.text,
                        "Error in Mutation list : Error in element #1 : AddToCell needs an "
                        "aggregate family, which 'raw' is not");
    bt = set_cell(&a->f, "r", "sum", "q", 0, "12345678");
    assert_int_equal(bt.code, MS_BT_INVALID_ARGUMENT);
    assert_string_equal(bt.text, "Error in Mutation list : Error in element #0 : SetCell cannot "
                                 "write to the aggregate family 'sum'");
    assert_rows(&a->f, "");
}

/* Reads the state of the first cell of a row; the caller frees it. */
static ms_buf read_state(adder *a, const char *key)
{
    ms_status st = {0};
    ms_str row = ms_str_cstr(key);
    ms_bt_read_options options = {.table = a->f.table, .rows = {.keys = &row, .key_count = 1}};
    ms_bt_read *read =
        ms_bt_client_read_rows(a->f.client, &options, &a->f.mailbox, wake_nothing, NULL);
    const ms_bt_page *page = NULL;
    assert_int_equal(ms_bt_read_wait(read, &a->f.parker, &page), MS_BT_POLL_PAGE);
    ms_buf state;
    ms_buf_init(&state, 1u << 20);
    assert_ok(ms_buf_append(&state, ms_bt_page_value(page, &page->cells[0]), &st));
    ms_bt_read_return(read, page);
    assert_true(ms_bt_read_close(read, NULL, NULL));
    return state;
}

static int64_t estimate(adder *a, const char *key)
{
    ms_buf state = read_state(a, key);
    ms_bt_hll hll;
    ms_bt_status bt = {0};
    assert_int_equal(ms_bt_hll_init(&hll, ms_buf_view(&state), &bt), MS_BT_OK);
    int64_t count = ms_bt_hll_estimate(&hll);
    ms_bt_hll_release(&hll);
    ms_buf_release(&state);
    return count;
}

static void distinct_values_are_counted(void **state)
{
    adder *a = *state;
    for (int i = 0; i < 6000; i++) {
        begin(a, "r");
        add(a, a->hll, 0, i % 2000);
        end(a);
    }
    write_all(a);
    assert_in_range(estimate(a, "r"), 1900, 2100);
    /* On what is stored, and by merging what another row counted. */
    begin(a, "r");
    add(a, a->hll, 0, 1);
    add(a, a->hll, 0, 5000);
    end(a);
    for (int i = 1000; i < 3000; i++) {
        begin(a, "s");
        add(a, a->hll, 0, i);
        end(a);
    }
    write_all(a);
    ms_buf other = read_state(a, "s");
    begin(a, "r");
    merge(a, a->hll, 0, ms_buf_view(&other));
    merge(a, a->hll, 0, ms_str_lit(""));
    end(a);
    begin(a, "t");
    merge(a, a->hll, 0, ms_buf_view(&other));
    end(a);
    write_all(a);
    assert_in_range(estimate(a, "r"), 2850, 3150);
    assert_in_range(estimate(a, "t"), 1900, 2100);
    ms_buf_release(&other);
    /* A delete before an addition, and behind one. */
    begin(a, "r");
    add(a, a->hll, 0, 1);
    del_row(a);
    add(a, a->hll, 0, 7);
    add(a, a->hll, 0, 8);
    end(a);
    write_all(a);
    assert_int_equal(estimate(a, "r"), 2);
}

static void wrong_sketches_are_refused(void **state)
{
    adder *a = *state;
    begin(a, "r");
    merge(a, a->hll, 0, ms_str_lit("no sketch"));
    end(a);
    ms_bt_status bt = write_batch(&a->f, &a->batch);
    assert_int_equal(bt.code, MS_BT_INVALID_ARGUMENT);
    assert_non_null(strstr(bt.text, "Error in element #0 : No state of family 'hll' : "));
    /* AggregatorState{type 112, version 2, value type int64, precision 15, sparse precision 25}. */
    ms_bt_mutation_batch_reset(&a->batch);
    begin(a, "r");
    merge(a, a->hll, 0,
          ms_str_lit("\x08\x70\x10\x00\x18\x02\x20\x03\x82\x07\x06\x10\x00\x18\x0f\x20\x19"));
    end(a);
    bt = write_batch(&a->f, &a->batch);
    assert_int_equal(bt.code, MS_BT_INVALID_ARGUMENT);
    ms_bt_mutation_batch_reset(&a->batch);
    assert_rows(&a->f, "");
}

static void sketches_of_an_entry_have_a_limit(void **state)
{
    adder *a = *state;
    ms_status st = {0};
    for (uint32_t more = 0; more < 2; more++) {
        begin(a, "r");
        for (uint32_t i = 0; i < 3 * (MS_BT_LIMIT_SKETCHES + more); i++) {
            char qualifier[16];
            snprintf(qualifier, sizeof(qualifier), "%u", i / 3);
            assert_ok(ms_bt_mutation_batch_add_to_cell(&a->batch, a->hll, ms_str_cstr(qualifier), 0,
                                                       i, &st));
        }
        end(a);
        ms_bt_status bt = write_batch(&a->f, &a->batch);
        assert_int_equal(bt.code, more == 0 ? MS_BT_OK : MS_BT_INVALID_ARGUMENT);
        assert_string_equal(bt.text, more == 0 ? ""
                                               : "Too many sketches in one entry: 4097 provided; "
                                                 "limit 4096");
        ms_bt_mutation_batch_reset(&a->batch);
    }
}

static void state_of_a_wrong_size_is_damage(void **state)
{
    (void)state;
    ms_status st = {0};
    msi_overlay *overlay = msi_overlay_create();
    bool is_new = false;
    msi_overlay_cell *cell = msi_overlay_at(overlay, ms_str_lit("k"), &is_new);
    assert_int_equal(msi_aggregate_load(MS_BT_VALUE_INT64_SUM, cell, ms_str_lit("1234567"), &st),
                     MS_CORRUPT_DATA);
    msi_overlay_destroy(overlay);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(cells_combine_by_the_type_of_their_family),
        TEST(sums_wrap),
        TEST(timestamps_are_buckets),
        TEST(states_merge_and_null_does_nothing),
        TEST(entries_of_a_batch_share_their_cells),
        TEST(deletes_and_additions_apply_in_their_order),
        TEST(deletes_spare_what_they_do_not_cover),
        TEST(wrong_family_is_refused_whole),
        TEST(distinct_values_are_counted),
        TEST(wrong_sketches_are_refused),
        TEST(sketches_of_an_entry_have_a_limit),
        cmocka_unit_test(state_of_a_wrong_size_is_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
