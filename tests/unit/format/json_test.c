/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading json: lines to rows, in every portion of input, through the walk of flat schemas and
 * through trees.
 */
#include "format/format_testing.h"

#include "format/json.h"
#include "format/json_shim.h"

typedef struct sample {
    const char *options;
    const char *columns;
    const char *input;
    const char *expected;
} sample;

static void check_samples(const sample *samples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        check_decode(&ms_format_json, samples[i].options, samples[i].columns, samples[i].input,
                     samples[i].expected);
    }
}
#define CHECK(samples) check_samples(samples, sizeof samples / sizeof *samples)

/* Both ways in: each sample again with a nested column behind, which stays NULL. */
static void check_both(const sample *samples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char columns[32];
        char expected[1024] = "";
        snprintf(columns, sizeof columns, "%sA", samples[i].columns);
        size_t at = 0;
        for (const char *c = samples[i].expected; *c != '\0'; c++) {
            if (*c == '!') {
                expected[at++] = '!';
                break;
            }
            if (*c == '\n') {
                expected[at++] = '|';
                expected[at++] = '~';
            }
            expected[at++] = *c;
        }
        check_decode(&ms_format_json, samples[i].options, samples[i].columns, samples[i].input,
                     samples[i].expected);
        bench b;
        ms_buf text;
        ms_buf_init(&text, 1u << 20);
        bench_init(&b, &ms_format_json, samples[i].options, columns);
        ms_str input = ms_str_cstr(samples[i].input);
        for (size_t step = 1; step <= input.bytes + 1; step++) {
            bench_decode(&b, input, 0, step, step, 2048, &text, NULL);
            /* Messages name the fault less exactly here. */
            const char *failure = memchr(text.ptr != NULL ? text.ptr : "", '!', text.bytes);
            text.bytes = failure != NULL ? (size_t)(failure - text.ptr) + 1 : text.bytes;
            assert_str_equal(ms_buf_view(&text), expected);
            ms_buf_reset(&text);
        }
        ms_buf_release(&text);
        bench_release(&b);
    }
}
#define CHECK_BOTH(samples) check_both(samples, sizeof samples / sizeof *samples)

/* A hundred. */
#define TEN(x) x x x x x x x x x x
#define OPEN TEN(TEN("["))
#define SHUT TEN(TEN("]"))

