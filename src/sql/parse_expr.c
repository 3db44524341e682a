/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions with operators, by precedence climbing. The levels are Flink's (Calcite's), which
 * differ from other dialects in three places: || binds like *, IS NULL binds weaker than a
 * comparison, and NOT weaker than IS:
 *
 *     100  . [ ]            parse_primary.c
 *      80  unary + -
 *      60  * / % ||
 *      40  + -
 *      32  IN, BETWEEN, LIKE, SIMILAR TO, and their NOT forms
 *      30  = <> < <= > >=, OVERLAPS, = ANY (...)
 *      28  IS ... (also IS DISTINCT FROM: no level lies between the two)
 *      26  NOT
 *      24  AND
 *      22  OR
 *
 * All are left-associative. A chain of AND or OR becomes one node.
 */
#include "sql/sql_priv.h"

enum level {
    LEVEL_ANY = 0,
    LEVEL_OR = 22,
    LEVEL_AND = 24,
    LEVEL_NOT = 26,
    LEVEL_IS = 28,
    LEVEL_COMPARE = 30,
    LEVEL_IN = 32,
    LEVEL_ADD = 40,
    LEVEL_MULTIPLY = 60,
    LEVEL_SIGN = 80,
};

/* An expression being extended to the right. */
typedef struct operation {
    int level;      /* of the operator in hand */
    uint32_t start; /* where the left operand began, with its parentheses */
    const ms_ast_expr *left;
} operation;

static ms_rc parse_level(ms_parser *p, int min, const ms_ast_expr **expr_out);

/* Operators between two operands. */

typedef struct binary_mark {
    ms_token_kind kind;
    int level;
    ms_ast_binary_op op;
} binary_mark;

static const binary_mark binary_marks[] = {
    {MS_TOKEN_PLUS, LEVEL_ADD, MS_AST_OP_ADD},
    {MS_TOKEN_MINUS, LEVEL_ADD, MS_AST_OP_SUBTRACT},
    {MS_TOKEN_STAR, LEVEL_MULTIPLY, MS_AST_OP_MULTIPLY},
    {MS_TOKEN_SLASH, LEVEL_MULTIPLY, MS_AST_OP_DIVIDE},
    {MS_TOKEN_PERCENT, LEVEL_MULTIPLY, MS_AST_OP_MODULO},
    {MS_TOKEN_CONCAT, LEVEL_MULTIPLY, MS_AST_OP_CONCAT},
    {MS_TOKEN_EQUAL, LEVEL_COMPARE, MS_AST_OP_EQUAL},
    {MS_TOKEN_NOT_EQUAL, LEVEL_COMPARE, MS_AST_OP_NOT_EQUAL},
    {MS_TOKEN_LESS, LEVEL_COMPARE, MS_AST_OP_LESS},
    {MS_TOKEN_LESS_EQUAL, LEVEL_COMPARE, MS_AST_OP_LESS_EQUAL},
    {MS_TOKEN_GREATER, LEVEL_COMPARE, MS_AST_OP_GREATER},
    {MS_TOKEN_GREATER_EQUAL, LEVEL_COMPARE, MS_AST_OP_GREATER_EQUAL},
};

static const binary_mark *find_mark(const ms_parser *p)
{
    for (size_t i = 0; i < sizeof(binary_marks) / sizeof(binary_marks[0]); i++) {
        if (msi_parse_at(p, binary_marks[i].kind)) {
            return &binary_marks[i];
        }
    }
    return NULL;
}

