/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lexer: the expanded text of a source to tokens, one at a time. Blanks and comments (-- and //
 * to the end of the line, slash-star blocks, which do not nest) are skipped; a slash-star with a
 * plus is not a comment but the start of a hint.
 *
 *     ms_lexer lexer;
 *     ms_lexer_init(&lexer, &source);
 *     do {
 *         MS_TRY(ms_lexer_next(&lexer, &token, st));
 *     } while (token.kind != MS_TOKEN_END);
 *
 * Tokens hold their text as it stands; quotes are taken off and escapes resolved by the decoding
 * functions, since most quoted texts are their own value. Spans are offsets into the text as
 * written.
 *
 * Ownership: tokens view the source. Thread: one at a time.
 */
#ifndef MS_SQL_LEXER_H
#define MS_SQL_LEXER_H

#include "sql/keyword.h"
#include "sql/source.h"

typedef enum ms_token_kind {
    MS_TOKEN_END,
    MS_TOKEN_WORD,    /* a keyword or a plain identifier */
    MS_TOKEN_QUOTED,  /* `identifier` */
    MS_TOKEN_INTEGER, /* 12 */
    MS_TOKEN_DECIMAL, /* 1.5, .5, 5. */
    MS_TOKEN_DOUBLE,  /* 1e3, 1.5E-3 */
    MS_TOKEN_STRING,  /* 'text' */
    MS_TOKEN_UNICODE, /* U&'text' */
    MS_TOKEN_BINARY,  /* X'0aff' */
    MS_TOKEN_HINT_START,
    MS_TOKEN_HINT_END,
    MS_TOKEN_LPAREN,
    MS_TOKEN_RPAREN,
    MS_TOKEN_LBRACKET,
    MS_TOKEN_RBRACKET,
    MS_TOKEN_COMMA,
    MS_TOKEN_SEMICOLON,
    MS_TOKEN_DOT,
    MS_TOKEN_PLUS,
    MS_TOKEN_MINUS,
    MS_TOKEN_STAR,
    MS_TOKEN_SLASH,
    MS_TOKEN_PERCENT,
    MS_TOKEN_CONCAT,
    MS_TOKEN_EQUAL,
    MS_TOKEN_NOT_EQUAL,
    MS_TOKEN_LESS,
    MS_TOKEN_LESS_EQUAL,
    MS_TOKEN_GREATER,
    MS_TOKEN_GREATER_EQUAL,
    MS_TOKEN_ARROW, /* => */
    MS_TOKEN_KIND_COUNT
} ms_token_kind;

typedef struct ms_token {
    ms_token_kind kind;
    ms_keyword keyword; /* of a word, else MS_KEYWORD_NONE */
    bool after_newline; /* a line feed lies between it and the token before */
    ms_str text;        /* all of it, quotes and prefix included */
    ms_span span;
} ms_token;

/* Fields are private. */
typedef struct ms_lexer {
    const ms_source *source;
    uint32_t offset;
    bool in_hint;
} ms_lexer;

void ms_lexer_init(ms_lexer *lexer, const ms_source *source);

/*
 * Reads the next token; at the end of the text MS_TOKEN_END, as often as asked. Fails with
 * MS_SYNTAX_ERROR at a character that starts no token and at an unterminated string, identifier or
 * comment.
 */
ms_rc ms_lexer_next(ms_lexer *lexer, ms_token *token_out, ms_status *st) MS_MUST_USE;

/* The name in a word or a quoted identifier, which need not be a view of the source. */
ms_str ms_token_decode_name(const ms_token *token, ms_arena *arena);

/* The text in a plain string. */
ms_str ms_token_decode_string(const ms_token *token, ms_arena *arena);

/*
 * The text in a U& string; escape is the escape character, a backslash unless UESCAPE says
 * otherwise. Fails with MS_INVALID_LITERAL at a bad escape.
 */
ms_rc ms_token_decode_unicode(const ms_token *token, char escape, ms_arena *arena, ms_str *text_out,
                              ms_status *st) MS_MUST_USE;

/* The bytes in an X string. Fails with MS_INVALID_LITERAL at what is no pair of hex digits. */
ms_rc ms_token_decode_binary(const ms_token *token, ms_arena *arena, ms_str *bytes_out,
                             ms_status *st) MS_MUST_USE;

#endif
