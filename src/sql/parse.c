/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser's ground floor: the token in hand and the one behind it, lists and nodes, names, and
 * the messages about text that does not fit. The entry points are at the end. What a statement, a
 * query or an expression looks like is in the other parse_*.c files.
 */
#include "sql/parse.h"

#include "sql/sql_priv.h"

#include <stdio.h>

#define NEAR_BYTES 40 /* of the offending token in a message */

/* Tokens. */

/* Moves the token behind into hand and reads another; the failure of that waits for its turn. */
static ms_rc shift_tokens(ms_parser *p)
{
    if (!ms_status_is_ok(&p->ahead_status)) {
        *p->st = p->ahead_status;
        return p->st->code;
    }
    p->token = p->ahead;
    p->ahead = (ms_token){.kind = MS_TOKEN_END};
    if (ms_lexer_next(&p->lexer, &p->ahead, &p->ahead_status) != MS_OK) {
        p->ahead = (ms_token){.kind = MS_TOKEN_END};
    }
    return MS_OK;
}

ms_rc msi_parse_advance(ms_parser *p)
{
    p->last = p->token.span;
    if (p->node_count > MS_LIMIT_AST_NODES) {
        return msi_parse_too_large(p, p->token.span, "a statement has more parts than",
                                   MS_LIMIT_AST_NODES);
    }
    if (p->node_count + p->script_nodes > MS_LIMIT_SCRIPT_NODES) {
        return msi_parse_too_large(p, p->token.span, "a script has more parts than",
                                   MS_LIMIT_SCRIPT_NODES);
    }
    return shift_tokens(p);
}

bool msi_parse_at_query(const ms_parser *p)
{
    return msi_parse_at_word(p, MS_KW_SELECT) || msi_parse_at_word(p, MS_KW_VALUES) ||
           msi_parse_at_word(p, MS_KW_WITH) ||
           (msi_parse_at_word(p, MS_KW_TABLE) && p->ahead.kind != MS_TOKEN_LPAREN);
}

ms_rc msi_parse_accept(ms_parser *p, ms_token_kind kind, bool *found_out)
{
    *found_out = msi_parse_at(p, kind);
    return *found_out ? msi_parse_advance(p) : MS_OK;
}

ms_rc msi_parse_accept_word(ms_parser *p, ms_keyword word, bool *found_out)
{
    *found_out = msi_parse_at_word(p, word);
    return *found_out ? msi_parse_advance(p) : MS_OK;
}

/* How a token reads in "expected ...". */
static const char *const kind_texts[MS_TOKEN_KIND_COUNT] = {
    [MS_TOKEN_END] = "the end",
    [MS_TOKEN_WORD] = "a word",
    [MS_TOKEN_QUOTED] = "an identifier",
    [MS_TOKEN_INTEGER] = "an integer",
    [MS_TOKEN_DECIMAL] = "a number",
    [MS_TOKEN_DOUBLE] = "a number",
    [MS_TOKEN_STRING] = "a string",
    [MS_TOKEN_UNICODE] = "a string",
    [MS_TOKEN_BINARY] = "a binary string",
    [MS_TOKEN_HINT_START] = "a hint",
    [MS_TOKEN_HINT_END] = "the end of the hint",
    [MS_TOKEN_LPAREN] = "\"(\"",
    [MS_TOKEN_RPAREN] = "\")\"",
    [MS_TOKEN_LBRACKET] = "\"[\"",
    [MS_TOKEN_RBRACKET] = "\"]\"",
    [MS_TOKEN_COMMA] = "\",\"",
    [MS_TOKEN_SEMICOLON] = "\";\"",
    [MS_TOKEN_DOT] = "\".\"",
    [MS_TOKEN_PLUS] = "\"+\"",
    [MS_TOKEN_MINUS] = "\"-\"",
    [MS_TOKEN_STAR] = "\"*\"",
    [MS_TOKEN_SLASH] = "\"/\"",
    [MS_TOKEN_PERCENT] = "\"%\"",
    [MS_TOKEN_CONCAT] = "\"||\"",
    [MS_TOKEN_EQUAL] = "\"=\"",
    [MS_TOKEN_NOT_EQUAL] = "\"<>\"",
    [MS_TOKEN_LESS] = "\"<\"",
    [MS_TOKEN_LESS_EQUAL] = "\"<=\"",
    [MS_TOKEN_GREATER] = "\">\"",
    [MS_TOKEN_GREATER_EQUAL] = "\">=\"",
    [MS_TOKEN_ARROW] = "\"=>\"",
};

