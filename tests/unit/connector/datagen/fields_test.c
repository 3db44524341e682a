/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The options of fields: what they set, and that every mistake is found at its place.
 */
#include "testing.h"

#include "connector/datagen/generator.h"

typedef struct fixture {
    ms_arena arena;
    ms_status st;
    ms_field fields[8];
    ms_schema schema;
    ms_option options[16];
    ms_table table;
    const msi_generator *generators;
} fixture;

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof(*f));
    ms_arena_init(&f->arena, 0);
    f->schema.columns = f->fields;
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    ms_arena_release(&f->arena);
    free(f);
    return 0;
}

static void column(fixture *f, const char *name, const ms_type *type)
{
    f->fields[f->schema.column_count++] = (ms_field){ms_str_cstr(name), type};
}

static void option(fixture *f, const char *key, const char *value)
{
    uint32_t at = f->table.options.count++;
    f->options[at] = (ms_option){.key = ms_str_cstr(key),
                                 .value = ms_str_cstr(value),
                                 .key_span = {100 + at, 110},
                                 .value_span = {200 + at, 300}};
    f->table.options.items = f->options;
}

static ms_rc make(fixture *f)
{
    return msi_generators_make(&f->table, &f->schema, &f->arena, &f->generators, &f->st);
}

static const ms_type *simple(fixture *f, ms_type_kind kind)
{
    return ms_type_simple(&f->arena, kind, true);
}

static void defaults_are_those_of_the_types(void **state)
{
    fixture *f = *state;
    column(f, "t", simple(f, MS_TYPE_TINYINT));
    column(f, "l", simple(f, MS_TYPE_BIGINT));
    column(f, "d", simple(f, MS_TYPE_DOUBLE));
    column(f, "p", ms_type_decimal(&f->arena, 5, 2, true));
    column(f, "s", ms_type_string(&f->arena, true));
    column(f, "v", ms_type_sized(&f->arena, MS_TYPE_VARCHAR, 7, true));
    column(f, "a", ms_type_array(&f->arena, simple(f, MS_TYPE_INT), true));
    column(f, "c", ms_type_sized(&f->arena, MS_TYPE_CHAR, 4, true));
    assert_int_equal(make(f), MS_OK);
    assert_int_equal(f->generators[0].min, -128);
    assert_int_equal(f->generators[1].max, INT64_MAX);
    assert_true(f->generators[2].real_min > 0 && f->generators[2].real_max > 1e308);
    assert_true(f->generators[3].real_max == 999);
    assert_int_equal(f->generators[4].length, 100);
    assert_int_equal(f->generators[5].length, 7);
    assert_int_equal(f->generators[6].length, 3);
    assert_int_equal(f->generators[6].children[0].max, INT32_MAX);
    assert_int_equal(f->generators[7].length, 4);
    for (int i = 1; i < 8; i++) {
        assert_true(f->generators[i].salt != f->generators[i - 1].salt);
    }
}

static void options_set_what_they_name(void **state)
{
    fixture *f = *state;
    ms_field fields[1] = {{ms_str_lit("x"), simple(f, MS_TYPE_INT)}};
    column(f, "i", simple(f, MS_TYPE_INT));
    column(f, "s", ms_type_string(&f->arena, true));
    column(
        f, "m",
        ms_type_map(&f->arena, ms_type_string(&f->arena, true), simple(f, MS_TYPE_DOUBLE), true));
    column(f, "r", ms_type_row(&f->arena, fields, 1, true));
    column(f, "ts", ms_type_temporal(&f->arena, MS_TYPE_TIMESTAMP, 3, true));
    column(f, "q", simple(f, MS_TYPE_INT));
    option(f, "fields.i.min", "-5");
    option(f, "fields.i.max", "5");
    option(f, "fields.i.null-rate", "0.5");
    option(f, "fields.s.length", "8");
    option(f, "fields.s.var-len", "true");
    option(f, "fields.m.length", "4");
    option(f, "fields.m.key.length", "2");
    option(f, "fields.m.value.max", "1.5");
    option(f, "fields.r.x.max", "9");
    option(f, "fields.ts.max-past", "2 s");
    option(f, "fields.q.kind", "Sequence");
    option(f, "fields.q.start", "3");
    option(f, "fields.q.end", "3");
    assert_int_equal(make(f), MS_OK);
    assert_int_equal(f->generators[0].min, -5);
    assert_true(f->generators[0].null_rate == 0.5);
    assert_int_equal(f->generators[1].length, 8);
    assert_true(f->generators[1].is_varied);
    assert_int_equal(f->generators[2].length, 4);
    assert_int_equal(f->generators[2].children[0].length, 2);
    assert_true(f->generators[2].children[1].real_max == 1.5);
    assert_int_equal(f->generators[3].children[0].max, 9);
    assert_int_equal(f->generators[4].max_past_ms, 2000);
    assert_true(f->generators[5].is_sequence);
    assert_int_equal(msi_generator_rows(&f->generators[5]), 1);
}

