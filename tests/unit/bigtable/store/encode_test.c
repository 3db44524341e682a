/* SPDX-License-Identifier: Apache-2.0 */
/* Deletes: of what is stored, of what the same entry wrote, and of very much. */
#include "store_testing.h"

typedef struct writer {
    fixture f;
    ms_bt_mutation_batch batch;
    uint16_t a;
    uint16_t b;
} writer;

static int setup(void **state)
{
    ms_status st = {0};
    writer *w = calloc(1, sizeof(*w));
    fixture_init(&w->f, MS_BT_SYNC_OS);
    create_table(&w->f, (const char *const[]){"a", "b"}, 2);
    ms_bt_mutation_batch_init(&w->batch, 64u << 20);
    assert_ok(ms_bt_mutation_batch_family(&w->batch, ms_str_lit("a"), &w->a, &st));
    assert_ok(ms_bt_mutation_batch_family(&w->batch, ms_str_lit("b"), &w->b, &st));
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    writer *w = *state;
    ms_bt_mutation_batch_release(&w->batch);
    fixture_release(&w->f);
    free(w);
    return 0;
}

static void begin(writer *w, const char *key)
{
    ms_status st = {0};
    assert_ok(ms_bt_mutation_batch_begin_row(&w->batch, ms_str_cstr(key), &st));
}

static void end(writer *w)
{
    ms_bt_mutation_batch_end_row(&w->batch);
}

static void set(writer *w, uint16_t family, const char *qualifier, int64_t micros,
                const char *value)
{
    ms_status st = {0};
    assert_ok(ms_bt_mutation_batch_set_cell(&w->batch, family, ms_str_cstr(qualifier), micros,
                                            ms_str_cstr(value), &st));
}

static void del_column(writer *w, uint16_t family, const char *qualifier, int64_t from, int64_t to)
{
    ms_status st = {0};
    assert_ok(ms_bt_mutation_batch_delete_column(&w->batch, family, ms_str_cstr(qualifier), from,
                                                 to, &st));
}

static void del_row(writer *w)
{
    ms_status st = {0};
    assert_ok(ms_bt_mutation_batch_delete_row(&w->batch, &st));
}

static void commit(writer *w)
{
    ms_bt_status bt = write_batch(&w->f, &w->batch);
    assert_bt(&bt, MS_BT_OK);
    ms_bt_mutation_batch_reset(&w->batch);
}

static void fill_row(writer *w)
{
    begin(w, "r");
    set(w, w->a, "p", 1000, "1");
    set(w, w->a, "p", 2000, "2");
    set(w, w->a, "p", 3000, "3");
    set(w, w->a, "pp", 1000, "4");
    set(w, w->b, "p", 1000, "5");
    end(w);
    begin(w, "r2");
    set(w, w->a, "p", 1000, "6");
    end(w);
    commit(w);
}

static void column_is_deleted_by_time(void **state)
{
    writer *w = *state;
    fill_row(w);
    begin(w, "r");
    del_column(w, w->a, "p", 2000, 3000);
    end(w);
    commit(w);
    assert_rows(&w->f, "r{a:p@3000=3,a:p@1000=1,a:pp@1000=4,b:p@1000=5}r2{a:p@1000=6}");
    begin(w, "r");
    del_column(w, w->a, "p", 0, 0);
    end(w);
    commit(w);
    assert_rows(&w->f, "r{a:pp@1000=4,b:p@1000=5}r2{a:p@1000=6}");
}

static void family_and_row_are_deleted(void **state)
{
    writer *w = *state;
    ms_status st = {0};
    fill_row(w);
    begin(w, "r");
    assert_ok(ms_bt_mutation_batch_delete_family(&w->batch, w->a, &st));
    end(w);
    commit(w);
    assert_rows(&w->f, "r{b:p@1000=5}r2{a:p@1000=6}");
    begin(w, "r2");
    del_row(w);
    end(w);
    begin(w, "absent");
    del_row(w);
    end(w);
    commit(w);
    assert_rows(&w->f, "r{b:p@1000=5}");
}

