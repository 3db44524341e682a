/* SPDX-License-Identifier: Apache-2.0 */
/* Tablets: where rows lie, splits and merges, and which of those that ended are remembered. */
#include "testing.h"

#include "base/env.h"
#include "bigtable/store/schema.h"

typedef struct fixture {
    ms_arena arena;
    ms_bt_table def;
    msi_table draft;
} fixture;

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof(*f));
    ms_arena_init(&f->arena, 0);
    f->draft = (msi_table){.def = &f->def, .next_tablet_id = 1, .stream_micros = 1};
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

static void append_tablets(ms_buf *out, const msi_tablet *tablets, size_t count)
{
    ms_status st = {0};
    for (size_t i = 0; i < count; i++) {
        const msi_tablet *t = &tablets[i];
        assert_ok(ms_buf_format(out, &st, "%s%u[%.*s,%.*s)@%lld-%lld", i == 0 ? "" : " ", t->id,
                                MS_STR_ARG(t->start), MS_STR_ARG(t->end),
                                (long long)t->begin_micros, (long long)t->end_micros));
    }
}

static void assert_tablets(const fixture *f, const char *living, const char *past)
{
    ms_buf out;
    ms_buf_init(&out, 1u << 20);
    append_tablets(&out, f->draft.tablets, f->draft.tablet_count);
    assert_str_equal(ms_buf_view(&out), living);
    ms_buf_reset(&out);
    append_tablets(&out, f->draft.past, f->draft.past_count);
    assert_str_equal(ms_buf_view(&out), past);
    ms_buf_release(&out);
}

static void first_tablets(fixture *f, const char *const *splits, size_t count)
{
    ms_str keys[8] = {{NULL, 0}};
    for (size_t i = 0; i < count; i++) {
        keys[i] = ms_str_cstr(splits[i]);
    }
    msi_table_first_tablets(&f->draft, keys, count, 5, &f->arena);
}

static ms_bt_code split(fixture *f, const char *key, int64_t micros)
{
    ms_bt_status bt = {0};
    return msi_table_split(&f->draft, ms_str_cstr(key), micros, &f->arena, &bt);
}

static ms_bt_code merge(fixture *f, const char *key, int64_t micros)
{
    ms_bt_status bt = {0};
    return msi_table_merge(&f->draft, ms_str_cstr(key), micros, &f->arena, &bt);
}

static void a_table_is_cut_at_its_splits(void **state)
{
    fixture *f = *state;
    first_tablets(f, NULL, 0);
    assert_tablets(f, "1[,)@5-0", "");
    f->draft.next_tablet_id = 1;
    first_tablets(f, (const char *const[]){"m", "c", "m"}, 3);
    assert_tablets(f, "1[,c)@5-0 2[c,m)@5-0 3[m,)@5-0", "");
    assert_int_equal(msi_table_tablet(&f->draft, ms_str_lit("a"))->id, 1);
    assert_int_equal(msi_table_tablet(&f->draft, ms_str_lit("c"))->id, 2);
    assert_int_equal(msi_table_tablet(&f->draft, ms_str_lit("lzz"))->id, 2);
    assert_int_equal(msi_table_tablet(&f->draft, ms_str_lit("m"))->id, 3);
    assert_int_equal(msi_table_tablet(&f->draft, ms_str_lit("\xff\xff"))->id, 3);
}

static void splits_and_merges_begin_new_tablets(void **state)
{
    fixture *f = *state;
    first_tablets(f, (const char *const[]){"m"}, 1);
    assert_int_equal(split(f, "c", 10), MS_BT_OK);
    assert_tablets(f, "3[,c)@10-0 4[c,m)@10-0 2[m,)@5-0", "1[,m)@5-10");
    assert_int_equal(merge(f, "m", 20), MS_BT_OK);
    assert_tablets(f, "3[,c)@10-0 5[c,)@20-0", "1[,m)@5-10 2[m,)@5-20 4[c,m)@10-20");
    assert_int_equal(merge(f, "c", 30), MS_BT_OK);
    assert_tablets(f, "6[,)@30-0", "1[,m)@5-10 2[m,)@5-20 3[,c)@10-30 4[c,m)@10-20 5[c,)@20-30");
    assert_int_equal(msi_table_tablet_by_id(&f->draft, 6)->begin_micros, 30);
    assert_int_equal(msi_table_tablet_by_id(&f->draft, 3)->end_micros, 30);
    assert_null(msi_table_tablet_by_id(&f->draft, 7));
}

static void tablets_without_readers_are_not_remembered(void **state)
{
    fixture *f = *state;
    f->draft.stream_micros = 0;
    first_tablets(f, NULL, 0);
    assert_int_equal(split(f, "c", 10), MS_BT_OK);
    assert_int_equal(merge(f, "c", 20), MS_BT_OK);
    assert_tablets(f, "4[,)@20-0", "");
}