ms_rc msi_parse_expect(ms_parser *p, ms_token_kind kind)
{
    if (msi_parse_at(p, kind)) {
        return msi_parse_advance(p);
    }
    return msi_parse_fail(p, "%s", kind_texts[kind]);
}

/* Errors. */

/* The words that begin a statement or a clause: what a misspelt word is compared with. */
static const ms_keyword clause_words[] = {
    MS_KW_SELECT,      MS_KW_FROM,      MS_KW_WHERE,     MS_KW_GROUP,   MS_KW_HAVING,
    MS_KW_WINDOW,      MS_KW_ORDER,     MS_KW_LIMIT,     MS_KW_OFFSET,  MS_KW_FETCH,
    MS_KW_UNION,       MS_KW_INTERSECT, MS_KW_EXCEPT,    MS_KW_JOIN,    MS_KW_INNER,
    MS_KW_LEFT,        MS_KW_RIGHT,     MS_KW_FULL,      MS_KW_CROSS,   MS_KW_LATERAL,
    MS_KW_VALUES,      MS_KW_INTO,      MS_KW_OVERWRITE, MS_KW_TABLE,   MS_KW_VIEW,
    MS_KW_WITH,        MS_KW_PRIMARY,   MS_KW_WATERMARK, MS_KW_COMMENT, MS_KW_CONSTRAINT,
    MS_KW_PARTITIONED, MS_KW_INSERT,    MS_KW_CREATE,    MS_KW_DROP,    MS_KW_EXPLAIN,
    MS_KW_DESCRIBE,    MS_KW_SHOW,      MS_KW_BETWEEN,   MS_KW_LIKE,    MS_KW_DISTINCT,
    MS_KW_INTERVAL,    MS_KW_TEMPORARY, MS_KW_STATEMENT, MS_KW_EXECUTE, MS_KW_PARTITION,
    MS_KW_METADATA,    MS_KW_VIRTUAL,   MS_KW_ENFORCED,  MS_KW_RESET,
};

/* True when both texts have the same letters in another order: FORM, FROM. */
static bool is_anagram(ms_str a, ms_str b)
{
    int counts[32] = {0};
    for (size_t i = 0; i < a.bytes && a.bytes == b.bytes; i++) {
        counts[(unsigned char)a.ptr[i] & 31]++;
        counts[(unsigned char)b.ptr[i] & 31]--;
    }
    bool all_even = a.bytes == b.bytes;
    for (size_t i = 0; i < 32; i++) {
        all_even = all_even && counts[i] == 0;
    }
    return all_even;
}

/* How far a word is from a keyword; 3 is too far to be a misspelling. */
static unsigned measure_misspelling(ms_str word, ms_keyword keyword)
{
    ms_str text = ms_str_cstr(ms_keyword_text(keyword));
    if (word.bytes < 4) {
        return 3;
    }
    unsigned distance = ms_str_distance(word, text, 2);
    bool is_too_short = word.bytes < 6 && !is_anagram(word, text);
    return distance == 2 && is_too_short ? 3 : distance;
}

/* The clause that a word is a misspelling of, or MS_KEYWORD_NONE; other keywords are none. */
static ms_keyword find_clause(ms_str word)
{
    ms_keyword nearest = MS_KEYWORD_NONE;
    unsigned nearest_distance = 3;
    if (ms_keyword_find(word) != MS_KEYWORD_NONE) {
        return MS_KEYWORD_NONE;
    }
    for (size_t i = 0; i < sizeof(clause_words) / sizeof(clause_words[0]); i++) {
        unsigned distance = measure_misspelling(word, clause_words[i]);
        if (distance < nearest_distance) {
            nearest = clause_words[i];
            nearest_distance = distance;
        }
    }
    return nearest;
}

