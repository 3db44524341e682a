/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions without operators: literals, names, constructors, CASE, CAST, sub-queries, and the
 * field and item accesses behind them. Calls are in parse_call.c.
 */
#include "sql/sql_priv.h"

/* Literals. */

static ms_ast_literal *new_literal(ms_parser *p, ms_ast_literal_type type, ms_str text)
{
    ms_ast_literal *literal = msi_parse_new(p, ms_ast_literal);
    literal->type = type;
    literal->text = text;
    return literal;
}

static ms_rc finish_literal(ms_parser *p, ms_ast_literal *literal, uint32_t start,
                            const ms_ast_expr **expr_out)
{
    MS_TRY(msi_parse_finish(p, &literal->head, MS_AST_LITERAL, start, 0));
    *expr_out = &literal->head;
    return MS_OK;
}

ms_rc msi_parse_number(ms_parser *p, const char *what, const ms_ast_expr **expr_out)
{
    uint32_t start = p->token.span.start;
    ms_ast_literal_type type = MS_AST_LITERAL_INTEGER;
    if (msi_parse_at(p, MS_TOKEN_DECIMAL)) {
        type = MS_AST_LITERAL_DECIMAL;
    } else if (msi_parse_at(p, MS_TOKEN_DOUBLE)) {
        type = MS_AST_LITERAL_DOUBLE;
    } else if (!msi_parse_at(p, MS_TOKEN_INTEGER)) {
        return msi_parse_fail(p, "%s", what);
    }
    ms_ast_literal *literal = new_literal(p, type, p->token.text);
    MS_TRY(msi_parse_advance(p));
    return finish_literal(p, literal, start, expr_out);
}

/* TRUE, FALSE, UNKNOWN, NULL. */
static ms_rc parse_constant(ms_parser *p, ms_ast_literal_type type, const ms_ast_expr **expr_out)
{
    uint32_t start = p->token.span.start;
    ms_ast_literal *literal = new_literal(p, type, (ms_str){NULL, 0});
    MS_TRY(msi_parse_advance(p));
    return finish_literal(p, literal, start, expr_out);
}

/* UESCAPE 'c' behind U&'...'. */
static ms_rc parse_uescape(ms_parser *p, char *escape_out)
{
    bool found = false;
    *escape_out = '\\';
    MS_TRY(msi_parse_accept_word(p, MS_KW_UESCAPE, &found));
    if (!found) {
        return MS_OK;
    }
    ms_ast_text text = {0};
    MS_TRY(msi_parse_text(p, "an escape character", &text));
    char c = text.text.bytes == 1 ? text.text.ptr[0] : '0';
    bool is_hex = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    if (is_hex || c <= ' ' || c == '+' || c == '\'' || c == '"' || c == 0x7F) {
        return ms_status_set(p->st, MS_INVALID_LITERAL, text.span,
                             "UESCAPE takes one character that is no digit, plus, quote or blank");
    }
    *escape_out = c;
    return MS_OK;
}

/* The value of the string in hand. */
static ms_rc take_string(ms_parser *p, ms_str *text_out)
{
    ms_token token = p->token;
    MS_TRY(msi_parse_advance(p));
    if (token.kind == MS_TOKEN_UNICODE) {
        char escape = 0;
        MS_TRY(parse_uescape(p, &escape));
        return ms_token_decode_unicode(&token, escape, p->arena, text_out, p->st);
    }
    if (token.kind == MS_TOKEN_BINARY) {
        return ms_token_decode_binary(&token, p->arena, text_out, p->st);
    }
    *text_out = ms_token_decode_string(&token, p->arena);
    return MS_OK;
}

/* Appends the strings on the lines below: 'a' line feed 'b' is 'ab'. */
static ms_rc take_continued_string(ms_parser *p, ms_str *text_out)
{
    ms_parse_list pieces = {0};
    size_t bytes = 0;
    ms_str piece = {NULL, 0};
    MS_TRY(take_string(p, text_out));
    if (!msi_parse_at(p, MS_TOKEN_STRING)) {
        return MS_OK;
    }
    MS_TRY(msi_parse_push(p, &pieces, text_out, sizeof(*text_out)));
    bytes = text_out->bytes;
    while (msi_parse_at(p, MS_TOKEN_STRING)) {
        if (!p->token.after_newline) {
            msi_parse_fail(p, "an operator or \",\"");
            return ms_status_hint(p->st,
                                  "Strings are joined by || or by a line feed between them.");
        }
        MS_TRY(take_string(p, &piece));
        MS_TRY(msi_parse_push(p, &pieces, &piece, sizeof(piece)));
        bytes += piece.bytes;
    }
    char *out = ms_arena_alloc(p->arena, bytes, 1);
    *text_out = (ms_str){out, bytes};
    const ms_str *items = pieces.items;
    for (uint32_t i = 0; i < pieces.count; i++) {
        if (items[i].bytes > 0) {
            memcpy(out, items[i].ptr, items[i].bytes);
            out += items[i].bytes;
        }
    }
    return MS_OK;
}

