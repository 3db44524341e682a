/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the build says about itself.
 */
#include "testing.h"

#include "millstream/millstream.h"

static void every_line_is_a_key_and_a_value(void **state)
{
    (void)state;
    char text[4096];
    size_t bytes = ms_about(text, sizeof text);
    assert_int_equal(bytes, strlen(text));
    assert_non_null(strstr(text, "version "));
    ms_str rest = ms_str_make(text, bytes);
    while (rest.bytes > 0) {
        size_t end = ms_str_find_byte(rest, '\n', 0);
        assert_true(end != SIZE_MAX && ms_str_find_byte(rest, ' ', 0) < end);
        rest = ms_str_slice(rest, end + 1, rest.bytes);
    }
}

static void the_text_is_cut_to_its_room(void **state)
{
    (void)state;
    char text[8] = "xxxxxxx";
    assert_int_equal(ms_about(text, sizeof text), 7);
    assert_int_equal(text[7], '\0');
    assert_int_equal(ms_about(text, 1), 0);
    assert_int_equal(ms_about(text, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_line_is_a_key_and_a_value),
        cmocka_unit_test(the_text_is_cut_to_its_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
