/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of the front end share. Most are tables: a text and how its tree prints, or a text
 * and the whole error report, place and carets included. Every text that parses is also printed and
 * parsed again, which must print the same.
 */
#ifndef MS_TESTS_UNIT_SQL_SQL_TESTING_H
#define MS_TESTS_UNIT_SQL_SQL_TESTING_H

#include "testing.h"

#include "sql/lexer.h"
#include "sql/parse.h"
#include "sql/unparse.h"

#define count_of(array) (sizeof(array) / sizeof((array)[0]))

/* A text, and how its tree prints; NULL: as the text stands. */
typedef struct print_case {
    const char *text;
    const char *printed;
} print_case;

/* A text, and the report of its error. */
typedef struct error_case {
    const char *text;
    const char *report;
} error_case;

typedef enum parse_what { PARSE_SCRIPT, PARSE_QUERY, PARSE_EXPR, PARSE_TYPE } parse_what;

/* "CODE: message", the place, "detail: ...", "hint: ...". */
static inline ms_str make_report(const ms_source *source, const ms_status *st, ms_arena *arena)
{
    ms_str place = ms_source_render(source, st->span, arena);
    return ms_arena_format(arena, "%s: %s\n%.*s%s%s%s%s%s%s", ms_rc_name(st->code), st->message,
                           MS_STR_ARG(place), st->detail[0] ? "detail: " : "", st->detail,
                           st->detail[0] ? "\n" : "", st->hint[0] ? "hint: " : "", st->hint,
                           st->hint[0] ? "\n" : "");
}

/* Prints all statements of a script, with "; " between them. */
static inline ms_str print_script(const ms_ast_script *script, ms_arena *arena)
{
    ms_str all = ms_str_lit("");
    for (uint32_t i = 0; i < script->stmt_count; i++) {
        ms_str one = ms_sql_unparse_stmt(script->stmts[i], arena);
        all = ms_arena_format(arena, "%.*s%s%.*s", MS_STR_ARG(all), i == 0 ? "" : "; ",
                              MS_STR_ARG(one));
    }
    return all;
}

/* Parses a text and prints its tree, or the report of its error. */
static inline ms_str parse_and_print(parse_what what, ms_str text, ms_arena *arena, ms_rc *rc_out)
{
    ms_status st = {0};
    ms_source source;
    const ms_ast_script *script = NULL;
    const ms_ast_query *query = NULL;
    const ms_ast_expr *expr = NULL;
    const ms_ast_type *type = NULL;
    ms_rc rc = ms_source_init(&source, ms_str_lit("t"), text, &st);
    if (rc == MS_OK && what == PARSE_SCRIPT) {
        rc = ms_sql_parse_script(&source, arena, &script, &st);
    } else if (rc == MS_OK && what == PARSE_QUERY) {
        rc = ms_sql_parse_query(&source, arena, &query, &st);
    } else if (rc == MS_OK && what == PARSE_EXPR) {
        rc = ms_sql_parse_expr(&source, arena, &expr, &st);
    } else if (rc == MS_OK) {
        rc = ms_sql_parse_type(&source, arena, &type, &st);
    }
    *rc_out = rc;
    if (rc != MS_OK) {
        assert_true(script == NULL && query == NULL && expr == NULL && type == NULL);
        assert_true(st.span.start <= st.span.end && st.span.end <= text.bytes);
        return make_report(&source, &st, arena);
    }
    return script != NULL  ? print_script(script, arena)
           : query != NULL ? ms_sql_unparse_query(query, arena)
           : expr != NULL  ? ms_sql_unparse_expr(expr, arena)
                           : ms_sql_unparse_type(type, arena);
}

static inline void assert_prints(parse_what what, const char *text, ms_str read,
                                 const char *printed)
{
    if (!ms_str_equals(read, ms_str_cstr(printed))) {
        fail_msg("case %d: %s\nread as:  %.*s\nexpected: %s", (int)what, text, MS_STR_ARG(read),
                 printed);
    }
}

/*
 * Cuts a text that parses behind each of its tokens, and puts a character there that starts no
 * token. The cut text parses or fails; the other fails there, or before when what stands there
 * decides how the words before are read.
 */
