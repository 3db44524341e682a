/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Constant folding, and what follows from constants:
 *
 *     1 + 1                       2
 *     1 / 0                       stays: it fails when, and only when, a row needs it
 *     a AND TRUE                  a
 *     FALSE AND a                 FALSE: a would not have run
 *     a AND FALSE                 stays, unless a can neither fail nor act: it runs first
 *     CASE WHEN FALSE THEN x ...  without that arm
 *     FILTER that is never TRUE   no rows
 *     anything of no rows         no rows
 *
 * Nothing moves out of an arm that may not run, and nothing with side effects is dropped.
 */
#include "opt/opt_priv.h"

/* Expressions. */

/* May be left out, although it stands where it would run. */
static bool is_droppable(const ms_expr *expr)
{
    return ms_expr_is_pure(expr) && !ms_expr_can_fail(expr);
}

/*
 * AND and OR. `unit` is the value that changes nothing (TRUE for AND), its opposite decides the
 * whole. Operands run left to right until one decides, so what stands behind a deciding one never
 * runs.
 */
static const ms_expr *simplify_logic(ms_arena *arena, const ms_expr *expr)
{
    bool unit = expr->kind == MS_EXPR_AND;
    const ms_expr **kept = ms_arena_array(arena, const ms_expr *, expr->child_count);
    uint32_t count = 0;
    bool are_droppable = true;
    for (uint32_t i = 0; i < expr->child_count; i++) {
        const ms_expr *child = expr->children[i];
        if (ms_expr_is_literal_bool(child, unit)) {
            continue;
        }
        if (ms_expr_is_literal_bool(child, !unit)) {
            if (are_droppable) {
                return child;
            }
            kept[count++] = child;
            break;
        }
        are_droppable = are_droppable && is_droppable(child);
        kept[count++] = child;
    }
    if (count == expr->child_count) {
        return expr;
    }
    if (count == 0) {
        return expr->children[0]; /* all of them are the unit */
    }
    if (count == 1) {
        return kept[0];
    }
    return ms_expr_node(arena, expr->kind, NULL, expr->type, kept, count, expr->span);
}

static bool is_never(const ms_expr *condition)
{
    return ms_expr_is_literal_bool(condition, false) || ms_expr_is_null_literal(condition);
}

/* An arm of a CASE or IF in the place of the whole: of the same type but for nullability. */
static const ms_expr *simplify_case(ms_arena *arena, const ms_expr *expr)
{
    const ms_expr **kept = ms_arena_array(arena, const ms_expr *, expr->child_count);
    uint32_t count = 0;
    uint32_t i = 0;
    const ms_expr *otherwise = expr->children[expr->child_count - 1];
    for (; i + 1 < expr->child_count; i += 2) {
        if (is_never(expr->children[i])) {
            continue;
        }
        if (ms_expr_is_literal_bool(expr->children[i], true)) {
            otherwise = expr->children[i + 1];
            break;
        }
        kept[count++] = expr->children[i];
        kept[count++] = expr->children[i + 1];
    }
    if (count == 0) {
        return otherwise;
    }
    kept[count++] = otherwise;
    if (count == expr->child_count) {
        return expr;
    }
    return ms_expr_node(arena, expr->kind, NULL, expr->type, kept, count, expr->span);
}

static const ms_expr *simplify_if(const ms_expr *expr)
{
    if (is_never(expr->children[0])) {
        return expr->children[2];
    }
    return ms_expr_is_literal_bool(expr->children[0], true) ? expr->children[1] : expr;
}

static const ms_expr *simplify_not(const ms_expr *expr)
{
    const ms_expr *child = expr->children[0];
    return ms_expr_is_call_of(child, "NOT") ? child->children[0] : expr;
}

static bool is_foldable(const ms_expr *expr)
{
    for (uint32_t i = 0; i < expr->child_count; i++) {
        if (expr->children[i]->kind != MS_EXPR_CONST) {
            return false;
        }
    }
    return expr->kind != MS_EXPR_CONST && expr->kind != MS_EXPR_COLUMN &&
           ms_expr_is_shareable(expr);
}