static ms_rc parse_string(ms_parser *p, const ms_ast_expr **expr_out)
{
    uint32_t start = p->token.span.start;
    bool is_binary = msi_parse_at(p, MS_TOKEN_BINARY);
    ms_str text = {NULL, 0};
    if (is_binary) {
        MS_TRY(take_string(p, &text));
    } else {
        MS_TRY(take_continued_string(p, &text));
    }
    ms_ast_literal_type type = is_binary ? MS_AST_LITERAL_BINARY : MS_AST_LITERAL_STRING;
    return finish_literal(p, new_literal(p, type, text), start, expr_out);
}

/* DATE '...', TIME '...', TIMESTAMP '...'. */
static ms_rc parse_time_literal(ms_parser *p, ms_ast_literal_type type,
                                const ms_ast_expr **expr_out)
{
    uint32_t start = p->token.span.start;
    if (p->ahead.kind != MS_TOKEN_STRING) {
        return msi_parse_fail_name(p, "an expression");
    }
    MS_TRY(msi_parse_advance(p));
    ms_ast_literal *literal = new_literal(p, type, ms_token_decode_string(&p->token, p->arena));
    MS_TRY(msi_parse_advance(p));
    return finish_literal(p, literal, start, expr_out);
}

/* Intervals. */

static const struct {
    ms_keyword singular;
    ms_keyword plural; /* MS_KEYWORD_NONE: none */
    ms_ast_unit unit;
} units[] = {
    {MS_KW_NANOSECOND, MS_KEYWORD_NONE, MS_AST_UNIT_NANOSECOND},
    {MS_KW_MICROSECOND, MS_KEYWORD_NONE, MS_AST_UNIT_MICROSECOND},
    {MS_KW_MILLISECOND, MS_KEYWORD_NONE, MS_AST_UNIT_MILLISECOND},
    {MS_KW_SECOND, MS_KW_SECONDS, MS_AST_UNIT_SECOND},
    {MS_KW_MINUTE, MS_KW_MINUTES, MS_AST_UNIT_MINUTE},
    {MS_KW_HOUR, MS_KW_HOURS, MS_AST_UNIT_HOUR},
    {MS_KW_DAY, MS_KW_DAYS, MS_AST_UNIT_DAY},
    {MS_KW_WEEK, MS_KW_WEEKS, MS_AST_UNIT_WEEK},
    {MS_KW_MONTH, MS_KW_MONTHS, MS_AST_UNIT_MONTH},
    {MS_KW_QUARTER, MS_KW_QUARTERS, MS_AST_UNIT_QUARTER},
    {MS_KW_YEAR, MS_KW_YEARS, MS_AST_UNIT_YEAR},
    {MS_KW_DECADE, MS_KEYWORD_NONE, MS_AST_UNIT_DECADE},
    {MS_KW_CENTURY, MS_KEYWORD_NONE, MS_AST_UNIT_CENTURY},
    {MS_KW_MILLENNIUM, MS_KEYWORD_NONE, MS_AST_UNIT_MILLENNIUM},
    {MS_KW_DOW, MS_KEYWORD_NONE, MS_AST_UNIT_DOW},
    {MS_KW_ISODOW, MS_KEYWORD_NONE, MS_AST_UNIT_ISODOW},
    {MS_KW_DOY, MS_KEYWORD_NONE, MS_AST_UNIT_DOY},
    {MS_KW_ISOYEAR, MS_KEYWORD_NONE, MS_AST_UNIT_ISOYEAR},
    {MS_KW_EPOCH, MS_KEYWORD_NONE, MS_AST_UNIT_EPOCH},
    {MS_KW_FRAC_SECOND, MS_KEYWORD_NONE, MS_AST_UNIT_MICROSECOND},
    {MS_KW_SQL_TSI_FRAC_SECOND, MS_KEYWORD_NONE, MS_AST_UNIT_MICROSECOND},
    {MS_KW_SQL_TSI_MICROSECOND, MS_KEYWORD_NONE, MS_AST_UNIT_MICROSECOND},
    {MS_KW_SQL_TSI_SECOND, MS_KEYWORD_NONE, MS_AST_UNIT_SECOND},
    {MS_KW_SQL_TSI_MINUTE, MS_KEYWORD_NONE, MS_AST_UNIT_MINUTE},
    {MS_KW_SQL_TSI_HOUR, MS_KEYWORD_NONE, MS_AST_UNIT_HOUR},
    {MS_KW_SQL_TSI_DAY, MS_KEYWORD_NONE, MS_AST_UNIT_DAY},
    {MS_KW_SQL_TSI_WEEK, MS_KEYWORD_NONE, MS_AST_UNIT_WEEK},
    {MS_KW_SQL_TSI_MONTH, MS_KEYWORD_NONE, MS_AST_UNIT_MONTH},
    {MS_KW_SQL_TSI_QUARTER, MS_KEYWORD_NONE, MS_AST_UNIT_QUARTER},
    {MS_KW_SQL_TSI_YEAR, MS_KEYWORD_NONE, MS_AST_UNIT_YEAR},
};

