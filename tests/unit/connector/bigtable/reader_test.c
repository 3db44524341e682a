/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scans of an embedded store: what rows become, which rows appear, frames of any size, going on
 * from snapshots, values that cannot be read, and being closed in the middle of it.
 */
#include "bt_running.h"

#include "connector/bigtable/split.h"

static void make_table(table_maker *m, world *w)
{
    maker_init(m, &w->arena);
    maker_column(m, "k", make_type(&w->arena, "STRING"));
    maker_family(m, "a", "q STRING, r INT");
    maker_family(m, "b", "q BYTES");
    maker_key(m, 0);
}

static void project(const ms_scan *scan, const uint32_t *columns, uint32_t count)
{
    ms_status st = {0};
    ms_scan *open = (ms_scan *)(uintptr_t)scan;
    assert_ok(open->klass->push_projection(open, columns, count, &st));
}

/* Rows that show every rule of reading. */
static void fill_table(world *w)
{
    world_create_table(w, (const char *const[]){"a", "b", "other"}, 3);
    world_set(w, ms_str_lit("k1"), "a", "q", 1000, ms_str_lit("old"));
    world_set(w, ms_str_lit("k1"), "a", "q", 2000, ms_str_lit("new"));
    world_set(w, ms_str_lit("k1"), "a", "r", 1000, (ms_str){"\0\0\0\7", 4});
    world_set(w, ms_str_lit("k1"), "b", "q", 1000, ms_str_lit("bytes"));
    world_set(w, ms_str_lit("k2"), "a", "undeclared", 1000, ms_str_lit("x"));
    world_set(w, ms_str_lit("k3"), "other", "q", 1000, ms_str_lit("x"));
    world_set(w, ms_str_lit("k4"), "b", "q", 1000, ms_str_lit(""));
    world_set(w, ms_str_lit("k5"), "a", "q", 1000, ms_str_lit("null"));
    world_set(w, ms_str_lit("k6"), "a", "q", 1000, ms_str_lit(""));
}

static void rows_follow_the_rules_of_cells_and_nulls(void **state)
{
    (void)state;
    world w;
    world_init(&w);
    fill_table(&w);
    table_maker m;
    make_table(&m, &w);
    assert_scan(&w, plan_scan(&w, &m),
                "[k1, (new, 7), (x'6279746573')]"
                "[k2, NULL, NULL]"
                "[k4, NULL, (NULL)]"
                "[k5, (NULL, NULL), NULL]"
                "[k6, (, NULL), NULL]");
    world_release(&w);
}

static void the_families_that_are_read_decide_which_rows_there_are(void **state)
{
    (void)state;
    world w;
    world_init(&w);
    fill_table(&w);
    table_maker m;
    make_table(&m, &w);
    ms_scan *scan = plan_scan(&w, &m);
    project(scan, (const uint32_t[]){0, 2}, 2);
    assert_scan(&w, scan, "[k1, (x'6279746573')][k4, (NULL)]");
    scan = plan_scan(&w, &m);
    project(scan, (const uint32_t[]){1}, 1);
    assert_scan(&w, scan, "[(new, 7)][NULL][(NULL, NULL)][(, NULL)]");
    scan = plan_scan(&w, &m);
    project(scan, (const uint32_t[]){0}, 1);
    assert_scan(&w, scan, "[k1][k2][k3][k4][k5][k6]");
    scan = plan_scan(&w, &m);
    project(scan, NULL, 0);
    assert_scan(&w, scan, "[][][][][][]");
    world_release(&w);
}

static void frames_of_any_size_give_the_same_rows(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 2, 7, 1023, 4096};
    world w;
    world_init(&w);
    fill_table(&w);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        w.env.batch_rows = sizes[i];
        table_maker m;
        make_table(&m, &w);
        ms_scan *scan = plan_scan(&w, &m);
        assert_scan(&w, scan,
                    "[k1, (new, 7), (x'6279746573')][k2, NULL, NULL][k4, NULL, (NULL)]"
                    "[k5, (NULL, NULL), NULL][k6, (, NULL), NULL]");
    }
    world_release(&w);
}

