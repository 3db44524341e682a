/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings: levels, classes of keys, values checked when set.
 */
#include "testing.h"

#include "catalog/session.h"

static ms_rc set(ms_settings *settings, ms_set_level level, const char *key, const char *value,
                 ms_set_note *note, ms_status *st)
{
    return ms_settings_set(settings, level, ms_str_cstr(key), ms_str_cstr(value), (ms_span){1, 2},
                           (ms_span){3, 4}, note, st);
}

static void every_default_parses(void **state)
{
    (void)state;
    ms_settings *settings = ms_settings_create();
    for (int s = 0; s < MS_SETTING_COUNT; s++) {
        assert_non_null(ms_setting_key((ms_setting)s));
        assert_false(ms_settings_value(settings, (ms_setting)s).is_set);
    }
    assert_int_equal(ms_settings_value(settings, MS_SETTING_BATCH_ROWS).i64, 2048);
    assert_int_equal(ms_settings_value(settings, MS_SETTING_WATERMARK_INTERVAL).i64, 200);
    ms_settings_destroy(settings);
}

static void script_beats_flag_and_reset_shows_the_flag_again(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_set_note note;
    ms_settings *settings = ms_settings_create();
    assert_int_equal(set(settings, MS_SET_BY_SCRIPT, "parallelism.default", "3", &note, &st),
                     MS_OK);
    assert_int_equal(set(settings, MS_SET_BY_FLAG, "parallelism.default", "2", &note, &st), MS_OK);
    assert_int_equal(ms_settings_value(settings, MS_SETTING_PARALLELISM).i64, 3);
    assert_int_equal(
        ms_settings_reset(settings, ms_str_lit("parallelism.default"), (ms_span){1, 2}, &st),
        MS_OK);
    assert_int_equal(ms_settings_value(settings, MS_SETTING_PARALLELISM).i64, 2);
    assert_int_equal(set(settings, MS_SET_BY_SCRIPT, "my.own", "x", &note, &st), MS_OK);
    assert_int_equal(note, MS_SET_PARAMETER);
    assert_int_equal(ms_settings_reset(settings, (ms_str){NULL, 0}, ms_span_none, &st), MS_OK);
    assert_null(ms_settings_parameter(settings, ms_str_lit("my.own")).ptr);
    ms_settings_destroy(settings);
}

static void keys_fall_into_four_classes(void **state)
{
    (void)state;
    ms_settings *settings = ms_settings_create();
    ms_set_note note;
    ms_status st = {0};
    assert_int_equal(set(settings, MS_SET_BY_SCRIPT, "execution.runtime-mode", "BATCH", &note, &st),
                     MS_OK);
    assert_int_equal(note, MS_SET_KNOWN);
    assert_int_equal(ms_settings_value(settings, MS_SETTING_RUNTIME_MODE).i64, 1);
    assert_int_equal(set(settings, MS_SET_BY_SCRIPT, "pipeline.object-reuse", "true", &note, &st),
                     MS_OK);
    assert_int_equal(note, MS_SET_NO_EFFECT);
    assert_int_equal(set(settings, MS_SET_BY_SCRIPT, "bigtable.functions.f.table", "t", &note, &st),
                     MS_OK);
    assert_int_equal(note, MS_SET_PARAMETER);
    assert_int_equal(set(settings, MS_SET_BY_SCRIPT, "bigtabel.tls-ca", "f", &note, &st), MS_OK);
    assert_int_equal(note, MS_SET_MISSPELT);
    assert_string_equal(ms_setting_nearest(ms_str_lit("bigtabel.tls-ca")), "bigtable.tls-ca");
    assert_null(ms_setting_nearest(ms_str_lit("my.own")));
    assert_int_equal(set(settings, MS_SET_BY_SCRIPT, "parallelism.defalt", "1", &note, &st),
                     MS_UNKNOWN_OPTION);
    assert_string_equal(st.message, "there is no setting \"parallelism.defalt\"");
    assert_string_equal(st.hint, "Did you mean \"parallelism.default\"?");
    assert_int_equal(st.span.start, 1);
    ms_status_clear(&st);
    assert_int_equal(set(settings, MS_SET_BY_SCRIPT, "bigtable.nope", "1", &note, &st),
                     MS_UNKNOWN_OPTION);
    assert_non_null(strstr(st.hint, "There are bigtable.backend, "));
    ms_status_clear(&st);
    assert_int_equal(set(settings, MS_SET_BY_SCRIPT, "lineage.nope", "1", &note, &st),
                     MS_UNKNOWN_OPTION);
    assert_string_equal(st.hint, "");
    ms_settings_destroy(settings);
}

