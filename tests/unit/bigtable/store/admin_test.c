/* SPDX-License-Identifier: Apache-2.0 */
/* Calls on tables: what they make, what they show, and what they refuse. */
#include "change_testing.h"

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof(*f));
    fixture_init(f, MS_BT_SYNC_GROUP);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture_release(*state);
    free(*state);
    return 0;
}

static const char *const ab[] = {"a", "b"};

static void tables_are_created_listed_and_grown(void **state)
{
    fixture *f = *state;
    ms_bt_table_call call;
    ms_bt_table_call_init(&call, &f->mailbox, done_nothing, NULL);
    call.name = f->table;
    ms_bt_client_list_tables(f->client, &call);
    ms_bt_call_wait(&call.call, &f->parker);
    assert_bt(&call.call.status, MS_BT_NOT_FOUND);
    create_table(f, ab, 2);
    ms_arena arena;
    ms_arena_init(&arena, 0);
    const ms_bt_gc_rule *rule = ms_bt_gc_rule_max_versions(&arena, 3);
    ms_bt_family family = {.name = ms_str_lit("c"), .gc_rule = rule};
    call.families = &family;
    call.family_count = 1;
    ms_bt_client_add_families(f->client, &call);
    ms_bt_call_wait(&call.call, &f->parker);
    assert_bt(&call.call.status, MS_BT_OK);
    ms_bt_client_add_families(f->client, &call);
    ms_bt_call_wait(&call.call, &f->parker);
    assert_bt(&call.call.status, MS_BT_ALREADY_EXISTS);
    assert_string_equal(call.call.status.text, "family \"c\" already exists");
    fixture_close(f);
    fixture_open(f);
    ms_bt_client_get_table(f->client, &call);
    ms_bt_call_wait(&call.call, &f->parker);
    assert_bt(&call.call.status, MS_BT_OK);
    assert_int_equal(call.table->family_count, 3);
    assert_str_equal(call.table->families[2].name, "c");
    assert_true(ms_bt_gc_rule_equals(call.table->families[2].gc_rule, rule));
    assert_int_equal(call.table->granularity_micros, 1000);
    ms_bt_client_list_tables(f->client, &call);
    ms_bt_call_wait(&call.call, &f->parker);
    assert_int_equal(call.name_count, 1);
    assert_str_equal(call.names[0], "t");
    ms_bt_table again = {.name = f->table};
    call.table = &again;
    ms_bt_client_create_table(f->client, &call);
    ms_bt_call_wait(&call.call, &f->parker);
    assert_bt(&call.call.status, MS_BT_ALREADY_EXISTS);
    ms_arena_release(&arena);
    ms_bt_table_call_release(&call);
}

static ms_bt_status create_as(fixture *f, const ms_bt_table *table)
{
    ms_bt_table_call call;
    ms_bt_table_call_init(&call, &f->mailbox, done_nothing, NULL);
    call.table = table;
    ms_bt_client_create_table(f->client, &call);
    ms_bt_call_wait(&call.call, &f->parker);
    ms_bt_status bt = call.call.status;
    ms_bt_table_call_release(&call);
    return bt;
}

static void wrong_tables_are_refused_and_leave_nothing(void **state)
{
    fixture *f = *state;
    ms_bt_family families[] = {{.name = ms_str_lit("cf")}, {.name = ms_str_lit("c:f")}};
    ms_bt_table table = {.name = f->table, .families = families, .family_count = 2};
    ms_bt_status bt = create_as(f, &table);
    assert_bt(&bt, MS_BT_INVALID_ARGUMENT);
    table.family_count = 1;
#ifndef MS_OVER_GRPC /* no message has a type that does not exist */
    families[0].type = MS_BT_VALUE_COUNT;
    bt = create_as(f, &table);
    assert_bt(&bt, MS_BT_INVALID_ARGUMENT);
    families[0].type = MS_BT_VALUE_RAW;
#endif
    table.change_retention_micros = INT64_C(86400) * 8 * 1000000;
    bt = create_as(f, &table);
    assert_bt(&bt, MS_BT_INVALID_ARGUMENT);
    table.change_retention_micros = 0;
    table.name.table = ms_str_lit("a/b");
    bt = create_as(f, &table);
    assert_bt(&bt, MS_BT_INVALID_ARGUMENT);
    table.name = f->table;
    bt = create_as(f, &table);
    assert_bt(&bt, MS_BT_OK);
}