static void ranges_and_an_empty_set_of_them_are_kept_to(void **state)
{
    (void)state;
    world w;
    world_init(&w);
    fill_table(&w);
    table_maker m;
    make_table(&m, &w);
    maker_option(&m, "scan.row-ranges", "[k1,k2);[k4,k6)");
    ms_scan *scan = plan_scan(&w, &m);
    project(scan, (const uint32_t[]){0}, 1);
    assert_scan(&w, scan, "[k1][k4][k5]");
    make_table(&m, &w);
    maker_option(&m, "scan.row-prefix", "nothing");
    scan = plan_scan(&w, &m);
    assert_scan(&w, scan, "");
    world_release(&w);
}

static void a_limit_stops_the_read(void **state)
{
    (void)state;
    world w;
    world_init(&w);
    fill_table(&w);
    table_maker m;
    make_table(&m, &w);
    ms_scan *scan = plan_scan(&w, &m);
    project(scan, (const uint32_t[]){0}, 1);
    scan->klass->push_limit(scan, 2);
    assert_scan(&w, scan, "[k1][k2]");
    world_release(&w);
}

static void a_missing_table_or_family_fails_with_the_services_words(void **state)
{
    (void)state;
    world w;
    world_init(&w);
    table_maker m;
    make_table(&m, &w);
    ms_buf out;
    ms_buf_init(&out, 1u << 20);
    ms_status st = {0};
    ms_scan *scan = plan_scan(&w, &m);
    assert_int_equal(read_scan(&w, scan, &out, &st), MS_READ_FAILED);
    assert_int_equal(st.code, MS_BIGTABLE_NOT_FOUND);
    assert_string_equal(st.message, "could not read table \"p.i.t\"");
    world_create_table(&w, (const char *const[]){"a"}, 1);
    world_set(&w, ms_str_lit("k"), "a", "q", 1000, ms_str_lit("x"));
    ms_status missing = {0};
    assert_int_equal(read_scan(&w, scan, &out, &missing), MS_READ_FAILED);
    assert_int_equal(missing.code, MS_BIGTABLE_NOT_FOUND);
    assert_non_null(strstr(missing.detail, "Requested column family not found"));
    /* Keys can be read all the same. */
    scan = plan_scan(&w, &m);
    project(scan, (const uint32_t[]){0}, 1);
    assert_scan(&w, scan, "[k]");
    ms_buf_release(&out);
    world_release(&w);
}

/* A row that is too large ends a scan, which says how to do without it; and so one can. */
static void a_row_that_is_too_large_can_be_passed_over(void **state)
{
    (void)state;
    world w;
    world_init_with(&w, 1000);
    char value[1001];
    memset(value, 'v', sizeof(value));
    world_create_table(&w, (const char *const[]){"a", "b"}, 2);
    world_set(&w, ms_str_lit("k1"), "b", "q", 1000, ms_str_lit("1"));
    world_set(&w, ms_str_lit("k2"), "a", "q", 1000, ms_str_make(value, sizeof(value)));
    world_set(&w, ms_str_lit("k2"), "b", "q", 1000, ms_str_lit("2"));
    world_set(&w, ms_str_lit("k3"), "b", "q", 1000, ms_str_lit("3"));
    table_maker m;
    make_table(&m, &w);
    ms_buf out;
    ms_buf_init(&out, 1u << 20);
    ms_status st = {0};
    assert_int_equal(read_scan(&w, plan_scan(&w, &m), &out, &st), MS_READ_FAILED);
    assert_int_equal(st.code, MS_BIGTABLE_ERROR);
    assert_string_equal(st.detail, "FAILED_PRECONDITION: row 'k2' is larger than 1000 bytes: leave "
                                   "cells out by a filter, read the rows before and behind it, or "
                                   "delete some of its cells");
    assert_string_equal(st.hint, "Select no column of the families that are large in it, or leave "
                                 "the row out by a condition on the key, or delete it.");
    /* No column of that family. */
    ms_scan *scan = plan_scan(&w, &m);
    project(scan, (const uint32_t[]){0, 2}, 2);
    assert_scan(&w, scan, "[k1, (x'31')][k2, (x'32')][k3, (x'33')]");
    /* The rows before and behind it, as by a condition on the key. */
    make_table(&m, &w);
    maker_option(&m, "scan.row-ranges", "[,k2);[k3,)");
    scan = plan_scan(&w, &m);
    assert_scan(&w, scan, "[k1, NULL, (x'31')][k3, NULL, (x'33')]");
    ms_buf_release(&out);
    world_release(&w);
}

