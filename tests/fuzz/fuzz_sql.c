/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzz target of the front end: any bytes are parsed as a script, a query, an expression and a
 * type. What parses is printed, and the print must parse to what prints the same. What does not
 * parse must say so with a code of the parser's, a message, and a span that lies in the text and
 * can be rendered.
 */
#include "base/limits.h"
#include "base/str.h"
#include "sql/parse.h"
#include "sql/unparse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Printing adds parentheses, so that a text at the edge of a limit may not be read again. */
static bool is_at_limit(ms_rc rc)
{
    return rc == MS_STATEMENT_TOO_LARGE;
}

static void check_error(const ms_source *source, const ms_status *st, ms_arena *arena)
{
    MS_ASSERT(st->code == MS_SYNTAX_ERROR || st->code == MS_NOT_SUPPORTED ||
              st->code == MS_INVALID_LITERAL || st->code == MS_NUMERIC_OUT_OF_RANGE ||
              st->code == MS_UNDEFINED_VARIABLE || st->code == MS_STATEMENT_TOO_LARGE);
    MS_ASSERT(st->message[0] != '\0');
    MS_ASSERT(st->span.start <= st->span.end && st->span.end <= source->text.bytes);
    MS_ASSERT(ms_str_is_utf8(ms_source_render(source, st->span, arena)));
}

static void check_same(ms_str first, ms_str second)
{
    MS_ASSERT(ms_str_equals(first, second));
}

/* A printed text as a source; it is not searched for variables. */
static ms_source printed_source(ms_str text, ms_status *st)
{
    ms_source source;
    ms_rc rc = ms_source_init(&source, ms_str_lit("printed"), text, st);
    MS_ASSERT(rc == MS_OK || is_at_limit(rc));
    return source;
}

static void check_stmt(const ms_ast_stmt *stmt, ms_arena *arena)
{
    ms_status st = {0};
    const ms_ast_script *again = NULL;
    ms_str text = ms_sql_unparse_stmt(stmt, arena);
    ms_source source = printed_source(text, &st);
    ms_rc rc = ms_sql_parse_script(&source, arena, &again, &st);
    MS_ASSERT(rc == MS_OK || is_at_limit(rc));
    if (rc == MS_OK) {
        MS_ASSERT(again->stmt_count == 1);
        check_same(text, ms_sql_unparse_stmt(again->stmts[0], arena));
    }
}

static void run_script(const ms_source *source, ms_arena *arena)
{
    ms_status st = {0};
    const ms_ast_script *script = NULL;
    if (ms_sql_parse_script(source, arena, &script, &st) != MS_OK) {
        check_error(source, &st, arena);
        return;
    }
    for (uint32_t i = 0; i < script->stmt_count; i++) {
        check_stmt(script->stmts[i], arena);
    }
}

static void run_query(const ms_source *source, ms_arena *arena)
{
    ms_status st = {0};
    const ms_ast_query *query = NULL;
    if (ms_sql_parse_query(source, arena, &query, &st) != MS_OK) {
        check_error(source, &st, arena);
        return;
    }
    ms_str text = ms_sql_unparse_query(query, arena);
    ms_source printed = printed_source(text, &st);
    ms_rc rc = ms_sql_parse_query(&printed, arena, &query, &st);
    MS_ASSERT(rc == MS_OK || is_at_limit(rc));
    if (rc == MS_OK) {
        check_same(text, ms_sql_unparse_query(query, arena));
    }
}

static void run_expr(const ms_source *source, ms_arena *arena)
{
    ms_status st = {0};
    const ms_ast_expr *expr = NULL;
    if (ms_sql_parse_expr(source, arena, &expr, &st) != MS_OK) {
        check_error(source, &st, arena);
        return;
    }
    MS_ASSERT(expr->height <= MS_LIMIT_EXPR_DEPTH);
    ms_str text = ms_sql_unparse_expr(expr, arena);
    ms_source printed = printed_source(text, &st);
    ms_rc rc = ms_sql_parse_expr(&printed, arena, &expr, &st);
    MS_ASSERT(rc == MS_OK || is_at_limit(rc));
    if (rc == MS_OK) {
        check_same(text, ms_sql_unparse_expr(expr, arena));
    }
}

static void run_type(const ms_source *source, ms_arena *arena)
{
    ms_status st = {0};
    const ms_ast_type *type = NULL;
    if (ms_sql_parse_type(source, arena, &type, &st) != MS_OK) {
        check_error(source, &st, arena);
        return;
    }
    ms_str text = ms_sql_unparse_type(type, arena);
    ms_source printed = printed_source(text, &st);
    MS_ASSERT(ms_sql_parse_type(&printed, arena, &type, &st) == MS_OK);
    check_same(text, ms_sql_unparse_type(type, arena));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const ms_variable variables[] = {
        {{"A", 1}, {"a", 1}},
        {{"TEXT", 4}, {"it''s /* not */ -- text", 23}},
        {{"EMPTY", 5}, {"", 0}},
    };
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_status st = {0};
    ms_source source;
    ms_str text = {(const char *)data, size};
    ms_rc rc = ms_source_init(&source, ms_str_lit("fuzz"), text, &st);
    if (rc == MS_OK) {
        rc = ms_source_substitute(&source, variables, 3, &arena, &st);
    }
    if (rc == MS_OK) {
        run_script(&source, &arena);
        run_query(&source, &arena);
        run_expr(&source, &arena);
        run_type(&source, &arena);
    } else {
        check_error(&source, &st, &arena);
    }
    ms_arena_release(&arena);
    return 0;
}