static void impossible_splits_and_merges_are_refused(void **state)
{
    fixture *f = *state;
    char key[MS_BT_LIMIT_ROW_KEY_BYTES + 2];
    memset(key, 'a', sizeof(key));
    key[sizeof(key) - 1] = '\0';
    first_tablets(f, (const char *const[]){"m"}, 1);
    assert_int_equal(split(f, "", 10), MS_BT_INVALID_ARGUMENT);
    assert_int_equal(split(f, key, 10), MS_BT_INVALID_ARGUMENT);
    assert_int_equal(split(f, "m", 10), MS_BT_FAILED_PRECONDITION);
    assert_int_equal(merge(f, "", 10), MS_BT_FAILED_PRECONDITION);
    assert_int_equal(merge(f, "n", 10), MS_BT_FAILED_PRECONDITION);
    assert_int_equal(merge(f, "a", 10), MS_BT_FAILED_PRECONDITION);
    assert_tablets(f, "1[,m)@5-0 2[m,)@5-0", "");
    f->draft.past_count = MSI_TABLETS_MAX;
    assert_int_equal(split(f, "c", 10), MS_BT_RESOURCE_EXHAUSTED);
    assert_int_equal(merge(f, "m", 10), MS_BT_RESOURCE_EXHAUSTED);
    f->draft.past_count = 0;
    f->draft.next_tablet_id = UINT32_MAX - 1;
    assert_int_equal(split(f, "c", 10), MS_BT_RESOURCE_EXHAUSTED);
}

static void what_ended_before_the_retention_is_forgotten(void **state)
{
    fixture *f = *state;
    first_tablets(f, NULL, 0);
    assert_int_equal(split(f, "c", 10), MS_BT_OK);
    assert_int_equal(merge(f, "c", 20), MS_BT_OK);
    assert_false(msi_table_forget(&f->draft, 10, &f->arena));
    assert_true(msi_table_forget(&f->draft, 11, &f->arena));
    assert_tablets(f, "4[,)@20-0", "2[,c)@10-20 3[c,)@10-20");
    assert_true(msi_table_forget(&f->draft, 100, &f->arena));
    assert_tablets(f, "4[,)@20-0", "");
}

static void ranges_are_compared_with_open_ends(void **state)
{
    (void)state;
    const ms_str none = {NULL, 0};
    const ms_str b = ms_str_lit("b");
    const ms_str d = ms_str_lit("d");
    msi_tablet bd = {.start = b, .end = d};
    msi_tablet all = {.id = 1};
    assert_true(msi_tablet_overlaps(&bd, none, none));
    assert_true(msi_tablet_overlaps(&bd, ms_str_lit("c"), none));
    assert_true(msi_tablet_overlaps(&bd, none, ms_str_lit("c")));
    assert_false(msi_tablet_overlaps(&bd, d, none));
    assert_false(msi_tablet_overlaps(&bd, none, b));
    assert_true(msi_tablet_overlaps(&all, d, none));
    assert_true(msi_tablet_contains(&bd, b, d));
    assert_true(msi_tablet_contains(&bd, ms_str_lit("c"), d));
    assert_false(msi_tablet_contains(&bd, ms_str_lit("c"), none));
    assert_false(msi_tablet_contains(&bd, none, d));
    assert_true(msi_tablet_contains(&all, none, none));
}

/* Random splits and merges: tablets tile the keys, ids ascend for every row, ends meet begins. */
static void random_histories_keep_their_order(void **state)
{
    fixture *f = *state;
    ms_env_random random;
    ms_env_random_init(&random, ms_env_next_seed());
    first_tablets(f, NULL, 0);
    for (int64_t micros = 10; micros < 400; micros++) {
        char key[2] = {(char)('a' + ms_env_random_below(&random, 26)), '\0'};
        (void)(ms_env_random_below(&random, 2) == 0 ? split(f, key, micros)
                                                    : merge(f, key, micros));
        for (char c = 'a'; c <= 'z'; c++) {
            ms_str row = ms_str_make(&c, 1);
            uint32_t last = 0;
            int64_t end = 5;
            for (size_t i = 0; i <= f->draft.past_count; i++) {
                const msi_tablet *t =
                    i < f->draft.past_count ? &f->draft.past[i] : msi_table_tablet(&f->draft, row);
                bool is_living = i == f->draft.past_count;
                if (ms_str_compare(t->start, row) <= 0 &&
                    (t->end.bytes == 0 || ms_str_compare(row, t->end) < 0)) {
                    assert_true(t->id > last);
                    assert_int_equal(t->begin_micros, end);
                    assert_int_equal(t->end_micros == 0, is_living);
                    last = t->id;
                    end = t->end_micros;
                }
                assert_true(!is_living || end == 0);
            }
        }
    }
    assert_true(f->draft.past_count > 20);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_table_is_cut_at_its_splits),
        TEST(splits_and_merges_begin_new_tablets),
        TEST(tablets_without_readers_are_not_remembered),
        TEST(impossible_splits_and_merges_are_refused),
        TEST(what_ended_before_the_retention_is_forgotten),
        TEST(ranges_are_compared_with_open_ends),
        TEST(random_histories_keep_their_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