/* The rows before a bad value come first, whatever the size of frames; of several bad values that
 * of the lowest row, leftmost column counts. */
static void a_value_that_cannot_be_read_fails_behind_the_rows_before_it(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 3, 2048};
    world w;
    world_init(&w);
    world_create_table(&w, (const char *const[]){"a", "b"}, 2);
    world_set(&w, ms_str_lit("k1"), "a", "r", 1000, (ms_str){"\0\0\0\1", 4});
    world_set(&w, ms_str_lit("k2"), "a", "q", 1000, ms_str_lit("fine"));
    world_set(&w, ms_str_lit("k\xff"), "a", "r", 1000, (ms_str){"\0\0\1", 3});
    world_set(&w, ms_str_lit("k\xff\xff"), "a", "q", 1000, ms_str_lit("fine"));
    world_set(&w, ms_str_lit("k\xff\xff"), "a", "r", 1000, (ms_str){"\1", 1});
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        w.env.batch_rows = sizes[i];
        table_maker m;
        make_table(&m, &w);
        ms_buf out;
        ms_buf_init(&out, 1u << 20);
        ms_status st = {0};
        assert_int_equal(read_scan(&w, plan_scan(&w, &m), &out, &st), MS_READ_FAILED);
        assert_str_equal(ms_buf_view(&out), "[k1, (NULL, 1), NULL][k2, (fine, NULL), NULL]");
        assert_int_equal(st.code, MS_BAD_RECORD);
        assert_string_equal(st.message, "cell \"a:r\" cannot be read as INT: it has 3 bytes, but "
                                        "INT takes 4");
        assert_string_equal(st.detail, "row key \"k\\xff\" of table \"p.i.t\"");
        ms_buf_release(&out);
    }
    world_release(&w);
}

static void a_key_is_checked_where_trailing_bytes_are_rejected(void **state)
{
    (void)state;
    world w;
    world_init(&w);
    world_create_table(&w, (const char *const[]){"a"}, 1);
    world_set(&w, (ms_str){"\0\0\0\5tail", 8}, "a", "q", 1000, ms_str_lit("x"));
    table_maker m;
    maker_init(&m, &w.arena);
    maker_column(&m, "k", make_type(&w.arena, "INT"));
    maker_family(&m, "a", "q STRING");
    assert_scan(&w, plan_scan(&w, &m), "[5, (x)]");
    maker_option(&m, "decode.trailing-bytes", "reject");
    ms_scan *scan = plan_scan(&w, &m);
    project(scan, (const uint32_t[]){1}, 1);
    ms_buf out;
    ms_buf_init(&out, 4096);
    ms_status st = {0};
    assert_int_equal(read_scan(&w, scan, &out, &st), MS_READ_FAILED);
    assert_string_equal(st.message, "row-key column \"k\" cannot be read as INT: it has 8 bytes, "
                                    "but INT takes 4");
    ms_buf_release(&out);
    world_release(&w);
}

/* Snapshots. */

enum { MANY = 500 };

static void fill_many(world *w)
{
    world_create_table(w, (const char *const[]){"a", "b"}, 2);
    for (int i = 0; i < MANY; i++) {
        char key[32];
        snprintf(key, sizeof(key), "key%05d", i);
        world_set(w, ms_str_cstr(key), "a", "q", 1000, ms_str_lit("x"));
    }
}