/* Cuts a text for a message: one line, a few words, whole characters. */
static ms_str cut_near(ms_str text)
{
    size_t end = 0;
    while (end < text.bytes && end < NEAR_BYTES && (unsigned char)text.ptr[end] >= ' ') {
        end++;
    }
    while (end > 0 && end < text.bytes && ((unsigned char)text.ptr[end] & 0xC0) == 0x80) {
        end--;
    }
    return ms_str_slice(text, 0, end);
}

/*
 * The words before the place that does not fit may have been read as an alias: SELECT a FORM t
 * fails at t, but the mistake is FORM.
 */
static bool is_misspelt_alias(const ms_parser *p)
{
    return !ms_ast_ident_is_absent(p->bare_alias) && p->bare_alias.span.end == p->last.end &&
           find_clause(p->bare_alias.text) != MS_KEYWORD_NONE;
}

static void set_near(ms_parser *p)
{
    ms_span span = p->token.span;
    if (is_misspelt_alias(p)) {
        ms_status_set(p->st, MS_SYNTAX_ERROR, p->bare_alias.span,
                      "syntax error at or near \"%.*s\"", MS_STR_ARG(cut_near(p->bare_alias.text)));
        ms_status_hint(p->st, "Did you mean %s?", ms_keyword_text(find_clause(p->bare_alias.text)));
        return;
    }
    if (msi_parse_at(p, MS_TOKEN_END)) {
        span = (ms_span){p->last.end, p->last.end};
        ms_status_set(p->st, MS_SYNTAX_ERROR, span, "syntax error at the end of the text");
        return;
    }
    ms_status_set(p->st, MS_SYNTAX_ERROR, span, "syntax error at or near \"%.*s\"",
                  MS_STR_ARG(cut_near(p->token.text)));
    bool is_word = msi_parse_at(p, MS_TOKEN_WORD);
    ms_keyword clause = is_word ? find_clause(p->token.text) : MS_KEYWORD_NONE;
    if (clause != MS_KEYWORD_NONE) {
        ms_status_hint(p->st, "Did you mean %s?", ms_keyword_text(clause));
    }
    if (msi_parse_at(p, MS_TOKEN_HINT_START)) {
        ms_status_hint(p->st, "Hints stand behind SELECT and behind the name of a table, before "
                              "its alias.");
    }
}

static __attribute__((format(printf, 2, 0))) ms_rc set_expected(ms_parser *p, const char *format,
                                                                va_list args)
{
    char expected[240];
    vsnprintf(expected, sizeof(expected), format, args);
    return ms_status_detail(p->st, "expected %s", expected);
}

ms_rc msi_parse_fail(ms_parser *p, const char *format, ...)
{
    set_near(p);
    va_list args;
    va_start(args, format);
    set_expected(p, format, args);
    va_end(args);
    return p->st->code;
}

/* Words that nobody takes for a name: they were meant, and what precedes them is missing. */
static bool is_clause_start(const ms_parser *p)
{
    static const ms_keyword words[] = {
        MS_KW_FROM, MS_KW_WHERE, MS_KW_SELECT, MS_KW_AS,    MS_KW_ON,      MS_KW_HAVING,
        MS_KW_INTO, MS_KW_AND,   MS_KW_OR,     MS_KW_NOT,   MS_KW_WITH,    MS_KW_UNION,
        MS_KW_JOIN, MS_KW_TO,    MS_KW_IS,     MS_KW_IN,    MS_KW_LIKE,    MS_KW_FETCH,
        MS_KW_WHEN, MS_KW_THEN,  MS_KW_ELSE,   MS_KW_LIMIT, MS_KW_PRIMARY,
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (msi_parse_at_word(p, words[i])) {
            return true;
        }
    }
    return p->ahead.keyword == MS_KW_BY;
}

ms_rc msi_parse_fail_name(ms_parser *p, const char *format, ...)
{
    set_near(p);
    if (ms_keyword_is_reserved(p->token.keyword) && !is_clause_start(p) && !is_misspelt_alias(p)) {
        ms_status_hint(p->st, "%.*s is a reserved word; a name like it is written `%.*s`.",
                       MS_STR_ARG(p->token.text), MS_STR_ARG(p->token.text));
    }
    va_list args;
    va_start(args, format);
    set_expected(p, format, args);
    va_end(args);
    return p->st->code;
}

