/* SPDX-License-Identifier: Apache-2.0 */
#include "type/text.h"

#include "type/random_data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void base64_has_the_vectors_of_the_rfc(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"", ""},
        {"f", "Zg=="},
        {"fo", "Zm8="},
        {"foo", "Zm9v"},
        {"foob", "Zm9vYg=="},
        {"fooba", "Zm9vYmE="},
        {"foobar", "Zm9vYmFy"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[16];
        ms_str bytes = ms_str_cstr(cases[i][0]);
        size_t count = ms_text_base64_encode(text, bytes);
        assert_int_equal(count, ms_text_base64_bytes(bytes.bytes));
        assert_int_equal(count, strlen(cases[i][1]));
        assert_memory_equal(text, cases[i][1], count);
    }
}

static void base64_is_strict(void **state)
{
    (void)state;
    static const char *const bad[] = {"Zg",       "Zg=",  "Zg===", "Zh==",      "Zm9=",
                                      "====",     "Z===", "=Zg=",  "Zm9v Zm9v", "Zm9v\n",
                                      "Zg==Zm9v", "Zm-_", "Zm9*",  "A=A="};
    char out[32];
    size_t bytes = 0;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        if (ms_text_base64_decode(ms_str_cstr(bad[i]), out, &bytes)) {
            fail_msg("%s was taken", bad[i]);
        }
        assert_int_equal(bytes, 0);
    }
    assert_true(ms_text_base64_decode(ms_str_lit(""), out, &bytes));
    assert_int_equal(bytes, 0);
}

static void base64_of_formats_has_blanks_and_parts(void **state)
{
    (void)state;
    static const char *const good[][2] = {
        {"", ""},           {" ", ""},     {"YWJj", "abc"},    {" \r\nYWJj\tYQ== ", "abca"},
        {"YQ==YQ==", "aa"}, {"YR==", "a"}, {"YWL=YQ==", "aba"}};
    static const char *const bad[] = {"Y",    "YQ",   "YQ=",  "Y Q==", "YW Jj",
                                      "YQ-_", "====", "Y===", "YWJjY"};
    char out[64];
    size_t bytes = 0;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        assert_true(ms_text_base64_decode_loose(ms_str_cstr(good[i][0]), out, &bytes));
        assert_int_equal(bytes, strlen(good[i][1]));
        assert_memory_equal(out, good[i][1], bytes);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_false(ms_text_base64_decode_loose(ms_str_cstr(bad[i]), out, &bytes));
        assert_int_equal(bytes, 0);
    }
}

/* Whatever is accepted encodes to itself again. */
static void texts_and_bytes_correspond(void **state)
{
    (void)state;
    rnd r = {0};
    ms_env_random_init(&r.random, 1);
    for (int i = 0; i < 30000; i++) {
        char raw[48];
        char text[64];
        char back[48];
        size_t count = rnd_below(&r, sizeof(raw) + 1);
        for (size_t k = 0; k < count; k++) {
            raw[k] = (char)rnd_below(&r, 256);
        }
        ms_str bytes = ms_str_make(raw, count);
        size_t text_bytes = ms_text_base64_encode(text, bytes);
        size_t got = 0;
        assert_true(ms_text_base64_decode(ms_str_make(text, text_bytes), back, &got));
        assert_true(ms_str_equals(ms_str_make(back, got), bytes));
        if (text_bytes > 0) {
            text[rnd_below(&r, (uint32_t)text_bytes)] = "AZaz09+/=-"[rnd_below(&r, 10)];
            if (ms_text_base64_decode(ms_str_make(text, text_bytes), back, &got)) {
                char again[64];
                size_t again_bytes = ms_text_base64_encode(again, ms_str_make(back, got));
                assert_true(
                    ms_str_equals(ms_str_make(again, again_bytes), ms_str_make(text, text_bytes)));
            }
        }
    }
}

static void hexadecimal_is_read_in_both_cases(void **state)
{
    (void)state;
    char text[16];
    ms_str bytes = ms_str_make("\x00\xff\x1a", 3);
    assert_int_equal(ms_text_hex_encode(text, bytes, false), 6);
    assert_memory_equal(text, "00ff1a", 6);
    assert_int_equal(ms_text_hex_encode(text, bytes, true), 6);
    assert_memory_equal(text, "00FF1A", 6);
    char out[8];
    size_t count = 0;
    assert_true(ms_text_hex_decode(ms_str_lit("00fF1A"), out, &count));
    assert_true(ms_str_equals(ms_str_make(out, count), bytes));
    assert_false(ms_text_hex_decode(ms_str_lit("0"), out, &count));
    assert_false(ms_text_hex_decode(ms_str_lit("0g"), out, &count));
    assert_false(ms_text_hex_decode(ms_str_lit("@0"), out, &count));
    assert_true(ms_text_hex_decode(ms_str_lit(""), out, &count));
    assert_int_equal(count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(base64_has_the_vectors_of_the_rfc),
        cmocka_unit_test(base64_is_strict),
        cmocka_unit_test(base64_of_formats_has_blanks_and_parts),
        cmocka_unit_test(texts_and_bytes_correspond),
        cmocka_unit_test(hexadecimal_is_read_in_both_cases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
