/* SPDX-License-Identifier: Apache-2.0 */
/* Collecting garbage: what goes, what stays, what is said about it, and that nothing comes back. */
#include "change_testing.h"

#define SECOND INT64_C(1000000)

/* The fixture's table with a rule for family f; family g keeps everything. */
static void create_ruled(timed *t, const ms_bt_gc_rule *rule, ms_bt_value_type type,
                         int64_t retention_micros)
{
    ms_bt_family families[] = {{.name = ms_str_lit("f"), .type = type, .gc_rule = rule},
                               {.name = ms_str_lit("g")}};
    ms_bt_table table = {.name = t->f.table,
                         .families = families,
                         .family_count = 2,
                         .change_retention_micros = retention_micros};
    ms_bt_table_call call = admin_call_of(&t->f);
    call.table = &table;
    ms_bt_status bt = admin_call(&t->f, &call, ms_bt_client_create_table);
    assert_bt(&bt, MS_BT_OK);
    ms_bt_table_call_release(&call);
}

static void put_at(timed *t, const char *key, const char *family, int64_t micros)
{
    ms_bt_status bt = set_cell(&t->f, key, family, "q", micros, "v");
    assert_bt(&bt, MS_BT_OK);
}

/* Four cells in f:q, one of them a minute in the future, and two in g:q, which has no rule. */
static void put_cells(timed *t)
{
    for (int i = 0; i < 3; i++) {
        put_at(t, "a", "f", START_MICROS - i * 10 * SECOND);
    }
    put_at(t, "a", "f", START_MICROS + 60 * SECOND);
    put_at(t, "a", "g", 0);
    put_at(t, "a", "g", 1000);
}

static void set_rule(timed *t, const ms_bt_gc_rule *rule)
{
    ms_bt_family_change change = {MS_BT_FAMILY_UPDATE, {.name = ms_str_lit("f"), .gc_rule = rule}};
    ms_bt_table_call call = admin_call_of(&t->f);
    call.changes = &change;
    call.change_count = 1;
    ms_bt_status bt = admin_call(&t->f, &call, ms_bt_client_modify_families);
    assert_bt(&bt, MS_BT_OK);
    ms_bt_table_call_release(&call);
}

static uint64_t rows_cells(timed *t)
{
    ms_buf out;
    ms_buf_init(&out, 1u << 20);
    ms_bt_read_options options = {.table = t->f.table};
    ms_bt_status bt = read_text(&t->f, &options, &out);
    assert_bt(&bt, MS_BT_OK);
    uint64_t cells = 0;
    for (size_t i = 0; i < out.bytes; i++) {
        cells += out.ptr[i] == '@';
    }
    ms_buf_release(&out);
    return cells;
}

static void cells_stay_until_they_are_collected(void **state)
{
    timed *t = *state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    create_ruled(t, ms_bt_gc_rule_max_versions(&arena, 1), MS_BT_VALUE_RAW, 0);
    put_at(t, "a", "f", 1000);
    put_at(t, "a", "f", 2000);
    assert_rows(&t->f, "a{f:q@2000=v,f:q@1000=v}");
    assert_int_equal(collect_garbage(&t->f), 1);
    assert_rows(&t->f, "a{f:q@2000=v}");
    assert_int_equal(collect_garbage(&t->f), 0);
    /* A cell of a collected time may be written again, and counts anew. */
    put_at(t, "a", "f", 1000);
    assert_rows(&t->f, "a{f:q@2000=v,f:q@1000=v}");
    ms_arena_release(&arena);
}

static void every_rule_collects_what_it_says(void **state)
{
    timed *t = *state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    const ms_bt_gc_rule *versions = ms_bt_gc_rule_max_versions(&arena, 2);
    const ms_bt_gc_rule *age = ms_bt_gc_rule_max_age(&arena, 5 * SECOND);
    const ms_bt_gc_rule *both[] = {versions, age};
    const ms_bt_gc_rule *nested[] = {ms_bt_gc_rule_union(&arena, both, 2),
                                     ms_bt_gc_rule_max_age(&arena, 15 * SECOND)};
    struct {
        const ms_bt_gc_rule *rule;
        uint64_t collected;
    } cases[] = {
        {NULL, 0},
        {versions, 2}, /* START, -10: the two behind the newest */
        {age, 2},      /* -10, -20 */
        {ms_bt_gc_rule_intersection(&arena, both, 2), 2},
        {ms_bt_gc_rule_union(&arena, both, 2), 2},
        {ms_bt_gc_rule_max_versions(&arena, 4), 0},
        {ms_bt_gc_rule_max_versions(&arena, 1), 3},
        {ms_bt_gc_rule_max_age(&arena, 10 * SECOND), 1}, /* what is as old as that stays */
        {ms_bt_gc_rule_max_age(&arena, 1000), 2},
        {ms_bt_gc_rule_intersection(&arena, nested, 2), 1},
    };
    create_ruled(t, NULL, MS_BT_VALUE_RAW, 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        drop_rows(&t->f, "");
        put_cells(t);
        set_rule(t, cases[i].rule);
        assert_int_equal(collect_garbage(&t->f), cases[i].collected);
        assert_int_equal(rows_cells(t), 6 - cases[i].collected);
    }
    ms_arena_release(&arena);
}