static void families_are_added_all_or_none(void **state)
{
    fixture *f = *state;
    create_table(f, ab, 2);
    ms_bt_family families[] = {{.name = ms_str_lit("c")}, {.name = ms_str_lit("b")}};
    ms_bt_table_call call;
    ms_bt_table_call_init(&call, &f->mailbox, done_nothing, NULL);
    call.name = f->table;
    call.families = families;
    call.family_count = 2;
    ms_bt_client_add_families(f->client, &call);
    ms_bt_call_wait(&call.call, &f->parker);
    assert_bt(&call.call.status, MS_BT_ALREADY_EXISTS);
    families[1].name = ms_str_lit("c");
    ms_bt_client_add_families(f->client, &call);
    ms_bt_call_wait(&call.call, &f->parker);
    assert_bt(&call.call.status, MS_BT_ALREADY_EXISTS);
    ms_bt_client_get_table(f->client, &call);
    ms_bt_call_wait(&call.call, &f->parker);
    assert_int_equal(call.table->family_count, 2);
    call.name.table = ms_str_lit("none");
    ms_bt_client_add_families(f->client, &call);
    ms_bt_call_wait(&call.call, &f->parker);
    assert_bt(&call.call.status, MS_BT_NOT_FOUND);
    ms_bt_client_get_table(f->client, &call);
    ms_bt_call_wait(&call.call, &f->parker);
    assert_bt(&call.call.status, MS_BT_NOT_FOUND);
    ms_bt_table_call_release(&call);
}

static void failed_write_makes_no_table(void **state)
{
    fixture *f = *state;
    ms_status st = {0};
    ms_bt_table table = {.name = f->table};
    assert_ok(ms_env_faults_set(ms_str_lit("kv.write:1:fail"), &st));
    ms_bt_status bt = create_as(f, &table);
    assert_bt(&bt, MS_BT_UNAVAILABLE);
    assert_ok(ms_env_faults_set(ms_str_lit(""), &st));
    fixture_close(f);
    fixture_open(f);
    bt = create_as(f, &table);
    assert_bt(&bt, MS_BT_OK);
}

/* A table as text: "f g:int64-sum{versions() > 1} | c,m | retains 1 d | protected". */
static void append_table(const ms_bt_table *table, ms_buf *out)
{
    ms_status st = {0};
    for (size_t i = 0; i < table->family_count; i++) {
        const ms_bt_family *family = &table->families[i];
        append_format(out, "%s%.*s", i == 0 ? "" : " ", MS_STR_ARG(family->name));
        if (family->type != MS_BT_VALUE_RAW) {
            append_format(out, ":%s", ms_bt_value_type_name(family->type));
        }
        if (family->gc_rule != NULL) {
            append_format(out, "{");
            assert_ok(ms_bt_gc_rule_render(family->gc_rule, out, &st));
            append_format(out, "}");
        }
    }
    for (size_t i = 0; i < table->split_count; i++) {
        append_format(out, "%s%.*s", i == 0 ? " | " : ",", MS_STR_ARG(table->splits[i]));
    }
    if (table->change_retention_micros != 0) {
        append_format(out, " | retains %d d", (int)(table->change_retention_micros / DAY_MICROS));
    }
    append_format(out, "%s", table->is_protected ? " | protected" : "");
}

static void assert_table_is(fixture *f, const char *expected)
{
    ms_buf out;
    ms_buf_init(&out, 1u << 16);
    ms_bt_table_call call = admin_call_of(f);
    ms_bt_status bt = admin_call(f, &call, ms_bt_client_get_table);
    assert_bt(&bt, MS_BT_OK);
    append_table(call.table, &out);
    assert_str_equal(ms_buf_view(&out), expected);
    ms_bt_table_call_release(&call);
    ms_buf_release(&out);
}

