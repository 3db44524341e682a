/* SPDX-License-Identifier: Apache-2.0 */
/* Statuses with their particulars, there and back, and what is made of wrong ones. */
#include "bigtable/wire/wire_testing.h"

#include "bigtable/wire/resource.h"
#include "bigtable/wire/rpc_status.h"

static void a_status_comes_back_with_its_particulars(void **state)
{
    (void)state;
    const ms_wire_violation violations[] = {
        {ms_str_lit("PREPARED_QUERY_EXPIRED"), ms_str_lit("s"), ms_str_lit("d")},
        {ms_str_lit("OTHER"), ms_str_lit(""), ms_str_lit("")}};
    const ms_wire_pair metadata[] = {{ms_str_lit("rowKeyBase64Encoded"), ms_str_lit("a2V5")}};
    const ms_wire_status sent = {.code = MS_BT_FAILED_PRECONDITION,
                                 .message = ms_str_lit("too large"),
                                 .has_retry_delay = true,
                                 .retry_delay_micros = 2500000,
                                 .violations = violations,
                                 .violation_count = 2,
                                 .reason = ms_str_lit("LargeRowReadError"),
                                 .domain = ms_str_lit("bigtable.googleapis.com"),
                                 .metadata = metadata,
                                 .metadata_count = 1};
    assert_ok(ms_wire_status_encode(&sent, &arena, &buf, &st));
    ms_wire_status back;
    assert_true(ms_wire_status_decode(ms_buf_view(&buf), &arena, &back));
    assert_int_equal(back.code, MS_BT_FAILED_PRECONDITION);
    assert_str_equal(back.message, "too large");
    assert_true(back.has_retry_delay);
    assert_int_equal(back.retry_delay_micros, 2500000);
    assert_int_equal(back.violation_count, 2);
    assert_str_equal(back.violations[0].type, "PREPARED_QUERY_EXPIRED");
    assert_str_equal(back.violations[0].subject, "s");
    assert_str_equal(back.violations[0].description, "d");
    assert_str_equal(back.violations[1].type, "OTHER");
    assert_str_equal(back.reason, "LargeRowReadError");
    assert_str_equal(back.domain, "bigtable.googleapis.com");
    assert_int_equal(back.metadata_count, 1);
    assert_str_equal(back.metadata[0].key, "rowKeyBase64Encoded");
    assert_str_equal(back.metadata[0].value, "a2V5");
}

static void a_row_that_is_too_large_is_named(void **state)
{
    (void)state;
    ms_bt_status_set(&bt, MS_BT_FAILED_PRECONDITION, "row is too large");
    ms_str key = bytes_lit("\0\xff"
                           "key");
    assert_ok(ms_wire_large_row_encode(&bt, key, &arena, &buf, &st));
    ms_wire_status back;
    ms_str found;
    assert_true(ms_wire_status_decode(ms_buf_view(&buf), &arena, &back));
    assert_int_equal(back.code, MS_BT_FAILED_PRECONDITION);
    assert_str_equal(back.message, "row is too large");
    assert_str_equal(back.reason, "LargeRowReadError");
    assert_str_equal(back.metadata[0].key, "rowKeyBase64Encoded");
    assert_str_equal(back.metadata[0].value, "AP9rZXk=");
    assert_true(ms_wire_large_row_decode(&back, &arena, &found));
    assert_same_bytes(found, key);
    /* Without the reason, or a key that can be read, it is a failure like others. */
    ms_wire_pair wrong = {ms_str_lit("rowKeyBase64Encoded"), ms_str_lit("AP9rZXk")};
    back.metadata = &wrong;
    assert_false(ms_wire_large_row_decode(&back, &arena, &found));
    wrong.value = ms_str_lit("");
    assert_false(ms_wire_large_row_decode(&back, &arena, &found));
    wrong = (ms_wire_pair){ms_str_lit("rowKey"), ms_str_lit("AP9rZXk=")};
    assert_false(ms_wire_large_row_decode(&back, &arena, &found));
    wrong.key = ms_str_lit("rowKeyBase64Encoded");
    assert_true(ms_wire_large_row_decode(&back, &arena, &found));
    back.reason = ms_str_lit("Other");
    assert_false(ms_wire_large_row_decode(&back, &arena, &found));
}

