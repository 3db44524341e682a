/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Options: patterns, kinds, ranges, unknown, missing and unsupported keys, prefixes.
 */
#include "testing.h"

#include "catalog/option.h"

static const ms_option_desc descs[] = {
    {.key = "connector", .kind = MS_OPT_STRING, .required = true},
    {.key = "number-of-rows", .kind = MS_OPT_I64, .min = 1},
    {.key = "rate", .kind = MS_OPT_F64},
    {.key = "wait", .kind = MS_OPT_DURATION, .min = 1, .max = 60000, .fallback = "1 s"},
    {.key = "size", .kind = MS_OPT_BYTES},
    {.key = "on", .kind = MS_OPT_BOOL},
    {.key = "scan.mode",
     .kind = MS_OPT_ENUM,
     .values = "bounded|change-stream",
     .fallback = "bounded"},
    {.key = "fields.#.kind", .kind = MS_OPT_ENUM, .values = "random|sequence"},
    {.key = "later", .kind = MS_OPT_STRING, .unsupported = true, .hint = "Use another."},
};
#define DESC_COUNT ((uint32_t)(sizeof descs / sizeof *descs))

static ms_option entry(const char *key, const char *value)
{
    return (ms_option){.key = ms_str_cstr(key),
                       .value = ms_str_cstr(value),
                       .key_span = {10, 20},
                       .value_span = {30, 40}};
}

static ms_rc check_one(const char *key, const char *value, ms_status *st)
{
    ms_option items[] = {entry("connector", "x"), entry(key, value)};
    ms_option_list list = {2, items};
    return ms_options_check(&list, descs, DESC_COUNT, NULL, NULL, "connector \"x\"", st);
}