ms_ast_unit msi_parse_unit_of(const ms_token *token, bool plurals)
{
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        bool is_plural = plurals && token->keyword == units[i].plural;
        if (token->keyword != MS_KEYWORD_NONE &&
            (token->keyword == units[i].singular || is_plural)) {
            return units[i].unit;
        }
    }
    return MS_AST_UNIT_NONE;
}

/* A unit of an interval: second to year, no others. */
static ms_rc parse_interval_unit(ms_parser *p, ms_ast_unit *unit_out)
{
    ms_ast_unit unit = msi_parse_unit_of(&p->token, true);
    if (unit < MS_AST_UNIT_SECOND || unit > MS_AST_UNIT_YEAR) {
        return msi_parse_fail(p, "YEAR, QUARTER, MONTH, WEEK, DAY, HOUR, MINUTE or SECOND");
    }
    *unit_out = unit;
    return msi_parse_advance(p);
}

/* True for the ranges of the grammar: YEAR TO MONTH, and DAY to SECOND downwards. */
static bool is_unit_range(ms_ast_unit start, ms_ast_unit end)
{
    bool is_day_time = start <= MS_AST_UNIT_DAY && end >= MS_AST_UNIT_SECOND && end < start;
    return is_day_time || (start == MS_AST_UNIT_YEAR && end == MS_AST_UNIT_MONTH);
}

static ms_rc parse_interval_precision(ms_parser *p, int32_t *precision_out)
{
    int64_t value = 0;
    MS_TRY(msi_parse_integer(p, "an integer", INT32_MAX, &value));
    *precision_out = (int32_t)value;
    return MS_OK;
}

/* (precision), and for seconds (precision, fraction). */
static ms_rc parse_leading_precision(ms_parser *p, ms_ast_qualifier *qualifier)
{
    bool found = false;
    MS_TRY(msi_parse_accept(p, MS_TOKEN_LPAREN, &found));
    if (!found) {
        return MS_OK;
    }
    MS_TRY(parse_interval_precision(p, &qualifier->precision));
    if (qualifier->start == MS_AST_UNIT_SECOND) {
        MS_TRY(msi_parse_accept(p, MS_TOKEN_COMMA, &found));
        if (found) {
            MS_TRY(parse_interval_precision(p, &qualifier->fraction));
        }
    }
    return msi_parse_expect(p, MS_TOKEN_RPAREN);
}

