/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building calls and casts: names are resolved by the registry, operands are cast to what it asks
 * for. The forms are in build_form.c, literals in build_literal.c.
 */
#include "expr/build.h"

#include "expr/expr_priv.h"
#include "expr/interp.h"
#include "func/cast.h"
#include "func/typing.h"

/* Constants. */

/* True when the result may depend on the session: its zone, or how overflow is taken. */
static bool has_zone(const ms_type *type)
{
    if (type->kind == MS_TYPE_TIMESTAMP_LTZ) {
        return true;
    }
    for (uint32_t i = 0; i < type->child_count; i++) {
        if (has_zone(type->children[i])) {
            return true;
        }
    }
    return false;
}

static bool uses_zone(const ms_expr *expr)
{
    if (has_zone(expr->type)) {
        return true;
    }
    for (uint32_t i = 0; i < expr->child_count; i++) {
        if (uses_zone(expr->children[i])) {
            return true;
        }
    }
    return false;
}

const ms_expr *msi_build_fold(ms_expr_builder *b, const ms_expr *expr)
{
    /* With overflow as an error, what folds is the same under either setting. */
    ms_eval_config config = {.overflow_is_error = true, .zone = ms_zone_utc()};
    if (expr->kind == MS_EXPR_CONST || !ms_expr_is_constant(expr) || !ms_expr_is_shareable(expr) ||
        uses_zone(expr)) {
        return expr;
    }
    return ms_interp_fold(b->arena, &config, expr);
}

/* Operands used twice. */

/* So simple that writing it twice costs nothing, and rules about columns still see it. */
static bool is_simple(const ms_expr *expr)
{
    switch (expr->kind) {
    case MS_EXPR_COLUMN:
    case MS_EXPR_CONST:
    case MS_EXPR_REF:
        return true;
    case MS_EXPR_FIELD:
    case MS_EXPR_CAST:
        return is_simple(expr->children[0]);
    case MS_EXPR_CALL:
    case MS_EXPR_AND:
    case MS_EXPR_OR:
    case MS_EXPR_CASE:
    case MS_EXPR_IF:
    case MS_EXPR_COALESCE:
    case MS_EXPR_TRY_CAST:
    case MS_EXPR_LET:
    case MS_EXPR_KIND_COUNT:
        break;
    }
    return false;
}

msi_shared msi_build_share(ms_expr_builder *b, const ms_expr *expr)
{
    if (is_simple(expr)) {
        return (msi_shared){.value = expr, .use = expr};
    }
    ms_expr *ref = ms_arena_new(b->arena, ms_expr);
    *ref = (ms_expr){
        .kind = MS_EXPR_REF, .index = b->let_count++, .span = expr->span, .type = expr->type};
    return (msi_shared){.value = expr, .use = ref, .is_let = true, .id = ref->index};
}

const ms_expr *msi_build_let(ms_expr_builder *b, const msi_shared *shared, const ms_expr *body)
{
    if (!shared->is_let) {
        return body;
    }
    const ms_expr *children[2] = {shared->value, body};
    ms_expr *let = ms_arena_new(b->arena, ms_expr);
    *let = *ms_expr_node(b->arena, MS_EXPR_LET, NULL, body->type, children, 2, body->span);
    let->index = shared->id;
    return let;
}

/* Conversions. */

static const ms_expr *typed_null(ms_expr_builder *b, const ms_type *type, ms_span span)
{
    ms_value value = ms_value_null(ms_type_as_nullable(b->arena, type, true));
    return ms_expr_const(b->arena, &value, span);
}

static const ms_expr *cast_node(ms_expr_builder *b, const ms_expr *expr, const ms_type *target,
                                ms_expr_kind kind, ms_span span)
{
    const ms_type *type =
        ms_typing_cast_result(b->arena, expr->type, target, kind == MS_EXPR_TRY_CAST);
    return ms_expr_node(b->arena, kind, NULL, type, &expr, 1, span);
}

