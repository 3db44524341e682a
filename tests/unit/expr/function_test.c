/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every built-in function against a table: argument types and values, result type and value, or the
 * error. Each line is evaluated by programs with all arguments as columns, as constant vectors, as
 * constants of the expression, and mixed, over all rows and over a selection, and by the
 * interpreter.
 */
#include "testing.h"

#include "fixture.h"

#define ARGS_MAX 4u

typedef struct sample {
    const char *name;
    const char *args[2 * ARGS_MAX]; /* type, value, type, value ... */
    const char *result_type;
    const char *result; /* text, NULL, or an error's name with a ! in front */
} sample;

#define I "INT"
#define B "BIGINT"
#define S "STRING"
#define N "BOOLEAN"

static const sample samples[] = {
    /* Comparison. */
    {"=", {I, "1", I, "1"}, N, "TRUE"},
    {"=", {I, "1", B, "2"}, N, "FALSE"},
    {"=", {I, "1", I, "NULL"}, N, "NULL"},
    {"=", {"DOUBLE", "NaN", "DOUBLE", "NaN"}, N, "FALSE"},
    {"<>", {"DOUBLE", "NaN", "DOUBLE", "NaN"}, N, "TRUE"},
    {"=", {"DOUBLE", "-0.0", "DOUBLE", "0.0"}, N, "TRUE"},
    {"<", {"DOUBLE", "NaN", "DOUBLE", "1"}, N, "FALSE"},
    {"<", {N, "FALSE", N, "TRUE"}, N, "TRUE"},
    {"=", {"DECIMAL(5, 2)", "1.00", "DECIMAL(3, 0)", "1"}, N, "TRUE"},
    {"=", {"DECIMAL(38, 18)", "1.000000000000000001", "DECIMAL(38, 0)", "1"}, N, "FALSE"},
    {"<",
     {"DECIMAL(38, 0)", "99999999999999999999999999999999999999", "DECIMAL(38, 38)", "0.5"},
     N,
     "FALSE"},
    {"<", {"DECIMAL(5, 2)", "1.99", I, "2"}, N, "TRUE"},
    {"=", {"DECIMAL(5, 2)", "1.50", "DOUBLE", "1.5"}, N, "TRUE"},
    {"<", {S, "abc", S, "abd"}, N, "TRUE"},
    {"<", {S, "abcdabcdabcdabcd", S, "abcdabcdabcdabce"}, N, "TRUE"},
    {"<", {S, "a", S, "\xC3\xA9"}, N, "TRUE"},
    {"=", {"CHAR(3)", "a  ", S, "a"}, N, "FALSE"},
    {"=", {S, "0123456789abcdef", S, "0123456789abcdef"}, N, "TRUE"},
    {"<>", {S, "short", S, "short"}, N, "FALSE"},
    {"=", {"BYTES", "00ff", "BYTES", "00ff"}, N, "TRUE"},
    {"<", {"DATE", "2020-01-31", "TIMESTAMP(3)", "2020-01-31 00:00:00.001"}, N, "TRUE"},
    {"=", {"TIMESTAMP(3)", "2020-01-01 00:00:00", S, "2020-01-01"}, N, "TRUE"},
    {"=", {"DATE", "2020-01-01", S, "2020-01-01"}, N, "TRUE"},
    {"<=", {I, "2", I, "2"}, N, "TRUE"},
    {">", {I, "2", I, "2"}, N, "FALSE"},
    {">=", {"DATE", "2020-01-02", "DATE", "2020-01-01"}, N, "TRUE"},
    {"=", {"INTERVAL SECOND(3)", "1000", "INTERVAL SECOND(3)", "1000"}, N, "TRUE"},
    {"=", {"ARRAY<INT>", "[1, NULL]", "ARRAY<INT>", "[1, NULL]"}, N, "TRUE"},
    {"=", {"ARRAY<INT>", "[1, 2]", "ARRAY<BIGINT>", "[1, 3]"}, N, "FALSE"},
    {"=", {"MAP<STRING, INT>", "{a=1, b=2}", "MAP<STRING, INT>", "{b=2, a=1}"}, N, "TRUE"},
    {"<>", {"ROW<`a` INT, `b` STRING>", "(1, x)", "ROW<`a` INT, `b` STRING>", "(1, y)"}, N, "TRUE"},
    {"<", {"ARRAY<INT>", "[1]", "ARRAY<INT>", "[2]"}, NULL, "!UNDEFINED_FUNCTION"},
    {"=", {I, "1", S, "1"}, NULL, "!UNDEFINED_FUNCTION"},
    {"=", {I, "1", N, "TRUE"}, NULL, "!UNDEFINED_FUNCTION"},
    {"IS DISTINCT FROM", {I, "1", I, "NULL"}, "BOOLEAN NOT NULL", "TRUE"},
    {"IS DISTINCT FROM", {I, "NULL", I, "NULL"}, "BOOLEAN NOT NULL", "FALSE"},
    {"IS NOT DISTINCT FROM", {S, "x", S, "x"}, "BOOLEAN NOT NULL", "TRUE"},
    {"IS DISTINCT FROM", {"DOUBLE", "NaN", "DOUBLE", "NaN"}, "BOOLEAN NOT NULL", "TRUE"},
    {"BETWEEN", {I, "12", I, "NULL", I, "10"}, N, "FALSE"},
    {"BETWEEN", {I, "12", I, "10", I, "NULL"}, N, "NULL"},
    {"NOT BETWEEN", {I, "12", I, "15", I, "NULL"}, N, "TRUE"},
    {"BETWEEN", {I, "5", I, "10", I, "1"}, N, "FALSE"},
    {"BETWEEN SYMMETRIC", {I, "5", I, "10", I, "1"}, N, "TRUE"},
    {"NOT BETWEEN SYMMETRIC", {I, "5", I, "10", I, "1"}, N, "FALSE"},

    /* Logic. */
    {"AND", {N, "FALSE", N, "NULL"}, N, "FALSE"},
    {"AND", {N, "NULL", N, "FALSE"}, N, "FALSE"},
    {"AND", {N, "TRUE", N, "NULL"}, N, "NULL"},
    {"AND", {N, "TRUE", N, "TRUE", N, "TRUE"}, N, "TRUE"},
    {"OR", {N, "TRUE", N, "NULL"}, N, "TRUE"},
    {"OR", {N, "NULL", N, "FALSE"}, N, "NULL"},
    {"OR", {N, "FALSE", N, "FALSE"}, N, "FALSE"},
    {"AND", {I, "1", N, "TRUE"}, NULL, "!TYPE_MISMATCH"},
    {"NOT", {N, "TRUE"}, N, "FALSE"},
    {"NOT", {N, "NULL"}, N, "NULL"},
    {"IS NULL", {I, "NULL"}, "BOOLEAN NOT NULL", "TRUE"},
    {"IS NOT NULL", {I, "NULL"}, "BOOLEAN NOT NULL", "FALSE"},
    {"IS NULL", {"ROW<`a` INT>", "(NULL)"}, "BOOLEAN NOT NULL", "FALSE"},
    {"IS TRUE", {N, "NULL"}, "BOOLEAN NOT NULL", "FALSE"},
    {"IS NOT TRUE", {N, "NULL"}, "BOOLEAN NOT NULL", "TRUE"},
    {"IS FALSE", {N, "FALSE"}, "BOOLEAN NOT NULL", "TRUE"},
    {"IS NOT FALSE", {N, "NULL"}, "BOOLEAN NOT NULL", "TRUE"},
    {"IS UNKNOWN", {N, "NULL"}, "BOOLEAN NOT NULL", "TRUE"},
    {"IS NOT UNKNOWN", {N, "TRUE"}, "BOOLEAN NOT NULL", "TRUE"},
    {"IN", {I, "4", I, "1", I, "NULL"}, N, "NULL"},
    {"IN", {I, "1", I, "1", I, "NULL"}, N, "TRUE"},
    {"NOT IN", {I, "4", I, "1", I, "NULL"}, N, "NULL"},
    {"IN", {I, "4", B, "1", B, "4"}, N, "TRUE"},
    {"IN", {S, "b", "CHAR(1)", "a", "CHAR(1)", "b"}, N, "TRUE"},
    {"IN", {"DOUBLE", "NaN", "DOUBLE", "NaN"}, N, "FALSE"},
    {"IN", {"DOUBLE", "-0.0", "DOUBLE", "0.0"}, N, "TRUE"},
    {"IN", {"DECIMAL(10, 2)", "1.00", I, "1", I, "2"}, N, "TRUE"},
    {"IN",
     {"DECIMAL(38, 0)", "1", "DECIMAL(38, 38)", "0.99999999999999999999999999999999999999"},
     N,
     "FALSE"},
    {"IN", {"DATE", "2020-01-01", "CHAR(10)", "2020-01-01"}, N, "TRUE"},
    {"IN", {I, "1", S, "1"}, NULL, "!UNDEFINED_FUNCTION"},

    /* Integers. */
    {"+", {I, "2147483647", I, "1"}, I, "-2147483648"},
    {"+", {I, "1", B, "2"}, B, "3"},
    {"+", {"TINYINT", "127", "TINYINT", "1"}, "TINYINT", "-128"},
    {"-", {I, "-2147483648", I, "1"}, I, "2147483647"},
    {"*", {B, "9223372036854775807", B, "2"}, B, "-2"},
    {"*", {"SMALLINT", "300", "SMALLINT", "300"}, "SMALLINT", "24464"},
    {"/", {I, "7", I, "2"}, I, "3"},
    {"/", {I, "-7", I, "2"}, I, "-3"},
    {"/", {I, "-2147483648", I, "-1"}, I, "-2147483648"},
    {"/", {I, "1", I, "0"}, I, "!DIVISION_BY_ZERO"},
    {"/", {I, "NULL", I, "0"}, I, "NULL"},
    {"%", {I, "-7", I, "3"}, I, "-1"},
    {"%", {I, "7", I, "-3"}, I, "1"},
    {"%", {B, "7", I, "3"}, I, "1"},
    {"%", {B, "-9223372036854775808", I, "-1"}, I, "0"},
    {"MOD", {I, "5", "TINYINT", "3"}, "TINYINT", "2"},
    {"MOD", {I, "1", I, "0"}, I, "!DIVISION_BY_ZERO"},
    {"%", {"DOUBLE", "1", I, "2"}, NULL, "!UNDEFINED_FUNCTION"},
    {"-", {I, "-2147483648"}, I, "-2147483648"},
    {"-", {B, "5"}, B, "-5"},
    {"+", {I, "5"}, I, "5"},
    {"ABS", {I, "-5"}, I, "5"},
    {"ABS", {I, "-2147483648"}, I, "-2147483648"},
    {"+", {S, "1", I, "1"}, NULL, "!UNDEFINED_FUNCTION"},

    /* Floats. */
    {"+", {"FLOAT", "0.1", "FLOAT", "0.2"}, "FLOAT", "0.3"},
    {"+", {I, "1", "FLOAT", "0.5"}, "FLOAT", "1.5"},
    {"+", {"FLOAT", "0.5", "DOUBLE", "0.25"}, "DOUBLE", "0.75"},
    {"/", {"DOUBLE", "1", "DOUBLE", "0"}, "DOUBLE", "Infinity"},
    {"/", {"DOUBLE", "0", "DOUBLE", "0"}, "DOUBLE", "NaN"},
    {"*", {"DECIMAL(5, 2)", "1.5", "DOUBLE", "2"}, "DOUBLE", "3.0"},
    {"-", {"DOUBLE", "0.0"}, "DOUBLE", "-0.0"},
    {"ABS", {"DOUBLE", "-0.0"}, "DOUBLE", "0.0"},

    /* Decimals. */
    {"+", {"DECIMAL(5, 2)", "999.99", "DECIMAL(3, 1)", "0.1"}, "DECIMAL(6, 2)", "1000.09"},
    {"-",
     {"DECIMAL(18, 0)", "1", "DECIMAL(18, 18)", "0.1"},
     "DECIMAL(37, 18)",
     "0.900000000000000000"},
    {"*", {B, "100", "DECIMAL(3, 3)", "0.908"}, "DECIMAL(23, 3)", "90.800"},
    {"*", {"DECIMAL(10, 2)", "1.10", "DECIMAL(5, 3)", "2.000"}, "DECIMAL(16, 5)", "2.20000"},
    {"*",
     {"DECIMAL(38, 0)", "99999999999999999999999999999999999999", "DECIMAL(2, 0)", "10"},
     "DECIMAL(38, 0)",
     "NULL"},
    {"+", {"DECIMAL(38, 8)", "1.5", "DECIMAL(32, 8)", "1.5"}, "DECIMAL(38, 7)", "3.0000000"},
    {"/", {"DECIMAL(5, 2)", "1.00", "DECIMAL(5, 2)", "3.00"}, "DECIMAL(13, 8)", "0.33333333"},
    {"/", {"DECIMAL(5, 2)", "-2.00", I, "3"}, "DECIMAL(16, 13)", "-0.6666666666667"},
    {"/", {"DECIMAL(5, 2)", "1.00", I, "0"}, "DECIMAL(16, 13)", "!DIVISION_BY_ZERO"},
    {"%", {"DECIMAL(5, 2)", "5.55", "DECIMAL(3, 1)", "2.0"}, "DECIMAL(4, 2)", "1.55"},
    {"%", {"DECIMAL(5, 0)", "-7", "DECIMAL(2, 0)", "3"}, "DECIMAL(2, 0)", "-1"},
    {"%", {I, "7", "DECIMAL(2, 0)", "4"}, "DECIMAL(2, 0)", "3"},
    {"%", {"DECIMAL(2, 0)", "7", I, "4"}, I, "3"},
    {"-", {"DECIMAL(38, 0)", "5"}, "DECIMAL(38, 0)", "-5"},
    {"ABS", {"DECIMAL(20, 2)", "-1.50"}, "DECIMAL(20, 2)", "1.50"},

    /* Dates and intervals. */
    {"+",
     {"TIMESTAMP(3)", "2020-01-01 00:00:00", "INTERVAL SECOND(3)", "1500"},
     "TIMESTAMP(3)",
     "2020-01-01 00:00:01.500"},
    {"-",
     {"TIMESTAMP(3)", "2020-01-01 00:00:00", "INTERVAL SECOND(3)", "5000"},
     "TIMESTAMP(3)",
     "2019-12-31 23:59:55.000"},
    {"+",
     {"INTERVAL SECOND(3)", "1000", "TIMESTAMP(3)", "2020-01-01 00:00:00"},
     "TIMESTAMP(3)",
     "2020-01-01 00:00:01.000"},
    {"+",
     {"TIMESTAMP(3)", "2020-01-31 12:00:00", "INTERVAL MONTH", "1"},
     "TIMESTAMP(3)",
     "2020-02-29 12:00:00.000"},
    {"-", {"DATE", "2020-03-31", "INTERVAL MONTH", "1"}, "DATE", "2020-02-29"},
    {"+", {"DATE", "2020-03-31", "INTERVAL SECOND(3)", "86400000"}, "DATE", "2020-04-01"},
    {"+", {"DATE", "2020-03-31", "INTERVAL SECOND(3)", "3600000"}, "DATE", "2020-03-31"},
    {"+", {"TIME(0)", "23:00:00", "INTERVAL SECOND(3)", "7200000"}, "TIME(0)", "01:00:00"},
    {"-", {"TIME(0)", "01:00:00", "INTERVAL SECOND(3)", "7200000"}, "TIME(0)", "23:00:00"},
    {"+", {"INTERVAL MONTH", "1", "INTERVAL MONTH", "14"}, "INTERVAL MONTH", "+1-03"},
    {"-",
     {"INTERVAL SECOND(3)", "1", "INTERVAL SECOND(3)", "2"},
     "INTERVAL SECOND(3)",
     "-0 00:00:00.001"},
    {"*", {"INTERVAL SECOND(3)", "1000", I, "3"}, "INTERVAL SECOND(3)", "+0 00:00:03.000"},
    {"*", {I, "3", "INTERVAL MONTH", "2"}, "INTERVAL MONTH", "+0-06"},
    {"/", {"INTERVAL SECOND(3)", "1000", I, "3"}, "INTERVAL SECOND(3)", "+0 00:00:00.333"},
    {"/", {"INTERVAL SECOND(3)", "1000", I, "0"}, "INTERVAL SECOND(3)", "!DIVISION_BY_ZERO"},
    {"-", {"INTERVAL MONTH", "14"}, "INTERVAL MONTH", "-1-02"},
    {"-", {"DATE", "2020-01-01", "DATE", "2019-01-01"}, NULL, "!NOT_SUPPORTED"},
    {"+", {"TIMESTAMP(3)", "2020-01-01 00:00:00", I, "1"}, NULL, "!UNDEFINED_FUNCTION"},
    {"+", {"TIME(0)", "01:00:00", "INTERVAL MONTH", "1"}, NULL, "!UNDEFINED_FUNCTION"},
    {"+",
     {"TIMESTAMP(3)", "2020-01-01 00:00:00", "INTERVAL SECOND(3)", "9223372036854775807"},
     "TIMESTAMP(3)",
     "!NUMERIC_OUT_OF_RANGE"},
    {"TO_TIMESTAMP", {S, "2020-02-03 04:05:06.789"}, "TIMESTAMP(3)", "2020-02-03 04:05:06.789"},
    {"TO_TIMESTAMP", {S, "2020-02-30"}, "TIMESTAMP(3)", "2020-02-29 00:00:00.000"},
    {"TO_TIMESTAMP", {S, "nonsense"}, "TIMESTAMP(3)", "NULL"},
    {"TO_TIMESTAMP",
     {S, "03/02/2020 04:05", S, "dd/MM/yyyy HH:mm"},
     "TIMESTAMP(3)",
     "2020-02-03 04:05:00.000"},
    {"TO_TIMESTAMP",
     {S, "20200203040506789", S, "yyyyMMddHHmmssSSS"},
     "TIMESTAMP(3)",
     "2020-02-03 04:05:06.789"},
    {"TO_TIMESTAMP", {S, "2020-02-03", S, "yyyy/MM/dd"}, "TIMESTAMP(3)", "2020-02-03 00:00:00.000"},
    {"TO_TIMESTAMP", {S, "Mon", S, "EEE"}, NULL, "!NOT_SUPPORTED"},
    {"TO_TIMESTAMP", {I, "1"}, NULL, "!UNDEFINED_FUNCTION"},

    /* Text. */
    {"||", {"CHAR(1)", "a", "CHAR(2)", "bc"}, "CHAR(3)", "abc"},
    {"||", {"CHAR(1)", "a", "VARCHAR(5)", "bc"}, "VARCHAR(6)", "abc"},
    {"||", {S, "a", S, "NULL"}, S, "NULL"},
    {"||", {S, "0123456789", S, "0123456789"}, S, "01234567890123456789"},
    {"||", {"BYTES", "00", "BYTES", "ff"}, "BYTES", "x'00ff'"},
    {"||", {S, "a", I, "1"}, NULL, "!UNDEFINED_FUNCTION"},
    {"CONCAT", {S, "a", "CHAR(1)", "b", S, "c"}, S, "abc"},
    {"CONCAT", {S, "a", S, "NULL"}, S, "NULL"},
    {"CONCAT", {I, "1", S, "a"}, NULL, "!UNDEFINED_FUNCTION"},
    {"CHAR_LENGTH", {S, ""}, I, "0"},
    {"CHAR_LENGTH", {S, "\xC3\x84\xF0\x9F\x98\x80x"}, I, "3"},
    {"CHARACTER_LENGTH", {S, "0123456789abcdefghij"}, I, "20"},
    {"CHAR_LENGTH", {S, "\xFF\xFE"}, I, "2"},
    {"CHAR_LENGTH", {S, "\x80\x80z"}, I, "2"},
    {"UPPER", {S, "abc-xyz{|}~@[`"}, S, "ABC-XYZ{|}~@[`"},
    {"LOWER", {S, "ABC-XYZ[\\]^_@{"}, S, "abc-xyz[\\]^_@{"},
    {"UPPER",
     {S, "stra\xC3\x9F"
         "e"},
     S,
     "STRASSE"},
    {"LOWER", {S, "\xC3\x84\xC3\x96\xC3\x9C"}, S, "\xC3\xA4\xC3\xB6\xC3\xBC"},
    {"UPPER", {"CHAR(3)", "abc"}, "CHAR(3)", "ABC"},
    {"UPPER", {I, "5"}, NULL, "!UNDEFINED_FUNCTION"},
    {"SUBSTRING", {S, "hello", I, "2"}, S, "ello"},
    {"SUBSTRING", {S, "hello", I, "2", I, "3"}, S, "ell"},
    {"SUBSTRING", {S, "hello", I, "0", I, "2"}, S, "he"},
    {"SUBSTRING", {S, "hello", I, "-3", I, "2"}, S, "ll"},
    {"SUBSTRING", {S, "hello", I, "-9"}, S, ""},
    {"SUBSTRING", {S, "hello", I, "9"}, S, ""},
    {"SUBSTRING", {S, "hello", I, "1", I, "-1"}, S, "NULL"},
    {"SUBSTR",
     {"CHAR(5)", "\xC3\x84\xC3\x96\xC3\x9C\xC3\x9F\xC3\xA9", B, "2", B, "2"},
     "VARCHAR(5)",
     "\xC3\x96\xC3\x9C"},
    {"SUBSTRING", {S, "hello", B, "-9223372036854775808"}, S, ""},
    {"SUBSTRING", {S, "hello", "DOUBLE", "1"}, NULL, "!UNDEFINED_FUNCTION"},
    {"POSITION", {S, "l", S, "hello"}, I, "3"},
    {"POSITION", {S, "x", S, "hello"}, I, "0"},
    {"POSITION", {S, "", S, "hello"}, I, "1"},
    {"POSITION", {S, "l", S, "hello", I, "4"}, I, "4"},
    {"POSITION", {S, "l", S, "hello", I, "-4"}, I, "3"},
    {"POSITION", {S, "\xC3\x9C", S, "\xC3\x84\xC3\x96\xC3\x9C"}, I, "3"},
    {"TRIM", {S, "  a b  "}, S, "a b"},
    {"TRIM BOTH", {S, "xxaxyx", S, "x"}, S, "axy"},
    {"TRIM", {S, "0xy\xC3\xA9zz\xC3\xA8!", S, "0123456789xyz!\xC3\xA8\xE2\x82\xAC"}, S, "\xC3\xA9"},
    {"TRIM", {S, "\xC3\xA8\xE2\x82\xAC", S, "0123456789xyz!\xC3\xA8\xE2\x82\xAC"}, S, ""},
    {"TRIM LEADING", {S, "x\xFF\x80yx", S, "0123456789abcdefx\xFF\x80"}, S, "yx"},
    {"TRIM LEADING", {S, "xyxa", S, "xy"}, S, "a"},
    {"TRIM TRAILING",
     {"VARCHAR(9)", "a\xC3\x84\xC3\x84", "CHAR(1)", "\xC3\x84"},
     "VARCHAR(9)",
     "a"},
    {"TRIM BOTH", {"BYTES", "0001ff00", "BYTES", "00"}, "BYTES", "x'01ff'"},
    {"LIKE", {S, "hello", S, "h%"}, N, "TRUE"},
    {"LIKE", {S, "hello", S, "h_llo"}, N, "TRUE"},
    {"LIKE", {S, "a\nb", S, "a_b"}, N, "FALSE"},
    {"LIKE", {S, "a\nb", S, "a%b"}, N, "TRUE"},
    {"NOT LIKE", {S, "hello", S, "%ell%"}, N, "FALSE"},
    {"LIKE", {S, "10%", S, "10!%", S, "!"}, N, "TRUE"},
    {"LIKE", {S, "a", S, "NULL"}, N, "NULL"},
    {"LIKE", {S, "a", S, "!a", S, "!"}, N, "!INVALID_ARGUMENT"},
    {"LIKE", {S, "a", S, "a", S, "!!"}, N, "!INVALID_ARGUMENT"},

    /* Forms. */
    {"IF", {N, "TRUE", I, "1", B, "2"}, B, "1"},
    {"IF", {N, "NULL", I, "1", I, "2"}, I, "2"},
    {"IF", {N, "TRUE", I, "1", S, "a"}, NULL, "!TYPE_MISMATCH"},
    {"IF", {N, "TRUE", "ARRAY<INT>", "[1]", "ARRAY<INT>", "[2]"}, NULL, "!NOT_SUPPORTED"},
    {"COALESCE", {I, "NULL", I, "2", I, "3"}, I, "2"},
    {"COALESCE", {"CHAR(1)", "NULL", "CHAR(2)", "ab"}, "VARCHAR(2)", "ab"},
    {"COALESCE", {"ARRAY<INT>", "NULL", "ARRAY<INT>", "[1, 2]"}, "ARRAY<INT>", "[1, 2]"},
    {"COALESCE", {I, "1", S, "a"}, NULL, "!TYPE_MISMATCH"},
    {"IFNULL", {I, "NULL", B, "2"}, B, "2"},
    {"NULLIF", {I, "1", B, "1"}, I, "NULL"},
    {"NULLIF", {I, "1", I, "2"}, I, "1"},
    {"NULLIF", {I, "1", I, "NULL"}, I, "1"},

    /* Nested. */
    {"CARDINALITY", {"ARRAY<INT>", "[1, NULL, 3]"}, I, "3"},
    {"CARDINALITY", {"MAP<STRING, INT>", "{a=1, b=2}"}, I, "2"},
    {"ITEM", {"ARRAY<STRING>", "[a, b]", I, "2"}, S, "b"},
    {"ITEM", {"ARRAY<INT>", "[1, NULL]", I, "2"}, I, "NULL"},
    {"ITEM", {"ARRAY<INT>", "[1]", B, "5"}, I, "NULL"},
    {"ITEM", {"MAP<STRING, INT>", "{a=1, b=2}", "CHAR(1)", "b"}, I, "2"},
    {"ITEM", {"MAP<STRING, INT>", "{a=1}", S, "z"}, I, "NULL"},
    {"ITEM", {"MAP<INT, STRING>", "{1=x}", B, "1"}, S, "x"},
    {"ITEM", {"MAP<INT, STRING>", "{1=x}", S, "1"}, NULL, "!UNDEFINED_FUNCTION"},
    {"ARRAY", {I, "1", B, "2"}, "ARRAY<BIGINT> NOT NULL", "[1, 2]"},
    {"ARRAY", {I, "1", S, "a"}, NULL, "!TYPE_MISMATCH"},
    {"MAP", {S, "a", I, "1", S, "b", I, "2"}, "MAP<STRING, INT> NOT NULL", "{a=1, b=2}"},
    {"MAP", {S, "a", I, "1", S, "a", I, "2"}, "MAP<STRING, INT> NOT NULL", "{a=2}"},
    {"ROW", {I, "1", S, "NULL"}, "ROW<`EXPR$0` INT, `EXPR$1` STRING> NOT NULL", "(1, NULL)"},

    /* Names. */
    {"REGEXP_EXTRACT", {S, "a", S, "b"}, NULL, "!NOT_SUPPORTED"},
    {"UPER", {S, "a"}, NULL, "!UNDEFINED_FUNCTION"},
    {"SUM", {I, "1"}, NULL, "!GROUPING_ERROR"},
    {"$DIVISIBLE", {I, "1", I, "1"}, NULL, "!UNDEFINED_FUNCTION"},
    {"upper", {S, "a"}, S, "A"},
};
#define SAMPLE_COUNT (sizeof(samples) / sizeof(samples[0]))

