/* SPDX-License-Identifier: Apache-2.0 */
#include "sql_testing.h"

static void quotes_are_doubled(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    assert_str_equal(ms_sql_quote_name(ms_str_lit("a`b"), &arena), "`a``b`");
    assert_str_equal(ms_sql_quote_name(ms_str_lit("``"), &arena), "``````");
    assert_str_equal(ms_sql_quote_text(ms_str_lit("it's"), &arena), "'it''s'");
    assert_str_equal(ms_sql_quote_text(ms_str_lit(""), &arena), "''");
    ms_arena_release(&arena);
}

static void texts_grow_and_end_in_a_nul(void **state)
{
    (void)state;
    ms_buf buf;
    ms_buf_init(&buf, 1 << 20);
    repeat_text(&buf, "a", 1);
    repeat_text(&buf, " OR a", 5000);
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_rc rc = MS_OK;
    ms_str text = parse_and_print(PARSE_EXPR, ms_buf_view(&buf), &arena, &rc);
    assert_int_equal(rc, MS_OK);
    assert_int_equal(text.bytes, 3 + 5000 * 7);
    assert_int_equal(text.ptr[text.bytes], 0);
    ms_arena_release(&arena);
    ms_buf_release(&buf);
}

static void paths_are_quoted_part_by_part(void **state)
{
    (void)state;
    parsed p;
    parse_expr_text("a.`b c`", &p);
    assert_str_equal(ms_sql_unparse_path(&ms_ast_name_of(p.expr)->path, &p.arena), "`a`.`b c`");
    ms_arena_release(&p.arena);
}

/* The names that would begin another construct, or none, keep their back-ticks. */
static void function_names_are_bare_where_they_can_be(void **state)
{
    (void)state;
    static const print_case cases[] = {
        {"`my_func`(1)", "my_func(1)"},
        {"`SUM`(1)", "SUM(1)"},
        {"`ROW`(1)", NULL},
        {"`CASE`(1)", NULL},
        {"`floor`(1)", "floor(1)"},
        {"`FLOOR`(1, 2)", NULL},
        {"`FLOOR`(DISTINCT a)", "`FLOOR`(DISTINCT `a`)"},
        {"`FLOOR`(a) OVER w", "`FLOOR`(`a`) OVER `w`"},
        {"`FLOOR`(a => 1)", NULL},
        {"`SUBSTRING`('a', 1)", "SUBSTRING('a', 1)"},
        {"`TIMESTAMPADD`(1, 2, 3)", NULL},
        {"`CURRENT_DATE`()", NULL},
        {"`1a`(1)", NULL},
        {"`gr\303\266\303\237e`(1)", NULL},
    };
    check_prints(PARSE_EXPR, cases, count_of(cases));
}

static void signs_never_make_a_comment(void **state)
{
    (void)state;
    static const print_case cases[] = {
        {"-(-1)", "- -1"},           {"1 - (-1)", "1 - -1"},
        {"1 - (-(-1))", "1 - - -1"}, {"-INTERVAL -'1' DAY", NULL},
        {"1 / (2 * 3)", NULL},
    };
    check_prints(PARSE_EXPR, cases, count_of(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quotes_are_doubled),
        cmocka_unit_test(texts_grow_and_end_in_a_nul),
        cmocka_unit_test(paths_are_quoted_part_by_part),
        cmocka_unit_test(function_names_are_bare_where_they_can_be),
        cmocka_unit_test(signs_never_make_a_comment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
