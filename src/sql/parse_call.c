/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls: f(a, b), f(DISTINCT a) FILTER (WHERE ...) OVER (...), named arguments, table arguments,
 * and the calls of the standard that have words between their arguments. What a function does with
 * its arguments is the binder's business; here a name is only a name.
 */
#include "sql/sql_priv.h"

/* A call under construction. */
typedef struct call_builder {
    ms_ast_call *call;
    ms_parse_list args;
    uint32_t start;
    uint32_t height;
} call_builder;

static ms_rc push_arg(ms_parser *p, call_builder *b, ms_ast_arg arg)
{
    b->height = msi_parse_max(b->height, arg.value->height);
    return msi_parse_push(p, &b->args, &arg, sizeof(arg));
}

static ms_rc push_value(ms_parser *p, call_builder *b, const ms_ast_expr *value)
{
    return push_arg(p, b, (ms_ast_arg){.value = value});
}

/* Parses an expression as the next argument. */
static ms_rc push_parsed(ms_parser *p, call_builder *b)
{
    const ms_ast_expr *value = NULL;
    MS_TRY(msi_parse_expr(p, &value));
    return push_value(p, b, value);
}

static ms_rc finish_call(ms_parser *p, call_builder *b, const ms_ast_expr **expr_out)
{
    b->call->args = b->args.items;
    b->call->arg_count = b->args.count;
    MS_TRY(msi_parse_finish(p, &b->call->head, MS_AST_CALL, b->start, b->height));
    *expr_out = &b->call->head;
    return MS_OK;
}

/* Takes the word in hand as the name of a function. */
static ms_rc start_special(ms_parser *p, ms_ast_call_syntax syntax, call_builder *b)
{
    *b = (call_builder){.start = p->token.span.start};
    b->call = msi_parse_new(p, ms_ast_call);
    b->call->syntax = syntax;
    ms_ast_ident *name = msi_parse_new(p, ms_ast_ident);
    *name = (ms_ast_ident){.text = p->token.text, .span = p->token.span};
    b->call->name = (ms_ast_path){.parts = name, .count = 1, .span = p->token.span};
    return msi_parse_advance(p);
}

/* Same, and takes the parenthesis behind it. */
static ms_rc start_paren(ms_parser *p, ms_ast_call_syntax syntax, call_builder *b)
{
    MS_TRY(start_special(p, syntax, b));
    return msi_parse_expect(p, MS_TOKEN_LPAREN);
}

static ms_rc finish_paren(ms_parser *p, call_builder *b, const ms_ast_expr **expr_out)
{
    MS_TRY(msi_parse_expect(p, MS_TOKEN_RPAREN));
    return finish_call(p, b, expr_out);
}

/* Windows. */

static ms_rc parse_bound(ms_parser *p, ms_ast_bound *bound, uint32_t *child_height)
{
    uint32_t start = p->token.span.start;
    bool is_preceding = false;
    bool is_unbounded = msi_parse_at_words(p, MS_KW_UNBOUNDED, MS_KW_PRECEDING) ||
                        msi_parse_at_words(p, MS_KW_UNBOUNDED, MS_KW_FOLLOWING);
    if (msi_parse_at_words(p, MS_KW_CURRENT, MS_KW_ROW)) {
        MS_TRY(msi_parse_advance(p));
        MS_TRY(msi_parse_advance(p));
        *bound = (ms_ast_bound){.kind = MS_AST_BOUND_CURRENT_ROW, .span = msi_parse_span(p, start)};
        return MS_OK;
    }
    *bound = (ms_ast_bound){0};
    if (is_unbounded) {
        MS_TRY(msi_parse_advance(p));
    } else {
        MS_TRY(msi_parse_expr(p, &bound->value));
        *child_height = msi_parse_max(*child_height, bound->value->height);
    }
    MS_TRY(msi_parse_accept_word(p, MS_KW_PRECEDING, &is_preceding));
    if (is_preceding) {
        bound->kind = is_unbounded ? MS_AST_BOUND_UNBOUNDED_PRECEDING : MS_AST_BOUND_PRECEDING;
    } else if (msi_parse_at_word(p, MS_KW_FOLLOWING)) {
        bound->kind = is_unbounded ? MS_AST_BOUND_UNBOUNDED_FOLLOWING : MS_AST_BOUND_FOLLOWING;
        MS_TRY(msi_parse_advance(p));
    } else {
        return msi_parse_fail(p, "PRECEDING or FOLLOWING");
    }
    bound->span = msi_parse_span(p, start);
    return MS_OK;
}

