/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Items of FROM: common table expressions, tables with their computed columns and watermark, views,
 * sub-queries; and the hints of tables. Joins, table functions and the rest are refused by name.
 *
 * A view's stored text is parsed and bound where it is used, so it sees the tables of today.
 * Whatever it brings is placed at its name in the statement, since spans of its own text mean
 * nothing there; an error inside it keeps its words and says in the detail where in the view it is.
 */
/* tidy: no-unit-test: covered by bind_test.c and bind_error_test.c, through whole statements */
#include "base/limits.h"
#include "bind/bind_priv.h"
#include "sql/parse.h"

/* Hints and options. */

ms_rc msi_bind_options(msi_binder *binder, const ms_ast_option *options, uint32_t option_count,
                       ms_option_list *list_out)
{
    ms_option *items = ms_arena_array(binder->arena, ms_option, option_count);
    for (uint32_t i = 0; i < option_count; i++) {
        if (ms_ast_text_is_absent(options[i].value)) {
            return ms_status_set(binder->st, MS_SYNTAX_ERROR, options[i].key.span,
                                 "option \"%.*s\" has no value", MS_STR_ARG(options[i].key.text));
        }
        items[i] = (ms_option){options[i].key.text, options[i].value.text, options[i].key.span,
                               options[i].value.span};
    }
    *list_out = (ms_option_list){option_count, items};
    return MS_OK;
}

ms_rc msi_bind_hints(msi_binder *binder, const ms_ast_hint *hints, uint32_t hint_count,
                     ms_option_list *list_out)
{
    *list_out = (ms_option_list){0, NULL};
    for (uint32_t i = 0; i < hint_count; i++) {
        if (!ms_str_equals_nocase(hints[i].name.text, ms_str_lit("OPTIONS"))) {
            return ms_status_set(binder->st, MS_NOT_SUPPORTED, hints[i].span,
                                 "the hint %.*s is not supported", MS_STR_ARG(hints[i].name.text));
        }
        if (i > 0) {
            return ms_status_set(binder->st, MS_INVALID_QUERY, hints[i].span,
                                 "a table has one OPTIONS hint at most");
        }
        MS_TRY(msi_bind_options(binder, hints[i].args, hints[i].arg_count, list_out));
    }
    return MS_OK;
}

/* Tables. */

/* Ordinals among all columns to ordinals of the stored schema. */
static const uint32_t *stored_map(ms_arena *arena, const ms_table *table)
{
    uint32_t *map = ms_arena_array(arena, uint32_t, table->column_count);
    uint32_t stored = 0;
    for (uint32_t i = 0; i < table->column_count; i++) {
        map[i] = table->columns[i].kind == MS_COLUMN_COMPUTED ? UINT32_MAX : stored++;
    }
    return map;
}

static const ms_lnode *add_computed(msi_binder *binder, const ms_lnode *scan, const ms_ltable *of)
{
    ms_arena *arena = binder->arena;
    const ms_table *table = of->table;
    if (scan->schema.column_count == table->column_count) {
        return scan;
    }
    const uint32_t *map = stored_map(arena, table);
    const ms_expr **exprs = ms_arena_array(arena, const ms_expr *, table->column_count);
    ms_str *names = ms_arena_array(arena, ms_str, table->column_count);
    for (uint32_t i = 0; i < table->column_count; i++) {
        const ms_column *column = &table->columns[i];
        names[i] = column->name;
        if (column->kind == MS_COLUMN_COMPUTED) {
            exprs[i] = ms_expr_place(arena, ms_expr_remap(arena, column->expr, map), of->span);
        } else {
            exprs[i] = ms_expr_column(arena, map[i], column->type, of->span);
        }
    }
    return ms_lnode_project(arena, scan, exprs, names, table->column_count, of->span);
}

const ms_lnode *msi_table_rows(msi_binder *binder, const ms_ltable *of)
{
    const ms_lnode *node = add_computed(binder, ms_lnode_scan(binder->arena, of), of);
    const ms_watermark_def *watermark = of->table->watermark;
    if (watermark == NULL) {
        return node;
    }
    return ms_lnode_watermark(binder->arena, node, watermark->column,
                              ms_expr_place(binder->arena, watermark->expr, of->span), of->span);
}

static void set_columns(msi_binder *binder, const ms_lnode *node, msi_relation *relation)
{
    uint32_t count = node->schema.column_count;
    msi_column *columns = ms_arena_array(binder->arena, msi_column, count);
    for (uint32_t i = 0; i < count; i++) {
        columns[i].name = node->schema.columns[i].name;
        columns[i].type = node->schema.columns[i].type;
    }
    relation->column_count = count;
    relation->columns = columns;
}

