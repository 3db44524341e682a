/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries: WITH, the bodies SELECT, VALUES and TABLE, the set operations between them, ORDER BY and
 * LIMIT. INTERSECT binds tighter than UNION and EXCEPT; all are left-associative, and a chain of
 * one operation becomes one node.
 */
#include "sql/sql_priv.h"

enum set_level {
    SET_LEVEL_ANY = 0,
    SET_LEVEL_UNION = 12,
    SET_LEVEL_INTERSECT = 14,
};

static ms_rc finish_body(ms_parser *p, ms_ast_body *head, ms_ast_body_kind kind, uint32_t start,
                         uint32_t child_height)
{
    head->kind = kind;
    head->span = msi_parse_span(p, start);
    return msi_parse_height(p, head->span, child_height, &head->height);
}

/* The select list. */

/*
 * Makes a star of the name in front of ".*". That it names a table or a row is the binder's to
 * say.
 */
static ms_rc finish_qualified_star(ms_parser *p, ms_ast_select_item *item)
{
    if (item->expr->kind != MS_AST_NAME) {
        return msi_parse_refuse(p, p->token.span, ".* behind an expression",
                                "Name the fields one by one.");
    }
    item->qualifier = ms_ast_name_of(item->expr)->path;
    item->expr = NULL;
    MS_TRY(msi_parse_advance(p));
    return msi_parse_expect(p, MS_TOKEN_STAR);
}

static ms_rc parse_item_alias(ms_parser *p, ms_ast_select_item *item)
{
    bool has_as = false;
    MS_TRY(msi_parse_accept_word(p, MS_KW_AS, &has_as));
    if (has_as) {
        return msi_parse_name(p, "an alias", &item->alias);
    }
    if (!msi_parse_at_name(p)) {
        return MS_OK;
    }
    bool is_bare = msi_parse_at(p, MS_TOKEN_WORD);
    MS_TRY(msi_parse_name(p, "an alias", &item->alias));
    if (is_bare) {
        p->bare_alias = item->alias;
    }
    return MS_OK;
}

static ms_rc parse_select_item(ms_parser *p, ms_ast_select_item *item, uint32_t *child_height)
{
    uint32_t start = p->token.span.start;
    bool is_star = false;
    *item = (ms_ast_select_item){0};
    MS_TRY(msi_parse_accept(p, MS_TOKEN_STAR, &is_star));
    if (!is_star) {
        MS_TRY(msi_parse_expr(p, &item->expr));
        *child_height = msi_parse_max(*child_height, item->expr->height);
        if (msi_parse_at(p, MS_TOKEN_DOT)) {
            MS_TRY(finish_qualified_star(p, item));
        } else {
            MS_TRY(parse_item_alias(p, item));
        }
    }
    item->span = msi_parse_span(p, start);
    return MS_OK;
}

static ms_rc parse_select_items(ms_parser *p, ms_ast_select *select, uint32_t *child_height)
{
    ms_parse_list items = {0};
    for (bool more = true; more;) {
        ms_ast_select_item item;
        MS_TRY(parse_select_item(p, &item, child_height));
        if (items.count >= MS_LIMIT_COLUMNS) {
            return msi_parse_too_large(p, item.span, "a select list has more items than",
                                       MS_LIMIT_COLUMNS);
        }
        MS_TRY(msi_parse_push(p, &items, &item, sizeof(item)));
        MS_TRY(msi_parse_accept(p, MS_TOKEN_COMMA, &more));
    }
    select->items = items.items;
    select->item_count = items.count;
    if (msi_parse_at_name(p) || msi_parse_at(p, MS_TOKEN_INTEGER) ||
        msi_parse_at(p, MS_TOKEN_STRING)) {
        msi_parse_fail(p, "\",\" or FROM");
        return ms_status_hint(p->st, "Perhaps a comma is missing before it.");
    }
    return MS_OK;
}

/* The clauses of SELECT. */

static ms_rc parse_from_clause(ms_parser *p, ms_ast_select *select, uint32_t *child_height)
{
    ms_parse_list items = {0};
    bool more = false;
    MS_TRY(msi_parse_accept_word(p, MS_KW_FROM, &more));
    while (more) {
        const ms_ast_from *item = NULL;
        MS_TRY(msi_parse_from(p, &item));
        MS_TRY(msi_parse_push(p, &items, &item, sizeof(item)));
        *child_height = msi_parse_max(*child_height, item->height);
        MS_TRY(msi_parse_accept(p, MS_TOKEN_COMMA, &more));
    }
    select->from = items.items;
    select->from_count = items.count;
    return MS_OK;
}

