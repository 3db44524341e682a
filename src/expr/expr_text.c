/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions as SQL-like text for EXPLAIN: operators as they are written, with parentheses only
 * where the precedence of Flink's SQL needs them. The text is for people; plans are stored in
 * another form (expr_codec.c).
 *
 * The text is built in a buffer of bounded size; what is longer is cut and ends in "...". A long
 * literal is shortened, so that what stands behind it is seen: 'abc'...(70000 bytes).
 */
#include "expr/expr.h"

#include "func/cast.h"

/* Nobody reads a longer expression; a plan of a thousand columns stays under a megabyte. */
#define TEXT_BYTES_MAX 65536u
#define LITERAL_BYTES_MAX 1024u /* some lines of a terminal */

/* Binding strength: a higher one binds first. */
enum level {
    LEVEL_NONE = 0,
    LEVEL_OR = 22,
    LEVEL_AND = 24,
    LEVEL_NOT = 26,
    LEVEL_IS = 28,
    LEVEL_COMPARE = 30,
    LEVEL_LIKE = 32,
    LEVEL_ADD = 40,
    LEVEL_MULTIPLY = 60,
    LEVEL_SIGN = 80,
    LEVEL_ACCESS = 100,
    LEVEL_ATOM = 200
};

/* The values that REFs stand for, innermost first. */
typedef struct binding {
    uint32_t id;
    const ms_expr *value;
    const struct binding *outer;
} binding;

typedef struct printer {
    ms_arena *arena;
    const binding *bindings;
    ms_buf buf;
    const ms_schema *input;
    bool is_full;
    ms_status st;
} printer;

static void put(printer *p, ms_str text)
{
    if (p->is_full) {
        return;
    }
    ms_str fits = ms_str_head(text, TEXT_BYTES_MAX - p->buf.bytes);
    p->is_full = ms_buf_append(&p->buf, fits, &p->st) != MS_OK || fits.bytes < text.bytes;
}

static void put_cstr(printer *p, const char *text)
{
    put(p, ms_str_cstr(text));
}

static void print(printer *p, const ms_expr *expr, int level);

static void put_list(printer *p, const ms_expr *expr, uint32_t first)
{
    for (uint32_t i = first; i < expr->child_count; i++) {
        put_cstr(p, i > first ? ", " : "");
        print(p, expr->children[i], LEVEL_NONE);
    }
}

static bool is_plain_name(ms_str name)
{
    for (size_t i = 0; i < name.bytes; i++) {
        char c = name.ptr[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!is_letter && (i == 0 || ((c < '0' || c > '9') && c != '$'))) {
            return false;
        }
    }
    return name.bytes > 0;
}

/* Repeats the quote inside. */
static void put_quoted(printer *p, ms_str text, char quote)
{
    char mark[2] = {quote, '\0'};
    put_cstr(p, mark);
    for (size_t at = 0; at < text.bytes;) {
        size_t end = ms_str_find_byte(text, quote, at);
        end = end == SIZE_MAX ? text.bytes : end;
        put(p, ms_str_slice(text, at, end));
        put_cstr(p, end < text.bytes ? (quote == '\'' ? "''" : "``") : "");
        at = end + 1;
    }
    put_cstr(p, mark);
}

static void put_name(printer *p, ms_str name)
{
    if (is_plain_name(name)) {
        put(p, name);
    } else {
        put_quoted(p, name, '`');
    }
}

static void put_column(printer *p, uint32_t index)
{
    if (p->input != NULL && index < p->input->column_count) {
        put_name(p, p->input->columns[index].name);
    } else {
        put(p, ms_arena_format(p->arena, "$%u", index));
    }
}

/* Constants. */

static void put_rest(printer *p, ms_str all, ms_str shown)
{
    if (shown.bytes < all.bytes) {
        put(p, ms_arena_format(p->arena, "...(%zu bytes)", all.bytes));
    }
}

static void put_literal(printer *p, ms_str text)
{
    ms_str shown = ms_str_head(text, LITERAL_BYTES_MAX);
    put_quoted(p, shown, '\'');
    put_rest(p, text, shown);
}

