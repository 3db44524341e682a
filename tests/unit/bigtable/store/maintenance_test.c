/* SPDX-License-Identifier: Apache-2.0 */
/* What the store does by itself, by a clock that the test moves; and the thread that does it. */
#include "change_testing.h"

#include "bigtable/store/store_priv.h"

#define HOUR_MICROS (INT64_C(3600) * 1000000)

/* Records in the change log of all tables. */
static uint32_t log_records(fixture *f)
{
    char start[MSI_KEY_TABLE_BYTES];
    msi_key_put_u32(start, MSI_KEY_TABLES_END);
    ms_kv_iter *iter = ms_kv_iter_create(f->store->kv, &(ms_kv_iter_options){0});
    ms_kv_entry entry;
    uint32_t count = 0;
    for (bool valid = ms_kv_iter_seek(iter, ms_str_make(start, sizeof(start)), &entry); valid;
         valid = ms_kv_iter_next(iter, &entry)) {
        count++;
    }
    ms_kv_iter_destroy(iter);
    return count;
}

static size_t past_tablets(fixture *f)
{
    msi_schema *schema = msi_store_schema(f->store);
    size_t count = msi_schema_find(schema, &f->table)->past_count;
    msi_schema_drop(schema);
    return count;
}

static void old_changes_and_tablets_are_removed(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    create_stream_table(f, NULL, 0);
    put(f, "a", "1");
    put(f, "z", "1");
    ms_env_clock_advance_us(&t->clock, HOUR_MICROS);
    split(f, "m");
    put(f, "a", "2");
    put(f, "z", "2");
    ms_env_clock_advance_us(&t->clock, HOUR_MICROS);
    merge(f, "m");
    put(f, "a", "3");
    ms_bt_store_tick(f->store);
    assert_int_equal(log_records(f), 5);
    assert_int_equal(past_tablets(f), 3);
    ms_env_clock_advance_us(&t->clock, DAY_MICROS - 2 * HOUR_MICROS);
    ms_bt_store_tick(f->store);
    assert_int_equal(log_records(f), 5);
    /* Each hour takes one more away, a little later than it must. */
    ms_env_clock_advance_us(&t->clock, HOUR_MICROS / 2);
    ms_bt_store_tick(f->store);
    assert_int_equal(log_records(f), 3);
    assert_int_equal(past_tablets(f), 3);
    ms_env_clock_advance_us(&t->clock, HOUR_MICROS);
    ms_bt_store_tick(f->store);
    assert_int_equal(log_records(f), 1);
    assert_int_equal(past_tablets(f), 2);
    ms_env_clock_advance_us(&t->clock, HOUR_MICROS);
    ms_bt_store_tick(f->store);
    assert_int_equal(log_records(f), 0);
    assert_int_equal(past_tablets(f), 0);
    assert_rows(f, "a{f:q@1000000=3}z{f:q@1000000=2}");
    put(f, "a", "4");
    stream s = stream_from(f, "", "", t->clock.wall_us);
    assert_changes(&s, 1, "a{f:q@1000000=4}");
    stream_close(&s);
}

static void many_tablets_of_many_tables_are_trimmed(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    const char *const names[] = {"t1", "t2", "t3"};
    for (int i = 0; i < 3; i++) {
        f->table.table = ms_str_cstr(names[i]);
        create_stream_table(f, NULL, 0);
        for (int j = 0; j < 300; j++) {
            char key[16];
            snprintf(key, sizeof(key), "%04d", j);
            split(f, key);
            put(f, key, "v");
        }
    }
    assert_int_equal(log_records(f), 900);
    ms_env_clock_advance_us(&t->clock, DAY_MICROS + HOUR_MICROS);
    put(f, "x", "new");
    ms_bt_store_tick(f->store);
    assert_int_equal(log_records(f), 1);
    for (int i = 0; i < 3; i++) {
        f->table.table = ms_str_cstr(names[i]);
        assert_int_equal(past_tablets(f), 0);
    }
}

