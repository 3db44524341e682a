/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of functions and of aggregates. An aggregate becomes a column of the AGGREGATE node that
 * the SELECT makes below its select list; equal aggregates become one.
 */
/* tidy: no-unit-test: covered by bind_test.c and bind_error_test.c, through whole statements */
#include "bind/bind_priv.h"

/* What the syntax of a call rules out, for functions and aggregates alike. */
static ms_rc check_call(msi_binder *binder, const ms_ast_call *call)
{
    if (call->over != NULL || !ms_ast_ident_is_absent(call->over_name)) {
        return msi_refuse(binder, call->head.span, "OVER");
    }
    if (call->nulls != MS_AST_NULLS_UNSAID) {
        return msi_refuse(binder, call->head.span,
                          call->nulls == MS_AST_NULLS_IGNORE ? "IGNORE NULLS" : "RESPECT NULLS");
    }
    for (uint32_t i = 0; i < call->arg_count; i++) {
        if (!ms_ast_ident_is_absent(call->args[i].name)) {
            return msi_refuse(binder, call->args[i].name.span, "a named argument");
        }
    }
    return MS_OK;
}

static ms_rc bind_args(msi_binder *binder, msi_scope *scope, const ms_ast_call *call, uint32_t from,
                       const ms_expr ***args_out)
{
    const ms_expr **args = ms_arena_array(binder->arena, const ms_expr *, call->arg_count);
    for (uint32_t i = from; i < call->arg_count; i++) {
        MS_TRY(msi_bind_expr(binder, scope, call->args[i].value, &args[i - from]));
    }
    *args_out = args;
    return MS_OK;
}

/* Functions. */

static ms_rc bind_trim(msi_binder *binder, msi_scope *scope, const ms_ast_call *call,
                       const ms_expr **expr_out)
{
    const ms_expr **args;
    MS_TRY(bind_args(binder, scope, call, 1, &args));
    const ms_expr *swapped[2] = {args[1], args[0]};
    const char *name = "TRIM BOTH";
    switch (ms_ast_symbol_of(call->args[0].value)->side) {
    case MS_AST_TRIM_LEADING:
        name = "TRIM LEADING";
        break;
    case MS_AST_TRIM_TRAILING:
        name = "TRIM TRAILING";
        break;
    case MS_AST_TRIM_NONE:
    case MS_AST_TRIM_BOTH:
    case MS_AST_TRIM_SIDE_COUNT:
        break;
    }
    return ms_build_call(&binder->build, ms_str_cstr(name), swapped, 2, call->head.span, expr_out);
}

static bool has_symbol(const ms_ast_call *call)
{
    for (uint32_t i = 0; i < call->arg_count; i++) {
        if (call->args[i].value->kind == MS_AST_SYMBOL) {
            return true;
        }
    }
    return false;
}

static ms_rc bind_function(msi_binder *binder, msi_scope *scope, const ms_ast_call *call,
                           const ms_expr **expr_out)
{
    const ms_ast_ident *name = &call->name.parts[call->name.count - 1];
    if (call->distinct || call->star || call->filter != NULL) {
        const char *what = call->distinct ? "DISTINCT" : call->star ? "*" : "FILTER";
        return ms_status_set(binder->st, MS_INVALID_QUERY, call->head.span,
                             "%s is for aggregate functions, and %.*s is none", what,
                             MS_STR_ARG(name->text));
    }
    if (call->syntax == MS_AST_CALL_TRIM) {
        return bind_trim(binder, scope, call, expr_out);
    }
    /* Units of time are words, not values: the functions that take them are not built. */
    if (has_symbol(call) || call->name.count > 1) {
        return ms_fn_report_unknown(name->text, call->head.span, binder->st);
    }
    const ms_expr **args;
    MS_TRY(bind_args(binder, scope, call, 0, &args));
    return ms_build_call(&binder->build, name->text, args, call->arg_count, call->head.span,
                         expr_out);
}

/* Aggregates. */

/* The column of the projection below the aggregate that computes expr. */
static uint32_t arg_column(msi_binder *binder, msi_aggs *aggs, const ms_expr *expr)
{
    if (ms_expr_is_shareable(expr)) {
        for (uint32_t i = 0; i < aggs->args.count; i++) {
            if (ms_expr_equals(aggs->args.items[i], expr)) {
                return i;
            }
        }
    }
    msi_exprs_add(binder->arena, &aggs->args, expr);
    return aggs->args.count - 1;
}

