/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Queries: WITH, the body, ORDER BY, LIMIT; and the bodies other than SELECT.
 *
 * Common table expressions are bound where they are defined, so that their errors show even when
 * nobody uses them. The first use takes the tree, others a copy: a bound plan is a tree.
 */
/* tidy: no-unit-test: covered by bind_test.c and bind_error_test.c, through whole statements */
#include "base/limits.h"
#include "base/num.h"
#include "bind/bind_priv.h"

/* VALUES. */

static ms_rc bind_cells(msi_binder *binder, const ms_ast_values *values, uint32_t column_count,
                        const ms_expr **cells)
{
    msi_scope scope = {.clause = "VALUES"};
    for (uint32_t r = 0; r < values->row_count; r++) {
        const ms_ast_values_row *row = &values->rows[r];
        if (row->item_count != column_count) {
            return ms_status_set(binder->st, MS_TYPE_MISMATCH, row->span,
                                 "a row of VALUES has %u item%s, the first one has %u",
                                 row->item_count, msi_plural(row->item_count), column_count);
        }
        for (uint32_t c = 0; c < column_count; c++) {
            MS_TRY(
                msi_bind_expr(binder, &scope, row->items[c], &cells[(size_t)r * column_count + c]));
        }
    }
    return MS_OK;
}

/* Gives the cells of a column their common type; column_out->type stays NULL's for NULLs alone. */
static ms_rc unify_column(msi_binder *binder, const ms_expr **cells, uint32_t row_count,
                          uint32_t column_count, uint32_t column, ms_span span,
                          msi_column *column_out)
{
    const ms_expr **items = ms_arena_array(binder->arena, const ms_expr *, row_count);
    for (uint32_t r = 0; r < row_count; r++) {
        items[r] = cells[(size_t)r * column_count + column];
    }
    ms_str what = ms_arena_format(binder->arena, "column %u of VALUES", column + 1);
    MS_TRY(ms_build_common(&binder->build, items, row_count, what.ptr, span));
    bool nullable = false;
    const ms_type *type = items[0]->type;
    for (uint32_t r = 0; r < row_count; r++) {
        const ms_expr *cell = items[r];
        nullable = nullable || cell->type->nullable;
        if (cell->type->kind == MS_TYPE_NULL) {
            MS_TRY(ms_build_cast(&binder->build, cell, ms_type_string(binder->arena, true),
                                 MS_BUILD_IMPLICIT, cell->span, &cell));
        }
        cells[(size_t)r * column_count + column] = cell;
    }
    column_out->name = ms_arena_format(binder->arena, "EXPR$%u", column);
    column_out->type = ms_type_as_nullable(binder->arena, type, nullable);
    return MS_OK;
}

static ms_rc bind_values(msi_binder *binder, const ms_ast_values *values, msi_bound *bound_out)
{
    ms_arena *arena = binder->arena;
    uint32_t column_count = values->rows[0].item_count;
    if (column_count > MS_LIMIT_COLUMNS) {
        return ms_status_set(binder->st, MS_STATEMENT_TOO_LARGE, values->rows[0].span,
                             "a row of VALUES has more than %u items", MS_LIMIT_COLUMNS);
    }
    MS_TRY(msi_binder_charge(binder, 1, values->head.span));
    const ms_expr **cells =
        ms_arena_array(arena, const ms_expr *, (size_t)values->row_count *column_count);
    MS_TRY(bind_cells(binder, values, column_count, cells));
    msi_column *columns = ms_arena_array(arena, msi_column, column_count);
    ms_field *fields = ms_arena_array(arena, ms_field, column_count);
    for (uint32_t c = 0; c < column_count; c++) {
        columns[c].span = values->rows[0].items[c]->span;
        MS_TRY(unify_column(binder, cells, values->row_count, column_count, c, values->head.span,
                            &columns[c]));
        fields[c] = (ms_field){columns[c].name, columns[c].type};
        if (columns[c].type->kind == MS_TYPE_NULL) {
            fields[c].type = ms_type_string(arena, true);
        }
    }
    ms_schema schema = {column_count, fields};
    const ms_lnode *node =
        ms_lnode_values(arena, &schema, cells, values->row_count, values->head.span);
    *bound_out = (msi_bound){node, column_count, columns};
    return MS_OK;
}

