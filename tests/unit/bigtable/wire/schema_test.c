/* SPDX-License-Identifier: Apache-2.0 */
/* Tables, families and rules: there and back, views, and what is refused by name. */
#include "bigtable/wire/wire_testing.h"

#include "bigtable/wire/schema.h"

#define DAY_MICROS INT64_C(86400000000)

static const ms_bt_gc_rule *sample_rule(void)
{
    const ms_bt_gc_rule *both[] = {ms_bt_gc_rule_max_versions(&arena, 3),
                                   ms_bt_gc_rule_max_age(&arena, 7 * DAY_MICROS + 1)};
    const ms_bt_gc_rule *either[] = {ms_bt_gc_rule_intersection(&arena, both, 2),
                                     ms_bt_gc_rule_max_age(&arena, 1000)};
    return ms_bt_gc_rule_union(&arena, either, 2);
}

static void rules_come_back_in_the_size_that_the_model_states(void **state)
{
    (void)state;
    const ms_bt_gc_rule *rules[] = {sample_rule(), ms_bt_gc_rule_max_versions(&arena, 1),
                                    ms_bt_gc_rule_max_age(&arena, 1500000),
                                    ms_bt_gc_rule_union(&arena, NULL, 0)};
    for (size_t i = 0; i < 4; i++) {
        ms_str bytes = packed(&ms_wire_gc_rule_to_pb(rules[i], &arena)->base);
        assert_int_equal(bytes.bytes, ms_bt_gc_rule_wire_bytes(rules[i]));
        const ms_bt_gc_rule *back;
        assert_bt_ok(ms_wire_gc_rule_from_pb(
            ms_pb_unpack(gc_rule, bytes, &ms_wire_request_limits, &arena, &bt), &arena, &back,
            &bt));
        assert_true(ms_bt_gc_rule_equals(back, rules[i]));
    }
}

static void no_rule_keeps_everything(void **state)
{
    (void)state;
    const ms_bt_gc_rule *back = sample_rule();
    assert_null(ms_wire_gc_rule_to_pb(NULL, &arena));
    assert_bt_ok(ms_wire_gc_rule_from_pb(NULL, &arena, &back, &bt));
    assert_null(back);
    assert_bt_ok(ms_wire_gc_rule_from_pb(ms_pb_new(&arena, gc_rule), &arena, &back, &bt));
    assert_null(back);
    /* In a union it would mean something else. */
    assert_bt_fails(ms_wire_gc_rule_from_pb(ms_pb_unpack(gc_rule, bytes_lit("\x22\x02\x0a\x00"),
                                                         &ms_wire_request_limits, &arena, &bt),
                                            &arena, &back, &bt),
                    MS_BT_INVALID_ARGUMENT, "is not set");
}

static void types_of_families_come_back(void **state)
{
    (void)state;
    for (int type = MS_BT_VALUE_RAW; type < MS_BT_VALUE_COUNT; type++) {
        const ms_bt_family family = {ms_str_lit("cf"), (ms_bt_value_type)type, NULL};
        ms_bt_family back;
        ms_str bytes = packed(&ms_wire_family_to_pb(&family, &arena)->base);
        assert_bt_ok(ms_wire_family_from_pb(
            ms_str_lit("cf"),
            ms_pb_unpack(column_family, bytes, &ms_wire_request_limits, &arena, &bt), &arena, &back,
            &bt));
        assert_int_equal(back.type, type);
        assert_str_equal(back.name, "cf");
        assert_null(back.gc_rule);
    }
    ms_bt_family back;
    assert_bt_ok(ms_wire_family_from_pb(ms_str_lit("cf"), NULL, &arena, &back, &bt));
    assert_int_equal(back.type, MS_BT_VALUE_RAW);
}

static ms_bt_code family_of(ms_str type)
{
    ms_pb_column_family *message = ms_pb_new(&arena, column_family);
    message->value_type = ms_pb_unpack(admin_type, type, &ms_wire_request_limits, &arena, &bt);
    assert_non_null(message->value_type);
    ms_bt_family family;
    return ms_wire_family_from_pb(ms_str_lit("cf"), message, &arena, &family, &bt);
}

