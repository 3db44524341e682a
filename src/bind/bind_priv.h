/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of bind/ share.
 *
 *     bind.c         entries, plans
 *     bind_query.c   WITH, SELECT, VALUES, UNION ALL, ORDER BY, LIMIT
 *     bind_select.c  one SELECT: select list, aggregates, order keys
 *     bind_from.c    tables, views, sub-queries; hints
 *     bind_name.c    names to columns; nearest names
 *     bind_expr.c    expressions
 *     bind_call.c    calls, aggregates among them
 *     bind_type.c    types
 *     bind_insert.c  INSERT
 *     bind_ddl.c     CREATE TABLE, CREATE VIEW
 *     describe.c     DESCRIBE, SHOW CREATE
 *
 * A function that fails has set binder->st and returns its code. Out parameters come last.
 */
#ifndef MS_BIND_BIND_PRIV_H
#define MS_BIND_BIND_PRIV_H

#include "bind/bind.h"
#include "expr/build.h"
#include "func/typing.h"

/* One column of a query's result, or of a table in FROM. */
typedef struct msi_column {
    ms_str name;
    const ms_type *type; /* MS_TYPE_NULL: only untyped NULLs, kept in the node as STRING */
    ms_span span;        /* the select item; none when it came from a star */
} msi_column;

/* A bound query: the node's column i is columns[i]. */
typedef struct msi_bound {
    const ms_lnode *node;
    uint32_t column_count;
    const msi_column *columns;
} msi_bound;

/* A common table expression in force. */
typedef struct msi_cte msi_cte;
struct msi_cte {
    const msi_cte *outer;
    ms_str name;
    msi_bound query;
    bool *is_used; /* a second use gets a copy of the tree */
};

/* What one binding needs. Lives on the stack of its entry function. */
typedef struct msi_binder {
    const ms_bind_env *env;
    ms_arena *arena;
    ms_status *st;
    ms_expr_builder build;
    const msi_cte *ctes;
    uint32_t depth; /* of queries and expressions, through views */
    uint32_t view_depth;
    uint32_t node_count; /* of leaves and copies: bounds what views and CTEs multiply */
} msi_binder;

void msi_binder_init(msi_binder *binder, const ms_bind_env *env, ms_status *st);

/* Enters and leaves a level of nesting; MS_STATEMENT_TOO_LARGE beyond the limit. */
ms_rc msi_binder_enter(msi_binder *binder, ms_span span) MS_MUST_USE;
void msi_binder_leave(msi_binder *binder);

/* Counts nodes that a name brings in, and looks at the memory that binding has taken so far. */
ms_rc msi_binder_charge(msi_binder *binder, uint32_t nodes, ms_span span) MS_MUST_USE;

/* "GROUP BY is not supported". Returns the code. */
ms_rc msi_refuse(msi_binder *binder, ms_span span, const char *what);

/* "s" behind a noun, but for 1. */
static inline const char *msi_plural(uint32_t count)
{
    return count == 1 ? "" : "s";
}

/* A growing list of expressions. */
typedef struct msi_exprs {
    const ms_expr **items;
    uint32_t count;
    uint32_t capacity;
} msi_exprs;

void msi_exprs_add(ms_arena *arena, msi_exprs *list, const ms_expr *expr);

/* Scopes. */

/* One item of FROM. */
typedef struct msi_relation {
    ms_str name;    /* alias or table name; empty: none */
    uint32_t first; /* ordinal of its first column in the node */
    uint32_t column_count;
    const msi_column *columns; /* type NULL: there, but not to be used (a computed column in DDL) */
} msi_relation;

/*
 * The aggregates of one SELECT. Whether it is an aggregate query is known once all of it is bound:
 * until then columns outside aggregates are accepted and the first of them is remembered.
 */
typedef struct msi_aggs {
    msi_exprs args; /* what the projection below the aggregate computes */
    ms_lagg *calls;
    uint32_t count;
    uint32_t capacity;
    bool has_plain; /* a column outside of aggregates */
    ms_span plain_span;
    ms_str plain_name;
} msi_aggs;

/*
 * The output of a SELECT as its ORDER BY sees it: aliases first, then what the select list could
 * see. The latter comes through hidden columns behind the items.
 */
typedef struct msi_outputs {
    const msi_column *columns;
    uint32_t count;
    msi_exprs hidden; /* over the input of the select list */
} msi_outputs;

/* What names and calls mean at a place. */
typedef struct msi_scope {
    const msi_relation *relations;
    uint32_t relation_count;
    const char *clause; /* for messages: "WHERE", "the select list" */
    msi_aggs *aggs;     /* NULL: aggregates are refused */
    bool inside_aggregate;
    msi_outputs *outputs; /* NULL but for ORDER BY */
} msi_scope;

/* Queries. */

ms_rc msi_bind_query(msi_binder *binder, const ms_ast_query *query,
                     msi_bound *bound_out) MS_MUST_USE;
ms_rc msi_bind_body(msi_binder *binder, const ms_ast_body *body, msi_bound *bound_out) MS_MUST_USE;

