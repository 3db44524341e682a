/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One SELECT, with the ORDER BY of the query around it:
 *
 *     PROJECT the items                       when order keys made hidden columns
 *       SORT
 *         PROJECT all below, and the keys     when a key is an expression
 *           PROJECT the items, hidden columns
 *             FILTER having
 *               AGGREGATE                     when there is one
 *                 PROJECT its arguments
 *                   FILTER where
 *                     FROM
 *
 * Whatever of this does nothing is removed by the optimizer's normal form, not here.
 */
/* tidy: no-unit-test: covered by bind_test.c and bind_error_test.c, through whole statements */
#include "base/limits.h"
#include "base/num.h"
#include "bind/bind_priv.h"

/* A SELECT on its way. */
typedef struct selector {
    msi_binder *binder;
    const ms_ast_select *select;
    msi_scope scope;
    msi_aggs aggs;
    const ms_lnode *node;
    msi_exprs items;
    msi_column *columns;
    uint32_t column_capacity;
} selector;

/* Select lists. */

static ms_rc add_item(selector *s, const ms_expr *expr, ms_str name, ms_span span)
{
    if (s->items.count >= MS_LIMIT_COLUMNS) {
        return ms_status_set(s->binder->st, MS_STATEMENT_TOO_LARGE, span,
                             "a query has more than %u columns", MS_LIMIT_COLUMNS);
    }
    if (s->items.count == s->column_capacity) {
        uint32_t capacity = s->column_capacity == 0 ? 16 : s->column_capacity * 2;
        msi_column *columns = ms_arena_array(s->binder->arena, msi_column, capacity);
        for (uint32_t i = 0; i < s->items.count; i++) {
            columns[i] = s->columns[i];
        }
        s->columns = columns;
        s->column_capacity = capacity;
    }
    s->columns[s->items.count] = (msi_column){name, expr->type, span};
    if (expr->type->kind == MS_TYPE_NULL) {
        /* The column keeps its untyped face; a node has typed columns only. */
        const ms_type *type = ms_type_string(s->binder->arena, true);
        MS_TRY(ms_build_cast(&s->binder->build, expr, type, MS_BUILD_IMPLICIT, expr->span, &expr));
    }
    msi_exprs_add(s->binder->arena, &s->items, expr);
    return MS_OK;
}

static ms_rc add_relation(selector *s, const msi_relation *relation, ms_span span)
{
    for (uint32_t i = 0; i < relation->column_count; i++) {
        const msi_column *column = &relation->columns[i];
        const ms_expr *expr = msi_column_expr(s->binder, column, relation->first + i, span);
        MS_TRY(add_item(s, expr, column->name, span));
    }
    if (!s->aggs.has_plain && relation->column_count > 0) {
        s->aggs.has_plain = true;
        s->aggs.plain_span = span;
        s->aggs.plain_name = relation->columns[0].name;
    }
    return MS_OK;
}

/* r.* where r is a column of type ROW: its fields. */
static ms_rc add_fields(selector *s, const ms_ast_select_item *item)
{
    ms_ast_name name = {.head = {.kind = MS_AST_NAME, .height = 1, .span = item->qualifier.span},
                        .path = item->qualifier};
    const ms_expr *row;
    if (item->qualifier.count == 1 && !msi_scope_has_column(&s->scope, name.path.parts[0].text)) {
        return msi_report_relation(s->binder, &s->scope, &name.path.parts[0]);
    }
    MS_TRY(msi_bind_name(s->binder, &s->scope, &name, &row));
    if (row->type->kind != MS_TYPE_ROW) {
        ms_str type = ms_type_text_bare(s->binder->arena, row->type);
        return ms_status_set(s->binder->st, MS_TYPE_MISMATCH, item->span,
                             "* of a column of type %.*s: only tables and ROWs have parts",
                             MS_STR_ARG(type));
    }
    for (uint32_t i = 0; i < row->type->child_count; i++) {
        const ms_expr *field;
        MS_TRY(ms_build_field(&s->binder->build, row, row->type->names[i], item->span, &field));
        MS_TRY(add_item(s, field, row->type->names[i], item->span));
    }
    return MS_OK;
}

