/* SPDX-License-Identifier: Apache-2.0 */
#include "testing.h"

#include "sql/lexer.h"

#define TOKENS_MAX 64

/* All tokens of a text, without the end. */
typedef struct lexed {
    ms_source source;
    ms_status st;
    ms_token tokens[TOKENS_MAX];
    uint32_t count;
} lexed;

static void lex(ms_str text, lexed *out)
{
    ms_lexer lexer;
    memset(out, 0, sizeof(*out));
    assert_int_equal(ms_source_init(&out->source, ms_str_lit("t"), text, &out->st), MS_OK);
    ms_lexer_init(&lexer, &out->source);
    while (ms_lexer_next(&lexer, &out->tokens[out->count], &out->st) == MS_OK &&
           out->tokens[out->count].kind != MS_TOKEN_END) {
        assert_true(++out->count < TOKENS_MAX);
    }
}

static void assert_tokens(const char *text, const ms_token_kind *kinds, const char *const *texts,
                          uint32_t count)
{
    lexed out;
    lex(ms_str_cstr(text), &out);
    assert_int_equal(out.st.code, MS_OK);
    assert_int_equal(out.count, count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(out.tokens[i].kind, kinds[i]);
        assert_str_equal(out.tokens[i].text, texts[i]);
        assert_str_equal(ms_source_slice(&out.source, out.tokens[i].span), texts[i]);
    }
}

static void words_and_names_are_told_apart(void **state)
{
    (void)state;
    const ms_token_kind kinds[] = {MS_TOKEN_WORD, MS_TOKEN_WORD, MS_TOKEN_QUOTED, MS_TOKEN_WORD,
                                   MS_TOKEN_WORD};
    const char *const texts[] = {"Select", "_a$1", "`a``b`", "gr\303\266\303\237e", "\345\220\215"};
    assert_tokens("Select _a$1`a``b` gr\303\266\303\237e \345\220\215", kinds, texts, 5);
    lexed out;
    lex(ms_str_lit("select `select`"), &out);
    assert_int_equal(out.tokens[0].keyword, MS_KW_SELECT);
    assert_int_equal(out.tokens[1].keyword, MS_KEYWORD_NONE);
}

static void numbers_have_three_kinds(void **state)
{
    (void)state;
    const ms_token_kind kinds[] = {
        MS_TOKEN_INTEGER, MS_TOKEN_DECIMAL, MS_TOKEN_DECIMAL, MS_TOKEN_DECIMAL,
        MS_TOKEN_DOUBLE,  MS_TOKEN_DOUBLE,  MS_TOKEN_DOUBLE,  MS_TOKEN_DOUBLE,
    };
    const char *const texts[] = {"0", "1.5", ".5", "5.", "1e0", "1.5E-3", ".5e+7", "5.e1"};
    assert_tokens("0 1.5 .5 5. 1e0 1.5E-3 .5e+7 5.e1", kinds, texts, 8);
}

static void strings_have_prefixes(void **state)
{
    (void)state;
    const ms_token_kind kinds[] = {MS_TOKEN_STRING,  MS_TOKEN_STRING, MS_TOKEN_UNICODE,
                                   MS_TOKEN_UNICODE, MS_TOKEN_BINARY, MS_TOKEN_WORD,
                                   MS_TOKEN_STRING};
    const char *const texts[] = {"''", "'it''s'", "U&'a'", "u&''''", "x'0f'", "u", "'a'"};
    assert_tokens("'' 'it''s' U&'a' u&'''' x'0f' u 'a'", kinds, texts, 7);
}

static void marks_are_read_greedily(void **state)
{
    (void)state;
    const ms_token_kind kinds[] = {
        MS_TOKEN_LESS_EQUAL,    MS_TOKEN_GREATER, MS_TOKEN_NOT_EQUAL, MS_TOKEN_LESS,
        MS_TOKEN_GREATER_EQUAL, MS_TOKEN_ARROW,   MS_TOKEN_CONCAT,    MS_TOKEN_EQUAL,
        MS_TOKEN_STAR,          MS_TOKEN_SLASH,   MS_TOKEN_PERCENT,   MS_TOKEN_PLUS,
        MS_TOKEN_MINUS,         MS_TOKEN_DOT,     MS_TOKEN_COMMA,     MS_TOKEN_SEMICOLON,
        MS_TOKEN_LPAREN,        MS_TOKEN_RPAREN,  MS_TOKEN_LBRACKET,  MS_TOKEN_RBRACKET,
    };
    const char *const texts[] = {"<=", ">", "<>", "<", ">=", "=>", "||", "=", "*", "/",
                                 "%",  "+", "-",  ".", ",",  ";",  "(",  ")", "[", "]"};
    assert_tokens("<=><> < >= =>||=*/%+-.,;()[]", kinds, texts, 20);
}

