/* SPDX-License-Identifier: Apache-2.0 */
/* The oracle for instants is the C library, which reads the same files with code of its own. */
#include "type/zone.h"

#include "type/random_data.h"
#include "type/time.h"

#include <stdlib.h>
#include <time.h>

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

static ms_zone_cursor cursor_of(const char *name)
{
    const ms_zone *zone = NULL;
    ms_status st = {0};
    if (ms_zone_make(&arena, ms_str_cstr(name), &zone, &st) != MS_OK) {
        fail_msg("%s: %s", name, st.message);
    }
    assert_true(ms_str_equals(ms_zone_name(zone), ms_str_cstr(name)));
    return ms_zone_cursor_make(zone);
}

static void fixed_offsets_need_no_database(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int32_t offset;
    } cases[] = {
        {"Z", 0},
        {"UTC", 0},
        {"GMT", 0},
        {"UT", 0},
        {"+8", 28800},
        {"+08", 28800},
        {"+08:00", 28800},
        {"+0800", 28800},
        {"-03:30", -12600},
        {"-03:30:15", -12615},
        {"+033015", 12615},
        {"GMT+08:00", 28800},
        {"GMT-8", -28800},
        {"UTC+01:00", 3600},
        {"UT-00:30", -1800},
        {"+18:00", 64800},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ms_zone_cursor cursor = cursor_of(cases[i].name);
        int32_t offset = 1;
        assert_true(ms_zone_is_fixed(cursor.zone, &offset));
        assert_int_equal(offset, cases[i].offset);
        assert_int_equal(ms_zone_offset_at(&cursor, -1), cases[i].offset);
    }
    int32_t offset = 1;
    assert_true(ms_zone_is_fixed(ms_zone_utc(), &offset));
    assert_int_equal(offset, 0);
}

static void wrong_names_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {
        "",
        "+",
        "+19:00",
        "+8:00:00:00",
        "+080",
        "+08:60",
        "GMT+",
        "Mars/X",
        "../passwd",
        "/etc/passwd",
        "Europe/../Europe/Berlin",
        "Europe",
        "zone.tab",
        "+08:0",
        "+8:30",
        "UTC8",
        "tzdata.zi",
        "Europe/Berlin ",
        "+18:00:01",
    };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const ms_zone *zone = ms_zone_utc();
        ms_status st = {0};
        assert_int_equal(ms_zone_make(&arena, ms_str_cstr(names[i]), &zone, &st),
                         MS_INVALID_OPTION);
        assert_null(zone);
        assert_non_null(strstr(st.message, names[i]));
        assert_true(st.hint[0] != '\0');
    }
}

static const char *const regions[] = {
    "Europe/Berlin",     "America/New_York",    "Asia/Kolkata",
    "Asia/Shanghai",     "Australia/Lord_Howe", "Europe/Dublin",
    "America/Sao_Paulo", "Pacific/Apia",        "Africa/Casablanca",
    "Asia/Tehran",       "America/St_Johns",    "Pacific/Auckland",
    "America/Nuuk",      "Asia/Gaza",           "Antarctica/Troll",
    "Etc/GMT+5",         "Africa/Monrovia",     "America/Argentina/Ushuaia",
};

/* Offsets from the C library, at instants all over the range in which it is right. */
static void offsets_are_those_of_the_c_library(void **state)
{
    (void)state;
    rnd r = {0};
    ms_env_random_init(&r.random, 21);
    for (size_t i = 0; i < sizeof(regions) / sizeof(regions[0]); i++) {
        ms_zone_cursor cursor = cursor_of(regions[i]);
        setenv("TZ", regions[i], 1);
        tzset();
        for (int k = 0; k < 4000; k++) {
            /* Years 1800 to 2500, and as often 1900 to 2040 where the changes are. */
            int64_t second = k % 2 == 0
                                 ? INT64_C(-5364662400) + (int64_t)rnd_below(&r, 700) * 31556952
                                 : INT64_C(-2208988800) + (int64_t)rnd_below(&r, 140) * 31556952;
            second += rnd_below(&r, 31556952);
            time_t at = (time_t)second;
            struct tm local;
            assert_non_null(localtime_r(&at, &local));
            if (ms_zone_offset_at(&cursor, second) != local.tm_gmtoff) {
                fail_msg("%s at %lld: %d, not %ld", regions[i], (long long)second,
                         ms_zone_offset_at(&cursor, second), local.tm_gmtoff);
            }
        }
    }
    setenv("TZ", "UTC", 1);
    tzset();
}

