/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/codec.h"
#include "base/env.h"

static void words_are_little_endian(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_buf buf;
    ms_buf_init(&buf, 100);
    assert_ok(ms_codec_put_u8(&buf, 0x01, &st));
    assert_ok(ms_codec_put_u16(&buf, 0x0203, &st));
    assert_ok(ms_codec_put_u32(&buf, 0x04050607, &st));
    assert_ok(ms_codec_put_u64(&buf, UINT64_C(0x08090A0B0C0D0E0F), &st));
    assert_str_equal(ms_buf_view(&buf),
                     "\x01\x03\x02\x07\x06\x05\x04\x0F\x0E\x0D\x0C\x0B\x0A\x09\x08");
    ms_codec_reader reader = ms_codec_reader_make(ms_buf_view(&buf));
    assert_int_equal(ms_codec_reader_u8(&reader), 0x01);
    assert_int_equal(ms_codec_reader_u16(&reader), 0x0203);
    assert_int_equal(ms_codec_reader_u32(&reader), 0x04050607);
    assert_true(ms_codec_reader_u64(&reader) == UINT64_C(0x08090A0B0C0D0E0F));
    assert_ok(ms_codec_reader_finish(&reader, "x", &st));
    ms_buf_release(&buf);
}

static void varints_round_trip_in_their_shortest_form(void **state)
{
    (void)state;
    const struct {
        uint64_t value;
        size_t bytes;
    } cases[] = {{0, 1},          {127, 1},        {128, 2},         {16383, 2},      {16384, 3},
                 {UINT32_MAX, 5}, {1ull << 62, 9}, {1ull << 63, 10}, {UINT64_MAX, 10}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[MS_CODEC_VARINT_BYTES];
        size_t bytes = ms_codec_store_varint(cases[i].value, text);
        assert_int_equal(bytes, cases[i].bytes);
        ms_codec_reader reader = ms_codec_reader_make(ms_str_make(text, bytes));
        assert_true(ms_codec_reader_varint(&reader) == cases[i].value);
        assert_int_equal(ms_codec_reader_left_bytes(&reader), 0);
        assert_true(ms_codec_reader_is_ok(&reader));
    }
}

static void signed_numbers_near_zero_are_short(void **state)
{
    (void)state;
    const int64_t values[] = {0, -1, 1, -64, 63, 64, INT64_MIN, INT64_MAX};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        ms_status st = {0};
        ms_buf buf;
        ms_buf_init(&buf, 100);
        assert_ok(ms_codec_put_signed(&buf, values[i], &st));
        assert_true(values[i] < -64 || values[i] > 63 || buf.bytes == 1);
        ms_codec_reader reader = ms_codec_reader_make(ms_buf_view(&buf));
        assert_true(ms_codec_reader_signed(&reader) == values[i]);
        ms_buf_release(&buf);
    }
}

static void an_overlong_varint_fails(void **state)
{
    (void)state;
    const char *bad[] = {"\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02",
                         "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01", "\x80", ""};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ms_codec_reader reader = ms_codec_reader_make(ms_str_cstr(bad[i]));
        assert_true(ms_codec_reader_varint(&reader) == 0);
        assert_false(ms_codec_reader_is_ok(&reader));
    }
}

static void texts_carry_their_length(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_buf buf;
    ms_buf_init(&buf, 11);
    assert_ok(ms_codec_put_str(&buf, ms_str_lit("abc"), &st));
    assert_ok(ms_codec_put_str(&buf, ms_str_lit(""), &st));
    assert_int_equal(buf.bytes, 5);
    assert_memory_equal(buf.ptr,
                        "\x03"
                        "abc\0",
                        5);
    ms_codec_reader reader = ms_codec_reader_make(ms_buf_view(&buf));
    assert_str_equal(ms_codec_reader_str(&reader), "abc");
    assert_str_equal(ms_codec_reader_str(&reader), "");
    assert_ok(ms_codec_reader_finish(&reader, "x", &st));
    ms_buf_release(&buf);
}

static void the_first_failure_is_for_good(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_codec_reader reader = ms_codec_reader_make(ms_str_lit("\x01\x02\x03"));
    assert_int_equal(ms_codec_reader_u8(&reader), 1);
    assert_int_equal(ms_codec_reader_u32(&reader), 0);
    /* One byte would be there, but the reader has failed. */
    assert_int_equal(ms_codec_reader_u8(&reader), 0);
    assert_int_equal(ms_codec_reader_bytes(&reader, 1).bytes, 0);
    assert_int_equal(ms_codec_reader_str(&reader).bytes, 0);
    assert_int_equal(ms_codec_reader_check(&reader, "the manifest", &st), MS_CORRUPT_DATA);
    assert_string_equal(st.message, "the manifest cannot be read");
    assert_string_equal(st.detail, "damaged or cut short at byte 1 of 3");
}

