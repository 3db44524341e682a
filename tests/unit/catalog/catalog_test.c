/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables and views by name: hiding, dropping, hints, order.
 */
#include "testing.h"

#include "catalog/catalog.h"

static const ms_table *make(ms_catalog *catalog, const char *name, bool is_view, bool is_temporary)
{
    ms_table *table = ms_arena_new(ms_catalog_arena(catalog), ms_table);
    table->name = ms_str_cstr(name);
    table->is_view = is_view;
    table->is_temporary = is_temporary;
    return table;
}

static void a_temporary_table_hides_a_permanent_one(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_catalog *catalog = ms_catalog_create();
    const ms_table *permanent = make(catalog, "t", false, false);
    const ms_table *temporary = make(catalog, "t", false, true);
    assert_int_equal(ms_catalog_add(catalog, permanent, false, ms_span_none, &st), MS_OK);
    assert_int_equal(ms_catalog_add(catalog, temporary, false, ms_span_none, &st), MS_OK);
    assert_ptr_equal(ms_catalog_find(catalog, ms_str_lit("t")), temporary);
    assert_int_equal(
        ms_catalog_drop(catalog, ms_str_lit("t"), false, true, false, ms_span_none, &st), MS_OK);
    assert_ptr_equal(ms_catalog_find(catalog, ms_str_lit("t")), permanent);
    ms_catalog_destroy(catalog);
}

static void a_second_table_of_a_name_is_refused_unless_asked(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_catalog *catalog = ms_catalog_create();
    const ms_table *first = make(catalog, "t", false, false);
    assert_int_equal(ms_catalog_add(catalog, first, false, ms_span_none, &st), MS_OK);
    assert_int_equal(
        ms_catalog_add(catalog, make(catalog, "t", true, false), true, ms_span_none, &st), MS_OK);
    assert_ptr_equal(ms_catalog_find(catalog, ms_str_lit("t")), first);
    assert_int_equal(
        ms_catalog_add(catalog, make(catalog, "t", false, false), false, (ms_span){5, 6}, &st),
        MS_DUPLICATE_TABLE);
    assert_string_equal(st.message, "table \"t\" exists already");
    assert_int_equal(st.span.start, 5);
    ms_catalog_destroy(catalog);
}

static void dropping_needs_the_right_sort_and_name(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_catalog *catalog = ms_catalog_create();
    assert_int_equal(
        ms_catalog_add(catalog, make(catalog, "quakes", true, false), false, ms_span_none, &st),
        MS_OK);
    assert_int_equal(
        ms_catalog_drop(catalog, ms_str_lit("quakes"), false, false, false, ms_span_none, &st),
        MS_TYPE_MISMATCH);
    assert_string_equal(st.message, "\"quakes\" is a view, not a table");
    ms_status_clear(&st);
    assert_int_equal(
        ms_catalog_drop(catalog, ms_str_lit("quake"), true, false, false, ms_span_none, &st),
        MS_UNDEFINED_TABLE);
    assert_string_equal(st.hint, "Did you mean \"quakes\"?");
    ms_status_clear(&st);
    assert_int_equal(
        ms_catalog_drop(catalog, ms_str_lit("quake"), true, false, true, ms_span_none, &st), MS_OK);
    ms_catalog_destroy(catalog);
}

static void the_list_is_sorted_and_without_hidden_tables(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_catalog *catalog = ms_catalog_create();
    static const struct {
        const char *name;
        bool temporary;
    } tables[] = {{"b", false}, {"a", false}, {"b", true}};
    for (size_t i = 0; i < 3; i++) {
        const ms_table *table = make(catalog, tables[i].name, false, tables[i].temporary);
        assert_int_equal(ms_catalog_add(catalog, table, false, ms_span_none, &st), MS_OK);
    }
    uint32_t count = 0;
    const ms_table *const *list = ms_catalog_list(catalog, &arena, &count);
    assert_int_equal(count, 2);
    assert_true(ms_str_equals(list[0]->name, ms_str_lit("a")));
    assert_true(list[1]->is_temporary);
    ms_arena_release(&arena);
    ms_catalog_destroy(catalog);
}

static void a_copy_changes_on_its_own(void **state)
{
    (void)state;
    ms_status st = {0};
    ms_catalog *catalog = ms_catalog_create();
    const ms_table *first = make(catalog, "t", false, false);
    const ms_table *hidden = make(catalog, "t", false, true);
    assert_int_equal(ms_catalog_add(catalog, first, false, ms_span_none, &st), MS_OK);
    assert_int_equal(ms_catalog_add(catalog, hidden, false, ms_span_none, &st), MS_OK);
    ms_catalog *copy = ms_catalog_copy(catalog);
    assert_ptr_equal(ms_catalog_find(copy, ms_str_lit("t")), hidden);
    assert_int_equal(ms_catalog_drop(copy, ms_str_lit("t"), false, true, false, ms_span_none, &st),
                     MS_OK);
    assert_int_equal(ms_catalog_add(copy, make(copy, "u", false, false), false, ms_span_none, &st),
                     MS_OK);
    assert_ptr_equal(ms_catalog_find(copy, ms_str_lit("t")), first);
    assert_ptr_equal(ms_catalog_find(catalog, ms_str_lit("t")), hidden);
    assert_null(ms_catalog_find(catalog, ms_str_lit("u")));
    ms_catalog_destroy(copy);
    ms_catalog_destroy(catalog);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_temporary_table_hides_a_permanent_one),
        cmocka_unit_test(a_second_table_of_a_name_is_refused_unless_asked),
        cmocka_unit_test(dropping_needs_the_right_sort_and_name),
        cmocka_unit_test(the_list_is_sorted_and_without_hidden_tables),
        cmocka_unit_test(a_copy_changes_on_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