static void a_row_is_one_object_on_one_line(void **state)
{
    (void)state;
    static const sample samples[] = {
        {"", "t", "{\"a\":" OPEN OPEN OPEN OPEN OPEN "[" SHUT SHUT SHUT SHUT SHUT "]}\n",
         "!json record 1 nests deeper than 500 objects and arrays\n"},
        {"", "it", "{\"a\":1,\"b\":\"x\"}\n{\"b\":\"y\",\"a\":2}\n", "1|x\n2|y\n"},
        {"", "it", "{\"a\":1,\"b\":\"x\"}\n{\"b\":\"y\",\"a\":2}", "1|x\n2|y\n"},
        {"", "it", "{\"a\":1,\"b\":\"x\"}\r\n{\"a\":2}\r\n", "1|x\n2|~\n"},
        {"", "i", "{\"a\":1}\n\n\r\n{\"a\":2}\n\n", "1\n2\n"},
        {"", "i", "  {\"a\" : 1 }  \n\t{\"a\":2}\t\r\n", "1\n2\n"},
        {"", "i", "", ""},
        {"", "i", "\n", ""},
        {"", "it", "{}\n", "~|~\n"},
        {"", "i", "\xEF\xBB\xBF{\"a\":1}\n{\"a\":2}\n", "1\n2\n"},
        {"", "i", "\xEF\xBB\xBF", ""},
        {"", "i", "{\"a\":1}\n   \n{\"a\":2}\n", "1\n!json record 2 is no JSON object\n"},
        {"", "i", "{\"a\":\n1}\n", "!json record 1 ends before its object does\n"},
        {"", "i", "{\"a\":1}\n{\"a\":\n2}", "1\n!json record 2 ends before its object does\n"},
        {"", "i", "{\"a\":1\n}\n", "!json record 1 ends before its object does\n"},
        {"", "i", "{\"a\":1} {\"a\":2}\n", "!json record 1 is no JSON object\n"},
        {"", "i", "{\"a\":1}{\"a\":2}\n{\"a\":3}\n", "!json record 1 is no JSON object\n"},
        {"", "i", "{\"a\":1} junk\n", "!json record 1 is no JSON object\n"},
        {"", "i", "{\"a\":1}}\n", "!json record 1 is no JSON object\n"},
        {"", "i", "{\"a\":1},\n{\"a\":2}\n", "!json record 1 is no JSON object\n"},
        {"", "i", "{\"a\":0}\n{\"a\":1},\n", "0\n!json record 2 is no JSON object\n"},
        {"", "i", "{\"a\":1\n", "!json record 1 ends before its object does\n"},
        {"", "i", "{\"a\":1", "!json record 1 ends before its object does\n"},
        {"", "i", "1\n", "!json record 1 is no JSON object\n"},
        {"", "i", "null\n", "!json record 1 is no JSON object\n"},
        {"", "i", "{\"a\":1,}\n", "!json record 1 is no JSON object\n"},
        {"", "i", "{'a':1}\n", "!json record 1 is no JSON object\n"},
        {"", "i", "{a:1}\n", "!json record 1 is no JSON object\n"},
        {"", "i", "{\"a\":1 \"b\":2}\n", "!json record 1 is no JSON object\n"},
        {"", "i", "{\"a\":NaN}\n", "!json record 1 is no JSON object\n"},
        {"", "i", "{\"a\":01}\n", "!json record 1 is no JSON object\n"},
        {"", "t", "{\"a\":01}\n", "!json record 1 is no JSON object\n"},
        {"", "t", "{\"a\":1-2}\n", "!json record 1 is no JSON object\n"},
        {"", "t", "{\"a\":-}\n", "!json record 1 is no JSON object\n"},
        {"", "t", "{\"a\":1.}\n", "!json record 1 is no JSON object\n"},
        {"", "t", "{\"a\":.5}\n", "!json record 1 is no JSON object\n"},
        {"", "b", "{\"a\":tru}\n", "!json record 1 is no JSON object\n"},
        {"", "i", "{\"a\":nul}\n", "!json record 1 is no JSON object\n"},
        {"", "t", "{\"a\":\"\\x\"}\n", "!json record 1 is no JSON object\n"},
        {"", "t", "{\"a\":\"\xFF\"}\n", "!json record 1 is not valid UTF-8\n"},
        {"", "t", "{\"a\":\"x}\n{\"a\":\"y\"}\n", "!json record 1 ends before its object does\n"},
        {"", "i", "{\"\\q\":1}\n", "!json record 1 is no JSON object\n"},
    };
    CHECK_BOTH(samples);
}

static void an_array_at_the_top_is_named_in_the_message(void **state)
{
    (void)state;
    check_decode(&ms_format_json, "", "i", "[{\"a\":1}]\n",
                 "!json record 1 is an array, and only an object can be a row\n");
    check_decode(&ms_format_json, "", "A", " [{\"a\":1}]\n",
                 "!json record 1 is an array, and only an object can be a row\n");
}

static void control_characters_may_stand_in_strings(void **state)
{
    (void)state;
    static const sample samples[] = {
        {"", "tt", "{\"a\":\"x\ty\",\t\"b\":\"\x01\"}\n{\"a\":\"p\"}\n", "x\ty|\x01\np|~\n"},
        {"", "t", "{\"a\":\"x\\\"\ty\"}\r\n", "x\"\ty\n"},
        {"", "t", "{\"a\":\x01\"x\"}\n", "!json record 1 is no JSON object\n"},
        {"", "t", "{\"a\":\"x\\\ty\"}\n", "!json record 1 is no JSON object\n"},
        {"", "t", "{\"a\":\"\t\\", "!json record 1 ends before its object does\n"},
    };
    CHECK_BOTH(samples);
}

static void half_a_surrogate_pair_is_a_question_mark(void **state)
{
    (void)state;
    static const sample samples[] = {
        {"", "tt", "{\"a\":\"\\uD83D\\uDE00\",\"b\":\"\\ud83d\"}\n", "\xF0\x9F\x98\x80|?\n"},
        {"", "t", "{\"a\":\"\\uDE00\\uD83D\\uD83D\\uDE00x\"}\n", "??\xF0\x9F\x98\x80x\n"},
        {"", "t", "{\"a\":\"\\\\uD83D\\uD83D\\\\\"}\n", "\\uD83D?\\\n"},
        {"", "t", "{\"a\":\"\\uD83D\\u00e9\\uD83\"}\n", "!json record 1 is no JSON object\n"},
        {"", "t", "{\"a\":\"\\uD83D", "!json record 1 ends before its object does\n"},
        {"", "t", "{\"\\uD83D\":1,\"a\":\"x\"}\n", "x\n"},
    };
    CHECK_BOTH(samples);
}