/* Every local time against the definition: all offsets of the day are tried. */
static void local_times_follow_gaps_and_overlaps(void **state)
{
    (void)state;
    rnd r = {0};
    ms_env_random_init(&r.random, 22);
    for (size_t i = 0; i < sizeof(regions) / sizeof(regions[0]); i++) {
        ms_zone_cursor cursor = cursor_of(regions[i]);
        ms_zone_cursor oracle = cursor_of(regions[i]);
        for (int k = 0; k < 400; k++) {
            /* Near a change of the offset. */
            int64_t near = INT64_C(-3155673600) + (int64_t)rnd_below(&r, 600) * 15778476;
            ms_zone_cursor_seek(&oracle, near);
            int64_t change = oracle.until_s == INT64_MAX ? near : oracle.until_s;
            int64_t local = change + (int64_t)rnd_below(&r, 86400) - 43200 + oracle.offset_s;
            int32_t got = ms_zone_offset_of_local(&cursor, local);
            bool found = false;
            int32_t before_gap = 0;
            /* From the day before on, minute by minute: the first instant that shows local. */
            for (int64_t at = local - 86400; at <= local + 86400 && !found; at += 30) {
                int32_t offset = ms_zone_offset_at(&oracle, at);
                int64_t candidate = local - offset;
                if (ms_zone_offset_at(&oracle, candidate) == offset) {
                    found = true;
                    before_gap = offset;
                }
            }
            if (found) {
                assert_int_equal(got, before_gap);
            } else {
                /* In a gap: the offset before it, so that the clock moves on by the gap. */
                int32_t after = ms_zone_offset_at(&oracle, local - got);
                assert_true(after > got);
            }
        }
    }
}

static void known_changes_are_exact(void **state)
{
    (void)state;
    ms_zone_cursor berlin = cursor_of("Europe/Berlin");
    /* 2024-03-31 01:00 UTC begins summer time. */
    assert_int_equal(ms_zone_offset_at(&berlin, 1711846799), 3600);
    assert_int_equal(ms_zone_offset_at(&berlin, 1711846800), 7200);
    assert_int_equal(ms_zone_local_from_utc_us(&berlin, INT64_C(1711846800000000)),
                     INT64_C(1711854000000000));
    /* 02:30 that day does not exist and becomes 03:30. */
    int64_t gap = INT64_C(1711852200000000);
    int64_t utc = ms_zone_utc_from_local_us(&berlin, gap);
    assert_int_equal(ms_zone_local_from_utc_us(&berlin, utc), gap + INT64_C(3600000000));
    /* 02:30 on 2024-10-27 exists twice; the first is meant. */
    int64_t overlap = INT64_C(1729996200000);
    assert_int_equal(ms_zone_utc_from_local_ms(&berlin, overlap), overlap - 7200000);
    assert_int_equal(ms_zone_local_from_utc_ms(&berlin, overlap - 3600000), overlap);
    /* The year 5000 has summer time as well: the rules go on. */
    int64_t july = ms_time_days_from_date(5000, 7, 1) * 86400;
    int64_t january = ms_time_days_from_date(5000, 1, 1) * 86400;
    assert_int_equal(ms_zone_offset_at(&berlin, july), 7200);
    assert_int_equal(ms_zone_offset_at(&berlin, january), 3600);
    int32_t offset = 0;
    assert_false(ms_zone_is_fixed(berlin.zone, &offset));
}

static void the_ends_of_time_saturate(void **state)
{
    (void)state;
    static const int64_t ends[] = {INT64_MIN, INT64_MIN + 1, INT64_MAX - 1, INT64_MAX};
    static const char *const names[] = {"Europe/Berlin", "+18:00", "-18:00", "Asia/Kolkata", "UTC"};
    for (size_t n = 0; n < 5; n++) {
        ms_zone_cursor cursor = cursor_of(names[n]);
        for (size_t i = 0; i < 4; i++) {
            (void)ms_zone_offset_at(&cursor, ends[i]);
            (void)ms_zone_offset_of_local(&cursor, ends[i]);
            (void)ms_zone_local_from_utc_us(&cursor, ends[i]);
            (void)ms_zone_utc_from_local_us(&cursor, ends[i]);
            (void)ms_zone_local_from_utc_ms(&cursor, ends[i]);
            (void)ms_zone_utc_from_local_ms(&cursor, ends[i]);
        }
    }
    ms_zone_cursor east = cursor_of("+18:00");
    assert_true(ms_zone_local_from_utc_us(&east, INT64_MAX) == INT64_MAX);
}

static void the_host_says_its_zone_and_database(void **state)
{
    (void)state;
    setenv("TZ", ":Asia/Tokyo", 1);
    assert_true(ms_str_equals(ms_zone_host_name(&arena), ms_str_lit("Asia/Tokyo")));
    unsetenv("TZ");
    assert_true(ms_zone_host_name(&arena).bytes > 0);
    setenv("TZ", "UTC", 1);
    ms_str version = ms_zone_database_version(&arena);
    assert_true(version.bytes == 0 || (version.bytes >= 5 && version.ptr[0] == '2'));
    setenv("TZDIR", "/nowhere", 1);
    assert_int_equal(ms_zone_database_version(&arena).bytes, 0);
    const ms_zone *zone = NULL;
    ms_status st = {0};
    assert_int_equal(ms_zone_make(&arena, ms_str_lit("Asia/Tokyo"), &zone, &st), MS_INVALID_OPTION);
    assert_non_null(strstr(st.detail, "/nowhere"));
    unsetenv("TZDIR");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(fixed_offsets_need_no_database),
        TEST(wrong_names_are_refused),
        TEST(offsets_are_those_of_the_c_library),
        TEST(local_times_follow_gaps_and_overlaps),
        TEST(known_changes_are_exact),
        TEST(the_ends_of_time_saturate),
        TEST(the_host_says_its_zone_and_database),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
