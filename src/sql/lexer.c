/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lexer. One function a class of token; a table for the marks. It reads the expanded text and
 * answers with spans of the text as written. Double quotes, character set prefixes and == are no
 * part of the dialect; they are recognized here only to be refused with a useful hint.
 */
#include "sql/lexer.h"

#include "base/limits.h"
#include "base/str.h"

void ms_lexer_init(ms_lexer *lexer, const ms_source *source)
{
    *lexer = (ms_lexer){.source = source};
    if (ms_str_starts_with(source->expanded, ms_str_lit("\xEF\xBB\xBF"))) {
        lexer->offset = 3;
    }
}

/* Reading ahead. */

/* The byte at a distance from the current one; 0 behind the end. */
static char peek(const ms_lexer *lexer, uint32_t distance)
{
    size_t at = (size_t)lexer->offset + distance;
    return at < lexer->source->expanded.bytes ? lexer->source->expanded.ptr[at] : '\0';
}

static bool at_end(const ms_lexer *lexer)
{
    return lexer->offset >= lexer->source->expanded.bytes;
}

static ms_span span_from(const ms_lexer *lexer, uint32_t start)
{
    return ms_source_original(lexer->source, start, lexer->offset);
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

/* Unicode blocks whose characters may stand in an unquoted identifier: those of Flink's lexer. */
static bool is_letter_point(uint32_t point)
{
    static const uint32_t ranges[][2] = {
        {0x00C0, 0x00D6}, {0x00D8, 0x00F6}, {0x00F8, 0x1FFF}, {0x3040, 0x318F},
        {0x3300, 0x337F}, {0x3400, 0x3D2D}, {0x4E00, 0x9FFF}, {0xF900, 0xFAFF},
    };
    for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++) {
        if (point >= ranges[i][0] && point <= ranges[i][1]) {
            return true;
        }
    }
    return false;
}

/* The code point at the offset and its length; the text is well-formed. */
static uint32_t read_point(const ms_lexer *lexer, uint32_t *bytes_out)
{
    uint32_t lead = (unsigned char)peek(lexer, 0);
    uint32_t bytes = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    uint32_t point = bytes == 1 ? lead : lead & (0x7Fu >> bytes);
    for (uint32_t i = 1; i < bytes; i++) {
        point = point << 6 | ((unsigned char)peek(lexer, i) & 0x3Fu);
    }
    *bytes_out = bytes;
    return point;
}

/* The bytes of the identifier character at the offset; 0 when there is none. */
static uint32_t word_char_bytes(const ms_lexer *lexer, bool is_first)
{
    char c = peek(lexer, 0);
    if (is_word_start(c) || (!is_first && is_digit(c))) {
        return 1;
    }
    uint32_t bytes = 0;
    if ((unsigned char)c < 0x80 || at_end(lexer)) {
        return 0;
    }
    return is_letter_point(read_point(lexer, &bytes)) ? bytes : 0;
}

/* Blanks and comments. */

/* Skips a block comment; the offset stands on its slash. */
static ms_rc skip_block_comment(ms_lexer *lexer, ms_status *st)
{
    uint32_t start = lexer->offset;
    lexer->offset += 2;
    while (!at_end(lexer)) {
        if (peek(lexer, 0) == '*' && peek(lexer, 1) == '/') {
            lexer->offset += 2;
            return MS_OK;
        }
        lexer->offset++;
    }
    ms_span span = ms_source_original(lexer->source, start, start + 2);
    ms_status_set(st, MS_SYNTAX_ERROR, span, "unterminated comment");
    return ms_status_hint(st, "End it with */; comments do not nest.");
}

/* Skips to the next token; says whether a line ended on the way. */
static ms_rc skip_blanks(ms_lexer *lexer, bool *newline_out, ms_status *st)
{
    *newline_out = false;
    for (;;) {
        char c = peek(lexer, 0);
        char next = peek(lexer, 1);
        if (is_blank(c)) {
            *newline_out = *newline_out || c == '\n' || c == '\r';
            lexer->offset++;
        } else if ((c == '-' && next == '-') || (c == '/' && next == '/')) {
            while (!at_end(lexer) && peek(lexer, 0) != '\n' && peek(lexer, 0) != '\r') {
                lexer->offset++;
            }
        } else if (c == '/' && next == '*' && peek(lexer, 2) != '+') {
            MS_TRY(skip_block_comment(lexer, st));
        } else {
            return MS_OK;
        }
    }
}