/* order: of the query around the SELECT, since it may use what is not in the select list. */
ms_rc msi_bind_select(msi_binder *binder, const ms_ast_select *select, const ms_ast_order *order,
                      uint32_t order_count, msi_bound *bound_out) MS_MUST_USE;

/* ORDER BY over the columns of a result alone: of VALUES and UNION. */
ms_rc msi_bind_order(msi_binder *binder, const ms_ast_order *order, uint32_t order_count,
                     msi_bound *bound_inout) MS_MUST_USE;
ms_rc msi_bind_from(msi_binder *binder, const ms_ast_from *from, const ms_lnode **node_out,
                    msi_relation *relation_out) MS_MUST_USE;

/* The rows of a catalog table as queries see them: scan, computed columns, watermark. */
const ms_lnode *msi_table_rows(msi_binder *binder, const ms_ltable *of);

/* OPTIONS hints of a table; all others are refused. */
ms_rc msi_bind_hints(msi_binder *binder, const ms_ast_hint *hints, uint32_t hint_count,
                     ms_option_list *list_out) MS_MUST_USE;
ms_rc msi_bind_options(msi_binder *binder, const ms_ast_option *options, uint32_t option_count,
                       ms_option_list *list_out) MS_MUST_USE;
ms_rc msi_bind_insert(msi_binder *binder, const ms_ast_insert *insert,
                      const ms_lnode **sink_out) MS_MUST_USE;

/* Expressions and types. */

ms_rc msi_bind_expr(msi_binder *binder, msi_scope *scope, const ms_ast_expr *expr,
                    const ms_expr **expr_out) MS_MUST_USE;
ms_rc msi_bind_exprs(msi_binder *binder, msi_scope *scope, const ms_ast_expr *const *exprs,
                     uint32_t count, const ms_expr *const **exprs_out) MS_MUST_USE;

/* A condition: BOOLEAN. what: "WHERE", "HAVING". */
ms_rc msi_bind_condition(msi_binder *binder, msi_scope *scope, const ms_ast_expr *expr,
                         const char *what, const ms_expr **expr_out) MS_MUST_USE;
ms_rc msi_bind_call(msi_binder *binder, msi_scope *scope, const ms_ast_call *call,
                    const ms_expr **expr_out) MS_MUST_USE;
ms_rc msi_bind_name(msi_binder *binder, msi_scope *scope, const ms_ast_name *name,
                    const ms_expr **expr_out) MS_MUST_USE;

/* column_use: a column of a table; a value: the target of a CAST. */
ms_rc msi_bind_type(msi_binder *binder, const ms_ast_type *type, bool column_use,
                    const ms_type **type_out) MS_MUST_USE;

/* The expression, its fields named as those of a type of the same shape: the names of a ROW are the
 * table's that takes it, or those of the first branch of a UNION. */
ms_rc msi_bind_names_of(msi_binder *binder, const ms_expr *expr, const ms_type *type, ms_span span,
                        const ms_expr **expr_out) MS_MUST_USE;

/* MS_STATEMENT_TOO_LARGE when a type made by ROW, ARRAY or MAP nests too deep. */
ms_rc msi_check_type_depth(msi_binder *binder, const ms_type *type, ms_span span) MS_MUST_USE;

/* Names. */

/* A column of a node; an untyped NULL when that is what the column is. */
const ms_expr *msi_column_expr(msi_binder *binder, const msi_column *column, uint32_t ordinal,
                               ms_span span);

/*
 * In ORDER BY, a leaf over the input of the select list by way of a hidden column; else the leaf.
 */
const ms_expr *msi_through_outputs(msi_binder *binder, msi_scope *scope, const ms_expr *leaf);

/* The relation of an alias; NULL when there is none. */
const msi_relation *msi_scope_relation(const msi_scope *scope, ms_str name);

bool msi_scope_has_column(const msi_scope *scope, ms_str name);

/* "\"x\" is neither a table nor a column of FROM". */
ms_rc msi_report_relation(msi_binder *binder, const msi_scope *scope, const ms_ast_ident *ident);

/* Names near a misspelt one, nearest first. */
#define MSI_NEAREST_MAX 3u
typedef struct msi_nearest {
    ms_str target;
    ms_str names[MSI_NEAREST_MAX];
    unsigned distances[MSI_NEAREST_MAX];
    uint32_t count;
} msi_nearest;

void msi_nearest_init(msi_nearest *nearest, ms_str target);
void msi_nearest_offer(msi_nearest *nearest, ms_str name);

/* Adds `Did you mean "a" or "b"?` when there is one. Returns the status's code. */
ms_rc msi_nearest_hint(const msi_nearest *nearest, ms_status *st);

/* "table \"x\" does not exist", with the nearest of the tables and common table expressions. */
ms_rc msi_report_table(const ms_bind_env *env, const msi_cte *ctes, ms_str name, ms_span span,
                       ms_status *st);

/* "column \"x\" does not exist", with hint. */
ms_rc msi_report_column(msi_binder *binder, const msi_scope *scope, ms_str name, ms_span span);

#endif
