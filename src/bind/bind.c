/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The entries of the binder and the limits that hold for a whole statement. The parser bounds depth
 * and size of one text; views and common table expressions multiply texts, so depth and number of
 * nodes are counted here again, through all of them.
 */
#include "bind/bind.h"

#include "base/limits.h"
#include "bind/bind_priv.h"

/* Two texts of the deepest nesting inside each other; a level costs about 1 KiB of stack. */
#define BIND_DEPTH_MAX (2u * MS_LIMIT_EXPR_DEPTH)

void msi_binder_init(msi_binder *binder, const ms_bind_env *env, ms_status *st)
{
    *binder = (msi_binder){
        .env = env, .arena = env->arena, .st = st, .build = {.arena = env->arena, .st = st}};
}

ms_rc msi_binder_enter(msi_binder *binder, ms_span span)
{
    if (binder->depth >= BIND_DEPTH_MAX) {
        return ms_status_set(binder->st, MS_STATEMENT_TOO_LARGE, span,
                             "the statement nests deeper than %u levels, views counted in",
                             BIND_DEPTH_MAX);
    }
    binder->depth++;
    return MS_OK;
}

void msi_binder_leave(msi_binder *binder)
{
    binder->depth--;
}

ms_rc msi_binder_charge(msi_binder *binder, uint32_t nodes, ms_span span)
{
    binder->node_count += nodes;
    if (binder->node_count > MS_LIMIT_OPS_PER_JOB) {
        return ms_status_set(binder->st, MS_STATEMENT_TOO_LARGE, span,
                             "the plan has more than %u operators", MS_LIMIT_OPS_PER_JOB);
    }
    if (ms_arena_used_bytes(binder->arena) > MS_LIMIT_PLAN_BYTES) {
        return ms_status_set(binder->st, MS_STATEMENT_TOO_LARGE, span,
                             "the plan needs more than %llu MiB", MS_LIMIT_PLAN_BYTES >> 20);
    }
    return MS_OK;
}

ms_rc msi_refuse(msi_binder *binder, ms_span span, const char *what)
{
    return ms_status_set(binder->st, MS_NOT_SUPPORTED, span, "%s is not supported", what);
}

