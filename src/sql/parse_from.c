/* SPDX-License-Identifier: Apache-2.0 */
/*
 * FROM: tables, sub-queries, table functions, UNNEST, and the joins between them; and the tables
 * that stand as arguments of table functions.
 */
#include "sql/sql_priv.h"

/* Completes the head of an item that began at start. */
static ms_rc finish_from(ms_parser *p, ms_ast_from *head, ms_ast_from_kind kind, uint32_t start,
                         uint32_t child_height)
{
    head->kind = kind;
    head->span = msi_parse_span(p, start);
    return msi_parse_height(p, head->span, child_height, &head->height);
}

/* Clauses behind a table that are refused. */
static ms_rc check_refused_clause(ms_parser *p)
{
    static const struct {
        ms_keyword word;
        const char *what;
    } refused[] = {
        {MS_KW_MATCH_RECOGNIZE, "MATCH_RECOGNIZE"},
        {MS_KW_PIVOT, "PIVOT"},
        {MS_KW_UNPIVOT, "UNPIVOT"},
        {MS_KW_TABLESAMPLE, "TABLESAMPLE"},
        {MS_KW_EXTEND, "EXTEND"},
    };
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        if (msi_parse_at_word(p, refused[i].word)) {
            return msi_parse_refuse(p, p->token.span, refused[i].what, NULL);
        }
    }
    return MS_OK;
}

/* [AS] name [(columns)]. */
static ms_rc parse_alias(ms_parser *p, ms_ast_alias *alias)
{
    bool has_as = false;
    MS_TRY(check_refused_clause(p));
    MS_TRY(msi_parse_accept_word(p, MS_KW_AS, &has_as));
    if (!has_as && !msi_parse_at_name(p)) {
        return MS_OK;
    }
    bool is_bare = !has_as && msi_parse_at(p, MS_TOKEN_WORD);
    MS_TRY(msi_parse_name(p, "an alias", &alias->name));
    if (is_bare) {
        p->bare_alias = alias->name;
    }
    MS_TRY(msi_parse_name_list(p, "a column name", &alias->columns, &alias->column_count));
    return check_refused_clause(p);
}

/* FOR SYSTEM_TIME AS OF expr. */
static ms_rc parse_system_time(ms_parser *p, ms_ast_from_table *table, uint32_t *child_height)
{
    if (!msi_parse_at_words(p, MS_KW_FOR, MS_KW_SYSTEM_TIME)) {
        return MS_OK;
    }
    uint32_t start = p->token.span.start;
    MS_TRY(msi_parse_advance(p));
    MS_TRY(msi_parse_advance(p));
    MS_TRY(msi_parse_expect_word(p, MS_KW_AS));
    MS_TRY(msi_parse_expect_word(p, MS_KW_OF));
    MS_TRY(msi_parse_expr(p, &table->system_time));
    table->system_time_span = msi_parse_span(p, start);
    *child_height = table->system_time->height;
    return MS_OK;
}

/* A table whose name is read, with what stands behind it. */
static ms_rc parse_table(ms_parser *p, const ms_ast_path *name, const ms_ast_from **from_out)
{
    uint32_t height = 0;
    ms_ast_from_table *table = msi_parse_new(p, ms_ast_from_table);
    table->name = *name;
    MS_TRY(msi_parse_hints(p, &table->hints, &table->hint_count));
    MS_TRY(parse_system_time(p, table, &height));
    MS_TRY(parse_alias(p, &table->head.alias));
    MS_TRY(finish_from(p, &table->head, MS_AST_FROM_TABLE, name->span.start, height));
    *from_out = &table->head;
    return MS_OK;
}

/* What the parts of FROM ... share: where they began, and whether LATERAL stood there. */
typedef struct item_start {
    uint32_t start;
    bool lateral;
} item_start;

static ms_rc finish_query_item(ms_parser *p, item_start at, const ms_ast_query *query,
                               const ms_ast_from **from_out)
{
    ms_ast_from_query *item = msi_parse_new(p, ms_ast_from_query);
    item->lateral = at.lateral;
    item->query = query;
    MS_TRY(msi_parse_expect(p, MS_TOKEN_RPAREN));
    MS_TRY(parse_alias(p, &item->head.alias));
    MS_TRY(finish_from(p, &item->head, MS_AST_FROM_QUERY, at.start, query->height));
    *from_out = &item->head;
    return MS_OK;
}