/* ROWS bound, RANGE BETWEEN bound AND bound. */
static ms_rc parse_frame(ms_parser *p, ms_ast_window *window, uint32_t *child_height)
{
    bool is_between = false;
    if (msi_parse_at_word(p, MS_KW_GROUPS)) {
        return msi_parse_refuse(p, p->token.span, "a frame of GROUPS", "Use ROWS or RANGE.");
    }
    if (!msi_parse_at_word(p, MS_KW_ROWS) && !msi_parse_at_word(p, MS_KW_RANGE)) {
        return MS_OK;
    }
    window->frame = msi_parse_at_word(p, MS_KW_ROWS) ? MS_AST_FRAME_ROWS : MS_AST_FRAME_RANGE;
    MS_TRY(msi_parse_advance(p));
    MS_TRY(msi_parse_accept_word(p, MS_KW_BETWEEN, &is_between));
    MS_TRY(parse_bound(p, &window->start, child_height));
    window->end = (ms_ast_bound){.kind = MS_AST_BOUND_CURRENT_ROW, .span = window->start.span};
    if (is_between) {
        MS_TRY(msi_parse_expect_word(p, MS_KW_AND));
        MS_TRY(parse_bound(p, &window->end, child_height));
    }
    if (msi_parse_at_word(p, MS_KW_EXCLUDE)) {
        return msi_parse_refuse(p, p->token.span, "a frame with EXCLUDE", NULL);
    }
    return MS_OK;
}

ms_rc msi_parse_window(ms_parser *p, const ms_ast_window **window_out, uint32_t *child_height)
{
    uint32_t start = p->token.span.start;
    ms_ast_window *window = msi_parse_new(p, ms_ast_window);
    bool found = false;
    MS_TRY(msi_parse_expect(p, MS_TOKEN_LPAREN));
    if (msi_parse_at_name(p)) {
        MS_TRY(msi_parse_name(p, "a window", &window->base));
    }
    MS_TRY(msi_parse_accept_word(p, MS_KW_PARTITION, &found));
    if (found) {
        MS_TRY(msi_parse_expect_word(p, MS_KW_BY));
        MS_TRY(msi_parse_open_exprs(p, &window->partition, &window->partition_count, child_height));
    }
    MS_TRY(msi_parse_accept_word(p, MS_KW_ORDER, &found));
    if (found) {
        MS_TRY(msi_parse_expect_word(p, MS_KW_BY));
        MS_TRY(msi_parse_order(p, &window->order, &window->order_count, child_height));
    }
    MS_TRY(parse_frame(p, window, child_height));
    if (!msi_parse_at(p, MS_TOKEN_RPAREN)) {
        return msi_parse_fail_name(p, "PARTITION BY, ORDER BY, ROWS, RANGE or \")\"");
    }
    MS_TRY(msi_parse_advance(p));
    window->span = msi_parse_span(p, start);
    *window_out = window;
    return MS_OK;
}

/* Plain calls. */

static ms_rc parse_null_treatment(ms_parser *p, ms_ast_call *call)
{
    bool is_ignore = msi_parse_at_words(p, MS_KW_IGNORE, MS_KW_NULLS);
    if (is_ignore || msi_parse_at_words(p, MS_KW_RESPECT, MS_KW_NULLS)) {
        call->nulls = is_ignore ? MS_AST_NULLS_IGNORE : MS_AST_NULLS_RESPECT;
        MS_TRY(msi_parse_advance(p));
        return msi_parse_advance(p);
    }
    return MS_OK;
}