static void retention_is_per_table_and_switching_off_removes_all(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    create_stream_table(f, NULL, 0);
    ms_bt_status bt = set_retention(f, 7 * DAY_MICROS);
    assert_bt(&bt, MS_BT_OK);
    put(f, "a", "1");
    f->table.table = ms_str_lit("other");
    create_stream_table(f, NULL, 0);
    put(f, "a", "1");
    ms_env_clock_advance_us(&t->clock, 2 * DAY_MICROS);
    ms_bt_store_tick(f->store);
    assert_int_equal(log_records(f), 1);
    f->table.table = ms_str_lit("t");
    bt = set_retention(f, 0);
    assert_bt(&bt, MS_BT_OK);
    assert_int_equal(log_records(f), 0);
}

static void garbage_is_collected_by_its_period(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    f->gc_period_ms = 60000;
    fixture_close(f);
    fixture_open(f);
    const char *const names[] = {"t1", "t2"};
    ms_bt_family family = {.name = ms_str_lit("f"),
                           .gc_rule = ms_bt_gc_rule_max_versions(&arena, 1)};
    for (int i = 0; i < 2; i++) {
        f->table.table = ms_str_cstr(names[i]);
        create_table_of(f, &family, 1, 0);
        put(f, "a", "1");
        ms_bt_status bt = set_cell(f, "a", "f", "q", 2000000, "2");
        assert_bt(&bt, MS_BT_OK);
    }
    ms_env_clock_advance_us(&t->clock, 59999000);
    ms_bt_store_tick(f->store);
    assert_rows(f, "a{f:q@2000000=2,f:q@1000000=1}");
    ms_env_clock_advance_us(&t->clock, 1000);
    ms_bt_store_tick(f->store);
    for (int i = 0; i < 2; i++) {
        f->table.table = ms_str_cstr(names[i]);
        assert_rows(f, "a{f:q@2000000=2}");
    }
    put(f, "a", "1");
    ms_bt_store_tick(f->store);
    assert_rows(f, "a{f:q@2000000=2,f:q@1000000=1}");
    ms_env_clock_advance_us(&t->clock, 60000000);
    ms_bt_store_tick(f->store);
    assert_rows(f, "a{f:q@2000000=2}");
    /* A negative period is never. */
    f->gc_period_ms = -1;
    fixture_close(f);
    fixture_open(f);
    put(f, "a", "1");
    ms_env_clock_advance_us(&t->clock, 1000 * DAY_MICROS);
    ms_bt_store_tick(f->store);
    assert_rows(f, "a{f:q@2000000=2,f:q@1000000=1}");
    ms_arena_release(&arena);
}

static void heartbeats_go_on_when_the_store_takes_no_writes(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    ms_status st = {0};
    create_stream_table(f, NULL, 0);
    put(f, "a", "1");
    stream s = stream_from(f, "", "", START_MICROS);
    assert_changes(&s, 1, "a{f:q@1000000=1}");
    assert_ok(ms_env_faults_set(ms_str_lit("kv.write:1:fail"), &st));
    ms_bt_status bt = set_cell(f, "a", "f", "q", 0, "v");
    assert_bt(&bt, MS_BT_UNAVAILABLE);
    assert_ok(ms_env_faults_set(ms_str_lit(""), &st));
    int64_t before = s.watermark_micros;
    assert_silent(&s, &t->clock);
    assert_int_equal(s.watermark_micros, before);
    stream_close(&s);
    ms_bt_store_tick(f->store);
}

static void assert_refused(fixture *f, const char *why)
{
    ms_bt_status bt = set_cell(f, "a", "f", "q", 0, "v");
    assert_bt(&bt, MS_BT_UNAVAILABLE);
    assert_non_null(strstr(bt.text, why));
}