/* The table is this now and after a restart. */
static void assert_table(fixture *f, const char *expected)
{
    assert_table_is(f, expected);
    fixture_close(f);
    fixture_open(f);
    assert_table_is(f, expected);
}

static ms_bt_status modify(fixture *f, const ms_bt_family_change *changes, size_t count)
{
    ms_bt_table_call call = admin_call_of(f);
    call.changes = changes;
    call.change_count = count;
    ms_bt_status bt = admin_call(f, &call, ms_bt_client_modify_families);
    assert_int_equal(call.table != NULL, ms_bt_status_is_ok(&bt));
    ms_bt_table_call_release(&call);
    return bt;
}

static ms_bt_family_change change_of(ms_bt_family_change_kind kind, const char *name)
{
    return (ms_bt_family_change){kind, {.name = ms_str_cstr(name)}};
}

static void families_are_modified_in_order_all_or_none(void **state)
{
    fixture *f = *state;
    create_table(f, ab, 2);
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_bt_family_change changes[] = {
        change_of(MS_BT_FAMILY_CREATE, "c"), change_of(MS_BT_FAMILY_UPDATE, "c"),
        change_of(MS_BT_FAMILY_DROP, "a"),   change_of(MS_BT_FAMILY_CREATE, "a"),
        change_of(MS_BT_FAMILY_UPDATE, "b"),
    };
    changes[0].family.type = MS_BT_VALUE_INT64_SUM;
    changes[1].family.gc_rule = ms_bt_gc_rule_max_versions(&arena, 1);
    changes[4].family.gc_rule = ms_bt_gc_rule_max_age(&arena, DAY_MICROS);
    ms_bt_status bt = modify(f, changes, 5);
    assert_bt(&bt, MS_BT_OK);
    assert_table(f, "a b{age() > 1 d} c:int64-sum{versions() > 1}");
    /* Nothing of a list is done when one of it cannot be. */
    changes[0] = change_of(MS_BT_FAMILY_DROP, "a");
    changes[1] = change_of(MS_BT_FAMILY_CREATE, "b");
    bt = modify(f, changes, 2);
    assert_bt(&bt, MS_BT_ALREADY_EXISTS);
    changes[1] = change_of(MS_BT_FAMILY_UPDATE, "a");
    bt = modify(f, changes, 2);
    assert_bt(&bt, MS_BT_NOT_FOUND);
    changes[1] = change_of(MS_BT_FAMILY_DROP, "a");
    bt = modify(f, changes, 2);
    assert_bt(&bt, MS_BT_NOT_FOUND);
    changes[1] = change_of(MS_BT_FAMILY_CREATE, "a:b");
    bt = modify(f, changes, 2);
    assert_bt(&bt, MS_BT_INVALID_ARGUMENT);
    changes[1] = change_of(MS_BT_FAMILY_UPDATE, "b");
    changes[1].family.gc_rule = ms_bt_gc_rule_max_versions(&arena, 0);
    bt = modify(f, changes, 2);
    assert_bt(&bt, MS_BT_INVALID_ARGUMENT);
    bt = modify(f, changes, 0);
    assert_bt(&bt, MS_BT_INVALID_ARGUMENT);
    /* The type stays what it was. */
    changes[0] = change_of(MS_BT_FAMILY_UPDATE, "c");
    changes[0].family.type = MS_BT_VALUE_INT64_MAX;
    bt = modify(f, changes, 1);
    assert_bt(&bt, MS_BT_INVALID_ARGUMENT);
    assert_table(f, "a b{age() > 1 d} c:int64-sum{versions() > 1}");
    changes[0].family.type = MS_BT_VALUE_INT64_SUM;
    bt = modify(f, changes, 1);
    assert_bt(&bt, MS_BT_OK);
    assert_table(f, "a b{age() > 1 d} c:int64-sum");
    f->table.table = ms_str_lit("none");
    bt = modify(f, changes, 1);
    assert_bt(&bt, MS_BT_NOT_FOUND);
    ms_arena_release(&arena);
}

