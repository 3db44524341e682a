/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of row keys: splits, small tables, large tables, and how equal the parts are. */
#include "store_testing.h"

#define VALUE_BYTES 1000

typedef struct sampled {
    fixture f;
    ms_bt_sample_row_keys call;
} sampled;

static int setup(void **state)
{
    sampled *s = calloc(1, sizeof(*s));
    fixture_init(&s->f, MS_BT_SYNC_OS);
    ms_bt_sample_row_keys_init(&s->call, &s->f.mailbox, done_nothing, NULL);
    s->call.table = &s->f.table;
    *state = s;
    return 0;
}

static int teardown(void **state)
{
    sampled *s = *state;
    ms_bt_sample_row_keys_release(&s->call);
    fixture_release(&s->f);
    free(s);
    return 0;
}

static void sample(sampled *s)
{
    ms_bt_client_sample_row_keys(s->f.client, &s->call);
    ms_bt_call_wait(&s->call.call, &s->f.parker);
    assert_bt(&s->call.call.status, MS_BT_OK);
    assert_true(s->call.sample_count > 0);
    for (size_t i = 0; i < s->call.sample_count; i++) {
        bool is_last = i + 1 == s->call.sample_count;
        assert_int_equal(s->call.samples[i].key.bytes == 0, is_last);
        if (i > 0) {
            assert_true(s->call.samples[i].offset_bytes >= s->call.samples[i - 1].offset_bytes);
        }
        if (i > 0 && !is_last) {
            assert_true(ms_str_compare(s->call.samples[i - 1].key, s->call.samples[i].key) < 0);
        }
    }
}

static void create(sampled *s, const ms_str *splits, size_t count)
{
    ms_bt_family family = {.name = ms_str_lit("a")};
    ms_bt_table table = {.name = s->f.table,
                         .families = &family,
                         .family_count = 1,
                         .splits = splits,
                         .split_count = count};
    ms_bt_table_call call;
    ms_bt_table_call_init(&call, &s->f.mailbox, done_nothing, NULL);
    call.table = &table;
    ms_bt_client_create_table(s->f.client, &call);
    ms_bt_call_wait(&call.call, &s->f.parker);
    assert_bt(&call.call.status, MS_BT_OK);
    ms_bt_table_call_release(&call);
}

/* Keys crowd at the front: half of them share one letter. */
static void fill_with(sampled *s, int rows, int padding, size_t value_bytes)
{
    ms_status st = {0};
    ms_bt_mutation_batch batch;
    ms_bt_mutation_batch_init(&batch, 64u << 20);
    uint16_t a = 0;
    assert_ok(ms_bt_mutation_batch_family(&batch, ms_str_lit("a"), &a, &st));
    char *value = calloc(1, value_bytes);
    for (int i = 0; i < rows; i++) {
        char key[3000];
        snprintf(key, sizeof(key), "user#%c%07d%*s", i % 2 == 0 ? 'a' : (char)('b' + i % 20), i,
                 padding, "");
        assert_ok(ms_bt_mutation_batch_begin_row(&batch, ms_str_cstr(key), &st));
        assert_ok(ms_bt_mutation_batch_set_cell(&batch, a, ms_str_lit("q"), 0,
                                                ms_str_make(value, value_bytes), &st));
        ms_bt_mutation_batch_end_row(&batch);
        if (ms_bt_mutation_batch_entries(&batch) * value_bytes > (2u << 20) || i + 1 == rows) {
            ms_bt_status bt = write_batch(&s->f, &batch);
            assert_bt(&bt, MS_BT_OK);
            ms_bt_mutation_batch_reset(&batch);
        }
    }
    ms_bt_mutation_batch_release(&batch);
    free(value);
}

/* Rows of about a KiB. */
static void fill(sampled *s, int rows)
{
    fill_with(s, rows, 0, VALUE_BYTES);
}

