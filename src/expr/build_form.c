/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Building the forms: what looks like a call, or is spelled as syntax, and decides which of its
 * operands run: AND OR CASE IF COALESCE IFNULL NULLIF BETWEEN IN. Several are rewritten into
 * others; an operand that is then needed twice is bound by LET unless it is a column or constant.
 */
/* tidy: no-unit-test: build_test.c has its cases */
#include "expr/expr_priv.h"
#include "func/typing.h"

/* A condition: BOOLEAN, or NULL as one. */
static ms_rc condition(ms_expr_builder *b, const ms_expr *expr, const char *what,
                       const ms_expr **expr_out)
{
    if (expr->type->kind == MS_TYPE_NULL) {
        return msi_build_convert(b, expr, ms_type_simple(b->arena, MS_TYPE_BOOLEAN, true),
                                 expr_out);
    }
    *expr_out = expr;
    if (expr->type->kind != MS_TYPE_BOOLEAN) {
        return ms_status_set(b->st, MS_TYPE_MISMATCH, expr->span, "%s must be BOOLEAN, not %.*s",
                             what, MS_STR_ARG(ms_type_text_bare(b->arena, expr->type)));
    }
    return MS_OK;
}

static ms_rc wrong_count(ms_expr_builder *b, const ms_fn *fn, uint32_t count, ms_span span)
{
    ms_status_set(b->st, MS_UNDEFINED_FUNCTION, span, "%s does not take %u arguments",
                  fn->desc->name, count);
    return ms_status_detail(b->st, "candidates: %s(%s)", fn->desc->name,
                            fn->desc->signatures[0].args);
}

/* AND and OR: operands that are the same form are taken in, so that chains stay flat. */
static ms_rc build_logic(ms_expr_builder *b, ms_expr_kind kind, const ms_expr *const *args,
                         uint32_t count, ms_span span, const ms_expr **expr_out)
{
    uint32_t total = 0;
    uint32_t at = 0;
    bool nullable = false;
    const char *what = kind == MS_EXPR_AND ? "an operand of AND" : "an operand of OR";
    for (uint32_t i = 0; i < count; i++) {
        total += args[i]->kind == kind ? args[i]->child_count : 1;
    }
    const ms_expr **children = ms_arena_array(b->arena, const ms_expr *, total);
    for (uint32_t i = 0; i < count; i++) {
        bool joins = args[i]->kind == kind;
        for (uint32_t k = 0; joins && k < args[i]->child_count; k++) {
            children[at++] = args[i]->children[k];
        }
        if (!joins) {
            MS_TRY(condition(b, args[i], what, &children[at]));
            at++;
        }
    }
    for (uint32_t i = 0; i < total; i++) {
        nullable = nullable || children[i]->type->nullable;
    }
    const ms_type *type = ms_type_simple(b->arena, MS_TYPE_BOOLEAN, nullable);
    *expr_out = ms_expr_node(b->arena, kind, NULL, type, children, total, span);
    return MS_OK;
}

/* CASE. */

/* WHEN x IS NOT NULL THEN x gives a value that is not NULL. */
static bool is_guarded(const ms_expr *when, const ms_expr *then)
{
    return ms_expr_is_call_of(when, "IS NOT NULL") && ms_expr_equals(when->children[0], then);
}

static ms_rc build_searched(ms_expr_builder *b, const ms_expr *const *whens,
                            const ms_expr *const *thens, uint32_t count, const ms_expr *otherwise,
                            ms_span span, const ms_expr **expr_out)
{
    uint32_t total = 2 * count + 1;
    const ms_expr **children = ms_arena_array(b->arena, const ms_expr *, total);
    const ms_expr **results = ms_arena_array(b->arena, const ms_expr *, count + 1);
    bool nullable = otherwise == NULL || otherwise->type->nullable;
    for (uint32_t i = 0; i < count; i++) {
        MS_TRY(condition(b, whens[i], "the condition of WHEN", &children[(size_t)2 * i]));
        results[i] = thens[i];
        nullable = nullable || (thens[i]->type->nullable && !is_guarded(whens[i], thens[i]));
    }
    results[count] = otherwise != NULL ? otherwise : ms_build_null(b, span);
    MS_TRY(ms_build_common(b, results, count + 1, "the results of CASE", span));
    if (results[0]->type->kind == MS_TYPE_NULL) {
        ms_status_set(b->st, MS_TYPE_MISMATCH, span, "all results of CASE are NULL");
        return ms_status_hint(b->st, "Give one a type: CAST(NULL AS ...).");
    }
    for (uint32_t i = 0; i < count; i++) {
        children[2 * i + 1] = results[i];
    }
    children[(size_t)2 * count] = results[count];
    *expr_out = ms_expr_node(b->arena, MS_EXPR_CASE, NULL,
                             ms_type_as_nullable(b->arena, results[0]->type, nullable), children,
                             total, span);
    return MS_OK;
}