/* Quoted texts. */

/*
 * Reads to the closing quote; the offset stands on the opening one. A doubled quote is part of the
 * text. The error shows the opening quote only: the rest of the script is of no help.
 */
static ms_rc read_quoted(ms_lexer *lexer, uint32_t start, char quote, const char *what,
                         ms_status *st)
{
    uint32_t open = lexer->offset;
    lexer->offset++;
    while (!at_end(lexer)) {
        bool is_quote = peek(lexer, 0) == quote;
        if (is_quote && peek(lexer, 1) == quote) {
            lexer->offset += 2;
        } else {
            lexer->offset++;
            if (is_quote) {
                return MS_OK;
            }
        }
    }
    ms_span span = ms_source_original(lexer->source, start, open + 1);
    ms_status_set(st, MS_SYNTAX_ERROR, span, "unterminated %s", what);
    return ms_status_hint(st, "End it with %c; inside, write %c%c for the quote itself.", quote,
                          quote, quote);
}

/* Reads 'text', U&'text' and X'text'; the prefix has prefix_bytes. */
static ms_rc read_string(ms_lexer *lexer, ms_token_kind kind, uint32_t prefix_bytes,
                         ms_token *token, ms_status *st)
{
    uint32_t start = lexer->offset;
    lexer->offset += prefix_bytes;
    token->kind = kind;
    return read_quoted(lexer, start, '\'', "string", st);
}

static ms_rc read_quoted_name(ms_lexer *lexer, ms_token *token, ms_status *st)
{
    uint32_t start = lexer->offset;
    token->kind = MS_TOKEN_QUOTED;
    MS_TRY(read_quoted(lexer, start, '`', "identifier", st));
    uint32_t bytes = lexer->offset - start - 2;
    if (bytes == 0) {
        return ms_status_set(st, MS_SYNTAX_ERROR, span_from(lexer, start),
                             "an identifier in back-ticks is empty");
    }
    return MS_OK;
}

/* Words and numbers. */

/* N'..', E'..', _UTF16'..': parts of the dialect that are refused. */
static ms_rc refuse_string_prefix(const ms_lexer *lexer, uint32_t start, ms_str word, ms_status *st)
{
    bool is_prefix = word.ptr[0] == '_' || ms_str_equals_nocase(word, ms_str_lit("N")) ||
                     ms_str_equals_nocase(word, ms_str_lit("E"));
    if (!is_prefix || peek(lexer, 0) != '\'') {
        return MS_OK;
    }
    ms_status_set(st, MS_NOT_SUPPORTED, span_from(lexer, start),
                  "strings with the prefix %.*s are not supported", MS_STR_ARG(word));
    return ms_status_hint(st, "Strings are UTF-8; write '...', or U&'...' for escapes.");
}

static ms_rc read_word(ms_lexer *lexer, ms_token *token, ms_status *st)
{
    uint32_t start = lexer->offset;
    char first = peek(lexer, 0);
    if ((first == 'X' || first == 'x') && peek(lexer, 1) == '\'') {
        return read_string(lexer, MS_TOKEN_BINARY, 1, token, st);
    }
    if ((first == 'U' || first == 'u') && peek(lexer, 1) == '&' && peek(lexer, 2) == '\'') {
        return read_string(lexer, MS_TOKEN_UNICODE, 2, token, st);
    }
    for (uint32_t bytes = 0; (bytes = word_char_bytes(lexer, lexer->offset == start)) > 0;) {
        lexer->offset += bytes;
    }
    ms_str word = ms_str_slice(lexer->source->expanded, start, lexer->offset);
    token->kind = MS_TOKEN_WORD;
    token->keyword = ms_keyword_find(word);
    return refuse_string_prefix(lexer, start, word, st);
}

static void skip_digits(ms_lexer *lexer)
{
    while (is_digit(peek(lexer, 0))) {
        lexer->offset++;
    }
}