static void put_hex(printer *p, ms_str bytes)
{
    static const char digits[] = "0123456789abcdef";
    ms_str shown = ms_str_slice(bytes, 0, LITERAL_BYTES_MAX / 2);
    put_cstr(p, "X'");
    for (size_t i = 0; i < shown.bytes; i++) {
        unsigned char byte = (unsigned char)shown.ptr[i];
        char pair[2] = {digits[byte >> 4], digits[byte & 15u]};
        put(p, ms_str_make(pair, 2));
    }
    put_cstr(p, "'");
    put_rest(p, bytes, shown);
}

static void put_constant(printer *p, const ms_value *value)
{
    const ms_type *type = value->type;
    if (value->is_null) {
        put_cstr(p, "NULL");
        return;
    }
    if (ms_type_is_binary(type)) {
        put_hex(p, value->u.str);
        return;
    }
    ms_eval_config config = {.zone = ms_zone_utc()};
    ms_value text;
    if (ms_cast_value(p->arena, &config, value, ms_type_string(p->arena, false), &text, &p->st) !=
        MS_OK) {
        ms_status_clear(&p->st);
        put_cstr(p, "?");
        return;
    }
    if (ms_type_is_character(type)) {
        put_literal(p, text.u.str);
    } else if (ms_type_is_numeric(type) || type->kind == MS_TYPE_BOOLEAN) {
        put(p, text.u.str);
    } else {
        if (!ms_type_is_nested(type)) {
            bool is_interval = ms_type_is_interval(type);
            put(p, is_interval ? ms_str_lit("INTERVAL") : ms_type_text_bare(p->arena, type));
            put_cstr(p, " ");
        }
        put_literal(p, text.u.str);
    }
}

/* Calls. */

typedef enum shape { SHAPE_CALL, SHAPE_INFIX, SHAPE_POSTFIX, SHAPE_PREFIX } shape;

static const struct {
    const char *name;
    shape shape;
    int level;
} operators[] = {
    {"=", SHAPE_INFIX, LEVEL_COMPARE},
    {"<>", SHAPE_INFIX, LEVEL_COMPARE},
    {"<", SHAPE_INFIX, LEVEL_COMPARE},
    {"<=", SHAPE_INFIX, LEVEL_COMPARE},
    {">", SHAPE_INFIX, LEVEL_COMPARE},
    {">=", SHAPE_INFIX, LEVEL_COMPARE},
    {"IS DISTINCT FROM", SHAPE_INFIX, LEVEL_COMPARE},
    {"IS NOT DISTINCT FROM", SHAPE_INFIX, LEVEL_COMPARE},
    {"+", SHAPE_INFIX, LEVEL_ADD},
    {"-", SHAPE_INFIX, LEVEL_ADD},
    {"*", SHAPE_INFIX, LEVEL_MULTIPLY},
    {"/", SHAPE_INFIX, LEVEL_MULTIPLY},
    {"%", SHAPE_INFIX, LEVEL_MULTIPLY},
    {"||", SHAPE_INFIX, LEVEL_MULTIPLY},
    {"NOT", SHAPE_PREFIX, LEVEL_NOT},
    {"IS NULL", SHAPE_POSTFIX, LEVEL_IS},
    {"IS NOT NULL", SHAPE_POSTFIX, LEVEL_IS},
    {"IS TRUE", SHAPE_POSTFIX, LEVEL_IS},
    {"IS NOT TRUE", SHAPE_POSTFIX, LEVEL_IS},
    {"IS FALSE", SHAPE_POSTFIX, LEVEL_IS},
    {"IS NOT FALSE", SHAPE_POSTFIX, LEVEL_IS},
    {"IS UNKNOWN", SHAPE_POSTFIX, LEVEL_IS},
    {"IS NOT UNKNOWN", SHAPE_POSTFIX, LEVEL_IS},
};

static void open_level(printer *p, int own, int outer)
{
    put_cstr(p, own < outer ? "(" : "");
}

static void close_level(printer *p, int own, int outer)
{
    put_cstr(p, own < outer ? ")" : "");
}