static void comments_are_blanks_and_hints_are_not(void **state)
{
    (void)state;
    const ms_token_kind kinds[] = {MS_TOKEN_WORD,  MS_TOKEN_WORD,     MS_TOKEN_HINT_START,
                                   MS_TOKEN_WORD,  MS_TOKEN_HINT_END, MS_TOKEN_STAR,
                                   MS_TOKEN_SLASH, MS_TOKEN_WORD};
    const char *const texts[] = {"a", "b", "/*+", "c", "*/", "*", "/", "d"};
    assert_tokens("a--x\n/* ' */b//x\r/**//*/*/ /*+c*/ */ d -- end", kinds, texts, 8);
}

static void line_feeds_before_a_token_are_noted(void **state)
{
    (void)state;
    lexed out;
    lex(ms_str_lit("a 'b'\n'c' --x\n'd' 'e'"), &out);
    assert_int_equal(out.count, 5);
    assert_false(out.tokens[1].after_newline);
    assert_true(out.tokens[2].after_newline);
    assert_true(out.tokens[3].after_newline);
    assert_false(out.tokens[4].after_newline);
}

static void a_byte_order_mark_is_skipped(void **state)
{
    (void)state;
    const ms_token_kind kinds[] = {MS_TOKEN_WORD};
    const char *const texts[] = {"a"};
    assert_tokens("\xEF\xBB\xBF"
                  "a",
                  kinds, texts, 1);
}

static void the_end_comes_as_often_as_asked(void **state)
{
    (void)state;
    ms_source source;
    ms_status st = {0};
    ms_token token;
    ms_lexer lexer;
    assert_ok(ms_source_init(&source, ms_str_lit("t"), ms_str_lit(" "), &st));
    ms_lexer_init(&lexer, &source);
    for (int i = 0; i < 3; i++) {
        assert_ok(ms_lexer_next(&lexer, &token, &st));
        assert_int_equal(token.kind, MS_TOKEN_END);
        assert_int_equal(token.span.start, 1);
    }
}

static void what_starts_no_token_is_reported(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        ms_rc code;
        uint32_t start;
        uint32_t end;
    } cases[] = {
        {"a 'b", MS_SYNTAX_ERROR, 2, 3},           {"a U&'b", MS_SYNTAX_ERROR, 2, 5},
        {"a `b``", MS_SYNTAX_ERROR, 2, 3},         {"a /* b * /", MS_SYNTAX_ERROR, 2, 4},
        {"a ``", MS_SYNTAX_ERROR, 2, 4},           {"a != b", MS_SYNTAX_ERROR, 2, 4},
        {"a == b", MS_SYNTAX_ERROR, 2, 4},         {"a \"b\"", MS_SYNTAX_ERROR, 2, 3},
        {"a ~ b", MS_SYNTAX_ERROR, 2, 3},          {"a 1x", MS_SYNTAX_ERROR, 2, 4},
        {"a 1.5e", MS_SYNTAX_ERROR, 2, 6},         {"a N'b'", MS_NOT_SUPPORTED, 2, 3},
        {"a _x'b'", MS_NOT_SUPPORTED, 2, 4},       {"a e'b'", MS_NOT_SUPPORTED, 2, 3},
        {"a \xE2\x82\xAC", MS_SYNTAX_ERROR, 2, 5}, {"a \x7F", MS_SYNTAX_ERROR, 2, 3},
        {"a |b", MS_SYNTAX_ERROR, 2, 3},           {"a \xF0\x9F\x98\x80", MS_SYNTAX_ERROR, 2, 6},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        lexed out;
        lex(ms_str_cstr(cases[i].text), &out);
        assert_int_equal(out.st.code, cases[i].code);
        assert_int_equal(out.st.span.start, cases[i].start);
        assert_int_equal(out.st.span.end, cases[i].end);
        assert_int_equal(out.count, 1);
    }
}

static void a_nul_is_a_character_like_any_other(void **state)
{
    (void)state;
    lexed out;
    lex(ms_str_make("'a\0b'", 5), &out);
    assert_int_equal(out.count, 1);
    assert_int_equal(out.tokens[0].text.bytes, 5);
    lex(ms_str_make("a \0 b", 5), &out);
    assert_int_equal(out.st.code, MS_SYNTAX_ERROR);
    assert_string_equal(out.st.message, "syntax error at the character U+0000");
}

