/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stored form of expressions: s-expressions of words, numbers and quoted texts, part of plan
 * text version 1. It is read back from files that may be damaged or forged, so the reader checks
 * all that programs rely on: counts of children, types of conditions, fields within their row,
 * functions that resolve to the very types that are written.
 *
 *     (col INDEX TYPE START END)
 *     (const TYPE START END VALUE)            VALUE: null, or a text, or (VALUE ...) for nested
 *     values
 *     (call NAME TYPE START END CHILD ...)    and or case if coalesce cast trycast: the same
 *     without NAME
 *     (field INDEX TYPE START END CHILD)      let: the same with two children; ref: with none
 *
 * NAME and TYPE are texts in double quotes with \\ and \" escaped; VALUE is the text of CAST to
 * STRING, hexadecimal for bytes, unscaled digits for decimals, and the stored integer for
 * everything else that is stored as one; floats are their bits in hexadecimal.
 */
#include "expr/expr.h"

#include "base/limits.h"
#include "base/num.h"
#include "func/cast.h"
#include "func/typing.h"
#include "type/text.h"

#include <inttypes.h>

static const struct {
    const char *word;
    ms_expr_kind kind;
} words[] = {
    {"col", MS_EXPR_COLUMN},  {"const", MS_EXPR_CONST},
    {"call", MS_EXPR_CALL},   {"and", MS_EXPR_AND},
    {"or", MS_EXPR_OR},       {"case", MS_EXPR_CASE},
    {"if", MS_EXPR_IF},       {"coalesce", MS_EXPR_COALESCE},
    {"cast", MS_EXPR_CAST},   {"trycast", MS_EXPR_TRY_CAST},
    {"field", MS_EXPR_FIELD}, {"let", MS_EXPR_LET},
    {"ref", MS_EXPR_REF},
};
#define WORD_COUNT (sizeof(words) / sizeof(words[0]))

_Static_assert(WORD_COUNT == MS_EXPR_KIND_COUNT, "one word per kind");

static bool has_index(ms_expr_kind kind)
{
    return kind == MS_EXPR_COLUMN || kind == MS_EXPR_FIELD || kind == MS_EXPR_LET ||
           kind == MS_EXPR_REF;
}

/* Writing. */

static ms_rc write_text(ms_buf *buf, ms_str text, ms_status *st)
{
    MS_TRY(ms_buf_append(buf, ms_str_lit(" \""), st));
    size_t start = 0;
    for (size_t i = 0; i < text.bytes; i++) {
        if (text.ptr[i] == '"' || text.ptr[i] == '\\') {
            MS_TRY(ms_buf_append(buf, ms_str_slice(text, start, i), st));
            MS_TRY(ms_buf_append_byte(buf, '\\', st));
            start = i;
        }
    }
    MS_TRY(ms_buf_append(buf, ms_str_slice(text, start, text.bytes), st));
    return ms_buf_append_byte(buf, '"', st);
}

static ms_rc write_hex(ms_buf *buf, ms_str bytes, ms_status *st)
{
    MS_TRY(ms_buf_append(buf, ms_str_lit(" \""), st));
    MS_TRY(ms_buf_reserve(buf, bytes.bytes * 2, st));
    buf->bytes += ms_text_hex_encode(buf->ptr + buf->bytes, bytes, false);
    return ms_buf_append_byte(buf, '"', st);
}

static ms_rc write_value(ms_buf *buf, const ms_value *value, ms_status *st)
{
    if (value->is_null) {
        return ms_buf_append(buf, ms_str_lit(" null"), st);
    }
    if (ms_type_is_nested(value->type)) {
        MS_TRY(ms_buf_append(buf, ms_str_lit(" ("), st));
        for (uint32_t i = 0; i < value->item_count; i++) {
            MS_TRY(write_value(buf, &value->u.items[i], st));
        }
        return ms_buf_append_byte(buf, ')', st);
    }
    if (ms_type_is_character(value->type)) {
        return write_text(buf, value->u.str, st);
    }
    if (ms_type_is_binary(value->type)) {
        return write_hex(buf, value->u.str, st);
    }
    if (value->type->phys == MS_PHYS_F32 || value->type->phys == MS_PHYS_F64) {
        uint64_t bits = 0;
        memcpy(&bits, &value->u.f, sizeof(bits));
        return ms_buf_format(buf, st, " \"%016" PRIx64 "\"", bits);
    }
    char digits[MS_TEXT_DECIMAL_BYTES];
    ms_i128 number = value->type->phys == MS_PHYS_I128 ? value->u.dec : value->u.i;
    size_t bytes = ms_text_decimal(digits, number, 0);
    return write_text(buf, ms_str_make(digits, bytes), st);
}

