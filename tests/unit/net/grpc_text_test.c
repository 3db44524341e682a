/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/env.h"
#include "net/grpc_text_priv.h"

/* Timeouts. */

static void timeouts_are_read(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ns;
    } good[] = {
        {"1n", 1},
        {"99999999n", 99999999},
        {"1u", 1000},
        {"250m", 250000000},
        {"0S", 0},
        {"1S", 1000000000},
        {"2M", 120000000000},
        {"1H", 3600000000000},
        {"00000001H", 3600000000000},
        {"2562047H", INT64_C(9223369200000000000)},
        {"2562048H", INT64_MAX}, /* 292 years and more */
        {"99999999H", INT64_MAX},
    };
    static const char *const bad[] = {"",    "1",   "S",    "1s",  "1h",         "-1S",
                                      "1 S", "+1S", "1.5S", "1SS", "123456789n", "0x1S"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        int64_t ns = -1;
        assert_true(msi_grpc_timeout_parse(ms_str_cstr(good[i].text), &ns));
        assert_int_equal(ns, good[i].ns);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        int64_t ns = -1;
        assert_false(msi_grpc_timeout_parse(ms_str_cstr(bad[i]), &ns));
    }
}

static void timeouts_are_written_exactly_where_they_can_be(void **state)
{
    (void)state;
    static const struct {
        int64_t ns;
        const char *text;
    } cases[] = {
        {INT64_MIN, "1n"},
        {0, "1n"},
        {1, "1n"},
        {99999999, "99999999n"},
        {100000000, "100000u"},
        {100000001, "100001u"}, /* rounded up, not down */
        {INT64_C(99999999000), "99999999u"},
        {INT64_C(100000000000), "100000m"},
        {INT64_C(100000000000000), "100000S"},
        {INT64_C(99999999000000000), "99999999S"},
        {INT64_C(100000000000000000), "1666667M"},
        {INT64_MAX, "2562048H"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[MSI_GRPC_TIMEOUT_BYTES];
        ms_str written = {text, msi_grpc_timeout_format(cases[i].ns, text)};
        assert_str_equal(written, cases[i].text);
    }
}

static void a_written_timeout_is_never_shorter(void **state)
{
    (void)state;
    ms_env_random random;
    ms_env_random_init(&random, 7);
    for (int i = 0; i < 100000; i++) {
        int64_t ns = (int64_t)(ms_env_random_next(&random) >> (1 + i % 63));
        char text[MSI_GRPC_TIMEOUT_BYTES];
        int64_t read_ns = 0;
        size_t bytes = msi_grpc_timeout_format(ns, text);
        assert_true(bytes <= 9);
        assert_true(msi_grpc_timeout_parse((ms_str){text, bytes}, &read_ns));
        assert_true(read_ns >= ns);
        assert_true(read_ns - ns <= ns / 1000000 || read_ns - ns <= 1 ||
                    read_ns - ns < INT64_C(3600000000000));
    }
}

/* Percent. */

static void messages_survive_percent(void **state)
{
    (void)state;
    ms_env_random random;
    ms_env_random_init(&random, 8);
    for (int i = 0; i < 2000; i++) {
        char text[40];
        char encoded[120];
        size_t bytes = ms_env_random_below(&random, sizeof(text) + 1);
        for (size_t j = 0; j < bytes; j++) {
            text[j] = (char)ms_env_random_next(&random);
        }
        size_t encoded_bytes = msi_grpc_percent_encode((ms_str){text, bytes}, encoded);
        assert_true(encoded_bytes <= bytes * 3);
        for (size_t j = 0; j < encoded_bytes; j++) {
            assert_true(encoded[j] >= 0x20 && encoded[j] <= 0x7e);
        }
        size_t decoded = msi_grpc_percent_decode((ms_str){encoded, encoded_bytes}, encoded);
        assert_int_equal(decoded, bytes);
        assert_memory_equal(encoded, text, bytes);
    }
}

/* HTTP/2 forbids blanks at the ends of a value: the stream would be reset, and the status lost. */
static void blanks_at_the_ends_of_a_message_are_percent(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"but found ", "but found%20"}, {" x y", "%20x y"}, {"  x  ", "%20 x %20"}, {" ", "%20"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char out[32];
        ms_str encoded = {out, msi_grpc_percent_encode(ms_str_cstr(cases[i][0]), out)};
        assert_str_equal(encoded, cases[i][1]);
    }
}

static void broken_percent_is_left_as_it_is(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"%", "%"},     {"%4", "%4"},     {"%41", "A"},           {"%4g", "%4g"},
        {"%%41", "%A"}, {"100%", "100%"}, {"%c3%A9", "\xc3\xa9"}, {"", ""}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char out[16];
        ms_str decoded = {out, msi_grpc_percent_decode(ms_str_cstr(cases[i][0]), out)};
        assert_str_equal(decoded, cases[i][1]);
    }
}