static void wrong_values_are_refused_with_key_and_place(void **state)
{
    (void)state;
    static const struct {
        const char *key;
        const char *value;
        ms_rc code;
        const char *message;
    } cases[] = {
        {"number-of-rows", "many", MS_INVALID_OPTION,
         "option \"number-of-rows\" cannot be \"many\": it takes an integer"},
        {"number-of-rows", "0", MS_INVALID_OPTION,
         "option \"number-of-rows\" cannot be \"0\": it must be at least 1"},
        {"wait", "2 min", MS_INVALID_OPTION,
         "option \"wait\" cannot be \"2 min\": it must be from 1 to 60000"},
        {"wait", "soon", MS_INVALID_OPTION,
         "option \"wait\" cannot be \"soon\": it takes a duration such as \"500 ms\" or \"1 min\""},
        {"size", "big", MS_INVALID_OPTION,
         "option \"size\" cannot be \"big\": it takes a size such as \"64 mb\""},
        {"on", "perhaps", MS_INVALID_OPTION,
         "option \"on\" cannot be \"perhaps\": it takes true or false"},
        {"rate", "1.5x", MS_INVALID_OPTION,
         "option \"rate\" cannot be \"1.5x\": it takes a number"},
        {"scan.mode", "all", MS_INVALID_OPTION, "option \"scan.mode\" cannot be \"all\""},
        {"scan.mod", "bounded", MS_UNKNOWN_OPTION, "connector \"x\" has no option \"scan.mod\""},
        {"later", "1", MS_NOT_SUPPORTED,
         "option \"later\" of connector \"x\" is not supported yet"},
        {"fields..kind", "random", MS_UNKNOWN_OPTION,
         "connector \"x\" has no option \"fields..kind\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ms_status st = {0};
        assert_int_equal(check_one(cases[i].key, cases[i].value, &st), cases[i].code);
        assert_string_equal(st.message, cases[i].message);
        assert_true(st.span.start == 10 || st.span.start == 30);
    }
}

static void good_values_are_parsed(void **state)
{
    (void)state;
    ms_status st = {0};
    assert_int_equal(check_one("fields.a.kind", "SEQUENCE", &st), MS_OK);
    assert_int_equal(check_one("wait", "500 ms", &st), MS_OK);
    assert_int_equal(check_one("size", "64 mb", &st), MS_OK);
    ms_option items[] = {entry("number-of-rows", "3"), entry("rate", " 2.5 "),
                         entry("number-of-rows", "5")};
    ms_option_list list = {3, items};
    ms_option_value value;
    assert_int_equal(ms_option_get(&list, descs, DESC_COUNT, "number-of-rows", &value, &st), MS_OK);
    assert_true(value.is_set);
    assert_int_equal(value.i64, 5);
    assert_int_equal(ms_option_get(&list, descs, DESC_COUNT, "rate", &value, &st), MS_OK);
    assert_true(value.f64 == 2.5);
    assert_int_equal(ms_option_get(&list, descs, DESC_COUNT, "wait", &value, &st), MS_OK);
    assert_false(value.is_set);
    assert_true(value.has_value);
    assert_int_equal(value.i64, 1000);
    assert_int_equal(ms_option_get(&list, descs, DESC_COUNT, "on", &value, &st), MS_OK);
    assert_false(value.has_value);
}

static void a_missing_required_key_is_named(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_option_list list = {0, NULL};
    assert_int_equal(ms_options_check(&list, descs, DESC_COUNT, NULL, NULL, "connector \"x\"", &st),
                     MS_MISSING_OPTION);
    assert_string_equal(st.message, "connector \"x\" needs the option \"connector\"");
}

static void a_misspelt_key_gets_the_nearest_as_hint(void **state)
{
    (void)state;
    ms_status st = {0};
    assert_int_equal(check_one("number-of-row", "1", &st), MS_UNKNOWN_OPTION);
    assert_string_equal(st.hint, "Did you mean \"number-of-rows\"?");
}

static bool takes_json(void *arg, ms_str key)
{
    (void)arg;
    return ms_str_starts_with(key, ms_str_lit("json."));
}

static void prefixed_keys_go_to_the_format(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_option items[] = {entry("connector", "x"), entry("json.a", "1"), entry("json.b", "2")};
    ms_option_list list = {3, items};
    assert_int_equal(
        ms_options_check(&list, descs, DESC_COUNT, takes_json, NULL, "connector \"x\"", &st),
        MS_OK);
    ms_option_list inner = ms_options_with_prefix(&arena, &list, ms_str_lit("json."));
    assert_int_equal(inner.count, 2);
    assert_true(ms_str_equals(inner.items[1].key, ms_str_lit("json.b")));
    ms_option_value value;
    const ms_option_desc inner_descs[] = {{.key = "b", .kind = MS_OPT_I64}};
    assert_int_equal(ms_option_get(&inner, inner_descs, 1, "b", &value, &st), MS_OK);
    assert_true(value.is_set);
    assert_int_equal(value.i64, 2);
    ms_arena_release(&arena);
}

static void prefixed_keys_stand_in_messages_as_they_were_written(void **state)
{
    (void)state;
    static const struct {
        const char *key;
        const char *value;
        ms_rc code;
        const char *message;
        const char *hint;
    } cases[] = {
        {"x.number-of-rows", "many", MS_INVALID_OPTION,
         "option \"x.number-of-rows\" cannot be \"many\": it takes an integer", ""},
        {"x.wait", "2 min", MS_INVALID_OPTION,
         "option \"x.wait\" cannot be \"2 min\": it must be from 1 to 60000", ""},
        {"x.scan.mode", "all", MS_INVALID_OPTION, "option \"x.scan.mode\" cannot be \"all\"",
         "It takes one of: bounded|change-stream."},
        {"x.fields.a.kind", "all", MS_INVALID_OPTION,
         "option \"x.fields.a.kind\" cannot be \"all\"", "It takes one of: random|sequence."},
        {"x.scan.mod", "bounded", MS_UNKNOWN_OPTION, "format \"x\" has no option \"x.scan.mod\"",
         "Did you mean \"x.scan.mode\"?"},
        {"x.later", "1", MS_NOT_SUPPORTED,
         "option \"x.later\" of format \"x\" is not supported yet", "Use another."},
        {"x.on", "true", MS_MISSING_OPTION, "format \"x\" needs the option \"x.connector\"", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ms_status st = {0};
        ms_arena arena;
        ms_arena_init(&arena, 0);
        ms_option items[] = {entry("connector", "f"), entry(cases[i].key, cases[i].value)};
        ms_option_list list = {2, items};
        ms_option_list inner = ms_options_with_prefix(&arena, &list, ms_str_lit("x."));
        assert_int_equal(
            ms_options_check(&inner, descs, DESC_COUNT, NULL, NULL, "format \"x\"", &st),
            cases[i].code);
        assert_string_equal(st.message, cases[i].message);
        assert_string_equal(st.hint, cases[i].hint);
        ms_arena_release(&arena);
    }
}

static void a_key_that_fits_a_pattern_stands_in_messages_as_it_was_written(void **state)
{
    (void)state;
    ms_status st = {0};
    assert_int_equal(check_one("fields.a.kind", "none", &st), MS_INVALID_OPTION);
    assert_string_equal(st.message, "option \"fields.a.kind\" cannot be \"none\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_values_are_refused_with_key_and_place),
        cmocka_unit_test(good_values_are_parsed),
        cmocka_unit_test(a_missing_required_key_is_named),
        cmocka_unit_test(a_misspelt_key_gets_the_nearest_as_hint),
        cmocka_unit_test(prefixed_keys_go_to_the_format),
        cmocka_unit_test(prefixed_keys_stand_in_messages_as_they_were_written),
        cmocka_unit_test(a_key_that_fits_a_pattern_stands_in_messages_as_it_was_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