static ms_rc write_head(ms_buf *buf, const ms_expr *expr, ms_arena *scratch, ms_status *st)
{
    const char *word = "";
    for (size_t i = 0; i < WORD_COUNT; i++) {
        word = words[i].kind == expr->kind ? words[i].word : word;
    }
    MS_TRY(ms_buf_format(buf, st, "(%s", word));
    if (expr->kind == MS_EXPR_CALL) {
        MS_TRY(write_text(buf, ms_fn_name(expr->fn), st));
    }
    if (has_index(expr->kind)) {
        MS_TRY(ms_buf_format(buf, st, " %u", expr->index));
    }
    MS_TRY(write_text(buf, ms_type_text(scratch, expr->type), st));
    return ms_buf_format(buf, st, " %u %u", expr->span.start, expr->span.end);
}

static ms_rc write_expr(ms_buf *buf, const ms_expr *expr, ms_arena *scratch, ms_status *st)
{
    MS_TRY(write_head(buf, expr, scratch, st));
    if (expr->kind == MS_EXPR_CONST) {
        MS_TRY(write_value(buf, expr->value, st));
    }
    for (uint32_t i = 0; i < expr->child_count; i++) {
        MS_TRY(ms_buf_append_byte(buf, ' ', st));
        MS_TRY(write_expr(buf, expr->children[i], scratch, st));
    }
    return ms_buf_append_byte(buf, ')', st);
}

ms_rc ms_expr_write(ms_buf *buf, const ms_expr *expr, ms_status *st)
{
    ms_arena scratch;
    ms_arena_init(&scratch, 0);
    ms_rc rc = write_expr(buf, expr, &scratch, st);
    ms_arena_release(&scratch);
    return rc;
}

/* Reading. */

/* The LETs whose body is being read, innermost first. */
typedef struct binding {
    uint32_t id;
    const ms_type *type;
    const struct binding *outer;
} binding;

typedef struct reader {
    ms_arena *arena;
    ms_str text;
    size_t at;
    const binding *bindings;
    uint32_t depth;
    uint32_t nodes;
    ms_status *st;
} reader;

static ms_rc corrupt(reader *r, const char *what)
{
    return ms_status_set(r->st, MS_CORRUPT_DATA, ms_span_none,
                         "a stored expression cannot be read: %s at byte %zu", what, r->at);
}

static void skip_blanks(reader *r)
{
    while (r->at < r->text.bytes && r->text.ptr[r->at] == ' ') {
        r->at++;
    }
}

static bool take(reader *r, char c)
{
    skip_blanks(r);
    if (r->at < r->text.bytes && r->text.ptr[r->at] == c) {
        r->at++;
        return true;
    }
    return false;
}

static bool peek(reader *r, char c)
{
    skip_blanks(r);
    return r->at < r->text.bytes && r->text.ptr[r->at] == c;
}

static ms_str take_word(reader *r)
{
    skip_blanks(r);
    size_t start = r->at;
    while (r->at < r->text.bytes && r->text.ptr[r->at] >= 'a' && r->text.ptr[r->at] <= 'z') {
        r->at++;
    }
    return ms_str_slice(r->text, start, r->at);
}

static ms_rc read_number(reader *r, uint32_t *value_out)
{
    uint64_t value = 0;
    skip_blanks(r);
    size_t digits = ms_num_count_digits(r->text, r->at);
    if (!ms_num_scan_u64(ms_str_slice(r->text, r->at, r->at + digits), &value) ||
        value > UINT32_MAX) {
        return corrupt(r, "a number");
    }
    r->at += digits;
    *value_out = (uint32_t)value;
    return MS_OK;
}

static ms_rc read_text(reader *r, ms_str *text_out)
{
    if (!take(r, '"')) {
        return corrupt(r, "a text");
    }
    size_t end = r->at;
    while (end < r->text.bytes && r->text.ptr[end] != '"') {
        end += r->text.ptr[end] == '\\' ? 2 : 1;
    }
    if (end >= r->text.bytes) {
        return corrupt(r, "a text without an end");
    }
    char *copy = ms_arena_alloc(r->arena, end - r->at + 1, 1);
    size_t bytes = 0;
    for (size_t i = r->at; i < end; i++) {
        i += r->text.ptr[i] == '\\';
        copy[bytes++] = r->text.ptr[i];
    }
    r->at = end + 1;
    *text_out = ms_str_make(copy, bytes);
    return MS_OK;
}