/* UNION ALL. */

/* The common type of one column of all branches. */
static ms_rc union_column(msi_binder *binder, const msi_bound *branches, uint32_t branch_count,
                          uint32_t column, const ms_ast_set_op *set, const ms_type **type_out)
{
    const ms_type **types = ms_arena_array(binder->arena, const ms_type *, branch_count);
    for (uint32_t i = 0; i < branch_count; i++) {
        types[i] = branches[i].columns[column].type;
    }
    *type_out = ms_typing_common(binder->arena, types, branch_count);
    if (*type_out != NULL) {
        return MS_OK;
    }
    uint32_t at = 1;
    while (at < branch_count && ms_typing_common(binder->arena, types, at + 1) != NULL) {
        at++;
    }
    const msi_column *other = &branches[at].columns[column];
    ms_span span = other->span.end > 0 ? other->span : set->branches[at]->span;
    ms_str first = ms_type_text_bare(binder->arena, types[0]);
    ms_str second = ms_type_text_bare(binder->arena, types[at]);
    ms_status_set(binder->st, MS_TYPE_MISMATCH, span,
                  "column %u of UNION ALL is %.*s in one branch and %.*s in another", column + 1,
                  MS_STR_ARG(first), MS_STR_ARG(second));
    return ms_status_hint(binder->st, "Cast one of them to the type of the other.");
}

/* A branch with its columns cast to the common types; the branch itself when none needs it. */
static ms_rc cast_branch(msi_binder *binder, const msi_bound *branch, const msi_column *columns,
                         const ms_lnode **node_out)
{
    ms_arena *arena = binder->arena;
    uint32_t count = branch->column_count;
    const ms_expr **exprs = ms_arena_array(arena, const ms_expr *, count);
    ms_str *names = ms_arena_array(arena, ms_str, count);
    bool is_cast = false;
    for (uint32_t c = 0; c < count; c++) {
        const msi_column *column = &branch->columns[c];
        names[c] = columns[c].name;
        exprs[c] = msi_column_expr(binder, column, c, column->span);
        bool both_untyped =
            column->type->kind == MS_TYPE_NULL && columns[c].type->kind == MS_TYPE_NULL;
        if (both_untyped) {
            exprs[c] = ms_expr_column(arena, c, ms_type_string(arena, true), column->span);
        } else if (!ms_type_same_shape(column->type, columns[c].type)) {
            is_cast = true;
            MS_TRY(ms_build_cast(&binder->build, exprs[c], columns[c].type, MS_BUILD_CAST,
                                 column->span, &exprs[c]));
        } else {
            const ms_expr *plain = exprs[c];
            MS_TRY(msi_bind_names_of(binder, plain, columns[c].type, column->span, &exprs[c]));
            is_cast |= exprs[c] != plain;
        }
    }
    *node_out = is_cast
                    ? ms_lnode_project(arena, branch->node, exprs, names, count, branch->node->span)
                    : branch->node;
    return MS_OK;
}

static ms_rc bind_branches(msi_binder *binder, const ms_ast_set_op *set, msi_bound *branches)
{
    for (uint32_t i = 0; i < set->branch_count; i++) {
        MS_TRY(msi_bind_body(binder, set->branches[i], &branches[i]));
        if (branches[i].column_count != branches[0].column_count) {
            return ms_status_set(binder->st, MS_TYPE_MISMATCH, set->branches[i]->span,
                                 "a branch of UNION ALL has %u column%s, the first one has %u",
                                 branches[i].column_count, msi_plural(branches[i].column_count),
                                 branches[0].column_count);
        }
    }
    return MS_OK;
}