static uint32_t arg_count(const sample *s)
{
    uint32_t count = 0;
    while (count < ARGS_MAX && s->args[2 * count] != NULL) {
        count++;
    }
    return count;
}

/* Which arguments are constants of the expression: a bit each. The others are columns. */
static ms_rc build(fixture *f, const sample *s, uint32_t constants, const ms_expr **out)
{
    const ms_expr *args[ARGS_MAX];
    for (uint32_t i = 0; i < arg_count(s); i++) {
        const ms_type *type = type_of(f, s->args[2 * i]);
        ms_span span = {10 * i, 10 * i + 5};
        args[i] = (constants >> i & 1u) != 0
                      ? constant_of(f, s->args[2 * i], s->args[2 * i + 1], span)
                      : ms_expr_column(&f->arena, i, type, span);
    }
    return ms_build_call(&f->build, ms_str_cstr(s->name), args, arg_count(s), (ms_span){1, 99},
                         out);
}

static void make_input(fixture *f, const sample *s, bool as_constants, ms_schema *schema,
                       ms_batch *batch)
{
    uint32_t count = arg_count(s);
    ms_field *fields = ms_arena_array(&f->arena, ms_field, count);
    ms_vec *columns = ms_arena_array(&f->arena, ms_vec, count);
    for (uint32_t i = 0; i < count; i++) {
        fields[i] = (ms_field){ms_arena_format(&f->arena, "c%u", i), type_of(f, s->args[2 * i])};
        ms_value value = value_of(f, fields[i].type, ms_str_cstr(s->args[2 * i + 1]));
        ms_vec_alloc(&columns[i], fields[i].type, FIXTURE_ROWS, &f->arena);
        for (uint32_t row = 0; row < FIXTURE_ROWS; row++) {
            ms_value_to_vec(&f->arena, &value, &columns[i], row, FIXTURE_ROWS);
        }
        columns[i].encoding = as_constants ? MS_ENC_CONST : MS_ENC_FLAT;
    }
    *schema = (ms_schema){count, fields};
    *batch = (ms_batch){.rows = FIXTURE_ROWS, .column_count = count, .columns = columns};
}