static ms_rc read_type(reader *r, const ms_type **type_out)
{
    ms_str text = {NULL, 0};
    MS_TRY(read_text(r, &text));
    *type_out = ms_typing_parse(r->arena, text);
    return *type_out != NULL ? MS_OK : corrupt(r, "a type");
}

static ms_rc read_value(reader *r, const ms_type *type, ms_value *out);

/* The type of item i of a nested value; NULL when there is no such item. */
static const ms_type *item_type(reader *r, const ms_type *type, uint32_t i)
{
    if (type->kind == MS_TYPE_ROW) {
        return i < type->child_count ? type->children[i] : NULL;
    }
    if (type->kind == MS_TYPE_MULTISET && i % 2 == 1) {
        return ms_type_simple(r->arena, MS_TYPE_INT, false);
    }
    return type->children[type->kind == MS_TYPE_MAP ? i % 2 : 0];
}

static ms_rc read_items(reader *r, const ms_type *type, ms_value *out)
{
    uint32_t capacity = 8;
    ms_value *items = ms_arena_array(r->arena, ms_value, capacity);
    if (!take(r, '(')) {
        return corrupt(r, "a nested value");
    }
    while (!take(r, ')')) {
        if (out->item_count == capacity) {
            ms_value *more = ms_arena_array(r->arena, ms_value, (size_t)capacity * 2);
            memcpy(more, items, capacity * sizeof(ms_value));
            items = more;
            capacity *= 2;
        }
        const ms_type *child = item_type(r, type, out->item_count);
        if (child == NULL) {
            return corrupt(r, "too many fields");
        }
        MS_TRY(read_value(r, child, &items[out->item_count++]));
    }
    bool is_paired = type->kind == MS_TYPE_MAP || type->kind == MS_TYPE_MULTISET;
    if ((type->kind == MS_TYPE_ROW && out->item_count != type->child_count) ||
        (is_paired && out->item_count % 2 != 0)) {
        return corrupt(r, "a nested value");
    }
    out->u.items = items;
    return MS_OK;
}

static ms_rc read_double(reader *r, ms_str text, double *out)
{
    char bytes[8];
    size_t count = 0;
    uint64_t bits = 0;
    if (text.bytes != 16 || !ms_text_hex_decode(text, bytes, &count)) {
        return corrupt(r, "a number");
    }
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bits = bits << 8 | (unsigned char)bytes[i];
    }
    memcpy(out, &bits, sizeof(bits));
    return MS_OK;
}

/* The range of an integer that stands for a value of the type. */
static bool is_in_range(const ms_type *type, ms_i128 number)
{
    switch (type->phys) {
    case MS_PHYS_BOOL:
        return number == 0 || number == 1;
    case MS_PHYS_I8:
        return number == (int8_t)number;
    case MS_PHYS_I16:
        return number == (int16_t)number;
    case MS_PHYS_I32:
        return number == (int32_t)number;
    case MS_PHYS_I64:
    case MS_PHYS_I128:
        return type->kind == MS_TYPE_DECIMAL ? ms_decimal_fits(number, type->precision)
                                             : number == (int64_t)number;
    case MS_PHYS_NONE:
    case MS_PHYS_F32:
    case MS_PHYS_F64:
    case MS_PHYS_TS16:
    case MS_PHYS_STR:
    case MS_PHYS_LIST:
    case MS_PHYS_ROW:
    case MS_PHYS_COUNT:
        break;
    }
    return false;
}

static ms_rc read_scalar(reader *r, const ms_type *type, ms_value *out)
{
    ms_str text = {NULL, 0};
    MS_TRY(read_text(r, &text));
    if (ms_type_is_character(type)) {
        out->u.str = text;
        return MS_OK;
    }
    if (ms_type_is_binary(type)) {
        char *bytes = ms_arena_alloc(r->arena, text.bytes / 2 + 1, 1);
        out->u.str.ptr = bytes;
        return ms_text_hex_decode(text, bytes, &out->u.str.bytes) ? MS_OK : corrupt(r, "bytes");
    }
    if (type->phys == MS_PHYS_F32 || type->phys == MS_PHYS_F64) {
        return read_double(r, text, &out->u.f);
    }
    ms_i128 number = 0;
    if (ms_text_parse_decimal(text, MS_TYPE_DECIMAL_PRECISION_MAX, 0, &number) != MS_TEXT_OK ||
        !is_in_range(type, number)) {
        return corrupt(r, "a number");
    }
    if (type->phys == MS_PHYS_I128) {
        out->u.dec = number;
    } else {
        out->u.i = (int64_t)number;
    }
    return MS_OK;
}

