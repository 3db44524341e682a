/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "net/grpc.h"

static void codes_have_names(void **state)
{
    (void)state;
    assert_string_equal(ms_grpc_code_name(MS_GRPC_OK), "OK");
    assert_string_equal(ms_grpc_code_name(MS_GRPC_CANCELLED), "CANCELLED");
    assert_string_equal(ms_grpc_code_name(MS_GRPC_UNAUTHENTICATED), "UNAUTHENTICATED");
    assert_string_equal(ms_grpc_code_name((ms_grpc_code)17), "UNKNOWN");
}

static void the_first_pair_of_a_key_is_found(void **state)
{
    (void)state;
    ms_grpc_pair pairs[] = {{ms_str_lit("a"), ms_str_lit("1")},
                            {ms_str_lit("b"), ms_str_lit("2")},
                            {ms_str_lit("b"), ms_str_lit("3")}};
    ms_str value;
    assert_true(ms_grpc_metadata_find((ms_grpc_metadata){pairs, 3}, ms_str_lit("b"), &value));
    assert_str_equal(value, "2");
    assert_false(ms_grpc_metadata_find((ms_grpc_metadata){pairs, 3}, ms_str_lit("c"), &value));
    assert_int_equal(value.bytes, 0);
}

static bool is_valid(const char *key, ms_str value)
{
    ms_grpc_pair pair = {ms_str_cstr(key), value};
    return ms_grpc_metadata_is_valid((ms_grpc_metadata){&pair, 1});
}

static void what_may_be_sent_is_known(void **state)
{
    (void)state;
    assert_true(ms_grpc_metadata_is_valid((ms_grpc_metadata){NULL, 0}));
    assert_true(is_valid("x-goog_0.9", ms_str_lit("any ~!text")));
    assert_true(is_valid("any-bin", ms_str_lit("\0\x80\n")));
    assert_true(is_valid("a", ms_str_lit("")));
    assert_false(is_valid("A", ms_str_lit("x")));
    assert_false(is_valid("grpc-status", ms_str_lit("0")));
    assert_false(is_valid("a", ms_str_lit("\x80")));
    assert_false(is_valid("a", ms_str_lit("x\r\ny")));
    assert_false(is_valid("a", ms_str_lit(" x")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_have_names),
        cmocka_unit_test(the_first_pair_of_a_key_is_found),
        cmocka_unit_test(what_may_be_sent_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
