/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Regular expressions: what patterns mean, and all texts up to some length over a small alphabet
 * against random patterns and their plain meaning (filter_naive.h).
 */
#include "testing.h"

#include "bigtable/model/filter_naive.h"
#include "bigtable/model/regex.h"
#include "bigtable/model/regex_shim.h"

#define MEMORY ((size_t)1 << 20)

static ms_arena arena;

static int setup(void **state)
{
    (void)state;
    ms_arena_init(&arena, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    ms_arena_release(&arena);
    return 0;
}

static const msi_regex *make(ms_str pattern)
{
    char text[256] = "";
    const msi_regex *regex = msi_regex_make(pattern, MEMORY, &arena, text, sizeof(text));
    if (regex == NULL) {
        fail_msg("\"%.*s\": %s", MS_STR_ARG(pattern), text);
    }
    return regex;
}

#define assert_match(pattern, text, expected)                                                      \
    assert_int_equal(msi_regex_match(make(ms_str_lit(pattern)), ms_str_lit(text)), expected)

static void a_match_is_of_the_whole_text(void **state)
{
    (void)state;
    assert_match("b", "abc", 0);
    assert_match("b.*", "abc", 0);
    assert_match(".*b.*", "abc", 1);
    assert_match("a|ab", "ab", 1);
}

static void an_empty_alternative_matches_only_the_empty_text(void **state)
{
    (void)state;
    assert_match("|a", "", 1);
    assert_match("|a", "a", 1);
    assert_match("|a", "b", 0);
    assert_match("a|", "b", 0);
    assert_match("", "", 1);
    assert_match("", "a", 0);
}

static void bytes_are_latin_1(void **state)
{
    (void)state;
    assert_match("\xe9", "\xe9", 1);
    assert_match("(?i)\xe9", "\xc9", 1);
    assert_match(".", "\xff", 1);
    assert_match(".", "\xc3\xa9", 0);
    assert_match("[\x80-\xff]+", "\x80\xff", 1);
    assert_match("\\x{e9}", "\xe9", 1);
    assert_match("\\xe9", "\xe9", 1);
}

static void a_dot_is_no_line_feed_and_any_byte_is(void **state)
{
    (void)state;
    assert_match(".", "\n", 0);
    assert_match("(?s).", "\n", 1);
    assert_match("\\C", "\n", 1);
    assert_match("\\C\\C", "\xff\0", 1);
    assert_match("a\0b.", "a\0bc", 1);
    assert_match("(?m)a$\n^b", "a\nb", 1);
}

static void wrong_patterns_say_why(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"[a", "missing ]: [a"},
        {"(", "missing ): ("},
        {"*", "no argument for repetition operator: *"},
        {"a**", "bad repetition operator: **"},
        {"\\8", "invalid escape sequence: \\8"},
        {"(a)\\1", "invalid escape sequence: \\1"},
        {"a{1001}", "invalid repetition size: {1001}"},
        {"(\xff", "missing ): (?"},
        {"x\\", "trailing \\"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char text[256] = "";
        assert_null(msi_regex_make(ms_str_cstr(wrong[i][0]), MEMORY, &arena, text, sizeof(text)));
        assert_string_equal(text, wrong[i][1]);
    }
}

static void a_program_that_does_not_fit_is_refused(void **state)
{
    (void)state;
    char text[256] = "";
    /* Some 8,000 instructions. */
    ms_str pattern = ms_str_lit("[a-c]{1000}[a-c]{1000}[a-c]{1000}[a-c]{1000}[a-c]{1000}"
                                "[a-c]{1000}[a-c]{1000}[a-c]{1000}");
    assert_non_null(msi_regex_make(pattern, MEMORY, &arena, text, sizeof(text)));
    assert_null(msi_regex_make(pattern, 64u << 10, &arena, text, sizeof(text)));
    assert_string_equal(text, "pattern too large - compile failed");
}

static void literals_are_recognized(void **state)
{
    (void)state;
    static const char *const literals[][2] = {
        {"", ""},          {"abc", "abc"},   {"a\\.b\\-c", "a.b-c"}, {"\\x41\\x2E", "A."},
        {"a_\\_b", NULL},  {"a.b", NULL},    {"^a", NULL},           {"a\\d", NULL},
        {"\\x{41}", NULL}, {"a{2}", NULL},   {"\\Qa", NULL},         {"\\", NULL},
        {"\\x4", NULL},    {"\xe9", "\xe9"}, {"a|b", NULL},          {"\\\\", "\\"},
    };
    for (size_t i = 0; i < sizeof(literals) / sizeof(literals[0]); i++) {
        ms_str literal = {NULL, 0};
        bool found = msi_regex_literal(ms_str_cstr(literals[i][0]), &arena, &literal);
        assert_int_equal(found, literals[i][1] != NULL);
        if (found) {
            assert_str_equal(literal, literals[i][1]);
        }
    }
}