static ms_rc read_value(reader *r, const ms_type *type, ms_value *out)
{
    *out = (ms_value){.type = type};
    if (peek(r, 'n')) {
        out->is_null = ms_str_equals(take_word(r), ms_str_lit("null"));
        return out->is_null ? MS_OK : corrupt(r, "a value");
    }
    return ms_type_is_nested(type) ? read_items(r, type, out) : read_scalar(r, type, out);
}

/* Checking what was read. */

static bool is_boolean(const ms_expr *expr)
{
    return expr->type->kind == MS_TYPE_BOOLEAN;
}

static bool check_case(const ms_expr *expr)
{
    if (expr->child_count < 3 || expr->child_count % 2 == 0) {
        return false;
    }
    for (uint32_t i = 0; i < expr->child_count; i++) {
        bool is_condition = i % 2 == 0 && i + 1 < expr->child_count;
        bool fits = is_condition ? is_boolean(expr->children[i])
                                 : ms_type_same_shape(expr->children[i]->type, expr->type);
        if (!fits) {
            return false;
        }
    }
    return true;
}

/*
 * What was resolved from the operands as they were written resolves again from the operands as they
 * were cast, but for arithmetic: decimals may then have more digits, and a remainder the wider of
 * two integer types. Their functions take any such result.
 */
static bool result_agrees(const ms_expr *expr, const ms_type *resolved)
{
    static const char *const signs[] = {"+", "-", "*", "/", "%", "MOD"};
    const ms_type *type = expr->type;
    if (ms_type_same_shape(type, resolved)) {
        return true;
    }
    bool is_arithmetic = false;
    for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
        is_arithmetic = is_arithmetic || ms_expr_is_call_of(expr, signs[i]);
    }
    if (!is_arithmetic || expr->child_count != 2) {
        return false;
    }
    if (type->kind == MS_TYPE_DECIMAL && resolved->kind == MS_TYPE_DECIMAL) {
        return true;
    }
    bool is_remainder = ms_expr_is_call_of(expr, "%") || ms_expr_is_call_of(expr, "MOD");
    return is_remainder && ms_type_is_integer(type) && ms_type_is_integer(resolved) &&
           type->kind <= resolved->kind;
}

static bool check_call(reader *r, const ms_expr *expr)
{
    const ms_type **types = ms_arena_array(r->arena, const ms_type *, expr->child_count);
    const ms_value **constants = ms_arena_array(r->arena, const ms_value *, expr->child_count);
    for (uint32_t i = 0; i < expr->child_count; i++) {
        types[i] = expr->children[i]->type;
        constants[i] = expr->children[i]->value;
    }
    ms_fn_args args = {expr->child_count, types, constants};
    ms_fn_resolved resolved;
    ms_status st = {0};
    if (ms_fn_resolve_fn(r->arena, expr->fn, &args, ms_span_none, &resolved, &st) != MS_OK ||
        !result_agrees(expr, resolved.result_type)) {
        return false;
    }
    for (uint32_t i = 0; i < expr->child_count; i++) {
        if (!ms_type_same_shape(resolved.arg_types[i], types[i])) {
            return false;
        }
    }
    return true;
}

static bool is_bound(const reader *r, const ms_expr *expr)
{
    const binding *found = r->bindings;
    while (found != NULL && found->id != expr->index) {
        found = found->outer;
    }
    return found != NULL && ms_type_equals(found->type, expr->type);
}

static bool check_node(reader *r, const ms_expr *expr)
{
    const ms_expr *first = expr->child_count > 0 ? expr->children[0] : NULL;
    switch (expr->kind) {
    case MS_EXPR_COLUMN:
    case MS_EXPR_CONST:
        return expr->child_count == 0;
    case MS_EXPR_CALL:
        return check_call(r, expr);
    case MS_EXPR_AND:
    case MS_EXPR_OR:
        for (uint32_t i = 0; i < expr->child_count; i++) {
            if (!is_boolean(expr->children[i])) {
                return false;
            }
        }
        return expr->child_count >= 2 && is_boolean(expr);
    case MS_EXPR_CASE:
        return check_case(expr);
    case MS_EXPR_IF:
        return expr->child_count == 3 && check_case(expr);
    case MS_EXPR_COALESCE:
        for (uint32_t i = 0; i < expr->child_count; i++) {
            if (!ms_type_same_shape(expr->children[i]->type, expr->type)) {
                return false;
            }
        }
        return expr->child_count >= 1;
    case MS_EXPR_CAST:
    case MS_EXPR_TRY_CAST: {
        ms_cast_class class =
            expr->child_count == 1 ? ms_typing_cast_class(first->type, expr->type) : MS_CAST_NONE;
        return class == MS_CAST_INFALLIBLE || class == MS_CAST_FALLIBLE;
    }
    case MS_EXPR_FIELD:
        return expr->child_count == 1 && first->type->kind == MS_TYPE_ROW &&
               expr->index < first->type->child_count &&
               ms_type_same_shape(first->type->children[expr->index], expr->type);
    case MS_EXPR_LET:
        return expr->child_count == 2 && ms_type_equals(expr->children[1]->type, expr->type);
    case MS_EXPR_REF:
        return expr->child_count == 0 && is_bound(r, expr);
    case MS_EXPR_KIND_COUNT:
        break;
    }
    return false;
}