static void types_that_are_not_built_are_refused_by_name(void **state)
{
    (void)state;
    /* Plain bytes, and integers without an encoding, are as good as ours. */
    assert_bt_ok(family_of(bytes_lit("")));
    assert_bt_ok(family_of(bytes_lit("\x0a\x00")));
    assert_bt_ok(family_of(bytes_lit("\x32\x06\x0a\x02\x2a\x00\x22\x00")));
    assert_bt_fails(family_of(bytes_lit("\x12\x00")), MS_BT_UNIMPLEMENTED,
                    "The value_type of family 'cf' is not built");
    assert_bt_fails(family_of(bytes_lit("\x2a\x00")), MS_BT_UNIMPLEMENTED, "family 'cf'");
    /* An aggregate of texts; of integers in another encoding; of nothing; without aggregator. */
    assert_bt_fails(family_of(bytes_lit("\x32\x06\x0a\x02\x12\x00\x22\x00")), MS_BT_UNIMPLEMENTED,
                    "big-endian");
    assert_bt_fails(family_of(bytes_lit("\x32\x0a\x0a\x06\x2a\x04\x0a\x02\x12\x00\x22\x00")),
                    MS_BT_UNIMPLEMENTED, "big-endian");
    assert_bt_fails(family_of(bytes_lit("\x32\x02\x22\x00")), MS_BT_UNIMPLEMENTED, "big-endian");
    assert_bt_fails(family_of(bytes_lit("\x32\x04\x0a\x02\x2a\x00")), MS_BT_INVALID_ARGUMENT,
                    "no aggregator");
}

static ms_bt_table sample_table(void)
{
    static ms_bt_family families[2];
    static const ms_str splits[] = {{"m", 1}, {"t\0", 2}};
    families[0] = (ms_bt_family){ms_str_lit("a"), MS_BT_VALUE_RAW, sample_rule()};
    families[1] = (ms_bt_family){ms_str_lit("b"), MS_BT_VALUE_INT64_SUM, NULL};
    return (ms_bt_table){.name = {ms_str_lit("p"), ms_str_lit("i"), ms_str_lit("t")},
                         .families = families,
                         .family_count = 2,
                         .granularity_micros = MS_BT_GRANULARITY_MICROS,
                         .splits = splits,
                         .split_count = 2,
                         .change_retention_micros = 3 * DAY_MICROS,
                         .is_protected = true};
}

static void assert_same_table(const ms_bt_table *a, const ms_bt_table *b)
{
    assert_true(ms_bt_table_name_equals(&a->name, &b->name));
    assert_int_equal(a->family_count, b->family_count);
    for (size_t i = 0; i < a->family_count; i++) {
        assert_true(ms_str_equals(a->families[i].name, b->families[i].name));
        assert_int_equal(a->families[i].type, b->families[i].type);
        assert_true(ms_bt_gc_rule_equals(a->families[i].gc_rule, b->families[i].gc_rule));
    }
    assert_int_equal(a->granularity_micros, b->granularity_micros);
    assert_int_equal(a->change_retention_micros, b->change_retention_micros);
    assert_int_equal(a->is_protected, b->is_protected);
}

static void tables_come_back(void **state)
{
    (void)state;
    const ms_bt_table table = sample_table();
    ms_str bytes = packed(&ms_wire_table_to_pb(&table, MS_WIRE_TABLE_SCHEMA, &arena)->base);
    ms_bt_table back;
    assert_bt_ok(ms_wire_table_from_pb(
        ms_pb_unpack(table, bytes, &ms_wire_response_limits, &arena, &bt), &arena, &back, &bt));
    assert_same_table(&back, &table);
    assert_int_equal(back.split_count, 0);
}