/*
 * (query), (join), ((query) UNION query). An inner parenthesis is read as an item of FROM; when it
 * turns out to be a bare query that goes on as a query, it is taken for its first branch.
 */
static ms_rc parse_paren(ms_parser *p, item_start at, const ms_ast_from **from_out)
{
    const ms_ast_query *query = NULL;
    MS_TRY(msi_parse_advance(p));
    if (msi_parse_at_query(p) || at.lateral) {
        MS_TRY(msi_parse_query(p, &query));
        return finish_query_item(p, at, query, from_out);
    }
    uint32_t inner_start = p->token.span.start;
    const ms_ast_from *inner = NULL;
    MS_TRY(msi_parse_from(p, &inner));
    bool is_query = inner->kind == MS_AST_FROM_QUERY && ms_ast_ident_is_absent(inner->alias.name) &&
                    !ms_ast_from_query_of(inner)->lateral;
    if (is_query && msi_parse_at_query_rest(p)) {
        const ms_ast_query *first = ms_ast_from_query_of(inner)->query;
        MS_TRY(msi_parse_query_rest(p, inner_start, first, &query));
        return finish_query_item(p, at, query, from_out);
    }
    if (is_query && msi_parse_at(p, MS_TOKEN_RPAREN)) {
        return finish_query_item(p, at, ms_ast_from_query_of(inner)->query, from_out);
    }
    MS_TRY(msi_parse_expect(p, MS_TOKEN_RPAREN));
    if (inner->kind != MS_AST_FROM_JOIN && ms_ast_ident_is_absent(inner->alias.name) &&
        (msi_parse_at_word(p, MS_KW_AS) || msi_parse_at_name(p))) {
        return msi_parse_fail(p, "the alias inside the parentheses");
    }
    *from_out = inner;
    return MS_OK;
}

/* The call of a table function: TABLE(f(...)) or f(...), as the source says. */
static ms_rc finish_call_item(ms_parser *p, item_start at, const ms_ast_expr *call,
                              const ms_ast_from **from_out)
{
    ms_ast_from_call *item = msi_parse_new(p, ms_ast_from_call);
    item->lateral = at.lateral;
    item->call = ms_ast_call_of(call);
    MS_TRY(parse_alias(p, &item->head.alias));
    MS_TRY(finish_from(p, &item->head, MS_AST_FROM_CALL, at.start, call->height));
    *from_out = &item->head;
    return MS_OK;
}

static ms_rc parse_table_call(ms_parser *p, item_start at, const ms_ast_from **from_out)
{
    ms_ast_path name = {0};
    const ms_ast_expr *call = NULL;
    MS_TRY(msi_parse_advance(p));
    MS_TRY(msi_parse_expect(p, MS_TOKEN_LPAREN));
    MS_TRY(msi_parse_function_path(p, "a table function", &name));
    if (!msi_parse_at(p, MS_TOKEN_LPAREN)) {
        return msi_parse_fail(p, "\"(\" and the arguments of a table function");
    }
    MS_TRY(msi_parse_call(p, &name, &call));
    MS_TRY(msi_parse_expect(p, MS_TOKEN_RPAREN));
    return finish_call_item(p, at, call, from_out);
}

/* UNNEST(a, b) [WITH ORDINALITY]. */
static ms_rc parse_unnest(ms_parser *p, item_start at, const ms_ast_from **from_out)
{
    uint32_t height = 0;
    ms_ast_from_unnest *unnest = msi_parse_new(p, ms_ast_from_unnest);
    MS_TRY(msi_parse_advance(p));
    MS_TRY(msi_parse_expect(p, MS_TOKEN_LPAREN));
    MS_TRY(msi_parse_exprs(p, MS_TOKEN_RPAREN, &unnest->operands, &unnest->operand_count, &height));
    unnest->ordinality = msi_parse_at_words(p, MS_KW_WITH, MS_KW_ORDINALITY);
    if (unnest->ordinality) {
        MS_TRY(msi_parse_advance(p));
        MS_TRY(msi_parse_advance(p));
    }
    MS_TRY(parse_alias(p, &unnest->head.alias));
    MS_TRY(finish_from(p, &unnest->head, MS_AST_FROM_UNNEST, at.start, height));
    *from_out = &unnest->head;
    return MS_OK;
}