/* Views. */

/* Says of a failed status which view it comes from, and moves it to the view's name. */
static ms_rc report_in_view(msi_binder *binder, const ms_table *view, const ms_source *source,
                            ms_span span)
{
    ms_status *st = binder->st;
    ms_str place = ms_source_slice(source, st->span);
    ms_str detail = ms_arena_format(binder->arena, "in view \"%.*s\"", MS_STR_ARG(view->name));
    if (place.bytes > 0) {
        detail = ms_arena_format(binder->arena, "%.*s, at \"%.*s\"", MS_STR_ARG(detail),
                                 MS_STR_ARG(place));
    }
    if (st->detail[0] != '\0') {
        detail = ms_arena_format(binder->arena, "%.*s: %s", MS_STR_ARG(detail), st->detail);
    }
    st->span = span;
    st->detail[0] = '\0';
    return ms_status_detail(st, "%.*s", MS_STR_ARG(detail));
}

static ms_rc bind_view_text(msi_binder *binder, const ms_source *source, msi_bound *bound_out)
{
    const ms_ast_query *query;
    MS_TRY(ms_sql_parse_query(source, binder->arena, &query, binder->st));
    return msi_bind_query(binder, query, bound_out);
}

static ms_rc bind_view(msi_binder *binder, const ms_table *view, ms_span span,
                       const ms_lnode **node_out, msi_relation *relation)
{
    if (binder->view_depth >= MS_LIMIT_VIEW_DEPTH) {
        ms_status_set(binder->st, MS_STATEMENT_TOO_LARGE, span, "views nest deeper than %u levels",
                      MS_LIMIT_VIEW_DEPTH);
        return ms_status_hint(binder->st, "A view may use itself through another one.");
    }
    ms_source *source = ms_arena_new(binder->arena, ms_source);
    MS_TRY(ms_source_init(source, view->name, view->view_sql, binder->st));
    const msi_cte *outer = binder->ctes;
    binder->ctes = NULL;
    binder->view_depth++;
    msi_bound bound;
    if (bind_view_text(binder, source, &bound) != MS_OK) {
        return report_in_view(binder, view, source, span);
    }
    binder->view_depth--;
    binder->ctes = outer;
    if (bound.column_count != view->column_count) {
        ms_status_set(binder->st, MS_INVALID_QUERY, span,
                      "view \"%.*s\" had %u column%s when it was made, now its query has %u",
                      MS_STR_ARG(view->name), view->column_count, msi_plural(view->column_count),
                      bound.column_count);
        return ms_status_hint(binder->st, "A table under it has changed: make the view again.");
    }
    *node_out = ms_lnode_place(binder->arena, bound.node, span);
    msi_column *columns = ms_arena_array(binder->arena, msi_column, bound.column_count);
    for (uint32_t i = 0; i < bound.column_count; i++) {
        columns[i] = (msi_column){view->columns[i].name, bound.columns[i].type, ms_span_none};
    }
    relation->column_count = bound.column_count;
    relation->columns = columns;
    return MS_OK;
}

/* Names in FROM. */

static const msi_cte *find_cte(const msi_binder *binder, const ms_ast_path *path)
{
    for (const msi_cte *cte = binder->ctes; cte != NULL && path->count == 1; cte = cte->outer) {
        if (ms_str_equals(cte->name, path->parts[0].text)) {
            return cte;
        }
    }
    return NULL;
}

static ms_rc refuse_hints(msi_binder *binder, const ms_ast_from_table *from, const char *what)
{
    if (from->hint_count == 0) {
        return MS_OK;
    }
    return ms_status_set(binder->st, MS_INVALID_QUERY, from->hints[0].span,
                         "OPTIONS are for tables, and \"%.*s\" is a %s",
                         MS_STR_ARG(from->name.parts[from->name.count - 1].text), what);
}

static ms_rc use_cte(msi_binder *binder, const msi_cte *cte, ms_span span,
                     const ms_lnode **node_out, msi_relation *relation)
{
    *node_out = cte->query.node;
    if (*cte->is_used) {
        MS_TRY(msi_binder_charge(binder, ms_lnode_count(cte->query.node), span));
        *node_out = ms_lnode_copy(binder->arena, cte->query.node);
    }
    *cte->is_used = true;
    relation->column_count = cte->query.column_count;
    relation->columns = cte->query.columns;
    return MS_OK;
}