/* The value of an argument. */
static ms_rc parse_arg_value(ms_parser *p, const ms_ast_expr **value_out)
{
    if (msi_parse_at_word(p, MS_KW_TABLE)) {
        return msi_parse_table_arg(p, value_out);
    }
    MS_TRY(msi_parse_expr(p, value_out));
    bool is_table = msi_parse_at_word(p, MS_KW_PARTITION) || msi_parse_at_word(p, MS_KW_ORDER);
    if (is_table && (*value_out)->kind == MS_AST_SUBQUERY) {
        return msi_parse_query_arg(p, ms_ast_subquery_of(*value_out), value_out);
    }
    return MS_OK;
}

static ms_rc parse_arg(ms_parser *p, call_builder *b)
{
    ms_ast_arg arg = {0};
    if (p->ahead.kind == MS_TOKEN_ARROW) {
        MS_TRY(msi_parse_name(p, "the name of an argument", &arg.name));
        MS_TRY(msi_parse_advance(p));
    }
    MS_TRY(parse_arg_value(p, &arg.value));
    return push_arg(p, b, arg);
}

/* What may follow an argument besides a comma: clauses of aggregates and of the JSON functions. */
static ms_rc check_arg_end(ms_parser *p, const ms_ast_call *call)
{
    if (msi_parse_at(p, MS_TOKEN_COMMA) || msi_parse_at(p, MS_TOKEN_RPAREN)) {
        return MS_OK;
    }
    if (msi_parse_at_words(p, MS_KW_ORDER, MS_KW_BY)) {
        return msi_parse_refuse(p, p->token.span, "ORDER BY inside an aggregate", NULL);
    }
    ms_str name = call->name.parts[call->name.count - 1].text;
    bool is_json = ms_str_starts_with(name, ms_str_lit("JSON_")) ||
                   ms_str_starts_with(name, ms_str_lit("json_"));
    if (is_json && !msi_parse_at(p, MS_TOKEN_END)) {
        ms_str what = ms_arena_format(p->arena, "this form of %.*s", MS_STR_ARG(name));
        return msi_parse_refuse(p, p->token.span, what.ptr, NULL);
    }
    return MS_OK;
}

/* The arguments, up to and with the closing parenthesis. */
static ms_rc parse_args(ms_parser *p, call_builder *b)
{
    bool all = false;
    bool done = false;
    MS_TRY(msi_parse_expect(p, MS_TOKEN_LPAREN));
    MS_TRY(msi_parse_accept(p, MS_TOKEN_RPAREN, &done));
    if (done) {
        return MS_OK;
    }
    MS_TRY(msi_parse_accept(p, MS_TOKEN_STAR, &b->call->star));
    if (b->call->star) {
        return msi_parse_expect(p, MS_TOKEN_RPAREN);
    }
    MS_TRY(msi_parse_accept_word(p, MS_KW_DISTINCT, &b->call->distinct));
    if (!b->call->distinct) {
        MS_TRY(msi_parse_accept_word(p, MS_KW_ALL, &all));
    }
    for (bool more = true; more;) {
        MS_TRY(parse_arg(p, b));
        MS_TRY(parse_null_treatment(p, b->call));
        MS_TRY(check_arg_end(p, b->call));
        MS_TRY(msi_parse_next_item(p, MS_TOKEN_RPAREN, &more));
    }
    return MS_OK;
}

static ms_rc parse_filter(ms_parser *p, call_builder *b)
{
    bool found = false;
    MS_TRY(msi_parse_accept_word(p, MS_KW_FILTER, &found));
    if (!found) {
        return MS_OK;
    }
    MS_TRY(msi_parse_expect(p, MS_TOKEN_LPAREN));
    MS_TRY(msi_parse_expect_word(p, MS_KW_WHERE));
    MS_TRY(msi_parse_expr(p, &b->call->filter));
    b->height = msi_parse_max(b->height, b->call->filter->height);
    return msi_parse_expect(p, MS_TOKEN_RPAREN);
}

