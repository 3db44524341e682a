/* SPDX-License-Identifier: Apache-2.0 */
/* Calls on tables: what they make, what they show, and what they refuse. */
#include "store_testing.h"

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
    families[0].type = MS_BT_VALUE_COUNT;
    bt = create_as(f, &table);
    assert_bt(&bt, MS_BT_INVALID_ARGUMENT);
    families[0].type = MS_BT_VALUE_RAW;
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

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(tables_are_created_listed_and_grown),
        TEST(wrong_tables_are_refused_and_leave_nothing),
        TEST(families_are_added_all_or_none),
        TEST(failed_write_makes_no_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
