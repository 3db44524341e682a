/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values as fields of RFC 4180 records.
 */
#include "engine/engine_host.h"

static void check_text(ms_str text, const char *expected)
{
    ms_status st = {0};
    ms_buf out;
    ms_buf_init(&out, 1000);
    assert_ok(msi_csv_text(&out, text, &st));
    assert_str_equal(ms_buf_view(&out), expected);
    ms_buf_release(&out);
}

static void quotes_stand_only_where_they_must(void **state)
{
    (void)state;
    check_text(ms_str_lit("a b-c;d"), "a b-c;d");
    check_text(ms_str_lit(""), "\"\"");
    check_text(ms_str_lit("a,b"), "\"a,b\"");
    check_text(ms_str_lit("\"\""), "\"\"\"\"\"\"");
    check_text(ms_str_lit("a\nb"), "\"a\nb\"");
    check_text(ms_str_lit("a\rb"), "\"a\rb\"");
}

static void values_have_the_texts_of_json_without_its_quotes(void **state)
{
    (void)state;
    engine_host h;
    host_open(&h);
    assert_sql(&h,
               "SELECT TRUE AS a, 1.50 AS b, DATE '2024-01-02' AS c, CAST('2024-01-02 03:04:05' AS "
               "TIMESTAMP(3)) AS d, ARRAY[1, 2] AS e, CAST(X'0102' AS BYTES) AS f, CAST(NULL AS "
               "INT) AS g;",
               "a,b,c,d,e,f,g\ntrue,1.50,2024-01-02,2024-01-02 03:04:05.000,\"[1,2]\",AQI=,\n");
    host_close(&h);
}

static void bytes_that_are_not_utf8_are_replaced_and_nothing_is_escaped(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_arena arena;
    ms_buf out;
    ms_buf scratch;
    ms_vec vec;
    ms_arena_init(&arena, 0);
    ms_buf_init(&out, 1000);
    ms_buf_init(&scratch, 1000);
    ms_vec_alloc(&vec, ms_type_string(&arena, true), 1, &arena);
    MS_VEC_DATA(&vec, ms_view)[0] = ms_view_make("a\n\"\xFF", 4);
    assert_ok(msi_csv_value(&out, &vec, 0, &scratch, &st));
    assert_str_equal(ms_buf_view(&out), "\"a\n\"\"\xEF\xBF\xBD\"");
    ms_buf_release(&out);
    ms_buf_release(&scratch);
    ms_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotes_stand_only_where_they_must),
        scratch_test(values_have_the_texts_of_json_without_its_quotes),
        cmocka_unit_test(bytes_that_are_not_utf8_are_replaced_and_nothing_is_escaped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