/* TO unit [(fraction)]. */
static ms_rc parse_qualifier_end(ms_parser *p, uint32_t start, ms_ast_qualifier *qualifier)
{
    bool found = false;
    MS_TRY(msi_parse_accept_word(p, MS_KW_TO, &found));
    if (!found) {
        return MS_OK;
    }
    MS_TRY(parse_interval_unit(p, &qualifier->end));
    if (!is_unit_range(qualifier->start, qualifier->end)) {
        ms_status_set(p->st, MS_SYNTAX_ERROR, msi_parse_span(p, start),
                      "an interval cannot range from %s to %s", ms_ast_unit_name(qualifier->start),
                      ms_ast_unit_name(qualifier->end));
        return ms_status_hint(p->st, "Ranges are YEAR TO MONTH, and DAY, HOUR or MINUTE TO a "
                                     "smaller unit down to SECOND.");
    }
    if (qualifier->end != MS_AST_UNIT_SECOND) {
        return MS_OK;
    }
    MS_TRY(msi_parse_accept(p, MS_TOKEN_LPAREN, &found));
    if (!found) {
        return MS_OK;
    }
    MS_TRY(parse_interval_precision(p, &qualifier->fraction));
    return msi_parse_expect(p, MS_TOKEN_RPAREN);
}

ms_rc msi_parse_qualifier(ms_parser *p, bool is_single, ms_ast_qualifier *qualifier_out)
{
    uint32_t start = p->token.span.start;
    *qualifier_out = (ms_ast_qualifier){.precision = MS_AST_UNSET, .fraction = MS_AST_UNSET};
    MS_TRY(parse_interval_unit(p, &qualifier_out->start));
    MS_TRY(parse_leading_precision(p, qualifier_out));
    if (!is_single) {
        MS_TRY(parse_qualifier_end(p, start, qualifier_out));
    }
    qualifier_out->span = msi_parse_span(p, start);
    return MS_OK;
}

/* INTERVAL [sign] number | name | (expr) unit; the sign is read. */
static ms_rc parse_interval_expr(ms_parser *p, uint32_t start, bool negative,
                                 const ms_ast_expr **expr_out)
{
    ms_ast_interval *interval = msi_parse_new(p, ms_ast_interval);
    bool is_paren = false;
    interval->negative = negative;
    MS_TRY(msi_parse_accept(p, MS_TOKEN_LPAREN, &is_paren));
    if (is_paren) {
        MS_TRY(msi_parse_expr(p, &interval->operand));
        MS_TRY(msi_parse_expect(p, MS_TOKEN_RPAREN));
    } else if (msi_parse_at_name(p)) {
        uint32_t name_start = p->token.span.start;
        ms_ast_name *name = msi_parse_new(p, ms_ast_name);
        MS_TRY(msi_parse_path(p, "a name", &name->path));
        MS_TRY(msi_parse_finish(p, &name->head, MS_AST_NAME, name_start, 0));
        interval->operand = &name->head;
    } else {
        MS_TRY(msi_parse_number(p, "a string, a number, a name or \"(\"", &interval->operand));
    }
    MS_TRY(msi_parse_qualifier(p, true, &interval->qualifier));
    MS_TRY(msi_parse_finish(p, &interval->head, MS_AST_INTERVAL, start, interval->operand->height));
    *expr_out = &interval->head;
    return MS_OK;
}

static ms_rc parse_interval(ms_parser *p, const ms_ast_expr **expr_out)
{
    uint32_t start = p->token.span.start;
    bool negative = false;
    bool positive = false;
    MS_TRY(msi_parse_advance(p));
    MS_TRY(msi_parse_accept(p, MS_TOKEN_MINUS, &negative));
    if (!negative) {
        MS_TRY(msi_parse_accept(p, MS_TOKEN_PLUS, &positive));
    }
    if (!msi_parse_at(p, MS_TOKEN_STRING)) {
        return parse_interval_expr(p, start, negative, expr_out);
    }
    ms_ast_literal *literal =
        new_literal(p, MS_AST_LITERAL_INTERVAL, ms_token_decode_string(&p->token, p->arena));
    literal->negative = negative;
    MS_TRY(msi_parse_advance(p));
    MS_TRY(msi_parse_qualifier(p, false, &literal->qualifier));
    return finish_literal(p, literal, start, expr_out);
}

/* CASE, CAST, EXISTS. */

static ms_rc parse_when(ms_parser *p, bool is_simple, ms_ast_when *when, uint32_t *height)
{
    ms_parse_list conditions = {0};
    for (bool more = true; more;) {
        const ms_ast_expr *condition = NULL;
        MS_TRY(msi_parse_expr(p, &condition));
        MS_TRY(msi_parse_push(p, &conditions, &condition, sizeof(condition)));
        *height = msi_parse_max(*height, condition->height);
        more = false;
        if (is_simple) {
            MS_TRY(msi_parse_accept(p, MS_TOKEN_COMMA, &more));
        }
    }
    MS_TRY(msi_parse_expect_word(p, MS_KW_THEN));
    MS_TRY(msi_parse_expr(p, &when->result));
    *height = msi_parse_max(*height, when->result->height);
    when->conditions = conditions.items;
    when->condition_count = conditions.count;
    return MS_OK;
}