static void a_plain_status_has_no_particulars(void **state)
{
    (void)state;
    const ms_wire_status sent = {.code = MS_BT_ABORTED, .message = ms_str_lit("again")};
    assert_ok(ms_wire_status_encode(&sent, &arena, &buf, &st));
    assert_same_bytes(ms_buf_view(&buf), bytes_lit("\x08\x0a\x12\x05"
                                                   "again"));
    ms_wire_status back;
    assert_true(ms_wire_status_decode(ms_buf_view(&buf), &arena, &back));
    assert_false(back.has_retry_delay);
    assert_int_equal(back.violation_count, 0);
    assert_int_equal(back.reason.bytes, 0);
}

static void other_particulars_are_passed_over(void **state)
{
    (void)state;
    ms_pb_rpc_status *message = ms_pb_new(&arena, rpc_status);
    ms_pb_any *details[3];
    message->code = 14;
    message->details = details;
    message->n_details = 3;
    details[0] = ms_wire_any_to_pb(&ms_pb_new(&arena, instance)->base, &arena);
    details[1] = ms_pb_new(&arena, any);
    details[1]->type_url = ms_wire_text(&arena, ms_str_lit("x/google.rpc.RetryInfo"));
    details[1]->value = ms_wire_bytes(bytes_lit("\x0a\x05")); /* malformed */
    details[2] = ms_pb_new(&arena, any);
    details[2]->type_url = ms_wire_text(&arena, ms_str_lit("google.rpc.RetryInfo"));
    details[2]->value = ms_wire_bytes(bytes_lit("\x0a\x02\x08\x07"));
    ms_wire_status back;
    assert_true(ms_wire_status_decode(packed(&message->base), &arena, &back));
    assert_int_equal(back.code, MS_BT_UNAVAILABLE);
    assert_true(back.has_retry_delay);
    assert_int_equal(back.retry_delay_micros, 7000000);
}

static void what_is_no_status_is_none(void **state)
{
    (void)state;
    ms_wire_status back;
    assert_false(ms_wire_status_decode(bytes_lit("\x08"), &arena, &back));
    assert_int_equal(back.code, MS_BT_OK);
    assert_true(ms_wire_status_decode(bytes_lit(""), &arena, &back));
    assert_true(ms_wire_status_decode(bytes_lit("\x08\x63"), &arena, &back));
    assert_int_equal(back.code, MS_BT_UNKNOWN);
    assert_int_equal(ms_wire_code(-1), MS_BT_UNKNOWN);
    assert_int_equal(ms_wire_code(17), MS_BT_UNKNOWN);
    assert_int_equal(ms_wire_code(16), MS_BT_UNAUTHENTICATED);
}

static void a_text_that_is_not_utf8_is_cleaned(void **state)
{
    (void)state;
    const struct {
        ms_str sent;
        const char *got;
    } cases[] = {
        {bytes_lit("a\xff\xc3\xa9\xc3(b"), "a?\xc3\xa9?(b"},
        {bytes_lit("\xe2\x82"), "??"},
        {bytes_lit("\xe2\x82\xac\xf0\x9f\x98\x80"), "\xe2\x82\xac\xf0\x9f\x98\x80"},
        {bytes_lit("a\0b"), "a?b"},
        {bytes_lit("\xed\xa0\x80"), "???"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const ms_wire_status sent = {.code = MS_BT_INTERNAL, .message = cases[i].sent};
        ms_wire_status back;
        ms_buf_reset(&buf);
        assert_ok(ms_wire_status_encode(&sent, &arena, &buf, &st));
        assert_true(ms_wire_status_decode(ms_buf_view(&buf), &arena, &back));
        assert_str_equal(back.message, cases[i].got);
    }
}

static void statuses_of_the_model_come_back(void **state)
{
    (void)state;
    ms_bt_status sent = {0};
    ms_bt_status back;
    ms_wire_status_from_pb(ms_wire_status_to_pb(&sent, &arena), &back);
    assert_int_equal(back.code, MS_BT_OK);
    ms_wire_status_from_pb(NULL, &back);
    assert_int_equal(back.code, MS_BT_OK);
    ms_bt_status_set(&sent, MS_BT_OUT_OF_RANGE, "gone");
    ms_wire_status_from_pb(ms_wire_status_to_pb(&sent, &arena), &back);
    assert_int_equal(back.code, MS_BT_OUT_OF_RANGE);
    assert_string_equal(back.text, "gone");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, wire_setup, wire_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_status_comes_back_with_its_particulars), TEST(a_plain_status_has_no_particulars),
        TEST(a_row_that_is_too_large_is_named),         TEST(what_is_no_status_is_none),
        TEST(other_particulars_are_passed_over),        TEST(a_text_that_is_not_utf8_is_cleaned),
        TEST(statuses_of_the_model_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