ms_rc msi_parse_refuse(ms_parser *p, ms_span span, const char *what, const char *hint)
{
    ms_status_set(p->st, MS_NOT_SUPPORTED, span, "%s is not supported", what);
    return hint == NULL ? p->st->code : ms_status_hint(p->st, "%s", hint);
}

ms_rc msi_parse_too_large(ms_parser *p, ms_span span, const char *what, uint32_t limit)
{
    return ms_status_set(p->st, MS_STATEMENT_TOO_LARGE, span, "%s the limit of %u", what, limit);
}

ms_rc msi_parse_expect_word(ms_parser *p, ms_keyword word)
{
    if (msi_parse_at_word(p, word)) {
        return msi_parse_advance(p);
    }
    bool is_unknown = msi_parse_at(p, MS_TOKEN_WORD) && p->token.keyword == MS_KEYWORD_NONE;
    bool is_near = is_unknown && measure_misspelling(p->token.text, word) < 3;
    msi_parse_fail(p, "%s", ms_keyword_text(word));
    return is_near ? ms_status_hint(p->st, "Did you mean %s?", ms_keyword_text(word)) : p->st->code;
}

/* True when the token could begin another item of a list: then it is the comma that is missing. */
static bool at_item_start(const ms_parser *p)
{
    return msi_parse_at_name(p) || msi_parse_at(p, MS_TOKEN_STRING) ||
           msi_parse_at(p, MS_TOKEN_INTEGER) || msi_parse_at(p, MS_TOKEN_DECIMAL) ||
           msi_parse_at_word(p, MS_KW_CASE) || msi_parse_at_word(p, MS_KW_CAST) ||
           msi_parse_at_word(p, MS_KW_WATERMARK) || msi_parse_at_word(p, MS_KW_PRIMARY) ||
           msi_parse_at_word(p, MS_KW_CONSTRAINT);
}

ms_rc msi_parse_next_item(ms_parser *p, ms_token_kind closing, bool *more_out)
{
    MS_TRY(msi_parse_accept(p, MS_TOKEN_COMMA, more_out));
    if (*more_out) {
        return MS_OK;
    }
    if (msi_parse_at(p, closing)) {
        return msi_parse_advance(p);
    }
    bool is_item = at_item_start(p);
    msi_parse_fail_name(p, "\",\" or %s", kind_texts[closing]);
    return is_item ? ms_status_hint(p->st, "Perhaps a comma is missing before it.") : p->st->code;
}

/* Nodes and lists. */

ms_rc msi_parse_enter(ms_parser *p)
{
    if (p->depth >= MS_LIMIT_EXPR_DEPTH) {
        return msi_parse_too_large(p, p->token.span, "the statement nests deeper than",
                                   MS_LIMIT_EXPR_DEPTH);
    }
    p->depth++;
    return MS_OK;
}

void *msi_parse_node(ms_parser *p, size_t bytes)
{
    p->node_count++;
    return ms_arena_calloc(p->arena, 1, bytes, _Alignof(max_align_t));
}

ms_rc msi_parse_push(ms_parser *p, ms_parse_list *list, const void *item, size_t item_bytes)
{
    if (list->count == list->capacity) {
        uint32_t capacity = list->capacity == 0 ? 4 : list->capacity * 2;
        void *items = ms_arena_calloc(p->arena, capacity, item_bytes, _Alignof(max_align_t));
        if (list->count > 0) {
            memcpy(items, list->items, list->count * item_bytes);
        }
        list->items = items;
        list->capacity = capacity;
    }
    if (list->count >= MS_LIMIT_LIST_ITEMS) {
        return msi_parse_too_large(p, p->last, "a list has more items than", MS_LIMIT_LIST_ITEMS);
    }
    p->node_count++;
    memcpy((char *)list->items + list->count * item_bytes, item, item_bytes);
    list->count++;
    return MS_OK;
}

ms_rc msi_parse_height(ms_parser *p, ms_span span, uint32_t child_height, uint32_t *height_out)
{
    *height_out = child_height + 1;
    if (*height_out > MS_LIMIT_EXPR_DEPTH) {
        return msi_parse_too_large(p, span, "the statement nests deeper than", MS_LIMIT_EXPR_DEPTH);
    }
    return MS_OK;
}