/* The splits of a reader's snapshot go to another reader. */
static void restore(ms_reader *reader, ms_str snapshot)
{
    ms_status st = {0};
    ms_codec_reader splits = ms_codec_reader_make(snapshot);
    uint32_t count = ms_codec_reader_u32(&splits);
    for (uint32_t i = 0; i < count; i++) {
        assert_ok(reader->klass->add_split(reader, ms_codec_reader_str(&splits), &st));
    }
    assert_ok(ms_codec_reader_finish(&splits, "the snapshot", &st));
}

/* Reads with a new reader after each frame, from the snapshot of the one before. */
static void a_restart_after_any_frame_repeats_and_loses_nothing(void **state)
{
    (void)state;
    world w;
    world_init(&w);
    fill_many(&w);
    static const uint32_t sizes[] = {7, 64};
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        w.env.batch_rows = sizes[s];
        table_maker m;
        make_table(&m, &w);
        maker_option(&m, "scan.row-ranges", "[key00000,key00100);[key00200,)");
        ms_scan *scan = plan_scan(&w, &m);
        project(scan, (const uint32_t[]){0}, 1);
        coordinator c;
        coordinator_init(&c, &w, scan, 1, (ms_str){NULL, 0});
        coordinator_request(&c, 0);
        assert_int_equal(c.split_count, 1);
        ms_status st = {0};
        ms_buf snapshot;
        ms_buf_init(&snapshot, 1u << 20);
        assert_ok(ms_codec_put_u32(&snapshot, 1, &st));
        assert_ok(ms_codec_put_str(&snapshot, c.splits[0], &st));
        ms_buf out;
        ms_buf_init(&out, 1u << 20);
        for (;;) {
            ms_reader *reader = NULL;
            assert_ok(scan->klass->reader_create(scan, &w.env, &reader, &st));
            restore(reader, ms_buf_view(&snapshot));
            reader->klass->no_more_splits(reader);
            ms_batch *batch = NULL;
            ms_read read = poll_reader(&w, reader, &batch, &st);
            if (read == MS_READ_BATCH) {
                batch_text(batch, &out);
            }
            ms_buf_reset(&snapshot);
            assert_ok(reader->klass->snapshot(reader, &snapshot, &st));
            reader->klass->close(reader);
            if (read == MS_READ_END) {
                break;
            }
            assert_int_equal(read, MS_READ_BATCH);
        }
        assert_int_equal(ms_codec_load_u32(snapshot.ptr), 0);
        ms_buf expected;
        ms_buf_init(&expected, 1u << 20);
        for (int i = 0; i < MANY; i++) {
            if (i < 100 || i >= 200) {
                assert_ok(ms_buf_format(&expected, &st, "[key%05d]", i));
            }
        }
        assert_true(ms_str_equals(ms_buf_view(&out), ms_buf_view(&expected)));
        ms_buf_release(&expected);
        ms_buf_release(&out);
        ms_buf_release(&snapshot);
        coordinator_release(&c);
    }
    world_release(&w);
}

static void a_snapshot_before_the_first_row_is_the_split_as_it_came(void **state)
{
    (void)state;
    world w;
    world_init(&w);
    fill_many(&w);
    table_maker m;
    make_table(&m, &w);
    ms_scan *scan = plan_scan(&w, &m);
    coordinator c;
    coordinator_init(&c, &w, scan, 1, (ms_str){NULL, 0});
    coordinator_request(&c, 0);
    ms_status st = {0};
    ms_reader *reader = NULL;
    assert_ok(scan->klass->reader_create(scan, &w.env, &reader, &st));
    assert_true(reader->klass->wants_split(reader));
    assert_ok(reader->klass->add_split(reader, c.splits[0], &st));
    assert_false(reader->klass->wants_split(reader));
    for (int polled = 0; polled < 2; polled++) {
        ms_buf snapshot;
        ms_buf_init(&snapshot, 1u << 20);
        assert_ok(reader->klass->snapshot(reader, &snapshot, &st));
        ms_codec_reader splits = ms_codec_reader_make(ms_buf_view(&snapshot));
        assert_int_equal(ms_codec_reader_u32(&splits), 1);
        assert_true(ms_str_equals(ms_codec_reader_str(&splits), c.splits[0]));
        ms_buf_release(&snapshot);
        ms_batch *batch = NULL;
        assert_int_equal(reader->klass->poll(reader, &batch, &st), MS_READ_PENDING);
    }
    reader->klass->close(reader);
    coordinator_release(&c);
    world_release(&w);
}