static ms_rc read_number(ms_lexer *lexer, ms_token *token, ms_status *st)
{
    uint32_t start = lexer->offset;
    token->kind = MS_TOKEN_INTEGER;
    skip_digits(lexer);
    if (peek(lexer, 0) == '.') {
        token->kind = MS_TOKEN_DECIMAL;
        lexer->offset++;
        skip_digits(lexer);
    }
    char mark = peek(lexer, 0);
    uint32_t sign = peek(lexer, 1) == '+' || peek(lexer, 1) == '-' ? 1 : 0;
    if ((mark == 'e' || mark == 'E') && is_digit(peek(lexer, 1 + sign))) {
        token->kind = MS_TOKEN_DOUBLE;
        lexer->offset += 1 + sign;
        skip_digits(lexer);
    }
    if (word_char_bytes(lexer, true) == 0) {
        return MS_OK;
    }
    for (uint32_t bytes = 0; (bytes = word_char_bytes(lexer, false)) > 0;) {
        lexer->offset += bytes;
    }
    ms_str text = ms_str_slice(lexer->source->expanded, start, lexer->offset);
    ms_status_set(st, MS_SYNTAX_ERROR, span_from(lexer, start),
                  "a letter follows a number at or near \"%.*s\"",
                  MS_STR_ARG(ms_str_slice(text, 0, 40)));
    return ms_status_hint(st, "Separate them by a blank, or write a name in back-ticks.");
}

/* Marks. */

typedef struct mark {
    const char *text;
    ms_token_kind kind;
} mark;

/* Longer marks stand before their beginnings. */
static const mark marks[] = {
    {"/*+", MS_TOKEN_HINT_START}, {"<>", MS_TOKEN_NOT_EQUAL},
    {"<=", MS_TOKEN_LESS_EQUAL},  {">=", MS_TOKEN_GREATER_EQUAL},
    {"=>", MS_TOKEN_ARROW},       {"||", MS_TOKEN_CONCAT},
    {"(", MS_TOKEN_LPAREN},       {")", MS_TOKEN_RPAREN},
    {"[", MS_TOKEN_LBRACKET},     {"]", MS_TOKEN_RBRACKET},
    {",", MS_TOKEN_COMMA},        {";", MS_TOKEN_SEMICOLON},
    {".", MS_TOKEN_DOT},          {"+", MS_TOKEN_PLUS},
    {"-", MS_TOKEN_MINUS},        {"*", MS_TOKEN_STAR},
    {"/", MS_TOKEN_SLASH},        {"%", MS_TOKEN_PERCENT},
    {"=", MS_TOKEN_EQUAL},        {"<", MS_TOKEN_LESS},
    {">", MS_TOKEN_GREATER},
};

/* What people write out of habit, and what to write instead. */
typedef struct wrong_mark {
    const char *text;
    const char *hint;
} wrong_mark;

static const wrong_mark wrong_marks[] = {
    {"==", "Write = to compare."},
    {"!=", "Write <> for \"not equal\"."},
    {"::", "Write CAST(x AS type)."},
    {"&&", "Write AND."},
    {"\"", "Write identifiers in back-ticks and strings in single quotes."},
    {"?", "Parameters are not supported; ${NAME} in a script is replaced by --define."},
    {"\xC2\xA0", "This is a no-break space; write a plain one."},
    {"\xE2\x80\x98", "Write strings in straight single quotes."},
    {"\xE2\x80\x99", "Write strings in straight single quotes."},
    {"\xE2\x80\x9C", "Write identifiers in back-ticks and strings in single quotes."},
    {"\xE2\x80\x9D", "Write identifiers in back-ticks and strings in single quotes."},
};

