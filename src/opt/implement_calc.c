/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A chain of PROJECTs and FILTERs becomes one CALC, from the top down:
 *
 *     PROJECT y + 1            CALC filter  x > 0 AND x * 2 < 9
 *       FILTER y < 9     =>         output  x * 2 + 1
 *         PROJECT x * 2 AS y
 *           FILTER x > 0
 *
 * A lower projection is taken in by substitution, which may run its expressions more often (once in
 * the filter, once in the output), less often (behind the filter) or in an arm that is not taken.
 * So it is taken in only when all that would be affected is deterministic and pure, and when the
 * result keeps within the limits of size and depth; else the chain is cut there and goes on in a
 * CALC below.
 */
#include "base/limits.h"
#include "opt/opt_priv.h"

/* The CALC on its way: filter and outputs over the node that the walk has reached. */
typedef struct calc {
    msi_opt *opt;
    const ms_expr *filter;       /* NULL: none */
    const ms_expr *const *exprs; /* NULL: the columns of the node below the filter */
    uint32_t expr_count;
    const ms_schema *schema; /* of the outputs */
} calc;

/* How often each column is used, and whether ever as more than a whole output. */
typedef struct column_uses {
    uint32_t *whole; /* as an output by itself */
    bool *inside;    /* in an expression or in the filter */
} column_uses;

static void count_inside(const ms_expr *expr, uint64_t *bits)
{
    if (expr != NULL) {
        ms_expr_columns(expr, bits);
    }
}

static column_uses count_uses(const calc *c, uint32_t column_count)
{
    ms_arena *arena = c->opt->arena;
    column_uses uses = {ms_arena_array(arena, uint32_t, column_count),
                        ms_arena_array(arena, bool, column_count)};
    uint64_t *bits = msi_bits_make(arena, column_count);
    count_inside(c->filter, bits);
    for (uint32_t i = 0; i < c->expr_count && c->exprs != NULL; i++) {
        if (c->exprs[i]->kind == MS_EXPR_COLUMN) {
            uses.whole[c->exprs[i]->index]++;
        } else {
            count_inside(c->exprs[i], bits);
        }
    }
    for (uint32_t i = 0; i < column_count; i++) {
        uses.inside[i] = msi_bits_has(bits, i);
        if (c->exprs == NULL) {
            uses.whole[i] = 1;
        }
    }
    return uses;
}

static bool fits(const ms_expr *expr, const ms_expr *const *columns)
{
    return msi_expr_size(expr, columns) <= MSI_EXPR_NODES_MAX &&
           msi_expr_depth(expr, columns) <= MS_LIMIT_EXPR_DEPTH;
}

/* Whether every expression of a lower projection would still run as written. */
static bool keeps_meaning(const calc *c, const ms_lnode *project)
{
    column_uses uses = count_uses(c, project->schema.column_count);
    for (uint32_t i = 0; i < project->schema.column_count; i++) {
        const ms_expr *expr = project->u.project.exprs[i];
        bool is_pure = ms_expr_is_pure(expr);
        if (!is_pure && (c->filter != NULL || uses.whole[i] == 0)) {
            return false; /* it would run on fewer rows, or not at all */
        }
        if (!ms_expr_is_shareable(expr) && (uses.inside[i] || uses.whole[i] > 1)) {
            return false; /* it would run twice, or in an arm */
        }
    }
    return true;
}

static bool can_take_project(const calc *c, const ms_lnode *project)
{
    const ms_expr *const *columns = project->u.project.exprs;
    if (!keeps_meaning(c, project)) {
        return false;
    }
    if (c->filter != NULL && !fits(c->filter, columns)) {
        return false;
    }
    for (uint32_t i = 0; i < c->expr_count && c->exprs != NULL; i++) {
        if (!fits(c->exprs[i], columns)) {
            return false;
        }
    }
    return true;
}

