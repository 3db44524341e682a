/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Widths of text on a terminal, and text fitted into them.
 */
#include "testing.h"

#include "base/memory.h"
#include "engine/render.h"

static void check_fit(ms_str text, uint32_t width, const char *expected)
{
    ms_status st = {0};
    ms_buf out;
    ms_buf_init(&out, 1000);
    assert_ok(msi_text_fit(&out, text, width, &st));
    assert_str_equal(ms_buf_view(&out), expected);
    ms_buf_release(&out);
}

static void wide_characters_count_two(void **state)
{
    (void)state;
    assert_int_equal(msi_text_width(ms_str_lit("")), 0);
    assert_int_equal(msi_text_width(ms_str_lit("abc")), 3);
    assert_int_equal(msi_text_width(ms_str_lit("\xC3\xA9")), 1);
    assert_int_equal(msi_text_width(ms_str_lit("\xE6\xBC\xA2\xE5\xAD\x97")), 4);
    assert_int_equal(msi_text_width(ms_str_lit("\xEF\xBC\xA1")), 2);
    assert_int_equal(msi_text_width(ms_str_lit("\xFF\xFE")), 2);
}

static void text_is_right_aligned_and_cut_with_dots(void **state)
{
    (void)state;
    check_fit(ms_str_lit("ab"), 4, "  ab");
    check_fit(ms_str_lit("abcd"), 4, "abcd");
    check_fit(ms_str_lit("abcdef"), 5, "ab...");
    check_fit(ms_str_lit("\xE6\xBC\xA2\xE5\xAD\x97\xE5\xAD\x97"), 6,
              "\xE6\xBC\xA2\xE5\xAD\x97\xE5\xAD\x97");
    /* A wide character across the cut goes, and a blank stands in front. */
    check_fit(ms_str_lit("\xE6\xBC\xA2\xE5\xAD\x97\xE5\xAD\x97"), 5, "\xE6\xBC\xA2...");
    check_fit(ms_str_lit("a\xE6\xBC\xA2\xE5\xAD\x97\xE5\xAD\x97"), 5, " a...");
    check_fit(ms_str_lit("a\tb\nc"), 6, " a b c");
    check_fit(ms_str_lit("\xFF"), 2, " \xEF\xBF\xBD");
    check_fit(ms_str_lit(""), 2, "  ");
}

static void types_have_widths_of_their_own(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    const struct {
        const ms_type *type;
        uint32_t width;
    } types[] = {
        {ms_type_simple(&arena, MS_TYPE_TINYINT, true), 6},
        {ms_type_simple(&arena, MS_TYPE_SMALLINT, true), 6},
        {ms_type_simple(&arena, MS_TYPE_INT, true), 11},
        {ms_type_simple(&arena, MS_TYPE_BIGINT, true), 20},
        {ms_type_simple(&arena, MS_TYPE_BOOLEAN, true), 6},
        {ms_type_simple(&arena, MS_TYPE_DATE, true), 10},
        {ms_type_simple(&arena, MS_TYPE_DOUBLE, true), 30},
        {ms_type_decimal(&arena, 10, 2, true), 12},
        {ms_type_temporal(&arena, MS_TYPE_TIMESTAMP, 0, true), 19},
        {ms_type_temporal(&arena, MS_TYPE_TIMESTAMP, 3, true), 23},
        {ms_type_temporal(&arena, MS_TYPE_TIMESTAMP_LTZ, 6, true), 26},
        {ms_type_string(&arena, true), 30},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        assert_int_equal(msi_tableau_type_width(types[i].type, 30), types[i].width);
    }
    ms_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wide_characters_count_two),
        cmocka_unit_test(text_is_right_aligned_and_cut_with_dots),
        cmocka_unit_test(types_have_widths_of_their_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
