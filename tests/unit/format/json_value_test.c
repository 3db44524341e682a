/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON values by column type: each token as a column of its own (the flat walk), and in a schema
 * with a nested column (trees).
 */
#include "format/format_testing.h"

#include "format/json.h"

typedef struct value_sample {
    const char *column;
    const char *json;
    const char *expected; /* NULL: does not fit */
} value_sample;

static const value_sample values[] = {
    {"b", "true", "TRUE"},
    {"b", "\" TRUE \"", "TRUE"},
    {"b", "\"yes\"", "FALSE"},
    {"b", "1", "FALSE"},
    {"b", "[true]", "FALSE"},
    {"b", "{}", "FALSE"},
    {"y", "127", "127"},
    {"y", "128", NULL},
    {"y", "\" -5 \"", "-5"},
    {"y", "1.0", NULL},
    {"s", "-32768", "-32768"},
    {"s", "1e2", NULL},
    {"i", "1.9", "1"},
    {"i", "-1.9", "-1"},
    {"i", "0.99999999999", "0"},
    {"i", "1e3", "1000"},
    {"i", "2147483646.999", "2147483646"},
    {"i", "2147483648", NULL},
    {"i", "1e400", NULL},
    {"i", "1e-400", "0"},
    {"i", "\"1.9\"", NULL},
    {"i", "\"12\"", "12"},
    {"i", "true", NULL},
    {"i", "[]", NULL},
    {"i", "{\"a\":1}", NULL},
    {"l", "9223372036854775807", "9223372036854775807"},
    {"l", "9223372036854775808", NULL},
    {"l", "-9223372036854775808.5", "-9223372036854775808"},
    {"l", "9.223372036854775807e18", "9223372036854775807"},
    {"l", "123456789012345678901234567890e-20", "1234567890"},
    {"l", "0.5e1", "5"},
    {"f", "1.5", "1.5"},
    {"f", "\"NaN\"", "NaN"},
    {"f", "1e50", "Infinity"},
    {"f", "false", NULL},
    {"d", "0.1", "0.1"},
    {"d", "12345678901234567890", "1.2345678901234567E19"},
    {"d", "1e400", "Infinity"},
    {"d", "-1e400", "-Infinity"},
    {"d", "\" 1e3 \"", "1000.0"},
    {"d", "\"x\"", NULL},
    {"d", "[]", NULL},
    {"n", "1.005", "1.01"},
    {"n", "\" 2.5 \"", "2.50"},
    {"n", "1E2", "100.00"},
    {"n", "123456789", "~"},
    {"n", "1e400", "~"},
    {"n", "true", NULL},
    {"N", "0.1234567891", "0.1234567891"},
    {"N", "1234567890123456789012345678.0123456789", "1234567890123456789012345678.0123456789"},
    {"t", "\"x\"", "x"},
    {"t", "\"\"", ""},
    {"t", "1.50", "1.50"},
    {"t", "1e400", "1e400"},
    {"t", "123456789012345678901234567890", "123456789012345678901234567890"},
    {"t", "-0", "-0"},
    {"t", "true", "true"},
    {"t", "{ \"k\" : [ 1 , \"a b\" ] }", "{\"k\":[1,\"a b\"]}"},
    {"t", "[]", "[]"},
    {"t", "\"\\u00e9\\n\\ud83d\\ude00\"", "\xC3\xA9\n\xF0\x9F\x98\x80"},
    {"t", "\"exactly twelve and then some\"", "exactly twelve and then some"},
    {"t", "\"twelve bytes\"", "twelve bytes"},
    {"x", "\"AQID\"", "x'010203'"},
    {"x", "\"AQI\"", NULL},
    {"x", "1", NULL},
    {"D", "\"2024-02-29\"", "2024-02-29"},
    {"D", "\"2023-02-29\"", NULL},
    {"D", "\" 2024-02-29\"", NULL},
    {"D", "20240229", NULL},
    {"T", "\"2024-02-29 12:00:00.1239\"", "2024-02-29 12:00:00.123"},
    {"T", "\"2024-02-29T12:00:00\"", NULL},
    {"T", "\"2024-02-29 12:00\"", NULL},
    {"T", "1700000000", NULL},
    {"Z", "\"2024-02-29 12:00:00Z\"", "2024-02-29 12:00:00.000"},
    {"Z", "\"2024-02-29 12:00:00\"", NULL},
    {"i", "null", "~"},
    {"t", "null", "~"},
    {"x", "null", "~"},
    {"t", "\"null\"", "null"},
};

static const value_sample iso_values[] = {
    {"T", "\"2024-02-29T12:00:00.5\"", "2024-02-29 12:00:00.500"},
    {"T", "\"2024-02-29T12:00\"", "2024-02-29 12:00:00.000"},
    {"T", "\"2024-02-29 12:00:00\"", NULL},
    {"Z", "\"2024-02-29T12:00:00Z\"", "2024-02-29 12:00:00.000"},
    {"Z", "\"2024-02-29T12:00:00\"", NULL},
    {"U", "\"1969-12-31T23:59:59.999999\"", "1969-12-31 23:59:59.999999"},
};

static void check_one(const char *options, const value_sample *sample, bool with_tree)
{
    char input[256];
    char expected[256];
    char columns[4];
    const char *behind = with_tree ? "|~" : "";
    snprintf(columns, sizeof columns, "%s%s", sample->column, with_tree ? "A" : "");
    snprintf(input, sizeof input, "{\"a\":%s}\n{\"a\" : %s }", sample->json, sample->json);
    if (sample->expected != NULL) {
        snprintf(expected, sizeof expected, "%s%s\n%s%s\n", sample->expected, behind,
                 sample->expected, behind);
    } else {
        snprintf(expected, sizeof expected, "!json record 1 does not fit column \"a\"\n");
    }
    check_decode(&ms_format_json, options, columns, input, expected);
    char all[128];
    snprintf(all, sizeof all, "%s;ignore-parse-errors=true", options);
    if (sample->expected == NULL) {
        snprintf(expected, sizeof expected, "~%s\n~%s\n", behind, behind);
    }
    check_decode(&ms_format_json, options[0] != '\0' ? all : all + 1, columns, input, expected);
}

static void every_type_takes_its_tokens_and_no_other(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        check_one("", &values[i], false);
        check_one("", &values[i], true);
    }
}

static void times_follow_the_standard_of_the_option(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof iso_values / sizeof *iso_values; i++) {
        check_one("timestamp-format.standard=ISO-8601", &iso_values[i], false);
        check_one("timestamp-format.standard=ISO-8601", &iso_values[i], true);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_takes_its_tokens_and_no_other),
        cmocka_unit_test(times_follow_the_standard_of_the_option),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