static void directory_that_is_gone_is_noticed_within_a_second(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    ms_status st = {0};
    char elsewhere[96];
    snprintf(elsewhere, sizeof(elsewhere), "%s-renamed", f->path);
    create_stream_table(f, NULL, 0);
    for (int replaced = 0; replaced < 2; replaced++) {
        ms_env_clock_advance_us(&t->clock, 1000000);
        ms_bt_store_tick(f->store);
        put(f, "a", "1");
        assert_ok(ms_file_rename(f->path, elsewhere, &st));
        if (replaced == 1) {
            assert_ok(ms_dir_create(f->path, &st));
        }
        ms_env_clock_advance_us(&t->clock, 1000000);
        ms_bt_store_tick(f->store);
        assert_refused(f, replaced == 0 ? "is gone" : "is another by now");
        /* That it is there again does not bring back what was refused. */
        assert_ok(ms_dir_remove(f->path, &st));
        assert_ok(ms_file_rename(elsewhere, f->path, &st));
        ms_env_clock_advance_us(&t->clock, 1000000);
        ms_bt_store_tick(f->store);
        assert_refused(f, replaced == 0 ? "is gone" : "is another by now");
        fixture_close(f);
        fixture_open(f);
    }
    put(f, "a", "2");
}

/* The thread. A store of its own, in real time. */

static void open_with_thread(fixture *f, int64_t gc_period_ms)
{
    ms_status st = {0};
    ms_bt_store_options options = {
        .path = f->path, .pool = f->pool, .create = true, .gc_period_ms = gc_period_ms};
    assert_ok(ms_bt_store_open(&options, &f->store, &st));
    f->client = ms_bt_client_create(ms_bt_store_transport(f->store), NULL);
}

static void the_thread_sends_heartbeats_and_stops_cleanly(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    ms_env_set_clock(NULL);
    fixture_close(f);
    open_with_thread(f, 1);
    create_stream_table(f, NULL, 0);
    stream s = stream_open(f, &(ms_bt_change_options){.heartbeat_ms = 1});
    assert_changes(&s, 3, "heartbeat heartbeat heartbeat");
    int64_t watermark = s.watermark_micros;
    put(f, "a", "1");
    ms_buf out;
    ms_buf_init(&out, 1u << 20);
    while (s.commit_micros == 0) {
        stream_take(&s, 1, false, &out);
    }
    assert_true(s.commit_micros > watermark);
    ms_buf_release(&out);
    stream_close(&s);
    for (int i = 0; i < 20; i++) {
        fixture_close(f);
        open_with_thread(f, 1);
    }
    assert_rows(f, "a{f:q@1000000=1}");
}

/* A reader that begins to wait while the thread looks around is not forgotten by it. */
static void the_thread_hears_of_every_reader(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    ms_env_set_clock(NULL);
    fixture_close(f);
    open_with_thread(f, -1);
    create_stream_table(f, NULL, 0);
    for (int i = 0; i < 3000; i++) {
        stream s = stream_open(f, &(ms_bt_change_options){.end_micros = ms_env_wall_us()});
        stream other = stream_open(f, &(ms_bt_change_options){.end_micros = ms_env_wall_us()});
        assert_changes(&s, 1, "close OK");
        assert_changes(&other, 1, "close OK");
        stream_close(&s);
        stream_close(&other);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, timed_setup, timed_teardown)
    const struct CMUnitTest tests[] = {
        TEST(old_changes_and_tablets_are_removed),
        TEST(many_tablets_of_many_tables_are_trimmed),
        TEST(retention_is_per_table_and_switching_off_removes_all),
        TEST(garbage_is_collected_by_its_period),
        TEST(heartbeats_go_on_when_the_store_takes_no_writes),
        TEST(directory_that_is_gone_is_noticed_within_a_second),
        TEST(the_thread_sends_heartbeats_and_stops_cleanly),
        TEST(the_thread_hears_of_every_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
