/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "base/limits.h"
#include "sql/source.h"

static const ms_variable variables[] = {
    {{"T", 1}, {"orders", 6}}, {{"E", 1}, {"", 0}},          {{"Q", 1}, {"'open", 5}},
    {{"C", 1}, {"--", 2}},     {{"LOOP_1", 6}, {"${T}", 4}}, {{"BAD", 3}, {"\xFF", 1}},
};

typedef struct expanded {
    ms_arena arena;
    ms_source source;
    ms_status st;
    ms_rc rc;
} expanded;

static void expand(const char *text, expanded *out)
{
    memset(out, 0, sizeof(*out));
    ms_arena_init(&out->arena, 0);
    assert_int_equal(ms_source_init(&out->source, ms_str_lit("a.sql"), ms_str_cstr(text), &out->st),
                     MS_OK);
    out->rc = ms_source_substitute(&out->source, variables,
                                   sizeof(variables) / sizeof(variables[0]), &out->arena, &out->st);
}

static void variables_are_replaced_but_in_comments(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        const char *expanded;
    } cases[] = {
        {"no mark", "no mark"},
        {"a $ b $x", "a $ b $x"},
        {"FROM ${T}, ${T}", "FROM orders, orders"},
        {"'${T}' `${T}`", "'orders' `orders`"},
        {"a${E}b", "ab"},
        {"${LOOP_1}", "${T}"},
        {"$${T} ${T}", "${T} orders"},
        {"-- ${X}\n${T} // ${X}\r${T}", "-- ${X}\norders // ${X}\rorders"},
        {"/* ${X} $${ */${T}/**/${T}/*/ ${X} */${T}",
         "/* ${X} $${ */orders/**/orders/*/ ${X} */orders"},
        {"/*+ ${T} */ ${T}", "/*+ orders */ orders"},
        {"'-- ' ${T} '/*' ${T} `//` ${T}", "'-- ' orders '/*' orders `//` orders"},
        {"'it''s -- ' ${T}", "'it''s -- ' orders"},
        {"${Q} -- ${T}'", "'open -- orders'"},
        {"${C} ${X}\n${T}", "-- ${X}\norders"},
        {"-${E}- ${X}", "-- ${X}"},
        {"a - ${T} / ${T} * ${T}", "a - orders / orders * orders"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        expanded out;
        expand(cases[i].text, &out);
        assert_int_equal(out.rc, MS_OK);
        assert_str_equal(out.source.expanded, cases[i].expanded);
        assert_str_equal(out.source.text, cases[i].text);
        ms_arena_release(&out.arena);
    }
}

static void wrong_marks_are_reported_with_their_place(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        ms_rc code;
        const char *place;
    } cases[] = {
        {"a ${X} b", MS_UNDEFINED_VARIABLE, "${X}"}, {"a '${t}' b", MS_UNDEFINED_VARIABLE, "${t}"},
        {"a ${} b", MS_SYNTAX_ERROR, "${"},          {"a ${1A} b", MS_SYNTAX_ERROR, "${"},
        {"a ${T b", MS_SYNTAX_ERROR, "${T"},         {"a ${T", MS_SYNTAX_ERROR, "${T"},
        {"a ${T-x}", MS_SYNTAX_ERROR, "${T"},        {"a ${BAD}", MS_SYNTAX_ERROR, "${BAD}"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        expanded out;
        expand(cases[i].text, &out);
        assert_int_equal(out.rc, cases[i].code);
        assert_str_equal(ms_source_slice(&out.source, out.st.span), cases[i].place);
        assert_true(ms_str_equals(out.source.expanded, out.source.text));
        ms_arena_release(&out.arena);
    }
}

static void every_expanded_span_has_an_original(void **state)
{
    (void)state;
    static const struct {
        const char *find; /* in the expanded text */
        const char *original;
    } cases[] = {
        {"SELECT", "SELECT"},
        {"x", "x"},
        {"ers", "${T}"},
        {"orders", "${T}"},
        {"FROM orders", "FROM ${T}"},
        {"ers b", "${T} b"},
        {"${", "${"},
        {"y ${ z", "y $${ z"},
        {"end", "end"},
        {"rsorder", "${T}${E}${T}"},
    };
    expanded out;
    expand("SELECT x FROM ${T} b, ${T}${E}${T} y $${ z end", &out);
    assert_int_equal(out.rc, MS_OK);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *found = memmem(out.source.expanded.ptr, out.source.expanded.bytes,
                                   cases[i].find, strlen(cases[i].find));
        assert_non_null(found);
        uint32_t start = (uint32_t)(found - out.source.expanded.ptr);
        uint32_t end = start + (uint32_t)strlen(cases[i].find);
        ms_span span = ms_source_original(&out.source, start, end);
        assert_str_equal(ms_source_slice(&out.source, span), cases[i].original);
    }
    uint32_t at_end = (uint32_t)out.source.expanded.bytes;
    ms_span span = ms_source_original(&out.source, at_end, at_end);
    assert_int_equal(span.start, out.source.text.bytes);
    assert_int_equal(span.end, out.source.text.bytes);
    ms_arena_release(&out.arena);
}