static ms_rc bind_union(msi_binder *binder, const ms_ast_set_op *set, msi_bound *bound_out)
{
    ms_arena *arena = binder->arena;
    msi_bound *branches = ms_arena_array(arena, msi_bound, set->branch_count);
    MS_TRY(bind_branches(binder, set, branches));
    uint32_t column_count = branches[0].column_count;
    msi_column *columns = ms_arena_array(arena, msi_column, column_count);
    ms_field *fields = ms_arena_array(arena, ms_field, column_count);
    for (uint32_t c = 0; c < column_count; c++) {
        columns[c] = branches[0].columns[c];
        MS_TRY(union_column(binder, branches, set->branch_count, c, set, &columns[c].type));
        fields[c] = (ms_field){columns[c].name, columns[c].type};
        if (columns[c].type->kind == MS_TYPE_NULL) {
            fields[c].type = ms_type_string(arena, true);
        }
    }
    const ms_lnode **inputs = ms_arena_array(arena, const ms_lnode *, set->branch_count);
    for (uint32_t i = 0; i < set->branch_count; i++) {
        MS_TRY(cast_branch(binder, &branches[i], columns, &inputs[i]));
    }
    ms_schema schema = {column_count, fields};
    const ms_lnode *node =
        ms_lnode_union(arena, inputs, set->branch_count, &schema, set->head.span);
    *bound_out = (msi_bound){node, column_count, columns};
    return MS_OK;
}