static void empty_rows_disappear_and_the_future_never_expires(void **state)
{
    timed *t = *state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    create_ruled(t, ms_bt_gc_rule_max_age(&arena, SECOND), MS_BT_VALUE_RAW, 0);
    put_at(t, "a", "f", START_MICROS);
    put_at(t, "b", "f", INT64_MAX - INT64_MAX % 1000);
    put_at(t, "c", "f", 0);
    assert_int_equal(collect_garbage(&t->f), 1);
    ms_env_clock_advance_us(&t->clock, 2 * SECOND);
    assert_int_equal(collect_garbage(&t->f), 1);
    assert_int_equal(rows_cells(t), 1);
    assert_rows_of(&t->f,
                   &(ms_bt_read_options){.table = t->f.table,
                                         .rows = {.keys = &(ms_str){"a", 1}, .key_count = 1}},
                   "");
    ms_arena_release(&arena);
}

static void what_was_collected_is_in_the_change_stream(void **state)
{
    timed *t = *state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    create_ruled(t, ms_bt_gc_rule_max_versions(&arena, 1), MS_BT_VALUE_RAW, DAY_MICROS);
    for (int i = 1; i <= 3; i++) {
        put_at(t, "a", "f", i * 1000);
        ms_bt_status bt = set_cell(&t->f, "a", "f", "other", i * 1000, "v");
        assert_bt(&bt, MS_BT_OK);
    }
    put_at(t, "b", "f", 1000);
    stream s = stream_from_now(&t->f, "", "");
    assert_int_equal(collect_garbage(&t->f), 4);
    assert_changes(&s, 1, "gc a{-f:other[0,3000),-f:q[0,3000)}");
    assert_silent(&s, &t->clock);
    stream_close(&s);
    assert_rows(&t->f, "a{f:other@3000=v,f:q@3000=v}b{f:q@1000=v}");
    ms_arena_release(&arena);
}

static void aggregates_are_collected_by_bucket(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    ms_status st = {0};
    ms_arena arena;
    ms_arena_init(&arena, 0);
    create_ruled(t, ms_bt_gc_rule_max_versions(&arena, 1), MS_BT_VALUE_INT64_SUM, DAY_MICROS);
    stream s = stream_from_now(f, "", "");
    ms_bt_mutation_batch batch;
    ms_bt_mutation_batch_init(&batch, 1u << 16);
    uint16_t family = 0;
    assert_ok(ms_bt_mutation_batch_family(&batch, ms_str_lit("f"), &family, &st));
    for (int i = 0; i < 4; i++) {
        ms_bt_mutation add = {.kind = MS_BT_MUTATION_ADD_TO_CELL,
                              .family = family,
                              .timestamp_micros = i / 2 * 1000,
                              .qualifier = ms_str_lit("q"),
                              .value = ms_str_make("\0\0\0\0\0\0\0\x02", 8)};
        assert_ok(ms_bt_mutation_batch_begin_row(&batch, ms_str_lit("a"), &st));
        assert_ok(ms_bt_mutation_batch_append(&batch, &add, &st));
        ms_bt_mutation_batch_end_row(&batch);
    }
    ms_bt_status bt = write_batch(f, &batch);
    assert_bt(&bt, MS_BT_OK);
    ms_bt_mutation_batch_release(&batch);
    assert_changes(&s, 4,
                   "a{f:q@0+=\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02} "
                   "a{f:q@0+=\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02} "
                   "a{f:q@1000+=\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02} "
                   "a{f:q@1000+=\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02}");
    assert_int_equal(collect_garbage(f), 1);
    assert_changes(&s, 1, "gc a{-f:q[0,1000)}");
    assert_rows(f, "a{f:q@1000=\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x04}");
    stream_close(&s);
    ms_arena_release(&arena);
}

static void change_family(timed *t, ms_bt_family_change_kind kind, const char *name)
{
    ms_bt_family_change change = {kind, {.name = ms_str_cstr(name)}};
    ms_bt_table_call call = admin_call_of(&t->f);
    call.changes = &change;
    call.change_count = 1;
    ms_bt_status bt = admin_call(&t->f, &call, ms_bt_client_modify_families);
    assert_bt(&bt, MS_BT_OK);
    ms_bt_table_call_release(&call);
}

/* Bytes of cells in the key-value store, hidden ones too. */
static uint64_t stored_bytes(timed *t)
{
    ms_bt_sample_row_keys call;
    ms_bt_sample_row_keys_init(&call, &t->f.mailbox, done_nothing, NULL);
    call.table = &t->f.table;
    ms_bt_client_sample_row_keys(t->f.client, &call);
    ms_bt_call_wait(&call.call, &t->f.parker);
    assert_bt(&call.call.status, MS_BT_OK);
    uint64_t bytes = (uint64_t)call.samples[call.sample_count - 1].offset_bytes;
    ms_bt_sample_row_keys_release(&call);
    return bytes;
}