/* WHERE, HAVING: a word and a condition. */
static ms_rc parse_condition(ms_parser *p, ms_keyword word, const ms_ast_expr **condition_out,
                             uint32_t *child_height)
{
    bool found = false;
    MS_TRY(msi_parse_accept_word(p, word, &found));
    if (!found) {
        return MS_OK;
    }
    MS_TRY(msi_parse_expr(p, condition_out));
    *child_height = msi_parse_max(*child_height, (*condition_out)->height);
    return MS_OK;
}

static ms_rc parse_group(ms_parser *p, ms_ast_group *group, uint32_t *child_height);

/* One expression, or the (a, b) that means several. */
static ms_rc parse_group_exprs(ms_parser *p, ms_ast_group *group, uint32_t *child_height)
{
    const ms_ast_expr *expr = NULL;
    ms_parse_list exprs = {0};
    bool is_paren = msi_parse_at(p, MS_TOKEN_LPAREN);
    group->kind = MS_AST_GROUP_EXPRS;
    if (is_paren && p->ahead.kind == MS_TOKEN_RPAREN) {
        MS_TRY(msi_parse_advance(p));
        return msi_parse_advance(p);
    }
    MS_TRY(msi_parse_expr(p, &expr));
    *child_height = msi_parse_max(*child_height, expr->height);
    if (is_paren && expr->kind == MS_AST_ROW) {
        group->exprs = ms_ast_row_of(expr)->items;
        group->expr_count = ms_ast_row_of(expr)->item_count;
        return MS_OK;
    }
    MS_TRY(msi_parse_push(p, &exprs, &expr, sizeof(expr)));
    group->exprs = exprs.items;
    group->expr_count = exprs.count;
    return MS_OK;
}

/* ROLLUP(...), CUBE(...), GROUPING SETS(...): the words are read. */
static ms_rc parse_group_sets(ms_parser *p, ms_ast_group_kind kind, ms_ast_group *group,
                              uint32_t *child_height)
{
    ms_parse_list sets = {0};
    group->kind = kind;
    MS_TRY(msi_parse_enter(p));
    MS_TRY(msi_parse_expect(p, MS_TOKEN_LPAREN));
    for (bool more = true; more;) {
        ms_ast_group set = {0};
        uint32_t start = p->token.span.start;
        if (kind == MS_AST_GROUP_SETS) {
            MS_TRY(parse_group(p, &set, child_height));
        } else {
            MS_TRY(parse_group_exprs(p, &set, child_height));
            set.span = msi_parse_span(p, start);
        }
        MS_TRY(msi_parse_push(p, &sets, &set, sizeof(set)));
        MS_TRY(msi_parse_next_item(p, MS_TOKEN_RPAREN, &more));
    }
    msi_parse_leave(p);
    group->sets = sets.items;
    group->set_count = sets.count;
    return MS_OK;
}

static ms_rc parse_group(ms_parser *p, ms_ast_group *group, uint32_t *child_height)
{
    uint32_t start = p->token.span.start;
    *group = (ms_ast_group){0};
    if (msi_parse_at_word(p, MS_KW_ROLLUP) || msi_parse_at_word(p, MS_KW_CUBE)) {
        bool is_cube = msi_parse_at_word(p, MS_KW_CUBE);
        MS_TRY(msi_parse_advance(p));
        MS_TRY(parse_group_sets(p, is_cube ? MS_AST_GROUP_CUBE : MS_AST_GROUP_ROLLUP, group,
                                child_height));
    } else if (msi_parse_at_words(p, MS_KW_GROUPING, MS_KW_SETS)) {
        MS_TRY(msi_parse_advance(p));
        MS_TRY(msi_parse_advance(p));
        MS_TRY(parse_group_sets(p, MS_AST_GROUP_SETS, group, child_height));
    } else {
        MS_TRY(parse_group_exprs(p, group, child_height));
    }
    group->span = msi_parse_span(p, start);
    return MS_OK;
}