static uint32_t rows_between(sampled *s, ms_str start, ms_str end)
{
    ms_bt_range range = ms_bt_range_make(start, end);
    ms_bt_read_options options = {.table = s->f.table,
                                  .rows = {.ranges = &range, .range_count = 1}};
    ms_bt_read *read =
        ms_bt_client_read_rows(s->f.client, &options, &s->f.mailbox, wake_nothing, NULL);
    const ms_bt_page *page = NULL;
    uint32_t rows = 0;
    while (ms_bt_read_wait(read, &s->f.parker, &page) == MS_BT_POLL_PAGE) {
        rows += page->row_count;
        ms_bt_read_return(read, page);
    }
    assert_bt(ms_bt_read_status(read), MS_BT_OK);
    assert_true(ms_bt_read_close(read, NULL, NULL));
    return rows;
}

/* No part holds more than a few times its share, and together they hold everything. */
static void assert_even(sampled *s, uint32_t rows, size_t parts_min)
{
    assert_true(s->call.sample_count >= parts_min);
    uint32_t total = 0;
    ms_str start = {"", 0};
    for (size_t i = 0; i < s->call.sample_count; i++) {
        uint32_t part = rows_between(s, start, s->call.samples[i].key);
        assert_true(part < 4 * rows / s->call.sample_count + 100);
        total += part;
        start = s->call.samples[i].key;
    }
    assert_int_equal(total, rows);
}

static void empty_table_has_one_sample(void **state)
{
    sampled *s = *state;
    create(s, NULL, 0);
    sample(s);
    assert_int_equal(s->call.sample_count, 1);
    assert_int_equal(s->call.samples[0].offset_bytes, 0);
}

static void splits_are_samples(void **state)
{
    sampled *s = *state;
    const ms_str splits[] = {ms_str_lit("user#b"), ms_str_lit("m"), ms_str_lit("zz")};
    create(s, splits, 3);
    sample(s);
    assert_int_equal(s->call.sample_count, 4);
    assert_str_equal(s->call.samples[0].key, "m");
    assert_str_equal(s->call.samples[1].key, "user#b");
    assert_str_equal(s->call.samples[2].key, "zz");
    fill(s, 1000);
    sample(s);
    bool found[3] = {false};
    for (size_t i = 0; i < s->call.sample_count; i++) {
        for (int k = 0; k < 3; k++) {
            found[k] = found[k] || ms_str_equals(s->call.samples[i].key, splits[k]);
        }
    }
    assert_true(found[0] && found[1] && found[2]);
}

static void small_table_in_memory_is_cut_evenly(void **state)
{
    sampled *s = *state;
    create(s, NULL, 0);
    fill(s, 3000);
    sample(s);
    assert_even(s, 3000, 10);
}

static void large_table_in_files_is_cut_evenly(void **state)
{
    sampled *s = *state;
    ms_status st = {0};
    create(s, NULL, 0);
    fill(s, 48000);
    assert_ok(ms_bt_store_compact(s->f.store, &st));
    sample(s);
    assert_even(s, 48000, 16);
}

/* 130 MB of values, of which a walk would read too many. */
static void table_of_large_values_is_cut_by_its_keys(void **state)
{
    sampled *s = *state;
    ms_status st = {0};
    create(s, NULL, 0);
    fill_with(s, 500, 2500, 270000);
    assert_ok(ms_bt_store_compact(s->f.store, &st));
    sample(s);
    assert_even(s, 500, 10);
}

