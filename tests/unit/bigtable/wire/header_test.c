/* SPDX-License-Identifier: Apache-2.0 */
/* Features and response parameters: what protobuf-c makes of ours, and what we take from others. */
#include "bigtable/wire/wire_testing.h"

#include "bigtable/wire/header.h"

static ms_str encoded(uint32_t features)
{
    char text[MS_WIRE_FEATURES_TEXT_BYTES];
    size_t bytes = ms_wire_features_encode(features, text);
    assert_true(bytes <= sizeof(text) && bytes % 4 == 0);
    return ms_arena_copy_str(&arena, ms_str_make(text, bytes));
}

static void features_come_back(void **state)
{
    (void)state;
    for (uint32_t features = 0; features <= MS_WIRE_FEATURES_ALL; features++) {
        uint32_t back = ~0u;
        if ((features & ~MS_WIRE_FEATURES_ALL) == 0) {
            assert_true(ms_wire_features_decode(encoded(features), &back));
            assert_int_equal(back, features);
        }
    }
}

static void features_have_known_texts(void **state)
{
    (void)state;
    assert_str_equal(encoded(0), "");
    assert_str_equal(encoded(MS_WIRE_FEATURE_REVERSE_SCANS), "CAE=");
    assert_str_equal(encoded(MS_WIRE_FEATURE_REVERSE_SCANS | MS_WIRE_FEATURE_RETRY_INFO),
                     "CAE4AQ==");
    assert_str_equal(encoded(MS_WIRE_FEATURE_REVERSE_SCANS | MS_WIRE_FEATURE_ROUTING_COOKIE |
                             MS_WIRE_FEATURE_RETRY_INFO),
                     "CAEwATgB");
}

/* Each flag is the field that the message has for it. */
static void features_are_the_fields_of_the_message(void **state)
{
    (void)state;
    const ProtobufCMessageDescriptor *class = ms_pb_feature_flags_class();
    for (unsigned i = 0; i < class->n_fields; i++) {
        ms_pb_feature_flags *flags = ms_pb_new(&arena, feature_flags);
        *((char *)flags + class->fields[i].offset) = 1;
        ms_str bytes = packed(&flags->base);
        assert_int_equal(bytes.bytes, 2);
        assert_int_equal((uint8_t)bytes.ptr[0], class->fields[i].id << 3);
        assert_true((MS_WIRE_FEATURES_ALL >> class->fields[i].id & 1) != 0);
        char text[MS_WIRE_FEATURES_TEXT_BYTES];
        uint32_t back;
        size_t length = ms_wire_features_encode(1u << class->fields[i].id, text);
        assert_true(ms_wire_features_decode(ms_str_make(text, length), &back));
        assert_int_equal(back, 1u << class->fields[i].id);
    }
    assert_int_equal(__builtin_popcount(MS_WIRE_FEATURES_ALL), class->n_fields);
}

static void both_alphabets_and_missing_padding_are_taken(void **state)
{
    (void)state;
    uint32_t features;
    assert_true(ms_wire_features_decode(ms_str_lit("CAE"), &features));
    assert_int_equal(features, MS_WIRE_FEATURE_REVERSE_SCANS);
    /* An unknown field with the bytes FB FF, in both alphabets. */
    assert_true(ms_wire_features_decode(ms_str_lit("CAH6Bvv_"), &features) == false);
    assert_true(ms_wire_features_decode(ms_str_lit("CAH6BgL7_w=="), &features));
    assert_int_equal(features, MS_WIRE_FEATURE_REVERSE_SCANS);
    assert_true(ms_wire_features_decode(ms_str_lit("CAH6BgL7/w=="), &features));
    assert_int_equal(features, MS_WIRE_FEATURE_REVERSE_SCANS);
    /* Said twice, the later counts. */
    assert_true(ms_wire_features_decode(ms_str_lit("CAEIAA=="), &features));
    assert_int_equal(features, 0);
}

static void what_is_no_set_of_features_is_refused(void **state)
{
    (void)state;
    const ms_str wrong[] = {ms_str_lit("C"),     ms_str_lit("CAE=="), ms_str_lit("CA=E"),
                            ms_str_lit("CAE= "), ms_str_lit("C*E="),  ms_str_lit("CA=="),
                            ms_str_lit("CAEI"),  ms_str_lit("AAE="),  ms_str_lit("===="),
                            bytes_lit("CA\0E")};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        uint32_t features = 7;
        assert_false(ms_wire_features_decode(wrong[i], &features));
        assert_int_equal(features, 0);
    }
    char *longer = ms_arena_alloc(&arena, 4096, 1);
    memset(longer, 'C', 4096);
    uint32_t features;
    assert_false(ms_wire_features_decode(ms_str_make(longer, 4096), &features));
}

static void response_params_are_what_the_message_says(void **state)
{
    (void)state;
    const ms_wire_response_params params = {ms_str_lit("zone-a"), ms_str_lit("cluster-1"), -5};
    ms_pb_response_params *message = ms_pb_new(&arena, response_params);
    message->opt_zone_id_case = GOOGLE__BIGTABLE__V2__RESPONSE_PARAMS__OPT_ZONE_ID_ZONE_ID;
    message->zone_id = ms_wire_text(&arena, params.zone);
    message->opt_cluster_id_case = GOOGLE__BIGTABLE__V2__RESPONSE_PARAMS__OPT_CLUSTER_ID_CLUSTER_ID;
    message->cluster_id = ms_wire_text(&arena, params.cluster);
    message->opt_afe_id_case = GOOGLE__BIGTABLE__V2__RESPONSE_PARAMS__OPT_AFE_ID_AFE_ID;
    message->afe_id = params.afe_id;
    assert_ok(ms_wire_response_params_encode(&params, &buf, &st));
    assert_same_bytes(ms_buf_view(&buf), packed(&message->base));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, wire_setup, wire_teardown)
    const struct CMUnitTest tests[] = {
        TEST(features_come_back),
        TEST(features_have_known_texts),
        TEST(features_are_the_fields_of_the_message),
        TEST(both_alphabets_and_missing_padding_are_taken),
        TEST(what_is_no_set_of_features_is_refused),
        TEST(response_params_are_what_the_message_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