static ms_rc parse_group_by(ms_parser *p, ms_ast_select *select, uint32_t *child_height)
{
    ms_parse_list groups = {0};
    bool more = false;
    MS_TRY(msi_parse_accept_word(p, MS_KW_GROUP, &more));
    if (!more) {
        return MS_OK;
    }
    MS_TRY(msi_parse_expect_word(p, MS_KW_BY));
    if (msi_parse_at_word(p, MS_KW_DISTINCT) || msi_parse_at_word(p, MS_KW_ALL)) {
        return msi_parse_refuse(p, p->token.span, "GROUP BY with DISTINCT or ALL", NULL);
    }
    while (more) {
        ms_ast_group group;
        MS_TRY(parse_group(p, &group, child_height));
        MS_TRY(msi_parse_push(p, &groups, &group, sizeof(group)));
        MS_TRY(msi_parse_accept(p, MS_TOKEN_COMMA, &more));
    }
    select->groups = groups.items;
    select->group_count = groups.count;
    return MS_OK;
}

static ms_rc parse_windows(ms_parser *p, ms_ast_select *select, uint32_t *child_height)
{
    ms_parse_list windows = {0};
    bool more = false;
    MS_TRY(msi_parse_accept_word(p, MS_KW_WINDOW, &more));
    while (more) {
        ms_ast_named_window window = {0};
        MS_TRY(msi_parse_name(p, "the name of a window", &window.name));
        MS_TRY(msi_parse_expect_word(p, MS_KW_AS));
        MS_TRY(msi_parse_window(p, &window.window, child_height));
        MS_TRY(msi_parse_push(p, &windows, &window, sizeof(window)));
        MS_TRY(msi_parse_accept(p, MS_TOKEN_COMMA, &more));
    }
    select->windows = windows.items;
    select->window_count = windows.count;
    return MS_OK;
}

static ms_rc parse_select_quantifier(ms_parser *p, ms_ast_select *select)
{
    bool all = false;
    if (msi_parse_at_word(p, MS_KW_STREAM)) {
        return msi_parse_refuse(p, p->token.span, "SELECT STREAM",
                                "Every query streams; leave the word out.");
    }
    select->distinct_span = p->token.span;
    MS_TRY(msi_parse_accept_word(p, MS_KW_DISTINCT, &select->distinct));
    if (!select->distinct) {
        select->distinct_span = ms_span_none;
        MS_TRY(msi_parse_accept_word(p, MS_KW_ALL, &all));
    }
    return MS_OK;
}

static ms_rc parse_select(ms_parser *p, const ms_ast_body **body_out)
{
    uint32_t start = p->token.span.start;
    uint32_t height = 0;
    ms_ast_select *select = msi_parse_new(p, ms_ast_select);
    MS_TRY(msi_parse_advance(p));
    MS_TRY(msi_parse_hints(p, &select->hints, &select->hint_count));
    MS_TRY(parse_select_quantifier(p, select));
    MS_TRY(parse_select_items(p, select, &height));
    MS_TRY(parse_from_clause(p, select, &height));
    MS_TRY(parse_condition(p, MS_KW_WHERE, &select->where, &height));
    MS_TRY(parse_group_by(p, select, &height));
    MS_TRY(parse_condition(p, MS_KW_HAVING, &select->having, &height));
    MS_TRY(parse_windows(p, select, &height));
    if (msi_parse_at_word(p, MS_KW_QUALIFY)) {
        return msi_parse_refuse(p, p->token.span, "QUALIFY",
                                "Wrap the query: SELECT ... FROM (query) WHERE condition.");
    }
    MS_TRY(finish_body(p, &select->head, MS_AST_SELECT, start, height));
    *body_out = &select->head;
    return MS_OK;
}

/* VALUES and TABLE. */

/* (a, b), ROW(a, b) or a single expression. */
static ms_rc parse_values_row(ms_parser *p, ms_ast_values_row *row, uint32_t *child_height)
{
    uint32_t start = p->token.span.start;
    const ms_ast_expr *expr = NULL;
    ms_parse_list items = {0};
    MS_TRY(msi_parse_expr(p, &expr));
    *child_height = msi_parse_max(*child_height, expr->height);
    *row = (ms_ast_values_row){.span = msi_parse_span(p, start)};
    if (expr->kind == MS_AST_ROW) {
        row->items = ms_ast_row_of(expr)->items;
        row->item_count = ms_ast_row_of(expr)->item_count;
        return MS_OK;
    }
    MS_TRY(msi_parse_push(p, &items, &expr, sizeof(expr)));
    row->items = items.items;
    row->item_count = items.count;
    return MS_OK;
}

