/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The normal form: rules that always run, before anything looks at cost. Each removes what does
 * nothing or gives equal meanings one shape:
 *
 *     UNION of UNIONs               one UNION
 *     UNION of one                  the one
 *     FILTER over FILTER            one FILTER, the lower condition first
 *     FILTER TRUE                   nothing
 *     PROJECT that changes nothing  nothing
 *     PROJECT over PROJECT          one PROJECT, where that runs the same
 *     PROJECT over the row of SELECT without FROM      VALUES
 *     WATERMARK in batch mode       nothing: there are no watermarks
 *     LIMIT over LIMIT              one LIMIT
 *     LIMIT that lets all pass      nothing
 *     LIMIT 0                       no rows
 *     LIMIT over PROJECT of SORT    PROJECT of LIMIT over SORT, which is a bounded sort
 *     SORT of at most one row       nothing
 *     SORT under SORT, UNION or AGGREGATE              nothing: nobody sees its order
 */
#include "opt/opt_priv.h"

static const ms_lnode *normalize_union(msi_opt *opt, const ms_lnode *node)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < node->input_count; i++) {
        const ms_lnode *input = node->inputs[i];
        count += input->kind == MS_LNODE_UNION ? input->input_count : 1;
    }
    if (count == 1) {
        return node->inputs[0];
    }
    if (count == node->input_count) {
        return node;
    }
    const ms_lnode **inputs = ms_arena_array(opt->arena, const ms_lnode *, count);
    uint32_t at = 0;
    for (uint32_t i = 0; i < node->input_count; i++) {
        const ms_lnode *input = node->inputs[i];
        if (input->kind != MS_LNODE_UNION) {
            inputs[at++] = input;
            continue;
        }
        for (uint32_t k = 0; k < input->input_count; k++) {
            inputs[at++] = input->inputs[k];
        }
    }
    return ms_lnode_union(opt->arena, inputs, count, &node->schema, node->span);
}

static const ms_lnode *normalize_filter(msi_opt *opt, const ms_lnode *node)
{
    const ms_lnode *input = node->inputs[0];
    if (ms_expr_is_literal_bool(node->u.filter.condition, true)) {
        return input;
    }
    if (input->kind != MS_LNODE_FILTER) {
        return node;
    }
    msi_conjuncts lower = msi_conjuncts_of(opt, input->u.filter.condition);
    msi_conjuncts upper = msi_conjuncts_of(opt, node->u.filter.condition);
    const ms_expr **all = ms_arena_array(opt->arena, const ms_expr *, lower.count + upper.count);
    for (uint32_t i = 0; i < lower.count; i++) {
        all[i] = lower.items[i];
    }
    for (uint32_t i = 0; i < upper.count; i++) {
        all[lower.count + i] = upper.items[i];
    }
    return ms_lnode_filter(opt->arena, input->inputs[0],
                           msi_conjunction(opt, all, lower.count + upper.count), node->span);
}

static bool is_identity(const ms_lnode *node)
{
    if (node->schema.column_count != node->inputs[0]->schema.column_count) {
        return false;
    }
    for (uint32_t i = 0; i < node->schema.column_count; i++) {
        const ms_expr *expr = node->u.project.exprs[i];
        if (expr->kind != MS_EXPR_COLUMN || expr->index != i) {
            return false;
        }
    }
    return true;
}

static const ms_lnode *normalize_project(msi_opt *opt, const ms_lnode *node)
{
    const ms_lnode *input = node->inputs[0];
    if (is_identity(node)) {
        return input;
    }
    /* One row without columns: the expressions have none either and are its cells. */
    if (input->kind == MS_LNODE_VALUES && input->schema.column_count == 0 &&
        input->u.values.row_count == 1) {
        return ms_lnode_values(opt->arena, &node->schema, node->u.project.exprs, 1, node->span);
    }
    const ms_lnode *merged = NULL;
    if (input->kind == MS_LNODE_PROJECT) {
        merged = msi_merge_projects(opt, node);
    }
    if (merged == NULL) {
        return node;
    }
    return is_identity(merged) ? merged->inputs[0] : merged;
}