static void take_project(calc *c, const ms_lnode *project)
{
    ms_arena *arena = c->opt->arena;
    const ms_expr *const *columns = project->u.project.exprs;
    if (c->filter != NULL) {
        c->filter = ms_expr_substitute(arena, c->filter, columns);
    }
    if (c->exprs == NULL) {
        c->exprs = columns;
        c->expr_count = project->schema.column_count;
        return;
    }
    const ms_expr **exprs = ms_arena_array(arena, const ms_expr *, c->expr_count);
    for (uint32_t i = 0; i < c->expr_count; i++) {
        exprs[i] = ms_expr_substitute(arena, c->exprs[i], columns);
    }
    c->exprs = exprs;
}

const ms_lnode *msi_merge_projects(msi_opt *opt, const ms_lnode *upper)
{
    const ms_lnode *lower = upper->inputs[0];
    calc c = {.opt = opt,
              .exprs = upper->u.project.exprs,
              .expr_count = upper->schema.column_count,
              .schema = &upper->schema};
    if (!can_take_project(&c, lower)) {
        return NULL;
    }
    take_project(&c, lower);
    return ms_lnode_project(opt->arena, lower->inputs[0], c.exprs,
                            msi_names_of(opt, &upper->schema), c.expr_count, upper->span);
}

/* The lower condition runs first, as it was written. */
static void take_filter(calc *c, const ms_lnode *filter)
{
    msi_conjuncts lower = msi_conjuncts_of(c->opt, filter->u.filter.condition);
    if (c->filter == NULL) {
        c->filter = msi_conjunction(c->opt, lower.items, lower.count);
        return;
    }
    msi_conjuncts upper = msi_conjuncts_of(c->opt, c->filter);
    const ms_expr **all = ms_arena_array(c->opt->arena, const ms_expr *, lower.count + upper.count);
    for (uint32_t i = 0; i < lower.count; i++) {
        all[i] = lower.items[i];
    }
    for (uint32_t i = 0; i < upper.count; i++) {
        all[lower.count + i] = upper.items[i];
    }
    c->filter = msi_conjunction(c->opt, all, lower.count + upper.count);
}

/* Takes in what it can; returns the node where the chain ends. */
static const ms_lnode *take_chain(calc *c, const ms_lnode *node)
{
    for (;;) {
        if (node->kind == MS_LNODE_FILTER) {
            take_filter(c, node);
        } else if (node->kind == MS_LNODE_PROJECT && can_take_project(c, node)) {
            take_project(c, node);
        } else {
            return node;
        }
        node = node->inputs[0];
    }
}

/* The output under the names of the chain's top, with the types of the expressions. */
static ms_schema output_schema(const calc *c)
{
    ms_field *fields = ms_arena_array(c->opt->arena, ms_field, c->expr_count);
    for (uint32_t i = 0; i < c->expr_count; i++) {
        fields[i].type = c->exprs[i]->type;
        fields[i].name = c->schema->columns[i].name;
    }
    return (ms_schema){c->expr_count, fields};
}

static bool is_identity(const calc *c, const ms_schema *input)
{
    if (c->filter != NULL) {
        return false;
    }
    for (uint32_t i = 0; i < c->expr_count && c->exprs != NULL; i++) {
        if (c->exprs[i]->kind != MS_EXPR_COLUMN || c->exprs[i]->index != i) {
            return false;
        }
    }
    return c->exprs == NULL || c->expr_count == input->column_count;
}

msi_work *msi_implement_calc(msi_opt *opt, msi_works *works, const ms_lnode *node)
{
    calc c = {.opt = opt, .schema = &node->schema};
    const ms_lnode *below = take_chain(&c, node);
    msi_work *input = msi_implement_node(opt, works, below);
    if (is_identity(&c, &input->node.schema)) {
        return input;
    }
    if (c.exprs == NULL) {
        /* The operator below may have a column more than its logical node, to have one at all. */
        c.exprs = msi_columns_of(opt, &input->node.schema);
        c.expr_count = input->node.schema.column_count;
        c.schema = &input->node.schema;
    }
    msi_work *work = msi_works_add(opt, works, MS_PNODE_CALC, node->span, &input, 1, &node->props);
    work->node.schema = output_schema(&c);
    work->node.u.calc.filter = c.filter;
    work->node.u.calc.expr_count = c.expr_count;
    work->node.u.calc.exprs = c.exprs;
    return work;
}