static ms_rc parse_values(ms_parser *p, const ms_ast_body **body_out)
{
    uint32_t start = p->token.span.start;
    uint32_t height = 0;
    ms_ast_values *values = msi_parse_new(p, ms_ast_values);
    ms_parse_list rows = {0};
    MS_TRY(msi_parse_advance(p));
    for (bool more = true; more;) {
        ms_ast_values_row row;
        MS_TRY(parse_values_row(p, &row, &height));
        MS_TRY(msi_parse_push(p, &rows, &row, sizeof(row)));
        MS_TRY(msi_parse_accept(p, MS_TOKEN_COMMA, &more));
    }
    values->rows = rows.items;
    values->row_count = rows.count;
    MS_TRY(finish_body(p, &values->head, MS_AST_VALUES, start, height));
    *body_out = &values->head;
    return MS_OK;
}

static ms_rc parse_table(ms_parser *p, const ms_ast_body **body_out)
{
    uint32_t start = p->token.span.start;
    ms_ast_table *table = msi_parse_new(p, ms_ast_table);
    MS_TRY(msi_parse_advance(p));
    MS_TRY(msi_parse_path(p, "a table", &table->name));
    MS_TRY(finish_body(p, &table->head, MS_AST_TABLE, start, 0));
    *body_out = &table->head;
    return MS_OK;
}

/* Set operations. */

/* True when a query is nothing but its body. */
static bool is_bare(const ms_ast_query *query)
{
    return query->cte_count == 0 && query->order_count == 0 && query->offset == NULL &&
           query->limit == NULL;
}

/* A parenthesized query as a branch: its body, or the whole when it has clauses of its own. */
static ms_rc make_branch(ms_parser *p, uint32_t start, const ms_ast_query *query,
                         const ms_ast_body **body_out)
{
    if (is_bare(query)) {
        *body_out = query->body;
        return MS_OK;
    }
    ms_ast_nested *nested = msi_parse_new(p, ms_ast_nested);
    nested->query = query;
    MS_TRY(finish_body(p, &nested->head, MS_AST_NESTED, start, query->height));
    *body_out = &nested->head;
    return MS_OK;
}

static ms_rc parse_branch(ms_parser *p, const ms_ast_body **body_out)
{
    uint32_t start = p->token.span.start;
    if (msi_parse_at_word(p, MS_KW_SELECT)) {
        return parse_select(p, body_out);
    }
    if (msi_parse_at_word(p, MS_KW_VALUES)) {
        return parse_values(p, body_out);
    }
    if (msi_parse_at_word(p, MS_KW_TABLE)) {
        return parse_table(p, body_out);
    }
    if (!msi_parse_at(p, MS_TOKEN_LPAREN)) {
        return msi_parse_fail(p, "SELECT, VALUES, TABLE, WITH or \"(\"");
    }
    const ms_ast_query *query = NULL;
    MS_TRY(msi_parse_advance(p));
    MS_TRY(msi_parse_query(p, &query));
    MS_TRY(msi_parse_expect(p, MS_TOKEN_RPAREN));
    return make_branch(p, start, query, body_out);
}

static int find_set_level(const ms_parser *p)
{
    if (msi_parse_at_word(p, MS_KW_INTERSECT)) {
        return SET_LEVEL_INTERSECT;
    }
    bool is_union = msi_parse_at_word(p, MS_KW_UNION) || msi_parse_at_word(p, MS_KW_EXCEPT);
    return is_union ? SET_LEVEL_UNION : -1;
}

static ms_ast_set_op_kind set_op_of(ms_keyword word)
{
    return word == MS_KW_UNION       ? MS_AST_UNION
           : word == MS_KW_INTERSECT ? MS_AST_INTERSECT
                                     : MS_AST_EXCEPT;
}

static ms_rc parse_set_rest(ms_parser *p, int min, uint32_t start, const ms_ast_body *left,
                            const ms_ast_body **body_out);