/* The level of the operator in hand; -1 when the token is none. */
static int find_level(const ms_parser *p)
{
    ms_keyword word = p->token.keyword;
    if (word == MS_KW_NOT) {
        word = p->ahead.keyword;
        bool is_infix = word == MS_KW_IN || word == MS_KW_BETWEEN || word == MS_KW_LIKE ||
                        word == MS_KW_SIMILAR || word == MS_KW_ILIKE || word == MS_KW_RLIKE;
        return is_infix ? LEVEL_IN : -1;
    }
    static const struct {
        ms_keyword word;
        int level;
    } words[] = {
        {MS_KW_OR, LEVEL_OR},
        {MS_KW_AND, LEVEL_AND},
        {MS_KW_IS, LEVEL_IS},
        {MS_KW_IN, LEVEL_IN},
        {MS_KW_BETWEEN, LEVEL_IN},
        {MS_KW_LIKE, LEVEL_IN},
        {MS_KW_SIMILAR, LEVEL_IN},
        {MS_KW_ILIKE, LEVEL_IN},
        {MS_KW_RLIKE, LEVEL_IN},
        {MS_KW_OVERLAPS, LEVEL_COMPARE},
        {MS_KW_CONTAINS, LEVEL_COMPARE},
        {MS_KW_EQUALS, LEVEL_COMPARE},
        {MS_KW_PRECEDES, LEVEL_COMPARE},
        {MS_KW_SUCCEEDS, LEVEL_COMPARE},
        {MS_KW_MEMBER, LEVEL_COMPARE},
        {MS_KW_SUBMULTISET, LEVEL_COMPARE},
        {MS_KW_MULTISET, LEVEL_MULTIPLY},
    };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (words[i].word == word) {
            return words[i].level;
        }
    }
    const binary_mark *mark = find_mark(p);
    return mark == NULL ? -1 : mark->level;
}

static ms_rc finish_binary(ms_parser *p, const operation *at, ms_ast_binary_op op, ms_span op_span,
                           const ms_ast_expr **expr_out)
{
    ms_ast_binary *binary = msi_parse_new(p, ms_ast_binary);
    binary->op = op;
    binary->op_span = op_span;
    binary->left = at->left;
    MS_TRY(parse_level(p, at->level + 1, &binary->right));
    uint32_t height = msi_parse_max(at->left->height, binary->right->height);
    MS_TRY(msi_parse_finish(p, &binary->head, MS_AST_BINARY, at->start, height));
    *expr_out = &binary->head;
    return MS_OK;
}

/*
 * The query of IN ((SELECT ...) UNION ...) when the parenthesis in hand belongs to one; else the
 * expression that begins with it.
 */
static ms_rc parse_nested_query(ms_parser *p, const ms_ast_query **query_out,
                                const ms_ast_expr **first_out)
{
    uint32_t start = p->token.span.start;
    MS_TRY(msi_parse_expr(p, first_out));
    if ((*first_out)->kind != MS_AST_SUBQUERY) {
        return MS_OK;
    }
    const ms_ast_query *inner = ms_ast_subquery_of(*first_out)->query;
    if (msi_parse_at_query_rest(p)) {
        return msi_parse_query_rest(p, start, inner, query_out);
    }
    *query_out = msi_parse_at(p, MS_TOKEN_RPAREN) ? inner : NULL;
    return MS_OK;
}

/* Items of IN and of ANY: a query, or a list of expressions; the token is the parenthesis. */
static ms_rc parse_in_items(ms_parser *p, const ms_ast_query **query_out,
                            const ms_ast_expr *const **items_out, uint32_t *count_out,
                            uint32_t *child_height)
{
    const ms_ast_expr *item = NULL;
    MS_TRY(msi_parse_expect(p, MS_TOKEN_LPAREN));
    if (msi_parse_at_query(p)) {
        MS_TRY(msi_parse_query(p, query_out));
    } else if (msi_parse_at(p, MS_TOKEN_LPAREN)) {
        MS_TRY(parse_nested_query(p, query_out, &item));
    }
    if (*query_out != NULL) {
        *child_height = msi_parse_max(*child_height, (*query_out)->height);
        return msi_parse_expect(p, MS_TOKEN_RPAREN);
    }
    ms_parse_list items = {0};
    for (bool more = true; more; item = NULL) {
        if (item == NULL) {
            MS_TRY(msi_parse_expr(p, &item));
        }
        MS_TRY(msi_parse_push(p, &items, &item, sizeof(item)));
        *child_height = msi_parse_max(*child_height, item->height);
        MS_TRY(msi_parse_next_item(p, MS_TOKEN_RPAREN, &more));
    }
    *items_out = items.items;
    *count_out = items.count;
    return MS_OK;
}

