/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Casts against a table: over columns, constant vectors and selections, as constants, and as single
 * values; with TRY_CAST giving NULL where CAST fails.
 */
#include "testing.h"

#include "fixture.h"

typedef struct sample {
    const char *from;
    const char *value;
    const char *to;
    const char *result; /* NULL, or an error's name with a ! in front */
} sample;

static const sample samples[] = {
    /* Among integers: the low bits. */
    {"INT", "2147483647", "BIGINT", "2147483647"},
    {"BIGINT", "4294967297", "INT", "1"},
    {"INT", "200", "TINYINT", "-56"},
    {"BIGINT", "9223372036854775807", "SMALLINT", "-1"},
    /* Floats to integers: cut, saturated, narrow ones by way of INT. */
    {"DOUBLE", "9234567891.12", "INT", "2147483647"},
    {"DOUBLE", "NaN", "INT", "0"},
    {"DOUBLE", "-1.9", "BIGINT", "-1"},
    {"DOUBLE", "1e30", "BIGINT", "9223372036854775807"},
    {"DOUBLE", "128.75", "TINYINT", "-128"},
    {"DOUBLE", "32768.75", "SMALLINT", "-32768"},
    {"DOUBLE", "Infinity", "TINYINT", "-1"},
    {"DOUBLE", "123456.78", "SMALLINT", "-7616"},
    {"FLOAT", "1.5", "INT", "1"},
    {"DOUBLE", "0.1", "FLOAT", "0.1"},
    {"BIGINT", "16777217", "FLOAT", "1.6777216E7"},
    {"INT", "7", "DOUBLE", "7.0"},
    /* Decimals. */
    {"DECIMAL(7, 2)", "91235.87", "SMALLINT", "25699"},
    {"DECIMAL(15, 2)", "3276913443134.87", "INT", "-146603714"},
    {"DECIMAL(5, 2)", "-1.99", "INT", "-1"},
    {"DECIMAL(5, 2)", "1.50", "DOUBLE", "1.5"},
    {"DECIMAL(20, 2)", "1.50", "FLOAT", "1.5"},
    {"DECIMAL(5, 2)", "1.25", "DECIMAL(3, 1)", "1.3"},
    {"DECIMAL(5, 2)", "-1.25", "DECIMAL(3, 1)", "-1.3"},
    {"DECIMAL(5, 2)", "999.99", "DECIMAL(4, 2)", "NULL"},
    {"DECIMAL(5, 2)", "1.25", "DECIMAL(30, 10)", "1.2500000000"},
    {"DECIMAL(2, 1)", "9.9", "DECIMAL(1, 0)", "NULL"},
    {"INT", "12", "DECIMAL(5, 2)", "12.00"},
    {"BIGINT", "1234567890123456789", "DECIMAL(38, 10)", "1234567890123456789.0000000000"},
    {"INT", "12345", "DECIMAL(3, 0)", "NULL"},
    {"DOUBLE", "0.1", "DECIMAL(5, 3)", "0.100"},
    {"DOUBLE", "NaN", "DECIMAL(5, 3)", "NULL"},
    {"DOUBLE", "1e10", "DECIMAL(5, 3)", "NULL"},
    /* Booleans. */
    {"BOOLEAN", "TRUE", "INT", "1"},
    {"BOOLEAN", "FALSE", "DECIMAL(5, 2)", "0.00"},
    {"BOOLEAN", "TRUE", "DECIMAL(2, 2)", "NULL"},
    {"BOOLEAN", "TRUE", "DOUBLE", "1.0"},
    {"INT", "-3", "BOOLEAN", "TRUE"},
    {"DOUBLE", "0.0", "BOOLEAN", "FALSE"},
    {"DECIMAL(5, 2)", "0.01", "BOOLEAN", "TRUE"},
    /* Text to numbers. */
    {"STRING", "1.234", "INT", "1"},
    {"STRING", " 42 ", "INT", "42"},
    {"STRING", "+7", "BIGINT", "7"},
    {"STRING", "1x", "INT", "!INVALID_CAST"},
    {"STRING", "", "INT", "!INVALID_CAST"},
    {"STRING", "300", "TINYINT", "!NUMERIC_OUT_OF_RANGE"},
    {"STRING", "99999999999999999999", "BIGINT", "!NUMERIC_OUT_OF_RANGE"},
    {"STRING", "1e3", "DOUBLE", "1000.0"},
    {"STRING", "NaN", "DOUBLE", "NaN"},
    {"STRING", "abc", "FLOAT", "!INVALID_CAST"},
    {"STRING", "1.235", "DECIMAL(5, 2)", "1.24"},
    {"STRING", "1e2", "DECIMAL(5, 2)", "100.00"},
    {"STRING", "12345.6", "DECIMAL(5, 2)", "!NUMERIC_OUT_OF_RANGE"},
    {"STRING", "True", "BOOLEAN", "TRUE"},
    {"STRING", "n", "BOOLEAN", "FALSE"},
    {"STRING", " true", "BOOLEAN", "!INVALID_CAST"},
    /* Text to dates. */
    {"STRING", "2020-02-29", "DATE", "2020-02-29"},
    {"STRING", "2021-02-30", "DATE", "!INVALID_CAST"},
    {"STRING", "12:34:56.789", "TIME(3)", "12:34:56.789"},
    {"STRING", "2021-02-30", "TIMESTAMP(3)", "2021-02-28 00:00:00.000"},
    {"STRING", "2020-01-01 01:02:03.123456789", "TIMESTAMP(3)", "2020-01-01 01:02:03.123"},
    {"STRING", "2020-01-01T01:02:03", "TIMESTAMP(3)", "!INVALID_CAST"},
    {"STRING", "2020-07-01 12:00:00", "TIMESTAMP_LTZ(3)", "2020-07-01 12:00:00.000"},
    /* To text. */
    {"BOOLEAN", "TRUE", "STRING", "TRUE"},
    {"BOOLEAN", "TRUE", "CHAR(6)", "TRUE  "},
    {"BOOLEAN", "TRUE", "VARCHAR(3)", "TRU"},
    {"INT", "-5", "STRING", "-5"},
    {"DECIMAL(5, 3)", "9.87", "STRING", "9.870"},
    {"DOUBLE", "1e10", "STRING", "1.0E10"},
    {"FLOAT", "0.1", "STRING", "0.1"},
    {"DATE", "2020-01-02", "STRING", "2020-01-02"},
    {"TIME(3)", "10:15:30.5", "STRING", "10:15:30.5"},
    {"TIMESTAMP(3)", "2020-01-02 03:04:05.1", "STRING", "2020-01-02 03:04:05.100"},
    {"TIMESTAMP(0)", "2020-01-02 03:04:05", "STRING", "2020-01-02 03:04:05"},
    {"INTERVAL MONTH", "84", "STRING", "+7-00"},
    {"INTERVAL SECOND(3)", "123456789", "STRING", "+1 10:17:36.789"},
    {"ARRAY<INT>", "[1, NULL]", "STRING", "[1, NULL]"},
    {"MAP<STRING, INT>", "{a=1, b=NULL}", "STRING", "{a=1, b=NULL}"},
    {"ROW<`a` INT, `b` STRING>", "(123, abc)", "STRING", "(123, abc)"},
    {"ROW<`a` INT, `b` STRING>", "(123, abc)", "VARCHAR(4)", "(123"},
    {"BYTES", "414243", "STRING", "ABC"},
    {"BYTES", "00ff", "STRING", "!INVALID_CAST"},
    {"STRING", "abcdef", "VARCHAR(3)", "abc"},
    {"STRING", "\xC3\x84\xC3\x96\xC3\x9C", "VARCHAR(2)", "\xC3\x84\xC3\x96"},
    {"STRING", "ab", "CHAR(4)", "ab  "},
    {"STRING", "abcdefghijklmnopqrstuvwxyz", "CHAR(30)", "abcdefghijklmnopqrstuvwxyz    "},
    {"CHAR(3)", "abc", "STRING", "abc"},
    /* Bytes. */
    {"STRING", "AB", "BYTES", "x'4142'"},
    {"STRING", "ABC", "BINARY(2)", "x'4142'"},
    {"BYTES", "41", "BINARY(3)", "x'410000'"},
    {"BYTES", "414243", "VARBINARY(2)", "x'4142'"},
    /* Dates and times. */
    {"TIMESTAMP(3)", "2020-01-02 03:04:05.678", "DATE", "2020-01-02"},
    {"TIMESTAMP(3)", "1969-12-31 23:59:59.999", "DATE", "1969-12-31"},
    {"TIMESTAMP(3)", "2020-01-02 03:04:05.678", "TIME(3)", "03:04:05.678"},
    {"TIMESTAMP(6)", "2020-01-02 03:04:05.678901", "TIMESTAMP(3)", "2020-01-02 03:04:05.678"},
    {"TIMESTAMP(6)", "1969-12-31 23:59:59.999999", "TIMESTAMP(0)", "1969-12-31 23:59:59"},
    {"DATE", "2020-01-02", "TIMESTAMP(3)", "2020-01-02 00:00:00.000"},
    {"TIME(0)", "01:02:03", "TIMESTAMP(3)", "1970-01-01 01:02:03.000"},
    {"TIMESTAMP_LTZ(3)", "2020-07-01 12:00:00", "TIMESTAMP(3)", "2020-07-01 12:00:00.000"},
    {"TIMESTAMP(3)", "2020-07-01 12:00:00", "TIMESTAMP_LTZ(3)", "2020-07-01 12:00:00.000"},
    /* Intervals and numbers. */
    {"INTERVAL MONTH", "14", "INT", "14"},
    {"INTERVAL SECOND(3)", "1500", "BIGINT", "1500"},
    {"INT", "14", "INTERVAL MONTH", "+1-02"},
    {"BIGINT", "1500", "INTERVAL SECOND(3)", "+0 00:00:01.500"},
    /* Nested. */
    {"ARRAY<INT>", "[1, 2]", "ARRAY<STRING>", "[1, 2]"},
    {"ARRAY<STRING>", "[1, x]", "ARRAY<INT>", "!INVALID_CAST"},
    {"ROW<`a` INT, `b` STRING>", "(1, 2)", "ROW<`x` BIGINT, `y` INT>", "(1, 2)"},
    {"ROW<`a` INT>", "(1)", "ROW<`x` INT>", "(1)"},
    {"ROW<`a` INT>", "(NULL)", "ROW<`x` INT NOT NULL>", "!INVALID_CAST"},
    {"MAP<STRING, INT>", "{a=1}", "MAP<STRING, DOUBLE>", "{a=1.0}"},
    /* What there is not. */
    {"INT", "1", "DATE", "!TYPE_MISMATCH"},
    {"INT", "1", "TIMESTAMP_LTZ(3)", "!TYPE_MISMATCH"},
    {"BYTES", "00", "INT", "!TYPE_MISMATCH"},
    {"DATE", "2020-01-01", "INT", "!TYPE_MISMATCH"},
    {"ARRAY<INT>", "[1]", "INT", "!TYPE_MISMATCH"},
    {"STRING", "2020-01-01", "TIMESTAMP(9)", "!NOT_SUPPORTED"},
};
#define SAMPLE_COUNT (sizeof(samples) / sizeof(samples[0]))