static ms_rc parse_case(ms_parser *p, const ms_ast_expr **expr_out)
{
    uint32_t start = p->token.span.start;
    ms_ast_case *choice = msi_parse_new(p, ms_ast_case);
    ms_parse_list whens = {0};
    uint32_t height = 0;
    MS_TRY(msi_parse_advance(p));
    if (!msi_parse_at_word(p, MS_KW_WHEN)) {
        MS_TRY(msi_parse_expr(p, &choice->operand));
        height = choice->operand->height;
    }
    MS_TRY(msi_parse_expect_word(p, MS_KW_WHEN));
    for (bool more = true; more;) {
        ms_ast_when when = {0};
        MS_TRY(parse_when(p, choice->operand != NULL, &when, &height));
        MS_TRY(msi_parse_push(p, &whens, &when, sizeof(when)));
        MS_TRY(msi_parse_accept_word(p, MS_KW_WHEN, &more));
    }
    choice->whens = whens.items;
    choice->when_count = whens.count;
    bool found = false;
    MS_TRY(msi_parse_accept_word(p, MS_KW_ELSE, &found));
    if (found) {
        MS_TRY(msi_parse_expr(p, &choice->otherwise));
        height = msi_parse_max(height, choice->otherwise->height);
    }
    if (!msi_parse_at_word(p, MS_KW_END)) {
        return msi_parse_fail(p, found ? "END" : "WHEN, ELSE or END");
    }
    MS_TRY(msi_parse_advance(p));
    MS_TRY(msi_parse_finish(p, &choice->head, MS_AST_CASE, start, height));
    *expr_out = &choice->head;
    return MS_OK;
}

static ms_rc parse_cast(ms_parser *p, const ms_ast_expr **expr_out)
{
    uint32_t start = p->token.span.start;
    ms_ast_cast *cast = msi_parse_new(p, ms_ast_cast);
    cast->is_try = msi_parse_at_word(p, MS_KW_TRY_CAST);
    MS_TRY(msi_parse_advance(p));
    MS_TRY(msi_parse_expect(p, MS_TOKEN_LPAREN));
    MS_TRY(msi_parse_expr(p, &cast->operand));
    MS_TRY(msi_parse_expect_word(p, MS_KW_AS));
    MS_TRY(msi_parse_type(p, &cast->type));
    if (msi_parse_at_word(p, MS_KW_FORMAT)) {
        return msi_parse_refuse(p, p->token.span, "CAST with FORMAT",
                                "Use TO_TIMESTAMP(text, format) or DATE_FORMAT(time, format).");
    }
    MS_TRY(msi_parse_expect(p, MS_TOKEN_RPAREN));
    MS_TRY(msi_parse_finish(p, &cast->head, MS_AST_CAST, start, cast->operand->height));
    *expr_out = &cast->head;
    return MS_OK;
}

static ms_rc parse_exists(ms_parser *p, const ms_ast_expr **expr_out)
{
    uint32_t start = p->token.span.start;
    ms_ast_exists *exists = msi_parse_new(p, ms_ast_exists);
    MS_TRY(msi_parse_advance(p));
    MS_TRY(msi_parse_expect(p, MS_TOKEN_LPAREN));
    MS_TRY(msi_parse_query(p, &exists->query));
    MS_TRY(msi_parse_expect(p, MS_TOKEN_RPAREN));
    MS_TRY(msi_parse_finish(p, &exists->head, MS_AST_EXISTS, start, exists->query->height));
    *expr_out = &exists->head;
    return MS_OK;
}

/* Constructors. */

/* ROW(a, b); the token is ROW. */
static ms_rc parse_row(ms_parser *p, const ms_ast_expr **expr_out)
{
    uint32_t start = p->token.span.start;
    uint32_t height = 0;
    ms_ast_row *row = msi_parse_new(p, ms_ast_row);
    MS_TRY(msi_parse_advance(p));
    MS_TRY(msi_parse_expect(p, MS_TOKEN_LPAREN));
    MS_TRY(msi_parse_exprs(p, MS_TOKEN_RPAREN, &row->items, &row->item_count, &height));
    MS_TRY(msi_parse_finish(p, &row->head, MS_AST_ROW, start, height));
    *expr_out = &row->head;
    return MS_OK;
}