/* op ANY (...), op ALL (...); the token is ANY, SOME or ALL. */
static ms_rc parse_quantified(ms_parser *p, const operation *at, ms_ast_binary_op op,
                              ms_span op_span, const ms_ast_expr **expr_out)
{
    ms_ast_quantified *quantified = msi_parse_new(p, ms_ast_quantified);
    uint32_t height = at->left->height;
    quantified->op = op;
    quantified->op_span = op_span;
    quantified->all = msi_parse_at_word(p, MS_KW_ALL);
    quantified->operand = at->left;
    MS_TRY(msi_parse_advance(p));
    MS_TRY(parse_in_items(p, &quantified->query, &quantified->items, &quantified->item_count,
                          &height));
    MS_TRY(msi_parse_finish(p, &quantified->head, MS_AST_QUANTIFIED, at->start, height));
    *expr_out = &quantified->head;
    return MS_OK;
}

static ms_rc parse_mark(ms_parser *p, const operation *at, const binary_mark *mark,
                        const ms_ast_expr **expr_out)
{
    ms_span op_span = p->token.span;
    MS_TRY(msi_parse_advance(p));
    bool is_quantifier = msi_parse_at_word(p, MS_KW_ANY) || msi_parse_at_word(p, MS_KW_SOME) ||
                         msi_parse_at_word(p, MS_KW_ALL);
    if (mark->level == LEVEL_COMPARE && is_quantifier) {
        return parse_quantified(p, at, mark->op, op_span, expr_out);
    }
    return finish_binary(p, at, mark->op, op_span, expr_out);
}

/* a AND b AND c; the token is the first AND or OR. */
static ms_rc parse_logic(ms_parser *p, const operation *at, const ms_ast_expr **expr_out)
{
    ms_keyword word = p->token.keyword;
    ms_parse_list operands = {0};
    uint32_t height = at->left->height;
    MS_TRY(msi_parse_push(p, &operands, &at->left, sizeof(at->left)));
    while (msi_parse_at_word(p, word)) {
        const ms_ast_expr *operand = NULL;
        MS_TRY(msi_parse_advance(p));
        MS_TRY(parse_level(p, at->level + 1, &operand));
        MS_TRY(msi_parse_push(p, &operands, &operand, sizeof(operand)));
        height = msi_parse_max(height, operand->height);
    }
    ms_ast_logic *logic = msi_parse_new(p, ms_ast_logic);
    logic->op = word == MS_KW_AND ? MS_AST_OP_AND : MS_AST_OP_OR;
    logic->operands = operands.items;
    logic->operand_count = operands.count;
    MS_TRY(msi_parse_finish(p, &logic->head, MS_AST_LOGIC, at->start, height));
    *expr_out = &logic->head;
    return MS_OK;
}

/* Operators of words. */

static ms_rc parse_json_test(ms_parser *p, ms_ast_is_test *test_out)
{
    static const struct {
        ms_keyword word;
        ms_ast_is_test test;
    } tests[] = {
        {MS_KW_VALUE, MS_AST_IS_JSON_VALUE},
        {MS_KW_SCALAR, MS_AST_IS_JSON_SCALAR},
        {MS_KW_ARRAY, MS_AST_IS_JSON_ARRAY},
        {MS_KW_OBJECT, MS_AST_IS_JSON_OBJECT},
    };
    MS_TRY(msi_parse_advance(p));
    *test_out = MS_AST_IS_JSON_VALUE;
    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
        if (msi_parse_at_word(p, tests[i].word)) {
            *test_out = tests[i].test;
            return msi_parse_advance(p);
        }
    }
    return MS_OK;
}