/* One item without joins. */
static ms_rc parse_item(ms_parser *p, const ms_ast_from **from_out)
{
    item_start at = {.start = p->token.span.start};
    MS_TRY(msi_parse_accept_word(p, MS_KW_LATERAL, &at.lateral));
    if (msi_parse_at(p, MS_TOKEN_LPAREN)) {
        return parse_paren(p, at, from_out);
    }
    if (msi_parse_at_word(p, MS_KW_TABLE)) {
        return parse_table_call(p, at, from_out);
    }
    if (msi_parse_at_word(p, MS_KW_UNNEST)) {
        return parse_unnest(p, at, from_out);
    }
    ms_ast_path name = {0};
    MS_TRY(msi_parse_function_path(p, "a table", &name));
    if (msi_parse_at(p, MS_TOKEN_LPAREN)) {
        const ms_ast_expr *call = NULL;
        MS_TRY(msi_parse_call(p, &name, &call));
        return finish_call_item(p, at, call, from_out);
    }
    if (at.lateral) {
        return msi_parse_fail(p, "\"(\" and the arguments of a table function");
    }
    return parse_table(p, &name, from_out);
}

/* Joins. */

static const struct {
    ms_keyword word;
    ms_ast_join_type type;
    bool may_be_outer;
} join_words[] = {
    {MS_KW_INNER, MS_AST_JOIN_INNER, false}, {MS_KW_LEFT, MS_AST_JOIN_LEFT, true},
    {MS_KW_RIGHT, MS_AST_JOIN_RIGHT, true},  {MS_KW_FULL, MS_AST_JOIN_FULL, true},
    {MS_KW_CROSS, MS_AST_JOIN_CROSS, false},
};

/* The words up to JOIN; found_out is false when the token begins no join. */
static ms_rc parse_join_words(ms_parser *p, ms_ast_from_join *join, bool *found_out)
{
    uint32_t start = p->token.span.start;
    join->type = MS_AST_JOIN_INNER;
    MS_TRY(msi_parse_accept_word(p, MS_KW_NATURAL, &join->natural));
    *found_out = join->natural || msi_parse_at_word(p, MS_KW_JOIN);
    for (size_t i = 0; i < sizeof(join_words) / sizeof(join_words[0]); i++) {
        if (msi_parse_at_word(p, join_words[i].word)) {
            bool is_outer = false;
            *found_out = true;
            join->type = join_words[i].type;
            MS_TRY(msi_parse_advance(p));
            if (join_words[i].may_be_outer) {
                MS_TRY(msi_parse_accept_word(p, MS_KW_OUTER, &is_outer));
            }
            break;
        }
    }
    if (!*found_out) {
        return MS_OK;
    }
    MS_TRY(msi_parse_expect_word(p, MS_KW_JOIN));
    join->join_span = msi_parse_span(p, start);
    return MS_OK;
}

static ms_rc parse_join_condition(ms_parser *p, ms_ast_from_join *join, uint32_t *child_height)
{
    bool found = false;
    if (join->natural || join->type == MS_AST_JOIN_CROSS) {
        return MS_OK;
    }
    MS_TRY(msi_parse_accept_word(p, MS_KW_ON, &found));
    if (found) {
        MS_TRY(msi_parse_expr(p, &join->on));
        *child_height = msi_parse_max(*child_height, join->on->height);
        return MS_OK;
    }
    MS_TRY(msi_parse_accept_word(p, MS_KW_USING, &found));
    if (!found) {
        msi_parse_fail(p, "ON or USING");
        return ms_status_hint(p->st, "A join without a condition is written CROSS JOIN.");
    }
    if (!msi_parse_at(p, MS_TOKEN_LPAREN)) {
        return msi_parse_fail(p, "\"(\"");
    }
    return msi_parse_name_list(p, "a column name", &join->using_columns, &join->using_count);
}

ms_rc msi_parse_from(ms_parser *p, const ms_ast_from **from_out)
{
    uint32_t start = p->token.span.start;
    const ms_ast_from *left = NULL;
    MS_TRY(msi_parse_enter(p));
    MS_TRY(parse_item(p, &left));
    for (;;) {
        bool found = false;
        ms_ast_from_join words = {0};
        MS_TRY(parse_join_words(p, &words, &found));
        if (!found) {
            break;
        }
        ms_ast_from_join *join = msi_parse_new(p, ms_ast_from_join);
        *join = words;
        join->left = left;
        MS_TRY(parse_item(p, &join->right));
        uint32_t height = msi_parse_max(left->height, join->right->height);
        MS_TRY(parse_join_condition(p, join, &height));
        MS_TRY(finish_from(p, &join->head, MS_AST_FROM_JOIN, start, height));
        left = &join->head;
    }
    msi_parse_leave(p);
    *from_out = left;
    return MS_OK;
}