ms_rc msi_parse_finish(ms_parser *p, ms_ast_expr *head, ms_ast_expr_kind kind, uint32_t start,
                       uint32_t child_height)
{
    head->kind = kind;
    head->span = msi_parse_span(p, start);
    return msi_parse_height(p, head->span, child_height, &head->height);
}

/* Names and small literals. */

bool msi_parse_at_name(const ms_parser *p)
{
    return msi_parse_at(p, MS_TOKEN_QUOTED) ||
           (msi_parse_at(p, MS_TOKEN_WORD) && !ms_keyword_is_reserved(p->token.keyword));
}

/* Takes the token, whatever word it is, as an identifier. */
static ms_rc take_name(ms_parser *p, ms_ast_ident *ident_out)
{
    ms_str text = ms_token_decode_name(&p->token, p->arena);
    if (text.bytes > MS_LIMIT_IDENTIFIER_BYTES) {
        return msi_parse_too_large(p, p->token.span, "an identifier has more bytes than",
                                   MS_LIMIT_IDENTIFIER_BYTES);
    }
    *ident_out = (ms_ast_ident){.text = text, .span = p->token.span};
    return msi_parse_advance(p);
}

ms_rc msi_parse_name(ms_parser *p, const char *what, ms_ast_ident *ident_out)
{
    if (!msi_parse_at_name(p)) {
        return msi_parse_fail_name(p, "%s", what);
    }
    return take_name(p, ident_out);
}

/* Reads a path whose first part the caller has checked. */
static ms_rc take_path(ms_parser *p, ms_ast_path *path_out)
{
    uint32_t start = p->token.span.start;
    ms_parse_list parts = {0};
    ms_ast_ident part = {0};
    MS_TRY(take_name(p, &part));
    MS_TRY(msi_parse_push(p, &parts, &part, sizeof(part)));
    while (msi_parse_at(p, MS_TOKEN_DOT) && p->ahead.kind != MS_TOKEN_STAR) {
        MS_TRY(msi_parse_advance(p));
        MS_TRY(msi_parse_name(p, "a name", &part));
        MS_TRY(msi_parse_push(p, &parts, &part, sizeof(part)));
    }
    path_out->parts = parts.items;
    path_out->count = parts.count;
    path_out->span = msi_parse_span(p, start);
    return MS_OK;
}

ms_rc msi_parse_path(ms_parser *p, const char *what, ms_ast_path *path_out)
{
    return msi_parse_at_name(p) ? take_path(p, path_out) : msi_parse_fail_name(p, "%s", what);
}

ms_rc msi_parse_function_path(ms_parser *p, const char *what, ms_ast_path *path_out)
{
    bool is_function = msi_parse_at(p, MS_TOKEN_WORD) && p->ahead.kind == MS_TOKEN_LPAREN &&
                       ms_keyword_may_name_function(p->token.keyword);
    return is_function ? take_path(p, path_out) : msi_parse_path(p, what, path_out);
}

ms_rc msi_parse_name_list(ms_parser *p, const char *what, const ms_ast_ident **names_out,
                          uint32_t *count_out)
{
    ms_parse_list names = {0};
    bool more = false;
    MS_TRY(msi_parse_accept(p, MS_TOKEN_LPAREN, &more));
    while (more) {
        ms_ast_ident name = {0};
        MS_TRY(msi_parse_name(p, what, &name));
        MS_TRY(msi_parse_push(p, &names, &name, sizeof(name)));
        MS_TRY(msi_parse_next_item(p, MS_TOKEN_RPAREN, &more));
    }
    *names_out = names.items;
    *count_out = names.count;
    return MS_OK;
}

ms_rc msi_parse_text(ms_parser *p, const char *what, ms_ast_text *text_out)
{
    if (!msi_parse_at(p, MS_TOKEN_STRING)) {
        return msi_parse_fail(p, "%s in single quotes", what);
    }
    text_out->text = ms_token_decode_string(&p->token, p->arena);
    text_out->span = p->token.span;
    return msi_parse_advance(p);
}

