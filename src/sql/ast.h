/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The syntax tree: what the parser found, nothing more. No name is resolved, no type is derived, no
 * literal is converted beyond its quotes; the binder does that. The tree forgets spelling
 * (parentheses, INTEGER for INT, SUBSTRING(x FROM 1)) but never meaning: printing it with
 * sql/unparse.h and parsing the text again gives an equal tree.
 *
 * There are five families: expressions, queries (a query and its bodies), items of FROM, types and
 * statements. The first member of every node is the head of its family, so a pointer to the head
 * is a pointer to the node; the kind says which one, and the ms_ast_<node>_of() functions convert
 * with a check:
 *
 *     switch (expr->kind) {
 *     case MS_AST_BINARY: {
 *         const ms_ast_binary *binary = ms_ast_binary_of(expr);
 *         MS_TRY(bind_expr(ctx, binary->left, &left));
 *
 * Lists are an array and a count; an absent child is NULL; an absent identifier has 0 bytes.
 *
 * Spans are byte offsets into the text of the source as the user wrote it, before ${NAME} was
 * replaced. They take in parentheses inside a node but not those around it. Nodes that the parser
 * supplied (the blank of TRIM(s)) have the span of what asked for them.
 *
 * Limits, all reported by the parser as MS_STATEMENT_TOO_LARGE, so that walkers need no checks: the
 * height of any node is at most MS_LIMIT_EXPR_DEPTH counting through expressions, queries and FROM
 * items alike (AND, OR, UNION and VALUES chains are flat lists and count one), of a type
 * MS_LIMIT_TYPE_DEPTH; a statement has at most MS_LIMIT_AST_NODES nodes, a list
 * MS_LIMIT_LIST_ITEMS items.
 *
 * Ownership: nodes and decoded texts live in the arena given to the parser; other texts are views
 * of the source. Both must outlive the tree. Thread: any; a tree is never written after parsing.
 */
#ifndef MS_SQL_AST_H
#define MS_SQL_AST_H

#include "base/status.h"

typedef struct ms_ast_expr ms_ast_expr;
typedef struct ms_ast_query ms_ast_query;
typedef struct ms_ast_body ms_ast_body;
typedef struct ms_ast_from ms_ast_from;
typedef struct ms_ast_type ms_ast_type;
typedef struct ms_ast_stmt ms_ast_stmt;
typedef struct ms_ast_call ms_ast_call;

/* Names. */

/* One identifier, without its back-ticks, in the case it was written. */
typedef struct ms_ast_ident {
    ms_str text;
    ms_span span;
} ms_ast_ident;

/* a, a.b or a.b.c. */
typedef struct ms_ast_path {
    const ms_ast_ident *parts;
    uint32_t count;
    ms_span span;
} ms_ast_path;

/* A quoted text with its place: comments, keys, values. Absent: the span is {0, 0}. */
typedef struct ms_ast_text {
    ms_str text; /* without quotes */
    ms_span span;
} ms_ast_text;

/* 'key' = 'value' of WITH, SET and hints. */
typedef struct ms_ast_option {
    ms_ast_text key;
    ms_ast_text value;
} ms_ast_option;

/*
 * NAME, NAME(word, ...) or NAME('key' = 'value', ...) between the marks of a hint. An argument
 * without value is a word (BROADCAST(t)), an identifier or a literal, kept in key.
 */
typedef struct ms_ast_hint {
    ms_ast_ident name;
    const ms_ast_option *args;
    uint32_t arg_count;
    ms_span span;
} ms_ast_hint;

/* Units of time: of intervals, EXTRACT, FLOOR and CEIL TO, TIMESTAMPADD, TIMESTAMPDIFF. */
typedef enum ms_ast_unit {
    MS_AST_UNIT_NONE,
    MS_AST_UNIT_NANOSECOND,
    MS_AST_UNIT_MICROSECOND,
    MS_AST_UNIT_MILLISECOND,
    MS_AST_UNIT_SECOND,
    MS_AST_UNIT_MINUTE,
    MS_AST_UNIT_HOUR,
    MS_AST_UNIT_DAY,
    MS_AST_UNIT_WEEK,
    MS_AST_UNIT_MONTH,
    MS_AST_UNIT_QUARTER,
    MS_AST_UNIT_YEAR,
    MS_AST_UNIT_DECADE,
    MS_AST_UNIT_CENTURY,
    MS_AST_UNIT_MILLENNIUM,
    MS_AST_UNIT_DOW,
    MS_AST_UNIT_ISODOW,
    MS_AST_UNIT_DOY,
    MS_AST_UNIT_ISOYEAR,
    MS_AST_UNIT_EPOCH,
    MS_AST_UNIT_COUNT
} ms_ast_unit;

#define MS_AST_UNSET (-1) /* a precision, scale or length that was not written */

/*
 * YEAR(4) TO MONTH, DAY TO SECOND(3). The parser accepts only the pairs of the grammar; end is
 * MS_AST_UNIT_NONE for a single unit. Plural units read as singular.
 */
typedef struct ms_ast_qualifier {
    ms_ast_unit start;
    ms_ast_unit end;
    int32_t precision; /* of the leading unit, or MS_AST_UNSET */
    int32_t fraction;  /* of seconds, or MS_AST_UNSET */
    ms_span span;
} ms_ast_qualifier;

/* Expressions. */

/* X(KIND, node): the enumerator is MS_AST_<KIND>, the struct ms_ast_<node>. */
#define MS_AST_EXPR_KINDS(X)                                                                       \
    X(LITERAL, literal)                                                                            \
    X(INTERVAL, interval)                                                                          \
    X(NAME, name)                                                                                  \
    X(FIELD, field)                                                                                \
    X(ITEM, item)                                                                                  \
    X(UNARY, unary)                                                                                \
    X(BINARY, binary)                                                                              \
    X(LOGIC, logic)                                                                                \
    X(IS, is)                                                                                      \
    X(BETWEEN, between)                                                                            \
    X(LIKE, like)                                                                                  \
    X(IN, in)                                                                                      \
    X(QUANTIFIED, quantified)                                                                      \
    X(EXISTS, exists)                                                                              \
    X(SUBQUERY, subquery)                                                                          \
    X(CASE, case)                                                                                  \
    X(CAST, cast)                                                                                  \
    X(CALL, call)                                                                                  \
    X(SYMBOL, symbol)                                                                              \
    X(ROW, row)                                                                                    \
    X(ARRAY, array)                                                                                \
    X(MAP, map)                                                                                    \
    X(DESCRIPTOR, descriptor)                                                                      \
    X(TABLE_ARG, table_arg)

typedef enum ms_ast_expr_kind {
#define X(kind, node) MS_AST_##kind,
    MS_AST_EXPR_KINDS(X)
#undef X
        MS_AST_EXPR_KIND_COUNT
} ms_ast_expr_kind;

/* The head of every expression. */
struct ms_ast_expr {
    ms_ast_expr_kind kind;
    uint32_t height; /* 1 for a leaf */
    ms_span span;
};

typedef enum ms_ast_literal_type {
    MS_AST_LITERAL_NULL,
    MS_AST_LITERAL_TRUE,
    MS_AST_LITERAL_FALSE,
    MS_AST_LITERAL_UNKNOWN,
    MS_AST_LITERAL_INTEGER,   /* text: digits */
    MS_AST_LITERAL_DECIMAL,   /* text: digits with one point, as written: 1.50, .5, 5. */
    MS_AST_LITERAL_DOUBLE,    /* text: a number with an exponent */
    MS_AST_LITERAL_STRING,    /* text: the value, UTF-8; U& and continuation lines are done */
    MS_AST_LITERAL_BINARY,    /* text: the bytes */
    MS_AST_LITERAL_DATE,      /* text: what stood in the quotes, unchecked; also the next three */
    MS_AST_LITERAL_TIME,      /* */
    MS_AST_LITERAL_TIMESTAMP, /* */
    MS_AST_LITERAL_INTERVAL,  /* and qualifier, negative */
    MS_AST_LITERAL_COUNT
} ms_ast_literal_type;

/* A number has no sign of its own: -1 is MS_AST_UNARY over 1. */
typedef struct ms_ast_literal {
    ms_ast_expr head;
    ms_ast_literal_type type;
    bool negative; /* INTERVAL -'1' DAY; a sign inside the quotes is left in text */
    ms_str text;
    ms_ast_qualifier qualifier;
} ms_ast_literal;

/*
 * INTERVAL [-] operand unit, which is operand * unit; operand is a number, a name or any expression
 * that stood in parentheses.
 */
typedef struct ms_ast_interval {
    ms_ast_expr head;
    bool negative;
    const ms_ast_expr *operand;
    ms_ast_qualifier qualifier; /* never with an end */
} ms_ast_interval;

/* A column, perhaps qualified, perhaps with fields of a row behind it: a.b.c is one name. */
typedef struct ms_ast_name {
    ms_ast_expr head;
    ms_ast_path path;
} ms_ast_name;

/* operand.field, where operand is no name: f(x).a, (r).a, a[1].b. */
typedef struct ms_ast_field {
    ms_ast_expr head;
    const ms_ast_expr *operand;
    ms_ast_ident field;
} ms_ast_field;

/* operand[index] of an array, a map or a variant. */
typedef struct ms_ast_item {
    ms_ast_expr head;
    const ms_ast_expr *operand;
    const ms_ast_expr *index;
} ms_ast_item;

typedef enum ms_ast_unary_op {
    MS_AST_OP_NOT,
    MS_AST_OP_NEGATE,
    MS_AST_OP_PLUS,
    MS_AST_UNARY_OP_COUNT
} ms_ast_unary_op;

typedef struct ms_ast_unary {
    ms_ast_expr head;
    ms_ast_unary_op op;
    ms_span op_span;
    const ms_ast_expr *operand;
} ms_ast_unary;

typedef enum ms_ast_binary_op {
    MS_AST_OP_ADD,
    MS_AST_OP_SUBTRACT,
    MS_AST_OP_MULTIPLY,
    MS_AST_OP_DIVIDE,
    MS_AST_OP_MODULO,
    MS_AST_OP_CONCAT,
    MS_AST_OP_EQUAL,
    MS_AST_OP_NOT_EQUAL,
    MS_AST_OP_LESS,
    MS_AST_OP_LESS_EQUAL,
    MS_AST_OP_GREATER,
    MS_AST_OP_GREATER_EQUAL,
    MS_AST_OP_DISTINCT,     /* IS DISTINCT FROM */
    MS_AST_OP_NOT_DISTINCT, /* IS NOT DISTINCT FROM */
    MS_AST_OP_OVERLAPS,     /* both sides are rows of two */
    MS_AST_BINARY_OP_COUNT
} ms_ast_binary_op;

typedef struct ms_ast_binary {
    ms_ast_expr head;
    ms_ast_binary_op op;
    ms_span op_span; /* where an error of the operation itself points */
    const ms_ast_expr *left;
    const ms_ast_expr *right;
} ms_ast_binary;

typedef enum ms_ast_logic_op { MS_AST_OP_AND, MS_AST_OP_OR, MS_AST_LOGIC_OP_COUNT } ms_ast_logic_op;

/* a AND b AND c: one node with all operands, at least two. */
typedef struct ms_ast_logic {
    ms_ast_expr head;
    ms_ast_logic_op op;
    const ms_ast_expr *const *operands;
    uint32_t operand_count;
} ms_ast_logic;

typedef enum ms_ast_is_test {
    MS_AST_IS_NULL,
    MS_AST_IS_TRUE,
    MS_AST_IS_FALSE,
    MS_AST_IS_UNKNOWN,
    MS_AST_IS_JSON_VALUE, /* also plain IS JSON */
    MS_AST_IS_JSON_SCALAR,
    MS_AST_IS_JSON_ARRAY,
    MS_AST_IS_JSON_OBJECT,
    MS_AST_IS_TEST_COUNT
} ms_ast_is_test;

/* operand IS [NOT] test. */
typedef struct ms_ast_is {
    ms_ast_expr head;
    ms_ast_is_test test;
    bool negated;
    const ms_ast_expr *operand;
} ms_ast_is;

/* operand [NOT] BETWEEN [SYMMETRIC] low AND high. */
typedef struct ms_ast_between {
    ms_ast_expr head;
    bool negated;
    bool symmetric;
    const ms_ast_expr *operand;
    const ms_ast_expr *low;
    const ms_ast_expr *high;
} ms_ast_between;

/* operand [NOT] LIKE | SIMILAR TO pattern [ESCAPE escape]. */
typedef struct ms_ast_like {
    ms_ast_expr head;
    bool negated;
    bool similar;
    ms_span op_span;
    const ms_ast_expr *operand;
    const ms_ast_expr *pattern;
    const ms_ast_expr *escape; /* NULL: none */
} ms_ast_like;

/* operand [NOT] IN (items) when query is NULL, else IN (query). */
typedef struct ms_ast_in {
    ms_ast_expr head;
    bool negated;
    const ms_ast_expr *operand;
    const ms_ast_query *query;
    const ms_ast_expr *const *items;
    uint32_t item_count;
} ms_ast_in;

/* operand op ANY | ALL (query or items); SOME reads as ANY. op is one of the six comparisons. */
typedef struct ms_ast_quantified {
    ms_ast_expr head;
    ms_ast_binary_op op;
    bool all;
    ms_span op_span;
    const ms_ast_expr *operand;
    const ms_ast_query *query;
    const ms_ast_expr *const *items;
    uint32_t item_count;
} ms_ast_quantified;

/* EXISTS (query). */
typedef struct ms_ast_exists {
    ms_ast_expr head;
    const ms_ast_query *query;
} ms_ast_exists;

/* (query) where a value is expected. */
typedef struct ms_ast_subquery {
    ms_ast_expr head;
    const ms_ast_query *query;
} ms_ast_subquery;

/* WHEN conditions THEN result. Only CASE with an operand may list several conditions. */
typedef struct ms_ast_when {
    const ms_ast_expr *const *conditions;
    uint32_t condition_count;
    const ms_ast_expr *result;
} ms_ast_when;

typedef struct ms_ast_case {
    ms_ast_expr head;
    const ms_ast_expr *operand; /* NULL: searched CASE */
    const ms_ast_when *whens;
    uint32_t when_count;
    const ms_ast_expr *otherwise; /* NULL: no ELSE */
} ms_ast_case;

/* CAST(operand AS type), TRY_CAST(operand AS type). */
typedef struct ms_ast_cast {
    ms_ast_expr head;
    bool is_try;
    const ms_ast_expr *operand;
    const ms_ast_type *type;
} ms_ast_cast;

typedef enum ms_ast_direction {
    MS_AST_ORDER_DEFAULT,
    MS_AST_ORDER_ASC,
    MS_AST_ORDER_DESC,
    MS_AST_DIRECTION_COUNT
} ms_ast_direction;

typedef enum ms_ast_nulls {
    MS_AST_NULLS_DEFAULT,
    MS_AST_NULLS_FIRST,
    MS_AST_NULLS_LAST,
    MS_AST_NULLS_COUNT
} ms_ast_nulls;

/* One key of ORDER BY. */
typedef struct ms_ast_order {
    const ms_ast_expr *expr;
    ms_ast_direction direction;
    ms_ast_nulls nulls;
    ms_span span;
} ms_ast_order;

typedef enum ms_ast_bound_kind {
    MS_AST_BOUND_UNBOUNDED_PRECEDING,
    MS_AST_BOUND_PRECEDING, /* value PRECEDING */
    MS_AST_BOUND_CURRENT_ROW,
    MS_AST_BOUND_FOLLOWING, /* value FOLLOWING */
    MS_AST_BOUND_UNBOUNDED_FOLLOWING,
    MS_AST_BOUND_KIND_COUNT
} ms_ast_bound_kind;

typedef struct ms_ast_bound {
    ms_ast_bound_kind kind;
    const ms_ast_expr *value; /* of PRECEDING and FOLLOWING, else NULL */
    ms_span span;
} ms_ast_bound;

typedef enum ms_ast_frame_unit {
    MS_AST_FRAME_NONE, /* no frame was written: start and end are unset */
    MS_AST_FRAME_ROWS,
    MS_AST_FRAME_RANGE,
    MS_AST_FRAME_UNIT_COUNT
} ms_ast_frame_unit;

/* What stands in OVER (...) and in WINDOW name AS (...). Without BETWEEN, end is CURRENT ROW. */
typedef struct ms_ast_window {
    ms_ast_ident base; /* the named window that this one extends; absent: none */
    const ms_ast_expr *const *partition;
    uint32_t partition_count;
    const ms_ast_order *order;
    uint32_t order_count;
    ms_ast_frame_unit frame;
    ms_ast_bound start;
    ms_ast_bound end;
    ms_span span;
} ms_ast_window;

/* One argument, perhaps named: name => value. */
typedef struct ms_ast_arg {
    ms_ast_ident name; /* absent: positional */
    const ms_ast_expr *value;
} ms_ast_arg;

/*
 * How the call is written. The arguments are in the same places whatever the syntax:
 *   PLAIN      f(a, ...); SUBSTRING(x FROM a FOR b) is SUBSTRING(x, a, b)
 *   NILADIC    CURRENT_DATE and its kin, without parentheses; CURRENT_TIME(3) has one argument
 *   POSITION   POSITION(needle IN text [FROM start]): needle, text [, start]
 *   TRIM       TRIM([side] [chars] FROM text): symbol of the side, chars, text; always all three
 *   EXTRACT    EXTRACT(unit FROM x): symbol of the unit, x
 *   UNIT_TO    CEIL(x TO unit), FLOOR(x TO unit): x, symbol of the unit
 *   OVERLAY    OVERLAY(x PLACING y FROM a [FOR b]): x, y, a [, b]
 * TIMESTAMPADD and TIMESTAMPDIFF are PLAIN; their first argument is the symbol of the unit.
 */
typedef enum ms_ast_call_syntax {
    MS_AST_CALL_PLAIN,
    MS_AST_CALL_NILADIC,
    MS_AST_CALL_POSITION,
    MS_AST_CALL_TRIM,
    MS_AST_CALL_EXTRACT,
    MS_AST_CALL_UNIT_TO,
    MS_AST_CALL_OVERLAY,
    MS_AST_CALL_SYNTAX_COUNT
} ms_ast_call_syntax;

typedef enum ms_ast_null_treatment {
    MS_AST_NULLS_UNSAID,
    MS_AST_NULLS_IGNORE,  /* IGNORE NULLS */
    MS_AST_NULLS_RESPECT, /* RESPECT NULLS */
    MS_AST_NULL_TREATMENT_COUNT
} ms_ast_null_treatment;

/* A call of any function, aggregate or table function. */
struct ms_ast_call {
    ms_ast_expr head;
    ms_ast_call_syntax syntax;
    ms_ast_path name; /* functions may be qualified; letters in the case they were written */
    const ms_ast_arg *args;
    uint32_t arg_count;
    bool distinct; /* f(DISTINCT ...) */
    bool star;     /* f(*): arg_count is 0 */
    ms_ast_null_treatment nulls;
    const ms_ast_expr *filter; /* FILTER (WHERE filter), or NULL */
    const ms_ast_window *over; /* OVER (...), or NULL */
    ms_ast_ident over_name;    /* OVER name; absent: none. Never together with over. */
};

typedef enum ms_ast_trim_side {
    MS_AST_TRIM_NONE,
    MS_AST_TRIM_BOTH,
    MS_AST_TRIM_LEADING,
    MS_AST_TRIM_TRAILING,
    MS_AST_TRIM_SIDE_COUNT
} ms_ast_trim_side;

/* A word that is an argument: a unit of time or a side of TRIM; exactly one of them is set. */
typedef struct ms_ast_symbol {
    ms_ast_expr head;
    ms_ast_unit unit;
    ms_ast_trim_side side;
} ms_ast_symbol;

/* ROW(a, b), and (a, b). */
typedef struct ms_ast_row {
    ms_ast_expr head;
    const ms_ast_expr *const *items;
    uint32_t item_count; /* at least 1 */
} ms_ast_row;

/* ARRAY[a, b]. */
typedef struct ms_ast_array {
    ms_ast_expr head;
    const ms_ast_expr *const *items;
    uint32_t item_count; /* at least 1 */
} ms_ast_array;

/* MAP[k1, v1, k2, v2]: keys at even places, values behind them. */
typedef struct ms_ast_map {
    ms_ast_expr head;
    const ms_ast_expr *const *items;
    uint32_t item_count; /* even, at least 2 */
} ms_ast_map;

/* DESCRIPTOR(a, b): column names as an argument. */
typedef struct ms_ast_descriptor {
    ms_ast_expr head;
    const ms_ast_ident *columns;
    uint32_t column_count;
} ms_ast_descriptor;

/* TABLE t or TABLE (query) as an argument, with PARTITION BY and ORDER BY. */
typedef struct ms_ast_table_arg {
    ms_ast_expr head;
    const ms_ast_from *table; /* MS_AST_FROM_TABLE or MS_AST_FROM_QUERY */
    const ms_ast_expr *const *partition;
    uint32_t partition_count;
    const ms_ast_order *order;
    uint32_t order_count;
} ms_ast_table_arg;

/* FROM. */

#define MS_AST_FROM_KINDS(X)                                                                       \
    X(FROM_TABLE, from_table)                                                                      \
    X(FROM_QUERY, from_query)                                                                      \
    X(FROM_CALL, from_call)                                                                        \
    X(FROM_UNNEST, from_unnest)                                                                    \
    X(FROM_JOIN, from_join)

typedef enum ms_ast_from_kind {
#define X(kind, node) MS_AST_##kind,
    MS_AST_FROM_KINDS(X)
#undef X
        MS_AST_FROM_KIND_COUNT
} ms_ast_from_kind;

/* AS name (columns). Without a name there are no columns. */
typedef struct ms_ast_alias {
    ms_ast_ident name; /* absent: no alias */
    const ms_ast_ident *columns;
    uint32_t column_count;
} ms_ast_alias;

/* The head of every item of FROM. A join has no alias. */
struct ms_ast_from {
    ms_ast_from_kind kind;
    uint32_t height;
    ms_span span;
    ms_ast_alias alias;
};

/* A table, view or common table expression by name. */
typedef struct ms_ast_from_table {
    ms_ast_from head;
    ms_ast_path name;
    const ms_ast_hint *hints;
    uint32_t hint_count;
    const ms_ast_expr *system_time; /* FOR SYSTEM_TIME AS OF, or NULL */
    ms_span system_time_span;       /* of the whole clause */
} ms_ast_from_table;

/* [LATERAL] (query). */
typedef struct ms_ast_from_query {
    ms_ast_from head;
    bool lateral;
    const ms_ast_query *query;
} ms_ast_from_query;

/* [LATERAL] TABLE(f(...)), or f(...) without the wrapper. */
typedef struct ms_ast_from_call {
    ms_ast_from head;
    bool lateral;
    const ms_ast_call *call;
} ms_ast_from_call;

/* UNNEST(operand, ...) [WITH ORDINALITY]. */
typedef struct ms_ast_from_unnest {
    ms_ast_from head;
    bool ordinality;
    const ms_ast_expr *const *operands;
    uint32_t operand_count;
} ms_ast_from_unnest;

typedef enum ms_ast_join_type {
    MS_AST_JOIN_INNER,
    MS_AST_JOIN_LEFT,
    MS_AST_JOIN_RIGHT,
    MS_AST_JOIN_FULL,
    MS_AST_JOIN_CROSS,
    MS_AST_JOIN_TYPE_COUNT
} ms_ast_join_type;

/*
 * left type JOIN right. Exactly one of natural, on and using_count is set, but for CROSS, which has
 * none. Commas are not joins: see ms_ast_select.from.
 */
typedef struct ms_ast_from_join {
    ms_ast_from head;
    ms_ast_join_type type;
    bool natural;
    ms_span join_span; /* of the words from NATURAL or the type to JOIN */
    const ms_ast_from *left;
    const ms_ast_from *right;
    const ms_ast_expr *on;
    const ms_ast_ident *using_columns;
    uint32_t using_count;
} ms_ast_from_join;

/* Queries. */

#define MS_AST_BODY_KINDS(X)                                                                       \
    X(SELECT, select)                                                                              \
    X(VALUES, values)                                                                              \
    X(TABLE, table)                                                                                \
    X(SET_OP, set_op)                                                                              \
    X(NESTED, nested)

typedef enum ms_ast_body_kind {
#define X(kind, node) MS_AST_##kind,
    MS_AST_BODY_KINDS(X)
#undef X
        MS_AST_BODY_KIND_COUNT
} ms_ast_body_kind;

/* The head of every body: what a query is without WITH, ORDER BY and LIMIT. */
struct ms_ast_body {
    ms_ast_body_kind kind;
    uint32_t height;
    ms_span span;
};

/* name (columns) AS (query). */
typedef struct ms_ast_cte {
    ms_ast_ident name;
    const ms_ast_ident *columns;
    uint32_t column_count;
    const ms_ast_query *query;
    ms_span span;
} ms_ast_cte;

/* [WITH ctes] body [ORDER BY ...] [OFFSET ...] [LIMIT ...]; FETCH FIRST n is LIMIT n. */
struct ms_ast_query {
    uint32_t height;
    ms_span span;
    const ms_ast_cte *ctes;
    uint32_t cte_count;
    const ms_ast_body *body;
    const ms_ast_order *order;
    uint32_t order_count;
    const ms_ast_expr *offset; /* an integer literal, or NULL */
    const ms_ast_expr *limit;  /* an integer literal, or NULL */
};

/* One item of a select list: an expression, * or t.*. */
typedef struct ms_ast_select_item {
    const ms_ast_expr *expr; /* NULL: a star */
    ms_ast_path qualifier;   /* of a star; count 0: a bare star */
    ms_ast_ident alias;      /* absent: none */
    ms_span span;
} ms_ast_select_item;

typedef enum ms_ast_group_kind {
    MS_AST_GROUP_EXPRS,  /* a, or (a, b) inside a grouping set; no expressions: () */
    MS_AST_GROUP_ROLLUP, /* of sets, each MS_AST_GROUP_EXPRS */
    MS_AST_GROUP_CUBE,   /* of sets, each MS_AST_GROUP_EXPRS */
    MS_AST_GROUP_SETS,   /* GROUPING SETS of any kind */
    MS_AST_GROUP_KIND_COUNT
} ms_ast_group_kind;

/* One element of GROUP BY. */
typedef struct ms_ast_group {
    ms_ast_group_kind kind;
    ms_span span;
    const ms_ast_expr *const *exprs;
    uint32_t expr_count;
    const struct ms_ast_group *sets;
    uint32_t set_count;
} ms_ast_group;

/* WINDOW name AS (window). */
typedef struct ms_ast_named_window {
    ms_ast_ident name;
    const ms_ast_window *window;
} ms_ast_named_window;

typedef struct ms_ast_select {
    ms_ast_body head;
    bool distinct;
    ms_span distinct_span;
    const ms_ast_hint *hints;
    uint32_t hint_count;
    const ms_ast_select_item *items;
    uint32_t item_count;
    const ms_ast_from *const *from; /* comma separated; none for SELECT 1 */
    uint32_t from_count;
    const ms_ast_expr *where;
    const ms_ast_group *groups; /* none: no GROUP BY; GROUP BY () is one empty group */
    uint32_t group_count;
    const ms_ast_expr *having;
    const ms_ast_named_window *windows;
    uint32_t window_count;
} ms_ast_select;

/* One row of VALUES. Rows may differ in length: the binder says so. */
typedef struct ms_ast_values_row {
    const ms_ast_expr *const *items;
    uint32_t item_count;
    ms_span span;
} ms_ast_values_row;

typedef struct ms_ast_values {
    ms_ast_body head;
    const ms_ast_values_row *rows;
    uint32_t row_count;
} ms_ast_values;

/* TABLE t, which is SELECT * FROM t. */
typedef struct ms_ast_table {
    ms_ast_body head;
    ms_ast_path name;
} ms_ast_table;

typedef enum ms_ast_set_op_kind {
    MS_AST_UNION,
    MS_AST_INTERSECT,
    MS_AST_EXCEPT,
    MS_AST_SET_OP_KIND_COUNT
} ms_ast_set_op_kind;

/* branch op [ALL] branch op [ALL] branch ...: one operation for all, applied left to right. */
typedef struct ms_ast_set_op {
    ms_ast_body head;
    ms_ast_set_op_kind op;
    bool all;
    const ms_ast_body *const *branches;
    uint32_t branch_count; /* at least 2 */
    ms_span op_span;       /* of the first operator */
} ms_ast_set_op;

/* (query) with a WITH, ORDER BY or LIMIT of its own. */
typedef struct ms_ast_nested {
    ms_ast_body head;
    const ms_ast_query *query;
} ms_ast_nested;

/* Types. */

typedef enum ms_ast_type_kind {
    MS_AST_TYPE_BOOLEAN,
    MS_AST_TYPE_TINYINT,
    MS_AST_TYPE_SMALLINT,
    MS_AST_TYPE_INT,
    MS_AST_TYPE_BIGINT,
    MS_AST_TYPE_FLOAT,
    MS_AST_TYPE_DOUBLE,
    MS_AST_TYPE_DECIMAL, /* precision, scale */
    MS_AST_TYPE_CHAR,    /* precision is the length; so for the next five */
    MS_AST_TYPE_VARCHAR,
    MS_AST_TYPE_STRING,
    MS_AST_TYPE_BINARY,
    MS_AST_TYPE_VARBINARY,
    MS_AST_TYPE_BYTES,
    MS_AST_TYPE_DATE,
    MS_AST_TYPE_TIME,          /* precision */
    MS_AST_TYPE_TIMESTAMP,     /* precision */
    MS_AST_TYPE_TIMESTAMP_LTZ, /* precision; also TIMESTAMP(p) WITH LOCAL TIME ZONE */
    MS_AST_TYPE_TIMESTAMP_TZ,  /* precision; TIMESTAMP(p) WITH TIME ZONE */
    MS_AST_TYPE_INTERVAL,      /* qualifier */
    MS_AST_TYPE_ARRAY,         /* element */
    MS_AST_TYPE_MULTISET,      /* element */
    MS_AST_TYPE_MAP,           /* key, element */
    MS_AST_TYPE_ROW,           /* fields */
    MS_AST_TYPE_RAW,           /* raw_class, raw_serializer */
    MS_AST_TYPE_NULL,
    MS_AST_TYPE_NAMED, /* name: VARIANT and user-defined types */
    MS_AST_TYPE_KIND_COUNT
} ms_ast_type_kind;

typedef enum ms_ast_nullability {
    MS_AST_NULLABILITY_UNSAID, /* reads as nullable */
    MS_AST_NULLABILITY_NULL,
    MS_AST_NULLABILITY_NOT_NULL,
    MS_AST_NULLABILITY_COUNT
} ms_ast_nullability;

/* A field of ROW<...>. */
typedef struct ms_ast_type_field {
    ms_ast_ident name;
    const ms_ast_type *type;
    ms_ast_text comment;
} ms_ast_type_field;

struct ms_ast_type {
    ms_ast_type_kind kind;
    uint32_t height;
    ms_span span;
    ms_ast_nullability nullability;
    int32_t precision; /* MS_AST_UNSET: not written */
    int32_t scale;     /* MS_AST_UNSET: not written */
    const ms_ast_type *key;
    const ms_ast_type *element;
    const ms_ast_type_field *fields;
    uint32_t field_count;
    ms_ast_qualifier qualifier;
    ms_ast_text raw_class;
    ms_ast_text raw_serializer;
    ms_ast_path name;
};

/* Statements. */

#define MS_AST_STMT_KINDS(X)                                                                       \
    X(QUERY_STMT, query_stmt)                                                                      \
    X(CREATE_TABLE, create_table)                                                                  \
    X(CREATE_VIEW, create_view)                                                                    \
    X(DROP, drop)                                                                                  \
    X(INSERT, insert)                                                                              \
    X(STATEMENT_SET, statement_set)                                                                \
    X(EXPLAIN, explain)                                                                            \
    X(SHOW, show)                                                                                  \
    X(DESCRIBE, describe)                                                                          \
    X(SET, set)                                                                                    \
    X(RESET, reset)                                                                                \
    X(ADD_JAR, add_jar)

typedef enum ms_ast_stmt_kind {
#define X(kind, node) MS_AST_##kind,
    MS_AST_STMT_KINDS(X)
#undef X
        MS_AST_STMT_KIND_COUNT
} ms_ast_stmt_kind;

/* The head of every statement. The span leaves out the semicolon. */
struct ms_ast_stmt {
    ms_ast_stmt_kind kind;
    ms_span span;
};

typedef struct ms_ast_query_stmt {
    ms_ast_stmt head;
    const ms_ast_query *query;
} ms_ast_query_stmt;

typedef enum ms_ast_column_kind {
    MS_AST_COLUMN_PHYSICAL,
    MS_AST_COLUMN_COMPUTED, /* name AS expr */
    MS_AST_COLUMN_METADATA, /* name type METADATA [FROM 'key'] [VIRTUAL] */
    MS_AST_COLUMN_KIND_COUNT
} ms_ast_column_kind;

typedef struct ms_ast_column {
    ms_ast_column_kind kind;
    ms_span span;
    ms_ast_ident name;
    const ms_ast_type *type;  /* NULL for a computed column */
    const ms_ast_expr *expr;  /* of a computed column */
    ms_ast_text metadata_key; /* absent: the column's name */
    bool is_virtual;
    ms_ast_text comment;
} ms_ast_column;

/* WATERMARK FOR column AS expr. */
typedef struct ms_ast_watermark {
    ms_span span;
    ms_ast_path column;
    const ms_ast_expr *expr;
} ms_ast_watermark;

/*
 * [CONSTRAINT name] PRIMARY KEY (columns) NOT ENFORCED, of the table or of one column. The parser
 * refuses ENFORCED and UNIQUE; that there is at most one key is the binder's to say.
 */
typedef struct ms_ast_primary_key {
    ms_span span;
    ms_ast_ident name; /* absent: unnamed */
    const ms_ast_ident *columns;
    uint32_t column_count;
} ms_ast_primary_key;

typedef enum ms_ast_distribution_kind {
    MS_AST_DISTRIBUTION_NONE,
    MS_AST_DISTRIBUTION_UNSAID, /* DISTRIBUTED BY (cols) or DISTRIBUTED INTO n BUCKETS */
    MS_AST_DISTRIBUTION_HASH,
    MS_AST_DISTRIBUTION_RANGE,
    MS_AST_DISTRIBUTION_KIND_COUNT
} ms_ast_distribution_kind;

typedef struct ms_ast_distribution {
    ms_ast_distribution_kind kind;
    ms_span span;
    const ms_ast_ident *columns;
    uint32_t column_count;
    int64_t buckets; /* MS_AST_UNSET: not written */
} ms_ast_distribution;

typedef enum ms_ast_like_action {
    MS_AST_LIKE_INCLUDING,
    MS_AST_LIKE_EXCLUDING,
    MS_AST_LIKE_OVERWRITING,
    MS_AST_LIKE_ACTION_COUNT
} ms_ast_like_action;

typedef enum ms_ast_like_feature {
    MS_AST_LIKE_ALL,
    MS_AST_LIKE_CONSTRAINTS,
    MS_AST_LIKE_DISTRIBUTION,
    MS_AST_LIKE_GENERATED,
    MS_AST_LIKE_METADATA,
    MS_AST_LIKE_OPTIONS,
    MS_AST_LIKE_PARTITIONS,
    MS_AST_LIKE_WATERMARKS,
    MS_AST_LIKE_FEATURE_COUNT
} ms_ast_like_feature;

typedef struct ms_ast_like_option {
    ms_ast_like_action action;
    ms_ast_like_feature feature;
    ms_span span;
} ms_ast_like_option;

/* LIKE table (options). */
typedef struct ms_ast_like_clause {
    ms_span span;
    ms_ast_path table;
    const ms_ast_like_option *options;
    uint32_t option_count;
} ms_ast_like_clause;

typedef struct ms_ast_create_table {
    ms_ast_stmt head;
    bool temporary;
    bool if_not_exists;
    ms_ast_path name;
    const ms_ast_column *columns;
    uint32_t column_count;
    const ms_ast_watermark *watermarks;
    uint32_t watermark_count;
    const ms_ast_primary_key *primary_keys;
    uint32_t primary_key_count;
    ms_ast_text comment;
    ms_ast_distribution distribution;
    const ms_ast_ident *partition; /* PARTITIONED BY (columns) */
    uint32_t partition_count;
    ms_span partition_span;
    const ms_ast_option *options; /* WITH (...) */
    uint32_t option_count;
    ms_span options_span;           /* {0, 0}: there is no WITH */
    const ms_ast_like_clause *like; /* or NULL */
    const ms_ast_query *as_query;   /* or NULL; never together with like */
} ms_ast_create_table;

typedef struct ms_ast_create_view {
    ms_ast_stmt head;
    bool temporary;
    bool if_not_exists;
    ms_ast_path name;
    const ms_ast_ident *columns;
    uint32_t column_count;
    ms_ast_text comment;
    const ms_ast_query *query;
} ms_ast_create_view;

/* DROP [TEMPORARY] TABLE | VIEW [IF EXISTS] name. */
typedef struct ms_ast_drop {
    ms_ast_stmt head;
    bool is_view;
    bool temporary;
    bool if_exists;
    ms_ast_path name;
} ms_ast_drop;

typedef enum ms_ast_conflict {
    MS_AST_CONFLICT_UNSAID,
    MS_AST_CONFLICT_NOTHING,
    MS_AST_CONFLICT_ERROR,
    MS_AST_CONFLICT_DEDUPLICATE,
    MS_AST_CONFLICT_COUNT
} ms_ast_conflict;

/* PARTITION (column = value). */
typedef struct ms_ast_partition_item {
    ms_ast_ident column;
    const ms_ast_expr *value; /* a literal */
} ms_ast_partition_item;

/* [EXECUTE] INSERT INTO | OVERWRITE target ... query [ON CONFLICT DO ...]. */
typedef struct ms_ast_insert {
    ms_ast_stmt head;
    bool overwrite;
    ms_ast_path target;
    const ms_ast_hint *hints;
    uint32_t hint_count;
    const ms_ast_partition_item *partition;
    uint32_t partition_count;
    ms_span partition_span;
    const ms_ast_path *columns; /* none: all columns of the target; a path may name a field */
    uint32_t column_count;
    const ms_ast_query *query;
    ms_ast_conflict conflict;
    ms_span conflict_span;
} ms_ast_insert;

/* EXECUTE STATEMENT SET BEGIN ... END, and BEGIN STATEMENT SET; ... END. */
typedef struct ms_ast_statement_set {
    ms_ast_stmt head;
    const ms_ast_insert *const *inserts;
    uint32_t insert_count; /* at least 1 */
} ms_ast_statement_set;

/* Bits of ms_ast_explain.details. */
#define MS_AST_EXPLAIN_ESTIMATED_COST 1u
#define MS_AST_EXPLAIN_CHANGELOG_MODE 2u
#define MS_AST_EXPLAIN_PLAN_ADVICE 4u
#define MS_AST_EXPLAIN_JSON_EXECUTION_PLAN 8u

/* EXPLAIN [details | PLAN FOR] statement; the statement is a query, an INSERT or a set. */
typedef struct ms_ast_explain {
    ms_ast_stmt head;
    uint32_t details;
    ms_span details_span;
    const ms_ast_stmt *stmt;
} ms_ast_explain;

typedef enum ms_ast_show_what {
    MS_AST_SHOW_TABLES,
    MS_AST_SHOW_VIEWS,
    MS_AST_SHOW_COLUMNS, /* of name */
    MS_AST_SHOW_FUNCTIONS,
    MS_AST_SHOW_USER_FUNCTIONS,
    MS_AST_SHOW_CATALOGS,
    MS_AST_SHOW_DATABASES,
    MS_AST_SHOW_CURRENT_CATALOG,
    MS_AST_SHOW_CURRENT_DATABASE,
    MS_AST_SHOW_CREATE_TABLE, /* name */
    MS_AST_SHOW_CREATE_VIEW,  /* name */
    MS_AST_SHOW_JOBS,
    MS_AST_SHOW_WHAT_COUNT
} ms_ast_show_what;

/* SHOW what [FROM name] [[NOT] LIKE | ILIKE 'pattern']. */
typedef struct ms_ast_show {
    ms_ast_stmt head;
    ms_ast_show_what what;
    ms_ast_path name;    /* the object, or what follows FROM or IN; count 0: none */
    ms_ast_text pattern; /* absent: none */
    bool pattern_negated;
    bool pattern_nocase; /* ILIKE */
} ms_ast_show;

/* DESCRIBE | DESC [EXTENDED] name. */
typedef struct ms_ast_describe {
    ms_ast_stmt head;
    bool extended;
    ms_ast_path name;
} ms_ast_describe;

/* SET 'key' = 'value'; SET alone has an absent key and lists all. */
typedef struct ms_ast_set {
    ms_ast_stmt head;
    ms_ast_option option;
} ms_ast_set;

/* RESET 'key'; RESET alone has an absent key and means all. */
typedef struct ms_ast_reset {
    ms_ast_stmt head;
    ms_ast_text key;
} ms_ast_reset;

/* ADD JAR 'path': a warning, since connectors are built in. */
typedef struct ms_ast_add_jar {
    ms_ast_stmt head;
    ms_ast_text path;
} ms_ast_add_jar;

/* A whole script. */
typedef struct ms_ast_script {
    const ms_ast_stmt *const *stmts;
    uint32_t stmt_count;
} ms_ast_script;

/* Conversions from heads. Each checks the kind. */

#define MS_AST_DEFINE_OF(kind_name, node, family)                                                  \
    static inline const ms_ast_##node *ms_ast_##node##_of(const ms_ast_##family *head)             \
    {                                                                                              \
        MS_ASSERT(head->kind == MS_AST_##kind_name);                                               \
        return (const ms_ast_##node *)head;                                                        \
    }
#define X(kind, node) MS_AST_DEFINE_OF(kind, node, expr)
MS_AST_EXPR_KINDS(X)
#undef X
#define X(kind, node) MS_AST_DEFINE_OF(kind, node, from)
MS_AST_FROM_KINDS(X)
#undef X
#define X(kind, node) MS_AST_DEFINE_OF(kind, node, body)
MS_AST_BODY_KINDS(X)
#undef X
#define X(kind, node) MS_AST_DEFINE_OF(kind, node, stmt)
MS_AST_STMT_KINDS(X)
#undef X

/* Names of things, for messages and printing; static, never NULL. */

/* "SECOND"; "" for NONE. */
const char *ms_ast_unit_name(ms_ast_unit unit);

/* "+", "IS DISTINCT FROM". */
const char *ms_ast_binary_op_name(ms_ast_binary_op op);

/* "CREATE TABLE", "SELECT" for a query: the statement as its first words name it. */
const char *ms_ast_stmt_name(const ms_ast_stmt *stmt);

/* "BIGINT", "TIMESTAMP_LTZ"; the kind without its parameters. */
const char *ms_ast_type_kind_name(ms_ast_type_kind kind);

static inline bool ms_ast_ident_is_absent(ms_ast_ident ident)
{
    return ident.text.bytes == 0;
}

static inline bool ms_ast_text_is_absent(ms_ast_text text)
{
    return text.span.end == 0;
}

#endif
