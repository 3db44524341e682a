/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DESCRIBE and SHOW CREATE.
 */
#include "opt/planner.h"

static const ms_table *find(planner *p, const char *name)
{
    const ms_table *table = ms_catalog_find(p->catalog, ms_str_cstr(name));
    assert_non_null(table);
    return table;
}

/* The cells of a row between bars; absent ones are empty. */
static const char *row_in(planner *p, const ms_table *table, uint32_t column, bool is_streaming)
{
    ms_bind_description row;
    ms_bind_describe_column(&p->arena, table, column, is_streaming, &row);
    ms_str text = ms_str_lit("|");
    for (uint32_t i = 0; i < MS_BIND_DESCRIPTION_CELLS; i++) {
        text = ms_arena_format(&p->arena, "%.*s%.*s|", MS_STR_ARG(text), MS_STR_ARG(row.cells[i]));
    }
    return text.ptr;
}

static const char *row_of(planner *p, const ms_table *table, uint32_t column)
{
    return row_in(p, table, column, true);
}

static const char sql[] =
    "CREATE TEMPORARY TABLE orders (`user` BIGINT COMMENT 'who''s', product VARCHAR(32),"
    " ts TIMESTAMP(3) METADATA FROM 'timestamp' VIRTUAL, off BIGINT NOT NULL METADATA,"
    " cost AS off * 2, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND,"
    " PRIMARY KEY (`user`, product) NOT ENFORCED) COMMENT 'all orders'"
    " WITH ('b' = '1', 'connector' = 'fake', 'b' = 'it''s 2');"
    "CREATE VIEW v AS SELECT product, off FROM orders WHERE off > 3";

static void a_row_a_column(void **state)
{
    (void)state;
    planner p;
    planner_open(&p);
    planner_run(&p, sql);
    const ms_table *table = find(&p, "orders");
    assert_true(ms_bind_describe_has_comment(table));
    assert_string_equal(row_of(&p, table, 0), "|user|BIGINT|FALSE|PRI(user, product)|||who's|");
    assert_string_equal(row_of(&p, table, 1), "|product|VARCHAR(32)|FALSE|PRI(user, product)||||");
    assert_string_equal(row_of(&p, table, 2),
                        "|ts|TIMESTAMP(3) *ROWTIME*|TRUE||METADATA FROM 'timestamp' VIRTUAL|"
                        "`ts` - INTERVAL '1' SECOND||");
    /* Time attributes are a matter of streaming. */
    assert_string_equal(row_in(&p, table, 2, false),
                        "|ts|TIMESTAMP(3)|TRUE||METADATA FROM 'timestamp' VIRTUAL|"
                        "`ts` - INTERVAL '1' SECOND||");
    assert_string_equal(row_of(&p, table, 3), "|off|BIGINT|FALSE||METADATA|||");
    assert_string_equal(row_of(&p, table, 4), "|cost|BIGINT|FALSE||AS `off` * 2|||");
    assert_false(ms_bind_describe_has_comment(find(&p, "v")));
    assert_string_equal(row_of(&p, find(&p, "v"), 1), "|off|BIGINT|FALSE|||||");
    planner_close(&p);
}

static void show_create_makes_the_table_again(void **state)
{
    (void)state;
    planner p;
    planner_open(&p);
    planner_run(&p, sql);
    ms_str text = ms_bind_show_create(&p.arena, find(&p, "orders"));
    assert_str_equal(text,
                     "CREATE TEMPORARY TABLE `default_catalog`.`default_database`.`orders` (\n"
                     "  `user` BIGINT NOT NULL COMMENT 'who''s',\n"
                     "  `product` VARCHAR(32) NOT NULL,\n"
                     "  `ts` TIMESTAMP(3) METADATA FROM 'timestamp' VIRTUAL,\n"
                     "  `off` BIGINT NOT NULL METADATA,\n"
                     "  `cost` AS `off` * 2,\n"
                     "  WATERMARK FOR `ts` AS `ts` - INTERVAL '1' SECOND,\n"
                     "  CONSTRAINT `PK_user_product` PRIMARY KEY (`user`, `product`) NOT ENFORCED\n"
                     ")\n"
                     "COMMENT 'all orders'\n"
                     "WITH (\n"
                     "  'b' = 'it''s 2',\n"
                     "  'connector' = 'fake'\n"
                     ")\n");
    planner again;
    planner_open(&again);
    planner_run(&again, text.ptr);
    assert_str_equal(ms_bind_show_create(&again.arena, find(&again, "orders")), text.ptr);
    planner_close(&again);
    planner_close(&p);
}

static void show_create_makes_the_view_again(void **state)
{
    (void)state;
    planner p;
    planner_open(&p);
    planner_run(&p, sql);
    assert_str_equal(ms_bind_show_create(&p.arena, find(&p, "v")),
                     "CREATE VIEW `default_catalog`.`default_database`.`v` (\n"
                     "  `product`,\n"
                     "  `off`\n"
                     ")\n"
                     "AS SELECT `product`, `off` FROM `orders` WHERE `off` > 3\n");
    planner_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_row_a_column),
        cmocka_unit_test(show_create_makes_the_table_again),
        cmocka_unit_test(show_create_makes_the_view_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