static void quotes_come_off(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    lexed out;
    lex(ms_str_lit("'it''s' `a``b` plain '' ''''''"), &out);
    assert_str_equal(ms_token_decode_string(&out.tokens[0], &arena), "it's");
    assert_str_equal(ms_token_decode_name(&out.tokens[1], &arena), "a`b");
    assert_str_equal(ms_token_decode_name(&out.tokens[2], &arena), "plain");
    assert_str_equal(ms_token_decode_string(&out.tokens[3], &arena), "");
    assert_str_equal(ms_token_decode_string(&out.tokens[4], &arena), "''");
    ms_arena_release(&arena);
}

static ms_rc decode_unicode(const char *text, char escape, ms_arena *arena, ms_str *decoded)
{
    lexed out;
    lex(ms_str_cstr(text), &out);
    assert_int_equal(out.count, 1);
    return ms_token_decode_unicode(&out.tokens[0], escape, arena, decoded, &out.st);
}

static void unicode_escapes_are_resolved(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    static const struct {
        const char *text;
        char escape;
        const char *decoded; /* NULL: an error */
    } cases[] = {
        {"U&'a\\0041\\00e9\\20AC'", '\\', "aA\xC3\xA9\xE2\x82\xAC"},
        {"U&'\\D83D\\DE00'", '\\', "\xF0\x9F\x98\x80"},
        {"U&'\\+01F600'", '\\', "\xF0\x9F\x98\x80"},
        {"U&'\\\\!0041'", '\\', "\\!0041"},
        {"U&'!0041!!\\'", '!', "A!\\"},
        {"U&'it''s'", '\\', "it's"},
        {"U&''", '\\', ""},
        {"U&'\\004'", '\\', NULL},
        {"U&'\\004g'", '\\', NULL},
        {"U&'a\\'", '\\', NULL},
        {"U&'\\D83D'", '\\', NULL},
        {"U&'\\D83Dx'", '\\', NULL},
        {"U&'\\D83D\\0041'", '\\', NULL},
        {"U&'\\DE00'", '\\', NULL},
        {"U&'\\+110000'", '\\', NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ms_str decoded;
        ms_rc rc = decode_unicode(cases[i].text, cases[i].escape, &arena, &decoded);
        assert_int_equal(rc, cases[i].decoded == NULL ? MS_INVALID_LITERAL : MS_OK);
        assert_str_equal(decoded, cases[i].decoded == NULL ? "" : cases[i].decoded);
    }
    ms_arena_release(&arena);
}

static void binary_strings_are_pairs_of_digits(void **state)
{
    (void)state;
    ms_arena arena;
    ms_arena_init(&arena, 0);
    static const struct {
        const char *text;
        const char *bytes; /* NULL: an error */
    } cases[] = {
        {"X''", ""},      {"x'41fF7a'", "A\xFFz"}, {"X'4'", NULL},
        {"X'4 1'", NULL}, {"X'zz'", NULL},         {"X'41''42'", NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        lexed out;
        ms_str bytes;
        lex(ms_str_cstr(cases[i].text), &out);
        ms_rc rc = ms_token_decode_binary(&out.tokens[0], &arena, &bytes, &out.st);
        assert_int_equal(rc, cases[i].bytes == NULL ? MS_INVALID_LITERAL : MS_OK);
        assert_str_equal(bytes, cases[i].bytes == NULL ? "" : cases[i].bytes);
    }
    ms_arena_release(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_and_names_are_told_apart),
        cmocka_unit_test(numbers_have_three_kinds),
        cmocka_unit_test(strings_have_prefixes),
        cmocka_unit_test(marks_are_read_greedily),
        cmocka_unit_test(comments_are_blanks_and_hints_are_not),
        cmocka_unit_test(line_feeds_before_a_token_are_noted),
        cmocka_unit_test(a_byte_order_mark_is_skipped),
        cmocka_unit_test(the_end_comes_as_often_as_asked),
        cmocka_unit_test(what_starts_no_token_is_reported),
        cmocka_unit_test(a_nul_is_a_character_like_any_other),
        cmocka_unit_test(quotes_come_off),
        cmocka_unit_test(unicode_escapes_are_resolved),
        cmocka_unit_test(binary_strings_are_pairs_of_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