static void families_come_in_order_whatever_the_map_says(void **state)
{
    (void)state;
    const ms_bt_table table = sample_table();
    ms_pb_table *message = ms_wire_table_to_pb(&table, MS_WIRE_TABLE_FULL, &arena);
    ms_pb_table_column_families_entry *first = message->column_families[0];
    message->column_families[0] = message->column_families[1];
    message->column_families[1] = first;
    ms_bt_table back;
    assert_bt_ok(ms_wire_table_from_pb(message, &arena, &back, &bt));
    assert_same_table(&back, &table);
}

static void views_show_what_they_say(void **state)
{
    (void)state;
    const ms_bt_table table = sample_table();
    const ms_pb_table *name = ms_wire_table_to_pb(&table, MS_WIRE_TABLE_NAME, &arena);
    assert_string_equal(name->name, "projects/p/instances/i/tables/t");
    assert_true(name->n_column_families == 0 && name->n_cluster_states == 0);
    const ms_pb_table *states = ms_wire_table_to_pb(&table, MS_WIRE_TABLE_REPLICATION, &arena);
    assert_true(states->n_column_families == 0 && states->n_cluster_states == 0);
    ms_pb_table *full = ms_wire_table_to_pb(&table, MS_WIRE_TABLE_FULL, &arena);
    const ms_str clusters[] = {ms_str_lit("a"), ms_str_lit("b")};
    ms_wire_table_add_clusters(full, clusters, 2, &arena);
    assert_true(full->n_column_families == 2 && full->n_cluster_states == 2);
    assert_string_equal(full->cluster_states[1]->key, "b");
    assert_false(ms_wire_table_view_has_clusters(MS_WIRE_TABLE_NAME) ||
                 ms_wire_table_view_has_clusters(MS_WIRE_TABLE_SCHEMA));
    assert_true(ms_wire_table_view_has_clusters(MS_WIRE_TABLE_REPLICATION) &&
                ms_wire_table_view_has_clusters(MS_WIRE_TABLE_FULL));
    ms_wire_table_view view;
    assert_bt_ok(ms_wire_table_view_from_pb(0, MS_WIRE_TABLE_SCHEMA, &view, &bt));
    assert_int_equal(view, MS_WIRE_TABLE_SCHEMA);
    const ms_wire_table_view views[] = {[1] = MS_WIRE_TABLE_NAME,
                                        [2] = MS_WIRE_TABLE_SCHEMA,
                                        [3] = MS_WIRE_TABLE_REPLICATION,
                                        [4] = MS_WIRE_TABLE_FULL,
                                        [5] = MS_WIRE_TABLE_NAME};
    for (int i = 1; i <= 5; i++) {
        assert_bt_ok(ms_wire_table_view_from_pb(i, MS_WIRE_TABLE_SCHEMA, &view, &bt));
        assert_int_equal(view, views[i]);
    }
    assert_bt_fails(ms_wire_table_view_from_pb(6, MS_WIRE_TABLE_NAME, &view, &bt),
                    MS_BT_INVALID_ARGUMENT, "6 is no view");
}

static void a_creation_comes_back_with_its_splits(void **state)
{
    (void)state;
    const ms_bt_table table = sample_table();
    ms_str bytes = packed(&ms_wire_create_table_to_pb(&table, &arena)->base);
    ms_bt_table back;
    assert_bt_ok(ms_wire_create_table_from_pb(
        ms_pb_unpack(create_table_request, bytes, &ms_wire_request_limits, &arena, &bt), &arena,
        &back, &bt));
    assert_same_table(&back, &table);
    assert_int_equal(back.split_count, 2);
    assert_same_bytes(back.splits[1], bytes_lit("t\0"));
}

