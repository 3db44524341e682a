/* SPDX-License-Identifier: Apache-2.0 */
/* Keys: the documented bytes, order, and escaping there and back. */
#include "testing.h"

#include "base/env.h"
#include "bigtable/store/key.h"

static ms_str cell_key(char *to, ms_str row, uint32_t family, ms_str qualifier, int64_t micros)
{
    char *end = msi_key_put_row(to, 3, row, MSI_KEY_END);
    end = msi_key_put_column(end, family, qualifier, MSI_KEY_END);
    end = msi_key_put_time(end, micros);
    return ms_str_make(to, (size_t)(end - to));
}

static void bytes_are_as_documented(void **state)
{
    (void)state;
    char to[64];
    const unsigned char expected[] = {0,   0, 0, 3,    'r',  '1',  0,    1,    0,    0,    0,   7,
                                      'q', 0, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFC, 0x17};
    ms_str key = cell_key(to, ms_str_lit("r1"), 7, ms_str_lit("q"), 1000);
    assert_int_equal(key.bytes, sizeof(expected));
    assert_memory_equal(key.ptr, expected, sizeof(expected));
    assert_int_equal(msi_key_u32(key.ptr), 3);
    assert_int_equal(msi_key_text_end(key, MSI_KEY_TABLE_BYTES), 8);
    assert_int_equal(msi_key_time(key.ptr + key.bytes - MSI_KEY_TIME_BYTES), 1000);
}

static ms_str random_text(ms_env_random *random, char *to)
{
    size_t bytes = ms_env_random_below(random, 5);
    for (size_t i = 0; i < bytes; i++) {
        static const char letters[4] = {0, 1, 2, (char)0xFF};
        to[i] = letters[ms_env_random_below(random, 4)];
    }
    return ms_str_make(to, bytes);
}

static int sign(int64_t value)
{
    return (value > 0) - (value < 0);
}

static void order_of_keys_is_order_of_their_parts(void **state)
{
    (void)state;
    uint64_t seed = ms_env_next_seed();
    print_message("seed %llu\n", (unsigned long long)seed);
    ms_env_random random;
    ms_env_random_init(&random, seed);
    for (int round = 0; round < 20000; round++) {
        char texts[4][8];
        char keys[2][128];
        ms_str rows[2] = {random_text(&random, texts[0]), random_text(&random, texts[1])};
        ms_str qualifiers[2] = {random_text(&random, texts[2]), random_text(&random, texts[3])};
        uint32_t families[2];
        int64_t times[2];
        ms_str cells[2];
        for (int i = 0; i < 2; i++) {
            families[i] = (uint32_t)ms_env_random_below(&random, 3) * 255;
            times[i] = (int64_t)ms_env_random_below(&random, 3) * 1000;
            cells[i] = cell_key(keys[i], rows[i], families[i], qualifiers[i], times[i]);
        }
        int expected = sign(ms_str_compare(rows[0], rows[1]));
        expected = expected != 0 ? expected : sign((int64_t)families[0] - (int64_t)families[1]);
        expected = expected != 0 ? expected : sign(ms_str_compare(qualifiers[0], qualifiers[1]));
        expected = expected != 0 ? expected : sign(times[1] - times[0]);
        assert_int_equal(sign(ms_str_compare(cells[0], cells[1])), expected);
    }
}

static void escaping_goes_there_and_back(void **state)
{
    (void)state;
    ms_env_random random;
    ms_env_random_init(&random, 7);
    for (int round = 0; round < 5000; round++) {
        char text[8];
        char escaped[64];
        char back[64];
        ms_str original = random_text(&random, text);
        char *end = msi_key_put_escaped(escaped, original);
        size_t bytes = (size_t)(end - escaped);
        end = msi_key_put_end(end, MSI_KEY_END);
        ms_str key = ms_str_make(escaped, (size_t)(end - escaped));
        assert_int_equal(msi_key_text_end(key, 0), bytes + MSI_KEY_END_BYTES);
        size_t unescaped = msi_key_unescape(back, ms_str_make(escaped, bytes));
        assert_true(ms_str_equals(ms_str_make(back, unescaped), original));
    }
}

static void row_is_behind_its_cells_and_before_the_next_row(void **state)
{
    (void)state;
    char a[64];
    char b[64];
    char c[64];
    ms_str last = cell_key(a, ms_str_lit("r"), UINT32_MAX, ms_str_lit("\xff\xff"), 0);
    char *end = msi_key_put_row(b, 3, ms_str_lit("r"), MSI_KEY_BEHIND);
    ms_str behind = ms_str_make(b, (size_t)(end - b));
    ms_str next = cell_key(c, ms_str_make("r\0", 2), 1, ms_str_lit(""), INT64_MAX);
    assert_true(ms_str_compare(last, behind) < 0);
    assert_true(ms_str_compare(behind, next) < 0);
}

static void damaged_text_has_no_end(void **state)
{
    (void)state;
    assert_int_equal(msi_key_text_end(ms_str_lit("abc"), 0), 0);
    assert_int_equal(msi_key_text_end(ms_str_make("abc\0", 4), 0), 0);
    assert_int_equal(msi_key_text_end(ms_str_make("a\0\xff", 3), 0), 0);
    assert_int_equal(msi_key_text_end(ms_str_lit(""), 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_are_as_documented),
        cmocka_unit_test(order_of_keys_is_order_of_their_parts),
        cmocka_unit_test(escaping_goes_there_and_back),
        cmocka_unit_test(row_is_behind_its_cells_and_before_the_next_row),
        cmocka_unit_test(damaged_text_has_no_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
