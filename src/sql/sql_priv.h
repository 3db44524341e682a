/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of the parser and of the printer share. The parser is one struct with the current
 * token and the one behind it; a parse function is entered on the first token of its construct and
 * leaves on the first token behind it. Every function fails with the status of the parser set.
 *
 * Recursion: whoever parses a construct that may contain itself calls msi_parse_enter first and
 * decrements depth after; that bounds the stack. Heights are a second bound, on the finished tree,
 * since left-associative chains grow trees without recursion.
 */
#ifndef MS_SQL_SQL_PRIV_H
#define MS_SQL_SQL_PRIV_H

#include "base/limits.h"
#include "base/str.h"
#include "sql/ast.h"
#include "sql/lexer.h"
#include "sql/parse.h"

typedef struct ms_parser {
    const ms_source *source;
    ms_arena *arena;
    ms_status *st;
    ms_lexer lexer;
    ms_token token; /* the current one */
    ms_token ahead; /* the next one; MS_TOKEN_END when reading it failed */
    ms_status ahead_status;
    ms_span last;            /* of the token before the current one */
    ms_ast_ident bare_alias; /* a name taken as alias without AS, for better messages */
    uint32_t depth;
    uint32_t node_count;   /* of the statement */
    uint32_t script_nodes; /* of the statements before it */
} ms_parser;

/* A list under construction. The items move to the tree as they are. */
typedef struct ms_parse_list {
    void *items;
    uint32_t count;
    uint32_t capacity;
} ms_parse_list;

/* Tokens (parse.c). */

ms_rc msi_parse_advance(ms_parser *p) MS_MUST_USE;

static inline bool msi_parse_at(const ms_parser *p, ms_token_kind kind)
{
    return p->token.kind == kind;
}

static inline bool msi_parse_at_word(const ms_parser *p, ms_keyword word)
{
    return p->token.keyword == word;
}

static inline bool msi_parse_at_words(const ms_parser *p, ms_keyword first, ms_keyword second)
{
    return p->token.keyword == first && p->ahead.keyword == second;
}

/* True at the first word of a query; an opening parenthesis is the caller's question. */
bool msi_parse_at_query(const ms_parser *p);

/* Takes the token when it fits, and says so in found_out. */
ms_rc msi_parse_accept(ms_parser *p, ms_token_kind kind, bool *found_out) MS_MUST_USE;
ms_rc msi_parse_accept_word(ms_parser *p, ms_keyword word, bool *found_out) MS_MUST_USE;

/* Takes the token or fails. */
ms_rc msi_parse_expect(ms_parser *p, ms_token_kind kind) MS_MUST_USE;
ms_rc msi_parse_expect_word(ms_parser *p, ms_keyword word) MS_MUST_USE;

/* Takes a comma or, when that is not there, the closing mark; fails at anything else. */
ms_rc msi_parse_next_item(ms_parser *p, ms_token_kind closing, bool *more_out) MS_MUST_USE;

/* Names and small literals (parse.c). what says in a message what the name is of. */

/* True when the token may be an identifier. */
bool msi_parse_at_name(const ms_parser *p);
ms_rc msi_parse_name(ms_parser *p, const char *what, ms_ast_ident *ident_out) MS_MUST_USE;

/* a.b.c; stops before a dot that is followed by a star. */
ms_rc msi_parse_path(ms_parser *p, const char *what, ms_ast_path *path_out) MS_MUST_USE;

/* Same, where the path may be the name of a function: COUNT is one before a parenthesis. */
ms_rc msi_parse_function_path(ms_parser *p, const char *what, ms_ast_path *path_out) MS_MUST_USE;

/* (a, b), when the token is the opening parenthesis or else nothing is taken. */
ms_rc msi_parse_name_list(ms_parser *p, const char *what, const ms_ast_ident **names_out,
                          uint32_t *count_out) MS_MUST_USE;

/* A plain string, as a text with its place. */
ms_rc msi_parse_text(ms_parser *p, const char *what, ms_ast_text *text_out) MS_MUST_USE;

/* An unsigned integer up to max. */
ms_rc msi_parse_integer(ms_parser *p, const char *what, int64_t max,
                        int64_t *value_out) MS_MUST_USE;

/* /+ hint, hint +/; the token is the opening mark or else nothing is taken. */
ms_rc msi_parse_hints(ms_parser *p, const ms_ast_hint **hints_out, uint32_t *count_out) MS_MUST_USE;