static ms_rc parse_over(ms_parser *p, call_builder *b)
{
    bool found = false;
    MS_TRY(msi_parse_accept_word(p, MS_KW_OVER, &found));
    if (!found) {
        return MS_OK;
    }
    if (msi_parse_at(p, MS_TOKEN_LPAREN)) {
        return msi_parse_window(p, &b->call->over, &b->height);
    }
    return msi_parse_name(p, "the name of a window or \"(\"", &b->call->over_name);
}

ms_rc msi_parse_call(ms_parser *p, const ms_ast_path *name, const ms_ast_expr **expr_out)
{
    call_builder b = {.start = name->span.start};
    b.call = msi_parse_new(p, ms_ast_call);
    b.call->name = *name;
    MS_TRY(parse_args(p, &b));
    if (msi_parse_at_word(p, MS_KW_WITHIN)) {
        return msi_parse_refuse(p, p->token.span, "WITHIN GROUP", NULL);
    }
    MS_TRY(parse_null_treatment(p, b.call));
    MS_TRY(parse_filter(p, &b));
    MS_TRY(parse_over(p, &b));
    return finish_call(p, &b, expr_out);
}

/* Calls with words. */

static ms_rc push_symbol(ms_parser *p, call_builder *b, ms_span span, ms_ast_unit unit,
                         ms_ast_trim_side side)
{
    ms_ast_symbol *symbol = msi_parse_new(p, ms_ast_symbol);
    symbol->head = (ms_ast_expr){.kind = MS_AST_SYMBOL, .height = 1, .span = span};
    symbol->unit = unit;
    symbol->side = side;
    return push_value(p, b, &symbol->head);
}

static ms_rc push_unit(ms_parser *p, call_builder *b)
{
    ms_span span = p->token.span;
    ms_ast_unit unit = msi_parse_unit_of(&p->token, false);
    if (unit == MS_AST_UNIT_NONE) {
        return msi_parse_fail(p, "a unit of time");
    }
    MS_TRY(msi_parse_advance(p));
    return push_symbol(p, b, span, unit, MS_AST_TRIM_NONE);
}

/* CURRENT_DATE; CURRENT_TIMESTAMP(3). */
static ms_rc parse_niladic(ms_parser *p, const ms_ast_expr **expr_out)
{
    call_builder b;
    bool found = false;
    MS_TRY(start_special(p, MS_AST_CALL_NILADIC, &b));
    MS_TRY(msi_parse_accept(p, MS_TOKEN_LPAREN, &found));
    if (!found) {
        return finish_call(p, &b, expr_out);
    }
    if (!msi_parse_at(p, MS_TOKEN_INTEGER)) {
        msi_parse_fail(p, "a precision");
        return ms_status_hint(p->st, "%.*s is written without parentheses.",
                              MS_STR_ARG(b.call->name.parts[0].text));
    }
    MS_TRY(push_parsed(p, &b));
    return finish_paren(p, &b, expr_out);
}

/* POSITION(a IN b [FROM n]). */
static ms_rc parse_position(ms_parser *p, const ms_ast_expr **expr_out)
{
    call_builder b;
    const ms_ast_expr *needle = NULL;
    bool found = false;
    MS_TRY(start_paren(p, MS_AST_CALL_POSITION, &b));
    MS_TRY(msi_parse_operand(p, &needle));
    MS_TRY(push_value(p, &b, needle));
    MS_TRY(msi_parse_expect_word(p, MS_KW_IN));
    MS_TRY(push_parsed(p, &b));
    MS_TRY(msi_parse_accept_word(p, MS_KW_FROM, &found));
    if (found) {
        MS_TRY(push_parsed(p, &b));
    }
    return finish_paren(p, &b, expr_out);
}

