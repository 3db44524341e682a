/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/memory.h"
#include "net/header_priv.h"

static bool receive(msi_header *header, const char *key, const char *value)
{
    return msi_header_receive(header, ms_str_cstr(key), ms_str_cstr(value));
}

/* In. */

static void fields_of_grpc_are_told_from_metadata(void **state)
{
    (void)state;
    msi_header header;
    msi_header_pairs pairs = {0};
    msi_header_init(&header, 10000);
    static const char *const fields[][2] = {{":method", "POST"},
                                            {":path", "/s/M"},
                                            {":scheme", "http"},
                                            {":authority", "x"},
                                            {"te", "trailers"},
                                            {"content-type", "application/grpc"},
                                            {"grpc-timeout", "1S"},
                                            {"grpc-encoding", "gzip"},
                                            {"grpc-accept-encoding", "gzip"},
                                            {"grpc-unknown", "x"},
                                            {"user-agent", "me"},
                                            {"authorization", "Bearer t"},
                                            {"x-first", "1"},
                                            {"x-first", "2"},
                                            {"te", "second"},
                                            {"grpc-message", "text"},
                                            {"grpc-status", "5"},
                                            {":status", "200"},
                                            {"tx", "not te"},
                                            {"grpc-status-details-bin", "AQ"}};
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        assert_true(receive(&header, fields[i][0], fields[i][1]));
    }
    assert_str_equal(msi_header_value(&header, MSI_HEADER_METHOD), "POST");
    assert_str_equal(msi_header_value(&header, MSI_HEADER_PATH), "/s/M");
    assert_str_equal(msi_header_value(&header, MSI_HEADER_STATUS), "200");
    assert_str_equal(msi_header_value(&header, MSI_HEADER_CONTENT_TYPE), "application/grpc");
    assert_str_equal(msi_header_value(&header, MSI_HEADER_TE), "trailers"); /* the first */
    assert_str_equal(msi_header_value(&header, MSI_HEADER_GRPC_TIMEOUT), "1S");
    assert_str_equal(msi_header_value(&header, MSI_HEADER_GRPC_ENCODING), "gzip");
    assert_str_equal(msi_header_value(&header, MSI_HEADER_GRPC_STATUS), "5");
    assert_str_equal(msi_header_value(&header, MSI_HEADER_GRPC_MESSAGE), "text");
    assert_str_equal(msi_header_value(&header, MSI_HEADER_GRPC_DETAILS), "AQ");
    assert_str_equal(msi_header_value(&header, MSI_HEADER_AUTHORIZATION), "Bearer t");
    assert_true(msi_header_take_metadata(&header, false, &pairs));
    assert_int_equal(pairs.count, 5);
    assert_str_equal(pairs.pairs[0].key, "user-agent");
    assert_str_equal(pairs.pairs[1].value, "Bearer t");
    assert_str_equal(pairs.pairs[3].value, "2");
    assert_str_equal(pairs.pairs[4].key, "tx");
    assert_true(msi_header_take_metadata(&header, true, &pairs));
    assert_int_equal(pairs.count, 4);
    msi_header_pairs_release(&pairs);
    msi_header_release(&header);
}

static void values_in_base64_are_decoded(void **state)
{
    (void)state;
    msi_header header;
    msi_header_pairs pairs = {0};
    msi_header_init(&header, 10000);
    assert_true(receive(&header, "a-bin", "YWJj"));
    assert_true(receive(&header, "b-bin", "YQ==,YWI,,YWJj"));
    assert_true(msi_header_take_metadata(&header, false, &pairs));
    assert_int_equal(pairs.count, 5);
    static const char *const values[] = {"abc", "a", "ab", "", "abc"};
    for (size_t i = 0; i < 5; i++) {
        assert_str_equal(pairs.pairs[i].key, i == 0 ? "a-bin" : "b-bin");
        assert_str_equal(pairs.pairs[i].value, values[i]);
    }
    msi_header_reset(&header);
    assert_true(receive(&header, "c-bin", "not base64"));
    assert_false(msi_header_take_metadata(&header, false, &pairs));
    msi_header_pairs_release(&pairs);
    msi_header_release(&header);
}

static void a_block_that_is_too_large_is_counted_but_not_kept(void **state)
{
    (void)state;
    msi_header header;
    char value[68];
    memset(value, 'v', 67);
    value[67] = '\0';
    msi_header_init(&header, 1000); /* ten fields of 100 bytes */
    for (int i = 0; i < 10; i++) {
        assert_true(receive(&header, "k", value));
    }
    assert_false(header.is_too_large);
    assert_true(receive(&header, "k", value));
    assert_true(header.is_too_large);
    assert_int_equal(header.field_count, 10);
    for (int i = 11; i < 80; i++) {
        assert_true(receive(&header, "k", value));
    }
    assert_false(receive(&header, "k", value)); /* hopeless */
    assert_int_equal(header.field_count, 10);
    msi_header_reset(&header);
    assert_false(header.is_too_large);
    assert_true(receive(&header, "k", value));
    msi_header_release(&header);
}

