/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ROW and ARRAY in one field of a record, read and written.
 */
#include "format/format_testing.h"

#include "format/csv.h"
#include "format/json.h"

#define BAD(record, type, text)                                                                    \
    "!csv record " record " has no " type " in column \"a\": \"" text "\"\n"
#define OF_ROW "ROW<`a` INT, `b` STRING>"

static void decodes(const char *options, const char *columns, const char *input,
                    const char *expected)
{
    check_decode(&ms_format_csv, options, columns, input, expected);
}

static void encodes(const char *options, const char *columns, const char *rows,
                    const char *expected)
{
    check_encode(&ms_format_json, "", &ms_format_csv, options, columns, rows, expected);
}

static void elements_stand_between_delimiters(void **state)
{
    (void)state;
    decodes("", "Ai", "1;2,3\n\"4;5\" ,6\n-7,8\n", "[1, 2]|3\n[4, 5]|6\n[-7]|8\n");
    decodes("array-element-delimiter=,", "Ai", "\"1,2\",3\n", "[1, 2]|3\n");
    decodes("", "A", " 1 ; 2 \n", "[1, 2]\n");
    decodes("", "A", "1;\n", BAD("1", "ARRAY<INT>", "1;"));
    decodes("", "A", "1\n1;x\n", "[1]\n" BAD("2", "ARRAY<INT>", "1;x"));
}

static void a_field_of_blanks_has_no_elements(void **state)
{
    (void)state;
    decodes("", "AiR", ",1,\n\" \",2, \n", "[]|1|~\n[]|2|~\n");
}

static void fields_of_a_row_stand_between_delimiters(void **state)
{
    (void)state;
    decodes("", "Ri", "1;x,2\n3;,4\n5; y ,6\n", "(1, x)|2\n(3, )|4\n(5,  y )|6\n");
    decodes("", "R", "1;x;more;\n", "(1, x)\n");
    decodes("", "R", "1\n", BAD("1", OF_ROW, "1"));
    decodes("", "R", "x;1\n", BAD("1", OF_ROW, "x;1"));
}

static void nulls_are_parts_and_never_the_whole(void **state)
{
    (void)state;
    decodes("null-literal=-", "AR", "1;-;2,-;-\n-,1;x\n",
            "[1, NULL, 2]|(NULL, NULL)\n[NULL]|(1, x)\n");
    decodes("null-literal=-", "R", "-\n", BAD("1", OF_ROW, "-"));
    decodes("empty-string-as-null=true", "AR", "1;;2,1;\n", "[1, NULL, 2]|(1, NULL)\n");
}

static void parts_that_cannot_be_read_are_null_where_errors_are_ignored(void **state)
{
    (void)state;
    decodes("ignore-parse-errors=true", "AR", "1;x;3,y;z\n;,1\n",
            "[1, NULL, 3]|(NULL, z)\n[NULL, NULL]|(1, NULL)\n");
}

static void parts_are_written_as_one_text(void **state)
{
    (void)state;
    encodes("", "Ai", "{\"a\":[1,null,3],\"b\":4}\n{\"a\":[],\"b\":5}\n{\"b\":6}\n",
            "1;;3,4\n,5\n,6\n");
    encodes("null-literal=-", "AR", "{\"a\":[1,null],\"b\":{\"a\":7}}\n{}\n", "1;-,7;-\n-,-\n");
    encodes("", "R", "{\"a\":{\"a\":1,\"b\":\"x y\"}}\n{\"a\":{\"a\":1,\"b\":\"c;d\"}}\n",
            "\"1;x y\"\n1;c;d\n");
    encodes("array-element-delimiter=,", "A", "{\"a\":[1,2]}\n{\"a\":[3]}\n", "\"1,2\"\n3\n");
    encodes("disable-quote-character=true", "R", "{\"a\":{\"a\":1,\"b\":\"x y\"}}\n", "1;x y\n");
}

static void what_has_no_text_for_one_field_is_refused(void **state)
{
    (void)state;
    check_refused(&ms_format_csv, "", "tQ", MS_NOT_SUPPORTED, "ARRAY<ROW<");
    check_refused(&ms_format_csv, "", "M", MS_NOT_SUPPORTED, "MAP<STRING NOT NULL, INT>");
    check_refused(&ms_format_csv, "array-element-delimiter=", "A", MS_INVALID_OPTION,
                  "array-element-delimiter");
    check_refused(&ms_format_csv, "array-element-delimiter=\\t", "A", MS_INVALID_OPTION,
                  "array-element-delimiter");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_stand_between_delimiters),
        cmocka_unit_test(a_field_of_blanks_has_no_elements),
        cmocka_unit_test(fields_of_a_row_stand_between_delimiters),
        cmocka_unit_test(nulls_are_parts_and_never_the_whole),
        cmocka_unit_test(parts_that_cannot_be_read_are_null_where_errors_are_ignored),
        cmocka_unit_test(parts_are_written_as_one_text),
        cmocka_unit_test(what_has_no_text_for_one_field_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