static ms_rc refuse_character(ms_lexer *lexer, ms_status *st)
{
    uint32_t start = lexer->offset;
    uint32_t bytes = 0;
    uint32_t point = read_point(lexer, &bytes);
    ms_str rest = ms_str_slice(lexer->source->expanded, start, lexer->source->expanded.bytes);
    const char *hint = NULL;
    for (size_t i = 0; i < sizeof(wrong_marks) / sizeof(wrong_marks[0]) && hint == NULL; i++) {
        ms_str text = ms_str_cstr(wrong_marks[i].text);
        if (ms_str_starts_with(rest, text)) {
            hint = wrong_marks[i].hint;
            bytes = (uint32_t)text.bytes;
        }
    }
    lexer->offset += bytes;
    ms_span span = span_from(lexer, start);
    if (point >= 0x20 && point != 0x7F && (point < 0x80 || point > 0xA0)) {
        ms_status_set(st, MS_SYNTAX_ERROR, span, "syntax error at or near \"%.*s\"",
                      MS_STR_ARG(ms_str_slice(rest, 0, bytes)));
    } else {
        ms_status_set(st, MS_SYNTAX_ERROR, span, "syntax error at the character U+%04X", point);
    }
    return hint == NULL ? st->code : ms_status_hint(st, "%s", hint);
}

static ms_rc read_mark(ms_lexer *lexer, ms_token *token, ms_status *st)
{
    ms_str rest = ms_str_slice(lexer->source->expanded, lexer->offset, (size_t)lexer->offset + 3);
    if (lexer->in_hint && ms_str_starts_with(rest, ms_str_lit("*/"))) {
        lexer->offset += 2;
        lexer->in_hint = false;
        token->kind = MS_TOKEN_HINT_END;
        return MS_OK;
    }
    if (ms_str_starts_with(rest, ms_str_lit("=="))) {
        return refuse_character(lexer, st);
    }
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        ms_str text = ms_str_cstr(marks[i].text);
        if (ms_str_starts_with(rest, text)) {
            lexer->offset += (uint32_t)text.bytes;
            token->kind = marks[i].kind;
            lexer->in_hint = lexer->in_hint || token->kind == MS_TOKEN_HINT_START;
            return MS_OK;
        }
    }
    return refuse_character(lexer, st);
}

ms_rc ms_lexer_next(ms_lexer *lexer, ms_token *token_out, ms_status *st)
{
    ms_token token = {.kind = MS_TOKEN_END};
    MS_TRY(skip_blanks(lexer, &token.after_newline, st));
    uint32_t start = lexer->offset;
    char c = peek(lexer, 0);
    if (at_end(lexer)) {
        token.kind = MS_TOKEN_END;
    } else if (c == '\'') {
        MS_TRY(read_string(lexer, MS_TOKEN_STRING, 0, &token, st));
    } else if (c == '`') {
        MS_TRY(read_quoted_name(lexer, &token, st));
    } else if (is_digit(c) || (c == '.' && is_digit(peek(lexer, 1)))) {
        MS_TRY(read_number(lexer, &token, st));
    } else if (word_char_bytes(lexer, true) > 0) {
        MS_TRY(read_word(lexer, &token, st));
    } else {
        MS_TRY(read_mark(lexer, &token, st));
    }
    token.text = ms_str_slice(lexer->source->expanded, start, lexer->offset);
    token.span = span_from(lexer, start);
    *token_out = token;
    return MS_OK;
}

/* Decoding. */

/* Takes the quotes off and makes one of each doubled quote. */
static ms_str decode_quotes(ms_str quoted, ms_arena *arena)
{
    char quote = quoted.ptr[0];
    ms_str inner = ms_str_slice(quoted, 1, quoted.bytes - 1);
    if (ms_str_find_byte(inner, quote, 0) == SIZE_MAX) {
        return inner;
    }
    char *out = ms_arena_alloc(arena, inner.bytes, 1);
    size_t bytes = 0;
    for (size_t i = 0; i < inner.bytes; i++) {
        out[bytes++] = inner.ptr[i];
        i += inner.ptr[i] == quote ? 1 : 0;
    }
    return (ms_str){out, bytes};
}

ms_str ms_token_decode_name(const ms_token *token, ms_arena *arena)
{
    return token->kind == MS_TOKEN_QUOTED ? decode_quotes(token->text, arena) : token->text;
}

ms_str ms_token_decode_string(const ms_token *token, ms_arena *arena)
{
    return decode_quotes(token->text, arena);
}