static bool is_error(const sample *s)
{
    return s->result[0] == '!';
}

/* With wanted NULL: NULL, as from TRY_CAST. */
static void check_value(fixture *f, const sample *s, const ms_value *value, const char *wanted,
                        const char *how)
{
    ms_str text = text_of(f, value);
    if (!ms_str_equals(text, ms_str_cstr(wanted))) {
        fail_msg("CAST('%s' AS %s) (%s) gave %.*s, not %s", s->value, s->to, how, MS_STR_ARG(text),
                 wanted);
    }
}

static void check_code(const sample *s, ms_rc code, const char *how)
{
    if (strcmp(ms_rc_name(code), is_error(s) ? s->result + 1 : "OK") != 0) {
        fail_msg("CAST('%s' AS %s) (%s) gave %s", s->value, s->to, how, ms_rc_name(code));
    }
}

static void run(fixture *f, const sample *s, const ms_expr *expr, bool is_try, ms_encoding encoding,
                bool sparse)
{
    static const uint16_t rows[] = {1, 65, 69};
    const char *wanted = is_try && is_error(s) ? "NULL" : s->result;
    const ms_type *type = type_of(f, s->from);
    ms_field field = {ms_str_lit("x"), type};
    ms_schema schema = {1, &field};
    ms_vec column;
    ms_value in = value_of(f, type, ms_str_cstr(s->value));
    ms_vec_alloc(&column, type, FIXTURE_ROWS, &f->arena);
    for (uint32_t row = 0; row < FIXTURE_ROWS; row++) {
        ms_value_to_vec(&f->arena, &in, &column, row, FIXTURE_ROWS);
    }
    column.encoding = encoding;
    ms_batch batch = {.rows = FIXTURE_ROWS, .column_count = 1, .columns = &column};
    batch.sel = sparse ? rows : NULL;
    batch.sel_count = sparse ? 3 : 0;
    ms_program_spec spec = {.outputs = &expr, .output_count = 1, .input = &schema};
    const ms_program *program = NULL;
    ms_status st = {0};
    assert_ok(ms_program_compile(&f->arena, &spec, &program, &st));
    ms_evaluator *ev = ms_evaluator_create(program, FIXTURE_ROWS);
    ms_batch frame;
    ms_eval_error error;
    ms_evaluator_run(ev, &batch, &frame, &error);
    if (!is_try) {
        check_code(s, error.code, "program");
    }
    if (error.code == MS_OK) {
        ms_value value = ms_value_from_vec(&f->arena, &frame.columns[0], 65);
        check_value(f, s, &value, wanted, is_try ? "TRY_CAST" : "program");
    } else {
        assert_int_equal(ms_evaluator_explain(ev, &batch, &error, &st), error.code);
        assert_true(strstr(st.message, "cast") != NULL || strstr(st.message, "range") != NULL);
    }
    ms_evaluator_destroy(ev);
}