ms_rc msi_parse_integer(ms_parser *p, const char *what, int64_t max, int64_t *value_out)
{
    if (!msi_parse_at(p, MS_TOKEN_INTEGER)) {
        return msi_parse_fail(p, "%s", what);
    }
    int64_t value = 0;
    for (size_t i = 0; i < p->token.text.bytes && value <= max; i++) {
        int64_t digit = p->token.text.ptr[i] - '0';
        value = value > (INT64_MAX - digit) / 10 ? INT64_MAX : value * 10 + digit;
    }
    if (value > max) {
        return ms_status_set(p->st, MS_NUMERIC_OUT_OF_RANGE, p->token.span,
                             "the number %.*s is too large", MS_STR_ARG(cut_near(p->token.text)));
    }
    *value_out = value;
    return msi_parse_advance(p);
}

static ms_rc parse_option(ms_parser *p, ms_ast_option *option)
{
    *option = (ms_ast_option){0};
    bool is_bare = msi_parse_at(p, MS_TOKEN_WORD) || msi_parse_at(p, MS_TOKEN_QUOTED);
    if (is_bare) {
        msi_parse_fail(p, "a key in single quotes");
        return ms_status_hint(p->st, "Write options as 'key' = 'value'.");
    }
    MS_TRY(msi_parse_text(p, "a key", &option->key));
    MS_TRY(msi_parse_expect(p, MS_TOKEN_EQUAL));
    if (!msi_parse_at(p, MS_TOKEN_STRING)) {
        msi_parse_fail(p, "a value in single quotes");
        return ms_status_hint(p->st, "Write options as 'key' = 'value', numbers and booleans too.");
    }
    return msi_parse_text(p, "a value", &option->value);
}

ms_rc msi_parse_options(ms_parser *p, const ms_ast_option **options_out, uint32_t *count_out)
{
    ms_parse_list options = {0};
    bool is_empty = false;
    MS_TRY(msi_parse_accept(p, MS_TOKEN_RPAREN, &is_empty));
    for (bool more = !is_empty; more;) {
        ms_ast_option option;
        MS_TRY(parse_option(p, &option));
        MS_TRY(msi_parse_push(p, &options, &option, sizeof(option)));
        MS_TRY(msi_parse_next_item(p, MS_TOKEN_RPAREN, &more));
    }
    *options_out = options.items;
    *count_out = options.count;
    return MS_OK;
}

/* One argument of a hint: 'key' = 'value', or a word, or a literal. */
static ms_rc parse_hint_arg(ms_parser *p, ms_ast_option *arg)
{
    *arg = (ms_ast_option){0};
    if (msi_parse_at(p, MS_TOKEN_STRING) && p->ahead.kind == MS_TOKEN_EQUAL) {
        return parse_option(p, arg);
    }
    arg->key.span = p->token.span;
    if (msi_parse_at(p, MS_TOKEN_STRING)) {
        arg->key.text = ms_token_decode_string(&p->token, p->arena);
    } else if (msi_parse_at(p, MS_TOKEN_INTEGER)) {
        arg->key.text = p->token.text;
    } else if (msi_parse_at_name(p)) {
        arg->key.text = ms_token_decode_name(&p->token, p->arena);
    } else {
        return msi_parse_fail_name(p, "a name or 'key' = 'value'");
    }
    return msi_parse_advance(p);
}

static ms_rc parse_hint(ms_parser *p, ms_ast_hint *hint)
{
    *hint = (ms_ast_hint){0};
    ms_parse_list args = {0};
    uint32_t start = p->token.span.start;
    MS_TRY(msi_parse_name(p, "the name of a hint", &hint->name));
    bool more = false;
    MS_TRY(msi_parse_accept(p, MS_TOKEN_LPAREN, &more));
    while (more) {
        ms_ast_option arg;
        MS_TRY(parse_hint_arg(p, &arg));
        MS_TRY(msi_parse_push(p, &args, &arg, sizeof(arg)));
        MS_TRY(msi_parse_next_item(p, MS_TOKEN_RPAREN, &more));
    }
    hint->args = args.items;
    hint->arg_count = args.count;
    hint->span = msi_parse_span(p, start);
    return MS_OK;
}