static ms_rc add_star(selector *s, const ms_ast_select_item *item)
{
    if (item->qualifier.count == 1) {
        const msi_relation *relation = msi_scope_relation(&s->scope, item->qualifier.parts[0].text);
        if (relation != NULL) {
            return add_relation(s, relation, item->span);
        }
    }
    if (item->qualifier.count > 0) {
        return add_fields(s, item);
    }
    if (s->scope.relation_count == 0) {
        return ms_status_set(s->binder->st, MS_INVALID_QUERY, item->span, "SELECT * needs a FROM");
    }
    for (uint32_t i = 0; i < s->scope.relation_count; i++) {
        MS_TRY(add_relation(s, &s->scope.relations[i], item->span));
    }
    return MS_OK;
}

static ms_str item_name(selector *s, const ms_ast_select_item *item)
{
    if (!ms_ast_ident_is_absent(item->alias)) {
        return item->alias.text;
    }
    if (item->expr->kind == MS_AST_NAME) {
        const ms_ast_path *path = &ms_ast_name_of(item->expr)->path;
        return path->parts[path->count - 1].text;
    }
    if (item->expr->kind == MS_AST_FIELD) {
        return ms_ast_field_of(item->expr)->field.text;
    }
    return ms_arena_format(s->binder->arena, "EXPR$%u", s->items.count);
}

static ms_rc bind_items(selector *s)
{
    s->scope.clause = "the select list";
    s->scope.aggs = &s->aggs;
    for (uint32_t i = 0; i < s->select->item_count; i++) {
        const ms_ast_select_item *item = &s->select->items[i];
        if (item->expr == NULL) {
            MS_TRY(add_star(s, item));
            continue;
        }
        const ms_expr *expr;
        MS_TRY(msi_bind_expr(s->binder, &s->scope, item->expr, &expr));
        MS_TRY(add_item(s, expr, item_name(s, item), item->span));
    }
    return MS_OK;
}

/* FROM and WHERE. */

static ms_rc refuse_clauses(selector *s)
{
    const ms_ast_select *select = s->select;
    if (select->distinct) {
        return msi_refuse(s->binder, select->distinct_span, "SELECT DISTINCT");
    }
    if (select->hint_count > 0) {
        ms_str what = ms_arena_format(s->binder->arena, "the hint %.*s",
                                      MS_STR_ARG(select->hints[0].name.text));
        return msi_refuse(s->binder, select->hints[0].span, what.ptr);
    }
    if (select->group_count > 0) {
        return msi_refuse(s->binder, select->groups[0].span, "GROUP BY");
    }
    if (select->window_count > 0) {
        return msi_refuse(s->binder, select->windows[0].name.span, "WINDOW");
    }
    if (select->from_count > 1) {
        return msi_refuse(s->binder, select->from[1]->span, "a join");
    }
    return MS_OK;
}

/* One row without columns: what SELECT 1 selects from. */
static const ms_lnode *one_row(selector *s)
{
    static const ms_schema no_columns = {0, NULL};
    return ms_lnode_values(s->binder->arena, &no_columns, NULL, 1, s->select->head.span);
}

static ms_rc bind_source(selector *s)
{
    msi_binder *binder = s->binder;
    if (s->select->from_count == 0) {
        MS_TRY(msi_binder_charge(binder, 1, s->select->head.span));
        s->node = one_row(s);
    } else {
        msi_relation *relation = ms_arena_new(binder->arena, msi_relation);
        MS_TRY(msi_bind_from(binder, s->select->from[0], &s->node, relation));
        s->scope.relations = relation;
        s->scope.relation_count = 1;
    }
    if (s->select->where != NULL) {
        const ms_expr *condition;
        s->scope.clause = "WHERE";
        MS_TRY(msi_bind_condition(binder, &s->scope, s->select->where, "WHERE", &condition));
        s->node = ms_lnode_filter(binder->arena, s->node, condition, s->select->where->span);
    }
    return MS_OK;
}

/* Aggregates. */

