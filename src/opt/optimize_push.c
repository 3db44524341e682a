/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Filters down to the scans. Conjuncts sink as one ordered list: each node takes the list that
 * applies to its rows and hands on the part that may go further. The list is only ever cut in two,
 * the front moves and the back stays, so that a condition that guards another one still runs before
 * it.
 *
 *     FILTER p        through PROJECT, when what p refers to may be evaluated at will
 *                     through UNION, into every branch
 *                     through SORT
 *                     not through LIMIT and AGGREGATE, which would see other rows
 *                     not through WATERMARK, which would: rows that are dropped advance it too
 */
#include "opt/opt_priv.h"

static const ms_expr *const no_conjuncts[1] = {NULL};

/* node under a filter of what is left in the list. */
static const ms_lnode *filtered(msi_opt *opt, const ms_lnode *node, const ms_expr *const *items,
                                uint32_t count)
{
    const ms_expr *condition = msi_conjunction(opt, items, count);
    return condition == NULL ? node : ms_lnode_filter(opt->arena, node, condition, condition->span);
}

static const ms_lnode *push(msi_opt *opt, const ms_lnode *node, const ms_expr *const *items,
                            uint32_t count);

static const ms_lnode *push_nothing(msi_opt *opt, const ms_lnode *node)
{
    const ms_lnode **inputs = ms_arena_array(opt->arena, const ms_lnode *, node->input_count);
    bool is_changed = false;
    for (uint32_t i = 0; i < node->input_count; i++) {
        inputs[i] = push(opt, node->inputs[i], no_conjuncts, 0);
        is_changed = is_changed || inputs[i] != node->inputs[i];
    }
    return is_changed ? ms_lnode_with_inputs(opt->arena, node, inputs) : node;
}

/* How many at the front may run on other rows than they were written for: those without effects. */
static uint32_t movable_count(const ms_expr *const *items, uint32_t count)
{
    uint32_t movable = 0;
    while (movable < count && ms_expr_is_shareable(items[movable])) {
        movable++;
    }
    return movable;
}

static const ms_lnode *push_filter(msi_opt *opt, const ms_lnode *node, const ms_expr *const *items,
                                   uint32_t count)
{
    msi_conjuncts own = msi_conjuncts_of(opt, node->u.filter.condition);
    const ms_expr **all = ms_arena_array(opt->arena, const ms_expr *, own.count + count);
    for (uint32_t i = 0; i < own.count; i++) {
        all[i] = own.items[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        all[own.count + i] = items[i];
    }
    return push(opt, node->inputs[0], all, own.count + count);
}

/* All expressions of the projection run on fewer rows then, so none may have effects. */
static const ms_lnode *push_project(msi_opt *opt, const ms_lnode *node, const ms_expr *const *items,
                                    uint32_t count)
{
    const ms_expr *const *exprs = node->u.project.exprs;
    uint32_t movable = movable_count(items, count);
    for (uint32_t i = 0; i < node->schema.column_count; i++) {
        movable = ms_expr_is_pure(exprs[i]) ? movable : 0;
    }
    const ms_expr **below = ms_arena_array(opt->arena, const ms_expr *, movable);
    uint32_t moved = 0;
    while (moved < movable && msi_can_substitute(items[moved], exprs)) {
        below[moved] = ms_expr_substitute(opt->arena, items[moved], exprs);
        moved++;
    }
    const ms_lnode *input = push(opt, node->inputs[0], below, moved);
    return filtered(opt, msi_with_input(opt, node, input), items + moved, count - moved);
}

static const ms_lnode *push_union(msi_opt *opt, const ms_lnode *node, const ms_expr *const *items,
                                  uint32_t count)
{
    uint32_t movable = movable_count(items, count);
    const ms_lnode **inputs = ms_arena_array(opt->arena, const ms_lnode *, node->input_count);
    const ms_expr **below = ms_arena_array(opt->arena, const ms_expr *, movable);
    bool is_changed = false;
    for (uint32_t i = 0; i < node->input_count; i++) {
        const ms_expr **columns = msi_columns_of(opt, &node->inputs[i]->schema);
        for (uint32_t k = 0; k < movable; k++) {
            below[k] = ms_expr_substitute(opt->arena, items[k], columns);
        }
        inputs[i] = push(opt, node->inputs[i], below, movable);
        is_changed = is_changed || inputs[i] != node->inputs[i];
    }
    if (is_changed) {
        node = ms_lnode_with_inputs(opt->arena, node, inputs);
    }
    return filtered(opt, node, items + movable, count - movable);
}

static const ms_lnode *push_sort(msi_opt *opt, const ms_lnode *node, const ms_expr *const *items,
                                 uint32_t count)
{
    uint32_t movable = movable_count(items, count);
    const ms_lnode *input = push(opt, node->inputs[0], items, movable);
    return filtered(opt, msi_with_input(opt, node, input), items + movable, count - movable);
}

/* node with the list on top of it or below it: the same rows either way. */
static const ms_lnode *push(msi_opt *opt, const ms_lnode *node, const ms_expr *const *items,
                            uint32_t count)
{
    switch (node->kind) {
    case MS_LNODE_FILTER:
        return push_filter(opt, node, items, count);
    case MS_LNODE_PROJECT:
        return push_project(opt, node, items, count);
    case MS_LNODE_UNION:
        return push_union(opt, node, items, count);
    case MS_LNODE_SORT:
        return push_sort(opt, node, items, count);
    case MS_LNODE_SCAN:
    case MS_LNODE_VALUES:
    case MS_LNODE_WATERMARK:
    case MS_LNODE_AGGREGATE:
    case MS_LNODE_LIMIT:
    case MS_LNODE_SINK:
    case MS_LNODE_COLLECT:
        return filtered(opt, push_nothing(opt, node), items, count);
    case MS_LNODE_KIND_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

void msi_push_filters(msi_opt *opt)
{
    for (uint32_t i = 0; i < opt->root_count; i++) {
        opt->roots[i] = push(opt, opt->roots[i], no_conjuncts, 0);
    }
}