/* Base64. */

static void bytes_survive_base64(void **state)
{
    (void)state;
    ms_env_random random;
    ms_env_random_init(&random, 9);
    for (size_t bytes = 0; bytes < 100; bytes++) {
        char data[100];
        char text[MSI_BASE64_BYTES(100) + 4];
        for (size_t j = 0; j < bytes; j++) {
            data[j] = (char)ms_env_random_next(&random);
        }
        size_t text_bytes = msi_base64_encode((ms_str){data, bytes}, text);
        assert_true(text_bytes <= MSI_BASE64_BYTES(bytes));
        while (text_bytes % 4 != 0 && bytes % 2 == 0) {
            text[text_bytes++] = '='; /* padded or not */
        }
        assert_int_equal(msi_base64_decode((ms_str){text, text_bytes}, text), bytes);
        assert_memory_equal(text, data, bytes);
    }
}

static void what_is_not_base64_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"A",    "AAAAA", "A*AA",  "AA=A",
                                      "====", "A===",  "AA AA", "-_AA"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char out[16];
        assert_int_equal(msi_base64_decode(ms_str_cstr(bad[i]), out), SIZE_MAX);
    }
}

/* Codes and keys. */

static void http_statuses_have_codes(void **state)
{
    (void)state;
    assert_int_equal(msi_grpc_code_of_http(401), MS_GRPC_UNAUTHENTICATED);
    assert_int_equal(msi_grpc_code_of_http(503), MS_GRPC_UNAVAILABLE);
    assert_int_equal(msi_grpc_code_of_http(500), MS_GRPC_UNKNOWN);
    assert_int_equal(msi_grpc_code_of_h2(8), MS_GRPC_CANCELLED);
    assert_int_equal(msi_grpc_code_of_h2(UINT32_MAX), MS_GRPC_UNKNOWN);
    assert_string_equal(msi_h2_error_name(7), "REFUSED_STREAM");
    assert_string_equal(msi_h2_error_name(14), "an unknown error");
}

static void the_transports_own_keys_are_known(void **state)
{
    (void)state;
    static const char *const reserved[] = {"",    ":path",        "grpc-status", "grpc-anything",
                                           "te",  "content-type", "user-agent",  "connection",
                                           "host"};
    static const char *const free_keys[] = {"authorization", "x-grpc-x", "content-types", "a"};
    for (size_t i = 0; i < sizeof(reserved) / sizeof(reserved[0]); i++) {
        assert_true(msi_grpc_key_is_reserved(ms_str_cstr(reserved[i])));
    }
    for (size_t i = 0; i < sizeof(free_keys) / sizeof(free_keys[0]); i++) {
        assert_false(msi_grpc_key_is_reserved(ms_str_cstr(free_keys[i])));
    }
    assert_true(msi_grpc_key_is_bin(ms_str_lit("a-bin")));
    assert_false(msi_grpc_key_is_bin(ms_str_lit("a-bind")));
}

static void content_types_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        msi_grpc_type type;
    } cases[] = {{"application/grpc", MSI_GRPC_TYPE_PROTO},
                 {"application/grpc+proto", MSI_GRPC_TYPE_PROTO},
                 {"application/grpc;charset=utf-8", MSI_GRPC_TYPE_PROTO},
                 {"application/grpc+proto ; x=y", MSI_GRPC_TYPE_PROTO},
                 {"application/grpc+json", MSI_GRPC_TYPE_OTHER},
                 {"application/grpc+protobuf", MSI_GRPC_TYPE_OTHER},
                 {"application/grpc+", MSI_GRPC_TYPE_OTHER},
                 {"application/grpc-web", MSI_GRPC_TYPE_NONE},
                 {"application/grpcx", MSI_GRPC_TYPE_NONE},
                 {"application/json;application/grpc", MSI_GRPC_TYPE_NONE},
                 {"", MSI_GRPC_TYPE_NONE}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(msi_grpc_type_of(ms_str_cstr(cases[i].text)), cases[i].type);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(timeouts_are_read),
        cmocka_unit_test(timeouts_are_written_exactly_where_they_can_be),
        cmocka_unit_test(a_written_timeout_is_never_shorter),
        cmocka_unit_test(messages_survive_percent),
        cmocka_unit_test(blanks_at_the_ends_of_a_message_are_percent),
        cmocka_unit_test(broken_percent_is_left_as_it_is),
        cmocka_unit_test(bytes_survive_base64),
        cmocka_unit_test(what_is_not_base64_is_refused),
        cmocka_unit_test(http_statuses_have_codes),
        cmocka_unit_test(the_transports_own_keys_are_known),
        cmocka_unit_test(content_types_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
