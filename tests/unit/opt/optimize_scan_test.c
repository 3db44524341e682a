/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters and limits that connectors take: all, in part, or not at all.
 */
#include "opt/golden.h"

static const golden plans[] = {
    {"SELECT a FROM t WHERE a > 1 AND b LIKE 'x%' AND c < 2.5",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Calc(select=[a], where=[b LIKE 'x%'], parallelism=[1])\n"
     "   +- TableSourceScan(table=[t], fields=[a, b], projected, filter=[a > 1, c < 2.5], "
     "parallelism=[1])\n"},
    {"SELECT a FROM t /*+ OPTIONS('push' = 'inexact') */ WHERE a > 1 AND b LIKE 'x%'",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Calc(select=[a], where=[a > 1 AND b LIKE 'x%'], parallelism=[1])\n"
     "   +- TableSourceScan(table=[t], fields=[a, b], projected, filter=[a > 1], "
     "parallelism=[1])\n"},
    {"SELECT a FROM t /*+ OPTIONS('push' = 'none') */ WHERE a > 1",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Calc(select=[a], where=[a > 1], parallelism=[1])\n"
     "   +- TableSourceScan(table=[t], fields=[a], projected, parallelism=[1])\n"},
    {"SELECT a FROM p WHERE a > 1",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Calc(select=[a], where=[a > 1], parallelism=[1])\n"
     "   +- TableSourceScan(table=[p], fields=[a, b, c], parallelism=[1])\n"},
    {"SELECT a FROM t WHERE a > 1 AND 1 / a > 2 AND a < 5",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Calc(select=[a], where=[1 / a > 2], parallelism=[1])\n"
     "   +- TableSourceScan(table=[t], fields=[a], projected, filter=[a > 1, a < 5], "
     "parallelism=[1])\n"},
    {"SELECT a FROM t WHERE a = 1 OR b = 'x'",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Calc(select=[a], where=[a = 1 OR b = 'x'], parallelism=[1])\n"
     "   +- TableSourceScan(table=[t], fields=[a, b], projected, parallelism=[1])\n"},
    {"SELECT a FROM t LIMIT 7",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Limit(fetch=[7], parallelism=[1])\n"
     "   +- TableSourceScan(table=[t], fields=[a], projected, limit=[7], parallelism=[1])\n"},
    {"SELECT a + 1 FROM t LIMIT 7 OFFSET 3",
     "Collect(fields=[EXPR$0], parallelism=[1])\n"
     "+- Limit(offset=[3], fetch=[7], parallelism=[1])\n"
     "   +- Calc(select=[a + 1 AS EXPR$0], parallelism=[1])\n"
     "      +- TableSourceScan(table=[t], fields=[a], projected, limit=[10], parallelism=[1])\n"},
    {"SELECT a FROM t WHERE a > 1 LIMIT 7",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Limit(fetch=[7], parallelism=[1])\n"
     "   +- TableSourceScan(table=[t], fields=[a], projected, filter=[a > 1], limit=[7], "
     "parallelism=[1])\n"},
    {"SELECT a FROM t WHERE b LIKE 'x%' LIMIT 7",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Limit(fetch=[7], parallelism=[1])\n"
     "   +- Calc(select=[a], where=[b LIKE 'x%'], parallelism=[1])\n"
     "      +- TableSourceScan(table=[t], fields=[a, b], projected, parallelism=[1])\n"},
    {"SELECT a FROM t ORDER BY a LIMIT 7",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Sort(orderBy=[a ASC], fetch=[7], parallelism=[1])\n"
     "   +- Exchange(distribution=[single], parallelism=[1])\n"
     "      +- TableSourceScan(table=[t], fields=[a], projected, parallelism=[2])\n"},
    {"SELECT * FROM (SELECT a FROM t UNION ALL SELECT a FROM w) LIMIT 7",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Limit(fetch=[7], parallelism=[1])\n"
     "   +- Union(all=[true], union=[a], parallelism=[1])\n"
     "      :- TableSourceScan(table=[t], fields=[a], projected, limit=[7], parallelism=[1])\n"
     "      +- Calc(select=[a], parallelism=[1])\n"
     "         +- WatermarkAssigner(rowtime=[ts], watermark=[ts - INTERVAL '+0 00:00:05.000'], "
     "parallelism=[1])\n"
     "            +- TableSourceScan(table=[w], fields=[a, ts], limit=[7], parallelism=[1])\n"},
    {"SELECT a FROM t LIMIT 9223372036854775807 OFFSET 9223372036854775807",
     "Collect(fields=[a], parallelism=[1])\n"
     "+- Limit(offset=[9223372036854775807], fetch=[9223372036854775807], parallelism=[1])\n"
     "   +- TableSourceScan(table=[t], fields=[a], projected, limit=[18446744073709551614], "
     "parallelism=[1])\n"},
};

static void scans_take_what_they_can(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    CHECK_PLANS(&p, plans);
    planner_close(&p);
}

static void nothing_reaches_a_scan_when_the_group_is_off(void **state)
{
    (void)state;
    planner p;
    open_tables(&p);
    p.settings.optimize = false;
    planner_run(&p, "SELECT a FROM t WHERE a > 1 LIMIT 3");
    assert_string_equal(planner_explain(&p),
                        "Collect(fields=[a], parallelism=[1])\n"
                        "+- Limit(fetch=[3], parallelism=[1])\n"
                        "   +- Calc(select=[a], where=[a > 1], parallelism=[1])\n"
                        "      +- TableSourceScan(table=[t], fields=[a, b, c, r], "
                        "parallelism=[1])\n");
    planner_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scans_take_what_they_can),
        cmocka_unit_test(nothing_reaches_a_scan_when_the_group_is_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