void msi_exprs_add(ms_arena *arena, msi_exprs *list, const ms_expr *expr)
{
    if (list->count == list->capacity) {
        uint32_t capacity = list->capacity == 0 ? 8 : list->capacity * 2;
        const ms_expr **items = ms_arena_array(arena, const ms_expr *, capacity);
        for (uint32_t i = 0; i < list->count; i++) {
            items[i] = list->items[i];
        }
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = expr;
}

/* The names of a result: unique, as clients need them. a, a, a becomes a, a0, a1. */
static const ms_str *result_names(ms_arena *arena, const msi_bound *bound)
{
    ms_str *names = ms_arena_array(arena, ms_str, bound->column_count);
    uint32_t *next = ms_arena_array(arena, uint32_t, bound->column_count);
    ms_map taken; /* name to the next number to try behind it */
    ms_map_init(&taken, arena);
    for (uint32_t i = 0; i < bound->column_count; i++) {
        names[i] = bound->columns[i].name;
        uint32_t *number = ms_map_get(&taken, names[i]);
        while (!ms_map_add(&taken, names[i], &next[i])) {
            names[i] =
                ms_arena_format(arena, "%.*s%u", MS_STR_ARG(bound->columns[i].name), (*number)++);
        }
    }
    return names;
}

static ms_rc bind_query_root(msi_binder *binder, const ms_ast_query *query,
                             const ms_lnode **root_out)
{
    msi_bound bound;
    MS_TRY(msi_bind_query(binder, query, &bound));
    *root_out = ms_lnode_collect(binder->arena, bound.node, result_names(binder->arena, &bound),
                                 query->span);
    return MS_OK;
}

static ms_rc bind_roots(msi_binder *binder, const ms_ast_stmt *stmt, const ms_lnode **roots,
                        uint32_t root_count)
{
    if (stmt->kind == MS_AST_QUERY_STMT) {
        return bind_query_root(binder, ms_ast_query_stmt_of(stmt)->query, &roots[0]);
    }
    if (stmt->kind == MS_AST_INSERT) {
        return msi_bind_insert(binder, ms_ast_insert_of(stmt), &roots[0]);
    }
    for (uint32_t i = 0; i < root_count; i++) {
        MS_TRY(msi_bind_insert(binder, ms_ast_statement_set_of(stmt)->inserts[i], &roots[i]));
    }
    return MS_OK;
}

ms_rc ms_bind_statement(const ms_bind_env *env, const ms_ast_stmt *stmt, const ms_lplan **plan_out,
                        ms_status *st)
{
    MS_ASSERT(stmt->kind == MS_AST_QUERY_STMT || stmt->kind == MS_AST_INSERT ||
              stmt->kind == MS_AST_STATEMENT_SET);
    *plan_out = NULL;
    msi_binder binder;
    msi_binder_init(&binder, env, st);
    uint32_t root_count = 1;
    if (stmt->kind == MS_AST_STATEMENT_SET) {
        root_count = ms_ast_statement_set_of(stmt)->insert_count;
    }
    const ms_lnode **roots = ms_arena_array(env->arena, const ms_lnode *, root_count);
    MS_TRY(bind_roots(&binder, stmt, roots, root_count));
    uint32_t node_count = 0;
    for (uint32_t i = 0; i < root_count; i++) {
        node_count += ms_lnode_count(roots[i]);
    }
    binder.node_count = 0;
    MS_TRY(msi_binder_charge(&binder, node_count, stmt->span));
    ms_lplan *plan = ms_arena_new(env->arena, ms_lplan);
    *plan = (ms_lplan){.is_streaming = env->is_streaming, .root_count = root_count, .roots = roots};
    *plan_out = plan;
    return MS_OK;
}

ms_rc ms_bind_explain(const ms_bind_env *env, const ms_ast_explain *explain,
                      const ms_lplan **plan_out, ms_status *st)
{
    static const struct {
        uint32_t detail;
        const char *name;
    } unbuilt[] = {
        {MS_AST_EXPLAIN_ESTIMATED_COST, "ESTIMATED_COST"},
        {MS_AST_EXPLAIN_PLAN_ADVICE, "PLAN_ADVICE"},
        {MS_AST_EXPLAIN_JSON_EXECUTION_PLAN, "JSON_EXECUTION_PLAN"},
    };
    *plan_out = NULL;
    for (size_t i = 0; i < sizeof(unbuilt) / sizeof(unbuilt[0]); i++) {
        if ((explain->details & unbuilt[i].detail) != 0) {
            ms_status_set(st, MS_NOT_SUPPORTED, explain->details_span,
                          "EXPLAIN %s is not supported", unbuilt[i].name);
            return ms_status_hint(st, "EXPLAIN CHANGELOG_MODE and plain EXPLAIN are.");
        }
    }
    return ms_bind_statement(env, explain->stmt, plan_out, st);
}

/* Names of tables. */

ms_rc ms_bind_table_name(const ms_ast_path *path, ms_str *name_out, ms_status *st)
{
    *name_out = (ms_str){NULL, 0};
    const ms_ast_ident *parts = path->parts;
    uint32_t count = path->count;
    if (count > 3) {
        return ms_status_set(st, MS_UNDEFINED_TABLE, path->span,
                             "a table has at most three names: catalog, database and table");
    }
    if (count == 3 && !ms_str_equals(parts[0].text, ms_str_lit(MS_CATALOG_NAME))) {
        ms_status_set(st, MS_UNDEFINED_TABLE, parts[0].span, "catalog \"%.*s\" does not exist",
                      MS_STR_ARG(parts[0].text));
        return ms_status_hint(st, "The only catalog is %s.", MS_CATALOG_NAME);
    }
    if (count >= 2 && !ms_str_equals(parts[count - 2].text, ms_str_lit(MS_CATALOG_DATABASE))) {
        ms_status_set(st, MS_UNDEFINED_TABLE, parts[count - 2].span,
                      "database \"%.*s\" does not exist", MS_STR_ARG(parts[count - 2].text));
        return ms_status_hint(st, "The only database is %s.", MS_CATALOG_DATABASE);
    }
    *name_out = parts[count - 1].text;
    return MS_OK;
}

ms_rc msi_report_table(const ms_bind_env *env, const msi_cte *ctes, ms_str name, ms_span span,
                       ms_status *st)
{
    msi_nearest nearest;
    msi_nearest_init(&nearest, name);
    for (; ctes != NULL; ctes = ctes->outer) {
        msi_nearest_offer(&nearest, ctes->name);
    }
    uint32_t count = 0;
    const ms_table *const *tables = ms_catalog_list(env->catalog, env->arena, &count);
    for (uint32_t i = 0; i < count; i++) {
        msi_nearest_offer(&nearest, tables[i]->name);
    }
    ms_status_set(st, MS_UNDEFINED_TABLE, span, "table \"%.*s\" does not exist", MS_STR_ARG(name));
    if (count == 0) {
        return ms_status_hint(st, "No table has been created yet.");
    }
    return msi_nearest_hint(&nearest, st);
}

ms_rc ms_bind_find_table(const ms_bind_env *env, const ms_ast_path *path,
                         const ms_table **table_out, ms_status *st)
{
    *table_out = NULL;
    ms_str name;
    MS_TRY(ms_bind_table_name(path, &name, st));
    const ms_table *table = ms_catalog_find(env->catalog, name);
    if (table == NULL) {
        return msi_report_table(env, NULL, name, path->span, st);
    }
    *table_out = table;
    return MS_OK;
}