/* The right operand of a left-associative operator needs one level more. */
static void put_infix(printer *p, const ms_expr *expr, const char *sign, int own, int outer)
{
    open_level(p, own, outer);
    for (uint32_t i = 0; i < expr->child_count; i++) {
        put(p, i > 0 ? ms_arena_format(p->arena, " %s ", sign) : ms_str_lit(""));
        print(p, expr->children[i], i > 0 ? own + 1 : own);
    }
    close_level(p, own, outer);
}

static bool put_operator(printer *p, const ms_expr *expr, int outer)
{
    const char *name = expr->fn->desc->name;
    for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        if (strcmp(operators[i].name, name) != 0) {
            continue;
        }
        bool is_sign = operators[i].shape == SHAPE_INFIX && expr->child_count == 1;
        int own = is_sign ? LEVEL_SIGN : operators[i].level;
        if (operators[i].shape == SHAPE_INFIX && !is_sign) {
            put_infix(p, expr, name, own, outer);
            return true;
        }
        open_level(p, own, outer);
        if (operators[i].shape == SHAPE_POSTFIX) {
            print(p, expr->children[0], own);
            put(p, ms_arena_format(p->arena, " %s", name));
        } else {
            put(p, ms_arena_format(p->arena, is_sign ? "%s" : "%s ", name));
            print(p, expr->children[0], is_sign ? own + 1 : own);
        }
        close_level(p, own, outer);
        return true;
    }
    return false;
}

static void put_like(printer *p, const ms_expr *expr, int outer)
{
    open_level(p, LEVEL_LIKE, outer);
    print(p, expr->children[0], LEVEL_LIKE + 1);
    put(p, ms_arena_format(p->arena, " %s ", expr->fn->desc->name));
    print(p, expr->children[1], LEVEL_LIKE + 1);
    if (expr->child_count == 3) {
        put_cstr(p, " ESCAPE ");
        print(p, expr->children[2], LEVEL_LIKE + 1);
    }
    close_level(p, LEVEL_LIKE, outer);
}

static void put_in(printer *p, const ms_expr *expr, int outer)
{
    open_level(p, LEVEL_LIKE, outer);
    print(p, expr->children[0], LEVEL_LIKE + 1);
    put_cstr(p, " IN (");
    put_list(p, expr, 1);
    put_cstr(p, ")");
    close_level(p, LEVEL_LIKE, outer);
}

/* TRIM(BOTH x FROM s) and POSITION(a IN b). */
static bool put_spelled(printer *p, const ms_expr *expr)
{
    const char *name = expr->fn->desc->name;
    if (strncmp(name, "TRIM ", 5) == 0) {
        put(p, ms_arena_format(p->arena, "TRIM(%s ", name + 5));
        if (expr->child_count == 2) {
            print(p, expr->children[1], LEVEL_NONE);
            put_cstr(p, " ");
        }
        put_cstr(p, "FROM ");
        print(p, expr->children[0], LEVEL_NONE);
        put_cstr(p, ")");
        return true;
    }
    if (strcmp(name, "POSITION") == 0) {
        put_cstr(p, "POSITION(");
        print(p, expr->children[0], LEVEL_LIKE + 1);
        put_cstr(p, " IN ");
        print(p, expr->children[1], LEVEL_LIKE + 1);
        if (expr->child_count == 3) {
            put_cstr(p, " FROM ");
            print(p, expr->children[2], LEVEL_LIKE + 1);
        }
        put_cstr(p, ")");
        return true;
    }
    return false;
}

static void put_call(printer *p, const ms_expr *expr, int outer)
{
    const char *name = expr->fn->desc->name;
    if (put_operator(p, expr, outer) || put_spelled(p, expr)) {
        return;
    }
    if (ms_str_ends_with(ms_str_cstr(name), ms_str_lit("LIKE"))) {
        put_like(p, expr, outer);
    } else if (strcmp(name, "IN") == 0) {
        put_in(p, expr, outer);
    } else if (strcmp(name, "ITEM") == 0) {
        print(p, expr->children[0], LEVEL_ACCESS);
        put_cstr(p, "[");
        print(p, expr->children[1], LEVEL_NONE);
        put_cstr(p, "]");
    } else {
        bool is_bracketed = strcmp(name, "ARRAY") == 0 || strcmp(name, "MAP") == 0;
        put_cstr(p, name);
        put_cstr(p, is_bracketed ? "[" : "(");
        put_list(p, expr, 0);
        put_cstr(p, is_bracketed ? "]" : ")");
    }
}