static ms_rc parse_is_test(ms_parser *p, ms_ast_is_test *test_out)
{
    static const struct {
        ms_keyword word;
        ms_ast_is_test test;
    } tests[] = {
        {MS_KW_NULL, MS_AST_IS_NULL},
        {MS_KW_TRUE, MS_AST_IS_TRUE},
        {MS_KW_FALSE, MS_AST_IS_FALSE},
        {MS_KW_UNKNOWN, MS_AST_IS_UNKNOWN},
    };
    if (msi_parse_at_word(p, MS_KW_JSON)) {
        return parse_json_test(p, test_out);
    }
    if (msi_parse_at_word(p, MS_KW_NORMALIZED) || msi_parse_at_word(p, MS_KW_EMPTY) ||
        msi_parse_at_words(p, MS_KW_A, MS_KW_SET)) {
        return msi_parse_refuse(p, p->token.span, "the test of a multiset or of normalization",
                                NULL);
    }
    for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
        if (msi_parse_at_word(p, tests[i].word)) {
            *test_out = tests[i].test;
            return msi_parse_advance(p);
        }
    }
    return msi_parse_fail(p, "NULL, TRUE, FALSE, UNKNOWN, JSON or DISTINCT FROM");
}

static ms_rc parse_is(ms_parser *p, const operation *at, const ms_ast_expr **expr_out)
{
    ms_span op_span = p->token.span;
    bool negated = false;
    bool is_distinct = false;
    MS_TRY(msi_parse_advance(p));
    MS_TRY(msi_parse_accept_word(p, MS_KW_NOT, &negated));
    MS_TRY(msi_parse_accept_word(p, MS_KW_DISTINCT, &is_distinct));
    if (is_distinct) {
        MS_TRY(msi_parse_expect_word(p, MS_KW_FROM));
        op_span.end = p->last.end;
        operation compare = *at;
        compare.level = LEVEL_COMPARE;
        ms_ast_binary_op op = negated ? MS_AST_OP_NOT_DISTINCT : MS_AST_OP_DISTINCT;
        return finish_binary(p, &compare, op, op_span, expr_out);
    }
    ms_ast_is *is = msi_parse_new(p, ms_ast_is);
    is->negated = negated;
    is->operand = at->left;
    MS_TRY(parse_is_test(p, &is->test));
    MS_TRY(msi_parse_finish(p, &is->head, MS_AST_IS, at->start, at->left->height));
    *expr_out = &is->head;
    return MS_OK;
}

static ms_rc parse_in(ms_parser *p, const operation *at, bool negated, const ms_ast_expr **expr_out)
{
    ms_ast_in *in = msi_parse_new(p, ms_ast_in);
    uint32_t height = at->left->height;
    in->negated = negated;
    in->operand = at->left;
    MS_TRY(msi_parse_advance(p));
    MS_TRY(parse_in_items(p, &in->query, &in->items, &in->item_count, &height));
    MS_TRY(msi_parse_finish(p, &in->head, MS_AST_IN, at->start, height));
    *expr_out = &in->head;
    return MS_OK;
}

static ms_rc parse_between(ms_parser *p, const operation *at, bool negated,
                           const ms_ast_expr **expr_out)
{
    ms_ast_between *between = msi_parse_new(p, ms_ast_between);
    bool asymmetric = false;
    between->negated = negated;
    between->operand = at->left;
    MS_TRY(msi_parse_advance(p));
    MS_TRY(msi_parse_accept_word(p, MS_KW_SYMMETRIC, &between->symmetric));
    if (!between->symmetric) {
        MS_TRY(msi_parse_accept_word(p, MS_KW_ASYMMETRIC, &asymmetric));
    }
    MS_TRY(parse_level(p, LEVEL_AND + 1, &between->low));
    MS_TRY(msi_parse_expect_word(p, MS_KW_AND));
    MS_TRY(parse_level(p, LEVEL_IN + 1, &between->high));
    uint32_t height = msi_parse_max(at->left->height, between->low->height);
    height = msi_parse_max(height, between->high->height);
    MS_TRY(msi_parse_finish(p, &between->head, MS_AST_BETWEEN, at->start, height));
    *expr_out = &between->head;
    return MS_OK;
}

