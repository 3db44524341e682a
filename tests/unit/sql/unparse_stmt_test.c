/* SPDX-License-Identifier: Apache-2.0 */
#include "sql_testing.h"

static void texts_are_quoted(void **state)
{
    (void)state;
    static const print_case cases[] = {
        {"CREATE TABLE `it``s` (`a``b` INT COMMENT 'it''s') COMMENT '''' WITH ('''' = '')", NULL},
        {"SET 'a''b' = 'c''d'", NULL},
        {"RESET 'a''b'", NULL},
        {"ADD JAR '/it''s.jar'", NULL},
        {"SHOW TABLES LIKE 'it''s%'", NULL},
        {"DROP VIEW `it``s`", NULL},
    };
    check_prints(PARSE_SCRIPT, cases, count_of(cases));
}

static void a_with_of_no_options_is_still_a_with(void **state)
{
    (void)state;
    static const print_case cases[] = {
        {"CREATE TABLE `t` WITH () AS SELECT 1", NULL},
        {"CREATE TABLE `t` AS SELECT 1", NULL},
        {"CREATE TABLE `t`", NULL},
    };
    check_prints(PARSE_SCRIPT, cases, count_of(cases));
}

static void a_set_prints_by_where_it_stands(void **state)
{
    (void)state;
    static const print_case cases[] = {
        {"EXECUTE STATEMENT SET BEGIN INSERT INTO `t` SELECT 1; END", NULL},
        {"EXPLAIN STATEMENT SET BEGIN INSERT INTO `t` SELECT 1; END", NULL},
        {"EXPLAIN ESTIMATED_COST, JSON_EXECUTION_PLAN INSERT INTO `t` SELECT 1", NULL},
    };
    check_prints(PARSE_SCRIPT, cases, count_of(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_quoted),
        cmocka_unit_test(a_with_of_no_options_is_still_a_with),
        cmocka_unit_test(a_set_prints_by_where_it_stands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