/* Every pattern of three bytes that reads as a literal means that to RE2, too. */
static void literals_mean_the_same_to_re2(void **state)
{
    (void)state;
    static const char bytes[] = "\\x4a_.-{\x80\n\0";
    size_t n = sizeof(bytes) - 1;
    unsigned seen = 0;
    for (size_t i = 0; i < n * n * n * n; i++) {
        char pattern[4] = {bytes[i % n], bytes[i / n % n], bytes[i / n / n % n],
                           bytes[i / n / n / n % n]};
        ms_str literal = {NULL, 0};
        if (!msi_regex_literal(ms_str_make(pattern, 4), &arena, &literal)) {
            continue;
        }
        char text[256];
        msi_re2 *re2 = msi_re2_create(pattern, 4, MEMORY, text, sizeof(text));
        assert_non_null(re2);
        assert_int_equal(msi_re2_match(re2, literal.ptr, literal.bytes), 1);
        char other[8];
        memcpy(other, literal.ptr, literal.bytes);
        other[0] = (char)(other[0] + 1);
        assert_int_equal(msi_re2_match(re2, other, literal.bytes), 0);
        msi_re2_destroy(re2);
        seen++;
    }
    assert_true(seen > 500);
}

/* Random patterns. */

#define TEXT_BYTES_MAX 4u

/* The n-th text over the alphabet, shorter ones first; false when there are no more. */
static bool nth_text(unsigned n, char *text, size_t *bytes_out)
{
    size_t bytes = 0;
    for (unsigned count = 1; n >= count; count *= NAIVE_LETTERS) {
        n -= count;
        bytes++;
    }
    for (size_t i = 0; i < bytes && i < TEXT_BYTES_MAX; i++) {
        text[i] = (char)naive_alphabet[n % NAIVE_LETTERS];
        n /= NAIVE_LETTERS;
    }
    *bytes_out = bytes;
    return bytes <= TEXT_BYTES_MAX;
}

static void random_patterns_match_what_they_should(void **state)
{
    (void)state;
    naive_choices choices = {.bytes = NULL};
    ms_env_random_init(&choices.random, 7);
    unsigned matches = 0;
    unsigned narrowed = 0;
    for (int round = 0; round < 1500; round++) {
        ms_arena_reset(&arena);
        const naive_regex *t = naive_regex_grow(&choices, &arena, 3);
        ms_str pattern = naive_regex_text(t, &arena);
        const msi_regex *regex = make(pattern);
        ms_bt_range range = msi_regex_range(regex, &arena);
        char bytes[TEXT_BYTES_MAX];
        ms_str text = {bytes, 0};
        for (unsigned n = 0; nth_text(n, bytes, &text.bytes); n++) {
            bool expected = naive_regex_matches(t, text);
            if (msi_regex_match(regex, text) != expected) {
                fail_msg("\"%.*s\" on text %u: expected %d", MS_STR_ARG(pattern), n, expected);
            }
            matches += expected;
            bool is_inside = ms_bt_range_contains(&range, text);
            assert_true(is_inside || !expected);
            narrowed += !is_inside;
        }
    }
    /* The test means nothing when little matches, or no range excludes anything. */
    assert_true(matches > 10000);
    assert_true(narrowed > 10000);
}

static void assert_range(const char *pattern, const char *expected)
{
    ms_status st = {0};
    ms_buf text;
    ms_buf_init(&text, 4096);
    ms_bt_range range = msi_regex_range(make(ms_str_cstr(pattern)), &arena);
    assert_ok(ms_bt_range_render(&range, &text, &st));
    assert_str_equal(ms_buf_view(&text), expected);
    ms_buf_release(&text);
}

static void ranges_are_as_narrow_as_the_prefix(void **state)
{
    (void)state;
    assert_range("user#.*", "[user#,user$]");
    assert_range("user\\#1", "[user#1,user#1]");
    assert_range("(?i)u.*", "[U,v]");
    assert_range(".*x", "(*,*)");
    assert_range("", "(*,]");
    assert_range("()", "(*,*)");
    assert_range("|x", "(*,x]");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_match_is_of_the_whole_text),
        TEST(an_empty_alternative_matches_only_the_empty_text),
        TEST(bytes_are_latin_1),
        TEST(a_dot_is_no_line_feed_and_any_byte_is),
        TEST(wrong_patterns_say_why),
        TEST(a_program_that_does_not_fit_is_refused),
        TEST(literals_are_recognized),
        TEST(literals_mean_the_same_to_re2),
        TEST(random_patterns_match_what_they_should),
        TEST(ranges_are_as_narrow_as_the_prefix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
