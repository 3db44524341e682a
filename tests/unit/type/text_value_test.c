/* SPDX-License-Identifier: Apache-2.0 */
#include "type/text.h"

#include "type/random_data.h"

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

static const ms_zone *zone_of(const char *name)
{
    const ms_zone *zone = NULL;
    ms_status st = {0};
    assert_int_equal(ms_zone_make(&arena, ms_str_cstr(name), &zone, &st), MS_OK);
    return zone;
}

static void assert_value(const ms_value *value, ms_text_style style, const char *expected)
{
    ms_buf buf;
    ms_status st = {0};
    ms_buf_init(&buf, 4096);
    const ms_zone *zone = zone_of("GMT+02:00");
    assert_int_equal(ms_text_value(&buf, value, style, zone, &st), MS_OK);
    if (!ms_str_equals(ms_buf_view(&buf), ms_str_cstr(expected))) {
        fail_msg("got \"%.*s\", not \"%s\"", MS_STR_ARG(ms_buf_view(&buf)), expected);
    }
    ms_buf_release(&buf);
}

static void assert_texts(ms_value value, const char *cast, const char *display, const char *print)
{
    assert_value(&value, MS_TEXT_CAST, cast);
    assert_value(&value, MS_TEXT_DISPLAY, display);
    assert_value(&value, MS_TEXT_PRINT, print);
}

static const ms_type *simple(ms_type_kind kind)
{
    return ms_type_simple(&arena, kind, true);
}

static void scalars_have_three_texts(void **state)
{
    (void)state;
    const ms_type *boolean = simple(MS_TYPE_BOOLEAN);
    assert_texts(ms_value_int(boolean, 1), "TRUE", "TRUE", "true");
    assert_texts(ms_value_null(boolean), "NULL", "NULL", "null");
    assert_texts(ms_value_int(simple(MS_TYPE_TINYINT), -5), "-5", "-5", "-5");
    assert_texts(ms_value_double(simple(MS_TYPE_FLOAT), (double)0.1f), "0.1", "0.1", "0.1");
    assert_texts(ms_value_double(simple(MS_TYPE_DOUBLE), 1e10), "1.0E10", "1.0E10", "1.0E10");
    assert_texts(ms_value_int(ms_type_decimal(&arena, 10, 2, true), 150), "1.50", "1.50", "1.50");
    ms_value wide = {.type = ms_type_decimal(&arena, 38, 10, true), .u.dec = 0};
    assert_texts(wide, "0.0000000000", "0.0000000000", "0E-10");
    assert_texts(ms_value_str(ms_type_string(&arena, true), ms_str_lit("a, b")), "a, b", "a, b",
                 "a, b");
    assert_texts(ms_value_str(ms_type_bytes(&arena, true), ms_str_lit("A\xFE")), "A\xFE", "x'41fe'",
                 "[65, -2]");
}

static void times_have_three_texts(void **state)
{
    (void)state;
    assert_texts(ms_value_int(simple(MS_TYPE_DATE), 18292), "2020-01-31", "2020-01-31",
                 "2020-01-31");
    const ms_type *time0 = ms_type_temporal(&arena, MS_TYPE_TIME, 0, true);
    const ms_type *time3 = ms_type_temporal(&arena, MS_TYPE_TIME, 3, true);
    assert_texts(ms_value_int(time0, 36900000), "10:15:00", "10:15:00", "10:15");
    assert_texts(ms_value_int(time3, 36930500), "10:15:30.5", "10:15:30.5", "10:15:30.500");
    const ms_type *ts3 = ms_type_temporal(&arena, MS_TYPE_TIMESTAMP, 3, true);
    const ms_type *ltz0 = ms_type_temporal(&arena, MS_TYPE_TIMESTAMP_LTZ, 0, true);
    const ms_type *ltz9 = ms_type_temporal(&arena, MS_TYPE_TIMESTAMP_LTZ, 9, true);
    int64_t us = INT64_C(1577873700000000); /* 2020-01-01 10:15:00 */
    assert_texts(ms_value_int(ts3, us), "2020-01-01 10:15:00.000", "2020-01-01 10:15:00.000",
                 "2020-01-01T10:15");
    assert_texts(ms_value_int(ltz0, us), "2020-01-01 12:15:00", "2020-01-01 12:15:00",
                 "2020-01-01T10:15:00Z");
    ms_value exact = {.type = ltz9, .u.ts = {us / 1000, 1}};
    assert_texts(exact, "2020-01-01 12:15:00.000000001", "2020-01-01 12:15:00.000000001",
                 "2020-01-01T10:15:00.000000001Z");
    exact.u.ts.ns = 0;
    assert_value(&exact, MS_TEXT_PRINT, "2020-01-01T10:15:00Z");
    const ms_type *months = simple(MS_TYPE_INTERVAL_MONTH);
    const ms_type *ms = simple(MS_TYPE_INTERVAL_SECOND);
    assert_texts(ms_value_int(months, 14), "+1-02", "+1-02", "P1Y2M");
    assert_texts(ms_value_int(months, -14), "-1-02", "-1-02", "P-1Y-2M");
    assert_texts(ms_value_int(months, 0), "+0-00", "+0-00", "P0D");
    assert_texts(ms_value_int(ms, 93784000), "+1 02:03:04.000", "+1 02:03:04.000", "PT26H3M4S");
    assert_texts(ms_value_int(ms, -1050), "-0 00:00:01.050", "-0 00:00:01.050", "PT-1.05S");
    assert_texts(ms_value_int(ms, -500), "-0 00:00:00.500", "-0 00:00:00.500", "PT-0.5S");
    assert_texts(ms_value_int(ms, 0), "+0 00:00:00.000", "+0 00:00:00.000", "PT0S");
    assert_texts(ms_value_int(ms, 3600000), "+0 01:00:00.000", "+0 01:00:00.000", "PT1H");
}