static void check_sample(const sample *s)
{
    fixture f;
    fixture_open(&f);
    const ms_type *to = type_of(&f, s->to);
    for (int is_try = 0; is_try < 2; is_try++) {
        ms_build_cast_mode mode = is_try ? MS_BUILD_TRY_CAST : MS_BUILD_CAST;
        const ms_expr *x = ms_expr_column(&f.arena, 0, type_of(&f, s->from), (ms_span){6, 7});
        const ms_expr *expr = NULL;
        ms_rc rc = ms_build_cast(&f.build, x, to, mode, (ms_span){1, 9}, &expr);
        if (rc != MS_OK) {
            check_code(s, rc, "building");
            break;
        }
        run(&f, s, expr, is_try, MS_ENC_FLAT, false);
        run(&f, s, expr, is_try, MS_ENC_FLAT, true);
        run(&f, s, expr, is_try, MS_ENC_CONST, false);
        x = constant_of(&f, s->from, s->value, (ms_span){6, 7});
        assert_int_equal(ms_build_cast(&f.build, x, to, mode, (ms_span){1, 9}, &expr), MS_OK);
        run(&f, s, expr, is_try, MS_ENC_FLAT, false);
    }
    fixture_close(&f);
}

static void casts_give_what_the_table_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        check_sample(&samples[i]);
    }
}