/* Tables as arguments. */

/* PARTITION BY key or (keys), ORDER BY key or (keys). Without parentheses one key only. */
static ms_rc parse_arg_clauses(ms_parser *p, ms_ast_table_arg *arg, uint32_t *child_height)
{
    bool found = false;
    ms_parse_list keys = {0};
    MS_TRY(msi_parse_accept_word(p, MS_KW_PARTITION, &found));
    if (found) {
        const ms_ast_expr *key = NULL;
        MS_TRY(msi_parse_expect_word(p, MS_KW_BY));
        MS_TRY(msi_parse_accept(p, MS_TOKEN_LPAREN, &found));
        if (found) {
            MS_TRY(msi_parse_exprs(p, MS_TOKEN_RPAREN, &arg->partition, &arg->partition_count,
                                   child_height));
        } else {
            MS_TRY(msi_parse_expr(p, &key));
            MS_TRY(msi_parse_push(p, &keys, &key, sizeof(key)));
            *child_height = msi_parse_max(*child_height, key->height);
            arg->partition = keys.items;
            arg->partition_count = keys.count;
        }
    }
    MS_TRY(msi_parse_accept_word(p, MS_KW_ORDER, &found));
    if (!found) {
        return MS_OK;
    }
    MS_TRY(msi_parse_expect_word(p, MS_KW_BY));
    MS_TRY(msi_parse_accept(p, MS_TOKEN_LPAREN, &found));
    if (found) {
        MS_TRY(msi_parse_order(p, &arg->order, &arg->order_count, child_height));
        return msi_parse_expect(p, MS_TOKEN_RPAREN);
    }
    return msi_parse_order_key(p, &arg->order, &arg->order_count, child_height);
}

static ms_rc finish_table_arg(ms_parser *p, uint32_t start, const ms_ast_from *table,
                              const ms_ast_expr **expr_out)
{
    ms_ast_table_arg *arg = msi_parse_new(p, ms_ast_table_arg);
    uint32_t height = table->height;
    arg->table = table;
    MS_TRY(parse_arg_clauses(p, arg, &height));
    MS_TRY(msi_parse_finish(p, &arg->head, MS_AST_TABLE_ARG, start, height));
    *expr_out = &arg->head;
    return MS_OK;
}

/* Wraps a query as the item of FROM that a table argument holds. */
static ms_rc wrap_query(ms_parser *p, uint32_t start, const ms_ast_query *query,
                        const ms_ast_from **from_out)
{
    ms_ast_from_query *item = msi_parse_new(p, ms_ast_from_query);
    item->query = query;
    MS_TRY(finish_from(p, &item->head, MS_AST_FROM_QUERY, start, query->height));
    *from_out = &item->head;
    return MS_OK;
}

ms_rc msi_parse_query_arg(ms_parser *p, const ms_ast_subquery *subquery,
                          const ms_ast_expr **expr_out)
{
    const ms_ast_from *table = NULL;
    MS_TRY(wrap_query(p, subquery->head.span.start, subquery->query, &table));
    return finish_table_arg(p, subquery->head.span.start, table, expr_out);
}

ms_rc msi_parse_table_arg(ms_parser *p, const ms_ast_expr **expr_out)
{
    uint32_t start = p->token.span.start;
    const ms_ast_from *table = NULL;
    bool is_query = false;
    MS_TRY(msi_parse_advance(p));
    uint32_t inner_start = p->token.span.start;
    MS_TRY(msi_parse_accept(p, MS_TOKEN_LPAREN, &is_query));
    if (is_query) {
        const ms_ast_query *query = NULL;
        MS_TRY(msi_parse_query(p, &query));
        MS_TRY(msi_parse_expect(p, MS_TOKEN_RPAREN));
        MS_TRY(wrap_query(p, inner_start, query, &table));
    } else {
        ms_ast_from_table *named = msi_parse_new(p, ms_ast_from_table);
        MS_TRY(msi_parse_path(p, "a table", &named->name));
        MS_TRY(msi_parse_hints(p, &named->hints, &named->hint_count));
        MS_TRY(finish_from(p, &named->head, MS_AST_FROM_TABLE, inner_start, 0));
        table = &named->head;
    }
    return finish_table_arg(p, start, table, expr_out);
}
