/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/env.h"
#include "base/log.h"

static char seen[3 * MS_LOG_LINE_BYTES];

static void keep_line(ms_str line, void *arg)
{
    (void)arg;
    strncat(seen, line.ptr, line.bytes);
}

static ms_env_clock test_time;

static int capture(void **state)
{
    (void)state;
    seen[0] = '\0';
    test_time.wall_us = INT64_C(1740821400123456); /* 2025-03-01T09:30:00.123456Z */
    ms_env_set_clock(&test_time);
    ms_log_set_sink(keep_line, NULL);
    ms_log_set_level(MS_LOG_INFO);
    return 0;
}

static int restore(void **state)
{
    (void)state;
    ms_env_set_clock(NULL);
    ms_log_set_sink(NULL, NULL);
    return 0;
}

static void a_line_has_time_level_module_and_pairs(void **state)
{
    (void)state;
    ms_log(MS_LOG_INFO, "checkpoint", "completed", "id=%d bytes=%d", 7, 8192);
    assert_string_equal(
        seen, "2025-03-01T09:30:00.123Z info checkpoint event=completed id=7 bytes=8192\n");
}

static int evaluated;

static int evaluate(void)
{
    return ++evaluated;
}

static void a_line_below_the_level_costs_nothing(void **state)
{
    (void)state;
    evaluated = 0;
    ms_log(MS_LOG_DEBUG, "m", "e", "n=%d", evaluate());
    assert_int_equal(evaluated, 0);
    assert_string_equal(seen, "");
    ms_log(MS_LOG_ERROR, "m", "e", "n=%d", evaluate());
    assert_int_equal(evaluated, 1);
    assert_non_null(strstr(seen, " error m event=e n=1\n"));
}

static void a_line_is_one_line(void **state)
{
    (void)state;
    ms_log(MS_LOG_WARN, "m", "e", "text=\"%s\"", "a\nb\x7F\xE2\x82\xAC");
    assert_non_null(strstr(seen, "text=\"a\\x0ab\\x7f\xE2\x82\xAC\"\n"));
}

static void a_long_line_is_cut(void **state)
{
    (void)state;
    char text[2 * MS_LOG_LINE_BYTES];
    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    ms_log(MS_LOG_WARN, "m", "e", "text=%s", text);
    size_t bytes = strlen(seen);
    assert_true(bytes <= MS_LOG_LINE_BYTES);
    assert_true(bytes > MS_LOG_LINE_BYTES - 200);
    assert_string_equal(seen + bytes - 4, "...\n");
    /* Escaping makes a text that fits too long. */
    seen[0] = '\0';
    memset(text, '\n', sizeof(text));
    text[MS_LOG_LINE_BYTES / 2] = '\0';
    ms_log(MS_LOG_WARN, "m", "e", "text=%s", text);
    assert_string_equal(seen + strlen(seen) - 4, "...\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_line_has_time_level_module_and_pairs, capture, restore),
        cmocka_unit_test_setup_teardown(a_line_below_the_level_costs_nothing, capture, restore),
        cmocka_unit_test_setup_teardown(a_line_is_one_line, capture, restore),
        cmocka_unit_test_setup_teardown(a_long_line_is_cut, capture, restore),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