static void missing_fields_are_null_or_a_failure(void **state)
{
    (void)state;
    static const sample samples[] = {
        {"", "it", "{\"b\":\"x\"}\n{\"A\":1}\n", "~|x\n~|~\n"},
        {"fail-on-missing-field=true", "i", "{\"a\":1}\n{\"b\":2}\n{\"a\":3}\n",
         "1\n!json record 2 has no field \"a\"\n"},
        {"fail-on-missing-field=true", "i", "{\"a\":null}\n", "~\n"},
    };
    CHECK(samples);
    check_decode(&ms_format_json, "fail-on-missing-field=true", "A", "{\"a\":[]}\n{}\n",
                 "[]\n!json record 2 has no field \"a\"\n");
    check_decode(&ms_format_json, "fail-on-missing-field=true", "R", "{\"a\":{\"a\":1}}\n",
                 "!json record 1 does not fit column \"a\"\n");
}

static void unknown_fields_are_skipped_whatever_they_hold(void **state)
{
    (void)state;
    static const sample samples[] = {
        {"", "i", "{\"x\":{\"a\":9,\"y\":[1,{\"a\":8}]},\"a\":1,\"z\":\"}\\\"{\"}\n", "1\n"},
        {"", "i", "{\"x\":[[[[[[]]]]]],\"a\":2,\"y\":1e400,\"z\":123456789012345678901234567890}\n",
         "2\n"},
        {"", "i", "{\"\":0,\"a\":1,\"A\":2}\n", "1\n"},
        {"", "i", "{\"\\u0061\":1}\n", "1\n"},
    };
    CHECK_BOTH(samples);
}

static void the_last_of_two_fields_counts(void **state)
{
    (void)state;
    static const sample samples[] = {
        {"", "it", "{\"a\":1,\"a\":2,\"b\":\"x\"}\n", "2|x\n"},
        {"", "i", "{\"a\":null,\"a\":2}\n", "2\n"},
        {"", "i", "{\"a\":2,\"a\":null}\n{\"a\":3}\n", "~\n3\n"},
        {"ignore-parse-errors=true", "i", "{\"a\":\"x\",\"a\":2}\n", "2\n"},
        {"", "t", "{\"a\":null,\"a\":\"a text too long for a view\"}\n",
         "a text too long for a view\n"},
        {"", "n", "{\"a\":null,\"a\":1.5}\n", "1.50\n"},
        {"fail-on-missing-field=true", "it", "{\"a\":1,\"a\":2}\n",
         "!json record 1 has no field \"b\"\n"},
    };
    CHECK_BOTH(samples);
}

static void bad_lines_are_skipped_and_leave_no_trace(void **state)
{
    (void)state;
    static const sample samples[] = {
        {"ignore-parse-errors=true", "it", "junk\n{\"a\":1,\"b\":\"x\"}\n{\"a\"\n\n[]\n{\"a\":2}",
         "1|x\n2|~\n"},
        {"ignore-parse-errors=true", "it", "{\"a\":null,\"b\":tru}\n{\"a\":1,\"b\":\"x\"}\n",
         "1|x\n"},
        {"ignore-parse-errors=true", "it", "{\"b\":null,\"a\":1\n{\"a\":1,\"b\":\"x\"}\n", "1|x\n"},
        {"ignore-parse-errors=true", "it", "{\"a\":null} {}\n{\"a\":1,\"b\":\"x\"}\n", "1|x\n"},
        {"ignore-parse-errors=true", "it", "{\"a\":\"x\",\"b\":\"y\"}\n{\"a\":{},\"b\":\"z\"}\n",
         "~|y\n~|z\n"},
        {"ignore-parse-errors=true", "i", "{\"a\":\n1}\n{\"a\":2}\n", "2\n"},
        {"ignore-parse-errors=true", "i", "{\"a\":1}\n{\"a\":\n2}", "1\n"},
        {"", "i", "{\"a\":1}\n{\"a\":\"x\"}\n{\"a\":3}\n",
         "1\n!json record 2 does not fit column \"a\"\n"},
    };
    CHECK_BOTH(samples);
}