ms_rc msi_parse_hints(ms_parser *p, const ms_ast_hint **hints_out, uint32_t *count_out)
{
    ms_parse_list hints = {0};
    bool more = false;
    MS_TRY(msi_parse_accept(p, MS_TOKEN_HINT_START, &more));
    while (more) {
        ms_ast_hint hint;
        MS_TRY(parse_hint(p, &hint));
        MS_TRY(msi_parse_push(p, &hints, &hint, sizeof(hint)));
        MS_TRY(msi_parse_next_item(p, MS_TOKEN_HINT_END, &more));
    }
    *hints_out = hints.items;
    *count_out = hints.count;
    return MS_OK;
}

/* Entry points. */

static ms_rc start_parser(ms_parser *p, const ms_source *source, ms_arena *arena, ms_status *st)
{
    *p = (ms_parser){.source = source, .arena = arena, .st = st};
    ms_lexer_init(&p->lexer, source);
    p->ahead = (ms_token){.kind = MS_TOKEN_END};
    MS_TRY(shift_tokens(p));
    MS_TRY(shift_tokens(p));
    p->last = (ms_span){0, 0};
    return MS_OK;
}

/* Checks that nothing is left. */
static ms_rc finish_text(ms_parser *p)
{
    return msi_parse_at(p, MS_TOKEN_END) ? MS_OK : msi_parse_fail_name(p, "the end of the text");
}

ms_rc ms_sql_parse_query(const ms_source *source, ms_arena *arena, const ms_ast_query **query_out,
                         ms_status *st)
{
    ms_parser p;
    const ms_ast_query *query = NULL;
    *query_out = NULL;
    MS_TRY(start_parser(&p, source, arena, st));
    MS_TRY(msi_parse_query(&p, &query));
    MS_TRY(finish_text(&p));
    *query_out = query;
    return MS_OK;
}

ms_rc ms_sql_parse_expr(const ms_source *source, ms_arena *arena, const ms_ast_expr **expr_out,
                        ms_status *st)
{
    ms_parser p;
    const ms_ast_expr *expr = NULL;
    *expr_out = NULL;
    MS_TRY(start_parser(&p, source, arena, st));
    MS_TRY(msi_parse_expr(&p, &expr));
    MS_TRY(finish_text(&p));
    *expr_out = expr;
    return MS_OK;
}

ms_rc ms_sql_parse_type(const ms_source *source, ms_arena *arena, const ms_ast_type **type_out,
                        ms_status *st)
{
    ms_parser p;
    const ms_ast_type *type = NULL;
    *type_out = NULL;
    MS_TRY(start_parser(&p, source, arena, st));
    MS_TRY(msi_parse_type(&p, &type));
    MS_TRY(finish_text(&p));
    *type_out = type;
    return MS_OK;
}

/* One statement and the semicolon behind it, if it is not the last. */
static ms_rc parse_script_stmt(ms_parser *p, ms_parse_list *stmts)
{
    const ms_ast_stmt *stmt = NULL;
    MS_TRY(msi_parse_stmt(p, &stmt));
    MS_TRY(msi_parse_push(p, stmts, &stmt, sizeof(stmt)));
    if (!msi_parse_at(p, MS_TOKEN_SEMICOLON) && !msi_parse_at(p, MS_TOKEN_END)) {
        return msi_parse_fail_name(p, "the end of the statement");
    }
    p->script_nodes += p->node_count;
    p->node_count = 0;
    return MS_OK;
}

ms_rc ms_sql_parse_script(const ms_source *source, ms_arena *arena,
                          const ms_ast_script **script_out, ms_status *st)
{
    ms_parser p;
    ms_parse_list stmts = {0};
    *script_out = NULL;
    MS_TRY(start_parser(&p, source, arena, st));
    while (!msi_parse_at(&p, MS_TOKEN_END)) {
        if (msi_parse_at(&p, MS_TOKEN_SEMICOLON)) {
            MS_TRY(msi_parse_advance(&p));
        } else {
            MS_TRY(parse_script_stmt(&p, &stmts));
        }
    }
    ms_ast_script *script = ms_arena_new(arena, ms_ast_script);
    script->stmts = stmts.items;
    script->stmt_count = stmts.count;
    *script_out = script;
    return MS_OK;
}