static void check_value(fixture *f, const sample *s, const ms_value *value, const char *how)
{
    ms_str text = text_of(f, value);
    if (!ms_str_equals(text, ms_str_cstr(s->result))) {
        fail_msg("%s (%s) gave %.*s, not %s", s->name, how, MS_STR_ARG(text), s->result);
    }
}

static void check_error(const sample *s, ms_rc code, const char *how)
{
    const char *wanted = s->result[0] == '!' ? s->result + 1 : "OK";
    if (strcmp(ms_rc_name(code), wanted) != 0) {
        fail_msg("%s (%s) gave %s, not %s", s->name, how, ms_rc_name(code), wanted);
    }
}

static void evaluate(fixture *f, const sample *s, const ms_expr *expr, bool as_constants,
                     bool sparse)
{
    static const uint16_t rows[] = {3, 64, 69};
    const char *how = as_constants ? "constant vectors" : sparse ? "selection" : "columns";
    ms_schema schema;
    ms_batch batch;
    make_input(f, s, as_constants, &schema, &batch);
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
    check_error(s, error.code, how);
    uint32_t first = ms_batch_row(&batch, 0);
    ms_eval_config config = {.zone = ms_zone_utc()};
    ms_value value;
    ms_rc rc = ms_interp_eval_row(&f->arena, &config, expr, &batch, first, &value, &st);
    check_error(s, rc, "interpreter");
    if (error.code != MS_OK) {
        assert_int_equal(error.row, first);
        assert_int_equal(error.span.start, 1);
        assert_int_equal(ms_batch_live(&frame), 0);
    } else {
        check_value(f, s, &value, "interpreter");
        value = ms_value_from_vec(&f->arena, &frame.columns[0],
                                  ms_batch_row(&frame, ms_batch_live(&frame) - 1));
        check_value(f, s, &value, how);
    }
    ms_evaluator_destroy(ev);
}

