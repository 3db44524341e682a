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

/* What a new process writes to standard error at each level, with this MILLSTREAM_LOG. */
static void log_in_new_process(const char *level, char *text, size_t text_bytes)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        setenv("MILLSTREAM_LOG", level, 1);
        execl("/proc/self/exe", "log_test", "log", (char *)NULL);
        _exit(1);
    }
    close(ends[1]);
    size_t bytes = 0;
    ssize_t count;
    while ((count = read(ends[0], text + bytes, text_bytes - 1 - bytes)) > 0) {
        bytes += (size_t)count;
    }
    text[bytes] = '\0';
    close(ends[0]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static int log_at_each_level(void)
{
    ms_log(MS_LOG_ERROR, "m", "e", "n=%d", 0);
    ms_log(MS_LOG_WARN, "m", "e", "n=%d", 1);
    ms_log(MS_LOG_INFO, "m", "e", "n=%d", 2);
    ms_log(MS_LOG_DEBUG, "m", "e", "n=%d", 3);
    return 0;
}

static void the_environment_sets_the_level(void **state)
{
    (void)state;
    const struct {
        const char *level;
        int last;
    } cases[] = {{"", 1}, {"error", 0}, {"warn", 1}, {"INFO", 2}, {"debug", 3}, {"loud", 1}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[4096];
        log_in_new_process(cases[i].level, text, sizeof(text));
        for (int n = 0; n <= 3; n++) {
            char pair[16];
            snprintf(pair, sizeof(pair), "event=e n=%d\n", n);
            assert_int_equal(strstr(text, pair) != NULL, n <= cases[i].last);
        }
        bool is_unknown = strcmp(cases[i].level, "loud") == 0;
        assert_int_equal(strstr(text, "event=unknown_level MILLSTREAM_LOG=\"loud\"") != NULL,
                         is_unknown);
    }
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "log") == 0) {
        return log_at_each_level();
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_line_has_time_level_module_and_pairs, capture, restore),
        cmocka_unit_test_setup_teardown(a_line_below_the_level_costs_nothing, capture, restore),
        cmocka_unit_test_setup_teardown(a_line_is_one_line, capture, restore),
        cmocka_unit_test_setup_teardown(a_long_line_is_cut, capture, restore),
        cmocka_unit_test(the_environment_sets_the_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