ms_rc ms_build_case(ms_expr_builder *b, const ms_expr *operand, const ms_expr *const *whens,
                    const ms_expr *const *thens, uint32_t count, const ms_expr *otherwise,
                    ms_span span, const ms_expr **expr_out)
{
    *expr_out = NULL;
    if (!ms_status_is_ok(b->st)) {
        return b->st->code;
    }
    if (operand == NULL) {
        return build_searched(b, whens, thens, count, otherwise, span, expr_out);
    }
    msi_shared shared = msi_build_share(b, operand);
    const ms_expr **conditions = ms_arena_array(b->arena, const ms_expr *, count);
    for (uint32_t i = 0; i < count; i++) {
        MS_TRY(ms_build_binary(b, "=", shared.use, whens[i], whens[i]->span, &conditions[i]));
    }
    const ms_expr *body = NULL;
    MS_TRY(build_searched(b, conditions, thens, count, otherwise, span, &body));
    *expr_out = msi_build_let(b, &shared, body);
    return MS_OK;
}

/* IF, COALESCE, IFNULL, NULLIF. */

static ms_rc build_if(ms_expr_builder *b, const ms_expr *const *args, ms_span span,
                      const ms_expr **expr_out)
{
    const ms_expr *children[3] = {NULL, args[1], args[2]};
    bool nullable = args[0]->type->nullable || args[1]->type->nullable || args[2]->type->nullable;
    MS_TRY(condition(b, args[0], "the condition of IF", &children[0]));
    if (ms_type_is_nested(args[1]->type) || ms_type_is_nested(args[2]->type)) {
        ms_status_set(b->st, MS_NOT_SUPPORTED, span, "IF does not take %.*s",
                      MS_STR_ARG(ms_type_text_bare(b->arena, args[1]->type)));
        return ms_status_hint(b->st, "Use CASE WHEN ... THEN ... ELSE ... END.");
    }
    MS_TRY(ms_build_common(b, children + 1, 2, "the results of IF", span));
    if (children[1]->type->kind == MS_TYPE_NULL) {
        ms_status_set(b->st, MS_TYPE_MISMATCH, span, "both results of IF are NULL");
        return ms_status_hint(b->st, "Give one a type: CAST(NULL AS ...).");
    }
    *expr_out =
        ms_expr_node(b->arena, MS_EXPR_IF, NULL,
                     ms_type_as_nullable(b->arena, children[1]->type, nullable), children, 3, span);
    return MS_OK;
}

static ms_rc build_coalesce(ms_expr_builder *b, const ms_expr *const *args, uint32_t count,
                            ms_span span, const ms_expr **expr_out)
{
    const ms_expr **children = ms_arena_array(b->arena, const ms_expr *, count);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (args[i]->type->kind != MS_TYPE_NULL) {
            children[kept++] = args[i];
        }
    }
    if (kept == 0) {
        *expr_out = ms_build_null(b, span);
        return MS_OK;
    }
    MS_TRY(ms_build_common(b, children, kept, "the arguments of COALESCE", span));
    /* What follows an argument that is never NULL never runs. */
    uint32_t used = 1;
    while (used < kept && children[used - 1]->type->nullable) {
        used++;
    }
    if (used == 1) {
        *expr_out = children[0];
        return MS_OK;
    }
    const ms_type *type =
        ms_type_as_nullable(b->arena, children[0]->type, children[used - 1]->type->nullable);
    *expr_out = ms_expr_node(b->arena, MS_EXPR_COALESCE, NULL, type, children, used, span);
    return MS_OK;
}

static ms_rc build_ifnull(ms_expr_builder *b, const ms_expr *const *args, ms_span span,
                          const ms_expr **expr_out)
{
    const ms_expr *pair[2] = {args[0], args[1]};
    if (args[0]->type->kind == MS_TYPE_NULL || args[0]->type->nullable) {
        return build_coalesce(b, args, 2, span, expr_out);
    }
    /* The first is never NULL; the second only has to fit. */
    MS_TRY(ms_build_common(b, pair, 2, "the arguments of IFNULL", span));
    *expr_out = args[0];
    return MS_OK;
}

