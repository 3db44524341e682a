/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading csv: records and fields, in every portion of input.
 */
#include "format/format_testing.h"

#include "format/csv.h"

typedef struct sample {
    const char *options;
    const char *columns;
    const char *input;
    const char *expected;
} sample;

static void check_samples(const sample *samples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        check_decode(&ms_format_csv, samples[i].options, samples[i].columns, samples[i].input,
                     samples[i].expected);
    }
}
#define CHECK(samples) check_samples(samples, sizeof samples / sizeof *samples)

static void records_end_with_any_line_end_or_the_file(void **state)
{
    (void)state;
    static const sample samples[] = {
        {"", "it", "1,a\n2,b\n", "1|a\n2|b\n"},
        {"", "it", "1,a\n2,b", "1|a\n2|b\n"},
        {"", "it", "1,a\r\n2,b\r\n", "1|a\n2|b\n"},
        {"", "it", "1,a\r2,b\r", "1|a\n2|b\n"},
        {"", "it", "1,a\r2,b\r\n3,c\n", "1|a\n2|b\n3|c\n"},
        {"", "it", "", ""},
        {"", "t", "\n", "\n"},
        {"", "t", "a\n\nb\n", "a\n\nb\n"},
        {"", "t", "a\r\n\r\nb", "a\n\nb\n"},
        {"", "it", "1,a\n\n", "1|a\n!csv record 2 has 1 fields where 2 are expected\n"},
        {"ignore-parse-errors=true", "it", "1,a\n\n2,b\n", "1|a\n2|b\n"},
        {"ignore-parse-errors=true", "it", "1,a\r\n\r\n2,b\r\n", "1|a\n2|b\n"},
    };
    CHECK(samples);
}

static void a_byte_order_mark_is_skipped_once(void **state)
{
    (void)state;
    static const sample samples[] = {
        {"", "t", "\xEF\xBB\xBF", ""},
        {"", "t",
         "\xEF\xBB\xBF"
         "a\n\xEF\xBB\xBF"
         "b\n",
         "a\n\xEF\xBB\xBF"
         "b\n"},
        {"", "t", "\xEF\xBB", "\xEF\xBB\n"},
        {"", "t", "a", "a\n"},
        {"ignore-first-line=true", "t", "\xEF\xBB\xBFhead\na\n", "a\n"},
    };
    CHECK(samples);
}

static void quotes_hold_delimiters_quotes_and_lines(void **state)
{
    (void)state;
    static const sample samples[] = {
        {"", "tt", "\"a,b\",\"c\"\"d\"\n", "a,b|c\"d\n"},
        {"", "tt", "\"a\nb\",\"c\r\nd\"\n1,2\n", "a\nb|c\r\nd\n1|2\n"},
        {"", "tt", "\"\",\"\"\"\"\n", "|\"\n"},
        {"", "tt", "\"\"\"\",\"\"", "\"|\n"},
        {"", "tt", "\"x\"\"\",\"\"\"y\"", "x\"|\"y\n"},
        {"", "tt", "a\"b,c\"\n", "a\"b|c\"\n"},
        {"", "t", "\"a\"b\nc\n", "!csv record 1 has text behind a closing quote\n"},
        {"", "t", "ok\n\"a", "ok\n!csv record 2 has no closing quote\n"},
        {"", "t", "ok\n\"a\"\"", "ok\n!csv record 2 has no closing quote\n"},
        {"", "t", "\"", "!csv record 1 has no closing quote\n"},
        {"ignore-parse-errors=true", "t", "\"a\"b\nc\n", "c\n"},
        {"ignore-parse-errors=true", "t", "\"a\nx\"b\r\nc\n", "c\n"},
        {"ignore-parse-errors=true", "t", "ok\n\"a\nb\nc", "ok\nb\nc\n"},
        {"ignore-parse-errors=true", "t", "\"a\"\"\nb", "b\n"},
        {"", "tt", "\"a\" ,\"b\"\t\x01 \n\"c\" \r\n",
         "a|b\n!csv record 2 has 1 fields where 2 are expected\n"},
        {"", "tt", "\"a\" ,\" b\" ", "a| b\n"},
        {"field-delimiter=\\t", "tt", "\"a\" \t\"b\"\n", "a|b\n"},
        {"", "t", "\"a\" \"b\"\n", "!csv record 1 has text behind a closing quote\n"},
        {"quote-character='", "tt", "'a,\"b',\"c\"\n", "a,\"b|\"c\"\n"},
        {"disable-quote-character=true", "tt", "\"a,b\"\n", "\"a|b\"\n"},
    };
    CHECK(samples);
}

