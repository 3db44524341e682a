/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Columns to row key, families and qualifiers, and every schema that is refused.
 */
#include "bt_testing.h"

static const msi_bt_codec_options defaults = {.null_literal = {"null", 4}};
static const ms_bt_table_name destination = {{"p", 1}, {"i", 1}, {"t", 1}};

static void the_key_may_stand_anywhere(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    table_maker m;
    maker_init(&m, &arena);
    maker_family(&m, "b", "z INT, a STRING, m BYTES");
    maker_column(&m, "k", make_type(&arena, "BIGINT"));
    maker_family(&m, "a", "q DOUBLE");
    maker_key(&m, 1);
    msi_bt_layout layout = make_layout(&m);
    assert_int_equal(layout.key_column, 1);
    assert_int_equal(layout.key.width, 8);
    assert_true(layout.has_primary_key);
    assert_int_equal(layout.family_count, 2);
    assert_int_equal(layout.field_count, 4);
    assert_str_equal(layout.families[0].name, "b");
    assert_str_equal(layout.families[0].fields[0].qualifier, "z");
    assert_str_equal(layout.families[0].fields_in_order[0]->qualifier, "a");
    assert_str_equal(layout.families[0].fields_in_order[1]->qualifier, "m");
    assert_str_equal(layout.families[0].fields_in_order[2]->qualifier, "z");
    assert_ptr_equal(msi_bt_layout_family(&layout, 2), &layout.families[1]);
    assert_null(msi_bt_layout_family(&layout, 1));
    ms_arena_release(&arena);
}

static void computed_columns_do_not_count(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    table_maker m;
    maker_init(&m, &arena);
    maker_column(&m, "c", make_type(&arena, "INT"));
    m.columns[0].kind = MS_COLUMN_COMPUTED;
    maker_column(&m, "k", make_type(&arena, "STRING"));
    maker_family(&m, "cf", "q INT");
    msi_bt_layout layout = make_layout(&m);
    assert_int_equal(layout.key_column, 0);
    assert_int_equal(layout.families[0].column, 1);
    ms_arena_release(&arena);
}

static void a_row_key_alone_is_a_layout(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    table_maker m;
    maker_init(&m, &arena);
    maker_column(&m, "k", make_type(&arena, "STRING"));
    assert_int_equal(make_layout(&m).family_count, 0);
    ms_arena_release(&arena);
}

typedef struct column {
    const char *name;
    const char *type;   /* "" for a family */
    const char *family; /* its fields */
} column;

static const struct {
    column columns[4];
    ms_rc code;
    uint32_t at; /* the column with the caret; UINT32_MAX: no place */
    const char *message;
} wrong[] = {
    {{{"a", "STRING"}, {"b", "INT"}, {"cf", "", "q INT"}},
     MS_INVALID_TABLE_DEFINITION,
     1,
     "both \"a\" and \"b\" would be the row key"},
    {{{"cf", "", "q INT"}}, MS_INVALID_TABLE_DEFINITION, UINT32_MAX, "table \"t\" has no row key"},
    {{{"k", "TIMESTAMP 6"}},
     MS_INVALID_TABLE_DEFINITION,
     0,
     "row-key column \"k\" cannot have the type TIMESTAMP(6): a cell holds milliseconds, so at "
     "most "
     "3 digits"},
    {{{"k", "STRING"}, {"cf", "", "a INT, t TIMESTAMP_LTZ 9"}},
     MS_INVALID_TABLE_DEFINITION,
     1,
     "qualifier \"cf.t\" cannot have the type TIMESTAMP_LTZ(9): a cell holds milliseconds, so at "
     "most 3 digits"},
    {{{"k", "STRING"}, {"c:f", "", "a INT"}},
     MS_INVALID_TABLE_DEFINITION,
     1,
     "column family \"c:f\" cannot have a \":\" in its name"},
    {{{"k", "STRING"}, {"cf", "", "a INT, b INT, a INT"}},
     MS_INVALID_TABLE_DEFINITION,
     1,
     "qualifier \"a\" is twice in family \"cf\""},
};

static void add_column(table_maker *m, const column *c)
{
    if (c->type[0] == '\0') {
        maker_family(m, c->name, c->family);
    } else {
        maker_column(m, c->name, make_type(m->arena, c->type));
    }
}

static ms_rc try_layout(table_maker *m, ms_status *st)
{
    msi_bt_layout layout;
    return msi_bt_layout_make(m->arena, &m->table, &destination, &defaults, &layout, st);
}

static void wrong_schemas_are_refused_at_their_column(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        ms_arena arena;
        ms_arena_init(&arena, 0);
        table_maker m;
        maker_init(&m, &arena);
        for (size_t c = 0; c < 4 && wrong[i].columns[c].name != NULL; c++) {
            add_column(&m, &wrong[i].columns[c]);
        }
        ms_status st = {0};
        assert_int_equal(try_layout(&m, &st), wrong[i].code);
        assert_string_equal(st.message, wrong[i].message);
        assert_int_equal(st.span.start, wrong[i].at == UINT32_MAX ? 0 : 100 + wrong[i].at);
        ms_arena_release(&arena);
    }
}