static const ms_expr *fold_node(void *ctx, ms_arena *arena, const ms_expr *expr)
{
    const msi_opt *opt = ctx;
    if (is_foldable(expr)) {
        return ms_interp_fold(arena, &opt->eval, expr);
    }
    switch (expr->kind) {
    case MS_EXPR_AND:
    case MS_EXPR_OR:
        return simplify_logic(arena, expr);
    case MS_EXPR_CASE:
        return simplify_case(arena, expr);
    case MS_EXPR_IF:
        return simplify_if(expr);
    case MS_EXPR_CALL:
        return ms_expr_is_call_of(expr, "NOT") ? simplify_not(expr) : expr;
    case MS_EXPR_COLUMN:
    case MS_EXPR_CONST:
    case MS_EXPR_COALESCE:
    case MS_EXPR_CAST:
    case MS_EXPR_TRY_CAST:
    case MS_EXPR_FIELD:
    case MS_EXPR_LET:
    case MS_EXPR_REF:
        return expr;
    case MS_EXPR_KIND_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

static const ms_expr *fold_expr(msi_opt *opt, const ms_expr *expr)
{
    return ms_expr_rewrite(opt->arena, expr, fold_node, opt);
}

/* Arrays of expressions; the same array when nothing changed. */
static const ms_expr *const *fold_exprs(msi_opt *opt, const ms_expr *const *exprs, size_t count)
{
    const ms_expr **folded = ms_arena_array(opt->arena, const ms_expr *, count);
    bool is_changed = false;
    for (size_t i = 0; i < count; i++) {
        folded[i] = fold_expr(opt, exprs[i]);
        is_changed = is_changed || folded[i] != exprs[i];
    }
    return is_changed ? folded : exprs;
}

/* Nodes. */

static const ms_lnode *fold_project(msi_opt *opt, const ms_lnode *node)
{
    uint32_t count = node->schema.column_count;
    const ms_expr *const *exprs = fold_exprs(opt, node->u.project.exprs, count);
    if (exprs == node->u.project.exprs) {
        return node;
    }
    return ms_lnode_project(opt->arena, node->inputs[0], exprs, msi_names_of(opt, &node->schema),
                            count, node->span);
}

static const ms_lnode *fold_filter(msi_opt *opt, const ms_lnode *node)
{
    const ms_expr *condition = fold_expr(opt, node->u.filter.condition);
    if (ms_expr_is_literal_bool(condition, true)) {
        return node->inputs[0];
    }
    if (is_never(condition) && msi_is_pure(node->inputs[0])) {
        return msi_empty(opt, node);
    }
    if (condition == node->u.filter.condition) {
        return node;
    }
    return ms_lnode_filter(opt->arena, node->inputs[0], condition, node->span);
}

static const ms_lnode *fold_values(msi_opt *opt, const ms_lnode *node)
{
    size_t count = (size_t)node->schema.column_count * node->u.values.row_count;
    const ms_expr *const *cells = fold_exprs(opt, node->u.values.cells, count);
    if (cells == node->u.values.cells) {
        return node;
    }
    return ms_lnode_values(opt->arena, &node->schema, cells, node->u.values.row_count, node->span);
}

static const ms_lnode *fold_union(msi_opt *opt, const ms_lnode *node)
{
    const ms_lnode **inputs = ms_arena_array(opt->arena, const ms_lnode *, node->input_count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < node->input_count; i++) {
        if (!msi_is_empty(node->inputs[i])) {
            inputs[count++] = node->inputs[i];
        }
    }
    if (count == node->input_count) {
        return node;
    }
    if (count == 0) {
        return msi_empty(opt, node);
    }
    return ms_lnode_union(opt->arena, inputs, count, &node->schema, node->span);
}

static const ms_lnode *fold(msi_opt *opt, const ms_lnode *node)
{
    switch (node->kind) {
    case MS_LNODE_PROJECT:
        return msi_is_empty(node->inputs[0]) ? msi_empty(opt, node) : fold_project(opt, node);
    case MS_LNODE_FILTER:
        return msi_is_empty(node->inputs[0]) ? msi_empty(opt, node) : fold_filter(opt, node);
    case MS_LNODE_VALUES:
        return fold_values(opt, node);
    case MS_LNODE_UNION:
        return fold_union(opt, node);
    case MS_LNODE_LIMIT:
    case MS_LNODE_SORT:
    case MS_LNODE_WATERMARK:
        return msi_is_empty(node->inputs[0]) ? msi_empty(opt, node) : node;
    case MS_LNODE_SCAN:
    case MS_LNODE_AGGREGATE:
    case MS_LNODE_SINK:
    case MS_LNODE_COLLECT:
        return node;
    case MS_LNODE_KIND_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

void msi_fold(msi_opt *opt)
{
    msi_rewrite_roots(opt, fold);
}
