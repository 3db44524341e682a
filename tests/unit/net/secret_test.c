/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "net/secret.h"

static void a_secret_keeps_its_bytes(void **state)
{
    (void)state;
    ms_secret secret = {0};
    assert_true(ms_secret_is_empty(&secret));
    assert_str_equal(ms_secret_reveal(&secret), "");
    ms_secret_set(&secret, ms_str_lit("hush"));
    assert_false(ms_secret_is_empty(&secret));
    assert_str_equal(ms_secret_reveal(&secret), "hush");
    assert_int_equal(ms_secret_reveal(&secret).ptr[4], '\0');
    ms_secret other = {0};
    ms_secret_set(&other, ms_str_lit("old"));
    ms_secret_move(&other, &secret);
    assert_true(ms_secret_is_empty(&secret));
    assert_str_equal(ms_secret_reveal(&other), "hush");
    ms_secret_set(&other, ms_str_lit(""));
    assert_true(ms_secret_is_empty(&other));
    ms_secret_release(&secret);
    ms_secret_release(&other);
}

static void a_secret_prints_as_stars(void **state)
{
    (void)state;
    ms_secret secret = {0};
    ms_secret_set(&secret, ms_str_lit("hush"));
    assert_str_equal(ms_secret_text(&secret), "***");
    ms_secret_release(&secret);
}

static void only_the_same_bytes_are_equal(void **state)
{
    (void)state;
    ms_secret secret = {0};
    assert_false(ms_secret_equals(&secret, ms_str_lit("")));
    ms_secret_set(&secret, ms_str_lit("abab"));
    assert_true(ms_secret_equals(&secret, ms_str_lit("abab")));
    static const char *const others[] = {"", "a", "aba", "ababa", "abababab", "abac", "xbab"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        assert_false(ms_secret_equals(&secret, ms_str_cstr(others[i])));
    }
    ms_secret_release(&secret);
}

static void wiped_bytes_are_gone(void **state)
{
    (void)state;
    char bytes[] = "hush";
    ms_secret_wipe(bytes, 4);
    assert_memory_equal(bytes, "\0\0\0\0", 4);
    ms_secret_wipe(NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_secret_keeps_its_bytes),
        cmocka_unit_test(a_secret_prints_as_stars),
        cmocka_unit_test(only_the_same_bytes_are_equal),
        cmocka_unit_test(wiped_bytes_are_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
