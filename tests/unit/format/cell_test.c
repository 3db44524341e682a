/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The text of cells, type by type.
 */
#include "format/format_testing.h"

#include "format/csv.h"

typedef struct cell_sample {
    const char *column;
    const char *text;     /* quoted in the record */
    const char *expected; /* NULL: no value of the type */
} cell_sample;

static const cell_sample cells[] = {
    {"b", "true", "TRUE"},
    {"b", " TRUE ", "TRUE"},
    {"b", "yes", "FALSE"},
    {"b", "", "FALSE"},
    {"y", "127", "127"},
    {"y", "-128", "-128"},
    {"y", "128", NULL},
    {"y", " 5 ", "5"},
    {"s", "32767", "32767"},
    {"s", "-32769", NULL},
    {"i", "2147483647", "2147483647"},
    {"i", "2147483648", NULL},
    {"i", "+5", "5"},
    {"i", "1.0", NULL},
    {"i", "1e3", NULL},
    {"i", "", NULL},
    {"i", "0x1", NULL},
    {"l", "-9223372036854775808", "-9223372036854775808"},
    {"l", "9223372036854775808", NULL},
    {"f", "1.5", "1.5"},
    {"f", "NaN", "NaN"},
    {"f", " 1e3 ", "1000.0"},
    {"f", "abc", NULL},
    {"d", "-Infinity", "-Infinity"},
    {"d", "1e400", "Infinity"},
    {"d", "0.1", "0.1"},
    {"d", "", NULL},
    {"n", "1.005", "1.01"},
    {"n", "1E2", "100.00"},
    {"n", " 1", NULL},
    {"n", "123456789", NULL /* NULL for another reason: see below */},
    {"n", "x", NULL},
    {"N", "1234567890123456789012345678.0123456789", "1234567890123456789012345678.0123456789"},
    {"t", "", ""},
    {"t", " as it is ", " as it is "},
    {"t", "a long text that stands in the heap", "a long text that stands in the heap"},
    {"x", "AQID", "x'010203'"},
    {"x", "", "x''"},
    {"x", "AQI", NULL},
    {"x", "A QID", NULL},
    {"D", "2024-02-29", "2024-02-29"},
    {"D", "2023-02-29", NULL},
    {"D", " 2024-02-29", NULL},
    {"T", "2024-02-29 12:00:00.1239", "2024-02-29 12:00:00.123"},
    {"T", " 2024-02-29 12:00:00 ", "2024-02-29 12:00:00.000"},
    {"T", "2024-02-29T12:00:00", NULL},
    {"T", "2024-02-29", NULL},
    {"U", "1969-12-31 23:59:59.999999", "1969-12-31 23:59:59.999999"},
    {"Z", "2024-02-29 12:00:00Z", "2024-02-29 12:00:00.000"},
    {"Z", "2024-02-29 12:00:00", NULL},
};

static void every_type_reads_its_texts_and_no_other(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        char input[128];
        char expected[128];
        snprintf(input, sizeof input, "\"%s\"\n", cells[i].text);
        snprintf(expected, sizeof expected, "%s\n",
                 cells[i].expected != NULL ? cells[i].expected : "~");
        check_decode(&ms_format_csv, "ignore-parse-errors=true", cells[i].column, input, expected);
    }
}

static void a_decimal_with_too_many_digits_is_null_and_no_failure(void **state)
{
    (void)state;
    check_decode(&ms_format_csv, "", "n", "123456789\n99999999.99\n99999999.995\n",
                 "~\n99999999.99\n~\n");
    check_decode(&ms_format_csv, "", "n", "1..2\n",
                 "!csv record 1 has no DECIMAL(10, 2) in column \"a\": \"1..2\"\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_reads_its_texts_and_no_other),
        cmocka_unit_test(a_decimal_with_too_many_digits_is_null_and_no_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