static void nested_values_have_three_texts(void **state)
{
    (void)state;
    const ms_type *integer = simple(MS_TYPE_INT);
    const ms_type *text = ms_type_string(&arena, true);
    ms_field fields[] = {{ms_str_lit("i"), integer}, {ms_str_lit("s"), text}};
    ms_value row_items[] = {ms_value_int(integer, 123), ms_value_str(text, ms_str_lit("abc"))};
    ms_value row = {.type = ms_type_row(&arena, fields, 2, true), .item_count = 2};
    row.u.items = row_items;
    assert_texts(row, "(123, abc)", "(123, abc)", "+I[123, abc]");
    ms_value list_items[] = {ms_value_null(integer), ms_value_int(integer, 456)};
    ms_value array = {.type = ms_type_array(&arena, integer, true), .item_count = 2};
    array.u.items = list_items;
    assert_texts(array, "[NULL, 456]", "[NULL, 456]", "[null, 456]");
    ms_value map_items[] = {ms_value_str(text, ms_str_lit("a")), ms_value_int(integer, 1),
                            ms_value_str(text, ms_str_lit("b")), ms_value_null(integer)};
    ms_value map = {.type = ms_type_map(&arena, text, integer, true), .item_count = 4};
    map.u.items = map_items;
    assert_texts(map, "{a=1, b=NULL}", "{a=1, b=NULL}", "{a=1, b=null}");
    ms_value set = {.type = ms_type_multiset(&arena, text, true), .item_count = 2};
    set.u.items = map_items;
    assert_texts(set, "{a=1}", "{a=1}", "{a=1}");
    ms_value outer = {.type = ms_type_array(&arena, row.type, true), .item_count = 1};
    outer.u.items = &row;
    assert_texts(outer, "[(123, abc)]", "[(123, abc)]", "[+I[123, abc]]");
    row.item_count = array.item_count = map.item_count = 0;
    assert_value(&row, MS_TEXT_CAST, "()");
    assert_value(&array, MS_TEXT_CAST, "[]");
    assert_value(&map, MS_TEXT_CAST, "{}");
}

/* The walk over vectors and the walk over values agree. */
static void vectors_have_the_texts_of_their_values(void **state)
{
    (void)state;
    const ms_zone *zone = zone_of("GMT-03:30");
    for (uint64_t seed = 1; seed < 200; seed++) {
        ms_arena data;
        ms_arena_init(&data, 0);
        rnd r = {.values = &data, .vectors = &data};
        ms_env_random_init(&r.random, seed);
        const ms_type *type = rnd_type(&r, 3);
        ms_vec vec;
        ms_value *values = rnd_vec(&r, &vec, type, 40);
        for (uint32_t row = 0; row < 40; row++) {
            for (int style = MS_TEXT_CAST; style <= MS_TEXT_PRINT; style++) {
                ms_buf a;
                ms_buf b;
                ms_status st = {0};
                ms_buf_init(&a, 1 << 20);
                ms_buf_init(&b, 1 << 20);
                assert_int_equal(ms_text_value(&a, &values[row], (ms_text_style)style, zone, &st),
                                 MS_OK);
                assert_int_equal(ms_text_vec(&b, &vec, row, (ms_text_style)style, zone, &st),
                                 MS_OK);
                assert_true(ms_str_equals(ms_buf_view(&a), ms_buf_view(&b)));
                ms_buf_release(&a);
                ms_buf_release(&b);
            }
        }
        ms_arena_release(&data);
    }
}

static void a_full_buffer_is_reported(void **state)
{
    (void)state;
    ms_buf buf;
    ms_status st = {0};
    ms_buf_init(&buf, 10);
    ms_value value =
        ms_value_str(ms_type_string(&arena, true), ms_str_lit("more than ten characters"));
    assert_int_equal(ms_text_value_cast(&buf, &value, ms_zone_utc(), &st), MS_LIMIT);
    ms_buf_release(&buf);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)
    const struct CMUnitTest tests[] = {
        TEST(scalars_have_three_texts),       TEST(times_have_three_texts),
        TEST(nested_values_have_three_texts), TEST(vectors_have_the_texts_of_their_values),
        TEST(a_full_buffer_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
