/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing csv: what is quoted, and the text of every type. Rows come from json, which tells NULL
 * from the empty string.
 */
#include "format/format_testing.h"

#include "format/csv.h"
#include "format/json.h"

static void check(const char *options, const char *columns, const char *rows, const char *expected)
{
    check_encode(&ms_format_json, "", &ms_format_csv, options, columns, rows, expected);
}

static void every_type_has_its_text(void **state)
{
    (void)state;
    check("", "b", "{\"a\":true}\n{\"a\":false}\n", "true\nfalse\n");
    check("", "ysil", "{\"a\":-128,\"b\":7,\"c\":-2147483648,\"d\":9223372036854775807}",
          "-128,7,-2147483648,9223372036854775807\n");
    check("", "fd", "{\"a\":1.5,\"b\":1e10}\n{\"a\":\"NaN\",\"b\":\"-Infinity\"}",
          "1.5,1.0E10\nNaN,-Infinity\n");
    check("", "n", "{\"a\":100}\n{\"a\":5.10}\n{\"a\":0}", "1E+2\n5.1\n0\n");
    check("write-bigdecimal-in-scientific-notation=false", "n", "{\"a\":100}", "100\n");
    check("", "x", "{\"a\":\"AQID\"}", "AQID\n");
    check("", "D", "{\"a\":\"2024-02-29\"}", "2024-02-29\n");
    check("", "T", "{\"a\":\"2024-02-29 12:00:00.120\"}\n{\"a\":\"2024-02-29 12:00:00\"}",
          "\"2024-02-29 12:00:00.12\"\n\"2024-02-29 12:00:00\"\n");
    check("", "Z", "{\"a\":\"2024-02-29 12:00:00Z\"}", "\"2024-02-29 12:00:00Z\"\n");
}

static void nulls_are_nothing_or_the_literal_and_never_quoted(void **state)
{
    (void)state;
    check("", "iti", "{}\n{\"a\":1,\"b\":\"\",\"c\":2}", ",,\n1,,2\n");
    check("null-literal=n a", "it", "{}\n", "n a,n a\n");
}

static void quotes_stand_where_the_writer_of_flink_puts_them(void **state)
{
    (void)state;
    check("", "t", "{\"a\":\"a b\"}", "\"a b\"\n");
    check("", "t", "{\"a\":\"a,b\"}", "\"a,b\"\n");
    check("", "t", "{\"a\":\"say \\\"x\\\"\"}", "\"say \"\"x\"\"\"\n");
    check("", "t", "{\"a\":\"x\\ny\"}", "\"x\ny\"\n");
    check("", "t", "{\"a\":\"a-b.c\"}", "a-b.c\n");
    check("", "t", "{\"a\":\"a+b\"}", "\"a+b\"\n");
    check("", "t", "{\"a\":\"abcdefghijklmnopqrstuvwx\"}", "abcdefghijklmnopqrstuvwx\n");
    check("", "t", "{\"a\":\"abcdefghijklmnopqrstuvwxy\"}", "\"abcdefghijklmnopqrstuvwxy\"\n");
    /* The limit counts UTF-16 units: 12 characters beyond the first plane are 24 of them. */
    check("", "t",
          "{\"a\":\"\xF0\x9F\x98\x80\xF0\x9F\x98\x80\xF0\x9F\x98\x80\xF0\x9F\x98\x80"
          "\xF0\x9F\x98\x80\xF0\x9F\x98\x80\xF0\x9F\x98\x80\xF0\x9F\x98\x80"
          "\xF0\x9F\x98\x80\xF0\x9F\x98\x80\xF0\x9F\x98\x80\xF0\x9F\x98\x80\"}",
          "\xF0\x9F\x98\x80\xF0\x9F\x98\x80\xF0\x9F\x98\x80\xF0\x9F\x98\x80\xF0\x9F\x98\x80"
          "\xF0\x9F\x98\x80\xF0\x9F\x98\x80\xF0\x9F\x98\x80\xF0\x9F\x98\x80\xF0\x9F\x98\x80"
          "\xF0\x9F\x98\x80\xF0\x9F\x98\x80\n");
    check("disable-quote-character=true", "tt", "{\"a\":\"a b\",\"b\":\"\\\"\"}", "a b,\"\n");
    check("quote-character='", "t", "{\"a\":\"it's\"}", "'it''s'\n");
    check("escape-character=\\", "t", "{\"a\":\"a\\\"b\\\\c\"}", "\"a\"\"b\\\\c\"\n");
    check("", "t", "{\"a\":\"a\\\\b\"}", "\"a\\b\"\n");
    check("escape-character=!", "tt", "{\"a\":\"a\\\\b\",\"b\":\"c!\"}", "a\\b,\"c!!\"\n");
    check("field-delimiter=\\t", "tt", "{\"a\":\"a,b\",\"b\":\"c\"}", "a,b\tc\n");
}

static void what_is_written_reads_back(void **state)
{
    (void)state;
    const char *rows = "1,\"a \"\"b\"\"\nc,d\",1.5E10,\"2024-02-29 12:00:00.12\"\n2,x,0.0,"
                       "\"1969-12-31 23:59:59\"\n";
    check_encode(&ms_format_csv, "", &ms_format_csv, "", "itdT", rows, rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_has_its_text),
        cmocka_unit_test(nulls_are_nothing_or_the_literal_and_never_quoted),
        cmocka_unit_test(quotes_stand_where_the_writer_of_flink_puts_them),
        cmocka_unit_test(what_is_written_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