/* The word of a set operation, with ALL or DISTINCT. */
static ms_rc parse_set_words(ms_parser *p, bool *all_out)
{
    bool distinct = false;
    MS_TRY(msi_parse_advance(p));
    MS_TRY(msi_parse_accept_word(p, MS_KW_ALL, all_out));
    return *all_out ? MS_OK : msi_parse_accept_word(p, MS_KW_DISTINCT, &distinct);
}

/* The branches behind the first one, as long as the operation is the same. */
static ms_rc parse_set_op(ms_parser *p, uint32_t start, const ms_ast_body *left,
                          const ms_ast_body **body_out)
{
    ms_keyword word = p->token.keyword;
    int level = find_set_level(p);
    ms_ast_set_op *set_op = msi_parse_new(p, ms_ast_set_op);
    ms_parse_list branches = {0};
    uint32_t height = left->height;
    uint32_t op_start = p->token.span.start;
    set_op->op = set_op_of(word);
    MS_TRY(msi_parse_push(p, &branches, &left, sizeof(left)));
    MS_TRY(parse_set_words(p, &set_op->all));
    set_op->op_span = msi_parse_span(p, op_start);
    for (bool more = true; more;) {
        const ms_ast_body *branch = NULL;
        uint32_t branch_start = p->token.span.start;
        MS_TRY(parse_branch(p, &branch));
        MS_TRY(parse_set_rest(p, level + 1, branch_start, branch, &branch));
        MS_TRY(msi_parse_push(p, &branches, &branch, sizeof(branch)));
        height = msi_parse_max(height, branch->height);
        bool same_all = (p->ahead.keyword == MS_KW_ALL) == set_op->all;
        more = msi_parse_at_word(p, word) && same_all;
        if (more) {
            bool all = false;
            MS_TRY(parse_set_words(p, &all));
        }
    }
    set_op->branches = branches.items;
    set_op->branch_count = branches.count;
    MS_TRY(finish_body(p, &set_op->head, MS_AST_SET_OP, start, height));
    *body_out = &set_op->head;
    return MS_OK;
}

/* Extends a body by set operations of at least a level. */
static ms_rc parse_set_rest(ms_parser *p, int min, uint32_t start, const ms_ast_body *left,
                            const ms_ast_body **body_out)
{
    while (find_set_level(p) >= min) {
        const ms_ast_body *joined = NULL;
        MS_TRY(parse_set_op(p, start, left, &joined));
        left = joined;
    }
    if (msi_parse_at_word(p, MS_KW_MINUS)) {
        msi_parse_fail(p, "UNION, INTERSECT, EXCEPT or the end of the query");
        return ms_status_hint(p->st, "Write EXCEPT.");
    }
    *body_out = left;
    return MS_OK;
}

/* ORDER BY, LIMIT, OFFSET, FETCH. */

static ms_rc parse_order_item(ms_parser *p, ms_ast_order *order, uint32_t *child_height)
{
    uint32_t start = p->token.span.start;
    bool found = false;
    *order = (ms_ast_order){0};
    MS_TRY(msi_parse_expr(p, &order->expr));
    *child_height = msi_parse_max(*child_height, order->expr->height);
    if (msi_parse_at_word(p, MS_KW_ASC) || msi_parse_at_word(p, MS_KW_DESC)) {
        bool is_asc = msi_parse_at_word(p, MS_KW_ASC);
        order->direction = is_asc ? MS_AST_ORDER_ASC : MS_AST_ORDER_DESC;
        MS_TRY(msi_parse_advance(p));
    }
    MS_TRY(msi_parse_accept_word(p, MS_KW_NULLS, &found));
    if (found) {
        if (!msi_parse_at_word(p, MS_KW_FIRST) && !msi_parse_at_word(p, MS_KW_LAST)) {
            return msi_parse_fail(p, "FIRST or LAST");
        }
        bool is_first = msi_parse_at_word(p, MS_KW_FIRST);
        order->nulls = is_first ? MS_AST_NULLS_FIRST : MS_AST_NULLS_LAST;
        MS_TRY(msi_parse_advance(p));
    }
    order->span = msi_parse_span(p, start);
    return MS_OK;
}

