/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser: text to syntax tree (sql/ast.h), by recursive descent with precedence climbing. The
 * grammar is docs/sql/grammar.md. It accepts Flink's dialect; a construct of Flink's that
 * Millstream does not build is refused by name with MS_NOT_SUPPORTED, everything else that does not
 * fit is MS_SYNTAX_ERROR; both carry the span of the offending words, and what was expected as
 * detail.
 *
 *     const ms_ast_script *script = NULL;
 *     MS_TRY(ms_sql_parse_script(&source, &arena, &script, st));
 *     for (uint32_t i = 0; i < script->stmt_count; i++) {
 *         MS_TRY(run(script->stmts[i]));
 *
 * Ownership: the tree lives in the arena and points into the source. Thread: any. Limits: those of
 * sql/ast.h, and MS_LIMIT_SCRIPT_NODES nodes for a script; beyond them MS_STATEMENT_TOO_LARGE. All
 * out parameters are NULL on failure.
 */
#ifndef MS_SQL_PARSE_H
#define MS_SQL_PARSE_H

#include "sql/ast.h"
#include "sql/source.h"

/*
 * Parses statements separated by semicolons; the last one may be missing, empty statements are
 * skipped. The first error anywhere in the text is the result: no statement is returned then.
 */
ms_rc ms_sql_parse_script(const ms_source *source, ms_arena *arena,
                          const ms_ast_script **script_out, ms_status *st) MS_MUST_USE;

/* Parses one query and nothing behind it: the stored text of a view. */
ms_rc ms_sql_parse_query(const ms_source *source, ms_arena *arena, const ms_ast_query **query_out,
                         ms_status *st) MS_MUST_USE;

/* Parses one expression and nothing behind it: a computed column, a watermark. */
ms_rc ms_sql_parse_expr(const ms_source *source, ms_arena *arena, const ms_ast_expr **expr_out,
                        ms_status *st) MS_MUST_USE;

/* Parses one type and nothing behind it. */
ms_rc ms_sql_parse_type(const ms_source *source, ms_arena *arena, const ms_ast_type **type_out,
                        ms_status *st) MS_MUST_USE;

#endif
