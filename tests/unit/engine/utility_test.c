/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DDL, SET, SHOW and DESCRIBE through a session.
 */
#include "engine/engine_host.h"

static void ddl_takes_effect_and_prints_nothing(void **state)
{
    (void)state;
    engine_host h;
    host_open(&h);
    assert_sql(&h,
               "CREATE TABLE t (a INT NOT NULL, b STRING) WITH ('connector' = 'blackhole');"
               "CREATE TABLE IF NOT EXISTS t (x INT) WITH ('connector' = 'blackhole');"
               "CREATE VIEW v AS SELECT a FROM t;SHOW TABLES;",
               "table name\nt\nv\n");
    assert_int_equal(host_sql(&h, "CREATE TABLE t (x INT) WITH ('connector' = 'blackhole');"),
                     MS_DUPLICATE_TABLE);
    assert_int_equal(host_sql(&h, "DROP TABLE nope;"), MS_UNDEFINED_TABLE);
    assert_sql(&h, "DROP TABLE IF EXISTS nope;DROP VIEW v;DROP TABLE t;SHOW TABLES;",
               "table name\n");
    host_close(&h);
}

static void describe_lists_columns(void **state)
{
    (void)state;
    engine_host h;
    host_open(&h);
    assert_int_equal(host_sql(&h, "CREATE TABLE t (a INT NOT NULL, b STRING) WITH ('connector' = "
                                  "'blackhole');DESCRIBE t;"),
                     MS_OK);
    assert_true(ms_str_starts_with(ms_buf_view(&h.out), ms_str_lit("name,type,null")));
    ms_str text = ms_buf_view(&h.out);
    uint32_t lines = 0;
    for (size_t i = 0; i < text.bytes; i++) {
        lines += text.ptr[i] == '\n' ? 1 : 0;
    }
    assert_int_equal(lines, 3);
    host_close(&h);
}

static void set_without_a_key_lists_what_is_set(void **state)
{
    (void)state;
    engine_host h;
    host_open(&h);
    assert_int_equal(host_sql(&h, "SET 'my.parameter' = 'x';SET;"), MS_OK);
    bool found = false;
    for (size_t i = 0; i + 12 <= h.out.bytes; i++) {
        found |= memcmp(h.out.ptr + i, "my.parameter", 12) == 0;
    }
    assert_true(found);
    assert_int_equal(host_sql(&h, "SET 'table.dml-sync' = 'false';"), MS_INVALID_OPTION);
    host_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(ddl_takes_effect_and_prints_nothing),
        scratch_test(describe_lists_columns),
        scratch_test(set_without_a_key_lists_what_is_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
