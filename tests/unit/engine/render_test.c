/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results as text, byte for byte.
 */
#include "engine/engine_host.h"

static void json_is_one_object_a_line(void **state)
{
    (void)state;
    engine_host h;
    host_open(&h);
    h.format = MS_RESULT_JSON;
    assert_sql(&h, "SELECT 1 AS a, 'x' AS a, CAST(NULL AS INT) AS b, 1 + 1;",
               "{\"a\":1,\"a0\":\"x\",\"b\":null,\"EXPR$3\":2}\n");
    assert_sql(&h, "SELECT 1 AS a WHERE FALSE;", "");
    ms_session_set_changelog(h.session, true);
    assert_sql(&h, "SELECT 'x' AS op, 2 AS op;", "{\"op\":\"+I\",\"op0\":\"x\",\"op00\":2}\n");
    host_close(&h);
}

static void csv_has_a_header_also_without_rows(void **state)
{
    (void)state;
    engine_host h;
    host_open(&h);
    assert_sql(&h, "SELECT 1 AS `a,b`, '' AS c, CAST(NULL AS STRING) AS d, 'q\"x' AS e;",
               "\"a,b\",c,d,e\n1,\"\",,\"q\"\"x\"\n");
    assert_sql(&h, "SELECT 1 AS a WHERE FALSE;", "a\n");
    host_close(&h);
}

static void a_tableau_of_final_rows_is_as_wide_as_its_contents(void **state)
{
    (void)state;
    engine_host h;
    host_open(&h);
    h.format = MS_RESULT_TABLEAU;
    assert_sql(&h, "SELECT * FROM (VALUES (1, 'Bob'), (22, CAST(NULL AS STRING))) AS t(n, name);",
               "+----+--------+\n"
               "|  n |   name |\n"
               "+----+--------+\n"
               "|  1 |    Bob |\n"
               "| 22 | <NULL> |\n"
               "+----+--------+\n"
               "2 rows in set\n");
    assert_sql(&h, "SELECT '\xE6\xBC\xA2\xE5\xAD\x97' AS a;",
               "+------+\n"
               "|    a |\n"
               "+------+\n"
               "| \xE6\xBC\xA2\xE5\xAD\x97 |\n"
               "+------+\n"
               "1 row in set\n");
    assert_sql(&h, "SELECT 'abcdefghijklmnopqrstuvwxyz0123456789' AS a;",
               "+--------------------------------+\n"
               "|                              a |\n"
               "+--------------------------------+\n"
               "| abcdefghijklmnopqrstuvwxyz0... |\n"
               "+--------------------------------+\n"
               "1 row in set\n");
    assert_sql(&h, "SELECT 1 AS a WHERE FALSE;", "Empty set\n");
    host_close(&h);
}

/* A renderer of its own, for what a query of this test would have to be unbounded for. */
static void a_tableau_of_changes_is_as_wide_as_its_types(void **state)
{
    (void)state;
    engine_host h;
    host_open(&h);
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_field fields[] = {{ms_str_lit("name"), ms_type_string(&arena, true)},
                         {ms_str_lit("cnt"), ms_type_simple(&arena, MS_TYPE_BIGINT, true)}};
    ms_schema schema = {2, fields};
    msi_render_options options = {.format = MS_RESULT_TABLEAU,
                                  .changelog = true,
                                  .is_unbounded = true,
                                  .max_width = 30,
                                  .zone = ms_zone_utc(),
                                  .write = host_write,
                                  .arg = &h};
    ms_batch_pool *pool = ms_batch_pool_create(&schema, 4, 1);
    ms_batch *batch = ms_batch_pool_take(pool);
    MS_VEC_DATA(&batch->columns[0], ms_view)[0] = ms_batch_put_str(batch, ms_str_lit("Bob"));
    MS_VEC_DATA(&batch->columns[1], int64_t)[0] = 1;
    batch->rows = 1;
    msi_renderer *renderer = msi_renderer_create(&options, &schema);
    assert_int_equal(msi_renderer_batch(renderer, batch, &h.st), MS_OK);
    assert_int_equal(msi_renderer_end(renderer, &h.st), MS_OK);
    assert_str_equal(ms_buf_view(&h.out),
                     "+----+--------------------------------+----------------------+\n"
                     "| op |                           name |                  cnt |\n"
                     "+----+--------------------------------+----------------------+\n"
                     "| +I |                            Bob |                    1 |\n"
                     "+----+--------------------------------+----------------------+\n"
                     "Received a total of 1 row\n");
    msi_renderer_destroy(renderer);
    msi_renderer_destroy(NULL);
    ms_batch_drop(batch);
    ms_batch_pool_destroy(pool);
    ms_arena_release(&arena);
    host_close(&h);
}

static void kept_texts_are_charged(void **state)
{
    (void)state;
    engine_host h;
    host_open(&h);
    h.format = MS_RESULT_TABLEAU;
    ms_account_set_limit(&h.engine->account, 1);
    assert_int_not_equal(host_sql(&h, "SELECT 1;"), MS_OK);
    assert_int_equal(h.st.code, MS_NO_MEMORY);
    host_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        scratch_test(json_is_one_object_a_line),
        scratch_test(csv_has_a_header_also_without_rows),
        scratch_test(a_tableau_of_final_rows_is_as_wide_as_its_contents),
        scratch_test(a_tableau_of_changes_is_as_wide_as_its_types),
        scratch_test(kept_texts_are_charged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