static ms_rc bind_from_table(msi_binder *binder, const ms_ast_from_table *from,
                             const ms_lnode **node_out, msi_relation *relation)
{
    const ms_ast_path *path = &from->name;
    if (from->system_time != NULL) {
        return msi_refuse(binder, from->system_time_span, "FOR SYSTEM_TIME AS OF");
    }
    const msi_cte *cte = find_cte(binder, path);
    if (cte != NULL) {
        MS_TRY(refuse_hints(binder, from, "common table expression"));
        return use_cte(binder, cte, path->span, node_out, relation);
    }
    ms_str name;
    MS_TRY(ms_bind_table_name(path, &name, binder->st));
    const ms_table *table = ms_catalog_find(binder->env->catalog, name);
    if (table == NULL) {
        return msi_report_table(binder->env, binder->ctes, name, path->span, binder->st);
    }
    MS_TRY(msi_binder_charge(binder, 1, path->span));
    if (table->is_view) {
        MS_TRY(refuse_hints(binder, from, "view"));
        return bind_view(binder, table, path->span, node_out, relation);
    }
    ms_ltable of = {.table = table, .span = path->span};
    MS_TRY(msi_bind_hints(binder, from->hints, from->hint_count, &of.hints));
    *node_out = msi_table_rows(binder, &of);
    set_columns(binder, *node_out, relation);
    return MS_OK;
}

static ms_rc bind_from_query(msi_binder *binder, const ms_ast_from_query *from,
                             const ms_lnode **node_out, msi_relation *relation)
{
    if (from->lateral) {
        return msi_refuse(binder, from->head.span, "LATERAL");
    }
    msi_bound bound;
    MS_TRY(msi_bind_query(binder, from->query, &bound));
    *node_out = bound.node;
    relation->column_count = bound.column_count;
    relation->columns = bound.columns;
    return MS_OK;
}

static ms_rc refuse_call(msi_binder *binder, const ms_ast_from_call *from)
{
    const ms_ast_path *name = &from->call->name;
    return ms_status_set(binder->st, MS_NOT_SUPPORTED, from->head.span,
                         "the table function %.*s is not supported",
                         MS_STR_ARG(name->parts[name->count - 1].text));
}

/* AS name (columns): replaces the relation's name, and the names of its columns. */
static ms_rc apply_alias(msi_binder *binder, const ms_ast_alias *alias, msi_relation *relation)
{
    if (ms_ast_ident_is_absent(alias->name)) {
        return MS_OK;
    }
    relation->name = alias->name.text;
    if (alias->column_count == 0) {
        return MS_OK;
    }
    if (alias->column_count != relation->column_count) {
        ms_span span = {alias->columns[0].span.start,
                        alias->columns[alias->column_count - 1].span.end};
        return ms_status_set(
            binder->st, MS_INVALID_QUERY, span, "alias \"%.*s\" names %u columns, there are %u",
            MS_STR_ARG(alias->name.text), alias->column_count, relation->column_count);
    }
    msi_column *columns = ms_arena_array(binder->arena, msi_column, alias->column_count);
    for (uint32_t i = 0; i < alias->column_count; i++) {
        columns[i] = relation->columns[i];
        columns[i].name = alias->columns[i].text;
    }
    relation->columns = columns;
    return MS_OK;
}

ms_rc msi_bind_from(msi_binder *binder, const ms_ast_from *from, const ms_lnode **node_out,
                    msi_relation *relation_out)
{
    *relation_out = (msi_relation){0};
    switch (from->kind) {
    case MS_AST_FROM_TABLE: {
        const ms_ast_path *path = &ms_ast_from_table_of(from)->name;
        relation_out->name = path->parts[path->count - 1].text;
        MS_TRY(bind_from_table(binder, ms_ast_from_table_of(from), node_out, relation_out));
        break;
    }
    case MS_AST_FROM_QUERY:
        MS_TRY(bind_from_query(binder, ms_ast_from_query_of(from), node_out, relation_out));
        break;
    case MS_AST_FROM_CALL:
        return refuse_call(binder, ms_ast_from_call_of(from));
    case MS_AST_FROM_UNNEST:
        return msi_refuse(binder, from->span, "UNNEST");
    case MS_AST_FROM_JOIN:
        return msi_refuse(binder, ms_ast_from_join_of(from)->join_span, "a join");
    case MS_AST_FROM_KIND_COUNT:
        MS_UNREACHABLE();
    }
    return apply_alias(binder, &from->alias, relation_out);
}