static void a_block_that_is_used_again_allocates_nothing(void **state)
{
    (void)state;
    msi_header header;
    msi_header_init(&header, 100000);
    uint64_t before = 0;
    for (int i = 0; i < 5; i++) {
        before = i == 1 ? ms_mem_allocation_count() : before;
        for (int j = 0; j < 10; j++) {
            assert_true(receive(&header, "some-key", "and its value"));
        }
        msi_header_reset(&header);
        assert_int_equal(header.field_count, 0);
    }
    assert_int_equal(ms_mem_allocation_count(), before);
    char *large = ms_mem_alloc(20000);
    memset(large, 'x', 20000);
    assert_true(msi_header_receive(&header, ms_str_lit("k"), (ms_str){large, 20000}));
    msi_header_reset(&header);
    assert_int_equal(header.text.capacity_bytes, 0);
    ms_mem_free(large);
    msi_header_release(&header);
}

/* Out. */

static void fields_are_written_as_they_were_added(void **state)
{
    (void)state;
    msi_header header;
    nghttp2_nv fields[8];
    msi_header_init(&header, SIZE_MAX);
    msi_header_add(&header, ms_str_lit(":path"), ms_str_lit("/s/M"));
    ms_grpc_pair pairs[] = {{ms_str_lit("a-bin"), ms_str_lit("\x01\x02")},
                            {ms_str_lit("b"), ms_str_lit("")}};
    assert_true(msi_header_add_metadata(&header, (ms_grpc_metadata){pairs, 2}));
    memcpy(msi_header_reserve(&header, 4), "tail", 4);
    header.text.bytes += 4;
    msi_header_add_tail(&header, ms_str_lit("c"), 4);
    assert_int_equal(msi_header_write(&header, fields), 4);
    static const char *const expected[][2] = {
        {":path", "/s/M"}, {"a-bin", "AQI"}, {"b", ""}, {"c", "tail"}};
    for (size_t i = 0; i < 4; i++) {
        ms_str key = {(const char *)fields[i].name, fields[i].namelen};
        ms_str value = {(const char *)fields[i].value, fields[i].valuelen};
        assert_str_equal(key, expected[i][0]);
        assert_str_equal(value, expected[i][1]);
    }
    nghttp2_nv constant = msi_header_constant("te", "trailers");
    assert_int_equal(constant.valuelen, 8);
    msi_header_release(&header);
}

static void what_cannot_be_sent_is_not_added(void **state)
{
    (void)state;
    msi_header header;
    msi_header_init(&header, SIZE_MAX);
    ms_grpc_pair bad[] = {{ms_str_lit("good"), ms_str_lit("1")},
                          {ms_str_lit("Bad"), ms_str_lit("1")}};
    assert_false(msi_header_add_metadata(&header, (ms_grpc_metadata){bad, 2}));
    assert_int_equal(header.field_count, 0);
    char *large = ms_mem_alloc(MSI_HEADER_OUT_BYTES_MAX + 1);
    memset(large, 'x', MSI_HEADER_OUT_BYTES_MAX + 1);
    ms_grpc_pair pair = {ms_str_lit("k"), {large, MSI_HEADER_OUT_BYTES_MAX + 1}};
    assert_false(msi_header_add_metadata(&header, (ms_grpc_metadata){&pair, 1}));
    ms_grpc_pair half[] = {{ms_str_lit("k"), {large, MSI_HEADER_OUT_BYTES_MAX / 3}},
                           {ms_str_lit("k"), {large, MSI_HEADER_OUT_BYTES_MAX / 3}},
                           {ms_str_lit("k"), {large, MSI_HEADER_OUT_BYTES_MAX / 3}}};
    assert_false(msi_header_add_metadata(&header, (ms_grpc_metadata){half, 3}));
    assert_int_equal(header.field_count, 0);
    ms_mem_free(large);
    msi_header_release(&header);
}

static void blocks_change_places_but_not_their_maximum(void **state)
{
    (void)state;
    msi_header small;
    msi_header large;
    msi_header_init(&small, 50);
    msi_header_init(&large, 1000);
    assert_true(receive(&small, ":path", "/s/M"));
    msi_header_swap(&small, &large);
    assert_false(msi_header_has(&small, MSI_HEADER_PATH));
    assert_str_equal(msi_header_value(&large, MSI_HEADER_PATH), "/s/M");
    assert_true(receive(&large, "key", "value"));
    assert_false(large.is_too_large);
    assert_true(receive(&small, "key", "a value of some length"));
    assert_true(small.is_too_large);
    msi_header_release(&small);
    msi_header_release(&large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_of_grpc_are_told_from_metadata),
        cmocka_unit_test(values_in_base64_are_decoded),
        cmocka_unit_test(a_block_that_is_too_large_is_counted_but_not_kept),
        cmocka_unit_test(a_block_that_is_used_again_allocates_nothing),
        cmocka_unit_test(fields_are_written_as_they_were_added),
        cmocka_unit_test(what_cannot_be_sent_is_not_added),
        cmocka_unit_test(blocks_change_places_but_not_their_maximum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
