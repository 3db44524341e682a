/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/limits.h"
#include "func/typing.h"

static void types_read_back_from_their_text(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "BOOLEAN",
        "TINYINT NOT NULL",
        "BIGINT",
        "FLOAT",
        "DOUBLE",
        "DECIMAL(10, 2) NOT NULL",
        "CHAR(3)",
        "CHAR(0)",
        "VARCHAR(5)",
        "STRING",
        "BINARY(2)",
        "BYTES",
        "DATE",
        "TIME(3)",
        "TIMESTAMP(3)",
        "TIMESTAMP_LTZ(9)",
        "INTERVAL MONTH",
        "INTERVAL SECOND(3)",
        "ARRAY<INT NOT NULL> NOT NULL",
        "MAP<STRING NOT NULL, ARRAY<INT>>",
        "MULTISET<STRING>",
        "ROW<`a` INT, `b c` ROW<`x``y` STRING NOT NULL>>",
        "NULL",
    };
    ms_arena arena;
    ms_arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const ms_type *type = ms_typing_parse(&arena, ms_str_cstr(texts[i]));
        if (type == NULL) {
            fail_msg("\"%s\" was not read", texts[i]);
        }
        assert_str_equal(ms_type_text(&arena, type), texts[i]);
    }
    ms_arena_release(&arena);
}

static void other_spellings_are_read(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"integer", "INT"},
        {"NUMERIC(5)", "DECIMAL(5, 0)"},
        {"DEC", "DECIMAL(10, 0)"},
        {"DOUBLE PRECISION", "DOUBLE"},
        {"VARCHAR", "VARCHAR(1)"},
        {"TIMESTAMP", "TIMESTAMP(6)"},
        {"TIMESTAMP(3) WITH LOCAL TIME ZONE", "TIMESTAMP_LTZ(3)"},
        {" ROW < a INT , b STRING > ", "ROW<`a` INT, `b` STRING>"},
        {"INTERVAL DAY TO SECOND(3)", "INTERVAL SECOND(3)"},
    };
    ms_arena arena;
    ms_arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const ms_type *type = ms_typing_parse(&arena, ms_str_cstr(cases[i][0]));
        if (type == NULL) {
            fail_msg("\"%s\" was not read", cases[i][0]);
        }
        assert_str_equal(ms_type_text(&arena, type), cases[i][1]);
    }
    ms_arena_release(&arena);
}

static void what_is_no_type_is_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",           "INTEGERS",      "DECIMAL(39, 0)", "DECIMAL(5, 6)",     "DECIMAL(0)",
        "CHAR(x)",    "ARRAY<>",       "ARRAY<INT",      "MAP<INT>",          "ROW<`a INT>",
        "INT NULL",   "INT INT",       "TIMESTAMP(10)",  "CHAR(99999999999)", "ROW<a>",
        "MAP<INT, >", "INTERVAL HOUR", "NOT NULL",
    };
    ms_arena arena;
    ms_arena_init(&arena, 0);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (ms_typing_parse(&arena, ms_str_cstr(texts[i])) != NULL) {
            fail_msg("\"%s\" was read as a type", texts[i]);
        }
    }
    ms_arena_release(&arena);
}

static void nesting_is_bounded(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_str text = ms_str_lit("INT");
    for (uint32_t depth = 1; depth < 100; depth++) {
        assert_int_equal(ms_typing_parse(&arena, text) != NULL, depth <= MS_LIMIT_TYPE_DEPTH);
        text = ms_arena_format(&arena, "ARRAY<%.*s>", MS_STR_ARG(text));
    }
    ms_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_read_back_from_their_text),
        cmocka_unit_test(other_spellings_are_read),
        cmocka_unit_test(what_is_no_type_is_refused),
        cmocka_unit_test(nesting_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
