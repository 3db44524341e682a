/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Planning a scan: columns and predicates that are pushed into it, and what EXPLAIN shows.
 */
#include "bt_testing.h"

#include "connector/bigtable/scan.h"
#include "expr/build.h"

typedef struct fixture {
    ms_arena arena;
    table_maker maker;
    ms_scan *scan;
    ms_expr_builder builder;
    ms_status st;
} fixture;

static void fixture_init(fixture *f, const char *prefix)
{
    memset(f, 0, sizeof(*f));
    ms_arena_init(&f->arena, 0);
    maker_init(&f->maker, &f->arena);
    maker_family(&f->maker, "b", "q STRING");
    maker_column(&f->maker, "k", make_type(&f->arena, "STRING"));
    maker_family(&f->maker, "a", "q STRING");
    if (prefix != NULL) {
        maker_option(&f->maker, "scan.row-prefix", prefix);
    }
    f->builder = (ms_expr_builder){.arena = &f->arena, .st = &f->st};
    ms_plan_env env = {.arena = &f->arena, .is_streaming = true};
    ms_status st = {0};
    assert_ok(ms_connector_bigtable.scan_create(&ms_connector_bigtable, &f->maker.table, &env,
                                                &f->scan, &st));
}

/* "k" compared with a text; op LIKE makes one that is not pushed. */
static const ms_expr *compare(fixture *f, const char *op, const char *text)
{
    const ms_expr *key = ms_expr_column(&f->arena, 1, f->maker.columns[1].type, ms_span_none);
    const ms_expr *other = ms_build_text(&f->builder, ms_str_cstr(text), ms_span_none);
    const ms_expr *expr = NULL;
    assert_int_equal(ms_build_binary(&f->builder, op, key, other, ms_span_none, &expr), MS_OK);
    return expr;
}

static void assert_described(fixture *f, const char *expected)
{
    ms_status st = {0};
    ms_buf text;
    ms_buf_init(&text, 1u << 20);
    assert_ok(f->scan->klass->describe(f->scan, &text, &st));
    assert_ok(ms_buf_append_byte(&text, '\0', &st));
    assert_string_equal(text.ptr, expected);
    ms_buf_release(&text);
}

static void assert_filter(fixture *f, const char *expected)
{
    ms_status st = {0};
    ms_buf text;
    ms_buf_init(&text, 4096);
    const ms_bt_filter *filter = msi_bt_scan_filter(&f->arena, (const msi_bt_scan *)f->scan);
    assert_ok(ms_bt_filter_render(filter, &text, &st));
    assert_ok(ms_buf_append_byte(&text, '\0', &st));
    assert_string_equal(text.ptr, expected);
    ms_buf_release(&text);
}

static void without_a_projection_exactly_the_declared_families_are_read(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, NULL);
    assert_true(f.scan->is_bounded);
    assert_int_equal(f.scan->changelog, MS_CHANGELOG_INSERT);
    assert_described(&f, "from=[p.i.t], families=[b, a]");
    assert_filter(&f, "chain(interleave(family(b), family(a)), cells_per_column_limit(1))");
    ms_arena_release(&f.arena);
}

static void a_projection_keeps_whole_families(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, NULL);
    const uint32_t columns[] = {1, 2};
    ms_status st = {0};
    assert_ok(f.scan->klass->push_projection(f.scan, columns, 2, &st));
    assert_int_equal(f.scan->output.column_count, 2);
    assert_str_equal(f.scan->output.columns[1].name, "a");
    assert_described(&f, "from=[p.i.t], families=[a]");
    assert_filter(&f, "chain(family(a), cells_per_column_limit(1))");
    ms_arena_release(&f.arena);
}

static void a_query_of_keys_reads_one_cell_without_value_a_row(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, NULL);
    const uint32_t columns[] = {1};
    ms_status st = {0};
    assert_ok(f.scan->klass->push_projection(f.scan, columns, 1, &st));
    assert_described(&f, "from=[p.i.t], keysOnly");
    assert_filter(&f, "chain(cells_per_row_limit(1), strip_value)");
    ms_arena_release(&f.arena);
}

static void exact_predicates_narrow_the_ranges_and_others_stay(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, "b;d");
    const ms_expr *conjuncts[] = {compare(&f, ">=", "bm"), compare(&f, "LIKE", "%x"),
                                  compare(&f, "<", "dm")};
    bool exact[3] = {false, true, false};
    ms_status st = {0};
    assert_ok(f.scan->klass->push_filters(f.scan, conjuncts, 3, exact, &st));
    assert_true(exact[0] && !exact[1] && exact[2]);
    assert_described(&f, "from=[p.i.t], ranges=[[bm,c), [d,dm)], families=[b, a]");
    ms_arena_release(&f.arena);
}

static void a_contradiction_reads_nothing_instead_of_everything(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, "a");
    const ms_expr *conjuncts[] = {compare(&f, "=", "x")};
    bool exact[1] = {false};
    ms_status st = {0};
    assert_ok(f.scan->klass->push_filters(f.scan, conjuncts, 1, exact, &st));
    assert_true(exact[0]);
    assert_described(&f, "from=[p.i.t], ranges=[], families=[b, a]");
    ms_arena_release(&f.arena);
}

static void a_limit_is_shown(void **state)
{
    (void)state;
    fixture f;
    fixture_init(&f, NULL);
    f.scan->klass->push_limit(f.scan, 5);
    assert_described(&f, "from=[p.i.t], families=[b, a], limit=[5]");
    ms_arena_release(&f.arena);
}

/* Two lists that differ only where they are not shown have different texts. */
static void many_ranges_are_shown_by_their_checksum(void **state)
{
    (void)state;
    char texts[2][4096];
    for (int i = 0; i < 2; i++) {
        fixture f;
        fixture_init(&f, NULL);
        const ms_expr *args[101];
        args[0] = ms_expr_column(&f.arena, 1, f.maker.columns[1].type, ms_span_none);
        for (uint32_t k = 1; k < 101; k++) {
            ms_str key = ms_arena_format(&f.arena, "key%03u%s", k, i == 1 && k == 90 ? "x" : "");
            args[k] = ms_build_text(&f.builder, key, ms_span_none);
        }
        const ms_expr *in = NULL;
        assert_int_equal(ms_build_call(&f.builder, ms_str_lit("IN"), args, 101, ms_span_none, &in),
                         MS_OK);
        bool exact = false;
        ms_status st = {0};
        assert_ok(f.scan->klass->push_filters(f.scan, &in, 1, &exact, &st));
        ms_buf text;
        ms_buf_init(&text, sizeof(texts[0]));
        assert_ok(f.scan->klass->describe(f.scan, &text, &st));
        assert_ok(ms_buf_append_byte(&text, '\0', &st));
        memcpy(texts[i], text.ptr, text.bytes);
        ms_buf_release(&text);
        ms_arena_release(&f.arena);
    }
    assert_non_null(strstr(texts[0], "[key016,key016], and 84 more with checksum "));
    assert_string_not_equal(texts[0], texts[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_projection_exactly_the_declared_families_are_read),
        cmocka_unit_test(a_projection_keeps_whole_families),
        cmocka_unit_test(a_query_of_keys_reads_one_cell_without_value_a_row),
        cmocka_unit_test(exact_predicates_narrow_the_ranges_and_others_stay),
        cmocka_unit_test(a_contradiction_reads_nothing_instead_of_everything),
        cmocka_unit_test(a_limit_is_shown),
        cmocka_unit_test(many_ranges_are_shown_by_their_checksum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