static void a_family_that_is_dropped_and_made_again_is_empty(void **state)
{
    fixture *f = *state;
    create_table(f, ab, 2);
    ms_bt_status bt = set_cell(f, "r", "a", "q", 1000, "old");
    assert_bt(&bt, MS_BT_OK);
    bt = set_cell(f, "s", "b", "q", 1000, "stays");
    assert_bt(&bt, MS_BT_OK);
    const ms_bt_family_change changes[] = {change_of(MS_BT_FAMILY_DROP, "a"),
                                           change_of(MS_BT_FAMILY_CREATE, "a")};
    bt = modify(f, changes, 1);
    assert_bt(&bt, MS_BT_OK);
    assert_rows(f, "s{b:q@1000=stays}");
    bt = set_cell(f, "r", "a", "q", 1000, "new");
    assert_bt(&bt, MS_BT_NOT_FOUND);
    bt = modify(f, changes + 1, 1);
    assert_bt(&bt, MS_BT_OK);
    assert_rows(f, "s{b:q@1000=stays}");
    bt = set_cell(f, "r", "a", "q", 2000, "new");
    assert_bt(&bt, MS_BT_OK);
    assert_rows(f, "r{a:q@2000=new}s{b:q@1000=stays}");
}

static ms_bt_status update(fixture *f, uint32_t mask, int64_t retention, bool is_protected)
{
    ms_bt_table table = {.change_retention_micros = retention, .is_protected = is_protected};
    ms_bt_table_call call = admin_call_of(f);
    call.table = &table;
    call.update_mask = mask;
    ms_bt_status bt = admin_call(f, &call, ms_bt_client_update_table);
    ms_bt_table_call_release(&call);
    return bt;
}

static void tables_are_updated_by_mask(void **state)
{
    fixture *f = *state;
    create_table(f, ab, 2);
    ms_bt_status bt = update(f, MS_BT_UPDATE_CHANGE_STREAM, 2 * DAY_MICROS, true);
    assert_bt(&bt, MS_BT_OK);
    assert_table(f, "a b | retains 2 d");
    bt = update(f, MS_BT_UPDATE_PROTECTION, 0, true);
    assert_bt(&bt, MS_BT_OK);
    assert_table(f, "a b | retains 2 d | protected");
    bt = update(f, MS_BT_UPDATE_CHANGE_STREAM | MS_BT_UPDATE_PROTECTION, 0, false);
    assert_bt(&bt, MS_BT_OK);
    assert_table(f, "a b");
    bt = update(f, 0, 0, true);
    assert_bt(&bt, MS_BT_INVALID_ARGUMENT);
    bt = update(f, 4, 0, true);
    assert_bt(&bt, MS_BT_INVALID_ARGUMENT);
    bt = update(f, MS_BT_UPDATE_CHANGE_STREAM | MS_BT_UPDATE_PROTECTION, DAY_MICROS - 1, true);
    assert_bt(&bt, MS_BT_INVALID_ARGUMENT);
    assert_table(f, "a b");
}

static void a_protected_table_and_its_families_stay(void **state)
{
    fixture *f = *state;
    create_table(f, ab, 2);
    ms_bt_status bt = update(f, MS_BT_UPDATE_PROTECTION, 0, true);
    assert_bt(&bt, MS_BT_OK);
    bt = call_with_key(f, "", ms_bt_client_drop_table);
    assert_bt(&bt, MS_BT_FAILED_PRECONDITION);
    const ms_bt_family_change drop = change_of(MS_BT_FAMILY_DROP, "a");
    bt = modify(f, &drop, 1);
    assert_bt(&bt, MS_BT_FAILED_PRECONDITION);
    const ms_bt_family_change create = change_of(MS_BT_FAMILY_CREATE, "c");
    bt = modify(f, &create, 1);
    assert_bt(&bt, MS_BT_OK);
    assert_table(f, "a b c | protected");
}