static void range_is_sampled_alone(void **state)
{
    sampled *s = *state;
    const ms_str splits[] = {ms_str_lit("m"), ms_str_lit("user#a"), ms_str_lit("user#b"),
                             ms_str_lit("user#c")};
    create(s, splits, 4);
    fill(s, 3000);
    /* Half of the rows; its own start is no cut, its end is the last sample. */
    s->call.range = ms_bt_range_make(ms_str_lit("user#a"), ms_str_lit("user#b"));
    ms_bt_client_sample_row_keys(s->f.client, &s->call);
    ms_bt_call_wait(&s->call.call, &s->f.parker);
    assert_bt(&s->call.call.status, MS_BT_OK);
    assert_true(s->call.sample_count > 5);
    int64_t bytes = 0;
    for (size_t i = 0; i < s->call.sample_count; i++) {
        assert_true(ms_str_compare(s->call.samples[i].key, ms_str_lit("user#a")) > 0);
        assert_true(ms_str_compare(s->call.samples[i].key, ms_str_lit("user#b")) <= 0);
        assert_true(s->call.samples[i].offset_bytes >= bytes);
        bytes = s->call.samples[i].offset_bytes;
    }
    assert_str_equal(s->call.samples[s->call.sample_count - 1].key, "user#b");
    assert_true(bytes > 1500 * VALUE_BYTES && bytes < 1700 * VALUE_BYTES);
    /* Splits within a range, and a range without an end. */
    s->call.range = (ms_bt_range){{MS_BT_BOUND_OPEN, ms_str_lit("m")}, {0}};
    sample(s);
    assert_str_equal(s->call.samples[0].key, "user#a");
    s->call.range = (ms_bt_range){{0}, {MS_BT_BOUND_CLOSED, ms_str_lit("m")}};
    ms_bt_client_sample_row_keys(s->f.client, &s->call);
    ms_bt_call_wait(&s->call.call, &s->f.parker);
    assert_bt(&s->call.call.status, MS_BT_OK);
    assert_int_equal(s->call.sample_count, 1);
    assert_str_equal(s->call.samples[0].key, "m");
    s->call.range = (ms_bt_range){{0}, {0}};
}

static void empty_range_is_refused(void **state)
{
    sampled *s = *state;
    create(s, NULL, 0);
    s->call.range = ms_bt_range_make(ms_str_lit("b"), ms_str_lit("a"));
    ms_bt_client_sample_row_keys(s->f.client, &s->call);
    ms_bt_call_wait(&s->call.call, &s->f.parker);
    assert_int_equal(s->call.call.status.code, MS_BT_INVALID_ARGUMENT);
    assert_string_equal(s->call.call.status.text,
                        "Error in field 'row_range' : start_key must be less than end_key");
    s->call.range = (ms_bt_range){{0}, {0}};
}

static void change_tablets(sampled *s, const char *key,
                           void (*change)(ms_bt_client *client, ms_bt_table_call *call))
{
    ms_bt_table_call call;
    ms_bt_table_call_init(&call, &s->f.mailbox, done_nothing, NULL);
    call.name = s->f.table;
    call.key = ms_str_cstr(key);
    change(s->f.client, &call);
    ms_bt_call_wait(&call.call, &s->f.parker);
    assert_bt(&call.call.status, MS_BT_OK);
    ms_bt_table_call_release(&call);
}

static void tablets_as_they_are_now_are_samples(void **state)
{
    sampled *s = *state;
    const ms_str splits[] = {ms_str_lit("m")};
    create(s, splits, 1);
    change_tablets(s, "t", ms_bt_client_split_tablet);
    sample(s);
    assert_int_equal(s->call.sample_count, 3);
    assert_str_equal(s->call.samples[0].key, "m");
    assert_str_equal(s->call.samples[1].key, "t");
    change_tablets(s, "m", ms_bt_client_merge_tablets);
    sample(s);
    assert_int_equal(s->call.sample_count, 2);
    assert_str_equal(s->call.samples[0].key, "t");
}

static void missing_table_is_not_found(void **state)
{
    sampled *s = *state;
    ms_bt_client_sample_row_keys(s->f.client, &s->call);
    ms_bt_call_wait(&s->call.call, &s->f.parker);
    assert_bt(&s->call.call.status, MS_BT_NOT_FOUND);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(empty_table_has_one_sample),
        TEST(splits_are_samples),
        TEST(small_table_in_memory_is_cut_evenly),
        TEST(large_table_in_files_is_cut_evenly),
        TEST(table_of_large_values_is_cut_by_its_keys),
        TEST(range_is_sampled_alone),
        TEST(empty_range_is_refused),
        TEST(tablets_as_they_are_now_are_samples),
        TEST(missing_table_is_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
