/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The binder: a statement's syntax tree to a logical plan, or to a table definition. It resolves
 * names against the catalog, gives every expression its type and exact nullability, expands views,
 * stars and common table expressions, adds the casts that a sink needs, and refuses by name, with
 * its place, what Millstream does not build.
 *
 *     ms_bind_env env = {.arena = &stmt_arena, .catalog = catalog, .is_streaming = true};
 *     const ms_lplan *plan = NULL;
 *     MS_TRY(ms_bind_statement(&env, stmt, &plan, st));
 *     ... opt/opt.h makes the physical plan from it ...
 *
 * What a table's connector thinks of its options is asked later, by the optimizer: CREATE TABLE
 * does not look at them, as in Flink.
 *
 * Spans in a status point into the source of the statement. An error inside a view points at the
 * view's name there; the detail says which view and quotes the place in its text. Expressions of a
 * view carry the same span, so that an error at run time points at the view too.
 *
 * Ownership: plans live in env->arena, and borrow from the syntax tree, whose source and arena must
 * outlive them; tables are built in the arena of the catalog and borrow nothing. Thread: that of
 * the session. All out parameters are NULL on failure.
 */
#ifndef MS_BIND_BIND_H
#define MS_BIND_BIND_H

#include "catalog/catalog.h"
#include "plan/logical.h"
#include "sql/ast.h"

typedef struct ms_bind_env {
    ms_arena *arena; /* the statement's */
    const ms_catalog *catalog;
    bool is_streaming;  /* execution.runtime-mode */
    uint64_t source_id; /* of the text at hand; tables keep the one they were defined in */
} ms_bind_env;

/* Queries and changes. */

/*
 * Binds a query, an INSERT or a statement set (the kinds QUERY_STMT, INSERT and STATEMENT_SET; the
 * others are not plans, and asserted). A query ends in a collector with unique column names.
 */
ms_rc ms_bind_statement(const ms_bind_env *env, const ms_ast_stmt *stmt, const ms_lplan **plan_out,
                        ms_status *st) MS_MUST_USE;

/*
 * Binds what an EXPLAIN is about. ESTIMATED_COST, PLAN_ADVICE and JSON_EXECUTION_PLAN are refused
 * by name; whether changelog modes are wanted is in explain->details.
 */
ms_rc ms_bind_explain(const ms_bind_env *env, const ms_ast_explain *explain,
                      const ms_lplan **plan_out, ms_status *st) MS_MUST_USE;

/* Definitions. The caller adds them to the catalog. */

/*
 * Builds the table of a CREATE TABLE in table_arena (ms_catalog_arena). sql is the statement's
 * text, which is copied for SHOW CREATE and for resuming.
 */
ms_rc ms_bind_create_table(const ms_bind_env *env, const ms_ast_create_table *create, ms_str sql,
                           ms_arena *table_arena, const ms_table **table_out,
                           ms_status *st) MS_MUST_USE;

/* The same for a view; its query is bound to check it and is stored as canonical text. */
ms_rc ms_bind_create_view(const ms_bind_env *env, const ms_ast_create_view *create, ms_str sql,
                          ms_arena *table_arena, const ms_table **table_out,
                          ms_status *st) MS_MUST_USE;

/* Names. */

/*
 * The table that a path names: t, default_database.t or default_catalog.default_database.t. Another
 * catalog or database is MS_UNDEFINED_TABLE.
 */
ms_rc ms_bind_table_name(const ms_ast_path *path, ms_str *name_out, ms_status *st) MS_MUST_USE;

/* The table or view of a path; MS_UNDEFINED_TABLE lists the nearest names. */
ms_rc ms_bind_find_table(const ms_bind_env *env, const ms_ast_path *path,
                         const ms_table **table_out, ms_status *st) MS_MUST_USE;

/* Descriptions. */

#define MS_BIND_DESCRIPTION_CELLS 7u

/* One row of DESCRIBE, in this order; an absent cell has ptr NULL. */
typedef struct ms_bind_description {
    ms_str cells[MS_BIND_DESCRIPTION_CELLS]; /* name, type, null, key, extras, watermark, comment */
} ms_bind_description;

/* True when a column has a comment: DESCRIBE has its seventh cell only then. */
bool ms_bind_describe_has_comment(const ms_table *table);

/* The row of a column; the texts live in arena or are the table's. Only streaming has time
 * attributes. */
void ms_bind_describe_column(ms_arena *arena, const ms_table *table, uint32_t column,
                             bool is_streaming, ms_bind_description *row_out);

/* SHOW CREATE TABLE or VIEW: a statement that makes the table again, in Flink's layout. */
ms_str ms_bind_show_create(ms_arena *arena, const ms_table *table);

#endif