/* LIKE and SIMILAR TO; op_start is where NOT, if any, stands. */
static ms_rc parse_like(ms_parser *p, const operation *at, bool negated, uint32_t op_start,
                        const ms_ast_expr **expr_out)
{
    ms_ast_like *like = msi_parse_new(p, ms_ast_like);
    bool has_escape = false;
    like->negated = negated;
    like->operand = at->left;
    like->similar = msi_parse_at_word(p, MS_KW_SIMILAR);
    MS_TRY(msi_parse_advance(p));
    if (like->similar) {
        MS_TRY(msi_parse_expect_word(p, MS_KW_TO));
    }
    like->op_span = msi_parse_span(p, op_start);
    MS_TRY(parse_level(p, LEVEL_IN + 1, &like->pattern));
    uint32_t height = msi_parse_max(at->left->height, like->pattern->height);
    MS_TRY(msi_parse_accept_word(p, MS_KW_ESCAPE, &has_escape));
    if (has_escape) {
        MS_TRY(parse_level(p, LEVEL_IN + 1, &like->escape));
        height = msi_parse_max(height, like->escape->height);
    }
    MS_TRY(msi_parse_finish(p, &like->head, MS_AST_LIKE, at->start, height));
    *expr_out = &like->head;
    return MS_OK;
}

/* [NOT] IN, BETWEEN, LIKE, SIMILAR TO. */
static ms_rc parse_predicate(ms_parser *p, const operation *at, const ms_ast_expr **expr_out)
{
    uint32_t op_start = p->token.span.start;
    bool negated = false;
    MS_TRY(msi_parse_accept_word(p, MS_KW_NOT, &negated));
    if (msi_parse_at_word(p, MS_KW_IN)) {
        return parse_in(p, at, negated, expr_out);
    }
    if (msi_parse_at_word(p, MS_KW_BETWEEN)) {
        return parse_between(p, at, negated, expr_out);
    }
    if (msi_parse_at_word(p, MS_KW_ILIKE)) {
        return msi_parse_refuse(p, p->token.span, "ILIKE",
                                "Write LOWER(x) LIKE 'pattern in lower case'.");
    }
    if (msi_parse_at_word(p, MS_KW_RLIKE)) {
        return msi_parse_refuse(p, p->token.span, "RLIKE", "Write REGEXP(x, 'pattern').");
    }
    return parse_like(p, at, negated, op_start, expr_out);
}

/* Operators of periods and multisets: part of Flink's grammar, but not of its functions. */
static ms_rc refuse_operator(ms_parser *p)
{
    ms_str what = ms_arena_format(p->arena, "the operator %s", ms_keyword_text(p->token.keyword));
    return msi_parse_refuse(p, p->token.span, what.ptr, NULL);
}

static ms_rc parse_operator(ms_parser *p, const operation *at, const ms_ast_expr **expr_out)
{
    const binary_mark *mark = find_mark(p);
    if (mark != NULL) {
        return parse_mark(p, at, mark, expr_out);
    }
    if (at->level == LEVEL_AND || at->level == LEVEL_OR) {
        return parse_logic(p, at, expr_out);
    }
    if (at->level == LEVEL_IS) {
        return parse_is(p, at, expr_out);
    }
    if (at->level == LEVEL_IN) {
        return parse_predicate(p, at, expr_out);
    }
    if (!msi_parse_at_word(p, MS_KW_OVERLAPS)) {
        return refuse_operator(p);
    }
    ms_span op_span = p->token.span;
    MS_TRY(msi_parse_advance(p));
    return finish_binary(p, at, MS_AST_OP_OVERLAPS, op_span, expr_out);
}

/* NOT, -, + and then what they apply to. */
static ms_rc parse_unary(ms_parser *p, ms_ast_unary_op op, int level, const ms_ast_expr **expr_out)
{
    uint32_t start = p->token.span.start;
    ms_ast_unary *unary = msi_parse_new(p, ms_ast_unary);
    unary->op = op;
    unary->op_span = p->token.span;
    MS_TRY(msi_parse_enter(p));
    MS_TRY(msi_parse_advance(p));
    MS_TRY(parse_level(p, level, &unary->operand));
    msi_parse_leave(p);
    MS_TRY(msi_parse_finish(p, &unary->head, MS_AST_UNARY, start, unary->operand->height));
    *expr_out = &unary->head;
    return MS_OK;
}