static inline void check_damaged(parse_what what, ms_str text)
{
    ms_arena arena;
    ms_source source;
    ms_lexer lexer;
    ms_token token;
    ms_status st = {0};
    assert_ok(ms_source_init(&source, ms_str_lit("t"), text, &st));
    ms_lexer_init(&lexer, &source);
    ms_arena_init(&arena, 0);
    while (ms_lexer_next(&lexer, &token, &st) == MS_OK && token.kind != MS_TOKEN_END) {
        ms_str head = ms_str_slice(text, 0, token.span.end);
        ms_str tail = ms_str_slice(text, token.span.end, text.bytes);
        ms_rc rc = MS_OK;
        (void)parse_and_print(what, head, &arena, &rc);
        ms_str damaged = ms_arena_format(&arena, "%.*s ~ %.*s", MS_STR_ARG(head), MS_STR_ARG(tail));
        (void)parse_and_print(what, damaged, &arena, &rc);
        assert_int_not_equal(rc, MS_OK);
        ms_arena_reset(&arena);
    }
    ms_arena_release(&arena);
}

static inline void check_prints(parse_what what, const print_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ms_arena arena;
        ms_arena_init(&arena, 0);
        ms_rc rc = MS_OK;
        check_damaged(what, ms_str_cstr(cases[i].text));
        const char *printed = cases[i].printed != NULL ? cases[i].printed : cases[i].text;
        ms_str first = parse_and_print(what, ms_str_cstr(cases[i].text), &arena, &rc);
        assert_prints(what, cases[i].text, first, printed);
        ms_str second = parse_and_print(what, first, &arena, &rc);
        assert_prints(what, printed, second, printed);
        ms_arena_release(&arena);
    }
}

static inline void check_errors(parse_what what, const error_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        ms_arena arena;
        ms_arena_init(&arena, 0);
        ms_rc rc = MS_OK;
        ms_str report = parse_and_print(what, ms_str_cstr(cases[i].text), &arena, &rc);
        assert_prints(what, cases[i].text, report, cases[i].report);
        assert_int_not_equal(rc, MS_OK);
        ms_arena_release(&arena);
    }
}

/* A parsed text with what it needs to live; release the arena. */
typedef struct parsed {
    ms_arena arena;
    ms_source source;
    const ms_ast_script *script;
    const ms_ast_expr *expr;
    const ms_ast_query *query;
} parsed;

static inline void parse_expr_text(const char *text, parsed *out)
{
    ms_status st = {0};
    memset(out, 0, sizeof(*out));
    ms_arena_init(&out->arena, 0);
    assert_ok(ms_source_init(&out->source, ms_str_lit("t"), ms_str_cstr(text), &st));
    assert_ok(ms_sql_parse_expr(&out->source, &out->arena, &out->expr, &st));
}

static inline void parse_query_text(const char *text, parsed *out)
{
    ms_status st = {0};
    memset(out, 0, sizeof(*out));
    ms_arena_init(&out->arena, 0);
    assert_ok(ms_source_init(&out->source, ms_str_lit("t"), ms_str_cstr(text), &st));
    assert_ok(ms_sql_parse_query(&out->source, &out->arena, &out->query, &st));
}

static inline void parse_script_text(const char *text, parsed *out)
{
    ms_status st = {0};
    memset(out, 0, sizeof(*out));
    ms_arena_init(&out->arena, 0);
    assert_ok(ms_source_init(&out->source, ms_str_lit("t"), ms_str_cstr(text), &st));
    assert_ok(ms_sql_parse_script(&out->source, &out->arena, &out->script, &st));
}

/* The text that a span covers. */
#define assert_span(p, span, literal)                                                              \
    assert_str_equal(ms_source_slice(&(p)->source, (span)), (literal))

/* Parses a text and returns the status. */
static inline ms_status parse_failing(parse_what what, ms_str text)
{
    ms_arena arena;
    ms_arena_init(&arena, 0);
    ms_status st = {0};
    ms_source source;
    const ms_ast_script *script = NULL;
    const ms_ast_expr *expr = NULL;
    ms_rc rc = ms_source_init(&source, ms_str_lit("t"), text, &st);
    if (rc == MS_OK && what == PARSE_EXPR) {
        rc = ms_sql_parse_expr(&source, &arena, &expr, &st);
    } else if (rc == MS_OK) {
        rc = ms_sql_parse_script(&source, &arena, &script, &st);
    }
    assert_int_equal(rc, st.code);
    ms_arena_release(&arena);
    return st;
}

/* count copies of a text; release the buffer. */
static inline void repeat_text(ms_buf *buf, const char *text, uint32_t count)
{
    ms_status st = {0};
    for (uint32_t i = 0; i < count; i++) {
        assert_ok(ms_buf_append(buf, ms_str_cstr(text), &st));
    }
}

#endif
