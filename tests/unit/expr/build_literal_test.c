/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "fixture.h"

static fixture f;

static int open_each(void **state)
{
    (void)state;
    fixture_open(&f);
    return 0;
}

static int close_each(void **state)
{
    (void)state;
    fixture_close(&f);
    return 0;
}

static void check(ms_rc rc, const ms_expr *expr, const char *type, const char *value)
{
    if (type == NULL) {
        assert_int_not_equal(rc, MS_OK);
        assert_int_equal(f.st.span.start, 5);
        assert_null(expr);
        ms_status_clear(&f.st);
        return;
    }
    if (rc != MS_OK) {
        fail_msg("%s: %s", value, f.st.message);
    }
    assert_str_equal(ms_type_text(&f.arena, expr->type), type);
    assert_str_equal(text_of(&f, expr->value), value);
}

static void number(const char *digits, bool is_negative, const char *type, const char *value)
{
    const ms_expr *out = NULL;
    ms_rc rc = ms_build_number(&f.build, ms_str_cstr(digits), is_negative, (ms_span){5, 9}, &out);
    check(rc, out, type, value);
}

static void numbers_have_the_type_of_their_digits(void **state)
{
    (void)state;
    number("0", false, "INT NOT NULL", "0");
    number("2147483648", false, "BIGINT NOT NULL", "2147483648");
    number("2147483648", true, "INT NOT NULL", "-2147483648");
    number("9223372036854775808", true, "BIGINT NOT NULL", "-9223372036854775808");
    number("9223372036854775808", false, NULL, NULL);
    number("1.50", false, "DECIMAL(3, 2) NOT NULL", "1.50");
    number("1.50", true, "DECIMAL(3, 2) NOT NULL", "-1.50");
    number(".5", false, "DECIMAL(1, 1) NOT NULL", "0.5");
    number("5.", false, "INT NOT NULL", "5");
    number("1e3", false, "DOUBLE NOT NULL", "1000.0");
    number("1.5E-3", true, "DOUBLE NOT NULL", "-0.0015");
    number("1e999", false, NULL, NULL);
    number("0.1234567890123456789", false, "DECIMAL(19, 19) NOT NULL", "0.1234567890123456789");
    number("0.12345678901234567890123456789012345678901", false, NULL, NULL);
}

static void temporal(ms_type_kind kind, const char *text, const char *type, const char *value)
{
    const ms_expr *out = NULL;
    ms_rc rc = ms_build_temporal(&f.build, kind, ms_str_cstr(text), (ms_span){5, 9}, &out);
    check(rc, out, type, value);
}

static void dates_and_times_are_read_strictly(void **state)
{
    (void)state;
    temporal(MS_TYPE_DATE, "2020-02-29", "DATE NOT NULL", "2020-02-29");
    temporal(MS_TYPE_DATE, "2021-02-29", NULL, NULL);
    temporal(MS_TYPE_DATE, "yesterday", NULL, NULL);
    temporal(MS_TYPE_TIME, "12:34:56", "TIME(0) NOT NULL", "12:34:56");
    temporal(MS_TYPE_TIME, "12:34:56.5", "TIME(1) NOT NULL", "12:34:56.5");
    temporal(MS_TYPE_TIME, "12:34:56.1234", NULL, NULL);
    temporal(MS_TYPE_TIMESTAMP, "2020-02-29 12:34:56", "TIMESTAMP(0) NOT NULL",
             "2020-02-29 12:34:56");
    temporal(MS_TYPE_TIMESTAMP, "2020-02-29 12:34:56.123456", "TIMESTAMP(6) NOT NULL",
             "2020-02-29 12:34:56.123456");
    temporal(MS_TYPE_TIMESTAMP, "2020-02-29 12:34:56.1234567", NULL, NULL);
    temporal(MS_TYPE_TIMESTAMP, "2020-02-29", NULL, NULL);
}

static void interval(const char *text, bool is_negative, ms_interval_qualifier q, const char *type,
                     const char *value)
{
    const ms_expr *out = NULL;
    ms_rc rc =
        ms_build_interval(&f.build, ms_str_cstr(text), is_negative, &q, (ms_span){5, 9}, &out);
    check(rc, out, type, value);
}

static ms_interval_qualifier range(ms_interval_unit from, ms_interval_unit to)
{
    return (ms_interval_qualifier){from, to, -1, -1};
}

