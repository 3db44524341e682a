/* SPDX-License-Identifier: Apache-2.0 */
#include "type/tz_file.h"

#include "base/env.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static ms_arena arena;

static int start(void **state)
{
    (void)state;
    ms_arena_init(&arena, 0);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    ms_arena_release(&arena);
    return 0;
}

typedef struct image {
    char bytes[512];
    size_t count;
} image;

static void put(image *f, const char *bytes, size_t count)
{
    memcpy(f->bytes + f->count, bytes, count);
    f->count += count;
}

static void put_number(image *f, int64_t value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        f->bytes[f->count++] = (char)(unsigned char)((uint64_t)value >> (8 * (bytes - 1 - i)));
    }
}

static void put_header(image *f, char version, int times, int types, int leaps)
{
    put(f, "TZif", 4);
    put(f, &version, 1);
    put(f, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 15);
    int counts[6] = {0, 0, leaps, times, types, 4};
    for (int i = 0; i < 6; i++) {
        put_number(f, counts[i], 4);
    }
}

/* A file with one change, at the epoch, from +0 to `offset`, and a rule. */
static image make_image(int32_t offset, const char *rule)
{
    image f = {.count = 0};
    put_header(&f, '2', 0, 1, 0);
    put(&f, "\0\0\0\0\0\0UTC\0", 10);
    put_header(&f, '2', 1, 2, 0);
    put_number(&f, 0, 8);
    put(&f, "\1", 1);
    put(&f, "\0\0\0\0\0\0", 6);
    put_number(&f, offset, 4);
    put(&f, "\0\0", 2);
    put(&f, "LMT\0", 4);
    put(&f, "\n", 1);
    put(&f, rule, strlen(rule));
    put(&f, "\n", 1);
    return f;
}

static bool read_image(const image *f, msi_tz_table *table_out)
{
    return msi_tz_read(ms_str_make(f->bytes, f->count), &arena, table_out);
}

static void a_file_without_a_rule_ends(void **state)
{
    (void)state;
    image f = make_image(3600, "");
    msi_tz_table table;
    assert_true(read_image(&f, &table));
    assert_int_equal(table.count, 2);
    assert_false(table.cyclic);
    assert_true(table.from_s[0] == INT64_MIN);
    assert_int_equal(table.offset_s[0], 0);
    assert_int_equal(table.from_s[1], 0);
    assert_int_equal(table.offset_s[1], 3600);
}

static void a_rule_is_written_out(void **state)
{
    (void)state;
    static const struct {
        const char *rule;
        int64_t first; /* the first change of 1971 */
        int32_t offset;
    } cases[] = {
        {"CET-1CEST,M3.5.0,M10.5.0/3", 38970000, 7200},            /* 28 March 1971, 01:00 UTC */
        {"EST5EDT,M3.2.0,M11.1.0", 37782000, -14400},              /* 14 March 1971, 07:00 UTC */
        {"<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", 39538800, 37800}, /* 3 April, 15:00 UTC */
        {"AAA0BBB,J60/0,J300/0", 36633600, 3600},                  /* 1 March */
        {"AAA0BBB,59/0,299/0", 36633600, 3600}, /* day 59, from 0, without a leap day */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        image f = make_image(cases[i].offset == 37800 ? 37800 : 12345, cases[i].rule);
        msi_tz_table table;
        assert_true(read_image(&f, &table));
        assert_true(table.cyclic);
        assert_true(table.count > 800);
        uint32_t at = 0;
        while (table.from_s[at] < 31536000) {
            at++;
        }
        assert_int_equal(table.from_s[at], cases[i].first);
        assert_int_equal(table.offset_s[at], cases[i].offset);
        for (uint32_t k = 1; k < table.count; k++) {
            assert_true(table.from_s[k] > table.from_s[k - 1]);
        }
    }
}

static void malformed_rules_are_refused(void **state)
{
    (void)state;
    static const char *const rules[] = {
        "1",
        "CET",
        "CET-1CEST",
        "CET-1CEST,M3.5.0",
        "CET-1CEST,M13.5.0,M10.5.0",
        "<CET",
        "CET-x",
        "CET-1CEST,M3.6.0,M10.5.0",
        "CET-1CEST,M3.5.7,M10.5.0",
        "CET-1CEST,J0,J5",
        "CET-1CEST,J366,J5",
        "CET-1CEST,M3.5.0,M10.5.0/3x",
        "CET-200",
        "CET-1CEST,M3.5.0/200,M10.5.0",
    };
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        image f = make_image(0, rules[i]);
        msi_tz_table table;
        assert_false(read_image(&f, &table));
    }
}

static void damaged_files_are_refused_or_read(void **state)
{
    (void)state;
    image whole = make_image(3600, "CET-1CEST,M3.5.0,M10.5.0/3");
    msi_tz_table table;
    for (size_t bytes = 0; bytes < whole.count; bytes++) {
        image f = whole;
        f.count = bytes;
        assert_false(read_image(&f, &table));
    }
    ms_env_random random;
    ms_env_random_init(&random, 9);
    for (int i = 0; i < 3000; i++) {
        image f = whole;
        for (int k = 0; k < 3; k++) {
            f.bytes[ms_env_random_below(&random, f.count)] = (char)ms_env_random_next(&random);
        }
        ms_arena_reset(&arena);
        if (read_image(&f, &table)) {
            assert_true(table.count > 0 && table.from_s[0] == INT64_MIN);
            for (uint32_t k = 1; k < table.count; k++) {
                assert_true(table.from_s[k] > table.from_s[k - 1]);
            }
        }
    }
}

static void old_versions_and_leap_seconds_are_refused(void **state)
{
    (void)state;
    image f = make_image(3600, "");
    msi_tz_table table;
    f.bytes[4] = '\0';
    assert_false(read_image(&f, &table));
    image leap = {.count = 0};
    put_header(&leap, '2', 0, 1, 0);
    put(&leap, "\0\0\0\0\0\0UTC\0", 10);
    put_header(&leap, '2', 0, 1, 1);
    put(&leap, "\0\0\0\0\0\0UTC\0", 10);
    put(&leap, "\0\0\0\0\0\0\0\0\0\0\0\1", 12);
    put(&leap, "\n\n", 2);
    assert_false(read_image(&leap, &table));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(a_file_without_a_rule_ends),
        TEST(a_rule_is_written_out),
        TEST(malformed_rules_are_refused),
        TEST(damaged_files_are_refused_or_read),
        TEST(old_versions_and_leap_seconds_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
