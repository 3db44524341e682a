/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The course of planning, and the tools that several rules use.
 */
#include "opt/opt.h"

#include "base/limits.h"
#include "opt/opt_priv.h"

static ms_rc optimize(msi_opt *opt)
{
    msi_fold(opt);
    msi_push_filters(opt);
    msi_normalize(opt); /* projections meet where filters stood between them */
    msi_fold(opt);
    msi_share_scans(opt);
    MS_TRY(msi_push_into_scans(opt));
    return msi_prune_columns(opt);
}

ms_rc ms_opt_plan(const ms_opt_env *env, const ms_lplan *logical, const ms_plan **plan_out,
                  ms_status *st)
{
    MS_ASSERT(env->settings.parallelism >= 1 && env->settings.parallelism <= MS_LIMIT_PARALLELISM);
    *plan_out = NULL;
    msi_opt opt = {.env = env,
                   .arena = env->arena,
                   .st = st,
                   .is_streaming = logical->is_streaming,
                   .eval = {.time_zone = env->settings.local_time_zone,
                            .overflow_is_error = env->settings.overflow_is_error},
                   .root_count = logical->root_count};
    opt.roots = ms_arena_array(env->arena, const ms_lnode *, logical->root_count);
    for (uint32_t i = 0; i < logical->root_count; i++) {
        opt.roots[i] = logical->roots[i];
    }
    MS_TRY(msi_attach(&opt));
    msi_normalize(&opt);
    MS_TRY(msi_validate(&opt));
    if (env->settings.optimize) {
        MS_TRY(optimize(&opt));
        msi_normalize(&opt);
    }
    msi_works works = {0};
    msi_implement(&opt, &works);
    MS_TRY(msi_settle_changelog(&opt, &works));
    MS_TRY(msi_place_exchanges(&opt, &works));
    return msi_seal(&opt, &works, plan_out);
}

/* Rewriting. */

const ms_lnode *msi_rewrite(msi_opt *opt, const ms_lnode *node, msi_rule rule)
{
    if (node->input_count > 0) {
        const ms_lnode **inputs = ms_arena_array(opt->arena, const ms_lnode *, node->input_count);
        bool is_changed = false;
        for (uint32_t i = 0; i < node->input_count; i++) {
            inputs[i] = msi_rewrite(opt, node->inputs[i], rule);
            is_changed = is_changed || inputs[i] != node->inputs[i];
        }
        if (is_changed) {
            node = ms_lnode_with_inputs(opt->arena, node, inputs);
        }
    }
    return rule(opt, node);
}

void msi_rewrite_roots(msi_opt *opt, msi_rule rule)
{
    for (uint32_t i = 0; i < opt->root_count; i++) {
        opt->roots[i] = msi_rewrite(opt, opt->roots[i], rule);
    }
}

const ms_lnode *msi_with_input(msi_opt *opt, const ms_lnode *node, const ms_lnode *input)
{
    MS_ASSERT(node->input_count == 1);
    return input == node->inputs[0] ? node : ms_lnode_with_inputs(opt->arena, node, &input);
}

const ms_lnode *msi_empty(msi_opt *opt, const ms_lnode *node)
{
    return ms_lnode_values(opt->arena, &node->schema, NULL, 0, node->span);
}

bool msi_is_empty(const ms_lnode *node)
{
    return node->kind == MS_LNODE_VALUES && node->u.values.row_count == 0;
}

static bool exprs_are_pure(const ms_expr *const *exprs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!ms_expr_is_pure(exprs[i])) {
            return false;
        }
    }
    return true;
}