static void check_sample(const sample *s)
{
    fixture f;
    fixture_open(&f);
    const ms_expr *expr = NULL;
    ms_rc rc = build(&f, s, 0, &expr);
    if (s->result_type == NULL) {
        /* Some refusals need to see a constant. */
        rc = rc == MS_OK ? build(&f, s, UINT32_MAX, &expr) : rc;
        check_error(s, rc, "building");
        assert_int_not_equal(f.st.span.end, 0);
        fixture_close(&f);
        return;
    }
    if (rc != MS_OK) {
        fail_msg("%s: %s (%s)", s->name, f.st.message, f.st.detail);
    }
    const ms_type *type = type_of(&f, s->result_type);
    if (!ms_type_equals(ms_type_as_nullable(&f.arena, expr->type, type->nullable), type)) {
        fail_msg("%s has type %.*s, not %s", s->name,
                 MS_STR_ARG(ms_type_text(&f.arena, expr->type)), s->result_type);
    }
    if (!type->nullable) {
        assert_false(expr->type->nullable);
    }
    evaluate(&f, s, expr, false, false);
    evaluate(&f, s, expr, true, false);
    evaluate(&f, s, expr, false, true);
    for (uint32_t constants = 1; constants < (1u << arg_count(s)); constants++) {
        ms_status_clear(&f.st);
        /* A bad pattern, or the like, may be refused now that it is seen; nothing else may be. */
        rc = build(&f, s, constants, &expr);
        if (rc == MS_OK) {
            evaluate(&f, s, expr, false, false);
            evaluate(&f, s, expr, false, true);
        } else {
            check_error(s, rc, "building with constants");
        }
    }
    fixture_close(&f);
}