static void a_creation_may_say_little(void **state)
{
    (void)state;
    ms_pb_create_table_request *message = ms_pb_new(&arena, create_table_request);
    ms_bt_table back;
    assert_bt_fails(ms_wire_create_table_from_pb(message, &arena, &back, &bt),
                    MS_BT_INVALID_ARGUMENT, "Invalid name ''");
    message->parent = ms_wire_text(&arena, ms_str_lit("projects/p/instances/i"));
    assert_bt_fails(ms_wire_create_table_from_pb(message, &arena, &back, &bt),
                    MS_BT_INVALID_ARGUMENT, "");
    message->table_id = ms_wire_text(&arena, ms_str_lit("t"));
    assert_bt_ok(ms_wire_create_table_from_pb(message, &arena, &back, &bt));
    assert_int_equal(back.family_count, 0);
    assert_int_equal(back.granularity_micros, 0);
}

static void a_creation_must_not_ask_for_what_is_not_built(void **state)
{
    (void)state;
    const struct {
        ms_str table;
        ms_bt_code code;
        const char *why;
    } cases[] = {
        {bytes_lit("\x6a\x00"), MS_BT_UNIMPLEMENTED, "automated_backup_policy"},
        {bytes_lit("\x72\x00"), MS_BT_UNIMPLEMENTED, "tiered_storage_config"},
        {bytes_lit("\x7a\x00"), MS_BT_UNIMPLEMENTED, "row_key_schema"},
        {bytes_lit("\x20\x03"), MS_BT_INVALID_ARGUMENT, "3 is no granularity"},
        {bytes_lit("\x42\x00"), MS_BT_INVALID_ARGUMENT, "retention_period"},
    };
    const ms_bt_table table = sample_table();
    ms_pb_create_table_request *message = ms_wire_create_table_to_pb(&table, &arena);
    ms_bt_table back;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        message->table = ms_pb_unpack(table, cases[i].table, &ms_wire_request_limits, &arena, &bt);
        assert_bt_fails(ms_wire_create_table_from_pb(message, &arena, &back, &bt), cases[i].code,
                        cases[i].why);
    }
}

static void an_update_comes_back_with_its_mask(void **state)
{
    (void)state;
    ms_bt_table table = sample_table();
    for (uint32_t mask = 1; mask <= 3; mask++) {
        for (int i = 0; i < 2; i++) {
            table.change_retention_micros = i == 0 ? DAY_MICROS : 0;
            ms_bt_table back;
            uint32_t got;
            ms_str bytes = packed(&ms_wire_update_table_to_pb(&table, mask, &arena)->base);
            assert_bt_ok(ms_wire_update_table_from_pb(
                ms_pb_unpack(update_table_request, bytes, &ms_wire_request_limits, &arena, &bt),
                &arena, &back, &got, &bt));
            assert_int_equal(got, mask);
            if ((mask & MS_WIRE_UPDATE_CHANGE_STREAM) != 0) {
                assert_int_equal(back.change_retention_micros, table.change_retention_micros);
            }
            assert_int_equal(back.is_protected, (mask & MS_WIRE_UPDATE_PROTECTION) != 0);
        }
    }
}

static void what_cannot_be_updated_is_refused(void **state)
{
    (void)state;
    const ms_bt_table table = sample_table();
    const struct {
        const char *path;
        ms_bt_code code;
        const char *why;
    } cases[] = {
        {"change_stream_config.retention_period", MS_BT_OK, ""},
        {"column_families", MS_BT_UNIMPLEMENTED, "column_families cannot be updated"},
        {"row_key_schema", MS_BT_UNIMPLEMENTED, "row_key_schema"},
        {"automated_backup_policy.frequency", MS_BT_UNIMPLEMENTED, "automated_backup_policy"},
        {"*", MS_BT_INVALID_ARGUMENT, "incorrect path '*'"},
        {"", MS_BT_INVALID_ARGUMENT, "incorrect path ''"},
        {"column_familiesx", MS_BT_INVALID_ARGUMENT, "incorrect path"},
    };
    ms_bt_table back;
    uint32_t mask;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ms_pb_update_table_request *message =
            ms_wire_update_table_to_pb(&table, MS_WIRE_UPDATE_PROTECTION, &arena);
        message->update_mask->paths[0] = ms_wire_text(&arena, ms_str_cstr(cases[i].path));
        assert_bt_fails(ms_wire_update_table_from_pb(message, &arena, &back, &mask, &bt),
                        cases[i].code, cases[i].why);
    }
    ms_pb_update_table_request *message =
        ms_wire_update_table_to_pb(&table, MS_WIRE_UPDATE_PROTECTION, &arena);
    message->update_mask->n_paths = 0;
    assert_bt_fails(ms_wire_update_table_from_pb(message, &arena, &back, &mask, &bt),
                    MS_BT_INVALID_ARGUMENT, "update_mask");
    message->table = NULL;
    assert_bt_fails(ms_wire_update_table_from_pb(message, &arena, &back, &mask, &bt),
                    MS_BT_INVALID_ARGUMENT, "'table'");
}