static ms_rc build_nullif(ms_expr_builder *b, const ms_expr *const *args, ms_span span,
                          const ms_expr **expr_out)
{
    if (args[0]->type->kind == MS_TYPE_NULL) {
        *expr_out = args[0];
        return MS_OK;
    }
    msi_shared shared = msi_build_share(b, args[0]);
    const ms_expr *when = NULL;
    const ms_expr *body = NULL;
    MS_TRY(ms_build_binary(b, "=", shared.use, args[1], span, &when));
    const ms_expr *then = ms_build_null(b, span);
    MS_TRY(build_searched(b, &when, &then, 1, shared.use, span, &body));
    *expr_out = msi_build_let(b, &shared, body);
    return MS_OK;
}

/* BETWEEN. */

static ms_rc in_range(ms_expr_builder *b, const ms_expr *x, const ms_expr *low, const ms_expr *high,
                      ms_span span, const ms_expr **expr_out)
{
    const ms_expr *sides[2] = {NULL, NULL};
    MS_TRY(ms_build_binary(b, ">=", x, low, span, &sides[0]));
    MS_TRY(ms_build_binary(b, "<=", x, high, span, &sides[1]));
    return build_logic(b, MS_EXPR_AND, sides, 2, span, expr_out);
}

static ms_rc build_between(ms_expr_builder *b, const ms_fn *fn, const ms_expr *const *args,
                           ms_span span, const ms_expr **expr_out)
{
    ms_str name = ms_fn_name(fn);
    bool is_symmetric = ms_str_ends_with(name, ms_str_lit("SYMMETRIC"));
    msi_shared x = msi_build_share(b, args[0]);
    msi_shared low = {.use = args[1]};
    msi_shared high = {.use = args[2]};
    const ms_expr *body = NULL;
    if (is_symmetric) {
        const ms_expr *sides[2] = {NULL, NULL};
        low = msi_build_share(b, args[1]);
        high = msi_build_share(b, args[2]);
        MS_TRY(in_range(b, x.use, low.use, high.use, span, &sides[0]));
        MS_TRY(in_range(b, x.use, high.use, low.use, span, &sides[1]));
        MS_TRY(build_logic(b, MS_EXPR_OR, sides, 2, span, &body));
    } else {
        MS_TRY(in_range(b, x.use, low.use, high.use, span, &body));
    }
    if (ms_str_starts_with(name, ms_str_lit("NOT"))) {
        MS_TRY(ms_build_unary(b, "NOT", body, span, &body));
    }
    body = msi_build_let(b, &high, body);
    body = msi_build_let(b, &low, body);
    *expr_out = msi_build_let(b, &x, body);
    return MS_OK;
}

/* IN. */

static bool is_exact(const ms_type *type)
{
    return type->kind == MS_TYPE_DECIMAL || ms_type_is_integer(type);
}

/*
 * True when bringing both to the common type keeps every digit, so that equality stays what it is.
 */
static bool is_lossless(const ms_type *a, const ms_type *b, const ms_type *common)
{
    if (!is_exact(a) || !is_exact(b)) {
        return true;
    }
    int32_t p1 = 0;
    int32_t s1 = 0;
    int32_t p2 = 0;
    int32_t s2 = 0;
    int32_t p = 0;
    int32_t s = 0;
    ms_typing_decimal_of(a, &p1, &s1);
    ms_typing_decimal_of(b, &p2, &s2);
    ms_typing_decimal_of(common, &p, &s);
    return s >= s1 && s >= s2 && p - s >= p1 - s1 && p - s >= p2 - s2;
}

/* The elements as constants of the common type with x; false when a hash set would not do. */
static ms_rc constant_list(ms_expr_builder *b, const ms_expr **args, uint32_t count,
                           bool *is_set_out)
{
    const ms_type **types = ms_arena_array(b->arena, const ms_type *, count);
    *is_set_out = false;
    for (uint32_t i = 0; i < count; i++) {
        args[i] = i > 0 ? msi_build_fold(b, args[i]) : args[i];
        types[i] = args[i]->type;
        if (i > 0 && args[i]->kind != MS_EXPR_CONST) {
            return MS_OK;
        }
    }
    const ms_type *common = ms_typing_common(b->arena, types, count);
    if (common == NULL || common->kind == MS_TYPE_NULL) {
        return MS_OK;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (types[i]->kind != MS_TYPE_NULL && !is_lossless(types[0], types[i], common)) {
            return MS_OK;
        }
    }
    for (uint32_t i = 0; i < count && common->phys != MS_PHYS_STR; i++) {
        MS_TRY(msi_build_convert(b, args[i], common, &args[i]));
        args[i] = i > 0 ? msi_build_fold(b, args[i]) : args[i];
        if (i > 0 && args[i]->kind != MS_EXPR_CONST) {
            return MS_OK;
        }
    }
    *is_set_out = true;
    return MS_OK;
}