static void aggregate_rows(selector *s)
{
    ms_arena *arena = s->binder->arena;
    msi_aggs *aggs = &s->aggs;
    if (aggs->count == 0) {
        /* HAVING without an aggregate still makes one row of all: a count carries it. */
        const ms_type *type = ms_type_simple(arena, MS_TYPE_BIGINT, false);
        static const ms_lagg star = {
            .kind = MS_AGG_COUNT_STAR, .arg = UINT32_MAX, .filter = UINT32_MAX};
        aggs->calls = ms_arena_new(arena, ms_lagg);
        aggs->calls[0] = star;
        aggs->calls[0].result = type;
        aggs->calls[0].span = s->select->having->span;
        aggs->count = 1;
    }
    if (aggs->args.count > 0) {
        ms_str *names = ms_arena_array(arena, ms_str, aggs->args.count);
        for (uint32_t i = 0; i < aggs->args.count; i++) {
            const ms_expr *arg = aggs->args.items[i];
            names[i] = arg->kind == MS_EXPR_COLUMN ? s->node->schema.columns[arg->index].name
                                                   : ms_arena_format(arena, "arg$%u", i);
        }
        s->node = ms_lnode_project(arena, s->node, aggs->args.items, names, aggs->args.count,
                                   s->select->head.span);
    }
    ms_str *names = ms_arena_array(arena, ms_str, aggs->count);
    for (uint32_t i = 0; i < aggs->count; i++) {
        names[i] = ms_arena_format(arena, "agg$%u", i);
    }
    s->node =
        ms_lnode_aggregate(arena, s->node, aggs->calls, names, aggs->count, s->select->head.span);
}

static ms_rc check_grouping(selector *s)
{
    if (!s->aggs.has_plain) {
        return MS_OK;
    }
    ms_status_set(s->binder->st, MS_GROUPING_ERROR, s->aggs.plain_span,
                  "column \"%.*s\" stands beside an aggregate without being grouped",
                  MS_STR_ARG(s->aggs.plain_name));
    return ms_status_hint(s->binder->st, "Put it into an aggregate, or leave it out.");
}

/* Order keys. */

/* An integer literal is the number of an item. */
static ms_rc bind_ordinal(msi_binder *binder, const msi_outputs *outputs, const ms_ast_expr *expr,
                          const ms_expr **key_out)
{
    *key_out = NULL;
    if (expr->kind != MS_AST_LITERAL || ms_ast_literal_of(expr)->type != MS_AST_LITERAL_INTEGER) {
        return MS_OK;
    }
    uint64_t ordinal = 0;
    if (!ms_num_scan_u64(ms_ast_literal_of(expr)->text, &ordinal) || ordinal < 1 ||
        ordinal > outputs->count) {
        return ms_status_set(
            binder->st, MS_INVALID_QUERY, expr->span, "ORDER BY %.*s: the result has %u column%s",
            MS_STR_ARG(ms_ast_literal_of(expr)->text), outputs->count, msi_plural(outputs->count));
    }
    uint32_t at = (uint32_t)ordinal - 1;
    *key_out = msi_column_expr(binder, &outputs->columns[at], at, expr->span);
    return MS_OK;
}

static ms_rc bind_keys(msi_binder *binder, const msi_scope *around, msi_outputs *outputs,
                       const ms_ast_order *order, uint32_t order_count, const ms_expr **keys)
{
    msi_scope scope = *around;
    scope.clause = "ORDER BY";
    scope.outputs = outputs;
    for (uint32_t i = 0; i < order_count; i++) {
        MS_TRY(bind_ordinal(binder, outputs, order[i].expr, &keys[i]));
        if (keys[i] == NULL) {
            MS_TRY(msi_bind_expr(binder, &scope, order[i].expr, &keys[i]));
        }
        const ms_type *type = keys[i]->type;
        if (type->kind == MS_TYPE_NULL || !ms_typing_is_comparable(type, type, MS_COMPARE_ORDER)) {
            ms_str text = ms_type_text_bare(binder->arena, type);
            return ms_status_set(binder->st, MS_TYPE_MISMATCH, order[i].expr->span,
                                 "values of type %.*s have no order", MS_STR_ARG(text));
        }
    }
    return MS_OK;
}

/* Names of a projection: those of the result, then of the hidden columns. */
static const ms_str *output_names(ms_arena *arena, const msi_column *columns, uint32_t column_count,
                                  uint32_t count)
{
    ms_str *names = ms_arena_array(arena, ms_str, count);
    for (uint32_t i = 0; i < count; i++) {
        names[i] = i < column_count ? columns[i].name : ms_arena_format(arena, "order$%u", i);
    }
    return names;
}