static void a_dropped_table_is_gone_and_a_new_one_of_its_name_is_empty(void **state)
{
    fixture *f = *state;
    create_table(f, ab, 2);
    ms_bt_status bt = set_cell(f, "r", "a", "q", 1000, "old");
    assert_bt(&bt, MS_BT_OK);
    bt = call_with_key(f, "", ms_bt_client_drop_table);
    assert_bt(&bt, MS_BT_OK);
    bt = call_with_key(f, "", ms_bt_client_drop_table);
    assert_bt(&bt, MS_BT_NOT_FOUND);
    bt = set_cell(f, "r", "a", "q", 1000, "new");
    assert_bt(&bt, MS_BT_NOT_FOUND);
    create_table(f, ab, 2);
    assert_rows(f, "");
    fixture_close(f);
    fixture_open(f);
    assert_rows(f, "");
}

static void write_key(fixture *f, ms_str key)
{
    ms_status st = {0};
    ms_bt_mutation_batch batch;
    ms_bt_mutation_batch_init(&batch, 1u << 16);
    uint16_t family = 0;
    assert_ok(ms_bt_mutation_batch_family(&batch, ms_str_lit("a"), &family, &st));
    assert_ok(ms_bt_mutation_batch_begin_row(&batch, key, &st));
    assert_ok(
        ms_bt_mutation_batch_set_cell(&batch, family, ms_str_lit(""), 0, ms_str_lit(""), &st));
    ms_bt_mutation_batch_end_row(&batch);
    ms_bt_status bt = write_batch(f, &batch);
    assert_bt(&bt, MS_BT_OK);
    ms_bt_mutation_batch_release(&batch);
}

/* Drops what begins with a prefix, and compares with what that means, with and without a stream. */
static void rows_are_dropped_by_the_bytes_of_their_prefix(void **state)
{
    fixture *f = *state;
    const ms_str keys[] = {
        {"\0", 1},  {"\0\0", 2},    {"\0\1", 2},   {"\0\xff", 2},   {"a", 1},
        {"a\0", 2}, {"a\0\xff", 3}, {"a\xff", 2},  {"a\xff\0", 3},  {"a\xff\xff", 3},
        {"b", 1},   {"\xff", 1},    {"\xff\0", 2}, {"\xff\xff", 2}, {"\xff\xff\xff", 3},
    };
    const size_t count = sizeof(keys) / sizeof(keys[0]);
    for (size_t i = 0; i <= 2 * count; i++) {
        ms_str prefix = i < 2 * count ? keys[i / 2] : ms_str_lit("");
        create_table(f, ab, 2);
        ms_bt_status bt = update(f, MS_BT_UPDATE_CHANGE_STREAM, i % 2 == 0 ? 0 : DAY_MICROS, false);
        assert_bt(&bt, MS_BT_OK);
        ms_buf expected;
        ms_buf_init(&expected, 1u << 16);
        for (size_t j = 0; j < count; j++) {
            write_key(f, keys[j]);
            char text[256];
            if (!ms_str_starts_with(keys[j], prefix)) {
                append_format(&expected, "%s{a:@0=}", bytes_text(keys[j], text));
            }
        }
        ms_bt_table_call call = admin_call_of(f);
        call.key = prefix;
        bt = admin_call(f, &call, ms_bt_client_drop_rows);
        assert_bt(&bt, MS_BT_OK);
        ms_bt_table_call_release(&call);
        ms_status st = {0};
        assert_ok(ms_buf_append_byte(&expected, '\0', &st));
        assert_rows(f, expected.ptr);
        ms_buf_release(&expected);
        bt = call_with_key(f, "", ms_bt_client_drop_table);
        assert_bt(&bt, MS_BT_OK);
    }
}

