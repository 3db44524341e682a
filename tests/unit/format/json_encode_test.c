/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing json: the text of every type and what the options change.
 */
#include "format/format_testing.h"

#include "format/json.h"
#include "type/rowcodec.h"
#include "type/value.h"

static void check(const char *options, const char *columns, const char *rows, const char *expected)
{
    check_encode(&ms_format_json, "", &ms_format_json, options, columns, rows, expected);
}

static void every_type_has_its_text(void **state)
{
    (void)state;
    check("", "b", "{\"a\":true}\n{\"a\":false}\n", "{\"a\":true}\n{\"a\":false}\n");
    check("", "ysil", "{\"a\":-128,\"b\":7,\"c\":-2147483648,\"d\":-9223372036854775808}",
          "{\"a\":-128,\"b\":7,\"c\":-2147483648,\"d\":-9223372036854775808}\n");
    check("", "fd", "{\"a\":1.5,\"b\":1e10}\n{\"a\":\"NaN\",\"b\":\"-Infinity\"}",
          "{\"a\":1.5,\"b\":1.0E10}\n{\"a\":\"NaN\",\"b\":\"-Infinity\"}\n");
    check("", "nnnn", "{\"a\":100,\"b\":5.10,\"c\":0,\"d\":-0.01}",
          "{\"a\":1E+2,\"b\":5.1,\"c\":0,\"d\":-0.01}\n");
    check("encode.decimal-as-plain-number=true", "nn", "{\"a\":100,\"b\":5.10}",
          "{\"a\":100.00,\"b\":5.10}\n");
    check("", "N", "{\"a\":0.000000027}", "{\"a\":2.7E-8}\n");
    check("", "t", "{\"a\":\"\\u00e9 / \\\" \\\\ \\n\\u0001\"}",
          "{\"a\":\"\xC3\xA9 / \\\" \\\\ \\n\\u0001\"}\n");
    check("", "x", "{\"a\":\"AQID\"}", "{\"a\":\"AQID\"}\n");
    check("", "D", "{\"a\":\"2024-02-29\"}", "{\"a\":\"2024-02-29\"}\n");
    check("", "T", "{\"a\":\"2024-02-29 12:00:00.120\"}\n{\"a\":\"2024-02-29 12:00:00\"}",
          "{\"a\":\"2024-02-29 12:00:00.12\"}\n{\"a\":\"2024-02-29 12:00:00\"}\n");
    check("timestamp-format.standard=ISO-8601", "TZ",
          "{\"a\":\"2024-02-29 12:00:00.120\",\"b\":\"2024-02-29 12:00:00Z\"}",
          "{\"a\":\"2024-02-29T12:00:00.12\",\"b\":\"2024-02-29T12:00:00Z\"}\n");
    check("", "Z", "{\"a\":\"2024-02-29 12:00:00.5Z\"}", "{\"a\":\"2024-02-29 12:00:00.5Z\"}\n");
}

static void nested_values_are_objects_and_arrays(void **state)
{
    (void)state;
    const char *rows = "{\"a\":[1,null,3],\"b\":{\"k\":1,\"l\":null},\"c\":{\"a\":1,\"b\":\"x\"},"
                       "\"d\":[{\"a\":1,\"b\":[\"x\",null]},null]}\n"
                       "{\"a\":[],\"b\":{},\"c\":{\"a\":null,\"b\":null},\"d\":null}\n";
    check("", "AMRQ", rows, rows);
}

static void nulls_are_written_or_left_out_at_every_level(void **state)
{
    (void)state;
    check("", "it", "{}", "{\"a\":null,\"b\":null}\n");
    check("encode.ignore-null-fields=true", "itR",
          "{}\n{\"b\":\"x\",\"c\":{\"b\":\"y\"}}\n{\"a\":1}",
          "{}\n{\"b\":\"x\",\"c\":{\"b\":\"y\"}}\n{\"a\":1}\n");
}

/* A MAP with a NULL key cannot come from json. */
static ms_rc encode_null_key(const char *options, ms_buf *out, ms_status *st)
{
    bench b;
    ms_encoder *encoder = NULL;
    ms_status own = {0};
    bench_init(&b, &ms_format_json, options, "M");
    const ms_type *text = ms_type_string(&b.arena, true);
    const ms_type *number = ms_type_simple(&b.arena, MS_TYPE_INT, true);
    const ms_type *map = ms_type_map(&b.arena, text, number, true);
    ms_field field = {ms_str_lit("a"), map};
    ms_schema schema = {1, &field};
    ms_value items[] = {ms_value_str(text, ms_str_lit("k")), ms_value_int(number, 1),
                        ms_value_null(text), ms_value_int(number, 2)};
    ms_value value = {.type = map, .item_count = 4, .u.items = items};
    ms_batch_pool *pool = ms_batch_pool_create(&schema, 4, 1);
    ms_batch *batch = ms_batch_pool_take(pool);
    ms_value_to_vec(&b.arena, &value, &batch->columns[0], 0, batch->capacity);
    batch->rows = 1;
    if (ms_format_json.encoder_create(&schema, &b.options, ms_str_lit("UTC"), &encoder, &own) !=
        MS_OK) {
        fail_msg("%s", own.message);
    }
    ms_rc rc = encoder->klass->encode(encoder, batch, out, st);
    encoder->klass->close(encoder);
    ms_batch_drop(batch);
    ms_batch_pool_destroy(pool);
    bench_release(&b);
    return rc;
}

static void a_null_key_fails_or_goes_or_gets_a_name(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_buf out;
    ms_buf_init(&out, 1000);
    assert_int_equal(encode_null_key("", &out, &st), MS_BAD_RECORD);
    assert_non_null(strstr(st.hint, "map-null-key.mode"));
    ms_buf_reset(&out);
    ms_status_clear(&st);
    assert_ok(encode_null_key("map-null-key.mode=drop", &out, &st));
    assert_str_equal(ms_buf_view(&out), "{\"a\":{\"k\":1}}\n");
    ms_buf_reset(&out);
    assert_ok(encode_null_key("map-null-key.mode=LITERAL", &out, &st));
    assert_str_equal(ms_buf_view(&out), "{\"a\":{\"k\":1,\"null\":2}}\n");
    ms_buf_reset(&out);
    assert_ok(encode_null_key("map-null-key.mode=LITERAL;map-null-key.literal=none", &out, &st));
    assert_str_equal(ms_buf_view(&out), "{\"a\":{\"k\":1,\"none\":2}}\n");
    ms_buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_has_its_text),
        cmocka_unit_test(nested_values_are_objects_and_arrays),
        cmocka_unit_test(nulls_are_written_or_left_out_at_every_level),
        cmocka_unit_test(a_null_key_fails_or_goes_or_gets_a_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
