/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Splits of a scan: sampled once, handed out once each, checkpointed, never sampled again.
 */
#include "bt_running.h"

#include "connector/bigtable/scan.h"
#include "connector/bigtable/split.h"

static void make_table(table_maker *m, world *w)
{
    maker_init(m, &w->arena);
    maker_column(m, "k", make_type(&w->arena, "STRING"));
    maker_family(m, "a", "q STRING");
}

/* A table that is made with splits, which are always among its samples. */
static void create_split_table(world *w)
{
    ms_bt_family family = {.name = ms_str_lit("a")};
    static const ms_str splits[] = {{"f", 1}, {"m", 1}, {"t", 1}};
    ms_bt_table table = {.name = w->name,
                         .families = &family,
                         .family_count = 1,
                         .splits = splits,
                         .split_count = 3};
    ms_bt_table_call call;
    ms_bt_table_call_init(&call, &w->mailbox, done_nothing, NULL);
    call.table = &table;
    ms_bt_client_create_table(w->client, &call);
    ms_bt_call_wait(&call.call, &w->parker);
    assert_int_equal(call.call.status.code, MS_BT_OK);
    ms_bt_table_call_release(&call);
}

static void assert_split(ms_str bytes, const char *expected)
{
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_status st = {0};
    msi_bt_split split;
    assert_ok(msi_bt_split_read(&arena, bytes, &split, &st));
    ms_buf text;
    ms_buf_init(&text, 4096);
    for (size_t i = 0; i < split.ranges.count; i++) {
        assert_ok(ms_bt_range_render(&split.ranges.list[i], &text, &st));
    }
    assert_ok(ms_buf_append_byte(&text, '\0', &st));
    assert_string_equal(text.ptr, expected);
    ms_buf_release(&text);
    ms_arena_release(&arena);
}

static void ask_all(coordinator *c, uint32_t subtasks)
{
    for (uint32_t i = 0; i < subtasks; i++) {
        while (!c->is_complete[i] && c->failure.code == MS_OK) {
            coordinator_request(c, i);
        }
    }
}

static void each_split_is_handed_out_once(void **state)
{
    (void)state;
    world w;
    world_init(&w);
    create_split_table(&w);
    table_maker m;
    make_table(&m, &w);
    ms_scan *scan = plan_scan(&w, &m);
    coordinator c;
    coordinator_init(&c, &w, scan, 2, (ms_str){NULL, 0});
    /* Both ask while the samples are on their way. */
    c.enumerator->klass->request(c.enumerator, 0);
    c.enumerator->klass->request(c.enumerator, 1);
    assert_int_equal(c.split_count, 0);
    for (int i = 0; i < 200 && c.split_count < 2; i++) {
        world_turn(&w);
        c.enumerator->klass->resume(c.enumerator);
    }
    assert_int_equal(c.split_count, 2);
    assert_int_equal(c.takers[0], 0);
    assert_int_equal(c.takers[1], 1);
    ask_all(&c, 2);
    assert_int_equal(c.split_count, 4);
    assert_split(c.splits[0], "(*,f)");
    assert_split(c.splits[1], "[f,m)");
    assert_split(c.splits[2], "[m,t)");
    assert_split(c.splits[3], "[t,*)");
    coordinator_release(&c);
    world_release(&w);
}

static void one_reader_and_single_keys_need_no_samples(void **state)
{
    (void)state;
    world w;
    world_init(&w);
    /* There is no table: sampling would fail. */
    table_maker m;
    make_table(&m, &w);
    coordinator c;
    coordinator_init(&c, &w, plan_scan(&w, &m), 1, (ms_str){NULL, 0});
    ask_all(&c, 1);
    assert_int_equal(c.failure.code, MS_OK);
    assert_int_equal(c.split_count, 1);
    assert_split(c.splits[0], "(*,*)");
    coordinator_release(&c);
    world_release(&w);
}

static void a_missing_table_fails_the_job_when_it_is_sampled(void **state)
{
    (void)state;
    world w;
    world_init(&w);
    table_maker m;
    make_table(&m, &w);
    coordinator c;
    coordinator_init(&c, &w, plan_scan(&w, &m), 2, (ms_str){NULL, 0});
    ask_all(&c, 2);
    assert_int_equal(c.failure.code, MS_BIGTABLE_NOT_FOUND);
    assert_string_equal(c.failure.message, "could not read table \"p.i.t\"");
    coordinator_release(&c);
    world_release(&w);
}