static const ms_lnode *merge_limits(msi_opt *opt, const ms_lnode *node, const ms_lnode *lower)
{
    uint64_t offset = 0;
    if (__builtin_add_overflow(node->u.limit.offset, lower->u.limit.offset, &offset)) {
        offset = UINT64_MAX;
    }
    uint64_t limit = node->u.limit.limit;
    if (lower->u.limit.limit != UINT64_MAX) {
        uint64_t left = lower->u.limit.limit > node->u.limit.offset
                            ? lower->u.limit.limit - node->u.limit.offset
                            : 0;
        limit = left < limit ? left : limit;
    }
    return ms_lnode_limit(opt->arena, lower->inputs[0], limit, offset, node->span);
}

static const ms_lnode *normalize_limit(msi_opt *opt, const ms_lnode *node)
{
    const ms_lnode *input = node->inputs[0];
    if (input->kind == MS_LNODE_LIMIT) {
        return merge_limits(opt, node, input);
    }
    if (node->u.limit.limit == 0 && msi_is_pure(input)) {
        return msi_empty(opt, node);
    }
    bool passes_one = node->u.limit.offset == 0 && node->u.limit.limit >= 1;
    bool passes_all = passes_one && node->u.limit.limit == UINT64_MAX;
    if (passes_all || (passes_one && input->props.is_single_row)) {
        return input;
    }
    if (input->kind == MS_LNODE_PROJECT && input->inputs[0]->kind == MS_LNODE_SORT &&
        msi_is_pure(input)) {
        const ms_lnode *limit = ms_lnode_limit(opt->arena, input->inputs[0], node->u.limit.limit,
                                               node->u.limit.offset, node->span);
        return msi_with_input(opt, input, limit);
    }
    return node;
}

/* Looks through what keeps the order of its input. */
static const ms_lnode *without_sort(msi_opt *opt, const ms_lnode *node)
{
    switch (node->kind) {
    case MS_LNODE_SORT:
        return without_sort(opt, node->inputs[0]);
    case MS_LNODE_PROJECT:
    case MS_LNODE_FILTER:
    case MS_LNODE_WATERMARK:
        return msi_with_input(opt, node, without_sort(opt, node->inputs[0]));
    case MS_LNODE_SCAN:
    case MS_LNODE_VALUES:
    case MS_LNODE_AGGREGATE:
    case MS_LNODE_UNION:
    case MS_LNODE_LIMIT:
    case MS_LNODE_SINK:
    case MS_LNODE_COLLECT:
        return node;
    case MS_LNODE_KIND_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

static const ms_lnode *drop_order(msi_opt *opt, const ms_lnode *node)
{
    const ms_lnode **inputs = ms_arena_array(opt->arena, const ms_lnode *, node->input_count);
    bool is_changed = false;
    for (uint32_t i = 0; i < node->input_count; i++) {
        inputs[i] = without_sort(opt, node->inputs[i]);
        is_changed = is_changed || inputs[i] != node->inputs[i];
    }
    return is_changed ? ms_lnode_with_inputs(opt->arena, node, inputs) : node;
}

static const ms_lnode *normalize(msi_opt *opt, const ms_lnode *node)
{
    switch (node->kind) {
    case MS_LNODE_UNION:
        return normalize_union(opt, drop_order(opt, node));
    case MS_LNODE_FILTER:
        return normalize_filter(opt, node);
    case MS_LNODE_PROJECT:
        return normalize_project(opt, node);
    case MS_LNODE_WATERMARK:
        return opt->is_streaming ? node : node->inputs[0];
    case MS_LNODE_LIMIT:
        return normalize_limit(opt, node);
    case MS_LNODE_SORT:
        return node->props.is_single_row ? node->inputs[0] : drop_order(opt, node);
    case MS_LNODE_AGGREGATE:
        return drop_order(opt, node);
    case MS_LNODE_SCAN:
    case MS_LNODE_VALUES:
    case MS_LNODE_SINK:
    case MS_LNODE_COLLECT:
        return node;
    case MS_LNODE_KIND_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

void msi_normalize(msi_opt *opt)
{
    msi_rewrite_roots(opt, normalize);
}
