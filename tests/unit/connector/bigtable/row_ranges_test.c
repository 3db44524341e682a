/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts of range options: what they select, and how each mistake is reported.
 */
#include "bt_testing.h"

#include "connector/bigtable/row_ranges.h"

typedef struct texts {
    const char *prefixes;
    const char *start;
    const char *end;
    const char *ranges;
    bool is_base64;
    const char *expected; /* ranges as text, or the error's message */
} texts;

static ms_option_value value_of(const char *text, uint32_t at)
{
    if (text == NULL) {
        return (ms_option_value){0};
    }
    return (ms_option_value){
        .is_set = true, .has_value = true, .span = {at, at + 1}, .text = ms_str_cstr(text)};
}

static ms_rc make(ms_arena *arena, const texts *t, ms_bt_ranges *ranges_out, ms_status *st)
{
    msi_bt_range_options options = {.is_base64 = t->is_base64,
                                    .prefixes = value_of(t->prefixes, 1),
                                    .start_closed = value_of(t->start, 2),
                                    .end_open = value_of(t->end, 3),
                                    .ranges = value_of(t->ranges, 4)};
    return msi_bt_row_ranges_make(arena, &options, ranges_out, st);
}

static const texts good[] = {
    {NULL, NULL, NULL, NULL, false, "(*,*)"},
    {"a#", NULL, NULL, NULL, false, "[a#,a$)"},
    {"b;a", NULL, NULL, NULL, false, "[a,c)"},
    {" b ; d ", NULL, NULL, NULL, false, "[b,c)[d,e)"},
    {"'a;b';\"c d\"", NULL, NULL, NULL, false, "[a;b,a;c)[c d,c e)"},
    {"'it''s'", NULL, NULL, NULL, false, "[it's,it't)"},
    {"\xff\xff", NULL, NULL, NULL, false, "[\\xff\\xff,*)"},
    {"YQ==;Yg==", NULL, NULL, NULL, true, "[a,c)"},
    {NULL, "k", NULL, NULL, false, "[k,*)"},
    {NULL, NULL, "m", NULL, false, "(*,m)"},
    {NULL, "k", "m", NULL, false, "[k,m)"},
    {NULL, "AAE=", "AP8=", NULL, true, "[\\x00\\x01,\\x00\\xff)"},
    {NULL, NULL, NULL, "[a,c);[x,)", false, "[a,c)[x,*)"},
    {NULL, NULL, NULL, "[,c);[b,d)", false, "(*,d)"},
    {NULL, NULL, NULL, "[a\\,b,a\\;b)", false, "[a\\x2cb,a;b)"},
    {NULL, NULL, NULL, "[\\[\\],\\\\\\(\\))", false, "[[],\\x5c())"},
    {NULL, NULL, NULL, "[YQ==,Yw==)", true, "[a,c)"},
    {"z", "k", "m", "[a,c);[l,n)", false, "[a,c)[k,n)[z,{)"},
};

static void options_add_up_to_ranges(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        ms_arena arena;
        ms_arena_init(&arena, 0);
        ms_status st = {0};
        ms_bt_ranges ranges;
        ms_rc rc = make(&arena, &good[i], &ranges, &st);
        assert_ok(rc);
        ms_buf text;
        ms_buf_init(&text, 4096);
        for (size_t r = 0; r < ranges.count; r++) {
            assert_ok(ms_bt_range_render(&ranges.list[r], &text, &st));
        }
        assert_ok(ms_buf_append_byte(&text, '\0', &st));
        assert_string_equal(text.ptr, good[i].expected);
        ms_buf_release(&text);
        ms_arena_release(&arena);
    }
}

#define PREFIX "option \"scan.row-prefix\", entry "
#define RANGES "option \"scan.row-ranges\", entry "