static void nested_columns_hold_arrays_maps_and_rows(void **state)
{
    (void)state;
    static const sample samples[] = {
        {"", "A", "{\"a\":[1,null,3]}\n{\"a\":[]}\n{\"a\":null}\n{}\n", "[1, NULL, 3]\n[]\n~\n~\n"},
        {"", "A", "{\"a\":1}\n", "!json record 1 does not fit column \"a\"\n"},
        {"", "A", "{\"a\":[1,\"x\"]}\n", "!json record 1 does not fit column \"a\"\n"},
        {"ignore-parse-errors=true", "Ai", "{\"a\":[1,\"x\"],\"b\":2}\n{\"a\":{},\"b\":3}\n",
         "[1, NULL]|2\n~|3\n"},
        {"", "M", "{\"a\":{\"k\":1,\"l\":null,\"k\":2}}\n{\"a\":{}}\n", "{k=2, l=NULL}\n{}\n"},
        {"", "R", "{\"a\":{\"b\":\"x\",\"a\":1,\"c\":[]}}\n{\"a\":{}}\n", "(1, x)\n(NULL, NULL)\n"},
        {"", "R", "{\"a\":{\"a\":null,\"a\":2}}\n", "(2, NULL)\n"},
        {"", "R", "{\"a\":[]}\n", "!json record 1 does not fit column \"a\"\n"},
        {"", "Q", "{\"a\":[{\"a\":1,\"b\":[\"x\",null]},null,{}]}\n",
         "[(1, [x, NULL]), NULL, (NULL, NULL)]\n"},
        {"", "O", "{\"a\":{\"k\":1234567890123456789012345678.0123456789}}\n",
         "{k=1234567890123456789012345678.0123456789}\n"},
        {"", "At", "{\"a\":[],\"b\":{ \"k\" : [ 1.50, \"\\u0061 b\" ] }}\n{\"b\":1.50}\n",
         "[]|{\"k\":[1.50,\"\\u0061 b\"]}\n~|1.50\n"},
        {"", "AN", "{\"b\":0.1234567891}\n{\"b\":1e20}\n",
         "~|0.1234567891\n~|100000000000000000000.0000000000\n"},
        {"", "Rl", "{\"b\":9223372036854775807,\"c\":123456789012345678901234567890}\n",
         "~|9223372036854775807\n"},
    };
    CHECK(samples);
}

static ms_str repeated(ms_buf *buf, const char *before, const char *item, size_t count,
                       const char *after)
{
    ms_status st = {0};
    ms_buf_reset(buf);
    assert_ok(ms_buf_append(buf, ms_str_cstr(before), &st));
    for (size_t i = 0; i < count; i++) {
        assert_ok(ms_buf_append(buf, ms_str_cstr(item), &st));
    }
    assert_ok(ms_buf_append(buf, ms_str_cstr(after), &st));
    return ms_buf_view(buf);
}

static void decode_whole(const char *options, const char *columns, ms_str input, ms_buf *text)
{
    bench b;
    bench_init(&b, &ms_format_json, options, columns);
    bench_decode(&b, input, 0, input.bytes, 1, 2048, text, NULL);
    bench_release(&b);
}

static void deep_nesting_ends_with_an_error_or_a_value(void **state)
{
    (void)state;
    static const char *const columns[] = {"t", "A", "i", "Q"};
    ms_buf input;
    ms_buf text;
    ms_buf_init(&input, 1u << 26);
    ms_buf_init(&text, 1u << 26);
    for (size_t i = 0; i < 4; i++) {
        decode_whole("", columns[i], repeated(&input, "{\"a\":", "[", 100000, "\n"), &text);
        assert_str_equal(ms_str_slice(ms_buf_view(&text), 0, 1), "!");
        ms_buf_reset(&text);
        decode_whole("", columns[i], repeated(&input, "{\"x\":", "{\"a\":", 100000, "\n"), &text);
        assert_str_equal(ms_str_slice(ms_buf_view(&text), 0, 1), "!");
        ms_buf_reset(&text);
    }
    ms_buf_release(&input);
    ms_buf_release(&text);
}

/* Work must grow with the input, not with its square: these take well under a second each. */
static void odd_input_costs_no_more_than_its_length(void **state)
{
    (void)state;
    static const struct {
        const char *columns;
        const char *before;
        const char *item;
        const char *after;
    } odd[] = {
        {"i", "", "{\"a\":1}\n\n", "{\"a\":\"\xFF\"}\n"},
        {"i", "", " {\"a\":1}\n", ""},
        {"i", "", "{\"a\":1}\n", "{\"a\":\"\x01\"}\n"},
        {"i", "", "{\"a\":x}\n", ""},
        {"t", "", "{\"a\":\"a text too long for a view\",\"a\":tru}\n", ""},
        {"A", "{\"a\":[", "1,", "1]}\n"},
        {"Q", "{\"a\":[", "{\"b\":[\"x\"]},", "{}]}\n"},
    };
    ms_buf input;
    ms_buf text;
    ms_buf_init(&input, 1u << 26);
    ms_buf_init(&text, 1u << 26);
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        size_t count = (4u << 20) / strlen(odd[i].item);
        ms_str lines = repeated(&input, odd[i].before, odd[i].item, count, odd[i].after);
        decode_whole("ignore-parse-errors=true", odd[i].columns, lines, &text);
        ms_buf_reset(&text);
    }
    ms_buf_release(&input);
    ms_buf_release(&text);
}