static ms_rc read_expr(reader *r, const ms_expr **expr_out);

static ms_rc read_children(reader *r, ms_expr *expr)
{
    uint32_t capacity = 4;
    const ms_expr **children = ms_arena_array(r->arena, const ms_expr *, capacity);
    binding own = {.id = expr->index, .outer = r->bindings};
    while (!take(r, ')')) {
        if (expr->kind == MS_EXPR_LET && expr->child_count == 1) {
            own.type = children[0]->type;
            r->bindings = &own;
        }
        if (expr->child_count == capacity) {
            const ms_expr **more = ms_arena_array(r->arena, const ms_expr *, (size_t)capacity * 2);
            memcpy(more, children, capacity * sizeof(*children));
            children = more;
            capacity *= 2;
        }
        MS_TRY(read_expr(r, &children[expr->child_count]));
        expr->child_count++;
    }
    r->bindings = own.outer;
    expr->children = children;
    return MS_OK;
}

static ms_rc read_head(reader *r, ms_expr *expr)
{
    ms_str word = take_word(r);
    ms_str name = {NULL, 0};
    size_t i = 0;
    while (i < WORD_COUNT && !ms_str_equals(word, ms_str_cstr(words[i].word))) {
        i++;
    }
    if (i == WORD_COUNT) {
        return corrupt(r, "a kind");
    }
    expr->kind = words[i].kind;
    if (expr->kind == MS_EXPR_CALL) {
        MS_TRY(read_text(r, &name));
        expr->fn = ms_fn_find(name);
        if (expr->fn == NULL || expr->fn->desc->kind != MS_FN_SCALAR ||
            (expr->fn->form != MS_FORM_NONE && expr->fn->form != MS_FORM_IN) ||
            (expr->fn->desc->infer == NULL && expr->fn->desc->eval == NULL &&
             expr->fn->desc->specialize == NULL)) {
            return corrupt(r, "a function");
        }
    }
    if (has_index(expr->kind)) {
        MS_TRY(read_number(r, &expr->index));
        if (expr->kind == MS_EXPR_COLUMN && expr->index >= MS_LIMIT_COLUMNS) {
            return corrupt(r, "a column");
        }
    }
    MS_TRY(read_type(r, &expr->type));
    MS_TRY(read_number(r, &expr->span.start));
    return read_number(r, &expr->span.end);
}

static ms_rc read_expr(reader *r, const ms_expr **expr_out)
{
    if (r->depth >= 2 * MS_LIMIT_EXPR_DEPTH || r->nodes >= MS_LIMIT_AST_NODES) {
        return corrupt(r, "too large an expression");
    }
    ms_expr *expr = ms_arena_new(r->arena, ms_expr);
    r->depth++;
    r->nodes++;
    if (!take(r, '(')) {
        return corrupt(r, "an expression");
    }
    MS_TRY(read_head(r, expr));
    if (expr->kind == MS_EXPR_CONST) {
        ms_value *value = ms_arena_new(r->arena, ms_value);
        MS_TRY(read_value(r, expr->type, value));
        expr->value = value;
    }
    MS_TRY(read_children(r, expr));
    if (!check_node(r, expr)) {
        return corrupt(r, "types that do not fit");
    }
    r->depth--;
    *expr_out = expr;
    return MS_OK;
}

ms_rc ms_expr_read(ms_arena *arena, ms_str *text_inout, const ms_expr **expr_out, ms_status *st)
{
    reader r = {.arena = arena, .text = *text_inout, .st = st};
    MS_TRY(read_expr(&r, expr_out));
    *text_inout = ms_str_slice(*text_inout, r.at, text_inout->bytes);
    return MS_OK;
}