static void local_timestamps_are_read_and_shown_in_the_zone(void **state)
{
    (void)state;
    fixture f;
    ms_status st = {0};
    fixture_open(&f);
    ms_eval_config config = {.time_zone = ms_str_lit("Europe/Berlin")};
    const ms_type *local = type_of(&f, "TIMESTAMP_LTZ(3)");
    const ms_type *string = type_of(&f, "STRING");
    ms_value text = ms_value_str(string, ms_str_lit("2020-07-01 12:00:00"));
    ms_value instant;
    ms_value shown;
    assert_ok(ms_cast_value(&f.arena, &config, &text, local, &instant, &st));
    assert_int_equal(instant.u.i, INT64_C(1593597600000000)); /* 10:00 in UTC */
    assert_ok(ms_cast_value(&f.arena, &config, &instant, string, &shown, &st));
    assert_str_equal(shown.u.str, "2020-07-01 12:00:00.000");
    assert_ok(ms_cast_value(&f.arena, &config, &instant, type_of(&f, "DATE"), &shown, &st));
    assert_int_equal(shown.u.i, 18444);
    fixture_close(&f);
}

static void nullability_follows_the_cast(void **state)
{
    (void)state;
    fixture f;
    fixture_open(&f);
    const struct {
        const char *from;
        const char *to;
        bool is_try;
        bool nullable;
    } cases[] = {
        {"INT NOT NULL", "BIGINT", false, false},
        {"INT NOT NULL", "BIGINT", true, false},
        {"INT", "BIGINT", false, true},
        {"STRING NOT NULL", "INT", false, false},
        {"STRING NOT NULL", "INT", true, true},
        {"BIGINT NOT NULL", "DECIMAL(5, 0)", false, true},
        {"INT NOT NULL", "DECIMAL(10, 0)", false, false},
        {"BOOLEAN NOT NULL", "DECIMAL(1, 0)", false, false},
        {"BOOLEAN NOT NULL", "DECIMAL(1, 1)", false, true},
        {"DECIMAL(5, 2) NOT NULL", "DECIMAL(5, 1)", false, false},
        {"DECIMAL(5, 2) NOT NULL", "DECIMAL(4, 1)", false, true}, /* 999.99 becomes 1000.0 */
        {"DECIMAL(5, 2) NOT NULL", "DECIMAL(3, 1)", false, true},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const ms_type *type = ms_typing_cast_result(&f.arena, type_of(&f, cases[i].from),
                                                    type_of(&f, cases[i].to), cases[i].is_try);
        assert_int_equal(type->nullable, cases[i].nullable);
    }
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(casts_give_what_the_table_says),
        cmocka_unit_test(local_timestamps_are_read_and_shown_in_the_zone),
        cmocka_unit_test(nullability_follows_the_cast),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