static void a_restored_enumerator_hands_out_the_rest_and_never_samples(void **state)
{
    (void)state;
    world w;
    world_init(&w);
    create_split_table(&w);
    table_maker m;
    make_table(&m, &w);
    ms_scan *scan = plan_scan(&w, &m);
    world empty;
    world_init(&empty);
    ms_scan *empty_scan = plan_scan(&empty, &m);
    ms_status st = {0};
    ms_buf snapshot;
    ms_buf_init(&snapshot, 1u << 20);
    for (uint32_t taken = 0; taken <= 4; taken++) {
        coordinator c;
        coordinator_init(&c, &w, scan, 2, (ms_str){NULL, 0});
        for (uint32_t i = 0; i < taken; i++) {
            coordinator_request(&c, 0);
        }
        if (taken == 0) {
            /* So that the samples are there. */
            c.is_complete[1] = false;
            coordinator_request(&c, 1);
        }
        ms_buf_reset(&snapshot);
        assert_ok(c.enumerator->klass->snapshot(c.enumerator, &snapshot, &st));
        uint32_t given = c.split_count;
        coordinator_release(&c);
        /* Where the table is missing, sampling it would fail. */
        coordinator restored;
        coordinator_init(&restored, &empty, empty_scan, 3, ms_buf_view(&snapshot));
        ask_all(&restored, 3);
        assert_int_equal(given + restored.split_count, 4);
        assert_int_equal(restored.failure.code, MS_OK);
        coordinator_release(&restored);
    }
    ms_buf_release(&snapshot);
    world_release(&empty);
    world_release(&w);
}

static void an_empty_rest_restores_as_nothing_without_a_table(void **state)
{
    (void)state;
    world w;
    world_init(&w);
    table_maker m;
    make_table(&m, &w);
    ms_scan *scan = plan_scan(&w, &m);
    ms_status st = {0};
    ms_buf snapshot;
    ms_buf_init(&snapshot, 4096);
    coordinator c;
    coordinator_init(&c, &w, scan, 1, (ms_str){NULL, 0});
    ask_all(&c, 1);
    assert_ok(c.enumerator->klass->snapshot(c.enumerator, &snapshot, &st));
    coordinator_release(&c);
    coordinator restored;
    coordinator_init(&restored, &w, scan, 4, ms_buf_view(&snapshot));
    ask_all(&restored, 4);
    assert_int_equal(restored.split_count, 0);
    assert_int_equal(restored.failure.code, MS_OK);
    coordinator_release(&restored);
    ms_buf_release(&snapshot);
    world_release(&w);
}

static void a_snapshot_taken_too_early_restores_as_a_fresh_start(void **state)
{
    (void)state;
    world w;
    world_init(&w);
    create_split_table(&w);
    table_maker m;
    make_table(&m, &w);
    ms_scan *scan = plan_scan(&w, &m);
    ms_status st = {0};
    ms_buf snapshot;
    ms_buf_init(&snapshot, 4096);
    coordinator c;
    coordinator_init(&c, &w, scan, 2, (ms_str){NULL, 0});
    assert_ok(c.enumerator->klass->snapshot(c.enumerator, &snapshot, &st));
    coordinator_release(&c); /* with its call still out */
    coordinator restored;
    coordinator_init(&restored, &w, scan, 2, ms_buf_view(&snapshot));
    ask_all(&restored, 2);
    assert_int_equal(restored.split_count, 4);
    coordinator_release(&restored);
    ms_buf_release(&snapshot);
    world_release(&w);
}

static void a_damaged_snapshot_is_refused(void **state)
{
    (void)state;
    world w;
    world_init(&w);
    table_maker m;
    make_table(&m, &w);
    ms_scan *scan = plan_scan(&w, &m);
    static const struct {
        const char *bytes;
        size_t count;
    } damaged[] = {{"\x02\x01\0\0\0\0", 6},
                   {"\x01\x01\xff\xff\xff\xff", 6},
                   {"\x01\x01\x01\0\0\0", 6},
                   {"\x01\x01\0\0\0\0x", 7}};
    for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
        coordinator c = {.world = &w};
        c.env.task = w.env;
        ms_status st = {0};
        assert_ok(scan->klass->enumerator_create(scan, &c.enumerator, &st));
        ms_str bytes = {damaged[i].bytes, damaged[i].count};
        assert_int_equal(c.enumerator->klass->start(c.enumerator, &c.env, bytes, &st),
                         MS_CORRUPT_DATA);
        c.enumerator->klass->close(c.enumerator);
    }
    world_release(&w);
}