static void bytes_left_behind_are_a_failure_of_finish(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_codec_reader reader = ms_codec_reader_make(ms_str_lit("ab"));
    ms_codec_reader_u8(&reader);
    assert_ok(ms_codec_reader_check(&reader, "x", &st));
    assert_int_equal(ms_codec_reader_finish(&reader, "x", &st), MS_CORRUPT_DATA);
    assert_string_equal(st.detail, "1 bytes are left behind its end");
}

static void a_count_fits_the_bytes_that_are_left(void **state)
{
    (void)state;
    ms_codec_reader reader = ms_codec_reader_make(ms_str_lit("\x02xxxx"));
    assert_int_equal(ms_codec_reader_count(&reader, 2), 2);
    reader = ms_codec_reader_make(ms_str_lit("\x03xxxx"));
    assert_int_equal(ms_codec_reader_count(&reader, 2), 0);
    assert_false(ms_codec_reader_is_ok(&reader));
    reader = ms_codec_reader_make(ms_str_lit("\xFF\xFF\xFF\xFF\x0F"));
    assert_int_equal(ms_codec_reader_count(&reader, 1), 0);
    assert_false(ms_codec_reader_is_ok(&reader));
}

static void a_full_buffer_is_as_it_was(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_buf buf;
    ms_buf_init(&buf, 4);
    assert_ok(ms_codec_put_u8(&buf, 1, &st));
    assert_int_equal(ms_codec_put_u32(&buf, 1, &st), MS_LIMIT);
    ms_status_clear(&st);
    assert_int_equal(ms_codec_put_str(&buf, ms_str_lit("abc"), &st), MS_LIMIT);
    assert_int_equal(buf.bytes, 1);
    ms_status_clear(&st);
    assert_ok(ms_codec_put_str(&buf, ms_str_lit("ab"), &st));
    assert_int_equal(buf.bytes, 4);
    ms_buf_release(&buf);
}

/* Random bytes: whatever is read, no step passes the end (ASan watches). */
static void random_bytes_never_lead_outside(void **state)
{
    (void)state;
    ms_env_random random;
    ms_env_random_init(&random, 3);
    for (int round = 0; round < 5000; round++) {
        size_t bytes = ms_env_random_below(&random, 40);
        char *text = malloc(bytes + 1);
        for (size_t i = 0; i < bytes; i++) {
            text[i] = (char)ms_env_random_next(&random);
        }
        text = realloc(text, bytes != 0 ? bytes : 1);
        ms_codec_reader reader = ms_codec_reader_make(ms_str_make(text, bytes));
        uint64_t sum = 0;
        while (ms_codec_reader_is_ok(&reader) && ms_codec_reader_left_bytes(&reader) != 0) {
            switch (ms_env_random_below(&random, 6)) {
            case 0:
                sum += ms_codec_reader_u8(&reader);
                break;
            case 1:
                sum += ms_codec_reader_u64(&reader);
                break;
            case 2:
                sum += ms_codec_reader_varint(&reader);
                break;
            case 3:
                sum += ms_str_hash(ms_codec_reader_str(&reader));
                break;
            case 4:
                sum += ms_codec_reader_count(&reader, 3);
                break;
            default:
                sum += ms_str_hash(ms_codec_reader_bytes(&reader, ms_env_random_below(&random, 8)));
                break;
            }
        }
        assert_true(ms_codec_reader_left_bytes(&reader) <= bytes);
        free(text);
        (void)sum;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_little_endian),
        cmocka_unit_test(varints_round_trip_in_their_shortest_form),
        cmocka_unit_test(signed_numbers_near_zero_are_short),
        cmocka_unit_test(an_overlong_varint_fails),
        cmocka_unit_test(texts_carry_their_length),
        cmocka_unit_test(the_first_failure_is_for_good),
        cmocka_unit_test(bytes_left_behind_are_a_failure_of_finish),
        cmocka_unit_test(a_count_fits_the_bytes_that_are_left),
        cmocka_unit_test(a_full_buffer_is_as_it_was),
        cmocka_unit_test(random_bytes_never_lead_outside),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