static ms_rc bind_set_op(msi_binder *binder, const ms_ast_set_op *set, msi_bound *bound_out)
{
    switch (set->op) {
    case MS_AST_UNION:
        if (set->all) {
            return bind_union(binder, set, bound_out);
        }
        ms_status_set(binder->st, MS_NOT_SUPPORTED, set->op_span, "UNION is not supported");
        return ms_status_hint(binder->st, "UNION ALL, which keeps duplicates, is.");
    case MS_AST_INTERSECT:
        return msi_refuse(binder, set->op_span, "INTERSECT");
    case MS_AST_EXCEPT:
        return msi_refuse(binder, set->op_span, "EXCEPT");
    case MS_AST_SET_OP_KIND_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

/* TABLE t is SELECT * FROM t. */
static ms_rc bind_table(msi_binder *binder, const ms_ast_table *table, msi_bound *bound_out)
{
    ms_ast_from_table from = {
        .head = {.kind = MS_AST_FROM_TABLE, .height = 1, .span = table->head.span},
        .name = table->name};
    msi_relation relation;
    MS_TRY(msi_bind_from(binder, &from.head, &bound_out->node, &relation));
    bound_out->column_count = relation.column_count;
    bound_out->columns = relation.columns;
    return MS_OK;
}

ms_rc msi_bind_body(msi_binder *binder, const ms_ast_body *body, msi_bound *bound_out)
{
    switch (body->kind) {
    case MS_AST_SELECT:
        return msi_bind_select(binder, ms_ast_select_of(body), NULL, 0, bound_out);
    case MS_AST_VALUES:
        return bind_values(binder, ms_ast_values_of(body), bound_out);
    case MS_AST_TABLE:
        return bind_table(binder, ms_ast_table_of(body), bound_out);
    case MS_AST_SET_OP:
        return bind_set_op(binder, ms_ast_set_op_of(body), bound_out);
    case MS_AST_NESTED:
        return msi_bind_query(binder, ms_ast_nested_of(body)->query, bound_out);
    case MS_AST_BODY_KIND_COUNT:
        break;
    }
    MS_UNREACHABLE();
}

/* The query around the body. */

/* Column names written behind a name: all or none. */
static ms_rc rename_columns(msi_binder *binder, const ms_ast_ident *name,
                            const ms_ast_ident *idents, uint32_t ident_count, msi_bound *bound)
{
    if (ident_count == 0) {
        return MS_OK;
    }
    if (ident_count != bound->column_count) {
        ms_span span = {idents[0].span.start, idents[ident_count - 1].span.end};
        return ms_status_set(binder->st, MS_INVALID_QUERY, span,
                             "\"%.*s\" is given %u column name%s, its query has %u column%s",
                             MS_STR_ARG(name->text), ident_count, msi_plural(ident_count),
                             bound->column_count, msi_plural(bound->column_count));
    }
    msi_column *columns = ms_arena_array(binder->arena, msi_column, ident_count);
    for (uint32_t i = 0; i < ident_count; i++) {
        columns[i] = bound->columns[i];
        columns[i].name = idents[i].text;
    }
    bound->columns = columns;
    return MS_OK;
}

static ms_rc bind_ctes(msi_binder *binder, const ms_ast_query *query)
{
    const msi_cte *outer = binder->ctes;
    for (uint32_t i = 0; i < query->cte_count; i++) {
        const ms_ast_cte *cte = &query->ctes[i];
        for (const msi_cte *other = binder->ctes; other != outer; other = other->outer) {
            if (ms_str_equals(other->name, cte->name.text)) {
                return ms_status_set(binder->st, MS_DUPLICATE_ALIAS, cte->name.span,
                                     "\"%.*s\" is defined twice in one WITH",
                                     MS_STR_ARG(cte->name.text));
            }
        }
        msi_cte *bound = ms_arena_new(binder->arena, msi_cte);
        MS_TRY(msi_bind_query(binder, cte->query, &bound->query));
        MS_TRY(rename_columns(binder, &cte->name, cte->columns, cte->column_count, &bound->query));
        bound->outer = binder->ctes;
        bound->name = cte->name.text;
        bound->is_used = ms_arena_new(binder->arena, bool);
        binder->ctes = bound;
    }
    return MS_OK;
}

static ms_rc bind_count(msi_binder *binder, const ms_ast_expr *expr, const char *what,
                        uint64_t *count_out)
{
    if (expr->kind == MS_AST_LITERAL && ms_ast_literal_of(expr)->type == MS_AST_LITERAL_INTEGER &&
        ms_num_scan_u64(ms_ast_literal_of(expr)->text, count_out) && *count_out <= INT64_MAX) {
        return MS_OK;
    }
    return ms_status_set(binder->st, MS_INVALID_QUERY, expr->span,
                         "%s needs a whole number up to 9223372036854775807", what);
}

static ms_rc bind_limit(msi_binder *binder, const ms_ast_query *query, msi_bound *bound)
{
    uint64_t limit = UINT64_MAX;
    uint64_t offset = 0;
    ms_span span = query->limit != NULL ? query->limit->span : ms_span_none;
    if (query->limit != NULL) {
        MS_TRY(bind_count(binder, query->limit, "LIMIT", &limit));
    }
    if (query->offset != NULL) {
        MS_TRY(bind_count(binder, query->offset, "OFFSET", &offset));
        span = query->limit != NULL ? span : query->offset->span;
    }
    if (query->limit != NULL || query->offset != NULL) {
        bound->node = ms_lnode_limit(binder->arena, bound->node, limit, offset, span);
    }
    return MS_OK;
}

static ms_rc bind_query_parts(msi_binder *binder, const ms_ast_query *query, msi_bound *bound_out)
{
    MS_TRY(bind_ctes(binder, query));
    if (query->body->kind == MS_AST_SELECT) {
        MS_TRY(msi_bind_select(binder, ms_ast_select_of(query->body), query->order,
                               query->order_count, bound_out));
    } else {
        MS_TRY(msi_bind_body(binder, query->body, bound_out));
        MS_TRY(msi_bind_order(binder, query->order, query->order_count, bound_out));
    }
    return bind_limit(binder, query, bound_out);
}

ms_rc msi_bind_query(msi_binder *binder, const ms_ast_query *query, msi_bound *bound_out)
{
    MS_TRY(msi_binder_enter(binder, query->span));
    const msi_cte *outer = binder->ctes;
    MS_TRY(bind_query_parts(binder, query, bound_out));
    binder->ctes = outer;
    msi_binder_leave(binder);
    if (bound_out->node->height > MS_LIMIT_PLAN_DEPTH) {
        return ms_status_set(binder->st, MS_STATEMENT_TOO_LARGE, query->span,
                             "the plan is deeper than %u operators", MS_LIMIT_PLAN_DEPTH);
    }
    return MS_OK;
}