static void an_escape_makes_the_next_character_literal(void **state)
{
    (void)state;
    static const sample samples[] = {
        {"escape-character=\\", "tt", "\"a\\\"b\",c\n", "a\"b|c\n"},
        {"escape-character=\\", "tt", "\"a\\\\\",c\n", "a\\|c\n"},
        {"escape-character=\\", "tt", "\"a\"\"b\",\"\\t\\n\"\n", "a\"b|\t\n\n"},
        {"escape-character=\\", "tt", "a\\nb\\x,\\r\n", "a\nbx|\r\n"},
        {"escape-character=\\", "tt", "a\\,b,c\n", "a,b|c\n"},
        {"escape-character=\\", "tt", "a\\\nb,c\\\\\n", "a\nb|c\\\n"},
        {"escape-character=\\", "t", "\"a\\\n\"\nb\n", "a\n\nb\n"},
        {"escape-character=\\", "t", "a\\", "!csv record 1 ends with an escape character\n"},
        {"escape-character=\\;ignore-parse-errors=true", "t", "x\na\\", "x\n"},
        /* Outside of quotes a delimiter is one, whatever else it is. */
        {"escape-character=,", "tt", "a,b\n\"c,n,,\",d\n", "a|b\nc\n,|d\n"},
        {"escape-character=\\", "t", "\"a\\", "!csv record 1 has no closing quote\n"},
        {"escape-character=\\;ignore-parse-errors=true", "t", "\"a\\", ""},
        {"escape-character=\\;ignore-parse-errors=true", "t", "\"\\", ""},
        {"escape-character=\\;ignore-parse-errors=true", "t", "x\n\"a\\\"\\", "x\n"},
    };
    CHECK(samples);
}

static void the_number_of_fields_is_checked(void **state)
{
    (void)state;
    static const sample samples[] = {
        {"", "it", "1\n", "!csv record 1 has 1 fields where 2 are expected\n"},
        {"", "it", "1,a,b\n", "!csv record 1 has 3 fields where 2 are expected\n"},
        {"", "it", "1,a,\n2,b\n", "1|a\n2|b\n"},
        {"", "it", "1,a, \t\n2,b,\" \" \n", "1|a\n2|b\n"},
        {"", "it", "1,a,\xC2\xA0\n", "!csv record 1 has 3 fields where 2 are expected\n"},
        {"", "it", "1,a, , \n", "!csv record 1 has 4 fields where 2 are expected\n"},
        {"", "it", "1,a,,\n", "!csv record 1 has 4 fields where 2 are expected\n"},
        {"allow-trailing-comma=false", "it", "1,a,\n",
         "!csv record 1 has 3 fields where 2 are expected\n"},
        {"ignore-trailing-unmappable=true", "it", "1,a,b,c\n2,d\n", "1|a\n2|d\n"},
        {"ignore-parse-errors=true", "it", "1\n2,b,c\n3,d\n", "1|~\n3|d\n"},
        {"ignore-parse-errors=true;fail-on-missing-columns=true", "it", "1\n",
         "!csv record 1 has 1 fields where 2 are expected\n"},
    };
    CHECK(samples);
}

static void the_first_record_may_be_a_header(void **state)
{
    (void)state;
    static const sample samples[] = {
        {"ignore-first-line=true", "it", "a,b\n1,x\n2,y\n", "1|x\n2|y\n"},
        {"ignore-first-line=true", "it", "only", ""},
        {"ignore-first-line=true", "it", "\"a\nb\",c\r\n1,x\r\n", "1|x\n"},
        {"ignore-first-line=true", "it", "\"a\"b,c\n1,x\n", "1|x\n"},
        {"ignore-first-line=true;allow-comments=true", "it", "#one\n#two\na,b\n1,x\n#three\n2,y\n",
         "1|x\n2|y\n"},
        {"allow-comments=true", "it", "#one\n1,x\n#\n#end", "1|x\n"},
        {"", "t", "#one\n", "#one\n"},
    };
    CHECK(samples);
}

static void nulls_are_what_the_options_say(void **state)
{
    (void)state;
    static const sample samples[] = {
        {"", "tt", ",x\n", "|x\n"},
        {"", "it", ",x\n", "!csv record 1 has no INT in column \"a\": \"\"\n"},
        {"null-literal=n/a", "it", "n/a,n/a\n1,\"n/a\"\n", "~|~\n1|~\n"},
        {"empty-string-as-null=true", "it", ",\n1,\"\"\n", "~|~\n1|~\n"},
        {"ignore-parse-errors=true", "it", "x,\n,y\n", "~|\n~|y\n"},
        {"trim-spaces=true", "tt", " a , b\n\" c \",d\n", "a|b\n c |d\n"},
        {"", "tt", " a , b\n", " a | b\n"},
        {"field-delimiter=\\t", "tt", "a\tb,c\n", "a|b,c\n"},
        {"field-delimiter=|", "tt", "a|b\n", "a|b\n"},
    };
    CHECK(samples);
}

