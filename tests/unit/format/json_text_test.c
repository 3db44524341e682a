/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings as JSON.
 */
#include "testing.h"

#include "base/memory.h"
#include "format/json_text.h"

static void check(ms_str text, const char *expected)
{
    ms_status st = {0};
    ms_buf out;
    ms_buf_init(&out, 1000);
    assert_ok(ms_json_append_string(&out, text, &st));
    assert_str_equal(ms_buf_view(&out), expected);
    ms_buf_release(&out);
}

static void special_characters_are_escaped_and_no_others(void **state)
{
    (void)state;
    check(ms_str_lit(""), "\"\"");
    check(ms_str_lit("plain / text"), "\"plain / text\"");
    check(ms_str_lit("\"\\\b\f\n\r\t"), "\"\\\"\\\\\\b\\f\\n\\r\\t\"");
    check(ms_str_make("\0\x1f\x7f", 3), "\"\\u0000\\u001F\x7f\"");
    check(ms_str_lit("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"),
          "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"");
}

static void bytes_that_are_not_utf8_become_replacements(void **state)
{
    (void)state;
#define R "\xEF\xBF\xBD"
    check(ms_str_lit("a\xFF"), "\"a" R "\"");
    check(ms_str_lit("\xC3"), "\"" R "\"");
    check(ms_str_lit("\xC0\xAF"), "\"" R R "\"");
    check(ms_str_lit("\xED\xA0\x80x"), "\"" R R R "x\"");
    check(ms_str_lit("\xE2\x82"
                     "a"),
          "\"" R R "a\"");
    check(ms_str_lit("\xF4\x90\x80\x80"), "\"" R R R R "\"");
#undef R
}

static void a_text_beyond_the_limit_fails(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_buf out;
    ms_buf_init(&out, 8);
    assert_int_equal(ms_json_append_string(&out, ms_str_lit("\n\n\n\n"), &st), MS_LIMIT);
    ms_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(special_characters_are_escaped_and_no_others),
        cmocka_unit_test(bytes_that_are_not_utf8_become_replacements),
        cmocka_unit_test(a_text_beyond_the_limit_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