/* A table with splits and two rows, which have this value. */
static void create_filled_table(world *w, const char *value)
{
    create_split_table(w);
    world_set(w, ms_str_lit("b"), "a", "q", 1000, ms_str_cstr(value));
    world_set(w, ms_str_lit("n"), "a", "q", 1000, ms_str_cstr(value));
}

/* Drops the table and makes it again, with other rows. */
static void replace_table(world *w)
{
    ms_bt_table_call call;
    ms_bt_table_call_init(&call, &w->mailbox, done_nothing, NULL);
    call.name = w->name;
    ms_bt_client_drop_table(w->client, &call);
    ms_bt_call_wait(&call.call, &w->parker);
    assert_int_equal(call.call.status.code, MS_BT_OK);
    ms_bt_table_call_release(&call);
    create_filled_table(w, "new");
}

/* What a reader gives of one split, which begins now. */
static ms_read read_split(world *w, const ms_scan *scan, ms_str split, ms_buf *out, ms_status *st)
{
    ms_reader *reader = NULL;
    assert_int_equal(scan->klass->reader_create(scan, &w->env, &reader, st), MS_OK);
    assert_int_equal(reader->klass->add_split(reader, split, st), MS_OK);
    reader->klass->no_more_splits(reader);
    ms_batch *batch = NULL;
    ms_read read = poll_reader(w, reader, &batch, st);
    while (read == MS_READ_BATCH) {
        batch_text(batch, out);
        read = poll_reader(w, reader, &batch, st);
    }
    reader->klass->close(reader);
    return read;
}

static void assert_other_table(const ms_status *st)
{
    assert_int_equal(st->code, MS_BIGTABLE_NOT_FOUND);
    assert_false(st->retriable);
    assert_string_equal(st->message, "could not read table \"p.i.t\"");
    assert_string_equal(st->detail, "NOT_FOUND: table \"projects/p/instances/i/tables/t\" was "
                                    "dropped and made again under a read");
    assert_non_null(strstr(st->hint, "Start the read again"));
}

static void readers_of_one_scan_never_read_two_tables(void **state)
{
    (void)state;
    world w;
    world_init(&w);
    create_filled_table(&w, "old");
    table_maker m;
    make_table(&m, &w);
    ms_scan *scan = plan_scan(&w, &m);
    coordinator c;
    coordinator_init(&c, &w, scan, 2, (ms_str){NULL, 0});
    ask_all(&c, 2);
    assert_int_equal(c.split_count, 4);
    ms_status st = {0};
    ms_buf out;
    ms_buf_init(&out, 1u << 20);
    assert_int_equal(read_split(&w, scan, c.splits[0], &out, &st), MS_READ_END);
    assert_true(ms_str_equals(ms_buf_view(&out), ms_str_lit("[b, (old)]")));
    replace_table(&w);
    ms_buf_reset(&out);
    for (int i = 1; i < 4; i++) {
        ms_status failed = {0};
        assert_int_equal(read_split(&w, scan, c.splits[i], &out, &failed), MS_READ_FAILED);
        assert_other_table(&failed);
    }
    assert_int_equal(out.bytes, 0);
    /* Whoever begins now reads the new table. */
    assert_scan(&w, scan, "[b, (new)][n, (new)]");
    ms_buf_release(&out);
    coordinator_release(&c);
    world_release(&w);
}