static uint32_t add_aggregate(msi_binder *binder, msi_aggs *aggs, const ms_lagg *call)
{
    bool is_shareable =
        call->arg == UINT32_MAX || ms_expr_is_shareable(aggs->args.items[call->arg]);
    for (uint32_t i = 0; i < aggs->count && is_shareable; i++) {
        const ms_lagg *other = &aggs->calls[i];
        if (other->kind == call->kind && other->arg == call->arg && other->filter == call->filter &&
            ms_type_equals(other->result, call->result)) {
            return i;
        }
    }
    if (aggs->count == aggs->capacity) {
        uint32_t capacity = aggs->capacity == 0 ? 8 : aggs->capacity * 2;
        ms_lagg *calls = ms_arena_array(binder->arena, ms_lagg, capacity);
        for (uint32_t i = 0; i < aggs->count; i++) {
            calls[i] = aggs->calls[i];
        }
        aggs->calls = calls;
        aggs->capacity = capacity;
    }
    aggs->calls[aggs->count++] = *call;
    return aggs->count - 1;
}

static ms_rc check_aggregate_place(msi_binder *binder, const msi_scope *scope,
                                   const ms_ast_call *call)
{
    ms_str name = call->name.parts[0].text;
    if (scope->inside_aggregate) {
        return ms_status_set(binder->st, MS_GROUPING_ERROR, call->head.span,
                             "aggregate %.*s stands inside another aggregate", MS_STR_ARG(name));
    }
    if (scope->aggs == NULL) {
        return ms_status_set(binder->st, MS_GROUPING_ERROR, call->head.span,
                             "aggregate %.*s is not allowed in %s", MS_STR_ARG(name),
                             scope->clause);
    }
    return MS_OK;
}

static ms_rc resolve_aggregate(msi_binder *binder, const ms_ast_call *call,
                               const ms_expr *const *args, ms_agg_resolved *resolved_out)
{
    const ms_type **types = ms_arena_array(binder->arena, const ms_type *, call->arg_count);
    for (uint32_t i = 0; i < call->arg_count; i++) {
        types[i] = args[i]->type;
    }
    ms_fn_args fn_args = {.count = call->arg_count, .types = types};
    ms_agg_use use = {.is_distinct = call->distinct, .has_filter = call->filter != NULL};
    ms_str name = call->name.parts[0].text;
    bool is_count = ms_str_equals_nocase(name, ms_str_lit("COUNT"));
    if (call->arg_count == 0 && !(call->star && is_count)) {
        return ms_status_set(binder->st, MS_UNDEFINED_FUNCTION, call->head.span,
                             "aggregate %.*s needs an argument", MS_STR_ARG(name));
    }
    if (call->arg_count > 1 && is_count) {
        return msi_refuse(binder, call->head.span, "COUNT of several arguments");
    }
    return ms_agg_resolve(binder->arena, name, &fn_args, &use, call->head.span, resolved_out,
                          binder->st);
}

static ms_rc bind_aggregate(msi_binder *binder, msi_scope *scope, const ms_ast_call *call,
                            const ms_expr **expr_out)
{
    MS_TRY(check_aggregate_place(binder, scope, call));
    msi_aggs *aggs = scope->aggs;
    msi_scope inner = *scope;
    inner.inside_aggregate = true;
    inner.outputs = NULL;
    const ms_expr **args;
    MS_TRY(bind_args(binder, &inner, call, 0, &args));
    const ms_expr *filter = NULL;
    if (call->filter != NULL) {
        MS_TRY(msi_bind_condition(binder, &inner, call->filter, "FILTER", &filter));
    }
    ms_agg_resolved resolved;
    MS_TRY(resolve_aggregate(binder, call, args, &resolved));
    ms_lagg lagg = {.kind = resolved.kind,
                    .arg = UINT32_MAX,
                    .filter = UINT32_MAX,
                    .result = resolved.result_type,
                    .span = call->head.span};
    if (resolved.arg_count > 0 && resolved.kind != MS_AGG_COUNT_STAR) {
        const ms_expr *arg = args[0];
        if (!ms_type_equals(arg->type, resolved.arg_types[0])) {
            MS_TRY(ms_build_cast(&binder->build, arg, resolved.arg_types[0], MS_BUILD_CAST,
                                 arg->span, &arg));
        }
        lagg.arg = arg_column(binder, aggs, arg);
    }
    if (filter != NULL) {
        lagg.filter = arg_column(binder, aggs, filter);
    }
    uint32_t column = add_aggregate(binder, aggs, &lagg);
    const ms_expr *result =
        ms_expr_column(binder->arena, column, resolved.result_type, call->head.span);
    *expr_out = scope->outputs != NULL ? msi_through_outputs(binder, scope, result) : result;
    return MS_OK;
}

ms_rc msi_bind_call(msi_binder *binder, msi_scope *scope, const ms_ast_call *call,
                    const ms_expr **expr_out)
{
    MS_TRY(check_call(binder, call));
    if (call->name.count == 1 && ms_agg_is_name(call->name.parts[0].text)) {
        return bind_aggregate(binder, scope, call, expr_out);
    }
    return bind_function(binder, scope, call, expr_out);
}