static ms_rc parse_array(ms_parser *p, const ms_ast_expr **expr_out)
{
    uint32_t start = p->token.span.start;
    uint32_t height = 0;
    ms_ast_array *array = msi_parse_new(p, ms_ast_array);
    MS_TRY(msi_parse_advance(p));
    if (msi_parse_at(p, MS_TOKEN_LPAREN)) {
        return msi_parse_refuse(p, p->last, "ARRAY of a query", "Aggregate with ARRAY_AGG.");
    }
    MS_TRY(msi_parse_expect(p, MS_TOKEN_LBRACKET));
    MS_TRY(msi_parse_exprs(p, MS_TOKEN_RBRACKET, &array->items, &array->item_count, &height));
    MS_TRY(msi_parse_finish(p, &array->head, MS_AST_ARRAY, start, height));
    *expr_out = &array->head;
    return MS_OK;
}

static ms_rc parse_map(ms_parser *p, const ms_ast_expr **expr_out)
{
    uint32_t start = p->token.span.start;
    uint32_t height = 0;
    ms_ast_map *map = msi_parse_new(p, ms_ast_map);
    MS_TRY(msi_parse_advance(p));
    MS_TRY(msi_parse_expect(p, MS_TOKEN_LBRACKET));
    MS_TRY(msi_parse_exprs(p, MS_TOKEN_RBRACKET, &map->items, &map->item_count, &height));
    MS_TRY(msi_parse_finish(p, &map->head, MS_AST_MAP, start, height));
    if (map->item_count % 2 != 0) {
        ms_status_set(p->st, MS_SYNTAX_ERROR, map->head.span, "a MAP has a key without a value");
        return ms_status_hint(p->st, "Write MAP[key, value, key, value]; a column of this name is "
                                     "written `map`.");
    }
    *expr_out = &map->head;
    return MS_OK;
}

static ms_rc finish_subquery(ms_parser *p, uint32_t start, const ms_ast_query *query,
                             const ms_ast_expr **expr_out)
{
    ms_ast_subquery *subquery = msi_parse_new(p, ms_ast_subquery);
    subquery->query = query;
    MS_TRY(msi_parse_expect(p, MS_TOKEN_RPAREN));
    MS_TRY(msi_parse_finish(p, &subquery->head, MS_AST_SUBQUERY, start, query->height));
    *expr_out = &subquery->head;
    return MS_OK;
}

/* (a, b): the first item is read. */
static ms_rc parse_paren_row(ms_parser *p, uint32_t start, const ms_ast_expr *first,
                             const ms_ast_expr **expr_out)
{
    ms_parse_list items = {0};
    ms_ast_row *row = msi_parse_new(p, ms_ast_row);
    uint32_t height = first->height;
    bool more = true;
    MS_TRY(msi_parse_push(p, &items, &first, sizeof(first)));
    MS_TRY(msi_parse_advance(p));
    while (more) {
        const ms_ast_expr *item = NULL;
        MS_TRY(msi_parse_expr(p, &item));
        MS_TRY(msi_parse_push(p, &items, &item, sizeof(item)));
        height = msi_parse_max(height, item->height);
        MS_TRY(msi_parse_next_item(p, MS_TOKEN_RPAREN, &more));
    }
    row->items = items.items;
    row->item_count = items.count;
    MS_TRY(msi_parse_finish(p, &row->head, MS_AST_ROW, start, height));
    *expr_out = &row->head;
    return MS_OK;
}

/*
 * (expr), (a, b), (query). A query may itself begin with a parenthesis: then what is inside is read
 * as an expression first, which makes it a scalar sub-query, and taken back when the text goes on
 * as a query: ((SELECT 1) UNION (SELECT 2)).
 */