/* Forms. */

static void put_case(printer *p, const ms_expr *expr)
{
    put_cstr(p, "CASE");
    for (uint32_t i = 0; i + 1 < expr->child_count; i += 2) {
        put_cstr(p, " WHEN ");
        print(p, expr->children[i], LEVEL_NONE);
        put_cstr(p, " THEN ");
        print(p, expr->children[i + 1], LEVEL_NONE);
    }
    put_cstr(p, " ELSE ");
    print(p, expr->children[expr->child_count - 1], LEVEL_NONE);
    put_cstr(p, " END");
}

static void put_field(printer *p, const ms_expr *expr)
{
    const ms_type *row = expr->children[0]->type;
    print(p, expr->children[0], LEVEL_ACCESS);
    put_cstr(p, ".");
    put_name(p, row->names[expr->index]);
}

static void put_cast(printer *p, const ms_expr *expr, const char *name)
{
    put_cstr(p, name);
    put_cstr(p, "(");
    print(p, expr->children[0], LEVEL_NONE);
    put_cstr(p, " AS ");
    put(p, ms_type_text_bare(p->arena, expr->type));
    put_cstr(p, ")");
}

/* The body, with the value in place of every reference. */
static void put_let(printer *p, const ms_expr *expr, int level)
{
    binding own = {expr->index, expr->children[0], p->bindings};
    p->bindings = &own;
    print(p, expr->children[1], level);
    p->bindings = own.outer;
}

static void put_ref(printer *p, const ms_expr *expr, int level)
{
    const binding *found = p->bindings;
    while (found != NULL && found->id != expr->index) {
        found = found->outer;
    }
    if (found == NULL) {
        put_cstr(p, "?");
        return;
    }
    const binding *inner = p->bindings;
    p->bindings = found->outer;
    print(p, found->value, level);
    p->bindings = inner;
}

static void print(printer *p, const ms_expr *expr, int level)
{
    if (p->is_full) {
        return;
    }
    switch (expr->kind) {
    case MS_EXPR_COLUMN:
        put_column(p, expr->index);
        return;
    case MS_EXPR_CONST:
        put_constant(p, expr->value);
        return;
    case MS_EXPR_CALL:
        put_call(p, expr, level);
        return;
    case MS_EXPR_AND:
        put_infix(p, expr, "AND", LEVEL_AND, level);
        return;
    case MS_EXPR_OR:
        put_infix(p, expr, "OR", LEVEL_OR, level);
        return;
    case MS_EXPR_CASE:
        put_case(p, expr);
        return;
    case MS_EXPR_IF:
    case MS_EXPR_COALESCE:
        put_cstr(p, expr->kind == MS_EXPR_IF ? "IF(" : "COALESCE(");
        put_list(p, expr, 0);
        put_cstr(p, ")");
        return;
    case MS_EXPR_CAST:
    case MS_EXPR_TRY_CAST:
        put_cast(p, expr, expr->kind == MS_EXPR_CAST ? "CAST" : "TRY_CAST");
        return;
    case MS_EXPR_FIELD:
        put_field(p, expr);
        return;
    case MS_EXPR_LET:
        put_let(p, expr, level);
        return;
    case MS_EXPR_REF:
        put_ref(p, expr, level);
        return;
    case MS_EXPR_KIND_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

ms_str ms_expr_text(ms_arena *arena, const ms_expr *expr, const ms_schema *input)
{
    printer p = {.arena = arena, .input = input};
    ms_buf_init(&p.buf, TEXT_BYTES_MAX);
    print(&p, expr, LEVEL_NONE);
    ms_str text = ms_buf_view(&p.buf);
    text = p.is_full ? ms_arena_format(arena, "%.*s...", MS_STR_ARG(text))
                     : ms_arena_copy_str(arena, text);
    ms_buf_release(&p.buf);
    return text;
}