static void later_mutations_mask_earlier_ones(void **state)
{
    writer *w = *state;
    fill_row(w);
    begin(w, "r");
    set(w, w->a, "new", 1000, "gone");
    del_row(w);
    set(w, w->a, "new", 2000, "stays");
    set(w, w->b, "x", 1000, "gone");
    set(w, w->b, "x", 2000, "stays");
    del_column(w, w->b, "x", 0, 2000);
    end(w);
    commit(w);
    assert_rows(&w->f, "r{a:new@2000=stays,b:x@2000=stays}r2{a:p@1000=6}");
}

static void entries_of_one_row_apply_in_order(void **state)
{
    writer *w = *state;
    begin(w, "r");
    set(w, w->a, "p", 1000, "1");
    end(w);
    begin(w, "r");
    del_row(w);
    end(w);
    begin(w, "r");
    set(w, w->a, "q", 1000, "2");
    end(w);
    begin(w, "r");
    del_column(w, w->a, "q", 0, 0);
    set(w, w->a, "q", 3000, "3");
    end(w);
    commit(w);
    assert_rows(&w->f, "r{a:q@3000=3}");
}

static void keep_latest_leaves_one_version(void **state)
{
    writer *w = *state;
    for (int i = 1; i <= 3; i++) {
        char value[8];
        snprintf(value, sizeof(value), "%d", i);
        begin(w, "r");
        del_column(w, w->a, "p", 0, 0);
        set(w, w->a, "p", i * 1000, value);
        del_column(w, w->b, "q", 0, 0);
        set(w, w->b, "q", i * 1000, value);
        end(w);
        commit(w);
    }
    assert_rows(&w->f, "r{a:p@3000=3,b:q@3000=3}");
}

static void server_time_of_the_same_entry_is_deleted_too(void **state)
{
    writer *w = *state;
    begin(w, "r");
    set(w, w->a, "p", MS_BT_TIMESTAMP_SERVER, "gone");
    del_column(w, w->a, "p", 1000, 0);
    set(w, w->a, "q", 1000, "stays");
    end(w);
    commit(w);
    assert_rows(&w->f, "r{a:q@1000=stays}");
}

static void row_of_very_many_cells_is_deleted(void **state)
{
    writer *w = *state;
    begin(w, "r");
    for (int i = 0; i < 12000; i++) {
        char qualifier[16];
        snprintf(qualifier, sizeof(qualifier), "q%d", i);
        set(w, w->a, qualifier, 1000, "");
    }
    end(w);
    begin(w, "r2");
    set(w, w->a, "p", 1000, "6");
    end(w);
    commit(w);
    begin(w, "r");
    set(w, w->a, "q1", 2000, "gone");
    del_row(w);
    set(w, w->b, "p", 1000, "stays");
    end(w);
    commit(w);
    assert_rows(&w->f, "r{b:p@1000=stays}r2{a:p@1000=6}");
}

static void entry_of_very_many_deletes_is_bounded(void **state)
{
    writer *w = *state;
    begin(w, "r");
    for (int i = 0; i < 1500; i++) {
        char qualifier[16];
        snprintf(qualifier, sizeof(qualifier), "q%04d", i);
        set(w, w->a, qualifier, 1000, "");
    }
    for (int i = 0; i < 1498; i++) {
        char qualifier[16];
        snprintf(qualifier, sizeof(qualifier), "q%04d", i);
        del_column(w, w->a, qualifier, 0, 0);
        if (i == 1400) {
            set(w, w->a, "q1400", 2000, "again");
        }
    }
    end(w);
    commit(w);
    assert_rows(&w->f, "r{a:q1400@2000=again,a:q1498@1000=,a:q1499@1000=}");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(column_is_deleted_by_time),         TEST(family_and_row_are_deleted),
        TEST(later_mutations_mask_earlier_ones), TEST(entries_of_one_row_apply_in_order),
        TEST(keep_latest_leaves_one_version),    TEST(server_time_of_the_same_entry_is_deleted_too),
        TEST(row_of_very_many_cells_is_deleted), TEST(entry_of_very_many_deletes_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