static void a_map_of_many_keys_is_read_in_time(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_buf input;
    ms_buf text;
    ms_buf_init(&input, 1u << 26);
    ms_buf_init(&text, 1u << 26);
    assert_ok(ms_buf_append(&input, ms_str_lit("{\"a\":{"), &st));
    for (uint32_t i = 0; i < 200000; i++) {
        assert_ok(ms_buf_format(&input, &st, "\"k%u\":%u,", i, i));
    }
    assert_ok(ms_buf_append(&input, ms_str_lit("\"k7\":-1}}\n"), &st));
    decode_whole("", "M", ms_buf_view(&input), &text);
    assert_str_equal(ms_str_slice(ms_buf_view(&text), 0, 50),
                     "{k0=0, k1=1, k2=2, k3=3, k4=4, k5=5, k6=6, k7=-1, ");
    ms_buf_release(&input);
    ms_buf_release(&text);
}

static void a_record_of_too_many_values_is_a_bad_record(void **state)
{
    (void)state;
    static const char *const columns[] = {"A", "t"};
    ms_buf input;
    ms_buf text;
    ms_buf_init(&input, 1u << 26);
    ms_buf_init(&text, 1u << 26);
    for (size_t i = 0; i < 2; i++) {
        ms_str lines = repeated(&input, "{\"a\":[", "1,", MSI_JSON_VALUES_MAX, "1]}\n{\"a\":[]}\n");
        decode_whole("", columns[i], lines, &text);
        assert_str_equal(ms_buf_view(&text), "!json record 1 has more than 4194304 values\n");
        ms_buf_reset(&text);
        decode_whole("ignore-parse-errors=true", columns[i], lines, &text);
        assert_str_equal(ms_buf_view(&text), "[]\n");
        ms_buf_reset(&text);
    }
    ms_buf_release(&input);
    ms_buf_release(&text);
}

static void options_and_types_are_checked(void **state)
{
    (void)state;
    check_refused(&ms_format_json, "fail-on-missing-field=true;ignore-parse-errors=true", "t",
                  MS_OPTION_CONFLICT, "json.fail-on-missing-field");
    check_refused(&ms_format_json, "decode.json-parser.enabled=true", "t", MS_NOT_SUPPORTED,
                  "decode.json-parser.enabled");
    check_refused(&ms_format_json, "timestamp-format.standard=RFC", "t", MS_INVALID_OPTION,
                  "timestamp-format.standard");
    check_refused(&ms_format_json, "ignore-parse-error=true", "t", MS_UNKNOWN_OPTION,
                  "ignore-parse-error");
    check_refused(&ms_format_json, "", "W", MS_NOT_SUPPORTED, "TIMESTAMP(9)");
}

static void long_rows_make_small_batches(void **state)
{
    (void)state;
    check_long_rows(&ms_format_json, "{\"a\":\"", "\"}\n");
    check_long_rows(&ms_format_json, "{\"a\":\"", "\", \"b\": 1}\n\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_is_one_object_on_one_line),
        cmocka_unit_test(an_array_at_the_top_is_named_in_the_message),
        cmocka_unit_test(control_characters_may_stand_in_strings),
        cmocka_unit_test(half_a_surrogate_pair_is_a_question_mark),
        cmocka_unit_test(missing_fields_are_null_or_a_failure),
        cmocka_unit_test(unknown_fields_are_skipped_whatever_they_hold),
        cmocka_unit_test(the_last_of_two_fields_counts),
        cmocka_unit_test(bad_lines_are_skipped_and_leave_no_trace),
        cmocka_unit_test(nested_columns_hold_arrays_maps_and_rows),
        cmocka_unit_test(deep_nesting_ends_with_an_error_or_a_value),
        cmocka_unit_test(odd_input_costs_no_more_than_its_length),
        cmocka_unit_test(a_map_of_many_keys_is_read_in_time),
        cmocka_unit_test(a_record_of_too_many_values_is_a_bad_record),
        cmocka_unit_test(options_and_types_are_checked),
        cmocka_unit_test(long_rows_make_small_batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
