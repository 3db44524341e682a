/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "func/registry.h"
#include "func/typing.h"

static void check(const char *name, const char *arg, ms_agg_use use, const char *wanted)
{
    ms_arena arena;
    ms_status st = {0};
    ms_agg_resolved resolved;
    ms_arena_init(&arena, 0);
    const ms_type *type = arg != NULL ? ms_typing_parse(&arena, ms_str_cstr(arg)) : NULL;
    ms_fn_args args = {arg != NULL ? 1 : 0, &type, NULL};
    ms_rc rc =
        ms_agg_resolve(&arena, ms_str_cstr(name), &args, &use, (ms_span){3, 9}, &resolved, &st);
    if (wanted[0] == '!') {
        assert_string_equal(ms_rc_name(rc), wanted + 1);
        assert_int_equal(st.span.start, 3);
    } else {
        assert_ok(rc);
        assert_str_equal(ms_type_text(&arena, resolved.result_type), wanted);
    }
    ms_arena_release(&arena);
}

static void results_have_the_types_of_flink(void **state)
{
    (void)state;
    const ms_agg_use grouped = {.is_grouped = true};
    check("COUNT", NULL, grouped, "BIGINT NOT NULL");
    check("count", "INT", grouped, "BIGINT NOT NULL");
    check("SUM", "INT NOT NULL", grouped, "INT NOT NULL");
    check("SUM", "DECIMAL(10, 2) NOT NULL", grouped, "DECIMAL(38, 2)");
    check("SUM", "FLOAT", grouped, "FLOAT");
    check("AVG", "INT NOT NULL", grouped, "INT NOT NULL");
    check("AVG", "DECIMAL(10, 2)", grouped, "DECIMAL(38, 6)");
    check("AVG", "DECIMAL(20, 10)", grouped, "DECIMAL(38, 10)");
    check("MIN", "STRING NOT NULL", grouped, "STRING NOT NULL");
    check("MAX", "TIMESTAMP(3)", grouped, "TIMESTAMP(3)");
    check("MAX", "BOOLEAN NOT NULL", grouped, "BOOLEAN NOT NULL");
}

static void results_are_nullable_when_no_row_may_count(void **state)
{
    (void)state;
    check("SUM", "INT NOT NULL", (ms_agg_use){0}, "INT");
    check("MAX", "INT NOT NULL", (ms_agg_use){.is_grouped = true, .has_filter = true}, "INT");
    check("COUNT", "INT", (ms_agg_use){0}, "BIGINT NOT NULL");
}

static void what_is_not_built_is_refused(void **state)
{
    (void)state;
    check("SUM", "STRING", (ms_agg_use){0}, "!UNDEFINED_FUNCTION");
    check("MIN", "ARRAY<INT>", (ms_agg_use){0}, "!UNDEFINED_FUNCTION");
    check("SUM", NULL, (ms_agg_use){0}, "!UNDEFINED_FUNCTION");
    check("SUM", "NULL", (ms_agg_use){0}, "!UNDEFINED_FUNCTION");
    check("COUNT", "INT", (ms_agg_use){.is_distinct = true}, "!NOT_SUPPORTED");
    check("LISTAGG", "STRING", (ms_agg_use){0}, "!NOT_SUPPORTED");
    check("MIN", "TIMESTAMP(9)", (ms_agg_use){0}, "!NOT_SUPPORTED");
    check("SUMM", "INT", (ms_agg_use){0}, "!UNDEFINED_FUNCTION");
}

static void names_tell_aggregates_from_functions(void **state)
{
    (void)state;
    assert_true(ms_agg_is_name(ms_str_lit("sum")));
    assert_true(ms_agg_is_name(ms_str_lit("LISTAGG")));
    assert_true(ms_agg_is_name(ms_str_lit("ROW_NUMBER")));
    assert_false(ms_agg_is_name(ms_str_lit("UPPER")));
    assert_string_equal(ms_agg_name(MS_AGG_AVG), "AVG");
    assert_string_equal(ms_agg_name(MS_AGG_COUNT_STAR), "COUNT");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_have_the_types_of_flink),
        cmocka_unit_test(results_are_nullable_when_no_row_may_count),
        cmocka_unit_test(what_is_not_built_is_refused),
        cmocka_unit_test(names_tell_aggregates_from_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