/* Reads a text literal that stands for a date or timestamp, so that a fault shows at planning. */
static ms_rc read_temporal(ms_expr_builder *b, const ms_expr *text, const ms_type *wanted,
                           const ms_expr **expr_out)
{
    ms_eval_config config = {.zone = ms_zone_utc()};
    ms_status st = {0};
    ms_value value;
    if (ms_cast_value(b->arena, &config, text->value, wanted, &value, &st) != MS_OK) {
        ms_status_set(b->st, MS_INVALID_LITERAL, text->span, "'%.*s' is not a %.*s",
                      MS_STR_ARG(ms_str_slice(text->value->u.str, 0, 80)),
                      MS_STR_ARG(ms_type_text_bare(b->arena, wanted)));
        return b->st->code;
    }
    value.type = ms_type_as_nullable(b->arena, wanted, false);
    *expr_out = wanted->kind == MS_TYPE_TIMESTAMP_LTZ
                    ? cast_node(b, text, wanted, MS_EXPR_CAST, text->span)
                    : ms_expr_const(b->arena, &value, text->span);
    return MS_OK;
}

static bool is_same_type(ms_arena *arena, const ms_type *a, const ms_type *b)
{
    return ms_type_equals(ms_type_as_nullable(arena, a, true), ms_type_as_nullable(arena, b, true));
}

ms_rc msi_build_convert(ms_expr_builder *b, const ms_expr *expr, const ms_type *wanted,
                        const ms_expr **expr_out)
{
    if (expr->type->kind == MS_TYPE_NULL) {
        *expr_out = typed_null(b, wanted, expr->span);
        return MS_OK;
    }
    if (is_same_type(b->arena, expr->type, wanted)) {
        *expr_out = expr;
        return MS_OK;
    }
    bool reads_text = ms_type_is_character(expr->type) && !ms_type_is_character(wanted);
    if (reads_text && expr->kind == MS_EXPR_CONST && !expr->value->is_null) {
        return read_temporal(b, expr, wanted, expr_out);
    }
    *expr_out =
        cast_node(b, expr, wanted, reads_text ? MS_EXPR_TRY_CAST : MS_EXPR_CAST, expr->span);
    return MS_OK;
}

/* Calls. */

/* What a function says about its constants only when it is prepared: a bad LIKE pattern. */
static ms_rc check_constants(ms_expr_builder *b, const ms_fn *fn, const ms_expr *const *args,
                             uint32_t count, const ms_type *type, ms_span span)
{
    const ms_type **types = ms_arena_array(b->arena, const ms_type *, count);
    const ms_value **constants = ms_arena_array(b->arena, const ms_value *, count);
    bool has_constant = false;
    for (uint32_t i = 0; i < count; i++) {
        types[i] = args[i]->type;
        constants[i] = args[i]->value;
        has_constant = has_constant || args[i]->kind == MS_EXPR_CONST;
    }
    if (!has_constant) {
        return MS_OK;
    }
    ms_arena scratch;
    ms_arena_init(&scratch, 0);
    ms_fn_args fn_args = {count, types, constants};
    ms_eval_config config = {.zone = ms_zone_utc()};
    ms_fn_prepared prepared;
    ms_rc rc = ms_fn_prepare(&scratch, fn, &fn_args, type, &config, &prepared, b->st);
    ms_arena_release(&scratch);
    if (rc != MS_OK) {
        ms_status_place(b->st, span);
    }
    return rc;
}

ms_rc msi_build_function(ms_expr_builder *b, const ms_fn *fn, const ms_expr *const *args,
                         uint32_t count, ms_span span, const ms_expr **expr_out)
{
    const ms_type **types = ms_arena_array(b->arena, const ms_type *, count);
    const ms_value **constants = ms_arena_array(b->arena, const ms_value *, count);
    const ms_expr **cast = ms_arena_array(b->arena, const ms_expr *, count);
    for (uint32_t i = 0; i < count; i++) {
        types[i] = args[i]->type;
        constants[i] = args[i]->value;
    }
    ms_fn_args fn_args = {count, types, constants};
    ms_fn_resolved resolved;
    MS_TRY(ms_fn_resolve_fn(b->arena, fn, &fn_args, span, &resolved, b->st));
    for (uint32_t i = 0; i < count; i++) {
        MS_TRY(msi_build_convert(b, args[i], resolved.arg_types[i], &cast[i]));
    }
    MS_TRY(check_constants(b, fn, cast, count, resolved.result_type, span));
    *expr_out = ms_expr_node(b->arena, MS_EXPR_CALL, fn, resolved.result_type, cast, count, span);
    return MS_OK;
}