static bool node_is_pure(const ms_lnode *node)
{
    size_t columns = node->schema.column_count;
    switch (node->kind) {
    case MS_LNODE_VALUES:
        return exprs_are_pure(node->u.values.cells, columns * node->u.values.row_count);
    case MS_LNODE_PROJECT:
        return exprs_are_pure(node->u.project.exprs, columns);
    case MS_LNODE_FILTER:
        return ms_expr_is_pure(node->u.filter.condition);
    case MS_LNODE_WATERMARK:
        return ms_expr_is_pure(node->u.watermark.expr);
    case MS_LNODE_SCAN:
    case MS_LNODE_AGGREGATE:
    case MS_LNODE_UNION:
    case MS_LNODE_SORT:
    case MS_LNODE_LIMIT:
    case MS_LNODE_SINK:
    case MS_LNODE_COLLECT:
        return true;
    case MS_LNODE_KIND_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

bool msi_is_pure(const ms_lnode *node)
{
    for (uint32_t i = 0; i < node->input_count; i++) {
        if (!msi_is_pure(node->inputs[i])) {
            return false;
        }
    }
    return node_is_pure(node);
}

/* Expressions. */

msi_conjuncts msi_conjuncts_of(msi_opt *opt, const ms_expr *condition)
{
    uint32_t count = ms_expr_conjuncts(condition, NULL, 0);
    const ms_expr **items = ms_arena_array(opt->arena, const ms_expr *, count);
    (void)ms_expr_conjuncts(condition, items, count);
    return (msi_conjuncts){items, count};
}

const ms_expr *msi_conjunction(msi_opt *opt, const ms_expr *const *items, uint32_t count)
{
    if (count <= 1) {
        return count == 0 ? NULL : items[0];
    }
    bool nullable = false;
    ms_span span = items[0]->span;
    for (uint32_t i = 0; i < count; i++) {
        nullable = nullable || items[i]->type->nullable;
        span.start = items[i]->span.start < span.start ? items[i]->span.start : span.start;
        span.end = items[i]->span.end > span.end ? items[i]->span.end : span.end;
    }
    const ms_type *type = ms_type_simple(opt->arena, MS_TYPE_BOOLEAN, nullable);
    return ms_expr_node(opt->arena, MS_EXPR_AND, NULL, type, items, count, span);
}

const ms_expr **msi_columns_of(msi_opt *opt, const ms_schema *schema)
{
    const ms_expr **columns = ms_arena_array(opt->arena, const ms_expr *, schema->column_count);
    for (uint32_t i = 0; i < schema->column_count; i++) {
        columns[i] = ms_expr_column(opt->arena, i, schema->columns[i].type, ms_span_none);
    }
    return columns;
}

const ms_str *msi_names_of(msi_opt *opt, const ms_schema *schema)
{
    ms_str *names = ms_arena_array(opt->arena, ms_str, schema->column_count);
    for (uint32_t i = 0; i < schema->column_count; i++) {
        names[i] = schema->columns[i].name;
    }
    return names;
}

uint32_t msi_expr_size(const ms_expr *expr, const ms_expr *const *columns)
{
    if (expr->kind == MS_EXPR_COLUMN && columns != NULL) {
        return msi_expr_size(columns[expr->index], NULL);
    }
    uint64_t size = 1;
    for (uint32_t i = 0; i < expr->child_count && size < MSI_EXPR_NODES_MAX; i++) {
        size += msi_expr_size(expr->children[i], columns);
    }
    return size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
}

uint32_t msi_expr_depth(const ms_expr *expr, const ms_expr *const *columns)
{
    if (expr->kind == MS_EXPR_COLUMN && columns != NULL) {
        return msi_expr_depth(columns[expr->index], NULL);
    }
    uint32_t deepest = 0;
    for (uint32_t i = 0; i < expr->child_count; i++) {
        uint32_t depth = msi_expr_depth(expr->children[i], columns);
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest + 1;
}

/* Visits an expression; stays true while all columns referred to may be evaluated at will. */
typedef struct column_check {
    const ms_expr *const *columns;
    bool is_shareable;
} column_check;

static bool check_column(void *ctx, const ms_expr *expr)
{
    column_check *check = ctx;
    if (expr->kind == MS_EXPR_COLUMN && !ms_expr_is_shareable(check->columns[expr->index])) {
        check->is_shareable = false;
    }
    return check->is_shareable;
}

bool msi_can_substitute(const ms_expr *expr, const ms_expr *const *columns)
{
    column_check check = {columns, true};
    ms_expr_walk(expr, check_column, &check);
    return check.is_shareable && msi_expr_size(expr, columns) <= MSI_EXPR_NODES_MAX &&
           msi_expr_depth(expr, columns) <= MS_LIMIT_EXPR_DEPTH;
}
