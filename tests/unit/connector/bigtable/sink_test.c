/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planning a sink: what cannot be written, which changes it takes, what EXPLAIN shows.
 */
#include "bt_testing.h"

static ms_rc create(table_maker *m, ms_sink **sink_out, ms_status *st)
{
    ms_plan_env env = {.arena = m->arena, .is_streaming = true};
    return ms_connector_bigtable.sink_create(&ms_connector_bigtable, &m->table, &env, NULL, 0,
                                             sink_out, st);
}

static void a_table_without_qualifiers_cannot_be_written(void **state)
{
    (void)state;
    for (int with_family = 0; with_family < 2; with_family++) {
        ms_arena arena;
        ms_arena_init(&arena, 0);
        table_maker m;
        maker_init(&m, &arena);
        maker_column(&m, "k", make_type(&arena, "STRING"));
        if (with_family) {
            maker_family(&m, "cf", "");
        }
        ms_status st = {0};
        ms_sink *sink = NULL;
        assert_int_equal(create(&m, &sink, &st), MS_INVALID_TABLE_DEFINITION);
        assert_string_equal(st.message, "table \"t\" has no column family with a qualifier, so "
                                        "nothing can be written to it");
        ms_arena_release(&arena);
    }
}

static void a_family_that_cannot_be_created_is_refused_at_planning(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    table_maker m;
    maker_init(&m, &arena);
    maker_column(&m, "k", make_type(&arena, "STRING"));
    maker_family(&m, "c f", "q INT");
    ms_status st = {0};
    ms_sink *sink = NULL;
    assert_ok(create(&m, &sink, &st));
    maker_option(&m, "sink.create-disposition", "create-if-needed");
    maker_option(&m, "sink.table-create.gc-rule.max-versions", "1");
    assert_int_equal(create(&m, &sink, &st), MS_INVALID_TABLE_DEFINITION);
    assert_string_equal(st.message, "column family \"c f\" cannot be created");
    assert_int_equal(st.span.start, 101);
    ms_arena_release(&arena);
}

static void inserts_are_taken_as_they_are_only_when_that_is_said(void **state)
{
    (void)state;
    for (int insert_only = 0; insert_only < 2; insert_only++) {
        ms_arena arena;
        ms_arena_init(&arena, 0);
        table_maker m;
        maker_init(&m, &arena);
        maker_column(&m, "k", make_type(&arena, "STRING"));
        maker_family(&m, "cf", "q INT");
        if (insert_only) {
            maker_option(&m, "sink.insert-only-input-mode", "insert-only");
        }
        ms_status st = {0};
        ms_sink *sink = NULL;
        assert_ok(create(&m, &sink, &st));
        assert_int_equal(sink->guarantee, MS_AT_LEAST_ONCE);
        ms_changelog wanted = 0;
        bool key_only = true;
        assert_ok(sink->klass->negotiate(sink, MS_CHANGELOG_INSERT, &wanted, &key_only, &st));
        assert_int_equal(wanted, insert_only ? MS_CHANGELOG_INSERT : MS_CHANGELOG_UPSERT);
        assert_ok(sink->klass->negotiate(sink, MS_CHANGELOG_ALL, &wanted, &key_only, &st));
        assert_int_equal(wanted, MS_CHANGELOG_UPSERT);
        ms_arena_release(&arena);
    }
}

static void a_delete_may_carry_the_key_alone_only_with_a_primary_key(void **state)
{
    (void)state;
    for (int has_key = 0; has_key < 2; has_key++) {
        ms_arena arena;
        ms_arena_init(&arena, 0);
        table_maker m;
        maker_init(&m, &arena);
        maker_column(&m, "k", make_type(&arena, "STRING"));
        maker_family(&m, "cf", "q INT");
        if (has_key) {
            maker_key(&m, 0);
        }
        ms_status st = {0};
        ms_sink *sink = NULL;
        assert_ok(create(&m, &sink, &st));
        ms_changelog wanted = 0;
        bool key_only = false;
        assert_ok(sink->klass->negotiate(sink, MS_CHANGELOG_ALL, &wanted, &key_only, &st));
        assert_int_equal(key_only, has_key);
        ms_arena_release(&arena);
    }
}

static void explain_shows_the_destination_and_what_is_created(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    table_maker m;
    maker_init(&m, &arena);
    maker_column(&m, "k", make_type(&arena, "STRING"));
    maker_family(&m, "cf", "q INT");
    maker_option(&m, "sink.create-disposition", "create-if-needed");
    maker_option(&m, "sink.table-create.gc-rule.max-versions", "2");
    ms_status st = {0};
    ms_sink *sink = NULL;
    assert_ok(create(&m, &sink, &st));
    ms_buf text;
    ms_buf_init(&text, 4096);
    assert_ok(sink->klass->describe(sink, &text, &st));
    assert_str_equal(ms_buf_view(&text),
                     "to=[p.i.t], writeMode=[upsert], createIfNeeded=[versions() > 2]");
    ms_buf_release(&text);
    ms_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_table_without_qualifiers_cannot_be_written),
        cmocka_unit_test(a_family_that_cannot_be_created_is_refused_at_planning),
        cmocka_unit_test(inserts_are_taken_as_they_are_only_when_that_is_said),
        cmocka_unit_test(a_delete_may_carry_the_key_alone_only_with_a_primary_key),
        cmocka_unit_test(explain_shows_the_destination_and_what_is_created),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
