/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "func/utf8.h"

static void well_formed_texts_count_code_points(void **state)
{
    (void)state;
    assert_int_equal(ms_utf8_length(ms_str_lit("")), 0);
    assert_int_equal(ms_utf8_length(ms_str_lit("abc")), 3);
    assert_int_equal(ms_utf8_length(ms_str_lit("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80")), 3);
}

static void other_bytes_are_characters_too(void **state)
{
    (void)state;
    assert_int_equal(ms_utf8_length(ms_str_lit("\xFF\xFE")), 2);
    assert_int_equal(ms_utf8_length(ms_str_lit("\x80\x80")), 1);
    assert_int_equal(ms_utf8_length(ms_str_lit("\x80\x80z")), 2);
    assert_int_equal(ms_utf8_length(ms_str_lit("\xE2\x82")), 1);
}

static void characters_put_together_are_the_text(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int round = 0; round < 2000; round++) {
        char bytes[700];
        size_t count = (size_t)round % sizeof(bytes);
        for (size_t i = 0; i < count; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            bytes[i] = (char)(seed >> 56);
        }
        ms_str text = ms_str_make(bytes, count);
        size_t characters = 0;
        size_t at = 0;
        while (at < count) {
            size_t next = ms_utf8_next(text, at);
            assert_true(next > at && next <= count);
            assert_int_equal(ms_utf8_previous(text, next), at);
            assert_int_equal(ms_utf8_offset(text, characters), at);
            characters++;
            at = next;
        }
        assert_int_equal(ms_utf8_length(text), characters);
        assert_int_equal(ms_utf8_offset(text, characters + 5), count);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(well_formed_texts_count_code_points),
        cmocka_unit_test(other_bytes_are_characters_too),
        cmocka_unit_test(characters_put_together_are_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
