/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values as JSON in results: nothing is lost.
 */
#include "engine/engine_host.h"

static void every_type_has_its_form(void **state)
{
    (void)state;
    static const struct {
        const char *value;
        const char *json;
    } values[] = {
        {"TRUE", "true"},
        {"9223372036854775807", "9223372036854775807"},
        {"CAST(1.5 AS FLOAT)", "1.5"},
        {"CAST('NaN' AS DOUBLE)", "\"NaN\""},
        {"1E10", "1.0E10"},
        {"CAST(1.50 AS DECIMAL(10, 2))", "\"1.50\""},
        {"'a\"b\\c'", "\"a\\\"b\\\\c\""},
        {"CAST(X'0102' AS BYTES)", "\"AQI=\""},
        {"DATE '2024-01-02'", "\"2024-01-02\""},
        {"CAST('2024-01-02 03:04:05.6' AS TIMESTAMP(3))", "\"2024-01-02 03:04:05.600\""},
        {"CAST('2024-01-02 03:04:05' AS TIMESTAMP(0))", "\"2024-01-02 03:04:05\""},
        {"ARRAY['a', CAST(NULL AS STRING)]", "[\"a\",null]"},
        {"MAP['k', 1, 'l', 2]", "{\"k\":1,\"l\":2}"},
        {"MAP[1, 'x']", "[{\"key\":1,\"value\":\"x\"}]"},
        {"CAST(NULL AS INT)", "null"},
    };
    engine_host h;
    host_open(&h);
    h.format = MS_RESULT_JSON;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char sql[200];
        char expected[200];
        snprintf(sql, sizeof sql, "SELECT %s AS v;", values[i].value);
        snprintf(expected, sizeof expected, "{\"v\":%s}\n", values[i].json);
        assert_sql(&h, sql, expected);
    }
    host_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {scratch_test(every_type_has_its_form)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
