/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/env.h"
#include "base/str.h"

static void order_is_of_unsigned_bytes_and_prefixes_first(void **state)
{
    (void)state;
    assert_true(ms_str_compare(ms_str_lit("a"), ms_str_lit("b")) < 0);
    assert_true(ms_str_compare(ms_str_lit("\xFF"), ms_str_lit("a")) > 0);
    assert_true(ms_str_compare(ms_str_lit("a"), ms_str_lit("ab")) < 0);
    assert_true(ms_str_compare(ms_str_lit("ab"), ms_str_lit("a")) > 0);
    assert_int_equal(ms_str_compare(ms_str_lit("ab"), ms_str_lit("ab")), 0);
    assert_int_equal(ms_str_compare((ms_str){0}, ms_str_lit("")), 0);
    assert_true(ms_str_compare((ms_str){0}, ms_str_lit("a")) < 0);
}

static void nocase_folds_ascii_letters_only(void **state)
{
    (void)state;
    assert_true(ms_str_equals_nocase(ms_str_lit("Select@Z"), ms_str_lit("sELECT@z")));
    assert_false(ms_str_equals_nocase(ms_str_lit("@"), ms_str_lit("`")));
    assert_false(ms_str_equals_nocase(ms_str_lit("\xC3\x84"), ms_str_lit("\xC3\xA4")));
    assert_false(ms_str_equals_nocase(ms_str_lit("a"), ms_str_lit("ab")));
}

static void affixes_are_found(void **state)
{
    (void)state;
    assert_true(ms_str_starts_with(ms_str_lit("table.exec"), ms_str_lit("table.")));
    assert_true(ms_str_starts_with(ms_str_lit("x"), ms_str_lit("")));
    assert_false(ms_str_starts_with(ms_str_lit("x"), ms_str_lit("xy")));
    assert_true(ms_str_ends_with(ms_str_lit("a.sql"), ms_str_lit(".sql")));
    assert_false(ms_str_ends_with(ms_str_lit("sql"), ms_str_lit(".sql")));
}

static void bytes_are_found_from_a_place_on(void **state)
{
    (void)state;
    assert_int_equal(ms_str_find_byte(ms_str_lit("a.b.c"), '.', 0), 1);
    assert_int_equal(ms_str_find_byte(ms_str_lit("a.b.c"), '.', 2), 3);
    assert_int_equal(ms_str_find_byte(ms_str_lit("a.b.c"), '.', 4), SIZE_MAX);
    assert_int_equal(ms_str_find_byte(ms_str_lit("a"), 'a', 5), SIZE_MAX);
    assert_int_equal(ms_str_find_byte((ms_str){0}, 'a', 0), SIZE_MAX);
}

static void trim_and_slice_stay_inside(void **state)
{
    (void)state;
    assert_str_equal(ms_str_trim(ms_str_lit(" \t\r\n\v\f a b ")), "a b");
    assert_str_equal(ms_str_trim(ms_str_lit("   ")), "");
    assert_str_equal(ms_str_trim((ms_str){0}), "");
    assert_str_equal(ms_str_slice(ms_str_lit("abcdef"), 2, 4), "cd");
    assert_str_equal(ms_str_slice(ms_str_lit("abc"), 2, 99), "c");
    assert_str_equal(ms_str_slice(ms_str_lit("abc"), 9, 2), "");
    assert_str_equal(ms_str_slice((ms_str){0}, 1, 2), "");
    assert_str_equal(ms_str_head(ms_str_lit("abc"), 3), "abc");
    assert_str_equal(ms_str_head(ms_str_lit("abc"), 2), "ab");
    assert_str_equal(ms_str_head(ms_str_lit("a\xF0\x9F\x98\x80z"), 5), "a\xF0\x9F\x98\x80");
    assert_str_equal(ms_str_head(ms_str_lit("a\xF0\x9F\x98\x80z"), 4), "a");
    assert_str_equal(ms_str_head(ms_str_lit("\x80\x80\x80\x80\x80"), 4), "\x80\x80\x80\x80");
    assert_str_equal(ms_str_head(ms_str_lit("\x80\x80"), 1), "");
}

static void utf8_is_told_from_what_only_looks_like_it(void **state)
{
    (void)state;
    const char *good[] = {"",
                          "plain ASCII, longer than eight",
                          "\xC2\x80",
                          "\xDF\xBF",
                          "\xE0\xA0\x80",
                          "\xED\x9F\xBF",
                          "\xEE\x80\x80",
                          "\xEF\xBF\xBF",
                          "\xF0\x90\x80\x80",
                          "\xF4\x8F\xBF\xBF",
                          "12345678\xE2\x82\xAC"};
    const char *bad[] = {"\x80",
                         "\xBF",
                         "\xC0\x80",
                         "\xC1\xBF",
                         "\xC2",
                         "\xC2\x41",
                         "\xE0\x9F\xBF",
                         "\xED\xA0\x80",
                         "\xE2\x82",
                         "\xE2\x28",
                         "\xF0\x8F\xBF\xBF",
                         "\xF4\x90\x80\x80",
                         "\xF5\x80\x80\x80",
                         "\xFF",
                         "12345678\xE2\x82",
                         "1234567\xC3"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_true(ms_str_is_utf8(ms_str_cstr(good[i])));
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(ms_str_is_utf8(ms_str_cstr(bad[i])));
    }
}