/* One column c of a type, one option, and what comes of it. */
static void refuse(fixture *f, const ms_type *type, const char *key, const char *value, ms_rc code,
                   const char *message)
{
    f->schema.column_count = 0;
    f->table.options.count = 0;
    column(f, "c", type);
    option(f, "connector", "datagen");
    option(f, key, value);
    assert_int_equal(make(f), code);
    assert_string_equal(f->st.message, message);
    assert_true(f->st.span.start == 101 || f->st.span.start == 201);
    ms_status_clear(&f->st);
}

static void mistakes_are_found_at_their_place(void **state)
{
    fixture *f = *state;
    const ms_type *number = simple(f, MS_TYPE_SMALLINT);
    const ms_type *text = ms_type_string(&f->arena, true);
    refuse(f, number, "fields.d.min", "1", MS_UNKNOWN_OPTION,
           "connector \"datagen\" has no option \"fields.d.min\" here");
    refuse(f, number, "fields.c.length", "1", MS_UNKNOWN_OPTION,
           "connector \"datagen\" has no option \"fields.c.length\" here");
    refuse(f, number, "fields.c.start", "1", MS_UNKNOWN_OPTION,
           "connector \"datagen\" has no option \"fields.c.start\" here");
    refuse(f, number, "fields.c.kind", "serial", MS_INVALID_OPTION,
           "option \"fields.c.kind\" cannot be \"serial\"");
    refuse(f, number, "fields.c.min", "40000", MS_INVALID_OPTION,
           "option \"fields.c.min\" cannot be \"40000\": it must be from -32768 to 32767");
    refuse(f, number, "fields.c.null-rate", "1.5", MS_INVALID_OPTION,
           "option \"fields.c.null-rate\" must be from 0 to 1");
    refuse(f, ms_type_simple(&f->arena, MS_TYPE_INT, false), "fields.c.null-rate", "0.5",
           MS_INVALID_OPTION,
           "option \"fields.c.null-rate\" cannot make NULLs: the type is NOT NULL");
    refuse(f, text, "fields.c.length", "0", MS_INVALID_OPTION,
           "option \"fields.c.length\" cannot be \"0\": it must be from 1 to 104857600");
    refuse(f, ms_type_sized(&f->arena, MS_TYPE_VARCHAR, 5, true), "fields.c.length", "6",
           MS_INVALID_OPTION, "option \"fields.c.length\" cannot be \"6\": it must be from 1 to 5");
    refuse(f, simple(f, MS_TYPE_DATE), "fields.c.kind", "sequence", MS_NOT_SUPPORTED,
           "there are no sequences of type DATE");
    refuse(f, ms_type_sized(&f->arena, MS_TYPE_CHAR, 5, true), "fields.c.length", "5",
           MS_UNKNOWN_OPTION, "connector \"datagen\" has no option \"fields.c.length\" here");
}

static void an_empty_range_is_refused(void **state)
{
    fixture *f = *state;
    column(f, "c", simple(f, MS_TYPE_INT));
    option(f, "fields.c.min", "7");
    option(f, "fields.c.max", "6");
    assert_int_equal(make(f), MS_INVALID_OPTION);
    assert_string_equal(f->st.message, "option \"fields.c.min\" makes the range empty");
    ms_status_clear(&f->st);
    f->fields[0].type = simple(f, MS_TYPE_DOUBLE);
    assert_int_equal(make(f), MS_INVALID_OPTION);
}

static void a_sequence_needs_bounds_in_order_that_fit(void **state)
{
    fixture *f = *state;
    column(f, "c", simple(f, MS_TYPE_TINYINT));
    option(f, "fields.c.kind", "sequence");
    option(f, "fields.c.start", "5");
    assert_int_equal(make(f), MS_MISSING_OPTION);
    assert_string_equal(f->st.detail,
                        "Could not find required property 'fields.c.end' for sequence generator.");
    ms_status_clear(&f->st);
    option(f, "fields.c.end", "4");
    assert_int_equal(make(f), MS_INVALID_OPTION);
    assert_string_equal(f->st.detail,
                        "The start value (5) cannot be greater than the end value (4).");
    ms_status_clear(&f->st);
    f->options[2].value = ms_str_lit("128");
    assert_int_equal(make(f), MS_INVALID_OPTION);
    assert_string_equal(f->st.message,
                        "option \"fields.c.end\" does not fit the type of the column");
    assert_int_equal(f->st.span.start, 202);
    ms_status_clear(&f->st);
    f->fields[0].type = ms_type_decimal(&f->arena, 4, 2, true);
    assert_int_equal(make(f), MS_INVALID_OPTION);
    ms_status_clear(&f->st);
    f->fields[0].type = ms_type_sized(&f->arena, MS_TYPE_VARCHAR, 2, true);
    assert_int_equal(make(f), MS_INVALID_OPTION);
    ms_status_clear(&f->st);
    f->fields[0].type = ms_type_sized(&f->arena, MS_TYPE_BINARY, 4, true);
    assert_int_equal(make(f), MS_INVALID_OPTION);
    ms_status_clear(&f->st);
    f->fields[0].type = simple(f, MS_TYPE_SMALLINT);
    assert_int_equal(make(f), MS_OK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(defaults_are_those_of_the_types),           TEST(options_set_what_they_name),
        TEST(mistakes_are_found_at_their_place),         TEST(an_empty_range_is_refused),
        TEST(a_sequence_needs_bounds_in_order_that_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