ms_rc ms_build_call(ms_expr_builder *b, ms_str name, const ms_expr *const *args, uint32_t count,
                    ms_span span, const ms_expr **expr_out)
{
    const ms_fn *fn = name.bytes > 0 && name.ptr[0] == '$' ? NULL : ms_fn_find(name);
    *expr_out = NULL;
    if (!ms_status_is_ok(b->st)) {
        return b->st->code;
    }
    if (fn == NULL) {
        ms_fn_resolved none;
        ms_fn_args no_args = {0};
        if (name.bytes > 0 && name.ptr[0] == '$') {
            return ms_fn_report_unknown(name, span, b->st);
        }
        return ms_fn_resolve(b->arena, name, &no_args, span, &none, b->st);
    }
    return fn->form != MS_FORM_NONE ? msi_build_form(b, fn, args, count, span, expr_out)
                                    : msi_build_function(b, fn, args, count, span, expr_out);
}

ms_rc ms_build_unary(ms_expr_builder *b, const char *name, const ms_expr *arg, ms_span span,
                     const ms_expr **expr_out)
{
    return ms_build_call(b, ms_str_cstr(name), &arg, 1, span, expr_out);
}

ms_rc ms_build_binary(ms_expr_builder *b, const char *name, const ms_expr *left,
                      const ms_expr *right, ms_span span, const ms_expr **expr_out)
{
    const ms_expr *args[2] = {left, right};
    return ms_build_call(b, ms_str_cstr(name), args, 2, span, expr_out);
}

/* Casts. */

static ms_rc refuse_cast(ms_expr_builder *b, const ms_type *from, const ms_type *to,
                         ms_cast_class class, bool is_implicit, ms_span span)
{
    ms_str from_text = ms_type_text_bare(b->arena, from);
    ms_str to_text = ms_type_text_bare(b->arena, to);
    if (class == MS_CAST_UNBUILT) {
        return ms_status_set(b->st, MS_NOT_SUPPORTED, span,
                             "a cast from %.*s to %.*s is not supported yet", MS_STR_ARG(from_text),
                             MS_STR_ARG(to_text));
    }
    if (is_implicit && class != MS_CAST_NONE) {
        ms_status_set(b->st, MS_TYPE_MISMATCH, span, "%.*s does not become %.*s by itself",
                      MS_STR_ARG(from_text), MS_STR_ARG(to_text));
        return ms_status_hint(b->st, "Write CAST(... AS %.*s).", MS_STR_ARG(to_text));
    }
    ms_status_set(b->st, MS_TYPE_MISMATCH, span, "cannot cast %.*s to %.*s", MS_STR_ARG(from_text),
                  MS_STR_ARG(to_text));
    if (ms_type_is_numeric(from) && to->kind == MS_TYPE_TIMESTAMP_LTZ) {
        ms_status_hint(b->st, "Use TO_TIMESTAMP_LTZ(number, precision).");
    } else if (ms_type_is_numeric(from) && to->kind == MS_TYPE_TIMESTAMP) {
        ms_status_hint(b->st, "Use TO_TIMESTAMP(text) or TO_TIMESTAMP_LTZ(number, precision).");
    }
    return b->st->code;
}