/* A thousand keys are a request, so more are several splits; they are one scan all the same. */
static void many_single_keys_are_of_one_table(void **state)
{
    (void)state;
    world w;
    world_init(&w);
    create_split_table(&w);
    table_maker m;
    make_table(&m, &w);
    ms_scan *scan = plan_scan(&w, &m);
    msi_bt_scan *own = (msi_bt_scan *)scan;
    enum { KEYS = MSI_BT_SPLIT_RANGES_MAX + 1 };
    ms_bt_range *keys = ms_arena_array(&w.arena, ms_bt_range, KEYS);
    for (uint32_t i = 0; i < KEYS; i++) {
        keys[i] = ms_bt_range_key(ms_arena_format(&w.arena, "n%06u", i));
    }
    own->ranges = (ms_bt_ranges){keys, KEYS};
    for (uint32_t parallelism = 1; parallelism <= 2; parallelism++) {
        coordinator c;
        coordinator_init(&c, &w, scan, parallelism, (ms_str){NULL, 0});
        ask_all(&c, parallelism);
        assert_int_equal(c.failure.code, MS_OK);
        assert_int_equal(c.split_count, 2);
        replace_table(&w);
        ms_status st = {0};
        ms_buf out;
        ms_buf_init(&out, 1u << 20);
        assert_int_equal(read_split(&w, scan, c.splits[1], &out, &st), MS_READ_FAILED);
        assert_other_table(&st);
        ms_buf_release(&out);
        coordinator_release(&c);
    }
    world_release(&w);
}

static void a_job_that_is_resumed_goes_on_in_its_table_only(void **state)
{
    (void)state;
    world w;
    world_init(&w);
    create_filled_table(&w, "old");
    w.env.batch_rows = 1;
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
    assert_int_equal(poll_reader(&w, reader, &batch, &st), MS_READ_BATCH);
    ms_buf snapshot;
    ms_buf_init(&snapshot, 1u << 20);
    assert_ok(reader->klass->snapshot(reader, &snapshot, &st));
    reader->klass->close(reader);
    ms_codec_reader splits = ms_codec_reader_make(ms_buf_view(&snapshot));
    assert_int_equal(ms_codec_reader_u32(&splits), 1);
    ms_str rest = ms_codec_reader_str(&splits);
    ms_buf out;
    ms_buf_init(&out, 1u << 20);
    assert_int_equal(read_split(&w, scan, rest, &out, &st), MS_READ_END);
    assert_true(ms_str_equals(ms_buf_view(&out), ms_str_lit("[n, (old)]")));
    replace_table(&w);
    assert_int_equal(read_split(&w, scan, rest, &out, &st), MS_READ_FAILED);
    assert_other_table(&st);
    ms_buf_release(&out);
    ms_buf_release(&snapshot);
    coordinator_release(&c);
    world_release(&w);
}

static void an_empty_set_of_ranges_has_no_split(void **state)
{
    (void)state;
    world w;
    world_init(&w);
    table_maker m;
    make_table(&m, &w);
    ms_scan *scan = plan_scan(&w, &m);
    const ms_expr *key = ms_expr_column(&w.arena, 0, m.columns[0].type, ms_span_none);
    const ms_expr *is_null = ms_expr_node(&w.arena, MS_EXPR_CALL, ms_fn_find(ms_str_lit("IS NULL")),
                                          make_type(&w.arena, "!BOOLEAN"), &key, 1, ms_span_none);
    bool exact = false;
    ms_status st = {0};
    assert_ok(scan->klass->push_filters(scan, &is_null, 1, &exact, &st));
    assert_true(exact);
    coordinator c;
    coordinator_init(&c, &w, scan, 4, (ms_str){NULL, 0});
    ask_all(&c, 4);
    assert_int_equal(c.split_count, 0);
    assert_int_equal(c.failure.code, MS_OK);
    coordinator_release(&c);
    world_release(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_split_is_handed_out_once),
        cmocka_unit_test(one_reader_and_single_keys_need_no_samples),
        cmocka_unit_test(a_missing_table_fails_the_job_when_it_is_sampled),
        cmocka_unit_test(a_restored_enumerator_hands_out_the_rest_and_never_samples),
        cmocka_unit_test(an_empty_rest_restores_as_nothing_without_a_table),
        cmocka_unit_test(a_snapshot_taken_too_early_restores_as_a_fresh_start),
        cmocka_unit_test(a_damaged_snapshot_is_refused),
        cmocka_unit_test(readers_of_one_scan_never_read_two_tables),
        cmocka_unit_test(many_single_keys_are_of_one_table),
        cmocka_unit_test(a_job_that_is_resumed_goes_on_in_its_table_only),
        cmocka_unit_test(an_empty_set_of_ranges_has_no_split),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