static void functions_give_what_the_table_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < SAMPLE_COUNT; i++) {
        check_sample(&samples[i]);
    }
}

static void every_function_has_a_sample(void **state)
{
    (void)state;
    for (uint32_t n = 0; ms_fn_at(n) != NULL; n++) {
        const char *name = ms_fn_at(n)->desc->name;
        bool is_found = name[0] == '$';
        for (size_t i = 0; i < SAMPLE_COUNT && !is_found; i++) {
            is_found = strcmp(samples[i].name, name) == 0;
        }
        if (!is_found) {
            fail_msg("%s has no sample", name);
        }
        if (ms_fn_at(n)->form == MS_FORM_NONE) {
            assert_non_null(ms_fn_at(n)->scalar);
        }
    }
}

/* Overflow as an error. */

static ms_rc strict_overflow(const char *name, const char *type, const char *a, const char *b)
{
    fixture f;
    fixture_open(&f);
    sample s = {name, {type, a, b != NULL ? type : NULL, b}, type, "0"};
    const ms_expr *expr = NULL;
    assert_int_equal(build(&f, &s, 0, &expr), MS_OK);
    ms_schema schema;
    ms_batch batch;
    make_input(&f, &s, false, &schema, &batch);
    ms_program_spec spec = {.outputs = &expr,
                            .output_count = 1,
                            .input = &schema,
                            .config = {.overflow_is_error = true}};
    const ms_program *program = NULL;
    ms_status st = {0};
    assert_ok(ms_program_compile(&f.arena, &spec, &program, &st));
    ms_evaluator *ev = ms_evaluator_create(program, FIXTURE_ROWS);
    ms_batch frame;
    ms_eval_error error;
    ms_evaluator_run(ev, &batch, &frame, &error);
    if (error.code != MS_OK) {
        assert_int_equal(ms_evaluator_explain(ev, &batch, &error, &st), error.code);
    }
    assert_int_equal(ms_evaluator_overflows(ev) > 0, error.code != MS_OK);
    ms_evaluator_destroy(ev);
    fixture_close(&f);
    return error.code;
}