/* SUBSTRING(x FROM a [FOR b]), SUBSTRING(x, a [, b]). */
static ms_rc parse_substring(ms_parser *p, const ms_ast_expr **expr_out)
{
    call_builder b;
    bool found = false;
    MS_TRY(start_paren(p, MS_AST_CALL_PLAIN, &b));
    MS_TRY(push_parsed(p, &b));
    MS_TRY(msi_parse_accept_word(p, MS_KW_FROM, &found));
    if (!found && !msi_parse_at(p, MS_TOKEN_COMMA)) {
        return msi_parse_fail(p, "FROM or \",\"");
    }
    if (!found) {
        MS_TRY(msi_parse_advance(p));
    }
    MS_TRY(push_parsed(p, &b));
    MS_TRY(msi_parse_accept_word(p, MS_KW_FOR, &found));
    if (!found) {
        MS_TRY(msi_parse_accept(p, MS_TOKEN_COMMA, &found));
    }
    if (found) {
        MS_TRY(push_parsed(p, &b));
    }
    return finish_paren(p, &b, expr_out);
}

/* The blank that TRIM(s) takes off. */
static ms_rc push_blank(ms_parser *p, call_builder *b)
{
    ms_ast_literal *blank = msi_parse_new(p, ms_ast_literal);
    blank->head = (ms_ast_expr){.kind = MS_AST_LITERAL, .height = 1, .span = b->call->name.span};
    blank->type = MS_AST_LITERAL_STRING;
    blank->text = ms_str_lit(" ");
    return push_value(p, b, &blank->head);
}

static ms_ast_trim_side trim_side_of(const ms_parser *p)
{
    return msi_parse_at_word(p, MS_KW_BOTH)       ? MS_AST_TRIM_BOTH
           : msi_parse_at_word(p, MS_KW_LEADING)  ? MS_AST_TRIM_LEADING
           : msi_parse_at_word(p, MS_KW_TRAILING) ? MS_AST_TRIM_TRAILING
                                                  : MS_AST_TRIM_NONE;
}

/* TRIM([side] [chars] FROM text), TRIM(text). */
static ms_rc parse_trim(ms_parser *p, const ms_ast_expr **expr_out)
{
    call_builder b;
    bool has_from = false;
    const ms_ast_expr *first = NULL;
    MS_TRY(start_paren(p, MS_AST_CALL_TRIM, &b));
    ms_ast_trim_side side = trim_side_of(p);
    ms_span side_span = side == MS_AST_TRIM_NONE ? b.call->name.span : p->token.span;
    if (side != MS_AST_TRIM_NONE) {
        MS_TRY(msi_parse_advance(p));
        MS_TRY(msi_parse_accept_word(p, MS_KW_FROM, &has_from));
    }
    MS_TRY(msi_parse_expr(p, &first));
    MS_TRY(push_symbol(p, &b, side_span, MS_AST_UNIT_NONE,
                       side == MS_AST_TRIM_NONE ? MS_AST_TRIM_BOTH : side));
    bool is_chars = false;
    if (!has_from) {
        MS_TRY(msi_parse_accept_word(p, MS_KW_FROM, &is_chars));
    }
    if (side != MS_AST_TRIM_NONE && !has_from && !is_chars) {
        return msi_parse_fail(p, "FROM");
    }
    if (is_chars) {
        MS_TRY(push_value(p, &b, first));
        MS_TRY(push_parsed(p, &b));
    } else {
        MS_TRY(push_blank(p, &b));
        MS_TRY(push_value(p, &b, first));
    }
    return finish_paren(p, &b, expr_out);
}

/* EXTRACT(unit FROM x). */
static ms_rc parse_extract(ms_parser *p, const ms_ast_expr **expr_out)
{
    call_builder b;
    MS_TRY(start_paren(p, MS_AST_CALL_EXTRACT, &b));
    MS_TRY(push_unit(p, &b));
    MS_TRY(msi_parse_expect_word(p, MS_KW_FROM));
    MS_TRY(push_parsed(p, &b));
    return finish_paren(p, &b, expr_out);
}

/* CEIL(x [TO unit]), FLOOR(x [TO unit]). */
static ms_rc parse_unit_to(ms_parser *p, const ms_ast_expr **expr_out)
{
    call_builder b;
    bool found = false;
    MS_TRY(start_paren(p, MS_AST_CALL_PLAIN, &b));
    MS_TRY(push_parsed(p, &b));
    MS_TRY(msi_parse_accept_word(p, MS_KW_TO, &found));
    if (found) {
        b.call->syntax = MS_AST_CALL_UNIT_TO;
        MS_TRY(push_unit(p, &b));
    }
    return finish_paren(p, &b, expr_out);
}