static void cells_of_dropped_families_go_without_a_word(void **state)
{
    timed *t = *state;
    create_ruled(t, NULL, MS_BT_VALUE_RAW, DAY_MICROS);
    put_at(t, "a", "f", 1000);
    put_at(t, "a", "g", 1000);
    put_at(t, "b", "g", 1000);
    stream s = stream_from_now(&t->f, "", "");
    change_family(t, MS_BT_FAMILY_DROP, "g");
    change_family(t, MS_BT_FAMILY_CREATE, "g");
    assert_rows(&t->f, "a{f:q@1000=v}");
    put_at(t, "b", "g", 2000);
    assert_changes(&s, 1, "b{g:q@2000=v}");
    uint64_t before = stored_bytes(t);
    assert_int_equal(collect_garbage(&t->f), 0);
    assert_true(stored_bytes(t) < before);
    assert_rows(&t->f, "a{f:q@1000=v}b{g:q@2000=v}");
    assert_silent(&s, &t->clock);
    stream_close(&s);
    /* Once cleaned, a table without rules is not walked again; after another drop it is. */
    assert_int_equal(collect_garbage(&t->f), 0);
    fixture_close(&t->f);
    fixture_open(&t->f);
    before = stored_bytes(t);
    change_family(t, MS_BT_FAMILY_DROP, "g");
    assert_int_equal(collect_garbage(&t->f), 0);
    assert_true(stored_bytes(t) < before);
}

static void many_rows_and_versions_are_collected_in_turns(void **state)
{
    timed *t = *state;
    fixture *f = &t->f;
    ms_status st = {0};
    ms_arena arena;
    ms_arena_init(&arena, 0);
    create_ruled(t, ms_bt_gc_rule_max_versions(&arena, 2), MS_BT_VALUE_RAW, 0);
    ms_bt_mutation_batch batch;
    ms_bt_mutation_batch_init(&batch, 64u << 20);
    uint16_t family = 0;
    assert_ok(ms_bt_mutation_batch_family(&batch, ms_str_lit("f"), &family, &st));
    for (int row = 0; row < 700; row++) {
        char key[16];
        snprintf(key, sizeof(key), "%05d", row);
        /* The last row has more than is deleted one by one. */
        int versions = row == 699 ? 12000 : 3;
        assert_ok(ms_bt_mutation_batch_begin_row(&batch, ms_str_cstr(key), &st));
        for (int i = 0; i < versions; i++) {
            assert_ok(ms_bt_mutation_batch_set_cell(&batch, family, ms_str_lit("q"), i * 1000,
                                                    ms_str_lit("v"), &st));
        }
        ms_bt_mutation_batch_end_row(&batch);
    }
    ms_bt_status bt = write_batch(f, &batch);
    assert_bt(&bt, MS_BT_OK);
    ms_bt_mutation_batch_release(&batch);
    assert_int_equal(collect_garbage(f), 699 + 11998);
    assert_int_equal(rows_cells(t), 1400);
    assert_int_equal(collect_garbage(f), 0);
    ms_arena_release(&arena);
}

static void collecting_is_refused_where_there_is_no_table(void **state)
{
    timed *t = *state;
    ms_bt_status bt = call_with_key(&t->f, "", ms_bt_client_collect_garbage);
    assert_bt(&bt, MS_BT_NOT_FOUND);
    t->f.table.table = ms_str_lit("a/b");
    bt = call_with_key(&t->f, "", ms_bt_client_collect_garbage);
    assert_bt(&bt, MS_BT_INVALID_ARGUMENT);
}

static void a_failed_write_ends_the_collection(void **state)
{
    timed *t = *state;
    ms_status st = {0};
    ms_arena arena;
    ms_arena_init(&arena, 0);
    create_ruled(t, ms_bt_gc_rule_max_versions(&arena, 1), MS_BT_VALUE_RAW, 0);
    put_at(t, "a", "f", 1000);
    put_at(t, "a", "f", 2000);
    assert_ok(ms_env_faults_set(ms_str_lit("kv.write:1:fail"), &st));
    ms_bt_status bt = call_with_key(&t->f, "", ms_bt_client_collect_garbage);
    assert_bt(&bt, MS_BT_UNAVAILABLE);
    assert_ok(ms_env_faults_set(ms_str_lit(""), &st));
    bt = call_with_key(&t->f, "", ms_bt_client_collect_garbage);
    assert_bt(&bt, MS_BT_UNAVAILABLE);
    fixture_close(&t->f);
    fixture_open(&t->f);
    assert_int_equal(collect_garbage(&t->f), 1);
    ms_arena_release(&arena);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, timed_setup, timed_teardown)
    const struct CMUnitTest tests[] = {
        TEST(cells_stay_until_they_are_collected),
        TEST(every_rule_collects_what_it_says),
        TEST(empty_rows_disappear_and_the_future_never_expires),
        TEST(what_was_collected_is_in_the_change_stream),
        TEST(aggregates_are_collected_by_bucket),
        TEST(cells_of_dropped_families_go_without_a_word),
        TEST(many_rows_and_versions_are_collected_in_turns),
        TEST(collecting_is_refused_where_there_is_no_table),
        TEST(a_failed_write_ends_the_collection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