/* ('key' = 'value', ...) without the parentheses, up to and with the closing one. */
ms_rc msi_parse_options(ms_parser *p, const ms_ast_option **options_out,
                        uint32_t *count_out) MS_MUST_USE;

/* Errors (parse.c). All return the code of the status. */

/* The current token does not fit. The format says what was expected: "a table name". */
ms_rc msi_parse_fail(ms_parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Same, where a name may stand: a reserved word is explained. */
ms_rc msi_parse_fail_name(ms_parser *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "<what> is not supported". hint may be NULL. */
ms_rc msi_parse_refuse(ms_parser *p, ms_span span, const char *what, const char *hint);
ms_rc msi_parse_too_large(ms_parser *p, ms_span span, const char *what, uint32_t limit);

/* Nodes and lists (parse.c). */

ms_rc msi_parse_enter(ms_parser *p) MS_MUST_USE;

static inline void msi_parse_leave(ms_parser *p)
{
    p->depth--;
}

/* Zeroed memory for a node; the limit on nodes is checked with every token. */
void *msi_parse_node(ms_parser *p, size_t bytes);
#define msi_parse_new(p, type) ((type *)msi_parse_node((p), sizeof(type)))

/* Appends a copy of an item. */
ms_rc msi_parse_push(ms_parser *p, ms_parse_list *list, const void *item,
                     size_t item_bytes) MS_MUST_USE;

/* From the start of a construct to the end of the token before the current one. */
static inline ms_span msi_parse_span(const ms_parser *p, uint32_t start)
{
    return (ms_span){start, p->last.end > start ? p->last.end : start};
}

static inline uint32_t msi_parse_max(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* Checks the height of a node whose tallest child has child_height; answers the node's own. */
ms_rc msi_parse_height(ms_parser *p, ms_span span, uint32_t child_height,
                       uint32_t *height_out) MS_MUST_USE;

/* Completes the head of an expression that began at start. */
ms_rc msi_parse_finish(ms_parser *p, ms_ast_expr *head, ms_ast_expr_kind kind, uint32_t start,
                       uint32_t child_height) MS_MUST_USE;

/* Expressions (parse_expr.c). */

ms_rc msi_parse_expr(ms_parser *p, const ms_ast_expr **expr_out) MS_MUST_USE;

/* Only operators that bind tighter than AND and comparisons: what may stand before IN, AND. */
ms_rc msi_parse_operand(ms_parser *p, const ms_ast_expr **expr_out) MS_MUST_USE;

/* expr, expr, ... up to and with the closing mark; child_height grows to the tallest. */
ms_rc msi_parse_exprs(ms_parser *p, ms_token_kind closing, const ms_ast_expr *const **items_out,
                      uint32_t *count_out, uint32_t *child_height) MS_MUST_USE;

/* expr, expr, ... as long as there are commas. */
ms_rc msi_parse_open_exprs(ms_parser *p, const ms_ast_expr *const **items_out, uint32_t *count_out,
                           uint32_t *child_height) MS_MUST_USE;

/* Expressions without operators (parse_primary.c). */

ms_rc msi_parse_primary(ms_parser *p, const ms_ast_expr **expr_out) MS_MUST_USE;

/* YEAR TO MONTH. */
ms_rc msi_parse_qualifier(ms_parser *p, bool is_single,
                          ms_ast_qualifier *qualifier_out) MS_MUST_USE;

/* The unit that a word names, or MS_AST_UNIT_NONE. Plurals are units only when asked. */
ms_ast_unit msi_parse_unit_of(const ms_token *token, bool plurals);

/* An unsigned number as an expression, for LIMIT and the like. */
ms_rc msi_parse_number(ms_parser *p, const char *what, const ms_ast_expr **expr_out) MS_MUST_USE;

/* Calls (parse_call.c). */

/* Calls with words between their arguments, and words that are calls without parentheses. */
ms_rc msi_parse_special_call(ms_parser *p, bool *found_out,
                             const ms_ast_expr **expr_out) MS_MUST_USE;

/* The call of a function whose name is read; the token is the opening parenthesis. */
ms_rc msi_parse_call(ms_parser *p, const ms_ast_path *name,
                     const ms_ast_expr **expr_out) MS_MUST_USE;

/* [base] [PARTITION BY ...] [ORDER BY ...] [frame] between parentheses, both included. */
ms_rc msi_parse_window(ms_parser *p, const ms_ast_window **window_out,
                       uint32_t *child_height) MS_MUST_USE;

/* Types (parse_type.c). */

ms_rc msi_parse_type(ms_parser *p, const ms_ast_type **type_out) MS_MUST_USE;

/* Queries (parse_query.c). */

ms_rc msi_parse_query(ms_parser *p, const ms_ast_query **query_out) MS_MUST_USE;

/* True behind a parenthesized query when the text goes on as a query: UNION, ORDER BY, LIMIT. */
bool msi_parse_at_query_rest(const ms_parser *p);

/* Goes on with a query whose first branch, in parentheses, began at start and is read. */
ms_rc msi_parse_query_rest(ms_parser *p, uint32_t start, const ms_ast_query *first,
                           const ms_ast_query **query_out) MS_MUST_USE;

/* key [ASC] [NULLS FIRST], ... as long as there are commas. */
ms_rc msi_parse_order(ms_parser *p, const ms_ast_order **order_out, uint32_t *count_out,
                      uint32_t *child_height) MS_MUST_USE;

/* Same, one key only. */
ms_rc msi_parse_order_key(ms_parser *p, const ms_ast_order **order_out, uint32_t *count_out,
                          uint32_t *child_height) MS_MUST_USE;

/* FROM (parse_from.c). */

/* One item of the list behind FROM, with its joins. */
ms_rc msi_parse_from(ms_parser *p, const ms_ast_from **from_out) MS_MUST_USE;

/* TABLE t [PARTITION BY ...] as an argument; the token is TABLE. */
ms_rc msi_parse_table_arg(ms_parser *p, const ms_ast_expr **expr_out) MS_MUST_USE;

/* The PARTITION BY and ORDER BY behind (query) as an argument. */
ms_rc msi_parse_query_arg(ms_parser *p, const ms_ast_subquery *subquery,
                          const ms_ast_expr **expr_out) MS_MUST_USE;

/* Statements (parse_stmt.c, parse_ddl.c). */

ms_rc msi_parse_stmt(ms_parser *p, const ms_ast_stmt **stmt_out) MS_MUST_USE;
ms_rc msi_parse_create(ms_parser *p, const ms_ast_stmt **stmt_out) MS_MUST_USE;
ms_rc msi_parse_drop(ms_parser *p, const ms_ast_stmt **stmt_out) MS_MUST_USE;

/* Fails naming the word of the statement and the one behind it: "ALTER TABLE is not supported". */
ms_rc msi_parse_refuse_stmt(ms_parser *p, uint32_t word_count, const char *hint);

/* Printing (unparse.c, unparse_query.c, unparse_stmt.c). */

/* The text under construction; it grows in the arena. */
typedef struct ms_printer {
    ms_arena *arena;
    char *ptr;
    size_t bytes;
    size_t capacity_bytes;
} ms_printer;

void msi_print(ms_printer *w, ms_str text);
void msi_print_word(ms_printer *w, const char *text);

/* `name`, and 'text'. */
void msi_print_name(ms_printer *w, ms_str name);
void msi_print_text(ms_printer *w, ms_str text);

/* A name without back-ticks where it needs none. */
void msi_print_plain_name(ms_printer *w, ms_str name);
void msi_print_path(ms_printer *w, const ms_ast_path *path);

/* before(`a`, `b`); nothing when there are no names. */
void msi_print_name_list(ms_printer *w, const char *before, const ms_ast_ident *names,
                         uint32_t count);

/* ", " but before the first item. */
void msi_print_comma(ms_printer *w, uint32_t index);
void msi_print_integer(ms_printer *w, int64_t value);
void msi_print_expr(ms_printer *w, const ms_ast_expr *expr);
void msi_print_exprs(ms_printer *w, const ms_ast_expr *const *items, uint32_t count);
void msi_print_call(ms_printer *w, const ms_ast_call *call);
void msi_print_window(ms_printer *w, const ms_ast_window *window);
void msi_print_order(ms_printer *w, const ms_ast_order *order, uint32_t count);
void msi_print_type(ms_printer *w, const ms_ast_type *type);
void msi_print_query(ms_printer *w, const ms_ast_query *query);
void msi_print_from(ms_printer *w, const ms_ast_from *from);

/* A blank and the hints, or nothing. */
void msi_print_hints(ms_printer *w, const ms_ast_hint *hints, uint32_t count);

/* The text, with a NUL behind it that is not counted. */
ms_str msi_print_finish(ms_printer *w);

#endif