static void overflow_fails_when_the_session_says_so(void **state)
{
    (void)state;
    assert_int_equal(strict_overflow("+", "INT", "2147483647", "1"), MS_NUMERIC_OUT_OF_RANGE);
    assert_int_equal(strict_overflow("+", "INT", "2147483646", "1"), MS_OK);
    assert_int_equal(strict_overflow("-", "TINYINT", "-128", "1"), MS_NUMERIC_OUT_OF_RANGE);
    assert_int_equal(strict_overflow("*", "BIGINT", "4294967296", "4294967296"),
                     MS_NUMERIC_OUT_OF_RANGE);
    assert_int_equal(strict_overflow("*", "BIGINT", "4294967296", "3"), MS_OK);
    assert_int_equal(strict_overflow("/", "SMALLINT", "-32768", "-1"), MS_NUMERIC_OUT_OF_RANGE);
    assert_int_equal(strict_overflow("-", "INT", "-2147483648", NULL), MS_NUMERIC_OUT_OF_RANGE);
    assert_int_equal(strict_overflow("ABS", "BIGINT", "-9223372036854775808", NULL),
                     MS_NUMERIC_OUT_OF_RANGE);
    assert_int_equal(
        strict_overflow("*", "DECIMAL(38, 0)", "99999999999999999999999999999999999999", "10"),
        MS_NUMERIC_OUT_OF_RANGE);
}

