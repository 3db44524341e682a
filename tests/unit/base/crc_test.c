/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/base_priv.h"
#include "base/codec.h"
#include "base/env.h"

static void known_answers_are_given(void **state)
{
    (void)state;
    char zeros[32] = {0};
    char ones[32];
    char rising[32];
    for (int i = 0; i < 32; i++) {
        ones[i] = (char)0xFF;
        rising[i] = (char)i;
    }
    /* RFC 3720, appendix B.4; the first is the customary check value. */
    assert_int_equal(ms_crc32c(0, ms_str_lit("123456789")), 0xE3069283u);
    assert_int_equal(ms_crc32c(0, ms_str_make(zeros, 32)), 0x8A9136AAu);
    assert_int_equal(ms_crc32c(0, ms_str_make(ones, 32)), 0x62A8AB43u);
    assert_int_equal(ms_crc32c(0, ms_str_make(rising, 32)), 0x46DD794Eu);
    assert_int_equal(ms_crc32c(0, (ms_str){0}), 0);
    assert_int_equal(msi_crc_software(0, ms_str_lit("123456789")), 0xE3069283u);
}

static void both_ways_agree_and_continue(void **state)
{
    (void)state;
    char bytes[300];
    ms_env_random random;
    ms_env_random_init(&random, 5);
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (char)ms_env_random_next(&random);
    }
    for (size_t length = 0; length <= sizeof(bytes); length++) {
        ms_str all = ms_str_make(bytes, length);
        uint32_t crc = ms_crc32c(0, all);
        assert_int_equal(msi_crc_software(0, all), crc);
        size_t cut = ms_env_random_below(&random, length + 1);
        uint32_t head = ms_crc32c(0, ms_str_slice(all, 0, cut));
        assert_int_equal(ms_crc32c(head, ms_str_slice(all, cut, length)), crc);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_answers_are_given),
        cmocka_unit_test(both_ways_agree_and_continue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