static void sizes_are_limited_before_and_after(void **state)
{
    (void)state;
    ms_source source;
    ms_status st = {0};
    ms_buf buf;
    ms_buf_init(&buf, MS_LIMIT_SCRIPT_BYTES + 16);
    assert_ok(ms_buf_reserve(&buf, MS_LIMIT_SCRIPT_BYTES + 1, &st));
    memset(buf.ptr, ' ', MS_LIMIT_SCRIPT_BYTES + 1);
    ms_str text = ms_str_make(buf.ptr, MS_LIMIT_SCRIPT_BYTES + 1);
    assert_int_equal(ms_source_init(&source, ms_str_lit("t"), text, &st), MS_STATEMENT_TOO_LARGE);
    ms_status_clear(&st);
    memcpy(buf.ptr, "${A}", 4);
    text.bytes = MS_LIMIT_SCRIPT_BYTES;
    assert_ok(ms_source_init(&source, ms_str_lit("t"), text, &st));
    const ms_variable wide[] = {{ms_str_lit("A"), ms_str_lit("12345")}};
    ms_arena arena;
    ms_arena_init(&arena, 0);
    assert_int_equal(ms_source_substitute(&source, wide, 1, &arena, &st), MS_STATEMENT_TOO_LARGE);
    ms_arena_release(&arena);
    ms_buf_release(&buf);
}

static void text_that_is_not_utf8_is_refused_at_its_place(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t at;
    } cases[] = {
        {"ab\xFF", 2},           {"\xC3\xA4\x80", 2}, {"\xC0\x80", 0},     {"a\xED\xA0\x80", 1},
        {"\xF4\x90\x80\x80", 0}, {"x\xE2\x82", 1},    {"\xE0\x80\x80", 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ms_source source;
        ms_status st = {0};
        ms_rc rc = ms_source_init(&source, ms_str_lit("t"), ms_str_cstr(cases[i].text), &st);
        assert_int_equal(rc, MS_SYNTAX_ERROR);
        assert_int_equal(st.span.start, cases[i].at);
        assert_int_equal(st.span.end, cases[i].at + 1);
    }
}

static ms_source make_source(ms_str text)
{
    /* As ms_source_init would, but for the check of UTF-8: rendering must not depend on it. */
    return (ms_source){.name = ms_str_lit("a.sql"), .text = text, .expanded = text};
}

static void places_count_lines_and_code_points(void **state)
{
    (void)state;
    static const struct {
        uint32_t offset;
        uint32_t line;
        uint32_t column;
    } cases[] = {
        {0, 1, 1}, {1, 1, 2}, {2, 1, 3}, {3, 2, 1}, {5, 2, 2},
        {6, 2, 3}, {7, 3, 1}, {8, 4, 1}, {9, 4, 2}, {99, 4, 2},
    };
    ms_source source = make_source(ms_str_lit("ab\n\xC3\xA4x\n\nz"));
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ms_source_place place = ms_source_locate(&source, cases[i].offset);
        assert_int_equal(place.line, cases[i].line);
        assert_int_equal(place.column, cases[i].column);
    }
    source = make_source(ms_str_lit("\xEF\xBB\xBFxy"));
    assert_int_equal(ms_source_locate(&source, 4).column, 2);
    assert_int_equal(ms_source_locate(&source, 1).column, 1);
}

static void assert_rendering(ms_str text, uint32_t start, uint32_t end, const char *expected)
{
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_source source = make_source(text);
    ms_str shown = ms_source_render(&source, (ms_span){start, end}, &arena);
    if (!ms_str_equals(shown, ms_str_cstr(expected))) {
        fail_msg("shown:\n%.*s\nexpected:\n%s", MS_STR_ARG(shown), expected);
    }
    ms_arena_release(&arena);
}