/* x % d = 0 by multiplication: every dividend of 16 bits and some divisors, and the edges of 64. */

static void check_divisor(int64_t divisor, const char *type, const int64_t *dividends,
                          uint32_t count)
{
    fixture f;
    fixture_open(&f);
    const ms_type *t = type_of(&f, type);
    ms_field field = {ms_str_lit("x"), t};
    ms_schema schema = {1, &field};
    ms_vec column;
    ms_vec_alloc(&column, t, count, &f.arena);
    for (uint32_t i = 0; i < count; i++) {
        ms_value value = ms_value_int(t, dividends[i]);
        ms_value_to_vec(&f.arena, &value, &column, i, count);
    }
    ms_batch batch = {.rows = count, .column_count = 1, .columns = &column};
    ms_value d = ms_value_int(ms_type_as_nullable(&f.arena, t, false), divisor);
    const ms_expr *x = ms_expr_column(&f.arena, 0, t, ms_span_none);
    const ms_expr *by = ms_expr_const(&f.arena, &d, ms_span_none);
    const ms_expr *outputs[4];
    ms_status st = {0};
    f.build.st = &st;
    assert_ok(ms_build_binary(&f.build, "/", x, by, ms_span_none, &outputs[0]));
    assert_ok(ms_build_binary(&f.build, "%", x, by, ms_span_none, &outputs[1]));
    const ms_expr *zero = ms_build_int(&f.build, 0, ms_span_none);
    assert_ok(ms_build_binary(&f.build, "=", outputs[1], zero, ms_span_none, &outputs[2]));
    assert_ok(ms_build_binary(&f.build, "<>", outputs[1], zero, ms_span_none, &outputs[3]));
    ms_program_spec spec = {.outputs = outputs, .output_count = 4, .input = &schema};
    const ms_program *program = NULL;
    assert_ok(ms_program_compile(&f.arena, &spec, &program, &st));
    ms_evaluator *ev = ms_evaluator_create(program, count);
    ms_batch frame;
    ms_eval_error error;
    ms_evaluator_run(ev, &batch, &frame, &error);
    assert_int_equal(error.code, MS_OK);
    for (uint32_t i = 0; i < count; i++) {
        ms_i128 n = dividends[i];
        ms_value quotient = ms_value_from_vec(&f.arena, &frame.columns[0], i);
        ms_value rest = ms_value_from_vec(&f.arena, &frame.columns[1], i);
        ms_value wanted = ms_value_int(t, 0);
        bool wraps = divisor == -1 && n == -n && n != 0;
        if (!wraps && quotient.u.i != (int64_t)(n / divisor) && divisor != -1) {
            fail_msg("%lld / %lld", (long long)n, (long long)divisor);
        }
        if (rest.u.i != (int64_t)(n % divisor)) {
            fail_msg("%lld %% %lld", (long long)n, (long long)divisor);
        }
        (void)wanted;
        assert_int_equal(((const uint8_t *)frame.columns[2].data)[i], n % divisor == 0);
        assert_int_equal(((const uint8_t *)frame.columns[3].data)[i], n % divisor != 0);
    }
    ms_evaluator_destroy(ev);
    fixture_close(&f);
}