/* Sorts rows of the result, behind it the hidden columns; the result alone comes out. */
static const ms_lnode *sort_rows(msi_binder *binder, const ms_lnode *node,
                                 const msi_outputs *outputs, const ms_ast_order *order,
                                 const ms_expr *const *keys, uint32_t key_count)
{
    ms_arena *arena = binder->arena;
    ms_span span = {order[0].span.start, order[key_count - 1].span.end};
    uint32_t total = node->schema.column_count;
    const ms_expr **exprs = ms_arena_array(arena, const ms_expr *, total + key_count);
    for (uint32_t i = 0; i < total; i++) {
        exprs[i] = ms_expr_column(arena, i, node->schema.columns[i].type, span);
    }
    ms_sort_key *sort = ms_arena_array(arena, ms_sort_key, key_count);
    for (uint32_t i = 0; i < key_count; i++) {
        sort[i].descending = order[i].direction == MS_AST_ORDER_DESC;
        /* NULL is the smallest value. */
        sort[i].nulls_first = order[i].nulls == MS_AST_NULLS_DEFAULT
                                  ? !sort[i].descending
                                  : order[i].nulls == MS_AST_NULLS_FIRST;
        sort[i].column = keys[i]->kind == MS_EXPR_COLUMN ? keys[i]->index : total;
        if (keys[i]->kind != MS_EXPR_COLUMN) {
            exprs[total++] = keys[i];
        }
    }
    if (total > node->schema.column_count) {
        const ms_str *names = output_names(arena, outputs->columns, outputs->count, total);
        node = ms_lnode_project(arena, node, exprs, names, total, span);
    }
    node = ms_lnode_sort(arena, node, sort, key_count, span);
    if (total > outputs->count) {
        const ms_str *names = output_names(arena, outputs->columns, outputs->count, outputs->count);
        node = ms_lnode_project(arena, node, exprs, names, outputs->count, span);
    }
    return node;
}

ms_rc msi_bind_order(msi_binder *binder, const ms_ast_order *order, uint32_t order_count,
                     msi_bound *bound_inout)
{
    if (order_count == 0) {
        return MS_OK;
    }
    msi_scope scope = {.clause = "ORDER BY"};
    msi_outputs outputs = {.columns = bound_inout->columns, .count = bound_inout->column_count};
    const ms_expr **keys = ms_arena_array(binder->arena, const ms_expr *, order_count);
    MS_TRY(bind_keys(binder, &scope, &outputs, order, order_count, keys));
    bound_inout->node = sort_rows(binder, bound_inout->node, &outputs, order, keys, order_count);
    return MS_OK;
}

/* All of it. */

static bool is_aggregate_query(const selector *s)
{
    return s->aggs.count > 0 || s->select->having != NULL;
}

ms_rc msi_bind_select(msi_binder *binder, const ms_ast_select *select, const ms_ast_order *order,
                      uint32_t order_count, msi_bound *bound_out)
{
    selector s = {.binder = binder, .select = select};
    MS_TRY(refuse_clauses(&s));
    MS_TRY(bind_source(&s));
    MS_TRY(bind_items(&s));
    const ms_expr *having = NULL;
    if (select->having != NULL) {
        s.scope.clause = "HAVING";
        MS_TRY(msi_bind_condition(binder, &s.scope, select->having, "HAVING", &having));
    }
    msi_outputs outputs = {.columns = s.columns, .count = s.items.count};
    const ms_expr **keys = ms_arena_array(binder->arena, const ms_expr *, order_count);
    MS_TRY(bind_keys(binder, &s.scope, &outputs, order, order_count, keys));
    if (is_aggregate_query(&s)) {
        MS_TRY(check_grouping(&s));
        aggregate_rows(&s);
    }
    if (having != NULL) {
        s.node = ms_lnode_filter(binder->arena, s.node, having, select->having->span);
    }
    msi_exprs all = s.items;
    for (uint32_t i = 0; i < outputs.hidden.count; i++) {
        msi_exprs_add(binder->arena, &all, outputs.hidden.items[i]);
    }
    const ms_str *names = output_names(binder->arena, s.columns, outputs.count, all.count);
    s.node =
        ms_lnode_project(binder->arena, s.node, all.items, names, all.count, select->head.span);
    if (order_count > 0) {
        s.node = sort_rows(binder, s.node, &outputs, order, keys, order_count);
    }
    *bound_out = (msi_bound){s.node, outputs.count, s.columns};
    return MS_OK;
}
