/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints a syntax tree as SQL, on one line, in one canonical spelling: identifiers in back-ticks,
 * keywords in capitals, parentheses only where precedence asks for them. Parsing the result gives
 * an equal tree, spans aside. DESCRIBE and SHOW CREATE print expressions this way, and view
 * definitions are stored in it:
 *
 *     `ts` - INTERVAL '5' SECOND
 *
 * Ownership: the text lives in the arena, with a NUL behind it that is not counted. Thread: any.
 */
#ifndef MS_SQL_UNPARSE_H
#define MS_SQL_UNPARSE_H

#include "base/arena.h"
#include "sql/ast.h"

ms_str ms_sql_unparse_expr(const ms_ast_expr *expr, ms_arena *arena);
ms_str ms_sql_unparse_query(const ms_ast_query *query, ms_arena *arena);
ms_str ms_sql_unparse_type(const ms_ast_type *type, ms_arena *arena);

/* Without a semicolon at the end. */
ms_str ms_sql_unparse_stmt(const ms_ast_stmt *stmt, ms_arena *arena);

/* `a`.`b`: every part in back-ticks. */
ms_str ms_sql_unparse_path(const ms_ast_path *path, ms_arena *arena);

/* Quotes a name with back-ticks, or a text with single quotes, doubling the quotes inside. */
ms_str ms_sql_quote_name(ms_str name, ms_arena *arena);
ms_str ms_sql_quote_text(ms_str text, ms_arena *arena);

#endif