static void modifications_come_back(void **state)
{
    (void)state;
    const ms_bt_family families[] = {{ms_str_lit("a"), MS_BT_VALUE_INT64_MAX, sample_rule()},
                                     {ms_str_lit("b"), MS_BT_VALUE_INT64_SUM, sample_rule()},
                                     {ms_str_lit("c"), MS_BT_VALUE_RAW, NULL}};
    const ms_wire_family_action actions[] = {MS_WIRE_FAMILY_CREATE, MS_WIRE_FAMILY_UPDATE,
                                             MS_WIRE_FAMILY_DROP};
    for (size_t i = 0; i < 3; i++) {
        ms_wire_family_action action;
        ms_bt_family back;
        ms_str bytes = packed(&ms_wire_modification_to_pb(actions[i], &families[i], &arena)->base);
        assert_bt_ok(
            ms_wire_modification_from_pb(ms_pb_unpack(modify_column_families_request_modification,
                                                      bytes, &ms_wire_request_limits, &arena, &bt),
                                         &arena, &action, &back, &bt));
        assert_int_equal(action, actions[i]);
        assert_true(ms_str_equals(back.name, families[i].name));
        assert_int_equal(back.type, families[i].type);
        assert_true(ms_bt_gc_rule_equals(back.gc_rule, families[i].gc_rule));
    }
}

static void a_modification_must_modify(void **state)
{
    (void)state;
    const struct {
        ms_str message;
        ms_bt_code code;
        const char *why;
    } cases[] = {
        {bytes_lit("\x0a\x01"
                   "f"),
         MS_BT_INVALID_ARGUMENT, "a modification is not set"},
        {bytes_lit("\x20\x00"), MS_BT_INVALID_ARGUMENT, "drop must be true if set"},
        {bytes_lit("\x1a\x00\x32\x0c\x0a\x0avalue_type"), MS_BT_INVALID_ARGUMENT,
         "'value_type' of a family cannot be updated"},
        {bytes_lit("\x1a\x00\x32\x09\x0a\x07gc_rule"), MS_BT_OK, ""},
    };
    ms_wire_family_action action;
    ms_bt_family family;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const ms_pb_modify_column_families_request_modification *message =
            ms_pb_unpack(modify_column_families_request_modification, cases[i].message,
                         &ms_wire_request_limits, &arena, &bt);
        assert_bt_fails(ms_wire_modification_from_pb(message, &arena, &action, &family, &bt),
                        cases[i].code, cases[i].why);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, wire_setup, wire_teardown)
    const struct CMUnitTest tests[] = {
        TEST(rules_come_back_in_the_size_that_the_model_states),
        TEST(no_rule_keeps_everything),
        TEST(types_of_families_come_back),
        TEST(types_that_are_not_built_are_refused_by_name),
        TEST(tables_come_back),
        TEST(families_come_in_order_whatever_the_map_says),
        TEST(views_show_what_they_say),
        TEST(a_creation_comes_back_with_its_splits),
        TEST(a_creation_may_say_little),
        TEST(a_creation_must_not_ask_for_what_is_not_built),
        TEST(an_update_comes_back_with_its_mask),
        TEST(what_cannot_be_updated_is_refused),
        TEST(modifications_come_back),
        TEST(a_modification_must_modify),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