static void carets_stand_under_the_span(void **state)
{
    (void)state;
    ms_str text = ms_str_lit("SELECT a,\n\tb\xC3\xA4r AS \xE5\x90\x8D\xE5\x89\x8D x\r\nFROM t\n");
    assert_rendering(text, 0, 6, "a.sql:1:1\n  SELECT a,\n  ^^^^^^\n");
    assert_rendering(text, 7, 8, "a.sql:1:8\n  SELECT a,\n         ^\n");
    assert_rendering(text, 9, 9, "a.sql:1:10\n  SELECT a,\n           ^\n");
    assert_rendering(text, 11, 15,
                     "a.sql:2:2\n      b\xC3\xA4r AS \xE5\x90\x8D\xE5\x89\x8D x\n      ^^^\n");
    assert_rendering(
        text, 19, 25,
        "a.sql:2:9\n      b\xC3\xA4r AS \xE5\x90\x8D\xE5\x89\x8D x\n             ^^^^\n");
    assert_rendering(
        text, 26, 27,
        "a.sql:2:12\n      b\xC3\xA4r AS \xE5\x90\x8D\xE5\x89\x8D x\n                  ^\n");
    assert_rendering(text, 7, 40, "a.sql:1:8\n  SELECT a,\n         ^^\n");
    assert_rendering(text, 29, 33, "a.sql:3:1\n  FROM t\n  ^^^^\n");
    assert_rendering(text, 36, 36, "a.sql:4:1\n  \n  ^\n");
    assert_rendering(text, 900, 901, "a.sql:4:1\n  \n  ^\n");
    assert_rendering(text, 0, 0, "");
    assert_rendering(ms_str_lit("\xEF\xBB\xBFxy"), 3, 4, "a.sql:1:1\n  xy\n  ^\n");
    assert_rendering(ms_str_lit("\xEF\xBB\xBFxy"), 0, 4, "a.sql:1:1\n  xy\n  ^\n");
}

static void control_bytes_and_bad_bytes_are_not_shown(void **state)
{
    (void)state;
    assert_rendering(ms_str_lit("a\x1B[1m\xFF z"), 7, 8,
                     "a.sql:1:8\n  a\xEF\xBF\xBD[1m\xEF\xBF\xBD z\n         ^\n");
    assert_rendering(ms_str_lit("e\xCC\x81 z"), 4, 5, "a.sql:1:4\n  e\xCC\x81 z\n    ^\n");
}

/* count times one character, in buffers that the caller cuts. */
static ms_str make_line(char *buf, size_t bytes, size_t at, const char *word)
{
    memset(buf, 'x', bytes);
    memcpy(buf + at, word, strlen(word));
    return ms_str_make(buf, bytes);
}

static void long_lines_are_cut_to_a_window(void **state)
{
    (void)state;
    char buf[400];
    char expected[400];
    char xs[128];
    memset(xs, 'x', sizeof(xs));
    snprintf(expected, sizeof(expected), "a.sql:1:11\n  %.10sERR%.84s...\n  %10s^^^\n", xs, xs, "");
    assert_rendering(make_line(buf, 300, 10, "ERR"), 10, 13, expected);
    snprintf(expected, sizeof(expected), "a.sql:1:201\n  ...%.29sERR%.62s...\n  %32s^^^\n", xs, xs,
             "");
    assert_rendering(make_line(buf, 300, 200, "ERR"), 200, 203, expected);
    snprintf(expected, sizeof(expected), "a.sql:1:298\n  ...%.94sERR\n  %97s^^^\n", xs, "");
    assert_rendering(make_line(buf, 300, 297, "ERR"), 297, 300, expected);
    snprintf(expected, sizeof(expected), "a.sql:1:301\n  ...%.97s\n  %100s^\n", xs, "");
    assert_rendering(make_line(buf, 300, 0, ""), 300, 300, expected);
    /* A long span ends where the window does. */
    char carets[128];
    memset(carets, '^', sizeof(carets));
    snprintf(expected, sizeof(expected), "a.sql:1:2\n  %.97s...\n   %.96s\n", xs, carets);
    assert_rendering(make_line(buf, 300, 0, ""), 1, 299, expected);
    snprintf(expected, sizeof(expected), "a.sql:1:1\n  %.100s\n  ^\n", xs);
    assert_rendering(make_line(buf, 100, 0, ""), 0, 1, expected);
}

static void a_line_of_combining_marks_is_cut_too(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    size_t bytes = 1 << 20;
    char *text = ms_arena_alloc(&arena, bytes, 1);
    for (size_t i = 0; i < bytes; i += 2) {
        memcpy(text + i, "\xCC\x81", 2);
    }
    ms_source source = make_source(ms_str_make(text, bytes));
    ms_str shown = ms_source_render(&source, (ms_span){100, 200}, &arena);
    assert_true(shown.bytes < 2048);
    ms_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_are_replaced_but_in_comments),
        cmocka_unit_test(wrong_marks_are_reported_with_their_place),
        cmocka_unit_test(every_expanded_span_has_an_original),
        cmocka_unit_test(sizes_are_limited_before_and_after),
        cmocka_unit_test(text_that_is_not_utf8_is_refused_at_its_place),
        cmocka_unit_test(places_count_lines_and_code_points),
        cmocka_unit_test(carets_stand_under_the_span),
        cmocka_unit_test(control_bytes_and_bad_bytes_are_not_shown),
        cmocka_unit_test(long_lines_are_cut_to_a_window),
        cmocka_unit_test(a_line_of_combining_marks_is_cut_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