static ms_rc parse_prefix(ms_parser *p, const ms_ast_expr **expr_out)
{
    if (msi_parse_at_word(p, MS_KW_NOT)) {
        return parse_unary(p, MS_AST_OP_NOT, LEVEL_NOT, expr_out);
    }
    if (msi_parse_at(p, MS_TOKEN_MINUS)) {
        return parse_unary(p, MS_AST_OP_NEGATE, LEVEL_SIGN, expr_out);
    }
    if (msi_parse_at(p, MS_TOKEN_PLUS)) {
        return parse_unary(p, MS_AST_OP_PLUS, LEVEL_SIGN, expr_out);
    }
    return msi_parse_primary(p, expr_out);
}

/* A NOT behind an operand belongs to IN, BETWEEN, LIKE or SIMILAR TO, and to nothing else. */
static ms_rc check_stray_not(ms_parser *p)
{
    if (!msi_parse_at_word(p, MS_KW_NOT)) {
        return MS_OK;
    }
    bool is_null = p->ahead.keyword == MS_KW_NULL;
    msi_parse_fail(p, "an operator, or NOT IN, NOT BETWEEN, NOT LIKE or NOT SIMILAR TO");
    return is_null ? ms_status_hint(p->st, "Write IS NOT NULL.") : p->st->code;
}

/* Parses operands joined by operators of at least a level. */
static ms_rc parse_level(ms_parser *p, int min, const ms_ast_expr **expr_out)
{
    operation at = {.start = p->token.span.start};
    MS_TRY(parse_prefix(p, &at.left));
    for (;;) {
        at.level = find_level(p);
        if (at.level < min || at.level < 0) {
            *expr_out = at.left;
            return at.level < 0 ? check_stray_not(p) : MS_OK;
        }
        const ms_ast_expr *joined = NULL;
        MS_TRY(parse_operator(p, &at, &joined));
        at.left = joined;
    }
}

ms_rc msi_parse_expr(ms_parser *p, const ms_ast_expr **expr_out)
{
    MS_TRY(msi_parse_enter(p));
    MS_TRY(parse_level(p, LEVEL_ANY, expr_out));
    msi_parse_leave(p);
    return MS_OK;
}

ms_rc msi_parse_operand(ms_parser *p, const ms_ast_expr **expr_out)
{
    MS_TRY(msi_parse_enter(p));
    MS_TRY(parse_level(p, LEVEL_IN + 1, expr_out));
    msi_parse_leave(p);
    return MS_OK;
}

/* Lists of expressions. */

ms_rc msi_parse_exprs(ms_parser *p, ms_token_kind closing, const ms_ast_expr *const **items_out,
                      uint32_t *count_out, uint32_t *child_height)
{
    ms_parse_list items = {0};
    for (bool more = true; more;) {
        const ms_ast_expr *item = NULL;
        MS_TRY(msi_parse_expr(p, &item));
        MS_TRY(msi_parse_push(p, &items, &item, sizeof(item)));
        *child_height = msi_parse_max(*child_height, item->height);
        MS_TRY(msi_parse_next_item(p, closing, &more));
    }
    *items_out = items.items;
    *count_out = items.count;
    return MS_OK;
}

ms_rc msi_parse_open_exprs(ms_parser *p, const ms_ast_expr *const **items_out, uint32_t *count_out,
                           uint32_t *child_height)
{
    ms_parse_list items = {0};
    for (bool more = true; more;) {
        const ms_ast_expr *item = NULL;
        MS_TRY(msi_parse_expr(p, &item));
        MS_TRY(msi_parse_push(p, &items, &item, sizeof(item)));
        *child_height = msi_parse_max(*child_height, item->height);
        MS_TRY(msi_parse_accept(p, MS_TOKEN_COMMA, &more));
    }
    *items_out = items.items;
    *count_out = items.count;
    return MS_OK;
}