static void intervals_follow_their_qualifier(void **state)
{
    (void)state;
    const char *months = "INTERVAL MONTH NOT NULL";
    const char *millis = "INTERVAL SECOND(3) NOT NULL";
    interval("5", false, range(MS_UNIT_SECOND, MS_UNIT_SECOND), millis, "+0 00:00:05.000");
    interval("5.25", true, range(MS_UNIT_SECOND, MS_UNIT_SECOND), millis, "-0 00:00:05.250");
    interval("-5", true, range(MS_UNIT_SECOND, MS_UNIT_SECOND), millis, "+0 00:00:05.000");
    interval("1 10:17:36.789", false, range(MS_UNIT_DAY, MS_UNIT_SECOND), millis,
             "+1 10:17:36.789");
    interval("10:17", false, range(MS_UNIT_HOUR, MS_UNIT_MINUTE), millis, "+0 10:17:00.000");
    interval("10:60", false, range(MS_UNIT_HOUR, MS_UNIT_MINUTE), NULL, NULL);
    interval("2", false, range(MS_UNIT_WEEK, MS_UNIT_WEEK), millis, "+14 00:00:00.000");
    interval("2", false, range(MS_UNIT_QUARTER, MS_UNIT_QUARTER), months, "+0-06");
    interval("7-03", false, range(MS_UNIT_YEAR, MS_UNIT_MONTH), months, "+7-03");
    interval("7-12", false, range(MS_UNIT_YEAR, MS_UNIT_MONTH), NULL, NULL);
    interval("100", false, range(MS_UNIT_DAY, MS_UNIT_DAY), NULL, NULL);
    interval("100", false, (ms_interval_qualifier){MS_UNIT_DAY, MS_UNIT_DAY, 3, -1}, millis,
             "+100 00:00:00.000");
    interval("1.5", false, range(MS_UNIT_DAY, MS_UNIT_DAY), NULL, NULL);
    interval("", false, range(MS_UNIT_DAY, MS_UNIT_DAY), NULL, NULL);
    interval("1", false, range(MS_UNIT_MONTH, MS_UNIT_DAY), NULL, NULL);
    interval("1 00:00:00", false, (ms_interval_qualifier){MS_UNIT_DAY, MS_UNIT_SECOND, 4, -1}, NULL,
             NULL);
    interval("1.1234567", false, range(MS_UNIT_SECOND, MS_UNIT_SECOND), NULL, NULL);
    interval("9999999999", false, (ms_interval_qualifier){MS_UNIT_YEAR, MS_UNIT_YEAR, 10, -1}, NULL,
             NULL);
}

static void intervals_of_expressions_are_multiples(void **state)
{
    (void)state;
    const ms_expr *out = NULL;
    const ms_expr *five = ms_build_int(&f.build, 5, (ms_span){5, 6});
    assert_int_equal(ms_build_interval_of(&f.build, five, MS_UNIT_MINUTE, (ms_span){5, 9}, &out),
                     MS_OK);
    check(MS_OK, out, "INTERVAL SECOND(3) NOT NULL", "+0 00:05:00.000");
    const ms_expr *x = ms_expr_column(&f.arena, 0, type_of(&f, "INT"), (ms_span){5, 6});
    assert_int_equal(ms_build_interval_of(&f.build, x, MS_UNIT_YEAR, (ms_span){5, 9}, &out), MS_OK);
    assert_str_equal(ms_expr_text(&f.arena, out, NULL), "CAST($0 AS BIGINT) * INTERVAL '+1-00'");
    x = ms_expr_column(&f.arena, 0, type_of(&f, "DOUBLE"), (ms_span){5, 6});
    assert_int_equal(ms_build_interval_of(&f.build, x, MS_UNIT_YEAR, (ms_span){5, 9}, &out),
                     MS_NOT_SUPPORTED);
}

static void texts_and_bytes_have_their_length(void **state)
{
    (void)state;
    const ms_expr *out = ms_build_text(&f.build, ms_str_lit("\xC3\xA9x"), ms_span_none);
    assert_str_equal(ms_type_text(&f.arena, out->type), "CHAR(2) NOT NULL");
    out = ms_build_text(&f.build, ms_str_lit(""), ms_span_none);
    assert_str_equal(ms_type_text(&f.arena, out->type), "CHAR(0) NOT NULL");
    ms_rc rc = ms_build_hex(&f.build, ms_str_lit("0aFF"), (ms_span){5, 9}, &out);
    check(rc, out, "BINARY(2) NOT NULL", "x'0aff'");
    rc = ms_build_hex(&f.build, ms_str_lit("0"), (ms_span){5, 9}, &out);
    check(rc, out, NULL, NULL);
    out = ms_build_bool(&f.build, true, ms_span_none);
    assert_true(ms_expr_is_literal_bool(out, true));
    assert_true(ms_expr_is_null_literal(ms_build_null(&f.build, ms_span_none)));
    out = ms_build_bigint(&f.build, -7, ms_span_none);
    assert_int_equal(out->value->u.i, -7);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_each, close_each)
    const struct CMUnitTest tests[] = {
        TEST(numbers_have_the_type_of_their_digits), TEST(dates_and_times_are_read_strictly),
        TEST(intervals_follow_their_qualifier),      TEST(intervals_of_expressions_are_multiples),
        TEST(texts_and_bytes_have_their_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