static ms_rc build_in_chain(ms_expr_builder *b, const ms_expr *const *args, uint32_t count,
                            ms_span span, const ms_expr **expr_out)
{
    msi_shared x = msi_build_share(b, args[0]);
    const ms_expr **tests = ms_arena_array(b->arena, const ms_expr *, count);
    for (uint32_t i = 1; i < count; i++) {
        MS_TRY(ms_build_binary(b, "=", x.use, args[i], args[i]->span, &tests[i - 1]));
    }
    const ms_expr *body = tests[0];
    if (count > 2) {
        MS_TRY(build_logic(b, MS_EXPR_OR, tests, count - 1, span, &body));
    }
    *expr_out = msi_build_let(b, &x, body);
    return MS_OK;
}

static ms_rc build_in(ms_expr_builder *b, const ms_fn *fn, const ms_expr *const *args,
                      uint32_t count, ms_span span, const ms_expr **expr_out)
{
    const ms_expr **list = ms_arena_array(b->arena, const ms_expr *, count);
    const ms_type **types = ms_arena_array(b->arena, const ms_type *, count);
    for (uint32_t i = 0; i < count; i++) {
        list[i] = args[i];
        types[i] = args[i]->type;
    }
    if (ms_typing_common(b->arena, types + 1, count - 1) == NULL) {
        return ms_status_set(b->st, MS_TYPE_MISMATCH, span,
                             "the elements of the IN list have no common type");
    }
    bool is_set = false;
    const ms_expr *found = NULL;
    MS_TRY(constant_list(b, list, count, &is_set));
    if (is_set) {
        MS_TRY(msi_build_function(b, ms_fn_find(ms_str_lit("IN")), list, count, span, &found));
    } else {
        MS_TRY(build_in_chain(b, args, count, span, &found));
    }
    if (ms_str_starts_with(ms_fn_name(fn), ms_str_lit("NOT"))) {
        return ms_build_unary(b, "NOT", found, span, expr_out);
    }
    *expr_out = found;
    return MS_OK;
}

ms_rc msi_build_form(ms_expr_builder *b, const ms_fn *fn, const ms_expr *const *args,
                     uint32_t count, ms_span span, const ms_expr **expr_out)
{
    static const struct {
        uint32_t min;
        uint32_t max;
    } counts[] = {
        [MS_FORM_NONE] = {0, 0},
        [MS_FORM_AND] = {2, UINT32_MAX},
        [MS_FORM_OR] = {2, UINT32_MAX},
        [MS_FORM_IF] = {3, 3},
        [MS_FORM_COALESCE] = {1, UINT32_MAX},
        [MS_FORM_IFNULL] = {2, 2},
        [MS_FORM_NULLIF] = {2, 2},
        [MS_FORM_BETWEEN] = {3, 3},
        [MS_FORM_IN] = {2, UINT32_MAX},
    };
    if (count < counts[fn->form].min || count > counts[fn->form].max) {
        return wrong_count(b, fn, count, span);
    }
    switch (fn->form) {
    case MS_FORM_AND:
        return build_logic(b, MS_EXPR_AND, args, count, span, expr_out);
    case MS_FORM_OR:
        return build_logic(b, MS_EXPR_OR, args, count, span, expr_out);
    case MS_FORM_IF:
        return build_if(b, args, span, expr_out);
    case MS_FORM_COALESCE:
        return build_coalesce(b, args, count, span, expr_out);
    case MS_FORM_IFNULL:
        return build_ifnull(b, args, span, expr_out);
    case MS_FORM_NULLIF:
        return build_nullif(b, args, span, expr_out);
    case MS_FORM_BETWEEN:
        return build_between(b, fn, args, span, expr_out);
    case MS_FORM_IN:
        return build_in(b, fn, args, count, span, expr_out);
    case MS_FORM_NONE:
        break;
    }
    MS_UNREACHABLE();
}