static void many_logged_rows_are_dropped_in_steps_between_which_others_write(void **state)
{
    fixture *f = *state;
    create_table(f, ab, 2);
    ms_bt_status bt = update(f, MS_BT_UPDATE_CHANGE_STREAM, DAY_MICROS, false);
    assert_bt(&bt, MS_BT_OK);
    enum { ROWS = 3500 };
    char key[16];
    ms_status st = {0};
    ms_bt_mutation_batch batch;
    ms_bt_mutation_batch_init(&batch, 4u << 20);
    uint16_t family = 0;
    assert_ok(ms_bt_mutation_batch_family(&batch, ms_str_lit("a"), &family, &st));
    for (int i = 0; i < ROWS; i++) {
        snprintf(key, sizeof(key), "r%06d", i);
        assert_ok(ms_bt_mutation_batch_begin_row(&batch, ms_str_cstr(key), &st));
        assert_ok(ms_bt_mutation_batch_set_cell(&batch, family, ms_str_lit("q"), 0, ms_str_lit("v"),
                                                &st));
        ms_bt_mutation_batch_end_row(&batch);
    }
    bt = write_batch(f, &batch);
    assert_bt(&bt, MS_BT_OK);
    ms_bt_mutation_batch_release(&batch);
    stream s = stream_from_now(f, "", "");
    ms_bt_table_call call = admin_call_of(f);
    call.key = ms_str_lit("r");
    ms_bt_client_drop_rows(f->client, &call);
    bt = set_cell(f, "s", "a", "q", 0, "v");
    assert_bt(&bt, MS_BT_OK);
    /* The write was queued behind the first step only. */
    assert_true(ms_bt_call_is_outstanding(&call.call) || call.call.status.code == MS_BT_OK);
    ms_bt_call_wait(&call.call, &f->parker);
    assert_bt(&call.call.status, MS_BT_OK);
    ms_bt_table_call_release(&call);
    assert_rows(f, "s{a:q@0=v}");
    ms_buf out;
    ms_buf_init(&out, 1u << 20);
    stream_take(&s, ROWS + 1, false, &out);
    append_format(&out, " ");
    for (int i = 0; i < ROWS; i++) {
        char expected[32];
        snprintf(expected, sizeof(expected), "r%06d{-a,-b} ", i);
        assert_non_null(memmem(out.ptr, out.bytes, expected, strlen(expected)));
    }
    ms_buf_release(&out);
    stream_close(&s);
}

#ifndef MS_OVER_GRPC /* no message of a table has its tablets */
static void splits_and_merges_show_in_the_table_and_its_samples(void **state)
{
    fixture *f = *state;
    create_table(f, ab, 2);
    split(f, "m");
    split(f, "c");
    assert_table(f, "a b | c,m");
    ms_bt_status bt = call_with_key(f, "m", ms_bt_client_split_tablet);
    assert_bt(&bt, MS_BT_FAILED_PRECONDITION);
    bt = call_with_key(f, "", ms_bt_client_split_tablet);
    assert_bt(&bt, MS_BT_INVALID_ARGUMENT);
    bt = call_with_key(f, "x", ms_bt_client_merge_tablets);
    assert_bt(&bt, MS_BT_FAILED_PRECONDITION);
    ms_bt_sample_row_keys call;
    ms_bt_sample_row_keys_init(&call, &f->mailbox, done_nothing, NULL);
    call.table = &f->table;
    ms_bt_client_sample_row_keys(f->client, &call);
    ms_bt_call_wait(&call.call, &f->parker);
    assert_bt(&call.call.status, MS_BT_OK);
    assert_int_equal(call.sample_count, 3);
    assert_str_equal(call.samples[0].key, "c");
    assert_str_equal(call.samples[1].key, "m");
    assert_str_equal(call.samples[2].key, "");
    ms_bt_sample_row_keys_release(&call);
    merge(f, "c");
    assert_table(f, "a b | m");
    merge(f, "m");
    assert_table(f, "a b");
}
#endif

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(tables_are_created_listed_and_grown),
        TEST(wrong_tables_are_refused_and_leave_nothing),
        TEST(families_are_added_all_or_none),
        TEST(failed_write_makes_no_table),
        TEST(families_are_modified_in_order_all_or_none),
        TEST(a_family_that_is_dropped_and_made_again_is_empty),
        TEST(tables_are_updated_by_mask),
        TEST(a_protected_table_and_its_families_stay),
        TEST(a_dropped_table_is_gone_and_a_new_one_of_its_name_is_empty),
        TEST(rows_are_dropped_by_the_bytes_of_their_prefix),
        TEST(many_logged_rows_are_dropped_in_steps_between_which_others_write),
#ifndef MS_OVER_GRPC
        TEST(splits_and_merges_show_in_the_table_and_its_samples),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