static const struct {
    texts texts;
    uint32_t at; /* the option's span */
} bad[] = {
    {{"", NULL, NULL, NULL, false, PREFIX "1: a prefix cannot be empty"}, 1},
    {{"  ", NULL, NULL, NULL, false, PREFIX "1: a prefix cannot be empty"}, 1},
    {{";", NULL, NULL, NULL, false, PREFIX "1: a prefix cannot be empty"}, 1},
    {{";a", NULL, NULL, NULL, false, PREFIX "1: a prefix cannot be empty"}, 1},
    {{"a;", NULL, NULL, NULL, false, PREFIX "2: a prefix cannot be empty"}, 1},
    {{"a;;b", NULL, NULL, NULL, false, PREFIX "2: a prefix cannot be empty"}, 1},
    {{"''", NULL, NULL, NULL, false, PREFIX "1: a key cannot be empty"}, 1},
    {{"'a", NULL, NULL, NULL, false, PREFIX "1: a quote is not closed"}, 1},
    {{"'a'b", NULL, NULL, NULL, false, PREFIX "1: there is text behind a closing quote"}, 1},
    {{"YQ", NULL, NULL, NULL, true, PREFIX "1: a key is not canonical Base64"}, 1},
    {{"YQ==;YR==", NULL, NULL, NULL, true, PREFIX "2: a key is not canonical Base64"}, 1},
    {{"_-==", NULL, NULL, NULL, true, PREFIX "1: a key is not canonical Base64"}, 1},
    {{NULL, "", NULL, NULL, false, "option \"scan.row-range.start-closed\": a key cannot be empty"},
     2},
    {{NULL, NULL, "", NULL, false, "option \"scan.row-range.end-open\": a key cannot be empty"}, 3},
    {{NULL, "Y Q==", NULL, NULL, true,
      "option \"scan.row-range.start-closed\": a key is not canonical Base64"},
     2},
    {{NULL, "m", "k", NULL, false,
      "option \"scan.row-range.end-open\": the start of a range is behind its end"},
     3},
    {{NULL, "m", "m", NULL, false,
      "option \"scan.row-range.end-open\": the start of a range equals its end, so that no key is "
      "in it"},
     3},
    {{NULL, NULL, NULL, "", false, RANGES "1: a range cannot be empty"}, 4},
    {{NULL, NULL, NULL, "[a,b);", false, RANGES "2: a range cannot be empty"}, 4},
    {{NULL, NULL, NULL, "[a,b);;[c,d)", false, RANGES "2: a range cannot be empty"}, 4},
    {{NULL, NULL, NULL, "a,b)", false, RANGES "1: a range begins with \"[\""}, 4},
    {{NULL, NULL, NULL, "[a,b)x", false, RANGES "1: there is text behind the \")\" of a range"}, 4},
    {{NULL, NULL, NULL, "[a,b", false, RANGES "1: a range does not end with \")\""}, 4},
    {{NULL, NULL, NULL, "[a,b\\)", false, RANGES "1: a range does not end with \")\""}, 4},
    {{NULL, NULL, NULL, "[ab", false, RANGES "1: a range has no \",\""}, 4},
    {{NULL, NULL, NULL, "[a,b,c)", false,
      RANGES "1: a grammar character in a key needs a backslash before it"},
     4},
    {{NULL, NULL, NULL, "[a\\b,c)", false,
      RANGES "1: a backslash stands before one of \\ ; , [ ] ( ) only"},
     4},
    {{NULL, NULL, NULL, "[a,\\", false,
      RANGES "1: a backslash stands before one of \\ ; , [ ] ( ) only"},
     4},
    {{NULL, NULL, NULL, "[,)", false, RANGES "1: a range needs a start or an end"}, 4},
    {{NULL, NULL, NULL, "[a,b);[d,c)", false, RANGES "2: the start of a range is behind its end"},
     4},
    {{NULL, NULL, NULL, "[a,b);[c,c)", false,
      RANGES "2: the start of a range equals its end, so that no key is in it"},
     4},
    {{NULL, NULL, NULL, "[YQ==,Yw==);[Y,)", true, RANGES "2: a key is not canonical Base64"}, 4},
};

static void mistakes_are_told_with_option_and_entry(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        ms_arena arena;
        ms_arena_init(&arena, 0);
        ms_status st = {0};
        ms_bt_ranges ranges;
        assert_int_equal(make(&arena, &bad[i].texts, &ranges, &st), MS_INVALID_OPTION);
        assert_string_equal(st.message, bad[i].texts.expected);
        assert_int_equal(st.span.start, bad[i].at);
        ms_arena_release(&arena);
    }
}

static void base64_is_decoded_before_keys_are_compared(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_status st = {0};
    ms_bt_ranges ranges;
    /* As texts "/w==" sorts before "AA==", as keys FF is behind 00. */
    assert_int_equal(
        make(&arena, &(texts){.ranges = "[/w==,AA==)", .is_base64 = true}, &ranges, &st),
        MS_INVALID_OPTION);
    ms_arena_release(&arena);
}

static void lists_have_an_end(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_status st = {0};
    enum { ENTRIES = 20001 };
    char *text = ms_arena_alloc(&arena, ENTRIES * 8 + 1, 1);
    size_t at = 0;
    for (int i = 0; i < ENTRIES; i++) {
        at += (size_t)snprintf(text + at, 9, "%s%06d", i > 0 ? ";" : "", i);
    }
    ms_bt_ranges ranges;
    assert_int_equal(make(&arena, &(texts){.prefixes = text}, &ranges, &st), MS_LIMIT);
    assert_string_equal(st.message, "option \"scan.row-prefix\" has more than 20000 entries");
    ms_status_clear(&st);
    *strrchr(text, ';') = '\0';
    assert_ok(
        make(&arena, &(texts){.prefixes = text, .start = "a", .ranges = "[b,c)"}, &ranges, &st));
    ms_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(options_add_up_to_ranges),
        cmocka_unit_test(mistakes_are_told_with_option_and_entry),
        cmocka_unit_test(base64_is_decoded_before_keys_are_compared),
        cmocka_unit_test(lists_have_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