static void a_damaged_split_is_refused_when_it_comes(void **state)
{
    (void)state;
    world w;
    world_init(&w);
    fill_table(&w);
    table_maker m;
    make_table(&m, &w);
    ms_scan *scan = plan_scan(&w, &m);
    ms_status st = {0};
    ms_reader *reader = NULL;
    assert_ok(scan->klass->reader_create(scan, &w.env, &reader, &st));
    assert_int_equal(reader->klass->add_split(reader, ms_str_lit("\x07"), &st), MS_CORRUPT_DATA);
    reader->klass->close(reader);
    world_release(&w);
}

static void a_reader_can_be_closed_at_any_time(void **state)
{
    (void)state;
    world w;
    world_init(&w);
    fill_many(&w);
    w.env.batch_rows = 10;
    for (int polls = 0; polls < 4; polls++) {
        table_maker m;
        make_table(&m, &w);
        ms_scan *scan = plan_scan(&w, &m);
        coordinator c;
        coordinator_init(&c, &w, scan, 1, (ms_str){NULL, 0});
        coordinator_request(&c, 0);
        ms_status st = {0};
        ms_reader *reader = NULL;
        assert_ok(scan->klass->reader_create(scan, &w.env, &reader, &st));
        assert_ok(reader->klass->add_split(reader, c.splits[0], &st));
        ms_batch *batch = NULL;
        for (int i = 0; i < polls; i++) {
            ms_read read = i == 0 ? reader->klass->poll(reader, &batch, &st)
                                  : poll_reader(&w, reader, &batch, &st);
            assert_true(read == MS_READ_PENDING || read == MS_READ_BATCH);
        }
        reader->klass->close(reader);
        for (int i = 0; i < 3; i++) {
            world_turn(&w);
        }
        coordinator_release(&c);
    }
    world_release(&w);
}

static void nothing_is_allocated_per_row(void **state)
{
    (void)state;
    world w;
    world_init(&w);
    fill_many(&w);
    table_maker m;
    make_table(&m, &w);
    ms_scan *scan = plan_scan(&w, &m);
    ms_buf out;
    ms_buf_init(&out, 4u << 20);
    ms_status st = {0};
    assert_ok(ms_buf_reserve(&out, 1u << 20, &st));
    w.env.batch_rows = 4;
    assert_int_equal(read_scan(&w, scan, &out, &st), MS_READ_END);
    uint64_t before = ms_mem_allocation_count();
    ms_buf_reset(&out);
    assert_int_equal(read_scan(&w, scan, &out, &st), MS_READ_END);
    assert_true(ms_mem_allocation_count() - before < MANY / 4);
    ms_buf_release(&out);
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_follow_the_rules_of_cells_and_nulls),
        cmocka_unit_test(the_families_that_are_read_decide_which_rows_there_are),
        cmocka_unit_test(frames_of_any_size_give_the_same_rows),
        cmocka_unit_test(ranges_and_an_empty_set_of_them_are_kept_to),
        cmocka_unit_test(a_limit_stops_the_read),
        cmocka_unit_test(a_missing_table_or_family_fails_with_the_services_words),
        cmocka_unit_test(a_row_that_is_too_large_can_be_passed_over),
        cmocka_unit_test(a_value_that_cannot_be_read_fails_behind_the_rows_before_it),
        cmocka_unit_test(a_key_is_checked_where_trailing_bytes_are_rejected),
        cmocka_unit_test(a_restart_after_any_frame_repeats_and_loses_nothing),
        cmocka_unit_test(a_snapshot_before_the_first_row_is_the_split_as_it_came),
        cmocka_unit_test(a_damaged_split_is_refused_when_it_comes),
        cmocka_unit_test(a_reader_can_be_closed_at_any_time),
        cmocka_unit_test(nothing_is_allocated_per_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