ms_rc ms_build_cast(ms_expr_builder *b, const ms_expr *expr, const ms_type *target,
                    ms_build_cast_mode mode, ms_span span, const ms_expr **expr_out)
{
    *expr_out = NULL;
    if (!ms_status_is_ok(b->st)) {
        return b->st->code;
    }
    ms_cast_class class = ms_typing_cast_class(expr->type, target);
    const ms_type *open = ms_type_as_nullable(b->arena, target, true);
    if (expr->type->kind == MS_TYPE_NULL) {
        if (class == MS_CAST_UNBUILT) {
            return refuse_cast(b, expr->type, target, class, false, span);
        }
        *expr_out = typed_null(b, target, span);
        return MS_OK;
    }
    if (is_same_type(b->arena, expr->type, target)) {
        *expr_out = expr;
        return MS_OK;
    }
    bool is_implicit = mode == MS_BUILD_IMPLICIT;
    if (class == MS_CAST_NONE || class == MS_CAST_UNBUILT ||
        (is_implicit && !ms_typing_casts_implicitly(expr->type, open))) {
        return refuse_cast(b, expr->type, target, class, is_implicit, span);
    }
    *expr_out = cast_node(b, expr, target,
                          mode == MS_BUILD_TRY_CAST ? MS_EXPR_TRY_CAST : MS_EXPR_CAST, span);
    return MS_OK;
}

ms_rc ms_build_field(ms_expr_builder *b, const ms_expr *row, ms_str name, ms_span span,
                     const ms_expr **expr_out)
{
    const ms_type *type = row->type;
    *expr_out = NULL;
    if (!ms_status_is_ok(b->st)) {
        return b->st->code;
    }
    if (type->kind != MS_TYPE_ROW) {
        return ms_status_set(b->st, MS_TYPE_MISMATCH, span,
                             "cannot take field \"%.*s\" of a value of type %.*s", MS_STR_ARG(name),
                             MS_STR_ARG(ms_type_text_bare(b->arena, type)));
    }
    ms_str nearest = {NULL, 0};
    unsigned distance = 3;
    for (uint32_t i = 0; i < type->child_count; i++) {
        if (ms_str_equals(type->names[i], name)) {
            bool nullable = type->nullable || type->children[i]->nullable;
            *expr_out = ms_expr_field(
                b->arena, row, i, ms_type_as_nullable(b->arena, type->children[i], nullable), span);
            return MS_OK;
        }
        unsigned d = ms_str_distance(type->names[i], name, 2);
        nearest = d < distance ? type->names[i] : nearest;
        distance = d < distance ? d : distance;
    }
    ms_status_set(b->st, MS_UNDEFINED_COLUMN, span, "field \"%.*s\" does not exist in %.*s",
                  MS_STR_ARG(name), MS_STR_ARG(ms_type_text_bare(b->arena, type)));
    if (nearest.ptr != NULL) {
        ms_status_hint(b->st, "Did you mean \"%.*s\"?", MS_STR_ARG(nearest));
    }
    return b->st->code;
}

ms_rc ms_build_common(ms_expr_builder *b, const ms_expr **exprs, uint32_t count, const char *what,
                      ms_span span)
{
    const ms_type **types = ms_arena_array(b->arena, const ms_type *, count);
    if (!ms_status_is_ok(b->st)) {
        return b->st->code;
    }
    for (uint32_t i = 0; i < count; i++) {
        types[i] = exprs[i]->type;
    }
    const ms_type *common = ms_typing_common(b->arena, types, count);
    if (common == NULL) {
        uint32_t at = 1;
        while (at + 1 < count && ms_typing_common(b->arena, types, at + 1) != NULL) {
            at++;
        }
        ms_status_set(b->st, MS_TYPE_MISMATCH, span, "%s: %.*s and %.*s have no common type", what,
                      MS_STR_ARG(ms_type_text_bare(b->arena, types[0])),
                      MS_STR_ARG(ms_type_text_bare(b->arena, types[at])));
        return ms_status_hint(b->st, "Cast one of them explicitly.");
    }
    for (uint32_t i = 0; i < count && common->kind != MS_TYPE_NULL; i++) {
        MS_TRY(msi_build_convert(b, exprs[i], common, &exprs[i]));
    }
    return MS_OK;
}