static ms_rc parse_paren(ms_parser *p, const ms_ast_expr **expr_out)
{
    uint32_t start = p->token.span.start;
    const ms_ast_query *query = NULL;
    MS_TRY(msi_parse_advance(p));
    if (msi_parse_at_query(p)) {
        MS_TRY(msi_parse_query(p, &query));
        return finish_subquery(p, start, query, expr_out);
    }
    uint32_t inner_start = p->token.span.start;
    const ms_ast_expr *inner = NULL;
    MS_TRY(msi_parse_expr(p, &inner));
    if (inner->kind == MS_AST_SUBQUERY && msi_parse_at_query_rest(p)) {
        const ms_ast_query *first = ms_ast_subquery_of(inner)->query;
        MS_TRY(msi_parse_query_rest(p, inner_start, first, &query));
        return finish_subquery(p, start, query, expr_out);
    }
    if (msi_parse_at(p, MS_TOKEN_COMMA)) {
        return parse_paren_row(p, start, inner, expr_out);
    }
    *expr_out = inner;
    return msi_parse_expect(p, MS_TOKEN_RPAREN);
}

/* DESCRIPTOR(a, b). */
static ms_rc parse_descriptor(ms_parser *p, const ms_ast_expr **expr_out)
{
    uint32_t start = p->token.span.start;
    ms_ast_descriptor *descriptor = msi_parse_new(p, ms_ast_descriptor);
    MS_TRY(msi_parse_advance(p));
    MS_TRY(
        msi_parse_name_list(p, "a column name", &descriptor->columns, &descriptor->column_count));
    MS_TRY(msi_parse_finish(p, &descriptor->head, MS_AST_DESCRIPTOR, start, 0));
    *expr_out = &descriptor->head;
    return MS_OK;
}

/* A column, or the call of a function. */
static ms_rc parse_name_or_call(ms_parser *p, const ms_ast_expr **expr_out)
{
    uint32_t start = p->token.span.start;
    ms_ast_path path = {0};
    MS_TRY(msi_parse_function_path(p, "an expression", &path));
    if (msi_parse_at(p, MS_TOKEN_LPAREN)) {
        return msi_parse_call(p, &path, expr_out);
    }
    ms_ast_name *name = msi_parse_new(p, ms_ast_name);
    name->path = path;
    MS_TRY(msi_parse_finish(p, &name->head, MS_AST_NAME, start, 0));
    *expr_out = &name->head;
    return MS_OK;
}

/* Words. */

typedef ms_rc (*parse_word_fn)(ms_parser *p, const ms_ast_expr **expr_out);

/* Words that begin an expression of their own, when what follows fits. */
static const struct {
    ms_keyword word;
    ms_token_kind next; /* MS_TOKEN_END: anything */
    parse_word_fn parse;
} word_parsers[] = {
    {MS_KW_INTERVAL, MS_TOKEN_END, parse_interval},
    {MS_KW_CASE, MS_TOKEN_END, parse_case},
    {MS_KW_CAST, MS_TOKEN_END, parse_cast},
    {MS_KW_TRY_CAST, MS_TOKEN_END, parse_cast},
    {MS_KW_EXISTS, MS_TOKEN_END, parse_exists},
    {MS_KW_ROW, MS_TOKEN_END, parse_row},
    {MS_KW_ARRAY, MS_TOKEN_END, parse_array},
    {MS_KW_MAP, MS_TOKEN_LBRACKET, parse_map},
    {MS_KW_DESCRIPTOR, MS_TOKEN_LPAREN, parse_descriptor},
};

static const struct {
    ms_keyword word;
    ms_ast_literal_type type;
} constants[] = {
    {MS_KW_NULL, MS_AST_LITERAL_NULL},
    {MS_KW_TRUE, MS_AST_LITERAL_TRUE},
    {MS_KW_FALSE, MS_AST_LITERAL_FALSE},
    {MS_KW_UNKNOWN, MS_AST_LITERAL_UNKNOWN},
};

static const struct {
    ms_keyword word;
    ms_ast_literal_type type;
} time_literals[] = {
    {MS_KW_DATE, MS_AST_LITERAL_DATE},
    {MS_KW_TIME, MS_AST_LITERAL_TIME},
    {MS_KW_TIMESTAMP, MS_AST_LITERAL_TIMESTAMP},
};

/* Constructs of the grammar that are refused where an expression begins. */
static const struct {
    ms_keyword word;
    const char *what;
    const char *hint;
} refused[] = {
    {MS_KW_MULTISET, "the constructor MULTISET", "Use ARRAY[...], or the aggregate COLLECT."},
    {MS_KW_UNIQUE, "the predicate UNIQUE", NULL},
    {MS_KW_DEFAULT, "DEFAULT as a value", "Leave the column out of the list, or write NULL."},
    {MS_KW_CURSOR, "CURSOR", NULL},
    {MS_KW_SAFE_CAST, "SAFE_CAST", "Write TRY_CAST."},
    {MS_KW_PERIOD, "PERIOD", NULL},
    {MS_KW_RUNNING, "RUNNING", NULL},
};