/* OVERLAY(x PLACING y FROM a [FOR b]). */
static ms_rc parse_overlay(ms_parser *p, const ms_ast_expr **expr_out)
{
    call_builder b;
    bool found = false;
    MS_TRY(start_paren(p, MS_AST_CALL_OVERLAY, &b));
    MS_TRY(push_parsed(p, &b));
    MS_TRY(msi_parse_expect_word(p, MS_KW_PLACING));
    MS_TRY(push_parsed(p, &b));
    MS_TRY(msi_parse_expect_word(p, MS_KW_FROM));
    MS_TRY(push_parsed(p, &b));
    MS_TRY(msi_parse_accept_word(p, MS_KW_FOR, &found));
    if (found) {
        MS_TRY(push_parsed(p, &b));
    }
    return finish_paren(p, &b, expr_out);
}

/* TIMESTAMPADD(unit, n, t), TIMESTAMPDIFF(unit, a, b). */
static ms_rc parse_timestamp_call(ms_parser *p, const ms_ast_expr **expr_out)
{
    call_builder b;
    MS_TRY(start_paren(p, MS_AST_CALL_PLAIN, &b));
    MS_TRY(push_unit(p, &b));
    MS_TRY(msi_parse_expect(p, MS_TOKEN_COMMA));
    MS_TRY(push_parsed(p, &b));
    MS_TRY(msi_parse_expect(p, MS_TOKEN_COMMA));
    MS_TRY(push_parsed(p, &b));
    return finish_paren(p, &b, expr_out);
}

static const struct {
    ms_keyword word;
    bool is_niladic; /* else only before a parenthesis */
    ms_rc (*parse)(ms_parser *p, const ms_ast_expr **expr_out);
} special_calls[] = {
    {MS_KW_CURRENT_DATE, true, parse_niladic},
    {MS_KW_CURRENT_TIME, true, parse_niladic},
    {MS_KW_CURRENT_TIMESTAMP, true, parse_niladic},
    {MS_KW_LOCALTIME, true, parse_niladic},
    {MS_KW_LOCALTIMESTAMP, true, parse_niladic},
    {MS_KW_CURRENT_USER, true, parse_niladic},
    {MS_KW_CURRENT_CATALOG, true, parse_niladic},
    {MS_KW_CURRENT_SCHEMA, true, parse_niladic},
    {MS_KW_CURRENT_ROLE, true, parse_niladic},
    {MS_KW_CURRENT_PATH, true, parse_niladic},
    {MS_KW_SESSION_USER, true, parse_niladic},
    {MS_KW_SYSTEM_USER, true, parse_niladic},
    {MS_KW_USER, true, parse_niladic},
    {MS_KW_POSITION, false, parse_position},
    {MS_KW_SUBSTRING, false, parse_substring},
    {MS_KW_TRIM, false, parse_trim},
    {MS_KW_EXTRACT, false, parse_extract},
    {MS_KW_CEIL, false, parse_unit_to},
    {MS_KW_CEILING, false, parse_unit_to},
    {MS_KW_FLOOR, false, parse_unit_to},
    {MS_KW_OVERLAY, false, parse_overlay},
    {MS_KW_TIMESTAMPADD, false, parse_timestamp_call},
    {MS_KW_TIMESTAMPDIFF, false, parse_timestamp_call},
};

ms_rc msi_parse_special_call(ms_parser *p, bool *found_out, const ms_ast_expr **expr_out)
{
    *found_out = false;
    for (size_t i = 0; i < sizeof(special_calls) / sizeof(special_calls[0]); i++) {
        bool fits = special_calls[i].is_niladic || p->ahead.kind == MS_TOKEN_LPAREN;
        if (msi_parse_at_word(p, special_calls[i].word) && fits) {
            *found_out = true;
            return special_calls[i].parse(p, expr_out);
        }
    }
    return MS_OK;
}