static ms_rc parse_order_items(ms_parser *p, bool only_one, const ms_ast_order **order_out,
                               uint32_t *count_out, uint32_t *child_height)
{
    ms_parse_list items = {0};
    for (bool more = true; more;) {
        ms_ast_order item;
        MS_TRY(parse_order_item(p, &item, child_height));
        MS_TRY(msi_parse_push(p, &items, &item, sizeof(item)));
        more = false;
        if (!only_one) {
            MS_TRY(msi_parse_accept(p, MS_TOKEN_COMMA, &more));
        }
    }
    *order_out = items.items;
    *count_out = items.count;
    return MS_OK;
}

ms_rc msi_parse_order(ms_parser *p, const ms_ast_order **order_out, uint32_t *count_out,
                      uint32_t *child_height)
{
    return parse_order_items(p, false, order_out, count_out, child_height);
}

ms_rc msi_parse_order_key(ms_parser *p, const ms_ast_order **order_out, uint32_t *count_out,
                          uint32_t *child_height)
{
    return parse_order_items(p, true, order_out, count_out, child_height);
}

/* The number of LIMIT, OFFSET and FETCH. */
static ms_rc parse_count(ms_parser *p, const ms_ast_expr **count_out)
{
    if (!msi_parse_at(p, MS_TOKEN_INTEGER)) {
        return msi_parse_fail(p, "an integer");
    }
    return msi_parse_number(p, "an integer", count_out);
}

/* LIMIT n, LIMIT ALL; the word is read. */
static ms_rc parse_limit(ms_parser *p, ms_ast_query *query)
{
    bool all = false;
    MS_TRY(msi_parse_accept_word(p, MS_KW_ALL, &all));
    if (all) {
        return MS_OK;
    }
    MS_TRY(parse_count(p, &query->limit));
    if (msi_parse_at(p, MS_TOKEN_COMMA)) {
        msi_parse_fail(p, "the end of the query");
        return ms_status_hint(p->st, "Write LIMIT count OFFSET start.");
    }
    return MS_OK;
}

/* OFFSET n [ROW | ROWS]; the word is read. */
static ms_rc parse_offset(ms_parser *p, ms_ast_query *query)
{
    bool found = false;
    MS_TRY(parse_count(p, &query->offset));
    MS_TRY(msi_parse_accept_word(p, MS_KW_ROW, &found));
    return found ? MS_OK : msi_parse_accept_word(p, MS_KW_ROWS, &found);
}

/* FETCH FIRST n ROWS ONLY; the first word is read. */
static ms_rc parse_fetch(ms_parser *p, ms_ast_query *query)
{
    if (!msi_parse_at_word(p, MS_KW_FIRST) && !msi_parse_at_word(p, MS_KW_NEXT)) {
        return msi_parse_fail(p, "FIRST or NEXT");
    }
    MS_TRY(msi_parse_advance(p));
    MS_TRY(parse_count(p, &query->limit));
    if (!msi_parse_at_word(p, MS_KW_ROW) && !msi_parse_at_word(p, MS_KW_ROWS)) {
        return msi_parse_fail(p, "ROW or ROWS");
    }
    MS_TRY(msi_parse_advance(p));
    return msi_parse_expect_word(p, MS_KW_ONLY);
}

/* LIMIT, OFFSET and FETCH in either order, each once. */
static ms_rc parse_limits(ms_parser *p, ms_ast_query *query)
{
    bool has_limit = false;
    bool has_offset = false;
    for (;;) {
        bool is_limit = msi_parse_at_word(p, MS_KW_LIMIT) && !has_limit;
        bool is_fetch = msi_parse_at_word(p, MS_KW_FETCH) && !has_limit;
        bool is_offset = msi_parse_at_word(p, MS_KW_OFFSET) && !has_offset;
        if (!is_limit && !is_fetch && !is_offset) {
            return MS_OK;
        }
        has_limit = has_limit || is_limit || is_fetch;
        has_offset = has_offset || is_offset;
        MS_TRY(msi_parse_advance(p));
        if (is_limit) {
            MS_TRY(parse_limit(p, query));
        } else if (is_fetch) {
            MS_TRY(parse_fetch(p, query));
        } else {
            MS_TRY(parse_offset(p, query));
        }
    }
}

/* Whole queries. */