static void options_are_checked(void **state)
{
    (void)state;
    check_refused(&ms_format_csv, "field-delimiter=ab", "t", MS_INVALID_OPTION, "field-delimiter");
    check_refused(&ms_format_csv, "field-delimiter=", "t", MS_INVALID_OPTION, "field-delimiter");
    check_refused(&ms_format_csv, "quote-character=';disable-quote-character=true", "t",
                  MS_OPTION_CONFLICT, "disable-quote-character");
    check_refused(&ms_format_csv, "nul-literal=x", "t", MS_UNKNOWN_OPTION, "nul-literal");
    check_refused(&ms_format_csv, "", "W", MS_NOT_SUPPORTED, "TIMESTAMP(9)");
}

static void columns_that_nobody_wants_are_not_read(void **state)
{
    (void)state;
    bench b;
    ms_buf text;
    ms_status st = {0};
    bench_init(&b, &ms_format_csv, "", "iti");
    ms_buf_init(&text, 1000);
    ms_schema some = {2, b.schema.columns + 1};
    uint32_t wanted[] = {1, 2};
    ms_decoder *decoder = NULL;
    assert_ok(ms_format_csv.decoder_create(&b.schema, wanted, &some, &b.options, ms_str_lit("UTC"),
                                           &decoder, &st));
    ms_batch_pool *pool = ms_batch_pool_create(&some, 8, 1);
    ms_batch *batch = ms_batch_pool_take(pool);
    char input[128] = "no number,x,1\n,y,2\n";
    size_t consumed = 0;
    assert_ok(decoder->klass->decode(decoder, ms_str_cstr(input), true, batch, &consumed, &st));
    bench_text(batch, &text);
    assert_str_equal(ms_buf_view(&text), "x|1\ny|2\n");
    ms_batch_drop(batch);
    ms_batch_pool_destroy(pool);
    decoder->klass->close(decoder);
    ms_buf_release(&text);
    bench_release(&b);
}

static void records_are_counted_from_each_file_on(void **state)
{
    (void)state;
    bench b;
    ms_buf text;
    ms_status st = {0};
    bench_init(&b, &ms_format_csv, "", "i");
    ms_buf_init(&text, 1000);
    ms_decoder *decoder = bench_decoder(&b);
    ms_batch_pool *pool = ms_batch_pool_create(&b.schema, 8, 1);
    ms_batch *batch = ms_batch_pool_take(pool);
    char input[128] = "1\n2\nx\n";
    size_t consumed = 0;
    for (int file = 0; file < 2; file++) {
        batch->rows = 0;
        decoder->klass->reset(decoder, true);
        for (int again = 0; again < 2; again++) {
            ms_status_clear(&st);
            size_t from = again == 0 ? 0 : 4;
            assert_int_equal(decoder->klass->decode(decoder, ms_str_cstr(input + from), true, batch,
                                                    &consumed, &st),
                             MS_BAD_RECORD);
            assert_string_equal(st.message, "csv record 3 has no INT in column \"a\": \"x\"");
            assert_int_equal(consumed, again == 0 ? 4 : 0);
            assert_int_equal(batch->rows, 2);
        }
    }
    ms_batch_drop(batch);
    ms_batch_pool_destroy(pool);
    decoder->klass->close(decoder);
    ms_buf_release(&text);
    bench_release(&b);
}

static void long_rows_make_small_batches(void **state)
{
    (void)state;
    check_long_rows(&ms_format_csv, "", "\n");
    check_long_rows(&ms_format_csv, "\"", "\"\r\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_end_with_any_line_end_or_the_file),
        cmocka_unit_test(a_byte_order_mark_is_skipped_once),
        cmocka_unit_test(quotes_hold_delimiters_quotes_and_lines),
        cmocka_unit_test(an_escape_makes_the_next_character_literal),
        cmocka_unit_test(the_number_of_fields_is_checked),
        cmocka_unit_test(the_first_record_may_be_a_header),
        cmocka_unit_test(nulls_are_what_the_options_say),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(columns_that_nobody_wants_are_not_read),
        cmocka_unit_test(records_are_counted_from_each_file_on),
        cmocka_unit_test(long_rows_make_small_batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