/* Types that no word of make_type has. */
static void nested_types_are_refused_by_family_and_qualifier(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    const ms_type *text = ms_type_string(&arena, true);
    const struct {
        const ms_type *type;
        const char *text;
    } nested[] = {
        {make_row(&arena, "x INT", true), "ROW<`x` INT>"},
        {ms_type_array(&arena, text, true), "ARRAY<STRING>"},
        {ms_type_map(&arena, text, text, true), "MAP<STRING, STRING>"},
        {ms_type_multiset(&arena, text, true), "MULTISET<STRING>"},
    };
    for (size_t i = 0; i < sizeof(nested) / sizeof(nested[0]); i++) {
        table_maker m;
        maker_init(&m, &arena);
        maker_column(&m, "k", text);
        ms_field field = {ms_str_lit("q"), nested[i].type};
        maker_column(&m, "cf", ms_type_row(&arena, &field, 1, true));
        ms_status st = {0};
        assert_int_equal(try_layout(&m, &st), MS_INVALID_TABLE_DEFINITION);
        char expected[240];
        snprintf(expected, sizeof(expected),
                 "qualifier \"cf.q\" cannot have the type %s: a cell holds one value, nothing "
                 "nested",
                 nested[i].text);
        assert_string_equal(st.message, expected);
    }
    ms_arena_release(&arena);
}

static void families_as_maps_are_not_built(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    const ms_type *text = ms_type_string(&arena, true);
    table_maker m;
    maker_init(&m, &arena);
    maker_column(&m, "k", text);
    maker_column(&m, "cf", ms_type_map(&arena, text, text, true));
    ms_status st = {0};
    assert_int_equal(try_layout(&m, &st), MS_NOT_SUPPORTED);
    assert_string_equal(st.message, "column family \"cf\" as a MAP is not supported yet");
    assert_int_equal(st.span.start, 101);
    ms_arena_release(&arena);
}

static void an_array_is_no_row_key(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    table_maker m;
    maker_init(&m, &arena);
    maker_column(&m, "k", ms_type_array(&arena, ms_type_string(&arena, true), true));
    ms_status st = {0};
    assert_int_equal(try_layout(&m, &st), MS_INVALID_TABLE_DEFINITION);
    assert_string_equal(st.message, "row-key column \"k\" cannot have the type ARRAY<STRING>: a "
                                    "cell holds one value, nothing nested");
    ms_arena_release(&arena);
}

static void metadata_is_refused_by_its_key(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    table_maker m;
    maker_init(&m, &arena);
    maker_column(&m, "k", make_type(&arena, "STRING"));
    maker_column(&m, "ts", make_type(&arena, "TIMESTAMP_LTZ 6"));
    m.columns[1].kind = MS_COLUMN_METADATA;
    m.columns[1].metadata_key = ms_str_lit("timestamp");
    ms_status st = {0};
    assert_int_equal(try_layout(&m, &st), MS_NOT_SUPPORTED);
    m.columns[1].metadata_key = ms_str_lit("timestamps");
    ms_status_clear(&st);
    assert_int_equal(try_layout(&m, &st), MS_INVALID_TABLE_DEFINITION);
    assert_string_equal(st.message, "connector \"bigtable\" has no metadata \"timestamps\"");
    ms_arena_release(&arena);
}

static void the_primary_key_is_the_row_key_alone(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    table_maker m;
    maker_init(&m, &arena);
    maker_column(&m, "k", make_type(&arena, "STRING"));
    maker_family(&m, "cf", "q INT");
    maker_key(&m, 0);
    maker_key(&m, 1);
    ms_status st = {0};
    assert_int_equal(try_layout(&m, &st), MS_INVALID_TABLE_DEFINITION);
    assert_int_equal(st.span.start, 101);
    assert_string_equal(st.message,
                        "column \"cf\" cannot be in the PRIMARY KEY: that of a bigtable "
                        "table is its row key, \"k\", alone");
    ms_arena_release(&arena);
}

static void a_refusal_of_the_service_names_the_table(void **state)
{
    (void)state;
    ms_bt_status bt = {0};
    ms_bt_status_set(&bt, MS_BT_NOT_FOUND, "nothing there");
    ms_status st = {0};
    assert_int_equal(msi_bt_destination_report(&destination, "read", &bt, &st),
                     MS_BIGTABLE_NOT_FOUND);
    assert_string_equal(st.message, "could not read table \"p.i.t\"");
    assert_string_equal(st.detail, "NOT_FOUND: nothing there");
    assert_non_null(strstr(st.hint, "sink.create-disposition"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_key_may_stand_anywhere),
        cmocka_unit_test(computed_columns_do_not_count),
        cmocka_unit_test(a_row_key_alone_is_a_layout),
        cmocka_unit_test(wrong_schemas_are_refused_at_their_column),
        cmocka_unit_test(nested_types_are_refused_by_family_and_qualifier),
        cmocka_unit_test(families_as_maps_are_not_built),
        cmocka_unit_test(an_array_is_no_row_key),
        cmocka_unit_test(metadata_is_refused_by_its_key),
        cmocka_unit_test(the_primary_key_is_the_row_key_alone),
        cmocka_unit_test(a_refusal_of_the_service_names_the_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