static ms_rc parse_cte(ms_parser *p, ms_ast_cte *cte, uint32_t *child_height)
{
    uint32_t start = p->token.span.start;
    *cte = (ms_ast_cte){0};
    MS_TRY(msi_parse_name(p, "the name of a common table expression", &cte->name));
    MS_TRY(msi_parse_name_list(p, "a column name", &cte->columns, &cte->column_count));
    MS_TRY(msi_parse_expect_word(p, MS_KW_AS));
    MS_TRY(msi_parse_expect(p, MS_TOKEN_LPAREN));
    MS_TRY(msi_parse_query(p, &cte->query));
    MS_TRY(msi_parse_expect(p, MS_TOKEN_RPAREN));
    *child_height = msi_parse_max(*child_height, cte->query->height);
    cte->span = msi_parse_span(p, start);
    return MS_OK;
}

static ms_rc parse_with(ms_parser *p, ms_ast_query *query, uint32_t *child_height)
{
    ms_parse_list ctes = {0};
    bool more = false;
    MS_TRY(msi_parse_accept_word(p, MS_KW_WITH, &more));
    if (more && msi_parse_at_word(p, MS_KW_RECURSIVE)) {
        return msi_parse_refuse(p, p->token.span, "WITH RECURSIVE", NULL);
    }
    while (more) {
        ms_ast_cte cte;
        MS_TRY(parse_cte(p, &cte, child_height));
        MS_TRY(msi_parse_push(p, &ctes, &cte, sizeof(cte)));
        MS_TRY(msi_parse_accept(p, MS_TOKEN_COMMA, &more));
    }
    query->ctes = ctes.items;
    query->cte_count = ctes.count;
    return MS_OK;
}

/*
 * ORDER BY and LIMIT behind a body, and the head. A query that is only another one in parentheses
 * is that one.
 */
static ms_rc finish_query(ms_parser *p, uint32_t start, ms_ast_query *query, uint32_t child_height,
                          const ms_ast_query **query_out)
{
    bool found = false;
    MS_TRY(msi_parse_accept_word(p, MS_KW_ORDER, &found));
    if (found) {
        MS_TRY(msi_parse_expect_word(p, MS_KW_BY));
        MS_TRY(msi_parse_order(p, &query->order, &query->order_count, &child_height));
    }
    MS_TRY(parse_limits(p, query));
    child_height = msi_parse_max(child_height, query->body->height);
    query->span = msi_parse_span(p, start);
    MS_TRY(msi_parse_height(p, query->span, child_height, &query->height));
    bool is_wrapper = is_bare(query) && query->body->kind == MS_AST_NESTED;
    *query_out = is_wrapper ? ms_ast_nested_of(query->body)->query : query;
    return MS_OK;
}

ms_rc msi_parse_query(ms_parser *p, const ms_ast_query **query_out)
{
    uint32_t start = p->token.span.start;
    uint32_t height = 0;
    ms_ast_query *query = msi_parse_new(p, ms_ast_query);
    const ms_ast_body *first = NULL;
    MS_TRY(msi_parse_enter(p));
    MS_TRY(parse_with(p, query, &height));
    uint32_t body_start = p->token.span.start;
    MS_TRY(parse_branch(p, &first));
    MS_TRY(parse_set_rest(p, SET_LEVEL_ANY, body_start, first, &query->body));
    MS_TRY(finish_query(p, start, query, height, query_out));
    msi_parse_leave(p);
    return MS_OK;
}

bool msi_parse_at_query_rest(const ms_parser *p)
{
    return find_set_level(p) >= 0 || msi_parse_at_words(p, MS_KW_ORDER, MS_KW_BY) ||
           msi_parse_at_word(p, MS_KW_LIMIT) || msi_parse_at_word(p, MS_KW_OFFSET) ||
           msi_parse_at_word(p, MS_KW_FETCH);
}

ms_rc msi_parse_query_rest(ms_parser *p, uint32_t start, const ms_ast_query *first,
                           const ms_ast_query **query_out)
{
    ms_ast_query *query = msi_parse_new(p, ms_ast_query);
    const ms_ast_body *branch = NULL;
    MS_TRY(msi_parse_enter(p));
    MS_TRY(make_branch(p, start, first, &branch));
    MS_TRY(parse_set_rest(p, SET_LEVEL_ANY, start, branch, &query->body));
    MS_TRY(finish_query(p, start, query, 0, query_out));
    msi_parse_leave(p);
    return MS_OK;
}