static ms_rc parse_word(ms_parser *p, const ms_ast_expr **expr_out)
{
    for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++) {
        if (msi_parse_at_word(p, constants[i].word)) {
            return parse_constant(p, constants[i].type, expr_out);
        }
    }
    for (size_t i = 0; i < sizeof(time_literals) / sizeof(time_literals[0]); i++) {
        if (msi_parse_at_word(p, time_literals[i].word)) {
            return parse_time_literal(p, time_literals[i].type, expr_out);
        }
    }
    for (size_t i = 0; i < sizeof(word_parsers) / sizeof(word_parsers[0]); i++) {
        ms_token_kind next = word_parsers[i].next;
        bool fits = next == MS_TOKEN_END || p->ahead.kind == next;
        if (msi_parse_at_word(p, word_parsers[i].word) && fits) {
            return word_parsers[i].parse(p, expr_out);
        }
    }
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        if (msi_parse_at_word(p, refused[i].word)) {
            return msi_parse_refuse(p, p->token.span, refused[i].what, refused[i].hint);
        }
    }
    bool found = false;
    MS_TRY(msi_parse_special_call(p, &found, expr_out));
    return found ? MS_OK : parse_name_or_call(p, expr_out);
}

static ms_rc parse_atom(ms_parser *p, const ms_ast_expr **expr_out)
{
    if (p->token.keyword != MS_KEYWORD_NONE) {
        return parse_word(p, expr_out);
    }
    if (msi_parse_at_name(p)) {
        return parse_name_or_call(p, expr_out);
    }
    if (msi_parse_at(p, MS_TOKEN_LPAREN)) {
        return parse_paren(p, expr_out);
    }
    if (msi_parse_at(p, MS_TOKEN_STRING) || msi_parse_at(p, MS_TOKEN_UNICODE) ||
        msi_parse_at(p, MS_TOKEN_BINARY)) {
        return parse_string(p, expr_out);
    }
    return msi_parse_number(p, "an expression", expr_out);
}

/* .field and [index] behind an expression. */
static ms_rc parse_access(ms_parser *p, uint32_t start, const ms_ast_expr *operand,
                          const ms_ast_expr **expr_out)
{
    if (msi_parse_at(p, MS_TOKEN_DOT)) {
        ms_ast_field *field = msi_parse_new(p, ms_ast_field);
        field->operand = operand;
        MS_TRY(msi_parse_advance(p));
        MS_TRY(msi_parse_name(p, "the name of a field", &field->field));
        MS_TRY(msi_parse_finish(p, &field->head, MS_AST_FIELD, start, operand->height));
        *expr_out = &field->head;
        return MS_OK;
    }
    ms_ast_item *item = msi_parse_new(p, ms_ast_item);
    item->operand = operand;
    MS_TRY(msi_parse_advance(p));
    MS_TRY(msi_parse_expr(p, &item->index));
    MS_TRY(msi_parse_expect(p, MS_TOKEN_RBRACKET));
    uint32_t height = msi_parse_max(operand->height, item->index->height);
    MS_TRY(msi_parse_finish(p, &item->head, MS_AST_ITEM, start, height));
    *expr_out = &item->head;
    return MS_OK;
}

ms_rc msi_parse_primary(ms_parser *p, const ms_ast_expr **expr_out)
{
    uint32_t start = p->token.span.start;
    const ms_ast_expr *expr = NULL;
    MS_TRY(parse_atom(p, &expr));
    bool is_field = msi_parse_at(p, MS_TOKEN_DOT) && p->ahead.kind != MS_TOKEN_STAR;
    while (is_field || msi_parse_at(p, MS_TOKEN_LBRACKET)) {
        const ms_ast_expr *outer = NULL;
        MS_TRY(parse_access(p, start, expr, &outer));
        expr = outer;
        is_field = msi_parse_at(p, MS_TOKEN_DOT) && p->ahead.kind != MS_TOKEN_STAR;
    }
    *expr_out = expr;
    return MS_OK;
}
