/* SPDX-License-Identifier: Apache-2.0 */
#include "sql_testing.h"

/* Parentheses that change the tree stay, others go. */
static void parentheses_stay_where_they_matter(void **state)
{
    (void)state;
    static const print_case cases[] = {
        {"(((SELECT 1)))", "SELECT 1"},
        {"((SELECT 1) LIMIT 1)", "SELECT 1 LIMIT 1"},
        {"(SELECT 1 LIMIT 1) LIMIT 2", NULL},
        {"(SELECT 1 UNION SELECT 2) UNION SELECT 3", NULL},
        {"(SELECT 1 UNION ALL SELECT 2) INTERSECT SELECT 3", NULL},
        {"SELECT 1 UNION (SELECT 2 LIMIT 1)", NULL},
        {"SELECT ((SELECT 1) UNION (SELECT 2))", "SELECT (SELECT 1 UNION SELECT 2)"},
        {"SELECT * FROM (SELECT 1 LIMIT 1) AS `x`", NULL},
        {"SELECT * FROM ((SELECT 1 LIMIT 1) LIMIT ALL) AS `x`",
         "SELECT * FROM (SELECT 1 LIMIT 1) AS `x`"},
        {"WITH `a` AS ((SELECT 1 LIMIT 1)) SELECT 1", "WITH `a` AS (SELECT 1 LIMIT 1) SELECT 1"},
        {"SELECT * FROM (`a` INNER JOIN `b` ON TRUE)", "SELECT * FROM `a` INNER JOIN `b` ON TRUE"},
    };
    check_prints(PARSE_QUERY, cases, count_of(cases));
}

static void texts_of_hints_are_quoted(void **state)
{
    (void)state;
    static const print_case cases[] = {
        {"SELECT /*+ `x y`('it''s' = '*/') */ 1", NULL},
        {"SELECT /*+ a(b, 1, 'c') */ 1", "SELECT /*+ a('b', '1', 'c') */ 1"},
        {"TABLE `t`", NULL},
    };
    check_prints(PARSE_QUERY, cases, count_of(cases));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parentheses_stay_where_they_matter),
        cmocka_unit_test(texts_of_hints_are_quoted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
