/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "func/datepattern.h"
#include "type/text.h"

/* The timestamp's text with 6 digits, "none", or the name of the pattern's fault. */
static const char *parse(const char *pattern, const char *text)
{
    static char out[MS_TEXT_TIMESTAMP_BYTES + 1];
    ms_arena arena;
    ms_status st = {0};
    const ms_datepattern *compiled = NULL;
    int64_t us = 0;
    ms_arena_init(&arena, 0);
    const char *result = "none";
    if (ms_datepattern_compile(&arena, ms_str_cstr(pattern), &compiled, &st) != MS_OK) {
        result = ms_rc_name(st.code);
    } else if (ms_datepattern_parse(compiled, ms_str_cstr(text), &us)) {
        out[ms_text_timestamp_us(out, us, 6, MS_TEXT_EXACT, ' ')] = '\0';
        result = out;
    }
    ms_arena_release(&arena);
    return result;
}

static void fields_are_read_by_their_width(void **state)
{
    (void)state;
    assert_string_equal(parse("yyyy-MM-dd HH:mm:ss", "2024-03-05 04:07:09"),
                        "2024-03-05 04:07:09.000000");
    assert_string_equal(parse("yyyy-MM-dd HH:mm:ss.SSS", "2024-03-05 04:07:09.120"),
                        "2024-03-05 04:07:09.120000");
    assert_string_equal(parse("yyyy-M-d H:m:s", "2024-3-5 4:7:9"), "2024-03-05 04:07:09.000000");
    assert_string_equal(parse("yyyyMMddHHmmssSSS", "20240305040709120"),
                        "2024-03-05 04:07:09.120000");
    assert_string_equal(parse("yyyy-MM-dd", "2024-3-5"), "none");
    assert_string_equal(parse("ss.SSS", "09.5"), "none");
    assert_string_equal(parse("yyyy", "12024"), "none");
    assert_string_equal(parse("yyyy", "+12024"), "+12024-01-01 00:00:00.000000");
    assert_string_equal(parse("yyyy", "0000"), "none");
    assert_string_equal(parse("yyyy-MM-dd", "2024-03-05x"), "none");
    assert_string_equal(parse("dd.MM.yyyy", "05.03.2024"), "2024-03-05 00:00:00.000000");
}

static void missing_fields_have_defaults(void **state)
{
    (void)state;
    assert_string_equal(parse("yyyy-MM", "2024-03"), "2024-03-01 00:00:00.000000");
    assert_string_equal(parse("HH:mm", "04:07"), "1970-01-01 04:07:00.000000");
    assert_string_equal(parse("", ""), "1970-01-01 00:00:00.000000");
}

static void days_are_cut_to_the_month_and_midnight_moves_on(void **state)
{
    (void)state;
    assert_string_equal(parse("yyyy-MM-dd", "2021-02-30"), "2021-02-28 00:00:00.000000");
    assert_string_equal(parse("yyyy-MM-dd", "2021-04-31"), "2021-04-30 00:00:00.000000");
    assert_string_equal(parse("yyyy-MM-dd", "2021-04-32"), "none");
    assert_string_equal(parse("MM/dd", "02/30"), "none");
    assert_string_equal(parse("yyyy-MM-dd HH:mm:ss", "2021-12-31 24:00:00"),
                        "2022-01-01 00:00:00.000000");
    assert_string_equal(parse("yyyy-MM-dd HH:mm:ss", "2021-12-31 24:00:01"), "none");
    assert_string_equal(parse("HH:mm", "24:00"), "1970-01-01 00:00:00.000000");
    assert_string_equal(parse("HH:mm:ss", "23:59:60"), "none");
}

static void quotes_and_marks_stand_for_themselves(void **state)
{
    (void)state;
    assert_string_equal(parse("yyyy-MM-dd'T'HH:mm", "2024-03-05T04:07"),
                        "2024-03-05 04:07:00.000000");
    assert_string_equal(parse("HH 'o''clock'", "04 o'clock"), "1970-01-01 04:00:00.000000");
    assert_string_equal(parse("HH''mm", "04'07"), "1970-01-01 04:07:00.000000");
    assert_string_equal(parse("HH'x", "04x"), "INVALID_ARGUMENT");
}

static void other_letters_are_refused_by_name(void **state)
{
    (void)state;
    assert_string_equal(parse("EEE", ""), "NOT_SUPPORTED");
    assert_string_equal(parse("yy", "24"), "NOT_SUPPORTED");
    assert_string_equal(parse("MMM", "Mar"), "NOT_SUPPORTED");
    assert_string_equal(parse("HH:mm[:ss]", "04:07"), "NOT_SUPPORTED");
    assert_string_equal(parse("HHH", "004"), "INVALID_ARGUMENT");
    assert_string_equal(parse("SSSSSSSSSS", "0"), "INVALID_ARGUMENT");
}

static void a_field_that_stands_twice_must_agree(void **state)
{
    (void)state;
    assert_string_equal(parse("HH HH", "04 04"), "1970-01-01 04:00:00.000000");
    assert_string_equal(parse("HH HH", "04 05"), "none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_read_by_their_width),
        cmocka_unit_test(missing_fields_have_defaults),
        cmocka_unit_test(days_are_cut_to_the_month_and_midnight_moves_on),
        cmocka_unit_test(quotes_and_marks_stand_for_themselves),
        cmocka_unit_test(other_letters_are_refused_by_name),
        cmocka_unit_test(a_field_that_stands_twice_must_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
