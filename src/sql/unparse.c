/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Printing of names, expressions and types. Parentheses follow the levels of parse_expr.c: an
 * operand that binds weaker than its place asks for gets them, and so does the right operand of
 * equal strength, since all operators are left-associative.
 */
#include "sql/unparse.h"

#include "sql/sql_priv.h"

#include <inttypes.h>

#define FIRST_BYTES ((size_t)256) /* of a text under construction: most expressions fit */

/* Text. */

void msi_print(ms_printer *w, ms_str text)
{
    if (text.bytes > w->capacity_bytes - w->bytes) {
        size_t capacity = w->capacity_bytes == 0 ? FIRST_BYTES : w->capacity_bytes * 2;
        while (capacity - w->bytes < text.bytes) {
            capacity *= 2;
        }
        char *grown = ms_arena_alloc(w->arena, capacity, 1);
        if (w->bytes > 0) {
            memcpy(grown, w->ptr, w->bytes);
        }
        w->ptr = grown;
        w->capacity_bytes = capacity;
    }
    if (text.bytes > 0) {
        memcpy(w->ptr + w->bytes, text.ptr, text.bytes);
        w->bytes += text.bytes;
    }
}

void msi_print_word(ms_printer *w, const char *text)
{
    msi_print(w, ms_str_cstr(text));
}

ms_str msi_print_finish(ms_printer *w)
{
    msi_print(w, (ms_str){"", 1});
    return (ms_str){w->ptr, w->bytes - 1};
}

static void print_quoted(ms_printer *w, ms_str text, char quote)
{
    ms_str mark = {&quote, 1};
    size_t from = 0;
    msi_print(w, mark);
    for (size_t at = 0; (at = ms_str_find_byte(text, quote, from)) != SIZE_MAX; from = at + 1) {
        msi_print(w, ms_str_slice(text, from, at + 1));
        msi_print(w, mark);
    }
    msi_print(w, ms_str_slice(text, from, text.bytes));
    msi_print(w, mark);
}

void msi_print_name(ms_printer *w, ms_str name)
{
    print_quoted(w, name, '`');
}

void msi_print_text(ms_printer *w, ms_str text)
{
    print_quoted(w, text, '\'');
}

/* True for ASCII letters, digits, underscores, no digit first. */
static bool is_plain(ms_str name)
{
    for (size_t i = 0; i < name.bytes; i++) {
        char c = name.ptr[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!is_letter && (i == 0 || c < '0' || c > '9')) {
            return false;
        }
    }
    return true;
}

void msi_print_plain_name(ms_printer *w, ms_str name)
{
    if (is_plain(name) && !ms_keyword_is_reserved(ms_keyword_find(name))) {
        msi_print(w, name);
    } else {
        msi_print_name(w, name);
    }
}

void msi_print_path(ms_printer *w, const ms_ast_path *path)
{
    for (uint32_t i = 0; i < path->count; i++) {
        msi_print_word(w, i == 0 ? "" : ".");
        msi_print_name(w, path->parts[i].text);
    }
}

void msi_print_comma(ms_printer *w, uint32_t index)
{
    msi_print_word(w, index == 0 ? "" : ", ");
}

void msi_print_name_list(ms_printer *w, const char *before, const ms_ast_ident *names,
                         uint32_t count)
{
    msi_print_word(w, count == 0 ? "" : before);
    for (uint32_t i = 0; i < count; i++) {
        msi_print_word(w, i == 0 ? "(" : ", ");
        msi_print_name(w, names[i].text);
    }
    msi_print_word(w, count == 0 ? "" : ")");
}

void msi_print_integer(ms_printer *w, int64_t value)
{
    msi_print(w, ms_arena_format(w->arena, "%" PRId64, value));
}

/* Literals. */

static void print_qualifier(ms_printer *w, const ms_ast_qualifier *qualifier)
{
    msi_print_word(w, ms_ast_unit_name(qualifier->start));
    bool has_fraction = qualifier->fraction != MS_AST_UNSET;
    if (qualifier->precision != MS_AST_UNSET) {
        msi_print_word(w, "(");
        msi_print_integer(w, qualifier->precision);
        if (has_fraction && qualifier->end == MS_AST_UNIT_NONE) {
            msi_print_word(w, ", ");
            msi_print_integer(w, qualifier->fraction);
        }
        msi_print_word(w, ")");
    }
    if (qualifier->end == MS_AST_UNIT_NONE) {
        return;
    }
    msi_print_word(w, " TO ");
    msi_print_word(w, ms_ast_unit_name(qualifier->end));
    if (has_fraction) {
        msi_print_word(w, "(");
        msi_print_integer(w, qualifier->fraction);
        msi_print_word(w, ")");
    }
}