static void hash_spreads_and_repeats(void **state)
{
    (void)state;
    assert_true(ms_str_hash(ms_str_lit("key")) == ms_str_hash(ms_str_lit("key")));
    assert_true(ms_str_hash(ms_str_lit("a")) != ms_str_hash(ms_str_lit("a\0")));
    unsigned buckets[64] = {0};
    for (int i = 0; i < 64000; i++) {
        char text[16];
        snprintf(text, sizeof(text), "col%d", i);
        buckets[ms_str_hash(ms_str_cstr(text)) & 63]++;
    }
    for (int i = 0; i < 64; i++) {
        assert_in_range(buckets[i], 800, 1200);
    }
}

static void distance_counts_edits_up_to_its_limit(void **state)
{
    (void)state;
    assert_int_equal(ms_str_distance(ms_str_lit("parallelism"), ms_str_lit("paralelism"), 3), 1);
    assert_int_equal(ms_str_distance(ms_str_lit("kitten"), ms_str_lit("SITTING"), 9), 3);
    assert_int_equal(ms_str_distance(ms_str_lit("kitten"), ms_str_lit("sitting"), 2), 3);
    assert_int_equal(ms_str_distance(ms_str_lit("Abc"), ms_str_lit("aBC"), 3), 0);
    assert_int_equal(ms_str_distance(ms_str_lit(""), ms_str_lit("abc"), 5), 3);
    char text[65];
    memset(text, 'x', sizeof(text));
    assert_int_equal(ms_str_distance(ms_str_make(text, 64), ms_str_make(text, 64), 2), 0);
    assert_int_equal(ms_str_distance(ms_str_make(text, 65), ms_str_make(text, 65), 2), 3);
}

static void a_buffer_grows_to_its_maximum_and_no_further(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_buf buf;
    ms_buf_init(&buf, 1000);
    for (int i = 0; i < 1000; i++) {
        assert_ok(ms_buf_append_byte(&buf, (char)i, &st));
    }
    assert_int_equal(ms_buf_append_byte(&buf, 'x', &st), MS_LIMIT);
    assert_string_equal(st.message, "a buffer would exceed 1000 bytes");
    assert_int_equal(buf.bytes, 1000);
    assert_int_equal(buf.capacity_bytes, 1000);
    assert_int_equal((unsigned char)buf.ptr[300], 300 & 0xFF);
    ms_buf_reset(&buf);
    ms_status_clear(&st);
    assert_int_equal(ms_buf_reserve(&buf, SIZE_MAX, &st), MS_LIMIT);
    ms_status_clear(&st);
    assert_ok(ms_buf_append(&buf, (ms_str){0}, &st));
    assert_str_equal(ms_buf_view(&buf), "");
    ms_buf_release(&buf);
    ms_buf_release(&buf);
}

static void a_formatted_append_may_be_short_or_long(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_buf buf;
    ms_buf_init(&buf, 1005);
    assert_ok(ms_buf_format(&buf, &st, "%s=%d;", "a", 1));
    assert_ok(ms_buf_format(&buf, &st, "%1000d", 2));
    assert_memory_equal(buf.ptr, "a=1;   ", 7);
    assert_int_equal(buf.bytes, 1004);
    assert_int_equal(ms_buf_format(&buf, &st, "%200d", 2), MS_LIMIT);
    assert_int_equal(buf.bytes, 1004);
    ms_buf_release(&buf);
}

static void a_buffer_survives_a_refused_allocation(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_buf buf;
    ms_buf_init(&buf, 1000);
    assert_ok(ms_buf_append(&buf, ms_str_lit("kept"), &st));
    assert_ok(ms_env_faults_set(ms_str_lit("memory.try:1:fail"), &st));
    assert_int_equal(ms_buf_reserve(&buf, 500, &st), MS_NO_MEMORY);
    assert_str_equal(ms_buf_view(&buf), "kept");
    ms_status_clear(&st);
    assert_ok(ms_env_faults_set(ms_str_lit("memory.try:1:fail"), &st));
    assert_int_equal(ms_buf_format(&buf, &st, "%300d", 1), MS_NO_MEMORY);
    ms_status_clear(&st);
    assert_ok(ms_env_faults_set(ms_str_lit(""), &st));
    assert_ok(ms_buf_reserve(&buf, 500, &st));
    ms_buf_release(&buf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_of_unsigned_bytes_and_prefixes_first),
        cmocka_unit_test(nocase_folds_ascii_letters_only),
        cmocka_unit_test(affixes_are_found),
        cmocka_unit_test(bytes_are_found_from_a_place_on),
        cmocka_unit_test(trim_and_slice_stay_inside),
        cmocka_unit_test(utf8_is_told_from_what_only_looks_like_it),
        cmocka_unit_test(hash_spreads_and_repeats),
        cmocka_unit_test(distance_counts_edits_up_to_its_limit),
        cmocka_unit_test(a_buffer_grows_to_its_maximum_and_no_further),
        cmocka_unit_test(a_formatted_append_may_be_short_or_long),
        cmocka_unit_test(a_buffer_survives_a_refused_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