static void values_are_checked_when_set(void **state)
{
    (void)state;
    ms_settings *settings = ms_settings_create();
    ms_set_note note;
    ms_status st = {0};
    assert_int_equal(set(settings, MS_SET_BY_SCRIPT, "table.dml-sync", "false", &note, &st),
                     MS_INVALID_OPTION);
    assert_string_equal(st.message, "setting \"table.dml-sync\" cannot be \"false\"");
    assert_int_equal(st.span.start, 3);
    ms_status_clear(&st);
    assert_int_equal(set(settings, MS_SET_BY_SCRIPT, "parallelism.default", "1000", &note, &st),
                     MS_INVALID_OPTION);
    assert_string_equal(
        st.message, "setting \"parallelism.default\" cannot be \"1000\": it must be from 1 to 128");
    ms_status_clear(&st);
    assert_int_equal(set(settings, MS_SET_BY_SCRIPT, "pipeline.name", " ", &note, &st),
                     MS_INVALID_OPTION);
    assert_int_equal(st.span.start, 3);
    ms_status_clear(&st);
    /* 0 would turn checkpoints off. */
    assert_int_equal(set(settings, MS_SET_BY_SCRIPT, "execution.checkpointing.interval",
                         "999999 ns", &note, &st),
                     MS_INVALID_OPTION);
    assert_non_null(strstr(st.message, "the shortest duration is 1 ms"));
    ms_status_clear(&st);
    assert_int_equal(
        set(settings, MS_SET_BY_SCRIPT, "execution.checkpointing.interval", "0 ns", &note, &st),
        MS_OK);
    ms_settings_destroy(settings);
}

static void the_list_is_sorted_and_shows_the_value_in_force(void **state)
{
    (void)state;
    ms_settings *settings = ms_settings_create();
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_set_note note;
    ms_status st = {0};
    assert_int_equal(set(settings, MS_SET_BY_FLAG, "pipeline.name", "flag", &note, &st), MS_OK);
    assert_int_equal(set(settings, MS_SET_BY_SCRIPT, "pipeline.name", "script", &note, &st), MS_OK);
    assert_int_equal(set(settings, MS_SET_BY_FLAG, "a.b", "1", &note, &st), MS_OK);
    uint32_t count = 0;
    const ms_option *items = ms_settings_list(settings, &arena, &count);
    assert_int_equal(count, 2);
    assert_true(ms_str_equals(items[0].key, ms_str_lit("a.b")));
    assert_true(ms_str_equals(items[1].value, ms_str_lit("script")));
    ms_arena_release(&arena);
    ms_settings_destroy(settings);
}

static void a_copy_changes_on_its_own(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_set_note note;
    ms_settings *settings = ms_settings_create();
    ms_str key = ms_str_lit("parallelism.default");
    assert_int_equal(ms_settings_set(settings, MS_SET_BY_FLAG, key, ms_str_lit("2"), ms_span_none,
                                     ms_span_none, &note, &st),
                     MS_OK);
    assert_int_equal(ms_settings_set(settings, MS_SET_BY_SCRIPT, key, ms_str_lit("3"), ms_span_none,
                                     ms_span_none, &note, &st),
                     MS_OK);
    ms_settings *copy = ms_settings_copy(settings);
    assert_int_equal(ms_settings_value(copy, MS_SETTING_PARALLELISM).i64, 3);
    assert_int_equal(ms_settings_reset(copy, key, ms_span_none, &st), MS_OK);
    assert_int_equal(ms_settings_value(copy, MS_SETTING_PARALLELISM).i64, 2);
    assert_int_equal(ms_settings_value(settings, MS_SETTING_PARALLELISM).i64, 3);
    ms_settings_destroy(settings);
    assert_int_equal(ms_settings_value(copy, MS_SETTING_PARALLELISM).i64, 2);
    ms_settings_destroy(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_default_parses),
        cmocka_unit_test(script_beats_flag_and_reset_shows_the_flag_again),
        cmocka_unit_test(keys_fall_into_four_classes),
        cmocka_unit_test(values_are_checked_when_set),
        cmocka_unit_test(the_list_is_sorted_and_shows_the_value_in_force),
        cmocka_unit_test(a_copy_changes_on_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