static void division_by_constants_is_exact(void **state)
{
    (void)state;
    static const int64_t divisors[] = {1,   -1,  2,          -2,        3,         -3,
                                       5,   7,   10,         12,        64,        100,
                                       123, -60, 1000000007, INT32_MAX, INT32_MIN, 1 << 30};
    static const int64_t wide[] = {
        INT64_MAX,     INT64_MIN,     INT64_C(1) << 62,      -(INT64_C(1) << 62),
        1000000000000, INT64_MAX - 1, INT64_C(6700417) * 641};
    int64_t dividends[4096];
    for (uint32_t chunk = 0; chunk < 4; chunk++) {
        for (uint32_t i = 0; i < 4096; i++) {
            int64_t spread = (int64_t)(chunk * 4096 + i) - 8192;
            dividends[i] = chunk == 3 ? (i % 2 == 0 ? INT32_MIN + (int64_t)(i / 2)
                                                    : INT32_MAX - (int64_t)(i / 2))
                                      : spread;
        }
        for (size_t d = 0; d < sizeof(divisors) / sizeof(divisors[0]); d++) {
            check_divisor(divisors[d], "INT", dividends, 4096);
            check_divisor(divisors[d], "BIGINT", dividends, 4096);
        }
    }
    for (uint32_t i = 0; i < 4096; i++) {
        int64_t edge = i % 3 == 0 ? INT64_MIN : i % 3 == 1 ? INT64_MAX : 0;
        dividends[i] =
            (int64_t)((uint64_t)edge + (uint64_t)(i / 3) * (i % 3 == 1 ? UINT64_MAX : 1));
    }
    for (size_t d = 0; d < sizeof(divisors) / sizeof(divisors[0]); d++) {
        check_divisor(divisors[d], "BIGINT", dividends, 4096);
    }
    for (size_t d = 0; d < sizeof(wide) / sizeof(wide[0]); d++) {
        check_divisor(wide[d], "BIGINT", dividends, 4096);
    }
    /* All of 8 bits: narrow types take another path for =, so quotient and rest only. */
    for (int64_t d = -128; d < 128; d++) {
        for (uint32_t i = 0; i < 256; i++) {
            dividends[i] = (int64_t)i - 128;
        }
        if (d != 0) {
            check_divisor(d, "TINYINT", dividends, 256);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_give_what_the_table_says),
        cmocka_unit_test(every_function_has_a_sample),
        cmocka_unit_test(overflow_fails_when_the_session_says_so),
        cmocka_unit_test(division_by_constants_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
