/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "sql/keyword.h"

static void words_are_sorted_and_found_in_any_case(void **state)
{
    (void)state;
    for (int i = MS_KEYWORD_NONE + 1; i < MS_KEYWORD_COUNT; i++) {
        const char *text = ms_keyword_text((ms_keyword)i);
        char lower[64];
        assert_true(strlen(text) < sizeof(lower));
        assert_true(strcmp(ms_keyword_text((ms_keyword)(i - 1)), text) < 0);
        assert_int_equal(ms_keyword_find(ms_str_cstr(text)), i);
        for (size_t at = 0; at <= strlen(text); at++) {
            lower[at] = text[at] >= 'A' && text[at] <= 'Z' ? (char)(text[at] + 32) : text[at];
        }
        assert_int_equal(ms_keyword_find(ms_str_cstr(lower)), i);
    }
}

static void other_words_are_none(void **state)
{
    (void)state;
    static const char *const words[] = {"",    "SELEC", "SELECTS",  "foo", "_",
                                        "ZZZ", "A1",    "\xC3\xA4", "0"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        assert_int_equal(ms_keyword_find(ms_str_cstr(words[i])), MS_KEYWORD_NONE);
    }
    assert_string_equal(ms_keyword_text(MS_KEYWORD_NONE), "");
    assert_false(ms_keyword_is_reserved(MS_KEYWORD_NONE));
    assert_true(ms_keyword_may_name_function(MS_KEYWORD_NONE));
}

static void classes_are_those_of_the_dialect(void **state)
{
    (void)state;
    assert_true(ms_keyword_is_reserved(MS_KW_SELECT));
    assert_false(ms_keyword_may_name_function(MS_KW_SELECT));
    assert_true(ms_keyword_is_reserved(MS_KW_COUNT));
    assert_true(ms_keyword_may_name_function(MS_KW_COUNT));
    assert_false(ms_keyword_is_reserved(MS_KW_DATA));
    assert_true(ms_keyword_may_name_function(MS_KW_IF));
    assert_true(ms_keyword_is_reserved(MS_KW_WEEKS));
    assert_false(ms_keyword_is_reserved(MS_KW_WEEK));
    assert_false(ms_keyword_is_reserved(MS_KW_CONFLICT));
    int reserved = 0;
    int words = 0;
    for (int i = MS_KEYWORD_NONE + 1; i < MS_KEYWORD_COUNT; i++) {
        reserved += ms_keyword_is_reserved((ms_keyword)i) ? 1 : 0;
        words++;
    }
    /* 430 of 773 in Flink 2.2, less END-EXEC, and the four words of later versions. */
    assert_int_equal(reserved, 429);
    assert_int_equal(words, 776);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_sorted_and_found_in_any_case),
        cmocka_unit_test(other_words_are_none),
        cmocka_unit_test(classes_are_those_of_the_dialect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
