/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "format/lines.h"

static void whole_lines_end_with_the_last_feed(void **state)
{
    (void)state;
    msi_lines lines = {0};
    assert_int_equal(msi_lines_whole(&lines, ms_str_lit("")), 0);
    assert_int_equal(msi_lines_whole(&lines, ms_str_lit("ab")), 0);
    assert_int_equal(msi_lines_whole(&lines, ms_str_lit("ab\ncd\ne")), 6);
    assert_int_equal(msi_lines_whole(&lines, ms_str_lit("ab\ncd\nef")), 6);
    msi_lines_consume(&lines, 3);
    assert_int_equal(msi_lines_whole(&lines, ms_str_lit("cd\nef")), 3);
    assert_int_equal(msi_lines_whole(&lines, ms_str_lit("cd\nef\n")), 6);
    msi_lines_consume(&lines, 6);
    assert_int_equal(msi_lines_whole(&lines, ms_str_lit("g")), 0);
    msi_lines_consume(&lines, 1); /* the last one, which has no feed */
    assert_int_equal(msi_lines_whole(&lines, ms_str_lit("")), 0);
}

static void every_byte_of_a_long_line_is_looked_at_once(void **state)
{
    (void)state;
    static char input[100001];
    memset(input, 'x', sizeof input - 1);
    input[sizeof input - 1] = '\n';
    msi_lines lines = {0};
    for (size_t seen = 100; seen < sizeof input; seen += 100) {
        assert_int_equal(msi_lines_whole(&lines, ms_str_make(input, seen)), 0);
    }
    assert_int_equal(msi_lines_whole(&lines, ms_str_make(input, sizeof input)), sizeof input);
    assert_int_equal(lines.bytes_looked, sizeof input);
}

static void lines_that_wait_for_room_are_not_looked_at_again(void **state)
{
    (void)state;
    static char input[100000];
    for (size_t i = 0; i < sizeof input; i++) {
        input[i] = i % 10 == 9 ? '\n' : 'x';
    }
    msi_lines lines = {0};
    for (size_t at = 0; at < sizeof input; at += 10) {
        ms_str rest = ms_str_make(input + at, sizeof input - at);
        assert_int_equal(msi_lines_whole(&lines, rest), rest.bytes);
        msi_lines_consume(&lines, 10);
    }
    assert_int_equal(lines.bytes_looked, sizeof input);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_lines_end_with_the_last_feed),
        cmocka_unit_test(every_byte_of_a_long_line_is_looked_at_once),
        cmocka_unit_test(lines_that_wait_for_room_are_not_looked_at_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