static void print_binary_string(ms_printer *w, ms_str bytes)
{
    static const char digits[] = "0123456789ABCDEF";
    msi_print_word(w, "X'");
    for (size_t i = 0; i < bytes.bytes; i++) {
        unsigned char byte = (unsigned char)bytes.ptr[i];
        char pair[2] = {digits[byte >> 4], digits[byte & 15]};
        msi_print(w, (ms_str){pair, 2});
    }
    msi_print_word(w, "'");
}

/* DATE 'text', INTERVAL 'text'. */
static void print_typed_text(ms_printer *w, const char *word, ms_str text)
{
    msi_print_word(w, word);
    msi_print_text(w, text);
}

static void print_literal(ms_printer *w, const ms_ast_literal *literal)
{
    switch (literal->type) {
    case MS_AST_LITERAL_NULL:
        msi_print_word(w, "NULL");
        return;
    case MS_AST_LITERAL_TRUE:
        msi_print_word(w, "TRUE");
        return;
    case MS_AST_LITERAL_FALSE:
        msi_print_word(w, "FALSE");
        return;
    case MS_AST_LITERAL_UNKNOWN:
        msi_print_word(w, "UNKNOWN");
        return;
    case MS_AST_LITERAL_INTEGER:
    case MS_AST_LITERAL_DECIMAL:
    case MS_AST_LITERAL_DOUBLE:
        msi_print(w, literal->text);
        return;
    case MS_AST_LITERAL_STRING:
        msi_print_text(w, literal->text);
        return;
    case MS_AST_LITERAL_BINARY:
        print_binary_string(w, literal->text);
        return;
    case MS_AST_LITERAL_DATE:
        print_typed_text(w, "DATE ", literal->text);
        return;
    case MS_AST_LITERAL_TIME:
        print_typed_text(w, "TIME ", literal->text);
        return;
    case MS_AST_LITERAL_TIMESTAMP:
        print_typed_text(w, "TIMESTAMP ", literal->text);
        return;
    case MS_AST_LITERAL_INTERVAL:
        print_typed_text(w, literal->negative ? "INTERVAL -" : "INTERVAL ", literal->text);
        msi_print_word(w, " ");
        print_qualifier(w, &literal->qualifier);
        return;
    case MS_AST_LITERAL_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

/* Levels: those of parse_expr.c. */

enum print_level {
    PRINT_OR = 22,
    PRINT_AND = 24,
    PRINT_NOT = 26,
    PRINT_IS = 28,
    PRINT_COMPARE = 30,
    PRINT_IN = 32,
    PRINT_ADD = 40,
    PRINT_MULTIPLY = 60,
    PRINT_SIGN = 80,
    PRINT_PRIMARY = 100,
};

static int binary_level(ms_ast_binary_op op)
{
    switch (op) {
    case MS_AST_OP_ADD:
    case MS_AST_OP_SUBTRACT:
        return PRINT_ADD;
    case MS_AST_OP_MULTIPLY:
    case MS_AST_OP_DIVIDE:
    case MS_AST_OP_MODULO:
    case MS_AST_OP_CONCAT:
        return PRINT_MULTIPLY;
    case MS_AST_OP_EQUAL:
    case MS_AST_OP_NOT_EQUAL:
    case MS_AST_OP_LESS:
    case MS_AST_OP_LESS_EQUAL:
    case MS_AST_OP_GREATER:
    case MS_AST_OP_GREATER_EQUAL:
    case MS_AST_OP_DISTINCT:
    case MS_AST_OP_NOT_DISTINCT:
    case MS_AST_OP_OVERLAPS:
        return PRINT_COMPARE;
    case MS_AST_BINARY_OP_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

static int expr_level(const ms_ast_expr *expr)
{
    switch (expr->kind) {
    case MS_AST_LOGIC:
        return ms_ast_logic_of(expr)->op == MS_AST_OP_OR ? PRINT_OR : PRINT_AND;
    case MS_AST_UNARY:
        return ms_ast_unary_of(expr)->op == MS_AST_OP_NOT ? PRINT_NOT : PRINT_SIGN;
    case MS_AST_IS:
        return PRINT_IS;
    case MS_AST_BINARY:
        return binary_level(ms_ast_binary_of(expr)->op);
    case MS_AST_QUANTIFIED:
        return PRINT_COMPARE;
    case MS_AST_BETWEEN:
    case MS_AST_LIKE:
    case MS_AST_IN:
        return PRINT_IN;
    case MS_AST_LITERAL:
    case MS_AST_INTERVAL:
    case MS_AST_NAME:
    case MS_AST_FIELD:
    case MS_AST_ITEM:
    case MS_AST_EXISTS:
    case MS_AST_SUBQUERY:
    case MS_AST_CASE:
    case MS_AST_CAST:
    case MS_AST_CALL:
    case MS_AST_SYMBOL:
    case MS_AST_ROW:
    case MS_AST_ARRAY:
    case MS_AST_MAP:
    case MS_AST_DESCRIPTOR:
    case MS_AST_TABLE_ARG:
        return PRINT_PRIMARY;
    case MS_AST_EXPR_KIND_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

static void print_paren(ms_printer *w, const ms_ast_expr *expr)
{
    msi_print_word(w, "(");
    msi_print_expr(w, expr);
    msi_print_word(w, ")");
}

/* Prints an operand whose place asks for at least a level. */
static void print_operand(ms_printer *w, const ms_ast_expr *expr, int min)
{
    if (expr_level(expr) < min) {
        print_paren(w, expr);
    } else {
        msi_print_expr(w, expr);
    }
}

void msi_print_exprs(ms_printer *w, const ms_ast_expr *const *items, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        msi_print_comma(w, i);
        msi_print_expr(w, items[i]);
    }
}

/* Operators. */

static void print_unary(ms_printer *w, const ms_ast_unary *unary)
{
    if (unary->op == MS_AST_OP_NOT) {
        msi_print_word(w, "NOT ");
        print_operand(w, unary->operand, PRINT_NOT);
        return;
    }
    msi_print_word(w, unary->op == MS_AST_OP_NEGATE ? "-" : "+");
    /* Two minus signs in a row would begin a comment. */
    msi_print_word(w, unary->operand->kind == MS_AST_UNARY ? " " : "");
    print_operand(w, unary->operand, PRINT_SIGN);
}

static void print_binary(ms_printer *w, const ms_ast_binary *binary)
{
    int level = binary_level(binary->op);
    print_operand(w, binary->left, level);
    msi_print_word(w, " ");
    msi_print_word(w, ms_ast_binary_op_name(binary->op));
    msi_print_word(w, " ");
    print_operand(w, binary->right, level + 1);
}

static void print_logic(ms_printer *w, const ms_ast_logic *logic)
{
    bool is_or = logic->op == MS_AST_OP_OR;
    for (uint32_t i = 0; i < logic->operand_count; i++) {
        if (i > 0) {
            msi_print_word(w, is_or ? " OR " : " AND ");
        }
        print_operand(w, logic->operands[i], (is_or ? PRINT_OR : PRINT_AND) + 1);
    }
}

static void print_is(ms_printer *w, const ms_ast_is *is)
{
    static const char *const tests[MS_AST_IS_TEST_COUNT] = {
        [MS_AST_IS_NULL] = "NULL",
        [MS_AST_IS_TRUE] = "TRUE",
        [MS_AST_IS_FALSE] = "FALSE",
        [MS_AST_IS_UNKNOWN] = "UNKNOWN",
        [MS_AST_IS_JSON_VALUE] = "JSON VALUE",
        [MS_AST_IS_JSON_SCALAR] = "JSON SCALAR",
        [MS_AST_IS_JSON_ARRAY] = "JSON ARRAY",
        [MS_AST_IS_JSON_OBJECT] = "JSON OBJECT",
    };
    print_operand(w, is->operand, PRINT_IS);
    msi_print_word(w, is->negated ? " IS NOT " : " IS ");
    msi_print_word(w, tests[is->test]);
}

static void print_between(ms_printer *w, const ms_ast_between *between)
{
    print_operand(w, between->operand, PRINT_IN);
    msi_print_word(w, between->negated ? " NOT BETWEEN " : " BETWEEN ");
    msi_print_word(w, between->symmetric ? "SYMMETRIC " : "");
    print_operand(w, between->low, PRINT_IN + 1);
    msi_print_word(w, " AND ");
    print_operand(w, between->high, PRINT_IN + 1);
}

static void print_like(ms_printer *w, const ms_ast_like *like)
{
    print_operand(w, like->operand, PRINT_IN);
    msi_print_word(w, like->negated ? " NOT" : "");
    msi_print_word(w, like->similar ? " SIMILAR TO " : " LIKE ");
    print_operand(w, like->pattern, PRINT_IN + 1);
    if (like->escape != NULL) {
        msi_print_word(w, " ESCAPE ");
        print_operand(w, like->escape, PRINT_IN + 1);
    }
}

/* (query) or (items). */
static void print_in_items(ms_printer *w, const ms_ast_query *query,
                           const ms_ast_expr *const *items, uint32_t count)
{
    msi_print_word(w, "(");
    if (query != NULL) {
        msi_print_query(w, query);
    } else {
        msi_print_exprs(w, items, count);
    }
    msi_print_word(w, ")");
}

static void print_in(ms_printer *w, const ms_ast_in *in)
{
    print_operand(w, in->operand, PRINT_IN);
    msi_print_word(w, in->negated ? " NOT IN " : " IN ");
    print_in_items(w, in->query, in->items, in->item_count);
}

static void print_quantified(ms_printer *w, const ms_ast_quantified *quantified)
{
    print_operand(w, quantified->operand, PRINT_COMPARE);
    msi_print_word(w, " ");
    msi_print_word(w, ms_ast_binary_op_name(quantified->op));
    msi_print_word(w, quantified->all ? " ALL " : " ANY ");
    print_in_items(w, quantified->query, quantified->items, quantified->item_count);
}

/* Primaries. */

/* INTERVAL operand unit: a number or a name stands as it is. */
static void print_interval(ms_printer *w, const ms_ast_interval *interval)
{
    const ms_ast_expr *operand = interval->operand;
    bool is_bare = operand->kind == MS_AST_NAME;
    if (operand->kind == MS_AST_LITERAL) {
        ms_ast_literal_type type = ms_ast_literal_of(operand)->type;
        is_bare = type == MS_AST_LITERAL_INTEGER || type == MS_AST_LITERAL_DECIMAL ||
                  type == MS_AST_LITERAL_DOUBLE;
    }
    msi_print_word(w, interval->negative ? "INTERVAL -" : "INTERVAL ");
    if (is_bare) {
        msi_print_expr(w, operand);
    } else {
        print_paren(w, operand);
    }
    msi_print_word(w, " ");
    print_qualifier(w, &interval->qualifier);
}

/* operand.field: a bare name in front would read as one longer name, a number as a fraction. */
static void print_field(ms_printer *w, const ms_ast_field *field)
{
    ms_ast_expr_kind kind = field->operand->kind;
    bool is_bare = kind == MS_AST_CALL || kind == MS_AST_ITEM || kind == MS_AST_FIELD ||
                   kind == MS_AST_ROW || kind == MS_AST_SUBQUERY || kind == MS_AST_CAST;
    if (is_bare) {
        msi_print_expr(w, field->operand);
    } else {
        print_paren(w, field->operand);
    }
    msi_print_word(w, ".");
    msi_print_name(w, field->field.text);
}

static void print_item(ms_printer *w, const ms_ast_item *item)
{
    print_operand(w, item->operand, PRINT_PRIMARY);
    msi_print_word(w, "[");
    msi_print_expr(w, item->index);
    msi_print_word(w, "]");
}

static void print_case(ms_printer *w, const ms_ast_case *choice)
{
    msi_print_word(w, "CASE");
    if (choice->operand != NULL) {
        msi_print_word(w, " ");
        msi_print_expr(w, choice->operand);
    }
    for (uint32_t i = 0; i < choice->when_count; i++) {
        const ms_ast_when *when = &choice->whens[i];
        msi_print_word(w, " WHEN ");
        msi_print_exprs(w, when->conditions, when->condition_count);
        msi_print_word(w, " THEN ");
        msi_print_expr(w, when->result);
    }
    if (choice->otherwise != NULL) {
        msi_print_word(w, " ELSE ");
        msi_print_expr(w, choice->otherwise);
    }
    msi_print_word(w, " END");
}

static void print_cast(ms_printer *w, const ms_ast_cast *cast)
{
    msi_print_word(w, cast->is_try ? "TRY_CAST(" : "CAST(");
    msi_print_expr(w, cast->operand);
    msi_print_word(w, " AS ");
    msi_print_type(w, cast->type);
    msi_print_word(w, ")");
}

/* Calls. */

/*
 * True when a plain call of a function whose name has a syntax of its own can be written without
 * back-ticks: CEIL(x), SUBSTRING(x, 1), TIMESTAMPADD(DAY, 1, x), but not `CEIL`(x, y).
 */
static bool fits_own_syntax(const ms_ast_call *call, ms_keyword word)
{
    bool is_simple = !call->star && !call->distinct && call->nulls == MS_AST_NULLS_UNSAID &&
                     call->filter == NULL && call->over == NULL &&
                     ms_ast_ident_is_absent(call->over_name);
    for (uint32_t i = 0; i < call->arg_count; i++) {
        is_simple = is_simple && ms_ast_ident_is_absent(call->args[i].name) &&
                    call->args[i].value->kind != MS_AST_TABLE_ARG;
    }
    if (word == MS_KW_CEIL || word == MS_KW_CEILING || word == MS_KW_FLOOR) {
        return is_simple && call->arg_count == 1;
    }
    if (word == MS_KW_SUBSTRING) {
        return is_simple && (call->arg_count == 2 || call->arg_count == 3);
    }
    if (word == MS_KW_TIMESTAMPADD || word == MS_KW_TIMESTAMPDIFF) {
        return is_simple && call->arg_count == 3 && call->args[0].value->kind == MS_AST_SYMBOL;
    }
    return word != MS_KW_POSITION && word != MS_KW_TRIM && word != MS_KW_EXTRACT &&
           word != MS_KW_OVERLAY && word != MS_KW_DESCRIPTOR;
}

static void print_function_name(ms_printer *w, const ms_ast_call *call)
{
    ms_str name = call->name.parts[0].text;
    ms_keyword word = ms_keyword_find(name);
    bool is_bare = call->name.count == 1 && is_plain(name) && ms_keyword_may_name_function(word) &&
                   fits_own_syntax(call, word);
    if (is_bare) {
        msi_print(w, name);
    } else {
        msi_print_path(w, &call->name);
    }
}

static void print_bound(ms_printer *w, const ms_ast_bound *bound)
{
    switch (bound->kind) {
    case MS_AST_BOUND_UNBOUNDED_PRECEDING:
        msi_print_word(w, "UNBOUNDED PRECEDING");
        return;
    case MS_AST_BOUND_PRECEDING:
        msi_print_expr(w, bound->value);
        msi_print_word(w, " PRECEDING");
        return;
    case MS_AST_BOUND_CURRENT_ROW:
        msi_print_word(w, "CURRENT ROW");
        return;
    case MS_AST_BOUND_FOLLOWING:
        msi_print_expr(w, bound->value);
        msi_print_word(w, " FOLLOWING");
        return;
    case MS_AST_BOUND_UNBOUNDED_FOLLOWING:
        msi_print_word(w, "UNBOUNDED FOLLOWING");
        return;
    case MS_AST_BOUND_KIND_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

void msi_print_order(ms_printer *w, const ms_ast_order *order, uint32_t count)
{
    static const char *const directions[MS_AST_DIRECTION_COUNT] = {"", " ASC", " DESC"};
    static const char *const nulls[MS_AST_NULLS_COUNT] = {"", " NULLS FIRST", " NULLS LAST"};
    for (uint32_t i = 0; i < count; i++) {
        msi_print_comma(w, i);
        msi_print_expr(w, order[i].expr);
        msi_print_word(w, directions[order[i].direction]);
        msi_print_word(w, nulls[order[i].nulls]);
    }
}

/* A blank between the clauses of a window. */
static void print_gap(ms_printer *w, bool *is_first)
{
    msi_print_word(w, *is_first ? "" : " ");
    *is_first = false;
}

void msi_print_window(ms_printer *w, const ms_ast_window *window)
{
    bool is_first = true;
    msi_print_word(w, "(");
    if (!ms_ast_ident_is_absent(window->base)) {
        print_gap(w, &is_first);
        msi_print_name(w, window->base.text);
    }
    if (window->partition_count > 0) {
        print_gap(w, &is_first);
        msi_print_word(w, "PARTITION BY ");
        msi_print_exprs(w, window->partition, window->partition_count);
    }
    if (window->order_count > 0) {
        print_gap(w, &is_first);
        msi_print_word(w, "ORDER BY ");
        msi_print_order(w, window->order, window->order_count);
    }
    if (window->frame != MS_AST_FRAME_NONE) {
        print_gap(w, &is_first);
        msi_print_word(w, window->frame == MS_AST_FRAME_ROWS ? "ROWS BETWEEN " : "RANGE BETWEEN ");
        print_bound(w, &window->start);
        msi_print_word(w, " AND ");
        print_bound(w, &window->end);
    }
    msi_print_word(w, ")");
}

static void print_args(ms_printer *w, const ms_ast_call *call)
{
    msi_print_word(w, call->star ? "*" : "");
    msi_print_word(w, call->distinct ? "DISTINCT " : "");
    for (uint32_t i = 0; i < call->arg_count; i++) {
        msi_print_comma(w, i);
        if (!ms_ast_ident_is_absent(call->args[i].name)) {
            msi_print_plain_name(w, call->args[i].name.text);
            msi_print_word(w, " => ");
        }
        msi_print_expr(w, call->args[i].value);
    }
}

static void print_plain_call(ms_printer *w, const ms_ast_call *call)
{
    static const char *const nulls[MS_AST_NULL_TREATMENT_COUNT] = {"", " IGNORE NULLS",
                                                                   " RESPECT NULLS"};
    print_function_name(w, call);
    msi_print_word(w, "(");
    print_args(w, call);
    msi_print_word(w, ")");
    msi_print_word(w, nulls[call->nulls]);
    if (call->filter != NULL) {
        msi_print_word(w, " FILTER (WHERE ");
        msi_print_expr(w, call->filter);
        msi_print_word(w, ")");
    }
    if (call->over != NULL) {
        msi_print_word(w, " OVER ");
        msi_print_window(w, call->over);
    }
    if (!ms_ast_ident_is_absent(call->over_name)) {
        msi_print_word(w, " OVER ");
        msi_print_name(w, call->over_name.text);
    }
}

/* f(a <word> b <word> c): the words before the second argument and those behind it. */
static void print_worded_call(ms_printer *w, const ms_ast_call *call, const char *const *words)
{
    msi_print(w, call->name.parts[0].text);
    msi_print_word(w, "(");
    for (uint32_t i = 0; i < call->arg_count; i++) {
        msi_print_word(w, i == 0 ? "" : words[i - 1]);
        print_operand(w, call->args[i].value, PRINT_IN + 1);
    }
    msi_print_word(w, ")");
}

void msi_print_call(ms_printer *w, const ms_ast_call *call)
{
    static const char *const position[] = {" IN ", " FROM "};
    static const char *const trim[] = {" ", " FROM "};
    static const char *const extract[] = {" FROM "};
    static const char *const unit_to[] = {" TO "};
    static const char *const overlay[] = {" PLACING ", " FROM ", " FOR "};
    switch (call->syntax) {
    case MS_AST_CALL_PLAIN:
        print_plain_call(w, call);
        return;
    case MS_AST_CALL_NILADIC:
        msi_print(w, call->name.parts[0].text);
        if (call->arg_count > 0) {
            print_paren(w, call->args[0].value);
        }
        return;
    case MS_AST_CALL_POSITION:
        print_worded_call(w, call, position);
        return;
    case MS_AST_CALL_TRIM:
        print_worded_call(w, call, trim);
        return;
    case MS_AST_CALL_EXTRACT:
        print_worded_call(w, call, extract);
        return;
    case MS_AST_CALL_UNIT_TO:
        print_worded_call(w, call, unit_to);
        return;
    case MS_AST_CALL_OVERLAY:
        print_worded_call(w, call, overlay);
        return;
    case MS_AST_CALL_SYNTAX_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

static void print_symbol(ms_printer *w, const ms_ast_symbol *symbol)
{
    static const char *const sides[MS_AST_TRIM_SIDE_COUNT] = {"", "BOTH", "LEADING", "TRAILING"};
    msi_print_word(w, ms_ast_unit_name(symbol->unit));
    msi_print_word(w, sides[symbol->side]);
}

static void print_table_arg(ms_printer *w, const ms_ast_table_arg *arg)
{
    msi_print_word(w, "TABLE ");
    msi_print_from(w, arg->table);
    if (arg->partition_count > 0) {
        msi_print_word(w, " PARTITION BY (");
        msi_print_exprs(w, arg->partition, arg->partition_count);
        msi_print_word(w, ")");
    }
    if (arg->order_count > 0) {
        msi_print_word(w, " ORDER BY (");
        msi_print_order(w, arg->order, arg->order_count);
        msi_print_word(w, ")");
    }
}

/* <word><open>items<close>. */
static void print_constructor(ms_printer *w, const char *opening, const ms_ast_expr *const *items,
                              uint32_t count, const char *closing)
{
    msi_print_word(w, opening);
    msi_print_exprs(w, items, count);
    msi_print_word(w, closing);
}

static void print_query_expr(ms_printer *w, const char *opening, const ms_ast_query *query)
{
    msi_print_word(w, opening);
    msi_print_query(w, query);
    msi_print_word(w, ")");
}

/* What is left of the kinds: those that stand for a few words. */
static void print_primary(ms_printer *w, const ms_ast_expr *expr)
{
    if (expr->kind == MS_AST_ROW) {
        const ms_ast_row *row = ms_ast_row_of(expr);
        print_constructor(w, "ROW(", row->items, row->item_count, ")");
    } else if (expr->kind == MS_AST_ARRAY) {
        const ms_ast_array *array = ms_ast_array_of(expr);
        print_constructor(w, "ARRAY[", array->items, array->item_count, "]");
    } else if (expr->kind == MS_AST_MAP) {
        const ms_ast_map *map = ms_ast_map_of(expr);
        print_constructor(w, "MAP[", map->items, map->item_count, "]");
    } else if (expr->kind == MS_AST_EXISTS) {
        print_query_expr(w, "EXISTS (", ms_ast_exists_of(expr)->query);
    } else if (expr->kind == MS_AST_SUBQUERY) {
        print_query_expr(w, "(", ms_ast_subquery_of(expr)->query);
    } else {
        const ms_ast_descriptor *descriptor = ms_ast_descriptor_of(expr);
        msi_print_name_list(w, "DESCRIPTOR", descriptor->columns, descriptor->column_count);
    }
}

void msi_print_expr(ms_printer *w, const ms_ast_expr *expr)
{
    switch (expr->kind) {
    case MS_AST_LITERAL:
        print_literal(w, ms_ast_literal_of(expr));
        return;
    case MS_AST_INTERVAL:
        print_interval(w, ms_ast_interval_of(expr));
        return;
    case MS_AST_NAME:
        msi_print_path(w, &ms_ast_name_of(expr)->path);
        return;
    case MS_AST_FIELD:
        print_field(w, ms_ast_field_of(expr));
        return;
    case MS_AST_ITEM:
        print_item(w, ms_ast_item_of(expr));
        return;
    case MS_AST_UNARY:
        print_unary(w, ms_ast_unary_of(expr));
        return;
    case MS_AST_BINARY:
        print_binary(w, ms_ast_binary_of(expr));
        return;
    case MS_AST_LOGIC:
        print_logic(w, ms_ast_logic_of(expr));
        return;
    case MS_AST_IS:
        print_is(w, ms_ast_is_of(expr));
        return;
    case MS_AST_BETWEEN:
        print_between(w, ms_ast_between_of(expr));
        return;
    case MS_AST_LIKE:
        print_like(w, ms_ast_like_of(expr));
        return;
    case MS_AST_IN:
        print_in(w, ms_ast_in_of(expr));
        return;
    case MS_AST_QUANTIFIED:
        print_quantified(w, ms_ast_quantified_of(expr));
        return;
    case MS_AST_CASE:
        print_case(w, ms_ast_case_of(expr));
        return;
    case MS_AST_CAST:
        print_cast(w, ms_ast_cast_of(expr));
        return;
    case MS_AST_CALL:
        msi_print_call(w, ms_ast_call_of(expr));
        return;
    case MS_AST_SYMBOL:
        print_symbol(w, ms_ast_symbol_of(expr));
        return;
    case MS_AST_TABLE_ARG:
        print_table_arg(w, ms_ast_table_arg_of(expr));
        return;
    case MS_AST_EXISTS:
    case MS_AST_SUBQUERY:
    case MS_AST_ROW:
    case MS_AST_ARRAY:
    case MS_AST_MAP:
    case MS_AST_DESCRIPTOR:
        print_primary(w, expr);
        return;
    case MS_AST_EXPR_KIND_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

/* Types. */

static void print_type_params(ms_printer *w, const ms_ast_type *type)
{
    if (type->precision == MS_AST_UNSET) {
        return;
    }
    msi_print_word(w, "(");
    msi_print_integer(w, type->precision);
    if (type->scale != MS_AST_UNSET) {
        msi_print_word(w, ", ");
        msi_print_integer(w, type->scale);
    }
    msi_print_word(w, ")");
}

static void print_type_fields(ms_printer *w, const ms_ast_type *type)
{
    msi_print_word(w, "<");
    for (uint32_t i = 0; i < type->field_count; i++) {
        const ms_ast_type_field *field = &type->fields[i];
        msi_print_comma(w, i);
        msi_print_name(w, field->name.text);
        msi_print_word(w, " ");
        msi_print_type(w, field->type);
        if (!ms_ast_text_is_absent(field->comment)) {
            msi_print_word(w, " ");
            msi_print_text(w, field->comment.text);
        }
    }
    msi_print_word(w, ">");
}

static void print_type_children(ms_printer *w, const ms_ast_type *type)
{
    msi_print_word(w, "<");
    if (type->key != NULL) {
        msi_print_type(w, type->key);
        msi_print_word(w, ", ");
    }
    msi_print_type(w, type->element);
    msi_print_word(w, ">");
}

static void print_type_name(ms_printer *w, const ms_ast_type *type)
{
    if (type->kind == MS_AST_TYPE_NAMED) {
        msi_print_path(w, &type->name);
        return;
    }
    bool is_zoned = type->kind == MS_AST_TYPE_TIMESTAMP_TZ;
    msi_print_word(w, is_zoned ? "TIMESTAMP" : ms_ast_type_kind_name(type->kind));
    print_type_params(w, type);
    if (is_zoned) {
        msi_print_word(w, " WITH TIME ZONE");
    } else if (type->kind == MS_AST_TYPE_INTERVAL) {
        msi_print_word(w, " ");
        print_qualifier(w, &type->qualifier);
    } else if (type->kind == MS_AST_TYPE_RAW) {
        msi_print_word(w, "(");
        msi_print_text(w, type->raw_class.text);
        msi_print_word(w, ", ");
        msi_print_text(w, type->raw_serializer.text);
        msi_print_word(w, ")");
    } else if (type->kind == MS_AST_TYPE_ROW) {
        print_type_fields(w, type);
    } else if (type->element != NULL) {
        print_type_children(w, type);
    }
}

void msi_print_type(ms_printer *w, const ms_ast_type *type)
{
    static const char *const nullabilities[MS_AST_NULLABILITY_COUNT] = {"", " NULL", " NOT NULL"};
    print_type_name(w, type);
    msi_print_word(w, nullabilities[type->nullability]);
}

/* Interface. */

ms_str ms_sql_unparse_expr(const ms_ast_expr *expr, ms_arena *arena)
{
    ms_printer w = {.arena = arena};
    msi_print_expr(&w, expr);
    return msi_print_finish(&w);
}

ms_str ms_sql_unparse_type(const ms_ast_type *type, ms_arena *arena)
{
    ms_printer w = {.arena = arena};
    msi_print_type(&w, type);
    return msi_print_finish(&w);
}

ms_str ms_sql_unparse_path(const ms_ast_path *path, ms_arena *arena)
{
    ms_printer w = {.arena = arena};
    msi_print_path(&w, path);
    return msi_print_finish(&w);
}

ms_str ms_sql_quote_name(ms_str name, ms_arena *arena)
{
    ms_printer w = {.arena = arena};
    msi_print_name(&w, name);
    return msi_print_finish(&w);
}

ms_str ms_sql_quote_text(ms_str text, ms_arena *arena)
{
    ms_printer w = {.arena = arena};
    msi_print_text(&w, text);
    return msi_print_finish(&w);
}
