/* SPDX-License-Identifier: Apache-2.0 */
#include "sql_testing.h"

static void every_value_has_a_name(void **state)
{
    (void)state;
    for (int unit = MS_AST_UNIT_NONE + 1; unit < MS_AST_UNIT_COUNT; unit++) {
        assert_true(strlen(ms_ast_unit_name((ms_ast_unit)unit)) > 0);
    }
    for (int op = 0; op < MS_AST_BINARY_OP_COUNT; op++) {
        assert_true(strlen(ms_ast_binary_op_name((ms_ast_binary_op)op)) > 0);
    }
    for (int kind = 0; kind < MS_AST_TYPE_KIND_COUNT; kind++) {
        assert_true(strlen(ms_ast_type_kind_name((ms_ast_type_kind)kind)) > 0);
    }
    assert_string_equal(ms_ast_unit_name(MS_AST_UNIT_NONE), "");
    assert_string_equal(ms_ast_unit_name(MS_AST_UNIT_SECOND), "SECOND");
    assert_string_equal(ms_ast_binary_op_name(MS_AST_OP_NOT_DISTINCT), "IS NOT DISTINCT FROM");
    assert_string_equal(ms_ast_type_kind_name(MS_AST_TYPE_TIMESTAMP_LTZ), "TIMESTAMP_LTZ");
}

static void a_statement_is_named_by_its_first_words(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *name;
    } cases[] = {
        {"SELECT 1", "SELECT"},
        {"VALUES 1", "SELECT"},
        {"CREATE TEMPORARY TABLE t (a INT)", "CREATE TABLE"},
        {"CREATE VIEW v AS SELECT 1", "CREATE VIEW"},
        {"DROP TABLE t", "DROP TABLE"},
        {"DROP VIEW t", "DROP VIEW"},
        {"INSERT OVERWRITE t SELECT 1", "INSERT"},
        {"BEGIN STATEMENT SET; INSERT INTO t SELECT 1; END", "STATEMENT SET"},
        {"EXPLAIN SELECT 1", "EXPLAIN"},
        {"SHOW TABLES", "SHOW"},
        {"DESC t", "DESCRIBE"},
        {"SET", "SET"},
        {"RESET", "RESET"},
        {"ADD JAR 'x'", "ADD JAR"},
    };
    for (size_t i = 0; i < count_of(cases); i++) {
        parsed p;
        parse_script_text(cases[i].text, &p);
        assert_string_equal(ms_ast_stmt_name(p.script->stmts[0]), cases[i].name);
        ms_arena_release(&p.arena);
    }
}

static void convert_to_the_wrong_kind(void *arg)
{
    (void)ms_ast_literal_of(arg);
}

static void a_conversion_to_the_wrong_kind_is_a_bug(void **state)
{
    (void)state;
    ms_ast_name name = {.head = {.kind = MS_AST_NAME, .height = 1}};
    assert_ptr_equal(ms_ast_name_of(&name.head), &name);
    assert_aborts(convert_to_the_wrong_kind, &name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_value_has_a_name),
        cmocka_unit_test(a_statement_is_named_by_its_first_words),
        cmocka_unit_test(a_conversion_to_the_wrong_kind_is_a_bug),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