static int hex_value(char c)
{
    if (is_digit(c)) {
        return c - '0';
    }
    if (c >= 'a' && c <= 'f') {
        return c - 'a' + 10;
    }
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Reads exactly digits hex digits at an offset; -1 when they are not there. */
static int32_t read_hex(ms_str text, size_t at, size_t digits)
{
    int32_t value = 0;
    for (size_t i = 0; i < digits; i++) {
        int digit = at + i < text.bytes ? hex_value(text.ptr[at + i]) : -1;
        if (digit < 0) {
            return -1;
        }
        value = value * 16 + digit;
    }
    return value;
}

/* Appends a code point in UTF-8; returns the bytes written. */
static size_t put_point(char *out, uint32_t point)
{
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    size_t bytes = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = bytes - 1; i > 0; i--) {
        out[i] = (char)(0x80 | (point & 0x3F));
        point >>= 6;
    }
    static const unsigned char leads[5] = {0, 0, 0xC0, 0xE0, 0xF0};
    out[0] = (char)(leads[bytes] | point);
    return bytes;
}

/*
 * Reads one UTF-16 unit as \XXXX, or a code point as \+XXXXXX; -1 when it is neither. The standard
 * has both forms; Flink has the first.
 */
static int32_t read_escape(ms_str text, size_t *at)
{
    bool is_long = *at < text.bytes && text.ptr[*at] == '+';
    size_t digits = is_long ? 6 : 4;
    int32_t value = read_hex(text, *at + (is_long ? 1 : 0), digits);
    *at += digits + (is_long ? 1 : 0);
    return value;
}

/* Reads the escape behind the escape character, and its low half when it is a high surrogate. */
static int32_t read_point_escape(ms_str text, size_t *at, char escape)
{
    int32_t high = read_escape(text, at);
    if (high < 0xD800 || high > 0xDFFF) {
        return high > 0x10FFFF ? -1 : high;
    }
    bool has_low = high < 0xDC00 && *at < text.bytes && text.ptr[*at] == escape;
    if (!has_low) {
        return -1;
    }
    (*at)++;
    int32_t low = read_escape(text, at);
    if (low < 0xDC00 || low > 0xDFFF) {
        return -1;
    }
    return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
}

ms_rc ms_token_decode_unicode(const ms_token *token, char escape, ms_arena *arena, ms_str *text_out,
                              ms_status *st)
{
    *text_out = (ms_str){NULL, 0};
    ms_str text = decode_quotes(ms_str_slice(token->text, 2, token->text.bytes), arena);
    /* An escape is longer than the UTF-8 that it stands for. */
    char *out = ms_arena_alloc(arena, text.bytes, 1);
    size_t bytes = 0;
    for (size_t at = 0; at < text.bytes;) {
        char c = text.ptr[at++];
        bool is_doubled = c == escape && at < text.bytes && text.ptr[at] == escape;
        if (c != escape || is_doubled) {
            out[bytes++] = c;
            at += is_doubled ? 1 : 0;
            continue;
        }
        int32_t point = read_point_escape(text, &at, escape);
        if (point < 0) {
            ms_status_set(st, MS_INVALID_LITERAL, token->span,
                          "a U& string has an escape that is no Unicode character");
            return ms_status_hint(st, "Write %cXXXX with four hexadecimal digits.", escape);
        }
        bytes += put_point(out + bytes, (uint32_t)point);
    }
    *text_out = (ms_str){out, bytes};
    return MS_OK;
}

ms_rc ms_token_decode_binary(const ms_token *token, ms_arena *arena, ms_str *bytes_out,
                             ms_status *st)
{
    *bytes_out = (ms_str){NULL, 0};
    ms_str digits = ms_str_slice(token->text, 2, token->text.bytes - 1);
    char *out = ms_arena_alloc(arena, digits.bytes / 2, 1);
    for (size_t i = 0; i < digits.bytes / 2; i++) {
        int32_t value = read_hex(digits, i * 2, 2);
        if (value < 0) {
            ms_status_set(st, MS_INVALID_LITERAL, token->span,
                          "a binary string has a character that is no hexadecimal digit");
            return ms_status_hint(st, "Write two digits 0-9, A-F for each byte, without blanks.");
        }
        out[i] = (char)value;
    }
    if (digits.bytes % 2 != 0) {
        return ms_status_set(st, MS_INVALID_LITERAL, token->span,
                             "a binary string has an odd number of hexadecimal digits");
    }
    *bytes_out = (ms_str){out, digits.bytes / 2};
    return MS_OK;
}
